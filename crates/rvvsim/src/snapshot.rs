//! Running many programs on one machine: a state to return to, and a new program for an old machine.
//!
//! On bare metal both cost what was written to memory since, not the size of the machine. A process can
//! return to a snapshot while its system calls are recorded ([`Machine::record`]).

use crate::elf::Image;
use crate::fp::Flags;
use crate::hart::{AtomicStops, Environment, Hart, RegFile, ThreadRegisters};
use crate::linux::KeptSpace;
use crate::machine::{LoadError, Machine, Moment};
use crate::mem::Saved;
use crate::privileged::{CsrFile, Devices, Harts, Platform, Privilege};
use crate::vector::VectorState;
use std::collections::HashSet;
use std::sync::Arc;

/// The state of a machine at some time: registers, CSRs, memory; on bare metal devices, too, and of a process
/// its mappings. What was printed, counted or decoded until then is no part of it.
#[derive(Clone)]
pub struct Snapshot {
    registers: ThreadRegisters,
    csr: CsrFile,
    prv: Privilege,
    reservation: Option<(usize, usize)>,
    instret: u64,
    ram_len: usize,
    number: u32,
    atomics: Option<AtomicStops>,
    memory: Memory,
}

/// Memory, and what else is in it or around it.
#[derive(Clone)]
enum Memory {
    Bare { ram: Saved, devices: Box<Devices>, harts: Option<Box<Harts>> },
    User { space: Arc<KeptSpace>, moment: Moment },
}

impl Snapshot {
    /// Bytes of memory that these take together. Pages that several have in common count once.
    pub fn bytes<'s>(snapshots: impl IntoIterator<Item = &'s Snapshot>) -> usize {
        let (mut pages, mut rest) = (HashSet::new(), 0);
        for snapshot in snapshots {
            rest += size_of::<Snapshot>() + snapshot.registers.bytes();
            match &snapshot.memory {
                Memory::Bare { ram, .. } => pages.extend(ram.places()),
                Memory::User { space, .. } => {
                    pages.extend(space.places());
                    rest += space.other_bytes();
                }
            }
        }
        rest + pages.len() * crate::mem::PAGE as usize
    }

    /// Bytes of memory that it has for itself, at most: what it has in common with the one that it was made
    /// like ([`Machine::snapshot_like`]) is not counted.
    #[must_use]
    pub fn own_bytes(&self) -> usize {
        let memory = match &self.memory {
            Memory::Bare { ram, .. } => ram.own_bytes(),
            Memory::User { space, .. } => space.own_bytes(),
        };
        size_of::<Snapshot>() + self.registers.bytes() + memory
    }

    /// When it was, if it is one of a process.
    pub(crate) fn moment(&self) -> Option<Moment> {
        match &self.memory {
            Memory::Bare { .. } => None,
            Memory::User { moment, .. } => Some(*moment),
        }
    }

    /// Instructions that had retired.
    pub(crate) fn instructions(&self) -> u64 {
        self.instret
    }

    /// Whether a hart has the same registers.
    pub(crate) fn has_registers_of(&self, hart: &Hart) -> bool {
        let now = hart.registers();
        let x = |r: &ThreadRegisters| *r.x.architectural();
        (now.pc, x(&now)) == (self.registers.pc, x(&self.registers))
            && now.vector() == self.registers.vector()
    }
}

impl Machine {
    /// The state of the machine, to return to by [`Machine::restore`]. `None` for a process whose system
    /// calls are not recorded, or cannot be: see [`Machine::record`].
    #[must_use]
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.snapshot_like(None)
    }

    /// The same; what memory has in common with another snapshot is shared with it.
    #[must_use]
    pub fn snapshot_like(&self, like: Option<&Snapshot>) -> Option<Snapshot> {
        let h = &self.hart;
        let memory = match &h.env {
            Environment::Bare(platform) => {
                let like = like.and_then(|like| match &like.memory {
                    Memory::Bare { ram, .. } => Some(ram),
                    Memory::User { .. } => None,
                });
                let (ram, harts) = (h.ram.save(like), self.harts.clone());
                Memory::Bare { ram, devices: Box::new(platform.devices()), harts }
            }
            Environment::User(space) => {
                let moment = self.past.as_ref()?.moment()?;
                let like = like.and_then(|like| match &like.memory {
                    Memory::Bare { .. } => None,
                    Memory::User { space, .. } => Some(&**space),
                });
                Memory::User { space: Arc::new(space.keep(&h.ram, like)), moment }
            }
        };
        Some(Snapshot {
            registers: h.registers(),
            csr: h.csr.clone(),
            prv: h.prv,
            reservation: h.reservation,
            instret: h.instret,
            ram_len: h.ram.len(),
            number: h.number,
            atomics: h.atomics,
            memory,
        })
    }

    /// Returns to the state of a snapshot of this machine, or on bare metal of one of the same configuration
    /// and program. False, and nothing done, if it cannot be one: memory or VLEN differ, or this is a process
    /// that cannot return to it ([`Machine::can_restore`]).
    #[must_use]
    pub fn restore(&mut self, to: &Snapshot) -> bool {
        self.look_whether_recorded();
        if !self.can_restore(to) {
            return false;
        }
        self.leave_present(to);
        self.put_back(to);
        true
    }

    /// Whether this machine can return to a snapshot. A process can as long as what it did since is known, or
    /// if it did nothing since, whatever was changed by hand.
    #[must_use]
    pub fn can_restore(&self, to: &Snapshot) -> bool {
        let h = &self.hart;
        if h.ram.len() != to.ram_len || h.v.vlenb != to.registers.vlenb() {
            return false;
        }
        match (&h.env, &to.memory) {
            (Environment::Bare(_), Memory::Bare { harts, .. }) => {
                self.harts.as_ref().map(|h| h.count()) == harts.as_ref().map(|h| h.count())
            }
            (Environment::User(_), Memory::User { moment, .. }) => {
                self.past.as_ref().is_some_and(|past| past.reaches(moment))
            }
            _ => false,
        }
    }

    /// The same for one of which that is known.
    pub(crate) fn put_back(&mut self, to: &Snapshot) {
        let h = &mut *self.hart;
        match (&mut h.env, &to.memory) {
            (Environment::Bare(platform), Memory::Bare { ram, devices, harts }) => {
                platform.set_devices(devices);
                h.ram.restore(ram);
                self.harts.clone_from(harts);
            }
            (Environment::User(space), Memory::User { space: old, .. }) => space.return_to(&mut h.ram, old),
            _ => return,
        }
        h.set_registers(&to.registers);
        h.csr.clone_from(&to.csr);
        (h.prv, h.reservation, h.instret) = (to.prv, to.reservation, to.instret);
        (h.number, h.atomics, h.waits) = (to.number, to.atomics, false);
        self.begin_anew();
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
