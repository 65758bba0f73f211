//! The `rvvgen` command.

mod check;
mod coverage;
mod curve;
mod executed;
mod options;
mod progress;
mod write;

use clap::Parser;
use options::{Command, Options};
use rvvgen::{Bias, POLICIES, Weights};
use std::io::Write;
use std::process::ExitCode;

/// A run printed something wrong, or coverage is incomplete.
const EXIT_WRONG: u8 = 1;
/// The command line or a file is wrong.
const EXIT_CANNOT: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { ExitCode::from(EXIT_CANNOT) } else { ExitCode::SUCCESS };
        }
    };
    let outcome = match &options.command {
        None => write::run(&options.generate).map(|()| true),
        Some(Command::Check(options)) => check::run(options),
        Some(Command::Coverage(options)) if options.executed => executed::run(options),
        Some(Command::Coverage(options)) if options.curve => curve::run(options),
        Some(Command::Coverage(options)) => coverage::run(options).map(|()| true),
        Some(Command::Policies) => policies().map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_WRONG),
        Err(message) => {
            eprintln!("rvvgen: {message}");
            ExitCode::from(EXIT_CANNOT)
        }
    }
}

/// Prints a text. A reader that has seen enough is no error.
fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("cannot print: {e}")),
        _ => Ok(()),
    }
}

fn policies() -> Result<(), String> {
    let mut text = "Policies (--policy NAME):\n".to_string();
    for (name, what, changes) in POLICIES {
        text += &format!("  {name:10} {what}\n");
        let changes: Vec<String> = changes.iter().map(|(b, w)| format!("{} = {w}", b.name())).collect();
        if !changes.is_empty() {
            text += &format!("             {}\n", changes.join(", "));
        }
    }
    text += "\nWeights (--weights FILE), with their defaults:\n";
    let defaults = Weights::default();
    for bias in Bias::ALL {
        text += &format!("  {:16} = {:<4}  # {}\n", bias.name(), defaults.get(*bias), bias.description());
    }
    print(&text)
}
