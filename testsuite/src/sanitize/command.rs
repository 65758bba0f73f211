//! `testsuite sanitize`.

use super::{Tally, compare, compiled};
use rvv_cli::outln;
use rvv_cli::progress::Progress;
use std::path::PathBuf;

/// Options of the command.
#[derive(clap::Args)]
pub struct Options {
    /// Programs to compare
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The number of the first one
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Seed of the programs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Compilers, which take turns; without any, the direct lowering. Of compiled programs no bit may be
    /// undefined that is defined to the oracle
    #[arg(long, value_delimiter = ',')]
    cc: Vec<String>,
    /// Levels of each compiler
    #[arg(long, value_delimiter = ',', default_value = "O2", requires = "cc")]
    levels: Vec<String>,
    /// A folder for programs of which the sanitizer says what is not so
    #[arg(long, requires = "cc")]
    keep: Option<PathBuf>,
}

/// Whether the sanitizer and the oracle agree.
///
/// # Errors
/// When a compiler cannot be used.
pub fn main(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let mut line = Progress::for_people();
    let last = options.first.saturating_add(options.count);
    let done = if options.cc.is_empty() {
        compare(options.seed, options.first, last, |tally: &Tally| {
            line.show(|| format!("{} programs, {} runs", tally.programs, tally.runs));
        })
        .map(|Tally { programs, runs, bits, undefined }| {
            format!(
                "{programs} programs, {runs} runs: {undefined} of {bits} printed bits are undefined, to both"
            )
        })
    } else {
        let builds = compiled::builds(&options.cc, &options.levels)?;
        let keep = options.keep.as_deref();
        let tally = compiled::compare(&builds, keep, options.seed, options.first, last, |tally| {
            line.show(|| {
                let (wrong, not) = (tally.wrong.len(), tally.false_reports.len());
                format!("{} programs, {} runs, {wrong} wrong, {not} false", tally.programs, tally.runs)
            });
        })?;
        if tally.false_reports.is_empty() { Ok(tally.text()) } else { Err(tally.text()) }
    };
    drop(line);
    let agree = done.is_ok();
    outln!("{}", done.unwrap_or_else(|e| e));
    Ok(agree)
}
