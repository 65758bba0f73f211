//! What RISC-V says in so many words: estimates, comparisons, minima, classes, constants, boxes.

use super::support::{corners, value};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvvsim::fp::{
    BF16, Bits, F16, F32, F64, Flags, Float, RoundingMode, box_bf16, box_f16, box_f32, convert, fcvtmod_w_d,
    unbox_bf16, unbox_f16, unbox_f32,
};
use std::cmp::Ordering;

/// The result of an operation and the flags it raises.
fn with_flags<R>(op: impl FnOnce(&mut Flags) -> R) -> (R, Flags) {
    let mut flags = Flags::default();
    let result = op(&mut flags);
    (result, flags)
}

/// A value that the host can reckon with. Exact.
fn host<F: Float>(a: F::Bits) -> f64 {
    f64::from_bits(convert::<F, F64>(a, RoundingMode::Rne, &mut Flags::default()))
}

#[test]
fn rounding_modes_are_encoded_as_frm() {
    for frm in 0..=u8::MAX {
        let mode = RoundingMode::from_frm(frm);
        assert_eq!(mode.map(|mode| mode as u8), (frm < 5).then_some(frm));
    }
}

/// The examples that the specification works out.
#[test]
fn estimates_of_the_specification() {
    let rm = RoundingMode::Rne;
    assert_eq!(with_flags(|flags| F32::rsqrt7(0x0071_8abc, flags)), (0x5f08_0000, Flags::NONE));
    assert_eq!(with_flags(|flags| F32::rsqrt7(0x7f76_5432, flags)), (0x1f82_0000, Flags::NONE));
    assert_eq!(with_flags(|flags| F32::rec7(0x0071_8abc, rm, flags)), (0x7e90_0000, Flags::NONE));
    assert_eq!(with_flags(|flags| F32::rec7(0x7f76_5432, rm, flags)), (0x0021_4000, Flags::NONE));
}

/// The output of the least relative error over an interval of inputs, of the 128 there are in [1, 2) times
/// `scale`: the error is greatest at one of the ends.
fn best_estimate(function: impl Fn(f64) -> f64, low: f64, high: f64, scale: f64) -> u64 {
    let error = |i: u64| {
        let estimate = (1.0 + i as f64 / 128.0) * scale;
        (estimate / function(low) - 1.0).abs().max((estimate / function(high) - 1.0).abs())
    };
    (0..128).min_by(|&i, &j| error(i).total_cmp(&error(j))).unwrap()
}

/// The tables again, from what they are for: to miss by as little as seven bits can.
#[test]
fn estimates_are_the_best_of_seven_bits() {
    for i in 0..128u64 {
        let step = |i: u64| 1.0 + i as f64 / 128.0;
        let expected = best_estimate(|x| 1.0 / x, step(i), step(i + 1), 0.5);
        let got = F64::rec7(step(i).to_bits(), RoundingMode::Rne, &mut Flags::default());
        assert_eq!(got, 0x3fe << 52 | expected << 45, "rec7, entry {i}");

        // The field of 1.0 is odd, that of 2.0 even.
        let (binade, scale) = if i < 64 { (2.0, 0.5) } else { (1.0, 0.5) };
        let step = |i: u64| binade * (1.0 + (i % 64) as f64 / 64.0);
        let high = step(i) + binade / 64.0;
        let expected = best_estimate(|x| 1.0 / x.sqrt(), step(i), high, scale);
        let got = F64::rsqrt7(step(i).to_bits(), &mut Flags::default());
        assert_eq!(got, 0x3fe << 52 | expected << 45, "rsqrt7, entry {i}");
    }
}

/// The two tables of special cases, and seven bits of accuracy everywhere else, for every value of a format.
fn check_estimate<F: Float>(a: F::Bits) {
    let negative = F::is_sign_negative(a);
    let magnitude: u64 = F::abs(a).into();
    let signed = |magnitude: F::Bits| if negative { F::neg(magnitude) } else { magnitude };
    let nan_flags = if F::is_signaling_nan(a) { Flags::NV } else { Flags::NONE };

    for rm in RoundingMode::ALL {
        let got = with_flags(|flags| F::rec7(a, rm, flags));
        let expected = if F::is_nan(a) {
            (F::CANONICAL_NAN, nan_flags)
        } else if F::abs(a) == F::INFINITY {
            (signed(F::Bits::ZERO), Flags::NONE)
        } else if magnitude == 0 {
            (signed(F::INFINITY), Flags::DZ)
        } else if magnitude < 1 << (F::SIG - 2) {
            // A subnormal of which both leading bits are clear.
            let finite = match rm {
                RoundingMode::Rtz => true,
                RoundingMode::Rup => negative,
                RoundingMode::Rdn => !negative,
                _ => false,
            };
            (signed(if finite { F::MAX_FINITE } else { F::INFINITY }), Flags::NX | Flags::OF)
        } else {
            let error = host::<F>(got.0) * host::<F>(a) - 1.0;
            // A subnormal result has lost up to two of its bits to truncation.
            let limit = if F::abs(got.0) < F::MIN_NORMAL { 4.0 / 128.0 } else { 1.0 / 128.0 };
            assert!(error.abs() <= limit, "rec7 of {a:#x}: {:#x}", got.0);
            (got.0, Flags::NONE)
        };
        assert_eq!(got, expected, "rec7 of {a:#x} {rm:?}");
    }

    let got = with_flags(|flags| F::rsqrt7(a, flags));
    let expected = if F::is_nan(a) {
        (F::CANONICAL_NAN, nan_flags)
    } else if magnitude == 0 {
        (signed(F::INFINITY), Flags::DZ)
    } else if negative {
        (F::CANONICAL_NAN, Flags::NV)
    } else if a == F::INFINITY {
        (F::Bits::ZERO, Flags::NONE)
    } else {
        let error = host::<F>(got.0) * host::<F>(a).sqrt() - 1.0;
        assert!(error.abs() <= 1.0 / 128.0, "rsqrt7 of {a:#x}: {:#x}", got.0);
        (got.0, Flags::NONE)
    };
    assert_eq!(got, expected, "rsqrt7 of {a:#x}");
}

#[test]
fn estimates_of_every_half() {
    for a in 0..=u16::MAX {
        check_estimate::<F16>(a);
        check_estimate::<BF16>(a);
    }
}

#[test]
fn estimates_of_singles_and_doubles() {
    corners::<F32>().into_iter().for_each(check_estimate::<F32>);
    let mut rng = StdRng::seed_from_u64(1);
    for _ in 0..100_000 {
        check_estimate::<F32>(value::<F32>(&mut rng));
        // The error of a double near the ends of its range could not be reckoned in doubles.
        let a = value::<F64>(&mut rng);
        if (0x010..0x7e0).contains(&(a >> 52 & 0x7ff)) || F64::is_nan(a) {
            check_estimate::<F64>(a);
        }
    }
}

/// An estimate depends on the leading bits and the exponent alone, so doubles' follow from those of singles.
#[test]
fn estimates_agree_across_formats() {
    for a in (0x0080_0000..0x7e80_0000u32).step_by(0x1_0001) {
        let wide = convert::<F32, F64>(a, RoundingMode::Rne, &mut Flags::default());
        let rec7 = F32::rec7(a, RoundingMode::Rne, &mut Flags::default());
        let wide_rec7 = F64::rec7(wide, RoundingMode::Rne, &mut Flags::default());
        assert_eq!(convert::<F32, F64>(rec7, RoundingMode::Rne, &mut Flags::default()), wide_rec7);
        let rsqrt7 = F32::rsqrt7(a, &mut Flags::default());
        let wide_rsqrt7 = F64::rsqrt7(wide, &mut Flags::default());
        assert_eq!(convert::<F32, F64>(rsqrt7, RoundingMode::Rne, &mut Flags::default()), wide_rsqrt7);
    }
}

fn check_pair<F: Float>(a: F::Bits, b: F::Bits) {
    let (x, y) = (host::<F>(a), host::<F>(b));
    let signaling = F::is_signaling_nan(a) || F::is_signaling_nan(b);
    let any_nan = x.is_nan() || y.is_nan();
    let quiet = if signaling { Flags::NV } else { Flags::NONE };
    let loud = if any_nan { Flags::NV } else { Flags::NONE };
    assert_eq!(with_flags(|flags| F::eq(a, b, flags)), (x == y, quiet), "{a:#x} == {b:#x}");
    assert_eq!(with_flags(|flags| F::lt(a, b, flags)), (x < y, loud), "{a:#x} < {b:#x}");
    assert_eq!(with_flags(|flags| F::le(a, b, flags)), (x <= y, loud), "{a:#x} <= {b:#x}");
    assert_eq!(with_flags(|flags| F::ltq(a, b, flags)), (x < y, quiet), "{a:#x} < {b:#x}");
    assert_eq!(with_flags(|flags| F::leq(a, b, flags)), (x <= y, quiet), "{a:#x} <= {b:#x}");

    // Zeros are ordered by their sign, and −0 comes first.
    let order =
        if x == 0.0 && y == 0.0 { x.total_cmp(&y) } else { x.partial_cmp(&y).unwrap_or(Ordering::Equal) };
    let (min, max) = match (x.is_nan(), y.is_nan()) {
        (true, true) => (F::CANONICAL_NAN, F::CANONICAL_NAN),
        (true, false) => (b, b),
        (false, true) => (a, a),
        (false, false) if order == Ordering::Less => (a, b),
        (false, false) => (b, a),
    };
    assert_eq!(with_flags(|flags| F::min(a, b, flags)), (min, quiet), "min of {a:#x} and {b:#x}");
    assert_eq!(with_flags(|flags| F::max(a, b, flags)), (max, quiet), "max of {a:#x} and {b:#x}");
    let (minm, maxm) = if any_nan { (F::CANONICAL_NAN, F::CANONICAL_NAN) } else { (min, max) };
    assert_eq!(with_flags(|flags| F::minm(a, b, flags)), (minm, quiet), "minm of {a:#x} and {b:#x}");
    assert_eq!(with_flags(|flags| F::maxm(a, b, flags)), (maxm, quiet), "maxm of {a:#x} and {b:#x}");

    let sign = 1u64 << (F::WIDTH - 1);
    let (wide_a, wide_b): (u64, u64) = (a.into(), b.into());
    assert_eq!(F::sgnj(a, b).into(), wide_a & !sign | wide_b & sign);
    assert_eq!(F::sgnjn(a, b).into(), wide_a & !sign | !wide_b & sign);
    assert_eq!(F::sgnjx(a, b).into(), wide_a ^ wide_b & sign);
}

#[test]
fn comparisons_and_minima() {
    fn check<F: Float>() {
        for &a in &corners::<F>() {
            for &b in &corners::<F>() {
                check_pair::<F>(a, b);
            }
        }
        let mut rng = StdRng::seed_from_u64(2);
        for _ in 0..50_000 {
            let a = value::<F>(&mut rng);
            check_pair::<F>(a, value::<F>(&mut rng));
            check_pair::<F>(a, a);
            check_pair::<F>(a, F::Bits::truncate(a.into() ^ 1 << rng.random_range(0..F::WIDTH)));
        }
    }
    check::<F16>();
    check::<F32>();
    check::<F64>();
    check::<BF16>();
}

#[test]
fn class_of_every_half() {
    fn expected(negative: bool, field: u16, top: u16, fraction: u16, quiet: u16) -> u64 {
        let bit = match (field, fraction) {
            (field, 0) if field == top => [7, 0][usize::from(negative)],
            (field, fraction) if field == top => 8 + u64::from(fraction & quiet != 0),
            (0, 0) => [4, 3][usize::from(negative)],
            (0, _) => [5, 2][usize::from(negative)],
            _ => [6, 1][usize::from(negative)],
        };
        1 << bit
    }
    for a in 0..=u16::MAX {
        let negative = a >> 15 != 0;
        assert_eq!(F16::classify(a), expected(negative, a >> 10 & 31, 31, a & 0x3ff, 0x200), "{a:#x}");
        assert_eq!(BF16::classify(a), expected(negative, a >> 7 & 255, 255, a & 0x7f, 0x40), "{a:#x}");
    }
}

#[test]
fn class_of_singles_and_doubles() {
    let classes = [
        (f64::NEG_INFINITY, 0),
        (-1.0, 1),
        (-0.0, 3),
        (0.0, 4),
        (f64::MAX, 6),
        (f64::MIN_POSITIVE, 6),
        (f64::INFINITY, 7),
        (f64::NAN, 9),
    ];
    for (x, class) in classes {
        assert_eq!(F64::classify(x.to_bits()), 1 << class, "{x}");
    }
    assert_eq!(F64::classify(1), 1 << 5);
    assert_eq!(F64::classify(0x800f_ffff_ffff_ffff), 1 << 2);
    assert_eq!(F64::classify(0x7ff0_0000_0000_0001), 1 << 8);
    assert_eq!(F64::classify(0xfff7_ffff_ffff_ffff), 1 << 8);
    assert_eq!(F32::classify(0x8000_0001), 1 << 2);
    assert_eq!(F32::classify(0x007f_ffff), 1 << 5);
    assert_eq!(F32::classify(0x0080_0000), 1 << 6);
    assert_eq!(F32::classify(0x7fa0_0000), 1 << 8);
    assert_eq!(F32::classify(0xffc0_0000), 1 << 9);
}

#[test]
fn load_immediate() {
    let quarters =
        [0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0];
    for (idx, x) in (8..).zip(quarters) {
        assert_eq!(F64::li(idx), f64::to_bits(x), "entry {idx}");
        assert_eq!((host::<F32>(F32::li(idx)), host::<F16>(F16::li(idx))), (x, x), "entry {idx}");
    }
    let powers = [
        (2, -16),
        (3, -15),
        (4, -8),
        (5, -7),
        (6, -4),
        (7, -3),
        (23, 2),
        (24, 3),
        (25, 4),
        (26, 7),
        (27, 8),
        (28, 15),
    ];
    for (idx, power) in powers {
        assert_eq!(F64::li(idx), 2f64.powi(power).to_bits(), "entry {idx}");
        assert_eq!(F32::li(idx), 2f32.powi(power).to_bits(), "entry {idx}");
        assert_eq!(host::<F16>(F16::li(idx)), 2f64.powi(power), "entry {idx}");
    }
    assert_eq!((F16::li(0), F32::li(0), F64::li(0)), (0xbc00, (-1f32).to_bits(), (-1f64).to_bits()));
    assert_eq!((F16::li(1), F32::li(1), F64::li(1)), (0x0400, 0x0080_0000, 0x0010_0000_0000_0000));
    assert_eq!((F16::li(29), F32::li(29), F64::li(29)), (0x7c00, 65536f32.to_bits(), 65536f64.to_bits()));
    assert_eq!((F16::li(30), F32::li(30), F64::li(30)), (0x7c00, 0x7f80_0000, 0x7ff0_0000_0000_0000));
    assert_eq!((F16::li(31), F32::li(31), F64::li(31)), (0x7e00, 0x7fc0_0000, 0x7ff8_0000_0000_0000));
}

#[test]
fn modular_conversion() {
    let check = |x: f64, expected: i32| {
        let (got, flags) = with_flags(|flags| fcvtmod_w_d(x.to_bits(), flags));
        let (_, expected_flags) = with_flags(|flags| F64::to_i32(x.to_bits(), RoundingMode::Rtz, flags));
        assert_eq!((got, flags), (expected as u64, expected_flags), "{x}");
    };
    check(0.0, 0);
    check(-0.75, 0);
    check(1.5, 1);
    check(-1.5, -1);
    check(2147483648.0, i32::MIN);
    check(4294967295.5, -1);
    check(-4294967297.0, -1);
    check(2f64.powi(84) + 2f64.powi(32), 0);
    check(f64::NAN, 0);
    check(f64::NEG_INFINITY, 0);
    assert_eq!(with_flags(|flags| fcvtmod_w_d(4294967297.5f64.to_bits(), flags)).1, Flags::NV);

    // As i128, where it fits.
    let mut rng = StdRng::seed_from_u64(9);
    for _ in 0..100_000 {
        let field = rng.random_range(1000..1023 + 120);
        let x = f64::from_bits(rng.random::<u64>() & 0x800f_ffff_ffff_ffff | field << 52);
        check(x, x as i128 as i32);
    }
}

#[test]
fn boxes() {
    assert_eq!(box_f32(0x3f80_0000), 0xffff_ffff_3f80_0000);
    assert_eq!(box_f16(0x3c00), 0xffff_ffff_ffff_3c00);
    assert_eq!(box_bf16(0x3f80), 0xffff_ffff_ffff_3f80);
    assert_eq!(unbox_f32(box_f32(0x0000_0001)), 1);
    assert_eq!(unbox_f16(box_f16(0x8000)), 0x8000);
    assert_eq!(unbox_bf16(box_bf16(0xffff)), 0xffff);
    assert_eq!(unbox_f32(0xffff_fffe_3f80_0000), 0x7fc0_0000);
    assert_eq!(unbox_f32(0x3f80_0000), 0x7fc0_0000);
    assert_eq!(unbox_f16(0xffff_ffff_0000_3c00), 0x7e00);
    assert_eq!(unbox_f16(0xffff_ffff_fffe_3c00), 0x7e00);
    assert_eq!(unbox_bf16(0x7fff_ffff_ffff_3f80), 0x7fc0);
    // A single in a register is no half.
    assert_eq!(unbox_f16(box_f32(1.0f32.to_bits())), 0x7e00);
}

#[test]
fn flags_are_sticky() {
    let mut flags = Flags::DZ;
    F32::mul(0x7f80_0000, 0, RoundingMode::Rne, &mut flags);
    assert_eq!(flags, Flags::DZ | Flags::NV);
    F32::add(0x3f80_0000, 0x0000_0001, RoundingMode::Rne, &mut flags);
    assert_eq!(flags, Flags::DZ | Flags::NV | Flags::NX);
}

#[test]
fn infinity_times_zero_is_invalid_whatever_is_added() {
    let mut flags = Flags::default();
    let result = F64::fused_mul_add(F64::INFINITY, 0, F64::CANONICAL_NAN, RoundingMode::Rne, &mut flags);
    assert_eq!((result, flags), (F64::CANONICAL_NAN, Flags::NV));
}

/// Just below the least normal number, two values that become that number. Rounded to 24 bits as if exponents
/// had no end, one of them does as well, and is not tiny.
#[test]
fn tininess_is_detected_after_rounding() {
    let rm = RoundingMode::Rne;
    let least = f64::from(f32::MIN_POSITIVE);
    let narrow = |x: f64| with_flags(|flags| convert::<F64, F32>(x.to_bits(), rm, flags));
    let tiny = 1.0 - 2f64.powi(-24);
    assert_eq!(narrow(least * tiny), (F32::MIN_NORMAL, Flags::UF | Flags::NX));
    assert_eq!(narrow(least * (1.0 - 2f64.powi(-25))), (F32::MIN_NORMAL, Flags::NX));
    let product = with_flags(|flags| F32::mul((tiny as f32).to_bits(), F32::MIN_NORMAL, rm, flags));
    assert_eq!(product, (F32::MIN_NORMAL, Flags::UF | Flags::NX));
}
