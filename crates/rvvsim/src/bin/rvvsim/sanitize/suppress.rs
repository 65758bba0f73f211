//! Suppressions: what is known, and not to be reported.
//!
//! A line is a kind of finding and a function, in which or below which it is: `undefined-output crc32_*`. In
//! both, `*` stands for anything. What comes after `#` is a comment.

use super::place::Places;
use crate::files::{plain, read_text};
use rvvsim::sanitize::{Finding, Kind};
use std::path::Path;

/// Lines of a file of suppressions.
#[derive(Clone, Debug, Default)]
pub struct Suppressions(Vec<(String, String)>);

/// The largest file, and its most lines: each is held against each finding.
const LARGEST: u64 = 1 << 20;
const MOST: usize = 10_000;

impl Suppressions {
    /// Reads a file.
    ///
    /// # Errors
    /// In words: what is wrong, and what a line should be.
    pub fn read(path: &Path) -> Result<Suppressions, String> {
        let text = read_text(path, LARGEST)?;
        Suppressions::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn parse(text: &str) -> Result<Suppressions, String> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |what: &str| {
                format!(
                    "line {}: {what}; a line is a kind and a function, with * for anything, as in \
                     undefined-output crc32_*",
                    number + 1
                )
            };
            let (kind, function) =
                line.split_once(char::is_whitespace).ok_or_else(|| wrong("there is no function"))?;
            if !Kind::ALL.iter().any(|k| matches(kind, k.name())) {
                let kinds: Vec<_> = Kind::ALL.iter().map(|k| k.name()).collect();
                return Err(wrong(&format!("there is no kind {} among {}", plain(kind), kinds.join(", "))));
            }
            lines.push((kind.to_owned(), function.trim().to_owned()));
            if lines.len() > MOST {
                return Err(format!("there are more than {MOST} lines"));
            }
        }
        Ok(Suppressions(lines))
    }

    /// Whether a finding is not to be reported.
    pub fn hide(&self, finding: &Finding, places: &mut Places) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let names: Vec<String> = std::iter::once(finding.pc)
            .chain(finding.frames.iter().copied())
            .filter_map(|pc| places.symbol(pc))
            .map(|(name, _)| name)
            .collect();
        self.0.iter().any(|(kind, function)| {
            matches(kind, finding.kind.name())
                && (function == "*" || names.iter().any(|name| matches(function, name)))
        })
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything. Takes as many steps as the
/// product of their lengths at most.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, is) in [
            ("*", "", true),
            ("main", "main", true),
            ("main", "mainly", false),
            ("m*n", "mn", true),
            ("a*b*c", "a__b_b_c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn lines_are_read_and_wrong_ones_say_what_to_write() {
        let good = Suppressions::parse("# known\nundefined-output f*  # padding\n\n* main\n").unwrap();
        assert_eq!(good.0.len(), 2);
        for (text, says) in [
            ("undefined-output", "line 1: there is no function"),
            ("# x\nundefined-colour f", "line 2: there is no kind undefined-colour"),
        ] {
            let e = Suppressions::parse(text).unwrap_err();
            assert!(e.contains(says) && e.contains("undefined-output crc32_*"), "{e}");
        }
        assert!(Suppressions::parse(&"* f\n".repeat(MOST + 1)).is_err());
    }
}
