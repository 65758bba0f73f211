//! What one run shows, and where two runs show different things.

use super::super::report;
use rvvsim::elf::Image;
use rvvsim::hart::Environment;
use rvvsim::linux::ProcessOptions;
use rvvsim::machine::LoadError;
use rvvsim::{Config, Machine, Outcome};
use std::io::{Result, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Output of one stream that a run may write; a sweep keeps all that is different.
pub const OUTPUT_LIMIT: usize = 16 << 20;

/// What a run shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Exit status, signal, or the limit that ended it.
    pub ending: String,
    /// Standard output, or the console of bare metal.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// What else there is to say of a run.
pub struct Remarks {
    /// Why it ended, if that is worth telling: the trap.
    pub why: Option<String>,
    /// It came to no end of its own: a limit, or something unsupported.
    pub stopped: bool,
    /// Instructions retired.
    pub instructions: u64,
    /// What the guest asked for in vain.
    pub notes: Vec<String>,
}

/// Runs the program once.
pub fn run(
    image: &Image,
    bare: bool,
    config: Config,
    process: ProcessOptions,
    deadline: Option<Instant>,
) -> std::result::Result<(Seen, Remarks), LoadError> {
    let console = Console::default();
    let mut machine =
        if bare { Machine::bare(config, image)? } else { Machine::user(config, image, process)? };
    if let Environment::Bare(platform) = &mut machine.hart.env {
        platform.set_console(Box::new(console.clone()));
    }
    let outcome = machine.run(deadline);
    let (stdout, stderr, notes) = match &mut machine.process {
        Some(process) => {
            let notes = process.notes().to_vec();
            let (stdout, stderr) = process.take_output();
            (stdout, stderr, notes)
        }
        None => (console.take(), Vec::new(), Vec::new()),
    };
    let (ending, trap, stopped) = match outcome {
        _ if stdout.len().max(stderr.len()) >= OUTPUT_LIMIT => {
            (format!("more than {} MiB of output", OUTPUT_LIMIT >> 20), None, true)
        }
        Outcome::Exited(code) => (format!("exit status {code}"), None, false),
        Outcome::Signaled { signal, trap } => (rvvsim::linux::signal_name(signal).to_string(), trap, false),
        Outcome::Stuck(trap) => ("a trap whose handler cannot be fetched".to_owned(), Some(trap), false),
        Outcome::OutOfInstructions => ("too many instructions".to_owned(), None, true),
        Outcome::TimedOut => ("stopped by --timeout".to_owned(), None, true),
        Outcome::Unsupported(what) => (format!("what is not supported here: {what}"), None, true),
    };
    let why = trap.map(|trap| report::trap_line(&mut machine.hart, image, &trap));
    let instructions = machine.hart.instret;
    Ok((Seen { ending, stdout, stderr }, Remarks { why, stopped, instructions, notes }))
}

/// The console of bare metal, kept.
#[derive(Clone, Default)]
struct Console(Arc<Mutex<Vec<u8>>>);

impl Console {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = OUTPUT_LIMIT.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Where two runs part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// "stdout, line 3", "stderr, byte 17" or "ending".
    pub place: String,
    /// There, in the first.
    pub base: String,
    /// There, in the other.
    pub other: String,
}

impl Seen {
    /// The first difference of each stream, and of the ending.
    pub fn differences(&self, other: &Seen) -> Vec<Difference> {
        let streams = [("stdout", &self.stdout, &other.stdout), ("stderr", &self.stderr, &other.stderr)];
        let mut found: Vec<_> =
            streams.into_iter().filter_map(|(name, a, b)| first_difference(name, a, b)).collect();
        if self.ending != other.ending {
            let (base, other) = (self.ending.clone(), other.ending.clone());
            found.push(Difference { place: "ending".into(), base, other });
        }
        found
    }
}

/// Characters of a line that are shown.
const SHOWN: usize = 100;
/// Bytes that are shown of what is not text.
const SHOWN_BYTES: usize = 16;

fn first_difference(name: &str, a: &[u8], b: &[u8]) -> Option<Difference> {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if common == a.len() && common == b.len() {
        return None;
    }
    let start = a[..common].iter().rposition(|&c| c == b'\n').map_or(0, |at| at + 1);
    let number = a[..common].iter().filter(|&&c| c == b'\n').count() + 1;
    let line = |text: &[u8]| {
        let rest = &text[start..];
        let end = rest.iter().position(|&c| c == b'\n').unwrap_or(rest.len());
        let at = (common - start).min(end);
        if rest.is_empty() { Some("(nothing more)".into()) } else { readable(&rest[..end], at) }
    };
    // Lines that look alike differ in what is after them: one has an end, the other has not.
    if let (Some(base), Some(other)) = (line(a), line(b))
        && base != other
    {
        return Some(Difference { place: format!("{name}, line {number}"), base, other });
    }
    let hex = |text: &[u8]| match &text[common..] {
        [] => "(nothing more)".to_owned(),
        rest => {
            let digits: Vec<_> = rest.iter().take(SHOWN_BYTES).map(|b| format!("{b:02x}")).collect();
            digits.join(" ") + if rest.len() > SHOWN_BYTES { " ..." } else { "" }
        }
    };
    Some(Difference { place: format!("{name}, byte {common}"), base: hex(a), other: hex(b) })
}

/// A line as text, if it is some, around the byte at `at`.
fn readable(line: &[u8], at: usize) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    if text.contains(|c: char| c.is_control() && c != '\t' && c != '\r') {
        return None;
    }
    let text = text.replace('\t', " ").replace('\r', "");
    let count = text.chars().count();
    if count <= SHOWN {
        return Some(text);
    }
    let at = String::from_utf8_lossy(&line[..at]).chars().count();
    let skip = at.saturating_sub(SHOWN / 2).min(count - SHOWN);
    let shown: String = text.chars().skip(skip).take(SHOWN).collect();
    let (before, after) = (if skip > 0 { "..." } else { "" }, if skip + SHOWN < count { "..." } else { "" });
    Some(format!("{before}{shown}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(a: &[u8], b: &[u8]) -> (String, String, String) {
        let d = first_difference("stdout", a, b).expect("they differ");
        (d.place, d.base, d.other)
    }

    #[test]
    fn the_first_difference_is_shown_by_lines_if_it_is_text() {
        let expect = |place: &str, a: &str, b: &str| (place.to_owned(), a.to_owned(), b.to_owned());
        assert_eq!(first_difference("stdout", b"x\n", b"x\n"), None);
        assert_eq!(difference(b"a\nb 1\nc", b"a\nb 2\nd"), expect("stdout, line 2", "b 1", "b 2"));
        assert_eq!(difference(b"a\n", b"a\nb\n"), expect("stdout, line 2", "(nothing more)", "b"));
        assert_eq!(difference(b"ab", b"a"), expect("stdout, line 1", "ab", "a"));
        // Only the line's end differs.
        assert_eq!(difference(b"a", b"a\n"), expect("stdout, byte 1", "(nothing more)", "0a"));
        assert_eq!(difference(b"\x00\x01", b"\x00\xff"), expect("stdout, byte 1", "01", "ff"));
        assert_eq!(difference(&[7; 40], &[]).1, format!("{}...", "07 ".repeat(16)));
    }

    #[test]
    fn long_lines_are_shown_where_they_differ() {
        let (a, b) = (format!("{}1{}", "é".repeat(400), "z".repeat(400)), "é".repeat(400));
        let (place, base, other) = difference(a.as_bytes(), b.as_bytes());
        assert_eq!(place, "stdout, line 1");
        assert!(base.starts_with("...") && base.ends_with("...") && base.chars().count() == 106, "{base}");
        assert!(other.starts_with("...é"));
    }
}
