//! Feedback: what compilers did with programs decides which are made next.
//!
//! A share of a campaign's programs are mutants of what the [corpus](super::corpus) keeps: programs with which
//! a compiler did something that it had not done before. Which programs are mutants follows from the seed and
//! their numbers; what they are follows from what was found before them, so each one's text is stored.

#[cfg(test)]
mod tests;

use super::corpus::{Candidate, Changes, Corpus, Entry, Limits};
use super::features::{Features, Target};
use rvv_ir::{Node, Program};
use rvvgen::Parent;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program that was made of one of the corpus.
pub struct Made {
    /// The program.
    pub program: Program,
    /// Where it comes from, without its features.
    pub origin: Candidate,
}

/// What changed in a corpus, as rows: entries as JSON, entries that are gone, features and how many programs
/// had them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Entries that are new or changed.
    pub entries: Vec<(u64, String)>,
    /// Those that are gone.
    pub gone: Vec<u64>,
    /// Features.
    pub seen: Vec<(u64, u64)>,
}

impl Rows {
    /// There is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.gone.is_empty() && self.seen.is_empty()
    }
}

/// A campaign's corpus, and how it is used.
pub struct Feedback {
    /// The share of programs that are new.
    explore: f64,
    seed: u64,
    target: Option<Target>,
    corpus: Mutex<Corpus>,
}

/// Tries of one mutant: some parents have none.
const TRIES: u64 = 3;

impl Feedback {
    /// None, if all programs are to be new. With a target, only what has to do with it counts.
    pub fn new(seed: u64, explore: f64, target: Option<Target>) -> Option<Feedback> {
        let corpus = Mutex::new(Corpus::new(Limits::default()));
        (explore < 1.0).then_some(Feedback { explore, seed, target, corpus })
    }

    /// Whether compilers are asked what they did: without a target, what is seen in their code is enough.
    pub fn asks(&self) -> bool {
        self.target.is_some()
    }

    /// A program with its features, as the corpus counts them, and how near it comes to the target.
    pub fn weigh(&self, program: Candidate, features: &Features) -> Candidate {
        let ids = |features: &Features| features.iter().map(|f| f.id()).collect::<BTreeSet<u64>>();
        match &self.target {
            None => Candidate { features: ids(features), ..program },
            Some(target) => Candidate {
                features: ids(&target.focus(features)),
                near: 1.0 - target.distance(features),
                ..program
            },
        }
    }

    fn corpus(&self) -> MutexGuard<'_, Corpus> {
        self.corpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with a corpus that was stored.
    pub fn restore(&self, corpus: Corpus) {
        *self.corpus() = corpus;
    }

    /// How many programs are kept, and how many features have been seen.
    pub fn sizes(&self) -> (usize, usize) {
        let corpus = self.corpus();
        (corpus.len(), corpus.seen().len())
    }

    /// Random bits of program `k`.
    fn draws(&self, k: u64) -> impl FnMut() -> u64 + use<> {
        let mut state = self.seed ^ 0x6665_6564_6261_636b;
        state = rvv_isa::random::next(&mut state) ^ k.wrapping_mul(0x2545_f491_4f6c_dd1d);
        move || rvv_isa::random::next(&mut state)
    }

    /// Whether program `k` of the plan is to be a new one.
    pub fn is_fresh(&self, k: u64) -> bool {
        let draw = self.draws(k)() >> 11;
        (draw as f64) < self.explore * (1u64 << 53) as f64
    }

    /// A mutant for program `k`; `None` if it is to be a new one, or nothing is kept yet.
    pub fn mutant(&self, k: u64, settings: &rvvgen::Settings) -> Option<Made> {
        if self.is_fresh(k) {
            return None;
        }
        let mut draw = self.draws(k);
        draw();
        (0..TRIES).find_map(|_| {
            let (entry, partner): (Entry, Option<String>) = {
                let mut corpus = self.corpus();
                let entry = corpus.choose(draw())?.clone();
                let partner = corpus.partner(entry.id, draw()).map(|e| e.program.ir.clone());
                (entry, partner)
            };
            let program: Program = entry.program.ir.parse().ok()?;
            let other: Option<Program> = partner.and_then(|ir| ir.parse().ok());
            let parent = Parent::new(&program, settings).ok()?;
            let parent = match &other {
                Some(other) => parent.clone().with(other).unwrap_or(parent),
                None => parent,
            };
            let focus: Vec<Node> = entry.program.touched.iter().map(Node::from).collect();
            let mutant = parent.near(focus).mutate(draw()).ok()?;
            let origin = Candidate {
                parent: Some(entry.id),
                mutator: Some(mutant.mutator.name().to_string()),
                touched: mutant.touched.iter().map(Into::into).collect(),
                ..Candidate::default()
            };
            Some(Made { program: mutant.generated.program, origin })
        })
    }

    /// Learns from programs with their features. Nobody else learns until what is to be stored then is handed on.
    pub fn learn<T>(&self, programs: &[Candidate], hand_on: impl FnOnce(Rows) -> T) -> T {
        let mut corpus = self.corpus();
        for program in programs {
            corpus.add(program.clone());
        }
        let Changes { entries, gone, features } = corpus.take_changes();
        let text = |id: &u64| Some((*id, serde_json::to_string(corpus.get(*id)?).ok()?));
        let count = |feature: &u64| Some((*feature, *corpus.seen().get(feature)?));
        hand_on(Rows {
            entries: entries.iter().filter_map(text).collect(),
            gone,
            seen: features.iter().filter_map(count).collect(),
        })
    }
}

/// What a batch learns of its programs, by their places among the cases.
#[derive(Default)]
pub struct Learned(BTreeMap<usize, Features>);

impl Learned {
    /// Notes features of cases.
    pub fn note(&mut self, cases: &[usize], features: Vec<Features>) {
        for (case, features) in cases.iter().zip(features) {
            self.0.entry(*case).or_default().extend(features);
        }
    }

    /// The features of a case, once.
    pub fn take(&mut self, case: usize) -> Features {
        self.0.remove(&case).unwrap_or_default()
    }
}
