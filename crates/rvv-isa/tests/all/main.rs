//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod decode;
mod isa;
mod objdump;
mod round_trip;
mod table;
