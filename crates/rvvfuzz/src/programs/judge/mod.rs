//! Judging: builds programs, runs them, compares what they print with what they must print, and names the
//! culprit.

pub mod batch;
pub mod case;
pub mod health;
mod inputs;
pub mod invalid;
pub mod outcome;
pub mod probe;
pub mod vote;
