//! What gdb calls the registers of this machine: the numbers of gdb's own RISC-V support, and the description
//! that goes with them, made for the VLEN.

use gdbstub::arch::{Arch, RegId, Registers};
use rvv_isa::{Ext, csr};
use rvvsim::Hart;
use std::fmt::Write;
use std::num::NonZeroUsize;

/// RV64 with vector registers of any length.
pub enum Rv64 {}

impl Arch for Rv64 {
    type Usize = u64;
    type Registers = Base;
    type BreakpointKind = usize;
    type RegId = Register;
}

/// What one packet carries: `x0` to `x31` and `pc`. gdb asks for the others one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Base {
    pub x: [u64; 32],
    pub pc: u64,
}

impl Registers for Base {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.pc
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.x.iter().chain([&self.pc]).flat_map(|x| x.to_le_bytes()).for_each(|byte| write_byte(Some(byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        for x in self.x.iter_mut().chain([&mut self.pc]) {
            *x = words.next().ok_or(())?;
        }
        Ok(())
    }
}

/// A register by gdb's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    X(u8),
    Pc,
    F(u8),
    Csr(u16),
    V(u8),
}

const PC: usize = 32;
const F: usize = 33;
const CSR: usize = 65;
const LAST_CSR: usize = CSR + 4095;
/// Behind the last CSR comes `priv`.
const V: usize = LAST_CSR + 2;
const LAST_V: usize = V + 31;

impl RegId for Register {
    fn from_raw_id(id: usize) -> Option<(Register, Option<NonZeroUsize>)> {
        let register = match id {
            0..PC => Register::X(id as u8),
            PC => Register::Pc,
            F..CSR => Register::F((id - F) as u8),
            CSR..=LAST_CSR => Register::Csr((id - CSR) as u16),
            V..=LAST_V => Register::V((id - V) as u8),
            _ => return None,
        };
        let size = if matches!(register, Register::V(_)) { None } else { NonZeroUsize::new(8) };
        Some((register, size))
    }
}

/// The CSRs that gdb is told of: all that can be read; of a process, those that a process can read.
fn csrs(hart: &Hart, process: bool) -> impl Iterator<Item = (u16, &'static str)> {
    let seen = move |number: u16| !process || number >> 8 & 3 == 0;
    csr::all().filter(move |&(number, _)| seen(number) && hart.read_csr(number).is_some())
}

const FLOAT: [u16; 3] = [csr::FFLAGS, csr::FRM, csr::FCSR];

/// The description of the hart's registers, in gdb's XML.
pub fn description(hart: &Hart, process: bool) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv64</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">",
    );
    let mut reg = |number: usize, name: &str, bits: usize, rest: &str| {
        let _ = write!(xml, "<reg name=\"{name}\" bitsize=\"{bits}\" regnum=\"{number}\" {rest}/>");
    };
    for r in 0..32u8 {
        let kind = if matches!(r, 2 | 3 | 4 | 8) { "data_ptr" } else { "int" };
        reg(r.into(), rvv_isa::XReg(r).name(), 64, &format!("type=\"{kind}\""));
    }
    reg(PC, "pc", 64, "type=\"code_ptr\"");
    xml.push_str(
        "</feature><feature name=\"org.gnu.gdb.riscv.fpu\"><union id=\"riscv_double\">\
         <field name=\"float\" type=\"ieee_single\"/><field name=\"double\" type=\"ieee_double\"/></union>",
    );
    let mut reg = |number: usize, name: &str, bits: usize, rest: &str| {
        let _ = write!(xml, "<reg name=\"{name}\" bitsize=\"{bits}\" regnum=\"{number}\" {rest}/>");
    };
    for r in 0..32u8 {
        reg(F + usize::from(r), rvv_isa::FReg(r).name(), 64, "type=\"riscv_double\"");
    }
    for number in FLOAT {
        let name = csr::name(number).unwrap_or_default();
        reg(CSR + usize::from(number), name, 64, "type=\"int\" group=\"float\"");
    }
    xml.push_str("</feature><feature name=\"org.gnu.gdb.riscv.csr\">");
    for (number, name) in csrs(hart, process).filter(|(number, _)| !FLOAT.contains(number)) {
        let regnum = CSR + usize::from(number);
        let _ = write!(
            xml,
            "<reg name=\"{name}\" bitsize=\"64\" regnum=\"{regnum}\" type=\"int\" group=\"csr\"/>"
        );
    }
    xml.push_str("</feature>");
    if hart.config().isa.has(Ext::Zve32x) {
        vector_feature(&mut xml, 8 * hart.vector().vlenb);
    }
    xml.push_str("</target>");
    xml
}

/// `v0` to `v31`: a union of vectors of every width, by the names that QEMU's users know.
fn vector_feature(xml: &mut String, vlen: usize) {
    let views = [
        ("b", "bytes", "uint8", 8),
        ("s", "shorts", "uint16", 16),
        ("w", "words", "uint32", 32),
        ("l", "longs", "uint64", 64),
        ("q", "quads", "uint128", 128),
        ("h", "halves_float", "ieee_half", 16),
        ("f", "floats", "ieee_single", 32),
        ("d", "doubles", "ieee_double", 64),
    ];
    let views = || views.iter().filter(move |view| view.3 <= vlen);
    xml.push_str("<feature name=\"org.gnu.gdb.riscv.vector\">");
    for (_, id, kind, bits) in views() {
        let _ = write!(xml, "<vector id=\"{id}\" type=\"{kind}\" count=\"{}\"/>", vlen / bits);
    }
    xml.push_str("<union id=\"riscv_vector\">");
    for (field, id, _, _) in views() {
        let _ = write!(xml, "<field name=\"{field}\" type=\"{id}\"/>");
    }
    xml.push_str("</union>");
    for r in 0..32 {
        let _ = write!(
            xml,
            "<reg name=\"v{r}\" bitsize=\"{vlen}\" regnum=\"{}\" type=\"riscv_vector\" group=\"vector\"/>",
            V + r
        );
    }
    xml.push_str("</feature>");
}
