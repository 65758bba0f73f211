//! A disagreement, told: the program, the answers side by side, the rule, and who is alone.

use super::coverage::Watch;
use super::dump::Places;
use super::inprocess::Lab;
use super::jury::{JuryError, Verdict, judge};
use super::layout::slot;
use super::peers::{Peer, ask_here};
use super::runtime::Environment;
use super::stream::Stream;
use super::text::{Entry, disassemble, print};
use rvvsim::config::Agnostic;
use std::fmt::Write;
use std::path::Path;

/// Words of a report's table; a whole register group may be different.
const MOST_ROWS: usize = 24;

/// The report on a stream in slot `n`, asking all peers.
///
/// # Errors
/// When `rvvsim` has no answer, or a peer does not even start.
pub fn report(
    lab: &mut Lab,
    peers: &[Peer],
    name: &str,
    stream: &Stream,
    n: usize,
    folder: &Path,
) -> Result<String, JuryError> {
    let places = Places::new(stream.vlen);
    let ran = lab.run(stream, n, &mut Watch::default())?;
    let mut out = format!("{name}: VLEN {}, {} instructions\n\n", stream.vlen, stream.instructions());
    let code = stream.code(slot(n)).map_err(super::inprocess::Violation::from)?;
    for (step, at) in stream.steps.iter().zip(&code.mains) {
        for &word in &step.before {
            let _ = writeln!(out, "              {}", disassemble(word));
        }
        if let Some(word) = step.main {
            let _ = writeln!(out, "  {at:#x}  {}", disassemble(word));
        }
        for &word in &step.after {
            let _ = writeln!(out, "              {}", disassemble(word));
        }
    }
    let mut verdicts = Vec::new();
    for peer in peers {
        verdicts.push(match judge(lab, peer, stream, n, folder) {
            Err(JuryError::Violation(_)) => Verdict::Incomparable,
            verdict => verdict?,
        });
    }
    for (peer, verdict) in peers.iter().zip(&verdicts) {
        let environment = if peer.environment() == Environment::Bare { "bare" } else { "Linux" };
        let _ = match verdict {
            Verdict::Agrees => writeln!(out, "\n{} ({environment}) agrees with rvvsim.", peer.name),
            Verdict::Incomparable => {
                writeln!(out, "\n{} ({environment}) may differ: agnostic elements are read.", peer.name)
            }
            Verdict::Died(why) => writeln!(out, "\n{} ({environment}) came to no answer: {why}", peer.name),
            Verdict::Differs(differences) => {
                let _ =
                    writeln!(out, "\n{:<28} {:>18} {:>18}", format!("({environment})"), "rvvsim", peer.name);
                for d in differences.iter().take(MOST_ROWS) {
                    let _ = writeln!(out, "{:<28} {:>#18x} {:>#18x}", places.name(d.at), d.ours, d.theirs);
                }
                match differences.len().saturating_sub(MOST_ROWS) {
                    0 => Ok(()),
                    more => writeln!(out, "... and {more} words more"),
                }
            }
        };
    }
    out.push('\n');
    for (trap, why) in places.trapped(&ran.kept).iter().zip(&ran.whys) {
        let _ = writeln!(out, "rvvsim traps at {:#x}, cause {}: {why}", trap.pc, trap.cause);
    }
    for inst in stream.steps.iter().filter_map(|s| s.inst()) {
        let info = inst.op.info();
        let _ = writeln!(out, "{} is of {}; see the manual there.", info.name, info.extension);
    }
    let _ = writeln!(out, "{}", who_is_alone(peers, &verdicts));
    let _ = writeln!(out, "\n{}", print(&expecting(name, stream, &ran.kept)));
    Ok(out)
}

fn who_is_alone(peers: &[Peer], verdicts: &[Verdict]) -> String {
    let against: Vec<&str> =
        peers.iter().zip(verdicts).filter(|(_, v)| !v.agrees()).map(|(p, _)| p.name.as_str()).collect();
    match (against.as_slice(), peers.len()) {
        ([], _) => "Nobody disagrees any more.".into(),
        ([one], n) if n > 1 => format!("{one} is alone: rvvsim and the others agree."),
        ([one], _) => format!("{one} and rvvsim disagree; there is no third to ask."),
        (all, n) if all.len() == n && n > 1 => {
            format!("rvvsim is alone, or the manual leaves a choice: {} all differ from it.", all.join(", "))
        }
        (all, _) => format!("{} differ from rvvsim.", all.join(", ")),
    }
}

/// A stream with the hashes of a dump.
#[must_use]
pub fn expecting(name: &str, stream: &Stream, dump: &[u64]) -> Entry {
    let parts = Places::new(stream.vlen).parts();
    let expected = parts.map(|(part, range)| (part.to_owned(), super::dump::digest(&dump[range]))).to_vec();
    Entry { name: name.to_owned(), stream: stream.clone(), expected }
}

/// Whether `rvvsim`'s two environments agree with the run in process, and with its blocks: the emulator
/// against itself.
///
/// # Errors
/// In what they differ.
pub fn check_itself(lab: &mut Lab, stream: &Stream) -> Result<(), String> {
    let ran = lab.run(stream, 0, &mut Watch::default()).map_err(|e| e.to_string())?;
    lab.check_blocks(stream, 0, &ran).map_err(|e| e.to_string())?;
    let places = Places::new(stream.vlen);
    let bare = ask_here(&[stream], Environment::Bare, Agnostic::Undisturbed).map_err(|e| e.to_string())?;
    match (0..places.words()).find(|&i| bare[0][i] != ran.kept[i]) {
        None => Ok(()),
        Some(i) => {
            Err(format!("{}: {:#x} in process, {:#x} as an ELF", places.name(i), ran.kept[i], bare[0][i]))
        }
    }
}
