//! Decode once, run many times: blocks of micro-ops, and the loop that runs them.

mod log;

pub use log::{CommitLog, MemoryEvent};

use crate::Hart;
use crate::trap::Trap;

/// Why [`Engine::run`] came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The budget is used up, or a device wants attention. `hart.pc` is the next instruction.
    Budget,
    /// The instruction at `hart.pc` trapped.
    Trap(Trap),
}

/// The block cache.
#[derive(Default)]
pub struct Engine {}

impl Engine {
    /// Runs up to `budget` instructions (a little fewer where a block would pass it).
    pub fn run(&mut self, _hart: &mut Hart, _budget: u64) -> Stop {
        Stop::Budget
    }
}
