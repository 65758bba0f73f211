//! Campaigns with a corpus, with the clang of the host.

use rvv_tools::find::on_path;
use rvvfuzz::programs::corpus::Limits;
use rvvfuzz::programs::store::Store;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const COUNT: u64 = 40;

fn rvvfuzz(folder: &Path, store: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["run", "--compilers", "clang-19", "--qemu", "none", "--levels=-O1", "--flags", "none"]);
    command.args(["--batch", "8", "--ops", "1-6", "--inputs", "0", "--jobs", "1", "--no-reduce"]);
    command.args(["--explore", "0.4", "--store", store]).args(more);
    command
}

fn finish(folder: &Path, store: &str, more: &[&str]) {
    let count = COUNT.to_string();
    let output = rvvfuzz(folder, store, more).args(["--resume", "--count", &count]).output().unwrap();
    // Clang may be wrong: then there are verdicts.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|c| c < 2), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("are kept for mutation"));
}

fn done(path: &Path) -> u64 {
    Store::read(path).and_then(|s| s.done()).map_or(0, |d| d.values().sum())
}

/// All there is to a campaign: outcomes, the text of mutants, the corpus.
fn contents(path: &Path) -> (String, Vec<(u64, String)>, Vec<Option<String>>) {
    let store = Store::read(path).unwrap();
    let outcomes = store.all_outcomes().unwrap();
    let texts = outcomes.iter().map(|(n, _)| store.program(*n).unwrap()).collect();
    (store.corpus(Limits::default()).unwrap().to_lines(), outcomes, texts)
}

#[test]
fn a_campaign_that_is_killed_goes_on_with_its_corpus() {
    if on_path("clang-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    finish(folder, "whole.db", &[]);
    let whole = contents(&folder.join("whole.db"));
    let mutants = whole.2.iter().flatten().count();
    assert!(mutants > 5, "{mutants} mutants");
    assert!(whole.0.contains("\"mutator\":\""), "no mutant was kept");

    let path = folder.join("killed.db");
    for after in [1, 17, 25] {
        let mut child = rvvfuzz(folder, "killed.db", &["--resume", "--count", "40"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while done(&path) < after && begin.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    finish(folder, "killed.db", &[]);
    assert!(contents(&path) == whole);
}

#[test]
fn a_campaign_with_a_target_keeps_what_has_to_do_with_it() {
    if on_path("clang-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    finish(folder, "aimed.db", &["--target", "spill"]);
    let aimed = Store::read(folder.join("aimed.db").as_path()).unwrap().corpus(Limits::default()).unwrap();
    finish(folder, "any.db", &[]);
    let any = Store::read(folder.join("any.db").as_path()).unwrap().corpus(Limits::default()).unwrap();
    assert!(!aimed.is_empty() && aimed.seen().len() < any.seen().len() / 4);
    assert!(aimed.entries().all(|e| e.program.near > 0.0));
    // Nothing to aim with, and nothing to aim at.
    for (more, why) in [
        (["--target", "spill", "--explore", "1"], "there are none"),
        (["--target", "***", "--explore", "0.5"], "vsetvli insertion"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
        let output = command.current_dir(folder).args(["run", "--builtin"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(why), "{said}");
    }
}
