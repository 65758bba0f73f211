//! Campaigns as their users see them: the real binary, killed, stopped, and given nonsense.

use rvvfuzz::programs::store::Store;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn rvvfuzz(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    rvvfuzz(args).current_dir(folder).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const COUNT: u64 = 180;

fn arguments(store: &str, resume: bool) -> Vec<String> {
    let mut args: Vec<String> =
        ["run", "--builtin", "--count", "180", "--batch", "12", "--jobs", "2", "--store", store]
            .map(String::from)
            .to_vec();
    if resume {
        args.push("--resume".to_string());
    }
    args
}

fn start(folder: &Path, store: &str) -> Child {
    let args = arguments(store, true);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    rvvfuzz(&args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finish(folder: &Path, store: &str, resume: bool) {
    let args = arguments(store, resume);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = run(folder, &args);
    assert_eq!(code(&output), 0, "{}", said(&output));
}

fn done(path: &Path) -> u64 {
    Store::read(path).and_then(|s| s.done()).map_or(0, |d| d.values().sum())
}

type Outcomes = Vec<(u64, String, Vec<(usize, String)>)>;

fn outcomes(path: &Path) -> Outcomes {
    let store = Store::read(path).unwrap();
    let all = store.all_outcomes().unwrap().into_iter();
    all.map(|(n, letters)| (n, letters, store.details(n).unwrap())).collect()
}

/// Batches are stored whole: each is one that a campaign of this size has.
fn assert_whole_batches(path: &Path) {
    let Ok(done) = Store::read(path).and_then(|s| s.done()) else { return };
    for (first, count) in done {
        let whole = rvvfuzz::programs::sampling::batch(first, 12);
        assert_eq!((first, (first + count).min(COUNT)), (whole.start, whole.end.min(COUNT)));
    }
}

/// A campaign killed again and again is compared with one that was left in peace.
#[test]
fn a_campaign_killed_20_times_ends_the_same() {
    let folder = tempfile::tempdir().unwrap();
    finish(folder.path(), "whole.db", false);
    let whole = outcomes(&folder.path().join("whole.db"));
    // Each program in one schedule at least, a few in all three; some set-ups of each.
    let programs: std::collections::BTreeSet<u64> = whole.iter().map(|(n, ..)| n / 3).collect();
    assert!(programs.into_iter().eq(0..COUNT) && (COUNT as usize..2 * COUNT as usize).contains(&whole.len()));
    assert!(whole.iter().all(|(_, letters, _)| (1..=6).contains(&letters.matches('.').count())));
    let path = folder.path().join("killed.db");
    let mut unfinished = 0;
    for n in 0..20 {
        let mut child = start(folder.path(), "killed.db");
        // From before the store is there to well into the campaign; no two the same.
        let random =
            u64::from(std::process::id()).wrapping_mul(n * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        std::thread::sleep(Duration::from_millis(random % (80 * (n % 8 + 1))));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_whole_batches(&path);
        unfinished += u64::from(done(&path) < COUNT);
    }
    assert!(unfinished > 0, "it was always too late");
    finish(folder.path(), "killed.db", true);
    assert!(outcomes(&path) == whole);
}

#[test]
fn ctrl_c_saves_and_resume_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let mut child = start(folder.path(), "c.db");
    let begin = std::time::Instant::now();
    while done(&path) == 0 && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(done(&path) > 0);
    assert_whole_batches(&path);
    assert!(!folder.path().join("c.db-wal").exists(), "one file");
    finish(folder.path(), "c.db", true);
    assert_eq!(done(&path), COUNT);
    // More programs of the same campaign, but no other campaign.
    let output = run(folder.path(), &["run", "--store", "c.db", "--resume", "--count", "190"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert_eq!(done(&path), 190);
    let output = run(folder.path(), &["run", "--store", "c.db", "--resume", "--seed", "2", "--count", "1"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("`seed` is 1 there and 2 here"), "{}", said(&output));
    let output = run(folder.path(), &["run", "--store", "c.db", "--builtin", "--count", "1"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("--resume goes on"), "{}", said(&output));
}

#[test]
fn a_store_that_cannot_be_used_is_said_plainly() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["no/such/folder/c.db", "."] {
        let output = run(folder.path(), &["run", "--builtin", "--count", "1", "--store", path]);
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains("cannot open the store"), "{}", said(&output));
    }
    for command in ["show", "report"] {
        let output = run(folder.path(), &[command, "--store", "nothing.db"]);
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains("there is no such file"), "{}", said(&output));
    }
    std::fs::write(folder.path().join("t.db"), "this is no database but some text of mine").unwrap();
    for command in ["run", "show", "report"] {
        let output = run(folder.path(), &[command, "--store", "t.db"]);
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains("not a campaign"), "{}", said(&output));
    }
}

/// An executable script.
fn script(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// It ends with 2, says all of this, and leaves no store.
fn refused(folder: &Path, args: &[&str], says: &[&str]) {
    let output = run(folder, args);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{args:?}: {text}");
    says.iter().for_each(|words| assert!(text.contains(words), "{args:?}: no `{words}` in {text}"));
    assert!(!text.contains("is wrong.") && !text.contains("panicked"), "{args:?}: {text}");
    assert!(!folder.join("campaign.db").exists(), "{args:?}");
}

#[test]
fn what_is_named_and_not_there_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = rvvfuzz::programs::judge::probe::first_program();
    std::fs::write(folder.path().join("p.ir"), program.to_string()).unwrap();
    let commands: [&[&str]; 5] = [
        &["run", "--count", "12"],
        &["doctor"],
        &["replay", "p.ir"],
        &["reduce", "p.ir"],
        &["bench", "--count", "2"],
    ];
    for command in commands {
        let with = |more: &[&'static str]| [command, more].concat();
        refused(folder.path(), &with(&["--compilers", "no-such-cc"]), &["no-such-cc"]);
        refused(folder.path(), &with(&["--compilers", "/bin/true"]), &["neither gcc nor clang"]);
        // All at once.
        if command[0] != "bench" {
            let args = with(&["--compilers", "no-such-cc,/bin/false", "--qemu", "no-such-qemu"]);
            refused(folder.path(), &args, &["no-such-cc", "/bin/false", "no-such-qemu", "nothing was run"]);
            refused(folder.path(), &with(&["--compilers", "", "--qemu", "none"]), &["compiler ``"]);
        }
    }
    for (args, says) in [
        (["--policy", "wild"], "`wild` is no policy"),
        (["--schedules", "later"], "`later` is no schedule"),
        (["--extension", "q"], "`q` is no extension"),
        (["--category", "q"], "`q` is no category"),
        (["--intrinsics", "vadd_vv_i32m1,vad_vv*"], "no intrinsic is called `vad_vv*`"),
        (["--testbeds", "no.toml"], "no.toml"),
        (["--vlen", "100"], "VLEN 100"),
        (["--time", "18446744073709551615"], "at most a year"),
        (["--build-time", "18446744073709551615h"], "at most a year"),
        (["--jobs", "0"], "1..=1024"),
        (["--jobs", "1000000"], "1..=1024"),
        (["--build-memory", "18446744073709551615"], "64..="),
    ] {
        let always = ["run", "--compilers", "none", "--qemu", "none", "--count", "1"];
        refused(folder.path(), &[&always[..], &args].concat(), &[says]);
    }
    let help = said(&run(folder.path(), &["--help"]));
    assert!(help.contains("Exit codes") && help.contains("  141  "), "{help}");
}

#[test]
fn what_is_named_and_fails_a_first_program_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().display();
    script(&folder.path().join("hangs"), "exec sleep 600");
    // It says that it is QEMU, and runs nothing.
    script(&folder.path().join("qemu"), "echo qemu-riscv64 version 11.1.2");
    // It compiles whatever it is given to the same program, which is another.
    let empty = rvv_ir::elf::lower(&[&rvv_ir::Program::default()]).unwrap();
    std::fs::write(folder.path().join("some.elf"), empty).unwrap();
    script(&folder.path().join("cc"), &format!("cp {here}/some.elf \"$2\""));
    // This one refuses a level.
    let first = rvv_ir::elf::lower(&[&rvvfuzz::programs::judge::probe::first_program()]).unwrap();
    std::fs::write(folder.path().join("first.elf"), first).unwrap();
    script(
        &folder.path().join("leveled"),
        &format!("[ \"$3\" = -O9 ] && exit 1\ncp {here}/first.elf \"$2\""),
    );
    let entry =
        |name: &str, command: &str| format!("[[compiler]]\nname = \"{name}\"\ncommand = \"{command}\"\n");
    let emulator = |command: &str| format!("[[emulator]]\nname = \"mute\"\ncommand = \"{command}\"\n");
    for (text, says) in [
        (entry("true", "/bin/true"), vec!["compiler `true`", "neither gcc nor clang"]),
        (entry("line", "/bin/true {c} {elf}"), vec!["compiler `line`", "no ELF"]),
        (entry("false", "/bin/false {c} {elf}"), vec!["compiler `false`", "cannot compile"]),
        (entry("hangs", &format!("{here}/hangs {{c}} {{elf}}")), vec!["compiler `hangs`", "does not end"]),
        (entry("fake", &format!("{here}/cc {{c}} {{elf}}")), vec!["fake -O1 does not work", "wrong output"]),
        (emulator("/bin/true {elf} {vlen}"), vec!["mute VLEN 128 undisturbed does not work", "wrong output"]),
        (
            emulator("/bin/false {elf} {vlen}"),
            vec!["mute VLEN 128 undisturbed does not work", "runtime crash"],
        ),
        (emulator("/no/such {elf} {vlen}"), vec!["mute VLEN 128 undisturbed does not work", "/no/such"]),
    ] {
        let text = format!("levels = [\"-O1\"]\nvlens = [128]\n{text}");
        std::fs::write(folder.path().join("t.toml"), text).unwrap();
        let args =
            ["run", "--testbeds", "t.toml", "--qemu", "none", "--compilers", "none", "--build-time", "2s"];
        refused(folder.path(), &args, &says);
    }
    let leveled = entry("leveled", &format!("{here}/leveled {{c}} {{elf}} {{flags}}")) + "\n";
    std::fs::write(folder.path().join("t.toml"), leveled).unwrap();
    let args = ["run", "--testbeds", "t.toml", "--qemu", "none", "--vlen", "128", "--levels", "-O1,-O9"];
    refused(folder.path(), &args, &["leveled -O9 does not work"]);
    let qemu = folder.path().join("qemu").display().to_string();
    for command in [["run", "--vlen", "128"], ["doctor", "--vlen", "128"]] {
        let args = [&command[..], &["--compilers", "none", "--qemu", &qemu]].concat();
        refused(folder.path(), &args, &["qemu 11.1.2 VLEN 128", "does not work"]);
    }
    std::fs::write(folder.path().join("wrong.toml"), "[[compiler]]\ncomand = \"x\"\n").unwrap();
    refused(folder.path(), &["run", "--testbeds", "wrong.toml"], &["unknown field `comand`"]);
}

/// What is only found on PATH need not work.
#[test]
fn what_is_found_and_does_not_work_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    script(&bin.join("clang"), "exit 1");
    script(&bin.join("qemu-riscv64"), "echo qemu-riscv64 version 11.1.2");
    let args = ["run", "--count", "12", "--batch", "12", "--vlen", "128"];
    let output = rvvfuzz(&args).current_dir(folder.path()).env("PATH", &bin).output().unwrap();
    let text = said(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert!(text.contains("compiler `clang` is left out"), "{text}");
    assert!(text.contains("qemu 11.1.2 VLEN 128 undisturbed does not work"), "{text}");
    assert!(text.contains("Nothing is wrong."), "{text}");
    let store = Store::read(&folder.path().join("campaign.db")).unwrap();
    assert!(store.broken().unwrap().iter().any(|(who, _)| who == "qemu 11.1.2 VLEN 128 undisturbed"));
}

#[test]
fn a_testbed_that_breaks_on_the_way_is_dropped_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    // It compiles by handing out an ELF that was made before, as often as is tried before the campaign; then
    // it is gone.
    let text = format!(
        "echo x >> {path}/calls\n[ $(wc -l < {path}/calls) -le 4 ] || exit 127\ncp {path}/first.elf \"$2\""
    );
    script(&folder.path().join("cc"), &text);
    let first = rvv_ir::elf::lower(&[&rvvfuzz::programs::judge::probe::first_program()]).unwrap();
    std::fs::write(folder.path().join("first.elf"), first).unwrap();
    let testbeds =
        format!("vlens = [128]\n[[compiler]]\nname = \"fickle\"\ncommand = \"{path}/cc {{c}} {{elf}}\"\n");
    std::fs::write(folder.path().join("testbeds.toml"), testbeds).unwrap();
    let args = "run --testbeds testbeds.toml --qemu none --count 36 --batch 12 --jobs 1";
    let output = run(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let text = said(&output);
    assert_eq!(code(&output), 2, "{text}");
    assert_eq!(text.matches("fickle -O0 does not work").count(), 1, "{text}");
    assert!(
        text.contains("fickle -O0 stopped working.") && text.contains("Nothing else is wrong."),
        "{text}"
    );
    assert!(text.contains("so that not all was judged"), "{text}");
    assert_eq!(done(&folder.path().join("campaign.db")), 36);
}

#[test]
fn a_full_disk_and_a_closed_pipe_are_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let program = rvvfuzz::programs::judge::probe::first_program();
    std::fs::write(folder.path().join("p.ir"), program.to_string()).unwrap();
    let output = run(folder.path(), &["run", "--builtin", "--count", "12", "--batch", "12"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let isa = ["isa", "--alone", "--count", "8", "--pack", "8", "--vlen", "128", "--out", "isa"];
    assert_eq!(code(&run(folder.path(), &isa)), 0);
    let commands = [
        "--help",
        "run --help",
        "run --builtin --count 12 --batch 12 --store new.db",
        "doctor --builtin",
        "show",
        "replay p.ir --builtin",
        "reduce p.ir --builtin",
        "report --json -",
        "report --junit -",
        "report --sarif -",
        "report",
        "isa --alone --count 8 --pack 8 --vlen 128 --out other",
        "isa replay isa/corpus --alone",
        "isa distill isa/corpus small",
    ];
    let with_stdout = |line: &str, stdout: Stdio| {
        let _ = std::fs::remove_file(folder.path().join("new.db"));
        let args: Vec<&str> = line.split(' ').collect();
        let output = rvvfuzz(&args).current_dir(folder.path()).stdout(stdout).output().unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), code(&output))
    };
    for line in commands {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (text, code) = with_stdout(line, full.into());
        assert_eq!(code, 2, "{line}: {text}");
        assert!(text.contains("rvvfuzz: cannot write to the standard output: "), "{line}: {text}");
        assert!(!text.contains("panicked"), "{line}: {text}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (text, code) = with_stdout(line, writer.into());
        assert_eq!(code, 141, "{line}: {text}");
        assert!(!text.contains("rvvfuzz: ") && !text.contains("panicked"), "{line}: {text}");
    }
    // Files that may not grow: without the signal, a write fails as it does on a full disk.
    for (line, blocks) in [
        ("run --builtin --count 240 --batch 12 --store full.db", 100),
        ("run --builtin --count 12 --store none.db", 1),
        ("report --html page.html", 1),
        ("isa --alone --count 40 --pack 8 --vlen 128 --out full", 4),
        ("isa distill isa/corpus less", 1),
    ] {
        let shell = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_rvvfuzz")]).current_dir(folder.path());
        let output = command.output().unwrap();
        let text = said(&output);
        assert_eq!(code(&output), 2, "{line}: {text}");
        assert!(text.contains("rvvfuzz: ") && !text.contains("panicked"), "{line}: {text}");
    }
    // What was stored before stays, and can be gone on with.
    let saved = done(&folder.path().join("full.db"));
    let again = ["run", "--builtin", "--count", "12", "--batch", "12", "--store", "full.db", "--resume"];
    let output = run(folder.path(), &again);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(done(&folder.path().join("full.db")) >= saved.max(12));
}

#[test]
fn reports_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let report = "report --html r.html --json r.json --junit r.xml --sarif r.sarif";
    let output =
        run(folder.path(), &["run", "--builtin", "--count", "24", "--batch", "12", "--report", "c.html"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("c.html").contains("Nothing is wrong"));
    let output = run(folder.path(), &report.split(' ').collect::<Vec<_>>());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!((&json["programs"], json["bugs"].as_array().map(Vec::len)), (&24.into(), Some(0)));
    let sarif: serde_json::Value = serde_json::from_str(&read("r.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["name"], "rvvfuzz");
    let xml = read("r.xml");
    let junit = roxmltree::Document::parse(&xml).unwrap();
    assert_eq!(junit.descendants().filter(|n| n.has_tag_name("testcase")).count(), 25);
    // The page stands alone: one script, its own, which the policy allows by its digest and nothing else.
    let page = read("r.html");
    for outside in ["http://", "https://", "src=", "<script ", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    let policy = page.split("content=\"").find(|part| part.starts_with("default-src 'none'; ")).unwrap();
    let policy = policy.split('"').next().unwrap();
    for allowed in ["style-src ", "script-src "] {
        let from = policy.split("; ").find_map(|rule| rule.strip_prefix(allowed)).unwrap();
        assert!(from.starts_with("'sha256-") && !from.contains(' '), "{policy}");
    }
}

#[test]
fn reduce_says_what_there_is_to_reduce() {
    let folder = tempfile::tempdir().unwrap();
    let plan = rvvgen::Plan::new(1, &rvvgen::Selection::default(), 3, 128);
    let program = rvvgen::generate(&plan, 0, &rvvgen::Settings::default()).unwrap().program;
    std::fs::write(folder.path().join("good.ir"), program.to_string()).unwrap();
    std::fs::write(folder.path().join("bad.ir"), "rvv-ir 1\nmain { v1 = nothing() }\n").unwrap();
    let output = run(folder.path(), &["reduce", "good.ir", "--builtin"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("Nothing is wrong."));
    // Where the result is to go is known before the work, not after.
    let output = run(folder.path(), &["reduce", "good.ir", "--builtin", "-o", "new/folder"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(folder.path().join("new/folder").is_dir());
    let output = run(folder.path(), &["reduce", "good.ir", "--builtin", "-o", "good.ir"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("good.ir: "), "{}", said(&output));
    let output = run(folder.path(), &["reduce", "bad.ir", "--builtin"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    let output = run(folder.path(), &["reduce", "7"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("campaign.db"), "{}", said(&output));
}
