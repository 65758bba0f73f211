//! Permutations (manual, "Vector Permutation Instructions"). Elements are moved with the definedness of
//! each of their bytes.

use crate::bits::Bits;
use crate::call::Context;
use crate::reduction::scalar_result;
use crate::value::{Value, field_bytes};
use rvv_intrinsics::Role;
use rvv_intrinsics::sem::Permute;

/// The result of a permutation.
pub fn evaluate(cx: &Context, sem: Permute) -> Result<Value, String> {
    Ok(match sem {
        // vfmv.f.s vmv.x.s
        Permute::MvScalar => {
            // vmv_x_s and vfmv_f_s name their operand vs1 or vs2, and look at no vl.
            let (bits, ty) = cx.vector(Role::Vs2).or_else(|| cx.vector(Role::Vs1)).ok_or("no vector")?;
            Value::Scalar(bits.get(0, ty.elem.bytes() as usize))
        }
        // vfmv.s.f vmv.s.x
        Permute::MvElement0 => {
            let size = cx.ret()?.elem.bytes() as usize;
            let mut result = scalar_result(cx)?;
            if cx.vl > 0 {
                result.set(0, size, cx.scalar(Role::Scalar).flatten());
            }
            Value::Vector(result)
        }
        // vslideup.vi vslideup.vx
        Permute::Slideup => slideup(cx)?,
        // vslidedown.vi vslidedown.vx
        Permute::Slidedown => slidedown(cx)?,
        // vfslide1up.vf vslide1up.vx
        Permute::Slide1up => slide1(cx, true)?,
        // vfslide1down.vf vslide1down.vx
        Permute::Slide1down => slide1(cx, false)?,
        // vrgather.vi vrgather.vv vrgather.vx vrgatherei16.vv
        Permute::Gather => gather(cx)?,
        // vcompress.vm
        Permute::Compress => compress(cx)?,
    })
}

/// Copies element `from` of `source` to element `i`.
fn take(result: &mut Bits, i: usize, source: &Bits, from: usize, size: usize) {
    result.copy(i * size, source, from * size, size);
}

fn slideup(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, _) = cx.need_vector(Role::Vs2)?;
    let (vd, _) = cx.need_vector(Role::Acc)?;
    let offset = cx.scalar(Role::Scalar).flatten();
    let result = cx.elements(ty, |bits, i| {
        match offset {
            None => bits.set(i * size, size, None),
            Some(offset) if (i as u64) < offset => take(bits, i, vd, i, size),
            Some(offset) => take(bits, i, vs2, i - offset as usize, size),
        }
        Ok(())
    })?;
    // "The destination vector elements ... 0 < i < max(vstart, OFFSET) are unchanged", masked off or not.
    let Value::Vector(mut result) = result else { return Ok(result) };
    let kept = match offset {
        Some(offset) => cx.vl.min(usize::try_from(offset).unwrap_or(usize::MAX)),
        None => 0,
    };
    for i in 0..kept {
        take(&mut result, i, vd, i, size);
    }
    Ok(Value::Vector(result))
}

fn slidedown(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, _) = cx.need_vector(Role::Vs2)?;
    let vlmax = u64::from(ty.vlmax(cx.vlen));
    let offset = cx.scalar(Role::Scalar).flatten();
    cx.elements(ty, |bits, i| {
        match offset.map(|offset| offset.checked_add(i as u64)) {
            None => bits.set(i * size, size, None),
            Some(Some(from)) if from < vlmax => take(bits, i, vs2, from as usize, size),
            Some(_) => bits.set(i * size, size, Some(0)),
        }
        Ok(())
    })
}

fn slide1(cx: &Context, up: bool) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, _) = cx.need_vector(Role::Vs2)?;
    let scalar = cx.scalar(Role::Scalar).flatten();
    cx.elements(ty, |bits, i| {
        let edge = if up { 0 } else { cx.vl - 1 };
        if i == edge {
            bits.set(i * size, size, scalar);
        } else {
            take(bits, i, vs2, if up { i - 1 } else { i + 1 }, size);
        }
        Ok(())
    })
}

fn gather(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, _) = cx.need_vector(Role::Vs2)?;
    let vlmax = u64::from(ty.vlmax(cx.vlen));
    let index = cx.vector(Role::Vs1);
    cx.elements(ty, |bits, i| {
        let from = match index {
            Some((index, ty)) => {
                let size = ty.elem.bytes() as usize;
                index.get(i * size, size)
            }
            None => cx.scalar(Role::Scalar).flatten(),
        };
        match from {
            None => bits.set(i * size, size, None),
            Some(from) if from < vlmax => take(bits, i, vs2, from as usize, size),
            Some(_) => bits.set(i * size, size, Some(0)),
        }
        Ok(())
    })
}

/// "Any element past the packed ones is tail" (manual, "Vector Compress Instruction").
fn compress(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, _) = cx.need_vector(Role::Vs2)?;
    let selected = cx.need_mask(Role::Vs1)?;
    let len = field_bytes(ty, cx.vlen);
    let keeps = cx.intrinsic.policy.tail_undisturbed();
    let mut result = if keeps { cx.need_vector(Role::Dest)?.0.clone() } else { Bits::undefined(len) };
    let mut packed = 0;
    for i in 0..cx.vl {
        match selected.bit(i) {
            Some(true) => {
                take(&mut result, packed, vs2, i, size);
                packed += 1;
            }
            Some(false) => {}
            None => {
                // From here on everything may have moved.
                let from = packed * size;
                result.bytes[from..].fill(0);
                result.defined[from..].fill(0);
                break;
            }
        }
    }
    Ok(Value::Vector(result))
}
