//! Mutations of control flow: statements come into a condition, a loop or a function, or out of one; what a
//! compiler may do with functions and variables.

use super::draft::Draft;
use super::loops::{is_loop, replace_counter};
use super::scope::assigns;
use rvv_intrinsics::{Elem, Type};
use rvv_ir::loops::{CExpr, Loop, Pointers, Pragma, Target};
use rvv_ir::tidy::{each_stmt, nodes};
use rvv_ir::{Arg, Compare, Expr, Function, Linkage, Node, Program, Stmt, Var, put_elem};
use std::collections::HashSet;

/// Blocks in each other: what is printed must be read again.
pub(super) const MOST_BLOCKS: usize = 12;
/// Statements that are wrapped.
const RUN: usize = 4;
/// Parameters of a new function.
const MOST_PARAMS: usize = 10;

/// A run of statements of one block, and what it has to do with the rest.
struct Run {
    first: Node,
    body: Vec<Stmt>,
    /// What it assigns and others name; what only it names stays inside.
    out: Vec<Var>,
    /// What it names and what was assigned before.
    inputs: Vec<Var>,
    /// It assigns for the first time what others read.
    makes: bool,
    /// It leaves a loop around it.
    leaves: bool,
}

fn run(draft: &mut Draft, node: &Node) -> Option<Run> {
    let (&at, block) = node.path.split_last()?;
    let count = 1 + draft.rng.below(RUN);
    let place = |step: usize| Node { function: node.function, path: [block, &[step]].concat() };
    let body: Vec<Stmt> = (at..at + count).map_while(|s| draft.stmt(&place(s)).cloned()).collect();
    let mut named: HashSet<Var> = HashSet::new();
    let mut written: Vec<Var> = Vec::new();
    for stmt in &body {
        stmt.clone().each_var_mut(&mut |v| {
            named.insert(*v);
        });
    }
    each_stmt(&mut body.clone(), &mut |s| {
        written.extend(assigns(s));
        match s {
            Stmt::Strip { index, vl, .. } => written.extend([*index, *vl]),
            Stmt::For { index, .. } => written.push(*index),
            _ => {}
        }
    });
    let function = draft.function(node);
    let mut outside: HashSet<Var> = function.ret.into_iter().chain(function.params.iter().copied()).collect();
    for other in nodes(draft.program()) {
        let within = other.path.len() > block.len()
            && other.path.starts_with(block)
            && (at..at + body.len()).contains(&other.path[block.len()]);
        if other.function != node.function || within {
            continue;
        }
        let Some(stmt) = draft.stmt(&other) else { continue };
        // Statements inside are places of their own.
        stmt.head().each_var_mut(&mut |v| {
            outside.insert(*v);
        });
    }
    written.sort_unstable();
    written.dedup();
    let before = draft.scope(node).set();
    let makes = written.iter().any(|v| !before.contains(v) && outside.contains(v));
    let out = written.iter().copied().filter(|v| outside.contains(v)).collect();
    let mut inputs: Vec<Var> = named.into_iter().filter(|v| before.contains(v)).collect();
    inputs.sort_unstable();
    let leaves = body.iter().any(|s| s.effects(draft.program()).leaves);
    Some(Run { first: node.clone(), body, out, inputs, makes, leaves })
}

impl Run {
    /// Puts a statement in the place of the run.
    fn become_(&self, draft: &mut Draft, by: Stmt) -> Option<()> {
        for _ in 1..self.body.len() {
            let mut next = self.first.clone();
            *next.path.last_mut()? += 1;
            draft.at.remove(&next);
        }
        draft.touch(&self.first)?;
        draft.at.replace(&self.first, vec![by]);
        draft.at.follow(self.first.clone());
        Some(())
    }
}

/// Statements come into a condition, a loop or a function.
pub(super) fn wrap(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |_| true,
        |draft, node| {
            (draft.scope(node).depth < MOST_BLOCKS).then_some(())?;
            let run = run(draft, node)?;
            match draft.rng.below(3) {
                0 => condition(draft, &run),
                1 => repeat(draft, &run),
                _ => outline(draft, &run),
            }
        },
    )
}

fn condition(draft: &mut Draft, run: &Run) -> Option<()> {
    let (left, elem) = draft.decider(&run.first)?;
    let compare = *draft.rng.pick(&[Compare::Eq, Compare::Ne, Compare::Lt, Compare::Ge])?;
    let right = draft.bits(elem);
    let then = run.body.clone();
    // What is made in one branch must be made in the other.
    let otherwise = if run.makes || draft.rng.below(3) == 0 { then.clone() } else { Vec::new() };
    run.become_(draft, Stmt::If { left, compare, right, then, otherwise })
}

fn repeat(draft: &mut Draft, run: &Run) -> Option<()> {
    (!run.makes && !run.leaves).then_some(())?;
    let body = run.body.clone();
    let times = [1, 2, 2, 3, 5][draft.rng.below(5)];
    if body.iter().all(Stmt::is_element) {
        let (ty, elem) = *draft.rng.pick(&[
            (Type::Scalar(Elem::I32), Elem::I32),
            (Type::Size, Elem::U64),
            (Type::Scalar(Elem::U8), Elem::U8),
        ])?;
        let index = draft.var(run.first.function, ty);
        let to = match draft.is_main(&run.first) && draft.rng.below(2) == 0 {
            true => CExpr::Var(draft.param(ty, times)),
            false => CExpr::int(elem, times as i64),
        };
        let from = CExpr::int(elem, 0);
        let of = Loop { index, from, compare: Compare::Lt, to, step: 1, pragma: Pragma::None, body };
        return run.become_(draft, Stmt::Loop(Box::new(of)));
    }
    let count = draft.number(&run.first, times);
    let index = draft.var(run.first.function, Type::Size);
    run.become_(draft, Stmt::For { index, count, body })
}

/// The statements become a function that is called.
fn outline(draft: &mut Draft, run: &Run) -> Option<()> {
    (!run.leaves && run.out.len() <= 1 && run.inputs.len() <= MOST_PARAMS).then_some(())?;
    let number = run.first.function;
    let caller = draft.program().function(number).clone();
    let float = |v: &Var| matches!(caller.ty(*v), Type::Scalar(e) if e.is_float());
    (!run.inputs.iter().chain(&run.out).any(float)).then_some(())?;
    let name = draft.name("g");
    let linkages = [Linkage::Local, Linkage::Inline, Linkage::Global];
    let ways = [Pointers::Globals, Pointers::Plain, Pointers::Restrict];
    let mut callee = Function {
        name,
        linkage: *draft.rng.pick(&linkages)?,
        pointers: *draft.rng.pick(&ways)?,
        ..Function::default()
    };
    // All of them in the order of the caller; what is not used goes when the program is tidied up.
    let mut numbers = vec![None; caller.vars.len()];
    let mut var = |callee: &mut Function, v: Var| {
        *numbers[v.index()].get_or_insert_with(|| {
            let decl = &caller.vars[v.index()];
            let inner = callee.var(decl.name.clone(), decl.ty);
            callee.vars[inner.index()].fixed = decl.fixed;
            inner
        })
    };
    callee.params = run.inputs.iter().map(|v| var(&mut callee, *v)).collect();
    let mut body = run.body.clone();
    for stmt in &mut body {
        stmt.each_var_mut(&mut |v| *v = var(&mut callee, *v));
    }
    callee.ret = run.out.first().map(|v| var(&mut callee, *v));
    callee.body = body;
    // Functions call only those before them: it comes before its caller.
    let program = &mut draft.at.program;
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        each_stmt(&mut function.body, &mut |s| {
            if let Stmt::Invoke { function, .. } = s {
                *function += usize::from(*function >= number);
            }
        });
    }
    program.functions.insert(number, callee);
    draft.at.places.iter_mut().for_each(|p| p.function += usize::from(p.function >= number));
    let args = run.inputs.iter().map(|v| Arg::Var(*v)).collect();
    let call = Stmt::Invoke { dst: run.out.first().copied(), function: number, args };
    let first = Node { function: number + 1, path: run.first.path.clone() };
    let moved = Run {
        first,
        body: run.body.clone(),
        out: Vec::new(),
        inputs: Vec::new(),
        makes: false,
        leaves: false,
    };
    for i in 0..run.body.len() {
        draft.at.follow(Node { function: number, path: vec![i] });
    }
    moved.become_(draft, call)
}

/// Statements come out of a condition, a loop or a function.
pub(super) fn unwrap(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| is_loop(s) || matches!(s, Stmt::If { .. } | Stmt::When { .. } | Stmt::Invoke { .. }),
        |draft, node| {
            let by = match draft.stmt(node)?.clone() {
                Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
                    if otherwise.is_empty() || draft.rng.below(2) == 0 { then } else { otherwise }
                }
                Stmt::For { index, mut body, .. } => {
                    let round = draft.rng.below(2) as u64;
                    replace_counter(
                        &mut body,
                        index,
                        Some(&Expr::Const(round)),
                        &CExpr::int(Elem::U64, round as i64),
                    );
                    body
                }
                Stmt::Strip { vtype, index, vl, mut body, .. } => {
                    // The first strip, of at most as many elements as the strip would have.
                    let most = u64::from(vtype.vlmax(draft.settings.smallest_vlen()));
                    let few = *draft.rng.pick(&[1, 2, 4, most])?;
                    replace_counter(&mut body, index, Some(&Expr::Const(0)), &CExpr::int(Elem::U64, 0));
                    let few = few.min(most);
                    replace_counter(
                        &mut body,
                        vl,
                        Some(&Expr::Const(few)),
                        &CExpr::int(Elem::U64, few as i64),
                    );
                    body
                }
                Stmt::Loop(of) => {
                    let set = Stmt::Set { target: Target::Var(of.index), value: of.from };
                    [vec![set], of.body].concat()
                }
                Stmt::Invoke { dst, function, args } => inline(draft, node, dst, function, &args)?,
                _ => return None,
            };
            let count = by.len();
            draft.touch(node)?;
            draft.at.replace(node, by);
            for i in 0..count {
                let mut place = node.clone();
                *place.path.last_mut()? += i;
                draft.at.follow(place);
            }
            Some(())
        },
    )
}

/// The body of a function in the place of its call.
fn inline(
    draft: &mut Draft,
    node: &Node,
    dst: Option<Var>,
    function: usize,
    args: &[Arg],
) -> Option<Vec<Stmt>> {
    let callee = draft.program().functions.get(function)?.clone();
    let fresh: Vec<Var> = callee
        .vars
        .iter()
        .map(|decl| {
            let var = draft.var(node.function, decl.ty);
            draft.function_mut(node.function).vars[var.index()].fixed = decl.fixed;
            var
        })
        .collect();
    let mut body = Vec::new();
    for (param, arg) in callee.params.iter().zip(args) {
        let inner = *fresh.get(param.index())?;
        body.push(match arg {
            Arg::Var(var) if draft.function(node).ty(*var) == callee.ty(*param) => {
                Stmt::Copy { dst: inner, src: *var }
            }
            Arg::Var(var) => Stmt::Set { target: Target::Var(inner), value: CExpr::Var(*var) },
            Arg::Expr(Expr::Const(bits)) => {
                let elem = put_elem(callee.ty(*param))?;
                Stmt::Set { target: Target::Var(inner), value: CExpr::Literal(elem, *bits) }
            }
            _ => return None,
        });
    }
    for stmt in callee.body {
        let mut stmt = stmt;
        stmt.each_var_mut(&mut |v| *v = fresh.get(v.index()).copied().unwrap_or(*v));
        body.push(stmt);
    }
    if let (Some(dst), Some(ret)) = (dst, callee.ret) {
        body.push(Stmt::Copy { dst, src: *fresh.get(ret.index())? });
    }
    Some(body)
}

/// What a compiler may do with a function or knows of a variable: who may call it, how it reaches memory, of
/// which length its vectors are, whether it sees a value.
pub(super) fn flag(draft: &mut Draft) -> Option<()> {
    let functions = draft.program().functions.len();
    match draft.rng.below(5) {
        0 if functions > 0 => {
            let all = [Linkage::Local, Linkage::Inline, Linkage::Global];
            let new = *draft.rng.pick(&all)?;
            let number = draft.rng.below(functions);
            let old = std::mem::replace(&mut draft.function_mut(number).linkage, new);
            follow_body(draft, number);
            (old != new).then_some(())
        }
        1 if functions > 0 => {
            let all = [Pointers::Globals, Pointers::Plain, Pointers::Restrict];
            let new = *draft.rng.pick(&all)?;
            let number = draft.rng.below(functions);
            let old = std::mem::replace(&mut draft.function_mut(number).pointers, new);
            follow_body(draft, number);
            (old != new).then_some(())
        }
        2 => fixed(draft).or_else(|| hide(draft)),
        3 => draft.somewhere(
            |_| true,
            |draft, node| {
                let bytes = [0, 16, 48, 100, 256, 1000, 4096][draft.rng.below(7)];
                let bytes = draft.number(node, bytes);
                draft.scope(node).loops.is_empty().then_some(())?;
                draft.at.insert(node, vec![Stmt::Scratch(bytes)]).then_some(())
            },
        ),
        _ => super::loops::pragma(draft).or_else(|| hide(draft)),
    }
}

/// Takes back `restrict` where it would be a lie: what a function calls reaches the same buffer by its name.
pub(super) fn honest_pointers(program: &mut Program) {
    // Functions call those before them.
    let mut by_name: Vec<bool> = Vec::new();
    for number in 0..program.functions.len() {
        let function = &program.functions[number];
        let mut calls = false;
        each_stmt(&mut function.body.clone(), &mut |s| {
            if let Stmt::Invoke { function, .. } = s {
                calls |= by_name.get(*function).copied().unwrap_or(false);
            }
        });
        let touches = function.pointers == Pointers::Globals
            && function.body.iter().any(|s| {
                let effects = s.effects(program);
                !effects.loads.is_empty() || !effects.stores.is_empty()
            });
        if calls && function.pointers == Pointers::Restrict {
            program.functions[number].pointers = Pointers::Plain;
        }
        by_name.push(calls || touches);
    }
}

fn follow_body(draft: &mut Draft, number: usize) {
    for i in 0..draft.program().function(number).body.len().min(8) {
        draft.at.follow(Node { function: number, path: vec![i] });
    }
}

/// The length of a vector variable is known, or is not.
fn fixed(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Call(_) | Stmt::Copy { .. }),
        |draft, node| {
            let var = *assigns(draft.stmt(node)?).first()?;
            let mut never = Vec::new();
            crate::generate::never_fixed(&draft.function(node).body, &mut never);
            let decl = draft.function_mut(node.function).vars.get_mut(var.index())?;
            (decl.may_be_fixed() && (decl.fixed || !never.contains(&var))).then_some(())?;
            decl.fixed = !decl.fixed;
            draft.touch(node)?;
            Some(())
        },
    )
}

/// The compiler forgets what it knows of a value.
fn hide(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |_| true,
        |draft, node| {
            let scope = draft.scope(node);
            let function = draft.function(node);
            let fits = |v: &Var| {
                let tuple = matches!(function.ty(*v), Type::Vector(t) if t.nf > 1);
                !tuple && !scope.locked.contains(v)
            };
            let all: Vec<Var> = scope.live.iter().copied().filter(fits).collect();
            let var = *draft.rng.pick(&all)?;
            draft.at.insert(node, vec![Stmt::Hide(var)]).then_some(())
        },
    )
}
