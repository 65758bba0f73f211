//! Linux user mode: what `qemu-riscv64` does.

use crate::Hart;
use crate::config::Config;
use crate::elf::Image;
use crate::machine::LoadError;
use crate::mem::{Access, Ram, Target};
use crate::trap::{Cause, Exec, Trap};

/// The address space of the guest process: mappings, and the page frames behind them.
pub struct AddressSpace {}

impl AddressSpace {
    /// Finds the page of `va`, taking a frame for it on first touch.
    ///
    /// # Errors
    /// The page fault of that access.
    pub fn translate(&mut self, _ram: &mut Ram, va: u64, _access: Access) -> Exec<Target> {
        Err(Trap::new(Cause::LoadPageFault, va, "no user mode yet"))
    }
}

/// What the guest process is given.
#[derive(Clone, Debug, Default)]
pub struct ProcessOptions {
    /// `argv`, the program's name first.
    pub args: Vec<Vec<u8>>,
    /// `envp`.
    pub env: Vec<Vec<u8>>,
}

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

/// The guest process: files, signals, limits.
pub struct Process {}

impl Process {
    /// Loads the image (and its interpreter) and lays out the stack.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn new(
        _config: &Config,
        _image: &Image,
        _options: ProcessOptions,
        _ram: &mut Ram,
    ) -> Result<(Self, AddressSpace, Start), LoadError> {
        Err(LoadError::DoesNotFit("no user mode yet".into()))
    }

    /// Serves an `ecall`: `hart.pc` is at it.
    pub fn syscall(&mut self, _hart: &mut Hart) -> Verdict {
        Verdict::Exit(0)
    }

    /// Turns a trap into a signal.
    pub fn fault(&mut self, _hart: &mut Hart, trap: Trap) -> Verdict {
        Verdict::Kill { signal: 11, trap: Some(trap) }
    }

    /// Called every so many instructions: timers and pending signals.
    pub fn tick(&mut self, _hart: &mut Hart) -> Verdict {
        Verdict::Continue
    }
}
