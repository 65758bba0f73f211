//! The program under gdb.

use super::arch::{Base, Register, Rv64, description};
use super::history::History;
use super::monitor;
use super::watch::Watch;
use gdbstub::common::Signal;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::target::ext::auxv::{Auxv, AuxvOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use rvv_isa::{Vtype, csr};
use rvvsim::{Machine, MemoryEvent, Outcome, Trap};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::time::{Duration, Instant};

/// How often gdb is listened to while the program runs.
const PAUSE: Duration = Duration::from_millis(50);
/// Instructions between looks at the clock where each is looked at.
const STEPS: u32 = 20_000;

/// So many moments without an instruction: the past is not done again as it was, since it read what is no
/// longer there.
const IDLE: u32 = 20;

/// Why the program stopped.
pub type Reason = SingleThreadStopReason<u64>;

/// What gdb asked for last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Continue,
    Step,
    BackOne,
    Back,
}

/// A machine under gdb.
pub struct Debuggee<'m> {
    pub machine: &'m mut Machine,
    /// `--max-insns`.
    limit: u64,
    mode: Mode,
    breakpoints: BTreeMap<u64, usize>,
    watchpoints: Vec<(u64, u64, WatchKind)>,
    history: History,
    /// Where the console's output goes: nowhere while the past is run again.
    console: &'m dyn Fn() -> Box<dyn Write + Send>,
    /// How it ended; gdb may still look around.
    pub ended: Option<Outcome>,
    /// The trap that ended it.
    pub trap: Option<Trap>,
    /// With `--sanitize`.
    pub watch: Option<Watch<'m>>,
    description: String,
    auxv: Vec<u8>,
}

impl<'m> Debuggee<'m> {
    pub fn new(
        machine: &'m mut Machine,
        console: &'m dyn Fn() -> Box<dyn Write + Send>,
        watch: Option<Watch<'m>>,
    ) -> Debuggee<'m> {
        let process = machine.process().is_some();
        Debuggee {
            limit: machine.hart().config().max_insns.unwrap_or(u64::MAX),
            mode: Mode::Continue,
            breakpoints: BTreeMap::new(),
            watchpoints: Vec::new(),
            history: History::new(machine),
            console,
            ended: None,
            trap: None,
            watch,
            description: description(machine.hart(), process),
            auxv: if process { auxiliary_vector(machine) } else { Vec::new() },
            machine,
        }
    }

    /// gdb has gone: the limits are the user's again.
    pub fn let_go(&mut self) {
        self.machine.pause_at(None);
        self.machine.hart_mut().stop_log();
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

    /// Runs for a moment; why it stopped, if it did.
    pub fn run_for_a_moment(&mut self) -> Option<Reason> {
        if let Some(outcome) = &self.ended {
            return Some(final_reason(outcome));
        }
        match self.mode {
            Mode::Step => {
                let before = (self.machine.instructions_retired(), self.machine.hart().pc());
                let stop = self.advance(1);
                let moved = before != (self.machine.instructions_retired(), self.machine.hart().pc());
                stop.or_else(|| self.watched()).or(moved.then_some(Reason::DoneStep))
            }
            Mode::Continue if self.breakpoints.is_empty() && self.watchpoints.is_empty() => {
                let most = self.history.room(self.machine);
                let stop = self.advance(most);
                self.history.note(self.machine);
                stop
            }
            Mode::Continue => (0..STEPS).find_map(|_| self.one_of_many()),
            Mode::BackOne => {
                let now = self.machine.instructions_retired();
                Some(if now > 0 && self.go_to(now - 1) { Reason::DoneStep } else { BEGINNING })
            }
            Mode::Back => Some(self.back()),
        }
    }

    /// An instruction of a run that is watched.
    fn one_of_many(&mut self) -> Option<Reason> {
        let stop = self.advance(1);
        self.history.note(self.machine);
        stop.or_else(|| self.watched()).or_else(|| self.at_breakpoint())
    }

    fn at_breakpoint(&self) -> Option<Reason> {
        self.breakpoints.contains_key(&self.machine.hart().pc()).then_some(Reason::SwBreak(()))
    }

    /// Whether the last instruction accessed what is watched. Vector accesses are seen element by element.
    fn watched(&mut self) -> Option<Reason> {
        if self.watchpoints.is_empty() {
            return None;
        }
        let log = self.machine.hart_mut().take_log();
        log.memory.iter().find_map(|event| {
            let (va, size, is_store) = match *event {
                MemoryEvent::Load { va, size } => (va, size, false),
                MemoryEvent::Store { va, size, .. } => (va, size, true),
            };
            let hit = |&&(at, len, kind): &&(u64, u64, WatchKind)| {
                let meets = va < at.saturating_add(len) && at < va.saturating_add(size as u64);
                let asked = match kind {
                    WatchKind::Write => is_store,
                    WatchKind::Read => !is_store,
                    WatchKind::ReadWrite => true,
                };
                meets && asked
            };
            let (at, _, kind) = *self.watchpoints.iter().find(hit)?;
            // gdb looks at where its watchpoint begins, unless the access is inside of it.
            Some(Reason::Watch { tid: (), kind, addr: va.max(at) })
        })
    }

    /// Executes at most so many instructions, for a moment at most.
    fn advance(&mut self, most: u64) -> Option<Reason> {
        let end = self.machine.instructions_retired().saturating_add(most);
        self.machine.pause_at(Some(end));
        let deadline = Some(Instant::now() + PAUSE);
        let outcome = match &mut self.watch {
            None => self.machine.run(deadline),
            Some(watch) => match watch.run(self.machine, deadline) {
                Some(outcome) => outcome,
                None => return Some(Reason::Signal(Signal::SIGTRAP)),
            },
        };
        let retired = self.machine.instructions_retired();
        match outcome {
            Outcome::TimedOut => return None,
            Outcome::OutOfInstructions if retired >= end && retired < self.limit => return None,
            _ => {}
        }
        let reason = match &outcome {
            // It stops where it was when the signal came; it ends when it is to go on.
            Outcome::Signaled { signal, trap } => {
                self.trap = *trap;
                Reason::Signal(gdb_signal(*signal))
            }
            Outcome::Stuck(trap) => {
                self.trap = Some(*trap);
                Reason::Signal(Signal::SIGILL)
            }
            Outcome::Exited(_) => final_reason(&outcome),
            _ => Reason::Signal(Signal::SIGSTOP),
        };
        self.ended = Some(outcome);
        Some(reason)
    }

    /// Goes back to where `instructions` had retired; false if that is before the first snapshot.
    fn go_to(&mut self, instructions: u64) -> bool {
        self.machine.set_console(Box::new(std::io::sink()));
        let found = self.history.back(self.machine, instructions.saturating_add(1));
        if found {
            self.ended = None;
            let mut idle = 0;
            while self.machine.instructions_retired() < instructions && self.ended.is_none() && idle < IDLE {
                let before = self.machine.instructions_retired();
                let _ = self.advance(instructions - before);
                idle = if self.machine.instructions_retired() == before { idle + 1 } else { 0 };
            }
        }
        self.machine.set_console((self.console)());
        found
    }

    /// Back to the last breakpoint or watched access, or to the beginning.
    fn back(&mut self) -> Reason {
        let mut end = self.machine.instructions_retired();
        self.machine.set_console(Box::new(std::io::sink()));
        let mut last = None;
        while last.is_none() && self.history.back(self.machine, end) {
            self.ended = None;
            let start = self.machine.instructions_retired();
            let mut idle = 0;
            while self.machine.instructions_retired() < end && self.ended.is_none() && idle < IDLE {
                let at = self.machine.instructions_retired();
                if let Some(reason) = self.at_breakpoint() {
                    last = Some((at, reason));
                }
                let _ = self.advance(1);
                if let Some(reason) = self.watched() {
                    last = Some((at, reason));
                }
                idle = if self.machine.instructions_retired() == at { idle + 1 } else { 0 };
            }
            end = start;
        }
        self.machine.set_console((self.console)());
        match last {
            Some((at, reason)) if self.go_to(at) => reason,
            _ => {
                let _ = self.go_to(end);
                BEGINNING
            }
        }
    }
}

const BEGINNING: Reason = Reason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin };

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

/// A part of something that gdb reads in parts.
fn part(whole: &[u8], offset: u64, length: usize, to: &mut [u8]) -> usize {
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
    let n = length.min(to.len()).min(whole.len() - from);
    to[..n].copy_from_slice(&whole[from..from + n]);
    n
}

impl Target for Debuggee<'_> {
    type Arch = Rv64;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Rv64, Infallible> {
        BaseOps::SingleThread(self)
    }

    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_auxv(&mut self) -> Option<AuxvOps<'_, Self>> {
        if self.auxv.is_empty() { None } else { Some(self) }
    }
}

impl SingleThreadBase for Debuggee<'_> {
    fn read_registers(&mut self, regs: &mut Base) -> TargetResult<(), Self> {
        let hart = self.machine.hart();
        (regs.x, regs.pc) = (*hart.x_registers(), hart.pc());
        Ok(())
    }

    fn write_registers(&mut self, regs: &Base) -> TargetResult<(), Self> {
        let hart = self.machine.hart_mut();
        for r in 1..32u8 {
            hart.set_x(r, regs.x[usize::from(r)]);
        }
        hart.set_pc(regs.pc);
        self.history.forget(self.machine);
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, (), Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8]) -> TargetResult<usize, Self> {
        match self.machine.hart_mut().peek(start, data) {
            0 if !data.is_empty() => Err(TargetError::NonFatal),
            n => Ok(n),
        }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8]) -> TargetResult<(), Self> {
        let done = self.machine.hart_mut().poke(start, data);
        self.history.forget(self.machine);
        if done == data.len() { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

/// Up to eight bytes, as a number.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut le = [0; 8];
    le.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(le))
}

impl SingleRegisterAccess<()> for Debuggee<'_> {
    fn read_register(&mut self, (): (), register: Register, buf: &mut [u8]) -> TargetResult<usize, Self> {
        let hart = self.machine.hart();
        let value = match register {
            Register::X(r) => hart.x(r),
            Register::Pc => hart.pc(),
            Register::F(r) => hart.f(r),
            Register::Csr(number) => hart.read_csr(number).ok_or(TargetError::NonFatal)?,
            Register::V(r) => {
                let vlenb = hart.vector().vlenb;
                let bytes = &hart.vector().registers()[usize::from(r) * vlenb..][..vlenb];
                buf.get_mut(..vlenb).ok_or(TargetError::NonFatal)?.copy_from_slice(bytes);
                return Ok(vlenb);
            }
        };
        buf.get_mut(..8).ok_or(TargetError::NonFatal)?.copy_from_slice(&value.to_le_bytes());
        Ok(8)
    }

    fn write_register(&mut self, (): (), register: Register, val: &[u8]) -> TargetResult<(), Self> {
        let hart = self.machine.hart_mut();
        if let Register::V(r) = register {
            let vlenb = hart.vector().vlenb;
            let to = &mut hart.vector_mut().registers_mut()[usize::from(r) * vlenb..][..vlenb];
            if val.len() != vlenb {
                return Err(TargetError::NonFatal);
            }
            to.copy_from_slice(val);
        } else {
            let value = number(val).ok_or(TargetError::NonFatal)?;
            match register {
                Register::X(r) => hart.set_x(r, value),
                Register::Pc => hart.set_pc(value),
                Register::F(r) => hart.set_f(r, value),
                // Only vset{i}vl{i} writes these, and gdb.
                Register::Csr(csr::VL) => {
                    let vlmax = hart.vector().vtype.vlmax(hart.config().vlen);
                    hart.vector_mut().vl = value.min(vlmax.into());
                }
                Register::Csr(csr::VTYPE) => hart.vector_mut().vtype = Vtype::from_bits(value),
                Register::Csr(number) => hart.write_csr(number, value),
                Register::V(_) => {}
            }
        }
        self.history.forget(self.machine);
        Ok(())
    }
}

impl SingleThreadResume for Debuggee<'_> {
    fn resume(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.mode = Mode::Continue;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        if self.history.is_kept() { Some(self) } else { None }
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        if self.history.is_kept() { Some(self) } else { None }
    }
}

impl SingleThreadSingleStep for Debuggee<'_> {
    fn step(&mut self, _: Option<Signal>) -> Result<(), Infallible> {
        self.mode = Mode::Step;
        Ok(())
    }
}

impl ReverseStep<()> for Debuggee<'_> {
    fn reverse_step(&mut self, (): ()) -> Result<(), Infallible> {
        self.mode = Mode::BackOne;
        Ok(())
    }
}

impl ReverseCont<()> for Debuggee<'_> {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.mode = Mode::Back;
        Ok(())
    }
}

impl Breakpoints for Debuggee<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee<'_> {
    /// Breakpoints are a list of addresses: nothing is written into the program.
    fn add_breakpoint(&mut self, addr: u64) -> bool {
        *self.breakpoints.entry(addr).or_default() += 1;
        true
    }

    fn remove_breakpoint(&mut self, addr: u64) -> bool {
        let Some(count) = self.breakpoints.get_mut(&addr) else { return false };
        *count -= 1;
        if *count == 0 {
            self.breakpoints.remove(&addr);
        }
        true
    }
}

impl SwBreakpoint for Debuggee<'_> {
    fn add_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_breakpoint(addr))
    }

    fn remove_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_breakpoint(addr))
    }
}

impl HwBreakpoint for Debuggee<'_> {
    fn add_hw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_breakpoint(addr))
    }

    fn remove_hw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_breakpoint(addr))
    }
}

impl HwWatchpoint for Debuggee<'_> {
    fn add_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        if self.watchpoints.is_empty() {
            let hart = self.machine.hart_mut();
            hart.start_log();
            hart.flush_tlb();
        }
        self.watchpoints.push((addr, len, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let Some(n) = self.watchpoints.iter().position(|w| *w == (addr, len, kind)) else { return Ok(false) };
        self.watchpoints.remove(n);
        if self.watchpoints.is_empty() {
            self.machine.hart_mut().stop_log();
        }
        Ok(true)
    }
}

impl TargetDescriptionXmlOverride for Debuggee<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        Ok(part(self.description.as_bytes(), offset, length, buf))
    }
}

impl Auxv for Debuggee<'_> {
    fn get_auxv(&self, offset: u64, length: usize, buf: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(part(&self.auxv, offset, length, buf))
    }
}

impl MonitorCmd for Debuggee<'_> {
    fn handle_monitor_cmd(&mut self, cmd: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        out.write_raw(monitor::answer(self, &String::from_utf8_lossy(cmd)).as_bytes());
        Ok(())
    }
}
