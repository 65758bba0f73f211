//! Operations on elements, groups of them, and reductions.

use super::super::bits::{self, Bits, all_or_none, ones};
use super::super::origin::{Id, Source};
use super::super::registers::all_zero;
use super::super::{Rules, Sanitizer};
use super::rule::{Extend, How, Shift};
use super::{Context, Operand, Part};
use crate::hart::Hart;
use rvv_isa::{Eew, Op, Scalar};

impl Sanitizer {
    /// Calls `result` for each active element and writes what it says, undefined bits and their origin; the
    /// policies decide the others.
    pub(super) fn elements(
        &mut self,
        cx: &Context,
        mut result: impl FnMut(&mut Sanitizer, usize) -> (u64, Id),
    ) {
        let Some(vd) = cx.vd else { return };
        for i in cx.vstart..cx.vl {
            let (undefined, origin) = match self.part(cx, i) {
                Part::Active => result(self, i),
                Part::Inactive if !cx.mask_agnostic => continue,
                Part::Inactive => (u64::MAX, self.origins.born(cx.inactive(), self.pc, i)),
                Part::Unknown => (u64::MAX, self.unknown(i)),
            };
            self.put_element(vd, i, undefined, origin);
        }
        self.finish(cx);
    }

    /// The origin of an element whose mask bit is undefined: that of the bit.
    pub(super) fn unknown(&mut self, i: usize) -> Id {
        match self.origin_at(i / 8) {
            0 => self.origins.born(Source::UnknownMask, self.pc, i),
            origin => self.origins.through(origin, self.pc),
        }
    }

    /// An element of the result, or a bit of it if that is a mask.
    fn put_element(&mut self, vd: Operand, i: usize, undefined: u64, origin: Id) {
        if vd.size > 0 {
            self.put(i * vd.size, vd.size, undefined, origin);
            return;
        }
        let byte = self.pending.undefined[i / 8];
        let bit = 1 << (i % 8);
        let byte = if undefined & 1 == 0 { byte & !bit } else { byte | bit };
        self.pending.undefined[i / 8] = byte;
        if undefined & 1 != 0 {
            self.pending.origin[i / 64] = origin;
        }
    }

    /// The tail: of a mask, the bits past `vl`, which are agnostic whatever `vta` says.
    fn finish(&mut self, cx: &Context) {
        match cx.vd {
            Some(Operand { size: 0, .. }) => self.finish_mask(cx),
            _ => self.finish_tail(cx),
        }
    }

    pub(super) fn finish_mask(&mut self, cx: &Context) {
        let origin = self.origins.born(Source::MaskTail, self.pc, cx.vl);
        self.lose_bits(cx, cx.vl, origin);
    }

    /// Makes the bits of a mask from bit `from` on undefined.
    pub(super) fn lose_bits(&mut self, cx: &Context, from: usize, origin: Id) {
        if from >= 8 * cx.vlenb {
            return;
        }
        if !from.is_multiple_of(8) {
            self.pending.undefined[from / 8] |= 0xff << (from % 8);
        }
        let byte = from.div_ceil(8);
        if byte < self.pending.undefined.len() {
            self.pending.undefined[byte..].fill(0xff);
        }
        // A word that the body shares keeps the body's origin, if that has one.
        if !from.is_multiple_of(64) && self.pending.undefined[from / 64 * 8..from / 8].iter().all(|b| *b == 0)
        {
            self.pending.origin[from / 64] = origin;
        }
        self.pending.origin[from.div_ceil(64)..].fill(origin);
    }

    /// The operand beside `vs2`: `vs1`, a scalar or the immediate.
    pub(super) fn op1(&mut self, hart: &Hart, cx: &Context, i: usize) -> (Bits, Id) {
        let r = usize::from(cx.inst.rs1);
        match cx.shape.scalar {
            Scalar::X => (Bits::new(hart.x[cx.inst.rs1], self.regs.x.undefined[r]), self.regs.x.origin[r]),
            Scalar::F => (Bits::new(hart.f[cx.inst.rs1], self.regs.f.undefined[r]), self.regs.f.origin[r]),
            Scalar::Immediate => (Bits::new(cx.inst.imm as i64 as u64, 0), 0),
            Scalar::Absent => match cx.vs1 {
                Some(vs1) if vs1.size > 0 => self.source(cx, vs1, i),
                _ => (Bits::default(), 0),
            },
        }
    }

    /// Element `i` of an operand.
    pub(super) fn source(&self, cx: &Context, operand: Operand, i: usize) -> (Bits, Id) {
        let at = operand.at + i * operand.size;
        let bits = self.regs.element(cx.values, at, operand.size);
        (bits, if bits.is_defined() { 0 } else { self.origin_at(at) })
    }

    /// Whether every operand of the body is defined.
    pub(super) fn operands_are_defined(&self, cx: &Context) -> bool {
        let body =
            |o: Option<Operand>| o.is_none_or(|o| o.size == 0 || self.regs.is_defined(o.at, cx.vl * o.size));
        let r = usize::from(cx.inst.rs1);
        let scalar = match cx.shape.scalar {
            Scalar::X => self.regs.x.undefined[r] == 0,
            Scalar::F => self.regs.f.undefined[r] == 0,
            _ => true,
        };
        scalar
            && body(cx.vs2)
            && body(cx.vs1)
            && (!cx.shape.reads_vd || body(cx.vd))
            && self.is_mask_defined(cx)
    }

    pub(super) fn elementwise(&mut self, hart: &Hart, cx: &Context, how: How) {
        let Some(vd) = cx.vd else { return };
        if self.operands_are_defined(cx) {
            let len = self.pending.undefined.len();
            let body = (cx.vstart * vd.size).min(len)..(cx.vl * vd.size).min(len);
            match cx.is_masked() {
                false if vd.size == 0 => {
                    self.define_bits(cx);
                    self.finish_mask(cx);
                    return;
                }
                false => self.pending.undefined[body].fill(0),
                // Neither what is written nor what stays is undefined.
                true if vd.size > 0 && !cx.mask_agnostic && all_zero(&self.pending.undefined[body]) => {}
                true => {
                    self.elements(cx, |_, _| (0, 0));
                    return;
                }
            }
            self.finish_tail(cx);
            return;
        }
        self.elements(cx, |s, i| s.element(hart, cx, how, vd, i));
    }

    /// The undefined bits of an active element.
    fn element(&mut self, hart: &Hart, cx: &Context, how: How, vd: Operand, i: usize) -> (u64, Id) {
        let width = if vd.size == 0 { 1 } else { 8 * vd.size as u32 };
        let whole = self.rules == Rules::Intrinsics;
        let (b, b_origin) = self.op1(hart, cx, i);
        // A scalar is as wide as the element beside which it stands.
        let b_size = cx.vs1.filter(|o| o.size > 0).map_or(cx.sew, |o| o.size);
        let b = b.zero_extended(8 * b_size as u32);
        let (a, a_origin) = match cx.vs2 {
            Some(vs2) if vs2.size > 0 => self.source(cx, vs2, i),
            _ => (Bits::default(), 0),
        };
        let a_size = cx.vs2.filter(|o| o.size > 0).map_or(vd.size, |o| o.size);
        let a_width = 8 * a_size.max(1) as u32;
        let (d, d_origin) =
            if cx.shape.reads_vd && vd.size > 0 { self.source(cx, vd, i) } else { (Bits::default(), 0) };
        let selector =
            if cx.shape.v0_is_operand && !cx.inst.vm { self.regs.bit(cx.values, 0, i) } else { Some(false) };
        let any = a.undefined | b.undefined | d.undefined | u64::from(selector.is_none());
        if any == 0 {
            return (0, 0);
        }
        let origin = match (a.undefined, b.undefined, d.undefined) {
            (0, 0, 0) => self.origin_at(i / 8),
            (0, 0, _) => d_origin,
            (0, _, _) => b_origin,
            _ => a_origin,
        };
        let extend = |x: Bits, size: usize, how: Extend| match how {
            Extend::Zero => x.zero_extended(8 * size as u32),
            Extend::Sign => x.sign_extended(8 * size as u32),
        };
        let same = cx.vs1.is_some_and(|vs1| Some(vs1.at) == cx.vs2.map(|vs2| vs2.at));
        let undefined = match how {
            How::Move => b.undefined,
            How::Merge => match selector {
                Some(true) => b.undefined,
                Some(false) => a.undefined,
                None if whole => u64::MAX,
                None => a.undefined | b.undefined | (a.value ^ b.value),
            },
            _ if whole => u64::MAX,
            How::Any => u64::MAX,
            How::Bits(_, f) if same && f.cancels() => 0,
            How::Bits(how, f) => f.undefined(extend(a, a_size, how), extend(b, b_size, how)),
            How::Reversed(f) => f.undefined(b, a),
            How::Shift(shift) => shifted(a, b, shift, a_width, width),
            How::Extended(how) => extend(a, a_size, how).undefined,
            How::Reorder(f) => f(a.undefined, width),
            How::Sign => {
                let sign = 1 << (width - 1);
                a.undefined & !sign | b.undefined & sign
            }
            How::Equal if same => 0,
            How::Equal => u64::from(bits::equal(a, b).is_none()),
            How::Less { signed, reversed } => {
                let (a, b) = if reversed { (b, a) } else { (a, b) };
                let less = match signed {
                    true => bits::less_signed(a.sign_extended(a_width), b.sign_extended(a_width)),
                    false => bits::less_unsigned(a, b),
                };
                u64::from(less.is_none())
            }
        };
        let undefined = undefined & ones(width);
        let undefined = if whole && !matches!(how, How::Move | How::Merge) {
            all_or_none(undefined, width)
        } else {
            undefined
        };
        (undefined, self.passed_on(undefined, origin))
    }

    /// A result of which only element 0 is written.
    pub(super) fn element0(&mut self, cx: &Context, undefined: u64, origin: Id) {
        let Some(vd) = cx.vd else { return };
        let undefined = undefined & ones(8 * vd.size as u32);
        let undefined = self.by_rules(undefined, 8 * vd.size as u32);
        let origin = self.passed_on(undefined, origin);
        self.put(0, vd.size, undefined, origin);
        self.finish_tail_from(cx, vd.size, 1);
    }

    /// By the rules of the intrinsics an element is defined or not.
    pub(super) fn by_rules(&self, undefined: u64, width: u32) -> u64 {
        if self.rules == Rules::Intrinsics { all_or_none(undefined, width) } else { undefined }
    }

    pub(super) fn reduce(&mut self, cx: &Context, how: How) {
        let (Some(vd), Some(vs2), Some(vs1)) = (cx.vd, cx.vs2, cx.vs1) else { return };
        let (mut sum, mut origin) = self.source(cx, vs1, 0);
        // Of vs1 nothing counts but element 0.
        if sum.is_defined() && self.regs.is_defined(vs2.at, cx.vl * vs2.size) && self.is_mask_defined(cx) {
            self.element0(cx, 0, 0);
            return;
        }
        for i in cx.vstart..cx.vl {
            let (a, from) = match self.part(cx, i) {
                Part::Inactive => continue,
                Part::Active => self.source(cx, vs2, i),
                Part::Unknown => (Bits::new(0, u64::MAX), self.origin_at(i / 8)),
            };
            if origin == 0 {
                origin = from;
            }
            let unknown = self.part(cx, i) == Part::Unknown;
            let undefined = match how {
                How::Bits(extend, f) if !unknown && self.rules == Rules::Machine => {
                    let a = match extend {
                        Extend::Zero => a.zero_extended(8 * vs2.size as u32),
                        Extend::Sign => a.sign_extended(8 * vs2.size as u32),
                    };
                    let undefined = f.undefined(sum, a);
                    // What was defined of both has a value; an undefined bit's does not matter.
                    sum.value = f.value(sum.value, a.value);
                    undefined
                }
                _ if unknown || !a.is_defined() || !sum.is_defined() => u64::MAX,
                _ => 0,
            };
            sum.undefined = undefined & ones(8 * vd.size as u32);
        }
        self.element0(cx, sum.undefined, origin);
    }

    /// Element groups.
    pub(super) fn groups(&mut self, cx: &Context) {
        let Some(vd) = cx.vd else { return };
        let group = usize::from(cx.shape.group);
        let bytes = group * vd.size;
        let (read_of_vs2, read_of_vs1) = match self.rules {
            Rules::Machine => words_read(cx.inst.op),
            Rules::Intrinsics => (u8::MAX, u8::MAX),
        };
        for first in (cx.vstart..cx.vl).step_by(group) {
            let mut origin = None;
            let mut look = |s: &Sanitizer, at: usize, read: u8| {
                let bytes = (at..at + bytes).filter(|b| read >> ((b - at) / vd.size) & 1 != 0);
                if let Some(byte) = bytes.into_iter().find(|b| s.regs.v.get(*b).is_some_and(|u| *u != 0)) {
                    origin = Some(s.origin_at(byte));
                }
            };
            let at = first * vd.size;
            if cx.shape.reads_vd {
                look(self, vd.at + at, u8::MAX);
            }
            if let Some(vs2) = cx.vs2 {
                let scalar = cx.shape.vs2 == Eew::ElementGroup0;
                look(self, vs2.at + if scalar { 0 } else { at }, read_of_vs2);
            }
            if let Some(vs1) = cx.vs1 {
                look(self, vs1.at + at, read_of_vs1);
            }
            let len = self.pending.undefined.len();
            match origin {
                None => self.pending.undefined[at.min(len)..(at + bytes).min(len)].fill(0),
                Some(origin) => {
                    let origin = self.origins.through(origin, self.pc);
                    self.lose(at, at + bytes, origin);
                }
            }
        }
        self.finish_tail(cx);
    }
}

/// The elements of a group of `vs2` and of `vs1` that matter, a bit for each: some have words that are not
/// used.
fn words_read(op: Op) -> (u8, u8) {
    const ALL: u8 = u8::MAX;
    match op {
        // "the message words are in elements 0, 1, 4 and 5"
        Op::Vsm3cVi => (0b0011_0011, ALL),
        // The low or the high two sums of message words and constants.
        Op::Vsha2clVv => (ALL, 0b0011),
        Op::Vsha2chVv => (ALL, 0b1100),
        // W[15], W[14] and W[12]; W[13] is not used.
        Op::Vsha2msVv => (ALL, 0b1101),
        _ => (ALL, ALL),
    }
}

/// A shift of an element of `from` bits to one of `to` bits. The amount is the low bits of the other operand.
fn shifted(a: Bits, amount: Bits, shift: Shift, from: u32, to: u32) -> u64 {
    // Widening shifts have amounts for the wide element, narrowing ones for the wide source.
    let width = from.max(to);
    let known = u64::from(width - 1);
    if amount.undefined & known != 0 {
        return u64::MAX;
    }
    let by = (amount.value & known) as u32;
    let u = a.undefined & ones(from);
    match shift {
        Shift::Left => u << by,
        Shift::Right => u >> by,
        Shift::RightSigned => ((u << (64 - from)) as i64 >> (64 - from) >> by) as u64,
        Shift::RotateLeft if by == 0 => u,
        Shift::RotateLeft => u << by | u >> (width - by),
        Shift::RotateRight if by == 0 => u,
        Shift::RotateRight => u >> by | u << (width - by),
    }
}
