//! A full disk and a closed pipe: no panic, and a sentence where somebody can read it.

use super::guest::*;
use std::fs::OpenOptions;
use std::process::Stdio;

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("/dev/full").into()
}

/// A pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// Exit code and standard error, with such a standard output.
fn with_stdout(stdout: Stdio, words: &[&str]) -> (Option<i32>, String) {
    let output = command().args(words).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).output();
    let output = output.expect("rvvsim");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

/// Exit code with such a standard error.
fn with_stderr(stderr: Stdio, words: &[&str]) -> Option<i32> {
    let status = command().args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).status();
    status.expect("rvvsim").code()
}

const FULL: &str = "cannot write to standard output: No space left on device";

#[test]
fn what_cannot_be_printed_is_said() {
    let cases: [(&[&str], i32); 5] = [
        (&["--help"], 126),
        (&["--version"], 126),
        (&["qemu", "-h"], 126),
        (&["--demo", "--sweep=128"], 2),
        (&["--demo", "--sweep=128", "--json"], 2),
    ];
    for (words, code) in cases {
        let (ended, err) = with_stdout(full(), words);
        assert_eq!(ended, Some(code), "{words:?}: {err}");
        assert!(err.contains(FULL) && !err.contains("panicked"), "{words:?}: {err}");
        // Who stops reading wants no more.
        let (ended, err) = with_stdout(closed(), words);
        assert!(matches!(ended, Some(0 | 1)) && err.is_empty(), "{words:?}: {ended:?} {err}");
    }
}

#[test]
fn standard_error_that_cannot_be_written_is_survived() {
    let folder = Folder::new("full");
    let dies = folder.program("dies", &linux(|a| a.raw(0, 4)));
    let dies = dies.to_str().unwrap();
    let failed = folder.program("failed", &bare(true));
    let cases: [(&[&str], i32); 9] = [
        (&["--demo", "--stats"], 0),
        (&["--demo", "--profile"], 0),
        (&["--demo", "--strace"], 0),
        (&["--demo", "--trace"], 126),
        (&["--no-such"], 127),
        (&[], 127),
        (&[dies], 132),
        (&["no/such/file"], 126),
        (&[failed.to_str().unwrap()], 16),
    ];
    for (words, code) in cases {
        assert_eq!(with_stderr(full(), words), Some(code), "{words:?} on a full disk");
        assert_eq!(with_stderr(closed(), words), Some(code), "{words:?} to nobody");
    }
}

#[test]
fn files_that_cannot_be_written_are_named() {
    for option in ["--trace=/dev/full", "--profile=/dev/full", "--trace=/no/such", "--profile=/no/such"] {
        let (code, err) = with_stdout(Stdio::null(), &["--demo", option]);
        assert_eq!(code, Some(126), "{err}");
        assert!(err.contains(option.split_once('=').unwrap().1) && err.contains("cannot write"), "{err}");
    }
}

#[test]
fn guests_see_the_error_that_they_would_see() {
    let folder = Folder::new("errors");
    // Exits with what the write returned, made positive.
    let elf = linux(|a| {
        a.li(A0, 1);
        a.li(A1, DATA);
        a.li(A2, 1);
        syscall(a, 64);
        a.rrr(rvv_isa::Op::Sub, A0, 0, A0);
        syscall(a, 93);
    });
    let elf = folder.program("writes", &elf);
    let elf = elf.to_str().unwrap();
    const ENOSPC: i32 = 28;
    const SIGPIPE: i32 = 13;
    assert_eq!(with_stdout(full(), &[elf]).0, Some(ENOSPC));
    assert_eq!(with_stdout(closed(), &[elf]).0, Some(128 + SIGPIPE));
    // Bare metal has no way to be told.
    let bare = folder.program("bare", &bare(false));
    let (code, err) = with_stdout(full(), &[bare.to_str().unwrap()]);
    assert_eq!(code, Some(126));
    assert!(err.contains("console") && err.contains("No space left"), "{err}");
    assert_eq!(with_stdout(closed(), &[bare.to_str().unwrap()]), (Some(0), String::new()));
}

#[test]
fn a_trace_to_standard_error_does_not_cut_its_file() {
    let path = Folder::new("trace");
    let log = path.0.join("log");
    std::fs::write(&log, "before\n").unwrap();
    let file = OpenOptions::new().append(true).open(&log).unwrap();
    assert_eq!(with_stderr(file.into(), &["--demo", "--trace"]), Some(0));
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("before\ncore   0: 0 0x"), "{}", &text[..text.len().min(200)]);
}
