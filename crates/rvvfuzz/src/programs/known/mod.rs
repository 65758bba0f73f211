//! Faults of compilers that are known: how a verdict is recognised as one, and what triggers it.
//!
//! The list is `bugs/known.toml`. A verdict that a recogniser claims is counted under the fault's name and
//! not reduced again; the trigger is left out of most programs for the compilers that have the fault.

pub mod feature;
mod plain;

use self::feature::{Feature, Probe};
use super::judge::outcome::Kind;
use super::judge::vote::{Culprit, Verdict};
use super::reduce::target::{instruction_in, rule_in, site_of};
use super::reduce::triage::maker;
use super::testbed::compiler::{Compiler, Family};
use super::testbed::{Build, Testbeds};
use crate::streams::known::glob;
use rvv_ir::Program;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A known fault. A verdict is recognised if all that is said about it holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name; `bugs/NAME.md` describes it, if there is such a file.
    pub name: String,
    /// What is wrong, in a line.
    pub what: String,
    /// The compilers that have it.
    pub compilers: Vec<Versions>,
    /// The levels at which it shows: `-O2`.
    pub levels: Vec<String>,
    /// What is seen, any of these: [`Kind::name`].
    pub symptoms: Vec<String>,
    /// Patterns of the place of a crash, or of the rule that is broken: one of them fits. `*` stands for
    /// anything.
    #[serde(default)]
    pub site: Vec<String>,
    /// Words that the compiler says, all of them.
    #[serde(default)]
    pub says: Vec<String>,
    /// Patterns of the instruction that traps, with its operands: one of them fits.
    #[serde(default)]
    pub instruction: Vec<String>,
    /// The operation that makes the wrong value, any of these: [`rvv_intrinsics::Sem::name`].
    #[serde(default)]
    pub maker: Vec<String>,
    /// The program has this.
    #[serde(default)]
    pub has: Option<Feature>,
    /// The fault is gone if the program is changed so, and nothing else in it.
    #[serde(default)]
    pub gone: Option<Probe>,
    /// What triggers it: left out of most programs.
    #[serde(default)]
    pub trigger: Option<Feature>,
    /// Where it was reported.
    #[serde(default)]
    pub report: Option<String>,
}

/// Versions of a compiler, both ends included: `14` stands for every 14.x.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// `gcc` or `clang`.
    pub family: String,
    /// The first.
    pub from: String,
    /// The last.
    pub to: String,
}

impl Versions {
    /// Whether a compiler is one of them.
    pub fn has(&self, compiler: &Compiler) -> bool {
        let family = match compiler.family {
            Family::Gcc => "gcc",
            Family::Clang | Family::Zig => "clang",
            Family::Custom | Family::Direct => return false,
        };
        let is = compiler.version_numbers();
        let bound = |text: &str| -> Vec<u32> { text.split('.').map(|n| n.parse().unwrap_or(0)).collect() };
        let (from, to) = (bound(&self.from), bound(&self.to));
        let cut = |to: &[u32]| is[..is.len().min(to.len())].to_vec();
        family == self.family && cut(&from) >= from && cut(&to) <= to
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    fault: Vec<Fault>,
}

/// The text of the list.
pub const LIST: &str = include_str!("../../../../../bugs/known.toml");

static FAULTS: LazyLock<Vec<Fault>> = LazyLock::new(|| match toml::from_str::<File>(LIST) {
    Ok(file) => file.fault,
    // The list is part of the program; a test reads it.
    Err(error) => panic!("bugs/known.toml: {error}"),
});

/// The list.
pub fn faults() -> &'static [Fault] {
    &FAULTS
}

/// What is known to crash a build's compiler at its level.
pub fn crashes_of(build: &Build) -> Vec<&'static Feature> {
    let level = level(&build.flags);
    let crash = |f: &&Fault| {
        f.is_of(&build.compiler)
            && f.levels.contains(&level)
            && f.symptoms.iter().any(|s| s == Kind::BuildCrash.name())
    };
    faults().iter().filter(crash).filter_map(|f| f.trigger.as_ref()).collect()
}

/// The fault of this name.
pub fn by_name(name: &str) -> Option<&'static Fault> {
    faults().iter().find(|f| f.name == name)
}

/// What the faults of these names are, in brackets: ` (crash on …)`; nothing if none of them is on the list.
pub fn describe(names: &str) -> String {
    let what: Vec<&str> = names.split(" + ").filter_map(by_name).map(|f| f.what.as_str()).collect();
    if what.is_empty() { String::new() } else { format!(" ({})", what.join("; ")) }
}

/// What is known of a verdict on a compiler.
pub struct Observation<'a> {
    /// The compiler.
    pub compiler: &'a Compiler,
    /// The levels at which it shows.
    pub levels: BTreeSet<String>,
    /// The verdict.
    pub verdict: &'a Verdict,
    /// Its program.
    pub program: &'a Program,
}

/// The level among a build's flags.
pub fn level(flags: &[String]) -> String {
    flags.iter().find(|f| f.starts_with("-O")).cloned().unwrap_or_else(|| "-O0".to_string())
}

impl<'a> Observation<'a> {
    /// Of a verdict on a compiler; `None` if something else is the culprit.
    pub fn new(
        testbeds: &'a Testbeds,
        verdict: &'a Verdict,
        program: &'a Program,
    ) -> Option<Observation<'a>> {
        let first = *verdict.testbeds.first()?;
        if !matches!(verdict.culprit, Culprit::Compiler(_)) {
            return None;
        }
        let levels = verdict.testbeds.iter().map(|&t| level(&testbeds.build_of(t).flags)).collect();
        Some(Observation { compiler: &testbeds.build_of(first).compiler, levels, verdict, program })
    }

    /// The known fault that it is, by name; several, with ` + ` between them, if it shows at levels of more
    /// than one. `passes` says whether a program, changed as a fault says, passes where this one does not.
    pub fn fault(&self, passes: &mut dyn FnMut(&Fault, &Program) -> bool) -> Option<String> {
        let mut found: Vec<&Fault> = Vec::new();
        let covered =
            |found: &[&Fault]| self.levels.iter().all(|level| found.iter().any(|f| f.levels.contains(level)));
        // What needs no other build first.
        let suspects = faults().iter().filter(|f| f.fits(self));
        let (asked, at_once): (Vec<&Fault>, Vec<&Fault>) = suspects.partition(|f| f.gone.is_some());
        for fault in at_once.into_iter().chain(asked) {
            if covered(&found) && !found.is_empty() {
                break;
            }
            let holds = match fault.gone.as_ref().map(|probe| (probe, probe.change(self.program))) {
                None => true,
                Some((_, Some(changed))) => passes(fault, &changed),
                Some((probe, None)) => probe.takes_all(self.program),
            };
            if holds {
                found.push(fault);
            }
        }
        let names: Vec<&str> = found.iter().map(|f| f.name.as_str()).collect();
        (!names.is_empty() && covered(&found)).then(|| names.join(" + "))
    }
}

impl Fault {
    /// Whether it is a fault of this compiler.
    pub fn is_of(&self, compiler: &Compiler) -> bool {
        self.compilers.iter().any(|v| v.has(compiler))
    }

    /// Whether all holds that can be seen without another build.
    fn fits(&self, seen: &Observation<'_>) -> bool {
        let Observation { compiler, levels, verdict, program } = seen;
        let any = |patterns: &[String], text: Option<&str>| {
            patterns.is_empty() || text.is_some_and(|t| patterns.iter().any(|p| glob(p, t)))
        };
        let trap = Some(&*verdict.detail).filter(|_| verdict.symptom == Kind::RuntimeCrash);
        let rule = trap.and_then(rule_in).map(str::to_string);
        let site = rule.or_else(|| site_of(verdict));
        let maker = || verdict.buffer.and_then(|b| maker(program, b));
        self.is_of(compiler)
            && levels.iter().any(|l| self.levels.contains(l))
            && self.symptoms.iter().any(|s| s == verdict.symptom.name())
            && any(&self.site, site.as_deref())
            && any(&self.instruction, trap.and_then(instruction_in))
            && self.says.iter().all(|words| verdict.detail.contains(words))
            && (self.maker.is_empty() || any(&self.maker, maker()))
            && self.has.as_ref().is_none_or(|feature| !feature.places(program).is_empty())
    }
}

#[cfg(test)]
mod tests;
