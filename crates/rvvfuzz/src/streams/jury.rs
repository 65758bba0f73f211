//! One stream, or a pack of them, before the jury: `rvvsim` and a peer run the same ELF.

use super::compare::{Difference, compare};
use super::coverage::Watch;
use super::inprocess::{Lab, Ran, Violation};
use super::peers::{AskError, Peer};
use super::stream::Stream;
use std::path::Path;
use std::time::Duration;

/// What a peer made of a stream.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The same as `rvvsim`.
    Agrees,
    /// These words are different.
    Differs(Vec<Difference>),
    /// It came to no answer: it crashed, hung, or stopped.
    Died(String),
    /// The stream reads in the peer's environment what the manual leaves open, and says nothing.
    Incomparable,
}

impl Verdict {
    /// Whether all is well.
    #[must_use]
    pub fn agrees(&self) -> bool {
        matches!(self, Verdict::Agrees | Verdict::Incomparable)
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum JuryError {
    /// The stream is not one to compare.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// `rvvsim` has no answer, or the peer cannot be run at all.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// How long a peer may take for a stream alone.
const ALONE: Duration = Duration::from_secs(2);

/// The peer's verdict on a stream alone, in slot `n`.
///
/// # Errors
/// When the stream is not one to compare, or the peer does not even start.
pub fn judge(
    lab: &mut Lab,
    peer: &Peer,
    stream: &Stream,
    n: usize,
    folder: &Path,
) -> Result<Verdict, JuryError> {
    let ran = lab.run_as(peer.environment(), stream, n, &mut Watch::default())?;
    let here = peer.ask_here(n, &[stream])?;
    // A stream alone takes no time: one that hangs the peer must not be waited for as long as a pack.
    let peer = &Peer { limit: peer.limit.min(ALONE), ..peer.clone() };
    match peer.ask(n, &[stream], folder) {
        Ok(there) => Ok(verdict(stream.vlen, &here[0], &there[0], &ran, peer)),
        Err(AskError::Peer(rvv_tools::PeerError::Failed { why, .. })) => Ok(Verdict::Died(why)),
        Err(other) => Err(other.into()),
    }
}

/// The peer's verdict on each of a pack; the streams that it dies on are judged alone.
///
/// # Errors
/// When `rvvsim` has no answer, or the peer does not even start.
pub fn judge_pack(
    lab: &mut Lab,
    peer: &Peer,
    pack: &[&Stream],
    folder: &Path,
) -> Result<Vec<Verdict>, JuryError> {
    let streams = pack;
    // What is open depends on the environment: a privileged instruction traps in one and not in the other.
    let mut rans: Vec<Option<Ran>> = Vec::with_capacity(pack.len());
    for (n, stream) in streams.iter().enumerate() {
        rans.push(lab.run_as(peer.environment(), stream, n, &mut Watch::default()).ok());
    }
    let here = peer.ask_here(0, streams)?;
    match peer.ask(0, streams, folder) {
        Ok(there) => Ok(pack
            .iter()
            .zip(&rans)
            .zip(here.iter().zip(&there))
            .map(|((stream, ran), (ours, theirs))| match ran {
                Some(ran) => verdict(stream.vlen, ours, theirs, ran, peer),
                None => Verdict::Incomparable,
            })
            .collect()),
        Err(AskError::Peer(rvv_tools::PeerError::Failed { .. })) => {
            let alone = |(n, stream): (usize, &&Stream)| match judge(lab, peer, stream, n, folder) {
                // It cannot be compared in this environment.
                Err(JuryError::Violation(_)) => Ok(Verdict::Agrees),
                verdict => verdict,
            };
            pack.iter().enumerate().map(alone).collect()
        }
        Err(other) => Err(other.into()),
    }
}

fn verdict(vlen: u32, ours: &[u64], theirs: &[u64], ran: &Ran, peer: &Peer) -> Verdict {
    let differences = compare(vlen, ours, theirs, ran, peer.choice);
    if differences.is_empty() { Verdict::Agrees } else { Verdict::Differs(differences) }
}
