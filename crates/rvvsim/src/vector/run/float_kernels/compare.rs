//! Minimum, maximum and comparisons, which need no arithmetic.

use super::{Arith, unless};
use crate::vector::run::element::Element;
use crate::vector::run::host::Host;
use crate::vector::run::input::Inexact;
use crate::vector::run::kernel::{Kernel, Operands, Step};
use crate::vector::run::maps::{OUT_A_B, Pass, all_ones, sign_bits};
use std::marker::PhantomData;

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
    fn lane<H: Host>(a: T, b: T, _d: T, _exact: bool) -> (T, bool) {
        (if a.key() <= b.key() { a } else { b }, numbers(a, b))
    }
}

impl<T: Ordered> Arith<T> for Greatest {
    #[inline(always)]
    fn lane<H: Host>(a: T, b: T, _d: T, _exact: bool) -> (T, bool) {
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

/// Compares up to 64 elements; eight bytes of `out` are the bits of the result. The answer is how many could
/// be done.
pub(in crate::vector) struct Compare<O, T>(PhantomData<(O, T)>);

impl<O: Relation, T: Ordered> Kernel for Compare<O, T> {
    type D = T;
    type Input = Inexact;
    const SOURCES: [u8; 2] = [T::SIZE as u8, T::SIZE as u8];
    const USES: [bool; 4] = OUT_A_B;

    #[inline(always)]
    unsafe fn run<H: Host>(
        _host: H,
        regs: *mut u8,
        operands: &Operands,
        count: usize,
        input: Inexact,
    ) -> u64 {
        struct Taking<'a, O: Relation, T: Ordered>(Pass<'a, Compare<O, T>>);
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
        let mut taking = Taking::<O, T>(unsafe { Pass::new(regs, operands, count, input) });
        let done = T::steps::<_, H>(&mut taking, count) as u64;
        // Sixteen elements are as many bytes at least.
        let bits = taking.0.answer;
        taking.0.write(0, &[bits]);
        done
    }
}
