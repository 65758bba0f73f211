//! Reduction: the smallest program that still shows a fault, what it has in common with other faults, and
//! which pass of the compiler is guilty.

pub mod bisect;
mod cut;
mod edit;
pub mod loops;
pub mod queue;
pub mod reducer;
pub(in crate::programs) mod search;
pub(in crate::programs) mod simplify;
pub mod target;
pub mod triage;
