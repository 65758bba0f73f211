//! Operations on element groups (manual, "Vector Cryptography", "Element Groups").

use crate::arith;
use crate::bits::Bits;
use crate::call::Context;
use crate::value::{Value, field_bytes};
use rvv_intrinsics::{Elem, Role};
use rvv_isa::Eew;

/// The result of an operation on groups of `group` elements.
pub fn evaluate(cx: &Context, group: u8) -> Result<Value, String> {
    let group = usize::from(group);
    let ty = cx.ret()?;
    let vlmax = ty.vlmax(cx.vlen) as usize;
    let name = &cx.intrinsic.name;
    // "If the element group does not fit in LMUL × VLEN, the instruction encoding is reserved"; "vl is
    // not a multiple of EGS: reserved".
    if vlmax < group {
        return Err(format!(
            "`{name}` works on groups of {group} elements; VLMAX is {vlmax} at VLEN {}",
            cx.vlen
        ));
    }
    if !cx.vl.is_multiple_of(group) {
        return Err(format!("`{name}` works on groups of {group} elements; vl is {}", cx.vl));
    }
    let size = ty.elem.bytes() as usize;
    // The scalar-element-group forms use group 0 of vs2 for all.
    let scalar_group = cx.intrinsic.shape().vs2 == Eew::ElementGroup0;
    if scalar_group && cx.vector(Role::Vs2).is_some_and(|(_, t)| (t.vlmax(cx.vlen) as usize) < group) {
        return Err(format!(
            "`{name}` reads a group of {group} elements, which does not fit in vs2 at VLEN {}",
            cx.vlen
        ));
    }
    let words = |role: Role, first: usize| -> Option<Vec<u64>> {
        match cx.vector(role) {
            None => Some(vec![0; group]),
            Some((bits, _)) => (first..first + group).map(|i| bits.get(i * size, size)).collect(),
        }
    };
    let old = cx.vector(Role::Acc).or_else(|| cx.vector(Role::Dest));
    let mut result = match old {
        Some((old, _)) if cx.intrinsic.policy.tail_undisturbed() => old.clone(),
        _ => Bits::undefined(field_bytes(ty, cx.vlen)),
    };
    for first in (0..cx.vl).step_by(group) {
        let vd = words(Role::Acc, first);
        let vs2 = words(Role::Vs2, if scalar_group { 0 } else { first });
        let vs1 = words(Role::Vs1, first);
        let values = match (vd, vs2, vs1) {
            (Some(vd), Some(vs2), Some(vs1)) => Some(compute(cx, ty.elem, &vd, &vs2, &vs1)?),
            _ => None,
        };
        for i in 0..group {
            result.set((first + i) * size, size, values.as_ref().map(|v| v[i]));
        }
    }
    Ok(Value::Vector(result))
}

fn compute(cx: &Context, elem: Elem, vd: &[u64], vs2: &[u64], vs1: &[u64]) -> Result<Vec<u64>, String> {
    let sem = cx.intrinsic.sem;
    let uimm = cx.constant(Role::Uimm) as u32;
    Ok(match (vd.len(), elem) {
        (8, _) => widen(&arith::group8_u32(sem, narrow(vd)?, narrow(vs2)?, narrow(vs1)?, uimm)),
        (_, Elem::U64) => arith::group4_u64(sem, array(vd)?, array(vs2)?, array(vs1)?).to_vec(),
        _ => widen(&arith::group4_u32(sem, narrow(vd)?, narrow(vs2)?, narrow(vs1)?, uimm)),
    })
}

fn array<const N: usize>(words: &[u64]) -> Result<[u64; N], String> {
    words.try_into().map_err(|_| "a group of another size".to_string())
}

fn narrow<const N: usize>(words: &[u64]) -> Result<[u32; N], String> {
    array(words).map(|w: [u64; N]| w.map(|v| v as u32))
}

fn widen(words: &[u32]) -> Vec<u64> {
    words.iter().map(|&w| w.into()).collect()
}
