//! What other passes than the vectorisers work on: operands and conditions that stay the same all through a
//! loop, conditions on the counter, elements that stay the same, values that are used after the loop.

use super::value::Val;
use super::{Counter, Writer};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::Stmt;
use rvv_ir::loops::{Access, Binary, CExpr, Target};

const COMPARE: [Binary; 6] = [Binary::Lt, Binary::Gt, Binary::Le, Binary::Ge, Binary::Eq, Binary::Ne];

impl Writer<'_> {
    /// A parameter of the function: it is the same all through.
    fn parameter(&mut self) -> Val {
        let params = &self.function.params;
        let is_param = |s: &&Val| matches!(s.e, CExpr::Var(v) if params.contains(&v));
        let known: Vec<Val> = self.scalars.iter().filter(is_param).cloned().collect();
        match self.rng.pick(&known) {
            Some(one) if known.len() > 2 || self.rng.below(3) > 0 => one.clone(),
            _ => {
                let ty = self.some_type();
                self.opaque(ty)
            }
        }
    }

    /// An operation or two on parameters, to be moved out of the loop.
    pub(super) fn invariant(&mut self) -> Val {
        let mut value = self.parameter();
        for _ in 0..1 + self.rng.below(2) {
            let other = self.parameter();
            value = self.combined(value, other);
        }
        value
    }

    /// A condition that stays the same, to unswitch by; or one on the counter, to peel or to split by.
    pub(super) fn guard(&mut self) -> Val {
        let op = COMPARE[self.rng.below(6)];
        let counter = self.counters.last().cloned();
        let found = match (self.rng.below(3), counter) {
            (0..2, Some(Counter { lo, hi, ty, .. })) => {
                // Near an end, or in the middle.
                let near = self.rng.below(3) as i128;
                let at = match self.rng.below(6) {
                    0..4 => lo + near,
                    4 => hi - near,
                    _ => (lo + hi) / 2,
                };
                let i = self.counters.last().map(Counter::value);
                i.and_then(|i| Val::binary(op, i, Val::literal(ty, at.max(0) as i64)))
            }
            _ => {
                let (a, b) = (self.parameter(), self.parameter());
                Val::binary(op, a, b)
            }
        };
        found.unwrap_or_else(|| Val::literal(Elem::I32, 1))
    }

    /// An element that stays the same is changed in each round.
    pub(super) fn cell(&mut self, trips: u64) -> Vec<Stmt> {
        let elem = self.some_type();
        let number = self.array(elem, Vec::new(), false);
        let at = self.rng.below(4) as i64;
        self.reach(number, at.into());
        let access = Access { buffer: number, index: vec![CExpr::int(Elem::I32, at)] };
        self.looped(trips, |this| {
            let there = Val::any(CExpr::Load(access.clone()), elem);
            let value = this.expr(1);
            let both = this.combined(there, value);
            let value = if both.as_type(elem).is_some() { both.e } else { CExpr::int(Elem::I32, 1) };
            vec![Stmt::Set { target: Target::Element(access), value }]
        })
    }

    /// A loop, and a value of its last round that is used after it.
    pub(super) fn live_out(&mut self, trips: u64) -> Vec<Stmt> {
        let elem = self.some_type();
        let var = self.var("o", Type::Scalar(elem));
        let start = Val::literal(Elem::I32, 0).cast(elem).unwrap_or_else(|| Val::literal(Elem::I32, 0));
        let mut all = vec![Self::set(var, start)];
        all.extend(self.looped(trips, |this| {
            let mut body = this.statements();
            let value = if this.rng.below(2) == 0 {
                this.expr(2)
            } else {
                // Of the counter and of what stays the same: it can be computed after the loop.
                let counter = this.counters.last().map(Counter::value);
                let same = this.invariant();
                counter.map_or_else(|| same.clone(), |i| this.combined(i, same.clone()))
            };
            let value = if value.as_type(elem).is_some() { value } else { Val::literal(Elem::I32, 1) };
            body.insert(this.rng.below(body.len() + 1), Self::set(var, value));
            body
        }));
        let number = self.array(elem, Vec::new(), false);
        let access = Access { buffer: number, index: vec![CExpr::int(Elem::I32, 0)] };
        all.push(Stmt::Set { target: Target::Element(access), value: CExpr::Var(var) });
        all
    }
}
