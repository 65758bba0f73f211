//! Overlap of register groups: sources among each other, destination and sources, and the mask.

use super::forms::{self, Dest, Width};
use super::harness::*;
use rvv_isa::Lmul;
use rvvsim::config::Agnostic;

/// A group of registers.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: i32,
    log2_emul: i32,
    eew: u32,
}

impl Group {
    fn registers(self) -> std::ops::Range<i32> {
        self.first..self.first + (1 << self.log2_emul.max(0))
    }

    fn overlaps(self, other: Group) -> bool {
        self.registers().any(|r| other.registers().contains(&r))
    }
}

/// norm:vreg_overlap_legal, sentence by sentence.
fn may_overlap(vd: Group, source: Group) -> bool {
    let same_eew = vd.eew == source.eew;
    // "in the lowest-numbered part of the source register group"
    let lowest_of_source = vd.eew < source.eew && vd.registers().start == source.registers().start;
    // "the source EMUL is at least 1, and the overlap is in the highest-numbered part of the destination"
    let highest_of_vd =
        vd.eew > source.eew && source.log2_emul >= 0 && vd.registers().end == source.registers().end;
    !vd.overlaps(source) || same_eew || lowest_of_source || highest_of_vd
}

/// All register numbers for `vd` and `vs2`, at all vtypes, for instructions of each kind.
#[test]
fn destination_may_overlap_a_source_of_other_eew_only_in_the_allowed_parts() {
    let mut lab = Lab::new(128);
    let names = [
        "vwadd.vx",
        "vwaddu.wx",
        "vnsrl.wx",
        "vnclip.wi",
        "vzext.vf2",
        "vsext.vf4",
        "vzext.vf8",
        "vmseq.vx",
        "vmadc.vx",
    ];
    let more =
        ["vfwcvt.x.f.v", "vfncvt.f.x.w", "vmfeq.vf", "vfwadd.vf", "vluxei16.v", "vloxei8.v", "vadd.vx"];
    let (mut legal, mut overlaps, mut reserved) = (0, 0, 0);
    for name in names.iter().chain(&more) {
        let form = forms::all().into_iter().find(|f| f.name() == *name).expect("a form");
        for (sew, lmul) in vtypes(128) {
            if !form.sews().contains(&sew) || !form.fits(sew, lmul) {
                continue;
            }
            let log2 = lmul.log2();
            let group = |width: Option<Width>, first: i32| {
                let (eew, log2_emul) = match width.expect("an operand") {
                    Width::Sew => (sew, log2),
                    Width::Wide => (2 * sew, log2 + 1),
                    Width::Part(n) => (sew / n, log2 - n.ilog2() as i32),
                    Width::Bits(n) => (n, log2 + n.ilog2() as i32 - sew.ilog2() as i32),
                    _ => (1, 0),
                };
                Group { first, log2_emul, eew }
            };
            for vd in 0..32 {
                for vs2 in 0..32 {
                    let (d, s) = (group(form.vd, vd), group(form.vs2, vs2));
                    if vd % (1 << d.log2_emul.max(0)) != 0 || vs2 % (1 << s.log2_emul.max(0)) != 0 {
                        continue;
                    }
                    lab.set(sew, lmul).vl(0).x(10, DATA);
                    let ins = form.ins().vd(vd as u8).vs2(vs2 as u8);
                    if may_overlap(d, s) {
                        lab.ok(ins);
                        legal += 1;
                        overlaps += usize::from(d.overlaps(s));
                    } else {
                        lab.cites(ins, "vreg_overlap_rsv");
                        reserved += 1;
                    }
                }
            }
        }
    }
    assert!(legal > 10_000 && overlaps > 1_000 && reserved > 1_000, "{legal} {overlaps} {reserved}");
}

#[test]
fn overlap_examples_of_the_manual() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    lab.ok(ins("vnsrl.wi").vd(0).vs2(0).imm(3));
    lab.cites(ins("vnsrl.wi").vd(1).vs2(0).imm(3), "vreg_overlap_rsv");
    lab.set(32, Lmul::M8);
    lab.ok(ins("vzext.vf4").vd(0).vs2(6));
    for vs2 in [0, 2, 4] {
        lab.cites(ins("vzext.vf4").vd(0).vs2(vs2), "vreg_overlap_rsv");
    }
}

#[test]
fn overlap_with_different_eew_makes_tail_and_mask_agnostic() {
    // tu, mu: nothing may be overwritten, unless the registers overlap with different EEW.
    for (vs2, agnostic) in [(9, true), (4, false)] {
        let mut lab = Lab::policies(128, Agnostic::Ones, Agnostic::Ones);
        lab.set(8, Lmul::M1).vl(4).mask(0, 0b0101);
        lab.puts(8, 16, &[0x1111; 16]).puts(vs2, 8, &[1, 2, 3, 4]);
        let (old2, old1) = (lab.get(8, 16, 1), lab.get(8, 16, 3));
        lab.ok(ins("vwadd.vx").vd(8).vs2(vs2).m());
        assert_eq!((lab.get(8, 16, 0), lab.get(8, 16, 2)), (1, 3));
        if agnostic {
            assert_eq!((lab.get(8, 16, 1), lab.get(8, 16, 3)), (0xffff, 0xffff), "inactive");
            assert!((4..16).all(|i| lab.get(8, 16, i) == 0xffff), "tail");
        } else {
            assert_eq!((lab.get(8, 16, 1), lab.get(8, 16, 3)), (old2, old1), "inactive");
            assert!((4..16).all(|i| lab.get(8, 16, i) == 0x1111), "tail");
        }
    }
}

#[test]
fn a_register_is_a_source_of_one_eew_only() {
    let rule = "vreg_source_eew_rsv";
    let mut lab = Lab::new(128);
    lab.x(10, DATA);
    lab.set(8, Lmul::M1);
    // Wide vs2 and narrow vs1.
    lab.cites(ins("vwadd.wv").vd(8).vs2(4).vs1(4), rule);
    lab.cites(ins("vwadd.wv").vd(8).vs2(4).vs1(5), rule);
    lab.ok(ins("vwadd.wv").vd(8).vs2(4).vs1(6));
    lab.cites(ins("vnsrl.wv").vd(8).vs2(4).vs1(5), rule);
    // The mask is a source with EEW=1.
    lab.cites(ins("vadd.vv").vd(8).vs2(0).vs1(4).m(), rule);
    lab.cites(ins("vadd.vv").vd(8).vs2(4).vs1(0).m(), rule);
    lab.cites(ins("vadd.vx").vd(8).vs2(0).m(), rule);
    lab.ok(ins("vadd.vv").vd(8).vs2(0).vs1(4));
    lab.cites(ins("vmerge.vvm").vd(8).vs2(0).vs1(4), rule);
    lab.cites(ins("vmerge.vvm").vd(8).vs2(4).vs1(0), rule);
    lab.cites(ins("vadc.vvm").vd(8).vs2(0).vs1(4), rule);
    lab.cites(ins("vmadc.vvm").vd(8).vs2(4).vs1(0), rule);
    lab.cites(ins("vmseq.vv").vd(8).vs2(0).vs1(4).m(), rule);
    // Mask sources alone may be v0.
    lab.ok(ins("vcpop.m").rd(5).vs2(0).m());
    lab.ok(ins("vfirst.m").rd(5).vs2(0).m());
    // Stores of v0 under the mask v0.
    lab.cites(ins("vse8.v").vd(0).rs1(10).m(), rule);
    lab.ok(ins("vse8.v").vd(0).rs1(10));
    // Data and indices of an indexed store.
    lab.cites(ins("vsuxei16.v").vd(4).vs2(4).rs1(10), rule);
    lab.cites(ins("vsuxei16.v").vd(5).vs2(4).rs1(10), rule);
    lab.ok(ins("vsuxei8.v").vd(4).vs2(4).rs1(10));
    lab.set(32, Lmul::M8).vl(0);
    lab.cites(ins("vsuxei16.v").vd(8).vs2(12).rs1(10), rule);
    // An addend that is wide overlaps narrow factors.
    lab.set(8, Lmul::M1);
    lab.cites(ins("vwmacc.vv").vd(8).vs2(9).vs1(4), rule);
    lab.cites(ins("vwmacc.vv").vd(8).vs2(4).vs1(9), rule);
    lab.cites(ins("vwmaccus.vx").vd(8).vs2(9), rule);
    // A widening reduction.
    lab.cites(ins("vwredsum.vs").vd(8).vs2(4).vs1(4), rule);
    lab.ok(ins("vredsum.vs").vd(8).vs2(4).vs1(4));
    lab.cites(ins("vredsum.vs").vd(8).vs2(0).vs1(4).m(), rule);
    lab.cites(ins("vredsum.vs").vd(8).vs2(4).vs1(0).m(), rule);
    // 16-bit indices.
    lab.cites(ins("vrgatherei16.vv").vd(8).vs2(4).vs1(4), rule);
    lab.cites(ins("vrgatherei16.vv").vd(8).vs2(5).vs1(4), rule);
    lab.set(16, Lmul::M1);
    lab.ok(ins("vrgatherei16.vv").vd(8).vs2(4).vs1(4));
    // The mask of a compress is a mask.
    lab.cites(ins("vcompress.vm").vd(8).vs2(4).vs1(4), rule);
    lab.set(16, Lmul::M2);
    lab.cites(ins("vcompress.vm").vd(8).vs2(4).vs1(5), rule);
    // Different positions within groups of the same EEW are fine.
    lab.set(16, Lmul::M2);
    lab.ok(ins("vadd.vv").vd(4).vs2(4).vs1(4));
    lab.set(16, Lmul::M1);
    lab.cites(ins("vfwmacc.vv").vd(8).vs2(9).vs1(4), rule);
    lab.cites(ins("vfwadd.wv").vd(8).vs2(4).vs1(5), rule);
    lab.cites(ins("vfwredosum.vs").vd(8).vs2(4).vs1(4), rule);
}

#[test]
fn lenient_runs_sources_of_two_eews() {
    let mut lab = Lab::with(128, |config| config.lenient = true);
    lab.x(10, DATA).set(8, Lmul::M1);
    lab.ok(ins("vadd.vv").vd(8).vs2(0).vs1(4).m());
    lab.ok(ins("vsuxei16.v").vd(4).vs2(4).rs1(10));
    // Common hardware does not run a misaligned group either.
    lab.set(8, Lmul::M2);
    lab.illegal(ins("vadd.vv").vd(3).vs2(4).vs1(6));
}

#[test]
fn masked_instructions_do_not_write_v0_unless_a_mask_or_a_reduction() {
    let mut lab = Lab::new(128);
    for form in forms::all().iter().filter(|f| f.maskable && f.dest == Dest::Vector) {
        let Some(sew) = form.sews().into_iter().find(|&sew| form.fits(sew, Lmul::M1)) else { continue };
        lab.set(sew, Lmul::M1).vl(1);
        forms::prepare(&mut lab, form, sew);
        let ins = form.ins().vd(0).m();
        let name = form.name();
        match form.vd {
            Some(Width::Element | Width::WideElement) => lab.ok(ins),
            Some(Width::Mask) => match name {
                // These have other constraints.
                "vmsbf.m" => lab.cites(ins, "vmsbf_vreg_constr"),
                "vmsif.m" => lab.cites(ins, "vmsif_vreg_constr"),
                "vmsof.m" => lab.cites(ins, "vmsof_vreg_constr"),
                _ => lab.ok(ins),
            },
            _ => {
                let why = lab.illegal(ins);
                // A multiply-add reads vd, too.
                let rules = ["vreg_vmask_rsv", "viota_vreg_constr", "vreg_source_eew_rsv"];
                assert!(form.reads_vd || !why.contains("vreg_source_eew_rsv"), "{name}: {why}");
                assert!(rules.iter().any(|r| why.starts_with(&format!("norm:{r}: "))), "{name}: {why}");
            }
        }
        // Unmasked it is a register like any other.
        lab.ok(form.ins().vd(0));
    }
}

#[test]
fn slides_gathers_compress_and_mask_scans_keep_vd_and_sources_apart() {
    let mut lab = Lab::new(128);
    for lmul in [Lmul::M1, Lmul::M2, Lmul::M4] {
        let n = lmul.registers() as u8;
        for (name, rule) in [
            ("vslideup.vx", "vslideup_vreg_constr"),
            ("vslideup.vi", "vslideup_vreg_constr"),
            ("vslide1up.vx", "vslide1up-vx_vreg_constr"),
            ("vfslide1up.vf", "vslide1up-vx_vreg_constr"),
            ("vrgather.vv", "vrgather_vrgatherei16_vreg_constr"),
            ("vrgather.vx", "vrgather_vrgatherei16_vreg_constr"),
            ("vrgather.vi", "vrgather_vrgatherei16_vreg_constr"),
            ("vrgatherei16.vv", "vrgather_vrgatherei16_vreg_constr"),
            ("vcompress.vm", "vcompress_vreg_constr"),
        ] {
            lab.set(16, lmul).vl(1);
            let vv = name.ends_with("vv") || name.ends_with("vm");
            let ins = |vd: u8, vs2: u8, vs1: u8| {
                ins(name).vd(vd).vs2(vs2).vs1(if vv { vs1 } else { ins(name).0.rs1 })
            };
            lab.ok(ins(8, 16, 24));
            lab.cites(ins(8, 8, 24), rule);
            if vv {
                lab.cites(ins(8, 16, 8), rule);
            }
            if name == "vcompress.vm" && n > 1 {
                lab.cites(ins(8, 16, 8 + n - 1), rule);
                lab.ok(ins(8, 16, 8 + n));
            }
        }
        // Those that move down, or read one element at a time from above, may overlap.
        for name in ["vslidedown.vx", "vslidedown.vi", "vslide1down.vx", "vfslide1down.vf"] {
            lab.set(16, lmul).vl(1);
            lab.ok(ins(name).vd(8).vs2(8));
        }
        for (name, rule) in [
            ("viota.m", "viota_vreg_constr"),
            ("vmsbf.m", "vmsbf_vreg_constr"),
            ("vmsif.m", "vmsif_vreg_constr"),
            ("vmsof.m", "vmsof_vreg_constr"),
        ] {
            lab.set(16, lmul).vl(1);
            lab.cites(ins(name).vd(8).vs2(8), rule);
            lab.cites(ins(name).vd(0).vs2(8).m(), rule);
            lab.ok(ins(name).vd(8).vs2(0).m());
            if name == "viota.m" {
                lab.cites(ins(name).vd(8).vs2(8 + n - 1), rule);
                lab.ok(ins(name).vd(8).vs2(8 + n));
            }
        }
    }
}

#[test]
fn mask_logic_and_reductions_may_overlap_as_they_like() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M8);
    lab.mask(0, 0b1100).mask(3, 0b1010);
    lab.ok(ins("vmand.mm").vd(0).vs2(0).vs1(3));
    assert_eq!(lab.get(0, 8, 0), 0b1000);
    lab.mask(0, 0b1100);
    lab.ok(ins("vmxor.mm").vd(3).vs2(0).vs1(3));
    assert_eq!(lab.get(3, 8, 0), 0b0110);
    // Odd registers at LMUL=8: masks are single registers.
    lab.ok(ins("vmnand.mm").vd(31).vs2(29).vs1(27));
    // A reduction into its source, its scalar, and the mask.
    lab.set(8, Lmul::M2).vl(3).puts(4, 8, &[1, 2, 3]).put(6, 8, 0, 100);
    lab.ok(ins("vredsum.vs").vd(5).vs2(4).vs1(6));
    assert_eq!(lab.get(5, 8, 0), 106);
    lab.ok(ins("vredsum.vs").vd(6).vs2(4).vs1(6));
    assert_eq!(lab.get(6, 8, 0), 106);
    lab.mask(0, 0b011);
    lab.ok(ins("vredsum.vs").vd(0).vs2(4).vs1(6).m());
    assert_eq!(lab.get(0, 8, 0), 109);
    // And a widening one: vd is of another width than vs2.
    lab.puts(4, 8, &[1, 2, 3]).put(6, 16, 0, 100);
    lab.ok(ins("vwredsumu.vs").vd(4).vs2(4).vs1(6));
    assert_eq!(lab.get(4, 16, 0), 106);
}
