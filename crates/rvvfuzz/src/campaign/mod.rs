//! Campaigns: programs of intrinsics, compiled by every compiler, run on every emulator, and judged.

pub mod batch;
pub mod bisect;
mod blame;
pub mod bug;
pub mod command;
pub mod compiler;
pub mod config;
mod cut;
mod edit;
pub mod emulator;
pub mod live;
pub mod outcome;
pub mod probe;
pub mod query;
pub mod reduce;
pub mod reducer;
pub mod report;
pub mod run;
pub mod search;
mod simplify;
pub mod store;
pub mod testbed;
pub mod testbeds_file;
mod tidy;
pub mod triage;
pub mod vote;
pub mod work;
