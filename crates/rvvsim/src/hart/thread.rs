//! The part of a hart's state that belongs to the thread it executes.
//!
//! The threads of a process take turns on one hart. Memory, TLB and decoded blocks are the process's and
//! stay; registers are exchanged.

use super::{Hart, RegFile};
use crate::config::Config;
use crate::fp::Flags;
use crate::vector::VectorState;

/// The registers of a thread that is not on the hart.
#[derive(Clone)]
pub(crate) struct ThreadRegisters {
    pub x: RegFile,
    pub f: RegFile,
    pub pc: u64,
    pub fflags: Flags,
    pub frm: u8,
    fs_dirty: bool,
    vs_dirty: bool,
    v: VectorState,
}

impl ThreadRegisters {
    /// Those of a new thread: zeroes. As on Linux it inherits no vector state.
    pub fn new(config: &Config) -> Self {
        ThreadRegisters {
            x: RegFile::default(),
            f: RegFile::default(),
            pc: 0,
            fflags: Flags::default(),
            frm: 0,
            fs_dirty: false,
            vs_dirty: false,
            v: VectorState::new(config),
        }
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of::<ThreadRegisters>() + self.v.registers().len()
    }

    /// The vector registers.
    pub fn vector(&self) -> &[u8] {
        self.v.registers()
    }

    /// Bytes of a vector register.
    pub fn vlenb(&self) -> usize {
        self.v.vlenb
    }
}

impl Hart {
    /// Puts a thread on the hart, and the registers of the one that was there in its place. A reservation is
    /// given up: other threads may store before its SC comes.
    pub(crate) fn exchange(&mut self, other: &mut ThreadRegisters) {
        self.x.swap(&mut other.x);
        self.f.swap(&mut other.f);
        std::mem::swap(&mut self.pc, &mut other.pc);
        std::mem::swap(&mut self.fflags, &mut other.fflags);
        std::mem::swap(&mut self.frm, &mut other.frm);
        std::mem::swap(&mut self.fs_dirty, &mut other.fs_dirty);
        std::mem::swap(&mut self.vs_dirty, &mut other.vs_dirty);
        std::mem::swap(&mut self.v, &mut other.v);
        self.next_pc = self.pc;
        self.reservation = None;
        self.trap = None;
    }

    /// A copy of the registers.
    pub(crate) fn registers(&self) -> ThreadRegisters {
        ThreadRegisters {
            x: self.x.clone(),
            f: self.f.clone(),
            pc: self.pc,
            fflags: self.fflags,
            frm: self.frm,
            fs_dirty: self.fs_dirty,
            vs_dirty: self.vs_dirty,
            v: self.v.clone(),
        }
    }

    /// Puts copies in the registers. A reservation is given up.
    pub(crate) fn set_registers(&mut self, from: &ThreadRegisters) {
        self.x.clone_from(&from.x);
        self.f.clone_from(&from.f);
        (self.pc, self.next_pc) = (from.pc, from.pc);
        (self.fflags, self.frm) = (from.fflags, from.frm);
        (self.fs_dirty, self.vs_dirty) = (from.fs_dirty, from.vs_dirty);
        self.v.clone_from(&from.v);
        self.reservation = None;
    }

    /// Copies what `clone` copies: all registers but those of the vector unit.
    pub(crate) fn copy_to(&self, other: &mut ThreadRegisters) {
        other.x.clone_from(&self.x);
        other.f.clone_from(&self.f);
        (other.pc, other.fflags, other.frm, other.fs_dirty) = (self.pc, self.fflags, self.frm, self.fs_dirty);
    }
}
