//! The `rvvfuzz` command.

use clap::{Parser, Subcommand};
use rvvfuzz::programs::command::{
    bench, between, doctor, export, features, invalid, known, load, matrix, merge, reduce, replay, report,
    run, serve, show, work, yardstick,
};
use std::process::ExitCode;

/// Fuzzing campaigns: random programs and instruction streams on compilers and emulators, judged.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 110,
    after_help = "\
Exit codes of all commands:
  0    nothing is wrong
  1    there is a verdict or a disagreement
  2    the command failed, with a message: the command line is wrong; a compiler, an emulator or a level was named that is
       missing or fails a first program; a testbed stopped working; a file cannot be read or written
  130  a second ctrl-C
  141  its output was closed"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Command),
    Work(work::Command),
    Serve(serve::Command),
    Doctor(doctor::Command),
    Show(show::Command),
    Export(export::Command),
    Merge(merge::Command),
    Reduce(reduce::Command),
    Replay(replay::Command),
    Report(report::Command),
    Bench(bench::Command),
    Load(load::Command),
    Yardstick(yardstick::Command),
    Matrix(matrix::Command),
    Known(known::Command),
    Invalid(invalid::Command),
    Features(features::Command),
    Between(between::Command),
    Isa(rvvfuzz::streams::command::Command),
}

fn main() -> ExitCode {
    match rvv_cli::parse::<Cli>().command {
        Command::Run(command) => command.run(),
        Command::Work(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Reduce(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Load(command) => command.run(),
        Command::Yardstick(command) => command.run(),
        Command::Matrix(command) => command.run(),
        Command::Known(command) => command.run(),
        Command::Invalid(command) => command.run(),
        Command::Features(command) => command.run(),
        Command::Between(command) => command.run(),
        Command::Isa(command) => command.run(),
    }
}
