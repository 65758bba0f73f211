//! Statements of one program put into another, with what they need: definitions, buffers, functions.

use super::draft::Draft;
use super::scope::assigns;
use rvv_intrinsics::Type;
use rvv_ir::tidy::each_stmt;
use rvv_ir::{Arg, Function, Node, Program, Stmt, Var};
use std::collections::{HashMap, HashSet};

/// Statements that are asked for; what they need comes with them.
const RUN: usize = 5;
/// Statements that come with them.
const MOST: usize = 60;

/// A run of statements of the other program's `main` comes into this one's, with what it reads.
pub(super) fn splice(draft: &mut Draft) -> Option<()> {
    let other = draft.other?;
    let kept = slice(draft, other)?;
    let mut body: Vec<Stmt> = kept.iter().map(|&i| other.main.body[i].clone()).collect();
    let functions = functions(draft, other, &mut body)?;
    let buffers = buffers(draft, other, &mut body, functions);
    let vars = vars(draft, other, &mut body);
    // Anywhere in `main`, but not in a loop: they have loops of their own.
    let main = draft.program().functions.len();
    let mut blocks: Vec<Node> = rvv_ir::tidy::nodes(draft.program());
    blocks.retain(|n| n.function == main && draft.scope(n).loops.is_empty());
    let end = Node { function: main, path: vec![draft.program().main.body.len()] };
    let focused: Vec<Node> = blocks.iter().filter(|n| draft.near.contains(n)).cloned().collect();
    let at = match draft.rng.below(8) {
        0 => end,
        1..5 if !focused.is_empty() => draft.rng.pick(&focused)?.clone(),
        _ => draft.rng.pick(&blocks).cloned().unwrap_or(end),
    };
    let count = body.len();
    draft.at.insert(&at, body).then_some(())?;
    link(draft, &at, count, &vars);
    share(draft, &buffers);
    Some(())
}

/// Which statements of the other's `main` are taken, by their places.
fn slice(draft: &mut Draft, other: &Program) -> Option<Vec<usize>> {
    let body = &other.main.body;
    let effects: Vec<_> = body.iter().map(|s| s.effects(other)).collect();
    let first = draft.rng.below(body.len().max(1));
    let count = 1 + draft.rng.below(RUN);
    let mut kept: HashSet<usize> = (first..body.len().min(first + count)).collect();
    let mut needed: Vec<Var> = kept.iter().flat_map(|&i| effects[i].reads.clone()).collect();
    let mut seen: HashSet<Var> = HashSet::new();
    while let Some(var) = needed.pop() {
        if !seen.insert(var) {
            continue;
        }
        for (i, effect) in effects.iter().enumerate().take(first) {
            if effect.writes.contains(&var) && kept.insert(i) {
                needed.extend(&effect.reads);
            }
        }
    }
    let mut kept: Vec<usize> = kept.into_iter().collect();
    kept.sort_unstable();
    (!kept.is_empty() && kept.len() <= MOST).then_some(kept)
}

/// Adds the functions that are called, and those that they call. Statements are given their new numbers;
/// returned are the numbers of the new ones.
fn functions(draft: &mut Draft, other: &Program, body: &mut [Stmt]) -> Option<Vec<usize>> {
    let mut called: Vec<usize> = Vec::new();
    let calls = |body: &[Stmt], called: &mut Vec<usize>| {
        each_stmt(&mut body.to_vec(), &mut |s| {
            if let Stmt::Invoke { function, .. } = s
                && !called.contains(function)
            {
                called.push(*function);
            }
        });
    };
    calls(body, &mut called);
    let mut done = 0;
    while let Some(&number) = called.get(done) {
        calls(&other.functions.get(number)?.body, &mut called);
        done += 1;
    }
    called.sort_unstable();
    // They come last: they call one another, and `main` calls them. The number of `main` changes.
    let old = draft.program().functions.len();
    draft.at.places.iter_mut().for_each(|p| p.function += if p.function == old { called.len() } else { 0 });
    let near: Vec<Node> = draft.near.drain().collect();
    draft.near.extend(near.into_iter().map(|mut n| {
        n.function += if n.function == old { called.len() } else { 0 };
        n
    }));
    let new: HashMap<usize, usize> = called.iter().enumerate().map(|(i, &n)| (n, old + i)).collect();
    let mut renumber = |s: &mut Stmt| {
        if let Stmt::Invoke { function, .. } = s {
            *function = new.get(function).copied().unwrap_or(*function);
        }
    };
    for &number in &called {
        let mut function: Function = other.functions[number].clone();
        function.name = draft.name("f");
        each_stmt(&mut function.body, &mut renumber);
        // Names of buffers and of functions are nobody else's.
        for i in 0..function.vars.len() {
            function.vars[i].name = draft.name("x");
        }
        draft.at.program.functions.push(function);
    }
    each_stmt(body, &mut renumber);
    Some((old..old + called.len()).collect())
}

/// Adds the buffers that are used; the new number of each old one.
fn buffers(
    draft: &mut Draft,
    other: &Program,
    body: &mut [Stmt],
    functions: Vec<usize>,
) -> HashMap<usize, usize> {
    let mut new: HashMap<usize, usize> = HashMap::new();
    let number = |draft: &mut Draft, old: usize, new: &mut HashMap<usize, usize>| -> usize {
        if let Some(number) = new.get(&old) {
            return *number;
        }
        let Some(buffer) = other.buffers.get(old) else { return old };
        let name = draft.name("b");
        draft.at.program.buffers.push(rvv_ir::Buffer { name, ..buffer.clone() });
        let number = draft.at.program.buffers.len() - 1;
        new.insert(old, number);
        number
    };
    let one = |draft: &mut Draft, s: &mut Stmt, new: &mut HashMap<usize, usize>| {
        if let Stmt::Put { buffer, .. } = s {
            *buffer = number(draft, *buffer, new);
        }
        s.element_buffers(&mut |b| *b = number(draft, *b, new));
        if let Stmt::Call(call) = s {
            for arg in &mut call.args {
                if let Arg::Addr(buffer, _) = arg {
                    *buffer = number(draft, *buffer, new);
                }
            }
        }
    };
    for function in functions {
        let mut inner = std::mem::take(&mut draft.at.program.functions[function].body);
        each_stmt(&mut inner, &mut |s| one(draft, s, &mut new));
        draft.at.program.functions[function].body = inner;
    }
    each_stmt(body, &mut |s| one(draft, s, &mut new));
    for fields in &other.records {
        let kept: Vec<usize> = fields.iter().filter_map(|b| new.get(b).copied()).collect();
        if kept.len() > 1 {
            draft.at.program.records.push(kept);
        }
    }
    new
}

/// Adds the variables that are named, parameters with their values; the new ones.
fn vars(draft: &mut Draft, other: &Program, body: &mut [Stmt]) -> Vec<Var> {
    let main = draft.program().functions.len();
    let mut new: HashMap<Var, Var> = HashMap::new();
    for stmt in body {
        stmt.each_var_mut(&mut |v| {
            let old = *v;
            *v = match new.get(&old) {
                Some(var) => *var,
                None => {
                    let decl = &other.main.vars[old.index()];
                    let var = match other.params.iter().find(|p| p.0 == old) {
                        Some((_, value)) => draft.param(decl.ty, *value),
                        None => draft.var(main, decl.ty),
                    };
                    draft.at.program.main.vars[var.index()].fixed = decl.fixed;
                    new.insert(old, var);
                    var
                }
            };
        });
    }
    let mut all: Vec<Var> = new.into_values().collect();
    all.sort_unstable();
    all
}

/// Data flows from one to the other: what was there is read by the new statements, or what they made by
/// those after them.
fn link(draft: &mut Draft, at: &Node, count: usize, new: &[Var]) {
    let Some((&first, block)) = at.path.split_last() else { return };
    let scope = draft.scope(at);
    let vector = |ty: Type| matches!(ty, Type::Vector(_) | Type::Mask(_));
    let mut places: Vec<(Node, usize, Var)> = Vec::new();
    let made: Vec<Var> = (first..first + count)
        .filter_map(|s| draft.stmt(&Node { function: at.function, path: [block, &[s]].concat() }))
        .flat_map(assigns)
        .filter(|v| new.contains(v))
        .collect();
    for node in rvv_ir::tidy::nodes(draft.program()) {
        let step = node.path.get(block.len()).copied().filter(|_| node.path.starts_with(block));
        let Some(step) = step.filter(|s| node.function == at.function && *s >= first) else { continue };
        let Some(Stmt::Call(call)) = draft.stmt(&node) else { continue };
        let from: &[Var] = if step < first + count { &scope.live } else { &made };
        for (i, arg) in call.args.iter().enumerate() {
            let Arg::Var(var) = arg else { continue };
            let ty = draft.function(at).ty(*var);
            let same =
                from.iter().rev().find(|v| vector(ty) && draft.function(at).ty(**v) == ty && *v != var);
            if let Some(value) = same {
                places.push((node.clone(), i, *value));
            }
        }
    }
    for _ in 0..1 + draft.rng.below(2) {
        let Some((node, i, value)) = draft.rng.pick(&places).cloned() else { return };
        if let Some(Stmt::Call(call)) = draft.touch(&node) {
            call.args[i] = Arg::Var(value);
        }
    }
}

/// A new input may be one of the old ones: memory that both touch.
fn share(draft: &mut Draft, new: &HashMap<usize, usize>) {
    let mut all: Vec<usize> = new.values().copied().collect();
    all.sort_unstable();
    if draft.rng.below(2) == 0 {
        return;
    }
    let Some(&from) = draft.rng.pick(&all) else { return };
    if let Some(to) = super::calls::other_buffer(draft, from).filter(|to| !all.contains(to))
        && draft.program().record_of(from).is_none()
    {
        let mut exchange = |s: &mut Stmt| {
            let mut give = |b: &mut usize| {
                if *b == from {
                    *b = to;
                }
            };
            if let Stmt::Put { buffer, .. } = s {
                give(buffer);
            }
            s.element_buffers(&mut give);
            if let Stmt::Call(call) = s {
                for arg in &mut call.args {
                    if let Arg::Addr(buffer, _) = arg {
                        give(buffer);
                    }
                }
            }
        };
        let program = &mut draft.at.program;
        for function in program.functions.iter_mut().chain([&mut program.main]) {
            each_stmt(&mut function.body, &mut exchange);
        }
    }
}
