//! Hosts that host code cannot be compiled for: there is none, and the interpreter runs everything.

use crate::Hart;
pub use crate::engine::Totals;
use crate::engine::{Block, Context};

/// Never made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compiled {}

/// Why host code was left: it never is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(dead_code, reason = "the names that the engine knows")]
pub enum How {
    Onwards,
    Taken,
    Computed,
    Anything,
    Trap,
    Early,
    Interpret,
    Budget,
}

/// How host code was left.
pub struct Exit {
    pub how: How,
    pub at: u64,
    pub compiled: Compiled,
    pub left: u64,
}

/// Never made.
pub enum Jit {}

/// There is no host code here.
pub fn is_available() -> bool {
    false
}

/// There are none.
#[derive(Clone, Copy, Default)]
pub struct Constants;

#[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "the signatures of host code")]
impl Jit {
    pub fn new(_uses: &[u64; 32]) -> Option<Jit> {
        None
    }

    pub fn can_run(_hart: &Hart) -> bool {
        false
    }

    pub fn totals(&self) -> Totals {
        match *self {}
    }

    pub fn compile<'b>(&mut self, _blocks: impl Iterator<Item = &'b Block>) -> bool {
        match *self {}
    }

    pub fn flush(&mut self, _uses: &[u64; 32]) -> Option<()> {
        match *self {}
    }

    pub fn is_ill_suited(&self, _uses: &[u64; 32]) -> bool {
        match *self {}
    }

    pub fn sync(&mut self, _generation: u64) {
        match *self {}
    }

    pub fn link(&mut self, _from: Compiled, _how: How, _to: Compiled) {
        match *self {}
    }

    pub fn remember_jump(&mut self, _pc: u64, _context: Context, _to: Compiled) {
        match *self {}
    }

    pub fn block(&self, _compiled: Compiled) -> usize {
        match *self {}
    }

    pub fn bytes(&self, _compiled: Compiled) -> &[u8] {
        match *self {}
    }

    pub fn run(&mut self, _hart: &mut Hart, _from: Compiled, _left: u64) -> Exit {
        match *self {}
    }
}
