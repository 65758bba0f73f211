//! Fuzzing campaigns: random programs, run on `rvvsim` and on its peers, and compared.
//!
//! * [`campaign`] — programs of intrinsics, through compilers.
//! * [`isa`] — streams of instructions, below any compiler.

pub mod campaign;
pub mod isa;
