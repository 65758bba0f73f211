//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod compile;
mod consistency;
mod official;
mod tables;
