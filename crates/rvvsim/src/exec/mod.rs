//! What each scalar instruction does, by chapter of the unprivileged manual.
//!
//! The commonest integer instructions are micro-ops of their own and live in the engine's loop
//! ([`crate::engine`]); everything here is called through a [`Handler`].

pub mod atomic;
pub mod bitmanip;
pub mod cache;
pub mod float;
pub mod mop;
pub mod system;

use crate::Hart;
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::{Inst, Op};

/// Executes one instruction. For those that end a block ([`Flow::End`]) `hart.pc` is its address and
/// `hart.next_pc` the one after it, which it may change; the others need not know where they are.
pub type Handler = fn(&mut Hart, &Inst) -> Exec;

/// How the engine treats an instruction that has a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Execution goes on with the next instruction of the block.
    Next,
    /// The block ends here: the instruction jumps, or changes what instructions mean (privilege,
    /// translation, `FS`, `VS`, `vtype`).
    End,
}

/// The handler of a scalar instruction that the engine's loop does not do itself. `op` is a base
/// instruction ([`Op::base`]).
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    system::handler(op)
        .or_else(|| float::handler(op))
        .or_else(|| atomic::handler(op))
        .or_else(|| bitmanip::handler(op))
        .or_else(|| cache::handler(op))
        .or_else(|| mop::handler(op))
}

/// The fault of a load as that of a store, for the instructions whose every fault is a store's: AMOs ("Store/AMO"
/// causes) and cache-block operations ("regardless of the permissions required", chapter CMO).
fn as_store_fault(trap: Trap) -> Trap {
    let cause = match trap.cause {
        Cause::LoadAddressMisaligned => Cause::StoreAddressMisaligned,
        Cause::LoadAccessFault => Cause::StoreAccessFault,
        Cause::LoadPageFault => Cause::StorePageFault,
        other => other,
    };
    Trap { cause, ..trap }
}
