//! Makes streams from the instruction table.

mod fields;
mod memory;
mod system;
mod vector;
mod wild;

use super::builder::{Builder, Pushed};
use super::coverage::{Counts, Watch, subjects};
use super::init::Init;
use super::inprocess::{Lab, Ran, Violation};
use super::stream::{Flow, FlowKind, Step, Stream, is_jump};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rvv_asm::Asm;
use rvv_asm::values::Format;
use rvv_isa::{Class, Inst, Op, Scalar, csr, encode};

/// How streams are made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Instructions of a stream.
    pub length: usize,
    /// The share of instructions on the edge: reserved encodings, `vstart`, misaligned, faults, reserved
    /// `frm`.
    pub wild: f64,
    /// The share of vector instructions.
    pub vector: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { length: 32, wild: 0.1, vector: 0.7 }
    }
}

/// CSRs that are nothing but memory to a stream, privileged ones; set to zero where a stream starts.
pub const SCRATCH_CSRS: [u16; 4] = [csr::MSCRATCH, csr::SSCRATCH, csr::SCAUSE, csr::STVAL];

/// Which instructions to choose from, and how often.
#[derive(Clone, Debug)]
pub struct Chooser {
    vector: Vec<Op>,
    scalar: Vec<Op>,
    jumps: Vec<Op>,
    /// Instructions that have been executed least: chosen more often.
    pub rare: Vec<Op>,
}

impl Default for Chooser {
    fn default() -> Self {
        let (jumps, rest): (Vec<Op>, Vec<Op>) = subjects().partition(|&op| is_jump(op));
        let (vector, scalar) = rest.into_iter().partition(|op| op.is_vector());
        Chooser { vector, scalar, jumps, rare: Vec::new() }
    }
}

impl Chooser {
    /// Takes note of what has been executed.
    pub fn learn(&mut self, counts: &Counts) {
        let mut all: Vec<(u64, Op)> = subjects().map(|op| (counts.total(op), op)).collect();
        all.sort_by_key(|(n, _)| *n);
        self.rare = all.into_iter().take(40).map(|(_, op)| op).filter(|&op| !is_jump(op)).collect();
    }

    /// An instruction that is no jump.
    pub fn choose(&self, options: &Options, rng: &mut ChaCha8Rng) -> Op {
        if !self.rare.is_empty() && rng.random_bool(0.15) {
            return *self.rare.choose(rng).expect("not empty");
        }
        let from = if rng.random_bool(options.vector) { &self.vector } else { &self.scalar };
        *from.choose(rng).expect("the table has both")
    }
}

/// A new stream, with what it did.
///
/// # Errors
/// Seldom: what makes it useless; another seed will do.
pub fn stream(
    lab: &mut Lab,
    rng: &mut ChaCha8Rng,
    options: &Options,
    chooser: &Chooser,
    watch: &mut Watch,
) -> Result<(Stream, Ran), Violation> {
    let mut builder = Builder::new(lab, Init::new(rng.random()));
    // An instruction may be refused for what it reads; others will do, but not for ever.
    for _ in 0..4 * options.length {
        if builder.len() >= options.length {
            break;
        }
        let op = chooser.choose(options, rng);
        if push_op(&mut builder, op, options, rng)? == Pushed::Full {
            break;
        }
    }
    let straight = builder.finish();
    let mut jumping = straight.clone();
    add_flows(&mut jumping, chooser, rng);
    finish(lab, jumping, straight, watch)
}

/// Runs a stream with its jumps and loops; without them, if they do no good.
///
/// # Errors
/// If it does not run without them either.
pub fn finish(
    lab: &mut Lab,
    jumping: Stream,
    straight: Stream,
    watch: &mut Watch,
) -> Result<(Stream, Ran), Violation> {
    watch.clear();
    if !jumping.flows.is_empty()
        && let Ok(ran) = lab.run(&jumping, 0, watch)
    {
        return Ok((jumping, ran));
    }
    watch.clear();
    let ran = lab.run(&straight, 0, watch)?;
    Ok((straight, ran))
}

/// Adds the instruction to the stream, after a change of `vtype` if it needs one.
///
/// # Errors
/// What makes the whole stream useless.
pub fn push_op(
    builder: &mut Builder<'_>,
    op: Op,
    options: &Options,
    rng: &mut ChaCha8Rng,
) -> Result<Pushed, Violation> {
    if op.is_vector() && op.class() != Class::VectorConfig && rng.random_bool(0.2) {
        let step = vector::configuration(builder, rng);
        builder.push(step)?;
    }
    let is_wild = rng.random_bool(options.wild);
    let mut step = step(builder, op, is_wild, rng);
    if step.is_none() && op.is_vector() {
        if let Some(configuration) = vector::configuration_for(builder, op, rng) {
            builder.push(configuration)?;
        }
        step = self::step(builder, op, is_wild, rng);
    }
    match step {
        Some(step) => builder.push(step),
        None => Ok(Pushed::Refused),
    }
}

/// A step around an instruction under the builder's `vtype`; nothing if it is reserved there.
pub fn step(builder: &Builder<'_>, op: Op, is_wild: bool, rng: &mut ChaCha8Rng) -> Option<Step> {
    if is_wild && let Some(step) = wild::step(builder, op, rng) {
        return Some(step);
    }
    match op.class() {
        Class::VectorConfig => Some(vector::configuration_by(builder, op, rng)),
        Class::VectorLoad | Class::VectorStore => {
            let inst = vector::operands(builder, op, rng)?;
            memory::vector(builder, inst, is_wild, rng)
        }
        _ if op.is_vector() => {
            let inst = vector::operands(builder, op, rng)?;
            Some(Step { before: fresh_scalar(&inst, rng), ..Step::plain(inst.raw) })
        }
        _ if memory::access_size(op).is_some() => memory::scalar(op, is_wild, rng),
        Class::Csr => system::csr(op, is_wild, rng),
        Class::System => system::step(op, rng),
        _ => {
            let inst = fields::random(op, rng)?;
            Some(Step { before: fresh_float(&inst, rng), ..Step::plain(inst.raw) })
        }
    }
}

/// Now and then new values for the scalar operand of a vector instruction.
fn fresh_scalar(inst: &Inst, rng: &mut ChaCha8Rng) -> Vec<u32> {
    if inst.rs1 == 0 || super::layout::is_kept(inst.rs1) || !rng.random_bool(0.3) {
        return Vec::new();
    }
    match inst.op.shape().scalar {
        Scalar::X => li(inst.rs1, rvv_asm::values::random_integer(rng) >> (8 * rng.random_range(0..8))),
        Scalar::F => float_constant(inst.rs1, rng),
        Scalar::Immediate | Scalar::Absent => Vec::new(),
    }
}

/// Now and then a new value for an operand: after some computations little is left but NaNs.
fn fresh_float(inst: &Inst, rng: &mut ChaCha8Rng) -> Vec<u32> {
    if inst.op.class() != Class::Float || !rng.random_bool(0.4) {
        return Vec::new();
    }
    float_constant(inst.rs1, rng)
}

fn float_constant(r: u8, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let format = [Format::H, Format::S, Format::D][rng.random_range(0..3)];
    let corners = format.corners();
    let bits = if rng.random() { corners[rng.random_range(0..corners.len())] } else { format.random(rng) };
    let through = rng.random_range(5..32);
    let mut words = li(through, format.boxed(bits));
    words.push(word(&Inst { rd: r, rs1: through, ..Inst::new(Op::FmvDX) }));
    words
}

/// Jumps forward and loops, over steps that are there.
fn add_flows(stream: &mut Stream, chooser: &Chooser, rng: &mut ChaCha8Rng) {
    let mut at = rng.random_range(0..8);
    while at + 1 < stream.steps.len() {
        let over = rng.random_range(1..4).min(stream.steps.len() - at);
        let kind = match rng.random_range(0..4) {
            0 => Some(FlowKind::Loop(rng.random_range(2..4))),
            _ => jump(chooser, rng).map(FlowKind::Jump),
        };
        if let Some(kind) = kind {
            stream.flows.push(Flow { at, over, kind });
        }
        at += over + rng.random_range(1..16);
    }
    // A compressed branch does not reach far.
    while stream.code(super::layout::slot(0)).is_err() {
        if stream.flows.pop().is_none() {
            return;
        }
    }
}

fn jump(chooser: &Chooser, rng: &mut ChaCha8Rng) -> Option<Inst> {
    let op = *chooser.jumps.choose(rng)?;
    let inst = fields::random_jump(op, rng)?;
    Some(inst)
}

/// The instructions that load a constant.
#[must_use]
pub fn li(rd: u8, value: u64) -> Vec<u32> {
    let mut a = Asm::new(0);
    a.li(rd, value);
    let bytes = a.finish();
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

/// The encoding of an instruction that has one.
///
/// # Panics
/// If it has none: the generator is wrong.
#[must_use]
pub fn word(inst: &Inst) -> u32 {
    encode(inst).unwrap_or_else(|e| panic!("{e}"))
}
