//! Writes well-defined programs full of RVV intrinsics.
//!
//! [`Plan`] says which intrinsics each program is about, so that all are reached in the fewest programs;
//! [`generate()`] writes program number `k` of a plan. Both are functions of their arguments alone.

mod accumulators;
mod blocks;
mod builder;
mod call;
mod context;
mod control_flow;
mod coverage;
pub mod csource;
mod definedness;
mod every_pair;
mod follow;
mod generate;
mod human;
pub mod import;
mod invalid;
pub mod learn;
mod lookup;
mod loops;
mod memory;
mod mend;
mod mutate;
mod operand;
mod pairs;
mod patterns;
mod plan;
mod region;
mod rng;
mod schedule;
mod select;
mod sizes;
mod stats;
mod twins;
mod uses;
mod vl_class;
mod weights;

pub use coverage::{Count, Coverage, Group};
pub use generate::{GenerateError, Generated, Settings, generate};
pub use human::Human;
pub use invalid::{Defect, Invalid, invalid};
pub use mutate::{Bounds, Miss, Mutant, MutateError, Mutator, Parent};
pub use pairs::PairCoverage;
pub use plan::{Choice, Plan, Region};
pub use rvv_intrinsics::Category;
pub use schedule::{Reschedule, Scheduler, schedule};
pub use select::Selection;
pub use sizes::{Lengths, Sizes};
pub use stats::{Pair, Stats, StripLoop, is_operation};
pub use twins::twins;
pub use vl_class::{Class, Kind, class, exists_at};
pub use weights::{Bias, NamedPolicy, POLICIES, Weights, WeightsError};
