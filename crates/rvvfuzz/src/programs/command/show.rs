//! `rvvfuzz show`.

use super::{Done, exit};
use crate::programs::judge::outcome::Kind;
use crate::programs::store::query::StoredVerdict;
use crate::programs::store::{Store, kind};
use clap::Args;
use rvv_cli::{out, outln};
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the verdicts of a campaign, or one of them in detail.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz show                     the bugs, and the verdicts of each
  rvvfuzz show 7                   all about one verdict
  rvvfuzz show 7 --ir > bug.ir     its program, for rvvfuzz replay

It ends with 0 if there are no verdicts, 1 if there are, 2 if the store cannot be read.")]
pub struct Command {
    /// The number of a verdict
    id: Option<i64>,
    /// The campaign's file
    #[arg(long, default_value = "campaign.db", value_name = "FILE")]
    store: PathBuf,
    /// Print its program only, reduced if it was
    #[arg(long, requires = "id", conflicts_with = "c")]
    ir: bool,
    /// Print its program in C
    #[arg(long, requires = "id")]
    c: bool,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.show())
    }

    fn show(&self) -> Done {
        let store = Store::read(&self.store).map_err(|e| e.to_string())?;
        match self.id {
            None => list(&store).map_err(|e| e.to_string()),
            Some(id) => {
                let verdicts = store.verdicts().map_err(|e| e.to_string())?;
                let found = verdicts.into_iter().find(|v| v.id == id);
                let verdict =
                    found.ok_or_else(|| format!("there is no verdict {id} in {}", self.store.display()))?;
                self.one(&store, &verdict)
            }
        }
    }

    fn one(&self, store: &Store, v: &StoredVerdict) -> Done {
        let fail = |e: crate::programs::store::StoreError| e.to_string();
        let ir = match &v.reduced_ir {
            Some(ir) => Some(ir.clone()),
            None => store.program(v.program).map_err(fail)?,
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
        outln!("\n{}", v.detail.trim_end());
        outln!("\nOutcomes of program {}", v.program);
        let names = store.testbeds().map_err(fail)?;
        let letters = store.outcomes(v.program).map_err(fail)?.unwrap_or_default();
        let details = store.details(v.program).map_err(fail)?;
        for (number, (name, letter)) in names.iter().zip(letters.chars()).enumerate() {
            let said = details
                .iter()
                .find(|(t, _)| *t == number)
                .map_or("", |(_, d)| d.lines().next().unwrap_or(""));
            let outcome = kind(letter).map_or("not run", Kind::name);
            let mark = if v.testbeds.contains(&number) { '>' } else { ' ' };
            outln!("{mark} {name:<52} {outcome} {said}");
        }
        match (&v.report_md, ir) {
            (Some(report), _) => outln!("\n{report}"),
            (None, Some(ir)) => {
                let what = if v.reduced_ir.is_some() { "The program, reduced" } else { "The program" };
                outln!("\n{what}\n\n{ir}");
            }
            (None, None) => {}
        }
        Ok(false)
    }
}

fn in_c(ir: &str) -> Option<String> {
    let program: Program = ir.parse().ok()?;
    Some(emit(&[&program], &COptions::default()))
}

fn list(store: &Store) -> Result<bool, crate::programs::store::StoreError> {
    let bugs = store.bugs()?;
    for (testbed, why) in store.broken()? {
        outln!("{testbed} does not work: {}", why.lines().next().unwrap_or(""));
    }
    let verdicts = store.verdicts()?;
    for bug in &bugs {
        outln!("{} × {}", bug.verdicts.len(), bug.signature);
        for v in verdicts.iter().filter(|v| bug.verdicts.contains(&v.id)).take(20) {
            let axes = if v.axes.is_empty() { String::new() } else { format!(" [{}]", v.axes) };
            outln!("  {:>5}  program {:<8}{axes} {}", v.id, v.program, v.headline());
        }
        if bug.verdicts.len() > 20 {
            outln!("         and {} more", bug.verdicts.len() - 20);
        }
    }
    if bugs.is_empty() {
        outln!("Nothing is wrong.");
    }
    Ok(bugs.is_empty())
}
