//! Floating point against rustc_apfloat, LLVM's.

use crate::common::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use rvv_intrinsics::{Elem, Sem};
use rvv_oracle::arith::Frm;

fn round(frm: Frm) -> Round {
    match frm {
        Frm::Rne => Round::NearestTiesToEven,
        Frm::Rtz => Round::TowardZero,
        Frm::Rdn => Round::TowardNegative,
        Frm::Rup => Round::TowardPositive,
        Frm::Rmm => Round::NearestTiesToAway,
    }
}

fn float<F: Float>(bits: u64) -> F {
    F::from_bits(bits.into())
}

fn bits<F: Float>(elem: Elem, x: F) -> u64 {
    canonical(elem, x.to_bits() as u64)
}

const PAIRS: usize = 400_000;

fn arithmetic<F: Float>(elem: Elem) {
    let corners = corners(elem);
    let mut rng = Rng(elem as u64);
    let check = |a: u64, b: u64, c: u64| {
        let (x, y, z) = (float::<F>(a), float::<F>(b), float::<F>(c));
        let (oa, ob, oc) = (op(a, elem), op(b, elem), op(c, elem));
        for frm in Frm::ALL {
            let r = round(frm);
            for (sem, expected) in [
                (Sem::Fadd, x.add_r(y, r).value),
                (Sem::Fsub, x.sub_r(y, r).value),
                (Sem::Frsub, y.sub_r(x, r).value),
                (Sem::Fmul, x.mul_r(y, r).value),
                (Sem::Fdiv, x.div_r(y, r).value),
                (Sem::Frdiv, y.div_r(x, r).value),
                (Sem::Fmacc, y.mul_add_r(x, z, r).value),
                (Sem::Fnmacc, (-y).mul_add_r(x, -z, r).value),
                (Sem::Fmsac, y.mul_add_r(x, -z, r).value),
                (Sem::Fnmsac, (-y).mul_add_r(x, z, r).value),
                (Sem::Fmadd, z.mul_add_r(y, x, r).value),
                (Sem::Fnmadd, (-z).mul_add_r(y, -x, r).value),
                (Sem::Fmsub, z.mul_add_r(y, -x, r).value),
                (Sem::Fnmsub, (-z).mul_add_r(y, x, r).value),
            ] {
                let got = call(sem, elem, frm, &[oa, ob, oc]);
                let expected = bits(elem, expected);
                assert_eq!(
                    got, expected,
                    "{sem:?} {elem:?} {frm:?} {a:#x} {b:#x} {c:#x}: {got:#x} {expected:#x}"
                );
            }
        }
        for (sem, expected) in [
            (Sem::Eq, x == y),
            (Sem::Ne, x != y),
            (Sem::Lt, x < y),
            (Sem::Le, x <= y),
            (Sem::Gt, x > y),
            (Sem::Ge, x >= y),
        ] {
            assert_eq!(
                call(sem, elem, Frm::Rne, &[oa, ob]),
                expected.into(),
                "{sem:?} {elem:?} {a:#x} {b:#x}"
            );
        }
    };
    for &a in &corners {
        for &b in &corners {
            check(a, b, corners[(a ^ b << 1) as usize % corners.len()]);
        }
    }
    for _ in 0..PAIRS / 10 {
        check(
            operand(&mut rng, elem, &corners),
            operand(&mut rng, elem, &corners),
            operand(&mut rng, elem, &corners),
        );
    }
}

#[test]
fn half() {
    arithmetic::<Half>(Elem::F16);
}

#[test]
fn single() {
    arithmetic::<Single>(Elem::F32);
}

#[test]
fn double() {
    arithmetic::<Double>(Elem::F64);
}

/// The widening forms: exact conversion, then the operation.
fn widening<N: Float + FloatConvert<W>, W: Float>(narrow: Elem, wide: Elem) {
    let (narrow_corners, wide_corners) = (corners(narrow), corners(wide));
    let mut rng = Rng(7 + narrow as u64);
    let widen = |b: u64| float::<N>(b).convert(&mut false).value;
    for _ in 0..PAIRS / 10 {
        let (a, b) = (operand(&mut rng, narrow, &narrow_corners), operand(&mut rng, narrow, &narrow_corners));
        let c = operand(&mut rng, wide, &wide_corners);
        let (x, y, z): (W, W, W) = (widen(a), widen(b), float(c));
        let (oa, ob, oc) = (op(a, narrow), op(b, narrow), op(c, wide));
        assert_eq!(call(Sem::Fcvt, wide, Frm::Rne, &[oa]), bits(wide, x), "{a:#x}");
        for frm in Frm::ALL {
            let r = round(frm);
            for (sem, operands, expected) in [
                (Sem::Fadd, [oa, ob, oc], x.add_r(y, r).value),
                (Sem::Fsub, [oa, ob, oc], x.sub_r(y, r).value),
                (Sem::Fmul, [oa, ob, oc], x.mul_r(y, r).value),
                (Sem::Fadd, [oc, ob, oc], z.add_r(y, r).value),
                (Sem::Fsub, [oc, ob, oc], z.sub_r(y, r).value),
                (Sem::Fmacc, [oa, ob, oc], y.mul_add_r(x, z, r).value),
                (Sem::Fnmacc, [oa, ob, oc], (-y).mul_add_r(x, -z, r).value),
                (Sem::Fmsac, [oa, ob, oc], y.mul_add_r(x, -z, r).value),
                (Sem::Fnmsac, [oa, ob, oc], (-y).mul_add_r(x, z, r).value),
            ] {
                assert_eq!(
                    call(sem, wide, frm, &operands),
                    bits(wide, expected),
                    "{sem:?} {wide:?} {frm:?} {a:#x} {b:#x} {c:#x}"
                );
            }
        }
    }
}

#[test]
fn half_to_single() {
    widening::<Half, Single>(Elem::F16, Elem::F32);
}

#[test]
fn bfloat_to_single() {
    widening::<BFloat, Single>(Elem::Bf16, Elem::F32);
}

#[test]
fn single_to_double() {
    widening::<Single, Double>(Elem::F32, Elem::F64);
}

/// The narrowing conversions, and to odd: toward zero, with the last bit set if that was not exact.
fn narrowing<W: Float + FloatConvert<N>, N: Float>(wide: Elem, narrow: Elem) {
    let (corners, narrow_corners) = (corners(wide), corners(narrow));
    let mut rng = Rng(9 + narrow as u64);
    for i in 0..PAIRS {
        let a = if i % 2 == 0 {
            operand(&mut rng, wide, &corners)
        } else {
            // Close to a number of the narrow format, or halfway between two.
            let exact =
                call(Sem::Fcvt, wide, Frm::Rne, &[op(operand(&mut rng, narrow, &narrow_corners), narrow)]);
            let half = 1 << (layout(wide).1 - layout(narrow).1 - 1);
            exact.wrapping_add(half * rng.below(2)).wrapping_add(rng.below(3)).wrapping_sub(1)
                & ones(wide.bits())
        };
        let x = float::<W>(a);
        for frm in Frm::ALL {
            let expected: N = x.convert_r(round(frm), &mut false).value;
            assert_eq!(
                call(Sem::Fcvt, narrow, frm, &[op(a, wide)]),
                bits(narrow, expected),
                "{frm:?} {a:#x}"
            );
        }
        let truncated = x.convert_r(Round::TowardZero, &mut false);
        let odd = bits(narrow, truncated.value)
            | u64::from(x.is_finite() && truncated.status != rustc_apfloat::Status::OK);
        assert_eq!(call(Sem::FcvtRod, narrow, Frm::Rup, &[op(a, wide)]), odd, "{a:#x}");
    }
}

#[test]
fn double_to_single() {
    narrowing::<Double, Single>(Elem::F64, Elem::F32);
}

#[test]
fn single_to_half() {
    narrowing::<Single, Half>(Elem::F32, Elem::F16);
}

#[test]
fn single_to_bfloat() {
    narrowing::<Single, BFloat>(Elem::F32, Elem::Bf16);
}

const INTEGERS: [Elem; 8] =
    [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];

/// To integers of all widths; apfloat saturates too, but makes zero of a NaN.
fn to_integers<F: Float>(elem: Elem) {
    let corners = corners(elem);
    let mut rng = Rng(11 + elem as u64);
    let (e, f) = layout(elem);
    for i in 0..PAIRS / 4 {
        let mut a = operand(&mut rng, elem, &corners);
        if i % 2 == 0 {
            // Magnitudes from a quarter to 2^66.
            let exponent = (ones(e - 1) - 2 + rng.below(69)).min(ones(e) - 1);
            a = a & (1 << (e + f)) | exponent << f | a & ones(f);
        }
        let x = float::<F>(a);
        for ret in INTEGERS {
            for frm in Frm::ALL {
                let width = ret.bits() as usize;
                let expected = if x.is_nan() {
                    ones(ret.bits() - u32::from(ret.is_signed()))
                } else if ret.is_signed() {
                    x.to_i128_r(width, round(frm), &mut false).value as u64 & ones(ret.bits())
                } else {
                    x.to_u128_r(width, round(frm), &mut false).value as u64
                };
                assert_eq!(
                    call(Sem::Fcvt, ret, frm, &[op(a, elem)]),
                    expected,
                    "{elem:?} {ret:?} {frm:?} {a:#x}"
                );
                if frm == Frm::Rtz {
                    assert_eq!(call(Sem::FcvtRtz, ret, Frm::Rup, &[op(a, elem)]), expected, "{a:#x}");
                }
            }
        }
    }
}

#[test]
fn half_to_integers() {
    to_integers::<Half>(Elem::F16);
}

#[test]
fn single_to_integers() {
    to_integers::<Single>(Elem::F32);
}

#[test]
fn double_to_integers() {
    to_integers::<Double>(Elem::F64);
}

fn from_integers<F: Float>(elem: Elem) {
    let mut rng = Rng(13 + elem as u64);
    for _ in 0..PAIRS / 8 {
        // All lengths, with runs of ones and zeros.
        let mut a = rng.bits() >> rng.below(64);
        if rng.below(2) == 0 {
            a = (a ^ a << 1 << rng.below(40)).wrapping_add(u64::MAX << rng.below(64));
        }
        for from in INTEGERS {
            let a = a & ones(from.bits());
            for frm in Frm::ALL {
                let expected = if from.is_signed() {
                    let unused = 64 - from.bits();
                    F::from_i128_r((((a << unused) as i64) >> unused).into(), round(frm)).value
                } else {
                    F::from_u128_r(a.into(), round(frm)).value
                };
                assert_eq!(
                    call(Sem::Fcvt, elem, frm, &[op(a, from)]),
                    bits(elem, expected),
                    "{from:?} {elem:?} {frm:?} {a:#x}"
                );
            }
        }
    }
}

#[test]
fn integers_to_floats() {
    from_integers::<Half>(Elem::F16);
    from_integers::<Single>(Elem::F32);
    from_integers::<Double>(Elem::F64);
}
