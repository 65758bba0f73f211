//! A program while it is being changed, and what mutators choose from.

use super::scope::Scope;
use crate::follow::Followed;
use crate::generate::Settings;
use crate::rng::Rng;
use rvv_intrinsics::{Elem, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::tidy::nodes;
use rvv_ir::{Buffer, BufferKind, Expr, Function, Node, Program, Stmt, Var, put_elem};
use std::collections::HashSet;

/// Places that are tried for one mutation.
const PLACES: usize = 24;
/// How often a place near the focus is preferred.
const NEAR: f64 = 0.85;

/// A program while it is being changed.
pub(super) struct Draft<'a> {
    /// The program; what is followed is what was touched.
    pub at: Followed,
    pub rng: Rng,
    /// The program that statements are taken from.
    pub other: Option<&'a Program>,
    pub settings: &'a Settings,
    /// Places where a mutation is preferred.
    pub near: HashSet<Node>,
    names: usize,
}

impl<'a> Draft<'a> {
    pub fn new(
        program: &Program,
        other: Option<&'a Program>,
        focus: &[Node],
        settings: &'a Settings,
        rng: Rng,
    ) -> Draft<'a> {
        let near = near(program, focus);
        Draft { at: Followed::new(program.clone()), rng, other, settings, near, names: 0 }
    }

    pub fn program(&self) -> &Program {
        &self.at.program
    }

    pub fn function(&self, node: &Node) -> &Function {
        self.at.program.function(node.function)
    }

    pub fn function_mut(&mut self, number: usize) -> &mut Function {
        match self.at.program.functions.get_mut(number) {
            Some(function) => function,
            None => &mut self.at.program.main,
        }
    }

    pub fn is_main(&self, node: &Node) -> bool {
        node.function >= self.at.program.functions.len()
    }

    pub fn stmt(&self, node: &Node) -> Option<&Stmt> {
        node.find(&self.at.program)
    }

    pub fn scope(&self, node: &Node) -> Scope {
        Scope::at(&self.at.program, node)
    }

    /// Notes that a statement is not what it was, and gives it to be changed.
    pub fn touch(&mut self, node: &Node) -> Option<&mut Stmt> {
        self.at.follow(node.clone());
        self.at.program.find_mut(node)
    }

    /// The statements for which `fits` holds, one after the other in a random order, those near the focus
    /// first most of the time, until `f` has made something of one.
    pub fn somewhere(
        &mut self,
        fits: impl Fn(&Stmt) -> bool,
        mut f: impl FnMut(&mut Self, &Node) -> Option<()>,
    ) -> Option<()> {
        let mut all: Vec<Node> = nodes(self.program());
        all.retain(|n| self.stmt(n).is_some_and(&fits));
        self.rng.shuffle(&mut all);
        if !self.near.is_empty() && self.rng.chance(NEAR) {
            // A stable sort: the order within both parts stays random.
            all.sort_by_key(|n| !self.near.contains(n));
        }
        all.truncate(PLACES);
        all.iter().find_map(|node| f(self, node))
    }

    /// A name that nothing has yet.
    pub fn name(&mut self, stem: &str) -> String {
        let program = &self.at.program;
        let taken = |name: &str| {
            let vars = |f: &Function| f.vars.iter().any(|v| v.name == name);
            program.buffers.iter().any(|b| b.name == name)
                || program.functions.iter().any(|f| f.name == name || vars(f))
                || vars(&program.main)
        };
        let mut number = self.names.max(program.main.vars.len());
        while taken(&format!("{stem}{number}")) {
            number += 1;
        }
        self.names = number + 1;
        format!("{stem}{number}")
    }

    /// A new variable of a function.
    pub fn var(&mut self, function: usize, ty: Type) -> Var {
        let stem = match ty {
            Type::Vector(v) if v.nf > 1 => "t",
            Type::Vector(_) => "v",
            Type::Mask(_) => "m",
            _ => "s",
        };
        let name = self.name(stem);
        self.function_mut(function).var(name, ty)
    }

    /// A variable of `main` whose value the compiler cannot see.
    pub fn param(&mut self, ty: Type, value: u64) -> Var {
        let name = self.name("p");
        let program = &mut self.at.program;
        let var = program.main.var(name, ty);
        program.params.push((var, value));
        var
    }

    pub fn buffer(&mut self, kind: BufferKind, elem: Elem, len: usize, init: Init) -> usize {
        let name = self.name(if kind == BufferKind::Out { "out" } else { "in" });
        let buffers = &mut self.at.program.buffers;
        buffers.push(Buffer { name, elem, truths: false, len: len.max(1), dims: Vec::new(), kind, init });
        buffers.len() - 1
    }

    /// What an expression is, if it is a literal or one of the program's parameters.
    pub fn known(&self, node: &Node, expr: &Expr) -> Option<u64> {
        let both = |a: &Expr, b: &Expr| Some((self.known(node, a)?, self.known(node, b)?));
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Var(var) if self.is_main(node) => {
                self.program().params.iter().find(|(v, _)| v == var).map(|(_, value)| *value)
            }
            Expr::Var(_) => None,
            Expr::Add(a, b) => both(a, b).map(|(a, b)| a.wrapping_add(b)),
            Expr::Sub(a, b) => both(a, b).map(|(a, b)| a.wrapping_sub(b)),
            Expr::Mul(a, b) => both(a, b).map(|(a, b)| a.wrapping_mul(b)),
        }
    }

    /// A number that the compiler sees or, in `main`, does not.
    pub fn number(&mut self, node: &Node, value: u64) -> Expr {
        match self.is_main(node) && self.rng.below(2) == 0 {
            true => Expr::Var(self.param(Type::Size, value)),
            false => Expr::Const(value),
        }
    }

    /// Bits of a scalar worth trying.
    pub fn bits(&mut self, elem: Elem) -> u64 {
        let kinds = [Distribution::Corner, Distribution::Mix, Distribution::Small];
        let kind = *self.rng.pick(&kinds).unwrap_or(&Distribution::Mix);
        kind.draw(elem, self.rng.data())
    }

    /// An integer that a branch may look at, and its width: one that is in scope, or a new parameter of
    /// `main`.
    pub fn decider(&mut self, node: &Node) -> Option<(Var, Elem)> {
        let function = self.function(node);
        let integer = |v: &Var| put_elem(function.ty(*v)).filter(|e| !e.is_float()).map(|e| (*v, e));
        let found: Vec<(Var, Elem)> = self.scope(node).live.iter().filter_map(integer).collect();
        if self.is_main(node) && (found.is_empty() || self.rng.below(2) == 0) {
            let elem = *self.rng.pick(&[Elem::I32, Elem::U8, Elem::U64])?;
            let value = self.bits(elem);
            return Some((self.param(Type::Scalar(elem), value), elem));
        }
        self.rng.pick(&found).copied()
    }
}

/// The statements of the focus, and those that define what they read or read what they define.
fn near(program: &Program, focus: &[Node]) -> HashSet<Node> {
    let mut near: HashSet<Node> = HashSet::new();
    let mut vars: HashSet<(usize, Var)> = HashSet::new();
    for node in focus {
        let Some(stmt) = node.find(program) else { continue };
        near.insert(node.clone());
        let effects = stmt.effects(program);
        // What is in a block does not make all that the block touches interesting.
        if stmt.blocks().is_empty() {
            vars.extend(effects.reads.iter().chain(&effects.writes).map(|v| (node.function, *v)));
        }
    }
    if near.is_empty() {
        return near;
    }
    // Lengths and indices are read by everything.
    vars.retain(|(function, var)| {
        let function = program.function(*function);
        function.vars.get(var.index()).is_some_and(|v| v.ty != Type::Size)
    });
    for node in nodes(program) {
        let Some(stmt) = node.find(program).filter(|s| s.blocks().is_empty()) else { continue };
        let effects = stmt.effects(program);
        if effects.reads.iter().chain(&effects.writes).any(|v| vars.contains(&(node.function, *v))) {
            near.insert(node);
        }
    }
    near
}
