//! The bugs of a campaign as lists show them: grouped, with their states, by what people filter.

use super::Selected;
use crate::programs::known::{by_name, level};
use crate::programs::store::query::{StoredBatch, Summary};
use crate::programs::store::states::{Judgement, State};
use crate::programs::testbed::Testbeds;
use crate::programs::testbed::compiler::Family;
use std::collections::{BTreeSet, HashMap};

/// A bug: its verdicts, as far as is known that they are of one.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What the verdicts share.
    pub signature: String,
    /// The first verdict: the bug's address.
    pub first: i64,
    /// The verdict to show: one with a report, if there is one.
    pub shown: i64,
    /// How many verdicts there are.
    pub verdicts: usize,
    /// `compiler`, `emulator`, `oracle` or `generator`.
    pub culprit_kind: String,
    /// Who.
    pub culprit: String,
    /// What is seen.
    pub symptom: String,
    /// It is on the list of known faults.
    pub fault: bool,
    /// There is a report.
    pub report: bool,
    /// The campaign's time when the first verdict was stored, in seconds.
    pub found: f64,
    /// What people filter by.
    pub facts: Facts,
    /// What somebody said of it.
    pub state: State,
    /// And the note.
    pub note: String,
}

/// What a bug can be filtered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `gcc`, `clang`…; of a bug that is no compiler's, the kind of its culprit.
    pub compilers: BTreeSet<String>,
    /// `clang-22 22.1.0`.
    pub versions: BTreeSet<String>,
    /// `-O2`.
    pub levels: BTreeSet<String>,
}

/// All bugs, and which verdicts are of which.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// New ones first, then by when they were found, the last first.
    pub list: Vec<Entry>,
    /// The place of each verdict's bug.
    places: HashMap<i64, usize>,
    /// The campaign's time of each verdict, in the order of their numbers, and whether its bug was new then.
    pub times: Vec<(f64, bool)>,
}

/// What a build is, for people who filter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildFacts {
    /// `gcc`.
    pub family: String,
    /// `riscv64-linux-gnu-gcc-14 14.2.0`.
    pub version: String,
    /// `-O2`.
    pub level: String,
}

/// What each build of a campaign is.
pub fn builds(testbeds: &Testbeds) -> Vec<BuildFacts> {
    let facts = |b: &crate::programs::testbed::Build| BuildFacts {
        family: b.compiler.family.name().to_string(),
        version: match b.compiler.family {
            Family::Direct => b.compiler.name.clone(),
            _ => format!("{} {}", b.compiler.name, b.compiler.version),
        },
        level: if b.flags.is_empty() { String::new() } else { level(&b.flags) },
    };
    testbeds.builds.iter().map(facts).collect()
}

impl Entries {
    /// Groups verdicts.
    pub fn new(
        summaries: &[Summary],
        batches: &[StoredBatch],
        states: &HashMap<i64, Judgement>,
        selected: &Selected,
    ) -> Entries {
        let builds = builds(&selected.testbeds);
        let runs = selected.testbeds.runs.len();
        let mut starts: Vec<(u64, f64)> = batches.iter().map(|b| (b.first, b.at)).collect();
        starts.sort_by_key(|(first, _)| *first);
        let time = |program: u64| {
            let k = program / selected.schedules;
            let at = starts.partition_point(|(first, _)| *first <= k);
            at.checked_sub(1).map_or(0.0, |at| starts[at].1)
        };
        let mut list: Vec<Entry> = Vec::new();
        let mut at: HashMap<&str, usize> = HashMap::new();
        let mut places: HashMap<i64, usize> = HashMap::with_capacity(summaries.len());
        let mut latest: HashMap<usize, &Judgement> = HashMap::new();
        // Few lists of testbeds are different.
        let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut times = Vec::with_capacity(summaries.len());
        for v in summaries {
            let found = time(v.program);
            let place = *at.entry(&v.bug).or_insert_with(|| {
                list.push(Entry {
                    signature: v.bug.clone(),
                    first: v.id,
                    shown: v.id,
                    verdicts: 0,
                    culprit_kind: v.culprit_kind.clone(),
                    culprit: v.culprit.clone(),
                    symptom: v.symptom.clone(),
                    fault: v.fault,
                    report: false,
                    found,
                    facts: Facts::default(),
                    state: State::New,
                    note: String::new(),
                });
                list.len() - 1
            });
            let entry = &mut list[place];
            times.push((found, entry.verdicts == 0));
            entry.verdicts += 1;
            entry.found = entry.found.min(found);
            if v.report && !entry.report {
                (entry.report, entry.shown) = (true, v.id);
            }
            if v.culprit_kind == "compiler" {
                let of = known.entry(&v.testbeds).or_insert_with(|| builds_of(&v.testbeds, runs));
                for facts in of.iter().filter_map(|&b| builds.get(b)) {
                    entry.facts.add(facts);
                }
            } else {
                entry.facts.compilers.insert(v.culprit_kind.clone());
            }
            if let Some(said) = states.get(&v.id)
                && latest.get(&place).is_none_or(|l| l.at < said.at)
            {
                latest.insert(place, said);
            }
            places.insert(v.id, place);
        }
        for (place, entry) in list.iter_mut().enumerate() {
            if let Some(said) = latest.get(&place) {
                (entry.state, entry.note) = (said.state, said.note.clone());
            } else if entry.fault {
                let reports = entry.signature.split(" + ").filter_map(|n| by_name(n)?.report.clone());
                (entry.state, entry.note) = (State::Known, reports.collect::<Vec<_>>().join(" "));
            }
        }
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by(|&a, &b| {
            let key = |e: &Entry| (e.state, e.fault);
            key(&list[a]).cmp(&key(&list[b])).then(list[b].found.total_cmp(&list[a].found)).then(b.cmp(&a))
        });
        let mut new_place = vec![0; list.len()];
        order.iter().enumerate().for_each(|(to, &from)| new_place[from] = to);
        places.values_mut().for_each(|place| *place = new_place[*place]);
        let mut sorted: Vec<(usize, Entry)> = new_place.into_iter().zip(list).collect();
        sorted.sort_by_key(|(to, _)| *to);
        Entries { list: sorted.into_iter().map(|(_, e)| e).collect(), places, times }
    }

    /// The bug that a verdict is of, and its place.
    pub fn of(&self, verdict: i64) -> Option<(usize, &Entry)> {
        let place = *self.places.get(&verdict)?;
        Some((place, self.list.get(place)?))
    }

    /// The verdicts of a bug, at most so many, by number.
    pub fn verdicts(&self, place: usize, most: usize) -> Vec<i64> {
        let mut ids: Vec<i64> = self.places.iter().filter(|(_, p)| **p == place).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.truncate(most);
        ids
    }

    /// What somebody has just said of a bug. Its place among the others stays until the store is read again.
    pub fn set_state(&mut self, verdict: i64, state: State, note: &str) {
        if let Some(entry) = self.places.get(&verdict).and_then(|place| self.list.get_mut(*place)) {
            (entry.state, entry.note) = (state, note.to_string());
        }
    }

    /// How many bugs are in this state.
    pub fn count(&self, state: State) -> usize {
        self.list.iter().filter(|e| e.state == state).count()
    }
}

fn builds_of(testbeds: &str, runs: usize) -> Vec<usize> {
    let testbeds: Vec<usize> = serde_json::from_str(testbeds).unwrap_or_default();
    let builds: BTreeSet<usize> = testbeds.iter().filter_map(|t| t.checked_div(runs)).collect();
    builds.into_iter().collect()
}

impl Facts {
    fn add(&mut self, build: &BuildFacts) {
        // Most are there already.
        let put = |set: &mut BTreeSet<String>, word: &String| {
            if !word.is_empty() && !set.contains(word) {
                set.insert(word.clone());
            }
        };
        put(&mut self.compilers, &build.family);
        put(&mut self.versions, &build.version);
        put(&mut self.levels, &build.level);
    }
}

impl Entry {
    /// What is wrong, without who and how it shows if the signature begins with that.
    pub fn title(&self) -> &str {
        let start = format!("{}: {}: ", self.culprit, self.symptom);
        let title =
            self.signature.strip_prefix(&start).filter(|t| !t.trim().is_empty()).unwrap_or(&self.signature);
        // Lists say that in its place.
        title.strip_prefix("not reduced, ").unwrap_or(title)
    }
}

/// What is asked for; empty words ask for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Words of the signature or the note.
    pub words: String,
    /// As [`Facts::compilers`].
    pub compiler: String,
    /// As [`Facts::versions`].
    pub version: String,
    /// As [`Facts::levels`].
    pub level: String,
    /// What is seen.
    pub symptom: String,
    /// [`State::word`].
    pub state: String,
}

impl Filter {
    /// Whether a bug is asked for.
    pub fn takes(&self, entry: &Entry) -> bool {
        let has = |set: &BTreeSet<String>, word: &str| word.is_empty() || set.contains(word);
        let text = || format!("{} {}", entry.signature, entry.note).to_lowercase();
        has(&entry.facts.compilers, &self.compiler)
            && has(&entry.facts.versions, &self.version)
            && has(&entry.facts.levels, &self.level)
            && (self.symptom.is_empty() || self.symptom == entry.symptom)
            && (self.state.is_empty() || self.state == entry.state.word())
            && (self.words.is_empty()
                || self.words.split_whitespace().all(|w| text().contains(&w.to_lowercase())))
    }

    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}
