//! The privileged architecture and the bare-metal platform: CSRs, traps, translation, PMP, devices.

use crate::Hart;
use crate::config::Config;
use crate::elf::Image;
use crate::machine::LoadError;
use crate::mem::{Access, Ram, Target};
use crate::trap::{Cause, Exec, Trap};

/// Privilege modes, numbered as `mstatus.MPP` numbers them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Privilege {
    /// U-mode.
    User = 0,
    /// S-mode.
    Supervisor = 1,
    /// M-mode.
    Machine = 3,
}

/// The privileged CSRs.
#[derive(Clone)]
pub struct CsrFile {}

impl CsrFile {
    /// The CSRs at reset.
    #[must_use]
    pub fn new(_config: &Config) -> Self {
        CsrFile {}
    }
}

/// The bare-metal platform: the memory map and the devices.
pub struct Platform {}

impl Platform {
    /// Puts the image and the reset vector in place.
    ///
    /// # Errors
    /// When the image does not fit the memory map.
    pub fn new(_config: &Config, _image: &Image, _ram: &mut Ram) -> Result<Self, LoadError> {
        Ok(Platform {})
    }

    /// Whether stores to the RAM page of `offset` must be reported.
    #[must_use]
    pub fn watches_page(&self, _offset: usize) -> bool {
        false
    }

    /// A store to a watched page is about to happen; true if the engine should return to the machine
    /// after this instruction, so that the device is served.
    pub fn note_write(&mut self, _offset: usize, _len: usize) -> bool {
        false
    }
}

impl Hart {
    /// Translation and protection in bare mode: PMP, satp, A and D bits.
    ///
    /// # Errors
    /// The access or page fault of that access.
    pub(crate) fn translate_bare(&mut self, va: u64, _access: Access) -> Exec<Target> {
        Err(Trap::new(Cause::LoadAccessFault, va, "no bare mode yet"))
    }

    pub(crate) fn load_device(&mut self, _pa: u64, _size: usize, va: u64) -> Exec<u64> {
        Err(Trap::new(Cause::LoadAccessFault, va, "no device there"))
    }

    pub(crate) fn store_device(&mut self, _pa: u64, _size: usize, _value: u64, va: u64) -> Exec {
        Err(Trap::new(Cause::StoreAccessFault, va, "no device there"))
    }

    pub(crate) fn fetch_device(&mut self, _pa: u64, va: u64) -> Exec<u16> {
        Err(Trap::new(Cause::InstructionAccessFault, va, "no memory there"))
    }

    /// The hart leaves reset: pc at the reset vector.
    pub(crate) fn reset_bare(&mut self) {}

    /// Enters the trap handler. `hart.pc` is the instruction that trapped.
    ///
    /// # Errors
    /// The trap itself when its handler cannot even be fetched, so that nothing would ever happen again.
    pub fn take_trap(&mut self, trap: &Trap) -> Exec {
        Err(*trap)
    }

    /// Takes the pending interrupt of highest priority, if one is enabled.
    pub fn take_interrupt(&mut self) {}

    /// Advances the timer and serves HTIF; the exit code if the guest asked to end.
    pub fn serve_devices(&mut self) -> Option<i32> {
        None
    }

    /// Whether floating-point instructions are enabled (`mstatus.FS` not off; always in user mode).
    #[must_use]
    pub fn fs_enabled(&self) -> bool {
        true
    }

    /// Whether vector instructions are enabled (`mstatus.VS` not off; always in user mode).
    #[must_use]
    pub fn vs_enabled(&self) -> bool {
        true
    }
}
