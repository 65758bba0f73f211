//! What a compiler says of its work, if it is asked: its records, the passes that changed something, its
//! counters, its messages.

use super::Build;
use super::compiler::{Built, Family, Limits};
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit};
use rvv_tools::records::is_change;
use rvv_tools::{Ended, run_group_choosing};
use std::io::Read;
use std::path::Path;

/// What a compiler is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Asks {
    /// clang's optimisation records; gcc's counters and messages. They cost little.
    pub records: bool,
    /// The passes of clang that changed something, by `-print-changed`.
    pub passes: Passes,
}

/// Which passes of clang are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Passes {
    /// None.
    #[default]
    No,
    /// Those in [`PASSES`]. clang writes what it compiles before and after each of them: about twice the time.
    Some,
    /// All of them: about eight times the time.
    All,
}

/// Passes that are about vectors, or that move, merge and remove instructions after they were selected, by
/// their arguments. A clang that does not have one goes without it.
pub const PASSES: [&str; 31] = [
    "loop-vectorize",
    "slp-vectorizer",
    "vector-combine",
    "load-store-vectorizer",
    "riscv-codegenprepare",
    "riscv-gather-scatter-lowering",
    "interleaved-access",
    "riscv-vmv0-elimination",
    "riscv-vector-peephole",
    "riscv-fold-masks",
    "riscv-vl-optimizer",
    "riscv-insert-vsetvli",
    "riscv-coalesce-vsetvli",
    "riscv-insert-read-write-csr",
    "riscv-insert-write-vxrm",
    "riscv-dead-register-definitions",
    "riscv-merge-base-offset",
    "riscv-opt-w-instrs",
    "peephole-opt",
    "early-machinelicm",
    "machinelicm",
    "machine-cse",
    "machine-sink",
    "machine-cp",
    "machine-scheduler",
    "register-coalescer",
    "greedy",
    "virtregrewriter",
    "stack-slot-coloring",
    "branch-folder",
    "tailduplication",
];

/// What a compiler said of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The C file that its messages are about.
    pub text: String,
    /// The ELF.
    pub elf: Vec<u8>,
    /// clang's records, as YAML.
    pub records: String,
    /// The lines above clang's dumps.
    pub changes: String,
    /// gcc's counters.
    pub counters: String,
    /// gcc's messages.
    pub messages: String,
}

/// At most so much of each is read.
const MOST: u64 = 32 << 20;

/// Compiles programs into one file and asks what was done to them.
///
/// # Errors
/// Why there is no ELF, in words.
pub fn ask(build: &Build, programs: &[&Program], asks: Asks, limits: &Limits) -> Result<Answers, String> {
    let compiler = &build.compiler;
    if compiler.family == Family::Direct {
        let elf = rvv_ir::elf::lower(programs).map_err(|e| e.to_string())?;
        return Ok(Answers { elf, ..Answers::default() });
    }
    let text = emit(programs, &COptions { language: build.language(), ..COptions::default() });
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let file = |name: &str| folder.path().join(name);
    let (source, assembly, elf) = (file("p.c"), file("p.s"), file("p.elf"));
    std::fs::write(&source, &text).map_err(|e| format!("{}: {e}", source.display()))?;
    let march = compiler.march(programs);
    let mut flags = compiler.flags_for(programs, &build.flags);
    let is_gcc = compiler.family == Family::Gcc;
    flags.extend(flags_of(compiler.family, asks, folder.path()));
    if is_gcc {
        // Assembling is another command: it would count nothing.
        flags.push("-S".to_string());
    }
    let made = if is_gcc { &assembly } else { &elf };
    let line = compiler.command_line(&march, &flags, &source, made);
    let run = run_group_choosing(&mut limits.command(&line, &folder), limits.time_now(), MOST, is_wanted);
    let run = run.map_err(|e| e.to_string())?;
    let read = |path: &Path| {
        let mut text = Vec::new();
        // One that is not there says nothing.
        let _ = std::fs::File::open(path).and_then(|f| f.take(MOST).read_to_end(&mut text));
        text
    };
    let text_of = |name: &str| String::from_utf8_lossy(&read(&file(name))).into_owned();
    let said = String::from_utf8_lossy(&run.stderr);
    let (changes, others): (Vec<&str>, Vec<&str>) = said.lines().partition(|l| is_change(l.as_bytes()));
    match run.ended {
        Ended::Exited(0) => {}
        Ended::TimedOut => return Err("it took too long".to_string()),
        _ => return Err(others.first().map_or("it failed and said nothing", |l| l).to_string()),
    }
    let elf = match is_gcc {
        false => read(&elf),
        true => match compiler.assemble(&text_of("p.s"), &march, &build.flags, limits) {
            Built::Elf(elf) => elf,
            _ => return Err("its assembler refuses what it wrote".to_string()),
        },
    };
    Ok(Answers {
        elf,
        records: text_of("p.yaml"),
        changes: changes.join("\n"),
        counters: text_of("p.statistics"),
        messages: text_of("p.messages"),
        text,
    })
}

/// The line above a dump, or one that says why there is none.
fn is_wanted(line: &[u8]) -> bool {
    is_change(line) || line.windows(7).any(|w| w == b"error: ")
}

fn flags_of(family: Family, asks: Asks, folder: &Path) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let mut flags = Vec::new();
    match family {
        // zig takes other options, and a command of the user's unknown ones.
        Family::Clang => {
            if asks.records {
                flags.push("-fsave-optimization-record".to_string());
                flags.push(format!("-foptimization-record-file={}", file("p.yaml")));
            }
            if asks.passes > Passes::No {
                flags.extend(["-mllvm", "-print-changed=quiet"].map(str::to_string));
            }
            if asks.passes == Passes::Some {
                flags.extend(["-mllvm".to_string(), format!("-filter-passes={}", PASSES.join(","))]);
            }
        }
        Family::Gcc if asks.records => {
            flags.push(format!("-fdump-statistics={}", file("p.statistics")));
            flags.push(format!("-fopt-info-optimized={}", file("p.messages")));
        }
        _ => {}
    }
    flags
}
