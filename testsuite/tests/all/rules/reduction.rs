//! Reductions.

use super::forms::{self, VD, VS1, VS2};
use super::harness::*;
use rvv_isa::{Lmul, Vtype};
use rvvsim::config::Agnostic;

fn reductions() -> Vec<forms::Form> {
    forms::all().into_iter().filter(|form| form.name().contains("red")).collect()
}

/// Every integer reduction at every vtype, masked and not, against a plain loop.
#[test]
fn integer_reductions_agree_with_a_plain_loop() {
    let mut random = Random(21);
    for vlen in [128, 512, 16384] {
        let mut lab = Lab::new(vlen);
        for form in reductions().iter().filter(|form| !form.float) {
            let name = form.name();
            let wide = name.starts_with("vw");
            for (sew, lmul) in vtypes(vlen) {
                if wide && sew == 64 {
                    continue;
                }
                for masked in [false, true] {
                    lab.shake(&mut random).set(sew, lmul);
                    let vl = 1 + random.below(lab.vlmax());
                    lab.vl(vl);
                    let out = if wide { 2 * sew } else { sew };
                    let signed = matches!(name, "vredmax.vs" | "vredmin.vs" | "vwredsum.vs");
                    let value =
                        |x: u64, bits: u32| if signed { i128::from(sext(x, bits)) } else { i128::from(x) };
                    let mut sum = value(lab.get(VS1, out, 0), out);
                    for i in (0..vl as usize).filter(|&i| !masked || lab.bit(0, i)) {
                        let x = value(lab.get(VS2, sew, i), sew);
                        sum = match name {
                            "vredsum.vs" | "vwredsum.vs" | "vwredsumu.vs" => sum + x,
                            "vredmax.vs" | "vredmaxu.vs" => sum.max(x),
                            "vredmin.vs" | "vredminu.vs" => sum.min(x),
                            "vredand.vs" => sum & x,
                            "vredor.vs" => sum | x,
                            _ => sum ^ x,
                        };
                    }
                    let before = lab.state();
                    lab.ok(form.ins().masked(masked));
                    assert_eq!(
                        lab.get(VD, out, 0),
                        low(sum as u64, out),
                        "{name} e{sew},{lmul} vl={vl} masked={masked}"
                    );
                    // The rest of the one register of the result is tail, and undisturbed here.
                    let after = lab.state();
                    let at = usize::from(VD) * lab.hart.vector().vlenb;
                    assert_eq!(after.v[..at], before.v[..at]);
                    assert_eq!(after.v[at + out as usize / 8..], before.v[at + out as usize / 8..], "{name}");
                }
            }
        }
    }
}

#[test]
fn reductions_use_element_0_of_any_register_for_scalars() {
    for lmul in Lmul::ALL {
        let mut lab = Lab::new(128);
        lab.set_vtype(Vtype::new(sew_of(8), lmul, false, false));
        // Odd registers, whatever LMUL.
        lab.vl(2).puts(16, 8, &[3, 4]).put(5, 8, 0, 10);
        lab.ok(ins("vredsum.vs").vd(7).vs2(16).vs1(5));
        assert_eq!(lab.get(7, 8, 0), 17, "{lmul}");
        lab.put(5, 16, 0, 1000);
        lab.ok(ins("vwredsumu.vs").vd(7).vs2(16).vs1(5));
        assert_eq!(lab.get(7, 16, 0), 1007, "{lmul}");
    }
    // A widening reduction at LMUL=8: its scalars have EMUL=1.
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M8).vl(1).put(16, 32, 0, 0xffff_ffff).put(5, 64, 0, 5);
    lab.ok(ins("vwredsum.vs").vd(7).vs2(16).vs1(5));
    assert_eq!(lab.get(7, 64, 0), 4);
    lab.ok(ins("vwredsumu.vs").vd(7).vs2(16).vs1(5));
    assert_eq!(lab.get(7, 64, 0), 0x1_0000_0004);
}

#[test]
fn reductions_do_nothing_with_vl_0_and_always_include_the_scalar() {
    for policy in POLICIES {
        let mut lab = Lab::policies(128, policy, policy);
        for form in reductions() {
            let sew = *form.sews().last().unwrap();
            let vtype = Vtype::new(sew_of(sew), Lmul::M1, true, true);
            lab.shake(&mut Random(4)).set_vtype(vtype).vl(0);
            let before = lab.state();
            lab.ok(form.ins());
            assert!(lab.state() == before, "{}", form.name());
            // No element is active: the scalar comes through.
            let out = form.eew(sew);
            lab.set_vtype(vtype).vl(2).mask(0, 0).put(VS1, out, 0, 0x2345);
            lab.ok(form.ins().m());
            assert_eq!(lab.get(VD, out, 0), 0x2345, "{}", form.name());
        }
    }
}

#[test]
fn reductions_tail_is_the_rest_of_the_register_under_vta() {
    for (vta, tail, want) in
        [(false, Agnostic::Ones, 0x11), (true, Agnostic::Ones, 0xff), (true, Agnostic::Undisturbed, 0x11)]
    {
        let mut lab = Lab::policies(128, tail, Agnostic::Undisturbed);
        lab.set_vtype(Vtype::new(sew_of(8), Lmul::M4, vta, false));
        for r in 8..12 {
            lab.puts(r, 8, &[0x11; 16]);
        }
        lab.ok(ins("vredsum.vs").vd(8).vs2(16).vs1(20));
        assert_eq!(lab.gets(8, 8, 16)[1..], [want; 15]);
        assert_eq!(lab.gets(9, 8, 16), [0x11; 16], "the next register is not the destination's");
    }
}

#[test]
fn instructions_that_cannot_resume_are_illegal_with_vstart() {
    let mut lab = Lab::new(128);
    let mut count = 0;
    for form in forms::all() {
        let Some(sew) = form.sews().into_iter().find(|&sew| form.fits(sew, Lmul::M1) && form.egs == 1) else {
            continue;
        };
        for vstart in [1, 5] {
            lab.set(sew, Lmul::M8);
            if !form.fits(sew, Lmul::M8) {
                lab.set(sew, Lmul::M1);
            }
            if vstart >= lab.vlmax() || matches!(form.vd, Some(forms::Width::Registers(_))) {
                continue;
            }
            lab.vstart(vstart);
            forms::prepare(&mut lab, &form, sew);
            if form.restartable() {
                lab.ok(form.ins().masked(form.carry));
                continue;
            }
            let rule = match form.name() {
                "vcpop.m" => "vcpop_vstart_n0_ill",
                "vfirst.m" => "vfirst_vstart_n0_ill",
                "vmsbf.m" => "vmsbf_vstart_n0_ill",
                "vmsif.m" => "vmsif_vstart_n0_ill",
                "vmsof.m" => "vmsof_vstart_n0_ill",
                "viota.m" => "viota_vstart_n0_ill",
                "vcompress.vm" => "vcompress_vstart_n0_ill",
                _ => "vreduction_vstart_n0_ill",
            };
            lab.cites(form.ins(), rule);
            // Even if there would be nothing to do.
            lab.vl(0);
            lab.cites(form.ins(), rule);
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn vstart_past_the_last_element_index_is_reserved() {
    let mut lab = Lab::new(128);
    for form in forms::all().iter().filter(|form| form.restartable()) {
        for (sew, lmul) in vtypes(128) {
            if !form.sews().contains(&sew)
                || !form.fits(sew, lmul)
                || form.egs > 1
                || matches!(form.vd, Some(forms::Width::Registers(_)))
            {
                continue;
            }
            lab.set(sew, lmul);
            let vlmax = lab.vlmax();
            forms::prepare(&mut lab, form, sew);
            lab.vl(0).vstart(vlmax - 1);
            lab.ok(form.ins().masked(form.carry));
            for vstart in [vlmax, vlmax + 1, 127] {
                if vstart < vlmax {
                    continue;
                }
                lab.vl(vlmax).vstart(vstart);
                lab.cites(form.ins().masked(form.carry), "vstart_val_rsv");
            }
        }
    }
}

fn f32s(values: &[f32]) -> Vec<u64> {
    values.iter().map(|x| u64::from(x.to_bits())).collect()
}

#[test]
fn vfredosum_adds_in_element_order_from_the_scalar() {
    let mut random = Random(5);
    let mut lab = Lab::new(1024);
    for _ in 0..200 {
        lab.set(32, Lmul::M1);
        let vl = 1 + random.below(lab.vlmax());
        // Numbers of very different sizes: the order shows.
        let values: Vec<f32> = (0..vl)
            .map(|_| {
                f32::from_bits(
                    (random.below(60) as u32 + 100) << 23
                        | random.next() as u32 >> 9
                        | (random.next() as u32) << 31,
                )
            })
            .collect();
        let masked = random.below(2) == 0;
        lab.vl(vl).put(0, 64, 0, random.next()).puts(VS2, 32, &f32s(&values)).puts(VS1, 32, &f32s(&[1.5]));
        let active = |i: usize| !masked || lab.bit(0, i);
        let sum = (0..vl as usize).filter(|&i| active(i)).fold(1.5f32, |sum, i| sum + values[i]);
        lab.ok(ins("vfredosum.vs").vd(VD).vs2(VS2).vs1(VS1).masked(masked));
        assert_eq!(lab.get(VD, 32, 0), u64::from(sum.to_bits()));
        // The widening one adds in double precision.
        let active = |i: usize| !masked || lab.bit(0, i);
        let sum = (0..vl as usize).filter(|&i| active(i)).fold(1.5f64, |sum, i| sum + f64::from(values[i]));
        lab.put(VS1, 64, 0, 1.5f64.to_bits());
        lab.ok(ins("vfwredosum.vs").vd(VD).vs2(VS2).vs1(VS1).masked(masked));
        assert_eq!(lab.get(VD, 64, 0), sum.to_bits());
    }
    // Flags: of the additions of active elements only. Masked-off ones: none.
    lab.set(32, Lmul::M1).vl(2).mask(0, 0b01).puts(VS2, 32, &[0x3f80_0000, 0x7f80_0001]).puts(
        VS1,
        32,
        &f32s(&[1.0]),
    );
    lab.hart.set_fflags(Default::default());
    lab.ok(ins("vfredosum.vs").vd(VD).vs2(VS2).vs1(VS1).m());
    assert_eq!((lab.get(VD, 32, 0), lab.hart.fflags().bits()), (0x4000_0000, 0));
    lab.ok(ins("vfredosum.vs").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!((lab.get(VD, 32, 0), lab.hart.fflags().bits()), (0x7fc0_0000, 16));
    // No active element: the scalar as it is, a signaling NaN even, and no flags.
    lab.hart.set_fflags(Default::default());
    lab.mask(0, 0).put(VS1, 32, 0, 0x7f80_0001);
    lab.ok(ins("vfredosum.vs").vd(VD).vs2(VS2).vs1(VS1).m());
    assert_eq!((lab.get(VD, 32, 0), lab.hart.fflags().bits()), (0x7f80_0001, 0));
}

#[test]
fn vfredusum_is_some_tree_and_always_the_same() {
    let mut random = Random(6);
    let mut lab = Lab::new(512);
    for frm in 0..5 {
        lab.hart.set_frm(frm);
        for vl in 1..=16u64 {
            lab.set(32, Lmul::M1).vl(vl);
            // Sums of small integers are exact in any order.
            let values: Vec<f32> = (0..vl).map(|_| random.below(1000) as f32 - 500.0).collect();
            lab.puts(VS2, 32, &f32s(&values)).puts(VS1, 32, &f32s(&[7.0]));
            lab.hart.set_fflags(Default::default());
            lab.ok(ins("vfredusum.vs").vd(VD).vs2(VS2).vs1(VS1));
            let sum = values.iter().sum::<f32>() + 7.0;
            let zero = if frm == 2 { 1 << 31 } else { 0 };
            let want = if sum == 0.0 { zero } else { u64::from(sum.to_bits()) };
            assert_eq!((lab.get(VD, 32, 0), lab.hart.fflags().bits()), (want, 0), "frm {frm} vl={vl}");
            lab.put(VS1, 64, 0, 7.0f64.to_bits());
            lab.ok(ins("vfwredusum.vs").vd(VD).vs2(VS2).vs1(VS1));
            if sum != 0.0 {
                assert_eq!(lab.get(VD, 64, 0), f64::from(sum).to_bits(), "frm {frm} vl={vl}");
            }
            // Inexact ones: whatever the order, it is the same each time.
            let values: Vec<u64> =
                (0..vl).map(|_| (random.below(60) + 100) << 23 | random.below(1 << 23)).collect();
            lab.puts(VS2, 32, &values).puts(VS1, 32, &f32s(&[7.0]));
            lab.ok(ins("vfredusum.vs").vd(VD).vs2(VS2).vs1(VS1));
            let first = lab.get(VD, 32, 0);
            lab.ok(ins("vfredusum.vs").vd(VD).vs2(VS2).vs1(VS1));
            assert_eq!(lab.get(VD, 32, 0), first);
        }
    }
    // The additive identity does not change the sign of a zero: -0.0, but +0.0 when rounding down.
    for frm in 0..5 {
        lab.hart.set_frm(frm);
        for zero in [0, 1u64 << 31] {
            lab.set(32, Lmul::M1).vl(3).mask(0, 0).put(VS1, 32, 0, zero);
            lab.ok(ins("vfredusum.vs").vd(VD).vs2(VS2).vs1(VS1).m());
            assert_eq!(lab.get(VD, 32, 0), zero, "frm {frm}");
            // One active element of the same zero.
            lab.mask(0, 0b10).puts(VS2, 32, &[0x3f80_0000, zero, 0x3f80_0000]);
            lab.ok(ins("vfredusum.vs").vd(VD).vs2(VS2).vs1(VS1).m());
            assert_eq!(lab.get(VD, 32, 0), zero, "frm {frm}");
        }
    }
}

#[test]
fn vfredmin_and_vfredmax_ignore_nans() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(4);
    let nan = f32::NAN;
    for (values, scalar, min, max) in [
        ([1.0, -2.0, 3.0, 0.5], 0.0, -2.0, 3.0),
        ([nan, -2.0, nan, 0.5], nan, -2.0, 0.5),
        ([0.0, -0.0, 0.0, -0.0], 0.0, -0.0, 0.0),
        ([nan, nan, nan, nan], 4.0, 4.0, 4.0),
    ] {
        lab.puts(VS2, 32, &f32s(&values)).puts(VS1, 32, &f32s(&[scalar]));
        lab.hart.set_fflags(Default::default());
        lab.ok(ins("vfredmin.vs").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.gets(VD, 32, 1), f32s(&[min]), "{values:?}");
        lab.ok(ins("vfredmax.vs").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.gets(VD, 32, 1), f32s(&[max]), "{values:?}");
        assert_eq!(lab.hart.fflags().bits(), 0);
    }
    lab.puts(VS2, 32, &[0x7f80_0001, 0, 0, 0]);
    lab.ok(ins("vfredmin.vs").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.hart.fflags().bits(), 16, "a signaling NaN");
}
