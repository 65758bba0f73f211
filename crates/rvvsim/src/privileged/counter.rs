//! Counters and timers: `mcycle`, `minstret`, and the time.

use super::plic::{MACHINE, SUPERVISOR};
use super::status::*;
use super::{CsrFile, Platform};
use crate::Hart;
use crate::hart::Environment;

/// Instructions per tick of `mtime`: a 10 MHz clock on a hart of 1000 MIPS, as on Spike.
pub const INSTRUCTIONS_PER_TICK: u64 = 100;

/// A counter that follows the instructions retired at a distance, or does not count.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    running: bool,
    /// While running, what to add to the instructions retired, wrapping; else the value.
    base: u64,
}

impl Default for Counter {
    fn default() -> Self {
        Counter { running: true, base: 0 }
    }
}

impl Counter {
    /// The value when `retired` instructions have been retired, the current one not among them.
    #[must_use]
    pub fn read(&self, retired: u64) -> u64 {
        if self.running { self.base.wrapping_add(retired) } else { self.base }
    }

    /// The next instruction reads `value`. norm:mcycle_minstret_wr: "Any CSR write takes effect after the
    /// writing instruction has otherwise completed", so that the write itself is not counted.
    pub fn write(&mut self, retired: u64, value: u64) {
        self.base = if self.running { value.wrapping_sub(retired.wrapping_add(1)) } else { value };
    }

    /// So many instructions do not count.
    pub fn skip(&mut self, instructions: u64) {
        if self.running {
            self.base = self.base.wrapping_sub(instructions);
        }
    }

    /// Starts or stops it, as `mcountinhibit` says, from the current instruction on.
    pub fn set_running(&mut self, retired: u64, running: bool) {
        let value = self.read(retired);
        self.running = running;
        self.base = if running { value.wrapping_sub(retired) } else { value };
    }
}

impl CsrFile {
    /// The timers that can interrupt a hart: the bit in `mip`, and the time it comes.
    fn timers(&self, platform: Option<&Platform>, hart: usize) -> [Option<(u64, u64)>; 2] {
        let machine = platform.and_then(|platform| platform.mtimecmp.get(hart)).map(|&at| (MTI, at));
        let supervisor = (self.menvcfg & STCE != 0).then_some((STI, self.stimecmp));
        [machine, supervisor]
    }

    /// `mip` of a hart at a time.
    pub(super) fn pending(&self, platform: Option<&Platform>, hart: usize, now: u64) -> u64 {
        let mut mip = self.mip;
        for (bit, at) in self.timers(platform, hart).into_iter().flatten() {
            // norm:mip_stip_stimecmp_op2: with stimecmp, nothing but the time sets STIP.
            mip = mip & !bit | if now >= at { bit } else { 0 };
        }
        if let Some(platform) = platform {
            let when = |there: bool, bit: u64| if there { bit } else { 0 };
            let msip = platform.msip.get(hart).is_some_and(|&msip| msip);
            mip |= when(msip, MSI) | when(platform.plic.interrupts(2 * hart + MACHINE), MEI);
            // norm:mip_seip_acc: "the logical-OR of the software-writable SEIP bit and the signal from the
            // external interrupt controller".
            mip |= when(platform.plic.interrupts(2 * hart + SUPERVISOR), SEI);
        }
        mip
    }

    /// Ticks until the next timer interrupt that `mie` lets through and that is not there yet.
    pub(super) fn ticks_to_timer(&self, platform: Option<&Platform>, hart: usize, now: u64) -> Option<u64> {
        let due = |(bit, at): (u64, u64)| (self.mie & bit != 0 && at > now).then(|| at - now);
        self.timers(platform, hart).into_iter().flatten().filter_map(due).min()
    }

    /// Nothing happens for so many ticks.
    pub(super) fn let_time_fly(&mut self, ticks: u64) {
        self.time_ahead = self.time_ahead.wrapping_add(ticks);
    }

    /// What `mtime` is ahead of the instructions retired: the same for all harts.
    pub(super) fn clock(&self) -> u64 {
        self.time_ahead
    }

    /// Sets it.
    pub(super) fn set_clock(&mut self, clock: u64) {
        self.time_ahead = clock;
    }

    /// Other harts have executed so many instructions.
    pub(super) fn skip(&mut self, instructions: u64) {
        self.mcycle.skip(instructions);
        self.minstret.skip(instructions);
    }
}

impl Hart {
    /// `mcycle`: each instruction takes a cycle.
    pub(super) fn mcycle(&self) -> u64 {
        self.csr.mcycle.read(self.instructions_retired())
    }

    pub(super) fn minstret(&self) -> u64 {
        self.csr.minstret.read(self.instructions_retired())
    }

    /// The time, in ticks. It follows the instructions retired, so that a run is the same each time.
    #[must_use]
    pub fn mtime(&self) -> u64 {
        (self.instructions_retired() / INSTRUCTIONS_PER_TICK).wrapping_add(self.csr.time_ahead)
    }

    pub(super) fn set_mtime(&mut self, value: u64) {
        self.csr.time_ahead = value.wrapping_sub(self.instructions_retired() / INSTRUCTIONS_PER_TICK);
    }

    fn platform(&self) -> Option<&Platform> {
        match &self.env {
            Environment::Bare(platform) => Some(platform),
            Environment::User(_) => None,
        }
    }

    /// `mip`, with what the timers, the software interrupt register and the interrupt controller add.
    #[must_use]
    pub fn mip(&self) -> u64 {
        self.csr.pending(self.platform(), self.number as usize, self.mtime())
    }

    fn ticks_to_timer(&self) -> Option<u64> {
        self.csr.ticks_to_timer(self.platform(), self.number as usize, self.mtime())
    }

    /// The most instructions that can run before a timer must be looked at.
    #[must_use]
    pub fn instructions_to_timer(&self) -> u64 {
        match self.ticks_to_timer() {
            Some(ticks) => {
                let into_tick = self.instructions_retired() % INSTRUCTIONS_PER_TICK;
                ticks.saturating_mul(INSTRUCTIONS_PER_TICK) - into_tick
            }
            None => u64::MAX,
        }
    }

    /// Nothing to do until an interrupt: time flies. Without a timer that can end the wait it does not,
    /// and waiting is doing nothing.
    pub(crate) fn wait_for_interrupt(&mut self) {
        if self.mip() & self.csr.mie == 0 {
            if self.config.harts > 1 {
                // Time flies only if all of them wait.
                self.waits = true;
            } else if let Some(ticks) = self.ticks_to_timer() {
                self.csr.let_time_fly(ticks);
            }
        }
        self.resync = true;
    }
}
