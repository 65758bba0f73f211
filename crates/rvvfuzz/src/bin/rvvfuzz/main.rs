//! The `rvvfuzz` command.

fn main() {}
