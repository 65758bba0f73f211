//! Vector Reduction Operations.

use super::exact::{Exact, Format, Rest, Value};
use super::float::{maximum_number, minimum_number};
use super::{Frm, Operand, Rounding, wrap};
use rvv_intrinsics::{Elem, Sem};

/// The scalar `init` (vs1[0], of type `ret`) reduced with the active elements, in their order. Elements
/// narrower than `ret` are extended by their own type, exactly. With no elements the scalar comes back as it
/// is: "simply copied to the destination register, without canonicalizing NaN values".
///
/// [`Sem::Fredusum`] is done in order as well, which is one of the results it may have.
///
/// # Panics
///
/// If `sem` is not a reduction, or is one of floats and `ret` or an element is not a float.
pub fn reduce(sem: Sem, ret: Elem, init: u64, elements: &mut dyn Iterator<Item = Operand>, frm: Frm) -> u64 {
    let integer = |step: fn(i128, i128) -> i128, elements: &mut dyn Iterator<Item = Operand>| {
        elements.fold(init, |acc, e| wrap(ret, step(Operand { bits: acc, elem: ret }.integer(), e.integer())))
    };
    match sem {
        Sem::Redsum => integer(|a, b| a + b, elements),
        Sem::Redand => integer(|a, b| a & b, elements),
        Sem::Redor => integer(|a, b| a | b, elements),
        Sem::Redxor => integer(|a, b| a ^ b, elements),
        Sem::Redmin => integer(i128::min, elements),
        Sem::Redmax => integer(i128::max, elements),
        Sem::Fredmin => elements.fold(init, |acc, e| minimum_number(format(ret), acc, e.bits)),
        Sem::Fredmax => elements.fold(init, |acc, e| maximum_number(format(ret), acc, e.bits)),
        Sem::Fredosum | Sem::Fredusum => elements.fold(init, |acc, e| {
            let f = format(ret);
            f.pack(f.unpack(acc).add(unpack(e), frm), Rounding::Frm(frm))
        }),
        _ => panic!("{} is not a reduction", sem.name()),
    }
}

fn format(elem: Elem) -> Format {
    Format::of(elem).unwrap_or_else(|| panic!("{} is not a floating-point type", elem.short()))
}

fn unpack(operand: Operand) -> Value {
    format(operand.elem).unpack(operand.bits)
}

/// The unordered sum of the scalar `init` (vs1[0], of type `ret`) and the active `elements`: the bits that
/// every implementation must give, or `None` where they may differ (or are not known not to).
///
/// # What an implementation may do (vfredusum)
///
/// Any tree of binary nodes over the leaves, which are the scalar and the active elements. A node adds exactly
/// and rounds, by frm, to any format with at least `ret`'s range and precision, each node to its own. A
/// subtree without active leaves counts as the additive identity, or its sibling is copied. The root is
/// rounded again to `ret`, and another identity may be added to the result. The identity is −0, and +0
/// when rounding down, so x + identity = x for every x but a NaN, zeros of either sign included; what a
/// node with an identity can do is to round its other input once more, to a format of its choice.
///
/// # When that is one result
///
/// 1. *No active element.* The scalar comes out unchanged, unless it is a NaN, which may or may not be
///    canonicalized: one result if it is the canonical one already.
/// 2. *A NaN among the leaves* (two at least): its path to the root passes a node with two active inputs, so it
///    is made canonical, and a NaN stays a NaN.
/// 3. *Both infinities.* Above +∞ there is only +∞ or NaN, above −∞ only −∞ or NaN, so where their
///    paths meet there is NaN.
/// 4. *One infinity, say +∞.* The result is +∞, unless finite leaves can sum to −∞ somewhere. Rounding up or
///    towards zero never makes −∞ of a finite sum. Else let the n negative finite leaves be −2^k at least. By
///    induction a subtree that has m of them, if it is not NaN, is −m·2^k at least, if m·2^k
///    is representable for all m ≤ n: rounding is monotonic, and leaves representable numbers alone. That is so
///    if n ≤ 2^p, p being the precision, and n·2^k does not exceed the largest number.
/// 5. *All exact.* Let all leaves be multiples of 2^u, and let the sum of their magnitudes be M·2^u with
///    M ≤ 2^p and M·2^u not above the largest number. Every sum of some of them is a multiple of 2^u
///    and not more than that in magnitude, therefore representable; so no node rounds, and the root is the
///    exact sum. If this is zero, then by induction a node is −0 if and only if all its leaves are
///    −0 (rounding down: +0 if and only if all are +0), because a sum x + y that is exactly zero is
///    −0 only if x and y are both −0 (rounding down: +0 only if both are +0). So the order does not matter
///    to the sign either; folding in order gives the result.
/// 6. *Two leaves that are not zero*, with a sum s that is not representable (5. has the others). There is
///    one sum; but it may be rounded several times before it is rounded to `ret`. Let lo < |s| < hi be the
///    neighbours in `ret`'s precision p without a limit to the exponent, m the midpoint. (|s| is above the
///    subnormal range, as every sum there is representable.)
///    - Rounding down, up or towards zero, all formats agree, because a finer rounding never passes lo or hi.
///    - To nearest, ties to even. Finer formats have m and may move s to it, but none moves s across it. A
///      format of p + 1 bits moves exactly those to m that are closer to it than a quarter of hi − lo (at the
///      quarter there is a tie, and m is the odd one). The points at the quarters are
///      representable with p + 2 bits, so no finer format moves s across one of them. So, if s is a
///      quarter or more away from m, or equals m, the result is that of one rounding; else it is either that or
///      what m rounds to, which is the even neighbour: one result if s itself rounds there.
///    - Ties away. From m up, hi is the only result. Below m, a chain of formats, each a bit shorter, can carry
///      any s to m by ties; lo is not the only result.
///    - If |s| is beyond the largest number, hi may not be in `ret`, but rounding to `ret` is then the
///      overflow that the mode prescribes, from an infinity in a narrower range too.
pub fn unordered_sum(ret: Elem, init: u64, elements: &[Operand], frm: Frm) -> Option<u64> {
    let f = format(ret);
    let scalar = f.unpack(init);
    if elements.is_empty() {
        return (!scalar.is_nan() || init == f.canonical_nan()).then_some(init);
    }
    let leaves = || std::iter::once(scalar).chain(elements.iter().map(|&e| unpack(e)));
    if leaves().any(Value::is_nan) {
        return Some(f.canonical_nan());
    }
    let has_infinity =
        |sign: bool| leaves().any(|v| matches!(v, Value::Infinity { negative } if negative == sign));
    match (has_infinity(false), has_infinity(true)) {
        (true, true) => return Some(f.canonical_nan()),
        (false, false) => {}
        (_, negative) => {
            let opposed = finite(leaves()).filter(|x| x.negative != negative);
            return no_overflow(f, opposed, negative, frm).then(|| f.infinity(negative));
        }
    }
    if all_exact(f, finite(leaves())) {
        let sum = leaves().reduce(|a, b| f.unpack(f.pack(a.add(b, frm), Rounding::Frm(frm))))?;
        return Some(f.pack(sum, Rounding::Frm(frm)));
    }
    let mut nonzero = finite(leaves());
    let (a, b) = (nonzero.next()?, nonzero.next()?);
    if nonzero.next().is_some() {
        return None;
    }
    let sum = Value::Finite(a).add(Value::Finite(b), frm);
    let Value::Finite(exact) = sum else { return None };
    one_rounding(f, exact, frm).then(|| f.pack(sum, Rounding::Frm(frm)))
}

fn finite(leaves: impl Iterator<Item = Value> + Clone) -> impl Iterator<Item = Exact> + Clone {
    leaves.filter_map(|v| match v {
        Value::Finite(x) => Some(x),
        _ => None,
    })
}

/// Condition 4: no subtree is the infinity opposite to that of the sign `negative`.
fn no_overflow(f: Format, opposed: impl Iterator<Item = Exact>, negative: bool, frm: Frm) -> bool {
    if frm == Frm::Rtz || frm == (if negative { Frm::Rdn } else { Frm::Rup }) {
        return true;
    }
    // The k of each: its magnitude is less than 2 to that.
    let (n, k) = opposed.fold((0u64, i32::MIN), |(n, k), x| (n + 1, k.max(x.exp + x.top_bit() as i32 + 1)));
    // n·2^k ≤ 2^(⌈lg n⌉ + k) ≤ 2^bias, the largest power of two.
    n == 0 || n <= 1 << f.precision() && n.next_power_of_two().ilog2() as i32 + k <= f.bias()
}

/// Condition 5.
fn all_exact(f: Format, leaves: impl Iterator<Item = Exact> + Clone) -> bool {
    let Some(u) = leaves.clone().map(|x| x.exp + x.sig.trailing_zeros() as i32).min() else { return true };
    let limit = 1u128 << f.precision();
    let mut sum = 0u128;
    for x in leaves {
        // x is sig × 2^(exp − u) units, where the bits of sig that a negative shift drops are zeros.
        let left = x.exp - u;
        if left + x.top_bit() as i32 > f.precision() as i32 {
            return false;
        }
        sum += if left < 0 { x.sig >> -left } else { x.sig << left };
        if sum > limit {
            return false;
        }
    }
    // The largest number is 2^(bias + 1) − 2^(bias − frac_bits); a multiple of a larger power of two, if
    // smaller than 2^(bias + 1), is not more than that.
    u + (sum.ilog2() as i32) <= f.bias()
}

/// Condition 6, of a sum that is not zero.
fn one_rounding(f: Format, sum: Exact, frm: Frm) -> bool {
    let last_place = (sum.exp + sum.top_bit() as i32 - f.frac_bits as i32).max(f.min_exp());
    let drop = last_place - sum.exp;
    if drop <= 0 {
        return true;
    }
    match frm {
        Frm::Rtz | Frm::Rdn | Frm::Rup => true,
        Frm::Rmm => sum.split(drop as u32).1 != Rest::BelowHalf,
        // With one bit more, m is the odd number between twice lo and twice hi.
        Frm::Rne => {
            let even = |last_place| sum.round_off(last_place, Rounding::Frm(frm)) & 1 == 0;
            even(last_place - 1) || even(last_place)
        }
    }
}
