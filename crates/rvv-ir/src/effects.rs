//! What a statement reads and writes: for schedulers, which may swap those that do not touch, and for
//! reduction.

use crate::loops::{CExpr, Target};
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
    /// Decides whether what follows is done at all: it may leave the loop it is in.
    pub leaves: bool,
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
            || self.leaves
            || other.leaves
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

    /// The body of a loop: whoever leaves it does not leave what is around it.
    fn looped(&mut self, program: &Program, body: &[Stmt], seen: &mut HashSet<usize>) {
        let leaves = self.leaves;
        self.all(program, body, seen);
        self.leaves = leaves;
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
                self.looped(program, body, seen);
            }
            Stmt::For { index, count, body } => {
                self.expr(count);
                self.writes.push(*index);
                self.looped(program, body, seen);
            }
            Stmt::If { left, then, otherwise, .. } => {
                self.reads.push(*left);
                self.all(program, then, seen);
                self.all(program, otherwise, seen);
            }
            Stmt::Break { left, .. } => {
                self.reads.push(*left);
                self.leaves = true;
            }
            Stmt::Hide(var) => {
                self.reads.push(*var);
                self.writes.push(*var);
            }
            Stmt::Scratch(bytes) => self.expr(bytes),
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                let leaves = self.leaves;
                self.element(stmt);
                stmt.blocks().into_iter().for_each(|block| self.all(program, block, seen));
                if let Stmt::Loop(_) = stmt {
                    self.leaves = leaves;
                }
            }
        }
    }

    /// An element statement, its blocks not included.
    fn element(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { target: Target::Var(var), .. } => self.writes.push(*var),
            Stmt::Set { target: Target::Element(access), .. } => self.stores.push(access.buffer),
            // The step reads it.
            Stmt::Loop(of) => {
                self.writes.push(of.index);
                self.reads.push(of.index);
            }
            Stmt::Leave => self.leaves = true,
            Stmt::Lanes(of) => {
                self.stores.push(of.buffer);
                of.value.clone().buffers_mut(&mut |b| self.loads.push(*b));
            }
            _ => {}
        }
        for e in stmt.expressions() {
            e.each(&mut |e| match e {
                CExpr::Var(var) => self.reads.push(*var),
                CExpr::Load(access) => self.loads.push(access.buffer),
                _ => {}
            });
        }
    }
}

fn each_var_of_expr(expr: &mut Expr, f: &mut dyn FnMut(&mut Var)) {
    match expr {
        Expr::Const(_) => {}
        Expr::Var(var) => f(var),
        Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
            each_var_of_expr(a, f);
            each_var_of_expr(b, f);
        }
    }
}

impl Stmt {
    /// It without the blocks inside it.
    #[must_use]
    pub fn head(&self) -> Stmt {
        let mut head = self.clone();
        match &mut head {
            Stmt::Strip { body, .. } | Stmt::For { body, .. } => body.clear(),
            Stmt::Loop(of) => of.body.clear(),
            Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
                then.clear();
                otherwise.clear();
            }
            _ => {}
        }
        head
    }

    /// Calls a function on every variable in it, blocks inside included.
    pub fn each_var_mut(&mut self, f: &mut dyn FnMut(&mut Var)) {
        fn arg(arg: &mut Arg, f: &mut dyn FnMut(&mut Var)) {
            match arg {
                Arg::Var(var) | Arg::Ref(var) => f(var),
                Arg::Expr(e) | Arg::Addr(_, e) => each_var_of_expr(e, f),
            }
        }
        match self {
            Stmt::Call(call) => {
                call.args.iter_mut().for_each(|a| arg(a, f));
                call.dst.iter_mut().for_each(f);
            }
            Stmt::Invoke { dst, args, .. } => {
                args.iter_mut().for_each(|a| arg(a, f));
                dst.iter_mut().for_each(f);
            }
            Stmt::Copy { dst, src } => {
                f(src);
                f(dst);
            }
            Stmt::Put { at, value, .. } => {
                each_var_of_expr(at, f);
                f(value);
            }
            Stmt::SetFrm(_) => {}
            Stmt::Strip { length, index, vl, body, .. } => {
                each_var_of_expr(length, f);
                f(index);
                f(vl);
                body.iter_mut().for_each(|s| s.each_var_mut(f));
            }
            Stmt::For { index, count, body } => {
                each_var_of_expr(count, f);
                f(index);
                body.iter_mut().for_each(|s| s.each_var_mut(f));
            }
            Stmt::If { left, then, otherwise, .. } => {
                f(left);
                then.iter_mut().chain(otherwise).for_each(|s| s.each_var_mut(f));
            }
            Stmt::Break { left, .. } => f(left),
            Stmt::Hide(var) => f(var),
            Stmt::Scratch(bytes) => each_var_of_expr(bytes, f),
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                self.element_vars(f);
                match self {
                    Stmt::Loop(of) => of.body.iter_mut().for_each(|s| s.each_var_mut(f)),
                    Stmt::When { then, otherwise, .. } => {
                        then.iter_mut().chain(otherwise).for_each(|s| s.each_var_mut(f));
                    }
                    _ => {}
                }
            }
        }
    }

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
        self.gap_of(node).filter(|(body, at)| *at < body.len())
    }

    /// The same, or the end of a block.
    fn gap_of(&mut self, node: &Node) -> Option<(&mut Vec<Stmt>, usize)> {
        let (&first, rest) = node.path.split_first()?;
        let function = match self.functions.get_mut(node.function) {
            Some(function) => function,
            None => &mut self.main,
        };
        let (mut body, mut at) = (&mut function.body, first);
        for &step in rest {
            (body, at) = match body.get_mut(at)? {
                Stmt::Strip { body, .. } | Stmt::For { body, .. } => (body, step),
                Stmt::Loop(of) => (&mut of.body, step),
                // `else` is counted after `then`.
                Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
                    match step.checked_sub(then.len()) {
                        None => (then, step),
                        Some(step) => (otherwise, step),
                    }
                }
                _ => return None,
            };
        }
        (at <= body.len()).then_some((body, at))
    }

    /// Puts statements before the one at this place, or at the end of its block. False if there is no such
    /// place.
    pub fn insert(&mut self, before: &Node, these: Vec<Stmt>) -> bool {
        match self.gap_of(before) {
            Some((body, at)) => {
                body.splice(at..at, these);
                true
            }
            None => false,
        }
    }

    /// A statement to be changed, if the program has it.
    pub fn find_mut(&mut self, node: &Node) -> Option<&mut Stmt> {
        let (body, at) = self.block_of(node)?;
        body.get_mut(at)
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
                    Stmt::Loop(of) => uncall(&mut of.body, number),
                    Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => {
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
