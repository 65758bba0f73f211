//! Every intrinsic lowers, and the direct form does what the compiled form does.

use crate::support::*;
use rvv_intrinsics::{Extension, Intrinsic, Sem, Type};
use rvv_ir::Program;
use rvv_ir::{c, elf};
use rvv_isa::Ext;
use rvvsim::config::Agnostic;
use std::process::Command;

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

/// Settings of the comparison, for runs by hand: every how many-th intrinsic, from which on, the compiler's
/// flags, and whether to call by the overloaded name.
struct Sample {
    step: usize,
    from: usize,
    flags: Vec<String>,
    overloaded: bool,
}

impl Sample {
    fn new(step: usize, flags: &str) -> Sample {
        let env = |name: &str| std::env::var(format!("RVV_IR_{name}")).ok();
        let number = |name: &str| env(name).and_then(|s| s.parse().ok());
        let flags = env("FLAGS").unwrap_or_else(|| flags.to_owned());
        Sample {
            step: number("STEP").unwrap_or(step),
            from: number("FROM").unwrap_or(0),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
            overloaded: env("OVERLOADED").is_some(),
        }
    }
}

/// No element of the result is agnostic when vl is VLMAX, so that two correct forms print the same bytes.
fn fully_defined(i: &Intrinsic) -> bool {
    let one_element = matches!(i.ret, Type::Vector(_))
        && (i.sem.name().contains("red") || matches!(i.sem, Sem::MvElement0 | Sem::Compress));
    match i.ret {
        _ if i.sem == Sem::LmulExt => false,
        _ if one_element => i.policy.tail_undisturbed(),
        Type::Vector(_) | Type::Mask(_) => !i.is_masked() || i.policy.mask_undisturbed(),
        _ => true,
    }
}

/// Compares the two forms of a sample of an extension's intrinsics.
fn compare(extension: Extension, sample: &Sample) {
    let mut flags: Vec<&str> = sample.flags.iter().map(String::as_str).collect();
    if extension != Extension::V {
        // Up to clang 19 these are experimental.
        flags.push("-menable-experimental-extensions");
    }
    let version = Command::new(clang().unwrap()).arg("--version").output().unwrap().stdout;
    let clang_19 = String::from_utf8_lossy(&version).contains("version 19.");
    let programs: Vec<Program> = rvv_intrinsics::all()
        .iter()
        .filter(|i| i.extension == extension && fully_defined(i))
        .filter(|i| !sample.overloaded || i.overloaded.is_some())
        // clang has vfmv_v_f and vfmerge of bf16 only with the draft Zvfbfa.
        .filter(|i| i.extension != Extension::Bf16 || !i.requires().contains(&Ext::Zvfh))
        // clang (19 to 22) gives it a vd that is vs2, which is reserved.
        .filter(|i| i.sem != Sem::Sm3me)
        // clang 19 selects vsha2ch for it.
        .filter(|i| i.sem != Sem::Sha2cl || !clang_19)
        .skip(sample.from)
        .step_by(sample.step)
        .map(|i| minimal(i, sample.overloaded))
        .collect();
    let mut different = Vec::new();
    for batch in programs.chunks(100) {
        different.extend(differences(batch, &flags, Agnostic::Ones));
    }
    assert!(different.is_empty(), "{} of {}: {different:?}", different.len(), programs.len());
    println!("{} programs of {} agree", programs.len(), extension.name());
}

#[test]
fn direct_and_compiled_forms_agree() {
    match clang() {
        Some(_) => compare(Extension::V, &Sample::new(307, "-O0")),
        None => println!("direct_and_compiled_forms_agree: skipped, no clang-19 and no $CLANG"),
    }
}

#[test]
fn direct_and_compiled_forms_of_crypto_agree() {
    match clang() {
        Some(_) => compare(Extension::Crypto, &Sample::new(37, "-O2")),
        None => println!("direct_and_compiled_forms_of_crypto_agree: skipped, no clang-19 and no $CLANG"),
    }
}

#[test]
fn direct_and_compiled_forms_of_bf16_agree() {
    // clang 19 has bf16, but not yet all of its intrinsics.
    let rgather = minimal(intrinsic("vrgather_vx_bf16m4_mu"), false);
    let source = c::emit(&[&rgather], &c::COptions::default());
    let march = c::march(&[&rgather]);
    match clang().filter(|clang| compile(clang, &source, &march, &["-O0"]).is_ok()) {
        Some(_) => compare(Extension::Bf16, &Sample::new(29, "-O2")),
        None => println!("direct_and_compiled_forms_of_bf16_agree: skipped, no clang that has all of bf16"),
    }
}
