//! Integer instructions that compute each element from those of the same number.

use super::super::constants::{self, constant};
use super::super::registers::{RAX, RBX};
use super::super::simd::{self, BySew, Operand, Simd, Width};
use super::{
    CHOSEN, Emitter, FIRST, Piece, RDX, RESULT, SCALAR, SECOND, SPARE, bytes_of, has_scalar, sew_index,
    vector_field,
};
use crate::engine::Uop;
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Op, Sew};

/// What an instruction computes of `vs2` and `vs1`, or the scalar in the place of that.
#[derive(Clone, Copy)]
pub(super) enum Lane {
    /// `vs2 op vs1`.
    Plain(Simd),
    /// `vs1 op vs2`.
    Reversed(Simd),
    /// `vs2 op vs1`, where of `vs1` only as many bits count as number an element's.
    Shift(Simd),
    /// The same with the same amount for all elements.
    ShiftAll(Simd),
    /// The same with an immediate, by a number in the place of a register.
    ShiftBy(u8),
    /// The low half of `vs2 × vs1`, of 64 bits.
    Multiply64,
    /// `vs1`.
    Move,
    /// `vs1` where the mask has a one, else `vs2`.
    Merge,
    /// `vd ± vs1 × vs2`: multiplication, addition or subtraction.
    Accumulate(Simd, Simd),
    /// `vs2 ± vs1 × vd`.
    Multiply(Simd, Simd),
    /// An extension from elements a fraction of the width.
    Extend(Simd, u8),
    /// A sum or difference that saturates, and the one that does not.
    Saturate(Simd, Simd),
    /// A signed sum or difference of 32 or 64 bits that saturates.
    SaturateWide { op: Simd, subtract: bool, greater: Simd, largest: usize },
    /// The numbers of the elements, and how to add.
    Numbers(Simd),
}

/// The host's instruction for one of the guest's.
pub(super) fn lane(op: Op, sew: Sew, scalar: bool) -> Option<Lane> {
    let n = sew_index(sew);
    let of = |table: BySew| table[n];
    let shift =
        |each: BySew, all: BySew| Some(if scalar { Lane::ShiftAll(all[n]?) } else { Lane::Shift(each[n]?) });
    let saturate = |signed: BySew, plain: BySew, subtract: bool| match sew {
        Sew::E8 | Sew::E16 => Some(Lane::Saturate(signed[n]?, plain[n]?)),
        Sew::E32 | Sew::E64 => Some(Lane::SaturateWide {
            op: plain[n]?,
            subtract,
            greater: simd::GREATER[n]?,
            largest: if n == 2 { constants::LARGEST_32 } else { constants::LARGEST_64 },
        }),
    };
    // The opcodes of extensions by two, four, eight; those of zeroes are 16 more.
    let extend = |by: usize, zero: u8| {
        let op = match (n, by) {
            (1, 2) => 0x20,
            (2, 2) => 0x23,
            (3, 2) => 0x25,
            (2, 4) => 0x21,
            (3, 4) => 0x24,
            (3, 8) => 0x22,
            _ => return None,
        };
        Some(Lane::Extend(Simd::new(1, 2, 0, op + zero), by as u8))
    };
    Some(match op {
        Op::VaddVv | Op::VaddVx | Op::VaddVi => Lane::Plain(of(simd::ADD)?),
        Op::VsubVv | Op::VsubVx => Lane::Plain(of(simd::SUB)?),
        Op::VrsubVx | Op::VrsubVi => Lane::Reversed(of(simd::SUB)?),
        Op::VandVv | Op::VandVx | Op::VandVi => Lane::Plain(simd::AND),
        // vs2 & !vs1: the host inverts its first operand.
        Op::VandnVv | Op::VandnVx => Lane::Reversed(simd::ANDN),
        Op::VorVv | Op::VorVx | Op::VorVi => Lane::Plain(simd::OR),
        Op::VxorVv | Op::VxorVx | Op::VxorVi => Lane::Plain(simd::XOR),
        Op::VmulVv | Op::VmulVx if sew == Sew::E64 => Lane::Multiply64,
        Op::VmulVv | Op::VmulVx => Lane::Plain(of(simd::MUL)?),
        Op::VminVv | Op::VminVx => Lane::Plain(of(simd::MIN)?),
        Op::VmaxVv | Op::VmaxVx => Lane::Plain(of(simd::MAX)?),
        Op::VminuVv | Op::VminuVx => Lane::Plain(of(simd::MINU)?),
        Op::VmaxuVv | Op::VmaxuVx => Lane::Plain(of(simd::MAXU)?),
        Op::VsllVi if n != 0 => Lane::ShiftBy(6),
        Op::VsrlVi if n != 0 => Lane::ShiftBy(2),
        Op::VsraVi if n == 1 || n == 2 => Lane::ShiftBy(4),
        Op::VsllVv | Op::VsllVx => shift(simd::SLLV, simd::SLL)?,
        Op::VsrlVv | Op::VsrlVx => shift(simd::SRLV, simd::SRL)?,
        Op::VsraVv | Op::VsraVx => shift(simd::SRAV, simd::SRA)?,
        Op::VmvVV | Op::VmvVX | Op::VmvVI => Lane::Move,
        Op::VmergeVvm | Op::VmergeVxm | Op::VmergeVim => Lane::Merge,
        Op::VmaccVv | Op::VmaccVx => Lane::Accumulate(of(simd::MUL)?, of(simd::ADD)?),
        Op::VnmsacVv | Op::VnmsacVx => Lane::Accumulate(of(simd::MUL)?, of(simd::SUB)?),
        Op::VmaddVv | Op::VmaddVx => Lane::Multiply(of(simd::MUL)?, of(simd::ADD)?),
        Op::VnmsubVv | Op::VnmsubVx => Lane::Multiply(of(simd::MUL)?, of(simd::SUB)?),
        Op::VsextVf2 => extend(2, 0)?,
        Op::VsextVf4 => extend(4, 0)?,
        Op::VsextVf8 => extend(8, 0)?,
        Op::VzextVf2 => extend(2, 16)?,
        Op::VzextVf4 => extend(4, 16)?,
        Op::VzextVf8 => extend(8, 16)?,
        Op::VsaddVv | Op::VsaddVx | Op::VsaddVi => saturate(simd::ADDS, simd::ADD, false)?,
        Op::VssubVv | Op::VssubVx => saturate(simd::SUBS, simd::SUB, true)?,
        Op::VsadduVv | Op::VsadduVx | Op::VsadduVi => Lane::Saturate(of(simd::ADDUS)?, of(simd::ADD)?),
        Op::VssubuVv | Op::VssubuVx => Lane::Saturate(of(simd::SUBUS)?, of(simd::SUB)?),
        Op::VidV => Lane::Numbers(of(simd::ADD)?),
        _ => return None,
    })
}

impl Lane {
    fn saturates(self) -> bool {
        matches!(self, Lane::Saturate(..) | Lane::SaturateWide { .. })
    }

    /// Whether the code for one strip of a group is that for all: all operands are as far from one strip to
    /// the next, and nothing is passed on.
    fn is_same_in_strips(self) -> bool {
        match self {
            Lane::Plain(_)
            | Lane::Reversed(_)
            | Lane::Shift(_)
            | Lane::ShiftAll(_)
            | Lane::ShiftBy(_)
            | Lane::Multiply64
            | Lane::Move
            | Lane::Accumulate(..)
            | Lane::Multiply(..) => true,
            Lane::Merge
            | Lane::Extend(..)
            | Lane::Saturate(..)
            | Lane::SaturateWide { .. }
            | Lane::Numbers(_) => false,
        }
    }
}

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none.
    pub(super) fn integer_lanes(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let sew = vinst.vtype.sew;
        let scalar = has_scalar(vinst);
        let Some(lane) = lane(vinst.inst.op, sew, scalar) else { return false };
        let size = bytes_of(sew);
        let Some(strips) = self.strips_of(vinst, size) else { return false };
        let pieces = &strips.pieces;
        if strips.is_loop() && (vinst.policy.masked || !lane.is_same_in_strips()) {
            return false;
        }
        // Whether the elements of a small piece saturate is seen in a whole register, and of inactive ones,
        // too.
        if lane.saturates() && (vinst.policy.masked || pieces.iter().any(|(_, w)| w.bytes() < 16)) {
            return false;
        }
        self.whole(u, vinst);
        match lane {
            Lane::ShiftAll(_) => self.shift_amount(vinst, sew),
            Lane::ShiftBy(_) => {}
            _ if scalar => self.splat_scalar(vinst, sew),
            Lane::Shift(_) => {
                self.constant(RAX, i64::from(sew.bits() - 1));
                self.splat(SPARE, RAX, sew);
            }
            Lane::Numbers(_) => {
                self.load_constant(RESULT, constant(constants::NUMBERS[sew_index(sew)]));
                // As many are in a piece of 32 bytes.
                self.constant(RAX, (32 / size) as i64);
                self.splat(SPARE, RAX, sew);
                self.simd(simd::LOAD, Width::B32, SECOND, 0, Operand::Vector(RESULT));
            }
            _ => {}
        }
        self.registers();
        let keep = self.is_kept(u, vinst, pieces);
        self.for_each_strip(&strips, false, |e| {
            for (n, &piece) in pieces.iter().enumerate() {
                e.lane_piece(vinst, lane, scalar, piece, n == 0);
                e.finish_piece(vinst, size, piece, keep);
            }
        });
        if lane.saturates() {
            self.note_saturated();
        }
        true
    }

    /// The amount of a shift in the low half of [`SCALAR`].
    fn shift_amount(&mut self, vinst: &VInst, sew: Sew) {
        let mask = sew.bits() as i32 - 1;
        self.get(RAX, vinst.inst.rs1);
        x64!(&mut self.asm; and eax, mask);
        self.simd(simd::MOVE[1], Width::B16, SCALAR, 0, Operand::General(RAX));
    }

    /// The results of a piece in [`RESULT`].
    fn lane_piece(&mut self, vinst: &VInst, lane: Lane, scalar: bool, (o, width): Piece, first: bool) {
        let groups = &vinst.groups;
        let (vd, vs1, vs2) = (groups.vd as i32 + o, groups.vs1 as i32 + o, groups.vs2 as i32 + o);
        let second =
            |e: &mut Self| if scalar { Operand::Vector(SCALAR) } else { e.piece(width, SECOND, vs1) };
        let vector = Operand::Vector;
        match lane {
            Lane::Plain(i) => {
                let a = self.piece_in_register(width, RESULT, vs2);
                let b = second(self);
                self.simd(i, width, RESULT, a, b);
            }
            Lane::Reversed(i) => {
                let b = if scalar { SCALAR } else { self.piece_in_register(width, SECOND, vs1) };
                let a = self.piece(width, FIRST, vs2);
                self.simd(i, width, RESULT, b, a);
            }
            Lane::Shift(i) => {
                let a = self.piece_in_register(width, RESULT, vs2);
                let b = second(self);
                self.simd(simd::AND, width, SECOND, SPARE, b);
                self.simd(i, width, RESULT, a, vector(SECOND));
            }
            Lane::ShiftAll(i) => {
                let a = self.piece_in_register(width, FIRST, vs2);
                self.simd(i, width, RESULT, a, vector(SCALAR));
            }
            Lane::ShiftBy(which) => {
                let a = self.piece_in_register(width, FIRST, vs2);
                let bits = vinst.vtype.sew.bits();
                let amount = vinst.inst.imm as u8 & (bits as u8 - 1);
                self.shift_by(which, sew_index(vinst.vtype.sew), width, RESULT, a, amount);
            }
            Lane::Multiply64 => {
                // a × b = low(a) × low(b) + (high(a) × low(b) + low(a) × high(b)) × 2^32
                const HIGH_A: u8 = 12;
                const HIGH_B: u8 = 13;
                let a = self.piece_in_register(width, FIRST, vs2);
                let b = if scalar { SCALAR } else { self.piece_in_register(width, SECOND, vs1) };
                self.shift_by(2, 3, width, HIGH_A, a, 32);
                self.shift_by(2, 3, width, HIGH_B, b, 32);
                self.simd(simd::MULTIPLY_LOW_HALVES, width, HIGH_A, HIGH_A, vector(b));
                self.simd(simd::MULTIPLY_LOW_HALVES, width, HIGH_B, HIGH_B, vector(a));
                self.simd(simd::MULTIPLY_LOW_HALVES, width, RESULT, a, vector(b));
                self.simd(simd::ADD_64, width, HIGH_A, HIGH_A, vector(HIGH_B));
                self.shift_by(6, 3, width, HIGH_A, HIGH_A, 32);
                self.simd(simd::ADD_64, width, RESULT, RESULT, vector(HIGH_A));
            }
            Lane::Move if scalar => self.simd(simd::LOAD, width, RESULT, 0, vector(SCALAR)),
            Lane::Move => self.load_piece(width, RESULT, RDX, vs1),
            Lane::Merge => {
                let size = bytes_of(vinst.vtype.sew);
                self.choose(width, size, o as usize / size);
                let a = self.piece_in_register(width, RESULT, vs2);
                let b = second(self);
                self.blend(width, RESULT, a, b);
            }
            Lane::Accumulate(multiply, add) => {
                let a = self.piece_in_register(width, FIRST, vs2);
                let b = second(self);
                self.simd(multiply, width, FIRST, a, b);
                let c = self.piece_in_register(width, RESULT, vd);
                self.simd(add, width, RESULT, c, vector(FIRST));
            }
            Lane::Multiply(multiply, add) => {
                let a = self.piece_in_register(width, FIRST, vd);
                let b = second(self);
                self.simd(multiply, width, FIRST, a, b);
                let c = self.piece_in_register(width, RESULT, vs2);
                self.simd(add, width, RESULT, c, vector(FIRST));
            }
            Lane::Extend(i, by) => {
                let from = groups.vs2 as i32 + o / i32::from(by);
                self.simd(i, width, RESULT, 0, Operand::Memory(RDX, from));
            }
            Lane::Saturate(saturating, plain) => {
                self.load_piece(width, FIRST, RDX, vs2);
                let b = second(self);
                self.simd(saturating, width, RESULT, FIRST, b);
                self.simd(plain, width, FIRST, FIRST, b);
                self.simd(simd::XOR, width, FIRST, FIRST, vector(RESULT));
                self.gather_saturated(FIRST, first);
            }
            Lane::SaturateWide { op, subtract, greater, largest } => {
                // What overflows has the sign of neither, or not that of the minuend.
                const SUM: u8 = 4;
                const OVERFLOW: u8 = 12;
                const ZERO: u8 = 13;
                self.load_piece(width, FIRST, RDX, vs2);
                let b = second(self);
                self.simd(op, width, SUM, FIRST, b);
                self.simd(simd::XOR, width, OVERFLOW, FIRST, b);
                self.simd(simd::XOR, width, SECOND, FIRST, vector(SUM));
                let combine = if subtract { simd::AND } else { simd::ANDN };
                self.simd(combine, width, OVERFLOW, OVERFLOW, vector(SECOND));
                self.simd(simd::XOR, width, ZERO, ZERO, vector(ZERO));
                self.simd(greater, width, CHOSEN, ZERO, vector(OVERFLOW));
                self.simd(greater, width, FIRST, ZERO, vector(FIRST));
                self.simd(simd::XOR, width, FIRST, FIRST, Operand::Memory(RBX, constant(largest)));
                self.blend(width, RESULT, SUM, vector(FIRST));
                self.gather_saturated(CHOSEN, first);
            }
            Lane::Numbers(add) => {
                let sew = vinst.vtype.sew;
                if o % 32 != 0 {
                    // After a narrower one.
                    let numbers = Operand::Memory(RBX, constant(constants::NUMBERS[sew_index(sew)]));
                    self.constant(RAX, i64::from(o) / bytes_of(sew) as i64);
                    self.splat(SECOND, RAX, sew);
                    self.simd(add, Width::B32, SECOND, SECOND, numbers);
                } else if !first {
                    self.simd(add, Width::B32, SECOND, SECOND, vector(SPARE));
                }
                self.simd(simd::LOAD, Width::B32, RESULT, 0, vector(SECOND));
            }
        }
    }

    /// `to` = `from` shifted by a constant: 2 right, 4 right with the sign, 6 left. `n` is the index of the
    /// width.
    fn shift_by(&mut self, which: u8, n: usize, width: Width, to: u8, from: u8, amount: u8) {
        let i = Simd::new(1, 1, 0, 0x70 + n as u8);
        self.simd_with(i, width, which, to, Operand::Vector(from), amount);
    }

    /// Collects what is not zero where an element was saturated. A narrow piece has zeroes above it.
    fn gather_saturated(&mut self, from: u8, first: bool) {
        if first {
            self.simd(simd::LOAD, Width::B32, SPARE, 0, Operand::Vector(from));
        } else {
            self.simd(simd::OR, Width::B32, SPARE, SPARE, Operand::Vector(from));
        }
    }

    /// `vxsat`, if any element was saturated.
    fn note_saturated(&mut self) {
        self.simd(simd::TEST, Width::B32, SPARE, 0, Operand::Vector(SPARE));
        x64!(&mut self.asm; je >none; mov BYTE [rbx + vector_field().vxsat], 1; none:);
    }
}
