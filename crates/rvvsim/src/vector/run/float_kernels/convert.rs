//! Conversions between formats, and between numbers and integers.

use super::operation::{finite, from_half, half_is_finite, safe, to_half};
use super::{Arith, unless};
use crate::vector::run::element::Element;
use crate::vector::run::host::Host;
use std::marker::PhantomData;

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
    fn lane<H: Host>(a: A, exact: bool) -> (R, bool);

    /// As [`Arith::block`].
    #[inline(always)]
    fn block<H: Host, const N: usize>(_host: H, a: &[A; N], exact: bool) -> Option<[R; N]> {
        let mut out = [R::ZERO; N];
        let mut wrong = [R::ZERO; N];
        if exact {
            for i in 0..N {
                let (value, ok) = Self::lane::<H>(a[i], true);
                out[i] = value;
                wrong[i] = unless(ok);
            }
        } else {
            for i in 0..N {
                let (value, ok) = Self::lane::<H>(a[i], false);
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
    fn lane<H: Host>(a: T, exact: bool) -> (T, bool) {
        O::lane::<H>(a, T::ZERO, T::ZERO, exact)
    }

    #[inline(always)]
    fn block<H: Host, const N: usize>(host: H, a: &[T; N], exact: bool) -> Option<[T; N]> {
        O::block::<H, N>(host, a, a, a, exact)
    }
}

/// An operation of one number, as a [`Convert`].
pub(in crate::vector) struct Unary<O>(PhantomData<O>);

/// To a wider format, always exact.
pub(in crate::vector) struct Widening;

impl Convert<u32, u64> for Widening {
    #[inline(always)]
    fn lane<H: Host>(a: u32, _exact: bool) -> (u64, bool) {
        let wide = f64::from(f32::from_bits(a));
        (wide.to_bits(), finite(wide))
    }
}

impl Convert<u16, u32> for Widening {
    #[inline(always)]
    fn lane<H: Host>(a: u16, _exact: bool) -> (u32, bool) {
        a.widen()
    }
}

/// To a narrower format.
pub(in crate::vector) struct Narrowing;

impl Convert<u64, u32> for Narrowing {
    #[inline(always)]
    fn lane<H: Host>(a: u64, exact: bool) -> (u32, bool) {
        let wide = f64::from_bits(a);
        let narrow = wide as f32;
        let fine = safe(narrow) | (wide == 0.0);
        (narrow.to_bits(), fine & (!exact || f64::from(narrow) == wide))
    }
}

impl Convert<u32, u16> for Narrowing {
    #[inline(always)]
    fn lane<H: Host>(a: u32, exact: bool) -> (u16, bool) {
        let (half, normal, whole) = to_half(f32::from_bits(a));
        // Infinities and NaNs are beyond the greatest half.
        (half, normal & (!exact || whole))
    }
}

/// How a number becomes an integer.
pub(in crate::vector) trait Rounding {
    /// The integer, where the host has an instruction for it.
    fn round<V: RoundToInteger>(x: V) -> V;
}

/// To nearest, ties to even.
pub(in crate::vector) struct Nearest;
/// Towards zero.
pub(in crate::vector) struct Truncated;

impl Rounding for Nearest {
    #[inline(always)]
    fn round<V: RoundToInteger>(x: V) -> V {
        x.nearest()
    }
}

impl Rounding for Truncated {
    #[inline(always)]
    fn round<V: RoundToInteger>(x: V) -> V {
        x.truncated()
    }
}

/// A number that the host can round.
pub(in crate::vector) trait RoundToInteger {
    fn nearest(self) -> Self;
    fn truncated(self) -> Self;
}

/// To a signed integer.
pub(in crate::vector) struct ToSigned<M>(PhantomData<M>);
/// To an unsigned integer.
pub(in crate::vector) struct ToUnsigned<M>(PhantomData<M>);
/// From an integer.
pub(in crate::vector) struct FromSigned;
/// From an unsigned integer.
pub(in crate::vector) struct FromUnsigned;

macro_rules! integers {
    ($($u:ty, $s:ty, $f:ty, $low:expr, $high:expr, $unsigned:expr, $exact_below:expr;)*) => {$(
        impl RoundToInteger for $f {
            #[inline(always)]
            fn nearest(self) -> $f {
                self.round_ties_even()
            }
            #[inline(always)]
            fn truncated(self) -> $f {
                self.trunc()
            }
        }

        impl<M: Rounding> Convert<$u, $u> for ToSigned<M> {
            #[inline(always)]
            fn lane<H: Host>(a: $u, exact: bool) -> ($u, bool) {
                let x = <$f>::from_bits(a);
                // Rounding is an instruction on a better host, and else a call.
                let r = if H::BETTER { M::round(x) } else { 0.0 };
                // These are powers of two and beyond, where all numbers are integers; a NaN is not between
                // them.
                let fine = H::BETTER & ($low..$high).contains(&x);
                (r as $s as $u, fine & (!exact || r == x))
            }
        }

        impl<M: Rounding> Convert<$u, $u> for ToUnsigned<M> {
            #[inline(always)]
            fn lane<H: Host>(a: $u, exact: bool) -> ($u, bool) {
                let x = <$f>::from_bits(a);
                let r = if H::BETTER { M::round(x) } else { 0.0 };
                let fine = H::BETTER & (0.0..$unsigned).contains(&x);
                (r as $u, fine & (!exact || r == x))
            }
        }

        impl Convert<$u, $u> for FromSigned {
            #[inline(always)]
            fn lane<H: Host>(a: $u, exact: bool) -> ($u, bool) {
                let small = (a as $s).unsigned_abs() <= $exact_below;
                ((a as $s as $f).to_bits(), !exact || small)
            }
        }

        impl Convert<$u, $u> for FromUnsigned {
            #[inline(always)]
            fn lane<H: Host>(a: $u, exact: bool) -> ($u, bool) {
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
    fn lane<H: Host>(a: u32, _exact: bool) -> (u64, bool) {
        (f64::from(a as i32).to_bits(), true)
    }
}

impl Convert<u32, u64> for FromUnsigned {
    #[inline(always)]
    fn lane<H: Host>(a: u32, _exact: bool) -> (u64, bool) {
        (f64::from(a).to_bits(), true)
    }
}
