//! What a statement reads and writes: for schedulers, which may swap those that do not touch, and for
//! reduction.

use crate::{Arg, Expr, Node, Program, Stmt, Var};
use rvv_intrinsics::{Role, Type};
use std::collections::HashSet;

/// What a statement reads and writes, blocks inside it included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Variables read.
    pub reads: Vec<Var>,
    /// Variables written.
    pub writes: Vec<Var>,
    /// Buffers read.
    pub loads: Vec<usize>,
    /// Buffers written.
    pub stores: Vec<usize>,
    /// Rounds by the dynamic rounding mode.
    pub reads_frm: bool,
    /// Sets it.
    pub sets_frm: bool,
}

impl Effects {
    /// Whether the two must stay in their order.
    pub fn conflicts(&self, other: &Effects) -> bool {
        fn meet<T: PartialEq>(a: &[T], b: &[T]) -> bool {
            a.iter().any(|x| b.contains(x))
        }
        meet(&self.writes, &other.writes)
            || meet(&self.writes, &other.reads)
            || meet(&self.reads, &other.writes)
            || meet(&self.stores, &other.stores)
            || meet(&self.stores, &other.loads)
            || meet(&self.loads, &other.stores)
            || (self.sets_frm && (other.reads_frm || other.sets_frm))
            || (self.reads_frm && other.sets_frm)
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) => {}
            Expr::Var(var) => self.reads.push(*var),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                self.expr(a);
                self.expr(b);
            }
        }
    }

    fn arg(&mut self, arg: &Arg, is_store: bool) {
        match arg {
            Arg::Var(var) => self.reads.push(*var),
            Arg::Expr(expr) => self.expr(expr),
            Arg::Addr(buffer, expr) => {
                self.expr(expr);
                if is_store { self.stores.push(*buffer) } else { self.loads.push(*buffer) }
            }
            Arg::Ref(var) => self.writes.push(*var),
        }
    }

    fn all(&mut self, program: &Program, body: &[Stmt], seen: &mut HashSet<usize>) {
        for stmt in body {
            self.stmt(program, stmt, seen);
        }
    }

    /// `seen` are the functions that have been looked into: what they do is noted already.
    fn stmt(&mut self, program: &Program, stmt: &Stmt, seen: &mut HashSet<usize>) {
        match stmt {
            Stmt::Call(call) => {
                let is_store = call.intrinsic.ret == Type::Void;
                call.args.iter().for_each(|arg| self.arg(arg, is_store));
                self.writes.extend(call.dst);
                self.reads_frm |= call.intrinsic.uses_frm() && call.intrinsic.param(Role::Frm).is_none();
            }
            Stmt::Invoke { dst, function, args } => {
                args.iter().for_each(|arg| self.arg(arg, false));
                self.writes.extend(*dst);
                if let Some(callee) = program.functions.get(*function).filter(|_| seen.insert(*function)) {
                    let mut inner = Effects::default();
                    inner.all(program, &callee.body, seen);
                    self.loads.extend(inner.loads);
                    self.stores.extend(inner.stores);
                    self.reads_frm |= inner.reads_frm;
                    self.sets_frm |= inner.sets_frm;
                }
            }
            Stmt::Copy { dst, src } => {
                self.reads.push(*src);
                self.writes.push(*dst);
            }
            Stmt::Put { buffer, at, value } => {
                self.expr(at);
                self.reads.push(*value);
                self.stores.push(*buffer);
            }
            Stmt::SetFrm(_) => self.sets_frm = true,
            Stmt::Strip { length, index, vl, body, .. } => {
                self.expr(length);
                self.writes.extend([*index, *vl]);
                self.all(program, body, seen);
            }
            Stmt::For { index, count, body } => {
                self.expr(count);
                self.writes.push(*index);
                self.all(program, body, seen);
            }
            Stmt::If { left, then, otherwise, .. } => {
                self.reads.push(*left);
                self.all(program, then, seen);
                self.all(program, otherwise, seen);
            }
        }
    }
}

impl Stmt {
    /// What it reads and writes.
    pub fn effects(&self, program: &Program) -> Effects {
        let mut effects = Effects::default();
        effects.stmt(program, self, &mut HashSet::new());
        effects
    }
}

impl Program {
    /// The block of a statement, and its place there.
    fn block_of(&mut self, node: &Node) -> Option<(&mut Vec<Stmt>, usize)> {
        let (&first, rest) = node.path.split_first()?;
        let function = match self.functions.get_mut(node.function) {
            Some(function) => function,
            None => &mut self.main,
        };
        let (mut body, mut at) = (&mut function.body, first);
        for &step in rest {
            (body, at) = match body.get_mut(at)? {
                Stmt::Strip { body, .. } | Stmt::For { body, .. } => (body, step),
                // `else` is counted after `then`.
                Stmt::If { then, otherwise, .. } => match step.checked_sub(then.len()) {
                    None => (then, step),
                    Some(step) => (otherwise, step),
                },
                _ => return None,
            };
        }
        (at < body.len()).then_some((body, at))
    }

    /// Takes a statement out. False if there is none at that place.
    pub fn remove(&mut self, node: &Node) -> bool {
        self.replace(node, Vec::new())
    }

    /// Puts others in a statement's place. False if there is none at that place.
    pub fn replace(&mut self, node: &Node, by: Vec<Stmt>) -> bool {
        match self.block_of(node) {
            Some((body, at)) => {
                body.splice(at..=at, by);
                true
            }
            None => false,
        }
    }

    /// Takes a function out, and the statements that call it. False if there is none of that number.
    pub fn remove_function(&mut self, number: usize) -> bool {
        fn uncall(body: &mut Vec<Stmt>, number: usize) {
            body.retain(|s| !matches!(s, Stmt::Invoke { function, .. } if *function == number));
            for stmt in body {
                match stmt {
                    Stmt::Invoke { function, .. } if *function > number => *function -= 1,
                    Stmt::Strip { body, .. } | Stmt::For { body, .. } => uncall(body, number),
                    Stmt::If { then, otherwise, .. } => {
                        uncall(then, number);
                        uncall(otherwise, number);
                    }
                    _ => {}
                }
            }
        }
        if number >= self.functions.len() {
            return false;
        }
        self.functions.remove(number);
        for function in &mut self.functions {
            uncall(&mut function.body, number);
        }
        uncall(&mut self.main.body, number);
        true
    }
}
