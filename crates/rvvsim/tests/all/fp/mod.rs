//! Floating-point arithmetic on bit patterns.

mod support;

mod fast;
mod reference;
mod semantics;
mod speed;
