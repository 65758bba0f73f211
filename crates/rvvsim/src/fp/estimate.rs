//! The 7-bit estimates of a reciprocal and of a reciprocal square root, which are defined to the bit
//! ("Vector Floating-Point Reciprocal Estimate Instruction" and the section before it).

use super::round;
use super::{Bits, Flags, Float, RoundingMode};

/// The seven most significant bits of the output's significand, by those of the input's.
#[rustfmt::skip]
const RECIPROCAL: [u8; 128] = [
    127, 125, 123, 121, 119, 117, 116, 114, 112, 110, 109, 107, 105, 104, 102, 100,
     99,  97,  96,  94,  93,  91,  90,  88,  87,  85,  84,  83,  81,  80,  79,  77,
     76,  75,  74,  72,  71,  70,  69,  68,  66,  65,  64,  63,  62,  61,  60,  59,
     58,  57,  56,  55,  54,  53,  52,  51,  50,  49,  48,  47,  46,  45,  44,  43,
     42,  41,  40,  40,  39,  38,  37,  36,  35,  35,  34,  33,  32,  31,  31,  30,
     29,  28,  28,  27,  26,  25,  25,  24,  23,  23,  22,  21,  21,  20,  19,  19,
     18,  17,  17,  16,  15,  15,  14,  14,  13,  12,  12,  11,  11,  10,   9,   9,
      8,   8,   7,   7,   6,   5,   5,   4,   4,   3,   3,   2,   2,   1,   1,   0,
];

/// The seven most significant bits of the output's significand, by the last bit of the input's exponent and
/// the six most significant bits of its significand.
#[rustfmt::skip]
const RECIPROCAL_SQUARE_ROOT: [u8; 128] = [
     52,  51,  50,  48,  47,  46,  44,  43,  42,  41,  40,  39,  38,  36,  35,  34,
     33,  32,  31,  30,  30,  29,  28,  27,  26,  25,  24,  23,  23,  22,  21,  20,
     19,  19,  18,  17,  16,  16,  15,  14,  14,  13,  12,  12,  11,  10,  10,   9,
      9,   8,   7,   7,   6,   6,   5,   4,   4,   3,   3,   2,   2,   1,   1,   0,
    127, 125, 123, 121, 119, 118, 116, 114, 113, 111, 109, 108, 106, 105, 103, 102,
    100,  99,  97,  96,  95,  93,  92,  91,  90,  88,  87,  86,  85,  84,  83,  82,
     80,  79,  78,  77,  76,  75,  74,  73,  72,  71,  70,  70,  69,  68,  67,  66,
     65,  64,  63,  63,  62,  61,  60,  59,  59,  58,  57,  56,  56,  55,  54,  53,
];

/// A positive finite value with its leading one in place: an exponent field that may be 0 or less, and the
/// trailing significand.
fn normalise<F: Float>(magnitude: F::Bits) -> (i32, u64) {
    let magnitude: u64 = magnitude.into();
    let field = (magnitude >> F::SIG) as i32;
    let fraction = magnitude & ((1 << F::SIG) - 1);
    if field != 0 {
        return (field, fraction);
    }
    let leading_zeros = fraction.leading_zeros() - (64 - F::SIG);
    (-(leading_zeros as i32), fraction << (1 + leading_zeros) & ((1 << F::SIG) - 1))
}

/// `vfrec7` of one element.
pub(super) fn rec7<F: Float>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    let sign = a & F::SIGN_BIT;
    let magnitude = F::abs(a);
    if magnitude > F::INFINITY {
        flags.raise_if(F::is_signaling_nan(a), Flags::NV);
        return F::CANONICAL_NAN;
    }
    if magnitude == F::INFINITY {
        return sign;
    }
    if magnitude == F::Bits::ZERO {
        flags.raise(Flags::DZ);
        return sign | F::INFINITY;
    }

    let (field, fraction) = normalise::<F>(magnitude);
    let out_field = 2 * F::BIAS - 1 - field;
    if out_field > 2 * F::BIAS {
        flags.raise(Flags::OF | Flags::NX);
        return sign | round::overflow::<F>(sign != F::Bits::ZERO, rm);
    }
    let estimate = u64::from(RECIPROCAL[(fraction >> (F::SIG - 7)) as usize]) << (F::SIG - 7);
    let out = if out_field >= 1 {
        (out_field as u64) << F::SIG | estimate
    } else {
        // 0 or −1, the least an input below infinity can give: subnormal.
        (1 << F::SIG | estimate) >> (1 - out_field)
    };
    sign | F::Bits::truncate(out)
}

/// `vfrsqrt7` of one element.
pub(super) fn rsqrt7<F: Float>(a: F::Bits, flags: &mut Flags) -> F::Bits {
    let magnitude = F::abs(a);
    if magnitude == F::Bits::ZERO {
        flags.raise(Flags::DZ);
        return a | F::INFINITY;
    }
    if magnitude > F::INFINITY {
        flags.raise_if(F::is_signaling_nan(a), Flags::NV);
        return F::CANONICAL_NAN;
    }
    if F::is_sign_negative(a) {
        flags.raise(Flags::NV);
        return F::CANONICAL_NAN;
    }
    if magnitude == F::INFINITY {
        return F::Bits::ZERO;
    }

    let (field, fraction) = normalise::<F>(magnitude);
    let index = (field & 1) as usize * 64 + (fraction >> (F::SIG - 6)) as usize;
    // Never negative: the greatest field is 2 * BIAS.
    let out_field = (3 * F::BIAS - 1 - field) / 2;
    let estimate = u64::from(RECIPROCAL_SQUARE_ROOT[index]) << (F::SIG - 7);
    F::Bits::truncate((out_field as u64) << F::SIG | estimate)
}
