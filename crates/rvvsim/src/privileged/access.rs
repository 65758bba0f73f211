//! Who may access a CSR, and what writing one does.

use super::Privilege;
use super::csr::{MHPMCOUNTERS, MHPMEVENTS, PMPADDRS, PMPCFGS};
use super::status::*;
use crate::Hart;
use crate::fp::Flags;
use crate::hart::Environment;
use crate::trap::{Exec, Trap};
use rvv_isa::csr;

impl Hart {
    /// Whether the current mode may access a CSR, and write it if `writes`; `bits` is the instruction.
    ///
    /// # Errors
    /// An illegal instruction, with the rule.
    pub fn check_csr_access(&self, number: u16, writes: bool, bits: u32) -> Exec {
        let no = |why| Err(Trap::illegal(bits, why));
        if self.read_csr(number).is_none() {
            return no(why_absent(number));
        }
        if u16::from(self.prv as u8) < number >> 8 & 3 {
            return no("norm:Zicsr_illegal_mode: the CSR belongs to a more privileged mode");
        }
        if writes && number >> 10 == 3 {
            return no("norm:Zicsr_illegal_acc: a write to a read-only CSR");
        }
        match number {
            csr::FFLAGS | csr::FRM | csr::FCSR if !self.fs_enabled() => {
                no("norm:mstatus_fs_vs_xs_off_op: a floating-point CSR while mstatus.FS is off")
            }
            csr::VSTART | csr::VXSAT | csr::VXRM | csr::VCSR | csr::VL | csr::VTYPE | csr::VLENB
                if !self.vs_enabled() =>
            {
                no("norm:mstatus_fs_vs_xs_off_op: a vector CSR while mstatus.VS is off")
            }
            csr::CYCLE..=csr::HPMCOUNTER31 => self.check_counter(number - csr::CYCLE, bits),
            csr::SATP if self.prv == Privilege::Supervisor && self.csr.mstatus & TVM != 0 => {
                no("norm:mstatus_tvm_warl_op: satp in S-mode while mstatus.TVM is set")
            }
            csr::STIMECMP if self.prv == Privilege::Supervisor => {
                if self.csr.menvcfg & STCE == 0 {
                    return no("norm:menvcfg_stce_op2: stimecmp in S-mode while menvcfg.STCE is clear");
                }
                self.check_counter(csr::TIME - csr::CYCLE, bits)
            }
            _ => Ok(()),
        }
    }

    fn check_counter(&self, counter: u16, bits: u32) -> Exec {
        let closed = |counteren: u64| counteren >> counter & 1 == 0;
        // Linux lets processes read the counters.
        if matches!(self.env, Environment::User(_)) {
            return Ok(());
        }
        if self.prv < Privilege::Machine && closed(self.csr.mcounteren) {
            let why = "norm:mcounteren_clr_ill_inst_exc: a counter whose bit in mcounteren is clear";
            return Err(Trap::illegal(bits, why));
        }
        if self.prv < Privilege::Supervisor && closed(self.csr.scounteren) {
            let why = "norm:scounteren_op: a counter in U-mode whose bit in scounteren is clear";
            return Err(Trap::illegal(bits, why));
        }
        Ok(())
    }

    /// What an instruction that sets or clears bits of a CSR changes, where the CSR reads as `read`.
    #[must_use]
    pub fn csr_to_modify(&self, number: u16, read: u64) -> u64 {
        // norm:mip_seip_wrcsr: only "the software-writable SEIP bit" takes part, not the interrupt
        // controller's signal.
        if number == csr::MIP { read & !SEI | self.csr.mip & SEI } else { read }
    }

    /// Writes a CSR that the current mode may write, as far as its fields can be written.
    pub fn write_csr(&mut self, number: u16, value: u64) {
        match number {
            csr::FFLAGS => self.write_fcsr(None, Some(value)),
            csr::FRM => self.write_fcsr(Some(value), None),
            csr::FCSR => self.write_fcsr(Some(value >> 5), Some(value)),
            csr::VSTART => {
                // Enough bits for the largest index of an element at this VLEN, which is VLEN - 1.
                self.v.vstart = value & (self.v.vlenb as u64 * 8 - 1);
                self.vs_dirty = true;
                self.log_csr(csr::VSTART);
            }
            csr::VXSAT => self.write_vcsr(None, Some(value)),
            csr::VXRM => self.write_vcsr(Some(value), None),
            csr::VCSR => self.write_vcsr(Some(value >> 1), Some(value)),
            _ if number >> 8 & 3 == 1 => self.write_supervisor(number, value),
            _ => self.write_machine(number, value),
        }
        self.fold_dirty();
    }

    fn write_fcsr(&mut self, frm: Option<u64>, fflags: Option<u64>) {
        if let Some(frm) = frm {
            self.frm = frm as u8 & 7;
            self.log_csr(csr::FRM);
        }
        if let Some(fflags) = fflags {
            self.fflags = Flags(fflags as u8 & 0x1f);
            self.log_csr(csr::FFLAGS);
        }
        self.fs_dirty = true;
    }

    fn write_vcsr(&mut self, vxrm: Option<u64>, vxsat: Option<u64>) {
        if let Some(vxrm) = vxrm {
            self.v.vxrm = vxrm as u8 & 3;
            self.log_csr(csr::VXRM);
        }
        if let Some(vxsat) = vxsat {
            self.v.vxsat = vxsat & 1 != 0;
            self.log_csr(csr::VXSAT);
        }
        self.vs_dirty = true;
    }

    fn write_supervisor(&mut self, number: u16, value: u64) {
        let csr = &mut self.csr;
        match number {
            csr::SSTATUS => {
                let rest = self.mstatus() & !SSTATUS_WRITABLE;
                return self.write_mstatus(rest | value & SSTATUS_WRITABLE);
            }
            csr::SIE => {
                let mask = csr.mideleg;
                self.write_mie(self.csr.mie & !mask | value & mask);
                // Spike logs both names.
            }
            csr::SIP => {
                // norm:sip_ssip_sie_ssie: of the bits of sip only SSIP can be written.
                let mask = csr.mideleg & SSI;
                return self.write_mip(self.csr.mip & !mask | value & mask);
            }
            csr::STVEC => csr.stvec = legal_tvec(value),
            csr::SCOUNTEREN => csr.scounteren = value & csr.masks.counteren,
            csr::SENVCFG => csr.senvcfg = legal_envcfg(value) & csr.masks.senvcfg,
            csr::SSCRATCH => csr.sscratch = value,
            csr::SEPC => csr.sepc = value & !1,
            csr::SCAUSE => csr.scause = value,
            csr::STVAL => csr.stval = value,
            csr::STIMECMP => {
                csr.stimecmp = value;
                self.resync = true;
            }
            csr::SATP => self.write_satp(value),
            _ => return,
        }
        self.log_csr(number);
    }

    fn write_machine(&mut self, number: u16, value: u64) {
        let retired = self.instructions_retired();
        let csr = &mut self.csr;
        match number {
            csr::MSTATUS => return self.write_mstatus(value),
            csr::MIE => return self.write_mie(value),
            csr::MIP => {
                let stip = if csr.menvcfg & STCE != 0 { 0 } else { STI };
                let mask = SSI | SEI | stip;
                return self.write_mip(self.csr.mip & !mask | value & mask);
            }
            csr::MEDELEG => csr.medeleg = value & csr.medeleg_mask(),
            csr::MIDELEG => {
                csr.mideleg = value & DELEGABLE_INTERRUPTS;
                self.look_for_interrupts();
            }
            csr::MTVEC => csr.mtvec = legal_tvec(value),
            csr::MCOUNTEREN => csr.mcounteren = value & csr.masks.counteren,
            csr::MCOUNTINHIBIT => {
                let value = value & csr.masks.counteren & !2;
                csr.mcountinhibit = value;
                csr.mcycle.set_running(retired, value & 1 == 0);
                csr.minstret.set_running(retired, value & 4 == 0);
            }
            csr::MENVCFG => {
                csr.menvcfg = legal_envcfg(value) & csr.masks.menvcfg;
                // Which page-table entries are valid may have changed, and which timers there are.
                self.flush_tlb();
                self.resync = true;
            }
            csr::MSCRATCH => csr.mscratch = value,
            csr::MEPC => csr.mepc = value & !1,
            csr::MCAUSE => csr.mcause = value,
            csr::MTVAL => csr.mtval = value,
            csr::MCYCLE => csr.mcycle.write(retired, value),
            csr::MINSTRET => csr.minstret.write(retired, value),
            n if PMPCFGS.contains(&n) => {
                let written = csr.pmp.write_cfg(usize::from(n - csr::PMPCFG0), value);
                self.flush_tlb();
                if !written {
                    return;
                }
            }
            n if PMPADDRS.contains(&n) => {
                let written = csr.pmp.write_addr(usize::from(n - csr::PMPADDR0), value);
                self.flush_tlb();
                if !written {
                    return;
                }
            }
            // norm:mhpmcounter_mhpmevent_rdonly0
            n if MHPMCOUNTERS.contains(&n) => return,
            n if MHPMEVENTS.contains(&n) => {}
            csr::MISA => {
                let misa = csr.misa & !csr.masks.misa | value & csr.masks.misa;
                // norm:misa_inc_ialign: "If an instruction that would write misa increases IALIGN, and the
                // subsequent instruction's address is not IALIGN-bit aligned, the write to misa is
                // suppressed".
                if misa == csr.misa || value & csr.masks.misa != 0 || self.next_pc.is_multiple_of(4) {
                    csr.misa = misa;
                } else {
                    return;
                }
            }
            csr::TSELECT => csr.triggers.select(value),
            csr::TDATA1 | csr::TDATA2 => {
                if number == csr::TDATA1 {
                    csr.triggers.set_tdata1(value);
                } else {
                    csr.triggers.set_tdata2(value);
                }
                // What was remembered may now be watched.
                self.flush_tlb();
                self.resync = true;
            }
            csr::TDATA3 => {}
            _ => return,
        }
        // What can be written and has been is logged, even where nothing changed.
        if number != csr::MCYCLE && number != csr::MINSTRET {
            self.log_csr(number);
        } else if let Some(log) = &mut self.log {
            log.csr(number, value);
        }
    }

    fn write_satp(&mut self, value: u64) {
        // norm:satp_mode_op_unsupported: "if satp is written with an unsupported MODE, the entire write has
        // no effect; no fields in satp are modified." Bare, Sv39, Sv48 and Sv57 are supported.
        if matches!(value >> 60, 0 | 8 | 9 | 10) {
            self.changing_translation(|hart| hart.csr.satp = value);
        }
    }

    /// Writes `mstatus` as far as it can be written.
    pub(super) fn write_mstatus(&mut self, value: u64) {
        let mask = self.csr.masks.mstatus;
        // norm:mstatus_xpp_warl: there is no mode 2; as on Spike it becomes U.
        let value = if value & MPP == 2 << 11 { value & !MPP } else { value };
        self.fold_dirty();
        self.changing_translation(|hart| {
            hart.csr.mstatus = hart.csr.mstatus & !mask | value & mask;
        });
        self.log_csr(csr::MSTATUS);
        self.look_for_interrupts();
    }

    fn write_mie(&mut self, value: u64) {
        self.csr.mie = value & (DELEGABLE_INTERRUPTS | MSI | MTI | MEI);
        // The next timer that matters may be another one now.
        self.resync = true;
        self.log_csr(csr::MIE);
    }

    fn write_mip(&mut self, value: u64) {
        // On Spike SEIP is an alias of a bit of mvip, which it writes and logs before the other bits of mip
        // change.
        let stip = if self.csr.menvcfg & STCE != 0 { 0 } else { STI };
        let mvip = value & SEI | self.csr.mip & (SSI | stip);
        if let Some(log) = &mut self.log {
            log.csr(csr::MVIP, mvip);
        }
        self.csr.mip = value;
        self.look_for_interrupts();
        self.log_csr(csr::MIP);
    }

    /// Brings `mstatus` up to date with what instructions have dirtied. In Linux user mode there is nobody
    /// to see it, and the flags stay for those who want to know whether a unit was ever used.
    pub fn fold_dirty(&mut self) {
        if !self.is_bare() {
            return;
        }
        // Nothing for the log: `mstatus` reads as before, and the instruction that dirtied it has said so.
        self.csr.mstatus = self.mstatus() & !SD;
        self.fs_dirty = false;
        self.vs_dirty = false;
    }

    /// Notes in the log, if there is one, what a CSR now reads as.
    pub(super) fn log_csr(&mut self, number: u16) {
        if self.log.is_none() {
            return;
        }
        let value = self.read_csr(number).unwrap_or(0);
        if let Some(log) = &mut self.log {
            // One line says it once, as it is in the end.
            log.csrs.retain(|&(other, _)| other != number);
            log.csr(number, value);
        }
    }
}

/// Why this machine has no CSR of this number.
fn why_absent(number: u16) -> &'static str {
    match number {
        csr::FFLAGS | csr::FRM | csr::FCSR => "the CSR is of F, an extension that this machine is without",
        csr::VSTART | csr::VXSAT | csr::VXRM | csr::VCSR | csr::VL | csr::VTYPE | csr::VLENB => {
            "the CSR is of V (Zve32x), an extension that this machine is without"
        }
        csr::CYCLE | csr::TIME | csr::INSTRET => {
            "the CSR is of Zicntr, an extension that this machine is without"
        }
        csr::HPMCOUNTER3..=csr::HPMCOUNTER31 => {
            "the CSR is of Zihpm, an extension that this machine is without"
        }
        _ if csr::name(number).is_some() => {
            "the CSR is of an extension that this emulator does not have, or of RV32"
        }
        _ => "there is no CSR of this number",
    }
}

/// The modes are 0, direct, and 1, vectored; bit 1 stays clear.
fn legal_tvec(value: u64) -> u64 {
    value & !2
}

/// `CBIE` = 2 is reserved; it reads back as 0.
fn legal_envcfg(value: u64) -> u64 {
    if value & CBIE == 2 << 4 { value & !CBIE } else { value }
}
