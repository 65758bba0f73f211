//! `rvvsim --core`: a file with all choices of a core.

use super::guest::*;
use rvv_isa::{Op, csr};

/// Prints the word behind the tail of a `vmv.v.i` of 1: `b` if it is kept, `p` if it becomes ones.
fn tail() -> Vec<u8> {
    linux(|a| {
        vsetivli(a, 4, E32_M1_TA_MA);
        vmv_v_i(a, 8, 1);
        vsetivli(a, 3, E32_M1_TA_MA);
        vmv_v_i(a, 8, 2);
        vsetivli(a, 4, E32_M1_TA_MA);
        a.li(A0, DATA + 256);
        memory(a, "vse32.v", 8, A0);
        a.rri(Op::Lw, A4, A0, 12);
        a.rri(Op::Andi, A4, A4, 15);
    })
}

fn prints_vlenb() -> Vec<u8> {
    linux(|a| {
        a.csr(Op::Csrrs, A4, csr::VLENB, 0);
        a.rri(Op::Srli, A4, A4, 4);
    })
}

fn write(folder: &Folder, name: &str, text: &[u8]) -> String {
    let path = folder.0.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_core_decides_what_a_program_sees() {
    let folder = Folder::new("core");
    let ones = write(&folder, "ones.toml", b"vlen = 256\ntail = 'ones'\n");
    let kept = write(&folder, "kept.toml", b"tail = 'undisturbed'\n");
    assert_eq!(rvvsim("core", &tail(), &["--core", &kept], b"").1, "b\n");
    assert_eq!(rvvsim("core", &tail(), &["--core", &ones], b"").1, "p\n");
    assert_eq!(rvvsim("core", &prints_vlenb(), &["--core", &ones], b"").1, "c\n");
    // The command line counts more.
    assert_eq!(rvvsim("core", &prints_vlenb(), &["--core", &ones, "--vlen", "512"], b"").1, "e\n");
}

#[test]
fn a_sweep_runs_on_each_of_several_cores() {
    let folder = Folder::new("cores");
    let ones = write(&folder, "ones.toml", b"tail = 'ones'\n");
    let kept = write(&folder, "kept.toml", b"tail = 'undisturbed'\n");
    let (code, text, _) = rvvsim("sweep", &tail(), &["--sweep", "--core", &kept, "--core", &ones], b"");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("ones.toml    128  differs\n"), "{text}");
    assert!(text.contains("  stdout, line 1\n    b\n    p\n"), "{text}");
    let (code, text, _) = rvvsim("sweep", &tail(), &["--sweep=128,256", "--core", &ones], b"");
    assert_eq!((code, text.matches("  same\n").count()), (0, 1), "{text}");
    let options = ["--sweep", "--json", "--core", &kept, "--core", &ones];
    let (_, text, _) = rvvsim("sweep", &tail(), &options, b"");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["same"], &json["cores"][1]["same"]), (&false.into(), &false.into()));
    assert_eq!(json["cores"][1]["differences"][0]["other"], "p");
}

#[test]
fn what_a_file_may_not_say_is_refused() {
    let folder = Folder::new("badcore");
    let deep = format!("tail = {}", "[".repeat(30_000));
    for (text, says) in [
        (&b"tail = 'zeros'"[..], "norm:vreg_agnostic_op"),
        (b"vlen = 100", "norm:vlen"),
        (b"colour = 'red'", "there is no key colour"),
        (b"\xff\xfe", "cannot read"),
        (b"tail = \x00", "line 1"),
        (deep.as_bytes(), "line 1"),
        (&[b'#'; 100_000], "at most 65536 bytes"),
    ] {
        let file = write(&folder, "core.toml", text);
        let (code, _, e) = rvvsim("bad", &tail(), &["--core", &file], b"");
        assert!(code == 127 && e.contains("--core: ") && e.contains(says), "{says}: {code} {e}");
    }
    let (code, _, e) = rvvsim("bad", &tail(), &["--core", "/no/such/file"], b"");
    assert!(code == 127 && e.contains("cannot read /no/such/file"), "{e}");
    let good = write(&folder, "core.toml", b"");
    let (code, _, e) = rvvsim("bad", &tail(), &["--core", &good, "--core", &good], b"");
    assert!(code == 127 && e.contains("with --sweep"), "{e}");
    assert_eq!(rvvsim("bad", &tail(), &["--core", &good, "--tail", "ones"], b"").0, 127);
    // A file without end.
    assert_eq!(rvvsim("bad", &tail(), &["--core", "/dev/zero"], b"").0, 127);
}

#[test]
fn the_examples_are_cores_and_the_default_is_the_default() {
    let file = |name: &str| format!("{}/../../docs/cores/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let demo = |options: &[&str]| run(command().arg("--demo").args(options), b"");
    assert_eq!(demo(&["--core", &file("default")]), demo(&[]));
    for name in ["renaming", "contrary"] {
        let (code, _, e) = demo(&["--core", &file(name)]);
        assert_eq!(code, 0, "{name}: {e}");
    }
}
