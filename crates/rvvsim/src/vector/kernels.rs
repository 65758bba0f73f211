//! Kernels for the usual forms of operands: `a` is always `vs2`, `b` is `vs1` or the scalar.

use super::VInst;
use super::body::{Carry, Group, Map, Splat, run_group, run_mask};
use super::element::{Element, Op1, Op2, Op3};
use crate::Hart;
use crate::trap::Exec;
use std::marker::PhantomData;

/// `vd[i] = op(vs2[i])`.
pub fn v<O: Op1<A, R>, A: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_group(hart, vi, Map((Group::<A>::new(vi.vs2),), O::apply))
}

/// `vd[i] = op(vs2[i], vs1[i])`.
pub fn vv<O: Op2<A, B, R>, A: Element, B: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_group(hart, vi, Map((Group::<A>::new(vi.vs2), Group::<B>::new(vi.vs1)), O::apply))
}

/// `vd[i] = op(vs2[i], scalar)`.
pub fn vx<O: Op2<A, B, R>, A: Element, B: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = B::from_u64(vi.scalar(hart));
    run_group(hart, vi, Map((Group::<A>::new(vi.vs2), Splat(b)), O::apply))
}

/// `vd[i] = op(vs2[i], vs1[i], vd[i])`.
pub fn vvd<O: Op3<A, A, R, R>, A: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let operands = (Group::<A>::new(vi.vs2), Group::<A>::new(vi.vs1), Group::<R>::new(vi.vd));
    run_group(hart, vi, Map(operands, O::apply))
}

/// `vd[i] = op(vs2[i], scalar, vd[i])`.
pub fn vxd<O: Op3<A, A, R, R>, A: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = A::from_u64(vi.scalar(hart));
    run_group(hart, vi, Map((Group::<A>::new(vi.vs2), Splat(b), Group::<R>::new(vi.vd)), O::apply))
}

/// `vd[i] = op(vs2[i], vs1[i], v0.mask[i])`.
pub fn vvm<O: Op3<T, T, T, T>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let operands = (Group::<T>::new(vi.vs2), Group::<T>::new(vi.vs1), Carry::<T>(PhantomData));
    run_group(hart, vi, Map(operands, O::apply))
}

/// `vd[i] = op(vs2[i], scalar, v0.mask[i])`.
pub fn vxm<O: Op3<T, T, T, T>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = T::from_u64(vi.scalar(hart));
    run_group(hart, vi, Map((Group::<T>::new(vi.vs2), Splat(b), Carry::<T>(PhantomData)), O::apply))
}

/// `vd[i] = op(scalar)`.
pub fn x<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = T::from_u64(vi.scalar(hart));
    run_group(hart, vi, Map((Splat(b),), |b| b))
}

/// `vd.mask[i] = op(vs2[i], vs1[i])`.
pub fn mvv<O: Op2<T, T, bool>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_mask(hart, vi, Map((Group::<T>::new(vi.vs2), Group::<T>::new(vi.vs1)), O::apply))
}

/// `vd.mask[i] = op(vs2[i], scalar)`.
pub fn mvx<O: Op2<T, T, bool>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = T::from_u64(vi.scalar(hart));
    run_mask(hart, vi, Map((Group::<T>::new(vi.vs2), Splat(b)), O::apply))
}

/// `vd.mask[i] = op(vs2[i], vs1[i], v0.mask[i])`.
pub fn mvvm<O: Op3<T, T, T, bool>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let operands = (Group::<T>::new(vi.vs2), Group::<T>::new(vi.vs1), Carry::<T>(PhantomData));
    run_mask(hart, vi, Map(operands, O::apply))
}

/// `vd.mask[i] = op(vs2[i], scalar, v0.mask[i])`.
pub fn mvxm<O: Op3<T, T, T, bool>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = T::from_u64(vi.scalar(hart));
    run_mask(hart, vi, Map((Group::<T>::new(vi.vs2), Splat(b), Carry::<T>(PhantomData)), O::apply))
}
