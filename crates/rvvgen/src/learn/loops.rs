//! Shapes of loops.

use crate::csource::{Binary, Expr, ExprKind, Stmt, StmtKind, Unary};
use crate::learn::count::called;
use rvv_intrinsics::Sem;
use std::rc::Rc;

/// What a part of a function does that decides a loop's shape.
#[derive(Default)]
pub struct Seen {
    /// Calls of intrinsics outside of loops inside.
    pub calls: usize,
    /// Calls in loops inside.
    pub inner: usize,
    /// The lengths asked for with vsetvl: outside of loops inside.
    pub lengths: Vec<Expr>,
    /// Calls of vsetvlmax.
    pub whole: usize,
    /// Variables that are made smaller, and greater.
    pub down: Vec<Rc<str>>,
    pub up: Vec<Rc<str>>,
}

impl Seen {
    /// Of a statement.
    pub fn stmt(&mut self, stmt: &Stmt, inside: bool) {
        match &stmt.kind {
            StmtKind::Expr(e) => self.expr(e, inside),
            StmtKind::Declare(variables) => {
                variables.iter().filter_map(|v| v.init.as_ref()).for_each(|e| self.expr(e, inside));
            }
            StmtKind::If(c, then, otherwise) => {
                self.expr(c, inside);
                self.stmt(then, inside);
                otherwise.iter().for_each(|s| self.stmt(s, inside));
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.expr(c, true);
                self.stmt(body, true);
            }
            StmtKind::For(first, condition, step, body) => {
                first.iter().for_each(|s| self.stmt(s, inside));
                condition.iter().chain(step).for_each(|e| self.expr(e, true));
                self.stmt(body, true);
            }
            StmtKind::Switch(of, body) => {
                self.expr(of, inside);
                self.stmt(body, inside);
            }
            StmtKind::Return(e) => e.iter().for_each(|e| self.expr(e, inside)),
            StmtKind::Block(body) => body.iter().for_each(|s| self.stmt(s, inside)),
            StmtKind::Case(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Other(_) => {}
        }
    }

    /// Of an expression.
    pub fn expr(&mut self, e: &Expr, inside: bool) {
        match &e.kind {
            ExprKind::Call(_, args) => {
                if let Some(intrinsics) = called(e) {
                    *(if inside { &mut self.inner } else { &mut self.calls }) += 1;
                    let sem = intrinsics.sem;
                    if sem == Sem::Setvl && !inside {
                        self.lengths.extend(args.first().cloned());
                    }
                    self.whole += usize::from(sem == Sem::Setvlmax);
                }
            }
            ExprKind::Assign(Some(Binary::Sub), target, _) => self.down.extend(name(target)),
            ExprKind::Assign(Some(Binary::Add), target, _) => self.up.extend(name(target)),
            // `n = n - vl`
            ExprKind::Assign(None, target, value) => {
                if let ExprKind::Binary(op @ (Binary::Add | Binary::Sub), left, _) = &value.kind
                    && let (Some(to), Some(from)) = (name(target), name(left))
                    && to == from
                {
                    if *op == Binary::Sub { &mut self.down } else { &mut self.up }.push(to);
                }
            }
            ExprKind::Step(by, _, of) => {
                if *by < 0 { &mut self.down } else { &mut self.up }.extend(name(of));
            }
            _ => {}
        }
        e.parts().into_iter().for_each(|part| self.expr(part, inside));
    }
}

/// A variable by itself.
fn name(e: &Expr) -> Option<Rc<str>> {
    match &e.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Unary(Unary::Plus, of) | ExprKind::Cast(_, of) => name(of),
        _ => None,
    }
}

/// The shape of a loop with intrinsics; `remainder` says that the function calls vsetvl elsewhere.
pub fn shape(seen: &Seen, remainder: bool, vlmax: bool) -> Option<&'static str> {
    if seen.calls == 0 {
        return (seen.inner > 0).then_some("around others");
    }
    if !seen.lengths.is_empty() {
        let counts = |found: &[Rc<str>]| {
            seen.lengths.iter().any(|e| {
                let mut names = Vec::new();
                e.names(&mut names);
                names.iter().any(|n| found.contains(n))
            })
        };
        let difference = seen.lengths.iter().any(|e| e.has_difference());
        return Some(match () {
            () if counts(&seen.down) => "strip, counting down",
            () if counts(&seen.up) || difference => "strip, counting up",
            () => "strip, other",
        });
    }
    Some(match (vlmax, remainder) {
        (true, true) => "VLMAX, with a remainder",
        (true, false) => "VLMAX",
        _ => "vl from before",
    })
}

impl Expr {
    /// The expressions it is made of.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Unary(_, a)
            | ExprKind::Step(_, _, a)
            | ExprKind::Member(a, _)
            | ExprKind::Cast(_, a)
            | ExprKind::SizeOfValue(a) => vec![a],
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Comma(a, b) => vec![a, b],
            ExprKind::Choice(of) => of.iter().collect(),
            ExprKind::Call(f, args) => std::iter::once(&**f).chain(args).collect(),
            ExprKind::List(items) => items.iter().collect(),
            ExprKind::Integer(..)
            | ExprKind::Float(..)
            | ExprKind::Text
            | ExprKind::Name(_)
            | ExprKind::SizeOf(_)
            | ExprKind::Block(_) => Vec::new(),
        }
    }

    /// All names in it.
    pub fn names(&self, found: &mut Vec<Rc<str>>) {
        if let ExprKind::Name(name) = &self.kind {
            found.push(name.clone());
        }
        self.parts().into_iter().for_each(|part| part.names(found));
    }

    fn has_difference(&self) -> bool {
        matches!(self.kind, ExprKind::Binary(Binary::Sub, ..))
            || self.parts().into_iter().any(Expr::has_difference)
    }
}
