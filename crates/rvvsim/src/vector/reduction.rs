//! Vector reduction operations (manual, chapter "Vector Reduction Operations").
//!
//! The unordered floating-point sums add in element order, as the ordered ones do; the manual allows that.

use super::body::{end, low_bits, mask_bits, read_lanes, select, vl};
use super::element::{Element, Op2, by_sew, each_width};
use super::float::{by_float, finish_float, rounding_mode};
use super::integer::{Vadd, Vand, Vmax, Vmaxu, Vmin, Vminu, Vor, Vxor};
use super::legality::{Eew, Float as FloatOperands, Shape};
use super::{Entry, VInst, VectorState};
use crate::Hart;
use crate::fp::{self, Flags, Float, RoundingMode};
use crate::trap::Exec;
use rvv_isa::{Op, Sew};

/// Reductions start from element 0 only.
fn begin(hart: &Hart, vi: &VInst) -> Exec {
    if hart.v.vstart == 0 {
        Ok(())
    } else {
        Err(vi.illegal("norm:vreduction_vstart_n0_ill: a reduction with vstart that is not zero"))
    }
}

/// Element 0 gets the result; the others are the tail.
#[inline(always)]
fn finish<T: Element>(hart: &mut Hart, vi: &VInst, result: T) {
    result.write(&mut hart.v.regs[vi.vd as usize..]);
    hart.v.treat_tail(vi.tail, vi.vd as usize, T::SIZE, vi.group as usize, 1);
}

/// A reduction that gives the same in any order.
trait Fold<T>: Op2<T, T, T> {
    /// What changes nothing.
    const IDENTITY: T;
}

macro_rules! fold {
    ($($op:ty => $identity:expr;)*) => {$(
        each_width! { all { impl Fold<U> for $op { const IDENTITY: U = $identity as U; } } }
    )*};
}

fold! {
    Vadd => 0;
    Vand => U::MAX;
    Vor => 0;
    Vxor => 0;
    Vminu => U::MAX;
    Vmaxu => 0;
    Vmin => S::MAX;
    Vmax => S::MIN;
}

/// Folds the active elements of `vs2`, each made an `R` first.
#[inline(always)]
fn fold<O: Fold<R>, T: Element, R: Element>(
    v: &VectorState,
    vi: &VInst,
    vl: usize,
    widen: impl Fn(T) -> R,
) -> R {
    match T::SIZE {
        1 => fold_blocks::<O, T, R, 64, 16>(v, vi, vl, widen),
        2 => fold_blocks::<O, T, R, 32, 8>(v, vi, vl, widen),
        4 => fold_blocks::<O, T, R, 16, 4>(v, vi, vl, widen),
        _ => fold_blocks::<O, T, R, 8, 2>(v, vi, vl, widen),
    }
}

#[inline(always)]
fn fold_blocks<O: Fold<R>, T: Element, R: Element, const BIG: usize, const SMALL: usize>(
    v: &VectorState,
    vi: &VInst,
    vl: usize,
    widen: impl Fn(T) -> R,
) -> R {
    let mut sums = [O::IDENTITY; BIG];
    let mut first = 0;
    while !vi.masked && first + BIG <= vl {
        let lanes = active_lanes::<O, T, R, BIG>(v, vi, first, low_bits(BIG), &widen);
        for (sum, lane) in sums.iter_mut().zip(lanes) {
            *sum = O::apply(*sum, lane);
        }
        first += BIG;
    }
    let mut rest = [O::IDENTITY; SMALL];
    while first < vl {
        let mut active = low_bits(SMALL.min(vl - first));
        if vi.masked {
            active &= mask_bits::<SMALL>(&v.regs, first);
        }
        let lanes = active_lanes::<O, T, R, SMALL>(v, vi, first, active, &widen);
        for (sum, lane) in rest.iter_mut().zip(lanes) {
            *sum = O::apply(*sum, lane);
        }
        first += SMALL;
    }
    let rest = rest.into_iter().fold(O::IDENTITY, O::apply);
    if vi.masked || vl < BIG { rest } else { sums.into_iter().fold(rest, O::apply) }
}

#[inline(always)]
fn active_lanes<O: Fold<R>, T: Element, R: Element, const N: usize>(
    v: &VectorState,
    vi: &VInst,
    first: usize,
    active: u64,
    widen: &impl Fn(T) -> R,
) -> [R; N] {
    let lanes: [T; N] = read_lanes(&v.regs[vi.vs2 as usize + first * T::SIZE..][..N * T::SIZE]);
    let mut wide = [O::IDENTITY; N];
    for (wide, lane) in wide.iter_mut().zip(lanes) {
        *wide = widen(lane);
    }
    if active == low_bits(N) { wide } else { select(active, &wide, &[O::IDENTITY; N]) }
}

/// norm:vredsum_vredmaxu_vredmax_vredminu_vredmin_vredand_vredor_vredxor_op
fn reduce<O: Fold<T>, T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    reduce_widened::<O, T, T>(hart, vi, |a| a)
}

/// norm:vwredsumu_op
fn vwredsumu<T: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec
where
    Vadd: Fold<R>,
{
    reduce_widened::<Vadd, T, R>(hart, vi, |a| R::from_u64(a.to_u64()))
}

/// norm:vwredsum_op
fn vwredsum<T: Element, R: Element>(hart: &mut Hart, vi: &VInst) -> Exec
where
    Vadd: Fold<R>,
{
    reduce_widened::<Vadd, T, R>(hart, vi, |a| R::from_u64(a.sext()))
}

#[inline(always)]
fn reduce_widened<O: Fold<R>, T: Element, R: Element>(
    hart: &mut Hart,
    vi: &VInst,
    widen: impl Fn(T) -> R,
) -> Exec {
    begin(hart, vi)?;
    let vl = vl(&hart.v, vi);
    if vl > 0 {
        let scalar = R::read(&hart.v.regs[vi.vs1 as usize..]);
        let result = O::apply(scalar, fold::<O, T, R>(&hart.v, vi, vl, widen));
        finish(hart, vi, result);
    }
    end(hart);
    Ok(())
}

/// A floating-point reduction in element order, from the scalar; of no active element, the scalar as it is.
#[inline(always)]
fn reduce_float<S: Float<Bits: Element>, D: Float<Bits: Element>>(
    hart: &mut Hart,
    vi: &VInst,
    step: impl Fn(D::Bits, S::Bits, RoundingMode, &mut Flags) -> D::Bits,
) -> Exec {
    let rm = rounding_mode(hart, vi)?;
    begin(hart, vi)?;
    let vl = vl(&hart.v, vi);
    if vl > 0 {
        let mut flags = hart.fflags;
        let size = S::WIDTH as usize / 8;
        let mut sum = D::Bits::read(&hart.v.regs[vi.vs1 as usize..]);
        let elements = &hart.v.regs[vi.vs2 as usize..][..vl * size];
        for (i, element) in elements.chunks_exact(size).enumerate() {
            if !vi.masked || super::body::mask_bit(&hart.v.regs, i) {
                sum = step(sum, S::Bits::read(element), rm, &mut flags);
            }
        }
        finish_float(hart, flags);
        finish(hart, vi, sum);
    }
    end(hart);
    Ok(())
}

/// norm:vfredosum_op, and norm:vfredusum_op in the same order.
fn vfredsum<F: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    reduce_float::<F, F>(hart, vi, F::add)
}

/// norm:vfredmin_vfredmax_op
fn vfredmin<F: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    reduce_float::<F, F>(hart, vi, |a, b, _, flags| F::min(a, b, flags))
}

/// norm:vfredmin_vfredmax_op
fn vfredmax<F: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    reduce_float::<F, F>(hart, vi, |a, b, _, flags| F::max(a, b, flags))
}

/// norm:vfwredosum_vfwredusum_op_reduction
fn vfwredsum<S: Float<Bits: Element>, D: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    reduce_float::<S, D>(hart, vi, |sum, a, rm, flags| {
        let wide = fp::convert::<S, D>(a, rm, flags);
        D::add(sum, wide, rm, flags)
    })
}

/// The rows of the chapter.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Entry> {
    let single = Shape::new(Eew::Element0, Eew::Sew, Eew::Element0);
    let wide = Shape::new(Eew::WideElement0, Eew::Sew, Eew::WideElement0);
    macro_rules! reduce {
        ($o:ty) => {
            Entry { shape: single, run: by_sew!(all sew, reduce::<$o, U>) }
        };
    }
    macro_rules! float {
        ($kernel:ident) => {
            Entry { shape: single.float(FloatOperands::Sew), run: by_float!(all sew, $kernel::<F>) }
        };
    }
    Some(match op {
        Op::VredsumVs => reduce!(Vadd),
        Op::VredmaxuVs => reduce!(Vmaxu),
        Op::VredmaxVs => reduce!(Vmax),
        Op::VredminuVs => reduce!(Vminu),
        Op::VredminVs => reduce!(Vmin),
        Op::VredandVs => reduce!(Vand),
        Op::VredorVs => reduce!(Vor),
        Op::VredxorVs => reduce!(Vxor),
        Op::VwredsumuVs => Entry { shape: wide, run: by_sew!(narrow sew, vwredsumu::<U, W>) },
        Op::VwredsumVs => Entry { shape: wide, run: by_sew!(narrow sew, vwredsum::<U, W>) },
        Op::VfredosumVs | Op::VfredusumVs => float!(vfredsum),
        Op::VfredminVs => float!(vfredmin),
        Op::VfredmaxVs => float!(vfredmax),
        Op::VfwredosumVs | Op::VfwredusumVs => {
            let shape = wide.float(FloatOperands::Both);
            Entry { shape, run: by_float!(narrow sew, vfwredsum::<F, G>) }
        }
        _ => return None,
    })
}
