//! Running many programs on one bare-metal machine: a state to return to, and a new program for an old
//! machine.
//!
//! Both cost what was written to memory since, not the size of the machine.

use crate::elf::Image;
use crate::fp::Flags;
use crate::hart::{AtomicStops, Environment, Hart, RegFile};
use crate::machine::{LoadError, Machine};
use crate::mem::Saved;
use crate::privileged::{CsrFile, Devices, Harts, Platform, Privilege};
use crate::vector::VectorState;

/// The state of a bare-metal machine at some time: registers, CSRs, memory, devices. What was printed,
/// counted or decoded until then is no part of it.
#[derive(Clone)]
pub struct Snapshot {
    x: RegFile,
    f: RegFile,
    pc: u64,
    fflags: Flags,
    frm: u8,
    fs_dirty: bool,
    vs_dirty: bool,
    v: VectorState,
    csr: CsrFile,
    prv: Privilege,
    reservation: Option<(usize, usize)>,
    instret: u64,
    ram: Saved,
    ram_len: usize,
    devices: Devices,
    harts: Option<Box<Harts>>,
    number: u32,
    atomics: Option<AtomicStops>,
}

impl Machine {
    /// The state of a bare-metal machine, to return to by [`Machine::restore`]. `None` in user mode: the
    /// files of a process are the host's, and cannot be returned to an earlier state.
    #[must_use]
    pub fn snapshot(&self) -> Option<Snapshot> {
        let Hart { env: Environment::Bare(platform), .. } = &*self.hart else { return None };
        let h = &self.hart;
        Some(Snapshot {
            x: h.x.clone(),
            f: h.f.clone(),
            pc: h.pc,
            fflags: h.fflags,
            frm: h.frm,
            fs_dirty: h.fs_dirty,
            vs_dirty: h.vs_dirty,
            v: h.v.clone(),
            csr: h.csr.clone(),
            prv: h.prv,
            reservation: h.reservation,
            instret: h.instret,
            ram: h.ram.save(),
            ram_len: h.ram.len(),
            devices: platform.devices(),
            harts: self.harts.clone(),
            number: h.number,
            atomics: h.atomics,
        })
    }

    /// Returns to the state of a snapshot of this machine, or of one of the same configuration and program.
    /// False, and nothing done, if it cannot be one: memory or VLEN differ, or this is a process.
    #[must_use]
    pub fn restore(&mut self, to: &Snapshot) -> bool {
        let h = &mut *self.hart;
        let Environment::Bare(platform) = &mut h.env else { return false };
        let same_harts = self.harts.as_ref().map(|h| h.count()) == to.harts.as_ref().map(|h| h.count());
        if h.ram.len() != to.ram_len || h.v.vlenb != to.v.vlenb || !same_harts {
            return false;
        }
        platform.set_devices(&to.devices);
        h.ram.restore(&to.ram);
        h.x.clone_from(&to.x);
        h.f.clone_from(&to.f);
        (h.pc, h.next_pc) = (to.pc, to.pc);
        (h.fflags, h.frm, h.fs_dirty, h.vs_dirty) = (to.fflags, to.frm, to.fs_dirty, to.vs_dirty);
        h.v.clone_from(&to.v);
        h.csr.clone_from(&to.csr);
        (h.prv, h.reservation, h.instret) = (to.prv, to.reservation, to.instret);
        (h.number, h.atomics, h.waits) = (to.number, to.atomics, false);
        self.harts.clone_from(&to.harts);
        self.begin_anew();
        true
    }

    /// Makes a bare-metal machine as good as new, with another program in its memory; its configuration and
    /// console stay.
    ///
    /// # Errors
    /// See [`LoadError`]; also if this is a process. The machine then has no program.
    pub fn reset(&mut self, image: &Image) -> Result<(), LoadError> {
        let h = &mut *self.hart;
        let Environment::Bare(old) = &mut h.env else {
            return Err(LoadError::IsProcess);
        };
        h.ram.restore(&Saved::default());
        **old = Platform::new(&h.config, image, &mut h.ram)?.taking_over(old);
        h.x = RegFile::default();
        h.f = RegFile::default();
        (h.fflags, h.frm, h.fs_dirty, h.vs_dirty) = (Flags::default(), 0, false, false);
        h.v = VectorState::new(&h.config);
        h.csr = CsrFile::new(&h.config);
        (h.prv, h.reservation, h.instret) = (Privilege::Machine, None, 0);
        (h.number, h.waits) = (0, false);
        h.reset_bare();
        self.harts = Harts::new(h);
        self.begin_anew();
        Ok(())
    }

    /// What was known about memory and the instruction under way no longer holds.
    fn begin_anew(&mut self) {
        let h = &mut self.hart;
        (h.retired_in_block, h.resync, h.trap) = (0, false, None);
        h.flush_tlb();
    }
}
