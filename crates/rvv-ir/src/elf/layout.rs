//! Where everything is in memory.

use super::ElfOptions;
use crate::{BufferKind, Program};
use rvv_intrinsics::Type;

/// The first address: constants.
pub(super) const RODATA: u64 = 0x1_0000;
const PAGE: u64 = 0x1000;
/// Buffers start at such addresses.
const ALIGN: usize = 64;

/// The slots of a function's variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// By variable: bytes from the start of the scalars' area, or registers from the start of the vectors'.
    pub vars: Vec<u64>,
    /// Where the return address is kept, in the scalars' area.
    pub link: u64,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Layout {
    /// Contents of the constants.
    pub rodata: Vec<u8>,
    /// Where other buffers start, and their contents.
    pub data: u64,
    pub contents: Vec<u8>,
    /// Where scalars and vectors have their slots.
    pub scalars: u64,
    pub vectors: u64,
    /// The end of those.
    pub end: u64,
    /// Where code starts.
    pub code: u64,
    /// By program: the address of each buffer.
    pub buffers: Vec<Vec<u64>>,
    /// By program: the slots of each function, main's last.
    pub slots: Vec<Vec<Slots>>,
}

/// Registers a variable takes; 0 for a scalar.
pub(super) fn registers(ty: Type) -> u32 {
    match ty {
        Type::Vector(v) => v.lmul.registers() * u32::from(v.nf),
        Type::Mask(_) => 1,
        _ => 0,
    }
}

impl Layout {
    pub fn new(programs: &[&Program], options: &ElfOptions) -> Layout {
        let (mut rodata, mut contents) = (Vec::new(), Vec::new());
        // Offsets first: where data starts is known when the constants are.
        let mut offsets: Vec<Vec<(bool, usize)>> = Vec::new();
        for program in programs {
            offsets.push(
                program
                    .buffers
                    .iter()
                    .map(|buffer| {
                        let constant = buffer.kind == BufferKind::Const;
                        let area: &mut Vec<u8> = if constant { &mut rodata } else { &mut contents };
                        area.resize(area.len().next_multiple_of(ALIGN), 0);
                        let at = area.len();
                        let size = buffer.elem.bytes() as usize;
                        for value in buffer.values() {
                            area.extend_from_slice(&value.to_le_bytes()[..size]);
                        }
                        (constant, at)
                    })
                    .collect(),
            );
        }
        // What reads a whole register past the end of the last buffer is a bug elsewhere, but segments are
        // never empty.
        rodata.resize(rodata.len().max(ALIGN), 0);
        contents.resize(contents.len().max(ALIGN), 0);
        let page = |at: u64| at.next_multiple_of(PAGE);
        let data = page(RODATA + rodata.len() as u64);
        let buffers = offsets
            .iter()
            .map(|of| {
                of.iter().map(|&(constant, at)| at as u64 + if constant { RODATA } else { data }).collect()
            })
            .collect();
        let scalars = page(data + contents.len() as u64);
        let (mut most_bytes, mut most_registers) = (8, 1);
        let mut slots = Vec::new();
        for program in programs {
            let (mut bytes, mut count) = (0, 0);
            let mut of = Vec::new();
            for function in program.functions.iter().chain([&program.main]) {
                let mut vars = Vec::new();
                for var in &function.vars {
                    match registers(var.ty) {
                        0 => {
                            vars.push(bytes);
                            bytes += 8;
                        }
                        n => {
                            vars.push(count);
                            count += u64::from(n);
                        }
                    }
                }
                of.push(Slots { vars, link: bytes });
                bytes += 8;
            }
            slots.push(of);
            most_bytes = most_bytes.max(bytes);
            most_registers = most_registers.max(count);
        }
        let vectors = page(scalars + most_bytes);
        let end = page(vectors + most_registers * u64::from(options.max_vlen / 8));
        Layout { rodata, data, contents, scalars, vectors, end, code: end, buffers, slots }
    }
}
