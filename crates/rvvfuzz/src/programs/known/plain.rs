//! What a program of plain C has that a fault needs, and how to take it out.

use rvv_intrinsics::Elem;
use rvv_ir::loops::{Access, Binary, Builtin, CExpr, Lane, Target, Unary};
use rvv_ir::tidy::each_stmt;
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

/// Whether a statement multiplies a floating-point number by the literal -1, or negates a vector of them.
pub fn has_negative_one(program: &Program, stmt: &Stmt) -> bool {
    let in_scalars =
        |e: &CExpr| matches!(e, CExpr::Binary(Binary::Mul, a, b) if is_negative_one(a) || is_negative_one(b));
    let splat = |l: &Lane| matches!(l, Lane::Splat(elem, e) if elem.is_float() && is_one_below_zero(e));
    has(stmt, &in_scalars)
        || has_lane(stmt, &|l| match l {
            Lane::Binary(Binary::Mul, a, b) => splat(a) || splat(b),
            Lane::Unary(Unary::Neg, a) => a.elem(program).is_some_and(Elem::is_float),
            _ => false,
        })
}

/// Whether a statement stores an element, compares something for it, and stands beside another such one.
pub fn has_grouped_comparison(program: &Program, node: &Node, stmt: &Stmt) -> bool {
    let compares = |s: &Stmt| {
        matches!(s, Stmt::Set { target: Target::Element(_), .. })
            && has(s, &|e| matches!(e, CExpr::Binary(op, ..) if op.is_truth()))
    };
    let Some((&last, parent)) = node.path.split_last() else { return false };
    let beside = |place: usize| {
        let node = Node { function: node.function, path: [parent, &[place]].concat() };
        node.find(program).is_some_and(compares)
    };
    compares(stmt) && (beside(last + 1) || last > 0 && beside(last - 1))
}

/// The bits of -1 in a floating-point type.
fn negative_one(elem: Elem) -> Option<u64> {
    match elem {
        Elem::F16 => Some(0xbc00),
        Elem::Bf16 => Some(0xbf80),
        Elem::F32 => Some(0xbf80_0000),
        Elem::F64 => Some(0xbff0_0000_0000_0000),
        _ => None,
    }
}

fn is_negative_one(e: &CExpr) -> bool {
    matches!(e, CExpr::Literal(elem, bits) if negative_one(*elem) == Some(*bits))
}

/// -1 of any type.
fn is_one_below_zero(e: &CExpr) -> bool {
    let is = |elem: Elem, bits: u64| {
        elem.is_signed() && !elem.is_float() && bits == u64::MAX >> (64 - elem.bits())
    };
    is_negative_one(e) || matches!(e, CExpr::Literal(elem, bits) if is(*elem, *bits))
}

/// Whether a subscript of a statement has a remainder in it.
pub fn has_modulo(stmt: &Stmt) -> bool {
    let stored = matches!(stmt, Stmt::Set { target: Target::Element(to), .. } if wraps(to));
    stored || has(stmt, &|e| matches!(e, CExpr::Load(access) if wraps(access)))
}

fn wraps(access: &Access) -> bool {
    let mut found = false;
    let mut see = |e: &CExpr| found |= matches!(e, CExpr::Binary(Binary::Rem, ..));
    access.index.iter().for_each(|e| e.each(&mut see));
    found
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
    /// A factor -1 becomes -2, the negative of a vector a difference: nothing is a negation.
    NegativeOnes,
    /// Remainders in subscripts become 0.
    Moduli,
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
                match stmt {
                    Stmt::Lanes(lanes) => self.change_lane(&types, &mut lanes.value),
                    Stmt::Set { target: Target::Element(to), .. } if self == Change::Moduli => {
                        to.index.iter_mut().for_each(|e| e.each_mut(&mut |e| unwrap(&types, of, e)));
                    }
                    _ => {}
                }
            });
        }
    }

    fn change(self, types: &Program, function: &Function, e: &mut CExpr) {
        if let (Change::Moduli, CExpr::Load(access)) = (self, &mut *e) {
            let index = access.index.iter_mut();
            index.for_each(|e| e.each_mut(&mut |e| unwrap(types, function, e)));
        }
        let Some(elem) = e.ty(types, function).ok().filter(|t| t.is_float()) else { return };
        match (self, e) {
            (Change::Products, CExpr::Binary(op @ Binary::Mul, ..)) => *op = Binary::Add,
            (Change::NegativeOnes, CExpr::Binary(Binary::Mul, a, b)) => {
                [a, b].into_iter().filter(|e| is_negative_one(e)).for_each(|e| twice(e));
            }
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
            (Change::NegativeOnes, Lane::Binary(Binary::Mul, a, b)) => {
                for factor in [a, b] {
                    match &mut **factor {
                        Lane::Splat(_, e) if is_one_below_zero(e) => twice(e),
                        _ => {}
                    }
                }
            }
            (Change::Negations | Change::NegativeOnes, lane @ Lane::Unary(Unary::Neg, _)) => {
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

/// The literal -1 becomes -2.
fn twice(e: &mut CExpr) {
    if let CExpr::Literal(elem, bits) = e {
        *bits = match elem {
            // The exponent is one more.
            Elem::F16 => 0xc000,
            Elem::Bf16 => 0xc000,
            Elem::F32 => 0xc000_0000,
            Elem::F64 => 0xc000_0000_0000_0000,
            _ => *bits - 1,
        };
    }
}

/// A remainder becomes 0.
fn unwrap(types: &Program, function: &Function, e: &mut CExpr) {
    if let CExpr::Binary(Binary::Rem, ..) = e
        && let Ok(elem) = e.ty(types, function)
    {
        *e = CExpr::int(elem, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_ir::tidy::nodes;

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
        let body = "set b[i] = ((a[i] * f32(0xbf800000)) + f32(0xbf800000))";
        let factor = changed(Change::NegativeOnes, body);
        assert!(factor.contains("((a[i] * f32(0xc0000000)) + f32(0xbf800000))"), "{factor}");
        let factor = changed(Change::NegativeOnes, "lanes 4 b[i32(0)] = (a[i32(0)] * splat(f32, i32(-1)))");
        assert!(factor.contains("(a[i32(0)] * splat(f32, i32(-2)))"), "{factor}");
        let negation = changed(Change::NegativeOnes, lanes);
        assert!(negation.contains(zero), "{negation}");
        let body = "set b[(i % i32(2))] = a[((i + i32(1)) % i32(4))]";
        let subscripts = changed(Change::Moduli, body);
        assert!(subscripts.contains("set b[i32(0)] = a[i32(0)]"), "{subscripts}");
        let modulo = |body: &str| {
            let program = program(body);
            nodes(&program).iter().filter(|n| n.find(&program).is_some_and(has_modulo)).count()
        };
        assert_eq!((modulo(body), modulo("set b[i] = (i % i32(3))")), (1, 0));
    }
}
