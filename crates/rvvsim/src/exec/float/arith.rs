//! Computational instructions: sections "Single-Precision Floating-Point Computational Instructions" and its
//! likes for the other formats.

use super::{Handler, accruing, formats, read, rounding_mode, write};
use crate::Hart;
use crate::fp::{F16, F32, F64, Flags, Float, RoundingMode};
use crate::trap::Exec;
use rvv_isa::{Inst, Op};

pub(super) fn handler(op: Op) -> Option<Handler> {
    formats!(op, {
        FaddS FaddD FaddH => fadd,
        FsubS FsubD FsubH => fsub,
        FmulS FmulD FmulH => fmul,
        FdivS FdivD FdivH => fdiv,
        FsqrtS FsqrtD FsqrtH => fsqrt,
        FmaddS FmaddD FmaddH => fmadd,
        FmsubS FmsubD FmsubH => fmsub,
        FnmsubS FnmsubD FnmsubH => fnmsub,
        FnmaddS FnmaddD FnmaddH => fnmadd,
        FminS FminD FminH => fmin,
        FmaxS FmaxD FmaxH => fmax,
    })
}

/// `fd = op(fs1, fs2)`, rounded.
#[inline(always)]
fn rounded<F: Float>(
    h: &mut Hart,
    i: &Inst,
    op: impl FnOnce(F::Bits, F::Bits, RoundingMode, &mut Flags) -> F::Bits,
) -> Exec {
    let rm = rounding_mode(h, i)?;
    let (a, b) = (read::<F>(h, i.rs1), read::<F>(h, i.rs2));
    let result = accruing(h, |flags| op(a, b, rm, flags));
    write::<F>(h, i.rd, result)
}

/// `fd = op(fs1, fs2)`, one of the two or a NaN.
#[inline(always)]
pub(super) fn chosen<F: Float>(
    h: &mut Hart,
    i: &Inst,
    op: impl FnOnce(F::Bits, F::Bits, &mut Flags) -> F::Bits,
) -> Exec {
    let (a, b) = (read::<F>(h, i.rs1), read::<F>(h, i.rs2));
    let result = accruing(h, |flags| op(a, b, flags));
    write::<F>(h, i.rd, result)
}

/// `fd = ±(fs1 × fs2) ± fs3`, rounded once.
#[inline(always)]
fn fused<F: Float>(h: &mut Hart, i: &Inst, negate_product: bool, negate_addend: bool) -> Exec {
    let rm = rounding_mode(h, i)?;
    let (a, b, c) = (read::<F>(h, i.rs1), read::<F>(h, i.rs2), read::<F>(h, i.rs3));
    let a = if negate_product { F::neg(a) } else { a };
    let c = if negate_addend { F::neg(c) } else { c };
    let result = accruing(h, |flags| F::fused_mul_add(a, b, c, rm, flags));
    write::<F>(h, i.rd, result)
}

fn fadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::add)
}

fn fsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::sub)
}

fn fmul<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::mul)
}

fn fdiv<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::div)
}

fn fsqrt<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    let rm = rounding_mode(h, i)?;
    let a = read::<F>(h, i.rs1);
    let result = accruing(h, |flags| F::sqrt(a, rm, flags));
    write::<F>(h, i.rd, result)
}

/// (rs1 × rs2) + rs3
fn fmadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, false, false)
}

/// (rs1 × rs2) − rs3
fn fmsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, false, true)
}

/// −(rs1 × rs2) + rs3
fn fnmsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, true, false)
}

/// −(rs1 × rs2) − rs3
fn fnmadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, true, true)
}

fn fmin<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::min)
}

fn fmax<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::max)
}
