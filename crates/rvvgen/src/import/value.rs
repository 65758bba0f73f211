//! Values and places while a function is lowered.

use crate::csource::CType;
use rvv_intrinsics::{Elem, Type};
use rvv_ir::Var;
use rvv_ir::loops::{Binary, CExpr, Unary};
use std::collections::HashMap;
use std::rc::Rc;

/// An address: an element of a buffer.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// The buffer; `None` is the null pointer.
    pub buffer: Option<usize>,
    /// Which element of it, as a 64-bit integer.
    pub at: CExpr,
    /// What it points to.
    pub to: CType,
}

/// A value of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer.
    Int(CExpr, Elem),
    /// A floating-point literal, by its bits.
    FloatBits(u64, Elem),
    /// A floating-point variable.
    Float(Var, Elem),
    /// A vector, tuple or mask.
    Vector(Var, Type),
    /// An address.
    Pointer(Pointer),
    /// A structure, by the way to it.
    Struct(Rc<str>, Rc<str>),
    /// Nothing.
    Void,
}

impl Value {
    /// For messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(..) => "an integer",
            Value::FloatBits(..) | Value::Float(..) => "a floating-point number",
            Value::Vector(..) => "a vector",
            Value::Pointer(_) => "a pointer",
            Value::Struct(..) => "a structure",
            Value::Void => "nothing",
        }
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Slot {
    /// A variable of the program, which holds a value of this C type.
    Var(Var, CType),
    /// A pointer: its buffer, once it is known, and the variable with its element.
    Pointer(Option<usize>, Var, CType),
    /// An array.
    Array(usize, CType),
    /// A value that does not change.
    Value(Value),
}

/// The names of a function that is being lowered, by scope.
#[derive(Debug, Default)]
pub struct Scopes(pub Vec<HashMap<Rc<str>, Slot>>);

impl Scopes {
    pub fn get(&self, name: &str) -> Option<&Slot> {
        self.0.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn set(&mut self, name: &str, slot: Slot) {
        if let Some(old) = self.0.iter_mut().rev().find_map(|scope| scope.get_mut(name)) {
            *old = slot;
        }
    }

    pub fn declare(&mut self, name: Rc<str>, slot: Slot) {
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name, slot);
        }
    }
}

/// The value of a literal.
pub fn literal(e: &CExpr) -> Option<i128> {
    match e {
        CExpr::Literal(elem, bits) if elem.is_signed() => {
            let shift = 64 - elem.bits();
            Some(i128::from((*bits as i64) << shift >> shift))
        }
        CExpr::Literal(elem, bits) if !elem.is_float() => Some(i128::from(*bits)),
        _ => None,
    }
}

/// A literal of a type, if the value fits it or it wraps.
pub fn fold(elem: Elem, value: i128) -> Option<CExpr> {
    let bits = elem.bits();
    if elem.is_signed() && !(-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&value) {
        return None;
    }
    Some(CExpr::Literal(elem, value as u64 & (u64::MAX >> (64 - bits))))
}

/// An integer as a value of a type.
pub fn convert(e: CExpr, from: Elem, to: Elem) -> CExpr {
    if from == to {
        return e;
    }
    match literal(&e) {
        // Conversions wrap.
        Some(value) => CExpr::Literal(to, value as u64 & (u64::MAX >> (64 - to.bits()))),
        None => CExpr::cast(to, e),
    }
}

/// An operation on integers of known types, and its type.
pub fn binary(op: Binary, a: CExpr, b: CExpr, types: (Elem, Elem)) -> Result<(CExpr, Elem), String> {
    let common = rvv_ir::loops::common(types.0, types.1)?;
    let ty = match op {
        Binary::Shl | Binary::Shr => rvv_ir::loops::promote(types.0),
        _ if op.is_truth() => Elem::I32,
        _ => common,
    };
    // In the type in which C combines them.
    let within = |v: i128, e: Elem| literal(&CExpr::Literal(e, v as u64 & (u64::MAX >> (64 - e.bits()))));
    if let (Some(x), Some(y)) = (literal(&a), literal(&b)) {
        let shift = matches!(op, Binary::Shl | Binary::Shr);
        let (x, y) = if shift { (Some(x), Some(y)) } else { (within(x, common), within(y, common)) };
        if let (Some(x), Some(y)) = (x, y) {
            use Binary::*;
            let truth = |v: bool| Some(i128::from(v));
            let value = match op {
                Add => x.checked_add(y),
                Sub => x.checked_sub(y),
                Mul => x.checked_mul(y),
                Div => x.checked_div(y),
                Rem => x.checked_rem(y),
                And => Some(x & y),
                Or => Some(x | y),
                Xor => Some(x ^ y),
                Shl if (0..i128::from(ty.bits())).contains(&y) => Some(x << y),
                Shr if (0..i128::from(ty.bits())).contains(&y) => Some(x >> y),
                Shl | Shr => None,
                Eq => truth(x == y),
                Ne => truth(x != y),
                Lt => truth(x < y),
                Le => truth(x <= y),
                Gt => truth(x > y),
                Ge => truth(x >= y),
                AndThen => truth(x != 0 && y != 0),
                OrElse => truth(x != 0 || y != 0),
            };
            if let Some(folded) = value.and_then(|v| fold(ty, v)) {
                return Ok((folded, ty));
            }
        }
    }
    // Nothing is added, and nothing multiplied by one.
    if ty == types.0
        && (matches!(op, Binary::Add | Binary::Sub) && literal(&b) == Some(0)
            || matches!(op, Binary::Mul | Binary::Div) && literal(&b) == Some(1))
    {
        return Ok((a, ty));
    }
    if ty == types.1
        && (op == Binary::Add && literal(&a) == Some(0) || op == Binary::Mul && literal(&a) == Some(1))
    {
        return Ok((b, ty));
    }
    Ok((CExpr::binary(op, a, b), ty))
}

/// An operation on one integer.
pub fn unary(op: Unary, a: CExpr, ty: Elem) -> (CExpr, Elem) {
    let result = match op {
        Unary::IsZero | Unary::Bool => Elem::I32,
        Unary::Neg | Unary::Not => rvv_ir::loops::promote(ty),
    };
    let folded = literal(&a).and_then(|v| {
        fold(
            result,
            match op {
                Unary::IsZero => i128::from(v == 0),
                Unary::Bool => i128::from(v != 0),
                Unary::Neg => -v,
                Unary::Not => !v,
            },
        )
    });
    // Unsigned numbers wrap.
    let wraps = literal(&a).filter(|_| op == Unary::Neg && result.is_unsigned());
    match (folded, wraps) {
        (_, Some(v)) => (CExpr::Literal(result, (-v) as u64 & (u64::MAX >> (64 - result.bits()))), result),
        (Some(folded), _) => (folded, result),
        _ => (CExpr::unary(op, a), result),
    }
}

/// How deep an expression is nested.
pub fn depth(e: &CExpr) -> usize {
    match e {
        CExpr::Literal(..) | CExpr::Var(_) => 1,
        CExpr::Load(access) => 1 + access.index.iter().map(depth).max().unwrap_or(0),
        CExpr::Unary(_, a) | CExpr::Cast(_, a) => 1 + depth(a),
        CExpr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
        CExpr::Select(of) => 1 + of.iter().map(depth).max().unwrap_or(0),
        CExpr::Builtin(_, args) => 1 + args.iter().map(depth).max().unwrap_or(0),
    }
}
