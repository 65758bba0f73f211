//! Vector instructions that are legal under the current `vtype`, and changes of it.

use super::{fields, li, word};
use crate::streams::builder::Builder;
use crate::streams::init::random_type;
use crate::streams::stream::Step;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Field, Inst, Lmul, Op, RegFile, Vtype, decode, encode};
use rvvsim::vector::check;

/// The instruction with operands that are legal under the builder's `vtype`; nothing if none were found.
pub fn operands(builder: &Builder<'_>, op: Op, rng: &mut ChaCha8Rng) -> Option<Inst> {
    legal(builder, op, builder.vtype(), 24, rng)
}

fn legal(builder: &Builder<'_>, op: Op, vtype: Vtype, tries: usize, rng: &mut ChaCha8Rng) -> Option<Inst> {
    for _ in 0..tries {
        let inst = aligned(fields::random(op, rng)?, vtype.lmul, rng)?;
        if check(builder.config(), &inst, vtype).is_ok() {
            return Some(inst);
        }
    }
    None
}

/// The instruction with its vector registers rounded down to numbers that groups may have.
fn aligned(mut inst: Inst, lmul: Lmul, rng: &mut ChaCha8Rng) -> Option<Inst> {
    let registers = lmul.registers() as u8;
    let multiple = *[1, registers, registers, (2 * registers).min(8)].choose(rng)?;
    for operand in inst.op.info().operands.iter().filter(|o| o.reg_file() == Some(RegFile::V)) {
        for field in operand.fields() {
            let r = match field {
                Field::Rd => &mut inst.rd,
                Field::Rs1 => &mut inst.rs1,
                Field::Rs2 => &mut inst.rs2,
                _ => continue,
            };
            *r -= *r % multiple;
        }
    }
    decode(encode(&inst).ok()?)
}

/// A change of `vtype` by any of the three instructions.
pub fn configuration(builder: &Builder<'_>, rng: &mut ChaCha8Rng) -> Step {
    let op = *[Op::Vsetvli, Op::Vsetvli, Op::Vsetivli, Op::Vsetvl].choose(rng).expect("four");
    configuration_by(builder, op, rng)
}

/// A change of `vtype` by this instruction.
pub fn configuration_by(builder: &Builder<'_>, op: Op, rng: &mut ChaCha8Rng) -> Step {
    let (sew, lmul) = random_type(rng);
    let vtype = Vtype::new(sew, lmul, rng.random_bool(0.3), rng.random_bool(0.3));
    set(op, vtype, builder.vlen(), rng)
}

/// A change to a `vtype` under which the instruction is legal.
pub fn configuration_for(builder: &Builder<'_>, op: Op, rng: &mut ChaCha8Rng) -> Option<Step> {
    for _ in 0..60 {
        let (sew, lmul) = random_type(rng);
        let vtype = Vtype::new(sew, lmul, rng.random_bool(0.3), rng.random_bool(0.3));
        if legal(builder, op, vtype, 4, rng).is_some() {
            return Some(set(Op::Vsetvli, vtype, builder.vlen(), rng));
        }
    }
    None
}

fn set(op: Op, vtype: Vtype, vlen: u32, rng: &mut ChaCha8Rng) -> Step {
    let vlmax = u64::from(vtype.vlmax(vlen));
    // Never between VLMAX and 2*VLMAX, where an implementation chooses.
    let avl = match rng.random_range(0..20) {
        0 => 0,
        1 => 1,
        2..=7 => vlmax,
        8 => 2 * vlmax + rng.random_range(0..3),
        9 => u64::MAX >> rng.random_range(0..32),
        // A multiple of the largest element group, for the cryptography.
        10..=13 if vlmax >= 8 => rng.random_range(0..=vlmax / 8) * 8,
        _ => rng.random_range(0..=vlmax),
    };
    let any = |rng: &mut ChaCha8Rng| rng.random_range(5..32);
    let (rd, rs1) = (any(rng), any(rng));
    let bits = vtype.to_bits();
    match op {
        Op::Vsetivli => {
            let avl = avl.min(31);
            // 31 may be between VLMAX and twice that.
            let avl = if avl > vlmax && avl < 2 * vlmax { vlmax } else { avl };
            Step::plain(word(&Inst { rd, rs1: avl as u8, imm: bits as i32, ..Inst::new(op) }))
        }
        Op::Vsetvl => {
            let rs2 = if rs1 == 31 { 5 } else { rs1 + 1 };
            let before = [li(rs1, avl), li(rs2, bits)].concat();
            Step { before, ..Step::plain(word(&Inst { rd, rs1, rs2, ..Inst::new(op) })) }
        }
        _ => {
            let rd = if rng.random_ratio(1, 8) { 0 } else { rd };
            let vli = |rs1| word(&Inst { rd, rs1, imm: bits as i32, ..Inst::new(Op::Vsetvli) });
            // x0 asks for VLMAX.
            if rd != 0 && rng.random_ratio(1, 10) {
                return Step::plain(vli(0));
            }
            Step { before: li(rs1, avl), ..Step::plain(vli(rs1)) }
        }
    }
}
