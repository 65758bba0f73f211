//! The cases: for each scalar instruction, encodings and operands to run it on.
//!
//! A [`Group`] is one instruction word and a table of operands; [`crate::program`] turns groups into a
//! bare-metal ELF that runs the word on each row and writes down what happened. All of it follows from the
//! instruction table and a seed, so a golden recorded once stays good until the cases change.

mod encodings;
mod rows;

use rvv_asm::values::Format;
use rvv_isa::{Access, Class, Field, Inst, Op, RegFile};
use std::sync::Arc;

/// Operands of one run of an instruction; what each word is depends on the [`Shape`].
pub type Row = [u64; 4];

/// What surrounds the instruction in the program, and what is written down after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Registers in, a register out. Row: `rs1`, `rs2`, `rs3` and the old `rd`, `fcsr`.
    Compute,
    /// Row: offset of the address, filling of memory, old `rd`, nothing.
    Load,
    /// Row: offset of the address, filling of memory, data, nothing.
    Store,
    /// Row: `rs2`, old `rd`, memory, offset of the address.
    Atomic,
    /// `sc`. Row: `rs2`, which `lr` comes before it (none, one of this address, one of another), memory,
    /// offset of the address.
    StoreConditional,
    /// Row: `rs1`, the CSR before, old `rd`, nothing.
    Csr,
    /// Row: `rs1`, `rs2`.
    Branch,
    /// Row: what is added to the target of an indirect jump.
    Jump,
    /// `mret` and `sret`. Row: the mode to return to.
    Return,
    /// Cache-block operations. Row: offset of the address, filling of memory.
    CacheBlock,
}

impl Shape {
    /// The shape of an instruction's tests.
    #[must_use]
    pub fn of(op: Op) -> Shape {
        match op.class() {
            // A prefetch only hints.
            Class::System | Class::Store if op.info().access == Access::CacheBlock => Shape::CacheBlock,
            _ if matches!(op, Op::Mret | Op::Sret) => Shape::Return,
            _ if matches!(op, Op::ScW | Op::ScD) => Shape::StoreConditional,
            Class::Load => Shape::Load,
            Class::Store => Shape::Store,
            Class::Atomic => Shape::Atomic,
            Class::Csr => Shape::Csr,
            Class::Branch => Shape::Branch,
            Class::Jump => Shape::Jump,
            _ => Shape::Compute,
        }
    }

    /// Words of result per row: the value, the status (see [`crate::program`]), `mtval`, and more.
    #[must_use]
    pub fn results(self) -> usize {
        match self {
            Shape::Compute | Shape::Load | Shape::Branch | Shape::Jump | Shape::Return => 3,
            Shape::Csr => 4,
            Shape::Store | Shape::Atomic | Shape::StoreConditional => 12,
            Shape::CacheBlock => 19,
        }
    }
}

/// One instruction word and the rows to run it on.
#[derive(Clone, Debug)]
pub struct Group {
    /// The instruction; its `raw` is the word to run, which for a reserved rounding mode is not what the
    /// other fields encode.
    pub inst: Inst,
    /// See [`Shape`].
    pub shape: Shape,
    /// The operands.
    pub rows: Arc<[Row]>,
}

impl Group {
    /// The registers of the instruction, by field and file; if compressed, of what it expands to.
    pub fn registers(&self) -> impl Iterator<Item = (Field, RegFile)> {
        registers(self.inst.op)
    }
}

/// The register operands of an instruction, by field and file; if compressed, of what it expands to.
pub fn registers(op: Op) -> impl Iterator<Item = (Field, RegFile)> {
    let operands = op.base().info().operands.iter();
    operands
        .filter_map(|o| o.reg_file().map(|file| (o, file)))
        .flat_map(|(o, file)| o.fields().iter().map(move |&field| (field, file)))
}

/// How many rows to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Density {
    /// As many as fit the recorded goldens.
    Golden,
    /// Many times that, for a judge that runs in process.
    Full,
}

/// The extensions that have cases: the files of `isa/encodings/` with scalar instructions, in order.
#[must_use]
pub fn extensions() -> Vec<&'static str> {
    let mut out: Vec<&str> = Vec::new();
    for op in Op::all().filter(|op| !op.is_vector()) {
        let extension = op.info().extension;
        if !out.contains(&extension) {
            out.push(extension);
        }
    }
    out
}

/// The scalar instructions of an extension.
pub fn ops(extension: &str) -> impl Iterator<Item = Op> {
    Op::all().filter(move |op| !op.is_vector() && op.info().extension == extension)
}

/// All groups of an instruction.
#[must_use]
pub fn groups(op: Op, density: Density) -> Vec<Group> {
    let shape = Shape::of(op);
    let mut tables = rows::Tables::new(op, shape, density);
    encodings::of(op)
        .into_iter()
        .map(|(inst, weight)| Group { inst, shape, rows: tables.rows(&inst, weight) })
        .collect()
}

/// The format of an instruction's floating-point sources: the last part of its name.
fn source_format(op: Op) -> Option<Format> {
    match op.base().name().rsplit('.').next() {
        Some("h") => Some(Format::H),
        Some("s") => Some(Format::S),
        Some("d") => Some(Format::D),
        Some("bf16") => Some(Format::BF16),
        // fmv.x.w
        Some("w") => Some(Format::S),
        _ => None,
    }
}
