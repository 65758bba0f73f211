//! The campaign: figures, plots, machines, outcomes.

use super::{Site, spaced};
use crate::programs::judge::outcome::Kind;
use crate::programs::report::live::duration;
use crate::programs::report::plot::{Plot, bar, thin};
use crate::programs::report::{Figures, Testbed};
use crate::programs::store::lease::Worker;
use rvv_tools::junit::escape;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Programs a second, in the last ten minutes or in all.
pub fn rate(figures: &Figures) -> f64 {
    let since = (figures.seconds - 600.0).max(0.0);
    let recent = figures.batches.iter().filter(|b| b.at > since);
    let programs = recent.fold(0_u64, |n, b| n.saturating_add(b.programs));
    programs as f64 / (figures.seconds - since).max(1.0)
}

/// A worker that was seen within so many seconds is at work: it says so after a third of its lease.
const ALIVE: f64 = 90.0;
const LATE: f64 = 600.0;

/// The machine of a worker.
fn machine(worker: &Worker) -> &str {
    worker.name.split('/').next().unwrap_or("")
}

/// How many machines are at work, in words.
pub fn at_work(site: &Site) -> String {
    let alive: Vec<&Worker> = site.workers.iter().filter(|w| w.ago < ALIVE).collect();
    let machines: BTreeSet<&str> = alive.iter().map(|w| machine(w)).collect();
    match (alive.len(), machines.len()) {
        (0, _) if site.workers.is_empty() => "by one process".to_string(),
        (0, _) => "no worker is at work".to_string(),
        (w, m) => format!("{w} worker{} on {m} machine{}", plural(w), plural(m)),
    }
}

/// The end of a noun after a number.
pub fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// The figures, and the machines.
pub fn figures(site: &Site) -> String {
    let f = &site.figures;
    let share = 100.0 * f.covered as f64 / f.calls.max(1) as f64;
    let items = [
        (spaced(f.programs), "programs".to_string()),
        (format!("{:.1}", rate(f)), "programs a second, in the last ten minutes".to_string()),
        (spaced(f.pairs), "program × build".to_string()),
        (format!("{:.1}", f.pairs as f64 / f.cpu_seconds.max(0.01)), "of them per CPU-second".to_string()),
        (spaced(f.checks), "checks (an operation on a testbed)".to_string()),
        (
            format!("{share:.1} %"),
            format!("{} of {} calls covered", spaced(f.covered as u64), spaced(f.calls as u64)),
        ),
        (duration(f.seconds), "of campaign".to_string()),
        (duration(f.cpu_seconds), "of CPU time".to_string()),
        (f.testbeds.len().to_string(), "testbeds".to_string()),
    ];
    let mut out = String::from("<section class=\"card\"><h2>Campaign</h2><ul class=\"numbers\">");
    for (value, what) in items {
        let _ = write!(out, "<li><b>{value}</b>{}</li>", escape(&what));
    }
    out += "</ul></section>";
    machines(&mut out, site);
    waiting(&mut out, site);
    out
}

/// What waits for workers, and what they are at work on.
fn waiting(out: &mut String, site: &Site) {
    let name = |kind: &str| match kind {
        "programs" => "batches",
        "rest" => "batches for compilers that some machines lack",
        "reduce" => "reductions",
        "bisect" => "bisections",
        "measure" => "measurements",
        _ => "others",
    };
    let rows = site.queue.iter().filter(|(_, waiting, taken)| waiting + taken > 0);
    let mut body = String::new();
    for (kind, waiting, taken) in rows {
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            name(kind),
            spaced(*taken),
            spaced(*waiting)
        );
    }
    if !body.is_empty() {
        let _ = write!(
            out,
            "<section class=\"card\"><h2>Work</h2><div class=\"wide\"><table><tr><th></th><th class=\"n\">taken</th><th class=\"n\">waiting\
             </th></tr>{body}</table></div></section>"
        );
    }
}

fn machines(out: &mut String, site: &Site) {
    // Those who were here within a day.
    let recent: Vec<&Worker> = site.workers.iter().filter(|w| w.ago < 86400.0).collect();
    if recent.is_empty() {
        return;
    }
    *out += "<section class=\"card\"><h2>Machines</h2><div class=\"wide\"><table class=\"stick\"><tr><th>worker</th>\
             <th class=\"n\">programs</th><th class=\"n\">a second</th><th class=\"n\">CPU</th><th class=\"n\">worked</th><th>seen</th></tr>";
    for w in recent.iter().take(200) {
        let class = match w.ago {
            ago if ago < ALIVE => "alive",
            ago if ago < LATE => "late",
            _ => "gone",
        };
        let _ = write!(
            out,
            "<tr><td><span class=\"dot {class}\" title=\"{class}\"></span>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{} ago</td></tr>",
            escape(&w.name),
            spaced(w.programs),
            w.programs as f64 / w.seconds.max(1.0),
            duration(w.cpu),
            duration(w.seconds),
            duration(w.ago)
        );
    }
    *out += "</table></div>";
    if recent.len() > 200 {
        let _ = write!(out, "<p class=\"dim\">and {} more</p>", recent.len() - 200);
    }
    *out += "</section>";
}

/// Plots.
pub fn plots(site: &Site) -> String {
    let f = &site.figures;
    let mut out = String::from("<div class=\"cards\">");
    let share = |n: usize| 100.0 * n as f64 / f.calls.max(1) as f64;
    let mut coverage = vec![(0.0, 0.0)];
    coverage.extend(f.coverage_over_time.iter().map(|&(t, n)| (t, share(n))));
    coverage.push((f.seconds, share(f.covered)));
    plot(&mut out, "Coverage over time", "% of the selected calls", Some(100.0), f.seconds, &coverage, true);
    plot(&mut out, "Throughput", "programs a second", None, f.seconds, &throughput(f, 60), false);
    let mut times = site.entries.times.clone();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = |of: &dyn Fn(bool) -> bool| {
        let mut points = vec![(0.0, 0.0)];
        let mut n = 0.0;
        for (at, _) in times.iter().filter(|(_, is_new)| of(*is_new)) {
            n += 1.0;
            points.push((*at, n));
        }
        points.push((f.seconds, n));
        points
    };
    plot(&mut out, "Verdicts over time", "verdicts", None, f.seconds, &count(&|_| true), true);
    plot(&mut out, "Bugs over time", "different bugs", None, f.seconds, &count(&|is_new| is_new), true);
    first_verdicts(&mut out, site);
    failures(&mut out, site);
    out += "</div>";
    sections(&mut out, f);
    out
}

fn plot(
    out: &mut String,
    title: &str,
    unit: &str,
    top: Option<f64>,
    end: f64,
    points: &[(f64, f64)],
    steps: bool,
) {
    let points = thin(points, 400);
    let svg = Plot { title, unit, top, end, points: &points, steps }.svg();
    let _ = write!(out, "<section class=\"card\"><h2>{title}</h2>{svg}</section>");
}

/// Programs a second, in equal parts of the campaign's time.
fn throughput(figures: &Figures, parts: usize) -> Vec<(f64, f64)> {
    if figures.seconds <= 0.0 {
        return Vec::new();
    }
    // A part without a batch would look like a standstill.
    let parts = parts.min(figures.batches.len() / 2).max(1);
    let width = figures.seconds / parts as f64;
    let mut programs = vec![0u64; parts];
    for batch in &figures.batches {
        let part = &mut programs[((batch.at / width) as usize).min(parts - 1)];
        *part = part.saturating_add(batch.programs);
    }
    let at = |(n, count): (usize, u64)| ((n as f64 + 0.5) * width, count as f64 / width);
    programs.into_iter().enumerate().map(at).collect()
}

/// Bars with names and values; `longest` is all of it.
fn bars(out: &mut String, title: &str, rows: &[(String, f64, String)], bad: bool) {
    if rows.is_empty() {
        return;
    }
    let longest = rows.iter().map(|r| r.1).fold(f64::MIN_POSITIVE, f64::max);
    let _ = write!(out, "<section class=\"card\"><h2>{title}</h2><div class=\"wide\"><table>");
    for (name, value, text) in rows {
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            escape(name),
            bar(value / longest, bad),
            escape(text)
        );
    }
    *out += "</table></div></section>";
}

/// When each version of a compiler was caught first.
fn first_verdicts(out: &mut String, site: &Site) {
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    for entry in &site.entries.list {
        for version in &entry.facts.versions {
            let at = first.entry(version).or_insert(entry.found);
            *at = at.min(entry.found);
        }
    }
    let rows: Vec<(String, f64, String)> =
        first.into_iter().map(|(name, at)| (name.to_string(), at, duration(at))).collect();
    bars(out, "Time to first verdict", &rows, false);
}

/// How many of the outcomes of each version are failures.
fn failures(out: &mut String, site: &Site) {
    let f = &site.figures;
    let runs = f.runs.len().max(1);
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (build, testbeds) in site.builds.iter().zip(f.testbeds.chunks(runs)) {
        let (failed, judged) = counts.entry(&build.version).or_default();
        for testbed in testbeds {
            *failed = failed.saturating_add(testbed.failures());
            *judged = judged.saturating_add(testbed.failures().saturating_add(testbed.count(Kind::Pass)));
        }
    }
    let row = |(name, (failed, judged)): (&str, (u64, u64))| {
        let share = failed as f64 / judged.max(1) as f64;
        (name.to_string(), share, format!("{:.2} % of {}", 100.0 * share, spaced(judged)))
    };
    let rows: Vec<_> = counts.into_iter().filter(|(_, (_, judged))| *judged > 0).map(row).collect();
    bars(out, "Failures by version", &rows, true);
}

fn sections(out: &mut String, figures: &Figures) {
    *out += "<details class=\"card\" open><summary>Coverage by section</summary><div class=\"wide\"><table class=\"stick\"><tr><th>section</th>\
             <th class=\"n\">covered</th><th class=\"n\">calls</th><th class=\"n\">%</th><th></th></tr>";
    for s in &figures.sections {
        let share = s.covered as f64 / s.calls.max(1) as f64;
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}</td><td>{}</td></tr>",
            escape(&s.name),
            spaced(s.covered as u64),
            spaced(s.calls as u64),
            100.0 * share,
            bar(share, false)
        );
    }
    *out += "</table></div></details>";
}

/// Outcomes of all testbeds, and the settings.
pub fn rest(site: &Site) -> String {
    let f = &site.figures;
    let mut out = String::from(
        "<details class=\"card\"><summary>Outcomes of all testbeds</summary><p class=\"dim\">Programs that passed; what else happened \
         below.</p><div class=\"wide\"><table class=\"stick\"><tr><th>build</th>",
    );
    // Columns in which nothing was judged say nothing.
    let runs = f.runs.len().max(1);
    let judged = |t: &Testbed| t.failures() > 0 || t.count(Kind::Pass) > 0;
    let columns: Vec<usize> =
        (0..f.runs.len()).filter(|r| f.testbeds.iter().skip(*r).step_by(runs).any(judged)).collect();
    for &run in &columns {
        let _ = write!(out, "<th class=\"n\">{}</th>", escape(&f.runs[run]));
    }
    out += "<th class=\"n\">build time</th></tr>";
    for (b, (build, testbeds)) in f.builds.iter().zip(f.testbeds.chunks(runs)).enumerate() {
        if !testbeds.iter().any(judged) {
            continue;
        }
        let _ = write!(out, "<tr><td>{}</td>", escape(build));
        for &run in &columns {
            match testbeds.get(run) {
                Some(testbed) => cell(&mut out, testbed),
                None => out += "<td></td>",
            }
        }
        let time = f.times.iter().find(|(n, run, _)| *n == b && run.is_none()).map_or(0.0, |t| t.2);
        let _ = write!(out, "<td class=\"n dim\">{}</td></tr>", duration(time));
    }
    out += "</table></div></details>";
    for (testbed, why) in &f.broken {
        let _ = write!(out, "<p class=\"alarm\">{} does not work: {}</p>", escape(testbed), escape(why));
    }
    let json = serde_json::to_string_pretty(&f.settings).unwrap_or_default();
    let _ = write!(
        out,
        "<details class=\"card\"><summary>Settings</summary><p>Begun by rvvfuzz {}.</p><pre>{}</pre></details>",
        escape(&f.version),
        escape(&json)
    );
    out
}

fn cell(out: &mut String, testbed: &Testbed) {
    let (failures, passes) = (testbed.failures(), testbed.count(Kind::Pass));
    if failures == 0 && passes == 0 {
        *out += "<td class=\"n none\">–</td>";
        return;
    }
    let class = if failures > 0 { " fail" } else { "" };
    let _ = write!(out, "<td class=\"n{class}\">{}", spaced(passes));
    for kind in Kind::ALL.into_iter().skip(1) {
        let n = testbed.count(kind);
        if n > 0 {
            let _ = write!(out, "<br><small>{} {}</small>", spaced(n), kind.name());
        }
    }
    *out += "</td>";
}
