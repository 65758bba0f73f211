//! The commands of campaigns: `run`, `doctor`, `show`, `reduce`, `replay`, `report`, `bench`, `yardstick`,
//! `matrix`, `known`, `invalid`, `work`, `serve`, `export`, `merge`,
//! `load`, `features`, `between`.

pub mod bench;
pub mod between;
pub mod doctor;
pub mod export;
pub mod features;
pub mod invalid;
pub mod known;
pub mod load;
pub mod matrix;
pub mod merge;
pub mod reduce;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
pub mod show;
mod testbed_args;
pub mod work;
pub mod yardstick;

use rvv_cli::{errln, out};
use std::process::ExitCode;
use std::time::Duration;

/// Clean or not, or what keeps a command from going on, as a sentence.
pub(super) type Done = Result<bool, String>;

/// The exit code: 0 clean, 1 something was found, 2 it could not run.
pub(super) fn exit(done: Done) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            errln!("rvvfuzz: {why}");
            ExitCode::from(2)
        }
    }
}

/// `90`, `90s`, `5m`, `2h`; at most a year.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = "a time is a number and s, m or h, and at most a year: 90s";
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(wrong.into()),
    };
    let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    let seconds = seconds.filter(|s| *s <= 366 * 24 * 3600);
    seconds.map(Duration::from_secs).ok_or_else(|| wrong.into())
}

/// As many workers as there are processors.
pub(crate) fn processors() -> u16 {
    std::thread::available_parallelism()
        .ok()
        .and_then(|n| u16::try_from(n.get()).ok())
        .map_or(1, |n| n.min(1024))
}

/// A file written whole: under another name first, then moved.
pub(super) fn write_file(path: &std::path::Path, text: &str) -> Result<(), String> {
    if path == std::path::Path::new("-") {
        out!("{text}");
        return Ok(());
    }
    crate::streams::corpus::write_whole(path, text.as_bytes()).map_err(|e| e.to_string())
}
