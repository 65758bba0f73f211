//! The utilities that are no operation on elements: reinterpretation, LMUL changes, tuples.

use crate::bits::Bits;
use crate::call::Context;
use crate::value::{Value, field_bytes, undefined};
use rvv_intrinsics::sem::Utility;
use rvv_intrinsics::{Role, Type};

/// The result of one of them.
pub fn evaluate(cx: &Context, sem: Utility) -> Result<Value, String> {
    let ret = cx.intrinsic.ret;
    Ok(match sem {
        Utility::Undefined => undefined(ret, cx.vlen),
        Utility::Reinterpret => reinterpret(cx)?,
        Utility::LmulExt | Utility::LmulTrunc => {
            let (source, _) = cx.need_vector(Role::Source)?;
            let mut result = Bits::undefined(field_bytes(cx.ret()?, cx.vlen));
            let len = source.len().min(result.len());
            result.copy(0, source, 0, len);
            Value::Vector(result)
        }
        Utility::Get => {
            let (source, _) = cx.need_vector(Role::Source)?;
            let mut result = Bits::undefined(field_bytes(cx.ret()?, cx.vlen));
            let len = result.len();
            let at = inside(cx.constant(Role::Position) as usize * len, len, source.len())?;
            result.copy(0, source, at, len);
            Value::Vector(result)
        }
        Utility::Set => {
            let mut result = cx.need_vector(Role::Source)?.0.clone();
            let (value, _) = cx.need_vector(Role::Value)?;
            let len = value.len();
            let at = inside(cx.constant(Role::Position) as usize * len, len, result.len())?;
            result.copy(at, value, 0, len);
            Value::Vector(result)
        }
        Utility::Create => {
            let mut result = Bits::default();
            for part in 0..8 {
                if let Some((bits, _)) = cx.vector(Role::Part(part)) {
                    result.bytes.extend(&bits.bytes);
                    result.defined.extend(&bits.defined);
                }
            }
            Value::Vector(result)
        }
    })
}

/// A part must lie in the whole: the API's own undefined behaviour otherwise.
fn inside(at: usize, len: usize, whole: usize) -> Result<usize, String> {
    if at + len > whole {
        return Err("the index of vget or vset is past the last part".to_string());
    }
    Ok(at)
}

/// A mask has as many elements as its type says: the rest of the register is not part of it, in either
/// direction.
fn reinterpret(cx: &Context) -> Result<Value, String> {
    if let Some(mask) = cx.mask(Role::Source) {
        return Ok(Value::Vector(mask.clone()));
    }
    let (source, _) = cx.need_vector(Role::Source)?;
    let Type::Mask(n) = cx.intrinsic.ret else { return Ok(Value::Vector(source.clone())) };
    let mut result = Bits::undefined(cx.vlen as usize / 8);
    for i in 0..(cx.vlen / u32::from(n)) as usize {
        result.set_bit(i, source.bit(i));
    }
    Ok(Value::Mask(result))
}
