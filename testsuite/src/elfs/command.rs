//! `testsuite elfs`.

use super::{Line, Setup, Verdict, find, run_all, to_junit};
use crate::peer::{Spike, spike_isa};
use clap::Args;
use rvv_cli::out;
use rvv_cli::progress::Progress;
use rvv_isa::Isa;
use rvvsim::Config;
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the command takes.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder of ELFs
    dir: PathBuf,
    /// Run the ELFs with a tohost symbol on this Spike, too
    #[arg(long)]
    spike: Option<PathBuf>,
    /// The instruction set Spike is run with (zicclsm is for misaligned accesses)
    #[arg(long, default_value_t = spike_isa(128))]
    spike_isa: String,
    /// Run the others on this qemu-riscv64, too
    #[arg(long)]
    qemu: Option<PathBuf>,
    /// QEMU's -cpu
    #[arg(long, default_value = "max")]
    qemu_cpu: String,
    /// The instruction set of rvvsim [default: everything it has]
    #[arg(long)]
    isa: Option<Isa>,
    /// The VLEN of rvvsim
    #[arg(long, default_value_t = 128)]
    vlen: u32,
    /// Write a report in JUnit's XML
    #[arg(long)]
    junit: Option<PathBuf>,
    /// ELFs at once [default: as many as there are cores]
    #[arg(long)]
    jobs: Option<usize>,
    /// Seconds that each run may take
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

/// Runs the folder and prints the table; true if everything passed.
///
/// # Errors
/// When the folder cannot be read, a peer does not start, or the report cannot be written.
pub fn main(options: &Options) -> Result<bool, Box<dyn Error>> {
    let elfs = find(&options.dir).map_err(|e| format!("{}: {e}", options.dir.display()))?;
    if elfs.is_empty() {
        return Err(format!("{}: no ELFs there", options.dir.display()).into());
    }
    let mut config = Config { vlen: options.vlen, ..Config::default() };
    if let Some(isa) = options.isa {
        config.isa = isa;
    }
    let setup = Setup {
        config,
        spike: options.spike.clone().map(|path| Spike { path, isa: options.spike_isa.clone() }),
        qemu: options.qemu.clone(),
        qemu_cpu: options.qemu_cpu.clone(),
        limit: Duration::from_secs(options.timeout),
        jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let line = Mutex::new(Progress::for_people());
    let lines = run_all(&setup, &elfs, |done| {
        line.lock().unwrap_or_else(PoisonError::into_inner).show(|| format!("{done} of {}", elfs.len()));
    })?;
    drop(line);
    out!("{}", table(&lines));
    if let Some(path) = &options.junit {
        let name = options.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        std::fs::write(path, to_junit(&name, &lines)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(lines.iter().all(|line| line.verdict == Verdict::Pass))
}

/// The table, and the sums below it.
fn table(lines: &[Line]) -> String {
    let width = lines.iter().map(|l| l.name.chars().count()).max().unwrap_or(0).max(3);
    let mut out = format!("{:width$}  {:10}  {:18}  verdict\n", "ELF", "rvvsim", "peer");
    for line in lines {
        let peer =
            line.peer.as_ref().map_or_else(|| "-".into(), |(name, seen)| format!("{name} {}", seen.ending));
        let ours = line.ours.ending.to_string();
        out += &format!("{:width$}  {ours:10}  {peer:18}  {}\n", line.name, line.verdict.name());
    }
    let bad: Vec<&Line> = lines.iter().filter(|l| l.verdict != Verdict::Pass).collect();
    for line in &bad {
        out += &format!("\n{}: {}\n", line.name, line.reason());
    }
    let count = |verdict| lines.iter().filter(|l| l.verdict == verdict).count();
    let peers = lines.iter().filter(|l| l.peer.is_some()).count();
    out += &format!(
        "\n{} passes, {} failures, {} disagreements; {peers} of {} compared with a peer\n",
        count(Verdict::Pass),
        count(Verdict::Fail),
        count(Verdict::Disagreement),
        lines.len()
    );
    out
}
