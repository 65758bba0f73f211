//! `rvvfuzz between` and `rvvfuzz features`, with the clang of the host.

use rvv_tools::find::on_path;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn rvvfuzz(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
    let quoted = line.split('\'').enumerate();
    for (n, part) in quoted {
        match n % 2 {
            0 => drop(command.args(part.split_whitespace())),
            _ => drop(command.arg(part)),
        }
    }
    command.current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

/// What is in the list: the kind and the differences of each entry.
fn list(report: &Value) -> Vec<String> {
    report["list"].as_array().unwrap().iter().map(|e| format!("{} {}", e["kind"], e["differences"])).collect()
}

#[test]
fn what_levels_change_is_found_kept_and_shown() {
    if on_path("clang-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "between 'clang-19 -O0' 'clang-19 -O1' --ops 1 --batch 2 --count 2 --jobs 1 --policy plain \
                --intrinsics vadd_vv_i32m1,vsub_vv_i32m1 --reduce-time 3s --json list.json";
    let first = rvvfuzz(folder, &format!("{line} --time 30s"));
    assert_eq!(first.status.code(), Some(1), "{}{}", text(&first.stdout), text(&first.stderr));
    let report = json(folder, "list.json");
    assert_eq!(report["programs"], 2);
    assert!(report["reduced"].as_u64().unwrap() > 0, "{report:#}");
    let entries = report["list"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert!(kinds.iter().any(|k| ["vset", "instruction"].contains(k)), "{kinds:?}");
    // The clang of the host is right at both levels; the programs that it compiles are others.
    let small = entries.iter().find(|e| e["reduced"] != Value::Null).unwrap();
    assert_eq!(small["results"][0], "prints what it must");
    assert!(small["work"][1].as_u64().unwrap() <= small["work"][0].as_u64().unwrap());
    assert!(small["c"].as_str().unwrap().contains("__riscv_"));
    let lines = small["code"][0]["lines"].as_array().unwrap();
    assert!(lines.iter().any(|l| l["mark"] != "same"), "{small:#}");
    // After half a line, as a kill leaves it, the same command shows the same and goes on.
    let store = folder.join("between.jsonl");
    let mut whole = std::fs::read(&store).unwrap();
    whole.extend(b"{\"line\":\"batch\",\"num");
    std::fs::write(&store, &whole).unwrap();
    let again = rvvfuzz(folder, &format!("{line} --time 0"));
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stderr));
    assert_eq!(list(&json(folder, "list.json")), list(&report));
    assert!(text(&again.stdout).contains("clang-19 -O0"), "{}", text(&again.stdout));
    // Another comparison is not mixed with it, and nothing is lost.
    let other = rvvfuzz(folder, "between 'clang-19 -O0' 'clang-19 -O2' --time 0");
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("name another --store"), "{}", text(&other.stderr));
    assert!(std::fs::read(&store).unwrap().len() + 30 > whole.len());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("between nothing-1 nothing-2", "nothing-2"),
        ("run --between nothing-1", "comma between them"),
        ("run --between nothing-1,nothing-2 --builtin", "cannot be used with"),
        ("between 'nothing-1 -O2' nothing-2", "flags to both"),
        ("features missing.ir", "missing.ir"),
        ("features", "<FILES>"),
    ] {
        let output = rvvfuzz(folder.path(), line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(says), "{line}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn features_of_a_program_are_listed_with_their_sources() {
    if on_path("clang-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "rvv-ir 1\ndata a: i32[10] = seed 0x1 bits\nout c: i32[10] = zero\n\nmain {\n  var x: i32m1\n  \
                   x = vle32_v_i32m1(&a[0], 4)\n  x = vadd_vv_i32m1(x, x, 4)\n  vse32_v_i32m1(&c[0], x, 4)\n}\n";
    std::fs::write(folder.join("p.ir"), program).unwrap();
    let with = "--compilers clang-19 --levels=-O2";
    let shown = rvvfuzz(folder, &format!("features p.ir {with}"));
    let said = text(&shown.stdout);
    assert_eq!(shown.status.code(), Some(0), "{said}{}", text(&shown.stderr));
    for name in [
        "clang pass: riscv-insert-vsetvli (RISC-V Insert VSETVLI pass) changed it ×1",
        "clang vset: ? -> e32,m1,ta,ma by vsetivli ×1",
        "clang instruction: vadd.vv ×1",
        "clang memory: store unit-stride e32 memory ×1",
    ] {
        assert!(said.contains(name), "{name} is not in\n{said}");
    }
    let aimed = rvvfuzz(folder, &format!("features p.ir {with} --target 'vsetvli insertion' --json -"));
    let found: Value = serde_json::from_str(&text(&aimed.stdout)).unwrap();
    assert_eq!(found[0]["distance"], 0.0);
    let all = found[0]["features"].as_array().unwrap();
    let hit = all.iter().find(|f| f["distance"] == 0.0).unwrap();
    assert_eq!((hit["source"].as_str(), hit["id"].as_str().map(str::len)), (Some("pass"), Some(16)));
    let without = rvvfuzz(folder, &format!("features p.ir {with} --passes no --target 'vsetvli insertion'"));
    assert!(!text(&without.stdout).contains("  0.00 from"), "{}", text(&without.stdout));
}
