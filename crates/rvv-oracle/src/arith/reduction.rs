//! Vector Reduction Operations.

use super::exact::{Exact, Format, Rest, Value};
use super::float::{maximum_number, minimum_number};
use super::{Frm, Operand, Rounding, wrap};
use rvv_intrinsics::sem::{Chapter, Reduction};
use rvv_intrinsics::{Elem, Sem};

/// The scalar `init` (`vs1[0]`, of type `ret`) reduced with the active elements, in their order. Elements
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
    let Chapter::Reduction(op) = sem.chapter() else { panic!("{} is not a reduction", sem.name()) };
    match op {
        // vredsum.vs vwredsum.vs vwredsumu.vs
        Reduction::Redsum => integer(|a, b| a + b, elements),
        // vredand.vs
        Reduction::Redand => integer(|a, b| a & b, elements),
        // vredor.vs
        Reduction::Redor => integer(|a, b| a | b, elements),
        // vredxor.vs
        Reduction::Redxor => integer(|a, b| a ^ b, elements),
        // vredmin.vs vredminu.vs
        Reduction::Redmin => integer(i128::min, elements),
        // vredmax.vs vredmaxu.vs
        Reduction::Redmax => integer(i128::max, elements),
        // vfredmin.vs
        Reduction::Fredmin => elements.fold(init, |acc, e| minimum_number(format(ret), acc, e.bits)),
        // vfredmax.vs
        Reduction::Fredmax => elements.fold(init, |acc, e| maximum_number(format(ret), acc, e.bits)),
        // vfredosum.vs vfredusum.vs vfwredosum.vs vfwredusum.vs
        Reduction::Fredosum | Reduction::Fredusum => elements.fold(init, |acc, e| {
            let f = format(ret);
            f.pack(f.unpack(acc).add(unpack(e), frm), Rounding::Frm(frm))
        }),
    }
}

fn format(elem: Elem) -> Format {
    Format::of(elem).unwrap_or_else(|| panic!("{} is not a floating-point type", elem.short()))
}

fn unpack(operand: Operand) -> Value {
    format(operand.elem).unpack(operand.bits)
}

/// The unordered sum of the scalar `init` (`vs1[0]`, of type `ret`) and the active `elements`: the bits that
/// every implementation must give, or `None` where they may differ (or are not known not to).
///
/// # What an implementation may do (vfredusum)
///
/// Any tree of binary nodes over the leaves, which are the scalar and the active elements. A node adds
/// exactly and rounds, by frm, to any format with at least `ret`'s range and precision, each node to its own.
/// A subtree without active leaves counts as the additive identity, or its sibling is copied. The root is
/// rounded again to `ret`, and another identity may be added to the result. The identity is −0, and +0 when
/// rounding down, so x + identity = x for every x but a NaN, zeros of either sign included; what a node with
/// an identity can do is to round its other input once more, to a format of its choice.
///
/// # When that is one result
///
/// 1. *No active element.* The scalar comes out unchanged, unless it is a NaN, which may or may not be
///    canonicalized: one result if it is the canonical one already.
/// 2. *A NaN among the leaves* (two at least): its path to the root passes a node with two active inputs, so
///    it is made canonical, and a NaN stays a NaN.
/// 3. *Both infinities.* Above +∞ there is only +∞ or NaN, above −∞ only −∞ or NaN, so where their
///    paths meet there is NaN.
/// 4. *One infinity, say +∞.* The result is +∞, unless finite leaves can sum to −∞ somewhere. Rounding up or
///    towards zero never makes −∞ of a finite sum. Else let the n negative finite leaves be −2^k at least. By
///    induction a subtree that has m of them, if it is not NaN, is −m·2^k at least, if m·2^k is representable
///    for all m ≤ n: rounding is monotonic, and leaves representable numbers alone. That is so if n ≤ 2^p, p
///    being the precision, and n·2^k does not exceed the largest number.
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
///      quarter or more away from m, or equals m, the result is that of one rounding; else it is either that
///      or what m rounds to, which is the even neighbour: one result if s itself rounds there.
///    - Ties away. From m up, hi is the only result. Below m, a chain of formats, each a bit shorter, can
///      carry any s to m by ties; lo is not the only result.
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Rng(u64);

    impl Rng {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % n
        }
    }

    /// Half precision, and formats an implementation may use within a sum of it.
    const FORMATS: [Format; 9] = [
        Format { exp_bits: 5, frac_bits: 10 },
        Format { exp_bits: 5, frac_bits: 11 },
        Format { exp_bits: 6, frac_bits: 10 },
        Format { exp_bits: 8, frac_bits: 11 },
        Format { exp_bits: 8, frac_bits: 12 },
        Format { exp_bits: 8, frac_bits: 13 },
        Format { exp_bits: 6, frac_bits: 15 },
        Format { exp_bits: 8, frac_bits: 23 },
        Format { exp_bits: 11, frac_bits: 52 },
    ];

    /// What some implementation gives: a random tree with a random format at each node, and identities strewn
    /// in.
    fn some_implementation(rng: &mut Rng, leaves: &[u64], frm: Frm) -> u64 {
        let half = FORMATS[0];
        let identity = Value::Zero { negative: frm != Frm::Rdn };
        let node = |rng: &mut Rng, a: Value, b: Value| {
            let f = FORMATS[rng.below(FORMATS.len() as u64) as usize];
            f.unpack(f.pack(a.add(b, frm), Rounding::Frm(frm)))
        };
        // A leaf that no node has touched keeps its bits, a NaN's too.
        if leaves.len() == 1 && rng.below(2) == 0 {
            return leaves[0];
        }
        let mut nodes: Vec<Value> = leaves.iter().map(|&b| half.unpack(b)).collect();
        loop {
            let i = rng.below(nodes.len() as u64) as usize;
            let a = nodes.swap_remove(i);
            if nodes.is_empty() {
                let times = rng.below(4);
                let root = (0..times).fold(a, |a, _| node(rng, a, identity));
                return half.pack(root, Rounding::Frm(frm));
            }
            let sum = if rng.below(4) == 0 {
                node(rng, a, identity)
            } else {
                let j = rng.below(nodes.len() as u64) as usize;
                let b = nodes.swap_remove(j);
                node(rng, a, b)
            };
            nodes.push(sum);
        }
    }

    fn leaf(rng: &mut Rng) -> u64 {
        let sign = rng.below(2) << 15;
        sign | match rng.below(16) {
            0 => 0,
            1 => [0x7c00, 0x7bff, 0x7800][rng.below(3) as usize],
            2 if rng.below(4) == 0 => 0x7c00 + rng.below(0x400),
            3 => rng.below(0x400),
            4 => rng.below(0x7c00),
            // Few bits, exponents close together.
            5..12 => 0x3c00 + (rng.below(6) << 10) + (rng.below(8) << 7),
            _ => 0x3c00 + (rng.below(13) << 10) + rng.below(0x400),
        }
    }

    /// Where a sum is said to have one result, no implementation gives another; and where it is said to have
    /// none, some do, often enough.
    #[test]
    fn unordered_sums() {
        let mut rng = Rng(0x1234567);
        let (mut unique, mut loose, mut several) = (0, 0, 0);
        for round in 0..60_000 {
            let count = [1, 2, 2, 3, 4, 6][rng.below(6) as usize];
            let leaves: Vec<u64> = (0..count).map(|_| leaf(&mut rng)).collect();
            let frm = Frm::ALL[round % 5];
            let elements: Vec<Operand> =
                leaves[1..].iter().map(|&b| Operand { bits: b, elem: Elem::F16 }).collect();
            let sum = unordered_sum(Elem::F16, leaves[0], &elements, frm);
            let results: Vec<u64> = (0..40).map(|_| some_implementation(&mut rng, &leaves, frm)).collect();
            let ordered = reduce(Sem::Fredosum, Elem::F16, leaves[0], &mut elements.iter().copied(), frm);
            match sum {
                Some(bits) => {
                    unique += 1;
                    assert_eq!(ordered, bits, "{leaves:x?} {frm:?}");
                    for other in results {
                        assert_eq!(other, bits, "{leaves:x?} {frm:?}: {other:#x}, not {bits:#x}");
                    }
                }
                None if results.iter().all(|&r| r == ordered) => loose += 1,
                None => several += 1,
            }
        }
        assert!(unique > 25_000 && several > 5_000, "{unique} {loose} {several}");
        println!("one result: {unique}; said to have several, but not seen: {loose}; several: {several}");
    }

    fn half_sum(leaves: &[u64], frm: Frm) -> Option<u64> {
        let elements: Vec<Operand> =
            leaves[1..].iter().map(|&b| Operand { bits: b, elem: Elem::F16 }).collect();
        unordered_sum(Elem::F16, leaves[0], &elements, frm)
    }

    #[test]
    fn unordered_sums_by_the_rules() {
        let (inf, max, nan) = (0x7c00, 0x7bff, 0x7e00);
        let neg = |x: u64| x ^ 0x8000;
        // 1. Nothing active.
        assert_eq!(half_sum(&[0x8000], Frm::Rdn), Some(0x8000));
        assert_eq!(half_sum(&[0], Frm::Rne), Some(0));
        assert_eq!(half_sum(&[nan], Frm::Rne), Some(nan));
        assert_eq!(half_sum(&[0x7e01], Frm::Rne), None);
        assert_eq!(half_sum(&[0xfe00], Frm::Rne), None);
        // 2. and 3.
        assert_eq!(half_sum(&[0x7d01, 0], Frm::Rne), Some(nan));
        assert_eq!(half_sum(&[inf, max, max, neg(inf)], Frm::Rne), Some(nan));
        // 4. Two of the most negative number overflow, one does not.
        assert_eq!(half_sum(&[inf, max, max], Frm::Rne), Some(inf));
        assert_eq!(half_sum(&[inf, neg(max), neg(max)], Frm::Rne), None);
        assert_eq!(half_sum(&[inf, neg(max), neg(max)], Frm::Rtz), Some(inf));
        assert_eq!(half_sum(&[inf, neg(max), neg(max)], Frm::Rup), Some(inf));
        assert_eq!(half_sum(&[neg(inf), max, max], Frm::Rdn), Some(neg(inf)));
        assert_eq!(half_sum(&[inf, neg(0x7000), neg(0x7000)], Frm::Rne), Some(inf));
        // 5. 1 + 2 + 3 − 6; zeros.
        for (frm, zero) in [(Frm::Rne, 0), (Frm::Rdn, 0x8000), (Frm::Rmm, 0)] {
            assert_eq!(half_sum(&[0x3c00, 0x4000, 0x4200, neg(0x4600)], frm), Some(zero));
            assert_eq!(half_sum(&[0, 0x8000, 0], frm), Some(zero));
            assert_eq!(half_sum(&[0x8000, 0x8000], frm), Some(0x8000));
            assert_eq!(half_sum(&[0, 0], frm), Some(0));
        }
        // The sum is exact in order, but 2048 + 1 + 1 − 2 is not in another.
        assert_eq!(half_sum(&[0x6800, 0x3c00, 0x3c00, neg(0x4000)], Frm::Rne), None);
        // 2¹⁵ + 2¹⁵ − 2¹⁵ has few bits, but overflows on one way.
        assert_eq!(half_sum(&[0x7800, 0x7800, neg(0x7800)], Frm::Rne), None);
        assert_eq!(half_sum(&[0x7800, 0x7400, neg(0x7000)], Frm::Rne), Some(0x7900));
        // 6. 2048 + 1 is a tie; 2048 + 1 + ½ is close to one, from the odd side of it or the even.
        assert_eq!(half_sum(&[0x6800, 0x3c00], Frm::Rne), Some(0x6800));
        assert_eq!(half_sum(&[0x6800, 0x3c00], Frm::Rmm), Some(0x6801));
        assert_eq!(half_sum(&[0x6800, 0x3c01], Frm::Rne), None);
        assert_eq!(half_sum(&[0x6801, 0x3c01], Frm::Rne), Some(0x6802));
        assert_eq!(half_sum(&[0x6800, 0x3e00], Frm::Rne), Some(0x6801));
        assert_eq!(half_sum(&[0x6800, 0x3800], Frm::Rmm), None);
        assert_eq!(half_sum(&[0x6800, 0x3c01], Frm::Rup), Some(0x6801));
        assert_eq!(half_sum(&[max, max], Frm::Rne), Some(inf));
        assert_eq!(half_sum(&[max, max], Frm::Rtz), Some(max));
    }

    #[test]
    fn widening_sums() {
        let half = |bits| Operand { bits, elem: Elem::F16 };
        let elements = [half(0x3c00), half(0x7bff), half(0xbc00), half(0x0001)];
        let sum = reduce(Sem::Fredosum, Elem::F32, 0x3f800000, &mut elements.into_iter(), Frm::Rne);
        assert_eq!(f32::from_bits(sum as u32), 1.0 + 65504.0);
        assert_eq!(unordered_sum(Elem::F32, 0x3f800000, &elements[..3], Frm::Rne), Some(sum));
        assert_eq!(unordered_sum(Elem::F32, 0x3f800000, &elements, Frm::Rne), None);
        let byte = |bits| Operand { bits, elem: Elem::I8 };
        let sum = reduce(
            Sem::Redsum,
            Elem::I16,
            0x7fff,
            &mut [byte(0xff), byte(0x80), byte(3)].into_iter(),
            Frm::Rne,
        );
        assert_eq!(sum, 0x7fff - 126);
        let byte = |bits| Operand { bits, elem: Elem::U8 };
        let sum = reduce(Sem::Redsum, Elem::U16, 0xffff, &mut [byte(0xff), byte(0x80)].into_iter(), Frm::Rne);
        assert_eq!(sum, 0x17e);
    }

    #[test]
    fn integer_reductions() {
        let mut rng = Rng(99);
        for round in 0..2_000 {
            let values: Vec<i8> = (0..round % 9).map(|_| rng.below(256) as i8).collect();
            let init = rng.below(256) as i8;
            let all = || values.iter().copied().chain([init]);
            let run = |sem, elem| {
                let mut operands = values.iter().map(|&v| Operand { bits: u64::from(v as u8), elem });
                reduce(sem, elem, u64::from(init as u8), &mut operands, Frm::Rne) as u8
            };
            for elem in [Elem::I8, Elem::U8] {
                assert_eq!(run(Sem::Redsum, elem) as i8, all().fold(0, i8::wrapping_add));
                assert_eq!(run(Sem::Redand, elem) as i8, all().fold(-1, |a, b| a & b));
                assert_eq!(run(Sem::Redor, elem) as i8, all().fold(0, |a, b| a | b));
                assert_eq!(run(Sem::Redxor, elem) as i8, all().fold(0, |a, b| a ^ b));
            }
            assert_eq!(Some(run(Sem::Redmin, Elem::I8) as i8), all().min());
            assert_eq!(Some(run(Sem::Redmax, Elem::I8) as i8), all().max());
            assert_eq!(Some(run(Sem::Redmin, Elem::U8)), all().map(|v| v as u8).min());
            assert_eq!(Some(run(Sem::Redmax, Elem::U8)), all().map(|v| v as u8).max());
        }
    }

    /// minimumNumber of all: NaNs do not count, unless there is nothing else; nothing active is a copy.
    #[test]
    fn float_minimum_and_maximum() {
        let run = |sem, init, elements: &[u64]| {
            let mut operands = elements.iter().map(|&bits| Operand { bits, elem: Elem::F16 });
            reduce(sem, Elem::F16, init, &mut operands, Frm::Rne)
        };
        assert_eq!(run(Sem::Fredmin, 0xfd01, &[]), 0xfd01);
        assert_eq!(run(Sem::Fredmax, 0xfd01, &[0x7e55]), 0x7e00);
        assert_eq!(run(Sem::Fredmin, 0x7d01, &[0, 0xfe00, 0x8000, 0x3c00]), 0x8000);
        assert_eq!(run(Sem::Fredmax, 0x7d01, &[0x8000, 0xfe00, 0, 0xbc00]), 0);
        assert_eq!(run(Sem::Fredosum, 0xfd01, &[]), 0xfd01);
        assert_eq!(run(Sem::Fredosum, 0xfd01, &[0]), 0x7e00);
        assert_eq!(run(Sem::Fredosum, 0x6800, &[0x3c00, 0x3c00, 0x3c00]), 0x6800);
    }
}
