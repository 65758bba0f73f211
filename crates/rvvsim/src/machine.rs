//! A whole machine: load an ELF, run it, see how it ended.

mod past;
mod threads;
mod watched;

pub(crate) use past::Moment;
pub use watched::TraceFormat;

use crate::config::Config;
use crate::elf::Image;
use crate::engine::{Counts, Engine, Stop};
use crate::hart::{Environment, Hart};
use crate::linux::{Process, ProcessOptions, Verdict};
use crate::mem::Ram;
use crate::observe::{self, Observer};
use crate::privileged::{ConsoleInput, Harts, Platform};
use crate::trap::{Cause, Trap};
use rvv_isa::Ext;
use std::time::Instant;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The guest ended itself: exit status, or HTIF code.
    Exited(i32),
    /// A signal ended the guest (user mode); the trap behind it, if there was one.
    Signaled {
        /// The signal's number.
        signal: i32,
        /// The trap that became the signal.
        trap: Option<Trap>,
    },
    /// Bare mode: a trap whose handler cannot be fetched, so the hart would trap for ever.
    Stuck(Trap),
    /// [`Config::max_insns`] instructions have been executed.
    OutOfInstructions,
    /// The deadline has passed.
    TimedOut,
    /// The guest did something this emulator does not support, by name.
    Unsupported(String),
    /// Two engines ran a block and did not do the same: a fault of this emulator, in words.
    EnginesDiffer(String),
}

/// Why a machine could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is not an ELF this machine can run.
    #[error(transparent)]
    Elf(#[from] crate::elf::ElfError),
    /// The host would not give the address space.
    #[error("cannot reserve {size} bytes of guest memory: {source}")]
    Memory {
        /// Bytes asked for.
        size: u64,
        /// What the host said.
        source: std::io::Error,
    },
    /// The program is larger than guest memory.
    #[error("{what} needs {needed} bytes of memory, more than the {available} there are")]
    TooLarge {
        /// The program or its interpreter.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes of guest memory.
        available: u64,
    },
    /// Bare metal: part of the program is where there is no RAM.
    #[error("{what} needs {size} bytes at {at:#x}, and RAM is from {start:#x} to {end:#x}")]
    OutsideRam {
        /// What.
        what: String,
        /// Its physical address.
        at: u64,
        /// Its bytes.
        size: u64,
        /// Where RAM begins.
        start: u64,
        /// Where RAM ends.
        end: u64,
    },
    /// User mode: a segment is where a process has no addresses.
    #[error("{what} has a segment at {at:#x}, outside the {} GiB a user program has; link it lower", limit >> 30)]
    TooHigh {
        /// The program or its interpreter.
        what: String,
        /// The segment's address.
        at: u64,
        /// The end of the address space.
        limit: u64,
    },
    /// User mode: a segment is where something else is.
    #[error("{what} claims {at:#x}, where the stack or a mapping must be")]
    Overlap {
        /// The program or its interpreter.
        what: String,
        /// The page.
        at: u64,
    },
    /// User mode: the address space or guest memory is full.
    #[error("{0}")]
    Full(&'static str),
    /// [`ProcessOptions::stack`] is out of range.
    #[error("a stack of {0} bytes is too small or too large; between 64 KiB and 16 GiB will do")]
    Stack(u64),
    /// The arguments and the environment do not fit on the stack.
    #[error("the arguments and environment are too long for the stack")]
    Arguments,
    /// The dynamic linker that the program names cannot be read.
    #[error("cannot load the interpreter {name}: {source}")]
    Interpreter {
        /// Its path, as the program has it.
        name: String,
        /// What the host said.
        source: std::io::Error,
    },
    /// A folder that was granted to the guest, or the sysroot, cannot be opened.
    #[error("cannot open folder {}: {source}", path.display())]
    Folder {
        /// Its path on the host.
        path: std::path::PathBuf,
        /// What the host said.
        source: std::io::Error,
    },
    /// Only a bare-metal machine can be reset.
    #[error("a process cannot be reset")]
    IsProcess,
}

/// A hart with a program in its memory, and what runs it.
///
/// Made by [`Machine::user`] or [`Machine::bare`]; [`Machine::run`] runs it.
///
/// ```
/// use rvvsim::elf::Image;
/// use rvvsim::linux::{Output, ProcessOptions};
/// use rvvsim::{Config, Machine, Outcome};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Image::open("demo/demo.elf".as_ref())?;
/// let options = || ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
///
/// // The same program at two VLENs: longer registers, fewer instructions.
/// let mut retired = Vec::new();
/// for vlen in [128, 1024] {
///     let mut machine = Machine::user(Config { vlen, ..Config::default() }, &image, options())?;
///     assert_eq!(machine.run(None), Outcome::Exited(0));
///     retired.push(machine.instructions_retired());
/// }
/// assert!(retired[1] < retired[0]);
///
/// // A limit ends a run, and another call continues it.
/// let config = Config { max_insns: Some(1000), ..Config::default() };
/// let mut machine = Machine::user(config, &image, options())?;
/// assert_eq!(machine.run(None), Outcome::OutOfInstructions);
/// let sp = machine.hart().register("sp").expect("a register");
/// assert_eq!(sp % 8, 0);
/// machine.hart_mut().config_mut().max_insns = None;
/// assert_eq!(machine.run(None), Outcome::Exited(0));
/// # Ok(())
/// # }
/// ```
pub struct Machine {
    /// Architectural state and memory. Large, and so not for the stack.
    pub(crate) hart: Box<Hart>,
    /// Decoded blocks, statistics.
    pub(crate) engine: Engine,
    /// Linux user mode; `None` in bare mode.
    pub(crate) process: Option<Box<Process>>,
    /// The harts of a bare-metal machine with several.
    pub(crate) harts: Option<Box<Harts>>,
    /// Programs that the process was before: it has executed others.
    pub(crate) programs: u64,
    /// Where [`Machine::run`] pauses; see [`Machine::pause_at`].
    pub(crate) pause_at: Option<u64>,
    /// What was done for the process, if that is recorded.
    pub(crate) past: Option<Box<past::Past>>,
}

/// Instructions between looks at the clock, the timer and interrupts, at the shortest VLEN. The time that a
/// vector instruction takes grows with VLEN, so that there are fewer at a longer one: a slice takes less than
/// a second.
const SLICE: u64 = 100_000;
/// Looking more often would cost scalar code too much.
const SHORTEST_SLICE: u64 = 500;

impl Machine {
    /// A bare-metal machine with the image in its memory. It has S-mode whether the instruction set
    /// names it or not: which modes there are is the platform's to say.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn bare(mut config: Config, image: &Image) -> Result<Self, LoadError> {
        config.isa = config.isa.with(Ext::S);
        let mut ram = new_ram(&config)?;
        let platform = Platform::new(&config, image, &mut ram)?;
        let mut hart = Box::new(Hart::new(config, ram, Environment::Bare(Box::new(platform))));
        hart.reset_bare();
        let harts = Harts::new(&mut hart);
        Ok(Machine {
            hart,
            engine: Engine::default(),
            process: None,
            harts,
            programs: 0,
            pause_at: None,
            past: None,
        })
    }

    /// A Linux process with the image, its arguments and environment in place.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn user(config: Config, image: &Image, options: ProcessOptions) -> Result<Self, LoadError> {
        let mut ram = new_ram(&config)?;
        let (process, space, start) = Process::new(&config, image, options, &mut ram)?;
        let mut hart = Box::new(Hart::new(config, ram, Environment::User(Box::new(space))));
        hart.pc = start.pc;
        hart.x[2] = start.sp;
        Ok(Machine {
            hart,
            engine: Engine::default(),
            process: Some(Box::new(process)),
            harts: None,
            programs: 0,
            pause_at: None,
            past: None,
        })
    }

    /// Runs until the guest ends, a limit is reached, or `deadline` passes. Children of a guest that forks
    /// never return from here.
    pub fn run(&mut self, deadline: Option<Instant>) -> Outcome {
        let outcome = self.run_to_end(deadline);
        self.end_child(&outcome);
        outcome
    }

    /// From now on runs end with [`Outcome::OutOfInstructions`] after so many [steps](Machine::steps), as at
    /// [`Config::max_insns`], but to go on later: a child of a guest that forks does not end by that, nor by
    /// a deadline, and goes on alone. `None` takes it back.
    pub fn pause_at(&mut self, steps: Option<u64>) {
        self.pause_at = steps;
    }

    fn steps_to_pause(&self) -> u64 {
        self.pause_at.map_or(u64::MAX, |steps| steps.saturating_sub(self.steps()))
    }

    /// Whether this is a child of a guest whose runs pause. From now on they do not.
    fn runs_alone(&mut self) -> bool {
        let alone = self.pause_at.is_some() && self.is_child();
        if alone {
            self.pause_at = None;
            self.set_deadline(None);
        }
        alone
    }

    /// How many instructions to run before looking again, at most `longest`; or why the run ends here.
    fn next_slice(&mut self, deadline: &mut Option<Instant>, longest: u64) -> Result<u64, Outcome> {
        loop {
            let limit = self.instruction_limit()?;
            let known = self.go_on_in_past(self.steps_to_pause())?;
            let left = limit.saturating_sub(self.hart.instret).min(self.steps_to_pause());
            let late = deadline.is_some_and(|d| Instant::now() >= d);
            if (left == 0 || late) && self.runs_alone() {
                *deadline = None;
                continue;
            }
            if left == 0 {
                return Err(Outcome::OutOfInstructions);
            }
            if late {
                return Err(Outcome::TimedOut);
            }
            let turn = match (&self.process, &self.harts) {
                (Some(process), _) => process.instructions_in_turn(&self.hart),
                (None, Some(harts)) => harts.instructions_in_turn(&self.hart),
                (None, None) => u64::MAX,
            };
            return Ok(left.min(longest).min(turn).min(known).min(self.hart.instructions_to_timer()));
        }
    }

    fn run_to_end(&mut self, mut deadline: Option<Instant>) -> Outcome {
        let longest_slice = (SLICE * 128 / u64::from(self.hart.config.vlen).max(128)).max(SHORTEST_SLICE);
        self.set_deadline(deadline);
        loop {
            let slice = match self.next_slice(&mut deadline, longest_slice) {
                Ok(slice) => slice,
                Err(outcome) => return outcome,
            };
            let stop = self.engine.run(&mut self.hart, slice);
            if let Some(outcome) = self.handle(stop) {
                return outcome;
            }
        }
    }

    /// The hart: registers and memory.
    #[must_use]
    pub fn hart(&self) -> &Hart {
        &self.hart
    }

    /// The hart, to change.
    pub fn hart_mut(&mut self) -> &mut Hart {
        &mut self.hart
    }

    /// The process; `None` on bare metal.
    #[must_use]
    pub fn process(&self) -> Option<&Process> {
        self.process.as_deref()
    }

    /// The process, to change.
    pub fn process_mut(&mut self) -> Option<&mut Process> {
        self.process.as_deref_mut()
    }

    /// The process with the hart it runs on.
    pub fn process_and_hart(&mut self) -> Option<(&mut Process, &mut Hart)> {
        Some((self.process.as_deref_mut()?, &mut self.hart))
    }

    /// What the process wrote to a standard output that is captured; empty on bare metal.
    #[must_use]
    pub fn stdout(&self) -> &[u8] {
        self.process().map_or(&[], Process::stdout)
    }

    /// Instructions retired so far.
    #[must_use]
    pub fn instructions_retired(&self) -> u64 {
        self.hart.instret
    }

    /// Instructions retired so far, by class.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.engine.counts()
    }

    /// The engine: decoded blocks, statistics.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine, to observe what it decodes.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Executes one instruction. System calls, devices and interrupts are the caller's business, as are
    /// traps: [`Hart::take_trap`] goes to the handler of one.
    pub fn step(&mut self) -> Stop {
        self.engine.step(&mut self.hart)
    }

    /// Executes at most so many instructions, in the same way.
    pub fn step_many(&mut self, most: u64) -> Stop {
        self.engine.run(&mut self.hart, most)
    }

    /// As [`Machine::step`], before the eyes of an observer.
    pub fn step_observed(&mut self, observer: &mut impl Observer) -> Stop {
        observe::step(&mut self.engine, &mut self.hart, observer)
    }

    /// As [`Machine::step`], and appends the line of [`Machine::run_traced`] to `line`. An instruction that
    /// traps has none, unless it is a vector access that trapped midway.
    pub fn step_traced(&mut self, line: &mut String) -> Stop {
        crate::trace::step(&mut self.engine, &mut self.hart, line)
    }

    /// Bare metal: where the console's output goes. A process has its own streams.
    pub fn set_console(&mut self, console: Box<dyn std::io::Write + Send>) {
        if let Environment::Bare(platform) = &mut self.hart.env {
            platform.set_console(console);
        }
    }

    /// Bare metal: what the console reads; nothing by default.
    pub fn set_console_input(&mut self, input: ConsoleInput) {
        if let Environment::Bare(platform) = &mut self.hart.env {
            platform.set_input(input);
        }
    }

    /// Bare metal: whether the program ended by saying that it failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        matches!(&self.hart.env, Environment::Bare(platform) if platform.failed())
    }

    /// Ends the process and removes what it made in the host; the rest of the machine is left as it is.
    pub fn end_process(&mut self) {
        self.process = None;
    }

    /// How many instructions may have retired in the end; those of other processes of the guest count.
    fn instruction_limit(&mut self) -> Result<u64, Outcome> {
        let limit = self.hart.config.max_insns.unwrap_or(u64::MAX);
        if self.is_in_past() {
            return Ok(limit);
        }
        let Some(process) = &mut self.process else { return Ok(limit) };
        process.family_limit(&self.hart, limit).map_err(|verdict| match verdict {
            Verdict::Kill { signal, trap } => Outcome::Signaled { signal, trap },
            _ => Outcome::TimedOut,
        })
    }

    /// Ends this host process if the guest here is the child of another; for the first one does nothing.
    pub fn end_child(&mut self, outcome: &Outcome) {
        if let Some(process) = self.process.as_mut().filter(|process| process.is_child()) {
            process.end_as_child(&mut self.hart, outcome);
        }
    }

    /// Whether this host process is that of a child of the guest that was started.
    #[must_use]
    pub fn is_child(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.is_child())
    }

    fn set_deadline(&mut self, deadline: Option<Instant>) {
        if let Some(process) = &mut self.process {
            process.set_deadline(deadline);
        }
    }

    fn handle(&mut self, stop: Stop) -> Option<Outcome> {
        if let Some(what) = self.engine.difference() {
            return Some(Outcome::EnginesDiffer(what.to_owned()));
        }
        if self.past.is_some() {
            return self.handle_recorded(stop);
        }
        self.handle_now(stop)
    }

    fn handle_now(&mut self, stop: Stop) -> Option<Outcome> {
        let Some(process) = &mut self.process else { return self.handle_bare(stop) };
        let verdict = match stop {
            Stop::Budget => process.tick(&mut self.hart),
            Stop::Trap(Trap { cause: Cause::EcallFromU, .. }) => process.syscall(&mut self.hart),
            Stop::Trap(trap) => process.fault(&mut self.hart, trap),
        };
        match verdict {
            Verdict::Continue => None,
            Verdict::Exit(status) => Some(Outcome::Exited(status)),
            Verdict::Kill { signal, trap } => Some(Outcome::Signaled { signal, trap }),
            Verdict::Unsupported(what) => Some(Outcome::Unsupported(what)),
            Verdict::NewProgram => {
                self.programs += 1;
                if let Some((ram, env)) = process.take_new_memory() {
                    self.engine.forget_all(&mut self.hart);
                    (self.hart.ram, self.hart.env) = (ram, env);
                    self.hart.flush_tlb();
                }
                None
            }
        }
    }

    fn handle_bare(&mut self, stop: Stop) -> Option<Outcome> {
        match stop {
            Stop::Trap(trap) => {
                if let Err(stuck) = self.hart.take_trap(&trap) {
                    return Some(Outcome::Stuck(stuck));
                }
            }
            Stop::Budget => {}
        }
        if let Some(code) = self.hart.serve_devices() {
            return Some(Outcome::Exited(code));
        }
        self.hart.take_interrupt();
        if let Some(harts) = &mut self.harts
            && harts.take_turns(&mut self.hart)
        {
            self.hart.take_interrupt();
        }
        None
    }
}

fn new_ram(config: &Config) -> Result<Ram, LoadError> {
    Ram::new(config.mem).map_err(|source| LoadError::Memory { size: config.mem, source })
}
