//! The runner: every ELF of a folder, on `rvvsim` and on the peers there are.
//!
//! An ELF with a `tohost` symbol is bare metal and goes to Spike; any other is a Linux program and goes to
//! QEMU. A bare-metal ELF passes if its exit code is 0, as riscv-tests have it. So does a Linux program; or,
//! since programs may end with other codes, if QEMU says the same.

pub mod command;
mod junit;

use crate::peer::{self, Ended, PeerError, Spike};
use rvvsim::elf::Image;
use rvvsim::linux::{Input, Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use junit::to_junit;

/// What is run, and how.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How `rvvsim` is configured.
    pub config: Config,
    /// Runs the bare-metal ELFs, too.
    pub spike: Option<Spike>,
    /// Runs the Linux programs, too.
    pub qemu: Option<PathBuf>,
    /// QEMU's `-cpu`.
    pub qemu_cpu: String,
    /// The most that each run may take.
    pub limit: Duration,
    /// How many ELFs at once.
    pub jobs: usize,
}

/// What one emulator made of an ELF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How it ended, in a few words: the same words mean the same.
    pub ending: Ending,
    /// What it wrote to standard output or the console.
    pub stdout: Vec<u8>,
    /// More about it, for people.
    pub remark: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The guest ended with this code.
    Exited(i32),
    /// A signal ended the guest.
    Signaled(i32),
    /// It did not end in time.
    TimedOut,
    /// The emulator gave up, or there was nothing to run.
    Failed,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "exit {code}"),
            Ending::Signaled(signal) => write!(f, "signal {signal}"),
            Ending::TimedOut => f.write_str("timeout"),
            Ending::Failed => f.write_str("failed"),
        }
    }
}

/// What came of an ELF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// As it should be, on all.
    Pass,
    /// `rvvsim` says it failed, and no peer says otherwise.
    Fail,
    /// A peer says something else.
    Disagreement,
}

impl Verdict {
    /// The word for it in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Disagreement => "DISAGREE",
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    /// The file's name.
    pub name: String,
    /// On `rvvsim`.
    pub ours: Seen,
    /// On the peer that runs its kind, if there is one.
    pub peer: Option<(&'static str, Seen)>,
    /// What came of it.
    pub verdict: Verdict,
    /// How long `rvvsim` took.
    pub time: Duration,
}

impl Line {
    /// Why it is not a pass, in words.
    #[must_use]
    pub fn reason(&self) -> String {
        let mut out = format!("rvvsim: {} {}", self.ours.ending, self.ours.remark);
        if let Some((name, seen)) = &self.peer {
            out += &format!("\n{name}: {} {}", seen.ending, seen.remark);
            if seen.stdout != self.ours.stdout {
                let text =
                    |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
                out += &format!("\nrvvsim printed: {}", text(&self.ours.stdout));
                out += &format!("\n{name} printed: {}", text(&seen.stdout));
            }
        }
        out
    }
}

/// The ELFs of a folder, by name.
///
/// # Errors
/// When it cannot be read.
pub fn find(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let mut magic = [0; 4];
        let is_elf = path.is_file()
            && std::fs::File::open(&path)
                .and_then(|mut f| std::io::Read::read_exact(&mut f, &mut magic))
                .is_ok()
            && magic == *b"\x7fELF";
        if is_elf {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

/// Runs all of them; `progress` hears how many are done.
///
/// # Errors
/// When a peer does not start.
pub fn run_all(
    setup: &Setup,
    elfs: &[PathBuf],
    progress: impl Fn(usize) + Sync,
) -> Result<Vec<Line>, PeerError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let lines: Mutex<Vec<Option<Result<Line, PeerError>>>> = Mutex::new(elfs.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..setup.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(elf) = elfs.get(i) else { break };
                    let line = run_one(setup, elf);
                    lines.lock().expect("no thread panics with it")[i] = Some(line);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    lines.into_inner().expect("no thread panics with it").into_iter().flatten().collect()
}

fn run_one(setup: &Setup, elf: &Path) -> Result<Line, PeerError> {
    let name = elf.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let start = Instant::now();
    let (bare, ours) = on_rvvsim(setup, elf);
    let time = start.elapsed();
    let peer = match (bare, &setup.spike, &setup.qemu) {
        (true, Some(spike), _) => Some(("Spike", on_spike(spike, elf, setup.limit)?)),
        (false, _, Some(qemu)) => Some(("QEMU", on_qemu(qemu, &setup.qemu_cpu, elf, setup.limit)?)),
        _ => None,
    };
    let verdict = judge(bare, &ours, peer.as_ref().map(|(_, seen)| seen));
    Ok(Line { name, ours, peer, verdict, time })
}

fn judge(bare: bool, ours: &Seen, peer: Option<&Seen>) -> Verdict {
    let agrees = peer.is_none_or(|seen| seen.ending == ours.ending && seen.stdout == ours.stdout);
    let ended = matches!(ours.ending, Ending::Exited(_) | Ending::Signaled(_));
    match (agrees, &ours.ending) {
        (false, _) => Verdict::Disagreement,
        (true, Ending::Exited(0)) => Verdict::Pass,
        (true, _) if !bare && peer.is_some() && ended => Verdict::Pass,
        _ => Verdict::Fail,
    }
}

/// Runs an ELF here; whether it is bare metal, and what it did.
fn on_rvvsim(setup: &Setup, elf: &Path) -> (bool, Seen) {
    let failed = |remark: String| Seen { ending: Ending::Failed, stdout: Vec::new(), remark };
    let image = match Image::open(elf) {
        Ok(image) => image,
        Err(e) => return (true, failed(e.to_string())),
    };
    let bare = image.looks_bare();
    // A panic is a bug to be reported with the name of the ELF, not the end of the run.
    let run = || if bare { run_bare(setup, &image) } else { run_user(setup, &image, elf) };
    let seen = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("it panicked".into()));
    (bare, seen.unwrap_or_else(failed))
}

fn run_bare(setup: &Setup, image: &Image) -> Result<Seen, String> {
    let mut machine = Machine::bare(setup.config.clone(), image).map_err(|e| e.to_string())?;
    let console = Console::default();
    machine.set_console(Box::new(console.clone()));
    let outcome = machine.run(Some(Instant::now() + setup.limit));
    let stdout = std::mem::take(&mut *console.0.lock().expect("no one panics with it"));
    Ok(seen(outcome, stdout))
}

fn run_user(setup: &Setup, image: &Image, elf: &Path) -> Result<Seen, String> {
    let options = ProcessOptions {
        args: vec![elf.as_os_str().as_encoded_bytes().to_vec()],
        stdin: Input::Bytes(Vec::new()),
        stdout: Output::Capture,
        stderr: Output::Capture,
        ..ProcessOptions::default()
    };
    let mut machine = Machine::user(setup.config.clone(), image, options).map_err(|e| e.to_string())?;
    let outcome = machine.run(Some(Instant::now() + setup.limit));
    let stdout = machine.stdout().to_vec();
    Ok(seen(outcome, stdout))
}

fn seen(outcome: Outcome, stdout: Vec<u8>) -> Seen {
    let (ending, remark) = match outcome {
        Outcome::Exited(code) => (Ending::Exited(code), String::new()),
        Outcome::Signaled { signal, trap } => {
            (Ending::Signaled(signal), trap.map(|t| t.why.to_owned()).unwrap_or_default())
        }
        Outcome::TimedOut => (Ending::TimedOut, String::new()),
        other => (Ending::Failed, format!("{other:?}")),
    };
    Seen { ending, stdout, remark }
}

/// A console that remembers.
#[derive(Clone, Default)]
struct Console(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Console {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no one panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn on_spike(spike: &Spike, elf: &Path, limit: Duration) -> Result<Seen, PeerError> {
    Ok(of_peer(peer::run(spike.command().arg(elf), limit)?))
}

fn on_qemu(qemu: &Path, cpu: &str, elf: &Path, limit: Duration) -> Result<Seen, PeerError> {
    Ok(of_peer(peer::run(Command::new(qemu).arg("-cpu").arg(cpu).arg(elf), limit)?))
}

fn of_peer(run: peer::Run) -> Seen {
    let ending = match run.ended {
        Ended::Exited(code) => Ending::Exited(code),
        Ended::Killed(signal) => Ending::Signaled(signal),
        Ended::TimedOut => Ending::TimedOut,
    };
    let remark = String::from_utf8_lossy(&run.stderr).trim().to_owned();
    Seen { ending, stdout: run.stdout, remark }
}
