//! The manual's normative rules for vectors, and what tests each.
//!
//! `rules/ids.tsv` lists the ids (chapter, section, rule); the tables beside it say for each rule which tests
//! fail if it is broken, or why it does not apply. [`coverage`] holds the two together and against the tests
//! that exist.

use crate::vmatrix::subjects;
use rvv_cli::out;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// A row of a table: a rule and its tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The manual's id, without `norm:`.
    pub id: String,
    /// The rule in short.
    pub says: String,
    /// Test functions that fail if it is broken.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Instructions whose results the matrix of Spike goldens judges.
    #[serde(default)]
    pub matrix: Vec<String>,
    /// Why it does not apply here.
    pub out: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rule: Vec<Rule>,
}

/// What became of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Tests cover it.
    Covered,
    /// It does not apply; the reason.
    RuledOut(String),
    /// There is no row for it, or its row names something that does not exist: what is wrong.
    Missing(String),
}

/// A rule of the manual, with its row.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The chapter's file.
    pub chapter: String,
    /// The section's title.
    pub section: String,
    /// The manual's id.
    pub id: String,
    /// Its row, if there is one.
    pub rule: Option<Rule>,
    /// Whether it is covered.
    pub state: State,
}

const IDS: &str = include_str!("../rules/ids.tsv");
const TABLES: [(&str, &str); 4] = [
    ("v.toml", include_str!("../rules/v.toml")),
    ("vector-common.toml", include_str!("../rules/vector-common.toml")),
    ("zvf.toml", include_str!("../rules/zvf.toml")),
    ("zvk.toml", include_str!("../rules/zvk.toml")),
];

/// Why the tables cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// A table is not what it should be.
    #[error("rules/{0}: {1}")]
    Table(&'static str, String),
    /// The tests' sources cannot be read.
    #[error("{0}: {1}")]
    Sources(String, std::io::Error),
}

/// The rows of all tables, by id.
///
/// # Errors
/// A table that is not TOML of the right shape, or two rows for one rule.
pub fn rows() -> Result<BTreeMap<String, Rule>, RulesError> {
    let mut all = BTreeMap::new();
    for (name, text) in TABLES {
        let table: Table = toml::from_str(text).map_err(|e| RulesError::Table(name, e.to_string()))?;
        for rule in table.rule {
            if let Some(twice) = all.insert(rule.id.clone(), rule) {
                return Err(RulesError::Table(name, format!("{} has two rows", twice.id)));
            }
        }
    }
    Ok(all)
}

/// The names of the test functions of the sources below a folder.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn test_functions(folder: &Path) -> Result<BTreeSet<String>, RulesError> {
    let mut names = BTreeSet::new();
    let failed = |e| RulesError::Sources(folder.display().to_string(), e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            names.append(&mut test_functions(&path)?);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            // A test is `#[test]` and then, perhaps after other attributes, its function.
            for part in text.split("#[test]\n").skip(1) {
                let name = part.split("fn ").nth(1).and_then(|rest| rest.split(['(', '<']).next());
                names.extend(name.map(str::to_owned));
            }
        }
    }
    Ok(names)
}

/// Every rule and whether it is covered.
///
/// # Errors
/// See [`RulesError`].
pub fn coverage() -> Result<Vec<Entry>, RulesError> {
    let mut rows = rows()?;
    let tests = test_functions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))?;
    let matrix: BTreeSet<&str> = subjects().iter().map(|subject| subject.op.name()).collect();
    let mut entries = Vec::new();
    for line in IDS.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t').map(str::to_owned);
        let mut column =
            || columns.next().ok_or_else(|| RulesError::Table("ids.tsv", format!("{line:?} is short")));
        let (chapter, section, id) = (column()?, column()?, column()?);
        let rule = rows.remove(&id);
        let state = rule
            .as_ref()
            .map_or_else(|| State::Missing("no row".into()), |rule| state(rule, &tests, &matrix));
        entries.push(Entry { chapter, section, id, rule, state });
    }
    match rows.keys().next() {
        Some(id) => Err(RulesError::Table("ids.tsv", format!("there is no rule {id}"))),
        None => Ok(entries),
    }
}

fn state(rule: &Rule, tests: &BTreeSet<String>, matrix: &BTreeSet<&str>) -> State {
    let unknown_test = rule.tests.iter().find(|test| !tests.contains(*test));
    let unknown_instruction = rule.matrix.iter().find(|name| !matrix.contains(name.as_str()));
    match (unknown_test, unknown_instruction, &rule.out) {
        (Some(test), _, _) => State::Missing(format!("there is no test {test}")),
        (_, Some(name), _) => State::Missing(format!("the matrix has no instruction {name}")),
        (_, _, Some(_)) if !rule.tests.is_empty() => State::Missing("both tests and ruled out".into()),
        (_, _, Some(reason)) => State::RuledOut(reason.clone()),
        _ if rule.tests.is_empty() && rule.matrix.is_empty() => State::Missing("no test".into()),
        _ => State::Covered,
    }
}

/// How many are covered, ruled out and missing.
fn counts<'a>(entries: impl Iterator<Item = &'a Entry>) -> [usize; 3] {
    entries.fold([0; 3], |mut counts, entry| {
        let slot = match entry.state {
            State::Covered => 0,
            State::RuledOut(_) => 1,
            State::Missing(_) => 2,
        };
        counts[slot] += 1;
        counts
    })
}

/// The report for people: by section, then what is ruled out and what is missing.
#[must_use]
pub fn text(entries: &[Entry]) -> String {
    let mut out = String::from("covered  ruled out  missing  section\n");
    let mut line = |[covered, ruled_out, missing]: [usize; 3], name: &str| {
        let dash = |n: usize| if n == 0 { "-".to_owned() } else { n.to_string() };
        let _ = writeln!(out, "{covered:>7}  {:>9}  {:>7}  {name}", dash(ruled_out), dash(missing));
    };
    for section in entries.chunk_by(|a, b| (&a.chapter, &a.section) == (&b.chapter, &b.section)) {
        line(counts(section.iter()), &format!("{}: {}", section[0].chapter, section[0].section));
    }
    line(counts(entries.iter()), "all");
    for entry in entries {
        if let State::RuledOut(reason) = &entry.state {
            let _ = writeln!(out, "ruled out: norm:{}: {reason}", entry.id);
        }
    }
    for entry in entries {
        if let State::Missing(what) = &entry.state {
            let _ = writeln!(out, "MISSING: norm:{}: {what}", entry.id);
        }
    }
    let [covered, ruled_out, missing] = counts(entries.iter());
    let _ = writeln!(
        out,
        "{} rules: {covered} covered, {ruled_out} ruled out with a reason, {missing} missing",
        entries.len()
    );
    out
}

/// The report for programs: a list of objects.
#[must_use]
pub fn json(entries: &[Entry]) -> String {
    let string = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let list = |items: &[String]| items.iter().map(|item| string(item)).collect::<Vec<_>>().join(",");
    let objects: Vec<String> = entries
        .iter()
        .map(|entry| {
            let (state, reason) = match &entry.state {
                State::Covered => ("covered", String::new()),
                State::RuledOut(reason) => ("ruled out", format!(",\"reason\":{}", string(reason))),
                State::Missing(reason) => ("missing", format!(",\"reason\":{}", string(reason))),
            };
            let rule = entry.rule.as_ref().map_or_else(String::new, |rule| {
                let (says, tests, matrix) = (string(&rule.says), list(&rule.tests), list(&rule.matrix));
                format!(",\"says\":{says},\"tests\":[{tests}],\"matrix\":[{matrix}]")
            });
            format!(
                "{{\"chapter\":{},\"section\":{},\"rule\":{},\"state\":\"{state}\"{rule}{reason}}}",
                string(&entry.chapter),
                string(&entry.section),
                string(&entry.id)
            )
        })
        .collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

/// The subcommand `rules`: prints the report; false if anything is missing.
///
/// # Errors
/// See [`RulesError`].
pub fn main(as_json: bool) -> Result<bool, Box<dyn std::error::Error>> {
    let entries = coverage()?;
    out!("{}", if as_json { json(&entries) } else { text(&entries) });
    Ok(counts(entries.iter())[2] == 0)
}
