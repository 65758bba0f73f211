//! Vector loads and stores (manual, chapter "Vector Loads and Stores").
//!
//! Elements go in order, and a trap at one leaves its index in `vstart`, so that execution can resume there.
//! Where many elements lie side by side in ordinary memory they are moved as slices, page by page; devices,
//! logged accesses and elements across a page boundary go one by one.

use crate::Hart;
use crate::mem::{Access, PAGE};
use crate::trap::{Cause, Exec, Trap};
use crate::vector::chapters::segment;
use crate::vector::rules::policy::Policy;
use crate::vector::run::chosen::copy_chosen;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{
    begin, end, log_csr, low_bits, mask_bit, read_elements, unaligned_mask_bits, vl, write_elements,
};
use crate::vector::{Row, VInst, rows};
use rvv_isa::chapter::{VectorLoad, VectorStore};
use rvv_isa::{Addressing, Inst, Memory, Sew, Shape, csr};

/// Where the elements of an instruction are: the address of element (or segment) `i`.
pub(in crate::vector) trait Addresses: Copy {
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
pub(in crate::vector) struct Unit(pub u64, pub u64);

impl Addresses for Unit {
    const UNIT_STRIDE: bool = true;

    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Constant stride: `base` and stride.
#[derive(Clone, Copy)]
pub(in crate::vector) struct Strided(u64, u64);

impl Addresses for Strided {
    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Indexed: `base`, and where the byte offsets are. norm:vector_ls_xlen_dep: zero-extended.
#[derive(Clone, Copy)]
pub(in crate::vector) struct Indexed<I>(u64, usize, std::marker::PhantomData<I>);

impl<I: Element> Addresses for Indexed<I> {
    #[inline(always)]
    fn of(self, hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(I::read(&hart.v.regs[self.1 + i * I::SIZE..]).to_u64())
    }

    #[inline(always)]
    fn several(self, hart: &Hart, i: usize) -> [u64; SEVERAL] {
        let bytes = &hart.v.regs[self.1 + i * I::SIZE..][..SEVERAL * I::SIZE];
        read_elements::<I, SEVERAL>(bytes).map(|index| self.0.wrapping_add(index.to_u64()))
    }
}

fn unit<T: Element>(hart: &Hart, vi: &VInst) -> Unit {
    Unit(hart.x[vi.inst.rs1], T::SIZE as u64 * (u64::from(vi.inst.nf) + 1))
}

fn strided(hart: &Hart, vi: &VInst) -> Strided {
    Strided(hart.x[vi.inst.rs1], hart.x[vi.inst.rs2])
}

fn indexed<I>(hart: &Hart, vi: &VInst) -> Indexed<I> {
    Indexed(hart.x[vi.inst.rs1], vi.groups.vs2 as usize, std::marker::PhantomData)
}

/// Whether element `i` is active.
#[inline(always)]
pub(in crate::vector) fn active(hart: &Hart, vi: &VInst, i: usize) -> bool {
    !vi.policy.masked || mask_bit(&hart.v.regs, i)
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
pub(in crate::vector) fn treat_loaded_inactive<T: Element>(
    hart: &mut Hart,
    vi: &VInst,
    from: usize,
    to: usize,
) {
    if vi.policy.masked && vi.policy.inactive != Policy::Undisturbed {
        if vi.inst.nf == 0 {
            return hart.v.treat_inactive(vi.policy.inactive, vi.groups.vd as usize, T::SIZE, from..to);
        }
        for i in from..to {
            for field in 0..usize::from(vi.inst.nf) + 1 {
                let at = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize;
                hart.v.treat_inactive(vi.policy.inactive, at, T::SIZE, i..i + 1);
            }
        }
    }
}

fn treat_loaded_tail<T: Element>(hart: &mut Hart, vi: &VInst, vl: usize) {
    if vi.policy.tail != Policy::Undisturbed {
        for field in 0..usize::from(vi.inst.nf) + 1 {
            let at = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize;
            hart.v.treat_tail(vi.policy.tail, at, T::SIZE, vi.groups.vd_bytes as usize, vl);
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
                        let to = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + i * T::SIZE;
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
        let active = if vi.policy.masked { unaligned_mask_bits(&hart.v.regs, i, n) } else { low_bits(n) };
        let at = addresses.several(hart, i);
        let to = vi.groups.vd as usize + i * T::SIZE;
        let mut values: [T; SEVERAL] = read_elements(&hart.v.regs[to..][..SEVERAL * T::SIZE]);
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
        write_elements(&mut hart.v.regs[to..][..SEVERAL * T::SIZE], &values);
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
        let active = if vi.policy.masked { unaligned_mask_bits(&hart.v.regs, i, n) } else { low_bits(n) };
        let at = addresses.several(hart, i);
        let from = &hart.v.regs[vi.groups.vd as usize + i * T::SIZE..][..SEVERAL * T::SIZE];
        let values: [T; SEVERAL] = read_elements(from);
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
pub(in crate::vector) struct Stretch {
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
    if vi.policy.masked {
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
    if vi.policy.masked && fields == 1 {
        for k in (i..i + count).step_by(32) {
            let n = 32.min(i + count - k);
            let bits = unaligned_mask_bits(regs, k, n);
            let from = &ram[offset + (k - i) * T::SIZE..][..n * T::SIZE];
            copy_chosen::<T>(&mut regs[vi.groups.vd as usize + k * T::SIZE..][..n * T::SIZE], from, bits);
        }
    } else if vi.policy.masked {
        for k in i..i + count {
            if mask_bit(regs, k) {
                for field in 0..fields {
                    let from = offset + (k - i) * size + field * T::SIZE;
                    let to = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + k * T::SIZE;
                    T::read(&ram[from..]).write(&mut regs[to..]);
                }
            }
        }
    } else if fields == 1 {
        let to = vi.groups.vd as usize + i * T::SIZE;
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
                let from = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + i * T::SIZE;
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
    if vi.policy.masked && fields == 1 {
        for k in (i..i + count).step_by(32) {
            let n = 32.min(i + count - k);
            let bits = unaligned_mask_bits(regs, k, n);
            let from = &regs[vi.groups.vd as usize + k * T::SIZE..][..n * T::SIZE];
            copy_chosen::<T>(&mut ram[offset + (k - i) * T::SIZE..][..n * T::SIZE], from, bits);
        }
    } else if vi.policy.masked {
        for k in i..i + count {
            if mask_bit(regs, k) {
                for field in 0..fields {
                    let to = offset + (k - i) * size + field * T::SIZE;
                    let from = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + k * T::SIZE;
                    T::read(&regs[from..]).write(&mut ram[to..]);
                }
            }
        }
    } else if fields == 1 {
        let from = vi.groups.vd as usize + i * T::SIZE;
        ram[offset..offset + count * T::SIZE].copy_from_slice(&regs[from..from + count * T::SIZE]);
    } else {
        segment::store::<T>(regs, &mut ram[offset..offset + count * size], vi, i);
    }
    Ok(count)
}

/// Where in memory the elements of a unit-stride access are that is no more than a copy, all on one page that is
/// remembered; and how many bytes. Only for instructions that are not masked, and of one field.
#[inline(always)]
pub(in crate::vector) fn one_piece(hart: &Hart, vi: &VInst, access: Access) -> Option<(usize, usize)> {
    let va = hart.x[vi.inst.rs1];
    let bytes = vl(&hart.v, vi) << (vi.fast.shift & 3);
    // An address that is not aligned for its elements misses here, and is looked at with more care.
    let offset = hart.tlb.lookup_any(va, vi.fast.align_mask, access)?;
    (hart.v.vstart == 0 && va % PAGE + bytes as u64 <= PAGE).then_some((offset, bytes))
}

/// The same for `N` bytes, which is what there is if `vl` is VLMAX; it may not be.
#[inline(always)]
pub(in crate::vector) fn whole_piece<const N: usize>(
    hart: &Hart,
    vi: &VInst,
    access: Access,
) -> Option<usize> {
    let va = hart.x[vi.inst.rs1];
    let offset = hart.tlb.lookup_any(va, vi.fast.align_mask, access)?;
    (vi.is_whole(hart) && va % PAGE <= PAGE - N as u64).then_some(offset)
}

/// A load that is a copy of one piece.
#[inline(always)]
pub(in crate::vector) fn load_piece(
    hart: &mut Hart,
    vi: &VInst,
    offset: usize,
    bytes: usize,
    copy: impl Fn(&mut [u8], &[u8]),
) {
    vi.tell(&mut hart.v);
    let to = &mut hart.v.regs[vi.groups.vd as usize..][..bytes];
    copy(to, hart.ram.piece(offset, bytes));
    hart.vs_dirty = true;
}

/// A store that is one.
#[inline(always)]
pub(in crate::vector) fn store_piece(
    hart: &mut Hart,
    vi: &VInst,
    offset: usize,
    bytes: usize,
    copy: impl Fn(&mut [u8], &[u8]),
) {
    let from = &hart.v.regs[vi.groups.vd as usize..][..bytes];
    copy(hart.ram.piece_mut(offset, bytes), from);
    hart.vs_dirty = true;
}

/// Of the plain unit-stride loads and stores, which may be copies: which way, and the bytes of an element as a power of
/// two.
pub(in crate::vector) fn copies(shape: &Shape) -> Option<(Access, u8)> {
    let Memory { addressing: Addressing::UnitStride, eew, store } = shape.memory? else { return None };
    Some((if store { Access::Store } else { Access::Load }, eew.encoding() as u8))
}

/// A masked load whose elements are all on one page that is remembered, and that leaves the others alone; false if it
/// is not.
#[inline(always)]
fn load_chosen<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
    let leaves = vi.policy.inactive == Policy::Undisturbed && vi.policy.tail == Policy::Undisturbed;
    if !vi.policy.masked || !leaves || vi.inst.nf != 0 {
        return false;
    }
    let Some((offset, bytes)) = one_piece(hart, vi, Access::Load) else { return false };
    let from = &hart.ram.bytes()[offset..offset + bytes];
    for (word, from) in from.chunks(64 * T::SIZE).enumerate() {
        let bits = u64::read(&hart.v.regs[8 * word..]);
        copy_chosen::<T>(
            &mut hart.v.regs[vi.groups.vd as usize + 64 * T::SIZE * word..][..from.len()],
            from,
            bits,
        );
    }
    hart.vs_dirty = true;
    true
}

/// The same for stores.
#[inline(always)]
fn store_chosen<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
    if !vi.policy.masked || vi.inst.nf != 0 {
        return false;
    }
    let Some((offset, bytes)) = one_piece(hart, vi, Access::Store) else { return false };
    let to = &mut hart.ram.bytes_mut()[offset..offset + bytes];
    for (word, to) in to.chunks_mut(64 * T::SIZE).enumerate() {
        let bits = u64::read(&hart.v.regs[8 * word..]);
        copy_chosen::<T>(to, &hart.v.regs[vi.groups.vd as usize + 64 * T::SIZE * word..][..to.len()], bits);
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

/// The instance for SEW, of the data, and the EEW of the indices.
macro_rules! by_index {
    ($sew:expr, $run:ident, $index:ty) => {
        match $sew {
            Sew::E8 => Row::own($run::<u8, $index>),
            Sew::E16 => Row::own($run::<u16, $index>),
            Sew::E32 => Row::own($run::<u32, $index>),
            Sew::E64 => Row::own($run::<u64, $index>),
        }
    };
}

/// The rows of the loads. A row's instructions with `nf` > 0 are those named below it.
pub(in crate::vector) fn load_row(op: VectorLoad, sew: Sew) -> Row {
    rows! { op;
        vle8.v => Row::own(vle::<u8>);
        // vlseg2e8.v, vlseg3e8.v, vlseg4e8.v, vlseg5e8.v, vlseg6e8.v, vlseg7e8.v, vlseg8e8.v
        vle16.v => Row::own(vle::<u16>);
        // vlseg2e16.v, vlseg3e16.v, vlseg4e16.v, vlseg5e16.v, vlseg6e16.v, vlseg7e16.v, vlseg8e16.v
        vle32.v => Row::own(vle::<u32>);
        // vlseg2e32.v, vlseg3e32.v, vlseg4e32.v, vlseg5e32.v, vlseg6e32.v, vlseg7e32.v, vlseg8e32.v
        vle64.v => Row::own(vle::<u64>);
        // vlseg2e64.v, vlseg3e64.v, vlseg4e64.v, vlseg5e64.v, vlseg6e64.v, vlseg7e64.v, vlseg8e64.v
        vle8ff.v => Row::own(vleff::<u8>);
        // vlseg2e8ff.v, vlseg3e8ff.v, vlseg4e8ff.v, vlseg5e8ff.v, vlseg6e8ff.v, vlseg7e8ff.v, vlseg8e8ff.v
        vle16ff.v => Row::own(vleff::<u16>);
        // vlseg2e16ff.v, vlseg3e16ff.v, vlseg4e16ff.v, vlseg5e16ff.v, vlseg6e16ff.v, vlseg7e16ff.v, vlseg8e16ff.v
        vle32ff.v => Row::own(vleff::<u32>);
        // vlseg2e32ff.v, vlseg3e32ff.v, vlseg4e32ff.v, vlseg5e32ff.v, vlseg6e32ff.v, vlseg7e32ff.v, vlseg8e32ff.v
        vle64ff.v => Row::own(vleff::<u64>);
        // vlseg2e64ff.v, vlseg3e64ff.v, vlseg4e64ff.v, vlseg5e64ff.v, vlseg6e64ff.v, vlseg7e64ff.v, vlseg8e64ff.v
        vlse8.v => Row::own(vlse::<u8>);
        // vlsseg2e8.v, vlsseg3e8.v, vlsseg4e8.v, vlsseg5e8.v, vlsseg6e8.v, vlsseg7e8.v, vlsseg8e8.v
        vlse16.v => Row::own(vlse::<u16>);
        // vlsseg2e16.v, vlsseg3e16.v, vlsseg4e16.v, vlsseg5e16.v, vlsseg6e16.v, vlsseg7e16.v, vlsseg8e16.v
        vlse32.v => Row::own(vlse::<u32>);
        // vlsseg2e32.v, vlsseg3e32.v, vlsseg4e32.v, vlsseg5e32.v, vlsseg6e32.v, vlsseg7e32.v, vlsseg8e32.v
        vlse64.v => Row::own(vlse::<u64>);
        // vlsseg2e64.v, vlsseg3e64.v, vlsseg4e64.v, vlsseg5e64.v, vlsseg6e64.v, vlsseg7e64.v, vlsseg8e64.v
        vluxei8.v, vloxei8.v => by_index!(sew, vlxei, u8);
        // vluxseg2ei8.v, vluxseg3ei8.v, vluxseg4ei8.v, vluxseg5ei8.v, vluxseg6ei8.v, vluxseg7ei8.v, vluxseg8ei8.v
        // vloxseg2ei8.v, vloxseg3ei8.v, vloxseg4ei8.v, vloxseg5ei8.v, vloxseg6ei8.v, vloxseg7ei8.v, vloxseg8ei8.v
        vluxei16.v, vloxei16.v => by_index!(sew, vlxei, u16);
        // vluxseg2ei16.v, vluxseg3ei16.v, vluxseg4ei16.v, vluxseg5ei16.v, vluxseg6ei16.v, vluxseg7ei16.v, vluxseg8ei16.v
        // vloxseg2ei16.v, vloxseg3ei16.v, vloxseg4ei16.v, vloxseg5ei16.v, vloxseg6ei16.v, vloxseg7ei16.v, vloxseg8ei16.v
        vluxei32.v, vloxei32.v => by_index!(sew, vlxei, u32);
        // vluxseg2ei32.v, vluxseg3ei32.v, vluxseg4ei32.v, vluxseg5ei32.v, vluxseg6ei32.v, vluxseg7ei32.v, vluxseg8ei32.v
        // vloxseg2ei32.v, vloxseg3ei32.v, vloxseg4ei32.v, vloxseg5ei32.v, vloxseg6ei32.v, vloxseg7ei32.v, vloxseg8ei32.v
        vluxei64.v, vloxei64.v => by_index!(sew, vlxei, u64);
        // vluxseg2ei64.v, vluxseg3ei64.v, vluxseg4ei64.v, vluxseg5ei64.v, vluxseg6ei64.v, vluxseg7ei64.v, vluxseg8ei64.v
        // vloxseg2ei64.v, vloxseg3ei64.v, vloxseg4ei64.v, vloxseg5ei64.v, vloxseg6ei64.v, vloxseg7ei64.v, vloxseg8ei64.v
        vlm.v => Row::own(vlm);
        vl1re8.v, vl2re8.v, vl4re8.v, vl8re8.v => Row::own(vlr::<u8>);
        vl1re16.v, vl2re16.v, vl4re16.v, vl8re16.v => Row::own(vlr::<u16>);
        vl1re32.v, vl2re32.v, vl4re32.v, vl8re32.v => Row::own(vlr::<u32>);
        vl1re64.v, vl2re64.v, vl4re64.v, vl8re64.v => Row::own(vlr::<u64>);
    }
}

/// The rows of the stores, in the same way.
pub(in crate::vector) fn store_row(op: VectorStore, sew: Sew) -> Row {
    rows! { op;
        vse8.v => Row::own(vse::<u8>);
        // vsseg2e8.v, vsseg3e8.v, vsseg4e8.v, vsseg5e8.v, vsseg6e8.v, vsseg7e8.v, vsseg8e8.v
        vse16.v => Row::own(vse::<u16>);
        // vsseg2e16.v, vsseg3e16.v, vsseg4e16.v, vsseg5e16.v, vsseg6e16.v, vsseg7e16.v, vsseg8e16.v
        vse32.v => Row::own(vse::<u32>);
        // vsseg2e32.v, vsseg3e32.v, vsseg4e32.v, vsseg5e32.v, vsseg6e32.v, vsseg7e32.v, vsseg8e32.v
        vse64.v => Row::own(vse::<u64>);
        // vsseg2e64.v, vsseg3e64.v, vsseg4e64.v, vsseg5e64.v, vsseg6e64.v, vsseg7e64.v, vsseg8e64.v
        vsse8.v => Row::own(vsse::<u8>);
        // vssseg2e8.v, vssseg3e8.v, vssseg4e8.v, vssseg5e8.v, vssseg6e8.v, vssseg7e8.v, vssseg8e8.v
        vsse16.v => Row::own(vsse::<u16>);
        // vssseg2e16.v, vssseg3e16.v, vssseg4e16.v, vssseg5e16.v, vssseg6e16.v, vssseg7e16.v, vssseg8e16.v
        vsse32.v => Row::own(vsse::<u32>);
        // vssseg2e32.v, vssseg3e32.v, vssseg4e32.v, vssseg5e32.v, vssseg6e32.v, vssseg7e32.v, vssseg8e32.v
        vsse64.v => Row::own(vsse::<u64>);
        // vssseg2e64.v, vssseg3e64.v, vssseg4e64.v, vssseg5e64.v, vssseg6e64.v, vssseg7e64.v, vssseg8e64.v
        vsuxei8.v, vsoxei8.v => by_index!(sew, vsxei, u8);
        // vsuxseg2ei8.v, vsuxseg3ei8.v, vsuxseg4ei8.v, vsuxseg5ei8.v, vsuxseg6ei8.v, vsuxseg7ei8.v, vsuxseg8ei8.v
        // vsoxseg2ei8.v, vsoxseg3ei8.v, vsoxseg4ei8.v, vsoxseg5ei8.v, vsoxseg6ei8.v, vsoxseg7ei8.v, vsoxseg8ei8.v
        vsuxei16.v, vsoxei16.v => by_index!(sew, vsxei, u16);
        // vsuxseg2ei16.v, vsuxseg3ei16.v, vsuxseg4ei16.v, vsuxseg5ei16.v, vsuxseg6ei16.v, vsuxseg7ei16.v, vsuxseg8ei16.v
        // vsoxseg2ei16.v, vsoxseg3ei16.v, vsoxseg4ei16.v, vsoxseg5ei16.v, vsoxseg6ei16.v, vsoxseg7ei16.v, vsoxseg8ei16.v
        vsuxei32.v, vsoxei32.v => by_index!(sew, vsxei, u32);
        // vsuxseg2ei32.v, vsuxseg3ei32.v, vsuxseg4ei32.v, vsuxseg5ei32.v, vsuxseg6ei32.v, vsuxseg7ei32.v, vsuxseg8ei32.v
        // vsoxseg2ei32.v, vsoxseg3ei32.v, vsoxseg4ei32.v, vsoxseg5ei32.v, vsoxseg6ei32.v, vsoxseg7ei32.v, vsoxseg8ei32.v
        vsuxei64.v, vsoxei64.v => by_index!(sew, vsxei, u64);
        // vsuxseg2ei64.v, vsuxseg3ei64.v, vsuxseg4ei64.v, vsuxseg5ei64.v, vsuxseg6ei64.v, vsuxseg7ei64.v, vsuxseg8ei64.v
        // vsoxseg2ei64.v, vsoxseg3ei64.v, vsoxseg4ei64.v, vsoxseg5ei64.v, vsoxseg6ei64.v, vsoxseg7ei64.v, vsoxseg8ei64.v
        vsm.v => Row::own(vsm);
        vs1r.v, vs2r.v, vs4r.v, vs8r.v => Row::own(vsr);
    }
}
