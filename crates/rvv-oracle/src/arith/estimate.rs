//! The 7-bit estimates: vfrec7.v and vfrsqrt7.v.

use super::Rounding;
use super::exact::Format;

/// The seven top bits of the significand of 1/x, by the seven top bits of x's (manual, "vfrec7.v
/// common-case lookup table contents").
#[rustfmt::skip]
const RECIPROCAL: [u8; 128] = [
    127, 125, 123, 121, 119, 117, 116, 114, 112, 110, 109, 107, 105, 104, 102, 100, 99, 97, 96, 94, 93,
    91, 90, 88, 87, 85, 84, 83, 81, 80, 79, 77, 76, 75, 74, 72, 71, 70, 69, 68, 66, 65, 64, 63, 62, 61,
    60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 40, 39, 38, 37,
    36, 35, 35, 34, 33, 32, 31, 31, 30, 29, 28, 28, 27, 26, 25, 25, 24, 23, 23, 22, 21, 21, 20, 19, 19,
    18, 17, 17, 16, 15, 15, 14, 14, 13, 12, 12, 11, 11, 10, 9, 9, 8, 8, 7, 7, 6, 5, 5, 4, 4, 3, 3, 2,
    2, 1, 1, 0
];

/// The seven top bits of the significand of 1/√x, by the low bit of x's exponent and the six top bits of
/// its significand (manual, "vfrsqrt7.v common-case lookup table contents").
#[rustfmt::skip]
const RECIPROCAL_ROOT: [u8; 128] = [
    52, 51, 50, 48, 47, 46, 44, 43, 42, 41, 40, 39, 38, 36, 35, 34, 33, 32, 31, 30, 30, 29, 28, 27, 26,
    25, 24, 23, 23, 22, 21, 20, 19, 19, 18, 17, 16, 16, 15, 14, 14, 13, 12, 12, 11, 10, 10, 9, 9, 8, 7,
    7, 6, 6, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 127, 125, 123, 121, 119, 118, 116, 114, 113, 111, 109, 108,
    106, 105, 103, 102, 100, 99, 97, 96, 95, 93, 92, 91, 90, 88, 87, 86, 85, 84, 83, 82, 80, 79, 78,
    77, 76, 75, 74, 73, 72, 71, 70, 70, 69, 68, 67, 66, 65, 64, 63, 63, 62, 61, 60, 59, 59, 58, 57, 56,
    56, 55, 54, 53
];

/// "Let the normalized input exponent be equal to the input exponent if the input is normal, or 0 minus
/// the number of leading zeros in the significand otherwise", and the significand to go with it: "shifting
/// the input significand left by 1 minus the normalized input exponent, discarding the leading 1 bit".
fn normalize(f: Format, bits: u64) -> (i32, u64) {
    let exponent = (bits >> f.frac_bits) & f.exp_mask();
    let significand = bits & f.frac_mask();
    if exponent != 0 {
        return (exponent as i32, significand);
    }
    let leading_zeros = significand.leading_zeros() - (64 - f.frac_bits);
    (-(leading_zeros as i32), (significand << (1 + leading_zeros)) & f.frac_mask())
}

/// vfrsqrt7.v
pub(super) fn reciprocal_root(f: Format, bits: u64) -> u64 {
    let sign = bits & f.sign_bit();
    let magnitude = bits & !f.sign_bit();
    if magnitude > f.infinity(false) || (sign != 0 && magnitude != 0) {
        return f.canonical_nan();
    }
    if magnitude == 0 {
        return sign | f.infinity(false);
    }
    if magnitude == f.infinity(false) {
        return 0;
    }
    let (exponent, significand) = normalize(f, bits);
    let index = ((exponent & 1) as usize) << 6 | (significand >> (f.frac_bits - 6)) as usize;
    // "The output exponent equals floor((3*B - 1 - the normalized input exponent) / 2)".
    let out = (3 * f.bias() - 1 - exponent).div_euclid(2) as u64;
    out << f.frac_bits | u64::from(RECIPROCAL_ROOT[index]) << (f.frac_bits - 7)
}

/// vfrec7.v
pub(super) fn reciprocal(f: Format, bits: u64, mode: Rounding) -> u64 {
    let sign = bits & f.sign_bit();
    let magnitude = bits & !f.sign_bit();
    if magnitude > f.infinity(false) {
        return f.canonical_nan();
    }
    if magnitude == f.infinity(false) {
        return sign;
    }
    if magnitude == 0 {
        return sign | f.infinity(false);
    }
    let (exponent, significand) = normalize(f, bits);
    let out = 2 * f.bias() - 1 - exponent;
    if out > 2 * f.bias() {
        // Subnormal, sig=00...: the only exceptional finite inputs.
        return f.overflow(sign != 0, mode);
    }
    let estimate = u64::from(RECIPROCAL[(significand >> (f.frac_bits - 7)) as usize]) << (f.frac_bits - 7);
    if out > 0 {
        return sign | (out as u64) << f.frac_bits | estimate;
    }
    // "If the normalized output exponent is 0 or -1, the result is subnormal": a 1 bit to the left of the
    // significand, "then shifting that quantity right by 1 minus the normalized output exponent".
    sign | (1 << f.frac_bits | estimate) >> (1 - out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The candidate whose relative error over the interval, of x times (1 + t/128) / 2 for a function that
    /// falls, is the smallest at its worst.
    fn best(lo: f64, hi: f64) -> u8 {
        let error = |t: u8| {
            let y = f64::from(128 + u16::from(t)) / 256.0;
            (1.0 - lo * y).abs().max((1.0 - hi * y).abs())
        };
        (0..128).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap()
    }

    /// The manual prints its tables without saying where they come from. Every entry is the best there is.
    #[test]
    fn tables_are_the_best_estimates() {
        for i in 0..128u8 {
            let step = f64::from(i) / 128.0;
            assert_eq!(RECIPROCAL[usize::from(i)], best(1.0 + step, 1.0 + step + 1.0 / 128.0), "1/x, {i}");
            // All biases are odd: an even exponent field is an odd exponent, and x is in [2, 4).
            let binade = if i < 64 { 2.0 } else { 1.0 };
            let step = f64::from(i % 64) / 64.0;
            let (lo, hi) = (binade * (1.0 + step), binade * (1.0 + step + 1.0 / 64.0));
            assert_eq!(RECIPROCAL_ROOT[usize::from(i)], best(lo.sqrt(), hi.sqrt()), "1/√x, {i}");
        }
    }
}
