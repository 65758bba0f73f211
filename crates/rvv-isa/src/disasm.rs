//! The disassembler, in the syntax of GNU objdump.

use crate::csr;
use crate::inst::Inst;
use crate::op::{Class, Op};
use crate::operand::{Field, Operand, RegFile, Show};
use crate::pseudo;
use crate::reg::{FReg, VReg, XReg};
use crate::vtype::Vtype;
use std::fmt::Write;

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DisasmOptions {
    /// Prefer aliases, such as `ret`, and plain names for compressed instructions, as objdump does unless told
    /// `-M no-aliases`.
    pub pseudo: bool,
}

impl Inst {
    /// The instruction as text, the mnemonic and operands with a tab between, as it stands at address `pc`.
    pub fn disasm(&self, pc: u64, options: DisasmOptions) -> String {
        if options.pseudo
            && let Some(text) = pseudo::alias(self, pc)
        {
            return text;
        }
        let mut text = self.mnemonic();
        let operands = self.operands_text(self.op.info().asm, pc);
        if !operands.is_empty() {
            let _ = write!(text, "\t{operands}");
        }
        text
    }

    fn mnemonic(&self) -> String {
        let name = self.op.name();
        if let Some(stem) = name.strip_suffix('N') {
            return format!("{stem}{}", self.imm);
        }
        match (self.aq, self.rl) {
            (true, true) => return format!("{name}.aqrl"),
            (true, false) => return format!("{name}.aq"),
            (false, true) => return format!("{name}.rl"),
            (false, false) => {}
        }
        if self.nf > 0 && self.op.info().operands.contains(&Operand::Nf) {
            return segment_name(name, self.nf + 1);
        }
        name.to_owned()
    }

    /// The operands in the order of a template: fields by name, the rest as it stands.
    pub(crate) fn operands_text(&self, template: &str, pc: u64) -> String {
        let mut text = String::new();
        let mut rest = template.trim_start();
        while !rest.is_empty() {
            let end = rest.find([',', '(', ')']).unwrap_or(rest.len());
            let (token, tail) = rest.split_at(end);
            match token {
                "rd" => text += &self.field_text(Field::Rd, pc),
                "rs1" => text += &self.field_text(Field::Rs1, pc),
                "rs2" => text += &self.field_text(Field::Rs2, pc),
                "rs3" => text += &self.field_text(Field::Rs3, pc),
                "imm" => text += &self.field_text(Field::Imm, pc),
                other => text += other,
            }
            let after = tail.len().min(1);
            text += &tail[..after];
            rest = &tail[after..];
        }
        let operands = self.op.info().operands;
        if operands.contains(&Operand::Rm) && self.rm != 7 {
            text += [",rne", ",rtz", ",rdn", ",rup", ",rmm"].get(usize::from(self.rm)).unwrap_or(&",unknown");
        }
        if operands.contains(&Operand::Vm) && !self.vm {
            text += ",v0.t";
        }
        text
    }

    fn field_text(&self, field: Field, pc: u64) -> String {
        let value = self.get(field);
        let operand = self.op.info().operands.iter().find(|operand| operand.fields().contains(&field));
        let Some(&operand) = operand else {
            // Not in the encoding, as the sp of c.lwsp.
            return if field == Field::Imm { value.to_string() } else { XReg(value as u8).to_string() };
        };
        match operand.reg_file() {
            Some(RegFile::X) => return XReg(value as u8).to_string(),
            Some(RegFile::F) => return FReg(value as u8).to_string(),
            Some(RegFile::V) => return VReg(value as u8).to_string(),
            None if operand == Operand::FliIndex => return fli_constant(self.op, value as usize).to_owned(),
            None => {}
        }
        match operand.show() {
            Show::Decimal => value.to_string(),
            Show::Hex => format!("{value:#x}"),
            Show::Upper => format!("{:#x}", value as u32 >> 12),
            Show::Target => format!("{:#x}", pc.wrapping_add(value as i64 as u64)),
            Show::Csr => csr::name(value as u16).map_or_else(|| format!("{value:#x}"), str::to_owned),
            Show::Vtype => match Vtype::from_bits(value as u64) {
                vtype if vtype.vill => value.to_string(),
                vtype => vtype.to_string(),
            },
            Show::Fence => format!("{},{}", fence_set(value >> 4), fence_set(value)),
        }
    }
}

/// `vle32ff.v` of three fields is `vlseg3e32ff.v`; of `vlse32.v` it is `vlsseg3e32.v`, of `vluxei32.v` it is
/// `vluxseg3ei32.v`.
fn segment_name(name: &str, fields: u8) -> String {
    let at = name.find('e').unwrap_or(name.len());
    // Of a unit-stride store the `s` before the `e` is its own; of a strided access there is one more.
    let (stem, width) = name.split_at(at);
    format!("{stem}seg{fields}{width}")
}

fn fence_set(bits: i32) -> String {
    let set: String =
        "iorw".chars().enumerate().filter(|(i, _)| bits >> (3 - i) & 1 == 1).map(|(_, c)| c).collect();
    if set.is_empty() { "unknown".to_owned() } else { set }
}

/// The constants of `fli`, as assemblers write them.
fn fli_constant(op: Op, index: usize) -> &'static str {
    debug_assert_eq!(op.class(), Class::Float);
    const CONSTANTS: [&str; 32] = [
        "-1.0",
        "min",
        "1.52587890625e-05",
        "3.0517578125e-05",
        "0.00390625",
        "0.0078125",
        "0.0625",
        "0.125",
        "0.25",
        "0.3125",
        "0.375",
        "0.4375",
        "0.5",
        "0.625",
        "0.75",
        "0.875",
        "1.0",
        "1.25",
        "1.5",
        "1.75",
        "2.0",
        "2.5",
        "3.0",
        "4.0",
        "8.0",
        "16.0",
        "128.0",
        "256.0",
        "32768.0",
        "65536.0",
        "inf",
        "nan",
    ];
    CONSTANTS[index & 31]
}
