//! The manual's normative rules for vectors, one by one: `testsuite/rules/*.toml` says which test is for
//! which rule, and `cargo run -p testsuite -- rules` what is covered.
//!
//! Each test runs real instructions on a bare hart ([`harness`]) and compares with what the sentence says,
//! worked out by hand or by a plain model that goes element by element ([`model`]).

mod forms;
mod harness;
mod model;

mod convert;
mod crypto;
mod estimate;
mod float;
mod groups;
mod integer;
mod legality;
mod mask;
mod memory;
mod overlap;
mod permute;
mod policy;
mod reduction;
mod shapes;
mod state;
mod status;
mod table;
mod traps;
mod vset;
