//! What each scalar instruction does, by chapter of the unprivileged manual.
//!
//! The commonest integer instructions are micro-ops of the engine's loop ([`crate::engine`]), which calls the
//! functions of `integer` and `bitmanip` for what they compute. All others are called through a [`Handler`].

pub mod atomic;
pub mod bitmanip;
pub mod cache;
mod crypto;
pub mod float;
pub(crate) mod integer;
pub mod mop;
pub mod system;

use crate::Hart;
use crate::engine::Kind;
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::{Chapter, Inst, Op, ScalarOp, csr};

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

/// What executes a scalar instruction.
#[derive(Clone, Copy)]
pub(crate) enum Execution {
    /// A micro-op of the engine's loop.
    MicroOp(Kind),
    /// A micro-op that ends a block: a jump or a branch.
    Jump(Kind),
    /// A function.
    Call(Handler, Flow),
}

/// Whether all that an instruction does is to read `vl` or `vlenb`.
pub(crate) fn reads_vector_length(i: &Inst) -> bool {
    i.op == Op::Csrrs && i.rs1 == 0 && matches!(i.imm as u16, csr::VL | csr::VLENB)
}

/// What executes a scalar instruction. An instruction of the table that has no row in its chapter's file does
/// not compile.
pub(crate) fn execution(op: ScalarOp) -> Execution {
    let next = |handler| Execution::Call(handler, Flow::Next);
    match op {
        ScalarOp::Integer(op) => Execution::MicroOp(integer::computation(op)),
        ScalarOp::Multiply(op) => Execution::MicroOp(integer::multiplication(op)),
        ScalarOp::Load(op) => integer::load(op),
        ScalarOp::Store(op) => integer::store(op),
        ScalarOp::Branch(op) => Execution::Jump(integer::branch(op)),
        ScalarOp::Jump(op) => Execution::Jump(integer::jump(op)),
        ScalarOp::BitManip(op) => {
            bitmanip::micro_op(op).map_or_else(|| next(bitmanip::handler(op)), Execution::MicroOp)
        }
        ScalarOp::Crypto(op) => next(crypto::handler(op)),
        ScalarOp::Float(op) => next(float::handler(op)),
        ScalarOp::Atomic(op) => next(atomic::handler(op)),
        ScalarOp::Mop(op) => next(mop::handler(op)),
        ScalarOp::CacheBlock(op) => next(cache::handler(op)),
        ScalarOp::Csr(op) => Execution::Call(system::csr_handler(op), Flow::End),
        ScalarOp::System(op) => {
            let (handler, flow) = system::handler(op);
            Execution::Call(handler, flow)
        }
    }
}

/// The function that executes a scalar instruction, or what it expands to, if there is one.
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    match op.chapter() {
        Chapter::Scalar(ScalarOp::BitManip(op)) => Some((bitmanip::handler(op), Flow::Next)),
        Chapter::Scalar(op) => match execution(op) {
            Execution::Call(handler, flow) => Some((handler, flow)),
            Execution::MicroOp(_) | Execution::Jump(_) => None,
        },
        Chapter::Vector(_) => None,
    }
}

/// The fault of a load as that of a store, for the instructions whose every fault is a store's: AMOs
/// ("Store/AMO" causes) and cache-block operations ("regardless of the permissions required", chapter CMO).
fn as_store_fault(trap: Trap) -> Trap {
    let cause = match trap.cause {
        Cause::LoadAddressMisaligned => Cause::StoreAddressMisaligned,
        Cause::LoadAccessFault => Cause::StoreAccessFault,
        Cause::LoadPageFault => Cause::StorePageFault,
        other => other,
    };
    Trap { cause, ..trap }
}
