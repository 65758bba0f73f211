//! Half precision, from the definition of rounding: the sum and the product of two half-precision numbers are
//! exact in double precision, and the result is a neighbour of that number in the list of all half-precision
//! numbers. And the estimates, by how close they are.

use crate::common::*;
use rvv_intrinsics::{Elem, Sem};
use rvv_oracle::arith::Frm;

/// The magnitudes by bits, from 0 to the largest; and then 2¹⁶, what overflow is compared with.
fn magnitudes() -> Vec<f64> {
    (0..=0x7c00)
        .map(|bits: i32| match bits >> 10 {
            0 => f64::from(bits) * 2f64.powi(-24),
            e => f64::from(1024 + (bits & 1023)) * 2f64.powi(e - 25),
        })
        .collect()
}

fn number(magnitudes: &[f64], bits: u64) -> f64 {
    let magnitude = match bits & 0x7fff {
        0x7c00 => f64::INFINITY,
        m if m > 0x7c00 => f64::NAN,
        m => magnitudes[m as usize],
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}

/// `x` is exact. The sign of a zero is that of `x`.
fn round(magnitudes: &[f64], x: f64, frm: Frm) -> u64 {
    if x.is_nan() {
        return 0x7e00;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = x.abs();
    if magnitude.is_infinite() {
        return sign | 0x7c00;
    }
    // The last that is not above.
    let lower = magnitudes.partition_point(|&m| m <= magnitude) - 1;
    if magnitudes[lower] == magnitude && lower < 0x7c00 {
        return sign | lower as u64;
    }
    let upper = (lower + 1).min(0x7c00);
    let lower = lower.min(0x7bff);
    let (below, above) = (magnitude - magnitudes[lower], magnitudes[upper] - magnitude);
    let up = match frm {
        Frm::Rne => above < below || above == below && lower % 2 == 1,
        Frm::Rmm => above <= below,
        Frm::Rtz => false,
        Frm::Rdn => x < 0.0,
        Frm::Rup => x > 0.0,
    };
    sign | if up { upper } else { lower } as u64
}

#[test]
fn sums_and_products() {
    let magnitudes = magnitudes();
    let corners = corners(Elem::F16);
    let mut rng = Rng(400);
    for a in 0..0x10000 {
        for i in 0..24 {
            let b = match i {
                0..8 => rng.bits() & 0xffff,
                8..16 => rng.pick(&corners),
                // Of about the same magnitude.
                _ => (a ^ rng.below(2) << 15).wrapping_add(rng.below(0x2000)).wrapping_sub(0x1000) & 0xffff,
            };
            let (x, y) = (number(&magnitudes, a), number(&magnitudes, b));
            for frm in Frm::ALL {
                // The host adds to nearest; an exact zero of x + y has the other sign when rounding down.
                let signed = |x: f64, y: f64| {
                    let sum = x + y;
                    let opposed = sum == 0.0 && x.is_sign_negative() != y.is_sign_negative();
                    if opposed && frm == Frm::Rdn { -0.0 } else { sum }
                };
                let operands = [op(a, Elem::F16), op(b, Elem::F16)];
                for (sem, exact) in
                    [(Sem::Fadd, signed(x, y)), (Sem::Fsub, signed(x, -y)), (Sem::Fmul, x * y)]
                {
                    assert_eq!(
                        call(sem, Elem::F16, frm, &operands),
                        round(&magnitudes, exact, frm),
                        "{sem:?} {frm:?} {a:#x} {b:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn examples_of_the_manual() {
    let single = |sem, a| call(sem, Elem::F32, Frm::Rne, &[op(a, Elem::F32)]);
    assert_eq!(single(Sem::Frsqrt7, 0x00718abc), 0x5f080000);
    assert_eq!(single(Sem::Frsqrt7, 0x7f765432), 0x1f820000);
    assert_eq!(single(Sem::Frec7, 0x00718abc), 0x7e900000);
    assert_eq!(single(Sem::Frec7, 0x7f765432), 0x00214000);
}

/// Within 2⁻⁷ of the true value, where the result is normal; subnormal, within what is left of the bits.
#[test]
fn estimates_are_close() {
    let magnitudes = magnitudes();
    for a in 1..0x7c00 {
        let x = number(&magnitudes, a);
        for sign in [0, 0x8000] {
            let estimate = call(Sem::Frec7, Elem::F16, Frm::Rne, &[op(a | sign, Elem::F16)]);
            let negative = call(Sem::Frec7, Elem::F16, Frm::Rdn, &[op(a | sign, Elem::F16)]);
            assert_eq!(estimate & 0x8000, sign);
            if x < 2f64.powi(-16) {
                assert_eq!(estimate, sign | 0x7c00);
                assert_eq!(negative, if sign == 0 { 0x7bff } else { 0xfc00 });
            } else {
                let product = number(&magnitudes, estimate & 0x7fff) * x;
                let allowed = 2f64.powi(-7).max(2f64.powi(-24) * x);
                assert!((product - 1.0).abs() <= allowed, "1/{a:#x}: {estimate:#x}");
                assert_eq!(estimate, negative);
            }
        }
        let estimate = call(Sem::Frsqrt7, Elem::F16, Frm::Rne, &[op(a, Elem::F16)]);
        assert!(
            (number(&magnitudes, estimate) * x.sqrt() - 1.0).abs() <= 2f64.powi(-7),
            "1/√{a:#x}: {estimate:#x}"
        );
    }
}

/// The same for the wider formats; and estimates do not depend on the format, but for its range.
#[test]
fn estimates_agree_across_formats() {
    let mut rng = Rng(500);
    for _ in 0..100_000 {
        let a = (0x3f800000 - (20 << 23)) + rng.below(40 << 23);
        let double = call(Sem::Fcvt, Elem::F64, Frm::Rne, &[op(a, Elem::F32)]);
        for sem in [Sem::Frec7, Sem::Frsqrt7] {
            let single = call(sem, Elem::F32, Frm::Rne, &[op(a, Elem::F32)]);
            let widened = call(Sem::Fcvt, Elem::F64, Frm::Rne, &[op(single, Elem::F32)]);
            assert_eq!(call(sem, Elem::F64, Frm::Rne, &[op(double, Elem::F64)]), widened, "{sem:?} {a:#x}");
            let x = f64::from_bits(double);
            let product = f64::from_bits(widened) * if sem == Sem::Frec7 { x } else { x.sqrt() };
            assert!((product - 1.0).abs() <= 2f64.powi(-7), "{sem:?} {a:#x}");
        }
    }
}

/// The tables of exceptional inputs.
#[test]
fn estimates_of_special_values() {
    use Frm::*;
    for (a, frm, reciprocal, root) in [
        (0xff800000, Rne, 0x80000000, 0x7fc00000),
        (0x7f800000, Rne, 0, 0),
        (0, Rne, 0x7f800000, 0x7f800000),
        (0x80000000, Rne, 0xff800000, 0xff800000),
        (0x7f800001, Rne, 0x7fc00000, 0x7fc00000),
        (0xffffffff, Rne, 0x7fc00000, 0x7fc00000),
        (0xbf800000, Rne, 0xbf7f0000, 0x7fc00000),
        (0x80000001, Rup, 0xff7fffff, 0x7fc00000),
        (0x80000001, Rtz, 0xff7fffff, 0x7fc00000),
        (0x80000001, Rdn, 0xff800000, 0x7fc00000),
        (0x80000001, Rne, 0xff800000, 0x7fc00000),
        (0x80000001, Rmm, 0xff800000, 0x7fc00000),
        (0x001fffff, Rup, 0x7f800000, 0x5f800000),
        (0x001fffff, Rne, 0x7f800000, 0x5f800000),
        (0x001fffff, Rmm, 0x7f800000, 0x5f800000),
        (0x001fffff, Rdn, 0x7f7fffff, 0x5f800000),
        (0x001fffff, Rtz, 0x7f7fffff, 0x5f800000),
        (0x00200000, Rtz, 0x7f7f0000, 0x5f7f0000),
    ] {
        let single = |sem| call(sem, Elem::F32, frm, &[op(a, Elem::F32)]);
        assert_eq!(single(Sem::Frec7), reciprocal, "1/{a:#x} {frm:?}");
        assert_eq!(single(Sem::Frsqrt7), root, "1/√{a:#x}");
    }
}
