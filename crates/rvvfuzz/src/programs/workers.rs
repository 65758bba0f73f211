//! The campaign itself: workers take batches, one thread stores what they find, one reduces verdicts.

use super::book::{Book, hand};
use super::campaign::Campaign;
use super::cpu;
use super::judge::outcome::Kind;
use super::judge::vote::{Culprit, Verdict};
use super::measure::order;
use super::reduce::queue::{Job, Pacing, Reduce, Treated, reduce_each};
use super::sampling;
use super::store::lease::{Leases, Next};
use super::store::{BatchRecord, ProgramRecord, Store, StoreError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a campaign is run; nothing here changes outcomes.
pub struct Options<'a> {
    /// Workers. While a verdict is reduced, one less: that is work too.
    pub jobs: usize,
    /// How long it goes on. What is at work then has a twentieth of that to end, but no more than a minute.
    pub time: Option<Duration>,
    /// How much CPU time it may take, compilers included. What is at work then ends.
    pub cpu_time: Option<Duration>,
    /// Programs `0..count` of the plan; without end if there is none.
    pub count: Option<u64>,
    /// Programs in a batch.
    pub batch: u64,
    /// Who reduces verdicts.
    pub reducer: Option<&'a dyn Reduce>,
    /// This worker's share, if others work on the campaign, too; then the store says what is to be done, and
    /// `count` is nothing.
    pub shared: Option<&'a Mutex<Leases>>,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Programs in the store. One is counted once, whatever its schedules.
    pub total: u64,
    /// Programs of this session.
    pub programs: u64,
    /// Checks of this session.
    pub checks: u64,
    /// Distinct pairs of a program and a build that were judged in this session.
    pub pairs: u64,
    /// Programs of this session that have what triggers a known fault of their compilers.
    pub triggers: u64,
    /// Translation units that compilers have built in this session.
    pub builds: u64,
    /// What is at work: "16 programs with gcc-16 -O3".
    pub doing: Option<String>,
    /// CPU time of this session, in seconds.
    pub cpu: f64,
    /// Selected calls made.
    pub covered: usize,
    /// Selected calls.
    pub calls: usize,
    /// Verdicts in the store.
    pub verdicts: u64,
    /// Those of this session that are known faults.
    pub known: u64,
    /// Verdicts that wait to be reduced.
    pub reducing: u64,
    /// Programs that another worker did, because this one was silent for too long.
    pub lost: u64,
    /// Seconds of this session.
    pub seconds: f64,
    /// Seconds to go, if that is known.
    pub left: Option<f64>,
}

impl Progress {
    /// Distinct pairs of a program and a build for each second of CPU time, reductions included.
    pub fn pairs_per_cpu_second(&self) -> f64 {
        self.pairs as f64 / self.cpu.max(0.01)
    }
}

/// How long what is at work may go on when the time is up.
fn grace(time: Duration) -> Duration {
    (time / 20).min(Duration::from_secs(60))
}

/// At most this share of the time goes into reductions while batches are at work, after a first credit.
const SHARE: f64 = 0.25;
const CREDIT: f64 = 20.0;

/// What is worth telling at once.
pub enum Event<'a> {
    /// How far it is; often.
    Progress(&'a Progress),
    /// A testbed does not work.
    Broken(&'a str, &'a str),
    /// Something was found: its number in the store, the program's, and what.
    Verdict(i64, u64, &'a Verdict),
}

/// Why a campaign stopped early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store cannot be written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No testbed is left.
    #[error("no testbed works any more")]
    AllBroken,
}

pub(super) enum Message {
    Batch(Box<BatchRecord>),
    /// A worker has ended.
    Gone,
    /// The store does not say what is to be done.
    Failed(StoreError),
    /// What came of a verdict.
    Treated(Box<Job>, Treated),
    /// What came of a measurement, as JSON, or why nothing did.
    Measured(i64, Result<String, String>),
}

/// Ranges of programs that are not done yet.
struct Queue {
    next: u64,
    end: u64,
    batch: u64,
    done: BTreeMap<u64, u64>,
}

impl Queue {
    /// The next programs, at most so many.
    fn take(&mut self, most: u64) -> Option<(u64, u64)> {
        while let Some(count) = self.done.get(&self.next) {
            self.next += count.max(&1);
        }
        let first = self.next;
        if first >= self.end {
            return None;
        }
        // Batches end where they always do, wherever the campaign was cut before.
        let edge = sampling::batch(first, self.batch).end;
        let done = self.done.range(first..).next().map_or(u64::MAX, |(&f, _)| f);
        self.next = edge.min(done).min(self.end).min(first.saturating_add(most.max(1)));
        Some((first, self.next - first))
    }
}

/// Where workers get their programs from.
enum Source<'a> {
    /// Nobody else works on the campaign.
    Alone(Mutex<Queue>),
    /// The store divides them.
    Shared(&'a Mutex<Leases>),
}

impl Source<'_> {
    fn take(&self, most: u64, left: Option<Duration>) -> Result<Next, StoreError> {
        match self {
            Source::Alone(queue) => {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).take(most);
                Ok(next.map_or(Next::End, |(first, count)| Next::Programs(first, count)))
            }
            Source::Shared(leases) => lock(leases).take_within(most, left),
        }
    }
}

pub(super) fn lock(leases: &Mutex<Leases>) -> MutexGuard<'_, Leases> {
    leases.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How fast batches go: programs and seconds of the last one that ended.
#[derive(Default)]
struct Pace(Mutex<Option<(u64, f64)>>);

impl Pace {
    fn note(&self, batch: &BatchRecord) {
        let last = (batch.count, batch.seconds.max(0.001));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// How many programs can be done in the time that is left; `None` if it is too short for a batch worth
    /// beginning.
    fn fits(&self, left: Option<Duration>) -> Option<u64> {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(left), Some((programs, seconds))) = (left, last) else { return Some(u64::MAX) };
        let fits = (programs as f64 * left.as_secs_f64() * 0.9 / seconds) as u64;
        (fits >= programs.div_ceil(8)).then_some(fits)
    }
}

/// Runs a campaign until its count or time is reached, or `stop` is set; then finishes the batches it has
/// begun.
///
/// # Errors
/// When it cannot go on; everything finished is stored.
pub fn run(
    campaign: &Campaign,
    store: &mut Store,
    options: &Options<'_>,
    stop: &AtomicBool,
    mut tell: impl FnMut(Event<'_>),
) -> Result<Progress, RunError> {
    let begin = Instant::now();
    let cpu_begin = cpu::seconds().unwrap_or(0.0);
    let cpu_now = move || (cpu::seconds().unwrap_or(0.0) - cpu_begin).max(0.0);
    let done = store.done()?;
    let mut progress = Progress {
        total: done.values().sum(),
        calls: campaign.calls(),
        covered: store.covered(),
        verdicts: store.verdict_count()?,
        ..Progress::default()
    };
    let alone = options.shared.is_none();
    let waiting = if alone && options.reducer.is_some() { store.unreduced()? } else { Vec::new() };
    let to_do = options.count.map(|count| count.saturating_sub(progress.total));
    let end = options.count.unwrap_or(u64::MAX);
    let queue = Queue { next: 0, end, batch: options.batch.max(1), done };
    let source = options.shared.map_or_else(|| Source::Alone(Mutex::new(queue)), Source::Shared);
    // Set when the store fails: then nobody begins anything.
    let give_up = AtomicBool::new(false);
    let reducing = AtomicBool::new(false);
    let working = AtomicU64::new(options.jobs.max(1) as u64);
    let pace = Pace::default();
    let until = options.time.map(|t| begin + t);
    let end = options.time.map(|t| begin + t + grace(t));
    let given_up = || give_up.load(Ordering::Relaxed);
    let cpu_left = || options.cpu_time.map(|t| t.saturating_sub(Duration::from_secs_f64(cpu_now())));
    let late = || {
        until.is_some_and(|u| Instant::now() >= u) || cpu_left().is_some_and(|cpu_left| cpu_left.is_zero())
    };
    let enough = || stop.load(Ordering::Relaxed) || given_up() || late() || campaign.all_dropped();
    let left = || {
        let by_clock = until.map(|u| u.saturating_duration_since(Instant::now()));
        // By the clock it is longer as far as the machine has other work.
        let by_cpu = cpu_left().map(|t| {
            let (clock, cpu) = (begin.elapsed().as_secs_f64(), cpu_now());
            let slower = if cpu > 0.1 { (clock / cpu).clamp(1e-3, 1e3) } else { 1.0 };
            t.mul_f64(slower)
        });
        by_clock.into_iter().chain(by_cpu).min()
    };
    let result = std::thread::scope(|scope| {
        let (to_main, messages) = channel();
        for worker in 0..options.jobs.max(1) {
            let to_main = to_main.clone();
            let (source, pace, enough, left) = (&source, &pace, &enough, &left);
            let (reducing, working) = (&reducing, &working);
            // The last worker leaves its core to the reducer.
            let last = worker + 1 == options.jobs.max(1);
            let wait = move || last && reducing.load(Ordering::Relaxed);
            scope.spawn(move || {
                let clock = Clock { wait: &wait, enough, left, end };
                work(campaign, source, pace, &to_main, &clock);
                working.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let jobs = options.reducer.map(|reducer| {
            let (to_reducer, jobs) = channel::<Job>();
            let to_main = to_main.clone();
            let (given_up, late) = (&given_up, &late);
            let (reducing, working) = (&reducing, &working);
            scope.spawn(move || {
                let pacing = Pacing {
                    stop,
                    end,
                    reducing,
                    idle: &|| stop.load(Ordering::Relaxed) || given_up() || late(),
                    may: &|spent: Duration| {
                        let share = SHARE * begin.elapsed().as_secs_f64() + CREDIT;
                        working.load(Ordering::Relaxed) == 0 || spent.as_secs_f64() <= share
                    },
                };
                // The main thread may have given up: then nobody wants to know.
                let done = move |job, worked| to_main.send(Message::Treated(Box::new(job), worked)).is_ok();
                reduce_each(campaign, reducer, &jobs, &pacing, &done);
            });
            to_reducer
        });
        drop(to_main);
        for (id, number, ir, verdict) in waiting {
            let job = Job { id, number, ir, verdict, reduced: None };
            progress.reducing += u64::from(hand(&jobs, job));
        }
        let closing = || stop.load(Ordering::Relaxed) || late();
        let (cpu_now, closing): (&dyn Fn() -> f64, &dyn Fn() -> bool) = (&cpu_now, &closing);
        let (to_do, renewed, cpu_saved) = (to_do, begin, 0.0);
        let mut book = Book {
            store,
            options,
            campaign,
            begin,
            cpu_now,
            closing,
            to_do,
            jobs,
            progress,
            renewed,
            cpu_saved,
            elsewhere: 0.0,
        };
        let result = book.keep(&messages, &mut tell);
        if result.is_err() {
            give_up.store(true, Ordering::Relaxed);
        }
        // The reducer ends when nobody can send to it.
        book.jobs = None;
        let result = result.and_then(|()| book.end());
        (result, book.progress)
    });
    let (kept, progress) = result;
    kept?;
    if campaign.all_dropped() {
        return Err(RunError::AllBroken);
    }
    Ok(progress)
}

/// What a worker asks before it begins something.
struct Clock<'a> {
    /// Whether to wait.
    wait: &'a dyn Fn() -> bool,
    /// Whether to end.
    enough: &'a dyn Fn() -> bool,
    /// The time that is left.
    left: &'a dyn Fn() -> Option<Duration>,
    /// When everything must have ended.
    end: Option<Instant>,
}

fn work(campaign: &Campaign, source: &Source<'_>, pace: &Pace, to_main: &Sender<Message>, clock: &Clock<'_>) {
    while !(clock.enough)() {
        if (clock.wait)() {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        let Some(most) = pace.fits((clock.left)()) else { break };
        let (first, count, rest) = match source.take(most, (clock.left)()) {
            Ok(Next::Programs(first, count)) => (first, count, None),
            Ok(Next::Rest(first, count, compilers)) => (first, count, Some(compilers)),
            Ok(Next::Measure(id, order)) => {
                let result = order::measure(&order, clock.enough);
                if to_main.send(Message::Measured(id, result)).is_err() {
                    return;
                }
                continue;
            }
            Ok(Next::Wait) => {
                std::thread::sleep(Duration::from_millis(300));
                continue;
            }
            Ok(Next::End) => break,
            Err(error) => {
                // The main thread may have given up before.
                let _ = to_main.send(Message::Failed(error));
                break;
            }
        };
        let Some(batch) = guarded(campaign, (first, count), rest.as_deref(), clock.end) else { break };
        pace.note(&batch);
        let send = |batch| to_main.send(Message::Batch(Box::new(batch))).is_ok();
        if !campaign.learn(batch, send) {
            return;
        }
    }
    // The main thread may have given up: then nobody counts.
    let _ = to_main.send(Message::Gone);
}

/// A batch; a panic of ours is a verdict on the program that caused it, not the campaign's end.
fn guarded(
    campaign: &Campaign,
    (first, count): (u64, u64),
    rest: Option<&[usize]>,
    end: Option<Instant>,
) -> Option<BatchRecord> {
    let attempt = |first, count| catch_unwind(AssertUnwindSafe(|| campaign.share(first, count, rest, end)));
    if let Ok(batch) = attempt(first, count) {
        return batch;
    }
    let begin = Instant::now();
    let mut whole = BatchRecord { first, count, rest: rest.map(<[usize]>::to_vec), ..BatchRecord::default() };
    for number in first..first + count {
        match attempt(number, 1) {
            Ok(one) => {
                let one = one?;
                whole.operations += one.operations;
                whole.checks += one.checks;
                whole.pairs += one.pairs;
                whole.triggers += one.triggers;
                whole.programs.extend(one.programs);
                whole.calls.extend(one.calls);
                whole.broken.extend(one.broken);
                whole.seen.extend(one.seen);
            }
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
                whole.programs.push(ProgramRecord {
                    number: campaign.numbers(number).first().copied().unwrap_or(number),
                    outcomes: vec![None; campaign.testbeds.len()],
                    ir: None,
                    verdicts: vec![Verdict::new(
                        Culprit::Generator,
                        Kind::BuildFailure,
                        format!("rvvfuzz itself panicked: {}", said.unwrap_or_default()),
                    )],
                });
            }
        }
    }
    whole.seconds = begin.elapsed().as_secs_f64();
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fill_what_is_missing() {
        let mut queue = Queue { next: 0, end: 25, batch: 10, done: BTreeMap::from([(0, 4), (8, 8)]) };
        let mut taken = Vec::new();
        while let Some(range) = queue.take(7) {
            taken.push(range);
        }
        assert_eq!(taken, [(4, 4), (16, 7), (23, 2)]);
    }

    #[test]
    fn no_batch_is_begun_that_cannot_end_in_time() {
        let pace = Pace::default();
        let seconds = |s: f64| Some(Duration::from_secs_f64(s));
        assert_eq!((pace.fits(seconds(1.0)), pace.fits(None)), (Some(u64::MAX), Some(u64::MAX)));
        pace.note(&BatchRecord { count: 40, seconds: 20.0, ..BatchRecord::default() });
        assert_eq!(pace.fits(None), Some(u64::MAX));
        assert_eq!(pace.fits(seconds(10.0)), Some(18));
        assert_eq!(pace.fits(seconds(2.0)), None);
    }

    fn campaign() -> Campaign {
        Campaign::new(&crate::programs::settings::Settings::default()).unwrap()
    }

    #[test]
    fn a_worker_that_waits_takes_nothing() {
        let queue = Queue { next: 0, end: 1, batch: 1, done: BTreeMap::new() };
        let source = Source::Alone(Mutex::new(queue));
        let next = || match &source {
            Source::Alone(queue) => queue.lock().unwrap().next,
            Source::Shared(_) => 0,
        };
        let (to_main, messages) = channel();
        let rounds = AtomicU64::new(0);
        let enough = || rounds.fetch_add(1, Ordering::Relaxed) >= 2;
        let clock = Clock { wait: &|| true, enough: &enough, left: &|| None, end: None };
        work(&campaign(), &source, &Pace::default(), &to_main, &clock);
        assert!(matches!(messages.recv(), Ok(Message::Gone)));
        assert_eq!(next(), 0);
        rounds.store(0, Ordering::Relaxed);
        work(&campaign(), &source, &Pace::default(), &to_main, &Clock { wait: &|| false, ..clock });
        assert!(matches!(messages.recv(), Ok(Message::Batch(_))));
    }

    #[test]
    fn a_batch_that_is_late_is_left() {
        let late = Some(Instant::now());
        assert!(guarded(&campaign(), (0, 2), None, late).is_none());
        assert!(guarded(&campaign(), (0, 2), None, None).is_some());
    }
}
