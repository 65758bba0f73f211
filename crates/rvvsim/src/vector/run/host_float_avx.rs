//! Numbers in the host's vector registers. Left to itself the compiler makes of the same operations, written
//! for one number and repeated, several times as many instructions.
//!
//! `unsafe` is the use of AVX and FMA. A value of these types is made from an [`Avx`], the proof that the
//! host has them, or from another value. The plain twin is the same operation on one number, and
//! `kernel_tests` compares them.

use crate::vector::run::float_kernels::{Number, Operation};
use crate::vector::run::host::Avx;
use crate::vector::run::host_float::{Numbers, SPACIOUS_32, SPACIOUS_64};
use std::arch::x86_64::*;
use std::ops::{BitAnd, BitOr};

macro_rules! numbers {
    ($($name:ident, $register:ty, $one:ty, $spacious:expr, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
       $xor:ident, $andnot:ident, $sqrt:ident, $fused:ident, $cmp:ident, $and:ident, $or:ident, $bits:ident, $all:expr;)*) => {$(
        /// Numbers, or a mask of them. Where there is a value, the host has AVX and FMA.
        #[derive(Clone, Copy)]
        pub(in crate::vector) struct $name($register);

        impl BitAnd for $name {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, y: Self) -> Self {
                // SAFETY: there is a value.
                Self(unsafe { $and(self.0, y.0) })
            }
        }

        impl BitOr for $name {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, y: Self) -> Self {
                // SAFETY: there is a value.
                Self(unsafe { $or(self.0, y.0) })
            }
        }

        // SAFETY of each: there is a value.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Numbers for $name {
            type One = $one;
            type Mask = Self;
            const NOTHING: $one = 0.0;
            const MIN_NORMAL: $one = <$one>::MIN_POSITIVE;
            const MAX: $one = <$one>::MAX;
            const SPACIOUS: $one = $spacious;

            #[inline(always)]
            fn none(self) -> Self {
                Self(unsafe { $splat(0.0) })
            }
            #[inline(always)]
            fn splat(self, x: $one) -> Self {
                Self(unsafe { $splat(x) })
            }
            #[inline(always)]
            fn add(self, y: Self) -> Self {
                Self(unsafe { $add(self.0, y.0) })
            }
            #[inline(always)]
            fn sub(self, y: Self) -> Self {
                Self(unsafe { $sub(self.0, y.0) })
            }
            #[inline(always)]
            fn mul(self, y: Self) -> Self {
                Self(unsafe { $mul(self.0, y.0) })
            }
            #[inline(always)]
            fn div(self, y: Self) -> Self {
                Self(unsafe { $div(self.0, y.0) })
            }
            #[inline(always)]
            fn neg(self) -> Self {
                Self(unsafe { $xor(self.0, $splat(-0.0)) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(unsafe { $andnot($splat(-0.0), self.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn fused(self, y: Self, z: Self) -> Self {
                Self(unsafe { $fused(self.0, y.0, z.0) })
            }
            #[inline(always)]
            fn eq(self, y: Self) -> Self {
                Self(unsafe { $cmp::<_CMP_EQ_OQ>(self.0, y.0) })
            }
            #[inline(always)]
            fn lt(self, y: Self) -> Self {
                Self(unsafe { $cmp::<_CMP_LT_OQ>(self.0, y.0) })
            }
            #[inline(always)]
            fn le(self, y: Self) -> Self {
                Self(unsafe { $cmp::<_CMP_LE_OQ>(self.0, y.0) })
            }
            #[inline(always)]
            fn all(mask: Self) -> bool {
                unsafe { $bits(mask.0) == $all }
            }
        }

        impl Vector for $name {}
    )*};
}

/// The types of this file.
pub(in crate::vector) trait Vector: Numbers {}

numbers! {
    F32x4, __m128, f32, SPACIOUS_32, _mm_set1_ps, _mm_add_ps, _mm_sub_ps, _mm_mul_ps, _mm_div_ps, _mm_xor_ps,
        _mm_andnot_ps, _mm_sqrt_ps, _mm_fmadd_ps, _mm_cmp_ps, _mm_and_ps, _mm_or_ps, _mm_movemask_ps, 0b1111;
    F32x8, __m256, f32, SPACIOUS_32, _mm256_set1_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_xor_ps,
        _mm256_andnot_ps, _mm256_sqrt_ps, _mm256_fmadd_ps, _mm256_cmp_ps, _mm256_and_ps, _mm256_or_ps, _mm256_movemask_ps, 0b1111_1111;
    F64x2, __m128d, f64, SPACIOUS_64, _mm_set1_pd, _mm_add_pd, _mm_sub_pd, _mm_mul_pd, _mm_div_pd, _mm_xor_pd,
        _mm_andnot_pd, _mm_sqrt_pd, _mm_fmadd_pd, _mm_cmp_pd, _mm_and_pd, _mm_or_pd, _mm_movemask_pd, 0b11;
    F64x4, __m256d, f64, SPACIOUS_64, _mm256_set1_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_div_pd, _mm256_xor_pd,
        _mm256_andnot_pd, _mm256_sqrt_pd, _mm256_fmadd_pd, _mm256_cmp_pd, _mm256_and_pd, _mm256_or_pd, _mm256_movemask_pd, 0b1111;
}

/// The results of a block, if all of them may be taken. The block must be a whole number of `V`s.
/// Fast only where it is inlined into a function that is compiled for AVX2 and FMA.
#[inline(always)]
pub(in crate::vector) fn block<O: Operation, V: Vector, T: Number, const N: usize>(
    _host_has: Avx,
    a: &[T; N],
    b: &[T; N],
    d: &[T; N],
    exact: bool,
) -> Option<[T; N]> {
    let count = size_of::<[T; N]>() / size_of::<V>();
    assert!(count * size_of::<V>() == size_of::<[T; N]>() && count > 0);
    // SAFETY: there are as many `V`s in a block, bits of any kind are numbers, and the other way round. The
    // host has what values of `V` need.
    let read = |from: &[T; N], i: usize| unsafe { from.as_ptr().cast::<V>().add(i).read_unaligned() };
    let mut out = *a;
    let mut fine = None;
    for i in 0..count {
        let (a, b, d) = (read(a, i), read(b, i), read(d, i));
        let r = O::result::<V, Avx>(a, b, d);
        let mut ok = O::fine::<V, Avx>(a, b, d, r);
        if exact {
            ok = ok & O::exact::<V, Avx>(a, b, d, r);
        }
        fine = Some(fine.map_or(ok, |fine| fine & ok));
        // SAFETY: as above.
        unsafe { out.as_mut_ptr().cast::<V>().add(i).write_unaligned(r) };
    }
    fine.is_some_and(V::all).then_some(out)
}
