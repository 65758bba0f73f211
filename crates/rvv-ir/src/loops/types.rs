//! C's typing rules (C11, 6.3.1: arithmetic operands), for LP64: `int` has 32 bits, `long` is `int64_t`.

use super::{Binary, CExpr, Unary};
use crate::{Function, Program};
use rvv_intrinsics::{Elem, Type};

/// The integer promotions: what is narrower than `int` becomes one.
pub fn promote(elem: Elem) -> Elem {
    match elem {
        Elem::I8 | Elem::I16 | Elem::U8 | Elem::U16 => Elem::I32,
        other => other,
    }
}

/// The usual arithmetic conversions: the type in which two operands are combined. `__bf16` has no arithmetic
/// here: its users convert it first.
pub fn common(a: Elem, b: Elem) -> Result<Elem, String> {
    const FLOATS: [Elem; 3] = [Elem::F64, Elem::F32, Elem::F16];
    if a == Elem::Bf16 || b == Elem::Bf16 {
        return Err("bf16 has no arithmetic; convert it to f32 first".to_string());
    }
    if let Some(float) = FLOATS.into_iter().find(|f| a == *f || b == *f) {
        return Ok(float);
    }
    let (a, b) = (promote(a), promote(b));
    if a.bits() != b.bits() {
        return Ok(if a.bits() > b.bits() { a } else { b });
    }
    Ok(if a.is_signed() { b } else { a })
}

/// The type of a scalar variable as an operand.
pub fn variable(ty: Type) -> Option<Elem> {
    crate::put_elem(ty)
}

impl CExpr {
    /// Its type, in a function of a program. Subscripts are not looked at.
    pub fn ty(&self, program: &Program, function: &Function) -> Result<Elem, String> {
        Ok(match self {
            CExpr::Literal(elem, _) | CExpr::Cast(elem, _) => *elem,
            CExpr::Var(var) => {
                let decl = function.vars.get(var.index()).ok_or("a variable does not exist")?;
                variable(decl.ty).ok_or_else(|| format!("`{}` is no scalar", decl.name))?
            }
            CExpr::Load(access) => program.buffers.get(access.buffer).ok_or("a buffer does not exist")?.elem,
            CExpr::Unary(op, a) => unary(*op, a.ty(program, function)?)?,
            CExpr::Binary(op, a, b) => binary(*op, a.ty(program, function)?, b.ty(program, function)?)?,
            CExpr::Select(of) => common(of[1].ty(program, function)?, of[2].ty(program, function)?)?,
            CExpr::Builtin(_, args) => {
                args.first().ok_or("a function without operands")?.ty(program, function)?
            }
        })
    }
}

fn unary(op: Unary, a: Elem) -> Result<Elem, String> {
    match op {
        Unary::IsZero | Unary::Bool => Ok(Elem::I32),
        _ if a == Elem::Bf16 => Err("bf16 has no arithmetic; convert it to f32 first".to_string()),
        Unary::Not if a.is_float() => Err(format!("~ takes integers, not {}", a.short())),
        Unary::Neg | Unary::Not => Ok(promote(a)),
    }
}

fn binary(op: Binary, a: Elem, b: Elem) -> Result<Elem, String> {
    if op.is_integer() && (a.is_float() || b.is_float()) {
        return Err(format!("{} takes integers, not {} and {}", op.sign(), a.short(), b.short()));
    }
    let common = common(a, b)?;
    Ok(match op {
        Binary::Shl | Binary::Shr => promote(a),
        _ if op.is_truth() => Elem::I32,
        _ => common,
    })
}
