//! Verdicts that wait to be reduced, and in which order.

use crate::programs::campaign::Campaign;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::Kind;
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::store::Reduction;
use crate::programs::testbed::Testbeds;
use rvv_ir::Program;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Reduces the program of a verdict and writes its report.
pub trait Reduce: Sync {
    /// Reduces; `None` if it could not, and then it is asked again when the campaign is resumed. `stop` says
    /// that the user wants an end soon; at `end` it must have ended.
    fn reduce(
        &self,
        case: &Case,
        verdict: &Verdict,
        testbeds: &Testbeds,
        stop: &AtomicBool,
        end: Option<Instant>,
    ) -> Option<Reduction>;

    /// Finds the pass at fault, and the versions that have it, of a program that is reduced.
    fn bisect(
        &self,
        _reduced: &Program,
        _verdict: &Verdict,
        _testbeds: &Testbeds,
        _stop: &AtomicBool,
        _end: Option<Instant>,
    ) -> Bisection {
        Bisection::Gone
    }
}

/// What came of looking for the pass at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bisection {
    /// There was no time.
    Late,
    /// The fault does not show here.
    Gone,
    /// The report with all that was found.
    Report(String),
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treated {
    /// It was to be reduced.
    Reduced(Option<Reduction>),
    /// It was to be bisected.
    Bisected(Bisection),
}

/// A verdict that waits to be reduced, or to be bisected.
pub struct Job {
    /// Its number in the store.
    pub id: i64,
    /// The number of its program.
    pub number: u64,
    /// The program.
    pub ir: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reduced program, if the pass at fault is to be found.
    pub reduced: Option<String>,
}

/// Whose fault, what is seen, and what can be guessed of its cause before it is small.
type Suspicion = (Culprit, Kind, Option<String>);

fn suspicion(job: &Job) -> Suspicion {
    let Verdict { culprit, symptom, early, .. } = &job.verdict;
    (culprit.clone(), *symptom, early.clone())
}

/// When the reducer may work.
pub struct Pacing<'a> {
    /// The user wants an end soon.
    pub stop: &'a AtomicBool,
    /// When everything must have ended.
    pub end: Option<Instant>,
    /// Set while something is reduced.
    pub reducing: &'a AtomicBool,
    /// What comes while this holds is not reduced.
    pub idle: &'a dyn Fn() -> bool,
    /// Whether another may begin, after so much time was spent on reductions.
    pub may: &'a dyn Fn(Duration) -> bool,
}

/// Reduces and bisects what comes, until nobody can send any more or `done` says that nobody listens: of each
/// kind of fault, the first comes before another's second. In between, what is reduced is bisected.
pub fn reduce_each(
    campaign: &Campaign,
    reducer: &dyn Reduce,
    jobs: &Receiver<Job>,
    pacing: &Pacing<'_>,
    done: &dyn Fn(Job, Treated) -> bool,
) {
    let mut waiting: Vec<(Job, Suspicion)> = Vec::new();
    let mut reduced: HashMap<Suspicion, usize> = HashMap::new();
    let mut spent = Duration::ZERO;
    let suspected = |job: Job| {
        let suspicion = suspicion(&job);
        (job, suspicion)
    };
    loop {
        if waiting.is_empty() {
            match jobs.recv() {
                Ok(job) => waiting.push(suspected(job)),
                Err(_) => return,
            }
        }
        waiting.extend(jobs.try_iter().map(suspected));
        if !(pacing.idle)() && !(pacing.may)(spent) {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        // Crashes say at once where they are, and are soon small.
        let first = |i: &usize| {
            let (job, suspicion) = &waiting[*i];
            let times = match job.reduced {
                Some(_) => 1,
                None => 2 * reduced.get(suspicion).copied().unwrap_or(0),
            };
            (times, job.verdict.symptom == Kind::WrongOutput, *i)
        };
        let Some(next) = (0..waiting.len()).min_by_key(first) else { continue };
        let (job, suspicion) = waiting.remove(next);
        if job.reduced.is_none() {
            *reduced.entry(suspicion).or_default() += 1;
        }
        let begin = Instant::now();
        let mut worked = match job.reduced {
            Some(_) => Treated::Bisected(Bisection::Late),
            None => Treated::Reduced(None),
        };
        if !(pacing.idle)() {
            pacing.reducing.store(true, Ordering::Relaxed);
            // A panic of ours is no end of the campaign: the verdict stays as it is.
            worked =
                catch_unwind(AssertUnwindSafe(|| attempt(campaign, reducer, &job, pacing))).unwrap_or(worked);
            pacing.reducing.store(false, Ordering::Relaxed);
        }
        spent += begin.elapsed();
        if !done(job, worked) {
            return;
        }
    }
}

fn attempt(campaign: &Campaign, reducer: &dyn Reduce, job: &Job, pacing: &Pacing<'_>) -> Treated {
    let (testbeds, stop, end) = (&campaign.testbeds, pacing.stop, pacing.end);
    if let Some(reduced) = &job.reduced {
        let found = reduced.parse().map(|p| reducer.bisect(&p, &job.verdict, testbeds, stop, end));
        return Treated::Bisected(found.unwrap_or(Bisection::Gone));
    }
    let case = job.ir.parse().ok().and_then(|program| campaign.case(job.number, program).ok());
    Treated::Reduced(case.and_then(|case| reducer.reduce(&case, &job.verdict, testbeds, stop, end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::Settings;
    use std::cell::RefCell;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;

    struct Count(AtomicU64);

    impl Reduce for Count {
        fn reduce(
            &self,
            _: &Case,
            _: &Verdict,
            _: &Testbeds,
            _: &AtomicBool,
            _: Option<Instant>,
        ) -> Option<Reduction> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Some(Reduction::default())
        }
    }

    #[test]
    fn when_the_time_is_up_what_waits_is_left_for_another_time() {
        let campaign = Campaign::new(&Settings::default()).unwrap();
        let ir = campaign.program(0).unwrap().program.to_string();
        let (to_reducer, jobs) = channel();
        for id in 0..5 {
            let verdict = Verdict::new(Culprit::Generator, Kind::WrongOutput, String::new());
            let verdict = Verdict { testbeds: vec![0], ..verdict };
            to_reducer.send(Job { id, number: 0, ir: ir.clone(), verdict, reduced: None }).unwrap();
        }
        drop(to_reducer);
        let reducer = Count(AtomicU64::new(0));
        let is_late = || reducer.0.load(Ordering::Relaxed) >= 2;
        let found = RefCell::new(Vec::new());
        let done = |_, worked: Treated| {
            found.borrow_mut().push(worked != Treated::Reduced(None));
            true
        };
        let (stop, reducing) = (AtomicBool::new(false), AtomicBool::new(false));
        let pacing = Pacing { stop: &stop, end: None, reducing: &reducing, idle: &is_late, may: &|_| true };
        reduce_each(&campaign, &reducer, &jobs, &pacing, &done);
        assert_eq!(*found.borrow(), [true, true, false, false, false]);
    }
}
