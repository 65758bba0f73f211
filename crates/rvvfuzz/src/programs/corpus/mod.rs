//! The corpus: programs with which compilers did something new, and which of them is mutated next.
//!
//! A program is kept if it has a feature that none before it had, or comes nearer to what a campaign is
//! directed at. What is kept is bounded: entries all of whose features others have go first, then those whose
//! own features are few. The corpus is a function of what was added and drawn, in order: it has no clock and
//! no source of chance of its own.

mod entry;
#[cfg(test)]
mod tests;

pub use entry::{Candidate, Entry, LONGEST, MOST_FEATURES, Place};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries.
    pub entries: usize,
    /// Bytes of their texts and features.
    pub bytes: usize,
    /// Features that are remembered.
    pub features: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 2000, bytes: 64 << 20, features: 1 << 20 }
    }
}

/// A change of a corpus, for who stores it. What is stored of an entry before it is stored again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Entries that are new or count something else now.
    pub entries: Vec<u64>,
    /// Entries that are gone.
    pub gone: Vec<u64>,
    /// Features that were seen, each once.
    pub features: Vec<u64>,
}

/// A feature that so many programs had is nothing special any more.
const RARE: u64 = 64;
/// How much a feature counts that one program had: sums are exact, whatever their order.
const WHOLE: u64 = 1 << 20;
/// Numbers beyond are nobody's: files may have any.
const MOST_IDS: u64 = 1 << 62;

/// How rare a feature is that so many programs had.
fn rarity(seen: u64) -> u64 {
    if seen > RARE { 0 } else { WHOLE / seen.max(1) }
}

/// What is kept of an entry's features, so that it need not be added up each time.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    /// The rarity of all of them.
    rare: u64,
    /// How many no other entry has.
    own: usize,
}

/// Programs that are kept.
#[derive(Clone, Debug)]
pub struct Corpus {
    limits: Limits,
    entries: BTreeMap<u64, Entry>,
    /// How many programs had each feature, kept or not.
    seen: HashMap<u64, u64>,
    /// The entries that have it.
    holders: HashMap<u64, Vec<u64>>,
    weights: BTreeMap<u64, Weight>,
    bytes: usize,
    next: u64,
    nearest: f64,
    changes: Changes,
}

/// A line of a corpus as text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Entry(Box<Entry>),
    /// Features and how many programs had them.
    Seen(Vec<(u64, u64)>),
}

impl Corpus {
    /// An empty one.
    pub fn new(limits: Limits) -> Corpus {
        Corpus {
            limits,
            entries: BTreeMap::new(),
            seen: HashMap::new(),
            holders: HashMap::new(),
            weights: BTreeMap::new(),
            bytes: 0,
            next: 1,
            nearest: 0.0,
            changes: Changes::default(),
        }
    }

    /// One that was stored: its entries, and how many programs had each feature.
    pub fn restore(
        limits: Limits,
        entries: impl IntoIterator<Item = Entry>,
        seen: impl IntoIterator<Item = (u64, u64)>,
    ) -> Corpus {
        let mut corpus = Corpus::new(limits);
        for (feature, count) in seen.into_iter().take(limits.features) {
            corpus.seen.insert(feature, count.max(1));
        }
        for entry in entries {
            let Some(program) = entry.program.bounded() else { continue };
            if entry.id >= MOST_IDS || corpus.entries.contains_key(&entry.id) {
                continue;
            }
            corpus.nearest = corpus.nearest.max(program.near);
            corpus.next = corpus.next.max(entry.id + 1);
            for feature in &program.features {
                let full = corpus.seen.len() >= limits.features;
                if !full || corpus.seen.contains_key(feature) {
                    corpus.seen.entry(*feature).or_insert(1);
                }
            }
            corpus.hold(Entry { program, ..entry });
            corpus.shrink();
        }
        corpus.changes = Changes::default();
        corpus
    }

    /// The entries, by their numbers.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// An entry by its number.
    pub fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes that they count for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Features seen so far, and how many programs had each.
    pub fn seen(&self) -> &HashMap<u64, u64> {
        &self.seen
    }

    /// What has changed since this was asked last.
    pub fn take_changes(&mut self) -> Changes {
        let mut changes = std::mem::take(&mut self.changes);
        changes.entries.retain(|id| self.entries.contains_key(id));
        for list in [&mut changes.entries, &mut changes.gone, &mut changes.features] {
            list.sort_unstable();
            list.dedup();
        }
        changes
    }

    /// Counts a program, and keeps it if it adds something; then its number in the corpus.
    pub fn add(&mut self, candidate: Candidate) -> Option<u64> {
        let candidate = candidate.bounded()?;
        let mut added = 0;
        for &feature in &candidate.features {
            let full = self.seen.len() >= self.limits.features;
            match self.seen.get_mut(&feature) {
                Some(count) => {
                    let before = rarity(*count);
                    *count = count.saturating_add(1);
                    let less = before - rarity(*count);
                    // Nobody's sum changes with what is nothing special.
                    let of = self.holders.get(&feature).filter(|_| less > 0);
                    for id in of.into_iter().flatten() {
                        if let Some(weight) = self.weights.get_mut(id) {
                            weight.rare -= less;
                        }
                    }
                }
                None if full => continue,
                None => {
                    self.seen.insert(feature, 1);
                    added += 1;
                }
            }
            self.changes.features.push(feature);
        }
        if added == 0 && candidate.near <= self.nearest {
            return None;
        }
        self.nearest = self.nearest.max(candidate.near);
        if let Some(parent) = candidate.parent.and_then(|id| self.entries.get_mut(&id)) {
            parent.finds = parent.finds.saturating_add(1);
            parent.best = parent.best.max(added);
            self.changes.entries.push(parent.id);
        }
        let id = self.next;
        self.next += 1;
        self.hold(Entry { id, program: candidate, added, chosen: 0, finds: 0, best: 0 });
        self.shrink();
        self.entries.contains_key(&id).then_some(id)
    }

    fn hold(&mut self, entry: Entry) {
        let mut weight = Weight::default();
        for feature in &entry.program.features {
            let of = self.holders.entry(*feature).or_default();
            match of[..] {
                [] => weight.own += 1,
                [other] => {
                    if let Some(weight) = self.weights.get_mut(&other) {
                        weight.own -= 1;
                    }
                }
                _ => {}
            }
            of.push(entry.id);
            weight.rare += self.seen.get(feature).map_or(0, |n| rarity(*n));
        }
        self.bytes += entry.bytes();
        self.changes.entries.push(entry.id);
        self.weights.insert(entry.id, weight);
        self.entries.insert(entry.id, entry);
    }

    fn drop(&mut self, id: u64) {
        let Some(entry) = self.entries.remove(&id) else { return };
        self.weights.remove(&id);
        self.bytes -= entry.bytes();
        for feature in &entry.program.features {
            let Some(of) = self.holders.get_mut(feature) else { continue };
            of.retain(|other| *other != id);
            match of[..] {
                [] => {
                    self.holders.remove(feature);
                }
                [other] => {
                    if let Some(weight) = self.weights.get_mut(&other) {
                        weight.own += 1;
                    }
                }
                _ => {}
            }
        }
        self.changes.gone.push(id);
    }

    /// Drops the least worth until the rest is within bounds.
    fn shrink(&mut self) {
        while self.entries.len() > self.limits.entries || self.bytes > self.limits.bytes {
            let worst = self.entries.values().map(|e| (self.worth(e), e.id));
            let worst = worst.min_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
            let Some((_, id)) = worst else { return };
            self.drop(id);
        }
    }

    /// What would be lost with an entry: features that no other has. Among those that nothing would be lost
    /// with, what promises more and what is smaller stay longer.
    fn worth(&self, entry: &Entry) -> f64 {
        let own = self.weights.get(&entry.id).map_or(0, |w| w.own) as f64;
        let size = 1.0 / (1.0 + entry.bytes() as f64);
        // Of what is nearest, all stay.
        let nearest = if entry.program.near > 0.0 && entry.program.near >= self.nearest { 1e9 } else { 0.0 };
        let promise = self.energy(entry);
        own + nearest + 0.5 * promise / (1.0 + promise) + 0.1 * size
    }

    /// How much an entry promises: rare features and new finds for it, times chosen against it; what is near
    /// the aim counts several times.
    pub fn energy(&self, entry: &Entry) -> f64 {
        let rare = self.weights.get(&entry.id).map_or(0, |w| w.rare) as f64 / WHOLE as f64;
        let novelty = (0.05 + rare).sqrt();
        // A find is worth eight tries.
        let tired = (1.0 + entry.chosen as f64) / (1.0 + entry.finds as f64);
        let tired = 1.0 / (1.0 + tired / 8.0);
        let near = 1.0 + 15.0 * entry.program.near * entry.program.near;
        novelty * tired * near
    }

    /// The entry that is mutated next, drawn by energy; `draw` is 64 random bits. It counts as chosen.
    pub fn choose(&mut self, draw: u64) -> Option<&Entry> {
        let energies: Vec<(u64, f64)> = self.entries.values().map(|e| (e.id, self.energy(e))).collect();
        let all: f64 = energies.iter().map(|(_, e)| e).sum();
        let mut at = (draw >> 11) as f64 / (1u64 << 53) as f64 * all;
        let mut id = energies.last()?.0;
        for (this, energy) in energies {
            at -= energy;
            if at < 0.0 {
                id = this;
                break;
            }
        }
        self.changes.entries.push(id);
        let entry = self.entries.get_mut(&id)?;
        entry.chosen = entry.chosen.saturating_add(1);
        Some(entry)
    }

    /// A second program, to splice with: any other entry, each as likely.
    pub fn partner(&self, of: u64, draw: u64) -> Option<&Entry> {
        let others = self.entries.len() - usize::from(self.entries.contains_key(&of));
        let at = (u128::from(draw) * others as u128) >> 64;
        self.entries.values().filter(|e| e.id != of).nth(usize::try_from(at).ok()?)
    }

    /// All of it as lines of JSON.
    pub fn to_lines(&self) -> String {
        let mut seen: Vec<(u64, u64)> = self.seen.iter().map(|(f, n)| (*f, *n)).collect();
        seen.sort_unstable();
        let lines = seen.chunks(1000).map(|some| Line::Seen(some.to_vec()));
        let lines = lines.chain(self.entries.values().map(|e| Line::Entry(Box::new(e.clone()))));
        let text = |line: Line| serde_json::to_string(&line).unwrap_or_default() + "\n";
        lines.map(text).collect()
    }

    /// From [`Corpus::to_lines`].
    ///
    /// # Errors
    /// Which line is none of a corpus.
    pub fn from_lines(limits: Limits, text: &str) -> Result<Corpus, String> {
        let (mut entries, mut all) = (Vec::new(), Vec::new());
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line) {
                Ok(Line::Entry(entry)) => entries.push(*entry),
                Ok(Line::Seen(seen)) => all.extend(seen),
                Err(e) => return Err(format!("line {}: {e}", number + 1)),
            }
        }
        Ok(Corpus::restore(limits, entries, all))
    }
}
