//! The reference evaluator of RVV programs: what each must print, and which bits of it are defined.
//!
//! It evaluates the IR, not machine code: it knows vectors of VLMAX elements, each bit defined or not,
//! and no registers. It shares no semantics with the emulator.

pub mod arith;
mod bits;
mod call;
mod crypto;
mod eval;
mod invert;
mod loops;
mod mask;
mod memory;
#[cfg(test)]
mod mnemonics;
mod permute;
mod reduction;
mod utility;
mod value;

pub use eval::{EvalError, Options, evaluate, evaluate_inverted, evaluate_metered, evaluate_with};
pub use rvv_ir::VlChoice;
