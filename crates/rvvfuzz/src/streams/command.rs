//! `rvvfuzz isa`: the command line.

use super::campaign::{self, State};
use super::compare::Choice;
use super::corpus;
use super::coverage::subjects;
use super::coverage_report;
use super::engines;
use super::generate;
use super::known;
use super::mutate::{Made, Mutator};
use super::peers::{Kind, Peer};
use super::probe::{Asked, working};
use super::replay;
use crate::programs::command::{duration, processors};
use clap::{Args, Subcommand};
use rvv_cli::progress::Progress;
use rvv_cli::{errln, out, outln};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Run random streams of instructions on rvvsim, Spike and QEMU, and compare the whole state.
///
/// Streams are generated from the instruction table, seeded, and guided by coverage. Each runs on rvvsim in
/// process, and as an ELF on the peers: on Spike in M-mode, on QEMU as a Linux process. A difference that is
/// not on the list of known ones is reduced and reported in DIR/findings.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  rvvfuzz isa --time 5m                       rvvsim alone: against itself, all policies
  rvvfuzz isa --spike ~/spike --time 10m      with Spike; QEMU too if qemu-riscv64 is on the PATH
  rvvfuzz isa --vlen 1024 --count 10000 --seed 7 --jobs 1
  rvvfuzz isa --alone --host-code --time 5m   rvvsim's two engines against each other, guided by coverage
  rvvfuzz isa engines --time 5m               the same at full speed
  rvvfuzz isa replay corpus --on 'ssh board run {elf}'
  rvvfuzz isa distill rvvfuzz-isa/corpus small --bytes 2000000

It ends with 0 if nothing disagreed, 1 if something did, 2 if it could not go on: also if a peer was named that is not there
or fails a first stream. A peer that is only found on the PATH and fails is left out, and that is said."
)]
pub struct Command {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    campaign: Campaign,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Run a saved corpus, compared with what was recorded, under all policies, and on any emulator or board.
    ///
    /// It ends with 0 if all is as it should be, 1 if something is wrong, 2 if it could not run: also if the
    /// command or a peer that was named fails a first stream.
    Replay(Replay),
    /// Choose the fewest streams of a corpus with the same coverage
    Distill(Distill),
    /// Compare rvvsim's host code with its interpreter: each stream from many states, millions of
    /// instructions a minute.
    ///
    /// It ends with 0 if they did the same, 1 if not, 2 if it could not go on.
    Engines(Engines),
}

#[derive(Args, Debug)]
struct Campaign {
    /// Stop after this long: 90, 90s, 5m, 2h [default: 1m, if no --count is given]
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop after so many streams
    #[arg(long)]
    count: Option<u64>,
    /// Worker threads
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Seed of all random choices (with --jobs 1 and --count, the whole campaign is reproducible)
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// VLENs, used in turn
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 1024], value_parser = vlen)]
    vlen: Vec<u32>,
    /// Share of corner cases: reserved encodings, overlaps, vstart, misaligned, faults, reserved frm
    #[arg(long, default_value_t = 0.1, value_parser = share)]
    wild: f64,
    /// Share of vector instructions
    #[arg(long, default_value_t = 0.7, value_parser = share)]
    vector: f64,
    /// Instructions per stream
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    length: u16,
    /// Streams per ELF for the peers
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=128))]
    pack: u16,
    /// Folder for findings, corpus and coverage
    #[arg(long, default_value = "rvvfuzz-isa", value_name = "DIR")]
    out: PathBuf,
    /// Start with the streams of this folder
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    #[command(flatten)]
    peers: Peers,
}

#[derive(Args, Debug)]
struct Peers {
    /// Spike; without it, `spike` on the PATH if it is there
    #[arg(long, value_name = "PATH")]
    spike: Option<PathBuf>,
    /// QEMU; without it, `qemu-riscv64` on the PATH if it is there
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Use no other emulators
    #[arg(long, conflicts_with_all = ["spike", "qemu"])]
    alone: bool,
    /// Compare rvvsim's host code with its interpreter, too: every block is compiled before it first runs
    #[arg(long)]
    host_code: bool,
    /// Time limit of a peer for one ELF, in seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
}

#[derive(Args, Debug)]
struct Replay {
    /// The corpus: a folder, or one file
    dir: PathBuf,
    /// Run each ELF by this command, split at spaces: `{elf}` is the file, `{vlen}` its VLEN; what the ELF
    /// writes to its standard output must be on the command's
    #[arg(long, value_name = "COMMAND")]
    on: Option<String>,
    /// Expect the known differences of this peer
    #[arg(long = "as", value_name = "NAME", default_value = "command", requires = "on",
          value_parser = ["command", "qemu", "spike"])]
    known_as: String,
    #[command(flatten)]
    peers: Peers,
}

#[derive(Args, Debug)]
struct Engines {
    /// Stop after this long: 90, 90s, 5m, 2h [default: 1m, if no --instructions are given]
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop after so many instructions
    #[arg(long)]
    instructions: Option<u64>,
    /// Worker threads
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// VLENs, used in turn
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 1024, 4096], value_parser = vlen)]
    vlen: Vec<u32>,
    /// Share of corner cases: reserved encodings, overlaps, vstart, misaligned, faults, reserved frm
    #[arg(long, default_value_t = 0.05, value_parser = share)]
    wild: f64,
    /// Share of vector instructions
    #[arg(long, default_value_t = 0.7, value_parser = share)]
    vector: f64,
    /// Instructions per stream
    #[arg(long, default_value_t = 192, value_parser = clap::value_parser!(u16).range(1..=256))]
    length: u16,
    /// States that each stream is run from
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=64))]
    states: u16,
}

#[derive(Args, Debug)]
struct Distill {
    /// The corpus to choose from
    from: PathBuf,
    /// The folder to write
    to: PathBuf,
    /// Size limit, in bytes
    #[arg(long, default_value_t = 2_000_000)]
    bytes: usize,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let result = match self.action {
            None => self.campaign.run(),
            Some(Action::Replay(replay)) => replay.run(),
            Some(Action::Distill(distill)) => distill.run(),
            Some(Action::Engines(engines)) => engines.run(),
        };
        match result {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(1),
            Err(why) => {
                errln!("rvvfuzz: {why}");
                ExitCode::from(2)
            }
        }
    }
}

/// What keeps a command from going on, as a sentence.
type Done = Result<bool, String>;

impl Campaign {
    fn run(self) -> Done {
        let peers = working(self.peers.find(), &self.vlen)?;
        let corpus = match &self.corpus {
            Some(dir) => {
                corpus::load(dir).map_err(|e| e.to_string())?.into_iter().map(|e| e.stream).collect()
            }
            None => Vec::new(),
        };
        // Better now than after the campaign.
        std::fs::create_dir_all(&self.out).map_err(|e| format!("{}: {e}", self.out.display()))?;
        let time = self.time.or(if self.count.is_none() { Some(Duration::from_secs(60)) } else { None });
        let options = campaign::Options {
            vlens: self.vlen,
            peers,
            jobs: self.jobs.into(),
            time,
            count: self.count,
            seed: self.seed,
            streams: generate::Options { length: self.length.into(), wild: self.wild, vector: self.vector },
            out: self.out,
            pack: self.pack.into(),
            corpus,
            known: known::known(),
        };
        let names: Vec<&str> = options.peers.iter().map(|p| p.name.as_str()).collect();
        let jury = if names.is_empty() {
            "rvvsim alone".to_owned()
        } else {
            format!("rvvsim and {}", names.join(", "))
        };
        outln!("seed {}, VLEN {:?}, {} workers: {jury}", options.seed, options.vlens, options.jobs);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // A second handler would be refused; then the first one does.
        let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
        let (mut line, begin) = (Progress::for_logs(), Instant::now());
        let result = campaign::run(&options, &stop, |state| line.show(|| progress(state, begin)));
        line.clear();
        let state = result.map_err(|e| e.to_string())?;
        write_coverage(&options.out, &state)?;
        out!("{}", summary(&state, begin.elapsed()));
        outln!("Coverage, corpus and findings are in {}.", options.out.display());
        Ok(state.findings.is_empty() && state.disagreements == 0)
    }
}

fn write_coverage(out: &Path, state: &State) -> Result<(), String> {
    let mut json = coverage_report::json(&state.coverage);
    let made = |(m, made): (&Mutator, &Made)| {
        let counts = json!({ "tried": made.tried, "valid": made.valid, "new": made.new });
        (m.name().to_string(), counts)
    };
    json["mutators"] =
        Mutator::ALL.iter().zip(&state.mutators).map(made).collect::<serde_json::Map<_, _>>().into();
    json["evicted"] = state.corpus.evicted().into();
    let json = serde_json::to_string_pretty(&json).map_err(|e| e.to_string())?;
    let files = [
        ("coverage.txt", coverage_report::text(&state.coverage)),
        ("coverage.json", json),
        ("coverage.html", coverage_report::html(&state.coverage)),
    ];
    for (name, text) in files {
        corpus::write_whole(&out.join(name), text.as_bytes()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// What each way to make a stream brought, of those that were tried.
fn mutators(state: &State) -> String {
    let mut out = format!("{:<10} {:>9} {:>9} {:>9}\n", "mutator", "tried", "valid", "new");
    for (mutator, made) in Mutator::ALL.iter().zip(&state.mutators).filter(|(_, made)| made.tried > 0) {
        out += &format!("{:<10} {:>9} {:>9} {:>9}\n", mutator.name(), made.tried, made.valid, made.new);
    }
    if state.corpus.evicted() > 0 {
        out += &format!("{} streams gave way to others that add more\n", state.corpus.evicted());
    }
    out
}

/// What a campaign came to.
fn summary(state: &State, time: Duration) -> String {
    let mut out = format!(
        "{} streams, {} instructions, {} of them vector, in {:.0} s ({:.0} streams/s)\n",
        state.streams,
        state.instructions,
        state.vector,
        time.as_secs_f64(),
        state.streams as f64 / time.as_secs_f64()
    );
    out += &format!(
        "{} of {} instructions reached{}; {} circumstances; {} streams kept\n",
        state.coverage.reached(),
        subjects().count(),
        state.all_reached.map_or(String::new(), |t| format!(", all after {:.1} s", t.as_secs_f64())),
        state.coverage.keys.len(),
        state.corpus.streams().len()
    );
    out += &mutators(state);
    let missing = state.coverage.counts.missing();
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|op| op.name()).collect();
        out += &format!("not reached: {}\n", names.join(" "));
    }
    for ((peer, vlen), vector) in &state.compared {
        out += &format!("{peer}, VLEN {vlen}: {vector} vector instructions compared\n");
    }
    let mut names: Vec<&String> = state.known.keys().chain(state.left_out.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let times = |map: &BTreeMap<String, u64>| map.get(name).copied().unwrap_or(0);
        let (seen, left_out) = (times(&state.known), times(&state.left_out));
        out += &format!("known: {name}: seen in {seen} streams, left out of {left_out}\n");
    }
    for finding in state.findings.values() {
        let times = if finding.times > 1 { format!(" ({} times)", finding.times) } else { String::new() };
        out += &format!(
            "DISAGREEMENT {}{times}: {}\n",
            finding.name,
            finding.folder.join("report.txt").display()
        );
    }
    if state.unsteady > 0 {
        out += &format!(
            "{} streams differed once, or took too long, and did not when run again\n",
            state.unsteady
        );
    }
    if state.disagreements > 0 || !state.findings.is_empty() {
        out += &format!("{} disagreements\n", state.disagreements.max(state.findings.len() as u64));
    } else {
        out += "no disagreement\n";
    }
    out
}

/// How far fuzzing is.
fn progress(state: &State, begin: Instant) -> String {
    let seconds = begin.elapsed().as_secs_f64();
    format!(
        "{seconds:.0} s: {} streams ({:.0}/s), {}/{} instructions, {} circumstances, {} disagreements, {} known",
        state.streams,
        state.streams as f64 / seconds,
        state.coverage.reached(),
        subjects().count(),
        state.coverage.keys.len(),
        state.disagreements,
        state.known.values().sum::<u64>()
    )
}

impl Engines {
    fn run(self) -> Done {
        let time =
            self.time.or(if self.instructions.is_none() { Some(Duration::from_secs(60)) } else { None });
        let options = engines::Options {
            vlens: self.vlen,
            jobs: self.jobs.into(),
            time,
            instructions: self.instructions,
            seed: self.seed,
            streams: generate::Options { length: self.length.into(), wild: self.wild, vector: self.vector },
            states: self.states.into(),
        };
        if !rvvsim::has_host_code() {
            return Err(
                "this host has no host code to compare: that takes x86-64 with AVX2, BMI2 and FMA".into()
            );
        }
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
        let (mut line, begin) = (Progress::for_logs(), Instant::now());
        let result = engines::run(&options, &stop, |state| {
            line.show(|| {
                let seconds = begin.elapsed().as_secs_f64();
                let (all, rate) = (state.total(), state.total() as f64 / seconds);
                format!("{seconds:.0} s: {} streams, {all} instructions ({rate:.0}/s)", state.streams)
            });
        });
        line.clear();
        let state = result.map_err(|e| e.to_string())?;
        for (vlen, instructions) in &state.instructions {
            outln!("VLEN {vlen}: {instructions} instructions compared");
        }
        outln!("{} streams, {} instructions, seed {}", state.streams, state.total(), options.seed);
        match &state.difference {
            Some(difference) => outln!("DIFFERENCE\n{difference}"),
            None => outln!("no difference"),
        }
        Ok(state.difference.is_none())
    }
}

impl Replay {
    fn run(self) -> Done {
        let entries = corpus::load(&self.dir).map_err(|e| e.to_string())?;
        let mut asked = self.peers.find();
        if self.on.is_some() {
            asked.retain(|a| a.named);
        }
        if let Some(command) = &self.on {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() || !command.contains("{elf}") {
                return Err("--on needs a command with {elf} in it".into());
            }
            let peer = Peer {
                name: self.known_as.clone(),
                traps_on_vstart: false,
                kind: Kind::Command(words),
                choice: Choice::Any,
                limit: Duration::from_secs(self.peers.limit),
            };
            asked.push(Asked { peer, named: true });
        }
        let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
        let vlens: BTreeSet<u32> = entries.iter().map(|e| e.stream.vlen).collect();
        let peers = working(asked, &Vec::from_iter(vlens))?;
        let replayed =
            replay::replay(&entries, &peers, &known::known(), folder.path()).map_err(|e| e.to_string())?;
        for wrong in &replayed.wrong {
            outln!("{wrong}");
        }
        for (name, times) in &replayed.known {
            outln!("known: {name}: in {times} streams");
        }
        outln!(
            "{} streams, {} of {} instructions, {} wrong",
            replayed.streams,
            replayed.coverage.reached(),
            subjects().count(),
            replayed.wrong.len()
        );
        Ok(replayed.wrong.is_empty())
    }
}

impl Distill {
    fn run(self) -> Done {
        let streams: Vec<_> =
            corpus::load(&self.from).map_err(|e| e.to_string())?.into_iter().map(|e| e.stream).collect();
        let chosen = corpus::distill(&streams, self.bytes);
        corpus::save(&self.to, &chosen).map_err(|e| e.to_string())?;
        outln!("{} of {} streams", chosen.len(), streams.len());
        Ok(true)
    }
}

impl Peers {
    /// Who is named, and who is on the PATH.
    fn find(&self) -> Vec<Asked> {
        let host_code = self.host_code.then(|| Asked { peer: Peer::host_code(), named: true });
        if self.alone {
            return host_code.into_iter().collect();
        }
        let limit = Duration::from_secs(self.limit);
        let ask = |path: &Option<PathBuf>, usual: &str, peer: fn(&Path) -> Peer| {
            let found = path.clone().or_else(|| rvv_tools::find::on_path(usual))?;
            Some(Asked { peer: Peer { limit, ..peer(&found) }, named: path.is_some() })
        };
        let spike = ask(&self.spike, "spike", Peer::spike);
        let qemu = ask(&self.qemu, "qemu-riscv64", Peer::qemu);
        spike.into_iter().chain(qemu).chain(host_code).collect()
    }
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s| (0.0..=1.0).contains(s)).ok_or_else(|| "a share is from 0 to 1".into())
}

fn vlen(text: &str) -> Result<u32, String> {
    let vlen: Option<u32> = text.parse().ok();
    vlen.filter(|v| v.is_power_of_two() && (128..=65536).contains(v))
        .ok_or_else(|| "VLEN is a power of two from 128 to 65536".into())
}
