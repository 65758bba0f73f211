//! Programs as people write them: intrinsics, types, policies, def-use pairs, loops and sizes are drawn from a
//! table of what libraries do ([`crate::learn`]).

mod model;
mod write;

pub use model::Human;
pub(crate) use write::program;

#[cfg(test)]
mod tests;
