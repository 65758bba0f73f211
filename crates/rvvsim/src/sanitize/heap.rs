//! The heap: `malloc` and its relatives, recognised by their symbols.
//!
//! At the entry of such a function the request is made larger, so that each block has a red zone after it.
//! When the function returns, the block is undefined and the zone forbidden. What the allocator does in
//! between is its own business: it reads its own headers, and what was freed.

use super::objects::Objects;
use super::origin::Source;
use super::{Kind, Sanitizer, What};
use crate::hart::Hart;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A function of the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Malloc,
    Calloc,
    Realloc,
    /// `aligned_alloc`, `memalign`.
    Aligned,
    PosixMemalign,
    Free,
    UsableSize,
    /// One that is not followed, but may look at everything.
    Other,
}

const FUNCTIONS: [(&str, Function); 15] = [
    ("malloc", Function::Malloc),
    ("calloc", Function::Calloc),
    ("realloc", Function::Realloc),
    ("aligned_alloc", Function::Aligned),
    ("memalign", Function::Aligned),
    ("posix_memalign", Function::PosixMemalign),
    ("free", Function::Free),
    ("cfree", Function::Free),
    ("malloc_usable_size", Function::UsableSize),
    ("valloc", Function::Other),
    ("pvalloc", Function::Other),
    ("malloc_trim", Function::Other),
    ("mallinfo", Function::Other),
    ("mallinfo2", Function::Other),
    ("malloc_stats", Function::Other),
];

/// A call of the allocator that has not returned.
#[derive(Clone)]
pub struct Pending {
    function: Function,
    /// The call.
    site: u64,
    back: u64,
    sp: u64,
    size: u64,
    /// The block that is freed or moved.
    old: u64,
    /// Where `posix_memalign` writes the address.
    result: u64,
    /// The shadow of the block that is moved.
    contents: Vec<u8>,
}

struct Block {
    size: u64,
    site: u64,
    /// Where it was freed.
    freed: Option<u64>,
}

/// Freed blocks that are remembered.
const MOST_FREED: usize = 4096;
/// Blocks whose contents are followed through `realloc`.
const LARGEST_COPY: u64 = 64 << 20;
/// Requests that are left as they are: they fail.
const LARGEST_REQUEST: u64 = 1 << 40;

/// All blocks.
pub struct Heap {
    functions: FxHashMap<u64, Function>,
    /// The code of the allocators.
    code: Vec<(u64, u64)>,
    blocks: BTreeMap<u64, Block>,
    freed: std::collections::VecDeque<u64>,
    zone: u64,
}

impl Heap {
    pub fn new(vlenb: usize) -> Heap {
        // A loop that goes on by a few registers too many should not reach the next block.
        let zone = (8 * vlenb as u64).clamp(64, 1024);
        Heap {
            functions: FxHashMap::default(),
            code: Vec::new(),
            blocks: BTreeMap::new(),
            freed: std::collections::VecDeque::new(),
            zone,
        }
    }

    /// Finds the functions of the allocator.
    pub fn learn(&mut self, objects: &Objects) {
        self.functions.clear();
        self.code.clear();
        for object in objects.all() {
            let (mut first, mut last) = (u64::MAX, 0);
            for symbol in &object.symbols {
                let Some((_, function)) = FUNCTIONS.iter().find(|(name, _)| *name == symbol.name) else {
                    continue;
                };
                self.functions.insert(symbol.at, *function);
                (first, last) = (first.min(symbol.at), last.max(symbol.at + symbol.size));
            }
            // They are of one unit of translation, whose other functions belong to them.
            if first < last && last - first < 1 << 18 {
                self.code.push((first, last));
            }
        }
    }

    /// Whether code is the allocator's.
    pub fn is_allocator(&self, pc: u64) -> bool {
        self.code.iter().any(|(first, last)| (*first..*last).contains(&pc))
    }

    /// What an access outside of all blocks is.
    pub fn explain(&self, va: u64, len: usize, store: bool) -> (Kind, String) {
        let what = if store { "write" } else { "read" };
        let before = self.blocks.range(..=va).next_back();
        let inside = before.filter(|(at, block)| va < **at + block.size);
        if let Some((at, block)) = inside
            && let Some(freed) = block.freed
        {
            let words = format!(
                "{what} of {len} bytes, {} bytes into a block of {} that was allocated at {:#x} and freed at {freed:#x}",
                va - at,
                block.size,
                block.site
            );
            return (Kind::UseAfterFree, words);
        }
        let past = before.map(|(at, block)| (va - at - block.size, "past the end", block));
        let ahead = self.blocks.range(va..).next().map(|(at, block)| (at - va, "before the start", block));
        let near = [past, ahead].into_iter().flatten().min_by_key(|(distance, ..)| *distance);
        let words = match near {
            Some((distance, side, block)) => format!(
                "{what} of {len} bytes, {distance} bytes {side} of a block of {} bytes, allocated at {:#x}",
                block.size, block.site
            ),
            None => format!("{what} of {len} bytes at {va:#x}"),
        };
        (Kind::OutOfBlock, words)
    }
}

impl Sanitizer {
    /// After a jump: a function of the allocator may begin here, or have ended.
    pub(super) fn enter_or_leave_allocator(&mut self, hart: &mut Hart) {
        if let Some(pending) = &self.regs.pending {
            if pending.back == hart.pc && hart.x[2] == pending.sp {
                self.leave_allocator(hart);
            }
            return;
        }
        if let Some(&function) = self.heap.functions.get(&hart.pc) {
            self.enter_allocator(hart, function);
        }
    }

    fn enter_allocator(&mut self, hart: &mut Hart, function: Function) {
        let zone = self.heap.zone;
        let a = [hart.x[10], hart.x[11], hart.x[12]];
        let larger = |size: u64| if size < LARGEST_REQUEST { size + zone } else { size };
        let mut pending = Pending {
            function,
            site: hart.x[1],
            back: hart.x[1],
            sp: hart.x[2],
            size: a[0],
            old: 0,
            result: 0,
            contents: Vec::new(),
        };
        match function {
            Function::Malloc => hart.set_x(10, larger(a[0])),
            Function::Calloc => {
                // A product that does not fit is refused, and stays as it is.
                if let Some(size) = a[0].checked_mul(a[1]) {
                    pending.size = size;
                    hart.set_x(10, larger(size));
                    hart.set_x(11, 1);
                }
            }
            Function::Realloc => {
                (pending.old, pending.size) = (a[0], a[1]);
                self.check_freed(a[0]);
                let old = self.heap.blocks.get(&a[0]).filter(|b| b.freed.is_none());
                if let Some(size) = old.map(|b| b.size).filter(|size| *size <= LARGEST_COPY) {
                    pending.contents = vec![0; size as usize];
                    let mut origins = vec![0; size as usize / 8 + 2];
                    self.memory.read(a[0], &mut pending.contents, &mut origins);
                }
                // By 0 it frees.
                if a[1] != 0 {
                    hart.set_x(11, larger(a[1]));
                }
            }
            Function::Aligned => {
                pending.size = a[1];
                // C asks for a multiple of the alignment.
                let align = a[0].clamp(1, 1 << 20);
                hart.set_x(11, larger(a[1]).next_multiple_of(align));
            }
            Function::PosixMemalign => {
                (pending.result, pending.size) = (a[0], a[2]);
                hart.set_x(12, larger(a[2]));
            }
            Function::Free => {
                pending.old = a[0];
                self.check_freed(a[0]);
            }
            Function::UsableSize => pending.old = a[0],
            Function::Other => {}
        }
        self.regs.pending = Some(pending);
    }

    /// A block is given to the allocator that has it already.
    fn check_freed(&mut self, block: u64) {
        let Some(Block { freed: Some(first), site, .. }) = self.heap.blocks.get(&block) else { return };
        let detail = format!("it was allocated at {site:#x} and freed at {first:#x}");
        // The call, not the allocator.
        let (pc, inst) = (self.pc, self.inst.take());
        self.pc = self.regs.frames.last().map_or(pc, |f| f.back.wrapping_sub(4));
        let rule = Some("C: free of a pointer that was freed");
        self.found(Kind::DoubleFree, What { detail, rule, ..What::default() });
        (self.pc, self.inst) = (pc, inst);
    }

    fn leave_allocator(&mut self, hart: &mut Hart) {
        let Some(pending) = self.regs.pending.take() else { return };
        let result = hart.x[10];
        match pending.function {
            Function::Malloc | Function::Aligned => self.allocated(result, &pending, false),
            Function::Calloc => self.allocated(result, &pending, true),
            Function::Realloc if result != 0 => {
                self.freed(pending.old, pending.site);
                self.allocated(result, &pending, false);
                let len = pending.contents.len().min(pending.size as usize);
                let origin = self.origins.born(Source::Heap, pending.site, 0);
                self.memory.write(result, &pending.contents[..len], &mut |_| origin);
            }
            Function::Realloc if pending.size == 0 => self.freed(pending.old, pending.site),
            Function::PosixMemalign if result == 0 => {
                let mut at = [0; 8];
                if hart.peek(pending.result, &mut at) == 8 {
                    self.memory.define(pending.result, 8);
                    self.allocated(u64::from_le_bytes(at), &pending, false);
                }
            }
            Function::Free => self.freed(pending.old, pending.site),
            Function::UsableSize => {
                if let Some(block) = self.heap.blocks.get(&pending.old) {
                    hart.set_x(10, block.size);
                }
            }
            Function::Realloc | Function::PosixMemalign | Function::Other => {}
        }
        self.regs.x.set(10, 0, 0);
    }

    fn allocated(&mut self, at: u64, pending: &Pending, cleared: bool) {
        if at == 0 {
            return;
        }
        let (size, zone) = (pending.size, self.heap.zone);
        let end = at.saturating_add(size).saturating_add(zone);
        // Freed blocks that were here are no more.
        let old: Vec<u64> = self
            .heap
            .blocks
            .range(..end)
            .rev()
            .map_while(|(start, block)| (start + block.size + zone > at || *start >= at).then_some(*start))
            .collect();
        for start in old {
            self.heap.blocks.remove(&start);
        }
        let outside = self.origins.born(Source::Outside, pending.site, 0);
        self.memory.forbid(at, size, false);
        if cleared {
            self.memory.define(at, size);
        } else {
            let origin = self.origins.born(Source::Heap, pending.site, 0);
            self.memory.undefine(at, size, origin);
        }
        self.memory.undefine(at.saturating_add(size), zone, outside);
        self.memory.forbid(at.saturating_add(size), zone, true);
        self.memory.forbid(at.saturating_sub(8), at.min(8), true);
        self.heap.blocks.insert(at, Block { size, site: pending.site, freed: None });
    }

    fn freed(&mut self, at: u64, site: u64) {
        let Some(block) = self.heap.blocks.get_mut(&at).filter(|b| b.freed.is_none()) else { return };
        block.freed = Some(site);
        let size = block.size.min(LARGEST_COPY);
        let origin = self.origins.born(Source::Freed, site, 0);
        self.memory.undefine(at, size, origin);
        self.memory.forbid(at, size, true);
        self.heap.freed.push_back(at);
        if self.heap.freed.len() > MOST_FREED
            && let Some(oldest) = self.heap.freed.pop_front()
            && self.heap.blocks.get(&oldest).is_some_and(|b| b.freed.is_some())
        {
            self.heap.blocks.remove(&oldest);
        }
    }
}
