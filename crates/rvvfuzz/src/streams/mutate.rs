//! Changes streams: the instruction within its operand shape, an operand, or the steps; or splices two of
//! them.

use super::builder::{Builder, Pushed};
use super::coverage::{Watch, subjects};
use super::generate::{self, Chooser, Options};
use super::init::Init;
use super::inprocess::{Lab, Ran, Violation};
use super::layout::is_kept;
use super::stream::{Flow, Step, Stream};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Access, Class, Field, Inst, Op, RegFile, decode, encode};

/// What the new stream is made of, in order.
enum Piece {
    /// A step as it is.
    Keep(Step),
    /// A new step around this instruction.
    New(Op),
}

/// A way to make a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutator {
    /// From nothing.
    Generate,
    /// Another instruction of the same operands.
    Sibling,
    /// Another operand.
    Operand,
    /// One more step.
    Insert,
    /// One step less.
    Remove,
    /// Two steps change places.
    Swap,
    /// A step once more.
    Copy,
    /// The head of one stream, the tail of another.
    Splice,
    /// Another step.
    Replace,
    /// Another initial state.
    Reseed,
}

impl Mutator {
    /// All of them.
    pub const ALL: [Mutator; 10] = [
        Mutator::Generate,
        Mutator::Sibling,
        Mutator::Operand,
        Mutator::Insert,
        Mutator::Remove,
        Mutator::Swap,
        Mutator::Copy,
        Mutator::Splice,
        Mutator::Replace,
        Mutator::Reseed,
    ];

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mutator::Generate => "generate",
            Mutator::Sibling => "sibling",
            Mutator::Operand => "operand",
            Mutator::Insert => "insert",
            Mutator::Remove => "remove",
            Mutator::Swap => "swap",
            Mutator::Copy => "copy",
            Mutator::Splice => "splice",
            Mutator::Replace => "replace",
            Mutator::Reseed => "reseed",
        }
    }
}

/// What a mutator brought. A stream that several have changed counts for each of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Made {
    /// Streams made.
    pub tried: u64,
    /// Those that can be compared.
    pub valid: u64,
    /// Those that added coverage.
    pub new: u64,
}

/// A changed stream, with what it did, or what makes it useless: then another change will do. Also what
/// changed it. Steps that have become impossible are left out.
pub fn mutate(
    lab: &mut Lab,
    parent: &Stream,
    other: &Stream,
    rng: &mut ChaCha8Rng,
    options: &Options,
    chooser: &Chooser,
    watch: &mut Watch,
) -> (Vec<Mutator>, Result<(Stream, Ran), Violation>) {
    let mut used = Vec::new();
    let mut init = parent.init;
    let mut pieces: Vec<Piece> = parent.steps.iter().cloned().map(Piece::Keep).collect();
    for _ in 0..rng.random_range(1..4) {
        let mutator = change(&mut pieces, &mut init, other, rng, options, chooser);
        used.extend(mutator.filter(|m| !used.contains(m)));
    }
    (used, rebuild(lab, parent, init, pieces, rng, options, watch))
}

/// A stream of these pieces.
fn rebuild(
    lab: &mut Lab,
    parent: &Stream,
    init: Init,
    pieces: Vec<Piece>,
    rng: &mut ChaCha8Rng,
    options: &Options,
    watch: &mut Watch,
) -> Result<(Stream, Ran), Violation> {
    let mut builder = Builder::new(lab, init);
    for piece in pieces {
        if builder.len() >= 2 * options.length {
            break;
        }
        let pushed = match piece {
            Piece::Keep(step) => builder.push(step)?,
            Piece::New(op) => generate::push_op(&mut builder, op, options, rng)?,
        };
        if pushed == Pushed::Full {
            break;
        }
    }
    let straight = builder.finish();
    let mut jumping = straight.clone();
    let fits = |f: &&Flow| f.at + f.over <= straight.steps.len();
    jumping.flows = parent.flows.iter().filter(fits).copied().collect();
    generate::finish(lab, jumping, straight, watch)
}

/// Changes something; what did, if anything.
fn change(
    pieces: &mut Vec<Piece>,
    init: &mut Init,
    other: &Stream,
    rng: &mut ChaCha8Rng,
    options: &Options,
    chooser: &Chooser,
) -> Option<Mutator> {
    if pieces.is_empty() {
        pieces.push(Piece::New(chooser.choose(options, rng)));
        return Some(Mutator::Insert);
    }
    let i = rng.random_range(0..pieces.len());
    match rng.random_range(0..10) {
        0 | 1 => {
            pieces[i] = sibling(&pieces[i], rng)?;
            Some(Mutator::Sibling)
        }
        2 | 3 => {
            pieces[i] = operand(&pieces[i], rng)?;
            Some(Mutator::Operand)
        }
        4 => {
            pieces.insert(i, Piece::New(chooser.choose(options, rng)));
            Some(Mutator::Insert)
        }
        5 => {
            pieces.remove(i);
            Some(Mutator::Remove)
        }
        6 => {
            let j = rng.random_range(0..pieces.len());
            pieces.swap(i, j);
            Some(Mutator::Swap)
        }
        7 => {
            let Piece::Keep(step) = &pieces[i] else { return None };
            let copy = step.clone();
            pieces.insert(rng.random_range(0..=i), Piece::Keep(copy));
            Some(Mutator::Copy)
        }
        8 => {
            // The head of this one, the tail of the other.
            pieces.truncate(i);
            let from = rng.random_range(0..=other.steps.len());
            pieces.extend(other.steps[from..].iter().cloned().map(Piece::Keep));
            Some(Mutator::Splice)
        }
        _ if rng.random() => {
            pieces[i] = Piece::New(chooser.choose(options, rng));
            Some(Mutator::Replace)
        }
        _ => {
            *init = Init::new(rng.random());
            Some(Mutator::Reseed)
        }
    }
}

/// Another instruction with the same operands: of the same step, if nothing was set up for it.
fn sibling(piece: &Piece, rng: &mut ChaCha8Rng) -> Option<Piece> {
    let Piece::Keep(step) = piece else { return None };
    let inst = step.inst()?;
    let info = inst.op.info();
    let alike = |op: &Op| op.info().operands == info.operands && op.class() == info.class && *op != inst.op;
    let all: Vec<Op> = subjects().filter(alike).collect();
    let op = *all.choose(rng)?;
    if touches_memory(op) || matches!(op.class(), Class::System | Class::Csr | Class::VectorConfig) {
        return Some(Piece::New(op));
    }
    let raw = encode(&Inst { op, ..inst }).ok()?;
    replaced(step, raw)
}

/// The same instruction with another operand.
fn operand(piece: &Piece, rng: &mut ChaCha8Rng) -> Option<Piece> {
    let Piece::Keep(step) = piece else { return None };
    let mut inst = step.inst()?;
    let op = inst.op;
    if touches_memory(op) || matches!(op.class(), Class::System | Class::Csr | Class::VectorConfig) {
        return Some(Piece::New(op));
    }
    let operand = *op.info().operands.choose(rng)?;
    let random = rng.random_range(0..32);
    for field in operand.fields() {
        match field {
            Field::Rd => inst.rd = random,
            Field::Rs1 => inst.rs1 = random,
            Field::Rs2 => inst.rs2 = random,
            Field::Rs3 => inst.rs3 = random,
            Field::Rm => inst.rm = random % 8,
            Field::Vm => inst.vm = !inst.vm,
            Field::Imm => inst.imm ^= 1 << rng.random_range(0..12),
            _ => {}
        }
    }
    replaced(step, encode(&inst).ok()?)
}

fn replaced(step: &Step, raw: u32) -> Option<Piece> {
    let back = decode(raw)?;
    let to_x = |o: &&rvv_isa::Operand| o.fields().contains(&Field::Rd) && o.reg_file() == Some(RegFile::X);
    let writes_x = back.op.base().info().operands.iter().find(to_x).is_some();
    let odd = touches_memory(back.op) || super::stream::is_jump(back.op);
    if odd || (writes_x && is_kept(back.rd)) {
        return None;
    }
    Some(Piece::Keep(Step { main: Some(raw), ..step.clone() }))
}

/// Whether an instruction needs its address made anew.
fn touches_memory(op: Op) -> bool {
    op.info().access != Access::None || op.shape().memory.is_some()
}
