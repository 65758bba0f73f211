//! The operands of encodings.

include!(concat!(env!("OUT_DIR"), "/operands.rs"));

/// A field of [`Inst`](crate::Inst).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Field {
    /// Destination, or the data of a vector store.
    Rd,
    /// First source.
    Rs1,
    /// Second source.
    Rs2,
    /// Third source.
    Rs3,
    /// Rounding mode.
    Rm,
    /// Segment fields less one.
    Nf,
    /// Mask bit.
    Vm,
    /// Acquire.
    Aq,
    /// Release.
    Rl,
    /// Immediate.
    Imm,
}

impl Field {
    /// The field of this name, if it is one that assembly shows on its own.
    pub(crate) fn from_name(name: &str) -> Option<Field> {
        Some(match name {
            "rd" => Field::Rd,
            "rs1" => Field::Rs1,
            "rs2" => Field::Rs2,
            "rs3" => Field::Rs3,
            "imm" => Field::Imm,
            _ => return None,
        })
    }
}

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegFile {
    /// Integer registers.
    X,
    /// Floating-point registers.
    F,
    /// Vector registers.
    V,
}

/// How an immediate is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Show {
    Decimal,
    Hex,
    /// Bits 31 to 12, in hexadecimal.
    Upper,
    /// An address relative to the instruction's.
    Target,
    Csr,
    Vtype,
    Fence,
    /// An index of the constants of `fli`.
    Fli,
}

struct OperandInfo {
    name: &'static str,
    official: &'static str,
    fields: &'static [Field],
    file: Option<RegFile>,
    show: Show,
}

impl Operand {
    fn info(self) -> &'static OperandInfo {
        &OPERANDS[self as usize]
    }

    /// The name in `isa/operands.toml`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The name that the official list of encodings uses.
    pub fn official_name(self) -> &'static str {
        self.info().official
    }

    /// The field that holds it, or the fields, if it is both `rd` and `rs1`.
    pub fn fields(self) -> &'static [Field] {
        self.info().fields
    }

    /// The register file it names a register of.
    pub fn reg_file(self) -> Option<RegFile> {
        self.info().file
    }

    pub(crate) fn show(self) -> Show {
        self.info().show
    }
}
