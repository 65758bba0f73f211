//! A generated C file says how it is built. Its own commands build it, at every level, and it runs.
//!
//! `CLANG` and `GCC` choose other compilers than clang-19 and the newest gcc there is, `RVVGEN_COUNT` more
//! programs.

use crate::compiled::{is_usable, number, on_qemu, on_rvvsim, variable};
use rvv_ir::{Expected, Program};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use std::path::{Path, PathBuf};
use std::process::Command;

const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];
const VLEN: u32 = 256;

/// A folder that goes away.
struct Dir(PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Where a command is.
fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file())
}

fn clang() -> Option<PathBuf> {
    which(&variable("CLANG", "clang-19"))
}

/// gcc 14 is the first that has the ratified intrinsics.
fn gcc() -> Option<PathBuf> {
    let names = match std::env::var("GCC") {
        Ok(name) => vec![name],
        Err(_) => ["-16", "-15", "-14.2", "-14", ""].map(|v| format!("riscv64-linux-gnu-gcc{v}")).to_vec(),
    };
    let is_new = |path: &PathBuf| {
        let output = Command::new(path).arg("-dumpversion").output().ok();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        text.trim().split('.').next().and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 14)
    };
    names.iter().filter_map(|n| which(n)).find(is_new)
}

/// Puts a compiler, under the name that the comment uses, into a new folder.
fn name_it(dir: &Path, name: &str, compiler: &Path) {
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", compiler.display());
    let path = dir.join(name);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs a command of a head comment in the folder of its file.
fn shell(command: &str, folder: &Path, bin: &Path) -> Result<(), String> {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command}\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a file of `--libc` prints: every element, a dash for what is not defined in full.
fn as_text(program: &Program, expected: &Expected) -> String {
    let mut text = String::new();
    for ((_, buffer), contents) in program.outputs().zip(&expected.outputs) {
        let size = buffer.elem.bytes() as usize;
        for (i, bytes) in contents.bytes.chunks(size).enumerate() {
            let defined = contents.defined[i * size..(i + 1) * size].iter().all(|d| *d == 0xff);
            let hex: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
            let value = if defined { format!("0x{hex}") } else { "-".to_string() };
            text += &format!("{}[{i}] = {value}\n", buffer.name);
        }
    }
    text
}

/// Judges what a program printed.
fn judge(folder: &Path, file: &str, libc: bool, printed: &[u8]) -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let program: Program = read("program.ir").parse().unwrap();
    let expected = Expected::from_text(&program, &read(&format!("expected.{VLEN}.txt"))).unwrap();
    match (file, libc) {
        ("self-check.c", _) if printed.is_empty() => Ok(()),
        ("program.c", true) if printed == as_text(&program, &expected).as_bytes() => Ok(()),
        ("program.c", false) if expected.judge(&program, printed).is_none() => Ok(()),
        _ => Err(format!("it printed {}", String::from_utf8_lossy(printed))),
    }
}

/// The command for a compiler.
fn command(folder: &Path, file: &str, compiler: &str) -> String {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let prefix = format!("//   {compiler} ");
    let line = text.lines().find(|l| l.starts_with(&prefix));
    line.unwrap_or_else(|| panic!("no command for {compiler} in {file}:\n{text}"))[5..].to_string()
}

fn builds_and_runs(name: &str, compiler: &Path) {
    let root = Dir(std::env::temp_dir().join(format!("rvvgen-head-{}-{name}", std::process::id())));
    let bin = root.0.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    name_it(&bin, name, compiler);
    let qemu = variable("QEMU", "qemu-riscv64");
    let qemu = is_usable(&qemu).then_some(qemu);
    let mut wrong = Vec::new();
    let mut built = 0;
    for number in 0..number("RVVGEN_COUNT", 1) {
        for libc in [false, true] {
            let folder = root.0.join(format!("{number}-{libc}"));
            let mut rvvgen = Command::new(env!("CARGO_BIN_EXE_rvvgen"));
            rvvgen.args(["--emit", "c,self-check", "--extension", "v", "--vlen", "256"]);
            match number {
                // No compiler fails on these; with floats and rounding modes, all of the helpers are there.
                0 => rvvgen.args(["--intrinsics", "vadd_vv_i*m1", "--intrinsics", "vfadd_vf_f64m?_rm"]),
                // gcc 14 crashes on some of these, and others it gets wrong.
                n => rvvgen.args(["--policy", "rounding", "--ops", "6", "--number", &n.to_string()]),
            };
            rvvgen.arg("-o").arg(&folder).args(libc.then_some("--libc"));
            assert!(rvvgen.status().unwrap().success());
            for file in ["self-check.c", "program.c"] {
                let whole = command(&folder, file, name);
                assert!(whole.contains(" -O2 "), "{whole}");
                let mut all: Vec<String> = LEVELS.map(|l| whole.replace(" -O2 ", &format!(" {l} "))).to_vec();
                if !libc {
                    // Nor does it mind the C library.
                    all.push(whole.replace(" -nostdlib", "").replace(" -ffreestanding", ""));
                }
                for command in all {
                    let elf = folder.join(file.trim_end_matches(".c"));
                    let _ = std::fs::remove_file(&elf);
                    let outcome = shell(&command, &folder, &bin).and_then(|()| {
                        let image = Image::open(&elf).map_err(|e| e.to_string())?;
                        for policy in [Agnostic::Undisturbed, Agnostic::Ones] {
                            let printed = on_rvvsim(&image, VLEN, policy, None)?;
                            judge(&folder, file, libc, &printed)?;
                        }
                        if let Some(qemu) = &qemu {
                            judge(&folder, file, libc, &on_qemu(qemu, &elf, VLEN, true, None)?)?;
                        }
                        Ok(())
                    });
                    built += 1;
                    if let Err(why) = outcome {
                        wrong.push(format!("program {number}: {command}\n{why}"));
                    }
                }
            }
        }
    }
    println!("{}: {built} builds, {} wrong", compiler.display(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_head_comment_builds_it_with_clang() {
    match clang() {
        Some(clang) => builds_and_runs("clang", &clang),
        None => println!("the_head_comment_builds_it_with_clang: skipped, no clang-19 and no $CLANG"),
    }
}

#[test]
fn the_head_comment_builds_it_with_gcc() {
    match gcc() {
        Some(gcc) => builds_and_runs("riscv64-linux-gnu-gcc", &gcc),
        None => println!("the_head_comment_builds_it_with_gcc: skipped, no gcc 14 or later for riscv64"),
    }
}
