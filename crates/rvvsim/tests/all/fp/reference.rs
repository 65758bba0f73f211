//! The plain twin, SoftFloat, against a floating point that shares nothing with it: rustc_apfloat.
//!
//! rustc_apfloat has its own idea of two flags: it calls a result that is rounded up to the least normal
//! number not tiny, however it got there, and raises no overflow where truncation gives the greatest finite
//! number. Both are therefore taken from their definition: the same operation in a format of the same
//! precision whose exponents have no end in sight (`Wide`) says what the rounded result would have been.

use super::support::{MODES, Op, corners, operands, value};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rustc_apfloat::ieee::{BFloatS, DoubleS, HalfS, IeeeFloat, Semantics, SingleS};
use rustc_apfloat::{Float as _, FloatConvert, Round, Status, StatusAnd};
use rvvsim::fp::{BF16, Bits, F16, F32, F64, Flags, Float, Int, RoundingMode, convert, soft, widening_fma};
use std::marker::PhantomData;

/// A format and what rustc_apfloat calls it.
trait Reference: Float {
    type S: Semantics;
}

impl Reference for F16 {
    type S = HalfS;
}

impl Reference for F32 {
    type S = SingleS;
}

impl Reference for F64 {
    type S = DoubleS;
}

impl Reference for BF16 {
    type S = BFloatS;
}

/// The precision of `S` and 17 bits of exponent.
struct Wide<S>(PhantomData<S>);

impl<S: Semantics> Semantics for Wide<S> {
    const BITS: usize = S::BITS - S::EXP_BITS + Self::EXP_BITS;
    const EXP_BITS: usize = 17;
}

fn round(rm: RoundingMode) -> Round {
    match rm {
        RoundingMode::Rne => Round::NearestTiesToEven,
        RoundingMode::Rtz | RoundingMode::Rod => Round::TowardZero,
        RoundingMode::Rdn => Round::TowardNegative,
        RoundingMode::Rup => Round::TowardPositive,
        RoundingMode::Rmm => Round::NearestTiesToAway,
    }
}

fn from_bits<F: Reference>(a: F::Bits) -> IeeeFloat<F::S> {
    IeeeFloat::from_bits(u128::from(a.into()))
}

fn to_bits<F: Reference>(x: IeeeFloat<F::S>) -> F::Bits {
    if x.is_nan() { F::CANONICAL_NAN } else { F::Bits::truncate(x.to_bits() as u64) }
}

fn widen<S: Semantics>(x: IeeeFloat<S>) -> IeeeFloat<Wide<S>> {
    x.convert_r(Round::TowardZero, &mut false).value
}

/// The bits and the flags of a result, given what it would be without limits to its exponent.
fn judge<F: Reference>(result: StatusAnd<IeeeFloat<F::S>>, wide: IeeeFloat<Wide<F::S>>) -> (F::Bits, Flags) {
    let mut flags = Flags::default();
    let has = |status| result.status.contains(status);
    if has(Status::INVALID_OP) {
        flags |= Flags::NV;
    }
    if has(Status::DIV_BY_ZERO) {
        flags |= Flags::DZ;
    }
    if has(Status::INEXACT) {
        flags |= Flags::NX;
    }
    if wide.is_finite() {
        let magnitude = wide.abs();
        if magnitude > widen(from_bits::<F>(F::MAX_FINITE)) {
            flags |= Flags::OF;
        }
        if magnitude < widen(from_bits::<F>(F::MIN_NORMAL)) && has(Status::INEXACT) {
            flags |= Flags::UF;
        }
    }
    (to_bits::<F>(result.value), flags)
}

fn apply<S: Semantics>(op: Op, [a, b, c]: [IeeeFloat<S>; 3], rm: Round) -> StatusAnd<IeeeFloat<S>> {
    match op {
        Op::Add => a.add_r(b, rm),
        Op::Sub => a.sub_r(b, rm),
        Op::Mul => a.mul_r(b, rm),
        Op::Div => a.div_r(b, rm),
        Op::Fma => a.mul_add_r(b, c, rm),
        Op::Sqrt => unreachable!("rustc_apfloat has no square root"),
    }
}

fn reference<F: Reference>(op: Op, operands: [F::Bits; 3], rm: RoundingMode) -> (F::Bits, Flags) {
    let used = if op == Op::Fma { 3 } else { 2 };
    let [a, b, _] = operands;
    let invalid_product = op == Op::Fma
        && (F::is_zero(a) && F::abs(b) == F::INFINITY || F::is_zero(b) && F::abs(a) == F::INFINITY);
    if operands[..used].iter().any(|&a| F::is_nan(a)) {
        let signaling = operands[..used].iter().any(|&a| F::is_signaling_nan(a));
        let flags = if signaling || invalid_product { Flags::NV } else { Flags::NONE };
        return (F::CANONICAL_NAN, flags);
    }
    let operands = operands.map(from_bits::<F>);
    judge::<F>(apply(op, operands, round(rm)), apply(op, operands.map(widen), round(rm)).value)
}

/// The square root, by an integer one: of a significand of 126 or 127 bits, which leaves more than 60 of the
/// root, and one more bit for whether there was a remainder.
fn reference_sqrt<F: Reference>(a: F::Bits, rm: RoundingMode) -> (F::Bits, Flags) {
    if F::is_nan(a) {
        let flags = if F::is_signaling_nan(a) { Flags::NV } else { Flags::NONE };
        return (F::CANONICAL_NAN, flags);
    }
    if F::is_zero(a) || a == F::INFINITY {
        return (a, Flags::NONE);
    }
    if F::is_sign_negative(a) {
        return (F::CANONICAL_NAN, Flags::NV);
    }
    let bits: u64 = a.into();
    let (field, fraction) = (bits >> F::SIG, bits & ((1 << F::SIG) - 1));
    let significand = u128::from(if field == 0 { fraction } else { fraction | 1 << F::SIG });
    let exponent = field.max(1) as i32 - F::BIAS - F::SIG as i32;
    let mut shift = significand.leading_zeros() as i32 - 1;
    if (exponent - shift) % 2 != 0 {
        shift -= 1;
    }
    let square = significand << shift;
    let root = square.isqrt();
    let jammed = root << 1 | u128::from(root * root != square);
    let StatusAnd { value, status } = IeeeFloat::<Wide<F::S>>::from_u128_r(jammed, round(rm));
    let value = value.scalbn_r((exponent - shift) / 2 - 1, Round::TowardZero);
    let narrow: IeeeFloat<F::S> = value.convert_r(Round::TowardZero, &mut false).value;
    let flags = if status.contains(Status::INEXACT) { Flags::NX } else { Flags::NONE };
    (to_bits::<F>(narrow), flags)
}

#[track_caller]
fn check<F: Reference>(op: Op, operands: [F::Bits; 3], rm: RoundingMode) {
    let mut flags = Flags::default();
    let got = op.soft::<F>(operands, rm, &mut flags);
    let (expected, expected_flags) = match op {
        Op::Sqrt => reference_sqrt::<F>(operands[0], rm),
        _ => reference::<F>(op, operands, rm),
    };
    let format = std::any::type_name::<F>();
    assert!(
        (got, flags) == (expected, expected_flags),
        "{format} {op:?} {operands:#x?} {rm:?}: {got:#x} {flags:?}, not {expected:#x} {expected_flags:?}",
    );
}

fn arithmetic<F: Reference>(seed: u64, count: u32) {
    let corners = corners::<F>();
    for &a in &corners {
        for &b in &corners {
            for rm in RoundingMode::ALL {
                for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
                    check::<F>(op, [a, b, b], rm);
                }
                for &c in corners.iter().step_by(5) {
                    check::<F>(Op::Fma, [a, b, c], rm);
                }
            }
        }
    }
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..count {
        let operands = operands::<F>(&mut rng);
        let rm = RoundingMode::ALL[rng.random_range(0..5)];
        for op in Op::ALL {
            check::<F>(op, operands, rm);
        }
    }
}

#[test]
fn f16_arithmetic() {
    arithmetic::<F16>(16, 250_000);
}

#[test]
fn f32_arithmetic() {
    arithmetic::<F32>(32, 250_000);
}

#[test]
fn f64_arithmetic() {
    arithmetic::<F64>(64, 250_000);
}

#[test]
fn bf16_arithmetic() {
    arithmetic::<BF16>(17, 250_000);
}

#[test]
fn square_roots_of_every_half() {
    for a in 0..=u16::MAX {
        for rm in RoundingMode::ALL {
            check::<F16>(Op::Sqrt, [a; 3], rm);
            check::<BF16>(Op::Sqrt, [a; 3], rm);
        }
    }
}

fn reference_convert<S: Reference, D: Reference>(a: S::Bits, rm: RoundingMode) -> (D::Bits, Flags) {
    if S::is_nan(a) {
        let flags = if S::is_signaling_nan(a) { Flags::NV } else { Flags::NONE };
        return (D::CANONICAL_NAN, flags);
    }
    let x = from_bits::<S>(a);
    let to = |rm: Round| {
        let wide: StatusAnd<IeeeFloat<Wide<D::S>>> = x.convert_r(rm, &mut false);
        judge::<D>(x.convert_r(rm, &mut false), wide.value)
    };
    let (mut result, flags) = to(round(rm));
    if rm == RoundingMode::Rod {
        // Of the two neighbours, the odd one; exact, they are one.
        let (below, above) = (to(Round::TowardNegative).0, to(Round::TowardPositive).0);
        result = if below.into() % 2 == 1 { below } else { above };
    }
    (result, flags)
}

#[track_caller]
fn check_convert<S: Reference, D: Reference>(a: S::Bits) {
    for rm in MODES {
        let mut flags = Flags::default();
        let got = convert::<S, D>(a, rm, &mut flags);
        let (expected, expected_flags) = reference_convert::<S, D>(a, rm);
        assert!(
            (got, flags) == (expected, expected_flags),
            "{} {a:#x} {rm:?}: {got:#x} {flags:?}, not {expected:#x} {expected_flags:?}",
            std::any::type_name::<(S, D)>(),
        );
    }
}

/// bf16 is the one format whose narrowing is not SoftFloat's, even in the plain twin.
#[test]
fn single_to_bf16() {
    let ends = [0, 1, 2, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0x8002, 0xfffe, 0xffff];
    for top in (0..=u16::MAX).filter(|top| top % 64 < 3 || top % 64 == 63 || top & 0x7f80 < 0x100) {
        for end in ends {
            check_convert::<F32, BF16>(u32::from(top) << 16 | end);
        }
    }
}

#[test]
fn conversions() {
    for a in 0..=u16::MAX {
        check_convert::<F16, F32>(a);
        check_convert::<BF16, F32>(a);
    }
    for a in corners::<F64>() {
        check_convert::<F64, F32>(a);
        check_convert::<F64, F16>(a);
    }
    for a in corners::<F32>() {
        check_convert::<F32, F64>(a);
        check_convert::<F32, F16>(a);
        check_convert::<F32, BF16>(a);
    }
    let mut rng = StdRng::seed_from_u64(5);
    for _ in 0..30_000 {
        check_convert::<F64, F32>(value::<F64>(&mut rng));
        check_convert::<F32, F64>(value::<F32>(&mut rng));
        check_convert::<F32, F16>(value::<F32>(&mut rng));
        check_convert::<F32, BF16>(value::<F32>(&mut rng));
        // Doubles about what halves and singles can just hold.
        let half = convert::<F16, F64>(value::<F16>(&mut rng), RoundingMode::Rne, &mut Flags::default());
        let single = convert::<F32, F64>(value::<F32>(&mut rng), RoundingMode::Rne, &mut Flags::default());
        let change = rng.random::<u64>() >> rng.random_range(12..64);
        check_convert::<F64, F16>(half ^ change);
        check_convert::<F64, F32>(single ^ change);
    }
}

/// `vfwmaccbf16`: the products of bf16 are exact in single precision, so one rounding in double and
/// one out of it would not do.
#[test]
fn widening_fma_rounds_once() {
    let mut rng = StdRng::seed_from_u64(6);
    for _ in 0..100_000 {
        let [a, b, _] = operands::<BF16>(&mut rng);
        let [wide_a, wide_b] = [a, b].map(|x| u32::from(x) << 16);
        let product = soft::mul::<F32>(wide_a, wide_b, RoundingMode::Rne, &mut Flags::default());
        let c = if rng.random() {
            value::<F32>(&mut rng)
        } else {
            F32::neg(product) ^ rng.random::<u32>() >> rng.random_range(9..32)
        };
        let rm = RoundingMode::ALL[rng.random_range(0..5)];
        let mut flags = Flags::default();
        let got = widening_fma::<BF16, F32>(a, b, c, rm, &mut flags);
        let expected = reference::<F32>(Op::Fma, [wide_a, wide_b, c], rm);
        assert_eq!((got, flags), expected, "{a:#x} {b:#x} {c:#x} {rm:?}");
    }
}

#[track_caller]
fn check_to_int<F: Reference, I: Int>(a: F::Bits, rm: RoundingMode) {
    let mut flags = Flags::default();
    let got = F::to_int::<I>(a, rm, &mut flags);
    let x = from_bits::<F>(a);
    let width = I::BITS as usize;
    let StatusAnd { value, status } = if I::SIGNED {
        x.to_i128_r(width, round(rm), &mut false)
    } else {
        x.to_u128_r(width, round(rm), &mut false).map(|value| value as i128)
    };
    let expected = if x.is_nan() { I::MAX } else { I::truncate(value as u64) };
    let expected_flags = match status {
        Status::INVALID_OP => Flags::NV,
        Status::INEXACT => Flags::NX,
        _ => Flags::NONE,
    };
    assert_eq!((got, flags), (expected, expected_flags), "{} {a:#x} {rm:?}", std::any::type_name::<(F, I)>());
}

fn check_to_ints<F: Reference>(a: F::Bits) {
    for rm in RoundingMode::ALL {
        check_to_int::<F, i8>(a, rm);
        check_to_int::<F, u8>(a, rm);
        check_to_int::<F, i16>(a, rm);
        check_to_int::<F, u16>(a, rm);
        check_to_int::<F, i32>(a, rm);
        check_to_int::<F, u32>(a, rm);
        check_to_int::<F, i64>(a, rm);
        check_to_int::<F, u64>(a, rm);

        let mut flags = Flags::default();
        let got = F::round_to_int(a, rm, true, &mut flags);
        let rounded = from_bits::<F>(a).round_to_integral(round(rm));
        let (expected, expected_flags) = if F::is_nan(a) {
            (F::CANONICAL_NAN, if F::is_signaling_nan(a) { Flags::NV } else { Flags::NONE })
        } else {
            let inexact = rounded.status.contains(Status::INEXACT);
            (to_bits::<F>(rounded.value), if inexact { Flags::NX } else { Flags::NONE })
        };
        assert_eq!((got, flags), (expected, expected_flags), "{a:#x} {rm:?}");
    }
}

#[test]
fn to_integers() {
    for a in 0..=u16::MAX {
        check_to_ints::<F16>(a);
    }
    corners::<F32>().into_iter().for_each(check_to_ints::<F32>);
    corners::<F64>().into_iter().for_each(check_to_ints::<F64>);
    let mut rng = StdRng::seed_from_u64(7);
    for _ in 0..20_000 {
        check_to_ints::<F32>(value::<F32>(&mut rng));
        check_to_ints::<F64>(value::<F64>(&mut rng));
        let integer = rng.random::<u64>() as f64 / (1u64 << rng.random_range(0..64)) as f64;
        check_to_ints::<F64>(integer.to_bits() + rng.random_range(0..2));
        check_to_ints::<F32>((-integer as f32).to_bits());
    }
}

#[test]
fn from_integers() {
    fn check_from_int<F: Reference, I: Int>(x: u64) {
        let x = I::truncate(x);
        let (negative, magnitude) = x.sign_magnitude();
        let exact = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        for rm in RoundingMode::ALL {
            let mut flags = Flags::default();
            let got = F::from_int(x, rm, &mut flags);
            let wide = IeeeFloat::from_i128_r(exact, round(rm)).value;
            let expected = judge::<F>(IeeeFloat::from_i128_r(exact, round(rm)), wide);
            assert_eq!((got, flags), expected, "{x:?} {rm:?}");
        }
    }
    let mut rng = StdRng::seed_from_u64(8);
    for _ in 0..30_000 {
        let x = (rng.random::<u64>() >> rng.random_range(0..64)).wrapping_add(rng.random_range(0..3));
        check_from_int::<F16, u32>(x);
        check_from_int::<F16, i64>(x);
        check_from_int::<F32, i32>(x);
        check_from_int::<F32, u64>(x);
        check_from_int::<F64, i64>(x);
        check_from_int::<F64, u64>(x);
        check_from_int::<BF16, i16>(x);
        check_from_int::<BF16, u64>(x);
    }
}
