//! What compilers have of the intrinsics: each is called under its explicit and its overloaded name, by a
//! function on a line of its own, so that an error says which.

use super::compiler::{Compiler, Family, Limits};
use rvv_intrinsics::{Extension, Intrinsic, Prototype, Type};
use rvv_tools::run_group;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// Functions in a translation unit.
const CHUNK: usize = 4000;

/// What is kept of a compiler's messages: it may refuse every line.
const MESSAGES: u64 = 64 << 20;

/// The intrinsics, among those called by these prototypes, that one of the compilers does not have. What one
/// lacks, the next is not asked.
///
/// # Errors
/// When a compiler cannot be asked.
pub fn missing<'a>(
    compilers: impl IntoIterator<Item = &'a Compiler>,
    prototypes: &[Prototype],
    limits: &Limits,
    mut tell: impl FnMut(&Compiler, usize),
) -> Result<BTreeSet<&'static str>, String> {
    let mut missing = BTreeSet::new();
    // A command of the user's may take a whole program only.
    let asks = |c: &&Compiler| matches!(c.family, Family::Gcc | Family::Clang | Family::Zig);
    for compiler in compilers.into_iter().filter(asks) {
        tell(compiler, missing.len());
        // One extension at a time: with all of them on, clang 19 takes some names for others
        // (llvm/llvm-project#111481).
        for extension in Extension::ALL {
            let of = prototypes.iter().filter(|p| p.extension() == extension);
            let asked: Vec<&Prototype> = of.filter(|p| !missing.contains(name(p.intrinsic))).collect();
            for chunk in asked.chunks(CHUNK) {
                let march = march(compiler, extension);
                if !compiler.accepts(&march, limits) {
                    missing.extend(chunk.iter().map(|p| name(p.intrinsic)));
                    continue;
                }
                let refused = refused(compiler, &march, chunk, limits)?;
                missing.extend(refused.into_iter().map(|n| name(chunk[n].intrinsic)));
            }
        }
    }
    Ok(missing)
}

/// As patterns have it.
fn name(intrinsic: &'static Intrinsic) -> &'static str {
    intrinsic.name.strip_prefix("__riscv_").unwrap_or(&intrinsic.name)
}

/// All that the intrinsics of an extension need. The fractional types of element groups exist where a group
/// fits.
fn march(compiler: &Compiler, extension: Extension) -> String {
    let march = match extension {
        Extension::V => "rv64gcv_zvfh",
        Extension::Bf16 => "rv64gcv_zvfh_zvfbfmin1p0_zvfbfwma1p0",
        Extension::Crypto => "rv64gcv_zvbb_zvbc_zvkg_zvkned_zvknhb_zvksed_zvksh_zvl512b",
    };
    // zig knows features, without versions.
    if compiler.family == Family::Zig { march.replace("1p0", "") } else { march.to_string() }
}

/// Which of these the compiler gives an error for.
fn refused(
    compiler: &Compiler,
    march: &str,
    chunk: &[&Prototype],
    limits: &Limits,
) -> Result<BTreeSet<usize>, String> {
    let say = |what: String| format!("{}: {what}", compiler.name);
    let folder = tempfile::tempdir().map_err(|e| say(e.to_string()))?;
    let (source, object) = (folder.path().join("census.c"), folder.path().join("census.o"));
    std::fs::write(&source, text(chunk)).map_err(|e| say(e.to_string()))?;
    let flags = ["-fsyntax-only".to_string()];
    let line = compiler.command_line(march, &flags, &source, &object);
    let (program, arguments) = line.split_first().ok_or_else(|| say("it has no command".to_string()))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path()).env("TMPDIR", folder.path()).env("LC_ALL", "C");
    let said = run_group(&mut command, limits.time, MESSAGES).map_err(|e| say(e.to_string()))?.stderr;
    let said = String::from_utf8_lossy(&said);
    let mut refused = BTreeSet::new();
    for error in said.lines().filter(|l| l.contains("error: ")) {
        let line = error.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
        match line.filter(|n| (1..=chunk.len()).contains(n)) {
            Some(n) => refused.insert(n - 1),
            None => return Err(say(error.to_string())),
        };
    }
    Ok(refused)
}

/// One function a line, from line 1: the number of a line is that of the prototype.
fn text(chunk: &[&Prototype]) -> String {
    let mut text =
        String::from("#include <stddef.h>\n#include <stdint.h>\n#include <riscv_vector.h>\n#line 1\n");
    for (n, prototype) in chunk.iter().enumerate() {
        let intrinsic = prototype.intrinsic;
        let argument = |p: &rvv_intrinsics::Param| match intrinsic.constants(p.role) {
            Some(range) => range.end().to_string(),
            None => p.name.to_string(),
        };
        let arguments: Vec<String> = intrinsic.params.iter().map(argument).collect();
        let result = if intrinsic.ret == Type::Void { "" } else { "return " };
        let call = format!("{result}{}({})", prototype.name(), arguments.join(", "));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} f{n}({}) {{ {call}; }}", intrinsic.ret, prototype.parameters());
    }
    text
}

/// Patterns for just these names: a beginning that no other intrinsic has stands for all that have it.
pub fn patterns(names: &BTreeSet<&'static str>) -> Vec<String> {
    let all: BTreeSet<&str> = rvv_intrinsics::all().iter().map(name).collect();
    let with = |of: &BTreeSet<&'static str>, start: &str| {
        of.range(start..).take_while(|n| n.starts_with(start)).count()
    };
    let mut patterns: Vec<String> = Vec::new();
    for &name in names {
        if patterns.last().is_some_and(|p| p.strip_suffix('*').is_some_and(|start| name.starts_with(start))) {
            continue;
        }
        let whole = |end: &usize| with(names, &name[..*end]) == with(&all, &name[..*end]);
        let start = (1..name.len()).find(whole).filter(|end| with(names, &name[..*end]) > 1);
        patterns.push(start.map_or(name.to_string(), |end| format!("{}*", &name[..end])));
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_intrinsics::prototypes;

    #[test]
    fn patterns_are_of_just_these_names() {
        let is_missing = |n: &str| n.contains("bf16") || n.starts_with("vsm4") || n == "vadd_vv_i8m1";
        let missing: BTreeSet<&str> =
            rvv_intrinsics::all().iter().map(name).filter(|n| is_missing(n)).collect();
        let selection = rvvgen::Selection { except: patterns(&missing), ..rvvgen::Selection::default() };
        assert_eq!(selection.idle_pattern(), None);
        assert!(selection.except.len() < missing.len() / 2, "{:?}", selection.except);
        for intrinsic in rvv_intrinsics::all() {
            assert_eq!(selection.allows(intrinsic), !is_missing(name(intrinsic)), "{}", intrinsic.name);
        }
        assert!(patterns(&BTreeSet::new()).is_empty());
    }

    #[test]
    fn what_a_compiler_refuses_is_missing() {
        // A compiler that refuses whatever has "_vx_" in it, in gcc's words.
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("cc");
        let body = "#!/bin/sh\nfor f; do case $f in *.c) c=$f;; esac; done\n\
            grep -n '' \"$c\" | tail -n +5 | awk -F: '/_vx_/ {print \"p.c:\" $1 - 4 \":5: error: no\"}' >&2\n";
        std::fs::write(&script, body).unwrap();
        let mut permissions = std::fs::metadata(&script).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(&script, permissions).unwrap();
        let compiler = Compiler {
            family: Family::Gcc,
            command: vec![script.display().to_string()],
            ..Compiler::direct()
        };
        let asked: Vec<Prototype> =
            prototypes().filter(|p| p.intrinsic.name.starts_with("__riscv_vadd_v")).collect();
        let found = missing([&Compiler::direct(), &compiler], &asked, &Limits::default(), |_, _| {}).unwrap();
        assert!(found.contains("vadd_vx_i8m1") && !found.contains("vadd_vv_i8m1"), "{found:?}");
        assert!(asked.iter().all(|p| found.contains(name(p.intrinsic)) == p.intrinsic.name.contains("_vx_")));
    }
}
