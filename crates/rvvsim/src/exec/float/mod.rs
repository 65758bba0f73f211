//! Floating point: the chapters F, D, Zfh, Zfhmin, Zfbfmin and Zfa, each instruction once for all formats.
//!
//! The arithmetic is [`crate::fp`]; what is here is the instruction around it: which rounding mode, which
//! registers, NaN-boxing, and what becomes of the flags. `FS` is on when a handler runs: the engine sees to it.

mod arith;
mod bf16;
mod compare;
mod convert;
mod moves;
mod zfa;

use super::{Flow, Handler};
use crate::Hart;
use crate::fp::{Bits, Flags, Float, RoundingMode};
use crate::trap::{Exec, Trap};
use rvv_isa::{Inst, Op, csr};

/// Looks up an instruction that exists in single, double and half precision, in this order.
macro_rules! formats {
    ($op:expr, { $($s:ident $d:ident $h:ident => $f:ident,)* }) => {
        match $op {
            $(
                Op::$s => Some($f::<F32> as Handler),
                Op::$d => Some($f::<F64> as Handler),
                Op::$h => Some($f::<F16> as Handler),
            )*
            _ => None,
        }
    };
}
use formats;

/// The handlers of the floating-point chapters.
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    let handler = arith::handler(op)
        .or_else(|| compare::handler(op))
        .or_else(|| convert::handler(op))
        .or_else(|| moves::handler(op))
        .or_else(|| zfa::handler(op))
        .or_else(|| bf16::handler(op))?;
    Some((handler, Flow::Next))
}

/// What `rm` says to ask `frm`.
const DYNAMIC: u8 = 0b111;

/// The rounding mode of an instruction that has an `rm` field. Every such instruction asks, also the widening
/// conversions that never round: "implementations must treat the rm field as usual" (section "Floating-Point
/// Control and Status Register").
#[inline(always)]
fn rounding_mode(h: &Hart, i: &Inst) -> Exec<RoundingMode> {
    let mode = if i.rm == DYNAMIC { h.frm } else { i.rm };
    RoundingMode::from_frm(mode).ok_or_else(|| reserved_mode(i))
}

#[cold]
fn reserved_mode(i: &Inst) -> Trap {
    let why = if i.rm == DYNAMIC {
        "norm:roundingmode_rsv: the dynamic rounding mode in frm is reserved"
    } else {
        "norm:roundingmode_rsv: the static rounding mode is reserved"
    };
    Trap::illegal(i.raw, why)
}

/// The bits of a register that a value takes.
const fn value_bits<F: Float>() -> u64 {
    u64::MAX >> (64 - F::WIDTH)
}

/// Reads an operand. One narrower than the register must be NaN-boxed, and is the canonical NaN if it is not
/// (section "NaN Boxing of Narrower Values").
#[inline(always)]
fn read<F: Float>(h: &Hart, r: u8) -> F::Bits {
    let register = h.f[r];
    if register | value_bits::<F>() == u64::MAX { F::Bits::truncate(register) } else { F::CANONICAL_NAN }
}

/// Writes a result, NaN-boxed.
#[inline(always)]
fn write<F: Float>(h: &mut Hart, r: u8, value: F::Bits) -> Exec {
    h.set_f(r, !value_bits::<F>() | value.into());
    Ok(())
}

/// Computes something that will be written to a floating-point register, which makes `FS` dirty whether flags
/// were raised or not. Flags go straight into `fflags`, where those already set spare the arithmetic work.
#[inline(always)]
fn accruing<R>(h: &mut Hart, compute: impl FnOnce(&mut Flags) -> R) -> R {
    let logged = h.log.is_some();
    let before = if logged { std::mem::take(&mut h.fflags) } else { Flags::NONE };
    let result = compute(&mut h.fflags);
    if logged {
        let raised = std::mem::replace(&mut h.fflags, before);
        accrue(h, raised);
    }
    result
}

/// Computes something that will be written to an integer register: `FS` becomes dirty only if flags are raised,
/// set before or not.
#[inline(always)]
fn accruing_to_x<R>(h: &mut Hart, compute: impl FnOnce(&mut Flags) -> R) -> R {
    let mut raised = Flags::NONE;
    let result = compute(&mut raised);
    accrue(h, raised);
    result
}

#[inline(always)]
fn accrue(h: &mut Hart, raised: Flags) {
    if raised == Flags::NONE {
        return;
    }
    h.fflags.raise(raised);
    h.fs_dirty = true;
    let now = u64::from(h.fflags.bits());
    if let Some(log) = &mut h.log {
        log.csr(csr::FFLAGS, now);
    }
}
