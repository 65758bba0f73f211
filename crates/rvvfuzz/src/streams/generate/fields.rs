//! Random operands.

use crate::streams::layout::is_kept;
use crate::streams::stream::is_jump;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Class, Field, Inst, Op, RegFile, decode, encode};

/// The instruction with random operands, none of which writes `gp` or `tp`. Vector registers are any.
pub fn random(op: Op, rng: &mut ChaCha8Rng) -> Option<Inst> {
    for _ in 0..300 {
        let mut inst = Inst::new(op);
        for operand in op.info().operands {
            let register = operand.reg_file().map(|file| register(file, rng));
            for &field in operand.fields() {
                set(&mut inst, field, register, rng);
            }
        }
        let Ok(raw) = encode(&inst) else { continue };
        let Some(back) = decode(raw) else { continue };
        if back.op == op && !writes_kept(&back) {
            return Some(back);
        }
    }
    None
}

/// A jump with its target open.
pub fn random_jump(op: Op, rng: &mut ChaCha8Rng) -> Option<Inst> {
    debug_assert!(is_jump(op));
    for _ in 0..300 {
        let mut inst = random_with_imm(op, rng)?;
        if op.base() == Op::Jalr {
            // The register is set to the target just before.
            if inst.rs1 == 0 || is_kept(inst.rs1) {
                continue;
            }
            inst.imm = if op == Op::Jalr { rng.random_range(-64..64) } else { 0 };
        }
        return decode(encode(&inst).ok()?);
    }
    None
}

fn random_with_imm(op: Op, rng: &mut ChaCha8Rng) -> Option<Inst> {
    for _ in 0..300 {
        let mut inst = Inst::new(op);
        for operand in op.info().operands {
            let register = operand.reg_file().map(|file| register(file, rng));
            for &field in operand.fields().iter().filter(|f| **f != Field::Imm) {
                set(&mut inst, field, register, rng);
            }
        }
        // A target that every branch reaches.
        if op.base() != Op::Jalr {
            inst.imm = 8;
        }
        let Ok(raw) = encode(&inst) else { continue };
        let Some(back) = decode(raw) else { continue };
        if back.op == op && !writes_kept(&back) {
            return Some(back);
        }
    }
    None
}

fn register(file: RegFile, rng: &mut ChaCha8Rng) -> u8 {
    match file {
        RegFile::V => rng.random_range(0..32),
        // Close registers make chains of dependences.
        _ if rng.random() => rng.random_range(8..16),
        _ => rng.random_range(0..32),
    }
}

fn set(inst: &mut Inst, field: Field, register: Option<u8>, rng: &mut ChaCha8Rng) {
    match field {
        Field::Rd => inst.rd = register.unwrap_or(0),
        Field::Rs1 => inst.rs1 = register.unwrap_or_else(|| rng.random_range(0..32)),
        Field::Rs2 => inst.rs2 = register.unwrap_or(0),
        Field::Rs3 => inst.rs3 = register.unwrap_or(0),
        Field::Rm => inst.rm = *[0, 1, 2, 3, 4, 7, 7, 7].choose(rng).expect("eight"),
        Field::Aq => inst.aq = rng.random(),
        Field::Rl => inst.rl = rng.random(),
        Field::Vm => inst.vm = rng.random_bool(0.6),
        Field::Nf => inst.nf = if rng.random() { 0 } else { rng.random_range(0..8) },
        Field::Imm => {
            let bits = rng.random_range(0..=32);
            let value = rng.random::<i32>().checked_shr(32 - bits).unwrap_or(0);
            inst.imm = value & -1 << [0, 0, 1, 2, 3, 4, 5, 12][rng.random_range(0..8)];
        }
    }
}

/// The integer register an instruction writes, if it writes one.
pub fn destination(inst: &Inst) -> Option<u8> {
    if matches!(inst.op.class(), Class::Store | Class::VectorStore) {
        return None;
    }
    // What a compressed instruction writes, its base says: c.jalr writes ra.
    let operands = inst.op.base().info().operands;
    let to_x = operands.iter().any(|o| o.fields().contains(&Field::Rd) && o.reg_file() == Some(RegFile::X));
    to_x.then_some(inst.rd)
}

/// Whether an instruction writes a register that streams leave alone.
pub fn writes_kept(inst: &Inst) -> bool {
    destination(inst).is_some_and(|rd| is_kept(rd) || (inst.op == Op::AmocasQ && is_kept(rd + 1)))
}
