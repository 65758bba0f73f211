//! What can be done with a value of any format.

use super::{Bits, Flags, Int, RoundingMode, convert, estimate, fast, soft};

/// A binary floating-point format, as operations on its bit patterns.
///
/// Operations accumulate exceptions into `flags`, which is never cleared. Operands are taken as they are:
/// unboxing is the caller's business (see [`unbox_f32`](super::unbox_f32)).
pub trait Float: soft::Backend + Copy + 'static {
    /// What holds a value.
    type Bits: Bits;

    /// The width of the whole format.
    const WIDTH: u32 = 1 + Self::EXP + Self::SIG;
    /// The width of the trailing significand, the leading one not counted: 23 for single precision.
    const SIG: u32;
    /// The width of the exponent field.
    const EXP: u32;
    /// The exponent bias.
    const BIAS: i32 = (1 << (Self::EXP - 1)) - 1;
    /// The sign bit alone, which is −0.
    const SIGN_BIT: Self::Bits;
    /// +∞.
    const INFINITY: Self::Bits;
    /// The most significant bit of the trailing significand: set in a quiet NaN.
    const QUIET_BIT: Self::Bits;
    /// The greatest finite value.
    const MAX_FINITE: Self::Bits;
    /// The least positive normal value.
    const MIN_NORMAL: Self::Bits;
    /// The quiet NaN that every operation gives as its NaN.
    const CANONICAL_NAN: Self::Bits;

    /// `a + b`.
    fn add(a: Self::Bits, b: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// `a - b`.
    fn sub(a: Self::Bits, b: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// `a * b`.
    fn mul(a: Self::Bits, b: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// `a / b`.
    fn div(a: Self::Bits, b: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// The square root of `a`.
    fn sqrt(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// `a * b + c`, rounded once. ∞ × 0 is invalid even when `c` is a quiet NaN.
    fn fused_mul_add(
        a: Self::Bits,
        b: Self::Bits,
        c: Self::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> Self::Bits;

    /// `a` as an integer. Out of range gives the nearest end of the range and NaN the upper one, both with NV
    /// and nothing else.
    fn to_int<I: Int>(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> I;

    /// The integer `x` in this format.
    fn from_int<I: Int>(x: I, rm: RoundingMode, flags: &mut Flags) -> Self::Bits;

    /// `a` rounded to an integer of the same format; NX is raised only if `exact` is asked for (`froundnx`).
    fn round_to_int(a: Self::Bits, rm: RoundingMode, exact: bool, flags: &mut Flags) -> Self::Bits;

    /// Whether `a` is a NaN.
    #[inline]
    fn is_nan(a: Self::Bits) -> bool {
        Self::abs(a) > Self::INFINITY
    }

    /// Whether `a` is a signaling NaN.
    #[inline]
    fn is_signaling_nan(a: Self::Bits) -> bool {
        Self::is_nan(a) && a & Self::QUIET_BIT == Self::Bits::ZERO
    }

    /// Whether the sign bit of `a` is set.
    #[inline]
    fn is_sign_negative(a: Self::Bits) -> bool {
        a >= Self::SIGN_BIT
    }

    /// Whether `a` is neither infinite nor NaN.
    #[inline]
    fn is_finite(a: Self::Bits) -> bool {
        Self::abs(a) < Self::INFINITY
    }

    /// Whether `a` is +0 or −0.
    #[inline]
    fn is_zero(a: Self::Bits) -> bool {
        Self::abs(a) == Self::Bits::ZERO
    }

    /// `a` with its sign bit clear, whatever `a` is.
    #[inline]
    fn abs(a: Self::Bits) -> Self::Bits {
        a & !Self::SIGN_BIT
    }

    /// `a` with its sign bit flipped, whatever `a` is: what `fmsub`, `fnmadd` and `fnmsub` do to operands.
    #[inline]
    fn neg(a: Self::Bits) -> Self::Bits {
        a ^ Self::SIGN_BIT
    }

    /// `a == b`, quietly: only a signaling NaN is invalid.
    #[inline]
    fn eq(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> bool {
        raise_if_signaling::<Self>(a, b, flags);
        !Self::is_nan(a) && !Self::is_nan(b) && (a == b || (a | b) & !Self::SIGN_BIT == Self::Bits::ZERO)
    }

    /// `a < b`; any NaN is invalid.
    #[inline]
    fn lt(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> bool {
        flags.raise_if(Self::is_nan(a) | Self::is_nan(b), Flags::NV);
        less::<Self>(a, b)
    }

    /// `a <= b`; any NaN is invalid.
    #[inline]
    fn le(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> bool {
        flags.raise_if(Self::is_nan(a) | Self::is_nan(b), Flags::NV);
        less_or_equal::<Self>(a, b)
    }

    /// `a < b`, quietly (`fltq`): only a signaling NaN is invalid.
    #[inline]
    fn ltq(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> bool {
        raise_if_signaling::<Self>(a, b, flags);
        less::<Self>(a, b)
    }

    /// `a <= b`, quietly (`fleq`): only a signaling NaN is invalid.
    #[inline]
    fn leq(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> bool {
        raise_if_signaling::<Self>(a, b, flags);
        less_or_equal::<Self>(a, b)
    }

    /// The lesser of `a` and `b`; −0 is less than +0, and a NaN loses to a number (IEEE 754-2019
    /// minimumNumber).
    #[inline]
    fn min(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> Self::Bits {
        raise_if_signaling::<Self>(a, b, flags);
        number_or::<Self>(a, b, if order::<Self>(a) <= order::<Self>(b) { a } else { b })
    }

    /// The greater of `a` and `b`; −0 is less than +0, and a NaN loses to a number (IEEE 754-2019
    /// maximumNumber).
    #[inline]
    fn max(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> Self::Bits {
        raise_if_signaling::<Self>(a, b, flags);
        number_or::<Self>(a, b, if order::<Self>(a) >= order::<Self>(b) { a } else { b })
    }

    /// As [`Float::min`], but a NaN wins (`fminm`, IEEE 754-2019 minimum).
    #[inline]
    fn minm(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> Self::Bits {
        let min = Self::min(a, b, flags);
        if Self::is_nan(a) || Self::is_nan(b) { Self::CANONICAL_NAN } else { min }
    }

    /// As [`Float::max`], but a NaN wins (`fmaxm`, IEEE 754-2019 maximum).
    #[inline]
    fn maxm(a: Self::Bits, b: Self::Bits, flags: &mut Flags) -> Self::Bits {
        let max = Self::max(a, b, flags);
        if Self::is_nan(a) || Self::is_nan(b) { Self::CANONICAL_NAN } else { max }
    }

    /// `a` with the sign of `b`.
    #[inline]
    fn sgnj(a: Self::Bits, b: Self::Bits) -> Self::Bits {
        Self::abs(a) | (b & Self::SIGN_BIT)
    }

    /// `a` with the opposite of the sign of `b`.
    #[inline]
    fn sgnjn(a: Self::Bits, b: Self::Bits) -> Self::Bits {
        Self::abs(a) | (!b & Self::SIGN_BIT)
    }

    /// `a` with its sign multiplied by that of `b`.
    #[inline]
    fn sgnjx(a: Self::Bits, b: Self::Bits) -> Self::Bits {
        a ^ (b & Self::SIGN_BIT)
    }

    /// The class of `a`, one bit of ten, as `fclass` and `vfclass` number them: −∞, negative normal, negative
    /// subnormal, −0, +0, positive subnormal, positive normal, +∞, signaling NaN, quiet NaN.
    #[inline]
    fn classify(a: Self::Bits) -> u64 {
        let magnitude = Self::abs(a);
        let positive_class = if magnitude > Self::INFINITY {
            return if Self::is_signaling_nan(a) { 1 << 8 } else { 1 << 9 };
        } else if magnitude == Self::INFINITY {
            7
        } else if magnitude >= Self::MIN_NORMAL {
            6
        } else if magnitude > Self::Bits::ZERO {
            5
        } else {
            4
        };
        // The negative classes mirror the positive ones.
        1 << if Self::is_sign_negative(a) { 7 - positive_class } else { positive_class }
    }

    /// [`Float::to_int`] for `i8`.
    #[inline]
    fn to_i8(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> i8 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `u8`.
    #[inline]
    fn to_u8(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> u8 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `i16`.
    #[inline]
    fn to_i16(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> i16 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `u16`.
    #[inline]
    fn to_u16(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> u16 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `i32`.
    #[inline]
    fn to_i32(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> i32 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `u32`.
    #[inline]
    fn to_u32(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> u32 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `i64`.
    #[inline]
    fn to_i64(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> i64 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::to_int`] for `u64`.
    #[inline]
    fn to_u64(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> u64 {
        Self::to_int(a, rm, flags)
    }

    /// [`Float::from_int`] for `i8`.
    #[inline]
    fn from_i8(x: i8, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `u8`.
    #[inline]
    fn from_u8(x: u8, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `i16`.
    #[inline]
    fn from_i16(x: i16, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `u16`.
    #[inline]
    fn from_u16(x: u16, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `i32`.
    #[inline]
    fn from_i32(x: i32, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `u32`.
    #[inline]
    fn from_u32(x: u32, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `i64`.
    #[inline]
    fn from_i64(x: i64, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// [`Float::from_int`] for `u64`.
    #[inline]
    fn from_u64(x: u64, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        Self::from_int(x, rm, flags)
    }

    /// The constant that `fli` loads for the index `idx`, of which the low five bits count.
    #[inline]
    fn li(idx: u8) -> Self::Bits {
        convert::load_immediate::<Self>(idx)
    }

    /// The 7-bit estimate of `1 / a` (`vfrec7`). The mode decides what an overflow gives.
    #[inline]
    fn rec7(a: Self::Bits, rm: RoundingMode, flags: &mut Flags) -> Self::Bits {
        estimate::rec7::<Self>(a, rm, flags)
    }

    /// The 7-bit estimate of the reciprocal of the square root of `a` (`vfrsqrt7`).
    #[inline]
    fn rsqrt7(a: Self::Bits, flags: &mut Flags) -> Self::Bits {
        estimate::rsqrt7::<Self>(a, flags)
    }
}

#[inline]
fn raise_if_signaling<F: Float>(a: F::Bits, b: F::Bits, flags: &mut Flags) {
    flags.raise_if(F::is_signaling_nan(a) | F::is_signaling_nan(b), Flags::NV);
}

/// A key that orders numbers as their values, with −0 just below +0.
#[inline]
fn order<F: Float>(a: F::Bits) -> F::Bits {
    if F::is_sign_negative(a) { !a } else { a | F::SIGN_BIT }
}

/// `a < b`; false if either is a NaN.
#[inline]
fn less<F: Float>(a: F::Bits, b: F::Bits) -> bool {
    if let Some(result) = fast::less::<F>(a, b) {
        return result;
    }
    let ordered = !F::is_nan(a) & !F::is_nan(b);
    let both_zero = F::is_zero(a | b);
    ordered & !both_zero & (order::<F>(a) < order::<F>(b))
}

/// `a <= b`; false if either is a NaN.
#[inline]
fn less_or_equal<F: Float>(a: F::Bits, b: F::Bits) -> bool {
    if let Some(result) = fast::less_or_equal::<F>(a, b) {
        return result;
    }
    let ordered = !F::is_nan(a) & !F::is_nan(b);
    let both_zero = F::is_zero(a | b);
    ordered & (both_zero | (order::<F>(a) <= order::<F>(b)))
}

/// `chosen` if `a` and `b` are numbers, the number if one is, the canonical NaN if none is.
#[inline]
fn number_or<F: Float>(a: F::Bits, b: F::Bits, chosen: F::Bits) -> F::Bits {
    match (F::is_nan(a), F::is_nan(b)) {
        (false, false) => chosen,
        (false, true) => a,
        (true, false) => b,
        (true, true) => F::CANONICAL_NAN,
    }
}
