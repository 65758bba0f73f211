//! Random streams of instructions, compared with another model after every one.

pub mod stream;
