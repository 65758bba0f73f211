//! The loop that runs blocks.

use super::block::Context;
use super::cache::Found;
use super::ops::{End, How};
use super::translate::translate;
use super::{Engine, Stop};
use crate::Hart;
use crate::config::EngineChoice;
use crate::trap::Trap;
use rvv_isa::Inst;

/// Sees each instruction of [`Engine::run_each`], and may change the hart before and after it.
pub(crate) trait Each {
    /// The instruction at `hart.pc` is about to execute. Bits that are no instruction come as `ebreak`. False
    /// ends the run before it.
    fn before(&mut self, hart: &mut Hart, inst: &Inst) -> bool;
    /// It has executed, or trapped; `hart.pc` is where execution goes on. False ends the run.
    fn after(&mut self, hart: &mut Hart, inst: &Inst, trap: Option<&Trap>) -> bool;
}

/// The trap of a block that ended in one.
fn trapped(hart: &mut Hart) -> Stop {
    hart.trap.take().map_or(Stop::Budget, Stop::Trap)
}

impl Engine {
    /// Runs up to `budget` instructions, or fewer where a whole block would pass it, but at least one
    /// unless something stops it.
    pub fn run(&mut self, hart: &mut Hart, budget: u64) -> Stop {
        if hart.fetches_are_watched() {
            // A trigger may fire before any instruction: each is fetched by itself.
            return self.step(hart);
        }
        let stop = self.run_blocks(hart, budget);
        hart.retired_in_block = 0;
        stop
    }

    fn run_blocks(&mut self, hart: &mut Hart, budget: u64) -> Stop {
        let mut left = budget;
        loop {
            hart.retired_in_block = 0;
            let context = Context::of(hart);
            let Found { mut cache, mut block } = match self.cache.find(hart, hart.pc, context, None) {
                Ok(found) => found,
                Err(trap) => return Stop::Trap(trap),
            };
            // Inside, only blocks that follow one another with nothing surprising in between.
            loop {
                if u64::from(block.count) > left {
                    hart.retired_in_block = 0;
                    if left < budget {
                        hart.pc = block.pc;
                        return Stop::Budget;
                    }
                    let (pc, context) = (block.pc, block.context);
                    return self.run_part(hart, pc, context, left as usize);
                }
                let (end, host_code) = match self.hot.code(hart, cache, block) {
                    None => (block.run(hart), None),
                    Some(code) if hart.config.engine == EngineChoice::Check => {
                        match self.hot.run_both(hart, cache, block, code, left) {
                            Ok(end) => (end, None),
                            Err(what) => {
                                self.difference = Some(what);
                                return Stop::Budget;
                            }
                        }
                    }
                    Some(code) => {
                        let (last, end) = self.hot.run(hart, cache, code, &mut left);
                        block = last;
                        match end {
                            Some((end, code)) => (end, Some(code)),
                            None => continue,
                        }
                    }
                };
                let count = u64::from(block.count);
                let End { how, at } = end;
                let next = match how {
                    How::Onwards | How::Taken => cache.passed(block, how as usize),
                    How::Trap | How::Early => {
                        hart.pc = block.pc_of(at as u16);
                        hart.instret += at;
                        left -= at;
                        cache.ran_part(block, at as usize);
                        if how == How::Trap {
                            return trapped(hart);
                        }
                        break;
                    }
                    How::Computed => {
                        block.ran();
                        cache.jump(at, block.context_after)
                    }
                    How::Anything => {
                        block.ran();
                        hart.instret += count;
                        left -= count;
                        break;
                    }
                };
                hart.instret += count;
                left -= count;
                if let Some(next) = next {
                    if let Some(code) = host_code {
                        self.hot.link(code, &end, next);
                    }
                    block = next;
                    continue;
                }
                let context = block.context_after;
                let from = (how != How::Computed).then(|| block.exit(how as usize));
                match self.cache.find(hart, at, context, from) {
                    Ok(found) => Found { cache, block } = found,
                    Err(trap) => {
                        hart.pc = at;
                        return Stop::Trap(trap);
                    }
                }
            }
            if std::mem::take(&mut hart.resync) || left == 0 {
                return Stop::Budget;
            }
        }
    }

    /// Runs exactly `most` instructions of a block that is longer, without keeping it.
    fn run_part(&mut self, hart: &mut Hart, pc: u64, context: Context, most: usize) -> Stop {
        self.cache.sync(hart);
        let block = match translate(hart, pc, context, most) {
            Ok(block) => block,
            Err(trap) => {
                hart.pc = pc;
                return Stop::Trap(trap);
            }
        };
        let End { how, at } = block.run(hart);
        hart.retired_in_block = 0;
        hart.resync = false;
        let retired = match how {
            How::Trap | How::Early => at as usize,
            _ => block.insts.len(),
        };
        hart.instret += retired as u64;
        self.cache.ran_once(&block.insts[..retired]);
        match how {
            How::Trap | How::Early => hart.pc = block.pc_of(at as u16),
            How::Onwards | How::Taken | How::Computed => hart.pc = at,
            How::Anything => {}
        }
        trapped(hart)
    }

    /// Runs up to `budget` instructions, each before the eyes of `each`. Instructions are decoded once, as
    /// blocks of one: an engine is used either for this or for [`Engine::run`].
    pub(crate) fn run_each(&mut self, hart: &mut Hart, budget: u64, each: &mut impl Each) -> Stop {
        self.cache.longest = 1;
        let mut moved = true;
        for _ in 0..budget {
            hart.retired_in_block = 0;
            let context = Context::of(hart);
            let near = if moved { None } else { self.cache.jump(hart.pc, context) };
            let id = match near {
                Some(block) => block.id,
                None => match self.cache.find(hart, hart.pc, context, None) {
                    Ok(Found { block, .. }) => block.id,
                    Err(trap) => return Stop::Trap(trap),
                },
            };
            // Not copied: whoever looks at a copy waits for its halves to be written.
            let block = &self.cache.blocks()[id as usize];
            let inst = &block.insts[0].1;
            if !each.before(hart, inst) {
                break;
            }
            let End { how, at } = block.run(hart);
            hart.retired_in_block = 0;
            moved = std::mem::take(&mut hart.resync) || how == How::Anything;
            match how {
                How::Trap => {
                    hart.pc = block.pc;
                    let trap = hart.trap.take();
                    let goes_on = each.after(hart, inst, trap.as_ref());
                    return trap.filter(|_| goes_on).map_or(Stop::Budget, Stop::Trap);
                }
                How::Early => hart.pc = block.pc_of(at as u16),
                How::Onwards | How::Taken | How::Computed => hart.pc = at,
                How::Anything => {}
            }
            block.ran();
            hart.instret += 1;
            if !each.after(hart, inst, None) {
                break;
            }
        }
        Stop::Budget
    }

    /// Executes one instruction; see [`Hart::log`] for what it did.
    pub fn step(&mut self, hart: &mut Hart) -> Stop {
        let context = Context::of(hart);
        self.run_part(hart, hart.pc, context, 1)
    }
}
