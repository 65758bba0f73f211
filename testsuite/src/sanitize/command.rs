//! `testsuite sanitize`.

use super::{Tally, compare};
use rvv_cli::outln;
use rvv_cli::progress::Progress;

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
}

/// Whether the sanitizer and the oracle agree.
///
/// # Errors
/// None so far.
pub fn main(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let mut line = Progress::for_people();
    let last = options.first.saturating_add(options.count);
    let done = compare(options.seed, options.first, last, |tally: &Tally| {
        line.show(|| format!("{} programs, {} runs", tally.programs, tally.runs));
    });
    drop(line);
    match done {
        Ok(Tally { programs, runs, bits, undefined }) => {
            outln!(
                "{programs} programs, {runs} runs: {undefined} of {bits} printed bits are undefined, to both"
            );
            Ok(true)
        }
        Err(e) => {
            outln!("{e}");
            Ok(false)
        }
    }
}
