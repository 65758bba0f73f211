//! The machinery that instructions share: which elements are prestart, body and tail, which of the body are
//! active, and how results reach the active ones (manual, section "Prestart, Active, Inactive, Body, and Tail
//! Element Definitions").
//!
//! A kernel computes many elements at a time ([`kernel`](crate::vector::run::kernel)). Where all of them are
//! active their results go straight to the registers; else to a place beside them, and from there to the
//! active ones. All operands of a block are read before any of its results is written, and blocks go upwards,
//! so that every overlap of operands the manual allows comes out as if done element by element.

use crate::Hart;
use crate::mem::Scalar;
use crate::trap::{Exec, Trap};
use crate::vector::rules::legality;
use crate::vector::rules::policy::Policy;
use crate::vector::run::chosen;
use crate::vector::run::element::Element;
use crate::vector::run::input::{FirstElement, MapInput, MaskBits, Vxrm};
use crate::vector::run::kernel::{Operands, PART_A, PART_B, PART_OUT};
use crate::vector::{VInst, VectorState};
use rvv_isa::Class;

/// A kernel with state: what it computes depends on the elements before.
pub trait StatefulKernel {
    /// The element of the result.
    type D: Element;
    /// The elements `first..first + N` of the result. Only elements whose bits of `active` are set
    /// count, and only for these may there be side effects.
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
    if hart.v.vstart == 0 { Ok(()) } else { resume(hart, vi) }
}

#[cold]
fn resume(hart: &Hart, vi: &VInst) -> Exec {
    if hart.v.vstart >= u64::from(vi.vlmax) && !hart.config.lenient {
        return Err(Trap::illegal(vi.inst.raw, legality::VSTART));
    }
    let access = matches!(vi.inst.op.class(), Class::VectorLoad | Class::VectorStore);
    if !access && !hart.config.vstart_in_arithmetic {
        return Err(Trap::illegal(vi.inst.raw, NEVER_LEFT));
    }
    Ok(())
}

/// "Implementations are permitted to raise illegal instruction exceptions when attempting to execute a vector
/// instruction with a value of vstart that the implementation can never produce."
const NEVER_LEFT: &str = "norm:vstart_vtype_dep: arithmetic of this core never leaves such a vstart behind";

/// An instruction completes: `vstart` becomes 0.
#[inline(always)]
pub(in crate::vector) fn end(hart: &mut Hart) {
    hart.v.vstart = 0;
    hart.vs_dirty = true;
}

/// The body and prestart elements: `vl`, and never more than a group holds, whatever a guest or a debugger
/// made of the register.
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
pub(in crate::vector) fn write_group<K: StatefulKernel>(v: &mut VectorState, vi: &VInst, kernel: &mut K) {
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
    if vi.policy.masked && vi.policy.inactive != Policy::Undisturbed {
        v.treat_inactive(vi.policy.inactive, vi.groups.vd as usize, size, vstart..vl);
    }
    if vi.policy.tail != Policy::Undisturbed {
        v.treat_tail(vi.policy.tail, vi.groups.vd as usize, size, vi.groups.vd_bytes as usize, vl);
    }
}

#[inline(always)]
fn write_body<K: StatefulKernel, const N: usize>(
    v: &mut VectorState,
    vi: &VInst,
    kernel: &mut K,
    vstart: usize,
    vl: usize,
) {
    let mut first = vstart - vstart % N;
    while first < vl {
        let mut active = body_bits(first, N, vstart, vl);
        if vi.policy.masked {
            active &= mask_bits::<N>(&v.regs, first);
        }
        if active != 0 {
            let mut new = kernel.block::<N>(&v.regs, first, active);
            let to = &mut v.regs[vi.groups.vd as usize + first * K::D::SIZE..][..N * K::D::SIZE];
            if active != low_bits(N) {
                new = select(active, &new, &read_elements(to));
            }
            write_elements(to, &new);
        }
        first += N;
    }
}

/// Puts the scalar operand of an instruction in its place, if it is not there: see [`Operands::each`].
/// Nothing else is ever put there, so if the first copy is right, all are.
#[inline(always)]
pub(in crate::vector) fn put_scalar(v: &mut VectorState, vi: &VInst, scalar: u64) {
    let word = (scalar & vi.scalar.mask).wrapping_mul(vi.scalar.splat);
    let place = &mut v.regs[vi.kernel.operands().b..][..64];
    if u64::read(place) != word {
        write_elements(place, &[word; 8]);
    }
}

/// Computes the elements of a group. The answer is the or of the kernel's answers.
#[inline(always)]
pub(in crate::vector) fn map(v: &mut VectorState, vi: &VInst, input: MapInput) -> u64 {
    if vi.fast.small && v.vstart == 0 && v.vl == u64::from(vi.vlmax) {
        return map_word(v, vi, input);
    }
    map_any(v, vi, input)
}

/// The same for 64 elements or fewer, where only inactive ones may be left as they are.
#[inline(always)]
pub(in crate::vector) fn map_word(v: &mut VectorState, vi: &VInst, input: MapInput) -> u64 {
    let mask = u64::read(&v.regs);
    match input {
        MapInput::Mask => vi.kernel.run_with(&mut v.regs, MaskBits(mask)),
        MapInput::Vxrm if vi.policy.masked => map_any(v, vi, input),
        MapInput::Vxrm => vi.kernel.run_with(&mut v.regs, Vxrm(v.vxrm)),
        MapInput::Index if vi.policy.masked => {
            let operands = vi.kernel.operands();
            let aside = Operands { out: 32 * v.vlenb + PART_OUT, ..*operands };
            vi.kernel.run_part(&mut v.regs, &aside, vi.vlmax as usize, FirstElement(0));
            v.blend(operands.out, aside.out, usize::from(vi.spec.sizes[0]), mask, vi.vlmax as usize);
            0
        }
        MapInput::Index => {
            vi.kernel.run(&mut v.regs);
            0
        }
    }
}

/// Whatever `vl`, `vstart` and the policies are.
#[inline(never)]
fn map_any(v: &mut VectorState, vi: &VInst, input: MapInput) -> u64 {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return 0;
    }
    let size = usize::from(vi.spec.sizes[0]);
    let mut answer = 0;
    let mut first = vstart;
    if vstart == 0 && !vi.policy.masked && input != MapInput::Mask {
        // Whole blocks of 16 bytes.
        first = vl & !((16 >> size.trailing_zeros()) - 1);
        if first != 0 {
            answer = run_part(v, vi, input, vi.kernel.operands(), 0, first, 0);
        }
    }
    if first < vl {
        answer |= map_parts(v, vi, input, first, vl);
    }
    treat_rest(v, vi, size, vstart, vl);
    answer
}

/// Computes `count` elements from `first` on, in these places. `mask` has their bits of `v0`.
#[inline(always)]
fn run_part(
    v: &mut VectorState,
    vi: &VInst,
    input: MapInput,
    operands: &Operands,
    first: usize,
    count: usize,
    mask: u64,
) -> u64 {
    match input {
        MapInput::Index => vi.kernel.run_part(&mut v.regs, operands, count, FirstElement(first as u64)),
        MapInput::Vxrm => vi.kernel.run_part(&mut v.regs, operands, count, Vxrm(v.vxrm)),
        MapInput::Mask => vi.kernel.run_part(&mut v.regs, operands, count, MaskBits(mask)),
    }
}

/// Computes the active ones of the elements `from..vl`, at most 64 of them at a time.
fn map_parts(v: &mut VectorState, vi: &VInst, input: MapInput, from: usize, vl: usize) -> u64 {
    let [sd, sa, sb] = vi.spec.sizes.map(usize::from);
    // There is place for so many bytes of operands.
    let chunk = if input == MapInput::Vxrm { 64 >> sd.trailing_zeros() } else { 64 };
    let beside = 32 * v.vlenb;
    let mut answer = 0;
    let mut first = from & !(chunk - 1);
    while first < vl {
        let mask = u64::read(&v.regs[first / 8..]);
        let mut active = body_bits(first, chunk, from, vl);
        if vi.policy.masked {
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
            if input == MapInput::Vxrm && !all {
                part.a = blank(&mut v.regs, part.a, beside + PART_A, sa, chunk, active, 0);
                part.b = blank(&mut v.regs, part.b, beside + PART_B, sb, chunk, active, 0);
                part.each = !0;
            }
            answer |= run_part(v, vi, input, &part, first, count, mask);
            if !all {
                v.blend(to, part.out, sd, active, count);
            }
        }
        first += chunk;
    }
    answer
}

impl VectorState {
    /// Copies the elements whose bits are set, of `count` (64 at most), from a place after the registers.
    #[inline(always)]
    pub(in crate::vector) fn blend(&mut self, to: usize, from: usize, size: usize, bits: u64, count: usize) {
        let (registers, places) = self.regs.split_at_mut(32 * self.vlenb);
        let (to, from) = (&mut registers[to..], &places[from - 32 * self.vlenb..]);
        chosen::copy(&mut to[..count * size], from, size, bits);
    }
}

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
fn test(v: &mut VectorState, vi: &VInst, input: MapInput) -> u64 {
    if vi.fast.small && !vi.policy.masked && v.vstart == 0 && v.vl == u64::from(vi.vlmax) {
        test_word(v, vi, input);
        return 0;
    }
    test_any(v, vi, input)
}

/// The same for 64 elements or fewer, all of them active.
#[inline(always)]
pub(in crate::vector) fn test_word(v: &mut VectorState, vi: &VInst, input: MapInput) {
    let bits = match input {
        MapInput::Mask => {
            let mask = u64::read(&v.regs);
            vi.kernel.run_with(&mut v.regs, MaskBits(mask))
        }
        _ => vi.kernel.run_with(&mut v.regs, FirstElement(0)),
    };
    let vd = &mut v.regs[vi.groups.vd as usize..];
    let body = low_bits(vi.vlmax as usize);
    (u64::read(vd) & !body | bits & body).write(vd);
}

/// Whatever `vl`, `vstart` and the policies are.
#[inline(never)]
fn test_any(v: &mut VectorState, vi: &VInst, input: MapInput) -> u64 {
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart >= vl {
        return 0;
    }
    // A word of the result at a time: vd may be v0, or the first register of a source.
    let mut word = vstart - vstart % 64;
    while word < vl {
        let mask = u64::read(&v.regs[word / 8..]);
        let body = body_bits(word, 64, vstart, vl);
        let active = if vi.policy.masked { body & mask } else { body };
        let bits = run_part(v, vi, input, &vi.kernel.part(word), word, 64.min(vl - word), mask);
        write_mask_word(v, vi, word, bits, active, body & !active);
        word += 64;
    }
    v.treat_mask_tail(vi.policy.tail, vi.groups.vd as usize, vl);
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
    let at = vi.groups.vd as usize + first / 8;
    let mut ones = 0;
    if inactive != 0 {
        ones = match vi.policy.inactive {
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
    ($($(#[$doc:meta])* $name:ident: $what:ident, $operands:ident, $input:ident;)*) => {$(
        $(#[$doc])*
        pub(in crate::vector) fn $name(hart: &mut Hart, vi: &VInst) -> Exec {
            begin(hart, vi)?;
            forms!(@ $operands hart, vi);
            $what(&mut hart.v, vi, MapInput::$input);
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
    vv: map, vector, Index;
    /// `vd[i] = op(vs2[i], scalar, vd[i])`, or fewer operands.
    vx: map, scalar, Index;
    /// `vd[i] = op(vs2[i], vs1[i], v0.mask[i])`.
    vvm: map, vector, Mask;
    /// `vd[i] = op(vs2[i], scalar, v0.mask[i])`.
    vxm: map, scalar, Mask;
    /// `vd.mask[i] = op(vs2[i], vs1[i])`.
    mvv: test, vector, Index;
    /// `vd.mask[i] = op(vs2[i], scalar)`.
    mvx: test, scalar, Index;
    /// `vd.mask[i] = op(vs2[i], vs1[i], v0.mask[i])`.
    mvvm: test, vector, Mask;
    /// `vd.mask[i] = op(vs2[i], scalar, v0.mask[i])`.
    mvxm: test, scalar, Mask;
}
