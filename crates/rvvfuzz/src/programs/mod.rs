//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.
//!
//! [`settings`] decide a [`campaign`]; [`campaign`] says what happens to one batch of programs, in order;
//! [`workers`] run many batches at once. The rooms they call, in the order in which a program passes them:
//!
//! * [`testbed`] — compilers and emulators: what is there, and how each is asked;
//! * [`judge`] — builds and runs programs on testbeds, and says who is wrong;
//! * [`reduce`] — the smallest program that still shows a fault, and its cause;
//! * [`store`] — the campaign's file;
//! * [`report`] — what people and other tools read;
//! * [`command`] — the command line.

pub mod campaign;
pub mod command;
pub mod hostile;
pub mod judge;
pub mod reduce;
pub mod report;
pub mod settings;
pub mod store;
pub mod testbed;
pub mod workers;
