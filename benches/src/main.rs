//! `cargo run --release -p benches -- families`: time per vector instruction and element, as a Markdown
//! table.
//!
//! `cargo run --release -p benches -- compare [--qemu PATH] [--spike PATH] [--libriscv PATH] [--svg FILE]
//! [--rounds N] [--only NAME] [--counts]`: the guests of `benches/guests` on this emulator and on others, all
//! of them or those whose names contain NAME; with `--counts`, host instructions too, by valgrind.
//!
//! With `--markdown FILE` both rewrite their marked part of a document: see [`rvv_cli::figures`].

use benches::compare::{Options, compare, run_guest};
use benches::families;
use rvv_cli::{errln, figures, out};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: benches families [--markdown FILE]
       benches compare [--qemu PATH] [--spike PATH] [--libriscv PATH] [--svg FILE] [--rounds N] [--only NAME]
                       [--counts] [--markdown FILE]
       benches guest FILE VLEN";

fn options(args: &[String]) -> Option<Options> {
    let mut options = Options { rounds: 3, ..Options::default() };
    let mut args = args.iter();
    while let Some(name) = args.next() {
        if name == "--counts" {
            options.counts = true;
            continue;
        }
        let value = args.next()?;
        match name.as_str() {
            "--qemu" => options.qemu = Some(value.into()),
            "--spike" => options.spike = Some(value.into()),
            "--libriscv" => options.libriscv = Some(value.into()),
            "--only" => options.only = Some(value.clone()),
            "--svg" => options.svg = Some(value.into()),
            "--markdown" => options.markdown = Some(value.into()),
            "--rounds" => options.rounds = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(options)
}

/// Prints a table and writes it into a document.
fn publish(name: &str, table: &str, document: Option<PathBuf>) -> ExitCode {
    out!("{table}");
    let program = "cargo run --release -p benches --";
    match document.map(|document| figures::update(&document, name, program, table)) {
        Some(Err(why)) => {
            errln!("{why}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["families"] => publish("benches families", &families::table(), None),
        ["families", "--markdown", file] => {
            publish("benches families", &families::table(), Some(file.into()))
        }
        ["compare", ..] => match options(&args[1..]) {
            Some(options) => publish("benches compare", &compare(&options), options.markdown.clone()),
            None => {
                errln!("{USAGE}");
                ExitCode::from(2)
            }
        },
        ["guest", file, vlen] => {
            let code = vlen.parse().map_err(|_| USAGE.to_owned()).and_then(|v| run_guest(Path::new(file), v));
            match code {
                Ok(code) => ExitCode::from(code as u8),
                Err(why) => {
                    errln!("{why}");
                    ExitCode::from(126)
                }
            }
        }
        _ => {
            errln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
