//! Floating-point instructions of single and double precision, element by element.
//!
//! As in [`super::super::float`], the host's flags are right, and where a result is a NaN the interpreter's
//! kernel executes the instruction instead, from the elements on that were not written. So the results of a
//! few pieces are all known before any is written.

use super::super::cold::{Cold, First};
use super::super::fields::float_home;
use super::super::registers::RAX;
use super::super::simd::{self, Operand, Simd, Width};
use super::{Emitter, Piece, RDX, SCALAR, SPARE, bytes_of, has_scalar, sew_index};
use crate::engine::Uop;
use crate::vector::VInst;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Op, Sew};

/// As many pieces are computed before they are written.
const AT_ONCE: usize = 4;
/// Where two of them are compared.
const UNORDERED: u8 = 13;
const FACTOR: u8 = 12;

/// What a floating-point instruction computes, of single and of double precision.
#[derive(Clone, Copy)]
pub(super) enum FloatOp {
    /// `vs2 op vs1`.
    Binary([Simd; 2]),
    /// `scalar op vs2`.
    Reversed([Simd; 2]),
    /// `±(vs1 × vs2) ± vd`: the host's 231 forms.
    Accumulate([Simd; 2]),
    /// `±(vs1 × vd) ± vs2`: the host's 213 forms.
    Multiply([Simd; 2]),
    /// `op vs2`.
    Unary([Simd; 2]),
}

pub(super) fn float_op(op: Op) -> Option<FloatOp> {
    use simd::float;
    Some(match op {
        Op::VfaddVv | Op::VfaddVf => FloatOp::Binary(float(1, 0x58)),
        Op::VfsubVv | Op::VfsubVf => FloatOp::Binary(float(1, 0x5c)),
        Op::VfrsubVf => FloatOp::Reversed(float(1, 0x5c)),
        Op::VfmulVv | Op::VfmulVf => FloatOp::Binary(float(1, 0x59)),
        Op::VfdivVv | Op::VfdivVf => FloatOp::Binary(float(1, 0x5e)),
        Op::VfrdivVf => FloatOp::Reversed(float(1, 0x5e)),
        Op::VfsqrtV => FloatOp::Unary(float(1, 0x51)),
        // The manual's names and the host's cross over: vfnmacc is −(vs1 × vs2) − vd, the host's vfnmsub.
        Op::VfmaccVv | Op::VfmaccVf => FloatOp::Accumulate(float(2, 0xb8)),
        Op::VfmsacVv | Op::VfmsacVf => FloatOp::Accumulate(float(2, 0xba)),
        Op::VfnmsacVv | Op::VfnmsacVf => FloatOp::Accumulate(float(2, 0xbc)),
        Op::VfnmaccVv | Op::VfnmaccVf => FloatOp::Accumulate(float(2, 0xbe)),
        Op::VfmaddVv | Op::VfmaddVf => FloatOp::Multiply(float(2, 0xa8)),
        Op::VfmsubVv | Op::VfmsubVf => FloatOp::Multiply(float(2, 0xaa)),
        Op::VfnmsubVv | Op::VfnmsubVf => FloatOp::Multiply(float(2, 0xac)),
        Op::VfnmaddVv | Op::VfnmaddVf => FloatOp::Multiply(float(2, 0xae)),
        _ => return None,
    })
}

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none, or is masked.
    pub(super) fn float_lanes(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let sew = vinst.vtype.sew;
        if !matches!(sew, Sew::E32 | Sew::E64) || vinst.policy.masked {
            return false;
        }
        let Some(op) = float_op(vinst.inst.op) else { return false };
        let size = bytes_of(sew);
        let Some(strips) = self.strips_of(vinst, size) else { return false };
        // What else is in a register must raise no flags.
        if strips.pieces.iter().any(|(_, width)| width.bytes() < 16) {
            return false;
        }
        let double = sew == Sew::E64;
        let scalar = has_scalar(vinst);
        self.whole(u, vinst);
        let back = self.asm.new_dynamic_label();
        let mut again = Vec::new();
        if scalar {
            let home = float_home(vinst.inst.rs1);
            if !double {
                let at = self.asm.new_dynamic_label();
                x64!(&mut self.asm; cmp DWORD [rbx + home + 4], -1; jne =>at);
                again.push((at, First::Element(0)));
            }
            let Some(i) = simd::BROADCAST[sew_index(sew)] else { unreachable!("there is one for each") };
            self.simd(i, Width::B32, SCALAR, 0, Operand::Memory(super::RBX, home));
        }
        self.registers();
        let keep = self.is_kept(u, vinst, &strips.pieces);
        self.for_each_strip(&strips, false, |e| {
            for pieces in strips.pieces.chunks(AT_ONCE) {
                let at = e.asm.new_dynamic_label();
                for (n, &piece) in pieces.iter().enumerate() {
                    e.float_piece(vinst, op, scalar, double, n as u8, piece);
                }
                e.leave_if_nan(pieces, double, at);
                for (n, &(o, width)) in pieces.iter().enumerate() {
                    e.keep_piece(width, n as u8, vinst.groups.vd as i32 + o, keep);
                }
                again.push((at, strips.first_of(&pieces[0], size)));
            }
        });
        self.note_writes(u, vinst);
        x64!(&mut self.asm; =>back);
        for (at, first) in again {
            self.cold.push(Cold::Vector { at, back, uop: *u, first, cached: self.cached });
        }
        true
    }

    /// The results of a piece in a register.
    fn float_piece(
        &mut self,
        vinst: &VInst,
        op: FloatOp,
        scalar: bool,
        double: bool,
        n: u8,
        (o, width): Piece,
    ) {
        let groups = &vinst.groups;
        let group = |e: &mut Self, base: u32| e.piece(width, FACTOR, base as i32 + o);
        let select = |i: [Simd; 2]| i[usize::from(double)];
        match op {
            FloatOp::Binary(i) => {
                let first = self.piece_in_register(width, n, groups.vs2 as i32 + o);
                let second = if scalar { Operand::Vector(SCALAR) } else { group(self, groups.vs1) };
                self.simd(select(i), width, n, first, second);
            }
            FloatOp::Reversed(i) => {
                let second = group(self, groups.vs2);
                self.simd(select(i), width, n, SCALAR, second);
            }
            FloatOp::Accumulate(i) | FloatOp::Multiply(i) => {
                // vd = ±(vs1 × vs2) ± vd, or ±(vs1 × vd) ± vs2
                self.load_piece(width, n, RDX, groups.vd as i32 + o);
                let factor = if scalar {
                    SCALAR
                } else {
                    self.piece_in_register(width, FACTOR, groups.vs1 as i32 + o)
                };
                let last = group(self, groups.vs2);
                self.simd(select(i), width, n, factor, last);
            }
            FloatOp::Unary(i) => {
                let operand = group(self, groups.vs2);
                self.simd(select(i), width, n, 0, operand);
            }
        }
    }

    /// Goes to `at` if an element is a NaN.
    fn leave_if_nan(&mut self, pieces: &[Piece], double: bool, at: DynamicLabel) {
        const IS_UNORDERED: u8 = 3;
        let compare = simd::float(1, 0xc2)[usize::from(double)];
        // Two at a time: a NaN is unordered with all.
        for (n, pair) in pieces.chunks(2).enumerate() {
            let (a, width) = (2 * n as u8, pair[0].1);
            // A narrower second one has zeroes above.
            let b = if pair.len() == 2 { a + 1 } else { a };
            let to = if n == 0 { SPARE } else { UNORDERED };
            self.simd_with(compare, width, to, a, Operand::Vector(b), IS_UNORDERED);
            if n != 0 {
                self.simd(simd::OR, Width::B32, SPARE, SPARE, Operand::Vector(UNORDERED));
            }
        }
        // The signs of elements, two of them for one of 64 bits.
        self.simd(simd::SIGNS_32, Width::B32, RAX, 0, Operand::Vector(SPARE));
        x64!(&mut self.asm; test eax, eax; jne =>at);
    }
}
