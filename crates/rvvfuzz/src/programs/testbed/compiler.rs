//! Compilers: what is there, and what each makes of a translation unit.

use super::blame::is_assemblers;
pub use super::message::{crash_site, nonsense, printable};
use super::message::{is_crash, unsupported, without_arguments, without_folders};
use rvv_intrinsics::Extension;
use rvv_ir::Program;
use rvv_ir::c::{COptions, FloatNeeds, emit, float_needs};
use rvv_tools::find::{linkers_of_clang, on_path, version_in};
use rvv_tools::{Ended, run_group, run_keeping};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Told of programs of plain C; the others get `-ffreestanding`.
const HOSTED: &str = "-fhosted";

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
    /// The command and its first arguments. In a custom one, `{c}` is the source, `{elf}` the result,
    /// `{flags}` the level and `{march}` the instruction set.
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

    /// Remembers an overload that is missing, as [`unsupported`] says it, if there is only one that it can be
    /// in the program.
    pub fn learn_overload(&self, what: &str, program: &Program) {
        let Some(name) = what.strip_prefix("an overload of ") else { return };
        let calls = program.calls().into_iter().filter(|c| c.overloaded);
        let named = calls.filter(|c| c.intrinsic.overloaded.as_deref() == Some(name));
        let mut names: Vec<&str> = named.map(|c| &*c.intrinsic.name).collect();
        names.sort_unstable();
        names.dedup();
        if let [one] = names[..] {
            self.learn(&overload(one));
        }
    }

    /// An overload of a program that is missing.
    pub fn overload_of(&self, program: &Program) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        let calls = program.calls().into_iter().filter(|c| c.overloaded);
        calls.map(|c| overload(&c.intrinsic.name)).find(|name| known.contains(name))
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

/// An intrinsic under its overloaded name.
fn overload(name: &str) -> String {
    format!("an overload of {name}")
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
    /// When everything must have ended: what is built then is left.
    pub until: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: Duration::from_secs(120), memory: 4 << 30, until: None }
    }
}

impl Limits {
    /// Whether everything must have ended.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Time for a translation unit that is begun now.
    pub(super) fn time_now(&self) -> Duration {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        left.map_or(self.time, |left| left.min(self.time))
    }

    /// A compiler's command line, to be run in a folder.
    pub(super) fn command(&self, line: &[String], folder: &TempDir) -> Command {
        // The shell's ulimit: a compiler that eats memory must not take the machine with it.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v \"$0\"; ulimit -c 0; exec \"$@\""]);
        command.arg((self.memory >> 10).to_string()).args(line).current_dir(folder.path());
        // Its own files go away with ours.
        command.env("TMPDIR", folder.path());
        // Its messages are read here.
        command.env("LC_ALL", "C");
        command
    }
}

/// The flag that makes a source C++.
pub const CPP: &str = "-xc++";

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
        // It is run in another folder.
        let path = std::path::absolute(name).ok().filter(|_| name.contains('/'));
        let mut command = vec![path.map_or(name.to_string(), |p| p.display().to_string())];
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

    /// Whether it knows this instruction set; if not, that is remembered.
    pub fn accepts(&self, march: &str, limits: &Limits) -> bool {
        if self.lacks.first_in(march).is_some() {
            return false;
        }
        let flags = ["-O0".to_string(), "-c".to_string()];
        let refused = matches!(self.build_text("", march, &flags, limits), Built::Unsupported(_));
        if refused {
            self.lacks.learn(march);
        }
        !refused
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
        self.build_text(&text, &self.march(programs), &self.flags_for(programs, flags), limits)
    }

    /// What has to be said of programs besides, where their truth is not what a compiler makes of them by
    /// default; all others are compiled as users compile.
    pub fn flags_for(&self, programs: &[&Program], flags: &[String]) -> Vec<String> {
        let mut needs = FloatNeeds::default();
        for program in programs {
            let one = float_needs(program);
            needs.rounding |= one.rounding;
            needs.nans |= one.nans;
            needs.contraction |= one.contraction;
        }
        let gcc = self.family == Family::Gcc;
        let custom = self.family == Family::Custom;
        // Loops of plain C may be what functions of the C library do: compilers look for that in a program
        // that has one.
        let hosted = programs.iter().all(|p| p.is_plain()) && (gcc || self.family == Family::Clang);
        let told = [
            (hosted, HOSTED),
            (needs.nans && gcc, "-fsignaling-nans"),
            (needs.contraction && !custom, "-ffp-contract=off"),
            (needs.rounding && gcc, "-frounding-math"),
        ];
        let told = told.into_iter().filter(|(needed, _)| *needed).map(|(_, flag)| flag.to_string());
        // A contraction that is asked for is what is meant.
        told.chain(flags.iter().cloned()).collect()
    }

    /// The command line for these files. A flag that begins with + adds to the instruction set.
    pub fn command_line(&self, march: &str, flags: &[String], source: &Path, elf: &Path) -> Vec<String> {
        let mut march = march.to_string();
        flags.iter().filter_map(|f| f.strip_prefix('+')).for_each(|more| march += &format!("_{more}"));
        let march = march.as_str();
        let flags: Vec<String> = flags.iter().filter(|f| !f.starts_with('+')).cloned().collect();
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
                add(&mut line, &["-mabi=lp64d"]);
            }
        }
        if flags.iter().any(|f| f.starts_with("-fstack-protector")) {
            // There is no library that has these: a guard that never changes, and a jump to nowhere.
            add(&mut line, &["-Wl,--defsym=__stack_chk_guard=_start,--defsym=__stack_chk_fail=0"]);
        }
        let hosted = flags.iter().any(|f| f == HOSTED);
        line.extend(flags);
        if !hosted {
            add(&mut line, &["-ffreestanding"]);
        }
        add(&mut line, &["-nostdlib", "-static", "-w", "-o", &elf, &source]);
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
                let line = self.command_line(march, &of_assembly(flags), &assembly, &elf);
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
        let line = self.command_line(march, &of_assembly(flags), &source, &elf);
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
        let mut command = limits.command(line, folder);
        let run = match run_group(&mut command, limits.time_now(), 1 << 20) {
            Ok(run) => run,
            Err(error) => return Built::Broken(error.to_string()),
        };
        let said = without_folders(&without_arguments(&printable(&run.stderr)), folder.path());
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

/// The flags for a compiler's own assembly, which is in no other language.
fn of_assembly(flags: &[String]) -> Vec<String> {
    flags.iter().filter(|f| *f != CPP).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_a_command_line() {
        let gcc = Compiler { family: Family::Gcc, command: vec!["gcc".into()], ..Compiler::direct() };
        let line = |flags: &str| {
            let flags: Vec<String> = flags.split_whitespace().map(str::to_string).collect();
            gcc.command_line("rv64gcv", &flags, Path::new("p.c"), Path::new("p")).join(" ")
        };
        assert!(line("-O2 +zvl256b -g").starts_with("gcc -march=rv64gcv_zvl256b -mabi=lp64d -O2 -g "));
        assert!(line("-O2 -fstack-protector-strong").contains("--defsym=__stack_chk_guard=_start"));
        assert_eq!(of_assembly(&["-O2".into(), CPP.into()]), ["-O2"]);
    }

    #[test]
    fn a_program_is_compiled_as_users_compile_where_its_truth_allows_it() {
        let gcc = Compiler { family: Family::Gcc, ..Compiler::direct() };
        let program = |data: &str| -> Program {
            let text = format!(
                "rvv-ir 1\ndata a: f32[2] = [{data}]\nout c: f32[2] = zero\nmain {{\n  var x: f32m1\n  \
                 x = vle32_v_f32m1(&a[0], 2)\n  x = vfadd_vv_f32m1(x, x, 2)\n  vse32_v_f32m1(&c[0], x, 2)\n}}\n"
            );
            text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
        };
        let (plain, odd) = (program("0x3f800000, 0x40000000"), program("0x7fa00001, 0x0"));
        assert!(gcc.flags_for(&[&plain], &[]).is_empty());
        assert_eq!(gcc.flags_for(&[&plain, &odd], &["-O2".into()]), ["-fsignaling-nans", "-O2"]);
        let clang = Compiler { family: Family::Clang, ..Compiler::direct() };
        assert!(clang.flags_for(&[&odd], &[]).is_empty());
    }

    #[test]
    fn what_is_missing_is_a_whole_word_and_clones_know_it() {
        let lacks = Lacks::default();
        assert_eq!(lacks.first_in("__riscv_vx(a)"), None);
        lacks.clone().learn("__riscv_vx");
        assert_eq!(lacks.first_in("b = __riscv_vx(a);").as_deref(), Some("__riscv_vx"));
        assert_eq!(lacks.first_in("b = __riscv_vx_mu(a);"), None);
    }

    #[test]
    fn a_compiler_in_this_folder_is_found_from_any_other() {
        let folder = tempfile::tempdir_in(".").unwrap();
        let script = folder.path().join("gcc");
        let body = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'gcc (Free Software) 14.2.0' && exit\n\
            while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo x > \"$2\"; shift; done\n";
        std::fs::write(&script, body).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        let name = script.strip_prefix(std::env::current_dir().unwrap()).unwrap_or(&script);
        assert!(name.is_relative(), "{}", name.display());
        let found = Compiler::find(&name.display().to_string()).unwrap();
        assert!(Path::new(&found.command[0]).is_absolute(), "{:?}", found.command);
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
}
