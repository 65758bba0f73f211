//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.
//!
//! [`settings`] decide a [`campaign`]; [`campaign`] says what happens to one batch of programs, in order;
//! [`workers`] run many batches at once; [`sampling`] draws what is tried of each. The rooms they call, in
//! the order in which a program passes them:
//!
//! * [`testbed`] — compilers and emulators: what is there, and how each is asked;
//! * [`judge`] — builds and runs programs on testbeds, and says who is wrong;
//! * [`known`] — faults that are known: how each is recognised, and what triggers it;
//! * [`features`] — how compilers compiled each program, as a set of names;
//! * [`corpus`] — programs that are kept because compilers did something new with them;
//! * [`feedback`] — which programs are made of those;
//! * [`reduce`] — the smallest program that still shows a fault, and its cause;
//! * [`between`] — what changed between two compilers;
//! * [`store`] — the campaign's file;
//! * [`measure`] — how soon known faults are found, how many programs fail;
//! * [`report`] — what people and other tools read;
//! * [`serve`] — the same, live;
//! * [`command`] — the command line.

pub mod between;
mod book;
pub mod campaign;
pub mod command;
pub mod corpus;
pub mod cpu;
pub mod features;
pub mod feedback;
pub mod hostile;
pub mod judge;
pub mod known;
pub mod measure;
pub mod reduce;
pub mod report;
pub mod sampling;
pub mod serve;
pub mod settings;
pub mod store;
pub mod testbed;
pub mod workers;
