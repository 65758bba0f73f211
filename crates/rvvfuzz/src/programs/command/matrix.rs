//! `rvvfuzz matrix`.

use super::run::{ProgramArgs, stop_flag};
use super::testbed_args::TestbedArgs;
use super::{Done, exit, processors, write_file};
use crate::programs::measure::matrix::Matrix;
use crate::programs::measure::{open, recognise};
use crate::programs::report::live::LiveLine;
use crate::programs::settings::{EmulatorSettings, Settings};
use crate::programs::store::Store;
use crate::programs::testbed::census::{missing, patterns};
use crate::programs::testbed::compiler::Compiler;
use crate::programs::workers::{self, Event, Options};
use clap::Args;
use rvv_cli::{errln, figures, outln};
use rvv_intrinsics::{Category, Prototype, prototypes};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Count failing programs per 100 000 by compiler version, level, symptom, axis and known fault.
///
/// The same programs go to all compilers and run on rvvsim. They are made of the intrinsics that all of the
/// compilers have, which are asked first; with --every-intrinsic of all, and a program that a compiler does
/// not support is not counted for it. They keep what triggers known faults, and nothing is reduced. A program
/// is counted once, whatever its schedules and configurations. With --levels-drawn 1 each program is compiled
/// at one level only, and a rate by level is of those compiled at it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz matrix --count 1000 --svg matrix.svg
  rvvfuzz matrix --count 1000 --levels-drawn 1 --compilers clang-17,clang-18,clang-19 --json matrix.json

The campaign is one file, which the next call continues: after a kill the same command goes on, and with a larger --count
there are more programs. It ends with 0, or with 2 if it could not run.")]
pub struct Command {
    /// Distinct programs
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The campaign's file
    #[arg(long, default_value = "matrix.db", value_name = "FILE")]
    store: PathBuf,
    /// Worker threads
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Write everything that was counted to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Put the tables into this document, between its marks for `rvvfuzz matrix`
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Draw a bar for each compiler
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Use intrinsics that only some of the compilers have, too
    #[arg(long)]
    every_intrinsic: bool,
    #[command(flatten)]
    testbeds: TestbedArgs,
    #[command(flatten)]
    programs: ProgramArgs,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.count())
    }

    fn count(&self) -> Done {
        let mut line = LiveLine::default();
        let mut settings = Settings::default();
        // A rate is of a level, and of a program with its own data.
        settings.rotated.clear();
        settings.inputs = 0;
        self.programs.apply(&mut settings);
        let named = self.testbeds.apply(&mut settings, &mut |note| line.say(&note))?;
        settings.triggers = self.programs.known_triggers.unwrap_or(1);
        settings.emulators = vec![EmulatorSettings::rvvsim()];
        if !self.every_intrinsic {
            settings.except = match Store::resume(&self.store) {
                Ok((_, stored)) => stored.except,
                Err(_) => lacking(&settings, &mut line)?,
            };
        }
        let (mut store, campaign) = open(&self.store, &settings)?;
        let fail = |e: crate::programs::store::StoreError| e.to_string();
        let done: u64 = store.done().map_err(fail)?.values().sum();
        if done < self.count {
            campaign.check(&named)?;
            let stop = stop_flag();
            let options = Options {
                jobs: self.jobs.into(),
                time: None,
                cpu_time: None,
                count: Some(self.count),
                batch: settings.batch,
                reducer: None,
                shared: None,
            };
            let result = workers::run(&campaign, &mut store, &options, &stop, |event| match event {
                Event::Progress(progress) => line.show(progress),
                Event::Broken(testbed, why) => line.say(&format!("{testbed} does not work: {why}")),
                Event::Verdict(..) => {}
            });
            line.end();
            result.map_err(|e| e.to_string())?;
            if stop.load(Ordering::Relaxed) {
                return Err("stopped; the same command continues".to_string());
            }
        }
        errln!("recognising verdicts");
        recognise(&mut store, &campaign).map_err(fail)?;
        let matrix = Matrix::read(&store, &campaign.testbeds).map_err(fail)?;
        let tables = matrix.tables();
        outln!("{tables}");
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&matrix).map_err(|e| e.to_string())?;
            write_file(path, &(text + "\n"))?;
        }
        if let Some(path) = &self.svg {
            write_file(path, &matrix.svg())?;
        }
        if let Some(path) = &self.markdown {
            figures::update(path, "rvvfuzz matrix", "rvvfuzz", &tables).map_err(|e| e.to_string())?;
        }
        Ok(true)
    }
}

/// Patterns for what was selected and one of the compilers does not have.
fn lacking(settings: &Settings, line: &mut LiveLine) -> Result<Vec<String>, String> {
    let selection = settings.selection()?;
    let overloaded = |p: &Prototype| matches!(p.category, Category::Overloaded | Category::OverloadedPolicy);
    let wanted = |p: &Prototype| selection.wants(p.intrinsic, overloaded(p));
    let wanted: Vec<Prototype> = prototypes().filter(wanted).collect();
    let testbeds = settings.testbeds()?;
    let mut compilers: Vec<&Compiler> = testbeds.builds.iter().map(|b| &b.compiler).collect();
    compilers.dedup();
    let missing = missing(compilers, &wanted, &settings.limits(), |compiler, so_far| {
        line.say(&format!("asking {} for its intrinsics; {so_far} are missing so far", compiler.name));
    })?;
    Ok(patterns(&missing))
}
