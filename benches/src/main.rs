//! `cargo run --release -p benches -- families`: time per vector instruction and element, as a Markdown table.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some("families"), None) => {
            print!("{}", benches::families::table());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: benches families");
            ExitCode::from(2)
        }
    }
}
