//! What each vector instruction does, by chapter of the manual.
//!
//! A chapter has rows that name its instructions, and beside them the operations, one line each where one
//! line says it. Masks, tails and `vl` are in [`run`](super::run), reserved encodings in
//! [`rules`](super::rules).

pub(in crate::vector) mod conversion;
pub(in crate::vector) mod crypto;
pub(in crate::vector) mod fixed_point;
pub(in crate::vector) mod float;
pub(in crate::vector) mod integer;
pub(in crate::vector) mod mask;
pub(in crate::vector) mod memory;
pub(in crate::vector) mod permute;
pub(in crate::vector) mod reduction;
pub(in crate::vector) mod vset;
