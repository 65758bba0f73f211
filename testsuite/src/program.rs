//! Programs: groups of cases as bare-metal ELFs that write down what each instruction did.
//!
//! The program runs in M-mode. For each row it loads the operands, runs the instruction, and appends to the
//! signature: the value of `rd`, the status, `mtval`, and what the [`Shape`] adds (memory, a CSR). The status
//! is `fflags` in bits 4:0 and, if the instruction trapped, `mcause` plus one from bit 8 on. It ends by
//! writing 1 to `tohost`.

use crate::cases::{Group, Row, Shape};
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Class, Field, Inst, Op, RegFile, csr};
use std::collections::HashMap;

mod emit;

/// Where RAM starts, on Spike and here.
pub const RAM: u64 = 0x8000_0000;

/// Registers of the program that no instruction under test may touch.
pub(crate) mod reg {
    /// The current row.
    pub const ROW: u8 = 20;
    /// The end of the rows.
    pub const END: u8 = 21;
    /// Where the next results go.
    pub const OUT: u8 = 22;
    /// Scratch.
    pub const T0: u8 = 23;
    /// The cause of the trap plus one; the trap handler's.
    pub const CAUSE: u8 = 24;
    /// Its value.
    pub const TVAL: u8 = 25;
    /// Where to go on after a trap.
    pub const RESUME: u8 = 26;
    /// The memory that loads and stores play in.
    pub const MEM: u8 = 27;
    /// Scratch.
    pub const T1: u8 = 28;
    /// Scratch of the trap handler.
    pub const HANDLER: u8 = 30;
}

/// A program and how to read its signature.
pub struct Program {
    /// The ELF.
    pub elf: Vec<u8>,
    /// Where the signature starts.
    pub signature: u64,
    /// Its length in 64-bit words.
    pub words: usize,
    /// Instructions it takes at most, with a good margin.
    pub instructions: u64,
}

/// Bytes before the play memory, so that it crosses the end of a page.
const MEM_TO_PAGE_END: u64 = 32;
/// Bytes of play memory.
pub(crate) const MEM_SIZE: usize = 64;
/// From the play memory to the block of the cache-block instructions and the other reservation.
pub(crate) const FAR: i32 = 32 + 1024;
/// Bytes of the two cache blocks.
pub(crate) const BLOCKS_SIZE: usize = 128;

/// Builds the program of some groups.
#[must_use]
pub fn build(groups: &[Group]) -> Program {
    // The code's length does not depend on the addresses, but `li` of them does: find out once with far away
    // ones.
    let draft = code(groups, &Layout::at(RAM + (1 << 24), RAM + (1 << 25), RAM + (1 << 25)));
    let tables = Tables::new(groups);
    let data = (RAM + draft.len() as u64 + 0x2_0000).next_multiple_of(1 << 16);
    let mem = (data + 8 * tables.words.len() as u64).next_multiple_of(4096) + 4096 - MEM_TO_PAGE_END;
    let layout = Layout::at(data, mem, mem + MEM_TO_PAGE_END + 4096);
    let text = code(groups, &layout);
    assert!(RAM + text.len() as u64 <= data, "the code has outgrown its place");
    let words: usize = groups.iter().map(|g| g.rows.len() * g.shape.results()).sum();
    let bytes = tables.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let end = layout.signature + 8 * words as u64;
    let tohost = end.next_multiple_of(4096) + 4096;
    let mut elf = ElfWriter::new(RAM);
    elf.segment(RAM, text, 5).segment(data, bytes, 6);
    elf.zeros(mem & !4095, tohost + 16 - (mem & !4095));
    elf.symbol("_start", RAM).symbol("tohost", tohost).symbol("fromhost", tohost + 8);
    elf.symbol("begin_signature", layout.signature).symbol("end_signature", end);
    let rows: u64 = groups.iter().map(|g| g.rows.len() as u64).sum();
    let instructions = 10_000 + 150 * rows;
    Program { elf: elf.finish(), signature: layout.signature, words, instructions }
}

/// Addresses that the code needs.
struct Layout {
    data: u64,
    mem: u64,
    signature: u64,
}

impl Layout {
    fn at(data: u64, mem: u64, signature: u64) -> Self {
        Layout { data, mem, signature }
    }

    /// `tohost` is computed by the code from where the results end.
    fn after_results(&self, words: usize) -> u64 {
        (self.signature + 8 * words as u64).next_multiple_of(4096) + 4096
    }
}

/// The tables of rows, those that are alike once.
struct Tables {
    words: Vec<u64>,
    starts: Vec<usize>,
}

impl Tables {
    fn new(groups: &[Group]) -> Self {
        let mut words: Vec<u64> = Vec::new();
        let mut known: HashMap<*const Row, usize> = HashMap::new();
        let starts = groups
            .iter()
            .map(|g| {
                *known.entry(g.rows.as_ptr()).or_insert_with(|| {
                    let start = words.len();
                    words.extend(g.rows.iter().flatten());
                    start
                })
            })
            .collect();
        Tables { words, starts }
    }
}

fn code(groups: &[Group], layout: &Layout) -> Vec<u8> {
    let tables = Tables::new(groups);
    let mut a = Asm::new(RAM);
    let (handler, main) = (a.label(), a.label());
    a.jump(main);
    a.place(handler);
    trap_handler(&mut a);
    a.place(main);
    // FS on; the handler; PMP open to all modes, for the returns to S and U.
    a.li(reg::T0, 0x2000);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, reg::T0);
    a.li(reg::T0, RAM + 4);
    a.csr(Op::Csrrw, 0, csr::MTVEC, reg::T0);
    a.li(reg::T0, u64::MAX >> 10);
    a.csr(Op::Csrrw, 0, csr::PMPADDR0, reg::T0);
    a.li(reg::T0, 0x1f);
    a.csr(Op::Csrrw, 0, csr::PMPCFG0, reg::T0);
    a.li(reg::OUT, layout.signature);
    a.li(reg::MEM, layout.mem);
    let mut words = 0;
    for (group, &start) in groups.iter().zip(&tables.starts) {
        a.li(reg::ROW, layout.data + 8 * start as u64);
        a.li(reg::T0, 32 * group.rows.len() as u64);
        a.rrr(Op::Add, reg::END, reg::ROW, reg::T0);
        emit::group(&mut a, group);
        words += group.rows.len() * group.shape.results();
    }
    a.li(reg::T0, layout.after_results(words));
    a.li(reg::T1, 1);
    a.store(Op::Sd, reg::T1, 0, reg::T0);
    let forever = a.label_here();
    a.jump(forever);
    a.finish()
}

/// Notes the trap and goes on, in M-mode, where the test said.
fn trap_handler(a: &mut Asm) {
    a.csr(Op::Csrrs, reg::CAUSE, csr::MCAUSE, 0);
    a.rri(Op::Addi, reg::CAUSE, reg::CAUSE, 1);
    a.csr(Op::Csrrs, reg::TVAL, csr::MTVAL, 0);
    a.csr(Op::Csrrw, 0, csr::MEPC, reg::RESUME);
    a.li(reg::HANDLER, 0x1800);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, reg::HANDLER);
    a.plain(Op::Mret);
}

/// Whether the instruction reads or writes `fcsr`.
pub(crate) fn is_float(inst: &Inst) -> bool {
    inst.op.class() == Class::Float
}

/// The register of a field, if the instruction has it, with its file.
pub(crate) fn register(group: &Group, field: Field) -> Option<(u8, RegFile)> {
    let (_, file) = group.registers().find(|(f, _)| *f == field)?;
    Some((group.inst.get(field) as u8, file))
}

/// What the words of a row's results are, for people.
#[must_use]
pub fn result_name(shape: Shape, word: usize) -> String {
    match (shape, word) {
        (_, 0) => "rd".into(),
        (_, 1) => "status".into(),
        (_, 2) => "mtval".into(),
        (Shape::Csr, _) => "csr".into(),
        (Shape::CacheBlock, n) => format!("block[{}]", n - 3),
        (_, 3) => "rd+1".into(),
        (_, n) => format!("memory[{}]", n - 4),
    }
}
