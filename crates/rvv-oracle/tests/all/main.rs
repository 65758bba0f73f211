//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod common;
mod float_apfloat;
mod float_by_search;
mod float_softfloat;
mod integer;
mod inverted;
mod loops;
mod programs;
