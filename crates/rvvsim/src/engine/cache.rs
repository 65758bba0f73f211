//! The block cache: finds the block for an address, and forgets blocks whose code has changed.

use super::block::{Block, Context, Link};
use super::stats::Counts;
use super::translate::translate;
use crate::Hart;
use crate::mem::{PAGE, Target};
use crate::trap::Exec;
use rustc_hash::FxHashMap;
use rvv_isa::Inst;

/// More blocks than this and all are forgotten: a guest that makes code without end must not make us
/// grow without end.
const MOST_BLOCKS: usize = 1 << 16;

/// Entries of the table for indirect jumps, in front of the map. Touching its pages is a good part of what a small
/// program takes, so there are not many.
const JUMP_ENTRIES: usize = 1 << 10;

/// An address, the generation in which it was jumped to, and above the number of the block there its context. As
/// integers, so that a table of nothing need not be written.
type JumpEntry = [u64; 3];

fn jump_entry(pc: u64, context: Context, link: Link) -> JumpEntry {
    [pc, link.generation, u64::from(context.0) << 32 | u64::from(link.block)]
}

/// Sees the address and the instructions (with their offsets) of a block.
pub type Observer = Box<dyn FnMut(u64, &[(u16, Inst)])>;

/// All decoded blocks.
pub struct BlockCache {
    blocks: Vec<Block>,
    map: FxHashMap<(u64, Context), u32>,
    jumps: Box<[JumpEntry]>,
    /// The blocks with code on a RAM page.
    by_page: FxHashMap<usize, Vec<u32>>,
    /// Slots of `blocks` whose block was forgotten.
    free: Vec<u32>,
    /// Moves on when a translation may have changed or a block was forgotten: links and jump entries of
    /// older generations are void, and a block of an older one is looked at again before it runs.
    generation: u64,
    /// Told of each block as it is decoded.
    pub observer: Option<Observer>,
    /// Instructions retired by blocks that are no longer here.
    counts: Counts,
    /// The hart's count of translation changes when `generation` was last moved.
    seen_tlb_generation: u64,
}

impl Default for BlockCache {
    fn default() -> Self {
        BlockCache {
            blocks: Vec::new(),
            map: FxHashMap::default(),
            jumps: vec![[0; 3]; JUMP_ENTRIES].into(),
            by_page: FxHashMap::default(),
            free: Vec::new(),
            generation: 1,
            observer: None,
            counts: Counts::default(),
            seen_tlb_generation: 0,
        }
    }
}

impl BlockCache {
    /// The block with this number.
    #[inline(always)]
    pub fn block(&self, id: u32) -> &Block {
        &self.blocks[id as usize]
    }

    /// Notes that block `id` ran: all of it, or the first `retired` instructions.
    #[inline(always)]
    pub fn ran(&mut self, id: u32, retired: usize) {
        let block = &self.blocks[id as usize];
        if retired == block.insts.len() {
            block.ran();
        } else {
            self.counts.add(&block.insts[..retired], 1);
        }
    }

    /// Instructions retired so far, by class.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts;
        for block in self.map.values().map(|&id| self.block(id)) {
            counts.add(&block.insts, block.runs.get());
        }
        counts
    }

    /// All blocks that can be found.
    pub fn all(&self) -> impl Iterator<Item = (u64, u64, &[(u16, Inst)])> {
        self.map.values().map(|&id| self.block(id)).map(|b| (b.pc, b.runs.get(), &*b.insts))
    }

    /// Notes instructions that ran outside any kept block.
    pub fn ran_once(&mut self, insts: &[(u16, Inst)]) {
        self.counts.add(insts, 1);
    }

    /// A block ran to its end: notes that, and follows its link `slot`, if it has been made and still holds.
    #[inline(always)]
    pub fn passed(&self, block: &Block, slot: usize) -> Option<u32> {
        block.ran();
        let link = block.links[slot % 2].get();
        (link.generation == self.generation).then_some(link.block)
    }

    /// Makes link `slot` of block `from` lead to `to`. A `from` forgotten meanwhile does no harm: its slot
    /// is reused only for blocks that overwrite the link.
    pub fn link(&self, from: u32, slot: usize, to: u32) {
        self.blocks[from as usize].links[slot].set(Link { block: to, generation: self.generation });
    }

    /// The block at `pc` if an indirect jump went there lately.
    #[inline(always)]
    pub fn jump(&self, pc: u64, context: Context) -> Option<u32> {
        // The first generation is 1, so that entries that were never made do not hold.
        let [at, generation, which] = self.jumps[jump_index(pc)];
        let holds = at == pc && which >> 32 == u64::from(context.0) && generation == self.generation;
        holds.then_some(which as u32)
    }

    /// Takes note of code that was overwritten and of translations that changed since the last call.
    pub fn sync(&mut self, hart: &mut Hart) {
        if hart.tlb_generation != self.seen_tlb_generation {
            self.seen_tlb_generation = hart.tlb_generation;
            self.generation += 1;
        }
        for (offset, len) in hart.ram.take_stale() {
            self.forget_range(hart, offset, len);
        }
    }

    /// The block at `pc`, decoded now if need be.
    ///
    /// # Errors
    /// The fault of fetching its first instruction.
    pub fn find(&mut self, hart: &mut Hart, pc: u64, context: Context) -> Exec<u32> {
        self.sync(hart);
        if let Some(&id) = self.map.get(&(pc, context)) {
            if self.blocks[id as usize].generation == self.generation || self.still_there(hart, id)? {
                self.remember_jump(pc, context, id);
                return Ok(id);
            }
            self.forget(id);
        }
        let block = translate(hart, pc, context, usize::MAX)?;
        if let Some(observer) = &mut self.observer {
            observer(pc, &block.insts);
        }
        let id = self.insert(hart, block);
        self.remember_jump(pc, context, id);
        Ok(id)
    }

    fn remember_jump(&mut self, pc: u64, context: Context, id: u32) {
        let link = Link { block: id, generation: self.generation };
        self.jumps[jump_index(pc)] = jump_entry(pc, context, link);
    }

    /// Whether a block's address still leads to the code it was decoded from, and may be fetched.
    fn still_there(&mut self, hart: &mut Hart, id: u32) -> Exec<bool> {
        let block = &mut self.blocks[id as usize];
        let Some(offset) = block.offset else { return Ok(false) };
        // Where PMP splits the page, the start of the block says nothing about the rest: decode it anew.
        if hart.fetch_target(block.pc)? != Target::Ram(offset) || hart.is_split_by_pmp(offset) {
            return Ok(false);
        }
        if let Some(second) = block.straddles
            && hart.fetch_target(block.pc.wrapping_add(2))? != Target::Ram(second)
        {
            return Ok(false);
        }
        block.generation = self.generation;
        Ok(true)
    }

    fn insert(&mut self, hart: &mut Hart, mut block: Block) -> u32 {
        if self.map.len() >= MOST_BLOCKS {
            self.forget_all(hart);
        }
        block.generation = self.generation;
        let key = (block.pc, block.context);
        let parts = block.parts();
        let id = match self.free.pop() {
            Some(id) => {
                self.blocks[id as usize] = block;
                id
            }
            None => {
                self.blocks.push(block);
                (self.blocks.len() - 1) as u32
            }
        };
        // Code that is not in RAM runs once: it is found by nobody.
        if !parts.is_empty() {
            self.map.insert(key, id);
        }
        for (offset, len) in parts {
            self.by_page.entry(offset / PAGE as usize).or_default().push(id);
            if hart.ram.mark_code(offset, len) {
                hart.tlb.forbid_stores(offset);
            }
        }
        id
    }

    fn forget(&mut self, id: u32) {
        let block = &self.blocks[id as usize];
        self.counts.add(&block.insts, block.runs.get());
        self.map.remove(&(block.pc, block.context));
        for (offset, _) in block.parts() {
            if let Some(ids) = self.by_page.get_mut(&(offset / PAGE as usize)) {
                ids.retain(|&other| other != id);
            }
        }
        self.free.push(id);
        self.generation += 1;
    }

    fn forget_range(&mut self, hart: &mut Hart, offset: usize, len: usize) {
        let page_size = PAGE as usize;
        for page in offset / page_size..=(offset + len.max(1) - 1) / page_size {
            let Some(ids) = self.by_page.get(&page) else { continue };
            let hit = |id: &&u32| {
                let parts = self.blocks[**id as usize].parts();
                parts.iter().any(|&(o, l)| o < offset + len && offset < o + l)
            };
            let dead: Vec<u32> = ids.iter().filter(hit).copied().collect();
            for id in dead {
                self.forget(id);
            }
            // What is left of the page's code stays watched; the lines that were hit need not be.
            hart.ram.unmark_page(page * page_size);
            for &id in self.by_page.get(&page).into_iter().flatten() {
                for (o, l) in self.blocks[id as usize].parts() {
                    hart.ram.mark_code(o, l);
                }
            }
        }
    }

    fn forget_all(&mut self, hart: &mut Hart) {
        self.counts = self.counts();
        for &page in self.by_page.keys() {
            hart.ram.unmark_page(page * PAGE as usize);
        }
        self.by_page.clear();
        self.map.clear();
        self.blocks.clear();
        self.free.clear();
        self.generation += 1;
    }
}

fn jump_index(pc: u64) -> usize {
    (pc >> 1) as usize % JUMP_ENTRIES
}
