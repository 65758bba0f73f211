//! A compiler accepts every prototype: each is called, with parameters of the types that the table says.
//!
//! The compiler is `$CC_RISCV` or else the first clang there is; `gaps.toml` lists what a version does
//! not know. To try another one, GCC as well:
//! `CC_RISCV=riscv64-linux-gnu-gcc-16 cargo test -p rvv-intrinsics --test all compile -- --nocapture`.

use rvv_intrinsics::{Extension, Prototype, Type, prototypes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const CHUNK: usize = 4000;
const THREADS: usize = 2;

#[derive(Deserialize)]
struct Gaps {
    gap: Vec<Gap>,
}

/// What some compilers do not accept, and why.
#[derive(Deserialize)]
struct Gap {
    compilers: Vec<String>,
    /// Explicit names, which include the overloaded ones; `*` matches anything.
    names: Vec<String>,
    /// Only in these lists; if empty, in all.
    #[serde(default)]
    categories: Vec<String>,
    reason: String,
}

struct Compiler {
    path: String,
    /// `clang-19`
    version: String,
}

#[test]
fn a_compiler_accepts_every_prototype() {
    let Some(compiler) = Compiler::find() else {
        // Past the capture of a test that passes.
        let what =
            "no clang 19 or later found ($CC_RISCV, clang-22 to clang-19, clang); tools/setup installs it";
        let _ = writeln!(std::io::stderr(), "NOT TESTED: a_compiler_accepts_every_prototype: {what}");
        return;
    };
    let gaps: Gaps = toml::from_str(include_str!("gaps.toml")).unwrap();
    let mut gaps: Vec<(Gap, usize)> =
        gaps.gap.into_iter().filter(|g| g.compilers.contains(&compiler.version)).map(|g| (g, 0)).collect();

    let refused = compiler.refuses_of_all();
    let mut unknown: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (prototype, error) in &refused {
        let intrinsic = prototype.intrinsic;
        let covers = |gap: &Gap| {
            gap.names.iter().any(|n| matches(n, &intrinsic.name))
                && (gap.categories.is_empty()
                    || gap.categories.iter().any(|c| c == prototype.category.name()))
        };
        match gaps.iter_mut().find(|(gap, _)| covers(gap)) {
            Some((_, count)) => *count += 1,
            None => {
                let kind = (intrinsic.extension.name(), intrinsic.family, prototype.category.name());
                unknown.entry(kind).or_default().push(format!("{}\n    {error}", prototype.name()));
            }
        }
    }
    let total = prototypes().count();
    println!("{}: accepts {} of {total} prototypes", compiler.version, total - refused.len());
    for (gap, count) in &gaps {
        println!("  refuses {count}: {} ({})", gap.names.join(" "), gap.reason);
        assert!(
            *count > 0,
            "{} accepts all of {:?} now: gaps.toml is out of date",
            compiler.version,
            gap.names
        );
    }
    for (kind, errors) in &unknown {
        println!("{kind:?}: {} such as {}", errors.len(), errors[0]);
    }
    assert!(unknown.is_empty(), "{} refuses what it should know", compiler.version);
}

/// Whether the pattern with its stars is the name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|tail| (0..=tail.len()).any(|skip| matches(rest, &tail[skip..]))),
    }
}

impl Compiler {
    fn find() -> Option<Compiler> {
        let chosen = std::env::var("CC_RISCV").or_else(|_| std::env::var("CLANG")).ok();
        let usual = ["clang-22", "clang-21", "clang-20", "clang-19", "clang"].map(String::from);
        let candidates = chosen.map_or(usual.to_vec(), |c| vec![c]);
        candidates.into_iter().find_map(|path| {
            let output = Command::new(&path).arg("-v").output().ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let (kind, rest) = [("clang", "clang version "), ("gcc", "gcc version ")]
                .into_iter()
                .find_map(|(kind, before)| Some((kind, text.split_once(before)?.1)))?;
            let major: u32 = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
            (kind == "gcc" || major >= 19).then(|| Compiler { path, version: format!("{kind}-{major}") })
        })
    }

    /// Each prototype that the compiler gives an error for, with the first one.
    fn refuses_of_all(&self) -> Vec<(Prototype, String)> {
        // One extension at a time: clang 19 numbers its intrinsics in 16 bits, and with all extensions on
        // there are more than 65536, so that it takes some names for others (llvm/llvm-project#111481).
        let mut lists: BTreeMap<Extension, Vec<Prototype>> = BTreeMap::new();
        prototypes().for_each(|p| lists.entry(p.extension()).or_default().push(p));
        let chunks: Vec<(Extension, &[Prototype])> =
            lists.iter().flat_map(|(e, list)| list.chunks(CHUNK).map(|c| (*e, c))).collect();

        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.version);
        std::fs::create_dir_all(&folder).unwrap();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let work = || {
                let mut refused = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some((extension, chunk)) = chunks.get(n) else { return refused };
                    refused.extend(self.refuses(*extension, chunk, folder.join(format!("{n}.c"))));
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        })
    }

    fn refuses(&self, extension: Extension, chunk: &[Prototype], file: PathBuf) -> Vec<(Prototype, String)> {
        std::fs::write(&file, program(chunk)).unwrap();
        // The VLEN is for the element groups of the fractional crypto types.
        let march = match extension {
            Extension::V => "rv64gcv_zvfh",
            Extension::Bf16 => "rv64gcv_zvfh_zvfbfmin1p0_zvfbfwma1p0",
            Extension::Crypto => "rv64gcv_zvbb_zvbc_zvkg_zvkned_zvknhb_zvksed_zvksh_zvl512b",
        };
        let mut command = Command::new(&self.path);
        command.args([&format!("-march={march}"), "-mabi=lp64d", "-ffreestanding", "-fsyntax-only"]);
        if self.version.starts_with("clang") {
            command.args(["--target=riscv64", "-menable-experimental-extensions", "-ferror-limit=0"]);
        }
        let output = command.arg(&file).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let mut refused = BTreeMap::new();
        for error in text.lines().filter(|l| l.contains("error: ")) {
            let line = error.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
            match line.filter(|n| (1..=chunk.len()).contains(n)) {
                Some(n) => refused.entry(n - 1).or_insert_with(|| error.to_string()),
                None => panic!("{}: {error}", self.path),
            };
        }
        assert!(output.status.success() || !refused.is_empty(), "{} failed:\n{text}", self.path);
        refused.into_iter().map(|(n, error)| (chunk[n], error)).collect()
    }
}

/// A C file with one function a line, from line 1: the number of a line is that of the prototype.
fn program(chunk: &[Prototype]) -> String {
    let mut text = String::new();
    for (n, prototype) in chunk.iter().enumerate() {
        if n == 0 {
            // On line 0, so to speak.
            text += "#include <stddef.h>\n#include <stdint.h>\n#include <riscv_vector.h>\n#line 1\n";
        }
        let intrinsic = prototype.intrinsic;
        let argument = |p: &rvv_intrinsics::Param| match intrinsic.constants(p.role) {
            Some(range) => range.end().to_string(),
            None => p.name.to_string(),
        };
        let arguments: Vec<String> = intrinsic.params.iter().map(argument).collect();
        let result = if intrinsic.ret == Type::Void { "" } else { "return " };
        let (name, parameters) = (prototype.name(), prototype.parameters());
        let call = format!("{result}{name}({})", arguments.join(", "));
        writeln!(text, "{} f{n}({parameters}) {{ {call}; }}", intrinsic.ret).unwrap();
    }
    text
}
