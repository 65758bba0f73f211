//! Conversions between and to and from integers.

use super::{accruing, accruing_to_x, read, rounding_mode, write};
use crate::Hart;
use crate::fp::{self, Flags, Float, RoundingMode};
use crate::trap::Exec;
use rvv_isa::Inst;

/// `fd = fs1`, from format `S` to format `D`.
pub(super) fn fcvt<S: Float, D: Float>(h: &mut Hart, i: &Inst) -> Exec {
    let rm = rounding_mode(h, i)?;
    let a = read::<S>(h, i.rs1);
    let result = accruing(h, |flags| fp::convert::<S, D>(a, rm, flags));
    write::<D>(h, i.rd, result)
}

/// `rd = op(fs1)`
#[inline(always)]
fn to_integer<F: Float>(
    h: &mut Hart,
    i: &Inst,
    op: impl FnOnce(F::Bits, RoundingMode, &mut Flags) -> u64,
) -> Exec {
    let rm = rounding_mode(h, i)?;
    let a = read::<F>(h, i.rs1);
    let result = accruing_to_x(h, |flags| op(a, rm, flags));
    h.set_x(i.rd, result);
    Ok(())
}

pub(super) fn fcvt_w<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    to_integer::<F>(h, i, |a, rm, flags| F::to_i32(a, rm, flags) as u64)
}

/// "FCVT.WU.S sign-extends the 32-bit result": all 32-bit results do, of unsigned conversions too.
pub(super) fn fcvt_wu<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    to_integer::<F>(h, i, |a, rm, flags| F::to_u32(a, rm, flags) as i32 as u64)
}

pub(super) fn fcvt_l<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    to_integer::<F>(h, i, |a, rm, flags| F::to_i64(a, rm, flags) as u64)
}

pub(super) fn fcvt_lu<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    to_integer::<F>(h, i, F::to_u64)
}

/// `fd = op(rs1)`
#[inline(always)]
fn from_integer<F: Float>(
    h: &mut Hart,
    i: &Inst,
    op: impl FnOnce(u64, RoundingMode, &mut Flags) -> F::Bits,
) -> Exec {
    let rm = rounding_mode(h, i)?;
    let x = h.x[i.rs1];
    let result = accruing(h, |flags| op(x, rm, flags));
    write::<F>(h, i.rd, result)
}

pub(super) fn fcvt_from_w<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    from_integer::<F>(h, i, |x, rm, flags| F::from_i32(x as i32, rm, flags))
}

pub(super) fn fcvt_from_wu<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    from_integer::<F>(h, i, |x, rm, flags| F::from_u32(x as u32, rm, flags))
}

pub(super) fn fcvt_from_l<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    from_integer::<F>(h, i, |x, rm, flags| F::from_i64(x as i64, rm, flags))
}

pub(super) fn fcvt_from_lu<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    from_integer::<F>(h, i, F::from_u64)
}
