//! An RV64GCV emulator with any VLEN, as a library.
//!
//! It runs ELF programs for bare metal and for Linux, says what the RISC-V manuals say, and leaves what they
//! leave open to you: the length of vector registers, what becomes of agnostic elements, which `vl` a
//! `vsetvli` chooses.
//!
//! # Quick start
//!
//! ```
//! use rvvsim::elf::Image;
//! use rvvsim::linux::{Output, ProcessOptions};
//! use rvvsim::{Config, Machine, Outcome};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = Image::open("demo/demo.elf".as_ref())?;
//! let config = Config { vlen: 256, max_insns: Some(10_000_000), ..Config::default() };
//! let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
//! let mut machine = Machine::user(config, &image, options)?;
//! assert_eq!(machine.run(None), Outcome::Exited(0));
//! println!("{}", String::from_utf8_lossy(machine.stdout()));
//! # assert!(!machine.stdout().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # Concepts
//!
//! * A [`Machine`] is a hart with a program in its memory: [`Machine::user`] makes a Linux process,
//!   [`Machine::bare`] a bare-metal machine. [`Machine::run`] runs it to its [`Outcome`].
//! * A [`Config`] is every choice of a run: ISA, VLEN, memory, policies, limits. Two runs with the same
//!   program, input and configuration are the same.
//! * A [`Hart`] is the architectural state: registers by number and by name, the vector unit, CSRs, memory.
//! * A [`Snapshot`] is a state to return to: [`Machine::snapshot`], [`Machine::restore`]. [`Machine::reset`]
//!   gives a machine another program. On bare metal both cost what was written since, not the size of the
//!   machine. A process has snapshots while its system calls are recorded: [`Machine::record`].
//! * An [`Observer`](observe::Observer) sees a program instruction by instruction:
//!   [`Machine::run_observed`], [`Machine::step_observed`].
//! * A [`Trap`] says why an instruction did not complete: its cause, and the rule that was broken, by the
//!   manual's id.
//!
//! Nothing in a guest or a file panics the host. A guest gets at most [`Config::mem`] of memory; it runs
//! until [`Config::max_insns`] or the deadline given to [`Machine::run`].
//!
//! # Examples
//!
//! In `examples/`: `run_elf` runs a program, `count_by_vlen` counts its instructions at several VLENs,
//! `snapshot` forks a machine.
//!
//! # Map
//!
//! Public: [`config`], [`elf`] files, [`linux`] processes, [`observe`], [`trace`], [`sanitize`], [`fp`]
//! (floating point as RISC-V has it), [`vector`] (state and rules of the vector unit).
//!
//! Inside, as ARCHITECTURE.md describes: `hart` and `mem` (state, loads and stores, the software TLB),
//! `scalar` and `vector` (what instructions do, by chapter of the manual), `engine` and `jit` (decode-once
//! blocks, and host code for those that run often), `privileged` (CSRs, traps, translation, the bare-metal
//! platform).

pub mod config;
mod crypto;
pub mod elf;
mod engine;
pub mod fp;
mod hart;
#[cfg_attr(not(target_arch = "x86_64"), path = "jit_none.rs")]
mod jit;
pub mod linux;
mod machine;
mod mem;
pub mod observe;
mod privileged;
pub mod sanitize;
mod scalar;
mod snapshot;
#[cfg(test)]
mod test_support;
pub mod trace;
mod trap;
mod turns;
pub mod vector;

pub use config::Config;
pub use engine::{CommitLog, Counts, Engine, MemoryEvent, Stop, Totals, has_host_code};
pub use hart::Hart;
pub use machine::{LoadError, Machine, Outcome, TraceFormat};
pub use privileged::{ConsoleInput, CsrFile, Privilege, RAM_BASE, status};
pub use snapshot::Snapshot;
pub use trap::{Cause, Exec, Trap};
