//! `--sweep`: one program under everything that RVV leaves to an implementation. Is its output always the
//! same?

mod cores;
mod count;
mod judge;
mod plan;
mod seen;
mod show;

use super::options::{Compare, Mode};
use super::{report, say};
use plan::{Choice, plan};
use regex::bytes::Regex;
use rvv_cli::progress::Progress;
use rvvsim::Config;
use rvvsim::elf::Image;
use rvvsim::linux::{Clock, Input, Output, ProcessOptions};
use seen::{Group, OUTPUT_LIMIT, Remarks, Seen};
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use cores::OnCore;
pub use plan::USUAL_VLENS;

/// Exit codes.
const SAME: u8 = 0;
const DIFFERS: u8 = 1;
pub const CANNOT_RUN: u8 = 2;
const FAILS: u8 = 3;

/// Standard input is kept in memory, once for each run in flight.
const INPUT_LIMIT: u64 = 256 << 20;
/// Different outputs are kept until the end.
const KEPT_LIMIT: usize = 512 << 20;

/// A sweep to make.
pub struct Sweep {
    /// The vector lengths; the first is the baseline's.
    pub vlens: Vec<u32>,
    /// The cores to run on, instead of all that the manual leaves open.
    pub cores: Vec<OnCore>,
    /// Count instructions instead of comparing; as JSON to this file, too.
    pub count: Option<PathBuf>,
    /// Text that does not count.
    pub ignore: Vec<Regex>,
    /// What does.
    pub compare: Compare,
    /// JSON instead of text.
    pub json: bool,
    /// The command line, to say how a difference is reproduced.
    pub words: Vec<OsString>,
}

/// The program and what it is given.
pub struct Subject<'a> {
    /// What to call it.
    pub name: &'a str,
    /// The program.
    pub image: &'a Image<'a>,
    /// The machine, but for what is swept.
    pub config: Config,
    /// Its world.
    pub mode: Mode,
    /// The process, if it is one.
    pub process: ProcessOptions,
    /// The longest a run may take.
    pub timeout: Option<Duration>,
}

/// What all runs have in common.
struct Alike {
    bare: bool,
    /// Whether there was anything on standard input.
    fed: bool,
    /// The seed of `getrandom` that the sweep chose.
    seed: Option<u64>,
}

impl Subject<'_> {
    /// Makes all runs of it the same, but for the machine.
    fn make_alike(&mut self) -> std::result::Result<Alike, String> {
        let bare = self.mode.is_bare(self.image);
        let input = if bare { Vec::new() } else { read_input()? };
        let fed = !input.is_empty();
        let process = &mut self.process;
        let seed = if bare || process.seed.is_some() { None } else { Some(0) };
        process.seed = process.seed.or(seed);
        process.stdin = Input::Bytes(input);
        (process.stdout, process.stderr) = (Output::Capture, Output::Capture);
        process.output_limit = OUTPUT_LIMIT;
        process.clock = Clock::Counted;
        Ok(Alike { bare, fed, seed })
    }
}

/// A sweep that was made.
struct Result<'a> {
    sweep: &'a Sweep,
    name: &'a str,
    bare: bool,
    /// Whether there was anything on standard input.
    fed: bool,
    /// The seed of `getrandom` that the sweep chose.
    seed: Option<u64>,
    plan: Vec<Choice>,
    /// Which of `distinct` each run of the plan showed.
    shown: Vec<usize>,
    /// Why each run ended, if there is more to say than how.
    why: Vec<Option<String>>,
    /// Which runs a limit ended.
    stopped: Vec<bool>,
    /// Which runs a signal or a trap ended.
    died: Vec<bool>,
    /// The largest element group that any run met, which binds the choice of `vl`.
    group: Group,
    /// What the choice of `vl` was bound to, and what it would be without a word.
    multiple: u32,
    usual_multiple: u32,
    /// The instructions that a run may take, if the user did not say.
    limit: Option<u64>,
    distinct: Vec<Seen>,
    time: Duration,
}

impl Sweep {
    /// Makes it and says what came out; the exit code.
    pub fn run(&self, subject: Subject) -> u8 {
        if let Some(file) = &self.count {
            return self.count_by_vlen(subject, file);
        }
        if !self.cores.is_empty() {
            return self.run_on_cores(subject);
        }
        match self.make(subject) {
            Ok(result) => {
                let verdicts = judge::judge(&result.plan, &result.shown);
                let text = if self.json { result.json(&verdicts) } else { result.text(&verdicts) };
                if let Err(message) = say::print(&text) {
                    say::note(&format!("rvvsim: {message}\n"));
                    return CANNOT_RUN;
                }
                match result.distinct.len() {
                    _ if result.fails_everywhere() => FAILS,
                    1 => SAME,
                    _ => DIFFERS,
                }
            }
            Err(message) => {
                say::note(&format!("rvvsim: {message}\n"));
                CANNOT_RUN
            }
        }
    }

    fn make<'a>(&'a self, mut subject: Subject<'a>) -> std::result::Result<Result<'a>, String> {
        let start = Instant::now();
        let Alike { bare, fed, seed } = subject.make_alike()?;
        let plan = plan(&self.vlens);
        let given = subject.config.vl_multiple;
        let run = |choice: &Choice, max_insns: Option<u64>, multiple: u32| {
            let vl_multiple = given.or(NonZeroU32::new(multiple));
            let config = Config { max_insns, vl_multiple, ..choice.config(&subject.config) };
            let deadline = subject.timeout.map(|t| Instant::now() + t);
            let ran = seen::run(subject.image, bare, config, subject.process.clone(), deadline, false);
            let (seen, remarks) =
                ran.map_err(|e| format!("{}: {e}{}", subject.name, report::load_hint(&e)))?;
            Ok((seen.compared(self.compare, &self.ignore), remarks))
        };

        let (first, remarks) = run(&plan[0], subject.config.max_insns, 1)?;
        if remarks.stopped {
            return Err(format!("{}: {}", subject.name, first.ending));
        }
        for note in &remarks.notes {
            say::note(&format!("rvvsim: {note}\n"));
        }
        // With these it has hung: a loop that never gets to its end because of what vl it gets, say.
        let limit = remarks.instructions.saturating_mul(100).saturating_add(20_000_000);
        let most = Some(subject.config.max_insns.unwrap_or(limit));
        let (again, _): (Seen, Remarks) = run(&plan[0], most, 1)?;
        if let Some(d) = first.differences(&again).first() {
            return Err(format!(
                "{}: two runs alike do not show the same, so there is nothing to compare ({}: {} and {})",
                subject.name, d.place, d.base, d.other
            ));
        }

        // Guests that write files would get into each other's way.
        let writes = subject.process.host_fs || subject.process.dirs.iter().any(|d| d.writable);
        let threads = if writes { 1 } else { std::thread::available_parallelism().map_or(1, Into::into) };
        // A program that executes no element-group instruction cannot tell whether there are any: it gets
        // every vl that a machine without them may choose. Where a run of the plan meets a larger group than
        // those before, its vl may have been none that the instruction takes, so all of the plan is run
        // again.
        let mut group = remarks.group;
        let kept = loop {
            let kept = self.run_plan(&plan, (first.clone(), remarks.clone()), threads, |choice| {
                run(choice, most, group.size)
            })?;
            if kept.group.size <= group.size {
                break kept;
            }
            group = kept.group;
        };
        let Kept { shown, why, stopped, died, distinct, .. } = kept;
        let (sweep, name, time) = (self, subject.name, start.elapsed());
        let limit = subject.config.max_insns.is_none().then_some(limit);
        let multiple = given.map_or(group.size, NonZeroU32::get);
        let usual_multiple = given.map_or_else(|| subject.config.isa.largest_group().into(), NonZeroU32::get);
        Ok(Result {
            sweep,
            name,
            bare,
            fed,
            seed,
            plan,
            shown,
            why,
            stopped,
            died,
            group,
            multiple,
            usual_multiple,
            limit,
            distinct,
            time,
        })
    }

    /// Makes all runs of a plan but the first, which was made.
    fn run_plan(
        &self,
        plan: &[Choice],
        (first, remarks): (Seen, Remarks),
        threads: usize,
        run: impl Fn(&Choice) -> std::result::Result<(Seen, Remarks), String> + Sync,
    ) -> std::result::Result<Kept, String> {
        let kept = Mutex::new(Kept::new(first, remarks, plan.len()));
        let (next, failed) = (AtomicUsize::new(1), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !failed.load(Ordering::Relaxed) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(choice) = plan.get(at) else { break };
                        let ran = run(choice);
                        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        if let Err(message) = ran.and_then(|(seen, remarks)| kept.keep(at, seen, remarks)) {
                            kept.error.get_or_insert(message);
                            failed.store(true, Ordering::Relaxed);
                        }
                        let done = kept.done;
                        kept.line.show(|| format!("{done} of {} runs", plan.len()));
                    }
                });
            }
        });
        let mut kept = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.line.clear();
        match kept.error {
            Some(message) => Err(message),
            None => Ok(kept),
        }
    }
}

impl Result<'_> {
    /// Whether no run did what it should: signals and traps ended all, or the same failure.
    fn fails_everywhere(&self) -> bool {
        let ending = &self.distinct[0].ending;
        let all_alike = self.distinct.iter().all(|seen| seen.ending == *ending);
        self.died.iter().all(|&died| died) || all_alike && ending != "exit status 0"
    }
}

/// What the runs showed, so far.
struct Kept {
    shown: Vec<usize>,
    why: Vec<Option<String>>,
    stopped: Vec<bool>,
    died: Vec<bool>,
    group: Group,
    distinct: Vec<Seen>,
    bytes: usize,
    done: usize,
    line: Progress,
    error: Option<String>,
}

impl Kept {
    fn new(first: Seen, remarks: Remarks, runs: usize) -> Self {
        let mut why = vec![None; runs];
        why[0] = remarks.why;
        let bytes = first.stdout.len() + first.stderr.len();
        let distinct = vec![first];
        let (shown, stopped, mut died) = (vec![0; runs], vec![false; runs], vec![false; runs]);
        died[0] = remarks.died;
        let group = remarks.group;
        Kept {
            shown,
            why,
            stopped,
            died,
            group,
            distinct,
            bytes,
            done: 1,
            line: Progress::for_people(),
            error: None,
        }
    }

    fn keep(&mut self, at: usize, seen: Seen, remarks: Remarks) -> std::result::Result<(), String> {
        self.done += 1;
        self.why[at] = remarks.why;
        self.stopped[at] = remarks.stopped;
        self.died[at] = remarks.died;
        self.group = self.group.max(remarks.group);
        self.shown[at] = match self.distinct.iter().position(|d| *d == seen) {
            Some(same) => same,
            None => {
                self.bytes += seen.stdout.len() + seen.stderr.len();
                self.distinct.push(seen);
                self.distinct.len() - 1
            }
        };
        if self.bytes > KEPT_LIMIT {
            return Err(format!("its different outputs are more than {} MiB", KEPT_LIMIT >> 20));
        }
        Ok(())
    }
}

/// What every run gets; nothing from a terminal, where somebody would have to type it.
fn read_input() -> std::result::Result<Vec<u8>, String> {
    let mut input = Vec::new();
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let read = stdin.lock().take(INPUT_LIMIT + 1).read_to_end(&mut input);
        read.map_err(|e| format!("cannot read standard input: {e}"))?;
    }
    if input.len() as u64 > INPUT_LIMIT {
        return Err(format!("more than {} MiB on standard input", INPUT_LIMIT >> 20));
    }
    Ok(input)
}
