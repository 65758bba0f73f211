//! What generated programs are like.

use rvv_intrinsics::{Role, Sem, Type};
use rvv_ir::{Arg, BufferKind, Call, Expr, Program, Stmt, Var};
use rvv_oracle::{Options, VlChoice, evaluate};
use rvvgen::{
    Bias, Category, GenerateError, Generated, POLICIES, Plan, Scheduler, Selection, Settings, Weights,
    generate,
};
use std::collections::{BTreeMap, HashMap, HashSet};

fn settings() -> Settings {
    Settings { vlens: vec![128, 1024], ..Settings::default() }
}

fn programs(settings: &Settings, seed: u64, count: u64) -> Vec<Generated> {
    let plan = Plan::new(seed, &settings.selection, 10, settings.smallest_vlen());
    (0..count).map(|k| generate(&plan, k, settings).unwrap_or_else(|e| panic!("{e}"))).collect()
}

/// Every statement, those inside others after them.
fn statements(program: &Program) -> Vec<&Stmt> {
    fn walk<'p>(body: &'p [Stmt], found: &mut Vec<&'p Stmt>) {
        for stmt in body {
            found.push(stmt);
            match stmt {
                Stmt::Strip { body, .. } | Stmt::For { body, .. } => walk(body, found),
                Stmt::If { then, otherwise, .. } => {
                    walk(then, found);
                    walk(otherwise, found);
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    program.functions.iter().chain([&program.main]).for_each(|f| walk(&f.body, &mut found));
    found
}

#[test]
fn the_same_seed_gives_the_same_programs() {
    let settings = settings();
    let (one, two) = (programs(&settings, 3, 60), programs(&settings, 3, 60));
    assert_eq!(one, two);
    let other = programs(&settings, 4, 60);
    assert!(one.iter().zip(&other).all(|(a, b)| a.program != b.program));
    // For ever: a change of the generator that changes programs is a change of version.
    let text: String = one.iter().map(|g| g.program.to_string()).collect();
    assert_eq!(text, two.iter().map(|g| g.program.to_string()).collect::<String>());
}

#[test]
fn what_is_excepted_occurs_nowhere() {
    // What makes operands and uses of results by itself, whatever is asked for.
    for except in ["vcreate_*", "vget_*", "vset_*", "vreinterpret_*", "vlmul_*", "vundefined_*", "vmv_s_*"] {
        let selection = Selection { except: vec![except.to_string()], ..Selection::default() };
        for policy in ["default", "chain", "segments"] {
            let mut weights = Weights::default();
            assert!(weights.apply(policy), "{policy}");
            let settings = Settings { selection: selection.clone(), weights, ..settings() };
            for generated in programs(&settings, 17, 60) {
                for call in generated.program.calls() {
                    let name = &call.intrinsic.name;
                    assert!(selection.allows(call.intrinsic), "{except}, {policy}: {name}");
                }
            }
        }
    }
}

#[test]
fn every_scheduler_means_the_same() {
    let orders = Scheduler::ALL.map(|scheduler| programs(&Settings { scheduler, ..settings() }, 5, 150));
    let mut moved = 0;
    for k in 0..orders[0].len() {
        let unit = &orders[1][k];
        for order in &orders {
            let this = &order[k];
            moved += usize::from(this.program != unit.program);
            assert_eq!(this.expected, unit.expected, "program {k}");
            // Not because it was copied: the program itself says so.
            for expected in &this.expected {
                let again = evaluate(&this.program, &Options::new(expected.vlen));
                assert_eq!(again.as_ref(), Ok(expected), "program {k}\n{}", this.program);
            }
            let names = |p: &Program| {
                let mut names: Vec<_> = p.calls().iter().map(|c| c.intrinsic.id).collect();
                names.sort_unstable();
                names
            };
            assert_eq!(names(&this.program), names(&unit.program));
        }
    }
    assert!(moved > 200, "{moved}");
    // All loads first: after an operation of a block comes no load that could be before it.
    let first_loads = |p: &Program| {
        let body = statements(p);
        let loads = |c: &Call| c.intrinsic.param(Role::Base).is_some() && c.dst.is_some();
        let load = |s: &&&Stmt| matches!(s, Stmt::Call(c) if loads(c));
        body.iter().skip(2).take(6).filter(load).count()
    };
    let sum = |of: &[Generated]| of.iter().map(|g| first_loads(&g.program)).sum::<usize>();
    assert!(sum(&orders[0]) > sum(&orders[1]), "{} {}", sum(&orders[0]), sum(&orders[1]));
}

#[test]
fn programs_have_a_meaning_under_both_choices_of_vl() {
    let both = Settings { vls: VlChoice::ALL.to_vec(), ..settings() };
    for generated in programs(&both, 6, 100) {
        for vl in VlChoice::ALL {
            evaluate(&generated.program, &Options { vl, ..Options::new(256) }).unwrap();
        }
    }
}

#[test]
fn all_kinds_of_dependence_and_shapes_occur() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let utilities = Selection {
        names: vec!["vreinterpret*".into(), "vlmul*".into(), "vundefined*".into()],
        ..Selection::default()
    };
    let utilities = Settings { selection: utilities, ..settings() };
    for generated in programs(&settings(), 7, 300).into_iter().chain(programs(&utilities, 7, 40)) {
        let program = &generated.program;
        let mut see = |what| *seen.entry(what).or_default() += 1;
        let vector = |v: &Var| matches!(program.main.ty(*v), Type::Vector(_) | Type::Mask(_));
        let (mut read, mut written): (HashSet<Var>, HashSet<Var>) = Default::default();
        let mut scalars: HashSet<Var> = HashSet::new();
        for stmt in statements(program) {
            match stmt {
                Stmt::Strip { .. } => see("strip"),
                Stmt::For { count: Expr::Const(_), .. } => see("for, known count"),
                Stmt::For { .. } => see("for, unknown count"),
                Stmt::If { left, otherwise, .. } => {
                    see("if");
                    if scalars.contains(left) {
                        see("if on a result");
                    }
                    if otherwise.iter().any(|s| matches!(s, Stmt::Copy { .. })) {
                        see("another value instead");
                    }
                }
                Stmt::Invoke { .. } => see("function"),
                Stmt::Copy { .. } => see("copy"),
                Stmt::SetFrm(_) => see("setfrm"),
                Stmt::Put { .. } => see("put"),
                Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                    panic!("plain C in a program of intrinsics")
                }
                Stmt::Break { .. } => see("early exit"),
                Stmt::Hide(_) => see("inline assembly"),
                Stmt::Scratch(_) => see("memory of the stack"),
                Stmt::Call(call) => {
                    let intrinsic = call.intrinsic;
                    match (intrinsic.sem, intrinsic.ret) {
                        (Sem::LoadFf, _) => see("fault-only-first"),
                        (Sem::Undefined, _) => see("vundefined"),
                        (Sem::LmulExt, _) => see("vlmul_ext"),
                        (Sem::LmulTrunc, _) => see("vlmul_trunc"),
                        (Sem::Reinterpret, Type::Mask(_)) => see("vreinterpret to a mask"),
                        (Sem::Reinterpret, _)
                            if intrinsic.param(Role::Source).is_some_and(|p| p.ty.mask().is_some()) =>
                        {
                            see("vreinterpret from a mask");
                        }
                        (Sem::Create, _) => see("vcreate"),
                        (Sem::Get, _) => see("vget"),
                        (Sem::Set, _) => see("vset"),
                        (Sem::Load, Type::Vector(v)) if v.nf > 1 => see("segment load"),
                        _ => {}
                    }
                    if matches!(intrinsic.sem, Sem::Mcpop | Sem::Mfirst | Sem::MvScalar) {
                        scalars.extend(call.dst);
                    }
                }
            }
            if matches!(stmt, Stmt::Call(_)) {
                let effects = stmt.effects(program);
                for var in effects.reads.iter().filter(|v| v.index() < program.main.vars.len() && vector(v)) {
                    if written.contains(var) {
                        see("read after write");
                    }
                    if !read.insert(*var) {
                        see("read after read");
                    }
                }
                for var in effects.writes.iter().filter(|v| v.index() < program.main.vars.len() && vector(v))
                {
                    if read.contains(var) {
                        see("write after read");
                    }
                    if !written.insert(*var) {
                        see("write after write");
                    }
                }
            }
        }
    }
    for what in [
        "read after read",
        "read after write",
        "write after read",
        "write after write",
        "strip",
        "for, known count",
        "for, unknown count",
        "if",
        "if on a result",
        "another value instead",
        "function",
        "copy",
        "setfrm",
        "put",
        "early exit",
        "inline assembly",
        "memory of the stack",
        "fault-only-first",
        "vundefined",
        "vlmul_ext",
        "vlmul_trunc",
        "vreinterpret to a mask",
        "vreinterpret from a mask",
        "vcreate",
        "vget",
        "vset",
        "segment load",
    ] {
        assert!(seen.get(what).is_some_and(|n| *n >= 3), "{what}: {seen:?}");
    }
}

/// What can be counted in a program, by name.
fn measures(generated: &Generated) -> HashMap<&'static str, usize> {
    let program = &generated.program;
    let all = statements(program);
    let calls = program.calls();
    let count = |f: &dyn Fn(&&&Stmt) -> bool| all.iter().filter(f).count();
    let arg = |c: &Call, role| c.intrinsic.position(role).map(|i| c.args[i].clone());
    let mut assigned: HashMap<Var, usize> = HashMap::new();
    program
        .main
        .body
        .iter()
        .flat_map(|s| s.effects(program).writes)
        .for_each(|v| *assigned.entry(v).or_default() += 1);
    let value = |a: Option<Arg>| match a {
        Some(Arg::Expr(Expr::Const(c))) => Some(c),
        Some(Arg::Var(v)) => program.params.iter().find(|p| p.0 == v).map(|p| p.1),
        _ => None,
    };
    let strides: Vec<u64> = calls.iter().filter_map(|c| value(arg(c, Role::Stride))).collect();
    let mut stored: HashMap<usize, usize> = HashMap::new();
    let mut loaded: HashMap<usize, usize> = HashMap::new();
    let mut seen: HashSet<String> = HashSet::new();
    for call in &calls {
        // What both ways of a branch do is one access.
        let is_news = seen.insert(format!("{} {:?}", call.intrinsic.name, call.args));
        if let Some(Arg::Addr(buffer, _)) = arg(call, Role::Base).filter(|_| is_news) {
            let to = if call.dst.is_none() { &mut stored } else { &mut loaded };
            *to.entry(buffer).or_default() += 1;
        }
    }
    // Loaded before the first loop, and assigned in it.
    let at = program.main.body.iter().position(|s| matches!(s, Stmt::Strip { .. } | Stmt::For { .. }));
    let (before, rest) = program.main.body.split_at(at.unwrap_or(program.main.body.len()));
    let set: Vec<Var> = before
        .iter()
        .filter_map(|s| match s {
            Stmt::Call(c) if c.intrinsic.sem == Sem::Load => c.dst,
            _ => None,
        })
        .collect();
    let carried = rest.iter().flat_map(|s| s.effects(program).writes).filter(|v| set.contains(v)).count();
    HashMap::from([
        ("shapes", count(&|s| matches!(s, Stmt::Invoke { .. } | Stmt::If { .. } | Stmt::For { .. }))),
        ("setfrm", count(&|s| matches!(s, Stmt::SetFrm(_)))),
        ("barriers", count(&|s| matches!(s, Stmt::Hide(_) | Stmt::Scratch(_)))),
        ("copies", count(&|s| matches!(s, Stmt::Copy { .. }))),
        ("overwritten", assigned.values().filter(|n| **n > 1).count()),
        (
            "shortened",
            calls.iter().filter(|c| matches!(arg(c, Role::Vl), Some(Arg::Expr(Expr::Sub(..))))).count(),
        ),
        ("odd strides", strides.iter().filter(|s| **s == 0 || **s >> 63 == 1).count()),
        ("shared", stored.values().chain(loaded.values()).filter(|n| **n > 1).count()),
        (
            "compares",
            calls
                .iter()
                .filter(|c| {
                    matches!(c.intrinsic.sem, Sem::Eq | Sem::Ne | Sem::Lt | Sem::Le | Sem::Gt | Sem::Ge)
                })
                .count(),
        ),
        ("params", program.params.len()),
        ("constants", program.buffers.iter().filter(|b| b.kind == BufferKind::Const).count()),
        ("tuples", program.main.vars.iter().filter(|v| v.ty.vector().is_some_and(|t| t.nf > 1)).count()),
        (
            "loads",
            calls.iter().filter(|c| c.dst.is_some() && c.intrinsic.param(Role::Base).is_some()).count(),
        ),
        ("carried", carried),
        (
            "fixed",
            program.functions.iter().chain([&program.main]).flat_map(|f| &f.vars).filter(|v| v.fixed).count(),
        ),
        ("reductions", calls.iter().filter(|c| c.intrinsic.family.ends_with("_vs")).count()),
        (
            "permutations",
            calls
                .iter()
                .filter(|c| {
                    matches!(
                        c.intrinsic.sem,
                        Sem::Slideup | Sem::Slidedown | Sem::Slide1up | Sem::Slide1down | Sem::Gather
                    )
                })
                .count(),
        ),
        ("elements", calls.iter().filter(|c| c.intrinsic.sem == Sem::MvElement0).count()),
        (
            "reshaped",
            calls
                .iter()
                .filter(|c| matches!(c.intrinsic.sem, Sem::LmulExt | Sem::LmulTrunc | Sem::Reinterpret))
                .count(),
        ),
    ])
}

fn total(policy: &str) -> HashMap<&'static str, usize> {
    let weights = Weights::policy(policy).unwrap();
    let mut sum = HashMap::new();
    for generated in programs(&Settings { weights, ..settings() }, 8, 60) {
        for (name, n) in measures(&generated) {
            *sum.entry(name).or_default() += n;
        }
    }
    sum
}

#[test]
fn policies_do_what_they_say() {
    let default = total("default");
    let more = |policy: &str, what: &str, factor: f64| {
        let (this, usual) = (total(policy)[what], default[what]);
        assert!(this as f64 > factor * usual as f64, "{policy}: {what} {this}, by default {usual}");
    };
    let none = |policy: &str, what: &[&str]| {
        let sum = total(policy);
        what.iter().for_each(|w| assert_eq!(sum[w], 0, "{policy}: {w}"));
    };
    none("plain", &["shapes", "setfrm", "shortened", "carried"]);
    more("rounding", "setfrm", 3.0);
    more("spill", "copies", 3.0);
    more("masks", "compares", 1.2);
    more("tails", "shortened", 3.0);
    more("strides", "odd strides", 1.5);
    more("overlap", "shared", 2.0);
    more("opaque", "params", 1.5);
    none("opaque", &["constants"]);
    more("fold", "constants", 3.0);
    more("control", "shapes", 2.0);
    more("carry", "carried", 2.0);
    more("barriers", "barriers", 3.0);
    more("segments", "tuples", 1.5);
    more("reductions", "reductions", 3.0);
    more("permutations", "permutations", 3.0);
    more("shapes", "reshaped", 3.0);
    more("elements", "elements", 3.0);
    more("fixed-vectors", "fixed", 3.0);
    let (chain, usual) = (total("chain"), &default);
    assert!(chain["loads"] < usual["loads"], "{} {}", chain["loads"], usual["loads"]);
    // None is forgotten here.
    // Those of plain C are in `loops`; twins, every pair and human have their tests beside them.
    let others = |bias: Bias| matches!(bias, Bias::Loops | Bias::Twins | Bias::EveryPair | Bias::Human);
    let of_intrinsics = POLICIES.iter().filter(|(.., changes)| !changes.iter().any(|c| others(c.0)));
    assert_eq!(of_intrinsics.count(), 21);
}

#[test]
fn policies_name_what_they_change_once() {
    for (name, what, changes) in POLICIES {
        assert!(!what.is_empty());
        let biases: HashSet<Bias> = changes.iter().map(|c| c.0).collect();
        assert_eq!(biases.len(), changes.len(), "{name}");
    }
    for bias in Bias::ALL {
        assert_eq!(Bias::from_name(bias.name()), Some(*bias));
        assert!(!bias.description().is_empty());
    }
}

#[test]
fn a_file_of_weights_is_read_or_refused() {
    let mut weights = Weights::default();
    weights.read("reuse = 0.5\nbranch = 1 # all\n").unwrap();
    assert_eq!((weights.reuse, weights.branch), (0.5, 1.0));
    let error = weights.read("resue = 0.5").unwrap_err().to_string();
    assert!(error.contains("`resue`") && error.contains("reuse"), "{error}");
    for wrong in ["reuse = 2", "reuse = -0.1", "reuse = \"much\"", "reuse", "reuse = nan", "[reuse]"] {
        assert!(weights.read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn silly_settings_are_no_reason_to_panic() {
    let default = Settings::default();
    let plan = |ops, vlen| Plan::new(9, &Selection::default(), ops, vlen);
    for len in [0, 1, 1000] {
        let settings = Settings { len: len.into(), vlens: vec![128], ..default.clone() };
        (0..20).for_each(|k| drop(generate(&plan(10, 128), k, &settings).unwrap()));
    }
    for vlens in [vec![64], vec![65536], vec![], vec![1024, 128, 128]] {
        let settings = Settings { vlens, ..default.clone() };
        (0..5).for_each(|k| drop(generate(&plan(10, settings.smallest_vlen()), k, &settings).unwrap()));
    }
    let settings = Settings { vlens: vec![128], ..default.clone() };
    for k in 0..10 {
        generate(&plan(0, 128), k, &settings).unwrap();
    }
    generate(&plan(1000, 128), 0, &settings).unwrap();
    generate(&plan(10, 128), u64::MAX, &settings).unwrap();
    let all = |weight| {
        let mut weights = Weights::default();
        Bias::ALL.iter().for_each(|b| weights.set(*b, weight));
        weights
    };
    for weights in [all(0.0), all(1.0), all(f64::NAN)] {
        let settings = Settings { weights, ..settings.clone() };
        (0..20).for_each(|k| drop(generate(&plan(10, 128), k, &settings).unwrap()));
    }
    for selection in [
        Selection { names: vec!["nothing".into()], ..Selection::default() },
        Selection { categories: vec![], ..Selection::default() },
        Selection { ratios: vec![3], ..Selection::default() },
    ] {
        let plan = Plan::new(1, &selection, 10, 128);
        assert!(plan.is_empty());
        let settings = Settings { selection, ..settings.clone() };
        assert_eq!(generate(&plan, 0, &settings), Err(GenerateError::NothingSelected(128)));
    }
}

#[test]
fn a_selection_is_kept_to() {
    let selection = Selection {
        names: vec!["vfw*_rm".into()],
        categories: vec![Category::Explicit],
        ..Selection::default()
    };
    let plan = Plan::new(1, &selection, 10, 128);
    assert!(plan.len() > 50, "{}", plan.len());
    for k in 0..plan.round() as u64 {
        for choice in plan.program(k).unwrap().into_iter().flat_map(|region| region.choices) {
            let name = &choice.intrinsic.name;
            assert!(name.starts_with("__riscv_vfw") && name.ends_with("_rm") && !choice.overloaded, "{name}");
        }
    }
}

#[test]
fn hardly_anything_has_to_be_taken_out_again() {
    let generated = programs(&settings(), 10, 400);
    let repairs: usize = generated.iter().map(|g| g.repairs).sum();
    let all: usize = generated.iter().map(|g| statements(&g.program).len()).sum();
    assert!(repairs * 2000 < all, "{repairs} repairs, {all} statements");
}
