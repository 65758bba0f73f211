//! Vector Fixed-Point Arithmetic Instructions.

use super::integer::shift_amount;
use super::{Args, Operand, Vxrm, saturate, wrap};
use rvv_intrinsics::{Elem, Sem};

/// roundoff_signed and roundoff_unsigned: "the rounded result is `(v >> d) + r`".
fn roundoff(v: i128, d: u32, vxrm: Vxrm) -> i128 {
    if d == 0 {
        return v;
    }
    let bit = |n: u32| v >> n & 1;
    let below = |n: u32| v & ((1 << n) - 1) != 0;
    let r = match vxrm {
        Vxrm::Rnu => bit(d - 1),
        Vxrm::Rne => bit(d - 1) & (i128::from(below(d - 1)) | bit(d)),
        Vxrm::Rdn => 0,
        Vxrm::Rod => (bit(d) ^ 1) & i128::from(below(d)),
    };
    (v >> d) + r
}

pub(super) fn element(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let op1: Operand = args.op1?;
    let (a, b) = (vs2.integer(), op1.integer());
    let shift = shift_amount(op1, vs2.elem.bits());
    Some(match sem {
        Sem::Sadd => saturate(ret, a + b),
        Sem::Ssub => saturate(ret, a - b),
        // "For vasub and vasubu, overflow is ignored and the result wraps around."
        Sem::Aadd => wrap(ret, roundoff(a + b, 1, args.vxrm)),
        Sem::Asub => wrap(ret, roundoff(a - b, 1, args.vxrm)),
        // The operands are signed: the product is at most 2^126.
        Sem::Smul => saturate(ret, roundoff(vs2.signed() * op1.signed(), vs2.elem.bits() - 1, args.vxrm)),
        Sem::Sshift => wrap(ret, roundoff(a, shift, args.vxrm)),
        // "Rounding occurs around the least-significant bit of the destination and before saturation."
        Sem::Clip => saturate(ret, roundoff(a, shift, args.vxrm)),
        _ => return None,
    })
}
