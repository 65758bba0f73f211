//! The formats: their layout, and which implementation each of their operations has.

use super::{Flags, Float, Int, RoundingMode};
use super::{fast, round, soft};

/// Half precision, IEEE binary16 (Zfh, Zvfh).
#[derive(Clone, Copy, Debug)]
pub struct F16;

/// Single precision, IEEE binary32.
#[derive(Clone, Copy, Debug)]
pub struct F32;

/// Double precision, IEEE binary64.
#[derive(Clone, Copy, Debug)]
pub struct F64;

/// The upper half of single precision (Zfbfmin, Zvfbfmin, Zvfbfwma).
#[derive(Clone, Copy, Debug)]
pub struct BF16;

/// The parts of [`Float`] that are the same for every format but for numbers and for the module's functions.
macro_rules! float {
    ($format:ident, $bits:ty, exp: $exp:literal, sig: $sig:literal, fast: $fast:ident) => {
        impl Float for $format {
            type Bits = $bits;

            const SIG: u32 = $sig;
            const EXP: u32 = $exp;
            const SIGN_BIT: $bits = 1 << ($exp + $sig);
            const INFINITY: $bits = ((1 << $exp) - 1) << $sig;
            const QUIET_BIT: $bits = 1 << ($sig - 1);
            const MAX_FINITE: $bits = Self::INFINITY - 1;
            const MIN_NORMAL: $bits = 1 << $sig;
            const CANONICAL_NAN: $bits = Self::INFINITY | Self::QUIET_BIT;

            #[inline]
            fn add(a: $bits, b: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                match fast::$fast::add::<Self>(a, b, rm, flags) {
                    Some(result) => result,
                    None => soft::add::<Self>(a, b, rm, flags),
                }
            }

            #[inline]
            fn sub(a: $bits, b: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                // Subtracting a number is adding its opposite, in every mode. NaNs are not for the fast path.
                match fast::$fast::add::<Self>(a, Self::neg(b), rm, flags) {
                    Some(result) => result,
                    None => soft::sub::<Self>(a, b, rm, flags),
                }
            }

            #[inline]
            fn mul(a: $bits, b: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                match fast::$fast::mul::<Self>(a, b, rm, flags) {
                    Some(result) => result,
                    None => soft::mul::<Self>(a, b, rm, flags),
                }
            }

            #[inline]
            fn div(a: $bits, b: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                match fast::$fast::div::<Self>(a, b, rm, flags) {
                    Some(result) => result,
                    None => soft::div::<Self>(a, b, rm, flags),
                }
            }

            #[inline]
            fn sqrt(a: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                match fast::$fast::sqrt::<Self>(a, rm, flags) {
                    Some(result) => result,
                    None => soft::sqrt::<Self>(a, rm, flags),
                }
            }

            #[inline]
            fn fused_mul_add(a: $bits, b: $bits, c: $bits, rm: RoundingMode, flags: &mut Flags) -> $bits {
                match fast::$fast::fused_mul_add::<Self>(a, b, c, rm, flags) {
                    Some(result) => result,
                    None => soft::fused_mul_add::<Self>(a, b, c, rm, flags),
                }
            }

            #[inline]
            fn to_int<I: Int>(a: $bits, rm: RoundingMode, flags: &mut Flags) -> I {
                round::to_int::<Self, I>(a, rm, flags)
            }

            #[inline]
            fn from_int<I: Int>(x: I, rm: RoundingMode, flags: &mut Flags) -> $bits {
                round::from_int::<Self, I>(x, rm, flags)
            }

            #[inline]
            fn round_to_int(a: $bits, rm: RoundingMode, exact: bool, flags: &mut Flags) -> $bits {
                round::round_to_int::<Self>(a, rm, exact, flags)
            }
        }
    };
}

float!(F16, u16, exp: 5, sig: 10, fast: narrow);
float!(F32, u32, exp: 8, sig: 23, fast: single);
float!(F64, u64, exp: 11, sig: 52, fast: double);
float!(BF16, u16, exp: 8, sig: 7, fast: narrow);
