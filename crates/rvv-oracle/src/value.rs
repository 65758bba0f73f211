//! Values of variables.

use crate::bits::Bits;
use rvv_intrinsics::{Type, VecType};

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// All VLMAX elements of a vector; of a tuple, field after field.
    Vector(Bits),
    /// A mask: VLEN/8 bytes. Bits past the type's VLMAX are undefined.
    Mask(Bits),
    /// The bits of a scalar, if it is defined.
    Scalar(Option<u64>),
}

/// Bytes of one field of a vector of this type.
pub fn field_bytes(ty: VecType, vlen: u32) -> usize {
    (ty.vlmax(vlen) * ty.elem.bytes()) as usize
}

/// A value of this type of which nothing is defined.
pub fn undefined(ty: Type, vlen: u32) -> Value {
    match ty {
        Type::Vector(v) => Value::Vector(Bits::undefined(field_bytes(v, vlen) * usize::from(v.nf))),
        Type::Mask(_) => Value::Mask(Bits::undefined(vlen as usize / 8)),
        _ => Value::Scalar(None),
    }
}
