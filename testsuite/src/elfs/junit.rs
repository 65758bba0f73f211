//! The report of a run for CI systems.

use super::{Line, Verdict};
use crate::peer::junit::{self, Case, Suite};

/// The report of a run.
#[must_use]
pub fn to_junit(name: &str, lines: &[Line]) -> String {
    let case = |line: &Line| {
        let failed = |kind: &str| junit::Verdict::Failed {
            kind: kind.to_owned(),
            message: kind.to_owned(),
            text: line.reason(),
        };
        let result = match line.verdict {
            Verdict::Pass => junit::Verdict::Passed,
            Verdict::Fail => failed("failure"),
            _ => failed("disagreement"),
        };
        Case { class: name.to_owned(), name: line.name.clone(), seconds: line.time.as_secs_f64(), result }
    };
    let cases: Vec<Case> = lines.iter().map(case).collect();
    let seconds = cases.iter().map(|c| c.seconds).sum();
    junit::to_xml(name, seconds, &[Suite { name: name.to_owned(), seconds, cases }])
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
