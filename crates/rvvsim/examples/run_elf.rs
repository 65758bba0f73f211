//! Runs an ELF program as a Linux process, and reports how it ended.
//!
//! `cargo run --example run_elf -- [PROGRAM [ARGUMENT]...]`; without a program, the demo of this crate.

use rvvsim::elf::Image;
use rvvsim::linux::ProcessOptions;
use rvvsim::{Config, Machine, Outcome};
use std::error::Error;
use std::path::PathBuf;

/// Runs a program with its arguments; its exit status.
pub fn run(program: PathBuf, args: Vec<String>) -> Result<i32, Box<dyn Error>> {
    let image = Image::open(&program)?;
    let config = Config { vlen: 256, ..Config::default() };
    let options = ProcessOptions {
        args: args.into_iter().map(String::into_bytes).collect(),
        ..ProcessOptions::default()
    };
    let mut machine = Machine::user(config, &image, options)?;
    match machine.run(None) {
        Outcome::Exited(status) => Ok(status),
        Outcome::Signaled { signal, trap } => Err(match trap {
            // The rule that was broken, by the manual's id.
            Some(trap) => format!("signal {signal} at pc {:#x}: {}", machine.hart().pc(), trap.why).into(),
            None => format!("signal {signal}").into(),
        }),
        other => Err(format!("{other:?}").into()),
    }
}

/// The demo of this crate.
pub fn demo() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/demo.elf"))
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    let program = args.peek().map_or_else(demo, PathBuf::from);
    let status = run(program, args.collect())?;
    println!("exit status {status}");
    Ok(())
}
