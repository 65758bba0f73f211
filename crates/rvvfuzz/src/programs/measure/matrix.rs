//! How many programs fail: by compiler, level, symptom, and the axis that shows it.

use super::chart::bars;
use crate::programs::judge::outcome::Kind;
use crate::programs::known::level;
use crate::programs::store::{Store, StoreError, kind};
use crate::programs::testbed::Testbeds;
use crate::programs::testbed::compiler::Family;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// A compiler each, in the order of the campaign.
    pub compilers: Vec<Column>,
}

/// One compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Column {
    /// Its name and version.
    pub compiler: String,
    /// Distinct programs that were judged.
    pub programs: u64,
    /// Those that it does not have an intrinsic or an extension for.
    pub unsupported: u64,
    /// By level: programs judged, and failing ones by symptom.
    pub levels: BTreeMap<String, Level>,
    /// Failing programs by symptom, at any level.
    pub symptoms: BTreeMap<String, u64>,
    /// Failing programs by the axis on which the fault comes and goes.
    pub axes: BTreeMap<String, u64>,
    /// Failing programs by known fault; the others under "not known".
    pub faults: BTreeMap<String, u64>,
}

/// A level of a compiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Level {
    /// Distinct programs that were judged.
    pub programs: u64,
    /// Failing ones, by symptom.
    pub failing: BTreeMap<String, u64>,
}

/// The symptoms of a compiler's faults.
const SYMPTOMS: [Kind; 5] =
    [Kind::WrongOutput, Kind::RuntimeCrash, Kind::BuildCrash, Kind::BuildFailure, Kind::BuildTimeout];

/// Verdicts that no recogniser claims.
const UNKNOWN: &str = "not known";

/// The axis of a fault that shows wherever it was looked for.
const NO_AXIS: &str = "everywhere";

type Programs = BTreeSet<u64>;

#[derive(Default)]
struct Sets {
    judged: Programs,
    unsupported: Programs,
    levels: BTreeMap<String, (Programs, BTreeMap<String, Programs>)>,
    symptoms: BTreeMap<String, Programs>,
    axes: BTreeMap<String, Programs>,
    faults: BTreeMap<String, Programs>,
}

impl Matrix {
    /// Reads it from a campaign's file whose verdicts were recognised.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn read(store: &Store, testbeds: &Testbeds) -> Result<Matrix, StoreError> {
        let schedules = store.settings()?.schedules.len().max(1) as u64;
        let mut names: Vec<String> = Vec::new();
        let mut sets: Vec<Sets> = Vec::new();
        // Builds of one compiler are neighbours.
        let mut column: Vec<Option<usize>> = Vec::new();
        for build in &testbeds.builds {
            let name = format!("{} {}", build.compiler.name, build.compiler.version);
            column.push((build.compiler.family != Family::Direct).then(|| {
                names.iter().position(|n| *n == name).unwrap_or_else(|| {
                    names.push(name);
                    sets.push(Sets::default());
                    names.len() - 1
                })
            }));
        }
        for (number, letters) in store.all_outcomes()? {
            let letters: Vec<char> = letters.chars().collect();
            let k = number / schedules;
            for (b, build) in testbeds.builds.iter().enumerate() {
                let Some(set) = column[b].and_then(|c| sets.get_mut(c)) else { continue };
                let of = letters.get(testbeds.of_build(b)).unwrap_or_default();
                let mut kinds = of.iter().filter_map(|l| kind(*l)).peekable();
                if kinds.peek().is_none() {
                    continue;
                }
                if kinds.all(|k| k == Kind::Unsupported) {
                    set.unsupported.insert(k);
                } else {
                    set.judged.insert(k);
                    set.levels.entry(level(&build.flags)).or_default().0.insert(k);
                }
            }
        }
        for verdict in store.verdicts()?.iter().filter(|v| v.culprit_kind == "compiler") {
            let k = verdict.program / schedules;
            let Some(first) = verdict.testbeds.first().map(|&t| testbeds.id(t).build) else { continue };
            let Some(set) = column.get(first).copied().flatten().and_then(|c| sets.get_mut(c)) else {
                continue;
            };
            for &t in &verdict.testbeds {
                let at = set.levels.entry(level(&testbeds.build_of(t).flags)).or_default();
                at.1.entry(verdict.symptom.clone()).or_default().insert(k);
            }
            set.symptoms.entry(verdict.symptom.clone()).or_default().insert(k);
            // That another compiler passes is no axis of this one.
            let axes: Vec<&str> =
                verdict.axes.split(", ").filter(|a| !a.is_empty() && *a != "compiler").collect();
            for axis in if axes.is_empty() { &[NO_AXIS][..] } else { &axes } {
                set.axes.entry(axis.to_string()).or_default().insert(k);
            }
            for fault in verdict.fault.as_deref().unwrap_or(UNKNOWN).split(" + ") {
                set.faults.entry(fault.to_string()).or_default().insert(k);
            }
        }
        let sizes =
            |of: BTreeMap<String, Programs>| of.into_iter().map(|(n, p)| (n, p.len() as u64)).collect();
        let compilers = names.into_iter().zip(sets).map(|(compiler, set)| Column {
            compiler,
            programs: set.judged.len() as u64,
            unsupported: set.unsupported.difference(&set.judged).count() as u64,
            levels: set
                .levels
                .into_iter()
                .map(|(l, (p, f))| (l, Level { programs: p.len() as u64, failing: sizes(f) }))
                .collect(),
            symptoms: sizes(set.symptoms),
            axes: sizes(set.axes),
            faults: sizes(set.faults),
        });
        Ok(Matrix { compilers: compilers.collect() })
    }

    /// The tables, in Markdown: failing programs per 100 000.
    pub fn tables(&self) -> String {
        let mut text = String::from(
            "Failing programs per 100 000, by level and symptom:\n\n| compiler | level | programs |",
        );
        for symptom in SYMPTOMS {
            let _ = write!(text, " {} |", symptom.name());
        }
        let _ = writeln!(text, "\n| --- | --- | ---: |{}", " ---: |".repeat(SYMPTOMS.len()));
        for column in &self.compilers {
            for (level, at) in &column.levels {
                let _ = write!(text, "| {} | {level} | {} |", column.compiler, at.programs);
                for symptom in SYMPTOMS {
                    let failing = at.failing.get(symptom.name()).copied().unwrap_or(0);
                    let _ = write!(text, " {} |", rate(failing, at.programs));
                }
                text.push('\n');
            }
        }
        type Part = fn(&Column) -> &BTreeMap<String, u64>;
        let parts: [(&str, Part); 2] = [
            ("by the axis on which the fault comes and goes", |c| &c.axes),
            ("by known fault", |c| &c.faults),
        ];
        for (what, of) in parts {
            let names: BTreeSet<&String> = self.compilers.iter().flat_map(|c| of(c).keys()).collect();
            let _ = write!(text, "\nFailing programs per 100 000, {what}:\n\n| |");
            self.compilers.iter().for_each(|c| {
                let _ = write!(text, " {} |", c.compiler);
            });
            let _ = writeln!(text, "\n| --- |{}", " ---: |".repeat(self.compilers.len()));
            for name in names {
                let _ = write!(text, "| {name} |");
                for column in &self.compilers {
                    let failing = of(column).get(name).copied().unwrap_or(0);
                    let _ = write!(text, " {} |", rate(failing, column.programs));
                }
                text.push('\n');
            }
        }
        text
    }

    /// A bar for each compiler, in parts by symptom.
    pub fn svg(&self) -> String {
        let names = SYMPTOMS.map(Kind::name);
        let row = |c: &Column| {
            let of = |name: &&str| {
                1e5 * c.symptoms.get(*name).copied().unwrap_or(0) as f64 / c.programs.max(1) as f64
            };
            (c.compiler.clone(), names.iter().map(of).collect())
        };
        let rows: Vec<(String, Vec<f64>)> = self.compilers.iter().map(row).collect();
        bars("Failing programs by compiler and symptom", "failing programs per 100 000", &names, &rows)
    }
}

/// Of so many programs, per 100 000.
fn rate(failing: u64, programs: u64) -> String {
    match (failing, programs) {
        (_, 0) => "–".to_string(),
        (n, of) => format!("{:.0}", 1e5 * n as f64 / of as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::judge::outcome::Outcome;
    use crate::programs::judge::vote::{Culprit, Verdict};
    use crate::programs::settings::{CompilerSettings, Settings};
    use crate::programs::store::{BatchRecord, ProgramRecord, Spent};

    #[test]
    fn programs_are_counted_once_whatever_their_schedules_and_set_ups() {
        let mut settings = Settings::default();
        let gcc =
            CompilerSettings { name: "gcc".into(), family: "gcc".into(), ..settings.compilers[0].clone() };
        settings.compilers.push(gcc);
        settings.levels = vec!["-O0".into(), "-O2".into()];
        settings.rotated.clear();
        let testbeds = settings.testbeds().unwrap();
        let names: Vec<String> = (0..testbeds.len()).map(|t| testbeds.name(t)).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(&folder.path().join("m.db"), &settings, &names).unwrap();
        let second = testbeds.of_build(2);
        let verdict = Verdict {
            testbeds: second.clone().collect(),
            axes: vec!["level", "compiler"],
            fault: Some("a + b".into()),
            ..Verdict::new(Culprit::Compiler("gcc".into()), Kind::WrongOutput, "buffer 1 element 0".into())
        };
        let program = |number: u64, with: Option<Outcome>, verdicts: Vec<Verdict>| {
            let mut outcomes = vec![Some(Outcome::Pass); testbeds.len()];
            outcomes[second.clone()].fill(with);
            ProgramRecord { number, outcomes, ir: None, verdicts }
        };
        let wrong = || Some(Outcome::WrongOutput(rvv_ir::Mismatch { buffer: 1, element: 0 }));
        let batch = BatchRecord {
            count: 3,
            programs: vec![
                program(0, wrong(), vec![verdict.clone()]),
                program(1, wrong(), vec![verdict]),
                program(3, Some(Outcome::Pass), Vec::new()),
                program(6, Some(Outcome::Unsupported("x".into())), Vec::new()),
            ],
            ..BatchRecord::default()
        };
        store.save(&batch, Spent::default()).unwrap();
        let matrix = Matrix::read(&store, &testbeds).unwrap();
        let gcc = &matrix.compilers[0];
        assert_eq!((matrix.compilers.len(), gcc.programs, gcc.unsupported), (1, 3, 0));
        assert_eq!((gcc.levels["-O0"].programs, gcc.levels["-O2"].programs), (3, 2));
        assert_eq!(gcc.levels["-O2"].failing["wrong output"], 1);
        assert_eq!((gcc.axes["level"], gcc.faults["a"], gcc.faults["b"]), (1, 1, 1));
        let tables = matrix.tables();
        assert!(tables.contains("| -O2 | 2 | 50000 | 0 |"), "{tables}");
        assert!(tables.contains("| level | 33333 |"), "{tables}");
        roxmltree::Document::parse(&matrix.svg()).unwrap();
    }
}
