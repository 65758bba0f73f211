//! A line on standard error while something takes long.

use rvv_cli::err;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Says how far something is: on a terminal, if it takes more than two seconds.
pub struct Progress {
    what: &'static str,
    total: u64,
    start: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl Progress {
    /// Something that has `total` steps.
    pub fn new(what: &'static str, total: u64) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        Progress { what, total, start: Instant::now(), shown: None, terminal }
    }

    /// So many are done.
    pub fn show(&mut self, done: u64) {
        let since = self.shown.unwrap_or(self.start).elapsed();
        let wait = if self.shown.is_none() { Duration::from_secs(2) } else { Duration::from_millis(200) };
        if self.terminal && since >= wait {
            let left = self.start.elapsed().as_secs_f64() / done.max(1) as f64
                * self.total.saturating_sub(done) as f64;
            err!("\r\x1b[K{} {done} of {}, {left:.0} s left", self.what, self.total);
            self.shown = Some(Instant::now());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            err!("\r\x1b[K");
        }
    }
}
