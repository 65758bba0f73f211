//! Walks over expressions: what they read, and their parts as places that reduction can change.

use super::{Access, CExpr, Lanes, Target};
use crate::{Stmt, Var};

impl CExpr {
    /// Its operands.
    pub fn parts(&self) -> Vec<&CExpr> {
        match self {
            CExpr::Literal(..) | CExpr::Var(_) => Vec::new(),
            CExpr::Load(access) => access.index.iter().collect(),
            CExpr::Unary(_, a) | CExpr::Cast(_, a) => vec![a],
            CExpr::Binary(_, a, b) => vec![a, b],
            CExpr::Select(of) => of.iter().collect(),
            CExpr::Builtin(_, args) => args.iter().collect(),
        }
    }

    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut CExpr> {
        match self {
            CExpr::Literal(..) | CExpr::Var(_) => Vec::new(),
            CExpr::Load(access) => access.index.iter_mut().collect(),
            CExpr::Unary(_, a) | CExpr::Cast(_, a) => vec![a],
            CExpr::Binary(_, a, b) => vec![a, b],
            CExpr::Select(of) => of.iter_mut().collect(),
            CExpr::Builtin(_, args) => args.iter_mut().collect(),
        }
    }

    /// Calls `f` on every expression in this one, itself first.
    pub fn each(&self, f: &mut dyn FnMut(&CExpr)) {
        f(self);
        for part in self.parts() {
            part.each(f);
        }
    }

    /// The same, to be changed; itself last.
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut CExpr)) {
        for part in self.parts_mut() {
            part.each_mut(f);
        }
        f(self);
    }

    /// Whether it reads a variable.
    pub fn reads(&self, var: Var) -> bool {
        let mut found = false;
        self.each(&mut |e| found |= *e == CExpr::Var(var));
        found
    }
}

impl Stmt {
    /// The expressions of an element statement, its blocks not included: values, subscripts, bounds,
    /// conditions. None for others.
    pub fn expressions(&self) -> Vec<&CExpr> {
        match self {
            Stmt::Set { target, value } => {
                let mut all: Vec<&CExpr> = match target {
                    Target::Var(_) => Vec::new(),
                    Target::Element(access) => access.index.iter().collect(),
                };
                all.push(value);
                all
            }
            Stmt::Loop(of) => vec![&of.from, &of.to],
            Stmt::When { condition, .. } => vec![condition],
            Stmt::Lanes(of) => {
                let mut all = vec![&of.at];
                of.value.scalars(&mut |e| all.push(e));
                all
            }
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut CExpr> {
        match self {
            Stmt::Set { target, value } => {
                let mut all: Vec<&mut CExpr> = match target {
                    Target::Var(_) => Vec::new(),
                    Target::Element(access) => access.index.iter_mut().collect(),
                };
                all.push(value);
                all
            }
            Stmt::Loop(of) => vec![&mut of.from, &mut of.to],
            Stmt::When { condition, .. } => vec![condition],
            Stmt::Lanes(of) => {
                let Lanes { at, value, .. } = &mut **of;
                let mut all = vec![at];
                value.scalars_mut(&mut all);
                all
            }
            _ => Vec::new(),
        }
    }

    /// Every access of an element statement to an element, its blocks not included; the one that it writes
    /// first.
    pub fn accesses(&self) -> Vec<&Access> {
        fn within<'e>(e: &'e CExpr, found: &mut Vec<&'e Access>) {
            if let CExpr::Load(access) = e {
                found.push(access);
            }
            for part in e.parts() {
                within(part, found);
            }
        }
        let mut found = Vec::new();
        if let Stmt::Set { target: Target::Element(access), .. } = self {
            found.push(access);
        }
        for e in self.expressions() {
            within(e, &mut found);
        }
        found
    }

    /// Whether it is one of the element statements.
    pub fn is_element(&self) -> bool {
        matches!(self, Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_))
    }

    /// Its blocks, in the order in which a [`crate::Node`] counts their statements.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        match self {
            Stmt::Strip { body, .. } | Stmt::For { body, .. } => vec![body],
            Stmt::Loop(of) => vec![&of.body],
            Stmt::If { then, otherwise, .. } | Stmt::When { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }
}

impl Stmt {
    /// Calls `f` on every variable that an element statement names, its blocks not included.
    pub fn element_vars(&mut self, f: &mut dyn FnMut(&mut Var)) {
        match self {
            Stmt::Set { target: Target::Var(var), .. } => f(var),
            Stmt::Loop(of) => f(&mut of.index),
            _ => {}
        }
        for e in self.expressions_mut() {
            e.each_mut(&mut |e| {
                if let CExpr::Var(var) = e {
                    f(var);
                }
            });
        }
    }

    /// Calls `f` on every buffer that an element statement names, its blocks not included.
    pub fn element_buffers(&mut self, f: &mut dyn FnMut(&mut usize)) {
        if let Stmt::Set { target: Target::Element(access), .. } = self {
            f(&mut access.buffer);
        }
        if let Stmt::Lanes(of) = self {
            f(&mut of.buffer);
            of.value.buffers_mut(f);
        }
        for e in self.expressions_mut() {
            e.each_mut(&mut |e| {
                if let CExpr::Load(access) = e {
                    f(&mut access.buffer);
                }
            });
        }
    }
}
