//! Reductions: element 0 of the result; the rest is tail.

use crate::arith::{self, Operand};
use crate::bits::Bits;
use crate::call::{Context, Part, element};
use crate::value::Value;
use rvv_intrinsics::{Role, Sem};

/// The result of a reduction. With vl = 0 nothing is written (manual, "Vector Reduction Operations":
/// "If vl=0, no operation is performed and the destination register is not updated").
pub fn reduce(cx: &Context) -> Result<Value, String> {
    let ty = cx.ret()?;
    let size = ty.elem.bytes() as usize;
    let (vs2, vs2_ty) = cx.need_vector(Role::Vs2)?;
    let (vs1, vs1_ty) = cx.need_vector(Role::Vs1)?;
    let mut result = scalar_result(cx)?;
    if cx.vl == 0 {
        return Ok(Value::Vector(result));
    }
    let sum = || -> Option<u64> {
        let initial = element(vs1, vs1_ty, 0)?;
        let mut active: Vec<Operand> = Vec::new();
        for i in 0..cx.vl {
            match cx.part(i) {
                Part::Active => active.push(element(vs2, vs2_ty, i)?),
                Part::Unknown => return None,
                Part::Inactive | Part::Tail => {}
            }
        }
        if cx.intrinsic.sem == Sem::Fredusum {
            return arith::unordered_sum(ty.elem, initial.bits, &active, cx.frm);
        }
        Some(arith::reduce(cx.intrinsic.sem, ty.elem, initial.bits, &mut active.into_iter(), cx.frm))
    };
    result.set(0, size, sum());
    Ok(Value::Vector(result))
}

/// A result of which only element 0 may be written: all of it as the tail policy says.
pub fn scalar_result(cx: &Context) -> Result<Bits, String> {
    let ty = cx.ret()?;
    let len = crate::value::field_bytes(ty, cx.vlen);
    if !cx.intrinsic.policy.tail_undisturbed() {
        return Ok(Bits::undefined(len));
    }
    Ok(cx.need_vector(Role::Dest)?.0.clone())
}
