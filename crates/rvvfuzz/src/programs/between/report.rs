//! The ranked list of what differs.

use super::difference::{Difference, Kind};
use super::hunt::{Hunt, Progress};
use super::journal::{Group, Journal};
use super::listing::{Listing, Mark, listings};
use crate::programs::features::code::{Code, Owners};
use crate::programs::judge::batch::build;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::Kind as Symptom;
use crate::programs::known::{Fault, faults, level};
use crate::programs::testbed::Build;
use rvv_ir::Program;
use rvv_ir::c::emit_function;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What differs, with the smallest program that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The kind of the weightiest difference.
    pub kind: Kind,
    /// The differences that led to this program.
    pub differences: Vec<String>,
    /// All that differs in the program.
    pub in_the_program: Vec<Difference>,
    /// The two builds.
    pub builds: [String; 2],
    /// Programs with one of these differences.
    pub programs: u64,
    /// The number of the one that was reduced.
    pub program: u64,
    /// Its calls and assignments, before and after.
    pub work: [usize; 2],
    /// Whether it was reduced, and to the end.
    pub reduced: Option<bool>,
    /// What the program does with both builds, in words.
    pub results: [String; 2],
    /// The known fault that it shows.
    pub fault: Option<String>,
    /// Known faults that only one of the builds has, of which the program has what they need.
    pub suspected: Vec<String>,
    /// The program.
    pub ir: String,
    /// Its function in C.
    pub c: String,
    /// The code of both.
    pub code: Vec<Listing>,
}

/// The list, and what it is about.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What was compared.
    pub pairs: Vec<[String; 2]>,
    /// Programs that were compared.
    pub programs: u64,
    /// Programs of which the code differs.
    pub differ: u64,
    /// Differences that were found.
    pub found: usize,
    /// Differences of which a program was reduced.
    pub reduced: usize,
    /// The list, the weightiest first.
    pub list: Vec<Entry>,
    /// Entries that are not in it, by kind.
    pub more: BTreeMap<Kind, usize>,
}

/// Groups whose programs were reduced to the same differences are one.
fn merged(journal: &Journal) -> Vec<Vec<&Group>> {
    let mut by: BTreeMap<(Kind, String), Vec<&Group>> = BTreeMap::new();
    for group in journal.groups.values() {
        let key = match &group.reduced {
            Some(reduced) if !reduced.ir.is_empty() => {
                // Which registers are copied where is another in each of them.
                let told = |d: &&Difference| d.kind < Kind::Instruction || group.difference.kind >= d.kind;
                reduced.differences.iter().filter(told).map(|d| d.what.clone()).collect::<Vec<_>>().join("\n")
            }
            _ => group.difference.what.clone(),
        };
        by.entry((group.difference.kind, key)).or_default().push(group);
    }
    let mut all: Vec<Vec<&Group>> = by.into_values().collect();
    let size = |g: &Group| g.smallest().len();
    let is_left = |g: &Group| g.reduced.as_ref().is_none_or(|r| r.ir.is_empty());
    for groups in &mut all {
        groups.sort_by_key(|g| (is_left(g), size(g)));
    }
    // By weight; of what weighs less, what was reduced first; then what is seen often, what is small.
    all.sort_by_key(|groups| {
        let first = groups[0];
        let programs: u64 = groups.iter().map(|g| g.programs).max().unwrap_or(0);
        let (kind, left) = (first.difference.kind, is_left(first));
        (
            kind.min(Kind::Vtype),
            kind >= Kind::Vtype && left,
            kind,
            left,
            std::cmp::Reverse(programs),
            size(first),
        )
    });
    all
}

impl Report {
    /// Of what was found: at most so many entries in the list. `note` hears what is built for it.
    pub fn new(hunt: &Hunt, journal: &Journal, most: usize, note: &mut dyn FnMut(String)) -> Report {
        let merged = merged(journal);
        let mut more = BTreeMap::new();
        for groups in merged.iter().skip(most) {
            *more.entry(groups[0].difference.kind).or_default() += 1;
        }
        let shown = merged.len().min(most);
        let list = merged.iter().take(most).enumerate().map(|(n, groups)| {
            note(format!("writing the list: {n} of {shown}"));
            entry(hunt, groups)
        });
        let Progress { programs, differ, groups, reduced } = Progress::of(journal);
        let list = list.collect();
        Report { pairs: hunt.subject.pairs.clone(), programs, differ, found: groups, reduced, list, more }
    }

    /// As JSON.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for [one, other] in &self.pairs {
            let _ = writeln!(out, "{one} and {other}");
        }
        let _ = writeln!(
            out,
            "{} programs compared, the code of {} differs; {} differences, {} of them with a reduced program",
            self.programs, self.differ, self.found, self.reduced
        );
        for (n, entry) in self.list.iter().enumerate() {
            entry.text(n + 1, &mut out);
        }
        let more: Vec<String> = self.more.iter().map(|(kind, n)| format!("{n} × {}", kind.name())).collect();
        if !more.is_empty() {
            let _ = writeln!(out, "\nNot shown (--top): {}.", more.join(", "));
        }
        out
    }
}

fn entry(hunt: &Hunt, groups: &[&Group]) -> Entry {
    let group = groups[0];
    let pair = group.example.pair.min(hunt.pairs.len().saturating_sub(1));
    let reduced = group.reduced.as_ref().filter(|r| !r.ir.is_empty());
    let ir = reduced.map_or(&group.example.ir, |r| &r.ir).clone();
    let program = ir.parse::<Program>().ok();
    let limits = &hunt.campaign.limits;
    // The others are large: what they do is seen when they are reduced.
    let case = program.filter(|_| reduced.is_some()).and_then(|p| hunt.campaign.case(0, p).ok());
    let cases: Vec<Case> = case.into_iter().collect();
    let seen = hunt.compare(pair, &cases, true, limits).ok().and_then(|mut all| all.pop());
    let (mut differences, outcomes) = seen.unwrap_or_default();
    if differences.is_empty() {
        differences = reduced.map_or(Vec::new(), |r| r.differences.clone());
    }
    let results = outcomes.clone().map(|of| {
        let judged: Vec<_> = of.iter().flatten().collect();
        match judged.iter().find(|o| o.kind() != Symptom::Pass) {
            Some(wrong) => wrong.to_string().lines().next().unwrap_or_default().to_string(),
            None if reduced.is_none() => "not reduced yet".to_string(),
            None if judged.is_empty() => "not built, or not run".to_string(),
            None => "prints what it must".to_string(),
        }
    });
    let (mut fault, mut c, mut code, mut suspected) = (None, String::new(), Vec::new(), Vec::new());
    if let [case] = &cases[..] {
        suspected = suspects(hunt.builds(pair), &case.program);
        fault = hunt.fault(pair, &case.program, &outcomes, limits);
        c = emit_function(&case.program);
        code = code_of(hunt, pair, &cases);
    }
    Entry {
        kind: group.difference.kind,
        differences: groups.iter().map(|g| g.difference.what.clone()).collect(),
        in_the_program: differences,
        builds: hunt.builds(pair).map(Build::name),
        programs: groups.iter().map(|g| g.programs).max().unwrap_or(0),
        program: group.example.number,
        work: [group.example.work, reduced.map_or(group.example.work, |r| r.work)],
        reduced: reduced.map(|r| r.complete),
        results,
        suspected: suspected.into_iter().filter(|s| fault.as_ref() != Some(s)).collect(),
        fault,
        ir,
        c,
        code,
    }
}

/// Known faults that one of the builds has and the other does not, as far as a program has what they need: a
/// program may have the code of a fault and still print what it must.
fn suspects(builds: [&Build; 2], program: &Program) -> Vec<String> {
    let has = |fault: &Fault, build: &Build| {
        let level = level(&build.flags);
        fault.is_of(&build.compiler) && fault.levels.contains(&level)
    };
    let needs =
        |fault: &Fault| fault.has.as_ref().or(fault.trigger.as_ref()).is_some_and(|f| f.is_in(program));
    let of_one = faults().iter().filter(|f| has(f, builds[0]) != has(f, builds[1]));
    of_one.filter(|f| needs(f)).map(|f| f.name.clone()).collect()
}

/// The code of a program with both builds.
fn code_of(hunt: &Hunt, pair: usize, cases: &[Case]) -> Vec<Listing> {
    let programs: Vec<&Program> = cases.iter().map(|c| &c.program).collect();
    let owners = Owners::new(&programs);
    let [one, other] = hunt.builds(pair).map(|with| {
        let parts = build(with, cases, &hunt.campaign.limits).unwrap_or_default();
        let elf = parts.into_iter().find_map(|p| p.elf.ok()).unwrap_or_default();
        Code::read(&elf, &owners)
    });
    listings(&one, &other)
}

/// So many of the differences of a program are in the text; all are in the JSON.
const DIFFERENCES: usize = 8;

/// A program or function with more lines is in the JSON only.
const LINES: usize = 120;

impl Entry {
    fn text(&self, n: usize, out: &mut String) {
        let rule = "─".repeat(100);
        let first = self.differences.first().map_or("", String::as_str);
        let _ = writeln!(out, "\n{rule}\n{n}. {}: {first}", self.kind.name());
        let times = if self.programs == 1 { "program" } else { "programs" };
        let _ = write!(out, "   {} {times}; number {}, ", self.programs, self.program);
        let _ = match self.reduced {
            Some(complete) => {
                let cut = if complete { "" } else { " (time was up)" };
                writeln!(out, "reduced from {} to {} operations{cut}", self.work[0], self.work[1])
            }
            None => writeln!(out, "of {} operations, not reduced", self.work[0]),
        };
        if self.reduced.is_none() {
            let _ = writeln!(out, "   go on with the same command: it is reduced then");
            return;
        }
        for (build, result) in self.builds.iter().zip(&self.results) {
            let _ = writeln!(out, "   {build}: {result}");
        }
        if let Some(fault) = &self.fault {
            let _ = writeln!(out, "   known fault: {fault}");
        }
        if !self.suspected.is_empty() {
            let names = self.suspected.join(", ");
            let _ = writeln!(out, "   known faults of one of them that may show here: {names}");
        }
        for other in self.differences.iter().skip(1).take(DIFFERENCES) {
            let _ = writeln!(out, "   also found as: {other}");
        }
        for difference in self.in_the_program.iter().filter(|d| d.what != first).take(DIFFERENCES) {
            let _ = writeln!(out, "   differs: {}: {}", difference.kind.name(), difference.what);
        }
        let body: Vec<&str> = self.c.lines().filter(|l| !l.starts_with("#include")).collect();
        match body.len() {
            0..=LINES => drop(writeln!(out, "\n{}\n", indent(body.join("\n").trim()))),
            lines => drop(writeln!(out, "   the program has {lines} lines of C; --json has them")),
        }
        let heads = [self.builds[0].as_str(), self.builds[1].as_str()];
        // Addresses differ everywhere: functions with nothing else are not shown if there are others.
        let only = |l: &Listing| l.lines.iter().any(|line| matches!(line.mark, Mark::First | Mark::Second));
        let any = self.code.iter().any(only);
        let shown = |l: &&Listing| if any { only(l) } else { l.lines.iter().any(|i| i.mark != Mark::Same) };
        for listing in self.code.iter().filter(shown) {
            match listing.lines.len() {
                0..=LINES => drop(writeln!(out, "{}\n", indent(&listing.text(heads)))),
                lines => drop(writeln!(out, "   {}: {lines} lines; --json has them\n", listing.function)),
            }
        }
    }
}

fn indent(text: &str) -> String {
    let line = |l: &str| if l.is_empty() { String::new() } else { format!("   {l}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
