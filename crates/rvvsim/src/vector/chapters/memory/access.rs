//! Loads and stores of elements and segments, whatever their addresses.

use super::addresses::{Addresses, SEVERAL};
use super::segment;
use crate::Hart;
use crate::mem::{Access, PAGE};
use crate::trap::{Cause, Exec, Trap};
use crate::vector::VInst;
use crate::vector::rules::policy::Policy;
use crate::vector::run::chosen::copy_chosen;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{
    begin, end, log_csr, low_bits, mask_bit, read_elements, unaligned_mask_bits, vl, write_elements,
};
use rvv_isa::csr;

/// Whether element `i` is active.
#[inline(always)]
pub(in crate::vector) fn active(hart: &Hart, vi: &VInst, i: usize) -> bool {
    !vi.policy.masked || mask_bit(&hart.v.regs, i)
}

/// A trap at element `i`: earlier elements are done, and execution can resume here.
#[cold]
pub(super) fn trap_at(hart: &mut Hart, i: usize, trap: Trap) -> Trap {
    hart.v.vstart = i as u64;
    log_csr(hart, csr::VSTART, i as u64);
    hart.vs_dirty = true;
    trap
}

/// The policies for a load that has got to element `to`. Under a random policy coins fall in element order,
/// so that a load that traps and is resumed ends as one that does not trap.
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

pub(super) fn treat_loaded_tail<T: Element>(hart: &mut Hart, vi: &VInst, vl: usize) {
    if vi.policy.tail != Policy::Undisturbed {
        for field in 0..usize::from(vi.inst.nf) + 1 {
            let at = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize;
            hart.v.treat_tail(vi.policy.tail, at, T::SIZE, vi.groups.vd_bytes as usize, vl);
        }
    }
}

/// A load of elements or segments, whatever their addresses.
#[inline(always)]
pub(super) fn load<T: Element, A: Addresses>(
    hart: &mut Hart,
    vi: &VInst,
    addresses: A,
    fault_only_first: bool,
) -> Exec {
    begin(hart, vi)?;
    let (vstart, vl) = (hart.v.vstart as usize, vl(&hart.v, vi));
    if vstart < vl {
        let (done, result) = load_elements::<T, A>(hart, vi, addresses, vstart, vl);
        treat_loaded_inactive::<T>(hart, vi, vstart, done);
        match result {
            // norm:vector_ff_op: a trap at an element other than 0 only shortens the vector.
            // "Implementations should not reduce vl but instead should trigger the debug trap as otherwise
            // the event might be lost" (section "Unit-stride Fault-Only-First Loads").
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
pub(super) fn load_elements<T: Element, A: Addresses>(
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
            let mut values = [T::from_u64(0); 8];
            let fields = &mut values[..usize::from(vi.inst.nf) + 1];
            for field in 0..fields.len() {
                match hart.load::<T>(address.wrapping_add((field * T::SIZE) as u64)) {
                    Ok(value) => fields[field] = value,
                    Err(trap) => {
                        // norm:vector_ls_seg_partial_access: the fields before may be written, or not.
                        let done = if hart.config.partial_segments { field } else { 0 };
                        write_fields(hart, vi, i, &fields[..done]);
                        return (i, Err(trap));
                    }
                }
            }
            write_fields(hart, vi, i, fields);
        }
        i += 1;
    }
    (vl, Ok(()))
}

/// Writes the first fields of segment `i`.
#[inline(always)]
fn write_fields<T: Element>(hart: &mut Hart, vi: &VInst, i: usize, fields: &[T]) {
    for (field, value) in fields.iter().enumerate() {
        let to = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + i * T::SIZE;
        value.write(&mut hart.v.regs[to..]);
    }
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

/// The elements from `i`, at `address`, that are on one page and may be accessed together: `Ok(None)` if
/// there are none such and element `i` must be looked at alone, `Err` with the index of the element that
/// faults. None of the elements may be active: then the page is not touched, and `offset` is of no meaning.
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

/// Loads as many elements from `i` as are together; returns how many.
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
pub(super) fn store<T: Element, A: Addresses>(hart: &mut Hart, vi: &VInst, addresses: A) -> Exec {
    begin(hart, vi)?;
    let (vstart, vl) = (hart.v.vstart as usize, vl(&hart.v, vi));
    store_elements::<T, A>(hart, vi, addresses, vstart, vl).map_err(|(i, trap)| trap_at(hart, i, trap))?;
    end(hart);
    Ok(())
}

/// Stores the elements `vstart..vl`; or where it stopped, and the trap.
#[inline(always)]
pub(super) fn store_elements<T: Element, A: Addresses>(
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

/// Stores as many elements from `i` as are together; returns how many.
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
