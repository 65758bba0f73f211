//! Floating-point instructions: values and flags worked out by hand from the manual's tables.

use super::support::{DATA, hart, inst, run};
use rvv_isa::Inst;
use rvvsim::fp::Flags;
use rvvsim::{Cause, Hart};

const NX: u8 = 1;
const UF: u8 = 2;
const OF: u8 = 4;
const DZ: u8 = 8;
const NV: u8 = 16;

const RNE: u8 = 0;
const RTZ: u8 = 1;
const RDN: u8 = 2;
const RUP: u8 = 3;
const RMM: u8 = 4;
const DYN: u8 = 7;

/// A single, a half as a register holds it.
const fn s(bits: u32) -> u64 {
    0xffff_ffff_0000_0000 | bits as u64
}
const fn h(bits: u16) -> u64 {
    0xffff_ffff_ffff_0000 | bits as u64
}

const S_ONE: u64 = s(0x3f80_0000);
const S_NAN: u64 = s(0x7fc0_0000);
const S_SNAN: u64 = s(0x7f80_0001);
const S_INF: u64 = s(0x7f80_0000);
const S_ZERO: u64 = s(0);
const S_MINUS_ZERO: u64 = s(0x8000_0000);
const D_NAN: u64 = 0x7ff8_0000_0000_0000;
const H_NAN: u64 = h(0x7e00);

/// Runs an instruction on floating-point registers and gives `rd` of the file it writes, with the flags
/// raised.
fn float(name: &str, rm: u8, operands: &[u64]) -> (u64, u8) {
    let mut hart = hart();
    for (r, &operand) in (2..).zip(operands) {
        hart.set_f(r, operand);
    }
    finish(&mut hart, &Inst { rm, ..inst(name) })
}

/// Runs an instruction that takes an integer register.
fn from_integer(name: &str, rm: u8, x: u64) -> (u64, u8) {
    let mut hart = hart();
    hart.set_x(2, x);
    finish(&mut hart, &Inst { rm, ..inst(name) })
}

const UNTOUCHED: u64 = 0x0bad_0bad_0bad_0bad;

fn finish(hart: &mut Hart, i: &Inst) -> (u64, u8) {
    hart.set_x(1, UNTOUCHED);
    hart.set_f(1, UNTOUCHED);
    run(hart, i).unwrap();
    let result = match (hart.x(1), hart.f(1)) {
        (x, UNTOUCHED) => x,
        (UNTOUCHED, f) => f,
        both => panic!("{}: wrote both files: {both:x?}", i.op.name()),
    };
    (result, hart.fflags().bits())
}

#[track_caller]
fn check(name: &str, rm: u8, operands: &[u64], expected: u64, flags: u8) {
    let (result, raised) = float(name, rm, operands);
    assert_eq!(
        (result, raised),
        (expected, flags),
        "{name} rm={rm} {operands:x?}: {result:#x} flags {raised:#x}, not {expected:#x} flags {flags:#x}"
    );
}

/// The same in the five rounding modes: RNE, RTZ, RDN, RUP, RMM.
#[track_caller]
fn check_modes(name: &str, operands: &[u64], expected: [u64; 5], flags: u8) {
    for (rm, expected) in (0..).zip(expected) {
        check(name, rm, operands, expected, flags);
    }
}

#[test]
fn arithmetic_rounds_as_the_mode_says() {
    // 1/3 is between 0x3eaaaaaa and 0x3eaaaaab, nearer the second.
    let [low, high] = [s(0x3eaa_aaaa), s(0x3eaa_aaab)];
    check_modes("fdiv.s", &[S_ONE, s(0x4040_0000)], [high, low, low, high, high], NX);
    // 1 + 2^-24 is a tie, and so is its negative.
    check_modes(
        "fadd.s",
        &[S_ONE, s(0x3380_0000)],
        [S_ONE, S_ONE, S_ONE, s(0x3f80_0001), s(0x3f80_0001)],
        NX,
    );
    let [small, large] = [s(0xbf80_0000), s(0xbf80_0001)];
    check_modes("fsub.s", &[s(0xbf80_0000), s(0x3380_0000)], [small, small, large, small, large], NX);
    // In half precision: 1 + 2^-11; in double: 1 + 2^-53.
    check_modes(
        "fadd.h",
        &[h(0x3c00), h(0x1000)],
        [h(0x3c00), h(0x3c00), h(0x3c00), h(0x3c01), h(0x3c01)],
        NX,
    );
    let (one, next) = (0x3ff0_0000_0000_0000, 0x3ff0_0000_0000_0001);
    check_modes("fadd.d", &[one, 0x3ca0_0000_0000_0000], [one, one, one, next, next], NX);
    // The square root of 2 is 0x1.6a09e667f3bcc908...
    let [low, high] = [0x3ff6_a09e_667f_3bcc, 0x3ff6_a09e_667f_3bcd];
    check_modes("fsqrt.d", &[0x4000_0000_0000_0000], [high, low, low, high, high], NX);
    // A difference of zero is -0 only when rounding down.
    check_modes("fsub.s", &[S_ONE, S_ONE], [S_ZERO, S_ZERO, S_MINUS_ZERO, S_ZERO, S_ZERO], 0);
}

#[test]
fn arithmetic_raises_each_flag() {
    check("fadd.s", RNE, &[S_ONE, S_ONE], s(0x4000_0000), 0);
    check("fmul.s", RNE, &[s(0x4040_0000), s(0xc000_0000)], s(0xc0c0_0000), 0);
    check("fdiv.s", RNE, &[s(0xbf80_0000), S_ZERO], s(0xff80_0000), DZ);
    check("fdiv.s", RNE, &[S_ZERO, S_ZERO], S_NAN, NV);
    check("fdiv.s", RNE, &[S_INF, S_ZERO], S_INF, 0);
    check("fsub.s", RNE, &[S_INF, S_INF], S_NAN, NV);
    check("fsqrt.s", RNE, &[s(0xbf80_0000)], S_NAN, NV);
    check("fsqrt.s", RNE, &[S_MINUS_ZERO], S_MINUS_ZERO, 0);
    // NaNs come out canonical; only signaling ones are invalid.
    check("fadd.s", RNE, &[s(0xffc1_2345), S_ONE], S_NAN, 0);
    check("fmul.d", RNE, &[0x7ff0_0000_0000_0001, 0], D_NAN, NV);
    check("fadd.h", RNE, &[h(0xfdff), h(0)], H_NAN, NV);
    let max = s(0x7f7f_ffff);
    check_modes("fadd.s", &[max, max], [S_INF, max, max, S_INF, S_INF], OF | NX);
    let minus_max = s(0xff7f_ffff);
    let minus_inf = s(0xff80_0000);
    check_modes(
        "fadd.s",
        &[minus_max, minus_max],
        [minus_inf, minus_max, minus_inf, minus_max, minus_inf],
        OF | NX,
    );
    // Half of the least subnormal.
    check_modes("fmul.s", &[s(1), s(0x3f00_0000)], [S_ZERO, S_ZERO, S_ZERO, s(1), s(1)], UF | NX);
    // An exact subnormal does not underflow.
    check("fmul.s", RNE, &[s(0x0080_0000), s(0x3f00_0000)], s(0x0040_0000), 0);
    // (1 - 2^-24) * 2^-126 rounds to the least normal number, and is tiny after rounding all the same: that
    // rounding is to 24 bits with an unbounded exponent, which hold it exactly.
    check("fmul.s", RNE, &[s(0x3f7f_ffff), s(0x0080_0000)], s(0x0080_0000), UF | NX);
}

#[test]
fn fused_multiply_adds_negate_and_round_once() {
    let (two, three) = (s(0x4000_0000), s(0x4040_0000));
    check("fmadd.s", RNE, &[two, three, S_ONE], s(0x40e0_0000), 0);
    check("fmsub.s", RNE, &[two, three, S_ONE], s(0x40a0_0000), 0);
    check("fnmsub.s", RNE, &[two, three, S_ONE], s(0xc0a0_0000), 0);
    check("fnmadd.s", RNE, &[two, three, S_ONE], s(0xc0e0_0000), 0);
    // The product is negated, not the sum: -(1 * 1) - (-1) is +0.
    check("fnmadd.s", RNE, &[S_ONE, S_ONE, s(0xbf80_0000)], S_ZERO, 0);
    check("fnmsub.s", RNE, &[S_ONE, S_ONE, S_ONE], S_ZERO, 0);
    // (1 + 2^-23)(1 - 2^-23) - 1 = -2^-46, exactly.
    check("fmadd.s", RNE, &[s(0x3f80_0001), s(0x3f7f_fffe), s(0xbf80_0000)], s(0xa880_0000), 0);
    // Infinity times zero is invalid even if the addend is a quiet NaN (norm:fma_nv_flag).
    for name in ["fmadd.s", "fmsub.s", "fnmadd.s", "fnmsub.s"] {
        check(name, RNE, &[S_INF, S_ZERO, S_NAN], S_NAN, NV);
    }
    // 2 * 3 + 1 in the other formats.
    check("fmadd.h", RNE, &[h(0x4000), h(0x4200), h(0x3c00)], h(0x4700), 0);
    let d = [0x4000_0000_0000_0000, 0x4008_0000_0000_0000, 0x3ff0_0000_0000_0000];
    check("fmadd.d", RNE, &d, 0x401c_0000_0000_0000, 0);
}

#[test]
fn minimum_and_maximum_treat_zeroes_and_nans() {
    let (minus, plus) = (S_MINUS_ZERO, S_ZERO);
    for operands in [[minus, plus], [plus, minus]] {
        check("fmin.s", RNE, &operands, minus, 0);
        check("fmax.s", RNE, &operands, plus, 0);
        check("fminm.s", RNE, &operands, minus, 0);
        check("fmaxm.s", RNE, &operands, plus, 0);
    }
    for name in ["fmin.s", "fmax.s"] {
        check(name, RNE, &[s(0x7fc1_2345), S_ONE], S_ONE, 0);
        check(name, RNE, &[S_ONE, S_SNAN], S_ONE, NV);
        check(name, RNE, &[s(0xffff_ffff), s(0x7fc1_2345)], S_NAN, 0);
    }
    for name in ["fminm.s", "fmaxm.s"] {
        check(name, RNE, &[s(0x7fc1_2345), S_ONE], S_NAN, 0);
        check(name, RNE, &[S_ONE, S_SNAN], S_NAN, NV);
    }
    check("fmin.d", RNE, &[0xc000_0000_0000_0000, 0xc008_0000_0000_0000], 0xc008_0000_0000_0000, 0);
    check("fmax.h", RNE, &[h(0xc000), h(0xc200)], h(0xc000), 0);
}

#[test]
fn comparisons_are_quiet_or_signaling() {
    let two = s(0x4000_0000);
    for (name, results) in [
        ("feq.s", [0, 1, 0]),
        ("flt.s", [1, 0, 0]),
        ("fle.s", [1, 1, 0]),
        ("fltq.s", [1, 0, 0]),
        ("fleq.s", [1, 1, 0]),
    ] {
        let [less, equal, greater] = results;
        check(name, RNE, &[S_ONE, two], less, 0);
        check(name, RNE, &[S_MINUS_ZERO, S_ZERO], equal, 0);
        check(name, RNE, &[two, S_ONE], greater, 0);
        let quiet = if matches!(name, "flt.s" | "fle.s") { NV } else { 0 };
        for operands in [[S_NAN, S_ONE], [S_ONE, S_NAN], [S_NAN, S_NAN]] {
            check(name, RNE, &operands, 0, quiet);
        }
        check(name, RNE, &[S_ONE, S_SNAN], 0, NV);
    }
    check("flt.d", RNE, &[0xfff0_0000_0000_0000, 0x7ff0_0000_0000_0000], 1, 0);
    check("fle.h", RNE, &[h(0xbc00), h(0xbc00)], 1, 0);
}

#[test]
fn classification_has_ten_classes() {
    // From bit 0: -inf, negative normal, negative subnormal, -0, +0, ..., signaling NaN, quiet NaN.
    let singles: [u32; 10] = [
        0xff80_0000,
        0x8080_0000,
        0x807f_ffff,
        0x8000_0000,
        0,
        1,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0001,
        0x7fc0_0000,
    ];
    let halves: [u16; 10] = [0xfc00, 0x8400, 0x83ff, 0x8000, 0, 1, 0x7bff, 0x7c00, 0xfc01, 0x7e00];
    let doubles: [u64; 10] = [
        0xfff0_0000_0000_0000,
        0x8010_0000_0000_0000,
        0x800f_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0,
        1,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0001,
        0x7ff8_0000_0000_0000,
    ];
    for class in 0..10 {
        check("fclass.s", RNE, &[s(singles[class])], 1 << class, 0);
        check("fclass.h", RNE, &[h(halves[class])], 1 << class, 0);
        check("fclass.d", RNE, &[doubles[class]], 1 << class, 0);
    }
}

#[test]
fn sign_injection_keeps_nan_payloads() {
    let (nan, minus) = (s(0x7f81_2345), s(0x8000_0000));
    check("fsgnj.s", RNE, &[nan, minus], s(0xff81_2345), 0);
    check("fsgnjn.s", RNE, &[nan, minus], nan, 0);
    check("fsgnjx.s", RNE, &[s(0xff81_2345), minus], nan, 0);
    check("fsgnjx.s", RNE, &[nan, nan], nan, 0);
    check("fsgnjn.h", RNE, &[h(0x3c00), h(0x3c00)], h(0xbc00), 0);
    check("fsgnj.d", RNE, &[0x3ff0_0000_0000_0000, 1 << 63], 0xbff0_0000_0000_0000, 0);
}

#[test]
fn an_operand_that_is_not_boxed_is_the_canonical_nan() {
    let loose = 0x3f80_0000; // 1.0f, with zeroes above.
    let almost = 0xffff_fffe_3f80_0000;
    for bad in [loose, almost, 0x3ff0_0000_0000_0000] {
        for operands in [[bad, S_ONE], [S_ONE, bad]] {
            check("fadd.s", RNE, &operands, S_NAN, 0);
            check("fmin.s", RNE, &operands, S_ONE, 0);
            check("feq.s", RNE, &operands, 0, 0);
            check("flt.s", RNE, &operands, 0, NV);
        }
        check("fmadd.s", RNE, &[S_ONE, S_ONE, bad], S_NAN, 0);
        check("fsqrt.s", RNE, &[bad], S_NAN, 0);
        check("fclass.s", RNE, &[bad], 1 << 9, 0);
        check("fsgnj.s", RNE, &[bad, S_MINUS_ZERO], s(0xffc0_0000), 0);
        check("fsgnj.s", RNE, &[s(0xbf80_0000), bad], S_ONE, 0);
        check("fcvt.w.s", RNE, &[bad], 0x7fff_ffff, NV);
        check("fcvt.d.s", RNE, &[bad], D_NAN, 0);
        check("fround.s", RNE, &[bad], S_NAN, 0);
        check("fcvt.bf16.s", RNE, &[bad], h(0x7fc0), 0);
    }
    // A half must be boxed all the way up, not just in its word.
    for bad in [0x3c00, 0xffff_3c00, 0xffff_ffff_fffe_3c00, 0x7fff_ffff_ffff_3c00] {
        check("fadd.h", RNE, &[bad, h(0x3c00)], H_NAN, 0);
        check("fcvt.s.h", RNE, &[bad], S_NAN, 0);
        check("fcvt.d.h", RNE, &[bad], D_NAN, 0);
        check("fcvt.s.bf16", RNE, &[bad], S_NAN, 0);
        check("fclass.h", RNE, &[bad], 1 << 9, 0);
    }
    // Moves and stores look at bits, not at values.
    check("fmv.x.w", RNE, &[0x1234_5678_8765_4321], 0xffff_ffff_8765_4321, 0);
    check("fmv.x.h", RNE, &[0x1234_5678_8765_4321], 0x4321, 0);
    check("fmv.x.h", RNE, &[0x1234_5678_8765_8321], 0xffff_ffff_ffff_8321, 0);
    check("fmv.x.d", RNE, &[0x1234_5678_8765_4321], 0x1234_5678_8765_4321, 0);
}

#[test]
fn moves_to_floating_point_registers_box() {
    assert_eq!(from_integer("fmv.w.x", RNE, 0x1234_5678_7f80_0001), (S_SNAN, 0));
    assert_eq!(from_integer("fmv.h.x", RNE, 0x1234_5678_7f80_7c01), (h(0x7c01), 0));
    assert_eq!(from_integer("fmv.d.x", RNE, 0x1234_5678_7f80_7c01), (0x1234_5678_7f80_7c01, 0));
}

#[test]
fn half_loads_box_and_half_stores_take_the_low_bits() {
    let mut hart = hart();
    hart.store(DATA + 8, 0xfc01u16).unwrap();
    hart.set_x(2, DATA + 10);
    run(&mut hart, &Inst { imm: -2, ..inst("flh") }).unwrap();
    assert_eq!(hart.f(1), h(0xfc01));
    assert!(hart.is_fs_dirty());
    hart.set_f(3, 0x1111_2222_3333_4444);
    hart.set_fs_dirty(false);
    run(&mut hart, &Inst { imm: 6, ..inst("fsh") }).unwrap();
    assert_eq!(hart.load::<u64>(DATA + 16).unwrap(), 0x4444);
    assert!(!hart.is_fs_dirty());
}

#[test]
fn reserved_rounding_modes_are_illegal() {
    let with_rm = [
        "fadd.s",
        "fsub.d",
        "fmul.h",
        "fdiv.s",
        "fsqrt.d",
        "fmadd.s",
        "fmsub.d",
        "fnmadd.h",
        "fnmsub.s",
        "fcvt.w.s",
        "fcvt.lu.d",
        "fcvt.s.w",
        "fcvt.s.d",
        "fround.s",
        "froundnx.d",
        "fcvt.bf16.s",
        // These never round and ask all the same.
        "fcvt.d.s",
        "fcvt.d.w",
        "fcvt.d.h",
        "fcvt.s.h",
        "fcvt.s.bf16",
    ];
    let mut hart = hart();
    hart.set_fflags(Flags::NONE);
    for name in with_rm {
        for (rm, frm) in [(5, 0), (6, 0), (DYN, 5), (DYN, 6), (DYN, 7)] {
            hart.set_frm(frm);
            hart.set_f(1, UNTOUCHED);
            hart.set_x(1, UNTOUCHED);
            hart.set_fs_dirty(false);
            let trap = run(&mut hart, &Inst { rm, raw: 0x1234, ..inst(name) }).unwrap_err();
            assert_eq!((trap.cause, trap.tval), (Cause::IllegalInstruction, 0x1234), "{name}");
            assert!(trap.why.contains("reserved"), "{name}: {}", trap.why);
            assert_eq!((hart.f(1), hart.x(1), hart.is_fs_dirty()), (UNTOUCHED, UNTOUCHED, false), "{name}");
        }
    }
    // Those without a mode do not care.
    hart.set_frm(7);
    for name in ["fmin.s", "fsgnj.d", "feq.h", "fclass.s", "fmv.x.w", "fcvtmod.w.d", "fli.s"] {
        run(&mut hart, &inst(name)).unwrap();
    }
}

#[test]
fn the_dynamic_mode_is_frm_and_a_static_mode_ignores_it() {
    let mut hart = hart();
    hart.set_f(2, S_ONE);
    hart.set_f(3, s(0x4040_0000));
    for (rm, frm, expected) in
        [(DYN, RUP, 0x3eaa_aaab), (DYN, RDN, 0x3eaa_aaaa), (RTZ, RUP, 0x3eaa_aaaa), (RMM, 7, 0x3eaa_aaab)]
    {
        hart.set_frm(frm);
        run(&mut hart, &Inst { rm, ..inst("fdiv.s") }).unwrap();
        assert_eq!(hart.f(1), s(expected), "rm {rm} frm {frm}");
    }
}

#[test]
fn flags_accrue() {
    let mut hart = hart();
    hart.set_fflags(Flags(DZ));
    hart.set_f(2, S_ONE);
    hart.set_f(3, s(0x4040_0000));
    run(&mut hart, &inst("fdiv.s")).unwrap();
    assert_eq!(hart.fflags(), Flags(DZ | NX));
    hart.set_f(3, S_ONE);
    run(&mut hart, &inst("fdiv.s")).unwrap();
    assert_eq!(hart.fflags(), Flags(DZ | NX));
}

/// As Spike has it: `FS` is dirty once a floating-point register is written or a flag raised, set before or
/// not.
#[test]
fn fs_becomes_dirty_when_floating_point_state_is_written() {
    for (name, operands, dirty) in [
        ("fadd.s", [S_ONE, S_ONE], true),
        ("fsgnj.s", [S_ONE, S_ONE], true),
        ("fli.s", [S_ONE, S_ONE], true),
        ("fmv.w.x", [S_ONE, S_ONE], true),
        ("fcvt.s.w", [S_ONE, S_ONE], true),
        ("feq.s", [S_ONE, S_ONE], false),
        ("feq.s", [S_SNAN, S_ONE], true),
        ("fltq.s", [S_NAN, S_ONE], false),
        ("fcvt.w.s", [S_ONE, S_ONE], false),
        ("fcvt.w.s", [s(0x3fc0_0000), S_ONE], true),
        ("fclass.s", [S_SNAN, S_ONE], false),
        ("fmv.x.w", [S_SNAN, S_ONE], false),
    ] {
        for before in [Flags::NONE, Flags(31)] {
            let mut hart = hart();
            hart.set_fflags(before);
            hart.set_f(2, operands[0]);
            hart.set_f(3, operands[1]);
            hart.set_fs_dirty(false);
            run(&mut hart, &inst(name)).unwrap();
            assert_eq!(hart.is_fs_dirty(), dirty, "{name} {operands:x?}");
        }
    }
}

#[test]
fn the_log_shows_fflags_when_an_instruction_raises_some() {
    let mut hart = hart();
    hart.set_fflags(Flags(NX | DZ));
    hart.start_log();
    let mut logged = |name: &str, operands: [u64; 2]| {
        hart.set_f(2, operands[0]);
        hart.set_f(3, operands[1]);
        run(&mut hart, &inst(name)).unwrap();
        assert!(hart.fflags().contains(Flags(NX | DZ)));
        hart.take_log().csrs
    };
    assert_eq!(logged("fadd.s", [S_ONE, S_ONE]), []);
    assert_eq!(logged("fdiv.s", [S_ONE, s(0x4040_0000)]), [(1, u64::from(NX | DZ))]);
    assert_eq!(logged("feq.s", [S_ONE, S_ONE]), []);
    assert_eq!(logged("flt.s", [S_ONE, S_NAN]), [(1, u64::from(NX | DZ | NV))]);
}
