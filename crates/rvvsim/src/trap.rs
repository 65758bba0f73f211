//! Synchronous exceptions, as instructions raise them.

use crate::Hart;
use crate::vector::{self, VillOrigin};

/// Exception causes, numbered as `mcause` numbers them (privileged manual, table "mcause values").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// Jump to an address that is not a multiple of IALIGN.
    InstructionAddressMisaligned = 0,
    /// Fetch denied by PMP or from where there is no memory.
    InstructionAccessFault = 1,
    /// Illegal or reserved instruction, or one not permitted in this mode.
    IllegalInstruction = 2,
    /// `ebreak`.
    Breakpoint = 3,
    /// Load that had to be aligned and was not.
    LoadAddressMisaligned = 4,
    /// Load denied by PMP or from where there is no memory.
    LoadAccessFault = 5,
    /// Store or AMO that had to be aligned and was not.
    StoreAddressMisaligned = 6,
    /// Store or AMO denied by PMP or to where there is no memory.
    StoreAccessFault = 7,
    /// `ecall` from U-mode; in Linux user mode, a system call.
    EcallFromU = 8,
    /// `ecall` from S-mode.
    EcallFromS = 9,
    /// `ecall` from M-mode.
    EcallFromM = 11,
    /// Fetch from a page that is not mapped executable.
    InstructionPageFault = 12,
    /// Load from a page that is not mapped readable.
    LoadPageFault = 13,
    /// Store or AMO to a page that is not mapped writable.
    StorePageFault = 15,
}

/// Why an instruction did not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trap {
    /// What `mcause` or `scause` will read.
    pub cause: Cause,
    /// What `mtval` or `stval` will read.
    pub tval: u64,
    /// The rule that was broken, in words, for people. Where the manual gives the sentence an id, it
    /// starts with it: `norm:vreg_source_eew_rsv: ...`.
    pub why: &'static str,
}

/// The reason of an instruction whose extension [`Config::isa`](crate::Config::isa) does not name.
pub(crate) const MISSING_EXTENSION: &str = "an instruction of an extension that this machine does not have";

/// The result of executing (part of) an instruction.
pub type Exec<T = ()> = Result<T, Trap>;

impl Trap {
    /// A trap with its reason.
    #[must_use]
    pub fn new(cause: Cause, tval: u64, why: &'static str) -> Self {
        Trap { cause, tval, why }
    }

    /// Whether it is one that a machine with [`Config::lenient`](crate::Config::lenient) does not raise.
    #[must_use]
    pub fn is_lenience(&self) -> bool {
        [vector::TWO_EEWS, vector::VSTART].contains(&self.why)
    }

    /// Whether it is of an instruction whose extension [`Config::isa`](crate::Config::isa) does not name.
    #[must_use]
    pub fn is_missing_extension(&self) -> bool {
        self.why == MISSING_EXTENSION
    }

    /// Whether a process has used up [`Config::mem`](crate::Config::mem).
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.why == crate::linux::OUT_OF_MEMORY
    }

    /// What set `vill`, if that is the reason of the trap that `hart` has just raised; `Some(None)` if
    /// nothing did since the reset.
    #[must_use]
    pub fn vill_origin(&self, hart: &Hart) -> Option<Option<VillOrigin>> {
        (self.why == vector::VILL).then_some(hart.v.vill_origin)
    }

    /// An illegal instruction; `bits` is the instruction word, which becomes `tval`.
    #[must_use]
    pub fn illegal(bits: u32, why: &'static str) -> Self {
        Trap { cause: Cause::IllegalInstruction, tval: u64::from(bits), why }
    }
}
