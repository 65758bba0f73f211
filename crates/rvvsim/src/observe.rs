//! Watching a program: what tools are built on.
//!
//! An [`Observer`] is given to [`Machine::run_observed`](crate::Machine::run_observed), which runs a program
//! on the interpreter, or to [`Machine::step_observed`](crate::Machine::step_observed). Nobody else pays for
//! it: a machine that is not observed runs as if there were no observers.
//!
//! # Promises
//!
//! They hold from version to version.
//!
//! * For each instruction there is one [`before`](Observer::before) and one [`after`](Observer::after), in
//!   the order of execution. What an observer sees of a hart in `before` is the state before the instruction.
//! * Between the two, in this order: [`vector`](Observer::vector) if it is a vector instruction other than
//!   `vset{i}vl{i}`, [`access`](Observer::access) for each access of memory in the order in which they are
//!   made (vector accesses element by element, field by field), then either [`retired`](Observer::retired) or
//!   [`trap`](Observer::trap). They see the state behind the instruction; of an instruction that traps, what
//!   it has done so far.
//! * A system call is no trap. It is a [`system_call`](Observer::system_call) before it is served, after the
//!   `after` of its `ecall`; and a [`system_return`](Observer::system_return) when its result is there,
//!   unless it does not return.
//! * What is not in [`Observer::wants`] is not worked out and not told.
//! * Observing changes nothing that a program can see.

mod ahead;
mod cycles;
mod elements;
mod patterns;

pub use ahead::{Ahead, accesses};
pub use cycles::{Cost, Costs, CycleEstimate, Estimate};
pub use elements::Elements;
pub use patterns::{AccessPatterns, Pattern};

use crate::engine::{Each, Engine, MemoryEvent, Stop};
use crate::hart::Hart;
use crate::trap::{Cause, Trap};
use rvv_isa::{Class, Inst, Op, Vtype};

/// Events that cost something to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wants {
    /// [`Observer::access`].
    pub accesses: bool,
    /// [`Observer::vector`].
    pub vectors: bool,
}

/// An access of memory, or of one element of a vector access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The instruction.
    pub pc: u64,
    /// The virtual address.
    pub va: u64,
    /// Bytes.
    pub size: usize,
    /// The value of a store; `None` for a load.
    pub stored: Option<u64>,
}

/// A vector instruction, with what it was executed under.
#[derive(Clone, Copy, Debug)]
pub struct VectorOperation<'a> {
    /// The instruction.
    pub pc: u64,
    /// It.
    pub inst: &'a Inst,
    /// `vtype`, `vl` and `vstart` before it.
    pub vtype: Vtype,
    /// Elements, as far as the instruction looks at `vl`.
    pub vl: u64,
    /// The first element.
    pub vstart: u64,
    /// The active elements: in the body, and not masked off.
    pub active: &'a Elements,
}

/// A system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SystemCall {
    /// Its number: `a7`.
    pub number: u64,
    /// `a0` to `a5`.
    pub arguments: [u64; 6],
}

/// Sees what a program does. Every method does nothing by default.
pub trait Observer {
    /// What is to be told besides what is known anyway. Asked for once, at the start of a run.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// The instruction at `hart.pc` is about to execute; `None` if its bits are no instruction of this hart.
    fn before(&mut self, _hart: &Hart, _inst: Option<&Inst>) {}

    /// It has executed, or trapped. `hart.pc` is where execution goes on, or the instruction that trapped.
    fn after(&mut self, _hart: &Hart, _inst: Option<&Inst>, _trap: Option<&Trap>) {}

    /// The instruction at `pc` has retired.
    fn retired(&mut self, _hart: &Hart, _pc: u64, _inst: &Inst) {}

    /// Memory was accessed.
    fn access(&mut self, _hart: &Hart, _access: &Access) {}

    /// A vector instruction was executed.
    fn vector(&mut self, _hart: &Hart, _operation: &VectorOperation) {}

    /// A system call is about to be served.
    fn system_call(&mut self, _hart: &Hart, _call: &SystemCall) {}

    /// A system call has returned: what is in `a0`.
    fn system_return(&mut self, _hart: &Hart, _call: &SystemCall, _result: u64) {}

    /// The instruction at `hart.pc` trapped.
    fn trap(&mut self, _hart: &Hart, _trap: &Trap) {}

    /// Whether the observer has seen enough. Asked for after each instruction; true ends the run.
    fn is_done(&self) -> bool {
        false
    }
}

/// Executes one instruction under the eyes of `observer`.
pub fn step(engine: &mut Engine, hart: &mut Hart, observer: &mut impl Observer) -> Stop {
    let inst = next(hart);
    let mut watching = Watching::new(observer, hart);
    watching.begin(hart, inst.as_ref());
    let stop = engine.step(hart);
    let trap = match &stop {
        Stop::Trap(trap) => Some(trap),
        Stop::Budget => None,
    };
    watching.end(hart, inst.as_ref(), trap);
    watching.finish(hart);
    stop
}

/// The instruction at `hart.pc`, if it can be fetched and is one.
pub fn next(hart: &mut Hart) -> Option<Inst> {
    let pc = hart.pc;
    let low = u32::from(hart.fetch_parcel(pc).ok()?);
    let high = match low & 3 {
        3 => u32::from(hart.fetch_parcel(pc.wrapping_add(2)).ok()?),
        _ => 0,
    };
    hart.decode(high << 16 | low)
}

/// The call of a hart that stands at an `ecall`.
pub(crate) fn call_of(hart: &Hart) -> SystemCall {
    SystemCall { number: hart.x[17], arguments: std::array::from_fn(|n| hart.x[10 + n as u8]) }
}

/// An observer, and what is remembered for it.
pub(crate) struct Watching<'o, O> {
    pub observer: &'o mut O,
    wants: Wants,
    /// The log was there before.
    logged: bool,
    pc: u64,
    vector: Option<(Vtype, u64, u64)>,
    active: Elements,
}

impl<'o, O: Observer> Watching<'o, O> {
    /// Begins to watch a hart.
    pub fn new(observer: &'o mut O, hart: &mut Hart) -> Watching<'o, O> {
        let wants = observer.wants();
        let logged = hart.log.is_some();
        if wants.accesses && !logged {
            hart.start_log();
            // What the TLB holds is accessed without a word.
            hart.flush_tlb();
        }
        Watching { observer, wants, logged, pc: hart.pc, vector: None, active: Elements::default() }
    }

    /// Ends what [`Watching::new`] began.
    pub fn finish(self, hart: &mut Hart) {
        if self.wants.accesses && !self.logged {
            hart.stop_log();
        }
    }

    fn begin(&mut self, hart: &mut Hart, inst: Option<&Inst>) {
        self.pc = hart.pc;
        if self.wants.accesses
            && let Some(log) = &mut hart.log
        {
            log.clear();
        }
        let vector = inst.filter(|i| i.op.is_vector() && i.op.class() != Class::VectorConfig);
        self.vector = None;
        if let Some(inst) = vector.filter(|_| self.wants.vectors) {
            self.vector = Some((hart.v.vtype, hart.v.vl, hart.v.vstart));
            self.active.set(hart, inst);
        }
        self.observer.before(hart, inst);
    }

    fn end(&mut self, hart: &mut Hart, inst: Option<&Inst>, trap: Option<&Trap>) {
        let pc = self.pc;
        let illegal = trap.is_some_and(|t| t.cause == Cause::IllegalInstruction);
        if let (Some((vtype, vl, vstart)), Some(inst), false) = (self.vector.take(), inst, illegal) {
            let operation = VectorOperation { pc, inst, vtype, vl, vstart, active: &self.active };
            self.observer.vector(hart, &operation);
        }
        if self.wants.accesses
            && let Some(log) = hart.log.take()
        {
            for event in &log.memory {
                let access = match *event {
                    MemoryEvent::Load { va, size } => Access { pc, va, size, stored: None },
                    MemoryEvent::Store { va, size, value } => Access { pc, va, size, stored: Some(value) },
                };
                self.observer.access(hart, &access);
            }
            hart.log = Some(log);
        }
        match (trap, inst) {
            (None, Some(inst)) => self.observer.retired(hart, pc, inst),
            (Some(trap), _) if trap.cause != Cause::EcallFromU => self.observer.trap(hart, trap),
            _ => {}
        }
        self.observer.after(hart, inst, trap);
    }
}

/// Bits that are no instruction come from the engine as an `ebreak`.
fn real(inst: &Inst) -> Option<&Inst> {
    const EBREAK: [u32; 2] = [0x0010_0073, 0x9002];
    Some(inst).filter(|i| i.op.base() != Op::Ebreak || EBREAK.contains(&i.raw))
}

impl<O: Observer> Each for Watching<'_, O> {
    fn before(&mut self, hart: &mut Hart, inst: &Inst) -> bool {
        self.begin(hart, real(inst));
        true
    }

    fn after(&mut self, hart: &mut Hart, inst: &Inst, trap: Option<&Trap>) -> bool {
        self.end(hart, real(inst), trap);
        !self.observer.is_done()
    }
}
