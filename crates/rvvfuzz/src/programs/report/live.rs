//! The live line of a campaign.

use crate::programs::workers::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A line that is written over on a terminal, and a new one now and then elsewhere.
pub struct LiveLine {
    last: Option<Instant>,
    terminal: bool,
}

impl Default for LiveLine {
    fn default() -> Self {
        LiveLine { last: Some(Instant::now()), terminal: std::io::stderr().is_terminal() }
    }
}

impl LiveLine {
    /// Shows how far it is, if that was not shown just now.
    pub fn show(&mut self, progress: &Progress) {
        let pause = if self.terminal { Duration::from_millis(250) } else { Duration::from_secs(10) };
        if self.last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.last = Some(Instant::now());
        let mut err = std::io::stderr().lock();
        // Nobody may be listening: then it is not said.
        let _ = if self.terminal {
            write!(err, "\r\x1b[K{}", text(progress)).and_then(|()| err.flush())
        } else {
            writeln!(err, "{}", text(progress))
        };
    }

    /// Says something else above the line.
    pub fn say(&mut self, text: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(std::io::stderr().lock(), "{clear}{text}");
        if self.terminal {
            self.last = None;
        }
    }

    /// Takes the line away.
    pub fn end(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// A number of seconds as people say it.
pub fn duration(seconds: f64) -> String {
    let s = seconds.round() as u64;
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

fn text(p: &Progress) -> String {
    let coverage = 100.0 * p.covered as f64 / p.calls.max(1) as f64;
    let mut text = format!(
        "{}: {} programs, {} builds, {:.1} program × build per CPU-s, coverage {coverage:.1} %, {} verdicts",
        duration(p.seconds),
        p.total,
        p.builds,
        p.pairs_per_cpu_second(),
        p.verdicts
    );
    if p.known > 0 {
        text += &format!(" ({} known)", p.known);
    }
    if p.reducing > 0 {
        text += &format!(", {} to reduce", p.reducing);
    }
    if p.left == Some(0.0) {
        text += ", finishing";
    } else if let Some(left) = p.left {
        text += &format!(", {} left", duration(left));
    }
    if let Some(doing) = &p.doing {
        text += &format!("; building {doing}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_all() {
        let progress = Progress {
            total: 100,
            programs: 50,
            checks: 5000,
            pairs: 80,
            triggers: 3,
            builds: 12,
            doing: Some("16 programs with gcc-16 -O3".to_string()),
            cpu: 20.0,
            covered: 1,
            calls: 8,
            verdicts: 2,
            known: 1,
            reducing: 1,
            seconds: 10.0,
            left: Some(3700.0),
        };
        assert_eq!(
            text(&progress),
            "10 s: 100 programs, 12 builds, 4.0 program × build per CPU-s, coverage 12.5 %, 2 verdicts (1 known), \
             1 to reduce, 1 h 01 min left; building 16 programs with gcc-16 -O3"
        );
    }
}
