//! Floating-point kernels on the host's FPU, many elements at a time.
//!
//! A block is computed to nearest even, and its results are taken if for every element of it two things can be seen
//! from operands and result: that no exception but inexact can have been raised, and, unless NX is set already, that
//! the result is exact. Else the block is left to [`KernelSpec::slow`](crate::vector::run::kernel::KernelSpec::slow). So the kernels never raise
//! a flag: the first inexact result of a program goes the slow way, which sets NX, and from then on none need to.
//!
//! Why each test is enough is said where it is made; `fine` is about exceptions, `exact` about inexactness. Tests may
//! refuse too much, never too little. `kernel_tests` compares every kernel with its slow twin.

use crate::vector::run::element::Element;
use crate::vector::run::host_float::Numbers;
#[cfg(target_arch = "x86_64")]
use crate::vector::run::host_float_avx;
use crate::vector::run::kernel::{Block, Operands, Step};
use crate::vector::run::maps::{ALL, OUT_A, OUT_A_B, Pass, all_ones, sign_bits};
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
    fn block<O: Operation, const FMA: bool, const N: usize>(
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
            fn block<O: Operation, const FMA: bool, const N: usize>(
                a: &[$u; N],
                b: &[$u; N],
                d: &[$u; N],
                exact: bool,
            ) -> Option<[$u; N]> {
                #[cfg(target_arch = "x86_64")]
                if FMA && (N * size_of::<$u>()).is_multiple_of(32) {
                    // SAFETY: FMA says so, and on this host it is only said in kernels compiled for a better
                    // one.
                    return unsafe { host_float_avx::block::<O, host_float_avx::$wide, $u, N>(a, b, d, exact) };
                } else if FMA && (N * size_of::<$u>()).is_multiple_of(16) {
                    // SAFETY: as above.
                    return unsafe { host_float_avx::block::<O, host_float_avx::$narrow, $u, N>(a, b, d, exact) };
                }
                let mut out = [0; N];
                let mut all = true;
                for i in 0..N {
                    let (value, ok) = <O as Arith<$u>>::lane::<FMA>(a[i], b[i], d[i], exact);
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

    /// The result, and whether it may be taken; `exact`: only if it is exact. Without `FMA` the host has no fused
    /// multiply-add, and what would need one is refused.
    fn lane<const FMA: bool>(a: T, b: T, d: T, exact: bool) -> (T, bool);

    /// The results of a block, if all of them may be taken.
    #[inline(always)]
    fn block<const FMA: bool, const N: usize>(
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
                let (value, ok) = Self::lane::<FMA>(a[i], b[i], d[i], true);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        } else {
            for i in 0..N {
                let (value, ok) = Self::lane::<FMA>(a[i], b[i], d[i], false);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        }
        (wrong.into_iter().fold(T::ZERO, |any, one| any | one) == T::ZERO).then_some(out)
    }
}

/// An operation on numbers that the host's FPU can compute with, on one or on many side by side.
pub(in crate::vector) trait Operation {
    /// As [`Arith::SIGNS`].
    const SIGNS: bool;
    /// The result. Without `FMA` the host has no fused multiply-add.
    fn result<V: Numbers, const FMA: bool>(a: V, b: V, d: V) -> V;
    /// Whether no exception but inexact can have been raised.
    fn fine<V: Numbers, const FMA: bool>(a: V, b: V, d: V, r: V) -> V::Mask;
    /// Whether it is exact, if it is fine.
    fn exact<V: Numbers, const FMA: bool>(a: V, b: V, d: V, r: V) -> V::Mask;
}

impl<T: Number, O: Operation> Arith<T> for O {
    const SIGNS: bool = O::SIGNS;

    #[inline(always)]
    fn lane<const FMA: bool>(a: T, b: T, d: T, exact: bool) -> (T, bool) {
        let (a, b, d) = (a.number(), b.number(), d.number());
        let r = O::result::<_, FMA>(a, b, d);
        let mut ok = O::fine::<_, FMA>(a, b, d, r);
        if exact {
            ok = ok & O::exact::<_, FMA>(a, b, d, r);
        }
        (T::bits(r), T::F::all(ok))
    }

    #[inline(always)]
    fn block<const FMA: bool, const N: usize>(
        a: &[T; N],
        b: &[T; N],
        d: &[T; N],
        exact: bool,
    ) -> Option<[T; N]> {
        T::block::<O, FMA, N>(a, b, d, exact)
    }
}

/// Finite: an overflow, an infinite operand or a NaN among them gives what is not.
#[inline(always)]
fn finite<V: Numbers>(x: V) -> V::Mask {
    x.abs().le(V::all_of(V::MAX))
}

/// Out of reach of overflow and underflow. The least normal number is not: a tiny number may round to it.
#[inline(always)]
fn safe<V: Numbers>(x: V) -> V::Mask {
    V::all_of(V::MIN_NORMAL).lt(x.abs()) & finite(x)
}

#[inline(always)]
fn spacious<V: Numbers>(x: V) -> V::Mask {
    V::all_of(V::SPACIOUS).le(x.abs())
}

#[inline(always)]
fn is_zero<V: Numbers>(x: V) -> V::Mask {
    x.eq(V::all_of(V::NOTHING))
}

/// A sum to nearest that is finite is exact if and only if both differences give the operands back: see
/// [`fp::fast`](crate::fp).
#[inline(always)]
fn exact_sum<V: Numbers>(x: V, y: V, sum: V) -> V::Mask {
    sum.sub(x).eq(y) & sum.sub(y).eq(x)
}

/// Whether `x * y` is `product` and nothing is left, if there is space for it.
#[inline(always)]
fn exact_product<V: Numbers, const FMA: bool>(x: V, y: V, product: V) -> V::Mask {
    if FMA { is_zero(x.fused(y, product.neg())) } else { V::NO }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident, $d:ident; $r:ident = $value:expr) signs: $signs:literal,
       fine: $fine:expr, exact: $exact:expr;)*) => {$(
        $(#[$doc])*
        pub(in crate::vector) struct $name;

        #[allow(unused_variables)]
        impl Operation for $name {
            const SIGNS: bool = $signs;

            #[inline(always)]
            fn result<V: Numbers, const FMA: bool>($a: V, $b: V, $d: V) -> V {
                $value
            }
            #[inline(always)]
            fn fine<V: Numbers, const FMA: bool>($a: V, $b: V, $d: V, $r: V) -> V::Mask {
                $fine
            }
            #[inline(always)]
            fn exact<V: Numbers, const FMA: bool>($a: V, $b: V, $d: V, $r: V) -> V::Mask {
                $exact
            }
        }
    )*};
}

operations! {
    /// A sum. It never underflows inexactly: where it is subnormal, it is exact.
    Sum(a, b, _d; r = a.add(b))
        signs: true,
        fine: finite(r),
        exact: exact_sum(a, b, r);
    /// A product. Zero times a finite number is zero; times infinity it is a NaN.
    Product(a, b, _d; r = a.mul(b))
        signs: false,
        fine: safe(r) | (is_zero(r) & (is_zero(a) | is_zero(b))),
        exact: is_zero(r) | (spacious(r) & exact_product::<V, FMA>(a, b, r));
    /// A quotient. Zero divided by what is neither zero nor a NaN is zero, exactly.
    Quotient(a, b, _d; r = a.div(b))
        signs: false,
        fine: safe(r) | (is_zero(r) & is_zero(a)),
        exact: is_zero(r) | (spacious(a) & exact_product::<V, FMA>(r, b, a));
    /// A quotient, the other way round.
    Reversed(a, b, _d; r = b.div(a))
        signs: false,
        fine: safe(r) | (is_zero(r) & is_zero(b)),
        exact: is_zero(r) | (spacious(b) & exact_product::<V, FMA>(r, a, b));
    /// A square root: of a positive number, far from overflow and underflow; of zero, that zero. Others are NaNs or
    /// infinite.
    Root(a, _b, _d; r = a.sqrt())
        signs: false,
        fine: safe(r) | is_zero(a),
        exact: is_zero(a) | (spacious(a) & exact_product::<V, FMA>(r, r, a));
    /// A product and a sum. With a factor of zero the result is the addend, if it is finite, and exact. Else it is
    /// exact if the product is and the sum is.
    Fused(a, b, d; r = if FMA { a.fused(b, d) } else { V::all_of(V::NOTHING) })
        signs: true,
        fine: if FMA { safe(r) | ((is_zero(a) | is_zero(b)) & finite(r)) } else { V::NO },
        exact: {
            let product = a.mul(b);
            let exact_product = spacious(product) & finite(product) & exact_product::<V, FMA>(a, b, product);
            (is_zero(a) | is_zero(b) | exact_product) & exact_sum(product, d, r)
        };
}

/// A finite half as a single, exactly.
#[inline(always)]
fn from_half(bits: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16)
}

#[inline(always)]
fn half_is_finite(bits: u16) -> bool {
    bits & 0x7fff < 0x7c00
}

/// A finite single as the nearest half, if that is a normal number or zero: the half, whether it may be taken, and
/// whether nothing was cut off. A number below the least normal one is refused, whatever it would round to.
#[inline(always)]
fn to_half(x: f32) -> (u16, bool, bool) {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    let bits = x.to_bits() & 0x7fff_ffff;
    let rounded = (bits.wrapping_add(0xfff + (bits >> 13 & 1)) >> 13).wrapping_sub(112 << 10);
    // Below the normal numbers the subtraction goes below 1 << 10, or wraps around.
    let normal = (bits >= (127 - 14) << 23) & (rounded < 0x7c00);
    let magnitude = if bits == 0 { 0 } else { rounded as u16 };
    (magnitude | sign, normal | (bits == 0), bits & 0x1fff == 0)
}

/// The same of a double.
#[inline(always)]
fn double_to_half(x: f64) -> (u16, bool, bool) {
    let sign = (x.to_bits() >> 48) as u16 & 0x8000;
    let bits = x.to_bits() & (!0 >> 1);
    let rounded = (bits.wrapping_add((1 << 41) - 1 + (bits >> 42 & 1)) >> 42).wrapping_sub(1008 << 10);
    let normal = (bits >= (1023 - 14) << 52) & (rounded < 0x7c00);
    let magnitude = if bits == 0 { 0 } else { rounded as u16 };
    (magnitude | sign, normal | (bits == 0), bits & ((1 << 42) - 1) == 0)
}

/// Halves are computed in single precision and rounded again, which is rounding once: 24 bits are twice 11 and two
/// more (Figueroa, "When is double rounding innocuous?", 1995). That is so where the half is normal, and others are
/// refused.
macro_rules! half {
    ($($name:ident($a:ident, $b:ident; $r:ident = $value:expr) exact: $exact:expr;)*) => {$(
        impl Arith<u16> for $name {
            const SIGNS: bool = <$name as Operation>::SIGNS;

            #[inline(always)]
            fn lane<const FMA: bool>(a: u16, b: u16, _d: u16, exact: bool) -> (u16, bool) {
                let fine = half_is_finite(a) & half_is_finite(b);
                #[allow(unused_variables)]
                let ($a, $b) = (from_half(a), from_half(b));
                let $r = $value;
                let (half, normal, whole) = to_half($r);
                (half, fine & normal & (!exact || (whole & $exact)))
            }
        }
    )*};
}

half! {
    Sum(x, y; r = x + y) exact: (r - x == y) & (r - y == x);
    // 22 bits: exact.
    Product(x, y; r = x * y) exact: true;
    // A quotient or root of 11 bits gives a product of 22, which is exact. Division by zero is infinite, or a NaN.
    Quotient(x, y; r = x / y) exact: r * y == x;
    Reversed(x, y; r = y / x) exact: r * x == y;
    Root(x, _y; r = x.sqrt()) exact: r * r == x;
}

impl Arith<u16> for Fused {
    const SIGNS: bool = true;

    /// The product of halves is exact in single precision. The sum is taken in double precision and refused if it is
    /// not exact there: it is rounded once, then.
    #[inline(always)]
    fn lane<const FMA: bool>(a: u16, b: u16, d: u16, exact: bool) -> (u16, bool) {
        let fine = half_is_finite(a) & half_is_finite(b) & half_is_finite(d);
        let (product, d) = (f64::from(from_half(a) * from_half(b)), f64::from(from_half(d)));
        let sum = product + d;
        let (half, normal, whole) = double_to_half(sum);
        (half, fine & normal & exact_sum(product, d, sum) & (!exact || whole))
    }
}

/// All ones, as a value of the element: for gathering what is wrong in operands.
#[inline(always)]
fn unless<T: Element>(ok: bool) -> T {
    if ok { T::ZERO } else { T::BIT[0] }
}

#[inline(always)]
fn negated<T: Element, const N: usize>(mut operands: [T; N], sign: u64) -> [T; N] {
    for lane in &mut operands {
        *lane = *lane ^ T::from_u64(sign);
    }
    operands
}

macro_rules! block {
    ($(#[$doc:meta])* $name:ident<$o:ident: $op:path, $($t:ident: $bound:path),+> [$a:ty, $b:ty] -> $d:ty, steps $s:ty, uses $uses:ident,
     |$pass:ident, $first:ident, $n:ident, $fma:ident| $body:block) => {
        $(#[$doc])*
        pub(in crate::vector) struct $name<$o, $($t),+>(PhantomData<($o, $($t),+)>);

        const _: () = {
            struct Taking<'a, $o, $($t),+, const $fma: bool>(Pass<'a, ($o, $($t),+)>);

            impl<$o: $op, $($t: $bound),+> Block for $name<$o, $($t),+> {
                type D = $d;
                const SOURCES: [u8; 2] = [size_of::<$a>() as u8, size_of::<$b>() as u8];
                const USES: [bool; 4] = $uses;

                #[inline(always)]
                unsafe fn run<const FMA: bool>(regs: *mut u8, operands: &Operands, count: usize, mode: u64) -> u64 {
                    // SAFETY: the caller's.
                    let pass = unsafe { Pass::new::<Self>(regs, operands, count, mode) };
                    let mut taking = Taking::<$o, $($t),+, FMA>(pass);
                    <$s>::steps::<_, FMA>(&mut taking, count) as u64
                }
            }

            impl<$o: $op, $($t: $bound),+, const $fma: bool> Step for Taking<'_, $o, $($t),+, $fma> {
                #[inline(always)]
                fn step<const $n: usize>(&mut self, $first: usize) -> bool {
                    let $pass = &mut self.0;
                    $body
                }
            }
        };
    };
}

block! {
    /// `out[i] = op(a[i], b[i], d[i])`. The answer is how many elements could be done.
    Float3<O: Arith<T>, T: Element> [T, T] -> T, steps T, uses ALL, |pass, first, N, FMA| {
        let [na, nb, nd] = pass.operands.negate;
        debug_assert!(O::SIGNS || [na, nb, nd] == [0; 3]);
        let (mut a, mut b, mut d) = (pass.a::<T, N>(first), pass.b::<T, N>(first), pass.d::<T, N>(first));
        if O::SIGNS {
            (a, b, d) = (negated(a, na), negated(b, nb), negated(d, nd));
        }
        put(pass, first, O::block::<FMA, N>(&a, &b, &d, pass.mode != 0))
    }
}

block! {
    /// `out[i] = op(a[i], b[i])`.
    Float2<O: Arith<T>, T: Element> [T, T] -> T, steps T, uses OUT_A_B, |pass, first, N, FMA| {
        let [na, nb, _] = pass.operands.negate;
        debug_assert!(O::SIGNS || [na, nb] == [0; 2]);
        let (mut a, mut b) = (pass.a::<T, N>(first), pass.b::<T, N>(first));
        if O::SIGNS {
            (a, b) = (negated(a, na), negated(b, nb));
        }
        put(pass, first, O::block::<FMA, N>(&a, &b, &[T::ZERO; N], pass.mode != 0))
    }
}

block! {
    /// `out[i] = op(a[i])`, of another width perhaps.
    Float1<O: Convert<A, R>, A: Element, R: Element> [A, A] -> R, steps R, uses OUT_A, |pass, first, N, FMA| {
        let a = pass.a::<A, N>(first);
        put(pass, first, O::block::<FMA, N>(&a, pass.mode != 0))
    }
}

block! {
    /// `out[i] = op(a[i], b[i])` of numbers half as wide as the result, `a` if it is not as wide already.
    Wide2<O: Arith<R>, A: Widen<R>, B: Widen<R>, R: Number> [A, B] -> R, steps R, uses OUT_A_B, |pass, first, N, FMA| {
        let [na, nb, _] = pass.operands.negate;
        let a = negated(pass.a::<A, N>(first), na);
        let b = negated(pass.b::<B, N>(first), nb);
        take::<_, R, N>(pass, first, |i, exact| {
            let (x, y) = (a[i].widen(), b[i].widen());
            let (r, ok) = O::lane::<FMA>(x.0, y.0, R::ZERO, exact);
            (r, ok & x.1 & y.1)
        })
    }
}

block! {
    /// `out[i] = a[i] * b[i] + d[i]` of numbers half as wide as the result: their product is exact.
    WideFused<O: Arith<R>, A: Widen<R>, R: Number> [A, A] -> R, steps R, uses ALL, |pass, first, N, FMA| {
        let [na, nb, nd] = pass.operands.negate;
        let a = negated(pass.a::<A, N>(first), na);
        let b = negated(pass.b::<A, N>(first), nb);
        let d = negated(pass.d::<R, N>(first), nd);
        take::<_, R, N>(pass, first, |i, exact| {
            let (x, y) = (a[i].widen(), b[i].widen());
            let product = x.0.number().mul(y.0.number());
            let (r, ok) = O::lane::<FMA>(R::bits(product), d[i], R::ZERO, exact);
            (r, ok & x.1 & y.1)
        })
    }
}

/// Writes a block of results, if there is one.
#[inline(always)]
fn put<P, R: Element, const N: usize>(pass: &mut Pass<'_, P>, first: usize, out: Option<[R; N]>) -> bool {
    if let Some(out) = &out {
        pass.write(first, out);
    }
    out.is_some()
}

/// Writes a block of results if all of them may be taken.
#[inline(always)]
fn take<P, R: Element, const N: usize>(
    pass: &mut Pass<'_, P>,
    first: usize,
    lane: impl Fn(usize, bool) -> (R, bool),
) -> bool {
    let mut out = [R::ZERO; N];
    let mut wrong = [R::ZERO; N];
    // Two loops, so that what is asked only now and then costs nothing otherwise.
    if pass.mode == 0 {
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

/// Bits of a number that becomes a wider one.
pub(in crate::vector) trait Widen<R>: Element {
    /// The number, and whether it was finite.
    fn widen(self) -> (R, bool);
}

impl Widen<u64> for u64 {
    #[inline(always)]
    fn widen(self) -> (u64, bool) {
        (self, true)
    }
}

impl Widen<u32> for u32 {
    #[inline(always)]
    fn widen(self) -> (u32, bool) {
        (self, true)
    }
}

impl Widen<u64> for u32 {
    #[inline(always)]
    fn widen(self) -> (u64, bool) {
        // A NaN or an infinity stays one, and shows in the result; a signaling NaN, too.
        (f64::from(f32::from_bits(self)).to_bits(), true)
    }
}

impl Widen<u32> for u16 {
    #[inline(always)]
    fn widen(self) -> (u32, bool) {
        (from_half(self).to_bits(), half_is_finite(self))
    }
}

/// A conversion from bits to bits.
pub(in crate::vector) trait Convert<A: Element, R: Element> {
    /// As [`Arith::lane`].
    fn lane<const FMA: bool>(a: A, exact: bool) -> (R, bool);

    /// As [`Arith::block`].
    #[inline(always)]
    fn block<const FMA: bool, const N: usize>(a: &[A; N], exact: bool) -> Option<[R; N]> {
        let mut out = [R::ZERO; N];
        let mut wrong = [R::ZERO; N];
        if exact {
            for i in 0..N {
                let (value, ok) = Self::lane::<FMA>(a[i], true);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        } else {
            for i in 0..N {
                let (value, ok) = Self::lane::<FMA>(a[i], false);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        }
        (wrong.into_iter().fold(R::ZERO, |any, one| any | one) == R::ZERO).then_some(out)
    }
}

/// An operation that has nothing to do with widths.
impl<T, O: Arith<T>> Convert<T, T> for Unary<O>
where
    T: Element,
{
    #[inline(always)]
    fn lane<const FMA: bool>(a: T, exact: bool) -> (T, bool) {
        O::lane::<FMA>(a, T::ZERO, T::ZERO, exact)
    }

    #[inline(always)]
    fn block<const FMA: bool, const N: usize>(a: &[T; N], exact: bool) -> Option<[T; N]> {
        O::block::<FMA, N>(a, a, a, exact)
    }
}

/// An operation of one number, as a [`Convert`].
pub(in crate::vector) struct Unary<O>(PhantomData<O>);

/// To a wider format, always exact.
pub(in crate::vector) struct Widening;

impl Convert<u32, u64> for Widening {
    #[inline(always)]
    fn lane<const FMA: bool>(a: u32, _exact: bool) -> (u64, bool) {
        let wide = f64::from(f32::from_bits(a));
        (wide.to_bits(), finite(wide))
    }
}

impl Convert<u16, u32> for Widening {
    #[inline(always)]
    fn lane<const FMA: bool>(a: u16, _exact: bool) -> (u32, bool) {
        a.widen()
    }
}

/// To a narrower format.
pub(in crate::vector) struct Narrowing;

impl Convert<u64, u32> for Narrowing {
    #[inline(always)]
    fn lane<const FMA: bool>(a: u64, exact: bool) -> (u32, bool) {
        let wide = f64::from_bits(a);
        let narrow = wide as f32;
        let fine = safe(narrow) | (wide == 0.0);
        (narrow.to_bits(), fine & (!exact || f64::from(narrow) == wide))
    }
}

impl Convert<u32, u16> for Narrowing {
    #[inline(always)]
    fn lane<const FMA: bool>(a: u32, exact: bool) -> (u16, bool) {
        let (half, normal, whole) = to_half(f32::from_bits(a));
        // Infinities and NaNs are beyond the greatest half.
        (half, normal & (!exact || whole))
    }
}

/// To an integer: `MODE` 0 to nearest even, 1 truncated.
pub(in crate::vector) struct ToSigned<const MODE: u8>;
/// The same, unsigned.
pub(in crate::vector) struct ToUnsigned<const MODE: u8>;
/// From an integer.
pub(in crate::vector) struct FromSigned;
/// From an unsigned integer.
pub(in crate::vector) struct FromUnsigned;

macro_rules! integers {
    ($($u:ty, $s:ty, $f:ty, $low:expr, $high:expr, $unsigned:expr, $exact_below:expr;)*) => {$(
        impl<const MODE: u8> Convert<$u, $u> for ToSigned<MODE> {
            #[inline(always)]
            fn lane<const FMA: bool>(a: $u, exact: bool) -> ($u, bool) {
                let x = <$f>::from_bits(a);
                // Rounding is an instruction where FMA is, and else a call.
                let r = if MODE == 0 && FMA { x.round_ties_even() } else if FMA { x.trunc() } else { 0.0 };
                // These are powers of two and beyond, where all numbers are integers; a NaN is not between them.
                let fine = FMA & ($low..$high).contains(&x);
                (r as $s as $u, fine & (!exact || r == x))
            }
        }

        impl<const MODE: u8> Convert<$u, $u> for ToUnsigned<MODE> {
            #[inline(always)]
            fn lane<const FMA: bool>(a: $u, exact: bool) -> ($u, bool) {
                let x = <$f>::from_bits(a);
                let r = if MODE == 0 && FMA { x.round_ties_even() } else if FMA { x.trunc() } else { 0.0 };
                let fine = FMA & (0.0..$unsigned).contains(&x);
                (r as $u, fine & (!exact || r == x))
            }
        }

        impl Convert<$u, $u> for FromSigned {
            #[inline(always)]
            fn lane<const FMA: bool>(a: $u, exact: bool) -> ($u, bool) {
                let small = (a as $s).unsigned_abs() <= $exact_below;
                ((a as $s as $f).to_bits(), !exact || small)
            }
        }

        impl Convert<$u, $u> for FromUnsigned {
            #[inline(always)]
            fn lane<const FMA: bool>(a: $u, exact: bool) -> ($u, bool) {
                ((a as $f).to_bits(), !exact || a <= $exact_below)
            }
        }
    )*};
}

integers! {
    u32, i32, f32, -2_147_483_648.0, 2_147_483_648.0, 4_294_967_296.0, 1 << 24;
    u64, i64, f64, -9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0, 18_446_744_073_709_551_616.0, 1 << 53;
}

impl Convert<u32, u64> for FromSigned {
    /// Every 32-bit integer is a double.
    #[inline(always)]
    fn lane<const FMA: bool>(a: u32, _exact: bool) -> (u64, bool) {
        (f64::from(a as i32).to_bits(), true)
    }
}

impl Convert<u32, u64> for FromUnsigned {
    #[inline(always)]
    fn lane<const FMA: bool>(a: u32, _exact: bool) -> (u64, bool) {
        (f64::from(a).to_bits(), true)
    }
}

/// Numbers in the order of integers: −0 comes right before +0. Not for NaNs.
macro_rules! ordered {
    ($($u:ty, $s:ty, $infinity:expr;)*) => {$(
        impl Ordered for $u {
            type Key = $s;
            #[inline(always)]
            fn key(self) -> $s {
                self as $s ^ ((self as $s >> (<$u>::BITS - 1)) as $u >> 1) as $s
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self & (<$u>::MAX >> 1) > $infinity
            }
        }
    )*};
}

/// Bits of a number, for what needs no arithmetic.
pub(in crate::vector) trait Ordered: Element {
    /// What to order it by.
    type Key: Ord;
    /// What to order it by.
    fn key(self) -> Self::Key;
    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
}

ordered! {
    u16, i16, 0x7c00;
    u32, i32, 0x7f80_0000;
    u64, i64, 0x7ff0_0000_0000_0000;
}

#[inline(always)]
fn numbers<T: Ordered>(a: T, b: T) -> bool {
    !(a.is_nan() | b.is_nan())
}

/// The lesser. Without NaNs there are no exceptions.
pub(in crate::vector) struct Least;
/// The greater.
pub(in crate::vector) struct Greatest;

impl<T: Ordered> Arith<T> for Least {
    #[inline(always)]
    fn lane<const FMA: bool>(a: T, b: T, _d: T, _exact: bool) -> (T, bool) {
        (if a.key() <= b.key() { a } else { b }, numbers(a, b))
    }
}

impl<T: Ordered> Arith<T> for Greatest {
    #[inline(always)]
    fn lane<const FMA: bool>(a: T, b: T, _d: T, _exact: bool) -> (T, bool) {
        (if a.key() >= b.key() { a } else { b }, numbers(a, b))
    }
}

/// A comparison of numbers that are not NaNs.
pub(in crate::vector) trait Relation {
    /// Whether it holds.
    fn holds<T: Ordered>(a: T, b: T) -> bool;
}

macro_rules! relations {
    ($($name:ident($a:ident, $b:ident, $zeroes:ident) = $body:expr;)*) => {$(
        /// A comparison; `zeroes`: both are zero, of whatever sign, and so equal.
        pub(in crate::vector) struct $name;
        impl Relation for $name {
            #[inline(always)]
            fn holds<T: Ordered>(a: T, b: T) -> bool {
                let magnitude = (a | b) & !T::from_u64(1 << (8 * T::SIZE - 1));
                let $zeroes = magnitude == T::ZERO;
                let ($a, $b) = (a.key(), b.key());
                $body
            }
        }
    )*};
}

relations! {
    Equal(a, b, zeroes) = (a == b) | zeroes;
    Unequal(a, b, zeroes) = (a != b) & !zeroes;
    Less(a, b, zeroes) = (a < b) & !zeroes;
    LessOrEqual(a, b, zeroes) = (a <= b) | zeroes;
    Greater(a, b, zeroes) = (a > b) & !zeroes;
    GreaterOrEqual(a, b, zeroes) = (a >= b) | zeroes;
}

/// Compares up to 64 elements; eight bytes of `out` are the bits of the result. The answer is how many could be done.
pub(in crate::vector) struct Compare<O, T>(PhantomData<(O, T)>);

impl<O: Relation, T: Ordered> Block for Compare<O, T> {
    type D = T;
    const SOURCES: [u8; 2] = [T::SIZE as u8, T::SIZE as u8];
    const USES: [bool; 4] = OUT_A_B;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(regs: *mut u8, operands: &Operands, count: usize, mode: u64) -> u64 {
        struct Taking<'a, O, T>(Pass<'a, (O, T)>);
        impl<O: Relation, T: Ordered> Step for Taking<'_, O, T> {
            #[inline(always)]
            fn step<const N: usize>(&mut self, first: usize) -> bool {
                let (a, b) = (self.0.a::<T, N>(first), self.0.b::<T, N>(first));
                let mut out = [T::ZERO; N];
                let mut wrong = [T::ZERO; N];
                for i in 0..N {
                    out[i] = all_ones(O::holds(a[i], b[i]));
                    wrong[i] = unless(numbers(a[i], b[i]));
                }
                if wrong.into_iter().fold(T::ZERO, |any, one| any | one) != T::ZERO {
                    return false;
                }
                self.0.answer |= sign_bits(&out) << first;
                true
            }
        }
        // SAFETY: the caller's.
        let mut taking = Taking::<O, T>(unsafe { Pass::new::<Self>(regs, operands, count, mode) });
        let done = T::steps::<_, FMA>(&mut taking, count) as u64;
        // Sixteen elements are as many bytes at least.
        let bits = taking.0.answer;
        taking.0.write(0, &[bits]);
        done
    }
}

/// For operations that have no kernel: it can do nothing. What it uses is for their exact computation.
pub(in crate::vector) struct Nothing<A, R>(PhantomData<(A, R)>);

impl<A: Element, R: Element> Block for Nothing<A, R> {
    type D = R;
    const SOURCES: [u8; 2] = [A::SIZE as u8, A::SIZE as u8];
    const USES: [bool; 4] = ALL;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(_regs: *mut u8, _operands: &Operands, _count: usize, _mode: u64) -> u64 {
        0
    }
}
