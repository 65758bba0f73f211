//! Guests of several processes, by the command: a test's own process has other threads, and cannot fork.

use super::blocked::wait;
use super::guests::{Scratch, compile, expected};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

fn rvvsim(options: &[&str], program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvsim"));
    command.args(options).arg(program).arg("--").args(args).stdin(Stdio::null());
    command
}

/// What it prints, and its exit code. Output ends only when every process that holds it has ended.
fn run(mut command: Command) -> (String, Option<i32>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    (printed, wait(child))
}

#[test]
fn processes_do_as_under_linux() {
    let scratch = Scratch::new("processes");
    let Some(program) = compile("processes.c", &scratch, &["-static"]) else { return };
    let expected = expected("processes.c");
    for options in [&["--host-fs"][..], &[], &["--schedule", "random:3"], &["--engine", "auto"]] {
        let (printed, code) = run(rvvsim(options, &program, &[]));
        assert_eq!(format!("{printed}exit code {}\n", code.unwrap_or(-1)), expected, "{options:?}");
    }
}

#[test]
fn sockets_and_events_under_load_leave_nothing_behind() {
    let scratch = Scratch::new("sockets");
    let Some(program) = compile("sockets.c", &scratch, &["-static"]) else { return };
    for schedule in ["round-robin", "round-robin:500", "random:1", "random:2"] {
        let (printed, code) = run(rvvsim(&["--net", "loopback", "--schedule", schedule], &program, &[]));
        let got = format!("{printed}exit code {}\n", code.unwrap_or(-1));
        assert_eq!(got, expected("sockets.c"), "{schedule}");
    }
}

/// Locks of owners that end, restartable sequences, descriptors of processes and limits on descriptors, as
/// the manual pages of Linux have them. QEMU 11.1 has neither robust lists nor restartable sequences.
#[test]
fn tasks_have_what_linux_offers_them() {
    let scratch = Scratch::new("tasks");
    let Some(program) = compile("tasks.c", &scratch, &["-static"]) else { return };
    let common = "locks of owners that end\nrestartable sequences\ndescriptors of processes\n\
                  limits on descriptors\nnames of threads\n";
    for schedule in ["round-robin", "round-robin:7", "random:1", "random:2"] {
        let got = run(rvvsim(&["--schedule", schedule], &program, &[]));
        assert_eq!(got, (common.to_owned(), Some(0)), "{schedule}");
    }
    // System V objects are the host's; in the sandbox there are none.
    let with_sysv = format!("{common}System V objects\n");
    assert_eq!(run(rvvsim(&["--host-fs"], &program, &["sysv"])), (with_sysv, Some(0)));
    let (printed, code) = run(rvvsim(&[], &program, &["sysv"]));
    assert!(printed.starts_with(common) && printed.ends_with("(errno 38)\n"), "{printed}");
    assert_eq!(code, Some(1));
}

/// In place of QEMU a guest has what the host's user has. QEMU 11.1 prints the same, if it is not asked for
/// `mq_notify`, which it does not have.
#[test]
fn in_place_of_qemu_the_machine_is_the_users() {
    let scratch = Scratch::new("system");
    let Some(program) = compile("system.c", &scratch, &["-static", "-lutil"]) else { return };
    let qemu = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvsim"));
        command.arg("qemu").arg(&program).stdin(Stdio::null()).env_remove("PWD");
        command
    };
    let expected = "identity\nprocessors\nmessage queues\npipes\nfiles\nterminals and interfaces\norphans\n\
                    line from the guest /usr 0057\nstatus 9\nCAPITALS\nlimits\n";
    assert_eq!(run(qemu()), (expected.to_owned(), Some(0)));
    // A descriptor that the process was started with is the guest's, under its number.
    let script = format!(
        "exec 7<<E\ninherited\nE\nexec {} qemu {} 7",
        env!("CARGO_BIN_EXE_rvvsim"),
        program.display()
    );
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script);
    assert_eq!(run(shell), ("inherited".to_owned(), Some(0)));
    // A daemon that has closed its streams keeps nobody waiting for their end.
    let start = std::time::Instant::now();
    let mut daemon = qemu();
    daemon.arg("daemon");
    assert_eq!(run(daemon), ("started\n".to_owned(), Some(0)));
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
}

/// In the sandbox a program of the host is none, and nobody is told unless it is wanted.
#[test]
fn programs_of_the_host_are_not_for_the_sandbox() {
    let scratch = Scratch::new("foreign");
    let Some(program) = compile("bomb.c", &scratch, &["-static"]) else { return };
    let foreign = |options: &[&str]| {
        let mut command = rvvsim(options, &program, &["exec", "/bin/sh"]);
        let output = command.output().unwrap();
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let told = |text: &str| (text.to_owned(), String::new());
    assert_eq!(foreign(&[]), told("exec 2\n"));
    assert_eq!(foreign(&["--host-fs"]), told("exec 8\n"));
    assert!(foreign(&["--host-fs", "--warn-unsupported"]).1.contains("the guest cannot run /bin/sh"));
}

/// docs/running.md says how to run more of it.
#[test]
fn processes_pipes_and_ports_under_load_lose_nothing() {
    let scratch = Scratch::new("stress");
    let Some(program) = compile("stress.c", &scratch, &["-static"]) else { return };
    let stress = |schedule: &str, how: &str, count: &str, expected: &str| {
        let got = run(rvvsim(&["--schedule", schedule, "--net", "loopback"], &program, &[how, count]));
        assert_eq!(got, (format!("{expected}\n"), Some(0)), "{schedule}");
    };
    stress("round-robin", "processes", "400", "400 processes, 19800");
    let schedules = ["round-robin", "round-robin:1000", "round-robin:37"].map(str::to_owned);
    for schedule in schedules.into_iter().chain((1..=7).map(|seed| format!("random:{seed}"))) {
        stress(&schedule, "processes", "16", "16 processes, 120");
        stress(&schedule, "threads", "500", "500 numbers through 8 threads");
        stress(&schedule, "forks", "500", "500 numbers through 8 processes");
        stress(&schedule, "ports", "10", "80 connections of 8 threads");
    }
}

#[test]
fn limits_bound_all_processes_together_and_nothing_is_left_running() {
    let scratch = Scratch::new("bombs");
    let Some(program) = compile("bomb.c", &scratch, &["-static"]) else { return };
    let bomb = |options: &[&str], how: &str| run(rvvsim(options, &program, &[how, "1"]));
    let counted = "7 children, then Resource temporarily unavailable\nand again\n";
    assert_eq!(bomb(&["--max-processes", "8"], "count"), (counted.to_owned(), Some(0)));
    let refused = "0 children, then Resource temporarily unavailable\nResource temporarily unavailable\n";
    assert_eq!(bomb(&["--max-processes", "1"], "count"), (refused.to_owned(), Some(0)));
    assert_eq!(bomb(&[], "leave"), (String::new(), Some(0)));
    assert_eq!(bomb(&["--timeout", "0.5"], "spin"), (String::new(), Some(124)));
    assert_eq!(bomb(&["--max-insns", "5M"], "spin"), (String::new(), Some(125)));
    assert_eq!(bomb(&["--timeout", "0.5", "--max-processes", "20"], "bomb"), (String::new(), Some(124)));
    assert_eq!(bomb(&["--mem", "64M"], "memory"), ("not all\n".to_owned(), Some(0)));
}

/// `EPERM`, `ENOENT`, `ESRCH`, `EACCES`, `EAFNOSUPPORT`, `ECONNREFUSED`.
#[test]
fn no_process_of_the_sandbox_leaves_it() {
    let scratch = Scratch::new("escape");
    let Some(program) = compile("bomb.c", &scratch, &["-static"]) else { return };
    let me = std::process::id().to_string();
    let escape = |options: &[&str]| run(rvvsim(options, &program, &["escape", &me]));
    let tries = |who: &str, others: &str, net: &str| {
        format!(
            "{who}: open 2 exec 2 kill 3 killall {others} group 3 unix 13 netlink 97 packet 97 raw 13 pass 1 1 {net}\n"
        )
    };
    let both = |net: &str| tries("parent", "3", net) + &tries("child", "0", net);
    assert_eq!(escape(&[]), (both("loopback 13 elsewhere 13"), Some(0)));
    assert_eq!(escape(&["--net", "loopback"]), (both("loopback 111 elsewhere 13"), Some(0)));
}

#[test]
fn a_trace_has_each_line_once_when_the_guest_forks() {
    let scratch = Scratch::new("fork-trace");
    let Some(program) = compile("bomb.c", &scratch, &["-static"]) else { return };
    let trace = scratch.path().join("trace");
    let option = format!("--trace={}", trace.display());
    let (_, code) = run(rvvsim(&[&option, "--max-processes", "2"], &program, &["count", "1"]));
    assert_eq!(code, Some(0));
    let text = std::fs::read_to_string(trace).unwrap();
    let starts = text.lines().filter(|line| line.contains("core   0: 0 ")).count();
    assert_eq!(starts, text.lines().count());
    // The first instruction is executed once, whatever is forked later.
    let first = text.lines().next().unwrap();
    assert_eq!(text.lines().take(50).filter(|line| *line == first).count(), 1);
}
