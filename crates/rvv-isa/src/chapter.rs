//! Instructions by chapter: one enum each, so that the code which gives instructions their meaning can name all of
//! them in a `match` without a wildcard. An instruction of the table that has no row there does not compile.
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
