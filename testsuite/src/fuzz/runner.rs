//! Tries the inputs of a target, and watches over time and memory.

use super::Target;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much to try, and where it must end.
#[derive(Clone, Debug)]
pub struct Options {
    /// The inputs' seed.
    pub seed: u64,
    /// The first input's number.
    pub first: u64,
    /// How many inputs.
    pub count: u64,
    /// Stops after this, if there are inputs left.
    pub time: Option<Duration>,
    /// Threads.
    pub jobs: usize,
    /// No input may take longer.
    pub limit: Duration,
    /// The process may not use more, in bytes.
    pub memory: u64,
    /// The folder for inputs that fail.
    pub save: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            first: 0,
            count: 1_000_000,
            time: None,
            jobs: 1,
            limit: Duration::from_secs(20),
            memory: 1 << 30,
            save: std::env::temp_dir(),
        }
    }
}

/// What went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A panic.
    Panic,
    /// One input took too long.
    Hang,
    /// Too much memory was used.
    Memory,
}

/// An input that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How.
    pub kind: Kind,
    /// Its number. Of [`Kind::Memory`] it is one that ran when it was seen.
    pub number: u64,
    /// The file with its bytes.
    pub saved: PathBuf,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Inputs tried.
    pub executions: u64,
    /// What the target counts, in all of them.
    pub counted: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The most memory this process has used, in bytes.
    pub peak: u64,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

/// Inputs that a worker takes at a time.
const CHUNK: u64 = 16;

/// No input is at work.
const NONE: u64 = u64::MAX;

struct Shared<'a> {
    target: &'a Target,
    options: &'a Options,
    /// The next input that nobody has taken.
    next: AtomicU64,
    executions: AtomicU64,
    counted: AtomicU64,
    stop: AtomicBool,
    failures: Mutex<Vec<Failure>>,
    /// The input that each worker is at.
    at: Vec<AtomicU64>,
}

/// Tries inputs until one fails, or all are done. `progress` is called now and then, with the executions so
/// far and the number below which all are done.
///
/// An input that hangs cannot be stopped: then `stuck` is called with the failures, and must end the process.
pub fn run(
    target: &Target,
    options: &Options,
    mut progress: impl FnMut(u64, u64),
    stuck: impl FnOnce(&[Failure]),
) -> Summary {
    let start = Instant::now();
    let shared = Shared {
        target,
        options,
        next: AtomicU64::new(options.first),
        executions: AtomicU64::new(0),
        counted: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        failures: Mutex::default(),
        at: (0..options.jobs.max(1)).map(|_| AtomicU64::new(NONE)).collect(),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..shared.at.len())
            .map(|i| {
                scope.spawn({
                    let shared = &shared;
                    move || shared.work(i)
                })
            })
            .collect();
        let mut stuck = Some(stuck);
        // Since when each worker has been at its input.
        let mut since = vec![(NONE, start); shared.at.len()];
        while workers.iter().any(|w| !w.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            let now = Instant::now();
            for (i, (number, began)) in since.iter_mut().enumerate() {
                let at = shared.at[i].load(Ordering::Relaxed);
                if at != *number {
                    (*number, *began) = (at, now);
                } else if at != NONE && now - *began > options.limit {
                    shared.failed(Kind::Hang, at);
                    if let Some(stuck) = stuck.take() {
                        stuck(&shared.failures.lock().expect("no panic in there"));
                    }
                }
            }
            let below = since.iter().map(|(n, _)| *n).min().filter(|n| *n != NONE);
            progress(shared.executions.load(Ordering::Relaxed), below.unwrap_or(options.first));
            if options.time.is_some_and(|time| now - start > time) {
                shared.stop.store(true, Ordering::Relaxed);
            }
            if peak_memory() > options.memory && !shared.stop.swap(true, Ordering::Relaxed) {
                since.iter().filter(|(n, _)| *n != NONE).for_each(|(n, _)| shared.failed(Kind::Memory, *n));
            }
        }
    });
    let peak = peak_memory();
    if peak > options.memory && !shared.stop.swap(true, Ordering::Relaxed) {
        // Between two looks, and nobody is at work any more.
        shared
            .failed(Kind::Memory, shared.next.load(Ordering::Relaxed).min(options.first + options.count) - 1);
    }
    Summary {
        executions: shared.executions.into_inner(),
        counted: shared.counted.into_inner(),
        elapsed: start.elapsed(),
        peak,
        failures: shared.failures.into_inner().expect("no panic in there"),
    }
}

impl Shared<'_> {
    fn work(&self, worker: usize) {
        let at = &self.at[worker];
        let end = self.options.first.saturating_add(self.options.count);
        while !self.stop.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= end {
                break;
            }
            let (mut done, mut counted) = (0, 0);
            for number in first..end.min(first + CHUNK) {
                at.store(number, Ordering::Relaxed);
                let input = self.target.input(self.options.seed, number);
                match catch_unwind(AssertUnwindSafe(|| self.target.run(&input))) {
                    Ok(count) => counted += count,
                    Err(_) => {
                        self.failed(Kind::Panic, number);
                        break;
                    }
                }
                done += 1;
            }
            self.executions.fetch_add(done, Ordering::Relaxed);
            self.counted.fetch_add(counted, Ordering::Relaxed);
        }
        at.store(NONE, Ordering::Relaxed);
    }

    /// Saves an input, which follows from its number, and stops.
    fn failed(&self, kind: Kind, number: u64) {
        self.stop.store(true, Ordering::Relaxed);
        let options = self.options;
        let saved = options.save.join(format!("{}-{}-{number}", self.target.name, options.seed));
        let input = self.target.input(options.seed, number);
        if let Err(e) = std::fs::create_dir_all(&options.save).and_then(|()| std::fs::write(&saved, input)) {
            rvv_cli::errln!("testsuite: cannot write {}: {e}", saved.display());
        }
        self.failures.lock().expect("no panic in there").push(Failure { kind, number, saved });
    }
}

/// The most memory this process has used, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Inputs are numbers; the target does something to one in a hundred.
    fn target(run: fn(&[u8]) -> u64) -> Target {
        let make = |rng: &mut rand_chacha::ChaCha8Rng| vec![rng.random_range(0..100)];
        Target { name: "test", about: "", counts: "", make, run }
    }

    fn options(folder: &tempfile::TempDir) -> Options {
        Options { count: 2000, jobs: 2, save: folder.path().to_path_buf(), ..Options::default() }
    }

    /// The failures that it ends with, and those that it was stuck in.
    fn failures(target: &Target, options: &Options) -> (Vec<Failure>, Vec<Failure>) {
        let mut stuck = Vec::new();
        let done = run(target, options, |_, _| (), |failures| stuck = failures.to_vec());
        for failure in &done.failures {
            assert_eq!(std::fs::read(&failure.saved).unwrap(), target.input(options.seed, failure.number));
        }
        (done.failures, stuck)
    }

    #[test]
    fn all_inputs_are_tried_once() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(|bytes| u64::from(bytes[0]));
        let options = Options { first: 7, ..options(&folder) };
        let done = run(&target, &options, |_, _| (), |_| ());
        let sum = (7..2007).map(|n| u64::from(target.input(1, n)[0])).sum();
        assert_eq!((done.executions, done.counted, done.failures.len()), (2000, sum, 0));
    }

    #[test]
    fn a_panic_stops_and_its_input_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(|bytes| if bytes[0] == 77 { panic!("as it should") } else { 1 });
        let (failures, _) = failures(&target, &options(&folder));
        assert!(!failures.is_empty());
        assert!(failures.iter().all(|f| f.kind == Kind::Panic && target.input(1, f.number) == [77]));
    }

    #[test]
    fn a_hang_is_seen_while_it_hangs() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(|bytes| {
            std::thread::sleep(Duration::from_secs(if bytes[0] == 77 { 3 } else { 0 }));
            1
        });
        let options = Options { limit: Duration::from_millis(500), ..options(&folder) };
        let (_, stuck) = failures(&target, &options);
        assert!(stuck.iter().any(|f| f.kind == Kind::Hang && target.input(1, f.number) == [77]));
    }

    #[test]
    fn memory_past_the_limit_stops() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(|bytes| {
            let taken = vec![bytes[0] | 1; if bytes[0] == 77 { 256 << 20 } else { 1 }];
            u64::from(std::hint::black_box(taken)[0])
        });
        let options = Options { memory: peak_memory() + (128 << 20), ..options(&folder) };
        let (failures, _) = failures(&target, &options);
        assert!(failures.iter().all(|f| f.kind == Kind::Memory) && !failures.is_empty());
    }
}
