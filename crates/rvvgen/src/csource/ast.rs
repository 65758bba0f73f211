//! What a source consists of, as far as it is understood.

use rvv_intrinsics::{Elem, Type};
use std::fmt;
use std::rc::Rc;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Place {
    /// The file, as by its number in [`Files`](super::Files).
    pub file: u32,
    /// Counted from 1.
    pub line: u32,
}

/// A type of C.
#[derive(Clone, Debug, PartialEq)]
pub enum CType {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// A scalar. `size_t` and the like are [`CType::Rvv`].
    Scalar(Elem),
    /// A type of the intrinsics' interface: vectors, masks, `size_t`, `ptrdiff_t`, `long`.
    Rvv(Type),
    /// A pointer.
    Pointer(Box<CType>),
    /// A reference of C++.
    Reference(Box<CType>),
    /// An array, with the expression in its brackets.
    Array(Box<CType>, Option<Box<Expr>>),
    /// A structure or union by its tag or name.
    Struct(Rc<str>),
    /// `auto`
    Auto,
    /// A function or a pointer to one.
    Function,
    /// A name that nothing in the source defines.
    Unknown(Rc<str>),
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Void => f.write_str("void"),
            CType::Bool => f.write_str("bool"),
            CType::Scalar(elem) => f.write_str(elem.c_name()),
            CType::Rvv(ty) => write!(f, "{ty}"),
            CType::Pointer(to) => write!(f, "{to} *"),
            CType::Reference(to) => write!(f, "{to} &"),
            CType::Array(of, _) => write!(f, "{of} []"),
            CType::Struct(name) => write!(f, "struct {name}"),
            CType::Auto => f.write_str("auto"),
            CType::Function => f.write_str("function"),
            CType::Unknown(name) => f.write_str(name),
        }
    }
}

impl CType {
    /// What a reference refers to; the type itself if it is none.
    pub fn value(&self) -> &CType {
        match self {
            CType::Reference(to) => to,
            other => other,
        }
    }
}

/// An expression and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub place: Place,
}

/// Operators on two operands.
pub use rvv_ir::loops::Binary;

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Neg,
    /// `~`
    Not,
    /// `!`
    IsZero,
    /// `+`
    Plus,
    /// `*`
    Deref,
    /// `&`
    Address,
}

/// Expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer, and its type.
    Integer(u64, Elem),
    /// A floating-point number, and its type.
    Float(f64, Elem),
    /// A string.
    Text,
    /// A name.
    Name(Rc<str>),
    /// An operation on one operand.
    Unary(Unary, Box<Expr>),
    /// An operation on two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a = b`, or `a += b` and the like.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// `++a`, `a--` and the like: what is added, and whether the result is the value before.
    Step(i64, bool, Box<Expr>),
    /// `a ? b : c`
    Choice(Box<[Expr; 3]>),
    /// A call.
    Call(Box<Expr>, Vec<Expr>),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b` and `a->b`
    Member(Box<Expr>, Rc<str>),
    /// `(type)a`
    Cast(CType, Box<Expr>),
    /// `sizeof(type)`
    SizeOf(CType),
    /// `sizeof a`
    SizeOfValue(Box<Expr>),
    /// `{a, b}`
    List(Vec<Expr>),
    /// `({ … })`
    Block(Vec<Stmt>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
}

/// A statement and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub place: Place,
}

/// Statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// An expression.
    Expr(Expr),
    /// Variables.
    Declare(Vec<Variable>),
    /// `if`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`
    While(Expr, Box<Stmt>),
    /// `do … while`
    DoWhile(Box<Stmt>, Expr),
    /// `for`
    For(Option<Box<Stmt>>, Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `switch`
    Switch(Expr, Box<Stmt>),
    /// `case n:`, or `default:`
    Case(Option<Expr>),
    /// `return`
    Return(Option<Expr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `{ … }`
    Block(Vec<Stmt>),
    /// What is not read: its name.
    Other(&'static str),
}

/// A declared variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Rc<str>,
    /// Its type.
    pub ty: CType,
    /// What it is set to.
    pub init: Option<Expr>,
    /// Where.
    pub place: Place,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name; empty if it has none.
    pub name: Rc<str>,
    /// Its type.
    pub ty: CType,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Rc<str>,
    /// What it returns.
    pub ret: CType,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it does, or why that cannot be read, and where.
    pub body: Result<Vec<Stmt>, (Place, String)>,
    /// Its first line.
    pub place: Place,
    /// Names of intrinsics are in its text, macros expanded.
    pub has_intrinsics: bool,
    /// A template's or a class's: its types may have parameters.
    pub generic: bool,
}

/// All that was read.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Functions, in order, those of headers included.
    pub functions: Vec<Function>,
    /// Constants and variables outside of functions.
    pub globals: Vec<Variable>,
    /// Names of enumerations, with their values.
    pub constants: std::collections::HashMap<Rc<str>, i64>,
    /// Fields of structures, by tag or name.
    pub structs: std::collections::HashMap<Rc<str>, Vec<Param>>,
}
