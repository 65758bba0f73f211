//! Do the testbeds work at all? Tried on a first program before anything else.
//!
//! Whatever was asked for by name and fails is an error: a campaign without it would find nothing wrong, and
//! mean nothing. What was found on PATH and fails is left out.

use super::batch::{self, Part};
use super::case::Case;
use super::outcome::Outcome;
use crate::programs::settings::{Settings, VLENS};
use crate::programs::testbed::compiler::{Compiler, Family, Limits};
use crate::programs::testbed::emulator::{Agnosticism, Emulator, Setup};
use crate::programs::testbed::{Build, Run, Testbeds};
use rvv_ir::Program;
use rvv_oracle::VlChoice;
use std::time::Duration;

/// The first program: loads, an addition, a store.
const FIRST: &str = "rvv-ir 1
# the first program
data a: i32[10] = seed 0x1 bits
data b: i32[10] = seed 0x2 bits
out c: i32[10] = zero

main {
  var i: size
  var vl: size
  var x: i32m1
  var y: i32m1
  strip e32m1 10 as i, vl {
    x = vle32_v_i32m1(&a[i], vl)
    y = vle32_v_i32m1(&b[i], vl)
    x = vadd_vv_i32m1(x, y, vl)
    vse32_v_i32m1(&c[i], x, vl)
  }
}
";

/// A compiler that takes longer than this for the first program is of no use.
const LONGEST: Duration = Duration::from_secs(60);

/// What was asked for by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Compilers, as [`Compiler::name`] has them.
    pub compilers: Vec<String>,
    /// Emulators, as [`EmulatorSettings::name`](crate::programs::settings::EmulatorSettings::name) has them.
    pub emulators: Vec<String>,
    /// The levels: every compiler must have them.
    pub levels: bool,
}

impl Named {
    /// What a stored campaign cannot have found by itself.
    pub fn stored(settings: &Settings) -> Named {
        let custom = settings.compilers.iter().filter(|c| c.family == "custom");
        let others = settings.emulators.iter().filter(|e| !["rvvsim", "qemu"].contains(&e.name.as_str()));
        Named {
            compilers: custom.map(|c| c.name.clone()).collect(),
            emulators: others.map(|e| e.name.clone()).collect(),
            levels: false,
        }
    }

    /// Everything.
    pub fn all(settings: &Settings) -> Named {
        Named {
            compilers: settings.compilers.iter().map(|c| c.name.clone()).collect(),
            emulators: settings.emulators.iter().map(|e| e.name.clone()).collect(),
            levels: true,
        }
    }

    fn has_build(&self, build: &Build) -> bool {
        build.compiler.family != Family::Direct
            && !build.rotated
            && (self.levels || self.compilers.contains(&build.compiler.name))
    }

    fn has_run(&self, run: &Run) -> bool {
        match &run.emulator {
            Emulator::Rvvsim => false,
            Emulator::Qemu(..) => self.emulators.iter().any(|e| e == "qemu"),
            Emulator::Command(name, _) => self.emulators.contains(name),
        }
    }
}

/// The first program.
///
/// # Panics
/// Never: a test reads it.
#[must_use]
pub fn first_program() -> Program {
    FIRST.parse().expect("a program")
}

/// Whether a compiler knows the flags of a build, and the first program works with them on `rvvsim`.
pub fn takes_flags(with: &Build, limits: &Limits) -> bool {
    let limits = Limits { time: limits.time.min(LONGEST), ..*limits };
    let Some(vlen) = VLENS.into_iter().find(|&vlen| with.runs_at(vlen)) else { return false };
    let setup = Setup { vlen, agnostic: Agnosticism::Undisturbed, vl: VlChoice::Max };
    let Ok(case) = Case::new(0, first_program(), &[(vlen, VlChoice::Max)]) else { return false };
    let run = Run { emulator: Emulator::Rvvsim, setup };
    let built = build(with, std::slice::from_ref(&case), &limits);
    built.is_ok_and(|part| judge(&part, &run, &[case]).is_ok())
}

/// Builds and runs the first program: on every emulator that is a process, and through every build that was
/// asked for by name on each of the emulators. Returns the runs to go without, and why.
///
/// # Errors
/// What was asked for by name and does not work, a line each.
pub fn try_testbeds(
    testbeds: &Testbeds,
    named: &Named,
    limits: &Limits,
) -> Result<Vec<(usize, String)>, String> {
    let limits = Limits { time: limits.time.min(LONGEST), ..*limits };
    let first = [Case::on(testbeds, 0, first_program())?];
    let direct = Build::new(&Compiler::direct(), &[]);
    let direct = build(&direct, &first, &limits)?;
    let mut failing: Vec<(usize, String)> = Vec::new();
    for (r, run) in testbeds.runs.iter().enumerate().filter(|(_, r)| r.emulator != Emulator::Rvvsim) {
        failing.extend(judge(&direct, run, &first).err().map(|why| (r, why)));
    }
    let mut wrong = Vec::new();
    for run in first_runs(testbeds).into_iter().map(|r| &testbeds.runs[r]) {
        let same = |r: usize| testbeds.runs[r].emulator == run.emulator;
        let mut of: Vec<_> = failing.iter().filter(|(r, _)| same(*r)).collect();
        // Which set-ups QEMU is tried in is our choice, not the user's: it works if it does in one of them.
        let whole = (0..testbeds.runs.len()).filter(|&r| same(r)).count();
        if matches!(run.emulator, Emulator::Qemu(..)) && of.len() < whole {
            of.clear();
        }
        if let (true, Some((r, why))) = (named.has_run(run), of.first()) {
            wrong.push(format!("{} does not work: {why}", testbeds.runs[*r].name()));
        }
    }
    let works = |r: &usize| failing.iter().all(|(f, _)| f != r);
    let runs: Vec<usize> = first_runs_of(testbeds, works);
    for tried in testbeds.builds.iter().filter(|b| named.has_build(b)) {
        let on = |part: &Part, run: &Run| {
            judge(part, run, &first).map_err(|why| format!("on {}, {why}", run.name()))
        };
        let tested = build(tried, &first, &limits)
            .and_then(|part| runs.iter().try_for_each(|&r| on(&part, &testbeds.runs[r])));
        if let Err(why) = tested {
            wrong.push(format!("{} does not work: {why}", tried.name()));
        }
    }
    if wrong.is_empty() {
        return Ok(failing);
    }
    wrong.push(
        "nothing was run: mend what does not work, or leave it out; `rvvfuzz doctor` says what can be used"
            .into(),
    );
    Err(wrong.join("\n"))
}

/// The first run of each emulator.
fn first_runs(testbeds: &Testbeds) -> Vec<usize> {
    first_runs_of(testbeds, |_| true)
}

/// The first run of each emulator, of those that are good.
fn first_runs_of(testbeds: &Testbeds, good: impl Fn(&usize) -> bool) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    for r in (0..testbeds.runs.len()).filter(good) {
        if firsts.iter().all(|&f| testbeds.runs[f].emulator != testbeds.runs[r].emulator) {
            firsts.push(r);
        }
    }
    firsts
}

/// Builds the first program.
fn build(build: &Build, first: &[Case], limits: &Limits) -> Result<Part, String> {
    let parts = batch::build(build, first, limits).map_err(|e| said(&e.why))?;
    let part = parts.into_iter().next().ok_or("it builds nothing")?;
    match &part.elf {
        Ok(_) => Ok(part),
        Err(outcome) => Err(format!("it cannot build a first program: {}", said(&outcome.to_string()))),
    }
}

/// Runs and judges the first program.
fn judge(part: &Part, run: &Run, first: &[Case]) -> Result<(), String> {
    let outcomes = part.run(run, first).map_err(|e| said(&e.why))?;
    match outcomes.into_iter().next() {
        Some((_, Outcome::Pass)) => Ok(()),
        Some((_, other)) => Err(format!("a first program fails: {}", said(&other.to_string()))),
        None => Err("a first program has no outcome".to_string()),
    }
}

/// What there is to say in a line or two.
fn said(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(2).collect();
    lines.join("; ")
}

/// Tries the testbeds, takes out those that were found and do not work, and says so.
///
/// # Errors
/// As [`try_testbeds`].
pub fn drop_failing_runs(
    testbeds: &mut Testbeds,
    named: &Named,
    limits: &Limits,
    note: &mut dyn FnMut(String),
) -> Result<(), String> {
    for (r, why) in try_testbeds(testbeds, named, limits)?.iter().rev() {
        note(format!("{} is left out: {why}", testbeds.runs[*r].name()));
        testbeds.runs.remove(*r);
    }
    if testbeds.runs.is_empty() {
        return Err("there is no emulator left; `rvvfuzz doctor` says what can be used".to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_is_one_and_passes_on_what_is_built_in() {
        let settings = Settings::default();
        first_program().check().unwrap();
        let testbeds = settings.testbeds().unwrap();
        assert!(try_testbeds(&testbeds, &Named::all(&settings), &settings.limits()).unwrap().is_empty());
        let first = [Case::on(&testbeds, 0, first_program()).unwrap()];
        let direct = build(&testbeds.builds[0], &first, &settings.limits()).unwrap();
        testbeds.runs.iter().for_each(|run| judge(&direct, run, &first).unwrap());
    }
}
