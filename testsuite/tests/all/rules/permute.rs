//! Moves between elements and scalars, slides, gathers, compress.

use super::forms::{SCALAR, VD, VS1, VS2};
use super::harness::*;
use super::model::element;
use rvv_isa::{Lmul, Vtype};
use rvvsim::config::Agnostic;

#[test]
fn vmv_x_s_sign_extends_element_0_whatever_vl_and_lmul() {
    let mut lab = Lab::new(128);
    for sew in [8, 16, 32, 64] {
        for lmul in [Lmul::M1, Lmul::M8] {
            for (vl, vstart) in [(1, 0), (0, 0), (1, 1)] {
                lab.set(sew, lmul).vl(vl).vstart(vstart);
                // Any register, an odd one even with LMUL=8.
                for value in [0x7654_3210_7654_3210u64, 0x8888_8888_8888_8888] {
                    lab.put(13, 64, 0, value).vstart(vstart);
                    lab.ok(ins("vmv.x.s").rd(5).vs2(13));
                    assert_eq!(lab.hart.x(5), sext(low(value, sew), sew) as u64);
                }
            }
        }
    }
}

#[test]
fn vmv_s_x_writes_element_0_and_the_rest_is_tail() {
    for name in ["vmv.s.x", "vfmv.s.f"] {
        for (vta, want) in [(false, 0x1111), (true, 0xffff)] {
            let mut lab = Lab::policies(128, Agnostic::Ones, Agnostic::Ones);
            let vtype = Vtype::new(sew_of(16), Lmul::M8, vta, true);
            lab.set_vtype(vtype).puts(13, 16, &[0x1111; 8]).puts(14, 16, &[0x1111; 8]);
            lab.x(SCALAR, 0xabcd_1234).f(SCALAR, 0xffff_ffff_ffff_1234);
            lab.ok(ins(name).vd(13).rs1(SCALAR));
            assert_eq!(lab.gets(13, 16, 8), [0x1234, want, want, want, want, want, want, want], "{name}");
            assert_eq!(lab.gets(14, 16, 8), [0x1111; 8], "{name}: EMUL is 1");
            // No element below vl, no operation.
            for (vl, vstart) in [(0, 0), (0, 3), (1, 1), (4, 4), (1, 3)] {
                lab.set_vtype(vtype).vl(vl).vstart(vstart);
                let mut before = lab.state();
                before.vstart = 0;
                lab.ok(ins(name).vd(13).rs1(SCALAR));
                assert!(lab.state() == before, "{name} vl={vl} vstart={vstart}");
            }
        }
    }
    // 64-bit elements take all of it.
    let mut lab = Lab::new(128);
    lab.set(64, Lmul::M1).x(SCALAR, 0x8000_0000_0000_0001);
    lab.ok(ins("vmv.s.x").vd(13).rs1(SCALAR));
    assert_eq!(lab.get(13, 64, 0), 0x8000_0000_0000_0001);
}

/// What a permutation does with an element: `None` to leave it, from the old sources.
type Plain<'a> = &'a dyn Fn(usize) -> Option<u64>;

fn check(lab: &mut Lab, ins: Ins, masked: bool, sew: u32, plain: Plain) {
    let before = lab.state();
    let vlenb = lab.hart.vector().vlenb;
    let (vl, vstart) = (before.vl as usize, before.vstart as usize);
    let n = lab.vlmax() as usize;
    let want: Vec<u64> = (0..n)
        .map(|i| {
            let old = element(&before.v, vlenb, VD, sew, i);
            let active = !masked || lab.bit(0, i);
            if i >= vstart && i < vl && active { plain(i).unwrap_or(old) } else { old }
        })
        .collect();
    lab.ok(ins.masked(masked));
    assert_eq!(lab.gets(VD, sew, n), want, "{} e{sew} vl={vl} vstart={vstart} masked={masked}", show(ins));
}

/// Every slide and gather at every vtype, with offsets around vl and VLMAX and far beyond.
#[test]
fn slides_and_gathers_agree_with_a_plain_loop() {
    let mut random = Random(41);
    for vlen in [128u32, 256, 8192] {
        let mut lab = Lab::new(vlen);
        for (sew, lmul) in vtypes(vlen) {
            for round in 0..24 {
                if vlen > 4096 && round > 3 {
                    continue;
                }
                lab.shake(&mut random).set(sew, lmul);
                let vlmax = lab.vlmax();
                let vl = random.pick(&[0, 1, vlmax / 2, vlmax, random.0 % (vlmax + 1)]);
                let vstart = if random.below(3) == 0 { random.below(vlmax) } else { 0 };
                let masked = random.below(2) == 0;
                let x = random.pick(&[
                    0,
                    1,
                    2,
                    vl / 2,
                    vl,
                    vlmax - 1,
                    vlmax,
                    vlmax + 1,
                    1 << 32,
                    !0,
                    1 << 63,
                    256,
                    65536,
                ]);
                lab.x(SCALAR, x).f(SCALAR, if sew == 64 { x } else { !0 << sew | low(x, sew) });
                let state = lab.state();
                let vlenb = lab.hart.vector().vlenb;
                let source =
                    |i: u64| if i < vlmax { element(&state.v, vlenb, VS2, sew, i as usize) } else { 0 };
                let imm = random.below(32);
                let mut go = |name: &str, scalar: u8, plain: Plain| {
                    lab.restore(&state);
                    lab.vl(vl).vstart(vstart);
                    let ins =
                        if name.ends_with(".vi") { ins(name).imm(imm as i32) } else { ins(name).rs1(scalar) };
                    check(&mut lab, ins.vd(VD).vs2(VS2), masked, sew, plain);
                };
                // OFFSET is not truncated; an index past VLMAX reads 0.
                go("vslideup.vx", SCALAR, &|i| (i as u64 >= x).then(|| source(i as u64 - x)));
                go("vslideup.vi", 0, &|i| (i as u64 >= imm).then(|| source(i as u64 - imm)));
                go("vslidedown.vx", SCALAR, &|i| Some((i as u64).checked_add(x).map_or(0, source)));
                go("vslidedown.vi", 0, &|i| Some(source(i as u64 + imm)));
                let scalar = low(x, sew);
                let up = |i: usize| Some(if i == 0 { scalar } else { source(i as u64 - 1) });
                let down = |i: usize| Some(if i as u64 == vl - 1 { scalar } else { source(i as u64 + 1) });
                go("vslide1up.vx", SCALAR, &up);
                go("vslide1down.vx", SCALAR, &down);
                if sew > 8 {
                    go("vfslide1up.vf", SCALAR, &up);
                    go("vfslide1down.vf", SCALAR, &down);
                }
                go("vrgather.vx", SCALAR, &|_| Some(source(x)));
                go("vrgather.vi", 0, &|_| Some(source(imm)));
                // Indices around VLMAX in vs1.
                lab.restore(&state);
                for i in 0..vlmax as usize {
                    let index = if random.below(4) == 0 { random.next() } else { random.below(vlmax + 2) };
                    lab.put(VS1, sew, i, index);
                }
                lab.vl(vl).vstart(vstart);
                let indices = lab.gets(VS1, sew, vlmax as usize);
                check(&mut lab, ins("vrgather.vv").vd(VD).vs2(VS2).vs1(VS1), masked, sew, &|i| {
                    Some(source(indices[i]))
                });
                // EMUL of the 16-bit indices.
                let emul = lmul.log2() + 4 - sew.ilog2() as i32;
                if (-3..=3).contains(&emul) {
                    lab.restore(&state);
                    for i in 0..vlmax as usize {
                        lab.put(VS1, 16, i, random.below(vlmax + 2));
                    }
                    lab.vl(vl).vstart(vstart);
                    let indices = lab.gets(VS1, 16, vlmax as usize);
                    check(&mut lab, ins("vrgatherei16.vv").vd(VD).vs2(VS2).vs1(VS1), masked, sew, &|i| {
                        Some(source(indices[i]))
                    });
                }
            }
        }
    }
}

/// Slides down and gathers read past `vl`, up to VLMAX.
#[test]
fn sources_are_read_past_vl() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    for i in 0..16 {
        lab.put(VS2, 8, i, 100 + i as u64);
    }
    lab.vl(2).x(SCALAR, 13).puts(VS1, 8, &[15, 16]);
    lab.ok(ins("vslidedown.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 8, 2), [113, 114]);
    lab.ok(ins("vrgather.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 8, 2), [115, 0], "index 16 is VLMAX");
    lab.ok(ins("vrgather.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 8, 2), [113, 113]);
    // An overlap is fine going down.
    lab.ok(ins("vslidedown.vx").vd(VS2).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VS2, 8, 3), [113, 114, 102]);
    // An index as wide as XLEN is not cut to SEW.
    lab.x(SCALAR, 256);
    lab.ok(ins("vrgather.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    lab.set(8, Lmul::M1).vl(2);
    assert_eq!(lab.gets(VD, 8, 2), [0, 0]);
    lab.ok(ins("vslidedown.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 8, 2), [0, 0]);
}

#[test]
fn vslide1down_puts_the_scalar_at_vl_less_one_if_active() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1)
        .vl(3)
        .mask(0, 0b011)
        .puts(VS2, 8, &[1, 2, 3, 4])
        .puts(VD, 8, &[9; 4])
        .x(SCALAR, 0x177);
    lab.ok(ins("vslide1down.vx").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 8, 4), [2, 3, 0x77, 9]);
    lab.puts(VD, 8, &[9; 4]);
    lab.ok(ins("vslide1down.vx").vd(VD).vs2(VS2).rs1(SCALAR).m());
    assert_eq!(lab.gets(VD, 8, 4), [2, 3, 9, 9]);
    lab.mask(0, 0b110).puts(VD, 8, &[9; 4]);
    lab.ok(ins("vslide1up.vx").vd(VD).vs2(VS2).rs1(SCALAR).m());
    assert_eq!(lab.gets(VD, 8, 4), [9, 1, 2, 9]);
}

#[test]
fn vcompress_packs_the_selected_elements_and_the_rest_is_tail() {
    let mut random = Random(43);
    for policy in [Agnostic::Undisturbed, Agnostic::Ones] {
        for vlen in [128u32, 8192] {
            let mut lab = Lab::policies(vlen, policy, Agnostic::Undisturbed);
            for (sew, lmul) in vtypes(vlen) {
                lab.shake(&mut random).set_vtype(Vtype::new(sew_of(sew), lmul, true, false));
                let vl = 1 + random.below(lab.vlmax());
                lab.vl(vl);
                let n = (lmul.registers() * vlen / sew) as usize;
                let packed: Vec<u64> =
                    (0..vl as usize).filter(|&i| lab.bit(VS1, i)).map(|i| lab.get(VS2, sew, i)).collect();
                let old = lab.gets(VD, sew, n);
                lab.ok(ins("vcompress.vm").vd(VD).vs2(VS2).vs1(VS1));
                let tail = |i: usize| if policy == Agnostic::Ones { low(!0, sew) } else { old[i] };
                let want: Vec<u64> =
                    (0..n).map(|i| packed.get(i).copied().unwrap_or_else(|| tail(i))).collect();
                assert_eq!(lab.gets(VD, sew, n), want, "e{sew},{lmul} vl={vl}");
            }
        }
    }
}
