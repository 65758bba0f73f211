//! What people do with RVV intrinsics, counted: a small table, from which the policy `human` draws.

mod count;
mod loops;
mod table;

pub use count::{Learned, learn};
pub(crate) use count::{ROLES, policy_name};
pub use table::{REST, SECTIONS, SourceInfo, Table, TableError};

#[cfg(test)]
mod tests;
