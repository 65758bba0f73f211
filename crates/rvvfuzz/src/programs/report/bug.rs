//! A bug report that a maintainer can act on, in Markdown.

use crate::programs::judge::batch;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::reduce::bisect::Guilty;
use crate::programs::reduce::target::{Target, outcomes};
use crate::programs::reduce::triage::Signature;
use crate::programs::testbed::Build;
use crate::programs::testbed::compiler::{Built, Compiler, Family, crash_site};
use crate::programs::testbed::emulator::Emulator;
use rvv_ir::c::{COptions, Mode, emit, emit_function};
use rvv_ir::{Expected, Program};
use rvv_isa::DisasmOptions;
use rvvsim::elf::Image;
use std::fmt::Write;
use std::path::Path;

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
    let mut flags = target.build.flags.clone();
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
        for flags in levels {
            let build = Build { compiler: compiler.clone(), flags: flags.clone() };
            let outcome =
                outcomes(&build, &target.run, std::slice::from_ref(&case), &target.limits).pop().flatten();
            row.push((flags.join(" "), outcome.map(|o| o.kind())));
        }
        table.push(Version { compiler: format!("{} ({})", compiler.name, compiler.version), levels: row });
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
        self.program_text(&mut text, expected.as_ref());
        if let (Some(case), Some(expected)) = (&case, &expected) {
            self.observed(&mut text, case, expected);
        }
        self.version_table(&mut text);
        if let Some(guilty) = &self.guilty {
            let _ = writeln!(text, "## The guilty pass\n\n{guilty}\n");
        }
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
                compiler
                    .command_line(&march, &target.build.flags, Path::new("bug.c"), Path::new("bug"))
                    .join(" ")
            }
        };
        let _ = writeln!(text, "- Symptom: {}", target.symptom.name());
        if let Some(site) = &target.site {
            let _ = writeln!(text, "- Where: {site}");
        }
        let _ = writeln!(text, "- Compiler: {} {}, `{line}`", compiler.name, compiler.version);
        if !target.symptom.is_build() {
            let _ = writeln!(text, "- Run on: {}", target.run.name());
            if let Emulator::Rvvsim = target.run.emulator {
                let setup = &target.run.setup;
                let _ = writeln!(
                    text,
                    "  (`rvvsim bug --vlen {} --tail {1} --mask {1}`)",
                    setup.vlen,
                    setup.agnostic.name()
                );
            }
            if let Some(other) = &target.against {
                let _ = writeln!(text, "- Does not show on: {}", other.name());
            }
        }
        text.push('\n');
    }

    /// A compiler's crash needs the shortest C; wrong code wants a program that says so itself.
    fn program_text(&self, text: &mut String, expected: Option<&Expected>) {
        let target = self.target;
        if let Some(short) = &self.short {
            let _ = writeln!(text, "## bug.c (compile with -c)\n\n```c\n{short}```\n");
            return;
        }
        let self_check = [expected.cloned().into_iter().collect::<Vec<_>>()];
        let options = match expected {
            Some(_) if !target.symptom.is_build() => {
                COptions { mode: Mode::SelfCheck(&self_check), ..COptions::default() }
            }
            _ => COptions::default(),
        };
        let options = COptions { file: Some("bug.c"), ..options };
        let _ = writeln!(text, "## bug.c\n\n```c\n{}```\n", emit(&[self.program], &options));
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
        for Version { compiler, levels: row } in &self.versions {
            let cells: Vec<&str> = row.iter().map(|(_, kind)| kind.map_or("not run", Kind::name)).collect();
            let _ = writeln!(text, "| {compiler} | {} |", cells.join(" | "));
        }
        text.push('\n');
        // Those of the culprit's family come first, by version.
        let fails = |v: &&Version| v.levels.iter().any(|(_, kind)| *kind == Some(self.target.symptom));
        if let Some(first) = self.versions.iter().find(fails) {
            let _ = writeln!(text, "The first of these versions that fails: {}\n", first.compiler);
        }
    }
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
            let wrong = range.clone().any(|b| (contents.bytes[b] ^ these[b]) & contents.defined[b] != 0);
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
