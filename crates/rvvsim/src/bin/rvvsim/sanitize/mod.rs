//! `--sanitize`: runs a program while undefined values are followed, and says what was found.

mod formats;
mod lines;
mod place;
mod suppress;

use crate::say;
pub use formats::Report;
pub use lines::Lines;
pub use place::Places;
use rvvsim::elf::Image;
use rvvsim::sanitize::{Rules, Sanitizer};
use rvvsim::{Machine, Outcome};
use std::path::PathBuf;
use std::time::Instant;
pub use suppress::Suppressions;

/// What `--sanitize` is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Sanitize {
    /// End at the first finding.
    pub fatal: bool,
    /// Where the findings go as JSON.
    pub json: Option<PathBuf>,
    /// And as SARIF.
    pub sarif: Option<PathBuf>,
    /// What is known and not reported.
    pub suppressions: Suppressions,
}

impl Sanitize {
    /// What follows a program that has not run yet, and its lines.
    pub fn start<'i>(&self, machine: &mut Machine, image: &'i Image) -> (Sanitizer, Lines<'i>) {
        let mut sanitizer = Sanitizer::new(machine, image, Rules::Machine);
        let bias = machine.process().map_or(0, |process| process.load_bias());
        let lines = Lines::new(image, bias);
        sanitizer.set_units(lines.units());
        (sanitizer, lines)
    }

    /// Runs the program; how it ended, `None` by a finding, and at how many places something was found.
    ///
    /// # Errors
    /// In words, if a report cannot be written.
    pub fn run(
        &self,
        machine: &mut Machine,
        image: &Image,
        name: &str,
        deadline: Option<Instant>,
    ) -> Result<(Option<Outcome>, usize), String> {
        let (mut sanitizer, lines) = self.start(machine, image);
        if self.fatal {
            sanitizer.set_fatal();
        }
        let outcome = loop {
            let outcome = machine.run_sanitized(deadline, &mut sanitizer);
            // What is suppressed does not end a run.
            let known = |s: &Sanitizer, m: &mut Machine| {
                let mut places = Places::new(s, &lines, m);
                s.findings().iter().all(|f| self.suppressions.hide(f, &mut places))
            };
            if outcome.is_some() || !known(&sanitizer, machine) {
                break outcome;
            }
            sanitizer.forget_findings();
        };
        let shown = self.report(machine, &sanitizer, &lines, name, true)?;
        if let Some(outcome) = &outcome {
            machine.end_child(outcome);
        }
        Ok((outcome, shown))
    }

    /// Says what was found, unless that was done; at how many places it was.
    ///
    /// # Errors
    /// In words, if a report cannot be written.
    pub fn report(
        &self,
        machine: &mut Machine,
        sanitizer: &Sanitizer,
        lines: &Lines,
        name: &str,
        say_all: bool,
    ) -> Result<usize, String> {
        let mut places = Places::new(sanitizer, lines, machine);
        let (mut shown, mut hidden, mut times) = (Vec::new(), 0, 0);
        for finding in sanitizer.findings() {
            if self.suppressions.hide(finding, &mut places) {
                hidden += 1;
            } else {
                times += finding.count;
                shown.push(Report::new(finding, &mut places));
            }
        }
        for report in shown.iter().filter(|_| say_all) {
            say::note(&report.text());
        }
        let mut end = match shown.len() {
            0 => "rvvsim: sanitize: nothing found".to_owned(),
            n => format!("rvvsim: sanitize: {times} findings at {n} places"),
        };
        if hidden > 0 {
            end += &format!("; {hidden} places are suppressed");
        }
        if sanitizer.findings_lost() > 0 {
            end += &format!("; {} more at places that are not shown: too many", sanitizer.findings_lost());
        }
        if sanitizer.is_incomplete() {
            end += "; more undefined memory than can be followed: some of it counted as defined";
        }
        say::note(&(end + "\n"));
        for (path, text) in
            [(&self.json, formats::json as fn(&str, &[Report]) -> String), (&self.sarif, formats::sarif)]
        {
            if let Some(path) = path {
                std::fs::write(path, text(name, &shown))
                    .map_err(|e| format!("cannot write the findings to {}: {e}", path.display()))?;
            }
        }
        Ok(shown.len())
    }
}
