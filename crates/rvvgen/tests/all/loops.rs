//! Programs of element statements: defined, read back from their text, and the same by our own lowering, by
//! clang -O0 and by the evaluator.

use crate::compiled::variable;
use rvv_intrinsics::Extension;
use rvv_ir::c::{COptions, emit, march};
use rvv_ir::{Stmt, elf};
use rvv_oracle::{Options, evaluate};
use rvvgen::{Generated, POLICIES, Plan, Selection, Settings, Weights, generate};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The policies that write plain C.
fn policies() -> Vec<&'static str> {
    let plain = |name: &&str| Weights::policy(name).is_some_and(|w| w.loops == 1.0);
    POLICIES.iter().map(|(name, ..)| *name).filter(plain).collect()
}

fn programs(policy: &str, seed: u64, count: u64) -> Vec<Generated> {
    programs_of(policy, seed, count, &Selection::default())
}

fn programs_of(policy: &str, seed: u64, count: u64, selection: &Selection) -> Vec<Generated> {
    let weights = Weights::policy(policy).unwrap_or_else(|| panic!("no policy {policy}"));
    let vlens = vec![128, 512];
    let settings = Settings { weights, vlens, selection: selection.clone(), ..Settings::default() };
    let plan = Plan::new(seed, selection, 10, 128);
    (0..count).map(|k| generate(&plan, k, &settings).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn printed(file: &[u8], vlen: u32) -> Vec<u8> {
    let image = Image::parse(file).unwrap();
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    let config = Config { vlen, max_insns: Some(400_000_000), ..Config::default() };
    let mut machine = Machine::user(config, &image, options).unwrap();
    let outcome = machine.run(None);
    assert!(matches!(outcome, Outcome::Exited(0)), "{outcome:?}");
    machine.stdout().to_vec()
}

/// What many programs in one file print must be what each is expected to.
fn judge(file: &[u8], of: &[Generated], vlen: u32) {
    let stdout = printed(file, vlen);
    let mut rest = &stdout[..];
    for one in of {
        let expected = one.expected.iter().find(|e| e.vlen == vlen).unwrap();
        for ((_, buffer), contents) in one.program.outputs().zip(&expected.outputs) {
            let (these, after) = rest.split_at(contents.bytes.len());
            rest = after;
            let wrong = contents.first_difference(buffer, these);
            assert_eq!(wrong, None, "`{}` at VLEN {vlen}\n{}", buffer.name, one.program);
        }
    }
    assert!(rest.is_empty());
}

#[test]
fn every_policy_writes_programs_that_the_lowering_runs_as_the_evaluator_says() {
    let policies = policies();
    assert!(policies.len() >= 5, "{policies:?}");
    for policy in policies {
        let mut all = programs(policy, 7, 400);
        let removed: usize = all.iter().map(|g| g.repairs).sum();
        assert!(removed * 20 < all.len(), "{policy}: {removed} statements had no meaning");
        all.truncate(120);
        for one in &all {
            assert!(one.program.is_plain());
            let text = one.program.to_string();
            let again = text.parse::<rvv_ir::Program>().unwrap_or_else(|e| panic!("{e}\n{text}"));
            // Read back, the parameters are the first of a function's variables.
            assert_eq!(again.to_string(), text);
            assert_eq!(evaluate(&again, &Options::new(512)).unwrap().outputs, one.expected[0].outputs);
        }
        let list: Vec<_> = all.iter().map(|g| &g.program).collect();
        judge(&elf::lower(&list).unwrap(), &all, 512);
    }
}

#[test]
fn programs_are_made_of_what_their_policy_says() {
    fn count(body: &[Stmt], found: &mut dyn FnMut(&Stmt)) {
        for stmt in body {
            found(stmt);
            stmt.blocks().into_iter().for_each(|b| count(b, found));
        }
    }
    let share = |policy: &str, wanted: &dyn Fn(&Stmt) -> bool| {
        let all = programs(policy, 3, 60);
        let has = |g: &&Generated| {
            let mut found = false;
            g.program.functions.iter().for_each(|f| count(&f.body, &mut |s| found |= wanted(s)));
            found
        };
        all.iter().filter(has).count()
    };
    let breaks = |s: &Stmt| matches!(s, Stmt::Leave);
    assert!(share("search", &breaks) > 35 && share("stencils", &breaks) < 30);
    let loops = |s: &Stmt| matches!(s, Stmt::Loop(_));
    assert!(share("loops", &loops) > 50);
}

/// What clang makes of programs; nothing if there is none.
fn compiled(all: &[Generated], flags: &[&str]) -> Option<Vec<u8>> {
    let (clang, lld) = (variable("CLANG", "clang-19"), variable("LLD", "lld-19"));
    if !Command::new(&clang).arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("no {clang}: not tested");
        return None;
    }
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("rvvgen-loops-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let list: Vec<_> = all.iter().map(|g| &g.program).collect();
    let (source, file) = (folder.join("p.c"), folder.join("p.elf"));
    std::fs::write(&source, emit(&list, &COptions::default())).unwrap();
    let output = Command::new(&clang)
        .args(["--target=riscv64-linux-gnu", &format!("-march={}", march(&list)), "-mabi=lp64d"])
        .args(flags)
        .args(["-nostdlib", "-static", "-w", &format!("-fuse-ld={lld}"), "-o"])
        .args([&file, &source])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = std::fs::read(&file).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(file)
}

/// Without optimisation a compiler should do as it is told.
#[test]
fn compiled_without_optimisation_they_print_what_the_evaluator_says() {
    let all = programs("loops", 11, 60);
    if let Some(file) = compiled(&all, &["-O0", "-ffp-contract=off", "-fhosted"]) {
        judge(&file, &all, 128);
    }
}

/// Where compilers may contract, they do, and what they print is in the set.
#[test]
fn contracted_they_print_one_of_the_values_that_the_evaluator_allows() {
    let all = programs("contract", 11, 32);
    let values = |g: &Generated| g.expected[0].outputs.iter().map(|o| o.either.len()).sum::<usize>();
    let open = all.iter().map(values).sum::<usize>();
    assert!(open > 200, "{open} elements have several values");
    let Some(file) = compiled(&all, &["-O0", "-fhosted"]) else { return };
    judge(&file, &all, 128);
    // Each operation by itself is allowed, too; and they differ.
    let Some(strict) = compiled(&all, &["-O0", "-ffp-contract=off", "-fhosted"]) else { return };
    judge(&strict, &all, 128);
    assert_ne!(printed(&file, 128), printed(&strict, 128));
}

#[test]
fn vectors_of_known_length_print_what_the_evaluator_says() {
    let selection = Selection { extensions: vec![Extension::V], ..Selection::default() };
    let all = programs_of("fixed-vectors", 5, 12, &selection);
    let fixed = |g: &Generated| {
        g.program.functions.iter().chain([&g.program.main]).any(|f| f.vars.iter().any(|v| v.fixed))
    };
    let all: Vec<Generated> = all.into_iter().filter(fixed).collect();
    assert!(all.len() > 6, "{}", all.len());
    if let Some(file) = compiled(&all, &["-O0", "-ffreestanding", "-mrvv-vector-bits=zvl"]) {
        judge(&file, &all, 128);
    }
}
