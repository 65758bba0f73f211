//! The machinery that instructions share: which elements are prestart, body and tail, which of the body are
//! active, and how results reach the active ones (manual, section "Prestart, Active, Inactive, Body, and Tail
//! Element Definitions").
//!
//! A kernel computes many elements at a time ([`lanes`](super::lanes)). Where all of them are active their results go
//! straight to the registers; else to a place beside them, and from there to the active ones. All operands of a block
//! are read before any of its results is written, and blocks go upwards, so that every overlap of operands the
//! manual allows comes out as if done element by element.

use super::element::Element;
use super::lanes::{Lanes, PART_A, PART_B, PART_D, PART_OUT, SCALARS};
use super::policy::Policy;
use super::{VInst, VectorState};
use crate::Hart;
use crate::mem::Scalar;
use crate::trap::{Exec, Trap};

/// What an instruction computes that needs more than its operands' lanes, some elements at a time.
pub trait Kernel {
    /// The element of the result.
    type D: Element;
    /// The elements `first..first + N` of the result. Only those of the bits of `active` count, and only for
    /// those may there be side effects.
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [Self::D; N];
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

/// Reads one element of `size` bytes.
#[inline(always)]
pub(super) fn read_element(bytes: &[u8], size: usize) -> u64 {
    match size {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::read(bytes)),
        4 => u64::from(u32::read(bytes)),
        _ => u64::read(bytes),
    }
}

/// Writes one element of `size` bytes.
#[inline(always)]
pub(super) fn write_element(bytes: &mut [u8], size: usize, value: u64) {
    match size {
        1 => bytes[0] = value as u8,
        2 => (value as u16).write(bytes),
        4 => (value as u32).write(bytes),
        _ => value.write(bytes),
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
pub(super) fn pack<const N: usize>(lanes: &[u8; N]) -> u64 {
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
pub(super) fn body_bits(first: usize, n: usize, vstart: usize, vl: usize) -> u64 {
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

/// `v0.mask[first..first + n]`, of at most 16 elements, whatever `first` is.
#[inline(always)]
pub(super) fn unaligned_mask_bits(regs: &[u8], first: usize, n: usize) -> u64 {
    u64::from(u32::read(&regs[first / 8..]) >> (first % 8)) & low_bits(n)
}

/// Copies the elements whose bits are set: 16 bytes of them, or fewer.
#[inline(always)]
pub(super) fn copy_active<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
    #[inline(always)]
    fn blend<T: Element, const N: usize>(to: &mut [u8], from: &[u8], bits: u64) {
        let merged = select(bits, &read_lanes::<T, N>(from), &read_lanes::<T, N>(to));
        write_lanes(to, &merged);
    }
    if to.len() == 16 && from.len() == 16 {
        match T::SIZE {
            1 => blend::<T, 16>(to, from, bits),
            2 => blend::<T, 8>(to, from, bits),
            4 => blend::<T, 4>(to, from, bits),
            _ => blend::<T, 2>(to, from, bits),
        }
        return;
    }
    for (i, (to, from)) in to.chunks_exact_mut(T::SIZE).zip(from.chunks_exact(T::SIZE)).enumerate() {
        if bits >> i & 1 != 0 {
            to.copy_from_slice(from);
        }
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
        1 => write_body::<K, 16>(v, vi, kernel, vstart, vl),
        2 => write_body::<K, 8>(v, vi, kernel, vstart, vl),
        4 => write_body::<K, 4>(v, vi, kernel, vstart, vl),
        _ => write_body::<K, 2>(v, vi, kernel, vstart, vl),
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
fn write_body<K: Kernel, const N: usize>(
    v: &mut VectorState,
    vi: &VInst,
    kernel: &mut K,
    vstart: usize,
    vl: usize,
) {
    let mut first = vstart - vstart % N;
    while first < vl {
        let mut active = body_bits(first, N, vstart, vl);
        if vi.masked {
            active &= mask_bits::<N>(&v.regs, first);
        }
        if active != 0 {
            let mut new = kernel.block::<N>(&v.regs, first, active);
            let to = &mut v.regs[vi.vd as usize + first * K::D::SIZE..][..N * K::D::SIZE];
            if active != low_bits(N) {
                new = select(active, &new, &read_lanes(to));
            }
            write_lanes(to, &new);
        }
        first += N;
    }
}

/// Puts the scalar operand of an instruction in its place, if it is not there: see [`Lanes::scalar`].
#[inline(always)]
pub(super) fn put_scalar(v: &mut VectorState, vi: &VInst, scalar: u64) {
    // As often as eight bytes hold it: the multiples of 2^SEW below 2^64, added up.
    let word = (scalar & vi.scalar_mask).wrapping_mul(u64::MAX / vi.scalar_mask);
    let there = &mut v.scalars[usize::from(vi.scalar_slot) % SCALARS];
    if *there != word {
        *there = word;
        write_lanes(&mut v.regs[vi.ready.lanes().b..][..64], &[word; 8]);
    }
}

/// What a kernel wants to see of elements that are not active, and where its third operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Whatever there is: their results are thrown away.
    Pure,
    /// Zeroes, with which nothing happens.
    Effects,
    /// Whatever there is; the third operand is `v0.mask`, as zeroes and ones.
    Carry,
    /// No kernel at all: `v0.mask` chooses between the operands.
    Merge,
}

/// Computes the elements of a group. The answer is the or of the kernel's answers.
#[inline(always)]
pub(super) fn map(v: &mut VectorState, vi: &VInst, kind: Kind, mode: u8) -> u64 {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return 0;
    }
    let size = usize::from(vi.work.sizes[0]);
    let mut answer = 0;
    let mut first = vstart;
    if vstart == 0 && !vi.masked && !matches!(kind, Kind::Carry | Kind::Merge) {
        // Whole blocks of 16 bytes.
        first = vl & !((16 >> size.trailing_zeros()) - 1);
        if first != 0 {
            answer = vi.ready.run_part(&mut v.regs, vi.ready.lanes(), first, mode);
        }
    }
    if first < vl {
        answer |= map_parts(v, vi, kind, mode, first, vl);
    }
    treat_rest(v, vi, size, vstart, vl);
    answer
}

/// Computes the active ones of the elements `from..vl`, at most 64 bytes of them at a time.
#[inline(never)]
fn map_parts(v: &mut VectorState, vi: &VInst, kind: Kind, mode: u8, from: usize, vl: usize) -> u64 {
    let lanes = *vi.ready.lanes();
    let [sd, sa, sb] = vi.work.sizes.map(usize::from);
    let chunk = 64 >> sd.trailing_zeros();
    let beside = 32 * v.vlenb;
    let mut answer = 0;
    let mut first = from & !(chunk - 1);
    while first < vl {
        let mask = u64::read(&v.regs[first / 8..]);
        let mut active = body_bits(first, chunk, from, vl);
        if vi.masked {
            active &= mask;
        }
        if active != 0 {
            let to = lanes.out + first * sd;
            let all = active == low_bits(chunk);
            let count = chunk.min(vl - first);
            let mut part = Lanes {
                out: if all { to } else { beside + PART_OUT },
                a: lanes.a + first * sa,
                b: lanes.b_at(first, sb),
                d: lanes.d + first * sd,
                ..lanes
            };
            if kind == Kind::Carry {
                part.d = beside + PART_D;
                spread(&mut v.regs[part.d..], sd, mask);
            }
            if kind == Kind::Effects && !all {
                part.a = blank(&mut v.regs, part.a, beside + PART_A, sa, chunk, active, 0);
                part.b = blank(&mut v.regs, part.b, beside + PART_B, sb, chunk, active, 0);
                part.scalar = false;
            }
            if kind == Kind::Merge {
                choose(&mut v.regs, &part, sd, mask, count * sd);
            } else {
                answer |= vi.ready.run_part(&mut v.regs, &part, count, mode);
            }
            if !all {
                merge(&mut v.regs, to, part.out, sd, active, count * sd);
            }
        }
        first += chunk;
    }
    answer
}

/// The bits of a mask as 64 bytes of elements that are 0 or 1.
fn spread(to: &mut [u8], size: usize, bits: u64) {
    #[inline(always)]
    fn spread<T: Element, const N: usize>(to: &mut [u8], bits: u64) {
        write_lanes(&mut to[..64], &select(bits, &[T::BIT[0]; N], &[T::ZERO; N]));
    }
    match size {
        1 => spread::<u8, 64>(to, bits),
        2 => spread::<u16, 32>(to, bits),
        4 => spread::<u32, 16>(to, bits),
        _ => spread::<u64, 8>(to, bits),
    }
}

/// Copies `count` elements (128 bytes at most), but `value` for those that are not active; where to.
pub(super) fn blank(
    regs: &mut [u8],
    from: usize,
    to: usize,
    size: usize,
    count: usize,
    active: u64,
    value: u64,
) -> usize {
    #[inline(always)]
    fn blank<T: Element, const N: usize>(regs: &mut [u8], from: usize, to: usize, active: u64, value: u64) {
        let lanes: [T; N] = read_lanes(&regs[from..][..64]);
        write_lanes(&mut regs[to..][..64], &select(active, &lanes, &[T::from_u64(value); N]));
    }
    let per = 64 >> size.trailing_zeros();
    let mut i = 0;
    while i < count {
        let (from, to, active) = (from + i * size, to + i * size, active >> i);
        match size {
            1 => blank::<u8, 64>(regs, from, to, active, value),
            2 => blank::<u16, 32>(regs, from, to, active, value),
            4 => blank::<u32, 16>(regs, from, to, active, value),
            _ => blank::<u64, 8>(regs, from, to, active, value),
        }
        i += per;
    }
    to
}

/// Copies the active ones of `bytes` bytes (64 at most) of elements.
#[inline(always)]
pub(super) fn merge(regs: &mut [u8], to: usize, from: usize, size: usize, active: u64, bytes: usize) {
    choose(regs, &Lanes { out: to, a: to, b: from, ..super::NO_LANES }, size, active, bytes);
}

/// For `bytes` bytes (64 at most) of elements, those of `b` where the bit is set and those of `a` where it is not.
fn choose(regs: &mut [u8], lanes: &Lanes, size: usize, bits: u64, bytes: usize) {
    #[inline(always)]
    fn choose<T: Element, const N: usize>(regs: &mut [u8], lanes: &Lanes, bits: u64) {
        let a: [T; N] = read_lanes(&regs[lanes.a..][..N * T::SIZE]);
        let b: [T; N] = read_lanes(&regs[lanes.b..][..N * T::SIZE]);
        write_lanes(&mut regs[lanes.out..][..N * T::SIZE], &select(bits, &b, &a));
    }
    match (size, bytes <= 16) {
        (1, true) => choose::<u8, 16>(regs, lanes, bits),
        (2, true) => choose::<u16, 8>(regs, lanes, bits),
        (4, true) => choose::<u32, 4>(regs, lanes, bits),
        (_, true) => choose::<u64, 2>(regs, lanes, bits),
        (1, false) => choose::<u8, 64>(regs, lanes, bits),
        (2, false) => choose::<u16, 32>(regs, lanes, bits),
        (4, false) => choose::<u32, 16>(regs, lanes, bits),
        (_, false) => choose::<u64, 8>(regs, lanes, bits),
    }
}

/// Computes the elements of a mask register.
fn test(v: &mut VectorState, vi: &VInst, kind: Kind, _mode: u8) {
    let lanes = *vi.ready.lanes();
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return;
    }
    let size = usize::from(vi.work.sizes[0]);
    // With a third operand, as many at a time as there is place for it.
    let step = if kind == Kind::Carry { 64 >> size.trailing_zeros() } else { 64 };
    // A word of the result at a time: vd may be v0, or the first register of a source.
    let mut word = vstart - vstart % 64;
    while word < vl {
        let mask = u64::read(&v.regs[word / 8..]);
        let body = body_bits(word, 64, vstart, vl);
        let active = if vi.masked { body & mask } else { body };
        let mut bits = 0;
        let mut i = 0;
        while i < 64 && word + i < vl {
            let first = word + i;
            let mut part = Lanes { a: lanes.a + first * size, b: lanes.b_at(first, size), ..lanes };
            if kind == Kind::Carry {
                part.d = 32 * v.vlenb + PART_D;
                spread(&mut v.regs[part.d..], size, mask >> i);
            }
            bits |= vi.ready.run_part(&mut v.regs, &part, step.min(vl - first), 0) << i;
            i += step;
        }
        write_mask_word(v, vi, word, bits, active, body & !active);
        word += 64;
    }
    v.treat_mask_tail(vi.tail, vi.vd as usize, vl);
}

/// Writes 64 elements of a mask register: `bits` to the active ones, the policy to the inactive ones.
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

/// A whole instruction whose elements a [`Kernel`] computes.
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

/// Whole instructions by the form of their operands and results.
macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident: $what:ident, $operands:ident, $kind:ident;)*) => {$(
        $(#[$doc])*
        pub(super) fn $name(hart: &mut Hart, vi: &VInst) -> Exec {
            begin(hart, vi)?;
            forms!(@ $operands hart, vi);
            $what(&mut hart.v, vi, Kind::$kind, 0);
            end(hart);
            Ok(())
        }
    )*};
    (@ vector $hart:ident, $vi:ident) => {};
    (@ scalar $hart:ident, $vi:ident) => {
        let scalar = $vi.scalar($hart);
        put_scalar(&mut $hart.v, $vi, scalar);
    };
}

forms! {
    /// `vd[i] = op(vs2[i], vs1[i], vd[i])`, or fewer operands.
    vv: map, vector, Pure;
    /// `vd[i] = op(vs2[i], scalar, vd[i])`, or fewer operands.
    vx: map, scalar, Pure;
    /// `vd[i] = op(vs2[i], vs1[i], v0.mask[i])`.
    vvm: map, vector, Carry;
    /// `vd[i] = op(vs2[i], scalar, v0.mask[i])`.
    vxm: map, scalar, Carry;
    /// `vd[i] = v0.mask[i] ? vs1[i] : vs2[i]`.
    merge_vv: map, vector, Merge;
    /// `vd[i] = v0.mask[i] ? scalar : vs2[i]`.
    merge_vx: map, scalar, Merge;
    /// `vd.mask[i] = op(vs2[i], vs1[i])`.
    mvv: test, vector, Pure;
    /// `vd.mask[i] = op(vs2[i], scalar)`.
    mvx: test, scalar, Pure;
    /// `vd.mask[i] = op(vs2[i], vs1[i], v0.mask[i])`.
    mvvm: test, vector, Carry;
    /// `vd.mask[i] = op(vs2[i], scalar, v0.mask[i])`.
    mvxm: test, scalar, Carry;
}
