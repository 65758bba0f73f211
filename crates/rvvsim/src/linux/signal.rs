//! Signals: what is sent, blocked and handled.

use super::space::PAST_END_OF_FILE;
use super::user::{self, Layout};
use super::{Process, Served, Stop, Verdict, end, space_of};
use crate::Hart;
use crate::trap::{Cause, Trap};
use rustix::io::Errno;

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
/// Cannot be caught either.
const SIGSTOP: i32 = 19;

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

/// The signals of the process.
pub struct Signals {
    actions: [Action; 65],
    /// Blocked ones; bit `n - 1` is signal `n`.
    pub blocked: u64,
    pending: u64,
    infos: Vec<Info>,
    /// The alternate stack.
    pub altstack: AltStack,
    /// The mask to go back to when a handler returns, while `rt_sigsuspend` waits.
    suspended: Option<u64>,
    /// The trap behind the last synchronous signal.
    trap: Option<Trap>,
    /// Where handlers return to.
    pub trampoline: u64,
    /// What `PR_RISCV_V_SET_CONTROL` asked for the next program.
    pub vector_next: u64,
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Signals that can be neither blocked nor handled.
const UNSTOPPABLE: u64 = 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);
/// Signals that do nothing by default: CHLD, CONT, URG, WINCH, and the ones that stop, since there is nobody
/// to continue the process.
const HARMLESS: u64 =
    1 << 16 | 1 << 17 | 1 << 22 | 1 << 27 | 1 << (SIGSTOP - 1) | 1 << 19 | 1 << 20 | 1 << 21;

impl Signals {
    /// None sent, none blocked, all by default.
    pub fn new(trampoline: u64) -> Self {
        Signals {
            actions: [Action::default(); 65],
            blocked: 0,
            pending: 0,
            infos: Vec::new(),
            altstack: AltStack { start: 0, size: 0, flags: SS_DISABLE },
            suspended: None,
            trap: None,
            trampoline,
            vector_next: 0,
        }
    }

    /// Sends a signal to the process.
    pub fn send(&mut self, info: Info) {
        let ignored = match self.actions[info.signal as usize].handler {
            SIG_IGN => true,
            SIG_DFL => HARMLESS & bit(info.signal) != 0,
            _ => false,
        };
        if self.pending & bit(info.signal) != 0 || (ignored && self.blocked & bit(info.signal) == 0) {
            return;
        }
        self.pending |= bit(info.signal);
        self.infos.retain(|i| i.signal != info.signal);
        self.infos.push(info);
    }

    /// A signal the process cannot refuse: if it is blocked or ignored, it has its default effect.
    fn force(&mut self, info: Info) {
        let action = &mut self.actions[info.signal as usize];
        if self.blocked & bit(info.signal) != 0 || action.handler == SIG_IGN {
            action.handler = SIG_DFL;
            self.blocked &= !bit(info.signal);
        }
        self.pending &= !bit(info.signal);
        self.send(info);
    }

    /// Whether a signal is waiting that ends a wait.
    pub fn interrupts(&self) -> bool {
        self.pending & !self.blocked != 0
    }

    /// Whether the handler about to run wants interrupted calls to go on (`SA_RESTART`).
    pub fn restarts(&self) -> bool {
        let ready = self.pending & !self.blocked;
        ready != 0 && self.actions[ready.trailing_zeros() as usize + 1].flags & SA_RESTART != 0
    }

    /// `rt_sigsuspend` is over: if no handler took the old mask with it, it comes back here.
    pub fn end_suspension(&mut self) {
        if let Some(mask) = self.suspended.take() {
            self.blocked = mask;
        }
    }

    /// The next signal to deliver: faults first, then by number.
    fn next(&mut self) -> Option<Info> {
        let ready = self.pending & !self.blocked;
        if ready == 0 {
            return None;
        }
        let faults = ready & (bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGTRAP));
        let signal = if faults != 0 { faults } else { ready }.trailing_zeros() as i32 + 1;
        self.pending &= !bit(signal);
        let at = self.infos.iter().position(|i| i.signal == signal);
        Some(at.map_or(Info::kernel(signal), |at| self.infos.swap_remove(at)))
    }
}

impl Process {
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
        self.signals.trap = Some(trap);
        self.signals.force(info);
    }

    /// Delivers what is pending: enters handlers, or ends the process.
    pub(super) fn deliver(&mut self, hart: &mut Hart) -> Verdict {
        // A handful of frames at most: each handler blocks its own signal.
        for _ in 0..64 {
            let Some(info) = self.signals.next() else { break };
            let signal = info.signal;
            if self.options.strace {
                super::strace::tell_signal(&info);
            }
            let action = self.signals.actions[signal as usize];
            match action.handler {
                SIG_IGN => continue,
                SIG_DFL if HARMLESS & bit(signal) != 0 => continue,
                SIG_DFL => {
                    let synchronous = matches!(signal, SIGSEGV | SIGBUS | SIGILL | SIGTRAP) && info.code > 0;
                    let trap = self.signals.trap.take().filter(|_| synchronous);
                    return end(hart, Verdict::Kill { signal, trap });
                }
                _ => {}
            }
            let mask = self.signals.suspended.take().unwrap_or(self.signals.blocked);
            if self.enter_handler(hart, &info, &action, mask).is_err() {
                // No room for the frame: a fault of its own, and a handler of that one may try once.
                if signal == SIGSEGV {
                    self.signals.actions[SIGSEGV as usize] = Action::default();
                }
                let sp = hart.x[2];
                self.signals.trap = Some(Trap::new(
                    Cause::StorePageFault,
                    sp,
                    "no room on the stack for the frame of a signal handler",
                ));
                self.signals.force(Info::kernel(SIGSEGV));
                continue;
            }
            if action.flags & SA_RESETHAND != 0 {
                self.signals.actions[signal as usize].handler = SIG_DFL;
            }
            self.signals.blocked |= action.mask;
            if action.flags & SA_NODEFER == 0 {
                self.signals.blocked |= bit(signal);
            }
            self.signals.blocked &= !UNSTOPPABLE;
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
            let ignored =
                action.handler == SIG_IGN || (action.handler == SIG_DFL && HARMLESS & bit(number) != 0);
            if ignored {
                self.signals.pending &= !bit(number);
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
        let was = self.signals.blocked;
        if new != 0 {
            let set = user::read_u64(hart, new)?;
            let blocked = match how {
                0 => was | set,
                1 => was & !set,
                2 => set,
                _ => return Err(Errno::INVAL.into()),
            };
            self.signals.blocked = blocked & !UNSTOPPABLE;
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
        let pending = self.signals.pending & self.signals.blocked;
        user::write(hart, set, &pending.to_le_bytes()[..size as usize])?;
        Ok(0)
    }

    /// `rt_sigsuspend(mask, size)`.
    pub(super) fn sys_rt_sigsuspend(&mut self, hart: &mut Hart, mask: u64, size: u64) -> Served {
        if size != 8 {
            return Err(Errno::INVAL.into());
        }
        let mask = user::read_u64(hart, mask)? & !UNSTOPPABLE;
        if self.signals.suspended.is_none() {
            self.signals.suspended = Some(self.signals.blocked);
        }
        self.signals.blocked = mask;
        if self.signals.interrupts() {
            return Err(Errno::INTR.into());
        }
        self.wait_for_signal(hart, "waiting for a signal")?;
        Err(Stop::Again)
    }

    /// `rt_sigtimedwait(set, info, timeout, size)`.
    pub(super) fn sys_rt_sigtimedwait(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [set, info_at, timeout, size, ..] = args;
        if size != 8 {
            return Err(Errno::INVAL.into());
        }
        let set = user::read_u64(hart, set)?;
        let ready = self.signals.pending & set;
        if ready != 0 {
            let signal = ready.trailing_zeros() as i32 + 1;
            self.signals.pending &= !bit(signal);
            let at = self.signals.infos.iter().position(|i| i.signal == signal);
            let info = at.map_or(Info::kernel(signal), |at| self.signals.infos.swap_remove(at));
            self.time.end_wait();
            if info_at != 0 {
                let bytes = super::frame::siginfo(&info);
                user::write(hart, info_at, &bytes)?;
            }
            return Ok(signal as u64);
        }
        if self.wait_a_while(hart, timeout)? {
            return Err(Errno::AGAIN.into());
        }
        Err(Stop::Again)
    }

    /// `sigaltstack(new, old)`.
    pub(super) fn sys_sigaltstack(&mut self, hart: &mut Hart, new: u64, old: u64) -> Served {
        let sp = hart.x[2];
        let was = self.signals.altstack;
        if new != 0 {
            let bytes: [u8; 24] = user::read_array(hart, new)?;
            let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
            let (start, flags, size) = (word(0), word(8) as u32, word(16));
            if was.holds(sp) {
                return Err(Errno::PERM.into());
            }
            match flags & !SS_AUTODISARM {
                SS_DISABLE => self.signals.altstack = AltStack { start: 0, size: 0, flags: SS_DISABLE },
                0 | SS_ONSTACK => {
                    if size < LEAST_STACK {
                        return Err(Errno::NOMEM.into());
                    }
                    self.signals.altstack = AltStack { start, size, flags: flags & SS_AUTODISARM };
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
            Ok(mask) => self.signals.blocked = mask & !UNSTOPPABLE,
            Err(_) => {
                let why = "rt_sigreturn found no valid signal frame on the stack";
                self.signals.trap = Some(Trap::new(Cause::LoadPageFault, hart.x[2], why));
                self.signals.force(Info::kernel(SIGSEGV));
            }
        }
        Err(Stop::Resumed)
    }
}
