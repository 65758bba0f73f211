//! The host FPU, where it can be shown to give the value and the flags that SoftFloat gives.
//!
//! Every function here answers `None` when it cannot, and the caller asks SoftFloat. Rust's arithmetic on
//! `f32` and `f64` is IEEE arithmetic that rounds to nearest, ties to even; the host's own flags are never
//! looked at. What needs showing, then, is that no exception but inexact can occur, and whether that one
//! does.
//!
//! Two facts are used throughout.
//!
//! 1. *Sums.* Let `s` be `x + y` rounded to nearest and finite. Then the sum was exact if and only if
//!    `s - x == y` and `s - y == x`. If it was exact, both differences are representable, so both hold. If it
//!    was not, take the greater of the operands in magnitude: the difference of `s` and it is exact (Dekker),
//!    and is not the other operand. A sum never underflows inexactly: where it is subnormal, it is exact.
//! 2. *Rounding to odd.* An exact value rounded to odd with two more bits than the destination can be rounded
//!    again, in any mode, as if it had been exact; and it is exact only if the value was (Boldo and
//!    Melquiond, "Emulation of FMA and correctly rounded sums", 2008).

use super::{Bits, F32, F64, Flags, Float, RoundingMode};

/// Whether two formats are one.
#[inline]
const fn is<A: Float, B: Float>() -> bool {
    A::EXP == B::EXP && A::SIG == B::SIG
}

/// Conversions to a format that has all the numbers of the other, and of a double to the nearest single.
#[inline]
pub(super) fn convert<S: Float, D: Float>(
    a: S::Bits,
    rm: RoundingMode,
    flags: &mut Flags,
) -> Option<D::Bits> {
    if is::<S, F64>() {
        if !is::<D, F32>() || rm != RoundingMode::Rne {
            return None;
        }
        let exact = f64::from_bits(a.into());
        let result = exact as f32;
        if !single::is_safe(result) && exact != 0.0 {
            return None;
        }
        flags.raise_if(f64::from(result) != exact, Flags::NX);
        return Some(D::Bits::truncate(result.to_bits().into()));
    }
    if !S::is_finite(a) {
        return None;
    }
    if is::<D, F64>() {
        Some(D::Bits::truncate(narrow::widen::<S>(a).to_bits()))
    } else if is::<D, F32>() {
        Some(D::Bits::truncate((narrow::widen::<S>(a) as f32).to_bits().into()))
    } else {
        None
    }
}

/// `a < b` on the FPU, of formats that it has.
#[inline]
pub(super) fn less<F: Float>(a: F::Bits, b: F::Bits) -> Option<bool> {
    if is::<F, F32>() {
        Some(single::single::<F>(a) < single::single::<F>(b))
    } else if is::<F, F64>() {
        Some(f64::from_bits(a.into()) < f64::from_bits(b.into()))
    } else {
        None
    }
}

/// `a <= b` on the FPU, of formats that it has.
#[inline]
pub(super) fn less_or_equal<F: Float>(a: F::Bits, b: F::Bits) -> Option<bool> {
    if is::<F, F32>() {
        Some(single::single::<F>(a) <= single::single::<F>(b))
    } else if is::<F, F64>() {
        Some(f64::from_bits(a.into()) <= f64::from_bits(b.into()))
    } else {
        None
    }
}

/// Formats of at most 24 bits of precision and no more exponents than single precision, in every rounding
/// mode: compute in double precision, to odd where that is not exact, and round in integer arithmetic.
pub(super) mod narrow {
    use super::super::{Bits, F32, Flags, Float, RoundingMode, round};

    /// The value of a finite `a`, exactly.
    #[inline]
    pub fn widen<F: Float>(a: F::Bits) -> f64 {
        debug_assert!(F::SIG <= F32::SIG && F::EXP <= F32::EXP);
        let bits: u64 = a.into();
        if F::EXP == F32::EXP {
            // Single precision, or as much of it as the format keeps.
            return f64::from(f32::from_bits((bits << (F32::SIG - F::SIG)) as u32));
        }
        let magnitude: u64 = F::abs(a).into();
        let value = if magnitude >> F::SIG != 0 {
            f64::from_bits((magnitude << (52 - F::SIG)) + (((1023 - F::BIAS) as u64) << 52))
        } else {
            // A subnormal: a multiple of the least one.
            magnitude as f64 * f64::from_bits(((1024 - F::BIAS - F::SIG as i32) as u64) << 52)
        };
        if F::is_sign_negative(a) { -value } else { value }
    }

    /// Rounds a result to the format. It is finite, and exact or rounded to odd.
    #[inline]
    pub fn finish<F: Float>(value: f64, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
        if value == 0.0 {
            return if value.is_sign_negative() { F::SIGN_BIT } else { F::Bits::ZERO };
        }
        // Not zero, it is normal: the least magnitude is that of a product of two of the least subnormals of
        // single precision, 2^-298.
        round::narrow::<F>(value, rm, flags)
    }

    /// As [`finish`], for a sum: zero, if it is the sum of operands that cancel, has the sign that the mode
    /// says.
    #[inline]
    pub fn finish_sum<F: Float>(sum: f64, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if sum == 0.0 && rm == RoundingMode::Rdn { None } else { Some(finish::<F>(sum, rm, flags)) }
    }

    /// `x + y` rounded to odd. Nothing here comes near the ends of double precision.
    #[inline]
    pub fn sum_to_odd(x: f64, y: f64) -> f64 {
        let sum = x + y;
        if sum - x == y && sum - y == x {
            return sum;
        }
        let bits = sum.to_bits();
        if bits & 1 != 0 {
            return sum;
        }
        // The sum is between `sum` and a neighbour, which is odd: above or below, as the error says (TwoSum).
        let y_part = sum - x;
        let error = (x - (sum - y_part)) + (y - y_part);
        f64::from_bits(if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 })
    }

    #[inline]
    pub fn add<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if !F::is_finite(a) || !F::is_finite(b) {
            return None;
        }
        finish_sum::<F>(sum_to_odd(widen::<F>(a), widen::<F>(b)), rm, flags)
    }

    #[inline]
    pub fn mul<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if !F::is_finite(a) || !F::is_finite(b) {
            return None;
        }
        // 48 bits at most: exact.
        Some(finish::<F>(widen::<F>(a) * widen::<F>(b), rm, flags))
    }

    #[inline]
    pub fn fused_mul_add<F: Float>(
        a: F::Bits,
        b: F::Bits,
        c: F::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> Option<F::Bits> {
        if !F::is_finite(a) || !F::is_finite(b) || !F::is_finite(c) {
            return None;
        }
        let product = widen::<F>(a) * widen::<F>(b);
        finish_sum::<F>(sum_to_odd(product, widen::<F>(c)), rm, flags)
    }

    /// A quotient of precision-24 numbers differs from any number of 25 bits (a number of the format, or the
    /// middle of two) by more than 2^-50 of it, unless it is that number: with integers for significands, the
    /// difference of `x / y` and `v` is `(x - v y) / y`, its numerator at least 1, and `v y` has at most 49
    /// bits. So rounding to 53 bits moves the quotient neither onto nor across any of them, and rounding the
    /// rounded quotient, in any mode, is rounding the quotient.
    #[inline]
    pub fn div<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if !F::is_finite(a) || !F::is_finite(b) || F::is_zero(b) {
            return None;
        }
        Some(finish::<F>(widen::<F>(a) / widen::<F>(b), rm, flags))
    }

    /// As for [`div`]: `v` of 25 bits has a square of 50, so that `x - v²`, if not zero, is more than 2^-50
    /// of it, and the root and `v` differ by more than 2^-52 of it; rounding moves the root by no more than
    /// 2^-53.
    #[inline]
    pub fn sqrt<F: Float>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if !F::is_finite(a) || (F::is_sign_negative(a) && !F::is_zero(a)) {
            return None;
        }
        Some(finish::<F>(widen::<F>(a).sqrt(), rm, flags))
    }
}

/// Single precision: to nearest even on the FPU's own singles, where the result is normal; else as
/// [`narrow`].
pub(super) mod single {
    use super::super::{Bits, Flags, Float, RoundingMode, host};
    use super::narrow;

    /// Whether a result is out of reach of overflow and underflow: not infinite or NaN, and greater than the
    /// least normal number. (That number itself may be what a tiny number was rounded to.)
    #[inline]
    pub fn is_safe(result: f32) -> bool {
        result.abs() > f32::MIN_POSITIVE && result.abs() <= f32::MAX
    }

    #[inline]
    pub fn single<F: Float>(a: F::Bits) -> f32 {
        let bits: u64 = a.into();
        f32::from_bits(bits as u32)
    }

    #[inline]
    fn bits<F: Float>(a: f32) -> F::Bits {
        F::Bits::truncate(a.to_bits().into())
    }

    #[inline]
    pub fn add<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let (x, y) = (single::<F>(a), single::<F>(b));
            let sum = x + y;
            if !sum.is_finite() {
                return None;
            }
            flags.raise_if((sum - x != y) | (sum - y != x), Flags::NX);
            return Some(bits::<F>(sum));
        }
        narrow::add::<F>(a, b, rm, flags)
    }

    #[inline]
    pub fn mul<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let exact = f64::from(single::<F>(a)) * f64::from(single::<F>(b));
            let product = exact as f32;
            if is_safe(product) || exact == 0.0 {
                flags.raise_if(f64::from(product) != exact, Flags::NX);
                return Some(bits::<F>(product));
            }
        }
        narrow::mul::<F>(a, b, rm, flags)
    }

    #[inline]
    pub fn fused_mul_add<F: Float>(
        a: F::Bits,
        b: F::Bits,
        c: F::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let (x, y, z) = (single::<F>(a), single::<F>(b), single::<F>(c));
            if flags.contains(Flags::NX)
                && let Some(result) = host::fma_f32(x, y, z)
                && is_safe(result)
            {
                return Some(bits::<F>(result));
            }
        }
        wide_fma::<F>(a, b, c, rm, flags)
    }

    /// The multiply-add in double precision: an exact product, and a sum rounded to odd. Apart, to keep the
    /// caller small: where the host has the instruction, this is for what is not yet inexact, or is special.
    #[inline(never)]
    fn wide_fma<F: Float>(
        a: F::Bits,
        b: F::Bits,
        c: F::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let (x, y, z) = (single::<F>(a), single::<F>(b), single::<F>(c));
            let sum = narrow::sum_to_odd(f64::from(x) * f64::from(y), f64::from(z));
            let result = sum as f32;
            if is_safe(result) || sum == 0.0 {
                flags.raise_if(f64::from(result) != sum, Flags::NX);
                return Some(bits::<F>(result));
            }
        }
        narrow::fused_mul_add::<F>(a, b, c, rm, flags)
    }

    #[inline]
    pub fn div<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let (x, y) = (single::<F>(a), single::<F>(b));
            let quotient = x / y;
            // A finite quotient that is not zero has a finite dividend and a divisor that is neither 0 nor ∞.
            if is_safe(quotient) {
                let inexact = f64::from(quotient) * f64::from(y) != f64::from(x);
                flags.raise_if(inexact, Flags::NX);
                return Some(bits::<F>(quotient));
            }
        }
        narrow::div::<F>(a, b, rm, flags)
    }

    #[inline]
    pub fn sqrt<F: Float>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        if rm == RoundingMode::Rne {
            let x = single::<F>(a);
            let root = x.sqrt();
            if is_safe(root) {
                let exact = f64::from(root) * f64::from(root) == f64::from(x);
                flags.raise_if(!exact, Flags::NX);
                return Some(bits::<F>(root));
            }
        }
        narrow::sqrt::<F>(a, rm, flags)
    }
}

/// Double precision, to nearest even.
pub(super) mod double {
    use super::super::{Bits, Flags, Float, RoundingMode, host};

    /// As for singles.
    #[inline]
    fn is_safe(result: f64) -> bool {
        result.abs() > f64::MIN_POSITIVE && result.abs() <= f64::MAX
    }

    /// Whether the product of two normal numbers that is itself normal needs no more than 53 bits.
    #[inline]
    fn product_is_exact(x: f64, y: f64) -> bool {
        let significand = |v: f64| v.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let (x, y) = (significand(x), significand(y));
        let product = u128::from(x) * u128::from(y);
        // Zeros at the end of a product are those of its factors.
        128 - product.leading_zeros() - x.trailing_zeros() - y.trailing_zeros() <= 53
    }

    #[inline]
    fn double<F: Float>(a: F::Bits) -> f64 {
        f64::from_bits(a.into())
    }

    #[inline]
    fn bits<F: Float>(a: f64) -> F::Bits {
        F::Bits::truncate(a.to_bits())
    }

    #[inline]
    pub fn add<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        let (x, y) = (double::<F>(a), double::<F>(b));
        let sum = x + y;
        if rm != RoundingMode::Rne || !sum.is_finite() {
            return None;
        }
        flags.raise_if((sum - x != y) | (sum - y != x), Flags::NX);
        Some(bits::<F>(sum))
    }

    #[inline]
    pub fn mul<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        let (x, y) = (double::<F>(a), double::<F>(b));
        let product = x * y;
        if rm != RoundingMode::Rne {
            return None;
        }
        if is_safe(product) {
            if !flags.contains(Flags::NX) {
                if !x.is_normal() || !y.is_normal() {
                    return None;
                }
                flags.raise_if(!product_is_exact(x, y), Flags::NX);
            }
            return Some(bits::<F>(product));
        }
        // Zero times a finite number; zero times ∞ is a NaN.
        if product == 0.0 && (x == 0.0 || y == 0.0) { Some(bits::<F>(product)) } else { None }
    }

    #[inline]
    pub fn fused_mul_add<F: Float>(
        a: F::Bits,
        b: F::Bits,
        c: F::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> Option<F::Bits> {
        if rm != RoundingMode::Rne {
            return None;
        }
        let (x, y, z) = (double::<F>(a), double::<F>(b), double::<F>(c));
        if flags.contains(Flags::NX) {
            return host::fma_f64(x, y, z).filter(|&result| is_safe(result)).map(bits::<F>);
        }
        // Exact products only, which make it a sum; whatever else there is raises NX, and is not seen
        // here again.
        let product = x * y;
        let product_is_exact = (is_safe(product) && x.is_normal() && y.is_normal() && product_is_exact(x, y))
            || (product == 0.0 && (x == 0.0 || y == 0.0));
        if !product_is_exact {
            return None;
        }
        let sum = product + z;
        if !sum.is_finite() {
            return None;
        }
        flags.raise_if((sum - product != z) | (sum - z != product), Flags::NX);
        Some(bits::<F>(sum))
    }

    #[inline]
    pub fn div<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        let (x, y) = (double::<F>(a), double::<F>(b));
        let quotient = x / y;
        if rm != RoundingMode::Rne || !is_safe(quotient) {
            return None;
        }
        if !flags.contains(Flags::NX) {
            if !x.is_normal() || !y.is_normal() {
                return None;
            }
            let exact = quotient * y == x && product_is_exact(quotient, y);
            flags.raise_if(!exact, Flags::NX);
        }
        Some(bits::<F>(quotient))
    }

    #[inline]
    pub fn sqrt<F: Float>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> Option<F::Bits> {
        let x = double::<F>(a);
        let root = x.sqrt();
        // The root of a positive number is far from overflow and underflow; other roots fail this.
        if rm != RoundingMode::Rne || !is_safe(root) {
            return None;
        }
        if !flags.contains(Flags::NX) {
            if !x.is_normal() {
                return None;
            }
            let exact = root * root == x && product_is_exact(root, root);
            flags.raise_if(!exact, Flags::NX);
        }
        Some(bits::<F>(root))
    }
}
