//! What the table says of an instruction.

use crate::isa::{ExtSet, Requires};
use crate::operand::{Operand, RegFile};
use crate::shape::{Access, FloatFormat, SHAPES, Shape};

include!(concat!(env!("OUT_DIR"), "/ops.rs"));

/// A kind of instruction, for statistics.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Class {
    /// Integer computation.
    Integer,
    /// Integer multiplication and division.
    Multiply,
    /// Bit manipulation and carry-less multiplication.
    BitManip,
    /// Scalar cryptography.
    Crypto,
    /// Loads, of floating-point registers too.
    Load,
    /// Stores, of floating-point registers too.
    Store,
    /// Conditional branches.
    Branch,
    /// Unconditional jumps.
    Jump,
    /// Atomic memory operations and reservations.
    Atomic,
    /// Scalar floating point.
    Float,
    /// Reads and writes of control and status registers.
    Csr,
    /// Fences, environment calls and privileged instructions.
    System,
    /// Instructions that do nothing but hint.
    Hint,
    /// `vsetvli` and its kin.
    VectorConfig,
    /// Vector loads.
    VectorLoad,
    /// Vector stores.
    VectorStore,
    /// Vector integer arithmetic.
    VectorInteger,
    /// Vector fixed-point arithmetic.
    VectorFixed,
    /// Vector floating point.
    VectorFloat,
    /// Vector reductions, integer and floating point.
    VectorReduction,
    /// Instructions on mask registers.
    VectorMask,
    /// Slides, gathers, compress and moves between elements and scalars.
    VectorPermute,
    /// Vector bit manipulation and cryptography.
    VectorCrypto,
}

impl Class {
    /// All of them, in order.
    pub const ALL: [Class; 23] = [
        Class::Integer,
        Class::Multiply,
        Class::BitManip,
        Class::Crypto,
        Class::Load,
        Class::Store,
        Class::Branch,
        Class::Jump,
        Class::Atomic,
        Class::Float,
        Class::Csr,
        Class::System,
        Class::Hint,
        Class::VectorConfig,
        Class::VectorLoad,
        Class::VectorStore,
        Class::VectorInteger,
        Class::VectorFixed,
        Class::VectorFloat,
        Class::VectorReduction,
        Class::VectorMask,
        Class::VectorPermute,
        Class::VectorCrypto,
    ];
}

/// One row of the table.
#[derive(Debug)]
pub struct OpInfo {
    /// The mnemonic.
    pub name: &'static str,
    /// The bits of the word that tell this instruction from others.
    pub mask: u32,
    /// Their values.
    pub match_: u32,
    /// The operands that the other bits hold.
    pub operands: &'static [Operand],
    /// The extensions that bring the instruction.
    pub requires: Requires,
    /// Its kind.
    pub class: Class,
    /// The file of `isa/encodings/` it is in.
    pub extension: &'static str,
    /// See [`Op::base`].
    pub base: Op,
    /// The instruction whose encoding space this one takes its own from.
    pub refines: Option<Op>,
    /// Not a row of the official list, but a name that the manual gives to a part of one.
    pub unlisted: bool,
    /// What it needs of its vector operands; [`Shape::NONE`] if it has none.
    pub shape: &'static Shape,
    /// The memory that it accesses, if it is a scalar instruction.
    pub access: Access,
    /// The format of the floating-point sources of a scalar instruction that computes; none if its sources
    /// are integers.
    pub source: Option<FloatFormat>,
    /// The order of the operands in assembly, by field.
    pub(crate) asm: &'static str,
    pub(crate) format: u8,
    pub(crate) fixed: Fixed,
}

/// What the fields of an `Inst` are before its operands are filled in.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub imm: i32,
    pub vm: bool,
    pub nf: u8,
}

impl Op {
    /// How many there are; `op as usize` is below it.
    pub const COUNT: usize = ALL.len();

    /// All of them, in the order of the table.
    pub fn all() -> impl ExactSizeIterator<Item = Op> + Clone {
        ALL.iter().copied()
    }

    /// The instruction of this mnemonic, as the table spells it.
    pub fn from_name(name: &str) -> Option<Op> {
        BY_NAME.binary_search_by_key(&name, |&(name, _)| name).ok().map(|i| BY_NAME[i].1)
    }

    /// The row of the table.
    pub fn info(self) -> &'static OpInfo {
        &INFO[self as usize]
    }

    /// The mnemonic.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The 32-bit instruction that does what this one does with the same fields of [`Inst`](crate::Inst):
    /// what a compressed instruction expands to, what a hint is a case of. Itself, for the others.
    pub fn base(self) -> Op {
        self.info().base
    }

    /// Its kind.
    pub fn class(self) -> Class {
        self.info().class
    }

    /// What it needs of its vector operands.
    pub fn shape(self) -> &'static Shape {
        self.info().shape
    }

    /// Whether it reads or writes floating-point registers, or computes with floating-point numbers.
    pub fn is_float(self) -> bool {
        let in_f = |operand: &Operand| operand.reg_file() == Some(RegFile::F);
        self.shape().is_float() || self.base().info().operands.iter().any(in_f)
    }

    /// Whether it needs the vector unit.
    pub fn is_vector(self) -> bool {
        self.class() >= Class::VectorConfig
    }

    /// Whether it is a 16-bit instruction.
    pub fn is_compressed(self) -> bool {
        self.info().match_ & 3 != 3
    }
}
