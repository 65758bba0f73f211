//! Conversions and Zfa's additions: values and flags worked out by hand from the manual's tables.

use super::support::{hart, inst, run};
use rvv_isa::Inst;

const NX: u8 = 1;
const UF: u8 = 2;
const OF: u8 = 4;
const NV: u8 = 16;

const RNE: u8 = 0;
const RTZ: u8 = 1;
const RDN: u8 = 2;
const RUP: u8 = 3;
const RMM: u8 = 4;

/// A single, a half as a register holds it.
const fn s(bits: u32) -> u64 {
    0xffff_ffff_0000_0000 | bits as u64
}
const fn h(bits: u16) -> u64 {
    0xffff_ffff_ffff_0000 | bits as u64
}

/// Runs an instruction with `operand` in both register files; `rd` of the file that the name says, and flags.
#[track_caller]
fn check(name: &str, rm: u8, operand: u64, expected: u64, flags: u8) {
    let mut hart = hart();
    hart.set_x(2, operand);
    hart.set_f(2, operand);
    run(&mut hart, &Inst { rm, ..inst(name) }).unwrap();
    let to_x = ["fcvt.w", "fcvt.l", "fcvtmod"].iter().any(|stem| name.starts_with(stem));
    let result = if to_x { hart.x(1) } else { hart.f(1) };
    let raised = hart.fflags().bits();
    assert_eq!(
        (result, raised),
        (expected, flags),
        "{name} rm={rm} {operand:#x}: {result:#x} flags {raised:#x}, not {expected:#x} flags {flags:#x}"
    );
}

/// `W`, `WU`, `L`, `LU`: the ends of their ranges as registers hold them ("sign-extend the 32-bit result").
const INTEGERS: [(&str, u64, u64); 4] = [
    ("w", 0xffff_ffff_8000_0000, 0x7fff_ffff),
    ("wu", 0, 0xffff_ffff_ffff_ffff),
    ("l", 0x8000_0000_0000_0000, 0x7fff_ffff_ffff_ffff),
    ("lu", 0, 0xffff_ffff_ffff_ffff),
];

/// Table "Domains of float-to-integer conversions and behavior for invalid inputs".
#[test]
fn conversions_to_integers_saturate() {
    // +inf, -inf, quiet NaN, negative quiet NaN, signaling NaN.
    let specials = [
        ("s", [s(0x7f80_0000), s(0xff80_0000), s(0x7fc0_0000), s(0xffc0_0000), s(0x7f80_0001)]),
        ("h", [h(0x7c00), h(0xfc00), h(0x7e00), h(0xfe00), h(0x7c01)]),
        ("d", [0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8 << 48, (0x7ff << 52) + 1]),
    ];
    for (format, specials) in specials {
        for (integer, least, greatest) in INTEGERS {
            let name = format!("fcvt.{integer}.{format}");
            let expected = [greatest, least, greatest, greatest, greatest];
            for rm in RNE..=RMM {
                for (operand, expected) in specials.into_iter().zip(expected) {
                    check(&name, rm, operand, expected, NV);
                }
            }
        }
    }
    // +-2^100 in the formats that have it.
    for (integer, least, greatest) in INTEGERS {
        check(&format!("fcvt.{integer}.s"), RNE, s(0x7180_0000), greatest, NV);
        check(&format!("fcvt.{integer}.s"), RNE, s(0xf180_0000), least, NV);
        check(&format!("fcvt.{integer}.d"), RNE, 0x4630 << 48, greatest, NV);
        check(&format!("fcvt.{integer}.d"), RNE, 0xc630 << 48, least, NV);
    }
}

#[test]
fn the_ends_of_the_ranges_are_exact() {
    // -2^31, 2^31 - 1 and their neighbours.
    check("fcvt.w.d", RNE, 0xc1e0_0000_0000_0000, 0xffff_ffff_8000_0000, 0);
    check("fcvt.w.d", RNE, 0x41df_ffff_ffc0_0000, 0x7fff_ffff, 0);
    check("fcvt.w.d", RNE, 0x41e0_0000_0000_0000, 0x7fff_ffff, NV);
    check("fcvt.w.d", RNE, 0xc1e0_0000_0020_0000, 0xffff_ffff_8000_0000, NV);
    // 2^31 - 0.5 is in range only if rounded down.
    for (rm, flags) in [(RNE, NV), (RTZ, NX), (RDN, NX), (RUP, NV), (RMM, NV)] {
        check("fcvt.w.d", rm, 0x41df_ffff_ffe0_0000, 0x7fff_ffff, flags);
    }
    // 3 * 10^9 is negative as a word.
    check("fcvt.wu.s", RNE, s(0x4f32_d05e), 0xffff_ffff_b2d0_5e00, 0);
    check("fcvt.w.s", RNE, s(0x4f32_d05e), 0x7fff_ffff, NV);
    check("fcvt.l.s", RNE, s(0x4f32_d05e), 0xb2d0_5e00, 0);
    // -2^63, 2^63, 2^64 - 2^40.
    check("fcvt.l.s", RNE, s(0xdf00_0000), 0x8000_0000_0000_0000, 0);
    check("fcvt.l.s", RNE, s(0x5f00_0000), 0x7fff_ffff_ffff_ffff, NV);
    check("fcvt.lu.s", RNE, s(0x5f00_0000), 0x8000_0000_0000_0000, 0);
    check("fcvt.lu.s", RNE, s(0x5f7f_ffff), 0xffff_ff00_0000_0000, 0);
    check("fcvt.lu.h", RNE, h(0x7bff), 65504, 0);
    // Between -1 and 0 an unsigned conversion is inexact, unless it rounds to -1.
    for (rm, flags) in [(RNE, NX), (RTZ, NX), (RDN, NV), (RUP, NX), (RMM, NV)] {
        check("fcvt.wu.s", rm, s(0xbf00_0000), 0, flags);
        check("fcvt.lu.h", rm, h(0xb800), 0, flags);
    }
    check("fcvt.wu.s", RNE, s(0xbf80_0000), 0, NV);
    // Ties: 2.5 and -2.5.
    for (rm, plus, minus) in [(RNE, 2, -2), (RTZ, 2, -2), (RDN, 2, -3), (RUP, 3, -2i64), (RMM, 3, -3)] {
        check("fcvt.w.s", rm, s(0x4020_0000), plus, NX);
        check("fcvt.l.d", rm, 0xc004_0000_0000_0000, minus as u64, NX);
    }
}

#[test]
fn conversions_from_integers_look_at_their_width() {
    check("fcvt.s.w", RNE, 0x0000_0001_ffff_ffff, s(0xbf80_0000), 0);
    check("fcvt.s.wu", RNE, 0xffff_ffff_0000_0001, s(0x3f80_0000), 0);
    check("fcvt.d.wu", RNE, 0xffff_ffff_ffff_ffff, 0x41ef_ffff_ffe0_0000, 0);
    check("fcvt.d.w", RNE, 0x8000_0000, 0xc1e0_0000_0000_0000, 0);
    check("fcvt.d.l", RNE, 1 << 63, 0xc3e0_0000_0000_0000, 0);
    check("fcvt.d.lu", RNE, 1 << 63, 0x43e0_0000_0000_0000, 0);
    check("fcvt.s.w", RNE, 0, s(0), 0);
    check("fcvt.s.w", RDN, 0, s(0), 0);
    // 2^31 - 1 and 2^64 - 1 do not fit 24 bits.
    for (rm, single) in [(RNE, 0x4f00_0000), (RTZ, 0x4eff_ffff), (RDN, 0x4eff_ffff), (RUP, 0x4f00_0000)] {
        check("fcvt.s.w", rm, 0x7fff_ffff, s(single), NX);
    }
    check("fcvt.s.lu", RNE, u64::MAX, s(0x5f80_0000), NX);
    check("fcvt.s.lu", RTZ, u64::MAX, s(0x5f7f_ffff), NX);
    // 65520 is halfway between the greatest half and the next power of two.
    check("fcvt.h.w", RNE, 65520, h(0x7c00), OF | NX);
    check("fcvt.h.w", RTZ, 65520, h(0x7bff), NX);
    check("fcvt.h.l", RNE, 65519, h(0x7bff), NX);
    check("fcvt.h.lu", RTZ, u64::MAX, h(0x7bff), OF | NX);
    check("fcvt.h.wu", RNE, 0xffff_ffff, h(0x7c00), OF | NX);
}

#[test]
fn conversions_between_formats() {
    // Widening is exact, subnormals included.
    check("fcvt.d.s", RNE, s(1), 0x36a0_0000_0000_0000, 0);
    check("fcvt.s.h", RNE, h(0x8001), s(0xb380_0000), 0);
    check("fcvt.d.h", RNE, h(0x7bff), 0x40ef_fc00_0000_0000, 0);
    // Narrowing overflows, underflows, rounds.
    check("fcvt.s.d", RNE, 0x7e37_e43c_8800_759c, s(0x7f80_0000), OF | NX);
    check("fcvt.s.d", RTZ, 0x7e37_e43c_8800_759c, s(0x7f7f_ffff), OF | NX);
    check("fcvt.s.d", RNE, 0x3ff0_0000_1000_0000, s(0x3f80_0000), NX);
    check("fcvt.s.d", RUP, 0x3ff0_0000_1000_0000, s(0x3f80_0001), NX);
    check("fcvt.s.d", RNE, 1, s(0), UF | NX);
    check("fcvt.h.s", RNE, s(0x477f_f000), h(0x7c00), OF | NX);
    check("fcvt.h.s", RNE, s(0x477f_efff), h(0x7bff), NX);
    check("fcvt.h.d", RNE, 0x3e70_0000_0000_0000, h(0x0001), 0);
    check("fcvt.h.d", RNE, 0x3e60_0000_0000_0000, h(0x0000), UF | NX);
    check("fcvt.h.d", RUP, 0x3e60_0000_0000_0000, h(0x0001), UF | NX);
    // NaNs become the canonical one; infinities and zeroes keep their sign.
    check("fcvt.s.d", RNE, 0xfff0_0000_0000_0001, s(0x7fc0_0000), NV);
    check("fcvt.d.s", RNE, s(0xffc1_2345), 0x7ff8 << 48, 0);
    check("fcvt.d.s", RNE, s(0x7f80_0001), 0x7ff8 << 48, NV);
    check("fcvt.h.s", RNE, s(0xff80_0001), h(0x7e00), NV);
    check("fcvt.s.h", RNE, h(0xfdff), s(0x7fc0_0000), NV);
    check("fcvt.h.s", RNE, s(0xff80_0000), h(0xfc00), 0);
    check("fcvt.s.d", RNE, 1 << 63, s(0x8000_0000), 0);
}

#[test]
fn bf16_is_the_upper_half_of_a_single() {
    check("fcvt.s.bf16", RNE, h(0x3f81), s(0x3f81_0000), 0);
    check("fcvt.s.bf16", RNE, h(0x8001), s(0x8001_0000), 0);
    check("fcvt.s.bf16", RNE, h(0xff80), s(0xff80_0000), 0);
    check("fcvt.s.bf16", RNE, h(0x7f81), s(0x7fc0_0000), NV);
    check("fcvt.s.bf16", RNE, h(0xffc1), s(0x7fc0_0000), 0);
    // 1 + 2^-8 is a tie.
    for (rm, expected) in [(RNE, 0x3f80), (RTZ, 0x3f80), (RDN, 0x3f80), (RUP, 0x3f81), (RMM, 0x3f81)] {
        check("fcvt.bf16.s", rm, s(0x3f80_8000), h(expected), NX);
    }
    check("fcvt.bf16.s", RNE, s(0x3f81_8000), h(0x3f82), NX);
    check("fcvt.bf16.s", RNE, s(0x7f7f_ffff), h(0x7f80), OF | NX);
    check("fcvt.bf16.s", RTZ, s(0x7f7f_ffff), h(0x7f7f), NX);
    check("fcvt.bf16.s", RNE, s(0x0000_8000), h(0), UF | NX);
    check("fcvt.bf16.s", RNE, s(0x7f80_0001), h(0x7fc0), NV);
}

/// Table "Immediate values loaded by the fli.s instruction": exponent and the two top bits of the
/// significand.
const FLI: [(u32, u32); 32] = [
    (0b0111_1111, 0),
    (0b0000_0001, 0),
    (0b0110_1111, 0),
    (0b0111_0000, 0),
    (0b0111_0111, 0),
    (0b0111_1000, 0),
    (0b0111_1011, 0),
    (0b0111_1100, 0),
    (0b0111_1101, 0b00),
    (0b0111_1101, 0b01),
    (0b0111_1101, 0b10),
    (0b0111_1101, 0b11),
    (0b0111_1110, 0b00),
    (0b0111_1110, 0b01),
    (0b0111_1110, 0b10),
    (0b0111_1110, 0b11),
    (0b0111_1111, 0b00),
    (0b0111_1111, 0b01),
    (0b0111_1111, 0b10),
    (0b0111_1111, 0b11),
    (0b1000_0000, 0b00),
    (0b1000_0000, 0b01),
    (0b1000_0000, 0b10),
    (0b1000_0001, 0),
    (0b1000_0010, 0),
    (0b1000_0011, 0),
    (0b1000_0110, 0),
    (0b1000_0111, 0),
    (0b1000_1110, 0),
    (0b1000_1111, 0),
    (0b1111_1111, 0b00),
    (0b1111_1111, 0b10),
];

fn fli(name: &str, index: u8) -> u64 {
    let mut hart = hart();
    run(&mut hart, &Inst { rs1: index, ..inst(name) }).unwrap();
    assert_eq!(hart.fflags().bits(), 0);
    hart.f(1)
}

#[test]
fn fli_loads_the_constants_of_the_table() {
    for (index, (exponent, significand)) in (0u8..).zip(FLI) {
        let sign = u32::from(index == 0) << 31;
        assert_eq!(fli("fli.s", index), s(sign | exponent << 23 | significand << 21), "fli.s {index}");
        // The other formats have the same values, but for the least normal number, infinity and NaN.
        let unbiased = u64::from(exponent).wrapping_sub(127);
        let double = match index {
            1 => 1 << 52,
            30 => 0x7ff << 52,
            31 => 0x7ff8 << 48,
            _ => u64::from(sign) << 32 | unbiased.wrapping_add(1023) << 52 | u64::from(significand) << 50,
        };
        assert_eq!(fli("fli.d", index), double, "fli.d {index}");
        let half = match index {
            1 => 0x0400,
            2 => 0x0100, // 2^-16, subnormal
            3 => 0x0200, // 2^-15, subnormal
            29 | 30 => 0x7c00,
            31 => 0x7e00,
            _ => (sign >> 16) as u16 | (unbiased.wrapping_add(15) << 10) as u16 | (significand << 8) as u16,
        };
        assert_eq!(fli("fli.h", index), h(half), "fli.h {index}");
    }
}

#[test]
fn fround_rounds_and_only_froundnx_says_so() {
    // 2.5, -2.5, -0.3, 1.5 in half precision.
    for (rm, a, b, c, d) in [
        (RNE, 0x4000_0000, 0xc000_0000, 0x8000_0000, 0x4000),
        (RTZ, 0x4000_0000, 0xc000_0000, 0x8000_0000, 0x3c00),
        (RDN, 0x4000_0000, 0xc040_0000, 0xbf80_0000, 0x3c00),
        (RUP, 0x4040_0000, 0xc000_0000, 0x8000_0000, 0x4000),
        (RMM, 0x4040_0000, 0xc040_0000, 0x8000_0000, 0x4000),
    ] {
        for (stem, flags) in [("fround", 0), ("froundnx", NX)] {
            let name = format!("{stem}.s");
            check(&name, rm, s(0x4020_0000), s(a), flags);
            check(&name, rm, s(0xc020_0000), s(b), flags);
            check(&name, rm, s(0xbe99_999a), s(c), flags);
            check(&format!("{stem}.h"), rm, h(0x3e00), h(d), flags);
        }
    }
    for stem in ["fround", "froundnx"] {
        for copied in [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x4b80_0001, 0x3f80_0000] {
            check(&format!("{stem}.s"), RNE, s(copied), s(copied), 0);
        }
        check(&format!("{stem}.s"), RNE, s(0xffc1_2345), s(0x7fc0_0000), 0);
        check(&format!("{stem}.d"), RNE, 0x7ff0_0000_0000_0001, 0x7ff8 << 48, NV);
        // 2^52 - 0.5 rounds up to 2^52.
        let flags = if stem == "fround" { 0 } else { NX };
        check(&format!("{stem}.d"), RNE, 0x432f_ffff_ffff_ffff, 0x4330_0000_0000_0000, flags);
    }
}

#[test]
fn fcvtmod_wraps_and_raises_what_fcvt_would() {
    let d = f64::to_bits;
    let cases: [(u64, u64, u8); 13] = [
        (d(5.0), 5, 0),
        (d(-1.5), u64::MAX, NX),
        (d(0.75), 0, NX),
        (d(2147483648.0), 0xffff_ffff_8000_0000, NV),
        (d(-2147483648.0), 0xffff_ffff_8000_0000, 0),
        (d(-2147483649.0), 0x7fff_ffff, NV),
        (d(4294967301.5), 5, NV),
        // 2^40 + 2^31 + 3 and its negative
        (d(1101659111427.0), 0xffff_ffff_8000_0003, NV),
        (d(-1101659111427.0), 0x7fff_fffd, NV),
        // 3 * 2^52, and (2^52 + 1) * 2^32
        (0x4348_0000_0000_0000, 0, NV),
        (0x4530_0000_0000_0001, 0, NV),
        (0x7ff0_0000_0000_0000, 0, NV),
        (0x7ff8_0000_0000_0000, 0, NV),
    ];
    for (operand, expected, flags) in cases {
        check("fcvtmod.w.d", RTZ, operand, expected, flags);
    }
    // (2^52 + 1) * 2^31: the last bit of the significand lands on bit 31.
    check("fcvtmod.w.d", RTZ, 0x4520_0000_0000_0001, 0xffff_ffff_8000_0000, NV);
}
