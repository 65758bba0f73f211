//! Fuzzing campaigns: random programs, run on `rvvsim` and on its peers, and compared.
//!
//! * [`isa`] — streams of instructions, below any compiler.

pub mod isa;
