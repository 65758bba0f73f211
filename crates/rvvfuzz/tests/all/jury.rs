//! What the jury does with peers that lie, fail, hang, or choose what the manual leaves open.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rvvfuzz::streams::compare::Choice;
use rvvfuzz::streams::coverage::Watch;
use rvvfuzz::streams::dump::Places;
use rvvfuzz::streams::generate::{Chooser, Options, stream};
use rvvfuzz::streams::inprocess::{Lab, Ran};
use rvvfuzz::streams::jury::{JuryError, Verdict, judge};
use rvvfuzz::streams::peers::{Kind, Peer, ask_here};
use rvvfuzz::streams::report::report;
use rvvfuzz::streams::runtime::Environment;
use rvvfuzz::streams::stream::Stream;
use rvvsim::config::Agnostic;
use std::path::Path;
use std::time::{Duration, Instant};

fn peer(words: &[&str], choice: Choice) -> Peer {
    Peer {
        name: "command".into(),
        traps_on_vstart: false,
        kind: Kind::Command(words.iter().map(|w| (*w).to_owned()).collect()),
        choice,
        limit: Duration::from_secs(1),
    }
}

/// A stream that ends with agnostic elements in its vector registers, its lab, and its dumps as a process.
fn open_stream() -> (Lab, Stream, Ran, [Vec<u64>; 2]) {
    let mut lab = Lab::new(128);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    loop {
        let (options, chooser) = (Options { wild: 0.0, ..Options::default() }, Chooser::default());
        let made = stream(&mut lab, &mut rng, &options, &chooser, &mut Watch::default());
        let Ok((stream, ran)) = made else { continue };
        let ask = |policy| ask_here(&[&stream], Environment::Linux, policy).expect("it ends").remove(0);
        let (kept, ones) = (ask(Agnostic::Undisturbed), ask(Agnostic::Ones));
        if kept != ones {
            return (lab, stream, ran, [kept, ones]);
        }
    }
}

/// A peer that says what is in a file.
fn parrot(folder: &Path, dump: &[u64], choice: Choice) -> Peer {
    let file = folder.join("dump");
    let bytes: Vec<u8> = dump.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&file, bytes).expect("a temporary folder is writable");
    peer(&["cat", &file.to_string_lossy()], choice)
}

#[test]
fn one_wrong_bit_anywhere_is_seen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut lab, stream, _, [kept, _]) = open_stream();
    let agreeing = parrot(folder.path(), &kept, Choice::Any);
    assert!(judge(&mut lab, &agreeing, &stream, 0, folder.path()).expect("an answer").agrees());
    let places = Places::new(128);
    for (name, range) in places.parts() {
        let mut wrong = kept.clone();
        wrong[range.start] ^= 1 << 17;
        let lying = parrot(folder.path(), &wrong, Choice::Kept);
        match judge(&mut lab, &lying, &stream, 0, folder.path()).expect("an answer") {
            Verdict::Differs(differences) => {
                assert_eq!(differences.len(), 1, "{name}");
                assert_eq!(differences[0].at, range.start);
            }
            other => panic!("{name}: {other:?}"),
        }
        let text = report(&mut lab, &[lying], "liar", &stream, 0, folder.path()).expect("a report");
        assert!(text.contains(&places.name(range.start)), "{text}");
        assert!(text.contains("command and rvvsim disagree"), "{text}");
    }
}

#[test]
fn what_the_manual_leaves_open_is_a_peers_choice_unless_it_is_known() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut lab, stream, ran, [kept, ones]) = open_stream();
    let mut verdict = |dump: &[u64], choice| {
        let peer = parrot(folder.path(), dump, choice);
        judge(&mut lab, &peer, &stream, 0, folder.path()).expect("an answer").agrees()
    };
    assert!(verdict(&ones, Choice::Any));
    assert!(!verdict(&ones, Choice::Kept));
    // Neither kept nor ones.
    let at = (0..kept.len()).find(|&i| kept[i] != ones[i]).expect("they differ");
    let fixed = !(ran.kept[at] ^ ran.ones[at]);
    if fixed != 0 {
        let mut wrong = kept.clone();
        wrong[at] ^= 1 << fixed.trailing_zeros();
        assert!(!verdict(&wrong, Choice::Any));
    }
}

#[test]
fn peers_that_fail_hang_or_say_something_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut lab, stream, ..) = open_stream();
    let begin = Instant::now();
    for words in [vec!["false"], vec!["sleep", "60"], vec!["echo", "hello"], vec!["sh", "-c", "kill -9 $$"]] {
        let verdict = judge(&mut lab, &peer(&words, Choice::Any), &stream, 0, folder.path());
        match verdict.expect("an answer of some kind") {
            Verdict::Died(why) => assert!(!why.is_empty()),
            other => panic!("{words:?}: {other:?}"),
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(20));
    let missing = judge(&mut lab, &peer(&["/no/such/emulator"], Choice::Any), &stream, 0, folder.path());
    match missing {
        Err(JuryError::Ask(e)) => assert!(e.to_string().contains("/no/such/emulator")),
        other => panic!("{other:?}"),
    }
}
