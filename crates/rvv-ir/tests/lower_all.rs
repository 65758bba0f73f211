//! Every intrinsic lowers, and the direct form does what the compiled form does.

mod support;

use rvv_ir::Program;
use rvv_ir::{c, elf};
use rvvsim::config::Agnostic;
use support::*;

#[test]
fn every_intrinsic_lowers_to_machine_code() {
    let mut failures = Vec::new();
    for intrinsic in rvv_intrinsics::all() {
        let program = minimal(intrinsic, false);
        if let Err(e) = elf::lower(&[&program]) {
            failures.push(e.to_string());
        }
    }
    assert!(
        failures.is_empty(),
        "{} of them, the first: {:?}",
        failures.len(),
        &failures[..failures.len().min(20)]
    );
}

/// Compiles, runs both forms, and compares. Returns the names of those that differ.
fn differences(programs: &[Program], flags: &[&str], agnostic: Agnostic) -> Vec<String> {
    let clang = clang().unwrap();
    let refs: Vec<&Program> = programs.iter().collect();
    let direct = elf::lower(&refs).unwrap();
    let source = c::emit(&refs, &c::COptions::default());
    let march = c::march(&refs);
    let compiled = compile(&clang, &source, &march, flags).unwrap_or_else(|e| panic!("{march}: {e}"));
    let (direct_end, direct) = run(direct, VLEN, agnostic, &[]);
    let (compiled_end, compiled) = run(compiled, VLEN, agnostic, &[]);
    assert_eq!((direct_end.as_str(), compiled_end.as_str()), ("exit 0", "exit 0"));
    assert_eq!(direct.len(), compiled.len());
    let mut different = Vec::new();
    let mut from = 0;
    for program in programs {
        let size: usize = program.outputs().map(|(_, b)| b.bytes()).sum();
        if direct[from..from + size] != compiled[from..from + size] {
            different.push(program.comment[0].clone());
        }
        from += size;
    }
    different
}

#[test]
fn direct_and_compiled_forms_agree() {
    if clang().is_none() {
        println!("direct_and_compiled_forms_agree: skipped, no clang-19 and no $CLANG");
        return;
    }
    let step = std::env::var("RVV_IR_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(331);
    let flags: Vec<String> = std::env::var("RVV_IR_FLAGS")
        .map_or_else(|_| vec!["-O0".into()], |f| f.split(' ').map(str::to_owned).collect());
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let overloaded = std::env::var_os("RVV_IR_OVERLOADED").is_some();
    let from: usize = std::env::var("RVV_IR_FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let programs: Vec<Program> = rvv_intrinsics::all()
        .iter()
        .skip(from)
        .step_by(step)
        .filter(|i| !overloaded || i.overloaded.is_some())
        .map(|i| minimal(i, overloaded))
        .collect();
    let mut different = Vec::new();
    for batch in programs.chunks(100) {
        different.extend(differences(batch, &flags, Agnostic::Ones));
    }
    assert!(different.is_empty(), "{} of {}: {different:?}", different.len(), programs.len());
}
