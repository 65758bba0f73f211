//! One batch of programs, from their numbers to their record. The way of a program, in order:
//!
//! 1. it is [written](Campaign::write) from its number, and the oracle says what it must print;
//! 2. it is built by the compilers, run on the emulators and compared, as far as the batch's [`Sample`] has
//!    them:
//!    [`judge_all`];
//! 3. testbeds that fail everything are left out: [`always_failing`];
//! 4. the [`vote`] says who is wrong;
//! 5. what is a known fault gets its name: [`Observation::fault`];
//! 6. it is compared with the same program in other orders of its statements:
//!    [`Campaign::compare_schedules`].
//!
//! Then the batch goes to the [store](super::store), and each verdict to the [reducer](super::reduce): both
//! are called by the [`workers`](super::workers).

use super::corpus::{self, Candidate, Place};
use super::features;
use super::feedback::{Feedback, Learned, Made};
use super::judge::batch::{Broken, Overseer, Part, Table, judge_all};
use super::judge::case::{Case, Input, has_groups, operations};
use super::judge::health::{Health, always_failing, works};
use super::judge::outcome::{Kind, Outcome};
use super::judge::probe::{Named, takes_flags, try_testbeds};
use super::judge::vote::{Culprit, Verdict, vote};
use super::known::feature::Feature;
use super::known::{Fault, Observation, faults};
use super::reduce::target::{Target, outcomes};
use super::reduce::triage::early;
use super::sampling::{Sample, Sampling, batch};
use super::settings::Settings;
use super::store::{BatchRecord, ProgramRecord, Store, StoreError};
use super::testbed::ask::{Asks, Passes};
use super::testbed::compiler::{Family, Limits};
use super::testbed::emulator::Emulator;
use super::testbed::{Component, TestbedId, Testbeds};
use rvv_ir::c::{float_needs, sets_frm};
use rvv_ir::tidy::nodes;
use rvv_ir::{Expected, Node, Program};
use rvv_oracle::{Options, VlChoice, evaluate};
use rvvgen::{GenerateError, Generated, Lengths, Plan, Reschedule, Scheduler, Sizes, Weights, generate};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Places in which a batch is run on other data sets.
const INPUT_PLACES: usize = 2;

/// A campaign's programs and testbeds.
pub struct Campaign {
    seed: u64,
    sampling: Sampling,
    /// Programs in a batch.
    batch: u64,
    /// Data sets more for each program.
    inputs: u32,
    /// One program in so many may have one of these.
    triggers: (u32, Vec<&'static Feature>),
    /// Verdicts on known faults get their names.
    recognise: bool,
    plan: Plan,
    weights: Vec<Weights>,
    schedulers: Vec<Scheduler>,
    base: rvvgen::Settings,
    /// Where programs are built and run.
    pub testbeds: Testbeds,
    /// What compilers may use.
    pub limits: Limits,
    health: Health,
    /// Whether a compiler knows the flags of a build, of those that were tried.
    known_flags: Mutex<BTreeMap<usize, bool>>,
    /// Where programs come from that are not new ones.
    feedback: Option<Feedback>,
    activity: Activity,
}

/// What is at work, for the status line.
#[derive(Default)]
struct Activity {
    builds: AtomicU64,
    doing: Mutex<Option<String>>,
}

/// A program, and the state in which it was written.
struct Written {
    case: Case,
    /// Statements were taken out: its other schedules may have lost others.
    mended: bool,
    /// Where it comes from, if it was made of another.
    origin: Option<Candidate>,
}

impl Written {
    /// A program of the plan.
    fn new(case: Case, mended: bool) -> Written {
        Written { case, mended, origin: None }
    }
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
            len: settings.len.map_or(Lengths::Strips, Lengths::Range),
            vlens,
            selection: selection.clone(),
            ..rvvgen::Settings::default()
        };
        let ops = settings.ops.unwrap_or(Sizes::OPERATIONS);
        let plan = Plan::new(settings.seed, &selection, ops, base.smallest_vlen());
        if plan.is_empty() {
            return Err(GenerateError::NothingSelected(base.smallest_vlen()).to_string());
        }
        let (weights, schedulers) = (settings.weights()?, settings.schedulers()?);
        if weights.is_empty() || schedulers.is_empty() {
            return Err("a campaign needs a policy and a schedule".to_string());
        }
        let limits = settings.limits();
        let Settings { seed, sampling, batch, inputs, explore, .. } = *settings;
        let (health, activity) = (Health::default(), Activity::default());
        let is_here = |f: &&Fault| testbeds.builds.iter().any(|b| f.is_of(&b.compiler));
        let triggers = faults().iter().filter(is_here).filter_map(|f| f.trigger.as_ref()).collect();
        Ok(Campaign {
            seed,
            sampling,
            batch,
            inputs,
            triggers: (settings.triggers, triggers),
            recognise: true,
            plan,
            weights,
            schedulers,
            base,
            testbeds,
            limits,
            health,
            known_flags: Mutex::default(),
            feedback: Feedback::new(seed, explore, settings.target()?),
            activity,
        })
    }

    /// The same, with verdicts that nobody compares with the list of known faults: that may be done later.
    #[must_use]
    pub fn unrecognised(self) -> Campaign {
        Campaign { recognise: false, ..self }
    }

    /// Calls that are asked for.
    pub fn calls(&self) -> usize {
        self.plan.len()
    }

    /// The section of each call that is asked for, as [`rvv_intrinsics::Intrinsic::section`].
    pub fn sections(&self) -> Vec<u8> {
        let programs = (0..self.plan.round() as u64).filter_map(|k| self.plan.program(k));
        programs.flatten().flat_map(|region| region.choices).map(|c| c.intrinsic.section).collect()
    }

    /// Programs after which all have been made once.
    pub fn round(&self) -> u64 {
        self.plan.round() as u64
    }

    /// The numbers of program `k` of the plan, in each of the schedules in which it is run.
    pub fn numbers(&self, k: u64) -> Vec<u64> {
        let of = self.schedulers.len();
        let number = |schedule: usize| k.saturating_mul(of as u64).saturating_add(schedule as u64);
        self.sampling.schedules(self.seed, k, of).into_iter().map(number).collect()
    }

    /// Goes on with the programs that a campaign has kept.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn restore(&self, store: &Store) -> Result<(), StoreError> {
        if let Some(feedback) = &self.feedback {
            feedback.restore(store.corpus(corpus::Limits::default())?);
        }
        Ok(())
    }

    /// How many programs are kept for that, and how many features have been seen.
    pub fn kept(&self) -> Option<(usize, usize)> {
        self.feedback.as_ref().map(Feedback::sizes)
    }

    /// Keeps those of a batch's programs that add to what has been seen, and hands the batch on with what is to
    /// be stored of that. Batches are handed on in the order in which they were learned from, so that the store
    /// never goes back; and who makes them learns before the next one, so that one worker does the same again.
    pub fn learn<T>(&self, mut batch: BatchRecord, hand_on: impl FnOnce(BatchRecord) -> T) -> T {
        let Some(feedback) = &self.feedback else { return hand_on(batch) };
        let programs = std::mem::take(&mut batch.seen);
        feedback.learn(&programs, |corpus| hand_on(BatchRecord { corpus, ..batch }))
    }

    /// What program `k` of the plan is made of, unless it is a new one.
    fn made(&self, k: u64) -> Option<Made> {
        let feedback = self.feedback.as_ref()?;
        let mut settings = self.base.clone();
        settings.vls = vec![VlChoice::Max];
        if self.testbeds.places().iter().any(|(_, vl)| *vl == VlChoice::Half) {
            settings.vls.push(VlChoice::Half);
        }
        feedback.mutant(k, &settings)
    }

    /// A mutant as program `number`, in the order of its schedule; `None` if it has no meaning there.
    fn write_made(&self, number: u64, made: &Made) -> Option<Written> {
        let schedules = self.schedulers.len() as u64;
        let mut program = made.program.clone();
        program.reschedule(self.schedulers[(number % schedules) as usize], number / schedules);
        let case = self.case(number, program).ok()?;
        let mut written = self.spared(number, Written::new(case, true)).ok()?;
        let touched = moved(&made.origin.touched, &made.program, &written.case.program);
        written.origin = Some(Candidate { touched, ..made.origin.clone() });
        Some(written)
    }

    /// Program `number`, most of them without what triggers known faults.
    fn write(&self, number: u64) -> Result<Written, String> {
        self.spared(number, self.write_any(number)?)
    }

    /// The program, most of the time without what triggers known faults.
    fn spared(&self, number: u64, written: Written) -> Result<Written, String> {
        let (one_in, triggers) = &self.triggers;
        if Sampling::one_in(self.seed, self.plan_number(number), *one_in) {
            return Ok(written);
        }
        let Some(program) = self.without(&written.case.program, triggers) else { return Ok(written) };
        Ok(Written { case: self.case(number, program)?, mended: true, ..written })
    }

    /// The program without these; `None` if it has none of them, or if nothing is left without them.
    fn without(&self, program: &Program, triggers: &[&Feature]) -> Option<Program> {
        let mut places = self.testbeds.places();
        if has_groups(program) {
            places.retain(|(_, vl)| *vl == VlChoice::Max);
        }
        let mut rest: Option<Program> = None;
        for trigger in triggers {
            let program = rest.as_ref().unwrap_or(program);
            if !trigger.places(program).is_empty() {
                rest = Some(trigger.without(program, &places)?);
            }
        }
        rest
    }

    /// Whether a program has what triggers a known fault of one of the compilers.
    fn has_trigger(&self, program: &Program) -> bool {
        self.triggers.1.iter().any(|trigger| !trigger.places(program).is_empty())
    }

    /// Program `number`: each one of the plan has a number for each schedule.
    fn write_any(&self, number: u64) -> Result<Written, String> {
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
            return Ok(Written::new(Case::known(number, program, expected), repairs > 0));
        }
        for place in self.testbeds.places().into_iter().filter(|(_, vl)| *vl == VlChoice::Half) {
            if let Some((_, first)) = expected.first().filter(|_| program.is_plain()) {
                // Plain C prints the same everywhere.
                let again = Expected { vlen: place.0, vl: place.1, ..first.clone() };
                expected.push((place, again));
                continue;
            }
            match evaluate(&program, &Options { vl: place.1, ..Options::new(place.0) }) {
                Ok(prints) => expected.push((place, prints)),
                Err(_) => {
                    // It has no meaning with vl halved: written again, so that it has.
                    settings.vls = vec![VlChoice::Max, VlChoice::Half];
                    let generated = generate(&self.plan, k, &settings).map_err(|e| e.to_string())?;
                    return Ok(Written::new(self.case(number, generated.program)?, true));
                }
            }
        }
        Ok(Written::new(Case::known(number, program, expected), repairs > 0))
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

    /// Whether a build has flags that its compiler does not know; then it is not asked again. Tried when it
    /// is its turn for the first time.
    fn is_unknown(&self, component: Component) -> bool {
        let Component::Build(b) = component else { return false };
        let build = &self.testbeds.builds[b];
        if !build.rotated {
            return false;
        }
        // Another worker waits until it is known.
        let mut known = self.known_flags.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *known.entry(b).or_insert_with(|| takes_flags(build, &self.limits));
        if !known {
            self.health.drop_at_first(component);
        }
        !known
    }

    /// The builds and runs that worked at first and were dropped on the way.
    pub fn stopped(&self) -> Vec<String> {
        self.health.stopped().into_iter().map(|c| self.testbeds.component_name(c)).collect()
    }

    /// How many translation units were built, and what was begun last.
    pub fn activity(&self) -> (u64, Option<String>) {
        let doing = self.activity.doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.activity.builds.load(Ordering::Relaxed), doing)
    }

    fn does(&self, what: String) {
        *self.activity.doing.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
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

    /// Goes without the compilers at these places of the settings: this machine lacks them.
    pub fn go_without(&self, compilers: &[usize]) {
        for (b, compiler) in self.compilers().into_iter().enumerate() {
            if compilers.contains(&compiler) {
                self.health.drop_at_first(Component::Build(b));
            }
        }
    }

    /// Whether this machine has the compiler of a testbed.
    pub fn has_testbeds_of(&self, testbed: Option<&usize>) -> bool {
        let build = testbed.and_then(|t| TestbedId::from_number(*t, self.testbeds.runs.len()));
        build.is_none_or(|id| !self.health.is_dropped(Component::Build(id.build)))
    }

    /// The place in the settings of each build's compiler: they come one after the other.
    fn compilers(&self) -> Vec<usize> {
        let builds = &self.testbeds.builds;
        let is_next = |b: usize| b > 0 && builds[b].compiler != builds[b - 1].compiler;
        (0..builds.len())
            .scan(0, |place, b| {
                *place += usize::from(is_next(b));
                Some(*place)
            })
            .collect()
    }

    /// Does a batch of programs of the plan; `None` if `end` came before.
    pub fn batch(&self, first: u64, count: u64, end: Option<Instant>) -> Option<BatchRecord> {
        self.share(first, count, None, end)
    }

    /// The same, with only these compilers, by their places in the settings, and the direct lowering, which
    /// the vote needs.
    pub fn share(
        &self,
        first: u64,
        count: u64,
        rest: Option<&[usize]>,
        end: Option<Instant>,
    ) -> Option<BatchRecord> {
        let begin = Instant::now();
        let mut record =
            BatchRecord { first, count, rest: rest.map(<[usize]>::to_vec), ..BatchRecord::default() };
        // What changes the rounding mode is built apart, and for gcc what the bits of NaNs matter to: the
        // others are compiled as users compile, without FENV_ACCESS, -frounding-math and -fsignaling-nans.
        // Plain C gets other flags. Not in small batches, where a unit more costs more than it shows.
        let whole = batch(first, self.batch);
        let gcc = whole.end - whole.start >= 16
            && self.testbeds.builds.iter().any(|b| b.compiler.family == Family::Gcc);
        let (mut plain, mut nans, mut rounding, mut loops) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let made = |k: u64| {
            let made = self.made(k);
            let one = |number| {
                made.as_ref().and_then(|m| self.write_made(number, m)).map_or_else(|| self.write(number), Ok)
            };
            self.numbers(k).into_iter().map(|number| (number, one(number))).collect::<Vec<_>>()
        };
        for (number, written) in (first..first.saturating_add(count)).flat_map(made) {
            match written {
                Ok(written) if written.case.program.is_plain() => loops.push(written),
                Ok(written) if sets_frm(&written.case.program) => rounding.push(written),
                Ok(written) if gcc && float_needs(&written.case.program).nans => nans.push(written),
                Ok(written) => plain.push(written),
                Err(why) => record.programs.push(ProgramRecord {
                    number,
                    outcomes: vec![None; self.testbeds.len()],
                    ir: None,
                    verdicts: vec![Verdict::new(Culprit::Generator, Kind::BuildFailure, why)],
                }),
            }
        }
        let mut sample = self.sampling.sample(self.seed, whole.start, &self.testbeds);
        if let Some(rest) = rest {
            let compilers = self.compilers();
            let is_direct = |b: usize| self.testbeds.builds[b].compiler.family == Family::Direct;
            sample.keep_builds(|b| rest.contains(&compilers[b]) || is_direct(b));
        }
        let places = self.places_of_inputs(whole.start, &sample);
        for mut written in [plain, nans, rounding, loops] {
            // With vl halved, those with element groups are not judged: nothing comes after them.
            written.sort_by_key(|w: &Written| (w.case.has_groups(), w.case.number));
            for one in &mut written {
                let case = std::mem::replace(&mut one.case, Case::known(0, Program::default(), Vec::new()));
                one.case = case.with_inputs(self.inputs as usize, &places);
            }
            self.judge(&written, &sample, &mut record, end)?;
        }
        record.programs.sort_by_key(|p| p.number);
        record.seconds = begin.elapsed().as_secs_f64();
        Some(record)
    }

    /// Where other data sets are run: two of the places of the sample, on `rvvsim`. A program stays loaded
    /// there, so more places would cost more than more data.
    fn places_of_inputs(&self, first: u64, sample: &Sample) -> Vec<(u32, VlChoice)> {
        let mut places = Vec::new();
        for (r, run) in self.testbeds.runs.iter().enumerate() {
            let place = (run.setup.vlen, run.setup.vl);
            if run.emulator == Emulator::Rvvsim && sample.has(Component::Run(r)) && !places.contains(&place) {
                places.push(place);
            }
        }
        let turn = first / self.batch.max(1) % places.len().max(1) as u64;
        places.rotate_left(turn as usize);
        places.truncate(INPUT_PLACES);
        places
    }

    fn judge(
        &self,
        written: &[Written],
        sample: &Sample,
        record: &mut BatchRecord,
        end: Option<Instant>,
    ) -> Option<()> {
        if written.is_empty() {
            return Some(());
        }
        let mut cases: Vec<Case> = written.iter().map(|w| w.case.clone()).collect();
        let (mut table, tried, mut learned) = self.outcomes(&cases, sample, record, end)?;
        record.checks += tried.iter().map(|t| operations(&cases[t.case].program)).sum::<u64>();
        take_failing_inputs(&self.testbeds, &mut cases, &mut table, &tried);
        let judged = |o: &Option<Outcome>| o.as_ref().is_some_and(|o| o.kind() != Kind::Unsupported);
        let mut pairs: BTreeSet<(u64, usize)> = BTreeSet::new();
        let mut programs: Vec<ProgramRecord> = Vec::new();
        for (case, outcomes) in cases.iter().zip(table) {
            let operations = operations(&case.program);
            record.operations += operations;
            record.checks += operations * outcomes.iter().filter(|o| judged(o)).count() as u64;
            if outcomes.iter().any(judged) {
                for call in case.program.calls() {
                    if self.base.selection.wants(call.intrinsic, call.overloaded) {
                        record.calls.push((&call.intrinsic.name, call.overloaded, case.number));
                    }
                }
            }
            let built =
                |b: &usize| self.counts(*b) && outcomes[self.testbeds.of_build(*b)].iter().any(judged);
            let builds = (0..self.testbeds.builds.len()).filter(built);
            pairs.extend(builds.map(|b| (self.plan_number(case.number), b)));
            let mut verdicts = vote(&self.testbeds, &outcomes);
            for verdict in &mut verdicts {
                verdict.early = Some(early(&self.testbeds, verdict, &case.program));
                if self.recognise {
                    verdict.fault = self.fault(verdict, &case.program, end);
                }
            }
            record.triggers += u64::from(self.has_trigger(&case.program));
            programs.push(ProgramRecord { number: case.number, outcomes, ir: None, verdicts });
        }
        record.pairs += pairs.len() as u64;
        self.compare_schedules(written, &mut programs);
        for (i, (program, case)) in programs.iter_mut().zip(&cases).enumerate() {
            // What follows from its number alone is not kept.
            if !program.verdicts.is_empty() || written[i].origin.is_some() {
                program.ir = Some(case.program.to_string());
            }
            if let Some(feedback) = self.feedback.as_ref().filter(|_| program.verdicts.is_empty()) {
                let origin = written[i].origin.clone().unwrap_or_default();
                let ir = written[i].case.program.to_string();
                let candidate = Candidate { number: case.number, ir, ..origin };
                record.seen.push(feedback.weigh(candidate, &learned.take(i)));
            }
        }
        record.programs.extend(programs);
        Some(())
    }

    /// The known fault that a verdict is, if it is one; that may take another build or two.
    pub fn fault(&self, verdict: &Verdict, program: &Program, end: Option<Instant>) -> Option<String> {
        let limits = Limits { until: end, ..self.limits };
        let seen = Observation::new(&self.testbeds, verdict, program)?;
        seen.fault(&mut |fault, changed| {
            let flags = fault.gone.as_ref().map_or(&[][..], |probe| &probe.flags);
            self.passes_within(verdict, changed, flags, &limits)
        })
    }

    /// Whether a program passes where a verdict says that another does not.
    pub fn passes(&self, verdict: &Verdict, program: &Program) -> bool {
        self.passes_within(verdict, program, &[], &self.limits)
    }

    /// The same with more flags.
    fn passes_within(&self, verdict: &Verdict, program: &Program, flags: &[String], limits: &Limits) -> bool {
        let Some(mut target) = Target::of_verdict(&self.testbeds, verdict, limits) else { return false };
        target.build.flags.extend_from_slice(flags);
        let place = (target.run.setup.vlen, target.run.setup.vl);
        let Ok(case) = Case::new(0, program.clone(), &[place]) else { return false };
        outcomes(&target.build, &target.run, &[case], limits).pop().flatten() == Some(Outcome::Pass)
    }

    /// The program of the plan that a program is, in one of its schedules.
    fn plan_number(&self, number: u64) -> u64 {
        number / self.schedulers.len() as u64
    }

    /// Whether a build is counted in pairs of program and build: the direct lowering costs nothing and finds
    /// no bug of a compiler, so it is counted only where there is nothing else.
    fn counts(&self, build: usize) -> bool {
        let direct = |b: &super::testbed::Build| b.compiler.family == Family::Direct;
        !direct(&self.testbeds.builds[build]) || self.testbeds.builds.iter().all(direct)
    }

    /// The same program in another order must print the same; a fault that comes and goes with it has that
    /// axis.
    fn compare_schedules(&self, written: &[Written], programs: &mut [ProgramRecord]) {
        let k = |i: usize| self.plan_number(written[i].case.number);
        for i in 0..written.len() {
            let others: Vec<usize> = (0..written.len()).filter(|&j| j != i && k(j) == k(i)).collect();
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
        // What was said of a program is not said again of the same program in another order.
        for i in 1..programs.len() {
            let (before, this) = programs.split_at_mut(i);
            let same = before.iter().filter(|p| self.plan_number(p.number) == k(i));
            let told: Vec<&Verdict> = same.flat_map(|p| &p.verdicts).collect();
            this[0].verdicts.retain(|v| !told.iter().any(|t| t.is_same(v)));
        }
    }

    /// Outcomes on the testbeds of the sample that work.
    fn outcomes(
        &self,
        cases: &[Case],
        sample: &Sample,
        record: &mut BatchRecord,
        end: Option<Instant>,
    ) -> Option<(Table, Vec<Tried>, Learned)> {
        let limits = Limits { until: end, ..self.limits };
        let (tried, learned) = (Vec::new(), Learned::default());
        let mut clerk = Clerk { campaign: self, record, sample, limits, tried, learned };
        let mut table = judge_all(&self.testbeds, cases, &limits, &mut clerk)?;
        let Clerk { tried, learned, .. } = clerk;
        for (component, broken) in always_failing(&self.testbeds, &mut table) {
            self.drop(component, broken, record);
        }
        Some((table, tried, learned))
    }
}

/// Where the statements at these places of a program are in another, which has the same in another order.
fn moved(places: &[Place], from: &Program, to: &Program) -> Vec<Place> {
    let all = nodes(to);
    let now = |stmt| all.iter().find(|n| n.find(to) == Some(stmt)).map(Place::from);
    places.iter().filter_map(|p| Node::from(p).find(from)).filter_map(now).collect()
}

/// What became of a case with one of its other data sets.
struct Tried {
    case: usize,
    input: usize,
    testbed: TestbedId,
    outcome: Outcome,
}

/// A program that passes everywhere and fails with other data becomes the program with those data: its
/// outcomes are the ones with them, and nothing else is known of it.
fn take_failing_inputs(testbeds: &Testbeds, cases: &mut [Case], table: &mut Table, tried: &[Tried]) {
    let fails = |o: &Outcome| !matches!(o, Outcome::Pass | Outcome::Unsupported(_));
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for found in tried.iter().filter(|t| fails(&t.outcome)) {
        let row = &mut table[found.case];
        if done.contains(&found.case) || row.iter().flatten().any(fails) {
            continue;
        }
        let input = cases[found.case].inputs.get_mut(found.input).and_then(Option::take);
        let Some(Input { program, expected, .. }) = input else { continue };
        done.insert(found.case);
        row.fill(None);
        for t in tried.iter().filter(|t| (t.case, t.input) == (found.case, found.input)) {
            row[testbeds.number(t.testbed)] = Some(t.outcome.clone());
        }
        let place = (expected.vlen, expected.vl);
        cases[found.case] = Case::known(cases[found.case].number, program, vec![(place, expected)]);
    }
}

/// Takes times, and goes without what was dropped or is not in the sample.
struct Clerk<'a> {
    campaign: &'a Campaign,
    record: &'a mut BatchRecord,
    sample: &'a Sample,
    limits: Limits,
    tried: Vec<Tried>,
    learned: Learned,
}

impl Overseer for Clerk<'_> {
    fn ends(&mut self) -> bool {
        self.limits.is_over()
    }

    fn skips(&mut self, component: Component) -> bool {
        !self.sample.has(component)
            || self.campaign.health.is_dropped(component)
            || self.campaign.is_unknown(component)
    }

    fn builds(&mut self, build: usize, programs: usize) {
        let name = self.campaign.testbeds.builds[build].name();
        self.campaign.does(format!("{programs} programs with {name}"));
    }

    fn built(&mut self, build: usize, time: Duration) {
        self.campaign.activity.builds.fetch_add(1, Ordering::Relaxed);
        self.record.timings.push((build, None, time.as_secs_f64()));
    }

    fn made(&mut self, build: usize, parts: &[Part], cases: &[Case]) {
        let Campaign { testbeds, feedback, batch, .. } = self.campaign;
        let (Some(feedback), number) = (feedback, build) else { return };
        let build = &testbeds.builds[number];
        if build.compiler.family == Family::Direct {
            return;
        }
        let turn = self.record.first / (*batch).max(1);
        let asked = feedback.asks() && features::asked(turn, testbeds.builds.len()).any(|b| b == number);
        for part in parts {
            let Ok(elf) = &part.elf else { continue };
            let programs: Vec<&Program> = part.cases.iter().map(|&i| &cases[i].program).collect();
            self.learned.note(&part.cases, features::of_elf(elf, &programs, features::scope(build)));
            if asked {
                // A compiler that fails when it is asked has said nothing.
                let asks = Asks { records: true, passes: Passes::Some };
                let said = features::of_build(build, &programs, asks, &self.limits);
                self.learned.note(&part.cases, said.unwrap_or_default());
            }
        }
    }

    fn ran(&mut self, testbed: TestbedId, time: Duration) {
        self.record.timings.push((testbed.build, Some(testbed.run), time.as_secs_f64()));
    }

    fn tried_input(&mut self, case: usize, input: usize, testbed: TestbedId, outcome: Outcome) {
        self.tried.push(Tried { case, input, testbed, outcome });
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

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_ir::Mismatch;

    #[test]
    fn a_program_that_fails_with_other_data_is_judged_with_those_data() {
        let settings = Settings::default();
        let testbeds = settings.testbeds().unwrap();
        let campaign = Campaign::new(&settings).unwrap();
        let place = (128, VlChoice::Max);
        let written = (0..20).map(|k| campaign.program(k).unwrap().with_inputs(2, &[place]));
        let case = written.into_iter().find(|c| c.inputs.iter().all(Option::is_some)).unwrap();
        let other = case.inputs[1].as_ref().unwrap().program.clone();
        let wrong = Outcome::WrongOutput(Mismatch { buffer: 0, element: 0 });
        let at = |run: usize| TestbedId { build: 0, run };
        let tried =
            |input, outcome: &Outcome| Tried { case: 0, input, testbed: at(1), outcome: outcome.clone() };
        let outcomes = [tried(0, &Outcome::Pass), tried(1, &wrong)];
        // It passes with its own data: what is known then is what it did with the others.
        let mut cases = vec![case.clone()];
        let mut table = vec![vec![Some(Outcome::Pass); testbeds.len()]];
        take_failing_inputs(&testbeds, &mut cases, &mut table, &outcomes);
        assert_eq!((&cases[0].program, cases[0].number), (&other, case.number));
        assert_ne!(other, case.program);
        let known: Vec<_> = table[0].iter().enumerate().filter(|(_, o)| o.is_some()).collect();
        assert_eq!(known, [(testbeds.number(at(1)), &Some(wrong.clone()))]);
        // It fails with its own data: that is enough.
        let mut cases = vec![case.clone()];
        let mut table = vec![vec![Some(Outcome::Pass); testbeds.len()]];
        table[0][3] = Some(wrong);
        let before = table.clone();
        take_failing_inputs(&testbeds, &mut cases, &mut table, &outcomes);
        assert_eq!((&cases[0].program, &table), (&case.program, &before));
    }
}
