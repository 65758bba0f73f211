//! The program under gdb: how it runs, forwards and backwards, and why it stops.

use super::arch::description;
use super::files::Files;
use super::history::History;
use super::resume::Plan;
use super::saved::Saved;
use super::watch::Watch;
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::reverse_exec::ReplayLogPosition;
use gdbstub::target::ext::breakpoints::WatchKind;
use rvvsim::elf::Image;
use rvvsim::{Machine, Outcome, Trap, observe};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// How often gdb is listened to while the program runs.
const PAUSE: Duration = Duration::from_millis(50);
/// Instructions between looks at the clock where each is looked at.
const STEPS: u32 = 20_000;

/// Steps that are looked at first when the program runs backwards.
const LOOK_AT: u64 = 50_000;
/// So many moments without an instruction: the past is not done again as it was, since it read what is no
/// longer there.
const IDLE: u32 = 20;

/// Why the program stopped.
pub type Reason = MultiThreadStopReason<u64>;

/// A machine under gdb.
pub struct Debuggee<'m> {
    pub machine: &'m mut Machine,
    /// `--max-insns`.
    limit: u64,
    /// What gdb asked for last.
    pub plan: Plan,
    pub breakpoints: BTreeMap<u64, usize>,
    pub watchpoints: Vec<(u64, u64, WatchKind)>,
    /// The last instruction that gdb was told of because it accesses what is watched: by the steps until then,
    /// and whether the program ran backwards.
    met: Option<(u64, bool)>,
    pub history: History,
    /// `monitor snapshot`.
    pub saved: Saved,
    /// Where the console's output goes: nowhere while the past is run again.
    console: &'m dyn Fn() -> Box<dyn Write + Send>,
    /// How it ended; gdb may still look around.
    pub ended: Option<Outcome>,
    /// The trap that ended it.
    pub trap: Option<Trap>,
    /// With `--sanitize`.
    pub watch: Option<Watch<'m>>,
    pub description: String,
    pub auxv: Vec<u8>,
    /// The program's file.
    pub image: &'m Image<'m>,
    /// What gdb has opened.
    pub files: Files,
    /// What gdb is to print when it hears that the program has stopped.
    pub message: Option<String>,
}

impl<'m> Debuggee<'m> {
    /// `packet`: the bytes of gdb's largest packet.
    pub fn new(
        machine: &'m mut Machine,
        image: &'m Image<'m>,
        console: &'m dyn Fn() -> Box<dyn Write + Send>,
        watch: Option<Watch<'m>>,
        packet: usize,
    ) -> Debuggee<'m> {
        let process = machine.process().is_some();
        // What `--sanitize` knows of values has no past.
        if watch.is_none() {
            machine.record();
        }
        Debuggee {
            limit: machine.hart().config().max_insns.unwrap_or(u64::MAX),
            plan: Plan::default(),
            breakpoints: BTreeMap::new(),
            watchpoints: Vec::new(),
            met: None,
            history: History::new(machine),
            saved: Saved::default(),
            console,
            ended: None,
            trap: None,
            watch,
            description: description(machine.hart(), process),
            auxv: if process { auxiliary_vector(machine) } else { Vec::new() },
            image,
            files: Files::new(packet),
            message: None,
            machine,
        }
    }

    /// gdb has gone: the limits are the user's again.
    pub fn let_go(&mut self) {
        self.machine.pause_at(None);
        self.machine.only_threads(&[]);
    }

    /// Runs to the end, without gdb.
    pub fn run_alone(&mut self) -> Outcome {
        if let Some(outcome) = self.ended.take() {
            return outcome;
        }
        let Some(watch) = &mut self.watch else { return self.machine.run(None) };
        loop {
            if let Some(outcome) = watch.run(self.machine, None) {
                return outcome;
            }
        }
    }

    /// The thread on the hart.
    pub fn tid(&self) -> Tid {
        tid(self.machine.thread_id())
    }

    /// Runs for a moment; why it stopped, if it did.
    pub fn run_for_a_moment(&mut self) -> Option<Reason> {
        if let (Some(outcome), Plan::Go { .. }) = (&self.ended, &self.plan) {
            return Some(final_reason(outcome));
        }
        let reason = match &self.plan {
            Plan::Go { step: None, .. } if self.breakpoints.is_empty() && self.watchpoints.is_empty() => {
                let most = self.history.room(self.machine);
                let stop = self.advance(most);
                self.history.note(self.machine);
                stop
            }
            Plan::Go { .. } => self.one_by_one(),
            Plan::BackOne { thread } => {
                let thread = *thread;
                Some(self.back_one(thread))
            }
            Plan::Back => Some(self.back(|debuggee| debuggee.at_breakpoint())),
        };
        if reason.is_some() {
            self.stop();
        }
        reason
    }

    /// The machine stands still, for gdb to look at: all threads may go on from here.
    pub fn stop(&mut self) {
        if self.plan.holds_threads() {
            self.machine.only_threads(&[]);
        }
    }

    /// Instructions of a run that is watched, or of a step.
    fn one_by_one(&mut self) -> Option<Reason> {
        for _ in 0..STEPS {
            let thread = self.machine.thread_id();
            let place = |machine: &Machine| (machine.steps(), machine.hart().pc());
            let before = place(self.machine);
            // As RISC-V's own triggers, before the access: gdb lets it happen, and looks at what it did.
            let here = Some((before.0, false));
            if let Some(reason) = self.about_to_access().filter(|_| self.met != here) {
                self.met = here;
                return Some(reason);
            }
            let stop = self.advance(1);
            self.history.note(self.machine);
            let moved = before != place(self.machine);
            let stop = stop.or_else(|| self.kernel_wrote().filter(|_| moved));
            let stop = stop.or_else(|| match &mut self.plan {
                // It is the one whose instruction that was, whoever is next.
                Plan::Go { step: Some(step), .. } if *step == thread => moved.then(|| stepped(thread)),
                Plan::Go { step, .. } => {
                    // One that is no more makes no step.
                    *step = step.filter(|step| self.machine.thread_ids().contains(step));
                    self.at_breakpoint()
                }
                _ => None,
            });
            // Whatever a system call waits for, gdb is heard.
            if stop.is_some() || !moved {
                return stop;
            }
        }
        None
    }

    fn at_breakpoint(&self) -> Option<Reason> {
        let here = self.breakpoints.contains_key(&self.machine.hart().pc());
        here.then(|| Reason::SwBreak(self.tid()))
    }

    /// Whether the next instruction accesses what is watched. Vector accesses are seen element by element.
    fn about_to_access(&mut self) -> Option<Reason> {
        if self.watchpoints.is_empty() {
            return None;
        }
        let inst = observe::next(self.machine.hart_mut())?;
        let mut found = None;
        observe::accesses(self.machine.hart(), &inst, |access| {
            let hit = |&&(at, len, kind): &&(u64, u64, WatchKind)| {
                let asked = match kind {
                    WatchKind::Write => access.stores,
                    WatchKind::Read => access.loads,
                    WatchKind::ReadWrite => true,
                };
                meet((access.va, access.size), (at, len)) && asked
            };
            // gdb looks at where its watchpoint begins, unless the access is inside of it.
            found = self.watchpoints.iter().find(hit).map(|&(at, _, kind)| (kind, access.va.max(at)));
            found.is_none()
        });
        found.map(|(kind, addr)| Reason::Watch { tid: self.tid(), kind, addr })
    }

    /// Whether the system call that was just made, or a signal, has written to what is watched.
    fn kernel_wrote(&self) -> Option<Reason> {
        if self.watchpoints.is_empty() {
            return None;
        }
        let writes = self.machine.last_kernel_writes();
        let hit = |&&(at, len, kind): &&(u64, u64, WatchKind)| {
            !matches!(kind, WatchKind::Read) && writes.iter().any(|write| meet(*write, (at, len)))
        };
        let (addr, _, kind) = *self.watchpoints.iter().find(hit)?;
        Some(Reason::Watch { tid: self.tid(), kind, addr })
    }

    /// Executes at most so many instructions, for a moment at most.
    fn advance(&mut self, most: u64) -> Option<Reason> {
        let end = self.machine.steps().saturating_add(most);
        self.machine.pause_at(Some(end));
        let deadline = Some(Instant::now() + PAUSE);
        let outcome = match &mut self.watch {
            None => self.machine.run(deadline),
            Some(watch) => match watch.run(self.machine, deadline) {
                Some(outcome) => outcome,
                None => return Some(self.signal(Signal::SIGTRAP)),
            },
        };
        if self.machine.take_lost_past() {
            self.history.forget(self.machine);
            self.message = Some(LOST.to_owned());
            return Some(self.signal(Signal::SIGTRAP));
        }
        let in_limit = self.machine.instructions_retired() < self.limit;
        match outcome {
            Outcome::TimedOut => return None,
            Outcome::OutOfInstructions if self.machine.steps() >= end && in_limit => return None,
            _ => {}
        }
        let reason = match &outcome {
            // It stops where it was when the signal came; it ends when it is to go on.
            Outcome::Signaled { signal, trap } => {
                self.trap = *trap;
                self.signal(gdb_signal(*signal))
            }
            Outcome::Stuck(trap) => {
                self.trap = Some(*trap);
                self.signal(Signal::SIGILL)
            }
            Outcome::Exited(_) => final_reason(&outcome),
            _ => self.signal(Signal::SIGSTOP),
        };
        self.ended = Some(outcome);
        Some(reason)
    }

    fn signal(&self, signal: Signal) -> Reason {
        Reason::SignalWithThread { tid: self.tid(), signal }
    }

    /// Goes back to where there had been so many steps; false if that is before the first snapshot.
    fn go_to(&mut self, steps: u64) -> bool {
        self.machine.set_console(Box::new(std::io::sink()));
        let found = self.history.back(self.machine, steps.saturating_add(1));
        if found {
            self.ended = None;
            let mut idle = 0;
            while self.machine.steps() < steps && self.ended.is_none() && idle < IDLE {
                let before = self.machine.steps();
                let _ = self.advance(steps - before);
                idle = if self.machine.steps() == before { idle + 1 } else { 0 };
            }
        }
        self.machine.set_console((self.console)());
        found
    }

    /// Back by a step of a thread.
    fn back_one(&mut self, thread: u32) -> Reason {
        let now = self.machine.steps();
        if now == 0 || !self.go_to(now - 1) {
            return self.beginning();
        }
        match self.machine.thread_id() == thread {
            true => stepped(thread),
            false => self.back(|debuggee| (debuggee.machine.thread_id() == thread).then(|| stepped(thread))),
        }
    }

    /// Back to the last place where `stops` says so, or behind the last access of what is watched, which gdb
    /// then takes back, or to the beginning.
    fn back(&mut self, stops: impl Fn(&Self) -> Option<Reason>) -> Reason {
        let mut end = self.machine.steps();
        // One that has gone on since meets it again.
        let told = self.met.filter(|met| *met == (end, true)).map(|(at, _)| at);
        self.machine.set_console(Box::new(std::io::sink()));
        let mut last = None;
        let mut look_at = LOOK_AT;
        while last.is_none()
            && let Some(first) = self.history.first(self.machine).filter(|first| *first < end)
        {
            let start = end.saturating_sub(look_at).max(first);
            if !self.go_to(start) {
                break;
            }
            // Running there again is quick, looking at each step is not.
            look_at = look_at.saturating_mul(2);
            self.machine.set_console(Box::new(std::io::sink()));
            let mut idle = 0;
            while self.machine.steps() < end && self.ended.is_none() && idle < IDLE {
                let at = self.machine.steps();
                if let Some(reason) = stops(self) {
                    last = Some((at, reason));
                }
                let access = self.about_to_access();
                let _ = self.advance(1);
                let behind = self.machine.steps();
                let access = access.or_else(|| self.kernel_wrote());
                if let Some(reason) = access.filter(|_| behind > at && Some(behind) != told) {
                    last = Some((behind, reason));
                }
                idle = if behind == at { idle + 1 } else { 0 };
            }
            end = start;
        }
        self.machine.set_console((self.console)());
        match last {
            Some((at, reason)) if self.go_to(at) => {
                self.met = matches!(reason, Reason::Watch { .. }).then_some((at, true));
                reason
            }
            _ => {
                let _ = self.go_to(end);
                self.beginning()
            }
        }
    }

    /// There is nothing before; why, if that is not where the program began.
    fn beginning(&mut self) -> Reason {
        let why = self.machine.why_no_past();
        self.message = why.map(|why| format!("rvvsim: no way back from here: {why}\n"));
        Reason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin }
    }

    /// Whether the state may be changed; if not, says why.
    pub fn may_change(&self) -> bool {
        let may = self.machine.may_change();
        if !may {
            crate::say::note(FIXED);
        }
        may
    }
}

const LOST: &str = "rvvsim: the past did not come out as it was; this is the present\n";

const FIXED: &str = "\
rvvsim: gdb: nothing can be changed here: since then the program has made system calls, which the host cannot
take back; `continue` leads to where it was
";

/// Whether two ranges of addresses have one in common.
fn meet((a, a_len): (u64, u64), (b, b_len): (u64, u64)) -> bool {
    a < b.saturating_add(b_len) && b < a.saturating_add(a_len)
}

/// gdb's id of a thread: 0 means any.
pub fn tid(id: u32) -> Tid {
    Tid::new(id as usize).unwrap_or(Tid::MIN)
}

fn stepped(thread: u32) -> Reason {
    Reason::SignalWithThread { tid: tid(thread), signal: Signal::SIGTRAP }
}

/// What gdb is told when there is nothing left to run.
fn final_reason(outcome: &Outcome) -> Reason {
    match outcome {
        Outcome::Exited(code) => Reason::Exited(*code as u8),
        Outcome::Signaled { signal, .. } => Reason::Terminated(gdb_signal(*signal)),
        _ => Reason::Terminated(Signal::SIGKILL),
    }
}

/// gdb has numbers of its own for signals.
fn gdb_signal(linux: i32) -> Signal {
    match linux {
        7 => Signal::SIGBUS,
        10 => Signal::SIGUSR1,
        12 => Signal::SIGUSR2,
        17 => Signal::SIGCHLD,
        18 => Signal::SIGCONT,
        19 => Signal::SIGSTOP,
        20 => Signal::SIGTSTP,
        23 => Signal::SIGURG,
        29 => Signal::SIGIO,
        30 => Signal::SIGPWR,
        31 => Signal::SIGSYS,
        same => Signal(same as u8),
    }
}

/// The auxiliary vector, as it stands on the stack of a process that has not begun: behind the arguments and
/// the environment, each of which ends with a zero.
fn auxiliary_vector(machine: &mut Machine) -> Vec<u8> {
    const MOST_WORDS: u64 = 1 << 16;
    let hart = machine.hart_mut();
    let sp = hart.x(2);
    let mut word = |n: u64| {
        let mut bytes = [0; 8];
        (hart.peek(sp.wrapping_add(8 * n), &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
    };
    let mut at = 1;
    for _ in 0..2 {
        while at < MOST_WORDS && word(at).is_some_and(|w| w != 0) {
            at += 1;
        }
        at += 1;
    }
    let mut vector = Vec::new();
    while let (Some(kind), Some(value)) = (word(at), word(at + 1)) {
        vector.extend(kind.to_le_bytes().into_iter().chain(value.to_le_bytes()));
        at += 2;
        if kind == 0 || at > MOST_WORDS {
            break;
        }
    }
    vector
}
