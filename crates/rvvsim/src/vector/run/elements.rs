//! The machinery that instructions share: which elements are prestart, body and tail, which of the body are
//! active, and how results reach the active ones (manual, section "Prestart, Active, Inactive, Body, and Tail
//! Element Definitions").
//!
//! A kernel computes many elements at a time ([`kernel`](crate::vector::run::kernel)). Where all of them are active their results go
//! straight to the registers; else to a place beside them, and from there to the active ones. All operands of a block
//! are read before any of its results is written, and blocks go upwards, so that every overlap of operands the
//! manual allows comes out as if done element by element.

use crate::Hart;
use crate::mem::Scalar;
use crate::trap::{Exec, Trap};
use crate::vector::rules::legality;
use crate::vector::rules::policy::Policy;
use crate::vector::run::element::Element;
use crate::vector::run::kernel::{BoundKernel, KernelSpec, Operands, PART_A, PART_B, PART_OUT};
use crate::vector::run::maps::Choose;
use crate::vector::{VInst, VectorState};
use std::sync::LazyLock;

/// What an instruction computes that needs more than its operands, some elements at a time.
pub trait Kernel {
    /// The element of the result.
    type D: Element;
    /// The elements `first..first + N` of the result. Only those of the bits of `active` count, and only for
    /// those may there be side effects.
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [Self::D; N];
}

/// Reads consecutive elements.
#[inline(always)]
pub(in crate::vector) fn read_elements<T: Element, const N: usize>(bytes: &[u8]) -> [T; N] {
    let mut operands = [T::ZERO; N];
    for (lane, bytes) in operands.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
        *lane = T::read(bytes);
    }
    operands
}

/// Writes consecutive elements.
#[inline(always)]
pub(in crate::vector) fn write_elements<T: Element, const N: usize>(bytes: &mut [u8], operands: &[T; N]) {
    for (lane, bytes) in operands.iter().zip(bytes.chunks_exact_mut(T::SIZE)) {
        lane.write(bytes);
    }
}

/// Reads one element of `size` bytes.
#[inline(always)]
pub(in crate::vector) fn read_element(bytes: &[u8], size: usize) -> u64 {
    match size {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::read(bytes)),
        4 => u64::from(u32::read(bytes)),
        _ => u64::read(bytes),
    }
}

/// Writes one element of `size` bytes.
#[inline(always)]
pub(in crate::vector) fn write_element(bytes: &mut [u8], size: usize, value: u64) {
    match size {
        1 => bytes[0] = value as u8,
        2 => (value as u16).write(bytes),
        4 => (value as u32).write(bytes),
        _ => value.write(bytes),
    }
}

/// For each element, `yes` where the bit is set and `no` where it is not.
#[inline(always)]
pub(in crate::vector) fn select<T: Element, const N: usize>(bits: u64, yes: &[T; N], no: &[T; N]) -> [T; N] {
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

/// The bits `0..n`.
#[inline(always)]
pub(in crate::vector) fn low_bits(n: usize) -> u64 {
    if n >= 64 { !0 } else { !(!0 << n) }
}

/// The bits of elements `first..first + n` that are in the body.
#[inline(always)]
pub(in crate::vector) fn body_bits(first: usize, n: usize, vstart: usize, vl: usize) -> u64 {
    low_bits(n.min(vl - first)) & !low_bits(vstart.saturating_sub(first))
}

/// `v0.mask[i]`.
#[inline(always)]
pub(in crate::vector) fn mask_bit(regs: &[u8], i: usize) -> bool {
    regs[i / 8] >> (i % 8) & 1 != 0
}

/// `v0.mask[first..first + N]`; `first` is a multiple of `N`, which is a power of two.
#[inline(always)]
pub(in crate::vector) fn mask_bits<const N: usize>(regs: &[u8], first: usize) -> u64 {
    register_bits::<N>(regs, 0, first)
}

/// As [`mask_bits`], of the mask register at `at`.
#[inline(always)]
pub(in crate::vector) fn register_bits<const N: usize>(regs: &[u8], at: usize, first: usize) -> u64 {
    let from = at + first / 8;
    if N > 32 {
        u64::read(&regs[from..])
    } else if N > 8 {
        u64::from(u32::read(&regs[from..])) & low_bits(N)
    } else {
        u64::from(regs[from] >> (first % 8)) & low_bits(N)
    }
}

/// `v0.mask[first..first + n]`, of at most 57 elements, whatever `first` is.
#[inline(always)]
pub(in crate::vector) fn unaligned_mask_bits(regs: &[u8], first: usize, n: usize) -> u64 {
    u64::read(&regs[first / 8..]) >> (first % 8) & low_bits(n)
}

/// What is reserved about `vstart` whatever the instruction does.
///
/// # Errors
/// An illegal instruction.
#[inline(always)]
pub(in crate::vector) fn begin(hart: &Hart, vi: &VInst) -> Exec {
    if hart.v.vstart >= u64::from(vi.vlmax) && hart.v.vstart != 0 { past_vlmax(hart, vi) } else { Ok(()) }
}

#[cold]
fn past_vlmax(hart: &Hart, vi: &VInst) -> Exec {
    if hart.config.lenient {
        return Ok(());
    }
    Err(Trap::illegal(vi.inst.raw, legality::VSTART))
}

/// An instruction completes: `vstart` becomes 0.
#[inline(always)]
pub(in crate::vector) fn end(hart: &mut Hart) {
    hart.v.vstart = 0;
    hart.vs_dirty = true;
}

/// The body and prestart elements: `vl`, and never more than a group holds, whatever a guest or a debugger made
/// of the register.
#[inline(always)]
pub(in crate::vector) fn vl(v: &VectorState, vi: &VInst) -> usize {
    v.vl.min(u64::from(vi.vlmax)) as usize
}

/// Notes a CSR that an instruction wrote on the side.
pub(in crate::vector) fn log_csr(hart: &mut Hart, number: u16, value: u64) {
    if let Some(log) = &mut hart.log {
        log.csr(number, value);
    }
}

/// Runs an instruction whose result is a vector register group: results to the active elements, the policies
/// to the others.
#[inline(always)]
pub(in crate::vector) fn write_group<K: Kernel>(v: &mut VectorState, vi: &VInst, kernel: &mut K) {
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
pub(in crate::vector) fn treat_rest(v: &mut VectorState, vi: &VInst, size: usize, vstart: usize, vl: usize) {
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
                new = select(active, &new, &read_elements(to));
            }
            write_elements(to, &new);
        }
        first += N;
    }
}

/// Puts the scalar operand of an instruction in its place, if it is not there: see [`Operands::each`]. Nothing else is
/// ever put there, so the first of the copies tells of all.
#[inline(always)]
pub(in crate::vector) fn put_scalar(v: &mut VectorState, vi: &VInst, scalar: u64) {
    let word = (scalar & vi.scalar_mask).wrapping_mul(vi.scalar_splat);
    let place = &mut v.regs[vi.kernel.operands().b..][..64];
    if u64::read(place) != word {
        write_elements(place, &[word; 8]);
    }
}

/// What a kernel is told besides its operands, and wants to see of elements that are not active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The number of the first element; and whatever there is: their results are thrown away.
    Pure,
    /// `vxrm`; and zeroes, with which nothing happens.
    Effects,
    /// The bits of v0. It is not masked.
    Carry,
}

/// Computes the elements of a group. The answer is the or of the kernel's answers.
#[inline(always)]
pub(in crate::vector) fn map(v: &mut VectorState, vi: &VInst, kind: Kind) -> u64 {
    if vi.small && v.vstart == 0 && v.vl == u64::from(vi.vlmax) {
        return map_word(v, vi, kind);
    }
    map_any(v, vi, kind)
}

/// The same for 64 elements or fewer, where only inactive ones may be left as they are.
#[inline(always)]
pub(in crate::vector) fn map_word(v: &mut VectorState, vi: &VInst, kind: Kind) -> u64 {
    let mask = u64::read(&v.regs);
    match kind {
        Kind::Carry => vi.kernel.run_in_mode(&mut v.regs, mask),
        Kind::Effects if vi.masked => map_any(v, vi, kind),
        Kind::Effects => vi.kernel.run_in_mode(&mut v.regs, u64::from(v.vxrm)),
        Kind::Pure if vi.masked => {
            let operands = vi.kernel.operands();
            let aside = Operands { out: 32 * v.vlenb + PART_OUT, ..*operands };
            vi.kernel.run_part(&mut v.regs, &aside, vi.vlmax as usize, 0);
            v.blend(operands.out, aside.out, usize::from(vi.spec.sizes[0]), mask, vi.vlmax as usize);
            0
        }
        Kind::Pure => {
            vi.kernel.run(&mut v.regs);
            0
        }
    }
}

/// Whatever `vl`, `vstart` and the policies are.
#[inline(never)]
fn map_any(v: &mut VectorState, vi: &VInst, kind: Kind) -> u64 {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return 0;
    }
    let size = usize::from(vi.spec.sizes[0]);
    let mut answer = 0;
    let mut first = vstart;
    if vstart == 0 && !vi.masked && kind != Kind::Carry {
        // Whole blocks of 16 bytes.
        first = vl & !((16 >> size.trailing_zeros()) - 1);
        if first != 0 {
            let mode = if kind == Kind::Effects { u64::from(v.vxrm) } else { 0 };
            answer = vi.kernel.run_part(&mut v.regs, vi.kernel.operands(), first, mode);
        }
    }
    if first < vl {
        answer |= map_parts(v, vi, kind, first, vl);
    }
    treat_rest(v, vi, size, vstart, vl);
    answer
}

/// Computes the active ones of the elements `from..vl`, at most 64 of them at a time.
fn map_parts(v: &mut VectorState, vi: &VInst, kind: Kind, from: usize, vl: usize) -> u64 {
    let [sd, sa, sb] = vi.spec.sizes.map(usize::from);
    // There is place for so many bytes of operands.
    let chunk = if kind == Kind::Effects { 64 >> sd.trailing_zeros() } else { 64 };
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
            let all = active == low_bits(chunk);
            let count = chunk.min(vl - first);
            let mut part = vi.kernel.part(first);
            let to = part.out;
            if !all {
                part.out = beside + PART_OUT;
            }
            if kind == Kind::Effects && !all {
                part.a = blank(&mut v.regs, part.a, beside + PART_A, sa, chunk, active, 0);
                part.b = blank(&mut v.regs, part.b, beside + PART_B, sb, chunk, active, 0);
                part.each = !0;
            }
            let mode = match kind {
                Kind::Pure => first as u64,
                Kind::Effects => u64::from(v.vxrm),
                Kind::Carry => mask,
            };
            answer |= vi.kernel.run_part(&mut v.regs, &part, count, mode);
            if !all {
                v.blend(to, part.out, sd, active, count);
            }
        }
        first += chunk;
    }
    answer
}

impl VectorState {
    /// Copies those of `count` elements (64 at most) whose bits are set.
    #[inline(always)]
    pub(in crate::vector) fn blend(&mut self, to: usize, from: usize, size: usize, bits: u64, count: usize) {
        let operands = Operands { out: to, a: to, b: from, ..crate::vector::NO_OPERANDS };
        CHOOSERS[size.trailing_zeros() as usize % 4].run_part(&mut self.regs, &operands, count, bits);
    }
}

/// What chooses between elements on this host, by their size.
pub(in crate::vector) static CHOOSERS: LazyLock<[BoundKernel; 4]> = LazyLock::new(|| {
    [
        const { &KernelSpec::of::<Choose<(), u8>>() },
        const { &KernelSpec::of::<Choose<(), u16>>() },
        const { &KernelSpec::of::<Choose<(), u32>>() },
        const { &KernelSpec::of::<Choose<(), u64>>() },
    ]
    .map(|spec| BoundKernel::new(spec, crate::vector::NO_OPERANDS, 0))
});

/// Copies `count` elements (128 bytes at most), but `value` for those that are not active; where to.
pub(in crate::vector) fn blank(
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
        let operands: [T; N] = read_elements(&regs[from..][..64]);
        write_elements(&mut regs[to..][..64], &select(active, &operands, &[T::from_u64(value); N]));
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

/// Computes the elements of a mask register.
#[inline(always)]
fn test(v: &mut VectorState, vi: &VInst, kind: Kind) -> u64 {
    if vi.small && !vi.masked && v.vstart == 0 && v.vl == u64::from(vi.vlmax) {
        test_word(v, vi, kind);
        return 0;
    }
    test_any(v, vi, kind)
}

/// The same for 64 elements or fewer, all of them active.
#[inline(always)]
pub(in crate::vector) fn test_word(v: &mut VectorState, vi: &VInst, kind: Kind) {
    let mask = if kind == Kind::Carry { u64::read(&v.regs) } else { 0 };
    let bits = vi.kernel.run_in_mode(&mut v.regs, mask);
    let vd = &mut v.regs[vi.vd as usize..];
    let body = low_bits(vi.vlmax as usize);
    (u64::read(vd) & !body | bits & body).write(vd);
}

/// Whatever `vl`, `vstart` and the policies are.
#[inline(never)]
fn test_any(v: &mut VectorState, vi: &VInst, kind: Kind) -> u64 {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return 0;
    }
    // A word of the result at a time: vd may be v0, or the first register of a source.
    let mut word = vstart - vstart % 64;
    while word < vl {
        let mask = u64::read(&v.regs[word / 8..]);
        let body = body_bits(word, 64, vstart, vl);
        let active = if vi.masked { body & mask } else { body };
        let mode = if kind == Kind::Carry { mask } else { 0 };
        let bits = vi.kernel.run_part(&mut v.regs, &vi.kernel.part(word), 64.min(vl - word), mode);
        write_mask_word(v, vi, word, bits, active, body & !active);
        word += 64;
    }
    v.treat_mask_tail(vi.tail, vi.vd as usize, vl);
    0
}

/// Writes 64 elements of a mask register: `bits` to the active ones, the policy to the inactive ones.
#[inline(always)]
pub(in crate::vector) fn write_mask_word(
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
            Policy::Random => inactive & v.mask_coins.toss(64),
        };
    }
    let old = u64::read(&v.regs[at..]);
    (old & !active | bits & active | ones).write(&mut v.regs[at..]);
}

/// Whole instructions by the form of their operands and results.
macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident: $what:ident, $operands:ident, $kind:ident;)*) => {$(
        $(#[$doc])*
        pub(in crate::vector) fn $name(hart: &mut Hart, vi: &VInst) -> Exec {
            begin(hart, vi)?;
            forms!(@ $operands hart, vi);
            $what(&mut hart.v, vi, Kind::$kind);
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
    /// `vd.mask[i] = op(vs2[i], vs1[i])`.
    mvv: test, vector, Pure;
    /// `vd.mask[i] = op(vs2[i], scalar)`.
    mvx: test, scalar, Pure;
    /// `vd.mask[i] = op(vs2[i], vs1[i], v0.mask[i])`.
    mvvm: test, vector, Carry;
    /// `vd.mask[i] = op(vs2[i], scalar, v0.mask[i])`.
    mvxm: test, scalar, Carry;
}
