//! Scalar instructions, one at a time on a bare hart.

mod support;

mod atomic;
mod bitmanip;
mod crypto;
mod float;
mod float_convert;
mod handlers;
mod memory;
