//! The privileged architecture and the bare-metal platform: CSRs, traps, translation, PMP, devices.
//!
//! M-, S- and U-mode are always there in bare mode, and with them Sv39, Sv48 and Sv57, Svnapot, Svpbmt,
//! Svadu (off until `menvcfg.ADUE` is set) and Sstc (likewise `STCE`). In Linux user mode nothing here
//! matters but the unprivileged CSRs.

mod access;
mod counter;
mod csr;
mod fdt;
mod harts;
mod htif;
mod platform;
mod plic;
mod pmp;
pub mod status;
mod translate;
mod trap;
mod trigger;
mod uart;

#[cfg(test)]
mod tests;

pub use csr::CsrFile;
pub(crate) use harts::Harts;
pub(crate) use platform::Devices;
pub use platform::{Platform, RAM_BASE};
pub use uart::Input as ConsoleInput;

use crate::Hart;

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

impl Hart {
    /// Whether floating-point instructions are enabled (`mstatus.FS` not off; always in user mode).
    #[must_use]
    pub fn fs_enabled(&self) -> bool {
        !self.is_bare() || self.csr.mstatus & status::FS != 0
    }

    /// Whether vector instructions are enabled (`mstatus.VS` not off; always in user mode).
    #[must_use]
    pub fn vs_enabled(&self) -> bool {
        !self.is_bare() || self.csr.mstatus & status::VS != 0
    }
}
