//! `vrgather.vv` and `vrgather.vx`, of elements of 32 and 64 bits.

use super::super::constants::{self, constant};
use super::super::registers::RBX;
use super::super::simd::{self, Operand, Width};
use super::{Emitter, FIRST, RAX, RDX, RESULT, SPARE, bytes_of, sew_index};
use crate::engine::Uop;
use crate::vector::VInst;
use rvv_isa::{Op, Sew};

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none, or is masked.
    pub(super) fn gather(&mut self, u: &Uop, vinst: &VInst) -> bool {
        const IN_RANGE: u8 = 4;
        const TABLE: u8 = 12;
        let sew = vinst.vtype.sew;
        let size = bytes_of(sew);
        if vinst.inst.op != Op::VrgatherVv || size < 4 || vinst.policy.masked {
            return false;
        }
        let Some(pieces) = self.pieces_of(vinst, size) else { return false };
        if pieces.iter().any(|(_, width)| width.bytes() < 16) {
            return false;
        }
        self.whole(u, vinst);
        let n = sew_index(sew);
        let signs = Operand::Memory(RBX, constant(constants::SIGNS[n]));
        // Indices are unsigned: as signed ones, compared with VLMAX, when both have the other sign.
        self.constant(RAX, i64::from(vinst.vlmax));
        self.splat(SPARE, RAX, sew);
        self.simd(simd::XOR, Width::B32, SPARE, SPARE, signs);
        self.registers();
        let groups = &vinst.groups;
        let (Some(greater), table) = (simd::GREATER[n], groups.vs2 as i32) else {
            unreachable!("there is one for each")
        };
        let keep = self.is_kept(u, vinst, &pieces);
        let small = size == 4 && vinst.vlmax == 8;
        if small {
            self.simd(simd::LOAD, Width::B32, TABLE, 0, Operand::Memory(RDX, table));
        }
        for &(o, width) in &pieces {
            self.load_piece(width, FIRST, RDX, groups.vs1 as i32 + o);
            self.simd(simd::XOR, width, IN_RANGE, FIRST, signs);
            self.simd(greater, width, IN_RANGE, SPARE, Operand::Vector(IN_RANGE));
            if small {
                // Of the indices the low bits count.
                self.simd(simd::PERMUTE, Width::B32, RESULT, FIRST, Operand::Vector(TABLE));
                self.simd(simd::AND, width, RESULT, RESULT, Operand::Vector(IN_RANGE));
            } else {
                self.simd(simd::XOR, width, RESULT, RESULT, Operand::Vector(RESULT));
                self.gather_piece(sew, width, table, IN_RANGE);
            }
            self.keep_piece(width, RESULT, groups.vd as i32 + o, keep);
        }
        true
    }

    /// [`RESULT`] = the elements of the table at `rdx + table` by the indices in [`FIRST`], where `mask` has
    /// a one: `vpgatherdd` or `vpgatherqq`.
    fn gather_piece(&mut self, sew: Sew, width: Width, table: i32, mask: u8) {
        let (w, op, scale) = if sew == Sew::E32 { (0, 0x90, 2_u8) } else { (0x80, 0x91, 3) };
        let long = u8::from(width == Width::B32) << 2;
        let prefix = [0xc4, 0xe2, w | (!mask & 15) << 3 | long | 1, op];
        self.asm.extend(prefix.iter());
        // A base of rdx, an index in FIRST, a distance of four bytes.
        self.asm.extend([0x84 | RESULT << 3, scale << 6 | FIRST << 3 | RDX].iter());
        self.asm.extend(table.to_le_bytes().iter());
    }
}
