//! Static rules of element statements.

use super::{Access, Binary, CExpr, Lane, Lanes, Loop, Target, Unary, types};
use crate::check::{CheckError, Checker, Result2};
use crate::{Buffer, BufferKind, Function, Stmt, Var};
use rvv_intrinsics::Elem;
use std::collections::HashSet;

/// Operations in one expression. Files hold no more than nesting allows; this is for programs made otherwise.
const MAX_DEPTH: u32 = 64;

/// What the checker knows for element statements.
pub(crate) struct Elements {
    /// Variables of a floating-point type that an element statement assigns: their NaNs have no payload.
    floats: HashSet<Var>,
    /// The innermost loop is a [`Stmt::Loop`].
    in_loop: bool,
}

impl Elements {
    /// Of a function, at its start.
    pub(crate) fn of(function: &Function) -> Elements {
        fn walk(body: &[Stmt], function: &Function, floats: &mut HashSet<Var>) {
            for stmt in body {
                if let Stmt::Set { target: Target::Var(var), .. } = stmt
                    && let Some(decl) = function.vars.get(var.index())
                    && types::variable(decl.ty).is_some_and(Elem::is_float)
                {
                    floats.insert(*var);
                }
                stmt.blocks().into_iter().for_each(|block| walk(block, function, floats));
            }
        }
        let mut floats = HashSet::new();
        walk(&function.body, function, &mut floats);
        Elements { floats, in_loop: false }
    }

    /// Enters a loop; returns what to leave it with.
    pub(crate) fn enter(&mut self, is_element: bool) -> bool {
        std::mem::replace(&mut self.in_loop, is_element)
    }

    /// Leaves it.
    pub(crate) fn leave(&mut self, outside: bool) {
        self.in_loop = outside;
    }
}

impl Checker<'_> {
    /// A variable that is read by another kind of statement must have all its bits defined.
    pub(crate) fn leaves(&self, var: Var) -> Result2 {
        if self.elements.floats.contains(&var) {
            let name = self.function.name(var);
            return self.fail(format!(
                "`{name}` is set as a floating-point expression, so the payload of a NaN in it is undefined; \
                 only `set`, `loop` and `when` may read it"
            ));
        }
        Ok(())
    }

    /// A buffer of one dimension, for intrinsics and `put`.
    pub(crate) fn flat(&self, number: usize) -> Result<&Buffer, CheckError> {
        let buffer = self.buffer(number)?;
        if !buffer.dims.is_empty() {
            return self.fail(format!(
                "`{}` has {} dimensions; only `set` takes them",
                buffer.name,
                1 + buffer.dims.len()
            ));
        }
        if buffer.truths {
            return self.fail(format!("`{}` holds bool; only `set` takes it", buffer.name));
        }
        Ok(buffer)
    }

    pub(crate) fn element(&mut self, stmt: &Stmt) -> Result2 {
        match stmt {
            Stmt::Set { target, value } => {
                let ty = self.typed(value, 0)?;
                match target {
                    Target::Var(var) => {
                        let Some(decl) = self.function.vars.get(var.index()) else {
                            return self.fail(format!("variable number {} does not exist", var.0));
                        };
                        let Some(elem) = types::variable(decl.ty) else {
                            return self.fail(format!("`{}` is no scalar", decl.name));
                        };
                        self.converts(ty, elem)?;
                        self.assign(*var, decl.ty)
                    }
                    Target::Element(access) => {
                        let elem = self.access(access, 0)?;
                        self.converts(ty, elem)?;
                        let buffer = self.buffer(access.buffer)?;
                        if buffer.kind == BufferKind::Const {
                            return self.fail(format!("`{}` is const and is stored to", buffer.name));
                        }
                        Ok(())
                    }
                }
            }
            Stmt::Loop(of) => self.element_loop(of),
            Stmt::When { condition, then, otherwise } => {
                self.typed(condition, 0)?;
                self.branches(then, otherwise)
            }
            Stmt::Lanes(of) => self.lanes(of),
            Stmt::Leave if !self.elements.in_loop => self.fail("`leave` is not inside a `loop`"),
            _ => Ok(()),
        }
    }

    fn lanes(&self, of: &Lanes) -> Result2 {
        if !of.count.is_power_of_two() || !(2..=Lanes::MOST).contains(&of.count) {
            return self.fail(format!("{} lanes; there are 2, 4, 8 … {}", of.count, Lanes::MOST));
        }
        let buffer = self.flat(of.buffer)?;
        if buffer.kind == BufferKind::Const {
            return self.fail(format!("`{}` is const and is stored to", buffer.name));
        }
        self.subscript(&of.at)?;
        let elem = self.lane(&of.value, of.count, 0)?;
        if elem != buffer.elem {
            return self.fail(format!(
                "`{}` holds {}, not {}",
                buffer.name,
                buffer.elem.short(),
                elem.short()
            ));
        }
        Ok(())
    }

    fn subscript(&self, e: &CExpr) -> Result2 {
        match self.typed(e, 1)?.is_float() {
            true => self.fail("a subscript is an integer"),
            false => Ok(()),
        }
    }

    /// Checks a vector; the type of its elements.
    fn lane(&self, lane: &Lane, count: usize, depth: u32) -> Result<Elem, CheckError> {
        // A lane is an expression about three times as deep.
        if depth > MAX_DEPTH / 4 {
            return self.fail(format!("vectors are nested more than {} deep", MAX_DEPTH / 4));
        }
        let parts = lane.parts().into_iter().map(|p| self.lane(p, count, depth + 1));
        let parts = parts.collect::<Result<Vec<Elem>, CheckError>>()?;
        let refuse =
            |elem: Elem, what: &str| self.fail(format!("vectors of {} have no {what}", elem.short()));
        let same = |a: usize, b: usize| match parts[a] == parts[b] {
            true => Ok(()),
            false => self.fail(format!("vectors of {} and of {}", parts[a].short(), parts[b].short())),
        };
        Ok(match lane {
            Lane::Load(buffer, at) => {
                self.subscript(at)?;
                self.flat(*buffer)?.elem
            }
            Lane::Splat(elem, e) => {
                let from = self.typed(e, 1)?;
                self.converts(from, *elem)?;
                *elem
            }
            Lane::Unary(op, _) => match (op, parts[0]) {
                (Unary::Neg, elem @ (Elem::F16 | Elem::F32 | Elem::F64)) => elem,
                (Unary::Not, elem) if !elem.is_float() => elem,
                (_, elem) => return refuse(elem, "such operation"),
            },
            Lane::Binary(op, _, b) => {
                let elem = parts[0];
                let shift = matches!(op, Binary::Shl | Binary::Shr);
                if shift
                    && !matches!(&**b, Lane::Splat(Elem::I32, CExpr::Literal(Elem::I32, n)) if *n < elem.bits().into())
                {
                    return self.fail("a vector is shifted by a literal within its width, of type i32");
                }
                if !shift {
                    same(0, 1)?;
                }
                let good = match op {
                    Binary::Add | Binary::Sub | Binary::Mul => {
                        elem.is_unsigned() || elem.is_float() && elem != Elem::Bf16
                    }
                    Binary::And | Binary::Or | Binary::Xor | Binary::Shr => !elem.is_float(),
                    Binary::Shl => elem.is_unsigned(),
                    _ => false,
                };
                if !good {
                    return refuse(elem, op.sign());
                }
                elem
            }
            Lane::Select(op, _) => {
                same(0, 1)?;
                same(2, 3)?;
                let compares = op.is_truth() && !matches!(op, Binary::AndThen | Binary::OrElse);
                if !compares || parts[0].bits() != parts[2].bits() || parts.contains(&Elem::Bf16) {
                    return self.fail("lanes are chosen by a comparison of the same width");
                }
                parts[2]
            }
            Lane::Convert(elem, _) => {
                if parts[0] == Elem::Bf16 || *elem == Elem::Bf16 {
                    return refuse(Elem::Bf16, "conversion");
                }
                *elem
            }
            Lane::Shuffle(_, _, order) => {
                same(0, 1)?;
                if order.len() != count || order.iter().any(|n| usize::from(*n) >= 2 * count) {
                    return self.fail(format!("a shuffle has {count} lanes, each less than {}", 2 * count));
                }
                parts[0]
            }
            Lane::Insert(_, at, value) => {
                let from = self.typed(value, 1)?;
                self.converts(from, parts[0])?;
                self.subscript(at)?;
                let most = match at {
                    CExpr::Literal(_, n) => Some(*n),
                    CExpr::Binary(Binary::And, _, b) => match &**b {
                        CExpr::Literal(Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64, n) => Some(*n),
                        _ => None,
                    },
                    _ => None,
                };
                if most.is_none_or(|n| n >= count as u64) {
                    return self.fail(format!(
                        "the number of a lane is a literal less than {count}, or something & one"
                    ));
                }
                parts[0]
            }
        })
    }

    fn element_loop(&mut self, of: &Loop) -> Result2 {
        for (what, bound) in [("start", &of.from), ("end", &of.to)] {
            if self.typed(bound, 0)?.is_float() {
                return self.fail(format!("the {what} of a loop is an integer"));
            }
            let mut loads = false;
            bound.each(&mut |e| loads |= matches!(e, CExpr::Load(_)));
            if loads {
                return self.fail(format!("the {what} of a loop reads no buffer; set a variable first"));
            }
        }
        let Some(decl) = self.function.vars.get(of.index.index()) else {
            return self.fail(format!("variable number {} does not exist", of.index.0));
        };
        let Some(elem) = types::variable(decl.ty).filter(|e| !e.is_float()) else {
            return self.fail(format!("`{}` counts a loop and is no integer", decl.name));
        };
        if of.step == 0 || i128::from(of.step).unsigned_abs() >> (elem.bits() - 1) != 0 {
            return self.fail(format!("a step of {} for a counter of type {}", of.step, elem.short()));
        }
        if of.to.reads(of.index) {
            return self.fail(format!("the end of the loop reads its counter, `{}`", decl.name));
        }
        self.assign(of.index, decl.ty)?;
        let (assigned, counters) = (self.log.len(), self.counters.len());
        self.counters.push(of.index);
        of.to.each(&mut |e| {
            if let CExpr::Var(var) = e {
                self.counters.push(*var);
            }
        });
        let outside = self.elements.enter(true);
        self.body(&of.body, 0)?;
        self.elements.leave(outside);
        self.unset(assigned);
        self.counters.truncate(counters);
        Ok(())
    }

    /// Whether a value of one type can be assigned to another.
    fn converts(&self, from: Elem, to: Elem) -> Result2 {
        // Between bf16 and anything but f32, compilers differ in what they have.
        let fits = |a: Elem, b: Elem| a != Elem::Bf16 || matches!(b, Elem::Bf16 | Elem::F32);
        if fits(from, to) && fits(to, from) {
            return Ok(());
        }
        self.fail(format!("{} is not converted to {}; go by f32", from.short(), to.short()))
    }

    fn access(&self, access: &Access, depth: u32) -> Result<Elem, CheckError> {
        let buffer = self.buffer(access.buffer)?;
        if access.index.len() != buffer.dims.len() + 1 {
            return self.fail(format!(
                "`{}` takes {} subscripts, not {}",
                buffer.name,
                buffer.dims.len() + 1,
                access.index.len()
            ));
        }
        for index in &access.index {
            let ty = self.typed(index, depth + 1)?;
            if ty.is_float() {
                return self.fail(format!("a subscript of `{}` is of type {}", buffer.name, ty.short()));
            }
        }
        Ok(buffer.elem)
    }

    /// Checks an expression; its type.
    fn typed(&self, e: &CExpr, depth: u32) -> Result<Elem, CheckError> {
        if depth > MAX_DEPTH {
            return self.fail(format!("an expression is nested more than {MAX_DEPTH} deep"));
        }
        match e {
            CExpr::Literal(elem, bits) if elem.bits() < 64 && bits >> elem.bits() != 0 => {
                return self.fail(format!("{bits:#x} has more than {} bits", elem.bits()));
            }
            CExpr::Var(var) => {
                self.read(*var)?;
            }
            CExpr::Load(access) => {
                self.access(access, depth)?;
            }
            _ => {
                for part in e.parts() {
                    self.typed(part, depth + 1)?;
                }
            }
        }
        if let CExpr::Cast(to, a) = e {
            let from = self.shallow(a)?;
            self.converts(from, *to)?;
        }
        if let CExpr::Builtin(function, args) = e {
            let types = args.iter().map(|a| self.shallow(a)).collect::<Result<Vec<_>, _>>()?;
            let good = types.len() == function.operands()
                && types.iter().all(|t| matches!(t, Elem::F32 | Elem::F64) && *t == types[0]);
            if !good {
                return self.fail(format!(
                    "{} takes {} operands, all f32 or all f64",
                    function.name(),
                    function.operands()
                ));
            }
        }
        self.shallow(e)
    }

    /// The type of an expression whose parts are checked.
    fn shallow(&self, e: &CExpr) -> Result<Elem, CheckError> {
        match e.ty(self.program, self.function) {
            Ok(ty) => Ok(ty),
            Err(why) => self.fail(why),
        }
    }
}
