//! Floating point: rounding, flags, NaN boxing, comparisons, and results against the host's arithmetic.

use super::forms::{self, SCALAR, VD, VS1, VS2};
use super::harness::*;
use rvv_isa::{Lmul, csr};

const NX: u8 = 1;
const UF_NX: u8 = 3;
const OF_NX: u8 = 5;
const DZ: u8 = 8;
const NV: u8 = 16;

fn boxed(bits: u32) -> u64 {
    0xffff_ffff_0000_0000 | u64::from(bits)
}

#[test]
fn a_reserved_frm_makes_every_vector_float_instruction_illegal() {
    let mut lab = Lab::new(128);
    let mut count = 0;
    for form in forms::all() {
        let Some(sew) = form.sews().into_iter().find(|&sew| form.fits(sew, Lmul::M1)) else { continue };
        for frm in 0..8 {
            lab.set(sew, Lmul::M1);
            let vlmax = lab.vlmax();
            for (vl, vstart) in [(0, 0), (vlmax, 0), (1, 1)] {
                if vstart > 0 && !form.restartable() || vstart >= vlmax {
                    continue;
                }
                lab.set(sew, Lmul::M1).vl(vl).vstart(vstart);
                forms::prepare(&mut lab, &form, sew);
                lab.hart.set_frm(frm);
                if form.float && frm > 4 {
                    lab.cites(form.ins(), "V_inv_frm_rsv");
                    count += 1;
                } else if form.egs == 1 && !matches!(form.vd, Some(forms::Width::Registers(_))) {
                    lab.ok(form.ins());
                }
            }
        }
    }
    assert!(count > 700, "{count}");
}

#[test]
fn float_operations_round_by_frm() {
    let third = |up: bool| if up { 0x3eaa_aaab } else { 0x3eaa_aaaa };
    let minus = 0x8000_0000;
    // 1/3 and -1/3, 1 + 2^-24 and its negative, by RNE, RTZ, RDN, RUP, RMM.
    let want = [
        [third(true), minus | third(true), 0x3f80_0000, minus | 0x3f80_0000],
        [third(false), minus | third(false), 0x3f80_0000, minus | 0x3f80_0000],
        [third(false), minus | third(true), 0x3f80_0000, minus | 0x3f80_0001],
        [third(true), minus | third(false), 0x3f80_0001, minus | 0x3f80_0000],
        [third(true), minus | third(true), 0x3f80_0001, minus | 0x3f80_0001],
    ];
    let one = 0x3f80_0000;
    for (frm, want) in want.iter().enumerate() {
        let mut lab = Lab::new(128);
        lab.write_csr(csr::FRM, frm as u64).unwrap();
        lab.set(32, Lmul::M1).vl(2).puts(VS2, 32, &[one, minus | one]).puts(VS1, 32, &[0x4040_0000; 2]);
        lab.ok(ins("vfdiv.vv").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.gets(VD, 32, 2), want[..2], "frm {frm}");
        assert_eq!(lab.hart.fflags().bits(), NX);
        lab.puts(VS1, 32, &[0x3380_0000, minus | 0x3380_0000]);
        lab.ok(ins("vfadd.vv").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.gets(VD, 32, 2), want[2..], "frm {frm}");
    }
}

#[test]
fn float_flags_are_raised_by_active_elements_and_accrue() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(1);
    let max = 0x7f7f_ffff;
    for (name, a, b, flags) in [
        ("vfadd.vv", max, max, OF_NX),
        ("vfmul.vv", 0x0080_0001, 0x3f00_0001, UF_NX),
        ("vfdiv.vv", 0x3f80_0000, 0, DZ),
        ("vfdiv.vv", 0, 0, NV),
        ("vfsub.vv", 0x7f80_0000, 0x7f80_0000, NV),
        ("vfmul.vv", 0x3f80_0001, 0x3f80_0001, NX),
        ("vfadd.vv", 0x3f80_0000, 0x4000_0000, 0),
        ("vfadd.vv", 0x7f80_0001, 0, NV),
        ("vfadd.vv", 0x7fc0_0000, 0, 0),
    ] {
        lab.put(VS2, 32, 0, a).put(VS1, 32, 0, b);
        lab.hart.set_fflags(Default::default());
        lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.hart.fflags().bits(), flags, "{name} {a:#x} {b:#x}");
        // Old flags stay.
        let mut old = lab.hart.fflags();
        old.raise(rvvsim::fp::Flags::UF);
        lab.hart.set_fflags(old);
        lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.hart.fflags().bits(), flags | 2);
    }
    // Every element counts, whatever order: the first or the last of a long vector.
    for i in [0usize, 1, 15, 16, 31] {
        lab.set(32, Lmul::M8);
        for k in 0..32 {
            lab.put(VS2, 32, k, 0x3f80_0000).put(VS1, 32, k, if k == i { 0 } else { 0x3f80_0000 });
        }
        lab.hart.set_fflags(Default::default());
        lab.ok(ins("vfdiv.vv").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.hart.fflags().bits(), DZ, "element {i}");
        lab.hart.set_fflags(Default::default());
        lab.vl(i as u64);
        lab.ok(ins("vfdiv.vv").vd(VD).vs2(VS2).vs1(VS1));
        assert_eq!(lab.hart.fflags().bits(), 0, "the tail raises nothing");
    }
}

#[test]
fn scalars_that_are_not_nan_boxed_are_the_canonical_nan() {
    // (SEW, one, canonical NaN, its box)
    for (sew, one, nan, high) in
        [(16, 0x3c00u64, 0x7e00u64, !0xffffu64), (32, 0x3f80_0000, 0x7fc0_0000, !0 << 32)]
    {
        let mut lab = Lab::new(128);
        lab.set(sew, Lmul::M1).vl(2).puts(VS2, sew, &[one, one]).mask(0, 0b11);
        for (value, want) in
            [(high | one, one), (one, nan), (high << 1 | one, nan), (0x7fff_ffff_0000_0000 & high | one, nan)]
        {
            lab.f(SCALAR, value);
            for name in ["vfmv.v.f", "vfmv.s.f", "vfmerge.vfm", "vfslide1up.vf", "vfmin.vf", "vfmul.vf"] {
                lab.hart.set_fflags(Default::default());
                lab.ok(ins(name).vd(VD).vs2(if name.starts_with("vfmv") { 0 } else { VS2 }).rs1(SCALAR));
                let want = if name == "vfmin.vf" { one } else { want };
                assert_eq!(lab.get(VD, sew, 0), want, "{name} of {value:#x}");
                assert_eq!(lab.hart.fflags().bits(), 0, "{name}: the canonical NaN is quiet");
            }
        }
    }
    // SEW = FLEN: all bits are the number's.
    let mut lab = Lab::new(128);
    lab.set(64, Lmul::M1).f(SCALAR, 0x1234_5678_9abc_def0);
    lab.ok(ins("vfmv.v.f").vd(VD).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 64, 2), [0x1234_5678_9abc_def0; 2]);
    // And the way back boxes.
    for (sew, high) in [(16, !0xffffu64), (32, !0 << 32), (64, 0)] {
        lab.set(sew, Lmul::M8).vl(0).put(VS2 + 1, sew, 0, 0x3a5a);
        lab.ok(ins("vfmv.f.s").rd(4).vs2(VS2 + 1));
        assert_eq!(lab.hart.f(4), high | 0x3a5a, "vl=0, an odd register at LMUL=8");
    }
}

#[test]
fn float_types_that_are_not_there_are_reserved() {
    let rule = ["V_fp_EEW_IEEE_nsupported_rsv", "V_fp_eew_rsv"];
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1);
    for name in [
        "vfadd.vv",
        "vfmacc.vv",
        "vfsqrt.v",
        "vmfeq.vv",
        "vfredosum.vs",
        "vfclass.v",
        "vfcvt.x.f.v",
        "vfmv.v.f",
        "vfmv.f.s",
        "vfslide1up.vf",
        "vfsgnj.vv",
        "vfwadd.vv",
    ] {
        let form = forms::all().into_iter().find(|f| f.name() == name).unwrap();
        lab.cites_any(form.ins(), &rule);
    }
    for (isa, good) in [
        ("rv64gc_zve32f", &[32][..]),
        ("rv64gc_zve64f", &[32]),
        ("rv64gc_zve64d", &[32, 64]),
        ("rv64gcv", &[32, 64]),
        ("rv64gcv_zvfhmin", &[32, 64]),
        ("rv64gcv_zvfh", &[16, 32, 64]),
    ] {
        let mut lab = Lab::isa(128, isa);
        for sew in [16, 32, 64] {
            lab.set(sew, Lmul::M1);
            if sew > lab.hart.config().isa.elen() {
                continue;
            }
            for name in [
                "vfadd.vv",
                "vmflt.vv",
                "vfmv.f.s",
                "vfslide1down.vf",
                "vfredusum.vs",
                "vfmerge.vfm",
                "vfcvt.f.x.v",
            ] {
                let form = forms::all().into_iter().find(|f| f.name() == name).unwrap();
                let ins = form.ins().masked(form.carry);
                if good.contains(&sew) { lab.ok(ins) } else { lab.cites_any(ins, &rule) }
            }
            // Widening: both widths must be there.
            let wide = sew < 64 && good.contains(&sew) && good.contains(&(2 * sew));
            let ins = ins("vfwadd.vv").vd(VD).vs2(VS2).vs1(VS1);
            if wide {
                lab.ok(ins)
            } else {
                let _ = lab.illegal(ins);
            }
        }
    }
    // Without floating point there are no such instructions.
    let mut lab = Lab::isa(128, "rv64gc_zve64x");
    lab.set(32, Lmul::M1);
    lab.illegal(ins("vfadd.vv").vd(VD).vs2(VS2).vs1(VS1));
    lab.illegal(ins("vfmv.f.s").rd(1).vs2(VS2));
}

#[test]
fn zvfhmin_converts_halves_and_does_nothing_else_with_them() {
    let mut lab = Lab::isa(128, "rv64gcv_zvfhmin");
    lab.set(16, Lmul::M1).vl(2).puts(VS2, 16, &[0x3c00, 0xc000]);
    lab.ok(ins("vfwcvt.f.f.v").vd(VD).vs2(VS2));
    assert_eq!(lab.gets(VD, 32, 2), [0x3f80_0000, 0xc000_0000]);
    lab.ok(ins("vfncvt.f.f.w").vd(VS1).vs2(VD));
    assert_eq!(lab.gets(VS1, 16, 2), [0x3c00, 0xc000]);
    for name in ["vfwcvt.x.f.v", "vfncvt.f.x.w", "vfadd.vv", "vfcvt.x.f.v", "vfwmul.vv", "vfncvt.rod.f.f.w"] {
        let form = forms::all().into_iter().find(|f| f.name() == name).unwrap();
        lab.illegal(form.ins());
    }
    // Bytes to halves are Zvfh's.
    lab.set(8, Lmul::M1);
    for name in [
        "vfwcvt.f.x.v",
        "vfwcvt.f.xu.v",
        "vfncvt.x.f.w",
        "vfncvt.xu.f.w",
        "vfncvt.rtz.x.f.w",
        "vfncvt.rtz.xu.f.w",
    ] {
        lab.illegal(ins(name).vd(VD).vs2(VS2));
    }
}

/// The numbers where things happen.
fn operand(random: &mut Random, sew: u32) -> u64 {
    let special64 = [
        0,
        1,
        0x3ff0 << 48,
        0x7ff0 << 48,
        0x7ff8 << 48,
        0x7ff0_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0x0010 << 48,
    ];
    let special32 = [0, 1, 0x3f80_0000, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001, 0x7f7f_ffff, 0x0080_0000];
    let sign = (random.next() & 1) << (sew - 1);
    match (random.below(4), sew) {
        (0, 64) => random.pick(&special64) | sign,
        (0, _) => random.pick(&special32) | sign,
        // Numbers of similar size, so that sums cancel and products do not all overflow.
        (1 | 2, 64) => sign | (0x3f8 + random.below(0x10)) << 52 | random.next() >> 12,
        (1 | 2, _) => sign | (0x78 + random.below(0x10)) << 23 | random.next() >> 41,
        _ => low(random.next(), sew),
    }
}

/// Single and double precision, round to nearest even, by the host.
#[test]
fn float_results_agree_with_the_host() {
    type Two = fn(f64, f64) -> f64;
    type Two32 = fn(f32, f32) -> f32;
    let two: [(&str, Two, Two32); 4] = [
        ("vfadd", |a, b| a + b, |a, b| a + b),
        ("vfsub", |a, b| a - b, |a, b| a - b),
        ("vfmul", |a, b| a * b, |a, b| a * b),
        ("vfdiv", |a, b| a / b, |a, b| a / b),
    ];
    // (name, product's sign, addend's sign, whether vd is the addend)
    let fused = [
        ("vfmacc", 1.0, 1.0, true),
        ("vfnmacc", -1.0, -1.0, true),
        ("vfmsac", 1.0, -1.0, true),
        ("vfnmsac", -1.0, 1.0, true),
        ("vfmadd", 1.0, 1.0, false),
        ("vfnmadd", -1.0, -1.0, false),
        ("vfmsub", 1.0, -1.0, false),
        ("vfnmsub", -1.0, 1.0, false),
    ];
    let canonical64 = |x: f64| if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
    let canonical32 = |x: f32| if x.is_nan() { 0x7fc0_0000 } else { u64::from(x.to_bits()) };
    let mut random = Random(77);
    for (sew, vlen, n, rounds) in
        [(32, 4096, 64, 20), (64, 4096, 64, 20), (32, 65536, 1900, 2), (64, 65536, 1000, 2)]
    {
        let mut lab = Lab::new(vlen);
        for round in 0..rounds {
            lab.set(sew, Lmul::M1).vl(n);
            let column = |random: &mut Random| (0..n).map(|_| operand(random, sew)).collect::<Vec<u64>>();
            let (a, mut b, d) = (column(&mut random), column(&mut random), column(&mut random));
            let scalar = round % 2 == 1;
            if scalar {
                b = vec![b[0]; n as usize];
            }
            lab.f(SCALAR, if sew == 32 { boxed(b[0] as u32) } else { b[0] });
            let f64s = |x: u64| f64::from_bits(x);
            let f32s = |x: u64| f32::from_bits(x as u32);
            let mut run = |base: &str, want: &dyn Fn(usize) -> u64| {
                lab.puts(VS2, sew, &a).puts(VS1, sew, &b).puts(VD, sew, &d);
                let ins = if scalar {
                    ins(&format!("{base}.vf")).vd(VD).vs2(VS2).rs1(SCALAR)
                } else {
                    ins(&format!("{base}.vv")).vd(VD).vs2(VS2).vs1(VS1)
                };
                lab.ok(ins);
                for i in 0..n as usize {
                    let got = lab.get(VD, sew, i);
                    assert_eq!(got, want(i), "{base} e{sew} {:#x} {:#x} {:#x}: {got:#x}", a[i], b[i], d[i]);
                }
            };
            for (base, f, g) in &two {
                run(base, &|i| {
                    if sew == 64 {
                        canonical64(f(f64s(a[i]), f64s(b[i])))
                    } else {
                        canonical32(g(f32s(a[i]), f32s(b[i])))
                    }
                });
            }
            for (base, p, s, addend) in fused {
                run(base, &|i| {
                    let (x, y) = if addend { (a[i], d[i]) } else { (d[i], a[i]) };
                    if sew == 64 {
                        canonical64((f64s(b[i]) * p).mul_add(f64s(x), f64s(y) * s))
                    } else {
                        canonical32((f32s(b[i]) * p as f32).mul_add(f32s(x), f32s(y) * s as f32))
                    }
                });
            }
            let sign = 1u64 << (sew - 1);
            run("vfsgnj", &|i| a[i] & !sign | b[i] & sign);
            run("vfsgnjn", &|i| a[i] & !sign | !b[i] & sign);
            run("vfsgnjx", &|i| a[i] ^ b[i] & sign);
            if scalar {
                let mut reverse = |name: &str, f: Two, g: Two32| {
                    lab.puts(VS2, sew, &a);
                    lab.ok(ins(name).vd(VD).vs2(VS2).rs1(SCALAR));
                    for i in 0..n as usize {
                        let want = if sew == 64 {
                            canonical64(f(f64s(b[i]), f64s(a[i])))
                        } else {
                            canonical32(g(f32s(b[i]), f32s(a[i])))
                        };
                        assert_eq!(lab.get(VD, sew, i), want, "{name}");
                    }
                };
                reverse("vfrsub.vf", |a, b| a - b, |a, b| a - b);
                reverse("vfrdiv.vf", |a, b| a / b, |a, b| a / b);
            }
            lab.puts(VS2, sew, &a);
            lab.ok(ins("vfsqrt.v").vd(VD).vs2(VS2));
            for (i, &a) in a.iter().enumerate() {
                let want = if sew == 64 { canonical64(f64s(a).sqrt()) } else { canonical32(f32s(a).sqrt()) };
                assert_eq!(lab.get(VD, sew, i), want, "vfsqrt of {a:#x}");
            }
        }
    }
}

/// 32 bits to 64: operands are promoted exactly, and there is one rounding.
#[test]
fn widening_float_results_agree_with_the_host() {
    let mut random = Random(78);
    let n = 64;
    let mut lab = Lab::new(4096);
    let canonical = |x: f64| if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
    for _ in 0..30 {
        lab.set(32, Lmul::M1).vl(n);
        let a: Vec<u64> = (0..n).map(|_| operand(&mut random, 32)).collect();
        let b: Vec<u64> = (0..n).map(|_| operand(&mut random, 32)).collect();
        let w: Vec<u64> = (0..n).map(|_| operand(&mut random, 64)).collect();
        let wide = |x: u64| f64::from(f32::from_bits(x as u32));
        let mut run = |name: &str, vs2_wide: bool, want: &dyn Fn(f64, f64, f64) -> f64| {
            lab.puts(VD, 64, &w).puts(VS1, 32, &b);
            if vs2_wide {
                lab.puts(VS2, 64, &w)
            } else {
                lab.puts(VS2, 32, &a)
            };
            lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
            for i in 0..n as usize {
                let x = if vs2_wide { f64::from_bits(w[i]) } else { wide(a[i]) };
                assert_eq!(
                    lab.get(VD, 64, i),
                    canonical(want(x, wide(b[i]), f64::from_bits(w[i]))),
                    "{name} element {i}"
                );
            }
        };
        run("vfwadd.vv", false, &|a, b, _| a + b);
        run("vfwsub.vv", false, &|a, b, _| a - b);
        run("vfwmul.vv", false, &|a, b, _| a * b);
        run("vfwadd.wv", true, &|a, b, _| a + b);
        run("vfwsub.wv", true, &|a, b, _| a - b);
        run("vfwmacc.vv", false, &|a, b, d| a.mul_add(b, d));
        run("vfwnmacc.vv", false, &|a, b, d| (-a).mul_add(b, -d));
        run("vfwmsac.vv", false, &|a, b, d| a.mul_add(b, -d));
        run("vfwnmsac.vv", false, &|a, b, d| (-a).mul_add(b, d));
    }
}

#[test]
fn vfmin_and_vfmax_are_minimum_number_and_maximum_number() {
    let nan = f64::NAN.to_bits() & !(1 << 63);
    let signaling = 0x7ff0_0000_0000_0001;
    let f = f64::to_bits;
    let cases = [
        (f(1.0), f(2.0), f(1.0), f(2.0), 0),
        (f(0.0), f(-0.0), f(-0.0), f(0.0), 0),
        (f(-0.0), f(0.0), f(-0.0), f(0.0), 0),
        (nan, f(3.0), f(3.0), f(3.0), 0),
        (f(3.0), nan, f(3.0), f(3.0), 0),
        (signaling, f(3.0), f(3.0), f(3.0), NV),
        (f(3.0), signaling, f(3.0), f(3.0), NV),
        (nan | 5 | 1 << 63, nan, 0x7ff8 << 48, 0x7ff8 << 48, 0),
        (signaling, nan, 0x7ff8 << 48, 0x7ff8 << 48, NV),
        (f(f64::NEG_INFINITY), f(-1.0), f(f64::NEG_INFINITY), f(-1.0), 0),
    ];
    let mut lab = Lab::new(128);
    lab.set(64, Lmul::M1).vl(1);
    for (a, b, min, max, flags) in cases {
        for (name, want) in [("vfmin", min), ("vfmax", max)] {
            lab.put(VS2, 64, 0, a).put(VS1, 64, 0, b).f(SCALAR, b);
            for scalar in [false, true] {
                lab.hart.set_fflags(Default::default());
                let ins = if scalar {
                    ins(&format!("{name}.vf")).rs1(SCALAR)
                } else {
                    ins(&format!("{name}.vv")).vs1(VS1)
                };
                lab.ok(ins.vd(VD).vs2(VS2));
                assert_eq!(
                    (lab.get(VD, 64, 0), lab.hart.fflags().bits()),
                    (want, flags),
                    "{name} {a:#x} {b:#x}"
                );
            }
        }
    }
}

#[test]
fn float_compares_of_nans_and_their_flags() {
    let (one, two) = (1.0f64.to_bits(), 2.0f64.to_bits());
    let (quiet, signaling) = (0x7ff8 << 48, 0x7ff0_0000_0000_0001);
    let mut lab = Lab::new(128);
    lab.set(64, Lmul::M1).vl(1);
    let all = ["vmfeq", "vmfne", "vmflt", "vmfle", "vmfgt", "vmfge"];
    // (a, b, results in the order above)
    for (a, b, want) in [
        (one, two, [0, 1, 1, 1, 0, 0]),
        (two, one, [0, 1, 0, 0, 1, 1]),
        (one, one, [1, 0, 0, 1, 0, 1]),
        (0, 1 << 63, [1, 0, 0, 1, 0, 1]),
        (quiet, one, [0, 1, 0, 0, 0, 0]),
        (one, quiet, [0, 1, 0, 0, 0, 0]),
        (quiet, quiet, [0, 1, 0, 0, 0, 0]),
        (signaling, one, [0, 1, 0, 0, 0, 0]),
        (one, signaling, [0, 1, 0, 0, 0, 0]),
    ] {
        let any_nan = [a, b].iter().any(|&x| x == quiet || x == signaling);
        let any_signaling = a == signaling || b == signaling;
        for (name, want) in all.iter().zip(want) {
            for scalar in [false, true] {
                if !scalar && matches!(*name, "vmfgt" | "vmfge") {
                    continue;
                }
                lab.put(VS2, 64, 0, a).put(VS1, 64, 0, b).f(SCALAR, b);
                lab.hart.set_fflags(Default::default());
                let ins = if scalar {
                    ins(&format!("{name}.vf")).rs1(SCALAR)
                } else {
                    ins(&format!("{name}.vv")).vs1(VS1)
                };
                lab.ok(ins.vd(VD).vs2(VS2));
                assert_eq!(u8::from(lab.bit(VD, 0)), want, "{name} {a:#x} {b:#x}");
                let quiet_compare = matches!(*name, "vmfeq" | "vmfne");
                let invalid = if quiet_compare { any_signaling } else { any_nan };
                assert_eq!(lab.hart.fflags().bits(), if invalid { NV } else { 0 }, "{name} {a:#x} {b:#x}");
            }
        }
    }
    // Into v0, under v0.
    lab.set(64, Lmul::M1).vl(2).mask(0, 0b10).puts(VS2, 64, &[one, one]).puts(VS1, 64, &[one, one]);
    lab.ok(ins("vmfeq.vv").vd(0).vs2(VS2).vs1(VS1).m());
    assert_eq!(lab.get(0, 8, 0) & 3, 0b10);
}

#[test]
fn vfclass_has_ten_classes_in_the_low_bits() {
    for (sew, exp, sig) in [(16u32, 5, 10), (32, 8, 23), (64, 11, 52)] {
        let sign = 1u64 << (sew - 1);
        let infinity = ((1u64 << exp) - 1) << sig;
        let classes = [
            sign | infinity,
            sign | 1 << sig,
            sign | 1,
            sign,
            0,
            1,
            1 << sig,
            infinity,
            infinity | 1,
            infinity | 1 << (sig - 1),
        ];
        let mut lab = Lab::new(1024);
        lab.set(sew, Lmul::M1).vl(10).puts(VS2, sew, &classes);
        lab.ok(ins("vfclass.v").vd(VD).vs2(VS2));
        for i in 0..10 {
            assert_eq!(lab.get(VD, sew, i), 1 << i, "e{sew} class {i}");
        }
        assert_eq!(lab.hart.fflags().bits(), 0);
    }
}

#[test]
fn vfmerge_takes_the_scalar_where_the_mask_is_set_in_the_whole_body() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(3).vstart(1).mask(0, 0b0101).f(SCALAR, boxed(9));
    lab.puts(VD, 32, &[90, 91, 92, 93]).puts(VS2, 32, &[1, 2, 3, 4]);
    lab.ok(ins("vfmerge.vfm").vd(VD).vs2(VS2).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 32, 4), [90, 2, 9, 93]);
    lab.ok(ins("vfmv.v.f").vd(VD).rs1(SCALAR));
    assert_eq!(lab.gets(VD, 32, 4), [9, 9, 9, 93]);
}

#[test]
fn half_precision_arithmetic_is_binary16() {
    let mut lab = Lab::new(128);
    lab.set(16, Lmul::M1).vl(4);
    // 1 + 2, 65504 + 16 (rounds to infinity by a tie), 1 + 2^-11 (a tie), the least subnormal halved.
    lab.puts(VS2, 16, &[0x3c00, 0x7bff, 0x3c00, 0x0001]).puts(VS1, 16, &[0x4000, 0x4c00, 0x1000, 0x0001]);
    lab.ok(ins("vfadd.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.gets(VD, 16, 4), [0x4200, 0x7c00, 0x3c00, 0x0002]);
    assert_eq!(lab.hart.fflags().bits(), OF_NX);
    // Widening from halves to singles is exact.
    lab.hart.set_fflags(Default::default());
    lab.ok(ins("vfwadd.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(
        lab.gets(VD, 32, 4),
        [3.0f32, 65520.0, 1.0 + 1.0 / 2048.0, 2f32.powi(-23)].map(|x| u64::from(x.to_bits()))
    );
    assert_eq!(lab.hart.fflags().bits(), 0);
    lab.puts(VS2, 16, &[0x3c00, 0x3555]).puts(VS1, 16, &[0x4200, 0x3c01]).vl(2);
    lab.ok(ins("vfdiv.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.get(VD, 16, 0), 0x3555);
}
