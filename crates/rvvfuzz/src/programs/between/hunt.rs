//! The search for programs that two builds compile to different code.

use super::difference::{Difference, Kind, differences};
use super::journal::{Example, Group, Journal, Reduced, Subject};
use crate::programs::campaign::Campaign;
use crate::programs::features::code::{Code, Function, Owners};
use crate::programs::judge::batch::{Part, build};
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::{Kind as Symptom, Outcome};
use crate::programs::judge::vote::vote;
use crate::programs::reduce::search::reduce_by;
use crate::programs::reduce::simplify::STEPS;
use crate::programs::reduce::target::site;
use crate::programs::settings::Settings;
use crate::programs::testbed::compiler::Limits;
use crate::programs::testbed::{Build, TestbedId};
use rvv_ir::Program;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Two builds, by their places among those of the campaign.
pub type Pair = [usize; 2];

/// What is compared, and with which programs.
pub struct Hunt {
    /// Programs, builds, and the emulator that they run on.
    pub campaign: Campaign,
    /// What is compared.
    pub pairs: Vec<Pair>,
    /// What decides all that.
    pub subject: Subject,
    batch: u64,
}

/// How long, and with how much.
pub struct Options {
    /// Worker threads.
    pub jobs: usize,
    /// Batches and reductions are begun for so long.
    pub time: Duration,
    /// Programs that are compared, at most.
    pub count: Option<u64>,
    /// Time for one reduction.
    pub reduce: Duration,
}

/// What one build made of a program.
#[derive(Default)]
struct Compiled {
    /// Its functions, if it was built.
    functions: Option<Vec<Function>>,
    /// Why not; one that lacks something is not asked.
    refused: Option<Outcome>,
    /// What it did on each run.
    outcomes: Vec<Option<Outcome>>,
}

/// What was found in a batch.
struct Batch {
    programs: u64,
    /// The programs that differ.
    found: Vec<(Vec<Difference>, Example)>,
}

/// What a program does with the two builds of a pair, on one run after the other.
pub type Outcomes = [Vec<Option<Outcome>>; 2];

impl Hunt {
    /// A comparison of these builds: each a compiler, by its name, and flags.
    ///
    /// # Errors
    /// What makes no sense in the settings.
    pub fn new(settings: &Settings, pairs: &[[(String, String); 2]]) -> Result<Hunt, String> {
        let campaign = Campaign::new(settings)?;
        let place = |(name, flags): &(String, String)| {
            let flags: Vec<&str> = flags.split_whitespace().collect();
            let is_it = |b: &Build| b.compiler.name == *name && b.flags == flags;
            let place = campaign.testbeds.builds.iter().position(is_it);
            place.ok_or_else(|| format!("`{name}` is not among the compilers"))
        };
        let mut places = Vec::new();
        for [one, other] in pairs {
            places.push([place(one)?, place(other)?]);
        }
        let name = |b: usize| {
            let build = &campaign.testbeds.builds[b];
            format!("{} ({}) {}", build.compiler.name, build.compiler.version, build.flags.join(" "))
        };
        // Where compilers are does not decide what they do.
        let compilers = Vec::new();
        let programs = serde_json::to_string(&Settings { compilers, ..settings.clone() });
        let subject = Subject {
            pairs: places.iter().map(|pair| pair.map(name)).collect(),
            programs: programs.map_err(|e| e.to_string())?,
            version: env!("CARGO_PKG_VERSION").to_string(),
        };
        Ok(Hunt { campaign, pairs: places, subject, batch: settings.batch })
    }

    /// The builds of a pair.
    pub fn builds(&self, pair: usize) -> [&Build; 2] {
        self.pairs[pair].map(|b| &self.campaign.testbeds.builds[b])
    }

    /// What a build made of programs, and what they do, if they are to be run.
    fn compile(
        &self,
        b: usize,
        cases: &[Case],
        runs: bool,
        limits: &Limits,
    ) -> Result<Vec<Compiled>, String> {
        let with = &self.campaign.testbeds.builds[b];
        let mut all: Vec<Compiled> = cases.iter().map(|_| Compiled::default()).collect();
        for part in build(with, cases, limits).map_err(|e| e.to_string())? {
            match &part.elf {
                Err(outcome) => {
                    part.cases.iter().for_each(|&i| all[i].refused = Some(outcome.clone()));
                    continue;
                }
                Ok(elf) => read(elf, &part, cases, &mut all),
            }
            for on in self.campaign.testbeds.runs.iter().filter(|_| runs) {
                part.cases.iter().for_each(|&i| all[i].outcomes.push(None));
                if !with.runs_at(on.setup.vlen) {
                    continue;
                }
                for (i, outcome) in part.run(on, cases).map_err(|e| e.to_string())? {
                    if let Some(last) = all[i].outcomes.last_mut() {
                        *last = Some(outcome);
                    }
                }
            }
        }
        Ok(all)
    }

    /// How the code of programs differs between the builds of a pair, and what they do.
    ///
    /// # Errors
    /// When a compiler or the emulator does not work at all.
    pub fn compare(
        &self,
        pair: usize,
        cases: &[Case],
        runs: bool,
        limits: &Limits,
    ) -> Result<Vec<(Vec<Difference>, Outcomes)>, String> {
        let [a, b] = self.pairs[pair];
        let one = self.compile(a, cases, runs, limits)?;
        let other = self.compile(b, cases, runs, limits)?;
        let both = one.into_iter().zip(other);
        Ok(both.map(|(one, other)| (between(&one, &other), [one.outcomes, other.outcomes])).collect())
    }

    /// The known fault that a program shows with one of the builds of a pair.
    pub fn fault(
        &self,
        pair: usize,
        program: &Program,
        outcomes: &Outcomes,
        limits: &Limits,
    ) -> Option<String> {
        let testbeds = &self.campaign.testbeds;
        let mut table = vec![None; testbeds.len()];
        for (build, of) in self.pairs[pair].into_iter().zip(outcomes) {
            for (run, outcome) in of.iter().enumerate() {
                table[testbeds.number(TestbedId { build, run })] = outcome.clone();
            }
        }
        let verdicts = vote(testbeds, &table);
        verdicts.iter().find_map(|v| self.campaign.fault(v, program, limits.until))
    }

    /// The programs of a batch.
    fn cases(&self, batch: u64) -> Vec<Case> {
        let first = batch.saturating_mul(self.batch);
        let numbers = (first..first.saturating_add(self.batch))
            .filter_map(|k| self.campaign.numbers(k).first().copied());
        let mut cases: Vec<Case> = numbers.filter_map(|n| self.campaign.program(n).ok()).collect();
        // Programs of plain C are compiled with other flags.
        cases.sort_by_key(|c| (c.program.is_plain(), c.has_groups(), c.number));
        cases
    }

    /// Compares the programs of a batch: how many there are, and those that differ.
    fn batch(&self, number: u64, limits: &Limits) -> Result<Batch, String> {
        let pair = (number % self.pairs.len() as u64) as usize;
        let cases = self.cases(number);
        let plain = cases.partition_point(|c| !c.program.is_plain());
        let mut found = Vec::new();
        for some in [&cases[..plain], &cases[plain..]].into_iter().filter(|some| !some.is_empty()) {
            for (case, (mut differ, outcomes)) in some.iter().zip(self.compare(pair, some, true, limits)?) {
                if differ.is_empty() || limits.is_over() {
                    continue;
                }
                self.label(pair, &case.program, &mut differ, &outcomes, limits);
                let work = case.program.work();
                let ir = case.program.to_string();
                found.push((differ, Example { number: case.number, pair, work, ir }));
            }
        }
        Ok(Batch { programs: cases.len() as u64, found })
    }

    /// Tells results by the known fault that they are, or by what differs most in the code besides.
    fn label(
        &self,
        pair: usize,
        program: &Program,
        found: &mut [Difference],
        outcomes: &Outcomes,
        limits: &Limits,
    ) {
        let code = found.iter().find(|d| d.kind > Kind::Build).map(|d| d.what.clone());
        for difference in found.iter_mut().filter(|d| d.kind == Kind::Results) {
            let known = self.fault(pair, program, outcomes, limits);
            if let Some(label) = known.or_else(|| code.clone()) {
                difference.what += &format!("; {label}");
            }
        }
    }

    /// The smallest program that still has a difference.
    fn reduce(&self, group: &Group, time: Duration, limits: &Limits, stop: &dyn Fn() -> bool) -> Reduced {
        let runs = group.difference.kind == Kind::Results;
        let nothing =
            Reduced { work: 0, ir: String::new(), differences: Vec::new(), complete: false, more: false };
        // What is reduced further and does not show it any more stays what it is.
        let none = group.reduced.clone().map_or(nothing, |r| Reduced { more: false, ..r });
        let Ok(program) = group.smallest().parse::<Program>() else { return none };
        let observe = |candidates: &[Program]| -> Vec<Vec<Difference>> {
            let cases: Vec<Option<Case>> =
                candidates.iter().map(|p| self.campaign.case(0, p.clone()).ok()).collect();
            let (places, good): (Vec<usize>, Vec<Case>) =
                cases.into_iter().enumerate().filter_map(|(i, c)| Some((i, c?))).unzip();
            let seen = self.compare(group.example.pair, &good, runs, limits).unwrap_or_default();
            let mut all = vec![Vec::new(); candidates.len()];
            for (place, (differ, _)) in places.into_iter().zip(seen) {
                all[place] = differ;
            }
            all
        };
        let mut shows = |candidates: &[Program]| -> Vec<bool> {
            observe(candidates).iter().map(|found| group.difference.is_in(found)).collect()
        };
        // What is not built takes others of its unit with it.
        let together = if group.difference.kind == Kind::Build { 1 } else { 24 };
        let Some(reduced) = reduce_by(&program, STEPS, together, time, &mut shows, stop) else { return none };
        // A program that is small already may be written longer by a step that makes others shorter.
        let length = |p: &Program| p.to_string().len();
        let smaller = length(&reduced.program) < length(&program);
        let smallest = if reduced.program.work() <= program.work() { reduced.program } else { program };
        let differences = observe(std::slice::from_ref(&smallest)).pop().unwrap_or_default();
        Reduced {
            work: smallest.work(),
            ir: smallest.to_string(),
            differences: if differences.is_empty() { vec![group.difference.clone()] } else { differences },
            complete: reduced.complete,
            more: !reduced.complete && smaller,
        }
    }
}

/// The functions of the programs of a part, as far as they were built.
fn read(elf: &[u8], part: &Part, cases: &[Case], all: &mut [Compiled]) {
    let programs: Vec<&Program> = part.cases.iter().map(|&i| &cases[i].program).collect();
    let mut functions: Vec<Vec<Function>> = vec![Vec::new(); programs.len()];
    for function in Code::read(elf, &Owners::new(&programs)).functions {
        if let Some(of) = functions.get_mut(function.program) {
            of.push(function);
        }
    }
    for (&i, functions) in part.cases.iter().zip(functions) {
        if !part.stubs.contains(&i) && !functions.is_empty() {
            all[i].functions = Some(functions);
        }
    }
}

/// How what two builds made of a program differs, the weightiest first.
fn between(one: &Compiled, other: &Compiled) -> Vec<Difference> {
    let mut found = BTreeSet::new();
    let lacks = |c: &Compiled| matches!(c.refused, Some(Outcome::Unsupported(_)));
    if lacks(one) || lacks(other) {
        return Vec::new();
    }
    match (&one.refused, &other.refused) {
        (Some(why), None) if other.functions.is_some() => drop(found.insert(not_built(why, "first"))),
        (None, Some(why)) if one.functions.is_some() => drop(found.insert(not_built(why, "second"))),
        _ => {}
    }
    let symptom = |o: &Option<Outcome>| o.as_ref().map(Outcome::kind);
    for outcomes in one.outcomes.iter().zip(&other.outcomes) {
        let (wrong, which) = match (symptom(outcomes.0), symptom(outcomes.1)) {
            (Some(Symptom::Pass), Some(wrong)) => (wrong, "second"),
            (Some(wrong), Some(Symptom::Pass)) => (wrong, "first"),
            _ => continue,
        };
        if wrong != Symptom::Pass && !wrong.is_build() {
            found.insert(Difference::new(Kind::Results, format!("{} with the {which}", wrong.name())));
        }
    }
    if let (Some(one), Some(other)) = (&one.functions, &other.functions) {
        found.extend(differences(&one.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>()));
    }
    found.into_iter().collect()
}

fn not_built(why: &Outcome, which: &str) -> Difference {
    let site = site(why).map(|s| format!(", {s}")).unwrap_or_default();
    Difference::new(Kind::Build, format!("{} with the {which}{site}", why.kind().name()))
}

/// What a worker does next.
enum Task {
    Compare(u64),
    Reduce(Box<Group>),
    End,
}

/// What the workers share.
struct Shared<'j> {
    journal: &'j mut Journal,
    /// Batches that are done or at work.
    taken: BTreeSet<u64>,
    /// Differences of which a program is being reduced.
    at_work: BTreeSet<Difference>,
    /// It compared last, and did not reduce.
    compared: bool,
    error: Option<String>,
}

/// The share of the time after which all reduce what there is.
const COMPARING: f64 = 0.6;

impl Shared<'_> {
    /// The difference that is reduced next: the weighty ones first, then those of them that there was no time
    /// for, then of the others one of each kind in turn. The smaller the program, the sooner it is done.
    fn most_urgent(&self) -> Option<&Group> {
        let groups = || self.journal.groups.values();
        let open = groups().filter(|g| g.open().1 && !self.at_work.contains(&g.difference));
        let done = |kind: Kind| groups().filter(|g| g.difference.kind == kind && !g.open().0).count();
        open.min_by_key(|g| {
            let (kind, size, again) = (g.difference.kind, g.smallest().len(), !g.open().0);
            let turn = if kind < Kind::Vtype { 0 } else { 1 + done(kind) };
            (kind >= Kind::Vtype, again, turn, size, kind)
        })
    }

    fn next(&mut self, hunt: &Hunt, options: &Options, worker: usize, spent: Duration) -> Task {
        if self.error.is_some() || spent >= options.time {
            return Task::End;
        }
        let all = options.count.map_or(u64::MAX, |n| n.div_ceil(hunt.batch.max(1)));
        let next = (0..all).find(|n| !self.taken.contains(n));
        let first = self.most_urgent().cloned();
        let reduces = match (options.jobs, worker) {
            (1, _) => self.compared,
            (_, 0) => true,
            _ => spent.as_secs_f64() > COMPARING * options.time.as_secs_f64(),
        };
        match (first, next) {
            (Some(group), _) if reduces || next.is_none() => {
                self.at_work.insert(group.difference.clone());
                self.compared = false;
                Task::Reduce(Box::new(group))
            }
            (_, Some(number)) => {
                self.taken.insert(number);
                self.compared = true;
                Task::Compare(number)
            }
            _ => Task::End,
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Programs that were compared.
    pub programs: u64,
    /// Programs of which the code differs.
    pub differ: u64,
    /// Differences that were found.
    pub groups: usize,
    /// Differences of which a program was reduced.
    pub reduced: usize,
}

impl Progress {
    /// What is in a journal.
    pub fn of(journal: &Journal) -> Progress {
        let reduced = journal.groups.values().filter(|g| g.reduced.is_some()).count();
        let (programs, differ, groups) = (journal.programs, journal.differ, journal.groups.len());
        Progress { programs, differ, groups, reduced }
    }
}

/// Compares, and reduces what is found, until the time is up. All is in the journal at any moment.
///
/// # Errors
/// When a compiler or the emulator does not work at all, or the journal cannot be written.
pub fn run(
    hunt: &Hunt,
    journal: &mut Journal,
    options: &Options,
    stop: &AtomicBool,
    show: &(dyn Fn(Progress) + Sync),
) -> Result<(), String> {
    let begin = Instant::now();
    let limits = Limits { until: Some(begin + options.time), ..hunt.campaign.limits };
    let taken = journal.batches.clone();
    let shared = Shared { journal, taken, at_work: BTreeSet::new(), compared: false, error: None };
    let shared = Mutex::new(shared);
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let stops = || stop.load(Ordering::Relaxed);
    let work = |worker: usize| {
        while !stops() {
            // The lock is not held during the work.
            let task = lock().next(hunt, options, worker, begin.elapsed());
            let started = Instant::now();
            let reducing = match &task {
                Task::Reduce(group) => Some(group.difference.clone()),
                _ => None,
            };
            let done = match task {
                Task::End => break,
                Task::Compare(number) => hunt.batch(number, &limits).and_then(|Batch { programs, found }| {
                    // Half a batch is none: it is done again.
                    if limits.is_over() {
                        return Ok(());
                    }
                    let seconds = started.elapsed().as_secs_f64();
                    lock().journal.add(number, programs, &found, seconds)
                }),
                Task::Reduce(group) => {
                    let left = options.time.saturating_sub(begin.elapsed());
                    let reduced = hunt.reduce(&group, options.reduce.min(left), &limits, &stops);
                    // What was begun at the very end may not even have been built.
                    match reduced.ir.is_empty() && (limits.is_over() || stops()) {
                        true => Ok(()),
                        false => lock().journal.reduced(&group.difference, reduced),
                    }
                }
            };
            let mut shared = lock();
            if let Some(difference) = reducing {
                shared.at_work.remove(&difference);
            }
            if let Err(why) = done {
                shared.error.get_or_insert(why);
            }
            show(Progress::of(shared.journal));
        }
    };
    std::thread::scope(|scope| {
        for worker in 0..options.jobs.max(1) {
            let work = &work;
            scope.spawn(move || work(worker));
        }
    });
    let error = lock().error.take();
    error.map_or(Ok(()), Err)
}
