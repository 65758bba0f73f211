//! `rvvsim --sanitize`.

mod oracle;
