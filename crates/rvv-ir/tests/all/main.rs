//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod lower_all;
mod lower_forms;
mod support;
