//! Calls: of intrinsics, of functions of the source, and of some that compilers know.

use super::expr::elem;
use super::lower::{Lower, Result};
use super::value::{Pointer, Slot, Value, convert, literal};
use crate::csource::{Argument, CType, Expr, ExprKind, Function, is_intrinsic_name, resolve};
use rvv_intrinsics::{Elem, Intrinsic, Role, Type, by_name};
use rvv_ir::loops::{Binary, CExpr, Loop, Pragma};
use rvv_ir::{Arg, Call, Compare, Expr as Index, Stmt, put_elem};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

/// Whether a parameter of one type takes a value of another: vectors are converted to nothing, numbers to
/// numbers.
fn may_take(param: &CType, value: &CType) -> bool {
    let kind = |ty: &CType| match ty {
        CType::Rvv(ty @ (Type::Vector(_) | Type::Mask(_))) => (0, Some(*ty)),
        CType::Bool | CType::Scalar(_) | CType::Rvv(_) => (1, None),
        CType::Pointer(_) | CType::Array(..) => (2, None),
        CType::Struct(_) => (3, None),
        _ => (4, None),
    };
    kind(param.value()) == kind(value.value())
}

impl Lower<'_> {
    pub fn call(&mut self, of: &Expr, args: &[Expr]) -> Result<Value> {
        let ExprKind::Name(name) = &of.kind else { return self.fail("a call of an expression") };
        if is_intrinsic_name(name) {
            return self.intrinsic_call(name, args);
        }
        if let Some(value) = self.builtin(name, args)? {
            return Ok(value);
        }
        let all = self.source.functions.iter().enumerate().rev().filter(|(_, f)| f.name == *name);
        let mut fitting: Vec<_> = all.clone().filter(|(_, f)| f.params.len() == args.len()).collect();
        fitting.dedup_by(|(_, later), (_, f)| {
            f.params.iter().map(|p| &p.ty).eq(later.params.iter().map(|p| &p.ty))
        });
        // C++ has several functions of one name, told apart by what they are given.
        let mut values = None;
        if fitting.len() > 1 {
            let given = args.iter().map(|a| self.value(a)).collect::<Result<Vec<_>>>()?;
            let types = given.iter().map(|v| self.type_of(v)).collect::<Result<Vec<_>>>()?;
            fitting.retain(|(_, f)| f.params.iter().zip(&types).all(|(p, ty)| may_take(&p.ty, ty)));
            let same =
                |f: &Function| f.params.iter().zip(&types).filter(|(p, ty)| p.ty.value() == *ty).count();
            // The first of the best: later definitions come first.
            fitting.sort_by_key(|(_, f)| Reverse(same(f)));
            values = Some(given);
        }
        let Some((number, function)) = fitting.first().copied().or_else(|| all.clone().next()) else {
            return self.fail_with(
                "a function without a body here",
                format!("`{name}`, a function without a body here"),
            );
        };
        if self.calls.contains(&number) {
            return self.fail_with("recursion", format!("`{name}`, which calls itself"));
        }
        if function.params.len() != args.len() {
            return self.fail_with("a call", format!("`{name}` with {} arguments", args.len()));
        }
        if function.generic {
            return self.fail_with("a template or a method", format!("`{name}`, a template or a method"));
        }
        let body = match &function.body {
            Ok(body) => body,
            Err((place, what)) => {
                self.place = *place;
                return self.fail(what.clone());
            }
        };
        let mut scope = HashMap::new();
        for (n, (param, arg)) in function.params.iter().zip(args).enumerate() {
            if let CType::Reference(_) = &param.ty
                && let ExprKind::Name(arg) = &arg.kind
                && let Some(slot @ Slot::Array(..)) = self.scopes.get(arg)
            {
                scope.insert(param.name.clone(), slot.clone());
                continue;
            }
            if let CType::Reference(to) = &param.ty
                && !matches!(**to, CType::Rvv(Type::Vector(_) | Type::Mask(_)))
            {
                return self.fail_with("a reference", format!("`{}`, a reference", param.name));
            }
            let value = match &values {
                Some(values) => values[n].clone(),
                None => self.value(arg)?,
            };
            let changes = super::assigns(body, &param.name);
            scope.insert(param.name.clone(), self.bind(&param.name, &param.ty, value, changes)?);
        }
        // The names of the caller are not those of the callee.
        let global = self.scopes.0.first().cloned().unwrap_or_default();
        let outer = std::mem::replace(&mut self.scopes.0, vec![global, scope]);
        self.calls.push(number);
        let place = self.place;
        let result = self.inline(body, &function.ret);
        self.calls.pop();
        let inner = std::mem::replace(&mut self.scopes.0, outer);
        if let (Some(known), Some(global)) = (self.scopes.0.first_mut(), inner.into_iter().next()) {
            *known = global;
        }
        let value = result?;
        self.place = place;
        Ok(value)
    }

    /// What a parameter is at the start.
    fn bind(&mut self, name: &Rc<str>, ty: &CType, value: Value, changes: bool) -> Result<Slot> {
        match (ty.value(), &value) {
            // An array by its type's name.
            (CType::Array(of, _), Value::Pointer(p)) => {
                let var = self.var(name, Type::Size);
                self.set(var, p.at.clone())?;
                Ok(Slot::Pointer(p.buffer, var, (**of).clone()))
            }
            (_, Value::Struct(..)) => Ok(Slot::Value(value)),
            (CType::Pointer(to), _) => {
                let var = self.var(name, Type::Size);
                let slot = Slot::Pointer(None, var, (**to).clone());
                let value = match value {
                    Value::Pointer(p) if p.buffer.is_none() => {
                        self.set(var, CExpr::int(Elem::U64, 0))?;
                        return Ok(Slot::Pointer(None, var, p.to));
                    }
                    Value::Int(e, _) if literal(&e) == Some(0) => {
                        self.set(var, CExpr::int(Elem::U64, 0))?;
                        return Ok(slot);
                    }
                    other => other,
                };
                self.write_slot(slot, ty, value)
            }
            (value_type, _) => {
                let value = self.as_type(value, value_type)?;
                // A literal decides conditions, unless it is changed.
                if let (false, Value::Int(CExpr::Literal(..), _) | Value::FloatBits(..)) = (changes, &value) {
                    return Ok(Slot::Value(value));
                }
                let ir = self.ir_type(value_type)?;
                let var = self.var(name, ir);
                self.write_var(var, value_type, value)?;
                Ok(Slot::Var(var, value_type.clone()))
            }
        }
    }

    fn intrinsic_call(&mut self, name: &Rc<str>, args: &[Expr]) -> Result<Value> {
        // The new vl of a fault-only-first load goes to a variable.
        let mut values = Vec::new();
        for arg in args {
            if let ExprKind::Unary(crate::csource::Unary::Address, of) = &arg.kind
                && let ExprKind::Name(of) = &of.kind
                && let Some(Slot::Var(var, _)) = self.scopes.get(of)
            {
                // Marked by a pointer to a size without a buffer: the place is the variable.
                let at = CExpr::Var(*var);
                values.push(Value::Pointer(Pointer { buffer: None, at, to: CType::Rvv(Type::Size) }));
                continue;
            }
            values.push(self.value(arg)?);
        }
        let arguments: Vec<Argument> = values.iter().map(|v| self.argument(v)).collect();
        match resolve(name, &arguments) {
            Some(found) if found.intrinsic.params.len() == values.len() => {
                self.intrinsic(found.intrinsic, found.overloaded, values)
            }
            _ => self.fail_with(
                "an overloaded name that its arguments do not decide",
                format!("`{name}` with arguments of these types"),
            ),
        }
    }

    fn argument(&self, value: &Value) -> Argument {
        match value {
            Value::Vector(_, ty) => Argument::Vector(*ty),
            Value::Pointer(p) => Argument::Pointer(self.elem_of(&p.to)),
            other => match elem(other) {
                Some(e) => Argument::Scalar(Some(e)),
                None => Argument::Unknown,
            },
        }
    }

    /// A call of an intrinsic with these values.
    pub fn intrinsic(
        &mut self,
        intrinsic: &'static Intrinsic,
        overloaded: bool,
        values: Vec<Value>,
    ) -> Result<Value> {
        // vundefined takes nothing; some C passes `void`.
        let mut args = Vec::new();
        let mut cast = None;
        for (param, value) in intrinsic.params.iter().zip(values) {
            let arg = match (param.ty, value) {
                (Type::Vector(_) | Type::Mask(_), Value::Vector(var, ty)) => {
                    if ty != param.ty {
                        return self.fail_with(
                            "a vector of another type",
                            format!("`{}` takes {}, not {ty}", intrinsic.name, param.ty),
                        );
                    }
                    Arg::Var(var)
                }
                (Type::Pointer(wants) | Type::ConstPointer(wants), Value::Pointer(p)) => {
                    let buffer = self.buffer_of(&p)?;
                    self.access(buffer, wants)?;
                    if matches!(param.ty, Type::Pointer(_)) {
                        self.stored.insert(buffer);
                        if self.program.buffers[buffer].kind == rvv_ir::BufferKind::Const {
                            return self.fail("a constant that is stored to");
                        }
                    }
                    let has = self.program.buffers[buffer].elem;
                    if has != wants {
                        cast = Some((has, wants));
                    }
                    self.address(&p)?
                }
                (Type::SizePointer, Value::Pointer(Pointer { buffer: None, at: CExpr::Var(var), .. })) => {
                    if self.program.main.ty(var) != Type::Size {
                        return self.fail("a new vl that is no size_t");
                    }
                    self.assigned(var);
                    Arg::Ref(var)
                }
                (Type::Scalar(e), value) if e.is_float() => {
                    let value = self.number(value, e)?;
                    self.float_arg(&value)?
                }
                (Type::Scalar(e), value) => match self.number(value, e)? {
                    Value::Int(value, _) => self.scalar_arg(value, param.ty)?,
                    _ => return self.fail("a scalar operand"),
                },
                (ty, value) => {
                    let literal_only =
                        matches!(param.role, Role::Frm | Role::Vxrm | Role::Uimm | Role::Position);
                    let elem = put_elem(ty).unwrap_or(Elem::U64);
                    match self.number(value, elem)? {
                        Value::Int(value, _) => match literal(&value) {
                            Some(n) => Arg::Expr(Index::Const(n as u64)),
                            None if literal_only => {
                                return self.fail_with(
                                    "an operand that must be a constant",
                                    format!("`{}` of `{}` must be a constant", param.name, intrinsic.name),
                                );
                            }
                            None => match self.index(value)? {
                                Index::Var(var) => Arg::Var(var),
                                index => Arg::Expr(index),
                            },
                        },
                        _ => return self.fail("an integer operand"),
                    }
                }
            };
            args.push(arg);
        }
        match cast {
            Some((has, wants)) => self.other_sign(intrinsic, args, has, wants),
            None => self.emit(intrinsic, overloaded, args),
        }
    }

    /// A scalar operand.
    fn scalar_arg(&mut self, value: CExpr, ty: Type) -> Result<Arg> {
        if let CExpr::Literal(_, bits) = value {
            return Ok(Arg::Expr(Index::Const(bits)));
        }
        if let CExpr::Var(var) = value
            && self.program.main.ty(var) == ty
        {
            return Ok(Arg::Var(var));
        }
        let var = self.var("x", ty);
        self.set(var, value)?;
        Ok(Arg::Var(var))
    }

    fn emit(&mut self, intrinsic: &'static Intrinsic, overloaded: bool, args: Vec<Arg>) -> Result<Value> {
        let dst = match intrinsic.ret {
            Type::Void => None,
            ty => Some(self.var("", ty)),
        };
        self.temporary.extend(dst);
        self.push(Stmt::Call(Call { dst, intrinsic, overloaded, args }))?;
        Ok(match (dst, intrinsic.ret) {
            (Some(var), ty @ (Type::Vector(_) | Type::Mask(_))) => Value::Vector(var, ty),
            (Some(var), Type::Scalar(e)) if e.is_float() => Value::Float(var, e),
            (Some(var), ty) => Value::Int(CExpr::Var(var), put_elem(ty).unwrap_or(Elem::U64)),
            (None, _) => Value::Void,
        })
    }

    /// A load or store of elements that the buffer has with another type of the same width: as that type, and
    /// reinterpreted.
    fn other_sign(
        &mut self,
        intrinsic: &'static Intrinsic,
        mut args: Vec<Arg>,
        has: Elem,
        wants: Elem,
    ) -> Result<Value> {
        let what = || format!("{} of memory that is {}", wants.c_name(), has.c_name());
        let swapped = |text: &str| {
            let Type::Vector(v) = intrinsic.ty else { return None };
            let other = rvv_intrinsics::VecType { elem: has, ..v };
            by_name(&text.replacen(&v.short(), &other.short(), 1)).map(|i| (i, v, other))
        };
        // What is kept under a mask would have to be reinterpreted, too.
        let keeps = intrinsic.position(Role::Dest).is_some();
        let Some((other, v, swap)) = swapped(&intrinsic.name).filter(|_| !keeps) else {
            return self.fail_with("memory accessed as elements of two types", what());
        };
        if v.nf > 1 {
            return self.fail_with("memory accessed as elements of two types", what());
        }
        let reinterpret = |from: rvv_intrinsics::VecType, to: rvv_intrinsics::VecType| {
            by_name(&format!("__riscv_vreinterpret_v_{}_{}", from.short(), to.short()))
        };
        // Between signed and floating point by way of the unsigned.
        let chain = |from: rvv_intrinsics::VecType,
                     to: rvv_intrinsics::VecType|
         -> Option<Vec<&'static Intrinsic>> {
            match reinterpret(from, to) {
                Some(one) => Some(vec![one]),
                None => {
                    let middle = rvv_intrinsics::VecType { elem: Elem::unsigned(from.elem.sew()), ..from };
                    Some(vec![reinterpret(from, middle)?, reinterpret(middle, to)?])
                }
            }
        };
        if let Some(data) = intrinsic.position(Role::Data) {
            let (Some(casts), Arg::Var(mut var)) = (chain(v, swap), args[data].clone()) else {
                return self.fail_with("memory accessed as elements of two types", what());
            };
            for cast in casts {
                var = self.made(cast, vec![Arg::Var(var)])?;
            }
            args[data] = Arg::Var(var);
            return self.emit(other, false, args);
        }
        let Some(casts) = chain(swap, v) else {
            return self.fail_with("memory accessed as elements of two types", what());
        };
        let mut value = self.emit(other, false, args)?;
        for cast in casts {
            if let Value::Vector(var, _) = value {
                value = self.emit(cast, false, vec![Arg::Var(var)])?;
            }
        }
        Ok(value)
    }

    /// Functions that compilers or headers of the system know; `None` if it is another one.
    fn builtin(&mut self, name: &str, args: &[Expr]) -> Result<Option<Value>> {
        let value = match (name, args) {
            ("__builtin_expect" | "__builtin_expect_with_probability", [a, ..]) => self.value(a)?,
            (
                "assert"
                | "__builtin_assume"
                | "__builtin_prefetch"
                | "__builtin_unreachable"
                | "__builtin_trap"
                | "Assert"
                | "printf"
                | "fprintf"
                | "abort"
                | "static_assert",
                _,
            ) => Value::Void,
            ("__builtin_assume_aligned", [a, ..]) => self.value(a)?,
            ("__builtin_constant_p", _) => Value::Int(CExpr::int(Elem::I32, 0), Elem::I32),
            ("fabsf" | "__builtin_fabsf", [a]) => self.float_call("vfabs_v", a, Elem::F32)?,
            ("fabs" | "__builtin_fabs", [a]) => self.float_call("vfabs_v", a, Elem::F64)?,
            ("sqrtf" | "__builtin_sqrtf", [a]) => self.float_call("vfsqrt_v", a, Elem::F32)?,
            ("sqrt" | "__builtin_sqrt", [a]) => self.float_call("vfsqrt_v", a, Elem::F64)?,
            // fmax and fmin take the other one of a NaN, as the instructions do.
            ("fmaxf", [a, b]) => self.float_pair("vfmax_vf", a, b, Elem::F32)?,
            ("fminf", [a, b]) => self.float_pair("vfmin_vf", a, b, Elem::F32)?,
            ("fmax", [a, b]) => self.float_pair("vfmax_vf", a, b, Elem::F64)?,
            ("fmin", [a, b]) => self.float_pair("vfmin_vf", a, b, Elem::F64)?,
            ("memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove", [to, from, n]) => {
                self.copied(to, from, n, name.ends_with("memmove"))?
            }
            ("min" | "max" | "MIN" | "MAX", [a, b]) if !self.has_function(name) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match (a, b) {
                    (Value::Int(a, x), Value::Int(b, y)) => {
                        let op = if name.eq_ignore_ascii_case("min") { Binary::Lt } else { Binary::Gt };
                        let common = match rvv_ir::loops::common(x, y) {
                            Ok(common) => common,
                            Err(why) => return self.fail(why),
                        };
                        let (a, b) = (convert(a, x, common), convert(b, y, common));
                        let is = CExpr::binary(op, a.clone(), b.clone());
                        Value::Int(CExpr::select(is, a, b), common)
                    }
                    _ => return self.fail("min or max of something else than integers"),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn has_function(&self, name: &str) -> bool {
        self.source.functions.iter().any(|f| *f.name == *name && !f.generic)
    }

    fn float_call(&mut self, family: &str, a: &Expr, elem: Elem) -> Result<Value> {
        let value = self.value(a)?;
        let value = self.number(value, elem)?;
        self.float_unary(family, value, elem)
    }

    fn float_pair(&mut self, family: &str, a: &Expr, b: &Expr, elem: Elem) -> Result<Value> {
        let (a, b) = (self.value(a)?, self.value(b)?);
        let (a, b) = (self.number(a, elem)?, self.number(b, elem)?);
        self.float_binary(family, a, b, elem)
    }

    /// `memcpy`, element by element.
    fn copied(&mut self, to: &Expr, from: &Expr, n: &Expr, overlaps: bool) -> Result<Value> {
        let (Value::Pointer(to), Value::Pointer(from)) = (self.value(to)?, self.value(from)?) else {
            return self.fail("memcpy of something else than arrays");
        };
        let Value::Int(n, ty) = self.value(n)? else { return self.fail("memcpy of so many bytes") };
        let (a, b) = (self.buffer_of(&to)?, self.buffer_of(&from)?);
        let elem = self.program.buffers[b].elem;
        if self.program.buffers[a].elem != elem || (overlaps && a == b) {
            return self.fail("memcpy between arrays of different types");
        }
        let n = convert(n, ty, Elem::I64);
        let size = CExpr::int(Elem::I64, elem.bytes().into());
        let count = match super::value::binary(Binary::Div, n, size, (Elem::I64, Elem::I64)) {
            Ok((count, _)) => self.kept(count, Elem::I64)?,
            Err(why) => return self.fail(why),
        };
        let index = self.var("i", Type::Scalar(Elem::I64));
        let result = to.clone();
        let body = self.block(|l| {
            let at = |p: &Pointer| {
                let i = CExpr::cast(Elem::U64, CExpr::Var(index));
                Pointer {
                    at: CExpr::binary(Binary::Add, p.at.clone(), i),
                    to: CType::Scalar(elem),
                    ..p.clone()
                }
            };
            let value = l.load(&at(&from))?;
            l.store(&at(&to), value)
        })?;
        let from = CExpr::int(Elem::I64, 0);
        let (compare, pragma) = (Compare::Lt, Pragma::None);
        self.push(Stmt::Loop(Box::new(Loop { index, from, compare, to: count, step: 1, pragma, body })))?;
        Ok(Value::Pointer(result))
    }
}
