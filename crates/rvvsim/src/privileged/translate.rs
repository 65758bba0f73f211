//! From virtual to physical addresses: Sv39, Sv48 and Sv57 (privileged manual, chapter
//! "Supervisor-Level ISA"), with PMP behind them.

use super::Privilege;
use super::status::*;
use crate::Hart;
use crate::hart::Environment;
use crate::mem::{Access, PAGE, Target};
use crate::trap::{Cause, Exec, Trap};

/// Page-table entries.
mod pte {
    pub const V: u64 = 1;
    pub const R: u64 = 1 << 1;
    pub const W: u64 = 1 << 2;
    pub const X: u64 = 1 << 3;
    pub const U: u64 = 1 << 4;
    pub const A: u64 = 1 << 6;
    pub const D: u64 = 1 << 7;
    /// Bits 60 to 54, for future standard use.
    pub const RESERVED: u64 = 0x7f << 54;
    /// Memory type (Svpbmt).
    pub const PBMT: u64 = 3 << 61;
    /// Part of a naturally aligned power-of-two run of pages (Svnapot).
    pub const N: u64 = 1 << 63;

    /// The physical page number.
    pub fn ppn(pte: u64) -> u64 {
        pte >> 10 & ((1 << 44) - 1)
    }
}

/// Bits of a virtual page number that each level of a page table resolves.
const VPN_BITS: u32 = 9;
const PAGE_SHIFT: u32 = 12;

/// All that decides where an address leads, but for page tables and PMP.
#[derive(PartialEq, Eq)]
struct Regime {
    fetch: Privilege,
    data: Privilege,
    satp: u64,
    sum_mxr: u64,
}

impl Hart {
    fn regime(&self) -> Regime {
        let (fetch, data) = (self.prv, self.mode_of(Access::Load));
        // In M-mode there is no translation, and what its registers say does not matter.
        let translated = fetch.min(data) < Privilege::Machine;
        let of = |value: u64| if translated { value } else { 0 };
        Regime { fetch, data, satp: of(self.csr.satp), sum_mxr: of(self.csr.mstatus & (SUM | MXR)) }
    }

    /// Makes a change that may lead addresses elsewhere, and forgets translations if it did.
    pub(super) fn changing_translation(&mut self, change: impl FnOnce(&mut Hart)) {
        let before = self.regime();
        change(self);
        if self.regime() != before {
            self.flush_tlb();
        }
    }

    /// The mode in which an access is translated and protected.
    fn mode_of(&self, access: Access) -> Privilege {
        // norm:mstatus_mprv_ldst_op, norm:mstatus_mprv_inst_xlat_op
        if access == Access::Fetch || self.csr.mstatus & MPRV == 0 {
            return self.prv;
        }
        match self.csr.mstatus & MPP {
            MPP => Privilege::Machine,
            0 => Privilege::User,
            _ => Privilege::Supervisor,
        }
    }

    /// Translation and protection in bare mode: PMP, satp, A and D bits. PMP is asked about one byte; see
    /// [`Hart::check_whole_access`].
    ///
    /// # Errors
    /// The access or page fault of that access.
    pub(crate) fn translate_bare(&mut self, va: u64, access: Access) -> Exec<Target> {
        self.translate_as(va, access, self.mode_of(access))
    }

    pub(super) fn translate_as(&mut self, va: u64, access: Access, mode: Privilege) -> Exec<Target> {
        let pa = if mode == Privilege::Machine { va } else { self.walk(va, access, mode)? };
        if !self.csr.pmp.allows(pa, 1, access, mode) {
            return Err(pmp_fault(va, access));
        }
        let Environment::Bare(platform) = &self.env else {
            unreachable!("user mode has its own translation")
        };
        match platform.target(pa, self.ram.len()) {
            Some(target) => Ok(target),
            None => Err(Trap::new(Cause::access_fault(access), va, "there is no memory and no device there")),
        }
    }

    /// Whether PMP splits the RAM page of `offset`, so that each access to it has to be looked at.
    pub(crate) fn is_split_by_pmp(&self, offset: usize) -> bool {
        match &self.env {
            Environment::Bare(platform) => !self.csr.pmp.is_uniform(platform.ram_address(offset)),
            Environment::User(_) => false,
        }
    }

    /// Checks PMP for all of an access of `len` bytes whose first byte was found at `target`.
    ///
    /// # Errors
    /// The access fault of that access.
    pub(crate) fn check_whole_access(&self, va: u64, target: Target, len: usize, access: Access) -> Exec {
        let Environment::Bare(platform) = &self.env else { return Ok(()) };
        let pa = match target {
            Target::Ram(offset) => platform.ram_address(offset),
            Target::Device(pa) => pa,
        };
        if self.csr.pmp.allows(pa, len as u64, access, self.mode_of(access)) {
            Ok(())
        } else {
            Err(pmp_fault(va, access))
        }
    }

    /// Walks the page table; section "Virtual Address Translation Process", whose steps the comments
    /// number.
    fn walk(&mut self, va: u64, access: Access, mode: Privilege) -> Exec<u64> {
        let levels = match self.csr.satp >> 60 {
            0 => return Ok(va),
            sv => sv as u32 - 5,
        };
        let fault = |why| Err(Trap::new(Cause::page_fault(access), va, why));
        // norm:Sv39_va_signext and its kin.
        let unused = 64 - (PAGE_SHIFT + levels * VPN_BITS);
        if (va << unused) as i64 >> unused != va as i64 {
            return fault(
                "the upper bits of the address are not all equal to the highest bit that is translated",
            );
        }
        // Step 1.
        let mut table = pte::ppn(self.csr.satp << 10) * PAGE;
        let mut level = levels;
        loop {
            level -= 1;
            let shift = PAGE_SHIFT + level * VPN_BITS;
            // Step 2.
            let at = table + (va >> shift & 0x1ff) * 8;
            let offset = self.table_entry(at, va, access, Access::Load)?;
            let entry: u64 = self.ram.read(offset).unwrap_or(0);
            // Step 3.
            if let Some(why) = self.invalid(entry) {
                return fault(why);
            }
            let ppn = pte::ppn(entry);
            // Step 4.
            if entry & (pte::R | pte::X) == 0 {
                if entry & (pte::D | pte::A | pte::U | pte::N | pte::PBMT) != 0 {
                    return fault(
                        "the page-table entry points to another table and has bits set that are reserved there",
                    );
                }
                if level == 0 {
                    return fault("the last level of the page table points to yet another table");
                }
                table = ppn * PAGE;
                continue;
            }
            // Step 5, and what Svnapot adds: the only run there is has 16 pages.
            let page_in_superpage = (1u64 << (shift - PAGE_SHIFT)) - 1;
            if ppn & page_in_superpage != 0 {
                return fault("norm:Sv39_superpage_align_fault: the superpage is not aligned to its size");
            }
            if entry & pte::N != 0 && (level != 0 || ppn & 0xf != 8) {
                return fault("the page-table entry has a NAPOT encoding that is reserved");
            }
            // Steps 6 to 8.
            if let Some(why) = self.forbidden(entry, access, mode) {
                return fault(why);
            }
            // Step 9.
            let wanted = if access == Access::Store { pte::A | pte::D } else { pte::A };
            if entry & wanted != wanted {
                if self.csr.menvcfg & ADUE == 0 {
                    return fault(
                        "norm:svade_access_ad_bit_clear: the A bit, or for a store the D bit, is clear",
                    );
                }
                let offset = self.table_entry(at, va, access, Access::Store)?;
                self.ram.write(offset, entry | wanted);
                if self.ram.note_write(offset, 8) {
                    self.resync = true;
                }
            }
            // Step 10.
            let from_va = if entry & pte::N != 0 { 0xf } else { page_in_superpage };
            let page = (ppn & !from_va) | ((va >> PAGE_SHIFT) & from_va);
            return Ok((page * PAGE) | (va % PAGE));
        }
    }

    /// Where in RAM a page-table entry is. It must be in RAM, and PMP must let S-mode access it; a fault
    /// is one of the access that needs the entry.
    fn table_entry(&self, pa: u64, va: u64, access: Access, how: Access) -> Exec<usize> {
        let fault = |why| Err(Trap::new(Cause::access_fault(access), va, why));
        // norm:pmp_with_paging: "The effective privilege mode for implicit page-table accesses is S."
        if !self.csr.pmp.allows(pa, 8, how, Privilege::Supervisor) {
            return fault("PMP does not permit access to the page table");
        }
        let Environment::Bare(platform) = &self.env else { return fault("user mode has no page table") };
        match platform.target(pa, self.ram.len()) {
            Some(Target::Ram(offset)) => Ok(offset),
            _ => fault("the page table is not in memory"),
        }
    }

    /// Why an entry is not valid, if it is not.
    fn invalid(&self, entry: u64) -> Option<&'static str> {
        if entry & pte::V == 0 {
            return Some("the page is not mapped: its page-table entry is not valid");
        }
        if entry & (pte::R | pte::W) == pte::W {
            return Some("the page-table entry is writable and not readable, which is reserved");
        }
        if entry & pte::RESERVED != 0 {
            return Some("norm:Sv39_pte_future_rsv: the page-table entry has reserved bits set");
        }
        if entry & pte::PBMT != 0 && (self.csr.menvcfg & PBMTE == 0 || entry & pte::PBMT == pte::PBMT) {
            return Some(
                "norm:Sv39_pte_svpbmt_rsv: the page-table entry has a memory type, or one that is reserved",
            );
        }
        None
    }

    /// Why a leaf does not permit an access, if it does not.
    fn forbidden(&self, entry: u64, access: Access, mode: Privilege) -> Option<&'static str> {
        let user = entry & pte::U != 0;
        if mode == Privilege::User && !user {
            return Some("the page is not one for U-mode");
        }
        if mode == Privilege::Supervisor && user {
            if access == Access::Fetch {
                return Some("S-mode does not execute pages for U-mode");
            }
            if self.csr.mstatus & SUM == 0 {
                return Some("norm:mstatus_sum_op: the page is one for U-mode and mstatus.SUM is clear");
            }
        }
        let readable = pte::R | if self.csr.mstatus & MXR != 0 { pte::X } else { 0 };
        match access {
            Access::Fetch if entry & pte::X == 0 => {
                Some("norm:fetch_page_fault_no_x: the page is not executable")
            }
            Access::Load if entry & readable == 0 => {
                Some("norm:load_page_fault_no_r: the page is not readable")
            }
            Access::Store if entry & pte::W == 0 => {
                Some("norm:store_page_fault_no_w: the page is not writable")
            }
            _ => None,
        }
    }
}

fn pmp_fault(va: u64, access: Access) -> Trap {
    let why = match access {
        Access::Fetch => "norm:pmp_exec_fault: PMP does not permit the fetch",
        Access::Load => "norm:pmp_load_fault: PMP does not permit the load",
        Access::Store => "norm:pmp_store_fault: PMP does not permit the store",
    };
    Trap::new(Cause::access_fault(access), va, why)
}
