//! The `rvvsim` command, as its users call it.

mod arguments;
mod gdb;
mod guest;
mod output;
mod profile;
mod sanitize;
mod sweep;
