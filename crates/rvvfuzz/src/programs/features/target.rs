//! What a campaign is directed at: a pattern of features, and how near to it a set of features is.
//!
//! A pattern is words, or text with `*` and `?`. A feature that has all the words is a hit. A word matches a
//! word of the feature that is the same or has the same stem: *insertion* matches `insert`. What has some of
//! the words, or is about the same topic (`TOPICS`: *vsetvli* is about vset instructions, *spill* about
//! registers on the stack), is near.

use super::feature::{Feature, Features, Source};
use std::collections::BTreeSet;
use std::fmt;

/// A pattern of features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    text: String,
    pattern: Pattern,
    /// Sources that are about the same.
    topics: BTreeSet<Source>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// All of these, in any order.
    Words(Vec<String>),
    /// Text with `*` and `?`, in lower case, anywhere in the name.
    Glob(Vec<char>),
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It has no words.
    #[error(
        "a target is words, as `vsetvli insertion`, or a pattern, as `csr: write vxrm*`; this has no letter or digit"
    )]
    Empty,
    /// It is too long.
    #[error("a target has at most {} characters", LONGEST)]
    Long,
}

/// No pattern is longer: matching takes its length times that of the name.
const LONGEST: usize = 200;

/// The distance of what has nothing but the topic, at best; and of what has some of the words, at best.
const TOPIC: f64 = 0.6;
const PARTIAL: f64 = 0.15;

/// What words are about, by their beginnings, and the sources that are about it, too.
const TOPICS: [(&[&str], &[Source]); 7] = [
    (&["vset", "vtype"], &[Source::Vset, Source::Lmul, Source::Policy]),
    (
        &["spill", "reload", "regalloc", "greedy", "register", "stack", "frame"],
        &[Source::Spill, Source::Overlap],
    ),
    (&["csr", "frm", "vxrm", "rounding", "mode"], &[Source::Csr]),
    (&["loop", "licm", "unroll", "vectori", "invariant", "hoist"], &[Source::Loop, Source::Record]),
    (&["mask", "policy", "tail", "undisturbed", "agnostic", "vmv0"], &[Source::Policy]),
    (&["load", "store", "memory", "address", "indexed", "strided", "segment", "offset"], &[Source::Memory]),
    (&["inline", "call", "clone", "isra", "constprop"], &[Source::Function]),
];

impl Target {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it has no words, or is too long.
    pub fn parse(text: &str) -> Result<Target, TargetError> {
        if text.chars().count() > LONGEST {
            return Err(TargetError::Long);
        }
        let words = words(text);
        if words.is_empty() {
            return Err(TargetError::Empty);
        }
        let is_about = |beginnings: &[&str]| {
            words.iter().any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
        };
        let about = TOPICS.iter().filter(|(beginnings, _)| is_about(beginnings));
        let topics = about.flat_map(|(_, sources)| sources.iter().copied()).collect();
        let pattern = match text.contains(['*', '?']) {
            true => Pattern::Glob(text.to_lowercase().chars().collect()),
            false => Pattern::Words(words),
        };
        Ok(Target { text: text.to_string(), pattern, topics })
    }

    /// How far a feature is from it: 0 if it is what is meant, 1 if it has nothing to do with it.
    pub fn distance_of(&self, feature: Feature) -> f64 {
        let name = feature.name().to_lowercase();
        let found = match &self.pattern {
            Pattern::Glob(glob) => f64::from(u8::from(contains(glob, &name.chars().collect::<Vec<_>>()))),
            Pattern::Words(wanted) => {
                let has = words(&name);
                let matched = wanted.iter().filter(|w| has.iter().any(|h| same_stem(w, h)));
                matched.count() as f64 / wanted.len() as f64
            }
        };
        let topic = feature.source().is_some_and(|s| self.topics.contains(&s));
        match found {
            1.0 => 0.0,
            0.0 if topic => TOPIC,
            0.0 => 1.0,
            // The more of the words, the nearer; never as near as all of them.
            some => (PARTIAL + 0.7 * (1.0 - some)).min(if topic { TOPIC } else { 1.0 }),
        }
    }

    /// How far a program with these features is from it. The nearest feature decides; others of the same
    /// kind, up to about a dozen, bring it nearer by as much as half of that. 0 only if one of them hits.
    pub fn distance(&self, features: &Features) -> f64 {
        let mut distances: Vec<f64> =
            features.iter().map(|f| self.distance_of(*f)).filter(|d| *d < 1.0).collect();
        distances.sort_by(f64::total_cmp);
        let Some(nearest) = distances.first() else { return 1.0 };
        let others = distances.iter().take_while(|d| *d <= nearest).count().saturating_sub(1);
        nearest * (1.0 - 0.5 * others as f64 / (others as f64 + 4.0))
    }

    /// The features that hit it or are near. Most programs hit a pass that changes most programs; what is
    /// new among these tells them apart.
    pub fn focus(&self, features: &Features) -> Features {
        features.iter().copied().filter(|f| self.distance_of(*f) < 1.0).collect()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

/// Whether words are the same but for their ends: `insertion` and `insert`, `spills` and `spill`.
fn same_stem(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    a == b
        || common >= 4 && common + 1 >= short && long - common <= 4 && !b.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a pattern matches some part of a text.
fn contains(glob: &[char], text: &[char]) -> bool {
    // As if it had a star at both ends. The last star seen, and how far the text was there.
    let (mut g, mut t, mut star) = (0, 0, (0, 0));
    loop {
        match glob.get(g) {
            None => return true,
            Some('*') => {
                g += 1;
                star = (g, t);
            }
            Some(c) if t < text.len() && (*c == '?' || *c == text[t]) => (g, t) = (g + 1, t + 1),
            Some(_) if star.1 < text.len() => {
                star.1 += 1;
                (g, t) = star;
            }
            Some(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> Features {
        names.iter().map(|n| n.parse().unwrap_or_else(|e| panic!("{e}"))).collect()
    }

    const VSETVLI: &str = "clang pass: riscv-insert-vsetvli (RISC-V Insert VSETVLI pass) changed it ×1";

    #[test]
    fn a_pass_is_hit_by_its_words() {
        let target = Target::parse("vsetvli insertion").unwrap();
        assert_eq!(target.distance(&set(&[VSETVLI, "clang spill: spill of 2 registers ×1"])), 0.0);
        let partly = target.distance(&set(&["clang pass: riscv-coalesce-vsetvli changed it ×1"]));
        let shape = "clang vset: ? -> e8,m1,ta,ma by vsetivli ×1";
        let topic = target.distance(&set(&[shape]));
        let topics = target.distance(&set(&[shape, "clang vset: ? -> e16,m1,ta,ma by vsetivli ×1"]));
        let other = target.distance(&set(&["clang spill: spill of 2 registers ×1"]));
        assert!(0.0 < topics && topics < topic && topic < other, "{topics} {topic} {other}");
        assert!(0.0 < partly && partly < other, "{partly}");
        assert_eq!((other, target.distance(&Features::new())), (1.0, 1.0));
        let both = set(&[VSETVLI, shape, "clang spill: reload of 1 registers ×1"]);
        assert_eq!(target.focus(&both), set(&[VSETVLI, shape]));
    }

    #[test]
    fn patterns_are_hit_by_what_they_describe() {
        for (text, name, hits) in [
            ("csr: write vxrm*", "gcc csr: write vxrm 2 ×1", true),
            ("gcc csr: *vxrm ? *", "gcc csr: write vxrm 2 ×1", true),
            ("csr: *frm*", "gcc csr: write vxrm 2 ×1", false),
            ("VSETVLI X0,X0*", "clang vset: e8,m1,ta,ma -> e16,m2,ta,ma by vsetvli x0,x0 ×2", true),
            ("?????*?spill", "clang spill: x ×1", true),
            ("*2*2*2*2*2*", "clang spill: x ×2", false),
            ("spills", "clang spill: x ×2", true),
            ("machine licm", "clang pass: early-machinelicm (Early Machine LICM) changed it ×1", true),
            ("m2", "clang lmul: VectorInteger e8,m2 ×1", true),
            ("m2", "clang lmul: VectorInteger e8,m4 ×1", false),
        ] {
            let distance = Target::parse(text).unwrap().distance(&set(&[name]));
            assert_eq!(distance == 0.0, hits, "{text}: {distance}");
            assert!((0.0..=1.0).contains(&distance));
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in ["", " ", "***", "-?"] {
            assert_eq!(Target::parse(bad), Err(TargetError::Empty));
        }
        assert_eq!(Target::parse(&"*a".repeat(200)), Err(TargetError::Long));
        let slow = Target::parse(&"*a".repeat(100)).unwrap();
        assert_eq!(slow.distance(&set(&[&format!("clang spill: {}", "a".repeat(90))])), 1.0);
    }
}
