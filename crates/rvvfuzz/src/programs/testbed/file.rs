//! `testbeds.toml`: compilers and emulators of the user's.

use super::compiler::{Built, Compiler, Family, Lacks, Limits};
use crate::programs::settings::{CompilerSettings, EmulatorSettings};
use serde::Deserialize;
use std::path::Path;

/// An example, for messages and `--help`.
pub const EXAMPLE: &str = r#"levels = ["-O0", "-O2", "-O3 -flto"]
vlens = [128, 256, 512, 1024]

[[compiler]]                  # a gcc or clang: its options are known
name = "my-gcc"
command = "riscv64-unknown-elf-gcc"
flags = ["-mtune=generic"]

[[compiler]]                  # anything else
name = "mine"
version = "1.2"
command = "mycc {flags} -march={march} -o {elf} {c}"

[[emulator]]
name = "spike"
command = "spike --isa=rv64gcv_zvl{vlen}b pk {elf}"

[[emulator]]
name = "board"
command = "ssh board ./run {elf}"
vlens = [256]
"#;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestbedsFile {
    /// Levels of optimisation.
    pub levels: Option<Vec<String>>,
    /// VLENs.
    pub vlens: Option<Vec<u32>>,
    /// The direct lowering and `rvvsim` are testbeds too; they are unless this is false.
    pub builtin: Option<bool>,
    /// Compilers.
    #[serde(default)]
    pub compiler: Vec<CompilerEntry>,
    /// Emulators.
    #[serde(default)]
    pub emulator: Vec<EmulatorEntry>,
}

/// A compiler of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerEntry {
    /// What to call it; the command's name if there is none.
    pub name: Option<String>,
    /// The command: a path, or a line with `{c}` and `{elf}` in it.
    pub command: String,
    /// Flags that come before all others.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Its version, if it is not asked.
    pub version: Option<String>,
}

/// An emulator of the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatorEntry {
    /// What to call it.
    pub name: String,
    /// The command, with `{elf}` in it, and `{vlen}` where it can be set.
    pub command: String,
    /// The VLENs it has.
    #[serde(default)]
    pub vlens: Vec<u32>,
}

impl TestbedsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong in it, where, and what is right.
    pub fn read(path: &Path) -> Result<TestbedsFile, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        TestbedsFile::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong in it, where, and what is right.
    pub fn parse(text: &str) -> Result<TestbedsFile, String> {
        let file: TestbedsFile =
            toml::from_str(text).map_err(|e| format!("{e}\nRight is, for example:\n\n{EXAMPLE}"))?;
        if file.levels.as_ref().is_some_and(Vec::is_empty) {
            return Err("`levels` is empty; leave it out for the usual ones".to_string());
        }
        if file.vlens.as_ref().is_some_and(Vec::is_empty) {
            return Err("`vlens` is empty; leave it out for the usual ones".to_string());
        }
        for c in &file.compiler {
            let name = c.name.as_deref().unwrap_or(&c.command);
            if c.command.split_whitespace().next().is_none() {
                return Err(format!("compiler `{name}`: `command` is empty"));
            }
            if c.command.contains("{c}") != c.command.contains("{elf}") {
                return Err(format!(
                    "compiler `{name}`: a command line of your own has both {{c}}, the source, and {{elf}}, the result"
                ));
            }
        }
        for e in &file.emulator {
            if !e.command.contains("{elf}") {
                return Err(format!("emulator `{}`: the command needs {{elf}}, the program to run", e.name));
            }
            if !e.command.contains("{vlen}") && e.vlens.is_empty() {
                return Err(format!(
                    "emulator `{}`: its VLEN must be known: put {{vlen}} into the command, or `vlens = [256]` beside it",
                    e.name
                ));
            }
            if ["rvvsim", "qemu"].contains(&e.name.as_str()) {
                return Err(format!("emulator `{}`: the name is taken, choose another", e.name));
            }
        }
        Ok(file)
    }
}

impl CompilerEntry {
    /// Looks at the compiler.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn find(&self, limits: &Limits) -> Result<CompilerSettings, String> {
        if !self.command.contains("{c}") {
            let mut found = Compiler::find(&self.command)?;
            found.name = self.name.clone().unwrap_or(found.name);
            found.version = self.version.clone().unwrap_or(found.version);
            found.command.extend(self.flags.iter().cloned());
            return Ok(CompilerSettings::from(&found));
        }
        let mut command: Vec<String> = self.command.split_whitespace().map(str::to_string).collect();
        // Flags go where the level goes, or after the command's name.
        let at = command.iter().position(|w| w == "{flags}").unwrap_or(1);
        command.splice(at..at, self.flags.iter().cloned());
        let compiler = Compiler {
            name: self.name.clone().unwrap_or_else(|| command[0].clone()),
            version: self.version.clone().unwrap_or_else(|| "no version given".to_string()),
            family: Family::Custom,
            command,
            linker: None,
            lacks: Lacks::default(),
        };
        probe(&compiler, limits)?;
        Ok(CompilerSettings::from(&compiler))
    }
}

/// A first program for a compiler that says nothing about itself.
const PROBE: &str = "#include <riscv_vector.h>\n__attribute__((naked)) void _start(void) { __asm__(\"li a7,93\\nli a0,0\\necall\"); }\n\
                     unsigned long f(unsigned long n) { return __riscv_vsetvl_e8m1(n); }\n";

/// Tries a compiler on a program that all can compile.
///
/// # Errors
/// Why it cannot be used.
pub fn probe(compiler: &Compiler, limits: &Limits) -> Result<(), String> {
    let limits = Limits { time: limits.time.min(std::time::Duration::from_secs(20)), ..*limits };
    let first =
        |why: String| why.lines().find(|l| !l.trim().is_empty()).unwrap_or("no reason given").to_string();
    match compiler.build_text(PROBE, "rv64gcv", &["-O0".to_string()], &limits) {
        Built::Elf(elf) => match rvvsim::elf::Image::parse(&elf) {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("what it makes is no RISC-V program: {why}")),
        },
        Built::Failed(why) | Built::Crashed(why) | Built::Unsupported(why) | Built::Broken(why) => {
            Err(format!("it cannot compile an empty program: {}", first(why)))
        }
        Built::Unassembled(_) => Err("its assembler does not know RVV".to_string()),
        Built::TimedOut => {
            Err(format!("it does not end: it had {} s for an empty program", limits.time.as_secs()))
        }
    }
}

impl From<&EmulatorEntry> for EmulatorSettings {
    fn from(e: &EmulatorEntry) -> Self {
        EmulatorSettings {
            name: e.name.clone(),
            version: String::new(),
            command: e.command.split_whitespace().map(str::to_string).collect(),
            vlens: e.vlens.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_right() {
        let file = TestbedsFile::parse(EXAMPLE).unwrap();
        assert_eq!((file.compiler.len(), file.emulator.len()), (2, 2));
    }

    #[test]
    fn errors_say_what_is_right() {
        for (text, says) in [
            ("level = [\"-O2\"]", "unknown field `level`"),
            ("[[compiler]]\nname = \"x\"", "missing field `command`"),
            ("[[compiler]]\ncommand = \"x {c}\"", "{elf}, the result"),
            ("[[compiler]]\ncommand = \" \"", "`command` is empty"),
            ("[[emulator]]\nname = \"x\"\ncommand = \"x\"", "needs {elf}"),
            ("[[emulator]]\nname = \"x\"\ncommand = \"x {elf}\"", "vlens = [256]"),
            ("levels = []", "leave it out"),
            ("vlens = 128", "Right is"),
        ] {
            let error = TestbedsFile::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_no_compiler_is_refused() {
        let limits = Limits { time: std::time::Duration::from_secs(2), ..Limits::default() };
        let entry = |command: &str| CompilerEntry {
            name: None,
            command: command.to_string(),
            flags: Vec::new(),
            version: None,
        };
        for (command, says) in [
            ("/bin/true", "neither gcc nor clang"),
            ("/bin/false", "failed"),
            ("/nonexistent/cc", "/nonexistent/cc"),
            ("/bin/true {c} {elf}", "no ELF"),
            ("/bin/false {c} {elf}", "cannot compile an empty program"),
            ("/nonexistent/cc {c} {elf}", "cannot compile"),
            ("cp {c} {elf}", "no RISC-V program"),
            ("tail -f {c} {elf}", "does not end"),
        ] {
            let why = entry(command).find(&limits).unwrap_err();
            assert!(why.contains(says), "{command}: {why}");
        }
    }
}
