//! Element groups, element widths, overlap and dependencies of vector cryptography and bit manipulation.

use super::crypto::{hex, key_schedule_128};
use super::forms::{self, VD, VS1, VS2, Width};
use super::harness::*;
use rvv_isa::{Ext, Isa, Lmul};

fn group_forms() -> impl Iterator<Item = forms::Form> {
    forms::all().into_iter().filter(|form| form.egs > 1)
}

#[test]
fn vl_and_vstart_must_be_multiples_of_the_element_group() {
    let mut lab = Lab::new(256);
    let mut count = 0;
    for form in group_forms() {
        for sew in form.sews() {
            let egs = form.egs;
            for vl in 0..=16u64 {
                for vstart in 0..16u64 {
                    lab.set(sew, Lmul::M4).vl(vl).vstart(vstart);
                    if vl % egs == 0 && vstart % egs == 0 {
                        lab.ok(form.ins());
                        count += 1;
                    } else {
                        lab.cites(form.ins(), "veccrypto_vl_vstart_rsv");
                    }
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

/// Groups before vstart and from vl on stay, those between are written.
#[test]
fn element_groups_from_vstart_to_vl_are_written() {
    let mut random = Random(91);
    let mut lab = Lab::new(256);
    for form in group_forms() {
        for sew in form.sews() {
            let egs = form.egs;
            lab.shake(&mut random).set(sew, Lmul::M4);
            let whole = lab.vlmax();
            let before = lab.state();
            lab.ok(form.ins());
            let all = lab.gets(VD, sew, whole as usize);
            lab.restore(&before);
            lab.vl(whole - egs).vstart(egs);
            let old = lab.gets(VD, sew, whole as usize);
            lab.ok(form.ins());
            for i in 0..whole {
                let body = i >= egs && i < whole - egs;
                let want = if body { &all } else { &old };
                assert_eq!(
                    lab.get(VD, sew, i as usize),
                    want[i as usize],
                    "{} e{sew} element {i}",
                    form.name()
                );
            }
        }
    }
}

#[test]
fn lmul_times_vlen_must_hold_an_element_group_even_with_vl_0() {
    for vlen in [128u32, 256, 512] {
        let mut lab = Lab::new(vlen);
        for form in group_forms() {
            for sew in form.sews() {
                let egw = sew * form.egs as u32;
                for (s, lmul) in vtypes(vlen) {
                    if s != sew {
                        continue;
                    }
                    let bits = if lmul.log2() < 0 { vlen >> -lmul.log2() } else { vlen << lmul.log2() };
                    lab.set(sew, lmul).vl(0);
                    if bits >= egw {
                        lab.ok(form.ins());
                    } else {
                        lab.cites_any(form.ins(), &["veccrypto_lmul_egwconstr", "egs_ge_vlmax_rsv"]);
                    }
                }
            }
        }
    }
}

#[test]
fn crypto_instructions_are_for_their_sew_only() {
    let mut lab = Lab::new(512);
    for form in forms::all().iter().filter(|form| form.egs > 1 || form.op.info().extension == "zvbc") {
        for sew in [8, 16, 32, 64] {
            lab.set(sew, Lmul::M4);
            if form.sews().contains(&sew) {
                lab.ok(form.ins());
                continue;
            }
            let why = lab.illegal(form.ins());
            let own = match form.name() {
                "vclmul.vv" | "vclmul.vx" => "vclmul_sewn64_rsv",
                "vclmulh.vv" | "vclmulh.vx" => "vclmulh_sewn64_rsv",
                "vghsh.vv" => "vghsh-vv_sewn32_rsv",
                "vgmul.vv" => "vgmul-vv_sewn32_rsv",
                "vsha2ch.vv" | "vsha2cl.vv" => "vsha2chl-vv_Zvknhb_sewn32or64_rsv",
                "vsha2ms.vv" => "vsha2ms-vv_Zvknhb_sewn32or64_rsv",
                "vsm3c.vi" => "vsm3c-vi_sewn32_rsv",
                "vsm3me.vv" => "vsm3me-vv_sewn32_rsv",
                "vsm4k.vi" => "vsm4k-vi_sewn32_rsv",
                "vsm4r.vv" | "vsm4r.vs" => "vsm4r_sewn32_rsv",
                _ => "veccrypto_sew_rsv",
            };
            assert!(why.starts_with(&format!("norm:{own}: ")), "{}: {why}", form.name());
        }
    }
    // Zvknha is SHA-256 only.
    let mut lab = Lab::isa(512, "rv64gcv_zvknha");
    for (name, rule) in [
        ("vsha2ch.vv", "vsha2chl-vv_Zvknha_sewn32_rsv"),
        ("vsha2cl.vv", "vsha2chl-vv_Zvknha_sewn32_rsv"),
        ("vsha2ms.vv", "vsha2ms-vv_Zvknha_sewn32_rsv"),
    ] {
        lab.set(32, Lmul::M1);
        lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
        lab.set(64, Lmul::M1);
        lab.cites(ins(name).vd(VD).vs2(VS2).vs1(VS1), rule);
    }
    let mut lab = Lab::isa(512, "rv64gcv_zvknhb");
    for sew in [32, 64] {
        lab.set(sew, Lmul::M1);
        lab.ok(ins("vsha2ms.vv").vd(VD).vs2(VS2).vs1(VS1));
    }
}

#[test]
fn crypto_destinations_stay_clear_of_sources_where_they_must() {
    let mut lab = Lab::new(256);
    for form in group_forms() {
        let name = form.name();
        for lmul in [Lmul::M1, Lmul::M2, Lmul::M4] {
            lab.set(32, lmul).vl(0);
            let last = lmul.registers() as u8 - 1;
            let vs2_rule = match name {
                "vsm4r.vs" => Some("vsm4r-vs_vdoverlapvs2_rsv"),
                _ if form.vs2 == Some(Width::Key) => Some("veccrypto_vsins_vdvs2overlap"),
                "vsha2ch.vv" | "vsha2cl.vv" => Some("vsha2chl-vv_vdoverlapvs1vs2_rsv"),
                "vsha2ms.vv" => Some("vsha2ms-vv_vdoverlapvs1vs2_rsv"),
                "vsm3c.vi" => Some("vsm3c-vi_vdoverlapvs2_rsv"),
                "vsm3me.vv" => Some("vsm3me-vv_vdoverlapvs2_rsv"),
                _ => None,
            };
            match vs2_rule {
                Some(rule) => {
                    lab.cites(form.ins().vs2(VD), rule);
                    if form.vs2 == Some(Width::Key) {
                        // A single register anywhere in the group of vd; outside of it any register will do.
                        lab.cites(form.ins().vs2(VD + last), rule);
                        lab.ok(form.ins().vs2(VD + last + 1));
                    }
                }
                None => lab.ok(form.ins().vs2(VD)),
            }
            if form.vs1.is_some() {
                match name {
                    "vsha2ch.vv" | "vsha2cl.vv" => {
                        lab.cites(form.ins().vs1(VD), "vsha2chl-vv_vdoverlapvs1vs2_rsv")
                    }
                    "vsha2ms.vv" => lab.cites(form.ins().vs1(VD), "vsha2ms-vv_vdoverlapvs1vs2_rsv"),
                    _ => lab.ok(form.ins().vs1(VD)),
                }
            }
        }
    }
}

/// With VLEN below 128 a block takes more than one register, and so does the key of the .vs forms.
#[test]
fn element_groups_may_span_registers() {
    let mut lab = Lab::isa(64, "rv64i_zve64x_zvkned_zvkg_zvknhb_zvksed_zvksh");
    lab.set(32, Lmul::M1).vl(0);
    lab.cites_any(ins("vaesef.vv").vd(8).vs2(16), &["veccrypto_lmul_egwconstr", "egs_ge_vlmax_rsv"]);
    lab.set(32, Lmul::M4);
    assert_eq!(lab.hart.vector().vl, 8);
    let plain = hex("00112233445566778899aabbccddeeff");
    let keys = {
        lab.set(32, Lmul::M2);
        key_schedule_128(&mut lab, &hex("000102030405060708090a0b0c0d0e0f"))
    };
    lab.set(32, Lmul::M4);
    lab.put_bytes(8, &plain).put_bytes(10, &plain);
    for (round, key) in keys.iter().enumerate() {
        lab.put_bytes(16, key);
        let name = ["vaesz.vs", "vaesem.vs", "vaesef.vs"][if round == 0 {
            0
        } else if round < 10 {
            1
        } else {
            2
        }];
        lab.ok(ins(name).vd(8).vs2(16));
    }
    assert_eq!(lab.bytes(8, 32), hex("69c4e0d86a7b0430d8cdb78070b4c55a69c4e0d86a7b0430d8cdb78070b4c55a"));
    // The key's group is two registers: it must not overlap vd with either.
    lab.cites(ins("vaesef.vs").vd(8).vs2(10), "veccrypto_vsins_vdvs2overlap");
    lab.ok(ins("vaesef.vs").vd(8).vs2(12));
    lab.ok(ins("vaesef.vs").vd(8).vs2(6));
    // And a group of two registers is aligned.
    let why = lab.illegal(ins("vaesef.vs").vd(8).vs2(13));
    assert!(why.contains("_rsv"), "{why}");
}

#[test]
fn vector_extensions_bring_what_they_depend_on() {
    let implies = |name: &str, others: &[Ext]| {
        let isa = Isa::parse(&format!("rv64i_{name}")).unwrap();
        for &other in others {
            assert!(isa.has(other), "{name} needs {}", other.name());
        }
        isa
    };
    let v = implies("v", &[Ext::Zvl128b, Ext::Zve64d, Ext::F, Ext::D]);
    assert_eq!((v.elen(), v.vlen_min()), (64, 128));
    let zve32x = implies("zve32x", &[Ext::Zicsr, Ext::Zvl32b]);
    assert_eq!((zve32x.elen(), zve32x.has(Ext::F)), (32, false));
    implies("zve32f", &[Ext::Zve32x, Ext::F]);
    let zve64x = implies("zve64x", &[Ext::Zve32x, Ext::Zvl64b]);
    assert_eq!((zve64x.elen(), zve64x.has(Ext::F)), (64, false));
    implies("zve64f", &[Ext::Zve32f, Ext::Zve64x, Ext::F]);
    implies("zve64d", &[Ext::Zve64f, Ext::D]);
    implies("zvfh", &[Ext::Zve32f, Ext::Zfhmin]);
    implies("zvfhmin", &[Ext::Zve32f]);
    implies("zvfbfmin", &[Ext::Zve32f]);
    implies("zvfbfwma", &[Ext::Zvfbfmin, Ext::Zfbfmin]);
    implies("zvbb", &[Ext::Zve32x]);
    implies("zvbc", &[Ext::Zve64x]);
    implies("zvknhb", &[Ext::Zve64x, Ext::Zvknha]);
    for name in ["zvkb", "zvkg", "zvkned", "zvknha", "zvksed", "zvksh"] {
        let isa = implies(name, &[Ext::Zve32x]);
        assert!(!isa.has(Ext::Zve64x), "{name} does not need Zve64x");
    }
}

/// Zvbb with and without 64-bit elements.
#[test]
fn zvbb_elements_are_as_wide_as_the_base_has_them() {
    for (isa, widest) in [("rv64i_zve32x_zvbb", 32), ("rv64i_zve64x_zvbb", 64)] {
        let mut lab = Lab::isa(128, isa);
        for sew in [8, 16, 32, 64] {
            lab.x(1, 2);
            lab.ok(ins("vsetvli").rd(2).rs1(1).imm(((sew as u32).ilog2() as i32 - 3) << 3));
            assert_eq!(lab.hart.vector().vtype.vill, sew > widest);
            for name in [
                "vandn.vv", "vbrev.v", "vbrev8.v", "vrev8.v", "vclz.v", "vctz.v", "vcpop.v", "vrol.vv",
                "vror.vv",
            ] {
                let ins =
                    ins(name).vd(VD).vs2(VS2).vs1(if name.ends_with("vv") { VS1 } else { ins(name).0.rs1 });
                if sew <= widest { lab.ok(ins) } else { lab.cites(ins, "vtype_vill_op") }
            }
        }
    }
    // Without Zvbb, Zvkb has half of them.
    let mut lab = Lab::isa(128, "rv64gcv_zvkb");
    lab.set(8, Lmul::M1);
    lab.ok(ins("vandn.vv").vd(VD).vs2(VS2).vs1(VS1));
    lab.illegal(ins("vbrev.v").vd(VD).vs2(VS2));
    let mut lab = Lab::isa(128, "rv64gcv");
    lab.set(8, Lmul::M1);
    lab.illegal(ins("vandn.vv").vd(VD).vs2(VS2).vs1(VS1));
}

#[test]
fn vclz_and_vctz_of_zero_are_sew() {
    for sew in [8u32, 16, 32, 64] {
        let mut lab = Lab::new(128);
        lab.set(sew, Lmul::M1).vl(2).puts(VS2, sew, &[0, 1 << (sew / 2)]);
        lab.ok(ins("vclz.v").vd(VD).vs2(VS2));
        assert_eq!(lab.gets(VD, sew, 2), [u64::from(sew), u64::from(sew / 2 - 1)]);
        lab.ok(ins("vctz.v").vd(VD).vs2(VS2));
        assert_eq!(lab.gets(VD, sew, 2), [u64::from(sew), u64::from(sew / 2)]);
    }
}

#[test]
fn vaesz_has_no_vv_form() {
    // .vs is funct6 101001, .vv would be 101000.
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1);
    let word = ins("vaesz.vs").vd(VD).vs2(VS2).word();
    assert_eq!(word >> 26, 0b101001);
    assert_eq!(ins("vaesef.vv").vd(VD).vs2(VS2).word() >> 26, 0b101000);
    lab.run_word(word).unwrap();
    lab.illegal_word(word ^ 1 << 26);
}
