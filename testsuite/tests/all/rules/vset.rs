//! `vsetvli`, `vsetivli` and `vsetvl`.

use super::harness::*;
use rvv_isa::{Lmul, Vtype, csr};
use rvvsim::config::{VlChoice, VsetvlX0};

fn vlmax(vlen: u32, sew: u32, lmul: Lmul) -> u64 {
    // LMUL*VLEN/SEW
    let elements = u64::from(vlen / sew);
    if lmul.log2() < 0 { elements >> -lmul.log2() } else { elements << lmul.log2() }
}

fn bits(sew: u32, lmul: Lmul) -> i32 {
    (lmul.log2() & 7) | (sew.ilog2() as i32 - 3) << 3
}

#[test]
fn vset_writes_vtype_vl_and_rd() {
    for vlen in [128, 512, 65536] {
        let mut lab = Lab::new(vlen);
        for (sew, lmul) in vtypes(vlen) {
            for policies in [0, 1 << 6, 1 << 7, 3 << 6] {
                let (vtype, vlmax) = (bits(sew, lmul) | policies, vlmax(vlen, sew, lmul));
                let avl = vlmax.min(3);
                lab.x(1, avl).x(2, vtype as u64);
                let all = [
                    ins("vsetvli").rd(5).rs1(1).imm(vtype),
                    ins("vsetivli").rd(5).rs1(avl as u8).imm(vtype),
                    ins("vsetvl").rd(5).rs1(1).rs2(2),
                ];
                for ins in all {
                    lab.hart.vector_mut().vtype = Vtype::VILL;
                    lab.vl(0).vstart(1).x(5, 99);
                    lab.ok(ins);
                    assert_eq!(lab.csr(csr::VTYPE), vtype as u64, "{}", show(ins));
                    assert_eq!((lab.csr(csr::VL), lab.hart.x(5)), (avl, avl), "{}", show(ins));
                }
            }
        }
    }
}

#[test]
fn vl_obeys_the_constraints_under_every_choice() {
    for choice in [VlChoice::Max, VlChoice::Half, VlChoice::Random(1), VlChoice::Random(77)] {
        for vlen in [128, 1024] {
            let mut lab = Lab::with(vlen, |config| config.vl = choice);
            for (sew, lmul) in vtypes(vlen) {
                let vlmax = vlmax(vlen, sew, lmul);
                let mut seen = std::collections::BTreeMap::new();
                for avl in
                    (0..=4 * vlmax.min(40)).chain([vlmax, vlmax + 1, 2 * vlmax - 1, 2 * vlmax, !0, 1 << 63])
                {
                    lab.x(1, avl);
                    lab.ok(ins("vsetvli").rd(5).rs1(1).imm(bits(sew, lmul)));
                    let vl = lab.csr(csr::VL);
                    assert_eq!(lab.hart.x(5), vl);
                    let context = format!("{choice:?}: AVL {avl} of VLMAX {vlmax} gives {vl}");
                    if avl <= vlmax {
                        assert_eq!(vl, avl, "{context}");
                    } else if avl >= 2 * vlmax {
                        assert_eq!(vl, vlmax, "{context}");
                    } else {
                        assert!(vl >= avl.div_ceil(2) && vl <= vlmax, "{context}");
                        // egs_vl_avl: EGSMAX is 8 with SM3.
                        assert!(vl == vlmax || (vl > 0 && vl.is_multiple_of(8)), "{context}: element groups");
                    }
                    assert_eq!(*seen.entry(avl).or_insert(vl), vl, "{context}: deterministic");
                    // The value read back as AVL gives itself.
                    lab.x(1, vl);
                    lab.ok(ins("vsetvli").rd(6).rs1(1).imm(bits(sew, lmul)));
                    assert_eq!(lab.hart.x(6), vl, "{context}: again");
                }
            }
        }
    }
}

#[test]
fn vl_choice_half_is_the_least_and_random_is_in_between() {
    // Without element groups any value will do.
    let isa = "rv64gcv";
    let vl = |choice, avl| {
        let mut lab = Lab::with(1024, |config| (config.vl, config.isa) = (choice, isa.parse().unwrap()));
        lab.x(1, avl);
        lab.ok(ins("vsetvli").rd(5).rs1(1).imm(bits(8, Lmul::M1)));
        lab.hart.x(5)
    };
    for avl in 129..256 {
        assert_eq!(vl(VlChoice::Max, avl), 128);
        assert_eq!(vl(VlChoice::Half, avl), avl.div_ceil(2));
    }
    let values: std::collections::BTreeSet<u64> =
        (0..50).map(|seed| vl(VlChoice::Random(seed), 150)).collect();
    assert!(values.len() > 10, "{values:?}");
    assert!(values.iter().all(|vl| (75..=128).contains(vl)), "{values:?}");
}

#[test]
fn vsetvl_rs1_x0_rd_not_x0_takes_vlmax() {
    for choice in [VlChoice::Max, VlChoice::Half, VlChoice::Random(3)] {
        let mut lab = Lab::with(256, |config| config.vl = choice);
        for (sew, lmul) in vtypes(256) {
            let want = vlmax(256, sew, lmul);
            lab.vl(1).x(2, bits(sew, lmul) as u64);
            lab.ok(ins("vsetvli").rd(5).imm(bits(sew, lmul)));
            assert_eq!((lab.hart.x(5), lab.csr(csr::VL)), (want, want));
            lab.vl(1);
            lab.ok(ins("vsetvl").rd(5).rs2(2));
            assert_eq!((lab.hart.x(5), lab.csr(csr::VL)), (want, want));
        }
    }
}

#[test]
fn vsetvl_rs1_not_x0_rd_x0_sets_vl_all_the_same() {
    let mut lab = Lab::new(128);
    lab.x(1, 3);
    lab.ok(ins("vsetvli").rs1(1).imm(bits(8, Lmul::M1)));
    assert_eq!((lab.csr(csr::VL), lab.hart.x(0)), (3, 0));
}

#[test]
fn vsetvl_x0_x0_keeps_vl_where_vlmax_stays() {
    let mut lab = Lab::new(256);
    for (sew, lmul) in vtypes(256) {
        for (sew2, lmul2) in vtypes(256) {
            let vl = vlmax(256, sew, lmul).min(3);
            let same = vlmax(256, sew, lmul) == vlmax(256, sew2, lmul2);
            for register in [false, true] {
                lab.set(sew, lmul).vl(vl).vstart(1).x(2, bits(sew2, lmul2) as u64);
                let ins = if register { ins("vsetvl").rs2(2) } else { ins("vsetvli").imm(bits(sew2, lmul2)) };
                lab.ok(ins);
                if same {
                    assert_eq!(lab.hart.vector().vtype, Vtype::new(sew_of(sew2), lmul2, false, false));
                    assert_eq!((lab.hart.vector().vl, lab.hart.x(0)), (vl, 0));
                } else {
                    // vtype_vset_rsv, reserved_vill_set: reserved, and here vill is set.
                    assert_eq!((lab.hart.vector().vtype, lab.hart.vector().vl), (Vtype::VILL, 0));
                }
            }
        }
    }
    // vtype_vset_rsv: reserved if vill was set before, too.
    lab.hart.vector_mut().vtype = Vtype::VILL;
    lab.vl(0);
    lab.ok(ins("vsetvli").imm(bits(8, Lmul::M1)));
    assert_eq!(lab.hart.vector().vtype, Vtype::VILL);
}

#[test]
fn vsetvl_x0_x0_that_changes_vlmax_has_other_choices() {
    for (choice, from, want) in
        [(VsetvlX0::Keep, 16, 16), (VsetvlX0::Clamp, 16, 8), (VsetvlX0::Clamp, 5, 5), (VsetvlX0::Keep, 5, 5)]
    {
        let mut lab = Lab::with(128, |config| config.vsetvl_x0 = choice);
        lab.set(8, Lmul::M1).vl(from);
        lab.ok(ins("vsetvli").imm(bits(16, Lmul::M1)));
        assert_eq!((lab.csr(csr::VTYPE), lab.csr(csr::VL)), (0b001_000, want), "{choice:?}");
    }
}

#[test]
fn vsetivli_avl_is_a_zero_extended_immediate() {
    let mut lab = Lab::new(512);
    for avl in 0..32 {
        lab.ok(ins("vsetivli").rd(5).rs1(avl).imm(bits(8, Lmul::M1)));
        assert_eq!((lab.hart.x(5), lab.csr(csr::VL)), (avl.into(), avl.into()));
        // Register 0 as destination, AVL 0: neither is special.
        lab.ok(ins("vsetivli").rd(0).rs1(avl).imm(bits(8, Lmul::M1)));
        assert_eq!(lab.csr(csr::VL), u64::from(avl));
    }
}

#[test]
fn unsupported_vtype_sets_vill_and_clears_vl_and_the_rest() {
    let mut lab = Lab::new(128);
    // Every bit counts: one too many anywhere makes vill.
    let mut bad: Vec<u64> = (8..64).map(|bit| 1 << bit | 0b0001_0000).collect();
    bad.extend([0b100, 0b100_000, 0b111_000, 0b011_101, 0b010_101, 0b001_101, 0b011_110, 0b011_111]);
    for value in bad {
        lab.set(8, Lmul::M1).x(1, 7).x(2, value).x(5, 99);
        lab.ok(ins("vsetvl").rd(5).rs1(1).rs2(2));
        assert_eq!((lab.csr(csr::VTYPE), lab.csr(csr::VL), lab.hart.x(5)), (1 << 63, 0, 0), "{value:#x}");
        if value < 1 << 11 {
            lab.set(8, Lmul::M1).x(5, 99);
            lab.ok(ins("vsetvli").rd(5).rs1(1).imm(value as i32));
            assert_eq!((lab.csr(csr::VTYPE), lab.csr(csr::VL), lab.hart.x(5)), (1 << 63, 0, 0), "{value:#x}");
        }
        if value < 1 << 10 {
            lab.set(8, Lmul::M1).x(5, 99);
            lab.ok(ins("vsetivli").rd(5).rs1(9).imm(value as i32));
            assert_eq!((lab.csr(csr::VTYPE), lab.csr(csr::VL), lab.hart.x(5)), (1 << 63, 0, 0), "{value:#x}");
        }
    }
}

#[test]
fn fractional_lmul_goes_down_to_8_over_elen() {
    // (isa, VLEN, the supported (SEW, LMUL) of the fractions)
    for (isa, vlen, elen) in
        [("rv64gcv", 128, 64), ("rv64i_zve64x", 64, 64), ("rv64i_zve32x", 64, 32), ("rv64i_zve32x", 32, 32)]
    {
        let mut lab = Lab::isa(vlen, isa);
        for lmul in Lmul::ALL {
            for sew in [8u32, 16, 32, 64] {
                let fraction = -lmul.log2().min(0);
                let least = elen.min(vlen);
                let good = sew <= elen && sew << fraction <= least;
                lab.x(1, 1);
                lab.ok(ins("vsetvli").rd(5).rs1(1).imm(bits(sew, lmul)));
                let want = if good { bits(sew, lmul) as u64 } else { 1 << 63 };
                assert_eq!(lab.csr(csr::VTYPE), want, "{isa} VLEN {vlen}: e{sew},{lmul}");
                if good {
                    lab.ok(ins("vsetvli").rd(5).imm(bits(sew, lmul)));
                    assert_eq!(lab.hart.x(5), vlmax(vlen, sew, lmul));
                }
            }
        }
    }
}

#[test]
fn vset_never_traps_on_vstart_and_clears_it() {
    let mut lab = Lab::new(128);
    for name in ["vsetvli", "vsetivli", "vsetvl"] {
        lab.set(8, Lmul::M1).vstart(127).x(1, 4).x(2, 0);
        lab.ok(ins(name).rd(5).rs1(1).rs2(2));
        assert_eq!(lab.csr(csr::VSTART), 0);
    }
}
