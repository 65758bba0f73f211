//! Compilers: what is there, and what each makes of a translation unit.

use super::blame::is_assemblers;
use rvv_intrinsics::Extension;
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit};
use rvv_tools::find::{linkers_of_clang, on_path, version_in};
use rvv_tools::{Ended, run_group, run_keeping};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// What kind of compiler it is: how it is asked, how its complaints read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// gcc
    Gcc,
    /// clang
    Clang,
    /// `zig cc`, which is clang.
    Zig,
    /// A command of the user's.
    Custom,
    /// The direct lowering, which is built in.
    Direct,
}

/// A compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// What to call it: `clang-22`.
    pub name: String,
    /// The version it gives: `22.1.8`.
    pub version: String,
    /// Its kind.
    pub family: Family,
    /// The command and its first arguments. In a custom one, `{c}` is the source, `{elf}` the result, `{flags}` the level and
    /// `{march}` the instruction set.
    pub command: Vec<String>,
    /// `-fuse-ld=…`, where one is needed.
    pub linker: Option<String>,
    /// What it does not have, as far as it has said.
    pub lacks: Lacks,
}

/// Intrinsics and types that a compiler does not have. Clones share what they learn.
#[derive(Clone, Debug, Default)]
pub struct Lacks(Arc<Mutex<HashSet<String>>>);

impl Lacks {
    /// Remembers one.
    pub fn learn(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_string());
    }

    /// The first thing in a text that is missing.
    pub fn first_in(&self, text: &str) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.find(|word| known.contains(*word)).map(str::to_string)
    }
}

/// What has been learned of a compiler is no part of what it is.
impl PartialEq for Lacks {
    fn eq(&self, _: &Lacks) -> bool {
        true
    }
}

impl Eq for Lacks {}

/// What a compiler made of a translation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Built {
    /// The ELF.
    Elf(Vec<u8>),
    /// It refused the program: its message.
    Failed(String),
    /// It made assembly that the assembler refuses.
    Unassembled(String),
    /// It crashed: its message.
    Crashed(String),
    /// It took too long, or too much memory.
    TimedOut,
    /// It does not know this: the name.
    Unsupported(String),
    /// It could not be run at all, or a file could not be written: not the program's fault.
    Broken(String),
}

/// What a compiler may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for one translation unit.
    pub time: Duration,
    /// Address space, in bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: Duration::from_secs(120), memory: 4 << 30 }
    }
}

/// The names looked for on PATH.
pub const USUAL: &[&str] = &[
    "riscv64-linux-gnu-gcc-14.2",
    "riscv64-linux-gnu-gcc-14",
    "riscv64-linux-gnu-gcc-15",
    "riscv64-linux-gnu-gcc-16",
    "riscv64-linux-gnu-gcc",
    "riscv64-unknown-elf-gcc",
    "riscv64-unknown-linux-gnu-gcc",
    "clang-17",
    "clang-18",
    "clang-19",
    "clang-20",
    "clang-21",
    "clang-22",
    "clang-23",
    "clang-24",
    "clang",
    "zig-0.13",
    "zig-0.14",
    "zig-0.15",
    "zig-0.16",
    "zig-0.17",
    "zig",
];

impl Compiler {
    /// The direct lowering.
    pub fn direct() -> Compiler {
        Compiler {
            name: "direct".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            family: Family::Direct,
            command: Vec::new(),
            linker: None,
            lacks: Lacks::default(),
        }
    }

    /// Looks at a compiler: a path, or a name on PATH.
    ///
    /// # Errors
    /// Why it cannot be used, in words.
    pub fn find(name: &str) -> Result<Compiler, String> {
        let is_zig = Path::new(name).file_name().is_some_and(|n| n.to_string_lossy().starts_with("zig"));
        let ask = if is_zig { vec!["cc", "--version"] } else { vec!["--version"] };
        let asked = run_keeping(Command::new(name).args(&ask), Duration::from_secs(20), 1 << 16)
            .map_err(|e| e.to_string())?;
        if asked.ended != Ended::Exited(0) {
            return Err(format!("`{name} {}` failed: is it a compiler?", ask.join(" ")));
        }
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        // gcc under another name, `cc`, says only whose it is; so do many that are no compilers.
        let gcc = text.contains("gcc") || text.contains("Free Software") && !text.contains("coreutils");
        let family = match (is_zig, text.contains("clang"), gcc) {
            (true, ..) => Family::Zig,
            (_, true, _) => Family::Clang,
            (_, _, true) => Family::Gcc,
            _ => {
                return Err(format!(
                    "`{name}` says it is neither gcc nor clang; describe it in testbeds.toml"
                ));
            }
        };
        let version = version_in(&text).ok_or_else(|| format!("`{name}` gives no version"))?;
        let major: u32 = version.split('.').next().and_then(|m| m.parse().ok()).unwrap_or(0);
        let least = if family == Family::Gcc { 14 } else { 17 };
        if major < least {
            return Err(format!(
                "version {version} does not have the ratified RVV intrinsics; {least} is the first"
            ));
        }
        let short =
            Path::new(name).file_name().map_or(name.to_string(), |n| n.to_string_lossy().into_owned());
        let mut command = vec![name.to_string()];
        if is_zig {
            command.push("cc".to_string());
        }
        let mut compiler =
            Compiler { name: short, version, family, command, linker: None, lacks: Lacks::default() };
        compiler.choose_linker(major)?;
        Ok(compiler)
    }

    /// Takes the first linker with which it makes an RVV program.
    fn choose_linker(&mut self, major: u32) -> Result<(), String> {
        let mut linkers = vec![None];
        if self.family == Family::Clang {
            linkers = linkers_of_clang(major);
        }
        let probe = "#include <riscv_vector.h>\nvoid _start(void) { __riscv_vsetvl_e8m1(1); }\n";
        let mut last = String::new();
        for linker in linkers {
            self.linker = linker;
            match self.build_text(probe, "rv64gcv", &["-O0".to_string()], &Limits::default()) {
                Built::Elf(_) => return Ok(()),
                Built::Failed(why) | Built::Crashed(why) | Built::Unsupported(why) | Built::Broken(why) => {
                    last = why
                }
                Built::Unassembled(_) => last = "its assembler does not know RVV".to_string(),
                Built::TimedOut => last = "it did not end".to_string(),
            }
        }
        Err(format!("it cannot make an RVV program: {}", last.lines().next().unwrap_or("no reason given")))
    }

    /// All usual compilers on PATH, without those that are another under a second name; and, for each
    /// name that is there and cannot be used, why.
    pub fn find_all() -> (Vec<Compiler>, Vec<(String, String)>) {
        let mut found: Vec<Compiler> = Vec::new();
        let mut refused = Vec::new();
        for name in USUAL.iter().filter(|n| on_path(n).is_some()) {
            match Compiler::find(name) {
                Ok(c) if found.iter().any(|f| f.family == c.family && f.version == c.version) => {}
                Ok(c) => found.push(c),
                Err(why) => refused.push((name.to_string(), why)),
            }
        }
        (found, refused)
    }

    /// The version, to be compared.
    pub fn version_numbers(&self) -> Vec<u32> {
        self.version.split('.').map(|n| n.parse().unwrap_or(0)).collect()
    }

    /// The instruction set to ask for, so that all of these programs compile.
    pub fn march(&self, programs: &[&Program]) -> String {
        let march = rvv_ir::c::march(programs);
        // Fractional types of groups exist only where the group fits.
        let groups =
            programs.iter().any(|p| p.calls().iter().any(|c| c.intrinsic.extension == Extension::Crypto));
        if groups && self.family == Family::Clang { format!("{march}_zvl128b") } else { march }
    }

    /// Compiles programs into one ELF.
    pub fn build(&self, programs: &[&Program], flags: &[String], limits: &Limits) -> Built {
        if self.family == Family::Direct {
            return match rvv_ir::elf::lower(programs) {
                Ok(elf) => Built::Elf(elf),
                Err(error) => Built::Failed(error.to_string()),
            };
        }
        let text = emit(programs, &COptions::default());
        self.build_text(&text, &self.march(programs), flags, limits)
    }

    /// The command line for these files.
    pub fn command_line(&self, march: &str, flags: &[String], source: &Path, elf: &Path) -> Vec<String> {
        let (source, elf) = (source.display().to_string(), elf.display().to_string());
        if self.family == Family::Custom {
            let flags = flags.join(" ");
            let put = |word: &String| {
                word.replace("{c}", &source)
                    .replace("{elf}", &elf)
                    .replace("{flags}", &flags)
                    .replace("{march}", march)
            };
            return self.command.iter().map(put).collect();
        }
        let mut line = self.command.clone();
        let add = |line: &mut Vec<String>, words: &[&str]| line.extend(words.iter().map(|w| w.to_string()));
        match self.family {
            Family::Zig => {
                let features: Vec<&str> =
                    march.trim_start_matches("rv64gcv").split('_').filter(|f| !f.is_empty()).collect();
                let more: String = features.iter().map(|f| format!("+{f}")).collect();
                add(&mut line, &["-target", "riscv64-freestanding-none"]);
                line.push(format!("-mcpu=generic_rv64+m+a+f+d+c+v{more}"));
                add(&mut line, &["-fno-sanitize=undefined"]);
            }
            Family::Clang => {
                add(&mut line, &["--target=riscv64-linux-gnu", "-menable-experimental-extensions"]);
                line.push(format!("-march={march}"));
                // All errors at once, and no second run of a compiler that has crashed.
                add(&mut line, &["-mabi=lp64d", "-ferror-limit=0", "-fno-crash-diagnostics"]);
            }
            _ => {
                line.push(format!("-march={march}"));
                // Programs hold signalling NaNs and change frm: by default gcc need not respect either.
                add(&mut line, &["-mabi=lp64d", "-fsignaling-nans", "-frounding-math"]);
            }
        }
        line.extend(flags.iter().cloned());
        add(&mut line, &["-ffreestanding", "-nostdlib", "-static", "-w", "-o", &elf, &source]);
        if let Some(linker) = &self.linker {
            line.push(format!("-fuse-ld={linker}"));
        }
        line
    }

    /// Compiles a text.
    pub fn build_text(&self, text: &str, march: &str, flags: &[String], limits: &Limits) -> Built {
        self.build_saying(text, march, flags, limits).0
    }

    /// Compiles a text; also what the compiler said, success or not.
    pub fn build_saying(
        &self,
        text: &str,
        march: &str,
        flags: &[String],
        limits: &Limits,
    ) -> (Built, String) {
        let mut said = String::new();
        let built = self.build_into(text, march, flags, limits, &mut said);
        (built, said)
    }

    fn build_into(
        &self,
        text: &str,
        march: &str,
        flags: &[String],
        limits: &Limits,
        told: &mut String,
    ) -> Built {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return Built::Broken(format!("no temporary folder: {error}")),
        };
        let (source, elf) = (folder.path().join("p.c"), folder.path().join("p.elf"));
        if let Err(error) = std::fs::write(&source, text) {
            return Built::Broken(format!("{}: {error}", source.display()));
        }
        if self.family != Family::Gcc {
            return self.make(&self.command_line(march, flags, &source, &elf), &elf, &folder, limits, told);
        }
        // gcc's assembly is kept: if the assembler refuses a line of it, the rest is still good.
        let assembly = folder.path().join("p.s");
        let to_assembly = [flags, &["-S".to_string()]].concat();
        let line = self.command_line(march, &to_assembly, &source, &assembly);
        match self.make(&line, &assembly, &folder, limits, told) {
            Built::Elf(text) if flags.iter().any(|f| f == "-S") => Built::Elf(text),
            Built::Elf(text) => {
                let line = self.command_line(march, flags, &assembly, &elf);
                match self.make(&line, &elf, &folder, limits, told) {
                    Built::Failed(said) if is_assemblers(&said) => {
                        Built::Unassembled(String::from_utf8_lossy(&text).into_owned())
                    }
                    built => built,
                }
            }
            built => built,
        }
    }

    /// Assembles and links what [`Compiler::build_saying`] has made.
    pub fn assemble(&self, assembly: &str, march: &str, flags: &[String], limits: &Limits) -> Built {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return Built::Broken(format!("no temporary folder: {error}")),
        };
        let (source, elf) = (folder.path().join("p.s"), folder.path().join("p.elf"));
        if let Err(error) = std::fs::write(&source, assembly) {
            return Built::Broken(format!("{}: {error}", source.display()));
        }
        let line = self.command_line(march, flags, &source, &elf);
        self.make(&line, &elf, &folder, limits, &mut String::new())
    }

    /// Runs a command line that makes a file.
    fn make(
        &self,
        line: &[String],
        file: &Path,
        folder: &TempDir,
        limits: &Limits,
        told: &mut String,
    ) -> Built {
        // The shell's ulimit: a compiler that eats memory must not take the machine with it.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v \"$0\"; ulimit -c 0; exec \"$@\""]);
        command.arg((limits.memory >> 10).to_string()).args(line).current_dir(folder.path());
        // Its own files go away with ours.
        command.env("TMPDIR", folder.path());
        // Its messages are read here.
        command.env("LC_ALL", "C");
        let run = match run_group(&mut command, limits.time, 1 << 20) {
            Ok(run) => run,
            Err(error) => return Built::Broken(error.to_string()),
        };
        let said = without_folders(&without_arguments(&String::from_utf8_lossy(&run.stderr)), folder.path());
        told.push_str(&said);
        match run.ended {
            Ended::Exited(0) => match std::fs::read(file) {
                Ok(bytes) => Built::Elf(bytes),
                Err(_) => Built::Failed("it said it succeeded and left no ELF".to_string()),
            },
            Ended::TimedOut => Built::TimedOut,
            Ended::Exited(126 | 127) => Built::Broken(said),
            _ if is_crash(&said) => Built::Crashed(said),
            Ended::Killed(signal) => Built::Crashed(format!("signal {signal}\n{said}")),
            Ended::Exited(_) => match unsupported(&said) {
                Some(name) => Built::Unsupported(name),
                None => Built::Failed(said),
            },
        }
    }
}

/// clang's stack without its command line, which is longer than all the rest.
fn without_arguments(said: &str) -> String {
    let mut text = String::with_capacity(said.len());
    for line in said.lines() {
        let end = line.find("Program arguments: ").map_or(line.len(), |at| at + "Program arguments:".len());
        text += &line[..end];
        text.push('\n');
    }
    text
}

/// A message without the names of temporary files, which are others each time: `p.c`, `p.s`.
fn without_folders(said: &str, folder: &Path) -> String {
    let said = said.replace(&format!("{}/", folder.display()), "");
    let random = |word: &str| {
        let name =
            word.strip_prefix("cc").and_then(|rest| rest.split_once('.')).filter(|(name, _)| name.len() == 6);
        name.map(|(_, extension)| format!("p.{extension}"))
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut out = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        out += &random(&rest[..word]).unwrap_or_else(|| rest[..word].to_string());
        let other = rest[word..].find(is_name).unwrap_or(rest.len() - word);
        out += &rest[word..word + other];
        rest = &rest[word + other..];
    }
    out
}

/// An internal compiler error, in the words of gcc or clang.
fn is_crash(said: &str) -> bool {
    [
        "internal compiler error",
        "PLEASE submit a bug report",
        "LLVM ERROR",
        "Stack dump:",
        "Assertion `",
        "UNREACHABLE executed",
        "fatal error: error in backend",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// The name of an intrinsic, type or extension that the compiler does not have.
pub(super) fn unsupported(said: &str) -> Option<String> {
    for line in said.lines() {
        // clang: call to undeclared function '__riscv_x'; gcc: implicit declaration of function '__riscv_x';
        // both: unknown type name 'vbfloat16m1_t'; extensions by `-march=`.
        let unknown = [
            "undeclared function",
            "implicit declaration",
            "unknown type name",
            "use of undeclared identifier",
        ];
        if unknown.iter().any(|w| line.contains(w)) {
            let name =
                line.split(['\'', '‘', '’', '`']).find(|w| w.starts_with("__riscv_") || w.ends_with("_t"));
            if let Some(name) = name {
                return Some(name.to_string());
            }
        }
        let arch = [
            "unsupported -march",
            "invalid arch name",
            "requires the extension",
            "requires target feature",
            "extension 'z",
            "unknown prefix",
            "unsupported non-standard",
            "unexpected ISA string",
        ];
        // clang: builtin requires at least one of the following extensions: zvfbfa.
        let needs = line.contains("requires at least one of the following extensions");
        if (needs || arch.iter().any(|w| line.contains(w))) && line.contains("error") {
            return Some(line.split("error: ").last().unwrap_or(line).to_string());
        }
        // gcc: no overload for these types.
        if let Some((_, rest)) = line.split_once("too many arguments to function '__riscv_")
            && let Some((name, rest)) = rest.split_once('\'')
            && rest.starts_with("; expected 0")
        {
            return Some(format!("an overload of __riscv_{name}"));
        }
        // Builtins that need an extension: gcc's words.
        if line.contains("requires") && line.contains("ISA extension") {
            return Some(line.split("error: ").last().unwrap_or(line).to_string());
        }
    }
    None
}

/// `fatal error: error in backend: Cannot select: 0x5601: nxv1i8 = add 0x5602`, without what differs each time: the operation
/// is what counts.
fn backend_error(line: &str) -> String {
    let Some((what, node)) = line.split_once("Cannot select: ") else { return line.to_string() };
    let operation = node.split_once(" = ").map_or(node, |(_, rest)| rest);
    format!("{what}Cannot select: {}", operation.split([' ', '<']).next().unwrap_or(operation))
}

/// What a compiler wrote where a mnemonic should be, if the assembler complains of something that cannot be one: a piece of a
/// template that was not filled in. An instruction that only this assembler does not know is another matter.
pub fn nonsense(said: &str) -> Option<&str> {
    // "p.s:12: Error: unrecognized opcode `vluxei<quad_ext_sew>.v v8,(a0),v8'"
    let opcodes = said.lines().filter_map(|l| l.split_once("Error: unrecognized opcode `"));
    let words = opcodes.filter_map(|(_, rest)| rest.split([' ', '\t', '\'']).next());
    let is_name = |w: &&str| w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_');
    words.filter(|w| !is_name(w)).min()
}

/// What identifies a crash of a compiler: the line that says where.
pub fn crash_site(said: &str) -> String {
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("internal compiler error: ") {
            // `in expand_insn, at optabs.cc:8294`
            if rest.contains(" at ") {
                return rest.trim().to_string();
            }
            // Of a segmentation fault, the innermost function of the stack, as far as its name is known, and the pass.
            // `0xc14a67 gen_lowpart_common(machine_mode, rtx_def*)`
            let frames = said.lines().filter(|l| l.starts_with("0x")).filter_map(|l| l.split_once(' '));
            let names = frames.filter_map(|(_, name)| name.split('(').next());
            let function = names.into_iter().find(|n| !["internal_error", "crash_signal", "???"].contains(n));
            let function = function.map(|f| format!("in {f}"));
            let pass = said.lines().find(|l| l.starts_with("during ") && l.contains(" pass: "));
            let parts = [Some(rest.trim()), function.as_deref(), pass.map(str::trim)];
            return parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        }
        if let Some((_, rest)) = line.split_once("Assertion `") {
            return format!("assertion {}", rest.trim());
        }
        if line.contains("LLVM ERROR") || line.contains("error in backend") {
            return backend_error(line.trim());
        }
    }
    // clang's stack: the innermost function that is not about the crash itself.
    for line in said.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())) {
        if let Some((_, rest)) = line.split_once(" llvm::").or_else(|| line.split_once(" clang::")) {
            let name = rest.split(['(', ' ', '<']).next().unwrap_or(rest);
            if !["sys::", "CrashRecovery", "driver::"].iter().any(|w| name.starts_with(w))
                && !line.contains("Running pass")
            {
                return format!("in {name}");
            }
        }
    }
    // Else the pass it was in, last of those around it. The function's name is the program's.
    let pass = said.lines().rev().find_map(|l| l.split_once("Running pass").map(|(_, rest)| rest));
    let name = pass.and_then(|p| p.split(['\'', '"']).find(|w| w.trim().len() > 1));
    match name {
        Some(name) => format!("in pass {}", name.trim()),
        None => said.lines().next().unwrap_or("no message").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_a_whole_word_and_clones_know_it() {
        let lacks = Lacks::default();
        assert_eq!(lacks.first_in("__riscv_vx(a)"), None);
        lacks.clone().learn("__riscv_vx");
        assert_eq!(lacks.first_in("b = __riscv_vx(a);").as_deref(), Some("__riscv_vx"));
        assert_eq!(lacks.first_in("b = __riscv_vx_mu(a);"), None);
    }

    #[test]
    fn versions_are_found_in_what_compilers_say() {
        for (text, version) in [
            ("riscv64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0\nCopyright", "14.2.0"),
            ("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64", "19.1.7"),
            ("clang version 21.1.0 (https://github.com/ziglang/zig-bootstrap 123)", "21.1.0"),
        ] {
            assert_eq!(version_in(text).as_deref(), Some(version));
        }
        assert_eq!(version_in("hello"), None);
    }

    #[test]
    fn messages_have_no_random_names() {
        let said = "/tmp/.tmpEh/p.c:4:1: error: x\n/tmp/.tmpEh/ccKwD0cM.s: Assembler messages:\n/tmp/.tmpEh/ccKwD0cM.s:5: Error";
        let clean = without_folders(said, Path::new("/tmp/.tmpEh"));
        assert_eq!(clean, "p.c:4:1: error: x\np.s: Assembler messages:\np.s:5: Error");
    }

    #[test]
    fn a_missing_intrinsic_is_no_failure_of_the_program() {
        let clang = "p.c:3:5: error: call to undeclared function '__riscv_vfoo'; ISO C99 and later";
        assert_eq!(unsupported(clang).as_deref(), Some("__riscv_vfoo"));
        let gcc = "p.c:1:1: error: unknown type name ‘vbfloat16m1_t’";
        assert_eq!(unsupported(gcc).as_deref(), Some("vbfloat16m1_t"));
        assert_eq!(unsupported("p.c:1:1: error: expected ';'"), None);
    }

    #[test]
    fn nonsense_is_not_an_instruction_that_the_assembler_does_not_know() {
        let line =
            |what: &str| format!("p.s: Assembler messages:\np.s:7: Error: unrecognized opcode `{what}'\n");
        let wrong = line("vluxei<quad_ext_sew>.v v8,(a0),v8");
        assert_eq!(nonsense(&wrong), Some("vluxei<quad_ext_sew>.v"));
        for unknown in ["vandn.vv v1,v2,v3", "th.vmaqa.vv v1,v2,v3", "fence.i"] {
            assert_eq!(nonsense(&line(unknown)), None);
            assert_eq!(nonsense(&(line(unknown) + &wrong)), Some("vluxei<quad_ext_sew>.v"));
        }
        assert_eq!(nonsense("p.c:3: error: unknown type name 'v<t>'"), None);
    }

    #[test]
    fn a_crash_is_known_by_its_place() {
        let clang = "fatal error: error in backend: Cannot select: 0x5601: riscv_nxv32i8x2 = select_cc 0x5602, Constant:i64<9>";
        assert_eq!(crash_site(clang), "fatal error: error in backend: Cannot select: select_cc");
        let clang =
            "PLEASE submit a bug report to x\nStack dump:\n0.\tProgram arguments: clang a b\n1.\t<eof>\n";
        assert!(without_arguments(clang).contains("arguments:\n1."));
        let gcc = "during RTL pass: expand\np.c: In function 'f':\np.c:9:1: internal compiler error: in expand_fn_using_insn, at internal-fn.cc:268\n";
        assert!(is_crash(gcc));
        assert_eq!(crash_site(gcc), "in expand_fn_using_insn, at internal-fn.cc:268");
        let clang = "fatal error: error in backend: Cannot select: 0x5601: riscv_nxv32i8x2 = select_cc 0x5602, Constant:i64<9>";
        assert_eq!(crash_site(clang), "fatal error: error in backend: Cannot select: select_cc");
        let clang =
            "PLEASE submit a bug report to x\nStack dump:\n0.\tProgram arguments: clang a b\n1.\t<eof>\n";
        assert!(without_arguments(clang).contains("arguments:\n1."));
        let gcc = "during RTL pass: expand\np.c: In function 'f':\np.c:2:8: internal compiler error: Segmentation fault";
        assert_eq!(crash_site(gcc), "Segmentation fault during RTL pass: expand");
        let gcc = format!(
            "{gcc}\n0x26c1ff8 internal_error(char const*, ...)\n\t???:0\n0xc14a67 gen_lowpart_common(int)"
        );
        let place = "Segmentation fault in gen_lowpart_common during RTL pass: expand";
        assert_eq!(crash_site(&gcc), place);
        let clang = "PLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: clang p.c\n\
                     4.\tRunning pass 'RISC-V DAG->DAG Pattern Instruction Selection' on function '@f0'\n\
                     0  libLLVM.so.22.1 0x00007fd5 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) + 58\n\
                     5  libLLVM.so.22.1 0x00007fd5 llvm::SelectionDAGISel::LowerArguments(llvm::Function const&) + 6463\n";
        assert_eq!(crash_site(clang), "in SelectionDAGISel::LowerArguments");
    }
}
