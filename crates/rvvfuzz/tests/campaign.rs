//! Campaigns as their users see them: the real binary, killed, stopped, and given nonsense.

use rvvfuzz::campaign::store::Store;
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

const COUNT: u64 = 360;

fn arguments(store: &str, resume: bool) -> Vec<String> {
    let mut args: Vec<String> =
        ["run", "--builtin", "--count", "360", "--batch", "12", "--jobs", "2", "--store", store]
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

type Outcomes = Vec<(Option<String>, Vec<(usize, String)>)>;

fn outcomes(path: &Path) -> Outcomes {
    let store = Store::read(path).unwrap();
    (0..COUNT + 1).map(|n| (store.outcomes(n).unwrap(), store.details(n).unwrap())).collect()
}

/// Kills a campaign again and again, and compares it with one that was left in peace.
fn killed(times: u64) {
    let folder = tempfile::tempdir().unwrap();
    finish(folder.path(), "whole.db", false);
    let whole = outcomes(&folder.path().join("whole.db"));
    assert!(whole[..COUNT as usize].iter().all(|(o, _)| o.is_some()) && whole[COUNT as usize].0.is_none());
    let path = folder.path().join("killed.db");
    let mut unfinished = 0;
    for n in 0..times {
        let mut child = start(folder.path(), "killed.db");
        // From before the store is there to well into the campaign; no two the same.
        let random =
            u64::from(std::process::id()).wrapping_mul(n * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        std::thread::sleep(Duration::from_millis(random % (80 * (n % 8 + 1))));
        child.kill().unwrap();
        child.wait().unwrap();
        let done = done(&path);
        assert!(done.is_multiple_of(12), "whole batches only: {done}");
        unfinished += u64::from(done < COUNT);
    }
    assert!(unfinished > 0, "it was always too late");
    finish(folder.path(), "killed.db", true);
    assert!(outcomes(&path) == whole);
}

#[test]
fn a_campaign_killed_5_times_ends_the_same() {
    killed(5);
}

#[test]
fn a_campaign_killed_20_times_ends_the_same() {
    killed(20);
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
    let saved = done(&path);
    assert!(saved > 0 && saved.is_multiple_of(12));
    assert!(!folder.path().join("c.db-wal").exists(), "one file");
    finish(folder.path(), "c.db", true);
    assert_eq!(done(&path), COUNT);
    // More programs of the same campaign, but no other campaign.
    let output = run(folder.path(), &["run", "--store", "c.db", "--resume", "--count", "370"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert_eq!(done(&path), 370);
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

#[test]
fn what_is_no_compiler_is_left_out_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("hangs");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let testbeds = format!(
        "levels = [\"-O1\"]\nvlens = [128]\n\
         [[compiler]]\nname = \"true\"\ncommand = \"/bin/true\"\n\
         [[compiler]]\nname = \"true line\"\ncommand = \"/bin/true {{c}} {{elf}}\"\n\
         [[compiler]]\nname = \"false\"\ncommand = \"/bin/false {{c}} {{elf}}\"\n\
         [[compiler]]\nname = \"hangs\"\ncommand = \"{} {{c}} {{elf}}\"\n\
         [[emulator]]\nname = \"mute\"\ncommand = \"/bin/true {{elf}} {{vlen}}\"\n",
        script.display()
    );
    std::fs::write(folder.path().join("testbeds.toml"), testbeds).unwrap();
    let args = [
        "run",
        "--testbeds",
        "testbeds.toml",
        "--qemu",
        "none",
        "--count",
        "12",
        "--batch",
        "12",
        "--build-time",
        "2s",
    ];
    let output = run(folder.path(), &args);
    let text = said(&output);
    assert_eq!(code(&output), 0, "{text}");
    for name in ["`true`", "`true line`", "`false`", "`hangs`"] {
        assert!(text.contains(&format!("compiler {name} is left out")), "{name}: {text}");
    }
    assert!(text.contains("mute VLEN 128 undisturbed does not work"), "{text}");
    assert_eq!(done(&folder.path().join("campaign.db")), 12);
    // Nothing else is there: it cannot run.
    std::fs::write(
        folder.path().join("only.toml"),
        "builtin = false\n[[compiler]]\ncommand = \"/bin/true\"\n",
    )
    .unwrap();
    let output =
        run(folder.path(), &["run", "--testbeds", "only.toml", "--qemu", "none", "--store", "only.db"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    std::fs::write(folder.path().join("wrong.toml"), "[[compiler]]\ncomand = \"x\"\n").unwrap();
    let output = run(folder.path(), &["run", "--testbeds", "wrong.toml", "--store", "wrong.db"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("unknown field `comand`"), "{}", said(&output));
}

#[test]
fn a_testbed_that_breaks_on_the_way_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    // It compiles by handing out an ELF that was made before, three times; then it is gone.
    let script = folder.path().join("cc");
    std::fs::write(&script, format!("#!/bin/sh\necho x >> {path}/calls\n[ $(wc -l < {path}/calls) -le 1 ] || exit 127\ncp {path}/some.elf \"$2\"\n")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(
        folder.path().join("some.elf"),
        rvv_ir::elf::lower(&[&rvv_ir::Program::default()]).unwrap(),
    )
    .unwrap();
    let testbeds =
        format!("vlens = [128]\n[[compiler]]\nname = \"fickle\"\ncommand = \"{path}/cc {{c}} {{elf}}\"\n");
    std::fs::write(folder.path().join("testbeds.toml"), testbeds).unwrap();
    let args = [
        "run",
        "--testbeds",
        "testbeds.toml",
        "--qemu",
        "none",
        "--count",
        "36",
        "--batch",
        "12",
        "--jobs",
        "1",
    ];
    let output = run(folder.path(), &args);
    let text = said(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert_eq!(text.matches("fickle -O0 does not work").count(), 1, "{text}");
    assert_eq!(done(&folder.path().join("campaign.db")), 36);
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
    for outside in ["http://", "https://", "<script", "src="] {
        assert!(!read("r.html").contains(outside), "the page stands alone");
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
