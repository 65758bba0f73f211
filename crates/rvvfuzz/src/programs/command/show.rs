//! `rvvfuzz show`.

use super::{Done, exit};
use crate::programs::judge::outcome::Kind;
use crate::programs::known;
use crate::programs::report::live::duration;
use crate::programs::report::view::plain;
use crate::programs::store::query::StoredVerdict;
use crate::programs::store::{Place, Store, StoreError, kind};
use clap::Args;
use rvv_cli::{out, outln};
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit, emit_function};
use std::process::ExitCode;

/// Show the verdicts of a campaign, or one of them in detail.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz show                     what is new, and known faults in a line each
  rvvfuzz show 7                   one verdict on one screen: where it fails, and the function, reduced if it was
  rvvfuzz show 7 --all             every testbed, all that was said, and the report
  rvvfuzz show 7 --ir > bug.ir     its program, for rvvfuzz replay

It ends with 0 if there are no verdicts, 1 if there are, 2 if the store cannot be read.")]
pub struct Command {
    /// The number of a verdict
    id: Option<i64>,
    /// The campaign's file, or a database: postgres://USER@HOST/NAME
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// Print its program only, reduced if it was
    #[arg(long, requires = "id", conflicts_with = "c")]
    ir: bool,
    /// Print its program in C
    #[arg(long, requires = "id")]
    c: bool,
    /// Show everything: all verdicts of each bug; of one verdict, every testbed and the report
    #[arg(long)]
    all: bool,
}

/// Lines of each part of a verdict that fit on a screen together.
const SAID: usize = 6;
const FAILING: usize = 10;
const FUNCTION: usize = 24;

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.show())
    }

    fn show(&self) -> Done {
        let store = Store::read(&self.store).map_err(|e| e.to_string())?;
        match self.id {
            None => self.list(&store).map_err(|e| e.to_string()),
            Some(id) => {
                let verdicts = store.verdicts().map_err(|e| e.to_string())?;
                let found = verdicts.into_iter().find(|v| v.id == id);
                let verdict = found.ok_or_else(|| format!("there is no verdict {id} in {}", self.store))?;
                self.one(&store, &harmless(verdict))
            }
        }
    }

    fn one(&self, store: &Store, v: &StoredVerdict) -> Done {
        let fail = |e: StoreError| e.to_string();
        let ir = match &v.reduced_ir {
            Some(ir) => Some(ir.clone()),
            None => store.program(v.program).map_err(fail)?.map(|ir| plain(&ir)),
        };
        let none = || format!("the program of verdict {} was not kept", v.id);
        if self.ir {
            out!("{}", ir.ok_or_else(none)?);
            return Ok(false);
        }
        let c = || v.reduced_c.clone().or_else(|| in_c(ir.as_deref()?));
        if self.c {
            out!("{}", c().ok_or_else(none)?);
            return Ok(false);
        }
        outln!("verdict {}, program {}", v.id, v.program);
        outln!("culprit  {}", v.culprit);
        outln!("symptom  {}", v.symptom);
        outln!("axes     {}", if v.axes.is_empty() { "none" } else { &v.axes });
        if let Some(signature) = &v.signature {
            outln!("bug      {signature}");
        }
        if let Some(fault) = &v.fault {
            outln!("known    {fault}{}", known::describe(fault));
        }
        outln!("\n{}", some(v.detail.trim_end(), if self.all { usize::MAX } else { SAID }));
        self.testbeds(store, v).map_err(fail)?;
        let program: Option<Program> = ir.as_ref().and_then(|ir| ir.parse().ok());
        let reduced = if v.reduced_ir.is_some() { ", reduced" } else { "" };
        match (&v.report_md, program) {
            (Some(report), _) if self.all => outln!("\n{report}"),
            (_, Some(program)) if self.all => outln!("\nThe program{reduced}\n\n{program}"),
            (_, Some(program)) => {
                outln!("\nThe function{reduced}\n\n{}", some(&emit_function(&program), FUNCTION))
            }
            (_, None) => {}
        }
        if !self.all {
            outln!("\n--all shows the rest; --c and --ir print the whole program");
        }
        Ok(false)
    }

    /// The testbeds on which the program fails, or all on which it was run: most were not drawn for it.
    fn testbeds(&self, store: &Store, v: &StoredVerdict) -> Result<(), StoreError> {
        let names = store.testbeds()?;
        let letters = store.outcomes(v.program)?.unwrap_or_default();
        let details = store.details(v.program)?;
        let fails = |l: char| kind(l).is_some_and(|k| !matches!(k, Kind::Pass | Kind::Unsupported));
        let judged = letters.chars().filter(|l| kind(*l).is_some_and(|k| k != Kind::Unsupported)).count();
        let failing = letters.chars().filter(|l| fails(*l)).count();
        outln!("\nProgram {} fails on {failing} of {judged} testbeds", v.program);
        let mut shown = 0;
        for (number, (name, letter)) in names.iter().zip(letters.chars()).enumerate() {
            let Some(outcome) = kind(letter) else { continue };
            if !self.all && (!fails(letter) || shown == FAILING) {
                continue;
            }
            shown += 1;
            let said = details
                .iter()
                .find(|(t, _)| *t == number)
                .map_or("", |(_, d)| d.lines().next().unwrap_or(""));
            let outcome = outcome.name();
            let mark = if v.testbeds.contains(&number) { '>' } else { ' ' };
            let said = plain(&said.chars().take(100).collect::<String>());
            outln!("{mark} {:<52} {outcome} {said}", plain(name));
        }
        if !self.all && failing > shown {
            outln!("  and {} more", failing - shown);
        }
        if self.all && names.len() > shown {
            outln!("  on {} others it was not run", names.len() - shown);
        }
        Ok(())
    }

    /// What is new, with some verdicts of each bug; then known faults, a line each.
    fn list(&self, store: &Store) -> Result<bool, StoreError> {
        let bugs = store.bugs()?;
        for (testbed, why) in store.broken()? {
            outln!("{} does not work: {}", plain(&testbed), plain(why.lines().next().unwrap_or("")));
        }
        let verdicts = store.verdicts()?;
        let most = if self.all { usize::MAX } else { 3 };
        for bug in bugs.iter().filter(|b| b.shown.fault.is_none()) {
            outln!("{} × {}", bug.verdicts.len(), plain(&bug.signature));
            for v in verdicts.iter().filter(|v| bug.verdicts.contains(&v.id)).take(most) {
                let axes = if v.axes.is_empty() { String::new() } else { format!(" [{}]", plain(&v.axes)) };
                outln!("  {:>5}  program {:<8}{axes} {}", v.id, v.program, plain(&v.headline()));
            }
            if bug.verdicts.len() > most {
                outln!("         and {} more (--all)", bug.verdicts.len() - most);
            }
        }
        for bug in bugs.iter().filter(|b| b.shown.fault.is_some()) {
            let (count, name) = (bug.verdicts.len(), plain(&bug.signature));
            outln!("{count} × known: {name}{}, first verdict {}", known::describe(&name), bug.verdicts[0]);
        }
        // Those who were here within a day.
        for worker in store.workers()?.iter().filter(|w| w.ago < 86400.0) {
            let name: String = worker.name.chars().filter(|c| !c.is_control()).collect();
            let (seconds, ago) = (duration(worker.seconds), duration(worker.ago));
            outln!("worker {name}: {} programs in {seconds}, seen {ago} ago", worker.programs);
        }
        if bugs.is_empty() {
            outln!("Nothing is wrong.");
        }
        Ok(bugs.is_empty())
    }
}

/// A verdict whose texts do nothing to a terminal: a store may come from anywhere.
fn harmless(v: StoredVerdict) -> StoredVerdict {
    let some = |text: &Option<String>| text.as_deref().map(plain);
    StoredVerdict {
        culprit: plain(&v.culprit),
        symptom: plain(&v.symptom),
        axes: plain(&v.axes),
        detail: plain(&v.detail),
        signature: some(&v.signature),
        reduced_ir: some(&v.reduced_ir),
        reduced_c: some(&v.reduced_c),
        report_md: some(&v.report_md),
        early: some(&v.early),
        fault: some(&v.fault),
        ..v
    }
}

/// The first lines of a text, and how many there are more.
fn some(text: &str, most: usize) -> String {
    let lines = text.lines().count();
    let mut first: Vec<&str> = text.lines().take(most).collect();
    let more = format!("… and {} lines more", lines.saturating_sub(most));
    if lines > most {
        first.push(&more);
    }
    first.join("\n")
}

/// A program as C, if it is one.
pub(super) fn in_c(ir: &str) -> Option<String> {
    let program: Program = ir.parse().ok()?;
    Some(emit(&[&program], &COptions::default()))
}
