//! Fuzzing campaigns: random programs, run on `rvvsim` and on its peers, and compared.
//!
//! * [`programs`] — programs of intrinsics, through compilers.
//! * [`streams`] — streams of instructions, below any compiler: `rvvfuzz isa`.

pub mod programs;
pub mod streams;
