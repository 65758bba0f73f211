//! Instruction-level fuzzing: random streams of RV64GCV instructions on `rvvsim`, Spike and QEMU, whole
//! architectural state compared.
//!
//! A [`Stream`](stream::Stream) is a seeded initial state and a list of steps. It is
//!
//! * made by [`generate`] and changed by [`mutate`], both through a [`Builder`](builder::Builder), which
//!   executes as it goes and so knows `vtype`, `vl` and which elements are agnostic;
//! * run in process by [`inprocess`], with [`coverage`] noted by an observer;
//! * dressed as an ELF by [`runtime`], for a Linux process or bare HTIF, many streams in one file;
//! * run elsewhere by [`peers`], held against `rvvsim` by [`compare`]; a difference that is not [`known`] is
//!   made small by [`minimise`] and told by [`report`];
//! * kept as text by [`text`] in a [`corpus`] with what it is expected to do.
//!
//! # Agnostic elements
//!
//! The manual lets an implementation keep each agnostic element or overwrite it with ones. No stream *reads*
//! an agnostic element: the builder runs each stream twice, with all of them kept and with all of them
//! overwritten, and leaves out an instruction that would read a bit in which the two differ. So the choice
//! never flows into anything else, and at the end a bit is right if it is the one or the other; a bit in
//! which the two runs agree has one right value. Peers whose choice is known (Spike and QEMU keep the
//! elements) are held to that choice in every bit.

pub mod builder;
pub mod campaign;
pub mod command;
pub mod compare;
pub mod corpus;
pub mod coverage;
pub mod coverage_report;
pub mod dump;
pub mod engines;
pub mod generate;
pub mod init;
pub mod inprocess;
pub mod jury;
pub mod kept;
pub mod known;
pub mod layout;
pub mod minimise;
pub mod mutate;
pub mod peers;
pub mod probe;
pub mod replay;
pub mod report;
pub mod runtime;
pub mod stream;
pub mod sum;
pub mod text;
