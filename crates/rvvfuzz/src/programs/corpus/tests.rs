//! The corpus by itself: what is kept, what goes, what is chosen.

use super::*;

fn candidate(number: u64, features: &[u64]) -> Candidate {
    Candidate {
        number,
        ir: format!("rvv-ir 1\n# {number}\n\nmain {{\n}}\n"),
        features: features.iter().copied().collect(),
        ..Candidate::default()
    }
}

fn limits(entries: usize) -> Limits {
    Limits { entries, ..Limits::default() }
}

/// Random bits, the same each time.
fn draws() -> impl Iterator<Item = u64> {
    let mut state = 7;
    std::iter::repeat_with(move || rvv_isa::random::next(&mut state))
}

#[test]
fn what_adds_a_feature_is_kept() {
    let mut corpus = Corpus::new(Limits::default());
    let first = corpus.add(candidate(1, &[10, 11, 12]));
    assert_eq!(first, Some(1));
    assert_eq!(corpus.add(candidate(2, &[10, 12])), None);
    assert_eq!(corpus.add(candidate(3, &[10, 13])), Some(2));
    assert_eq!(corpus.get(2).map(|e| (e.added, e.program.number)), Some((1, 3)));
    assert_eq!(corpus.seen().get(&10), Some(&3));
    assert_eq!((corpus.len(), corpus.seen().len()), (2, 4));
    // What has no features at all adds nothing.
    assert_eq!(corpus.add(candidate(4, &[])), None);
    let changes = corpus.take_changes();
    assert_eq!((changes.entries, changes.gone, changes.features.len()), (vec![1, 2], vec![], 4));
    assert_eq!(corpus.take_changes(), Changes::default());
}

#[test]
fn a_find_is_its_parents_too() {
    let mut corpus = Corpus::new(Limits::default());
    let parent = corpus.add(candidate(1, &[1]));
    let child = Candidate { parent, ..candidate(2, &[1, 2, 3]) };
    let before = corpus.energy(corpus.get(1).unwrap());
    corpus.choose(0);
    let tired = corpus.energy(corpus.get(1).unwrap());
    assert!(tired < before, "{tired} {before}");
    assert_eq!(corpus.add(child), Some(2));
    assert_eq!(corpus.get(1).map(|e| (e.chosen, e.finds, e.best)), Some((1, 1, 2)));
}

#[test]
fn what_others_cover_goes_first() {
    let mut corpus = Corpus::new(limits(3));
    corpus.add(candidate(1, &[1]));
    corpus.add(candidate(2, &[2]));
    // It has what the first two have, and more: they are not needed.
    corpus.add(candidate(3, &[1, 2, 3]));
    corpus.add(candidate(4, &[4, 1]));
    let left: Vec<u64> = corpus.entries().map(|e| e.program.number).collect();
    assert_eq!(left.len(), 3);
    assert!(left.contains(&3) && left.contains(&4), "{left:?}");
    corpus.add(candidate(5, &[5]));
    let left: Vec<u64> = corpus.entries().map(|e| e.program.number).collect();
    assert_eq!(left, [3, 4, 5]);
    // Every feature is still had by someone, though only three entries are.
    let all: std::collections::BTreeSet<u64> =
        corpus.entries().flat_map(|e| e.program.features.iter().copied()).collect();
    assert_eq!(all.len(), 5);
    // Nothing is redundant any more: what has the fewest of its own goes.
    corpus.add(candidate(6, &[6, 7, 8]));
    let left: Vec<u64> = corpus.entries().map(|e| e.program.number).collect();
    assert!(left.contains(&6) && left.contains(&3) && left.len() == 3, "{left:?}");
    assert!(!corpus.take_changes().gone.is_empty());
}

#[test]
fn bytes_and_features_are_bounded() {
    let mut corpus = Corpus::new(Limits { entries: 100, bytes: 1000, features: 50 });
    for n in 0..200 {
        corpus.add(candidate(n, &[n, n + 1000]));
        assert!(corpus.bytes() <= 1000 && corpus.seen().len() <= 50);
    }
    let held: usize = corpus.entries().map(|e| e.bytes()).sum();
    assert_eq!(held, corpus.bytes());
    assert!(corpus.len() > 5);
    assert_eq!(corpus.add(Candidate { ir: "x".repeat(LONGEST + 1), ..candidate(1, &[9999]) }), None);
    let many: Vec<u64> = (0..2 * MOST_FEATURES as u64).collect();
    let mut corpus = Corpus::new(Limits::default());
    corpus.add(candidate(1, &many));
    assert_eq!(corpus.get(1).map(|e| e.program.features.len()), Some(MOST_FEATURES));
}

#[test]
fn rare_features_fresh_entries_and_those_near_the_aim_are_chosen_more() {
    let mut corpus = Corpus::new(Limits::default());
    corpus.add(candidate(1, &[1]));
    corpus.add(candidate(2, &[2, 3, 4, 5]));
    // The first one's feature is nothing special.
    for n in 0..200 {
        corpus.add(candidate(10 + n, &[1]));
    }
    let count = |corpus: &Corpus, id: u64| {
        let mut corpus = corpus.clone();
        draws().take(2000).filter(|d| corpus.choose(*d).is_some_and(|e| e.id == id)).count()
    };
    let (common, rare) = (count(&corpus, 1), count(&corpus, 2));
    assert!(rare > 3 * common / 2 && common > 100, "{rare} {common}");
    let near = Candidate { near: 0.9, ..candidate(900, &[1]) };
    assert_eq!(corpus.add(near), Some(3));
    // No nearer than that: nothing new.
    assert_eq!(corpus.add(Candidate { near: 0.5, ..candidate(901, &[1]) }), None);
    let aimed = count(&corpus, 3);
    assert!(aimed > count(&corpus, 2), "{aimed}");
    // The nearest stays, whatever else comes.
    let mut small = Corpus::new(limits(4));
    small.add(Candidate { near: 0.3, ..candidate(0, &[1]) });
    for n in 1..50 {
        small.add(candidate(n, &[n * 10, n * 10 + 1, 1]));
    }
    assert!(small.get(1).is_some());
}

#[test]
fn draws_alone_decide() {
    let fill = || {
        let mut corpus = Corpus::new(limits(20));
        let mut chosen = Vec::new();
        for (n, draw) in draws().take(300).enumerate() {
            let features: Vec<u64> = (0..5).map(|i| draw >> (12 * i) & 0x1ff).collect();
            let parent = corpus.choose(draw).map(|e| e.id);
            chosen.push(parent);
            chosen.push(corpus.partner(parent.unwrap_or(0), draw).map(|e| e.id));
            corpus.add(Candidate { parent, ..candidate(n as u64, &features) });
        }
        (chosen, corpus.to_lines())
    };
    assert_eq!(fill(), fill());
    let (chosen, _) = fill();
    assert!(chosen.iter().flatten().collect::<std::collections::BTreeSet<_>>().len() > 20);
    // Nobody is spliced with itself.
    assert!(chosen.chunks(2).all(|pair| pair[0].is_none() || pair[0] != pair[1]));
}

#[test]
fn a_stored_corpus_goes_on_as_if_it_had_never_stopped() {
    let mut corpus = Corpus::new(limits(20));
    let mut all = draws();
    let mut step = |corpus: &mut Corpus, n: u64| {
        let draw = all.next().unwrap();
        let parent = corpus.choose(draw).map(|e| e.id);
        let features: Vec<u64> = (0..5).map(|i| draw >> (12 * i) & 0x1ff).collect();
        let touched = vec![Place(1, vec![n as usize, 2])];
        corpus.add(Candidate { parent, touched, mutator: Some("insert".into()), ..candidate(n, &features) });
    };
    (0..200).for_each(|n| step(&mut corpus, n));
    let mut again = Corpus::from_lines(limits(20), &corpus.to_lines()).unwrap();
    assert_eq!(again.to_lines(), corpus.to_lines());
    assert_eq!(again.bytes(), corpus.bytes());
    let draws: Vec<u64> = draws().take(50).collect();
    let chosen =
        |corpus: &mut Corpus| -> Vec<u64> { draws.iter().map(|d| corpus.choose(*d).unwrap().id).collect() };
    assert_eq!(chosen(&mut again), chosen(&mut corpus));
    assert_eq!(again.add(candidate(7, &[1 << 40])), corpus.add(candidate(7, &[1 << 40])));
    assert_eq!(Node::from(&Place(3, vec![1])), Node { function: 3, path: vec![1] });
}

use rvv_ir::Node;

/// Whatever is in a file, it is refused in words or bounded.
#[test]
fn a_corpus_of_anybody_is_bounded() {
    assert!(Corpus::from_lines(Limits::default(), "{\"entry\":{}}").unwrap_err().starts_with("line 1"));
    assert!(Corpus::from_lines(Limits::default(), "[[[[[").is_err());
    let entry = |id: u64, near: &str| {
        format!(
            "{{\"entry\":{{\"id\":{id},\"number\":1,\"ir\":\"rvv-ir 1\",\"features\":[1,2],\"parent\":null,\
             \"mutator\":null,\"touched\":[],\"near\":{near},\"added\":18446744073709551615,\
             \"chosen\":18446744073709551615,\"finds\":18446744073709551614,\"best\":0}}}}\n"
        )
    };
    let text: String =
        [entry(u64::MAX, "0.1"), entry(1 << 61, "1e300"), entry(3, "-5"), entry(3, "0.5")].concat();
    let mut corpus = Corpus::from_lines(limits(2), &text).unwrap();
    // One has a number that there is not, one has that of another.
    assert_eq!(corpus.len(), 2);
    assert!(corpus.entries().all(|e| (0.0..=1.0).contains(&e.program.near)));
    corpus.add(candidate(1, &[77]));
    corpus.add(Candidate { parent: Some(3), ..candidate(1, &[78]) });
    for draw in [0, 1, u64::MAX] {
        assert!(corpus.choose(draw).is_some());
    }
    assert!(corpus.len() <= 2);
}
