//! The text of element statements.

use super::{Access, CExpr, Lane, Loop, Pragma, Target, Unary};
use crate::{Function, Program};
use rvv_intrinsics::Elem;
use std::fmt::{self, Write};

/// An expression as text: every operation is in parentheses, a literal is its type with its value.
pub(crate) fn expression(
    program: &Program,
    function: &Function,
    e: &CExpr,
    f: &mut dyn Write,
) -> fmt::Result {
    let inner = |e: &CExpr, f: &mut dyn Write| expression(program, function, e, f);
    match e {
        CExpr::Literal(elem, bits) => f.write_str(&literal(*elem, *bits)),
        CExpr::Var(var) => f.write_str(function.name(*var)),
        CExpr::Load(of) => access(program, function, of, f),
        CExpr::Unary(op, a) => {
            f.write_str(match op {
                Unary::Neg => "-(",
                Unary::Not => "~(",
                Unary::IsZero => "!(",
                Unary::Bool => "bool(",
            })?;
            inner(a, f)?;
            f.write_char(')')
        }
        CExpr::Binary(op, a, b) => {
            f.write_char('(')?;
            inner(a, f)?;
            write!(f, " {} ", op.sign())?;
            inner(b, f)?;
            f.write_char(')')
        }
        CExpr::Cast(elem, a) => {
            write!(f, "{}(", elem.short())?;
            inner(a, f)?;
            f.write_char(')')
        }
        CExpr::Select(of) => {
            f.write_char('(')?;
            inner(&of[0], f)?;
            f.write_str(" ? ")?;
            inner(&of[1], f)?;
            f.write_str(" : ")?;
            inner(&of[2], f)?;
            f.write_char(')')
        }
        CExpr::Builtin(builtin, args) => {
            write!(f, "{}(", builtin.name())?;
            for (i, arg) in args.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { ", " })?;
                inner(arg, f)?;
            }
            f.write_char(')')
        }
    }
}

/// `i32(-5)`, `u8(200)`, `f32(0x3f800000)`
fn literal(elem: Elem, bits: u64) -> String {
    let unused = 64 - elem.bits();
    let name = elem.short();
    if elem.is_float() {
        format!("{name}({bits:#x})")
    } else if elem.is_signed() {
        format!("{name}({})", ((bits << unused) as i64) >> unused)
    } else {
        format!("{name}({bits})")
    }
}

/// `a[i, j]`
pub(crate) fn access(program: &Program, function: &Function, of: &Access, f: &mut dyn Write) -> fmt::Result {
    write!(f, "{}[", program.buffers[of.buffer].name)?;
    for (i, index) in of.index.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        expression(program, function, index, f)?;
    }
    f.write_char(']')
}

/// What a `set` assigns to.
pub(crate) fn target(program: &Program, function: &Function, of: &Target, f: &mut dyn Write) -> fmt::Result {
    match of {
        Target::Var(var) => f.write_str(function.name(*var)),
        Target::Element(of) => access(program, function, of, f),
    }
}

/// A vector: `splat(u8, x)`, `shuffle(a, b, 0 9 2 11)`.
pub(crate) fn lane(program: &Program, function: &Function, of: &Lane, f: &mut dyn Write) -> fmt::Result {
    let vector = |l: &Lane, f: &mut dyn Write| lane(program, function, l, f);
    let scalar = |e: &CExpr, f: &mut dyn Write| expression(program, function, e, f);
    match of {
        Lane::Load(buffer, at) => {
            write!(f, "{}[", program.buffers[*buffer].name)?;
            scalar(at, f)?;
            f.write_char(']')
        }
        Lane::Splat(elem, e) => {
            write!(f, "splat({}, ", elem.short())?;
            scalar(e, f)?;
            f.write_char(')')
        }
        Lane::Unary(op, a) => {
            f.write_str(if *op == Unary::Neg { "-(" } else { "~(" })?;
            vector(a, f)?;
            f.write_char(')')
        }
        Lane::Binary(op, a, b) => {
            f.write_char('(')?;
            vector(a, f)?;
            write!(f, " {} ", op.sign())?;
            vector(b, f)?;
            f.write_char(')')
        }
        Lane::Select(op, all) => {
            f.write_char('(')?;
            vector(&all[0], f)?;
            write!(f, " {} ", op.sign())?;
            vector(&all[1], f)?;
            f.write_str(" ? ")?;
            vector(&all[2], f)?;
            f.write_str(" : ")?;
            vector(&all[3], f)?;
            f.write_char(')')
        }
        Lane::Convert(elem, a) => {
            write!(f, "{}(", elem.short())?;
            vector(a, f)?;
            f.write_char(')')
        }
        Lane::Shuffle(a, b, order) => {
            f.write_str("shuffle(")?;
            vector(a, f)?;
            f.write_str(", ")?;
            vector(b, f)?;
            f.write_char(',')?;
            for n in order {
                write!(f, " {n}")?;
            }
            f.write_char(')')
        }
        Lane::Insert(a, at, value) => {
            f.write_str("insert(")?;
            vector(a, f)?;
            f.write_str(", ")?;
            scalar(at, f)?;
            f.write_str(", ")?;
            scalar(value, f)?;
            f.write_char(')')
        }
    }
}

/// The head of a loop: `loop i = i32(0) while < n step 1 unroll 4`.
pub(crate) fn head(program: &Program, function: &Function, of: &Loop, f: &mut dyn Write) -> fmt::Result {
    write!(f, "loop {} = ", function.name(of.index))?;
    expression(program, function, &of.from, f)?;
    write!(f, " while {} ", of.compare.sign())?;
    expression(program, function, &of.to, f)?;
    write!(f, " step {}", of.step)?;
    match of.pragma {
        Pragma::None => Ok(()),
        Pragma::Vectorize => f.write_str(" vectorize"),
        Pragma::NoVector => f.write_str(" novector"),
        Pragma::Unroll(n) => write!(f, " unroll {n}"),
        Pragma::Interleave(n) => write!(f, " interleave {n}"),
        Pragma::Width(n) => write!(f, " width {n}"),
        Pragma::Distribute => f.write_str(" distribute"),
    }
}
