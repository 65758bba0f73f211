//! Linux user mode: what `qemu-riscv64` does.
//!
//! * [`space`], [`holes`] and [`pages`]: the address space, what is free of it, and its page frames;
//! * [`load`]: programs, interpreters, the initial stack;
//! * [`syscall`]: the list of system calls, and which function serves each; [`strace`] writes them down;
//! * [`memory`], [`io`], [`paths`], [`time`], [`process`], [`signal`]: those functions, by what they are
//!   about;
//! * [`transfer`]: reading and writing files of the host without ever waiting in it;
//! * [`files`], [`sandbox`] and [`walk`]: open files, and which files the guest can reach at all;
//! * [`tmp`]: its private `/tmp`.
//!
//! The guest is one thread of one process. It is not trusted: what it passes is checked, what it asks for is
//! bounded, and it reaches nothing of the host that [`ProcessOptions`] does not grant.

mod files;
mod frame;
mod holes;
mod hwprobe;
mod io;
mod load;
mod memory;
mod options;
mod pages;
mod paths;
mod poll;
mod process;
mod sandbox;
mod signal;
mod space;
mod stat;
mod strace;
mod syscall;
mod time;
mod tmp;
mod transfer;
mod user;
mod walk;

pub use options::{Clock, Grant, Input, Output, ProcessOptions};
pub(crate) use space::{AddressSpace, OUT_OF_MEMORY};
pub use strace::signal_name;

use crate::Hart;
use crate::config::Config;
use crate::elf::Image;
use crate::hart::Environment;
use crate::machine::LoadError;
use crate::mem::Ram;
use crate::trap::{Cause, Trap};
use files::Files;
use process::Identity;
use rustix::io::Errno;
use sandbox::FileSystem;
use signal::Signals;
use std::io::Write as _;
use std::time::{Duration, Instant};

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
    Again,
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Self {
        Stop::Error(error)
    }
}

/// What a system call comes to.
type Served<T = u64> = Result<T, Stop>;

/// How far a call has come that is to be made again.
#[derive(Default)]
struct Suspended {
    /// Bytes written.
    written: usize,
    /// The reading end of a FIFO that waits for a writer.
    opening: Option<files::HostFile>,
}

/// The host is asked to wait so long at most before the machine looks at its limits again.
const NAP: Duration = Duration::from_millis(20);

/// The guest process: files, signals, limits.
pub struct Process {
    options: ProcessOptions,
    identity: Identity,
    files: Files,
    fs: FileSystem,
    signals: Signals,
    time: time::Time,
    random: process::Random,
    facts: load::Facts,
    suspended: Suspended,
    /// When the run is to end.
    deadline: Option<Instant>,
    /// For moving data between the host's files and the guest's memory.
    buffer: Vec<u8>,
    umask: u32,
    name: [u8; 16],
    /// What the user should know about the run, said once each.
    notes: Vec<String>,
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
        let (space, start, facts) = load::load(config, image, &options, &fs, &identity, &mut random, ram)?;
        let mut name = [0; 16];
        let exe = facts.exe.rsplit(|&b| b == b'/').next().unwrap_or(&[]);
        let len = exe.len().min(15);
        name[..len].copy_from_slice(&exe[..len]);
        let process = Process {
            files: Files::new(&mut options),
            time: time::Time::new(options.clock),
            identity,
            fs,
            signals: Signals::new(facts.trampoline),
            random,
            facts,
            suspended: Suspended::default(),
            deadline: None,
            buffer: Vec::new(),
            umask: 0o022,
            name,
            notes: Vec::new(),
            options,
        };
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
        let told = self.options.strace.then(|| strace::call(hart, number, &args));
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
            Err(Stop::Again) => {
                self.time.check_timer(hart, &mut self.signals);
                if !self.signals.interrupts() {
                    return Verdict::Continue;
                }
                // Opening, reading and writing go on after the handler if that is wanted; a sleep never does.
                let written = self.suspended.written;
                if written > 0 {
                    self.return_value(hart, written as u64);
                } else if !(matches!(number, 56 | 63..=66) && self.signals.restarts()) {
                    self.tell_remaining(hart, number, &args);
                    self.time.end_wait();
                    self.return_value(hart, i64::from(-Errno::INTR.raw_os_error()) as u64);
                }
            }
            Err(Stop::End(verdict)) => return end(hart, verdict),
        }
        self.suspended = Suspended::default();
        let verdict = self.deliver(hart);
        self.signals.end_suspension();
        verdict
    }

    fn return_value(&mut self, hart: &mut Hart, value: u64) {
        hart.set_x(10, value);
        hart.pc = hart.pc.wrapping_add(4);
    }

    /// Turns a trap into a signal.
    pub fn fault(&mut self, hart: &mut Hart, trap: Trap) -> Verdict {
        if trap.why == space::OUT_OF_MEMORY {
            return self.out_of_memory(hart, trap);
        }
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

    /// Called every so many instructions: timers and pending signals.
    pub fn tick(&mut self, hart: &mut Hart) -> Verdict {
        self.time.check_timer(hart, &mut self.signals);
        self.deliver(hart)
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
