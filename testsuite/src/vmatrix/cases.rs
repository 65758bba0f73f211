//! The cases of one instruction.

use super::program::mask_bit;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::values::{Format, INTEGERS};
use rvv_isa::{Addressing, Class, Eew, Field, Inst, Isa, Lmul, Memory, Op, RegFile, Sew, Shape, Vtype};

/// An instruction of the matrix: segment loads and stores count once per number of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The instruction.
    pub op: Op,
    /// Segment fields less one.
    pub nf: u8,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.nf {
            0 => f.write_str(self.op.name()),
            nf => write!(f, "{} nf={}", self.op.name(), nf + 1),
        }
    }
}

/// All ratified vector instructions but `vset{i}vl{i}`, which every case runs anyway.
#[must_use]
pub fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    for op in Isa::default().ops().filter(|op| op.is_vector() && op.class() != Class::VectorConfig) {
        let fields = if has(op, Field::Nf) { 8 } else { 1 };
        all.extend((0..fields).map(|nf| Subject { op, nf }));
    }
    all
}

/// Whether an instruction has an operand in this field.
fn has(op: Op, field: Field) -> bool {
    op.info().operands.iter().any(|o| o.fields().contains(&field))
}

fn file(op: Op, field: Field) -> Option<RegFile> {
    op.info().operands.iter().find(|o| o.fields().contains(&field)).and_then(|o| o.reg_file())
}

/// Which part of the data pool the registers are filled from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filling {
    /// Integers of this width, corners favoured.
    Integers(Sew),
    /// Integers below twice VLMAX, of this width: indices that are often in range.
    Small(Sew),
    /// Floating-point numbers of this width, corners favoured.
    Floats(Sew),
}

/// One run of the instruction.
#[derive(Clone, Debug)]
pub struct Case {
    /// The instruction, masked or not.
    pub inst: Inst,
    /// `vtype` asked for.
    pub vtype: Vtype,
    /// AVL asked for.
    pub avl: u64,
    /// `vstart` set.
    pub vstart: u64,
    /// What the registers hold.
    pub filling: Filling,
    /// Where in that part of the pool they start, in double words.
    pub shift: u32,
    /// Indices for memory: the width, where `v16` and on are refilled.
    pub indices: Option<Sew>,
    /// Values of `x11`, `x13` and `f11`.
    pub scalars: [u64; 3],
    /// `fcsr` and `vxrm` before.
    pub fcsr: u8,
    /// `vxrm` before.
    pub vxrm: u8,
    /// Added to the base address of memory instructions.
    pub misalign: u8,
    /// For stores: bytes before and after the base that may be touched.
    pub window: Option<(u64, u64)>,
}

/// The vtypes of the matrix, in order; reserved combinations of SEW and LMUL are cases too.
pub fn vtypes() -> impl Iterator<Item = (Sew, Lmul)> {
    Sew::ALL.into_iter().flat_map(|sew| Lmul::ALL.into_iter().map(move |lmul| (sew, lmul)))
}

/// All cases of one instruction at one VLEN: sixteen for each vtype.
#[must_use]
pub fn cases(subject: Subject, vlen: u32) -> Vec<Case> {
    let seed =
        subject.op.name().bytes().fold(u64::from(vlen), |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(8) + u64::from(subject.nf));
    let mut all = Vec::new();
    for (sew, lmul) in vtypes() {
        let vtype = Vtype::new(sew, lmul, false, false);
        let vlmax = u64::from(vtype.vlmax(vlen)).max(1);
        for masked in [false, true] {
            for avl in [0, 1, vlmax / 2 + 1, vlmax] {
                for middle in [false, true] {
                    let vstart = if middle { (avl / 2).max(1) } else { 0 };
                    all.push(case(subject, vlen, vtype, avl, vstart, masked, &mut rng));
                }
            }
        }
    }
    all
}

fn case(
    subject: Subject,
    vlen: u32,
    vtype: Vtype,
    avl: u64,
    vstart: u64,
    masked: bool,
    rng: &mut ChaCha8Rng,
) -> Case {
    let Subject { op, nf } = subject;
    let shape = op.shape();
    let vstart = answerable_vstart(op, vtype, vlen, avl, vstart);
    // Agnostic bits vary too: Spike leaves agnostic elements undisturbed, and so do we by default.
    let vtype = Vtype::new(vtype.sew, vtype.lmul, rng.random(), rng.random());
    let sew = vtype.sew;
    let memory = shape.memory.is_some();
    let mut inst = Inst { nf, rd: 8, rs1: 24, rs2: 16, vm: !masked, ..Inst::new(op) };
    if file(op, Field::Rd) != Some(RegFile::V) {
        inst.rd = 12;
    }
    match file(op, Field::Rs1) {
        Some(RegFile::V) => {}
        _ if memory => inst.rs1 = 10,
        _ => inst.rs1 = 11,
    }
    if file(op, Field::Rs2) == Some(RegFile::X) {
        inst.rs2 = 13;
    }
    if has(op, Field::Imm) {
        inst.imm = immediate(op, rng);
    }
    let filling = if let Some(indices) = gathers_by(op, sew)
        && rng.random()
    {
        Filling::Small(indices)
    } else if op.is_float() && rng.random_ratio(7, 8) {
        let wider = sew.wider().filter(|_| rng.random_ratio(1, 3));
        Filling::Floats(wider.unwrap_or(sew).max_float())
    } else {
        Filling::Integers(sew)
    };
    let eew = stride_eew(shape, sew);
    let indexed = shape.memory.is_some_and(Memory::is_indexed);
    let stride = stride(eew, nf, rng);
    let scalars = [
        scalar_integer(sew, avl, vlen, rng),
        if memory { stride as u64 } else { scalar_integer(sew, avl, vlen, rng) },
        scalar_float(sew, rng),
    ];
    let misalign = if memory && rng.random_ratio(1, 8) { rng.random_range(1..8) } else { 0 };
    let window = (op.class() == Class::VectorStore).then(|| {
        let field = u64::from(nf + 1) * u64::from(if indexed { sew } else { eew }.bytes());
        let elements = u64::from(Vtype::new(Sew::E8, Lmul::M8, false, false).vlmax(vlen));
        if indexed {
            (0, INDEX_LIMIT + field + 16)
        } else if shape.memory.is_some_and(|m| m.addressing == Addressing::Strided) {
            let reach = stride.unsigned_abs() * avl + field + 16;
            if stride < 0 { (reach, field + 16) } else { (0, reach) }
        } else {
            (0, (avl * field).min(elements * 8).max(8 * u64::from(vlen)) + 16)
        }
    });
    let mut shift = rng.random_range(0..256);
    if masked && matches!(op, Op::VfredusumVs | Op::VfwredusumVs) {
        // With no active element an unordered sum may copy vs1[0] or canonicalise it: see to it that one is.
        let active = |shift: u32| (0..avl).any(|i| mask_bit(filling, shift, i));
        while avl > 0 && !active(shift) {
            shift = (shift + 1) % 256;
        }
    }
    Case {
        inst,
        vtype,
        avl,
        vstart,
        filling,
        shift,
        indices: indexed.then_some(eew),
        scalars,
        // The five rounding modes, and now and then a reserved one.
        fcsr: if rng.random_ratio(1, 24) { rng.random_range(5..8) } else { rng.random_range(0..5) } << 5,
        vxrm: rng.random_range(0..4),
        misalign,
        window,
    }
}

/// Where the manual and Spike part ways over `vstart`, or the manual leaves a choice, the matrix cannot
/// judge: those cases (see DIFFERENCES.md) are left to the rule tests, and a nearby `vstart` is taken.
fn answerable_vstart(op: Op, vtype: Vtype, vlen: u32, avl: u64, vstart: u64) -> u64 {
    let shape = op.shape();
    let evl = match shape.vd {
        // "Reserved if vstart >= evl"; Spike does nothing. Moves of whole registers count elements of SEW.
        Eew::Registers(n) => {
            let eew = shape.memory.map_or(vtype.sew, |m| m.eew);
            u64::from(n) * u64::from(vlen) / u64::from(eew.bits())
        }
        // Element 0 is prestart when vstart is between 0 and vl; Spike writes it all the same. It also runs
        // the instruction with a vstart past the last element, which is reserved.
        Eew::Element0 if !shape.is_reduction() => {
            let past_vl = avl.max(1) < u64::from(vtype.vlmax(vlen));
            return if vstart > 0 && past_vl { avl.max(1) } else { 0 };
        }
        _ => return vstart,
    };
    vstart.min(evl - 1)
}

/// Indices for memory are below this.
pub const INDEX_LIMIT: u64 = 2048;

/// The width that strides are made of: the EEW in the encoding. Where there is none it does not matter; the
/// recorded cases have SEW there, and for vs8r.v 8.
fn stride_eew(shape: &Shape, sew: Sew) -> Sew {
    match (shape.memory, shape.vd) {
        (None, _) | (_, Eew::Mask) => sew,
        (Some(memory), Eew::Registers(n)) if memory.store => Sew::from_bits(n.into()).unwrap_or(sew),
        (Some(memory), _) => memory.eew,
    }
}

/// The width of the indices of a gather.
fn gathers_by(op: Op, sew: Sew) -> Option<Sew> {
    match op {
        Op::VrgatherVv | Op::VrgatherVx | Op::VrgatherVi => Some(sew),
        Op::Vrgatherei16Vv => Some(Sew::E16),
        _ => None,
    }
}

fn immediate(op: Op, rng: &mut ChaCha8Rng) -> i32 {
    // The encoder says which immediates exist; simm5, zimm5 and zimm6 differ.
    let wide = Inst { imm: 63, ..Inst::new(op) };
    if rvv_isa::encode(&wide).is_ok() {
        return rng.random_range(0..64);
    }
    let signed = Inst { imm: -1, ..Inst::new(op) };
    if rvv_isa::encode(&signed).is_ok() { rng.random_range(-16..16) } else { rng.random_range(0..32) }
}

fn stride(eew: Sew, nf: u8, rng: &mut ChaCha8Rng) -> i64 {
    let element = i64::from(eew.bytes()) * i64::from(nf + 1);
    *[element, 0, -element, element + i64::from(eew.bytes()), -2 * element, 3].choose(rng).expect("not empty")
}

fn scalar_integer(sew: Sew, avl: u64, vlen: u32, rng: &mut ChaCha8Rng) -> u64 {
    match rng.random_range(0..6) {
        0 => *INTEGERS.choose(rng).expect("not empty"),
        1 => rng.random_range(0..avl + 2),
        2 => rng.random_range(0..u64::from(vlen) + 2),
        3 => 1 << rng.random_range(0..sew.bits()),
        4 => avl.wrapping_sub(1),
        _ => rng.random(),
    }
}

fn scalar_float(sew: Sew, rng: &mut ChaCha8Rng) -> u64 {
    let format = format(sew.max_float());
    let width = 1 + format.exponent + format.fraction;
    let value = format.random(rng);
    // Now and then a value that is not NaN-boxed.
    let boxed = if width == 64 || rng.random_ratio(1, 8) { 0 } else { u64::MAX << width };
    boxed | value
}

/// The format of this width.
pub fn format(sew: Sew) -> Format {
    match sew {
        Sew::E8 | Sew::E16 => Format::H,
        Sew::E32 => Format::S,
        Sew::E64 => Format::D,
    }
}

/// Widths that floats have.
trait MaxFloat {
    fn max_float(self) -> Sew;
}

impl MaxFloat for Sew {
    fn max_float(self) -> Sew {
        if self == Sew::E8 { Sew::E16 } else { self }
    }
}
