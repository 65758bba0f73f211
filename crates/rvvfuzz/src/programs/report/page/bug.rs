//! One bug.

use super::campaign::plural;
use super::{Mode, chip};
use crate::programs::judge::outcome::Kind;
use crate::programs::known::describe;
use crate::programs::report::folded::Folded;
use crate::programs::report::live::duration;
use crate::programs::report::view::View;
use crate::programs::store::states::State;
use rvv_tools::junit::escape;
use std::fmt::Write;

/// All about a bug, the shortest first.
pub fn body(view: &View, mode: Mode) -> String {
    let mut out = String::new();
    head(&mut out, view, mode);
    let id = view.entry.first;
    let reduced = if view.verdict.reduced_ir.is_some() { ", reduced" } else { "" };
    if let Some(function) = &view.function {
        let copy = format!("<button data-copy=\"function-{id}\">copy</button>");
        card(&mut out, &format!("The program{reduced}"), &copy, &code(function, &format!("function-{id}")));
    }
    observed(&mut out, view);
    assembly(&mut out, view);
    if !view.outcomes.rows.is_empty() {
        let of = if view.verdict.reduced_ir.is_some() { "of the program before it was reduced" } else { "" };
        let beside = format!("<span class=\"dim\">{of}</span>");
        card(&mut out, "Where it shows", &beside, &matrix(&view.outcomes));
    }
    if let Some(rows) = view.report.table("Versions and levels") {
        let said = view.report.text("Versions and levels").unwrap_or_default();
        let body = format!("{}<p class=\"dim\">{}</p>", versions(rows), escape(&said));
        card(&mut out, "Versions × levels", "", &body);
    }
    if let Some(pass) = view.report.text("The guilty pass") {
        card(&mut out, "The guilty pass", "", &format!("<p><code>{}</code></p>", escape(&pass)));
    }
    // In a file, what is not reduced is in short: its texts are long, and nobody would send them.
    let whole = mode != Mode::File || view.verdict.reduced_ir.is_some();
    if whole {
        texts(&mut out, view, mode);
    }
    more(&mut out, view, mode, whole);
    out
}

fn card(out: &mut String, title: &str, beside: &str, body: &str) {
    let _ = write!(
        out,
        "<section class=\"card\"><div class=\"row\"><h2 class=\"grow\">{}</h2>{beside}</div>{body}</section>",
        escape(title)
    );
}

fn folded(out: &mut String, title: &str, body: &str) {
    let _ = write!(out, "<details class=\"card\"><summary>{}</summary>{body}</details>", escape(title));
}

fn code(text: &str, id: &str) -> String {
    format!("<pre id=\"{id}\" tabindex=\"0\">{}</pre>", escape(text))
}

fn head(out: &mut String, view: &View, mode: Mode) {
    let (entry, v) = (&view.entry, &view.verdict);
    let address =
        if mode == Mode::File { format!("#bug-{}", entry.first) } else { format!("/bug/{}", entry.first) };
    let _ = write!(
        out,
        "<div class=\"row top\">{} <span class=\"chip who\">{}</span> <span class=\"chip\">{}</span> <span class=\"dim\">{} \
         verdict{}, found after {}; program {}; <a href=\"{address}\" title=\"permalink\">#{}</a></span></div>",
        chip(entry.state),
        escape(&v.culprit),
        escape(&v.symptom),
        entry.verdicts,
        plural(entry.verdicts),
        duration(entry.found),
        v.program,
        entry.first
    );
    if entry.fault {
        let _ = write!(
            out,
            "<p>Known fault {}{}.</p>",
            escape(&entry.signature),
            escape(&describe(&entry.signature))
        );
    }
    if let Mode::Server { writes: true, .. } = mode {
        let _ = write!(
            out,
            "<form class=\"state row card\" method=\"post\" action=\"/bug/{}/state\"><label>State <select name=\"state\">",
            entry.first
        );
        for state in State::ALL {
            let selected = if state == entry.state { " selected" } else { "" };
            let _ = write!(out, "<option value=\"{}\"{selected}>{}</option>", state.word(), state.name());
        }
        let _ = write!(
            out,
            "</select></label><input class=\"grow\" name=\"note\" maxlength=\"500\" aria-label=\"note\" placeholder=\"where it is \
             reported, fixed in which version, why it is none\" value=\"{}\"><button class=\"main\">Set</button></form>",
            escape(&entry.note)
        );
    } else if !entry.note.is_empty() {
        let _ = write!(out, "<p>{}: {}</p>", entry.state.name(), escape(&entry.note));
    }
    if !v.axes.is_empty() {
        let _ = write!(out, "<p class=\"dim\">It comes and goes with: {}.</p>", escape(&v.axes));
    }
}

fn observed(out: &mut String, view: &View) {
    let mut body = String::new();
    if let Some(said) = view.report.text("Expected and actual") {
        let _ = write!(body, "<p>{}</p>", escape(&said));
    }
    if let Some(rows) = view.report.table("Expected and actual") {
        body += "<div class=\"wide\"><table>";
        for (n, row) in rows.iter().enumerate() {
            body += "<tr>";
            for (c, cell) in row.iter().enumerate() {
                let (tag, class) = match (n, c) {
                    (0, _) => ("th", ""),
                    (_, 1) => ("td", " class=\"expected\""),
                    (_, 2) => ("td", " class=\"got\""),
                    _ => ("td", ""),
                };
                let _ = write!(body, "<{tag}{class}>{}</{tag}>", escape(cell));
            }
            body += "</tr>";
        }
        body += "</table></div>";
    }
    if let Some(said) = view.report.code("What the compiler says") {
        let _ = write!(body, "<pre>{}</pre>", escape(said));
    }
    if body.is_empty() && !view.verdict.detail.is_empty() {
        let _ = write!(body, "<pre>{}</pre>", escape(&view.verdict.detail));
    }
    let is_build = Kind::from_name(&view.verdict.symptom).is_some_and(Kind::is_build);
    let title = if is_build { "What the compiler says" } else { "Expected and got" };
    for (name, line) in [("Compile", &view.compile), ("Run", &view.qemu)] {
        if let Some(line) = line {
            let _ = write!(body, "<p><small class=\"dim\">{name}:</small> <code>{}</code></p>", escape(line));
        }
    }
    if !body.is_empty() {
        card(out, title, "", &body);
    }
}

fn assembly(out: &mut String, view: &View) {
    let Some((text, suspects)) = view.assembly() else { return };
    let mut body = String::from("<pre tabindex=\"0\">");
    for (n, line) in text.lines().enumerate() {
        let _ = match suspects.contains(&n) {
            true => writeln!(body, "<span class=\"hit\">{}</span>", escape(line)),
            false => writeln!(body, "{}", escape(line)),
        };
    }
    body += "</pre>";
    let what = match suspects.len() {
        0 => "no single instruction is suspect",
        1 => "the suspect instruction is marked",
        _ => "suspect instructions are marked",
    };
    card(out, "The code", &format!("<span class=\"dim\">{what}</span>"), &body);
}

/// Outcomes, folded.
fn matrix(outcomes: &Folded) -> String {
    let mut out = String::from("<div class=\"wide\"><table class=\"matrix\"><tr><th></th>");
    for column in &outcomes.columns {
        let _ = write!(out, "<th>{}</th>", escape(column));
    }
    out += "</tr>";
    for (name, kinds) in &outcomes.rows {
        let _ = write!(out, "<tr><td>{}</td>", escape(name));
        kinds.iter().for_each(|kind| cell(&mut out, *kind));
        out += "</tr>";
    }
    out += "</table></div>";
    out
}

fn cell(out: &mut String, kind: Option<Kind>) {
    let (class, text) = match kind {
        None => ("none", "not run"),
        Some(Kind::Pass) => ("pass", "pass"),
        Some(Kind::Unsupported) => ("none", "unsupported"),
        Some(kind) => ("fail", kind.name()),
    };
    let _ = write!(out, "<td class=\"{class}\">{text}</td>");
}

fn versions(rows: &[Vec<String>]) -> String {
    let mut out = String::from("<div class=\"wide\"><table class=\"stick\">");
    for (n, row) in rows.iter().enumerate() {
        out += "<tr>";
        for (c, text) in row.iter().enumerate() {
            match Kind::from_name(text).filter(|_| n > 0 && c > 0) {
                Some(kind) => cell(&mut out, Some(kind)),
                None => {
                    let tag = if n == 0 { "th" } else { "td" };
                    let _ = write!(out, "<{tag}>{}</{tag}>", escape(text));
                }
            }
        }
        out += "</tr>";
    }
    out += "</table></div>";
    out
}

fn texts(out: &mut String, view: &View, mode: Mode) {
    let id = view.entry.first;
    let text = |name: &str, what: &str, text: &str| {
        format!(
            "<details><summary>{what}</summary><textarea id=\"{name}-{id}\" readonly rows=\"16\" aria-label=\"{what}\">{}</textarea>\
             <div class=\"row\"><button data-copy=\"{name}-{id}\">copy</button></div></details>",
            escape(text)
        )
    };
    let gcc = text("gcc", "GCC Bugzilla", &view.bugzilla());
    let llvm = text("llvm", "LLVM GitHub", &view.github());
    let body = if view.entry.facts.compilers.contains("clang") { llvm + &gcc } else { gcc + &llvm };
    let beside = match mode {
        Mode::Server { .. } => format!("<a href=\"/bug/{id}/bug.tar\" download>download all (tar)</a>"),
        Mode::File => {
            let has = view.c.is_some();
            let button = format!("<button data-save=\"bug.c\" data-from=\"c-{id}\">download bug.c</button>");
            if has { button } else { String::new() }
        }
    };
    card(out, "Report it", &beside, &body);
}

fn more(out: &mut String, view: &View, mode: Mode, whole: bool) {
    let id = view.entry.first;
    if let Some(c) = view.c.as_ref().filter(|_| whole) {
        folded(out, "The whole program in C", &code(c, &format!("c-{id}")));
    }
    if let Some(ir) = view.ir.as_ref().filter(|_| whole) {
        folded(out, "The program as IR", &code(ir, &format!("ir-{id}")));
    }
    if let Some(about) = view.report.code("The compiler (-v)") {
        folded(out, "The compiler", &format!("<pre>{}</pre>", escape(about)));
    }
    if !view.said.is_empty() {
        let said = view
            .said
            .iter()
            .map(|(name, text)| format!("<h3>{}</h3><pre>{}</pre>", escape(name), escape(text)));
        folded(out, "What testbeds said", &said.collect::<String>());
    }
    if view.verdicts.len() > 1 {
        let link = |v: &i64| match mode {
            Mode::Server { .. } => format!("<a href=\"/bug/{v}\">{v}</a>"),
            Mode::File => v.to_string(),
        };
        let all: Vec<String> = view.verdicts.iter().map(link).collect();
        let rest = view.entry.verdicts.saturating_sub(all.len());
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        folded(out, "Verdicts of this bug", &format!("<p>{}{rest}</p>", all.join(", ")));
    }
    let v = &view.verdict;
    let _ = write!(
        out,
        "<p class=\"dim\"><code>rvvfuzz show {id}</code> tells this in a terminal, <code>rvvfuzz show {id} --ir</code> prints the \
         program, <code>rvvfuzz export {id}</code> writes a folder.</p>",
        id = v.id
    );
}
