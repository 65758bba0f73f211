//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod act4;
mod bad_input;
mod blocks;
mod docs;
mod goldens;
mod imported;
mod kernels;
mod rules;
mod runner;
mod sail;
mod sanitize;
mod vector;
mod vmatrix;
