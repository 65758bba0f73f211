//! Vector permutation instructions, integer and floating-point (manual, chapters "Vector Integer Permutation
//! Instructions" and "Vector Floating-Point Permutation Instructions").

use crate::Hart;
use crate::trap::Exec;
use crate::vector::chapters::integer::Vmv;
use crate::vector::run::element::{Element, by_sew, kernel_by_sew};
use crate::vector::run::elements::{begin, end, map, mask_bit, put_scalar, treat_rest, vl};
use crate::vector::run::float_elements::{box_scalar, check_frm, unbox_scalar};
use crate::vector::run::input::MapInput;
use crate::vector::run::kernel::KernelSpec;
use crate::vector::run::maps::{Gather, Map2};
use crate::vector::{Form, Row, VInst, VectorState, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorPermute;

/// norm:vmv-x-s_op: even if `vstart` is not below `vl`.
fn vmv_x_s<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let value = T::read(&hart.v.regs[vi.groups.vs2 as usize..]).sext();
    hart.set_x(vi.inst.rd, value);
    end(hart);
    Ok(())
}

/// norm:vfmv-f-s_op
fn vfmv_f_s<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let value = box_scalar(T::read(&hart.v.regs[vi.groups.vs2 as usize..]));
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
            scalar.write(&mut hart.v.regs[vi.groups.vd as usize..]);
        }
        hart.v.treat_tail(
            vi.policy.tail,
            vi.groups.vd as usize,
            T::SIZE,
            vi.groups.vd_bytes as usize,
            vstart.max(1),
        );
    }
    end(hart);
    Ok(())
}

/// Copies `vs2[i + by]` to the active ones of `vd[i]`, for `i` in `from..to`. The elements are all in the
/// group.
fn copy_elements<T: Element>(v: &mut VectorState, vi: &VInst, from: usize, to: usize, by: isize) {
    if from >= to {
        return;
    }
    let source = |i: usize| vi.groups.vs2 as usize + i.wrapping_add_signed(by) * T::SIZE;
    let target = |i: usize| vi.groups.vd as usize + i * T::SIZE;
    if vi.policy.masked {
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
        if !vi.policy.masked || mask_bit(&v.regs, i) {
            value.write(&mut v.regs[vi.groups.vd as usize + i * T::SIZE..]);
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

/// norm:vrgather-vx_vrgather-vi_op: one element, or 0, for all.
fn vrgather_vx<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let index = vi.scalar(hart);
    let v = &mut hart.v;
    let value = if index < u64::from(vi.vlmax) {
        T::read(&v.regs[vi.groups.vs2 as usize + index as usize * T::SIZE..])
    } else {
        T::ZERO
    };
    put_scalar(v, vi, value.to_u64());
    map(v, vi, MapInput::Index);
    end(hart);
    Ok(())
}

/// norm:vrgather-vv_op_vrgatherei16-vv_op: `vs1` holds indices `I` into `vs2`.
fn gather<I: Element>(sew: Sew) -> Row {
    let spec = match sew {
        Sew::E8 => const { &KernelSpec::of::<Gather<(), u8, I>>() },
        Sew::E16 => const { &KernelSpec::of::<Gather<(), u16, I>>() },
        Sew::E32 => const { &KernelSpec::of::<Gather<(), u32, I>>() },
        Sew::E64 => const { &KernelSpec::of::<Gather<(), u64, I>>() },
    };
    Row::new(Form::Map, Some(spec))
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
            if v.regs[vi.groups.vs1 as usize + i / 8] >> (i % 8) & 1 != 0 {
                let element = T::read(&v.regs[vi.groups.vs2 as usize + i * T::SIZE..]);
                element.write(&mut v.regs[vi.groups.vd as usize + count * T::SIZE..]);
                count += 1;
            }
        }
        v.treat_tail(vi.policy.tail, vi.groups.vd as usize, T::SIZE, vi.groups.vd_bytes as usize, count);
    }
    end(hart);
    Ok(())
}

/// norm:vmv-nr-r_op: EEW=SEW, and `vstart` counts such elements.
fn vmvr<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let bytes = vi.groups.vd_bytes as usize;
    let start = hart.v.vstart.saturating_mul(T::SIZE as u64);
    if start >= bytes as u64 {
        return Err(vi.illegal("norm:vmv-nr-r_op: vstart is not below evl"));
    }
    let (from, start) = (vi.groups.vs2 as usize, start as usize);
    hart.v.regs.copy_within(from + start..from + bytes, vi.groups.vd as usize + start);
    end(hart);
    Ok(())
}

/// The rows of the two chapters.
pub(in crate::vector) fn row(op: VectorPermute, sew: Sew) -> Row {
    macro_rules! by_sew_alone {
        ($run:ident) => {
            Row::own(by_sew!(all sew, $run::<U>))
        };
    }
    rows! { op;
        vmv.x.s => by_sew_alone!(vmv_x_s);
        vmv.s.x => by_sew_alone!(vmv_s_x);
        vfmv.f.s => by_sew_alone!(vfmv_f_s);
        vfmv.s.f => by_sew_alone!(vfmv_s_f);
        vslideup.vx, vslideup.vi => by_sew_alone!(vslideup);
        vslidedown.vx, vslidedown.vi => by_sew_alone!(vslidedown);
        vslide1up.vx => by_sew_alone!(vslide1up);
        vslide1down.vx => by_sew_alone!(vslide1down);
        vfslide1up.vf => by_sew_alone!(vfslide1up);
        vfslide1down.vf => by_sew_alone!(vfslide1down);
        vrgather.vv => match sew {
            Sew::E8 => gather::<u8>(sew),
            Sew::E16 => gather::<u16>(sew),
            Sew::E32 => gather::<u32>(sew),
            Sew::E64 => gather::<u64>(sew),
        };
        vrgather.vx, vrgather.vi => Row::new(
            Form::Own(by_sew!(all sew, vrgather_vx::<U>)),
            kernel_by_sew!(all sew, Map2<Vmv, U, U, U>),
        );
        vrgatherei16.vv => gather::<u16>(sew);
        vcompress.vm => by_sew_alone!(vcompress);
        vmv1r.v, vmv2r.v, vmv4r.v, vmv8r.v => by_sew_alone!(vmvr);
    }
}
