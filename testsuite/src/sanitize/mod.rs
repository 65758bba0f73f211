//! `rvvsim --sanitize` against the oracle: which bits of a program's output are undefined.
//!
//! The oracle evaluates intrinsics and knows for each bit of memory whether it is defined. The sanitizer sees
//! machine code, of which it knows nothing. In the direct lowering, one instruction for each call, both must
//! say the same of each bit that is printed. Of compiled programs: [`compiled`].

pub mod command;
pub mod compiled;
mod known;

use rvv_ir::elf::{ElfOptions, lower_with};
use rvvgen::{Generated, Plan, Selection, Settings, generate};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::sanitize::{Kind, Rules, Sanitizer};
use rvvsim::{Config, Machine, Outcome};

/// Intrinsics whose results the two call undefined for different reasons: an unordered sum is undefined to
/// the oracle where the order matters, which is a matter of values. Machine code has one order.
const EXCEPT: [&str; 2] = ["vfredusum*", "vfwredusum*"];

/// The VLENs that are compared.
pub const VLENS: [u32; 4] = [128, 256, 512, 1024];

/// What a comparison came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// Programs times VLENs.
    pub runs: u64,
    /// Bits that were printed.
    pub bits: u64,
    /// Those that both call undefined.
    pub undefined: u64,
}

/// The settings of the programs.
#[must_use]
pub fn settings() -> Settings {
    let selection = Selection { except: EXCEPT.map(str::to_owned).to_vec(), ..Selection::default() };
    Settings { vlens: VLENS.to_vec(), selection, ..Settings::default() }
}

/// Compares programs `first` to `last` of a seed.
///
/// # Errors
/// In words: the first bit of which the two say different things.
pub fn compare(seed: u64, first: u64, last: u64, mut seen: impl FnMut(&Tally)) -> Result<Tally, String> {
    let settings = settings();
    let plan = Plan::new(seed, &settings.selection, 10, settings.smallest_vlen());
    let mut tally = Tally::default();
    for number in first..last {
        let generated =
            generate(&plan, number, &settings).map_err(|e| format!("seed {seed}, program {number}: {e}"))?;
        compare_one(&generated, &mut tally).map_err(|e| format!("seed {seed}, program {number}: {e}"))?;
        seen(&tally);
    }
    Ok(tally)
}

fn compare_one(generated: &Generated, tally: &mut Tally) -> Result<(), String> {
    let options = ElfOptions { marks: true, ..ElfOptions::default() };
    let elf = lower_with(&[&generated.program], &options).map_err(|e| e.to_string())?;
    let image = Image::parse(elf).map_err(|e| e.to_string())?;
    tally.programs += 1;
    for expected in &generated.expected {
        let config = Config { vlen: expected.vlen, max_insns: Some(1 << 30), ..Config::default() };
        let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
        let mut machine = Machine::user(config, &image, options).map_err(|e| e.to_string())?;
        let mut sanitizer = Sanitizer::new(&mut machine, &image, Rules::Intrinsics);
        sanitizer.keep_output();
        let outcome = machine.run_sanitized(None, &mut sanitizer);
        let at = format!("VLEN {}", expected.vlen);
        if outcome != Some(Outcome::Exited(0)) {
            return Err(format!("{at}: {outcome:?}"));
        }
        // A program that has a meaning prints undefined bits, and decides nothing by them.
        if let Some(finding) = sanitizer.findings().iter().find(|f| f.kind != Kind::Output) {
            return Err(format!("{at}: {finding:?}"));
        }
        let said = sanitizer.output();
        let wanted = expected.outputs.iter().flat_map(|o| &o.defined).map(|defined| !defined);
        if said.len() != expected.len() {
            return Err(format!("{at}: {} bytes were printed, not {}", said.len(), expected.len()));
        }
        for (byte, (said, wanted)) in said.iter().zip(wanted).enumerate() {
            if *said != wanted {
                let place = place(generated, byte);
                return Err(format!("{at}: {place}: undefined are {said:08b}, to the oracle {wanted:08b}"));
            }
            tally.undefined += u64::from(wanted.count_ones());
        }
        tally.bits += 8 * said.len() as u64;
        tally.runs += 1;
    }
    Ok(())
}

/// A byte of the output in words.
fn place(generated: &Generated, byte: usize) -> String {
    let mut rest = byte;
    for (_, buffer) in generated.program.outputs() {
        if rest < buffer.bytes() {
            let size = buffer.elem.bytes() as usize;
            return format!("byte {} of {}[{}]", rest % size, buffer.name, rest / size);
        }
        rest -= buffer.bytes();
    }
    format!("byte {byte}")
}
