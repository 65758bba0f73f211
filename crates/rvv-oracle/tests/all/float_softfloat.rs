//! Floating point against Berkeley SoftFloat in its RISC-V flavour, and against the host's.

use crate::common::*;
use rvv_intrinsics::{Elem, Sem};
use rvv_oracle::arith::Frm;
use softfloat_wrapper::{BF16, F16, F32, F64, Float, RoundingMode};

fn mode(frm: Frm) -> RoundingMode {
    match frm {
        Frm::Rne => RoundingMode::TiesToEven,
        Frm::Rtz => RoundingMode::TowardZero,
        Frm::Rdn => RoundingMode::TowardNegative,
        Frm::Rup => RoundingMode::TowardPositive,
        Frm::Rmm => RoundingMode::TiesToAway,
    }
}

/// Numbers of a format, to and from bits in a `u64`.
trait Bits: Float + Copy {
    const ELEM: Elem;
    fn new(bits: u64) -> Self;
    fn get(self) -> u64;
}

macro_rules! bits {
    ($t:ty, $payload:ty, $elem:expr) => {
        impl Bits for $t {
            const ELEM: Elem = $elem;
            fn new(bits: u64) -> Self {
                Self::from_bits(bits as $payload)
            }
            fn get(self) -> u64 {
                self.to_bits().into()
            }
        }
    };
}
bits!(F16, u16, Elem::F16);
bits!(F32, u32, Elem::F32);
bits!(F64, u64, Elem::F64);
bits!(BF16, u16, Elem::Bf16);

fn arithmetic<F: Bits>(rounds: usize) {
    let elem = F::ELEM;
    let corners = corners(elem);
    let mut rng = Rng(100 + elem as u64);
    for i in 0..rounds {
        let [a, b, c] = if i < corners.len().pow(2) {
            [corners[i % corners.len()], corners[i / corners.len()], rng.pick(&corners)]
        } else {
            std::array::from_fn(|_| operand(&mut rng, elem, &corners))
        };
        let (x, y, z) = (F::new(a), F::new(b), F::new(c));
        let operands = [op(a, elem), op(b, elem), op(c, elem)];
        for frm in Frm::ALL {
            let r = mode(frm);
            for (sem, expected) in [
                (Sem::Fadd, x.add(y, r)),
                (Sem::Fsub, x.sub(y, r)),
                (Sem::Fmul, x.mul(y, r)),
                (Sem::Fdiv, x.div(y, r)),
                (Sem::Fsqrt, x.sqrt(r)),
                (Sem::Fmacc, y.fused_mul_add(x, z, r)),
                (Sem::Fmadd, z.fused_mul_add(y, x, r)),
            ] {
                assert_eq!(
                    call(sem, elem, frm, &operands),
                    expected.get(),
                    "{sem:?} {elem:?} {frm:?} {a:#x} {b:#x} {c:#x}"
                );
            }
        }
        for (sem, expected) in [
            (Sem::Eq, x.eq(y)),
            (Sem::Ne, !x.eq(y)),
            (Sem::Lt, x.lt(y)),
            (Sem::Le, x.le(y)),
            (Sem::Gt, y.lt(x)),
            (Sem::Ge, y.le(x)),
        ] {
            assert_eq!(
                call(sem, elem, Frm::Rne, &operands),
                expected.into(),
                "{sem:?} {elem:?} {a:#x} {b:#x}"
            );
        }
        // minimumNumber, from comparisons alone.
        let (minimum, maximum) = match (x.is_nan(), y.is_nan()) {
            (true, true) => (canonical_nan(elem), canonical_nan(elem)),
            (true, false) => (b, b),
            (false, true) => (a, a),
            _ if x.eq(y) => (if x.is_negative() { a } else { b }, if x.is_negative() { b } else { a }),
            _ if x.lt(y) => (a, b),
            _ => (b, a),
        };
        assert_eq!(call(Sem::Fmin, elem, Frm::Rne, &operands), minimum, "{elem:?} {a:#x} {b:#x}");
        assert_eq!(call(Sem::Fmax, elem, Frm::Rne, &operands), maximum, "{elem:?} {a:#x} {b:#x}");
        let classes = [
            x.is_negative_infinity(),
            x.is_negative_normal(),
            x.is_negative_subnormal(),
            x.is_negative_zero(),
            x.is_positive_zero(),
            x.is_positive_subnormal(),
            x.is_positive_normal(),
            x.is_positive_infinity(),
            x.is_nan() && x.is_signaling_nan(),
            x.is_nan() && !x.is_signaling_nan(),
        ];
        let class = classes.iter().rev().fold(0, |bits, &c| bits << 1 | u64::from(c));
        let unsigned = Elem::unsigned(elem.sew());
        assert_eq!(call(Sem::Fclass, unsigned, Frm::Rne, &operands), class, "{elem:?} {a:#x}");
        let sign = 1 << (elem.bits() - 1);
        for (sem, expected) in [
            (Sem::Fsgnj, a & !sign | b & sign),
            (Sem::Fsgnjn, a & !sign | !b & sign),
            (Sem::Fsgnjx, a ^ b & sign),
            (Sem::Fneg, a ^ sign),
            (Sem::Fabs, a & !sign),
        ] {
            assert_eq!(call(sem, elem, Frm::Rne, &operands), expected, "{sem:?} {elem:?} {a:#x} {b:#x}");
        }
    }
}

#[test]
fn half() {
    arithmetic::<F16>(60_000);
}

#[test]
fn single() {
    arithmetic::<F32>(60_000);
}

#[test]
fn double() {
    arithmetic::<F64>(60_000);
}

fn conversions<F: Bits>(mut check: impl FnMut(u64, Frm)) {
    let corners = corners(F::ELEM);
    let mut rng = Rng(200 + F::ELEM as u64);
    for _ in 0..60_000 {
        let a = operand(&mut rng, F::ELEM, &corners);
        Frm::ALL.into_iter().for_each(|frm| check(a, frm));
    }
}

/// All numbers of 16 bits, and many others, to integers: of 64 bits as SoftFloat, then to the closest.
fn integer<F: Bits>(a: u64, frm: Frm) {
    let x = F::new(a);
    for ret in [Elem::I8, Elem::I16, Elem::I32, Elem::I64] {
        let limit = i64::MAX >> (64 - ret.bits());
        let expected = x.to_i64(mode(frm), false).clamp(!limit, limit) as u64 & ones(ret.bits());
        assert_eq!(
            call(Sem::Fcvt, ret, frm, &[op(a, F::ELEM)]),
            expected,
            "{:?} {ret:?} {frm:?} {a:#x}",
            F::ELEM
        );
    }
    for ret in [Elem::U8, Elem::U16, Elem::U32, Elem::U64] {
        let expected = x.to_u64(mode(frm), false).min(ones(ret.bits()));
        assert_eq!(
            call(Sem::Fcvt, ret, frm, &[op(a, F::ELEM)]),
            expected,
            "{:?} {ret:?} {frm:?} {a:#x}",
            F::ELEM
        );
    }
}

#[test]
fn floats_to_integers() {
    for a in 0..0x10000 {
        Frm::ALL.into_iter().for_each(|frm| integer::<F16>(a, frm));
    }
    conversions::<F32>(integer::<F32>);
    conversions::<F64>(integer::<F64>);
}

#[test]
fn floats_to_floats() {
    for a in 0..0x10000 {
        assert_eq!(
            call(Sem::Fcvt, Elem::F32, Frm::Rtz, &[op(a, Elem::F16)]),
            F16::new(a).to_f32(mode(Frm::Rtz)).get()
        );
        // The wrapper's conversion shifts the bits, those of NaNs too.
        let shifted = canonical(Elem::F32, BF16::new(a).to_f32(mode(Frm::Rtz)).get());
        assert_eq!(call(Sem::Fcvt, Elem::F32, Frm::Rtz, &[op(a, Elem::Bf16)]), shifted);
        // A square root has no exact ties; all of them.
        for frm in Frm::ALL {
            assert_eq!(
                call(Sem::Fsqrt, Elem::F16, frm, &[op(a, Elem::F16)]),
                F16::new(a).sqrt(mode(frm)).get()
            );
        }
    }
    conversions::<F32>(|a, frm| {
        let x = F32::new(a);
        assert_eq!(
            call(Sem::Fcvt, Elem::F16, frm, &[op(a, Elem::F32)]),
            x.to_f16(mode(frm)).get(),
            "{frm:?} {a:#x}"
        );
        assert_eq!(
            call(Sem::Fcvt, Elem::F64, frm, &[op(a, Elem::F32)]),
            x.to_f64(mode(frm)).get(),
            "{frm:?} {a:#x}"
        );
    });
    conversions::<F64>(|a, frm| {
        let x = F64::new(a);
        assert_eq!(
            call(Sem::Fcvt, Elem::F32, frm, &[op(a, Elem::F64)]),
            x.to_f32(mode(frm)).get(),
            "{frm:?} {a:#x}"
        );
    });
}

/// The processor this test runs on, to nearest even.
#[test]
fn host() {
    let (singles, doubles) = (corners(Elem::F32), corners(Elem::F64));
    let mut rng = Rng(300);
    for _ in 0..300_000 {
        let [a, b, c] = std::array::from_fn(|_| operand(&mut rng, Elem::F32, &singles));
        let [x, y, z] = [a, b, c].map(|a| f32::from_bits(a as u32));
        for (sem, expected) in [
            (Sem::Fadd, x + y),
            (Sem::Fsub, x - y),
            (Sem::Fmul, x * y),
            (Sem::Fdiv, x / y),
            (Sem::Fsqrt, x.sqrt()),
            (Sem::Fmacc, y.mul_add(x, z)),
        ] {
            let got = call(sem, Elem::F32, Frm::Rne, &[a, b, c].map(|a| op(a, Elem::F32)));
            assert_eq!(got, canonical(Elem::F32, expected.to_bits().into()), "{sem:?} {x:e} {y:e} {z:e}");
        }
        let [a, b, c] = std::array::from_fn(|_| operand(&mut rng, Elem::F64, &doubles));
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        for (sem, expected) in [
            (Sem::Fadd, x + y),
            (Sem::Fsub, x - y),
            (Sem::Fmul, x * y),
            (Sem::Fdiv, x / y),
            (Sem::Fsqrt, x.sqrt()),
            (Sem::Fmacc, y.mul_add(x, z)),
        ] {
            let got = call(sem, Elem::F64, Frm::Rne, &[a, b, c].map(|a| op(a, Elem::F64)));
            assert_eq!(got, canonical(Elem::F64, expected.to_bits()), "{sem:?} {x:e} {y:e} {z:e}");
        }
    }
}
