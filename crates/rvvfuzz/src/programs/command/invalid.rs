//! `rvvfuzz invalid`.

use super::run::{ProgramArgs, stop_flag};
use super::testbed_args::TestbedArgs;
use super::{Done, duration, exit, write_file};
use crate::programs::judge::invalid::{Answer, Complaint, ask_all, complaints};
use crate::programs::report::live::LiveLine;
use crate::programs::settings::{LEVELS, Settings};
use crate::programs::testbed::compiler::{Compiler, Family};
use clap::Args;
use rvv_cli::outln;
use rvvgen::{Plan, Sizes, invalid};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Give compilers programs that must not compile: one defect each, and the rule that forbids it.
///
/// A compiler that crashes or does not end is wrong, whatever the program. One that accepts a program is
/// wrong if more of the others refuse it; if not, the rule decides, which is printed. A compiler that refuses
/// the program without the defect as well has no voice in that.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz invalid --time 5m --output found
  rvvfuzz invalid --count 500 --compilers riscv64-linux-gnu-gcc-16,clang-22

It ends with 0 if every compiler refuses everything, with 1 if there is something to complain of, with 2 if it could not run.")]
pub struct Command {
    /// Programs; 200 if no --time is given
    #[arg(long)]
    count: Option<u64>,
    /// Go on for this long: 90s, 5m
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Write the first program of each kind of complaint into this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    testbeds: TestbedArgs,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// What a compiler made of the programs with one defect.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    refused: u64,
    unjudged: u64,
    accepted: u64,
    crashes: u64,
}

impl Row {
    fn count(&mut self, answer: &Answer) {
        match answer {
            Answer::Refused => self.refused += 1,
            Answer::Unjudged => self.unjudged += 1,
            Answer::Accepted => self.accepted += 1,
            Answer::Crashed(_) | Answer::TimedOut => self.crashes += 1,
        }
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.ask_all())
    }

    fn ask_all(&self) -> Done {
        let mut line = LiveLine::default();
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        self.programs.apply(&mut settings);
        self.testbeds.apply(&mut settings, &mut |note| line.say(&note))?;
        settings.check()?;
        let limits = settings.limits();
        let testbeds = settings.testbeds()?;
        let mut compilers: Vec<&Compiler> = testbeds.builds.iter().map(|b| &b.compiler).collect();
        compilers.retain(|c| !matches!(c.family, Family::Direct | Family::Custom));
        compilers.dedup();
        if compilers.is_empty() {
            return Err("there is no compiler to ask; `rvvfuzz doctor` says what would add one".to_string());
        }
        let base = rvvgen::Settings { selection: settings.selection()?, ..rvvgen::Settings::default() };
        let ops = settings.ops.unwrap_or(Sizes::OPERATIONS);
        let plan = Plan::new(settings.seed, &base.selection, ops, base.smallest_vlen());
        let weights = settings.weights()?;
        let count = self.count.unwrap_or(if self.time.is_some() { u64::MAX } else { 200 });
        let end = self.time.map(|time| Instant::now() + time);
        let stop = stop_flag();
        let mut rows: BTreeMap<(&str, &str), Row> = BTreeMap::new();
        // By compiler, defect and what it did: how often, and the first.
        let mut found: BTreeMap<(String, &str, String), u64> = BTreeMap::new();
        let mut programs = 0;
        for k in 0..count {
            if stop.load(Ordering::Relaxed) || end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let mut how = base.clone();
            how.weights = weights[(k % weights.len().max(1) as u64) as usize].clone();
            let one = invalid(&plan, k, &how).map_err(|e| e.to_string())?;
            let level = LEVELS[(k % LEVELS.len() as u64) as usize];
            let answers = ask_all(&compilers, &one, level, &limits)?;
            for (compiler, answer) in compilers.iter().zip(&answers) {
                rows.entry((&compiler.name, one.defect.name())).or_default().count(answer);
            }
            for (n, complaint) in complaints(&answers) {
                let what = match complaint {
                    Complaint::Crash(site) => format!("crashes {site}"),
                    Complaint::NoEnd => "does not end".to_string(),
                    Complaint::Alone => "accepts what more of the others refuse".to_string(),
                    Complaint::WithOthers => "accepts it, and the others do not outvote it".to_string(),
                };
                let key = (compilers[n].name.clone(), one.defect.name(), what);
                let times = found.entry(key.clone()).or_default();
                *times += 1;
                if *times == 1 {
                    let (name, defect, what) = key;
                    line.say(&format!("{name} {level} {what}: program {k}, {defect}: {}", one.what));
                    line.say(&format!("  {}", one.defect.rule()));
                    if let Some(folder) = &self.output {
                        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
                        write_file(&folder.join(format!("{name}-{k}.c")), &one.text)?;
                    }
                }
            }
            programs += 1;
        }
        line.end();
        outln!(
            "{:28} {:24} {:>8} {:>8} {:>8} {:>8}",
            "compiler",
            "defect",
            "refused",
            "accepted",
            "crashes",
            "unjudged"
        );
        for ((compiler, defect), row) in &rows {
            let Row { refused, unjudged, accepted, crashes } = row;
            outln!("{compiler:28} {defect:24} {refused:8} {accepted:8} {crashes:8} {unjudged:8}");
        }
        for ((compiler, defect, what), times) in &found {
            outln!("{compiler} {what}: {defect}, {times} of {programs} programs");
        }
        Ok(found.is_empty())
    }
}
