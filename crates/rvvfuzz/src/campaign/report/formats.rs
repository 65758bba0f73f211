//! The campaign for programs: JSON, JUnit, SARIF.

use super::html::escape;
use super::{Report, Testbed};
use crate::campaign::outcome::Kind;
use crate::campaign::query::Bug;
use serde_json::{Value, json};
use std::fmt::Write;

/// Everything.
pub fn json(report: &Report) -> String {
    let text = serde_json::to_string_pretty(report);
    text.unwrap_or_else(|e| json!({ "error": e.to_string() }).to_string()) + "\n"
}

/// A test case for each testbed, which fails once for each bug that shows on it; one for what no testbed has; and skipped ones
/// for those that do not work.
pub fn junit(report: &Report) -> String {
    let ours = |bug: &&Bug| bug.shown.testbeds.is_empty();
    let mut cases = String::new();
    let mut failed = 0;
    for (number, testbed) in report.testbeds.iter().enumerate() {
        let bugs: Vec<&Bug> = report.bugs.iter().filter(|b| b.shown.testbeds.contains(&number)).collect();
        failed += usize::from(!bugs.is_empty());
        case(&mut cases, report, number, testbed, &bugs);
    }
    let rest: Vec<&Bug> = report.bugs.iter().filter(ours).collect();
    failed += usize::from(!rest.is_empty());
    cases += "  <testcase classname=\"rvvfuzz\" name=\"programs and what they must print\" time=\"0\">\n";
    rest.iter().for_each(|bug| failure(&mut cases, bug));
    cases += "  </testcase>\n";
    let skipped = cases.matches("<skipped").count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"rvvfuzz, seed {}\" tests=\"{}\" \
         failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" time=\"{:.3}\">\n{cases} </testsuite>\n</testsuites>\n",
        report.settings.seed,
        report.testbeds.len() + 1,
        report.seconds
    )
}

fn case(out: &mut String, report: &Report, number: usize, testbed: &Testbed, bugs: &[&Bug]) {
    let (build, run) = testbed.name.split_once(" on ").unwrap_or((&testbed.name, ""));
    let place = number.checked_rem(report.runs.len()).zip(number.checked_div(report.runs.len()));
    let time = place
        .and_then(|(r, b)| report.times.iter().find(|t| t.0 == b && t.1 == Some(r)))
        .map_or(0.0, |t| t.2);
    let _ = writeln!(
        out,
        "  <testcase classname=\"{}\" name=\"{}\" time=\"{time:.3}\">",
        escape(build),
        escape(run)
    );
    bugs.iter().for_each(|bug| failure(out, bug));
    let judged = testbed.failures() + testbed.count(Kind::Pass);
    if bugs.is_empty() && judged == 0 {
        let why = report.broken.iter().find(|(name, _)| name == build || name == run);
        let why = why.map_or("no program was judged on it", |(_, why)| why.as_str());
        let _ = writeln!(out, "   <skipped message=\"{}\"/>", escape(why).replace('\n', " "));
    }
    *out += "  </testcase>\n";
}

fn failure(out: &mut String, bug: &Bug) {
    let v = &bug.shown;
    let text = v.report_md.as_ref().unwrap_or(&v.detail);
    let _ = writeln!(
        out,
        "   <failure type=\"{}\" message=\"{}\">{}</failure>",
        escape(&v.symptom),
        escape(&bug.signature).replace('\n', " "),
        escape(text)
    );
}

/// A result for each bug.
pub fn sarif(report: &Report) -> String {
    let rule = |kind: &Kind| {
        json!({
            "id": rule_id(kind.name()),
            "name": kind.name(),
            "shortDescription": { "text": describe(*kind) },
        })
    };
    let rules: Vec<Value> = Kind::ALL.iter().skip(1).filter(|k| **k != Kind::Unsupported).map(rule).collect();
    let result = |bug: &Bug| {
        let v = &bug.shown;
        let testbeds: Vec<&str> =
            v.testbeds.iter().filter_map(|&t| report.testbeds.get(t)).map(|t| &*t.name).collect();
        let text = v.report_md.clone().unwrap_or_else(|| {
            format!("{}: {} on {} testbeds.\n{}", v.culprit, v.symptom, testbeds.len(), v.detail)
        });
        json!({
            "ruleId": rule_id(&v.symptom),
            "level": "error",
            "message": { "text": text },
            "locations": [{ "logicalLocations": [{ "fullyQualifiedName": v.culprit, "kind": v.culprit_kind }] }],
            "occurrenceCount": bug.verdicts.len(),
            "partialFingerprints": { "rvvfuzz/v1": bug.signature },
            "properties": { "program": v.program, "verdict": v.id, "axes": v.axes, "testbeds": testbeds,
                "ir": v.reduced_ir, "c": v.reduced_c },
        })
    };
    let notifications: Vec<Value> = report
        .broken
        .iter()
        .map(|(testbed, why)| json!({ "level": "warning", "message": { "text": format!("{testbed}: {why}") } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "rvvfuzz", "version": report.version, "rules": rules } },
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notifications }],
            "results": report.bugs.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    let text = serde_json::to_string_pretty(&log);
    text.unwrap_or_default() + "\n"
}

fn rule_id(symptom: &str) -> String {
    symptom.replace(' ', "-")
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Pass => "the program prints what it must",
        Kind::WrongOutput => "the program prints something else than it must",
        Kind::RuntimeCrash => "the program ends early: a signal, a trap, a status that is not 0",
        Kind::RuntimeTimeout => "the program does not end",
        Kind::BuildFailure => "the compiler refuses the program",
        Kind::BuildCrash => "the compiler crashes",
        Kind::BuildTimeout => "the compiler does not end",
        Kind::Unsupported => "the compiler does not have an intrinsic of the program",
    }
}
