//! Triggers (debug manual, chapter "Sdtrig"): breakpoints and watchpoints that a program sets for itself.
//!
//! There are four, as on Spike. Each can be an address match (`mcontrol`, type 2, or `mcontrol6`, type 6)
//! that raises a breakpoint exception before the instruction executes, or be disabled (type 15). There is no
//! debug mode, so `dmode` is 0; data matches, contexts and other actions are not there, and the fields read
//! as 0.

use super::Privilege;
use super::status::{MIE, SIE};
use crate::Hart;
use crate::mem::Access;
use crate::trap::{Cause, Exec, Trap};

/// How many there are.
const COUNT: usize = 4;

// tdata1 of mcontrol and mcontrol6.
const TYPE_SHIFT: u32 = 60;
const MCONTROL: u64 = 2;
const MCONTROL6: u64 = 6;
const DISABLED: u64 = 15;
const MCONTROL_HIT: u64 = 1 << 20;
const MCONTROL6_HIT1: u64 = 1 << 25;
const MCONTROL6_HIT0: u64 = 1 << 22;
const CHAIN: u64 = 1 << 11;
const MATCH_SHIFT: u32 = 7;
const MATCH: u64 = 0xf << MATCH_SHIFT;
const M: u64 = 1 << 6;
const S: u64 = 1 << 4;
const U: u64 = 1 << 3;
const EXECUTE: u64 = 1 << 2;
const STORE: u64 = 1 << 1;
const LOAD: u64 = 1;

// The ways to match.
const EQUAL: u64 = 0;
const NAPOT: u64 = 1;
const GREATER_OR_EQUAL: u64 = 2;
const LESS: u64 = 3;
const MASK_LOW: u64 = 4;
const MASK_HIGH: u64 = 5;

/// `tinfo`: the types there are, and version 1 of the specification.
pub(super) const TINFO: u64 = 1 << MCONTROL | 1 << MCONTROL6 | 1 << DISABLED | 1 << 24;

/// One trigger.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    tdata1: u64,
    tdata2: u64,
}

/// All of them, and which one the registers show.
#[derive(Clone, Debug)]
pub(super) struct Triggers {
    selected: usize,
    all: [Trigger; COUNT],
    /// The accesses that some trigger is about: [`EXECUTE`], [`STORE`], [`LOAD`].
    armed: u64,
}

impl Default for Triggers {
    fn default() -> Self {
        let trigger = Trigger { tdata1: DISABLED << TYPE_SHIFT, tdata2: 0 };
        Triggers { selected: 0, all: [trigger; COUNT], armed: 0 }
    }
}

impl Triggers {
    pub(super) fn tselect(&self) -> u64 {
        self.selected as u64
    }

    /// A trigger that is not there is not selected.
    pub(super) fn select(&mut self, value: u64) {
        if value < COUNT as u64 {
            self.selected = value as usize;
        }
    }

    pub(super) fn tdata1(&self) -> u64 {
        self.all[self.selected].tdata1
    }

    pub(super) fn tdata2(&self) -> u64 {
        self.all[self.selected].tdata2
    }

    pub(super) fn set_tdata1(&mut self, value: u64) {
        self.all[self.selected].tdata1 = legal(value);
        let accesses = |trigger: &Trigger| match trigger.tdata1 >> TYPE_SHIFT {
            MCONTROL | MCONTROL6 => trigger.tdata1 & (EXECUTE | STORE | LOAD),
            _ => 0,
        };
        self.armed = self.all.iter().map(accesses).fold(0, |all, some| all | some);
    }

    pub(super) fn set_tdata2(&mut self, value: u64) {
        self.all[self.selected].tdata2 = value;
    }

    /// Whether a trigger, or a whole chain of them, matches `len` bytes at `address`. Those that do say so in
    /// their hit bits, in a chain also if it does not match as a whole.
    fn fires(&mut self, access: u64, mode: u64, address: u64, len: usize) -> bool {
        let mut fires = false;
        let mut chain_holds = true;
        for trigger in &mut self.all {
            let chained = trigger.tdata1 & CHAIN != 0;
            if !chain_holds {
                chain_holds = !chained;
                continue;
            }
            let matches = trigger.matches(access, mode, address, len);
            if matches {
                trigger.hit();
                fires |= !chained;
            }
            chain_holds = matches || !chained;
        }
        fires
    }
}

impl Trigger {
    fn matches(&self, access: u64, mode: u64, address: u64, len: usize) -> bool {
        let is_match = matches!(self.tdata1 >> TYPE_SHIFT, MCONTROL | MCONTROL6);
        let wanted = access | mode;
        is_match
            && self.tdata1 & wanted == wanted
            && (0..len as u64).any(|i| self.matches_address(address.wrapping_add(i)))
    }

    fn matches_address(&self, address: u64) -> bool {
        let value = self.tdata2;
        let (high, low) = (value >> 32, value & 0xffff_ffff);
        match (self.tdata1 & MATCH) >> MATCH_SHIFT {
            // The bits above the lowest 0.
            NAPOT => (address ^ value) & !(value ^ value.wrapping_add(1)) == 0,
            GREATER_OR_EQUAL => address >= value,
            LESS => address < value,
            MASK_LOW => address & 0xffff_ffff & high == low,
            MASK_HIGH => (address >> 32) & high == low,
            _ => address == value,
        }
    }

    /// It fired before the instruction.
    fn hit(&mut self) {
        if self.tdata1 >> TYPE_SHIFT == MCONTROL {
            self.tdata1 |= MCONTROL_HIT;
        } else {
            self.tdata1 = self.tdata1 & !MCONTROL6_HIT1 | MCONTROL6_HIT0;
        }
    }
}

/// What of a value written to `tdata1` sticks.
fn legal(value: u64) -> u64 {
    let fields = CHAIN | MATCH | M | S | U | EXECUTE | STORE | LOAD;
    let kind = value >> TYPE_SHIFT;
    let (hits, napot) = match kind {
        // Its `maskmax` is 0, which leaves no power of two to match.
        MCONTROL => (MCONTROL_HIT, false),
        MCONTROL6 => (MCONTROL6_HIT0 | MCONTROL6_HIT1, true),
        _ => return DISABLED << TYPE_SHIFT,
    };
    let how = match (value & MATCH) >> MATCH_SHIFT {
        NAPOT if !napot => EQUAL,
        how @ EQUAL..=MASK_HIGH => how,
        _ => EQUAL,
    };
    kind << TYPE_SHIFT | value & (fields & !MATCH | hits) | how << MATCH_SHIFT
}

impl Hart {
    /// Whether instructions must be looked at one by one, because a trigger may fire before any of them.
    pub(crate) fn fetches_are_watched(&self) -> bool {
        self.csr.triggers.armed & EXECUTE != 0
    }

    /// Whether loads and stores must be looked at one by one for triggers.
    pub(crate) fn accesses_are_watched(&self) -> bool {
        self.csr.triggers.armed != 0
    }

    /// The breakpoint exception of an access of `len` bytes that a trigger matches.
    ///
    /// # Errors
    /// That exception.
    pub(crate) fn check_triggers(&mut self, va: u64, len: usize, access: Access) -> Exec {
        let (access, why) = match access {
            Access::Fetch => (EXECUTE, "a trigger (tdata1) matches the instruction's address"),
            Access::Load => (LOAD, "a trigger (tdata1) matches the load's address"),
            Access::Store => (STORE, "a trigger (tdata1) matches the store's address"),
        };
        if self.csr.triggers.armed & access == 0 {
            return Ok(());
        }
        // "Native triggers": a handler must be able to get as far as saving its state. As on Spike, no
        // trigger fires in M-mode while MIE is clear, nor in S-mode while SIE is and breakpoints are
        // delegated there.
        let delegated = self.csr.medeleg >> Cause::Breakpoint as u8 & 1 != 0;
        let (mode, enabled) = match self.prv {
            Privilege::Machine => (M, self.csr.mstatus & MIE != 0),
            Privilege::Supervisor => (S, !delegated || self.csr.mstatus & SIE != 0),
            Privilege::User => (U, true),
        };
        if enabled && self.csr.triggers.fires(access, mode, va, len) {
            return Err(Trap::new(Cause::Breakpoint, va, why));
        }
        Ok(())
    }
}
