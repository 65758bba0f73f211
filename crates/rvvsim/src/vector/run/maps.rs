//! KernelFns for the usual forms of operations: `a` is always of `vs2`, `b` of `vs1` or the scalar, `d` the
//! third operand.

use crate::vector::run::element::{Element, Op1, Op2, Op3};
use crate::vector::run::elements::{low_bits, select};
use crate::vector::run::host::Host;
use crate::vector::run::input::{FirstElement, MaskBits, TableSize, Vxrm};
#[cfg(debug_assertions)]
use crate::vector::run::kernel::ends;
use crate::vector::run::kernel::{Kernel, Operands, Step};
use std::marker::PhantomData;

/// The register file and what is to be done with it, while a kernel goes through the elements.
pub(in crate::vector) struct Pass<'a, K: Kernel> {
    regs: *mut u8,
    pub operands: &'a Operands,
    pub input: K::Input,
    /// What the elements done so far add up to: see [`KernelFn`](crate::vector::run::kernel::KernelFn).
    pub answer: u64,
    /// Where what the kernel was said to touch of `out`, `a`, `b` and `d` ends.
    #[cfg(debug_assertions)]
    ends: [usize; 4],
}

impl<'a, K: Kernel> Pass<'a, K> {
    /// # Safety
    /// That of a [`KernelFn`](crate::vector::run::kernel::KernelFn) of `K`, for the elements that the methods
    /// read and write. With debug assertions each of them is compared with what `K` says of itself, and
    /// [`BoundKernel`](crate::vector::run::kernel::BoundKernel) has compared that with the register file.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "for the assertions"))]
    pub unsafe fn new(regs: *mut u8, operands: &'a Operands, count: usize, input: K::Input) -> Self {
        Pass {
            regs,
            operands,
            input,
            answer: 0,
            #[cfg(debug_assertions)]
            ends: ends([size_of::<K::D>() as u8, K::SOURCES[0], K::SOURCES[1]], K::USES, operands, count),
        }
    }

    /// With debug assertions: that elements of the place number `which` end where they may.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "for the assertions"))]
    fn check(&self, which: usize, end: usize) {
        #[cfg(debug_assertions)]
        assert!(end <= self.ends[which], "place {which} of a kernel: {end} > {:?}", self.ends);
    }

    /// Elements at a place of the register file.
    #[inline(always)]
    fn read<T: Element, const N: usize>(&self, at: usize) -> [T; N] {
        let mut operands = [T::ZERO; N];
        // SAFETY: `new`'s caller says that the elements are there, and any bits are an element.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.regs.add(at),
                operands.as_mut_ptr().cast(),
                size_of_val(&operands),
            );
        }
        // (`map` of many operands goes through the stack, even if it does nothing.)
        if cfg!(target_endian = "little") { operands } else { operands.map(T::little_endian) }
    }

    #[inline(always)]
    pub fn a<T: Element, const N: usize>(&self, first: usize) -> [T; N] {
        self.check(1, self.operands.a + (first + N) * T::SIZE);
        self.read(self.operands.a + first * T::SIZE)
    }

    #[inline(always)]
    pub fn b<T: Element, const N: usize>(&self, first: usize) -> [T; N] {
        self.check(2, self.operands.b_at(first, T::SIZE) + N * T::SIZE);
        self.read(self.operands.b_at(first, T::SIZE))
    }

    #[inline(always)]
    pub fn d<T: Element, const N: usize>(&self, first: usize) -> [T; N] {
        self.check(3, self.operands.d + (first + N) * T::SIZE);
        self.read(self.operands.d + first * T::SIZE)
    }

    #[inline(always)]
    pub fn write<T: Element, const N: usize>(&mut self, first: usize, operands: &[T; N]) {
        self.check(0, self.operands.out + (first + N) * T::SIZE);
        let operands =
            if cfg!(target_endian = "little") { *operands } else { operands.map(T::little_endian) };
        // SAFETY: `new`'s caller says that there is place for them.
        unsafe {
            let to = self.regs.add(self.operands.out + first * T::SIZE);
            std::ptr::copy_nonoverlapping(operands.as_ptr().cast(), to, size_of_val(&operands));
        }
    }
}

impl<K: Kernel<Input = TableSize>> Pass<'_, K> {
    /// An element of `a`, which is a table of that size.
    #[inline(always)]
    pub fn table<T: Element>(&self, index: usize) -> T {
        debug_assert!((index as u64) < self.input.0);
        let [element] = self.read(self.operands.a + index * T::SIZE);
        element
    }
}

/// What a kernel uses of `out`, `a`, `b` and `d`.
pub(in crate::vector) const ALL: [bool; 4] = [true; 4];
const OUT: [bool; 4] = [true, false, false, false];
pub(in crate::vector) const OUT_A: [bool; 4] = [true, true, false, false];
pub(in crate::vector) const OUT_A_B: [bool; 4] = [true, true, true, false];
pub(in crate::vector) const A: [bool; 4] = [false, true, false, false];
const A_B: [bool; 4] = [false, true, true, false];

/// A kernel, and how it takes its steps.
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident<O: $op:path, $($t:ident),+> [$a:ty, $b:ty, $input:ty] -> $d:ty, uses $uses:ident,
     |$pass:ident, $first:ident, $n:ident| $body:block) => {
        $(#[$doc])*
        pub(in crate::vector) struct $name<O, $($t),+>(PhantomData<(O, $($t),+)>);

        impl<O: $op, $($t: Element),+> Kernel for $name<O, $($t),+> {
            type D = $d;
            type Input = $input;
            const SOURCES: [u8; 2] = [size_of::<$a>() as u8, size_of::<$b>() as u8];
            const USES: [bool; 4] = $uses;

            #[inline(always)]
            unsafe fn run<H: Host>(
                _host: H,
                regs: *mut u8,
                operands: &Operands,
                count: usize,
                input: $input,
            ) -> u64 {
                // SAFETY: the caller's.
                let mut pass = unsafe { Pass::<Self>::new(regs, operands, count, input) };
                <$d>::steps::<_, H>(&mut pass, count);
                pass.answer
            }
        }

        impl<O: $op, $($t: Element),+> Step for Pass<'_, $name<O, $($t),+>> {
            #[inline(always)]
            fn step<const $n: usize>(&mut self, $first: usize) -> bool {
                let $pass = self;
                $body
                true
            }
        }
    };
}

kernel! {
    /// `out[i] = op(a[i])`.
    Map1<O: Op1<A, R>, A, R> [A, A, FirstElement] -> R, uses OUT_A, |pass, first, N| {
        let a = pass.a::<A, N>(first);
        let mut out = [R::ZERO; N];
        for i in 0..N {
            out[i] = O::apply(a[i]);
        }
        pass.write(first, &out);
    }
}

kernel! {
    /// `out[i] = op(a[i], b[i])`.
    Map2<O: Op2<A, B, R>, A, B, R> [A, B, FirstElement] -> R, uses OUT_A_B, |pass, first, N| {
        let (a, b) = (pass.a::<A, N>(first), pass.b::<B, N>(first));
        let mut out = [R::ZERO; N];
        for i in 0..N {
            out[i] = O::apply(a[i], b[i]);
        }
        pass.write(first, &out);
    }
}

kernel! {
    /// `out[i] = op(a[i], b[i], d[i])`.
    Map3<O: Op3<A, A, R, R>, A, R> [A, A, FirstElement] -> R, uses ALL, |pass, first, N| {
        let (a, b, d) = (pass.a::<A, N>(first), pass.b::<A, N>(first), pass.d::<R, N>(first));
        let mut out = [R::ZERO; N];
        for i in 0..N {
            out[i] = O::apply(a[i], b[i], d[i]);
        }
        pass.write(first, &out);
    }
}

kernel! {
    /// `out[i] = op(a[i], b[i])`, rounded and saturated: see
    /// [`fixed_point`](crate::vector::chapters::fixed_point).
    Saturating<O: Op3<A, D, Vxrm, (D, D)>, A, D> [A, D, Vxrm] -> D, uses OUT_A_B, |pass, first, N| {
        let (a, b) = (pass.a::<A, N>(first), pass.b::<D, N>(first));
        let vxrm = pass.input;
        let mut out = [D::ZERO; N];
        let mut saturated = [D::ZERO; N];
        for i in 0..N {
            (out[i], saturated[i]) = O::apply(a[i], b[i], vxrm);
        }
        pass.answer |= u64::from(saturated.into_iter().fold(D::ZERO, |any, s| any | s) != D::ZERO);
        pass.write(first, &out);
    }
}

kernel! {
    /// Bit `i` of the answer is `op(a[i], b[i])`. No more than 64 elements at a time.
    Test2<O: Op2<T, T, bool>, T> [T, T, FirstElement] -> T, uses A_B, |pass, first, N| {
        let (a, b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        let mut out = [T::ZERO; N];
        for i in 0..N {
            out[i] = all_ones(O::apply(a[i], b[i]));
        }
        pass.answer |= sign_bits(&out) << first;
    }
}

kernel! {
    /// Bit `i` of the answer is `op(a[i], b[i], v0.mask[i])`.
    TestCarry<O: Op3<T, T, T, bool>, T> [T, T, MaskBits] -> T, uses A_B, |pass, first, N| {
        let (a, b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        let carry = select(pass.input.0 >> first, &[T::BIT[0]; N], &[T::ZERO; N]);
        let mut out = [T::ZERO; N];
        for i in 0..N {
            out[i] = all_ones(O::apply(a[i], b[i], carry[i]));
        }
        pass.answer |= sign_bits(&out) << first;
    }
}

kernel! {
    /// `out[i] = op(a[i], b[i], v0.mask[i])`.
    Carry<O: Op3<T, T, T, T>, T> [T, T, MaskBits] -> T, uses OUT_A_B, |pass, first, N| {
        let (a, b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        let carry = select(pass.input.0 >> first, &[T::BIT[0]; N], &[T::ZERO; N]);
        let mut out = [T::ZERO; N];
        for i in 0..N {
            out[i] = O::apply(a[i], b[i], carry[i]);
        }
        pass.write(first, &out);
    }
}

kernel! {
    /// `out[i] = v0.mask[i] ? b[i] : a[i]`. There is no operation.
    Choose<O: Any, T> [T, T, MaskBits] -> T, uses OUT_A_B, |pass, first, N| {
        let (a, b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        pass.write(first, &select(pass.input.0 >> first, &b, &a));
    }
}

kernel! {
    /// `out[i] = i`. There is no operation.
    Number<O: Any, T> [T, T, FirstElement] -> T, uses OUT, |pass, first, N| {
        let base = T::from_u64(pass.input.0.wrapping_add(first as u64)).to_u64();
        let mut out = [T::ZERO; N];
        for (i, lane) in out.iter_mut().enumerate() {
            *lane = T::from_u64(base.wrapping_add(i as u64));
        }
        pass.write(first, &out);
    }
}

kernel! {
    /// `out[i] = a[b[i]]`, or 0 if there is no such element. There is no operation.
    Gather<O: Any, T, I> [T, I, TableSize] -> T, uses OUT_A_B, |pass, first, N| {
        let indices = pass.b::<I, N>(first);
        let mut out = [T::ZERO; N];
        for (lane, index) in out.iter_mut().zip(indices) {
            let index = index.to_u64();
            if index < pass.input.0 {
                *lane = pass.table(index as usize);
            }
        }
        pass.write(first, &out);
    }
}

/// Stands for the operation of kernels that have none.
pub(in crate::vector) trait Any {}
impl Any for () {}

#[inline(always)]
pub(in crate::vector) fn all_ones<T: Element>(yes: bool) -> T {
    if yes { !T::ZERO } else { T::ZERO }
}

/// The highest bits of the operands.
#[inline(always)]
pub(in crate::vector) fn sign_bits<T: Element, const N: usize>(operands: &[T; N]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if (N * T::SIZE).is_multiple_of(16) {
        use std::arch::x86_64::{
            __m128i, _mm_castsi128_pd, _mm_castsi128_ps, _mm_loadu_si128, _mm_movemask_epi8, _mm_movemask_pd,
            _mm_movemask_ps, _mm_packs_epi16, _mm_setzero_si128,
        };
        let mut bits = 0;
        for i in 0..N * T::SIZE / 16 {
            // SAFETY: there are 16 bytes of operands at 16 * i, and every x86-64 host has SSE2.
            let some = unsafe {
                let block = _mm_loadu_si128(operands.as_ptr().cast::<__m128i>().add(i));
                match T::SIZE {
                    1 => _mm_movemask_epi8(block),
                    2 => _mm_movemask_epi8(_mm_packs_epi16(block, _mm_setzero_si128())),
                    4 => _mm_movemask_ps(_mm_castsi128_ps(block)),
                    _ => _mm_movemask_pd(_mm_castsi128_pd(block)),
                }
            };
            bits |= (some as u64) << (i * 16 / T::SIZE);
        }
        return bits;
    }
    let mut bits = 0;
    for (i, lane) in operands.iter().enumerate() {
        bits |= (lane.sext() >> 63) << i;
    }
    bits & low_bits(N)
}
