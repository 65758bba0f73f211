//! Rules that hold for all vector instructions: what is reserved, what becomes of agnostic elements, and what
//! an instruction reads and writes.

pub(in crate::vector) mod footprint;
pub(in crate::vector) mod legality;
pub(in crate::vector) mod policy;
pub(in crate::vector) mod reserved;
