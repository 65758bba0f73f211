//! Encodings of the host's vector instructions (AVX2, FMA), by VEX.
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

/// How many bytes of a register count. Of fewer than 16, the rest of the register is computed and not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    B4,
    B8,
    B16,
    B32,
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
}
