//! A feature: one thing that is true of how a compiler compiled a program.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The features of a program.
pub type Features = BTreeSet<Feature>;

/// Where a feature comes from, and what it is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// clang's optimisation records: what a pass did, missed or found out.
    Record,
    /// A pass of clang that changed a function, by `-print-changed`.
    Pass,
    /// gcc's counters, by `-fdump-statistics`.
    Counter,
    /// gcc's messages, by `-fopt-info`.
    Message,
    /// A vset instruction: from which vtype to which, and how it sets vl.
    Vset,
    /// One vector instruction.
    Instruction,
    /// Two instructions in a row, by their shapes.
    Pair,
    /// Three instructions in a row, by their classes.
    Triple,
    /// Vector registers that go to the stack or come back, and addresses computed from vlenb.
    Spill,
    /// Reads and writes of control registers.
    Csr,
    /// Vector loads and stores: how elements are found, and where.
    Memory,
    /// SEW and LMUL at a kind of instruction.
    Lmul,
    /// Masks, and the tail and mask policy, at a kind of instruction.
    Policy,
    /// Operands that share registers.
    Overlap,
    /// A loop, and what is in it.
    Loop,
    /// What there is besides: calls, clones of functions.
    Function,
}

impl Source {
    /// All of them, in order.
    pub const ALL: [Source; 16] = [
        Source::Record,
        Source::Pass,
        Source::Counter,
        Source::Message,
        Source::Vset,
        Source::Instruction,
        Source::Pair,
        Source::Triple,
        Source::Spill,
        Source::Csr,
        Source::Memory,
        Source::Lmul,
        Source::Policy,
        Source::Overlap,
        Source::Loop,
        Source::Function,
    ];

    /// The word for it in the name of a feature.
    pub fn name(self) -> &'static str {
        match self {
            Source::Record => "record",
            Source::Pass => "pass",
            Source::Counter => "counter",
            Source::Message => "message",
            Source::Vset => "vset",
            Source::Instruction => "instruction",
            Source::Pair => "pair",
            Source::Triple => "triple",
            Source::Spill => "spill",
            Source::Csr => "csr",
            Source::Memory => "memory",
            Source::Lmul => "lmul",
            Source::Policy => "policy",
            Source::Overlap => "overlap",
            Source::Loop => "loop",
            Source::Function => "function",
        }
    }

    /// Whether the compiler said it; the others are seen in its code.
    pub fn is_said(self) -> bool {
        matches!(self, Source::Record | Source::Pass | Source::Counter | Source::Message)
    }
}

/// A feature: 64 bits that follow from its name alone. The upper five are the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(u64);

/// Bits of the hash of a name; above them is the source.
const HASH: u32 = 59;

/// No name is longer: what compilers say is cut off there.
const LONGEST: usize = 160;

/// So many names are remembered. A feature beyond is as good, and its name is a number.
const MOST: usize = 1 << 18;

static NAMES: LazyLock<Mutex<HashMap<u64, Box<str>>>> = LazyLock::new(Mutex::default);

impl Feature {
    /// The feature of this name; `scope` says whose it is, such as `clang`.
    pub fn new(source: Source, scope: &str, what: &str) -> Feature {
        let mut name = format!("{scope} {}: {what}", source.name());
        let end = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
        name.truncate(end);
        Feature::named(source, name)
    }

    fn named(source: Source, name: String) -> Feature {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The upper bits of this hash depend on all of the name, the lower ones do not.
        let id = hash >> (64 - HASH) | (source as u64) << HASH;
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() < MOST {
            names.entry(id).or_insert_with(|| name.into_boxed_str());
        }
        Feature(id)
    }

    /// The number: the same name has the same one, in every run and version.
    pub fn id(self) -> u64 {
        self.0
    }

    /// From its number, as a store keeps it. It has a name if the name was seen in this run.
    pub fn from_id(id: u64) -> Feature {
        Feature(id)
    }

    /// Where it comes from; `None` for a number that is no feature's.
    pub fn source(self) -> Option<Source> {
        Source::ALL.get((self.0 >> HASH) as usize).copied()
    }

    /// `clang vset: e8,m1,ta,ma -> e32,m4,ta,ma by vsetvli x0,x0`; a number if it was not named in this run.
    pub fn name(self) -> String {
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&self.0).map_or_else(|| format!("#{:016x}", self.0), |name| name.to_string())
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Debug for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// A text that is not the name of a feature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a feature, such as `clang csr: write vxrm 2`")]
pub struct NoFeature(String);

impl FromStr for Feature {
    type Err = NoFeature;

    /// From its name, which is then known in this run.
    fn from_str(name: &str) -> Result<Feature, NoFeature> {
        let wrong = || NoFeature(name.chars().take(80).collect());
        let number = name.strip_prefix('#').and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(id) = number {
            return Ok(Feature(id));
        }
        let word = name.split_once(": ").and_then(|(head, _)| head.rsplit(' ').next()).ok_or_else(wrong)?;
        let source = Source::ALL.into_iter().find(|s| s.name() == word).ok_or_else(wrong)?;
        if name.len() > LONGEST { Err(wrong()) } else { Ok(Feature::named(source, name.to_string())) }
    }
}

/// How often something was seen, as AFL counts: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128+.
pub fn bucket(count: u64) -> &'static str {
    match count {
        0 | 1 => "1",
        2 => "2",
        3 => "3",
        4..=7 => "4-7",
        8..=15 => "8-15",
        16..=31 => "16-31",
        32..=127 => "32-127",
        _ => "128+",
    }
}

/// What was seen, by source, and how often.
#[derive(Default)]
pub(super) struct Counts(HashMap<(Source, String), u64>);

/// So many different things of one program are counted; no program has as many.
const KINDS: usize = 1 << 16;

impl Counts {
    /// Seen once more.
    pub fn add(&mut self, source: Source, what: String) {
        self.add_times(source, what, 1);
    }

    /// Seen so many times more.
    pub fn add_times(&mut self, source: Source, what: String, times: u64) {
        if self.0.len() < KINDS || self.0.contains_key(&(source, what.clone())) {
            let count = self.0.entry((source, what)).or_default();
            *count = count.saturating_add(times);
        }
    }

    /// Each with its bucket. What three instructions in a row are like is not counted: that they occur says
    /// enough.
    pub fn features(self, scope: &str) -> Features {
        let feature = |((source, what), count): ((Source, String), u64)| match source {
            Source::Triple => Feature::new(source, scope, &what),
            _ => Feature::new(source, scope, &format!("{what} ×{}", bucket(count))),
        };
        self.0.into_iter().map(feature).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_its_name() {
        let feature = Feature::new(Source::Csr, "clang", "write vxrm 2 ×1");
        assert_eq!(feature.name(), "clang csr: write vxrm 2 ×1");
        assert_eq!(feature.name().parse(), Ok(feature));
        assert_eq!(Feature::from_id(feature.id()), feature);
        assert_eq!(feature.source(), Some(Source::Csr));
        assert_ne!(feature, Feature::new(Source::Csr, "gcc", "write vxrm 2 ×1"));
        // The number is kept in stores: it must never change. 64-bit FNV-1a, and csr is source 9.
        assert_eq!(feature.id(), 0x4fd9_31cf_0257_e228);
        let unknown = Feature::from_id(feature.id() ^ 1);
        assert_eq!(unknown.name().parse(), Ok(unknown));
        for bad in ["", "clang", "clang nothing: x", "#xyz", ": "] {
            assert!(bad.parse::<Feature>().is_err(), "{bad}");
        }
    }

    #[test]
    fn long_names_are_cut_and_every_source_has_its_own_word() {
        let long = Feature::new(Source::Record, "clang", &"é".repeat(10_000));
        assert!(long.name().len() <= LONGEST);
        assert_eq!(long.name().parse(), Ok(long));
        for (n, source) in Source::ALL.into_iter().enumerate() {
            assert_eq!(source as usize, n);
            assert_eq!(Feature::new(source, "x", "y").source(), Some(source));
            assert!(Source::ALL[..n].iter().all(|other| other.name() != source.name()));
        }
        assert_eq!(Feature::from_id(u64::MAX).source(), None);
    }

    #[test]
    fn counts_come_in_buckets_and_have_a_bound() {
        let mut counts = Counts::default();
        for n in 0..KINDS as u64 + 9 {
            counts.add_times(Source::Spill, n.to_string(), n);
        }
        let features = counts.features("x");
        assert_eq!(features.len(), KINDS);
        assert!(features.contains(&Feature::new(Source::Spill, "x", "40 ×32-127")));
    }
}
