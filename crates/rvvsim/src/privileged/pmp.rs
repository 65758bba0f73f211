//! Physical memory protection (privileged manual, chapter "Machine-Level ISA", section "Physical
//! Memory Protection").

use super::Privilege;
use crate::mem::{Access, PAGE};

/// Entries that exist; the registers of the others read as zero.
pub const ENTRIES: usize = 16;

const R: u8 = 1;
const W: u8 = 1 << 1;
const X: u8 = 1 << 2;
/// The address-matching mode.
const A: u8 = 3 << 3;
const L: u8 = 1 << 7;

const OFF: u8 = 0;
const TOR: u8 = 1 << 3;
const NA4: u8 = 2 << 3;

/// `pmpaddr` holds bits 55 to 2 of an address.
const ADDR_BITS: u64 = (1 << 54) - 1;

/// The protection registers, with a granule of four bytes.
#[derive(Clone, Debug)]
pub struct Pmp {
    cfg: [u8; ENTRIES],
    addr: [u64; ENTRIES],
    /// What each entry covers, from the registers: first byte, and the one after the last.
    range: [(u64, u64); ENTRIES],
}

impl Default for Pmp {
    /// At reset everything is open to all modes by entry 0, so that software that knows nothing of PMP
    /// runs, as on Spike; the manual would have all entries off.
    fn default() -> Self {
        let mut pmp = Pmp { cfg: [0; ENTRIES], addr: [0; ENTRIES], range: [(0, 0); ENTRIES] };
        pmp.write_addr(0, u64::MAX);
        pmp.write_cfg(0, u64::from(R | W | X | A));
        pmp
    }
}

impl Pmp {
    /// Reads `pmpcfg` register `n`, an even number.
    #[must_use]
    pub fn read_cfg(&self, n: usize) -> u64 {
        let mut bytes = [0; 8];
        for (byte, cfg) in bytes.iter_mut().zip(self.cfg.iter().skip(n * 4)) {
            *byte = *cfg;
        }
        u64::from_le_bytes(bytes)
    }

    /// Writes `pmpcfg` register `n`; false if none of its entries exists.
    pub fn write_cfg(&mut self, n: usize, value: u64) -> bool {
        for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
            let entry = n * 4 + i;
            // "If PMP entry i is locked, writes to pmpicfg and pmpaddri are ignored."
            if entry >= ENTRIES || self.cfg[entry] & L != 0 {
                continue;
            }
            // "The combination R=0 and W=1 is reserved": W is dropped.
            let legal = if byte & R == 0 { R | X | A | L } else { R | W | X | A | L };
            self.cfg[entry] = byte & legal;
        }
        self.find_ranges();
        n * 4 < ENTRIES
    }

    /// Reads `pmpaddr` register `n`.
    #[must_use]
    pub fn read_addr(&self, n: usize) -> u64 {
        self.addr.get(n).copied().unwrap_or(0)
    }

    /// Writes `pmpaddr` register `n`; false if it is locked.
    pub fn write_addr(&mut self, n: usize, value: u64) -> bool {
        if n >= ENTRIES {
            return true;
        }
        // "Additionally, if PMP entry i is locked and pmpicfg.A is set to TOR, writes to pmpaddri-1 are
        // ignored."
        let next = self.cfg.get(n + 1).copied().unwrap_or(0);
        if self.cfg[n] & L != 0 || (next & L != 0 && next & A == TOR) {
            return false;
        }
        self.addr[n] = value & ADDR_BITS;
        self.find_ranges();
        true
    }

    fn find_ranges(&mut self) {
        for i in 0..ENTRIES {
            let addr = self.addr[i];
            self.range[i] = match self.cfg[i] & A {
                OFF => (0, 0),
                TOR => {
                    let bottom = if i == 0 { 0 } else { self.addr[i - 1] << 2 };
                    // "If pmpaddri-1 >= pmpaddri and pmpcfgi.A=TOR, then PMP entry i matches no addresses."
                    if bottom < addr << 2 { (bottom, addr << 2) } else { (0, 0) }
                }
                NA4 => (addr << 2, (addr << 2) + 4),
                // NAPOT: k ones at the bottom of the address mean a region of 2^(k+3) bytes.
                _ => {
                    let ones = addr.trailing_ones();
                    let first = addr >> (ones + 1) << (ones + 1) << 2;
                    (first, first + (1 << (ones + 3)))
                }
            };
        }
    }

    /// Whether an access of `len` bytes at `pa` is permitted in mode `prv`.
    #[must_use]
    pub fn allows(&self, pa: u64, len: u64, access: Access, prv: Privilege) -> bool {
        let end = pa.saturating_add(len.max(1));
        for (cfg, (first, past)) in self.cfg.iter().zip(&self.range) {
            // norm:pmp_entry_priority: "The lowest-numbered PMP entry that matches any byte of a memory
            // operation determines whether that operation succeeds or fails."
            if pa < *past && *first < end {
                // norm:pmp_full_match_required: "The matching PMP entry must match all bytes of a memory
                // operation, or the operation fails, irrespective of the L, R, W, and X bits."
                if pa < *first || end > *past {
                    return false;
                }
                let permission = match access {
                    Access::Load => R,
                    Access::Store => W,
                    Access::Fetch => X,
                };
                return cfg & permission != 0 || (prv == Privilege::Machine && cfg & L == 0);
            }
        }
        // norm:pmp_no_entry_match: without a match an M-mode operation succeeds, an S-mode or U-mode one
        // "fails if at least one PMP entry is implemented".
        prv == Privilege::Machine
    }

    /// Whether what holds for one byte of the page of `pa` holds for all of it.
    #[must_use]
    pub fn is_uniform(&self, pa: u64) -> bool {
        let page = pa & !(PAGE - 1);
        let end = page.saturating_add(PAGE);
        for &(first, past) in &self.range {
            if page < past && first < end {
                return first <= page && end <= past;
            }
        }
        true
    }
}
