//! The tables as the files have them: rows inside groups inside a file, the inner inheriting from the
//! outer.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A family, a group of them, or a whole file; `isa/intrinsics/README.md` says what each key means.
#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Of a file only: the section of each official list.
    #[serde(default)]
    pub section: BTreeMap<String, String>,
    #[serde(default, alias = "group")]
    pub families: Vec<Row>,
    pub name: Option<String>,
    pub forms: Option<Forms>,
    pub types: Option<String>,
    pub tuples: Option<bool>,
    pub source: Option<String>,
    pub eew: Option<Vec<u32>>,
    pub returns: Option<String>,
    pub named: Option<String>,
    pub variants: Option<String>,
    pub rm: Option<bool>,
    pub vxrm: Option<bool>,
    pub vl: Option<bool>,
    pub overloaded: Option<String>,
    pub sem: Option<String>,
    pub instruction: Option<String>,
    pub uimm: Option<[u64; 2]>,
    pub requires: Option<String>,
    pub f16: Option<String>,
    pub undefined: Option<String>,
}

/// The forms of a group, with the parameters of each, or which of them a family has.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Forms {
    Which(String),
    Parameters(BTreeMap<String, String>),
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TableError {
    /// The file.
    pub file: String,
    /// The family, if it is known.
    pub family: Option<String>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "isa/intrinsics/{}: ", self.file)?;
        if let Some(family) = &self.family {
            write!(f, "{family}: ")?;
        }
        f.write_str(self.problem.trim_end())
    }
}

impl Row {
    /// A file's.
    pub fn parse(text: &str) -> Result<Row, String> {
        toml::from_str(text).map_err(|e| e.to_string())
    }

    /// Takes from the outer row what this one does not say.
    pub fn inherit(&mut self, outer: &Row) -> Result<(), String> {
        self.forms = match (self.forms.take(), &outer.forms) {
            (None, outer) => outer.clone(),
            (Some(Forms::Which(names)), Some(Forms::Parameters(all))) => {
                let mut chosen = BTreeMap::new();
                for name in names.split_whitespace() {
                    let parameters =
                        all.get(name).ok_or_else(|| format!("the group has no form `{name}`"))?;
                    chosen.insert(name.to_string(), parameters.clone());
                }
                Some(Forms::Parameters(chosen))
            }
            (own, _) => own,
        };
        macro_rules! take {
            ($($key:ident)*) => { $( if self.$key.is_none() { self.$key = outer.$key.clone(); } )* };
        }
        take!(types tuples source eew returns named variants rm vxrm vl overloaded sem instruction uimm
            requires f16 undefined);
        Ok(())
    }
}
