//! Instruction-set strings.

use rvv_isa::{Ext, Isa, IsaError};

fn parse(text: &str) -> Isa {
    Isa::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn has(text: &str, extensions: &[Ext]) {
    let isa = parse(text);
    for &ext in extensions {
        assert!(isa.has(ext), "{text} has {ext:?}");
    }
}

#[test]
fn an_extension_brings_what_it_implies() {
    has(
        "rv64gc",
        &[Ext::I, Ext::M, Ext::A, Ext::F, Ext::D, Ext::C, Ext::Zicsr, Ext::Zifencei, Ext::Zmmul, Ext::Zca],
    );
    has(
        "rv64iv",
        &[Ext::Zve64d, Ext::Zve64x, Ext::Zve32f, Ext::Zve32x, Ext::Zvl128b, Ext::D, Ext::F, Ext::Zicsr],
    );
    has("rv64ib", &[Ext::Zba, Ext::Zbb, Ext::Zbs]);
    has("rv64i_zvfh", &[Ext::Zvfhmin, Ext::Zfhmin, Ext::Zve32f]);
    has("rv64i_zvkng", &[Ext::Zvkn, Ext::Zvkned, Ext::Zvknhb, Ext::Zvkb, Ext::Zvkg, Ext::Zve64x]);
    has("rv64i_zvksc", &[Ext::Zvksed, Ext::Zvksh, Ext::Zvbc]);
    has("rv64i_zvfbfwma", &[Ext::Zvfbfmin, Ext::Zfbfmin]);
    has("rva23u64", &[Ext::V, Ext::Zvbb, Ext::Zfa, Ext::Zcb, Ext::Zicond, Ext::Zvfhmin, Ext::Zawrs]);
    assert!(!parse("rva23u64").has(Ext::Zvfh));
    assert!(!parse("rva22u64").has(Ext::V));
    assert!(!parse("rv64gc").has(Ext::Zve32x));
    assert!(!parse("rv64i_zve64x").has(Ext::F));
}

#[test]
fn spellings() {
    let plain = parse("rv64imafdcv_zicsr_zifencei_zba_zvl256b");
    for text in [
        "RV64IMAFDCV_Zicsr_Zifencei_Zba_Zvl256b",
        "rv64gcv_zba_zvl256b",
        "rv64gcv_zba1p0_zvl256b1p0",
        "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_v1p0_zicsr2p0_zifencei2p0_zba_zvl256b1p0",
        "rv64i2p1m2p0a2p1f2p2d2p2c2p0v1p0_zicsr2_zifencei_zba_zvl256b",
        "rv64gcvzba_zvl256b",
        " rv64gcv_zba_zvl256b_zic64b_zkt_ssccptr ",
        "rv64gc_v__zba_zvl256b",
    ] {
        assert_eq!(parse(text), plain, "{text}");
    }
    assert_eq!(parse("rv64gcsu"), parse("rv64gc").with(Ext::S));
    assert_eq!(parse("rv64gcsvinval"), parse("rv64gc_svinval"));
    assert_eq!(parse("rva23u64_zvfh"), parse("rva23u64").with(Ext::Zvfh));
}

#[test]
fn what_it_prints_it_reads() {
    let shown = [
        ("rv64gcv", "rv64imafdcv_zifencei"),
        ("rv64i", "rv64i"),
        ("rv64i_zve32x_zvl1024b", "rv64i_zve32x_zvl1024b"),
        ("rv64gc_zbb_zba_zbs", "rv64imafdc_zifencei_zba_zbb_zbs"),
    ];
    for (text, canonical) in shown {
        assert_eq!(parse(text).to_string(), canonical);
        assert_eq!(parse(canonical), parse(text));
    }
    assert_eq!(parse(&Isa::default().to_string()), Isa::default());
    for ext in Ext::all() {
        let without = Isa::default().without(ext);
        assert!(!without.has(ext));
        if ext != Ext::I {
            assert_eq!(parse(&without.to_string()), without, "without {ext:?}");
        }
        let with = Isa::rv64i().with(ext);
        assert_eq!(parse(&with.to_string()), with, "with {ext:?}");
        assert_eq!(Ext::from_name(ext.name()), Some(ext));
    }
}

#[test]
fn lengths() {
    let lengths = |text| (parse(text).vlen_min(), parse(text).elen());
    assert_eq!(lengths("rv64gc"), (0, 0));
    assert_eq!(lengths("rv64gcv"), (128, 64));
    assert_eq!(lengths("rv64gc_zve32x"), (32, 32));
    assert_eq!(lengths("rv64gc_zve64x"), (64, 64));
    assert_eq!(lengths("rv64gcv_zvl65536b"), (65536, 64));
    assert_eq!((Isa::default().vlen_min(), Isa::default().elen()), (128, 64));
}

#[test]
fn removing_removes_what_depends_on_it() {
    let isa = parse("rv64gcv_zvbb").without(Ext::F);
    for gone in [Ext::F, Ext::D, Ext::V, Ext::Zve32f, Ext::Zve64d] {
        assert!(!isa.has(gone), "{gone:?}");
    }
    for kept in [Ext::Zve64x, Ext::Zvbb, Ext::Zvl128b, Ext::Zicsr] {
        assert!(isa.has(kept), "{kept:?}");
    }
}

/// What other tools print or take: none of it has instructions that are missing here.
#[test]
fn strings_of_other_tools_are_taken() {
    // `isa` of /proc/cpuinfo on three boards, `riscv,isa` of QEMU's device tree, clang's -march=rva23u64
    // spelt out, Spike's --isa with promises.
    for text in [
        "rv64imafdcv_zicbom_zicboz_zicntr_zicond_zicsr_zifencei_zihintpause_zihpm_zaamo_zalrsc_zfh_\
         zfhmin_zca_zcd_zba_zbb_zbc_zbs_zve32f_zve32x_zve64d_zve64f_zve64x_zvfh_zvfhmin_zvkt_sscofpmf_\
         sstc_svinval_svnapot_svpbmt",
        "rv64imafdch_zicsr_zifencei_zba_zbb_zbs_smaia_smstateen_ssaia_sscofpmf_sstc",
        "rv64imafdc_zicntr_zicsr_zifencei_zihpm_zca_zcd_zba_zbb",
        "rv64imafdch_zic64b_zicbom_zicbop_zicboz_ziccamoa_ziccif_zicclsm_ziccrse_zicntr_zicsr_zifencei_\
         zihintntl_zihintpause_zihpm_zmmul_za64rs_zaamo_zalrsc_zawrs_zfa_zca_zcd_zba_zbb_zbc_zbs_sdtrig_\
         shcounterenw_shgatpa_shtvala_shvsatpa_shvstvala_shvstvecd_ssccptr_sscounterenw_ssstrict_sstc_\
         sstvala_sstvecd_ssu64xl_svadu_svvptc",
        "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_b1p0_v1p0_zic64b1p0_zicbom1p0_zicbop1p0_zicboz1p0_ziccamoa1p0_\
         ziccif1p0_zicclsm1p0_ziccrse1p0_zicntr2p0_zicond1p0_zicsr2p0_zihintntl1p0_zihintpause2p0_\
         zihpm2p0_zimop1p0_zmmul1p0_za64rs1p0_zaamo1p0_zalrsc1p0_zawrs1p0_zfa1p0_zfhmin1p0_zca1p0_zcb1p0_\
         zcd1p0_zcmop1p0_zba1p0_zbb1p0_zbs1p0_zkt1p0_zvbb1p0_zve32f1p0_zve32x1p0_zve64d1p0_zve64f1p0_\
         zve64x1p0_zvfhmin1p0_zvkb1p0_zvkt1p0_zvl128b1p0_zvl32b1p0_zvl64b1p0_supm1p0",
        "rv64gcv_zvl256b_zve64d_ziccid_ziccif_zama16b_za64rs_ztso_svade_sv39_sv57_ssstrict",
        "RVA22U64_V",
        "rva22u64_v_zvfh",
        "rvb23u64",
        "rva20s64",
        "rva22s64",
        "rva23s64",
    ] {
        let (isa, _) = Isa::parse_noting(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(isa.has(Ext::I) && isa.has(Ext::D), "{text}");
    }
    let clang = Isa::parse("rva23u64").unwrap();
    for ext in [Ext::V, Ext::Zvkb, Ext::Zawrs, Ext::Zcb, Ext::B, Ext::Zicntr, Ext::Zihpm] {
        assert!(clang.has(ext), "{ext:?}");
    }
    // A name that ends in digits is no run of letters with a version.
    assert!(!parse("rv64gc_sv39").has(Ext::V));
    assert!(parse("rva22u64_v").has(Ext::V) && parse("rva22s64").has(Ext::Svinval));
}

#[test]
fn what_changes_nothing_is_noted() {
    let (isa, notes) = Isa::parse_noting("rv64gcvh_zkt_zvkt_zkt_smaia_zama16b_ziccid").unwrap();
    assert_eq!(isa, parse("rv64gcv"));
    let names: Vec<_> = notes.unkept.iter().map(|n| n.0).collect();
    assert_eq!(names, ["zkt", "zvkt", "zama16b"]);
    assert_eq!(notes.privileged, ["h", "smaia"]);
    assert_eq!(Isa::parse("rv64gc_smaia"), Err(IsaError::Refused("smaia")));
    assert_eq!(Isa::parse_noting("rv64gc_zkr_smaia").unwrap_err(), IsaError::Refused("zkr"));
    assert_eq!(Isa::parse_noting("rva23u64").unwrap().1, rvv_isa::Notes::default());
    assert_eq!(Isa::parse_noting("rva23u64_zkt").unwrap().1.unkept.len(), 1);
    assert_eq!(Isa::parse_noting("rv64gcv").unwrap().1, rvv_isa::Notes::default());
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |text: &str| Isa::parse(text).unwrap_err();
    assert_eq!(
        error("rv64gc_zbbb").to_string(),
        "unknown extension `zbbb` (did you mean zbb or zbkb or zvbb?)"
    );
    assert_eq!(error("rv64gc_svinvall").to_string(), "unknown extension `svinvall` (did you mean svinval?)");
    assert_eq!(error("rv64gc_qqqqqqq"), IsaError::Refused("q"));
    assert_eq!(error("rv64gcy").to_string(), "unknown extension `y`");
    assert_eq!(error("rv64gc_zkr").to_string(), "extension `zkr` is not supported");
    assert_eq!(error("rv64gc_zkr"), IsaError::Refused("zkr"));
    assert_eq!(error("rv64e"), IsaError::Refused("e"));
    for base in ["rv32gc", "rv64", "", "rv64mc", "x86", "rva23x64", "_", "rv64_zba"] {
        assert!(matches!(error(base), IsaError::Base(_)), "{base}");
    }
    // Nothing a string may hold is a panic.
    for odd in
        ["rv64iz", "rv64i2p", "rv64i_2", "rv64i_z1p", "rv64ié", "rv64i_é", "rv64i_zé1p0", "rv64g\u{130}"]
    {
        assert!(Isa::parse(odd).is_err() || odd == "rv64i2p", "{odd}");
    }
}

#[test]
fn what_a_set_has_beyond_another_is_what_instructions_ask_for() {
    let names = |isa: &Isa, other: &str| {
        let names: Vec<_> = isa.beyond(&Isa::parse(other).unwrap()).map(Ext::name).collect();
        names.join(" ")
    };
    assert_eq!(
        names(&Isa::parse("rv64gcv_zvkng_zvl1024b").unwrap(), "rv64gcv"),
        "zvkb zvkg zvkned zvknha zvknhb"
    );
    assert_eq!(
        names(&Isa::default().without_groups(), "rv64gcv_zvfh_zvbb_zvbc_zvfbfwma_zfh"),
        names(&Isa::default(), "rv64gcv_zvfh_zvbb_zvbc_zvfbfwma_zvkng_zvksg_zfh")
    );
}

#[test]
fn an_experimental_extension_is_there_only_if_it_is_named() {
    for ext in Ext::all() {
        assert_eq!(Isa::default().has(ext), !ext.is_experimental() && !is_long(ext), "{}", ext.name());
        assert_eq!(Isa::everything().has(ext), !is_long(ext), "{}", ext.name());
        assert!(parse(&format!("rv64i_{}", ext.name())).has(ext), "{}", ext.name());
        let brings_experiments = ext.closure().iter().any(|other| other != ext && other.is_experimental());
        assert!(!brings_experiments, "{} implies what must be named", ext.name());
    }
}

/// VLEN is the machine's to choose.
fn is_long(ext: Ext) -> bool {
    ext >= Ext::Zvl256b && ext <= Ext::Zvl65536b
}
