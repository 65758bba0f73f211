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

    /// Copies what `clone` copies: all registers but those of the vector unit.
    pub(crate) fn copy_to(&self, other: &mut ThreadRegisters) {
        other.x.clone_from(&self.x);
        other.f.clone_from(&self.f);
        (other.pc, other.fflags, other.frm, other.fs_dirty) = (self.pc, self.fflags, self.frm, self.fs_dirty);
    }
}
