//! Which programs are mutants, and that they are the same each time.

use super::*;
use rvv_oracle::{Options, evaluate};
use rvvgen::{Plan, Selection, Settings, generate};

fn settings() -> Settings {
    Settings { vlens: vec![128], ..Settings::default() }
}

fn kept(seed: u64, explore: f64, count: u64) -> Feedback {
    let feedback = Feedback::new(seed, explore, None).unwrap();
    let plan = Plan::new(1, &Selection::default(), 5, 128);
    let candidate = |k: u64| Candidate {
        number: k,
        ir: generate(&plan, k, &settings()).unwrap().program.to_string(),
        features: [k, 100].into(),
        ..Candidate::default()
    };
    feedback.learn(&(0..count).map(candidate).collect::<Vec<_>>(), drop);
    feedback
}

#[test]
fn without_feedback_there_is_none() {
    assert!(Feedback::new(1, 1.0, None).is_none());
    // Nothing is kept yet: all programs are new.
    assert!(Feedback::new(1, 0.0, None).unwrap().mutant(3, &settings()).is_none());
}

#[test]
fn a_share_of_the_programs_are_mutants_that_have_a_meaning() {
    let texts = |seed: u64| -> Vec<Option<String>> {
        let feedback = kept(seed, 0.5, 4);
        let mutant = |k| {
            let made = feedback.mutant(k, &settings())?;
            assert!(evaluate(&made.program, &Options::new(128)).is_ok());
            assert!(made.origin.parent.is_some() && made.origin.mutator.is_some());
            Some(made.program.to_string())
        };
        (0..40).map(mutant).collect()
    };
    let (one, two) = (texts(7), texts(7));
    assert_eq!(one, two);
    let mutants = one.iter().flatten().count();
    assert!((10..=30).contains(&mutants), "{mutants} of 40");
    assert_ne!(texts(8), one);
    // Which they are follows from the seed and their numbers alone.
    let fresh = |count| -> Vec<bool> {
        let feedback = kept(7, 0.5, count);
        (0..40).map(|k| feedback.is_fresh(k)).collect()
    };
    assert_eq!(fresh(1), fresh(4));
}

#[test]
fn what_is_learned_is_told_to_who_stores_it() {
    let feedback = kept(1, 0.5, 3);
    assert_eq!(feedback.sizes(), (3, 4));
    let again = feedback.learn(&[], |rows| rows);
    assert!(again.is_empty());
    // What was chosen counts, and is stored with the next batch.
    let made = (0..20).find_map(|k| feedback.mutant(k, &settings())).unwrap();
    let candidate = Candidate { features: [100, 999].into(), ir: "rvv-ir 1".into(), ..made.origin };
    let rows = feedback.learn(&[candidate], |rows| rows);
    assert_eq!((rows.gone.len(), rows.seen), (0, vec![(100, 4), (999, 1)]));
    assert!(rows.entries.len() >= 2);
    let Rows { entries, .. } = rows;
    assert!(entries.iter().any(|(_, text)| text.contains("\"finds\":1")));
}

#[test]
fn with_a_target_only_what_has_to_do_with_it_counts() {
    let target = Target::parse("spill").unwrap();
    let feedback = Feedback::new(1, 0.5, Some(target)).unwrap();
    let features = |names: &[&str]| -> Features { names.iter().map(|n| n.parse().unwrap()).collect() };
    let spill = features(&["clang spill: spill of 2 registers ×1", "clang csr: write vxrm 2 ×1"]);
    let other = features(&["clang csr: write vxrm 2 ×1"]);
    let program = |number| Candidate { number, ir: "rvv-ir 1".into(), ..Candidate::default() };
    let (near, far) = (feedback.weigh(program(0), &spill), feedback.weigh(program(1), &other));
    assert_eq!((near.near, near.features.len()), (1.0, 1));
    assert_eq!((far.near, far.features.len()), (0.0, 0));
    feedback.learn(&[far, near], drop);
    // What has nothing to do with it is not kept.
    assert_eq!(feedback.sizes(), (1, 1));
}
