//! Reads C and C++ as people write it around RVV intrinsics: enough to count what they do and to import it.
//!
//! The source is hostile, or at least not ours: sizes, nesting and expansion are bounded, and what is not
//! understood is an error of one function, which names the file, the line and the construct. A C compiler's
//! preprocessor is not needed: macros and conditions are expanded here, headers that cannot be found are
//! left out.

mod ast;
mod conditions;
mod declare;
mod expressions;
mod files;
mod lex;
mod macros;
mod parse;
mod resolve;

pub use ast::{
    Binary, CType, Expr, ExprKind, Function, Param, Place, Source, Stmt, StmtKind, Unary, Variable,
};
pub use files::{Files, SourceError, source_files, speaks_of_vectors};
pub use parse::{Unit, read, read_text};
pub use resolve::{Argument, Resolved, any_of, is_intrinsic_name, resolve, vector_type};

/// Bytes of one file.
pub const MOST_BYTES: usize = 8 << 20;
/// Tokens of one file with its headers, macros expanded.
pub const MOST_TOKENS: usize = 8 << 20;
/// How deep blocks, expressions, conditions, headers and macros may be nested.
pub const DEEPEST: usize = 100;

#[cfg(test)]
mod tests;
