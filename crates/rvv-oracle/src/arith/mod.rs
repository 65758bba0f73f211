//! The arithmetic of the manual, one element (or one element group) at a time, on raw bits.
//!
//! Nothing here knows of vectors, masks or tails. Values are bits in a `u64`, zero-extended; an [`Elem`] says
//! what they are. Floating point is exact arithmetic on integers with one rounding at the end
//! (`exact`), owing nothing to any floating-point library.

pub mod crypto;

mod bits;
mod convert;
mod estimate;
mod exact;
mod fixed_point;
mod float;
mod integer;
mod reduction;

pub use crypto::{group4_u32, group4_u64, group8_u32};
pub use reduction::{reduce, unordered_sum};

use rvv_intrinsics::sem::Chapter;
use rvv_intrinsics::{Elem, Sem};

/// The floating-point rounding modes, in the order of their encodings in `frm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Frm {
    /// To nearest, ties to even.
    Rne,
    /// Towards zero.
    Rtz,
    /// Down, towards −∞.
    Rdn,
    /// Up, towards +∞.
    Rup,
    /// To nearest, ties to the larger magnitude.
    Rmm,
}

impl Frm {
    /// All of them.
    pub const ALL: [Frm; 5] = [Frm::Rne, Frm::Rtz, Frm::Rdn, Frm::Rup, Frm::Rmm];

    /// From the value in `frm`; 5 and 6 are reserved, 7 is DYN.
    pub fn from_encoding(frm: u64) -> Option<Frm> {
        Frm::ALL.get(usize::try_from(frm).ok()?).copied()
    }

    /// The value in `frm`.
    pub fn encoding(self) -> u64 {
        self as u64
    }
}

/// The fixed-point rounding modes, in the order of their encodings in `vxrm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vxrm {
    /// Round-to-nearest-up.
    Rnu,
    /// Round-to-nearest-even.
    Rne,
    /// Round-down.
    Rdn,
    /// Round-to-odd.
    Rod,
}

impl Vxrm {
    /// All of them.
    pub const ALL: [Vxrm; 4] = [Vxrm::Rnu, Vxrm::Rne, Vxrm::Rdn, Vxrm::Rod];

    /// From the value in `vxrm`.
    pub fn from_encoding(vxrm: u64) -> Option<Vxrm> {
        Vxrm::ALL.get(usize::try_from(vxrm).ok()?).copied()
    }

    /// The value in `vxrm`.
    pub fn encoding(self) -> u64 {
        self as u64
    }
}

/// How an exact result becomes a representable one: the modes of `frm`, and the odd one of vfncvt.rod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Frm(Frm),
    Odd,
}

/// A value and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The bits, zero-extended.
    pub bits: u64,
    /// What they are.
    pub elem: Elem,
}

impl Operand {
    /// The bits above the type's width are dropped.
    pub fn new(bits: u64, elem: Elem) -> Operand {
        Operand { bits: bits & mask(elem.bits()), elem }
    }

    /// The integer that the type says.
    fn integer(self) -> i128 {
        if self.elem.is_signed() { self.signed() } else { self.unsigned() }
    }

    /// The integer, taken as unsigned whatever the type says.
    fn unsigned(self) -> i128 {
        i128::from(self.bits & mask(self.elem.bits()))
    }

    /// The integer, taken as signed whatever the type says.
    fn signed(self) -> i128 {
        let unused = 64 - self.elem.bits();
        i128::from(((self.bits << unused) as i64) >> unused)
    }
}

/// What an elementwise operation takes.
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// `vs2`, or the only operand.
    pub vs2: Operand,
    /// `vs1` or `rs1` or the immediate.
    pub op1: Option<Operand>,
    /// `vd`, where it is an operand.
    pub acc: Option<Operand>,
    /// The element's bit of `v0`, where it is an operand: carry, borrow, selector.
    pub carry: Option<bool>,
    /// For floating point.
    pub frm: Frm,
    /// For fixed point.
    pub vxrm: Vxrm,
}

impl Args {
    /// With `vs2` only, the other operands absent and the rounding modes that are encoded as 0.
    pub fn new(vs2: Operand) -> Args {
        Args { vs2, op1: None, acc: None, carry: None, frm: Frm::Rne, vxrm: Vxrm::Rnu }
    }
}

/// The ones of `width` bits.
fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The low bits of an exact result, as many as the type has.
fn wrap(ret: Elem, value: i128) -> u64 {
    value as u64 & mask(ret.bits())
}

/// The smallest and the largest integer of the type.
fn range(ret: Elem) -> (i128, i128) {
    let bits = ret.bits();
    if ret.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The closest integer of the type.
fn saturate(ret: Elem, value: i128) -> u64 {
    let (min, max) = range(ret);
    wrap(ret, value.clamp(min, max))
}

/// Whether [`element`] gives it a meaning.
pub fn is_elementwise(sem: Sem) -> bool {
    match sem.chapter() {
        Chapter::Integer(_) | Chapter::Compare(_) | Chapter::FixedPoint(_) | Chapter::Float(_) => true,
        Chapter::Convert(_) | Chapter::BitManip(_) => true,
        Chapter::Reduction(_) | Chapter::Mask(_) | Chapter::Permute(_) | Chapter::Memory(_) => false,
        Chapter::Config(_) | Chapter::Utility(_) => false,
        Chapter::Sha2(_) | Chapter::Group4(_) | Chapter::Group8(_) => false,
    }
}

/// The result of one element, in `ret`'s bits; 0 or 1 where the result is a mask bit (then `ret` is vs2's
/// type). `None` if the meaning is not elementwise, or an operand it needs is absent or of a kind it
/// cannot take.
pub fn element(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    match sem.chapter() {
        Chapter::Integer(sem) => integer::element(sem, ret, args),
        Chapter::Compare(sem) if args.vs2.elem.is_float() => float::compare(sem, args),
        Chapter::Compare(sem) => integer::compare(sem, args),
        Chapter::FixedPoint(sem) => fixed_point::element(sem, ret, args),
        Chapter::Float(sem) => float::element(sem, ret, args),
        Chapter::Convert(sem) => convert::element(sem, ret, args),
        Chapter::BitManip(sem) => bits::element(sem, ret, args),
        _ => None,
    }
}
