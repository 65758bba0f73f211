//! One binary for all integration tests of this crate: each binary is another link of the whole crate.
//! Vector semantics are tested in `testsuite/tests/all/`; here are the messages of traps.

mod command;
mod cores;
mod examples;
mod exec;
mod footprint;
mod fp;
mod linux;
mod observe;
mod smp;
mod snapshot;
mod trace;
mod vector_messages;
