//! Conversions between floating point and integers, and between widths; bf16.

use super::forms::{SCALAR, VD, VS1, VS2};
use super::harness::*;
use rvv_isa::Lmul;

const NX: u8 = 1;
const NV: u8 = 16;

fn f32s(values: &[f32]) -> Vec<u64> {
    values.iter().map(|x| u64::from(x.to_bits())).collect()
}

/// Converts, from `from` bits to `to` bits.
fn convert(lab: &mut Lab, name: &str, from: u32, to: u32, values: &[u64]) -> (Vec<u64>, u8) {
    lab.vl(values.len() as u64).puts(VS2, from, values);
    lab.hart.set_fflags(Default::default());
    lab.ok(ins(name).vd(VD).vs2(VS2));
    (lab.gets(VD, to, values.len()), lab.hart.fflags().bits())
}

#[test]
fn conversions_to_integers_round_by_frm_and_rtz_does_not() {
    let values = f32s(&[2.5, -2.5, 3.5, 0.75]);
    let want = [[2, -2, 4, 1], [2, -2, 3, 0], [2, -3, 3, 0], [3, -2, 4, 1], [3, -3, 4, 1]];
    for (frm, want) in want.iter().enumerate() {
        let mut lab = Lab::new(128);
        lab.set(32, Lmul::M1);
        lab.hart.set_frm(frm as u8);
        let signed = |want: &[i64]| want.iter().map(|&x| low(x as u64, 32)).collect::<Vec<u64>>();
        assert_eq!(convert(&mut lab, "vfcvt.x.f.v", 32, 32, &values), (signed(want), NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfcvt.rtz.x.f.v", 32, 32, &values), (signed(&[2, -2, 3, 0]), NX));
        // Into twice the width, and from it.
        lab.set(32, Lmul::M1);
        let wide: Vec<u64> = want.iter().map(|&x| x as u64).collect();
        assert_eq!(convert(&mut lab, "vfwcvt.x.f.v", 32, 64, &values), (wide, NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfwcvt.rtz.x.f.v", 32, 64, &values).0, [2, -2i64 as u64, 3, 0]);
        lab.set(16, Lmul::M1);
        let narrow: Vec<u64> = want.iter().map(|&x| low(x as u64, 16)).collect();
        assert_eq!(convert(&mut lab, "vfncvt.x.f.w", 32, 16, &values), (narrow, NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfncvt.rtz.x.f.w", 32, 16, &values).0, [2, 0xfffe, 3, 0]);
    }
}

#[test]
fn conversions_out_of_range_saturate_and_are_invalid_as_scalars_are() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1);
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    for (x, signed, unsigned, flags_signed, flags_unsigned) in [
        (infinity, i32::MAX, u32::MAX, NV, NV),
        (-infinity, i32::MIN, 0, NV, NV),
        (nan, i32::MAX, u32::MAX, NV, NV),
        (-nan, i32::MAX, u32::MAX, NV, NV),
        (2147483648.0, i32::MAX, 1 << 31, NV, 0),
        (-2147483648.0, i32::MIN, 0, 0, NV),
        (4294967296.0, i32::MAX, u32::MAX, NV, NV),
        (-1.0, -1, 0, 0, NV),
        (-0.25, 0, 0, NX, NX),
        (-0.0, 0, 0, 0, 0),
        (7.0, 7, 7, 0, 0),
    ] {
        let value = f32s(&[x]);
        for (name, want, flags) in [
            ("vfcvt.x.f.v", signed as u32, flags_signed),
            ("vfcvt.xu.f.v", unsigned, flags_unsigned),
            ("vfcvt.rtz.x.f.v", signed as u32, flags_signed),
            ("vfcvt.rtz.xu.f.v", unsigned, flags_unsigned),
        ] {
            assert_eq!(
                convert(&mut lab, name, 32, 32, &value),
                (vec![u64::from(want)], flags),
                "{name} of {x}"
            );
        }
    }
    // Narrow results: -128..=127 and 0..=255, from halves.
    lab.set(8, Lmul::M1);
    assert_eq!(convert(&mut lab, "vfncvt.x.f.w", 16, 8, &[0x57f0, 0x5800]), (vec![127, 127], NV), "127, 128");
    assert_eq!(convert(&mut lab, "vfncvt.x.f.w", 16, 8, &[0xd800]), (vec![0x80], 0), "-128");
    assert_eq!(convert(&mut lab, "vfncvt.xu.f.w", 16, 8, &[0x5bf8, 0x5c00, 0xbc00]), (vec![255, 255, 0], NV));
}

#[test]
fn conversions_from_integers_round_by_frm() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1);
    // 2^24 + 1 is a tie.
    for (frm, want) in
        [(0, 0x4b80_0000), (1, 0x4b80_0000), (2, 0x4b80_0000), (3, 0x4b80_0001), (4, 0x4b80_0001)]
    {
        lab.set(32, Lmul::M1);
        lab.hart.set_frm(frm);
        assert_eq!(convert(&mut lab, "vfcvt.f.x.v", 32, 32, &[0x0100_0001]), (vec![want], NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfcvt.f.xu.v", 32, 32, &[0x0100_0001]), (vec![want], NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfncvt.f.x.w", 64, 32, &[0x0100_0001]), (vec![want], NX), "frm {frm}");
        assert_eq!(convert(&mut lab, "vfncvt.f.xu.w", 64, 32, &[0x0100_0001]), (vec![want], NX), "frm {frm}");
    }
    lab.hart.set_frm(0);
    let minus = (-1.0f32).to_bits();
    assert_eq!(convert(&mut lab, "vfcvt.f.x.v", 32, 32, &[0xffff_ffff]), (vec![u64::from(minus)], 0));
    assert_eq!(convert(&mut lab, "vfcvt.f.xu.v", 32, 32, &[0xffff_ffff]).0, f32s(&[4294967296.0]));
    assert_eq!(convert(&mut lab, "vfwcvt.f.x.v", 32, 64, &[0xffff_ffff]), (vec![(-1.0f64).to_bits()], 0));
    assert_eq!(
        convert(&mut lab, "vfwcvt.f.xu.v", 32, 64, &[0xffff_ffff]),
        (vec![4294967295.0f64.to_bits()], 0)
    );
    // Zvfh: bytes to halves.
    lab.set(8, Lmul::M1);
    assert_eq!(convert(&mut lab, "vfwcvt.f.x.v", 8, 16, &[0xff, 0x80, 5]), (vec![0xbc00, 0xd800, 0x4500], 0));
    assert_eq!(convert(&mut lab, "vfwcvt.f.xu.v", 8, 16, &[0xff, 0x80]), (vec![0x5bf8, 0x5800], 0));
}

#[test]
fn conversions_between_float_widths() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1);
    let values = [1.5f32, -0.0, f32::MIN_POSITIVE / 4.0, f32::INFINITY];
    let wide: Vec<u64> = values.iter().map(|&x| f64::from(x).to_bits()).collect();
    assert_eq!(convert(&mut lab, "vfwcvt.f.f.v", 32, 64, &f32s(&values)), (wide, 0), "exact");
    assert_eq!(
        convert(&mut lab, "vfwcvt.f.f.v", 32, 64, &[0x7f80_0001]),
        (vec![0x7ff8 << 48], NV),
        "a signaling NaN"
    );
    // 1 + 2^-24 is a tie, 1 + 2^-24 + 2^-50 is not.
    let tie = (1.0 + 2f64.powi(-24)).to_bits();
    for (frm, want) in
        [(0, 0x3f80_0000), (1, 0x3f80_0000), (2, 0x3f80_0000), (3, 0x3f80_0001), (4, 0x3f80_0001)]
    {
        lab.hart.set_frm(frm);
        assert_eq!(convert(&mut lab, "vfncvt.f.f.w", 64, 32, &[tie]), (vec![want], NX), "frm {frm}");
        // Round to odd does not look at frm.
        assert_eq!(
            convert(&mut lab, "vfncvt.rod.f.f.w", 64, 32, &[tie]),
            (vec![0x3f80_0001], NX),
            "frm {frm}"
        );
    }
    // Round to odd: inexact results have an odd significand, and overflow stops at the largest finite number.
    let (a, b) = ((1.0 + 1.75 * 2f64.powi(-23)).to_bits(), (1.0 + 2.25 * 2f64.powi(-23)).to_bits());
    assert_eq!(convert(&mut lab, "vfncvt.rod.f.f.w", 64, 32, &[a, b]).0, [0x3f80_0001, 0x3f80_0003]);
    assert_eq!(convert(&mut lab, "vfncvt.rod.f.f.w", 64, 32, &[1e300f64.to_bits()]), (vec![0x7f7f_ffff], 5));
}

#[test]
fn bf16_conversions_round_or_are_exact() {
    for (frm, want) in [(0, 0x3f80u64), (1, 0x3f80), (2, 0x3f80), (3, 0x3f81), (4, 0x3f81)] {
        let mut lab = Lab::new(128);
        lab.set(16, Lmul::M1);
        lab.hart.set_frm(frm);
        // 1 + 2^-8 is a tie.
        assert_eq!(
            convert(&mut lab, "vfncvtbf16.f.f.w", 32, 16, &[0x3f80_8000]),
            (vec![want], NX),
            "frm {frm}"
        );
        assert_eq!(convert(&mut lab, "vfncvtbf16.f.f.w", 32, 16, &[0xc049_0000]), (vec![0xc049], 0));
        assert_eq!(convert(&mut lab, "vfncvtbf16.f.f.w", 32, 16, &[0x7f80_0001]), (vec![0x7fc0], NV));
        let (wide, flags) = convert(&mut lab, "vfwcvtbf16.f.f.v", 16, 32, &[0x3f81, 0x0001, 0xff80, 0x7fc1]);
        assert_eq!((wide, flags), (vec![0x3f81_0000, 0x0001_0000, 0xff80_0000, 0x7fc0_0000], 0));
        assert_eq!(convert(&mut lab, "vfwcvtbf16.f.f.v", 16, 32, &[0x7f81]), (vec![0x7fc0_0000], NV));
    }
}

#[test]
fn bf16_instructions_are_for_sew_16_only() {
    let mut lab = Lab::new(128);
    for sew in [8, 32, 64] {
        lab.set(sew, Lmul::M1);
        lab.cites(ins("vfncvtbf16.f.f.w").vd(VD).vs2(VS2), "vfncvtbf16-f-f-w_sew_rsv");
        lab.cites(ins("vfwcvtbf16.f.f.v").vd(VD).vs2(VS2), "vfwcvtbf16-f-f-v_sew_rsv");
        lab.cites(ins("vfwmaccbf16.vv").vd(VD).vs2(VS2).vs1(VS1), "vfwmaccbf16_sew_rsv");
        lab.cites(ins("vfwmaccbf16.vf").vd(VD).vs2(VS2).rs1(SCALAR), "vfwmaccbf16_sew_rsv");
    }
    // Encodings, as the manual draws them: funct6, vm, vs2, vs1, funct3, vd, opcode.
    let draw = |funct6: u32, vs1: u32, funct3: u32| {
        funct6 << 26 | 1 << 25 | 16 << 20 | vs1 << 15 | funct3 << 12 | 8 << 7 | 0b1010111
    };
    assert_eq!(ins("vfncvtbf16.f.f.w").vd(VD).vs2(VS2).word(), draw(0b010010, 0b11101, 1));
    assert_eq!(ins("vfwcvtbf16.f.f.v").vd(VD).vs2(VS2).word(), draw(0b010010, 0b01101, 1));
    assert_eq!(ins("vfwmaccbf16.vv").vd(VD).vs2(VS2).vs1(24).word(), draw(0b111011, 24, 1));
    assert_eq!(ins("vfwmaccbf16.vf").vd(VD).vs2(VS2).rs1(12).word(), draw(0b111011, 12, 5));
}

#[test]
fn vfwmaccbf16_is_fused_into_single_precision() {
    let mut lab = Lab::new(128);
    lab.set(16, Lmul::M1).vl(3);
    let bf = |x: f32| u64::from(x.to_bits() >> 16);
    // (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14, exact in single precision; minus 1 leaves the rest.
    let a = 1.0 + 1.0 / 128.0;
    lab.puts(VS2, 16, &[bf(a), bf(3.0), bf(-2.0)]).puts(VS1, 16, &[bf(a), bf(5.0), bf(0.5)]);
    lab.puts(VD, 32, &f32s(&[-1.0, 0.5, 1.0]));
    lab.ok(ins("vfwmaccbf16.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 32, 3), f32s(&[2f32.powi(-6) + 2f32.powi(-14), 15.5, 0.0]));
    // One rounding, by frm: 1 + 2^-30.
    for (frm, want) in [(0, 0x3f80_0000u64), (3, 0x3f80_0001)] {
        lab.hart.set_frm(frm);
        lab.vl(1)
            .put(VD, 32, 0, 0x3f80_0000)
            .put(VS2, 16, 0, bf(2f32.powi(-15)))
            .f(SCALAR, !0xffff | bf(2f32.powi(-15)));
        lab.ok(ins("vfwmaccbf16.vf").vd(VD).vs2(VS2).rs1(SCALAR));
        assert_eq!(lab.get(VD, 32, 0), want, "frm {frm}");
    }
    // The scalar must be boxed.
    lab.hart.set_frm(0);
    lab.f(SCALAR, bf(1.0));
    lab.ok(ins("vfwmaccbf16.vf").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.get(VD, 32, 0), 0x7fc0_0000);
}

#[test]
fn widening_and_narrowing_conversions_have_the_usual_overlap_constraints() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1);
    lab.ok(ins("vfwcvt.f.f.v").vd(8).vs2(9));
    lab.cites(ins("vfwcvt.f.f.v").vd(8).vs2(8), "vreg_overlap_rsv");
    lab.cites(ins("vfwcvt.f.x.v").vd(9).vs2(12), "emul_offgroup_rsv");
    lab.ok(ins("vfncvt.f.f.w").vd(8).vs2(8));
    lab.cites(ins("vfncvt.f.f.w").vd(9).vs2(8), "vreg_overlap_rsv");
    lab.set(16, Lmul::M1);
    lab.ok(ins("vfwcvtbf16.f.f.v").vd(8).vs2(9));
    lab.cites(ins("vfwcvtbf16.f.f.v").vd(8).vs2(8), "vreg_overlap_rsv");
    lab.cites(ins("vfncvtbf16.f.f.w").vd(9).vs2(8), "vreg_overlap_rsv");
}
