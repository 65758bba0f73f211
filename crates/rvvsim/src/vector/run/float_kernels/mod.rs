//! Floating-point kernels on the host's FPU, many elements at a time.
//!
//! A block is computed to nearest even, and its results are taken if for every element of it two things can
//! be seen from operands and result: that no exception but inexact can have been raised, and, unless NX is
//! set already, that the result is exact. Else the block is left to
//! [`KernelSpec::slow`](crate::vector::run::kernel::KernelSpec::slow). So the kernels never raise a flag: the
//! first inexact result of a program is computed by the slow function, which sets NX.
//!
//! Why each test is enough is said where it is made; `fine` is about exceptions, `exact` about inexactness.
//! Tests may refuse too much, never too little. `kernel_tests` compares every kernel with its slow twin.

mod compare;
mod convert;
mod operation;

pub(in crate::vector) use compare::{
    Compare, Equal, Greater, GreaterOrEqual, Greatest, Least, Less, LessOrEqual, Unequal,
};
pub(in crate::vector) use convert::{
    FromSigned, FromUnsigned, Narrowing, Nearest, ToSigned, ToUnsigned, Truncated, Unary, Widening,
};
pub(in crate::vector) use operation::{Fused, Operation, Product, Quotient, Reversed, Root, Sum};

use crate::vector::run::element::Element;
use crate::vector::run::host::Host;
use crate::vector::run::host_float::Numbers;
#[cfg(target_arch = "x86_64")]
use crate::vector::run::host_float_avx;
use crate::vector::run::input::Inexact;
use crate::vector::run::kernel::{Kernel, Operands, Step};
use crate::vector::run::maps::{ALL, OUT_A, OUT_A_B, Pass};
use convert::{Convert, Widen};
use std::marker::PhantomData;

/// Bits of a number that the host's FPU can compute with.
pub(in crate::vector) trait Number: Element {
    /// The number.
    type F: Numbers<One = Self::F>;
    /// The number of these bits.
    fn number(self) -> Self::F;
    /// The bits of a number.
    fn bits(x: Self::F) -> Self;
    /// As [`Arith::block`].
    fn block<O: Operation, H: Host, const N: usize>(
        host: H,
        a: &[Self; N],
        b: &[Self; N],
        d: &[Self; N],
        exact: bool,
    ) -> Option<[Self; N]>;
}

macro_rules! number {
    ($($u:ty, $f:ty, $narrow:ident, $wide:ident;)*) => {$(
        impl Number for $u {
            type F = $f;

            #[inline(always)]
            fn number(self) -> $f {
                <$f>::from_bits(self)
            }
            #[inline(always)]
            fn bits(x: $f) -> $u {
                x.to_bits()
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "no proof is needed"))]
            fn block<O: Operation, H: Host, const N: usize>(
                host: H,
                a: &[$u; N],
                b: &[$u; N],
                d: &[$u; N],
                exact: bool,
            ) -> Option<[$u; N]> {
                #[cfg(target_arch = "x86_64")]
                if let Some(avx) = host.avx() {
                    if (N * size_of::<$u>()).is_multiple_of(32) {
                        return host_float_avx::block::<O, host_float_avx::$wide, $u, N>(avx, a, b, d, exact);
                    } else if (N * size_of::<$u>()).is_multiple_of(16) {
                        return host_float_avx::block::<O, host_float_avx::$narrow, $u, N>(avx, a, b, d, exact);
                    }
                }
                let mut out = [0; N];
                let mut all = true;
                for i in 0..N {
                    let (value, ok) = <O as Arith<$u>>::lane::<H>(a[i], b[i], d[i], exact);
                    out[i] = value;
                    all &= ok;
                }
                all.then_some(out)
            }
        }
    )*};
}

number! {
    u32, f32, F32x4, F32x8;
    u64, f64, F64x2, F64x4;
}

/// An operation on the bits of numbers.
pub(in crate::vector) trait Arith<T: Element> {
    /// Whether the signs of operands may have to be flipped first.
    const SIGNS: bool = false;

    /// The result, and whether it may be taken; `exact`: only if it is exact. A host that is no better has no
    /// fused multiply-add, and what would need one is refused.
    fn lane<H: Host>(a: T, b: T, d: T, exact: bool) -> (T, bool);

    /// The results of a block, if all of them may be taken.
    #[inline(always)]
    fn block<H: Host, const N: usize>(
        _host: H,
        a: &[T; N],
        b: &[T; N],
        d: &[T; N],
        exact: bool,
    ) -> Option<[T; N]> {
        let mut out = [T::ZERO; N];
        let mut wrong = [T::ZERO; N];
        // Two loops, so that what is asked only now and then costs nothing otherwise.
        if exact {
            for i in 0..N {
                let (value, ok) = Self::lane::<H>(a[i], b[i], d[i], true);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        } else {
            for i in 0..N {
                let (value, ok) = Self::lane::<H>(a[i], b[i], d[i], false);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        }
        (wrong.into_iter().fold(T::ZERO, |any, one| any | one) == T::ZERO).then_some(out)
    }
}

/// All ones, as a value of the element: for gathering what is wrong in operands.
#[inline(always)]
pub(super) fn unless<T: Element>(ok: bool) -> T {
    if ok { T::ZERO } else { T::BIT[0] }
}

#[inline(always)]
fn negated<T: Element, const N: usize>(mut operands: [T; N], sign: u64) -> [T; N] {
    for lane in &mut operands {
        *lane = *lane ^ T::from_u64(sign);
    }
    operands
}

macro_rules! float_kernel {
    ($(#[$doc:meta])* $name:ident<$o:ident: $op:path, $($t:ident: $bound:path),+> [$a:ty, $b:ty] -> $d:ty, steps $s:ty, uses $uses:ident,
     |$pass:ident, $first:ident, $n:ident, $host:ident: $h:ident| $body:block) => {
        $(#[$doc])*
        pub(in crate::vector) struct $name<$o, $($t),+>(PhantomData<($o, $($t),+)>);

        const _: () = {
            struct Taking<'a, $h, $o: $op, $($t: $bound),+>($h, Pass<'a, $name<$o, $($t),+>>);

            impl<$o: $op, $($t: $bound),+> Kernel for $name<$o, $($t),+> {
                type D = $d;
                type Input = Inexact;
                const SOURCES: [u8; 2] = [size_of::<$a>() as u8, size_of::<$b>() as u8];
                const USES: [bool; 4] = $uses;

                #[inline(always)]
                unsafe fn run<H: Host>(
                    host: H,
                    regs: *mut u8,
                    operands: &Operands,
                    count: usize,
                    input: Inexact,
                ) -> u64 {
                    // SAFETY: the caller's.
                    let pass = unsafe { Pass::new(regs, operands, count, input) };
                    let mut taking = Taking::<H, $o, $($t),+>(host, pass);
                    <$s>::steps::<_, H>(&mut taking, count) as u64
                }
            }

            impl<$h: Host, $o: $op, $($t: $bound),+> Step for Taking<'_, $h, $o, $($t),+> {
                #[inline(always)]
                fn step<const $n: usize>(&mut self, $first: usize) -> bool {
                    #[allow(unused_variables)]
                    let ($host, $pass) = (self.0, &mut self.1);
                    $body
                }
            }
        };
    };
}

float_kernel! {
    /// `out[i] = op(a[i], b[i], d[i])`. The answer is how many elements could be done.
    Float3<O: Arith<T>, T: Element> [T, T] -> T, steps T, uses ALL, |pass, first, N, host: H| {
        let [na, nb, nd] = pass.operands.negate;
        debug_assert!(O::SIGNS || [na, nb, nd] == [0; 3]);
        let (mut a, mut b, mut d) = (pass.a::<T, N>(first), pass.b::<T, N>(first), pass.d::<T, N>(first));
        if O::SIGNS {
            (a, b, d) = (negated(a, na), negated(b, nb), negated(d, nd));
        }
        put(pass, first, O::block::<H, N>(host, &a, &b, &d, pass.input.is_refused()))
    }
}

float_kernel! {
    /// `out[i] = op(a[i], b[i])`.
    Float2<O: Arith<T>, T: Element> [T, T] -> T, steps T, uses OUT_A_B, |pass, first, N, host: H| {
        let [na, nb, _] = pass.operands.negate;
        debug_assert!(O::SIGNS || [na, nb] == [0; 2]);
        let (mut a, mut b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        if O::SIGNS {
            (a, b) = (negated(a, na), negated(b, nb));
        }
        put(pass, first, O::block::<H, N>(host, &a, &b, &[T::ZERO; N], pass.input.is_refused()))
    }
}

float_kernel! {
    /// `out[i] = op(a[i])`, of another width perhaps.
    Float1<O: Convert<A, R>, A: Element, R: Element> [A, A] -> R, steps R, uses OUT_A, |pass, first, N, host: H| {
        let a = pass.a::<A, N>(first);
        put(pass, first, O::block::<H, N>(host, &a, pass.input.is_refused()))
    }
}

float_kernel! {
    /// `out[i] = op(a[i], b[i])` of numbers half as wide as the result, `a` if it is not as wide already.
    Wide2<O: Arith<R>, A: Widen<R>, B: Widen<R>, R: Number> [A, B] -> R, steps R, uses OUT_A_B, |pass, first, N, host: H| {
        let [na, nb, _] = pass.operands.negate;
        let a = negated(pass.a::<A, N>(first), na);
        let b = negated(pass.b::<B, N>(first), nb);
        take::<_, R, N>(pass, first, |i, exact| {
            let (x, y) = (a[i].widen(), b[i].widen());
            let (r, ok) = O::lane::<H>(x.0, y.0, R::ZERO, exact);
            (r, ok & x.1 & y.1)
        })
    }
}

float_kernel! {
    /// `out[i] = a[i] * b[i] + d[i]` of numbers half as wide as the result: their product is exact.
    WideFused<O: Arith<R>, A: Widen<R>, R: Number> [A, A] -> R, steps R, uses ALL, |pass, first, N, host: H| {
        let [na, nb, nd] = pass.operands.negate;
        let a = negated(pass.a::<A, N>(first), na);
        let b = negated(pass.b::<A, N>(first), nb);
        let d = negated(pass.d::<R, N>(first), nd);
        take::<_, R, N>(pass, first, |i, exact| {
            let (x, y) = (a[i].widen(), b[i].widen());
            let product = x.0.number().mul(y.0.number());
            let (r, ok) = O::lane::<H>(R::bits(product), d[i], R::ZERO, exact);
            (r, ok & x.1 & y.1)
        })
    }
}

/// Writes a block of results, if there is one.
#[inline(always)]
fn put<P: Kernel, R: Element, const N: usize>(
    pass: &mut Pass<'_, P>,
    first: usize,
    out: Option<[R; N]>,
) -> bool {
    if let Some(out) = &out {
        pass.write(first, out);
    }
    out.is_some()
}

/// Writes a block of results if all of them may be taken.
#[inline(always)]
fn take<P: Kernel<Input = Inexact>, R: Element, const N: usize>(
    pass: &mut Pass<'_, P>,
    first: usize,
    lane: impl Fn(usize, bool) -> (R, bool),
) -> bool {
    let mut out = [R::ZERO; N];
    let mut wrong = [R::ZERO; N];
    // Two loops, so that what is asked only now and then costs nothing otherwise.
    if !pass.input.is_refused() {
        for i in 0..N {
            let (value, ok) = lane(i, false);
            out[i] = value;
            wrong[i] = unless(ok);
        }
    } else {
        for i in 0..N {
            let (value, ok) = lane(i, true);
            out[i] = value;
            wrong[i] = unless(ok);
        }
    }
    if wrong.into_iter().fold(R::ZERO, |any, one| any | one) != R::ZERO {
        return false;
    }
    pass.write(first, &out);
    true
}

/// For operations that have no kernel: it can do nothing. What it uses is for their exact computation.
pub(in crate::vector) struct Nothing<A, R>(PhantomData<(A, R)>);

impl<A: Element, R: Element> Kernel for Nothing<A, R> {
    type D = R;
    type Input = Inexact;
    const SOURCES: [u8; 2] = [A::SIZE as u8, A::SIZE as u8];
    const USES: [bool; 4] = ALL;

    #[inline(always)]
    unsafe fn run<H: Host>(
        _host: H,
        _regs: *mut u8,
        _operands: &Operands,
        _count: usize,
        _input: Inexact,
    ) -> u64 {
        0
    }
}
