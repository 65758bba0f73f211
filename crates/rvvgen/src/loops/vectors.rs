//! Vectors of fixed length: loads, operations, comparisons, conversions, shuffles and inserted lanes.

use super::value::Val;
use super::{Counter, Writer};
use rvv_intrinsics::Elem;
use rvv_ir::Stmt;
use rvv_ir::loops::{Binary, CExpr, Lane, Lanes, Unary};

/// A vector that is being written.
struct Shape {
    count: usize,
    /// The first element of loads and stores.
    base: Val,
}

impl Writer<'_> {
    /// Some vectors, alone or in a loop around them.
    pub(super) fn vectors(&mut self) -> Vec<Stmt> {
        let count = [2, 4, 4, 8, 8, 16, 32][self.rng.below(7)];
        if self.rng.below(2) == 0 {
            let trips = 1 + self.rng.below(12) as u64;
            return self.looped(trips, |this| this.vector_statements(count));
        }
        self.vector_statements(count)
    }

    fn vector_statements(&mut self, count: usize) -> Vec<Stmt> {
        let counter = self.counters.last().map(Counter::value).filter(|c| c.lo >= 0);
        let scaled = counter.and_then(|i| {
            let by = Val::literal(i.ty, count as i64);
            Val::binary(Binary::Mul, i, by)
        });
        let base = scaled.filter(|b| b.hi < 600).unwrap_or_else(|| Val::literal(Elem::I32, 0));
        let shape = Shape { count, base };
        let statements = 1 + self.rng.below(2);
        (0..statements).map(|_| self.vector_statement(&shape)).collect()
    }

    fn vector_statement(&mut self, shape: &Shape) -> Stmt {
        let elem = self.some_type();
        let depth = 1 + self.rng.below(3) as u32;
        let value = self.lane(elem, shape, depth);
        let number = self.array_of(elem, false, Vec::new(), false);
        self.reach(number, shape.base.hi + shape.count as i128 - 1);
        let at = shape.base.e.clone();
        Stmt::Lanes(Box::new(Lanes { count: shape.count, buffer: number, at, value }))
    }

    fn lane(&mut self, elem: Elem, shape: &Shape, depth: u32) -> Lane {
        if depth == 0 {
            return self.lane_leaf(elem, shape);
        }
        let a = Box::new(self.lane(elem, shape, depth - 1));
        match self.rng.below(12) {
            0 => Lane::Unary(if elem.is_float() { Unary::Neg } else { Unary::Not }, a),
            1..3 => {
                let b = Box::new(self.lane(elem, shape, depth - 1));
                let count = shape.count;
                let order = (0..count).map(|_| self.rng.below(2 * count) as u8).collect();
                Lane::Shuffle(a, b, order)
            }
            3 => {
                let value = self.lane_scalar(elem);
                let most = CExpr::int(Elem::I32, shape.count as i64 - 1);
                let at = if self.rng.below(2) == 0 {
                    CExpr::int(Elem::I32, self.rng.below(shape.count) as i64)
                } else {
                    let number = self.opaque(Elem::I32);
                    CExpr::binary(Binary::And, number.e, most)
                };
                Lane::Insert(a, at, value)
            }
            4..6 => {
                // Compared in any type of the same width.
                let other = match self.rng.below(3) {
                    0 => Elem::signed(elem.sew()),
                    1 => Elem::unsigned(elem.sew()),
                    _ => elem,
                };
                let op = [Binary::Lt, Binary::Gt, Binary::Eq, Binary::Ne, Binary::Le, Binary::Ge]
                    [self.rng.below(6)];
                let (x, y) = (self.lane(other, shape, depth - 1), self.lane_leaf(other, shape));
                let d = self.lane_leaf(elem, shape);
                Lane::Select(op, Box::new([x, y, *a, d]))
            }
            6 => match self.convertible_to(elem) {
                Some(from) => Lane::Convert(elem, Box::new(self.lane(from, shape, depth - 1))),
                None => *a,
            },
            7 if !elem.is_float() => {
                let op = if elem.is_unsigned() && self.rng.below(2) == 0 { Binary::Shl } else { Binary::Shr };
                let by = CExpr::int(Elem::I32, self.rng.below(elem.bits() as usize) as i64);
                Lane::Binary(op, a, Box::new(Lane::Splat(Elem::I32, by)))
            }
            _ => {
                let ops: &[Binary] = if elem.is_float() {
                    &[Binary::Add, Binary::Sub, Binary::Mul]
                } else if elem.is_unsigned() {
                    &[Binary::Add, Binary::Sub, Binary::Mul, Binary::And, Binary::Or, Binary::Xor]
                } else {
                    &[Binary::And, Binary::Or, Binary::Xor]
                };
                let op = ops[self.rng.below(ops.len())];
                Lane::Binary(op, a, Box::new(self.lane(elem, shape, depth - 1)))
            }
        }
    }

    /// A type whose values all convert to this one.
    fn convertible_to(&mut self, elem: Elem) -> Option<Elem> {
        let from = match elem {
            Elem::F16 => [Elem::I8, Elem::U8, Elem::F32, Elem::I8][self.rng.below(4)],
            Elem::F32 => [Elem::I16, Elem::U32, Elem::F64, Elem::I32][self.rng.below(4)],
            Elem::F64 => [Elem::I64, Elem::U32, Elem::F32, Elem::U64][self.rng.below(4)],
            _ => [Elem::I8, Elem::U16, Elem::I32, Elem::U64][self.rng.below(4)],
        };
        (from != elem).then_some(from)
    }

    fn lane_scalar(&mut self, elem: Elem) -> CExpr {
        if self.rng.below(2) == 0 {
            let bits = rvv_ir::data::Distribution::Small.draw(elem, self.rng.data());
            return CExpr::Literal(elem, bits);
        }
        self.opaque(elem).e
    }

    fn lane_leaf(&mut self, elem: Elem, shape: &Shape) -> Lane {
        if self.rng.below(4) == 0 {
            return Lane::Splat(elem, self.lane_scalar(elem));
        }
        let fits =
            |a: &super::Array| a.elem == elem && a.input && !a.subscripts && !a.truths && a.dims.is_empty();
        let known: Vec<usize> = (0..self.arrays.len()).filter(|&n| fits(&self.arrays[n])).collect();
        let number = match self.rng.pick(&known) {
            Some(&number) if self.rng.below(3) > 0 => number,
            _ => self.array_of(elem, false, Vec::new(), true),
        };
        let offset = self.rng.below(4) as i64;
        let by = Val::literal(shape.base.ty, offset);
        let at = Val::binary(Binary::Add, shape.base.clone(), by).unwrap_or_else(|| shape.base.clone());
        self.reach(number, at.hi + shape.count as i128 - 1);
        Lane::Load(number, at.e)
    }
}
