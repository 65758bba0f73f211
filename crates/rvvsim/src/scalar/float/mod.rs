//! Floating point: the chapters F, D, Zfh, Zfhmin, Zfbfmin and Zfa, each instruction once for all formats.
//!
//! The arithmetic is [`crate::fp`]; what is here is the instruction around it: which rounding mode, which
//! registers, NaN-boxing, and what becomes of the flags. `FS` is on when a handler runs: the engine sees to
//! it.

mod arith;
mod compare;
mod convert;
mod moves;
mod zfa;

pub(super) use moves::{flh, fsh};

use super::Handler;
use crate::Hart;
use crate::fp::{BF16, Bits, F16, F32, F64, Flags, Float, RoundingMode};
use crate::trap::{Exec, Trap};
use rvv_isa::{Inst, csr, rows};

/// The rows of instructions that exist in single, double and half precision, in this order, and of the
/// others.
macro_rules! formats {
    (
        $op:expr;
        each { $($($s:ident).+, $($d:ident).+, $($h:ident).+ => $($f:ident)::+;)* }
        other { $($($o:ident).+ => $handler:expr;)* }
    ) => {
        rows! { $op;
            $(
                $($s).+ => $($f)::+::<F32>;
                $($d).+ => $($f)::+::<F64>;
                $($h).+ => $($f)::+::<F16>;
            )*
            $($($o).+ => $handler;)*
        }
    };
}

/// The rows of the floating-point chapters.
pub(super) fn handler(op: rvv_isa::chapter::Float) -> Handler {
    formats! { op;
        each {
            fadd.s, fadd.d, fadd.h => arith::fadd;
            fsub.s, fsub.d, fsub.h => arith::fsub;
            fmul.s, fmul.d, fmul.h => arith::fmul;
            fdiv.s, fdiv.d, fdiv.h => arith::fdiv;
            fsqrt.s, fsqrt.d, fsqrt.h => arith::fsqrt;
            fmadd.s, fmadd.d, fmadd.h => arith::fmadd;
            fmsub.s, fmsub.d, fmsub.h => arith::fmsub;
            fnmsub.s, fnmsub.d, fnmsub.h => arith::fnmsub;
            fnmadd.s, fnmadd.d, fnmadd.h => arith::fnmadd;
            fmin.s, fmin.d, fmin.h => arith::fmin;
            fmax.s, fmax.d, fmax.h => arith::fmax;
            feq.s, feq.d, feq.h => compare::feq;
            flt.s, flt.d, flt.h => compare::flt;
            fle.s, fle.d, fle.h => compare::fle;
            fclass.s, fclass.d, fclass.h => compare::fclass;
            fcvt.w.s, fcvt.w.d, fcvt.w.h => convert::fcvt_w;
            fcvt.wu.s, fcvt.wu.d, fcvt.wu.h => convert::fcvt_wu;
            fcvt.l.s, fcvt.l.d, fcvt.l.h => convert::fcvt_l;
            fcvt.lu.s, fcvt.lu.d, fcvt.lu.h => convert::fcvt_lu;
            fcvt.s.w, fcvt.d.w, fcvt.h.w => convert::fcvt_from_w;
            fcvt.s.wu, fcvt.d.wu, fcvt.h.wu => convert::fcvt_from_wu;
            fcvt.s.l, fcvt.d.l, fcvt.h.l => convert::fcvt_from_l;
            fcvt.s.lu, fcvt.d.lu, fcvt.h.lu => convert::fcvt_from_lu;
            fsgnj.s, fsgnj.d, fsgnj.h => moves::fsgnj;
            fsgnjn.s, fsgnjn.d, fsgnjn.h => moves::fsgnjn;
            fsgnjx.s, fsgnjx.d, fsgnjx.h => moves::fsgnjx;
            fli.s, fli.d, fli.h => zfa::fli;
            fminm.s, fminm.d, fminm.h => zfa::fminm;
            fmaxm.s, fmaxm.d, fmaxm.h => zfa::fmaxm;
            fround.s, fround.d, fround.h => zfa::fround;
            froundnx.s, froundnx.d, froundnx.h => zfa::froundnx;
            fleq.s, fleq.d, fleq.h => zfa::fleq;
            fltq.s, fltq.d, fltq.h => zfa::fltq;
        }
        other {
            fcvt.s.d => convert::fcvt::<F64, F32>;
            fcvt.d.s => convert::fcvt::<F32, F64>;
            fcvt.s.h => convert::fcvt::<F16, F32>;
            fcvt.h.s => convert::fcvt::<F32, F16>;
            fcvt.d.h => convert::fcvt::<F16, F64>;
            fcvt.h.d => convert::fcvt::<F64, F16>;
            fcvt.bf16.s => convert::fcvt::<F32, BF16>;
            fcvt.s.bf16 => convert::fcvt::<BF16, F32>;
            fmv.x.h => moves::fmv_x_h;
            fmv.x.w => moves::fmv_x_w;
            fmv.x.d => moves::fmv_x_d;
            fmv.h.x => moves::fmv_from_x::<F16>;
            fmv.w.x => moves::fmv_from_x::<F32>;
            fmv.d.x => moves::fmv_from_x::<F64>;
            fcvtmod.w.d => zfa::fcvtmod_w_d;
        }
    }
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

/// Computes something that will be written to an integer register: `FS` becomes dirty only if flags are
/// raised, set before or not.
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
