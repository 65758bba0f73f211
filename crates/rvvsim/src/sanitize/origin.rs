//! Where undefined bits come from, and through which instructions they went.
//!
//! Registers and memory hold a number for each eight bytes. A number stands for a place of birth, or for an
//! instruction with the number of what it read: so a number is a path. Equal paths have equal numbers, and
//! paths and their count are bounded.

use rustc_hash::FxHashMap;

/// The number of an origin; 0 is none.
pub type Id = u32;

/// Why nothing defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// An element past `vl` of a tail-agnostic result.
    Tail,
    /// A masked-off element of a mask-agnostic result.
    Inactive,
    /// A bit past `vl` of a mask.
    MaskTail,
    /// A source of another element width overlaps the result, whose other elements are then agnostic.
    Overlap,
    /// An element past the `vl` that a fault-only-first load left.
    FaultOnlyFirst,
    /// An element past the least `vl` that the machine may have chosen.
    ChosenLength,
    /// An element whose mask bit is undefined.
    UnknownMask,
    /// Two elements of an unordered store went to one place.
    Unordered,
    /// A vector register that the program has not written.
    Register,
    /// A vector register after a call of a function, which does not keep it.
    Call,
    /// A vector register at the entry of a function, where it is no argument.
    Entry,
    /// A vector register after a system call.
    SystemCall,
    /// The stack: memory that this function has not written, or below the stack pointer.
    Stack,
    /// A block of the heap, not written since it was allocated.
    Heap,
    /// Memory that was freed.
    Freed,
    /// Memory outside every block of the heap.
    Outside,
}

impl Source {
    /// In words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Source::Tail => "a tail element, past vl, of a tail-agnostic result",
            Source::Inactive => "a masked-off element of a mask-agnostic result",
            Source::MaskTail => "a bit past vl of a mask",
            Source::Overlap => "an element left agnostic since a source of another width overlaps the result",
            Source::FaultOnlyFirst => "an element past the vl that the fault-only-first load left",
            Source::ChosenLength => "an element that a machine with another choice of vl does not write",
            Source::UnknownMask => "an element whose mask bit is undefined",
            Source::Unordered => "two elements that differ were stored to one place, in any order",
            Source::Register => "a vector register that was never written",
            Source::Call => "a vector register that the call did not preserve",
            Source::Entry => "a vector register that is no argument of this function",
            Source::SystemCall => "a vector register that the system call did not preserve",
            Source::Stack => "stack memory that was not written",
            Source::Heap => "heap memory that was not written since its allocation",
            Source::Freed => "heap memory that was freed",
            Source::Outside => "memory outside the blocks of the heap",
        }
    }

    /// The rule of the manual or the ABI.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Source::Tail => "norm:vector_tail_element",
            Source::Inactive => "norm:vector_inactive_element",
            Source::MaskTail => "norm:vreg_mask_tail_agn",
            Source::Overlap => "norm:vreg_overlap_agn",
            Source::FaultOnlyFirst => "norm:vector_ff_past_trap",
            Source::ChosenLength => "norm:vl_val_list",
            Source::UnknownMask => "norm:vector_inactive_element",
            Source::Unordered => "norm:vector_ls_stride_unordered_op",
            Source::Register => "psABI: vector registers are temporary",
            Source::Call | Source::Entry => "psABI: vector registers are not preserved across calls",
            Source::SystemCall => "Linux: vector registers are not preserved across system calls",
            Source::Stack => "psABI: memory below the stack pointer is not preserved",
            Source::Heap | Source::Freed | Source::Outside => "C: malloc, free",
        }
    }
}

/// A step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    /// Where it was born; `None` for an instruction on the way.
    source: Option<Source>,
    pc: u64,
    from: Id,
}

/// A place of birth or of passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The instruction.
    pub pc: u64,
    /// The element that was the first to be undefined there.
    pub element: u32,
}

/// Where a value came from, from its birth on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Why it is undefined.
    pub source: Source,
    /// Where it became so.
    pub born: Place,
    /// The instructions it went through, in order; the last of them, if there were many.
    pub through: Vec<u64>,
}

/// No path is longer.
const LONGEST: u8 = 6;
/// There are no more: a program that has so many places gets shorter paths.
const MOST: usize = 1 << 20;

/// All origins.
#[derive(Default)]
pub struct Origins {
    steps: Vec<(Step, u32, u8)>,
    ids: FxHashMap<Step, Id>,
    /// The last one asked for: mostly the next one, too.
    last: Option<(Step, Id)>,
}

impl Origins {
    fn intern(&mut self, step: Step, element: u32, length: u8) -> Id {
        if let Some((last, id)) = self.last
            && last == step
        {
            return id;
        }
        let id = match self.ids.get(&step) {
            Some(&id) => id,
            None if self.steps.len() >= MOST => return step.from,
            None => {
                self.steps.push((step, element, length));
                let id = self.steps.len() as Id;
                self.ids.insert(step, id);
                id
            }
        };
        self.last = Some((step, id));
        id
    }

    /// Something becomes undefined at `pc`.
    pub fn born(&mut self, source: Source, pc: u64, element: usize) -> Id {
        self.intern(Step { source: Some(source), pc, from: 0 }, element.min(u32::MAX as usize) as u32, 0)
    }

    /// It goes through the instruction at `pc`.
    pub fn through(&mut self, from: Id, pc: u64) -> Id {
        let Some(&(step, element, length)) = self.get(from) else { return 0 };
        // A loop is one step, and what comes after a long path is no news.
        if step.pc == pc || length >= LONGEST {
            return from;
        }
        self.intern(Step { source: None, pc, from }, element, length + 1)
    }

    fn get(&self, id: Id) -> Option<&(Step, u32, u8)> {
        self.steps.get((id as usize).checked_sub(1)?)
    }

    /// Why what has this origin became undefined.
    pub fn source(&self, id: Id) -> Option<Source> {
        let mut step = self.get(id)?.0;
        // Paths have at most LONGEST steps.
        while step.source.is_none() {
            step = self.get(step.from)?.0;
        }
        step.source
    }

    /// The path that a number stands for.
    pub fn path(&self, mut id: Id) -> Option<Path> {
        let mut through = Vec::new();
        loop {
            let (step, element, _) = *self.get(id)?;
            match step.source {
                None => through.push(step.pc),
                Some(source) => {
                    through.reverse();
                    return Some(Path { source, born: Place { pc: step.pc, element }, through });
                }
            }
            id = step.from;
        }
    }
}
