//! The aliases that disassemblers prefer.

use crate::inst::Inst;

/// The alias and its operands, if there is one.
pub(crate) fn alias(_inst: &Inst, _pc: u64) -> Option<String> {
    None
}
