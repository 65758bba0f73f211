//! Programs of RVV intrinsics: the IR, its file format, and its lowerings.

pub mod c;
mod check;
pub mod data;
mod effects;
pub mod elf;
mod expected;
mod expected_text;
mod lex;
pub mod loops;
mod parse;
mod print;
mod program;
pub mod records;
pub mod tidy;

pub use check::{CheckError, Node, put_elem};
pub use data::float_text;
pub use effects::Effects;
pub use expected::{Contents, Expected, Mismatch, VlChoice};
pub use expected_text::{EXPECTED_VERSION, ExpectedError, element_text};
pub use lex::Place;
pub use parse::ParseError;
pub use print::type_name;
pub use program::{
    Arg, Buffer, BufferKind, Call, Compare, Expr, Function, Linkage, Program, Stmt, VERSION, Var, VarDecl,
};
