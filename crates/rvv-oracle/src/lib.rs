//! The reference evaluator of RVV programs. It shares no semantics with the emulator.

pub mod arith;
