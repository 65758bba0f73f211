//! One batch of programs, from their numbers to their record. The way of a program, in order:
//!
//! 1. it is [written](Campaign::write) from its number, and the oracle says what it must print;
//! 2. it is built by every compiler, run on every emulator and compared: [`judge_all`];
//! 3. testbeds that fail everything are left out: [`always_failing`];
//! 4. the [`vote`] says who is wrong;
//! 5. it is compared with the same program in other orders of its statements: [`Campaign::compare_schedules`].
//!
//! Then the batch goes to the [store](super::store), and each verdict to the [reducer](super::reduce): both are called by
//! the [`workers`](super::workers).

use super::judge::batch::{Broken, Overseer, Table, judge_all};
use super::judge::case::{Case, has_groups, operations};
use super::judge::health::{Health, always_failing, works};
use super::judge::outcome::{Kind, Outcome};
use super::judge::probe::{Named, try_testbeds};
use super::judge::vote::{Culprit, Verdict, vote};
use super::settings::Settings;
use super::store::{BatchRecord, ProgramRecord};
use super::testbed::compiler::Limits;
use super::testbed::{Component, TestbedId, Testbeds};
use rvv_ir::Program;
use rvv_oracle::{Options, VlChoice, evaluate};
use rvvgen::{GenerateError, Generated, Plan, Scheduler, Weights, generate};
use std::time::{Duration, Instant};

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
    health: Health,
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
        Ok(Campaign { plan, weights, schedulers, base, testbeds, limits, health: Health::default() })
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
        Case::on(&self.testbeds, number, program)
    }

    /// Tries the testbeds on a first program; emulators that were found and fail are dropped: their names,
    /// and why.
    ///
    /// # Errors
    /// What was asked for by name and does not work.
    pub fn check(&self, named: &Named) -> Result<Vec<(String, String)>, String> {
        let mut record = BatchRecord::default();
        for (r, why) in try_testbeds(&self.testbeds, named, &self.limits)? {
            let run = Component::Run(r);
            self.drop(run, Broken { testbed: self.testbeds.component_name(run), why }, &mut record);
            self.health.drop_at_first(run);
        }
        Ok(record.broken)
    }

    /// The builds and runs that worked at first and were dropped on the way.
    pub fn stopped(&self) -> Vec<String> {
        self.health.stopped().into_iter().map(|c| self.testbeds.component_name(c)).collect()
    }

    /// There is nothing left to work with.
    pub fn all_dropped(&self) -> bool {
        self.health.is_nothing_left(&self.testbeds)
    }

    /// Goes on without what does not work, and notes that once.
    fn drop(&self, component: Component, broken: Broken, record: &mut BatchRecord) {
        self.health.drop(component);
        self.note(broken, "; the campaign goes on without it", record);
    }

    /// Notes once that something does not work.
    fn note(&self, broken: Broken, rest: &str, record: &mut BatchRecord) {
        if self.health.is_news(&broken.testbed) {
            record.broken.push((broken.testbed, format!("{}{rest}", broken.why.trim())));
        }
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
                    verdicts: vec![Verdict::new(Culprit::Generator, Kind::BuildFailure, why)],
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
                    axes: vec!["schedule"],
                    ..Verdict::new(Culprit::Oracle, Kind::WrongOutput, detail)
                });
            }
        }
    }

    /// Outcomes on the testbeds that work.
    fn outcomes(&self, cases: &[Case], record: &mut BatchRecord, hurry: &dyn Fn() -> bool) -> Option<Table> {
        let mut clerk = Clerk { campaign: self, record, hurry };
        let mut table = judge_all(&self.testbeds, cases, &self.limits, &mut clerk)?;
        for (component, broken) in always_failing(&self.testbeds, &mut table) {
            self.drop(component, broken, record);
        }
        Some(table)
    }
}

/// Takes times, and goes without what was dropped.
struct Clerk<'a> {
    campaign: &'a Campaign,
    record: &'a mut BatchRecord,
    hurry: &'a dyn Fn() -> bool,
}

impl Overseer for Clerk<'_> {
    fn ends(&mut self) -> bool {
        (self.hurry)()
    }

    fn skips(&mut self, component: Component) -> bool {
        self.campaign.health.is_dropped(component)
    }

    fn built(&mut self, build: usize, time: Duration) {
        self.record.timings.push((build, None, time.as_secs_f64()));
    }

    fn ran(&mut self, testbed: TestbedId, time: Duration) {
        self.record.timings.push((testbed.build, Some(testbed.run), time.as_secs_f64()));
    }

    fn broke(&mut self, component: Component, broken: Broken) {
        let Campaign { testbeds, limits, .. } = self.campaign;
        match works(testbeds, component, limits) {
            // It was this batch only.
            true => self.campaign.note(broken, "", self.record),
            false => self.campaign.drop(component, broken, self.record),
        }
    }
}
