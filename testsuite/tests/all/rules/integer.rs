//! Integer and fixed-point arithmetic against the plain model, and the sentences about single instructions.

use super::forms::{self, Form, SCALAR, VD, VS1, VS2, Width};
use super::harness::*;
use super::model;
use rvv_isa::{Field, Lmul, csr};

/// Operands where things happen: edges, small ones and random ones.
fn value(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => !0,
        2 => 0x8080_8080_8080_8080 & !0 << (8 * random.below(8)),
        3 => 1 << random.below(64),
        4 => 0x7fff_ffff_ffff_ffff >> random.below(64),
        5 => random.below(5),
        _ => random.next(),
    }
}

/// Runs an instruction with random operands and compares everything with the model.
fn compare(lab: &mut Lab, form: &Form, random: &mut Random) {
    let has_imm = form.op.info().operands.iter().any(|o| o.fields().contains(&Field::Imm));
    let n = 32 * lab.hart.vector().vlenb / 8;
    for i in 0..n {
        lab.put(0, 64, i, value(random));
    }
    lab.x(SCALAR, value(random));
    lab.hart.vector_mut().vxrm = random.below(4) as u8;
    lab.hart.vector_mut().vxsat = random.below(4) == 0;
    let name = form.name();
    let unsigned = ["vs", "vn"].iter().any(|p| name.starts_with(p)) && !name.starts_with("vsadd")
        || name.starts_with("vw");
    let imm = if name == "vror.vi" {
        random.below(64) as i32
    } else if unsigned && !name.starts_with("vms") {
        random.below(32) as i32
    } else {
        random.below(32) as i32 - 16
    };
    let ins = form.ins().masked(form.carry || form.maskable && random.below(2) == 0);
    let ins = if has_imm { ins.imm(imm) } else { ins };
    let want = model::run(lab, form, ins);
    let before = lab.state();
    lab.ok(ins);
    let got = lab.state();
    if got != want {
        for (i, (g, w)) in got.v.iter().zip(&want.v).enumerate() {
            let vlenb = lab.hart.vector().vlenb;
            assert_eq!(
                g,
                w,
                "{} under {}, vl={} vstart={} vxrm={}: v{} byte {}",
                show(ins),
                before.vtype,
                before.vl,
                before.vstart,
                before.vxrm,
                i / vlenb,
                i % vlenb
            );
        }
        panic!("{} under {}: vxsat {} (want {})", show(ins), before.vtype, got.vxsat, want.vxsat);
    }
}

fn all_of(filter: impl Fn(&Form) -> bool, vlens: &[u32], rounds: usize, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut count = 0;
    for &vlen in vlens {
        let mut lab = Lab::new(vlen);
        for form in forms::all().iter().filter(|f| model::knows(f) && filter(f)) {
            for (sew, lmul) in vtypes(vlen) {
                if !form.sews().contains(&sew) || !form.fits(sew, lmul) {
                    continue;
                }
                for _ in 0..rounds {
                    lab.set(sew, lmul);
                    let vlmax = lab.vlmax();
                    let vl = random.pick(&[0, 1, vlmax / 2, vlmax, random.0 % (vlmax + 1)]);
                    let vstart = if random.below(3) == 0 { random.below(vlmax) } else { 0 };
                    lab.vl(vl).vstart(vstart);
                    compare(&mut lab, form, &mut random);
                    count += 1;
                }
            }
        }
    }
    count
}

/// Every instruction the model knows, every SEW and LMUL, random vl, vstart, masks and rounding modes.
#[test]
fn integer_instructions_agree_with_the_plain_model() {
    assert!(all_of(|f| f.op.info().extension == "v", &[128, 256], 12, 1) > 20_000);
}

#[test]
fn bit_manipulation_instructions_agree_with_the_plain_model() {
    assert!(all_of(|f| f.op.info().extension != "v", &[128, 256], 20, 2) > 3_000);
}

/// Above the VLENs that other simulators have.
#[test]
fn integer_instructions_agree_with_the_plain_model_at_long_vlens() {
    // One round of each at each VLEN; the longest groups have 65536 elements.
    let some = |f: &Form| (f.op as usize).is_multiple_of(3) || matches!(f.vd, Some(Width::Mask));
    assert!(all_of(some, &[8192, 65536], 1, 3) > 500);
}

#[test]
fn scalar_operands_are_truncated_or_sign_extended_to_sew() {
    for sew in [8, 16, 32, 64] {
        let mut lab = Lab::new(128);
        lab.set(sew, Lmul::M1).vl(1).put(VS2, sew, 0, 1).x(SCALAR, 0xfedc_ba98_7654_32f0);
        lab.ok(ins("vadd.vx").vd(VD).vs2(VS2).rs1(SCALAR));
        assert_eq!(lab.get(VD, sew, 0), low(0xfedc_ba98_7654_32f1, sew));
        lab.ok(ins("vadd.vi").vd(VD).vs2(VS2).imm(-16));
        assert_eq!(lab.get(VD, sew, 0), low(-15i64 as u64, sew));
        lab.ok(ins("vmsgtu.vi").vd(VD).vs2(VS2).imm(-1));
        assert!(!lab.bit(VD, 0), "the immediate is sign-extended even for unsigned compares");
        lab.ok(ins("vmsleu.vi").vd(VD).vs2(VS2).imm(-1));
        assert!(lab.bit(VD, 0));
    }
}

#[test]
fn vop_vv_operands_are_vs2_and_vs1_in_that_order() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(2).puts(VS2, 32, &[10, 20]).puts(VS1, 32, &[3, 4]).x(SCALAR, 5);
    lab.ok(ins("vsub.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 32, 2), [7, 16]);
    lab.ok(ins("vsub.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 32, 2), [5, 15]);
    lab.ok(ins("vrsub.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 32, 2), [low(-5i64 as u64, 32), low(-15i64 as u64, 32)]);
    lab.ok(ins("vrsub.vi").vd(VD).vs2(VS2).imm(11));
    assert_eq!(lab.gets(VD, 32, 2), [1, low(-9i64 as u64, 32)]);
}

#[test]
fn vadc_and_vsbc_take_v0_as_carry_and_write_all_body_elements() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(4).mask(0, 0b0101).puts(VS2, 8, &[1, 2, 3, 255]).puts(VS1, 8, &[10, 20, 30, 1]);
    lab.ok(ins("vadc.vvm").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 4), [12, 22, 34, 0]);
    lab.ok(ins("vsbc.vvm").vd(VD).vs2(VS1).vs1(VS2));
    assert_eq!(lab.gets(VD, 8, 4), [8, 18, 26, 2]);
    lab.ok(ins("vmadc.vvm").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 8, 0) & 15, 0b1000);
    lab.put(VS2, 8, 2, 225);
    lab.ok(ins("vmadc.vvm").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 8, 0) & 15, 0b1100, "225 + 30 + carry");
    lab.ok(ins("vmadc.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 8, 0) & 15, 0b1000, "no carry in if unmasked");
    lab.puts(VS2, 8, &[5, 5, 5, 5]).puts(VS1, 8, &[5, 5, 4, 6]);
    lab.ok(ins("vmsbc.vvm").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 8, 0) & 15, 0b1001, "borrow if the difference is negative");
    lab.ok(ins("vmsbc.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 8, 0) & 15, 0b1000);
}

#[test]
fn vadc_and_vsbc_are_reserved_with_vd_v0_and_unmasked() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    for name in ["vadc.vvm", "vadc.vxm", "vadc.vim", "vsbc.vvm", "vsbc.vxm"] {
        lab.cites(
            ins(name).vd(0).vs2(VS2).vs1(if name.ends_with("vvm") { VS1 } else { 0 }),
            "vadc_vsbc_vd_v0_rsv",
        );
        lab.cites_word(ins(name).vd(VD).vs2(VS2).word() | 1 << 25, "vadc_vsbc_unmasked_rsv");
    }
    // The carry-out forms may write v0.
    for name in ["vmadc.vvm", "vmsbc.vvm"] {
        lab.ok(ins(name).vd(0).vs2(VS2).vs1(VS1));
    }
}

#[test]
fn compares_may_write_v0_and_then_are_anded_with_the_mask() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(4).mask(0, 0b0110).puts(VS2, 8, &[1, 1, 0, 1]);
    lab.ok(ins("vmseq.vi").vd(0).vs2(VS2).imm(1).m());
    assert_eq!(lab.get(0, 8, 0) & 15, 0b0010);
}

#[test]
fn vmerge_writes_all_body_elements_from_one_or_the_other() {
    let mut lab = Lab::new(128);
    lab.set(16, Lmul::M1).vl(4).vstart(1).mask(0, 0b0101);
    lab.puts(VD, 16, &[90, 91, 92, 93, 94]).puts(VS2, 16, &[1, 2, 3, 4, 5]).puts(
        VS1,
        16,
        &[11, 12, 13, 14, 15],
    );
    lab.ok(ins("vmerge.vvm").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 16, 5), [90, 2, 13, 4, 94]);
    lab.x(SCALAR, 0xffff_1234);
    lab.ok(ins("vmerge.vxm").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 16, 5), [0x1234, 2, 0x1234, 4, 94]);
    lab.ok(ins("vmerge.vim").vd(VD).vs2(VS2).imm(-1));
    assert_eq!(lab.gets(VD, 16, 5), [0xffff, 2, 0xffff, 4, 94]);
}

#[test]
fn vmv_v_copies_and_splats_and_needs_vs2_to_be_v0() {
    let mut lab = Lab::new(128);
    lab.set(16, Lmul::M1).vl(3).puts(VS1, 16, &[1, 2, 3, 4]).puts(VD, 16, &[9, 9, 9, 9]).x(SCALAR, 0x1_8001);
    lab.ok(ins("vmv.v.v").vd(VD).vs1(VS1));
    assert_eq!(lab.gets(VD, 16, 4), [1, 2, 3, 9]);
    lab.ok(ins("vmv.v.x").vd(VD).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 16, 4), [0x8001, 0x8001, 0x8001, 9]);
    lab.ok(ins("vmv.v.i").vd(VD).imm(-2));
    assert_eq!(lab.gets(VD, 16, 4), [0xfffe, 0xfffe, 0xfffe, 9]);
    for name in ["vmv.v.v", "vmv.v.x", "vmv.v.i"] {
        for vs2 in [1u32, 8, 31] {
            lab.cites_word(ins(name).vd(VD).word() | vs2 << 20, "vmv_vs2_nv0_rsv");
        }
    }
}

#[test]
fn shifts_use_only_the_low_bits_of_the_amount() {
    for sew in [8u32, 16, 32, 64] {
        let mut lab = Lab::new(128);
        let x = low(0x8765_4321_9abc_def1, sew);
        lab.set(sew, Lmul::M1).vl(1).put(VS2, sew, 0, x).x(SCALAR, u64::from(sew) * 2 + 3);
        lab.ok(ins("vsll.vx").vd(VD).vs2(VS2).rs1(SCALAR));
        assert_eq!(lab.get(VD, sew, 0), low(x << 3, sew));
        lab.ok(ins("vsrl.vx").vd(VD).vs2(VS2).rs1(SCALAR));
        assert_eq!(lab.get(VD, sew, 0), x >> 3);
        lab.ok(ins("vsra.vx").vd(VD).vs2(VS2).rs1(SCALAR));
        assert_eq!(lab.get(VD, sew, 0), low((sext(x, sew) >> 3) as u64, sew));
        // 31 as an immediate is 31 and not -1, of which 8- and 16-bit elements use the low bits.
        lab.ok(ins("vsrl.vi").vd(VD).vs2(VS2).imm(31));
        assert_eq!(lab.get(VD, sew, 0), x >> (31 & (sew - 1)));
        if sew < 64 {
            let y = low(0x8765_4321_9abc_def1, 2 * sew);
            lab.put(VS2, 2 * sew, 0, y).x(SCALAR, u64::from(sew) * 2 + u64::from(sew) + 1);
            lab.ok(ins("vnsrl.wx").vd(VD).vs2(VS2).rs1(SCALAR));
            assert_eq!(lab.get(VD, sew, 0), low(y >> (sew + 1), sew));
            lab.ok(ins("vnsra.wx").vd(VD).vs2(VS2).rs1(SCALAR));
            assert_eq!(lab.get(VD, sew, 0), low((sext(y, 2 * sew) >> (sew + 1)) as u64, sew));
        }
    }
}

#[test]
fn division_has_the_scalar_results_at_the_extremes() {
    for sew in [8u32, 16, 32, 64] {
        let mut lab = Lab::new(128);
        let least = 1u64 << (sew - 1);
        let ones = low(!0, sew);
        lab.set(sew, Lmul::M2).vl(2).puts(VS2, sew, &[7, least]).puts(VS1, sew, &[0, ones]);
        let mut result = |name| {
            lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
            lab.gets(VD, sew, 2)
        };
        assert_eq!(result("vdiv.vv"), [ones, least]);
        assert_eq!(result("vrem.vv"), [7, 0]);
        assert_eq!(result("vdivu.vv"), [ones, 0]);
        assert_eq!(result("vremu.vv"), [7, least]);
    }
}

#[test]
fn averaging_and_fractional_multiply_at_the_extremes() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(2);
    // (-128) * (-128) is the one product that saturates.
    lab.puts(VS2, 8, &[0x80, 0x7f]).puts(VS1, 8, &[0x80, 0x7f]);
    lab.ok(ins("vsmul.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!((lab.gets(VD, 8, 2), lab.csr(csr::VXSAT)), (vec![0x7f, 0x7e], 1));
    // No overflow in between: 255 + 255 is 510. vasub(-128 - 127) = -127.5.
    lab.hart.vector_mut().vxrm = 2;
    lab.puts(VS2, 8, &[0xff, 0x80]).puts(VS1, 8, &[0xff, 0x7f]);
    lab.ok(ins("vaaddu.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [0xff, 0x7f]);
    lab.ok(ins("vasub.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [0, 0x80], "rdn(-127.5) = -128");
    // vasubu wraps: 0 - 1 halved; and rounding up 127.5 wraps vasub.
    lab.hart.vector_mut().vxrm = 0;
    lab.puts(VS2, 8, &[0, 0x7f]).puts(VS1, 8, &[1, 0x80]);
    lab.ok(ins("vasubu.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [0, 0], "rnu(-0.5) = 0, rnu(-0.5) = 0");
    lab.ok(ins("vasub.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [0, 0x80], "rnu(127.5) = 128 wraps to -128");
}

#[test]
fn vnclip_rounds_before_it_saturates() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(3).puts(VS2, 16, &[0x0ff8, 0x0ff7, 0xf800]).puts(VS1, 8, &[4, 4, 16 + 4]);
    lab.ok(ins("vnclipu.wv").vd(VD).vs2(VS2).vs1(VS1));
    // 0xff.8 rounds up to 0x100 and saturates, 0xff.7 does not; a shift of 20 is one of 4.
    assert_eq!((lab.gets(VD, 8, 3), lab.hart.vector().vxsat), (vec![0xff, 0xff, 0xff], true));
    lab.hart.vector_mut().vxsat = false;
    lab.puts(VS2, 16, &[0x0ff7, 0x0ff7, 0x0010]);
    lab.ok(ins("vnclipu.wv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!((lab.gets(VD, 8, 3), lab.hart.vector().vxsat), (vec![0xff, 0xff, 1], false));
    lab.puts(VS2, 16, &[0x07f7, 0x07f8, 0xf7f8]);
    lab.ok(ins("vnclip.wv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!((lab.gets(VD, 8, 3), lab.hart.vector().vxsat), (vec![0x7f, 0x7f, 0x80], true));
}

#[test]
fn vxsat_is_not_set_by_elements_that_are_not_active() {
    for name in ["vsaddu.vv", "vsadd.vv", "vssubu.vv", "vssub.vv", "vsmul.vv", "vnclipu.wv", "vnclip.wv"] {
        let mut lab = Lab::new(128);
        lab.set(8, Lmul::M1).vl(8).vstart(1).mask(0, 0b0111_1110);
        // All saturate, but for elements 1 to 6.
        for i in 0..16 {
            let quiet = (1..7).contains(&i);
            let (a, b) = if quiet {
                (0, 0)
            } else if name.starts_with("vssubu") {
                (0, 1)
            } else {
                (0x80, 0x80)
            };
            let (a, b) = if !quiet && name == "vssub.vv" { (0x80, 1) } else { (a, b) };
            if name.starts_with("vn") {
                lab.put(VS2, 16, i, if quiet { 0 } else { 0x8000 }).put(VS1, 8, i, 0);
            } else {
                lab.put(VS2, 8, i, a).put(VS1, 8, i, b);
            }
        }
        lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1).m());
        assert!(!lab.hart.vector().vxsat, "{name}: prestart, inactive and tail");
        lab.vstart(1);
        lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
        assert!(lab.hart.vector().vxsat, "{name}: element 7 is active now");
    }
}

/// Zvabd 0.9: differences have no sign and are taken before they are widened; wide ones are of 8 and 16 bits
/// only.
#[test]
fn draft_absolute_differences_are_unsigned_and_widen_from_8_and_16_bits() {
    let mut lab = Lab::isa(128, "rv64gcv_zvabd");
    lab.set(8, Lmul::M1).vl(2).puts(VS2, 8, &[0x80, 0x7f]).puts(VS1, 8, &[0x7f, 0x80]).x(SCALAR, 0);
    lab.ok(ins("vabd.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [255, 255]);
    lab.ok(ins("vabdu.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [1, 1]);
    // vabs.v
    lab.ok(ins("vabd.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 8, 2), [0x80, 0x7f]);
    lab.puts(VD, 16, &[0xff01, 1]);
    lab.ok(ins("vwabda.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 16, 2), [0, 256]);
    lab.ok(ins("vwabdau.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 16, 2), [0x80, 256 + 0x7f]);
    for sew in [8, 16, 32, 64] {
        lab.set(sew, Lmul::M1).vl(2);
        lab.ok(ins("vabd.vv").vd(VD).vs2(VS2).vs1(VS1));
        for name in ["vwabda.vv", "vwabdau.vv"] {
            let done = lab.run(ins(name).vd(VD).vs2(VS2).vs1(VS1)).is_ok();
            assert_eq!(done, sew <= 16, "{name} {sew}");
        }
    }
    // Off unless named.
    let mut lab = Lab::with(128, |config| config.isa = rvv_isa::Isa::default());
    lab.set(8, Lmul::M1).vl(2);
    lab.illegal(ins("vabd.vv").vd(VD).vs2(VS2).vs1(VS1));
}
