//! The disassembler, in the syntax of GNU objdump.

use crate::csr;
use crate::inst::Inst;
use crate::operand::{Field, Operand, RegFile, Show};
use crate::pseudo;
use crate::reg::{FReg, VReg, XReg};
use crate::vtype::Vtype;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DisasmOptions {
    /// Prefer aliases, such as `ret`, and print a compressed instruction as what it expands to: what objdump
    /// does without `-M no-aliases`.
    pub pseudo: bool,
}

impl Inst {
    /// The instruction as text, the mnemonic and operands with a tab between, at address `pc`.
    pub fn disasm(&self, pc: u64, options: DisasmOptions) -> String {
        let (inst, alias) = match options.pseudo {
            true => (pseudo::expand(self), pseudo::alias(&pseudo::expand(self))),
            false => (*self, None),
        };
        let (name, template) = match alias {
            Some((name, template)) => (name.to_owned(), template),
            None => (inst.mnemonic(), inst.op.info().asm),
        };
        match inst.operands_text(template, pc) {
            operands if operands.is_empty() => name,
            operands => format!("{name}\t{operands}"),
        }
    }

    /// The name with what the operands add to it.
    fn mnemonic(&self) -> String {
        let name = self.op.name();
        let has = |operand| self.op.info().operands.contains(&operand);
        match name.strip_suffix('N') {
            Some(stem) => format!("{stem}{}", self.imm),
            None if has(Operand::Nf) && self.nf > 0 => segment_name(name, self.nf + 1),
            None => match (self.aq, self.rl) {
                (true, true) => format!("{name}.aqrl"),
                (true, false) => format!("{name}.aq"),
                (false, true) => format!("{name}.rl"),
                (false, false) => name.to_owned(),
            },
        }
    }

    /// The operands in the order of a template, then rounding mode and mask.
    ///
    /// A template names fields; other text is copied. A field with a question mark is left out
    /// if zero.
    fn operands_text(&self, template: &str, pc: u64) -> String {
        let mut text = String::new();
        for piece in template.split_inclusive([',', '(', ')']) {
            let token = piece.trim_end_matches([',', '(', ')']);
            let (name, optional) = token.strip_suffix('?').map_or((token, false), |name| (name, true));
            match Field::from_name(name) {
                Some(field) if optional && self.get(field) == 0 => {}
                Some(field) => text += &self.field_text(field, pc),
                None => text += token,
            }
            text += &piece[token.len()..];
        }
        for operand in self.op.info().operands {
            match (operand, self.rm) {
                (Operand::Rm, 7) | (Operand::RmExact, 0) => {}
                (Operand::Rm | Operand::RmExact, rm) => {
                    text += [",rne", ",rtz", ",rdn", ",rup", ",rmm", ",?", ",?", ",dyn"][usize::from(rm & 7)];
                }
                (Operand::Vm, _) if !self.vm => text += ",v0.t",
                _ => {}
            }
        }
        text
    }

    fn field_text(&self, field: Field, pc: u64) -> String {
        let value = self.get(field);
        let mut operands = self.op.info().operands.iter();
        let Some(operand) = operands.find(|operand| operand.fields().contains(&field)) else {
            // Not in the encoding but in its meaning, as the sp of c.lwsp.
            return XReg(value as u8).to_string();
        };
        match operand.reg_file() {
            Some(RegFile::X) => return XReg(value as u8).to_string(),
            Some(RegFile::F) => return FReg(value as u8).to_string(),
            Some(RegFile::V) => return VReg(value as u8).to_string(),
            None => {}
        }
        match operand.show() {
            Show::Decimal => value.to_string(),
            Show::Hex => format!("{value:#x}"),
            Show::Upper => format!("{:#x}", value as u32 >> 12),
            Show::Target => format!("{:#x}", pc.wrapping_add_signed(value.into())),
            Show::Csr => csr::name(value as u16).map_or_else(|| format!("{value:#x}"), str::to_owned),
            Show::Vtype => match Vtype::from_bits(value as u64) {
                vtype if vtype.vill => value.to_string(),
                vtype => vtype.to_string(),
            },
            Show::Fence => format!("{},{}", fence_set(value >> 4), fence_set(value)),
            Show::Fli => FLI[value as usize & 31].to_owned(),
        }
    }
}

/// `vle32ff.v` of three fields is `vlseg3e32ff.v`, `vlse32.v` is `vlsseg3e32.v`, `vluxei32.v` is
/// `vluxseg3ei32.v`.
fn segment_name(name: &str, fields: u8) -> String {
    let (stem, width) = name.split_at(name.find('e').unwrap_or(0));
    format!("{stem}seg{fields}{width}")
}

fn fence_set(bits: i32) -> String {
    let set: String =
        "iorw".chars().zip([8, 4, 2, 1]).filter(|(_, bit)| bits & bit != 0).map(|(c, _)| c).collect();
    if set.is_empty() { "unknown".to_owned() } else { set }
}

/// The constants of `fli`.
const FLI: [&str; 32] = [
    "-0x1p+0", "min", "0x1p-16", "0x1p-15", "0x1p-8", "0x1p-7", "0x1p-4", "0x1p-3", "0x1p-2", "0x1.4p-2",
    "0x1.8p-2", "0x1.cp-2", "0x1p-1", "0x1.4p-1", "0x1.8p-1", "0x1.cp-1", "0x1p+0", "0x1.4p+0", "0x1.8p+0",
    "0x1.cp+0", "0x1p+1", "0x1.4p+1", "0x1.8p+1", "0x1p+2", "0x1p+3", "0x1p+4", "0x1p+7", "0x1p+8",
    "0x1p+15", "0x1p+16", "inf", "nan",
];
