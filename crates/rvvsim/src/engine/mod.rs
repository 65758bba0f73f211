//! Decode once, run many times: blocks of micro-ops, and the loop that runs them.
//!
//! Instructions are decoded into [`block`]s keyed by address and context (`vtype`, `FS` and `VS` on or
//! off), so that a vector handler is already chosen for its SEW and LMUL when it runs. A block is a
//! list of typed [`uop`]s, from which hot blocks become host code ([`hot`], [`crate::jit`]).

mod block;
mod cache;
mod check;
mod hot;
mod log;
mod ops;
mod run;
mod stats;
mod translate;
mod uop;

pub(crate) use block::{Block, Context};
pub(crate) use check::Journal;
pub use log::{CommitLog, MemoryEvent};
pub(crate) use ops::run_vector;
pub(crate) use run::Each;
pub use stats::Counts;
pub(crate) use uop::{Kind, Uop};

use crate::trap::Trap;
use rvv_isa::Inst;

/// Why [`Engine::run`] came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The budget is used up, or a device wants attention. `hart.pc` is the next instruction.
    Budget,
    /// The instruction at `hart.pc` trapped.
    Trap(Trap),
}

/// What became host code, and how much that was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Blocks compiled.
    pub blocks: u64,
    /// Bytes of host code written.
    pub bytes: u64,
    /// Nanoseconds that took.
    pub nanoseconds: u64,
    /// How often all was forgotten, to make room or to choose other registers.
    pub flushes: u64,
}

/// Whether this host can have host code.
#[must_use]
pub fn has_host_code() -> bool {
    crate::jit::is_available()
}

/// The block cache and the loop over it.
#[derive(Default)]
pub struct Engine {
    cache: cache::BlockCache,
    hot: hot::Hot,
    difference: Option<String>,
}

impl Engine {
    /// Calls `observer` for each block as it is decoded: its address, and its instructions with their
    /// offsets.
    pub fn observe(&mut self, observer: impl FnMut(u64, &[(u16, Inst)]) + 'static) {
        self.cache.observer = Some(Box::new(observer));
    }

    /// From now on [`Engine::blocks`] has those, too, that the cache had no more place for, or whose code was
    /// overwritten.
    pub fn remember_forgotten_blocks(&mut self) {
        self.cache.forgotten.get_or_insert_default();
    }

    /// Forgets all blocks: what is at their addresses is another program.
    pub(crate) fn forget_all(&mut self, hart: &mut crate::Hart) {
        self.cache.forget_all(hart);
    }

    /// The blocks that are kept: address, how often each ran to its end, and instructions with their offsets.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64, &[(u16, Inst)])> {
        self.cache.all()
    }

    /// Instructions retired so far, by class.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.cache.counts()
    }

    /// What the interpreter and host code did not do alike, if they were compared: a fault of this emulator.
    #[must_use]
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// What became host code so far.
    #[must_use]
    pub fn compiled(&self) -> Totals {
        self.hot.totals()
    }
}
