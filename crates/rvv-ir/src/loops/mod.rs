//! Element statements: plain C on scalars and on elements of buffers, for what compilers vectorise
//! themselves.
//!
//! They are statements of the same language as intrinsics: [`Stmt::Set`], [`Stmt::Loop`], [`Stmt::When`] and
//! [`Stmt::Leave`]. Their expressions have C's types: integer promotions, usual arithmetic conversions,
//! unsigned arithmetic that wraps. What C leaves undefined (signed overflow, division by zero, a shift or a
//! subscript out of range, a floating-point value that does not fit its integer) is an error of evaluation.
//!
//! A NaN that an element statement makes or moves has no defined sign or payload: IEEE 754 leaves them to the
//! implementation, and compilers fold by other rules than the machine. In memory only its exponent is
//! defined.

mod check;
mod lanes;
mod parse;
pub(crate) mod print;
mod types;
mod walk;

pub(crate) use check::Elements;
pub use lanes::{Lane, Lanes};
pub use types::{common, promote, variable};

use crate::{Stmt, Var};
use rvv_intrinsics::Elem;

/// An expression of C.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CExpr {
    /// A literal of this type, by its bits.
    Literal(Elem, u64),
    /// A scalar variable.
    Var(Var),
    /// An element of a buffer.
    Load(Access),
    /// An operation on one operand.
    Unary(Unary, Box<CExpr>),
    /// An operation on two operands.
    Binary(Binary, Box<CExpr>, Box<CExpr>),
    /// A conversion.
    Cast(Elem, Box<CExpr>),
    /// `condition ? then : otherwise`
    Select(Box<[CExpr; 3]>),
    /// A function that compilers know, on one to three operands of one floating-point type.
    Builtin(Builtin, Vec<CExpr>),
}

/// An element of a buffer: one subscript for each dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which buffer.
    pub buffer: usize,
    /// The subscripts, the outermost first.
    pub index: Vec<CExpr>,
}

/// What a [`Stmt::Set`] assigns to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A scalar variable.
    Var(Var),
    /// An element of a buffer.
    Element(Access),
}

/// Operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-`
    Neg,
    /// `~`
    Not,
    /// `!`
    IsZero,
    /// `(_Bool)`, whose result is used as an `int`.
    Bool,
}

/// Operations on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`; of a negative number, arithmetic, as gcc and clang define it.
    Shr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    AndThen,
    /// `||`
    OrElse,
}

impl From<crate::Compare> for Binary {
    fn from(compare: crate::Compare) -> Binary {
        use crate::Compare;
        match compare {
            Compare::Eq => Binary::Eq,
            Compare::Ne => Binary::Ne,
            Compare::Lt => Binary::Lt,
            Compare::Le => Binary::Le,
            Compare::Gt => Binary::Gt,
            Compare::Ge => Binary::Ge,
        }
    }
}

impl Binary {
    /// All of them, with the sign that text and C use.
    pub const ALL: [(Binary, &str); 18] = [
        (Binary::Add, "+"),
        (Binary::Sub, "-"),
        (Binary::Mul, "*"),
        (Binary::Div, "/"),
        (Binary::Rem, "%"),
        (Binary::And, "&"),
        (Binary::Or, "|"),
        (Binary::Xor, "^"),
        (Binary::Shl, "<<"),
        (Binary::Shr, ">>"),
        (Binary::Eq, "=="),
        (Binary::Ne, "!="),
        (Binary::Lt, "<"),
        (Binary::Le, "<="),
        (Binary::Gt, ">"),
        (Binary::Ge, ">="),
        (Binary::AndThen, "&&"),
        (Binary::OrElse, "||"),
    ];

    /// The sign.
    pub fn sign(self) -> &'static str {
        Binary::ALL.into_iter().find(|(b, _)| *b == self).map_or("+", |(_, sign)| sign)
    }

    /// Whether the result is 0 or 1, an `int`.
    pub fn is_truth(self) -> bool {
        use Binary::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge | AndThen | OrElse)
    }

    /// Whether only integers have it.
    pub fn is_integer(self) -> bool {
        use Binary::*;
        matches!(self, Rem | And | Or | Xor | Shl | Shr)
    }
}

/// Functions that compilers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `fabs`
    Fabs,
    /// `copysign`
    Copysign,
    /// `fma`, rounded once.
    Fma,
}

impl Builtin {
    /// All of them, with their names and numbers of operands.
    pub const ALL: [(Builtin, &str, usize); 3] =
        [(Builtin::Fabs, "fabs", 1), (Builtin::Copysign, "copysign", 2), (Builtin::Fma, "fma", 3)];

    /// As text and C spell it (C adds the suffix of the type).
    pub fn name(self) -> &'static str {
        Builtin::ALL.into_iter().find(|(b, ..)| *b == self).map_or("fabs", |(_, name, _)| name)
    }

    /// How many operands it takes.
    pub fn operands(self) -> usize {
        Builtin::ALL.into_iter().find(|(b, ..)| *b == self).map_or(1, |(.., n)| n)
    }
}

/// What compilers are told about a loop. It changes no meaning: clang may reorder floating-point operations
/// in a loop it is told to vectorise, so [`Pragma::Vectorize`] and [`Pragma::Width`] are for loops without
/// any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pragma {
    /// Nothing.
    #[default]
    None,
    /// Vectorise it.
    Vectorize,
    /// Do not.
    NoVector,
    /// Unroll it so many times.
    Unroll(u8),
    /// Interleave so many vectors.
    Interleave(u8),
    /// Vectorise it by so many elements.
    Width(u8),
    /// Split it into several loops.
    Distribute,
}

/// A counted loop, `for (index = from; index ⋈ to; index += step)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The counter, an integer. Not to be assigned in the body; afterwards it has its last value.
    pub index: Var,
    /// Where it starts.
    pub from: CExpr,
    /// How it is compared with the end.
    pub compare: crate::Compare,
    /// The end: the same all through, so it reads no buffer and nothing that the body assigns.
    pub to: CExpr,
    /// What is added to the counter each time.
    pub step: i64,
    /// What compilers are told.
    pub pragma: Pragma,
    /// What is done.
    pub body: Vec<Stmt>,
}

/// How a function's C form reaches the buffers it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pointers {
    /// They are global arrays.
    #[default]
    Globals,
    /// Through parameters: nothing is known of their sizes, nor that they differ.
    Plain,
    /// Through parameters that are `restrict`.
    Restrict,
}

impl CExpr {
    /// A literal of an integer type.
    pub fn int(elem: Elem, value: i64) -> CExpr {
        CExpr::Literal(elem, value as u64 & (u64::MAX >> (64 - elem.bits())))
    }

    /// An operation on two operands.
    pub fn binary(op: Binary, a: CExpr, b: CExpr) -> CExpr {
        CExpr::Binary(op, Box::new(a), Box::new(b))
    }

    /// An operation on one operand.
    pub fn unary(op: Unary, a: CExpr) -> CExpr {
        CExpr::Unary(op, Box::new(a))
    }

    /// A conversion.
    pub fn cast(elem: Elem, a: CExpr) -> CExpr {
        CExpr::Cast(elem, Box::new(a))
    }

    /// A choice.
    pub fn select(condition: CExpr, then: CExpr, otherwise: CExpr) -> CExpr {
        CExpr::Select(Box::new([condition, then, otherwise]))
    }

    /// An element of a buffer of one dimension.
    pub fn load(buffer: usize, index: CExpr) -> CExpr {
        CExpr::Load(Access { buffer, index: vec![index] })
    }
}
