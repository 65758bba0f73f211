//! The block cache: finds the block for an address, and forgets blocks whose code has changed.
//!
//! Whoever runs blocks holds references to them. A call that may forget a block takes the cache mutably, so
//! no reference outlives it: the compiler sees to that. Numbers of blocks stay in here, and one that is kept
//! (in a [`Link`], a jump entry, an [`Exit`]) comes with what shows whether the block is still that one.

use super::block::{Block, Context, Link};
use super::stats::Counts;
use super::translate::translate;
use crate::Hart;
use crate::hart::Environment;
use crate::mem::{Access, PAGE, Target};
use crate::trap::Exec;
use rustc_hash::FxHashMap;
use rvv_isa::Inst;
use std::cell::Cell;

/// Entries of the table for indirect jumps, in front of the map: at first, and once there were as many jumps.
/// Touching its pages is a good part of what a small program takes.
const JUMP_ENTRIES: [usize; 2] = [1 << 5, 1 << 10];

/// An address, the generation in which it was jumped to, and above the number of the block there its context.
/// As integers, so that a table of nothing need not be written.
type JumpEntry = [u64; 3];

fn jump_entry(pc: u64, context: Context, link: Link) -> JumpEntry {
    [pc, link.generation, u64::from(context.0) << 32 | u64::from(link.block)]
}

/// The end of a block, from where a successor is looked for.
#[derive(Clone, Copy)]
pub struct Exit {
    /// Where the block was.
    id: u32,
    /// Which block it was: a serial number is given once.
    serial: u64,
    /// The link to make.
    slot: usize,
}

impl Block {
    /// Its end by link `slot`.
    pub fn exit(&self, slot: usize) -> Exit {
        Exit { id: self.id, serial: self.serial, slot: slot % 2 }
    }
}

/// A block, and the cache that keeps it as long as this is looked at.
#[derive(Clone, Copy)]
pub struct Found<'c> {
    pub cache: &'c BlockCache,
    pub block: &'c Block,
}

/// Sees the address and the instructions (with their offsets) of a block.
pub type Observer = Box<dyn FnMut(u64, &[(u16, Inst)])>;

/// How often blocks ran, by their address and instructions.
pub type Forgotten = FxHashMap<(u64, Box<[(u16, Inst)]>), u64>;

/// So many of them are kept apart: a guest that makes code without end must not make us grow without end.
const MOST_FORGOTTEN: usize = 1 << 18;

/// All decoded blocks.
pub struct BlockCache {
    blocks: Vec<Block>,
    map: FxHashMap<(u64, Context), u32>,
    jumps: Box<[JumpEntry]>,
    /// How often an entry of the first of those tables was written.
    jumps_made: usize,
    /// The blocks with code on a RAM page.
    by_page: FxHashMap<usize, Vec<u32>>,
    /// Slots of `blocks` whose block was forgotten.
    free: Vec<u32>,
    /// The serial number of the last block that was made.
    last_serial: u64,
    /// Moves on when a translation may have changed or a block was forgotten: links and jump entries of
    /// older generations are void, and a block of an older one is looked at again before it runs.
    generation: u64,
    /// How often blocks ran that are no longer here, if someone wants to know.
    pub forgotten: Option<Forgotten>,
    /// Told of each block as it is decoded.
    pub observer: Option<Observer>,
    /// The most instructions of a block.
    pub longest: usize,
    /// Instructions retired by blocks that are no longer here.
    counts: Cell<Counts>,
    /// The hart's count of translation changes when `generation` was last moved.
    seen_tlb_generation: u64,
    /// The pages of addresses that blocks of this generation were decoded from, and where in RAM they are.
    pages: FxHashMap<u64, usize>,
}

impl Default for BlockCache {
    fn default() -> Self {
        BlockCache {
            blocks: Vec::new(),
            map: FxHashMap::default(),
            jumps: vec![[0; 3]; JUMP_ENTRIES[0]].into(),
            jumps_made: 0,
            by_page: FxHashMap::default(),
            free: Vec::new(),
            last_serial: 0,
            generation: 1,
            forgotten: None,
            observer: None,
            longest: usize::MAX,
            counts: Cell::default(),
            seen_tlb_generation: 0,
            pages: FxHashMap::default(),
        }
    }
}

impl BlockCache {
    /// Links and host code of other generations than this are void.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All blocks, also those that are no longer found. Host code that can be reached names its block by its
    /// place here.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Notes that a block ran up to its instruction number `retired`, and no further.
    #[inline(always)]
    pub fn ran_part(&self, block: &Block, retired: usize) {
        if retired == block.insts.len() {
            block.ran();
        } else {
            self.ran_once(&block.insts[..retired]);
        }
    }

    /// Instructions retired so far, by class.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts.get();
        for block in &self.blocks {
            counts.add(&block.insts, block.runs.get());
        }
        counts
    }

    /// All blocks that are kept, and with [`BlockCache::forgotten`] those that were: address, runs to the
    /// end, instructions.
    pub fn all(&self) -> impl Iterator<Item = (u64, u64, &[(u16, Inst)])> {
        let forgotten = self.forgotten.iter().flatten();
        let mut all: FxHashMap<_, _> =
            forgotten.map(|((pc, insts), runs)| ((*pc, &**insts), *runs)).collect();
        for block in &self.blocks {
            *all.entry((block.pc, &block.insts)).or_default() += block.runs.get();
        }
        all.into_iter().map(|((pc, insts), runs)| (pc, runs, insts))
    }

    /// Notes instructions that ran outside any kept block.
    pub fn ran_once(&self, insts: &[(u16, Inst)]) {
        let mut counts = self.counts.get();
        counts.add(insts, 1);
        self.counts.set(counts);
    }

    /// A block ran to its end: notes that, and follows its link `slot`, if it has been made and still holds.
    #[inline(always)]
    pub fn passed(&self, block: &Block, slot: usize) -> Option<&Block> {
        block.ran();
        let link = block.links[slot % 2].get();
        (link.generation == self.generation).then(|| &self.blocks[link.block as usize])
    }

    /// The block at `pc` if an indirect jump went there lately.
    #[inline(always)]
    pub fn jump(&self, pc: u64, context: Context) -> Option<&Block> {
        // The first generation is 1, so that entries that were never made do not hold.
        let [at, generation, which] = self.jumps[self.jump_index(pc)];
        let holds = at == pc && which >> 32 == u64::from(context.0) && generation == self.generation;
        holds.then(|| &self.blocks[which as u32 as usize])
    }

    /// Takes note of code that was overwritten and of translations that changed since the last call.
    pub fn sync(&mut self, hart: &mut Hart) {
        if hart.tlb_generation != self.seen_tlb_generation {
            self.seen_tlb_generation = hart.tlb_generation;
            if !self.is_where_it_was(hart) {
                self.generation += 1;
                self.pages.clear();
            }
        }
        for (offset, len) in hart.ram.take_stale() {
            self.forget_range(hart, offset, len);
        }
    }

    /// Whether all code of this generation can still be fetched from where it was. A process asks often: each
    /// `munmap` changes translations, and hardly ever those of code.
    fn is_where_it_was(&self, hart: &mut Hart) -> bool {
        matches!(hart.env, Environment::User(_))
            && self
                .pages
                .iter()
                .all(|(&va, &offset)| hart.translate(va, Access::Fetch) == Ok(Target::Ram(offset)))
    }

    /// Notes where the pages of a block are.
    fn note_pages(&mut self, id: u32) {
        let block = &self.blocks[id as usize];
        if let Some(offset) = block.offset {
            self.pages.insert(block.pc & !(PAGE - 1), offset & !(PAGE as usize - 1));
        }
        if let Some(second) = block.straddles {
            self.pages.insert(block.pc.wrapping_add(2), second);
        }
    }

    /// The block at `pc`, decoded now if need be. With `from`, that end of a block leads there from now on,
    /// if the block is still kept.
    ///
    /// # Errors
    /// The fault of fetching its first instruction.
    pub fn find(
        &mut self,
        hart: &mut Hart,
        pc: u64,
        context: Context,
        from: Option<Exit>,
    ) -> Exec<Found<'_>> {
        let to = self.find_id(hart, pc, context)?;
        // Finding may have forgotten the block it comes from, and given its place to another: to the one just
        // found, even.
        if let Some(from) = from
            && let Some(block) = self.blocks.get(from.id as usize)
            && block.serial == from.serial
        {
            block.links[from.slot].set(Link { block: to, generation: self.generation });
        }
        Ok(Found { cache: self, block: &self.blocks[to as usize] })
    }

    fn find_id(&mut self, hart: &mut Hart, pc: u64, context: Context) -> Exec<u32> {
        self.sync(hart);
        if let Some(&id) = self.map.get(&(pc, context)) {
            if self.blocks[id as usize].generation == self.generation || self.still_there(hart, id)? {
                self.remember_jump(pc, context, id);
                return Ok(id);
            }
            self.forget(id);
        }
        let block = translate(hart, pc, context, self.longest)?;
        if let Some(observer) = &mut self.observer {
            observer(pc, &block.insts);
        }
        let id = self.insert(hart, block);
        self.remember_jump(pc, context, id);
        Ok(id)
    }

    fn remember_jump(&mut self, pc: u64, context: Context, id: u32) {
        let link = Link { block: id, generation: self.generation };
        self.jumps_made += 1;
        if self.jumps_made == JUMP_ENTRIES[0] {
            self.jumps = vec![[0; 3]; JUMP_ENTRIES[1]].into();
        }
        let index = self.jump_index(pc);
        self.jumps[index] = jump_entry(pc, context, link);
    }

    #[inline(always)]
    fn jump_index(&self, pc: u64) -> usize {
        const { assert!(JUMP_ENTRIES[0].is_power_of_two() && JUMP_ENTRIES[1].is_power_of_two()) };
        (pc >> 1) as usize & (self.jumps.len() - 1)
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
        self.note_pages(id);
        Ok(true)
    }

    fn insert(&mut self, hart: &mut Hart, mut block: Block) -> u32 {
        // Of code outside RAM, too, there are no more than this.
        if self.blocks.len() - self.free.len() >= hart.config.most_blocks as usize {
            self.forget_all(hart);
        }
        self.last_serial += 1;
        let id = self.free.pop().unwrap_or(self.blocks.len() as u32);
        (block.id, block.serial, block.generation) = (id, self.last_serial, self.generation);
        let key = (block.pc, block.context);
        let parts = block.parts();
        match self.blocks.get_mut(id as usize) {
            Some(slot) => *slot = block,
            None => self.blocks.push(block),
        }
        self.note_pages(id);
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

    /// Takes the runs of a block that is about to be forgotten into account.
    fn count_for_good(&mut self, id: u32) {
        let block = &mut self.blocks[id as usize];
        let runs = block.runs.take();
        self.counts.get_mut().add(&block.insts, runs);
        if let Some(forgotten) = &mut self.forgotten
            && runs != 0
        {
            let key = (block.pc, block.insts.clone());
            if forgotten.len() < MOST_FORGOTTEN || forgotten.contains_key(&key) {
                *forgotten.entry(key).or_default() += runs;
            }
        }
    }

    fn forget(&mut self, id: u32) {
        self.count_for_good(id);
        let block = &mut self.blocks[id as usize];
        // No block has this number: what led from here must not be made to lead anywhere.
        block.serial = 0;
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

    /// Forgets all blocks.
    pub fn forget_all(&mut self, hart: &mut Hart) {
        for id in 0..self.blocks.len() {
            self.count_for_good(id as u32);
        }
        for &page in self.by_page.keys() {
            hart.ram.unmark_page(page * PAGE as usize);
        }
        self.by_page.clear();
        self.map.clear();
        self.blocks.clear();
        self.free.clear();
        self.pages.clear();
        self.generation += 1;
    }
}
