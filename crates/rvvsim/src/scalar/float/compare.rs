//! Comparisons and classification: results go to integer registers.

use super::{accruing_to_x, read};
use crate::Hart;
use crate::fp::{Flags, Float};
use crate::trap::Exec;
use rvv_isa::Inst;

/// `rd = op(fs1, fs2)`
#[inline(always)]
pub(super) fn compare<F: Float>(
    h: &mut Hart,
    i: &Inst,
    op: impl FnOnce(F::Bits, F::Bits, &mut Flags) -> bool,
) -> Exec {
    let (a, b) = (read::<F>(h, i.rs1), read::<F>(h, i.rs2));
    let holds = accruing_to_x(h, |flags| op(a, b, flags));
    h.set_x(i.rd, u64::from(holds));
    Ok(())
}

pub(super) fn feq<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    compare::<F>(h, i, F::eq)
}

pub(super) fn flt<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    compare::<F>(h, i, F::lt)
}

pub(super) fn fle<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    compare::<F>(h, i, F::le)
}

/// Raises nothing, not even for a signaling NaN.
pub(super) fn fclass<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    let class = F::classify(read::<F>(h, i.rs1));
    h.set_x(i.rd, class);
    Ok(())
}
