use super::*;
use crate::campaign::outcome::Outcome;
use crate::campaign::store::{BatchRecord, ProgramRecord, Reduction};
use crate::campaign::vote::{Culprit, Verdict};

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
            detail: NASTY.into(),
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
    let ids = store.save(&batch, 2.0).unwrap();
    for id in ids {
        let reduction = Reduction {
            signature: Some("one bug".into()),
            report: (id == 2).then(|| NASTY.into()),
            c: Some("int main(void) { return 1 < 2; }".into()),
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
    let sarif: serde_json::Value = serde_json::from_str(&formats::sarif(&report)).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "runtime-crash");
    assert_eq!(sarif["runs"][0]["results"][0]["occurrenceCount"], 2);
    let xml = formats::junit(&report);
    let junit = roxmltree::Document::parse(&xml).unwrap();
    let failures = junit.descendants().filter(|n| n.has_tag_name("failure")).count();
    let suite = junit.descendants().find(|n| n.has_tag_name("testsuite")).unwrap();
    assert_eq!((failures, suite.attribute("failures"), suite.attribute("tests")), (2, Some("2"), Some("25")));
}
