//! JUnit's XML, which CI systems read.
//!
//! Written by hand: `quick-junit` brings chrono, uuid, indexmap and quick-xml along, and its callers are no
//! shorter.

use std::fmt::Write;

/// A suite of test cases.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// What it took, in seconds.
    pub seconds: f64,
    /// The cases.
    pub cases: Vec<Case>,
}

/// A test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it belongs to.
    pub class: String,
    /// Its name.
    pub name: String,
    /// What it took, in seconds.
    pub seconds: f64,
    /// What came of it.
    pub result: Verdict,
}

/// What came of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It was not run: why.
    Skipped(String),
    /// It failed.
    Failed {
        /// In what way.
        kind: String,
        /// In a line.
        message: String,
        /// All there is to say, if that is more than a line.
        text: String,
    },
}

impl Suite {
    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.cases.iter().filter(|c| is(&c.result)).count()
    }

    fn failures(&self) -> usize {
        self.count(|r| matches!(r, Verdict::Failed { .. }))
    }

    fn write(&self, out: &mut String) {
        let _ = writeln!(
            out,
            " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" \
             time=\"{:.3}\">",
            escape(&self.name),
            self.cases.len(),
            self.failures(),
            self.count(|r| matches!(r, Verdict::Skipped(_))),
            self.seconds
        );
        self.cases.iter().for_each(|case| case.write(out));
        out.push_str(" </testsuite>\n");
    }
}

impl Case {
    fn write(&self, out: &mut String) {
        let (class, name) = (escape(&self.class), escape(&self.name));
        let _ =
            writeln!(out, "  <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\">", self.seconds);
        match &self.result {
            Verdict::Passed => {}
            Verdict::Skipped(why) => {
                let _ = writeln!(out, "   <skipped message=\"{}\"/>", attribute(why));
            }
            Verdict::Failed { kind, message, text } => {
                let _ =
                    write!(out, "   <failure type=\"{}\" message=\"{}\"", escape(kind), attribute(message));
                let _ = match text.as_str() {
                    "" => writeln!(out, "/>"),
                    text => writeln!(out, ">{}</failure>", escape(text)),
                };
            }
        }
        out.push_str("  </testcase>\n");
    }
}

/// The report of a run.
#[must_use]
pub fn to_xml(name: &str, seconds: f64, suites: &[Suite]) -> String {
    let tests: usize = suites.iter().map(|s| s.cases.len()).sum();
    let failures: usize = suites.iter().map(Suite::failures).sum();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\">\n",
        escape(name)
    );
    suites.iter().for_each(|suite| suite.write(&mut out));
    out.push_str("</testsuites>\n");
    out
}

/// A text in one line, no longer than 300 characters.
fn attribute(text: &str) -> String {
    escape(&text.chars().take(300).collect::<String>()).replace('\n', " ")
}

/// Text as XML and HTML have it; what XML cannot have at all becomes U+FFFD.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Control characters, of which compilers' colours are made, have no place in XML.
            c if c < ' ' && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_in_xml_is_not_in_it() {
        let result = Verdict::Failed { kind: "k".into(), message: "a\nb".into(), text: "\u{1}<'&\">".into() };
        let case = Case { class: "c".into(), name: "n".into(), seconds: 1.0, result };
        let skipped = Case { result: Verdict::Skipped("x".repeat(301)), ..case.clone() };
        let suite = Suite { name: "s<".into(), seconds: 2.0, cases: vec![case, skipped] };
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"r\" tests=\"2\" failures=\"1\" errors=\"0\" time=\"3.000\">\n \
             <testsuite name=\"s&lt;\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\" \
             time=\"2.000\">\n  \
             <testcase classname=\"c\" name=\"n\" time=\"1.000\">\n   \
             <failure type=\"k\" message=\"a \
             b\">\u{fffd}&lt;&#39;&amp;&quot;&gt;</failure>\n  </testcase>\n  \
             <testcase classname=\"c\" name=\"n\" time=\"1.000\">\n   \
             <skipped message=\"{}\"/>\n  </testcase>\n </testsuite>\n</testsuites>\n",
            "x".repeat(300)
        );
        assert_eq!(to_xml("r", 3.0, &[suite]), expected);
    }
}
