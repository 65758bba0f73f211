//! Further data sets: what was built for a program runs on all of them. The build is what costs, so its ELF
//! stays loaded, and only the data change.

use super::batch::{Broken, Overseer, Part, pokes_into};
use super::case::{Case, Input};
use super::outcome::Outcome;
use crate::programs::testbed::compiler::Family;
use crate::programs::testbed::emulator::{Emulator, Ending, Observed};
use crate::programs::testbed::poke::Places;
use crate::programs::testbed::resident::Resident;
use crate::programs::testbed::{Build, Component, Run, TestbedId, Testbeds};
use rvv_ir::c::poked;
use rvv_ir::elf::{ElfOptions, lower_with};
use rvv_ir::{Expected, Program};
use rvv_oracle::VlChoice;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

/// Runs what a compiler has built on the other data sets of the cases, each on the first run that it was
/// drawn for.
pub(super) fn run_inputs(
    testbeds: &Testbeds,
    build: usize,
    parts: &[Part],
    cases: &[Case],
    overseer: &mut dyn Overseer,
) {
    let with = &testbeds.builds[build];
    for (place, inputs) in by_place(cases) {
        let here = testbeds.runs.iter().enumerate().find(|(r, on)| {
            on.emulator == Emulator::Rvvsim
                && (on.setup.vlen, on.setup.vl) == place
                && with.runs_at(on.setup.vlen)
                && !overseer.skips(Component::Run(*r))
        });
        let Some((r, on)) = here else { continue };
        let testbed = TestbedId { build, run: r };
        let begin = Instant::now();
        for part in parts {
            let Some(mut runner) = Runner::new(part, with, on, cases) else { continue };
            for &input in &inputs {
                match runner.run(input) {
                    Ok(found) => {
                        found.into_iter().for_each(|(i, o)| overseer.tried_input(i, input, testbed, o));
                    }
                    Err(broken) => overseer.broke(Component::Run(r), broken),
                }
            }
        }
        overseer.ran(testbed, begin.elapsed());
    }
}

/// The numbers of the data sets, by where they are run.
fn by_place(cases: &[Case]) -> Vec<((u32, VlChoice), Vec<usize>)> {
    let mut places: Vec<((u32, VlChoice), Vec<usize>)> = Vec::new();
    for input in 0..cases.iter().map(|c| c.inputs.len()).max().unwrap_or(0) {
        let place = cases.iter().find_map(|c| c.inputs.get(input)?.as_ref().map(Input::place));
        let Some(place) = place else { continue };
        match places.iter_mut().find(|(p, _)| *p == place) {
            Some((_, inputs)) => inputs.push(input),
            None => places.push((place, vec![input])),
        }
    }
    places
}

/// A part of a build that runs on one data set after the other.
struct Runner<'a> {
    part: &'a Part,
    elf: &'a [u8],
    run: &'a Run,
    cases: &'a [Case],
    /// Where the buffers are in the ELF, by program and number; `None` for our own lowering.
    places: Option<HashMap<(usize, usize), Range<usize>>>,
    resident: Option<Resident>,
}

impl<'a> Runner<'a> {
    /// `None` if there is no ELF, or no place in it for data.
    fn new(part: &'a Part, build: &'a Build, run: &'a Run, cases: &'a [Case]) -> Option<Runner<'a>> {
        let elf = part.elf.as_ref().ok()?;
        let direct = build.compiler.family == Family::Direct;
        if !direct && !pokes_into(build) {
            return None;
        }
        let places = if direct { None } else { Some(places(part, elf, cases)?) };
        Some(Runner { part, elf, run, cases, places, resident: None })
    }

    fn input(&self, n: usize, input: usize) -> Option<&'a Input> {
        self.cases[self.part.cases[n]].inputs.get(input)?.as_ref()
    }

    /// Runs it with the data sets of this number, and judges the programs that have one; none if the data
    /// have no place in the ELF.
    ///
    /// # Errors
    /// When the emulator does not work at all.
    fn run(&mut self, input: usize) -> Result<Vec<(usize, Outcome)>, Broken> {
        let (part, cases) = (self.part, self.cases);
        let of = |i: &usize| cases[*i].inputs.get(input).and_then(Option::as_ref);
        let judged = |i: &usize| of(i).filter(|_| !part.stubs.contains(i)).map(|o| (&o.program, &o.expected));
        let asked: Vec<Option<(&Program, &Expected)>> = part.cases.iter().map(judged).collect();
        if asked.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let Some(elf) = self.elf_with(input) else { return Ok(Vec::new()) };
        let observed = self.observe(&elf);
        part.judge(self.run, &elf, &observed, cases, &asked)
    }

    /// The ELF with the data set of this number; programs that have none keep their own data.
    fn elf_with(&self, input: usize) -> Option<Vec<u8>> {
        let count = self.part.cases.len();
        let Some(places) = &self.places else {
            // Our own lowering costs little.
            let own = |n: usize| &self.cases[self.part.cases[n]].program;
            let programs: Vec<&Program> =
                (0..count).map(|n| self.input(n, input).map_or_else(|| own(n), |i| &i.program)).collect();
            let options = ElfOptions { max_vlen: self.run.setup.vlen, ..ElfOptions::default() };
            return lower_with(&programs, &options).ok();
        };
        let mut elf = self.elf.to_vec();
        for n in 0..count {
            for (buffer, bytes) in self.input(n, input).iter().flat_map(|i| &i.contents) {
                let place = places.get(&(n, *buffer)).filter(|place| place.len() == bytes.len())?;
                elf.get_mut(place.clone())?.copy_from_slice(bytes);
            }
        }
        Some(elf)
    }

    /// What it prints: in the process that is there, or in a new one if it does anything but print and end
    /// well.
    fn observe(&mut self, elf: &[u8]) -> Observed {
        if self.resident.is_none() {
            self.resident = Resident::new(elf, &self.run.setup);
        }
        match self.resident.as_mut().and_then(|r| r.run(elf)) {
            Some(stdout) => Observed { stdout, ending: Ending::Clean },
            None => {
                self.resident = None;
                self.run.emulator.run(elf, &self.run.setup, None)
            }
        }
    }
}

/// Where the buffers of a part's programs are in its ELF; `None` if one of them is not in the file.
fn places(part: &Part, elf: &[u8], cases: &[Case]) -> Option<HashMap<(usize, usize), Range<usize>>> {
    let programs: Vec<&Program> = part.cases.iter().map(|&i| &cases[i].program).collect();
    let places = Places::of(elf)?;
    let place = |p: rvv_ir::c::Poked| {
        let len = programs[p.program].buffers[p.buffer].bytes();
        Some(((p.program, p.buffer), places.get(&p.symbol, len)?))
    };
    poked(&programs).into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::judge::batch::{build, judge_all};
    use crate::programs::settings::Settings;
    use crate::programs::testbed::compiler::Compiler;

    /// Remembers what became of the data sets.
    #[derive(Default)]
    struct Notes(Vec<(usize, usize, Outcome)>);

    impl Overseer for Notes {
        fn tried_input(&mut self, case: usize, input: usize, _: TestbedId, outcome: Outcome) {
            self.0.push((case, input, outcome));
        }
    }

    fn cases() -> Vec<Case> {
        let plan = rvvgen::Plan::new(6, &rvvgen::Selection::default(), 12, 128);
        let place = (128, VlChoice::Max);
        let case = |k: u64| {
            let generated = rvvgen::generate(&plan, k, &rvvgen::Settings::default()).unwrap();
            Case::new(k, generated.program, &[place]).unwrap().with_inputs(3, &[place])
        };
        let whole = |c: &Case| c.inputs.iter().all(Option::is_some) && !c.has_groups();
        (0..20).map(case).filter(whole).take(4).collect()
    }

    #[test]
    fn each_data_set_is_judged_by_its_own_truth() {
        let mut cases = cases();
        assert_eq!(cases.len(), 4);
        let mut testbeds = Settings::default().testbeds().unwrap();
        testbeds.runs.truncate(1);
        let limits = Settings::default().limits();
        // One truth is wrong in a bit that is defined.
        let contents = cases[2].inputs[1].as_mut().unwrap().expected.outputs.iter_mut();
        let (byte, _) = contents
            .flat_map(|c| c.bytes.iter_mut().zip(&c.defined))
            .find(|(_, defined)| **defined != 0)
            .unwrap();
        *byte = !*byte;
        let mut notes = Notes::default();
        judge_all(&testbeds, &cases, &limits, &mut notes).unwrap();
        assert_eq!(notes.0.len(), 12);
        for (case, input, outcome) in &notes.0 {
            let wrong = (*case, *input) == (2, 1);
            assert_eq!(matches!(outcome, Outcome::WrongOutput(_)), wrong, "{case} {input} {outcome}");
            assert!(wrong || *outcome == Outcome::Pass, "{case} {input} {outcome}");
        }
    }

    /// With a compiler, data are written into its ELF: they are where a new process finds them.
    #[test]
    fn data_sets_are_written_into_what_a_compiler_built() {
        // An old one lacks intrinsics of the programs.
        let clangs = Compiler::find_all().0.into_iter().filter(|c| c.family == Family::Clang);
        let Some(clang) = clangs.max_by_key(Compiler::version_numbers) else { return };
        let cases = cases();
        let build_with = Build::new(&clang, &["-O1".to_string()]);
        let mut testbeds = Settings::default().testbeds().unwrap();
        let run = testbeds.runs.swap_remove(0);
        let parts = build(&build_with, &cases, &Settings::default().limits()).unwrap();
        let mut judged = 0;
        for part in &parts {
            let Some(mut runner) = Runner::new(part, &build_with, &run, &cases) else { continue };
            for input in 0..3 {
                let elf = runner.elf_with(input).unwrap();
                let fresh = run.emulator.run(&elf, &run.setup, None);
                assert_eq!(runner.observe(&elf), fresh, "{input}");
                let found = runner.run(input).unwrap();
                judged += found.len();
                assert!(found.iter().all(|(_, o)| *o == Outcome::Pass), "{found:?}");
            }
        }
        let refused: Vec<_> = parts.iter().filter_map(|p| p.elf.as_ref().err()).collect();
        let lacks = |o: &&Outcome| matches!(o, Outcome::Unsupported(_));
        assert!(judged > 0 || refused.iter().all(lacks), "{refused:?}");
    }
}
