//! What one run shows, and where two runs show different things.

use super::super::options::Compare;
use super::super::report;
use crate::count::Count;
use regex::bytes::Regex;
use rvvsim::elf::Image;
use rvvsim::linux::ProcessOptions;
use rvvsim::{Config, LoadError, Machine, Outcome};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{Result, Write};
use std::rc::Rc;
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
#[derive(Clone)]
pub struct Remarks {
    /// Why it ended, if that is worth telling: the trap.
    pub why: Option<String>,
    /// A limit ended it, or something unsupported.
    pub stopped: bool,
    /// A signal or a trap ended it.
    pub died: bool,
    /// The largest element group of the instructions that it met.
    pub group: Group,
    /// Instructions retired.
    pub instructions: u64,
    /// What the guest asked for in vain.
    pub notes: Vec<String>,
    /// Its instructions by class and symbol, if that was wanted.
    pub count: Option<Count>,
}

/// A size of element groups, and an instruction that has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Group {
    /// In elements; 1 is no group.
    pub size: u32,
    /// Its mnemonic.
    pub of: &'static str,
}

impl Group {
    /// That of instructions on single elements.
    pub const NONE: Group = Group { size: 1, of: "" };
}

/// Runs the program once, and counts its instructions if it is to.
pub fn run(
    image: &Image,
    bare: bool,
    config: Config,
    process: ProcessOptions,
    deadline: Option<Instant>,
    counts: bool,
) -> std::result::Result<(Seen, Remarks), LoadError> {
    let console = Console::default();
    let mut machine =
        if bare { Machine::bare(config, image)? } else { Machine::user(config, image, process)? };
    machine.set_console(Box::new(console.clone()));
    if counts {
        Count::prepare(&mut machine);
    }
    // All instructions of a block that is decoded are about to execute, but for traps.
    let group = Rc::new(Cell::new(Group::NONE));
    let met = Rc::clone(&group);
    machine.engine_mut().observe(move |_, insts| {
        for (_, inst) in insts {
            let size = u32::from(inst.op.shape().group);
            if size > met.get().size {
                met.set(Group { size, of: inst.op.name() });
            }
        }
    });
    let outcome = machine.run(deadline);
    let (stdout, stderr, notes) = match machine.process_mut() {
        Some(process) => {
            let notes = process.notes().to_vec();
            let (stdout, stderr) = process.take_output();
            (stdout, stderr, notes)
        }
        None => (console.take(), Vec::new(), Vec::new()),
    };
    let died = matches!(outcome, Outcome::Signaled { .. } | Outcome::Stuck(_));
    let (ending, trap, stopped) = match outcome {
        _ if stdout.len().max(stderr.len()) >= OUTPUT_LIMIT => {
            (format!("more than {} MiB of output", OUTPUT_LIMIT >> 20), None, true)
        }
        Outcome::Exited(code) => (format!("exit status {code}"), None, false),
        Outcome::Signaled { signal, trap } => (rvvsim::linux::signal_name(signal).to_string(), trap, false),
        Outcome::Stuck(trap) => ("a trap whose handler cannot be fetched".to_owned(), Some(trap), false),
        Outcome::OutOfInstructions => ("too many instructions".to_owned(), None, true),
        Outcome::TimedOut => ("stopped by --timeout".to_owned(), None, true),
        Outcome::EnginesDiffer(what) => (format!("a fault of rvvsim: {what}"), None, true),
        Outcome::Unsupported(what) => (format!("what is not supported here: {what}"), None, true),
    };
    let why = trap.map(|trap| report::trap_line(machine.hart_mut(), image, &trap));
    let instructions = machine.hart().instructions_retired();
    let count = counts.then(|| Count::of(&machine, image));
    Ok((
        Seen { ending, stdout, stderr },
        Remarks { why, stopped, died, group: group.get(), instructions, notes, count },
    ))
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

/// The longest line in which text to be left out is looked for: a search may take quadratic time.
const LONGEST_LINE: usize = 8 << 10;

/// Leaves out what matches, and lines of which nothing is left.
fn without(ignore: &[Regex], text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&c| c == b'\n') {
        let (mut rest, end) = match line {
            [rest @ .., b'\n'] => (Cow::Borrowed(rest), &b"\n"[..]),
            rest => (Cow::Borrowed(rest), &b""[..]),
        };
        if line.len() <= LONGEST_LINE {
            for regex in ignore {
                if let Cow::Owned(left) = regex.replace_all(&rest, &b""[..]) {
                    rest = Cow::Owned(left);
                }
            }
        }
        let all_matched = matches!(&rest, Cow::Owned(left) if left.is_empty());
        if !all_matched {
            kept.extend_from_slice(&rest);
            kept.extend_from_slice(end);
        }
    }
    kept
}

impl Seen {
    /// What is left to compare.
    pub fn compared(mut self, compare: Compare, ignore: &[Regex]) -> Seen {
        if compare == Compare::Status {
            return Seen { stdout: Vec::new(), stderr: Vec::new(), ..self };
        }
        if !ignore.is_empty() {
            (self.stdout, self.stderr) = (without(ignore, &self.stdout), without(ignore, &self.stderr));
        }
        self
    }

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
    fn what_is_ignored_is_left_out_line_by_line() {
        let regex = |text: &[&str]| text.iter().map(|t| Regex::new(t).unwrap()).collect::<Vec<_>>();
        let left = |text: &str, ignore: &[&str]| {
            String::from_utf8(without(&regex(ignore), text.as_bytes())).unwrap()
        };
        assert_eq!(left("ok a (2 ms)\nok b (13 ms)\n", &[r" \(\d+ ms\)"]), "ok a\nok b\n");
        // A line that matches wholly goes; one that was empty stays.
        assert_eq!(left("x\n\nskip 3\ny", &["^skip.*$"]), "x\n\ny");
        assert_eq!(left("skip", &["s", "kip"]), "");
        assert_eq!(left("a1b2", &[r"\d", "b"]), "a");
        let long = "1".repeat(LONGEST_LINE + 1);
        assert_eq!(left(&long, &["1"]), long);
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
