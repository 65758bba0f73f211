//! The integers that floating point is written in terms of: bit patterns, and the integers of conversions.

use std::fmt::{Debug, LowerHex};
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// An unsigned integer that holds the bit pattern of a floating-point format.
pub trait Bits:
    Copy
    + Eq
    + Ord
    + Debug
    + LowerHex
    + Default
    + Into<u64>
    + TryFrom<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + Send
    + Sync
    + 'static
{
    /// The pattern with no bit set.
    const ZERO: Self;

    /// The low bits of `wide`.
    fn truncate(wide: u64) -> Self;
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            const ZERO: Self = 0;

            #[inline]
            fn truncate(wide: u64) -> Self {
                wide as $t
            }
        }
    )*};
}

bits!(u16 u32 u64);

/// An integer type that floats convert from and to.
pub trait Int: Copy + Eq + Ord + Debug + Send + Sync + 'static {
    /// The width.
    const BITS: u32;
    /// Whether it is signed.
    const SIGNED: bool;
    /// The least value.
    const MIN: Self;
    /// The greatest value.
    const MAX: Self;
    /// The magnitude of [`Self::MIN`].
    const MIN_MAGNITUDE: u64;
    /// The magnitude of [`Self::MAX`].
    const MAX_MAGNITUDE: u64;

    /// The low bits of `wide`.
    fn truncate(wide: u64) -> Self;

    /// The sign, and the absolute value.
    fn sign_magnitude(self) -> (bool, u64);
}

macro_rules! int {
    ($($t:ty, $signed:literal;)*) => {$(
        impl Int for $t {
            const BITS: u32 = <$t>::BITS;
            const SIGNED: bool = $signed;
            const MIN: Self = <$t>::MIN;
            const MAX: Self = <$t>::MAX;
            const MIN_MAGNITUDE: u64 = (<$t>::MIN as i128).unsigned_abs() as u64;
            const MAX_MAGNITUDE: u64 = <$t>::MAX as u64;

            #[inline]
            fn truncate(wide: u64) -> Self {
                wide as $t
            }

            #[inline]
            #[allow(unused_comparisons)]
            fn sign_magnitude(self) -> (bool, u64) {
                let wide = self as i64 as u64;
                if self < 0 { (true, wide.wrapping_neg()) } else { (false, wide) }
            }
        }
    )*};
}

int! {
    i8, true;
    u8, false;
    i16, true;
    u16, false;
    i32, true;
    u32, false;
    i64, true;
    u64, false;
}
