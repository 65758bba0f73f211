//! Elements: the unsigned integers that hold them, and operations on them written once for every width.

use crate::mem::Scalar;
use crate::vector::run::host::Host;
use crate::vector::run::kernel::{Step, big_steps, small_steps};
use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An element as bits: `u8` to `u64`.
pub trait Element:
    Scalar
    + Default
    + Eq
    + Ord
    + Debug
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// All bits zero.
    const ZERO: Self;
    /// The low bits of a byte of a mask register, spread so that each can be tested in another lane.
    const BIT: [Self; 8];

    /// From the first bytes of a slice that is long enough.
    fn read(bytes: &[u8]) -> Self;
    /// Into the first bytes of a slice that is long enough.
    fn write(self, bytes: &mut [u8]);
    /// Sign-extended.
    fn sext(self) -> u64;
    /// A byte of a mask register, zero-extended.
    fn from_mask_byte(byte: u8) -> Self;
    /// Takes steps through `count` elements of this width: on a better host 64 bytes at a time while there
    /// are as many, then 16.
    fn steps<S: Step, H: Host>(step: &mut S, count: usize) -> usize;
}

macro_rules! element {
    ($($u:ty, $s:ty;)*) => {$(
        impl Element for $u {
            const ZERO: Self = 0;
            const BIT: [Self; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut le = [0; size_of::<$u>()];
                le.copy_from_slice(&bytes[..size_of::<$u>()]);
                <$u>::from_le_bytes(le)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$u>()].copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn sext(self) -> u64 {
                self as $s as i64 as u64
            }

            #[inline(always)]
            fn from_mask_byte(byte: u8) -> Self {
                <$u>::from(byte)
            }

            #[inline(always)]
            fn steps<S: Step, H: Host>(step: &mut S, count: usize) -> usize {
                // One block, as a register of 128 bits is, without a loop.
                if count == 16 / size_of::<$u>() {
                    return if step.step::<{ 16 / size_of::<$u>() }>(0) { count } else { 0 };
                }
                let big = if H::BETTER { big_steps::<S, { 64 / size_of::<$u>() }>(step, count) } else { 0 };
                small_steps::<S, { 16 / size_of::<$u>() }>(step, big, count)
            }
        }
    )*};
}

element! { u8, i8; u16, i16; u32, i32; u64, i64; }

/// An operation of one element.
pub trait Op1<A, R> {
    /// The result for one element.
    fn apply(a: A) -> R;
}

/// An operation of two elements: `a` of `vs2`, `b` of `vs1` or the scalar.
pub trait Op2<A, B, R> {
    /// The result for one element.
    fn apply(a: A, b: B) -> R;
}

/// An operation of three elements.
pub trait Op3<A, B, C, R> {
    /// The result for one element.
    fn apply(a: A, b: B, c: C) -> R;
}

/// Repeats items for each element width, with names for the types: `U` and `S` are the element, unsigned and
/// signed, `W` and `Z` twice as wide, and `BITS` is SEW.
macro_rules! each_width {
    (all { $($body:tt)* }) => {
        $crate::vector::run::element::each_width! { @ u8, i8, u16, i16, { $($body)* } }
        $crate::vector::run::element::each_width! { @ u16, i16, u32, i32, { $($body)* } }
        $crate::vector::run::element::each_width! { @ u32, i32, u64, i64, { $($body)* } }
        $crate::vector::run::element::each_width! { @ u64, i64, u128, i128, { $($body)* } }
    };
    (narrow { $($body:tt)* }) => {
        $crate::vector::run::element::each_width! { @ u8, i8, u16, i16, { $($body)* } }
        $crate::vector::run::element::each_width! { @ u16, i16, u32, i32, { $($body)* } }
        $crate::vector::run::element::each_width! { @ u32, i32, u64, i64, { $($body)* } }
    };
    (@ $u:ty, $s:ty, $w:ty, $z:ty, { $($body:tt)* }) => {
        #[allow(dead_code, unused_parens, clippy::unnecessary_cast, clippy::cast_lossless)]
        const _: () = {
            type U = $u;
            type S = $s;
            type W = $w;
            type Z = $z;
            const BITS: u32 = U::BITS;
            $($body)*
        };
    };
}

/// Defines operations on elements, one line each, for `all` element widths or for the `narrow` ones that have
/// a wider one.
macro_rules! ops {
    ($widths:ident: $($(#[$doc:meta])* $name:ident($($arg:ident: $t:ty),+) -> $r:ty = $body:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        $crate::vector::run::element::each_width! { $widths {
            $crate::vector::run::element::op! { $name($($arg: $t),+) -> $r = $body }
        } }
    )*};
}

macro_rules! op {
    ($name:ident($a:ident: $ta:ty) -> $r:ty = $body:expr) => {
        impl $crate::vector::run::element::Op1<$ta, $r> for $name {
            #[inline(always)]
            fn apply($a: $ta) -> $r {
                $body
            }
        }
    };
    ($name:ident($a:ident: $ta:ty, $b:ident: $tb:ty) -> $r:ty = $body:expr) => {
        impl $crate::vector::run::element::Op2<$ta, $tb, $r> for $name {
            #[inline(always)]
            fn apply($a: $ta, $b: $tb) -> $r {
                $body
            }
        }
    };
    ($name:ident($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) -> $r:ty = $body:expr) => {
        impl $crate::vector::run::element::Op3<$ta, $tb, $tc, $r> for $name {
            #[inline(always)]
            fn apply($a: $ta, $b: $tb, $c: $tc) -> $r {
                $body
            }
        }
    };
}

/// The instance of a generic kernel for an element width: `U` and `W` are the element and the wider one.
/// Where there is no wider one, legality has refused the instruction already.
macro_rules! by_sew {
    (all $sew:expr, $($kernel:tt)*) => {{
        use rvv_isa::Sew;
        #[allow(dead_code)]
        match $sew {
            Sew::E8 => { type U = u8; type W = u16; $($kernel)* as $crate::vector::Run }
            Sew::E16 => { type U = u16; type W = u32; $($kernel)* as $crate::vector::Run }
            Sew::E32 => { type U = u32; type W = u64; $($kernel)* as $crate::vector::Run }
            Sew::E64 => { type U = u64; $($kernel)* as $crate::vector::Run }
        }
    }};
    (narrow $sew:expr, $($kernel:tt)*) => {{
        use rvv_isa::Sew;
        match $sew {
            Sew::E8 => { type U = u8; type W = u16; $($kernel)* as $crate::vector::Run }
            Sew::E16 => { type U = u16; type W = u32; $($kernel)* as $crate::vector::Run }
            Sew::E32 => { type U = u32; type W = u64; $($kernel)* as $crate::vector::Run }
            Sew::E64 => $crate::vector::reserved,
        }
    }};
}

/// As [`by_sew`], for a block: how its work is done.
macro_rules! kernel_by_sew {
    (all $sew:expr, $($block:tt)*) => {{
        use $crate::vector::run::kernel::KernelSpec;
        use rvv_isa::Sew;
        #[allow(dead_code)]
        Some(match $sew {
            Sew::E8 => { type U = u8; type W = u16; const { &KernelSpec::of::<$($block)*>() } }
            Sew::E16 => { type U = u16; type W = u32; const { &KernelSpec::of::<$($block)*>() } }
            Sew::E32 => { type U = u32; type W = u64; const { &KernelSpec::of::<$($block)*>() } }
            Sew::E64 => { type U = u64; const { &KernelSpec::of::<$($block)*>() } }
        })
    }};
    (narrow $sew:expr, $($block:tt)*) => {{
        use $crate::vector::run::kernel::KernelSpec;
        use rvv_isa::Sew;
        match $sew {
            Sew::E8 => { type U = u8; type W = u16; Some(const { &KernelSpec::of::<$($block)*>() }) }
            Sew::E16 => { type U = u16; type W = u32; Some(const { &KernelSpec::of::<$($block)*>() }) }
            Sew::E32 => { type U = u32; type W = u64; Some(const { &KernelSpec::of::<$($block)*>() }) }
            Sew::E64 => None,
        }
    }};
}

pub(crate) use {by_sew, each_width, kernel_by_sew, op, ops};
