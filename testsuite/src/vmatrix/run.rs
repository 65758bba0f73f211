//! Running the matrix: on `rvvsim`, on Spike.

use super::cases::{Case, Subject, cases, vtypes};
use super::golden::{Goldens, entries};
use super::program::program;
use super::{CASES_PER_TYPE, VLENS};
use crate::peer::{Spike, spike_isa};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::path::Path;

/// Instructions no program of the matrix comes near.
const MOST_INSNS: u64 = 50_000_000;

/// The signature of one instruction's cases on `rvvsim`.
///
/// # Errors
/// A sentence: how the run ended, if not well.
pub fn on_rvvsim(elf: &[u8], config: Config) -> Result<Vec<u64>, String> {
    let image = Image::parse(elf).map_err(|e| e.to_string())?;
    let config = Config { max_insns: Some(MOST_INSNS), mem: 64 << 20, ..config };
    let mut machine = Machine::bare(config, &image).map_err(|e| e.to_string())?;
    match machine.run(None) {
        Outcome::Exited(0) => {}
        other => return Err(format!("the program did not end well: {other:?}")),
    }
    let at = |name| image.symbol(name).ok_or_else(|| format!("no {name}"));
    let (begin, end) = (at("begin_signature")?, at("end_signature")?);
    let offset = (begin - 0x8000_0000) as usize;
    let bytes = &machine.hart().memory()[offset..offset + (end - begin) as usize];
    Ok(bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
}

/// The signature on Spike.
///
/// # Errors
/// What Spike said.
pub fn on_spike(
    spike: &Path,
    elf: &[u8],
    vlen: u32,
    words: usize,
    folder: &Path,
) -> Result<Vec<u64>, String> {
    let file = folder.join("program.elf");
    std::fs::write(&file, elf).map_err(|e| e.to_string())?;
    let spike = Spike { path: spike.to_owned(), isa: spike_isa(vlen) };
    spike.signature(&file, &folder.join("signature"), words).map_err(|e| e.to_string())
}

/// A SEW and LMUL of an instruction at a VLEN where `rvvsim` and the recorded answers differ.
#[derive(Debug)]
pub struct Difference {
    /// The instruction.
    pub subject: Subject,
    /// VLEN.
    pub vlen: u32,
    /// What is different.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at VLEN {}: {}", self.subject, self.vlen, self.what)
    }
}

/// Runs one instruction at one VLEN and compares with the recorded answers.
#[must_use]
pub fn check(goldens: &Goldens, vlen: usize, index: usize, subject: Subject) -> Vec<Difference> {
    let bits = VLENS[vlen];
    let elf = program(&cases(subject, bits), bits);
    let difference = |what| Difference { subject, vlen: bits, what };
    let signature = match on_rvvsim(&elf, Config { vlen: bits, ..Config::default() }) {
        Ok(signature) => signature,
        Err(what) => return vec![difference(what)],
    };
    let mut all = Vec::new();
    for (((sew, lmul), ours), theirs) in vtypes().zip(entries(&signature)).zip(goldens.of(vlen, index)) {
        if ours.traps != theirs.traps {
            all.push(difference(format!(
                "{sew} {lmul}: traps in cases {:#06x}, recorded {:#06x}",
                ours.traps, theirs.traps
            )));
        } else if ours != theirs {
            all.push(difference(format!("{sew} {lmul}: another result")));
        }
    }
    all
}

/// The first case in which two signatures differ, described.
#[must_use]
pub fn first_difference(cases: &[Case], ours: &[u64], spike: &[u64]) -> Option<String> {
    let at = ours.iter().zip(spike).position(|(a, b)| a != b)?;
    let case = &cases[at];
    let trapped = |w: u64| if w & 1 != 0 { "traps" } else { "completes" };
    Some(format!(
        "case {} of type {}: {} vtype={} avl={} vstart={} scalars={:x?} fcsr={:#x} vxrm={} filling={:?} \
         shift={} misalign={}: \
         rvvsim {}, Spike {}",
        at % CASES_PER_TYPE,
        at / CASES_PER_TYPE,
        case.inst.disasm(0, rvv_isa::DisasmOptions { pseudo: false }).replace('\t', " "),
        case.vtype,
        case.avl,
        case.vstart,
        case.scalars,
        case.fcsr,
        case.vxrm,
        case.filling,
        case.shift,
        case.misalign,
        trapped(ours[at]),
        trapped(spike[at]),
    ))
}
