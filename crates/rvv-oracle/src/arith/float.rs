//! Vector Floating-Point Instructions, but for the conversions and estimates.

use super::exact::{Format, Value};
use super::{Args, Operand, Rounding, estimate};
use rvv_intrinsics::{Elem, Sem};

fn value(operand: Operand) -> Option<Value> {
    Some(Format::of(operand.elem)?.unpack(operand.bits))
}

/// Operands narrower than the result need no conversion: unpacked, they are the same numbers.
pub(super) fn element(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    let frm = args.frm;
    let mode = Rounding::Frm(frm);
    match sem {
        Sem::Fclass => return Some(classify(Format::of(args.vs2.elem)?, args.vs2.bits)),
        Sem::Frec7 => return Some(estimate::reciprocal(Format::of(ret)?, args.vs2.bits, mode)),
        Sem::Frsqrt7 => return Some(estimate::reciprocal_root(Format::of(ret)?, args.vs2.bits)),
        Sem::Fmin => return Some(minimum_number(Format::of(ret)?, args.vs2.bits, args.op1?.bits)),
        Sem::Fmax => return Some(maximum_number(Format::of(ret)?, args.vs2.bits, args.op1?.bits)),
        Sem::Fsgnj | Sem::Fsgnjn | Sem::Fsgnjx | Sem::Fneg | Sem::Fabs => {
            return sign_injection(sem, ret, args);
        }
        _ => {}
    }
    let a = value(args.vs2)?;
    let b = || value(args.op1?);
    let acc = || value(args.acc?);
    let exact = match sem {
        Sem::Fadd => a.add(b()?, frm),
        Sem::Fsub => a.add(b()?.neg(), frm),
        Sem::Frsub => b()?.add(a.neg(), frm),
        Sem::Fmul => a.mul(b()?),
        Sem::Fdiv => a.div(b()?),
        Sem::Frdiv => b()?.div(a),
        Sem::Fsqrt => a.sqrt(),
        // The products are exact, so each of these is rounded once.
        Sem::Fmacc => b()?.mul(a).add(acc()?, frm),
        Sem::Fnmacc => b()?.mul(a).neg().add(acc()?.neg(), frm),
        Sem::Fmsac => b()?.mul(a).add(acc()?.neg(), frm),
        Sem::Fnmsac => b()?.mul(a).neg().add(acc()?, frm),
        Sem::Fmadd => acc()?.mul(b()?).add(a, frm),
        Sem::Fnmadd => acc()?.mul(b()?).neg().add(a.neg(), frm),
        Sem::Fmsub => acc()?.mul(b()?).add(a.neg(), frm),
        Sem::Fnmsub => acc()?.mul(b()?).neg().add(a, frm),
        _ => return None,
    };
    Some(Format::of(ret)?.pack(exact, mode))
}

/// "The result takes all bits except the sign bit from the vector vs2 operands." NaNs are not
/// canonicalized.
fn sign_injection(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    let sign = Format::of(ret)?.sign_bit();
    let a = args.vs2.bits;
    let other = match sem {
        Sem::Fneg => !a,
        Sem::Fabs => 0,
        Sem::Fsgnj => args.op1?.bits,
        Sem::Fsgnjn => !args.op1?.bits,
        Sem::Fsgnjx => a ^ args.op1?.bits,
        _ => return None,
    };
    Some(a & !sign | other & sign)
}

/// A number that orders all data that are not NaN as reals; −0 and +0 are the same.
fn order(f: Format, bits: u64) -> i64 {
    let magnitude = (bits & !f.sign_bit()) as i64;
    if bits & f.sign_bit() != 0 { -magnitude } else { magnitude }
}

/// "vmfne writes 1 to the destination element when either operand is NaN, whereas the other compares
/// write 0".
pub(super) fn compare(sem: Sem, args: &Args) -> Option<u64> {
    let f = Format::of(args.vs2.elem)?;
    let (a, b) = (args.vs2.bits, args.op1?.bits);
    if f.is_nan(a) || f.is_nan(b) {
        return Some(u64::from(sem == Sem::Ne));
    }
    let (a, b) = (order(f, a), order(f, b));
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

/// IEEE 754-2019 minimumNumber: −0 is less than +0; "If both inputs are NaNs, the result is the canonical NaN.
/// If only one operand is a NaN, the result is the non-NaN operand."
pub(super) fn minimum_number(f: Format, a: u64, b: u64) -> u64 {
    match (f.is_nan(a), f.is_nan(b)) {
        (true, true) => f.canonical_nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let key = |x: u64| (order(f, x), x & f.sign_bit() == 0);
            if key(a) <= key(b) { a } else { b }
        }
    }
}

/// IEEE 754-2019 maximumNumber.
pub(super) fn maximum_number(f: Format, a: u64, b: u64) -> u64 {
    let negated = |x: u64| x ^ f.sign_bit();
    if f.is_nan(a) && f.is_nan(b) {
        return f.canonical_nan();
    }
    negated(minimum_number(f, negated(a), negated(b)))
}

/// The table of FCLASS.S.
fn classify(f: Format, bits: u64) -> u64 {
    let negative = bits & f.sign_bit() != 0;
    let exponent = (bits >> f.frac_bits) & f.exp_mask();
    let fraction = bits & f.frac_mask();
    let quiet = fraction >> (f.frac_bits - 1) != 0;
    let class = match (exponent, fraction) {
        (0, 0) => {
            if negative {
                3
            } else {
                4
            }
        }
        (0, _) => {
            if negative {
                2
            } else {
                5
            }
        }
        (e, 0) if e == f.exp_mask() => {
            if negative {
                0
            } else {
                7
            }
        }
        (e, _) if e == f.exp_mask() => {
            if quiet {
                9
            } else {
                8
            }
        }
        _ => {
            if negative {
                1
            } else {
                6
            }
        }
    };
    1 << class
}
