//! Elements that change places, and whole registers.

use super::super::Sanitizer;
use super::super::bits::Bits;
use super::super::origin::Id;
use super::rule::Rule;
use super::{Context, Operand};
use crate::hart::Hart;
use rvv_isa::Scalar;

impl Sanitizer {
    pub(super) fn whole_move(&mut self, cx: &Context) {
        let (Some(vd), Some(vs2)) = (cx.vd, cx.vs2) else { return };
        let len = (vd.registers * cx.vlenb).min(self.pending.undefined.len());
        self.pending.undefined[..len].copy_from_slice(&self.regs.v[vs2.at..vs2.at + len]);
        for word in 0..self.pending.origin.len() {
            let origin = self.origin_at(vs2.at + 8 * word);
            let undefined = self.pending.undefined[8 * word..(8 * word + 8).min(len)].iter().any(|b| *b != 0);
            self.pending.origin[word] = self.passed_on(u64::from(undefined), origin);
        }
    }

    pub(super) fn permute(&mut self, hart: &Hart, cx: &Context, rule: Rule) {
        let (Some(vd), Some(vs2)) = (cx.vd, cx.vs2) else { return };
        // The scalar beside vs2: a distance, an index, or the element that comes in. It is as wide as XLEN
        // where it says a place.
        let (scalar, scalar_origin) = match cx.shape.scalar {
            Scalar::Absent => (Bits::default(), 0),
            Scalar::Immediate => (Bits::new(u64::from(cx.inst.imm as u32) & 31, 0), 0),
            _ => self.op1(hart, cx, 0),
        };
        let place = scalar.value;
        let unknown = !scalar.is_defined();
        let all = vs2.registers * cx.vlenb;
        let everything_defined = !unknown
            && self.regs.is_defined(vs2.at, all)
            && cx.vs1.is_none_or(|vs1| self.regs.is_defined(vs1.at, vs1.registers * cx.vlenb))
            && self.is_mask_defined(cx);
        let slides_up = matches!(rule, Rule::SlideUp);
        let kept = if slides_up && !unknown { place.min(cx.vl as u64) as usize } else { 0 };
        // Elements below the distance are left alone, masked off or not.
        let before: Vec<u8> =
            self.pending.undefined[..(kept * vd.size).min(self.pending.undefined.len())].to_vec();
        let before_origin: Vec<Id> =
            self.pending.origin[..(kept * vd.size / 8).min(self.pending.origin.len())].to_vec();
        self.elements(cx, |s, i| {
            if everything_defined {
                return (0, 0);
            }
            let take = |s: &mut Sanitizer, from: usize| {
                let (bits, origin) = s.source(cx, vs2, from);
                (bits.undefined, s.passed_on(bits.undefined, origin))
            };
            let incoming = |s: &mut Sanitizer| {
                let undefined = s.by_rules(scalar.undefined, 8 * vd.size as u32);
                (undefined, s.passed_on(undefined, scalar_origin))
            };
            let nowhere = |s: &mut Sanitizer, origin: Id| (u64::MAX, s.passed_on(1, origin));
            match rule {
                Rule::Slide1Up if i == 0 => incoming(s),
                Rule::Slide1Up => take(s, i - 1),
                Rule::Slide1Down if i + 1 == cx.vl => incoming(s),
                Rule::Slide1Down => take(s, i + 1),
                _ if unknown => nowhere(s, scalar_origin),
                Rule::SlideUp => match (i as u64).checked_sub(place) {
                    Some(from) => take(s, from as usize),
                    None => (0, 0),
                },
                Rule::SlideDown => match (i as u64).checked_add(place) {
                    Some(from) if from < cx.vlmax as u64 => take(s, from as usize),
                    _ => (0, 0),
                },
                _ => {
                    let (index, origin) = match cx.vs1 {
                        Some(vs1) => s.source(cx, vs1, i),
                        None => (scalar, scalar_origin),
                    };
                    match index.value {
                        _ if !index.is_defined() => nowhere(s, origin),
                        from if from < cx.vlmax as u64 => take(s, from as usize),
                        _ => (0, 0),
                    }
                }
            }
        });
        self.pending.undefined[..before.len()].copy_from_slice(&before);
        self.pending.origin[..before_origin.len()].copy_from_slice(&before_origin);
    }

    /// What comes after the packed elements is tail.
    pub(super) fn compress(&mut self, cx: &Context) {
        let (Some(vd), Some(vs2), Some(vs1)) = (cx.vd, cx.vs2, cx.vs1) else { return };
        let Operand { size, .. } = vd;
        let mut packed = 0;
        for i in cx.vstart..cx.vl {
            match self.regs.bit(cx.values, vs1.at, i) {
                Some(false) => {}
                Some(true) => {
                    let (bits, origin) = self.source(cx, vs2, i);
                    let origin = self.passed_on(bits.undefined, origin);
                    self.put(packed * size, size, bits.undefined, origin);
                    packed += 1;
                }
                None => {
                    // From here on everything may have moved.
                    let origin = self.origin_at(vs1.at + i / 8);
                    let origin = self.origins.through(origin, self.pc);
                    self.lose(packed * size, usize::MAX, origin);
                    return;
                }
            }
        }
        self.finish_tail_from(cx, packed * size, packed);
    }
}
