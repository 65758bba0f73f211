//! Random streams of instructions, compared with another model after every one.

pub mod command;
pub mod commit;
pub mod logs;
pub mod recorded;
pub mod stream;

use self::commit::{Commit, Shadow};
use crate::peer::{self, Ended, PeerError, Spike};
use crate::program::RAM;
use rvv_isa::csr;
use rvvsim::Stop;
use rvvsim::elf::Image;
use rvvsim::{Config, Machine};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// Instructions in the loop of a stream, and rounds: long enough that Spike's start does not count.
const LENGTH: usize = 10_000;
const ROUNDS: u64 = 8;

/// What to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The registers, flags and memory, after each instruction.
    State,
    /// The lines of our own commit log, too, letter by letter.
    Lines,
}

/// Where two models part.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The seed of the stream.
    pub seed: u64,
    /// Instructions that agreed before.
    pub after: u64,
    /// The last lines that agreed, then the peer's and ours.
    pub text: String,
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Instructions that were compared.
    pub compared: u64,
    /// Each stream's first difference.
    pub differences: Vec<Difference>,
}

/// Compares at least `count` instructions with Spike's commit log, in streams of seeds from `seed` on.
/// `progress` hears of each stream that is done.
///
/// # Errors
/// When Spike does not run or its log cannot be read.
pub fn against_spike(
    spike: &Spike,
    count: u64,
    seed: u64,
    what: What,
    folder: &Path,
    mut progress: impl FnMut(&Report),
) -> Result<Report, PeerError> {
    let mut report = Report::default();
    let ops = stream::comparable_ops();
    let csrs = vec![csr::MSCRATCH, csr::FCSR, csr::FFLAGS, csr::FRM, csr::SSCRATCH, csr::MTVAL];
    for seed in seed.. {
        if report.compared >= count || report.differences.len() >= 20 {
            break;
        }
        let recipe =
            stream::Recipe { ops: ops.clone(), csrs: csrs.clone(), length: LENGTH, rounds: ROUNDS, seed };
        one(spike, &recipe, what, folder, &mut report)?;
        progress(&report);
    }
    Ok(report)
}

fn one(
    spike: &Spike,
    recipe: &stream::Recipe,
    what: What,
    folder: &Path,
    report: &mut Report,
) -> Result<(), PeerError> {
    let stream = stream::generate(recipe);
    let (elf, log) = (folder.join("stream.elf"), folder.join("commits.log"));
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| PeerError::Io { path, source }
    };
    std::fs::write(&elf, &stream.elf).map_err(io(&elf))?;
    let mut command = spike.command();
    command.arg("-m16").arg("--log-commits").arg(format!("--log={}", log.display())).arg(&elf);
    let run = peer::run(&mut command, Duration::from_secs(120))?;
    if run.ended != Ended::Exited(0) {
        let stderr = String::from_utf8_lossy(&run.stderr);
        let why = format!("seed {}: {:?}; {stderr}", recipe.seed, run.ended);
        return Err(PeerError::Failed { program: spike.path.clone(), why });
    }
    let commits = BufReader::new(std::fs::File::open(&log).map_err(io(&log))?).lines();
    let failed = |why: String| PeerError::Failed { program: "rvvsim".into(), why };
    let mut machine = start(&stream.elf).map_err(failed)?;
    let entry = format!("{RAM:#018x} (");
    let mut shadow = Shadow::of(machine.hart());
    let mut recent: Vec<String> = Vec::new();
    let mut ours = String::new();
    let mut after = 0;
    for line in commits.skip_while(|line| line.as_ref().is_ok_and(|l| !l.contains(&entry))) {
        let theirs = line.map_err(io(&log))?;
        let Some(commit) = Commit::parse(&theirs) else { continue };
        let pc = step(&mut machine, &mut ours);
        let mut difference = shadow.compare(&commit, machine.hart());
        if commit.pc != pc {
            difference = Some(format!("pc: ours {pc:#x}"));
        } else if what == What::Lines && ours.trim_end() != theirs.trim_end() {
            difference = Some("the line".into());
        }
        if let Some(why) = difference {
            let text = format!("{}\n< {theirs}\n> {}\n{why}", recent.join("\n"), ours.trim_end());
            report.differences.push(Difference { seed: recipe.seed, after, text });
            return Ok(());
        }
        after += 1;
        report.compared += 1;
        if recent.len() == 6 {
            recent.remove(0);
        }
        recent.push(theirs);
        // Spike ends some time after the last instruction that we care about.
        if machine.hart().pc() == stream.end {
            break;
        }
    }
    Ok(())
}

/// A machine about to execute the first instruction of the ELF.
fn start(elf: &[u8]) -> Result<Machine, String> {
    let image = Image::parse(elf).map_err(|e| e.to_string())?;
    let config = Config { mem: 16 << 20, ..Config::default() };
    let mut machine = Machine::bare(config, &image).map_err(|e| e.to_string())?;
    for _ in 0..100 {
        if machine.hart().pc() == RAM {
            return Ok(machine);
        }
        machine.step();
    }
    Err("the reset code does not reach the program".into())
}

/// Executes until an instruction retires, leaves its line in `line`, and returns its address.
fn step(machine: &mut Machine, line: &mut String) -> u64 {
    line.clear();
    let mut pc = machine.hart().pc();
    // An instruction that traps has no line; its handler's first has.
    for _ in 0..4 {
        pc = machine.hart().pc();
        let stop = machine.step_traced(line);
        if let Stop::Trap(trap) = stop
            && machine.hart_mut().take_trap(&trap).is_err()
        {
            line.push_str("a trap that has no handler");
        }
        if !line.is_empty() {
            break;
        }
    }
    pc
}
