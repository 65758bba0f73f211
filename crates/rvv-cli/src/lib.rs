//! What all commands share: a standard output that may be full or closed, where `println!` panics;
//! completions and man pages; tables in documents; progress lines; SARIF.

pub mod figures;
mod generate;
pub mod progress;
pub mod sarif;

pub use generate::{GenerateError, generate};
use std::fmt::Arguments;
use std::io::{Error, ErrorKind, Write, stderr, stdout};

/// The status of a command that cannot do what it was asked for.
pub const CANNOT: i32 = 2;

/// The status of a command whose reader is gone: what a shell shows for one that died of SIGPIPE.
pub const CLOSED: i32 = 141;

/// As `print!`. If nobody reads any more, the process ends in silence, with [`CLOSED`]; if it cannot be
/// written, with a sentence, and [`CANNOT`].
#[macro_export]
macro_rules! out {
    ($($args:tt)*) => { $crate::print(format_args!($($args)*)) };
}

/// As `println!`; see [`out!`].
#[macro_export]
macro_rules! outln {
    () => { $crate::print(format_args!("\n")) };
    ($format:literal $($args:tt)*) => {
        $crate::print(format_args!("{}\n", format_args!($format $($args)*)))
    };
}

/// As `eprint!`, if somebody listens.
#[macro_export]
macro_rules! err {
    ($($args:tt)*) => { $crate::complain(format_args!($($args)*)) };
}

/// As `eprintln!`, if somebody listens.
#[macro_export]
macro_rules! errln {
    () => { $crate::complain(format_args!("\n")) };
    ($format:literal $($args:tt)*) => {
        $crate::complain(format_args!("{}\n", format_args!($format $($args)*)))
    };
}

/// Prints; see [`out!`].
pub fn print(text: Arguments<'_>) {
    let mut out = stdout().lock();
    // Flushed at once: what is left for the end of the process fails without a word.
    let written = out.write_fmt(text).and_then(|()| out.flush());
    drop(out);
    if let Err(error) = written {
        end(&error);
    }
}

/// Complains; where there is no standard error, in vain.
pub fn complain(text: Arguments<'_>) {
    let mut err = stderr().lock();
    let _ = err.write_fmt(text).and_then(|()| err.flush());
}

/// Parses the command line. A wrong one, `--help`, `--version` and `--generate` end the process.
#[must_use]
pub fn parse<T: clap::Parser>() -> T {
    if let Some(done) = generate(T::command()) {
        if let Err(why) = &done {
            errln!("{why}");
        }
        std::process::exit(if done.is_ok() { 0 } else { CANNOT });
    }
    match T::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let printed = error.print().and_then(|()| stdout().flush());
            if let (Err(failed), false) = (&printed, error.use_stderr()) {
                end(failed);
            }
            std::process::exit(error.exit_code());
        }
    }
}

/// Ends the process: standard output cannot be written.
fn end(error: &Error) -> ! {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(CLOSED);
    }
    let program = std::env::args_os().next().map(std::path::PathBuf::from);
    let name = program.as_deref().and_then(|p| p.file_stem()).map_or("rvv".into(), |n| n.to_string_lossy());
    complain(format_args!("{name}: cannot write to the standard output: {error}\n"));
    std::process::exit(CANNOT);
}
