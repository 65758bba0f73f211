//! Differences that have been looked into: where a peer is wrong, or the manual leaves a choice. A campaign
//! counts them by name and does not report them again.

use super::inprocess::{Lab, Violation};
use super::layout::{SANDBOX, SANDBOX_SIZE, slot};
use super::peers::Peer;
use super::runtime::Environment;
use super::stream::Stream;
use rvv_isa::Inst;
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
    /// Only with (no) active element in the body.
    #[serde(default)]
    pub active: Option<bool>,
    /// Only with this destination register.
    #[serde(default)]
    pub rd: Option<u8>,
    /// Only if the scalar floating-point operand of a vector instruction is (not) NaN-boxed.
    #[serde(default)]
    pub boxed: Option<bool>,
    /// Only if our trap is (not) at the first byte of the page behind the sandbox: a misaligned access that
    /// crosses into it faults there.
    #[serde(default)]
    pub boundary: Option<bool>,
    /// Only if the address our trap tells is (not) a multiple of eight.
    #[serde(default)]
    pub tval_aligned: Option<bool>,
    /// The peer crashes or hangs: the step is left out before it is asked.
    #[serde(default)]
    pub leave_out: bool,
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
    pub inst: Option<Inst>,
    /// `vstart` before it.
    pub vstart: u64,
    /// SEW before it.
    pub sew: u32,
    /// Whether the body has an active element.
    pub active: bool,
    /// Whether `f[rs1]` is a NaN-boxed number of SEW.
    pub boxed: bool,
    /// Its trap.
    pub trap: Option<Trap>,
}

impl Event {
    fn before(hart: &Hart, inst: Option<&Inst>) -> Event {
        let v = hart.vector();
        let sew = v.vtype.sew.bits();
        let bit = |i: u64| v.registers()[i as usize / 8] >> (i % 8) & 1 != 0;
        let masked = inst.is_some_and(|inst| !inst.vm);
        let active = (v.vstart..v.vl).any(|i| !masked || bit(i));
        let f = inst.map_or(u64::MAX, |inst| hart.f(inst.rs1 % 32));
        let boxed = sew == 64 || f >> sew == u64::MAX >> sew;
        Event { step: 0, inst: inst.copied(), vstart: v.vstart, sew, active, boxed, trap: None }
    }
}

/// The first address behind the sandbox.
const GUARD: u64 = SANDBOX + SANDBOX_SIZE;

impl Known {
    /// Whether an event of a stream is of this kind.
    #[must_use]
    pub fn matches(&self, peer: &Peer, event: &Event) -> bool {
        let name = event.inst.map_or("reserved", |inst| inst.op.name());
        let trap = match event.trap.map(|t| t.cause) {
            None => "none",
            Some(Cause::IllegalInstruction) => "illegal",
            Some(Cause::LoadAddressMisaligned | Cause::StoreAddressMisaligned) => "misaligned",
            Some(Cause::Breakpoint | Cause::EcallFromM | Cause::EcallFromS | Cause::EcallFromU) => "call",
            Some(_) => "access",
        };
        self.peers.iter().any(|name| peer.is(name))
            && self.ops.iter().any(|pattern| glob(pattern, name))
            && self.vstart.is_none_or(|wanted| wanted == (event.vstart != 0))
            && self.trap.as_ref().is_none_or(|wanted| wanted == trap)
            && self.rule.as_ref().is_none_or(|rule| event.trap.is_some_and(|t| t.why.contains(rule.as_str())))
            && self.sew.is_none_or(|sew| sew == event.sew)
            && self.active.is_none_or(|active| active == event.active)
            && self.rd.is_none_or(|rd| event.inst.is_some_and(|inst| inst.rd == rd))
            && self.boxed.is_none_or(|boxed| boxed == event.boxed)
            && self.boundary.is_none_or(|wanted| wanted == event.trap.is_some_and(|t| t.tval == GUARD))
            && self
                .tval_aligned
                .is_none_or(|wanted| event.trap.is_some_and(|t| wanted == t.tval.is_multiple_of(8)))
    }
}

/// Whether a name matches a pattern in which `*` stands for anything.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).any(|i| rest.is_char_boundary(i) && glob(tail, &rest[i..]))),
    }
}

/// What the instructions of a stream do, in slot `n`.
///
/// # Errors
/// What makes the stream one not to compare.
pub fn events(
    lab: &mut Lab,
    stream: &Stream,
    n: usize,
    environment: Environment,
) -> Result<Vec<Event>, Violation> {
    struct Events {
        ends: Vec<u64>,
        pending: Option<Event>,
        all: Vec<Event>,
    }
    impl Observer for Events {
        fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
            let step = self.ends.partition_point(|&end| end <= hart.pc());
            self.pending = Some(Event { step, ..Event::before(hart, inst) });
        }
        fn after(&mut self, _: &Hart, _: Option<&Inst>, trap: Option<&Trap>) {
            let pending = self.pending.take();
            self.all.extend(pending.map(|event| Event { trap: trap.copied(), ..event }));
        }
    }
    let ends = stream.code(slot(n))?.ends;
    let mut events = Events { ends, pending: None, all: Vec::new() };
    lab.run_as(environment, stream, n, &mut events)?;
    Ok(events.all)
}

/// The stream, in slot `n`, without the steps of known differences, and the names of those; nothing if it has
/// none.
///
/// # Errors
/// What makes the stream one not to compare.
pub fn without_known(
    lab: &mut Lab,
    stream: &Stream,
    n: usize,
    peer: &Peer,
    known: &[Known],
) -> Result<Option<(Stream, Vec<String>)>, Violation> {
    let mut names: Vec<String> = Vec::new();
    let mut steps: Vec<usize> = Vec::new();
    for event in events(lab, stream, n, peer.environment())? {
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
    use rvv_isa::Op;

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
