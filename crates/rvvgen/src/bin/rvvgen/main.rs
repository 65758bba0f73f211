//! The `rvvgen` command.

mod check;
mod coverage;
mod curve;
mod executed;
mod import;
mod invalid;
mod learn;
mod mutate;
mod options;
mod progress;
mod stats;
mod vectorised;
mod write;

use options::{Command, Options};
use rvv_cli::{errln, out};
use rvvgen::{Bias, POLICIES, Weights};
use std::process::ExitCode;

/// A run printed something wrong, or coverage is incomplete.
const EXIT_WRONG: u8 = 1;
/// The command line or a file is wrong.
const EXIT_CANNOT: u8 = 2;

fn main() -> ExitCode {
    let options: Options = rvv_cli::parse();
    let outcome = match &options.command {
        None => write::run(&options.generate).map(|()| true),
        Some(Command::Check(options)) => check::run(options),
        Some(Command::Coverage(options)) if options.pairs => coverage::pairs(options).map(|()| true),
        Some(Command::Coverage(options)) if options.executed => executed::run(options),
        Some(Command::Coverage(options)) if options.curve => curve::run(options),
        Some(Command::Coverage(options)) => coverage::run(options).map(|()| true),
        Some(Command::Invalid(options)) => invalid::run(options),
        Some(Command::Mutate(options)) => mutate::run(options),
        Some(Command::Vectorised(options)) => vectorised::run(options).map(|()| true),
        Some(Command::Stats(options)) => stats::run(options).map(|()| true),
        Some(Command::Learn(options)) => learn::run(options).map(|()| true),
        Some(Command::Import(options)) => import::run(options).map(|()| true),
        Some(Command::Policies) => {
            policies();
            Ok(true)
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_WRONG),
        Err(message) => {
            errln!("rvvgen: {message}");
            ExitCode::from(EXIT_CANNOT)
        }
    }
}

fn policies() {
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
    out!("{text}");
}
