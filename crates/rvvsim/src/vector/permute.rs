//! Vector permutation instructions, integer and floating-point (manual, chapters "Vector Integer Permutation
//! Instructions" and "Vector Floating-Point Permutation Instructions").

use super::body::{Kernel, begin, end, mask_bit, read_lanes, run_group, treat_rest, vl};
use super::element::{Element, by_sew};
use super::float::{box_scalar, check_frm, unbox_scalar};
use super::legality::{Eew, Float, Shape};
use super::{Entry, VInst, VectorState};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::{Op, Sew};
use std::marker::PhantomData;

/// norm:vmv-x-s_op: even if `vstart` is not below `vl`.
fn vmv_x_s<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let value = T::read(&hart.v.regs[vi.vs2 as usize..]).sext();
    hart.set_x(vi.inst.rd, value);
    end(hart);
    Ok(())
}

/// norm:vfmv-f-s_op
fn vfmv_f_s<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let value = box_scalar(T::read(&hart.v.regs[vi.vs2 as usize..]));
    hart.set_f(vi.inst.rd, value);
    end(hart);
    Ok(())
}

/// norm:vmv-s-x_op
fn vmv_s_x<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let scalar = T::from_u64(hart.x[vi.inst.rs1]);
    write_element_0(hart, vi, scalar)
}

/// norm:vfmv-s-f_op
fn vfmv_s_f<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    let scalar = unbox_scalar(hart.f[vi.inst.rs1]);
    write_element_0::<T>(hart, vi, scalar)
}

/// Element 0 is the body; all others are the tail.
fn write_element_0<T: Element>(hart: &mut Hart, vi: &VInst, scalar: T) -> Exec {
    begin(hart, vi)?;
    let (vstart, vl) = (hart.v.vstart as usize, vl(&hart.v, vi));
    if vstart < vl {
        // norm:vector_prestart_element holds for element 0 as for any other.
        if vstart == 0 {
            scalar.write(&mut hart.v.regs[vi.vd as usize..]);
        }
        hart.v.treat_tail(vi.tail, vi.vd as usize, T::SIZE, vi.group as usize, vstart.max(1));
    }
    end(hart);
    Ok(())
}

/// Copies `vs2[i + by]` to the active ones of `vd[i]`, for `i` in `from..to`. The elements are all in the group.
fn copy_elements<T: Element>(v: &mut VectorState, vi: &VInst, from: usize, to: usize, by: isize) {
    if from >= to {
        return;
    }
    let source = |i: usize| vi.vs2 as usize + i.wrapping_add_signed(by) * T::SIZE;
    let target = |i: usize| vi.vd as usize + i * T::SIZE;
    if vi.masked {
        // Upwards: where vd is vs2, elements only ever come from above.
        for i in from..to {
            if mask_bit(&v.regs, i) {
                T::read(&v.regs[source(i)..]).write(&mut v.regs[target(i)..]);
            }
        }
    } else {
        v.regs.copy_within(source(from)..source(to), target(from));
    }
}

/// Writes a value to the active ones of `vd[from..to]`.
fn fill_elements<T: Element>(v: &mut VectorState, vi: &VInst, from: usize, to: usize, value: T) {
    for i in from..to {
        if !vi.masked || mask_bit(&v.regs, i) {
            value.write(&mut v.regs[vi.vd as usize + i * T::SIZE..]);
        }
    }
}

/// norm:vslideup_op
fn vslideup<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let offset = vi.scalar(hart);
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart < vl {
        let offset = offset.min(vl as u64) as usize;
        // "0 <= i < min(vl, max(vstart, OFFSET)): unchanged", inactive elements and all.
        let from = vstart.max(offset);
        copy_elements::<T>(v, vi, from, vl, -(offset as isize));
        treat_rest(v, vi, T::SIZE, from, vl);
    }
    end(hart);
    Ok(())
}

/// norm:vslidedown_op
fn vslidedown<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let offset = vi.scalar(hart);
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart < vl {
        let vlmax = vi.vlmax as usize;
        let offset = offset.min(vlmax as u64) as usize;
        // "VLMAX <= i+OFFSET: src[i] = 0"
        let zero_from = (vlmax - offset).clamp(vstart, vl);
        copy_elements::<T>(v, vi, vstart, zero_from, offset as isize);
        fill_elements(v, vi, zero_from, vl, T::ZERO);
        treat_rest(v, vi, T::SIZE, vstart, vl);
    }
    end(hart);
    Ok(())
}

/// norm:vslide1up-vx_op
fn slide1up<T: Element>(hart: &mut Hart, vi: &VInst, scalar: T) -> Exec {
    begin(hart, vi)?;
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart < vl {
        copy_elements::<T>(v, vi, vstart.max(1), vl, -1);
        fill_elements(v, vi, vstart, 1, scalar);
        treat_rest(v, vi, T::SIZE, vstart, vl);
    }
    end(hart);
    Ok(())
}

/// norm:vslide1down-vx_op
fn slide1down<T: Element>(hart: &mut Hart, vi: &VInst, scalar: T) -> Exec {
    begin(hart, vi)?;
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart < vl {
        copy_elements::<T>(v, vi, vstart, vl - 1, 1);
        fill_elements(v, vi, vl - 1, vl, scalar);
        treat_rest(v, vi, T::SIZE, vstart, vl);
    }
    end(hart);
    Ok(())
}

fn vslide1up<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    slide1up(hart, vi, T::from_u64(hart.x[vi.inst.rs1]))
}

fn vslide1down<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    slide1down(hart, vi, T::from_u64(hart.x[vi.inst.rs1]))
}

fn vfslide1up<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    slide1up::<T>(hart, vi, unbox_scalar(hart.f[vi.inst.rs1]))
}

fn vfslide1down<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    slide1down::<T>(hart, vi, unbox_scalar(hart.f[vi.inst.rs1]))
}

/// norm:vrgather-vv_op_vrgatherei16-vv_op: `vs1` holds indices `I` into `vs2`.
struct Gather<T, I> {
    vs1: usize,
    vs2: usize,
    vlmax: u64,
    types: PhantomData<(T, I)>,
}

impl<T: Element, I: Element> Kernel for Gather<T, I> {
    type D = T;

    #[inline(always)]
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, _active: u64) -> [T; N] {
        let indices: [I; N] = read_lanes(&regs[self.vs1 + first * I::SIZE..][..N * I::SIZE]);
        let source = &regs[self.vs2..][..self.vlmax as usize * T::SIZE];
        let mut result = [T::ZERO; N];
        for (lane, index) in result.iter_mut().zip(indices) {
            *lane = element_or_0(source, index.to_u64(), self.vlmax);
        }
        result
    }
}

#[inline(always)]
fn element_or_0<T: Element>(source: &[u8], index: u64, vlmax: u64) -> T {
    if index < vlmax { T::read(&source[index as usize * T::SIZE..]) } else { T::ZERO }
}

fn vrgather<T: Element, I: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let (vs1, vs2) = (vi.vs1 as usize, vi.vs2 as usize);
    run_group(hart, vi, Gather::<T, I> { vs1, vs2, vlmax: u64::from(vi.vlmax), types: PhantomData })
}

fn vrgather_vv<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    vrgather::<T, T>(hart, vi)
}

fn vrgatherei16<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    vrgather::<T, u16>(hart, vi)
}

/// A value, for every element.
struct Splat<T>(T);

impl<T: Element> Kernel for Splat<T> {
    type D = T;

    #[inline(always)]
    fn block<const N: usize>(&mut self, _regs: &[u8], _first: usize, _active: u64) -> [T; N] {
        [self.0; N]
    }
}

/// norm:vrgather-vx_vrgather-vi_op
fn vrgather_vx<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let value: T = element_or_0(&hart.v.regs[vi.vs2 as usize..], vi.scalar(hart), u64::from(vi.vlmax));
    run_group(hart, vi, Splat(value))
}

/// norm:vcompress_op
fn vcompress<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    if hart.v.vstart != 0 {
        return Err(vi.illegal("norm:vcompress_vstart_n0_ill: vcompress.vm with vstart that is not zero"));
    }
    let v = &mut hart.v;
    let vl = vl(v, vi);
    if vl > 0 {
        let mut count = 0;
        for i in 0..vl {
            if v.regs[vi.vs1 as usize + i / 8] >> (i % 8) & 1 != 0 {
                let element = T::read(&v.regs[vi.vs2 as usize + i * T::SIZE..]);
                element.write(&mut v.regs[vi.vd as usize + count * T::SIZE..]);
                count += 1;
            }
        }
        v.treat_tail(vi.tail, vi.vd as usize, T::SIZE, vi.group as usize, count);
    }
    end(hart);
    Ok(())
}

/// norm:vmv-nr-r_op: EEW=SEW, and `vstart` counts such elements.
fn vmvr<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let bytes = vi.group as usize;
    let start = hart.v.vstart.saturating_mul(T::SIZE as u64);
    if start >= bytes as u64 {
        return Err(vi.illegal("norm:vmv-nr-r_op: vstart is not below evl"));
    }
    let (from, start) = (vi.vs2 as usize, start as usize);
    hart.v.regs.copy_within(from + start..from + bytes, vi.vd as usize + start);
    end(hart);
    Ok(())
}

const GATHER: &str = "norm:vrgather_vrgatherei16_vreg_constr: the destination of vrgather overlaps a source";
const COMPRESS: &str = "norm:vcompress_vreg_constr: the destination of vcompress overlaps a source";
const SLIDEUP: &str = "norm:vslideup_vreg_constr: the destination of vslideup overlaps the source";
const SLIDE1UP: &str = "norm:vslide1up-vx_vreg_constr: the destination of vslide1up overlaps the source";

/// The rows of the two chapters.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Entry> {
    macro_rules! row {
        ($shape:expr, $kernel:ident) => {
            Entry { shape: $shape, run: by_sew!(all sew, $kernel::<U>) }
        };
    }
    let whole = |n| Shape::new(Eew::Registers(n), Eew::Registers(n), Eew::Absent);
    Some(match op {
        Op::VmvXS => row!(Shape::new(Eew::Absent, Eew::Element0, Eew::Absent), vmv_x_s),
        Op::VmvSX => row!(Shape::new(Eew::Element0, Eew::Absent, Eew::Absent), vmv_s_x),
        Op::VfmvFS => {
            row!(Shape::new(Eew::Absent, Eew::Element0, Eew::Absent).float(Float::Sew), vfmv_f_s)
        }
        Op::VfmvSF => {
            row!(Shape::new(Eew::Element0, Eew::Absent, Eew::Absent).float(Float::Sew), vfmv_s_f)
        }
        Op::VslideupVx | Op::VslideupVi => row!(Shape::VX.apart_vs2(SLIDEUP), vslideup),
        Op::VslidedownVx | Op::VslidedownVi => row!(Shape::VX, vslidedown),
        Op::Vslide1upVx => row!(Shape::VX.apart_vs2(SLIDE1UP), vslide1up),
        Op::Vslide1downVx => row!(Shape::VX, vslide1down),
        Op::Vfslide1upVf => row!(Shape::VX.apart_vs2(SLIDE1UP).float(Float::Sew), vfslide1up),
        Op::Vfslide1downVf => row!(Shape::VX.float(Float::Sew), vfslide1down),
        Op::VrgatherVv => row!(Shape::VV.apart_vs2(GATHER).apart_vs1(GATHER), vrgather_vv),
        Op::VrgatherVx | Op::VrgatherVi => row!(Shape::VX.apart_vs2(GATHER), vrgather_vx),
        Op::Vrgatherei16Vv => {
            let shape = Shape::new(Eew::Sew, Eew::Sew, Eew::Of(Sew::E16));
            row!(shape.apart_vs2(GATHER).apart_vs1(GATHER), vrgatherei16)
        }
        Op::VcompressVm => {
            let shape = Shape::new(Eew::Sew, Eew::Sew, Eew::Mask);
            row!(shape.apart_vs2(COMPRESS).apart_vs1(COMPRESS), vcompress)
        }
        Op::Vmv1rV => row!(whole(1), vmvr),
        Op::Vmv2rV => row!(whole(2), vmvr),
        Op::Vmv4rV => row!(whole(4), vmvr),
        Op::Vmv8rV => row!(whole(8), vmvr),
        _ => return None,
    })
}
