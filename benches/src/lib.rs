//! Guest programs for the benches, assembled here so that no compiler is needed.

pub mod compare;
pub mod families;

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::{ElfWriter, Segment};
use rvv_isa::Op;

const CODE: u64 = 0x8000_0000;
const TOHOST: u64 = 0x8010_0000;
const DATA: u64 = 0x8020_0000;

// ABI names of the registers the programs use.
const T0: u8 = 5;
const T1: u8 = 6;
const S0: u8 = 8;
const A0: u8 = 10;
const A1: u8 = 11;
const A2: u8 = 12;
const A3: u8 = 13;

/// A bare-metal program: its name, the ELF, and how many instructions it retires, near enough.
pub struct Program {
    /// What it is.
    pub name: &'static str,
    /// The file.
    pub elf: Vec<u8>,
    /// Instructions retired.
    pub instructions: u64,
}

/// A counted loop around `body`, which must leave `s0` alone; `length` is the body's instructions.
fn looped(
    name: &'static str,
    times: u64,
    length: u64,
    set_up: impl FnOnce(&mut Asm),
    body: impl FnOnce(&mut Asm),
) -> Program {
    looped_with(name, times, length, Vec::new(), set_up, body)
}

/// The same, with data.
fn looped_with(
    name: &'static str,
    times: u64,
    length: u64,
    data: Vec<u8>,
    set_up: impl FnOnce(&mut Asm),
    body: impl FnOnce(&mut Asm),
) -> Program {
    let mut a = Asm::new(CODE);
    set_up(&mut a);
    a.li(S0, times);
    let again = a.label_here();
    body(&mut a);
    a.rri(Op::Addi, S0, S0, -1);
    a.branch(Op::Bne, S0, 0, again);
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let end = a.label_here();
    a.jump(end);
    let mut elf = ElfWriter::new(CODE);
    let data = Segment { vaddr: DATA, bytes: data, memsz: 1 << 20, flags: 6 };
    elf.segment(CODE, a.finish(), 5).zeros(TOHOST, 4096).segments.push(data);
    elf.symbol("tohost", TOHOST).symbol("fromhost", TOHOST + 8);
    Program { name, elf: elf.finish(), instructions: times * (length + 2) }
}

/// Scalar programs, each about a million instructions.
#[must_use]
pub fn scalar() -> Vec<Program> {
    let xorshift = looped(
        "xorshift and modulo",
        100_000,
        8,
        |a| {
            a.li(A0, 88_172_645_463_325_252);
            a.li(A1, 1000);
        },
        |a| {
            for (op, by) in [(Op::Slli, 13), (Op::Srli, 7), (Op::Slli, 17)] {
                a.rri(op, T0, A0, by);
                a.rrr(Op::Xor, A0, A0, T0);
            }
            a.rrr(Op::Remu, T1, A0, A1);
            a.rrr(Op::Add, A2, A2, T1);
        },
    );
    let memory = looped(
        "loads and stores",
        100_000,
        8,
        |a| a.li(A0, DATA),
        |a| {
            a.rri(Op::Andi, T0, S0, 0x7f8);
            a.rrr(Op::Add, T0, T0, A0);
            a.rri(Op::Ld, A1, T0, 0);
            a.rri(Op::Lw, A2, T0, 8);
            a.rrr(Op::Add, A1, A1, A2);
            a.store(Op::Sd, A1, 16, T0);
            a.rri(Op::Lbu, A3, T0, 17);
            a.store(Op::Sb, A3, 3, T0);
        },
    );
    let branches = looped(
        "branches",
        100_000,
        7,
        |a| a.li(A0, 0x9e37_79b9),
        |a| {
            a.rri(Op::Slli, T0, A0, 13);
            a.rrr(Op::Xor, A0, A0, T0);
            a.rri(Op::Srli, T0, A0, 7);
            a.rrr(Op::Xor, A0, A0, T0);
            a.rri(Op::Andi, T1, A0, 1);
            let skip = a.label();
            a.branch(Op::Beq, T1, 0, skip);
            a.rri(Op::Addi, A2, A2, 1);
            a.place(skip);
            a.rri(Op::Addi, A3, A3, 1);
        },
    );
    vec![xorshift, memory, branches]
}
