//! Expressions of C as values of the IR.

use super::lower::{Lower, Result};
use super::value::{Pointer, Slot, Value, binary, convert, depth, literal, unary};
use crate::csource::{CType, Expr, ExprKind, Unary};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::loops::{Binary, CExpr, Unary as Op};
use rvv_ir::{Arg, Expr as Index, Stmt, Var, put_elem};

/// Expressions deeper than this are computed in steps.
const DEEP: usize = 20;

impl Lower<'_> {
    /// The type of a variable of the IR that holds a value of this type.
    pub fn ir_type(&self, ty: &CType) -> Result<Type> {
        match ty.value() {
            CType::Bool => Ok(Type::Scalar(Elem::U8)),
            CType::Scalar(e) => Ok(Type::Scalar(*e)),
            CType::Rvv(ty) => Ok(*ty),
            CType::Struct(name) => self.fail_with("a structure", format!("a structure `{name}`")),
            CType::Unknown(name) => {
                self.fail_with("a type that is not known", format!("`{name}`, a type that is not known"))
            }
            other => self.fail_with("a variable of this type", format!("a variable of type {other}")),
        }
    }

    /// The type of an element of memory.
    pub fn elem_of(&self, ty: &CType) -> Option<Elem> {
        match ty.value() {
            CType::Bool => Some(Elem::U8),
            CType::Scalar(e) => Some(*e),
            CType::Rvv(ty) => put_elem(*ty),
            _ => None,
        }
    }

    /// The type of a value, for `auto`.
    pub fn type_of(&self, value: &Value) -> Result<CType> {
        Ok(match value {
            Value::Int(_, e) | Value::FloatBits(_, e) | Value::Float(_, e) => CType::Scalar(*e),
            Value::Vector(_, ty) => CType::Rvv(*ty),
            Value::Pointer(p) => CType::Pointer(Box::new(p.to.clone())),
            Value::Struct(name, _) => CType::Struct(name.clone()),
            Value::Void => return self.fail("a variable without a value"),
        })
    }

    /// An expression for what it does.
    pub fn effect(&mut self, e: &Expr) -> Result<()> {
        self.place = e.place;
        match &e.kind {
            // The value before is of no use.
            ExprKind::Step(by, _, of) => self.step(*by, false, of).map(|_| ()),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)
            }
            // `(void)x`
            ExprKind::Cast(CType::Void, _) => Ok(()),
            _ => self.value(e).map(|_| ()),
        }
    }

    /// A condition: an integer that is not zero if it holds.
    pub fn condition(&mut self, e: &Expr) -> Result<CExpr> {
        let value = self.value(e)?;
        self.truth(value)
    }

    fn truth(&mut self, value: Value) -> Result<CExpr> {
        match value {
            Value::Int(e, _) => Ok(e),
            Value::Pointer(p) => Ok(CExpr::int(Elem::I32, i64::from(p.buffer.is_some()))),
            Value::Float(var, elem) => {
                let zero = CExpr::Literal(elem, 0);
                Ok(CExpr::binary(Binary::Ne, CExpr::Var(var), zero))
            }
            other => self.fail(format!("{} as a condition", other.kind())),
        }
    }

    /// An integer, in a variable if it is deep or is to be kept.
    pub fn short(&mut self, e: CExpr, ty: Elem) -> Result<CExpr> {
        if depth(&e) <= DEEP {
            return Ok(e);
        }
        self.kept(e, ty)
    }

    /// An integer as it is now, whatever happens to its operands later.
    pub fn kept(&mut self, e: CExpr, ty: Elem) -> Result<CExpr> {
        if matches!(e, CExpr::Literal(..)) {
            return Ok(e);
        }
        let var = self.var("t", Type::Scalar(ty));
        self.set(var, e)?;
        Ok(CExpr::Var(var))
    }

    /// An integer as a size in an address or as a vl.
    pub fn index(&mut self, e: CExpr) -> Result<Index> {
        if let Some(index) = self.simple_index(&e, 0) {
            return Ok(index);
        }
        let var = self.var("n", Type::Size);
        self.set(var, e)?;
        Ok(Index::Var(var))
    }

    fn simple_index(&self, e: &CExpr, depth: usize) -> Option<Index> {
        let wide = |v: &Var| {
            matches!(self.program.main.ty(*v), Type::Size | Type::Ptrdiff | Type::Ulong | Type::Long)
        };
        match e {
            CExpr::Literal(..) => literal(e).map(|v| Index::Const(v as u64)),
            CExpr::Var(v) if wide(v) => Some(Index::Var(*v)),
            CExpr::Cast(Elem::U64 | Elem::I64, a) => self.simple_index(a, depth + 1),
            CExpr::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) if depth < 4 => {
                // Both of 64 bits: what is narrower could wrap before.
                let (a, b) = (self.simple_index(a, depth + 1)?, self.simple_index(b, depth + 1)?);
                if matches!((&a, &b), (Index::Const(_), Index::Const(_))) {
                    return None;
                }
                let (a, b) = (Box::new(a), Box::new(b));
                Some(match op {
                    Binary::Add => Index::Add(a, b),
                    Binary::Sub => Index::Sub(a, b),
                    _ => Index::Mul(a, b),
                })
            }
            _ => None,
        }
    }

    /// What a name stands for.
    fn name(&mut self, name: &std::rc::Rc<str>) -> Result<Slot> {
        if let Some(slot) = self.scopes.get(name) {
            return Ok(slot.clone());
        }
        if let Some(value) = self.source.constants.get(name) {
            return Ok(Slot::Value(Value::Int(CExpr::int(Elem::I32, *value), Elem::I32)));
        }
        if let Some(value) = limit(name) {
            return Ok(Slot::Value(value));
        }
        let Some(global) = self.source.globals.iter().rev().find(|g| g.name == *name && g.init.is_some())
        else {
            return self.fail_with("a name that nothing defines", format!("`{name}`, which nothing defines"));
        };
        let place = self.place;
        let (ty, init) = (global.ty.clone(), global.init.clone());
        let slot = match (&ty, init.map(|e| e.kind)) {
            (CType::Array(of, _), Some(ExprKind::List(items))) => {
                let Some(elem) = self.elem_of(of) else {
                    return self
                        .fail_with("a global of this type", format!("`{name}`, a global of type {ty}"));
                };
                let mut values = Vec::new();
                for item in &items {
                    let value = self.value(item)?;
                    values.push(match self.as_type(value, of)? {
                        Value::Int(e, _) => match literal(&e) {
                            Some(v) => v as u64,
                            None => return self.fail("a global that is not constant"),
                        },
                        Value::FloatBits(bits, _) => bits,
                        _ => return self.fail("a global that is not constant"),
                    });
                }
                let init = rvv_ir::data::Init::Data(values);
                let buffer = self.buffer(name, elem, items.len(), rvv_ir::BufferKind::Const, init);
                self.accessed.insert(buffer);
                Slot::Array(buffer, (**of).clone())
            }
            (ty, Some(kind)) if self.elem_of(ty).is_some() => {
                let value = self.value(&Expr { kind, place })?;
                Slot::Value(self.as_type(value, ty)?)
            }
            _ => return self.fail_with("a global of this type", format!("`{name}`, a global of type {ty}")),
        };
        self.place = place;
        // At the outermost level, so that it is made once.
        if let (Some(scope), Slot::Array(..)) = (self.scopes.0.first_mut(), &slot) {
            scope.insert(name.clone(), slot.clone());
        }
        Ok(slot)
    }

    /// The value in a slot.
    pub fn read_slot(&mut self, slot: &Slot) -> Result<Value> {
        Ok(match slot {
            Slot::Value(value) => value.clone(),
            Slot::Array(buffer, of) => {
                let at = CExpr::int(Elem::U64, 0);
                Value::Pointer(Pointer { buffer: Some(*buffer), at, to: of.clone() })
            }
            Slot::Pointer(buffer, var, to) => {
                Value::Pointer(Pointer { buffer: *buffer, at: CExpr::Var(*var), to: to.clone() })
            }
            Slot::Var(var, _) => match self.program.main.ty(*var) {
                Type::Scalar(e) if e.is_float() => Value::Float(*var, e),
                ty @ (Type::Vector(_) | Type::Mask(_)) => Value::Vector(*var, ty),
                ty => match put_elem(ty) {
                    Some(e) => Value::Int(CExpr::Var(*var), e),
                    None => return self.fail("a value of this type"),
                },
            },
        })
    }

    /// Puts a value where a slot is; what the slot is afterwards.
    pub fn write_slot(&mut self, slot: Slot, ty: &CType, value: Value) -> Result<Slot> {
        match slot {
            Slot::Var(var, of) => {
                self.write_var(var, &of, value)?;
                Ok(Slot::Var(var, of))
            }
            Slot::Pointer(_, var, to) => match value {
                Value::Pointer(p) => {
                    self.set(var, p.at)?;
                    Ok(Slot::Pointer(p.buffer, var, to))
                }
                Value::Int(e, _) if literal(&e) == Some(0) => Ok(Slot::Pointer(None, var, to)),
                other => self.fail(format!("{} as a pointer", other.kind())),
            },
            Slot::Array(..) => self.fail("an array that is assigned"),
            Slot::Value(_) => {
                self.fail_with("what is assigned", format!("a constant of type {ty} is assigned"))
            }
        }
    }

    /// Puts a value into a variable.
    pub fn write_var(&mut self, var: Var, ty: &CType, value: Value) -> Result<()> {
        match (self.as_type(value, ty)?, self.program.main.ty(var)) {
            (Value::Int(e, _), _) => self.set(var, e),
            (Value::FloatBits(bits, elem), Type::Scalar(_)) => {
                let src = self.constant_float(bits, elem);
                self.copy(var, src)
            }
            (Value::Float(src, _), _) => self.copy(var, src),
            (Value::Vector(src, has), wants) => {
                if has != wants {
                    return self.fail_with(
                        "a vector of another type",
                        format!("a value of type {has} for a variable of type {wants}"),
                    );
                }
                self.copy(var, src)
            }
            (other, _) => self.fail_with(
                "a value of another kind",
                format!("{} for a variable of type {ty}", other.kind()),
            ),
        }
    }

    /// `dst = src`; the call that made `src` just now makes `dst` instead.
    fn copy(&mut self, dst: Var, src: Var) -> Result<()> {
        if dst == src {
            return Ok(());
        }
        self.assigned(dst);
        let fresh = self.temporary.contains(&src) && src.index() + 1 == self.program.main.vars.len();
        let made = |s: &Stmt| match s {
            Stmt::Call(call) => call.dst == Some(src) && !call.args.iter().any(|a| matches!(a, Arg::Ref(_))),
            _ => false,
        };
        if fresh && self.out.last().is_some_and(made) {
            if let Some(Stmt::Call(call)) = self.out.last_mut() {
                call.dst = Some(dst);
            }
            self.temporary.remove(&src);
            self.program.main.vars.pop();
            return Ok(());
        }
        self.push(Stmt::Copy { dst, src })
    }

    /// A variable of a value that never changes.
    pub fn constant_float(&mut self, bits: u64, elem: Elem) -> Var {
        let name = format!("f{}_{bits:x}", elem.short());
        let known = self.program.params.iter().find(|(v, _)| self.program.main.name(*v) == name);
        match known {
            Some((var, _)) => *var,
            None => {
                let var = self.program.main.var(name, Type::Scalar(elem));
                self.program.params.push((var, bits));
                var
            }
        }
    }

    /// A value converted to a type, as C does it.
    pub fn as_type(&mut self, value: Value, ty: &CType) -> Result<Value> {
        let ty = ty.value();
        match (value, ty) {
            (Value::Int(e, from), CType::Bool) => {
                let (truth, _) = unary(Op::Bool, e, from);
                Ok(Value::Int(convert(truth, Elem::I32, Elem::U8), Elem::U8))
            }
            (value @ Value::Vector(..), _) => Ok(value),
            (Value::Int(e, from), CType::Pointer(to)) if literal(&e) == Some(0) => {
                let at = convert(e, from, Elem::U64);
                Ok(Value::Pointer(Pointer { buffer: None, at, to: (**to).clone() }))
            }
            (Value::Pointer(p), CType::Pointer(to)) => {
                // `void *` keeps what is known.
                Ok(Value::Pointer(Pointer { to: (**to).clone(), ..p }))
            }
            (value @ Value::Struct(..), _) => Ok(value),
            (value, ty) => match self.elem_of(ty) {
                Some(elem) => self.number(value, elem),
                None => self.fail_with("a conversion", format!("{} as {ty}", value.kind())),
            },
        }
    }

    /// A number converted to a type.
    pub fn number(&mut self, value: Value, to: Elem) -> Result<Value> {
        match value {
            Value::Int(e, from) if !to.is_float() => Ok(Value::Int(convert(e, from, to), to)),
            Value::Int(e, from) => match literal(&e) {
                Some(v) => Ok(Value::FloatBits(float_bits(v as f64, to), to)),
                None => self.int_to_float(e, from, to),
            },
            Value::FloatBits(bits, from) if from == to => Ok(Value::FloatBits(bits, to)),
            Value::FloatBits(bits, from) => {
                let v = float_value(bits, from);
                if to.is_float() {
                    return Ok(Value::FloatBits(float_bits(v, to), to));
                }
                match super::value::fold(to, v.trunc() as i128) {
                    Some(e) => Ok(Value::Int(e, to)),
                    None => self.fail("a number that does not fit"),
                }
            }
            Value::Float(var, from) if from == to => Ok(Value::Float(var, to)),
            Value::Float(var, from) if to.is_float() => self.float_to_float(var, from, to),
            Value::Float(var, _) => Ok(Value::Int(CExpr::cast(to, CExpr::Var(var)), to)),
            Value::Pointer(p) if to.bits() == 64 => {
                self.fail_with("a pointer as an integer", format!("a pointer to {} as an integer", p.to))
            }
            other => self.fail_with("a conversion", format!("{} as {}", other.kind(), to.c_name())),
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, e: &Expr) -> Result<Value> {
        let outer = std::mem::replace(&mut self.place, e.place);
        let value = self.value_at(e)?;
        self.place = outer;
        match value {
            Value::Int(e, ty) => Ok(Value::Int(self.short(e, ty)?, ty)),
            other => Ok(other),
        }
    }

    fn value_at(&mut self, e: &Expr) -> Result<Value> {
        let size = |n: usize| Value::Int(CExpr::int(Elem::U64, n as i64), Elem::U64);
        match &e.kind {
            ExprKind::Integer(value, elem) => Ok(Value::Int(CExpr::Literal(*elem, *value), *elem)),
            ExprKind::Float(value, elem) => Ok(Value::FloatBits(float_bits(*value, *elem), *elem)),
            ExprKind::Text => self.fail("a string"),
            ExprKind::Name(name) => {
                let slot = self.name(name)?;
                self.read_slot(&slot)
            }
            ExprKind::SizeOf(ty) => match self.elem_of(ty) {
                Some(elem) => Ok(size(elem.bytes() as usize)),
                None if matches!(ty, CType::Pointer(_)) => Ok(size(8)),
                None => self.fail_with("sizeof", format!("sizeof({ty})")),
            },
            ExprKind::SizeOfValue(of) => match &of.kind {
                ExprKind::Name(name) => match self.name(name)? {
                    Slot::Array(buffer, _) => {
                        let buffer = &self.program.buffers[buffer];
                        Ok(size(buffer.bytes()))
                    }
                    Slot::Pointer(..) => Ok(size(8)),
                    slot => {
                        let value = self.read_slot(&slot)?;
                        let ty = self.type_of(&value)?;
                        match self.elem_of(&ty) {
                            Some(elem) => Ok(size(elem.bytes() as usize)),
                            None => self.fail("sizeof"),
                        }
                    }
                },
                ExprKind::Index(a, _) | ExprKind::Unary(Unary::Deref, a) => {
                    let Value::Pointer(p) = self.value(a)? else { return self.fail("sizeof") };
                    match self.elem_of(&p.to) {
                        Some(elem) => Ok(size(elem.bytes() as usize)),
                        None => self.fail("sizeof"),
                    }
                }
                _ => self.fail("sizeof"),
            },
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op @ (Binary::AndThen | Binary::OrElse), a, b) => self.either(*op, a, b),
            ExprKind::Binary(op, a, b) => {
                let a = self.value(a)?;
                let b = self.value(b)?;
                self.operation(*op, a, b)
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value),
            ExprKind::Step(by, after, of) => self.step(*by, *after, of),
            ExprKind::Choice(of) => self.choice(of),
            ExprKind::Call(of, args) => self.call(of, args),
            ExprKind::Index(a, i) => {
                let p = self.subscript(a, i)?;
                self.load(&p)
            }
            ExprKind::Member(a, field) => self.member(a, field),
            ExprKind::Cast(ty, a) => self.cast(ty, a),
            ExprKind::List(_) => self.fail("a list of values"),
            ExprKind::Block(body) => {
                self.scopes.0.push(std::collections::HashMap::new());
                let result = match body.split_last() {
                    Some((last, first)) => self.statements(first).and_then(|()| match &last.kind {
                        crate::csource::StmtKind::Expr(e) => self.value(e),
                        _ => self.statements(std::slice::from_ref(last)).map(|()| Value::Void),
                    }),
                    None => Ok(Value::Void),
                };
                self.scopes.0.pop();
                result
            }
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.value(b)
            }
        }
    }

    fn unary(&mut self, op: Unary, a: &Expr) -> Result<Value> {
        match op {
            Unary::Address => match &a.kind {
                ExprKind::Index(of, i) => self.subscript(of, i).map(Value::Pointer),
                ExprKind::Unary(Unary::Deref, of) => self.value(of),
                ExprKind::Name(name) => match self.name(name)? {
                    slot @ Slot::Array(..) => self.read_slot(&slot),
                    _ => self.fail_with(
                        "the address of a variable",
                        format!("`&{name}`, the address of a variable"),
                    ),
                },
                _ => self.fail("the address of something"),
            },
            Unary::Deref => match self.value(a)? {
                Value::Pointer(p) => self.load(&p),
                other => self.fail(format!("{} as an address", other.kind())),
            },
            _ => {
                let value = self.value(a)?;
                match (op, value) {
                    (Unary::Plus, value) => Ok(value),
                    (Unary::IsZero, value @ (Value::Float(..) | Value::Pointer(_))) => {
                        let truth = self.truth(value)?;
                        let (e, ty) = unary(Op::IsZero, truth, Elem::I32);
                        Ok(Value::Int(e, ty))
                    }
                    (_, Value::Int(e, ty)) => {
                        let op = match op {
                            Unary::Neg => Op::Neg,
                            Unary::Not => Op::Not,
                            _ => Op::IsZero,
                        };
                        let (e, ty) = unary(op, e, ty);
                        Ok(Value::Int(e, ty))
                    }
                    (Unary::Neg, Value::FloatBits(bits, elem)) => {
                        Ok(Value::FloatBits(bits ^ 1 << (elem.bits() - 1), elem))
                    }
                    (Unary::Neg, Value::Float(var, elem)) => self.float_neg(var, elem),
                    (_, other) => self.fail(format!("an operator on {}", other.kind())),
                }
            }
        }
    }

    /// `a && b`, `a || b`
    fn either(&mut self, op: Binary, a: &Expr, b: &Expr) -> Result<Value> {
        let a = self.condition(a)?;
        let is_and = op == Binary::AndThen;
        if let Some(known) = literal(&a) {
            if (known != 0) != is_and {
                return Ok(Value::Int(CExpr::int(Elem::I32, i64::from(known != 0)), Elem::I32));
            }
            let b = self.condition(b)?;
            let (e, ty) = unary(Op::Bool, b, Elem::I32);
            return Ok(Value::Int(e, ty));
        }
        let mut right = None;
        let inside = self.block(|l| {
            right = Some(l.condition(b)?);
            Ok(())
        })?;
        let Some(b) = right else { return self.fail("a condition") };
        if inside.is_empty() {
            return Ok(Value::Int(CExpr::binary(op, a, b), Elem::I32));
        }
        // The right side is computed only if it matters.
        let var = self.var("holds", Type::Scalar(Elem::I32));
        self.set(var, CExpr::unary(Op::Bool, a))?;
        let mut then = inside;
        let value = CExpr::unary(Op::Bool, b);
        then.push(Stmt::Set { target: rvv_ir::loops::Target::Var(var), value });
        let condition = if is_and { CExpr::Var(var) } else { CExpr::unary(Op::IsZero, CExpr::Var(var)) };
        self.push(Stmt::When { condition, then, otherwise: Vec::new() })?;
        Ok(Value::Int(CExpr::Var(var), Elem::I32))
    }

    /// `a ? b : c`
    fn choice(&mut self, of: &[Expr; 3]) -> Result<Value> {
        let condition = self.condition(&of[0])?;
        if let Some(known) = literal(&condition) {
            return self.value(&of[if known != 0 { 1 } else { 2 }]);
        }
        let mut values = Vec::new();
        let mut blocks = Vec::new();
        for side in &of[1..] {
            blocks.push(self.block(|l| {
                values.push(l.value(side)?);
                Ok(())
            })?);
        }
        let (Some(b), Some(a)) = (values.pop(), values.pop()) else { return self.fail("a choice") };
        // What both sides are converted to.
        let (ty, c_type) = match (&a, &b) {
            (Value::Vector(_, ty), _) => (*ty, CType::Rvv(*ty)),
            (Value::Pointer(p), Value::Pointer(q)) if p.buffer == q.buffer => {
                let at = CExpr::select(condition, p.at.clone(), q.at.clone());
                return Ok(Value::Pointer(Pointer { at, ..p.clone() }));
            }
            (Value::Pointer(_), _) => return self.fail("a pointer that may be to one of two arrays"),
            _ => match (elem(&a), elem(&b)) {
                (Some(x), Some(y)) => match rvv_ir::loops::common(x, y) {
                    Ok(common) => (Type::Scalar(common), CType::Scalar(common)),
                    Err(why) => return self.fail(why),
                },
                _ => return self.fail_with("a choice", format!("a choice of {} and {}", a.kind(), b.kind())),
            },
        };
        if let (true, Value::Int(x, _), Value::Int(y, _), Type::Scalar(common)) =
            (blocks.iter().all(Vec::is_empty), &a, &b, ty)
        {
            return Ok(Value::Int(CExpr::select(condition, x.clone(), y.clone()), common));
        }
        let var = self.var("choice", ty);
        let mut sides = Vec::new();
        for (block, value) in blocks.into_iter().zip([a, b]) {
            sides.push(self.block(|l| {
                for stmt in block {
                    l.push(stmt)?;
                }
                l.write_var(var, &c_type, value)
            })?);
        }
        let (Some(otherwise), Some(then)) = (sides.pop(), sides.pop()) else { return self.fail("a choice") };
        self.push(Stmt::When { condition, then, otherwise })?;
        self.read_slot(&Slot::Var(var, c_type))
    }

    /// An operation on two operands.
    pub fn operation(&mut self, op: Binary, a: Value, b: Value) -> Result<Value> {
        match (a, b) {
            (Value::Int(a, x), Value::Int(b, y)) => match binary(op, a, b, (x, y)) {
                Ok((e, ty)) => Ok(Value::Int(e, ty)),
                Err(why) => self.fail(why),
            },
            (Value::Pointer(p), Value::Pointer(q)) => self.two_pointers(op, p, q),
            (Value::Pointer(p), Value::Int(n, ty)) => match op {
                Binary::Add | Binary::Sub => self.moved(p, n, ty, op == Binary::Sub).map(Value::Pointer),
                Binary::Eq | Binary::Ne if literal(&n) == Some(0) => {
                    let is = p.buffer.is_none() == (op == Binary::Eq);
                    Ok(Value::Int(CExpr::int(Elem::I32, i64::from(is)), Elem::I32))
                }
                _ => self.fail_with("arithmetic on a pointer", format!("`{}` on a pointer", op.sign())),
            },
            (Value::Int(n, ty), Value::Pointer(p)) if op == Binary::Add => {
                self.moved(p, n, ty, false).map(Value::Pointer)
            }
            (a, b) => match (elem(&a), elem(&b)) {
                (Some(x), Some(y)) => {
                    let common = match rvv_ir::loops::common(x, y) {
                        Ok(common) => common,
                        Err(why) => return self.fail(why),
                    };
                    let (a, b) = (self.number(a, common)?, self.number(b, common)?);
                    self.float_operation(op, a, b, common)
                }
                _ => self.fail_with(
                    "an operator on vectors",
                    format!("`{}` on {} and {}", op.sign(), a.kind(), b.kind()),
                ),
            },
        }
    }

    fn assign(&mut self, op: Option<Binary>, target: &Expr, value: &Expr) -> Result<Value> {
        match &target.kind {
            ExprKind::Name(name) => {
                let value = self.value(value)?;
                let slot = self.name(name)?;
                let value = match op {
                    Some(op) => {
                        let old = self.read_slot(&slot)?;
                        self.operation(op, old, value)?
                    }
                    None => value,
                };
                let ty = match &slot {
                    Slot::Var(_, ty) => ty.clone(),
                    Slot::Pointer(_, _, to) => CType::Pointer(Box::new(to.clone())),
                    _ => CType::Void,
                };
                let slot = self.write_slot(slot, &ty, value)?;
                self.scopes.set(name, slot.clone());
                self.read_slot(&slot)
            }
            ExprKind::Index(..) | ExprKind::Unary(Unary::Deref, _) => {
                let p = match &target.kind {
                    ExprKind::Index(a, i) => self.subscript(a, i)?,
                    ExprKind::Unary(_, a) => match self.value(a)? {
                        Value::Pointer(p) => p,
                        other => return self.fail(format!("{} as an address", other.kind())),
                    },
                    _ => return self.fail("an assignment"),
                };
                let at = self.kept_place(p.at.clone())?;
                let p = Pointer { at, ..p };
                let mut value = self.value(value)?;
                if let Some(op) = op {
                    let old = self.load(&p)?;
                    value = self.operation(op, old, value)?;
                }
                self.store(&p, value.clone())?;
                Ok(value)
            }
            ExprKind::Member(_, field) => self.fail_with(
                "a structure's field that is assigned",
                format!("`{field}`, a field that is assigned"),
            ),
            ExprKind::Cast(..) | ExprKind::Choice(_) | ExprKind::Comma(..) => {
                self.fail("an assignment to this")
            }
            _ => self.fail("an assignment to this"),
        }
    }

    fn kept_place(&mut self, at: CExpr) -> Result<CExpr> {
        match at {
            CExpr::Var(_) | CExpr::Literal(..) => Ok(at),
            _ => self.kept(at, Elem::U64),
        }
    }

    fn step(&mut self, by: i64, after: bool, of: &Expr) -> Result<Value> {
        let one = Value::Int(CExpr::int(Elem::I32, by.abs()), Elem::I32);
        let op = if by < 0 { Binary::Sub } else { Binary::Add };
        match &of.kind {
            ExprKind::Name(name) => {
                let slot = self.name(name)?;
                let old = self.read_slot(&slot)?;
                let old = match old {
                    Value::Int(e, ty) if after => Value::Int(self.kept(e, ty)?, ty),
                    Value::Pointer(p) if after => {
                        let at = self.kept(p.at.clone(), Elem::U64)?;
                        Value::Pointer(Pointer { at, ..p })
                    }
                    other => other,
                };
                let new = self.operation(op, old.clone(), one)?;
                let ty = match &slot {
                    Slot::Var(_, ty) => ty.clone(),
                    Slot::Pointer(_, _, to) => CType::Pointer(Box::new(to.clone())),
                    _ => CType::Void,
                };
                let slot = self.write_slot(slot, &ty, new)?;
                self.scopes.set(name, slot.clone());
                if after { Ok(old) } else { self.read_slot(&slot) }
            }
            ExprKind::Index(a, i) => {
                let p = self.subscript(a, i)?;
                let at = self.kept_place(p.at.clone())?;
                let p = Pointer { at, ..p };
                let old = match self.load(&p)? {
                    Value::Int(e, ty) => Value::Int(self.kept(e, ty)?, ty),
                    other => other,
                };
                let new = self.operation(op, old.clone(), one)?;
                self.store(&p, new.clone())?;
                Ok(if after { old } else { new })
            }
            _ => self.fail("++ or -- of this"),
        }
    }

    fn cast(&mut self, ty: &CType, a: &Expr) -> Result<Value> {
        let value = self.value(a)?;
        // An address as an integer, moved, and an address again: bytes are counted.
        if let (Value::Pointer(p), CType::Rvv(Type::Ulong | Type::Long | Type::Size | Type::Ptrdiff)) =
            (&value, ty)
        {
            return Ok(Value::Pointer(Pointer { to: CType::Scalar(Elem::U8), ..p.clone() }));
        }
        if *ty == CType::Void {
            return Ok(Value::Void);
        }
        if let (Value::Pointer(p), CType::Pointer(to)) = (&value, ty) {
            // `(void *)p` counts in bytes, as gcc and clang do.
            return Ok(Value::Pointer(Pointer { to: (**to).clone(), ..p.clone() }));
        }
        self.as_type(value, ty)
    }
}

/// The type of a number.
pub fn elem(value: &Value) -> Option<Elem> {
    match value {
        Value::Int(_, e) | Value::FloatBits(_, e) | Value::Float(_, e) => Some(*e),
        _ => None,
    }
}

/// The bits of a number, rounded to nearest.
pub fn float_bits(value: f64, elem: Elem) -> u64 {
    match elem {
        Elem::F64 => value.to_bits(),
        Elem::F32 => u64::from((value as f32).to_bits()),
        Elem::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        _ => u64::from(half::bf16::from_f64(value).to_bits()),
    }
}

fn float_value(bits: u64, elem: Elem) -> f64 {
    match elem {
        Elem::F64 => f64::from_bits(bits),
        Elem::F32 => f32::from_bits(bits as u32).into(),
        Elem::F16 => half::f16::from_bits(bits as u16).to_f64(),
        _ => half::bf16::from_bits(bits as u16).to_f64(),
    }
}

/// Names of the system's headers.
fn limit(name: &str) -> Option<Value> {
    let int = |elem, value: i128| super::value::fold(elem, value).map(|e| Value::Int(e, elem));
    match name {
        "INT8_MAX" | "SCHAR_MAX" => int(Elem::I32, 127),
        "INT8_MIN" | "SCHAR_MIN" => int(Elem::I32, -128),
        "UINT8_MAX" | "UCHAR_MAX" => int(Elem::I32, 255),
        "INT16_MAX" | "SHRT_MAX" => int(Elem::I32, 32767),
        "INT16_MIN" | "SHRT_MIN" => int(Elem::I32, -32768),
        "UINT16_MAX" | "USHRT_MAX" => int(Elem::I32, 65535),
        "INT32_MAX" | "INT_MAX" => int(Elem::I32, i32::MAX.into()),
        "INT32_MIN" | "INT_MIN" => int(Elem::I32, i32::MIN.into()),
        "UINT32_MAX" | "UINT_MAX" => int(Elem::U32, u32::MAX.into()),
        "INT64_MAX" | "LONG_MAX" => int(Elem::I64, i64::MAX.into()),
        "INT64_MIN" | "LONG_MIN" => int(Elem::I64, i64::MIN.into()),
        "UINT64_MAX" | "ULONG_MAX" | "SIZE_MAX" => int(Elem::U64, u64::MAX.into()),
        "FLT_MAX" => Some(Value::FloatBits(float_bits(f32::MAX.into(), Elem::F32), Elem::F32)),
        "FLT_MIN" => Some(Value::FloatBits(float_bits(f32::MIN_POSITIVE.into(), Elem::F32), Elem::F32)),
        "FLT_EPSILON" => Some(Value::FloatBits(float_bits(f32::EPSILON.into(), Elem::F32), Elem::F32)),
        "DBL_MAX" => Some(Value::FloatBits(f64::MAX.to_bits(), Elem::F64)),
        "DBL_MIN" => Some(Value::FloatBits(f64::MIN_POSITIVE.to_bits(), Elem::F64)),
        "INFINITY" | "HUGE_VALF" => Some(Value::FloatBits(float_bits(f64::INFINITY, Elem::F32), Elem::F32)),
        "__RISCV_VXRM_RNU" | "__RISCV_FRM_RNE" => int(Elem::I32, 0),
        "__RISCV_VXRM_RNE" | "__RISCV_FRM_RTZ" => int(Elem::I32, 1),
        "__RISCV_VXRM_RDN" | "__RISCV_FRM_RDN" => int(Elem::I32, 2),
        "__RISCV_VXRM_ROD" | "__RISCV_FRM_RUP" => int(Elem::I32, 3),
        "__RISCV_FRM_RMM" => int(Elem::I32, 4),
        _ => None,
    }
}
