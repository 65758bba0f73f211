//! Operand shapes: how wide the operands of a vector instruction are, which of them it reads and writes, and
//! what it asks of `vtype` and of its register numbers.
//!
//! The table says it (`isa/shapes.toml`, and the keys of the rows in `isa/encodings/`); see
//! [`OpInfo::shape`].
//!
//! [`OpInfo::shape`]: crate::OpInfo::shape

use crate::inst::Inst;
use crate::isa::{Ext, ExtSet, Isa, Requires};
use crate::vtype::Sew;

/// The width of a vector operand's elements, and with it the size of its register group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Eew {
    /// There is no such operand, or it is a scalar register.
    Absent,
    /// EEW=SEW, EMUL=LMUL.
    Sew,
    /// EEW=2*SEW, EMUL=2*LMUL.
    Wide,
    /// EEW=SEW/n, EMUL=LMUL/n; n is 2 to this power.
    Fraction(u8),
    /// This EEW, EMUL=(EEW/SEW)*LMUL.
    Of(Sew),
    /// A mask register: EEW=1, one register.
    Mask,
    /// Element 0 of a register, EEW=SEW.
    Element0,
    /// Element 0 of a register, EEW=2*SEW.
    WideElement0,
    /// A scalar element group, EEW=SEW.
    ElementGroup0,
    /// So many whole registers, EEW=8: moved without looking at `vtype`.
    Registers(u8),
}

impl Eew {
    /// Whether the elements have 2*SEW bits.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        matches!(self, Eew::Wide | Eew::WideElement0)
    }

    /// Whether it is element 0 alone.
    #[must_use]
    pub const fn is_element0(self) -> bool {
        matches!(self, Eew::Element0 | Eew::WideElement0)
    }
}

/// Which operands are floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Float {
    /// None.
    No,
    /// The elements of SEW.
    Sew,
    /// The elements of 2*SEW.
    Wide,
    /// The elements of SEW and of 2*SEW.
    Both,
    /// As `Both`, and binary16 is there with Zvfhmin already.
    Convert,
    /// Elements of SEW=16 are bf16, elements of 2*SEW binary32.
    Bf16,
}

/// The operand in the place of `vs1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// Nothing: `vs1` itself, or there is one source only. (The address of a load or store is no such
    /// operand.)
    Absent,
    /// `x[rs1]`.
    X,
    /// `f[rs1]`.
    F,
    /// The immediate.
    Immediate,
}

/// How a load or store finds its elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addressing {
    /// One after the other.
    UnitStride,
    /// One after the other; a fault past element 0 shortens `vl`.
    FaultOnlyFirst,
    /// `x[rs2]` bytes apart.
    Strided,
    /// At the byte offsets in `vs2`, in any order.
    IndexedUnordered,
    /// At the byte offsets in `vs2`, in element order.
    IndexedOrdered,
    /// The ⌈vl/8⌉ bytes of a mask.
    Mask,
    /// Whole registers, whatever `vl` is.
    WholeRegisters,
}

/// The memory side of a load or store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    /// How it finds its elements.
    pub addressing: Addressing,
    /// The EEW in the encoding: of the data, or of the indices.
    pub eew: Sew,
    /// To memory.
    pub store: bool,
}

impl Memory {
    /// Whether `vs2` holds byte offsets.
    #[must_use]
    pub const fn is_indexed(self) -> bool {
        matches!(self.addressing, Addressing::IndexedUnordered | Addressing::IndexedOrdered)
    }

    /// Whether it moves whole registers.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self.addressing, Addressing::WholeRegisters)
    }
}

/// What an instruction needs of its vector operands. A rule is the manual's id and what it says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The destination, or the data of a store.
    pub vd: Eew,
    /// The first source.
    pub vs2: Eew,
    /// The second source.
    pub vs1: Eew,
    /// The scalar in the place of `vs1`.
    pub scalar: Scalar,
    /// `vd` is a source as well.
    pub reads_vd: bool,
    /// `vm=0` says that v0 is a carry or a selector, and not that elements may be inactive.
    pub v0_is_operand: bool,
    /// Floating-point operands.
    pub float: Float,
    /// Of a load or store.
    pub memory: Option<Memory>,
    /// The element group size (EGS): 1, if it works on single elements.
    pub group: u8,
    /// The rule that keeps `vd` from overlapping `vs2`.
    pub apart_vs2: Option<&'static str>,
    /// The rule that keeps `vd` from overlapping `vs1`.
    pub apart_vs1: Option<&'static str>,
    /// The rule that keeps `vd` from being v0 where v0 is read.
    pub apart_v0: Option<&'static str>,
    /// The only element widths there are, and the rule that says so.
    pub only_sew: Option<(&'static [Sew], &'static str)>,
    /// The extension that brings SEW=64, where not all of those that bring the instruction do, and the rule.
    pub e64_needs: Option<(Ext, &'static str)>,
}

impl Shape {
    /// The shape of an instruction without vector operands.
    pub const NONE: Shape = Shape {
        vd: Eew::Absent,
        vs2: Eew::Absent,
        vs1: Eew::Absent,
        scalar: Scalar::Absent,
        reads_vd: false,
        v0_is_operand: false,
        float: Float::No,
        memory: None,
        group: 1,
        apart_vs2: None,
        apart_vs1: None,
        apart_v0: None,
        only_sew: None,
        e64_needs: None,
    };

    /// Whether some operand is a floating-point number.
    #[must_use]
    pub const fn is_float(&self) -> bool {
        !matches!(self.float, Float::No)
    }

    /// Whether `vd` is the data of a store, and no destination.
    #[must_use]
    pub const fn is_store(&self) -> bool {
        matches!(self.memory, Some(Memory { store: true, .. }))
    }

    /// Whether `vd` has 2*SEW bits and SEW is the width of a source.
    #[must_use]
    pub const fn is_widening(&self) -> bool {
        self.vd.is_wide()
    }

    /// Whether it folds the elements of `vs2` into element 0.
    #[must_use]
    pub const fn is_reduction(&self) -> bool {
        self.vd.is_element0() && self.vs1.is_element0()
    }

    /// Whether it does not look at `vtype`.
    #[must_use]
    pub const fn ignores_vtype(&self) -> bool {
        matches!(self.memory, Some(Memory { addressing: Addressing::WholeRegisters, .. }))
    }

    /// Whether the tail of the destination is agnostic whatever `vta` says: it is a mask.
    #[must_use]
    pub const fn tail_agnostic(&self) -> bool {
        matches!(self.vd, Eew::Mask)
    }

    /// The fields of a segment: `vd` is so many groups.
    #[must_use]
    pub const fn fields(&self, inst: &Inst) -> u8 {
        match self.memory {
            Some(memory) if !memory.is_whole() => inst.nf + 1,
            _ => 1,
        }
    }
}

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatFormat {
    /// binary16
    H,
    /// binary32
    S,
    /// binary64
    D,
    /// bfloat16
    Bf16,
}

/// The memory that a scalar instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// None.
    None,
    /// So many bytes.
    Bytes(u8),
    /// The cache block of an address.
    CacheBlock,
}

impl Isa {
    /// The largest element group of any instruction there is (EGSMAX), in elements; 1 if there are no groups.
    #[must_use]
    pub fn largest_group(&self) -> u8 {
        let groups = ELEMENT_GROUPS.iter().filter(|(requires, _)| self.allows(*requires));
        groups.map(|(_, size)| *size).max().unwrap_or(1)
    }

    /// The set without the extensions that bring instructions on element groups.
    #[must_use]
    pub fn without_groups(self) -> Isa {
        let sets = ELEMENT_GROUPS.iter().flat_map(|(requires, _)| requires.alternatives());
        sets.flat_map(|set| set.iter()).fold(self, Isa::without)
    }
}

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
