//! Following undefined values through a program: `rvvsim --sanitize`.
//!
//! Each bit of the registers and of memory has a shadow that says whether something defines it. A
//! [`Sanitizer`] sees each instruction before and after it executes: before, it works out the shadow of the
//! result from the values and shadows of the operands; after, if nothing trapped, it writes it. Undefined
//! bits may be moved and computed with; a [`Finding`] is made where one decides something.
//!
//! * `bits`: what operations make of undefined bits. `scalar`, `vector`: which instruction does which.
//! * `registers`, `memory`: the shadows. `origin`: where undefined bits come from.
//! * `heap`: `malloc` and its relatives. `abi`: calls and returns. `calls`: system calls.
//!
//! **Invariant:** what is not known to be undefined counts as defined. A wrong report is worse than a missed
//! one.

mod abi;
mod bits;
mod calls;
mod explain;
mod finding;
mod heap;
mod memory;
mod objects;
mod origin;
mod registers;
mod scalar;
mod vector;

pub use abi::Units;
pub use finding::{Finding, Kind};
pub use objects::Object;
pub use origin::{Path, Place, Source};

use crate::elf::Image;
use crate::engine::Each;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::trap::{Cause, Trap};
use heap::Heap;
use memory::Memory;
use objects::Objects;
use origin::{Id, Origins};
use registers::Registers;
use rustc_hash::FxHashMap;
use rvv_isa::{Class, Inst};

/// Whose words decide what is undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rules {
    /// The manual's: bit by bit for logic, shifts and masks, and carries go upwards.
    #[default]
    Machine,
    /// Those of the C intrinsics, as the oracle has them: an element is defined or not as a whole, unless it
    /// is moved, and a mask has no bits past `vl`.
    Intrinsics,
}

/// Findings at more places than this are counted, and not kept.
const MOST_FINDINGS: usize = 10_000;
/// Calls of a report.
const MOST_FRAMES: usize = 12;
/// Pages of memory with a shadow of their own: four hundred megabytes of it.
const MOST_PAGES: u64 = 1 << 16;

/// What the instruction that executes will do to the shadows.
enum Next {
    Nothing,
    X(u8, u64, Id),
    F(u8, u64, Id),
    Stores {
        va: u64,
        len: u8,
        undefined: u64,
        origin: Id,
    },
    Atomic {
        rd: u8,
        loaded: (u64, Id),
        va: u64,
        len: u8,
        undefined: u64,
        origin: Id,
    },
    /// Registers of the vector file.
    Vector,
    /// A vector store.
    VectorStore,
    /// A fault-only-first load.
    FaultOnlyFirst,
}

/// Follows one process.
pub struct Sanitizer {
    rules: Rules,
    vlenb: usize,
    regs: Registers,
    thread: u32,
    /// The threads that are not on the hart.
    threads: FxHashMap<u32, Registers>,
    memory: Memory,
    origins: Origins,
    heap: Heap,
    objects: Objects,
    units: Units,
    findings: Vec<Finding>,
    places: FxHashMap<(Kind, u64), usize>,
    /// Findings that were not kept.
    lost: u64,
    /// Undefined bits of what was written to standard output, when someone wants to know.
    output: Option<Vec<u8>>,
    fatal: bool,
    /// Findings that have ended a run, which then went on.
    seen: usize,
    /// Where it goes on: what is found there is known.
    resume_at: Option<u64>,
    resumed: bool,
    next: Next,
    pending: vector::Pending,
    /// `vl` before a fault-only-first load.
    ff_vl: usize,
    pc: u64,
    sp: u64,
    inst: Option<Inst>,
    /// The instruction before this one was a jump.
    jumped: bool,
    call: Option<calls::Call>,
}

impl Sanitizer {
    /// For a process that has not run yet.
    #[must_use]
    pub fn new(machine: &mut Machine, image: &Image, rules: Rules) -> Sanitizer {
        let bias = machine.process().map_or(0, |process| process.load_bias());
        let hart = &mut machine.hart;
        hart.kernel_writes = Some(Vec::new());
        let mut sanitizer = Sanitizer::of(hart, rules);
        sanitizer.objects.add_program(image, bias);
        sanitizer.heap.learn(&sanitizer.objects);
        sanitizer
    }

    /// For a hart with any program.
    fn of(hart: &Hart, rules: Rules) -> Sanitizer {
        let vlenb = hart.v.vlenb;
        let mut origins = Origins::default();
        let origin = origins.born(Source::Register, hart.pc, 0);
        let pages = (hart.config.mem / crate::mem::PAGE).min(MOST_PAGES) as usize;
        Sanitizer {
            rules,
            vlenb,
            regs: Registers::new(vlenb, origin),
            thread: hart.number,
            threads: FxHashMap::default(),
            memory: Memory::new(pages),
            origins,
            heap: Heap::new(vlenb),
            objects: Objects::default(),
            units: Units::default(),
            findings: Vec::new(),
            places: FxHashMap::default(),
            lost: 0,
            output: None,
            fatal: false,
            seen: 0,
            resume_at: None,
            resumed: false,
            next: Next::Nothing,
            pending: vector::Pending::default(),
            ff_vl: 0,
            pc: hart.pc,
            sp: hart.x[2],
            inst: None,
            jumped: true,
            call: None,
        }
    }

    /// Ends the run at the first finding.
    pub fn set_fatal(&mut self) {
        self.fatal = true;
    }

    /// After a run that a finding ended: the next one goes on with the same instruction.
    pub fn go_on(&mut self) {
        self.seen = self.findings.len();
        self.resume_at = Some(self.pc);
    }

    /// Says which code is of which unit of translation.
    pub fn set_units(&mut self, units: Units) {
        self.units = units;
    }

    /// From now on [`Sanitizer::output`] has the shadow of standard output.
    pub fn keep_output(&mut self) {
        self.output = Some(Vec::new());
    }

    /// The undefined bits of what was written to standard output.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.as_deref().unwrap_or(&[])
    }

    /// What was found, in the order of its first time.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Forgets what was found: it is known.
    pub fn forget_findings(&mut self) {
        self.findings.clear();
        self.places.clear();
        self.seen = 0;
    }

    /// How many findings there were at places that are not in [`Sanitizer::findings`]: too many for it.
    #[must_use]
    pub fn findings_lost(&self) -> u64 {
        self.lost
    }

    /// Whether there was more undefined memory than can be followed: the rest counted as defined.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.memory.full
    }

    /// The program and its libraries, with their symbols.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        self.objects.all()
    }

    /// Notes a finding at the instruction that executes.
    fn found(&mut self, kind: Kind, what: What) {
        if self.resumed || self.regs.pending.is_some() || self.heap.is_allocator(self.pc) {
            return;
        }
        if kind == Kind::Branch && self.reads_ahead() {
            return;
        }
        if let Some(&at) = self.places.get(&(kind, self.pc)) {
            self.findings[at].count += 1;
            return;
        }
        if self.findings.len() >= MOST_FINDINGS {
            self.lost += 1;
            return;
        }
        self.places.insert((kind, self.pc), self.findings.len());
        let origin = self.origins.path(what.origin);
        let rule = what.rule.or(origin.as_ref().map(|o| o.source.rule())).unwrap_or("");
        let frames = self.regs.frames.iter().rev().take(MOST_FRAMES).map(|f| f.back).collect();
        self.findings.push(Finding {
            kind,
            pc: self.pc,
            inst: self.inst,
            element: what.element,
            bit: what.bit,
            origin,
            detail: what.detail,
            rule,
            frames,
            count: 1,
        });
    }

    /// Whether the code is a function of the C library that compares whole words before it looks where the
    /// text ends. A branch there may be taken by what is past the end, and comes to the same in the end.
    fn reads_ahead(&self) -> bool {
        // One that the program has itself, with debug information, is looked at as all the others.
        if self.units.knows(self.pc) {
            return false;
        }
        let Some(symbol) = self.objects.function(self.pc) else { return false };
        let name = symbol.name.trim_start_matches('_');
        READ_AHEAD.contains(&name.split('_').next().unwrap_or(name))
    }

    /// An undefined value decides something.
    fn decides(&mut self, kind: Kind, undefined: u64, origin: Id, element: Option<u64>) {
        let bit = Some(undefined.trailing_zeros());
        self.found(kind, What { origin, bit, element, ..What::default() });
    }

    /// Whether the run is to end: something was found, and that is to end it.
    pub(crate) fn is_over(&self) -> bool {
        self.fatal && self.findings.len() > self.seen
    }

    /// After a turn without a system call: a signal may have been delivered, or another thread be there.
    pub(crate) fn after_turn(&mut self, hart: &mut Hart) {
        for (va, len) in hart.kernel_writes.replace(Vec::new()).unwrap_or_default() {
            self.memory.define(va, len as u64);
        }
        self.look_at_thread(hart);
    }

    /// Between runs another thread may have been put on the hart.
    pub(crate) fn notice_thread(&mut self, hart: &Hart) {
        if hart.number != self.thread {
            self.look_at_thread(hart);
        }
    }

    /// Takes note of the thread on the hart: each has its own registers.
    pub(crate) fn look_at_thread(&mut self, hart: &Hart) {
        if hart.number != self.thread {
            let fresh = || {
                let origin = 1;
                Registers::new(self.vlenb, origin)
            };
            let next = self.threads.remove(&hart.number).unwrap_or_else(fresh);
            let last = std::mem::replace(&mut self.regs, next);
            self.threads.insert(self.thread, last);
            self.thread = hart.number;
        }
        self.sp = hart.x[2];
        self.jumped = true;
    }

    /// The process executes another program.
    pub(crate) fn start_again(&mut self, hart: &Hart) {
        let pages = (hart.config.mem / crate::mem::PAGE).min(MOST_PAGES) as usize;
        self.memory = Memory::new(pages);
        self.threads.clear();
        self.regs = Registers::new(self.vlenb, 1);
        self.heap = Heap::new(self.vlenb);
        self.objects = Objects::default();
        self.units = Units::default();
        self.look_at_thread(hart);
    }

    /// Follows what moved the stack pointer.
    fn stack_moved(&mut self, inst: &Inst, to: u64) {
        let from = std::mem::replace(&mut self.sp, to);
        // A frame is made and given up by adding to the pointer, or taken back from the frame pointer.
        // Anything else may be another stack.
        let class = inst.op.class();
        let frame = class == Class::Integer && (inst.rs1 == 2 || inst.rs1 == 8 || inst.rs2 == 2);
        let (low, high) = (from.min(to), from.max(to));
        if frame && high - low <= LARGEST_FRAME {
            let origin = self.origins.born(Source::Stack, self.pc, 0);
            self.memory.undefine(low, high - low, origin);
        }
    }
}

/// Which bits of its result an instruction leaves agnostic, where all its operands are defined.
pub(crate) struct Agnostic(Sanitizer);

impl Agnostic {
    pub fn new(hart: &Hart) -> Agnostic {
        let mut sanitizer = Sanitizer::of(hart, Rules::Machine);
        sanitizer.regs.vxrm_lost = None;
        Agnostic(sanitizer)
    }

    /// A vector instruction is about to execute.
    pub fn before(&mut self, hart: &Hart, inst: &Inst) {
        let s = &mut self.0;
        s.regs.v.fill(0);
        s.regs.vl_chosen = None;
        s.pc = hart.pc;
        s.next = Next::Nothing;
        s.vector(hart, inst);
    }

    /// It has executed: the bits, from a byte of the register file on.
    pub fn after(&mut self, hart: &Hart, inst: &Inst) -> Option<(usize, &[u8])> {
        let s = &mut self.0;
        match std::mem::replace(&mut s.next, Next::Nothing) {
            Next::Vector => {}
            Next::FaultOnlyFirst => s.shorten_load(hart, inst),
            _ => return None,
        }
        Some(s.pending.result())
    }
}

/// Functions that may read past the end of a text; their variants have more behind an underscore.
const READ_AHEAD: [&str; 22] = [
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strchr",
    "strchrnul",
    "strrchr",
    "memchr",
    "memrchr",
    "rawmemchr",
    "memcmp",
    "bcmp",
    "strcpy",
    "stpcpy",
    "strncpy",
    "stpncpy",
    "strcat",
    "strncat",
    "strstr",
    "strspn",
    "strcspn",
    "strpbrk",
];

/// The largest frame of a function; whoever moves the stack pointer further has another stack.
const LARGEST_FRAME: u64 = 8 << 20;

/// What is known of a finding.
#[derive(Default)]
struct What {
    origin: Id,
    element: Option<u64>,
    bit: Option<u32>,
    detail: String,
    rule: Option<&'static str>,
}

impl Each for Sanitizer {
    fn before(&mut self, hart: &mut Hart, inst: &Inst) -> bool {
        self.pc = hart.pc;
        self.inst = Some(*inst);
        self.resumed = self.resume_at.take() == Some(hart.pc);
        if self.jumped {
            self.jumped = false;
            self.enter_or_leave_allocator(hart);
        }
        self.next = Next::Nothing;
        if inst.op.is_vector() {
            self.vector(hart, inst);
        } else {
            self.scalar(hart, inst);
        }
        !self.is_over()
    }

    fn after(&mut self, hart: &mut Hart, inst: &Inst, trap: Option<&Trap>) -> bool {
        if let Some(trap) = trap {
            if trap.cause == Cause::IllegalInstruction && inst.op.is_vector() {
                let detail = trap.why.to_owned();
                self.found(Kind::Reserved, What { detail, rule: Some(trap.why), ..What::default() });
            }
            return !self.is_over();
        }
        match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing => {}
            Next::X(r, undefined, origin) => self.regs.x.set(r, undefined, origin),
            Next::F(r, undefined, origin) => self.regs.f.set(r, undefined, origin),
            Next::Stores { va, len, undefined, origin } => {
                self.memory.store(va, len.into(), undefined, origin);
            }
            Next::Atomic { rd, loaded, va, len, undefined, origin } => {
                self.memory.store(va, len.into(), undefined, origin);
                if rd != 0 {
                    self.regs.x.set(rd, loaded.0, loaded.1);
                }
            }
            Next::Vector => self.commit_vector(),
            Next::FaultOnlyFirst => {
                self.shorten_load(hart, inst);
                self.commit_vector();
            }
            Next::VectorStore => self.vector_store(hart, inst),
        }
        if hart.x[2] != self.sp {
            self.stack_moved(inst, hart.x[2]);
        }
        if inst.op.class() == Class::Jump {
            self.jumped = true;
            self.jump(hart, inst);
        }
        !self.is_over()
    }
}
