//! Who is wrong.
//!
//! The oracle says what each program must print, so a testbed is right or wrong by itself; the vote finds
//! out whose fault it is, and keeps the oracle honest.

use super::outcome::{Kind, Outcome};
use crate::programs::known::level;
use crate::programs::testbed::compiler::{Family, nonsense};
use crate::programs::testbed::{TestbedId, Testbeds};
use std::collections::BTreeMap;

/// Who is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Culprit {
    /// A compiler, by name and version.
    Compiler(String),
    /// An emulator, by name.
    Emulator(String),
    /// Everybody agrees against the oracle.
    Oracle,
    /// Every compiler refuses the program: the generator or the emitted C.
    Generator,
}

impl std::fmt::Display for Culprit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Culprit::Compiler(name) | Culprit::Emulator(name) => f.write_str(name),
            Culprit::Oracle => f.write_str("the oracle (every testbed agrees against it)"),
            Culprit::Generator => f.write_str("the generator (every compiler refuses the program)"),
        }
    }
}

/// A fault, and on which testbeds it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whose.
    pub culprit: Culprit,
    /// Of what kind.
    pub symptom: Kind,
    /// The testbeds on which it shows.
    pub testbeds: Vec<usize>,
    /// The axes on which it comes and goes: "level", "VLEN", "agnostic elements", "vl choice", "emulator".
    pub axes: Vec<&'static str>,
    /// Of wrong output, the buffer, by its number in the program.
    pub buffer: Option<usize>,
    /// What the first of them said.
    pub detail: String,
    /// What can be said of the cause before it is reduced: see
    /// [`early`](crate::programs::reduce::triage::early).
    pub early: Option<String>,
    /// The known fault that it is, by name.
    pub fault: Option<String>,
}

impl Verdict {
    /// A fault that shows on no testbed.
    pub fn new(culprit: Culprit, symptom: Kind, detail: String) -> Verdict {
        let (testbeds, axes) = (Vec::new(), Vec::new());
        Verdict { culprit, symptom, testbeds, axes, buffer: None, detail, early: None, fault: None }
    }

    /// Whether both say the same, if they are of one program in two orders of its statements.
    pub fn is_same(&self, other: &Verdict) -> bool {
        let place = |v: &Verdict| crate::programs::reduce::target::site_of(v);
        self.culprit == other.culprit
            && self.symptom == other.symptom
            && self.buffer == other.buffer
            && place(self) == place(other)
    }
}

/// Judges the outcomes of one program on all testbeds; `None` where a testbed was not available.
pub fn vote(testbeds: &Testbeds, outcomes: &[Option<Outcome>]) -> Vec<Verdict> {
    // Wrong output in one buffer is one fault, in another perhaps another.
    let mut found: BTreeMap<(Culprit, Kind, Option<usize>), Vec<usize>> = BTreeMap::new();
    let at = |b: usize, r: usize| {
        outcomes.get(testbeds.number(TestbedId { build: b, run: r })).and_then(Option::as_ref)
    };
    let passes = |b: usize, r: usize| at(b, r) == Some(&Outcome::Pass);
    let compiler = |b: usize| {
        let c = &testbeds.builds[b].compiler;
        Culprit::Compiler(format!("{} ({})", c.name, c.version))
    };
    for b in 0..testbeds.builds.len() {
        // A build is the same for all runs: the first says it.
        let first = (0..testbeds.runs.len()).find_map(|r| at(b, r));
        let wrote_nonsense = matches!(first, Some(Outcome::BuildFailure(said)) if nonsense(said).is_some());
        if let Some(kind) = first.map(Outcome::kind).filter(|k| k.is_build()) {
            let all = testbeds.of_build(b);
            match kind {
                Kind::Unsupported => {}
                Kind::BuildCrash => found.entry((compiler(b), kind, None)).or_default().extend(all),
                _ if wrote_nonsense || most_build(testbeds, &at) => {
                    found.entry((compiler(b), kind, None)).or_default().extend(all)
                }
                _ if kind == Kind::BuildFailure && nobody_builds(testbeds, &at) => {
                    found.entry((Culprit::Generator, kind, None)).or_default().extend(all);
                }
                _ => {}
            }
            continue;
        }
        for r in 0..testbeds.runs.len() {
            let Some(outcome) = at(b, r).filter(|o| **o != Outcome::Pass) else { continue };
            let setup = testbeds.runs[r].setup;
            let same_setup: Vec<usize> = (0..testbeds.runs.len())
                .filter(|&other| testbeds.runs[other].setup == setup && at(b, other).is_some())
                .collect();
            let another_emulator_passes = same_setup.iter().any(|&other| passes(b, other));
            let another_build_passes = (0..testbeds.builds.len())
                .any(|other| other != b && same_setup.iter().any(|&r| passes(other, r)));
            let culprit = if breaks_a_rule(outcome) {
                // The emulator names the rule of the manual that the code breaks: the other ones are lenient.
                compiler(b)
            } else if another_emulator_passes {
                Culprit::Emulator(testbeds.runs[r].emulator.name())
            } else if another_build_passes {
                compiler(b)
            } else {
                Culprit::Oracle
            };
            let buffer = match outcome {
                Outcome::WrongOutput(mismatch) => Some(mismatch.buffer),
                _ => None,
            };
            found
                .entry((culprit, outcome.kind(), buffer))
                .or_default()
                .push(testbeds.number(TestbedId { build: b, run: r }));
        }
    }
    let verdict = |((culprit, symptom, buffer), failing): ((Culprit, Kind, Option<usize>), Vec<usize>)| {
        let axes = axes(testbeds, outcomes, &culprit, &failing);
        let first = failing.first().and_then(|&t| outcomes[t].as_ref());
        let detail = first.map_or(String::new(), Outcome::detail);
        Verdict { testbeds: failing, axes, buffer, ..Verdict::new(culprit, symptom, detail) }
    };
    found.into_iter().map(verdict).collect()
}

/// A trap that cites a rule of the manual: the code is wrong, whoever runs it.
fn breaks_a_rule(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::RuntimeCrash(what) if what.contains("norm:"))
}

/// ⌈2n/3⌉ of the compilers' builds succeed.
fn most_build<'o>(testbeds: &Testbeds, at: &impl Fn(usize, usize) -> Option<&'o Outcome>) -> bool {
    let (mut n, mut good) = (0usize, 0usize);
    for b in 0..testbeds.builds.len() {
        if testbeds.builds[b].compiler.family == Family::Direct {
            continue;
        }
        if let Some(outcome) =
            (0..testbeds.runs.len()).find_map(|r| at(b, r)).filter(|o| o.kind() != Kind::Unsupported)
        {
            n += 1;
            good += usize::from(!outcome.kind().is_build());
        }
    }
    n > 0 && good >= (2 * n).div_ceil(3)
}

/// No compiler that supports the program builds it, and there are two at least: one alone may be wrong.
fn nobody_builds<'o>(testbeds: &Testbeds, at: &impl Fn(usize, usize) -> Option<&'o Outcome>) -> bool {
    let mut names = std::collections::BTreeSet::new();
    for b in 0..testbeds.builds.len() {
        let compiler = &testbeds.builds[b].compiler;
        let outcome = (0..testbeds.runs.len()).find_map(|r| at(b, r));
        match outcome.map(Outcome::kind) {
            _ if compiler.family == Family::Direct => {}
            None | Some(Kind::Unsupported) => {}
            Some(kind) if kind.is_build() => {
                names.insert(&compiler.name);
            }
            Some(_) => return false,
        }
    }
    names.len() >= 2
}

/// The axes on which a fault comes and goes: a testbed that differs in that alone passes.
fn axes(
    testbeds: &Testbeds,
    outcomes: &[Option<Outcome>],
    culprit: &Culprit,
    failing: &[usize],
) -> Vec<&'static str> {
    let mut axes = Vec::new();
    let passing: Vec<usize> = (0..outcomes.len()).filter(|&t| outcomes[t] == Some(Outcome::Pass)).collect();
    let mut add = |name: &'static str, differs: &dyn Fn(usize, usize) -> bool| {
        if failing.iter().any(|&f| passing.iter().any(|&p| differs(f, p))) {
            axes.push(name);
        }
    };
    let (build, run) = (|t: usize| testbeds.build_of(t), |t: usize| testbeds.run_of(t));
    let same_run = |f: usize, p: usize| testbeds.id(f).run == testbeds.id(p).run;
    let same_build = |f: usize, p: usize| testbeds.id(f).build == testbeds.id(p).build;
    if matches!(culprit, Culprit::Compiler(_)) {
        let other = |f: usize, p: usize| {
            same_run(f, p) && build(f).compiler == build(p).compiler && build(f).flags != build(p).flags
        };
        add("level", &|f, p| other(f, p) && build(f).extra().eq(build(p).extra()));
        add("flags", &|f, p| other(f, p) && level(&build(f).flags) == level(&build(p).flags));
    }
    add("compiler", &|f, p| same_run(f, p) && build(f).compiler != build(p).compiler);
    add("emulator", &|f, p| {
        same_build(f, p) && run(f).setup == run(p).setup && run(f).emulator != run(p).emulator
    });
    let (fs, ps) = (|t: usize| run(t).setup, |t: usize| run(t).setup);
    let same_emulator = |f: usize, p: usize| same_build(f, p) && run(f).emulator == run(p).emulator;
    add("VLEN", &|f, p| {
        same_emulator(f, p)
            && fs(f).vlen != ps(p).vlen
            && fs(f).agnostic == ps(p).agnostic
            && fs(f).vl == ps(p).vl
    });
    add("agnostic elements", &|f, p| {
        same_emulator(f, p)
            && fs(f).vlen == ps(p).vlen
            && fs(f).agnostic != ps(p).agnostic
            && fs(f).vl == ps(p).vl
    });
    add("vl choice", &|f, p| {
        same_emulator(f, p)
            && fs(f).vlen == ps(p).vlen
            && fs(f).agnostic == ps(p).agnostic
            && fs(f).vl != ps(p).vl
    });
    axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::testbed::compiler::Compiler;
    use crate::programs::testbed::emulator::{Agnosticism, Emulator, Setup};
    use rvv_ir::Mismatch;
    use rvv_oracle::VlChoice;

    fn compiler(name: &str, family: Family) -> Compiler {
        Compiler {
            name: name.into(),
            version: "1.0".into(),
            family,
            command: vec![name.into()],
            linker: None,
            lacks: Default::default(),
        }
    }

    /// The direct lowering, a gcc and a clang at two levels, on two emulators.
    fn testbeds() -> Testbeds {
        let compilers = [Compiler::direct(), compiler("gcc", Family::Gcc), compiler("clang", Family::Clang)];
        let emulators = [Emulator::Rvvsim, Emulator::Command("other".into(), Vec::new())];
        let setup = Setup { vlen: 128, agnostic: Agnosticism::Undisturbed, vl: VlChoice::Max };
        Testbeds::cross(&compilers, &[vec!["-O0".into()], vec!["-O2".into()]], &[], &emulators, &[setup])
    }

    #[test]
    fn a_verdict_has_the_wrong_buffer() {
        let testbeds = testbeds();
        let mut outcomes = vec![Some(Outcome::Pass); testbeds.len()];
        outcomes[3] = Some(Outcome::WrongOutput(Mismatch { buffer: 2, element: 1 }));
        outcomes[4] = Some(Outcome::BuildCrash("in f".to_string()));
        let found = vote(&testbeds, &outcomes);
        let buffers: Vec<_> = found.iter().map(|v| (v.symptom, v.buffer)).collect();
        assert_eq!(buffers, [(Kind::BuildCrash, None), (Kind::WrongOutput, Some(2))]);
    }

    /// Outcomes by build: direct, gcc -O0, gcc -O2, clang -O0, clang -O2; each on both emulators.
    fn judge(outcomes: [[Outcome; 2]; 5]) -> Vec<(String, Kind, Vec<&'static str>)> {
        let testbeds = testbeds();
        let flat: Vec<Option<Outcome>> = outcomes.into_iter().flatten().map(Some).collect();
        vote(&testbeds, &flat).into_iter().map(|v| (v.culprit.to_string(), v.symptom, v.axes)).collect()
    }

    fn pass() -> [Outcome; 2] {
        [Outcome::Pass, Outcome::Pass]
    }

    fn wrong() -> [Outcome; 2] {
        let wrong = Outcome::WrongOutput(Mismatch { buffer: 0, element: 0 });
        [wrong.clone(), wrong]
    }

    #[test]
    fn nothing_wrong_no_verdict() {
        assert!(judge([pass(), pass(), pass(), pass(), pass()]).is_empty());
    }

    #[test]
    fn one_compiler_alone_is_wrong_at_one_level() {
        let found = judge([pass(), pass(), wrong(), pass(), pass()]);
        assert_eq!(found, [("gcc (1.0)".to_string(), Kind::WrongOutput, vec!["level", "compiler"])]);
    }

    #[test]
    fn another_buffer_is_another_fault() {
        let in_buffer = |buffer| {
            let wrong = Outcome::WrongOutput(Mismatch { buffer, element: 0 });
            [wrong.clone(), wrong]
        };
        let found = judge([pass(), in_buffer(3), in_buffer(5), pass(), pass()]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(judge([pass(), in_buffer(3), in_buffer(3), pass(), pass()]).len(), 1);
    }

    #[test]
    fn the_same_elf_on_two_emulators_convicts_an_emulator() {
        let [wrong, _] = wrong();
        let bad = || [Outcome::Pass, wrong.clone()];
        let found = judge([bad(), bad(), bad(), bad(), bad()]);
        assert_eq!(found, [("other".to_string(), Kind::WrongOutput, vec!["emulator"])]);
    }

    #[test]
    fn a_broken_rule_convicts_the_compiler_though_another_emulator_runs_it() {
        let trap = Outcome::RuntimeCrash("signal 4: norm:vreg_source_eew_rsv: two EEWs".to_string());
        let found = judge([pass(), pass(), pass(), pass(), [trap, Outcome::Pass]]);
        assert_eq!(found[0].0, "clang (1.0)");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn all_against_the_oracle_make_it_suspect() {
        let found = judge([wrong(), wrong(), wrong(), wrong(), wrong()]);
        assert_eq!(found, [(Culprit::Oracle.to_string(), Kind::WrongOutput, vec![])]);
    }

    #[test]
    fn refusing_a_program_needs_a_majority_to_be_a_bug_and_crashing_does_not() {
        let both = |o: Outcome| [o.clone(), o];
        let refused = || both(Outcome::BuildFailure("error".to_string()));
        let crashed = || both(Outcome::BuildCrash("internal compiler error".to_string()));
        let unknown = || both(Outcome::Unsupported("__riscv_vx".to_string()));
        assert_eq!(judge([pass(), refused(), pass(), pass(), pass()])[0].0, "gcc (1.0)");
        assert!(
            judge([pass(), refused(), refused(), pass(), pass()]).is_empty(),
            "two of four is no majority"
        );
        assert_eq!(judge([pass(), crashed(), crashed(), refused(), refused()])[0].1, Kind::BuildCrash);
        // No program can make a compiler write what is no assembly.
        let said = "p.s:1: Error: unrecognized opcode `vluxei<quad_ext_sew>.v v8,(a0),v8'";
        let nonsense = || both(Outcome::BuildFailure(said.to_string()));
        let found = judge([pass(), nonsense(), nonsense(), pass(), pass()]);
        assert_eq!((&found[0].0[..], found[0].1, found.len()), ("gcc (1.0)", Kind::BuildFailure, 1));
        assert!(judge([pass(), unknown(), unknown(), pass(), pass()]).is_empty());
        let nobody = judge([pass(), refused(), refused(), refused(), refused()]);
        assert_eq!(nobody[0].0, Culprit::Generator.to_string());
    }
}
