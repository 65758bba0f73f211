//! On which axes the output depends.

use super::plan::{Axis, Choice};

/// Two runs that differ on one axis only and do not show the same: their places in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The run with the value of the baseline.
    pub base: usize,
    /// The other.
    pub other: usize,
}

/// What is to be said of an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The axis.
    pub axis: Axis,
    /// Pairs of runs compared.
    pub compared: usize,
    /// The first pair that differs; one where the other choices are the baseline's, if there is one.
    pub differs: Option<Pair>,
    /// The options it takes to see a difference, if the baseline's do not show one.
    pub only_with: Vec<String>,
}

/// Judges each axis by the runs that differ in it alone. `shown` gives runs the same number that showed the
/// same.
///
/// Runs that toss coins do not differ in one thing alone, since other values of it may mean other coins. They
/// tell something only where the coins themselves make no difference.
pub fn judge(plan: &[Choice], shown: &[usize]) -> Vec<Verdict> {
    let Some(baseline) = plan.first() else { return Vec::new() };
    let judge = |trusted: &[Axis]| {
        let axes = Axis::ALL.into_iter();
        axes.map(|axis| judge_axis(axis, plan, shown, baseline, trusted)).collect::<Vec<_>>()
    };
    let first = judge(&[]);
    let same: Vec<_> = first.iter().filter(|v| v.differs.is_none()).map(|v| v.axis).collect();
    judge(&same)
}

fn judge_axis(axis: Axis, plan: &[Choice], shown: &[usize], baseline: &Choice, trusted: &[Axis]) -> Verdict {
    let mut compared = 0;
    let mut differing = Vec::new();
    for (other, choice) in plan.iter().enumerate() {
        let twin = choice.without(axis, baseline);
        let Some(base) = plan.iter().position(|c| *c == twin).filter(|base| *base != other) else { continue };
        if choice.coins().any(|coins| coins != axis && !trusted.contains(&coins)) {
            continue;
        }
        compared += 1;
        if shown[base] != shown[other] {
            differing.push(Pair { base, other });
        }
    }
    // The fewer other choices it takes, the plainer the example; the first of those.
    let others = |pair: &Pair| plan[pair.other].others(axis, baseline);
    let differs = differing.into_iter().min_by_key(|pair| others(pair).len());
    let only_with = differs.as_ref().map(others).unwrap_or_default();
    Verdict { axis, compared, differs, only_with }
}

#[cfg(test)]
mod tests {
    use super::super::plan::plan;
    use super::*;
    use rvvsim::config::{Agnostic, VlChoice};

    fn verdicts(show: impl Fn(&Choice) -> usize) -> Vec<(Axis, Option<Vec<String>>)> {
        let runs = plan(&[128, 256]);
        let shown: Vec<_> = runs.iter().map(show).collect();
        let verdict = |v: Verdict| (v.axis, v.differs.map(|_| v.only_with));
        judge(&runs, &shown).into_iter().map(verdict).collect()
    }

    #[test]
    fn each_axis_is_judged_by_itself() {
        assert!(verdicts(|_| 0).iter().all(|(_, differs)| differs.is_none()));
        let same = |except: Axis| Axis::ALL.map(|a| (a, (a == except).then(Vec::new)));
        assert_eq!(verdicts(|c| c.vlen as usize), same(Axis::Vlen));
        assert_eq!(verdicts(|c| usize::from(c.tail == Agnostic::OnesToRegister)), same(Axis::Tail));
        assert_eq!(verdicts(|c| usize::from(c.mask == Agnostic::Random(2))), same(Axis::Mask));
        assert_eq!(verdicts(|c| usize::from(c.vl == VlChoice::Half)), same(Axis::Vl));
    }

    #[test]
    fn a_difference_that_needs_another_choice_says_which() {
        let found = verdicts(|c| if c.vl == VlChoice::Half { c.vlen as usize } else { 0 });
        let half = vec!["--vl half".to_owned()];
        let expected = [(Axis::Vlen, Some(half)), (Axis::Tail, None), (Axis::Mask, None)];
        assert_eq!(found[..3], expected);
        assert_eq!(found[3], (Axis::Vl, Some(Vec::new())));
    }

    #[test]
    fn coins_that_fall_otherwise_are_no_difference_of_vlen() {
        let random = |c: &Choice| c.tail == Agnostic::Random(1);
        let found = verdicts(|c| if random(c) { c.vlen as usize } else { 0 });
        assert_eq!(found, Axis::ALL.map(|a| (a, (a == Axis::Tail).then(Vec::new))));
        // It takes coins on both, which no axis shows alone: not to be missed.
        let both = |c: &Choice| random(c) && c.mask == Agnostic::Random(2);
        let found = verdicts(|c| usize::from(both(c)));
        assert_eq!(found[1], (Axis::Tail, Some(vec!["--mask random:2".to_owned()])));
    }

    #[test]
    fn the_first_pair_is_the_plainest() {
        let runs = plan(&[128, 256]);
        let shown: Vec<_> = runs.iter().map(|c| usize::from(c.tail == Agnostic::Ones)).collect();
        let pair = judge(&runs, &shown)[1].differs.expect("tail differs");
        assert_eq!((runs[pair.base], runs[pair.other].options().join(" ")), {
            (Choice::baseline(128), "--vlen 128 --tail ones".to_owned())
        });
    }
}
