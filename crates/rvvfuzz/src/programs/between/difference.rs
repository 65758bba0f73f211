//! How the code of a program with two builds differs.

use super::flow::{Mode, Origins, SET, reaching};
use crate::programs::features::code::{Flow, Function};
use crate::programs::features::machine::{csr_access, vset_form};
use rvv_isa::{Class, DisasmOptions, Inst, Op, csr};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of difference it is, the weightiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One of the builds does something else than it must, the other does not.
    Results,
    /// One of the compilers makes no code.
    Build,
    /// Another rounding mode reaches an instruction, or is left behind.
    Mode,
    /// Other reads or writes of control registers.
    Csr,
    /// Instructions under another vtype.
    Vtype,
    /// Other vset instructions.
    Vset,
    /// Other vector instructions.
    Instruction,
    /// The same instructions in another order.
    Order,
    /// Only scalar code differs.
    Scalar,
    /// Only registers, offsets and constants differ.
    Registers,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 10] = [
        Kind::Results,
        Kind::Build,
        Kind::Mode,
        Kind::Csr,
        Kind::Vtype,
        Kind::Vset,
        Kind::Instruction,
        Kind::Order,
        Kind::Scalar,
        Kind::Registers,
    ];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Results => "results",
            Kind::Build => "build",
            Kind::Mode => "rounding mode",
            Kind::Csr => "control register",
            Kind::Vtype => "vtype",
            Kind::Vset => "vset",
            Kind::Instruction => "instruction",
            Kind::Order => "order",
            Kind::Scalar => "scalar code",
            Kind::Registers => "registers",
        }
    }
}

/// A difference: programs with the same one are one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// Its kind.
    pub kind: Kind,
    /// What differs, in words: `vxrm where it is used: a callee's only with the first`.
    pub what: String,
}

impl Difference {
    /// A difference.
    pub fn new(kind: Kind, what: impl Into<String>) -> Difference {
        Difference { kind, what: what.into() }
    }

    /// Whether it is among these. What follows a semicolon is said of a program and not asked for.
    pub fn is_in(&self, found: &[Difference]) -> bool {
        let asked =
            |what: &str| self.what.strip_prefix(what).is_some_and(|r| r.is_empty() || r.starts_with(';'));
        found.iter().any(|d| d.kind == self.kind && asked(&d.what))
    }
}

/// What one build made of a program, without its registers and offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    modes: BTreeMap<(Mode, bool), BTreeSet<Origins>>,
    csrs: BTreeMap<String, u32>,
    vtypes: BTreeMap<(Class, String), BTreeMap<String, u32>>,
    vsets: BTreeMap<String, u32>,
    instructions: BTreeMap<String, u32>,
    /// Vector instructions in order, function by function.
    order: BTreeMap<String, Vec<String>>,
    scalars: BTreeMap<String, Vec<&'static str>>,
    text: BTreeMap<String, Vec<String>>,
}

fn name_of(inst: &Inst) -> String {
    let shape = inst.op.shape();
    let fields = match shape.memory {
        Some(_) if inst.nf > 0 => format!(" ×{}", inst.nf + 1),
        _ => String::new(),
    };
    let masked = if !inst.vm && !shape.v0_is_operand { " masked" } else { "" };
    format!("{}{fields}{masked}", inst.op.name())
}

impl Summary {
    fn of(functions: &[&Function]) -> Summary {
        let mut all = Summary::default();
        for function in functions {
            all.add(function);
        }
        all
    }

    fn add(&mut self, function: &Function) {
        let reaching = reaching(function);
        for (mode, op, origins) in reaching.modes {
            self.modes.entry((mode, op.is_some())).or_default().insert(origins);
        }
        let name = function.symbol.clone();
        let (mut order, mut scalars, mut text) = (Vec::new(), Vec::new(), Vec::new());
        for (i, placed) in function.code.iter().enumerate() {
            let Some(inst) = placed.inst.map(|i| Inst { op: i.op.base(), ..i }) else { continue };
            if let Some(access) = csr_access(&inst) {
                // Stack frames read vlenb: that is no traffic.
                let is_frame = u16::try_from(inst.imm) == Ok(csr::VLENB);
                let counts = if is_frame { &mut self.instructions } else { &mut self.csrs };
                *counts.entry(without_value(&access)).or_default() += 1;
            }
            let class = inst.op.class();
            if class == Class::VectorConfig {
                *self.vsets.entry(vset_form(&inst).to_string()).or_default() += 1;
            } else if class > Class::VectorConfig {
                let name = name_of(&inst);
                *self.instructions.entry(name.clone()).or_default() += 1;
                if let Some(vtype) = reaching.vtypes.get(&i) {
                    let under = self.vtypes.entry((class, name.clone())).or_default();
                    *under.entry(vtype.to_string()).or_default() += 1;
                }
                order.push(name);
            } else {
                scalars.push(inst.op.name());
            }
            text.push(normal(&inst, placed.at, placed.flow(&function.range)));
        }
        self.order.insert(name.clone(), order);
        self.scalars.insert(name.clone(), scalars);
        self.text.insert(name, text);
    }
}

/// `write vxrm 2` is a write of vxrm, whatever is written.
fn without_value(access: &str) -> String {
    match access.strip_suffix(" from a register") {
        Some(rest) => rest.to_string(),
        None => access.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end().to_string(),
    }
}

/// An instruction without addresses: where it leads is not known, and neither are the immediates that make
/// addresses.
fn normal(inst: &Inst, at: u64, flow: Flow) -> String {
    match (flow, inst.op) {
        (Flow::Next, Op::Auipc | Op::Lui) => format!("{} x{}", inst.op.name(), inst.rd),
        (Flow::Next, _) => inst.disasm(at, DisasmOptions::default()),
        _ => format!("{} x{},x{}", inst.op.name(), inst.rs1, inst.rs2),
    }
}

/// The differences between two builds' functions of a program, the weightiest first. Only the least ones are
/// left out if there are others.
pub fn differences(one: &[&Function], other: &[&Function]) -> Vec<Difference> {
    let (a, b) = (Summary::of(one), Summary::of(other));
    if a == b {
        return Vec::new();
    }
    let mut found = Vec::new();
    modes(&a, &b, &mut found);
    counts(Kind::Csr, &a.csrs, &b.csrs, &mut found);
    vtypes(&a, &b, &mut found);
    counts(Kind::Vset, &a.vsets, &b.vsets, &mut found);
    counts(Kind::Instruction, &a.instructions, &b.instructions, &mut found);
    if found.is_empty() {
        let values = |of: &BTreeMap<String, Vec<String>>| of.values().cloned().collect::<Vec<_>>();
        let scalars = |of: &BTreeMap<String, Vec<&'static str>>| of.values().cloned().collect::<Vec<_>>();
        found.push(if values(&a.order) != values(&b.order) {
            Difference::new(Kind::Order, "the same vector instructions in another order")
        } else if scalars(&a.scalars) != scalars(&b.scalars) {
            Difference::new(Kind::Scalar, "only scalar code differs")
        } else if values(&a.text) != values(&b.text) {
            Difference::new(Kind::Registers, "only registers, offsets and constants differ")
        } else {
            return Vec::new();
        });
    }
    found
}

/// The rounding modes that reach instructions with one of the builds only, or are left behind.
fn modes(a: &Summary, b: &Summary, found: &mut Vec<Difference>) {
    let keys: BTreeSet<_> = a.modes.keys().filter(|k| b.modes.contains_key(*k)).copied().collect();
    for (mode, used) in keys {
        let words = |of: &Summary, values| -> BTreeSet<String> {
            of.modes.get(&(mode, used)).into_iter().flatten().flat_map(|o| o.words(values)).collect()
        };
        let place = if used { "where it is used" } else { "where a function is left" };
        let (one, other) = (words(a, false), words(b, false));
        for (own, without, which) in [(&one, &other, "first"), (&other, &one, "second")] {
            // That a mode is set is what should be; what it is instead with the other is what tells.
            for word in own.difference(without).filter(|w| *w != SET || without.is_empty()) {
                let what = format!("{} {place}: {word} only with the {which}", mode.name());
                found.push(Difference::new(Kind::Mode, what));
            }
        }
        if one == other && words(a, true) != words(b, true) {
            found.push(Difference::new(Kind::Mode, format!("{} {place}: another mode", mode.name())));
        }
    }
}

/// What is counted and comes more often with one of the builds.
fn counts(kind: Kind, a: &BTreeMap<String, u32>, b: &BTreeMap<String, u32>, found: &mut Vec<Difference>) {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (one, other) = (a.get(key).copied().unwrap_or(0), b.get(key).copied().unwrap_or(0));
        let what = match (one, other) {
            (one, other) if one == other => continue,
            (_, 0) => format!("{key}: only the first"),
            (0, _) => format!("{key}: only the second"),
            (one, other) if one > other => format!("{key}: more with the first"),
            _ => format!("{key}: more with the second"),
        };
        found.push(Difference::new(kind, what));
    }
}

/// Instructions that are as many with both, under other vtypes.
fn vtypes(a: &Summary, b: &Summary, found: &mut Vec<Difference>) {
    let mut seen = BTreeSet::new();
    for (key, one) in &a.vtypes {
        let Some(other) = b.vtypes.get(key) else { continue };
        let count = |of: &BTreeMap<String, u32>| of.values().sum::<u32>();
        if one == other || count(one) != count(other) {
            continue;
        }
        seen.extend(aspects(one, other).into_iter().map(|aspect| format!("{aspect} of {:?}", key.0)));
    }
    found.extend(seen.into_iter().map(|what| Difference::new(Kind::Vtype, what)));
}

/// In which of its parts vtype differs.
fn aspects(one: &BTreeMap<String, u32>, other: &BTreeMap<String, u32>) -> Vec<&'static str> {
    let part = |of: &BTreeMap<String, u32>, n: usize| -> BTreeMap<String, u32> {
        let mut parts = BTreeMap::new();
        for (vtype, count) in of {
            let part = vtype.split(',').nth(n).unwrap_or_default();
            *parts.entry(part.to_string()).or_default() += count;
        }
        parts
    };
    let names = ["SEW", "LMUL", "tail policy", "mask policy"];
    (0..4).filter(|&n| part(one, n) != part(other, n)).map(|n| names[n]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::between::tests::function;
    use rvv_isa::{Lmul, Sew, Vtype};

    fn vset(rs1: u8, vta: bool) -> Inst {
        let imm = Vtype::new(Sew::E8, Lmul::M1, vta, true).to_bits() as i32;
        Inst { imm, rs1, ..Inst::new(Op::Vsetvli) }
    }

    fn add(rd: u8) -> Inst {
        Inst { rd, ..Inst::new(Op::VaddVv) }
    }

    fn between(one: &[Inst], other: &[Inst]) -> Vec<(Kind, String)> {
        let found = differences(&[&function(one)], &[&function(other)]);
        found.into_iter().map(|d| (d.kind, d.what)).collect()
    }

    fn only(kind: Kind, what: &str) -> Vec<(Kind, String)> {
        vec![(kind, what.to_string())]
    }

    #[test]
    fn a_mode_that_is_missing_is_the_weightiest() {
        let mode = Inst { rs1: 2, imm: csr::VXRM.into(), ..Inst::new(Op::Csrrwi) };
        let average = Inst::new(Op::VaaddVx);
        let found = between(&[average], &[mode, average]);
        assert_eq!(
            found,
            [
                (Kind::Mode, "vxrm where it is used: the caller's only with the first".to_string()),
                (Kind::Csr, "write vxrm: only the second".to_string())
            ]
        );
        let other = Inst { rs1: 1, ..mode };
        assert_eq!(
            between(&[mode, average], &[other, average]),
            only(Kind::Mode, "vxrm where it is used: another mode")
        );
    }

    #[test]
    fn differences_are_named_by_their_kind() {
        let whole = [vset(10, true), add(8)];
        assert!(between(&whole, &whole).is_empty());
        assert_eq!(
            between(&whole, &[vset(10, false), add(8)]),
            only(Kind::Vtype, "tail policy of VectorInteger")
        );
        assert_eq!(
            between(&whole, &[vset(10, true), vset(0, true), add(8)]),
            only(Kind::Vset, "vsetvli x0,x0: only the second")
        );
        let more = between(&whole, &[vset(10, true), add(8), add(9)]);
        assert_eq!(more, only(Kind::Instruction, "vadd.vv: more with the second"));
        let masked = Inst { vm: false, ..add(8) };
        assert_eq!(between(&whole, &[vset(10, true), masked]).len(), 2);
        let sub = Inst::new(Op::VsubVv);
        let order = between(&[vset(10, true), add(8), sub], &[vset(10, true), sub, add(8)]);
        assert_eq!(order[0].0, Kind::Order);
        let scalar = between(&whole, &[vset(10, true), Inst::new(Op::Addi), add(8)]);
        assert_eq!(scalar[0].0, Kind::Scalar);
        assert_eq!(between(&whole, &[vset(10, true), add(9)])[0].0, Kind::Registers);
    }

    #[test]
    fn the_kinds_are_in_the_order_of_their_weight() {
        assert!(Kind::ALL.windows(2).all(|w| w[0] < w[1]));
    }
}
