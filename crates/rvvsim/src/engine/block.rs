//! Blocks: straight runs of decoded instructions.

use super::ops::{self, End};
use super::uop::{Kind, Uops};
use crate::Hart;
use crate::scalar::Handler;
use crate::trap::Trap;
use rvv_isa::{Inst, Vtype};
use std::cell::Cell;

/// What, besides its address, decides what an instruction means: `vtype` (with `vill`), whether `FS` and `VS`
/// are on, and whether there are compressed instructions. Part of a block's key, so that handlers need not
/// ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Context(pub u32);

/// A direct way from the end of one block to the start of another, good for one generation.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Index of the target block.
    pub block: u32,
    /// The engine's generation when it was made; see [`super::cache::BlockCache`].
    pub generation: u64,
}

impl Link {
    /// Leads nowhere.
    pub const NONE: Link = Link { block: 0, generation: 0 };
}

/// What was seen before a block ran, and is expected to be so again.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// `vl` at its start.
    pub vl: u32,
    /// AVL of the first `vsetvli` that takes one from a register.
    pub avl: u32,
    /// Accesses by one base register are on one page.
    pub grouped: bool,
}

impl Default for Expected {
    /// As long as possible.
    fn default() -> Expected {
        Expected { vl: u32::MAX, avl: u32::MAX, grouped: true }
    }
}

/// A run of instructions with one entry, ending in a jump or at the end of its page.
pub struct Block {
    /// Virtual address of the first instruction.
    pub pc: u64,
    /// The context it was decoded in.
    pub context: Context,
    /// The `vtype` of the context, unless that is `vill`.
    pub vtype: Option<Vtype>,
    /// The context after it ran to its end, where that is known.
    pub context_after: Context,
    /// Where its first byte is in RAM; `None` for code outside RAM, which is never kept.
    pub offset: Option<usize>,
    /// Bytes of code.
    pub bytes: usize,
    /// The instruction at the end straddles the page: its second half is there in RAM.
    pub straddles: Option<usize>,
    /// Where the cache keeps it.
    pub id: u32,
    /// A number that no other block ever has; 0 before the cache has it and after.
    pub serial: u64,
    /// The generation in which `pc` was last known to lead to `offset`.
    pub generation: u64,
    /// How many instructions there are.
    pub count: u32,
    /// The steps.
    pub uops: Uops,
    /// The instructions, with their offsets from `pc`.
    pub insts: Box<[(u16, Inst)]>,
    /// Scalar handlers.
    pub calls: Box<[Handler]>,
    /// Faults.
    pub faults: Box<[Trap]>,
    /// How often it ran to its end. Apart, for host code counts here, too.
    pub runs: Box<Cell<u64>>,
    /// It is among those to become host code next.
    pub waits: Cell<bool>,
    /// What host code for it is made for.
    pub expected: Cell<Expected>,
    /// How often host code for it was given up because something else came.
    pub surprised: Cell<u8>,
    /// Its host code, if it has any.
    pub compiled: Cell<Option<crate::jit::Compiled>>,
    /// Where it goes: not taken (or onwards), taken.
    pub links: [Cell<Link>; 2],
}

impl Block {
    /// The address of instruction `insn`; of the one after the last, if past the end.
    pub fn pc_of(&self, insn: u16) -> u64 {
        let offset = match self.insts.get(usize::from(insn)) {
            Some((offset, _)) => u64::from(*offset),
            None => self.bytes as u64,
        };
        self.pc.wrapping_add(offset)
    }

    /// Notes that it ran to its end.
    #[inline(always)]
    pub fn ran(&self) {
        self.runs.set(self.runs.get() + 1);
    }

    /// Notes what the hart has now, before it runs.
    pub fn expect(&self, hart: &Hart) {
        let some = |n: u64| u32::try_from(n).ok().filter(|&n| n != 0).unwrap_or(u32::MAX);
        let grouped = self.surprised.get() == 0;
        let mut expected = Expected { vl: some(hart.v.vl), grouped, ..Expected::default() };
        let mut written = 0_u64;
        for uop in self.uops.as_slice() {
            if uop.kind() == Kind::SetVl {
                if written >> uop.rs1 & 1 == 0 {
                    expected.avl = some(hart.x[uop.rs1]);
                }
                break;
            }
            if !uop.kind().is_vector() {
                written |= 1 << uop.rd;
            }
        }
        self.expected.set(expected);
    }

    /// Runs it from its start.
    #[inline(always)]
    pub fn run(&self, hart: &mut Hart) -> End {
        ops::run(hart, self)
    }

    /// The address after the last instruction.
    #[inline(always)]
    pub fn end_pc(&self) -> u64 {
        self.pc.wrapping_add(self.bytes as u64)
    }

    /// Where its last micro-op goes, if that is a branch or a jump that is taken.
    pub fn taken_pc(&self) -> u64 {
        self.uops.as_slice().last().map_or(0, |last| last.imm as u64)
    }

    /// The pieces of RAM it was decoded from, each on one page.
    pub fn parts(&self) -> Vec<(usize, usize)> {
        match (self.offset, self.straddles) {
            (Some(offset), Some(second)) => vec![(offset, 2), (second, 2)],
            (Some(offset), None) => vec![(offset, self.bytes)],
            (None, _) => Vec::new(),
        }
    }
}
