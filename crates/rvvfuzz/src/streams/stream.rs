//! Streams: an initial state, steps, and where execution does not just go on.

use super::init::Init;
use super::layout::{SLOT, STUB, TP};
use rvv_asm::Asm;
use rvv_isa::{Class, Inst, Op, decode, encode};

/// An instruction with what it needs around it. Steps are what generation and mutation add, remove and move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// Sets operands up: addresses, indices, CSRs.
    pub before: Vec<u32>,
    /// The instruction under test; none in a step that is only what its `before` does.
    pub main: Option<u32>,
    /// Puts things in order: a reserved `frm`, a `vstart` that a trap left.
    pub after: Vec<u32>,
}

impl Step {
    /// An instruction that needs nothing.
    #[must_use]
    pub fn plain(word: u32) -> Step {
        Step { main: Some(word), ..Step::default() }
    }

    /// All its instructions, in order.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.before.iter().chain(&self.main).chain(&self.after).copied()
    }

    /// The instruction under test, decoded.
    #[must_use]
    pub fn inst(&self) -> Option<Inst> {
        self.main.and_then(decode)
    }

    /// Bytes of code.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.words().map(size).sum()
    }
}

/// The length of an instruction in bytes.
#[must_use]
pub fn size(word: u32) -> u64 {
    if word & 3 == 3 { 4 } else { 2 }
}

/// Appends an instruction in its own length.
pub fn put(a: &mut Asm, word: u32) {
    a.raw(word, size(word) as u8);
}

/// A place where execution does not just go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The step it is in front of.
    pub at: usize,
    /// Steps it is about: those a jump skips, those a loop repeats. At least 1.
    pub over: usize,
    /// What it does.
    pub kind: FlowKind,
}

/// What a [`Flow`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowKind {
    /// A branch or jump forward; the instruction with its target left open.
    Jump(Inst),
    /// The steps run so many times, counted by `tp`.
    Loop(u8),
}

/// An initial state and what to execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// VLEN.
    pub vlen: u32,
    /// What it starts from.
    pub init: Init,
    /// What it executes.
    pub steps: Vec<Step>,
    /// Jumps and loops, which do not overlap, in order.
    pub flows: Vec<Flow>,
}

/// A stream as machine code.
#[derive(Clone, Debug)]
pub struct Code {
    /// The bytes, from [`Code::start`] on.
    pub bytes: Vec<u8>,
    /// The address of the first instruction.
    pub start: u64,
    /// The address behind the last one.
    pub end: u64,
    /// The address of each step's instruction under test, or of its end if it has none.
    pub mains: Vec<u64>,
    /// The address behind each step.
    pub ends: Vec<u64>,
}

/// Bytes of code a stream may have: the way out comes behind it.
pub const MOST_BYTES: u64 = SLOT - 64;

/// Why a stream has no machine code.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeError {
    /// It is longer than its slot.
    #[error("a stream may have {MOST_BYTES} bytes of code, and this one has {0}")]
    TooLong(u64),
    /// A jump does not reach its target.
    #[error("{0} does not reach over the steps it is to skip")]
    OutOfReach(&'static str),
    /// A jump or loop is about steps that are not there.
    #[error("a jump or loop at step {at} over {over} steps: there are {steps}")]
    BadFlow {
        /// See [`Flow::at`].
        at: usize,
        /// See [`Flow::over`].
        over: usize,
        /// Steps of the stream.
        steps: usize,
    },
}

impl Stream {
    /// How many instructions under test it has, branches and jumps counted.
    #[must_use]
    pub fn instructions(&self) -> usize {
        let jumps = self.flows.iter().filter(|f| matches!(f.kind, FlowKind::Jump(_))).count();
        self.steps.iter().filter(|s| s.main.is_some()).count() + jumps
    }

    /// Its machine code for a slot's address.
    ///
    /// # Errors
    /// See [`CodeError`].
    pub fn code(&self, slot: u64) -> Result<Code, CodeError> {
        let start = slot + STUB;
        let mut a = Asm::new(start);
        let (mut mains, mut ends) = (Vec::new(), Vec::new());
        // A jump's length does not depend on its target, so one pass finds the places of all steps.
        let mut at = start;
        let mut places = Vec::with_capacity(self.steps.len() + 1);
        for (i, step) in self.steps.iter().enumerate() {
            places.push(at);
            at += self.flows_at(i).map(Flow::size_in_front).sum::<u64>() + step.size();
            at += self.loops_ending(i + 1).count() as u64 * LOOP_TAIL;
        }
        places.push(at);
        if at - start > MOST_BYTES {
            return Err(CodeError::TooLong(at - start));
        }
        for flow in &self.flows {
            if flow.over == 0 || flow.at + flow.over > self.steps.len() {
                return Err(CodeError::BadFlow { at: flow.at, over: flow.over, steps: self.steps.len() });
            }
        }
        let mut tops = vec![0; self.flows.len()];
        for (i, step) in self.steps.iter().enumerate() {
            for (n, flow) in self.flows.iter().enumerate().filter(|(_, f)| f.at == i) {
                flow.emit_front(&mut a, places[i + flow.over])?;
                tops[n] = a.here();
            }
            for &word in &step.before {
                put(&mut a, word);
            }
            mains.push(a.here());
            for word in step.main.into_iter().chain(step.after.iter().copied()) {
                put(&mut a, word);
            }
            for (n, _) in self.flows.iter().enumerate().filter(|(_, f)| f.is_loop() && f.at + f.over == i + 1)
            {
                a.rri(Op::Addi, TP, TP, -1);
                let back = tops[n].wrapping_sub(a.here()) as i32;
                a.inst(&Inst { rs1: TP, rs2: 0, imm: back, ..Inst::new(Op::Bne) });
            }
            ends.push(a.here());
        }
        let end = a.here();
        Ok(Code { bytes: a.finish(), start, end, mains, ends })
    }

    fn flows_at(&self, i: usize) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(move |f| f.at == i)
    }

    fn loops_ending(&self, i: usize) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(move |f| f.is_loop() && f.at + f.over == i)
    }

    /// Removes a step; jumps and loops shrink, or go if nothing is left of them.
    pub fn remove_step(&mut self, i: usize) {
        self.steps.remove(i);
        self.flows.retain_mut(|f| {
            if f.at > i {
                f.at -= 1;
            } else if f.at + f.over > i {
                f.over -= 1;
            }
            f.over > 0
        });
    }
}

/// Bytes of `addi` and `bne` behind a loop.
const LOOP_TAIL: u64 = 8;

impl Flow {
    fn is_loop(&self) -> bool {
        matches!(self.kind, FlowKind::Loop(_))
    }

    fn size_in_front(&self) -> u64 {
        match self.kind {
            FlowKind::Loop(_) => 4,
            FlowKind::Jump(inst) if inst.op.base() == Op::Jalr => 8 + u64::from(inst.len),
            FlowKind::Jump(inst) => u64::from(inst.len),
        }
    }

    fn emit_front(&self, a: &mut Asm, target: u64) -> Result<(), CodeError> {
        match self.kind {
            FlowKind::Loop(rounds) => a.rri(Op::Addi, TP, 0, rounds.into()),
            FlowKind::Jump(inst) if inst.op.base() == Op::Jalr => {
                let distance = target.wrapping_sub(a.here()) as i32;
                // The offset that jalr itself adds is taken off before.
                let low = distance.wrapping_sub(inst.imm);
                if !(-2048..2048).contains(&low) {
                    return Err(CodeError::OutOfReach(inst.op.name()));
                }
                a.inst(&Inst { rd: inst.rs1, ..Inst::new(Op::Auipc) });
                a.rri(Op::Addi, inst.rs1, inst.rs1, low);
                let word = encode(&inst).map_err(|_| CodeError::OutOfReach(inst.op.name()))?;
                a.raw(word, inst.len);
            }
            FlowKind::Jump(inst) => {
                let aimed = Inst { imm: target.wrapping_sub(a.here()) as i32, ..inst };
                let word = encode(&aimed).map_err(|_| CodeError::OutOfReach(inst.op.name()))?;
                a.raw(word, inst.len);
            }
        }
        Ok(())
    }
}

/// Whether an instruction needs a [`Flow`] to be in a stream.
#[must_use]
pub fn is_jump(op: Op) -> bool {
    matches!(op.class(), Class::Branch | Class::Jump)
}
