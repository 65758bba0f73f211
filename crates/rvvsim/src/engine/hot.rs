//! Which blocks are hot, and their way into host code and out of it.

use super::Totals;
use super::block::Block;
use super::cache::BlockCache;
use super::check;
use super::ops::{self, End, How};
use crate::Hart;
use crate::config::EngineChoice;
use crate::jit::{self, Compiled, Exit, Jit};

/// Host code, once there is any.
#[derive(Default)]
pub struct Hot {
    jit: Option<Jit>,
    /// The host has no room for host code, or cannot run it.
    unavailable: bool,
    /// When so many blocks are compiled, see whether the choice of registers still is a good one.
    review_at: u64,
    /// Blocks to compile next, by number and serial number: several at a time, for making pages writable and
    /// executable takes longer than compiling.
    waiting: Vec<(u32, u64)>,
}

/// As many instructions for each run of the threshold are executed before the first block is compiled.
const SOON: u64 = 512;

/// So many blocks are compiled at once, unless one of them runs often again.
const AT_ONCE: usize = 32;

/// So often a block is compiled anew because `vl` was not what was expected.
const MOST_SURPRISED: u8 = 4;

/// How often each integer register was used so far.
fn uses(cache: &BlockCache) -> [u64; 32] {
    let mut uses = [0_u64; 32];
    for block in cache.blocks() {
        let runs = block.runs.get();
        if runs == 0 {
            continue;
        }
        for uop in block.uops.as_slice() {
            for r in [uop.rd, uop.rs1, uop.rs2] {
                if let Some(count) = uses.get_mut(usize::from(r)) {
                    *count = count.saturating_add(runs);
                }
            }
        }
    }
    uses
}

impl Hot {
    /// The host code of a block, compiled now if the block has become hot.
    #[inline(always)]
    pub fn code(&mut self, hart: &Hart, cache: &BlockCache, block: &Block) -> Option<Compiled> {
        if let Some(compiled) = block.compiled.get() {
            return Jit::can_run(hart).then_some(compiled);
        }
        if block.runs.get() < u64::from(hart.config.jit_threshold) {
            return None;
        }
        self.compile(hart, cache, block)
    }

    #[cold]
    #[inline(never)]
    fn compile(&mut self, hart: &Hart, cache: &BlockCache, block: &Block) -> Option<Compiled> {
        let interpreted = hart.config.engine == EngineChoice::Interpreter || hart.log.is_some();
        if self.unavailable || interpreted || !Jit::can_run(hart) {
            return None;
        }
        let threshold = u64::from(hart.config.jit_threshold);
        // A program that ends soon has ended before there is room for host code.
        if self.jit.is_none() && hart.instret < SOON * threshold {
            return None;
        }
        if !block.waits.replace(true) {
            block.expect(hart);
            self.waiting.push((block.id, block.serial));
        }
        if self.waiting.len() < AT_ONCE && block.runs.get() < 2 * threshold {
            return None;
        }
        if self.jit.is_none() {
            self.jit = Jit::new(&uses(cache), &hart.config);
            self.review_at = 16;
        }
        let Some(jit) = &mut self.jit else {
            self.unavailable = true;
            return None;
        };
        if jit.totals().blocks >= self.review_at {
            self.review_at *= 4;
            let uses = uses(cache);
            if jit.is_ill_suited(&uses) {
                flush(jit, cache, &uses)?;
            }
        }
        let waiting = std::mem::take(&mut self.waiting);
        let blocks = || {
            let found = waiting.iter().filter_map(|&(id, serial)| {
                let block = cache.blocks().get(id as usize)?;
                (block.serial == serial && block.compiled.get().is_none()).then_some(block)
            });
            // Not all may fit, but this one must.
            std::iter::once(block).chain(found.filter(|other| other.id != block.id))
        };
        if !jit.compile(blocks()) {
            flush(jit, cache, &uses(cache))?;
            if !jit.compile(blocks()) {
                // Even all room there is was not enough, or it cannot be made executable.
                flush(jit, cache, &[0; 32]);
                self.unavailable = true;
                return None;
            }
        }
        for (id, _) in waiting {
            if let Some(block) = cache.blocks().get(id as usize) {
                block.waits.set(false);
            }
        }
        block.compiled.get()
    }

    /// Runs host code from the start of a block. The block that was the last, and how it ended, as if the
    /// interpreter had come to it and run it: `left` and `hart.instret` do not count it yet. No end if it was
    /// not begun.
    pub fn run<'c>(
        &mut self,
        hart: &mut Hart,
        cache: &'c BlockCache,
        from: Compiled,
        left: &mut u64,
    ) -> (&'c Block, Option<(End, Compiled)>) {
        let jit = self.jit.as_mut().expect("what is compiled has been compiled by it");
        jit.sync(cache.generation());
        let exit = jit.run(hart, from, *left);
        let block = &cache.blocks()[jit.block(exit.compiled)];
        debug_assert_eq!(block.compiled.get(), Some(exit.compiled));
        *left = exit.left;
        if exit.how != jit::How::Budget {
            *left += u64::from(block.count);
            block.runs.set(block.runs.get() - 1);
        }
        hart.instret = hart.host_code.end - *left;
        hart.retired_in_block = 0;
        if exit.how == jit::How::Interpret
            && block.surprised.get() < MOST_SURPRISED
            && jit.was_surprised(exit.compiled, block.runs.get())
        {
            block.surprised.set(block.surprised.get() + 1);
            block.compiled.set(None);
        }
        (block, end(hart, block, &exit).map(|end| (end, exit.compiled)))
    }

    /// Runs a block by the interpreter and by host code, and compares.
    ///
    /// # Errors
    /// The difference, in words.
    pub fn run_both(
        &mut self,
        hart: &mut Hart,
        cache: &BlockCache,
        block: &Block,
        code: Compiled,
        left: u64,
    ) -> Result<End, String> {
        if !check::can_run_twice(block) {
            return Ok(block.run(hart));
        }
        let expected = match check::expect(hart, block) {
            Ok(expected) => expected,
            Err(end) => return Ok(end),
        };
        // Nothing is ever linked, so that one block is all that runs.
        let (last, end) = self.run(hart, cache, code, &mut { left });
        let bytes = self.jit.as_ref().map_or(&[][..], |jit| jit.bytes(code));
        match end {
            Some((end, _)) if std::ptr::eq(last, block) => {
                expected.compare(hart, &end, block, bytes)?;
                Ok(end)
            }
            _ => Err(format!("host code of the block at {:#x} did not run it", block.pc)),
        }
    }

    /// A compiled block ended in a way that leads to another: the next time it goes there directly.
    pub fn link(&mut self, from: Compiled, end: &End, to: &Block) {
        let (Some(jit), Some(next)) = (&mut self.jit, to.compiled.get()) else { return };
        match end.how {
            How::Onwards => jit.link(from, jit::How::Onwards, next),
            How::Taken => jit.link(from, jit::How::Taken, next),
            How::Computed => jit.remember_jump(end.at, to.context, next),
            _ => {}
        }
    }

    /// What was compiled so far.
    pub fn totals(&self) -> Totals {
        self.jit.as_ref().map(Jit::totals).unwrap_or_default()
    }
}

fn flush(jit: &mut Jit, cache: &BlockCache, uses: &[u64; 32]) -> Option<()> {
    for block in cache.blocks() {
        block.compiled.set(None);
    }
    jit.flush(uses)
}

/// The end of a block as the interpreter reports it.
fn end(hart: &mut Hart, block: &Block, exit: &Exit) -> Option<End> {
    let (how, at) = match exit.how {
        jit::How::Onwards => (How::Onwards, block.end_pc()),
        jit::How::Taken => (How::Taken, block.taken_pc()),
        jit::How::Computed => (How::Computed, exit.at),
        jit::How::Anything => (How::Anything, 0),
        jit::How::Trap => (How::Trap, exit.at),
        jit::How::Early => (How::Early, exit.at + 1),
        jit::How::Interpret => return Some(ops::run_from(hart, block, exit.at)),
        jit::How::Budget => return None,
    };
    Some(End { how, at })
}
