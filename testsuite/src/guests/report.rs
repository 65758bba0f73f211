//! What came out for one kernel, compiler and level, and the table of all of it.

use super::{Compiler, Kernel};
use std::fmt;

/// What may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The compiler does not have an extension: no failure.
    Lacks(String),
    /// The compiler rejected the kernel or crashed.
    Compile(String),
    /// The emulators agree with each other, and not with the recorded output: the compiler, or the kernel.
    Program(String),
    /// Only one emulator ran it, and its output is not the recorded one: who is to blame is not known.
    Alone(String),
    /// An emulator differs from another one.
    Emulator(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Lacks(what) => write!(f, "the compiler does not have {what}"),
            Problem::Compile(what) => write!(f, "does not compile: {what}"),
            Problem::Program(what) => write!(f, "compiled wrongly, as the emulators agree: {what}"),
            Problem::Alone(what) => write!(f, "not as recorded, with none to compare with: {what}"),
            Problem::Emulator(what) => write!(f, "EMULATORS DIFFER: {what}"),
        }
    }
}

/// One kernel, compiled by one compiler at one level, and run wherever it was to be run.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The kernel's name.
    pub kernel: String,
    /// The compiler's name.
    pub compiler: String,
    /// Its level.
    pub level: String,
    /// How many runs agreed with the recorded output.
    pub good: usize,
    /// The first problem of each sort, if any.
    pub problems: Vec<Problem>,
    /// The words of the list of known bugs, if this is one.
    pub known: Option<String>,
}

impl Cell {
    /// One letter for the table.
    fn mark(&self) -> char {
        match self.problems.first() {
            None => '.',
            Some(_) if self.emulator_differs() => 'E',
            Some(Problem::Lacks(_)) => '-',
            Some(_) if self.known.is_some() => 'k',
            Some(Problem::Compile(_)) => 'C',
            Some(Problem::Alone(_)) => 'A',
            Some(_) => 'P',
        }
    }

    fn emulator_differs(&self) -> bool {
        self.problems.iter().any(|p| matches!(p, Problem::Emulator(_)))
    }

    /// Whether the whole comparison fails by this one. A known bug of a compiler does not; emulators that
    /// differ always do.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.emulator_differs()
            || self.problems.iter().any(|p| !matches!(p, Problem::Lacks(_)) && self.known.is_none())
    }
}

/// The table: a row for each kernel, a column for each compiler, a letter for each level.
#[must_use]
pub fn table(kernels: &[Kernel], compilers: &[Compiler], levels: &[String], cells: &[Cell]) -> String {
    let width = kernels.iter().map(|k| k.name.len()).max().unwrap_or(0);
    let short = |c: &Compiler| c.name.replace("riscv64-linux-gnu-", "");
    let column = compilers.iter().map(|c| short(c).len()).chain([levels.len()]).max().unwrap_or(0);
    let mut text = format!("{:width$}", "");
    for compiler in compilers {
        text += &format!("  {:column$}", short(compiler));
    }
    text += "\n";
    for kernel in kernels {
        text += &format!("{:width$}", kernel.name);
        for compiler in compilers {
            let find = |level: &String| {
                let is =
                    |c: &&Cell| c.kernel == kernel.name && c.compiler == compiler.name && c.level == *level;
                cells.iter().find(is).map_or(' ', Cell::mark)
            };
            text += &format!("  {:column$}", levels.iter().map(find).collect::<String>());
        }
        text.truncate(text.trim_end().len());
        text += "\n";
    }
    text += &format!(
        "one letter for each of {}: . good, - the compiler lacks an extension, k known compiler bug,\n\
         C does not compile, P compiled wrongly, A not as recorded on the only emulator, E emulators \
         differ\n",
        levels.join(" ")
    );
    text
}
