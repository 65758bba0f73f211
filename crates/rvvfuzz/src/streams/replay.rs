//! Replays a saved corpus: against what was recorded, under all policies, and on any emulator or board.

use super::compare::{Choice, compare};
use super::coverage::{Coverage, Watch};
use super::dump::{Places, digest};
use super::inprocess::{Lab, Ran};
use super::jury::{JuryError, Verdict, judge, judge_pack};
use super::known::{Known, without_known};
use super::peers::{AskError, Peer, ask_here};
use super::runtime::{Environment, capacity};
use super::stream::Stream;
use super::text::Entry;
use rvvsim::config::Agnostic;
use std::collections::BTreeMap;
use std::path::Path;

/// What a replay came to.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Streams that ran.
    pub streams: usize,
    /// What they covered.
    pub coverage: Coverage,
    /// What is wrong, a line each.
    pub wrong: Vec<String>,
    /// Known differences met, by name.
    pub known: BTreeMap<String, u64>,
}

/// Runs each stream on `rvvsim` and compares with what was recorded, with itself in blocks, as ELFs in both
/// environments, and under random agnostic policies; then on the peers.
///
/// # Errors
/// When a peer does not even start.
pub fn replay(
    entries: &[Entry],
    peers: &[Peer],
    known: &[Known],
    folder: &Path,
) -> Result<Replayed, JuryError> {
    let mut replayed = Replayed::default();
    let mut by_vlen: BTreeMap<u32, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_vlen.entry(entry.stream.vlen).or_default().push(entry);
    }
    for (vlen, entries) in by_vlen {
        let mut lab = Lab::new(vlen);
        for pack in entries.chunks(capacity(vlen).clamp(1, 64)) {
            let ran = here(&mut lab, pack, &mut replayed);
            if let Err(e) = policies(&mut lab, &ran, &mut replayed) {
                replayed.wrong.push(e.to_string());
            }
            for peer in peers {
                elsewhere(&mut lab, peer, &ran, known, folder, &mut replayed)?;
            }
        }
    }
    Ok(replayed)
}

/// Runs a pack in process; returns those that ran.
fn here<'e>(lab: &mut Lab, pack: &[&'e Entry], replayed: &mut Replayed) -> Vec<(&'e Entry, Ran)> {
    let mut all = Vec::new();
    for entry in pack {
        let mut watch = Watch::default();
        let ran = match lab.run(&entry.stream, 0, &mut watch) {
            Ok(ran) => ran,
            Err(e) => {
                replayed.wrong.push(format!("{}: {e}", entry.name));
                continue;
            }
        };
        replayed.streams += 1;
        replayed.coverage.add(&watch);
        for (part, range) in Places::new(entry.stream.vlen).parts() {
            let expected = entry.expected.iter().find(|(name, _)| name == part);
            if expected.is_some_and(|(_, hash)| *hash != digest(&ran.kept[range])) {
                replayed.wrong.push(format!("{}: {part} is not what was recorded", entry.name));
            }
        }
        if let Err(e) = lab.check_blocks(&entry.stream, 0, &ran) {
            replayed.wrong.push(format!("{}: {e}", entry.name));
        }
        all.push((*entry, ran));
    }
    all
}

/// The ELFs of both environments, with agnostic elements kept, all ones, and by coin: each is within what is
/// allowed.
fn policies(lab: &mut Lab, ran: &[(&Entry, Ran)], replayed: &mut Replayed) -> Result<(), AskError> {
    let streams: Vec<&Stream> = ran.iter().map(|(e, _)| &e.stream).collect();
    for environment in [Environment::Bare, Environment::Linux] {
        let kept = ask_here(&streams, environment, Agnostic::Undisturbed)?;
        let mut open: Vec<Option<Ran>> = Vec::with_capacity(streams.len());
        for (n, stream) in streams.iter().enumerate() {
            // A stream may read agnostic elements in one environment and not in the other: then it says
            // nothing.
            open.push(lab.run_as(environment, stream, n, &mut Watch::default()).ok());
        }
        for policy in [Agnostic::Ones, Agnostic::OnesToRegister, Agnostic::Random(1), Agnostic::Random(2)] {
            let other = ask_here(&streams, environment, policy)?;
            for (n, (entry, _)) in ran.iter().enumerate() {
                let Some(open) = &open[n] else { continue };
                let differences = compare(entry.stream.vlen, &kept[n], &other[n], open, Choice::Any);
                if let Some(d) = differences.first() {
                    let name = Places::new(entry.stream.vlen).name(d.at);
                    replayed.wrong.push(format!(
                        "{}: {environment:?}, {policy:?}: {name} is {:#x} and {:#x}",
                        entry.name, d.ours, d.theirs
                    ));
                }
            }
        }
    }
    Ok(())
}

fn elsewhere(
    lab: &mut Lab,
    peer: &Peer,
    ran: &[(&Entry, Ran)],
    known: &[Known],
    folder: &Path,
    replayed: &mut Replayed,
) -> Result<(), JuryError> {
    let pack: Vec<&Stream> = ran.iter().map(|(e, _)| &e.stream).collect();
    let verdicts = judge_pack(lab, peer, &pack, folder)?;
    for (n, ((entry, _), verdict)) in ran.iter().zip(&verdicts).enumerate() {
        let what = match verdict {
            Verdict::Agrees | Verdict::Incomparable => continue,
            Verdict::Died(why) => format!("no answer: {why}"),
            Verdict::Differs(differences) => {
                let name = Places::new(entry.stream.vlen).name(differences[0].at);
                format!("{name} is {:#x}, ours {:#x}", differences[0].theirs, differences[0].ours)
            }
        };
        if let Ok(Some((rest, names))) = without_known(lab, &entry.stream, n, peer, known)
            && judge(lab, peer, &rest, n, folder).is_ok_and(|v| v.agrees())
        {
            for name in names {
                *replayed.known.entry(name).or_default() += 1;
            }
            continue;
        }
        replayed.wrong.push(format!("{}: {}: {what}", entry.name, peer.name));
    }
    Ok(())
}
