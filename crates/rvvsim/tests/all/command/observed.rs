//! `--accesses`, `--cycles`, and the forms of `--trace`.

use super::guest::*;
use std::path::Path;
use std::process::Output;

fn demo(args: &[&str]) -> Output {
    command().args(args).arg("--demo").output().expect("rvvsim runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a plain name")
}

#[test]
fn accesses_are_shown_and_written_as_json() {
    let scratch = Folder::new("accesses");
    let file = scratch.0.join("accesses.json");
    let output = demo(&[&format!("--accesses={}", path(&file))]);
    let report = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("bytes/line") && report.contains("unit-stride"), "{report}");
    let json = std::fs::read_to_string(file).expect("it was written");
    assert!(json.contains("\"addressing\": \"unit-stride\"") && json.contains("\"stride\": 1"), "{json}");
}

#[test]
fn cycles_are_an_estimate_by_a_table() {
    let scratch = Folder::new("cycles");
    let cycles = |args: &str| {
        let output = demo(&["--vlen", "512", args]);
        let report = text(&output.stderr);
        assert!(report.starts_with("an estimate, by a table of costs"), "{report}");
        let number = report.split(": ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
        number.parse::<u64>().expect("a number")
    };
    let costs = scratch.0.join("costs.toml");
    std::fs::write(&costs, "dlen = 512\n").expect("a file");
    let wide = format!("--cycles={}", path(&costs));
    assert!(cycles(&wide) < cycles("--cycles"));
    std::fs::write(&costs, "[Vectors]\nlatency = 1\n").expect("a file");
    let output = demo(&[&wide]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("there is no class Vectors"), "{}", text(&output.stderr));
}

#[test]
fn a_binary_trace_prints_as_the_text_that_it_replaces() {
    let scratch = Folder::new("binary-trace");
    let (lines, binary) = (scratch.0.join("lines"), scratch.0.join("binary"));
    demo(&["--trace-valid", &format!("--trace={}", path(&lines))]);
    demo(&["--trace-valid", "--trace-binary", &format!("--trace={}", path(&binary))]);
    let read = command().args(["--read-trace", path(&binary)]).output().expect("rvvsim runs");
    assert_eq!(read.status.code(), Some(0), "{}", text(&read.stderr));
    assert!(read.stdout == std::fs::read(&lines).expect("a trace"));
    let read = command().args(["--read-trace", path(&lines)]).output().expect("rvvsim runs");
    assert_eq!(read.status.code(), Some(126));
    assert!(text(&read.stderr).contains("this is no binary trace"), "{}", text(&read.stderr));
}
