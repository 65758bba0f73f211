//! Reserved encodings: register numbers, EMUL, EEW. Each traps, changes nothing, and says which rule it
//! breaks.

use super::forms::{self, Form, VD, VS1, VS2, Width};
use super::harness::*;
use rvv_isa::{Field, Lmul};

/// log2(EMUL) of an operand that is a group.
fn emul(width: Width, sew: u32, lmul: Lmul) -> Option<i32> {
    Some(match width {
        Width::Sew => lmul.log2(),
        Width::Wide => lmul.log2() + 1,
        Width::Part(n) => lmul.log2() - n.ilog2() as i32,
        Width::Bits(n) => lmul.log2() + n.ilog2() as i32 - sew.ilog2() as i32,
        Width::Registers(n) => n.ilog2() as i32,
        _ => return None,
    })
}

/// The instruction with one operand's register number replaced.
fn with(ins: Ins, operand: &str, register: u8) -> Ins {
    match operand {
        "vd" => ins.vd(register),
        "vs2" => ins.vs2(register),
        _ => ins.vs1(register),
    }
}

fn operands(form: &Form) -> Vec<(&'static str, Width)> {
    let all = [("vd", form.vd), ("vs2", form.vs2), ("vs1", form.vs1)];
    all.into_iter().filter_map(|(name, width)| Some((name, width?))).collect()
}

/// Every group operand of every instruction at every SEW and LMUL: each register number that is not a
/// multiple of EMUL is reserved, and one that is a multiple is not (for that reason).
#[test]
fn every_operand_of_every_instruction_must_be_aligned_to_its_emul() {
    let mut lab = Lab::new(256);
    let mut count = 0;
    for form in forms::all() {
        for (sew, lmul) in vtypes(256) {
            if !form.sews().contains(&sew) || !form.fits(sew, lmul) {
                continue;
            }
            lab.set(sew, lmul).vl(0);
            forms::prepare(&mut lab, &form, sew);
            for (operand, width) in operands(&form) {
                let Some(emul) = emul(width, sew, lmul) else { continue };
                let home = match operand {
                    "vd" => VD,
                    "vs2" => VS2,
                    _ => VS1,
                };
                for offset in 1..1u8 << emul.max(0) {
                    let why = lab.illegal(with(form.ins(), operand, home + offset));
                    let rule = match width {
                        _ if form.memory => "vector_ls_emul_offgroup_rsv",
                        Width::Registers(_) => "vmv-nr-r_unaligned_rsv",
                        Width::Sew if emul == 1 => "vreg_offgroup_lmul2_rsv",
                        Width::Sew if emul == 2 => "vreg_offgroup_lmul4_rsv",
                        Width::Sew => "vreg_offgroup_lmul8_rsv",
                        _ => "emul_offgroup_rsv",
                    };
                    assert!(
                        why.starts_with(&format!("norm:{rule}: ")),
                        "{} e{sew},{lmul}: {why}",
                        form.name()
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 5_000, "{count}");
}

/// Every instruction runs with aligned registers wherever its operands' EEW and EMUL exist, and nowhere else.
#[test]
fn every_instruction_is_legal_exactly_where_its_eew_and_emul_are() {
    let mut lab = Lab::new(256);
    let (mut good, mut bad) = (0, 0);
    for form in forms::all() {
        for (sew, lmul) in vtypes(256) {
            lab.set(sew, lmul).vl(0);
            forms::prepare(&mut lab, &form, sew);
            let egw = match form.op.info().extension {
                "zvksh" => 256,
                "zvknh" => 4 * sew,
                extension if extension.starts_with("zvk") && form.egs > 1 => 128,
                _ => 0,
            };
            let group = if lmul.log2() < 0 { 256 >> -lmul.log2() } else { 256 << lmul.log2() };
            if form.sews().contains(&sew) && form.fits(sew, lmul) && group >= egw {
                lab.ok(form.ins());
                good += 1;
            } else {
                let why = lab.illegal(form.ins());
                // The rules of a draft have no ids yet.
                let cited = why.starts_with("norm:") || why.starts_with("Zvabd: ");
                assert!(cited, "{} under e{sew},{lmul}: {why}", form.name());
                bad += 1;
            }
        }
    }
    assert!(good > 5_000 && bad > 1_000, "{good} {bad}");
}

#[test]
fn emul_above_8_is_reserved() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M8);
    for name in ["vwadd.vv", "vwadd.wv", "vnsrl.wv", "vwmul.vv", "vwmacc.vv", "vnclip.wv", "vwsll.vv"] {
        lab.cites(ins(name).vd(VD).vs2(VS2).vs1(VS1), "emul_rsv");
    }
    // 16-bit indices for 8-bit elements at LMUL=8 would take 16 registers.
    lab.cites(ins("vrgatherei16.vv").vd(VD).vs2(VS2).vs1(VS1), "emul_rsv");
    lab.set(32, Lmul::M8);
    for name in ["vfwadd.vv", "vfwadd.wv", "vfncvt.f.f.w", "vfwcvt.f.f.v"] {
        lab.cites(
            ins(name).vd(VD).vs2(VS2).vs1(ins(name).0.rs1.max(if name.contains("cvt") { 0 } else { VS1 })),
            "emul_rsv",
        );
    }
}

#[test]
fn eew_above_elen_is_reserved() {
    let mut lab = Lab::new(128);
    lab.set(64, Lmul::M1);
    for name in ["vwadd.vv", "vwaddu.wv", "vnsrl.wv", "vwredsum.vs", "vwmul.vv"] {
        lab.cites(ins(name).vd(VD).vs2(VS2).vs1(VS1), "elen");
    }
    let mut lab = Lab::isa(128, "rv64i_zve32x");
    lab.set(32, Lmul::M1);
    lab.cites(ins("vwadd.vv").vd(VD).vs2(VS2).vs1(VS1), "elen");
    lab.set(16, Lmul::M1);
    lab.ok(ins("vwadd.vv").vd(VD).vs2(VS2).vs1(VS1));
}

#[test]
fn vsext_needs_a_source_eew_and_emul_that_exist() {
    let mut lab = Lab::new(128);
    for (sew, lmul) in vtypes(128) {
        for n in [2u32, 4, 8] {
            for s in ["vsext", "vzext"] {
                lab.set(sew, lmul);
                let ins = ins(&format!("{s}.vf{n}")).vd(VD).vs2(VS2);
                let emul = lmul.log2() - n.ilog2() as i32;
                if sew / n >= 8 && emul >= -3 {
                    lab.ok(ins);
                } else {
                    lab.cites(ins, "vsext_vzext_ill_eew_emul_rsv");
                }
            }
        }
    }
}

#[test]
fn memory_emul_out_of_range_is_reserved() {
    let mut lab = Lab::new(128);
    lab.x(10, DATA).x(11, 8);
    let (mut good, mut bad) = (0, 0);
    for (sew, lmul) in vtypes(128) {
        for eew in [8u32, 16, 32, 64] {
            let emul = eew.ilog2() as i32 - sew.ilog2() as i32 + lmul.log2();
            for name in ["vle#.v", "vse#.v", "vlse#.v", "vsse#.v", "vle#ff.v", "vluxei#.v", "vsoxei#.v"] {
                lab.set(sew, lmul).vl(0);
                let ins = ins(&name.replace('#', &eew.to_string()))
                    .vd(VD)
                    .rs1(10)
                    .rs2(if name.contains("xei") { 16 } else { 11 });
                if (-3..=3).contains(&emul) {
                    lab.ok(ins);
                    good += 1;
                } else {
                    lab.cites(ins, "vector_ls_emul_rsv");
                    bad += 1;
                }
            }
        }
    }
    assert!(good > 200 && bad > 30, "{good} {bad}");
}

#[test]
fn memory_eew_that_is_not_supported_is_reserved() {
    let mut lab = Lab::isa(128, "rv64i_zve32x");
    lab.set(8, Lmul::M1).vl(0).x(10, DATA);
    for name in ["vle64.v", "vse64.v", "vlse64.v", "vsse64.v", "vle64ff.v"] {
        lab.cites(ins(name).vd(VD).rs1(10), "vector_ls_ins_rsv");
    }
    lab.set(32, Lmul::M1).vl(0);
    for name in ["vle8.v", "vle16.v", "vle32.v", "vse8.v", "vse16.v", "vse32.v"] {
        lab.ok(ins(name).vd(VD).rs1(10));
    }
    lab.set(32, Lmul::M1).vl(0);
    for name in ["vluxei64.v", "vloxei64.v", "vsuxei64.v", "vsoxei64.v"] {
        lab.cites_any(ins(name).vd(VD).vs2(16).rs1(10), &["vector_ls_eew_rsv", "vector_ls_ins_rsv"]);
    }
    lab.illegal(ins("vl1re64.v").vd(VD).rs1(10));
}

#[test]
fn memory_mew_and_reserved_widths_modes_and_nf_are_illegal() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(1).x(10, DATA);
    for name in
        ["vle8.v", "vse8.v", "vlse8.v", "vluxei8.v", "vlm.v", "vsm.v", "vl1re8.v", "vs1r.v", "vle8ff.v"]
    {
        let word =
            ins(name).vd(VD).rs1(10).vs2(if name.contains("xei") { 16 } else { ins(name).0.rs2 }).word();
        lab.run_word(word).unwrap();
        lab.cites_word(word | 1 << 28, "vector_ls_mew_rsv");
    }
    // lumop and sumop: of the 32 values unit-stride loads and stores know a few.
    for lumop in 0..32u32 {
        let load = ins("vle8.v").vd(VD).rs1(10).word() & !(31 << 20) | lumop << 20;
        let store = ins("vse8.v").vd(VD).rs1(10).word() & !(31 << 20) | lumop << 20;
        match lumop {
            0b00000 | 0b01000 | 0b01011 => {
                lab.run_word(load).unwrap();
                lab.run_word(store).unwrap();
            }
            0b10000 => {
                lab.run_word(load).unwrap();
                lab.illegal_word(store);
            }
            _ => {
                lab.illegal_word(load);
                lab.illegal_word(store);
            }
        }
    }
}

#[test]
fn whole_register_accesses_know_1_2_4_and_8_registers_and_no_mask() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).x(10, DATA);
    for nf in 0..8u32 {
        for name in ["vl1re8.v", "vl1re64.v", "vs1r.v"] {
            let word = ins(name).vd(8).rs1(10).word() & !(7 << 29) | nf << 29;
            if matches!(nf, 0 | 1 | 3 | 7) {
                lab.run_word(word).unwrap();
                lab.illegal_word(word & !(1 << 25));
            } else {
                lab.cites_word(word, "vector_ls_seg_wholereg_nf_rsv");
            }
        }
    }
    // Whole-register stores are EEW=8 only.
    for width in [5u32, 6, 7] {
        lab.illegal_word(ins("vs1r.v").vd(8).rs1(10).word() & !(7 << 12) | width << 12);
    }
    for nf in 1..8u32 {
        lab.illegal_word(ins("vlm.v").vd(8).rs1(10).word() | nf << 29);
        lab.illegal_word(ins("vsm.v").vd(8).rs1(10).word() | nf << 29);
    }
    lab.illegal_word(ins("vlm.v").vd(8).rs1(10).word() & !(1 << 25));
}

#[test]
fn segments_fit_in_8_registers_and_below_v32() {
    let mut lab = Lab::new(128);
    lab.x(10, DATA).x(11, 64);
    for lmul in [Lmul::Mf2, Lmul::M1, Lmul::M2, Lmul::M4, Lmul::M8] {
        let group = lmul.registers() as u8;
        for fields in 2..=8u8 {
            for name in ["vle8.v", "vse8.v", "vlse8.v", "vsse8.v", "vle8ff.v", "vluxei8.v", "vsuxei8.v"] {
                lab.set(8, lmul).vl(0);
                let indexed = name.contains("xei");
                for vd in (0..32).step_by(group.into()) {
                    // The indices stay out of the way.
                    let registers = u32::from(group) * u32::from(fields);
                    let end = u32::from(vd) + registers;
                    let vs2 = if !indexed {
                        11
                    } else if vd >= 8 {
                        0
                    } else {
                        24
                    };
                    let ins = ins(name).vd(vd).rs1(10).rs2(vs2).fields(fields);
                    if registers > 8 {
                        lab.cites(ins, "emul_nfields_rsv");
                    } else if end > 32 {
                        lab.cites(ins, "vector_ls_seg_rsv");
                    } else {
                        lab.ok(ins);
                    }
                }
            }
        }
    }
    // It is EMUL that counts, and not LMUL: for data of twice SEW it is twice as much.
    lab.set(8, Lmul::M2).vl(0);
    lab.cites(ins("vle16.v").vd(8).rs1(10).fields(3), "emul_nfields_rsv");
    lab.ok(ins("vle16.v").vd(8).rs1(10).fields(2));
    // For indexed segments it is the data's.
    lab.ok(ins("vluxei16.v").vd(8).vs2(16).rs1(10).fields(4));
    lab.cites(ins("vluxei8.v").vd(8).vs2(16).rs1(10).fields(5), "emul_nfields_rsv");
    // Each field must begin at a multiple of EMUL, and no more than that.
    lab.ok(ins("vle8.v").vd(10).rs1(10).fields(4));
    lab.cites(ins("vle8.v").vd(11).rs1(10).fields(4), "vector_ls_emul_offgroup_rsv");
}

#[test]
fn vmv_nr_r_knows_1_2_4_and_8_registers_aligned() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    for imm in 0..32u32 {
        let word = ins("vmv1r.v").vd(8).vs2(16).word() & !(31 << 15) | imm << 15;
        if matches!(imm, 0 | 1 | 3 | 7) {
            lab.run_word(word).unwrap();
            lab.illegal_word(word & !(1 << 25));
        } else {
            lab.cites_word(word, "vmv-nr-r_nreg_rsv");
        }
    }
    for n in [2u8, 4, 8] {
        for r in 0..32 {
            let name = format!("vmv{n}r.v");
            let (from, to) = (ins(&name).vd(8).vs2(r), ins(&name).vd(r).vs2(8));
            if r % n == 0 {
                lab.ok(from);
                lab.ok(to);
            } else {
                lab.cites(from, "vmv-nr-r_unaligned_rsv");
                lab.cites(to, "vmv-nr-r_unaligned_rsv");
            }
        }
    }
}

/// Encodings that would be masked, or have another `vs2` or `vs1`, and are reserved.
#[test]
fn encodings_without_a_mask_or_with_a_fixed_register_have_no_others() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).x(10, DATA);
    let mut count = 0;
    for form in forms::all() {
        let fields = |field| form.op.info().operands.iter().any(|o| o.fields().contains(&field));
        let word = form.ins().word();
        let is_free = form.maskable
            || form.carry
            || ["vmadc.", "vmsbc.", "vmv.v.", "vfmv.v."].iter().any(|p| form.name().starts_with(p));
        if !is_free {
            // vm=1 is all there is; vmerge's vm=1 is vmv.v, and so on.
            let other = word ^ 1 << 25;
            assert!(rvv_isa::decode(other).is_none(), "{} with the other vm", form.name());
            match form.name() {
                name if name.ends_with(".mm") => lab.cites_word(other, "vmasklogical_masked_rsv"),
                "vmv.x.s" | "vmv.s.x" => lab.cites_word(other, "vmv-s-x_vmv-x-s_masked_rsv"),
                "vfmv.f.s" | "vfmv.s.f" => lab.cites_word(other, "vfmv-s-f_masked_rsv"),
                "vcompress.vm" => lab.cites_word(other, "vcompress_masked_rsv"),
                _ => drop(lab.illegal_word(other)),
            }
            count += 1;
        }
        if !fields(Field::Rs2) && !form.memory {
            let rule = match form.name() {
                "vfmv.v.f" => "norm:vfmv_vs2_nv0_rsv: ",
                "vid.v" => "norm:vid_vs2_nv0_rsv: ",
                name if name.starts_with("vmv.v.") => "norm:vmv_vs2_nv0_rsv: ",
                _ => "",
            };
            for other in [word ^ 1 << 20, word ^ 31 << 20] {
                let why = lab.illegal_word(other);
                assert!(why.starts_with(rule), "{}: {why}", form.name());
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn zve_leaves_out_high_multiplies_of_64_bits() {
    for (isa, rules) in [("rv64i_zve64x", true), ("rv64gc_zve64d", true), ("rv64gcv", false)] {
        let mut lab = Lab::isa(128, isa);
        for sew in [32, 64] {
            lab.set(sew, Lmul::M1);
            for name in ["vmulh.vv", "vmulh.vx", "vmulhu.vv", "vmulhu.vx", "vmulhsu.vv", "vmulhsu.vx"] {
                let ins = ins(name).vd(VD).vs2(VS2).vs1(VS1);
                if sew == 64 && rules { lab.cites(ins, "Zve64_eew64_nsupport_vmulh") } else { lab.ok(ins) }
            }
            for name in ["vsmul.vv", "vsmul.vx"] {
                let ins = ins(name).vd(VD).vs2(VS2).vs1(VS1);
                if sew == 64 && rules { lab.cites(ins, "Zve64_eew64_nsupport_vsmul") } else { lab.ok(ins) }
            }
            lab.ok(ins("vmul.vv").vd(VD).vs2(VS2).vs1(VS1));
        }
    }
}

/// vmv<nr>r.v has another effective length: `vl` does not matter, and `vstart` is compared with `evl`.
#[test]
fn vmv_nr_r_copies_all_bits_and_checks_vstart_against_evl() {
    for sew in [8u32, 16, 32, 64] {
        for n in [1u32, 2, 4, 8] {
            let mut lab = Lab::new(128);
            lab.shake(&mut Random(u64::from(n))).set(sew, Lmul::M1).vl(0);
            let name = format!("vmv{n}r.v");
            let source: Vec<u8> = lab.hart.vector().registers()[16 * 16..(16 + n as usize) * 16].to_vec();
            lab.ok(ins(&name).vd(8).vs2(16));
            assert_eq!(lab.hart.vector().registers()[8 * 16..(8 + n as usize) * 16], source);
            // From vstart on.
            let evl = u64::from(n * 128 / sew);
            lab.shake(&mut Random(99)).vstart(evl - 1);
            let before = lab.state();
            lab.ok(ins(&name).vd(8).vs2(16));
            let after = lab.state();
            let last = (evl as usize - 1) * sew as usize / 8;
            assert_eq!(after.v[..128 + last], before.v[..128 + last], "{name} e{sew}");
            let size = sew as usize / 8;
            assert_eq!(after.v[128 + last..128 + last + size], before.v[256 + last..256 + last + size]);
            assert_eq!(after.v[128 + last + size..], before.v[128 + last + size..]);
            lab.vstart(evl);
            lab.illegal(ins(&name).vd(8).vs2(16));
        }
    }
}

#[test]
fn vm_is_bit_25_and_0_means_masked() {
    let mut lab = Lab::new(128);
    for form in forms::all().iter().filter(|form| form.maskable) {
        let (plain, masked) = (form.ins().word(), form.ins().m().word());
        assert_eq!((plain & 1 << 25, masked), (1 << 25, plain & !(1 << 25)), "{}", form.name());
    }
    lab.set(8, Lmul::M1).vl(2).mask(0, 0b10).puts(VD, 8, &[9, 9]).puts(VS2, 8, &[1, 2]);
    let word = ins("vadd.vi").vd(VD).vs2(VS2).imm(1).word();
    lab.run_word(word & !(1 << 25)).unwrap();
    assert_eq!(lab.gets(VD, 8, 2), [9, 3]);
    lab.run_word(word).unwrap();
    assert_eq!(lab.gets(VD, 8, 2), [2, 3]);
}

/// Zve*: all integer instructions of elements up to ELEN, floating point as far as the scalar extensions go.
#[test]
fn zve_has_all_integer_instructions_and_the_floats_of_its_name() {
    let floats =
        [("zve32x", 0, 32), ("zve64x", 0, 64), ("zve32f", 32, 32), ("zve64f", 32, 64), ("zve64d", 64, 64)];
    for (name, widest_float, elen) in floats {
        let mut lab = Lab::isa(128, &format!("rv64i_{name}"));
        for form in forms::all().iter().filter(|form| form.op.info().extension == "v" && form.needs_vtype()) {
            for sew in [8u32, 16, 32, 64].into_iter().filter(|&sew| sew <= elen) {
                let wide = [form.vd, form.vs2, form.vs1].iter().any(|w| {
                    matches!(w, Some(Width::Wide | Width::WideElement)) && 2 * sew > elen
                        || matches!(w, Some(Width::Bits(n)) if *n > elen)
                });
                let high = ["vmulh", "vsmul"].iter().any(|base| form.name().starts_with(base)) && sew == 64;
                lab.set(sew, Lmul::M1).vl(0);
                forms::prepare(&mut lab, form, sew);
                // The widths that are numbers: of conversions with integers, those of the one side.
                let name = form.name();
                let (narrow, double) = match name {
                    _ if name.starts_with("vfwcvt.f.x") => (false, true),
                    _ if name.starts_with("vfncvt.x") || name.starts_with("vfncvt.rtz") => (false, true),
                    _ if name.starts_with("vfwcvt.x") || name.starts_with("vfwcvt.rtz") => (true, false),
                    _ if name.starts_with("vfncvt.f.x") => (true, false),
                    _ => (true, name.starts_with("vfw") || name.starts_with("vfncvt")),
                };
                let is_float = |bits: u32| bits >= 32 && bits <= widest_float;
                let float = !form.float || (!narrow || is_float(sew)) && (!double || is_float(2 * sew));
                if form.sews().contains(&sew) && form.fits(sew, Lmul::M1) && !wide && !high && float {
                    lab.ok(form.ins());
                } else {
                    lab.illegal(form.ins());
                }
            }
        }
    }
}
