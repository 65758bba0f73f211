//! One line on standard error about work that takes long.
//!
//! `indicatif` draws nothing where standard error is no terminal, but a campaign's log needs its lines; and
//! it adds ten seconds of CPU time to the build for one line of text. `terminal_size` is built for clap
//! anyway.

use crate::err;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A line that is written over on a terminal, and repeated now and then in a log. It goes away when dropped.
pub struct Progress {
    terminal: bool,
    /// Nothing is shown before.
    next: Option<Instant>,
    pause: Duration,
    drawn: bool,
}

impl Progress {
    /// A line on a terminal, after two seconds; nothing elsewhere.
    #[must_use]
    pub fn for_people() -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let next = terminal.then(|| Instant::now() + Duration::from_secs(2));
        Progress { terminal, next, pause: Duration::from_millis(200), drawn: false }
    }

    /// A line on a terminal at once; elsewhere one every ten seconds.
    #[must_use]
    pub fn for_logs() -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let pause = if terminal { Duration::from_millis(250) } else { Duration::from_secs(10) };
        Progress { terminal, next: Some(Instant::now() + pause), pause, drawn: false }
    }

    /// Shows this text, if it is time to.
    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + self.pause);
        if self.terminal {
            let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
            err!("\r\x1b[K{}", fit(&text(), width));
            self.drawn = true;
        } else {
            err!("{}\n", text());
        }
    }

    /// Writes a line above this one.
    pub fn say(&mut self, text: &str) {
        self.clear();
        err!("{text}\n");
    }

    /// Removes the line from the terminal.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            err!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// As much of a text as one row has room for: a line that wraps cannot be written over.
fn fit(text: &str, width: usize) -> String {
    let room = width.saturating_sub(1);
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(fit("12 of 20", 80), "12 of 20");
        assert_eq!(fit("12 of 20", 9), "12 of 20");
        assert_eq!(fit("12 of 20", 8), "12 of …");
        assert_eq!(fit("12 of 20", 0), "…");
    }

    #[test]
    fn it_waits_its_time() {
        let mut line = Progress { terminal: false, next: None, pause: Duration::from_secs(10), drawn: false };
        line.show(|| unreachable!("it never shows anything"));
        line.next = Some(Instant::now() + Duration::from_secs(60));
        line.show(|| unreachable!("it is too early"));
        line.next = Some(Instant::now());
        line.show(|| "progress".to_owned());
        assert!(line.next.is_some_and(|next| next > Instant::now()) && !line.drawn);
    }
}
