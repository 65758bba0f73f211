//! The command: what it prints, writes and returns.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn rvvfuzz(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rvvfuzz")).args(args).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check_folder(out: &Path) {
    let json = std::fs::read_to_string(out.join("coverage.json")).expect("coverage.json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["table"].as_array().map(Vec::len), Some(rvv_isa::Isa::default().ops().count()));
    // Each mutator: what adds coverage is valid, what is valid was tried; and some of each there was.
    let mutators = json["mutators"].as_object().expect("mutators");
    let count = |of: &serde_json::Value, what: &str| of[what].as_u64().expect("a count");
    for (name, of) in mutators {
        let (tried, valid, new) = (count(of, "tried"), count(of, "valid"), count(of, "new"));
        assert!(tried >= valid && valid >= new, "{name}: {of}");
    }
    assert!(mutators.values().filter(|of| count(of, "new") > 0).count() > 2, "{mutators:?}");
    let html = std::fs::read_to_string(out.join("coverage.html")).expect("coverage.html");
    assert!(html.contains("<table>") && html.contains("vadd.vv") && !html.contains("http"));
    assert!(std::fs::read_to_string(out.join("coverage.txt")).expect("coverage.txt").contains("vadd.vv"));
}

#[test]
fn a_campaign_alone_and_a_replay_of_what_it_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let path = out.to_string_lossy().into_owned();
    let run = rvvfuzz(&["isa", "--alone", "--count", "300", "--seed", "3", "--pack", "32", "--out", &path]);
    assert_eq!(run.status.code(), Some(0), "{}{}", text(&run.stdout), text(&run.stderr));
    assert!(text(&run.stdout).contains("no disagreement"));
    check_folder(&out);
    let corpus = out.join("corpus").to_string_lossy().into_owned();
    let small = folder.path().join("small").to_string_lossy().into_owned();
    let run = rvvfuzz(&["isa", "distill", &corpus, &small, "--bytes", "100000"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let run = rvvfuzz(&["isa", "replay", &small, "--alone"]);
    assert_eq!(run.status.code(), Some(0), "{}{}", text(&run.stdout), text(&run.stderr));
    assert!(text(&run.stdout).contains(" 0 wrong"));
}

#[test]
fn one_worker_and_a_count_are_the_same_each_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let corpus = |name: &str| {
        let out = folder.path().join(name);
        let path = out.to_string_lossy().into_owned();
        let args = [
            "isa", "--alone", "--count", "60", "--jobs", "1", "--pack", "20", "--vlen", "128", "--out", &path,
        ];
        assert_eq!(rvvfuzz(&args).status.code(), Some(0));
        std::fs::read_to_string(out.join("corpus/vlen128.streams")).expect("a corpus")
    };
    assert_eq!(corpus("a"), corpus("b"));
}

#[test]
fn an_interrupt_ends_it_with_everything_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_string_lossy().into_owned();
    let child = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"))
        .args(["isa", "--alone", "--time", "10m", "--pack", "16", "--jobs", "1", "--out", &path])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let begin = Instant::now();
    std::thread::sleep(Duration::from_secs(4));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let run = child.wait_with_output().expect("it ends");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
    assert!(begin.elapsed() < Duration::from_secs(120));
    check_folder(folder.path());
    let corpus = folder.path().join("corpus").to_string_lossy().into_owned();
    let run = rvvfuzz(&["isa", "replay", &corpus, "--alone"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
}

#[test]
fn what_cannot_be_done_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_string_lossy().into_owned();
    let broken = folder.path().join("broken.streams");
    std::fs::write(&broken, "stream a\nstep *zz\n").expect("writable");
    let broken = broken.to_string_lossy().into_owned();
    let good = folder.path().join("good.streams");
    std::fs::write(&good, "stream good\nvlen 128\nseed 0x1\nstep *00000013\n").expect("writable");
    let good = good.to_string_lossy().into_owned();
    // As much as is asked for, and all of it wrong.
    let size = 8 * rvvfuzz::streams::dump::Places::new(128).words();
    let zeros = folder.path().join("zeros");
    std::fs::write(&zeros, format!("#!/bin/sh\nhead -c {size} /dev/zero\n")).expect("writable");
    std::fs::set_permissions(&zeros, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    let zeros = format!("{} {{elf}}", zeros.display());
    for (args, expected) in [
        (vec!["isa", "replay", "/no/such/folder"], "No such file"),
        (vec!["isa", "replay", &broken], "line 2: `zz` is no instruction"),
        (
            vec!["isa", "--spike", "/no/such/spike", "--out", &path],
            "spike does not work: VLEN 128: cannot run /no/such",
        ),
        (vec!["isa", "--qemu", "/bin/false", "--spike", "/bin/false", "--out", &path], "qemu does not work"),
        (vec!["isa", "--qemu", "/bin/true", "--count", "1", "--out", &path], "it wrote 0 bytes"),
        (vec!["isa", "replay", &good, "--on", "true {elf}"], "command does not work: VLEN 128"),
        (vec!["isa", "replay", &good, "--on", "/no/such {elf}"], "cannot run /no/such"),
        (vec!["isa", "replay", &good, "--on", &zeros], "does it have this VLEN?"),
        (vec!["isa", "replay", &good, "--on", "true"], "{elf} in it"),
        (
            vec!["isa", "replay", &good, "--on", "true {elf}", "--as", "quemu"],
            "[possible values: command, qemu, spike]",
        ),
        (vec!["isa", "replay", &good, "--spike", "/bin/false"], "spike does not work"),
        (vec!["isa", "--alone", "--count", "1", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (vec!["isa", "replay", &broken, "--on", "true"], "line 2"),
    ] {
        let run = rvvfuzz(&args);
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    for args in [vec!["isa", "--wild", "7"], vec!["isa", "--vlen", "100"], vec!["isa", "--time", "soon"]] {
        assert_eq!(rvvfuzz(&args).status.code(), Some(2), "{args:?}");
    }
    let help = text(&rvvfuzz(&["isa", "--help"]).stdout);
    assert!(help.contains("replay") && help.contains("--wild") && help.contains("Examples"));
}
