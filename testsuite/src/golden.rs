//! Goldens: what Spike answered, kept small.
//!
//! A file holds the signature of one extension's program ([`crate::program`]) in full, so that a mismatch
//! names the case and the answer. Words are grouped by their place in a row and split into planes of bytes,
//! then deflated. A fingerprint of the program tells when the cases have changed since.

use crate::cases::{self, Density, Group};
use crate::program;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"rvvgold1";

/// What is wrong with a golden.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not a golden.
    #[error("{0}: not a golden, or a damaged one")]
    Format(PathBuf),
    /// The cases have changed since it was recorded.
    #[error("{0}: recorded for other cases; run `testsuite record`")]
    Stale(PathBuf),
}

/// The groups that an extension's golden is of, in order.
#[must_use]
pub fn groups(extension: &str) -> Vec<Group> {
    cases::ops(extension).flat_map(|op| cases::groups(op, Density::Golden)).collect()
}

/// Where an extension's golden is.
#[must_use]
pub fn path(extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{extension}.gold"))
}

/// A number that changes when the groups do.
#[must_use]
pub fn fingerprint(groups: &[Group]) -> u64 {
    let elf = program::build(groups).elf;
    let fnv = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    elf.iter().fold(0xcbf2_9ce4_8422_2325, fnv)
}

/// Writes the signature of some groups.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, groups: &[Group], words: &[u64]) -> Result<usize, GoldenError> {
    let planes = to_planes(groups, words);
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&fingerprint(groups).to_le_bytes());
    out.extend_from_slice(&(words.len() as u64).to_le_bytes());
    let mut encoder = DeflateEncoder::new(out, Compression::best());
    let io = |source| GoldenError::Io { path: path.to_owned(), source };
    encoder.write_all(&planes).map_err(io)?;
    let out = encoder.finish().map_err(io)?;
    std::fs::write(path, &out).map_err(io)?;
    Ok(out.len())
}

/// Reads the signature of some groups.
///
/// # Errors
/// When the file cannot be read, is damaged, or is of other groups.
pub fn read(path: &Path, groups: &[Group]) -> Result<Vec<u64>, GoldenError> {
    let bytes = std::fs::read(path).map_err(|source| GoldenError::Io { path: path.to_owned(), source })?;
    let damaged = || GoldenError::Format(path.to_owned());
    let header = bytes.first_chunk::<24>().ok_or_else(damaged)?;
    let word = |at: usize| header[at..at + 8].iter().rev().fold(0, |v: u64, b| v << 8 | u64::from(*b));
    if &header[..8] != MAGIC {
        return Err(damaged());
    }
    let count: usize = groups.iter().map(|g| g.rows.len() * g.shape.results()).sum();
    if word(8) != fingerprint(groups) || word(16) != count as u64 {
        return Err(GoldenError::Stale(path.to_owned()));
    }
    let mut planes = Vec::new();
    DeflateDecoder::new(&bytes[24..])
        .take(8 * count as u64 + 1)
        .read_to_end(&mut planes)
        .map_err(|_| damaged())?;
    from_planes(groups, count, &planes).ok_or_else(damaged)
}

/// The indices of the words, ordered by group, then by place in the row.
fn columns(groups: &[Group]) -> Vec<Vec<usize>> {
    let mut columns = Vec::new();
    let mut start = 0;
    for g in groups {
        let width = g.shape.results();
        columns.extend((0..width).map(|c| (0..g.rows.len()).map(|r| start + r * width + c).collect()));
        start += width * g.rows.len();
    }
    columns
}

fn to_planes(groups: &[Group], words: &[u64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 * words.len());
    for column in columns(groups) {
        for byte in 0..8 {
            out.extend(column.iter().map(|&i| (words[i] >> (8 * byte)) as u8));
        }
    }
    out
}

fn from_planes(groups: &[Group], count: usize, planes: &[u8]) -> Option<Vec<u64>> {
    let mut words = vec![0; count];
    let mut planes = planes.iter();
    for column in columns(groups) {
        for byte in 0..8 {
            for &i in &column {
                words[i] |= u64::from(*planes.next()?) << (8 * byte);
            }
        }
    }
    planes.next().is_none().then_some(words)
}
