//! Computational instructions: sections "Single-Precision Floating-Point Computational Instructions" and its
//! likes for the other formats.

use super::{accruing, read, rounding_mode, write};
use crate::Hart;
use crate::fp::{Flags, Float, RoundingMode};
use crate::trap::Exec;
use rvv_isa::Inst;

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

pub(super) fn fadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::add)
}

pub(super) fn fsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::sub)
}

pub(super) fn fmul<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::mul)
}

pub(super) fn fdiv<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    rounded::<F>(h, i, F::div)
}

pub(super) fn fsqrt<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    let rm = rounding_mode(h, i)?;
    let a = read::<F>(h, i.rs1);
    let result = accruing(h, |flags| F::sqrt(a, rm, flags));
    write::<F>(h, i.rd, result)
}

/// (rs1 × rs2) + rs3
pub(super) fn fmadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, false, false)
}

/// (rs1 × rs2) − rs3
pub(super) fn fmsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, false, true)
}

/// −(rs1 × rs2) + rs3
pub(super) fn fnmsub<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, true, false)
}

/// −(rs1 × rs2) − rs3
pub(super) fn fnmadd<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    fused::<F>(h, i, true, true)
}

pub(super) fn fmin<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::min)
}

pub(super) fn fmax<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::max)
}
