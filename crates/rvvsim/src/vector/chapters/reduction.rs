//! Vector reduction operations (manual, chapter "Vector Reduction Operations").
//!
//! The unordered floating-point sums add in element order, as the ordered ones do, which the manual allows;
//! or by a tree, if the configuration says so.

use crate::Hart;
use crate::config::UnorderedSum;
use crate::fp::{self, Flags, Float, RoundingMode};
use crate::trap::Exec;
use crate::vector::chapters::float::by_float;
use crate::vector::chapters::integer::{Vadd, Vand, Vmax, Vmaxu, Vmin, Vminu, Vor, Vsext, Vxor, Vzext};
use crate::vector::rules::policy::Policy;
use crate::vector::run::element::{Element, Op1, Op2, each_width};
use crate::vector::run::elements::{blank, body_bits, end, read_element, vl, write_element};
use crate::vector::run::float_elements::{finish_float, rounding_mode};
use crate::vector::run::host::Host;
use crate::vector::run::input::Accumulator;
use crate::vector::run::kernel::{Kernel, KernelSpec, Operands, PART_A, Step};
use crate::vector::run::maps::{self, Pass};
use crate::vector::{Form, Row, VInst, VectorState, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorReduction;
use std::marker::PhantomData;

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
    result.write(&mut hart.v.regs[vi.groups.vd as usize..]);
    hart.v.treat_tail(vi.policy.tail, vi.groups.vd as usize, T::SIZE, vi.groups.vd_bytes as usize, 1);
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

/// The answer is the fold of the accumulator and of the elements of `a`, each made an `R` first by `X`.
struct Folded<O, X, T, R>(PhantomData<(O, X, T, R)>);

impl<O: Fold<R>, X: Op1<T, R>, T: Element, R: Element> Kernel for Folded<O, X, T, R> {
    type D = R;
    type Input = Accumulator;
    const SOURCES: [u8; 2] = [size_of::<T>() as u8, size_of::<R>() as u8];
    const USES: [bool; 4] = maps::A;

    #[inline(always)]
    unsafe fn run<H: Host>(
        _host: H,
        regs: *mut u8,
        operands: &Operands,
        count: usize,
        input: Accumulator,
    ) -> u64 {
        // SAFETY: the caller's.
        let pass = unsafe { Pass::<Self>::new(regs, operands, count, input) };
        let mut folding = Folding { pass, sums: [O::IDENTITY; 16] };
        T::steps::<_, H>(&mut folding, count);
        let mut sums = folding.sums;
        sums[0] = O::apply(sums[0], R::from_u64(input.0));
        for width in [8, 4, 2, 1] {
            if width < 16 / T::SIZE {
                for i in 0..width {
                    sums[i] = O::apply(sums[i], sums[i + width]);
                }
            }
        }
        sums[0].to_u64()
    }
}

/// A fold under way: a sum for each element of 16 bytes, however many there are in a step, so that they stay
/// in registers.
struct Folding<'a, O: Fold<R>, X: Op1<T, R>, T: Element, R: Element> {
    pass: Pass<'a, Folded<O, X, T, R>>,
    sums: [R; 16],
}

impl<O: Fold<R>, X: Op1<T, R>, T: Element, R: Element> Step for Folding<'_, O, X, T, R> {
    #[inline(always)]
    fn step<const N: usize>(&mut self, first: usize) -> bool {
        let operands: [T; N] = self.pass.a(first);
        let width = 16 / T::SIZE;
        for part in 0..N / width {
            for i in 0..width {
                self.sums[i] = O::apply(self.sums[i], X::apply(operands[part * width + i]));
            }
        }
        true
    }
}

/// How to fold.
const fn folding<O: Fold<R>, X: Op1<T, R>, T: Element, R: Element>(identity: u64) -> KernelSpec {
    KernelSpec { identity, ..KernelSpec::of::<Folded<O, X, T, R>>() }
}

/// norm:vredsum_vredmaxu_vredmax_vredminu_vredmin_vredand_vredor_vredxor_op, norm:vwredsumu_op,
/// norm:vwredsum_op
pub(in crate::vector) fn reduce(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let v = &mut hart.v;
    let vl = vl(v, vi);
    if vl > 0 {
        let [sd, sa, _] = vi.spec.sizes.map(usize::from);
        let mut result = read_element(&v.regs[vi.groups.vs1 as usize..], sd);
        let mut first = 0;
        if !vi.policy.masked {
            first = vl & !((16 >> sa.trailing_zeros()) - 1);
            if first == vi.vlmax as usize {
                result = vi.kernel.run_with(&mut v.regs, Accumulator(result));
            } else if first != 0 {
                result = vi.kernel.run_part(&mut v.regs, vi.kernel.operands(), first, Accumulator(result));
            }
        }
        let chunk = 64 >> sa.trailing_zeros();
        let start = first;
        first &= !(chunk - 1);
        while first < vl {
            let mut active = body_bits(first, chunk, start, vl);
            if vi.policy.masked {
                active &= u64::read(&v.regs[first / 8..]);
            }
            if active != 0 {
                let (from, to) = (vi.groups.vs2 as usize + first * sa, 32 * v.vlenb + PART_A);
                let a = blank(&mut v.regs, from, to, sa, chunk, active, vi.spec.identity);
                let operands = Operands { a, ..*vi.kernel.operands() };
                let count = chunk.min(vl - first);
                result = vi.kernel.run_part(&mut v.regs, &operands, count, Accumulator(result));
            }
            first += chunk;
        }
        write_element(&mut v.regs[vi.groups.vd as usize..], sd, result);
        if vi.policy.tail != Policy::Undisturbed {
            v.treat_tail(vi.policy.tail, vi.groups.vd as usize, sd, vi.groups.vd_bytes as usize, 1);
        }
    }
    end(hart);
    Ok(())
}

/// The same of all elements, with no tail to treat.
#[inline(always)]
pub(in crate::vector) fn reduce_whole(v: &mut VectorState, vi: &VInst) {
    let size = usize::from(vi.spec.sizes[0]);
    let first = read_element(&v.regs[vi.groups.vs1 as usize..], size);
    let result = vi.kernel.run_with(&mut v.regs, Accumulator(first));
    write_element(&mut v.regs[vi.groups.vd as usize..], size, result);
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
        let mut sum = D::Bits::read(&hart.v.regs[vi.groups.vs1 as usize..]);
        let elements = &hart.v.regs[vi.groups.vs2 as usize..][..vl * size];
        for (i, element) in elements.chunks_exact(size).enumerate() {
            if !vi.policy.masked || crate::vector::run::elements::mask_bit(&hart.v.regs, i) {
                sum = step(sum, S::Bits::read(element), rm, &mut flags);
            }
        }
        finish_float(hart, flags);
        finish(hart, vi, sum);
    }
    end(hart);
    Ok(())
}

/// The same of an unordered sum by a tree: halves are added until one element is left, and the scalar to that.
/// A node of which one side has no active element is the other side.
fn reduce_by_tree<S: Float<Bits: Element>, D: Float<Bits: Element>>(
    hart: &mut Hart,
    vi: &VInst,
    widen: impl Fn(S::Bits, RoundingMode, &mut Flags) -> D::Bits,
) -> Exec {
    let rm = rounding_mode(hart, vi)?;
    begin(hart, vi)?;
    let vl = vl(&hart.v, vi);
    if vl > 0 {
        let mut flags = hart.fflags;
        let size = S::WIDTH as usize / 8;
        let elements = hart.v.regs[vi.groups.vs2 as usize..][..vl * size].chunks_exact(size).enumerate();
        let mut nodes: Vec<Option<D::Bits>> = elements
            .map(|(i, element)| {
                let active = !vi.policy.masked || crate::vector::run::elements::mask_bit(&hart.v.regs, i);
                active.then(|| widen(S::Bits::read(element), rm, &mut flags))
            })
            .collect();
        let mut add = |a: Option<D::Bits>, b: Option<D::Bits>| match (a, b) {
            (Some(a), Some(b)) => Some(D::add(a, b, rm, &mut flags)),
            (a, b) => a.or(b),
        };
        while nodes.len() > 1 {
            let half = nodes.len().div_ceil(2);
            for i in half..nodes.len() {
                nodes[i - half] = add(nodes[i - half], nodes[i]);
            }
            nodes.truncate(half);
        }
        let scalar = D::Bits::read(&hart.v.regs[vi.groups.vs1 as usize..]);
        let sum = add(Some(scalar), nodes[0]).unwrap_or(scalar);
        finish_float(hart, flags);
        finish(hart, vi, sum);
    }
    end(hart);
    Ok(())
}

/// norm:vfredusum_op
fn vfredusum<F: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    match hart.config.unordered_sum {
        UnorderedSum::InOrder => vfredsum::<F>(hart, vi),
        UnorderedSum::Tree => reduce_by_tree::<F, F>(hart, vi, |a, _, _| a),
    }
}

/// norm:vfwredosum_vfwredusum_op_reduction
fn vfwredusum<S: Float<Bits: Element>, D: Float<Bits: Element>>(hart: &mut Hart, vi: &VInst) -> Exec {
    match hart.config.unordered_sum {
        UnorderedSum::InOrder => vfwredsum::<S, D>(hart, vi),
        UnorderedSum::Tree => reduce_by_tree::<S, D>(hart, vi, fp::convert::<S, D>),
    }
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
pub(in crate::vector) fn row(op: VectorReduction, sew: Sew) -> Row {
    macro_rules! fold {
        ($o:ty) => {{
            macro_rules! by {
                ($t:ty) => {
                    const { &folding::<$o, Vzext, $t, $t>(<$o as Fold<$t>>::IDENTITY as u64) }
                };
            }
            let spec = match sew {
                Sew::E8 => by!(u8),
                Sew::E16 => by!(u16),
                Sew::E32 => by!(u32),
                Sew::E64 => by!(u64),
            };
            Row::new(Form::Reduce, Some(spec))
        }};
    }
    /// The sum of the elements, each widened by `$x` first.
    macro_rules! widening_sum {
        ($x:ty) => {{
            let spec = match sew {
                Sew::E8 => Some(const { &folding::<Vadd, $x, u8, u16>(0) }),
                Sew::E16 => Some(const { &folding::<Vadd, $x, u16, u32>(0) }),
                Sew::E32 => Some(const { &folding::<Vadd, $x, u32, u64>(0) }),
                Sew::E64 => None,
            };
            Row::new(Form::Reduce, spec)
        }};
    }
    rows! { op;
        vredsum.vs => fold!(Vadd);
        vredmaxu.vs => fold!(Vmaxu);
        vredmax.vs => fold!(Vmax);
        vredminu.vs => fold!(Vminu);
        vredmin.vs => fold!(Vmin);
        vredand.vs => fold!(Vand);
        vredor.vs => fold!(Vor);
        vredxor.vs => fold!(Vxor);
        vwredsumu.vs => widening_sum!(Vzext);
        vwredsum.vs => widening_sum!(Vsext);
        vfredosum.vs => Row::own(by_float!(all sew, vfredsum::<F>));
        vfredusum.vs => Row::own(by_float!(all sew, vfredusum::<F>));
        vfredmin.vs => Row::own(by_float!(all sew, vfredmin::<F>));
        vfredmax.vs => Row::own(by_float!(all sew, vfredmax::<F>));
        vfwredosum.vs => Row::own(by_float!(narrow sew, vfwredsum::<F, G>));
        vfwredusum.vs => Row::own(by_float!(narrow sew, vfwredusum::<F, G>));
    }
}
