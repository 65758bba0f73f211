//! Many programs at once: one translation unit, one link, one run. What goes wrong is split until the
//! guilty program stands alone.

use super::blame::{accused, accused_in_assembly, is_assemblers, lacking};
use super::compiler::{Built, Family, Limits};
use super::emulator::{Ending, Observed, Setup};
use super::outcome::Outcome;
use super::testbed::{Build, Run, Testbeds};
use rvv_ir::c::{COptions, emit};
use rvv_ir::{Expected, Program};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate};
use std::collections::BTreeMap;

/// A program and what it must print wherever it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number in the campaign.
    pub number: u64,
    /// The program.
    pub program: Program,
    expected: Vec<((u32, VlChoice), Expected)>,
}

impl Case {
    /// Evaluates a program for these VLENs and choices of vl.
    ///
    /// # Errors
    /// Where it has no meaning.
    pub fn new(number: u64, program: Program, places: &[(u32, VlChoice)]) -> Result<Case, EvalError> {
        let mut expected = Vec::new();
        for &(vlen, vl) in places {
            expected.push(((vlen, vl), evaluate(&program, &Options { vl, ..Options::new(vlen) })?));
        }
        Ok(Case { number, program, expected })
    }

    /// A program whose expectations are known, each with its VLEN and choice of vl.
    pub fn known(number: u64, program: Program, expected: Vec<((u32, VlChoice), Expected)>) -> Case {
        Case { number, program, expected }
    }

    /// What it must print there.
    pub fn expected(&self, setup: &Setup) -> Option<&Expected> {
        self.expected.iter().find(|(place, _)| *place == (setup.vlen, setup.vl)).map(|(_, e)| e)
    }

    /// It works on element groups, so its vl must be a multiple of their size. An implementation that has such
    /// instructions rounds a halved vl up (`norm:egs_vl_avl`); the oracle, and QEMU, do not.
    pub fn has_groups(&self) -> bool {
        let groups = |c: &&rvv_ir::Call| matches!(rvvgen::class(c.intrinsic).kind, rvvgen::Kind::Groups(_));
        self.program.calls().iter().any(groups)
    }

    /// How many bytes it prints, the same everywhere.
    fn output_len(&self) -> usize {
        self.program.outputs().map(|(_, b)| b.bytes()).sum()
    }
}

/// What a campaign cannot go on with: the compiler or emulator is not there any more, the disk is full.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{testbed}: {why}")]
pub struct Broken {
    /// Which testbed.
    pub testbed: String,
    /// What it said.
    pub why: String,
}

/// Some of the cases, and the ELF that runs them or why there is none.
pub struct Part {
    /// Which, in the order in which the ELF runs them.
    pub cases: Vec<usize>,
    /// The ELF, or the outcome they all share.
    pub elf: Result<Vec<u8>, Outcome>,
}

/// Builds the cases in as few parts as possible.
///
/// # Errors
/// When the compiler does not work at all.
pub fn build(build: &Build, cases: &[Case], limits: &Limits) -> Result<Vec<Part>, Broken> {
    let mut parts = Vec::new();
    let mut waiting = vec![(0..cases.len()).collect::<Vec<usize>>()];
    while let Some(these) = waiting.pop() {
        if these.is_empty() {
            continue;
        }
        let programs: Vec<&Program> = these.iter().map(|&i| &cases[i].program).collect();
        let (built, said, text) = build_these(build, &programs, limits);
        let outcome = match built {
            Built::Elf(elf) => {
                parts.push(Part { cases: these, elf: Ok(elf) });
                continue;
            }
            Built::Broken(why) => return Err(Broken { testbed: build.name(), why }),
            Built::Failed(said) => Outcome::BuildFailure(said),
            Built::Crashed(said) => Outcome::BuildCrash(said),
            Built::Unsupported(what) => Outcome::Unsupported(what),
            Built::TimedOut => Outcome::BuildTimeout,
        };
        if these.len() == 1 {
            parts.push(Part { cases: these, elf: Err(outcome) });
            continue;
        }
        let mut rest = these.clone();
        if let Outcome::Unsupported(_) = outcome {
            // It says which programs use what it does not have: they need not be tried alone.
            for (n, what) in lacking(&said, &text) {
                rest.retain(|&i| i != these[n]);
                parts.push(Part { cases: vec![these[n]], elf: Err(Outcome::Unsupported(what)) });
            }
            if rest.len() == these.len() {
                // Else it does not have an extension: programs that need the same go together.
                let groups = by_march(build, &these, cases);
                if groups.len() == 1 {
                    parts.push(Part { cases: these, elf: Err(outcome) });
                } else {
                    waiting.extend(groups);
                }
                continue;
            }
            waiting.push(rest);
            continue;
        }
        // The message may name the guilty ones; they are tried alone, the rest without them.
        let mut accused = accused(&said, &text, these.len());
        if accused.is_empty() && is_assemblers(&said) {
            // The assembler sees no programs; the assembly, made once more, shows them.
            let flags = [&build.flags[..], &["-S".to_string()]].concat();
            let march = build.compiler.march(&programs);
            if let Built::Elf(assembly) = build.compiler.build_text(&text, &march, &flags, limits) {
                let assembly = String::from_utf8_lossy(&assembly);
                accused = accused_in_assembly(&said, &assembly, these.len());
            }
        }
        if !accused.is_empty() && accused.len() < these.len() {
            waiting.extend(accused.iter().map(|&n| vec![these[n]]));
            if let [n] = accused[..]
                && matches!(outcome, Outcome::BuildCrash(_))
            {
                // It stopped there: those before are good, those after not yet known.
                waiting.push(these[n + 1..].to_vec());
                waiting.push(these[..n].to_vec());
                continue;
            }
            rest.retain(|i| !accused.iter().any(|&n| these[n] == *i));
            waiting.push(rest);
        } else {
            let (left, right) = these.split_at(these.len() / 2);
            waiting.push(left.to_vec());
            waiting.push(right.to_vec());
        }
    }
    Ok(parts)
}

/// Builds; what the compiler said, and of what text.
fn build_these(build: &Build, programs: &[&Program], limits: &Limits) -> (Built, String, String) {
    let compiler = &build.compiler;
    if compiler.family == Family::Direct {
        return (compiler.build(programs, &build.flags, limits), String::new(), String::new());
    }
    let text = emit(programs, &COptions::default());
    let (built, said) = compiler.build_saying(&text, &compiler.march(programs), &build.flags, limits);
    (built, said, text)
}

/// Cases by the instruction set that they need.
fn by_march(build: &Build, these: &[usize], cases: &[Case]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &i in these {
        groups.entry(build.compiler.march(&[&cases[i].program])).or_default().push(i);
    }
    groups.into_values().collect()
}

/// Runs a part and judges each of its programs.
///
/// # Errors
/// When the emulator does not work at all.
pub fn run(run: &Run, part: &[usize], elf: &[u8], cases: &[Case]) -> Result<Vec<Outcome>, Broken> {
    let observed = run.emulator.run(elf, &run.setup, None);
    if let Ending::Broken(why) = observed.ending {
        return Err(Broken { testbed: run.name(), why });
    }
    let mut rest = &observed.stdout[..];
    let whole: usize = part.iter().map(|&i| cases[i].output_len()).sum();
    let complete = observed.ending == Ending::Clean && rest.len() == whole;
    let mut outcomes = Vec::new();
    for (n, &i) in part.iter().enumerate() {
        let case = &cases[i];
        let Some(expected) = case.expected(&run.setup) else {
            return Err(Broken {
                testbed: run.name(),
                why: "no expectation was computed for it".to_string(),
            });
        };
        let (printed, after) = rest.split_at(case.output_len().min(rest.len()));
        rest = after;
        let outcome = Outcome::judge(&case.program, expected, printed);
        if outcome == Outcome::Pass && (complete || printed.len() == case.output_len()) && !printed.is_empty()
        {
            outcomes.push(Outcome::Pass);
            continue;
        }
        // Alone, so that it is its own fault and nobody else's.
        let only = (part.len() > 1).then_some(n);
        let alone = if only.is_some() { run.emulator.run(elf, &run.setup, only) } else { observed.clone() };
        outcomes
            .push(judge_alone(case, expected, &alone).map_err(|why| Broken { testbed: run.name(), why })?);
    }
    Ok(outcomes)
}

fn judge_alone(case: &Case, expected: &Expected, observed: &Observed) -> Result<Outcome, String> {
    Ok(match &observed.ending {
        Ending::Broken(why) => return Err(why.clone()),
        Ending::TimedOut => Outcome::RuntimeTimeout,
        Ending::Crashed(what) => Outcome::RuntimeCrash(what.clone()),
        Ending::Clean => Outcome::judge(&case.program, expected, &observed.stdout),
    })
}

/// Every outcome of every case: `[case][testbed]`.
///
/// A testbed that does not work at all is reported once and left out: its outcomes are `None`. So are those of a halved vl
/// if a program works on element groups: such programs want a batch of their own.
pub fn run_all(
    testbeds: &Testbeds,
    cases: &[Case],
    limits: &Limits,
) -> (Vec<Vec<Option<Outcome>>>, Vec<Broken>) {
    let mut table = vec![vec![None; testbeds.len()]; cases.len()];
    let mut broken = Vec::new();
    for (b, built) in testbeds.builds.iter().enumerate() {
        let parts = match build(built, cases, limits) {
            Ok(parts) => parts,
            Err(error) => {
                broken.push(error);
                continue;
            }
        };
        for (r, on) in testbeds.runs.iter().enumerate() {
            if on.setup.vl == VlChoice::Half && cases.iter().any(Case::has_groups) {
                continue;
            }
            let number = testbeds.number(b, r);
            for part in &parts {
                let outcomes = match &part.elf {
                    Err(outcome) => vec![outcome.clone(); part.cases.len()],
                    Ok(elf) => match run(on, &part.cases, elf, cases) {
                        Ok(outcomes) => outcomes,
                        Err(error) => {
                            broken.push(error);
                            continue;
                        }
                    },
                };
                for (&i, outcome) in part.cases.iter().zip(outcomes) {
                    table[i][number] = Some(outcome);
                }
            }
        }
    }
    (table, broken)
}
