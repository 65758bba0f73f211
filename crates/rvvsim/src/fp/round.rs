//! Rounding in integer arithmetic: exact values in, bit patterns and flags out, in every mode.

use super::{Bits, Flags, Float, Int, RoundingMode};

/// A value taken apart.
pub(super) enum Unpacked {
    /// ±0.
    Zero,
    /// `significand * 2^exponent`, with a significand that is not zero.
    Finite { negative: bool, exponent: i32, significand: u64 },
    /// ±∞.
    Infinite,
    /// Not a number.
    Nan,
}

/// Takes a value apart.
#[inline]
pub(super) fn unpack<F: Float>(a: F::Bits) -> Unpacked {
    let magnitude = F::abs(a);
    if magnitude == F::Bits::ZERO {
        return Unpacked::Zero;
    }
    if magnitude >= F::INFINITY {
        return if magnitude == F::INFINITY { Unpacked::Infinite } else { Unpacked::Nan };
    }
    let magnitude: u64 = magnitude.into();
    let field = (magnitude >> F::SIG) as i32;
    let fraction = magnitude & ((1 << F::SIG) - 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << F::SIG };
    let exponent = field.max(1) - F::BIAS - F::SIG as i32;
    Unpacked::Finite { negative: F::is_sign_negative(a), exponent, significand }
}

const HALF: u64 = 1 << 63;

/// Whether a quotient is to be moved away from zero: `last` is its last bit and `rest` what was cut off, as a
/// fraction of 2^64. Without branches: which way a value rounds is anyone's guess, the host's included.
#[inline(always)]
fn rounds_away(rm: RoundingMode, negative: bool, last: bool, rest: u64) -> bool {
    match rm {
        // More than half, or half and odd.
        RoundingMode::Rne => (rest | u64::from(last)) > HALF,
        RoundingMode::Rtz => false,
        RoundingMode::Rdn => negative & (rest != 0),
        RoundingMode::Rup => !negative & (rest != 0),
        RoundingMode::Rmm => rest >= HALF,
        RoundingMode::Rod => !last & (rest != 0),
    }
}

/// `value >> by`, and the bits cut off as a fraction of 2^64 in which what is too small to show is one unit.
#[inline]
fn shift_out(value: u64, by: u32) -> (u64, u64) {
    match by {
        0 => (value, 0),
        1..=63 => (value >> by, value << (64 - by)),
        64 => (0, value),
        _ => (0, u64::from(value != 0)),
    }
}

/// Rounds `±significand * 2^exponent` to a format.
///
/// The significand is not zero. It may be one that was itself rounded to odd, if it has two bits more than
/// the format, counted from its leading one.
#[inline]
pub(super) fn pack<F: Float>(
    negative: bool,
    exponent: i32,
    significand: u64,
    rm: RoundingMode,
    flags: &mut Flags,
) -> F::Bits {
    debug_assert_ne!(significand, 0);
    let leading = significand.leading_zeros();
    let significand = significand << leading;
    // The exponent field that the leading one asks for.
    let field = exponent + 63 - leading as i32 + F::BIAS;
    if field < 1 {
        return pack_subnormal::<F>(negative, field, significand, rm, flags);
    }
    let (kept, rest) = shift_out(significand, 63 - F::SIG);
    let away = rounds_away(rm, negative, kept & 1 != 0, rest);
    // The leading one, and a carry out of the significand, add one to the field.
    let magnitude = (((field - 1) as u64) << F::SIG) + kept + u64::from(away);
    let infinity: u64 = F::INFINITY.into();
    if magnitude >= infinity {
        flags.raise(Flags::OF | Flags::NX);
        return signed::<F>(negative, overflow::<F>(negative, rm));
    }
    flags.raise_if(rest != 0, Flags::NX);
    signed::<F>(negative, F::Bits::truncate(magnitude))
}

/// As [`pack`], for a value below the normal numbers before it is rounded: one that asks for an exponent
/// field of 0 or less. The significand is normalised.
#[cold]
fn pack_subnormal<F: Float>(
    negative: bool,
    field: i32,
    significand: u64,
    rm: RoundingMode,
    flags: &mut Flags,
) -> F::Bits {
    let round = |shift| {
        let (kept, rest) = shift_out(significand, shift);
        (kept + u64::from(rounds_away(rm, negative, kept & 1 != 0, rest)), rest != 0)
    };
    let normal_shift = 63 - F::SIG;
    let (magnitude, inexact) = round(normal_shift + field.abs_diff(1));
    if inexact {
        // Tiny after rounding: still below the normal numbers when rounded as if exponents had no end, which
        // takes a carry into the next binade not to be.
        let carries = field == 0 && round(normal_shift).0 == 2 << F::SIG;
        flags.raise(if carries { Flags::NX } else { Flags::NX | Flags::UF });
    }
    signed::<F>(negative, F::Bits::truncate(magnitude))
}

#[inline]
fn signed<F: Float>(negative: bool, magnitude: F::Bits) -> F::Bits {
    if negative { magnitude | F::SIGN_BIT } else { magnitude }
}

/// The magnitude that an overflow gives.
#[inline]
pub(super) fn overflow<F: Float>(negative: bool, rm: RoundingMode) -> F::Bits {
    let infinite = match rm {
        RoundingMode::Rne | RoundingMode::Rmm => true,
        RoundingMode::Rtz | RoundingMode::Rod => false,
        RoundingMode::Rdn => negative,
        RoundingMode::Rup => !negative,
    };
    if infinite { F::INFINITY } else { F::MAX_FINITE }
}

/// Rounds a double that is finite, normal and not zero to a narrower format. The double may have been rounded
/// to odd.
#[inline]
pub(super) fn narrow<F: Float>(value: f64, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    debug_assert!(value.is_normal());
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    pack::<F>(value.is_sign_negative(), field - 1075, significand, rm, flags)
}

/// A float as an integer, saturating.
#[inline]
pub(super) fn to_int<F: Float, I: Int>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> I {
    let (negative, exponent, significand) = match unpack::<F>(a) {
        Unpacked::Zero => return I::truncate(0),
        Unpacked::Finite { negative, exponent, significand } => (negative, exponent, significand),
        // The greatest exponent that does not overflow a shift, and still out of every range.
        Unpacked::Infinite => (F::is_sign_negative(a), 64, 1),
        Unpacked::Nan => (false, 64, 1),
    };
    let (magnitude, rest) = if exponent <= 0 {
        let (kept, rest) = shift_out(significand, exponent.unsigned_abs());
        (Some(kept + u64::from(rounds_away(rm, negative, kept & 1 != 0, rest))), rest)
    } else if exponent as u32 <= significand.leading_zeros() {
        (Some(significand << exponent), 0)
    } else {
        (None, 0)
    };
    let limit = if negative { I::MIN_MAGNITUDE } else { I::MAX_MAGNITUDE };
    match magnitude {
        Some(magnitude) if magnitude <= limit => {
            flags.raise_if(rest != 0, Flags::NX);
            I::truncate(if negative { magnitude.wrapping_neg() } else { magnitude })
        }
        _ => {
            flags.raise(Flags::NV);
            if negative { I::MIN } else { I::MAX }
        }
    }
}

/// An integer as a float.
#[inline]
pub(super) fn from_int<F: Float, I: Int>(x: I, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    let (negative, magnitude) = x.sign_magnitude();
    if magnitude == 0 { F::Bits::ZERO } else { pack::<F>(negative, 0, magnitude, rm, flags) }
}

/// A float rounded to an integer, as a float.
#[inline]
pub(super) fn round_to_int<F: Float>(
    a: F::Bits,
    rm: RoundingMode,
    exact: bool,
    flags: &mut Flags,
) -> F::Bits {
    match unpack::<F>(a) {
        Unpacked::Zero | Unpacked::Infinite => a,
        Unpacked::Nan => {
            flags.raise_if(F::is_signaling_nan(a), Flags::NV);
            F::CANONICAL_NAN
        }
        Unpacked::Finite { exponent: 0.., .. } => a,
        Unpacked::Finite { negative, exponent, significand } => {
            let (kept, rest) = shift_out(significand, exponent.unsigned_abs());
            flags.raise_if(exact && rest != 0, Flags::NX);
            let magnitude = kept + u64::from(rounds_away(rm, negative, kept & 1 != 0, rest));
            let sign = a & F::SIGN_BIT;
            if magnitude == 0 {
                return sign;
            }
            // No more bits than the significand had, so exact.
            sign | F::abs(pack::<F>(false, 0, magnitude, RoundingMode::Rtz, &mut Flags::default()))
        }
    }
}
