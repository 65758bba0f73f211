//! The table of what people do: counts by section and name, as TOML.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// Where counts come from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SourceInfo {
    /// The library.
    pub name: String,
    /// Its version, if it is known.
    pub commit: String,
    /// Files with intrinsics.
    pub files: u64,
    /// Functions with intrinsics.
    pub functions: u64,
    /// Calls of intrinsics.
    pub calls: u64,
}

/// Counts of what people do.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Table {
    /// Where they come from.
    pub sources: Vec<SourceInfo>,
    /// By section and name.
    pub sections: BTreeMap<String, BTreeMap<String, u64>>,
}

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It is too large.
    #[error("a table has at most {MOST_BYTES} bytes")]
    Large,
    /// It is no TOML.
    #[error("not TOML: {0}")]
    Toml(String),
    /// There is no such section.
    #[error("there is no section `{0}`; there are {known}", known = names())]
    Section(String),
    /// A count is none.
    #[error("`{0}` in [{1}] must be a count, 0 or more")]
    Count(String, String),
    /// Nothing to draw from.
    #[error("[{0}] has no counts; `rvvgen learn DIR --out FILE` writes a whole table")]
    Empty(&'static str),
}

/// A section: its name, what it counts, and how many names it keeps.
pub const SECTIONS: [(&str, &str, usize); 11] = [
    ("families", "calls, by family of intrinsics", 240),
    ("pairs", "results that are operands: what made it > what takes it, and as what", 480),
    ("types", "calls, by the type their name shows", 120),
    ("policies", "calls, by policy; m is masked without one", 16),
    ("names", "calls, by kind of name", 4),
    ("vl", "calls, by what their vl is", 16),
    ("scalars", "scalar operands, by what they are", 16),
    ("loops", "loops with intrinsics, by shape", 16),
    ("loops-per-function", "functions, by loops with intrinsics", 16),
    ("operations-per-function", "functions, by operations, loads and stores not counted", 16),
    ("reductions", "reductions, by place", 8),
];

/// What is too rare to be kept by name.
pub const REST: &str = "rest";

static HUMAN: LazyLock<Table> = LazyLock::new(|| match Table::from_toml(include_str!("human.toml")) {
    Ok(table) => table,
    // The table is part of the program; a test reads it.
    Err(error) => panic!("human.toml: {error}"),
});

const MOST_BYTES: usize = 1 << 20;

fn names() -> String {
    SECTIONS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}

impl Table {
    /// What public libraries do: the table of this crate.
    pub fn human() -> &'static Table {
        &HUMAN
    }

    /// One more of something.
    pub fn add(&mut self, section: &str, name: &str, count: u64) {
        let names = self.sections.entry(section.to_string()).or_default();
        match names.get_mut(name) {
            Some(n) => *n = n.saturating_add(count),
            None => {
                names.insert(name.to_string(), count);
            }
        }
    }

    /// What another table has, too.
    pub fn join(&mut self, other: &Table) {
        for (section, names) in &other.sections {
            for (name, count) in names {
                self.add(section, name, *count);
            }
        }
    }

    /// The counts of a section.
    pub fn section(&self, name: &str) -> impl Iterator<Item = (&str, u64)> {
        self.sections.get(name).into_iter().flatten().map(|(name, count)| (name.as_str(), *count))
    }

    /// A count.
    pub fn count(&self, section: &str, name: &str) -> u64 {
        self.sections.get(section).and_then(|names| names.get(name)).copied().unwrap_or(0)
    }

    /// All counts of a section together.
    pub fn total(&self, section: &str) -> u64 {
        self.section(section).fold(0, |sum, (_, n)| sum.saturating_add(n))
    }

    /// Keeps the commonest names of each section; the others are counted together.
    pub fn shorten(&mut self) {
        for (section, _, most) in SECTIONS {
            let Some(names) = self.sections.get_mut(section) else { continue };
            let rest = names.remove(REST).unwrap_or(0);
            let mut all: Vec<(String, u64)> = std::mem::take(names).into_iter().collect();
            all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            let others = all.split_off(all.len().min(most));
            let rest = others.iter().fold(rest, |sum, (_, n)| sum.saturating_add(*n));
            names.extend(all);
            if rest > 0 {
                names.insert(REST.to_string(), rest);
            }
        }
    }

    /// The total variation distance of a section between two tables: 0 if shares are the same, 1 if they have
    /// nothing in common. Names that either table counts with the rest are compared as the rest.
    pub fn distance(&self, other: &Table, section: &str) -> f64 {
        let (mine, theirs) = (self.total(section), other.total(section));
        if mine == 0 || theirs == 0 {
            return if mine == theirs { 0.0 } else { 1.0 };
        }
        let folds = |table: &Table, name: &str| {
            table.count(section, REST) > 0 && table.count(section, name) == 0 && name != REST
        };
        let shares = |table: &Table, total: u64| {
            let mut shares: BTreeMap<String, f64> = BTreeMap::new();
            for (name, count) in table.section(section) {
                let name = if folds(self, name) || folds(other, name) { REST } else { name };
                *shares.entry(name.to_string()).or_default() += count as f64 / total as f64;
            }
            shares
        };
        let (mine, mut theirs) = (shares(self, mine), shares(other, theirs));
        let mut distance = 0.0;
        for (name, share) in mine {
            distance += (share - theirs.remove(&name).unwrap_or(0.0)).abs();
        }
        (distance + theirs.values().sum::<f64>()) / 2.0
    }

    /// As TOML, the commonest first.
    pub fn to_toml(&self) -> String {
        let mut text = "# What people do with RVV intrinsics, counted by `rvvgen learn`: counts only, no \
                        code.\nversion = 1\n"
            .to_string();
        for source in &self.sources {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n[[source]]\nname = {:?}\ncommit = {:?}\nfiles = {}\nfunctions = {}\ncalls = {}\n",
                source.name, source.commit, source.files, source.functions, source.calls
            );
        }
        for (section, what, _) in SECTIONS {
            let mut names: Vec<(&str, u64)> = self.section(section).collect();
            names.sort_by(|a, b| (a.0 == REST).cmp(&(b.0 == REST)).then(b.1.cmp(&a.1)).then(a.0.cmp(b.0)));
            let _ = write!(text, "\n# {what}\n[{section}]\n");
            for (name, count) in names {
                let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let _ = match bare && !name.is_empty() {
                    true => writeln!(text, "{name} = {count}"),
                    false => writeln!(text, "{name:?} = {count}"),
                };
            }
        }
        text
    }

    /// From TOML.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn from_toml(text: &str) -> Result<Table, TableError> {
        if text.len() > MOST_BYTES {
            return Err(TableError::Large);
        }
        let toml: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| TableError::Toml(e.to_string().trim_end().replace('\n', "; ")))?;
        let mut table = Table::default();
        for (section, value) in &toml {
            match (section.as_str(), value) {
                ("version", _) => {}
                ("source", toml::Value::Array(sources)) => {
                    for source in sources {
                        let word = |key| source.get(key).and_then(|v| v.as_str()).unwrap_or("").to_string();
                        let number = |key| {
                            let n = source.get(key).and_then(toml::Value::as_integer);
                            n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
                        };
                        table.sources.push(SourceInfo {
                            name: word("name"),
                            commit: word("commit"),
                            files: number("files"),
                            functions: number("functions"),
                            calls: number("calls"),
                        });
                    }
                }
                (name, toml::Value::Table(counts)) if SECTIONS.iter().any(|(n, ..)| *n == name) => {
                    for (key, value) in counts {
                        let count = value.as_integer().and_then(|n| u64::try_from(n).ok());
                        let count = count.ok_or_else(|| TableError::Count(key.clone(), section.clone()))?;
                        table.add(section, key, count);
                    }
                }
                _ => return Err(TableError::Section(section.clone())),
            }
        }
        for (section, ..) in SECTIONS.iter().filter(|(name, ..)| *name != "reductions") {
            if table.total(section) == 0 {
                return Err(TableError::Empty(section));
            }
        }
        Ok(table)
    }
}
