//! Unit-stride accesses whose elements are all on one page of ordinary memory: copies, of all elements or of
//! those that a mask chooses.

use crate::Hart;
use crate::mem::{Access, PAGE};
use crate::vector::VInst;
use crate::vector::run::chosen::copy_chosen;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{treat_rest, vl};
use rvv_isa::{Addressing, Memory, Shape};

/// Where in memory the elements of a unit-stride access are that is no more than a copy, all on one page that
/// is remembered; and how many bytes. Only for instructions that are not masked, and of one field.
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
    vi.note_writes(&mut hart.v);
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

/// Of the plain unit-stride loads and stores, which may be copies: which way, and the bytes of an element as
/// a power of two.
pub(in crate::vector) fn copies(shape: &Shape) -> Option<(Access, u8)> {
    let Memory { addressing: Addressing::UnitStride, eew, store } = shape.memory? else { return None };
    Some((if store { Access::Store } else { Access::Load }, eew.encoding() as u8))
}

/// A load whose elements are all on one page that is remembered; false if they are not.
#[inline(always)]
pub(super) fn load_one_page<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
    if vi.inst.nf != 0 {
        return false;
    }
    let Some((offset, bytes)) = one_piece(hart, vi, Access::Load) else { return false };
    let vd = vi.groups.vd as usize;
    let from = &hart.ram.bytes()[offset..offset + bytes];
    if vi.policy.masked {
        for (word, from) in from.chunks(64 * T::SIZE).enumerate() {
            let bits = u64::read(&hart.v.regs[8 * word..]);
            copy_chosen::<T>(&mut hart.v.regs[vd + 64 * T::SIZE * word..][..from.len()], from, bits);
        }
    } else {
        hart.v.regs[vd..][..bytes].copy_from_slice(from);
    }
    if bytes != 0 {
        treat_rest(&mut hart.v, vi, T::SIZE, 0, bytes / T::SIZE);
    }
    hart.vs_dirty = true;
    true
}

/// A masked store, the same.
#[inline(always)]
pub(super) fn store_chosen<T: Element>(hart: &mut Hart, vi: &VInst) -> bool {
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
