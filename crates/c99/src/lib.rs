//! The `stdint.h` "fast" types of the x86-64 Linux ABI, for `softfloat-sys`.
//!
//! The published `c99` crate finds these by running CMake at build time. They are fixed by the
//! ABI (`/usr/include/stdint.h`: `int_fast8_t` is one byte, the wider ones are `long`), so they
//! are simply written down. `softfloat-sys` itself supports no other target.
#![allow(non_camel_case_types)]

/// `int_fast32_t`
pub type int_fast32_t = i64;
/// `int_fast64_t`
pub type int_fast64_t = i64;
/// `uint_fast8_t`
pub type uint_fast8_t = u8;
/// `uint_fast32_t`
pub type uint_fast32_t = u64;
/// `uint_fast64_t`
pub type uint_fast64_t = u64;
