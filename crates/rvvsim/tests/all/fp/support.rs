//! Operands worth trying, and the operations as values.

use rand::Rng;
use rand::rngs::StdRng;
use rvvsim::fp::{Bits, Flags, Float, RoundingMode, soft};

/// Every mode that anything rounds in.
pub const MODES: [RoundingMode; 6] = [
    RoundingMode::Rne,
    RoundingMode::Rtz,
    RoundingMode::Rdn,
    RoundingMode::Rup,
    RoundingMode::Rmm,
    RoundingMode::Rod,
];

/// The arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Fma,
}

impl Op {
    pub const ALL: [Self; 6] = [Self::Add, Self::Sub, Self::Mul, Self::Div, Self::Sqrt, Self::Fma];

    /// The operation as instructions run it.
    pub fn fast<F: Float>(self, [a, b, c]: [F::Bits; 3], rm: RoundingMode, flags: &mut Flags) -> F::Bits {
        match self {
            Self::Add => F::add(a, b, rm, flags),
            Self::Sub => F::sub(a, b, rm, flags),
            Self::Mul => F::mul(a, b, rm, flags),
            Self::Div => F::div(a, b, rm, flags),
            Self::Sqrt => F::sqrt(a, rm, flags),
            Self::Fma => F::fused_mul_add(a, b, c, rm, flags),
        }
    }

    /// Its plain twin.
    pub fn soft<F: Float>(self, [a, b, c]: [F::Bits; 3], rm: RoundingMode, flags: &mut Flags) -> F::Bits {
        match self {
            Self::Add => soft::add::<F>(a, b, rm, flags),
            Self::Sub => soft::sub::<F>(a, b, rm, flags),
            Self::Mul => soft::mul::<F>(a, b, rm, flags),
            Self::Div => soft::div::<F>(a, b, rm, flags),
            Self::Sqrt => soft::sqrt::<F>(a, rm, flags),
            Self::Fma => soft::fused_mul_add::<F>(a, b, c, rm, flags),
        }
    }
}

/// A value from its exponent field and its trailing significand, made to fit.
pub fn compose<F: Float>(negative: bool, field: i64, fraction: u64) -> F::Bits {
    let field = field.clamp(0, (1 << F::EXP) - 1) as u64;
    let magnitude = F::Bits::truncate(field << F::SIG | fraction & ((1 << F::SIG) - 1));
    if negative { magnitude | F::SIGN_BIT } else { magnitude }
}

/// Some forty values at which things change: zeros, the ends of the subnormal and of the normal numbers, one
/// and its neighbours, integers' limits, infinities, NaNs of both kinds; with both signs.
pub fn corners<F: Float>() -> Vec<F::Bits> {
    let bias = i64::from(F::BIAS);
    let ones = (1 << F::SIG) - 1;
    let top = (1 << F::EXP) - 1;
    let sig = i64::from(F::SIG);
    let positive = [
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 1 << (F::SIG - 1)),
        (0, ones),
        (1, 0),
        (1, 1),
        (1, ones),
        (2, 0),
        (bias / 2, 1),
        (bias - 1, 0),
        (bias - 1, ones),
        (bias, 0),
        (bias, 1),
        (bias, 1 << (F::SIG - 1)),
        (bias, ones),
        (bias + 1, 0),
        (bias + 1, 1 << (F::SIG - 2)),
        (bias + sig, 1),
        (bias + sig + 1, 0),
        (bias + 31, 0),
        (bias + 63, ones),
        (top - 1, 0),
        (top - 1, ones),
        (top, 0),
        (top, 1),
        (top, 1 << (F::SIG - 1)),
        (top, ones),
    ];
    positive
        .iter()
        .flat_map(|&(field, fraction)| [false, true].map(|negative| compose::<F>(negative, field, fraction)))
        .collect()
}

/// A value of any size, rather often of a size that matters, with a significand that is rather often simple.
pub fn value<F: Float>(rng: &mut StdRng) -> F::Bits {
    let top = (1i64 << F::EXP) - 1;
    let field = match rng.random_range(0..16) {
        0 | 1 => 0,
        2 => rng.random_range(1..4),
        3 => top - rng.random_range(1..4),
        4 if rng.random_range(0..4) == 0 => top,
        5 => i64::from(F::SIG) + rng.random_range(-2..3),
        6..=9 => i64::from(F::BIAS) + rng.random_range(-3..4),
        10 => i64::from(F::BIAS + F::SIG as i32) + rng.random_range(-3..4),
        _ => rng.random_range(0..top),
    };
    compose::<F>(rng.random(), field, fraction::<F>(rng))
}

/// A trailing significand: random, or with few ones, or with few zeros, or with its end clear.
pub fn fraction<F: Float>(rng: &mut StdRng) -> u64 {
    let ones = (1u64 << F::SIG) - 1;
    let random: u64 = rng.random();
    match rng.random_range(0..8) {
        0 => 0,
        1 => 1 << rng.random_range(0..F::SIG),
        2 => ones ^ 1 << rng.random_range(0..F::SIG),
        3 => random & ones & !(ones >> rng.random_range(0..F::SIG)),
        4 => random & 3,
        5 => ones - (random & 3),
        _ => random & ones,
    }
}

/// Three operands of which the second is often such that a product or a quotient ends up near the ends of the
/// format, and the third often near what cancels the product of the others.
pub fn operands<F: Float>(rng: &mut StdRng) -> [F::Bits; 3] {
    let a = value::<F>(rng);
    let field = |x: F::Bits| (F::abs(x).into() >> F::SIG) as i64;
    let bias = i64::from(F::BIAS);
    let top = (1i64 << F::EXP) - 1;
    let mut near =
        |middle: i64| compose::<F>(rng.random(), middle + rng.random_range(-3..4), fraction::<F>(rng));
    let b = match near(0).into() % 6 {
        0 => near(field(a)),
        1 => near(bias + 1 - field(a)),
        2 => near(bias - i64::from(F::SIG) - field(a)),
        3 => near(top + bias - field(a)),
        _ => value::<F>(rng),
    };
    let product = soft::mul::<F>(a, b, RoundingMode::Rne, &mut Flags::default());
    let c = match rng.random_range(0..5) {
        0 => F::neg(product),
        1 if F::is_finite(product) => {
            let moved = F::abs(product).into().wrapping_add(rng.random_range(0..5)).wrapping_sub(2);
            F::sgnjn(F::Bits::truncate(moved), product)
        }
        2 if F::is_finite(product) => compose::<F>(
            rng.random(),
            field(product) + rng.random_range(-2 * i64::from(F::SIG) - 4..2 * i64::from(F::SIG) + 4),
            fraction::<F>(rng),
        ),
        _ => value::<F>(rng),
    };
    [a, b, c]
}
