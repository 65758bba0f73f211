//! Loops whose products compilers may contract with what they are added to. The values of each statement are
//! a small set, so what it stores is read by nothing else.

use super::Writer;
use super::value::Val;
use rvv_intrinsics::Elem;
use rvv_ir::Stmt;
use rvv_ir::loops::{Binary, CExpr, Target, Unary};

impl Writer<'_> {
    /// A function of such loops, and its call.
    pub(super) fn contracted(&mut self) {
        self.begin_function();
        self.types = vec![[Elem::F32, Elem::F64, Elem::F32, Elem::F64, Elem::F16][self.rng.below(5)]];
        let nests = 1 + self.rng.below(3);
        for _ in 0..nests {
            let trips = self.trips();
            let body = self.looped(trips, |this| {
                let count = 1 + this.rng.below(3);
                (0..count).map(|_| this.contracted_store()).collect()
            });
            self.function.body.extend(body);
        }
        self.end_function();
    }

    fn contracted_store(&mut self) -> Stmt {
        let depth = 1 + self.rng.below(2) as u32;
        let value = self.contracted_sum(depth);
        let elem = value.ty;
        let dims = self.some_dims();
        let number = self.array_of(elem, false, dims, false);
        let access = self.access(number, true);
        let store = Stmt::Set { target: Target::Element(access), value: value.e };
        if !self.rng.chance(self.weights.loop_conditions) {
            return store;
        }
        let (a, b) = (self.contracted_leaf(), self.contracted_leaf());
        let condition = CExpr::binary([Binary::Lt, Binary::Ge][self.rng.below(2)], a.e, b.e);
        Stmt::When { condition, then: vec![store], otherwise: Vec::new() }
    }

    /// An element of an input, a parameter or a literal.
    fn contracted_leaf(&mut self) -> Val {
        let elem = self.some_type();
        if self.rng.below(5) == 0 {
            let known: Vec<Val> = self.scalars.iter().filter(|s| s.ty == elem).cloned().collect();
            return self.rng.pick(&known).cloned().unwrap_or_else(|| self.opaque(elem));
        }
        self.load_of(false)
    }

    /// `a * b + c`, its signs and order any; deeper, one of them is of the same kind.
    fn contracted_sum(&mut self, depth: u32) -> Val {
        let part = |this: &mut Self, deep: bool| {
            if deep && depth > 1 { this.contracted_sum(depth - 1) } else { this.contracted_leaf() }
        };
        let deep = self.rng.below(4);
        let (a, b) = (part(self, deep == 0), part(self, false));
        let c = match self.rng.below(4) {
            // Two products.
            0 => {
                let (x, y) = (part(self, false), part(self, false));
                Val::binary(Binary::Mul, x.clone(), y).unwrap_or(x)
            }
            _ => part(self, deep == 1),
        };
        let Some(mut product) = Val::binary(Binary::Mul, a.clone(), b) else { return a };
        if self.rng.below(4) == 0 {
            product = Val::unary(Unary::Neg, product.clone()).unwrap_or(product);
        }
        let op = [Binary::Add, Binary::Sub][self.rng.below(2)];
        let (x, y) = if self.rng.below(2) == 0 { (product, c) } else { (c, product) };
        let sum = Val::binary(op, x.clone(), y).unwrap_or(x);
        // Seldom: gcc gets the sign of zero wrong, as is known (bugs/gcc-negated-fma.md).
        if self.rng.below(24) == 0 { Val::unary(Unary::Neg, sum.clone()).unwrap_or(sum) } else { sum }
    }
}
