//! The list of bugs, and what it is filtered by.

use super::{Mode, Site, chip, spaced};
use crate::programs::known::describe;
use crate::programs::report::entries::{Entry, Filter};
use crate::programs::report::live::duration;
use crate::programs::store::states::State;
use rvv_tools::junit::escape;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Bugs on a page of the server.
pub const ON_PAGE: usize = 100;

/// What is between the words of one attribute: no name has it.
const SEPARATOR: &str = "\n";

/// The card with the list.
pub fn bugs(site: &Site, mode: Mode, filter: &Filter, page: usize) -> String {
    let mut out = String::from("<section class=\"card\" aria-label=\"bugs\">");
    filters(&mut out, site, mode, filter);
    let taken: Vec<&Entry> = site.entries.list.iter().filter(|e| filter.takes(e)).collect();
    let pages = taken.len().div_ceil(ON_PAGE).max(1);
    let page = page.min(pages - 1);
    let shown: Vec<&&Entry> = match mode {
        Mode::File => taken.iter().collect(),
        Mode::Server { .. } => taken.iter().skip(page * ON_PAGE).take(ON_PAGE).collect(),
    };
    out += "<ul class=\"bugs\" data-live=\"bugs\">";
    for entry in &shown {
        row(&mut out, entry, mode);
    }
    out += "</ul>";
    let hidden = if taken.is_empty() { "" } else { " hidden" };
    let what = if filter.is_empty() { "No bugs." } else { "No bug is like that." };
    let _ = write!(out, "<p class=\"nothing dim\"{hidden}>{what}</p>");
    if pages > 1 && mode != Mode::File {
        let link = |to: usize, name: &str| format!("<a href=\"/?{}\">{name}</a>", address(filter, to));
        out += "<div class=\"pages\">";
        if page > 0 {
            out += &link(page - 1, "← newer");
        }
        let _ = write!(out, "<span class=\"dim\">page {} of {pages}, {} bugs</span>", page + 1, taken.len());
        if page + 1 < pages {
            out += &link(page + 1, "older →");
        }
        out += "</div>";
    }
    out += "</section>";
    out
}

/// The words of a filter, as an address has them.
fn address(filter: &Filter, page: usize) -> String {
    let Filter { words, compiler, version, level, symptom, state } = filter;
    let parts = [
        ("q", words),
        ("compiler", compiler),
        ("version", version),
        ("level", level),
        ("symptom", symptom),
        ("state", state),
    ];
    let mut text: String = parts
        .iter()
        .filter(|(_, word)| !word.is_empty())
        .map(|(name, word)| format!("{name}={}&amp;", percent(word)))
        .collect();
    let _ = write!(text, "page={page}");
    text
}

/// A word as part of an address.
fn percent(word: &str) -> String {
    let mut out = String::new();
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(byte as char),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn filters(out: &mut String, site: &Site, mode: Mode, filter: &Filter) {
    let local = if mode == Mode::File { " data-local" } else { "" };
    let _ = write!(
        out,
        "<form class=\"filters\" method=\"get\" action=\"/\"{local}><input type=\"search\" name=\"q\" placeholder=\"search\" \
         aria-label=\"search\" value=\"{}\">",
        escape(&filter.words)
    );
    let list = &site.entries.list;
    let all = |of: &dyn Fn(&Entry) -> Vec<String>| -> BTreeSet<String> { list.iter().flat_map(of).collect() };
    let sets = [
        ("compiler", &filter.compiler, all(&|e| e.facts.compilers.iter().cloned().collect())),
        ("version", &filter.version, all(&|e| e.facts.versions.iter().cloned().collect())),
        ("level", &filter.level, all(&|e| e.facts.levels.iter().cloned().collect())),
        ("symptom", &filter.symptom, all(&|e| vec![e.symptom.clone()])),
    ];
    for (name, chosen, words) in sets {
        let words: Vec<(&str, &str)> = words.iter().map(|w| (w.as_str(), w.as_str())).collect();
        choice(out, name, chosen, &words);
    }
    let states: Vec<(&str, &str)> = State::ALL.iter().map(|s| (s.word(), s.name())).collect();
    choice(out, "state", &filter.state, &states);
    if mode != Mode::File {
        *out += "<noscript><button>Filter</button></noscript>";
        if !filter.is_empty() {
            *out += "<a href=\"/\">clear</a>";
        }
    }
    *out += "</form>";
}

fn choice(out: &mut String, name: &str, chosen: &str, words: &[(&str, &str)]) {
    let _ =
        write!(out, "<select name=\"{name}\" aria-label=\"{name}\"><option value=\"\">any {name}</option>");
    for (word, shown) in words {
        let selected = if *word == chosen { " selected" } else { "" };
        let _ = write!(out, "<option value=\"{}\"{selected}>{}</option>", escape(word), escape(shown));
    }
    *out += "</select>";
}

fn row(out: &mut String, entry: &Entry, mode: Mode) {
    let to =
        if mode == Mode::File { format!("#bug-{}", entry.first) } else { format!("/bug/{}", entry.first) };
    let joined = |set: &BTreeSet<String>| set.iter().map(|w| escape(w)).collect::<Vec<_>>().join(SEPARATOR);
    let _ = write!(
        out,
        "<li data-compiler=\"{}\" data-version=\"{}\" data-level=\"{}\" data-symptom=\"{}\" data-state=\"{}\">\
         <a href=\"{to}\"><span>{}</span><span class=\"title\">{}</span><span class=\"count\" title=\"verdicts\">× {}</span>",
        joined(&entry.facts.compilers),
        joined(&entry.facts.versions),
        joined(&entry.facts.levels),
        escape(&entry.symptom),
        entry.state.word(),
        chip(entry.state),
        escape(entry.title()),
        spaced(entry.verdicts as u64)
    );
    let levels: Vec<&str> = entry.facts.levels.iter().map(String::as_str).collect();
    let note = if entry.note.is_empty() { String::new() } else { format!(" · {}", entry.note) };
    let what = if entry.fault { describe(&entry.signature) } else { String::new() };
    let _ = write!(
        out,
        "<span class=\"more\"><span class=\"chip who\">{}</span> <span class=\"chip\">{}</span> {}{} · found after {}{}{}</span>\
         </a></li>",
        escape(&entry.culprit),
        escape(&entry.symptom),
        escape(&levels.join(" ")),
        escape(&what),
        duration(entry.found),
        if entry.report || entry.fault { "" } else { " · not reduced yet" },
        escape(&note)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_what_is_asked_for() {
        let filter = Filter { words: "a&b <ü>".into(), level: "-O2".into(), ..Filter::default() };
        assert_eq!(address(&filter, 2), "q=a%26b%20%3C%C3%BC%3E&amp;level=-O2&amp;page=2");
    }
}
