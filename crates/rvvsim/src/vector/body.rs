//! The machinery that instructions share: which elements are prestart, body and tail, which of the body are
//! active, and how results reach the active ones (manual, section "Prestart, Active, Inactive, Body, and Tail
//! Element Definitions").
//!
//! Kernels see a few elements at a time, as arrays: the loops over them have constant length, which the
//! compiler turns into SIMD. All operands of such a block are read before any result is written, and blocks go
//! upwards, so that every overlap of operands the manual allows comes out as if done element by element.

use super::element::Element;
use super::policy::Policy;
use super::{VInst, VectorState};
use crate::Hart;
use crate::mem::Scalar;
use crate::trap::{Exec, Trap};
use std::marker::PhantomData;

/// Bytes after the last register, so that a block may be read past the end of a group.
pub(super) const SLACK: usize = 512;

/// Where an operand's elements come from.
pub trait Source: Copy {
    /// The element.
    type T: Element;
    /// The elements `first..first + N`. Those past the group are of no meaning.
    fn lanes<const N: usize>(self, regs: &[u8], first: usize) -> [Self::T; N];
}

/// A vector register group.
pub struct Group<T> {
    at: usize,
    element: PhantomData<T>,
}

impl<T> Group<T> {
    /// The group whose first byte is at `at` of the register file.
    #[inline(always)]
    pub fn new(at: u32) -> Self {
        Group { at: at as usize, element: PhantomData }
    }
}

impl<T> Clone for Group<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Group<T> {}

impl<T: Element> Source for Group<T> {
    type T = T;

    #[inline(always)]
    fn lanes<const N: usize>(self, regs: &[u8], first: usize) -> [T; N] {
        read_lanes(&regs[self.at + first * T::SIZE..][..N * T::SIZE])
    }
}

/// A scalar, for every element.
#[derive(Clone, Copy)]
pub struct Splat<T>(pub T);

impl<T: Element> Source for Splat<T> {
    type T = T;

    #[inline(always)]
    fn lanes<const N: usize>(self, _regs: &[u8], _first: usize) -> [T; N] {
        [self.0; N]
    }
}

/// `v0.mask[i]` as 0 or 1: a carry or borrow in.
#[derive(Clone, Copy)]
pub struct Carry<T>(pub PhantomData<T>);

impl<T: Element> Source for Carry<T> {
    type T = T;

    #[inline(always)]
    fn lanes<const N: usize>(self, regs: &[u8], first: usize) -> [T; N] {
        select(mask_bits::<N>(regs, first), &[T::BIT[0]; N], &[T::ZERO; N])
    }
}

/// Each element's index.
#[derive(Clone, Copy)]
pub struct Index<T>(pub PhantomData<T>);

impl<T: Element> Source for Index<T> {
    type T = T;

    #[inline(always)]
    fn lanes<const N: usize>(self, _regs: &[u8], first: usize) -> [T; N] {
        let mut lanes = [T::ZERO; N];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = T::from_u64((first + i) as u64);
        }
        lanes
    }
}

/// What an instruction computes, some elements at a time.
pub trait Kernel {
    /// The element of the result.
    type D: Element;
    /// Whether several elements at once are faster than one at a time.
    const SIMD: bool = true;
    /// The elements `first..first + N` of the result. Only those of the bits of `active` count, and only for
    /// those may there be side effects.
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [Self::D; N];
}

/// A kernel without side effects: it may compute inactive elements, which are then thrown away.
pub struct Map<S, F>(pub S, pub F);

/// A kernel with side effects: it computes the active elements only.
pub struct Each<S, F>(pub S, pub F);

/// Kernels of one, two and three operands, given as a tuple of sources.
macro_rules! kernels {
    ($(($($s:ident $lanes:ident),+);)*) => {$(
        impl<$($s: Source,)+ D: Element, F: Fn($($s::T),+) -> D> Kernel for Map<($($s,)+), F> {
            type D = D;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn block<const N: usize>(&mut self, regs: &[u8], first: usize, _active: u64) -> [D; N] {
                let ($($s,)+) = self.0;
                $(let $lanes = $s.lanes::<N>(regs, first);)+
                let mut result = [D::ZERO; N];
                for i in 0..N {
                    result[i] = (self.1)($($lanes[i]),+);
                }
                result
            }
        }

        impl<$($s: Source,)+ D: Element, F: FnMut($($s::T),+) -> D> Kernel for Each<($($s,)+), F> {
            type D = D;
            const SIMD: bool = false;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [D; N] {
                let ($($s,)+) = self.0;
                $(let $lanes = $s.lanes::<N>(regs, first);)+
                let mut result = [D::ZERO; N];
                for i in 0..N {
                    if active >> i & 1 != 0 {
                        result[i] = (self.1)($($lanes[i]),+);
                    }
                }
                result
            }
        }
    )*};
}

kernels! {
    (A a);
    (A a, B b);
    (A a, B b, C c);
}

/// What an instruction with a mask result computes, some elements at a time.
pub trait Test {
    /// The element of the widest operand.
    type T: Element;
    /// Whether several elements at once are faster than one at a time.
    const SIMD: bool = true;
    /// Bit `i` is the result for element `first + i`; see [`Kernel::block`].
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> u64;
}

macro_rules! tests {
    ($(($s0:ident $lanes0:ident $(, $s:ident $lanes:ident)*);)*) => {$(
        impl<$s0: Source, $($s: Source,)* F: Fn($s0::T $(, $s::T)*) -> bool> Test for Map<($s0, $($s,)*), F> {
            type T = $s0::T;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn block<const N: usize>(&mut self, regs: &[u8], first: usize, _active: u64) -> u64 {
                let ($s0, $($s,)*) = self.0;
                let $lanes0 = $s0.lanes::<N>(regs, first);
                $(let $lanes = $s.lanes::<N>(regs, first);)*
                let mut result = [0; N];
                for i in 0..N {
                    result[i] = u8::from((self.1)($lanes0[i] $(, $lanes[i])*));
                }
                pack(&result)
            }
        }

        impl<$s0: Source, $($s: Source,)* F: FnMut($s0::T $(, $s::T)*) -> bool> Test for Each<($s0, $($s,)*), F> {
            type T = $s0::T;
            const SIMD: bool = false;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> u64 {
                let ($s0, $($s,)*) = self.0;
                let $lanes0 = $s0.lanes::<N>(regs, first);
                $(let $lanes = $s.lanes::<N>(regs, first);)*
                let mut result = 0;
                for i in 0..N {
                    if active >> i & 1 != 0 {
                        result |= u64::from((self.1)($lanes0[i] $(, $lanes[i])*)) << i;
                    }
                }
                result
            }
        }
    )*};
}

tests! {
    (A a, B b);
    (A a, B b, C c);
}

/// Reads consecutive elements.
#[inline(always)]
pub(super) fn read_lanes<T: Element, const N: usize>(bytes: &[u8]) -> [T; N] {
    let mut lanes = [T::ZERO; N];
    for (lane, bytes) in lanes.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
        *lane = T::read(bytes);
    }
    lanes
}

/// Writes consecutive elements.
#[inline(always)]
pub(super) fn write_lanes<T: Element, const N: usize>(bytes: &mut [u8], lanes: &[T; N]) {
    for (lane, bytes) in lanes.iter().zip(bytes.chunks_exact_mut(T::SIZE)) {
        lane.write(bytes);
    }
}

/// For each element, `yes` where the bit is set and `no` where it is not.
#[inline(always)]
pub(super) fn select<T: Element, const N: usize>(bits: u64, yes: &[T; N], no: &[T; N]) -> [T; N] {
    let mut result = *no;
    // Eight at a time, so that the bit of a lane fits even a byte.
    let mut base = 0;
    while base < N {
        let byte = T::from_mask_byte((bits >> base) as u8);
        let mut i = 0;
        while i < 8 && base + i < N {
            result[base + i] = if byte & T::BIT[i] != T::ZERO { yes[base + i] } else { no[base + i] };
            i += 1;
        }
        base += 8;
    }
    result
}

/// The low bits of the lanes, which are 0 or 1, as a mask.
#[inline(always)]
fn pack<const N: usize>(lanes: &[u8; N]) -> u64 {
    let mut bits = 0;
    if N.is_multiple_of(8) {
        for (i, eight) in lanes.chunks_exact(8).enumerate() {
            // The multiplication gathers the eight low bits in the top byte.
            let word = u64::read(eight).wrapping_mul(0x0102_0408_1020_4080);
            bits |= (word >> 56) << (8 * i);
        }
    } else {
        for (i, &lane) in lanes.iter().enumerate() {
            bits |= u64::from(lane) << i;
        }
    }
    bits
}

/// The bits `0..n`.
#[inline(always)]
pub(super) fn low_bits(n: usize) -> u64 {
    if n >= 64 { !0 } else { !(!0 << n) }
}

/// The bits of elements `first..first + n` that are in the body.
#[inline(always)]
fn body_bits(first: usize, n: usize, vstart: usize, vl: usize) -> u64 {
    low_bits(n.min(vl - first)) & !low_bits(vstart.saturating_sub(first))
}

/// `v0.mask[i]`.
#[inline(always)]
pub(super) fn mask_bit(regs: &[u8], i: usize) -> bool {
    regs[i / 8] >> (i % 8) & 1 != 0
}

/// `v0.mask[first..first + N]`; `first` is a multiple of `N`, which is a power of two.
#[inline(always)]
pub(super) fn mask_bits<const N: usize>(regs: &[u8], first: usize) -> u64 {
    register_bits::<N>(regs, 0, first)
}

/// As [`mask_bits`], of the mask register at `at`.
#[inline(always)]
pub(super) fn register_bits<const N: usize>(regs: &[u8], at: usize, first: usize) -> u64 {
    let from = at + first / 8;
    if N > 32 {
        u64::read(&regs[from..])
    } else if N > 8 {
        u64::from(u32::read(&regs[from..])) & low_bits(N)
    } else {
        u64::from(regs[from] >> (first % 8)) & low_bits(N)
    }
}

/// What is reserved about `vstart` whatever the instruction does.
///
/// # Errors
/// An illegal instruction.
#[inline(always)]
pub(super) fn begin(hart: &Hart, vi: &VInst) -> Exec {
    if hart.v.vstart >= u64::from(vi.vlmax) && hart.v.vstart != 0 { past_vlmax(hart, vi) } else { Ok(()) }
}

#[cold]
fn past_vlmax(hart: &Hart, vi: &VInst) -> Exec {
    if hart.config.lenient {
        return Ok(());
    }
    let why = "norm:vstart_val_rsv: vstart is greater than the largest element index for the current vtype";
    Err(Trap::illegal(vi.inst.raw, why))
}

/// An instruction completes: `vstart` becomes 0.
#[inline(always)]
pub(super) fn end(hart: &mut Hart) {
    if hart.v.vstart != 0 {
        hart.v.vstart = 0;
        log_csr(hart, rvv_isa::csr::VSTART, 0);
    }
    hart.vs_dirty = true;
}

/// The body and prestart elements: `vl`, and never more than a group holds, whatever a guest or a debugger made
/// of the register.
#[inline(always)]
pub(super) fn vl(v: &VectorState, vi: &VInst) -> usize {
    v.vl.min(u64::from(vi.vlmax)) as usize
}

/// Notes a CSR that an instruction wrote on the side.
pub(super) fn log_csr(hart: &mut Hart, number: u16, value: u64) {
    if let Some(log) = &mut hart.log {
        log.csr(number, value);
    }
}

/// Runs an instruction whose result is a vector register group: results to the active elements, the policies
/// to the others.
#[inline(always)]
pub(super) fn write_group<K: Kernel>(v: &mut VectorState, vi: &VInst, kernel: &mut K) {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return;
    }
    match K::D::SIZE {
        1 => write_body::<K, 64, 16>(v, vi, kernel, vstart, vl),
        2 => write_body::<K, 32, 8>(v, vi, kernel, vstart, vl),
        4 => write_body::<K, 16, 4>(v, vi, kernel, vstart, vl),
        _ => write_body::<K, 8, 2>(v, vi, kernel, vstart, vl),
    }
    treat_rest(v, vi, K::D::SIZE, vstart, vl);
}

/// The policies, after the body `vstart..vl` of a group is written.
#[inline(always)]
pub(super) fn treat_rest(v: &mut VectorState, vi: &VInst, size: usize, vstart: usize, vl: usize) {
    if vi.masked && vi.inactive != Policy::Undisturbed {
        v.treat_inactive(vi.inactive, vi.vd as usize, size, vstart..vl);
    }
    if vi.tail != Policy::Undisturbed {
        v.treat_tail(vi.tail, vi.vd as usize, size, vi.group as usize, vl);
    }
}

#[inline(always)]
fn write_body<K: Kernel, const BIG: usize, const SMALL: usize>(
    v: &mut VectorState,
    vi: &VInst,
    kernel: &mut K,
    vstart: usize,
    vl: usize,
) {
    if !K::SIMD {
        for i in vstart..vl {
            if !vi.masked || mask_bit(&v.regs, i) {
                write_block::<K, 1>(&mut v.regs, vi, kernel, i);
            }
        }
        return;
    }
    let mut first = vstart - vstart % SMALL;
    if vstart == 0 && !vi.masked {
        while first + BIG <= vl {
            write_block::<K, BIG>(&mut v.regs, vi, kernel, first);
            first += BIG;
        }
    }
    while first < vl {
        let mut active = body_bits(first, SMALL, vstart, vl);
        if vi.masked {
            active &= mask_bits::<SMALL>(&v.regs, first);
        }
        if active == low_bits(SMALL) {
            write_block::<K, SMALL>(&mut v.regs, vi, kernel, first);
        } else if active != 0 {
            write_active::<K, SMALL>(&mut v.regs, vi, kernel, first, active);
        }
        first += SMALL;
    }
}

/// A block of active elements.
#[inline(always)]
fn write_block<K: Kernel, const N: usize>(regs: &mut [u8], vi: &VInst, kernel: &mut K, first: usize) {
    let new = kernel.block::<N>(regs, first, low_bits(N));
    write_lanes(&mut regs[vi.vd as usize + first * K::D::SIZE..][..N * K::D::SIZE], &new);
}

/// A block of which some elements are active.
#[inline(always)]
fn write_active<K: Kernel, const N: usize>(
    regs: &mut [u8],
    vi: &VInst,
    kernel: &mut K,
    first: usize,
    active: u64,
) {
    let new = kernel.block::<N>(regs, first, active);
    let to = &mut regs[vi.vd as usize + first * K::D::SIZE..][..N * K::D::SIZE];
    let old = read_lanes(to);
    write_lanes(to, &select(active, &new, &old));
}

/// Runs an instruction whose result is a mask register.
#[inline(always)]
pub(super) fn write_mask<K: Test>(v: &mut VectorState, vi: &VInst, test: &mut K) {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return;
    }
    match K::T::SIZE {
        1 => write_mask_body::<K, 64, 16>(v, vi, test, vstart, vl),
        2 => write_mask_body::<K, 32, 8>(v, vi, test, vstart, vl),
        4 => write_mask_body::<K, 16, 4>(v, vi, test, vstart, vl),
        _ => write_mask_body::<K, 8, 2>(v, vi, test, vstart, vl),
    }
    v.treat_mask_tail(vi.tail, vi.vd as usize, vl);
}

#[inline(always)]
fn write_mask_body<K: Test, const BIG: usize, const SMALL: usize>(
    v: &mut VectorState,
    vi: &VInst,
    test: &mut K,
    vstart: usize,
    vl: usize,
) {
    // A word of the result at a time: vd may be v0, or the first register of a source.
    let mut word = vstart - vstart % 64;
    while word < vl {
        let body = body_bits(word, 64, vstart, vl);
        let active = if vi.masked { body & mask_bits::<64>(&v.regs, word) } else { body };
        let count = (vl - word).min(64);
        let mut bits = 0;
        let mut i = 0;
        while !K::SIMD && i < count {
            bits |= test.block::<1>(&v.regs, word + i, active >> i & 1) << i;
            i += 1;
        }
        while i + BIG <= count {
            bits |= test.block::<BIG>(&v.regs, word + i, active >> i & low_bits(BIG)) << i;
            i += BIG;
        }
        while i < count {
            bits |= test.block::<SMALL>(&v.regs, word + i, active >> i & low_bits(SMALL)) << i;
            i += SMALL;
        }
        write_mask_word(v, vi, word, bits, active, body & !active);
        word += 64;
    }
}

/// Writes 64 elements of a mask register from `first`: `bits` where `active`, and the policy where `inactive`.
#[inline(always)]
pub(super) fn write_mask_word(
    v: &mut VectorState,
    vi: &VInst,
    first: usize,
    bits: u64,
    active: u64,
    inactive: u64,
) {
    let at = vi.vd as usize + first / 8;
    let mut ones = 0;
    if inactive != 0 {
        ones = match vi.inactive {
            Policy::Undisturbed => 0,
            Policy::Ones | Policy::OnesToRegister => inactive,
            Policy::Random => {
                let coins = &mut v.mask_coins;
                (0..64).filter(|i| inactive >> i & 1 != 0 && coins.toss()).fold(0, |b, i| b | 1 << i)
            }
        };
    }
    let old = u64::read(&v.regs[at..]);
    (old & !active | bits & active | ones).write(&mut v.regs[at..]);
}

/// A whole instruction with a vector register group as its result.
///
/// # Errors
/// An illegal instruction if `vstart` is reserved.
#[inline(always)]
pub(super) fn run_group<K: Kernel>(hart: &mut Hart, vi: &VInst, mut kernel: K) -> Exec {
    begin(hart, vi)?;
    write_group(&mut hart.v, vi, &mut kernel);
    end(hart);
    Ok(())
}

/// A whole instruction with a mask register as its result.
///
/// # Errors
/// An illegal instruction if `vstart` is reserved.
#[inline(always)]
pub(super) fn run_mask<K: Test>(hart: &mut Hart, vi: &VInst, mut test: K) -> Exec {
    begin(hart, vi)?;
    write_mask(&mut hart.v, vi, &mut test);
    end(hart);
    Ok(())
}
