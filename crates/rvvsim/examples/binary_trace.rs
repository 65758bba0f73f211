//! A trace in few bytes, and what is in it: which vector registers had agnostic elements.
//!
//! `cargo run --example binary_trace -- [PROGRAM]`; without a program, the demo of this crate.

use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::trace::{Decoder, Write};
use rvvsim::{Config, Machine, Outcome, TraceFormat};
use std::error::Error;
use std::path::PathBuf;

/// The bytes of a trace, its instructions, and the writes of vector registers with agnostic elements.
pub fn trace(program: PathBuf, vlen: u32) -> Result<(usize, u64, u64), Box<dyn Error>> {
    let image = Image::open(&program)?;
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(Config { vlen, ..Config::default() }, &image, options)?;
    let mut file = Vec::new();
    let format = TraceFormat { validity: true, binary: true };
    let outcome = machine.run_traced_as(None, &mut file, format)?;
    if outcome != Outcome::Exited(0) {
        return Err(format!("{outcome:?}").into());
    }
    let mut decoder = Decoder::new(file.as_slice())?;
    let (mut instructions, mut agnostic) = (0, 0);
    while let Some(commit) = decoder.decode()? {
        instructions += 1;
        let is_agnostic = |write: &&Write| matches!(write, Write::V { valid: Some(_), .. });
        agnostic += commit.writes.iter().filter(is_agnostic).count() as u64;
    }
    Ok((file.len(), instructions, agnostic))
}

#[allow(dead_code, reason = "a test calls `trace`")]
fn main() -> Result<(), Box<dyn Error>> {
    let demo = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"));
    let program = std::env::args().nth(1).map_or_else(demo, PathBuf::from);
    let (bytes, instructions, agnostic) = trace(program, 256)?;
    let each = bytes as f64 / instructions as f64;
    println!("{instructions} instructions in {bytes} bytes, {each:.1} each");
    println!("{agnostic} writes of vector registers with agnostic elements");
    Ok(())
}
