//! What a kernel gets besides its operands: one word, whose meaning is a type.

use crate::fp::Flags;

/// What the word means to a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// See [`FirstElement`].
    FirstElement,
    /// See [`Vxrm`].
    Vxrm,
    /// See [`MaskBits`].
    MaskBits,
    /// See [`Accumulator`].
    Accumulator,
    /// See [`Inexact`].
    Inexact,
    /// See [`TableSize`].
    TableSize,
}

/// A meaning of the word.
pub trait Input: Copy {
    /// Which it is.
    const MEANING: Meaning;
    /// The word.
    fn word(self) -> u64;
    /// What a word means.
    fn of(word: u64) -> Self;
}

macro_rules! inputs {
    ($($(#[$doc:meta])* $name:ident($word:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(pub $word);

        impl Input for $name {
            const MEANING: Meaning = Meaning::$name;
            #[inline(always)]
            fn word(self) -> u64 {
                u64::from(self.0)
            }
            #[inline(always)]
            fn of(word: u64) -> Self {
                $name(word as $word)
            }
        }
    )*};
}

inputs! {
    /// The index of the first element. Most kernels ignore it.
    FirstElement(u64);
    /// The fixed-point rounding mode (norm:vxrm_op).
    Vxrm(u8);
    /// Bits of `v0` that are an operand: a carry or a selector for each of at most 64 elements.
    MaskBits(u64);
    /// What a reduction starts with.
    Accumulator(u64);
    /// The number of elements of `vs2`, which is a table of which each element picks one.
    TableSize(u64);
}

impl Vxrm {
    /// Round to nearest, ties up.
    pub const RNU: Vxrm = Vxrm(0);
    /// Round to nearest, ties to even.
    pub const RNE: Vxrm = Vxrm(1);
    /// Round to odd.
    pub const ROD: Vxrm = Vxrm(3);
}

/// What a floating-point kernel does about inexact results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inexact {
    /// They are results like any: NX is set already.
    Taken,
    /// They are refused, so that NX can be set.
    Refused,
}

impl Inexact {
    /// What follows from the flags: once NX is set, inexact results raise nothing new.
    #[inline(always)]
    pub fn under(flags: Flags) -> Inexact {
        if flags.contains(Flags::NX) { Inexact::Taken } else { Inexact::Refused }
    }

    /// Whether a result must be exact to be taken.
    #[inline(always)]
    pub fn is_refused(self) -> bool {
        self == Inexact::Refused
    }
}

impl Input for Inexact {
    const MEANING: Meaning = Meaning::Inexact;
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self.is_refused())
    }
    #[inline(always)]
    fn of(word: u64) -> Self {
        if word == 0 { Inexact::Taken } else { Inexact::Refused }
    }
}

/// Which input a kernel gets that computes elements, and what it sees of elements that are not active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MapInput {
    /// [`FirstElement`] or [`TableSize`]. It sees inactive elements as they are; their results are not used.
    Index,
    /// [`Vxrm`]. It sees zeroes, which never saturate.
    Vxrm,
    /// [`MaskBits`]. It is not masked.
    Mask,
}
