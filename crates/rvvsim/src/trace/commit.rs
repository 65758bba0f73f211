//! What one instruction did, and its line of text.

use crate::engine::MemoryEvent;
use rvv_isa::csr;
use std::fmt::Write as _;

/// A write of a register, in the order of Spike's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// An integer register.
    X(u8, u64),
    /// A floating-point register.
    F(u8, u64),
    /// SEW, `vtype`'s LMUL field and `vl`: every vector instruction shows them but those that set them.
    Config {
        /// In bits.
        sew: u64,
        /// The field of `vtype`.
        lmul: u8,
        /// `vl`.
        vl: u64,
    },
    /// A vector register: its bytes, and those bits of them that are not agnostic, if that was asked for.
    V {
        /// Its number.
        register: u8,
        /// Its bytes.
        value: Vec<u8>,
        /// Bits that the instruction defines or keeps; `None` for all of them.
        valid: Option<Vec<u8>>,
    },
    /// A CSR.
    Csr(u16, u64),
}

impl Write {
    /// Spike sorts by register number first.
    fn key(&self) -> u32 {
        match self {
            Write::X(r, _) => u32::from(*r) << 4,
            Write::F(r, _) => u32::from(*r) << 4 | 1,
            Write::Config { .. } => 2,
            Write::V { register, .. } => u32::from(*register) << 4 | 2,
            Write::Csr(number, _) => u32::from(*number) << 4 | 4,
        }
    }
}

/// What one instruction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The hart.
    pub hart: u32,
    /// The mode it was in.
    pub privilege: u8,
    /// Where the instruction is.
    pub pc: u64,
    /// Its bits; the upper half is zero for one of 16.
    pub word: u32,
    /// Registers and CSRs that it wrote.
    pub writes: Vec<Write>,
    /// Its accesses of memory, in order.
    pub memory: Vec<MemoryEvent>,
}

impl Commit {
    /// Puts the writes into Spike's order: by register number, x before f before v before CSR.
    pub fn sort(&mut self) {
        self.writes.sort_by_key(Write::key);
    }

    /// Appends the line: as Spike's `--log-commits` writes it, but for `&0x…` behind a vector register of
    /// which some bits are agnostic.
    pub fn text(&self, out: &mut String) {
        let width = if self.word & 3 == 3 { 8 } else { 4 };
        let _ = write!(
            out,
            "core {:3}: {} {:#018x} (0x{:0width$x})",
            self.hart, self.privilege, self.pc, self.word
        );
        for one in &self.writes {
            let _ = match one {
                Write::X(r, value) => write!(out, " x{r:<2} {value:#018x}"),
                Write::F(r, value) => write!(out, " f{r:<2} {value:#018x}"),
                Write::Config { sew, lmul, vl } => {
                    let (fraction, lmul) = match lmul & 7 {
                        whole @ 0..4 => ("", 1 << whole),
                        part => ("f", 1 << (8 - part)),
                    };
                    write!(out, " e{sew} m{fraction}{lmul} l{vl}")
                }
                Write::V { register, value, valid } => {
                    let _ = write!(out, " v{register:<2} 0x");
                    hex(value, out);
                    if let Some(valid) = valid {
                        out.push_str("&0x");
                        hex(valid, out);
                    }
                    Ok(())
                }
                Write::Csr(number, value) => {
                    let name = csr::name(*number).unwrap_or("unknown");
                    write!(out, " c{number}_{name} {value:#018x}")
                }
            };
        }
        for event in &self.memory {
            if let MemoryEvent::Load { va, .. } = event {
                let _ = write!(out, " mem {va:#018x}");
            }
        }
        for event in &self.memory {
            if let MemoryEvent::Store { va, size, value } = event {
                let digits = 2 * size;
                let _ = write!(out, " mem {va:#018x} 0x{value:0digits$x}");
            }
        }
        out.push('\n');
    }
}

fn hex(bytes: &[u8], out: &mut String) {
    for byte in bytes.iter().rev() {
        let _ = write!(out, "{byte:02x}");
    }
}
