//! On the edge, on purpose: reserved encodings, register groups that overlap, `vstart`, a reserved rounding
//! mode.

use super::{fields, li, memory, vector, word};
use crate::streams::builder::{Builder, csr_immediate};
use crate::streams::stream::Step;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Class, Inst, Op, csr, decode};

/// A step on the edge around an instruction; nothing if there is no edge to it but its memory's.
pub fn step(builder: &Builder<'_>, op: Op, rng: &mut ChaCha8Rng) -> Option<Step> {
    match rng.random_range(0..4) {
        0 => reserved_encoding(op, rng),
        1 if is_plain_vector(op) => {
            // Any registers, aligned or not, overlapping or not.
            Some(Step::plain(fields::random(op, rng)?.raw))
        }
        2 if op.is_vector() && op.class() != Class::VectorConfig => started(builder, op, rng),
        3 if uses_frm(op) => {
            let inst = match op.is_vector() {
                true => vector::operands(builder, op, rng)?,
                false => Inst { rm: 7, ..fields::random(op, rng)? },
            };
            let before = vec![csr_immediate(csr::FRM, rng.random_range(5..8))];
            Some(Step { before, ..Step::plain(word(&inst)) })
        }
        _ => None,
    }
}

/// Whether it is a vector instruction that accesses no memory.
fn is_plain_vector(op: Op) -> bool {
    op.is_vector() && !matches!(op.class(), Class::VectorLoad | Class::VectorStore | Class::VectorConfig)
}

fn uses_frm(op: Op) -> bool {
    matches!(op.class(), Class::Float | Class::VectorFloat)
}

/// The instruction with some bits flipped so that it is none, or another that is as harmless.
fn reserved_encoding(op: Op, rng: &mut ChaCha8Rng) -> Option<Step> {
    for _ in 0..50 {
        let mut raw = fields::random(op, rng)?.raw;
        let bits = if raw & 3 == 3 { 7..32 } else { 2..16 };
        for _ in 0..rng.random_range(1..4) {
            raw ^= 1 << rng.random_range(bits.clone());
        }
        let harmless = match decode(raw) {
            None => true,
            Some(inst) => is_plain_vector(inst.op) && !fields::writes_kept(&inst),
        };
        if harmless {
            return Some(Step::plain(raw));
        }
    }
    None
}

/// With `vstart` that is not zero: in the body, or a little past it.
fn started(builder: &Builder<'_>, op: Op, rng: &mut ChaCha8Rng) -> Option<Step> {
    let inst = vector::operands(builder, op, rng)?;
    let mut step = match op.class() {
        Class::VectorLoad | Class::VectorStore => memory::vector(builder, inst, false, rng)?,
        _ => Step::plain(inst.raw),
    };
    // Past the body now and then, and seldom past all elements, which is reserved.
    let past = if rng.random_ratio(1, 8) { 2 } else { 0 };
    let vstart = rng.random_range(0..builder.vl().max(1) + past);
    let t = (5..32).find(|&r| r != inst.rs1 && r != inst.rs2 && !step_reads(&step, r)).unwrap_or(5);
    step.before.extend(li(t, vstart));
    step.before.push(word(&Inst { rs1: t, imm: csr::VSTART.into(), ..Inst::new(Op::Csrrw) }));
    Some(step)
}

fn step_reads(step: &Step, r: u8) -> bool {
    step.inst().is_some_and(|inst| inst.rs1 == r || inst.rs2 == r)
}
