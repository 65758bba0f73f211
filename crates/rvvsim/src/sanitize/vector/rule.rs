//! Which rule of propagation an instruction follows.

use super::super::bits::{self, Bits};
use rvv_isa::{Chapter, Eew, Op};
use std::sync::LazyLock;

/// A rule of propagation.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Element by element.
    Elements(How),
    /// A reduction.
    Reduce(How),
    /// Element groups: one undefined element makes the group undefined.
    Groups,
    /// Whole registers.
    Whole,
    MaskLogic(Binary),
    Population,
    First,
    SetFirst(First),
    Iota,
    Id,
    SlideUp,
    SlideDown,
    Slide1Up,
    Slide1Down,
    Gather,
    Compress,
    ToX,
    ToF,
    ToElement0,
}

/// `vmsbf`, `vmsif`, `vmsof`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum First {
    Before,
    Including,
    Only,
}

/// What an element makes of its operands.
#[derive(Clone, Copy)]
pub enum How {
    /// Any undefined bit makes all undefined.
    Any,
    /// Bits of the result depend on the same bits of the operands, or on lower ones: a function of both,
    /// extended to the result's width.
    Bits(Extend, Binary),
    /// The same with the operands exchanged.
    Reversed(Binary),
    /// `vs1` or the scalar, as it is.
    Move,
    /// `v0` selects.
    Merge,
    Shift(Shift),
    /// `vs2`, extended.
    Extended(Extend),
    /// The bits of `vs2` in another order.
    Reorder(fn(u64, u32) -> u64),
    /// The sign is `vs1`'s.
    Sign,
    /// A comparison, signed or not, of `vs2` with the other or the other way around.
    Equal,
    Less {
        signed: bool,
        reversed: bool,
    },
}

/// An operation whose bits depend on the same bits of both operands, or on lower ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    And,
    AndNot,
    Or,
    OrNot,
    Xor,
    Add,
    Sub,
    Mul,
}

impl Binary {
    /// The undefined bits of the result.
    pub fn undefined(self, a: Bits, b: Bits) -> u64 {
        match self {
            Binary::And => bits::and(a, b),
            Binary::AndNot => bits::and(a, bits::not(b)),
            Binary::Or => bits::or(a, b),
            Binary::OrNot => bits::or(a, bits::not(b)),
            Binary::Xor => bits::xor(a, b),
            Binary::Add => bits::add(a, b),
            Binary::Sub => bits::sub(a, b),
            Binary::Mul => bits::mul(a, b),
        }
    }

    /// The result.
    pub fn value(self, a: u64, b: u64) -> u64 {
        match self {
            Binary::And => a & b,
            Binary::AndNot => a & !b,
            Binary::Or => a | b,
            Binary::OrNot => a | !b,
            Binary::Xor => a ^ b,
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
        }
    }

    /// Whether the result is known if both operands are the same register.
    pub fn cancels(self) -> bool {
        matches!(self, Binary::Xor | Binary::Sub | Binary::AndNot | Binary::OrNot)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extend {
    Zero,
    Sign,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    Left,
    Right,
    RightSigned,
    RotateLeft,
    RotateRight,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| Op::all().map(find).collect());

/// The rule of an instruction.
pub fn rule_of(op: Op) -> Rule {
    RULES[op as usize]
}

fn brev8(x: u64, _: u32) -> u64 {
    x.reverse_bits().swap_bytes()
}

fn rev8(x: u64, width: u32) -> u64 {
    x.swap_bytes() >> (64 - width)
}

fn brev(x: u64, width: u32) -> u64 {
    x.reverse_bits() >> (64 - width)
}

fn find(op: Op) -> Rule {
    use Op::*;
    if !matches!(op.chapter(), Chapter::Vector(_)) {
        return Rule::Elements(How::Any);
    }
    let elements = |how| Rule::Elements(how);
    let (zero, sign) = (Extend::Zero, Extend::Sign);
    match op {
        VmandMm | VmnandMm => Rule::MaskLogic(Binary::And),
        VmandnMm => Rule::MaskLogic(Binary::AndNot),
        VmorMm | VmnorMm => Rule::MaskLogic(Binary::Or),
        VmornMm => Rule::MaskLogic(Binary::OrNot),
        VmxorMm | VmxnorMm => Rule::MaskLogic(Binary::Xor),
        VcpopM => Rule::Population,
        VfirstM => Rule::First,
        VmsbfM => Rule::SetFirst(First::Before),
        VmsifM => Rule::SetFirst(First::Including),
        VmsofM => Rule::SetFirst(First::Only),
        ViotaM => Rule::Iota,
        VidV => Rule::Id,
        VslideupVi | VslideupVx => Rule::SlideUp,
        VslidedownVi | VslidedownVx => Rule::SlideDown,
        Vslide1upVx | Vfslide1upVf => Rule::Slide1Up,
        Vslide1downVx | Vfslide1downVf => Rule::Slide1Down,
        VrgatherVi | VrgatherVv | VrgatherVx | Vrgatherei16Vv => Rule::Gather,
        VcompressVm => Rule::Compress,
        VmvXS => Rule::ToX,
        VfmvFS => Rule::ToF,
        VmvSX | VfmvSF => Rule::ToElement0,
        VandVi | VandVv | VandVx => elements(How::Bits(zero, Binary::And)),
        VorVi | VorVv | VorVx => elements(How::Bits(zero, Binary::Or)),
        VxorVi | VxorVv | VxorVx => elements(How::Bits(zero, Binary::Xor)),
        VandnVv | VandnVx => elements(How::Bits(zero, Binary::AndNot)),
        VaddVi | VaddVv | VaddVx => elements(How::Bits(zero, Binary::Add)),
        VsubVv | VsubVx => elements(How::Bits(zero, Binary::Sub)),
        VrsubVi | VrsubVx => elements(How::Reversed(Binary::Sub)),
        VmulVv | VmulVx => elements(How::Bits(zero, Binary::Mul)),
        VwadduVv | VwadduVx | VwadduWv | VwadduWx => elements(How::Bits(zero, Binary::Add)),
        VwaddVv | VwaddVx | VwaddWv | VwaddWx => elements(How::Bits(sign, Binary::Add)),
        VwsubuVv | VwsubuVx | VwsubuWv | VwsubuWx => elements(How::Bits(zero, Binary::Sub)),
        VwsubVv | VwsubVx | VwsubWv | VwsubWx => elements(How::Bits(sign, Binary::Sub)),
        VwmuluVv | VwmuluVx => elements(How::Bits(zero, Binary::Mul)),
        VwmulVv | VwmulVx => elements(How::Bits(sign, Binary::Mul)),
        VmvVV | VmvVX | VmvVI | VfmvVF => elements(How::Move),
        VmergeVvm | VmergeVxm | VmergeVim | VfmergeVfm => elements(How::Merge),
        VsllVi | VsllVv | VsllVx | VwsllVi | VwsllVv | VwsllVx => elements(How::Shift(Shift::Left)),
        VsrlVi | VsrlVv | VsrlVx | VnsrlWi | VnsrlWv | VnsrlWx => elements(How::Shift(Shift::Right)),
        VsraVi | VsraVv | VsraVx | VnsraWi | VnsraWv | VnsraWx => elements(How::Shift(Shift::RightSigned)),
        VrolVv | VrolVx => elements(How::Shift(Shift::RotateLeft)),
        VrorVv | VrorVx | VrorVi => elements(How::Shift(Shift::RotateRight)),
        VzextVf2 | VzextVf4 | VzextVf8 => elements(How::Extended(zero)),
        VsextVf2 | VsextVf4 | VsextVf8 => elements(How::Extended(sign)),
        Vbrev8V => elements(How::Reorder(brev8)),
        Vrev8V => elements(How::Reorder(rev8)),
        VbrevV => elements(How::Reorder(brev)),
        VfsgnjVv | VfsgnjVf | VfsgnjnVv | VfsgnjnVf => elements(How::Sign),
        VmseqVi | VmseqVv | VmseqVx | VmsneVi | VmsneVv | VmsneVx => elements(How::Equal),
        VmsltuVv | VmsltuVx => elements(How::Less { signed: false, reversed: false }),
        VmsltVv | VmsltVx => elements(How::Less { signed: true, reversed: false }),
        VmsleuVv | VmsleuVx | VmsleuVi | VmsgtuVx | VmsgtuVi => {
            elements(How::Less { signed: false, reversed: true })
        }
        VmsleVv | VmsleVx | VmsleVi | VmsgtVx | VmsgtVi => {
            elements(How::Less { signed: true, reversed: true })
        }
        VredandVs => Rule::Reduce(How::Bits(zero, Binary::And)),
        VredorVs => Rule::Reduce(How::Bits(zero, Binary::Or)),
        VredxorVs => Rule::Reduce(How::Bits(zero, Binary::Xor)),
        VredsumVs => Rule::Reduce(How::Bits(zero, Binary::Add)),
        VwredsumuVs => Rule::Reduce(How::Bits(zero, Binary::Add)),
        VwredsumVs => Rule::Reduce(How::Bits(sign, Binary::Add)),
        _ if matches!(op.shape().vd, Eew::Registers(_)) => Rule::Whole,
        _ if op.shape().is_reduction() => Rule::Reduce(How::Any),
        _ if op.shape().group > 1 => Rule::Groups,
        _ => Rule::Elements(How::Any),
    }
}
