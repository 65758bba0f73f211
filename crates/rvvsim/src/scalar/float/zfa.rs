//! Zfa, additional floating-point instructions.

use super::arith::chosen;
use super::compare::compare;
use super::{accruing, accruing_to_x, read, rounding_mode, write};
use crate::Hart;
use crate::fp::{self, F64, Float};
use crate::trap::Exec;
use rvv_isa::Inst;

/// The constant whose number is in the field of `rs1`.
pub(super) fn fli<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    write::<F>(h, i.rd, F::li(i.rs1))
}

pub(super) fn fminm<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::minm)
}

pub(super) fn fmaxm<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    chosen::<F>(h, i, F::maxm)
}

#[inline(always)]
fn round_to_integer<F: Float>(h: &mut Hart, i: &Inst, exact: bool) -> Exec {
    let rm = rounding_mode(h, i)?;
    let a = read::<F>(h, i.rs1);
    let result = accruing(h, |flags| F::round_to_int(a, rm, exact, flags));
    write::<F>(h, i.rd, result)
}

/// Does not raise NX.
pub(super) fn fround<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    round_to_integer::<F>(h, i, false)
}

pub(super) fn froundnx<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    round_to_integer::<F>(h, i, true)
}

/// Rounds towards zero whatever `frm` says: its `rm` field is part of the encoding.
pub(super) fn fcvtmod_w_d(h: &mut Hart, i: &Inst) -> Exec {
    let a = read::<F64>(h, i.rs1);
    let result = accruing_to_x(h, |flags| fp::fcvtmod_w_d(a, flags));
    h.set_x(i.rd, result);
    Ok(())
}

pub(super) fn fleq<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    compare::<F>(h, i, F::leq)
}

pub(super) fn fltq<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    compare::<F>(h, i, F::ltq)
}
