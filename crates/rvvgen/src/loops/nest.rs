//! Nests of loops: the kinds there are.

use super::value::Val;
use super::{Counter, Writer};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::data::Distribution;
use rvv_ir::loops::{Access, Binary, CExpr, Loop, Pragma, Target};
use rvv_ir::{Compare, Stmt};

/// What a nest is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Map,
    Nested,
    Reduction,
    Stencil,
    Recurrence,
    Search,
    Scatter,
    Interleaved,
    Bytes,
    Lanes,
    Vectors,
}

impl Writer<'_> {
    /// The statements of a nest.
    pub(super) fn nest(&mut self) -> Vec<Stmt> {
        let w = self.weights;
        let kinds = [
            (w.loop_map, Kind::Map),
            (w.loop_nests, Kind::Nested),
            (w.loop_reductions, Kind::Reduction),
            (w.loop_stencils, Kind::Stencil),
            (w.loop_recurrences, Kind::Recurrence),
            (w.loop_search, Kind::Search),
            (w.loop_scatter, Kind::Scatter),
            (w.loop_interleaved, Kind::Interleaved),
            (w.loop_bytes, Kind::Bytes),
            (w.loop_slp, Kind::Lanes),
            (w.loop_vectors, Kind::Vectors),
        ];
        match self.weighted(&kinds).unwrap_or(Kind::Map) {
            Kind::Map => {
                let trips = self.trips();
                match self.rng.chance(self.weights.loop_live_outs) {
                    true => self.live_out(trips),
                    false => self.looped(trips, |this| this.statements()),
                }
            }
            Kind::Nested => self.nested(),
            Kind::Reduction => self.reduction(),
            Kind::Stencil => self.stencil(),
            Kind::Recurrence => self.recurrence(),
            Kind::Search => self.search(),
            Kind::Scatter => self.scatter(),
            Kind::Interleaved => self.interleaved(),
            Kind::Bytes => self.bytes(),
            Kind::Lanes => self.group(),
            Kind::Vectors => self.vectors(),
        }
    }

    /// How often a loop runs.
    pub(super) fn trips(&mut self) -> u64 {
        // Few short ones: with a known end, compilers unroll them completely.
        const USUAL: [u64; 16] = [1, 8, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 199, 200];
        if self.rng.below(3) > 0 { USUAL[self.rng.below(16)] } else { 1 + self.rng.below(120) as u64 }
    }

    /// A loop that runs so often around what `body` writes.
    pub(super) fn looped(&mut self, trips: u64, body: impl FnOnce(&mut Self) -> Vec<Stmt>) -> Vec<Stmt> {
        let (ty, elem) = match self.rng.below(20) {
            0..8 => (Type::Scalar(Elem::I32), Elem::I32),
            8..11 => (Type::Scalar(Elem::I64), Elem::I64),
            11..16 => (Type::Size, Elem::U64),
            16..19 => (Type::Scalar(Elem::U32), Elem::U32),
            _ => (Type::Scalar(Elem::U16), Elem::U16),
        };
        let stem = ["i", "j", "k", "l"][self.counters.len().min(3)];
        let var = self.var(stem, ty);
        let from = if self.rng.below(5) == 0 { self.rng.below(5) as i64 } else { 0 };
        let step = if self.rng.below(6) == 0 { 2 + self.rng.below(3) as i64 } else { 1 };
        let last = from + (trips as i64 - 1) * step;
        let down = self.rng.below(8) == 0 && elem.is_signed();
        let (start, compare, end, step) = match (down, self.rng.below(8)) {
            (true, 0..4) => (last, Compare::Ge, from, -step),
            (true, _) => (last, Compare::Gt, from - 1, -step),
            (false, 0) => (from, Compare::Le, last, step),
            (false, 1) => (from, Compare::Ne, last + step, step),
            (false, _) => (from, Compare::Lt, last + 1 + self.rng.below(step as usize) as i64, step),
        };
        let known = std::mem::take(&mut self.known_trips);
        let start = self.bound(ty, elem, start, if known { 0.0 } else { 0.15 });
        let end = self.bound(ty, elem, end, if known { 0.0 } else { 0.75 });
        let counter = Counter { var, ty: elem, lo: from.into(), hi: last.into() };
        self.counters.push(counter);
        let body = body(self);
        self.counters.pop();
        let pragma = self.pragma(&body);
        vec![Stmt::Loop(Box::new(Loop { index: var, from: start, compare, to: end, step, pragma, body }))]
    }

    /// A bound: a literal, or something that has this value and that the compiler cannot see, or not all of
    /// it.
    pub(super) fn bound(&mut self, ty: Type, elem: Elem, value: i64, opaque: f64) -> CExpr {
        if !self.chance(opaque) {
            return CExpr::int(elem, value);
        }
        match self.rng.below(8) {
            0 if value > 0 && value % 4 == 0 => {
                let var = self.param(ty, (value / 4) as u64);
                CExpr::binary(Binary::Mul, CExpr::Var(var), CExpr::int(elem, 4))
            }
            1 if value > 3 => {
                let var = self.param(ty, (value - 3) as u64);
                CExpr::binary(Binary::Add, CExpr::Var(var), CExpr::int(elem, 3))
            }
            _ => {
                let mask = u64::MAX >> (64 - elem.bits());
                CExpr::Var(self.param(ty, value as u64 & mask))
            }
        }
    }

    /// What compilers are told of a loop.
    fn pragma(&mut self, body: &[Stmt]) -> Pragma {
        if !self.chance(self.weights.loop_pragmas) {
            return Pragma::None;
        }
        let floats = self.program.buffers.iter().any(|b| b.elem.is_float());
        let innermost = !body.iter().any(|s| matches!(s, Stmt::Loop(_)));
        match self.rng.below(6) {
            0 if innermost && !floats => Pragma::Vectorize,
            1 => Pragma::NoVector,
            2 if innermost && !floats => Pragma::Interleave(2 << self.rng.below(2)),
            3 if innermost && !floats => Pragma::Width(2 << self.rng.below(4)),
            4 if innermost => Pragma::Distribute,
            _ => Pragma::Unroll(2 << self.rng.below(2)),
        }
    }

    /// A few statements on elements.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let count = 1 + self.rng.below(3);
        let mut body = Vec::new();
        for _ in 0..count {
            if self.rng.below(5) == 0 {
                body.push(self.temporary());
            } else if self.rng.chance(self.weights.loop_calls) {
                body.extend(self.small_call());
            } else if self.rng.chance(self.weights.loop_conditions) {
                let guarded = self.rng.chance(self.weights.loop_guards);
                let condition = if guarded { self.guard().e } else { self.condition(1).e };
                let then = self.store();
                let otherwise = match (self.rng.below(4), &then) {
                    (0, _) => vec![self.store()],
                    // Both store to the same place.
                    (1, Stmt::Set { target: Target::Element(access), .. }) => {
                        vec![self.store_to(access.clone())]
                    }
                    _ => Vec::new(),
                };
                body.push(Stmt::When { condition, then: vec![then], otherwise });
            } else {
                body.push(self.store());
            }
        }
        if !body.iter().any(|s| matches!(s, Stmt::Set { target: Target::Element(_), .. } | Stmt::When { .. }))
        {
            body.push(self.store());
        }
        // Temporaries are not known outside; parameters that came with them are.
        let params = &self.function.params;
        self.scalars.retain(|s| matches!(s.e, CExpr::Var(v) if params.contains(&v)));
        body
    }

    /// A small function is called, its result used after.
    fn small_call(&mut self) -> Vec<Stmt> {
        let helpers = self.helpers.clone();
        let number = match self.rng.pick(&helpers) {
            Some(&number) => number,
            None => return Vec::new(),
        };
        let Some((body, result)) = self.called(number, &mut |this| this.expr(1)) else { return Vec::new() };
        self.scalars.push(result);
        body
    }

    /// A variable that is set and used after.
    fn temporary(&mut self) -> Stmt {
        let value = self.expr(2);
        let ty = if self.rng.below(3) == 0 { self.some_type() } else { value.ty };
        let known = value.as_type(ty);
        let ty = if known.is_some() { ty } else { value.ty };
        let var = self.var("t", Type::Scalar(ty));
        let known = known.unwrap_or_else(|| value.clone());
        self.scalars.push(Val { e: CExpr::Var(var), ty, ..known });
        Self::set(var, value)
    }

    /// `element = expression`
    pub(super) fn store(&mut self) -> Stmt {
        let depth = 1 + self.rng.below(3) as u32;
        let value = self.expr(depth);
        self.store_of(value)
    }

    /// Something else is stored to this element.
    fn store_to(&mut self, access: Access) -> Stmt {
        let elem = self.arrays[access.buffer].elem;
        let value = self.expr(1);
        let value = if value.as_type(elem).is_some() { value.e } else { CExpr::int(Elem::I32, 1) };
        Stmt::Set { target: Target::Element(access), value }
    }

    /// A buffer to store into.
    pub(super) fn target(&mut self, elem: Elem) -> usize {
        let old = self.rng.chance(self.weights.loop_reuse);
        let lanes = self.lanes.is_some();
        let fits = |a: &super::Array| a.elem == elem && !a.input && (!lanes || a.dims.is_empty());
        let known: Vec<usize> = (0..self.arrays.len()).filter(|&n| fits(&self.arrays[n])).collect();
        match self.rng.pick(&known) {
            Some(&number) if old => number,
            _ => {
                let dims = self.some_dims();
                self.array(elem, dims, false)
            }
        }
    }

    /// The type in which a value is stored: one of the function's, if it can be converted.
    pub(super) fn stored_type(&mut self, value: &Val) -> Elem {
        let wanted = self.some_type();
        if value.as_type(wanted).is_some() { wanted } else { value.ty }
    }

    fn store_of(&mut self, value: Val) -> Stmt {
        let elem = self.stored_type(&value);
        let number = self.target(elem);
        let access = self.access(number, true);
        // Once in a while what is there is changed.
        if self.rng.below(6) == 0 {
            let array = &self.arrays[number];
            let there = Val {
                e: CExpr::Load(access.clone()),
                ty: elem,
                lo: array.lo,
                hi: array.hi,
                bound: array.bound,
            };
            let both = self.combined(there, value.clone());
            if both.as_type(elem).is_some() {
                return Stmt::Set { target: Target::Element(access), value: both.e };
            }
        }
        Stmt::Set { target: Target::Element(access), value: value.e }
    }

    /// Two loops or three, perfect or not.
    fn nested(&mut self) -> Vec<Stmt> {
        let outer = 1 + self.rng.below(8) as u64;
        let inner = (self.trips() % 65).max(1);
        let third = (self.rng.below(5) == 0).then(|| [1, 3, 5, 16, 17, 20, 33][self.rng.below(7)]);
        let kind = self.rng.below(5);
        if self.rng.chance(self.weights.loop_short) {
            // The inner one is unrolled completely.
            let (outer, inner) = ((self.trips() % 65).max(1), 2 + self.rng.below(6) as u64);
            return self.looped(outer, |this| {
                this.known_trips = true;
                match kind {
                    0 => this.folded(inner),
                    _ => this.looped(inner, |this| this.statements()),
                }
            });
        }
        self.looped(outer, |this| {
            let mut body = Vec::new();
            match kind {
                // A reduction in each round.
                0 => body.extend(this.folded(inner)),
                // A reduction over the rounds, for each element.
                1 => body.extend(this.columns(inner)),
                _ => body.extend(this.looped(inner.min(300), |this| match third {
                    Some(trips) => this.looped(trips, |this| this.statements()),
                    None => this.statements(),
                })),
            }
            if this.rng.below(4) == 0 {
                body.push(this.store());
            }
            body
        })
    }

    /// Neighbours of an element, of one buffer.
    fn stencil(&mut self) -> Vec<Stmt> {
        let (trips, reach) = (self.trips(), 1 + self.rng.below(3) as i64);
        let elem = self.some_type();
        let in_place = self.rng.below(4) == 0;
        self.looped(trips, |this| {
            let input = this.array(elem, Vec::new(), !in_place);
            let Some(counter) = this.counters.last().cloned() else { return Vec::new() };
            let mut sum: Option<Val> = None;
            for offset in 0..=2 * reach {
                if this.rng.below(4) == 0 {
                    continue;
                }
                let by = Val::literal(counter.ty, offset);
                let Some(at) = Val::binary(Binary::Add, counter.value(), by) else { continue };
                this.reach(input, at.hi);
                let array = &this.arrays[input];
                let e = CExpr::load(input, at.e);
                let one = Val { e, ty: elem, lo: array.lo, hi: array.hi, bound: array.bound };
                sum = Some(match sum {
                    None => one,
                    Some(sum) => this.combined(sum, one),
                });
            }
            let value = sum.unwrap_or_else(|| Val::literal(Elem::I32, 3));
            if in_place && value.as_type(elem).is_some() {
                let by = Val::literal(counter.ty, reach);
                if let Some(at) = Val::binary(Binary::Add, counter.value(), by) {
                    this.reach(input, at.hi);
                    let target = Target::Element(Access { buffer: input, index: vec![at.e] });
                    return vec![Stmt::Set { target, value: value.e }];
                }
            }
            vec![this.store_of(value)]
        })
    }

    /// What one round computes is used in a later one.
    fn recurrence(&mut self) -> Vec<Stmt> {
        let trips = self.trips();
        if self.rng.below(2) == 0 {
            // By a scalar: the value of the round before.
            let elem = self.some_type();
            let var = self.var("b", Type::Scalar(elem));
            let start = Val::literal(Elem::I32, 0).cast(elem).unwrap_or_else(|| Val::literal(Elem::I32, 0));
            let mut all = vec![Self::set(var, start)];
            all.extend(self.looped(trips, |this| {
                let load = this.load();
                let now = load.cast(elem).unwrap_or_else(|| Val::any(CExpr::Var(var), elem));
                let before = Val::any(CExpr::Var(var), elem);
                let both = this.combined(now.clone(), before);
                let store = this.store_of(both);
                // What stays the same from the second round on is peeled.
                let next = if this.rng.below(3) == 0 { this.invariant() } else { now.clone() };
                let next = if next.as_type(elem).is_some() { next } else { now };
                vec![store, Self::set(var, next)]
            }));
            let number = self.array(elem, Vec::new(), false);
            let access = Access { buffer: number, index: vec![CExpr::int(Elem::I32, 0)] };
            all.push(Stmt::Set { target: Target::Element(access), value: CExpr::Var(var) });
            return all;
        }
        // By a buffer, some elements before or after.
        let elem = self.some_type();
        let distance = [1, 2, 3, 4, 8, 16][self.rng.below(6)];
        let forward = self.rng.below(3) == 0;
        self.looped(trips, |this| {
            let number = this.array(elem, Vec::new(), false);
            let Some(counter) = this.counters.last().cloned() else { return Vec::new() };
            let near = counter.value();
            let far = Val::binary(Binary::Add, near.clone(), Val::literal(counter.ty, distance));
            let Some(far) = far else { return Vec::new() };
            let (read, write) = if forward { (far, near) } else { (near, far) };
            this.reach(number, read.hi.max(write.hi));
            let there = Val::any(CExpr::load(number, read.e), elem);
            let other = this.expr(1);
            let both = this.combined(there, other);
            let value = if both.as_type(elem).is_some() { both.e } else { CExpr::int(Elem::I32, 1) };
            vec![Stmt::Set {
                target: Target::Element(Access { buffer: number, index: vec![write.e] }),
                value,
            }]
        })
    }

    /// A loop that ends early, and where it ended.
    fn search(&mut self) -> Vec<Stmt> {
        let trips = self.trips();
        let stores = self.rng.below(3) == 0;
        let mut all = self.looped(trips, |this| {
            let condition = match this.rng.below(3) {
                0 => this.condition(1),
                _ => {
                    let (a, b) = (this.load(), this.leaf());
                    let op = [Binary::Eq, Binary::Ne, Binary::Gt, Binary::Lt][this.rng.below(4)];
                    Val::binary(op, a, b).unwrap_or_else(|| Val::literal(Elem::I32, 0))
                }
            };
            let exit = Stmt::When { condition: condition.e, then: vec![Stmt::Leave], otherwise: Vec::new() };
            let mut body = vec![exit];
            if stores {
                let store = this.store();
                body.insert(this.rng.below(2), store);
            }
            body
        });
        // Where it ended.
        if let Some(Stmt::Loop(of)) = all.last() {
            let index = of.index;
            let elem = rvv_ir::loops::variable(self.function.ty(index)).unwrap_or(Elem::I32);
            let number = self.array(elem, Vec::new(), false);
            let access = Access { buffer: number, index: vec![CExpr::int(Elem::I32, 0)] };
            all.push(Stmt::Set { target: Target::Element(access), value: CExpr::Var(index) });
        }
        all
    }

    /// Stores through subscripts that are data: a permutation, or a histogram.
    fn scatter(&mut self) -> Vec<Stmt> {
        let trips = self.trips();
        let elem = self.some_type();
        let permutes = self.rng.below(2) == 0;
        self.looped(trips, |this| {
            let Some(counter) = this.counters.last().map(Counter::value) else { return Vec::new() };
            let number = this.array(elem, Vec::new(), false);
            let (distribution, most) = if permutes {
                (Distribution::Permute { step: 1 }, counter.hi)
            } else {
                let limit = [4, 16, 64][this.rng.below(3)];
                (Distribution::Below { limit, step: 1 }, i128::from(limit) - 1)
            };
            let ty = if most < 256 { [Elem::U8, Elem::U16, Elem::I32][this.rng.below(3)] } else { Elem::U32 };
            let index = this.index_array(ty, distribution, most);
            this.reach(index, counter.hi);
            this.reach(number, most);
            let access = Access { buffer: number, index: vec![CExpr::load(index, counter.e)] };
            let value = this.expr(1);
            let there = Val::any(CExpr::Load(access.clone()), elem);
            let both = if permutes { value } else { this.combined(there, value) };
            let value = if both.as_type(elem).is_some() { both.e } else { CExpr::int(Elem::I32, 1) };
            vec![Stmt::Set { target: Target::Element(access), value }]
        })
    }

    /// Fields of records: some are read, some are written, some are left out.
    fn interleaved(&mut self) -> Vec<Stmt> {
        let trips = self.trips().min(128);
        let elem = self.some_type();
        let (from, to) = (2 + self.rng.below(7), 2 + self.rng.below(7));
        let writes_records = self.rng.below(3) > 0;
        self.looped(trips, |this| {
            let Some(counter) = this.counters.last().map(Counter::value) else { return Vec::new() };
            let input = this.array(elem, vec![from], true);
            let output = this.array(elem, vec![to], false);
            this.reach(input, counter.hi);
            this.reach(output, counter.hi);
            let field = |this: &mut Self, number: usize, fields: usize| {
                let at = this.rng.below(fields) as i64;
                Access { buffer: number, index: vec![counter.e.clone(), CExpr::int(Elem::I32, at)] }
            };
            let count = 1 + this.rng.below(3);
            let mut body = Vec::new();
            for _ in 0..count {
                let (a, b) = (field(this, input, from), field(this, input, from));
                let array = this.arrays[input].clone();
                let val = |a: Access| Val {
                    e: CExpr::Load(a),
                    ty: elem,
                    lo: array.lo,
                    hi: array.hi,
                    bound: array.bound,
                };
                let value = this.combined(val(a), val(b));
                if writes_records && value.as_type(elem).is_some() {
                    let target = Target::Element(field(this, output, to));
                    body.push(Stmt::Set { target, value: value.e });
                } else {
                    body.push(this.store_of(value));
                }
            }
            body
        })
    }

    /// Loops that are memcpy, memset, strlen, memchr and memcmp.
    fn bytes(&mut self) -> Vec<Stmt> {
        let elem = [Elem::U8, Elem::I8, Elem::U16, Elem::U8][self.rng.below(4)];
        let types = std::mem::replace(&mut self.types, vec![elem]);
        let trips = self.trips();
        let all = match self.rng.below(4) {
            0 => self.looped(trips, |this| {
                let value = this.load();
                vec![this.store_of(value)]
            }),
            1 => self.looped(trips, |this| {
                let value = Val::literal(elem, this.rng.below(100) as i64);
                vec![this.store_of(value)]
            }),
            _ => self.search(),
        };
        self.types = types;
        all
    }
}
