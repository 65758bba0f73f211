//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.

pub mod batch;
pub mod bisect;
pub mod bug;
pub mod compiler;
pub mod emulator;
pub mod outcome;
pub mod reduce;
mod simplify;
pub mod testbed;
mod tidy;
pub mod triage;
pub mod vote;
