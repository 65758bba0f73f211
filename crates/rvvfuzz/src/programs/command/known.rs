//! `rvvfuzz known`.

use super::{Done, exit, write_file};
use crate::programs::campaign::Campaign;
use crate::programs::known::{self, Observation, faults};
use crate::programs::measure::recognise;
use crate::programs::store::query::StoredVerdict;
use crate::programs::store::{Place, Store, StoreError};
use clap::Args;
use rvv_cli::outln;
use rvv_ir::Program;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare the verdicts of a campaign with the list of known faults again.
///
/// A campaign does that by itself with the list of its day (bugs/known.toml). This command does it with the
/// list of this version, and stores the names. Some faults are recognised by a change of the program that
/// makes it pass: the campaign's compilers are asked again.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz known                                     the list
  rvvfuzz known --store campaign.db                 name the verdicts, then `rvvfuzz show`
  rvvfuzz known --store campaign.db --export x.jsonl

It ends with 0 if all verdicts are known faults, 1 if there are others, 2 if the store cannot be read.")]
pub struct Command {
    /// The campaign's file; without one the list is printed
    #[arg(long, value_name = "FILE")]
    store: Option<Place>,
    /// Write each verdict as a line of JSON, as the tests of the recognisers keep them
    #[arg(long, value_name = "FILE", requires = "store")]
    export: Option<PathBuf>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.compare())
    }

    fn compare(&self) -> Done {
        let Some(path) = &self.store else {
            for fault in faults() {
                let versions: Vec<String> =
                    fault.compilers.iter().map(|v| format!("{} {} to {}", v.family, v.from, v.to)).collect();
                outln!("{:<28} {:<18} {}", fault.name, versions.join(", "), fault.what);
            }
            return Ok(true);
        };
        let fail = |e: StoreError| e.to_string();
        let (mut store, settings) = Store::resume(path).map_err(fail)?;
        let campaign = Campaign::new(&settings)?;
        recognise(&mut store, &campaign).map_err(fail)?;
        let verdicts = store.verdicts().map_err(fail)?;
        let mut lines = String::new();
        for verdict in &verdicts {
            let name = verdict.fault.as_deref().unwrap_or("not known");
            outln!("{:>5} {name}{}", verdict.id, known::describe(name));
            if self.export.is_some() {
                let ir = store.program(verdict.program).map_err(fail)?;
                lines += &ir.and_then(|ir| line(&campaign, verdict, &ir)).unwrap_or_default();
            }
        }
        if let Some(export) = &self.export {
            write_file(export, &lines)?;
        }
        Ok(verdicts.iter().all(|v| v.fault.is_some()))
    }
}

/// A verdict as a line of JSON, with the faults whose change of the program makes it pass.
fn line(campaign: &Campaign, stored: &StoredVerdict, ir: &str) -> Option<String> {
    let verdict = stored.verdict()?;
    let program: Program = ir.parse().ok()?;
    let seen = Observation::new(&campaign.testbeds, &verdict, &program)?;
    let changes = faults().iter().filter(|f| f.is_of(seen.compiler));
    let gone: Vec<&str> = changes
        .filter(|f| {
            f.gone.as_ref().and_then(|g| g.change(&program)).is_some_and(|p| campaign.passes(&verdict, &p))
        })
        .map(|f| f.name.as_str())
        .collect();
    let family = seen.compiler.family.name();
    let line = json!({
        "family": family,
        "version": seen.compiler.version,
        "levels": seen.levels,
        "symptom": stored.symptom,
        "detail": stored.detail.chars().take(2000).collect::<String>(),
        "ir": ir,
        "gone": gone,
        "fault": stored.fault,
    });
    Some(format!("{line}\n"))
}
