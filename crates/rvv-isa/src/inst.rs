//! A decoded instruction; from words and to words.

use crate::formats::{extract, insert};
use crate::isa::Isa;
use crate::op::{Op, OpInfo};
use crate::operand::{Field, Operand};

include!(concat!(env!("OUT_DIR"), "/decoder.rs"));

/// A decoded instruction. Fields that the instruction does not have are zero, `vm` true.
///
/// A compressed instruction has the fields of what it expands to, so `op.base()` can be run on them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// The instruction.
    pub op: Op,
    /// Its length in bytes: 2 or 4.
    pub len: u8,
    /// `rd`, `vd`, and the data register `vs3` of vector stores.
    pub rd: u8,
    /// `rs1` or `vs1`; the immediate of `csrrwi` and its kin, the AVL of `vsetivli`, the constant of `fli`.
    pub rs1: u8,
    /// `rs2` or `vs2`.
    pub rs2: u8,
    /// `rs3` of fused multiply-adds.
    pub rs3: u8,
    /// Rounding mode; never one of the two reserved ones.
    pub rm: u8,
    /// Fields of a segment, or registers of a whole-register access, less one.
    pub nf: u8,
    /// The mask bit of a vector instruction: false if v0 is read as a mask (or as a carry or a selector).
    pub vm: bool,
    /// Acquire.
    pub aq: bool,
    /// Release.
    pub rl: bool,
    /// The immediate, sign-extended and scaled; shift amount, csr number, `vtype` of `vsetvli`, fm, pred and
    /// succ of a fence (4 bits each), number of a may-be-operation.
    pub imm: i32,
    /// The word; its low half, if compressed.
    pub raw: u32,
}

/// Why an [`Inst`] is not an encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    /// The field does not fit its operand.
    #[error("{}: {} = {value} does not fit", .op.name(), .operand.name())]
    OutOfRange {
        /// The instruction.
        op: Op,
        /// The operand, one of those that share the field.
        operand: Operand,
        /// What the field held.
        value: i32,
    },
    /// The value fits but the encoding is reserved, or another instruction's.
    #[error("{}: {} is reserved with this value", .op.name(), .operand.name())]
    Reserved {
        /// The instruction.
        op: Op,
        /// The operand.
        operand: Operand,
    },
}

impl Inst {
    /// The instruction with its operands zero and no mask, and the fields that are not operands as they
    /// decode.
    pub fn new(op: Op) -> Inst {
        let OpInfo { fixed, match_, .. } = op.info();
        Inst {
            op,
            len: if op.is_compressed() { 2 } else { 4 },
            rd: fixed.rd,
            rs1: fixed.rs1,
            rs2: fixed.rs2,
            rs3: 0,
            rm: 0,
            nf: fixed.nf,
            vm: fixed.vm,
            aq: false,
            rl: false,
            imm: fixed.imm,
            raw: *match_,
        }
    }

    /// The value of a field.
    pub fn get(&self, field: Field) -> i32 {
        match field {
            Field::Rd => self.rd.into(),
            Field::Rs1 => self.rs1.into(),
            Field::Rs2 => self.rs2.into(),
            Field::Rs3 => self.rs3.into(),
            Field::Rm => self.rm.into(),
            Field::Nf => self.nf.into(),
            Field::Vm => self.vm.into(),
            Field::Aq => self.aq.into(),
            Field::Rl => self.rl.into(),
            Field::Imm => self.imm,
        }
    }
}

/// The candidates for a word, most specific first.
fn candidates(word: u32) -> &'static [Op] {
    let list = if word & 3 == 3 {
        let page = TOP[(word >> 2 & 31) as usize * 8 + (word >> 12 & 7) as usize];
        PAGES[page as usize][(word >> 26) as usize]
    } else {
        COMPRESSED[(word & 3) as usize * 8 + (word >> 13 & 7) as usize]
    } as usize;
    &LISTS[LIST_STARTS[list] as usize..LIST_STARTS[list + 1] as usize]
}

fn decode_among(word: u32, enabled: impl Fn(&OpInfo) -> bool) -> Option<Inst> {
    let word = if word & 3 == 3 { word } else { word & 0xffff };
    // A row that does not take the word, for want of its extension or because an operand is reserved there,
    // leaves it to the row it refines: `pause` is a fence to those who do not know it.
    candidates(word).iter().find_map(|&op| {
        let info = op.info();
        if word & info.mask != info.match_ || !enabled(info) {
            return None;
        }
        let mut inst = Inst { raw: word, ..Inst::new(op) };
        extract(info.format, word, &mut inst).ok().map(|()| inst)
    })
}

/// Decodes a word with every extension there is.
///
/// If the low two bits are not both set, it is a 16-bit instruction and the upper half is ignored.
pub fn decode(word: u32) -> Option<Inst> {
    decode_among(word, |_| true)
}

impl Isa {
    /// Decodes a word with the extensions of this instruction set.
    pub fn decode(&self, word: u32) -> Option<Inst> {
        decode_among(word, |info| self.allows(info.requires))
    }
}

/// Encodes an instruction from its operation and operands. `len`, `raw` and fields that are no operands of
/// the encoding are ignored.
pub fn encode(inst: &Inst) -> Result<u32, EncodeError> {
    let op = inst.op;
    let info = op.info();
    let word = info.match_ | insert(info.format, inst);
    let mut back = Inst::new(op);
    extract(info.format, word, &mut back).map_err(|operand| EncodeError::Reserved { op, operand })?;
    for &operand in info.operands {
        for field in operand.fields() {
            if back.get(*field) != inst.get(*field) {
                return Err(EncodeError::OutOfRange { op, operand, value: inst.get(*field) });
            }
        }
    }
    Ok(word)
}
