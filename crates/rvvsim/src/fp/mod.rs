//! Floating point as RISC-V defines it, on bit patterns.
//!
//! A value is a bit pattern (`u16`, `u32`, `u64`) and its format is a type: [`F16`], [`F32`], [`F64`],
//! [`BF16`]. Every operation is an associated function of [`Float`], takes its rounding mode, and
//! *accumulates* exception flags into the [`Flags`] it is given, as `fflags` does. Results are exact in value
//! and flags in every mode; a NaN result is the canonical NaN; tininess is detected after rounding
//! (unprivileged manual, "F" extension).
//!
//! The ground truth is [`soft`]: Berkeley SoftFloat with its RISC-V specialisation. The functions of
//! [`Float`] give the same bits and the same flags, and come from the host's FPU or from the integer kernels
//! of `round` where those can be shown to agree; `tests/all/fp/` compares the two.
//!
//! Flags are sticky, and that is used: when the flags passed in already hold [`Flags::NX`], nothing has to
//! find out whether a result was exact. Passing the live `fflags` is therefore faster than passing empty
//! flags and or-ing them afterwards.

mod bits;
mod convert;
mod estimate;
mod fast;
mod float;
mod formats;
mod host;
mod round;
pub mod soft;

pub use bits::{Bits, Int};
pub use convert::{
    box_bf16, box_f16, box_f32, convert, fcvtmod_w_d, unbox_bf16, unbox_f16, unbox_f32, widening_fma,
};
pub use float::Float;
pub use formats::{BF16, F16, F32, F64};

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// How a result that does not fit its format is rounded. The discriminants are the encoding of `frm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum RoundingMode {
    /// To nearest, ties to even.
    #[default]
    Rne = 0,
    /// Towards zero.
    Rtz = 1,
    /// Down, towards −∞.
    Rdn = 2,
    /// Up, towards +∞.
    Rup = 3,
    /// To nearest, ties to the larger magnitude.
    Rmm = 4,
    /// To odd: truncate, then set the last bit if anything was lost. No `frm` asks for it: it is the mode of
    /// `vfncvt.rod.f.f.w`. Meant for results in a floating-point format; what a conversion to an integer
    /// makes of it is not specified.
    Rod = 6,
}

impl RoundingMode {
    /// The five modes that `frm` and the `rm` field can ask for.
    pub const ALL: [Self; 5] = [Self::Rne, Self::Rtz, Self::Rdn, Self::Rup, Self::Rmm];

    /// The mode encoded by `frm`, or by a static `rm` field; `None` for the reserved encodings 5 and 6, and
    /// for 7, which in `rm` means "ask `frm`".
    #[inline]
    pub fn from_frm(frm: u8) -> Option<Self> {
        Self::ALL.get(usize::from(frm)).copied()
    }
}

/// Accrued exceptions, laid out as in `fflags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No exception.
    pub const NONE: Self = Self(0);
    /// Inexact.
    pub const NX: Self = Self(1);
    /// Underflow: inexact, and tiny after rounding.
    pub const UF: Self = Self(2);
    /// Overflow.
    pub const OF: Self = Self(4);
    /// Division of a finite number by zero.
    pub const DZ: Self = Self(8);
    /// Invalid operation.
    pub const NV: Self = Self(16);

    /// The bits, as `fflags` shows them.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether every exception of `other` is among these.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds the exceptions of `other`.
    #[inline]
    pub fn raise(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Adds the exceptions of `other` if `condition` holds; compiles to no branch when `other` is one flag.
    #[inline]
    pub(crate) fn raise_if(&mut self, condition: bool, other: Self) {
        self.0 |= other.0 * u8::from(condition);
    }
}

impl BitAnd for Flags {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Flags {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
