//! A call that does something else than it should: what it writes, inverted. For asking whether it would be
//! noticed.

use crate::call::{Context, Part};
use crate::value::Value;
use rvv_intrinsics::{Role, Sem};

/// Inverts the defined bits of what the call wrote: not those of elements that it left alone. Of a scalar,
/// the lowest bit.
pub fn invert(cx: &Context, value: &mut Value) {
    match value {
        Value::Scalar(value) => *value = value.map(|v| v ^ 1),
        Value::Mask(bits) => {
            for i in (0..bits.len() * 8).filter(|&i| wrote(cx, i)) {
                let bit = bits.bit(i);
                bits.set_bit(i, bit.map(|b| !b));
            }
        }
        Value::Vector(bits) => {
            let Some(ty) = cx.intrinsic.ret.vector() else { return };
            let (size, vlmax) = (ty.elem.bytes() as usize, ty.vlmax(cx.vlen) as usize);
            for field in 0..usize::from(ty.nf) {
                for i in (0..vlmax).filter(|&i| wrote(cx, i)) {
                    bits.invert((field * vlmax + i) * size, size);
                }
            }
        }
    }
}

/// Whether the call writes element `i`.
fn wrote(cx: &Context, i: usize) -> bool {
    if cx.intrinsic.param(Role::Vl).is_none() {
        return true;
    }
    match cx.intrinsic.sem {
        Sem::MvElement0 => i == 0 && cx.vl > 0,
        sem if sem.is_reduction() => i == 0 && cx.vl > 0,
        Sem::Compress => {
            let ones = |m: &crate::bits::Bits| (0..cx.vl).filter(|&k| m.bit(k) == Some(true)).count();
            i < cx.mask(Role::Vs1).map_or(0, ones)
        }
        _ => cx.part(i) == Part::Active,
    }
}
