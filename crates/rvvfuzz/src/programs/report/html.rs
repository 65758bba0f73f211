//! The page: it needs nothing else.
//!
//! Strings, and no template crate: `maud` and `askama` are procedural macros, which the build of the main job
//! would pay for. What is quoted goes through `escape`, and a test quotes markup.

use super::live::duration;
use super::plot::{Plot, bar, thin};
use super::{Report, Testbed};
use crate::programs::judge::outcome::Kind;
use crate::programs::known::describe;
use crate::programs::store::query::Bug;
use rvv_tools::junit::escape;
use std::fmt::Write;

const STYLE: &str = "
:root{color-scheme:light dark;--back:#fff;--text:#1c1c1e;--dim:#6b6b70;--grid:#d8d8dc;--line:#0b63c5;--good:#1a7f37;--bad:#c62828;
--badback:#fbe4e4;--soft:#f3f3f6}
@media(prefers-color-scheme:dark){:root{--back:#16171a;--text:#e6e6e9;--dim:#9c9ca3;--grid:#3a3b41;--line:#6cb0ff;--good:#5bd07a;
--bad:#ff8a80;--badback:#4a1f1f;--soft:#222329}}
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;background:var(--back);color:var(--text)}
h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}
svg{width:100%;max-width:640px;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--dim)}
.grid{stroke:var(--grid);stroke-width:1}.line{fill:none;stroke:var(--line);stroke-width:2}
.bar{width:200px;height:12px}.rest{fill:var(--grid)}.full{fill:var(--line)}
table{border-collapse:collapse}th,td{padding:3px 10px;text-align:right;font-variant-numeric:tabular-nums;border-bottom:1px solid var(--grid)}
th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}.wide td{white-space:nowrap}
.wide td:first-child,.wide th:first-child{position:sticky;left:0;background:var(--back)}
.bad{background:var(--badback);color:var(--bad);font-weight:600}.good{color:var(--good)}.dim{color:var(--dim)}
pre{background:var(--soft);padding:1em;overflow-x:auto;font-size:13px;line-height:1.4}
details{margin:.6em 0;border:1px solid var(--grid);border-radius:6px;padding:.4em 1em}summary{cursor:pointer}
.numbers{display:flex;flex-wrap:wrap;gap:1em 2.5em;padding:0;list-style:none}.numbers b{display:block;font-size:1.5em}
";

/// The page of a campaign.
pub fn page(report: &Report) -> String {
    let verdicts: usize = report.bugs.iter().map(|b| b.verdicts.len()).sum();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>rvvfuzz: campaign of seed {seed}</title><style>{STYLE}</style></head><body>\n\
         <h1>Campaign of seed {seed}</h1>\n",
        seed = report.settings.seed
    );
    out += &match (verdicts, report.programs) {
        (0, 0) => "<p>No program has been run yet.</p>".to_string(),
        (0, _) => "<p class=\"good\">Nothing is wrong.</p>".to_string(),
        (n, _) => {
            let known = report.bugs.iter().filter(|b| b.shown.fault.is_some()).count();
            format!(
                "<p class=\"bad\">{n} verdicts: {} new bugs, {known} known faults.</p>",
                report.bugs.len() - known
            )
        }
    };
    if report.bugs.iter().any(|b| b.shown.culprit_kind == "oracle") {
        out += "<p class=\"bad\">The oracle is suspect: every testbed agrees against it.</p>";
    }
    bugs(&mut out, report);
    numbers(&mut out, report);
    plots(&mut out, report);
    sections(&mut out, report);
    matrix(&mut out, report);
    settings(&mut out, report);
    out += "</body></html>\n";
    out
}

fn numbers(out: &mut String, report: &Report) {
    let rate = |n: u64| n as f64 / report.seconds.max(0.001);
    let share = 100.0 * report.covered as f64 / report.calls.max(1) as f64;
    let items = [
        (report.programs.to_string(), "programs".to_string()),
        (report.pairs.to_string(), "distinct program × build".to_string()),
        (
            format!("{:.1}", report.pairs as f64 / report.cpu_seconds.max(0.01)),
            "program × build per CPU-second, reductions included".to_string(),
        ),
        (duration(report.seconds), "of campaign".to_string()),
        (duration(report.cpu_seconds), "of CPU time".to_string()),
        (format!("{:.1}", rate(report.programs)), "programs a second".to_string()),
        (report.checks.to_string(), "checks (an operation on a testbed)".to_string()),
        (format!("{share:.1} %"), format!("{} of {} calls covered", report.covered, report.calls)),
        (report.testbeds.len().to_string(), "testbeds".to_string()),
    ];
    *out += "<ul class=\"numbers\">";
    for (value, what) in items {
        let _ = write!(out, "<li><b>{value}</b>{}</li>", escape(&what));
    }
    *out += "</ul>\n";
}

fn plots(out: &mut String, report: &Report) {
    let coverage: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(
            report
                .coverage_over_time
                .iter()
                .map(|&(t, n)| (t, 100.0 * n as f64 / report.calls.max(1) as f64)),
        )
        .chain([(report.seconds, 100.0 * report.covered as f64 / report.calls.max(1) as f64)])
        .collect();
    let plot = Plot {
        title: "Coverage over time",
        unit: "% of the selected calls",
        top: Some(100.0),
        end: report.seconds,
        points: &thin(&coverage, 400),
        steps: true,
    };
    let _ = writeln!(out, "<h2>Coverage over time</h2>{}", plot.svg());
    let points = throughput(report, 60);
    let plot = Plot {
        title: "Throughput",
        unit: "programs a second",
        top: None,
        end: report.seconds,
        points: &points,
        steps: false,
    };
    let _ = writeln!(out, "<h2>Throughput</h2>{}", plot.svg());
}

/// Programs a second, in equal parts of the campaign's time.
fn throughput(report: &Report, parts: usize) -> Vec<(f64, f64)> {
    if report.seconds <= 0.0 {
        return Vec::new();
    }
    // A part without a batch would look like a standstill.
    let parts = parts.min(report.batches.len() / 2).max(1);
    let width = report.seconds / parts as f64;
    let mut programs = vec![0u64; parts];
    for batch in &report.batches {
        let part = &mut programs[((batch.at / width) as usize).min(parts - 1)];
        *part = part.saturating_add(batch.programs);
    }
    let at = |(n, count): (usize, u64)| ((n as f64 + 0.5) * width, count as f64 / width);
    programs.into_iter().enumerate().map(at).collect()
}

fn sections(out: &mut String, report: &Report) {
    *out += "<h2>Coverage by section</h2><div class=\"wide\"><table><thead><tr><th>section</th><th>covered</th><th>calls</th>\
             <th></th></tr></thead><tbody>\n";
    for s in &report.sections {
        let share = s.covered as f64 / s.calls.max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&s.name),
            s.covered,
            s.calls,
            bar(share)
        );
    }
    *out += "</tbody></table></div>\n";
}

fn matrix(out: &mut String, report: &Report) {
    *out += "<h2>Outcomes</h2><p>Programs that passed, of those judged; what else happened below.</p>\
             <div class=\"wide\"><table><thead><tr><th>build</th>";
    for run in &report.runs {
        let _ = write!(out, "<th>{}</th>", escape(run));
    }
    *out += "<th>build time</th></tr></thead><tbody>\n";
    for (b, build) in report.builds.iter().enumerate() {
        let _ = write!(out, "<tr><td>{}</td>", escape(build));
        for testbed in report.testbeds.chunks(report.runs.len().max(1)).nth(b).unwrap_or_default() {
            cell(out, testbed);
        }
        let time = report.times.iter().find(|(n, run, _)| *n == b && run.is_none()).map_or(0.0, |t| t.2);
        let _ = writeln!(out, "<td class=\"dim\">{}</td></tr>", duration(time));
    }
    *out += "</tbody></table></div>\n";
    for (testbed, why) in &report.broken {
        let _ = writeln!(out, "<p class=\"bad\">{} does not work: {}</p>", escape(testbed), escape(why));
    }
}

fn cell(out: &mut String, testbed: &Testbed) {
    let (failures, passes) = (testbed.failures(), testbed.count(Kind::Pass));
    if failures + passes == 0 {
        *out += "<td class=\"dim\">–</td>";
        return;
    }
    let class = if failures > 0 { " class=\"bad\"" } else { "" };
    let _ = write!(out, "<td{class} title=\"{}\">{passes}", escape(&testbed.name));
    for kind in Kind::ALL.into_iter().skip(1) {
        let n = testbed.count(kind);
        if n > 0 {
            let dim = if kind == Kind::Unsupported { " class=\"dim\"" } else { "" };
            let _ = write!(out, "<br><small{dim}>{n} {}</small>", kind.name());
        }
    }
    *out += "</td>";
}

fn bugs(out: &mut String, report: &Report) {
    *out += "<h2>Bugs</h2>\n";
    if report.bugs.is_empty() {
        *out += "<p>None.</p>\n";
    }
    for bug in report.bugs.iter().filter(|b| b.shown.fault.is_none()) {
        one_bug(out, bug, report);
    }
    let known: Vec<&Bug> = report.bugs.iter().filter(|b| b.shown.fault.is_some()).collect();
    if known.is_empty() {
        return;
    }
    *out += "<h2>Known faults</h2><table><thead><tr><th>fault</th><th>verdicts</th><th>first verdict</th></tr></thead><tbody>\n";
    for bug in known {
        let _ = writeln!(
            out,
            "<tr><td>{}{}</td><td>{}</td><td>{}</td></tr>",
            escape(&bug.signature),
            escape(&describe(&bug.signature)),
            bug.verdicts.len(),
            bug.verdicts.first().copied().unwrap_or_default()
        );
    }
    *out += "</tbody></table>\n";
}

fn one_bug(out: &mut String, bug: &Bug, report: &Report) {
    let v = &bug.shown;
    let _ = write!(
        out,
        "<details><summary><b>{}</b> <span class=\"dim\">{} verdicts</span></summary>\n<p>{}: {}. ",
        escape(&bug.signature),
        bug.verdicts.len(),
        escape(&v.culprit),
        escape(&v.symptom)
    );
    if !v.axes.is_empty() {
        let _ = write!(out, "It comes and goes with {}. ", escape(&v.axes));
    }
    let _ = write!(out, "Program {}, verdict {}, on:</p><ul>", v.program, v.id);
    for testbed in v.testbeds.iter().filter_map(|&t| report.testbeds.get(t)).take(40) {
        let _ = write!(out, "<li>{}</li>", escape(&testbed.name));
    }
    *out += "</ul>";
    for (what, text) in [
        ("What it said", Some(&v.detail).filter(|d| !d.is_empty())),
        ("Report", v.report_md.as_ref()),
        ("The program, reduced", v.reduced_c.as_ref()),
        ("The same as IR", v.reduced_ir.as_ref()),
    ] {
        if let Some(text) = text {
            let _ = write!(out, "<h3>{what}</h3><pre>{}</pre>", escape(text));
        }
    }
    let _ = writeln!(
        out,
        "<p class=\"dim\"><code>rvvfuzz show {id}</code> tells all about it, <code>rvvfuzz show {id} --ir</code> its program.</p></details>",
        id = v.id
    );
}

fn settings(out: &mut String, report: &Report) {
    let json = serde_json::to_string_pretty(&report.settings).unwrap_or_default();
    let _ = writeln!(
        out,
        "<h2>Settings</h2><details><summary>rvvfuzz {}</summary><pre>{}</pre></details>",
        escape(&report.version),
        escape(&json)
    );
}
