//! The campaign itself: workers take batches, one thread stores what they find, one reduces verdicts.

use super::campaign::Campaign;
use super::judge::outcome::Kind;
use super::judge::vote::{Culprit, Verdict};
use super::reduce::queue::{Job, Reduce, reduce_each};
use super::store::{BatchRecord, ProgramRecord, Reduction, Store, StoreError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a campaign is run; nothing here changes outcomes.
pub struct Options<'a> {
    /// Workers. While verdicts wait to be made small, one less, if there are two: that is work too.
    pub jobs: usize,
    /// Batches begin for so long. Those at work then may take as long again, but no more than a minute.
    pub time: Option<Duration>,
    /// Programs `0..count`; without end if there is none.
    pub count: Option<u64>,
    /// Programs in a batch.
    pub batch: u64,
    /// Who makes verdicts small.
    pub reducer: Option<&'a dyn Reduce>,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Programs in the store.
    pub total: u64,
    /// Programs of this session.
    pub programs: u64,
    /// Checks of this session.
    pub checks: u64,
    /// Selected calls made.
    pub covered: usize,
    /// Selected calls.
    pub calls: usize,
    /// Verdicts in the store.
    pub verdicts: u64,
    /// Verdicts that wait to be made small.
    pub reducing: u64,
    /// Seconds of this session.
    pub seconds: f64,
    /// Seconds to go, if that is known.
    pub left: Option<f64>,
}

/// How long batches at work may go on when the time is up.
const GRACE: Duration = Duration::from_secs(60);

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

enum Message {
    Batch(Box<BatchRecord>),
    /// A worker has ended.
    Gone,
    Reduced(i64, Option<Reduction>),
}

/// Ranges of programs that are not done yet.
struct Queue {
    next: u64,
    end: u64,
    batch: u64,
    done: BTreeMap<u64, u64>,
}

impl Queue {
    fn take(&mut self) -> Option<(u64, u64)> {
        while let Some(count) = self.done.get(&self.next) {
            self.next += count.max(&1);
        }
        let first = self.next;
        if first >= self.end {
            return None;
        }
        // Batches begin at multiples of their size, wherever the campaign was cut before.
        let edge = (first / self.batch + 1).saturating_mul(self.batch);
        let done = self.done.range(first..).next().map_or(u64::MAX, |(&f, _)| f);
        self.next = edge.min(done).min(self.end);
        Some((first, self.next - first))
    }
}

/// Runs a campaign until its count or time is reached, or `stop` is set; then finishes the batches it has begun.
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
    let done = store.done()?;
    let mut progress = Progress {
        total: done.values().sum(),
        calls: campaign.calls(),
        covered: store.covered(),
        verdicts: store.verdict_count()?,
        ..Progress::default()
    };
    let waiting = if options.reducer.is_some() { store.unreduced()? } else { Vec::new() };
    let to_do = options.count.map(|count| count.saturating_sub(progress.total));
    let queue = Mutex::new(Queue {
        next: 0,
        end: options.count.unwrap_or(u64::MAX),
        batch: options.batch.max(1),
        done,
    });
    // Set when the store fails: then nobody begins anything.
    let give_up = AtomicBool::new(false);
    let waiting_verdicts = AtomicU64::new(0);
    let late = |grace: Duration| options.time.is_some_and(|t| begin.elapsed() >= t + grace.min(t));
    let given_up = || give_up.load(Ordering::Relaxed);
    let enough =
        || stop.load(Ordering::Relaxed) || given_up() || late(Duration::ZERO) || campaign.all_dropped();
    let hurry = || given_up() || late(GRACE);
    let result = std::thread::scope(|scope| {
        let (to_main, messages) = channel();
        for worker in 0..options.jobs.max(1) {
            let to_main = to_main.clone();
            let (queue, enough, hurry, waiting) = (&queue, &enough, &hurry, &waiting_verdicts);
            // The second worker leaves its core to the reducer.
            let wait = move || worker == 1 && waiting.load(Ordering::Relaxed) > 0;
            scope.spawn(move || work(campaign, queue, &to_main, &wait, enough, hurry));
        }
        let jobs = options.reducer.map(|reducer| {
            let (to_reducer, jobs) = channel::<Job>();
            let to_main = to_main.clone();
            let idle = || stop.load(Ordering::Relaxed) || hurry();
            // The main thread may have given up: then nobody wants to know.
            let done = move |id, reduction| to_main.send(Message::Reduced(id, reduction)).is_ok();
            scope.spawn(move || reduce_each(campaign, reducer, &jobs, stop, &idle, &done));
            to_reducer
        });
        drop(to_main);
        for (id, number, ir, verdict) in waiting {
            progress.reducing += u64::from(hand(&jobs, Job { id, number, ir, verdict }));
        }
        let mut book = Book { store, options, begin, to_do, jobs, progress, waiting: &waiting_verdicts };
        let result = book.keep(&messages, &mut tell);
        if result.is_err() {
            give_up.store(true, Ordering::Relaxed);
        }
        // The reducer ends when nobody can send to it.
        book.jobs = None;
        (result, book.progress)
    });
    let (kept, progress) = result;
    kept?;
    if campaign.all_dropped() {
        return Err(RunError::AllBroken);
    }
    Ok(progress)
}

fn hand(jobs: &Option<Sender<Job>>, job: Job) -> bool {
    jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
}

/// What the thread that stores knows.
struct Book<'a> {
    store: &'a mut Store,
    options: &'a Options<'a>,
    begin: Instant,
    to_do: Option<u64>,
    jobs: Option<Sender<Job>>,
    progress: Progress,
    /// [`Progress::reducing`], for the workers to see.
    waiting: &'a AtomicU64,
}

impl Book<'_> {
    fn keep(
        &mut self,
        messages: &Receiver<Message>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let mut workers = self.options.jobs.max(1);
        loop {
            match messages.recv_timeout(Duration::from_millis(200)) {
                Ok(Message::Batch(batch)) => self.batch(&batch, tell)?,
                Ok(Message::Reduced(id, reduction)) => {
                    self.progress.reducing = self.progress.reducing.saturating_sub(1);
                    if let Some(reduction) = reduction {
                        self.store.save_reduction(id, &reduction)?;
                    }
                }
                Ok(Message::Gone) => {
                    workers -= 1;
                    if workers == 0 {
                        // The reducer does what is there, and ends.
                        self.jobs = None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            self.waiting.store(self.progress.reducing, Ordering::Relaxed);
            self.times();
            tell(Event::Progress(&self.progress));
        }
    }

    fn batch(&mut self, batch: &BatchRecord, tell: &mut impl FnMut(Event<'_>)) -> Result<(), RunError> {
        for (testbed, why) in &batch.broken {
            tell(Event::Broken(testbed, why));
        }
        if batch.count == 0 {
            return Ok(());
        }
        let ids = self.store.save(batch, self.begin.elapsed().as_secs_f64())?;
        self.progress.total += batch.count;
        self.progress.programs += batch.count;
        self.progress.checks += batch.checks;
        self.progress.covered = self.store.covered();
        self.progress.verdicts += ids.len() as u64;
        let verdicts = batch.programs.iter().flat_map(|p| p.verdicts.iter().map(move |v| (p, v)));
        for (id, (program, verdict)) in ids.into_iter().zip(verdicts) {
            tell(Event::Verdict(id, program.number, verdict));
            if let Some(ir) = &program.ir {
                let job = Job { id, number: program.number, ir: ir.clone(), verdict: verdict.clone() };
                self.progress.reducing += u64::from(hand(&self.jobs, job));
            }
        }
        Ok(())
    }

    fn times(&mut self) {
        let p = &mut self.progress;
        p.seconds = self.begin.elapsed().as_secs_f64();
        let by_time = self.options.time.map(|t| (t.as_secs_f64() - p.seconds).max(0.0));
        let rate = p.programs as f64 / p.seconds;
        let by_count = self.to_do.filter(|_| rate > 0.0).map(|n| n.saturating_sub(p.programs) as f64 / rate);
        p.left = [by_time, by_count].into_iter().flatten().reduce(f64::min);
    }
}

fn work(
    campaign: &Campaign,
    queue: &Mutex<Queue>,
    to_main: &Sender<Message>,
    wait: &dyn Fn() -> bool,
    enough: &dyn Fn() -> bool,
    hurry: &dyn Fn() -> bool,
) {
    while !enough() {
        if wait() {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((first, count)) = next else { break };
        let Some(batch) = guarded(campaign, first, count, hurry) else { break };
        if to_main.send(Message::Batch(Box::new(batch))).is_err() {
            return;
        }
    }
    // The main thread may have given up: then nobody counts.
    let _ = to_main.send(Message::Gone);
}

/// A batch; a panic of ours is a verdict on the program that caused it, not the campaign's end.
fn guarded(campaign: &Campaign, first: u64, count: u64, hurry: &dyn Fn() -> bool) -> Option<BatchRecord> {
    let attempt = |first, count| catch_unwind(AssertUnwindSafe(|| campaign.batch(first, count, hurry)));
    if let Ok(batch) = attempt(first, count) {
        return batch;
    }
    let begin = Instant::now();
    let mut whole = BatchRecord { first, count, ..BatchRecord::default() };
    for number in first..first + count {
        match attempt(number, 1) {
            Ok(one) => {
                let one = one?;
                whole.operations += one.operations;
                whole.checks += one.checks;
                whole.programs.extend(one.programs);
                whole.calls.extend(one.calls);
                whole.broken.extend(one.broken);
            }
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
                whole.programs.push(ProgramRecord {
                    number,
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
        let mut queue = Queue { next: 0, end: 25, batch: 10, done: BTreeMap::from([(0, 7), (10, 10)]) };
        let mut taken = Vec::new();
        while let Some(range) = queue.take() {
            taken.push(range);
        }
        assert_eq!(taken, [(7, 3), (20, 5)]);
    }

    fn campaign() -> Campaign {
        Campaign::new(&crate::programs::settings::Settings::default()).unwrap()
    }

    #[test]
    fn a_worker_that_waits_takes_nothing() {
        let queue = Mutex::new(Queue { next: 0, end: 1, batch: 1, done: BTreeMap::new() });
        let (to_main, messages) = channel();
        let rounds = AtomicU64::new(0);
        let enough = || rounds.fetch_add(1, Ordering::Relaxed) >= 2;
        work(&campaign(), &queue, &to_main, &|| true, &enough, &|| false);
        assert!(matches!(messages.recv(), Ok(Message::Gone)));
        assert_eq!(queue.lock().unwrap().next, 0);
        rounds.store(0, Ordering::Relaxed);
        work(&campaign(), &queue, &to_main, &|| false, &enough, &|| false);
        assert!(matches!(messages.recv(), Ok(Message::Batch(_))));
    }
}
