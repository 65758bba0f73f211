//! The command, as people call it.

use rvvsim::elf::Image;
use rvvsim::linux::{Output as Stream, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that goes away.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("rvvgen-command-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Dir(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.0, "", &mut found);
        found
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn collect(path: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn rvvgen(args: &[&str]) -> Output {
    rvvgen_with(args, b"")
}

fn rvvgen_with(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rvvgen"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have seen enough, or be gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn good(args: &[&str]) -> String {
    let output = rvvgen(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Ends with this status, and says all of this.
fn says(output: &Output, status: i32, words: &[&str]) {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    words.iter().for_each(|w| assert!(text.contains(w), "no `{w}` in: {text}"));
}

fn run(elf: &[u8], vlen: u32) -> Vec<u8> {
    let image = Image::parse(elf.to_vec()).unwrap();
    let options = ProcessOptions { stdout: Stream::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(Config { vlen, ..Config::default() }, &image, options).unwrap();
    assert_eq!(machine.run(None), Outcome::Exited(0));
    machine.stdout().to_vec()
}

#[test]
fn the_same_options_give_the_same_files() {
    let (one, two) = (Dir::new("one"), Dir::new("two"));
    for dir in [&one, &two] {
        good(&[
            "--seed",
            "7",
            "--oracle",
            "internal",
            "--emit",
            "c,elf",
            "--emit",
            "self-check",
            "-o",
            dir.path(),
        ]);
    }
    let files = one.files();
    assert_eq!(files, two.files());
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "expected.1024.txt",
            "expected.128.txt",
            "expected.256.txt",
            "expected.512.txt",
            "program.c",
            "program.elf",
            "program.ir",
            "self-check.c"
        ]
    );
}

#[test]
fn a_program_without_mutants_is_said_to_have_none() {
    let dir = Dir::new("no-mutants");
    std::fs::create_dir_all(&dir.0).unwrap();
    let file = dir.0.join("empty.ir");
    std::fs::write(&file, "rvv-ir 1\nout a: u8[1] = zero\n\nmain {\n}\n").unwrap();
    let out = dir.0.join("mutants");
    let args = ["mutate", file.to_str().unwrap(), "--count", "3", "-o", out.to_str().unwrap()];
    says(&rvvgen(&args), 2, &["no mutation made another program", "--seed", "--with"]);
    assert!(!out.exists());
}

#[test]
fn a_run_is_judged() {
    let dir = Dir::new("judged");
    good(&["--seed", "7", "--emit", "elf", "--vlen", "128,512", "-o", dir.path()]);
    let ir = format!("{}/program.ir", dir.path());
    let files = dir.files();
    for vlen in ["128", "512"] {
        let printed = run(&files["program.elf"], vlen.parse().unwrap());
        let check = ["check", &ir, "--vlen", vlen];
        says(&rvvgen_with(&check, &printed), 0, &[]);
        let expected = format!("{}/expected.{vlen}.txt", dir.path());
        says(&rvvgen_with(&["check", &ir, "--expected", &expected], &printed), 0, &[]);
        // Some bytes are undefined; many are not, and an inverted one of those is noticed and named.
        let mut noticed = 0;
        for at in (0..printed.len()).step_by(printed.len() / 20) {
            let mut wrong = printed.clone();
            wrong[at] ^= 0x40;
            let output = rvvgen_with(&check, &wrong);
            if !output.status.success() {
                says(&output, 1, &["out", "]", "expected", "got"]);
                noticed += 1;
            }
        }
        assert!(noticed > 8, "{noticed}");
        says(&rvvgen_with(&check, &printed[..printed.len() / 2]), 1, &["expected"]);
        let mut longer = printed.clone();
        longer.push(0);
        says(&rvvgen_with(&check, &longer), 1, &["more than"]);
        says(&rvvgen_with(&check, b""), 1, &["got nothing", "0 of"]);
    }
}

#[test]
fn bad_input_is_named_and_told_what_would_be_right() {
    let dir = Dir::new("bad");
    good(&["--emit", "ir", "-o", dir.path()]);
    let ir = format!("{}/program.ir", dir.path());
    let file = |name: &str, text: &str| {
        let path = format!("{}/{name}", dir.path());
        std::fs::write(&path, text).unwrap();
        path
    };
    let o = dir.path();
    says(&rvvgen(&[]), 2, &["--output"]);
    says(&rvvgen(&["-o", o, "--policy", "none"]), 2, &["spill", "rounding"]);
    says(&rvvgen(&["-o", o, "--extension", "zvbb"]), 2, &["v, bf16, crypto"]);
    says(&rvvgen(&["-o", o, "--category", "masked"]), 2, &["explicit-policy"]);
    says(&rvvgen(&["-o", o, "--scheduler", "none"]), 2, &["all-in, unit, random"]);
    says(&rvvgen(&["-o", o, "--vlen", "100"]), 2, &["power of two"]);
    says(&rvvgen(&["-o", o, "--vl", "third"]), 2, &["max, half"]);
    says(&rvvgen(&["-o", o, "--ratio", "3"]), 2, &["1, 2, 4"]);
    says(&rvvgen(&["-o", o, "--ops", "0"]), 2, &["a range goes from"]);
    says(&rvvgen(&["-o", o, "--ops", "9-3"]), 2, &["a range goes from"]);
    says(&rvvgen(&["-o", o, "--ops", "1-2000"]), 2, &["at most 1000"]);
    says(&rvvgen(&["-o", o, "--len", "long"]), 2, &["a range such as 1-100"]);
    says(&rvvgen(&["-o", o, "--intrinsics", "vnothing*"]), 2, &["no intrinsic is called `vnothing*`"]);
    says(&rvvgen(&["-o", o, "--oracle", "none", "--emit", "self-check"]), 2, &["--oracle internal"]);
    let weights = file("weights.toml", "resue = 0.4\n");
    says(&rvvgen(&["-o", o, "--weights", &weights]), 2, &["weights.toml", "`resue`", "reuse, produce"]);
    says(&rvvgen(&["-o", o, "--weights", "/no/such/file"]), 2, &["/no/such/file"]);
    says(&rvvgen(&["-o", &format!("{ir}/below")]), 2, &["program.ir/below"]);
    says(&rvvgen(&["check", "/no/such.ir", "--vlen", "128"]), 2, &["/no/such.ir"]);
    says(&rvvgen(&["check", &ir]), 2, &["--vlen"]);
    let broken = file("broken.ir", "rvv-ir 1\nmain {\n  x = vadd()\n}\n");
    says(&rvvgen(&["check", &broken, "--vlen", "128"]), 2, &["broken.ir", "line 3"]);
    let newer = file("newer.ir", "rvv-ir 2\nmain {\n}\n");
    says(&rvvgen(&["check", &newer, "--vlen", "128"]), 2, &["version 2", "version 1"]);
    let undefined = file(
        "undefined.ir",
        "rvv-ir 1\nout o: u8[1] = zero\nmain {\n  var v: u8m1\n  v = vmv_v_x_u8m1(0x1, \
         1)\n  vse8_v_u8m1(&o[0], v, 2)\n}\n",
    );
    says(&rvvgen(&["check", &undefined, "--vlen", "128"]), 2, &["undefined.ir", "statement 2"]);
    let text = file("expected.txt", "rvv-expected 1\nvlen 128\n");
    says(&rvvgen(&["check", &ir, "--expected", &text]), 2, &["expected.txt: line 3"]);
    std::fs::write(dir.0.join("bytes.ir"), [0xff, 0xfe, 0]).unwrap();
    says(&rvvgen(&["check", &format!("{o}/bytes.ir"), "--vlen", "128"]), 2, &["bytes.ir", "UTF-8"]);
}

#[test]
fn many_programs_get_folders() {
    let dir = Dir::new("many");
    good(&["--count", "3", "--number", "5", "--oracle", "none", "--emit", "ir", "-o", dir.path()]);
    let files = dir.files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["0000/program.ir", "0001/program.ir", "0002/program.ir"]);
    let one = Dir::new("many-one");
    good(&["--number", "6", "--oracle", "none", "--emit", "ir", "-o", one.path()]);
    assert_eq!(one.files()["program.ir"], files["0001/program.ir"]);
}

#[test]
fn oracles_differ_in_what_is_printed() {
    let text = |args: &[&str]| {
        let dir = Dir::new(&format!("oracle{}", args.join("")));
        let mut all = vec!["--vlen", "128", "-o", dir.path()];
        all.extend(args);
        good(&all);
        let files = dir.files();
        let expected = files.keys().any(|k| k.starts_with("expected"));
        (String::from_utf8(files["program.c"].clone()).unwrap(), expected)
    };
    let (raw, expected) = text(&[]);
    assert!(expected && !raw.contains("stdio.h"));
    let (none, expected) = text(&["--oracle", "none"]);
    assert!(!expected && none == raw);
    let (differential, expected) = text(&["--oracle", "differential"]);
    assert!(!expected && differential.contains("checksum"));
    let (libc, expected) = text(&["--libc"]);
    assert!(expected && libc.contains("stdio.h"));
}

#[test]
fn coverage_is_counted() {
    let text = good(&["coverage", "--count", "20", "--extension", "v", "--category", "explicit"]);
    assert!(text.starts_with("20 programs execute"), "{text}");
    for group in ["section", "category", "sew", "lmul", "vector_reduction_operations", "mf8"] {
        assert!(text.contains(group), "{text}");
    }
    let json = good(&["coverage", "--count", "5", "--json"]);
    assert!(json.starts_with("{\"programs\":5,\"all\":{\"covered\":"), "{json}");
    assert_eq!(json.matches('{').count(), json.matches('}').count());
    let dir = Dir::new("curve");
    std::fs::create_dir_all(&dir.0).unwrap();
    let svg = format!("{}/curve.svg", dir.path());
    let table = good(&["coverage", "--curve", "--count", "20", "--extension", "v", "--svg", &svg]);
    assert!(table.lines().count() == 6 && table.contains("overloaded-policy"), "{table}");
    assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
}

#[test]
fn intrinsics_are_executed_and_seen() {
    let text = good(&[
        "coverage",
        "--executed",
        "--intrinsics",
        "vsm3me*",
        "--intrinsics",
        "vfredusum*",
        "--intrinsics",
        "vlmul_ext*i8*",
    ]);
    assert!(text.contains(": 100.00 %") && text.contains(" 0 wrong"), "{text}");
}

#[test]
fn policies_are_listed() {
    let text = good(&["policies"]);
    assert!(text.contains("spill") && text.contains("compare-masks"), "{text}");
}

/// Runs the command with this standard output: what it said on the other, and its exit code.
fn with_stdout(args: &[&str], stdout: impl Into<Stdio>) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvgen"));
    let output =
        command.args(args).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).output().unwrap();
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
fn a_full_disk_and_a_closed_pipe_are_no_panic() {
    let dir = Dir::new("full");
    assert_eq!(rvvgen(&["-o", dir.path(), "--vlen", "128"]).status.code(), Some(0));
    let program = format!("{}/program.ir", dir.path());
    for args in [
        vec!["policies"],
        vec!["--help"],
        vec!["--version"],
        vec!["check", "--help"],
        vec!["coverage", "--count", "2"],
        vec!["coverage", "--count", "2", "--json"],
        vec!["coverage", "--count", "2", "--curve"],
        // It prints what is wrong.
        vec!["check", &program, "--vlen", "128"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (said, code) = with_stdout(&args, full);
        assert_eq!((said.lines().count(), code), (1, 2), "{args:?}: {said}");
        assert!(said.starts_with("rvvgen: cannot write to the standard output: "), "{args:?}: {said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(with_stdout(&args, writer), (String::new(), 141), "{args:?}");
    }
    // Nobody hears the sentence either.
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvgen"));
    assert_eq!(
        command.args(["check", "/nowhere", "--vlen", "128"]).stderr(full).status().unwrap().code(),
        Some(2)
    );
    // Files that may not grow: without the signal, a write fails as it does on a full disk.
    let line = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", line, "sh", env!("CARGO_BIN_EXE_rvvgen"), "--count", "2", "-o", dir.path()])
        .output()
        .unwrap();
    says(&output, 2, &["rvvgen: cannot write"]);
}

#[test]
fn a_pattern_that_selects_nothing_is_a_slip() {
    let dir = Dir::new("slip");
    for args in [["--intrinsics", "vad_vv_*"], ["--except", "vmull_*"]] {
        let all = ["-o", dir.path(), "--intrinsics", "vadd_vv_i32m1", args[0], args[1]];
        says(&rvvgen(&all), 2, &["no intrinsic is called", args[1]]);
        assert!(!dir.0.exists());
    }
}
