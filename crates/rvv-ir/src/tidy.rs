//! Makes a program that has lost parts whole again, and throws out what nothing needs.

use crate::loops::Target;
use crate::{Arg, Expr, Function, Node, Program, Stmt, Var};
use std::collections::HashSet;

/// Takes out statements that read what is no longer assigned, and declarations without use: buffers,
/// parameters, variables, functions. A result that nobody reads stays: compilers stumble over those too.
/// `None` if the program cannot be made whole.
pub fn tidy(mut program: Program) -> Option<Program> {
    while let Err(error) = program.check() {
        if !program.remove(&error.node) {
            return None;
        }
    }
    drop_functions(&mut program);
    drop_buffers(&mut program);
    drop_vars(&mut program);
    program.check().ok()?;
    Some(program)
}

/// Without anything that has no effect: results nobody reads, empty blocks.
pub fn without_dead(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    while drop_dead(&mut program) {}
    tidy(program)
}

/// Every statement's place, those inside blocks too, in the order of the text.
pub fn nodes(program: &Program) -> Vec<Node> {
    fn walk(body: &[Stmt], first: usize, node: &mut Node, found: &mut Vec<Node>) {
        for (i, stmt) in body.iter().enumerate() {
            node.path.push(first + i);
            found.push(node.clone());
            let mut first = 0;
            for block in stmt.blocks() {
                walk(block, first, node, found);
                first += block.len();
            }
            node.path.pop();
        }
    }
    let mut found = Vec::new();
    for function in 0..=program.functions.len() {
        let mut node = Node { function, path: Vec::new() };
        walk(&program.function(function).body, 0, &mut node, &mut found);
    }
    found
}

/// Takes several statements out, the last first, so that the places of the others stay.
pub fn without(program: &Program, nodes: &[Node]) -> Program {
    let mut program = program.clone();
    for node in nodes.iter().rev() {
        program.remove(node);
    }
    program
}

/// One round: results nobody reads, empty blocks.
fn drop_dead(program: &mut Program) -> bool {
    for number in 0..=program.functions.len() {
        let function = program.function(number);
        let mut read: HashSet<Var> = function.ret.into_iter().collect();
        for stmt in &function.body {
            read.extend(stmt.effects(program).reads);
        }
        for node in nodes(program).into_iter().filter(|n| n.function == number).rev() {
            let dead = match node.find(program) {
                Some(Stmt::Call(call)) => {
                    let refs = call.args.iter().any(|a| matches!(a, Arg::Ref(v) if read.contains(v)));
                    call.dst.is_some_and(|dst| !read.contains(&dst)) && !refs
                }
                Some(Stmt::Copy { dst, src }) => !read.contains(dst) || dst == src,
                Some(Stmt::Invoke { dst, function, .. }) => {
                    let pure = program.functions.get(*function).is_none_or(|f| {
                        f.body.iter().all(|s| {
                            let effects = s.effects(program);
                            effects.stores.is_empty() && !effects.sets_frm
                        })
                    });
                    pure && dst.is_none_or(|dst| !read.contains(&dst))
                }
                Some(Stmt::Strip { body, .. } | Stmt::For { body, .. }) => body.is_empty(),
                Some(Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. }) => {
                    then.is_empty() && otherwise.is_empty()
                }
                Some(Stmt::Set { target: Target::Var(var), .. }) => !read.contains(var),
                Some(Stmt::Loop(of)) => of.body.is_empty() && !is_read(program.function(number), of.index),
                Some(
                    Stmt::Put { .. } | Stmt::SetFrm(_) | Stmt::Set { .. } | Stmt::Leave | Stmt::Lanes(_),
                )
                | None => false,
                Some(Stmt::Break { .. } | Stmt::Hide(_) | Stmt::Scratch(_)) => false,
            };
            if dead && program.remove(&node) {
                return true;
            }
        }
    }
    false
}

/// Whether an expression of an element statement reads a variable, or the function returns it.
fn is_read(function: &Function, var: Var) -> bool {
    fn within(body: &[Stmt], var: Var) -> bool {
        body.iter().any(|s| {
            s.expressions().iter().any(|e| e.reads(var)) || s.blocks().into_iter().any(|b| within(b, var))
        })
    }
    function.ret == Some(var) || within(&function.body, var)
}

/// Calls a function on every statement, blocks inside too.
pub fn each_stmt(body: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        f(stmt);
        match stmt {
            Stmt::Strip { body, .. } | Stmt::For { body, .. } => each_stmt(body, f),
            Stmt::Loop(of) => each_stmt(&mut of.body, f),
            Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
                each_stmt(then, f);
                each_stmt(otherwise, f);
            }
            _ => {}
        }
    }
}

fn all_functions(program: &mut Program) -> impl Iterator<Item = &mut Function> {
    program.functions.iter_mut().chain([&mut program.main])
}

fn drop_functions(program: &mut Program) {
    let mut number = program.functions.len();
    while number > 0 {
        number -= 1;
        let mut used = false;
        for function in all_functions(program) {
            each_stmt(&mut function.body, &mut |s| {
                used |= matches!(s, Stmt::Invoke { function, .. } if *function == number)
            });
        }
        if !used {
            program.functions.remove(number);
            for function in all_functions(program) {
                each_stmt(&mut function.body, &mut |s| {
                    if let Stmt::Invoke { function, .. } = s
                        && *function > number
                    {
                        *function -= 1;
                    }
                });
            }
        }
    }
}

fn each_arg(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Arg)) {
    match stmt {
        Stmt::Call(call) => call.args.iter_mut().for_each(f),
        Stmt::Invoke { args, .. } => args.iter_mut().for_each(f),
        _ => {}
    }
}

fn drop_buffers(program: &mut Program) {
    let mut number = program.buffers.len();
    while number > 0 {
        number -= 1;
        let mut used = false;
        for function in all_functions(program) {
            each_stmt(&mut function.body, &mut |s| {
                used |= matches!(s, Stmt::Put { buffer, .. } if *buffer == number);
                s.element_buffers(&mut |buffer| used |= *buffer == number);
                each_arg(s, &mut |a| used |= matches!(a, Arg::Addr(buffer, _) if *buffer == number));
            });
        }
        if used {
            continue;
        }
        program.buffers.remove(number);
        program.forget_field(number);
        let shift = |buffer: &mut usize| *buffer -= usize::from(*buffer > number);
        for function in all_functions(program) {
            each_stmt(&mut function.body, &mut |s| {
                if let Stmt::Put { buffer, .. } = s {
                    shift(buffer);
                }
                s.element_buffers(&mut |buffer| shift(buffer));
                each_arg(s, &mut |a| {
                    if let Arg::Addr(buffer, _) = a {
                        shift(buffer);
                    }
                });
            });
        }
    }
}

/// Every variable a statement names, blocks inside not included.
fn each_var(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Var)) {
    fn expr(e: &mut Expr, f: &mut dyn FnMut(&mut Var)) {
        match e {
            Expr::Const(_) => {}
            Expr::Var(var) => f(var),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                expr(a, f);
                expr(b, f);
            }
        }
    }
    each_arg(stmt, &mut |a| match a {
        Arg::Var(var) | Arg::Ref(var) => f(var),
        Arg::Expr(e) | Arg::Addr(_, e) => expr(e, f),
    });
    match stmt {
        Stmt::Call(call) => call.dst.iter_mut().for_each(f),
        Stmt::Invoke { dst, .. } => dst.iter_mut().for_each(f),
        Stmt::Copy { dst, src } => {
            f(dst);
            f(src);
        }
        Stmt::Put { at, value, .. } => {
            expr(at, f);
            f(value);
        }
        Stmt::SetFrm(_) => {}
        Stmt::Strip { length, index, vl, .. } => {
            expr(length, f);
            f(index);
            f(vl);
        }
        Stmt::For { index, count, .. } => {
            f(index);
            expr(count, f);
        }
        Stmt::If { left, .. } | Stmt::Break { left, .. } => f(left),
        Stmt::Hide(var) => f(var),
        Stmt::Scratch(bytes) => expr(bytes, f),
        Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
            stmt.element_vars(f)
        }
    }
}

fn drop_vars(program: &mut Program) {
    for number in 0..=program.functions.len() {
        let is_main = number == program.functions.len();
        let mut params = std::mem::take(&mut program.params);
        let function = match program.functions.get_mut(number) {
            Some(function) => function,
            None => &mut program.main,
        };
        let mut used: HashSet<Var> = function.params.iter().copied().chain(function.ret).collect();
        each_stmt(&mut function.body, &mut |s| {
            each_var(s, &mut |v| {
                used.insert(*v);
            });
        });
        let mut renumbered = vec![None; function.vars.len()];
        let mut kept = Vec::new();
        for (i, decl) in std::mem::take(&mut function.vars).into_iter().enumerate() {
            if used.contains(&Var(i as u32)) {
                renumbered[i] = Some(Var(kept.len() as u32));
                kept.push(decl);
            }
        }
        function.vars = kept;
        let new = |v: &mut Var| *v = renumbered[v.index()].unwrap_or(*v);
        function.params.iter_mut().for_each(new);
        function.ret.iter_mut().for_each(new);
        each_stmt(&mut function.body, &mut |s| each_var(s, &mut |v| new(v)));
        if is_main {
            params.retain(|(v, _)| renumbered[v.index()].is_some());
            params.iter_mut().for_each(|(v, _)| new(v));
        }
        program.params = params;
    }
}

/// Puts an expression in the place of a variable wherever it is read.
pub fn substitute(stmt: &mut Stmt, var: Var, by: &Expr) {
    fn expr(e: &mut Expr, var: Var, by: &Expr) {
        match e {
            Expr::Const(_) => {}
            Expr::Var(v) => {
                if *v == var {
                    *e = by.clone();
                }
            }
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                expr(a, var, by);
                expr(b, var, by);
            }
        }
        fold(e);
    }
    each_arg(stmt, &mut |a| match a {
        Arg::Var(v) if *v == var => {
            *a = match by {
                Expr::Var(v) => Arg::Var(*v),
                by => Arg::Expr(by.clone()),
            }
        }
        Arg::Expr(e) | Arg::Addr(_, e) => expr(e, var, by),
        _ => {}
    });
    match stmt {
        Stmt::Put { at, .. } => expr(at, var, by),
        Stmt::Strip { length, .. } => expr(length, var, by),
        Stmt::For { count, .. } => expr(count, var, by),
        Stmt::Scratch(bytes) => expr(bytes, var, by),
        _ => {}
    }
}

/// Constants are added up.
fn fold(e: &mut Expr) {
    let value = match &*e {
        Expr::Add(a, b) => match (&**a, &**b) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.wrapping_add(*b)),
            (x, Expr::Const(0)) | (Expr::Const(0), x) => x.clone(),
            _ => return,
        },
        Expr::Sub(a, b) => match (&**a, &**b) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.wrapping_sub(*b)),
            (x, Expr::Const(0)) => x.clone(),
            _ => return,
        },
        Expr::Mul(a, b) => match (&**a, &**b) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.wrapping_mul(*b)),
            (_, Expr::Const(0)) | (Expr::Const(0), _) => Expr::Const(0),
            (x, Expr::Const(1)) | (Expr::Const(1), x) => x.clone(),
            _ => return,
        },
        _ => return,
    };
    *e = value;
}
