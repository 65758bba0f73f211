//! Signals: what is sent, blocked and handled.

use super::files::{HostFile, Kind, flag};
use super::host::Disposition;
use super::schedule::Wait;
use super::space::PAST_END_OF_FILE;
use super::thread::Thread;
use super::user::{self, Layout};
use super::{Process, Served, Stop, Verdict, end, host, space_of};
use crate::Hart;
use crate::trap::{Cause, Trap};
use rustix::event::EventfdFlags;
use rustix::io::Errno;
use std::sync::Arc;

pub use super::frame::frame_size;

/// Illegal instruction.
pub const SIGILL: i32 = 4;
/// Breakpoint.
pub const SIGTRAP: i32 = 5;
/// Misaligned access, or past the end of a file.
pub const SIGBUS: i32 = 7;
/// Cannot be caught.
pub const SIGKILL: i32 = 9;
/// Bad memory access.
pub const SIGSEGV: i32 = 11;
/// A pipe nobody reads.
pub const SIGPIPE: i32 = 13;
/// The interval timer.
pub const SIGALRM: i32 = 14;
/// The timer of the program's own processor time.
pub const SIGVTALRM: i32 = 26;
/// The timer of all processor time.
pub const SIGPROF: i32 = 27;
/// A child has ended or changed.
pub const SIGCHLD: i32 = 17;
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
/// Cannot be caught either.
const SIGSTOP: i32 = 19;
const SIGFPE: i32 = 8;

const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;

const SA_RESTART: u64 = 0x1000_0000;
const SA_NODEFER: u64 = 0x4000_0000;
const SA_RESETHAND: u64 = 0x8000_0000;
/// The handler wants the alternate stack.
pub const SA_ONSTACK: u64 = 0x0800_0000;

/// No alternate stack.
pub const SS_DISABLE: u32 = 2;
const SS_ONSTACK: u32 = 1;
const SS_AUTODISARM: u32 = 1 << 31;
const LEAST_STACK: u64 = 2048;

/// Sent by `kill`.
pub const SI_USER: i32 = 0;
/// Sent by `tgkill`.
pub const SI_TKILL: i32 = -6;

/// What a handler is told about a signal: the head of `siginfo_t`.
#[derive(Clone, Copy, Default)]
pub struct Info {
    /// Its number.
    pub signal: i32,
    /// Why it was sent.
    pub code: i32,
    /// The next sixteen bytes: an address, or who sent it.
    pub detail: [u64; 2],
}

impl Info {
    /// Sent by a process.
    pub fn sent(signal: i32, code: i32, pid: u32, uid: u32) -> Self {
        Info { signal, code, detail: [u64::from(pid) | u64::from(uid) << 32, 0] }
    }

    /// Sent by the kernel.
    pub fn kernel(signal: i32) -> Self {
        Info { signal, code: 0x80, detail: [0, 0] }
    }

    /// A fault at an address.
    pub fn fault(signal: i32, code: i32, address: u64) -> Self {
        Info { signal, code, detail: [address, 0] }
    }
}

/// What to do about a signal.
#[derive(Clone, Copy, Default)]
pub struct Action {
    /// `SIG_DFL`, `SIG_IGN`, or the handler's address.
    pub handler: u64,
    /// `SA_*`.
    pub flags: u64,
    /// Blocked while the handler runs.
    pub mask: u64,
}

/// The alternate stack.
#[derive(Clone, Copy)]
pub struct AltStack {
    /// Its lowest address.
    pub start: u64,
    /// Its size.
    pub size: u64,
    /// `SS_*`.
    pub flags: u32,
}

impl AltStack {
    /// Whether it is there and `sp` is on it.
    pub fn holds(&self, sp: u64) -> bool {
        self.flags & SS_DISABLE == 0 && sp > self.start && sp - self.start <= self.size
    }

    /// The flags as the guest is to see them.
    pub fn seen_flags(&self, sp: u64) -> u32 {
        if self.holds(sp) { self.flags | SS_ONSTACK } else { self.flags }
    }
}

/// Signals queued and not delivered, of a process or a thread, at most: more are refused with `EAGAIN`.
const MOST_QUEUED: usize = 1024;
/// From here on each signal sent is delivered; of those below only one is kept.
const FIRST_REAL_TIME: i32 = 32;

/// Signals that were sent and not yet delivered.
#[derive(Default)]
pub struct Pending {
    set: u64,
    queue: Vec<Info>,
}

impl Pending {
    /// Which; bit `n - 1` is signal `n`.
    pub fn set(&self) -> u64 {
        self.set
    }

    fn push(&mut self, info: Info) -> Result<(), Errno> {
        if info.signal < FIRST_REAL_TIME && self.set & bit(info.signal) != 0 {
            return Ok(());
        }
        if info.signal >= FIRST_REAL_TIME && self.queue.len() >= MOST_QUEUED {
            return Err(Errno::AGAIN);
        }
        self.set |= bit(info.signal);
        self.queue.push(info);
        Ok(())
    }

    /// Takes the oldest of the lowest number, of those in a set.
    fn take(&mut self, among: u64) -> Option<Info> {
        let ready = self.set & among;
        if ready == 0 {
            return None;
        }
        let signal = ready.trailing_zeros() as i32 + 1;
        let at = self.queue.iter().position(|info| info.signal == signal);
        let info = at.map_or(Info::kernel(signal), |at| self.queue.remove(at));
        if !self.queue.iter().any(|info| info.signal == signal) {
            self.set &= !bit(signal);
        }
        Some(info)
    }

    /// Forgets those of a set.
    fn remove(&mut self, set: u64) {
        self.set &= !set;
        self.queue.retain(|info| bit(info.signal) & set == 0);
    }
}

/// The signals of a process: what is done about each, and what was sent to it as a whole.
pub struct Signals {
    actions: [Action; 65],
    /// Sent to no thread in particular.
    pub pending: Pending,
    /// Where handlers return to.
    pub trampoline: u64,
}

/// The signals of a thread.
pub struct ThreadSignals {
    /// Blocked ones; bit `n - 1` is signal `n`.
    pub blocked: u64,
    pending: Pending,
    /// The alternate stack.
    pub altstack: AltStack,
    /// The mask to go back to when a handler returns, while a call waits with another.
    suspended: Option<u64>,
    /// The trap behind the last synchronous signal.
    trap: Option<Trap>,
}

impl Default for ThreadSignals {
    fn default() -> Self {
        ThreadSignals {
            blocked: 0,
            pending: Pending::default(),
            altstack: AltStack { start: 0, size: 0, flags: SS_DISABLE },
            suspended: None,
            trap: None,
        }
    }
}

impl ThreadSignals {
    /// Whether a signal is waiting that ends a wait: one of its own or of those sent to the process, not
    /// blocked or waited for.
    pub fn is_interrupted(&self, shared: u64, awaited: u64) -> bool {
        (self.pending.set | shared) & (!self.blocked | awaited) != 0
    }

    /// A call has ended that waited with another mask: if no handler took the old one with it, it comes back
    /// here.
    pub fn end_suspension(&mut self) {
        if let Some(mask) = self.suspended.take() {
            self.blocked = mask;
        }
    }
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Signals that can be neither blocked nor handled.
const UNSTOPPABLE: u64 = 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);
/// Signals that do nothing by default: CHLD, CONT, URG, WINCH.
const HARMLESS: u64 = 1 << 16 | 1 << 17 | 1 << 22 | 1 << 27;
/// Signals that stop a process by default: STOP, TSTP, TTIN, TTOU.
const STOPPING: u64 = 1 << (SIGSTOP - 1) | 1 << 19 | 1 << 20 | 1 << 21;
/// Signals that stay the host's: those of faults, and those that it alone has.
const NOT_HEARD: u64 = UNSTOPPABLE | FAULTS | 1 << (SIGFPE - 1) | 1 << 31 | 1 << 32;
/// Signals by which people and systems end programs: HUP, INT, TERM.
const ENDING: u64 = 1 << (SIGHUP - 1) | 1 << (SIGINT - 1) | 1 << (SIGTERM - 1);
/// Signals of faults, which are delivered first.
const FAULTS: u64 = 1 << (SIGSEGV - 1) | 1 << (SIGBUS - 1) | 1 << (SIGILL - 1) | 1 << (SIGTRAP - 1);

impl Signals {
    /// None sent, all by default.
    pub fn new(trampoline: u64) -> Self {
        Signals { actions: [Action::default(); 65], pending: Pending::default(), trampoline }
    }

    pub fn ignores(&self, signal: i32) -> bool {
        match self.actions[signal as usize].handler {
            SIG_IGN => true,
            SIG_DFL => HARMLESS & bit(signal) != 0,
            _ => false,
        }
    }

    /// Whether there is a handler for a signal that may come from outside.
    pub fn has_handlers(&self) -> bool {
        let handled = |signal: usize| self.actions[signal].handler > SIG_IGN;
        // The C library has handlers of its own for 32 and 33, and faults are the process's own.
        (1..65).filter(|n| !matches!(n, 32 | 33) && FAULTS & bit(*n as i32) == 0).any(handled)
    }
}

impl Process {
    /// Sends a signal to the process.
    pub(super) fn send(&mut self, info: Info) -> Result<(), Errno> {
        let blocks = |thread: &Thread| thread.signals.blocked & bit(info.signal) != 0;
        if self.signals.ignores(info.signal) && !self.threads.all.iter().any(|t| blocks(t)) {
            return Ok(());
        }
        self.signals.pending.push(info)
    }

    /// Sends a signal to a thread.
    pub(super) fn send_to(&mut self, thread: usize, info: Info) -> Result<(), Errno> {
        let signals = &mut self.threads.all[thread].signals;
        if self.signals.ignores(info.signal) && signals.blocked & bit(info.signal) == 0 {
            return Ok(());
        }
        signals.pending.push(info)
    }

    /// A signal the thread cannot refuse: if it is blocked or ignored, it has its default effect.
    pub(super) fn force(&mut self, info: Info) {
        let signals = &mut self.threads.all[self.threads.current].signals;
        let action = &mut self.signals.actions[info.signal as usize];
        if signals.blocked & bit(info.signal) != 0 || action.handler == SIG_IGN {
            action.handler = SIG_DFL;
            signals.blocked &= !bit(info.signal);
        }
        signals.pending.remove(bit(info.signal));
        let _ = signals.pending.push(info);
    }

    /// Signals that the current thread is to be interrupted by.
    fn ready_signals(&self) -> u64 {
        let signals = &self.me().signals;
        (signals.pending.set | self.signals.pending.set) & !signals.blocked
    }

    /// Whether a signal is waiting that ends a wait.
    pub(super) fn is_interrupted(&self) -> bool {
        self.ready_signals() != 0
    }

    /// Whether the handler about to run wants interrupted calls to go on (`SA_RESTART`), or none will run.
    pub(super) fn restarts(&self) -> bool {
        let ready = self.ready_signals();
        if ready == 0 {
            return true;
        }
        let action = self.signals.actions[ready.trailing_zeros() as usize + 1];
        action.handler <= SIG_IGN || action.flags & SA_RESTART != 0
    }

    /// The next signal to deliver to the current thread: faults first, then by number.
    fn next_signal(&mut self) -> Option<Info> {
        let signals = &mut self.threads.all[self.threads.current].signals;
        let open = !signals.blocked;
        signals
            .pending
            .take(open & FAULTS)
            .or_else(|| signals.pending.take(open))
            .or_else(|| self.signals.pending.take(open))
    }

    /// Signals that were sent to the current thread or the process and not delivered.
    pub(super) fn pending_signals(&self) -> u64 {
        self.me().signals.pending.set | self.signals.pending.set
    }

    /// Takes one of them.
    fn take_pending(&mut self, among: u64) -> Option<Info> {
        let signals = &mut self.threads.all[self.threads.current].signals;
        signals.pending.take(among).or_else(|| self.signals.pending.take(among))
    }

    /// `signalfd4(fd, mask, size, flags)`.
    pub(super) fn sys_signalfd4(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, mask, size, flags, ..] = args;
        let flags = flags as u32;
        if size != 8 || flags & !(flag::NONBLOCK | flag::CLOEXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let mask = user::read_u64(hart, mask)? & !UNSTOPPABLE;
        if fd as i32 == -1 {
            let host = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
            let event = HostFile::named(rustix::event::eventfd(0, host)?, Vec::new(), false);
            return Ok(self.files.add(Kind::Signals(mask, Arc::new(event)), flags)?);
        }
        match &mut self.files.get_mut(fd)?.kind {
            Kind::Signals(old, _) => *old = mask,
            _ => return Err(Errno::INVAL.into()),
        }
        Ok(fd)
    }

    /// Reads signals as `struct signalfd_siginfo`.
    pub(super) fn read_signals(&mut self, buffer: &mut [u8], mask: u64, at_once: bool) -> Served<usize> {
        const RECORD: usize = 128;
        if buffer.len() < RECORD {
            return Err(Errno::INVAL.into());
        }
        let mut read = 0;
        for record in buffer.chunks_exact_mut(RECORD) {
            let Some(info) = self.take_pending(mask) else { break };
            let mut s = Layout::<RECORD>::new();
            let [detail, value] = info.detail;
            s.put(0, 4, info.signal as u64).put(8, 4, u64::from(info.code as u32));
            s.put(12, 4, detail & 0xffff_ffff).put(16, 4, detail >> 32);
            // si_status of a child; the value that was sent.
            s.put(40, 4, value & 0xffff_ffff).put(44, 4, value & 0xffff_ffff).put(48, 8, value);
            record.copy_from_slice(&s.0);
            read += RECORD;
        }
        if read > 0 {
            return Ok(read);
        }
        if at_once {
            return Err(Errno::AGAIN.into());
        }
        self.me_mut().suspended.awaited = mask;
        let why = "waits for a signal".to_owned();
        Err(Stop::Again(Wait { outside: true, why, ..Wait::default() }))
    }

    /// Waits with another mask of blocked signals, until the call ends.
    pub(super) fn block_meanwhile(&mut self, mask: u64) {
        let signals = &mut self.me_mut().signals;
        let old = std::mem::replace(&mut signals.blocked, mask & !UNSTOPPABLE);
        signals.suspended.get_or_insert(old);
        self.hear_blocked();
    }

    /// Signals of the host become the guest's, if it is to have them.
    pub(super) fn take_host_signals(&mut self) {
        if !self.options.host_signals {
            return;
        }
        self.bell = host::begin_receiving().ok();
        for signal in 1..32 {
            // What was ignored when the emulator was started is ignored by the guest; SIGPIPE is by Rust.
            if host::is_ignored(signal) && signal != SIGPIPE {
                self.signals.actions[signal as usize].handler = SIG_IGN;
            }
        }
        if self.options.outlives_signals {
            [SIGHUP, SIGINT, SIGTERM].into_iter().for_each(|signal| self.mirror(signal));
        }
    }

    /// From now on a signal of the host comes to the guest.
    pub(super) fn hear(&mut self, signal: i32) {
        if self.bell.is_some() && bit(signal) & NOT_HEARD == 0 {
            host::dispose(signal, Disposition::Receive);
            self.heard |= bit(signal);
        }
    }

    /// A signal that is blocked waits here, whatever its action is.
    fn hear_blocked(&mut self) {
        if self.bell.is_none() {
            return;
        }
        let mut new = self.me().signals.blocked & !self.heard & !NOT_HEARD;
        while new != 0 {
            let signal = new.trailing_zeros() as i32 + 1;
            new &= new - 1;
            if self.signals.actions[signal as usize].handler != SIG_IGN {
                self.hear(signal);
            }
        }
    }

    /// The host does with a signal what the guest wants done.
    fn mirror(&mut self, signal: i32) {
        if self.bell.is_none() || bit(signal) & NOT_HEARD != 0 {
            return;
        }
        let blocked = self.threads.all.iter().any(|t| t.signals.blocked & bit(signal) != 0);
        let how = match self.signals.actions[signal as usize].handler {
            // Children that nobody wants to hear of are gone at once, and whoever waits for them must hear
            // it.
            SIG_IGN if signal == SIGCHLD => Disposition::ReceiveWithoutZombies,
            SIG_IGN => Disposition::Ignore,
            SIG_DFL if self.options.outlives_signals && bit(signal) & ENDING != 0 => Disposition::Receive,
            SIG_DFL if !blocked && signal != SIGCHLD => Disposition::Default,
            _ => Disposition::Receive,
        };
        host::dispose(signal, how);
        match how {
            Disposition::Receive | Disposition::ReceiveWithoutZombies => self.heard |= bit(signal),
            Disposition::Default | Disposition::Ignore => self.heard &= !bit(signal),
        }
    }

    /// A program of the host is about to be here: it ignores and blocks what this one does.
    pub(super) fn give_signals_to_host(&mut self) {
        for signal in (1..65).filter(|signal| bit(*signal) & UNSTOPPABLE == 0) {
            let ignored = self.signals.actions[signal as usize].handler == SIG_IGN;
            host::dispose(signal, if ignored { Disposition::Ignore } else { Disposition::Default });
        }
        host::block_only(self.me().signals.blocked);
    }

    /// A new process has none of its parent's signals.
    pub(super) fn forget_pending_signals(&mut self) {
        self.signals.pending = Pending::default();
        self.me_mut().signals.pending = Pending::default();
    }

    /// A new program has no handlers, and no alternate stack.
    pub(super) fn reset_signals(&mut self) {
        for signal in 1..65 {
            if self.signals.actions[signal as usize].handler > SIG_IGN {
                self.signals.actions[signal as usize] = Action::default();
                self.mirror(signal);
            }
        }
        let signals = &mut self.me_mut().signals;
        signals.altstack = AltStack { start: 0, size: 0, flags: SS_DISABLE };
        (signals.suspended, signals.trap) = (None, None);
    }

    /// `kill(pid, signal)`.
    pub(super) fn sys_kill(&mut self, target: u64, signal: u64) -> Served {
        let number = signal_number(signal)?;
        if self.send_to_others(target as i32, number)? && number != 0 {
            self.send(Info::sent(number, SI_USER, self.identity.pid, self.identity.uid))?;
        }
        Ok(0)
    }

    /// `tkill(tid, signal)` and `tgkill(pid, tid, signal)`.
    pub(super) fn sys_tgkill(&mut self, pid: Option<u64>, tid: u64, signal: u64) -> Served {
        if pid.is_some_and(|pid| pid as i32 <= 0) || tid as i32 <= 0 {
            return Err(Errno::INVAL.into());
        }
        let number = signal_number(signal)?;
        if pid.is_some_and(|pid| pid as u32 != self.identity.pid) {
            // The first thread of another process has its id.
            return match pid == Some(tid) && !self.send_to_others(tid as i32, number)? {
                true => Ok(0),
                false => Err(Errno::SRCH.into()),
            };
        }
        let thread = self.threads.index_of(tid as u32).ok_or(Errno::SRCH)?;
        if number != 0 {
            self.send_to(thread, Info::sent(number, SI_TKILL, self.identity.pid, self.identity.uid))?;
        }
        Ok(0)
    }

    /// `rt_sigqueueinfo(pid, signal, info)`, and with a thread `rt_tgsigqueueinfo`.
    pub(super) fn sys_rt_sigqueueinfo(
        &mut self,
        hart: &mut Hart,
        pid: u64,
        tid: Option<u64>,
        signal: u64,
        info: u64,
    ) -> Served {
        let bytes: [u8; 32] = user::read_array(hart, info)?;
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let number = signal_number(signal)?;
        let info = Info { signal: number, code: word(8) as i32, detail: [word(16), word(24)] };
        if pid as u32 != self.identity.pid {
            let host_pid = match self.family {
                Some(family) => family.host_id(pid as i32)?,
                None if self.options.host_fs && self.bell.is_some() => pid as i32,
                None => return Err(Errno::SRCH.into()),
            };
            let Info { signal, code, detail } = info;
            host::queue_signal(host_pid, &host::Received { signal, code, detail })?;
            return Ok(0);
        }
        let thread = match tid {
            Some(tid) => Some(self.threads.index_of(tid as u32).ok_or(Errno::SRCH)?),
            None => None,
        };
        match thread {
            _ if number == 0 => {}
            Some(thread) => self.send_to(thread, info)?,
            None => self.send(info)?,
        }
        Ok(0)
    }

    /// Turns a trap into the signal Linux turns it into.
    pub(super) fn raise_trap(&mut self, hart: &mut Hart, trap: Trap) {
        let pc = hart.pc;
        let info = match trap.cause {
            Cause::IllegalInstruction => Info::fault(SIGILL, 1, pc),
            Cause::Breakpoint => Info::fault(SIGTRAP, 1, pc),
            Cause::InstructionAddressMisaligned
            | Cause::LoadAddressMisaligned
            | Cause::StoreAddressMisaligned => Info::fault(SIGBUS, 1, trap.tval),
            Cause::InstructionAccessFault | Cause::LoadAccessFault | Cause::StoreAccessFault => {
                Info::fault(SIGSEGV, 2, trap.tval)
            }
            Cause::InstructionPageFault | Cause::LoadPageFault | Cause::StorePageFault => {
                let mapped = space_of(hart).0.area_at(trap.tval).is_some();
                match trap.why {
                    PAST_END_OF_FILE => Info::fault(SIGBUS, 2, trap.tval),
                    _ => Info::fault(SIGSEGV, if mapped { 2 } else { 1 }, trap.tval),
                }
            }
            Cause::EcallFromU | Cause::EcallFromS | Cause::EcallFromM => Info::fault(SIGILL, 1, pc),
        };
        self.me_mut().signals.trap = Some(trap);
        self.force(info);
    }

    /// Delivers what is pending: enters handlers, or ends the process.
    pub(super) fn deliver(&mut self, hart: &mut Hart) -> Verdict {
        // A handful of frames at most: each handler blocks its own signal.
        for _ in 0..64 {
            let Some(info) = self.next_signal() else { break };
            let signal = info.signal;
            if self.options.strace {
                self.log_line(super::strace::signal(&info));
            }
            let action = self.signals.actions[signal as usize];
            match action.handler {
                SIG_IGN => continue,
                SIG_DFL if HARMLESS & bit(signal) != 0 => continue,
                SIG_DFL if STOPPING & bit(signal) != 0 => {
                    // Without a process of the host's there is nobody to continue it.
                    if self.bell.is_some() {
                        host::stop(signal);
                        self.hear(signal);
                    }
                    continue;
                }
                SIG_DFL => {
                    let synchronous = FAULTS & bit(signal) != 0 && info.code > 0;
                    let trap = self.me_mut().signals.trap.take().filter(|_| synchronous);
                    return end(hart, Verdict::Kill { signal, trap });
                }
                _ => {}
            }
            if self.abort_sequence(hart).is_err() {
                self.me_mut().rseq = super::rseq::Rseq::default();
                self.force(Info::kernel(SIGSEGV));
            }
            let signals = &mut self.me_mut().signals;
            let mask = signals.suspended.take().unwrap_or(signals.blocked);
            if self.enter_handler(hart, &info, &action, mask).is_err() {
                // No room for the frame: a fault of its own, and a handler of that one may try once.
                if signal == SIGSEGV {
                    self.signals.actions[SIGSEGV as usize] = Action::default();
                }
                let sp = hart.x[2];
                self.me_mut().signals.trap = Some(Trap::new(
                    Cause::StorePageFault,
                    sp,
                    "no room on the stack for the frame of a signal handler",
                ));
                self.force(Info::kernel(SIGSEGV));
                continue;
            }
            if action.flags & SA_RESETHAND != 0 {
                self.signals.actions[signal as usize].handler = SIG_DFL;
            }
            let signals = &mut self.me_mut().signals;
            signals.blocked |= action.mask;
            if action.flags & SA_NODEFER == 0 {
                signals.blocked |= bit(signal);
            }
            signals.blocked &= !UNSTOPPABLE;
        }
        Verdict::Continue
    }

    /// `rt_sigaction(signal, new, old, size)`.
    pub(super) fn sys_rt_sigaction(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [signal, new, old, size, ..] = args;
        if size != 8 || !(1..=64).contains(&signal) {
            return Err(Errno::INVAL.into());
        }
        let number = signal as i32;
        let was = self.signals.actions[signal as usize];
        if new != 0 {
            if bit(number) & UNSTOPPABLE != 0 {
                return Err(Errno::INVAL.into());
            }
            let bytes: [u8; 24] = user::read_array(hart, new)?;
            let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
            let action = Action { handler: word(0), flags: word(8), mask: word(16) & !UNSTOPPABLE };
            self.signals.actions[signal as usize] = action;
            self.mirror(number);
            if self.signals.ignores(number) {
                self.signals.pending.remove(bit(number));
                self.threads.all.iter_mut().for_each(|t| t.signals.pending.remove(bit(number)));
            }
        }
        if old != 0 {
            let mut s = Layout::<24>::new();
            s.put(0, 8, was.handler).put(8, 8, was.flags).put(16, 8, was.mask);
            user::write(hart, old, &s.0)?;
        }
        Ok(0)
    }

    /// `rt_sigprocmask(how, new, old, size)`.
    pub(super) fn sys_rt_sigprocmask(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [how, new, old, size, ..] = args;
        if size != 8 {
            return Err(Errno::INVAL.into());
        }
        let was = self.me().signals.blocked;
        if new != 0 {
            let set = user::read_u64(hart, new)?;
            let blocked = match how {
                0 => was | set,
                1 => was & !set,
                2 => set,
                _ => return Err(Errno::INVAL.into()),
            };
            self.me_mut().signals.blocked = blocked & !UNSTOPPABLE;
            self.hear_blocked();
        }
        if old != 0 {
            user::write_u64(hart, old, was)?;
        }
        Ok(0)
    }

    /// `rt_sigpending(set, size)`.
    pub(super) fn sys_rt_sigpending(&mut self, hart: &mut Hart, set: u64, size: u64) -> Served {
        if size > 8 {
            return Err(Errno::INVAL.into());
        }
        let signals = &self.me().signals;
        let pending = (signals.pending.set | self.signals.pending.set) & signals.blocked;
        user::write(hart, set, &pending.to_le_bytes()[..size as usize])?;
        Ok(0)
    }

    /// `rt_sigsuspend(mask, size)`.
    pub(super) fn sys_rt_sigsuspend(&mut self, hart: &mut Hart, mask: u64, size: u64) -> Served {
        if size != 8 {
            return Err(Errno::INVAL.into());
        }
        let mask = user::read_u64(hart, mask)?;
        self.block_meanwhile(mask);
        if self.is_interrupted() {
            return Err(Errno::INTR.into());
        }
        Err(Stop::Again(Wait { outside: true, why: "waits for a signal".to_owned(), ..Wait::default() }))
    }

    /// `rt_sigtimedwait(set, info, timeout, size)`.
    pub(super) fn sys_rt_sigtimedwait(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [set, info_at, timeout, size, ..] = args;
        if size != 8 {
            return Err(Errno::INVAL.into());
        }
        let set = user::read_u64(hart, set)?;
        let set = set & !UNSTOPPABLE;
        if let Some(info) = self.take_pending(set) {
            if info_at != 0 {
                let bytes = super::frame::siginfo(&info);
                user::write(hart, info_at, &bytes)?;
            }
            return Ok(info.signal as u64);
        }
        self.me_mut().suspended.awaited = set;
        let until = match timeout {
            0 => None,
            _ => Some(self.waking_time(hart, timeout, None)?),
        };
        if until.is_some_and(|until| self.time.now(hart) >= until) {
            return Err(Errno::AGAIN.into());
        }
        let why = "waits for a signal".to_owned();
        Err(Stop::Again(Wait { until, outside: true, why, ..Wait::default() }))
    }

    /// `sigaltstack(new, old)`.
    pub(super) fn sys_sigaltstack(&mut self, hart: &mut Hart, new: u64, old: u64) -> Served {
        let sp = hart.x[2];
        let was = self.me().signals.altstack;
        if new != 0 {
            let bytes: [u8; 24] = user::read_array(hart, new)?;
            let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
            let (start, flags, size) = (word(0), word(8) as u32, word(16));
            if was.holds(sp) {
                return Err(Errno::PERM.into());
            }
            match flags & !SS_AUTODISARM {
                SS_DISABLE => {
                    self.me_mut().signals.altstack = AltStack { start: 0, size: 0, flags: SS_DISABLE }
                }
                0 | SS_ONSTACK => {
                    if size < LEAST_STACK {
                        return Err(Errno::NOMEM.into());
                    }
                    self.me_mut().signals.altstack = AltStack { start, size, flags: flags & SS_AUTODISARM };
                }
                _ => return Err(Errno::INVAL.into()),
            }
        }
        if old != 0 {
            let mut s = Layout::<24>::new();
            s.put(0, 8, was.start).put(8, 4, u64::from(was.seen_flags(sp))).put(16, 8, was.size);
            user::write(hart, old, &s.0)?;
        }
        Ok(0)
    }

    /// `rt_sigreturn()`.
    pub(super) fn sys_rt_sigreturn(&mut self, hart: &mut Hart) -> Served {
        match self.leave_handler(hart) {
            Ok(mask) => self.me_mut().signals.blocked = mask & !UNSTOPPABLE,
            Err(_) => {
                let why = "rt_sigreturn found no valid signal frame on the stack";
                self.me_mut().signals.trap = Some(Trap::new(Cause::LoadPageFault, hart.x[2], why));
                self.force(Info::kernel(SIGSEGV));
            }
        }
        Err(Stop::Resumed)
    }
}

/// A signal's number, or 0 for none.
fn signal_number(signal: u64) -> Result<i32, Errno> {
    let number = signal as i32;
    if (0..=64).contains(&number) { Ok(number) } else { Err(Errno::INVAL) }
}
