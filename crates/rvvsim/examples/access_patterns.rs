//! How a program accesses memory: the instructions with the most bytes, and their strides.
//!
//! `cargo run --example access_patterns -- [PROGRAM]`; without a program, the demo of this crate.

use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::observe::{AccessPatterns, Pattern};
use rvvsim::{Config, Machine, Outcome};
use std::error::Error;
use std::path::PathBuf;

/// The instructions that access memory, with those of the most bytes first.
pub fn patterns(program: PathBuf, vlen: u32) -> Result<Vec<(u64, Pattern)>, Box<dyn Error>> {
    let image = Image::open(&program)?;
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(Config { vlen, ..Config::default() }, &image, options)?;
    let mut seen = AccessPatterns::default();
    match machine.run_observed(None, &mut seen) {
        Some(Outcome::Exited(0)) => {}
        other => return Err(format!("{other:?}").into()),
    }
    let mut all: Vec<_> = seen.iter().map(|(pc, pattern)| (pc, pattern.clone())).collect();
    all.sort_by_key(|(pc, pattern)| (std::cmp::Reverse(pattern.bytes), *pc));
    Ok(all)
}

#[allow(dead_code, reason = "a test calls `patterns`")]
fn main() -> Result<(), Box<dyn Error>> {
    let demo = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"));
    for (pc, p) in patterns(std::env::args().nth(1).map_or_else(demo, PathBuf::from), 256)?.iter().take(10) {
        let stride = p.usual_stride().map_or(String::new(), |(stride, _)| format!(", stride {stride}"));
        println!("{pc:#x}: {} loads, {} stores, {} bytes{stride}", p.loads, p.stores, p.bytes);
    }
    Ok(())
}
