//! `--sanitize`: planted faults are found at their lines, and mended programs are silent.
//!
//! The programs are in `testsuite/sanitize/`. They need a compiler that knows the intrinsics, with a static C
//! library (`RISCV_RVV_CC`, else `riscv64-linux-gnu-gcc-14`, 15 or 16, else `clang-19`). Without one they are
//! skipped.

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn file(folder: &Folder, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.0.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testsuite/sanitize");
    let files = std::fs::read_dir(folder).expect("the folder").map(|f| f.expect("a file").path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "c")).collect();
    files.sort();
    files
}

fn compiler() -> Option<Vec<String>> {
    let usual = [
        "riscv64-linux-gnu-gcc-14",
        "riscv64-linux-gnu-gcc-15",
        "riscv64-linux-gnu-gcc-16",
        "clang-19 --target=riscv64-linux-gnu -fuse-ld=lld-19",
    ];
    let names = std::env::var("RISCV_RVV_CC").map_or(usual.map(str::to_owned).to_vec(), |name| vec![name]);
    let words = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let there = |line: &Vec<String>| {
        let mut command = Command::new(&line[0]);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    names.iter().map(words).find(there)
}

/// Builds a program with debug information, from C with intrinsics.
fn build(compiler: &[String], source: &Path, elf: &Path, more: &[&str]) -> Result<(), String> {
    let mut build = Command::new(&compiler[0]);
    build.args(&compiler[1..]).args(["-w", "-g", "-O1", "-march=rv64gcv", "-static"]).args(more);
    let built = build.arg("-o").arg(elf).arg(source).output().map_err(|e| e.to_string())?;
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

fn sanitized(args: &[&str], program: &Path) -> (Option<i32>, String) {
    let output = command()
        .args(["--sanitize", "--timeout", "100"])
        .args(args)
        .arg(program)
        .stdin(Stdio::null())
        .output()
        .expect("rvvsim runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The kind of each finding, and the first line of `file` that its places name.
fn findings(report: &str, file: &str) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut kind = None;
    for line in report.lines() {
        if let Some(rest) = line.strip_prefix("rvvsim: sanitize: ") {
            kind = rest.split_once(": ").map(|(kind, _)| kind.to_owned());
        } else if line.starts_with("  at ") || line.starts_with("  call ") {
            let place = line.rsplit_once(&format!("{file}:")).and_then(|(_, line)| line.parse().ok());
            if let Some(place) = place
                && let Some(kind) = kind.take()
            {
                found.push((kind, place));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn planted_faults_are_found_at_their_lines_and_mended_programs_are_silent() {
    let Some(compiler) = compiler() else {
        println!("skipped: no compiler with RVV intrinsics (tools/setup installs one, or set RISCV_RVV_CC)");
        return;
    };
    let programs = programs();
    assert!(programs.len() >= 40, "{} programs", programs.len());
    let scratch = Folder::new("sanitize-planted");
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    let one = |source: &Path, mended: bool| -> Result<(), String> {
        let text = std::fs::read_to_string(source).map_err(|e| e.to_string())?;
        let file = source.file_name().unwrap_or_default().to_string_lossy();
        let kind = text.strip_prefix("// ").and_then(|t| t.split(':').next()).ok_or("no kind")?;
        let line = text.lines().position(|l| l.contains("// HERE")).ok_or("no line")? as u32 + 1;
        let elf = scratch.0.join(format!("{file}-{mended}"));
        build(&compiler, source, &elf, if mended { &["-DMENDED"] } else { &[] })?;
        let (status, report) = sanitized(&["--vlen", "128"], &elf);
        match mended {
            true if status == Some(0) && report == "rvvsim: sanitize: nothing found\n" => Ok(()),
            false if status == Some(123) && findings(&report, &file) == [(kind.to_owned(), line)] => Ok(()),
            _ => Err(format!("status {status:?}, wanted {kind} at {line}:\n{report}")),
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(source) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for mended in [false, true] {
                        if let Err(e) = one(source, mended) {
                            let name = source.file_name().unwrap_or_default().to_string_lossy();
                            problems.lock().unwrap().push(format!("{name}, mended {mended}: {e}"));
                        }
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{}:\n{}", compiler.join(" "), problems.join("\n"));
}

/// A program that branches on the tail of a vector, and ends with status 5.
fn branches_on_a_tail() -> Vec<u8> {
    let mut a = Asm::new(0x10000);
    vsetivli(&mut a, 1, E32_M1_TA_MA);
    vmv_v_i(&mut a, 8, 1);
    vsetivli(&mut a, 2, E32_M1_TA_MA);
    a.inst(&Inst { rd: 9, rs2: 8, imm: 1, ..Inst::new(Op::VslidedownVi) });
    a.inst(&Inst { rd: A0, rs2: 9, ..Inst::new(Op::VmvXS) });
    let past = a.label();
    a.branch(Op::Beq, A0, 0, past);
    a.place(past);
    a.li(A0, 5);
    a.li(17, 94);
    a.plain(Op::Ecall);
    let mut elf = ElfWriter::new(0x10000);
    elf.symbol("start", 0x10000);
    elf.segment(0x10000, a.finish(), 5);
    elf.finish()
}

#[test]
fn findings_are_written_as_json_and_sarif_and_can_be_suppressed() {
    let scratch = Folder::new("sanitize-formats");
    let elf = file(&scratch, "branches", &branches_on_a_tail());
    let (json, sarif) = (scratch.0.join("found.json"), scratch.0.join("found.sarif"));
    let files = ["--sanitize-json", json.to_str().unwrap(), "--sanitize-sarif", sarif.to_str().unwrap()];
    let (status, report) = sanitized(&files, &elf);
    assert_eq!(status, Some(123), "{report}");
    assert!(report.contains("undefined-branch") && report.contains("norm:vector_tail_element"), "{report}");
    let json = std::fs::read_to_string(json).unwrap();
    for part in ["\"kind\": \"undefined-branch\"", "\"instruction\": \"vslidedown.vi v9,v8,1\""] {
        assert!(json.contains(part), "{part} is not in {json}");
    }
    let sarif = std::fs::read_to_string(sarif).unwrap();
    assert!(sarif.contains("\"ruleId\": \"undefined-branch\"") && sarif.contains("2.1.0"), "{sarif}");

    let known = file(&scratch, "known", b"undefined-br* sta* # known\n");
    let (status, report) = sanitized(&["--sanitize-suppress", known.to_str().unwrap()], &elf);
    assert_eq!(status, Some(5), "{report}");
    assert!(report.contains("1 places are suppressed"), "{report}");
    let wrong = file(&scratch, "wrong", b"undefined-branch\n");
    let (status, report) = sanitized(&["--sanitize-suppress", wrong.to_str().unwrap()], &elf);
    assert_eq!(status, Some(127), "{report}");
    assert!(report.contains("line 1: there is no function"), "{report}");
}

/// The branch is not the end of the program, but of its run.
#[test]
fn fatal_ends_the_run_at_the_first_finding() {
    let scratch = Folder::new("sanitize-fatal");
    let elf = file(&scratch, "branches", &branches_on_a_tail());
    let output = command().arg("--sanitize=fatal").arg(&elf).output().expect("rvvsim runs");
    assert_eq!(output.status.code(), Some(123));
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 findings at 1 places"));
}

/// Compilers clip without a shift, and leave `vxrm` as they find it: nothing is rounded.
#[test]
fn a_shift_by_zero_does_not_use_vxrm() {
    let scratch = Folder::new("sanitize-vxrm");
    for (imm, register, status) in [(0, 0, 0), (1, 0, 123), (0, 32, 0), (0, 33, 123)] {
        let elf = linux(|a| {
            vsetivli(a, 1, E32_M1_TA_MA & !0x38 | 0x08);
            vmv_v_i(a, 8, 1);
            a.li(A1, register);
            a.inst(&match register {
                0 => Inst { rd: 10, rs2: 8, imm, ..Inst::new(Op::VnclipWi) },
                // Of 2*SEW = 32 the low five bits count.
                _ => Inst { rd: 10, rs2: 8, rs1: A1, ..Inst::new(Op::VnclipWx) },
            });
            a.li(A4, 0);
        });
        let (is, report) = sanitized(&[], &file(&scratch, "clip", &elf));
        assert_eq!(is, Some(status), "{imm} {register}: {report}");
        assert_eq!(report.contains("inherited-vxrm"), status != 0, "{report}");
    }
}

/// Where the machine chooses `vl`, elements that another choice would not have written are undefined, and what
/// writes memory or sums up is reported at once. Element 0 is there whatever is chosen, and a program that asks
/// for `vl` knows how many there are.
#[test]
fn a_chosen_vl_matters_where_another_choice_does() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Does {
        Move,
        Add,
        Store,
        Sum,
        BranchOnLast,
        BranchOnFirst,
        AskAndBranchOnLast,
    }
    use Does::*;
    let scratch = Folder::new("sanitize-chosen-vl");
    for (avl, does, kind) in [
        (6, Move, None),
        (6, Add, None),
        (6, Store, Some("chosen-vl")),
        (6, Sum, Some("chosen-vl")),
        (6, BranchOnLast, Some("undefined-branch")),
        (6, BranchOnFirst, None),
        (6, AskAndBranchOnLast, None),
        // ceil(7/2) is VLMAX, which leaves no choice.
        (7, Store, None),
        (7, BranchOnLast, None),
    ] {
        let elf = linux(|a| {
            a.li(A1, avl);
            a.li(A2, 1);
            // No tail: all four elements are there before.
            vsetivli(a, 4, E32_M1_TA_MA);
            vmv_v_i(a, 8, 1);
            vsetvli(a, 0, A1, E32_M1_TA_MA);
            a.inst(&Inst { rd: 7, rs1: A2, ..Inst::new(Op::VmvSX) });
            // vl is kept, and not looked at.
            vsetvli(a, 0, 0, E32_M1_TA_MA);
            if does == Move {
                a.inst(&Inst { rd: A3, rs2: 7, ..Inst::new(Op::VmvXS) });
                a.li(A4, 0);
                return;
            }
            a.inst(&Inst { rd: 9, rs1: 8, rs2: 8, ..Inst::new(Op::VaddVv) });
            match does {
                Store => {
                    a.li(A0, DATA + 64);
                    memory(a, "vse32.v", 9, A0);
                }
                Sum => a.inst(&Inst { rd: 9, rs1: 8, rs2: 8, ..Inst::new(Op::VredsumVs) }),
                BranchOnLast | BranchOnFirst | AskAndBranchOnLast => {
                    if does == AskAndBranchOnLast {
                        a.inst(&Inst { rd: A3, imm: 0xc20, ..Inst::new(Op::Csrrs) });
                    }
                    vsetivli(a, 1, E32_M1_TA_MA);
                    let imm = if does == BranchOnFirst { 0 } else { 3 };
                    a.inst(&Inst { rd: 10, rs2: 9, imm, ..Inst::new(Op::VslidedownVi) });
                    a.inst(&Inst { rd: A4, rs2: 10, ..Inst::new(Op::VmvXS) });
                    let past = a.label();
                    a.branch(Op::Beq, A4, 0, past);
                    a.place(past);
                }
                Move | Add => {}
            }
            a.li(A4, 0);
        });
        let (is, report) = sanitized(&["--vlen", "128"], &file(&scratch, "moves", &elf));
        assert_eq!(is, Some(if kind.is_some() { 123 } else { 0 }), "{avl} {does:?}: {report}");
        if let Some(kind) = kind {
            assert!(report.contains(kind) && report.contains("norm:vl_val_list"), "{avl} {does:?}: {report}");
        }
    }
}

/// gcc merges a register that it has spilled by a masked load of its slot. Under an undefined mask bit the
/// element is undefined, which is reported where it decides something; of other memory the load is.
#[test]
fn a_masked_reload_from_the_stack_is_no_decision() {
    let scratch = Folder::new("sanitize-reload");
    for (from_stack, branches, kind) in
        [(true, false, None), (true, true, Some("undefined-branch")), (false, false, Some("undefined-mask"))]
    {
        let elf = linux(|a| {
            // A mask of two bits, and a load under four.
            vsetivli(a, 2, E32_M1_TA_MA);
            vmv_v_i(a, 8, 1);
            a.inst(&Inst { rd: 0, rs2: 8, rs1: 8, ..Inst::new(Op::VmseqVv) });
            vsetivli(a, 4, E32_M1_TA_MA);
            vmv_v_i(a, 9, 3);
            a.rri(Op::Addi, 2, 2, -64);
            match from_stack {
                true => a.rri(Op::Addi, A0, 2, 16),
                false => a.li(A0, DATA + 64),
            }
            memory(a, "vse32.v", 9, A0);
            a.inst(&Inst { rd: 10, rs1: A0, vm: false, ..Inst::new(Op::Vle32V) });
            a.inst(&Inst {
                rd: 11,
                rs2: 10,
                imm: if branches { 3 } else { 1 },
                ..Inst::new(Op::VslidedownVi)
            });
            a.inst(&Inst { rd: A4, rs2: 11, ..Inst::new(Op::VmvXS) });
            let past = a.label();
            a.branch(Op::Beq, A4, 0, past);
            a.place(past);
            a.rri(Op::Addi, 2, 2, 64);
            a.li(A4, 0);
        });
        let (status, report) = sanitized(&[], &file(&scratch, "reload", &elf));
        assert_eq!(status, Some(if kind.is_some() { 123 } else { 0 }), "{report}");
        assert!(kind.is_none_or(|kind| report.contains(kind) && report.contains("at 1 places")), "{report}");
    }
}

#[test]
fn hostile_suppressions_are_refused() {
    let scratch = Folder::new("sanitize-hostile-suppressions");
    let elf = file(&scratch, "branches", &branches_on_a_tail());
    let refused = |path: &str, says: &str| {
        let (status, report) = sanitized(&["--sanitize-suppress", path], &elf);
        assert_eq!(status, Some(127), "{report}");
        assert!(report.contains(says) && report.len() < 2000, "{says}: {} bytes", report.len());
    };
    let long = "undefined-branch ".repeat(100_000);
    let stars = format!("{} f\n", "*u".repeat(200_000));
    for (bytes, says) in [
        (&b"\xff\xfe\0"[..], "not text"),
        (long.as_bytes(), "at most 1048576 bytes"),
        (stars.as_bytes(), "line 1: there is no kind"),
        (&b"* f\n".repeat(20_000), "more than 10000 lines"),
    ] {
        refused(file(&scratch, "known", bytes).to_str().unwrap(), says);
    }
    // A file without end, and none.
    refused("/dev/zero", "at most 1048576 bytes");
    refused(scratch.0.to_str().unwrap(), "cannot read");
}

/// Lines and units are read from a stranger's file. Whatever is in them, the fault is found, and nothing else
/// happens.
#[test]
fn malformed_dwarf_hides_no_finding_and_ends_no_run() {
    let Some(compiler) = compiler() else {
        println!("skipped: no compiler with RVV intrinsics (tools/setup installs one, or set RISCV_RVV_CC)");
        return;
    };
    let scratch = Folder::new("sanitize-dwarf");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testsuite/sanitize/tail_branch.c");
    let elf = scratch.0.join("good");
    build(&compiler, &source, &elf, &[]).expect("it is built");
    let good = std::fs::read(&elf).expect("the program");
    let image = rvvsim::elf::Image::parse(&good).expect("it is an ELF");
    let names =
        [".debug_info", ".debug_abbrev", ".debug_line", ".debug_line_str", ".debug_str", ".debug_aranges"];
    let sections: Vec<_> = names.iter().filter_map(|name| image.section(name)).collect();
    assert!(sections.len() >= 4, "there is debug information");
    let start = good.as_ptr() as usize;
    let ranges: Vec<_> =
        sections.iter().map(|s| s.as_ptr() as usize - start..s.as_ptr() as usize - start + s.len()).collect();
    let mut seed = 1u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for round in 0..40 {
        let mut bytes = good.clone();
        let range = ranges[round % ranges.len()].clone();
        match round / ranges.len() {
            // All of it: ones make the largest numbers, zeroes the shortest lists.
            0 => bytes[range].fill(0xff),
            1 => bytes[range].fill(0),
            // Numbers without end.
            2 => bytes[range].fill(0x80),
            _ => {
                for _ in 0..1 + next(64) {
                    // The beginning has the headers.
                    let reach = if next(2) == 0 { range.len().min(256) } else { range.len() };
                    bytes[range.start + next(reach)] = next(256) as u8;
                }
            }
        }
        let bad = file(&scratch, "bad", &bytes);
        let (status, report) = sanitized(&["--vlen", "128"], &bad);
        assert_eq!(status, Some(123), "round {round}: {report}");
        let sound = report.contains("undefined-branch") && !report.contains("panicked");
        assert!(sound && report.len() < 100_000, "round {round}: {report}");
    }
}
