//! What the tests of the arithmetic share: operands that hurt, and a short way to call.

use rvv_intrinsics::{Elem, Sem};
use rvv_oracle::arith::{Args, Frm, Operand, Vxrm, element};

/// splitmix64
pub struct Rng(pub u64);

impl Rng {
    pub fn bits(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The exponent's and the fraction's width.
pub fn layout(elem: Elem) -> (u32, u32) {
    match elem {
        Elem::F16 => (5, 10),
        Elem::Bf16 => (8, 7),
        Elem::F32 => (8, 23),
        Elem::F64 => (11, 52),
        _ => panic!("{elem:?} is not a float"),
    }
}

pub fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

pub fn canonical_nan(elem: Elem) -> u64 {
    match elem {
        Elem::F16 => 0x7e00,
        Elem::Bf16 => 0x7fc0,
        Elem::F32 => 0x7fc00000,
        Elem::F64 => 0x7ff8000000000000,
        _ => panic!("{elem:?} is not a float"),
    }
}

pub fn is_nan(elem: Elem, bits: u64) -> bool {
    let (e, f) = layout(elem);
    bits & ones(e + f) > ones(e) << f
}

/// The canonical NaN for any NaN.
pub fn canonical(elem: Elem, bits: u64) -> u64 {
    if is_nan(elem, bits) { canonical_nan(elem) } else { bits }
}

/// Zeros, the ends of every range, ones, infinities, NaNs quiet and signaling; both signs.
pub fn corners(elem: Elem) -> Vec<u64> {
    let (e, f) = layout(elem);
    let one = ones(e - 1) << f;
    let inf = ones(e) << f;
    let half = 1 << (f - 1);
    let mut all = vec![
        0,
        1,
        2,
        3,
        half,
        half - 1,
        half >> 1,
        (half >> 1) - 1,
        ones(f),
        1 << f,
        (1 << f) + 1,
        2 << f,
        one - 1,
        one,
        one + 1,
        one + half,
        one + half + 1,
        one + (1 << f),
        one + (u64::from(f) << f),
        one + (u64::from(f + 1) << f),
        one + (u64::from(f + 1) << f) + 1,
        one - (u64::from(f) << f).min(one),
        one - (u64::from(f + 1) << f).min(one),
        inf - (1 << f),
        inf - 1,
        inf - 2,
        inf,
        inf + 1,
        inf + half,
        inf + half + 1,
        inf + ones(f),
    ];
    all.extend(all.clone().iter().map(|x| x | 1 << (e + f)));
    all
}

/// Something that is worth trying: corners, their neighbours, uniform bits, and significands with long
/// runs at exponents close to those of other operands.
pub fn operand(rng: &mut Rng, elem: Elem, corners: &[u64]) -> u64 {
    let (e, f) = layout(elem);
    let width = e + f + 1;
    match rng.below(8) {
        0 => rng.pick(corners),
        1 => rng.pick(corners).wrapping_add(rng.below(5)).wrapping_sub(2) & ones(width),
        2 | 3 => rng.bits() & ones(width),
        _ => {
            let span = [2, u64::from(f), 2 * u64::from(f) + 4][rng.below(3) as usize].min(ones(e));
            let start = [0, (ones(e) - span) / 2, ones(e) - span][rng.below(6).min(2) as usize];
            let exponent = start + rng.below(span);
            let fraction = match rng.below(4) {
                0 => rng.bits(),
                1 => rng.bits() & rng.bits() & rng.bits(),
                2 => u64::MAX << rng.below(64),
                _ => (1 << rng.below(64)) | (1 << rng.below(64)),
            } & ones(f);
            (rng.below(2) << (e + f)) | (exponent << f) | fraction
        }
    }
}

pub fn op(bits: u64, elem: Elem) -> Operand {
    Operand { bits, elem }
}

/// One element: vs2, op1 and vd where given.
pub fn call(sem: Sem, ret: Elem, frm: Frm, operands: &[Operand]) -> u64 {
    let args =
        Args { op1: operands.get(1).copied(), acc: operands.get(2).copied(), frm, ..Args::new(operands[0]) };
    element(sem, ret, &args).unwrap()
}

/// One element of a fixed-point operation.
pub fn call_fixed(sem: Sem, ret: Elem, vxrm: Vxrm, vs2: Operand, op1: Operand) -> u64 {
    element(sem, ret, &Args { op1: Some(op1), vxrm, ..Args::new(vs2) }).unwrap()
}
