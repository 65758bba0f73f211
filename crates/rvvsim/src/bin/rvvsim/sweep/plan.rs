//! Which runs a sweep makes, and which of them differ in one thing only.

use rvvsim::Config;
use rvvsim::config::{Agnostic, VlChoice};

/// The vector lengths of a sweep by default.
pub const USUAL_VLENS: [u32; 6] = [128, 256, 512, 1024, 2048, 4096];

const TAILS: [Agnostic; 4] =
    [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::OnesToRegister, Agnostic::Random(1)];
// Another seed: tail and mask must not toss the same coins.
const MASKS: [Agnostic; 4] =
    [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::OnesToRegister, Agnostic::Random(2)];
const VLS: [VlChoice; 3] = [VlChoice::Max, VlChoice::Half, VlChoice::Random(3)];

/// What the manual leaves to an implementation, once chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Bits in a register.
    pub vlen: u32,
    /// Tail-agnostic elements.
    pub tail: Agnostic,
    /// Masked-off elements under mask-agnostic.
    pub mask: Agnostic,
    /// Which `vl`.
    pub vl: VlChoice,
}

/// One of the things that are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    Vlen,
    Tail,
    Mask,
    Vl,
}

impl Axis {
    pub const ALL: [Axis; 4] = [Axis::Vlen, Axis::Tail, Axis::Mask, Axis::Vl];

    /// As in the table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Vlen => "VLEN",
            Axis::Tail => "tail",
            Axis::Mask => "mask",
            Axis::Vl => "vl",
        }
    }

    /// For a sentence: what the output depends on.
    pub fn words(self) -> &'static str {
        match self {
            Axis::Vlen => "VLEN",
            Axis::Tail => "tail-agnostic elements",
            Axis::Mask => "masked-off agnostic elements",
            Axis::Vl => "the vl that vsetvl chooses",
        }
    }

    /// The values this sweep tries.
    pub fn values(self, vlens: &[u32]) -> Vec<String> {
        match self {
            Axis::Vlen => vlens.iter().map(u32::to_string).collect(),
            Axis::Tail => TAILS.iter().map(Agnostic::to_string).collect(),
            Axis::Mask => MASKS.iter().map(Agnostic::to_string).collect(),
            Axis::Vl => VLS.iter().map(VlChoice::to_string).collect(),
        }
    }
}

impl Choice {
    /// What everything else is compared with.
    pub fn baseline(vlen: u32) -> Choice {
        Choice { vlen, tail: TAILS[0], mask: MASKS[0], vl: VLS[0] }
    }

    /// Its value on an axis.
    pub fn value(&self, axis: Axis) -> String {
        match axis {
            Axis::Vlen => self.vlen.to_string(),
            Axis::Tail => self.tail.to_string(),
            Axis::Mask => self.mask.to_string(),
            Axis::Vl => self.vl.to_string(),
        }
    }

    /// The choice that differs from this one on that axis only, where it has the value of the baseline.
    pub fn without(self, axis: Axis, baseline: &Choice) -> Choice {
        match axis {
            Axis::Vlen => Choice { vlen: baseline.vlen, ..self },
            Axis::Tail => Choice { tail: baseline.tail, ..self },
            Axis::Mask => Choice { mask: baseline.mask, ..self },
            Axis::Vl => Choice { vl: baseline.vl, ..self },
        }
    }

    /// The options, beside those of `axis` and of VLEN, that are not the baseline's.
    pub fn others(&self, axis: Axis, baseline: &Choice) -> Vec<String> {
        let differs = |other: &Axis| {
            *other != axis && *other != Axis::Vlen && self.value(*other) != baseline.value(*other)
        };
        let other = Axis::ALL.into_iter().filter(differs);
        other.map(|other| format!("--{} {}", other.name(), self.value(other))).collect()
    }

    /// The axes on which coins are tossed.
    pub fn coins(&self) -> impl Iterator<Item = Axis> {
        let tail = matches!(self.tail, Agnostic::Random(_)).then_some(Axis::Tail);
        let mask = matches!(self.mask, Agnostic::Random(_)).then_some(Axis::Mask);
        let vl = matches!(self.vl, VlChoice::Random(_)).then_some(Axis::Vl);
        [tail, mask, vl].into_iter().flatten()
    }

    /// A machine's configuration with this choice.
    pub fn config(&self, config: &Config) -> Config {
        Config { vlen: self.vlen, tail: self.tail, mask: self.mask, vl: self.vl, ..config.clone() }
    }

    /// The options that make this choice.
    pub fn options(&self) -> Vec<String> {
        let baseline = Choice::baseline(self.vlen);
        let mut options = vec!["--vlen".to_owned(), self.vlen.to_string()];
        for axis in [Axis::Tail, Axis::Mask, Axis::Vl] {
            if self.value(axis) != baseline.value(axis) {
                options.extend([format!("--{}", axis.name()), self.value(axis)]);
            }
        }
        options
    }
}

/// All runs, the baseline first. The whole product would be three times as many, and most of it would tell
/// nothing new: policies are tried one by one and together, `vl` with the extremes of them.
pub fn plan(vlens: &[u32]) -> Vec<Choice> {
    let mut runs = Vec::new();
    for &vlen in vlens {
        let baseline = Choice::baseline(vlen);
        runs.push(baseline);
        runs.extend(TAILS[1..].iter().map(|&tail| Choice { tail, ..baseline }));
        runs.extend(MASKS[1..].iter().map(|&mask| Choice { mask, ..baseline }));
        runs.extend((1..4).map(|i| Choice { tail: TAILS[i], mask: MASKS[i], ..baseline }));
        for &vl in &VLS[1..] {
            runs.extend([0, 1, 3].map(|i| Choice { vl, tail: TAILS[i], mask: MASKS[i], ..baseline }));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_every_axis_is_tried_and_no_run_is_made_twice() {
        let runs = plan(&USUAL_VLENS);
        assert_eq!(runs.len(), 96);
        for (i, run) in runs.iter().enumerate() {
            assert!(!runs[..i].contains(run), "{run:?}");
        }
        for axis in Axis::ALL {
            for value in axis.values(&USUAL_VLENS) {
                // Against the baseline of the axis, everything else being equal, at every VLEN.
                let tried = |r: &&Choice| r.value(axis) == value && r.others(axis, &runs[0]).is_empty();
                let expected = if axis == Axis::Vlen { 1 } else { 6 };
                assert_eq!(runs.iter().filter(tried).count(), expected, "{axis:?} {value}");
            }
        }
    }

    #[test]
    fn options_say_what_is_not_the_default() {
        let baseline = Choice::baseline(256);
        assert_eq!(baseline.options(), ["--vlen", "256"]);
        let other = Choice { tail: Agnostic::Random(1), vl: VlChoice::Half, ..baseline };
        assert_eq!(other.options(), ["--vlen", "256", "--tail", "random:1", "--vl", "half"]);
        assert_eq!(other.others(Axis::Tail, &baseline), ["--vl half"]);
        assert_eq!(other.without(Axis::Vl, &baseline), Choice { tail: Agnostic::Random(1), ..baseline });
    }
}
