//! The streams of a campaign that are kept to be mutated: those that reach what no other does.

use super::coverage::Key;
use super::stream::Stream;
use rustc_hash::{FxHashMap, FxHashSet};

/// A bounded set of streams. Where there is no more room, the stream goes that adds least: the one with the
/// fewest circumstances of its own.
#[derive(Debug)]
pub struct Kept {
    most: usize,
    streams: Vec<Stream>,
    /// What each of them reaches.
    keys: Vec<Box<[Key]>>,
    /// How much of that none of the others does.
    alone: Vec<u32>,
    /// How many reach it, and the sum of their places: of a single one, its place.
    reached: FxHashMap<Key, (u32, usize)>,
    evicted: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Kept::new(20_000)
    }
}

impl Kept {
    /// Keeps so many at most.
    #[must_use]
    pub fn new(most: usize) -> Kept {
        Kept {
            most: most.max(1),
            streams: Vec::new(),
            keys: Vec::new(),
            alone: Vec::new(),
            reached: FxHashMap::default(),
            evicted: 0,
        }
    }

    /// The streams.
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// How many had to go.
    #[must_use]
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Keeps a stream that reaches `keys`.
    pub fn add(&mut self, stream: Stream, keys: &[Key]) {
        let keys: FxHashSet<Key> = keys.iter().copied().collect();
        let mut keys: Box<[Key]> = keys.into_iter().collect();
        keys.sort_unstable();
        let at = if self.streams.len() < self.most {
            self.streams.push(stream);
            self.keys.push(keys);
            self.alone.push(0);
            self.streams.len() - 1
        } else {
            let at = self.least();
            self.forget(at);
            self.evicted += 1;
            self.streams[at] = stream;
            self.keys[at] = keys;
            at
        };
        for key in &self.keys[at] {
            let (count, sum) = self.reached.entry(*key).or_default();
            match *count {
                0 => self.alone[at] += 1,
                // It had one owner until now.
                1 => self.alone[*sum] -= 1,
                _ => {}
            }
            *count += 1;
            *sum += at;
        }
    }

    /// The place of the stream that adds least; the first of several.
    fn least(&self) -> usize {
        let places = self.alone.iter().enumerate();
        places.min_by_key(|(_, alone)| **alone).map_or(0, |(at, _)| at)
    }

    fn forget(&mut self, at: usize) {
        for key in &self.keys[at] {
            let Some((count, sum)) = self.reached.get_mut(key) else { continue };
            *count -= 1;
            *sum -= at;
            match *count {
                0 => {
                    self.reached.remove(key);
                }
                1 => self.alone[*sum] += 1,
                _ => {}
            }
        }
        self.alone[at] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::init::Init;
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn stream(seed: u64) -> Stream {
        Stream { vlen: 128, init: Init::new(seed), steps: Vec::new(), flows: Vec::new() }
    }

    #[test]
    fn what_adds_least_goes() {
        let mut kept = Kept::new(3);
        let key = |n: u64| Key(n);
        kept.add(stream(0), &[key(1), key(2), key(3)]);
        kept.add(stream(1), &[key(3), key(4)]);
        kept.add(stream(2), &[key(5), key(6), key(5)]);
        // The second has one of its own, the others two.
        kept.add(stream(3), &[key(7), key(3)]);
        assert_eq!(kept.streams(), [stream(0), stream(3), stream(2)]);
        // Now the third of the first is the new one's too, and the new one has one of its own.
        kept.add(stream(4), &[key(8), key(9), key(1)]);
        assert_eq!((kept.streams(), kept.evicted()), (&[stream(0), stream(4), stream(2)][..], 2));
    }

    /// What is counted on the way is what counting anew gives.
    #[test]
    fn the_counts_are_kept_right() {
        let mut kept = Kept::new(40);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for n in 0..2000 {
            let size = rng.random_range(0..12);
            let keys: Vec<Key> = (0..size).map(|_| Key(rng.random_range(0..200))).collect();
            kept.add(stream(n), &keys);
        }
        for (at, keys) in kept.keys.iter().enumerate() {
            let others = |key: &&Key| kept.keys.iter().filter(|k| k.contains(key)).count() == 1;
            assert_eq!(kept.alone[at] as usize, keys.iter().filter(others).count());
        }
        let all: FxHashSet<Key> = kept.keys.iter().flatten().copied().collect();
        assert_eq!(all.len(), kept.reached.len());
        assert_eq!((kept.streams().len(), kept.evicted()), (40, 1960));
    }
}
