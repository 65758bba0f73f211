//! Operators and conversions of C on single values (C11, 6.3 and 6.5), for two's complement and IEEE 754
//! (annex F).

use crate::arith::{Args, Frm, Operand, element};
use rvv_intrinsics::{Elem, Sem};
use rvv_ir::loops::{Binary, Builtin, common, promote};

use super::Typed;

/// The integer that bits of a type are.
pub fn number(elem: Elem, bits: u64) -> i128 {
    let unused = 64 - elem.bits();
    if elem.is_signed() { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) }
}

/// The low bits of an integer, as many as the type has.
pub fn wrap(elem: Elem, value: i128) -> u64 {
    value as u64 & (u64::MAX >> (64 - elem.bits()))
}

/// The bits of an integer that must be a value of a signed type; unsigned types wrap.
fn fit(elem: Elem, value: i128, what: &str) -> Result<u64, String> {
    let bits = wrap(elem, value);
    if elem.is_signed() && number(elem, bits) != value {
        return Err(format!("signed overflow: {what} is {value}, which is no {}", elem.short()));
    }
    Ok(bits)
}

/// Bits of the fraction and of the exponent.
fn format(elem: Elem) -> Option<(u32, u32)> {
    match elem {
        Elem::F16 => Some((10, 5)),
        Elem::Bf16 => Some((7, 8)),
        Elem::F32 => Some((23, 8)),
        Elem::F64 => Some((52, 11)),
        _ => None,
    }
}

/// The exponent field, if the bits are a NaN.
pub fn nan_exponent(elem: Elem, bits: u64) -> Option<u64> {
    let (fraction, exponent) = format(elem)?;
    let ones = ((1u64 << exponent) - 1) << fraction;
    (bits & ones == ones && bits & ((1 << fraction) - 1) != 0).then_some(ones)
}

/// The canonical NaN of a floating-point type.
pub fn canonical_nan(elem: Elem) -> Option<u64> {
    let (fraction, exponent) = format(elem)?;
    Some(((1u64 << (exponent + 1)) - 1) << (fraction - 1))
}

/// Whether a value is not equal to zero.
pub fn is_true(elem: Elem, bits: u64) -> bool {
    // All but the sign of a zero.
    if elem.is_float() { bits << (64 - elem.bits()) << 1 != 0 } else { bits != 0 }
}

/// `-a`
pub fn negate(elem: Elem, bits: u64) -> Result<Typed, String> {
    if elem.is_float() {
        return Ok((elem, bits ^ 1 << (elem.bits() - 1)));
    }
    let ty = promote(elem);
    Ok((ty, fit(ty, -number(elem, bits), "the negative")?))
}

/// A conversion.
pub fn convert((from, bits): Typed, to: Elem, frm: Frm) -> Result<u64, String> {
    if from == to {
        return Ok(bits);
    }
    match (from.is_float(), to.is_float()) {
        (false, false) => Ok(wrap(to, number(from, bits))),
        (_, true) => {
            let args = Args { frm, ..Args::new(Operand::new(bits, from)) };
            let result = element(Sem::Fcvt, to, &args).ok_or("no conversion")?;
            // C11, 6.3.1.4: an integer outside of the range of the floating-point type.
            if !from.is_float() && is_infinite(to, result) {
                return Err(format!(
                    "{} is converted to {}, which has no such value",
                    number(from, bits),
                    to.short()
                ));
            }
            Ok(result)
        }
        (true, false) => {
            // C11, 6.3.1.4: "the value is truncated toward zero. If the value of the integral part cannot be
            // represented by the integer type, the behavior is undefined."
            let args = Args::new(Operand::new(bits, from));
            let wide = element(Sem::FcvtRtz, Elem::I64, &args).ok_or("no conversion")?;
            let unsigned = element(Sem::FcvtRtz, Elem::U64, &args).ok_or("no conversion")?;
            // These saturate: at the ends of the range a value may be one that does not fit.
            let (signed, large) = (i128::from(wide as i64), i128::from(unsigned));
            let value = if signed == i128::from(i64::MAX) { large } else { signed };
            let at_end = value == i128::from(u64::MAX) || signed == i128::from(i64::MIN);
            let result = wrap(to, value);
            if nan_exponent(from, bits).is_some() || at_end || number(to, result) != value {
                return Err(format!(
                    "{} is converted to {}, which has no such value",
                    rvv_ir::float_text(from, bits).unwrap_or_default(),
                    to.short()
                ));
            }
            Ok(result)
        }
    }
}

fn is_infinite(elem: Elem, bits: u64) -> bool {
    format(elem).is_some_and(|(fraction, exponent)| {
        bits & !(1 << (elem.bits() - 1)) == ((1u64 << exponent) - 1) << fraction
    })
}

/// An operator on two values, but for `&&` and `||`.
pub fn binary(op: Binary, a: Typed, b: Typed, frm: Frm) -> Result<Typed, String> {
    if let Binary::Shl | Binary::Shr = op {
        return shift(op, a, b);
    }
    let ty = common(a.0, b.0)?;
    let (x, y) = (convert(a, ty, frm)?, convert(b, ty, frm)?);
    if ty.is_float() {
        return float(op, ty, x, y, frm);
    }
    let (x, y) = (number(ty, x), number(ty, y));
    let truth = |t: bool| Ok((Elem::I32, u64::from(t)));
    let (value, what) = match op {
        Binary::Add => (x + y, "a sum"),
        Binary::Sub => (x - y, "a difference"),
        Binary::Mul => (x.wrapping_mul(y), "a product"),
        Binary::Div | Binary::Rem if y == 0 => return Err("division by zero".to_string()),
        Binary::Div => (x / y, "a quotient"),
        // C11, 6.5.5: if the quotient is not representable, the remainder is undefined too.
        Binary::Rem => {
            fit(ty, x / y, "a quotient")?;
            (x % y, "a remainder")
        }
        Binary::And => (x & y, "a conjunction"),
        Binary::Or => (x | y, "a disjunction"),
        Binary::Xor => (x ^ y, "a difference of bits"),
        Binary::Eq => return truth(x == y),
        Binary::Ne => return truth(x != y),
        Binary::Lt => return truth(x < y),
        Binary::Le => return truth(x <= y),
        Binary::Gt => return truth(x > y),
        Binary::Ge => return truth(x >= y),
        Binary::Shl | Binary::Shr | Binary::AndThen | Binary::OrElse => {
            return Err("not an arithmetic operator".to_string());
        }
    };
    Ok((ty, fit(ty, value, what)?))
}

fn shift(op: Binary, a: Typed, b: Typed) -> Result<Typed, String> {
    let ty = promote(a.0);
    let (x, by) = (number(a.0, a.1), number(b.0, b.1));
    if by < 0 || by >= i128::from(ty.bits()) {
        return Err(format!("a shift by {by} of an operand of {} bits", ty.bits()));
    }
    if op == Binary::Shr {
        return Ok((ty, wrap(ty, x >> by)));
    }
    // C11, 6.5.7: of a negative number it is undefined.
    if x < 0 {
        return Err(format!("{x}, which is negative, is shifted left"));
    }
    // 64 bits by 63 at most.
    Ok((ty, fit(ty, x << by, "a shift")?))
}

fn float(op: Binary, ty: Elem, x: u64, y: u64, frm: Frm) -> Result<Typed, String> {
    let sem = match op {
        Binary::Add => Sem::Fadd,
        Binary::Sub => Sem::Fsub,
        Binary::Mul => Sem::Fmul,
        Binary::Div => Sem::Fdiv,
        Binary::Eq => Sem::Eq,
        Binary::Ne => Sem::Ne,
        Binary::Lt => Sem::Lt,
        Binary::Le => Sem::Le,
        Binary::Gt => Sem::Gt,
        Binary::Ge => Sem::Ge,
        _ => return Err(format!("{} takes integers", op.sign())),
    };
    let args = Args { op1: Some(Operand::new(y, ty)), frm, ..Args::new(Operand::new(x, ty)) };
    let result = element(sem, ty, &args).ok_or("no such operation")?;
    Ok((if op.is_truth() { Elem::I32 } else { ty }, result))
}

/// A function that compilers know.
pub fn builtin(builtin: Builtin, args: &[Typed], frm: Frm) -> Result<Typed, String> {
    let &(ty, x) = args.first().ok_or("no operand")?;
    let sign = 1u64 << (ty.bits() - 1);
    let operand = |n: usize| args.get(n).map(|a| Operand::new(a.1, ty)).ok_or("an operand is missing");
    match builtin {
        Builtin::Fabs => Ok((ty, x & !sign)),
        Builtin::Copysign => {
            let from = operand(1)?.bits;
            if nan_exponent(ty, from).is_some() {
                return Err("the sign of a NaN, which is undefined, is copied".to_string());
            }
            Ok((ty, x & !sign | from & sign))
        }
        Builtin::Fma => {
            let of = Args { op1: Some(operand(1)?), acc: Some(operand(2)?), frm, ..Args::new(operand(0)?) };
            Ok((ty, element(Sem::Fmacc, ty, &of).ok_or("no such operation")?))
        }
    }
}
