//! An RV64GCV emulator with any VLEN, as a library.
//!
//! [`Machine`] is the way in: give it a [`Config`], load an ELF, run it; then [`Machine::reset`] it for another, or
//! [`Machine::restore`] a [`Snapshot`]. Below it:
//!
//! * [`hart`] — the architectural state of one hardware thread and its memory accesses;
//! * [`mem`] — guest RAM and the software TLB;
//! * [`scalar`] — what each scalar instruction does, by chapter of the manual;
//! * [`vector`] — the vector unit;
//! * [`engine`] — decode-once blocks and the loop that runs them, by an interpreter or as host code;
//! * [`privileged`] — CSRs, traps, address translation, PMP, the bare-metal platform;
//! * [`observe`] — watching a program instruction by instruction;
//! * [`linux`] — the Linux user-mode personality.

pub mod config;
pub mod elf;
pub mod engine;
pub mod fp;
pub mod hart;
#[cfg_attr(not(target_arch = "x86_64"), path = "jit_none.rs")]
mod jit;
pub mod linux;
pub mod machine;
pub mod mem;
pub mod observe;
pub mod privileged;
pub mod scalar;
pub mod snapshot;
pub mod trace;
pub mod trap;
pub mod vector;

pub use config::Config;
pub use hart::Hart;
pub use machine::{Machine, Outcome};
pub use snapshot::Snapshot;
pub use trap::{Cause, Exec, Trap};
