//! A whole machine: load an ELF, run it, see how it ended.

use crate::config::Config;
use crate::elf::Image;
use crate::engine::{Engine, Stop};
use crate::hart::{Environment, Hart};
use crate::linux::{Process, ProcessOptions, Verdict};
use crate::mem::Ram;
use crate::privileged::Platform;
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
    /// `--max-insns` instructions have been executed.
    OutOfInstructions,
    /// `--timeout` has passed.
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
    #[error("cannot reserve {size} bytes of guest memory: {source}; try a smaller --mem")]
    Memory {
        /// Bytes asked for.
        size: u64,
        /// What the host said.
        source: std::io::Error,
    },
    /// The program does not fit.
    #[error("{0}")]
    DoesNotFit(String),
}

/// A hart, its engine, and its surroundings.
pub struct Machine {
    /// Architectural state and memory. Large, and so not for the stack.
    pub hart: Box<Hart>,
    /// Decoded blocks, statistics.
    pub engine: Engine,
    /// Linux user mode; `None` in bare mode.
    pub process: Option<Box<Process>>,
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
        Ok(Machine { hart, engine: Engine::default(), process: None })
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
        Ok(Machine { hart, engine: Engine::default(), process: Some(Box::new(process)) })
    }

    /// Runs until the guest ends, a limit is reached, or `deadline` passes.
    pub fn run(&mut self, deadline: Option<Instant>) -> Outcome {
        let limit = self.hart.config.max_insns.unwrap_or(u64::MAX);
        let longest_slice = (SLICE * 128 / u64::from(self.hart.config.vlen).max(128)).max(SHORTEST_SLICE);
        self.set_deadline(deadline);
        loop {
            let left = limit.saturating_sub(self.hart.instret);
            if left == 0 {
                return Outcome::OutOfInstructions;
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Outcome::TimedOut;
            }
            let slice = left.min(longest_slice).min(self.hart.instructions_to_timer());
            let stop = self.engine.run(&mut self.hart, slice);
            if let Some(outcome) = self.handle(stop) {
                return outcome;
            }
        }
    }

    /// Runs as [`Machine::run`] does, one instruction at a time, with a line for each in Spike's
    /// `--log-commits` format.
    ///
    /// # Errors
    /// Those of writing to `out`.
    pub fn run_traced(
        &mut self,
        deadline: Option<Instant>,
        out: &mut dyn std::io::Write,
    ) -> std::io::Result<Outcome> {
        let limit = self.hart.config.max_insns.unwrap_or(u64::MAX);
        let mut line = String::new();
        self.set_deadline(deadline);
        self.hart.flush_tlb();
        self.hart.log = Some(Box::default());
        loop {
            if self.hart.instret >= limit {
                return Ok(Outcome::OutOfInstructions);
            }
            // A call that waits is made again and again, and no instruction retires.
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Ok(Outcome::TimedOut);
            }
            line.clear();
            let stop = crate::trace::step(&mut self.engine, &mut self.hart, &mut line);
            out.write_all(line.as_bytes())?;
            if let Some(outcome) = self.handle(stop) {
                return Ok(outcome);
            }
        }
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
        None
    }
}

fn new_ram(config: &Config) -> Result<Ram, LoadError> {
    Ram::new(config.mem).map_err(|source| LoadError::Memory { size: config.mem, source })
}
