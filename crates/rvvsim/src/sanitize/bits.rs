//! What operations make of undefined bits: values of 64 bits, each bit defined or not.

/// A value, and which of its bits are undefined. What `value` has in an undefined bit does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    /// The bits.
    pub value: u64,
    /// Set where a bit is undefined.
    pub undefined: u64,
}

impl Bits {
    pub fn new(value: u64, undefined: u64) -> Bits {
        Bits { value, undefined }
    }

    pub fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// The least value it may have, as an unsigned number.
    fn least(self) -> u64 {
        self.value & !self.undefined
    }

    /// The largest.
    fn largest(self) -> u64 {
        self.value | self.undefined
    }

    /// With the sign bit inverted: signed order becomes unsigned order.
    fn flipped(self) -> Bits {
        Bits { value: self.value ^ 1 << 63, undefined: self.undefined }
    }

    /// Sign-extended from this many bits.
    pub fn sign_extended(self, width: u32) -> Bits {
        let extend = |x: u64| ((x << (64 - width)) as i64 >> (64 - width)) as u64;
        Bits { value: extend(self.value), undefined: extend(self.undefined) }
    }

    /// Zero-extended from this many bits.
    pub fn zero_extended(self, width: u32) -> Bits {
        let ones = ones(width);
        Bits { value: self.value & ones, undefined: self.undefined & ones }
    }
}

/// The lowest `width` bits, 1 to 64.
pub fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// From the lowest set bit upwards, all bits: where a carry may reach.
pub fn upwards(undefined: u64) -> u64 {
    undefined | undefined.wrapping_neg()
}

/// All bits of an element, if one of them is undefined.
pub fn all_or_none(undefined: u64, width: u32) -> u64 {
    if undefined & ones(width) == 0 { 0 } else { ones(width) }
}

/// A bit that is 0 for sure makes the result 0.
pub fn and(a: Bits, b: Bits) -> u64 {
    (a.undefined | b.undefined) & a.largest() & b.largest()
}

/// A bit that is 1 for sure makes the result 1.
pub fn or(a: Bits, b: Bits) -> u64 {
    (a.undefined | b.undefined) & !(a.least() | b.least())
}

pub fn xor(a: Bits, b: Bits) -> u64 {
    a.undefined | b.undefined
}

/// Inverted, for `andn` and `orn`.
pub fn not(a: Bits) -> Bits {
    Bits { value: !a.value, undefined: a.undefined }
}

/// Bits that differ between the least and the largest sum: a carry from an undefined bit reaches them.
pub fn add(a: Bits, b: Bits) -> u64 {
    let (least, largest) = (a.least().wrapping_add(b.least()), a.largest().wrapping_add(b.largest()));
    a.undefined | b.undefined | (least ^ largest)
}

pub fn sub(a: Bits, b: Bits) -> u64 {
    let (least, largest) = (a.least().wrapping_sub(b.largest()), a.largest().wrapping_sub(b.least()));
    a.undefined | b.undefined | (least ^ largest)
}

/// The low half of a product: undefined from the lowest bit on that depends on an undefined one.
pub fn mul(a: Bits, b: Bits) -> u64 {
    // What multiplies by a known number begins at its lowest set bit.
    let by = |u: u64, known: Bits| match known.undefined {
        0 if known.value == 0 => 0,
        0 => upwards(u << known.value.trailing_zeros()),
        _ => upwards(u),
    };
    by(a.undefined, b) | by(b.undefined, a)
}

/// Whether `a < b`, unsigned; `None` if undefined bits decide it.
pub fn less_unsigned(a: Bits, b: Bits) -> Option<bool> {
    if a.largest() < b.least() {
        Some(true)
    } else if a.least() >= b.largest() {
        Some(false)
    } else {
        None
    }
}

/// The same, signed.
pub fn less_signed(a: Bits, b: Bits) -> Option<bool> {
    less_unsigned(a.flipped(), b.flipped())
}

/// Whether they are equal: one defined bit that differs decides it.
pub fn equal(a: Bits, b: Bits) -> Option<bool> {
    let undefined = a.undefined | b.undefined;
    if (a.value ^ b.value) & !undefined != 0 { Some(false) } else { (undefined == 0).then_some(true) }
}

/// Each byte ones if any of its bits is set (`orc.b`).
pub fn orc_b(a: Bits) -> u64 {
    let mut undefined = 0;
    for byte in 0..8 {
        let ones = 0xff << (8 * byte);
        if a.least() & ones == 0 && a.undefined & ones != 0 {
            undefined |= ones;
        }
    }
    undefined
}

/// Trailing zeroes of `width` bits: defined if the lowest bit that may be set is set for sure.
pub fn count_trailing(a: Bits, width: u32) -> u64 {
    let a = a.zero_extended(width);
    let lowest = a.largest() & a.largest().wrapping_neg();
    if lowest & a.undefined == 0 { 0 } else { 0x7f }
}

/// Leading zeroes of `width` bits.
pub fn count_leading(a: Bits, width: u32) -> u64 {
    let a = a.zero_extended(width);
    match a.largest().checked_ilog2() {
        Some(highest) if a.undefined >> highest & 1 != 0 => 0x7f,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values that 4 + 4 bits may have, against what the functions say of them. Every operation must call
    /// a bit undefined where two values differ in it; the exact ones nowhere else.
    #[test]
    fn undefined_is_what_depends_on_undefined_bits() {
        let values = |b: Bits| (0..16u64).filter(move |x| (x ^ b.value) & !b.undefined & 15 == 0);
        type Rule = fn(Bits, Bits) -> u64;
        type Op = fn(u64, u64) -> u64;
        let rules: [(&str, bool, Rule, Op); 6] = [
            ("and", true, and, |a, b| a & b),
            ("or", true, or, |a, b| a | b),
            ("xor", true, xor, |a, b| a ^ b),
            ("add", false, add, u64::wrapping_add),
            ("sub", false, sub, u64::wrapping_sub),
            ("mul", false, mul, u64::wrapping_mul),
        ];
        for case in 0..1 << 16 {
            let nibble = |at: u32| case >> at & 15;
            let (a, b) = (Bits::new(nibble(0), nibble(4)), Bits::new(nibble(8), nibble(12)));
            for (name, exact, rule, op) in rules {
                let first = op(a.least(), b.least());
                let differ =
                    values(a).flat_map(|x| values(b).map(move |y| op(x, y))).fold(0, |d, r| d | r ^ first);
                let said = rule(a, b);
                assert_eq!(differ & !said, 0, "{name} {a:?} {b:?}");
                assert!(!exact || said & 15 == differ & 15, "{name} {a:?} {b:?}");
            }
            let outcomes = |f: fn(u64, u64) -> bool| {
                let all: Vec<_> = values(a).flat_map(|x| values(b).map(move |y| f(x, y))).collect();
                all.iter().all(|r| *r == all[0]).then_some(all[0])
            };
            // Bits of one number on both sides are taken for independent: so are they here.
            assert_eq!(less_unsigned(a, b), outcomes(|x, y| x < y));
            assert_eq!(equal(a, b), outcomes(|x, y| x == y));
            let counts = |f: fn(u64) -> u32| values(a).all(|x| f(x) == f(a.least()));
            assert_eq!(count_trailing(a, 64) == 0, counts(u64::trailing_zeros));
            assert_eq!(count_leading(a, 64) == 0, counts(u64::leading_zeros));
        }
    }
}
