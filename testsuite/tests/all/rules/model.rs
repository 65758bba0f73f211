//! The plain model: what an element becomes, one at a time, in wide integers.

use super::forms::{Form, Width};
use super::harness::{Ins, Lab, State};

/// The operands of one element, as they are in the registers.
#[derive(Clone, Copy)]
pub struct Element {
    pub sew: u32,
    /// `vs2`, and its width.
    pub a: u64,
    pub a_bits: u32,
    /// `vs1`, the scalar or the immediate.
    pub b: u64,
    /// The old `vd`.
    pub d: u64,
    /// `v0.mask`.
    pub c: bool,
    pub vxrm: u8,
}

fn signed(value: u64, bits: u32) -> i128 {
    i128::from((value << (64 - bits)) as i64 >> (64 - bits))
}

fn unsigned(value: u64, bits: u32) -> i128 {
    i128::from(value << (64 - bits) >> (64 - bits))
}

/// (v >> d) + r, as the table of rounding modes has it.
fn roundoff(v: i128, d: u32, vxrm: u8) -> i128 {
    if d == 0 {
        return v;
    }
    let bit = |n: u32| v >> n & 1;
    let below = |n: u32| v & ((1 << n) - 1) != 0;
    let r = match vxrm {
        0 => bit(d - 1),
        1 => i128::from(bit(d - 1) == 1 && (below(d - 1) || bit(d) == 1)),
        2 => 0,
        _ => i128::from(bit(d) == 0 && below(d)),
    };
    (v >> d) + r
}

fn clamp(v: i128, least: i128, most: i128) -> (i128, bool) {
    (v.clamp(least, most), v < least || v > most)
}

fn carryless(a: u64, b: u64) -> u128 {
    (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ u128::from(a) << i)
}

/// The result of an integer or fixed-point instruction, of which as many low bits count as `vd` has, and
/// whether it saturated; `None` if the model does not know it.
pub fn integer(name: &str, e: Element) -> Option<(i128, bool)> {
    let (base, suffix) = name.split_once('.')?;
    let sew = e.sew;
    let (sa, ua) = (signed(e.a, e.a_bits), unsigned(e.a, e.a_bits));
    let (sb, ub) = (signed(e.b, sew), unsigned(e.b, sew));
    let sd = signed(e.d, sew);
    let wd = unsigned(e.d, (2 * sew).min(64));
    let c = i128::from(e.c);
    let shift = (ub as u32) & (sew - 1);
    let wide_shift = (ub as u32) & (2 * sew - 1);
    let (s_min, s_max, u_max) = (-(1i128 << (sew - 1)), (1i128 << (sew - 1)) - 1, (1i128 << sew) - 1);
    let value = match base {
        "vadd" => ua + ub,
        "vsub" => ua - ub,
        "vrsub" => ub - ua,
        "vand" => ua & ub,
        "vor" => ua | ub,
        "vxor" => ua ^ ub,
        "vsll" => ua << shift,
        "vsrl" => ua >> shift,
        "vsra" => sa >> shift,
        "vminu" => ua.min(ub),
        "vmin" => sa.min(sb),
        "vmaxu" => ua.max(ub),
        "vmax" => sa.max(sb),
        "vabd" => sa.max(sb) - sa.min(sb),
        "vabdu" => ua.max(ub) - ua.min(ub),
        "vwabda" => wd + sa.max(sb) - sa.min(sb),
        "vwabdau" => wd + ua.max(ub) - ua.min(ub),
        "vmul" => sa * sb,
        "vmulh" => (sa * sb) >> sew,
        "vmulhu" => ((ua as u128 * ub as u128) >> sew) as i128,
        "vmulhsu" => (sa * ub) >> sew,
        "vdivu" => ua.checked_div(ub).unwrap_or(-1),
        "vdiv" => sa.checked_div(sb).unwrap_or(-1),
        "vremu" => ua.checked_rem(ub).unwrap_or(ua),
        "vrem" => sa.checked_rem(sb).unwrap_or(sa),
        "vadc" => ua + ub + c,
        "vsbc" => ua - ub - c,
        "vmadc" => i128::from(ua + ub + if suffix.ends_with('m') { c } else { 0 } > u_max),
        "vmsbc" => i128::from(ua - ub - if suffix.ends_with('m') { c } else { 0 } < 0),
        "vmseq" => i128::from(ua == ub),
        "vmsne" => i128::from(ua != ub),
        "vmsltu" => i128::from(ua < ub),
        "vmslt" => i128::from(sa < sb),
        "vmsleu" => i128::from(ua <= ub),
        "vmsle" => i128::from(sa <= sb),
        "vmsgtu" => i128::from(ua > ub),
        "vmsgt" => i128::from(sa > sb),
        "vmerge" => {
            if e.c {
                ub
            } else {
                ua
            }
        }
        "vmv" if suffix.starts_with("v.") => ub,
        "vmacc" => sa * sb + sd,
        "vnmsac" => sd - sa * sb,
        "vmadd" => sd * sb + sa,
        "vnmsub" => sa - sd * sb,
        "vwaddu" => ua + ub,
        "vwadd" => sa + sb,
        "vwsubu" => ua - ub,
        "vwsub" => sa - sb,
        "vwmulu" => ua * ub,
        "vwmul" => sa * sb,
        "vwmulsu" => sa * ub,
        "vwmaccu" => wd + ua * ub,
        "vwmacc" => wd + sa * sb,
        "vwmaccsu" => wd + ua * sb,
        "vwmaccus" => wd + sa * ub,
        "vsext" => sa,
        "vzext" => ua,
        "vnsrl" => ua >> wide_shift,
        "vnsra" => sa >> wide_shift,
        "vsaddu" => return Some(clamp(ua + ub, 0, u_max)),
        "vsadd" => return Some(clamp(sa + sb, s_min, s_max)),
        "vssubu" => return Some(clamp(ua - ub, 0, u_max)),
        "vssub" => return Some(clamp(sa - sb, s_min, s_max)),
        "vaaddu" => roundoff(ua + ub, 1, e.vxrm),
        "vaadd" => roundoff(sa + sb, 1, e.vxrm),
        "vasubu" => roundoff(ua - ub, 1, e.vxrm),
        "vasub" => roundoff(sa - sb, 1, e.vxrm),
        "vsmul" => return Some(clamp(roundoff(sa * sb, sew - 1, e.vxrm), s_min, s_max)),
        "vssrl" => roundoff(ua, shift, e.vxrm),
        "vssra" => roundoff(sa, shift, e.vxrm),
        "vnclipu" => return Some(clamp(roundoff(ua, wide_shift, e.vxrm), 0, u_max)),
        "vnclip" => return Some(clamp(roundoff(sa, wide_shift, e.vxrm), s_min, s_max)),
        "vandn" => ua & !ub,
        "vbrev" => i128::from(e.a.reverse_bits() >> (64 - sew)),
        "vbrev8" => i128::from(e.a.swap_bytes().reverse_bits()),
        "vrev8" => i128::from(e.a.swap_bytes() >> (64 - sew)),
        "vclz" => i128::from((0..sew).take_while(|i| e.a >> (sew - 1 - i) & 1 == 0).count() as u32),
        "vctz" => i128::from((0..sew).take_while(|i| e.a >> i & 1 == 0).count() as u32),
        "vcpop" if suffix == "v" => i128::from((0..sew).filter(|i| e.a >> i & 1 == 1).count() as u32),
        "vrol" => ua << shift | ua >> (sew - shift),
        "vror" => ua >> shift | ua << (sew - shift),
        "vwsll" => ua << wide_shift,
        "vclmul" => carryless(e.a, e.b) as i128,
        "vclmulh" => (carryless(e.a, e.b) >> 64) as i128,
        _ => return None,
    };
    Some((value, false))
}

/// Whether the model knows the instruction.
pub fn knows(form: &Form) -> bool {
    let e = Element { sew: 8, a: 1, a_bits: 8, b: 1, d: 0, c: false, vxrm: 0 };
    integer(form.name(), e).is_some()
}

/// Elements of a register file by number.
pub fn element(v: &[u8], vlenb: usize, r: u8, eew: u32, i: usize) -> u64 {
    let at = usize::from(r) * vlenb + i * eew as usize / 8;
    (0..eew as usize / 8).fold(0, |value, k| value | u64::from(v[at + k]) << (8 * k))
}

/// As [`element`], to write.
pub fn set_element(v: &mut [u8], vlenb: usize, r: u8, eew: u32, i: usize, value: u64) {
    let at = usize::from(r) * vlenb + i * eew as usize / 8;
    for k in 0..eew as usize / 8 {
        v[at + k] = (value >> (8 * k)) as u8;
    }
}

/// The state after an integer or fixed-point instruction that the model knows, with nothing agnostic
/// overwritten.
pub fn run(lab: &Lab, form: &Form, ins: Ins) -> State {
    let before = lab.state();
    let mut after = before.clone();
    let vlenb = lab.hart.vector().vlenb;
    let sew = before.vtype.sew.bits();
    let i5 = ins.0;
    let mask = |i: usize| before.v[i / 8] >> (i % 8) & 1 == 1;
    for i in before.vstart as usize..before.vl as usize {
        if form.maskable && !i5.vm && !mask(i) {
            continue;
        }
        let a_bits = match form.vs2 {
            Some(Width::Wide) => 2 * sew,
            Some(Width::Part(n)) => sew / n,
            _ => sew,
        };
        let eew = form.eew(sew);
        let b = match form.name().rsplit_once('.').expect("a suffix").1 {
            _ if form.vs1.is_some() => element(&before.v, vlenb, i5.rs1, sew, i),
            suffix if suffix.contains('x') => before.x[usize::from(i5.rs1)],
            _ => i64::from(i5.imm) as u64,
        };
        let value = integer(
            form.name(),
            Element {
                sew,
                a: if form.vs2.is_some() { element(&before.v, vlenb, i5.rs2, a_bits, i) } else { 0 },
                a_bits,
                b,
                d: if eew == 1 { 0 } else { element(&before.v, vlenb, i5.rd, eew, i) },
                c: mask(i),
                vxrm: before.vxrm,
            },
        );
        let (value, saturated) = value.expect("an instruction the model knows");
        after.vxsat |= saturated;
        if eew == 1 {
            let byte = &mut after.v[usize::from(i5.rd) * vlenb + i / 8];
            *byte = *byte & !(1 << (i % 8)) | ((value & 1) as u8) << (i % 8);
        } else {
            set_element(&mut after.v, vlenb, i5.rd, eew, i, value as u64);
        }
    }
    after.vstart = 0;
    after
}
