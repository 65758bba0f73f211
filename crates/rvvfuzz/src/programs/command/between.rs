//! `rvvfuzz between`, and `rvvfuzz run --between`.

use super::run::{ProgramArgs, stop_flag};
use super::testbed_args::find_compilers;
use super::{Done, duration, exit, processors, write_file};
use crate::programs::between::hunt::{Hunt, Options, Progress, run};
use crate::programs::between::journal::Journal;
use crate::programs::between::report::Report;
use crate::programs::report::live::duration as time_text;
use crate::programs::settings::{CompilerSettings, EmulatorSettings, Settings, SetupSettings};
use clap::Args;
use rvv_cli::{outln, progress};
use rvvgen::Sizes;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Find what changed between two compilers, or two sets of flags: programs that get different code.
///
/// Programs are compiled with both and their code is compared: the rounding modes that reach an instruction,
/// reads and writes of control registers, vtypes, vset instructions, vector instructions, their order, the
/// rest. Programs also run, so that it is known which differences change what they do. For each difference
/// the smallest program is kept, and reduced as long as it shows it. The list is ranked: what changes results
/// first, then what may.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz between clang-21 clang-22 --time 10m
  rvvfuzz between riscv64-linux-gnu-gcc-15 riscv64-linux-gnu-gcc-16 --levels=-O1,-O2 --json changes.json
  rvvfuzz between 'clang-22 -O2' 'clang-22 -O3'
  rvvfuzz run --between clang-21,clang-22 --time 10m

All that was found is in the file of --store at any moment: after a kill the same command goes on, and with --time 0 it
shows the list. It ends with 0 if no code differs, 1 if some does, 2 if it could not run.")]
pub struct Command {
    /// The first: a compiler, perhaps with flags
    first: String,
    /// The second
    second: String,
    /// Optimisation levels at which they are compared, if they have no flags [default: -O2,-O3]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    levels: Option<Vec<String>>,
    /// Compare and reduce for this long: 90, 90s, 5m, 2h
    #[arg(long, value_parser = duration, default_value = "10m")]
    time: Duration,
    /// Compare at most so many programs
    #[arg(long)]
    count: Option<u64>,
    /// The file with what was found
    #[arg(long, default_value = "between.jsonl", value_name = "FILE")]
    store: PathBuf,
    /// Worker threads; one reduces while there is anything to reduce
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Time to reduce one program
    #[arg(long, value_parser = duration, default_value = "1m")]
    reduce_time: Duration,
    /// Entries in the list
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Write the list to this file as JSON, with all code; `-` for the standard output, instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// Levels if none are asked for.
const LEVELS: [&str; 2] = ["-O2", "-O3"];
/// Operations of a program: small ones differ in one thing at a time.
const OPERATIONS: &str = "1-20";

/// A compiler with flags, as on a command line; a flag or more than one.
fn side(text: &str) -> Result<(String, String), String> {
    let mut words = text.split_whitespace();
    let name = words.next().ok_or("a side of the comparison is empty: name a compiler, as `clang-22 -O2`")?;
    Ok((name.to_string(), words.collect::<Vec<_>>().join(" ")))
}

/// The pairs of builds: each a name and flags.
fn pairs(first: &str, second: &str, levels: &[String]) -> Result<Vec<[(String, String); 2]>, String> {
    let (one, other) = (side(first)?, side(second)?);
    let pairs: Vec<[(String, String); 2]> = match (one.1.is_empty(), other.1.is_empty()) {
        (false, false) => vec![[one, other]],
        (true, true) => {
            let at = |level: &String| [(one.0.clone(), level.clone()), (other.0.clone(), level.clone())];
            levels.iter().map(at).collect()
        }
        _ => return Err(format!("give flags to both of `{first}` and `{second}`, or to none")),
    };
    match pairs.iter().find(|[a, b]| a == b) {
        Some([same, _]) => Err(format!("`{} {}` is compared with itself", same.0, same.1)),
        None => Ok(pairs),
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.compare())
    }

    /// From `run --between first,second`; the file is beside its store.
    pub(super) fn of_run(
        between: &str,
        store: &Path,
        (time, count): (Option<Duration>, Option<u64>),
        (jobs, reduce_time): (u16, Duration),
        levels: Option<Vec<String>>,
        programs: ProgramArgs,
    ) -> Result<Command, String> {
        let sides: Vec<&str> = between.split(',').map(str::trim).collect();
        let [first, second] = sides[..] else {
            return Err(format!(
                "`{between}` is not two compilers with a comma between them: clang-21,clang-22"
            ));
        };
        let (first, second) = (first.to_string(), second.to_string());
        let store = store.with_extension("between.jsonl");
        let time = time.unwrap_or(Duration::from_secs(600));
        let (json, top) = (None, 20);
        Ok(Command { first, second, levels, time, count, store, jobs, reduce_time, top, json, programs })
    }

    fn settings(&self, pairs: &[[(String, String); 2]]) -> Result<Settings, String> {
        let mut settings = Settings {
            ops: OPERATIONS.parse::<Sizes>().ok(),
            // What is known is looked for, too: this is how it is seen to be gone.
            triggers: 1,
            inputs: 0,
            rotated: Vec::new(),
            batch: 48,
            policies: rvvgen::POLICIES.iter().map(|(name, ..)| name.to_string()).collect(),
            setups: [(128, "ones"), (256, "undisturbed")]
                .map(|(vlen, agnostic)| SetupSettings {
                    vlen,
                    agnostic: agnostic.to_string(),
                    half: false,
                    inside: false,
                })
                .to_vec(),
            emulators: vec![EmulatorSettings::rvvsim()],
            ..Settings::default()
        };
        self.programs.apply(&mut settings);
        if settings.explore < 1.0 {
            return Err(
                "programs that two compilers are compared by are all new: leave --explore and --target out"
                    .into(),
            );
        }
        let mut names: Vec<String> = Vec::new();
        settings.levels.clear();
        for (name, flags) in pairs.iter().flatten() {
            if !names.contains(name) {
                names.push(name.clone());
            }
            if !settings.levels.contains(flags) {
                settings.levels.push(flags.clone());
            }
        }
        settings.compilers = find_compilers(&names)?.iter().map(CompilerSettings::from).collect();
        Ok(settings)
    }

    pub(super) fn compare(&self) -> Done {
        let levels = self.levels.clone().unwrap_or_else(|| LEVELS.map(str::to_string).to_vec());
        let pairs = pairs(&self.first, &self.second, &levels)?;
        let settings = self.settings(&pairs)?;
        // Compilers are called by the last part of their path.
        let name = |(name, flags): &(String, String)| (short_name(name), flags.clone());
        let pairs: Vec<_> = pairs.iter().map(|[a, b]| [name(a), name(b)]).collect();
        let hunt = Hunt::new(&settings, &pairs)?;
        let mut journal = Journal::open(&self.store, &hunt.subject)?;
        let stop = stop_flag();
        let line = Mutex::new(progress::Progress::for_logs());
        let begin = Instant::now();
        let show = |p: Progress| {
            let text = || {
                format!(
                    "{}: {} programs compared, {} differ, {} differences, {} reduced",
                    time_text(begin.elapsed().as_secs_f64()),
                    p.programs,
                    p.differ,
                    p.groups,
                    p.reduced
                )
            };
            line.lock().unwrap_or_else(PoisonError::into_inner).show(text);
        };
        let options =
            Options { jobs: self.jobs.into(), time: self.time, count: self.count, reduce: self.reduce_time };
        let done = run(&hunt, &mut journal, &options, &stop, &show);
        let mut line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
        let report = Report::new(&hunt, &journal, self.top, &mut |note| line.show(|| note));
        line.clear();
        match &self.json {
            Some(path) if path == Path::new("-") => write_file(path, &report.json()?)?,
            Some(path) => {
                write_file(path, &report.json()?)?;
                outln!("{}", report.text().trim_end());
            }
            None => outln!("{}", report.text().trim_end()),
        }
        done?;
        if stop.load(Ordering::Relaxed) {
            return Err(format!("stopped; the same command goes on ({})", self.store.display()));
        }
        if report.programs == 0 && !self.time.is_zero() {
            return Err("no batch was finished: give it more --time, or make batches smaller with --batch"
                .to_string());
        }
        Ok(report.differ == 0)
    }
}

fn short_name(name: &str) -> String {
    Path::new(name).file_name().map_or(name.to_string(), |n| n.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_become_pairs() {
        let levels = ["-O1".to_string(), "-O2".to_string()];
        let names = |first, second| -> Result<Vec<String>, String> {
            let pairs = pairs(first, second, &levels)?;
            Ok(pairs.iter().map(|[a, b]| format!("{} {} / {} {}", a.0, a.1, b.0, b.1)).collect())
        };
        assert_eq!(names("a", "b").unwrap(), ["a -O1 / b -O1", "a -O2 / b -O2"]);
        assert_eq!(names("a  -O2 -g", "a -O3").unwrap(), ["a -O2 -g / a -O3 "[..].trim_end()]);
        for (first, second, says) in [
            ("a", "a", "itself"),
            ("a -O2", "b", "to both"),
            ("", "b", "empty"),
            ("a -O1", "a -O1", "itself"),
        ] {
            assert!(names(first, second).unwrap_err().contains(says), "{first} {second}");
        }
    }
}
