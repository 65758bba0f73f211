//! Vector Fixed-Point Arithmetic Instructions.

use super::integer::shift_amount;
use super::{Args, Operand, Vxrm, saturate, wrap};
use rvv_intrinsics::Elem;
use rvv_intrinsics::sem::FixedPoint;

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

pub(super) fn element(sem: FixedPoint, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let op1: Operand = args.op1?;
    let (a, b) = (vs2.integer(), op1.integer());
    let shift = shift_amount(op1, vs2.elem.bits());
    Some(match sem {
        // vsadd.vi vsadd.vv vsadd.vx vsaddu.vi vsaddu.vv vsaddu.vx
        FixedPoint::Sadd => saturate(ret, a + b),
        // vssub.vv vssub.vx vssubu.vv vssubu.vx
        FixedPoint::Ssub => saturate(ret, a - b),
        // "For vasub and vasubu, overflow is ignored and the result wraps around."
        // vaadd.vv vaadd.vx vaaddu.vv vaaddu.vx
        FixedPoint::Aadd => wrap(ret, roundoff(a + b, 1, args.vxrm)),
        // vasub.vv vasub.vx vasubu.vv vasubu.vx
        FixedPoint::Asub => wrap(ret, roundoff(a - b, 1, args.vxrm)),
        // The operands are signed: the product is at most 2^126.
        // vsmul.vv vsmul.vx
        FixedPoint::Smul => {
            saturate(ret, roundoff(vs2.signed() * op1.signed(), vs2.elem.bits() - 1, args.vxrm))
        }
        // vssra.vi vssra.vv vssra.vx vssrl.vi vssrl.vv vssrl.vx
        FixedPoint::Sshift => wrap(ret, roundoff(a, shift, args.vxrm)),
        // "Rounding occurs around the least-significant bit of the destination and before saturation."
        // vnclip.wi vnclip.wv vnclip.wx vnclipu.wi vnclipu.wv vnclipu.wx
        FixedPoint::Clip => saturate(ret, roundoff(a, shift, args.vxrm)),
    })
}
