//! Vector Integer Arithmetic Instructions. Operands are the integers their types say; the exact result is
//! wrapped to the result's type, which makes the widening and mixed-sign forms the same operation.

use super::{Args, Operand, wrap};
use rvv_intrinsics::Elem;
use rvv_intrinsics::sem::{Compare, Integer};

/// "Only the low lg2(SEW) bits of the shift-amount value are used", where `width` is SEW.
pub(super) fn shift_amount(amount: Operand, width: u32) -> u32 {
    amount.bits as u32 & (width - 1)
}

pub(super) fn element(sem: Integer, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let a = vs2.integer();
    let op1 = || args.op1;
    let b = || args.op1.map(Operand::integer);
    let acc = || args.acc.map(Operand::integer);
    // Products of two 64-bit integers may need all 128 bits; the sign that falls off is not in the result.
    let exact = match sem {
        // vadd.vi vadd.vv vadd.vx vwadd.vv vwadd.vx vwadd.wv vwadd.wx vwaddu.vv vwaddu.vx vwaddu.wv
        // vwaddu.wx
        Integer::Add => a + b()?,
        // vsub.vv vsub.vx vwsub.vv vwsub.vx vwsub.wv vwsub.wx vwsubu.vv vwsubu.vx vwsubu.wv vwsubu.wx
        Integer::Sub => a - b()?,
        // vrsub.vi vrsub.vx
        Integer::Rsub => b()? - a,
        // vrsub.vi vrsub.vx
        Integer::Neg => -a,
        // vadc.vim vadc.vvm vadc.vxm
        Integer::Adc => a + b()? + i128::from(args.carry?),
        // vsbc.vvm vsbc.vxm
        Integer::Sbc => a - b()? - i128::from(args.carry?),
        // The carry and the borrow out of the SEW bits: of the operands as unsigned numbers. "The borrow
        // is defined to be 1 iff the difference, prior to truncation, is negative."
        // vmadc.vi vmadc.vim vmadc.vv vmadc.vvm vmadc.vx vmadc.vxm
        Integer::Madc => {
            let sum = vs2.unsigned() + same_width(op1()?, vs2.elem) + i128::from(args.carry.unwrap_or(false));
            return Some((sum >> vs2.elem.bits()) as u64);
        }
        // vmsbc.vv vmsbc.vvm vmsbc.vx vmsbc.vxm
        Integer::Msbc => {
            let difference =
                vs2.unsigned() - same_width(op1()?, vs2.elem) - i128::from(args.carry.unwrap_or(false));
            return Some(u64::from(difference < 0));
        }
        // vand.vi vand.vv vand.vx
        Integer::And => a & b()?,
        // vor.vi vor.vv vor.vx
        Integer::Or => a | b()?,
        // vxor.vi vxor.vv vxor.vx
        Integer::Xor => a ^ b()?,
        // vxor.vi
        Integer::Not => !a,
        // vsll.vi vsll.vv vsll.vx
        Integer::Sll => a << shift_amount(op1()?, vs2.elem.bits()),
        // vnsrl.wi vnsrl.wv vnsrl.wx vsrl.vi vsrl.vv vsrl.vx
        Integer::Srl => vs2.unsigned() >> shift_amount(op1()?, vs2.elem.bits()),
        // vnsra.wi vnsra.wv vnsra.wx vsra.vi vsra.vv vsra.vx
        Integer::Sra => vs2.signed() >> shift_amount(op1()?, vs2.elem.bits()),
        // vmin.vv vmin.vx vminu.vv vminu.vx
        Integer::Min => a.min(b()?),
        // vmax.vv vmax.vx vmaxu.vv vmaxu.vx
        Integer::Max => a.max(b()?),
        // vmul.vv vmul.vx vwmul.vv vwmul.vx vwmulsu.vv vwmulsu.vx vwmulu.vv vwmulu.vx
        Integer::Mul => a.wrapping_mul(b()?),
        // vmulh.vv vmulh.vx vmulhsu.vv vmulhsu.vx vmulhu.vv vmulhu.vx
        Integer::Mulh => a.wrapping_mul(b()?) >> vs2.elem.bits(),
        // The scalar chapter on M: "The quotient of division by zero has all bits set, and the remainder
        // of division by zero equals the dividend." The overflow of −2^(L−1) ÷ −1 wraps to the dividend,
        // and its remainder is 0, by themselves.
        // vdiv.vv vdiv.vx vdivu.vv vdivu.vx
        Integer::Div => match b()? {
            0 => -1,
            b => a / b,
        },
        // vrem.vv vrem.vx vremu.vv vremu.vx
        Integer::Rem => match b()? {
            0 => a,
            b => a % b,
        },
        // vmacc.vv vmacc.vx vwmacc.vv vwmacc.vx vwmaccsu.vv vwmaccsu.vx vwmaccu.vv vwmaccu.vx vwmaccus.vx
        Integer::Macc => acc()?.wrapping_add(b()?.wrapping_mul(a)),
        // vnmsac.vv vnmsac.vx
        Integer::Nmsac => acc()?.wrapping_sub(b()?.wrapping_mul(a)),
        // vmadd.vv vmadd.vx
        Integer::Madd => acc()?.wrapping_mul(b()?).wrapping_add(a),
        // vnmsub.vv vnmsub.vx
        Integer::Nmsub => a.wrapping_sub(acc()?.wrapping_mul(b()?)),
        // Copies, of floats too: their bits count as an unsigned integer.
        // vfmerge.vfm vmerge.vim vmerge.vvm vmerge.vxm
        Integer::Merge => {
            if args.carry? {
                b()?
            } else {
                a
            }
        }
        // vfmv.v.f vmv.v.i vmv.v.v vmv.v.x
        Integer::Move => b().unwrap_or(a),
        // vnsrl.wi vnsrl.wx vsext.vf2 vsext.vf4 vsext.vf8 vwadd.vx vwaddu.vx vzext.vf2 vzext.vf4 vzext.vf8
        Integer::Resize => a,
    };
    Some(wrap(ret, exact))
}

/// The operand as an unsigned number of `elem`'s width.
fn same_width(operand: Operand, elem: Elem) -> i128 {
    i128::from(wrap(elem, operand.integer()))
}

/// Vector Integer Compare Instructions.
pub(super) fn compare(sem: Compare, args: &Args) -> Option<u64> {
    let (a, b) = (args.vs2.integer(), args.op1?.integer());
    Some(u64::from(match sem {
        // vmseq.vi vmseq.vv vmseq.vx
        Compare::Eq => a == b,
        // vmsne.vi vmsne.vv vmsne.vx
        Compare::Ne => a != b,
        // vmslt.vv vmslt.vx vmsltu.vv vmsltu.vx
        Compare::Lt => a < b,
        // vmsle.vi vmsle.vv vmsle.vx vmsleu.vi vmsleu.vv vmsleu.vx
        Compare::Le => a <= b,
        // vmsgt.vi vmsgt.vx vmsgtu.vi vmsgtu.vx vmslt.vv vmsltu.vv
        Compare::Gt => a > b,
        // vmsle.vv vmsleu.vv
        Compare::Ge => a >= b,
    }))
}
