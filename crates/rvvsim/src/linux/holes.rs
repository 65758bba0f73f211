//! Where in the address space nothing is mapped.

use std::collections::{BTreeMap, BTreeSet};

/// The free ranges between two addresses, by place and by length.
///
/// Linux puts a mapping into the highest hole that is long enough, and so does this. The holes are kept by
/// length to find it: there are few different lengths, since the holes of all lengths up to `n` pages take
/// `n²/2` pages together (11 600 lengths fill the 256 GiB that there are).
#[derive(Clone)]
pub struct Holes {
    lowest: u64,
    highest: u64,
    /// The end of each, by its start.
    ends: BTreeMap<u64, u64>,
    /// The starts of those of each length.
    starts: BTreeMap<u64, BTreeSet<u64>>,
}

impl Holes {
    /// All is free from `lowest` to `highest`; what is mapped elsewhere does not matter.
    pub fn new(lowest: u64, highest: u64) -> Self {
        let mut holes = Holes { lowest, highest, ends: BTreeMap::new(), starts: BTreeMap::new() };
        holes.add(lowest, highest);
        holes
    }

    fn add(&mut self, start: u64, end: u64) {
        if start < end {
            self.ends.insert(start, end);
            self.starts.entry(end - start).or_default().insert(start);
        }
    }

    fn remove(&mut self, start: u64) -> Option<u64> {
        let end = self.ends.remove(&start)?;
        if let Some(starts) = self.starts.get_mut(&(end - start)) {
            starts.remove(&start);
            if starts.is_empty() {
                self.starts.remove(&(end - start));
            }
        }
        Some(end)
    }

    /// Something is mapped from `start` to `end`.
    pub fn fill(&mut self, start: u64, end: u64) {
        let first = self.ends.range(..=start).next_back().map_or(start, |(&s, _)| s);
        let touched: Vec<u64> = self.ends.range(first..end).map(|(&s, _)| s).collect();
        for hole in touched {
            let hole_end = self.ends[&hole];
            if hole_end > start {
                self.remove(hole);
                self.add(hole, start.min(hole_end));
                self.add(end.max(hole), hole_end);
            }
        }
    }

    /// Nothing is mapped from `start` to `end` any more, where something was.
    pub fn dig(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start.max(self.lowest), end.min(self.highest));
        if start >= end {
            return;
        }
        if let Some((&before, &touches)) = self.ends.range(..start).next_back()
            && touches == start
        {
            self.remove(before);
            start = before;
        }
        if let Some(after) = self.remove(end) {
            end = after;
        }
        self.add(start, end);
    }

    /// The highest place for `len` bytes.
    pub fn highest(&self, len: u64) -> Option<u64> {
        let tops = self.starts.range(len..).filter_map(|(_, starts)| starts.last());
        tops.max().map(|start| self.ends[start] - len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a map of pages.
    #[test]
    fn holes_are_where_nothing_is() {
        const PAGES: usize = 64;
        let mut holes = Holes::new(4, PAGES as u64 - 4);
        let mut used = [false; PAGES];
        let mut state = 1u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let start = state as usize % PAGES;
            let end = (start + 1 + (state >> 32) as usize % 9).min(PAGES);
            let len = 1 + (state >> 48) % 9;
            if state >> 40 & 1 == 0 {
                holes.fill(start as u64, end as u64);
                used[start..end].fill(true);
            } else {
                // Only what is mapped is unmapped, run by run.
                for (page, used) in (start as u64..).zip(&mut used[start..end]) {
                    if std::mem::take(used) {
                        holes.dig(page, page + 1);
                    }
                }
            }
            let fits = |at: &usize| !used[*at..*at + len as usize].contains(&true);
            let expected = (4..=PAGES - 4 - len as usize).rev().find(fits);
            assert_eq!(holes.highest(len), expected.map(|at| at as u64));
        }
    }
}
