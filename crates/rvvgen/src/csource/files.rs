//! Files of a source: what is found in folders, and headers.

use super::lex::{Token, tokens};
use super::{MOST_BYTES, MOST_TOKENS};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is not there, or may not be read.
    #[error("cannot read {0}: {1}")]
    Read(String, String),
    /// It is too large.
    #[error("{0} has more than {MOST_BYTES} bytes")]
    Large(String),
    /// With its headers, and its macros expanded.
    #[error("{0} has more than {MOST_TOKENS} tokens when macros are expanded and headers included")]
    Expansion(String),
    /// Conditions or headers.
    #[error("{0}, line {1}: conditions, headers or macros are nested too deep")]
    Deep(String, u32),
}

/// Files that have been read, headers included: each is read once.
#[derive(Debug, Default)]
pub struct Files {
    /// Where to look for headers, besides beside the file and above it.
    pub include: Vec<PathBuf>,
    /// Macros that are defined from the start: name and value.
    pub define: Vec<(String, String)>,
    names: Vec<String>,
    paths: Vec<PathBuf>,
    read: HashMap<PathBuf, (u32, Rc<[Token]>)>,
    /// Tokens kept in all.
    kept: usize,
}

/// How far above a file headers are looked for: projects include them by their way from the root.
const MOST_ABOVE: usize = 6;

impl Files {
    /// Knows no file.
    pub fn new(include: Vec<PathBuf>, define: Vec<(String, String)>) -> Files {
        Files { include, define, ..Files::default() }
    }

    /// A file by the number that places have.
    pub fn name(&self, file: u32) -> &str {
        self.names.get(file as usize).map_or("?", |name| name)
    }

    pub(super) fn path(&self, file: u32) -> Option<&Path> {
        self.paths.get(file as usize).map(PathBuf::as_path)
    }

    /// A text that is no file.
    pub(super) fn text(&mut self, name: &str, text: &[u8]) -> Result<(u32, Rc<[Token]>), SourceError> {
        if text.len() > MOST_BYTES {
            return Err(SourceError::Large(name.to_string()));
        }
        let file = self.names.len() as u32;
        self.names.push(name.to_string());
        self.paths.push(PathBuf::from(name));
        Ok((file, tokens(text, file).into()))
    }

    pub(super) fn open(&mut self, path: &Path) -> Result<(u32, Rc<[Token]>), SourceError> {
        if let Some((file, tokens)) = self.read.get(path) {
            return Ok((*file, tokens.clone()));
        }
        let name = path.display().to_string();
        let fail = |e: std::io::Error| SourceError::Read(name.clone(), e.to_string());
        if !std::fs::metadata(path).map_err(fail)?.is_file() {
            return Err(SourceError::Read(name, "it is no file".to_string()));
        }
        let mut text = Vec::new();
        let file = std::fs::File::open(path).map_err(fail)?;
        file.take(MOST_BYTES as u64 + 1).read_to_end(&mut text).map_err(fail)?;
        let (file, tokens) = self.text(&name, &text)?;
        // Headers of a large project are kept up to a limit; beyond it they are read again.
        if self.kept < MOST_TOKENS {
            self.kept += tokens.len();
            self.read.insert(path.to_path_buf(), (file, tokens.clone()));
        }
        Ok((file, tokens))
    }

    /// Where a header is that a file includes.
    pub(super) fn header(&self, from: u32, name: &str) -> Option<PathBuf> {
        let from = self.path(from)?;
        let beside = from.parent().into_iter().map(Path::to_path_buf);
        let above = from.ancestors().skip(2).take(MOST_ABOVE);
        let above = above.flat_map(|dir| [dir.to_path_buf(), dir.join("include"), dir.join("src")]);
        let found = |dir: PathBuf| Some(dir.join(name)).filter(|path| path.is_file());
        beside.chain(self.include.iter().cloned()).chain(above).find_map(found)
    }
}

/// Whether a file's own text speaks of RISC-V or RVV: in folders, others are not worth reading with all their
/// headers.
pub fn speaks_of_vectors(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut text = Vec::new();
    if file.take(MOST_BYTES as u64).read_to_end(&mut text).is_err() {
        return true;
    }
    let has = |word: &[u8]| text.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
    has(b"rvv") || has(b"riscv")
}

/// What ends a source's name.
const SUFFIXES: [&str; 10] = ["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "inl", "inc", "C"];
/// Files that one command looks at.
const MOST_FILES: usize = 100_000;

/// The files of C and C++ among these and in these folders, in the order of their names.
///
/// # Errors
/// One that is not there.
pub fn source_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SourceError> {
    let mut found = Vec::new();
    for path in paths {
        let fail = |e: std::io::Error| SourceError::Read(path.display().to_string(), e.to_string());
        if std::fs::metadata(path).map_err(fail)?.is_dir() {
            folder(path, 0, &mut found);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn folder(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // Links may go in circles.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if found.len() >= MOST_FILES || hidden {
            continue;
        }
        let is_source = path.extension().is_some_and(|s| SUFFIXES.iter().any(|suffix| s == *suffix));
        if kind.is_dir() && depth < super::DEEPEST {
            folder(&path, depth + 1, found);
        } else if kind.is_file() && is_source {
            found.push(path);
        }
    }
}
