//! Loads, stores, atomics and cache-block instructions, with their addresses inside the sandbox.

use super::{fields, li, word};
use crate::streams::builder::Builder;
use crate::streams::init::INDEX_LIMIT;
use crate::streams::layout::{INDICES, INDICES_SIZE, SANDBOX, SANDBOX_SIZE, is_kept};
use crate::streams::stream::Step;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Access, Addressing, Class, Eew, Inst, Op, Sew, encode};

/// Bytes a scalar access touches; those of a cache block for what is about blocks. `None` if it takes no
/// address.
pub fn access_size(op: Op) -> Option<u64> {
    match op.info().access {
        Access::None => None,
        Access::Bytes(n) => Some(u64::from(n)),
        Access::CacheBlock => Some(64),
    }
}

/// A scalar access. Its base register is set just before.
pub fn scalar(op: Op, is_wild: bool, rng: &mut ChaCha8Rng) -> Option<Step> {
    for _ in 0..100 {
        let inst = fields::random(op, rng)?;
        if inst.rs1 == 0 || is_kept(inst.rs1) {
            continue;
        }
        let size = access_size(op)?;
        let mut offset = rng.random_range(0..SANDBOX_SIZE - size) & !(size - 1);
        // Atomics that are misaligned only trap: seldom.
        if is_wild && (op.class() != Class::Atomic || rng.random_ratio(1, 4)) {
            offset = match rng.random_range(0..4) {
                0 => SANDBOX_SIZE - rng.random_range(0..=size),
                1 => SANDBOX_SIZE / 2 - rng.random_range(0..size),
                _ => rng.random_range(0..SANDBOX_SIZE - size),
            };
        }
        // Blocks are found by any address inside.
        if size == 64 {
            offset = rng.random_range(0..SANDBOX_SIZE);
        }
        let displacement = if op.class() == Class::Atomic { 0 } else { inst.imm };
        let base = (SANDBOX + offset).wrapping_sub(displacement as i64 as u64);
        let mut step = Step { before: li(inst.rs1, base), ..Step::plain(inst.raw) };
        if matches!(op, Op::ScW | Op::ScD) {
            forget_success(&mut step, &inst, rng);
        }
        return Some(step);
    }
    None
}

/// A store-conditional may fail at any time: its register and its memory are overwritten, so that what
/// follows is the same for success and failure.
fn forget_success(step: &mut Step, inst: &Inst, rng: &mut ChaCha8Rng) {
    let (reserve, store) = if inst.op == Op::ScW { (Op::LrW, Op::Sw) } else { (Op::LrD, Op::Sd) };
    // rs1 must still hold the address afterwards, and rs2 something known.
    let through = (5..32).find(|&r| r != inst.rs1 && r != inst.rs2 && r != inst.rd).expect("27 registers");
    if rng.random() {
        step.before.push(word(&Inst { rd: through, rs1: inst.rs1, ..Inst::new(reserve) }));
    }
    if inst.rd != inst.rs1 {
        step.after.push(word(&Inst { rs1: inst.rs1, rs2: 0, imm: 0, ..Inst::new(store) }));
    } else {
        // The address is lost with the success: it is made again.
        let again =
            step.before.iter().copied().filter(|&w| rvv_isa::decode(w).is_some_and(|i| i.rd == inst.rs1));
        let again: Vec<u32> = again.collect();
        step.after.extend(again);
        step.after.push(word(&Inst { rs1: inst.rs1, rs2: 0, imm: 0, ..Inst::new(store) }));
    }
    if inst.rd != 0 {
        step.after.push(word(&Inst { rd: inst.rd, ..Inst::new(Op::Addi) }));
    }
}

/// How a vector instruction finds its elements.
enum Mode {
    /// So many bytes, one after the other.
    Unit(u64),
    /// Segments of so many bytes, a stride apart.
    Strided(u64),
    /// Segments of so many bytes, at indices of this width.
    Indexed(u64, Sew),
}

fn mode(builder: &Builder<'_>, inst: &Inst) -> Option<Mode> {
    let shape = inst.op.shape();
    let memory = shape.memory?;
    let segment = |eew: Sew| u64::from(shape.fields(inst)) * u64::from(eew.bytes());
    let vl = builder.vl();
    Some(match (memory.addressing, shape.vd) {
        (Addressing::Mask, _) => Mode::Unit(vl.div_ceil(8)),
        (_, Eew::Registers(n)) => Mode::Unit(u64::from(n) * u64::from(builder.vlen() / 8)),
        _ if memory.is_indexed() => Mode::Indexed(segment(builder.vtype().sew), memory.eew),
        (Addressing::Strided, _) => Mode::Strided(segment(memory.eew)),
        _ => Mode::Unit(vl * segment(memory.eew)),
    })
}

/// A vector access. Base, stride and indices are set just before.
pub fn vector(builder: &Builder<'_>, mut inst: Inst, is_wild: bool, rng: &mut ChaCha8Rng) -> Option<Step> {
    inst.rs1 = rng.random_range(5..32);
    let mut before = Vec::new();
    // Mostly aligned to what eight-byte elements need.
    let align = |offset: u64, rng: &mut ChaCha8Rng| match is_wild && rng.random() {
        true => offset,
        false => offset & !7,
    };
    let offset = match mode(builder, &inst)? {
        // Into the page that is not there.
        Mode::Unit(bytes) if is_wild && rng.random() => {
            SANDBOX_SIZE - rng.random_range(0..=bytes.min(SANDBOX_SIZE))
        }
        Mode::Unit(bytes) => align(rng.random_range(0..=SANDBOX_SIZE.checked_sub(bytes)?), rng),
        Mode::Strided(segment) => {
            let room = SANDBOX_SIZE.checked_sub(segment + 64)?;
            let most = (room / builder.vl().max(1)).min(512) as i64;
            let stride = match rng.random_range(0..6) {
                0 => 0,
                1 => most.min(segment as i64),
                _ if is_wild => rng.random_range(-most..=most),
                // Towards zero, so that it stays within the most.
                _ => rng.random_range(-most..=most) / 8 * 8,
            };
            inst.rs2 = if rng.random_ratio(1, 10) { 0 } else { rng.random_range(5..32) };
            if inst.rs2 == inst.rs1 {
                inst.rs2 = 0;
            }
            let stride = if inst.rs2 == 0 { 0 } else { stride };
            if inst.rs2 != 0 {
                before.extend(li(inst.rs2, stride as u64));
            }
            let span = stride.unsigned_abs() * builder.vl();
            let start = align(rng.random_range(0..=room - span), rng);
            if is_wild && stride > 0 && rng.random_ratio(1, 4) {
                SANDBOX_SIZE - rng.random_range(0..=span.max(1))
            } else if stride < 0 {
                start + span.next_multiple_of(8)
            } else {
                start
            }
        }
        Mode::Indexed(segment, width) => {
            let group =
                (builder.vl() * u64::from(width.bytes())).div_ceil(u64::from(builder.vlen() / 8)).max(1);
            let op = match group.next_power_of_two() {
                1 => Op::Vl1re8V,
                2 => Op::Vl2re8V,
                4 => Op::Vl4re8V,
                _ => Op::Vl8re8V,
            };
            let registers = group.next_power_of_two().min(8);
            let most = INDICES_SIZE - registers * u64::from(builder.vlen() / 8);
            let at = INDICES + width as u64 * INDICES_SIZE + (rng.random_range(0..most) & !7);
            before.extend(li(inst.rs1, at));
            before.push(word(&Inst { rd: inst.rs2, rs1: inst.rs1, ..Inst::new(op) }));
            let room = SANDBOX_SIZE.checked_sub(INDEX_LIMIT + segment)?;
            align(rng.random_range(0..=room), rng)
        }
    };
    before.extend(li(inst.rs1, SANDBOX + offset));
    let raw = encode(&inst).ok()?;
    Some(Step { before, ..Step::plain(raw) })
}
