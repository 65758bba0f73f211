//! `rvvfuzz reduce`.

use super::replay::{print_verdict, read};
use super::run::stop_flag;
use super::testbed_args::{TestbedArgs, still_there};
use super::{Done, duration, exit, write_file};
use crate::programs::judge::batch::run_all;
use crate::programs::judge::case::Case;
use crate::programs::judge::probe::{Named, drop_failing_runs, try_testbeds};
use crate::programs::judge::vote::{Verdict, vote};
use crate::programs::reduce::queue::Reduce;
use crate::programs::reduce::reducer::Reducer;
use crate::programs::settings::Settings;
use crate::programs::store::{Place, Reduction, Store};
use crate::programs::testbed::Testbeds;
use clap::Args;
use rvv_cli::{errln, outln};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Reduce a program that shows a fault, and write a report.
///
/// The program is a file, or a verdict of a campaign by its number. It is run on all testbeds, and each fault
/// is reduced. The expected output is computed again at each step, so that the program stays well-defined.
/// For each fault it writes the program (.ir), the same in C (.c), and a report (.md) with versions, levels
/// and the pass at fault.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz reduce bug.ir                        bug.1.ir, bug.1.c, bug.1.md
  rvvfuzz reduce bug.ir --compilers clang-22 --levels -O2 --time 10m
  rvvfuzz reduce 7 --store campaign.db         verdict 7, again, into the store and verdict-7.*

It ends with 1 if something was reduced, 0 if nothing is wrong with the program, 2 if it could not run: also if what was
named is not there, fails a first program, or stops working.")]
pub struct Command {
    /// A program, as `rvvfuzz show --ir` writes it, or the number of a verdict
    #[arg(value_name = "FILE|ID")]
    what: String,
    /// The campaign's file, for the number of a verdict
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// Time to reduce one fault, and the same again to bisect the passes
    #[arg(long, value_parser = duration, default_value = "5m")]
    time: Duration,
    /// The folder to write to
    #[arg(short, long, default_value = ".", value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    testbeds: TestbedArgs,
    /// Set by ctrl-C.
    #[arg(skip)]
    stop: Arc<AtomicBool>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(mut self) -> ExitCode {
        self.stop = stop_flag();
        exit(self.reduce())
    }

    fn reduce(&self) -> Done {
        // Known before minutes of work, not after.
        std::fs::create_dir_all(&self.output).map_err(|e| format!("{}: {e}", self.output.display()))?;
        match self.what.parse::<i64>() {
            Ok(id) if !Path::new(&self.what).exists() => self.verdict(id),
            _ => self.file(Path::new(&self.what)),
        }
    }

    fn file(&self, path: &Path) -> Done {
        let program = read(path)?;
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        let named = self.testbeds.apply(&mut settings, &mut |note| errln!("{note}"))?;
        let mut testbeds = settings.testbeds()?;
        drop_failing_runs(&mut testbeds, &named, &settings.limits(), &mut |note| errln!("{note}"))?;
        let case = Case::on(&testbeds, 0, program).map_err(|e| format!("{}: {e}", path.display()))?;
        errln!("running it on {} testbeds", testbeds.len());
        let (table, broken) = run_all(&testbeds, std::slice::from_ref(&case), &settings.limits());
        let verdicts = vote(&testbeds, &table[0]);
        if verdicts.is_empty() {
            if let Some(b) = broken.first() {
                return Err(format!("{} stopped working: {}", b.testbed, b.why.trim()));
            }
            outln!("Nothing is wrong.");
            return Ok(true);
        }
        let reducer = self.reducer(&settings, &testbeds);
        let stem = path.file_stem().map_or("program".into(), |s| s.to_string_lossy());
        for (n, verdict) in verdicts.iter().enumerate() {
            print_verdict(verdict);
            self.one(&reducer, &testbeds, &case, verdict, &format!("{stem}.{}", n + 1))?;
        }
        Ok(false)
    }

    /// A verdict of a campaign: on the testbeds of the campaign, and the result goes into its store.
    fn verdict(&self, id: i64) -> Done {
        if !self.testbeds.is_empty() {
            return Err("a verdict is reduced on the testbeds of its campaign; save its program with \
                        `rvvfuzz show ID --ir` to choose others"
                .to_string());
        }
        let fail = |e: crate::programs::store::StoreError| e.to_string();
        let (mut store, settings) = Store::resume(&self.store).map_err(fail)?;
        let found = store.verdicts().map_err(fail)?.into_iter().find(|v| v.id == id);
        let stored = found.ok_or_else(|| format!("there is no verdict {id} in {}", self.store))?;
        let verdict = stored.verdict().ok_or_else(|| format!("verdict {id} is of no testbed"))?;
        let ir = store.program(stored.program).map_err(fail)?;
        let ir = ir.ok_or_else(|| format!("the program of verdict {id} was not kept"))?;
        let program = ir.parse().map_err(|e: rvv_ir::ParseError| e.to_string())?;
        let testbeds = settings.testbeds()?;
        still_there(&settings)?;
        try_testbeds(&testbeds, &Named::stored(&settings), &settings.limits())?;
        let case = Case::on(&testbeds, stored.program, program)?;
        let reducer = self.reducer(&settings, &testbeds);
        print_verdict(&verdict);
        let name = format!("verdict-{id}");
        let reduction = self.one(&reducer, &testbeds, &case, &verdict, &name)?;
        store.save_reduction(id, &reduction).map_err(fail)?;
        Ok(false)
    }

    fn reducer(&self, settings: &Settings, testbeds: &Testbeds) -> Reducer {
        Reducer::new(settings.limits(), self.time, testbeds)
    }

    fn one(
        &self,
        reducer: &Reducer,
        testbeds: &Testbeds,
        case: &Case,
        verdict: &Verdict,
        name: &str,
    ) -> Result<Reduction, String> {
        errln!("reducing it, for at most {} s", self.time.as_secs());
        let before = case.program.work();
        let reduction = reducer
            .reduce(case, verdict, testbeds, &self.stop, None)
            .ok_or("the fault did not show when the program was run again")?;
        let after = reduction.ir.as_ref().and_then(|ir| ir.parse::<rvv_ir::Program>().ok());
        let after = after.map_or(before, |p| p.work());
        outln!("{before} calls became {after}; {}", reduction.signature.as_deref().unwrap_or(""));
        for (extension, text) in [("ir", &reduction.ir), ("c", &reduction.c), ("md", &reduction.report)] {
            let Some(text) = text else { continue };
            let path = self.output.join(format!("{name}.{extension}"));
            write_file(&path, text)?;
            outln!("  {}", path.display());
        }
        Ok(reduction)
    }
}
