//! A hart to run single instructions on.

use rvv_isa::{Inst, Op};
use rvvsim::config::Config;
use rvvsim::{Exec, Hart, RAM_BASE};

/// Somewhere in the hart's memory.
pub const DATA: u64 = RAM_BASE + 0x2000;

/// A hart in M-mode with 64 KiB of RAM.
pub fn hart() -> Hart {
    let config = Config { mem: 0x10000, ..Config::default() };
    Hart::bare(config).expect("64 KiB")
}

/// The instruction of that mnemonic.
pub fn op(name: &str) -> Op {
    Op::from_name(name).unwrap_or_else(|| panic!("no instruction {name}"))
}

/// An instruction with registers 1 for the destination, 2, 3 and 4 for the sources, in either file.
pub fn inst(name: &str) -> Inst {
    Inst { rd: 1, rs1: 2, rs2: 3, rs3: 4, ..Inst::new(op(name)) }
}

/// Runs one instruction.
pub fn run(hart: &mut Hart, inst: &Inst) -> Exec {
    hart.execute(inst).unwrap_or_else(|| panic!("no handler of {}", inst.op.name()))
}

/// A stream of bits that is the same in every run (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }
}

/// Integers at the edges of every width, and random ones, dense and sparse.
pub fn integers() -> Vec<u64> {
    let mut values = vec![0, 1, 2, 0x5555_5555_5555_5555, 0x0123_4567_89ab_cdef, 0xff00_00ff_00ff_ff00];
    for bits in [8, 16, 32, 64] {
        let top = 1u64 << (bits - 1);
        values.extend([top - 1, top, top + 1, top | (top - 1), !(top - 1), !top]);
    }
    let mut random = Random(1);
    for _ in 0..16 {
        let (a, b, c) = (random.next(), random.next(), random.next());
        values.extend([a, a & b & c, a | b | c, a >> (b % 64)]);
    }
    values
}
