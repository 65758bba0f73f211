//! Encodings of the host's vector instructions: VEX, or EVEX where the host has AVX-512.
//!
//! The assembler knows no EVEX. All instructions here are of one form (a destination, a second operand, and a third that is a
//! register or memory), so that one function encodes them and an instruction is four numbers, as the manual's opcode column
//! has them.

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

/// How wide the registers of an instruction are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    B16 = 0,
    B32 = 1,
    B64 = 2,
}

impl Width {
    pub const fn bytes(self) -> usize {
        16 << self as usize
    }
}

/// The last operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A vector register, one of the first 16.
    Vector(u8),
    /// A general register.
    General(u8),
    /// Memory at a general register (not `rsp`, not `r12`) and a distance.
    Memory(u8, i32),
}

/// Encodes an instruction. Only EVEX can have 64 bytes.
pub fn encode(out: &mut Vec<u8>, evex: bool, i: Simd, width: Width, [reg, second]: [u8; 2], last: Operand) {
    debug_assert!(reg < 16 && second < 16);
    let high = match last {
        Operand::Vector(r) | Operand::General(r) | Operand::Memory(r, _) => r >> 3 & 1,
    };
    // Register numbers are stored inverted.
    let rxb = (!(reg >> 3) & 1) << 7 | 1 << 6 | (!high & 1) << 5;
    let v = (!second & 15) << 3;
    if evex {
        let p2 = i.w << 7 | v | 1 << 2 | i.pp;
        let p3 = (width as u8) << 5 | 1 << 3;
        out.extend([0x62, rxb | 1 << 4 | i.map, p2, p3, i.op]);
    } else {
        debug_assert!(width != Width::B64);
        out.extend([0xc4, rxb | i.map, i.w << 7 | v | (width as u8) << 2 | i.pp, i.op]);
    }
    match last {
        Operand::Vector(r) | Operand::General(r) => out.push(0xc0 | (reg & 7) << 3 | r & 7),
        Operand::Memory(base, distance) => {
            debug_assert!(base & 7 != 4);
            // Always four bytes of it: EVEX scales a single one.
            out.push(0x80 | (reg & 7) << 3 | base & 7);
            out.extend(distance.to_le_bytes());
        }
    }
}

/// Instructions by the width of their elements: 8, 16, 32, 64 bits. With `None`, the host has none.
pub type BySew = [Option<Simd>; 4];

const fn i(pp: u8, map: u8, w: u8, op: u8) -> Option<Simd> {
    Some(Simd::new(pp, map, w, op))
}

pub const LOAD: Simd = Simd::new(2, 1, 0, 0x6f);
pub const STORE: Simd = Simd::new(2, 1, 0, 0x7f);
pub const ADD: BySew = [i(1, 1, 0, 0xfc), i(1, 1, 0, 0xfd), i(1, 1, 0, 0xfe), i(1, 1, 1, 0xd4)];
pub const SUB: BySew = [i(1, 1, 0, 0xf8), i(1, 1, 0, 0xf9), i(1, 1, 0, 0xfa), i(1, 1, 1, 0xfb)];
pub const AND: Simd = Simd::new(1, 1, 0, 0xdb);
pub const OR: Simd = Simd::new(1, 1, 0, 0xeb);
pub const XOR: Simd = Simd::new(1, 1, 0, 0xef);
/// The last needs AVX-512.
pub const MUL: BySew = [None, i(1, 1, 0, 0xd5), i(1, 2, 0, 0x40), i(1, 2, 1, 0x40)];
pub const MIN: BySew = [i(1, 2, 0, 0x38), i(1, 1, 0, 0xea), i(1, 2, 0, 0x39), i(1, 2, 1, 0x39)];
pub const MAX: BySew = [i(1, 2, 0, 0x3c), i(1, 1, 0, 0xee), i(1, 2, 0, 0x3d), i(1, 2, 1, 0x3d)];
pub const MINU: BySew = [i(1, 1, 0, 0xda), i(1, 2, 0, 0x3a), i(1, 2, 0, 0x3b), i(1, 2, 1, 0x3b)];
pub const MAXU: BySew = [i(1, 1, 0, 0xde), i(1, 2, 0, 0x3e), i(1, 2, 0, 0x3f), i(1, 2, 1, 0x3f)];
/// Shifts by vectors of amounts; those of 16 bits need AVX-512, and arithmetic ones of 64.
pub const SLLV: BySew = [None, i(1, 2, 1, 0x12), i(1, 2, 0, 0x47), i(1, 2, 1, 0x47)];
pub const SRLV: BySew = [None, i(1, 2, 1, 0x10), i(1, 2, 0, 0x45), i(1, 2, 1, 0x45)];
pub const SRAV: BySew = [None, i(1, 2, 1, 0x11), i(1, 2, 0, 0x46), i(1, 2, 1, 0x46)];
/// From a general register (AVX-512).
pub const BROADCAST: BySew = [i(1, 2, 0, 0x7a), i(1, 2, 0, 0x7b), i(1, 2, 0, 0x7c), i(1, 2, 1, 0x7c)];
/// From the first element of a register.
pub const BROADCAST_FIRST: BySew = [i(1, 2, 0, 0x78), i(1, 2, 0, 0x79), i(1, 2, 0, 0x58), i(1, 2, 0, 0x59)];
/// `vmovd` and `vmovq` to a vector register.
pub const MOVE: [Simd; 2] = [Simd::new(1, 1, 0, 0x6e), Simd::new(1, 1, 1, 0x6e)];

/// Floating point: of single and of double precision.
pub const fn float(map: u8, op: u8) -> [Simd; 2] {
    if map == 1 {
        [Simd::new(0, 1, 0, op), Simd::new(1, 1, 1, op)]
    } else {
        [Simd::new(1, map, 0, op), Simd::new(1, map, 1, op)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(evex: bool, i: Simd, width: Width, registers: [u8; 2], last: Operand) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out, evex, i, width, registers, last);
        out
    }

    /// As GNU as 2.40 encodes them (with `{disp32}`).
    #[test]
    fn instructions_are_encoded_as_an_assembler_does() {
        use Operand::*;
        let add = ADD[2].unwrap();
        // vpaddd ymm1, ymm2, ymm3, with the three-byte prefix
        assert_eq!(bytes(false, add, Width::B32, [1, 2], Vector(3)), [0xc4, 0xe1, 0x6d, 0xfe, 0xcb]);
        // vpaddd zmm1, zmm2, [rdx + 64]
        let memory = [0x62, 0xf1, 0x6d, 0x48, 0xfe, 0x8a, 64, 0, 0, 0];
        assert_eq!(bytes(true, add, Width::B64, [1, 2], Memory(2, 64)), memory);
        // vpaddd zmm9, zmm10, zmm11
        assert_eq!(bytes(true, add, Width::B64, [9, 10], Vector(11)), [0x62, 0x51, 0x2d, 0x48, 0xfe, 0xcb]);
    }
}
