//! The compilers that know RVV intrinsics, and how each is asked.

use super::Kernel;
use crate::peer::find::{linkers_of_clang, on_path, version_in};
use crate::peer::{self, Ended, PeerError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The names looked for on `PATH` when the user gives none.
pub const USUAL_COMPILERS: [&str; 8] = [
    "clang-19",
    "clang-20",
    "clang-21",
    "clang-22",
    "clang-23",
    "riscv64-linux-gnu-gcc-14",
    "riscv64-linux-gnu-gcc-15",
    "riscv64-linux-gnu-gcc-16",
];

/// A compiler may loop; it gets this long.
const LIMIT: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Clang,
    Gcc,
}

/// What a kernel is built to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Environment {
    /// Linux system calls.
    Linux,
    /// Machine mode and HTIF.
    Bare,
}

/// A compiler that was found and works.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// What to call it: the last part of its path.
    pub name: String,
    /// Its version, as it gives it.
    pub version: String,
    path: PathBuf,
    family: Family,
    /// `-fuse-ld=…`, where one is needed.
    linker: Option<String>,
}

/// Why there is no ELF.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// No such program.
    #[error("not found")]
    NotFound,
    /// It is there, but cannot make RVV programs.
    #[error("{0}")]
    Unsuitable(String),
    /// It does not know an extension of the kernel's, or its intrinsics.
    #[error("does not have {0}")]
    Lacks(String),
    /// It rejected the program, crashed or took too long.
    #[error("{0}")]
    Failed(String),
    /// It could not be run.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A file could not be written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Compiler {
    /// Looks at a compiler: a path, or a name to look for on `PATH`.
    ///
    /// # Errors
    /// When it is not there, or cannot build an RVV program without a libc.
    pub fn find(name: &str, build: &Path) -> Result<Self, CompilerError> {
        let path = on_path(name).ok_or(CompilerError::NotFound)?;
        let asked = peer::run(Command::new(&path).arg("--version"), LIMIT)?;
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        let family = if text.contains("clang") { Family::Clang } else { Family::Gcc };
        let version = version_in(&text).unwrap_or_else(|| "?".to_owned());
        let short = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut compiler = Compiler { name: short, version, path, family, linker: None };
        compiler.try_linkers(build)?;
        Ok(compiler)
    }

    /// Takes the first linker with which it makes an RVV program.
    fn try_linkers(&mut self, build: &Path) -> Result<(), CompilerError> {
        let major = self.version.split('.').next().and_then(|m| m.parse().ok()).unwrap_or(0);
        let linkers = match self.family {
            Family::Gcc => vec![None],
            Family::Clang => linkers_of_clang(major),
        };
        let probe = build.join(format!("probe-{}.c", self.name));
        let text = "#include <riscv_vector.h>\n#ifndef __riscv_v_intrinsic\n#error no RVV \
                    intrinsics\n#endif\n\
                    void _start(void) { __riscv_vsetvl_e8m1(1); }\n";
        std::fs::create_dir_all(build).and_then(|()| std::fs::write(&probe, text)).map_err(io(&probe))?;
        let mut last = String::new();
        for linker in linkers {
            self.linker = linker;
            let mut command = self.command(&[], "O0", Environment::Linux);
            let run = peer::run(command.arg(&probe).arg("-o").arg(probe.with_extension("elf")), LIMIT)?;
            if run.ended == Ended::Exited(0) {
                return Ok(());
            }
            last = first_error(&run.stderr);
        }
        Err(CompilerError::Unsuitable(last))
    }

    fn command(&self, needs: &[String], level: &str, environment: Environment) -> Command {
        let mut command = Command::new(&self.path);
        let march =
            std::iter::once("rv64gcv").chain(needs.iter().map(String::as_str)).collect::<Vec<_>>().join("_");
        command.arg(format!("-march={march}")).args(["-mabi=lp64d", "-mcmodel=medany"]);
        // Nothing from the host; each floating-point operation rounds once, where the source says.
        command.args(["-ffreestanding", "-fno-builtin", "-nostdlib", "-static", "-fno-pie", "-no-pie"]);
        command.args(["-ffp-contract=off", "-fno-strict-aliasing", "-fno-stack-protector", "-g0"]);
        command.arg(format!("-{level}"));
        match self.family {
            Family::Clang => {
                // clang 19 calls the intrinsics of the vector cryptography experimental.
                command.args(["--target=riscv64-linux-gnu", "-menable-experimental-extensions"]);
                command.arg("-Qunused-arguments");
                command.args(self.linker.as_ref().map(|l| format!("-fuse-ld={l}")));
            }
            Family::Gcc => {
                // It would make a call to memset of the loop in memset.
                command.args(["-fno-tree-loop-distribute-patterns", "-Wl,--build-id=none"]);
            }
        }
        if environment == Environment::Bare {
            command.arg("-DHTIF").arg("-T").arg(super::folder().join("htif.ld"));
        }
        command
    }

    /// Compiles a kernel at a level such as `O2`. What was compiled before, from the same sources in the same
    /// way, is not compiled again.
    ///
    /// # Errors
    /// See [`CompilerError`].
    pub fn compile(
        &self,
        kernel: &Kernel,
        level: &str,
        environment: Environment,
        build: &Path,
    ) -> Result<PathBuf, CompilerError> {
        let mut command = self.command(&kernel.needs, level, environment);
        let mut hasher = DefaultHasher::new();
        format!("{command:?} {}", self.version).hash(&mut hasher);
        let source = &kernel.source;
        let header = source.with_file_name("rt.h");
        for path in [source, &header, &super::folder().join("rt.h"), &super::folder().join("htif.ld")] {
            // A header that is not there is not used, and a source that is not there is the compiler's to
            // report.
            std::fs::read(path).unwrap_or_default().hash(&mut hasher);
        }
        let suffix = if environment == Environment::Bare { "-bare" } else { "" };
        let name = format!("{}-{}-{level}{suffix}-{:016x}", kernel.name, self.name, hasher.finish());
        let elf = build.join(name);
        if elf.exists() {
            return Ok(elf);
        }
        // Under another name first, so that an unfinished file is never taken for a finished one.
        let part = elf.with_extension(format!("part{}", std::process::id()));
        let run = peer::run(command.arg(source).arg("-o").arg(&part), LIMIT)?;
        match run.ended {
            Ended::Exited(0) => std::fs::rename(&part, &elf).map_err(io(&elf)).map(|()| elf),
            Ended::TimedOut => Err(CompilerError::Failed(format!("still running after {LIMIT:?}"))),
            Ended::Killed(signal) => Err(CompilerError::Failed(format!("killed by signal {signal}"))),
            Ended::Exited(_) => Err(self.classify(kernel, &run.stderr)),
        }
    }

    /// A compiler that has never heard of an extension is no news; anything else is.
    fn classify(&self, kernel: &Kernel, stderr: &[u8]) -> CompilerError {
        let text = String::from_utf8_lossy(stderr);
        let unknown = [
            "unsupported standard extension",
            "unsupported non-standard",
            "invalid arch name",
            "unsupported version",
        ];
        let no_intrinsics = text.contains("unknown type name 'vbfloat16")
            || text.contains("implicit declaration of function '__riscv_v");
        let crashed = text.contains("internal compiler error") || text.contains("PLEASE submit a bug report");
        if !crashed && !kernel.needs.is_empty() && (no_intrinsics || unknown.iter().any(|u| text.contains(u)))
        {
            return CompilerError::Lacks(kernel.needs.join(" "));
        }
        CompilerError::Failed(first_error(stderr))
    }
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> CompilerError + '_ {
    move |source| CompilerError::Io { path: path.to_owned(), source }
}

fn first_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line =
        text.lines().find(|l| l.contains("error") || l.contains("fatal")).or_else(|| text.lines().next());
    line.unwrap_or("failed without a word").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_said_to_be_missing() {
        let found = Compiler::find("no-such-compiler-anywhere", Path::new("/nonexistent"));
        assert!(matches!(found, Err(CompilerError::NotFound)));
    }
}
