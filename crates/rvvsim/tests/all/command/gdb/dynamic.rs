//! A dynamically linked program: gdb reads its libraries over the connection, as its sysroot is `target:`.

use super::scripts::{has_in_order, kill, session};
use super::*;

const CC: &str = "riscv64-linux-gnu-gcc";

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int twice(int x) { return 2 * x; }
int main(int argc, char **argv) {
    char *text = malloc(16);
    strcpy(text, "sum");
    int sum = twice(20 + argc);
    text[0] = 'S';
    printf("%s %d\n", text, sum);
    free(text);
    return sum;
}
"#;

/// The program, its source and the folder of its libraries; `None` without a compiler or its C library.
fn program() -> Option<(Elf, Elf, String)> {
    let (source, elf) = (Elf::new("source", SOURCE.as_bytes()), Elf::new("dynamic", b""));
    let built = Command::new(CC).args(["-g", "-O0", "-x", "c"]).arg(&source.0).arg("-o").arg(&elf.0).output();
    if !built.is_ok_and(|output| output.status.success()) {
        println!("skipped: no {CC} that links with a C library");
        return None;
    }
    let root = "/usr/riscv64-linux-gnu";
    PathBuf::from(root).join("lib/libc.so.6").exists().then(|| (elf, source, root.to_string()))
}

#[test]
fn gdb_finds_libraries_by_the_connection_and_goes_back_in_a_dynamic_program() {
    let Some((elf, _source, root)) = program() else { return };
    let (mut child, port) = start_with(&elf, &["--sysroot", &root], "", Stdio::piped());
    let commands = [
        "break twice",
        "continue",
        "info sharedlibrary",
        "print x",
        "finish",
        "break free",
        "continue",
        "up",
        // Who wrote the S?
        "watch -l text[0]",
        "reverse-continue",
        "info line",
        "delete",
        "continue",
    ];
    let Some(text) = session(&port, Some(&elf), &commands) else { return kill(child) };
    has_in_order(
        &text,
        &["Breakpoint 1, twice (x=21)", "libc.so.6", "$1 = 21", "Value returned is $2 = 42", "Breakpoint 2"],
    );
    assert!(text.contains("text[0] = 'S'") && text.contains("exited with code 052"), "{text}");
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "Sum 42\n");
    assert_eq!(child.wait().unwrap().code(), Some(42));
}
