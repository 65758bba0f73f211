//! What a comparison has found, in a file of lines that are only ever added to: a kill at any moment loses the
//! batch at work, and nothing that was found before.

use super::difference::Difference;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    /// What is compared, and with which programs: the first line.
    Begin { of: Subject },
    /// A batch, and how often each difference was seen in it.
    Batch { number: u64, programs: u64, differ: u64, seconds: f64, seen: Vec<(Difference, u64)> },
    /// The smallest program with a difference so far.
    Found { difference: Difference, example: Example },
    /// What was left of it.
    Reduced { difference: Difference, reduced: Reduced },
}

/// What is compared, and with which programs. A file has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The pairs of builds, with versions: `clang-22 (22.1.8) -O2`.
    pub pairs: Vec<[String; 2]>,
    /// Everything that decides the programs, as JSON.
    pub programs: String,
    /// The version that wrote it: another one makes other programs.
    pub version: String,
}

/// A program with a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Its number in the campaign.
    pub number: u64,
    /// Which of the pairs shows it.
    pub pair: usize,
    /// Its calls and assignments.
    pub work: usize,
    /// The program.
    pub ir: String,
}

/// A reduced program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced {
    /// Its calls and assignments.
    pub work: usize,
    /// The program; empty if it does not show the difference when it is built by itself.
    pub ir: String,
    /// All that differs in it.
    pub differences: Vec<Difference>,
    /// Whether there was time to the end.
    pub complete: bool,
    /// Whether it is worth going on: there was not, and it became smaller.
    pub more: bool,
}

/// The programs with one difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The difference.
    pub difference: Difference,
    /// Programs that have it.
    pub programs: u64,
    /// The smallest of them.
    pub example: Example,
    /// What is left of it.
    pub reduced: Option<Reduced>,
}

impl Group {
    /// The smallest program there is. A loop of plain C is one operation, so the length of the text is what
    /// tells how small a program is.
    pub fn smallest(&self) -> &str {
        let reduced = self.reduced.as_ref().filter(|r| !r.ir.is_empty());
        reduced.map_or(&self.example.ir, |r| &r.ir)
    }

    /// Whether it was not reduced at all; whether it can be reduced further.
    pub fn open(&self) -> (bool, bool) {
        (self.reduced.is_none(), self.reduced.as_ref().is_none_or(|r| r.more))
    }
}

/// So many differences are told apart. There are a few hundred; what is not among the first is not kept.
const GROUPS: usize = 4096;
/// How a file begins.
const BEGIN: &[u8] = br#"{"line":"begin""#;
/// No line is longer.
const LONGEST: u64 = 64 << 20;

/// The file, and what is in it.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// What was found.
    pub groups: BTreeMap<Difference, Group>,
    /// Batches that are done, by number.
    pub batches: std::collections::BTreeSet<u64>,
    /// Programs that were compared.
    pub programs: u64,
    /// Programs of which the code differs.
    pub differ: u64,
    /// Time that it took, of all workers together.
    pub seconds: f64,
}

impl Journal {
    /// Opens a file to go on, or begins one.
    ///
    /// # Errors
    /// When it cannot be read or written, is something else, or compares something else.
    pub fn open(path: &Path, of: &Subject) -> Result<Journal, String> {
        let wrong = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(wrong)?;
        let mut journal = Journal {
            path: path.to_path_buf(),
            file: file.try_clone().map_err(wrong)?,
            groups: BTreeMap::new(),
            batches: std::collections::BTreeSet::new(),
            programs: 0,
            differ: 0,
            seconds: 0.0,
        };
        let (mut lines, mut good, mut begun) = (BufReader::new(file), 0, false);
        loop {
            let mut line = Vec::new();
            let length =
                std::io::Read::take(&mut lines, LONGEST).read_until(b'\n', &mut line).map_err(wrong)?;
            // Half a line is the end of what a kill has left; of a file of ours, not of any other.
            if line.last() != Some(&b'\n') {
                if !begun && !line.starts_with(BEGIN) && !BEGIN.starts_with(&line) {
                    return Err(format!(
                        "{} is not a file of `rvvfuzz between`: name another --store",
                        path.display()
                    ));
                }
                break;
            }
            let read = serde_json::from_slice::<Line>(&line);
            match read {
                Ok(Line::Begin { of: stored }) if !begun => {
                    begun = true;
                    same(path, &stored, of)?;
                }
                Ok(line) if begun => journal.take(line),
                _ => {
                    return Err(format!(
                        "{} is not a file of `rvvfuzz between`, or damaged at byte {good}: name another --store",
                        path.display()
                    ));
                }
            }
            good += length as u64;
        }
        journal.file.set_len(good).map_err(wrong)?;
        journal.file.seek(SeekFrom::End(0)).map_err(wrong)?;
        if !begun {
            journal.write(&Line::Begin { of: of.clone() })?;
        }
        Ok(journal)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Begin { .. } => {}
            Line::Batch { number, programs, differ, seconds, seen } => {
                self.batches.insert(number);
                self.programs = self.programs.saturating_add(programs);
                self.differ = self.differ.saturating_add(differ);
                self.seconds += seconds;
                for (difference, times) in seen {
                    if let Some(group) = self.groups.get_mut(&difference) {
                        group.programs = group.programs.saturating_add(times);
                    }
                }
            }
            Line::Found { difference, example } => {
                if let Some(group) = self.groups.get_mut(&difference) {
                    group.example = example;
                } else if self.groups.len() < GROUPS {
                    let group = Group { difference: difference.clone(), programs: 0, example, reduced: None };
                    self.groups.insert(difference, group);
                }
            }
            Line::Reduced { difference, reduced } => {
                if let Some(group) = self.groups.get_mut(&difference) {
                    group.reduced = Some(reduced);
                }
            }
        }
    }

    fn write(&mut self, line: &Line) -> Result<(), String> {
        let text = serde_json::to_string(line).map_err(|e| e.to_string())? + "\n";
        // One call: what a kill leaves is a line or its beginning.
        self.file.write_all(text.as_bytes()).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// Keeps what was found in a batch: each difference with its smallest program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(
        &mut self,
        number: u64,
        programs: u64,
        found: &[(Vec<Difference>, Example)],
        seconds: f64,
    ) -> Result<(), String> {
        let mut seen: BTreeMap<Difference, u64> = BTreeMap::new();
        for (differences, example) in found {
            for difference in differences {
                *seen.entry(difference.clone()).or_default() += 1;
                let known = self.groups.get(difference);
                let full = known.is_none() && self.groups.len() >= GROUPS;
                // What is reduced is small already.
                let smaller =
                    known.is_none_or(|g| g.reduced.is_none() && example.ir.len() < g.example.ir.len());
                if smaller && !full {
                    let line = Line::Found { difference: difference.clone(), example: example.clone() };
                    self.write(&line)?;
                    self.take(line);
                }
            }
        }
        let differ = found.len() as u64;
        let line = Line::Batch { number, programs, differ, seconds, seen: seen.into_iter().collect() };
        self.write(&line)?;
        self.take(line);
        Ok(())
    }

    /// Keeps what is left of a program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn reduced(&mut self, difference: &Difference, reduced: Reduced) -> Result<(), String> {
        // What differs in it besides need not be looked for in larger programs.
        for other in reduced.differences.iter().filter(|d| *d != difference && !reduced.ir.is_empty()) {
            let Some((group, own)) = self.groups.get(other).zip(self.groups.get(difference)) else {
                continue;
            };
            if group.reduced.is_none() && reduced.ir.len() < group.example.ir.len() {
                let (number, pair) = (own.example.number, own.example.pair);
                let example = Example { number, pair, work: reduced.work, ir: reduced.ir.clone() };
                let line = Line::Found { difference: other.clone(), example };
                self.write(&line)?;
                self.take(line);
            }
        }
        let line = Line::Reduced { difference: difference.clone(), reduced };
        self.write(&line)?;
        self.take(line);
        Ok(())
    }
}

fn same(path: &Path, stored: &Subject, of: &Subject) -> Result<(), String> {
    let what = match (stored.pairs == of.pairs, stored.version == of.version, stored.programs == of.programs)
    {
        (true, true, true) => return Ok(()),
        (false, ..) => {
            let names = |s: &Subject| s.pairs.iter().map(|p| p.join(" and ")).collect::<Vec<_>>().join("; ");
            format!("compares {}, not {}", names(stored), names(of))
        }
        (_, false, _) => format!("was begun by version {}, and this is {}", stored.version, of.version),
        _ => "was begun with other programs (--seed, --ops, --policy, --intrinsics…)".to_string(),
    };
    Err(format!("{} {what}: name another --store", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::difference::Kind;
    use super::*;

    fn subject() -> Subject {
        let pair = ["a (1) -O2".to_string(), "a (2) -O2".to_string()];
        Subject { pairs: vec![pair], programs: "{}".to_string(), version: "1".to_string() }
    }

    fn example(work: usize) -> Example {
        Example { number: 7, pair: 0, work, ir: "operation ".repeat(work) }
    }

    fn reduced() -> Reduced {
        let vset = Difference::new(Kind::Vset, "v");
        Reduced { work: 1, ir: "small".to_string(), differences: vec![vset], complete: true, more: false }
    }

    #[test]
    fn what_was_found_is_there_after_a_kill_at_any_moment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let (mode, vset) = (Difference::new(Kind::Mode, "m"), Difference::new(Kind::Vset, "v"));
        let mut journal = Journal::open(&path, &subject()).unwrap();
        journal.add(0, 64, &[(vec![mode.clone(), vset.clone()], example(9))], 1.0).unwrap();
        journal.add(1, 64, &[(vec![mode.clone()], example(5))], 1.0).unwrap();
        journal.reduced(&mode, reduced()).unwrap();
        // Reduced programs stay what they are.
        journal
            .add(2, 64, &[(vec![mode.clone()], example(2)), (vec![vset.clone()], example(12))], 1.0)
            .unwrap();
        let groups = journal.groups.clone();
        assert_eq!((groups[&mode].programs, groups[&mode].example.work), (3, 5));
        // What is left of it shows another difference: a smaller program than the one that was found.
        assert_eq!((groups[&vset].programs, groups[&vset].example.work), (2, 1));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let journal = Journal::open(&path, &subject()).unwrap_or_else(|e| panic!("{end}: {e}"));
            let done = journal.batches.len() as u64;
            assert!(journal.programs == 64 * done);
            if end == whole.len() {
                assert_eq!((&journal.groups, done), (&groups, 3));
            }
        }
        // And it can go on.
        let mut journal = Journal::open(&path, &subject()).unwrap();
        journal.add(3, 64, &[], 1.0).unwrap();
        assert_eq!(Journal::open(&path, &subject()).unwrap().programs, 256);
    }

    #[test]
    fn another_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        for bad in ["hello\n", "{}\n", "\0\n", "no line", "{\"line\":\"x", "{\"line\":\"batch\"}\n"] {
            std::fs::write(&path, bad).unwrap();
            let why = Journal::open(&path, &subject()).map(|_| ()).unwrap_err();
            assert!(why.contains("name another --store"), "{why}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
        }
        std::fs::remove_file(&path).unwrap();
        drop(Journal::open(&path, &subject()).unwrap());
        for (other, says) in [
            (Subject { pairs: Vec::new(), ..subject() }, "compares a (1) -O2 and a (2) -O2"),
            (Subject { version: "2".to_string(), ..subject() }, "version 1"),
            (Subject { programs: String::new(), ..subject() }, "other programs"),
        ] {
            let why = Journal::open(&path, &other).map(|_| ()).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
