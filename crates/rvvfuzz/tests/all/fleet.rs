//! Campaigns that many workers share: real processes, killed at random, on a file and on a real server.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvvfuzz::programs::store::{Place, Store};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What must never be seen anywhere.
pub const PASSWORD: &str = "open-sesame";

pub fn rvvfuzz(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn said(output: &Output) -> String {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains(PASSWORD), "a password is shown: {text}");
    text
}

pub fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = rvvfuzz(folder, args).output().unwrap();
    (output.status.code().unwrap_or(-1), said(&output))
}

pub fn place(folder: &Path, store: &str) -> Place {
    let place: Place = store.parse().unwrap();
    place.file().map_or(place.clone(), |path| Place::from(&folder.join(path)))
}

/// What testbeds said of a program.
type Details = Vec<(usize, String)>;

/// All that a campaign says: outcomes and what there is to say of them, calls made, verdicts.
#[derive(Debug, PartialEq)]
struct All {
    outcomes: Vec<(u64, String, Details)>,
    calls: Vec<(String, bool)>,
    checks: u64,
    verdicts: Vec<String>,
}

/// A text without the addresses of a process in it.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or("").to_string();
    parts.fold(first, |all, part| all + "0x" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

fn all(folder: &Path, store: &str) -> All {
    let store = Store::read(place(folder, store)).unwrap();
    let outcomes = store.all_outcomes().unwrap().into_iter();
    let mut calls: Vec<(String, bool)> =
        store.coverage().unwrap().into_iter().map(|(name, overloaded, _)| (name, overloaded)).collect();
    calls.sort();
    let said = |v: rvvfuzz::programs::store::query::StoredVerdict| {
        let detail = without_addresses(&v.detail);
        format!(
            "{} {} {} {:?} {} {:?} {detail}",
            v.program, v.culprit, v.symptom, v.testbeds, v.axes, v.fault
        )
    };
    let mut verdicts: Vec<String> = store.verdicts().unwrap().into_iter().map(said).collect();
    verdicts.sort();
    let details = |n: u64| -> Details {
        store.details(n).unwrap().into_iter().map(|(t, detail)| (t, without_addresses(&detail))).collect()
    };
    All {
        outcomes: outcomes.map(|(n, letters)| (n, letters, details(n))).collect(),
        calls,
        checks: store.batches().unwrap().iter().map(|b| b.checks).sum(),
        verdicts,
    }
}

/// The programs `0..count`, each in one batch.
pub fn assert_each_once(folder: &Path, store: &str, count: u64) {
    let done = Store::read(place(folder, store)).unwrap().done().unwrap();
    let mut next = 0;
    for (first, count) in done {
        assert_eq!(first, next, "a program is missing or there twice");
        next += count;
    }
    assert_eq!(next, count);
}

fn work<'a>(store: &'a str, count: &'a str) -> Vec<&'a str> {
    let args = "work --builtin --batch 12 --jobs 1 --lease 3s --vlen 128";
    args.split(' ').chain(["--store", store, "--count", count]).collect()
}

/// Six workers, three of which are killed at random moments, so often; `now_and_then` is called twice.
fn killed(folder: &Path, store: &str, kills: u64, mut now_and_then: impl FnMut()) {
    let count = (60 * kills).max(600).to_string();
    let alone =
        ["run", "--builtin", "--batch", "12", "--vlen", "128", "--store", "alone.db", "--count", &count];
    let (code, text) = run(folder, &alone);
    assert_eq!(code, 0, "{text}");
    let args = work(store, &count);
    let spawn = || -> Child {
        let log = std::fs::File::options().append(true).create(true).open(folder.join("log")).unwrap();
        rvvfuzz(folder, &args).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    };
    let mut workers: Vec<Child> = (0..6).map(|_| spawn()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(kills);
    let mut at_work = 0;
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(rng.random_range(50..700)));
        let victim = &mut workers[rng.random_range(0..3)];
        at_work += u64::from(victim.try_wait().unwrap().is_none());
        let _ = victim.kill();
        let _ = victim.wait();
        *victim = spawn();
        if kill == kills / 3 || kill == 2 * kills / 3 {
            now_and_then();
        }
    }
    println!("{at_work} of {kills} workers were at work when they were killed");
    let patience = Instant::now() + Duration::from_secs(300);
    for worker in &mut workers {
        while worker.try_wait().unwrap().is_none() {
            assert!(Instant::now() < patience, "a worker does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = || String::from_utf8_lossy(&std::fs::read(folder.join("log")).unwrap()).into_owned();
        assert!(worker.wait().unwrap().success() && !log().contains(PASSWORD), "{}", log());
    }
    assert_each_once(folder, store, count.parse().unwrap());
    assert!(all(folder, store) == all(folder, "alone.db"), "it is not what one process found");
}

/// Kills in a test; by hand, more: `RVVFUZZ_KILLS=100 cargo test -p rvvfuzz --features postgres fleet`.
fn kills() -> u64 {
    std::env::var("RVVFUZZ_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8)
}

#[test]
fn workers_of_a_file_may_die() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path(), "shared.db", kills(), || {});
    // What one worker can go on with, a campaign of one process can, too.
    let resume = "run --store shared.db --resume --count 620".split(' ').collect::<Vec<_>>();
    let (code, text) = run(folder.path(), &resume);
    assert_eq!(code, 0, "{text}");
    assert_each_once(folder.path(), "shared.db", 620.max(60 * kills()));
}

#[test]
fn a_campaign_is_shared_by_those_who_mean_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = run(folder.path(), &work("c.db", "24"));
    assert_eq!(code, 0, "{text}");
    // Another seed is another campaign.
    let other = [&work("c.db", "48")[..], &["--seed", "2"]].concat();
    let (code, text) = run(folder.path(), &other);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("`seed` is 1 there and 2 here"), "{text}");
    // Whoever comes later needs to say nothing.
    let (code, text) = run(folder.path(), &["work", "--store", "c.db", "--count", "36"]);
    assert_eq!(code, 0, "{text}");
    assert_each_once(folder.path(), "c.db", 36);
    let (mut store, _) = Store::resume(&folder.path().join("c.db")).unwrap();
    store.save_meta("version", "0.0.9").unwrap();
    drop(store);
    let (code, text) = run(folder.path(), &["work", "--store", "c.db", "--count", "48"]);
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("begun by rvvfuzz 0.0.9") && text.contains("only workers of that version"),
        "{text}"
    );
    // It may reduce: what is found is in the store. There is nothing to reduce, and the campaign is over.
    let (code, text) = run(folder.path(), &["work", "--store", "c.db", "--reduce-only", "--time", "1m"]);
    assert_eq!(code, 0, "{text}");
    assert_each_once(folder.path(), "c.db", 36);
}

/// A folder with a compiler of this name in it, which is a clang; `None` where there is none.
fn compiler(folder: &Path, name: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &&&str| std::env::split_paths(&path).any(|p| p.join(name).exists());
    let version = ["22", "21", "19"].iter().find(|v| has(&&&*format!("clang-{v}")))?;
    let place = folder.join(format!("bin-{name}"));
    std::fs::create_dir_all(&place).unwrap();
    let text = format!(
        "#!/bin/sh\nexec clang-{version} --target=riscv64-linux-gnu -menable-experimental-extensions -mabi=lp64d -ffreestanding \
         -nostdlib -static -w -fuse-ld=lld-{version} \"$@\"\n"
    );
    std::fs::write(place.join(name), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.join(name), mode).unwrap();
    Some(place.display().to_string())
}

#[test]
fn machines_with_different_compilers_share_a_campaign() {
    let folder = tempfile::tempdir().unwrap();
    let Some((one, two)) = compiler(folder.path(), "ccone").zip(compiler(folder.path(), "cctwo")) else {
        println!(
            "machines_with_different_compilers_share_a_campaign: skipped, no clang 19 or later (tools/setup)"
        );
        return;
    };
    let of = |name: &str| {
        let line = format!("{name} {{flags}} -march={{march}} -o {{elf}} {{c}}");
        format!("[[compiler]]\nname = \"{name}\"\nversion = \"1\"\ncommand = \"{line}\"\n")
    };
    let text = format!("levels = [\"-O1\"]\nvlens = [128]\n{}{}", of("ccone"), of("cctwo"));
    std::fs::write(folder.path().join("t.toml"), text).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let with = |bins: &[&str], args: &[&str]| {
        let path = bins.iter().copied().chain([path.as_str()]).collect::<Vec<_>>().join(":");
        let output = rvvfuzz(folder.path(), args).env("PATH", path).output().unwrap();
        (output.status.code().unwrap_or(-1), said(&output))
    };
    // Of one extension: clang 19 takes some functions for others where there are many.
    let options = "--testbeds t.toml --qemu none --batch 8 --ops 1-8 --known-triggers 1 --extension v";
    let options: Vec<&str> = options.split(' ').collect();
    let both = [one.as_str(), two.as_str()];
    let run = [&["run", "--no-reduce", "--store", "alone.db", "--count", "24"], &options[..]].concat();
    let (code, text) = with(&both, &run);
    assert!((0..=1).contains(&code), "{text}");
    let begin = [&["work", "--no-reduce", "--store", "c.db", "--count", "8"], &options[..]].concat();
    let (code, text) = with(&both, &begin);
    assert!((0..=1).contains(&code), "{text}");
    // One machine leaves to the other what it cannot build.
    let (code, text) = with(&[&one], &["work", "--no-reduce", "--store", "c.db", "--count", "24"]);
    assert!((0..=1).contains(&code) && text.contains("`cctwo` is left to other machines"), "{text}");
    assert_each_once(folder.path(), "c.db", 24);
    let outcomes = |store: &str| {
        all(folder.path(), store).outcomes.into_iter().map(|(n, o, _)| (n, o)).collect::<Vec<_>>()
    };
    assert_ne!(outcomes("c.db"), outcomes("alone.db"));
    let (code, text) = with(&[], &["work", "--store", "c.db"]);
    assert!(code == 2 && text.contains("none of the campaign's compilers"), "{text}");
    let (code, text) = with(&[&two], &["work", "--no-reduce", "--store", "c.db"]);
    assert!((0..=1).contains(&code), "{text}");
    assert_eq!(outcomes("c.db"), outcomes("alone.db"));
    assert_each_once(folder.path(), "c.db", 24);
    let verdicts = |store: &str| {
        let stored = Store::read(place(folder.path(), store)).unwrap().verdicts().unwrap();
        let mut found: Vec<_> = stored.into_iter().map(|v| (v.program, v.culprit, v.symptom)).collect();
        found.sort();
        found
    };
    assert_eq!(verdicts("c.db"), verdicts("alone.db"));
}

#[test]
fn addresses_are_refused_without_their_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("postgres://me:{PASSWORD}@127.0.0.1:1/rvv");
    for command in ["show", "report", "work", "run"] {
        let (code, text) = run(folder.path(), &[command, "--store", &store]);
        assert_eq!(code, 2, "{command}: {text}");
        let says = match (command, cfg!(feature = "postgres")) {
            ("run", _) => "rvvfuzz work --store postgres://me:***@127.0.0.1:1/rvv",
            (_, true) => "no connection to postgres://me:***@127.0.0.1:1/rvv",
            (_, false) => "--features postgres",
        };
        assert!(text.contains(says), "{command}: {text}");
    }
}

#[cfg(feature = "postgres")]
mod server {
    use super::*;
    use crate::server::Server;

    #[test]
    fn workers_and_the_server_may_die() {
        let Some(server) = Server::start("workers_and_the_server_may_die") else { return };
        let store = server.database("killed");
        let folder = tempfile::tempdir().unwrap();
        killed(folder.path(), &store, kills(), || assert!(server.control("restart"), "pg_ctl restart"));
    }

    #[test]
    fn a_database_says_what_a_file_says() {
        let Some(server) = Server::start("a_database_says_what_a_file_says") else { return };
        let store = server.database("twin");
        let folder = tempfile::tempdir().unwrap();
        let has = |name: &str| {
            std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
                .any(|p| p.join(name).exists())
        };
        let compilers = ["clang-22", "clang-19"].into_iter().find(|c| has(c)).unwrap_or("none");
        let testbeds = ["--compilers", compilers, "--qemu", "none", "--vlen", "128", "--levels", "-O2"];
        let programs =
            ["--count", "48", "--batch", "24", "--known-triggers", "1", "--no-reduce", "--ops", "1-30"];
        let options = [&testbeds[..], &programs].concat();
        let (code, text) = run(folder.path(), &[&["run", "--store", "c.db"], &options[..]].concat());
        assert!((0..=1).contains(&code), "{text}");
        let (again, text) = run(folder.path(), &[&["work", "--store", &store], &options[..]].concat());
        assert_eq!(again, code, "{text}");
        let (ours, theirs) = (all(folder.path(), "c.db"), all(folder.path(), &store));
        assert_eq!(ours.verdicts, theirs.verdicts);
        assert!(ours == theirs, "the outcomes differ");
        println!("with compilers {compilers}: {} verdicts", ours.verdicts.len());
        // Everything else that reads a store reads this one, and shows no password.
        for args in [&["show"][..], &["report", "--html", "p.html", "--json", "p.json"]] {
            let (found, text) = run(folder.path(), &[args, &["--store", &store]].concat());
            assert_eq!(found, code, "{text}");
        }
        for file in ["p.html", "p.json"] {
            assert!(!std::fs::read_to_string(folder.path().join(file)).unwrap().contains(PASSWORD));
        }
        // A store moves to a server and back.
        let moved = server.database("moved");
        for (into, from) in [(moved.as_str(), "c.db"), ("back.db", moved.as_str()), (&store, "back.db")] {
            let (done, text) = run(folder.path(), &["merge", into, from]);
            assert_eq!(done, 0, "{text}");
            assert!(all(folder.path(), into) == ours, "{text}");
        }
        // A password that is wrong, a database that is not there, a campaign that is there already.
        let wrong = store.replace(PASSWORD, "other");
        for (store, says) in
            [(wrong, "password authentication failed"), (store.replace("/twin", "/none"), "does not exist")]
        {
            let (code, text) = run(folder.path(), &["show", "--store", &store]);
            assert!(code == 2 && text.contains(says), "{code} {text}");
        }
        let settings = Store::read(place(folder.path(), &store)).unwrap().settings().unwrap();
        let error = Store::create(place(folder.path(), &store), &settings, &[]).err().unwrap();
        assert!(error.to_string().contains("holds a campaign of"), "{error}");
    }
}
