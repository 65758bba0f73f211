//! An observer: how full vector instructions are, and which system calls a program makes.
//!
//! `cargo run --example active_elements -- [PROGRAM]`; without a program, the demo of this crate.

use rvv_isa::Class;
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::observe::{Observer, SystemCall, VectorOperation, Wants};
use rvvsim::{Config, Hart, Machine, Outcome};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

/// What was seen.
#[derive(Default)]
pub struct Fullness {
    /// By class: instructions, active elements, and elements that there was room for.
    pub classes: BTreeMap<Class, (u64, u64, u64)>,
    /// System calls, by number.
    pub calls: BTreeMap<u64, u64>,
}

impl Observer for Fullness {
    fn wants(&self) -> Wants {
        Wants { vectors: true, ..Wants::default() }
    }

    fn vector(&mut self, hart: &Hart, operation: &VectorOperation) {
        let of = self.classes.entry(operation.inst.op.class()).or_default();
        of.0 += 1;
        of.1 += operation.active.count();
        of.2 += u64::from(operation.vtype.vlmax(hart.config().vlen));
    }

    fn system_call(&mut self, _: &Hart, call: &SystemCall) {
        *self.calls.entry(call.number).or_default() += 1;
    }
}

/// Runs a program to its end.
pub fn observe(program: PathBuf, vlen: u32) -> Result<Fullness, Box<dyn Error>> {
    let image = Image::open(&program)?;
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(Config { vlen, ..Config::default() }, &image, options)?;
    let mut seen = Fullness::default();
    match machine.run_observed(None, &mut seen) {
        Some(Outcome::Exited(0)) => Ok(seen),
        other => Err(format!("{other:?}").into()),
    }
}

#[allow(dead_code, reason = "a test calls `observe`")]
fn main() -> Result<(), Box<dyn Error>> {
    let demo = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"));
    let seen = observe(std::env::args().nth(1).map_or_else(demo, PathBuf::from), 256)?;
    for (class, (instructions, active, room)) in seen.classes {
        let share = 100 * active / room.max(1);
        println!("{instructions:>10} {class:?}: {active} active elements, {share} % of VLMAX");
    }
    for (number, times) in seen.calls {
        println!("{times:>10} system call {number}");
    }
    Ok(())
}
