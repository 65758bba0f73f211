//! The recorded answers: `goldens/vector.bin`.
//!
//! A header word that names the cases, then for each VLEN, instruction and vtype, in their order, six bytes:
//! a digest of the sixteen signature words, and a bit for each that says whether the instruction trapped.

use super::cases::{Subject, cases, subjects, vtypes};
use super::{CASES_PER_TYPE, VLENS};
use std::path::PathBuf;

/// What sixteen cases came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// A digest of the signature words.
    pub digest: u32,
    /// Bit `i`: case `i` trapped.
    pub traps: u16,
}

const ENTRY: usize = 6;

impl Entry {
    /// The entry of sixteen signature words.
    #[must_use]
    pub fn of(words: &[u64]) -> Entry {
        let fold = |h: u64, &w: &u64| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let digest = (words.iter().fold(0, fold) >> 32) as u32;
        let traps = words.iter().enumerate().fold(0, |bits, (i, w)| bits | ((w & 1) as u16) << i);
        Entry { digest, traps }
    }
}

/// The entries of one instruction at one VLEN, from its whole signature.
#[must_use]
pub fn entries(signature: &[u64]) -> Vec<Entry> {
    signature.chunks(CASES_PER_TYPE).map(Entry::of).collect()
}

/// Where the recorded answers are.
#[must_use]
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens/vector.bin")
}

/// Names the cases: recorded answers are good for these only.
#[must_use]
pub fn fingerprint() -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    let mut absorb = |w: u64| h = (h ^ w).wrapping_mul(0x0000_0100_0000_01b3);
    for subject in subjects() {
        for case in cases(subject, VLENS[0]) {
            absorb(u64::from(rvv_isa::encode(&case.inst).unwrap_or(0)));
            absorb(case.scalars[0] ^ case.scalars[1].rotate_left(21) ^ case.scalars[2].rotate_left(42));
            absorb(case.avl << 40 ^ case.vstart << 16 ^ u64::from(case.shift));
        }
    }
    h
}

/// All recorded answers.
pub struct Goldens(Vec<u8>);

impl Goldens {
    /// Reads the recorded answers.
    ///
    /// # Errors
    /// A sentence: no file, or one for other cases.
    pub fn load() -> Result<Goldens, String> {
        let path = path();
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let expected = Goldens::size();
        let header = bytes.first_chunk().map(|b| u64::from_le_bytes(*b));
        if bytes.len() != expected || header != Some(fingerprint()) {
            return Err(format!(
                "{} was recorded for other cases; record it anew with: testsuite vmatrix --spike PATH \
                 --record",
                path.display()
            ));
        }
        Ok(Goldens(bytes))
    }

    /// What is recorded, to be added to: `None` where nothing fits.
    pub(super) fn recorded() -> Option<Vec<Vec<Vec<Entry>>>> {
        let mut bytes = std::fs::read(path()).ok()?;
        // The cases may have changed: that is why they are recorded anew.
        bytes.splice(..8, fingerprint().to_le_bytes());
        let goldens = Goldens(bytes);
        if goldens.0.len() != Goldens::size() {
            return None;
        }
        let of = |v| (0..subjects().len()).map(|i| goldens.of(v, i).collect()).collect();
        Some((0..VLENS.len()).map(of).collect())
    }

    fn size() -> usize {
        8 + VLENS.len() * subjects().len() * vtypes().count() * ENTRY
    }

    /// The entries of an instruction (by its place among the subjects) at a VLEN (by its place), one per
    /// vtype.
    pub fn of(&self, vlen: usize, subject: usize) -> impl Iterator<Item = Entry> + '_ {
        let types = vtypes().count();
        let at = 8 + (vlen * subjects().len() + subject) * types * ENTRY;
        self.0[at..at + types * ENTRY].chunks_exact(ENTRY).map(|b| Entry {
            digest: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            traps: u16::from_le_bytes([b[4], b[5]]),
        })
    }
}

/// Writes the recorded answers: for each VLEN, for each instruction, its entries.
///
/// # Errors
/// As writing the file.
pub fn save(all: &[Vec<Vec<Entry>>]) -> std::io::Result<()> {
    let mut bytes = fingerprint().to_le_bytes().to_vec();
    for entry in all.iter().flatten().flatten() {
        bytes.extend_from_slice(&entry.digest.to_le_bytes());
        bytes.extend_from_slice(&entry.traps.to_le_bytes());
    }
    let path = path();
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, bytes)
}

/// A subject by what `--op` says: its name, or a prefix of it.
#[must_use]
pub fn matching(pattern: &str) -> Vec<(usize, Subject)> {
    subjects().into_iter().enumerate().filter(|(_, s)| s.op.name().starts_with(pattern)).collect()
}
