//! Many programs at once: one translation unit, one link, one run. What goes wrong is split until the
//! guilty program is alone.

use super::case::Case;
use super::inputs::run_inputs;
use super::outcome::Outcome;
use crate::programs::known::crashes_of;
use crate::programs::testbed::blame::{
    accused, accused_in_assembly, is_assemblers, lacking, lacking_in, places, said_of, without_accused,
};
use crate::programs::testbed::compiler::{Built, Family, Limits};
use crate::programs::testbed::emulator::{Ending, Observed};
use crate::programs::testbed::poke::poke;
use crate::programs::testbed::{Build, Component, Run, TestbedId, Testbeds};
use rvv_ir::c::{COptions, Language, emit, pokes};
use rvv_ir::{Expected, Program};
use rvv_oracle::VlChoice;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

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
    /// Those among them that do nothing: they have no outcome here.
    pub stubs: Vec<usize>,
    /// The ELF, or the outcome they all share.
    pub elf: Result<Vec<u8>, Outcome>,
}

/// After a crash of the compiler, so many programs at a time: the next crash then costs less.
const AFTER_CRASH: usize = 24;

/// Builds the cases in as few parts as possible; some are in none if the time is up before.
///
/// # Errors
/// When the compiler does not work at all.
pub fn build(build: &Build, cases: &[Case], limits: &Limits) -> Result<Vec<Part>, Broken> {
    build_knowing(build, cases, &mut Before::default(), limits)
}

/// What a compiler made of the cases at another level: what it does not have, it has at no level, and what it
/// failed on there, it is likely to fail on here.
#[derive(Default)]
struct Before {
    unsupported: BTreeMap<usize, Outcome>,
    failed: BTreeSet<usize>,
}

impl Before {
    fn learn(&mut self, parts: &[Part]) {
        for part in parts {
            match &part.elf {
                Err(outcome @ Outcome::Unsupported(_)) => {
                    self.unsupported.extend(part.cases.iter().map(|&i| (i, outcome.clone())));
                }
                // What the assembler refuses costs the others in a unit little.
                Err(Outcome::BuildFailure(said)) if is_assemblers(said) => {}
                Err(_) => self.failed.extend(&part.cases),
                Ok(_) => {}
            }
        }
    }
}

/// As [`build`], after the same cases were built at another level.
fn build_knowing(
    build: &Build,
    cases: &[Case],
    before: &mut Before,
    limits: &Limits,
) -> Result<Vec<Part>, Broken> {
    let mut parts = Vec::new();
    // A crash takes all of a unit with it: what is likely to crash is built alone.
    let faults = crashes_of(build);
    let crashes = |i: &usize| before.failed.contains(i) || faults.iter().any(|f| f.is_in(&cases[*i].program));
    let rest = (0..cases.len()).filter(|i| !before.unsupported.contains_key(i));
    let (alone, together): (Vec<usize>, Vec<usize>) = rest.partition(crashes);
    let mut waiting: Vec<Vec<usize>> = alone.into_iter().map(|i| vec![i]).collect();
    waiting.push(together);
    let unsupported = before.unsupported.iter();
    parts.extend(unsupported.map(|(&i, outcome)| Part::not_built(vec![i], outcome.clone())));
    build_parts(build, cases, waiting, &mut parts, limits)?;
    before.learn(&parts);
    Ok(parts)
}

fn build_parts(
    build: &Build,
    cases: &[Case],
    mut waiting: Vec<Vec<usize>>,
    parts: &mut Vec<Part>,
    limits: &Limits,
) -> Result<(), Broken> {
    while let Some(mut these) = waiting.pop() {
        if limits.is_over() {
            return Ok(());
        }
        let unit = Unit::new(build, &mut these, cases, parts);
        if these.is_empty() {
            continue;
        }
        let (built, said) = unit.build(build, limits);
        let outcome = match built {
            Built::Elf(elf) => {
                parts.push(Part::built(these, elf));
                continue;
            }
            Built::Broken(why) => return Err(Broken { testbed: build.name(), why }),
            Built::Unassembled(assembly) => {
                let accused = accused_in_assembly(&said, &assembly, these.len());
                let rest = without_accused(&said, &assembly, &accused);
                if these.len() > 1
                    && !accused.is_empty()
                    && let Built::Elf(elf) = build.compiler.assemble(&rest, &unit.march, &build.flags, limits)
                    && let Some(elf) = unit.with_data(build, elf)
                {
                    // What the assembler says of a program's lines is said of that program, whatever else is
                    // there.
                    for &n in &accused {
                        let outcome = Outcome::BuildFailure(said_of(&said, &assembly, n));
                        parts.push(Part::not_built(vec![these[n]], outcome));
                    }
                    let stubs = accused.iter().map(|&n| these[n]).collect();
                    parts.push(Part { cases: these, stubs, elf: Ok(elf) });
                    continue;
                }
                Outcome::BuildFailure(said.clone())
            }
            Built::Failed(said) => Outcome::BuildFailure(said),
            Built::Crashed(said) => Outcome::BuildCrash(said),
            Built::Unsupported(what) => Outcome::Unsupported(what),
            Built::TimedOut => Outcome::BuildTimeout,
        };
        if let Outcome::Unsupported(_) = outcome {
            // It says what it does not have: the programs that use it need not be tried alone.
            for what in lacking(&said) {
                build.compiler.lacks.learn(&what);
            }
            if (0..these.len()).any(|n| unit.lacks(build, n).is_some()) {
                waiting.push(these);
                continue;
            }
            // An intrinsic that it has, but not for these types: its line says which program it is in.
            let found = lacking_in(&said, &unit.text);
            if these.len() > 1 && !found.is_empty() {
                let rest = (0..these.len()).filter(|n| !found.iter().any(|(p, _)| p == n));
                waiting.push(rest.map(|n| these[n]).collect());
                for (n, what) in found {
                    build.compiler.lacks.learn_overload(&what, unit.programs[n]);
                    parts.push(Part::not_built(vec![these[n]], Outcome::Unsupported(what)));
                }
                continue;
            }
        }
        if these.len() == 1 {
            parts.push(Part::not_built(these, outcome));
            continue;
        }
        if let Outcome::Unsupported(_) = outcome {
            // It does not have an extension: those that need it go, the others stay together.
            let groups = by_march(build, &these, cases);
            let refused = |march: &String| !build.compiler.accepts(march, limits);
            let refused: Vec<String> = groups.keys().filter(|m| refused(m)).cloned().collect();
            if groups.len() == 1 {
                parts.push(Part::not_built(these, outcome));
            } else if refused.is_empty() {
                waiting.extend(groups.into_values());
            } else {
                for (march, some) in &groups {
                    if refused.contains(march) {
                        parts.push(Part::not_built(some.clone(), Outcome::Unsupported(needs(march))));
                    }
                }
                these.retain(|i| !groups.iter().any(|(m, some)| refused.contains(m) && some.contains(i)));
                waiting.push(these);
            }
            continue;
        }
        // The message may name the guilty ones; they are tried alone, the rest without them.
        let accused = accused(&said, &unit.text, these.len());
        if accused.is_empty() || accused.len() == these.len() {
            let (left, right) = these.split_at(these.len() / 2);
            waiting.push(left.to_vec());
            waiting.push(right.to_vec());
            continue;
        }
        // What breaks a program in one order of its statements is likely to break it in another.
        let origin = |i: &usize| &cases[*i].program.comment;
        let guilty: Vec<_> = accused.iter().map(|&n| origin(&these[n])).collect();
        let (alone, rest): (Vec<usize>, Vec<usize>) = these.iter().partition(|i| guilty.contains(&origin(i)));
        waiting.extend(alone.into_iter().map(|i| vec![i]));
        let size = if matches!(outcome, Outcome::BuildCrash(_)) { AFTER_CRASH } else { rest.len().max(1) };
        waiting.extend(rest.chunks(size).map(<[usize]>::to_vec));
    }
    Ok(())
}

/// A translation unit of some programs.
struct Unit<'p> {
    programs: Vec<&'p Program>,
    /// Without the data, where that can be written into the ELF.
    text: String,
    /// Where each program is in the text.
    places: Vec<Range<usize>>,
    march: String,
}

impl<'p> Unit<'p> {
    /// A unit of these, without those that use what the compiler is known not to have: they are done.
    fn new(build: &Build, these: &mut Vec<usize>, cases: &'p [Case], parts: &mut Vec<Part>) -> Unit<'p> {
        loop {
            let programs: Vec<&Program> = these.iter().map(|&i| &cases[i].program).collect();
            let direct = build.compiler.family == Family::Direct;
            let options =
                COptions { poked: pokes_into(build), language: build.language(), ..COptions::default() };
            let text = if direct { String::new() } else { emit(&programs, &options) };
            let places = places(&text, programs.len());
            let march = if direct { String::new() } else { build.compiler.march(&programs) };
            let unit = Unit { programs, text, places, march };
            let before = these.len();
            let mut n = 0;
            these.retain(|&i| {
                let lacks = unit.lacks(build, n);
                n += 1;
                if let Some(what) = &lacks {
                    parts.push(Part::not_built(vec![i], Outcome::Unsupported(what.clone())));
                }
                lacks.is_none()
            });
            if these.len() == before {
                return unit;
            }
        }
    }

    /// What the compiler is known to lack of what program `n` uses.
    fn lacks(&self, build: &Build, n: usize) -> Option<String> {
        if let Some(program) = self.programs.get(n)
            && build.compiler.family != Family::Direct
        {
            let march = build.compiler.march(&[program]);
            if build.compiler.lacks.first_in(&march).is_some() {
                return Some(needs(&march));
            }
            if let Some(overload) = build.compiler.lacks.overload_of(program) {
                return Some(overload);
            }
        }
        build.compiler.lacks.first_in(self.text.get(self.places.get(n)?.clone())?)
    }

    /// Builds; what the compiler said.
    fn build(&self, build: &Build, limits: &Limits) -> (Built, String) {
        let flags = build.compiler.flags_for(&self.programs, &build.flags);
        let with = |text: &str| build.compiler.build_saying(text, &self.march, &flags, limits);
        match build.compiler.family {
            Family::Direct => (build.compiler.build(&self.programs, &build.flags, limits), String::new()),
            _ => match with(&self.text) {
                (Built::Elf(elf), said) => match self.with_data(build, elf) {
                    Some(elf) => (Built::Elf(elf), said),
                    // The data has no place there: it goes through the compiler.
                    None => with(&emit(
                        &self.programs,
                        &COptions { language: build.language(), ..COptions::default() },
                    )),
                },
                other => other,
            },
        }
    }

    /// The ELF with the data of the programs; `None` if it has no place for them.
    fn with_data(&self, build: &Build, mut elf: Vec<u8>) -> Option<Vec<u8>> {
        (!pokes_into(build) || poke(&mut elf, &pokes(&self.programs))).then_some(elf)
    }
}

/// Whether a compiler's ELF has symbols for sure. A command of the user's may strip them.
pub(super) fn pokes_into(build: &Build) -> bool {
    matches!(build.compiler.family, Family::Gcc | Family::Clang) && build.language() == Language::C
}

/// Cases by the instruction set that they need.
fn by_march(build: &Build, these: &[usize], cases: &[Case]) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &i in these {
        groups.entry(build.compiler.march(&[&cases[i].program])).or_default().push(i);
    }
    groups
}

/// What a compiler lacks that refuses an instruction set.
fn needs(march: &str) -> String {
    format!("-march={march}")
}

impl Part {
    /// Cases that have an ELF and all do something.
    fn built(cases: Vec<usize>, elf: Vec<u8>) -> Part {
        Part { cases, stubs: Vec::new(), elf: Ok(elf) }
    }

    /// Cases that have no ELF.
    fn not_built(cases: Vec<usize>, outcome: Outcome) -> Part {
        Part { cases, stubs: Vec::new(), elf: Err(outcome) }
    }

    /// Runs it, and judges each of its programs.
    ///
    /// # Errors
    /// When the emulator does not work at all.
    pub fn run(&self, run: &Run, cases: &[Case]) -> Result<Vec<(usize, Outcome)>, Broken> {
        match &self.elf {
            Err(outcome) => Ok(self.cases.iter().map(|&i| (i, outcome.clone())).collect()),
            Ok(elf) => {
                let mut asked = Vec::new();
                for &i in &self.cases {
                    let case = &cases[i];
                    if self.stubs.contains(&i) || run.setup.vl == VlChoice::Half && case.has_groups() {
                        asked.push(None);
                        continue;
                    }
                    let expected = case.expected(&run.setup).ok_or_else(|| Broken {
                        testbed: run.name(),
                        why: "no expectation was computed for it".to_string(),
                    })?;
                    asked.push(Some((&case.program, expected)));
                }
                let observed = run.emulator.run(elf, &run.setup, None);
                self.judge(run, elf, &observed, cases, &asked)
            }
        }
    }

    /// Judges those of its programs that are asked for by what an ELF of them all printed: with what each
    /// must print.
    pub(super) fn judge(
        &self,
        run: &Run,
        elf: &[u8],
        observed: &Observed,
        cases: &[Case],
        asked: &[Option<(&Program, &Expected)>],
    ) -> Result<Vec<(usize, Outcome)>, Broken> {
        let broken = |why: String| Broken { testbed: run.name(), why };
        if let Ending::Broken(why) = &observed.ending {
            return Err(broken(why.clone()));
        }
        let mut rest = &observed.stdout[..];
        let whole: usize = self.cases.iter().map(|&i| cases[i].output_len()).sum();
        let complete = observed.ending == Ending::Clean && rest.len() == whole;
        let mut outcomes = Vec::new();
        for (n, &i) in self.cases.iter().enumerate() {
            let case = &cases[i];
            let (printed, after) = rest.split_at(case.output_len().min(rest.len()));
            rest = after;
            let Some((program, expected)) = asked[n] else { continue };
            let outcome = Outcome::judge(program, expected, printed);
            if outcome == Outcome::Pass
                && (complete || printed.len() == case.output_len())
                && !printed.is_empty()
            {
                outcomes.push((i, Outcome::Pass));
                continue;
            }
            // Alone, so that it is its own fault and nobody else's.
            let only = (self.cases.len() > 1).then_some(n);
            let alone =
                if only.is_some() { run.emulator.run(elf, &run.setup, only) } else { observed.clone() };
            outcomes.push((i, judge_alone(program, expected, &alone).map_err(broken)?));
        }
        Ok(outcomes)
    }
}

fn judge_alone(program: &Program, expected: &Expected, observed: &Observed) -> Result<Outcome, String> {
    Ok(match &observed.ending {
        Ending::Broken(why) => return Err(why.clone()),
        Ending::TimedOut => Outcome::RuntimeTimeout,
        Ending::Crashed(what) => Outcome::RuntimeCrash(what.clone()),
        Ending::Clean => Outcome::judge(program, expected, &observed.stdout),
    })
}

/// Outcomes of programs on testbeds: `[case][testbed]`, `None` where a testbed was not asked or does not
/// work.
pub type Table = Vec<Vec<Option<Outcome>>>;

/// Who decides what is asked of the testbeds while cases are judged, and hears how it went.
pub trait Overseer {
    /// Whether to leave the rest undone.
    fn ends(&mut self) -> bool {
        false
    }

    /// Whether to go without this one.
    fn skips(&mut self, _: Component) -> bool {
        false
    }

    /// So many programs are going to be built.
    fn builds(&mut self, _build: usize, _programs: usize) {}

    /// Building took so long.
    fn built(&mut self, _build: usize, _time: Duration) {}

    /// What came of a build.
    fn made(&mut self, _build: usize, _parts: &[Part], _cases: &[Case]) {}

    /// Running took so long.
    fn ran(&mut self, _testbed: TestbedId, _time: Duration) {}

    /// What became of a case with one of its other data sets.
    fn tried_input(&mut self, _case: usize, _input: usize, _: TestbedId, _: Outcome) {}

    /// It does not work.
    fn broke(&mut self, _: Component, _: Broken) {}
}

/// Asks everything, and keeps what does not work.
impl Overseer for Vec<Broken> {
    fn broke(&mut self, _: Component, broken: Broken) {
        self.push(broken);
    }
}

/// Every outcome of every case on all testbeds, and what does not work.
pub fn run_all(testbeds: &Testbeds, cases: &[Case], limits: &Limits) -> (Table, Vec<Broken>) {
    let mut broken = Vec::new();
    let table = judge_all(testbeds, cases, limits, &mut broken);
    (table.unwrap_or_default(), broken)
}

/// Builds the cases with every compiler, runs them on every emulator, and judges what they print. `None` if
/// the overseer ended it.
///
/// A program that works on element groups has no outcome with vl halved. It may trap there, so such programs
/// come last: those after it would be run again, alone.
pub fn judge_all(
    testbeds: &Testbeds,
    cases: &[Case],
    limits: &Limits,
    overseer: &mut dyn Overseer,
) -> Option<Table> {
    let mut table = vec![vec![None; testbeds.len()]; cases.len()];
    let only_groups = cases.iter().all(Case::has_groups);
    let mut before = Before::default();
    for (b, with) in testbeds.builds.iter().enumerate() {
        if b > 0 && testbeds.builds[b - 1].compiler != with.compiler {
            before = Before::default();
        }
        if overseer.ends() {
            return None;
        }
        if overseer.skips(Component::Build(b)) {
            continue;
        }
        overseer.builds(b, cases.len());
        let begin = Instant::now();
        let parts = match build_knowing(with, cases, &mut before, limits) {
            Ok(parts) => parts,
            Err(broken) => {
                overseer.broke(Component::Build(b), broken);
                continue;
            }
        };
        if overseer.ends() {
            return None;
        }
        overseer.built(b, begin.elapsed());
        overseer.made(b, &parts, cases);
        for (r, on) in testbeds.runs.iter().enumerate() {
            let left_out = on.setup.vl == VlChoice::Half && only_groups || !with.runs_at(on.setup.vlen);
            // Another worker may have dropped the build meanwhile.
            if left_out || overseer.skips(Component::Build(b)) || overseer.skips(Component::Run(r)) {
                continue;
            }
            let begin = Instant::now();
            let testbed = TestbedId { build: b, run: r };
            let number = testbeds.number(testbed);
            for part in &parts {
                match part.run(on, cases) {
                    Ok(outcomes) => outcomes.into_iter().for_each(|(i, o)| table[i][number] = Some(o)),
                    Err(broken) => overseer.broke(Component::Run(r), broken),
                }
            }
            overseer.ran(testbed, begin.elapsed());
        }
        run_inputs(testbeds, b, &parts, cases, overseer);
    }
    Some(table)
}
