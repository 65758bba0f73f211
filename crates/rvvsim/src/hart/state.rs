//! The state of a hart, for those who embed it: registers by number and by name, memory, configuration.

use super::{Environment, Hart};
use crate::config::Config;
use crate::engine::CommitLog;
use crate::fp::Flags;
use crate::machine::LoadError;
use crate::mem::Ram;
use crate::privileged::{CsrFile, Platform, Privilege, RAM_BASE};
use crate::trap::{Exec, Trap};
use crate::vector::{self, VectorState};
use rvv_isa::{FReg, Inst, XReg};

impl Hart {
    /// A bare-metal hart in M-mode with [`Config::mem`] bytes of RAM and no program, to execute single
    /// instructions on.
    ///
    /// # Errors
    /// See [`LoadError::Memory`].
    pub fn bare(config: Config) -> Result<Hart, LoadError> {
        let ram = Ram::new(config.mem).map_err(|source| LoadError::Memory { size: config.mem, source })?;
        let platform = Platform::with_entry(&config, RAM_BASE);
        Ok(Hart::new(config, ram, Environment::Bare(Box::new(platform))))
    }

    /// An integer register.
    ///
    /// # Panics
    /// If `r` is not below 32.
    #[must_use]
    pub fn x(&self, r: u8) -> u64 {
        self.x.architectural()[usize::from(r)]
    }

    /// All integer registers.
    #[must_use]
    pub fn x_registers(&self) -> &[u64; 32] {
        self.x.architectural()
    }

    /// A floating-point register, NaN-boxed.
    ///
    /// # Panics
    /// If `r` is not below 32.
    #[must_use]
    pub fn f(&self, r: u8) -> u64 {
        self.f.architectural()[usize::from(r)]
    }

    /// All floating-point registers.
    #[must_use]
    pub fn f_registers(&self) -> &[u64; 32] {
        self.f.architectural()
    }

    /// A register by its name, an ABI name or a number: `a0`, `x10`, `fa0`, `f10`, `pc`. `None` if there is
    /// none.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<u64> {
        if name == "pc" {
            return Some(self.pc);
        }
        let x = XReg::from_name(name).map(|r| self.x(r.0));
        x.or_else(|| FReg::from_name(name).map(|r| self.f(r.0)))
    }

    /// Writes a register by its name; false if there is none.
    pub fn set_register(&mut self, name: &str, value: u64) -> bool {
        if name == "pc" {
            self.set_pc(value);
        } else if let Some(r) = XReg::from_name(name) {
            self.set_x(r.0, value);
        } else if let Some(r) = FReg::from_name(name) {
            self.set_f(r.0, value);
        } else {
            return false;
        }
        true
    }

    /// The address of the next instruction; of the instruction itself after a trap.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Continues at another address.
    pub fn set_pc(&mut self, pc: u64) {
        (self.pc, self.next_pc) = (pc, pc);
    }

    /// The accrued floating-point exceptions.
    #[must_use]
    pub fn fflags(&self) -> Flags {
        self.fflags
    }

    /// Sets the accrued floating-point exceptions.
    pub fn set_fflags(&mut self, flags: Flags) {
        self.fflags = flags;
    }

    /// The dynamic rounding mode, as written: 5 to 7 are reserved and trap on use.
    #[must_use]
    pub fn frm(&self) -> u8 {
        self.frm
    }

    /// Sets the dynamic rounding mode.
    pub fn set_frm(&mut self, frm: u8) {
        self.frm = frm;
    }

    /// Whether an instruction wrote floating-point state since `mstatus.FS` was last written.
    #[must_use]
    pub fn is_fs_dirty(&self) -> bool {
        self.fs_dirty
    }

    /// Says whether floating-point state was written.
    pub fn set_fs_dirty(&mut self, dirty: bool) {
        self.fs_dirty = dirty;
    }

    /// The vector unit: `vl`, `vtype`, registers.
    #[must_use]
    pub fn vector(&self) -> &VectorState {
        &self.v
    }

    /// The vector unit, to change.
    pub fn vector_mut(&mut self) -> &mut VectorState {
        &mut self.v
    }

    /// The privilege mode.
    #[must_use]
    pub fn privilege(&self) -> Privilege {
        self.prv
    }

    /// Changes the privilege mode.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        if self.prv != privilege {
            self.prv = privilege;
            self.flush_tlb();
        }
    }

    /// The privileged CSRs, to keep. Single ones are read and written by [`Hart::read_csr`] and
    /// [`Hart::write_csr`].
    #[must_use]
    pub fn csrs(&self) -> &CsrFile {
        &self.csr
    }

    /// Returns to CSRs that were kept.
    pub fn set_csrs(&mut self, csrs: CsrFile) {
        self.csr = csrs;
    }

    /// Gives up the reservation of LR.
    pub fn clear_reservation(&mut self) {
        self.reservation = None;
    }

    /// Guest memory, by offset: on bare metal, offset 0 is [`RAM_BASE`]. By address: [`Hart::load`],
    /// [`Hart::store`].
    #[must_use]
    pub fn memory(&self) -> &[u8] {
        self.ram.bytes()
    }

    /// Guest memory, to change. Code in it must be changed by [`Hart::write_memory`].
    pub fn memory_mut(&mut self) -> &mut [u8] {
        self.ram.bytes_mut()
    }

    /// Writes to guest memory at an offset, whether code is there or not.
    ///
    /// # Panics
    /// If it is not that large.
    pub fn write_memory(&mut self, offset: usize, bytes: &[u8]) {
        self.ram.note_write(offset, bytes.len());
        self.ram.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// The choices of this run.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The choices of this run, to change. Only limits and policies may change once instructions have
    /// executed.
    pub fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// From now on each instruction notes what it does besides writing its destination; see [`Hart::log`].
    pub fn start_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// What was noted since [`Hart::start_log`].
    #[must_use]
    pub fn log(&self) -> Option<&CommitLog> {
        self.log.as_deref()
    }

    /// Empties the log; what was in it.
    pub fn take_log(&mut self) -> CommitLog {
        self.log.as_deref_mut().map_or_else(CommitLog::default, std::mem::take)
    }

    /// Executes an instruction that is not fetched from memory, and that is no jump. `None` if it is one of
    /// the base integer instructions, which only a program can execute.
    pub fn execute(&mut self, inst: &Inst) -> Option<Exec> {
        if inst.op.is_vector() {
            return Some(match vector::translate(&self.config, inst, self.v.vtype) {
                Ok(vi) => (vi.run)(self, &vi),
                Err(why) => Err(Trap::illegal(inst.raw, why)),
            });
        }
        let (handler, _) = crate::scalar::handler(inst.op.base())?;
        Some(handler(self, inst))
    }
}
