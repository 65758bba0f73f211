//! Vector Integer Arithmetic Instructions. Operands are the integers their types say; the exact result is
//! wrapped to the result's type, which makes the widening and mixed-sign forms the same operation.

use super::{Args, Operand, wrap};
use rvv_intrinsics::{Elem, Sem};

/// "Only the low lg2(SEW) bits of the shift-amount value are used", where `width` is SEW.
pub(super) fn shift_amount(amount: Operand, width: u32) -> u32 {
    amount.bits as u32 & (width - 1)
}

pub(super) fn element(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let a = vs2.integer();
    let op1 = || args.op1;
    let b = || args.op1.map(Operand::integer);
    let acc = || args.acc.map(Operand::integer);
    // Products of two 64-bit integers may need all 128 bits; the sign that falls off is not in the result.
    let exact = match sem {
        Sem::Add => a + b()?,
        Sem::Sub => a - b()?,
        Sem::Rsub => b()? - a,
        Sem::Neg => -a,
        Sem::Adc => a + b()? + i128::from(args.carry?),
        Sem::Sbc => a - b()? - i128::from(args.carry?),
        // The carry and the borrow out of the SEW bits: of the operands as unsigned numbers. "The borrow
        // is defined to be 1 iff the difference, prior to truncation, is negative."
        Sem::Madc => {
            let sum = vs2.unsigned() + same_width(op1()?, vs2.elem) + i128::from(args.carry.unwrap_or(false));
            return Some((sum >> vs2.elem.bits()) as u64);
        }
        Sem::Msbc => {
            let difference =
                vs2.unsigned() - same_width(op1()?, vs2.elem) - i128::from(args.carry.unwrap_or(false));
            return Some(u64::from(difference < 0));
        }
        Sem::And => a & b()?,
        Sem::Or => a | b()?,
        Sem::Xor => a ^ b()?,
        Sem::Not => !a,
        Sem::Sll => a << shift_amount(op1()?, vs2.elem.bits()),
        Sem::Srl => vs2.unsigned() >> shift_amount(op1()?, vs2.elem.bits()),
        Sem::Sra => vs2.signed() >> shift_amount(op1()?, vs2.elem.bits()),
        Sem::Min => a.min(b()?),
        Sem::Max => a.max(b()?),
        Sem::Mul => a.wrapping_mul(b()?),
        Sem::Mulh => a.wrapping_mul(b()?) >> vs2.elem.bits(),
        // The scalar chapter on M: "The quotient of division by zero has all bits set, and the remainder
        // of division by zero equals the dividend." The overflow of −2^(L−1) ÷ −1 wraps to the dividend,
        // and its remainder is 0, by themselves.
        Sem::Div => match b()? {
            0 => -1,
            b => a / b,
        },
        Sem::Rem => match b()? {
            0 => a,
            b => a % b,
        },
        Sem::Macc => acc()?.wrapping_add(b()?.wrapping_mul(a)),
        Sem::Nmsac => acc()?.wrapping_sub(b()?.wrapping_mul(a)),
        Sem::Madd => acc()?.wrapping_mul(b()?).wrapping_add(a),
        Sem::Nmsub => a.wrapping_sub(acc()?.wrapping_mul(b()?)),
        // Copies, of floats too: their bits count as an unsigned integer.
        Sem::Merge => {
            if args.carry? {
                b()?
            } else {
                a
            }
        }
        Sem::Move => b().unwrap_or(a),
        Sem::Resize => a,
        _ => return None,
    };
    Some(wrap(ret, exact))
}

/// The operand as an unsigned number of `elem`'s width.
fn same_width(operand: Operand, elem: Elem) -> i128 {
    i128::from(wrap(elem, operand.integer()))
}

/// Vector Integer Compare Instructions.
pub(super) fn compare(sem: Sem, args: &Args) -> Option<u64> {
    let (a, b) = (args.vs2.integer(), args.op1?.integer());
    Some(u64::from(match sem {
        Sem::Eq => a == b,
        Sem::Ne => a != b,
        Sem::Lt => a < b,
        Sem::Le => a <= b,
        Sem::Gt => a > b,
        Sem::Ge => a >= b,
        _ => return None,
    }))
}
