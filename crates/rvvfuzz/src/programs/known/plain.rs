//! What a program of plain C has that a fault needs, and how to take it out.

use crate::programs::reduce::tidy::each_stmt;
use rvv_intrinsics::Elem;
use rvv_ir::loops::{Binary, Builtin, CExpr, Lane, Target, Unary};
use rvv_ir::{Function, Node, Program, Stmt};
use serde::Deserialize;

/// Whether a statement assigns what a round of the innermost loop around it has read before: a value that is
/// carried from each round to the next.
pub fn is_carried(program: &Program, node: &Node, stmt: &Stmt) -> bool {
    let Stmt::Set { target: Target::Var(var), .. } = stmt else { return false };
    let around = |len: &usize| {
        let outer = Node { function: node.function, path: node.path[..*len].to_vec() };
        matches!(outer.find(program), Some(Stmt::Loop(_)))
    };
    let Some(len) = (1..node.path.len()).rev().find(around) else { return false };
    let outer = Node { function: node.function, path: node.path[..len].to_vec() };
    let Some(Stmt::Loop(of)) = outer.find(program) else { return false };
    let before = node.path[len].min(of.body.len());
    of.body[..before].iter().any(|s| s.effects(program).reads.contains(var))
}

/// Whether a statement multiplies floating-point numbers.
pub fn has_product(program: &Program, node: &Node, stmt: &Stmt) -> bool {
    let function = program.function(node.function);
    let is_product =
        |e: &CExpr| matches!(e, CExpr::Binary(Binary::Mul, ..)) && is_float(program, function, e);
    has(stmt, &is_product)
        || has_lane(stmt, &|l| {
            matches!(l, Lane::Binary(Binary::Mul, ..)) && l.elem(program).is_some_and(Elem::is_float)
        })
}

/// Whether a statement calls `fma`.
pub fn has_fma(stmt: &Stmt) -> bool {
    has(stmt, &|e| matches!(e, CExpr::Builtin(Builtin::Fma, _)))
}

fn has(stmt: &Stmt, is: &dyn Fn(&CExpr) -> bool) -> bool {
    let mut found = false;
    stmt.expressions().into_iter().for_each(|e| e.each(&mut |e| found |= is(e)));
    found
}

fn has_lane(stmt: &Stmt, is: &dyn Fn(&Lane) -> bool) -> bool {
    fn within(lane: &Lane, is: &dyn Fn(&Lane) -> bool) -> bool {
        is(lane) || lane.parts().into_iter().any(|part| within(part, is))
    }
    matches!(stmt, Stmt::Lanes(of) if within(&of.value, is))
}

fn is_float(program: &Program, function: &Function, e: &CExpr) -> bool {
    e.ty(program, function).is_ok_and(Elem::is_float)
}

/// A change of all floating-point expressions of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// `-a` becomes `0 - a`: the sign of a zero is another one, and compilers must not take one for the
    /// other.
    Negations,
    /// `a * b` becomes `a + b`: there is no product to add to.
    Products,
}

impl Change {
    /// Changes a program.
    pub fn apply(self, program: &mut Program) {
        // Types depend on buffers and variables, which stay.
        let types = program.clone();
        let number = types.functions.len();
        let functions = program.functions.iter_mut().chain([&mut program.main]);
        for (n, function) in functions.enumerate() {
            let of = types.function(n.min(number));
            each_stmt(&mut function.body, &mut |stmt| {
                for e in stmt.expressions_mut() {
                    e.each_mut(&mut |e| self.change(&types, of, e));
                }
                if let Stmt::Lanes(lanes) = stmt {
                    self.change_lane(&types, &mut lanes.value);
                }
            });
        }
    }

    fn change(self, types: &Program, function: &Function, e: &mut CExpr) {
        let Some(elem) = e.ty(types, function).ok().filter(|t| t.is_float()) else { return };
        match (self, e) {
            (Change::Products, CExpr::Binary(op @ Binary::Mul, ..)) => *op = Binary::Add,
            (Change::Negations, e @ CExpr::Unary(Unary::Neg, _)) => {
                if let CExpr::Unary(_, a) = e {
                    let a = std::mem::replace(&mut **a, CExpr::Literal(elem, 0));
                    *e = CExpr::binary(Binary::Sub, CExpr::Literal(elem, 0), a);
                }
            }
            _ => {}
        }
    }

    fn change_lane(self, types: &Program, lane: &mut Lane) {
        lane.parts_mut().into_iter().for_each(|part| self.change_lane(types, part));
        let Some(elem) = lane.elem(types).filter(|e| e.is_float()) else { return };
        match (self, lane) {
            (Change::Products, Lane::Binary(op @ Binary::Mul, ..)) => *op = Binary::Add,
            (Change::Negations, lane @ Lane::Unary(Unary::Neg, _)) => {
                if let Lane::Unary(_, a) = lane {
                    let zero = || Lane::Splat(elem, CExpr::Literal(elem, 0));
                    let a = std::mem::replace(a, Box::new(zero()));
                    *lane = Lane::Binary(Binary::Sub, Box::new(zero()), a);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::reduce::tidy::nodes;

    fn program(body: &str) -> Program {
        let text = format!(
            "rvv-ir 1\ndata a: f32[4] = zero\nout b: f32[4] = zero\n\nglobal fn f() {{\n  var i: i32\n  \
             var x: f32\n  set x = f32(0)\n  loop i = i32(0) while < i32(4) step 1 {{\n{body}\n  }}\n}}\n\n\
             main {{\n  call f()\n}}\n"
        );
        text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    #[test]
    fn carried_values_are_those_that_the_next_round_reads() {
        let carried = |body: &str| {
            let program = program(body);
            let is = |n: &&Node| n.find(&program).is_some_and(|s| is_carried(&program, n, s));
            nodes(&program).iter().filter(is).count()
        };
        assert_eq!(carried("set b[i] = x\nset x = a[i]"), 1);
        assert_eq!(carried("set x = a[i]\nset b[i] = x"), 0);
        assert_eq!(carried("set b[i] = x\nwhen (i > i32(2)) {\nset x = a[i]\n}"), 1);
        // A sum is no such thing: nobody else reads it.
        assert_eq!(carried("set x = (x + a[i])"), 0);
    }

    #[test]
    fn negations_and_products_become_something_else() {
        let changed = |change: Change, body: &str| {
            let mut program = program(body);
            change.apply(&mut program);
            program.check().unwrap_or_else(|e| panic!("{e}\n{program}"));
            program.to_string()
        };
        let product = changed(Change::Products, "set b[i] = ((a[i] * a[i]) - a[(i * i32(1))])");
        assert!(product.contains("((a[i] + a[i]) - a[(i * i32(1))])"), "{product}");
        let negation = changed(Change::Negations, "set b[i] = (-fma(a[i], a[i], a[i]))");
        assert!(negation.contains("(f32(0x0) - fma(a[i], a[i], a[i]))"), "{negation}");
        let lanes = "lanes 4 b[i32(0)] = -((a[i32(0)] * a[i32(0)]))";
        let product = changed(Change::Products, lanes);
        assert!(product.contains("= -((a[i32(0)] + a[i32(0)]))"), "{product}");
        let negation = changed(Change::Negations, lanes);
        let zero = "(splat(f32, f32(0x0)) - (a[i32(0)] * a[i32(0)]))";
        assert!(negation.contains(zero), "{negation}");
    }
}
