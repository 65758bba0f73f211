//! Integers and fixed point against Rust's own operations, all pairs of 8 bits and samples of the others.

use crate::common::*;
use rvv_intrinsics::{Elem, Sem};
use rvv_oracle::arith::{Args, Frm, Vxrm, element, is_elementwise};

fn pairs(width: u32, mut check: impl FnMut(u64, u64)) {
    if width == 8 {
        (0..0x10000).for_each(|i| check(i & 0xff, i >> 8));
        return;
    }
    let edge = 1 << (width - 1);
    let edges = [0, 1, 2, 3, edge - 1, edge, edge + 1, ones(width) - 1, ones(width)];
    edges.iter().for_each(|&a| edges.iter().for_each(|&b| check(a, b)));
    let mut rng = Rng(600 + u64::from(width));
    for _ in 0..20_000 {
        let b = if rng.below(2) == 0 { rng.bits() >> rng.below(64) } else { rng.bits() };
        check(rng.bits() & ones(width), b & ones(width));
    }
}

fn carried(sem: Sem, elem: Elem, a: u64, b: u64, carry: Option<bool>) -> u64 {
    element(sem, elem, &Args { op1: Some(op(b, elem)), carry, ..Args::new(op(a, elem)) }).unwrap()
}

macro_rules! native {
    ($name:ident, $signed:ty, $unsigned:ty, $i:expr, $u:expr) => {
        #[test]
        fn $name() {
            let (i, u): (Elem, Elem) = ($i, $u);
            pairs(i.bits(), |a, b| {
                let (ua, ub) = (a as $unsigned, b as $unsigned);
                let (sa, sb) = (ua as $signed, ub as $signed);
                let c = (a ^ b << 1) & ones(i.bits());
                let uc = c as $unsigned;
                let amount = b as u32 % i.bits();
                let check = |sem: Sem, elem: Elem, expected: u64| {
                    let got = call(sem, elem, Frm::Rne, &[op(a, elem), op(b, elem), op(c, elem)]);
                    assert_eq!(got, expected & ones(elem.bits()), "{sem:?} {elem:?} {a:#x} {b:#x} {c:#x}");
                };
                let both = |sem: Sem, expected: $unsigned| {
                    check(sem, i, expected as u64);
                    check(sem, u, expected as u64);
                };
                both(Sem::Add, ua.wrapping_add(ub));
                both(Sem::Sub, ua.wrapping_sub(ub));
                both(Sem::Rsub, ub.wrapping_sub(ua));
                both(Sem::Neg, ua.wrapping_neg());
                both(Sem::And, ua & ub);
                both(Sem::Or, ua | ub);
                both(Sem::Xor, ua ^ ub);
                both(Sem::Not, !ua);
                both(Sem::Andn, ua & !ub);
                both(Sem::Sll, ua << amount);
                both(Sem::Srl, ua >> amount);
                both(Sem::Sra, (sa >> amount) as $unsigned);
                both(Sem::Mul, ua.wrapping_mul(ub));
                both(Sem::Macc, uc.wrapping_add(ua.wrapping_mul(ub)));
                both(Sem::Nmsac, uc.wrapping_sub(ua.wrapping_mul(ub)));
                both(Sem::Madd, uc.wrapping_mul(ub).wrapping_add(ua));
                both(Sem::Nmsub, ua.wrapping_sub(uc.wrapping_mul(ub)));
                both(Sem::Move, ub);
                check(Sem::Min, i, sa.min(sb) as u64);
                check(Sem::Min, u, ua.min(ub) as u64);
                check(Sem::Max, i, sa.max(sb) as u64);
                check(Sem::Max, u, ua.max(ub) as u64);
                check(Sem::Mulh, i, ((sa as i128 * sb as i128) >> i.bits()) as u64);
                check(Sem::Mulh, u, ((ua as u128 * ub as u128) >> i.bits()) as u64);
                check(Sem::Div, i, if sb == 0 { u64::MAX } else { sa.wrapping_div(sb) as u64 });
                check(Sem::Div, u, if ub == 0 { u64::MAX } else { (ua / ub) as u64 });
                check(Sem::Rem, i, if sb == 0 { sa } else { sa.wrapping_rem(sb) } as u64);
                check(Sem::Rem, u, if ub == 0 { ua } else { ua % ub } as u64);
                check(Sem::Sadd, i, sa.saturating_add(sb) as u64);
                check(Sem::Sadd, u, ua.saturating_add(ub) as u64);
                check(Sem::Ssub, i, sa.saturating_sub(sb) as u64);
                check(Sem::Ssub, u, ua.saturating_sub(ub) as u64);
                check(Sem::Brev, u, ua.reverse_bits() as u64);
                check(Sem::Rev8, u, ua.swap_bytes() as u64);
                check(Sem::Brev8, u, ua.swap_bytes().reverse_bits() as u64);
                check(Sem::Clz, u, ua.leading_zeros().into());
                check(Sem::Ctz, u, ua.trailing_zeros().into());
                check(Sem::Cpop, u, ua.count_ones().into());
                check(Sem::Rol, u, ua.rotate_left(amount) as u64);
                check(Sem::Ror, u, ua.rotate_right(amount) as u64);

                let compare = |sem: Sem, signed: bool, unsigned: bool| {
                    check(sem, i, signed.into());
                    check(sem, u, unsigned.into());
                };
                compare(Sem::Eq, sa == sb, ua == ub);
                compare(Sem::Ne, sa != sb, ua != ub);
                compare(Sem::Lt, sa < sb, ua < ub);
                compare(Sem::Le, sa <= sb, ua <= ub);
                compare(Sem::Gt, sa > sb, ua > ub);
                compare(Sem::Ge, sa >= sb, ua >= ub);

                // Mixed signs: vmulhsu.
                let got = call(Sem::Mulh, i, Frm::Rne, &[op(a, i), op(b, u)]);
                assert_eq!(
                    got,
                    ((sa as i128).wrapping_mul(ub as i128) >> i.bits()) as $unsigned as u64,
                    "{a:#x} {b:#x}"
                );

                for elem in [i, u] {
                    for carry in [false, true] {
                        let (half, over) = ua.overflowing_add(ub);
                        let (sum, again) = half.overflowing_add(carry.into());
                        assert_eq!(carried(Sem::Adc, elem, a, b, Some(carry)), sum as u64);
                        assert_eq!(carried(Sem::Madc, elem, a, b, Some(carry)), (over | again).into());
                        let (half, under) = ua.overflowing_sub(ub);
                        let (difference, again) = half.overflowing_sub(carry.into());
                        assert_eq!(carried(Sem::Sbc, elem, a, b, Some(carry)), difference as u64);
                        assert_eq!(carried(Sem::Msbc, elem, a, b, Some(carry)), (under | again).into());
                        assert_eq!(carried(Sem::Merge, elem, a, b, Some(carry)), if carry { b } else { a });
                    }
                    assert_eq!(carried(Sem::Madc, elem, a, b, None), ua.checked_add(ub).is_none().into());
                    assert_eq!(carried(Sem::Msbc, elem, a, b, None), (ua < ub).into());
                }

                for vxrm in Vxrm::ALL {
                    let fixed = |sem: Sem, elem: Elem, expected: i128| {
                        let got = call_fixed(sem, elem, vxrm, op(a, elem), op(b, elem));
                        assert_eq!(
                            got,
                            expected as u64 & ones(elem.bits()),
                            "{sem:?} {elem:?} {vxrm:?} {a:#x} {b:#x}"
                        );
                    };
                    fixed(Sem::Aadd, i, quotient(sa as i128 + sb as i128, 1, vxrm));
                    fixed(Sem::Aadd, u, quotient(ua as i128 + ub as i128, 1, vxrm));
                    fixed(Sem::Asub, i, quotient(sa as i128 - sb as i128, 1, vxrm));
                    fixed(Sem::Asub, u, quotient(ua as i128 - ub as i128, 1, vxrm));
                    fixed(Sem::Sshift, i, quotient(sa as i128, amount, vxrm));
                    fixed(Sem::Sshift, u, quotient(ua as i128, amount, vxrm));
                    let product = quotient(sa as i128 * sb as i128, i.bits() - 1, vxrm);
                    fixed(Sem::Smul, i, product.min(<$signed>::MAX as i128));
                }
            });
        }
    };
}

/// v / 2^d, by Euclidean division and what remains of it.
fn quotient(v: i128, d: u32, vxrm: Vxrm) -> i128 {
    let unit = 1i128 << d;
    let (floor, rest) = (v.div_euclid(unit), v.rem_euclid(unit));
    match vxrm {
        Vxrm::Rdn => floor,
        Vxrm::Rnu => floor + i128::from(2 * rest >= unit && rest > 0),
        Vxrm::Rne => floor + i128::from(2 * rest > unit || rest > 0 && 2 * rest == unit && floor % 2 != 0),
        Vxrm::Rod => floor + i128::from(rest > 0 && floor % 2 == 0),
    }
}

native!(bits_8, i8, u8, Elem::I8, Elem::U8);
native!(bits_16, i16, u16, Elem::I16, Elem::U16);
native!(bits_32, i32, u32, Elem::I32, Elem::U32);
native!(bits_64, i64, u64, Elem::I64, Elem::U64);

/// Widening, narrowing and mixed: 8 bits and 16, exhaustive where both operands have 8.
#[test]
fn between_8_and_16_bits() {
    use Elem::*;
    for i in 0..0x10000u64 {
        let (a, b) = (i & 0xff, i >> 8);
        let (ua, ub) = (a as u16, b as u16);
        let (sa, sb) = (i16::from(a as i8), i16::from(b as i8));
        let c = ((i * 40503) >> 3) as u16;
        let (uc, sc) = (c, c as i16);
        let check = |sem: Sem, ret: Elem, ea: Elem, eb: Elem, expected: u16| {
            let got = call(sem, ret, Frm::Rne, &[op(a, ea), op(b, eb), op(c.into(), ret)]);
            assert_eq!(got, expected.into(), "{sem:?} {ret:?} {ea:?} {eb:?} {a:#x} {b:#x} {c:#x}");
        };
        check(Sem::Add, U16, U8, U8, ua + ub);
        check(Sem::Add, I16, I8, I8, (sa + sb) as u16);
        check(Sem::Sub, U16, U8, U8, ua.wrapping_sub(ub));
        check(Sem::Sub, I16, I8, I8, (sa - sb) as u16);
        check(Sem::Mul, U16, U8, U8, ua * ub);
        check(Sem::Mul, I16, I8, I8, (sa * sb) as u16);
        check(Sem::Mul, I16, I8, U8, (i32::from(sa) * i32::from(ub)) as u16);
        check(Sem::Macc, U16, U8, U8, uc.wrapping_add(ua * ub));
        check(Sem::Macc, I16, I8, I8, sc.wrapping_add(sa * sb) as u16);
        check(Sem::Macc, I16, U8, I8, (i32::from(sc) + i32::from(ua) * i32::from(sb)) as u16);
        check(Sem::Macc, I16, I8, U8, (i32::from(sc) + i32::from(sa) * i32::from(ub)) as u16);
        check(Sem::Resize, U16, U8, U8, ua);
        check(Sem::Resize, I16, I8, I8, sa as u16);
        check(Sem::Wsll, U16, U8, U8, ((u32::from(ua) << (ub % 16)) & 0xffff) as u16);
        let wide = |sem: Sem, ea: Elem, eb: Elem, expected: u16| {
            let got = call(sem, if ea == U16 { U16 } else { I16 }, Frm::Rne, &[op(c.into(), ea), op(b, eb)]);
            assert_eq!(got, expected.into(), "{sem:?} {ea:?} {eb:?} {c:#x} {b:#x}");
        };
        wide(Sem::Add, U16, U8, uc.wrapping_add(ub));
        wide(Sem::Add, I16, I8, sc.wrapping_add(sb) as u16);
        wide(Sem::Sub, U16, U8, uc.wrapping_sub(ub));
        wide(Sem::Sub, I16, I8, sc.wrapping_sub(sb) as u16);
        for amount in [op(b, U8), op(b | 0xabcd00, U64)] {
            let shift = b as u32 % 16;
            assert_eq!(call(Sem::Srl, U8, Frm::Rne, &[op(i, U16), amount]), (i >> shift) & 0xff);
            assert_eq!(
                call(Sem::Sra, I8, Frm::Rne, &[op(i, I16), amount]),
                (i as i16 >> shift) as u64 & 0xff
            );
            for vxrm in Vxrm::ALL {
                let clipped = call_fixed(Sem::Clip, U8, vxrm, op(i, U16), amount);
                assert_eq!(clipped as i128, quotient(i.into(), shift, vxrm).min(255), "{i:#x} {shift}");
                let clipped = call_fixed(Sem::Clip, I8, vxrm, op(i, I16), amount) as i8;
                assert_eq!(i128::from(clipped), quotient((i as i16).into(), shift, vxrm).clamp(-128, 127));
            }
        }
        assert_eq!(call(Sem::Resize, I8, Frm::Rne, &[op(i, I16)]), i & 0xff);
    }
}

/// Polynomials over GF(2), coefficient by coefficient.
#[test]
fn carryless_multiplication() {
    let mut rng = Rng(700);
    for _ in 0..3_000 {
        let (a, b) = (rng.bits() >> rng.below(64), rng.bits() >> rng.below(64));
        let coefficient = |n: u32| {
            let terms = (0..=n.min(63)).filter(|&i| n - i < 64 && a >> i & 1 == 1 && b >> (n - i) & 1 == 1);
            terms.count() as u128 % 2
        };
        let product = (0..127).fold(0, |p, n| p | coefficient(n) << n);
        assert_eq!(
            call(Sem::Clmul, Elem::U64, Frm::Rne, &[op(a, Elem::U64), op(b, Elem::U64)]),
            product as u64
        );
        let high = call(Sem::Clmulh, Elem::U64, Frm::Rne, &[op(a, Elem::U64), op(b, Elem::U64)]);
        assert_eq!(high, (product >> 64) as u64);
    }
}

/// Elementwise is what `element` has an answer for, given all operands.
#[test]
fn elementwise_is_what_element_answers() {
    for &sem in Sem::ALL {
        let answers = [Elem::F32, Elem::U32].into_iter().any(|elem| {
            let args = Args {
                op1: Some(op(1, elem)),
                acc: Some(op(1, elem)),
                carry: Some(true),
                ..Args::new(op(1, elem))
            };
            element(sem, elem, &args).is_some()
        });
        assert_eq!(answers, is_elementwise(sem), "{sem:?}");
    }
}

/// An operand that is missing is `None`, not a panic.
#[test]
fn missing_operands() {
    for &sem in Sem::ALL {
        for elem in Elem::ALL {
            element(sem, elem, &Args::new(op(1, elem)));
        }
    }
}
