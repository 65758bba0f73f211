//! Operands: the corners of each format, and random values that reach other corners.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Integers where carries, signs and widths change.
pub const INTEGERS: [u64; 32] = [
    0,
    1,
    u64::MAX,
    i64::MIN as u64,
    i64::MAX as u64,
    2,
    -2_i64 as u64,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    i32::MIN as i64 as u64,
    0xffff_ffff_7fff_ffff,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    31,
    32,
    63,
    64,
    0x5555_5555_5555_5555,
    0xaaaa_aaaa_aaaa_aaaa,
    0x0123_4567_89ab_cdef,
    0xfedc_ba98_7654_3210,
    0x8080_8080_8080_8080,
    0x00ff_0000_ff00_00ff,
    0x4000_0000_0000_0000,
    0xc000_0000_0000_0000,
    3,
];

/// A binary floating-point format of IEEE 754, by its field widths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of exponent.
    pub exponent: u32,
    /// Bits of fraction.
    pub fraction: u32,
}

impl Format {
    /// Half precision.
    pub const H: Format = Format { exponent: 5, fraction: 10 };
    /// Brain float.
    pub const BF16: Format = Format { exponent: 8, fraction: 7 };
    /// Single precision.
    pub const S: Format = Format { exponent: 8, fraction: 23 };
    /// Double precision.
    pub const D: Format = Format { exponent: 11, fraction: 52 };

    /// Bits of a number.
    #[must_use]
    pub const fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    const fn bias(self) -> u64 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }

    const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The number with this biased exponent and fraction.
    const fn pack(self, exponent: u64, fraction: u64) -> u64 {
        exponent << self.fraction | fraction
    }

    /// A register that holds the number, NaN-boxed.
    #[must_use]
    pub fn boxed(self, bits: u64) -> u64 {
        if self.width() == 64 { bits } else { u64::MAX << self.width() | bits }
    }

    /// The power of two, or infinity or zero where it does not fit.
    fn power(self, e: i64) -> u64 {
        let biased = self.bias() as i64 + e;
        match biased {
            b if b >= (1 << self.exponent) - 1 => self.infinity(),
            b if b >= 1 => self.pack(b as u64, 0),
            b if b > -i64::from(self.fraction) => 1 << (i64::from(self.fraction) + b - 1),
            _ => 0,
        }
    }

    /// The magnitudes that matter most: a dozen.
    #[must_use]
    pub fn few(self) -> Vec<u64> {
        let top = self.infinity();
        let sign = 1 << (self.width() - 1);
        let one = self.power(0);
        vec![
            0,
            sign,
            1,
            self.fraction_mask() | sign,
            self.pack(1, 0),
            one,
            one | 1 | sign,
            self.pack(self.bias(), self.fraction_mask()),
            top - 1,
            top,
            top | sign,
            top | 1 << (self.fraction - 1),
            top | 1,
        ]
    }

    /// Bit patterns at the corners, of both signs where that matters.
    #[must_use]
    pub fn corners(self) -> Vec<u64> {
        let f = self.fraction;
        let top = self.infinity();
        let quiet = 1 << (f - 1);
        let mut magnitudes = vec![
            0,
            1,
            2,
            self.fraction_mask(), // the largest subnormal
            self.pack(1, 0),      // the smallest normal
            self.pack(1, 1),
            self.power(0),
            self.power(0) | 1,
            self.power(0) - 1,
            self.power(-1),
            self.power(-1) - 1,
            self.pack(self.bias(), quiet),         // 1.5
            self.pack(self.bias() + 1, quiet / 2), // 2.5
            self.pack(self.bias() - 2, 0),         // 0.25
            self.power(1),
            top - 1, // the largest finite
            top,
            top | quiet,
            top | 1, // signaling
        ];
        magnitudes.push(top | quiet | 5);
        magnitudes.push(top | (quiet - 1));
        let sign = 1 << (self.width() - 1);
        magnitudes.iter().flat_map(|&m| [m, m | sign]).collect()
    }

    /// Numbers next to the bounds of the integer types and of the narrower formats, of both signs.
    #[must_use]
    pub fn conversion_corners(self) -> Vec<u64> {
        let mut out = Vec::new();
        let sign = 1 << (self.width() - 1);
        for e in [-25, -24, -15, -14, -2, -1, 1, 2, 7, 8, 15, 16, 23, 24, 30, 31, 32, 52, 53, 62, 63, 64, 84]
        {
            let p = self.power(e);
            let half = p | 1 << (self.fraction - 1);
            let near = [p, p + 1, p.saturating_sub(1), half, half + 1, half - 1, p | self.fraction_mask()];
            out.extend(near.iter().flat_map(|&m| [m, m | sign]));
        }
        for e in [-150, -149, -148, -127, -126, -125, 126, 127, 128] {
            let p = self.power(e);
            out.extend([p, p + 1, (p | self.fraction_mask()) | sign, p.saturating_sub(1) | sign]);
        }
        out.retain(|v| v & !sign <= self.infinity());
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Registers whose upper bits do not make them a number of this format.
    #[must_use]
    pub fn badly_boxed(self) -> Vec<u64> {
        if self.width() == 64 {
            return Vec::new();
        }
        let one = self.power(0);
        let boxed = self.boxed(one);
        let w = self.width();
        vec![
            one,
            boxed ^ 1 << w,
            boxed ^ 1 << 63,
            boxed & !(0xffff << (w.min(48))),
            0x3ff0_0000_0000_0000,
            self.infinity() | 1,
            0,
        ]
    }

    /// A random number: any bits, or a moderate exponent, or few bits set, or next to a power of two.
    pub fn random(self, rng: &mut ChaCha8Rng) -> u64 {
        let mask = u64::MAX >> (64 - self.width());
        let bits = rng.random::<u64>() & mask;
        let near_one = |rng: &mut ChaCha8Rng, reach: i64| {
            let most = (self.bias() as i64).min(reach);
            (self.bias() as i64 + rng.random_range(-most..=most)) as u64
        };
        let sign = bits & 1 << (self.width() - 1);
        let fraction = bits & self.fraction_mask();
        match rng.random_range(0..6) {
            0 => bits,
            1 => sign | self.pack(near_one(rng, 4), fraction),
            2 => sign | self.pack(near_one(rng, 70), fraction),
            3 => sign | self.pack(near_one(rng, 70), fraction & rng.random::<u64>() & rng.random::<u64>()),
            4 => {
                sign | self
                    .pack(near_one(rng, 35), fraction & !(self.fraction_mask() >> rng.random_range(1..8)))
            }
            _ => sign | fraction >> rng.random_range(0..self.fraction),
        }
    }
}

/// A random integer: any bits, or a corner give or take a little, or any number of low bits.
pub fn random_integer(rng: &mut ChaCha8Rng) -> u64 {
    let bits: u64 = rng.random();
    match rng.random_range(0..4) {
        0 => bits,
        1 => {
            INTEGERS[rng.random_range(0..INTEGERS.len())].wrapping_add(rng.random_range(0..5)).wrapping_sub(2)
        }
        2 => bits >> rng.random_range(0..64),
        _ => (bits as i64 >> rng.random_range(0..64)) as u64,
    }
}
