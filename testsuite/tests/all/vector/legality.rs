//! What is reserved, and by which rule; and what only looks it.

use super::support::{hart, hart_of, inst, run, set_type};
use rvv_isa::{Inst, Lmul, Op, Sew, Vtype};
use rvvsim::config::{Config, VlChoice, VsetvlX0};
use rvvsim::vector;

/// `vd, vs2, vs1` (whatever the assembler calls them), `.t` in the name for a mask; the rule, or nothing.
type Row = (&'static str, [u8; 3], &'static str, &'static str);

fn vtype(text: &str) -> Vtype {
    let (sew, lmul) = text.split_once(',').expect("sew,lmul");
    let sew = Sew::ALL.into_iter().find(|s| s.to_string() == sew).expect("sew");
    let lmul = Lmul::ALL.into_iter().find(|l| l.to_string() == lmul).expect("lmul");
    Vtype::new(sew, lmul, false, false)
}

fn check(config: &Config, rows: &[Row]) {
    for &(name, [rd, rs2, rs1], vtype_text, rule) in rows {
        let (name, masked) = name.strip_suffix(".t").map_or((name, false), |name| (name, true));
        let (name, fields) =
            name.split_once('*').map_or((name, 1), |(name, n)| (name, n.parse().expect("fields")));
        let mut inst = inst(name, rd, rs2, rs1);
        inst.vm &= !masked;
        if fields > 1 {
            inst.nf = fields - 1;
        }
        let vtype = if vtype_text == "vill" { Vtype::VILL } else { vtype(vtype_text) };
        let found = vector::check(config, &inst, vtype).err().unwrap_or("");
        let id = found.split(": ").next().unwrap_or_default();
        assert_eq!(
            id,
            if rule.is_empty() { String::new() } else { format!("norm:{rule}") },
            "{name} {rd},{rs2},{rs1} {vtype_text}: {found}"
        );
    }
}

#[test]
fn groups_are_aligned_and_not_too_large() {
    check(
        &Config::default(),
        &[
            ("vadd.vv", [1, 2, 3], "e32,m1", ""),
            ("vadd.vv", [1, 2, 4], "e32,m2", "vreg_offgroup_lmul2_rsv"),
            ("vadd.vv", [4, 2, 8], "e32,m4", "vreg_offgroup_lmul4_rsv"),
            ("vadd.vv", [8, 16, 4], "e32,m8", "vreg_offgroup_lmul8_rsv"),
            ("vwadd.vv", [9, 2, 3], "e32,m1", "emul_offgroup_rsv"),
            ("vwadd.vv", [8, 16, 24], "e32,m8", "emul_rsv"),
            ("vwadd.vv", [8, 16, 24], "e64,m1", "elen"),
            ("vnsrl.wv", [1, 3, 5], "e32,m1", "emul_offgroup_rsv"),
            ("vzext.vf4", [8, 16, 0], "e16,m1", "vsext_vzext_ill_eew_emul_rsv"),
            ("vzext.vf8", [8, 16, 0], "e64,m1", ""),
            ("vle8.v", [8, 0, 10], "e64,m1", ""),
            ("vle64.v", [8, 0, 10], "e8,m2", "vector_ls_emul_rsv"),
            ("vle16.v", [9, 0, 10], "e8,m1", "vector_ls_emul_offgroup_rsv"),
            ("vrgatherei16.vv", [8, 16, 24], "e8,m8", "emul_rsv"),
            ("vmv2r.v", [3, 4, 0], "e8,m1", "vmv-nr-r_unaligned_rsv"),
            ("vl4re8.v", [6, 0, 10], "vill", "vector_ls_emul_offgroup_rsv"),
            ("vl2re8.v", [6, 0, 10], "vill", ""),
            ("vmv1r.v", [6, 7, 0], "vill", "vtype_vill_op"),
            ("vadd.vv", [1, 2, 3], "vill", "vtype_vill_op"),
            ("vlm.v", [1, 0, 10], "vill", "vtype_vill_op"),
            // Scalars in vectors are in one register whatever LMUL is.
            ("vredsum.vs", [3, 8, 5], "e32,m8", ""),
            ("vmv.x.s", [3, 5, 0], "e32,m8", ""),
            ("vmand.mm", [3, 5, 7], "e32,m8", ""),
            ("vwredsum.vs", [3, 8, 5], "e32,m8", ""),
            ("vwredsum.vs", [3, 8, 5], "e64,m8", "elen"),
        ],
    );
}

#[test]
fn overlaps() {
    check(
        &Config::default(),
        &[
            // The destination is smaller: the lowest registers.
            ("vnsrl.wi", [8, 8, 0], "e32,m1", ""),
            ("vnsrl.wi", [9, 8, 0], "e32,m1", "vreg_overlap_rsv"),
            ("vmseq.vv", [8, 8, 16], "e32,m2", ""),
            ("vmseq.vv", [9, 8, 16], "e32,m2", "vreg_overlap_rsv"),
            // It is larger: the highest, and a source of a whole register.
            ("vzext.vf4", [0, 6, 0], "e32,m8", ""),
            ("vzext.vf4", [0, 4, 0], "e32,m8", "vreg_overlap_rsv"),
            ("vwadd.vv", [8, 9, 16], "e32,m1", ""),
            ("vwadd.vv", [8, 8, 16], "e32,m1", "vreg_overlap_rsv"),
            ("vwadd.vv", [8, 8, 16], "e32,mf2", "vreg_overlap_rsv"),
            ("vluxei8.v", [8, 9, 10], "e16,m2", ""),
            ("vluxei8.v", [8, 8, 10], "e16,m2", "vreg_overlap_rsv"),
            ("vluxei8.v*2", [8, 9, 10], "e16,m2", "vector_ls_seg_indexed_vreg_rsv"),
            ("vluxei16.v*2", [8, 8, 10], "e16,m1", "vector_ls_seg_indexed_vreg_rsv"),
            // The mask.
            ("vadd.vv.t", [0, 2, 3], "e32,m1", "vreg_vmask_rsv"),
            ("vle32.v.t", [0, 0, 10], "e32,m1", "vreg_vmask_rsv"),
            ("vmseq.vv.t", [0, 2, 3], "e32,m1", ""),
            ("vredsum.vs.t", [0, 2, 3], "e32,m1", ""),
            ("vmerge.vvm", [0, 2, 3], "e32,m1", "vreg_vmask_rsv"),
            ("vadc.vvm", [0, 2, 3], "e32,m1", "vadc_vsbc_vd_v0_rsv"),
            ("vmadc.vvm", [0, 2, 3], "e32,m1", ""),
            // Special rules.
            ("vslideup.vi", [8, 8, 0], "e32,m1", "vslideup_vreg_constr"),
            ("vslidedown.vi", [8, 8, 0], "e32,m1", ""),
            ("vslide1up.vx", [8, 8, 5], "e32,m1", "vslide1up-vx_vreg_constr"),
            ("vrgather.vv", [8, 9, 8], "e32,m1", "vrgather_vrgatherei16_vreg_constr"),
            ("vcompress.vm", [8, 9, 8], "e32,m1", "vcompress_vreg_constr"),
            ("viota.m", [8, 8, 0], "e32,m1", "viota_vreg_constr"),
            ("viota.m", [8, 9, 0], "e32,m2", "viota_vreg_constr"),
            ("vmsbf.m", [8, 8, 0], "e32,m1", "vmsbf_vreg_constr"),
            ("vmsif.m.t", [0, 8, 0], "e32,m1", "vmsif_vreg_constr"),
            ("vsha2ms.vv", [8, 8, 10], "e32,m1", "vsha2ms-vv_vdoverlapvs1vs2_rsv"),
            ("vsm3me.vv", [8, 16, 8], "e32,m2", ""),
            ("vsm3me.vv", [8, 8, 16], "e32,m2", "vsm3me-vv_vdoverlapvs2_rsv"),
            ("vaesem.vs", [8, 9, 0], "e32,m2", "veccrypto_vsins_vdvs2overlap"),
            ("vaesem.vs", [8, 11, 0], "e32,m2", ""),
            ("vaesem.vv", [8, 8, 0], "e32,m2", ""),
        ],
    );
}

const TWO_EEWS: &[Row] = &[
    // A compiler emitted this one.
    ("vsuxei16.v", [8, 12, 10], "e32,m8", "vreg_source_eew_rsv"),
    ("vsuxei32.v", [8, 8, 10], "e32,m8", ""),
    ("vadd.vv.t", [1, 0, 3], "e32,m1", "vreg_source_eew_rsv"),
    ("vadd.vv", [1, 0, 3], "e32,m1", ""),
    ("vse8.v.t", [0, 0, 10], "e8,m1", "vreg_source_eew_rsv"),
    ("vmerge.vvm", [1, 0, 3], "e32,m1", "vreg_source_eew_rsv"),
    ("vmsbf.m.t", [1, 0, 0], "e32,m1", ""),
    ("vwadd.wv", [8, 8, 9], "e32,m1", "vreg_source_eew_rsv"),
    ("vnsrl.wv", [2, 8, 9], "e32,m1", "vreg_source_eew_rsv"),
    ("vwmacc.vv", [8, 9, 16], "e32,m1", "vreg_source_eew_rsv"),
    ("vwredsum.vs", [2, 8, 9], "e32,m2", "vreg_source_eew_rsv"),
    ("vrgatherei16.vv", [2, 8, 8], "e32,m1", "vreg_source_eew_rsv"),
    ("vrgatherei16.vv", [2, 8, 8], "e16,m1", ""),
];

#[test]
fn a_register_is_read_with_one_eew() {
    check(&Config::default(), TWO_EEWS);
    let lenient: Vec<Row> =
        TWO_EEWS.iter().map(|&(name, registers, vtype, _)| (name, registers, vtype, "")).collect();
    check(&Config { lenient: true, ..Config::default() }, &lenient);
}

#[test]
fn segments_fit_the_register_file() {
    check(
        &Config::default(),
        &[
            ("vle32.v*8", [24, 0, 10], "e32,m1", ""),
            ("vle32.v*8", [25, 0, 10], "e32,m1", "vector_ls_seg_rsv"),
            ("vle32.v*5", [8, 0, 10], "e32,m2", "emul_nfields_rsv"),
            ("vle32.v*4", [10, 0, 10], "e32,m2", ""),
            ("vse8.v*8", [8, 0, 10], "e64,m8", ""),
        ],
    );
}

#[test]
fn extensions_say_which_widths_there_are() {
    let isa = |text: &str, vlen| Config { isa: text.parse().expect("an isa"), vlen, ..Config::default() };
    check(
        &isa("rv64gcv", 128),
        &[
            ("vfadd.vv", [8, 9, 10], "e16,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vfadd.vv", [8, 9, 10], "e8,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vfwadd.vv", [8, 12, 16], "e16,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vfwcvt.f.x.v", [8, 12, 0], "e16,m1", ""),
            ("vfwcvt.f.x.v", [8, 12, 0], "e8,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vfwcvt.f.f.v", [8, 12, 0], "e16,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vmulh.vv", [8, 9, 10], "e64,m1", ""),
        ],
    );
    check(
        &isa("rv64gcv_zvfhmin", 128),
        &[
            ("vfwcvt.f.f.v", [8, 12, 0], "e16,m1", ""),
            ("vfncvt.f.f.w", [8, 12, 0], "e16,m1", ""),
            ("vfncvt.rod.f.f.w", [8, 12, 0], "e16,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vfadd.vv", [8, 9, 10], "e16,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
        ],
    );
    check(
        &isa("rv64gcv_zvfh", 128),
        &[
            ("vfadd.vv", [8, 9, 10], "e16,m1", ""),
            ("vfwcvt.f.x.v", [8, 12, 0], "e8,m1", ""),
            ("vfncvt.x.f.w", [8, 12, 0], "e8,m1", ""),
        ],
    );
    check(
        &isa("rv64gc_zve64d", 64),
        &[
            ("vmulh.vv", [8, 9, 10], "e64,m1", "Zve64_eew64_nsupport_vmulh"),
            ("vsmul.vv", [8, 9, 10], "e64,m1", "Zve64_eew64_nsupport_vsmul"),
            ("vmulh.vv", [8, 9, 10], "e32,m1", ""),
        ],
    );
    check(
        &isa("rv64gc_zve32f", 32),
        &[
            ("vle64.v", [8, 0, 10], "e32,m1", "vector_ls_ins_rsv"),
            // EEW=min(VLEN*NFIELDS, EEW_encoded)
            ("vl1re64.v", [8, 0, 10], "e32,m1", ""),
            ("vl2re64.v", [8, 0, 10], "e32,m1", "vector_ls_ins_rsv"),
            ("vfwadd.vv", [8, 12, 16], "e32,m1", "V_fp_EEW_IEEE_nsupported_rsv"),
            ("vwadd.vv", [8, 12, 16], "e32,m1", "elen"),
        ],
    );
    check(
        &isa("rv64gcv_zvknha", 128),
        &[
            ("vsha2ms.vv", [8, 16, 24], "e64,m2", "vsha2ms-vv_Zvknha_sewn32_rsv"),
            ("vsha2ms.vv", [8, 16, 24], "e32,m1", ""),
            ("vsha2ms.vv", [8, 16, 24], "e32,mf2", "veccrypto_lmul_egwconstr"),
        ],
    );
    check(
        &Config::default(),
        &[
            ("vclmul.vv", [8, 9, 10], "e32,m1", "vclmul_sewn64_rsv"),
            ("vfwmaccbf16.vv", [8, 12, 16], "e32,m1", "vfwmaccbf16_sew_rsv"),
            ("vaesem.vv", [8, 9, 0], "e64,m1", "veccrypto_sew_rsv"),
            ("vsm3c.vi", [8, 16, 0], "e32,m1", "veccrypto_lmul_egwconstr"),
        ],
    );
}

#[test]
fn vstart_vl_and_frm_are_looked_at_when_it_runs() {
    let mut hart = hart_of(128);
    set_type(&mut hart, Sew::E32, Lmul::M1, 4);
    let mut rule = |name: &str, vl, vstart, frm| {
        hart.vector_mut().vl = vl;
        hart.vector_mut().vstart = vstart;
        hart.set_frm(frm);
        let result = run(&mut hart, &inst(name, 8, 16, 24));
        assert_eq!(hart.vector().vstart, if result.is_ok() { 0 } else { vstart });
        result.err().map_or("", |trap| trap.why.split(": ").next().unwrap_or_default()).to_owned()
    };
    assert_eq!(rule("vadd.vv", 4, 3, 0), "");
    assert_eq!(rule("vadd.vv", 4, 4, 0), "norm:vstart_val_rsv");
    assert_eq!(rule("vredsum.vs", 4, 1, 0), "norm:vreduction_vstart_n0_ill");
    assert_eq!(rule("vfredosum.vs", 0, 1, 0), "norm:vreduction_vstart_n0_ill");
    assert_eq!(rule("vcpop.m", 4, 1, 0), "norm:vcpop_vstart_n0_ill");
    assert_eq!(rule("vfirst.m", 4, 1, 0), "norm:vfirst_vstart_n0_ill");
    assert_eq!(rule("vmsbf.m", 4, 1, 0), "norm:vmsbf_vstart_n0_ill");
    assert_eq!(rule("vmsif.m", 4, 1, 0), "norm:vmsif_vstart_n0_ill");
    assert_eq!(rule("vmsof.m", 4, 1, 0), "norm:vmsof_vstart_n0_ill");
    assert_eq!(rule("viota.m", 4, 1, 0), "norm:viota_vstart_n0_ill");
    assert_eq!(rule("vcompress.vm", 4, 1, 0), "norm:vcompress_vstart_n0_ill");
    assert_eq!(rule("vmv2r.v", 4, 7, 0), "");
    assert_eq!(rule("vmv2r.v", 4, 8, 0), "norm:vmv-nr-r_op");
    assert_eq!(rule("vaesem.vv", 4, 0, 0), "");
    assert_eq!(rule("vaesem.vv", 3, 0, 0), "norm:veccrypto_vl_vstart_rsv");
    assert_eq!(rule("vaesem.vv", 4, 1, 0), "norm:veccrypto_vl_vstart_rsv");
    // Every floating-point instruction needs a valid frm, even with vl=0.
    let is_float = |op: &Op| {
        let name = op.name();
        op.is_vector() && (name.starts_with("vf") || name.starts_with("vmf")) && *op != Op::VfirstM
    };
    let mut seen = 0;
    for op in Op::all().filter(is_float) {
        for frm in [5, 6, 7] {
            let found = rule(op.name(), 0, 0, frm);
            let wrong_sew = op.name().contains("bf16");
            let misaligned = found.starts_with("norm:emul_offgroup");
            assert!(found == "norm:V_inv_frm_rsv" || wrong_sew || misaligned, "{}: {found}", op.name());
            seen += 1;
        }
    }
    assert!(seen > 300);
}

#[test]
fn vl_is_chosen_within_the_rules() {
    for choice in [VlChoice::Max, VlChoice::Half, VlChoice::Random(1), VlChoice::Random(2)] {
        for isa in ["rv64gcv", "rv64gcv_zvkned", "rv64gcv_zvksh"] {
            let egs_max = if isa.contains("ksh") { 8 } else { if isa.contains("ned") { 4 } else { 1 } };
            let isa = isa.parse().expect("an isa");
            let mut hart = hart(Config { isa, vlen: 256, mem: 4096, vl: choice, ..Config::default() });
            // e16,m2: VLMAX is 32.
            let vsetvli = Inst { imm: 0b001_001, ..inst("vsetvli", 5, 0, 11) };
            for avl in (0..100).chain([u64::MAX]) {
                hart.set_x(11, avl);
                run(&mut hart, &vsetvli).expect("vsetvli");
                let vl = hart.vector().vl;
                assert_eq!(hart.x(5), vl);
                match avl {
                    0..=32 => assert_eq!(vl, avl),
                    33..64 => {
                        assert!(avl.div_ceil(2) <= vl && vl <= 32, "avl {avl}: vl {vl}");
                        assert!(
                            vl == 32 || vl.is_multiple_of(egs_max),
                            "norm:egs_vl_avl: avl {avl}: vl {vl}"
                        );
                    }
                    _ => assert_eq!(vl, 32),
                }
                run(&mut hart, &vsetvli).expect("vsetvli");
                assert_eq!(hart.vector().vl, vl, "deterministic for the same AVL and VLMAX");
            }
        }
    }
}

#[test]
fn vl_may_be_chosen_freely_where_asked_for() {
    let one = std::num::NonZeroU32::new(1);
    let config = Config { vlen: 256, mem: 4096, vl: VlChoice::Half, ..Config::default() };
    for (vl_multiple, expected, rounded) in [(None, 24, true), (one, 17, false)] {
        let mut hart = hart(Config { vl_multiple, ..config.clone() });
        // e16,m2: VLMAX is 32. The default ISA has SM3, whose element groups have eight elements.
        hart.set_x(11, 33);
        run(&mut hart, &Inst { imm: 0b001_001, ..inst("vsetvli", 5, 0, 11) }).expect("vsetvli");
        assert_eq!((hart.vector().vl, hart.vector().vl_rounded), (expected, rounded));
    }
}

#[test]
fn the_element_group_of_an_instruction_is_known() {
    let group = |name: &str| Op::from_name(name).expect("an instruction").shape().group;
    for (size, names) in [
        (1, &["vadd.vv", "vandn.vv", "vclmul.vv", "vbrev8.v", "add", "vsetvli", "vle32.v"][..]),
        (4, &["vaesem.vv", "vsha2ms.vv", "vghsh.vv", "vsm4r.vs"]),
        (8, &["vsm3me.vv", "vsm3c.vi"]),
    ] {
        for name in names {
            assert_eq!(group(name), size, "{name}");
        }
    }
}

#[test]
fn vsetvli_x0_x0_keeps_vl_or_what_is_asked_for() {
    let e8m1 = |inst: Inst| Inst { imm: 0, ..inst };
    let e64m1 = |inst: Inst| Inst { imm: 0b011_000, ..inst };
    let e16m2 = |inst: Inst| Inst { imm: 0b001_001, ..inst };
    for (choice, vl, vill) in
        [(VsetvlX0::Vill, 0, true), (VsetvlX0::Keep, 10, false), (VsetvlX0::Clamp, 2, false)]
    {
        let mut hart = hart(Config { mem: 4096, vsetvl_x0: choice, ..Config::default() });
        hart.set_x(11, 10);
        run(&mut hart, &e8m1(inst("vsetvli", 0, 0, 11))).expect("vsetvli");
        assert_eq!(hart.vector().vl, 10);
        run(&mut hart, &e16m2(inst("vsetvli", 0, 0, 0))).expect("vsetvli");
        assert_eq!((hart.vector().vl, hart.vector().vtype.vill), (10, false), "VLMAX does not change");
        run(&mut hart, &e64m1(inst("vsetvli", 0, 0, 0))).expect("vsetvli");
        assert_eq!((hart.vector().vl, hart.vector().vtype.vill), (vl, vill), "VLMAX changes");
        // A vl beyond the group harms nobody.
        let _ = run(&mut hart, &inst("vadd.vv", 31, 30, 29));
        let _ = run(&mut hart, &inst("vredsum.vs", 31, 31, 29));
        let _ = run(&mut hart, &inst("vmsof.m", 31, 30, 0));
    }
}

#[test]
fn unsupported_types_set_vill() {
    let mut hart = hart_of(128);
    for (bits, supported) in [
        (0u64, true),
        (0b011_000, true),
        (0b011_111, false), // e64,mf2: LMUL*ELEN is smaller than SEW
        (0b000_101, true),
        (0b001_101, false),
        (0b000_100, false), // the reserved vlmul
        (0b100_000, false), // a reserved vsew
        (1 << 8, false),
        (1 << 63, false),
        (1 << 40, false),
    ] {
        hart.set_x(11, 5);
        hart.set_x(12, bits);
        run(&mut hart, &inst("vsetvl", 6, 12, 11)).expect("vsetvl");
        assert_eq!(hart.vector().vtype.to_bits(), if supported { bits } else { 1 << 63 }, "{bits:#x}");
        assert_eq!(
            hart.vector().vl,
            if supported { 5.min(hart.vector().vtype.vlmax(128).into()) } else { 0 }
        );
        assert_eq!(hart.x(6), hart.vector().vl);
    }
}
