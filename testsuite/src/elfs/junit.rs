//! JUnit's XML, which CI systems read.

use super::{Line, Verdict};
use std::fmt::Write;

/// The report of a run.
#[must_use]
pub fn to_junit(name: &str, lines: &[Line]) -> String {
    let failures = lines.iter().filter(|l| l.verdict != Verdict::Pass).count();
    let time: f64 = lines.iter().map(|l| l.time.as_secs_f64()).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" time=\"{time:.3}\">",
        escape(name),
        lines.len()
    );
    for line in lines {
        let (case, time) = (escape(&line.name), line.time.as_secs_f64());
        let _ = write!(out, "  <testcase classname=\"{}\" name=\"{case}\" time=\"{time:.3}\"", escape(name));
        if line.verdict == Verdict::Pass {
            out.push_str("/>\n");
            continue;
        }
        let kind = if line.verdict == Verdict::Fail { "failure" } else { "disagreement" };
        let reason = escape(&line.reason());
        let _ = writeln!(
            out,
            ">\n    <failure type=\"{kind}\" message=\"{kind}\">{reason}</failure>\n  </testcase>"
        );
    }
    out.push_str("</testsuite>\n");
    out
}

/// Text as XML has it; what XML cannot have at all becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elfs::{Ending, Seen};
    use std::time::Duration;

    fn line(name: &str, verdict: Verdict, remark: &str) -> Line {
        let ours = Seen { ending: Ending::Exited(1), stdout: Vec::new(), remark: remark.into() };
        Line { name: name.into(), ours, peer: None, verdict, time: Duration::from_millis(5) }
    }

    #[test]
    fn failures_are_counted_and_explained() {
        let lines = [line("a", Verdict::Pass, ""), line("b<c>", Verdict::Fail, "x & \u{1}y")];
        let xml = to_junit("suite", &lines);
        assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
        assert!(xml.contains("name=\"b&lt;c&gt;\""), "{xml}");
        assert!(xml.contains("rvvsim: exit 1 x &amp; \u{fffd}y</failure>"), "{xml}");
    }
}
