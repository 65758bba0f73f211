//! Which host registers hold which guest registers.
//!
//! All host code of an engine agrees on one assignment, so that a block hands its registers to the next by
//! doing nothing. The other guest registers stay at home, in [`Hart::x`]: instructions use them as memory
//! operands.

use crate::Hart;
use crate::hart::RegFile;
use std::mem::offset_of;

/// Host registers by number.
pub const RAX: u8 = 0;
pub const RCX: u8 = 1;
pub const RDX: u8 = 2;
pub const RBX: u8 = 3;

/// Registers that hold guest registers. The rest: `rax`, `rcx`, `rdx` hold what an instruction computes,
/// `rbx` points at the hart, `r14` counts the instructions that may still be executed, `r15` points at the
/// TLB for host code.
pub const POOL: [u8; 9] = [5, 6, 7, 8, 9, 10, 11, 12, 13];

/// `rbx` is this far past the hart, so that the homes of all integer registers are within a signed byte of
/// it.
pub const BIAS: i32 = (offset_of!(Hart, x) + 128) as i32;

/// The distance of a field of [`Hart`] from `rbx`.
pub const fn field(offset: usize) -> i32 {
    offset as i32 - BIAS
}

/// Where a guest register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a host register.
    Host(u8),
    /// At home, at this distance from `rbx`.
    Home(i8),
    /// Nowhere: it is written and never read.
    Sink,
}

/// An assignment of guest registers to host registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    host: [Option<u8>; 32],
}

impl Map {
    /// The assignment for guest registers that are used so often.
    pub fn of_uses(uses: &[u64; 32]) -> Map {
        let mut order: Vec<usize> = (1..32).filter(|&r| uses[r] != 0).collect();
        order.sort_by_key(|&r| (std::cmp::Reverse(uses[r]), r));
        let mut host = [None; 32];
        for (r, h) in order.into_iter().zip(POOL) {
            host[r] = Some(h);
        }
        Map { host }
    }

    /// Where guest register `r` is. `x0` is at home: a zero in memory.
    pub fn place(&self, r: u8) -> Place {
        match self.host.get(usize::from(r)) {
            Some(Some(host)) => Place::Host(*host),
            Some(None) => Place::Home((i32::from(r) * 8 - 128) as i8),
            None => {
                debug_assert_eq!(r, RegFile::SINK);
                Place::Sink
            }
        }
    }

    /// Of those uses, how many it serves by host registers.
    pub fn served(&self, uses: &[u64; 32]) -> u64 {
        (0..32).filter(|&r| self.host[r].is_some()).map(|r| uses[r]).sum()
    }

    /// Pairs of host register and the home of the guest register that it holds.
    pub fn pairs(&self) -> impl Iterator<Item = (u8, i8)> {
        (0..32).filter_map(|r| Some((self.host[r]?, (r as i32 * 8 - 128) as i8)))
    }
}
