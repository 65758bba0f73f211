//! One enum of instructions for each chapter, so that a `match` can name all of them and nothing else.

use crate::emit::variant;
use crate::tables::{Insn, Tables};
use std::fmt::Write;

/// The chapters, in the order of the table, and their instructions. What expands to another instruction has
/// the place of that one.
fn chapters(insns: &[Insn]) -> Vec<(&str, Vec<&Insn>)> {
    let mut all: Vec<(&str, Vec<&Insn>)> = Vec::new();
    for insn in insns.iter().filter(|insn| insn.base == insn.name) {
        match all.iter_mut().find(|(name, _)| *name == insn.chapter) {
            Some((_, list)) => list.push(insn),
            None => all.push((&insn.chapter, vec![insn])),
        }
    }
    all
}

fn is_vector(insn: &Insn) -> bool {
    insn.class.starts_with("Vector")
}

/// The name of a chapter among the chapters of its kind.
fn short(chapter: &str) -> &str {
    chapter.strip_prefix("Vector").unwrap_or(chapter)
}

fn examples(insns: &[&Insn]) -> String {
    let some: Vec<_> = insns.iter().take(3).map(|insn| format!("`{}`", insn.name)).collect();
    let more = if insns.len() > 3 { " …" } else { "" };
    some.join(", ") + more
}

pub fn emit(tables: &Tables) -> String {
    let chapters = chapters(&tables.insns);
    let mut out = String::new();
    for (chapter, insns) in &chapters {
        let _ = writeln!(out, "/// {}.", examples(insns));
        out += "#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\n";
        let _ = writeln!(out, "pub enum {chapter} {{");
        for insn in insns {
            let _ = writeln!(out, "    /// `{}`\n    {},", insn.name, variant(&insn.name));
        }
        out += "}\n\n";
    }
    for vector in [false, true] {
        let name = if vector { "VectorOp" } else { "ScalarOp" };
        let kind = if vector { "A vector" } else { "A scalar" };
        let _ = writeln!(out, "/// {kind} instruction by its chapter.");
        let _ = writeln!(out, "#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\npub enum {name} {{");
        for (chapter, insns) in chapters.iter().filter(|(_, insns)| is_vector(insns[0]) == vector) {
            let _ = writeln!(out, "    /// {}\n    {}({chapter}),", examples(insns), short(chapter));
        }
        out += "}\n\n";
    }
    let _ = writeln!(out, "static CHAPTERS: [Chapter; {}] = [", tables.insns.len());
    for insn in &tables.insns {
        let base = tables.insns.iter().find(|base| base.name == insn.base).expect("checked");
        let kind = if is_vector(base) { "Vector" } else { "Scalar" };
        let (chapter, variant) = (&base.chapter, variant(&base.name));
        let _ = writeln!(out, "    Chapter::{kind}({kind}Op::{}({chapter}::{variant})),", short(chapter));
    }
    out += "];\n\n";

    out += "/// The variant of its chapter's enum, for a mnemonic: `mnemonic!(vadd.vv)` is\n";
    out += "/// `rvv_isa::chapter::VectorInteger::VaddVv`, as an expression and as a pattern.\n";
    out += "#[macro_export]\nmacro_rules! mnemonic {\n";
    for (chapter, insns) in &chapters {
        for insn in insns {
            let (name, variant) = (&insn.name, variant(&insn.name));
            let _ = writeln!(out, "    ({name}) => {{ $crate::chapter::{chapter}::{variant} }};");
        }
    }
    out += "}\n";
    out
}
