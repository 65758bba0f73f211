//! Vector loads and stores (manual, chapter "Vector Loads and Stores").
//!
//! Elements go in order, and a trap at one leaves its index in `vstart`, so that execution can resume there.
//! Where many elements are side by side in ordinary memory they are moved as slices, page by page; devices,
//! logged accesses and elements across a page boundary go one by one.

//!
//! * [`addresses`]: unit-stride, strided and indexed; [`access`]: elements one by one and page by page;
//! * [`piece`]: accesses that are one copy; [`segment`]: segments in one piece.

mod access;
mod addresses;
mod piece;
mod segment;

pub(in crate::vector) use piece::{copies, load_piece, one_piece, store_piece, whole_piece};

use crate::Hart;
use crate::trap::Exec;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{begin, end, vl};
use crate::vector::{Row, VInst, rows};
use access::{load, load_elements, store, store_elements, trap_at, treat_loaded_tail};
use addresses::{indexed, strided, unit};
use piece::{load_one_page, store_chosen};
use rvv_isa::chapter::{VectorLoad, VectorStore};
use rvv_isa::{Inst, Sew};

fn vle<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    if load_one_page::<T>(hart, vi) {
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

/// The elements of a whole-register access. norm:vector_ls_seg_wholereg_evl: reserved if `vstart` is not
/// below.
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
        // vlseg2e16ff.v, vlseg3e16ff.v, vlseg4e16ff.v, vlseg5e16ff.v, vlseg6e16ff.v, vlseg7e16ff.v,
        // vlseg8e16ff.v
        vle32ff.v => Row::own(vleff::<u32>);
        // vlseg2e32ff.v, vlseg3e32ff.v, vlseg4e32ff.v, vlseg5e32ff.v, vlseg6e32ff.v, vlseg7e32ff.v,
        // vlseg8e32ff.v
        vle64ff.v => Row::own(vleff::<u64>);
        // vlseg2e64ff.v, vlseg3e64ff.v, vlseg4e64ff.v, vlseg5e64ff.v, vlseg6e64ff.v, vlseg7e64ff.v,
        // vlseg8e64ff.v
        vlse8.v => Row::own(vlse::<u8>);
        // vlsseg2e8.v, vlsseg3e8.v, vlsseg4e8.v, vlsseg5e8.v, vlsseg6e8.v, vlsseg7e8.v, vlsseg8e8.v
        vlse16.v => Row::own(vlse::<u16>);
        // vlsseg2e16.v, vlsseg3e16.v, vlsseg4e16.v, vlsseg5e16.v, vlsseg6e16.v, vlsseg7e16.v, vlsseg8e16.v
        vlse32.v => Row::own(vlse::<u32>);
        // vlsseg2e32.v, vlsseg3e32.v, vlsseg4e32.v, vlsseg5e32.v, vlsseg6e32.v, vlsseg7e32.v, vlsseg8e32.v
        vlse64.v => Row::own(vlse::<u64>);
        // vlsseg2e64.v, vlsseg3e64.v, vlsseg4e64.v, vlsseg5e64.v, vlsseg6e64.v, vlsseg7e64.v, vlsseg8e64.v
        vluxei8.v, vloxei8.v => by_index!(sew, vlxei, u8);
        // vluxseg2ei8.v, vluxseg3ei8.v, vluxseg4ei8.v, vluxseg5ei8.v, vluxseg6ei8.v, vluxseg7ei8.v,
        // vluxseg8ei8.v
        // vloxseg2ei8.v, vloxseg3ei8.v, vloxseg4ei8.v, vloxseg5ei8.v, vloxseg6ei8.v, vloxseg7ei8.v,
        // vloxseg8ei8.v
        vluxei16.v, vloxei16.v => by_index!(sew, vlxei, u16);
        // vluxseg2ei16.v, vluxseg3ei16.v, vluxseg4ei16.v, vluxseg5ei16.v, vluxseg6ei16.v, vluxseg7ei16.v,
        // vluxseg8ei16.v
        // vloxseg2ei16.v, vloxseg3ei16.v, vloxseg4ei16.v, vloxseg5ei16.v, vloxseg6ei16.v, vloxseg7ei16.v,
        // vloxseg8ei16.v
        vluxei32.v, vloxei32.v => by_index!(sew, vlxei, u32);
        // vluxseg2ei32.v, vluxseg3ei32.v, vluxseg4ei32.v, vluxseg5ei32.v, vluxseg6ei32.v, vluxseg7ei32.v,
        // vluxseg8ei32.v
        // vloxseg2ei32.v, vloxseg3ei32.v, vloxseg4ei32.v, vloxseg5ei32.v, vloxseg6ei32.v, vloxseg7ei32.v,
        // vloxseg8ei32.v
        vluxei64.v, vloxei64.v => by_index!(sew, vlxei, u64);
        // vluxseg2ei64.v, vluxseg3ei64.v, vluxseg4ei64.v, vluxseg5ei64.v, vluxseg6ei64.v, vluxseg7ei64.v,
        // vluxseg8ei64.v
        // vloxseg2ei64.v, vloxseg3ei64.v, vloxseg4ei64.v, vloxseg5ei64.v, vloxseg6ei64.v, vloxseg7ei64.v,
        // vloxseg8ei64.v
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
        // vsuxseg2ei8.v, vsuxseg3ei8.v, vsuxseg4ei8.v, vsuxseg5ei8.v, vsuxseg6ei8.v, vsuxseg7ei8.v,
        // vsuxseg8ei8.v
        // vsoxseg2ei8.v, vsoxseg3ei8.v, vsoxseg4ei8.v, vsoxseg5ei8.v, vsoxseg6ei8.v, vsoxseg7ei8.v,
        // vsoxseg8ei8.v
        vsuxei16.v, vsoxei16.v => by_index!(sew, vsxei, u16);
        // vsuxseg2ei16.v, vsuxseg3ei16.v, vsuxseg4ei16.v, vsuxseg5ei16.v, vsuxseg6ei16.v, vsuxseg7ei16.v,
        // vsuxseg8ei16.v
        // vsoxseg2ei16.v, vsoxseg3ei16.v, vsoxseg4ei16.v, vsoxseg5ei16.v, vsoxseg6ei16.v, vsoxseg7ei16.v,
        // vsoxseg8ei16.v
        vsuxei32.v, vsoxei32.v => by_index!(sew, vsxei, u32);
        // vsuxseg2ei32.v, vsuxseg3ei32.v, vsuxseg4ei32.v, vsuxseg5ei32.v, vsuxseg6ei32.v, vsuxseg7ei32.v,
        // vsuxseg8ei32.v
        // vsoxseg2ei32.v, vsoxseg3ei32.v, vsoxseg4ei32.v, vsoxseg5ei32.v, vsoxseg6ei32.v, vsoxseg7ei32.v,
        // vsoxseg8ei32.v
        vsuxei64.v, vsoxei64.v => by_index!(sew, vsxei, u64);
        // vsuxseg2ei64.v, vsuxseg3ei64.v, vsuxseg4ei64.v, vsuxseg5ei64.v, vsuxseg6ei64.v, vsuxseg7ei64.v,
        // vsuxseg8ei64.v
        // vsoxseg2ei64.v, vsoxseg3ei64.v, vsoxseg4ei64.v, vsoxseg5ei64.v, vsoxseg6ei64.v, vsoxseg7ei64.v,
        // vsoxseg8ei64.v
        vsm.v => Row::own(vsm);
        vs1r.v, vs2r.v, vs4r.v, vs8r.v => Row::own(vsr);
    }
}
