use super::*;
use crate::programs::judge::outcome::Outcome;
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::report::entries::Filter;
use crate::programs::report::view::View;
use crate::programs::store::states::State;
use crate::programs::store::{BatchRecord, ProgramRecord, Reduction, Spent};

const NASTY: &str = "</pre><script>alert('x')</script> & \"quotes\" \u{1b}[31m ]]> é\u{0}";

/// A report with it in every part.
const REPORT: &str = "# NASTY\n\n- Symptom: NASTY\n- Compiler: NASTY, `cc NASTY`\n- With QEMU: `qemu NASTY`\n\n\
                      ## The function NASTY\n\n```c\nNASTY\n```\n\n\
                      ## Expected and actual\n\nNASTY\n\n| NASTY | b | c |\n|---|---|---|\n| NASTY | NASTY | NASTY |\n\n\
                      ## The code\n\n```\nNASTY\n  10: vadd.vv v1, v2, v3\n```\n\n\
                      ## Versions and levels\n\n| NASTY | -O0 |\n|---|---|\n| NASTY | pass |\n\n\
                      ## The guilty pass\n\nNASTY\n\n## The compiler (-v)\n\n```\nNASTY\n```\n\n\
                      ## The whole program (bug.c)\n\n```c\nNASTY\n```\n";

/// A store with two verdicts of one bug, told as nastily as can be.
fn nasty(folder: &std::path::Path) -> Store {
    let settings = Settings::default();
    let campaign = Campaign::new(&settings).unwrap();
    let names: Vec<String> = (0..campaign.testbeds.len()).map(|t| campaign.testbeds.name(t)).collect();
    let mut store = Store::create(&folder.join("c.db"), &settings, &names).unwrap();
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
            report: (id == 2).then(|| REPORT.replace("NASTY", NASTY)),
            c: Some("int main(void)\n{\n    x = 1 < 2;\n    y = __riscv_vadd(x, y, 1);\n    y = __riscv_vadd(y, y, 1);\n}\n".into()),
            ir: None,
            bisect: false,
        };
        store.save_reduction(id, &reduction).unwrap();
    }
    store
}

fn report() -> Report {
    let folder = tempfile::tempdir().unwrap();
    Report::read(&nasty(folder.path())).unwrap()
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

/// Nothing of what is quoted is markup, and what is opened is closed.
fn assert_harmless(page: &str) {
    let own = page.replace(&format!("<script>{}</script>", page::SCRIPT), "").replace(page::STYLE, "");
    let own = own.replace("<script src=\"/script.js\" defer></script>", "");
    assert!(!own.contains("<script") && !own.contains('\u{1b}') && !own.contains("alert('"));
    for tag in
        ["details", "table", "pre", "svg", "ul", "section", "form", "textarea", "select", "div", "a", "li"]
    {
        let opened = own.matches(&format!("<{tag} ")).count() + own.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, own.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn pages_escape_what_they_quote() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = nasty(folder.path());
    store.set_state(1, State::Known, NASTY).unwrap();
    let page = page::file(&store).unwrap();
    assert_harmless(&page);
    assert!(page.contains("&lt;script&gt;") && page.contains("prefers-color-scheme: dark"));
    let selected = Selected::read(&store).unwrap();
    let site = page::Site::read(&store, &selected).unwrap();
    let mode = page::Mode::Server { writes: true, login: true };
    let view = site.view(&store, &selected, 2).unwrap().unwrap();
    let filter = Filter { words: NASTY.into(), version: NASTY.into(), ..Filter::default() };
    for page in [
        page::bugs(&site, mode, &Filter::default(), 0),
        page::bugs(&site, mode, &filter, 99),
        page::campaign(&site, mode),
        page::bug(&site, mode, &view),
        page::sentence(NASTY, NASTY),
        page::login(Some(NASTY)),
    ] {
        assert_harmless(&page);
    }
    for text in [view.bugzilla(), view.github(), view.summary()] {
        assert!(!text.contains('\u{1b}') && !text.contains('\0'), "{text}");
    }
}

/// A file's policy names the digests of the one script and the one style sheet that it allows.
#[test]
fn the_script_and_the_style_of_a_file_are_allowed() {
    use sha2::Digest;
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| -> String {
        let bits = bytes.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - bytes.len()));
        let digit = |n: usize| letters[(bits >> (18 - 6 * n)) as usize & 63] as char;
        (0..4).map(|n| if n > bytes.len() { '=' } else { digit(n) }).collect()
    };
    let digest =
        |text: &str| -> String { sha2::Sha256::digest(text.as_bytes()).chunks(3).map(group).collect() };
    let folder = tempfile::tempdir().unwrap();
    let page = page::file(&nasty(folder.path())).unwrap();
    for (what, text) in [("script-src", page::SCRIPT), ("style-src", page::STYLE)] {
        let digest = digest(text);
        assert!(page.contains(&format!("{what} 'sha256-{digest}'")), "{what} is sha256-{digest}");
    }
}

#[test]
fn a_bug_is_told_to_those_who_have_no_rvvsim() {
    let folder = tempfile::tempdir().unwrap();
    let store = nasty(folder.path());
    let selected = Selected::read(&store).unwrap();
    let site = page::Site::read(&store, &selected).unwrap();
    let view = site.view(&store, &selected, 2).unwrap().unwrap();
    for text in [view.bugzilla(), view.github()] {
        assert!(
            text.contains("$ cc ") && text.contains("$ qemu ") && text.contains(" invalid code"),
            "{text}"
        );
    }
    // What is not reduced yet has its commands all the same.
    let plain = View { report: markdown::Document::default(), ..view };
    assert!(plain.bugzilla().contains("Summary: RISC-V V: invalid code"));
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
