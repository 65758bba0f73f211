//! Random expressions with C's types.

use super::Writer;
use super::value::{Val, unsigned};
use rvv_intrinsics::Elem;
use rvv_ir::loops::{Binary, Builtin, CExpr, Unary};

impl Writer<'_> {
    /// A value that is there: an element, a scalar, a literal, a counter.
    pub(super) fn leaf(&mut self) -> Val {
        match self.rng.below(20) {
            0..2 => self.number(),
            2 if !self.counters.is_empty() && self.lanes.is_none() => {
                let counters = self.counters.clone();
                self.rng.pick(&counters).map_or_else(|| Val::literal(Elem::I32, 1), |c| c.value())
            }
            3..6 if !self.scalars.is_empty() => {
                let scalars = self.scalars.clone();
                self.rng.pick(&scalars).cloned().unwrap_or_else(|| Val::literal(Elem::I32, 1))
            }
            6 if self.scalars.len() < 4 => {
                let ty = self.some_type();
                self.opaque(ty)
            }
            7..17 if !self.counters.is_empty() && self.rng.chance(self.weights.loop_invariants) => {
                self.invariant()
            }
            _ => self.load(),
        }
    }

    /// A literal.
    fn number(&mut self) -> Val {
        let ty = self.some_type();
        if ty.is_float() {
            let bits = rvv_ir::data::Distribution::Small.draw(ty, self.rng.data());
            return Val::float(CExpr::Literal(ty, bits), ty, 4.0);
        }
        let value = match self.rng.below(4) {
            0 => self.rng.below(256) as i64,
            1 => 1 << self.rng.below(ty.bits() as usize - 1),
            _ => 1 + self.rng.below(9) as i64,
        };
        // The largest u64 is no i64.
        let value = value.min(super::value::range(ty).1.min(i64::MAX.into()) as i64);
        let negative = ty.is_signed() && self.rng.below(4) == 0;
        Val::literal(ty, if negative { -value } else { value })
    }

    /// An element of an input, or of a buffer that has been written.
    pub(super) fn load(&mut self) -> Val {
        let old = self.rng.chance(self.weights.loop_reuse);
        self.load_of(old)
    }

    /// An element of an input; or, if `old`, of any buffer.
    pub(super) fn load_of(&mut self, old: bool) -> Val {
        let elem = self.some_type();
        let wanted = |a: &super::Array| a.elem == elem && !a.subscripts && (a.input || old);
        let fits = |a: &super::Array, lanes: bool| wanted(a) && (!lanes || a.dims.is_empty());
        let lanes = self.lanes.is_some();
        let known: Vec<usize> = (0..self.arrays.len()).filter(|&n| fits(&self.arrays[n], lanes)).collect();
        let number = match self.rng.pick(&known) {
            Some(&number) if self.rng.below(5) > 0 => number,
            _ => {
                let dims = self.some_dims();
                self.array(elem, dims, true)
            }
        };
        let access = self.access(number, false);
        let array = &self.arrays[number];
        let e = CExpr::Load(access);
        Val { e, ty: array.elem, lo: array.lo, hi: array.hi, bound: array.bound }
    }

    /// Dimensions of a new buffer.
    pub(super) fn some_dims(&mut self) -> Vec<usize> {
        if self.lanes.is_some() || self.counters.is_empty() {
            return Vec::new();
        }
        let inner = self.counters.last().map_or(4, |c| c.hi.clamp(1, 300) as usize + 1);
        match (self.counters.len(), self.rng.below(10)) {
            (1, 0) => vec![2 + self.rng.below(7)],
            (1, _) => Vec::new(),
            (2, 0..7) => vec![inner],
            (2, _) => Vec::new(),
            (_, 0..7) => {
                let middle = self.counters.iter().rev().nth(1).map_or(4, |c| c.hi.clamp(1, 40) as usize + 1);
                vec![middle, inner]
            }
            _ => Vec::new(),
        }
    }

    /// An expression of at most this depth.
    pub(super) fn expr(&mut self, depth: u32) -> Val {
        if depth == 0 || self.rng.below(8) == 0 {
            return self.leaf();
        }
        let a = self.expr(depth - 1);
        match self.rng.below(16) {
            0 => self.negated(a),
            1..3 => {
                let to = self.some_type();
                let from = a.clone();
                a.cast(to).unwrap_or(from)
            }
            3 => self.clamp(a),
            4..6 => {
                let b = self.expr(depth - 1);
                self.extremum(a, b)
            }
            6..8 => {
                let (b, c) = (self.expr(depth - 1), self.condition(1));
                self.choice(c, a, b)
            }
            8 if a.ty.is_float() => self.known_function(a),
            _ => {
                let b = self.expr(depth - 1);
                self.combined(a, b)
            }
        }
    }

    fn negated(&mut self, a: Val) -> Val {
        let op = if self.rng.below(2) == 0 { Unary::Neg } else { Unary::Not };
        Val::unary(op, a.clone()).unwrap_or(a)
    }

    /// `c ? a : b`
    fn choice(&mut self, c: Val, a: Val, b: Val) -> Val {
        Val::select(c, a.clone(), b).unwrap_or(a)
    }

    /// Two operands by an operation that is defined for all their values: if need be on unsigned or wider
    /// ones.
    pub(super) fn combined(&mut self, a: Val, b: Val) -> Val {
        const FLOAT: [Binary; 8] = [
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Add,
            Binary::Div,
        ];
        const INTEGER: [Binary; 16] = [
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::Shl,
            Binary::Shr,
            Binary::Shr,
            Binary::Div,
            Binary::Rem,
            Binary::Lt,
            Binary::Ne,
        ];
        let float = a.ty.is_float() || b.ty.is_float();
        let op = if float { FLOAT[self.rng.below(8)] } else { INTEGER[self.rng.below(16)] };
        self.combined_by(op, a, b)
    }

    /// The same, by an operation that is given. Of floats, one that only integers have is another.
    pub(super) fn combined_by(&mut self, op: Binary, a: Val, b: Val) -> Val {
        if a.ty.is_float() || b.ty.is_float() {
            let op = if op.is_integer() { Binary::Add } else { op };
            return Val::binary(op, a.clone(), b).unwrap_or(a);
        }
        let b = match op {
            Binary::Shl | Binary::Shr => {
                let bits = rvv_ir::loops::promote(a.ty).bits() as i64;
                match self.rng.below(3) {
                    // A shift that differs from element to element.
                    0 if b.ty.bits() <= 32 => {
                        let mask = Val::literal(Elem::I32, bits - 1);
                        Val::binary(Binary::And, b, mask.clone()).filter(|v| v.lo >= 0).unwrap_or(mask)
                    }
                    _ => Val::literal(Elem::I32, self.rng.below(bits as usize) as i64),
                }
            }
            Binary::Div | Binary::Rem => match self.rng.below(4) {
                0 => {
                    let one = Val::literal(b.ty, 1);
                    Val::binary(Binary::Or, b, one.clone()).map_or(one, |v| Val { lo: v.lo.max(1), ..v })
                }
                _ => {
                    let most = super::value::range(a.ty).1.min(300) as usize;
                    Val::literal(a.ty, 2 + self.rng.below(most - 2) as i64)
                }
            },
            _ => b,
        };
        // The divisor `b | 1` of a signed type may be negative: what is known of it is for unsigned ones.
        let b = if matches!(op, Binary::Div | Binary::Rem)
            && b.ty.is_signed()
            && !matches!(b.e, CExpr::Literal(..))
        {
            Val::literal(a.ty, 7)
        } else {
            b
        };
        if let Some(found) = Val::binary(op, a.clone(), b.clone()) {
            return found;
        }
        // Not defined for all values: wider, or unsigned, or something else.
        let wide = |v: &Val| v.clone().cast(Elem::I64);
        if a.ty.bits() < 64
            && b.ty.bits() < 64
            && self.rng.below(3) == 0
            && let (Some(x), Some(y)) = (wide(&a), wide(&b))
            && let Some(found) = Val::binary(op, x, y)
        {
            return found;
        }
        let ty = rvv_ir::loops::common(a.ty, b.ty).unwrap_or(Elem::I64);
        let wraps = unsigned(ty);
        let (x, y) = (a.clone().cast(wraps), b.clone().cast(wraps));
        if let (Some(x), Some(y)) = (x, y) {
            let y = if matches!(op, Binary::Shl | Binary::Shr) { b } else { y };
            if let Some(found) = Val::binary(op, x, y) {
                let back = self.rng.below(3) > 0;
                return if back { found.clone().cast(ty).unwrap_or(found) } else { found };
            }
        }
        a
    }

    /// The smaller or the larger.
    fn extremum(&mut self, a: Val, b: Val) -> Val {
        let op = [Binary::Lt, Binary::Gt, Binary::Le, Binary::Ge][self.rng.below(4)];
        match Val::binary(op, a.clone(), b.clone()) {
            Some(c) => self.choice(c, a, b),
            None => a,
        }
    }

    /// Absolute value, saturation, or a float that fits an integer.
    fn clamp(&mut self, a: Val) -> Val {
        if a.ty.is_float() {
            let literal = |x: f32| match a.ty {
                Elem::F16 => u64::from(half_bits(x)),
                Elem::F32 => x.to_bits().into(),
                _ => f64::from(x).to_bits(),
            };
            let limit = 100.0f32;
            let bound = |x: f32| Val::float(CExpr::Literal(a.ty, literal(x)), a.ty, limit.into());
            let above = Val::binary(Binary::Gt, a.clone(), bound(-limit));
            let below = Val::binary(Binary::Lt, a.clone(), bound(limit));
            // A NaN is neither.
            if let (Some(above), Some(below)) = (above, below)
                && let Some(inside) = Val::binary(Binary::AndThen, above, below)
            {
                let known = Val::float(a.e.clone(), a.ty, limit.into());
                let to = [Elem::I32, Elem::I16, Elem::I64, Elem::I8][self.rng.below(4)];
                let zero = Val::literal(to, 0);
                if let Some(cast) = known.cast(to)
                    && let Some(found) = Val::select(inside, cast, zero)
                {
                    return found;
                }
            }
            return a;
        }
        if self.rng.below(2) == 0 {
            let zero = Val::literal(a.ty, 0);
            let Some(negative) = Val::unary(Unary::Neg, a.clone()) else { return a };
            return match Val::binary(Binary::Lt, a.clone(), zero) {
                Some(c) => self.choice(c, negative, a),
                None => a,
            };
        }
        // Saturated to a narrower type.
        let (lo, hi) = match self.rng.below(4) {
            0 => (-128, 127),
            1 => (0, 255),
            2 => (-32768, 32767),
            _ => (0, 65535),
        };
        let ty = if a.ty.bits() < 32 { Elem::I32 } else { a.ty };
        let (least, most) = super::value::range(ty);
        if i128::from(lo) < least || i128::from(hi) > most {
            return a;
        }
        let (lo, hi) = (Val::literal(ty, lo), Val::literal(ty, hi));
        let below = Val::binary(Binary::Lt, a.clone(), lo.clone());
        let above = Val::binary(Binary::Gt, a.clone(), hi.clone());
        match (below, above) {
            (Some(below), Some(above)) => {
                let inner = self.choice(above, hi.clone(), a.clone());
                let found = self.choice(below, lo.clone(), inner);
                Val { lo: lo.lo, hi: hi.hi, ..found }
            }
            _ => a,
        }
    }

    fn known_function(&mut self, a: Val) -> Val {
        if !matches!(a.ty, Elem::F32 | Elem::F64) {
            return a;
        }
        match self.rng.below(3) {
            0 => Val::float(CExpr::Builtin(Builtin::Fabs, vec![a.e]), a.ty, a.bound),
            1 => {
                let (b, c) = (self.leaf(), self.leaf());
                match (b.cast(a.ty), c.cast(a.ty)) {
                    (Some(b), Some(c)) => {
                        let e = CExpr::Builtin(Builtin::Fma, vec![a.e, b.e, c.e]);
                        Val::float(e, a.ty, f64::INFINITY)
                    }
                    _ => a,
                }
            }
            _ => {
                // Only of what is no NaN is the sign known.
                let b = self.leaf();
                match b.cast(a.ty).filter(|b| b.bound.is_finite()) {
                    Some(b) => Val::float(CExpr::Builtin(Builtin::Copysign, vec![a.e, b.e]), a.ty, a.bound),
                    None => a,
                }
            }
        }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: u32) -> Val {
        const COMPARE: [Binary; 6] = [Binary::Lt, Binary::Gt, Binary::Le, Binary::Ge, Binary::Eq, Binary::Ne];
        let (a, b) = (self.expr(depth), self.leaf());
        let op = COMPARE[self.rng.below(6)];
        let first = Val::binary(op, a.clone(), b);
        let first =
            first.or_else(|| Val::unary(Unary::Bool, a)).unwrap_or_else(|| Val::literal(Elem::I32, 1));
        if depth == 0 || self.rng.below(5) > 0 {
            return first;
        }
        let second = self.condition(0);
        let op = if self.rng.below(2) == 0 { Binary::AndThen } else { Binary::OrElse };
        Val::binary(op, first.clone(), second).unwrap_or(first)
    }
}

/// The bits of a small number as f16; it is exact.
fn half_bits(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    if x == 0.0 {
        return sign;
    }
    let exponent = ((bits >> 23) & 0xff) as i32 - 127 + 15;
    sign | (exponent as u16) << 10 | ((bits >> 13) & 0x3ff) as u16
}
