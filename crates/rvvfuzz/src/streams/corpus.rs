//! Folders of streams.

use super::coverage::{Counts, Coverage, TYPES, Watch};
use super::inprocess::Lab;
use super::report::expecting;
use super::stream::Stream;
use super::text::{Entry, parse, print};
use rustc_hash::FxHashSet;
use rvv_isa::Op;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The ending of files with streams.
pub const ENDING: &str = "streams";

/// What is wrong with a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file has a line that means nothing.
    #[error("{path}: {source}")]
    Text {
        /// Which.
        path: PathBuf,
        /// Where and what.
        source: super::text::TextError,
    },
    /// There is nothing there.
    #[error("{0}: no file in it ends in .{ENDING}")]
    Empty(PathBuf),
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> CorpusError + '_ {
    move |source| CorpusError::Io { path: path.to_owned(), source }
}

/// Reads all streams of a folder, or of one file.
///
/// # Errors
/// See [`CorpusError`].
pub fn load(path: &Path) -> Result<Vec<Entry>, CorpusError> {
    let mut files = Vec::new();
    if path.is_dir() {
        for item in std::fs::read_dir(path).map_err(io(path))? {
            let file = item.map_err(io(path))?.path();
            if file.extension().is_some_and(|e| e == ENDING) {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(CorpusError::Empty(path.to_owned()));
        }
        files.sort();
    } else {
        files.push(path.to_owned());
    }
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(io(&file))?;
        all.extend(parse(&text).map_err(|source| CorpusError::Text { path: file, source })?);
    }
    Ok(all)
}

/// Writes streams to a folder, one file for each VLEN, each whole or not at all.
///
/// # Errors
/// What cannot be written.
pub fn save(folder: &Path, entries: &[Entry]) -> Result<(), CorpusError> {
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    let mut files: BTreeMap<u32, String> = BTreeMap::new();
    for entry in entries {
        let text = files.entry(entry.stream.vlen).or_default();
        *text += &print(entry);
        text.push('\n');
    }
    for (vlen, text) in files {
        write_whole(&folder.join(format!("vlen{vlen}.{ENDING}")), text.as_bytes())?;
    }
    Ok(())
}

/// Writes a file so that it is never seen half written, even when the disk is full.
///
/// # Errors
/// What cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CorpusError> {
    let part = path.with_extension("part");
    let result = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    result.map_err(io(path))
}

/// The few of many streams that reach the same instructions under the same types, as far as they fit `bytes`:
/// first all instructions, then as many types as there is room for.
#[must_use]
pub fn distill(streams: &[Stream], bytes: usize) -> Vec<Entry> {
    let mut labs: BTreeMap<u32, Lab> = BTreeMap::new();
    let mut seen: FxHashSet<(u32, usize)> = FxHashSet::default();
    let mut chosen: Vec<Option<Entry>> = vec![None; streams.len()];
    let vlens: FxHashSet<u32> = streams.iter().map(|s| s.vlen).collect();
    // The same share for each VLEN.
    let share = bytes / vlens.len().max(1);
    let mut left: BTreeMap<u32, usize> = vlens.into_iter().map(|vlen| (vlen, share)).collect();
    // Instructions alone, then with their types, then all circumstances.
    let mut keys = FxHashSet::default();
    for level in 0..3 {
        for (i, stream) in streams.iter().enumerate() {
            if chosen[i].is_some() {
                continue;
            }
            let lab = labs.entry(stream.vlen).or_insert_with(|| Lab::new(stream.vlen));
            let mut watch = Watch::default();
            let Ok(ran) = lab.run(stream, 0, &mut watch) else { continue };
            let mut coverage = Coverage::default();
            coverage.add(&watch);
            let cells = cells(&coverage.counts);
            let counts = |cell: &usize| level > 0 || *cell >= Op::COUNT * TYPES;
            let is_new = |cell: &usize| counts(cell) && !seen.contains(&(stream.vlen, *cell));
            let new_key = level == 2 && watch.keys.iter().any(|key| !keys.contains(&(stream.vlen, *key)));
            if !new_key && !cells.iter().any(is_new) {
                continue;
            }
            let entry = expecting(&format!("{}-{i}", stream.vlen), stream, &ran.kept);
            let size = print(&entry).len() + 1;
            let Some(left) = left.get_mut(&stream.vlen).filter(|left| **left >= size) else { continue };
            *left -= size;
            seen.extend(cells.into_iter().map(|cell| (stream.vlen, cell)));
            keys.extend(watch.keys.iter().map(|key| (stream.vlen, *key)));
            chosen[i] = Some(entry);
        }
    }
    chosen.into_iter().flatten().collect()
}

/// The cells that a stream has reached: one for each instruction and type, and, past all those, one for each
/// instruction.
fn cells(counts: &Counts) -> Vec<usize> {
    let mut all = Vec::new();
    for op in Op::all().filter(|&op| counts.reached(op)) {
        all.push(Op::COUNT * TYPES + op as usize);
        let reached = (0..TYPES).filter(|&c| counts.retired(op, c) > 0);
        all.extend(reached.map(|c| op as usize * TYPES + c));
    }
    all
}
