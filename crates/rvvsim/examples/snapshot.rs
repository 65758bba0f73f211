//! Runs a bare-metal program to a point, keeps that state, and continues from it in several ways.
//!
//! `cargo run --example snapshot`

use rvv_asm::{Asm, ElfWriter};
use rvv_isa::Op;
use rvvsim::elf::Image;
use rvvsim::observe::Observer;
use rvvsim::{Config, Hart, Machine, RAM_BASE, Trap};
use std::error::Error;

const A0: u8 = 10;
const A1: u8 = 11;

/// `a1` becomes the sum of the numbers from 1 to `a0`; then it stays where it is.
fn program() -> Vec<u8> {
    let mut asm = Asm::new(RAM_BASE);
    let (again, end) = (asm.label_here(), asm.label());
    asm.branch(Op::Beq, A0, 0, end);
    asm.rrr(Op::Add, A1, A1, A0);
    asm.rri(Op::Addi, A0, A0, -1);
    asm.jump(again);
    asm.place(end);
    asm.jump(end);
    let mut elf = ElfWriter::new(RAM_BASE);
    elf.segment(RAM_BASE, asm.finish(), 5);
    elf.finish()
}

/// Counts the additions.
struct Additions(u64);

impl Observer for Additions {
    fn before(&mut self, _hart: &Hart, inst: Option<&rvv_isa::Inst>) {
        self.0 += u64::from(inst.is_some_and(|inst| inst.op.base() == Op::Add));
    }

    fn after(&mut self, _hart: &Hart, _inst: Option<&rvv_isa::Inst>, _trap: Option<&Trap>) {}
}

/// For each number: the sum up to it, and the additions that took. All start from one snapshot.
pub fn sums(numbers: &[u64]) -> Result<Vec<(u64, u64)>, Box<dyn Error>> {
    let file = program();
    let image = Image::parse(&file)?;
    let mut machine = Machine::bare(Config { mem: 1 << 20, ..Config::default() }, &image)?;
    // Past the reset code, to the program.
    while machine.hart().pc() != RAM_BASE {
        machine.step();
    }
    let start = machine.snapshot().ok_or("a bare-metal machine has snapshots")?;
    let mut results = Vec::new();
    for &n in numbers {
        assert!(machine.restore(&start), "it is a snapshot of this machine");
        machine.hart_mut().set_register("a0", n);
        machine.hart_mut().set_register("a1", 0);
        let mut additions = Additions(0);
        for _ in 0..4 * n + 4 {
            machine.step_observed(&mut additions);
        }
        results.push((machine.hart().register("a1").unwrap_or(0), additions.0));
    }
    Ok(results)
}

#[allow(dead_code, reason = "a test calls `sums`")]
fn main() -> Result<(), Box<dyn Error>> {
    let numbers = [1, 10, 100];
    for (n, (sum, additions)) in numbers.iter().zip(sums(&numbers)?) {
        println!("1 + ... + {n} = {sum}, by {additions} additions");
    }
    Ok(())
}
