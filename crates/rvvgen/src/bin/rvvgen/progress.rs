//! How far something is that has a number of steps.

use rvv_cli::progress;
use std::time::Instant;

/// Says how far something is and when it ends: on a terminal, if it takes more than two seconds.
pub struct Progress {
    what: &'static str,
    total: u64,
    start: Instant,
    line: progress::Progress,
}

impl Progress {
    /// Something that has `total` steps.
    pub fn new(what: &'static str, total: u64) -> Progress {
        Progress { what, total, start: Instant::now(), line: progress::Progress::for_people() }
    }

    /// So many are done.
    pub fn show(&mut self, done: u64) {
        let Progress { what, total, start, line } = self;
        line.show(|| {
            let each = start.elapsed().as_secs_f64() / done.max(1) as f64;
            format!("{what} {done} of {total}, {:.0} s left", each * total.saturating_sub(done) as f64)
        });
    }
}
