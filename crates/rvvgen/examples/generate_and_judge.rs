//! Generates programs of RVV intrinsics, runs each on the emulator at several VLENs, and judges what it
//! prints by what the oracle expects.
//!
//! `cargo run --example generate_and_judge -- [SEED]`

use rvvgen::{Plan, Settings, generate};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::error::Error;

/// Generates so many programs and judges each; the number of runs that were right.
pub fn judge(seed: u64, programs: u64) -> Result<usize, Box<dyn Error>> {
    let settings = Settings { vlens: vec![128, 512], ..Settings::default() };
    let plan = Plan::new(seed, &settings.selection, 10, settings.smallest_vlen());
    let mut right = 0;
    for k in 0..programs {
        let generated = generate(&plan, k, &settings)?;
        let elf = rvv_ir::elf::lower(&[&generated.program])?;
        let image = Image::parse(elf)?;
        for expected in &generated.expected {
            let config = Config { vlen: expected.vlen, max_insns: Some(1 << 30), ..Config::default() };
            let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
            let mut machine = Machine::user(config, &image, options)?;
            let outcome = machine.run(None);
            if outcome != Outcome::Exited(0) {
                return Err(format!("program {k}: {outcome:?}").into());
            }
            if let Some(mismatch) = expected.judge(&generated.program, machine.stdout()) {
                return Err(format!("program {k} at VLEN {}: {mismatch:?}", expected.vlen).into());
            }
            right += 1;
        }
    }
    Ok(right)
}

#[allow(dead_code, reason = "a test calls `judge`")]
fn main() -> Result<(), Box<dyn Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    println!("{} runs, all as the oracle expects", judge(seed, 10)?);
    Ok(())
}
