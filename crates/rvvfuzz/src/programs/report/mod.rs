//! A campaign told: for people as a page, for programs as JSON, JUnit and SARIF.

pub mod bug;
pub mod entries;
pub mod folded;
pub mod formats;
pub mod live;
pub mod markdown;
pub mod page;
mod plot;
pub mod view;

use super::store::{Store, StoreError};
use crate::programs::campaign::Campaign;
use crate::programs::judge::outcome::Kind;
use crate::programs::settings::Settings;
use crate::programs::store::query::{Bug, Failure, StoredBatch};
use crate::programs::testbed::Testbeds;
use rvv_intrinsics::{SECTIONS, by_name};
use serde::Serialize;
use std::collections::BTreeMap;

/// A campaign in figures.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The program that began the campaign.
    pub version: String,
    /// Its settings.
    pub settings: Settings,
    /// Programs run.
    pub programs: u64,
    /// Checks: one operation on one testbed, judged.
    pub checks: u64,
    /// Distinct pairs of a program and a build, judged.
    pub pairs: u64,
    /// The campaign's time, in seconds.
    pub seconds: f64,
    /// Its CPU time, reductions included.
    pub cpu_seconds: f64,
    /// Selected calls made.
    pub covered: usize,
    /// Selected calls.
    pub calls: usize,
    /// The same by section of the intrinsics' lists.
    pub sections: Vec<Section>,
    /// Seconds, and calls made by then.
    pub coverage_over_time: Vec<(f64, usize)>,
    /// The batches.
    pub batches: Vec<StoredBatch>,
    /// The builds' names.
    pub builds: Vec<String>,
    /// The runs' names.
    pub runs: Vec<String>,
    /// The testbeds: every build on every run.
    pub testbeds: Vec<Testbed>,
    /// Seconds of each build, and of each run on it.
    pub times: Vec<(usize, Option<usize>, f64)>,
    /// What did not work, and why.
    pub broken: Vec<(String, String)>,
}

/// All there is to tell.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The campaign.
    #[serde(flatten)]
    pub figures: Figures,
    /// What was found.
    pub bugs: Vec<Bug>,
    /// Every wrong outcome of every testbed.
    pub failures: Vec<Failure>,
    /// The programs of the bugs that are not reduced, by number.
    #[serde(skip)]
    pub programs_of_bugs: BTreeMap<u64, String>,
}

impl std::ops::Deref for Report {
    type Target = Figures;

    fn deref(&self) -> &Figures {
        &self.figures
    }
}

/// A section of the intrinsics' lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Selected calls of it made.
    pub covered: usize,
    /// Selected calls of it.
    pub calls: usize,
}

/// A testbed and how programs fared on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Testbed {
    /// Its name.
    pub name: String,
    /// Outcomes by kind.
    pub outcomes: BTreeMap<&'static str, u64>,
}

impl Testbed {
    /// How many programs had this outcome.
    pub fn count(&self, kind: Kind) -> u64 {
        self.outcomes.get(kind.name()).copied().unwrap_or(0)
    }

    /// Programs that were judged and did not pass.
    pub fn failures(&self) -> u64 {
        let counts = |k: &Kind| !matches!(k, Kind::Pass | Kind::Unsupported);
        Kind::ALL.into_iter().filter(counts).map(|k| self.count(k)).fold(0, u64::saturating_add)
    }
}

/// What a campaign's settings select. It takes a moment to find out, and never changes.
#[derive(Clone, Debug)]
pub struct Selected {
    settings: Settings,
    /// The calls of each section.
    sections: Vec<usize>,
    calls: usize,
    /// The testbeds; none if the settings make no sense to this version.
    pub testbeds: Testbeds,
    /// Schedules of each program of the plan.
    pub schedules: u64,
}

impl Selected {
    /// By the settings in a store.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(store: &Store) -> Result<Selected, StoreError> {
        let settings = store.settings()?;
        let schedules = settings.schedules.len().max(1) as u64;
        let (mut sections, mut calls, mut testbeds) = (vec![0; SECTIONS.len()], 0, Testbeds::default());
        // Settings of another version may make no sense to this one: then there is less to tell.
        if let Ok(campaign) = Campaign::new(&settings) {
            campaign.sections().into_iter().for_each(|section| sections[usize::from(section)] += 1);
            calls = campaign.calls();
            testbeds = campaign.testbeds;
        }
        Ok(Selected { settings, sections, calls, testbeds, schedules })
    }
}

impl Figures {
    /// Reads them from a store.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn read(store: &Store, selected: &Selected) -> Result<Figures, StoreError> {
        let batches = store.batches()?;
        let names = store.testbeds()?;
        let matrix = store.matrix(names.len())?;
        let testbed = |(name, counts): (String, [u64; Kind::ALL.len()])| {
            let outcomes =
                Kind::ALL.iter().zip(counts).filter(|(_, n)| *n > 0).map(|(k, n)| (k.name(), n)).collect();
            Testbed { name, outcomes }
        };
        let mut figures = Figures {
            version: store.meta("version")?.unwrap_or_default(),
            programs: batches.iter().fold(0, |n, b| n.saturating_add(b.programs)),
            checks: batches.iter().fold(0, |n, b| n.saturating_add(b.checks)),
            pairs: batches.iter().fold(0, |n, b| n.saturating_add(b.pairs)),
            seconds: batches.last().map_or(0.0, |b| b.at),
            cpu_seconds: store.cpu()?,
            covered: 0,
            calls: selected.calls,
            sections: Vec::new(),
            coverage_over_time: Vec::new(),
            builds: selected.testbeds.builds.iter().map(|b| b.name()).collect(),
            runs: selected.testbeds.runs.iter().map(|r| r.name()).collect(),
            testbeds: names.into_iter().zip(matrix).map(testbed).collect(),
            times: store.times()?,
            broken: store.broken()?,
            batches,
            settings: selected.settings.clone(),
        };
        figures.add_coverage(&store.coverage()?, &selected.sections);
        Ok(figures)
    }

    fn add_coverage(&mut self, coverage: &[(String, bool, f64)], calls: &[usize]) {
        let mut covered = vec![0; SECTIONS.len()];
        for (n, (name, _, at)) in coverage.iter().enumerate() {
            if let Some(intrinsic) = by_name(name) {
                covered[usize::from(intrinsic.section)] += 1;
            }
            match self.coverage_over_time.last_mut() {
                Some(last) if last.0 == *at => last.1 = n + 1,
                _ => self.coverage_over_time.push((*at, n + 1)),
            }
        }
        self.covered = coverage.len();
        let section = |((name, covered), calls): ((&&str, usize), &usize)| Section {
            name: name.replace('_', " "),
            covered,
            calls: *calls,
        };
        self.sections =
            SECTIONS.iter().zip(covered).zip(calls).filter(|(_, calls)| **calls > 0).map(section).collect();
    }
}

impl Report {
    /// Reads it from a store.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn read(store: &Store) -> Result<Report, StoreError> {
        let figures = Figures::read(store, &Selected::read(store)?)?;
        let (bugs, failures) = (store.bugs()?, store.failures()?);
        let mut report = Report { figures, bugs, failures, programs_of_bugs: BTreeMap::new() };
        for bug in report.bugs.iter().filter(|b| b.shown.reduced_ir.is_none()) {
            let number = bug.shown.program;
            report.programs_of_bugs.extend(store.program(number)?.map(|ir| (number, ir)));
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests;
