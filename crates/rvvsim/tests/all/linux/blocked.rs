//! `--timeout` ends a guest wherever it is: also while it waits in the host.
//!
//! Each guest would wait for ever. The bounds are generous: a test fails only if `rvvsim` is still there long
//! after its time.

use super::calls::{CWD, Call, DATA, Folder, LAST, ZEROES, ZEROES_LEN, code, elf, guest};
use rvv_isa::{Inst, Op};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TIMEOUT: &str = "0.3";
const LONGEST: Duration = Duration::from_secs(20);
/// The exit code of a run that `--timeout` ended.
const TIMED_OUT: i32 = 124;

/// The exit code, if it ends in time.
pub fn wait(mut child: Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < LONGEST {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

fn rvvsim(folder: &Folder, elf: &[u8], options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvsim"));
    command.args(["--timeout", TIMEOUT, "--dir"]).arg(format!("{}:rw", folder.0.display()));
    command.args(options).arg(folder.guest(elf)).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// A guest of these calls must be ended by its time.
fn ends(what: &str, calls: &[Call], data: &[u8]) {
    let folder = Folder::new();
    let child = rvvsim(&folder, &guest(calls, data), &[]).spawn().unwrap();
    assert_eq!(wait(child), Some(TIMED_OUT), "{what}");
}

fn make_fifo(folder: &Folder) -> Vec<u8> {
    let status = Command::new("mkfifo").arg(folder.0.join("fifo")).status().unwrap();
    assert!(status.success());
    folder.name("fifo")
}

/// A guest of these calls on a FIFO, whose name is at [`DATA`], must be ended by its time.
fn ends_on_fifo(what: &str, calls: &[Call]) {
    let folder = Folder::new();
    let name = make_fifo(&folder);
    let child = rvvsim(&folder, &guest(calls, &name), &[]).spawn().unwrap();
    assert_eq!(wait(child), Some(TIMED_OUT), "{what}");
}

#[test]
fn opening_a_fifo() {
    ends_on_fifo("to read", &[(56, &[CWD, DATA, 0, 0])]);
    ends_on_fifo("to write", &[(56, &[CWD, DATA, 1, 0])]);
}

#[test]
fn reading_and_writing_a_fifo() {
    ends_on_fifo("read", &[(56, &[CWD, DATA, 2, 0]), (63, &[LAST, ZEROES, 1])]);
    ends_on_fifo("write", &[(56, &[CWD, DATA, 2, 0]), (64, &[LAST, ZEROES, ZEROES_LEN])]);
}

#[test]
fn writing_to_a_pipe_that_nobody_reads() {
    let folder = Folder::new();
    let elf = guest(&[(64, &[1, ZEROES, ZEROES_LEN])], &[]);
    let mut child = rvvsim(&folder, &elf, &[]).stdout(Stdio::piped()).spawn().unwrap();
    let reader = child.stdout.take();
    assert_eq!(wait(child), Some(TIMED_OUT));
    drop(reader);
}

#[test]
fn reading_a_pipe_that_nobody_writes() {
    let folder = Folder::new();
    let elf = guest(&[(63, &[0, ZEROES, 1])], &[]);
    let mut child = rvvsim(&folder, &elf, &[]).stdin(Stdio::piped()).spawn().unwrap();
    let writer = child.stdin.take();
    assert_eq!(wait(child), Some(TIMED_OUT));
    drop(writer);
}

#[test]
fn reading_and_writing_a_socket() {
    for calls in [&[(63, &[0, ZEROES, 1][..])], &[(64, &[1, ZEROES, ZEROES_LEN][..])]] {
        let folder = Folder::new();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let again = theirs.try_clone().unwrap();
        let mut command = rvvsim(&folder, &guest(calls, &[]), &[]);
        command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(again));
        assert_eq!(wait(command.spawn().unwrap()), Some(TIMED_OUT));
        drop(ours);
    }
}

#[test]
fn reading_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let folder = Folder::new();
    let mut command = rvvsim(&folder, &guest(&[(63, &[0, ZEROES, 1])], &[]), &[]);
    assert_eq!(wait(command.stdin(theirs).spawn().unwrap()), Some(TIMED_OUT));
}

/// A `timespec` of 1000 seconds.
fn long() -> Vec<u8> {
    [1000_u64, 0].iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn sleeping() {
    ends("nanosleep", &[(101, &[DATA, 0])], &long());
    ends("clock_nanosleep", &[(115, &[1, 0, DATA, 0])], &long());
    ends("futex", &[(98, &[ZEROES, 0, 0, DATA, 0, 0])], &long());
    ends("rt_sigtimedwait", &[(137, &[ZEROES, 0, DATA, 8])], &long());
    let timer: Vec<u8> = [0_u64, 0, 1000, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    ends("rt_sigsuspend", &[(103, &[0, DATA, 0]), (133, &[ZEROES, 8])], &timer);
}

#[test]
fn sleeping_in_a_traced_run() {
    let folder = Folder::new();
    let elf = guest(&[(101, &[DATA, 0])], &long());
    let child = rvvsim(&folder, &elf, &["--trace=/dev/null"]).spawn().unwrap();
    assert_eq!(wait(child), Some(TIMED_OUT));
}

#[test]
fn polling() {
    // struct pollfd {0, POLLIN}, and a timespec behind it.
    let mut data = vec![0, 0, 0, 0, 1, 0, 0, 0];
    data.extend(long());
    let calls: [(&str, Call); 4] = [
        ("ppoll", (73, &[DATA, 1, 0, 0, 0])),
        ("ppoll with a time", (73, &[DATA, 1, DATA + 8, 0, 0])),
        ("pselect6", (72, &[1, DATA + 4, 0, 0, 0, 0])),
        ("pselect6 with a time", (72, &[1, DATA + 4, 0, 0, DATA + 8, 0])),
    ];
    for (what, call) in calls {
        let folder = Folder::new();
        let mut child = rvvsim(&folder, &guest(&[call], &data), &[]).stdin(Stdio::piped()).spawn().unwrap();
        let writer = child.stdin.take();
        assert_eq!(wait(child), Some(TIMED_OUT), "{what}");
        drop(writer);
    }
}

/// The longest registers there are, and an instruction that takes its time with each of their elements.
#[test]
fn computing_with_long_vectors() {
    let mut a = code();
    a.li(5, 0);
    // vsetvli x0, t0 (rs1 = -1: VLMAX), e8, m8
    a.rri(Op::Addi, 5, 0, -1);
    a.raw(0x0032_f057, 4);
    let again = a.label_here();
    for _ in 0..16 {
        a.inst(&Inst { rd: 8, rs1: 16, rs2: 24, ..Inst::new(Op::VrgatherVv) });
    }
    a.jump(again);
    let folder = Folder::new();
    let child = rvvsim(&folder, &elf(a, &[]), &["--vlen", "65536"]).spawn().unwrap();
    assert_eq!(wait(child), Some(TIMED_OUT));
}
