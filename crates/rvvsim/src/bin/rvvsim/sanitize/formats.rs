//! Findings as text, JSON and SARIF.

use super::place::{Place, Places};
use rvv_cli::sarif::{self, Region, Rule, Run};
use rvvsim::sanitize::{Finding, Kind};
use serde_json::{Value, json};
use std::fmt::Write;

/// A finding with its places in words.
pub struct Report<'a> {
    finding: &'a Finding,
    place: Place,
    /// Where it was born, and through which instructions it went.
    born: Option<Place>,
    through: Vec<Place>,
    calls: Vec<Place>,
}

impl<'a> Report<'a> {
    pub fn new(finding: &'a Finding, places: &mut Places) -> Report<'a> {
        let origin = finding.origin.as_ref();
        Report {
            finding,
            place: places.at(finding.pc),
            born: origin.map(|o| places.at(o.born.pc)),
            through: origin.map_or(Vec::new(), |o| o.through.iter().map(|pc| places.at(*pc)).collect()),
            calls: finding.frames.iter().map(|back| places.call(*back)).collect(),
        }
    }

    /// The bit and element, in words.
    fn which(&self) -> Option<String> {
        let Finding { element, bit, kind, .. } = self.finding;
        let of = if *kind == Kind::Output { "byte" } else { "element" };
        match (bit, element) {
            (Some(bit), Some(element)) => Some(format!("bit {bit} of {of} {element}")),
            (Some(bit), None) => Some(format!("bit {bit}")),
            (None, Some(element)) => Some(format!("{of} {element}")),
            (None, None) => None,
        }
    }

    pub fn text(&self) -> String {
        let Finding { kind, count, detail, rule, origin, .. } = self.finding;
        let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
        let mut text = format!("rvvsim: sanitize: {}: {}{times}\n", kind.name(), kind.says());
        let mut line = |key: &str, words: &str| {
            let _ = writeln!(text, "  {key:<6} {words}");
        };
        line("at", &self.place.text());
        if let Some(asm) = &self.place.asm {
            line("insn", asm);
        }
        if let Some(which) = self.which() {
            line("which", &which);
        }
        if !detail.is_empty() {
            line("what", detail);
        }
        if let (Some(origin), Some(born)) = (origin, &self.born) {
            line("from", origin.source.says());
            let asm = born.asm.as_deref().unwrap_or("");
            line("", &format!("{}  {asm} (element {})", born.text(), origin.born.element));
            for place in &self.through {
                line("by", &format!("{}  {}", place.text(), place.asm.as_deref().unwrap_or("")));
            }
        }
        for call in &self.calls {
            line("call", &call.text());
        }
        line("rule", rule);
        text
    }

    fn json(&self) -> Value {
        let f = self.finding;
        json!({
            "kind": f.kind.name(),
            "message": f.kind.says(),
            "count": f.count,
            "place": place_json(&self.place),
            "element": f.element,
            "bit": f.bit,
            "detail": f.detail,
            "origin": f.origin.as_ref().map(|o| json!({
                "why": o.source.says(),
                "rule": o.source.rule(),
                "element": o.born.element,
                "place": self.born.as_ref().map(place_json),
                "through": self.through.iter().map(place_json).collect::<Vec<_>>(),
            })),
            "calls": self.calls.iter().map(place_json).collect::<Vec<_>>(),
            "rule": f.rule,
        })
    }

    fn sarif(&self) -> Value {
        let f = self.finding;
        let mut words = f.kind.says().to_owned();
        for more in
            [self.which(), Some(f.detail.clone()), f.origin.as_ref().map(|o| o.source.says().to_owned())]
        {
            if let Some(more) = more.filter(|m| !m.is_empty()) {
                words += &format!("; {more}");
            }
        }
        // The innermost place that has a line is where to look.
        let shown = std::iter::once(&self.place).chain(&self.calls).find(|p| p.line.is_some());
        let steps = self.born.iter().chain(&self.through).chain([&self.place]);
        let steps: Vec<Value> = steps.map(|p| json!({ "location": location(p) })).collect();
        json!({
            "ruleId": f.kind.name(),
            "level": "error",
            "message": { "text": format!("{words} ({})", f.rule) },
            "locations": [location(shown.unwrap_or(&self.place))],
            "stacks": [{ "frames": std::iter::once(&self.place).chain(&self.calls)
                .map(|p| json!({ "location": location(p) })).collect::<Vec<_>>() }],
            "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
            "occurrenceCount": f.count,
            "properties": { "pc": format!("{:#x}", f.pc), "rule": f.rule },
        })
    }
}

fn place_json(place: &Place) -> Value {
    json!({
        "pc": format!("{:#x}", place.pc),
        "symbol": place.symbol.as_ref().map(|s| &s.0),
        "offset": place.symbol.as_ref().map(|s| s.1),
        "file": place.line.as_ref().map(|l| &l.file),
        "line": place.line.as_ref().map(|l| l.line),
        "column": place.line.as_ref().and_then(|l| l.column),
        "instruction": place.asm,
    })
}

fn location(place: &Place) -> Value {
    let name = place.symbol.as_ref().map_or_else(|| format!("{:#x}", place.pc), |s| s.0.clone());
    let mut location = sarif::location(&name, "function");
    location["message"] = json!({ "text": place.asm.as_deref().unwrap_or("") });
    if let Some(line) = &place.line {
        let region = Region { line: line.line.into(), column: line.column.map(Into::into), last: None };
        location["physicalLocation"] = Run::default().place(&line.file, region);
    }
    location
}

/// All findings, for programs.
pub fn json(program: &str, reports: &[Report]) -> String {
    let findings: Vec<Value> = reports.iter().map(Report::json).collect();
    let all = json!({ "program": program, "findings": findings });
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

/// The same, as tools that show results of analyses read it.
pub fn sarif(program: &str, reports: &[Report]) -> String {
    let rule = |kind: &Kind| Rule { id: kind.name().to_owned(), name: None, says: kind.says().to_owned() };
    let run = Run {
        tool: "rvvsim".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules: Kind::ALL.iter().map(rule).collect(),
        command: Some(format!("rvvsim --sanitize {program}")),
        results: reports.iter().map(Report::sarif).collect(),
        ..Run::default()
    };
    run.to_text()
}
