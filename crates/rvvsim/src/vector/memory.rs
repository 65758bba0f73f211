//! Vector loads and stores (manual, chapter "Vector Loads and Stores").
//!
//! Elements go in order, and a trap at one leaves its index in `vstart`, so that execution can resume there.
//! Where many elements lie side by side in ordinary memory they are moved as slices, page by page; devices,
//! logged accesses and elements across a page boundary go one by one.

use super::body::{
    begin, end, log_csr, low_bits, mask_bit, read_lanes, unaligned_mask_bits, vl, write_lanes,
};
use super::element::Element;
use super::lanes::copy_chosen;
use super::legality::{Eew, Shape};
use super::policy::Policy;
use super::segment;
use super::{Entry, Run, VInst};
use crate::Hart;
use crate::mem::{Access, PAGE};
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::{Inst, Op, Sew, csr};

/// Where the elements of an instruction are: the address of element (or segment) `i`.
pub(super) trait Addresses: Copy {
    /// Whether elements follow each other without a gap, from the address of element 0.
    const UNIT_STRIDE: bool = false;
    /// The address of the first field of segment `i`.
    fn of(self, hart: &Hart, i: usize) -> u64;
    /// Those of segment `i` and of more after it.
    fn several(self, hart: &Hart, i: usize) -> [u64; SEVERAL] {
        std::array::from_fn(|k| self.of(hart, i + k))
    }
}

/// As many elements as are looked for at a time.
const SEVERAL: usize = 8;

/// Unit stride: `base`, and the bytes of a segment.
#[derive(Clone, Copy)]
pub(super) struct Unit(pub u64, pub u64);

impl Addresses for Unit {
    const UNIT_STRIDE: bool = true;

    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Constant stride: `base` and stride.
#[derive(Clone, Copy)]
pub(super) struct Strided(u64, u64);

impl Addresses for Strided {
    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Indexed: `base`, and where the byte offsets are. norm:vector_ls_xlen_dep: zero-extended.
#[derive(Clone, Copy)]
pub(super) struct Indexed<I>(u64, usize, std::marker::PhantomData<I>);

impl<I: Element> Addresses for Indexed<I> {
    #[inline(always)]
    fn of(self, hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(I::read(&hart.v.regs[self.1 + i * I::SIZE..]).to_u64())
    }

    #[inline(always)]
    fn several(self, hart: &Hart, i: usize) -> [u64; SEVERAL] {
        let bytes = &hart.v.regs[self.1 + i * I::SIZE..][..SEVERAL * I::SIZE];
        read_lanes::<I, SEVERAL>(bytes).map(|index| self.0.wrapping_add(index.to_u64()))
    }
}

fn unit<T: Element>(hart: &Hart, vi: &VInst) -> Unit {
    Unit(hart.x[vi.inst.rs1], T::SIZE as u64 * (u64::from(vi.inst.nf) + 1))
}

fn strided(hart: &Hart, vi: &VInst) -> Strided {
    Strided(hart.x[vi.inst.rs1], hart.x[vi.inst.rs2])
}

fn indexed<I>(hart: &Hart, vi: &VInst) -> Indexed<I> {
    Indexed(hart.x[vi.inst.rs1], vi.vs2 as usize, std::marker::PhantomData)
}

/// Whether element `i` is active.
#[inline(always)]
pub(super) fn active(hart: &Hart, vi: &VInst, i: usize) -> bool {
    !vi.masked || mask_bit(&hart.v.regs, i)
}

/// A trap at element `i`: earlier elements are done, and execution can resume here.
#[cold]
fn trap_at(hart: &mut Hart, i: usize, trap: Trap) -> Trap {
    hart.v.vstart = i as u64;
    log_csr(hart, csr::VSTART, i as u64);
    hart.vs_dirty = true;
    trap
}

/// The policies for a load that has got to element `to`. Under a random policy coins fall in element order, so
/// that a load that traps and is resumed ends as one that does not trap.
pub(super) fn treat_loaded_inactive<T: Element>(hart: &mut Hart, vi: &VInst, from: usize, to: usize) {
    if vi.masked && vi.inactive != Policy::Undisturbed {
        if vi.inst.nf == 0 {
            return hart.v.treat_inactive(vi.inactive, vi.vd as usize, T::SIZE, from..to);
        }
        for i in from..to {
            for field in 0..usize::from(vi.inst.nf) + 1 {
                let at = vi.vd as usize + field * vi.group as usize;
                hart.v.treat_inactive(vi.inactive, at, T::SIZE, i..i + 1);
            }
        }
    }
}

fn treat_loaded_tail<T: Element>(hart: &mut Hart, vi: &VInst, vl: usize) {
    if vi.tail != Policy::Undisturbed {
        for field in 0..usize::from(vi.inst.nf) + 1 {
            let at = vi.vd as usize + field * vi.group as usize;
            hart.v.treat_tail(vi.tail, at, T::SIZE, vi.group as usize, vl);
        }
    }
}

/// A load of elements or segments, whatever their addresses.
#[inline(always)]
fn load<T: Element, A: Addresses>(hart: &mut Hart, vi: &VInst, addresses: A, fault_only_first: bool) -> Exec {
    begin(hart, vi)?;
    let (vstart, vl) = (hart.v.vstart as usize, vl(&hart.v, vi));
    if vstart < vl {
        let (done, result) = load_elements::<T, A>(hart, vi, addresses, vstart, vl);
        treat_loaded_inactive::<T>(hart, vi, vstart, done);
        match result {
            // norm:vector_ff_op: a trap at an element other than 0 only shortens the vector.
            // "Implementations should not reduce vl but instead should trigger the debug trap as otherwise the event
            // might be lost" (section "Unit-stride Fault-Only-First Loads").
            Err(trap) if fault_only_first && done > 0 && trap.cause != Cause::Breakpoint => {
                hart.v.vl = done as u64;
                log_csr(hart, csr::VL, done as u64);
            }
            Err(trap) => return Err(trap_at(hart, done, trap)),
            Ok(()) => {}
        }
        treat_loaded_tail::<T>(hart, vi, vl);
    }
    end(hart);
    Ok(())
}

/// Loads the elements `vstart..vl`; how far it got, and the trap that stopped it.
#[inline(always)]
fn load_elements<T: Element, A: Addresses>(
    hart: &mut Hart,
    vi: &VInst,
    addresses: A,
    vstart: usize,
    vl: usize,
) -> (usize, Exec) {
    let mut i = vstart;
    while i < vl {
        if A::UNIT_STRIDE {
            match load_run::<T>(hart, vi, addresses.of(hart, i), i, vl) {
                Ok(0) => {}
                Ok(count) => {
                    i += count;
                    continue;
                }
                // The run begins at the first active element of its page, which may be a later one.
                Err((at, trap)) => return (at, Err(trap)),
            }
        } else {
            i = load_remembered::<T, A>(hart, vi, addresses, i, vl);
            if i == vl {
                break;
            }
        }
        if active(hart, vi, i) {
            let address = addresses.of(hart, i);
            for field in 0..usize::from(vi.inst.nf) + 1 {
                match hart.load::<T>(address.wrapping_add((field * T::SIZE) as u64)) {
                    Ok(value) => {
                        let to = vi.vd as usize + field * vi.group as usize + i * T::SIZE;
                        value.write(&mut hart.v.regs[to..]);
                    }
                    Err(trap) => return (i, Err(trap)),
                }
            }
        }
        i += 1;
    }
    (vl, Ok(()))
}

/// Loads elements from `i` on, up to the first on a page that is not remembered; how far it got.
#[inline(always)]
fn load_remembered<T: Element, A: Addresses>(
    hart: &mut Hart,
    vi: &VInst,
    addresses: A,
    mut i: usize,
    vl: usize,
) -> usize {
    while i < vl && vi.inst.nf == 0 {
        let n = SEVERAL.min(vl - i);
        let active = if vi.masked { unaligned_mask_bits(&hart.v.regs, i, n) } else { low_bits(n) };
        let at = addresses.several(hart, i);
        let to = vi.vd as usize + i * T::SIZE;
        let mut values: [T; SEVERAL] = read_lanes(&hart.v.regs[to..][..SEVERAL * T::SIZE]);
        let mut done = 0;
        if active == low_bits(SEVERAL) {
            for (value, at) in values.iter_mut().zip(at) {
                let Some(loaded) = hart.load_remembered(at) else { break };
                *value = loaded;
                done += 1;
            }
        } else {
            while done < n {
                if active >> done & 1 != 0 {
                    match hart.load_remembered(at[done]) {
                        Some(value) => values[done] = value,
                        None => break,
                    }
                }
                done += 1;
            }
        }
        // Those that were not loaded are written back as they were.
        write_lanes(&mut hart.v.regs[to..][..SEVERAL * T::SIZE], &values);
        i += done;
        if done < n {
            break;
        }
    }
    i
}

/// The same for stores.
#[inline(always)]
fn store_remembered<T: Element, A: Addresses>(
    hart: &mut Hart,
    vi: &VInst,
    addresses: A,
    mut i: usize,
    vl: usize,
) -> usize {
    while i < vl && vi.inst.nf == 0 {
        let n = SEVERAL.min(vl - i);
        let active = if vi.masked { unaligned_mask_bits(&hart.v.regs, i, n) } else { low_bits(n) };
        let at = addresses.several(hart, i);
        let from = &hart.v.regs[vi.vd as usize + i * T::SIZE..][..SEVERAL * T::SIZE];
        let values: [T; SEVERAL] = read_lanes(from);
        let mut done = 0;
        while done < n && (active >> done & 1 == 0 || hart.store_remembered(at[done], values[done]).is_some())
        {
            done += 1;
        }
        i += done;
        if done < n {
            break;
        }
    }
    i
}

/// A stretch of whole elements on one page of ordinary memory.
pub(super) struct Stretch {
    /// How many elements.
    pub count: usize,
    /// The RAM offset of its first one.
    pub offset: usize,
}

/// The elements from `i`, at `address`, that lie on one page and may be accessed together: `Ok(None)` if there
/// are none such and element `i` must be looked at alone, `Err` with the index of the element that faults. None
/// of the elements may be active: then the page is not touched, and `offset` is of no meaning.
#[inline(always)]
fn stretch(
    hart: &mut Hart,
    vi: &VInst,
    size: usize,
    access: Access,
    address: u64,
    i: usize,
    vl: usize,
) -> Result<Option<Stretch>, (usize, Trap)> {
    let element = size / (usize::from(vi.inst.nf) + 1);
    let on_page = (PAGE - address % PAGE) as usize;
    let count = if on_page >= (vl - i) * size { vl - i } else { on_page / size };
    let misaligned = !address.is_multiple_of(element as u64) && !hart.config.misaligned;
    if count == 0 || misaligned || hart.unhurried() {
        return Ok(None);
    }
    let mut first = i;
    if vi.masked {
        while first < i + count && !mask_bit(&hart.v.regs, first) {
            first += 1;
        }
        if first == i + count {
            return Ok(Some(Stretch { count, offset: 0 }));
        }
    }
    let skipped = (first - i) * size;
    match hart.ram_run(address + skipped as u64, count * size - skipped, access) {
        Ok(Some(offset)) => Ok(Some(Stretch { count, offset: offset - skipped })),
        Ok(None) => Ok(None),
        Err(trap) => Err((first, trap)),
    }
}

/// Loads as many elements from `i` as lie together; how many that were.
#[inline(always)]
fn load_run<T: Element>(
    hart: &mut Hart,
    vi: &VInst,
    address: u64,
    i: usize,
    vl: usize,
) -> Result<usize, (usize, Trap)> {
    let fields = usize::from(vi.inst.nf) + 1;
    let size = fields * T::SIZE;
    let Some(Stretch { count, offset }) = stretch(hart, vi, size, Access::Load, address, i, vl)? else {
        return Ok(0);
    };
    let regs = &mut hart.v.regs;
    let ram = hart.ram.bytes();
    if vi.masked && fields == 1 {
        for k in (i..i + count).step_by(32) {
            let n = 32.min(i + count - k);
            let bits = unaligned_mask_bits(regs, k, n);
            let from = &ram[offset + (k - i) * T::SIZE..][..n * T::SIZE];
            copy_chosen::<T>(&mut regs[vi.vd as usize + k * T::SIZE..][..n * T::SIZE], from, bits);
        }
    } else if vi.masked {
        for k in i..i + count {
            if mask_bit(regs, k) {
                for field in 0..fields {
                    let from = offset + (k - i) * size + field * T::SIZE;
                    let to = vi.vd as usize + field * vi.group as usize + k * T::SIZE;
                    T::read(&ram[from..]).write(&mut regs[to..]);
                }
            }
        }
    } else if fields == 1 {
        let to = vi.vd as usize + i * T::SIZE;
        regs[to..to + count * T::SIZE].copy_from_slice(&ram[offset..offset + count * T::SIZE]);
    } else {
        segment::load::<T>(regs, &ram[offset..offset + count * size], vi, i);
    }
    Ok(count)
}

/// A store of elements or segments, whatever their addresses.
#[inline(always)]
fn store<T: Element, A: Addresses>(hart: &mut Hart, vi: &VInst, addresses: A) -> Exec {
    begin(hart, vi)?;
    let (vstart, vl) = (hart.v.vstart as usize, vl(&hart.v, vi));
    store_elements::<T, A>(hart, vi, addresses, vstart, vl).map_err(|(i, trap)| trap_at(hart, i, trap))?;
    end(hart);
    Ok(())
}

/// Stores the elements `vstart..vl`; or where it stopped, and the trap.
#[inline(always)]
fn store_elements<T: Element, A: Addresses>(
    hart: &mut Hart,
    vi: &VInst,
    addresses: A,
    vstart: usize,
    vl: usize,
) -> Result<(), (usize, Trap)> {
    let mut i = vstart;
    while i < vl {
        if A::UNIT_STRIDE {
            let count = store_run::<T>(hart, vi, addresses.of(hart, i), i, vl)?;
            if count > 0 {
                i += count;
                continue;
            }
        } else {
            i = store_remembered::<T, A>(hart, vi, addresses, i, vl);
            if i == vl {
                break;
            }
        }
        if active(hart, vi, i) {
            let address = addresses.of(hart, i);
            for field in 0..usize::from(vi.inst.nf) + 1 {
                let from = vi.vd as usize + field * vi.group as usize + i * T::SIZE;
                let value = T::read(&hart.v.regs[from..]);
                hart.store(address.wrapping_add((field * T::SIZE) as u64), value)
                    .map_err(|trap| (i, trap))?;
            }
        }
        i += 1;
    }
    Ok(())
}

/// Stores as many elements from `i` as lie together; how many that were.
#[inline(always)]
fn store_run<T: Element>(
    hart: &mut Hart,
    vi: &VInst,
    address: u64,
    i: usize,
    vl: usize,
) -> Result<usize, (usize, Trap)> {
    let fields = usize::from(vi.inst.nf) + 1;
    let size = fields * T::SIZE;
    let Some(Stretch { count, offset }) = stretch(hart, vi, size, Access::Store, address, i, vl)? else {
        return Ok(0);
    };
    let regs = &hart.v.regs;
    let ram = hart.ram.bytes_mut();
    if vi.masked && fields == 1 {
        for k in (i..i + count).step_by(32) {
            let n = 32.min(i + count - k);
            let bits = unaligned_mask_bits(regs, k, n);
            let from = &regs[vi.vd as usize + k * T::SIZE..][..n * T::SIZE];
            copy_chosen::<T>(&mut ram[offset + (k - i) * T::SIZE..][..n * T::SIZE], from, bits);
        }
    } else if vi.masked {
        for k in i..i + count {
            if mask_bit(regs, k) {
                for field in 0..fields {
                    let to = offset + (k - i) * size + field * T::SIZE;
                    let from = vi.vd as usize + field * vi.group as usize + k * T::SIZE;
                    T::read(&regs[from..]).write(&mut ram[to..]);
                }
            }
        }
    } else if fields == 1 {
        let from = vi.vd as usize + i * T::SIZE;
        ram[offset..offset + count * T::SIZE].copy_from_slice(&regs[from..from + count * T::SIZE]);
    } else {
        segment::store::<T>(regs, &mut ram[offset..offset + count * size], vi, i);
    }
    Ok(count)
}

/// Where in memory the elements of a unit-stride access are that is no more than a copy, all on one page that is
/// remembered; and how many bytes. Only for instructions that are not masked, and of one field.
#[inline(always)]
pub(super) fn one_piece(hart: &Hart, vi: &VInst, access: Access) -> Option<(usize, usize)> {
    let va = hart.x[vi.inst.rs1];
    let bytes = vl(&hart.v, vi) << (vi.shift & 3);
    // An address that is not aligned for its elements misses here, and is looked at with more care.
    let offset = hart.tlb.lookup_any(va, vi.align, access)?;
    (hart.v.vstart == 0 && va % PAGE + bytes as u64 <= PAGE).then_some((offset, bytes))
}

/// The same for `N` bytes, which is what there is if `vl` is VLMAX; it may not be.
#[inline(always)]
pub(super) fn whole_piece<const N: usize>(hart: &Hart, vi: &VInst, access: Access) -> Option<usize> {
    let va = hart.x[vi.inst.rs1];
    let offset = hart.tlb.lookup_any(va, vi.align, access)?;
    (vi.is_whole(hart) && va % PAGE <= PAGE - N as u64).then_some(offset)
}

/// A load that is a copy of one piece.
#[inline(always)]
pub(super) fn load_piece(
    hart: &mut Hart,
    vi: &VInst,
    offset: usize,
    bytes: usize,
    copy: impl Fn(&mut [u8], &[u8]),
) {
    vi.tell(&mut hart.v);
    let to = &mut hart.v.regs[vi.vd as usize..][..bytes];
    copy(to, hart.ram.piece(offset, bytes));
    hart.vs_dirty = true;
}

/// A store that is one.
#[inline(always)]
pub(super) fn store_piece(
    hart: &mut Hart,
    vi: &VInst,
    offset: usize,
    bytes: usize,
    copy: impl Fn(&mut [u8], &[u8]),
) {
    let from = &hart.v.regs[vi.vd as usize..][..bytes];
    copy(hart.ram.piece_mut(offset, bytes), from);
    hart.vs_dirty = true;
}

/// Of the plain unit-stride loads and stores, which may be copies: which way, and the bytes of an element as a power of
/// two.
pub(super) fn copies(op: Op) -> Option<(Access, u8)> {
    Some(match op {
        Op::Vle8V => (Access::Load, 0),
        Op::Vle16V => (Access::Load, 1),
        Op::Vle32V => (Access::Load, 2),
        Op::Vle64V => (Access::Load, 3),
        Op::Vse8V => (Access::Store, 0),
        Op::Vse16V => (Access::Store, 1),
        Op::Vse32V => (Access::Store, 2),
        Op::Vse64V => (Access::Store, 3),
        _ => return None,
    })
}

/// A masked load whose elements are all on one page that is remembered, and that leaves the others alone; false if it
/// is not.
#[inline(always)]
fn load_chosen<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
    let leaves = vi.inactive == Policy::Undisturbed && vi.tail == Policy::Undisturbed;
    if !vi.masked || !leaves || vi.inst.nf != 0 {
        return false;
    }
    let Some((offset, bytes)) = one_piece(hart, vi, Access::Load) else { return false };
    let from = &hart.ram.bytes()[offset..offset + bytes];
    for (word, from) in from.chunks(64 * T::SIZE).enumerate() {
        let bits = u64::read(&hart.v.regs[8 * word..]);
        copy_chosen::<T>(&mut hart.v.regs[vi.vd as usize + 64 * T::SIZE * word..][..from.len()], from, bits);
    }
    hart.vs_dirty = true;
    true
}

/// The same for stores.
#[inline(always)]
fn store_chosen<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
    if !vi.masked || vi.inst.nf != 0 {
        return false;
    }
    let Some((offset, bytes)) = one_piece(hart, vi, Access::Store) else { return false };
    let to = &mut hart.ram.bytes_mut()[offset..offset + bytes];
    for (word, to) in to.chunks_mut(64 * T::SIZE).enumerate() {
        let bits = u64::read(&hart.v.regs[8 * word..]);
        copy_chosen::<T>(to, &hart.v.regs[vi.vd as usize + 64 * T::SIZE * word..][..to.len()], bits);
    }
    hart.vs_dirty = true;
    true
}

fn vle<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    if load_chosen::<T>(hart, vi) {
        return Ok(());
    }
    load::<T, _>(hart, vi, unit::<T>(hart, vi), false)
}

fn vleff<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    load::<T, _>(hart, vi, unit::<T>(hart, vi), true)
}

fn vlse<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    load::<T, _>(hart, vi, strided(hart, vi), false)
}

/// Ordered and unordered alike go in element order.
fn vlxei<T: Element, I: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    load::<T, _>(hart, vi, indexed::<I>(hart, vi), false)
}

fn vse<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    if store_chosen::<T>(hart, vi) {
        return Ok(());
    }
    store::<T, _>(hart, vi, unit::<T>(hart, vi))
}

fn vsse<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    store::<T, _>(hart, vi, strided(hart, vi))
}

fn vsxei<T: Element, I: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    store::<T, _>(hart, vi, indexed::<I>(hart, vi))
}

/// The elements of a whole-register access. norm:vector_ls_seg_wholereg_evl: reserved if `vstart` is not below.
fn whole_register_evl<T: Element>(hart: &Hart, vi: &VInst) -> Exec<usize> {
    let evl = (usize::from(vi.inst.nf) + 1) * hart.v.vlenb / T::SIZE;
    if hart.v.vstart >= evl as u64 {
        return Err(vi.illegal("norm:vector_ls_seg_wholereg_evl: vstart is not below evl"));
    }
    Ok(evl)
}

/// As one group of all the registers, with the elements in a row.
fn as_group(vi: &VInst) -> VInst {
    VInst { inst: Inst { nf: 0, ..vi.inst }, ..*vi }
}

fn vlr<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    // norm:vector_ls_seg_wholereg_eew: EEW=min(VLEN*NFIELDS, EEW_encoded). VLEN is 32 at least.
    if (usize::from(vi.inst.nf) + 1) * hart.v.vlenb < T::SIZE {
        return vlr::<u32>(hart, vi);
    }
    let evl = whole_register_evl::<T>(hart, vi)?;
    let vstart = hart.v.vstart as usize;
    let vi = &as_group(vi);
    let (done, result) = load_elements::<T, _>(hart, vi, unit::<T>(hart, vi), vstart, evl);
    result.map_err(|trap| trap_at(hart, done, trap))?;
    end(hart);
    Ok(())
}

fn vsr(hart: &mut Hart, vi: &VInst) -> Exec {
    let evl = whole_register_evl::<u8>(hart, vi)?;
    let vstart = hart.v.vstart as usize;
    let vi = &as_group(vi);
    let result = store_elements::<u8, _>(hart, vi, unit::<u8>(hart, vi), vstart, evl);
    result.map_err(|(i, trap)| trap_at(hart, i, trap))?;
    end(hart);
    Ok(())
}

/// norm:vector_ls_unit_stride_mask: as `vle8.v` with evl=ceil(vl/8), and `vstart` counts bytes.
fn vlm(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let (vstart, evl) = (hart.v.vstart as usize, vl(&hart.v, vi).div_ceil(8));
    if vstart < evl {
        let (done, result) = load_elements::<u8, _>(hart, vi, unit::<u8>(hart, vi), vstart, evl);
        result.map_err(|trap| trap_at(hart, done, trap))?;
        treat_loaded_tail::<u8>(hart, vi, evl);
    }
    end(hart);
    Ok(())
}

/// norm:vector_ls_unit_stride_mask
fn vsm(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let (vstart, evl) = (hart.v.vstart as usize, vl(&hart.v, vi).div_ceil(8));
    let result = store_elements::<u8, _>(hart, vi, unit::<u8>(hart, vi), vstart, evl);
    result.map_err(|(i, trap)| trap_at(hart, i, trap))?;
    end(hart);
    Ok(())
}

/// The rows of the chapter.
pub(super) fn entry(inst: &Inst, sew: Sew) -> Option<Entry> {
    let fields = inst.nf + 1;
    let shape = |vd, vs2| Shape { memory: true, fields, ..Shape::new(vd, vs2, Eew::Absent) };
    let data = |eew| shape(Eew::Of(eew), Eew::Absent);
    let to_memory = |shape| Shape { store: true, ..shape };
    /// The kernel for the EEW of the data.
    macro_rules! by_eew {
        ($eew:expr, $kernel:ident) => {
            match $eew {
                Sew::E8 => $kernel::<u8> as Run,
                Sew::E16 => $kernel::<u16>,
                Sew::E32 => $kernel::<u32>,
                Sew::E64 => $kernel::<u64>,
            }
        };
    }
    /// The kernel for SEW, of the data, and the EEW of the indices.
    macro_rules! by_index {
        ($eew:expr, $kernel:ident) => {
            match ($eew, sew) {
                (Sew::E8, Sew::E8) => $kernel::<u8, u8> as Run,
                (Sew::E8, Sew::E16) => $kernel::<u16, u8>,
                (Sew::E8, Sew::E32) => $kernel::<u32, u8>,
                (Sew::E8, Sew::E64) => $kernel::<u64, u8>,
                (Sew::E16, Sew::E8) => $kernel::<u8, u16>,
                (Sew::E16, Sew::E16) => $kernel::<u16, u16>,
                (Sew::E16, Sew::E32) => $kernel::<u32, u16>,
                (Sew::E16, Sew::E64) => $kernel::<u64, u16>,
                (Sew::E32, Sew::E8) => $kernel::<u8, u32>,
                (Sew::E32, Sew::E16) => $kernel::<u16, u32>,
                (Sew::E32, Sew::E32) => $kernel::<u32, u32>,
                (Sew::E32, Sew::E64) => $kernel::<u64, u32>,
                (Sew::E64, Sew::E8) => $kernel::<u8, u64>,
                (Sew::E64, Sew::E16) => $kernel::<u16, u64>,
                (Sew::E64, Sew::E32) => $kernel::<u32, u64>,
                (Sew::E64, Sew::E64) => $kernel::<u64, u64>,
            }
        };
    }
    let indexed_load = |eew| {
        let mut shape = shape(Eew::Sew, Eew::Of(eew));
        if fields > 1 {
            shape = shape.apart_vs2(
                "norm:vector_ls_seg_indexed_vreg_rsv: the destination of an indexed segment load overlaps the \
                 indices",
            );
        }
        Entry { shape, run: by_index!(eew, vlxei) }
    };
    let indexed_store =
        |eew| Entry { shape: to_memory(shape(Eew::Sew, Eew::Of(eew))), run: by_index!(eew, vsxei) };
    let whole_load = |eew: Sew| {
        let registers = shape(Eew::Registers(fields), Eew::Absent);
        let shape = Shape { fields: 1, any_vtype: true, encoded_eew: eew.bits(), ..registers };
        Entry { shape, run: by_eew!(eew, vlr) }
    };
    let mask = |run| Entry { shape: shape(Eew::Mask, Eew::Absent), run };
    use Sew::{E8, E16, E32, E64};
    Some(match inst.op {
        Op::Vle8V => Entry { shape: data(E8), run: vle::<u8> },
        Op::Vle16V => Entry { shape: data(E16), run: vle::<u16> },
        Op::Vle32V => Entry { shape: data(E32), run: vle::<u32> },
        Op::Vle64V => Entry { shape: data(E64), run: vle::<u64> },
        Op::Vle8ffV => Entry { shape: data(E8), run: vleff::<u8> },
        Op::Vle16ffV => Entry { shape: data(E16), run: vleff::<u16> },
        Op::Vle32ffV => Entry { shape: data(E32), run: vleff::<u32> },
        Op::Vle64ffV => Entry { shape: data(E64), run: vleff::<u64> },
        Op::Vlse8V => Entry { shape: data(E8), run: vlse::<u8> },
        Op::Vlse16V => Entry { shape: data(E16), run: vlse::<u16> },
        Op::Vlse32V => Entry { shape: data(E32), run: vlse::<u32> },
        Op::Vlse64V => Entry { shape: data(E64), run: vlse::<u64> },
        Op::Vluxei8V | Op::Vloxei8V => indexed_load(E8),
        Op::Vluxei16V | Op::Vloxei16V => indexed_load(E16),
        Op::Vluxei32V | Op::Vloxei32V => indexed_load(E32),
        Op::Vluxei64V | Op::Vloxei64V => indexed_load(E64),
        Op::Vse8V => Entry { shape: to_memory(data(E8)), run: vse::<u8> },
        Op::Vse16V => Entry { shape: to_memory(data(E16)), run: vse::<u16> },
        Op::Vse32V => Entry { shape: to_memory(data(E32)), run: vse::<u32> },
        Op::Vse64V => Entry { shape: to_memory(data(E64)), run: vse::<u64> },
        Op::Vsse8V => Entry { shape: to_memory(data(E8)), run: vsse::<u8> },
        Op::Vsse16V => Entry { shape: to_memory(data(E16)), run: vsse::<u16> },
        Op::Vsse32V => Entry { shape: to_memory(data(E32)), run: vsse::<u32> },
        Op::Vsse64V => Entry { shape: to_memory(data(E64)), run: vsse::<u64> },
        Op::Vsuxei8V | Op::Vsoxei8V => indexed_store(E8),
        Op::Vsuxei16V | Op::Vsoxei16V => indexed_store(E16),
        Op::Vsuxei32V | Op::Vsoxei32V => indexed_store(E32),
        Op::Vsuxei64V | Op::Vsoxei64V => indexed_store(E64),
        Op::VlmV => mask(vlm),
        Op::VsmV => Entry { shape: to_memory(shape(Eew::Mask, Eew::Absent)), run: vsm },
        Op::Vl1re8V | Op::Vl2re8V | Op::Vl4re8V | Op::Vl8re8V => whole_load(E8),
        Op::Vl1re16V | Op::Vl2re16V | Op::Vl4re16V | Op::Vl8re16V => whole_load(E16),
        Op::Vl1re32V | Op::Vl2re32V | Op::Vl4re32V | Op::Vl8re32V => whole_load(E32),
        Op::Vl1re64V | Op::Vl2re64V | Op::Vl4re64V | Op::Vl8re64V => whole_load(E64),
        Op::Vs1rV | Op::Vs2rV | Op::Vs4rV | Op::Vs8rV => {
            let registers = shape(Eew::Registers(fields), Eew::Absent);
            Entry { shape: Shape { fields: 1, any_vtype: true, store: true, ..registers }, run: vsr }
        }
        _ => return None,
    })
}
