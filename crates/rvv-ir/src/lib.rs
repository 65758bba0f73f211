//! Programs of RVV intrinsics: the IR, its file format, and its lowerings.

pub mod c;
pub mod data;
pub mod elf;
mod expected;
mod program;

pub use expected::{Contents, Expected, Mismatch};
pub use program::{
    Arg, Buffer, BufferKind, Call, Compare, Expr, Function, Program, Stmt, VERSION, Var, VarDecl,
};
