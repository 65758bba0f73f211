//! CSRs, environment calls, fences, and returns from traps: in ways that leave the machine as it was.

use super::{SCRATCH_CSRS, fields, li, word};
use crate::streams::builder::csr_immediate;
use crate::streams::stream::Step;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Inst, Op, csr, encode};

/// Registers that anyone may write.
const WRITABLE: [u16; 6] = [csr::FFLAGS, csr::FRM, csr::FCSR, csr::VXSAT, csr::VXRM, csr::VCSR];
/// Registers that a write traps on; `vstart` is here because a value other than zero makes what follows trap.
const READABLE: [u16; 4] = [csr::VL, csr::VTYPE, csr::VLENB, csr::VSTART];
/// Numbers that are no registers.
const NOWHERE: [u16; 4] = [0x123, 0x4ff, 0x8ff, 0xcff];

/// A CSR instruction.
pub fn csr(op: Op, is_wild: bool, rng: &mut ChaCha8Rng) -> Option<Step> {
    let mut inst = fields::random(op, rng)?;
    let number = match rng.random_range(0..10) {
        0..=3 => *WRITABLE.choose(rng)?,
        4..=6 => *SCRATCH_CSRS.choose(rng)?,
        7 if is_wild => *NOWHERE.choose(rng)?,
        8 if is_wild => csr::VSTART,
        _ => *READABLE.choose(rng)?,
    };
    inst.imm = number.into();
    let writes_always = matches!(op.base(), Op::Csrrw | Op::Csrrwi);
    if READABLE.contains(&number) && !is_wild {
        if writes_always {
            inst.imm = i32::from(*WRITABLE.choose(rng)?);
        } else {
            inst.rs1 = 0;
        }
    }
    Some(Step::plain(encode(&inst).ok()?))
}

/// A system instruction.
pub fn step(op: Op, rng: &mut ChaCha8Rng) -> Option<Step> {
    // Registers to work with.
    let t = rng.random_range(5..30);
    match op {
        // On Linux a system call that does nothing and returns 0: sched_yield.
        Op::Ecall => Some(Step { before: li(17, 124), ..Step::plain(word(&Inst::new(op))) }),
        Op::Mret => {
            let before = return_behind(t, csr::MEPC, 0x88, 0x1800);
            Some(Step { before, ..Step::plain(word(&Inst::new(op))) })
        }
        Op::Sret => {
            let before = return_behind(t, csr::SEPC, 0x22, 0x100);
            // From S-mode back to M-mode, by the handler.
            let mut after = li(17, 124);
            after.push(word(&Inst::new(Op::Ecall)));
            Some(Step { before, after, ..Step::plain(word(&Inst::new(op))) })
        }
        Op::Wfi => {
            // The timer's interrupt is pending; it is not taken, since mstatus.MIE is off.
            let mut before = li(t, 0x80);
            before.push(word(&Inst { rs1: t, imm: csr::MIE.into(), ..Inst::new(Op::Csrrw) }));
            Some(Step {
                before,
                after: vec![csr_immediate(csr::MIE, 0)],
                ..Step::plain(word(&Inst::new(op)))
            })
        }
        _ => Some(Step::plain(fields::random(op, rng)?.raw)),
    }
}

/// `epc` to the instruction behind the return, interrupts off and the previous mode as told.
fn return_behind(t: u8, epc: u16, interrupts: u64, mode: u64) -> Vec<u32> {
    let mut tail = vec![word(&Inst { rs1: t, imm: epc.into(), ..Inst::new(Op::Csrrw) })];
    for (op, bits) in [(Op::Csrrc, interrupts), (Op::Csrrs, mode)] {
        tail.extend(li(t, bits));
        tail.push(word(&Inst { rs1: t, imm: csr::MSTATUS.into(), ..Inst::new(op) }));
    }
    // auipc and addi, what has just been made, and the return itself, four bytes each.
    let distance = 4 * (2 + tail.len() as i32 + 1);
    let mut words = vec![word(&Inst { rd: t, ..Inst::new(Op::Auipc) })];
    words.push(word(&Inst { rd: t, rs1: t, imm: distance, ..Inst::new(Op::Addi) }));
    words.extend(tail);
    words
}
