//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.

pub mod batch;
pub mod compiler;
pub mod emulator;
pub mod outcome;
pub mod reduce;
mod simplify;
pub mod testbed;
mod tidy;
pub mod vote;
