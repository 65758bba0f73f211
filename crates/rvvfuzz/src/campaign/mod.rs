//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.

pub mod batch;
pub mod command;
pub mod compiler;
pub mod config;
pub mod emulator;
pub mod live;
pub mod outcome;
pub mod probe;
pub mod query;
pub mod report;
pub mod run;
pub mod store;
pub mod testbed;
pub mod testbeds_file;
pub mod vote;
pub mod work;
