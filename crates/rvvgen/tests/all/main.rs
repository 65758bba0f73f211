//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod command;
mod compiled;
mod examples;
mod head_comment;
mod loops;
mod programs;
mod text;
