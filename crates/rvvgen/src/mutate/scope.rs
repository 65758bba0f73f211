//! What is known at a place of a program: which variables hold a value there, which may not be assigned, and
//! which loops are around it.

use rvv_intrinsics::Type;
use rvv_ir::loops::{CExpr, Target};
use rvv_ir::{Arg, Expr, Function, Node, Program, Stmt, Var};
use std::collections::HashSet;

/// A loop around a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Around {
    /// A strip loop: its index, its vl, and its length.
    Strip(Var, Var, Expr),
    /// Any other loop.
    Other,
}

/// What is known before a statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Variables that hold a value on every way here, the last assigned last.
    pub live: Vec<Var>,
    /// Those that may not be assigned: counters, and what bounds a loop.
    pub locked: HashSet<Var>,
    /// The loops around the place, the outermost first.
    pub loops: Vec<Around>,
    /// Blocks around it.
    pub depth: usize,
}

/// What a statement assigns itself, its blocks not included.
pub(super) fn assigns(stmt: &Stmt) -> Vec<Var> {
    let refs = |args: &[Arg]| -> Vec<Var> {
        args.iter()
            .filter_map(|a| match a {
                Arg::Ref(var) => Some(*var),
                _ => None,
            })
            .collect()
    };
    match stmt {
        Stmt::Call(call) => call.dst.into_iter().chain(refs(&call.args)).collect(),
        Stmt::Invoke { dst, .. } => dst.iter().copied().collect(),
        Stmt::Copy { dst, .. } => vec![*dst],
        Stmt::Hide(var) => vec![*var],
        Stmt::Set { target: Target::Var(var), .. } => vec![*var],
        Stmt::Loop(of) => vec![of.index],
        _ => Vec::new(),
    }
}

/// What is surely assigned after a block.
fn sure(body: &[Stmt]) -> Vec<Var> {
    let mut found = Vec::new();
    for stmt in body {
        found.extend(assigns(stmt));
        if let Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } = stmt {
            let then: HashSet<Var> = sure(then).into_iter().collect();
            found.extend(sure(otherwise).into_iter().filter(|v| then.contains(v)));
        }
    }
    found
}

fn vars_of(expr: &Expr, found: &mut HashSet<Var>) {
    match expr {
        Expr::Const(_) => {}
        Expr::Var(var) => {
            found.insert(*var);
        }
        Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
            vars_of(a, found);
            vars_of(b, found);
        }
    }
}

/// Whether an argument reads only variables of these.
pub(super) fn reads_only(arg: &Arg, live: &HashSet<Var>) -> bool {
    let mut read = HashSet::new();
    match arg {
        Arg::Var(var) | Arg::Ref(var) => {
            read.insert(*var);
        }
        Arg::Expr(e) | Arg::Addr(_, e) => vars_of(e, &mut read),
    }
    read.is_subset(live)
}

impl Scope {
    /// What is known before the statement at this place, or at the end of its block.
    pub fn at(program: &Program, node: &Node) -> Scope {
        let function = program.function(node.function);
        let mut scope = Scope::default();
        match node.function < program.functions.len() {
            true => scope.live.extend(&function.params),
            false => scope.live.extend(program.params.iter().map(|p| p.0)),
        }
        scope.walk(&function.body, 0, &node.path);
        // Once each, at its last place.
        let mut seen = HashSet::new();
        let mut live: Vec<Var> = scope.live.iter().rev().copied().filter(|v| seen.insert(*v)).collect();
        live.reverse();
        scope.live = live;
        scope
    }

    fn walk(&mut self, body: &[Stmt], first: usize, path: &[usize]) {
        let Some((&step, rest)) = path.split_first() else { return };
        let at = step.saturating_sub(first).min(body.len());
        self.live.extend(sure(&body[..at]));
        let Some(stmt) = body.get(at).filter(|_| !rest.is_empty()) else { return };
        self.depth += 1;
        match stmt {
            Stmt::Strip { length, index, vl, body, .. } => {
                self.live.extend([*index, *vl]);
                self.locked.extend([*index, *vl]);
                vars_of(length, &mut self.locked);
                self.loops.push(Around::Strip(*index, *vl, length.clone()));
                self.walk(body, 0, rest);
            }
            Stmt::For { index, count, body } => {
                self.live.push(*index);
                self.locked.insert(*index);
                vars_of(count, &mut self.locked);
                self.loops.push(Around::Other);
                self.walk(body, 0, rest);
            }
            Stmt::Loop(of) => {
                self.live.push(of.index);
                self.locked.insert(of.index);
                of.to.each(&mut |e| {
                    if let CExpr::Var(var) = e {
                        self.locked.insert(*var);
                    }
                });
                self.loops.push(Around::Other);
                self.walk(&of.body, 0, rest);
            }
            Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
                match rest.first().is_some_and(|step| *step < then.len()) {
                    true => self.walk(then, 0, rest),
                    false => self.walk(otherwise, then.len(), rest),
                }
            }
            _ => {}
        }
    }

    /// Variables of a type, the last assigned last.
    pub fn of_type(&self, function: &Function, ty: Type) -> Vec<Var> {
        self.live.iter().copied().filter(|v| function.ty(*v) == ty).collect()
    }

    /// The same as a set.
    pub fn set(&self) -> HashSet<Var> {
        self.live.iter().copied().collect()
    }

    /// The strip loop around the place, if it is in one.
    pub fn strip(&self) -> Option<(Var, Var, &Expr)> {
        self.loops.iter().rev().find_map(|l| match l {
            Around::Strip(index, vl, length) => Some((*index, *vl, length)),
            Around::Other => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rvv-ir 1
data from: i32[9] = seed 0x1 bits
out to: i32[9] = zero
param n: size = 9

main {
  var a: i32m1
  var b: i32m1
  var at: size
  var vl: size
  var k: size
  strip e32m1 n as at, vl {
    a = vle32_v_i32m1(&from[at], vl)
    for 2 as k {
      b = vadd_vv_i32m1(a, a, vl)
    }
    if n == 9 {
      b = a
    } else {
      b = vadd_vv_i32m1(a, a, vl)
    }
    vse32_v_i32m1(&to[at], b, vl)
  }
}
";

    #[test]
    fn what_is_assigned_on_every_way_is_live() {
        let program: Program = TEXT.parse().unwrap();
        let main = &program.main;
        let names = |path: &[usize]| -> Vec<String> {
            let scope = Scope::at(&program, &Node { function: 0, path: path.to_vec() });
            scope.live.iter().map(|v| main.name(*v).to_string()).collect()
        };
        assert_eq!(names(&[0]), ["n"]);
        assert_eq!(names(&[0, 1]), ["n", "at", "vl", "a"]);
        assert_eq!(names(&[0, 1, 0]), ["n", "at", "vl", "a", "k"]);
        // A loop may not run.
        assert_eq!(names(&[0, 2]), ["n", "at", "vl", "a"]);
        // Both branches assign it.
        assert_eq!(names(&[0, 3]), ["n", "at", "vl", "a", "b"]);
        assert_eq!(names(&[1]), ["n"]);
        let scope = Scope::at(&program, &Node { function: 0, path: vec![0, 1, 0] });
        let locked: HashSet<&str> = scope.locked.iter().map(|v| main.name(*v)).collect();
        assert_eq!(locked, HashSet::from(["n", "at", "vl", "k"]));
        assert_eq!(scope.strip().map(|(index, vl, _)| (main.name(index), main.name(vl))), Some(("at", "vl")));
        assert_eq!(scope.depth, 2);
    }
}
