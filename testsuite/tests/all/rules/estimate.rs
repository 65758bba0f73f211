//! The estimates vfrec7 and vfrsqrt7, by the tables and the words of the manual.

use super::harness::*;
use rvv_isa::Lmul;

/// The seven bits of the result's significand, by seven of the input's.
#[rustfmt::skip]
const RECIPROCAL: [u64; 128] = [
    127, 125, 123, 121, 119, 117, 116, 114, 112, 110, 109, 107, 105, 104, 102, 100,
    99, 97, 96, 94, 93, 91, 90, 88, 87, 85, 84, 83, 81, 80, 79, 77,
    76, 75, 74, 72, 71, 70, 69, 68, 66, 65, 64, 63, 62, 61, 60, 59,
    58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43,
    42, 41, 40, 40, 39, 38, 37, 36, 35, 35, 34, 33, 32, 31, 31, 30,
    29, 28, 28, 27, 26, 25, 25, 24, 23, 23, 22, 21, 21, 20, 19, 19,
    18, 17, 17, 16, 15, 15, 14, 14, 13, 12, 12, 11, 11, 10, 9, 9,
    8, 8, 7, 7, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0,
];

/// The seven bits of the result's significand, by the low bit of the exponent and six bits of the
/// significand.
#[rustfmt::skip]
const RECIPROCAL_SQUARE_ROOT: [u64; 128] = [
    52, 51, 50, 48, 47, 46, 44, 43, 42, 41, 40, 39, 38, 36, 35, 34,
    33, 32, 31, 30, 30, 29, 28, 27, 26, 25, 24, 23, 23, 22, 21, 20,
    19, 19, 18, 17, 16, 16, 15, 14, 14, 13, 12, 12, 11, 10, 10, 9,
    9, 8, 7, 7, 6, 6, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0,
    127, 125, 123, 121, 119, 118, 116, 114, 113, 111, 109, 108, 106, 105, 103, 102,
    100, 99, 97, 96, 95, 93, 92, 91, 90, 88, 87, 86, 85, 84, 83, 82,
    80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 70, 69, 68, 67, 66,
    65, 64, 63, 63, 62, 61, 60, 59, 59, 58, 57, 56, 56, 55, 54, 53,
];

const DZ: u8 = 8;
const NV: u8 = 16;
const OF_NX: u8 = 5;

/// A format: bits of the exponent and of the significand.
#[derive(Clone, Copy)]
struct Format {
    bits: u32,
    exp: u32,
    sig: u32,
}

const FORMATS: [Format; 3] = [
    Format { bits: 16, exp: 5, sig: 10 },
    Format { bits: 32, exp: 8, sig: 23 },
    Format { bits: 64, exp: 11, sig: 52 },
];

impl Format {
    fn bias(self) -> i64 {
        (1 << (self.exp - 1)) - 1
    }
    fn infinity(self) -> u64 {
        ((1 << self.exp) - 1) << self.sig
    }
    fn nan(self) -> u64 {
        self.infinity() | 1 << (self.sig - 1)
    }
    fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }
    /// The normalized exponent and significand of a finite number that is not 0.
    fn normalized(self, x: u64) -> (i64, u64) {
        let (exp, sig) = ((x & !self.sign()) >> self.sig, x & ((1 << self.sig) - 1));
        if exp != 0 {
            return (exp as i64, sig);
        }
        let zeros = i64::from(sig.leading_zeros() - (64 - self.sig));
        (-zeros, sig << (1 + zeros) & ((1 << self.sig) - 1))
    }
    fn is_nan(self, x: u64) -> bool {
        x & !self.sign() > self.infinity()
    }
    fn is_signaling(self, x: u64) -> bool {
        self.is_nan(x) && x >> (self.sig - 1) & 1 == 0
    }

    fn reciprocal(self, x: u64, frm: u8) -> (u64, u8) {
        let sign = x & self.sign();
        let magnitude = x & !self.sign();
        if self.is_nan(x) {
            return (self.nan(), if self.is_signaling(x) { NV } else { 0 });
        }
        if magnitude == self.infinity() {
            return (sign, 0);
        }
        if magnitude == 0 {
            return (sign | self.infinity(), DZ);
        }
        let (exp, sig) = self.normalized(x);
        let out = 2 * self.bias() - 1 - exp;
        if out > 2 * self.bias() {
            // RTZ, and RDN of a positive or RUP of a negative number, stop at the largest finite one.
            let finite = frm == 1 || frm == 2 && sign == 0 || frm == 3 && sign != 0;
            return (sign | (self.infinity() - u64::from(finite)), OF_NX);
        }
        let sig_out = RECIPROCAL[(sig >> (self.sig - 7)) as usize] << (self.sig - 7);
        if out >= 1 {
            return (sign | (out as u64) << self.sig | sig_out, 0);
        }
        (sign | (1 << self.sig | sig_out) >> (1 - out), 0)
    }

    fn reciprocal_square_root(self, x: u64) -> (u64, u8) {
        if self.is_nan(x) {
            return (self.nan(), if self.is_signaling(x) { NV } else { 0 });
        }
        if x & !self.sign() == 0 {
            return (x | self.infinity(), DZ);
        }
        if x & self.sign() != 0 {
            return (self.nan(), NV);
        }
        if x == self.infinity() {
            return (0, 0);
        }
        let (exp, sig) = self.normalized(x);
        let out = (3 * self.bias() - 1 - exp).div_euclid(2);
        let index = (exp & 1) << 6 | (sig >> (self.sig - 6)) as i64;
        ((out as u64) << self.sig | RECIPROCAL_SQUARE_ROOT[index as usize] << (self.sig - 7), 0)
    }
}

/// All halves; of the others every exponent with every significand the tables tell apart, and the edges.
fn inputs(format: Format) -> Vec<u64> {
    if format.bits == 16 {
        return (0..1 << 16).collect();
    }
    let mut all = Vec::new();
    let last = (1u64 << format.exp) - 1;
    for exp in (0..=last).filter(|&e| format.bits == 32 || e < 4 || e > last - 6 || e % 97 == 0) {
        for top in 0..128u64 {
            let sig = top << (format.sig - 7);
            all.extend([
                exp << format.sig | sig,
                exp << format.sig | sig | 1,
                exp << format.sig | sig | ((1 << (format.sig - 7)) - 1),
            ]);
        }
    }
    // Subnormals with any number of leading zeros.
    all.extend((0..format.sig).flat_map(|k| [1 << k, (1 << k) | (1 << k) >> 3, (2 << k) - 1]));
    let negative: Vec<u64> = all.iter().map(|x| x | format.sign()).collect();
    all.into_iter().chain(negative).collect()
}

fn compare(name: &str, frm: u8, model: impl Fn(Format, u64) -> (u64, u8)) {
    for format in FORMATS {
        let mut lab = Lab::new(65536);
        lab.hart.set_frm(frm);
        for chunk in inputs(format).chunks(65536 / format.bits as usize) {
            lab.set(format.bits, Lmul::M1).vl(chunk.len() as u64).puts(8, format.bits, chunk);
            lab.hart.set_fflags(Default::default());
            lab.ok(ins(name).vd(16).vs2(8));
            let mut flags = 0;
            for (i, &x) in chunk.iter().enumerate() {
                let (want, flag) = model(format, x);
                flags |= flag;
                let got = lab.get(16, format.bits, i);
                assert_eq!(
                    got, want,
                    "{name} of {x:#x}, {} bits, frm {frm}: {got:#x}, want {want:#x}",
                    format.bits
                );
            }
            assert_eq!(lab.hart.fflags().bits(), flags, "{name}, {} bits: flags", format.bits);
        }
    }
}

#[test]
fn vfrec7_is_the_table_of_the_manual() {
    for frm in 0..5 {
        compare("vfrec7.v", frm, |format, x| format.reciprocal(x, frm));
    }
}

#[test]
fn vfrsqrt7_is_the_table_of_the_manual() {
    for frm in [0, 3] {
        compare("vfrsqrt7.v", frm, |format, x| format.reciprocal_square_root(x));
    }
}

#[test]
fn estimate_examples_of_the_manual() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(2).puts(8, 32, &[0x0071_8abc, 0x7f76_5432]);
    lab.ok(ins("vfrec7.v").vd(9).vs2(8));
    assert_eq!(lab.gets(9, 32, 2), [0x7e90_0000, 0x0021_4000]);
    lab.ok(ins("vfrsqrt7.v").vd(9).vs2(8));
    assert_eq!(lab.gets(9, 32, 2), [0x5f08_0000, 0x1f82_0000]);
}

/// Flags come from single elements, too, not only from the whole.
#[test]
fn estimate_flags_one_by_one() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(1);
    for (name, x, flags) in [
        ("vfrec7.v", 0u64, DZ),
        ("vfrec7.v", 0x8000_0000, DZ),
        ("vfrec7.v", 1, OF_NX),
        ("vfrec7.v", 0x3f80_0000, 0),
        ("vfrec7.v", 0x7f80_0001, NV),
        ("vfrec7.v", 0x7fc0_0000, 0),
        ("vfrsqrt7.v", 0x8000_0000, DZ),
        ("vfrsqrt7.v", 0xbf80_0000, NV),
        ("vfrsqrt7.v", 0xff80_0000, NV),
        ("vfrsqrt7.v", 0x7fc0_0000, 0),
        ("vfrsqrt7.v", 3, 0),
    ] {
        lab.put(8, 32, 0, x);
        lab.hart.set_fflags(Default::default());
        lab.ok(ins(name).vd(9).vs2(8));
        assert_eq!(lab.hart.fflags().bits(), flags, "{name} of {x:#x}");
    }
}
