//! Numbers, one or several side by side, as the host's FPU computes with them.

use std::ops::{BitAnd, BitOr};

/// What the host's FPU does with numbers, and what is asked about them.
pub(in crate::vector) trait Numbers: Copy {
    /// One of them.
    type One: Copy;
    /// Whether something is so, for each of them.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask>;
    /// 0.
    const NOTHING: Self::One;
    /// The least normal number.
    const MIN_NORMAL: Self::One;
    /// The greatest number.
    const MAX: Self::One;
    /// A number so great that the product of two of this precision, if it is as great, is a multiple of the
    /// least subnormal number: the error of a rounded product, quotient or root is then a number, and zero
    /// only if it is.
    const SPACIOUS: Self::One;

    /// So for none of as many numbers as these.
    fn none(self) -> Self::Mask;
    /// `x`, as often as there are numbers here. Made from a value, so that who has none cannot make one: see
    /// [`Avx`](crate::vector::run::host).
    fn splat(self, x: Self::One) -> Self;
    /// The sum.
    fn add(self, y: Self) -> Self;
    /// The difference.
    fn sub(self, y: Self) -> Self;
    /// The product.
    fn mul(self, y: Self) -> Self;
    /// The quotient.
    fn div(self, y: Self) -> Self;
    /// The negative.
    fn neg(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// `self * y + z`, rounded once. Only asked for where the host has an instruction for it.
    fn fused(self, y: Self, z: Self) -> Self;
    /// Equal; a NaN is not.
    fn eq(self, y: Self) -> Self::Mask;
    /// Less; a NaN is not.
    fn lt(self, y: Self) -> Self::Mask;
    /// Less or equal; a NaN is not.
    fn le(self, y: Self) -> Self::Mask;
    /// Whether it is so for all.
    fn all(mask: Self::Mask) -> bool;
}

/// 2^-100: its products end at 2^-148 or above.
pub(in crate::vector) const SPACIOUS_32: f32 = f32::from_bits((127 - 100) << 23);
/// 2^-960: its products end at 2^-1066 or above.
pub(in crate::vector) const SPACIOUS_64: f64 = f64::from_bits((1023 - 960) << 52);

macro_rules! one {
    ($($f:ty, $spacious:expr;)*) => {$(
        impl Numbers for $f {
            type One = $f;
            type Mask = bool;
            const NOTHING: $f = 0.0;
            const MIN_NORMAL: $f = <$f>::MIN_POSITIVE;
            const MAX: $f = <$f>::MAX;
            const SPACIOUS: $f = $spacious;

            #[inline(always)]
            fn none(self) -> bool {
                false
            }
            #[inline(always)]
            fn splat(self, x: $f) -> $f {
                x
            }
            #[inline(always)]
            fn add(self, y: $f) -> $f {
                self + y
            }
            #[inline(always)]
            fn sub(self, y: $f) -> $f {
                self - y
            }
            #[inline(always)]
            fn mul(self, y: $f) -> $f {
                self * y
            }
            #[inline(always)]
            fn div(self, y: $f) -> $f {
                self / y
            }
            #[inline(always)]
            fn neg(self) -> $f {
                -self
            }
            #[inline(always)]
            fn abs(self) -> $f {
                <$f>::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> $f {
                <$f>::sqrt(self)
            }
            #[inline(always)]
            fn fused(self, y: $f, z: $f) -> $f {
                self.mul_add(y, z)
            }
            #[inline(always)]
            fn eq(self, y: $f) -> bool {
                self == y
            }
            #[inline(always)]
            fn lt(self, y: $f) -> bool {
                self < y
            }
            #[inline(always)]
            fn le(self, y: $f) -> bool {
                self <= y
            }
            #[inline(always)]
            fn all(mask: bool) -> bool {
                mask
            }
        }
    )*};
}

one! {
    f32, SPACIOUS_32;
    f64, SPACIOUS_64;
}
