//! AES rounds and SHA-256 by the host's own instructions.
//!
//! An element group is 16 bytes, in the order in which the host has them: the low word first, and of
//! SHA-256's state `f` and `h` are the low ones.

use super::super::simd::{self, Operand, Simd, Width};
use super::{Emitter, FIRST, RDX, RESULT, SECOND};
use crate::engine::Uop;
use crate::vector::VInst;
use rvv_isa::{Op, Sew};

/// What a round of AES is on the host.
#[derive(Clone, Copy)]
enum Round {
    /// One instruction.
    One(Simd),
    /// One instruction, and then the columns are mixed back: the guest adds the round key before, the host
    /// after.
    ThenMix(Simd),
}

fn round(op: Op) -> Option<Round> {
    let host = |op| Simd::new(1, 2, 0, op);
    Some(match op {
        Op::VaesemVv | Op::VaesemVs => Round::One(host(0xdc)),
        Op::VaesefVv | Op::VaesefVs => Round::One(host(0xdd)),
        Op::VaesdfVv | Op::VaesdfVs => Round::One(host(0xdf)),
        Op::VaesdmVv | Op::VaesdmVs => Round::ThenMix(host(0xdf)),
        Op::VaeszVs => Round::One(simd::XOR),
        _ => return None,
    })
}

/// What the host's manual calls `sha256rnds2`, `sha256msg1`, `sha256msg2`.
const ROUNDS: u8 = 0xcb;
const MESSAGE_1: u8 = 0xcc;
const MESSAGE_2: u8 = 0xcd;

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none, or the host has none of them.
    pub(super) fn crypto(&mut self, u: &Uop, vinst: &VInst) -> bool {
        use std::arch::is_x86_feature_detected as has;
        let op = vinst.inst.op;
        let vl = self.vl(vinst);
        // Any other `vl` is illegal.
        if vinst.vtype.sew != Sew::E32 || !vl.is_multiple_of(4) {
            return false;
        }
        let sha = matches!(op, Op::Vsha2clVv | Op::Vsha2chVv | Op::Vsha2msVv);
        let round = round(op);
        let known = if sha { has!("sha") } else { round.is_some() && has!("aes") };
        if !known || self.pieces_of(vinst, 4).is_none() {
            return false;
        }
        self.whole(u, vinst);
        self.registers();
        let groups = &vinst.groups;
        let scalar = matches!(op, Op::VaesemVs | Op::VaesefVs | Op::VaesdfVs | Op::VaesdmVs | Op::VaeszVs);
        for n in 0..vl as i32 / 4 {
            let at = |group: u32| group as i32 + 16 * n;
            match round {
                Some(round) => {
                    let key = if scalar { groups.vs2 as i32 } else { at(groups.vs2) };
                    self.load_piece(Width::B16, RESULT, RDX, at(groups.vd));
                    let (Round::One(i) | Round::ThenMix(i)) = round;
                    self.simd(i, Width::B16, RESULT, RESULT, Operand::Memory(RDX, key));
                    if matches!(round, Round::ThenMix(_)) {
                        self.simd(Simd::new(1, 2, 0, 0xdb), Width::B16, RESULT, 0, Operand::Vector(RESULT));
                    }
                    self.store_piece(Width::B16, RESULT, RDX, at(groups.vd));
                }
                None => self.sha_256(op, at(groups.vd), at(groups.vs2), at(groups.vs1)),
            }
        }
        true
    }

    /// Two rounds, or four words of the message schedule.
    fn sha_256(&mut self, op: Op, vd: i32, vs2: i32, vs1: i32) {
        const STATE: u8 = 4;
        self.load_piece(Width::B16, STATE, RDX, vd);
        self.load_piece(Width::B16, FIRST, RDX, vs2);
        self.load_piece(Width::B16, SECOND, RDX, vs1);
        if op == Op::Vsha2msVv {
            // w0..w3 + σ0(w1..w4), + w9..w12, + σ1 of the last two and of the first two results.
            self.sha(MESSAGE_1, STATE, FIRST);
            // vpalignr
            let align = Simd::new(1, 3, 0, 0x0f);
            self.simd_with(align, Width::B16, FIRST, SECOND, Operand::Vector(FIRST), 4);
            if let Some(add) = simd::ADD[2] {
                self.simd(add, Width::B16, STATE, STATE, Operand::Vector(FIRST));
            }
            self.sha(MESSAGE_2, STATE, SECOND);
        } else {
            // The words are in xmm0, which the host's instruction does not name: the low two of them count.
            let order = if op == Op::Vsha2chVv { 0xee } else { 0x44 };
            self.simd_with(Simd::new(1, 1, 0, 0x70), Width::B16, RESULT, 0, Operand::Vector(SECOND), order);
            self.sha(ROUNDS, STATE, FIRST);
        }
        self.store_piece(Width::B16, STATE, RDX, vd);
    }

    /// These have no VEX form.
    fn sha(&mut self, op: u8, to: u8, from: u8) {
        self.asm.extend([0x0f, 0x38, op, 0xc0 | to << 3 | from].iter());
    }
}
