//! A program's outcomes on all testbeds, small enough for a screen: builds that fare alike are one row,
//! set-ups that fare alike one column.

use crate::programs::judge::outcome::Kind;
use crate::programs::store::kind;
use crate::programs::testbed::emulator::Agnosticism;
use crate::programs::testbed::{Build, Run, Testbeds};
use rvv_oracle::VlChoice;
use std::collections::BTreeSet;

/// The outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// What the columns are.
    pub columns: Vec<String>,
    /// What each row is, and its outcomes.
    pub rows: Vec<(String, Vec<Option<Kind>>)>,
}

/// Rows or columns that fare alike: which, and how. What was not run fares like anything.
struct Class {
    members: Vec<usize>,
    outcomes: Vec<Option<Kind>>,
}

/// Puts what fares alike together; `alike` keeps apart what has nothing else in common.
fn classes(
    count: usize,
    of: &dyn Fn(usize) -> Vec<Option<Kind>>,
    alike: &dyn Fn(usize, usize) -> bool,
) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for member in 0..count {
        let outcomes = of(member);
        if outcomes.iter().all(Option::is_none) {
            continue;
        }
        let fits = |c: &&mut Class| {
            let same = c.outcomes.iter().zip(&outcomes).all(|(a, b)| a.is_none() || b.is_none() || a == b);
            same && alike(c.members[0], member)
        };
        match classes.iter_mut().find(fits) {
            Some(class) => {
                class.members.push(member);
                class.outcomes.iter_mut().zip(outcomes).for_each(|(a, b)| *a = a.or(b));
            }
            None => classes.push(Class { members: vec![member], outcomes }),
        }
    }
    classes
}

/// Folds the outcomes of a program: a letter for each testbed.
pub fn fold(testbeds: &Testbeds, letters: &str) -> Folded {
    let letters: Vec<char> = letters.chars().collect();
    let (builds, runs) = (&testbeds.builds, &testbeds.runs);
    let at = |b: usize, r: usize| letters.get(b * runs.len() + r).and_then(|l| kind(*l));
    let column = |r: usize| (0..builds.len()).map(|b| at(b, r)).collect::<Vec<_>>();
    let columns = classes(runs.len(), &column, &|a, b| runs[a].emulator == runs[b].emulator);
    let row = |b: usize| columns.iter().map(|c| c.outcomes[b]).collect::<Vec<_>>();
    let rows = classes(builds.len(), &row, &|a, b| builds[a].compiler == builds[b].compiler);
    let judged: BTreeSet<usize> = columns.iter().flat_map(|c| c.members.iter().copied()).collect();
    let name_column = |c: &Class| set_ups(runs, &c.members, &judged);
    let of_rows = |c: &Class| (levels(builds, &c.members), c.outcomes.clone());
    Folded { columns: columns.iter().map(name_column).collect(), rows: rows.iter().map(of_rows).collect() }
}

/// `clang-22 -O1 -O2 -O3`; with other flags, each by itself.
fn levels(builds: &[Build], members: &[usize]) -> String {
    let Some(first) = members.first() else { return String::new() };
    let flags: Vec<String> = members.iter().map(|&b| builds[b].flags.join(" ")).collect();
    let (shown, rest) = flags.split_at(flags.len().min(4));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let list = shown.iter().filter(|f| !f.is_empty()).cloned().collect::<Vec<_>>().join(", ");
    format!("{} {list}{more}", builds[*first].compiler.name).trim_end().to_string()
}

/// What a set of runs of one emulator has in common, among those that were judged: axes on which it has all
/// values are not named.
fn set_ups(runs: &[Run], members: &[usize], judged: &BTreeSet<usize>) -> String {
    let Some(first) = members.first() else { return String::new() };
    let emulator = &runs[*first].emulator;
    let of_it: Vec<usize> = judged.iter().copied().filter(|&r| runs[r].emulator == *emulator).collect();
    let name = emulator.name();
    if of_it.len() == members.len() {
        return name;
    }
    let axes: [&dyn Fn(usize) -> String; 3] =
        [&|r| runs[r].setup.vlen.to_string(), &|r| runs[r].setup.agnostic.name().to_string(), &|r| {
            if runs[r].setup.vl == VlChoice::Half { "half vl".into() } else { "full vl".into() }
        }];
    let values = |set: &[usize], axis: &dyn Fn(usize) -> String| -> Vec<String> {
        let mut values = Vec::new();
        for value in set.iter().map(|&r| axis(r)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let named: Vec<(usize, Vec<String>)> = axes
        .iter()
        .enumerate()
        .map(|(n, axis)| (n, values(members, axis)))
        .filter(|(n, some)| some.len() < values(&of_it, axes[*n]).len())
        .collect();
    let is_in = |r: &usize| named.iter().all(|(n, some)| some.contains(&axes[*n](*r)));
    if of_it.iter().filter(|r| is_in(r)).count() == members.len() {
        let said = named.iter().map(|(n, some)| match n {
            0 => format!("VLEN {}", some.join(", ")),
            _ => some.join(", "),
        });
        return format!("{name} {}", said.collect::<Vec<_>>().join("; "));
    }
    let one = |&r: &usize| {
        let setup = &runs[r].setup;
        let half = if setup.vl == VlChoice::Half { " half" } else { "" };
        let way = match setup.agnostic {
            Agnosticism::Undisturbed => "",
            Agnosticism::Ones => " ones",
            Agnosticism::Random(_) => " random",
        };
        format!("{}{way}{half}", setup.vlen)
    };
    let (shown, rest) = members.split_at(members.len().min(4));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("{name} VLEN {}{more}", shown.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::{CompilerSettings, Settings};
    use crate::programs::store::letter;

    /// The letters of outcomes given by a rule of compiler, level, and run.
    fn folded(rule: impl Fn(&Build, &Run) -> Option<Kind>) -> Folded {
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        for name in ["gcc-14", "gcc-15"] {
            let one =
                CompilerSettings { name: name.into(), family: "gcc".into(), ..settings.compilers[0].clone() };
            settings.compilers.push(one);
        }
        let testbeds = settings.testbeds().unwrap();
        let pairs = testbeds.builds.iter().flat_map(|b| testbeds.runs.iter().map(move |r| (b, r)));
        let letters: String = pairs.map(|(b, r)| letter(rule(b, r))).collect();
        fold(&testbeds, &letters)
    }

    #[test]
    fn what_does_not_matter_is_not_shown() {
        let all = folded(|_, _| Some(Kind::Pass));
        assert_eq!(all.columns, ["rvvsim"]);
        assert_eq!(all.rows.len(), 3);
        assert_eq!(all.rows[1], ("gcc-14 -O0, -O2, -O3".to_string(), vec![Some(Kind::Pass)]));
    }

    #[test]
    fn what_matters_is() {
        let wrong = folded(|b, r| {
            let fails = b.compiler.name == "gcc-14"
                && b.flags != ["-O0"]
                && r.setup.vlen >= 512
                && r.setup.agnostic == Agnosticism::Ones;
            Some(if fails { Kind::WrongOutput } else { Kind::Pass })
        });
        assert_eq!(wrong.columns.len(), 2);
        assert_eq!(wrong.columns[1], "rvvsim VLEN 512, 1024; ones");
        let names: Vec<&str> = wrong.rows.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["direct", "gcc-14 -O0", "gcc-14 -O2, -O3", "gcc-15 -O0, -O2, -O3"]);
        assert_eq!(wrong.rows[2].1, [Some(Kind::Pass), Some(Kind::WrongOutput)]);
    }

    #[test]
    fn what_was_not_run_fares_like_anything() {
        let some = folded(|b, r| match (b.flags.first().map(String::as_str), r.setup.vlen) {
            (Some("-O2"), _) => None,
            (_, 1024) => None,
            _ => Some(Kind::Pass),
        });
        assert_eq!((some.columns.len(), some.rows.len()), (1, 3));
        assert_eq!(some.rows[1].0, "gcc-14 -O0, -O3");
        let nothing = fold(&Testbeds::default(), "wc");
        assert!(nothing.columns.is_empty() && nothing.rows.is_empty());
        assert!(folded(|_, _| None).rows.is_empty());
    }
}
