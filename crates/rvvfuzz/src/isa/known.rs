//! Differences that have been looked into: where a peer is wrong, or the manual leaves a choice. A campaign counts
//! them by name and does not report them again.

use super::inprocess::{Lab, Violation};
use super::layout::slot;
use super::stream::Stream;
use rvv_isa::{Inst, Op};
use rvvsim::observe::Observer;
use rvvsim::{Cause, Hart, Trap};
use serde::Deserialize;

/// An instruction, or several, and the circumstances under which a peer is known to differ.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What it is counted as.
    pub name: String,
    /// The peers' names.
    pub peers: Vec<String>,
    /// Mnemonics; `*` stands for anything. `reserved` is for words that are no instructions.
    pub ops: Vec<String>,
    /// Only with `vstart` that is (not) zero.
    #[serde(default)]
    pub vstart: Option<bool>,
    /// Only where `rvvsim` traps so: `illegal`, `access`, `misaligned`; `none` where it does not trap.
    #[serde(default)]
    pub trap: Option<String>,
    /// Only where the reason of our trap contains this.
    #[serde(default)]
    pub rule: Option<String>,
    /// Only under this SEW.
    #[serde(default)]
    pub sew: Option<u32>,
    /// The manual's sentence, and what the peer does.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    difference: Vec<Known>,
}

/// The list that comes with the fuzzer.
///
/// # Panics
/// If it is malformed: a test sees to it that it is not.
#[must_use]
pub fn known() -> Vec<Known> {
    let file: File =
        toml::from_str(include_str!("../../known-differences.toml")).expect("the list is well-formed");
    file.difference
}

/// What an instruction of a stream did, as far as the list cares.
#[derive(Clone, Debug)]
pub struct Event {
    /// The step it is part of.
    pub step: usize,
    /// The instruction; `None` if it is none.
    pub op: Option<Op>,
    /// `vstart` before it.
    pub vstart: u64,
    /// SEW before it.
    pub sew: u32,
    /// Its trap.
    pub trap: Option<Trap>,
}

impl Known {
    /// Whether an event of a stream is of this kind.
    #[must_use]
    pub fn matches(&self, peer: &str, event: &Event) -> bool {
        let name = event.op.map_or("reserved", Op::name);
        let trap = match event.trap.map(|t| t.cause) {
            None => "none",
            Some(Cause::IllegalInstruction) => "illegal",
            Some(Cause::LoadAddressMisaligned | Cause::StoreAddressMisaligned) => "misaligned",
            Some(Cause::Breakpoint | Cause::EcallFromM | Cause::EcallFromS | Cause::EcallFromU) => "call",
            Some(_) => "access",
        };
        self.peers.iter().any(|p| p == peer)
            && self.ops.iter().any(|pattern| glob(pattern, name))
            && self.vstart.is_none_or(|wanted| wanted == (event.vstart != 0))
            && self.trap.as_ref().is_none_or(|wanted| wanted == trap)
            && self.rule.as_ref().is_none_or(|rule| event.trap.is_some_and(|t| t.why.contains(rule.as_str())))
            && self.sew.is_none_or(|sew| sew == event.sew)
    }
}

/// Whether a name matches a pattern in which `*` stands for anything.
fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).any(|i| rest.is_char_boundary(i) && glob(tail, &rest[i..]))),
    }
}

/// What the instructions of a stream do.
///
/// # Errors
/// What makes the stream one not to compare.
pub fn events(lab: &mut Lab, stream: &Stream) -> Result<Vec<Event>, Violation> {
    struct Events {
        ends: Vec<u64>,
        pending: Option<(u64, u64, u32)>,
        all: Vec<Event>,
    }
    impl Observer for Events {
        fn before(&mut self, hart: &Hart, _: Option<&Inst>) {
            self.pending = Some((hart.pc, hart.v.vstart, hart.v.vtype.sew.bits()));
        }
        fn after(&mut self, _: &Hart, inst: Option<&Inst>, trap: Option<&Trap>) {
            let Some((pc, vstart, sew)) = self.pending.take() else { return };
            let step = self.ends.partition_point(|&end| end <= pc);
            self.all.push(Event { step, op: inst.map(|i| i.op), vstart, sew, trap: trap.copied() });
        }
    }
    let ends = stream.code(slot(0))?.ends;
    let mut events = Events { ends, pending: None, all: Vec::new() };
    lab.run(stream, 0, &mut events)?;
    Ok(events.all)
}

/// The stream without the steps of known differences, and the names of those; nothing if it has none.
///
/// # Errors
/// What makes the stream one not to compare.
pub fn without_known(
    lab: &mut Lab,
    stream: &Stream,
    peer: &str,
    known: &[Known],
) -> Result<Option<(Stream, Vec<String>)>, Violation> {
    let mut names: Vec<String> = Vec::new();
    let mut steps: Vec<usize> = Vec::new();
    for event in events(lab, stream)? {
        for entry in known.iter().filter(|k| k.matches(peer, &event)) {
            names.push(entry.name.clone());
            steps.push(event.step);
        }
    }
    if steps.is_empty() {
        return Ok(None);
    }
    steps.sort_unstable();
    steps.dedup();
    names.sort_unstable();
    names.dedup();
    let mut rest = stream.clone();
    for &step in steps.iter().rev().filter(|&&step| step < stream.steps.len()) {
        rest.remove_step(step);
    }
    Ok(Some((rest, names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_well_formed_and_names_instructions() {
        for entry in known() {
            for pattern in &entry.ops {
                let any = pattern == "reserved" || Op::all().any(|op| glob(pattern, op.name()));
                assert!(any, "{}: {pattern} is no instruction", entry.name);
            }
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(glob("vl*re*.v", "vl4re16.v"));
        assert!(!glob("vl*re*.v", "vle16.v"));
        assert!(glob("cbo.*", "cbo.zero"));
        assert!(glob("*", "add"));
        assert!(!glob("add", "addi"));
        assert!(!glob("v*x", "vadd.vv"));
        assert!(glob("v*x", "vadd.vx"));
    }
}
