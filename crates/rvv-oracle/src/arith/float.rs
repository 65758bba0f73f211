//! Vector Floating-Point Instructions, but for the conversions and estimates.

use super::exact::{Format, Value};
use super::{Args, Operand, Rounding, estimate};
use rvv_intrinsics::Elem;
use rvv_intrinsics::sem::{Compare, Float};

fn value(operand: Operand) -> Option<Value> {
    Some(Format::of(operand.elem)?.unpack(operand.bits))
}

/// Operands narrower than the result need no conversion: unpacked, they are the same numbers.
pub(super) fn element(sem: Float, ret: Elem, args: &Args) -> Option<u64> {
    let frm = args.frm;
    let mode = Rounding::Frm(frm);
    let bits = args.vs2.bits;
    // The result of vfclass is an integer; its operand is not.
    let format = Format::of(if sem == Float::Fclass { args.vs2.elem } else { ret })?;
    let a = || value(args.vs2);
    let b = || value(args.op1?);
    let acc = || value(args.acc?);
    let exact = match sem {
        // vfadd.vf vfadd.vv vfwadd.vf vfwadd.vv vfwadd.wf vfwadd.wv
        Float::Fadd => a()?.add(b()?, frm),
        // vfsub.vf vfsub.vv vfwsub.vf vfwsub.vv vfwsub.wf vfwsub.wv
        Float::Fsub => a()?.add(b()?.neg(), frm),
        // vfrsub.vf
        Float::Frsub => b()?.add(a()?.neg(), frm),
        // vfmul.vf vfmul.vv vfwmul.vf vfwmul.vv
        Float::Fmul => a()?.mul(b()?),
        // vfdiv.vf vfdiv.vv
        Float::Fdiv => a()?.div(b()?),
        // vfrdiv.vf
        Float::Frdiv => b()?.div(a()?),
        // vfsqrt.v
        Float::Fsqrt => a()?.sqrt(),
        // The products are exact, so each of these is rounded once.
        // vfmacc.vf vfmacc.vv vfwmacc.vf vfwmacc.vv vfwmaccbf16.vf vfwmaccbf16.vv
        Float::Fmacc => b()?.mul(a()?).add(acc()?, frm),
        // vfnmacc.vf vfnmacc.vv vfwnmacc.vf vfwnmacc.vv
        Float::Fnmacc => b()?.mul(a()?).neg().add(acc()?.neg(), frm),
        // vfmsac.vf vfmsac.vv vfwmsac.vf vfwmsac.vv
        Float::Fmsac => b()?.mul(a()?).add(acc()?.neg(), frm),
        // vfnmsac.vf vfnmsac.vv vfwnmsac.vf vfwnmsac.vv
        Float::Fnmsac => b()?.mul(a()?).neg().add(acc()?, frm),
        // vfmadd.vf vfmadd.vv
        Float::Fmadd => acc()?.mul(b()?).add(a()?, frm),
        // vfnmadd.vf vfnmadd.vv
        Float::Fnmadd => acc()?.mul(b()?).neg().add(a()?.neg(), frm),
        // vfmsub.vf vfmsub.vv
        Float::Fmsub => acc()?.mul(b()?).add(a()?.neg(), frm),
        // vfnmsub.vf vfnmsub.vv
        Float::Fnmsub => acc()?.mul(b()?).neg().add(a()?, frm),
        // vfrec7.v
        Float::Frec7 => return Some(estimate::reciprocal(format, bits, mode)),
        // vfrsqrt7.v
        Float::Frsqrt7 => return Some(estimate::reciprocal_root(format, bits)),
        // vfmin.vf vfmin.vv
        Float::Fmin => return Some(minimum_number(format, bits, args.op1?.bits)),
        // vfmax.vf vfmax.vv
        Float::Fmax => return Some(maximum_number(format, bits, args.op1?.bits)),
        // vfsgnj.vf vfsgnj.vv
        Float::Fsgnj => return Some(with_sign(format, bits, args.op1?.bits)),
        // vfsgnjn.vf vfsgnjn.vv
        Float::Fsgnjn => return Some(with_sign(format, bits, !args.op1?.bits)),
        // vfsgnjx.vf vfsgnjx.vv
        Float::Fsgnjx => return Some(with_sign(format, bits, bits ^ args.op1?.bits)),
        // vfsgnjn.vv
        Float::Fneg => return Some(with_sign(format, bits, !bits)),
        // vfsgnjx.vv
        Float::Fabs => return Some(with_sign(format, bits, 0)),
        // vfclass.v
        Float::Fclass => return Some(classify(format, bits)),
    };
    Some(format.pack(exact, mode))
}

/// "The result takes all bits except the sign bit from the vector vs2 operands." NaNs are not
/// canonicalized.
fn with_sign(f: Format, a: u64, other: u64) -> u64 {
    let sign = f.sign_bit();
    a & !sign | other & sign
}

/// A number that orders all data that are not NaN as reals; −0 and +0 are the same.
fn order(f: Format, bits: u64) -> i64 {
    let magnitude = (bits & !f.sign_bit()) as i64;
    if bits & f.sign_bit() != 0 { -magnitude } else { magnitude }
}

/// "vmfne writes 1 to the destination element when either operand is NaN, whereas the other compares
/// write 0".
pub(super) fn compare(sem: Compare, args: &Args) -> Option<u64> {
    let f = Format::of(args.vs2.elem)?;
    let (a, b) = (args.vs2.bits, args.op1?.bits);
    if f.is_nan(a) || f.is_nan(b) {
        return Some(u64::from(sem == Compare::Ne));
    }
    let (a, b) = (order(f, a), order(f, b));
    Some(u64::from(match sem {
        // vmfeq.vf vmfeq.vv
        Compare::Eq => a == b,
        // vmfne.vf vmfne.vv
        Compare::Ne => a != b,
        // vmflt.vf vmflt.vv
        Compare::Lt => a < b,
        // vmfle.vf vmfle.vv
        Compare::Le => a <= b,
        // vmfgt.vf vmflt.vv
        Compare::Gt => a > b,
        // vmfge.vf vmfle.vv
        Compare::Ge => a >= b,
    }))
}

/// IEEE 754-2019 minimumNumber: −0 is less than +0; "If both inputs are NaNs, the result is the canonical
/// NaN. If only one operand is a NaN, the result is the non-NaN operand."
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
