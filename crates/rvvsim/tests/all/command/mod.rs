//! The `rvvsim` command, as its users call it.

mod arguments;
mod core;
mod count;
mod ended;
mod gdb;
pub mod guest;
mod observed;
mod output;
mod profile;
mod sanitize;
mod sweep;
