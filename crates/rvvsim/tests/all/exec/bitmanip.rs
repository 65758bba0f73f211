//! Bit manipulation against definitions that go bit by bit, as the manual's pseudocode does.

use super::support::{hart, inst, integers, run};
use rvv_isa::{Class, Inst, Op};

fn bit(a: u64, i: u64) -> u64 {
    a / 2u64.pow(i as u32) % 2
}

/// The number whose bit `i` is `f(i)`.
fn bits(f: impl Fn(u64) -> u64) -> u64 {
    (0..64).map(|i| u64::from(f(i) != 0) * 2u64.pow(i as u32)).sum()
}

/// The low `n` bits, the top one of them copied upwards.
fn sign_extend(a: u64, n: u64) -> u64 {
    bits(|i| bit(a, i.min(n - 1)))
}

fn zero_extend(a: u64, n: u64) -> u64 {
    bits(|i| if i < n { bit(a, i) } else { 0 })
}

/// Zeroes at the top of an `n`-bit number.
fn leading_zeros(a: u64, n: u64) -> u64 {
    (0..n).rev().take_while(|&i| bit(a, i) == 0).count() as u64
}

fn trailing_zeros(a: u64, n: u64) -> u64 {
    (0..n).take_while(|&i| bit(a, i) == 0).count() as u64
}

fn ones(a: u64, n: u64) -> u64 {
    (0..n).map(|i| bit(a, i)).sum()
}

fn rotate_right(a: u64, by: u64, n: u64) -> u64 {
    bits(|i| if i < n { bit(a, (i + by) % n) } else { 0 })
}

fn scaled_add(index: u64, scale: u64, base: u64) -> u64 {
    ((u128::from(index) * u128::from(scale) + u128::from(base)) % (1 << 64)) as u64
}

/// Coefficient `k` of the product of two polynomials over GF(2).
fn product_coefficient(a: u64, b: u64, k: u64) -> u64 {
    (0..64).filter(|&i| i <= k && k - i < 64).map(|i| bit(a, i) * bit(b, k - i)).sum::<u64>() % 2
}

fn signed_less(a: u64, b: u64) -> bool {
    match (bit(a, 63), bit(b, 63)) {
        (1, 0) => true,
        (0, 1) => false,
        _ => a < b,
    }
}

type Unary = fn(u64) -> u64;
type Binary = fn(u64, u64) -> u64;

const UNARY: [(&str, Unary); 11] = [
    ("clz", |a| leading_zeros(a, 64)),
    ("ctz", |a| trailing_zeros(a, 64)),
    ("cpop", |a| ones(a, 64)),
    ("clzw", |a| leading_zeros(a, 32)),
    ("ctzw", |a| trailing_zeros(a, 32)),
    ("cpopw", |a| ones(a, 32)),
    ("sext.b", |a| sign_extend(a, 8)),
    ("sext.h", |a| sign_extend(a, 16)),
    ("orc.b", |a| bits(|i| (0..8).map(|j| bit(a, i / 8 * 8 + j)).sum())),
    ("rev8", |a| bits(|i| bit(a, 56 - i / 8 * 8 + i % 8))),
    ("brev8", |a| bits(|i| bit(a, i / 8 * 8 + 7 - i % 8))),
];

const BINARY: [(&str, Binary); 34] = [
    ("sh1add", |a, b| scaled_add(a, 2, b)),
    ("sh2add", |a, b| scaled_add(a, 4, b)),
    ("sh3add", |a, b| scaled_add(a, 8, b)),
    ("add.uw", |a, b| scaled_add(zero_extend(a, 32), 1, b)),
    ("sh1add.uw", |a, b| scaled_add(zero_extend(a, 32), 2, b)),
    ("sh2add.uw", |a, b| scaled_add(zero_extend(a, 32), 4, b)),
    ("sh3add.uw", |a, b| scaled_add(zero_extend(a, 32), 8, b)),
    ("andn", |a, b| bits(|i| bit(a, i) * (1 - bit(b, i)))),
    ("orn", |a, b| bits(|i| bit(a, i) + (1 - bit(b, i)))),
    ("xnor", |a, b| bits(|i| u64::from(bit(a, i) == bit(b, i)))),
    ("min", |a, b| if signed_less(a, b) { a } else { b }),
    ("max", |a, b| if signed_less(a, b) { b } else { a }),
    ("minu", |a, b| if a < b { a } else { b }),
    ("maxu", |a, b| if a < b { b } else { a }),
    ("ror", |a, b| rotate_right(a, b % 64, 64)),
    ("rol", |a, b| rotate_right(a, 64 - b % 64, 64)),
    ("rorw", |a, b| sign_extend(rotate_right(a, b % 32, 32), 32)),
    ("rolw", |a, b| sign_extend(rotate_right(a, 32 - b % 32, 32), 32)),
    ("clmul", |a, b| bits(|i| product_coefficient(a, b, i))),
    ("clmulh", |a, b| bits(|i| product_coefficient(a, b, i + 64))),
    ("clmulr", |a, b| bits(|i| product_coefficient(a, b, i + 63))),
    ("bclr", |a, b| bits(|i| if i == b % 64 { 0 } else { bit(a, i) })),
    ("bext", |a, b| bit(a, b % 64)),
    ("binv", |a, b| bits(|i| if i == b % 64 { 1 - bit(a, i) } else { bit(a, i) })),
    ("bset", |a, b| bits(|i| if i == b % 64 { 1 } else { bit(a, i) })),
    ("pack", |a, b| bits(|i| if i < 32 { bit(a, i) } else { bit(b, i - 32) })),
    ("packh", |a, b| {
        bits(|i| {
            if i < 8 {
                bit(a, i)
            } else if i < 16 {
                bit(b, i - 8)
            } else {
                0
            }
        })
    }),
    ("packw", |a, b| sign_extend(bits(|i| if i < 16 { bit(a, i) } else { bit(b, i % 16) }), 32)),
    ("xperm4", |a, b| crossbar(a, b, 4)),
    ("xperm8", |a, b| crossbar(a, b, 8)),
    ("czero.eqz", |a, b| if b == 0 { 0 } else { a }),
    ("czero.nez", |a, b| if b == 0 { a } else { 0 }),
    ("mop.rr.N", |_, _| 0),
    ("mop.r.N", |_, _| 0),
];

/// The instructions with a shift amount in place of `rs2`, and what they do with it.
const IMMEDIATE: [(&str, u64, Binary); 7] = [
    ("slli.uw", 64, |a, s| bits(|i| if i >= s && i - s < 32 { bit(a, i - s) } else { 0 })),
    ("rori", 64, |a, s| rotate_right(a, s, 64)),
    ("roriw", 32, |a, s| sign_extend(rotate_right(a, s, 32), 32)),
    ("bclri", 64, |a, s| bits(|i| if i == s { 0 } else { bit(a, i) })),
    ("bexti", 64, bit),
    ("binvi", 64, |a, s| bits(|i| if i == s { 1 - bit(a, i) } else { bit(a, i) })),
    ("bseti", 64, |a, s| bits(|i| if i == s { 1 } else { bit(a, i) })),
];

fn crossbar(table: u64, indices: u64, width: u64) -> u64 {
    bits(|i| {
        let element = i / width * width;
        let index: u64 = (0..width).map(|j| bit(indices, element + j) << j).sum();
        let from = index * width + i % width;
        if from < 64 { bit(table, from) } else { 0 }
    })
}

#[test]
fn unary_instructions_match_their_definitions() {
    let mut h = hart();
    for (name, definition) in UNARY {
        for a in integers() {
            h.set_x(1, !0);
            h.set_x(2, a);
            run(&mut h, &inst(name)).unwrap();
            assert_eq!(h.x(1), definition(a), "{name} {a:#x}");
        }
    }
}

#[test]
fn binary_instructions_match_their_definitions() {
    let mut h = hart();
    let values = integers();
    for (name, definition) in BINARY {
        for &a in &values {
            for &b in &values {
                h.set_x(1, !0);
                h.set_x(2, a);
                h.set_x(3, b);
                run(&mut h, &inst(name)).unwrap();
                assert_eq!(h.x(1), definition(a, b), "{name} {a:#x}, {b:#x}");
            }
        }
    }
}

#[test]
fn immediate_instructions_match_their_definitions() {
    let mut h = hart();
    for (name, amounts, definition) in IMMEDIATE {
        for a in integers() {
            for shamt in 0..amounts {
                h.set_x(1, !0);
                h.set_x(2, a);
                run(&mut h, &Inst { imm: shamt as i32, ..inst(name) }).unwrap();
                assert_eq!(h.x(1), definition(a, shamt), "{name} {a:#x}, {shamt}");
            }
        }
    }
}

#[test]
fn zext_h_is_packw_of_x0() {
    let mut h = hart();
    h.set_x(2, 0xffff_ffff_ffff_8000);
    run(&mut h, &Inst { rs2: 0, ..inst("zext.h") }).unwrap();
    assert_eq!(h.x(1), 0x8000);
}

#[test]
fn x0_stays_zero() {
    let mut h = hart();
    h.set_x(2, !0);
    h.set_x(3, 0);
    for name in ["cpop", "orn", "sh1add", "czero.nez"] {
        run(&mut h, &Inst { rd: 0, ..inst(name) }).unwrap();
        assert_eq!(h.x(0), 0, "{name}");
    }
}

#[test]
fn compressed_may_be_operations_write_nothing() {
    let mut h = hart();
    for r in 1..32 {
        h.set_x(r, u64::from(r) << 40);
    }
    let before = *h.x_registers();
    for n in (1..16).step_by(2) {
        run(&mut h, &Inst { imm: n, ..Inst::new(Op::CMopN) }).unwrap();
    }
    assert_eq!(*h.x_registers(), before);
}

#[test]
fn the_tables_above_leave_no_instruction_out() {
    let tested: Vec<&str> = UNARY
        .iter()
        .map(|&(name, _)| name)
        .chain(BINARY.iter().map(|&(name, _)| name))
        .chain(IMMEDIATE.iter().map(|&(name, ..)| name))
        .collect();
    for op in Op::all().filter(|op| op.class() == Class::BitManip && op.base() == *op) {
        assert!(tested.contains(&op.name()), "{} has no definition here", op.name());
    }
}
