//! One bug with all that is known of it, and the texts that are sent to the compilers' maintainers.

use super::bug::with_qemu;
use super::entries::Entry;
use super::folded::{Folded, fold};
use super::markdown::Document;
use crate::programs::judge::outcome::Kind;
use crate::programs::reduce::triage::made_by;
use crate::programs::store::query::StoredVerdict;
use crate::programs::store::{Store, StoreError};
use crate::programs::testbed::Testbeds;
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit, emit_function};
use rvv_isa::Op;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// A bug, as one of its verdicts shows it.
pub struct View {
    /// The bug.
    pub entry: Entry,
    /// The verdict.
    pub verdict: StoredVerdict,
    /// Its report, if it is reduced.
    pub report: Document,
    /// The program, reduced if it was.
    pub ir: Option<String>,
    /// The function that matters, in C.
    pub function: Option<String>,
    /// The whole program in C; of a crash of the compiler, the function is enough.
    pub c: Option<String>,
    /// Its outcomes.
    pub outcomes: Folded,
    /// What the testbeds said that fail: their names, and the first lines.
    pub said: Vec<(String, String)>,
    /// How it is compiled, where it fails.
    pub compile: Option<String>,
    /// How it is run with QEMU.
    pub qemu: Option<String>,
    /// Some verdicts of the bug.
    pub verdicts: Vec<i64>,
}

/// At most so many testbeds are quoted.
const QUOTED: usize = 8;

impl View {
    /// Reads what there is about a verdict.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(
        store: &Store,
        testbeds: &Testbeds,
        entry: &Entry,
        verdict: StoredVerdict,
        verdicts: Vec<i64>,
    ) -> Result<View, StoreError> {
        let ir = match &verdict.reduced_ir {
            Some(ir) => Some(ir.clone()),
            None => store.program(verdict.program)?,
        };
        let program = ir.as_deref().and_then(sound);
        let report = Document::parse(verdict.report_md.as_deref().unwrap_or(""));
        let function = report.code("The function").map(str::to_string);
        let function = function.or_else(|| program.as_ref().map(emit_function));
        let whole =
            report.code("The whole program").map(str::to_string).or_else(|| verdict.reduced_c.clone());
        let c = whole.or_else(|| Some(emit(&[program.as_ref()?], &COptions::default())));
        let names = store.testbeds()?;
        let letters = store.outcomes(verdict.program)?.unwrap_or_default();
        let details = store.details(verdict.program)?;
        let is_its = |t: &usize| verdict.testbeds.contains(t);
        let said = details.into_iter().filter(|(t, _)| is_its(t)).take(QUOTED);
        let said = said.filter_map(|(t, text)| Some((names.get(t)?.clone(), text))).collect();
        let first = verdict.testbeds.first().filter(|t| **t < testbeds.len());
        let build = first.map(|&t| testbeds.build_of(t)).zip(program.as_ref());
        let command = build.filter(|(b, _)| !b.compiler.command.is_empty()).map(|(build, program)| {
            let compiler = &build.compiler;
            let flags = compiler.flags_for(&[program], &build.flags);
            let (march, file, elf) = (compiler.march(&[program]), Path::new("bug.c"), Path::new("bug"));
            compiler.command_line(&march, &flags, file, elf).join(" ")
        });
        let compile = report.command("Compiler").map(str::to_string).or(command).map(|line| on_path(&line));
        let is_build = Kind::from_name(&verdict.symptom).is_some_and(Kind::is_build);
        let run = first.filter(|_| !is_build).map(|&t| with_qemu(testbeds.run_of(t)));
        let qemu = report.command("With QEMU").map(str::to_string).or(run);
        let outcomes = fold(testbeds, &letters);
        let entry = entry.clone();
        Ok(View { entry, verdict, report, ir, function, c, outcomes, said, compile, qemu, verdicts })
    }

    /// The assembly, and the lines of it that are suspect.
    pub fn assembly(&self) -> Option<(&str, BTreeSet<usize>)> {
        let code = self.report.code("The code")?;
        Some((code, self.suspects(code)))
    }

    /// The instruction that traps; else those that do the operation which makes the wrong value.
    fn suspects(&self, code: &str) -> BTreeSet<usize> {
        let inside = |text: &str| -> Option<String> {
            let (_, rest) = text.split_once("IllegalInstruction, `")?;
            Some(rest.split_once('`')?.0.to_string())
        };
        let ends = self.report.text("Expected and actual").unwrap_or_default();
        let trapping = inside(&ends).or_else(|| inside(&self.verdict.detail));
        let of = |line: &str| line.trim().split_once(": ").map(|(_, inst)| inst.trim().to_string());
        if let Some(wanted) = trapping {
            let is_it = |line: &str| of(line).is_some_and(|inst| inst == wanted);
            return code.lines().enumerate().filter(|(_, l)| is_it(l)).map(|(n, _)| n).collect();
        }
        let Some(program) = self.ir.as_deref().and_then(sound) else { return BTreeSet::new() };
        let makers: Vec<_> = program.outputs().filter_map(|(b, _)| made_by(&program, b)).collect();
        let does = |op: Op| {
            let same = rvv_intrinsics::all().iter().filter(|i| i.instruction == Some(op));
            same.take(1).any(|i| makers.contains(&i.sem))
        };
        let is_maker = |line: &str| {
            let inst = of(line).unwrap_or_default();
            inst.split_whitespace().next().and_then(Op::from_name).is_some_and(does)
        };
        code.lines().enumerate().filter(|(_, l)| is_maker(l)).map(|(n, _)| n).collect()
    }

    /// The assembly with suspect lines marked, as text.
    fn marked(&self) -> Option<String> {
        let (code, suspects) = self.assembly()?;
        let mark = |(n, line): (usize, &str)| match suspects.contains(&n) {
            true => format!("{line:<44}  # <--\n"),
            false => format!("{line}\n"),
        };
        Some(code.lines().enumerate().map(mark).collect())
    }

    /// What is wrong; of a rule of the manual that is broken, what it says.
    pub fn title(&self) -> String {
        let title = self.entry.title();
        let sentence = |text: &str| {
            let (_, rest) = text.split_once(&format!("{title}: "))?;
            rest.lines().next().map(|line| format!("{} ({title})", line.trim()))
        };
        let ends = self.report.text("Expected and actual").unwrap_or_default();
        let found = sentence(&ends).or_else(|| sentence(&self.verdict.detail));
        found.filter(|_| title.starts_with("norm:")).unwrap_or_else(|| title.to_string())
    }

    /// What is wrong, in a line for a bug tracker.
    pub fn summary(&self) -> String {
        let title = self.title();
        let what = match Kind::from_name(&self.verdict.symptom) {
            Some(Kind::WrongOutput) => format!("wrong code: {title}"),
            Some(Kind::RuntimeCrash) => format!("invalid code: {title}"),
            Some(Kind::RuntimeTimeout) => format!("wrong code, an endless loop: {title}"),
            Some(Kind::BuildCrash) => format!("ICE: {title}"),
            Some(Kind::BuildFailure) => format!("rejects valid code: {title}"),
            Some(Kind::BuildTimeout) => format!("compilation does not end: {title}"),
            _ => title,
        };
        what.chars().map(|c| if c.is_control() { ' ' } else { c }).take(180).collect()
    }

    /// Expected and got, as lines of text.
    fn observed(&self) -> String {
        let mut text = String::new();
        if let Some(said) = self.report.text("Expected and actual") {
            let _ = writeln!(text, "{said}");
        }
        if let Some(rows) = self.report.table("Expected and actual") {
            for row in rows {
                let cells: Vec<String> = row.iter().map(|c| format!("{c:<20}")).collect();
                let _ = writeln!(text, "{}", cells.join(" ").trim_end());
            }
        }
        if let Some(said) = self.report.code("What the compiler says") {
            text += said;
        }
        if text.is_empty() {
            text = self.verdict.detail.clone();
        }
        text.trim_end().to_string()
    }

    /// The versions that have it, as lines of text.
    fn versions(&self) -> Option<String> {
        let rows = self.report.table("Versions and levels")?;
        let width = rows.iter().filter_map(|r| Some(r.first()?.chars().count())).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().skip(1).map(|c| format!("{c:<14}")).collect();
            let first = row.first().map_or("", String::as_str);
            format!("{first:<width$}  {}", cells.join(" ")).trim_end().to_string()
        };
        Some(rows.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    /// The commands that show it, as a session.
    fn commands(&self) -> String {
        let mut lines: Vec<String> = self.compile.iter().map(|line| format!("$ {line}")).collect();
        lines.extend(self.qemu.iter().map(|line| format!("$ {line}")));
        if self.qemu.is_some() && self.report.code("The whole program").is_some() {
            lines.push("$ echo $?   # 0 if all is well".to_string());
        }
        lines.join("\n")
    }

    /// A description for GCC's Bugzilla: plain text.
    pub fn bugzilla(&self) -> String {
        let mut text = format!("Summary: RISC-V V: {}\n", self.summary());
        let _ = writeln!(text, "Product: gcc, component: target, target: riscv64-unknown-linux-gnu\n");
        if let Some(compiler) = self.report.point("Compiler").and_then(|c| c.split(", `").next()) {
            let _ = writeln!(text, "Compiler: {compiler}\n");
        }
        let _ = writeln!(text, "{}\n\n{}\n", self.commands(), self.observed());
        if let Some(function) = &self.function {
            let _ = writeln!(text, "The function:\n\n{}\n", function.trim_end());
        }
        if let Some(versions) = self.versions() {
            let _ = writeln!(text, "Versions and levels:\n\n{versions}\n");
        }
        if let Some(pass) = self.report.text("The guilty pass") {
            let _ = writeln!(text, "Pass: {pass}\n");
        }
        if let Some(code) = self.marked() {
            let _ = writeln!(text, "The code:\n\n{code}");
        }
        if let Some(about) = self.report.code("The compiler (-v)") {
            let _ = writeln!(text, "{about}");
        }
        if let Some(c) = &self.c {
            let _ = writeln!(text, "bug.c:\n\n{}", c.trim_end());
        }
        plain(&text)
    }

    /// An issue for LLVM on GitHub: Markdown.
    pub fn github(&self) -> String {
        let mut text =
            format!("Title: [RISCV] {}\nLabels: backend:RISC-V, miscompilation\n\n", self.summary());
        if !matches!(Kind::from_name(&self.verdict.symptom), Some(Kind::WrongOutput | Kind::RuntimeCrash)) {
            text = text.replace("miscompilation", "crash");
        }
        let block = |kind: &str, code: &str| {
            // A fence that the code does not have.
            let fence = if code.contains("```") { "~~~~" } else { "```" };
            format!("{fence}{kind}\n{}\n{fence}\n", code.trim_end())
        };
        if let Some(function) = &self.function {
            let _ = writeln!(text, "{}", block("c", function));
        }
        let _ = writeln!(text, "{}\n{}", block("console", &self.commands()), block("", &self.observed()));
        if let Some(versions) = self.versions() {
            let _ = writeln!(text, "Versions and levels:\n\n{}", block("", &versions));
        }
        if let Some(pass) = self.report.text("The guilty pass") {
            let _ = writeln!(text, "Pass: {pass}\n");
        }
        let folded = |title: &str, body: &str| {
            format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n")
        };
        if let Some(code) = self.marked() {
            text += &folded("The code", &block("asm", &code));
        }
        if let Some(c) = &self.c {
            text += &folded("bug.c", &block("c", c));
        }
        if let Some(about) = self.report.code("The compiler (-v)") {
            text += &folded("clang -v", &block("", about));
        }
        plain(&text)
    }
}

/// A program that may be looked into: stores come from anywhere.
fn sound(ir: &str) -> Option<Program> {
    ir.parse::<Program>().ok().filter(|program| program.check().is_ok())
}

/// A text without characters that change what a terminal does.
pub fn plain(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// The command without the folder that it is in here.
fn on_path(line: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    let name = program.rsplit_once('/').map_or(program, |(_, name)| name);
    format!("{name} {rest}").trim_end().to_string()
}
