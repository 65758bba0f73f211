//! Writes well-defined programs full of RVV intrinsics.
//!
//! [`Plan`] says which intrinsics each program is about, so that all are reached in the fewest programs;
//! [`generate()`] writes program number `k` of a plan. Both are functions of their arguments alone.

mod accumulators;
mod builder;
mod context;
mod control_flow;
mod coverage;
mod definedness;
mod generate;
mod lookup;
mod memory;
mod operand;
mod plan;
mod rng;
mod schedule;
mod select;
mod uses;
mod vl_class;
mod weights;

pub use coverage::{Count, Coverage, Group};
pub use generate::{GenerateError, Generated, Settings, generate};
pub use plan::{Choice, Plan};
pub use rvv_intrinsics::Category;
pub use schedule::{Reschedule, Scheduler, schedule};
pub use select::Selection;
pub use vl_class::{Class, Kind, class, exists_at};
pub use weights::{Bias, NamedPolicy, POLICIES, Weights, WeightsError};
