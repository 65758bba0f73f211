//! The fast path gives what SoftFloat gives: every bit, every flag, every mode.

use super::support::{MODES, Op, corners, operands, value};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvvsim::fp::{BF16, F16, F32, F64, Flags, Float, Int, RoundingMode, convert, soft};

/// Checks an operation with clear flags, and with NX already set, which takes other paths.
#[track_caller]
fn check<F: Float>(op: Op, operands: [F::Bits; 3], rm: RoundingMode) {
    let mut expected_flags = Flags::default();
    let expected = op.soft::<F>(operands, rm, &mut expected_flags);
    for before in [Flags::default(), Flags::NX] {
        let mut flags = before;
        let got = op.fast::<F>(operands, rm, &mut flags);
        assert!(
            got == expected && flags == expected_flags | before,
            "{} {op:?} {operands:#x?} {rm:?} with {before:?}: {got:#x} {flags:?}, not {expected:#x} \
             {expected_flags:?}",
            std::any::type_name::<F>(),
        );
    }
}

fn arithmetic_at_corners<F: Float>() {
    let corners = corners::<F>();
    for &a in &corners {
        for &b in &corners {
            for rm in MODES {
                for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
                    check::<F>(op, [a, b, b], rm);
                }
                for &c in corners.iter().step_by(3) {
                    check::<F>(Op::Fma, [a, b, c], rm);
                }
            }
        }
        for rm in MODES {
            check::<F>(Op::Sqrt, [a; 3], rm);
        }
    }
}

fn arithmetic_at_random<F: Float>(seed: u64, count: u32) {
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..count {
        let operands = operands::<F>(&mut rng);
        // Half of them in the mode that has most of the fast paths.
        let rm = if rng.random() { RoundingMode::Rne } else { MODES[rng.random_range(0..6)] };
        for op in Op::ALL {
            check::<F>(op, operands, rm);
        }
    }
}

#[test]
fn f16_arithmetic() {
    arithmetic_at_corners::<F16>();
    arithmetic_at_random::<F16>(16, 1_000_000);
}

#[test]
fn f32_arithmetic() {
    arithmetic_at_corners::<F32>();
    arithmetic_at_random::<F32>(32, 2_000_000);
}

#[test]
fn f64_arithmetic() {
    arithmetic_at_corners::<F64>();
    arithmetic_at_random::<F64>(64, 2_000_000);
}

#[test]
fn bf16_arithmetic() {
    arithmetic_at_corners::<BF16>();
    arithmetic_at_random::<BF16>(17, 800_000);
}

/// Square roots and products of small integers, which are exact often enough to show an NX too many.
#[test]
fn exact_results() {
    fn exact<F: Float>() {
        for x in 0..600u32 {
            let square = F::from_u32(x * x, RoundingMode::Rne, &mut Flags::default());
            for rm in MODES {
                check::<F>(Op::Sqrt, [square; 3], rm);
                let root = F::from_u32(x, RoundingMode::Rne, &mut Flags::default());
                check::<F>(Op::Mul, [root, root, root], rm);
                check::<F>(Op::Div, [square, root, root], rm);
                check::<F>(Op::Fma, [root, root, F::neg(square)], rm);
                check::<F>(Op::Fma, [root, root, root], rm);
            }
        }
    }
    exact::<F16>();
    exact::<F32>();
    exact::<F64>();
    exact::<BF16>();
}

#[track_caller]
fn check_to_int<F: Float, I: Int>(a: F::Bits, rm: RoundingMode) {
    let (mut flags, mut expected_flags) = (Flags::default(), Flags::default());
    let got = F::to_int::<I>(a, rm, &mut flags);
    let expected = soft::to_int::<F, I>(a, rm, &mut expected_flags);
    assert_eq!((got, flags), (expected, expected_flags), "{} {a:#x} {rm:?}", std::any::type_name::<(F, I)>());
}

fn check_to_ints<F: Float>(a: F::Bits) {
    for rm in RoundingMode::ALL {
        check_to_int::<F, i8>(a, rm);
        check_to_int::<F, u8>(a, rm);
        check_to_int::<F, i16>(a, rm);
        check_to_int::<F, u16>(a, rm);
        check_to_int::<F, i32>(a, rm);
        check_to_int::<F, u32>(a, rm);
        check_to_int::<F, i64>(a, rm);
        check_to_int::<F, u64>(a, rm);
        for exact in [false, true] {
            let (mut flags, mut expected_flags) = (Flags::default(), Flags::default());
            let got = F::round_to_int(a, rm, exact, &mut flags);
            let expected = soft::round_to_int::<F>(a, rm, exact, &mut expected_flags);
            assert_eq!((got, flags), (expected, expected_flags), "{a:#x} {rm:?} {exact}");
        }
    }
}

#[track_caller]
fn check_from_int<F: Float, I: Int>(x: u64) {
    let x = I::truncate(x);
    for rm in RoundingMode::ALL {
        let (mut flags, mut expected_flags) = (Flags::default(), Flags::default());
        let got = F::from_int(x, rm, &mut flags);
        let expected = soft::from_int::<F, I>(x, rm, &mut expected_flags);
        assert_eq!((got, flags), (expected, expected_flags), "{x:?} {rm:?}");
    }
}

#[track_caller]
fn check_convert<S: Float, D: Float>(a: S::Bits) {
    for rm in MODES {
        let (mut flags, mut expected_flags) = (Flags::default(), Flags::default());
        let got = convert::<S, D>(a, rm, &mut flags);
        let expected = soft::convert::<S, D>(a, rm, &mut expected_flags);
        let formats = std::any::type_name::<(S, D)>();
        assert_eq!((got, flags), (expected, expected_flags), "{formats} {a:#x} {rm:?}");
    }
}

/// Magnitudes about those at which a conversion to an integer starts to saturate or to round.
fn near_integers<F: Float>(rng: &mut StdRng) -> F::Bits {
    let shift = rng.random_range(0..64);
    let x = (rng.random::<u64>() >> shift).wrapping_add(rng.random_range(0..3));
    let a = F::from_u64(x, MODES[rng.random_range(0..5)], &mut Flags::default());
    F::sgnj(
        F::div(a, F::li(20 + rng.random_range(0..4)), RoundingMode::Rtz, &mut Flags::default()),
        value::<F>(rng),
    )
}

#[test]
fn half_to_anything() {
    for a in 0..=u16::MAX {
        check_to_ints::<F16>(a);
        check_to_ints::<BF16>(a);
        check_convert::<F16, F32>(a);
        check_convert::<F16, F64>(a);
        check_convert::<BF16, F32>(a);
        check_convert::<BF16, F64>(a);
        for rm in MODES {
            check::<F16>(Op::Sqrt, [a; 3], rm);
            check::<BF16>(Op::Sqrt, [a; 3], rm);
        }
    }
}

#[test]
fn conversions() {
    let mut rng = StdRng::seed_from_u64(3);
    for a in corners::<F32>() {
        check_to_ints::<F32>(a);
        check_convert::<F32, F16>(a);
        check_convert::<F32, F64>(a);
        check_convert::<F32, BF16>(a);
    }
    for a in corners::<F64>() {
        check_to_ints::<F64>(a);
        check_convert::<F64, F16>(a);
        check_convert::<F64, F32>(a);
        check_convert::<F64, BF16>(a);
    }
    for _ in 0..40_000 {
        check_to_ints::<F32>(value::<F32>(&mut rng));
        check_to_ints::<F64>(value::<F64>(&mut rng));
        check_to_ints::<F32>(near_integers::<F32>(&mut rng));
        check_to_ints::<F64>(near_integers::<F64>(&mut rng));
    }
    for _ in 0..200_000 {
        let single = value::<F32>(&mut rng);
        check_convert::<F32, F16>(single);
        check_convert::<F32, F64>(single);
        check_convert::<F32, BF16>(single);
        // About what halves and singles can just hold.
        let double = match rng.random_range(0..3) {
            0 => value::<F64>(&mut rng),
            1 => convert::<F16, F64>(value::<F16>(&mut rng), RoundingMode::Rne, &mut Flags::default()),
            _ => convert::<F32, F64>(value::<F32>(&mut rng), RoundingMode::Rne, &mut Flags::default()),
        };
        let double = double ^ rng.random::<u64>() >> rng.random_range(12..64);
        check_convert::<F64, F16>(double);
        check_convert::<F64, F32>(double);
        check_convert::<F64, BF16>(double);
    }
}

#[test]
fn from_integers() {
    fn check_all<F: Float>(x: u64) {
        check_from_int::<F, i8>(x);
        check_from_int::<F, u8>(x);
        check_from_int::<F, i16>(x);
        check_from_int::<F, u16>(x);
        check_from_int::<F, i32>(x);
        check_from_int::<F, u32>(x);
        check_from_int::<F, i64>(x);
        check_from_int::<F, u64>(x);
    }
    let mut rng = StdRng::seed_from_u64(4);
    for i in 0..60_000u64 {
        let x = match i {
            0..=1023 => (i.wrapping_sub(512)) << (i % 61),
            _ => (rng.random::<u64>() >> rng.random_range(0..64)).wrapping_add(rng.random_range(0..3)),
        };
        check_all::<F16>(x);
        check_all::<F32>(x);
        check_all::<F64>(x);
        check_all::<BF16>(x);
    }
}
