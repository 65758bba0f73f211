//! Subscripts: functions of the loops' counters whose values are known to be small and not negative.

use super::value::Val;
use super::{Array, Writer};
use rvv_intrinsics::Elem;
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::{Access, Binary, CExpr};
use rvv_ir::{Buffer, BufferKind};

/// No buffer is longer.
const LONGEST: i128 = 1024;

impl Writer<'_> {
    /// A number of the counter's type.
    fn like(of: &Val, value: i128) -> Val {
        Val::literal(of.ty, value as i64)
    }

    /// A subscript of one dimension; plain ones are the likely ones.
    pub(super) fn subscript(&mut self, for_store: bool) -> Val {
        if let Some(lanes) = &mut self.lanes {
            return lanes.subscript();
        }
        let Some(counter) = self.counters.last().cloned() else {
            let at = self.rng.below(8) as i64;
            return Val::literal(Elem::I32, at);
        };
        let i = counter.value();
        let plain = i.clone();
        let found = match self.rng.below(20) {
            // Another element.
            0..3 => {
                let by = 1 + self.rng.below(4) as i128;
                self.shifted(i, by)
            }
            // Strided.
            3..5 => {
                let by = [2, 3, 4, 5, 8][self.rng.below(5)];
                let strided = Val::binary(Binary::Mul, i.clone(), Self::like(&i, by));
                let offset = self.rng.below(by as usize) as i128;
                strided.and_then(|s| self.shifted(s, offset))
            }
            // Reversed.
            5..7 => {
                let most = Self::like(&i, counter.hi + self.rng.below(3) as i128);
                Val::binary(Binary::Sub, most, i)
            }
            // The same all through; or of an outer loop.
            7 if !for_store => {
                if self.counters.len() > 1 {
                    self.counters.first().map(|c| c.value())
                } else {
                    let at = self.rng.below(9) as i128;
                    Some(Self::like(&i, at))
                }
            }
            // Modulo, once or twice; halves.
            8 if self.rng.chance(self.weights.loop_modulo) => {
                let by = [2, 3, 4, 7, 8, 16][self.rng.below(6)];
                let op = if self.chance(0.8) { Binary::Rem } else { Binary::Div };
                Val::binary(op, i.clone(), Self::like(&i, by))
            }
            // A stride that wraps around.
            11 if self.rng.chance(self.weights.loop_modulo) => {
                let by = 1 + self.rng.below(7) as i128;
                let size = [8, 16, 16, 32, 64][self.rng.below(5)];
                let strided = Val::binary(Binary::Mul, i.clone(), Self::like(&i, by));
                strided.and_then(|s| Val::binary(Binary::Rem, s, Self::like(&i, size)))
            }
            9 if self.rng.chance(self.weights.loop_modulo) => {
                let (a, b) = ([2, 4, 8][self.rng.below(3)], [4, 8, 16, 32][self.rng.below(4)]);
                let rem = Val::binary(Binary::Rem, i.clone(), Self::like(&i, a));
                let scale = 1 + self.rng.below(5) as i128;
                let scaled = rem.and_then(|r| Val::binary(Binary::Mul, r, Self::like(&i, scale)));
                let sum = scaled.and_then(|s| Val::binary(Binary::Add, i.clone(), s));
                sum.and_then(|s| Val::binary(Binary::Rem, s, Self::like(&i, b)))
            }
            10 if self.rng.chance(self.weights.loop_indirect) => self.indirect(),
            _ => None,
        };
        match found {
            Some(found) if found.lo >= 0 && found.hi < LONGEST => found,
            _ if plain.lo < 0 => {
                // A counter that starts below zero.
                let up = Self::like(&plain, -plain.lo);
                Val::binary(Binary::Add, plain, up).unwrap_or_else(|| Val::literal(Elem::I32, 0))
            }
            _ => plain,
        }
    }

    fn shifted(&mut self, i: Val, by: i128) -> Option<Val> {
        if i.lo >= by && self.rng.below(2) == 0 {
            let by = Self::like(&i, by);
            return Val::binary(Binary::Sub, i, by);
        }
        let by = Self::like(&i, by);
        Val::binary(Binary::Add, i, by)
    }

    /// A subscript that is read from a buffer.
    pub(super) fn indirect(&mut self) -> Option<Val> {
        let limit = [4, 16, 50, 200][self.rng.below(4)];
        let elem = [Elem::U8, Elem::U16, Elem::I32, Elem::U32, Elem::I64][self.rng.below(5)];
        let known = (0..self.arrays.len()).filter(|&n| self.arrays[n].subscripts).collect::<Vec<_>>();
        let number = match self.rng.pick(&known) {
            Some(&number) if self.rng.below(2) == 0 => number,
            _ => self.index_array(elem, Distribution::Below { limit, step: 1 }, limit as i128 - 1),
        };
        let counter = self.counters.last()?.value();
        let (at, top) = (counter.e, counter.hi);
        if counter.lo < 0 || top >= LONGEST {
            return None;
        }
        self.reach(number, top);
        let array = &self.arrays[number];
        Some(Val::int(CExpr::load(number, at), array.elem, array.lo, array.hi))
    }

    /// A buffer whose values are subscripts.
    pub(super) fn index_array(&mut self, elem: Elem, distribution: Distribution, most: i128) -> usize {
        let number = self.program.buffers.len();
        let init = Init::Seed(self.rng.bits() >> 32, distribution);
        let name = format!("index{number}");
        let kind = BufferKind::Data;
        self.program.buffers.push(Buffer { name, elem, truths: false, len: 1, dims: Vec::new(), kind, init });
        self.arrays.push(Array {
            elem,
            truths: false,
            dims: Vec::new(),
            lo: 0,
            hi: most,
            bound: 0.0,
            input: true,
            subscripts: true,
        });
        number
    }

    /// An access to a buffer by one subscript per dimension.
    pub(super) fn access(&mut self, number: usize, for_store: bool) -> Access {
        let dims = self.arrays[number].dims.clone();
        let mut index = Vec::new();
        if dims.is_empty() {
            let at = self.subscript(for_store);
            self.reach(number, at.hi);
            return Access { buffer: number, index: vec![at.e] };
        }
        // The counters in their order, the innermost last; sometimes the other way round.
        let counters = self.counters.clone();
        let transposed = counters.len() == 2 && dims.len() == 1 && self.rng.below(5) == 0;
        for k in 0..=dims.len() {
            let from = if transposed { k } else { (dims.len() - k).min(counters.len().saturating_sub(1)) };
            let of = counters.iter().rev().nth(from).map(|c| c.value());
            let size = if k == 0 { LONGEST / 4 } else { dims[k - 1] as i128 };
            let at = match of {
                Some(i) if i.lo >= 0 && i.hi < size => i,
                Some(i) if i.lo >= 0 && k > 0 => {
                    let size = Self::like(&i, size);
                    Val::binary(Binary::Rem, i, size).unwrap_or_else(|| Val::literal(Elem::I32, 0))
                }
                _ => Val::literal(Elem::I32, self.rng.below(size.clamp(1, 4) as usize) as i64),
            };
            if k == 0 {
                self.reach(number, at.hi);
            }
            index.push(at.e);
        }
        Access { buffer: number, index }
    }
}
