//! The live line of a campaign.

use crate::programs::workers::Progress;
use rvv_cli::progress;

/// How far a campaign is.
pub struct LiveLine(progress::Progress);

impl Default for LiveLine {
    fn default() -> Self {
        LiveLine(progress::Progress::for_logs())
    }
}

impl LiveLine {
    /// Shows how far it is, if that was not shown just now.
    pub fn show(&mut self, progress: &Progress) {
        self.0.show(|| text(progress));
    }

    /// Says something else above the line.
    pub fn say(&mut self, text: &str) {
        self.0.say(text);
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        self.0.clear();
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
            lost: 0,
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
