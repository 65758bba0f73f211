//! Mask operations (manual, "Vector Mask Instructions").

use crate::call::{Context, Part};
use crate::value::Value;
use rvv_intrinsics::Role;
use rvv_intrinsics::sem::Mask;

/// The result of a mask operation.
pub fn evaluate(cx: &Context, sem: Mask) -> Result<Value, String> {
    let logical: fn(bool, bool) -> bool = match sem {
        // vmand.mm
        Mask::Mand => |a, b| a & b,
        // vmandn.mm
        Mask::Mandn => |a, b| a & !b,
        // vmnand.mm
        Mask::Mnand => |a, b| !(a & b),
        // vmor.mm
        Mask::Mor => |a, b| a | b,
        // vmorn.mm
        Mask::Morn => |a, b| a | !b,
        // vmnor.mm
        Mask::Mnor => |a, b| !(a | b),
        // vmxor.mm
        Mask::Mxor => |a, b| a ^ b,
        // vmxnor.mm
        Mask::Mxnor => |a, b| !(a ^ b),
        // vmand.mm
        Mask::Mmv => |a, _| a,
        // vmnand.mm
        Mask::Mnot => |a, _| !a,
        // vmxor.mm
        Mask::Mclr => return cx.mask_bits(|_| Ok(Some(false))),
        // vmxnor.mm
        Mask::Mset => return cx.mask_bits(|_| Ok(Some(true))),
        // vcpop.m
        Mask::Mcpop => return count(cx),
        // vfirst.m
        Mask::Mfirst => return first(cx),
        // vmsbf.m vmsif.m vmsof.m
        Mask::Msbf | Mask::Msif | Mask::Msof => return set_first(cx, sem),
        // viota.m
        Mask::Iota => return iota(cx),
        // vid.v
        Mask::Id => {
            let ty = cx.ret()?;
            let size = ty.elem.bytes() as usize;
            let id = cx.elements(ty, |bits, i| {
                bits.set(i * size, size, Some(i as u64));
                Ok(())
            });
            return id;
        }
    };
    let vs2 = cx.need_mask(Role::Vs2)?;
    let vs1 = cx.mask(Role::Vs1).unwrap_or(vs2);
    cx.mask_bits(|i| Ok(vs2.bit(i).zip(vs1.bit(i)).map(|(a, b)| logical(a, b))))
}

/// The bits that count, in order: `None` is one whose value or activity is undefined.
fn active_bits<'a>(cx: &'a Context) -> Result<impl Iterator<Item = (usize, Option<bool>)> + 'a, String> {
    let vs2 = cx.need_mask(Role::Vs2)?;
    Ok((0..cx.vl).filter_map(move |i| match cx.part(i) {
        Part::Active => Some((i, vs2.bit(i))),
        // A bit that is 0 does not count whether it is active or not.
        Part::Unknown if vs2.bit(i) == Some(false) => Some((i, Some(false))),
        Part::Unknown => Some((i, None)),
        Part::Inactive | Part::Tail => None,
    }))
}

fn count(cx: &Context) -> Result<Value, String> {
    let mut sum = Some(0);
    for (_, bit) in active_bits(cx)? {
        sum = sum.zip(bit).map(|(sum, bit)| sum + u64::from(bit));
    }
    Ok(Value::Scalar(sum))
}

fn first(cx: &Context) -> Result<Value, String> {
    for (i, bit) in active_bits(cx)? {
        match bit {
            Some(true) => return Ok(Value::Scalar(Some(i as u64))),
            Some(false) => {}
            None => return Ok(Value::Scalar(None)),
        }
    }
    Ok(Value::Scalar(Some(u64::MAX)))
}

fn set_first(cx: &Context, sem: Mask) -> Result<Value, String> {
    let vs2 = cx.need_mask(Role::Vs2)?;
    // Whether a set bit has been met among the active ones before this one.
    let mut met = Some(false);
    let mut met_at = vec![Some(false); cx.vl];
    for (i, state) in met_at.iter_mut().enumerate() {
        *state = met;
        let bit = match cx.part(i) {
            Part::Active => vs2.bit(i),
            Part::Unknown if vs2.bit(i) == Some(false) => Some(false),
            Part::Unknown => None,
            Part::Inactive | Part::Tail => Some(false),
        };
        met = match (met, bit) {
            (Some(true), _) => Some(true),
            (Some(false), bit) => bit,
            // It may have been; a set bit here makes it sure.
            (None, Some(true)) => Some(true),
            (None, _) => None,
        };
    }
    cx.mask_bits(|i| {
        let here = vs2.bit(i);
        Ok(match (met_at[i], sem) {
            (Some(true), _) => Some(false),
            (Some(false), Mask::Msbf) => here.map(|b| !b),
            (Some(false), Mask::Msif) => Some(true),
            (Some(false), _) => here,
            // Either way a set bit here is not before the first, and a clear one is not the first.
            (None, Mask::Msbf) if here == Some(true) => Some(false),
            (None, Mask::Msof) if here == Some(false) => Some(false),
            (None, _) => None,
        })
    })
}

fn iota(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    // Sums wrap at the element's width: `set` keeps the low bytes.
    let mut sum = Some(0);
    let mut before = vec![None; cx.vl];
    let mut next = 0;
    for (i, bit) in active_bits(cx)? {
        before[next..=i].fill(sum);
        next = i + 1;
        sum = sum.zip(bit).map(|(sum, bit)| sum + u64::from(bit));
    }
    cx.elements(ty, |bits, i| {
        bits.set(i * size, size, before[i]);
        Ok(())
    })
}
