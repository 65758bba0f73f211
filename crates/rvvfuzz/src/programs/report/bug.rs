//! A bug report that a maintainer can act on, in Markdown.

use crate::programs::judge::batch;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::reduce::bisect::Guilty;
use crate::programs::reduce::target::{Target, outcomes};
use crate::programs::reduce::triage::Signature;
use crate::programs::testbed::compiler::{Built, Compiler, Family, crash_site, printable};
use crate::programs::testbed::emulator::Agnosticism;
use crate::programs::testbed::{Build, Run};
use rvv_ir::c::{COptions, Mode, emit, emit_function};
use rvv_ir::{Expected, Program};
use rvv_isa::DisasmOptions;
use rvv_oracle::VlChoice;
use rvv_tools::emulators::{QemuChoices, qemu_max};
use rvv_tools::run_keeping;
use rvvsim::elf::Image;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What a report is made of.
pub struct Bug<'b> {
    /// What it is called.
    pub signature: &'b Signature,
    /// Where it shows.
    pub target: &'b Target,
    /// The reduced program.
    pub program: &'b Program,
    /// [`short_c`] of it.
    pub short: Option<String>,
    /// The guilty pass, where one was found.
    pub guilty: Option<Guilty>,
    /// Whether other versions and levels show it.
    pub versions: Vec<Version>,
}

/// What one version of a compiler makes of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The compiler.
    pub compiler: String,
    /// Its kind.
    pub family: Family,
    /// For each level, the outcome; `None` if it could not be run.
    pub levels: Vec<(String, Option<Kind>)>,
}

/// The program as one function, without what prints and checks, if that is enough for the compiler to fail.
pub fn short_c(target: &Target, program: &Program) -> Option<String> {
    if !target.symptom.is_build() {
        return None;
    }
    let short = emit_function(program);
    let compiler = &target.build.compiler;
    let mut flags = compiler.flags_for(&[program], &target.build.flags);
    flags.push("-c".to_string());
    let shows = match compiler.build_text(&short, &compiler.march(&[program]), &flags, &target.limits) {
        Built::Crashed(said) => Some(crash_site(&said)) == target.site,
        Built::Failed(_) | Built::Unassembled(_) => target.symptom == Kind::BuildFailure,
        _ => false,
    };
    shows.then_some(short)
}

/// Tries the program on these compilers at these levels.
pub fn versions(
    target: &Target,
    program: &Program,
    compilers: &[Compiler],
    levels: &[Vec<String>],
) -> Vec<Version> {
    let place = (target.run.setup.vlen, target.run.setup.vl);
    let Ok(case) = Case::new(0, program.clone(), &[place]) else { return Vec::new() };
    let mut table = Vec::new();
    for compiler in compilers.iter().filter(|c| c.family != Family::Direct) {
        let mut row = Vec::new();
        for level in levels {
            let flags: Vec<String> = level.iter().chain(target.build.extra()).cloned().collect();
            let build = Build::new(compiler, &flags);
            let outcome =
                outcomes(&build, &target.run, std::slice::from_ref(&case), &target.limits).pop().flatten();
            row.push((level.join(" "), outcome.map(|o| o.kind())));
        }
        let name = format!("{} ({})", compiler.name, compiler.version);
        table.push(Version { compiler: name, family: compiler.family, levels: row });
    }
    table
}

impl Bug<'_> {
    /// The report.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let target = self.target;
        let place = (target.run.setup.vlen, target.run.setup.vl);
        let case = Case::new(0, self.program.clone(), &[place]).ok();
        let expected = case.as_ref().and_then(|c| c.expected(&target.run.setup)).cloned();
        let _ = writeln!(text, "# {}\n", self.signature);
        self.summary(&mut text);
        let short = self.short.clone().unwrap_or_else(|| emit_function(self.program));
        let with = if self.short.is_some() { " (bug.c; compile with -c)" } else { "" };
        let _ = writeln!(text, "## The function{with}\n\n```c\n{}```\n", whole_lines(&short));
        if let (Some(case), Some(expected)) = (&case, &expected) {
            self.observed(&mut text, case, expected);
        }
        self.version_table(&mut text);
        if let Some(guilty) = &self.guilty {
            let _ = writeln!(text, "## The guilty pass\n\n{guilty}\n");
        }
        if let Some(said) = about(&self.target.build.compiler) {
            let _ = writeln!(text, "## The compiler (-v)\n\n```\n{said}\n```\n");
        }
        self.program_text(&mut text, expected.as_ref());
        let _ = writeln!(text, "## The program as IR\n\n```\n{}```\n", self.program);
        text
    }

    fn summary(&self, text: &mut String) {
        let target = self.target;
        let compiler = &target.build.compiler;
        let line = match compiler.family {
            Family::Direct => "direct lowering (built in)".to_string(),
            _ => {
                let march = compiler.march(&[self.program]);
                let flags = compiler.flags_for(&[self.program], &target.build.flags);
                compiler.command_line(&march, &flags, Path::new("bug.c"), Path::new("bug")).join(" ")
            }
        };
        let _ = writeln!(text, "- Symptom: {}", target.symptom.name());
        if let Some(site) = &target.site {
            let _ = writeln!(text, "- Where: {site}");
        }
        let _ = writeln!(text, "- Compiler: {} {}, `{line}`", compiler.name, compiler.version);
        if !target.symptom.is_build() {
            let _ = writeln!(text, "- Run on: {}", target.run.name());
            let _ = writeln!(text, "- With QEMU: `{}`", with_qemu(&target.run));
            if let Some(other) = &target.against {
                let _ = writeln!(text, "- Does not show on: {}", other.name());
            }
        }
        text.push('\n');
    }

    /// A compiler's crash needs no more than the function; wrong code wants a program that says so itself.
    fn program_text(&self, text: &mut String, expected: Option<&Expected>) {
        let target = self.target;
        if self.short.is_some() {
            return;
        }
        let self_check = [expected.cloned().into_iter().collect::<Vec<_>>()];
        let options = match expected {
            Some(_) if !target.symptom.is_build() => {
                COptions { mode: Mode::SelfCheck(&self_check), ..COptions::default() }
            }
            _ => COptions::default(),
        };
        let options = COptions { file: Some("bug.c"), language: target.build.language(), ..options };
        let _ =
            writeln!(text, "## The whole program (bug.c)\n\n```c\n{}```\n", emit(&[self.program], &options));
    }

    fn observed(&self, text: &mut String, case: &Case, expected: &Expected) {
        let target = self.target;
        if target.symptom.is_build() {
            let outcome = outcomes(&target.build, &target.run, std::slice::from_ref(case), &target.limits)
                .pop()
                .flatten();
            if let Some(outcome) = outcome {
                let said: Vec<String> = outcome.detail().lines().take(40).map(str::to_string).collect();
                let _ = writeln!(text, "## What the compiler says\n\n```\n{}\n```\n", said.join("\n"));
            }
            return;
        }
        let Ok(parts) = batch::build(&target.build, std::slice::from_ref(case), &target.limits) else {
            return;
        };
        let Some(part) = parts.first() else { return };
        let Ok(elf) = &part.elf else { return };
        let seen = target.run.emulator.run(elf, &target.run.setup, None);
        let _ = writeln!(text, "## Expected and actual\n");
        match part.run(&target.run, std::slice::from_ref(case)) {
            Ok(outcomes) => {
                if let Some((_, Outcome::RuntimeCrash(what))) = outcomes.first() {
                    let _ = writeln!(text, "The run ends with {what}\n");
                }
            }
            Err(error) => {
                let _ = writeln!(text, "{error}\n");
            }
        }
        wrong_elements(text, self.program, expected, &seen.stdout);
        let _ = writeln!(text, "## The code\n\n```\n{}```\n", vector_code(elf));
    }

    fn version_table(&self, text: &mut String) {
        let Some(first) = self.versions.first() else { return };
        let _ = writeln!(text, "## Versions and levels\n");
        let levels: Vec<&str> = first.levels.iter().map(|(level, _)| level.as_str()).collect();
        let _ = writeln!(text, "| compiler | {} |\n|---|{}", levels.join(" | "), "---|".repeat(levels.len()));
        for Version { compiler, levels: row, .. } in &self.versions {
            let cells: Vec<&str> = row.iter().map(|(_, kind)| kind.map_or("not run", Kind::name)).collect();
            let _ = writeln!(text, "| {compiler} | {} |", cells.join(" | "));
        }
        text.push('\n');
        // Those of the culprit's family come first, by version.
        let fails = |v: &&Version| v.levels.iter().any(|(_, kind)| *kind == Some(self.target.symptom));
        if let Some(first) = self.versions.iter().find(fails) {
            let _ = writeln!(text, "The first of these versions that fails: {}.", first.compiler);
        }
        let family = self.target.build.compiler.family;
        let own: Vec<&Version> = self.versions.iter().filter(|v| v.family == family).collect();
        let last = own.iter().rposition(fails);
        let after: Vec<&str> = own[last.map_or(0, |n| n + 1)..].iter().map(|v| v.compiler.as_str()).collect();
        let _ = match (last, after.is_empty()) {
            (None, _) => writeln!(text),
            (_, true) => writeln!(text, "The newest of them still fails.\n"),
            (_, false) => writeln!(text, "It is fixed in: {}.\n", after.join(", ")),
        };
    }
}

/// The text, with an end of its last line.
pub(super) fn whole_lines(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}

/// How QEMU is called for a run, as near to it as QEMU comes: whoever reads a report may have no `rvvsim`.
pub(super) fn with_qemu(run: &Run) -> String {
    let ones = run.setup.agnostic != Agnosticism::Undisturbed;
    let half_vl = run.setup.vl == VlChoice::Half;
    let choices = QemuChoices { tail_ones: ones, mask_ones: ones, half_vl };
    let command = qemu_max(Path::new("qemu-riscv64"), run.setup.vlen.min(1024), choices);
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let line: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
    format!("{} ./bug", line.join(" "))
}

/// What a compiler says about itself.
fn about(compiler: &Compiler) -> Option<String> {
    let (first, rest) = compiler.command.split_first()?;
    if compiler.family == Family::Custom {
        return None;
    }
    let mut command = Command::new(first);
    command.args(rest).arg("-v");
    let said = run_keeping(&mut command, Duration::from_secs(20), 1 << 16).ok()?;
    let said = printable(&said.stderr);
    let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).take(12).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A table of the elements that are wrong, the first twenty.
fn wrong_elements(text: &mut String, program: &Program, expected: &Expected, printed: &[u8]) {
    let mut rest = printed;
    let mut rows = Vec::new();
    for ((_, buffer), contents) in program.outputs().zip(&expected.outputs) {
        let size = buffer.elem.bytes() as usize;
        let (these, after) = rest.split_at(contents.bytes.len().min(rest.len()));
        rest = after;
        for i in 0..buffer.len {
            let range = i * size..(i + 1) * size;
            let Some(got) = these.get(range.clone()) else { break };
            let wrong = contents.is_wrong(buffer, i, got);
            if wrong {
                let hex = |bytes: &[u8]| {
                    bytes.iter().rev().fold(String::from("0x"), |s, b| s + &format!("{b:02x}"))
                };
                rows.push(format!(
                    "| {}[{i}] | {} | {} |",
                    buffer.name,
                    hex(&contents.bytes[range]),
                    hex(got)
                ));
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "| element | expected | got |\n|---|---|---|");
    for row in rows.iter().take(20) {
        let _ = writeln!(text, "{row}");
    }
    if rows.len() > 20 {
        let _ = writeln!(text, "\n… and {} more", rows.len() - 20);
    }
    text.push('\n');
}

/// The functions of the program that have vector instructions.
fn vector_code(elf: &[u8]) -> String {
    let Ok(image) = Image::parse(elf) else { return String::new() };
    let mut text = String::new();
    for segment in image.segments.iter().filter(|s| s.execute) {
        let data = elf.get(segment.file.clone()).unwrap_or(&[]);
        let mut at = 0;
        let mut function = String::new();
        let mut lines: Vec<(bool, String)> = Vec::new();
        let mut flush = |name: &str, lines: &mut Vec<(bool, String)>| {
            if lines.iter().any(|(vector, _)| *vector) && text.len() < 20_000 {
                let _ = writeln!(text, "{name}:");
                lines.iter().for_each(|(_, line)| {
                    let _ = writeln!(text, "  {line}");
                });
            }
            lines.clear();
        };
        while at + 2 <= data.len() {
            let address = segment.vaddr + at as u64;
            if let Some((name, 0)) = image.nearest(address) {
                flush(&function, &mut lines);
                function = name.to_string();
            }
            let half =
                |i: usize| data.get(i..i + 2).map_or(0, |b| u32::from(u16::from_le_bytes([b[0], b[1]])));
            let long = half(at) & 3 == 3;
            let word = if long { half(at) | half(at + 2) << 16 } else { half(at) };
            let inst = rvv_isa::decode(word);
            let line = match inst {
                Some(inst) => inst.disasm(address, DisasmOptions { pseudo: true }).replace('\t', " "),
                None => format!(".word {word:#x}"),
            };
            lines.push((inst.is_some_and(|i| i.op.is_vector()), format!("{address:x}: {line}")));
            at += if long { 4 } else { 2 };
        }
        flush(&function, &mut lines);
    }
    text
}
