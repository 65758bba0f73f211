//! Taking traps and returning from them.

use super::Privilege;
use super::status::*;
use crate::Hart;
use crate::hart::Environment;
use crate::mem::Access;
use crate::trap::{Cause, Exec, Trap};

impl Cause {
    /// The cause of an access fault of this access: PMP, or no memory.
    #[must_use]
    pub fn access_fault(access: Access) -> Cause {
        match access {
            Access::Load => Cause::LoadAccessFault,
            Access::Store => Cause::StoreAccessFault,
            Access::Fetch => Cause::InstructionAccessFault,
        }
    }

    /// The cause of a page fault of this access.
    #[must_use]
    pub fn page_fault(access: Access) -> Cause {
        match access {
            Access::Load => Cause::LoadPageFault,
            Access::Store => Cause::StorePageFault,
            Access::Fetch => Cause::InstructionPageFault,
        }
    }
}

/// Interrupts by falling priority (section "Machine Interrupt Registers": "MEI, MSI, MTI, SEI, SSI, STI").
const PRIORITY: [u64; 6] = [MEI, MSI, MTI, SEI, SSI, STI];

impl Hart {
    /// Enters the trap handler. `hart.pc` is the instruction that trapped.
    ///
    /// # Errors
    /// The trap itself when its handler cannot even be fetched, or when the handler's first instruction has
    /// already led here, so that nothing else would ever happen again. The hart is then as it was before
    /// the trap.
    pub fn take_trap(&mut self, trap: &Trap) -> Exec {
        self.retired_in_block = 0;
        let mode = self.mode_for_exception(trap.cause);
        let handler = self.tvec(mode) & !3;
        // A handler that cannot be fetched is the next trap. If that goes to the same handler, it goes there
        // for ever; if to another mode's, that one may know what to do.
        if let Err(next) = self.translate_as(handler, Access::Fetch, mode)
            && (mode == Privilege::Machine || self.csr.medeleg >> next.cause as u8 & 1 == 1)
        {
            return Err(*trap);
        }
        let last = if mode == Privilege::Machine {
            (self.csr.mepc, self.csr.mcause)
        } else {
            (self.csr.sepc, self.csr.scause)
        };
        if mode == self.prv && self.pc == handler && last == (handler, trap.cause as u64) {
            return Err(*trap);
        }
        self.enter(mode, trap.cause as u64, trap.tval, handler);
        Ok(())
    }

    /// The mode that handles an exception now.
    fn mode_for_exception(&self, cause: Cause) -> Privilege {
        let delegated = self.csr.medeleg >> cause as u8 & 1 == 1;
        if delegated && self.prv <= Privilege::Supervisor {
            Privilege::Supervisor
        } else {
            Privilege::Machine
        }
    }

    fn tvec(&self, mode: Privilege) -> u64 {
        if mode == Privilege::Machine { self.csr.mtvec } else { self.csr.stvec }
    }

    /// The interrupt to take now, and the mode to take it in.
    fn interrupt_due(&self) -> Option<(u64, Privilege)> {
        let pending = self.mip() & self.csr.mie;
        if pending == 0 {
            return None;
        }
        // norm:intr_mip_mie_op: "either the current privilege mode is M and the MIE bit in the mstatus
        // register is set, or the current privilege mode has less privilege than M-mode"; S-mode likewise.
        let enabled =
            |mode: Privilege, bit: u64| self.prv < mode || (self.prv == mode && self.csr.mstatus & bit != 0);
        let for_m = pending & !self.csr.mideleg;
        let for_s = pending & self.csr.mideleg;
        let (set, mode) = if for_m != 0 && enabled(Privilege::Machine, MIE) {
            (for_m, Privilege::Machine)
        } else if for_s != 0 && enabled(Privilege::Supervisor, SIE) {
            (for_s, Privilege::Supervisor)
        } else {
            return None;
        };
        PRIORITY.into_iter().find(|bit| set & bit != 0).map(|bit| (bit, mode))
    }

    /// Something that decides about interrupts has changed. norm:intr_mip_mie_xret_csrwr: the conditions
    /// "must also be evaluated immediately following the execution of an xRET instruction or an explicit
    /// write to a CSR on which these interrupt trap conditions expressly depend".
    pub(super) fn look_for_interrupts(&mut self) {
        if self.interrupt_due().is_some() {
            self.resync = true;
        }
    }

    /// Takes the pending interrupt of highest priority, if one is enabled.
    pub fn take_interrupt(&mut self) {
        self.retired_in_block = 0;
        if let Some((bit, mode)) = self.interrupt_due() {
            let number = u64::from(bit.trailing_zeros());
            let tvec = self.tvec(mode);
            // norm:mtvec_mode_vectored_op: "interrupts set pc to BASE + 4 * cause", exceptions to BASE.
            let vector = if tvec & 1 == 1 { 4 * number } else { 0 };
            self.enter(mode, INTERRUPT | number, 0, (tvec & !3).wrapping_add(vector));
        }
    }

    /// The state change of a trap into `mode`.
    fn enter(&mut self, mode: Privilege, cause: u64, tval: u64, handler: u64) {
        self.fold_dirty();
        let pc = self.pc;
        self.changing_translation(|hart| {
            let from = hart.prv as u64;
            let csr = &mut hart.csr;
            let status = csr.mstatus;
            if mode == Privilege::Machine {
                (csr.mepc, csr.mcause, csr.mtval) = (pc, cause, tval);
                let pie = if status & MIE != 0 { MPIE } else { 0 };
                csr.mstatus = status & !(MIE | MPIE | MPP) | pie | from << 11;
            } else {
                (csr.sepc, csr.scause, csr.stval) = (pc, cause, tval);
                let pie = if status & SIE != 0 { SPIE } else { 0 };
                csr.mstatus = status & !(SIE | SPIE | SPP) | pie | from << 8;
            }
            hart.prv = mode;
        });
        self.pc = handler;
        self.next_pc = handler;
    }

    /// `mret`, in M-mode.
    pub(crate) fn return_from_machine(&mut self) {
        self.fold_dirty();
        let status = self.csr.mstatus;
        let to = match status & MPP {
            MPP => Privilege::Machine,
            0 => Privilege::User,
            _ => Privilege::Supervisor,
        };
        // norm:mstatus_xret_op: xIE from xPIE, xPIE to 1, xPP to the least privileged mode, and "if y != M,
        // xRET also sets MPRV=0".
        let ie = if status & MPIE != 0 { MIE } else { 0 };
        self.return_to(to, status & !(MIE | MPP) | ie | MPIE);
        self.next_pc = self.csr.mepc & self.csr.pc_mask();
    }

    /// `sret`, in S-mode or above.
    pub(crate) fn return_from_supervisor(&mut self) {
        self.fold_dirty();
        let status = self.csr.mstatus;
        let to = if status & SPP != 0 { Privilege::Supervisor } else { Privilege::User };
        let ie = if status & SPIE != 0 { SIE } else { 0 };
        self.return_to(to, status & !(SIE | SPP) | ie | SPIE);
        self.next_pc = self.csr.sepc & self.csr.pc_mask();
    }

    fn return_to(&mut self, mode: Privilege, status: u64) {
        self.changing_translation(|hart| {
            hart.csr.mstatus = if mode == Privilege::Machine { status } else { status & !MPRV };
            hart.prv = mode;
        });
        self.log_csr(rvv_isa::csr::MSTATUS);
        self.look_for_interrupts();
    }

    /// Whether this hart runs in bare mode, so that all of the privileged architecture is there.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.env, Environment::Bare(_))
    }

    /// Whether `bit` of `mstatus` is set.
    pub(crate) fn status_has(&self, bit: u64) -> bool {
        self.csr.mstatus & bit != 0
    }
}
