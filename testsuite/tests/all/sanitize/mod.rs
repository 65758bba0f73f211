//! `rvvsim --sanitize`.

mod kernels;
mod oracle;
