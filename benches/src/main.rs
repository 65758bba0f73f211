//! `cargo run --release -p benches -- families`: time per vector instruction and element, as a Markdown table.
//! `cargo run --release -p benches -- compare [--qemu PATH] [--spike PATH] [--svg FILE] [--rounds N] [--counts]`:
//! the guests of `benches/guests` on this emulator and on others; with `--counts`, host instructions too, by valgrind.

use benches::compare::{Options, compare, run_guest};
use rvv_cli::{errln, out};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: benches families
       benches compare [--qemu PATH] [--spike PATH] [--svg FILE] [--rounds N] [--counts]
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
            "--svg" => options.svg = Some(value.into()),
            "--rounds" => options.rounds = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["families"] => out!("{}", benches::families::table()),
        ["compare", ..] => match options(&args[1..]) {
            Some(options) => out!("{}", compare(&options)),
            None => {
                errln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["guest", file, vlen] => {
            let code = vlen.parse().map_err(|_| USAGE.to_owned()).and_then(|v| run_guest(Path::new(file), v));
            match code {
                Ok(code) => return ExitCode::from(code as u8),
                Err(why) => {
                    errln!("{why}");
                    return ExitCode::from(126);
                }
            }
        }
        _ => {
            errln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
