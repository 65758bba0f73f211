//! The corpus that comes with the fuzzer: every instruction, with what each stream ends in.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvvfuzz::streams::corpus::load;
use rvvfuzz::streams::coverage::Watch;
use rvvfuzz::streams::inprocess::Lab;
use rvvfuzz::streams::replay::replay;
use rvvfuzz::streams::text::{parse, print};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

#[test]
fn it_reaches_every_instruction_and_ends_as_recorded_under_every_policy() {
    let entries = load(&folder()).expect("the corpus is well-formed");
    for entry in &entries {
        assert_eq!(entry.expected.len(), 6, "{}", entry.name);
    }
    let nobody = tempfile::tempdir().expect("a temporary folder");
    let replayed = replay(&entries, &[], &[], nobody.path()).expect("nobody is asked");
    assert_eq!(replayed.wrong, Vec::<String>::new());
    assert_eq!(replayed.streams, entries.len());
    assert_eq!(replayed.coverage.counts.missing(), vec![]);
}

#[test]
fn it_is_at_most_two_megabytes() {
    let files = std::fs::read_dir(folder()).expect("the corpus");
    let bytes: u64 = files.map(|f| f.and_then(|f| f.metadata()).expect("a file").len()).sum();
    assert!(bytes <= 2_000_000, "{bytes}");
}

#[test]
fn what_is_printed_is_read_again() {
    for entry in load(&folder()).expect("the corpus is well-formed") {
        let text = print(&entry);
        assert_eq!(parse(&text).expect("it was printed"), [entry]);
    }
}

/// Files edited by hand: lines lost, doubled, cut, letters changed. Nothing panics, and nothing runs for
/// ever.
#[test]
fn edited_files_are_refused_or_run_to_an_end() {
    let text: String = load(&folder()).expect("the corpus").iter().take(40).map(print).collect();
    let lines: Vec<&str> = text.lines().collect();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut lab = Lab::new(128);
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..600 {
        let from = rng.random_range(0..lines.len() - 60);
        let mut edited = vec!["stream edited".to_owned()];
        for line in &lines[from..from + 60] {
            let mut line = (*line).to_owned();
            match rng.random_range(0..40) {
                0 => continue,
                1 => edited.push(line.clone()),
                2 => line.truncate(rng.random_range(0..=line.len())),
                3 if !line.is_empty() => {
                    let at = rng.random_range(0..line.len());
                    let letter = ["0", "f", "*", "9", " ", "-", "#", "x"][rng.random_range(0..8)];
                    line.replace_range(at..at + 1, letter);
                }
                _ => {}
            }
            edited.push(line);
        }
        match parse(&edited.join("\n")) {
            Err(e) => {
                assert!(e.line <= edited.len() && !e.why.is_empty());
                refused += 1;
            }
            Ok(entries) => {
                for entry in entries.iter().filter(|e| e.stream.vlen == 128) {
                    // It may be anything but a panic.
                    let _ = lab.run(&entry.stream, 0, &mut Watch::default());
                    ran += 1;
                }
            }
        }
    }
    assert!(refused > 50 && ran > 50, "{refused} refused, {ran} ran");
}
