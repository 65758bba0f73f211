//! Reductions: accumulators over a loop, and over the rounds of an outer one.

use super::value::{Val, range, unsigned};
use super::{Counter, Writer};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::loops::{Access, Binary, CExpr, Target};
use rvv_ir::{Stmt, Var};

/// Ways to combine an accumulator with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    Any,
    Count,
    LastIndex,
    FirstIndex,
}

impl Writer<'_> {
    /// A loop in another that adds to the same elements in each round of that.
    pub(super) fn columns(&mut self, inner: u64) -> Vec<Stmt> {
        let elem = self.some_type();
        let number = self.array(elem, Vec::new(), false);
        self.looped(inner, |this| {
            let Some(counter) = this.counters.last().map(Counter::value) else { return Vec::new() };
            this.reach(number, counter.hi);
            let access = Access { buffer: number, index: vec![counter.e] };
            let there = Val::any(CExpr::Load(access.clone()), elem);
            let value = this.expr(1);
            let both = this.combined(there, value);
            let value = if both.as_type(elem).is_some() { both.e } else { CExpr::int(Elem::I32, 1) };
            vec![Stmt::Set { target: Target::Element(access), value }]
        })
    }

    pub(super) fn reduction(&mut self) -> Vec<Stmt> {
        let trips = self.trips();
        if self.rng.chance(self.weights.loop_cells) { self.cell(trips) } else { self.folded(trips) }
    }

    /// One or two accumulators over a loop, stored after it.
    pub(super) fn folded(&mut self, trips: u64) -> Vec<Stmt> {
        let count = 1 + usize::from(self.rng.below(3) == 0);
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut within: Vec<(Var, Elem, Fold)> = Vec::new();
        for _ in 0..count {
            let elem = self.some_type();
            let fold = if elem.is_float() {
                [Fold::Sum, Fold::Sum, Fold::Product, Fold::Min, Fold::Max, Fold::Any, Fold::Count]
                    [self.rng.below(7)]
            } else {
                [
                    Fold::Sum,
                    Fold::Sum,
                    Fold::Product,
                    Fold::Min,
                    Fold::Max,
                    Fold::And,
                    Fold::Or,
                    Fold::Xor,
                    Fold::Any,
                    Fold::Count,
                    Fold::LastIndex,
                    Fold::FirstIndex,
                ][self.rng.below(12)]
            };
            // Sums and products wrap.
            let ty = match fold {
                Fold::Any | Fold::Count | Fold::LastIndex => {
                    [Elem::I32, Elem::U8, Elem::I64][self.rng.below(3)]
                }
                Fold::FirstIndex => [Elem::I32, Elem::I64][self.rng.below(2)],
                Fold::Sum | Fold::Product if !elem.is_float() => {
                    let wide = if self.rng.below(2) == 0 { elem } else { Elem::U64 };
                    unsigned(if self.rng.below(3) == 0 && elem.bits() < 32 { Elem::U32 } else { wide })
                }
                _ => elem,
            };
            let var = self.var("s", Type::Scalar(ty));
            let start = match fold {
                Fold::LastIndex => Val::literal(ty, range(ty).1.min(127) as i64),
                Fold::FirstIndex => Val::literal(ty, -1),
                _ if ty.is_float() => {
                    let one = if fold == Fold::Product { 1 } else { 0 };
                    let zero = Val::literal(Elem::I32, one);
                    zero.cast(ty).unwrap_or_else(|| Val::literal(Elem::I32, 0))
                }
                Fold::Product => Val::literal(ty, 1),
                Fold::Min | Fold::Max | Fold::And => Val::literal(ty, range(ty).1.min(100) as i64),
                _ => Val::literal(ty, 0),
            };
            before.push(Self::set(var, start));
            within.push((var, ty, fold));
        }
        let body = self.looped(trips, |this| {
            let mut body = Vec::new();
            for &(var, ty, fold) in &within {
                body.push(this.accumulate(var, ty, fold));
            }
            if this.rng.below(5) == 0 {
                body.push(this.store());
            }
            body
        });
        before.extend(body);
        for (var, ty, _) in within {
            let number = self.array(ty, Vec::new(), false);
            let at = match self.counters.last().map(Counter::value) {
                Some(i) if i.lo >= 0 && i.hi < 512 => i,
                _ => Val::literal(Elem::I32, 0),
            };
            self.reach(number, at.hi);
            let access = Access { buffer: number, index: vec![at.e] };
            after.push(Stmt::Set { target: Target::Element(access), value: CExpr::Var(var) });
        }
        before.extend(after);
        before
    }

    /// One step of a reduction.
    fn accumulate(&mut self, var: Var, ty: Elem, fold: Fold) -> Stmt {
        let there = Val::any(CExpr::Var(var), ty);
        let depth = 1 + self.rng.below(2) as u32;
        let mut value = self.expr(depth);
        if self.rng.below(4) == 0 && matches!(fold, Fold::Sum) {
            // A dot product.
            let other = self.load();
            value = Val::binary(Binary::Mul, value.clone(), other).unwrap_or(value);
        }
        let condition = self.condition(1).e;
        let fallback = || Val::literal(Elem::I32, 1);
        let set = |value: Val| Self::set(var, value);
        match fold {
            Fold::Any | Fold::Count => {
                let counter = Val { hi: 100, lo: 0, ..there };
                let one = Val::literal(ty, 1);
                let sum = match fold {
                    Fold::Any => Some(one),
                    _ if ty == Elem::U8 => Val::binary(Binary::Add, counter, one),
                    // No loop runs often enough to overflow it.
                    _ => Val::binary(Binary::Add, counter, one),
                };
                let then = vec![set(sum.unwrap_or_else(fallback))];
                Stmt::When { condition, then, otherwise: Vec::new() }
            }
            Fold::LastIndex => {
                let i = self.counters.last().map_or_else(fallback, Counter::value);
                Stmt::When { condition, then: vec![set(i)], otherwise: Vec::new() }
            }
            Fold::FirstIndex => {
                let i = self.counters.last().map_or_else(fallback, Counter::value);
                let none = CExpr::binary(Binary::Lt, there.e, CExpr::int(ty, 0));
                let condition = CExpr::binary(Binary::AndThen, none, condition);
                Stmt::When { condition, then: vec![set(i)], otherwise: Vec::new() }
            }
            Fold::Min | Fold::Max => {
                let op = if fold == Fold::Min { Binary::Lt } else { Binary::Gt };
                let value = value.cast(ty).unwrap_or_else(|| there.clone());
                let less = Val::binary(op, value.clone(), there.clone());
                match less.and_then(|c| Val::select(c, value.clone(), there)) {
                    Some(found) => set(found),
                    None => set(value),
                }
            }
            _ => {
                let op = match fold {
                    Fold::Sum => Binary::Add,
                    Fold::Product => Binary::Mul,
                    Fold::And => Binary::And,
                    Fold::Or => Binary::Or,
                    _ => Binary::Xor,
                };
                // In the accumulator's type, but for narrow ones, which are ints then.
                let value = value.cast(ty).unwrap_or_else(|| Val::any(CExpr::Var(var), ty));
                let wide =
                    |v: Val| if ty.bits() < 32 && !ty.is_float() { v.cast(Elem::U32) } else { Some(v) };
                match (wide(there.clone()), wide(value)) {
                    (Some(a), Some(b)) => set(Val::binary(op, a, b).unwrap_or(there)),
                    _ => set(there),
                }
            }
        }
    }
}
