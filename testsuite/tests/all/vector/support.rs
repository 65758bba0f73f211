//! A hart to run single vector instructions on.

use rvv_isa::{Class, Field, Inst, Isa, Lmul, Op, RegFile, Sew, Vtype};
use rvvsim::config::Config;
use rvvsim::{Exec, Hart, vector};

/// A hart of this configuration in M-mode.
pub fn hart(config: Config) -> Hart {
    Hart::bare(config).expect("guest memory")
}

/// A hart with all extensions, this VLEN, and a megabyte.
pub fn hart_of(vlen: u32) -> Hart {
    hart(Config { vlen, mem: 1 << 20, isa: Isa::everything(), ..Config::default() })
}

/// Sets `vtype` and `vl`, as `vsetvl` would.
pub fn set_type(hart: &mut Hart, sew: Sew, lmul: Lmul, vl: u64) {
    hart.vector_mut().vtype = vector::supported(hart.config(), Vtype::new(sew, lmul, false, false));
    hart.vector_mut().vl = vl.min(u64::from(hart.vector().vtype.vlmax(hart.config().vlen)));
}

/// Runs an instruction under the hart's `vtype`.
pub fn run(hart: &mut Hart, inst: &Inst) -> Exec {
    hart.execute(inst).expect("a vector instruction")
}

/// The instruction of that mnemonic with these operands; registers of whatever file.
pub fn inst(name: &str, rd: u8, rs2: u8, rs1: u8) -> Inst {
    let op = Op::from_name(name).unwrap_or_else(|| panic!("no instruction {name}"));
    Inst { rd, rs2, rs1, ..Inst::new(op) }
}

/// All vector instructions of a class.
pub fn ops(class: Class) -> impl Iterator<Item = Op> {
    Op::all().filter(move |op| op.class() == class)
}

/// The register file of an operand.
pub fn file(op: Op, field: Field) -> Option<RegFile> {
    op.info().operands.iter().find(|o| o.fields().contains(&field)).and_then(|o| o.reg_file())
}

/// Whether an instruction has an operand in this field.
pub fn has(op: Op, field: Field) -> bool {
    op.info().operands.iter().any(|o| o.fields().contains(&field))
}

/// A stream of bits that is the same in every run (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}
