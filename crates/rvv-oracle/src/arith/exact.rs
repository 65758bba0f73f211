//! Exact binary floating point: a number is an integer times a power of two, an operation is done on
//! integers, and there is one rounding, here, at the end.

use super::{Frm, Rounding};
use rvv_intrinsics::Elem;

/// An IEEE 754 binary interchange format (or bfloat16, which is made the same way).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Width of the exponent field.
    pub(super) exp_bits: u32,
    /// Width of the trailing significand field.
    pub(super) frac_bits: u32,
}

impl Format {
    pub(super) fn of(elem: Elem) -> Option<Format> {
        let (exp_bits, frac_bits) = match elem {
            Elem::F16 => (5, 10),
            Elem::Bf16 => (8, 7),
            Elem::F32 => (8, 23),
            Elem::F64 => (11, 52),
            _ => return None,
        };
        Some(Format { exp_bits, frac_bits })
    }

    pub(super) fn exp_mask(self) -> u64 {
        (1 << self.exp_bits) - 1
    }

    pub(super) fn frac_mask(self) -> u64 {
        (1 << self.frac_bits) - 1
    }

    pub(super) fn sign_bit(self) -> u64 {
        1 << (self.exp_bits + self.frac_bits)
    }

    pub(super) fn bias(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }

    /// Bits of a significand, the hidden one included.
    pub(super) fn precision(self) -> u32 {
        self.frac_bits + 1
    }

    /// The exponent of the smallest subnormal number: every number is a multiple of 2 to it.
    pub(super) fn min_exp(self) -> i32 {
        1 - self.bias() - self.frac_bits as i32
    }

    pub(super) fn infinity(self, negative: bool) -> u64 {
        self.signed(negative, self.exp_mask() << self.frac_bits)
    }

    /// "The canonical NaN has a positive sign and all significand bits clear except the MSB".
    pub(super) fn canonical_nan(self) -> u64 {
        self.infinity(false) | 1 << (self.frac_bits - 1)
    }

    pub(super) fn signed(self, negative: bool, magnitude: u64) -> u64 {
        if negative { magnitude | self.sign_bit() } else { magnitude }
    }

    pub(super) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign_bit() > self.infinity(false)
    }

    /// What becomes of a finite number beyond the largest one (IEEE 754-2019, 7.4). To odd: the manual's note
    /// on vfncvt.rod.f.f.w.
    pub(super) fn overflow(self, negative: bool, mode: Rounding) -> u64 {
        let to_infinity = match mode {
            Rounding::Frm(Frm::Rne | Frm::Rmm) => true,
            Rounding::Frm(Frm::Rtz) | Rounding::Odd => false,
            Rounding::Frm(Frm::Rdn) => negative,
            Rounding::Frm(Frm::Rup) => !negative,
        };
        self.infinity(negative) - u64::from(!to_infinity)
    }

    pub(super) fn unpack(self, bits: u64) -> Value {
        let negative = bits & self.sign_bit() != 0;
        let exponent = (bits >> self.frac_bits) & self.exp_mask();
        let fraction = bits & self.frac_mask();
        if exponent == self.exp_mask() {
            return if fraction == 0 { Value::Infinity { negative } } else { Value::Nan };
        }
        let hidden = u64::from(exponent != 0) << self.frac_bits;
        let exp = self.min_exp() + (exponent as i32 - 1).max(0);
        Value::exact(negative, u128::from(hidden | fraction), exp)
    }

    pub(super) fn pack(self, value: Value, mode: Rounding) -> u64 {
        match value {
            Value::Nan => self.canonical_nan(),
            Value::Infinity { negative } => self.infinity(negative),
            Value::Zero { negative } => self.signed(negative, 0),
            Value::Finite(x) => self.round(x, mode),
        }
    }

    /// The one rounding.
    fn round(self, x: Exact, mode: Rounding) -> u64 {
        // The exponent of the last place that the result will have, were its exponent range unlimited
        // upwards.
        let last_place = (x.exp + x.top_bit() as i32 - self.frac_bits as i32).max(self.min_exp());
        let mut exponent = (last_place - self.min_exp()) as u64;
        let mut significand = x.round_off(last_place, mode) as u64;
        if significand >> self.precision() != 0 {
            significand >>= 1;
            exponent += 1;
        }
        // The hidden bit, where there is one, adds one to the exponent field.
        let magnitude = (exponent << self.frac_bits) + significand;
        if magnitude >= self.infinity(false) {
            return self.overflow(x.negative, mode);
        }
        self.signed(x.negative, magnitude)
    }
}

/// A number that is not zero: ±(`sig` + s) × 2^`exp`, where s is 0, or, if `sticky`, something between 0 and
/// 1. A sticky number has so many bits in `sig` that every rounding is decided by its being there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) sig: u128,
    pub(super) exp: i32,
    pub(super) sticky: bool,
}

impl Exact {
    pub(super) fn top_bit(self) -> u32 {
        self.sig.ilog2()
    }

    /// The magnitude as a multiple of 2^`last_place`, rounded to an integer (if it has to be, it fits).
    pub(super) fn round_off(self, last_place: i32, mode: Rounding) -> u128 {
        let drop = last_place - self.exp;
        if drop <= 0 {
            debug_assert!(!self.sticky, "a sticky number has bits to drop");
            return self.sig << -drop;
        }
        let (kept, rest) = self.split(drop as u32);
        let up = match mode {
            Rounding::Frm(Frm::Rne) => rest > Rest::Half || rest == Rest::Half && kept & 1 != 0,
            Rounding::Frm(Frm::Rmm) => rest >= Rest::Half,
            Rounding::Frm(Frm::Rtz) => false,
            Rounding::Frm(Frm::Rdn) => rest > Rest::Zero && self.negative,
            Rounding::Frm(Frm::Rup) => rest > Rest::Zero && !self.negative,
            Rounding::Odd => rest > Rest::Zero && kept & 1 == 0,
        };
        kept + u128::from(up)
    }

    /// The significand without its low `drop` bits (at least one), and what those are of the last place kept.
    pub(super) fn split(self, drop: u32) -> (u128, Rest) {
        // Significands have at most 127 bits, so with 128 dropped less than a half is left.
        if drop > 127 {
            return (0, Rest::BelowHalf);
        }
        let dropped = self.sig & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        let rest = match dropped.cmp(&half) {
            std::cmp::Ordering::Less if dropped == 0 && !self.sticky => Rest::Zero,
            std::cmp::Ordering::Less => Rest::BelowHalf,
            std::cmp::Ordering::Equal if !self.sticky => Rest::Half,
            _ => Rest::AboveHalf,
        };
        (self.sig >> drop, rest)
    }

    /// The sum; `None` if it is zero. Operands are not sticky and have at most 106 bits.
    fn plus(self, other: Exact) -> Option<Exact> {
        let (high, low) = if self.exp >= other.exp { (self, other) } else { (other, self) };
        let apart = (high.exp - low.exp) as u32;
        // Both as multiples of the lower exponent, if `high` has room for that in 126 bits. If not, `high`
        // gets all 126 bits, and of `low` what falls off is sticky: `low` keeps at most 105 bits then, so the
        // sum has 125 bits at least.
        let room = 125 - high.top_bit();
        let left = apart.min(room);
        let right = apart - left;
        let a = high.sig << left;
        let (b, sticky) = match right {
            0 => (low.sig, false),
            1..128 => (low.sig >> right, low.sig & ((1 << right) - 1) != 0),
            _ => (0, true),
        };
        let exp = high.exp - left as i32;
        if high.negative == low.negative {
            return Some(Exact { negative: high.negative, sig: a + b, exp, sticky });
        }
        if a < b {
            debug_assert!(!sticky);
            return Some(Exact { negative: low.negative, sig: b - a, exp, sticky });
        }
        // a − (b + s) = (a − b − 1) + (1 − s)
        let sig = a - b - u128::from(sticky);
        (sig != 0).then_some(Exact { negative: high.negative, sig, exp, sticky })
    }
}

/// The part that rounding drops, in units of the last place kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rest {
    Zero,
    BelowHalf,
    Half,
    AboveHalf,
}

/// The value of a floating-point datum.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Nan,
    Infinity { negative: bool },
    Zero { negative: bool },
    Finite(Exact),
}

impl Value {
    /// ±`sig` × 2^`exp`
    pub(super) fn exact(negative: bool, sig: u128, exp: i32) -> Value {
        if sig == 0 {
            Value::Zero { negative }
        } else {
            Value::Finite(Exact { negative, sig, exp, sticky: false })
        }
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self, Value::Nan)
    }

    pub(super) fn neg(self) -> Value {
        match self {
            Value::Nan => Value::Nan,
            Value::Infinity { negative } => Value::Infinity { negative: !negative },
            Value::Zero { negative } => Value::Zero { negative: !negative },
            Value::Finite(x) => Value::Finite(Exact { negative: !x.negative, ..x }),
        }
    }

    fn negative(self) -> bool {
        match self {
            Value::Nan => false,
            Value::Infinity { negative } | Value::Zero { negative } => negative,
            Value::Finite(x) => x.negative,
        }
    }

    /// The sum. IEEE 754-2019, 6.3: "When the sum of two operands with opposite signs ... is exactly zero,
    /// the sign of that sum shall be +0 under all rounding-direction attributes except
    /// roundTowardNegative; under that attribute, the sign of an exact zero sum shall be −0. However ...
    /// x + x retains the same sign as x when x is zero."
    pub(super) fn add(self, other: Value, frm: Frm) -> Value {
        let zero = Value::Zero { negative: frm == Frm::Rdn };
        match (self, other) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinity { negative: a }, Value::Infinity { negative: b }) if a != b => Value::Nan,
            (Value::Infinity { .. }, _) => self,
            (_, Value::Infinity { .. }) => other,
            (Value::Zero { negative: a }, Value::Zero { negative: b }) => {
                if a == b {
                    self
                } else {
                    zero
                }
            }
            (Value::Zero { .. }, x) | (x, Value::Zero { .. }) => x,
            (Value::Finite(a), Value::Finite(b)) => a.plus(b).map_or(zero, Value::Finite),
        }
    }

    /// The product, exact.
    pub(super) fn mul(self, other: Value) -> Value {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinity { .. }, Value::Zero { .. }) | (Value::Zero { .. }, Value::Infinity { .. }) => {
                Value::Nan
            }
            (Value::Infinity { .. }, _) | (_, Value::Infinity { .. }) => Value::Infinity { negative },
            (Value::Zero { .. }, _) | (_, Value::Zero { .. }) => Value::Zero { negative },
            (Value::Finite(a), Value::Finite(b)) => Value::exact(negative, a.sig * b.sig, a.exp + b.exp),
        }
    }

    /// The quotient.
    pub(super) fn div(self, other: Value) -> Value {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinity { .. }, Value::Infinity { .. }) | (Value::Zero { .. }, Value::Zero { .. }) => {
                Value::Nan
            }
            (Value::Infinity { .. }, _) | (_, Value::Zero { .. }) => Value::Infinity { negative },
            (Value::Zero { .. }, _) | (_, Value::Infinity { .. }) => Value::Zero { negative },
            (Value::Finite(a), Value::Finite(b)) => {
                // A dividend of 120 bits by a divisor of 53 at most: 67 bits at least.
                let left = 119 - a.top_bit();
                let dividend = a.sig << left;
                Value::Finite(Exact {
                    negative,
                    sig: dividend / b.sig,
                    exp: a.exp - left as i32 - b.exp,
                    sticky: dividend % b.sig != 0,
                })
            }
        }
    }

    /// The square root. That of −0 is −0.
    pub(super) fn sqrt(self) -> Value {
        match self {
            Value::Nan => Value::Nan,
            Value::Zero { .. } => self,
            Value::Infinity { negative } if !negative => self,
            Value::Finite(x) if !x.negative => {
                // The root of an even power of two times 124 or 125 bits: 62 bits at least.
                let left = 124 - x.top_bit();
                let left = left - (x.exp - left as i32).rem_euclid(2) as u32;
                let square = x.sig << left;
                let root = square.isqrt();
                Value::Finite(Exact {
                    negative: false,
                    sig: root,
                    exp: (x.exp - left as i32) / 2,
                    sticky: root * root != square,
                })
            }
            _ => Value::Nan,
        }
    }
}
