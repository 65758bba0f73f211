//! Programs without a policy, to measure the policies against: every alternative of the grammar is as likely
//! as every other, and no choice knows of another one.
//!
//! A loop is one kind of statement among others, its bounds are as likely opaque as known, its counter is of
//! any type. A subscript is a literal, a counter or any expression, reduced to the size. What is assigned to,
//! what is read and every operator are drawn from all there are.

use super::value::Val;
use super::{Counter, Writer};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::loops::{Access, Binary, Builtin, CExpr, Loop, Pointers, Pragma, Target, Unary};
use rvv_ir::{Arg, Compare, Function, Linkage, Stmt};

const INTEGERS: [Elem; 8] =
    [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];
const TYPES: [Elem; 11] = [
    Elem::I8,
    Elem::U8,
    Elem::I16,
    Elem::U16,
    Elem::I32,
    Elem::U32,
    Elem::I64,
    Elem::U64,
    Elem::F16,
    Elem::F32,
    Elem::F64,
];
/// Blocks within blocks.
const DEEPEST: usize = 4;
/// Operations within operations.
const DEPTH: u32 = 4;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Variable,
    Element,
    If,
    Loop,
    Exit,
    Call,
}

impl Writer<'_> {
    /// A function of the grammar alone, and its call.
    pub(super) fn unguided(&mut self) {
        if self.helpers.is_empty() || self.rng.below(2) == 0 {
            let helper = self.helper(3);
            self.helpers.push(helper);
        }
        let number = self.program.functions.len();
        self.function = Function {
            name: format!("f{number}"),
            linkage: Linkage::Global,
            pointers: [Pointers::Globals, Pointers::Plain, Pointers::Restrict][self.rng.below(3)],
            ..Function::default()
        };
        self.args.clear();
        self.scalars.clear();
        self.types = TYPES.to_vec();
        for _ in 0..2 + self.rng.below(3) {
            let elem = self.some_type();
            let (dims, input) = (self.any_dims(), self.rng.below(2) == 0);
            let array = self.array(elem, dims, input);
            let last = 1 + self.rng.below(64) as i128;
            self.reach(array, last);
        }
        // Stores need a buffer.
        if self.arrays.iter().all(|a| a.input) {
            let elem = self.some_type();
            let array = self.array(elem, Vec::new(), false);
            self.reach(array, 63);
        }
        for _ in 0..1 + self.rng.below(3) {
            let ty = self.some_type();
            self.opaque(ty);
        }
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(4) {
            let ty = self.some_type();
            let start = self.any_literal(ty);
            let var = self.var("v", Type::Scalar(ty));
            body.push(Self::set(var, start));
            // Anything may be assigned later.
            self.scalars.push(Val::any(CExpr::Var(var), ty));
        }
        body.extend(self.any_block(0));
        // What the variables hold at the end can be seen.
        let vars = self.assignable();
        if let Some(var) = self.rng.pick(&vars).cloned() {
            body.push(self.any_store(var));
        }
        self.function.body = body;
        let function = std::mem::take(&mut self.function);
        self.program.functions.push(function);
        let args = std::mem::take(&mut self.args);
        self.program.main.body.push(Stmt::Invoke { dst: None, function: number, args });
    }

    fn any_dims(&mut self) -> Vec<usize> {
        (0..self.rng.below(3)).map(|_| 2 + self.rng.below(7)).collect()
    }

    fn any_literal(&mut self, ty: Elem) -> Val {
        let bits = rvv_ir::data::Distribution::Mix.draw(ty, self.rng.data());
        if ty.is_float() {
            return Val::float(CExpr::Literal(ty, bits), ty, f64::INFINITY);
        }
        let unused = 64 - ty.bits();
        let value = if ty.is_signed() { (bits << unused) as i64 >> unused } else { bits as i64 };
        let known = if ty.is_signed() { i128::from(value) } else { i128::from(bits) };
        Val::int(CExpr::int(ty, value), ty, known, known)
    }

    /// Variables of the function that are no parameters.
    fn assignable(&self) -> Vec<Val> {
        let params = &self.function.params;
        let own = |s: &&Val| matches!(s.e, CExpr::Var(v) if !params.contains(&v));
        self.scalars.iter().filter(own).cloned().collect()
    }

    /// Two to five statements.
    fn any_block(&mut self, depth: usize) -> Vec<Stmt> {
        let mut body = Vec::new();
        for _ in 0..2 + self.rng.below(4) {
            body.extend(self.any_statement(depth).unwrap_or_default());
        }
        body
    }

    fn any_statement(&mut self, depth: usize) -> Option<Vec<Stmt>> {
        let mut kinds = vec![Kind::Variable, Kind::Element, Kind::Call];
        if depth < DEEPEST {
            kinds.push(Kind::If);
            if self.counters.len() < 3 {
                kinds.push(Kind::Loop);
            }
        }
        if !self.counters.is_empty() {
            kinds.push(Kind::Exit);
        }
        Some(vec![match kinds[self.rng.below(kinds.len())] {
            Kind::Variable => {
                let value = self.any(DEPTH);
                let fits: Vec<Val> =
                    self.assignable().into_iter().filter(|v| value.as_type(v.ty).is_some()).collect();
                let CExpr::Var(var) = self.rng.pick(&fits)?.e else { return None };
                Self::set(var, value)
            }
            Kind::Element => {
                let value = self.any(DEPTH);
                self.any_store(value)
            }
            Kind::If => {
                let condition = self.any(DEPTH).e;
                let then = self.any_block(depth + 1);
                let otherwise = if self.rng.below(2) == 0 { self.any_block(depth + 1) } else { Vec::new() };
                Stmt::When { condition, then, otherwise }
            }
            Kind::Loop => self.any_loop(depth),
            Kind::Exit => {
                let condition = self.any(DEPTH).e;
                Stmt::When { condition, then: vec![Stmt::Leave], otherwise: Vec::new() }
            }
            Kind::Call => {
                let helpers = self.helpers.clone();
                let number = *self.rng.pick(&helpers)?;
                let (mut body, result) = self.called(number, &mut |this| this.any(DEPTH - 1))?;
                body.push(self.any_store(result));
                return Some(body);
            }
        }])
    }

    /// A loop whose counter, bounds and step are any.
    fn any_loop(&mut self, depth: usize) -> Stmt {
        let elem = INTEGERS[self.rng.below(8)];
        let ty = if elem == Elem::U64 { Type::Size } else { Type::Scalar(elem) };
        // Few enough for three loops in one another, and for the narrowest counter.
        let most = [32, 12, 8][self.counters.len().min(2)].min(if elem.bits() == 8 { 20 } else { 32 });
        let trips = 1 + self.rng.below(most) as i64;
        let step = 1 + self.rng.below(4) as i64;
        let first = 4 + self.rng.below(8) as i64;
        let last = first + (trips - 1) * step;
        let down = self.rng.below(2) == 0;
        let (from, to, step) = if down { (last, first, -step) } else { (first, last, step) };
        let (compare, end) = match self.rng.below(3) {
            0 => (if down { Compare::Ge } else { Compare::Le }, to),
            1 => (if down { Compare::Gt } else { Compare::Lt }, to + step.signum()),
            _ => (Compare::Ne, to + step),
        };
        let (from, end) = (self.bound(ty, elem, from, 0.5), self.bound(ty, elem, end, 0.5));
        let stem = ["i", "j", "k"][self.counters.len().min(2)];
        let index = self.var(stem, ty);
        let counter = Counter { var: index, ty: elem, lo: first.into(), hi: last.into() };
        self.counters.push(counter);
        let body = self.any_block(depth + 1);
        self.counters.pop();
        Stmt::Loop(Box::new(Loop { index, from, compare, to: end, step, pragma: Pragma::None, body }))
    }

    fn any_store(&mut self, value: Val) -> Stmt {
        let outputs: Vec<usize> = (0..self.arrays.len()).filter(|&n| !self.arrays[n].input).collect();
        let number = self.rng.pick(&outputs).copied().unwrap_or(0);
        let elem = self.arrays[number].elem;
        let value = if value.as_type(elem).is_some() { value } else { Val::literal(Elem::I32, 1) };
        let access = self.any_access(number, 1);
        Stmt::Set { target: Target::Element(access), value: value.e }
    }

    /// Any variable, parameter or counter.
    fn any_scalar(&mut self) -> Val {
        let counters = self.counters.iter().map(Counter::value);
        let all: Vec<Val> = self.scalars.iter().cloned().chain(counters).collect();
        self.rng.pick(&all).cloned().unwrap_or_else(|| Val::literal(Elem::I32, 1))
    }

    /// An element, each subscript a literal, a counter that fits, or an expression modulo the size.
    fn any_access(&mut self, number: usize, depth: u32) -> Access {
        let shape = self.program.buffers[number].shape();
        let mut index = Vec::new();
        for size in shape {
            let size = size as i128;
            let fits = |c: &&Counter| c.hi < size;
            let counters: Vec<Val> = self.counters.iter().filter(fits).map(Counter::value).collect();
            let at = match self.rng.below(3) {
                0 => None,
                1 if !counters.is_empty() => self.rng.pick(&counters).cloned(),
                _ => {
                    let e = self.any(depth);
                    let e = if e.ty.is_float() { self.any_scalar() } else { e };
                    let wide = if e.ty.is_float() { None } else { e.cast(Elem::U64) };
                    let by = Val::literal(Elem::U64, size as i64);
                    wide.and_then(|e| Val::binary(Binary::Rem, e, by))
                }
            };
            let at = at.unwrap_or_else(|| Val::literal(Elem::I32, self.rng.below(size as usize) as i64));
            index.push(at.e);
        }
        Access { buffer: number, index }
    }

    /// Any expression.
    pub(super) fn any(&mut self, depth: u32) -> Val {
        const ALL: [Binary; 18] = {
            let mut all = [Binary::Add; 18];
            let mut n = 0;
            while n < 18 {
                all[n] = Binary::ALL[n].0;
                n += 1;
            }
            all
        };
        match self.rng.below(if depth == 0 { 3 } else { 8 }) {
            0 => {
                let ty = self.some_type();
                self.any_literal(ty)
            }
            1 => self.any_scalar(),
            2 => {
                if self.arrays.is_empty() {
                    return self.any_scalar();
                }
                let number = self.rng.below(self.arrays.len());
                let access = self.any_access(number, depth.saturating_sub(2));
                let array = &self.arrays[number];
                Val { e: CExpr::Load(access), ty: array.elem, lo: array.lo, hi: array.hi, bound: array.bound }
            }
            3 => {
                let a = self.any(depth - 1);
                let op = [Unary::Neg, Unary::Not, Unary::IsZero, Unary::Bool][self.rng.below(4)];
                Val::unary(op, a.clone()).unwrap_or(a)
            }
            4 => {
                let (a, to) = (self.any(depth - 1), self.some_type());
                let from = a.clone();
                a.cast(to).unwrap_or(from)
            }
            5 => {
                let (a, b) = (self.any(depth - 1), self.any(depth - 1));
                let op = ALL[self.rng.below(18)];
                self.combined_by(op, a, b)
            }
            6 => {
                let (c, a, b) = (self.any(depth - 1), self.any(depth - 1), self.any(depth - 1));
                Val::select(c, a.clone(), b).unwrap_or(a)
            }
            _ => {
                let a = self.any(depth - 1);
                self.any_function(a, depth - 1)
            }
        }
    }

    fn any_function(&mut self, a: Val, depth: u32) -> Val {
        if !matches!(a.ty, Elem::F32 | Elem::F64) {
            return a;
        }
        let (builtin, ..) = Builtin::ALL[self.rng.below(3)];
        let mut args = vec![a.e.clone()];
        for _ in 1..builtin.operands() {
            let other = self.any(depth).cast(a.ty);
            // Only of what is no NaN is the sign known.
            match other.filter(|b| builtin != Builtin::Copysign || b.bound.is_finite()) {
                Some(b) => args.push(b.e),
                None => return a,
            }
        }
        let bound = if builtin == Builtin::Fma { f64::INFINITY } else { a.bound };
        Val::float(CExpr::Builtin(builtin, args), a.ty, bound)
    }

    /// A small function on at most so many integers, which loops call: its number.
    pub(super) fn helper(&mut self, most: usize) -> usize {
        let number = self.program.functions.len();
        let types = std::mem::replace(&mut self.types, INTEGERS.to_vec());
        let scalars = std::mem::take(&mut self.scalars);
        let (arrays, counters) = (std::mem::take(&mut self.arrays), std::mem::take(&mut self.counters));
        let linkage = [Linkage::Local, Linkage::Inline][self.rng.below(2)];
        let function = Function { name: format!("h{number}"), linkage, ..Function::default() };
        let outer = std::mem::replace(&mut self.function, function);
        for _ in 0..1 + self.rng.below(most) {
            let ty = INTEGERS[self.rng.below(8)];
            let var = self.var("x", Type::Scalar(ty));
            self.function.params.push(var);
            self.scalars.push(Val::any(CExpr::Var(var), ty));
        }
        let value = self.any(2);
        let value = if value.ty.is_float() { self.any_scalar() } else { value };
        let ret = self.var("r", Type::Scalar(value.ty));
        self.function.ret = Some(ret);
        self.function.body.push(Self::set(ret, value));
        let function = std::mem::replace(&mut self.function, outer);
        self.program.functions.push(function);
        (self.types, self.scalars, self.arrays, self.counters) = (types, scalars, arrays, counters);
        number
    }

    /// A call of such a function, what it takes set before; and its result.
    pub(super) fn called(
        &mut self,
        number: usize,
        value: &mut dyn FnMut(&mut Self) -> Val,
    ) -> Option<(Vec<Stmt>, Val)> {
        let callee = &self.program.functions[number];
        let types: Vec<Type> = callee.params.iter().map(|&p| callee.ty(p)).collect();
        let ret = callee.ty(callee.ret?);
        let (mut body, mut args) = (Vec::new(), Vec::new());
        for ty in types {
            let Type::Scalar(elem) = ty else { return None };
            let given = value(self);
            let given = given.as_type(elem).unwrap_or_else(|| Val::literal(elem, 5));
            let var = self.var("a", ty);
            body.push(Self::set(var, given));
            args.push(Arg::Var(var));
        }
        let Type::Scalar(elem) = ret else { return None };
        let dst = self.var("c", ret);
        body.push(Stmt::Invoke { dst: Some(dst), function: number, args });
        Some((body, Val::any(CExpr::Var(dst), elem)))
    }
}
