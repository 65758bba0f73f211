//! Arithmetic: what is computed, when no exception but inexact can have been raised, and when the result is
//! exact.

use super::{Arith, Number};
use crate::vector::run::host::Host;
use crate::vector::run::host_float::Numbers;

/// An operation on numbers that the host's FPU can compute with, on one or on many side by side.
pub(in crate::vector) trait Operation {
    /// As [`Arith::SIGNS`].
    const SIGNS: bool;
    /// The result. A host that is no better has no fused multiply-add.
    fn result<V: Numbers, H: Host>(a: V, b: V, d: V) -> V;
    /// Whether no exception but inexact can have been raised.
    fn fine<V: Numbers, H: Host>(a: V, b: V, d: V, r: V) -> V::Mask;
    /// Whether it is exact, if it is fine.
    fn exact<V: Numbers, H: Host>(a: V, b: V, d: V, r: V) -> V::Mask;
}

impl<T: Number, O: Operation> Arith<T> for O {
    const SIGNS: bool = O::SIGNS;

    #[inline(always)]
    fn lane<H: Host>(a: T, b: T, d: T, exact: bool) -> (T, bool) {
        let (a, b, d) = (a.number(), b.number(), d.number());
        let r = O::result::<_, H>(a, b, d);
        let mut ok = O::fine::<_, H>(a, b, d, r);
        if exact {
            ok = ok & O::exact::<_, H>(a, b, d, r);
        }
        (T::bits(r), T::F::all(ok))
    }

    #[inline(always)]
    fn block<H: Host, const N: usize>(
        host: H,
        a: &[T; N],
        b: &[T; N],
        d: &[T; N],
        exact: bool,
    ) -> Option<[T; N]> {
        T::block::<O, H, N>(host, a, b, d, exact)
    }
}

/// Finite: an overflow, an infinite operand or a NaN among them gives what is not.
#[inline(always)]
pub(super) fn finite<V: Numbers>(x: V) -> V::Mask {
    x.abs().le(x.splat(V::MAX))
}

/// Out of reach of overflow and underflow. The least normal number is not: a tiny number may round to it.
#[inline(always)]
pub(super) fn safe<V: Numbers>(x: V) -> V::Mask {
    x.splat(V::MIN_NORMAL).lt(x.abs()) & finite(x)
}

#[inline(always)]
fn spacious<V: Numbers>(x: V) -> V::Mask {
    x.splat(V::SPACIOUS).le(x.abs())
}

#[inline(always)]
fn is_zero<V: Numbers>(x: V) -> V::Mask {
    x.eq(x.splat(V::NOTHING))
}

/// A sum to nearest that is finite is exact if and only if both differences give the operands back: see
/// [`fp::fast`](crate::fp).
#[inline(always)]
fn exact_sum<V: Numbers>(x: V, y: V, sum: V) -> V::Mask {
    sum.sub(x).eq(y) & sum.sub(y).eq(x)
}

/// Whether `x * y` is `product` and nothing is left, if there is space for it.
#[inline(always)]
fn exact_product<V: Numbers, H: Host>(x: V, y: V, product: V) -> V::Mask {
    if H::BETTER { is_zero(x.fused(y, product.neg())) } else { x.none() }
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
            fn result<V: Numbers, H: Host>($a: V, $b: V, $d: V) -> V {
                $value
            }
            #[inline(always)]
            fn fine<V: Numbers, H: Host>($a: V, $b: V, $d: V, $r: V) -> V::Mask {
                $fine
            }
            #[inline(always)]
            fn exact<V: Numbers, H: Host>($a: V, $b: V, $d: V, $r: V) -> V::Mask {
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
        exact: is_zero(r) | (spacious(r) & exact_product::<V, H>(a, b, r));
    /// A quotient. Zero divided by what is neither zero nor a NaN is zero, exactly.
    Quotient(a, b, _d; r = a.div(b))
        signs: false,
        fine: safe(r) | (is_zero(r) & is_zero(a)),
        exact: is_zero(r) | (spacious(a) & exact_product::<V, H>(r, b, a));
    /// A quotient, the other way round.
    Reversed(a, b, _d; r = b.div(a))
        signs: false,
        fine: safe(r) | (is_zero(r) & is_zero(b)),
        exact: is_zero(r) | (spacious(b) & exact_product::<V, H>(r, a, b));
    /// A square root: of a positive number, far from overflow and underflow; of zero, that zero. Others are
    /// NaNs or infinite.
    Root(a, _b, _d; r = a.sqrt())
        signs: false,
        fine: safe(r) | is_zero(a),
        exact: is_zero(a) | (spacious(a) & exact_product::<V, H>(r, r, a));
    /// A product and a sum. With a factor of zero the result is the addend, if it is finite, and exact. Else
    /// it is exact if the product is and the sum is.
    Fused(a, b, d; r = if H::BETTER { a.fused(b, d) } else { a.splat(V::NOTHING) })
        signs: true,
        fine: if H::BETTER { safe(r) | ((is_zero(a) | is_zero(b)) & finite(r)) } else { r.none() },
        exact: {
            let product = a.mul(b);
            let exact_product = spacious(product) & finite(product) & exact_product::<V, H>(a, b, product);
            (is_zero(a) | is_zero(b) | exact_product) & exact_sum(product, d, r)
        };
}

/// A finite half as a single, exactly.
#[inline(always)]
pub(super) fn from_half(bits: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16)
}

#[inline(always)]
pub(super) fn half_is_finite(bits: u16) -> bool {
    bits & 0x7fff < 0x7c00
}

/// A finite single as the nearest half, if that is a normal number or zero: the half, whether it may be
/// taken, and whether nothing was cut off. A number below the least normal one is refused, whatever it would
/// round to.
#[inline(always)]
pub(super) fn to_half(x: f32) -> (u16, bool, bool) {
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

/// Halves are computed in single precision and rounded again, which is rounding once: 24 bits are twice 11
/// and two more (Figueroa, "When is double rounding innocuous?", 1995). That is so where the half is normal,
/// and others are refused.
macro_rules! half {
    ($($name:ident($a:ident, $b:ident; $r:ident = $value:expr) exact: $exact:expr;)*) => {$(
        impl Arith<u16> for $name {
            const SIGNS: bool = <$name as Operation>::SIGNS;

            #[inline(always)]
            fn lane<H: Host>(a: u16, b: u16, _d: u16, exact: bool) -> (u16, bool) {
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
    // A quotient or root of 11 bits gives a product of 22, which is exact. Division by zero is infinite, or a
    // NaN.
    Quotient(x, y; r = x / y) exact: r * y == x;
    Reversed(x, y; r = y / x) exact: r * x == y;
    Root(x, _y; r = x.sqrt()) exact: r * r == x;
}

impl Arith<u16> for Fused {
    const SIGNS: bool = true;

    /// The product of halves is exact in single precision. The sum is taken in double precision and refused
    /// if it is not exact there: it is rounded once, then.
    #[inline(always)]
    fn lane<H: Host>(a: u16, b: u16, d: u16, exact: bool) -> (u16, bool) {
        let fine = half_is_finite(a) & half_is_finite(b) & half_is_finite(d);
        let (product, d) = (f64::from(from_half(a) * from_half(b)), f64::from(from_half(d)));
        let sum = product + d;
        let (half, normal, whole) = double_to_half(sum);
        (half, fine & normal & exact_sum(product, d, sum) & (!exact || whole))
    }
}
