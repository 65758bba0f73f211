//! Mask instructions.

use super::forms::{VD, VS2};
use super::harness::*;
use rvv_isa::{Lmul, Vtype};
use rvvsim::config::Agnostic;

/// All eight operations, at any SEW and LMUL, with vstart, against bits.
#[test]
fn mask_logic_is_bitwise_from_vstart_to_vl_whatever_lmul() {
    type Logic = fn(bool, bool) -> bool;
    let all: [(&str, Logic); 8] = [
        ("vmand.mm", |a, b| a && b),
        ("vmnand.mm", |a, b| !(a && b)),
        ("vmandn.mm", |a, b| a && !b),
        ("vmxor.mm", |a, b| a ^ b),
        ("vmor.mm", |a, b| a || b),
        ("vmnor.mm", |a, b| !(a || b)),
        ("vmorn.mm", |a, b| a || !b),
        ("vmxnor.mm", |a, b| a == b),
    ];
    let mut random = Random(31);
    for vlen in [128, 1024, 65536] {
        let mut lab = Lab::new(vlen);
        for (name, f) in all {
            for (sew, lmul) in vtypes(vlen) {
                lab.set(sew, lmul);
                if vlen > 1024 && random.below(6) > 0 {
                    continue;
                }
                let vl = random.below(lab.vlmax() + 1);
                let vstart = if random.below(2) == 0 { random.below(lab.vlmax()) } else { 0 };
                lab.vl(vl).vstart(vstart);
                for word in 0..vlen as usize / 64 {
                    for r in [7, 9, 11] {
                        lab.put(r, 64, word, random.next());
                    }
                }
                let bits =
                    |lab: &Lab, r: u8| (0..vlen as usize).map(|i| lab.bit(r, i)).collect::<Vec<bool>>();
                let (a, b, d) = (bits(&lab, 9), bits(&lab, 11), bits(&lab, 7));
                lab.ok(ins(name).vd(7).vs2(9).vs1(11));
                let got = bits(&lab, 7);
                for i in 0..vlen as usize {
                    let body = (vstart..vl).contains(&(i as u64));
                    assert_eq!(
                        got[i],
                        if body { f(a[i], b[i]) } else { d[i] },
                        "{name} e{sew},{lmul} vl={vl} vstart={vstart} bit {i}"
                    );
                }
                assert_eq!(lab.hart.vector().vtype, Vtype::new(sew_of(sew), lmul, false, false));
            }
        }
    }
}

#[test]
fn vcpop_and_vfirst_look_at_active_elements_only() {
    let mut random = Random(32);
    for vlen in [128u32, 2048] {
        let mut lab = Lab::new(vlen);
        for round in 0..400 {
            let (sew, lmul) = random.pick(&vtypes(vlen));
            lab.set(sew, lmul);
            let vl = random.below(lab.vlmax() + 1);
            lab.vl(vl);
            for i in 0..vlen as usize {
                let sparse = random.below(if round % 2 == 0 { 2 } else { 100 }) == 0;
                let m = random.below(2) == 0;
                lab.put_bit(9, i, sparse).put_bit(0, i, m);
            }
            for masked in [false, true] {
                let active = |lab: &Lab, i: usize| lab.bit(9, i) && (!masked || lab.bit(0, i));
                let count = (0..vl as usize).filter(|&i| active(&lab, i)).count() as u64;
                let first = (0..vl as usize).find(|&i| active(&lab, i)).map_or(u64::MAX, |i| i as u64);
                lab.x(5, 77);
                lab.ok(ins("vcpop.m").rd(5).vs2(9).masked(masked));
                assert_eq!(lab.hart.x(5), count, "vl={vl}");
                lab.x(5, 77);
                lab.ok(ins("vfirst.m").rd(5).vs2(9).masked(masked));
                assert_eq!(lab.hart.x(5), first, "vl={vl}");
            }
        }
        // vl = 0: 0 and -1.
        lab.set(8, Lmul::M1).vl(0).x(5, 77).x(6, 77).mask(9, !0);
        lab.ok(ins("vcpop.m").rd(5).vs2(9));
        lab.ok(ins("vfirst.m").rd(6).vs2(9));
        assert_eq!((lab.hart.x(5), lab.hart.x(6)), (0, !0));
    }
}

/// The examples of the manual's sections, and all short masks.
#[test]
fn set_before_including_and_only_first() {
    for policy in [Agnostic::Undisturbed, Agnostic::Ones] {
        let mut lab = Lab::policies(128, policy, Agnostic::Undisturbed);
        for source in 0..64u64 {
            for mask in [!0, 0b101101, 0b010010, 0] {
                for vl in [6usize, 4] {
                    let masked = mask != !0;
                    let active = |i: usize| mask >> i & 1 == 1;
                    let first = (0..vl).find(|&i| active(i) && source >> i & 1 == 1);
                    for (name, f) in [
                        (
                            "vmsbf.m",
                            (|i, first| first.is_none_or(|f| i < f)) as fn(usize, Option<usize>) -> bool,
                        ),
                        ("vmsif.m", |i, first| first.is_none_or(|f| i <= f)),
                        ("vmsof.m", |i, first| first == Some(i)),
                    ] {
                        let old = 0b0011_0101_1001u64;
                        lab.set(8, Lmul::M1).vl(vl as u64).mask(0, mask).mask(9, source).mask(7, old);
                        lab.ok(ins(name).vd(7).vs2(9).masked(masked));
                        for i in 0..12 {
                            let want = match () {
                                () if i >= vl => policy == Agnostic::Ones || old >> i & 1 == 1,
                                () if active(i) => f(i, first),
                                () => old >> i & 1 == 1,
                            };
                            assert_eq!(
                                lab.bit(7, i),
                                want,
                                "{name} of {source:#b} under {mask:#b}, vl={vl}: bit {i}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn viota_is_the_sum_of_active_bits_below() {
    let mut random = Random(33);
    for vlen in [128u32, 16384] {
        let mut lab = Lab::new(vlen);
        for (sew, lmul) in vtypes(vlen) {
            for masked in [false, true] {
                lab.shake(&mut random).set(sew, lmul);
                let vl = random.below(lab.vlmax() + 1);
                lab.vl(vl);
                let before = lab.state();
                let bit = |r: u8, i: usize| lab.bit(r, i);
                let mut sum = 0;
                let want: Vec<Option<u64>> = (0..vl as usize)
                    .map(|i| {
                        let active = !masked || bit(0, i);
                        let value = low(sum, sew);
                        sum += u64::from(active && bit(VS2, i));
                        active.then_some(value)
                    })
                    .collect();
                lab.ok(ins("viota.m").vd(VD).vs2(VS2).masked(masked));
                for (i, want) in want.iter().enumerate() {
                    let at = usize::from(VD) * lab.hart.vector().vlenb;
                    let old = super::model::element(&before.v[at..], lab.hart.vector().vlenb, 0, sew, i);
                    assert_eq!(lab.get(VD, sew, i), want.unwrap_or(old), "e{sew},{lmul} element {i}");
                }
            }
        }
    }
    // More than 255 bits: the low SEW bits of the sum.
    let mut lab = Lab::new(4096);
    lab.set(8, Lmul::M8);
    lab.hart.vector_mut().register_mut(VS2).fill(0xff);
    lab.ok(ins("viota.m").vd(VD).vs2(VS2));
    assert_eq!((lab.get(VD, 8, 255), lab.get(VD, 8, 256), lab.get(VD, 8, 300)), (255, 0, 44));
}

#[test]
fn vid_is_the_index_whatever_the_mask() {
    for vlen in [128, 65536] {
        let mut lab = Lab::new(vlen);
        for (sew, lmul) in vtypes(vlen) {
            lab.shake(&mut Random(3)).set(sew, lmul);
            let vl = lab.vlmax() - lab.vlmax() / 3;
            lab.vl(vl);
            let old = lab.gets(VD, sew, lab.vlmax() as usize);
            lab.ok(ins("vid.v").vd(VD).m());
            for (i, old) in old.iter().enumerate() {
                let written = i < vl as usize && lab.bit(0, i);
                assert_eq!(lab.get(VD, sew, i), if written { low(i as u64, sew) } else { *old });
            }
        }
    }
    // vs2 must be v0.
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    for vs2 in 1..32u32 {
        lab.cites_word(ins("vid.v").vd(VD).word() | vs2 << 20, "vid_vs2_nv0_rsv");
    }
}

#[test]
fn mask_results_have_an_agnostic_tail_whatever_vta_says() {
    for name in [
        "vmseq.vv",
        "vmadc.vv",
        "vmsbc.vvm",
        "vmfeq.vv",
        "vmand.mm",
        "vmsbf.m",
        "vmsif.m",
        "vmsof.m",
        "vmsltu.vx",
    ] {
        for vta in [false, true] {
            let mut lab = Lab::policies(128, Agnostic::Ones, Agnostic::Undisturbed);
            lab.set_vtype(Vtype::new(sew_of(32), Lmul::M1, vta, false)).vl(2).mask(0, 0).mask(VD, 0);
            let form = super::forms::all().into_iter().find(|f| f.name() == name).unwrap();
            lab.ok(form.ins().masked(form.carry));
            assert!((2..128).all(|i| lab.bit(VD, i)), "{name}");
        }
    }
}
