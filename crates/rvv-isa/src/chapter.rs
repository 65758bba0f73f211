//! Instructions by chapter: one enum each, so that the code which gives instructions their meaning can name
//! all of them in a `match` without a wildcard. An instruction of the table that has no row there does not
//! compile.
//!
//! A chapter is the class of a group in `isa/encodings/`, or what its `chapter` says. Only base instructions
//! ([`Op::base`]) have a place: what expands to another has that one's.

use crate::op::Op;

include!(concat!(env!("OUT_DIR"), "/chapters.rs"));

/// An instruction by its chapter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Chapter {
    /// Of the scalar chapters.
    Scalar(ScalarOp),
    /// Of the vector chapters.
    Vector(VectorOp),
}

impl Op {
    /// The instruction, or what it expands to, by its chapter.
    #[must_use]
    pub fn chapter(self) -> Chapter {
        CHAPTERS[self as usize]
    }
}

/// A `match` on the instructions of a chapter, by mnemonic: `mnemonic, mnemonic => what executes them;`.
///
/// ```
/// use rvv_isa::chapter::VectorConfig;
/// use rvv_isa::{mnemonic, rows};
///
/// fn avl_is_immediate(op: VectorConfig) -> bool {
///     rows! { op;
///         vsetvli, vsetvl => false;
///         vsetivli => true;
///     }
/// }
/// assert!(avl_is_immediate(mnemonic!(vsetivli)));
/// ```
///
/// A chapter's instruction that has no row does not compile:
///
/// ```compile_fail,E0004
/// use rvv_isa::chapter::VectorConfig;
/// use rvv_isa::rows;
///
/// fn avl_is_immediate(op: VectorConfig) -> bool {
///     rows! { op;
///         vsetvli => false;
///         vsetivli => true;
///     }
/// }
/// ```
#[macro_export]
macro_rules! rows {
    ($op:expr; $($($name:ident $(. $part:ident)*),+ => $row:expr;)*) => {
        match $op {
            $($($crate::mnemonic!($name $(. $part)*))|+ => $row,)*
        }
    };
}
