//! Does a peer work at all? Tried on a first stream before anything else.

use super::compare::compare;
use super::coverage::Watch;
use super::dump::Places;
use super::generate::word;
use super::init::Init;
use super::inprocess::Lab;
use super::peers::{AskError, Peer};
use super::stream::{Step, Stream};
use rvv_cli::errln;
use rvv_isa::{Inst, Op};
use std::path::Path;

/// A peer, and whether it was asked for by name.
pub struct Asked {
    /// Who.
    pub peer: Peer,
    /// By name: it must work. What was found on PATH and does not work is left out.
    pub named: bool,
}

/// The peers that work at all these VLENs, and how they take what the manual leaves open.
///
/// # Errors
/// Those that were asked for by name and do not work.
pub fn working(asked: Vec<Asked>, vlens: &[u32]) -> Result<Vec<Peer>, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let (mut peers, mut wrong) = (Vec::new(), Vec::new());
    for Asked { mut peer, named } in asked {
        match try_peer(&mut peer, vlens, folder.path()) {
            Ok(()) => peers.push(peer),
            Err(why) if named => wrong.push(format!("{} does not work: {why}", peer.name)),
            Err(why) => errln!("{} is left out: {why}", peer.name),
        }
    }
    if wrong.is_empty() {
        return Ok(peers);
    }
    wrong.push("nothing was run: mend what does not work, or leave it out".to_string());
    Err(wrong.join("\n"))
}

/// A first stream at each VLEN: it must leave the same state there as here.
fn try_peer(peer: &mut Peer, vlens: &[u32], folder: &Path) -> Result<(), String> {
    let told = |e: AskError, vlen: u32| format!("VLEN {vlen}: {e}");
    for &vlen in vlens {
        let stream = first(vlen);
        let here = peer.ask_here(0, &[&stream]).map_err(|e| told(e, vlen))?;
        let there = peer.ask(0, &[&stream], folder).map_err(|e| told(e, vlen))?;
        let ran = Lab::new(vlen).run_as(peer.environment(), &stream, 0, &mut Watch::default());
        let ran = ran.map_err(|e| e.to_string())?;
        if let Some(d) = compare(vlen, &here[0], &there[0], &ran, peer.choice).first() {
            let name = Places::new(vlen).name(d.at);
            return Err(format!(
                "VLEN {vlen}: after a first stream (vsetvli, vadd.vv) {name} is {:#x}, and {:#x} here; does it have this \
                 VLEN?",
                d.theirs, d.ours
            ));
        }
    }
    peer.probe(vlens.first().copied().unwrap_or(128), folder).map_err(|e| e.to_string())
}

/// `vsetvli t0, zero, e8, m1, tu, mu`; `vadd.vv v8, v24, v16`.
fn first(vlen: u32) -> Stream {
    let set = word(&Inst { rd: 5, imm: 0, ..Inst::new(Op::Vsetvli) });
    let add = word(&Inst { rd: 8, rs1: 16, rs2: 24, ..Inst::new(Op::VaddVv) });
    let steps = vec![Step::plain(set), Step::plain(add)];
    Stream { vlen, init: Init::new(0), steps, flows: Vec::new() }
}
