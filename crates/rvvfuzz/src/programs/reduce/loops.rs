//! Steps for element statements: loops lose rounds, dimensions and pragmas, expressions lose operands,
//! functions lose parameters and buffers their types.

use super::edit::{Edit, apply};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::loops::{CExpr, Lane, Lanes, Loop, Pointers, Pragma, Target, variable};
use rvv_ir::tidy::{each_stmt, nodes, tidy};
use rvv_ir::{Arg, Compare, Expr, Function, Node, Program, Stmt, Var};

/// Loops become their first round, conditions one of their branches.
pub fn unwrap(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        match node.find(program) {
            Some(Stmt::Loop(of)) => {
                let mut once = vec![Stmt::Set { target: Target::Var(of.index), value: of.from.clone() }];
                once.extend(of.body.clone());
                found.push(Edit::replace(&node, once));
            }
            Some(Stmt::When { then, otherwise, .. }) => {
                found.push(Edit::replace(&node, then.clone()));
                found.push(Edit::replace(&node, otherwise.clone()));
            }
            _ => {}
        }
    }
    found
}

/// Loops that start at 0, step by 1, run less often, have no pragma.
pub fn plainer_loops(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Loop(of)) = node.find(program) else { continue };
        let function = program.function(node.function);
        let Some(elem) = variable(function.ty(of.index)) else { continue };
        let mut with = |change: &dyn Fn(&mut Loop)| {
            let mut plainer = of.clone();
            change(&mut plainer);
            if plainer != *of {
                found.push(Edit::replace(&node, vec![Stmt::Loop(plainer)]));
            }
        };
        let zero = CExpr::int(elem, 0);
        with(&|l| l.pragma = Pragma::None);
        with(&|l| l.step = l.step.signum());
        with(&|l| l.from = zero.clone());
        // Upwards from 0 by 1, as often.
        let number = |e: &CExpr| match e {
            CExpr::Literal(_, bits) => Some(i128::from(*bits as i64)),
            _ => None,
        };
        if let (Some(from), Some(to)) = (number(&of.from), number(&of.to)) {
            // Never more than there are: a loop that may grow is never done.
            let last = i128::from(matches!(of.compare, Compare::Le | Compare::Ge));
            let step = i128::from(of.step.abs().max(1));
            let most = ((to - from).abs() + last + step - 1) / step;
            let fewer = [most, most - 1, most * 3 / 4, most / 2, most / 4, 2, 1];
            for trips in fewer.into_iter().filter(|trips| (0..=most).contains(trips)) {
                with(&|l| {
                    (l.from, l.compare, l.to, l.step) =
                        (zero.clone(), Compare::Lt, CExpr::int(elem, trips as i64), 1);
                });
                with(&|l| {
                    if l.compare == Compare::Lt && l.step == 1 && trips < to - from {
                        l.to = CExpr::int(elem, (from + trips) as i64);
                    }
                });
            }
        }
    }
    found
}

/// An expression becomes one of its operands, or a literal; a conversion goes.
pub fn plainer_expressions(program: &Program) -> Vec<Edit> {
    let simpler = |node: &Node| simpler_statements(program, node, true);
    nodes(program).iter().flat_map(simpler).map(|(_, edit)| edit).collect()
}

/// The same expression of statements that are alike becomes one of its operands, or a literal, in all of them
/// at once: what vectorises a group wants its statements alike. The most that goes comes first.
pub fn plainer_groups(program: &Program) -> Vec<Program> {
    // Statements side by side that differ in literals only, by what they have in common.
    let mut groups: Vec<(Stmt, Vec<Node>)> = Vec::new();
    for node in nodes(program) {
        let Some(stmt @ Stmt::Set { .. }) = node.find(program) else { continue };
        let mut common = stmt.clone();
        for e in common.expressions_mut() {
            e.each_mut(&mut |e| {
                if let CExpr::Literal(_, bits) = e {
                    *bits = 0;
                }
            });
        }
        let beside = |other: &Node| {
            let parent = |n: &Node| n.path.split_last().map(|(_, parent)| parent.to_vec());
            other.function == node.function && parent(other) == parent(&node)
        };
        match groups.iter_mut().find(|(of, members)| *of == common && beside(&members[0])) {
            Some((_, members)) => members.push(node),
            None => groups.push((common, vec![node])),
        }
    }
    let mut found: Vec<(usize, Program)> = Vec::new();
    for members in groups.into_iter().map(|(_, members)| members).filter(|m| m.len() > 1) {
        // The ways to make a member simpler come in the same order for all, for literals are left out.
        let ways: Vec<Vec<(usize, Edit)>> =
            members.iter().map(|m| simpler_statements(program, m, false)).collect();
        let count = ways.iter().map(Vec::len).min().unwrap_or(0);
        for way in 0..count {
            let edits: Vec<&Edit> = ways.iter().map(|w| &w[way].1).collect();
            found.extend(apply(program, &edits).map(|p| (ways[0][way].0, p)));
        }
    }
    found.sort_by_key(|(left, _)| *left);
    found.into_iter().map(|(_, p)| p).filter(|p| p != program).collect()
}

/// An element statement with one expression in it made simpler, in each way there is, and how many
/// expressions are left.
fn simpler_statements(program: &Program, node: &Node, literals: bool) -> Vec<(usize, Edit)> {
    let Some(stmt) = node.find(program).filter(|s| s.is_element()) else { return Vec::new() };
    let function = program.function(node.function);
    let mut all: Vec<CExpr> = Vec::new();
    for e in stmt.clone().expressions_mut() {
        e.each_mut(&mut |e| all.push(e.clone()));
    }
    let mut found = Vec::new();
    for (number, old) in all.iter().enumerate() {
        if !literals && matches!(old, CExpr::Literal(..)) {
            continue;
        }
        for new in simpler(old, program, function) {
            let changed = with_expression(stmt, number, &new);
            let mut left = 0;
            changed.expressions().into_iter().for_each(|e| e.each(&mut |_| left += 1));
            found.push((left, Edit::replace(node, vec![changed])));
        }
    }
    found
}

/// A statement with another expression at a place, by its number in the order of the walk.
fn with_expression(stmt: &Stmt, number: usize, new: &CExpr) -> Stmt {
    let mut changed = stmt.clone();
    let mut at = 0;
    for e in changed.expressions_mut() {
        e.each_mut(&mut |e| {
            if at == number {
                *e = new.clone();
            }
            at += 1;
        });
    }
    changed
}

/// A vector becomes one of those that it is made of; half of the lanes go.
pub fn plainer_vectors(program: &Program) -> Vec<Edit> {
    fn within(lane: &Lane, program: &Program, found: &mut Vec<Lane>) {
        let elem = lane.elem(program);
        // The whole vector with this part of it replaced by something simpler.
        for (n, part) in lane.parts().into_iter().enumerate() {
            if part.elem(program) == elem {
                found.push(part.clone());
            }
            let mut simpler = Vec::new();
            within(part, program, &mut simpler);
            for new in simpler {
                let mut changed = lane.clone();
                if let Some(part) = changed.parts_mut().into_iter().nth(n) {
                    *part = new;
                }
                found.push(changed);
            }
        }
    }
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Lanes(of)) = node.find(program) else { continue };
        let mut values = Vec::new();
        within(&of.value, program, &mut values);
        for value in values {
            let fewer = Stmt::Lanes(Box::new(Lanes { value, ..(**of).clone() }));
            found.push(Edit::replace(&node, vec![fewer]));
        }
        let halved = Lanes { count: of.count / 2, ..(**of).clone() };
        found.push(Edit::replace(&node, vec![Stmt::Lanes(Box::new(halved))]));
    }
    found
}

/// What may stand in an expression's place, the simplest first.
fn simpler(e: &CExpr, program: &Program, function: &Function) -> Vec<CExpr> {
    let mut found = Vec::new();
    let ty = e.ty(program, function).ok();
    match e {
        CExpr::Literal(elem, bits) => {
            let ones = [CExpr::int(*elem, 0), CExpr::int(*elem, 1)];
            if !elem.is_float() && *bits > 1 {
                found.extend(ones);
            }
            if elem.bits() != 32 && !elem.is_float() && *bits < 128 {
                found.push(CExpr::int(Elem::I32, *bits as i64));
            }
            return found;
        }
        CExpr::Var(_) => {}
        CExpr::Load(_) => {}
        other => found.extend(other.parts().into_iter().cloned()),
    }
    match ty {
        Some(ty) if !ty.is_float() => found.extend([CExpr::int(ty, 0), CExpr::int(ty, 1)]),
        Some(ty) => {
            let one = match ty {
                Elem::F16 => 0x3c00,
                Elem::Bf16 => 0x3f80,
                Elem::F32 => 0x3f80_0000,
                _ => 0x3ff0_0000_0000_0000,
            };
            found.push(CExpr::Literal(ty, one));
        }
        None => {}
    }
    found
}

/// A function's parameter becomes the literal that it is called with, and goes.
pub fn literal_arguments(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for number in 0..program.functions.len() {
        for at in 0..program.functions[number].params.len() {
            found.extend(without_param(program, number, at));
        }
    }
    found
}

/// The value that parameter `at` of a function has in all its calls.
fn known_argument(program: &Program, function: usize, at: usize) -> Option<u64> {
    let mut known: Option<u64> = None;
    for node in nodes(program) {
        let Some(Stmt::Invoke { function: callee, args, .. }) = node.find(program) else { continue };
        if *callee != function {
            continue;
        }
        let value = match args.get(at)? {
            Arg::Expr(Expr::Const(value)) => *value,
            Arg::Var(var) if node.function == program.functions.len() => {
                program.params.iter().find(|p| p.0 == *var)?.1
            }
            _ => return None,
        };
        if known.is_some_and(|k| k != value) {
            return None;
        }
        known = Some(value);
    }
    known
}

fn without_param(program: &Program, number: usize, at: usize) -> Option<Program> {
    let value = known_argument(program, number, at)?;
    let mut changed = program.clone();
    let var = changed.functions[number].params.remove(at);
    let elem = variable(changed.functions[number].ty(var))?;
    let literal = CExpr::Literal(elem, value & (u64::MAX >> (64 - elem.bits())));
    let mut ok = true;
    let mut body = std::mem::take(&mut changed.functions[number].body);
    each_stmt(&mut body, &mut |s| {
        for e in s.expressions_mut() {
            e.each_mut(&mut |e| {
                if *e == CExpr::Var(var) {
                    *e = literal.clone();
                }
            });
        }
        ok &= s.is_element();
    });
    changed.functions[number].body = body;
    let functions = changed.functions.len();
    for n in 0..=functions {
        let caller = if n == functions { &mut changed.main } else { &mut changed.functions[n] };
        each_stmt(&mut caller.body, &mut |s| {
            if let Stmt::Invoke { function, args, .. } = s
                && *function == number
            {
                args.remove(at);
            }
        });
    }
    ok.then(|| tidy(changed)).flatten()
}

/// Vectors of fixed length become those without one: all at once, and each.
fn usual_vectors(program: &Program) -> Vec<Program> {
    let fixed = |n: usize| (0..program.function(n).vars.len()).map(move |v| (n, v));
    let all: Vec<(usize, usize)> = (0..=program.functions.len())
        .flat_map(fixed)
        .filter(|&(n, v)| program.function(n).vars[v].fixed)
        .collect();
    let without = |these: &[(usize, usize)]| {
        let mut plainer = program.clone();
        for &(n, v) in these {
            let function = plainer.functions.get_mut(n).unwrap_or(&mut plainer.main);
            function.vars[v].fixed = false;
        }
        plainer
    };
    let mut found: Vec<Program> = all.iter().map(|&one| without(&[one])).collect();
    if all.len() > 1 {
        found.insert(0, without(&all));
    }
    found
}

/// Buffers as globals; counters and temporaries as `int`; buffers of one dimension less.
pub fn plainer_declarations(program: &Program) -> Vec<Program> {
    let mut found = usual_vectors(program);
    if program.contract {
        found.push(Program { contract: false, ..program.clone() });
    }
    if !program.records.is_empty() {
        found.push(Program { records: Vec::new(), ..program.clone() });
    }
    for fields in program.records.iter().flatten() {
        let mut plainer = program.clone();
        plainer.records.iter_mut().for_each(|r| r.retain(|b| b != fields));
        plainer.records.retain(|r| r.len() > 1);
        found.push(plainer);
    }
    for number in 0..program.functions.len() {
        let function = &program.functions[number];
        if function.pointers != Pointers::Globals {
            for pointers in [Pointers::Globals, Pointers::Restrict] {
                let mut plainer = program.clone();
                plainer.functions[number].pointers = pointers;
                found.push(plainer);
            }
        }
        for var in (0..function.vars.len()).filter(|&v| !function.params.contains(&Var(v as u32))) {
            let integer = variable(function.vars[var].ty).is_some_and(|e| !e.is_float());
            if integer && function.vars[var].ty != Type::Scalar(Elem::I32) {
                let mut plainer = program.clone();
                plainer.functions[number].vars[var].ty = Type::Scalar(Elem::I32);
                found.push(plainer);
            }
        }
    }
    for (number, buffer) in program.buffers.iter().enumerate() {
        if let [.., last] = buffer.dims[..]
            && last > 1
        {
            let mut plainer = program.clone();
            plainer.buffers[number].dims.pop();
            plainer.buffers[number].len /= last;
            each_access(&mut plainer, number, &mut |index| {
                index.pop();
            });
            found.push(plainer);
        }
        if buffer.truths {
            let mut plainer = program.clone();
            plainer.buffers[number].truths = false;
            found.push(plainer);
            continue;
        }
        // All that it needs is a simpler type, if the fault stays.
        for elem in [Elem::I32, Elem::U8, Elem::F32] {
            let simpler =
                elem.is_float() == buffer.elem.is_float() && buffer.elem != elem && buffer.elem != Elem::I32;
            if simpler && elem != buffer.elem && program.is_plain() {
                let mut plainer = program.clone();
                plainer.buffers[number].elem = elem;
                found.push(plainer);
            }
        }
    }
    found.into_iter().filter_map(tidy).filter(|p| p != program).collect()
}

/// Calls `f` on the subscripts of every access to a buffer.
fn each_access(program: &mut Program, number: usize, f: &mut dyn FnMut(&mut Vec<CExpr>)) {
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        each_stmt(&mut function.body, &mut |s| {
            if let Stmt::Set { target: Target::Element(access), .. } = s
                && access.buffer == number
            {
                f(&mut access.index);
            }
            for e in s.expressions_mut() {
                e.each_mut(&mut |e| {
                    if let CExpr::Load(access) = e
                        && access.buffer == number
                    {
                        f(&mut access.index);
                    }
                });
            }
        });
    }
}

/// What is left of a program of element statements, in a few words: kinds of statements, operators, types.
pub fn describe(program: &Program) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut loops = 0;
    for node in nodes(program) {
        let Some(stmt) = node.find(program) else { continue };
        match stmt {
            Stmt::Loop(_) => loops += 1,
            Stmt::When { .. } => words.push("if".to_string()),
            Stmt::Leave => words.push("break".to_string()),
            Stmt::Lanes(_) => words.push("vector".to_string()),
            _ => {}
        }
        for e in stmt.expressions() {
            e.each(&mut |e| match e {
                CExpr::Binary(op, ..) => words.push(op.sign().to_string()),
                CExpr::Unary(..) => words.push("unary".to_string()),
                CExpr::Select(_) => words.push("?:".to_string()),
                CExpr::Builtin(builtin, _) => words.push(builtin.name().to_string()),
                _ => {}
            });
        }
    }
    let types = program.buffers.iter().map(|b| b.elem.short().to_string());
    let mut types: Vec<String> = types.collect();
    for list in [&mut words, &mut types] {
        list.sort_unstable();
        list.dedup();
    }
    format!("{loops} loops, {} on {}", words.join(" "), types.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::reduce::search::reduce_by;
    use crate::programs::reduce::simplify::STEPS;
    use rvv_oracle::{Options, evaluate};
    use rvvgen::{Plan, Selection, Settings, Weights, generate};
    use std::time::Duration;

    /// A fault that shows where four statements side by side shift the same way.
    #[test]
    fn statements_of_a_group_are_reduced_together() {
        let lane = |to: usize, of: usize| {
            format!(
                "  set out0[i32({to})] = ((((in0[i32({of})] > u8({of})) ? in0[i32({of})] : u8(9)) >> \
                 (in1[i32({to})] & i32(31))) + ((in0[i32({of})] != u8(3)) ? in1[i32({of})] : u8(1)))\n"
            )
        };
        let lanes: String = [(0, 1), (1, 0), (2, 3), (3, 2)].map(|(to, of)| lane(to, of)).concat();
        let text = format!(
            "rvv-ir 1\ndata in0: u8[4] = seed 0x1 bits\ndata in1: u8[4] = seed 0x2 bits\n\
             out out0: u8[4] = zero\n\nglobal fn f1() {{\n{lanes}}}\n\nmain {{\n  call f1()\n}}\n"
        );
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let shape = |s: &Stmt| -> String {
            let kept = |c: &char| !c.is_ascii_digit();
            let mut words = String::new();
            s.expressions().into_iter().for_each(|e| e.each(&mut |e| words += &format!("{e:?} ")));
            words.chars().filter(kept).collect()
        };
        let alike = |p: &Program| {
            let sets: Vec<Stmt> = nodes(p)
                .iter()
                .filter_map(|n| n.find(p))
                .filter(|s| matches!(s, Stmt::Set { .. }))
                .cloned()
                .collect();
            sets.len() == 4
                && sets.iter().all(|s| shape(s) == shape(&sets[0]))
                && shape(&sets[0]).contains("Shr")
                && evaluate(p, &Options::new(128)).is_ok()
        };
        assert!(alike(&program), "{program}");
        let mut shows = |candidates: &[Program]| candidates.iter().map(alike).collect();
        let time = Duration::from_secs(600);
        let reduced = reduce_by(&program, STEPS, 24, time, &mut shows, &|| false).unwrap();
        let text = reduced.program.to_string();
        assert!(!text.contains('?') && !text.contains('&') && !text.contains(" + "), "{text}");
    }

    /// A fault that shows wherever a program with a meaning multiplies in a loop.
    #[test]
    fn declarations_lose_fixed_lengths_and_contraction() {
        let text = "rvv-ir 1\ncontract\ndata a: i32[4] = zero\nout b: i32[4] = zero\n\n\
                    fn f(v: i32m1 fixed) -> i32m1 {\n  var w: i32m1\n  w = vneg_v_i32m1(v, 4)\n  return w\n}\n\n\
                    main {\n  var v: i32m1 fixed\n  v = vle32_v_i32m1(&a[0], 4)\n  v = call f(v)\n  \
                    vse32_v_i32m1(&b[0], v, 4)\n}\n";
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plainer: Vec<String> = plainer_declarations(&program).iter().map(Program::to_string).collect();
        let without = |words: &[&str]| words.iter().fold(program.to_string(), |t, w| t.replacen(w, "", 1));
        for words in [&[" fixed", " fixed"][..], &[" fixed"], &["contract\n"]] {
            assert!(plainer.contains(&without(words)), "{words:?}");
        }
    }

    #[test]
    fn loops_are_reduced_to_what_matters() {
        let multiplies = |p: &Program| {
            nodes(p).iter().filter_map(|n| n.find(p)).any(|s| {
                let Stmt::Loop(of) = s else { return false };
                of.body.iter().flat_map(Stmt::expressions).any(|e| {
                    let mut found = false;
                    e.each(&mut |e| found |= matches!(e, CExpr::Binary(rvv_ir::loops::Binary::Mul, ..)));
                    found
                })
            })
        };
        let weights = Weights::policy("loops").unwrap_or_default();
        let settings = Settings { weights, ..Settings::default() };
        let plan = Plan::new(1, &Selection::default(), 5, 128);
        let mut tried = 0;
        for k in 0..12 {
            let program = generate(&plan, k, &settings).unwrap().program;
            let mut shows = |candidates: &[Program]| {
                // Candidates that do not end are given up soon: there are many.
                let options = Options { fuel: 100_000, ..Options::new(128) };
                let good = |p: &Program| multiplies(p) && evaluate(p, &options).is_ok();
                candidates.iter().map(good).collect()
            };
            let time = Duration::from_secs(600);
            let Some(reduced) = reduce_by(&program, STEPS, 24, time, &mut shows, &|| false) else { continue };
            tried += 1;
            let left = &reduced.program;
            // The product, what it accumulates from, what is printed.
            assert!(reduced.complete && left.assignments().len() <= 3, "{left}");
            assert!(left.to_string().lines().count() <= 25, "{left}");
            let text = left.to_string();
            assert_eq!(text.parse::<Program>().unwrap().to_string(), text);
        }
        assert!(tried > 3, "{tried}");
    }
}
