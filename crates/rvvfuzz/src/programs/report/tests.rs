use super::*;
use crate::programs::judge::outcome::Outcome;
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::store::{BatchRecord, ProgramRecord, Reduction, Spent};

const NASTY: &str = "</pre><script>alert('x')</script> & \"quotes\" \u{1b}[31m ]]> é\u{0}";

/// A store with two verdicts of one bug, told as nastily as can be.
fn report() -> Report {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let campaign = Campaign::new(&settings).unwrap();
    let names: Vec<String> = (0..campaign.testbeds.len()).map(|t| campaign.testbeds.name(t)).collect();
    let mut store = Store::create(&folder.path().join("c.db"), &settings, &names).unwrap();
    let program = |number: u64| ProgramRecord {
        number,
        outcomes: vec![Some(Outcome::RuntimeCrash(NASTY.into())); names.len()],
        ir: Some("rvv-ir 1\n".into()),
        verdicts: vec![Verdict {
            culprit: Culprit::Compiler(NASTY.into()),
            symptom: Kind::RuntimeCrash,
            testbeds: vec![0, 5],
            axes: vec!["level", "VLEN"],
            buffer: None,
            detail: NASTY.into(),
            early: None,
            fault: None,
        }],
    };
    let batch = BatchRecord {
        count: 2,
        seconds: 1.0,
        checks: 120,
        operations: 20,
        programs: vec![program(0), program(1)],
        calls: vec![("__riscv_vadd_vv_i8m1", false, 0), ("__riscv_vadd_vv_i8m1", true, 1)],
        broken: vec![("a <b>".into(), NASTY.into())],
        ..BatchRecord::default()
    };
    let ids = store.save(&batch, Spent { clock: 2.0, cpu: 4.0 }).unwrap();
    for id in ids {
        let reduction = Reduction {
            signature: Some("one bug".into()),
            report: (id == 2).then(|| NASTY.into()),
            c: Some("int main(void)\n{\n    x = 1 < 2;\n    y = __riscv_vadd(x, y, 1);\n    y = __riscv_vadd(y, y, 1);\n}\n".into()),
            ir: None,
        };
        store.save_reduction(id, &reduction).unwrap();
    }
    Report::read(&store).unwrap()
}

#[test]
fn two_verdicts_of_one_bug_are_one_entry() {
    let report = report();
    assert_eq!(report.bugs.len(), 1);
    assert_eq!((report.bugs[0].verdicts.as_slice(), report.bugs[0].shown.id), (&[1, 2][..], 2));
    assert_eq!((report.covered, report.programs, report.testbeds[0].failures()), (2, 2, 2));
    let integer = report.sections.iter().find(|s| s.name == "vector integer arithmetic intrinsics").unwrap();
    assert!(integer.covered == 2 && integer.calls > 1000);
    assert_eq!(report.sections.iter().map(|s| s.calls).sum::<usize>(), report.calls);
}

#[test]
fn the_page_escapes_what_it_quotes() {
    let page = html::page(&report());
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;script&gt;") && page.contains("1 &lt; 2"));
    assert!(page.contains("prefers-color-scheme:dark"));
    for tag in ["details", "table", "pre", "svg", "ul"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        assert_eq!(page.matches(&open).count(), page.matches(&close).count(), "{tag}");
    }
}

#[test]
fn other_formats_can_be_read_back() {
    let report = report();
    let json: serde_json::Value = serde_json::from_str(&formats::json(&report)).unwrap();
    assert_eq!(json["bugs"][0]["shown"]["detail"], NASTY);
    let sarif: serde_json::Value = serde_json::from_str(&formats::sarif(&report, "a b/")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "runtime-crash");
    assert_eq!(sarif["runs"][0]["results"][0]["occurrenceCount"], 2);
    let xml = formats::junit(&report);
    let junit = roxmltree::Document::parse(&xml).unwrap();
    let failures = junit.descendants().filter(|n| n.has_tag_name("failure")).count();
    let suite = junit.descendants().find(|n| n.has_tag_name("testsuite")).unwrap();
    assert_eq!((suite.attribute("failures"), suite.attribute("tests")), (Some("2"), Some("2")));
    let all = junit.root_element();
    assert_eq!((failures, all.attribute("failures"), all.attribute("tests")), (48, Some("48"), Some("49")));
    // What is located is there, by the same name, and is in those lines.
    let run = &sarif["runs"][0];
    let physical = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "a%20b/verdict-2.c");
    let index = physical["artifactLocation"]["index"].as_u64().unwrap() as usize;
    assert_eq!(run["artifacts"][index]["location"]["uri"], "a%20b/verdict-2.c");
    let text = run["artifacts"][index]["contents"]["text"].as_str().unwrap();
    assert_eq!(formats::programs(&report)[index], ("verdict-2.c".to_string(), text));
    let line = text.lines().nth(physical["region"]["startLine"].as_u64().unwrap() as usize - 1);
    assert!(line.unwrap().contains("__riscv_vadd"), "{text}");
    assert_eq!(physical["region"]["endLine"], 5);
    // The program was not reduced as IR: it is as it was stored.
    let other = &run["results"][0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(other, "a%20b/verdict-2.ir");
}

/// Every wrong outcome counts, on every testbed, whatever the shown verdict of its bug is about.
#[test]
fn junit_fails_where_a_program_failed() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let names: Vec<String> = ["a on x", "a on y", "b on x", "b on y"].map(String::from).to_vec();
    let mut store = Store::create(&folder.path().join("c.db"), &settings, &names).unwrap();
    let wrong = |element| Some(Outcome::WrongOutput(rvv_ir::Mismatch { buffer: 1, element }));
    let verdict = |testbeds: &[usize]| Verdict {
        culprit: Culprit::Compiler("a".into()),
        symptom: Kind::WrongOutput,
        testbeds: testbeds.to_vec(),
        axes: Vec::new(),
        buffer: Some(1),
        detail: "buffer 1 element 3".into(),
        early: Some("a: wrong output: not reduced".into()),
        fault: None,
    };
    let program = |number, outcomes: [Option<Outcome>; 4], verdicts| ProgramRecord {
        number,
        outcomes: outcomes.to_vec(),
        ir: None,
        verdicts,
    };
    let (pass, missing) = (Some(Outcome::Pass), Some(Outcome::Unsupported("x".into())));
    let long = Some(Outcome::BuildFailure("word ".repeat(1000)));
    let batch = BatchRecord {
        count: 4,
        programs: vec![
            program(0, [wrong(3), pass.clone(), pass.clone(), None], vec![verdict(&[0])]),
            program(1, [pass.clone(), wrong(3), wrong(3), None], vec![verdict(&[1, 2])]),
            program(2, [wrong(4), Some(Outcome::RuntimeTimeout), missing, None], Vec::new()),
            program(3, [pass.clone(), pass.clone(), long, None], Vec::new()),
        ],
        ..BatchRecord::default()
    };
    store.save(&batch, Spent { clock: 1.0, cpu: 2.0 }).unwrap();
    let report = Report::read(&store).unwrap();
    let xml = formats::junit(&report);
    let junit = roxmltree::Document::parse(&xml).unwrap();
    let suites: Vec<_> = junit.descendants().filter(|n| n.has_tag_name("testsuite")).collect();
    let attributes =
        |n: &roxmltree::Node, names: [&str; 3]| names.map(|a| n.attribute(a).unwrap().to_string());
    let counts = |n: usize| attributes(&suites[n], ["tests", "failures", "skipped"]);
    assert_eq!(counts(0), ["3", "2", "0"]);
    assert_eq!(counts(1), ["3", "2", "0"]);
    assert_eq!(counts(2), ["3", "2", "0"]);
    assert_eq!(counts(3), ["1", "0", "1"]);
    let cases = junit.descendants().filter(|n| n.has_tag_name("testcase"));
    let failed: Vec<String> = cases
        .filter_map(|case| {
            let failure = case.children().find(|n| n.has_tag_name("failure"))?;
            let place = format!("{} {}", case.attribute("classname")?, case.attribute("name")?);
            assert!(failure.attribute("message")?.len() <= 300 && failure.text().is_none());
            Some(format!("{place}: {} {:.26}", failure.attribute("type")?, failure.attribute("message")?))
        })
        .collect();
    assert_eq!(
        failed,
        [
            "a on x program 0: wrong output buffer 1 element 3 (a: wro",
            "a on x program 2: wrong output buffer 1 element 4",
            "a on y program 1: wrong output buffer 1 element 3 (a: wro",
            "a on y program 2: runtime timeout ",
            "b on x program 1: wrong output buffer 1 element 3 (a: wro",
            "b on x program 3: build failure word word word word word w",
        ]
    );
    assert_eq!(junit.root_element().attribute("failures"), Some("6"));
}
