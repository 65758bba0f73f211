//! `testsuite fuzz`.

use super::{Failure, Kind, Options, TARGETS, Target, run};
use clap::value_parser;
use rvv_cli::{errln, out, outln};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What to fuzz.
#[derive(clap::Args)]
pub struct Command {
    /// The target; without one, all are listed
    target: Option<String>,
    /// Inputs to try
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// Stop after so many seconds, if that is sooner
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..=10_000_000))]
    time: Option<u64>,
    /// All inputs follow from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first input: inputs of one seed are the same whatever comes before them
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Threads
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Seconds that one input may take
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u64).range(1..=3600))]
    limit: u64,
    /// Mebibytes that the process may use
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    #[arg(value_parser = value_parser!(u64).range(16..=1 << 20))]
    memory: u64,
    /// The folder for inputs that fail
    #[arg(long, value_name = "FOLDER", default_value = "fuzz-failures")]
    save: PathBuf,
    /// Try these files instead
    #[arg(long, value_name = "FILE", num_args = 1..)]
    replay: Vec<PathBuf>,
    /// Write the inputs into a folder instead: a corpus for libFuzzer to start from
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    corpus: Option<PathBuf>,
}

/// Runs the command; says whether nothing failed.
///
/// # Errors
/// A target that there is not, or files that cannot be read or written.
pub fn main(command: &Command) -> Result<bool, Box<dyn std::error::Error>> {
    let list = || TARGETS.map(|t| format!("  {:9} {}\n", t.name, t.about)).concat();
    let Some(name) = &command.target else {
        out!("{}", list());
        return Ok(true);
    };
    let target =
        Target::named(name).ok_or_else(|| format!("there is no target `{name}`, but:\n{}", list()))?;
    if let Some(folder) = &command.corpus {
        std::fs::create_dir_all(folder)?;
        for number in (command.first..).take(usize::try_from(command.count)?) {
            std::fs::write(folder.join(number.to_string()), target.input(command.seed, number))?;
        }
        return Ok(true);
    }
    for file in &command.replay {
        let counted = target.run(&std::fs::read(file)?);
        outln!("{}: {counted} {}", file.display(), target.counts);
    }
    if !command.replay.is_empty() {
        return Ok(true);
    }
    let options = Options {
        seed: command.seed,
        first: command.first,
        count: command.count,
        time: command.time.map(Duration::from_secs),
        jobs: command.jobs.into(),
        limit: Duration::from_secs(command.limit),
        memory: command.memory << 20,
        save: command.save.clone(),
    };
    // The lines are what is left if the process dies: of a stack that is too small, or of one huge
    // allocation.
    let every = Duration::from_secs(if std::io::stderr().is_terminal() { 1 } else { 30 });
    let mut last = Instant::now();
    let progress = |executions, below| {
        if last.elapsed() >= every {
            last = Instant::now();
            errln!("{name}: {executions} executions; --first {below} goes on from here");
        }
    };
    let stuck = |failures: &[Failure]| {
        report(&target, &options, failures);
        std::process::exit(1);
    };
    let done = run(&target, &options, progress, stuck);
    report(&target, &options, &done.failures);
    outln!(
        "{name}: {} executions in {:.1} s, {:.0}/s; {} {}; seed {}, from {}; at most {} MiB; {} failures",
        done.executions,
        done.elapsed.as_secs_f64(),
        done.executions as f64 / done.elapsed.as_secs_f64(),
        done.counted,
        target.counts,
        options.seed,
        options.first,
        done.peak >> 20,
        done.failures.len(),
    );
    Ok(done.failures.is_empty())
}

fn report(target: &Target, options: &Options, failures: &[Failure]) {
    for failure in failures {
        let what = match failure.kind {
            Kind::Panic => "panics".to_string(),
            Kind::Hang => format!("takes longer than {} s", options.limit.as_secs()),
            Kind::Memory => format!("ran when more than {} MiB were used", options.memory >> 20),
        };
        let saved = failure.saved.display();
        outln!("{}: input {} of seed {} {what}", target.name, failure.number, options.seed);
        outln!("  testsuite fuzz {} --replay {saved}", target.name);
    }
}
