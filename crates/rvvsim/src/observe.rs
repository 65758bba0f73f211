//! Watching a program instruction by instruction: for coverage, for tools that want the state before and
//! after.

use crate::engine::{Engine, Stop};
use crate::hart::Hart;
use crate::trap::Trap;
use rvv_isa::Inst;

/// Sees each instruction: give it to [`Machine::step_observed`](crate::Machine::step_observed).
pub trait Observer {
    /// The instruction at `hart.pc` is about to execute; `None` if its bits are no instruction of this hart.
    fn before(&mut self, hart: &Hart, inst: Option<&Inst>);
    /// It has executed, or trapped. `hart.pc` is where execution goes on, or the instruction that trapped.
    fn after(&mut self, hart: &Hart, inst: Option<&Inst>, trap: Option<&Trap>);
}

/// Executes one instruction under the eyes of `observer`.
pub fn step(engine: &mut Engine, hart: &mut Hart, observer: &mut impl Observer) -> Stop {
    let inst = next(hart);
    observer.before(hart, inst.as_ref());
    let stop = engine.step(hart);
    let trap = match &stop {
        Stop::Trap(trap) => Some(trap),
        Stop::Budget => None,
    };
    observer.after(hart, inst.as_ref(), trap);
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
