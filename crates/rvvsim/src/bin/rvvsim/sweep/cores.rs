//! `--sweep --core`: the program on each of several cores.

use super::seen::{self, Difference, Seen};
use super::show::quoted;
use super::{Alike, CANNOT_RUN, DIFFERS, FAILS, SAME, Subject, Sweep};
use crate::{report, say};
use rvvsim::Config;
use std::fmt::Write;
use std::time::Instant;

/// A machine of the sweep.
pub struct OnCore {
    /// The file that describes the core.
    pub file: String,
    /// The machine.
    pub config: Config,
}

/// A run on a core.
struct Ran<'a> {
    on: &'a OnCore,
    seen: Seen,
    why: Option<String>,
    died: bool,
    /// How it differs from the first.
    differences: Vec<Difference>,
}

impl Sweep {
    /// Runs the program on all cores and says what came out; the exit code.
    pub fn run_on_cores(&self, subject: Subject) -> u8 {
        let ran = match self.on_cores(subject) {
            Ok(ran) => ran,
            Err(message) => {
                say::note(&format!("rvvsim: {message}\n"));
                return CANNOT_RUN;
            }
        };
        if let Err(message) = say::print(&if self.json { json(&ran) } else { text(&ran) }) {
            say::note(&format!("rvvsim: {message}\n"));
            return CANNOT_RUN;
        }
        let same = ran.iter().all(|run| run.differences.is_empty());
        let failed = ran.iter().all(|run| run.died) || same && ran[0].seen.ending != "exit status 0";
        match (failed, same) {
            (true, _) => FAILS,
            (false, true) => SAME,
            (false, false) => DIFFERS,
        }
    }

    fn on_cores(&self, mut subject: Subject) -> Result<Vec<Ran<'_>>, String> {
        let Alike { bare, .. } = subject.make_alike()?;
        let mut ran: Vec<Ran> = Vec::new();
        let mut limit = subject.config.max_insns;
        for on in &self.cores {
            let config = Config { max_insns: limit, ..on.config.clone() };
            let deadline = subject.timeout.map(|t| Instant::now() + t);
            let result = seen::run(subject.image, bare, config, subject.process.clone(), deadline, false);
            let (seen, remarks) =
                result.map_err(|e| format!("{}: {e}{}", subject.name, report::load_hint(&e)))?;
            if ran.is_empty() && remarks.stopped {
                return Err(format!("{}: {}", subject.name, seen.ending));
            }
            // With these it has hung, as in other sweeps.
            let hung = remarks.instructions.saturating_mul(100).saturating_add(20_000_000);
            limit.get_or_insert(hung);
            let seen = seen.compared(self.compare, &self.ignore);
            let differences = ran.first().map_or(Vec::new(), |first| first.seen.differences(&seen));
            ran.push(Ran { on, seen, why: remarks.why, died: remarks.died, differences });
        }
        Ok(ran)
    }
}

fn text(ran: &[Ran]) -> String {
    let width = ran.iter().map(|run| run.on.file.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("{:width$}  {:>5}  output\n", "core", "VLEN");
    for (n, run) in ran.iter().enumerate() {
        let word = match (n, run.differences.is_empty()) {
            (0, _) => "is compared with",
            (_, true) => "same",
            (_, false) => "differs",
        };
        let _ = writeln!(text, "{:width$}  {:>5}  {word}", run.on.file, run.on.config.vlen);
    }
    for run in ran.iter().filter(|run| !run.differences.is_empty()) {
        let _ = writeln!(
            text,
            "\n{} at VLEN {} differs from {}",
            run.on.file, run.on.config.vlen, ran[0].on.file
        );
        for d in &run.differences {
            let _ = writeln!(text, "  {}\n    {}\n    {}", d.place, d.base, d.other);
        }
        if let Some(why) = &run.why {
            let _ = writeln!(text, "  {why}");
        }
    }
    text
}

fn json(ran: &[Ran]) -> String {
    let same = ran.iter().all(|run| run.differences.is_empty());
    let run = |run: &Ran| {
        let differences: Vec<_> = run.differences.iter().map(super::show::json_difference).collect();
        format!(
            "{{\"core\":{},\"vlen\":{},\"ending\":{},\"same\":{},\"differences\":[{}]}}",
            quoted(&run.on.file),
            run.on.config.vlen,
            quoted(&run.seen.ending),
            run.differences.is_empty(),
            differences.join(",")
        )
    };
    let runs: Vec<_> = ran.iter().map(run).collect();
    format!("{{\"same\":{same},\"cores\":[{}]}}\n", runs.join(","))
}
