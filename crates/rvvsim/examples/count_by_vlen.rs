//! Counts the instructions of a program at several VLENs: with longer registers a vector loop takes fewer.
//!
//! `cargo run --example count_by_vlen -- [PROGRAM]`; without a program, the demo of this crate.

use rvv_isa::Class;
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::error::Error;
use std::path::PathBuf;

/// All instructions and the vector instructions that a program executes, for each VLEN.
pub fn count(program: PathBuf, vlens: &[u32]) -> Result<Vec<(u64, u64)>, Box<dyn Error>> {
    let image = Image::open(&program)?;
    let mut counts = Vec::new();
    for &vlen in vlens {
        let config = Config { vlen, max_insns: Some(1_000_000_000), ..Config::default() };
        let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
        let mut machine = Machine::user(config, &image, options)?;
        let outcome = machine.run(None);
        if outcome != Outcome::Exited(0) {
            return Err(format!("at VLEN {vlen}: {outcome:?}").into());
        }
        let vector =
            machine.counts().iter().filter(|(class, _)| *class >= Class::VectorConfig).map(|(_, n)| n).sum();
        counts.push((machine.instructions_retired(), vector));
    }
    Ok(counts)
}

#[allow(dead_code, reason = "a test calls `count`")]
fn main() -> Result<(), Box<dyn Error>> {
    let demo = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"));
    let program = std::env::args().nth(1).map_or_else(demo, PathBuf::from);
    let vlens = [128, 256, 512, 1024, 2048];
    println!("  VLEN  instructions  vector");
    for (vlen, (all, vector)) in vlens.iter().zip(count(program, &vlens)?) {
        println!("{vlen:>6}  {all:>12}  {vector:>6}");
    }
    Ok(())
}
