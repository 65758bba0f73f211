//! The command line of the test suite.

use clap::{Parser, Subcommand};
use rvv_cli::progress::Progress;
use rvv_cli::{errln, outln};
use std::path::PathBuf;
use std::process::ExitCode;
use testsuite::lockstep::What;
use testsuite::peer::{Spike, spike_isa};
use testsuite::{cases, golden, lockstep, program};

/// Conformance tests of rvvsim.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every ELF of a folder on rvvsim and on the peers given, and compare
    Elfs(Box<testsuite::elfs::command::Options>),
    /// Realistic RVV programs in C: every compiler x level x VLEN x agnostic policy, here and on QEMU
    Kernels(Box<testsuite::guests::command::Options>),
    /// Every vector instruction x SEW x LMUL x mask x vl x vstart x VLEN against Spike's recorded answers
    Vmatrix {
        /// The Spike to ask, where the recorded answers are not enough
        #[arg(long)]
        spike: Option<PathBuf>,
        /// Record Spike's answers anew
        #[arg(long, requires = "spike")]
        record: bool,
        /// Only instructions whose name starts so; with --spike, the first case that differs is shown
        #[arg(long, default_value = "")]
        op: String,
        /// Only this VLEN
        #[arg(long)]
        vlen: Option<u32>,
    },
    /// The normative rules of the manual's vector chapters: which are covered, and by which tests
    Rules {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Record what Spike answers to our instruction tests
    Record {
        /// The Spike to ask
        #[arg(long)]
        spike: PathBuf,
        /// The instruction set it is run with
        #[arg(long, default_value_t = spike_isa(128))]
        spike_isa: String,
        /// Only these extensions: names of files of isa/encodings/
        #[arg(long)]
        only: Vec<String>,
    },
    /// Hostile inputs for what reads the bytes of others: no panic, no hang, no memory past a limit
    Fuzz(Box<testsuite::fuzz::command::Command>),
    /// Compare random streams of instructions with Spike's commit log
    Lockstep {
        /// The Spike to compare with
        #[arg(long)]
        spike: PathBuf,
        /// The instruction set it is run with
        #[arg(long, default_value_t = spike_isa(128))]
        spike_isa: String,
        /// Instructions to compare
        #[arg(long, default_value_t = 1_000_000)]
        count: u64,
        /// Seed of the first stream
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Compare the lines of the two commit logs letter by letter, too
        #[arg(long)]
        lines: bool,
    },
    /// Compare which bits of a program's output are undefined to rvvsim --sanitize with the oracle
    Sanitize(testsuite::sanitize::command::Options),
    /// Compare our commit log (`rvvsim --trace`) with Spike's, letter by letter, on ELFs and on streams
    Trace(Box<testsuite::lockstep::command::Options>),
}

fn main() -> ExitCode {
    let done = match rvv_cli::parse::<Cli>().command {
        Command::Elfs(options) => testsuite::elfs::command::main(&options),
        Command::Kernels(options) => testsuite::guests::command::main(&options),
        Command::Vmatrix { spike, record, op, vlen } => {
            testsuite::vmatrix::command::main(spike.as_deref(), record, &op, vlen)
        }
        Command::Rules { json } => testsuite::rules::main(json),
        Command::Fuzz(command) => testsuite::fuzz::command::main(&command),
        Command::Record { spike, spike_isa, only } => record(&Spike { path: spike, isa: spike_isa }, &only),
        Command::Lockstep { spike, spike_isa, count, seed, lines } => {
            let what = if lines { What::Lines } else { What::State };
            lockstep(&Spike { path: spike, isa: spike_isa }, count, seed, what)
        }
        Command::Sanitize(options) => testsuite::sanitize::command::main(&options),
        Command::Trace(options) => {
            Scratch::new("trace").map_err(Into::into).and_then(|s| lockstep::command::main(&options, &s.0))
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            errln!("testsuite: {e}");
            ExitCode::from(2)
        }
    }
}

fn lockstep(spike: &Spike, count: u64, seed: u64, what: What) -> Result<bool, Box<dyn std::error::Error>> {
    let folder = Scratch::new("lockstep")?;
    let mut line = Progress::for_people();
    let report = lockstep::against_spike(spike, count, seed, what, &folder.0, |report| {
        line.show(|| format!("{} instructions, {} differences", report.compared, report.differences.len()));
    })?;
    drop(line);
    for d in &report.differences {
        outln!("seed {}, after {} instructions (< Spike, > rvvsim):\n{}\n", d.seed, d.after, d.text);
    }
    outln!("{} instructions compared, {} differences", report.compared, report.differences.len());
    Ok(report.differences.is_empty())
}

/// A folder that goes when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("rvvsim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's cleaning of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn record(spike: &Spike, only: &[String]) -> Result<bool, Box<dyn std::error::Error>> {
    let scratch = Scratch::new("record")?;
    let folder = &scratch.0;
    let (mut rows, mut bytes) = (0, 0);
    for extension in cases::extensions() {
        if !only.is_empty() && !only.iter().any(|o| o == extension) {
            continue;
        }
        let groups = golden::groups(extension);
        let program = program::build(&groups);
        let elf = folder.join(extension);
        std::fs::write(&elf, &program.elf)?;
        let words = spike.signature(&elf, &folder.join("signature"), program.words)?;
        let size = golden::write(&golden::path(extension), &groups, &words)?;
        let cases: usize = groups.iter().map(|g| g.rows.len()).sum();
        outln!("{extension}: {} encodings, {cases} cases, {size} bytes", groups.len());
        (rows, bytes) = (rows + cases, bytes + size);
    }
    outln!("{rows} cases, {bytes} bytes");
    Ok(true)
}
