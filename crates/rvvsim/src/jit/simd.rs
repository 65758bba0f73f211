//! Encodings of the host's vector instructions: AVX2 and FMA by VEX; those of registers of 64 bytes by EVEX.
//!
//! All instructions here are of one form (a destination, a second operand, and a third that is a register or
//! memory), so that one function encodes them and an instruction is four numbers, as the manual's opcode
//! column has them.

/// An instruction: `66.0F38.W0 40` is `Simd::new(1, 2, 0, 0x40)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd {
    /// The prefix: 0 none, 1 `66`, 2 `F3`, 3 `F2`.
    pub pp: u8,
    /// The map: 1 `0F`, 2 `0F38`, 3 `0F3A`.
    pub map: u8,
    /// W.
    pub w: u8,
    /// The opcode.
    pub op: u8,
}

impl Simd {
    pub const fn new(pp: u8, map: u8, w: u8, op: u8) -> Simd {
        Simd { pp, map, w, op }
    }
}

impl Simd {
    /// The instruction for registers of 64 bytes, if it is the same there but for W, which says how wide
    /// elements are. (Comparisons and blends are not: their masks are in other registers.)
    pub const fn long_form(self) -> Option<Simd> {
        let Simd { pp, map, w, op } = self;
        let w = match (pp, map, op) {
            // Moves of whole registers; of elements of 8, 16 and 32 bits: sums, differences, products, the
            // lesser and greater; logic.
            (2, 1, 0x6f | 0x7f) => 0,
            (1, 1, 0xfc | 0xfd | 0xfe | 0xf8 | 0xf9 | 0xfa | 0xd5) => 0,
            (1, 1, 0xea | 0xee | 0xda | 0xde) => 0,
            (1, 1, 0xdb | 0xdf | 0xeb | 0xef) => 0,
            (1, 2, 0x38..=0x40) => 0,
            // Of 64.
            (1, 1, 0xd4 | 0xfb) => 1,
            // Floating point: of single and of double precision.
            (0 | 1, 1, 0x51 | 0x58 | 0x59 | 0x5c | 0x5e | 0xc2) => pp,
            // It has the same W for both.
            (1, 2, 0xa8 | 0xaa | 0xac | 0xae | 0xb8 | 0xba | 0xbc | 0xbe) => w,
            // Broadcasts.
            (1, 2, 0x78 | 0x79 | 0x58) => 0,
            (1, 2, 0x59) => 1,
            _ => return None,
        };
        Some(Simd { pp, map, w, op })
    }
}

/// How many bytes of a register count. Of fewer than 16, the rest of the register is computed and not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    B4,
    B8,
    B16,
    B32,
    /// AVX-512, of instructions that have this form ([`Simd::long_form`]).
    B64,
}

impl Width {
    pub const fn bytes(self) -> usize {
        4 << self as usize
    }
}

/// The last operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A vector register.
    Vector(u8),
    /// A general register.
    General(u8),
    /// Memory at a general register (not `rsp`, not `r12`) and a distance.
    Memory(u8, i32),
}

/// Encodes an instruction.
pub fn encode(out: &mut Vec<u8>, i: Simd, width: Width, [reg, second]: [u8; 2], last: Operand) {
    debug_assert!(reg < 16 && second < 16);
    if width == Width::B64 {
        return encode_long(out, i.long_form().expect("it has one"), [reg, second], last);
    }
    let high = match last {
        Operand::Vector(r) | Operand::General(r) | Operand::Memory(r, _) => r >> 3 & 1,
    };
    // Register numbers are stored inverted.
    let rxb = (!(reg >> 3) & 1) << 7 | 1 << 6 | (!high & 1) << 5;
    let v = (!second & 15) << 3;
    let long = u8::from(width == Width::B32) << 2;
    if high == 0 && i.map == 1 && i.w == 0 {
        out.extend([0xc5, rxb & 0x80 | v | long | i.pp, i.op]);
    } else {
        out.extend([0xc4, rxb | i.map, i.w << 7 | v | long | i.pp, i.op]);
    }
    match last {
        Operand::Vector(r) | Operand::General(r) => out.push(0xc0 | (reg & 7) << 3 | r & 7),
        Operand::Memory(base, distance) => {
            debug_assert!(base & 7 != 4);
            if let Ok(short) = i8::try_from(distance) {
                out.push(0x40 | (reg & 7) << 3 | base & 7);
                out.extend(short.to_le_bytes());
            } else {
                out.push(0x80 | (reg & 7) << 3 | base & 7);
                out.extend(distance.to_le_bytes());
            }
        }
    }
}

/// Encodes an instruction of registers of 64 bytes, the first 16 of them.
fn encode_long(out: &mut Vec<u8>, i: Simd, [reg, second]: [u8; 2], last: Operand) {
    let high = match last {
        Operand::Vector(r) | Operand::General(r) | Operand::Memory(r, _) => r >> 3 & 1,
    };
    // Register numbers are stored inverted.
    let rxbr = (!(reg >> 3) & 1) << 7 | 1 << 6 | (!high & 1) << 5 | 1 << 4;
    out.extend([0x62, rxbr | i.map, i.w << 7 | (!second & 15) << 3 | 1 << 2 | i.pp, 0b0100_1000, i.op]);
    match last {
        Operand::Vector(r) | Operand::General(r) => out.push(0xc0 | (reg & 7) << 3 | r & 7),
        Operand::Memory(base, distance) => {
            // A short distance would be in units of 64.
            debug_assert!(base & 7 != 4);
            out.push(0x80 | (reg & 7) << 3 | base & 7);
            out.extend(distance.to_le_bytes());
        }
    }
}

/// `korw k1, k1, k2`; `kortestw k1, k1`: of 16 bits, which elements of 32 bits have.
pub const OR_MASKS: [u8; 4] = [0xc5, 0xf4, 0x45, 0xca];
pub const TEST_MASK: [u8; 4] = [0xc5, 0xf8, 0x98, 0xc9];

/// Instructions by the width of their elements: 8, 16, 32, 64 bits. With `None`, the host has none.
pub type BySew = [Option<Simd>; 4];

const fn i(pp: u8, map: u8, w: u8, op: u8) -> Option<Simd> {
    Some(Simd::new(pp, map, w, op))
}

/// `vmovdqu`, `vmovq`, `vmovd` from memory.
pub const LOAD: Simd = Simd::new(2, 1, 0, 0x6f);
pub const LOAD_8: Simd = Simd::new(2, 1, 0, 0x7e);
pub const LOAD_4: Simd = Simd::new(1, 1, 0, 0x6e);
/// To memory.
pub const STORE: Simd = Simd::new(2, 1, 0, 0x7f);
pub const STORE_8: Simd = Simd::new(1, 1, 0, 0xd6);
pub const STORE_4: Simd = Simd::new(1, 1, 0, 0x7e);
pub const ADD: BySew = [i(1, 1, 0, 0xfc), i(1, 1, 0, 0xfd), i(1, 1, 0, 0xfe), i(1, 1, 0, 0xd4)];
pub const SUB: BySew = [i(1, 1, 0, 0xf8), i(1, 1, 0, 0xf9), i(1, 1, 0, 0xfa), i(1, 1, 0, 0xfb)];
pub const AND: Simd = Simd::new(1, 1, 0, 0xdb);
/// `!second & last`.
pub const ANDN: Simd = Simd::new(1, 1, 0, 0xdf);
pub const OR: Simd = Simd::new(1, 1, 0, 0xeb);
pub const XOR: Simd = Simd::new(1, 1, 0, 0xef);
pub const MUL: BySew = [None, i(1, 1, 0, 0xd5), i(1, 2, 0, 0x40), None];
/// `vpmuludq`: 64 bits from the low halves of elements of 64.
pub const MULTIPLY_LOW_HALVES: Simd = Simd::new(1, 1, 0, 0xf4);
pub const ADD_64: Simd = Simd::new(1, 1, 0, 0xd4);
pub const MIN: BySew = [i(1, 2, 0, 0x38), i(1, 1, 0, 0xea), i(1, 2, 0, 0x39), None];
pub const MAX: BySew = [i(1, 2, 0, 0x3c), i(1, 1, 0, 0xee), i(1, 2, 0, 0x3d), None];
pub const MINU: BySew = [i(1, 1, 0, 0xda), i(1, 2, 0, 0x3a), i(1, 2, 0, 0x3b), None];
pub const MAXU: BySew = [i(1, 1, 0, 0xde), i(1, 2, 0, 0x3e), i(1, 2, 0, 0x3f), None];
/// Shifts by vectors of amounts.
pub const SLLV: BySew = [None, None, i(1, 2, 0, 0x47), i(1, 2, 1, 0x47)];
pub const SRLV: BySew = [None, None, i(1, 2, 0, 0x45), i(1, 2, 1, 0x45)];
pub const SRAV: BySew = [None, None, i(1, 2, 0, 0x46), None];
/// Shifts by the number in the low half of the last operand.
pub const SLL: BySew = [None, i(1, 1, 0, 0xf1), i(1, 1, 0, 0xf2), i(1, 1, 0, 0xf3)];
pub const SRL: BySew = [None, i(1, 1, 0, 0xd1), i(1, 1, 0, 0xd2), i(1, 1, 0, 0xd3)];
pub const SRA: BySew = [None, i(1, 1, 0, 0xe1), i(1, 1, 0, 0xe2), None];
pub const EQUAL: BySew = [i(1, 1, 0, 0x74), i(1, 1, 0, 0x75), i(1, 1, 0, 0x76), i(1, 2, 0, 0x29)];
pub const GREATER: BySew = [i(1, 1, 0, 0x64), i(1, 1, 0, 0x65), i(1, 1, 0, 0x66), i(1, 2, 0, 0x37)];
/// Adds and subtracts that saturate, signed and not.
pub const ADDS: BySew = [i(1, 1, 0, 0xec), i(1, 1, 0, 0xed), None, None];
pub const SUBS: BySew = [i(1, 1, 0, 0xe8), i(1, 1, 0, 0xe9), None, None];
pub const ADDUS: BySew = [i(1, 1, 0, 0xdc), i(1, 1, 0, 0xdd), None, None];
pub const SUBUS: BySew = [i(1, 1, 0, 0xd8), i(1, 1, 0, 0xd9), None, None];
/// Sign- and zero-extension to elements of 16, 32, 64 bits from half as many.
pub const SIGN_EXTEND: [Simd; 3] =
    [Simd::new(1, 2, 0, 0x20), Simd::new(1, 2, 0, 0x23), Simd::new(1, 2, 0, 0x25)];
pub const ZERO_EXTEND: [Simd; 3] =
    [Simd::new(1, 2, 0, 0x30), Simd::new(1, 2, 0, 0x33), Simd::new(1, 2, 0, 0x35)];
/// From the first element of a register, or from memory.
pub const BROADCAST: BySew = [i(1, 2, 0, 0x78), i(1, 2, 0, 0x79), i(1, 2, 0, 0x58), i(1, 2, 0, 0x59)];
/// `vmovd` and `vmovq` to a vector register from a general one.
pub const MOVE: [Simd; 2] = [Simd::new(1, 1, 0, 0x6e), Simd::new(1, 1, 1, 0x6e)];
/// `vpshufb`.
pub const SHUFFLE: Simd = Simd::new(1, 2, 0, 0x00);
/// `vpblendvb`, with its last register in an immediate.
pub const BLEND: Simd = Simd::new(1, 3, 0, 0x4c);
/// The sign bits of bytes, of words and of quadwords, in a general register.
pub const SIGNS_8: Simd = Simd::new(1, 1, 0, 0xd7);
pub const SIGNS_32: Simd = Simd::new(0, 1, 0, 0x50);
pub const SIGNS_64: Simd = Simd::new(1, 1, 0, 0x50);
/// `vptest`.
pub const TEST: Simd = Simd::new(1, 2, 0, 0x17);
/// `vpermd`.
pub const PERMUTE: Simd = Simd::new(1, 2, 0, 0x36);
/// `vextracti128`, with which half in an immediate; its destination is the last operand.
pub const EXTRACT: Simd = Simd::new(1, 3, 0, 0x39);

/// Floating point: of single and of double precision.
pub const fn float(map: u8, op: u8) -> [Simd; 2] {
    if map == 1 {
        [Simd::new(0, 1, 0, op), Simd::new(1, 1, 0, op)]
    } else {
        [Simd::new(1, map, 0, op), Simd::new(1, map, 1, op)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(i: Simd, width: Width, registers: [u8; 2], last: Operand) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out, i, width, registers, last);
        out
    }

    /// As GNU as 2.40 encodes them.
    #[test]
    fn instructions_are_encoded_as_an_assembler_does() {
        use Operand::*;
        let add = ADD[2].unwrap();
        // vpaddd ymm1, ymm2, ymm3
        assert_eq!(bytes(add, Width::B32, [1, 2], Vector(3)), [0xc5, 0xed, 0xfe, 0xcb]);
        // vpaddd xmm9, xmm10, xmm11
        assert_eq!(bytes(add, Width::B8, [9, 10], Vector(11)), [0xc4, 0x41, 0x29, 0xfe, 0xcb]);
        // vpaddd ymm1, ymm2, [rdx + 64]
        assert_eq!(bytes(add, Width::B32, [1, 2], Memory(2, 64)), [0xc5, 0xed, 0xfe, 0x4a, 64]);
        // vpmulld xmm14, xmm0, [rax + 256]
        let mul = [0xc4, 0x62, 0x79, 0x40, 0xb0, 0, 1, 0, 0];
        assert_eq!(bytes(MUL[2].unwrap(), Width::B16, [14, 0], Memory(0, 256)), mul);
        // vpsllvq ymm1, ymm2, ymm3
        assert_eq!(bytes(SLLV[3].unwrap(), Width::B32, [1, 2], Vector(3)), [0xc4, 0xe2, 0xed, 0x47, 0xcb]);
    }

    /// As GNU as 2.40 encodes them, but for distances, which it stores in one byte where they fit.
    #[test]
    fn instructions_of_long_registers_are_encoded_as_an_assembler_does() {
        use Operand::*;
        let check = |i: Simd, registers: [u8; 2], last: Operand, expected: &[u8]| {
            assert_eq!(bytes(i, Width::B64, registers, last), expected, "{i:x?}");
        };
        // vmovdqu32 zmm9, [r11 + 64]
        check(LOAD, [9, 0], Memory(11, 64), &[0x62, 0x51, 0x7e, 0x48, 0x6f, 0x8b, 64, 0, 0, 0]);
        // vmovdqu32 [r8 + 256], zmm3
        check(STORE, [3, 0], Memory(8, 256), &[0x62, 0xd1, 0x7e, 0x48, 0x7f, 0x98, 0, 1, 0, 0]);
        // vpbroadcastd zmm14, [rbx - 512]
        let minus_512 = [0x62, 0x72, 0x7d, 0x48, 0x58, 0xb3, 0, 0xfe, 0xff, 0xff];
        check(BROADCAST[2].unwrap(), [14, 0], Memory(3, -512), &minus_512);
        // vpbroadcastq zmm14, [rbx + 512]
        let plus_512 = [0x62, 0x72, 0xfd, 0x48, 0x59, 0xb3, 0, 2, 0, 0];
        check(BROADCAST[3].unwrap(), [14, 0], Memory(3, 512), &plus_512);
        // vpbroadcastb zmm1, xmm1
        check(BROADCAST[0].unwrap(), [1, 0], Vector(1), &[0x62, 0xf2, 0x7d, 0x48, 0x78, 0xc9]);
        // vsqrtpd zmm12, zmm13
        check(float(1, 0x51)[1], [12, 0], Vector(13), &[0x62, 0x51, 0xfd, 0x48, 0x51, 0xe5]);
        // vpsubq zmm9, zmm10, zmm11
        check(SUB[3].unwrap(), [9, 10], Vector(11), &[0x62, 0x51, 0xad, 0x48, 0xfb, 0xcb]);
        // vcmppd k2, zmm12, zmm13
        check(float(1, 0xc2)[1], [2, 12], Vector(13), &[0x62, 0xd1, 0x9d, 0x48, 0xc2, 0xd5]);
        // All of zmm1, zmm2, zmm3: the bytes that differ.
        for (i, map, w_pp, op) in [
            (ADD[2].unwrap(), 0xf1, 0x6d, 0xfe),
            (ADD[3].unwrap(), 0xf1, 0xed, 0xd4),
            (MUL[1].unwrap(), 0xf1, 0x6d, 0xd5),
            (MUL[2].unwrap(), 0xf2, 0x6d, 0x40),
            (XOR, 0xf1, 0x6d, 0xef),
            (ANDN, 0xf1, 0x6d, 0xdf),
            (MINU[0].unwrap(), 0xf1, 0x6d, 0xda),
            (MAXU[2].unwrap(), 0xf2, 0x6d, 0x3f),
            (float(1, 0x5e)[0], 0xf1, 0x6c, 0x5e),
            (float(1, 0x5c)[1], 0xf1, 0xed, 0x5c),
            (float(2, 0xb8)[0], 0xf2, 0x6d, 0xb8),
            (float(2, 0xae)[1], 0xf2, 0xed, 0xae),
            (float(1, 0xc2)[0], 0xf1, 0x6c, 0xc2),
        ] {
            check(i, [1, 2], Vector(3), &[0x62, map, w_pp, 0x48, op, 0xcb]);
        }
        // Their results would be masks.
        assert!(EQUAL.iter().chain(&GREATER).flatten().all(|i| i.long_form().is_none()));
        assert_eq!((BLEND.long_form(), SIGNS_32.long_form()), (None, None));
    }
}
