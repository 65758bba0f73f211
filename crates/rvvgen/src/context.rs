//! The context of a program's calls, and so how many elements they work on.

use rvv_ir::{Expr, Var};

/// What surrounds the calls.
#[derive(Clone, Debug)]
pub enum Context {
    /// A strip-mined loop.
    Strip {
        /// Elements done.
        index: Var,
        /// Elements of this strip.
        vl: Var,
        /// Elements in all.
        count: usize,
    },
    /// A block with a vl that suits every VLEN.
    Fixed {
        /// The vl.
        vl: Expr,
        /// Its value.
        count: usize,
    },
    /// A block where vl is VLMAX, by ratio.
    Max {
        /// The variables that hold VLMAX.
        vls: Vec<(u32, Var)>,
    },
}

/// How a call of some ratio is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its vl.
    pub vl: Expr,
    /// The most elements it can touch, over all strips and VLENs.
    pub count: usize,
    /// What is added to an index into a buffer.
    pub index: Option<Var>,
}

impl Span {
    /// The index of the first of `step` elements for each of ours.
    pub fn at(&self, step: usize) -> Expr {
        match self.index {
            None => Expr::Const(0),
            Some(var) if step == 1 => Expr::Var(var),
            Some(var) => Expr::Mul(Box::new(Expr::Var(var)), Box::new(Expr::Const(step as u64))),
        }
    }

    /// The index of the last such place, counting down.
    pub fn down(&self, step: usize) -> Expr {
        let last = Expr::Const(((self.count - 1) * step) as u64);
        match self.index {
            None => last,
            Some(_) => Expr::Sub(Box::new(last), Box::new(self.at(step))),
        }
    }
}
