//! Realistic guest programs, and the comparison of emulators on them.
//!
//! `testsuite/kernels/NAME.c` is a program on its own: it runs an RVV kernel on many sizes, holds it against
//! a scalar twin, and prints checksums that depend on neither VLEN, nor the agnostic policies, nor the choice
//! of `vl`. `NAME.expected` is what it prints. [`Compiler`] makes ELFs of them, [`Emulator`] runs these,
//! [`command`] does both for every combination and says who is to blame for a difference.

pub mod command;
mod compiler;
mod emulator;
mod known;
mod report;

pub use compiler::{Compiler, CompilerError, Environment, USUAL_COMPILERS};
pub use emulator::{Emulator, Ending, Freedom, Observed};
pub use known::{Known, known};
pub use report::{Cell, Problem};

use std::path::{Path, PathBuf};

/// One guest program.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name: that of its file.
    pub name: String,
    /// Its source.
    pub source: PathBuf,
    /// Extensions beyond `rv64gcv`, from its `// needs:` line.
    pub needs: Vec<String>,
    /// What it prints; empty if nobody has recorded that yet.
    pub expected: Vec<u8>,
}

/// The folder of the kernels.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// Where compiled kernels are kept.
#[must_use]
pub fn build_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target).join("kernels"),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/kernels"),
    }
}

/// All kernels of a folder, by name.
///
/// # Errors
/// When the folder or a source cannot be read.
pub fn kernels(folder: &Path) -> std::io::Result<Vec<Kernel>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let source = entry?.path();
        if source.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&source)?;
        let needs = text.lines().find_map(|l| l.strip_prefix("// needs:")).unwrap_or_default();
        let needs = needs.split_whitespace().map(String::from).collect();
        // Not there: nothing is expected yet.
        let expected = std::fs::read(source.with_extension("expected")).unwrap_or_default();
        found.push(Kernel { name, source, needs, expected });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
