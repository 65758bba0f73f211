//! Mutants are valid, mean what the oracle says, come back from their text, and are the same each time.

use super::*;
use crate::{Plan, Selection, Weights, generate};
use rvv_ir::{Stmt, elf};
use rvv_oracle::{Options, VlChoice, evaluate};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::collections::BTreeMap;

fn settings(policies: &[&str]) -> Settings {
    let mut weights = Weights::default();
    policies.iter().for_each(|p| assert!(weights.apply(p), "{p}"));
    Settings { vlens: vec![128, 512], weights, ..Settings::default() }
}

fn programs(settings: &Settings, seed: u64, count: u64) -> Vec<Program> {
    let plan = Plan::new(seed, &Selection::default(), 10, settings.smallest_vlen());
    (0..count).map(|k| generate(&plan, k, settings).unwrap_or_else(|e| panic!("{e}")).program).collect()
}

/// All that must hold of a mutant.
fn examine(parent: &Parent, mutant: &Mutant) {
    let Generated { program, expected, .. } = &mutant.generated;
    let text = program.to_string();
    let what = mutant.mutator.name();
    program.check().unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    let read: Program = text.parse().unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    assert_eq!(read.to_string(), text, "{what}");
    assert!(read == *program, "{what}: what is read is numbered otherwise\n{text}");
    assert_eq!(expected.len(), parent.settings.vlens.len());
    for expected in expected {
        let again = evaluate(&read, &Options::new(expected.vlen));
        assert!(again.as_ref() == Ok(expected), "{what}\n{text}");
    }
    assert!(mutant.touched.iter().all(|n| n.find(program).is_some()), "{what}\n{text}");
    assert!(parent.bounds.exceeded(program).is_none());
    assert!(!is_same(program, parent.program), "{what}\n{text}");
}

/// Every mutator, on programs of intrinsics and of plain C: what it makes is valid, and it makes something.
#[test]
fn every_mutator_makes_valid_programs() {
    let kinds = [settings(&[]), settings(&["loops"]), settings(&["spill"])];
    let mut made: BTreeMap<Mutator, (u32, u32, u32)> = BTreeMap::new();
    for (n, settings) in kinds.iter().enumerate() {
        let programs = programs(settings, 21 + n as u64, 9);
        for (k, program) in programs.iter().enumerate() {
            let other = &programs[(k + 1) % programs.len()];
            let parent = Parent::new(program, settings).unwrap().with(other).unwrap();
            for &mutator in Mutator::ALL {
                let (tried, done, seen) = made.entry(mutator).or_default();
                *tried += 1;
                match parent.attempt(mutator, k as u64) {
                    Ok(mutant) => {
                        examine(&parent, &mutant);
                        *done += 1;
                        *seen += u32::from(mutant.visible);
                    }
                    Err(Miss::NoPlace) if program.is_plain() => *tried -= 1,
                    Err(Miss::Unreadable(e)) => panic!("{}: {e}", mutator.name()),
                    Err(_) => {}
                }
            }
        }
    }
    assert_eq!(made.len(), Mutator::ALL.len());
    for (mutator, (tried, done, seen)) in &made {
        // Of what a mutator could be tried on, most becomes another program, and of that a part is seen.
        assert!(done * 2 >= *tried && *done >= 6, "{}: {done} of {tried}", mutator.name());
        let dead = matches!(mutator, Mutator::Spelling | Mutator::Flag);
        assert!(dead || seen * 4 >= *done, "{}: {seen} of {done} are seen", mutator.name());
    }
}

#[test]
fn the_seed_decides_and_mutants_differ() {
    let settings = settings(&[]);
    let program = &programs(&settings, 3, 1)[0];
    let parent = Parent::new(program, &settings).unwrap();
    let all = |parent: &Parent| -> Vec<Mutant> { (0..20).map(|s| parent.mutate(s).unwrap()).collect() };
    let (one, two) = (all(&parent), all(&parent));
    assert_eq!(one, two);
    let mut texts: Vec<String> = one
        .iter()
        .map(|m| {
            let mut program = m.generated.program.clone();
            program.comment.clear();
            program.to_string()
        })
        .collect();
    texts.sort();
    texts.dedup();
    assert!(texts.len() >= 18, "{}", texts.len());
}

#[test]
fn a_mutation_is_near_the_focus() {
    let settings = settings(&[]);
    let program = &programs(&settings, 5, 1)[0];
    let all = nodes(program);
    let calls: Vec<&Node> =
        all.iter().filter(|n| matches!(n.find(program), Some(Stmt::Call(c)) if c.dst.is_some())).collect();
    let focus = calls[calls.len() / 2].clone();
    let plain = Parent::new(program, &settings).unwrap();
    let near = Parent { focus: vec![focus.clone()], ..plain.clone() };
    let effects = focus.find(program).unwrap().effects(program);
    // How many mutations replace a call that has to do with the one of the focus.
    let count = |parent: &Parent| {
        (0..40)
            .filter_map(|seed| parent.attempt(Mutator::Replace, seed).ok())
            .filter(|m| {
                m.touched.iter().any(|n| {
                    let Some(stmt) = n.find(&m.generated.program) else { return false };
                    let touches = stmt.effects(&m.generated.program);
                    touches.reads.iter().chain(&touches.writes).any(|v| {
                        let name = m.generated.program.function(n.function).name(*v);
                        let named = |w: &Var| program.main.name(*w) == name && !name.starts_with('s');
                        effects.reads.iter().chain(&effects.writes).any(named)
                    })
                })
            })
            .count()
    };
    let (anywhere, focused) = (count(&plain), count(&near));
    assert!(focused > 2 * anywhere.max(1), "{focused} near the focus, {anywhere} without one");
}

/// Mutants of mutants, near what changed last, run as machine code.
#[test]
fn mutants_print_on_the_emulator_what_the_oracle_says() {
    let kinds = [settings(&[]), settings(&["loops"]), settings(&["rounding"])];
    let mut runs = 0;
    for (n, settings) in kinds.iter().enumerate() {
        let programs = programs(settings, 31 + n as u64, 5);
        for (k, program) in programs.iter().enumerate() {
            let other = &programs[(k + 1) % programs.len()];
            let (mut program, mut focus) = (program.clone(), Vec::new());
            for seed in 0..20 {
                let made = {
                    let parent = Parent::new(&program, settings).unwrap().with(other).unwrap();
                    let parent = Parent { focus: std::mem::take(&mut focus), ..parent };
                    let mutant = parent.mutate(seed + 100 * k as u64).unwrap();
                    examine(&parent, &mutant);
                    mutant
                };
                assert_eq!(run(&made), None, "{}\n{}", made.mutator.name(), made.generated.program);
                runs += 1;
                (program, focus) = (made.generated.program, made.touched);
            }
        }
    }
    assert_eq!(runs, 300);
}

/// What goes wrong when a mutant runs.
fn run(mutant: &Mutant) -> Option<String> {
    let Generated { program, expected, .. } = &mutant.generated;
    let image = match elf::lower(&[program]) {
        Ok(elf) => Image::parse(elf).unwrap(),
        Err(e) => return Some(e.to_string()),
    };
    expected.iter().find_map(|expected| {
        let config = Config { vlen: expected.vlen, max_insns: Some(1 << 30), ..Config::default() };
        let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
        let mut machine = Machine::user(config, &image, options).unwrap();
        match machine.run(None) {
            Outcome::Exited(0) => {}
            other => return Some(format!("VLEN {}: {other:?}", expected.vlen)),
        }
        let wrong = expected.judge(program, machine.stdout());
        wrong.map(|wrong| format!("VLEN {}: {wrong:?}", expected.vlen))
    })
}

#[test]
fn mutants_have_a_meaning_under_every_choice_of_vl() {
    let settings = Settings { vls: VlChoice::ALL.to_vec(), ..settings(&[]) };
    for program in programs(&settings, 8, 6) {
        let parent = Parent::new(&program, &settings).unwrap();
        for seed in 0..10 {
            let Ok(mutant) = parent.mutate(seed) else { continue };
            for vl in VlChoice::ALL {
                let options = Options { vl, ..Options::new(512) };
                evaluate(&mutant.generated.program, &options).unwrap();
            }
        }
    }
}

/// Programs that are valid and like nothing that the generator writes.
#[test]
fn odd_programs_are_mutated_or_refused_and_nothing_hangs() {
    let settings = settings(&[]);
    let odd = [
        // Nothing at all.
        "rvv-ir 1\n\nmain {\n}\n".to_string(),
        "rvv-ir 1\nout to: u8[1] = zero\n\nmain {\n}\n".to_string(),
        // A loop that takes nearly all steps there are.
        "rvv-ir 1
out to: u64[1] = zero
param p: u64 = 0x1

main {
  var i: size
  for 300000 as i {
    put to[0] = p
  }
}
"
        .to_string(),
        // Loops in loops that never run, and one that runs for ever but for its `break`.
        "rvv-ir 1
out to: u64[1] = zero
param p: u64 = 0x1
param n: size = 18446744073709551615

main {
  var i: size
  var j: size
  for n as i {
    break if p == 1
    for 0 as j {
      put to[0] = p
    }
  }
  put to[0] = p
}
"
        .to_string(),
        // Names that mutators would take.
        "rvv-ir 1
out out0: u64[1] = zero
out g1: u64[1] = zero
param p1: u64 = 0x1

fn f1(s2: u64) -> u64 {
  return s2
}

main {
  var s3: u64
  s3 = call f1(p1)
  put out0[0] = s3
  put g1[0] = p1
}
"
        .to_string(),
        // One element, VLs of nothing.
        "rvv-ir 1\ndata from: i8[1] = seed 0x0 corner\nout to: i8[1] = zero\n\nmain {\n  var v: i8m8\n  \
         v = vle8_v_i8m8(&from[1], 0)\n  vse8_v_i8m8(&to[0], v, 0)\n}\n"
            .to_string(),
        // Everything in one expression.
        format!(
            "rvv-ir 1
out to: i64[2] = zero

global fn f() {{
  var i: i32
  loop i = i32(0) while < i32(2) step 1 {{
    set to[i] = {}i64(1){}
  }}
}}

main {{
  call f()
}}
",
            "(".repeat(30),
            " ^ i64(3))".repeat(30)
        ),
    ];
    for text in odd {
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let Ok(parent) = Parent::new(&program, &settings) else { continue };
        let parent = parent.with(&program).unwrap();
        for &mutator in Mutator::ALL {
            for seed in 0..4 {
                if let Ok(mutant) = parent.attempt(mutator, seed) {
                    examine(&parent, &mutant);
                }
            }
        }
    }
}

/// What no static rule forbids, and would yet make a compiler right to differ.
#[test]
fn what_compilers_are_told_is_true() {
    let text = "rvv-ir 1
out to: f32[4] = zero

fn f(s: f32) {
  put to[0] = s
}

fn g(s: f32) restrict {
  call f(s)
  put to[0] = s
}

fn h(s: f32) restrict {
  var i: i32
  put to[1] = s
  loop i = i32(0) while < i32(4) step 1 {
    set to[i] = (to[i] + f32(0x3f800000))
  }
}

main {
  call g(0x0)
}
";
    let mut program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let pragma = |program: &mut Program| match &mut program.functions[2].body[1] {
        Stmt::Loop(of) => std::mem::replace(&mut of.pragma, rvv_ir::loops::Pragma::Vectorize),
        other => panic!("{other:?}"),
    };
    pragma(&mut program);
    honest(&mut program);
    assert_eq!(pragma(&mut program), rvv_ir::loops::Pragma::None);
    use rvv_ir::loops::Pointers::{Globals, Plain, Restrict};
    let pointers: Vec<_> = program.functions.iter().map(|f| f.pointers).collect();
    // `f` stores to the buffer by its name while `g` has a pointer to it; `h` calls nobody.
    assert_eq!(pointers, [Globals, Plain, Restrict]);
}

#[test]
fn what_is_too_large_or_no_program_is_refused() {
    let settings = settings(&[]);
    let large: Program =
        "rvv-ir 1\nout to: u64[16777216] = zero\nparam p: u64 = 0x1\n\nmain {\n  put to[0] = p\n}\n"
            .parse()
            .unwrap();
    let refused = Parent::new(&large, &settings).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("bytes of buffers"), "{refused}");
    let wrong: Program =
        "rvv-ir 1\nout to: u64[1] = zero\n\nmain {\n  var s: u64\n  put to[0] = s\n}\n".parse().unwrap();
    let refused = Parent::new(&wrong, &settings).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("breaks a rule"), "{refused}");
}
