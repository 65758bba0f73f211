//! Which thread of the process is on the hart, and for how long.
//!
//! Threads take turns. A turn ends after so many instructions, when the thread waits for something, yields,
//! or ends. Which thread is next depends on nothing but the options and the program, so that a run can be
//! repeated; what comes from outside (files, clocks) is the exception.
//!
//! A call that would wait is suspended: it says what it waits for ([`Wait`]), the thread leaves the hart, and
//! the `ecall` is executed again when that may have happened. Only when no thread can run does the process
//! wait in the host: in one call, for all that its threads wait for, and never longer than [`super::NAP`].

use super::files::HostFile;
use super::options::Clock;
use super::signal::{Info, SIGSEGV};
use super::thread::Threads;
use super::{Process, Verdict, host};
use crate::Hart;
use crate::turns::{Schedule, Turns};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a call waits for.
#[derive(Default)]
pub struct Wait {
    /// One of these events of these files.
    pub files: Vec<(Arc<HostFile>, PollFlags)>,
    /// Or this time, in nanoseconds of the monotonic clock.
    pub until: Option<u64>,
    /// Or something that cannot be waited for: it is to be tried again in a moment.
    pub retry: Option<Instant>,
    /// Or a change of a child.
    pub children: bool,
    /// Only somebody outside the process can end it: another process, or the user.
    pub outside: bool,
    /// In words.
    pub why: String,
}

impl Wait {
    /// For an event of a file.
    pub fn file(file: &Arc<HostFile>, events: PollFlags, why: &str) -> Self {
        Wait { files: vec![(Arc::clone(file), events)], why: why.to_owned(), ..Wait::default() }
    }

    /// For a time, or for ever if that is `None`.
    pub fn until(until: Option<u64>, why: String) -> Self {
        Wait { until, why, ..Wait::default() }
    }

    /// For a moment of the host.
    pub fn moment(moment: Duration, why: &str) -> Self {
        Wait { retry: Some(Instant::now() + moment), why: why.to_owned(), ..Wait::default() }
    }
}

/// Who is next, and for how long.
pub struct Scheduler {
    /// The turns.
    pub turns: Turns,
    /// How often all waited for their own pipes in vain.
    vain: u32,
    /// Only these threads take turns, as long as there is one of them; all, if it is empty.
    only: Vec<u32>,
}

impl Scheduler {
    /// By a policy.
    pub fn new(policy: Schedule) -> Self {
        Scheduler { turns: Turns::new(policy), vain: 0, only: Vec::new() }
    }
}

/// Whether a thread takes turns if only these are to.
fn may_run(threads: &Threads, only: &[u32], thread: usize) -> bool {
    only.is_empty()
        || only.contains(&threads.all[thread].tid)
        || !threads.all.iter().any(|thread| only.contains(&thread.tid))
}

impl Process {
    /// Instructions that the thread on the hart may execute before its turn ends.
    pub(crate) fn instructions_in_turn(&self, hart: &Hart) -> u64 {
        match self.threads.all.len() {
            1 => u64::MAX,
            _ => self.scheduler.turns.left(hart),
        }
    }

    /// There is more than one thread now.
    pub(super) fn begin_turns(&mut self, hart: &mut Hart) {
        if self.threads.all.len() == 2 {
            self.begin_turn(hart);
        }
    }

    fn begin_turn(&mut self, hart: &mut Hart) {
        hart.number = self.threads.all[self.threads.current].number;
        self.scheduler.turns.begin(hart, self.threads.all.len() == 1);
    }

    /// Whether the thread on the hart goes on.
    fn goes_on(&mut self, hart: &mut Hart) -> bool {
        let threads = &self.threads;
        if threads.vacant
            || self.me().wait.is_some()
            || !may_run(threads, &self.scheduler.only, threads.current)
        {
            return false;
        }
        !self.scheduler.turns.is_over(hart) || self.threads.all.len() == 1
    }

    /// Puts the thread on the hart whose turn it is. If none can run, waits a moment in the host; then the
    /// caller looks at its limits, and the thread on the hart makes its call again.
    pub(super) fn schedule(&mut self, hart: &mut Hart) -> Verdict {
        if self.goes_on(hart) {
            return Verdict::Continue;
        }
        self.wake_ready(hart);
        let mut next = self.choose();
        if next.is_none() {
            if let Some(verdict) = self.idle(hart) {
                return verdict;
            }
            self.wake_ready(hart);
            next = self.choose();
        }
        let next = next.unwrap_or(self.threads.current);
        self.put_on_hart(hart, next);
        if self.me().calling { Verdict::Continue } else { self.deliver(hart) }
    }

    fn put_on_hart(&mut self, hart: &mut Hart, next: usize) {
        let threads = &mut self.threads;
        let switches = threads.vacant || next != threads.current;
        if switches {
            if !threads.vacant {
                hart.exchange(&mut threads.all[threads.current].registers);
            }
            hart.exchange(&mut threads.all[next].registers);
            threads.current = next;
            threads.vacant = false;
        }
        threads.all[next].wait = None;
        let bits = super::process::ignored_bits(threads.all[next].tagged);
        if super::space_of(hart).0.ignore_bits(bits) {
            hart.flush_tlb();
        }
        self.begin_turn(hart);
        if switches && self.abort_sequence(hart).is_err() {
            self.force(Info::kernel(SIGSEGV));
        }
    }

    /// The next thread that can run.
    fn choose(&mut self) -> Option<usize> {
        let threads = &self.threads;
        let count = threads.all.len();
        // The one after a thread that has ended is where that was.
        let first = threads.current + usize::from(!threads.vacant);
        // While a child uses this process's memory, nobody else does.
        let vfork = threads.all.iter().position(|thread| thread.suspended.vfork.is_some());
        let able = |i: &usize| threads.all[*i].wait.is_none() && vfork.is_none_or(|only| only == *i);
        let only = &self.scheduler.only;
        let able = |i: &usize| able(i) && may_run(threads, only, *i);
        self.scheduler.turns.choose((first..first + count).map(|i| i % count).filter(able))
    }

    /// The id of the thread on the hart.
    pub(crate) fn thread_on_hart(&self) -> u32 {
        self.threads.all.get(self.threads.current).map_or(self.identity.pid, |thread| thread.tid)
    }

    /// See [`crate::Machine::with_thread`].
    pub(crate) fn with_thread<T>(
        &mut self,
        hart: &mut Hart,
        tid: u32,
        look: impl FnOnce(&mut Hart) -> T,
    ) -> Option<T> {
        let thread = self.threads.index_of(tid)?;
        hart.exchange(&mut self.threads.all[thread].registers);
        let seen = look(hart);
        hart.exchange(&mut self.threads.all[thread].registers);
        Some(seen)
    }

    /// See [`crate::Machine::only_threads`].
    pub(crate) fn only_threads(&mut self, hart: &mut Hart, tids: &[u32]) {
        self.scheduler.only = tids.to_vec();
        if self.threads.vacant || may_run(&self.threads, tids, self.threads.current) {
            return;
        }
        // One that waits makes its call again, and waits on.
        if let Some(next) = tids.iter().find_map(|tid| self.threads.index_of(*tid)) {
            self.put_on_hart(hart, next);
        }
    }

    /// Threads whose wait is over can run again.
    fn wake_ready(&mut self, hart: &mut Hart) {
        self.receive_signals();
        self.check_timers(hart);
        let now = self.time.now(hart);
        let mut instant = None;
        let shared = self.signals.pending.set();
        for thread in &mut self.threads.all {
            let interrupted = thread.signals.is_interrupted(shared, thread.suspended.awaited);
            let Some(wait) = &thread.wait else { continue };
            let past = |retry: Instant| *instant.get_or_insert_with(Instant::now) >= retry;
            if interrupted || wait.until.is_some_and(|until| now >= until) || wait.retry.is_some_and(past) {
                thread.wait = None;
            }
        }
        self.poll_for_all(Duration::ZERO);
    }

    /// Asks the host about all files that threads wait for; those whose file is ready can run.
    fn poll_for_all(&mut self, most: Duration) {
        let waits = self.threads.all.iter().enumerate();
        let files = waits.flat_map(|(i, thread)| {
            thread
                .wait
                .iter()
                .flat_map(move |wait| wait.files.iter().map(move |(file, events)| (i, file, events)))
        });
        let asked: Vec<(usize, Arc<HostFile>, PollFlags)> =
            files.map(|(i, file, events)| (i, Arc::clone(file), *events)).collect();
        let bell = self.bell.as_ref().filter(|_| !most.is_zero());
        if asked.is_empty() && bell.is_none() {
            if !most.is_zero() {
                std::thread::sleep(most);
            }
            return;
        }
        let mut polls: Vec<PollFd> =
            asked.iter().map(|(_, file, events)| PollFd::new(&**file, *events)).collect();
        polls.extend(bell.map(|bell| PollFd::new(bell, PollFlags::IN)));
        let most = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
        let answer = rustix::event::poll(&mut polls, Some(&most));
        let ready: Vec<bool> = polls.iter().map(|poll| !poll.revents().is_empty()).collect();
        if let Some(bell) = bell
            && ready.last() == Some(&true)
            && !host::has_received()
        {
            host::silence(bell);
        }
        for ((i, ..), ready) in asked.iter().zip(ready) {
            // What cannot be polled is tried again, so that whoever reads or writes it learns why.
            if ready || answer.is_err_and(|e| e != rustix::io::Errno::INTR) {
                self.threads.all[*i].wait = None;
            }
        }
    }

    /// No thread can run: waits until one may, but not for long. If that can never be, says so.
    fn idle(&mut self, hart: &mut Hart) -> Option<Verdict> {
        let waits = || self.threads.all.iter().filter_map(|thread| thread.wait.as_ref());
        let timer = self.time.next_timer();
        let until = waits().filter_map(|wait| wait.until).chain(timer).min();
        let retry = waits().filter_map(|wait| wait.retry).min();
        let has_files = waits().any(|wait| !wait.files.is_empty());
        let own_pipes =
            waits().flat_map(|wait| &wait.files).all(|(file, _)| file.is_pipe && self.family.is_none());
        let reads = waits().flat_map(|wait| &wait.files).any(|(_, events)| events.contains(PollFlags::IN));
        let held = self.threads.all.iter().any(|thread| thread.wait.is_none());
        if until.is_none() && retry.is_none() && own_pipes && !held && !self.may_be_ended_from_outside() {
            // Another thread of the host's process may be starting a child, which holds a copy of every
            // descriptor until it becomes its program: a writing end that the guest closed may take a moment
            // to be gone.
            const PATIENCE: u32 = 100;
            self.scheduler.vain += 1;
            if !(has_files && reads) || self.scheduler.vain > PATIENCE {
                return Some(self.deadlock());
            }
        } else {
            self.scheduler.vain = 0;
        }
        let mut most = self.nap();
        if let Some(until) = until {
            let left = until.saturating_sub(self.time.now(hart));
            if self.options.clock == Clock::Counted {
                self.time.pass(left);
                return None;
            }
            most = most.min(Duration::from_nanos(left));
        }
        if let Some(retry) = retry {
            most = most.min(retry.saturating_duration_since(Instant::now()));
        }
        if !host::has_received() {
            self.poll_for_all(most.max(Duration::from_micros(1)));
        }
        None
    }

    /// Whether a signal from outside, or the end of a child, may end a wait.
    fn may_be_ended_from_outside(&self) -> bool {
        let outside = self.threads.all.iter().filter_map(|t| t.wait.as_ref()).any(|wait| wait.outside);
        self.bell.is_some()
            && (outside || self.children > 0 || self.family.is_some() || self.signals.has_handlers())
    }

    fn deadlock(&mut self) -> Verdict {
        let waits = self.threads.all.iter().map(|thread| (thread.tid, thread.wait.as_ref()));
        let why = |wait: Option<&Wait>| wait.map_or("waits", |wait| wait.why.as_str()).to_owned();
        let waits: Vec<(u32, String)> = waits.map(|(tid, wait)| (tid, why(wait))).collect();
        Verdict::Unsupported(match waits.as_slice() {
            [(_, why)] => format!("deadlock: the only thread {why}"),
            _ => {
                let each: Vec<String> =
                    waits.iter().map(|(tid, why)| format!("thread {tid} {why}")).collect();
                format!("deadlock: all {} threads wait: {}", waits.len(), each.join("; "))
            }
        })
    }

    /// `sched_yield()`.
    pub(super) fn sys_sched_yield(&mut self) -> u64 {
        self.scheduler.turns.yields = true;
        0
    }
}
