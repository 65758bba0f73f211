//! Instructions on masks.

use super::super::bits::{Bits, ones};
use super::super::origin::Id;
use super::super::{Next, Rules, Sanitizer};
use super::rule::{Binary, First, Rule, rule_of};
use super::{Context, Part};
use rvv_isa::Inst;

impl Sanitizer {
    fn put_bit(&mut self, i: usize, undefined: bool, origin: Id) {
        let bit = 1 << (i % 8);
        let byte = &mut self.pending.undefined[i / 8];
        *byte = if undefined { *byte | bit } else { *byte & !bit };
        if undefined {
            self.pending.origin[i / 64] = origin;
        }
    }

    pub(super) fn mask_logic(&mut self, cx: &Context, op: Binary) {
        let (Some(vs2), Some(vs1)) = (cx.vs2, cx.vs1) else { return };
        let cancels = vs2.at == vs1.at && op.cancels();
        if cancels || self.are_bits_defined(cx, vs2.at) && self.are_bits_defined(cx, vs1.at) {
            self.define_bits(cx);
            self.finish_mask(cx);
            return;
        }
        for i in cx.vstart..cx.vl {
            let word = |at: usize, bytes: &[u8]| u64::from(bytes[at + i / 8] >> (i % 8) & 1);
            let bits = |at: usize| Bits::new(word(at, cx.values), word(at, &self.regs.v));
            let (a, b) = (bits(vs2.at), bits(vs1.at));
            let undefined = match self.rules {
                Rules::Machine => op.undefined(a, b) & 1,
                Rules::Intrinsics => a.undefined | b.undefined,
            };
            let from = if a.is_defined() { vs1.at } else { vs2.at };
            let origin = self.passed_on(undefined, self.origin_at(from + i / 8));
            self.put_bit(i, undefined != 0, origin);
        }
        self.finish_mask(cx);
    }

    /// A bit of `vs2` that counts: `None` if its value or whether it counts is undefined.
    fn counted(&self, cx: &Context, i: usize) -> Option<bool> {
        let bit = cx.vs2.map_or(Some(false), |vs2| self.regs.bit(cx.values, vs2.at, i));
        match self.part(cx, i) {
            Part::Active => bit,
            Part::Inactive => Some(false),
            // A bit that is 0 does not count whether it is active or not.
            Part::Unknown if bit == Some(false) => Some(false),
            Part::Unknown => None,
        }
    }

    /// The origin of a bit of `vs2`, or of the mask.
    fn counted_origin(&mut self, cx: &Context, i: usize) -> Id {
        let at = match self.part(cx, i) {
            Part::Unknown => 0,
            _ => cx.vs2.map_or(0, |vs2| vs2.at),
        };
        let origin = self.origin_at(at + i / 8);
        self.origins.through(origin, self.pc)
    }

    /// `vcpop`, `vfirst`, `vmv.x.s`, `vfmv.f.s`.
    pub(super) fn scalar_result(&mut self, cx: &Context) {
        let Some(vs2) = cx.vs2 else { return };
        let Inst { rd, .. } = *cx.inst;
        let all_defined = self.is_mask_defined(cx) && self.are_bits_defined(cx, vs2.at);
        let (undefined, origin) = match rule_of(cx.inst.op) {
            Rule::Population | Rule::First if all_defined => (0, 0),
            Rule::Population => match (cx.vstart..cx.vl).find(|i| self.counted(cx, *i).is_none()) {
                None => (0, 0),
                Some(i) => {
                    let width =
                        if self.rules == Rules::Machine { 64 - (cx.vl as u64).leading_zeros() } else { 64 };
                    (ones(width), self.counted_origin(cx, i))
                }
            },
            Rule::First => match (cx.vstart..cx.vl).find(|i| self.counted(cx, *i) != Some(false)) {
                Some(i) if self.counted(cx, i).is_none() => (u64::MAX, self.counted_origin(cx, i)),
                _ => (0, 0),
            },
            rule => {
                let width = 8 * cx.sew as u32;
                let (element, origin) = self.source(cx, super::Operand { size: cx.sew, ..vs2 }, 0);
                let undefined = self.by_rules(element.undefined, width);
                let undefined = match rule {
                    Rule::ToX => Bits::new(0, undefined).sign_extended(width).undefined,
                    _ => undefined,
                };
                (undefined, self.passed_on(undefined, origin))
            }
        };
        match rule_of(cx.inst.op) {
            Rule::ToF => self.next = Next::F(rd, undefined, origin),
            _ if rd != 0 => self.next = Next::X(rd, undefined, origin),
            _ => {}
        }
    }

    pub(super) fn set_first(&mut self, cx: &Context, which: First) {
        if cx.inst.vm && cx.vs2.is_some_and(|vs2| self.are_bits_defined(cx, vs2.at)) {
            self.define_bits(cx);
            self.finish_mask(cx);
            return;
        }
        // Whether a set bit has been met among those that count.
        let mut met = Some(false);
        let mut since = 0;
        for i in cx.vstart..cx.vl {
            let before = met;
            let here = self.counted(cx, i);
            if met.is_none() || here.is_none() {
                since = if met.is_some() { self.counted_origin(cx, i) } else { since };
            }
            met = match (met, here) {
                (Some(true), _) | (None, Some(true)) => Some(true),
                (Some(false), here) => here,
                (None, _) => None,
            };
            let bit = cx.vs2.map_or(Some(false), |vs2| self.regs.bit(cx.values, vs2.at, i));
            let defined = match self.part(cx, i) {
                Part::Inactive => {
                    if cx.mask_agnostic {
                        let origin = self.origins.born(cx.inactive(), self.pc, i);
                        self.put_bit(i, true, origin);
                    }
                    continue;
                }
                Part::Unknown => false,
                Part::Active => match (before, which) {
                    (Some(true), _) => true,
                    (Some(false), First::Including) => true,
                    (Some(false), _) => bit.is_some(),
                    // Either way a set bit here is not before the first, and a clear one is not the first.
                    (None, First::Before) => bit == Some(true),
                    (None, First::Only) => bit == Some(false),
                    (None, First::Including) => false,
                },
            };
            let origin = if since != 0 { since } else { self.counted_origin(cx, i) };
            self.put_bit(i, !defined, origin);
        }
        self.finish_mask(cx);
    }

    pub(super) fn iota(&mut self, cx: &Context) {
        let mut undefined = 0;
        let mut origin = 0;
        let mut sums = Vec::with_capacity(cx.vl);
        for i in 0..cx.vl {
            sums.push((undefined, origin));
            if undefined == 0 && self.counted(cx, i).is_none() {
                (undefined, origin) = (u64::MAX, self.counted_origin(cx, i));
            }
        }
        self.elements(cx, |_, i| sums[i]);
    }
}
