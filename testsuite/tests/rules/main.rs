//! The manual's normative rules for vectors, one by one: `testsuite/rules/*.toml` says which test is for which
//! rule, and `cargo run -p testsuite -- rules` what is covered.
//!
//! Each test runs real instructions on a bare hart ([`harness`]) and compares with what the sentence says, worked
//! out by hand or by a plain model that goes element by element ([`model`]).

mod forms;
mod harness;
mod model;

mod integer;
mod legality;
mod memory;
mod overlap;
mod policy;
mod state;
mod status;
mod table;
mod traps;
mod vset;
