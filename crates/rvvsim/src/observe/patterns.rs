//! How a program accesses memory, instruction by instruction.

use super::{Access, Observer, Wants};
use crate::hart::Hart;
use rustc_hash::FxHashMap;
use rvv_isa::{Addressing, Inst};

/// Bytes of a cache line.
const LINE: u64 = 64;
/// Strides that are counted by themselves; further ones count as others.
const MOST_STRIDES: usize = 8;
/// Instructions that are kept apart; further ones are not counted.
const MOST_PLACES: usize = 1 << 20;

/// What one instruction of the program accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// How it finds its elements; `None` for a scalar access.
    pub addressing: Option<Addressing>,
    /// How often it was executed.
    pub executed: u64,
    /// Loads of it: elements, if it is a vector access.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Lines of 64 bytes that its executions touched, each counted once per execution.
    pub lines: u64,
    /// Accesses whose address is no multiple of their size.
    pub misaligned: u64,
    /// Distances in bytes, with how often each was met: from element to element of a vector access, and from
    /// one execution to the next of a scalar one. Those that came first are here.
    pub strides: Vec<(i64, u64)>,
    /// All other distances.
    pub other_strides: u64,
    last: Option<u64>,
}

impl Pattern {
    /// The distance that was met most often, and its share of all.
    #[must_use]
    pub fn usual_stride(&self) -> Option<(i64, f64)> {
        let all = self.strides.iter().map(|(_, n)| n).sum::<u64>() + self.other_strides;
        let (stride, n) = self.strides.iter().max_by_key(|(_, n)| *n)?;
        Some((*stride, *n as f64 / all as f64))
    }

    fn stride(&mut self, stride: i64) {
        if let Some((_, n)) = self.strides.iter_mut().find(|(known, _)| *known == stride) {
            *n += 1;
        } else if self.strides.len() < MOST_STRIDES {
            self.strides.push((stride, 1));
        } else {
            self.other_strides += 1;
        }
    }
}

/// Counts the accesses of each instruction.
#[derive(Debug, Default)]
pub struct AccessPatterns {
    places: FxHashMap<u64, Pattern>,
    /// The accesses of the instruction that executes.
    now: Vec<Access>,
    lines: Vec<u64>,
}

impl AccessPatterns {
    /// The instructions that accessed memory, by their addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Pattern)> {
        self.places.iter().map(|(pc, pattern)| (*pc, pattern))
    }
}

impl Observer for AccessPatterns {
    fn wants(&self) -> Wants {
        Wants { accesses: true, ..Wants::default() }
    }

    fn access(&mut self, _: &Hart, access: &Access) {
        self.now.push(*access);
    }

    fn after(&mut self, _: &Hart, inst: Option<&Inst>, _: Option<&crate::Trap>) {
        let Some(first) = self.now.first() else { return };
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&first.pc) {
            self.now.clear();
            return;
        }
        let pattern = self.places.entry(first.pc).or_default();
        let addressing = inst.and_then(|i| i.op.shape().memory).map(|m| m.addressing);
        pattern.addressing = addressing;
        pattern.executed += 1;
        self.lines.clear();
        for access in &self.now {
            let count = if access.stored.is_some() { &mut pattern.stores } else { &mut pattern.loads };
            *count += 1;
            let size = access.size as u64;
            pattern.bytes += size;
            pattern.misaligned += u64::from(size > 0 && !access.va.is_multiple_of(size));
            for line in
                access.va / LINE..=access.va.wrapping_add(size.saturating_sub(1)).max(access.va) / LINE
            {
                if self.lines.last() != Some(&line) {
                    self.lines.push(line);
                }
            }
        }
        self.lines.sort_unstable();
        self.lines.dedup();
        pattern.lines += self.lines.len() as u64;
        let distance = |from: u64, to: u64| to.wrapping_sub(from) as i64;
        if addressing.is_some() {
            for pair in self.now.windows(2) {
                pattern.stride(distance(pair[0].va, pair[1].va));
            }
        } else if let Some(last) = pattern.last.replace(self.now[0].va) {
            pattern.stride(distance(last, self.now[0].va));
        }
        self.now.clear();
    }
}
