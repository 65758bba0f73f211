//! Linux user mode: what `qemu-riscv64` does.
//!
//! * [`space`], [`holes`] and [`pages`]: the address space, what is free of it, and its page frames;
//! * [`load`]: programs, interpreters, the initial stack;
//! * [`syscall`]: the list of system calls, and which function serves each; [`strace`] writes them down;
//! * [`memory`], [`io`], [`control`], [`ioctl`], [`paths`], [`time`], [`process`], [`credentials`],
//!   [`limits`], [`prctl`], [`signal`],
//!   [`futex`]: those functions, by what they are about;
//! * [`thread`], [`schedule`] and [`rseq`]: threads, their turns on the one hart, and sequences that a turn
//!   must not divide;
//! * [`family`], [`children`], [`exec`] and [`pidfd`]: processes, what bounds them together, programs they
//!   start, and descriptors of them;
//! * [`socket`] and [`events`]: sockets, and descriptors that say that something has happened;
//! * [`system`]: the machine; [`queues`]: POSIX message queues;
//! * [`sysv`]: System V semaphores, message queues and shared memory;
//! * [`host`]: what of the host needs `unsafe`;
//! * [`transfer`]: reading and writing files of the host without ever waiting in it;
//! * [`files`], [`sandbox`] and [`walk`]: open files, and which files the guest can reach at all;
//! * [`border`]: files that programs of the host get from the guest, and the guest from them;
//! * [`tmp`]: its private `/tmp`;
//! * [`record`]: what all of this did, so that a debugger can go back and forward again.
//!
//! The guest is not trusted: what it passes is checked, what it asks for is
//! bounded, and it reaches nothing of the host that [`ProcessOptions`] does not grant.

mod border;
mod children;
mod control;
mod credentials;
mod events;
mod exec;
mod family;
mod files;
mod frame;
mod futex;
mod holes;
mod host;
mod hwprobe;
mod io;
mod ioctl;
mod limits;
mod load;
mod look;
mod memory;
mod options;
mod pages;
mod paths;
mod pidfd;
mod poll;
mod prctl;
mod proc;
mod process;
mod queues;
mod record;
mod rseq;
mod sandbox;
mod schedule;
mod signal;
mod socket;
mod space;
mod splice;
mod stat;
mod strace;
mod syscall;
mod system;
mod sysv;
mod thread;
mod time;
mod tmp;
mod transfer;
mod user;
mod walk;

pub use crate::turns::Schedule;
pub use look::Seen;
pub use options::{Clock, Grant, Input, Net, Output, ProcessOptions, VectorCalls};
pub(crate) use record::{Before, Effect, Recorded};
pub(crate) use space::{AddressSpace, KeptSpace, OUT_OF_MEMORY};
pub use strace::signal_name;
pub use thread::ThreadInfo;

use crate::Hart;
use crate::config::Config;
use crate::elf::Image;
use crate::hart::Environment;
use crate::machine::LoadError;
use crate::mem::Ram;
use crate::trap::{Cause, Trap};
use family::Family;
use files::Files;
use process::Identity;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use sandbox::FileSystem;
use schedule::{Scheduler, Wait};
use signal::Signals;
use std::io::Write as _;
use std::time::{Duration, Instant};
use thread::{Suspended, Thread, Threads};

/// Where a process starts.
pub struct Start {
    /// The program's entry point, or its interpreter's.
    pub pc: u64,
    /// The stack pointer, below argc, argv, envp and auxv.
    pub sp: u64,
}

/// What follows after a system call, a fault or a tick.
pub enum Verdict {
    /// Go on at `hart.pc`.
    Continue,
    /// `exit` or `exit_group`.
    Exit(i32),
    /// Ended by a signal.
    Kill {
        /// Its number.
        signal: i32,
        /// The trap behind it.
        trap: Option<Trap>,
    },
    /// Something the guest may do on Linux and cannot do here, by name.
    Unsupported(String),
    /// Another program is in its place: its memory is to be had from the process.
    NewProgram,
}

/// Why a system call does not return a value.
enum Stop {
    /// It failed.
    Error(Errno),
    /// It ends the process.
    End(Verdict),
    /// It has set all registers itself.
    Resumed,
    /// It is waiting: execute the `ecall` again.
    Again(Wait),
    /// The thread has ended.
    Gone,
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Self {
        Stop::Error(error)
    }
}

/// What a system call comes to.
type Served<T = u64> = Result<T, Stop>;

/// The host is asked to wait so long at most before the machine looks at its limits again.
const NAP: Duration = Duration::from_millis(20);

/// The guest process: files, signals, limits.
pub struct Process {
    options: ProcessOptions,
    identity: Identity,
    files: Files,
    fs: FileSystem,
    signals: Signals,
    threads: Threads,
    scheduler: Scheduler,
    /// The id that a thread got last.
    last_tid: u32,
    /// Waits on futexes so far.
    futex_order: u64,
    /// Readable when a signal of the host has come; `None` if they are not the guest's.
    bell: Option<OwnedFd>,
    /// Signals of the host that come to the guest.
    heard: u64,
    /// The processes that the guest has become, if there was ever more than one.
    family: Option<Family>,
    /// Instructions that the family knows of.
    counted: u64,
    /// How often it was looked whether the family ends.
    looks: u64,
    /// Children that have not been waited for.
    children: usize,
    /// A parent that waits in `vfork`.
    vfork_parent: Option<OwnedFd>,
    /// The memory of a program that is to run now.
    new_memory: Option<(Ram, Environment)>,
    has_execed: bool,
    /// In the sandbox: the file of the program, which need not be in a folder that was granted.
    own_program: Option<Vec<u8>>,
    limits: limits::Limits,
    time: time::Time,
    random: process::Random,
    facts: load::Facts,
    /// When the run is to end.
    deadline: Option<Instant>,
    /// For moving data between the host's files and the guest's memory.
    buffer: Vec<u8>,
    umask: u32,
    personality: u32,
    /// Its priority: less is more.
    nice: i64,
    said: prctl::Said,
    /// What the user should know about the run, said once each.
    notes: Vec<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end_family();
    }
}

impl Process {
    /// Loads the image (and its interpreter) and lays out the stack.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn new(
        config: &Config,
        image: &Image,
        mut options: ProcessOptions,
        ram: &mut Ram,
    ) -> Result<(Self, AddressSpace, Start), LoadError> {
        let fs = FileSystem::new(&options)?;
        let identity = Identity::new(&options);
        let mut random = process::Random::new(options.seed);
        let (mut space, start, facts) =
            load::load(config, image, &options, &fs, &identity, &mut random, ram)?;
        let mut first = Thread::first(identity.pid, config);
        let exe = facts.exe.rsplit(|&b| b == b'/').next().unwrap_or(&[]);
        let len = exe.len().min(15);
        first.name[..len].copy_from_slice(&exe[..len]);
        let mut process = Process {
            files: Files::new(&mut options),
            time: time::Time::new(options.clock),
            identity,
            fs,
            signals: Signals::new(facts.trampoline),
            threads: Threads::new(first),
            scheduler: Scheduler::new(options.schedule),
            last_tid: 0,
            futex_order: 0,
            bell: None,
            heard: 0,
            family: None,
            counted: 0,
            looks: 0,
            children: 0,
            vfork_parent: None,
            new_memory: None,
            has_execed: false,
            own_program: (options.most_processes > 1 && !options.host_fs).then(|| image.file().to_vec()),
            limits: limits::first_limits(&options),
            random,
            facts,
            deadline: None,
            buffer: Vec::new(),
            umask: 0o022,
            personality: 0,
            nice: 0,
            said: prctl::Said::default(),
            notes: Vec::new(),
            options,
        };
        if process.owns_host_process() {
            process.umask = rustix::process::umask(rustix::fs::Mode::empty()).bits();
        }
        if process.options.host_programs {
            process.files.limit = process.limits[7].0 as usize;
            process.files.add_inherited(host::inherited_files());
        }
        process.take_host_signals();
        space.share_with(process.bell.is_some());
        Ok((process, space, start))
    }

    /// How far the program was moved from the addresses in its file: 0 unless it is position-independent.
    #[must_use]
    pub fn load_bias(&self) -> u64 {
        self.facts.bias
    }

    /// Captured standard output.
    #[must_use]
    pub fn stdout(&self) -> &[u8] {
        &self.files.captured[0]
    }

    /// Captured standard error.
    #[must_use]
    pub fn stderr(&self) -> &[u8] {
        &self.files.captured[1]
    }

    /// Takes captured standard output and error.
    pub fn take_output(&mut self) -> (Vec<u8>, Vec<u8>) {
        let [out, err] = &mut self.files.captured;
        (std::mem::take(out), std::mem::take(err))
    }

    /// What the guest asked for in vain, once each: threads, processes, unknown system calls.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Serves an `ecall`: `hart.pc` is at it.
    pub fn syscall(&mut self, hart: &mut Hart) -> Verdict {
        let number = hart.x[17];
        let args = [hart.x[10], hart.x[11], hart.x[12], hart.x[13], hart.x[14], hart.x[15]];
        let tid = self.me().tid;
        let told = self.options.strace.then(|| strace::Told { tid, call: strace::call(hart, number, &args) });
        space_of(hart).0.take_used_up();
        let served = self.dispatch(hart, number, args);
        if space_of(hart).0.take_used_up() {
            // Linux, too, ends a process whose page cannot be had, and does not tell it of a bad address.
            let trap = Trap::new(Cause::EcallFromU, hart.pc, space::OUT_OF_MEMORY);
            return self.out_of_memory(hart, trap);
        }
        if let Some(told) = told {
            self.tell(hart, number, &args, told, &served);
        }
        match served {
            Ok(value) => self.return_value(hart, value),
            Err(Stop::Error(error)) => self.return_value(hart, i64::from(-error.raw_os_error()) as u64),
            Err(Stop::Resumed) => {}
            Err(Stop::Again(wait)) => {
                self.receive_signals();
                self.check_timers(hart);
                // The child of a vfork is there already: that call cannot be made again.
                if !self.is_interrupted() || self.me().suspended.vfork.is_some() {
                    let me = self.me_mut();
                    (me.calling, me.wait) = (true, Some(wait));
                    return self.schedule(hart);
                }
                // Some calls go on after the handler if that is wanted; a sleep never does.
                let written = self.me().suspended.written;
                if written > 0 {
                    self.return_value(hart, written as u64);
                } else if !(goes_on_after_handler(number) && self.restarts()) {
                    self.tell_remaining(hart, number, &args);
                    self.return_value(hart, i64::from(-Errno::INTR.raw_os_error()) as u64);
                }
            }
            Err(Stop::Gone) => return self.schedule(hart),
            Err(Stop::End(verdict)) => return end(hart, verdict),
        }
        let me = self.me_mut();
        (me.calling, me.suspended) = (false, Suspended::default());
        let verdict = self.deliver(hart);
        self.me_mut().signals.end_suspension();
        match verdict {
            Verdict::Continue if self.threads.all.len() > 1 => self.schedule(hart),
            verdict => verdict,
        }
    }

    fn return_value(&mut self, hart: &mut Hart, value: u64) {
        match self.options.vector_calls {
            VectorCalls::Keep => {}
            VectorCalls::Zero => forget_vector_state(hart, 0),
            VectorCalls::Ones => forget_vector_state(hart, 0xff),
        }
        hart.set_x(10, value);
        hart.pc = hart.pc.wrapping_add(4);
    }

    /// Turns a trap into a signal.
    pub fn fault(&mut self, hart: &mut Hart, trap: Trap) -> Verdict {
        if trap.why == space::OUT_OF_MEMORY {
            return self.out_of_memory(hart, trap);
        }
        // A call that is made again is not there any more: somebody unmapped it.
        self.me_mut().calling = false;
        self.raise_trap(hart, trap);
        self.deliver(hart)
    }

    /// All guest memory is in use and the guest needs more. No handler can help, and most would need more
    /// memory to run.
    fn out_of_memory(&mut self, hart: &mut Hart, trap: Trap) -> Verdict {
        let size = hart.ram.len() >> 10;
        self.note(&format!("the guest has used up its memory, {size} KiB"));
        end(hart, Verdict::Kill { signal: signal::SIGSEGV, trap: Some(trap) })
    }

    /// Called every so many instructions: timers, pending signals, and the turns of threads.
    pub fn tick(&mut self, hart: &mut Hart) -> Verdict {
        self.receive_signals();
        self.check_timers(hart);
        if !self.me().calling {
            let verdict = self.deliver(hart);
            if !matches!(verdict, Verdict::Continue) {
                return verdict;
            }
        }
        if self.threads.all.len() > 1 { self.schedule(hart) } else { Verdict::Continue }
    }

    /// Whether the host process is the guest's alone, with all that the user may do to it.
    fn owns_host_process(&self) -> bool {
        self.options.host_fs && self.options.host_signals
    }

    /// When the run is to end: no system call waits past it. [`crate::Machine::run`] sets it.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// How long the host may be asked to wait now.
    fn nap(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(NAP, |left| left.min(NAP))
    }

    /// Whether the run is to end.
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Says to the user that the guest asked for something in vain, if that is wanted.
    fn note_unsupported(&mut self, what: &str) {
        self.note_in_vain(&format!("not supported: {what}; the guest was told ENOSYS"));
    }

    /// Says something about what the guest asked for in vain, if that is wanted.
    fn note_in_vain(&mut self, text: &str) {
        if self.options.warn_unsupported {
            self.note(text);
        } else if self.notes.iter().all(|n| *n != text) && self.notes.len() < 100 {
            self.notes.push(text.to_owned());
        }
    }

    /// Says something to the user, once.
    fn note(&mut self, text: &str) {
        if self.notes.iter().all(|n| n != text) && self.notes.len() < 100 {
            if self.options.stderr == Output::Inherit {
                let _ = writeln!(std::io::stderr(), "rvvsim: {text}");
            }
            self.notes.push(text.to_owned());
        }
    }
}

/// What the ABI lets a system call do to the vector unit.
fn forget_vector_state(hart: &mut Hart, byte: u8) {
    let registers = 32 * hart.v.vlenb;
    hart.v.regs[..registers].fill(byte);
    (hart.v.vl, hart.v.vstart, hart.v.vtype) = (0, 0, rvv_isa::Vtype::VILL);
    hart.v.vill_origin = None;
}

/// Whether a call that a signal interrupted is made again after a handler that asks for it (`SA_RESTART`):
/// those that wait for a file, a lock or a child, and not for a time.
fn goes_on_after_handler(number: u64) -> bool {
    matches!(
        number,
        25 | 29 | 32 | 56 | 63
            ..=66 | 68 | 70 | 71 | 75..=77 | 95 | 98 | 182 | 183 | 202 | 203 | 206 | 207 | 211 | 212 | 242 | 260
    )
}

impl Process {
    /// The memory of a program is about to go: what it wrote to shared mappings must reach the files.
    fn end_memory(&self, hart: &mut Hart) {
        let (space, ram) = space_of(hart);
        space.sync(ram, 0, pages::USER_END);
    }
}

/// The process ends: what it wrote to shared mappings must reach the files.
fn end(hart: &mut Hart, verdict: Verdict) -> Verdict {
    let (space, ram) = space_of(hart);
    space.sync(ram, 0, pages::USER_END);
    verdict
}

/// The address space a user-mode hart always has, and its RAM.
fn space_of(hart: &mut Hart) -> (&mut AddressSpace, &mut Ram) {
    match &mut hart.env {
        Environment::User(space) => (space, &mut hart.ram),
        Environment::Bare(_) => unreachable!("a process runs on a hart in user mode"),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
