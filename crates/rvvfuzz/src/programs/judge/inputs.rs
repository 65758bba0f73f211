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
use rvv_ir::c::pokes;
use rvv_ir::elf::{ElfOptions, lower_with};
use rvv_ir::{Expected, Program};
use rvv_oracle::VlChoice;
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
    places: Option<Places>,
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
        let places = if direct { None } else { Some(Places::of(elf)?) };
        Some(Runner { part, elf, run, cases, places, resident: None })
    }

    /// The programs with the data set of this number, and their own data where they have none.
    fn programs(&self, input: usize) -> Vec<&'a Program> {
        let cases = self.cases;
        let of = |i: &usize| cases[*i].inputs.get(input).and_then(Option::as_ref);
        self.part.cases.iter().map(|i| of(i).map_or(&cases[*i].program, |o| &o.program)).collect()
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
        let Some(elf) = self.elf_with(&self.programs(input)) else { return Ok(Vec::new()) };
        let observed = self.observe(&elf);
        part.judge(self.run, &elf, &observed, cases, &asked)
    }

    /// The ELF with the data of these.
    fn elf_with(&self, programs: &[&Program]) -> Option<Vec<u8>> {
        match &self.places {
            // Our own lowering costs next to nothing.
            None => {
                lower_with(programs, &ElfOptions { max_vlen: self.run.setup.vlen, ..ElfOptions::default() })
                    .ok()
            }
            Some(places) => {
                let mut elf = self.elf.to_vec();
                places.poke(&mut elf, &pokes(programs)).then_some(elf)
            }
        }
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
