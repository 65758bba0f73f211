//! What a store says to those who ask: verdicts, coverage, outcomes, times.

use super::db::{Misfit, Row};
use super::letters::{decode, runs};
use super::{Store, StoreError};
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::judge::vote::{Culprit, Verdict};
use serde::Serialize;
use std::collections::HashMap;

/// A verdict as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredVerdict {
    /// Its number.
    pub id: i64,
    /// The program's number.
    pub program: u64,
    /// `compiler`, `emulator`, `oracle` or `generator`.
    pub culprit_kind: String,
    /// Who.
    pub culprit: String,
    /// What: [`Kind::name`].
    pub symptom: String,
    /// On which testbeds, by number.
    pub testbeds: Vec<usize>,
    /// The axes on which it comes and goes.
    pub axes: String,
    /// What the first testbed said.
    pub detail: String,
    /// The same for all verdicts of one bug.
    pub signature: Option<String>,
    /// The reduced program.
    pub reduced_ir: Option<String>,
    /// The reduced program in C.
    pub reduced_c: Option<String>,
    /// The report in Markdown.
    pub report_md: Option<String>,
    /// What can be said of the cause before it is reduced.
    pub early: Option<String>,
    /// The known fault that it is, by name.
    pub fault: Option<String>,
}

/// Verdicts of one bug, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bug {
    /// What they share.
    pub signature: String,
    /// The one to show: a reduced one if there is one.
    pub shown: StoredVerdict,
    /// All of them, by number.
    pub verdicts: Vec<i64>,
}

/// A verdict without its texts: what lists of many are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its number.
    pub id: i64,
    /// The program's number.
    pub program: u64,
    /// `compiler`, `emulator`, `oracle` or `generator`.
    pub culprit_kind: String,
    /// Who.
    pub culprit: String,
    /// What: [`Kind::name`].
    pub symptom: String,
    /// On which testbeds: a list of numbers, as JSON.
    pub testbeds: String,
    /// As [`StoredVerdict::bug`].
    pub bug: String,
    /// Whether it is a known fault.
    pub fault: bool,
    /// Whether it has a report.
    pub report: bool,
}

/// A program that did not pass on a testbed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The program's number.
    pub program: u64,
    /// The testbed's number.
    pub testbed: usize,
    /// What happened: [`Kind::name`].
    pub symptom: &'static str,
    /// What there is to say, in a line: [`headline`].
    pub headline: String,
    /// The bug that a verdict made of it, by its place among [`Store::bugs`].
    pub bug: Option<usize>,
}

/// How large a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Its name.
    pub name: &'static str,
    /// Its rows.
    pub rows: u64,
    /// Its bytes, with its indexes; 0 where the database cannot tell.
    pub bytes: u64,
}

/// A finished batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoredBatch {
    /// The campaign's time when it was stored, in seconds.
    pub at: f64,
    /// The first program of the plan in it.
    pub first: u64,
    /// Programs in it.
    pub programs: u64,
    /// Checks in it.
    pub checks: u64,
    /// What it took one worker, in seconds.
    pub seconds: f64,
    /// Distinct pairs of a program and a build that it judged; 0 if they were not counted.
    pub pairs: u64,
    /// The campaign's CPU time when it was stored, in seconds; 0 if it was not measured.
    pub cpu: f64,
}

/// At most so many failures are told one by one: a short row can say that it has many.
const FAILURES: usize = 20_000_000;

/// All axes, as verdicts name them.
const AXES: &[&str] =
    &["level", "compiler", "emulator", "VLEN", "agnostic elements", "vl choice", "schedule"];

const VERDICT: &str = "select id, program, culprit_kind, culprit, symptom, testbeds, axes, detail, signature, reduced_ir, \
                       reduced_c, report_md";

fn verdict(row: &Row, count: usize) -> Result<StoredVerdict, Misfit> {
    let testbeds: String = row.get(5)?;
    let mut testbeds: Vec<usize> = serde_json::from_str(&testbeds).unwrap_or_default();
    // They are used as places in lists.
    testbeds.retain(|t| *t < count);
    Ok(StoredVerdict {
        id: row.get(0)?,
        program: row.get(1)?,
        culprit_kind: row.get(2)?,
        culprit: row.get(3)?,
        symptom: row.get(4)?,
        testbeds,
        axes: row.get(6)?,
        detail: row.get(7)?,
        signature: row.get(8)?,
        reduced_ir: row.get(9)?,
        reduced_c: row.get(10)?,
        report_md: row.get(11)?,
        early: row.get(12)?,
        fault: row.get(13)?,
    })
}

impl StoredVerdict {
    /// As the vote gave it.
    pub fn verdict(&self) -> Option<Verdict> {
        let culprit = match self.culprit_kind.as_str() {
            "compiler" => Culprit::Compiler(self.culprit.clone()),
            "emulator" => Culprit::Emulator(self.culprit.clone()),
            "oracle" => Culprit::Oracle,
            "generator" => Culprit::Generator,
            _ => return None,
        };
        let axis = |name: &str| AXES.iter().find(|a| **a == name).copied();
        let symptom = Kind::from_name(&self.symptom)?;
        let buffer = (symptom == Kind::WrongOutput).then(|| Outcome::buffer_in(&self.detail)).flatten();
        Some(Verdict {
            buffer,
            testbeds: self.testbeds.clone(),
            axes: self.axes.split(", ").filter_map(axis).collect(),
            early: self.early.clone(),
            fault: self.fault.clone(),
            ..Verdict::new(culprit, symptom, self.detail.clone())
        })
    }

    /// What it shares with others of the same bug: the known fault that it is, what the reducer found, or
    /// else what is known without it. Two that are not reduced and of which nothing is known are two.
    pub fn bug(&self) -> String {
        let found = self.fault.clone().or_else(|| self.signature.clone()).or_else(|| self.early.clone());
        found.unwrap_or_else(|| unnamed(&self.culprit, &self.symptom, self.id))
    }

    /// See [`headline`].
    pub fn headline(&self) -> String {
        headline(&self.symptom, &self.detail)
    }
}

fn unnamed(culprit: &str, symptom: &str, id: i64) -> String {
    format!("{culprit}: {symptom}: not reduced (verdict {id})")
}

/// What there is to say about an outcome, in a line: of a crash, where; else the first line. It is no longer
/// than 200 characters.
pub fn headline(symptom: &str, detail: &str) -> String {
    let line = if symptom == Kind::BuildCrash.name() {
        crate::programs::testbed::compiler::crash_site(detail)
    } else {
        detail.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim().to_string()
    };
    line.chars().take(200).collect()
}

impl Store {
    /// How many verdicts there are.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn verdict_count(&self) -> Result<u64, StoreError> {
        Ok(self.rows("select count(*) from verdicts", |r| r.get(0))?.first().copied().unwrap_or(0))
    }

    /// All verdicts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn verdicts(&self) -> Result<Vec<StoredVerdict>, StoreError> {
        self.verdicts_where("true")
    }

    /// A verdict by its number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn verdict(&self, id: i64) -> Result<Option<StoredVerdict>, StoreError> {
        Ok(self.verdicts_where(&format!("id = {id}"))?.into_iter().next())
    }

    fn verdicts_where(&self, condition: &str) -> Result<Vec<StoredVerdict>, StoreError> {
        let count = self.testbeds()?.len();
        let from = match self.format {
            ..2 => ", null, null from verdicts",
            _ => ", early, fault from verdicts left join notes on verdict = id",
        };
        self.rows(&format!("{VERDICT}{from} where {condition} order by id"), |row: &Row| verdict(row, count))
    }

    /// All verdicts, without their texts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn summaries(&self) -> Result<Vec<Summary>, StoreError> {
        let (notes, from) = match self.format {
            ..2 => ("null, null", "verdicts"),
            _ => ("early, fault", "verdicts left join notes on verdict = id"),
        };
        let query = format!(
            "select id, program, culprit_kind, culprit, symptom, testbeds, signature, {notes}, \
             case when report_md is null then 0 else 1 end from {from} order by id"
        );
        self.rows(&query, |r| {
            let (id, culprit, symptom) = (r.get(0)?, r.get::<String>(3)?, r.get::<String>(4)?);
            let (signature, early, fault): (Option<String>, Option<String>, Option<String>) =
                (r.get(6)?, r.get(7)?, r.get(8)?);
            let is_fault = fault.is_some();
            let bug = fault.or(signature).or(early).unwrap_or_else(|| unnamed(&culprit, &symptom, id));
            let (program, culprit_kind, testbeds) = (r.get(1)?, r.get(2)?, r.get(5)?);
            let report = r.get(9)?;
            Ok(Summary {
                id,
                program,
                culprit_kind,
                culprit,
                symptom,
                testbeds,
                bug,
                fault: is_fault,
                report,
            })
        })
    }

    /// Verdicts that no reducer has had and that are no known fault: number, program, its text, and what was
    /// said.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn unreduced(&self) -> Result<Vec<(i64, u64, String, Verdict)>, StoreError> {
        let rows = self.verdicts_where("signature is null")?.into_iter().filter(|v| v.fault.is_none());
        let mut found = Vec::new();
        for stored in rows {
            if let (Some(ir), Some(v)) = (self.program(stored.program)?, stored.verdict()) {
                found.push((stored.id, stored.program, ir, v));
            }
        }
        Ok(found)
    }

    /// The text of a program, if it was kept.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn program(&self, number: u64) -> Result<Option<String>, StoreError> {
        let query = format!("select ir from programs where number = {number} and ir is not null");
        Ok(self.rows(&query, |r| r.get(0))?.into_iter().next())
    }

    /// The outcomes of a program, a letter for each testbed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn outcomes(&self, number: u64) -> Result<Option<String>, StoreError> {
        let query = format!("select outcomes from programs where number = {number}");
        let coded: Option<String> = self.rows(&query, |r| r.get(0))?.into_iter().next();
        let testbeds = self.testbeds()?.len();
        Ok(coded.map(|coded| decode(&coded, testbeds)))
    }

    /// Every program's number and outcomes, a letter for each testbed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn all_outcomes(&self) -> Result<Vec<(u64, String)>, StoreError> {
        self.outcomes_by("order by number")
    }

    /// The same of the last programs, at most so many, the last one first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn last_outcomes(&self, most: u32) -> Result<Vec<(u64, String)>, StoreError> {
        self.outcomes_by(&format!("order by number desc limit {most}"))
    }

    fn outcomes_by(&self, end: &str) -> Result<Vec<(u64, String)>, StoreError> {
        let testbeds = self.testbeds()?.len();
        let query = format!("select number, outcomes from programs {end}");
        self.rows(&query, |r| Ok((r.get(0)?, decode(&r.get::<String>(1)?, testbeds))))
    }

    /// Every program's number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn numbers(&self) -> Result<Vec<u64>, StoreError> {
        self.rows("select number from programs order by number", |r| r.get(0))
    }

    /// What was said about a program's outcomes: testbed and text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn details(&self, number: u64) -> Result<Vec<(usize, String)>, StoreError> {
        let query = format!("select testbed, detail from details where program = {number} order by testbed");
        self.rows(&query, |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// Every outcome that is wrong, whatever the vote made of it: by testbed, then by program.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn failures(&self) -> Result<Vec<Failure>, StoreError> {
        let places = self.bugs()?.into_iter().enumerate().map(|(at, bug)| (bug.signature, at));
        let places: HashMap<String, usize> = places.collect();
        let mut bug_of: HashMap<(u64, usize), usize> = HashMap::new();
        for v in self.verdicts()? {
            let bug = places.get(&v.bug());
            bug_of
                .extend(bug.into_iter().flat_map(|&b| v.testbeds.iter().map(move |&t| ((v.program, t), b))));
        }
        // Most programs have passed everywhere, or were not judged.
        let query = "select number, outcomes from programs where ltrim(outcomes, '-.u0123456789') <> '' order by number";
        let testbeds = self.testbeds()?.len();
        let rows = self.rows(query, |r| Ok((r.get::<u64>(0)?, r.get::<String>(1)?)))?;
        let mut failures = Vec::new();
        for (program, letters) in rows {
            let details: HashMap<usize, String> = self.details(program)?.into_iter().collect();
            // A testbed that says the same as the last one that did not pass has no row.
            let mut last: Option<(Kind, &str)> = None;
            for (testbed, letter) in decode(&letters, testbeds).chars().enumerate() {
                let Some(kind) = super::kind(letter).filter(|k| *k != Kind::Pass) else { continue };
                let same = last.filter(|(before, _)| *before == kind).map_or("", |(_, detail)| detail);
                let detail = details.get(&testbed).map_or(same, String::as_str);
                last = Some((kind, detail));
                if failures.len() >= FAILURES {
                    let why = "it has more failures than programs could have".to_string();
                    return Err(StoreError::Damaged { path: self.path(), why });
                }
                if kind != Kind::Unsupported {
                    let symptom = kind.name();
                    let bug = bug_of.get(&(program, testbed)).copied();
                    failures.push(Failure {
                        program,
                        testbed,
                        symptom,
                        headline: headline(symptom, detail),
                        bug,
                    });
                }
            }
        }
        failures.sort_by_key(|f| (f.testbed, f.program));
        Ok(failures)
    }

    /// Verdicts by bug, new ones first, the first found first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bugs(&self) -> Result<Vec<Bug>, StoreError> {
        let mut bugs: Vec<Bug> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for v in self.verdicts()? {
            let signature = v.bug();
            if let Some(&at) = places.get(&signature) {
                let bug = &mut bugs[at];
                bug.verdicts.push(v.id);
                if bug.shown.report_md.is_none() && v.report_md.is_some() {
                    bug.shown = v;
                }
                continue;
            }
            places.insert(signature.clone(), bugs.len());
            bugs.push(Bug { signature, verdicts: vec![v.id], shown: v });
        }
        bugs.sort_by_key(|b| b.shown.fault.is_some());
        Ok(bugs)
    }

    /// The batches, in the order in which they were stored.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn batches(&self) -> Result<Vec<StoredBatch>, StoreError> {
        let query = match self.format {
            ..2 => "select at, count, checks, seconds, first, 0, 0.0 from batches order by at",
            _ => {
                "select at, count, checks, seconds, batches.first, coalesce(pairs, 0), coalesce(cpu, 0.0) from batches \
                 left join costs on costs.first = batches.first order by at"
            }
        };
        self.rows(query, |r| {
            let [at, seconds] = [r.get(0)?, r.get(3)?];
            let (first, pairs, cpu) = (r.get(4)?, r.get(5)?, r.get(6)?);
            Ok(StoredBatch { at, first, programs: r.get(1)?, checks: r.get(2)?, seconds, pairs, cpu })
        })
    }

    /// Calls made: name, overloaded, when first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn coverage(&self) -> Result<Vec<(String, bool, f64)>, StoreError> {
        self.rows("select name, overloaded, at from coverage order by at", |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
    }

    /// How often each testbed had each outcome: `[testbed][letter]`, letters in the order of [`Kind::ALL`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn matrix(&self, testbeds: usize) -> Result<Vec<[u64; Kind::ALL.len()]>, StoreError> {
        // What each row adds, at the places where it begins and ends: a short row can say that it is long.
        let mut changes = vec![[0_i128; Kind::ALL.len()]; testbeds + 1];
        // Few strings are different: most programs pass everywhere.
        let rows = self.rows("select outcomes, count(*) from programs group by outcomes", |r| {
            Ok((r.get::<String>(0)?, r.get::<u64>(1)?))
        })?;
        for (coded, times) in rows {
            let mut begin = 0_usize;
            for (letter, count) in runs(&coded) {
                let end = testbeds.min(begin.saturating_add(count));
                let kind = super::kind(letter);
                if let Some(at) = Kind::ALL.iter().position(|k| Some(*k) == kind) {
                    changes[begin][at] += i128::from(times);
                    changes[end][at] -= i128::from(times);
                }
                begin = end;
            }
        }
        let mut sums = [0_i128; Kind::ALL.len()];
        let sum = |change: &[i128; Kind::ALL.len()]| {
            sums.iter_mut().zip(change).for_each(|(sum, change)| *sum += change);
            sums.map(|sum| u64::try_from(sum).unwrap_or(u64::MAX))
        };
        Ok(changes[..testbeds].iter().map(sum).collect())
    }

    /// Seconds in all: each build, by number (run is none), and each run.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn times(&self) -> Result<Vec<(usize, Option<usize>, f64)>, StoreError> {
        let query = "select build, run, sum(seconds) from timings group by build, run order by build, run";
        self.rows(query, |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
    }

    /// Seconds of a batch: each build (run is none), and each run on it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn timings_of(&self, first: u64) -> Result<Vec<(usize, Option<usize>, f64)>, StoreError> {
        let query = format!("select build, run, seconds from timings where first = {first}");
        self.rows(&query, |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
    }

    /// How large the tables are, and all of it in bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn sizes(&self) -> Result<(Vec<TableSize>, u64), StoreError> {
        let dialect = self.db.dialect();
        let mut sizes = Vec::new();
        for table in ["batches", "programs", "details", "verdicts", "notes", "coverage", "timings", "costs"] {
            let bytes = dialect.table_size.replace("TABLE", table);
            let query = format!("select count(*), {bytes} from {table}");
            sizes.extend(
                self.rows(&query, |r| Ok(TableSize { name: table, rows: r.get(0)?, bytes: r.get(1)? }))?,
            );
        }
        Ok((sizes, self.one(dialect.size)?))
    }

    /// Testbeds that did not work, and why.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn broken(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.rows("select testbed, why from broken order by testbed", |r| Ok((r.get(0)?, r.get(1)?)))
    }
}
