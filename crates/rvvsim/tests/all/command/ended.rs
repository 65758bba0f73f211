//! What was seen of a program is reported when somebody ends it.

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_isa::Op;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Branches on memory that was never written, prints, and then computes or waits for input for ever.
fn endless(waits: bool) -> Vec<u8> {
    linux(|a: &mut Asm| {
        a.rri(Op::Addi, 2, 2, -64);
        a.rri(Op::Lw, A4, 2, 0);
        let on = a.label();
        a.branch(Op::Beq, A4, 0, on);
        a.place(on);
        a.li(T0, DATA);
        a.li(T1, u64::from(b'x'));
        a.store(Op::Sb, T1, 0, T0);
        a.li(A0, 1);
        a.li(A1, DATA);
        a.li(A2, 1);
        syscall(a, 64);
        let again = a.label_here();
        if waits {
            a.li(A0, 0);
            syscall(a, 63);
        }
        a.jump(again);
    })
}

/// Ends it by a signal as soon as it has printed: its exit code and what was said.
fn ended(elf: &std::path::Path, options: &[&str], signal: &str) -> (Option<i32>, String) {
    let mut child = command()
        .args(["--timeout", "60"])
        .args(options)
        .arg(elf)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("rvvsim runs");
    let mut printed = [0];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut printed).expect("it prints");
    assert_eq!(&printed, b"x");
    sleep(Duration::from_millis(50));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    // Its input stays open until it has ended.
    let input = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_was_seen_is_reported_when_a_program_is_ended() {
    let folder = Folder::new("ended");
    let profile = format!("--profile={}", folder.0.join("profile.svg").display());
    let tools: [(&str, i32, &str); 5] = [
        ("--sanitize", 123, "undefined-branch: "),
        ("--count", 128, "by class"),
        ("--accesses", 128, "accesses"),
        ("--cycles", 128, "estimate"),
        (&profile, 128, ""),
    ];
    for waits in [false, true] {
        let elf = folder.program(if waits { "waits" } else { "spins" }, &endless(waits));
        for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
            for (tool, status, says) in tools {
                let (code, said) = ended(&elf, &[tool], signal);
                let status = if status == 128 { 128 + number } else { status };
                assert_eq!(code, Some(status), "{tool} {signal} {waits}: {said}");
                assert!(said.contains(says), "{tool} {signal} {waits}: {said}");
            }
        }
    }
    assert!(folder.0.join("profile.svg").exists());
    // Nothing is reported of others: the signal itself ends them, as ever.
    let elf = folder.program("plain", &endless(false));
    assert_eq!(ended(&elf, &[], "-TERM").0, None);
}
