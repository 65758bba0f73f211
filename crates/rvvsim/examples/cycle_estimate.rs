//! An estimate of cycles on two in-order cores that differ in their vector units. There are no caches in it.
//!
//! `cargo run --example cycle_estimate -- [PROGRAM]`; without a program, the demo of this crate.

use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::observe::{Costs, CycleEstimate};
use rvvsim::{Config, Machine, Outcome};
use std::error::Error;
use std::path::PathBuf;

/// The cycles of a program where the vector unit works on so many bits a cycle.
pub fn cycles(program: PathBuf, dlen: u32) -> Result<u64, Box<dyn Error>> {
    let image = Image::open(&program)?;
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(Config { vlen: 512, ..Config::default() }, &image, options)?;
    let mut estimate = CycleEstimate::new(Costs::with_dlen(dlen));
    match machine.run_observed(None, &mut estimate) {
        Some(Outcome::Exited(0)) => Ok(estimate.cycles()),
        other => Err(format!("{other:?}").into()),
    }
}

#[allow(dead_code, reason = "a test calls `cycles`")]
fn main() -> Result<(), Box<dyn Error>> {
    let demo = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"));
    let program = std::env::args().nth(1).map_or_else(demo, PathBuf::from);
    for dlen in [64, 512] {
        println!("DLEN {dlen:>3}: an estimate of {} cycles", cycles(program.clone(), dlen)?);
    }
    Ok(())
}
