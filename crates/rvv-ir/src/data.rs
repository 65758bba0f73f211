//! What buffers hold at the start: seeded values, corner cases favoured, or literal ones.

use half::{bf16, f16};
use rvv_intrinsics::Elem;

/// The contents of a buffer at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    /// Zeros.
    Zero,
    /// Values drawn from a seed.
    Seed(u64, Distribution),
    /// These bits; what is missing at the end is zero.
    Data(Vec<u64>),
}

/// How seeded values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Uniform bits.
    Bits,
    /// Corner values of the type: extremes, NaNs, infinities, subnormals, zeros and their neighbours.
    Corner,
    /// Half of each.
    Mix,
    /// Small numbers: integers −8 to 8, and the same as floats, in halves.
    Small,
    /// Multiples of `step` in `0..limit`: what may index memory.
    Below {
        /// All values are less.
        limit: u64,
        /// All values are multiples of it.
        step: u64,
    },
    /// `0, step, 2·step, …`, one for each element, shuffled: what may index memory with no place twice.
    Permute {
        /// All values are multiples of it.
        step: u64,
    },
}

/// [SplitMix64](rvv_isa::random): each file's numbers must be the same for ever, on any machine.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }

    /// A number less than `n`; 0 if `n` is.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

impl Init {
    /// The bits of each element, in memory order.
    pub fn values(&self, elem: Elem, len: usize) -> Vec<u64> {
        match self {
            Init::Zero => vec![0; len],
            Init::Seed(seed, Distribution::Permute { step }) => {
                let mut rng = SplitMix(*seed);
                let mut values: Vec<u64> = (0..len as u64).map(|i| i.wrapping_mul(*step)).collect();
                for i in (1..len).rev() {
                    values.swap(i, rng.below(i as u64 + 1) as usize);
                }
                let mask = u64::MAX >> (64 - elem.bits());
                values.into_iter().map(|v| v & mask).collect()
            }
            Init::Seed(seed, distribution) => {
                let mut rng = SplitMix(*seed);
                (0..len).map(|_| distribution.draw(elem, &mut rng)).collect()
            }
            Init::Data(data) => {
                let mask = u64::MAX >> (64 - elem.bits());
                let mut values: Vec<u64> = data.iter().map(|v| v & mask).collect();
                values.resize(len, 0);
                values
            }
        }
    }
}

impl Distribution {
    /// One value, as bits of `elem`.
    pub fn draw(self, elem: Elem, rng: &mut SplitMix) -> u64 {
        let mask = u64::MAX >> (64 - elem.bits());
        match self {
            Distribution::Bits => rng.next_u64() & mask,
            Distribution::Corner => corner(elem, rng) & mask,
            Distribution::Mix => {
                if rng.next_u64() & 1 == 0 {
                    rng.next_u64() & mask
                } else {
                    corner(elem, rng) & mask
                }
            }
            Distribution::Small => small(elem, rng) & mask,
            // One alone is the first of the row.
            Distribution::Permute { .. } => 0,
            Distribution::Below { limit, step } => {
                let step = step.max(1);
                rng.below(limit.div_ceil(step)).wrapping_mul(step) & mask
            }
        }
    }
}

/// Exponent bits and fraction bits.
fn format(elem: Elem) -> (u32, u32) {
    match elem {
        Elem::F16 => (5, 10),
        Elem::Bf16 => (8, 7),
        Elem::F32 => (8, 23),
        _ => (11, 52),
    }
}

fn corner(elem: Elem, rng: &mut SplitMix) -> u64 {
    let bits = elem.bits();
    let value = if elem.is_float() {
        let (exponent, fraction) = format(elem);
        let infinity = ((1u64 << exponent) - 1) << fraction;
        let one = ((1u64 << (exponent - 1)) - 1) << fraction;
        let magnitudes = [
            0,                   // zero
            1,                   // smallest subnormal
            (1 << fraction) - 1, // largest subnormal
            1 << fraction,       // smallest normal
            infinity - 1,        // largest finite
            infinity,
            infinity | 1 << (fraction - 1), // canonical NaN
            infinity | 1,                   // a signalling NaN
            one,
            one + 1,
            one - 1,                                 // the last below one
            one + (1 << fraction),                   // two
            one + (1 << (fraction - 1)),             // one and a half
            one - (1 << fraction),                   // a half
            one + (u64::from(fraction) << fraction), // where the ulp is one
            one + ((u64::from(fraction) + 1) << fraction),
        ];
        magnitudes[rng.below(magnitudes.len() as u64) as usize] | (rng.next_u64() & 1) << (bits - 1)
    } else {
        let top = 1u64 << (bits - 1);
        let half = 1u64 << (bits / 2);
        let values = [
            0,
            1,
            2,
            3,
            u64::MAX,
            u64::MAX - 1,
            top,
            top - 1,
            top + 1,
            top - 2,
            half,
            half - 1,
            half + 1,
            0x7f,
            0x80,
            0xff,
        ];
        values[rng.below(values.len() as u64) as usize]
    };
    // One in four is a neighbour: one bit of the low byte flipped.
    if rng.below(4) == 0 { value ^ (1 << rng.below(8)) } else { value }
}

fn small(elem: Elem, rng: &mut SplitMix) -> u64 {
    let n = rng.below(17) as i64 - 8;
    // Halves are exact in every format.
    let x = n as f32 / 2.0;
    match elem {
        Elem::F16 => f16::from_f32(x).to_bits().into(),
        Elem::Bf16 => bf16::from_f32(x).to_bits().into(),
        Elem::F32 => x.to_bits().into(),
        Elem::F64 => f64::from(x).to_bits(),
        _ => n as u64,
    }
}

/// The value of a floating-point element, for people: `-1.5`, `inf`, `NaN`. Nothing for integers.
pub fn float_text(elem: Elem, bits: u64) -> Option<String> {
    Some(match elem {
        Elem::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        Elem::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
        Elem::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Elem::F64 => format!("{:?}", f64::from_bits(bits)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_are_halves() {
        let mut rng = SplitMix(1);
        for _ in 0..100 {
            let x = f64::from_bits(Distribution::Small.draw(Elem::F64, &mut rng));
            assert!(x.abs() <= 4.0 && (x * 2.0).fract() == 0.0, "{x}");
            let x = f32::from_bits(Distribution::Small.draw(Elem::F32, &mut rng) as u32);
            assert!(x.abs() <= 4.0 && (x * 2.0).fract() == 0.0, "{x}");
            let x = f16::from_bits(Distribution::Small.draw(Elem::F16, &mut rng) as u16).to_f32();
            assert!(x.abs() <= 4.0 && (x * 2.0).fract() == 0.0, "{x}");
            let x = bf16::from_bits(Distribution::Small.draw(Elem::Bf16, &mut rng) as u16).to_f32();
            assert!(x.abs() <= 4.0 && (x * 2.0).fract() == 0.0, "{x}");
        }
    }

    #[test]
    fn floats_have_text() {
        let text = |elem, bits| float_text(elem, bits).unwrap_or_default();
        assert_eq!(
            [0x3e00, 0x8000, 0x7c00, 1].map(|b| text(Elem::F16, b)),
            ["1.5", "-0.0", "inf", "5.9604645e-8"]
        );
        assert_eq!([0x3fc0, 0xff80, 0x7fc0].map(|b| text(Elem::Bf16, b)), ["1.5", "-inf", "NaN"]);
        assert_eq!(text(Elem::F32, 0x4040_0000), "3.0");
        assert_eq!(text(Elem::F64, 1), "5e-324");
        assert_eq!(float_text(Elem::U16, 0x3e00), None);
    }

    #[test]
    fn indices_stay_below_their_limit() {
        let mut rng = SplitMix(2);
        for _ in 0..1000 {
            let v = Distribution::Below { limit: 40, step: 4 }.draw(Elem::U8, &mut rng);
            assert!(v < 40 && v.is_multiple_of(4));
        }
    }

    #[test]
    fn the_seed_alone_decides() {
        assert_eq!(SplitMix(0).next_u64(), 0xe220_a839_7b1d_cdaf);
        let init = Init::Seed(7, Distribution::Mix);
        assert_eq!(init.values(Elem::I32, 10)[..5], init.values(Elem::I32, 5)[..]);
    }
}
