//! The operands to run each encoding on.

use super::encodings::Weight;
use super::{Density, Row, Shape, registers, source_format};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::values::{Format, INTEGERS, random_integer};
use rvv_isa::{Access, Class, Field, Inst, Op, RegFile};
use std::sync::Arc;

/// Makes the tables of one instruction, and shares those that are alike.
pub struct Tables {
    op: Op,
    shape: Shape,
    density: Density,
    made: Vec<(Weight, Arc<[Row]>)>,
}

impl Tables {
    pub fn new(op: Op, shape: Shape, density: Density) -> Self {
        Tables { op, shape, density, made: Vec::new() }
    }

    /// The rows for an encoding.
    pub fn rows(&mut self, inst: &Inst, weight: Weight) -> Arc<[Row]> {
        if let Some((_, rows)) = self.made.iter().find(|(w, _)| *w == weight) {
            return rows.clone();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed_of(self.op, weight));
        let rows: Arc<[Row]> = match self.shape {
            Shape::Compute => self.compute(weight, &mut rng),
            Shape::Load | Shape::Store => memory(self.op, &mut rng),
            Shape::Atomic => atomic(self.op, weight, &mut rng),
            Shape::StoreConditional => store_conditional(self.op, weight, &mut rng),
            Shape::Csr => csr(weight, &mut rng),
            Shape::Branch => branch(&mut rng),
            Shape::Jump if registers(self.op).any(|(f, _)| f == Field::Rs1) => vec![[0; 4], [1, 0, 0, 0]],
            Shape::Jump => vec![[0; 4]],
            Shape::Return if inst.op.name() == "mret" => vec![[0; 4], [1, 0, 0, 0], [3, 0, 0, 0]],
            Shape::Return => vec![[0; 4], [1, 0, 0, 0]],
            Shape::CacheBlock => [0, 1, 8, 63, 64, 100].map(|o| [o, rng.random(), 0, 0]).to_vec(),
        }
        .into();
        self.made.push((weight, rows.clone()));
        rows
    }

    fn compute(&self, weight: Weight, rng: &mut ChaCha8Rng) -> Vec<Row> {
        let more = if self.density == Density::Full { 4 } else { 1 };
        let sources: Vec<RegFile> =
            registers(self.op).filter(|(field, _)| *field != Field::Rd).map(|(_, file)| file).collect();
        let rounds = self.op.info().operands.iter().any(|o| o.fields() == [Field::Rm]);
        let float = self.op.class() == Class::Float;
        let mut rows = match (sources.as_slice(), source_format(self.op)) {
            ([], _) => vec![[0; 4]],
            ([RegFile::X], _) => unary_integer(weight, rounds, more, rng),
            ([RegFile::X, RegFile::X], _) => binary_integer(weight, more, rng),
            ([RegFile::F], Some(format)) => unary_float(format, weight, rounds, rng),
            ([RegFile::F, RegFile::F], Some(format)) => binary_float(format, weight, rounds, rng),
            ([RegFile::F, ..], Some(format)) => ternary_float(format, weight, rng),
            _ => unreachable!("{} has sources no instruction has", self.op.name()),
        };
        for row in &mut rows {
            // What a register held before must not matter, and must stay where nothing is written.
            if sources.len() < 3 {
                row[2] = rng.random();
            }
            // Flags accrue: some rows start with some set.
            if float && rng.random_ratio(1, 8) {
                row[3] |= rng.random_range(0..32);
            }
        }
        rows
    }
}

fn seed_of(op: Op, weight: Weight) -> u64 {
    // By name, so that a new instruction in the table leaves the rows of the others alone.
    let hash = op
        .name()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    hash ^ weight as u64
}

fn unary_integer(weight: Weight, rounds: bool, more: usize, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let (corners, random) = match weight {
        Weight::Most => (32, 200),
        Weight::Some => (32, 10),
        Weight::Few => (8, 8),
    };
    let mut values = INTEGERS[..corners].to_vec();
    if rounds && weight == Weight::Most {
        // Next to what a conversion rounds: halfway between two numbers of each format.
        for (f, k) in [(11, 12), (24, 25), (24, 32), (24, 40), (53, 54), (53, 55), (53, 63), (53, 64)] {
            let ulp = 1_u64 << (k - f);
            let top = 1_u64 << (k - 1);
            let near = [top + ulp / 2, top + ulp / 2 + 1, top + ulp / 2 - 1, top + ulp + ulp / 2];
            values.extend(near.iter().flat_map(|&v| [v, v.wrapping_neg()]));
        }
    }
    values.extend((0..random * more).map(|_| random_integer(rng)));
    with_modes(values.into_iter().map(|v| [v, 0, 0, 0]).collect(), rounds, weight)
}

fn binary_integer(weight: Weight, more: usize, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let (corners, random) = match weight {
        Weight::Most => (if more > 1 { 32 } else { 24 }, 200),
        Weight::Some => (6, 30),
        Weight::Few => (3, 12),
    };
    let corners = &INTEGERS[..corners];
    let mut rows: Vec<Row> =
        corners.iter().flat_map(|&a| corners.iter().map(move |&b| [a, b, 0, 0])).collect();
    for _ in 0..random * more {
        let a = random_integer(rng);
        // Equal operands and small shift amounts are rare otherwise.
        let b = match rng.random_range(0..8) {
            0 => a,
            1 => rng.random_range(0..64),
            _ => random_integer(rng),
        };
        rows.push([a, b, 0, 0]);
    }
    rows
}

/// The register contents for a format: numbers in their boxes, and bad boxes.
fn contents(format: Format, numbers: Vec<u64>) -> Vec<u64> {
    numbers.into_iter().map(|n| format.boxed(n)).chain(format.badly_boxed()).collect()
}

/// Each row in all five rounding modes, and now and then in a reserved one; in a mode by turns, if the
/// rows are many or the instruction does not round.
fn with_modes(rows: Vec<Row>, rounds: bool, weight: Weight) -> Vec<Row> {
    let mut out = Vec::new();
    for (i, row) in rows.into_iter().enumerate() {
        let all = rounds && weight == Weight::Most;
        let modes = if all { 0..5 } else { i as u64 % 5..i as u64 % 5 + 1 };
        out.extend(modes.map(|frm| [row[0], row[1], row[2], frm << 5]));
        if i % 64 == 1 {
            out.extend((5..8).map(|frm| [row[0], row[1], row[2], frm << 5]));
        }
    }
    out
}

fn unary_float(format: Format, weight: Weight, rounds: bool, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let mut values = match weight {
        Weight::Most => {
            let mut all = format.corners();
            all.extend(format.conversion_corners());
            contents(format, all)
        }
        _ => contents(format, format.few()),
    };
    let random = if weight == Weight::Most { 300 } else { 12 };
    values.extend((0..random).map(|_| format.boxed(format.random(rng))));
    with_modes(values.into_iter().map(|v| [v, 0, 0, 0]).collect(), rounds, weight)
}

fn binary_float(format: Format, weight: Weight, rounds: bool, rng: &mut ChaCha8Rng) -> Vec<Row> {
    if weight != Weight::Most {
        let few = contents(format, format.few());
        let rows =
            (0..40).map(|_| [few[rng.random_range(0..few.len())], few[rng.random_range(0..few.len())], 0, 0]);
        let mut rows: Vec<Row> = rows.collect();
        rows.extend(
            (0..20).map(|_| [format.boxed(format.random(rng)), format.boxed(format.random(rng)), 0, 0]),
        );
        return with_modes(rows, rounds, weight);
    }
    let few: Vec<u64> = format.few().into_iter().map(|n| format.boxed(n)).collect();
    let pairs: Vec<Row> = few.iter().flat_map(|&a| few.iter().map(move |&b| [a, b, 0, 0])).collect();
    let mut rows = with_modes(pairs, rounds, weight);
    let all = contents(format, format.corners());
    let mut more = Vec::new();
    for _ in 0..800 {
        more.push([all[rng.random_range(0..all.len())], all[rng.random_range(0..all.len())], 0, 0]);
    }
    for i in 0..800 {
        let a = format.random(rng);
        let b = match i % 6 {
            // Neighbours and negatives: cancellation, quotients next to one.
            0 => a ^ 1 << (format.width() - 1) ^ rng.random_range(0..4),
            1 => a ^ rng.random_range(0..4),
            _ => format.random(rng),
        };
        more.push([format.boxed(a), format.boxed(b), 0, 0]);
    }
    rows.extend(with_modes(more, rounds, Weight::Some));
    rows
}

fn ternary_float(format: Format, weight: Weight, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let few = contents(format, format.few());
    let all = contents(format, format.corners());
    let (of_few, of_all, random) = if weight == Weight::Most { (1500, 700, 1500) } else { (30, 10, 20) };
    let mut rows: Vec<Row> = Vec::new();
    let pick = |from: &[u64], rng: &mut ChaCha8Rng| from[rng.random_range(0..from.len())];
    rows.extend((0..of_few).map(|_| [pick(&few, rng), pick(&few, rng), pick(&few, rng), 0]));
    rows.extend((0..of_all).map(|_| [pick(&all, rng), pick(&all, rng), pick(&all, rng), 0]));
    for i in 0..random {
        let (a, b) = (format.random(rng), format.random(rng));
        // The addend next to the product, of either sign, makes the result tiny or exact.
        let near =
            product(format, a, b) ^ rng.random_range(0..4) ^ rng.random_range(0..2) << (format.width() - 1);
        let c = if i % 3 == 0 { near } else { format.random(rng) };
        rows.push([format.boxed(a), format.boxed(b), format.boxed(c), 0]);
    }
    with_modes(rows, false, weight)
}

/// The product, roughly: it only has to be near.
fn product(format: Format, a: u64, b: u64) -> u64 {
    match format.width() {
        64 => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        32 => (f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits().into(),
        // Exponents add up, fractions nearly do.
        _ => {
            let sign = (a ^ b) & 0x8000;
            sign | ((a & 0x7fff) + (b & 0x7fff)).saturating_sub(0x3c00).min(0x7bff)
        }
    }
}

fn size_of(op: Op) -> u64 {
    match op.info().access {
        Access::Bytes(n) => u64::from(n),
        Access::None | Access::CacheBlock => 8,
    }
}

fn memory(op: Op, rng: &mut ChaCha8Rng) -> Vec<Row> {
    // The page ends 32 bytes in, so these are aligned, misaligned, across the end of the page.
    let offsets = (0..9).chain(20..33);
    let data = if Shape::of(op) == Shape::Store { 3 } else { 1 };
    let mut rows = Vec::new();
    for offset in offsets {
        for i in 0..data {
            let value = INTEGERS[(offset as usize * 3 + i) % INTEGERS.len()];
            rows.push([offset, rng.random(), if i == 0 { rng.random() } else { value }, 0]);
        }
    }
    rows
}

/// The low `size` bytes, over and over.
fn spread(v: u64, size: u64) -> u64 {
    match size {
        1 => (v & 0xff) * 0x0101_0101_0101_0101,
        2 => (v & 0xffff) * 0x0001_0001_0001_0001,
        4 => (v & 0xffff_ffff) * 0x1_0000_0001,
        _ => v,
    }
}

/// An offset, up to 16, at which an access of this size is aligned.
fn aligned_offset(size: u64, rng: &mut ChaCha8Rng) -> u64 {
    rng.random_range(0..16 / size) * size
}

fn atomic(op: Op, weight: Weight, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let size = size_of(op);
    let (corners, random) = if weight == Weight::Most { (11, 60) } else { (3, 6) };
    let mut rows = Vec::new();
    for (i, &a) in INTEGERS[..corners].iter().enumerate() {
        for (j, &b) in INTEGERS[..corners].iter().enumerate() {
            // Memory mostly holds what a compare-and-swap compares with.
            let mem = if (i + j) % 5 == 4 { a } else { b };
            rows.push([a, b, spread(mem, size), 0]);
        }
    }
    for i in 0..random {
        let mem = random_integer(rng);
        // A compare-and-swap must also succeed.
        let old = if i % 2 == 0 { mem } else { random_integer(rng) };
        rows.push([random_integer(rng), old, mem, 0]);
    }
    for (i, row) in rows.iter_mut().enumerate() {
        row[3] = if i % 3 == 0 { 0 } else { aligned_offset(size, rng) };
    }
    if size > 1 {
        rows.extend([1, size - 1, size / 2].map(|offset| [rng.random(), rng.random(), rng.random(), offset]));
    }
    rows
}

fn store_conditional(op: Op, weight: Weight, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let size = size_of(op);
    let count = if weight == Weight::Most { 20 } else { 4 };
    let mut rows: Vec<Row> = Vec::new();
    for i in 0..count {
        rows.push([random_integer(rng), i % 3, rng.random(), aligned_offset(size, rng)]);
    }
    rows.push([rng.random(), 0, rng.random(), 1]);
    rows
}

fn csr(weight: Weight, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let count = if weight == Weight::Some { 24 } else { 6 };
    let mut rows: Vec<Row> = vec![[u64::MAX, 0, 7, 0], [0, u64::MAX, 7, 0], [u64::MAX, u64::MAX, 7, 0]];
    rows.extend((0..count).map(|_| [random_integer(rng), random_integer(rng), rng.random(), 0]));
    rows
}

fn branch(rng: &mut ChaCha8Rng) -> Vec<Row> {
    let corners = &INTEGERS[..14];
    let mut rows: Vec<Row> =
        corners.iter().flat_map(|&a| corners.iter().map(move |&b| [a, b, 0, 0])).collect();
    for _ in 0..30 {
        let a = random_integer(rng);
        rows.push([a, if rng.random() { a } else { random_integer(rng) }, 0, 0]);
    }
    rows
}
