//! Expressions with what is known of their values, so that programs avoid what C leaves undefined without
//! hiding operands behind masks. The evaluator has the last word.

use rvv_intrinsics::Elem;
use rvv_ir::loops::{Binary, CExpr, Unary, common, promote};

/// An expression, its type, and the values it may have.
#[derive(Clone, Debug)]
pub struct Val {
    pub e: CExpr,
    pub ty: Elem,
    /// Of an integer: the least and the largest.
    pub lo: i128,
    pub hi: i128,
    /// Of a float: no magnitude is larger; infinite if nothing is known, NaNs included.
    pub bound: f64,
}

/// The least and the largest integer of a type.
pub fn range(ty: Elem) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The unsigned type of the same width.
pub fn unsigned(ty: Elem) -> Elem {
    Elem::unsigned(ty.sew())
}

impl Val {
    /// An integer of which this is known.
    pub fn int(e: CExpr, ty: Elem, lo: i128, hi: i128) -> Val {
        Val { e, ty, lo, hi, bound: f64::INFINITY }
    }

    /// A float no larger than this.
    pub fn float(e: CExpr, ty: Elem, bound: f64) -> Val {
        Val { e, ty, lo: 0, hi: 0, bound }
    }

    /// A literal.
    pub fn literal(ty: Elem, value: i64) -> Val {
        Val::int(CExpr::int(ty, value), ty, value.into(), value.into())
    }

    /// Something of this type of which nothing is known.
    pub fn any(e: CExpr, ty: Elem) -> Val {
        let (lo, hi) = if ty.is_float() { (0, 0) } else { range(ty) };
        Val { e, ty, lo, hi, bound: f64::INFINITY }
    }

    /// What becomes of an interval of integers in another type.
    fn converted(&self, to: Elem) -> (i128, i128) {
        let (min, max) = range(to);
        if self.lo >= min && self.hi <= max { (self.lo, self.hi) } else { (min, max) }
    }

    /// Converted, if that is defined for all its values.
    pub fn cast(self, to: Elem) -> Option<Val> {
        if self.ty == to {
            return Some(self);
        }
        let known = self.as_type(to)?;
        Some(Val { e: CExpr::cast(to, self.e), ..known })
    }

    /// What is known after a conversion, implied or not; the expression is the same.
    pub fn as_type(&self, to: Elem) -> Option<Val> {
        let (e, ty) = (self.e.clone(), to);
        Some(match (self.ty.is_float(), to.is_float()) {
            (false, false) => {
                let (lo, hi) = self.converted(to);
                Val::int(e, ty, lo, hi)
            }
            (false, true) => {
                let bound = self.lo.unsigned_abs().max(self.hi.unsigned_abs()) as f64;
                if to == Elem::F16 && bound > 60000.0 {
                    return None;
                }
                // Rounding may go up by a little.
                Val::float(e, ty, bound * 1.01)
            }
            (true, false) => {
                let (min, max) = range(to);
                let most = self.bound.floor();
                if most >= 1e18 || (most as i128) > max || -(most as i128) < min {
                    return None;
                }
                Val::int(e, ty, -(most as i128), most as i128)
            }
            (true, true) => {
                let bound = if to == Elem::F16 && self.bound > 60000.0 || self.bound > 1e38 && to != Elem::F64
                {
                    f64::INFINITY
                } else {
                    self.bound * 1.01
                };
                Val::float(e, ty, bound)
            }
        })
    }

    /// `op a`
    pub fn unary(op: Unary, a: Val) -> Option<Val> {
        let e = CExpr::unary(op, a.e);
        Some(match op {
            Unary::IsZero | Unary::Bool => Val::int(e, Elem::I32, 0, 1),
            Unary::Neg if a.ty.is_float() => Val::float(e, a.ty, a.bound),
            Unary::Neg => {
                let ty = promote(a.ty);
                let (lo, hi) = within(ty, -a.hi, -a.lo)?;
                Val::int(e, ty, lo, hi)
            }
            Unary::Not if a.ty.is_float() => return None,
            Unary::Not => {
                let ty = promote(a.ty);
                let (lo, hi) = within(ty, !a.hi, !a.lo)?;
                Val::int(e, ty, lo, hi)
            }
        })
    }

    /// `a op b`, if that is defined for all their values.
    pub fn binary(op: Binary, a: Val, b: Val) -> Option<Val> {
        let e = CExpr::binary(op, a.e.clone(), b.e.clone());
        if let Binary::AndThen | Binary::OrElse = op {
            return Some(Val::int(e, Elem::I32, 0, 1));
        }
        let ty = common(a.ty, b.ty).ok()?;
        if op.is_truth() {
            // An integer may have no value in the other's type.
            a.as_type(ty)?;
            b.as_type(ty)?;
            return Some(Val::int(e, Elem::I32, 0, 1));
        }
        if ty.is_float() {
            let (x, y) = (a.as_type(ty)?.bound, b.as_type(ty)?.bound);
            let bound = match op {
                Binary::Add | Binary::Sub => x + y,
                Binary::Mul => x * y,
                Binary::Div => f64::INFINITY,
                _ => return None,
            };
            let most = match ty {
                Elem::F16 => 6e4,
                Elem::F32 => 1e38,
                _ => 1e307,
            };
            // NaN, too: zero times infinity.
            let bound = if bound <= most { bound * 1.01 } else { f64::INFINITY };
            return Some(Val::float(e, ty, bound));
        }
        if let Binary::Shl | Binary::Shr = op {
            let ty = promote(a.ty);
            if b.lo < 0 || b.hi >= ty.bits().into() {
                return None;
            }
            let (lo, hi) = match op {
                Binary::Shr => {
                    (a.lo >> if a.lo < 0 { b.lo } else { b.hi }, a.hi >> if a.hi < 0 { b.hi } else { b.lo })
                }
                _ if a.lo < 0 => return None,
                _ => (a.lo << b.lo, a.hi << b.hi),
            };
            let (lo, hi) = within(ty, lo, hi)?;
            return Some(Val::int(e, ty, lo, hi));
        }
        let ((al, ah), (bl, bh)) = (a.converted(ty), b.converted(ty));
        let corners = |f: fn(i128, i128) -> i128| {
            let all = [f(al, bl), f(al, bh), f(ah, bl), f(ah, bh)];
            (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
        };
        let bits = |n: i128| (1i128 << (128 - n.max(0).leading_zeros())) - 1;
        let (lo, hi) = match op {
            Binary::Add => (al + bl, ah + bh),
            Binary::Sub => (al - bh, ah - bl),
            Binary::Mul => corners(i128::wrapping_mul),
            Binary::Div | Binary::Rem if bl <= 0 && bh >= 0 => return None,
            Binary::Div => corners(|x, y| x / y),
            Binary::Rem => {
                // The quotient must be a value, too.
                let (lo, hi) = corners(|x, y| x / y);
                within(ty, lo, hi)?;
                let most = bl.abs().max(bh.abs()) - 1;
                (if al < 0 { -most } else { 0 }, if ah > 0 { most.min(ah) } else { 0 })
            }
            Binary::And if al >= 0 && bl >= 0 => (0, ah.min(bh)),
            Binary::And if bl >= 0 => (0, bh),
            Binary::And if al >= 0 => (0, ah),
            Binary::Or | Binary::Xor if al >= 0 && bl >= 0 => (0, bits(ah.max(bh))),
            _ => range(ty),
        };
        let (lo, hi) = within(ty, lo, hi)?;
        Some(Val::int(e, ty, lo, hi))
    }

    /// `c ? a : b`
    pub fn select(c: Val, a: Val, b: Val) -> Option<Val> {
        let ty = common(a.ty, b.ty).ok()?;
        let (x, y) = (a.as_type(ty)?, b.as_type(ty)?);
        let e = CExpr::select(c.e, a.e, b.e);
        Some(Val { e, ty, lo: x.lo.min(y.lo), hi: x.hi.max(y.hi), bound: x.bound.max(y.bound) })
    }
}

/// An interval of a type: unsigned ones wrap, signed ones must not leave it.
fn within(ty: Elem, lo: i128, hi: i128) -> Option<(i128, i128)> {
    let (min, max) = range(ty);
    if lo >= min && hi <= max {
        Some((lo, hi))
    } else if ty.is_signed() {
        None
    } else {
        Some((min, max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn val(ty: Elem, lo: i128, hi: i128) -> Val {
        Val::int(CExpr::int(ty, 1), ty, lo, hi)
    }

    #[test]
    fn what_may_overflow_is_refused_and_unsigned_wraps() {
        let full = |ty| val(ty, range(ty).0, range(ty).1);
        assert!(Val::binary(Binary::Add, full(Elem::I32), full(Elem::I8)).is_none());
        assert!(Val::binary(Binary::Mul, full(Elem::U16), full(Elem::U16)).is_none());
        let sum = Val::binary(Binary::Add, full(Elem::I16), full(Elem::U8)).unwrap();
        assert_eq!((sum.ty, sum.lo, sum.hi), (Elem::I32, -32768, 32767 + 255));
        let wraps = Val::binary(Binary::Mul, full(Elem::U32), full(Elem::I32)).unwrap();
        assert_eq!((wraps.ty, wraps.lo, wraps.hi), (Elem::U32, 0, (1 << 32) - 1));
        assert!(Val::binary(Binary::Div, full(Elem::U32), full(Elem::U8)).is_none());
        assert!(Val::binary(Binary::Rem, full(Elem::I32), val(Elem::I32, -3, -1)).is_none());
        assert!(Val::binary(Binary::Shl, val(Elem::I32, -1, 1), val(Elem::I32, 1, 2)).is_none());
        let half = Val::float(CExpr::Literal(Elem::F16, 0), Elem::F16, 1.0);
        assert!(Val::binary(Binary::Lt, full(Elem::I32), half.clone()).is_none());
        assert!(Val::binary(Binary::Lt, full(Elem::I8), half).is_some());
    }
}
