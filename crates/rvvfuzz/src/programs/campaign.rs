//! One batch: written, built, run, judged.

use super::settings::Settings;
use super::store::{BatchRecord, ProgramRecord};
use super::testbed::Testbeds;
use crate::programs::judge::batch::{self, Broken, Case, has_groups};
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::judge::probe::{Named, try_testbeds};
use crate::programs::judge::vote::{Culprit, Verdict, vote};
use crate::programs::testbed::compiler::{Built, Limits};
use crate::programs::testbed::emulator::Ending;
use crate::programs::testbed::file::probe;
use rvv_intrinsics::Role;
use rvv_ir::Program;
use rvv_oracle::{Options, VlChoice, evaluate};
use rvvgen::{GenerateError, Generated, Plan, Scheduler, Weights, generate};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A testbed that fails every program of a batch of at least so many is broken.
const ALWAYS: usize = 8;

/// A campaign's programs and testbeds.
pub struct Campaign {
    plan: Plan,
    weights: Vec<Weights>,
    schedulers: Vec<Scheduler>,
    base: rvvgen::Settings,
    /// Where programs are built and run.
    pub testbeds: Testbeds,
    /// What compilers may use.
    pub limits: Limits,
    dropped: Mutex<Dropped>,
}

/// What does not work and is not asked again.
#[derive(Default)]
struct Dropped {
    builds: HashSet<usize>,
    runs: HashSet<usize>,
    /// Those of the runs that never worked.
    at_first: HashSet<usize>,
    told: HashSet<String>,
}

/// A program, and the state in which it was written.
struct Written {
    case: Case,
    /// Statements were taken out: its other schedules may have lost others.
    mended: bool,
}

impl Campaign {
    /// A campaign by its settings.
    ///
    /// # Errors
    /// What makes no sense in them.
    pub fn new(settings: &Settings) -> Result<Campaign, String> {
        settings.check()?;
        let selection = settings.selection()?;
        let testbeds = settings.testbeds()?;
        let mut vlens: Vec<u32> = Vec::new();
        for (vlen, _) in testbeds.places() {
            if !vlens.contains(&vlen) {
                vlens.push(vlen);
            }
        }
        let base = rvvgen::Settings {
            len: settings.len.max(1),
            vlens,
            selection: selection.clone(),
            ..rvvgen::Settings::default()
        };
        let plan = Plan::new(settings.seed, &selection, settings.ops, base.smallest_vlen());
        if plan.is_empty() {
            return Err(GenerateError::NothingSelected(base.smallest_vlen()).to_string());
        }
        let (weights, schedulers) = (settings.weights()?, settings.schedulers()?);
        if weights.is_empty() || schedulers.is_empty() {
            return Err("a campaign needs a policy and a schedule".to_string());
        }
        let limits = settings.limits();
        Ok(Campaign { plan, weights, schedulers, base, testbeds, limits, dropped: Mutex::default() })
    }

    /// Calls that are asked for.
    pub fn calls(&self) -> usize {
        self.plan.len()
    }

    /// The section of each call that is asked for, as [`rvv_intrinsics::Intrinsic::section`].
    pub fn sections(&self) -> Vec<u8> {
        let programs = (0..self.plan.round() as u64).filter_map(|k| self.plan.program(k));
        programs.flat_map(|(_, calls)| calls).map(|c| c.intrinsic.section).collect()
    }

    /// Programs after which all have been made once.
    pub fn round(&self) -> u64 {
        (self.plan.round() * self.schedulers.len()) as u64
    }

    /// Program `number`: each one of the plan comes in every schedule in turn.
    fn write(&self, number: u64) -> Result<Written, String> {
        let schedules = self.schedulers.len() as u64;
        let k = number / schedules;
        let mut settings = self.base.clone();
        settings.scheduler = self.schedulers[(number % schedules) as usize];
        settings.weights = self.weights[(k % self.weights.len() as u64) as usize].clone();
        let Generated { program, expected, repairs, .. } =
            generate(&self.plan, k, &settings).map_err(|e| e.to_string())?;
        let places = settings.vlens.iter().map(|&vlen| (vlen, VlChoice::Max));
        let mut expected: Vec<_> = places.zip(expected).collect();
        if has_groups(&program) {
            return Ok(Written { case: Case::known(number, program, expected), mended: repairs > 0 });
        }
        for place in self.testbeds.places().into_iter().filter(|(_, vl)| *vl == VlChoice::Half) {
            match evaluate(&program, &Options { vl: place.1, ..Options::new(place.0) }) {
                Ok(prints) => expected.push((place, prints)),
                Err(_) => {
                    // It has no meaning with vl halved: written again, so that it has.
                    settings.vls = vec![VlChoice::Max, VlChoice::Half];
                    let generated = generate(&self.plan, k, &settings).map_err(|e| e.to_string())?;
                    return Ok(Written { case: self.case(number, generated.program)?, mended: true });
                }
            }
        }
        Ok(Written { case: Case::known(number, program, expected), mended: repairs > 0 })
    }

    /// Program `number`, with what it must print.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn program(&self, number: u64) -> Result<Case, String> {
        self.write(number).map(|w| w.case)
    }

    /// A program with what it must print on the testbeds.
    ///
    /// # Errors
    /// Where it has no meaning.
    pub fn case(&self, number: u64, program: Program) -> Result<Case, String> {
        case(&self.testbeds, number, program)
    }

    /// Tries the testbeds on a first program; emulators that were found and fail are dropped: their names,
    /// and why.
    ///
    /// # Errors
    /// What was asked for by name and does not work.
    pub fn check(&self, named: &Named) -> Result<Vec<(String, String)>, String> {
        let mut record = BatchRecord::default();
        for (r, why) in try_testbeds(&self.testbeds, named, &self.limits)? {
            self.tell(Broken { testbed: self.testbeds.runs[r].name(), why }, Some((0, Some(r))), &mut record);
            self.dropped.lock().unwrap_or_else(PoisonError::into_inner).at_first.insert(r);
        }
        Ok(record.broken)
    }

    /// The builds and runs that worked at first and were dropped on the way.
    pub fn stopped(&self) -> Vec<String> {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builds: Vec<usize> = dropped.builds.iter().copied().collect();
        let mut runs: Vec<usize> = dropped.runs.difference(&dropped.at_first).copied().collect();
        builds.sort_unstable();
        runs.sort_unstable();
        let builds = builds.into_iter().map(|b| self.testbeds.builds[b].name());
        builds.chain(runs.into_iter().map(|r| self.testbeds.runs[r].name())).collect()
    }

    /// Does a batch; `None` if `hurry` said to leave it.
    pub fn batch(&self, first: u64, count: u64, hurry: &dyn Fn() -> bool) -> Option<BatchRecord> {
        let begin = Instant::now();
        let mut record = BatchRecord { first, count, ..BatchRecord::default() };
        let mut plain = Vec::new();
        let mut groups = Vec::new();
        for number in first..first + count {
            match self.write(number) {
                Ok(written) if written.case.has_groups() => groups.push(written),
                Ok(written) => plain.push(written),
                Err(why) => record.programs.push(ProgramRecord {
                    number,
                    outcomes: vec![None; self.testbeds.len()],
                    ir: None,
                    verdicts: vec![Verdict {
                        culprit: Culprit::Generator,
                        symptom: Kind::BuildFailure,
                        testbeds: Vec::new(),
                        axes: Vec::new(),
                        detail: why,
                    }],
                }),
            }
        }
        for written in [plain, groups] {
            self.judge(&written, &mut record, hurry)?;
        }
        record.programs.sort_by_key(|p| p.number);
        record.seconds = begin.elapsed().as_secs_f64();
        Some(record)
    }

    fn judge(&self, written: &[Written], record: &mut BatchRecord, hurry: &dyn Fn() -> bool) -> Option<()> {
        if written.is_empty() {
            return Some(());
        }
        let cases: Vec<Case> = written.iter().map(|w| w.case.clone()).collect();
        let table = self.outcomes(&cases, record, hurry)?;
        let mut programs: Vec<ProgramRecord> = Vec::new();
        for (case, outcomes) in cases.iter().zip(table) {
            let judged = |o: &&Option<Outcome>| o.as_ref().is_some_and(|o| o.kind() != Kind::Unsupported);
            let operations = operations(&case.program);
            record.operations += operations;
            record.checks += operations * outcomes.iter().filter(judged).count() as u64;
            if outcomes.iter().any(|o| judged(&o)) {
                for call in case.program.calls() {
                    if self.base.selection.wants(call.intrinsic, call.overloaded) {
                        record.calls.push((&call.intrinsic.name, call.overloaded, case.number));
                    }
                }
            }
            let verdicts = vote(&self.testbeds, &outcomes);
            programs.push(ProgramRecord { number: case.number, outcomes, ir: None, verdicts });
        }
        self.compare_schedules(written, &mut programs);
        for (program, case) in programs.iter_mut().zip(&cases) {
            if !program.verdicts.is_empty() {
                program.ir = Some(case.program.to_string());
            }
        }
        record.programs.extend(programs);
        Some(())
    }

    /// The same program in another order must print the same; a fault that comes and goes with it has that axis.
    fn compare_schedules(&self, written: &[Written], programs: &mut [ProgramRecord]) {
        let schedules = self.schedulers.len() as u64;
        for i in 0..written.len() {
            let k = written[i].case.number / schedules;
            let others: Vec<usize> =
                (0..written.len()).filter(|&j| j != i && written[j].case.number / schedules == k).collect();
            let passes = |j: usize, t: usize| programs[j].outcomes[t] == Some(Outcome::Pass);
            let with_axis: Vec<bool> = programs[i]
                .verdicts
                .iter()
                .map(|v| {
                    !v.testbeds.is_empty() && others.iter().any(|&j| v.testbeds.iter().all(|&t| passes(j, t)))
                })
                .collect();
            for (verdict, _) in programs[i].verdicts.iter_mut().zip(with_axis).filter(|(_, with)| *with) {
                verdict.axes.push("schedule");
            }
            let differs =
                |j: &&usize| {
                    **j < i
                        && !written[i].mended
                        && !written[**j].mended
                        && self.testbeds.runs.iter().any(|r| {
                            written[i].case.expected(&r.setup) != written[**j].case.expected(&r.setup)
                        })
                };
            if let Some(j) = others.iter().find(differs) {
                let detail = format!(
                    "program {} must print the same, and the oracle says it does not",
                    programs[*j].number
                );
                programs[i].verdicts.push(Verdict {
                    culprit: Culprit::Oracle,
                    symptom: Kind::WrongOutput,
                    testbeds: Vec::new(),
                    axes: vec!["schedule"],
                    detail,
                });
            }
        }
    }

    /// As [`batch::run_all`], with times taken, and without what was dropped.
    fn outcomes(
        &self,
        cases: &[Case],
        record: &mut BatchRecord,
        hurry: &dyn Fn() -> bool,
    ) -> Option<Vec<Vec<Option<Outcome>>>> {
        let testbeds = &self.testbeds;
        let mut table = vec![vec![None; testbeds.len()]; cases.len()];
        let groups = cases.iter().any(Case::has_groups);
        for (b, build) in testbeds.builds.iter().enumerate() {
            if hurry() {
                return None;
            }
            if self.is_dropped(b, None) {
                continue;
            }
            let begin = Instant::now();
            let parts = match batch::build(build, cases, &self.limits) {
                Ok(parts) => parts,
                Err(broken) => {
                    let gone = !self.build_works(b);
                    self.tell(broken, gone.then_some((b, None)), record);
                    continue;
                }
            };
            record.timings.push((b, None, begin.elapsed().as_secs_f64()));
            for (r, run) in testbeds.runs.iter().enumerate() {
                if (run.setup.vl == VlChoice::Half && groups) || self.is_dropped(b, Some(r)) {
                    continue;
                }
                let begin = Instant::now();
                let number = testbeds.number(b, r);
                for part in &parts {
                    match part.run(run, cases) {
                        Ok(outcomes) => outcomes.into_iter().for_each(|(i, o)| table[i][number] = Some(o)),
                        Err(broken) => {
                            let gone = !self.run_works(r);
                            self.tell(broken, gone.then_some((b, Some(r))), record);
                        }
                    }
                }
                record.timings.push((b, Some(r), begin.elapsed().as_secs_f64()));
            }
        }
        self.find_always_failing(&mut table, record);
        Some(table)
    }

    /// A build or run that fails everything while others do not says nothing about programs.
    fn find_always_failing(&self, table: &mut [Vec<Option<Outcome>>], record: &mut BatchRecord) {
        if table.len() < ALWAYS {
            return;
        }
        let testbeds = &self.testbeds;
        let runs = testbeds.runs.len();
        let passes = |o: &Option<Outcome>| *o == Some(Outcome::Pass);
        for b in 0..testbeds.builds.len() {
            let of = |row: &[Option<Outcome>]| row[b * runs..(b + 1) * runs].iter().flatten().next().cloned();
            let built: Vec<Option<Outcome>> = table.iter().map(|row| of(row)).collect();
            let fails =
                |o: &Option<Outcome>| matches!(o, Some(Outcome::BuildFailure(_) | Outcome::BuildTimeout));
            if let Some(Some(first)) = built.first()
                && built.iter().all(fails)
            {
                let why = format!("it fails every program: {first}");
                self.tell(Broken { testbed: testbeds.builds[b].name(), why }, Some((b, None)), record);
                table.iter_mut().for_each(|row| row[b * runs..(b + 1) * runs].fill(None));
            }
        }
        for r in 0..runs {
            let is_run = |t: usize| t % runs == r;
            let ran = |row: &[Option<Outcome>]| {
                row.iter()
                    .enumerate()
                    .filter(|(t, _)| is_run(*t))
                    .filter_map(|(_, o)| o.clone())
                    .collect::<Vec<_>>()
            };
            let here: Vec<Outcome> =
                table.iter().flat_map(|row| ran(row)).filter(|o| !o.kind().is_build()).collect();
            let elsewhere =
                table.iter().any(|row| row.iter().enumerate().any(|(t, o)| !is_run(t) && passes(o)));
            if here.len() >= ALWAYS && elsewhere && !here.contains(&Outcome::Pass) {
                let why = format!("every program fails on it: {}", here[0]);
                self.tell(Broken { testbed: testbeds.runs[r].name(), why }, Some((0, Some(r))), record);
                for row in table.iter_mut() {
                    row.iter_mut().skip(r).step_by(runs).for_each(|o| *o = None);
                }
            }
        }
    }

    fn is_dropped(&self, build: usize, run: Option<usize>) -> bool {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.builds.contains(&build) || run.is_some_and(|r| dropped.runs.contains(&r))
    }

    /// Says that something does not work, once, and drops it.
    fn tell(&self, broken: Broken, gone: Option<(usize, Option<usize>)>, record: &mut BatchRecord) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        match gone {
            Some((_, Some(r))) => dropped.runs.insert(r),
            Some((b, None)) => dropped.builds.insert(b),
            None => false,
        };
        if dropped.told.insert(broken.testbed.clone()) {
            let rest = if gone.is_some() { "; the campaign goes on without it" } else { "" };
            record.broken.push((broken.testbed, format!("{}{rest}", broken.why.trim())));
        }
    }

    /// There is nothing left to work with.
    pub fn all_dropped(&self) -> bool {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.builds.len() == self.testbeds.builds.len() || dropped.runs.len() == self.testbeds.runs.len()
    }

    /// A build that failed still compiles an empty program.
    fn build_works(&self, build: usize) -> bool {
        let compiler = &self.testbeds.builds[build].compiler;
        compiler.command.is_empty() || probe(compiler, &self.limits).is_ok()
    }

    /// A run that failed still runs an empty program of the direct lowering.
    fn run_works(&self, run: usize) -> bool {
        let run = &self.testbeds.runs[run];
        match crate::programs::testbed::compiler::Compiler::direct().build(
            &[&Program::default()],
            &[],
            &self.limits,
        ) {
            Built::Elf(elf) => !matches!(run.emulator.run(&elf, &run.setup, None).ending, Ending::Broken(_)),
            _ => false,
        }
    }
}

/// A program with what it must print on these testbeds.
///
/// # Errors
/// Where it has no meaning.
pub fn case(testbeds: &Testbeds, number: u64, program: Program) -> Result<Case, String> {
    let mut places = testbeds.places();
    if has_groups(&program) {
        places.retain(|(_, vl)| *vl == VlChoice::Max);
    }
    Case::new(number, program, &places).map_err(|e| format!("program {number} has no meaning: {e}"))
}

/// Operations of a program: its calls but loads and stores.
pub fn operations(program: &Program) -> u64 {
    program.calls().iter().filter(|c| c.intrinsic.param(Role::Base).is_none()).count() as u64
}
