//! The `rvvfuzz` command.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Fuzzing campaigns: random programs on rvvsim and its peers, compared.
#[derive(Parser)]
#[command(version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    campaign: Campaign,
}

#[derive(Subcommand)]
enum Campaign {
    Isa(rvvfuzz::isa::command::Command),
}

fn main() -> ExitCode {
    match Cli::parse().campaign {
        Campaign::Isa(command) => command.run(),
    }
}
