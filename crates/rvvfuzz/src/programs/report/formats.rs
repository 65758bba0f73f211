//! The campaign for programs: JSON, JUnit, SARIF.

use super::{Report, Testbed};
use crate::programs::judge::outcome::Kind;
use crate::programs::store::query::Bug;
use crate::programs::testbed::TestbedId;
use rvv_cli::sarif::{self, Region, Rule, Run};
use rvv_tools::junit::{Case, Suite, Verdict, to_xml};
use serde_json::{Value, json};

/// Everything.
pub fn json(report: &Report) -> String {
    let text = serde_json::to_string_pretty(report);
    text.unwrap_or_else(|e| json!({ "error": e.to_string() }).to_string()) + "\n"
}

/// A suite for each testbed, with a test case for each program that fails on it, one for all that pass, or a
/// skipped one if none was judged; and a suite for what no testbed has.
pub fn junit(report: &Report) -> String {
    let mut suites: Vec<Suite> =
        report.testbeds.iter().enumerate().map(|(n, t)| suite(report, n, t)).collect();
    let mut ours = Suite { name: "rvvfuzz".to_string(), ..Suite::default() };
    for bug in report.bugs.iter().filter(|b| b.shown.testbeds.is_empty()) {
        let v = &bug.shown;
        let message = format!("{}: {}", bug.signature, v.headline());
        ours.cases.push(case("rvvfuzz", format!("program {}", v.program), failed(&v.symptom, message)));
    }
    if ours.cases.is_empty() {
        ours.cases.push(case("rvvfuzz", "programs and what they must print".to_string(), Verdict::Passed));
    }
    suites.push(ours);
    to_xml(&format!("rvvfuzz, seed {}", report.settings.seed), report.seconds, &suites)
}

fn suite(report: &Report, number: usize, testbed: &Testbed) -> Suite {
    let (build, run) = testbed.name.split_once(" on ").unwrap_or((&testbed.name, ""));
    let id = TestbedId::from_number(number, report.runs.len());
    let seconds = id
        .and_then(|id| report.times.iter().find(|t| t.0 == id.build && t.1 == Some(id.run)))
        .map_or(0.0, |t| t.2);
    // They are in the order of the testbeds.
    let from = report.failures.partition_point(|f| f.testbed < number);
    let to = report.failures.partition_point(|f| f.testbed <= number);
    let mut cases: Vec<Case> = Vec::new();
    for f in &report.failures[from..to] {
        let bug = f.bug.and_then(|b| report.bugs.get(b)).map(|b| format!(" ({})", b.signature));
        let message = format!("{}{}", f.headline, bug.unwrap_or_default());
        cases.push(case(&testbed.name, format!("program {}", f.program), failed(f.symptom, message)));
    }
    let rest = match testbed.count(Kind::Pass) {
        0 if cases.is_empty() => {
            let why = report.broken.iter().find(|(name, _)| name == build || name == run);
            let why = why.map_or("no program was judged on it", |(_, why)| why.as_str());
            Some(case(&testbed.name, "programs".to_string(), Verdict::Skipped(why.to_string())))
        }
        0 => None,
        n => Some(case(&testbed.name, format!("{n} programs that pass"), Verdict::Passed)),
    };
    cases.extend(rest.map(|rest| Case { seconds, ..rest }));
    Suite { name: testbed.name.clone(), seconds, cases }
}

fn case(class: &str, name: String, result: Verdict) -> Case {
    Case { class: class.to_string(), name, seconds: 0.0, result }
}

fn failed(symptom: &str, message: String) -> Verdict {
    Verdict::Failed { kind: symptom.to_string(), message, text: String::new() }
}

/// The files of the bugs' programs: name and text. Those that are reduced are there in C, too.
pub fn programs(report: &Report) -> Vec<(String, &str)> {
    report.bugs.iter().flat_map(|bug| program_files(report, bug)).collect()
}

/// The program of a bug, for people first.
fn program_files<'r>(report: &'r Report, bug: &'r Bug) -> Vec<(String, &'r str)> {
    let v = &bug.shown;
    let ir = v.reduced_ir.as_ref().or_else(|| report.programs_of_bugs.get(&v.program));
    let file = |extension: &str, text: &'r String| (format!("verdict-{}.{extension}", v.id), text.as_str());
    v.reduced_c.iter().map(|c| file("c", c)).chain(ir.map(|ir| file("ir", ir))).collect()
}

/// The lines of a program that are about vectors, from 1: its calls in C, its body as IR.
fn region(text: &str) -> (usize, usize) {
    let is_call = |line: &str| line.starts_with(' ') && line.contains("__riscv_v");
    let calls: Vec<usize> =
        text.lines().enumerate().filter(|(_, l)| is_call(l)).map(|(n, _)| n + 1).collect();
    let main = text.lines().position(|l| l.starts_with("main")).map_or(1, |n| n + 1);
    match (calls.first(), calls.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (main, text.lines().count().max(main)),
    }
}

/// A result for each bug. Its location is the file of its program, in `folder` as [`programs`] names it; the
/// text is here as well, for where there are no files.
pub fn sarif(report: &Report, folder: &str) -> String {
    let rule = |kind: &Kind| Rule {
        id: rule_id(kind.name()),
        name: Some(kind.name().to_string()),
        says: describe(*kind).to_string(),
    };
    let mut run = Run {
        tool: "rvvfuzz".to_string(),
        version: report.version.to_string(),
        rules: Kind::ALL.iter().skip(1).filter(|k| **k != Kind::Unsupported).map(rule).collect(),
        command: None,
        warnings: report.broken.iter().map(|(testbed, why)| format!("{testbed}: {why}")).collect(),
        files: programs(report).into_iter().map(|(n, t)| (format!("{folder}{n}"), t.to_string())).collect(),
        results: Vec::new(),
    };
    run.results = report.bugs.iter().map(|bug| result(&run, report, bug, folder)).collect();
    run.to_text()
}

fn result(run: &Run, report: &Report, bug: &Bug, folder: &str) -> Value {
    let v = &bug.shown;
    let testbeds: Vec<&str> =
        v.testbeds.iter().filter_map(|&t| report.testbeds.get(t)).map(|t| &*t.name).collect();
    let text = format!("{}: {} on {} testbeds. {}", v.culprit, v.symptom, testbeds.len(), v.headline());
    let mut message = json!({ "text": text });
    if let Some(markdown) = &v.report_md {
        message["markdown"] = markdown.as_str().into();
    }
    let mut place = sarif::location(&v.culprit, &v.culprit_kind);
    let mut places = program_files(report, bug).into_iter().map(|(name, text)| {
        let (line, last) = region(text);
        let region = Region { line: line as u64, column: None, last: Some(last as u64) };
        run.place(&format!("{folder}{name}"), region)
    });
    if let Some(first) = places.next() {
        place["physicalLocation"] = first;
    }
    let others: Vec<Value> = places.map(|place| json!({ "physicalLocation": place })).collect();
    json!({
        "ruleId": rule_id(&v.symptom),
        "level": "error",
        "message": message,
        "locations": [place],
        "relatedLocations": others,
        "occurrenceCount": bug.verdicts.len(),
        "partialFingerprints": { "rvvfuzz/v1": bug.signature },
        "properties": { "program": v.program, "verdict": v.id, "axes": v.axes, "testbeds": testbeds },
    })
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
