//! Every RVV C intrinsic: prototypes, operand roles, and the name of what each means.
//!
//! The tables are `isa/intrinsics/*.toml`; a family there expands to all its prototypes.

mod intrinsic;
mod sem;
mod types;

pub use intrinsic::{Extension, Intrinsic, Param, Policy, Role};
pub use sem::Sem;
pub use types::{Elem, Type, VecType};
