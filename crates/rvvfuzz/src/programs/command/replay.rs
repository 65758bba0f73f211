//! `rvvfuzz replay`.

use super::testbed_args::TestbedArgs;
use super::{Done, exit};
use crate::programs::judge::batch::run_all;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::Outcome;
use crate::programs::judge::probe::drop_failing_runs;
use crate::programs::judge::vote::{Verdict, vote};
use crate::programs::settings::Settings;
use crate::programs::testbed::Testbeds;
use clap::Args;
use rvv_cli::{errln, outln};
use rvv_ir::Program;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run programs from files on all testbeds, and judge them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz replay bug.ir
  rvvfuzz replay bug.ir --compilers clang-21,clang-22 --levels -O0,-O1,-O2,-O3,-Os

It ends with 0 if it passes everywhere, 1 if it does not, 2 if a file is no program, or what was named is not there,
fails a first program, or stops working.")]
pub struct Command {
    /// Programs, as `rvvfuzz show --ir` writes them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    testbeds: TestbedArgs,
}

/// At most so much of a file is read; no program is as long.
const LONGEST: u64 = 64 << 20;

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.replay())
    }

    fn replay(&self) -> Done {
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        // The files first: a mistake in one is reported at once.
        let programs = self.files.iter().map(|f| read(f)).collect::<Result<Vec<Program>, String>>()?;
        let named = self.testbeds.apply(&mut settings, &mut |note| errln!("{note}"))?;
        let mut testbeds = settings.testbeds()?;
        drop_failing_runs(&mut testbeds, &named, &settings.limits(), &mut |note| errln!("{note}"))?;
        let mut clean = true;
        for (file, program) in self.files.iter().zip(programs) {
            let case = Case::on(&testbeds, 0, program).map_err(|e| format!("{}: {e}", file.display()))?;
            outln!("{}", file.display());
            clean &= one(&testbeds, &case, &settings)?;
        }
        Ok(clean)
    }
}

pub(super) fn read(path: &Path) -> Result<Program, String> {
    let wrong = |why: String| format!("{}: {why}", path.display());
    let size = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?.len();
    if size > LONGEST {
        return Err(wrong(format!("{size} bytes are too many for a program")));
    }
    let bytes = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("this is not text".to_string()))?;
    text.parse().map_err(|e: rvv_ir::ParseError| wrong(e.to_string()))
}

fn one(testbeds: &Testbeds, case: &Case, settings: &Settings) -> Done {
    let (table, broken) = run_all(testbeds, std::slice::from_ref(case), &settings.limits());
    let outcomes = &table[0];
    let mut last: Option<&Outcome> = None;
    for (number, outcome) in outcomes.iter().enumerate() {
        let text = match outcome {
            None => "not run".to_string(),
            // The same words as the line above.
            Some(o) if last == Some(o) => o.kind().name().to_string(),
            Some(o) => o.to_string().trim_end().replace('\n', "\n      "),
        };
        last = outcome.as_ref();
        outln!("  {:<52} {text}", testbeds.name(number));
    }
    for b in &broken {
        outln!("  {} does not work: {}", b.testbed, b.why.trim());
    }
    let verdicts = vote(testbeds, outcomes);
    verdicts.iter().for_each(print_verdict);
    if outcomes.iter().all(Option::is_none) {
        return Err("no testbed could run it".to_string());
    }
    match (verdicts.is_empty(), broken.first()) {
        (true, Some(b)) => Err(format!("{} stopped working, so that not all was judged", b.testbed)),
        (true, None) => {
            outln!("Nothing is wrong.");
            Ok(true)
        }
        (false, _) => Ok(false),
    }
}

/// A verdict in a line.
pub(super) fn print_verdict(v: &Verdict) {
    let axes = match v.axes.is_empty() {
        true => String::new(),
        false => format!(" It comes and goes with {}.", v.axes.join(", ")),
    };
    outln!("verdict: {}: {} on {} testbeds.{axes}", v.culprit, v.symptom.name(), v.testbeds.len());
}
