//! C and C++ programs, compiled for Linux, that must behave as under `qemu-riscv64`.
//!
//! The sources are in `testsuite/guests`, each with what QEMU made of it (`.expected`: standard output, then
//! the exit code). `vectors` is the exception: QEMU 11.1 puts no vector state into signal frames, so that
//! file says what Linux would. The tests need a riscv64 C compiler (`RISCV_CC`, else `riscv64-linux-gnu-gcc`;
//! `RISCV_CXX` likewise) and pass with a word where there is none. With `QEMU` set to a `qemu-riscv64` they
//! ask it as well.

use rvvsim::elf::Image;
use rvvsim::linux::{Grant, Input, Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const GUESTS: [(&str, &[&str]); 9] = [
    ("stdio.c", &["first", "second word"]),
    ("files.c", &["work"]),
    ("signals.c", &[]),
    ("memory.c", &[]),
    ("exceptions.cpp", &[]),
    ("vectors.c", &[]),
    ("crash.c", &[]),
    ("libraries.c", &[]),
    ("threads.c", &[]),
];
const STDIN: &str = "one\ntwo\nthree";
const VARIABLE: &str = "GUEST_VARIABLE=value";

/// A folder of this test alone; gone when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rvvsim-guests-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder the guest may write, made anew.
    pub fn work(&self) -> PathBuf {
        let work = self.0.join("work");
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir_all(&work).unwrap();
        work
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testsuite/guests")
}

fn compiler(source: &str) -> Option<String> {
    let (variable, usual) = match source.ends_with(".cpp") {
        true => ("RISCV_CXX", "riscv64-linux-gnu-g++"),
        false => ("RISCV_CC", "riscv64-linux-gnu-gcc"),
    };
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let there = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|s| s.success()) {
        return Some(name);
    }
    eprintln!("skipped: there is no {name}; set {variable} to a riscv64 compiler");
    None
}

/// Compiles a guest; `None` if there is no compiler.
pub fn compile(source: &str, scratch: &Scratch, flags: &[&str]) -> Option<PathBuf> {
    let compiler = compiler(source)?;
    let program = scratch.0.join(source.split('.').next().unwrap());
    let mut command = Command::new(compiler);
    command.args(["-O2", "-w", "-o"]).arg(&program).arg(guests().join(source)).args(flags).arg("-lm");
    assert!(command.status().unwrap().success(), "{source} does not compile");
    Some(program)
}

pub fn sysroot() -> Option<PathBuf> {
    let path =
        PathBuf::from(std::env::var("RISCV_SYSROOT").unwrap_or_else(|_| "/usr/riscv64-linux-gnu".into()));
    path.join("lib").is_dir().then_some(path)
}

/// A process that has not begun.
pub fn machine(
    config: Config,
    program: &Path,
    args: &[&str],
    work: &Path,
    sysroot: Option<PathBuf>,
) -> Machine {
    let work = work.to_str().unwrap();
    let mut argv = vec![b"guest".to_vec()];
    argv.extend(args.iter().map(|a| if *a == "work" { work.into() } else { a.as_bytes().to_vec() }));
    let options = ProcessOptions {
        args: argv,
        env: vec![VARIABLE.into()],
        stdin: Input::Bytes(STDIN.into()),
        stdout: Output::Capture,
        stderr: Output::Capture,
        dirs: vec![Grant { path: work.into(), writable: true }],
        sysroot,
        ..Default::default()
    };
    let image = Image::open(program).unwrap();
    Machine::user(config, &image, options).unwrap()
}

/// Standard output and exit code, as the `.expected` files have them.
pub fn ending(machine: &Machine, outcome: &Outcome) -> String {
    let code = match outcome {
        Outcome::Exited(code) => *code,
        Outcome::Signaled { signal, .. } => 128 + signal,
        other => panic!("{other:?}"),
    };
    format!("{}exit code {code}\n", String::from_utf8_lossy(machine.stdout()))
}

fn run(program: &Path, args: &[&str], work: &Path, sysroot: Option<PathBuf>) -> String {
    let mut machine = machine(Config::default(), program, args, work, sysroot);
    let outcome = machine.run(None);
    ending(&machine, &outcome)
}

pub fn expected(source: &str) -> String {
    let path = guests().join(source).with_extension("expected");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

fn check(name: &str, flags: &[&str], sysroot: Option<PathBuf>) {
    let scratch = Scratch::new(name);
    for (source, args) in GUESTS {
        // A static program has no libraries to load.
        if source == "libraries.c" && sysroot.is_none() {
            continue;
        }
        let Some(program) = compile(source, &scratch, flags) else { return };
        let got = run(&program, args, &scratch.work(), sysroot.clone());
        assert_eq!(got, expected(source), "{source} {flags:?}");
    }
}

#[test]
fn static_programs() {
    check("static", &["-static"], None);
}

#[test]
fn dynamic_programs() {
    match sysroot() {
        Some(sysroot) => check("dynamic", &["-ldl"], Some(sysroot)),
        None => eprintln!("skipped: no riscv64 libraries; set RISCV_SYSROOT"),
    }
}

#[test]
fn qemu_agrees_with_what_is_expected() {
    let (Ok(qemu), Some(sysroot)) = (std::env::var("QEMU"), sysroot()) else {
        eprintln!("skipped: set QEMU to a qemu-riscv64");
        return;
    };
    let scratch = Scratch::new("qemu");
    std::fs::write(scratch.0.join("stdin"), STDIN).unwrap();
    for (source, args) in GUESTS.iter().filter(|(source, _)| *source != "vectors.c") {
        let Some(program) = compile(source, &scratch, &["-ldl"]) else { return };
        let work = scratch.work();
        let args = args.iter().map(|a| if *a == "work" { work.to_str().unwrap() } else { a });
        let output = Command::new(&qemu)
            .arg("-L")
            .arg(&sysroot)
            .args(["-0", "guest"])
            .arg(&program)
            .args(args)
            .env_clear()
            .env("GUEST_VARIABLE", "value")
            .stdin(std::fs::File::open(scratch.0.join("stdin")).unwrap())
            .output()
            .unwrap();
        use std::os::unix::process::ExitStatusExt;
        let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
        let got = format!("{}exit code {code}\n", String::from_utf8_lossy(&output.stdout));
        assert_eq!(got, expected(source), "{source}");
    }
}
