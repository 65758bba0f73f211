//! What people type, with Debian's gdb-multiarch; without it there is nothing to try.

use super::*;

const GDB: &str = "gdb-multiarch";

/// What gdb prints for these commands, after it has connected; `None` without a gdb.
pub fn session(port: &str, program: Option<&Elf>, commands: &[&str]) -> Option<String> {
    if Command::new(GDB).arg("--version").output().is_err() {
        println!("skipped: no {GDB}");
        return None;
    }
    let connect = format!("target remote :{port}");
    let all = [&connect[..]].into_iter().chain(commands.iter().copied());
    let output = Command::new(GDB)
        .args(["-q", "-nx", "-batch"])
        .args(all.flat_map(|command| ["-ex", command]))
        .args(program.map(|elf| &elf.0))
        .output()
        .expect("gdb");
    // What `monitor` prints comes on standard error.
    Some([&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat())
}

/// These lines are in the text, in this order.
pub fn has_in_order(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let Some(at) = rest.find(line) else { panic!("no {line:?} at its place in:\n{text}") };
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn gdb_prints_and_sets_vector_registers() {
    for (vlen, bytes) in [("128", "$3 = 16"), ("1024", "$3 = 128")] {
        let (elf, add, _) = process();
        let (mut child, port) = start(&elf, &["--vlen", vlen]);
        let commands = [
            &format!("break *{add:#x}"),
            "continue",
            "continue",
            "print $v8.w[1]",
            "print $vl",
            "set $v8.w[1] = 77",
            "set $vl = 3",
            "print sizeof($v8)",
            "monitor vtype",
            "stepi",
            "print $v8.w[0] + $v8.w[1]",
            "print $v8.w[3]",
            "info auxv",
            "info threads",
            "delete",
            "continue",
        ];
        let Some(text) = session(&port, Some(&elf), &commands) else { return kill(child) };
        // The first two are as set, and element 3 is a tail element.
        has_in_order(&text, &["$1 = 2", "$2 = 4", bytes, "$4 = 158", "$5 = 2", "AT_ENTRY", "Thread 1.1000"]);
        assert!(text.contains("e32,m1,ta,ma") && text.contains("vl 3 of"), "{text}");
        assert!(text.contains("exited with code 07"), "{text}");
        assert_eq!(child.wait().expect("it ends").code(), Some(7));
    }
}

pub fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// `watch` on an element of a vector store, and back: by an instruction, to a breakpoint, to the store.
#[test]
fn gdb_goes_back_in_a_vector_loop() {
    for vlen in ["128", "1024"] {
        let (elf, add, behind) = bare();
        let (mut child, port) = start(&elf, &["--vlen", vlen]);
        let commands = [
            &format!("break *{behind:#x}"),
            "continue",
            "continue",
            "continue",
            "print $v8.w[3]",
            "reverse-stepi",
            "print $pc",
            "reverse-stepi",
            "print $v8.w[3]",
            "print $pc",
            "reverse-continue",
            "print $v8.w[3]",
            "delete",
            // The third element of the store.
            "watch *(int *) 0x80002008",
            "continue",
            "print *(int *) 0x80002008",
            "print $pc",
            "reverse-continue",
            "print *(int *) 0x80002008",
            "print $pc",
            "delete",
            "monitor snapshot here",
            "stepi",
            "stepi",
            "print $pc",
            "monitor restore here",
            "maintenance flush register-cache",
            "maintenance flush dcache",
            "print $pc",
            "continue",
        ];
        let Some(text) = session(&port, Some(&elf), &commands) else { return kill(child) };
        let [store, past, add] = [behind - 4, behind, add].map(|address| format!("{address:#x}"));
        has_in_order(
            &text,
            &[
                "$1 = 8",
                "$2 = (void (*)()) ",
                &store,
                "$3 = 4",
                "$4 = (void (*)()) ",
                &add,
                "$5 = 4",
                "Old value = 4",
                "New value = 8",
                "$6 = 8",
                "$7 = (void (*)()) ",
                &past,
                "Old value = 8",
                "New value = 4",
                "$8 = 4",
                "$9 = (void (*)()) ",
                &store,
                "$10 = (void (*)()) ",
                "$11 = (void (*)()) ",
                &store,
            ],
        );
        assert!(text.contains("exited normally"), "{text}");
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
    }
}

#[test]
fn gdb_sees_threads() {
    let (elf, _, second_top) = super::threads::two_threads(100_000, false);
    let (mut child, port) = start(&elf, &["--schedule", "round-robin:50"]);
    let commands = [
        &format!("break *{second_top:#x}"),
        "continue",
        "info threads",
        "print $v8.w[0]",
        "thread 1",
        "print $v8.w[0]",
        "delete",
        "set scheduler-locking on",
        "stepi 100",
        "print $_thread",
        "thread 2",
        "print $s1",
        "set scheduler-locking off",
        "continue",
    ];
    let Some(text) = session(&port, Some(&elf), &commands) else { return kill(child) };
    has_in_order(
        &text,
        &["hit Breakpoint 1", "(worker, on the hart)", "$1 = 1", "$2 = 2", "$3 = 1", "$4 = 0"],
    );
    assert!(text.contains("exited with code 05"), "{text}");
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
}

/// Without a copy of the program gdb reads it here.
#[test]
fn gdb_needs_no_file_of_its_own() {
    let (elf, _, second_top) = super::threads::two_threads(1000, false);
    let (mut child, port) = start(&elf, &["--schedule", "round-robin:50"]);
    let commands = ["break *&worker_loop", "continue", "info threads", "print $pc", "delete", "continue"];
    let Some(text) = session(&port, None, &commands) else { return kill(child) };
    has_in_order(
        &text,
        &["Reading", "Breakpoint 1", "(worker, on the hart)", "$1 = ", &format!("{second_top:#x}")],
    );
    assert!(text.contains("exited with code 05"), "{text}");
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
}
