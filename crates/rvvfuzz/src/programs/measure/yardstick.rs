//! How soon known faults are found: campaigns of one compiler each, over several seeds.

use super::chart::{Line, lines};
use crate::programs::judge::outcome::Kind;
use crate::programs::known::{Fault, faults};
use crate::programs::settings::Settings;
use crate::programs::store::{Store, StoreError};
use crate::programs::testbed::compiler::{Compiler, Family};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Yardstick {
    /// The program that measured.
    pub version: String,
    /// Seconds of each campaign.
    pub seconds: f64,
    /// The campaigns.
    pub campaigns: Vec<Measured>,
}

/// One campaign: a compiler and a seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The compiler's name and version.
    pub compiler: String,
    /// The seed.
    pub seed: u64,
    /// Distinct programs.
    pub programs: u64,
    /// Distinct pairs of a program and a build.
    pub pairs: u64,
    /// CPU time.
    pub cpu_minutes: f64,
    /// Verdicts.
    pub verdicts: u64,
    /// Groups of verdicts that are no known fault.
    pub others: Vec<String>,
    /// The known faults of this compiler, and when each was first seen.
    pub faults: BTreeMap<String, Option<Seen>>,
    /// What was spent on each value of an axis, and what nothing else on that axis shows.
    #[serde(default)]
    pub axes: BTreeMap<String, Worth>,
}

/// What a value of an axis costs, and what it is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// Verdicts that are seen with it alone.
    pub verdicts: u64,
    /// Seconds of builds and runs.
    pub seconds: f64,
}

/// The worth of levels, of flags that take turns, of set-ups beyond the first, and of schedules beyond the
/// first.
fn worth(store: &Store, settings: &Settings) -> Result<BTreeMap<String, Worth>, StoreError> {
    let mut axes: BTreeMap<String, Worth> = BTreeMap::new();
    let Ok(testbeds) = settings.testbeds() else { return Ok(axes) };
    let name = |b: usize| match testbeds.builds.get(b) {
        Some(build) if build.compiler.family == Family::Direct => None,
        Some(build) if build.rotated => Some("flags that take turns".to_string()),
        Some(build) => Some(format!("level {}", build.flags.join(" "))),
        None => None,
    };
    const SETUPS: &str = "set-ups of rvvsim beyond the first";
    const SCHEDULES: &str = "schedules beyond the first";
    let times = store.times()?;
    for &(b, run, seconds) in &times {
        let beyond = run.filter(|r| *r > 0).map(|_| SETUPS.to_string());
        for axis in name(b).into_iter().chain(beyond) {
            axes.entry(axis).or_default().seconds += seconds;
        }
    }
    let schedules = settings.schedules.len().max(1) as u64;
    let numbers = store.numbers()?;
    let distinct: BTreeSet<u64> = numbers.iter().map(|n| n / schedules).collect();
    let again = 1.0 - distinct.len() as f64 / numbers.len().max(1) as f64;
    axes.entry(SCHEDULES.to_string()).or_default().seconds = again * times.iter().map(|t| t.2).sum::<f64>();
    for verdict in store.verdicts()?.iter().filter(|v| v.testbeds.iter().all(|&t| t < testbeds.len())) {
        let ids: Vec<_> = verdict.testbeds.iter().map(|&t| testbeds.id(t)).collect();
        let names: BTreeSet<Option<String>> = ids.iter().map(|id| name(id.build)).collect();
        let alone = if names.len() == 1 { names.into_iter().next().flatten() } else { None };
        let is_build = Kind::from_name(&verdict.symptom).is_none_or(Kind::is_build);
        let beyond = !is_build && !ids.is_empty() && ids.iter().all(|id| id.run > 0);
        let order = verdict.axes.split(", ").any(|a| a == "schedule");
        let found = alone
            .into_iter()
            .chain(beyond.then(|| SETUPS.to_string()))
            .chain(order.then(|| SCHEDULES.to_string()));
        found.for_each(|axis| axes.entry(axis).or_default().verdicts += 1);
    }
    Ok(axes)
}

/// When a fault was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Programs until then, the one that shows it included.
    pub programs: u64,
    /// CPU time until its batch was judged and stored.
    pub cpu_minutes: f64,
}

impl Measured {
    /// Reads it from the file of a campaign of one compiler whose verdicts were recognised.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn read(store: &Store, compiler: &Compiler) -> Result<Measured, StoreError> {
        let settings = store.settings()?;
        let batches = store.batches()?;
        let schedules = settings.schedules.len().max(1) as u64;
        let verdicts = store.verdicts()?;
        let is_here = |f: &&Fault| f.is_of(compiler);
        let mut measured = Measured {
            compiler: format!("{} {}", compiler.name, compiler.version),
            seed: settings.seed,
            programs: batches.iter().fold(0, |n, b| n.saturating_add(b.programs)),
            pairs: batches.iter().fold(0, |n, b| n.saturating_add(b.pairs)),
            cpu_minutes: store.cpu()? / 60.0,
            verdicts: verdicts.len() as u64,
            others: Vec::new(),
            faults: faults().iter().filter(is_here).map(|f| (f.name.clone(), None)).collect(),
            axes: worth(store, &settings)?,
        };
        for verdict in &verdicts {
            let Some(names) = &verdict.fault else {
                let group = verdict.bug();
                if !measured.others.contains(&group) {
                    measured.others.push(group);
                }
                continue;
            };
            let k = verdict.program / schedules;
            // Batches are stored when they are done: those before this one's end have been judged by then.
            let Some(batch) =
                batches.iter().find(|b| (b.first..b.first.saturating_add(b.programs)).contains(&k))
            else {
                continue;
            };
            let before = batches.iter().filter(|b| b.at < batch.at).map(|b| b.programs).sum::<u64>();
            let seen = Seen { programs: before + (k - batch.first) + 1, cpu_minutes: batch.cpu / 60.0 };
            for name in names.split(" + ") {
                let first = measured.faults.entry(name.to_string()).or_default();
                if first.is_none_or(|f| seen.programs < f.programs) {
                    *first = Some(seen);
                }
            }
        }
        Ok(measured)
    }
}

/// A fault on a compiler, over all seeds.
struct Row<'y> {
    compiler: &'y str,
    fault: &'y str,
    seen: Vec<Option<Seen>>,
}

impl Row<'_> {
    fn found(&self) -> usize {
        self.seen.iter().flatten().count()
    }

    /// The median, if it was found with most of the seeds.
    fn median(&self, value: impl Fn(&Seen) -> f64) -> Option<f64> {
        let mut values: Vec<f64> =
            self.seen.iter().map(|s| s.as_ref().map_or(f64::INFINITY, &value)).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len().checked_sub(1)? / 2;
        Some(values[middle]).filter(|v| v.is_finite())
    }

    fn cells(&self) -> [String; 3] {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_string(), |value| format!("{value:.digits$}"))
        };
        [
            format!("{} of {}", self.found(), self.seen.len()),
            number(self.median(|s| s.programs as f64), 0),
            number(self.median(|s| s.cpu_minutes), 1),
        ]
    }
}

impl Yardstick {
    fn compilers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for campaign in &self.campaigns {
            if !names.contains(&campaign.compiler.as_str()) {
                names.push(&campaign.compiler);
            }
        }
        names
    }

    fn of<'y>(&'y self, compiler: &'y str) -> impl Iterator<Item = &'y Measured> {
        self.campaigns.iter().filter(move |c| c.compiler == compiler)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for compiler in self.compilers() {
            let mut names: Vec<&str> =
                self.of(compiler).flat_map(|c| c.faults.keys().map(String::as_str)).collect();
            names.sort_unstable();
            names.dedup();
            let row = |fault| {
                let seen = self.of(compiler).map(|c| c.faults.get(fault).copied().flatten()).collect();
                Row { compiler, fault, seen }
            };
            let mut of: Vec<Row> = names.into_iter().map(row).collect();
            // What is found soonest first.
            of.sort_by(|a, b| {
                let key =
                    |r: &Row| (r.seen.len() - r.found(), r.median(|s| s.programs as f64).unwrap_or(f64::MAX));
                key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            rows.extend(of);
        }
        rows
    }

    /// The table, in Markdown; with that of another run beside it.
    pub fn table(&self, against: Option<&Yardstick>) -> String {
        let mut text = "| compiler | known fault | found | programs | CPU-minutes |".to_string();
        if against.is_some() {
            text += " before: found | programs | CPU-minutes |";
        }
        text += "\n| --- | --- | ---: | ---: | ---: |";
        if against.is_some() {
            text += " ---: | ---: | ---: |";
        }
        text.push('\n');
        let others = against.map(Yardstick::rows).unwrap_or_default();
        for row in self.rows() {
            let _ = write!(text, "| {} | {} | {} |", row.compiler, row.fault, row.cells().join(" | "));
            if against.is_some() {
                let before = others.iter().find(|o| o.compiler == row.compiler && o.fault == row.fault);
                let cells = before.map_or(["–"; 3].map(String::from), Row::cells);
                let _ = write!(text, " {} |", cells.join(" | "));
            }
            text.push('\n');
        }
        text += "\n| compiler | programs | program × build | per CPU-second | verdicts | other groups |\n\
                 | --- | ---: | ---: | ---: | ---: | ---: |\n";
        for compiler in self.compilers() {
            let sum = |value: fn(&Measured) -> f64| self.of(compiler).map(value).sum::<f64>();
            let _ = writeln!(
                text,
                "| {compiler} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} |",
                sum(|c| c.programs as f64),
                sum(|c| c.pairs as f64),
                sum(|c| c.pairs as f64) / (60.0 * sum(|c| c.cpu_minutes)).max(0.01),
                sum(|c| c.verdicts as f64),
                sum(|c| c.others.len() as f64)
            );
        }
        text += "\n| compiler | axis | verdicts that it alone shows | share of the time | verdicts an hour |\n\
                 | --- | --- | ---: | ---: | ---: |\n";
        for compiler in self.compilers() {
            let mut axes: BTreeMap<&str, Worth> = BTreeMap::new();
            for (axis, worth) in self.of(compiler).flat_map(|c| &c.axes) {
                let sum = axes.entry(axis).or_default();
                sum.verdicts += worth.verdicts;
                sum.seconds += worth.seconds;
            }
            // Every build is of one level or takes turns.
            let builds = axes.iter().filter(|(axis, _)| !axis.ends_with("beyond the first"));
            let whole: f64 = builds.map(|(_, w)| w.seconds).sum();
            for (axis, Worth { verdicts, seconds }) in axes {
                let share = 100.0 * seconds / whole.max(0.01);
                let hourly = 3600.0 * verdicts as f64 / seconds.max(0.01);
                let _ = writeln!(text, "| {compiler} | {axis} | {verdicts} | {share:.0} % | {hourly:.0} |");
            }
        }
        text
    }

    /// The known faults found over time, one line for each compiler: means over the seeds.
    pub fn svg(&self) -> String {
        let line = |compiler: &&str| {
            let seeds = self.of(compiler).count().max(1) as f64;
            let mut times: Vec<f64> =
                self.of(compiler).flat_map(|c| c.faults.values().flatten()).map(|s| s.cpu_minutes).collect();
            times.sort_by(f64::total_cmp);
            let mut points = vec![(0.0, 0.0)];
            points.extend(times.iter().enumerate().map(|(n, t)| (*t, (n + 1) as f64 / seeds)));
            let end = self.of(compiler).map(|c| c.cpu_minutes).fold(0.0, f64::max);
            points.push((end, times.len() as f64 / seeds));
            Line { name: compiler.to_string(), points }
        };
        let all: Vec<Line> = self.compilers().iter().map(line).collect();
        lines("Known faults found by CPU-minutes, means over the seeds", "CPU-minutes", "known faults", &all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::testbed::TestbedId;

    fn measured(seed: u64, seen: Option<(u64, f64)>) -> Measured {
        let seen = seen.map(|(programs, cpu_minutes)| Seen { programs, cpu_minutes });
        Measured {
            compiler: "gcc 14.2.0".into(),
            seed,
            programs: 100,
            pairs: 300,
            cpu_minutes: 1.0,
            verdicts: 2,
            others: vec!["x".into()],
            faults: BTreeMap::from([("a".into(), seen), ("b".into(), None)]),
            axes: BTreeMap::from([
                ("level -O0".into(), Worth { verdicts: 1, seconds: 10.0 }),
                ("level -O2".into(), Worth { verdicts: 0, seconds: 30.0 }),
                ("set-ups of rvvsim beyond the first".into(), Worth { verdicts: 2, seconds: 4.0 }),
            ]),
        }
    }

    #[test]
    fn the_median_counts_seeds_without_the_fault() {
        let of = |seen: [Option<(u64, f64)>; 3]| Yardstick {
            campaigns: seen.into_iter().enumerate().map(|(n, s)| measured(n as u64, s)).collect(),
            ..Yardstick::default()
        };
        let good = of([Some((30, 0.5)), Some((10, 0.1)), None]);
        let table = good.table(None);
        assert!(table.contains("| gcc 14.2.0 | a | 2 of 3 | 30 | 0.5 |"), "{table}");
        assert!(table.contains("| gcc 14.2.0 | b | 0 of 3 | – | – |"), "{table}");
        assert!(table.contains("| gcc 14.2.0 | 300 | 900 | 5.0 | 6 | 3 |"), "{table}");
        // Of three seeds: 40 s of builds each.
        assert!(table.contains("| gcc 14.2.0 | level -O0 | 3 | 25 % | 360 |"), "{table}");
        assert!(table.contains("| set-ups of rvvsim beyond the first | 6 | 10 % | 1800 |"), "{table}");
        let bad = of([Some((30, 0.5)), None, None]);
        let table = bad.table(Some(&good));
        assert!(table.contains("| a | 1 of 3 | – | – | 2 of 3 | 30 | 0.5 |"), "{table}");
        let json = serde_json::to_string(&good).unwrap();
        assert_eq!(serde_json::from_str::<Yardstick>(&json).unwrap(), good);
        roxmltree::Document::parse(&good.svg()).unwrap();
    }

    #[test]
    fn an_axis_is_worth_what_nothing_else_on_it_shows() {
        use crate::programs::judge::vote::{Culprit, Verdict};
        use crate::programs::settings::CompilerSettings;
        use crate::programs::store::{BatchRecord, ProgramRecord, Spent};
        let mut settings = Settings::default();
        let gcc =
            CompilerSettings { name: "gcc".into(), family: "gcc".into(), ..settings.compilers[0].clone() };
        settings.compilers.push(gcc);
        settings.levels = vec!["-O0".into(), "-O2".into()];
        settings.rotated = vec!["-Os".into(), "-O2 -g".into()];
        let testbeds = settings.testbeds().unwrap();
        let names: Vec<String> = (0..testbeds.len()).map(|t| testbeds.name(t)).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(&folder.path().join("y.db"), &settings, &names).unwrap();
        // Builds: direct, -O0, -O2, -Os, -O2 -g.
        let verdict = |of: &[(usize, usize)], axes: &[&'static str]| Verdict {
            testbeds: of.iter().map(|&(build, run)| testbeds.number(TestbedId { build, run })).collect(),
            axes: axes.to_vec(),
            ..Verdict::new(Culprit::Compiler("gcc".into()), Kind::WrongOutput, "buffer 1 element 0".into())
        };
        let program = |number: u64, verdicts: Vec<Verdict>| ProgramRecord {
            number,
            outcomes: vec![None; testbeds.len()],
            ir: None,
            verdicts,
        };
        let batch = BatchRecord {
            count: 3,
            programs: vec![
                program(0, vec![verdict(&[(2, 0), (2, 1)], &[])]),
                program(1, vec![verdict(&[(1, 0), (2, 0)], &["schedule"])]),
                program(3, vec![verdict(&[(3, 2), (4, 3)], &[])]),
                program(6, vec![verdict(&[(0, 4), (1, 4)], &[])]),
            ],
            timings: vec![
                (0, None, 9.0),
                (1, None, 2.0),
                (2, None, 3.0),
                (2, Some(0), 1.0),
                (4, Some(1), 5.0),
            ],
            ..BatchRecord::default()
        };
        store.save(&batch, Spent::default()).unwrap();
        let axes = worth(&store, &settings).unwrap();
        let of = |axis: &str| axes.get(axis).map(|w| (w.verdicts, w.seconds));
        assert_eq!(of("level -O0"), Some((0, 2.0)));
        assert_eq!(of("level -O2"), Some((1, 4.0)));
        assert_eq!(of("flags that take turns"), Some((1, 5.0)));
        assert_eq!(of("set-ups of rvvsim beyond the first"), Some((2, 5.0)));
        // One of four is a program in another order.
        assert_eq!(of("schedules beyond the first"), Some((1, 5.0)));
    }
}
