//! Conformance tests of `rvvsim`: our own instruction tests, goldens recorded from Spike, the runner for
//! folders of ELFs, and lockstep against other models.
//!
//! * [`cases`] says which encodings and operands each scalar instruction is tested on, [`program`] makes
//!   bare-metal ELFs of them, [`golden`] keeps what Spike answered;
//! * [`emulator`] and [`peer`] run ELFs, here and elsewhere;
//! * [`elfs`] is the runner, [`lockstep`] compares instruction by instruction;
//! * [`rules`] says which tests are for which normative rule of the manual's vector chapters;
//! * [`fuzz`] hands hostile bytes to everything that reads files or runs guests; [`hostile`] has more of
//!   them;
//! * [`guests`] are realistic programs in C, compared between emulators.

pub mod cases;
pub mod compare;
pub mod elfs;
pub mod emulator;
pub mod fuzz;
pub mod golden;
pub mod guests;
pub mod hostile;
pub mod hostile_syscalls;
pub mod hostile_vector;
pub mod lockstep;
pub mod program;
pub mod rules;
pub mod sanitize;
pub mod vmatrix;

pub use rvv_tools as peer;
