//! Vector floating-point instructions (manual, chapter "Vector Floating-Point Instructions", and the bf16
//! extensions Zvfbfmin and Zvfbfwma).
//!
//! Operations take `a` from `vs2` and `b` from `vs1` or `f[rs1]`; `d` is the old `vd`.

use super::body::{Carry, log_csr};
use super::body::{Each, Group, Map, Source, Splat, begin, end, run_group, write_group, write_mask};
use super::conversion;
use super::element::Element;
use super::legality::{Eew, Float as Operands, Shape};
use super::{Entry, Run, VInst};
use crate::Hart;
use crate::fp::{self, BF16, F32, Flags, Float, RoundingMode};
use crate::mem::Scalar;
use crate::trap::Exec;
use rvv_isa::{Op, Sew, csr};
use std::marker::PhantomData;

/// norm:V_inv_frm_rsv: any vector floating-point instruction needs a valid `frm`, whether it rounds or not.
#[inline(always)]
pub(super) fn rounding_mode(hart: &Hart, vi: &VInst) -> Exec<RoundingMode> {
    RoundingMode::from_frm(hart.frm)
        .ok_or_else(|| vi.illegal("norm:V_inv_frm_rsv: frm holds an invalid rounding mode"))
}

/// As [`rounding_mode`], for instructions that only move.
pub(super) fn check_frm(hart: &Hart, vi: &VInst) -> Exec {
    rounding_mode(hart, vi).map(|_| ())
}

/// The exceptions of an instruction, over those accrued before.
#[inline(always)]
pub(super) fn finish_float(hart: &mut Hart, flags: Flags) {
    if flags != hart.fflags {
        hart.fflags = flags;
        hart.fs_dirty = true;
        log_csr(hart, csr::FFLAGS, u64::from(flags.bits()));
    }
}

/// norm:vfop_freg_NaNbox_lsb_sewbits: the value in an `f` register, the canonical NaN if it is not boxed.
#[inline(always)]
pub(super) fn unbox_scalar<T: Element>(f: u64) -> T {
    T::from_u64(match T::SIZE {
        2 => u64::from(fp::unbox_f16(f)),
        4 => u64::from(fp::unbox_f32(f)),
        _ => f,
    })
}

/// A value as an `f` register holds it.
#[inline(always)]
pub(super) fn box_scalar<T: Element>(value: T) -> u64 {
    match T::SIZE {
        2 => fp::box_f16(value.to_u64() as u16),
        4 => fp::box_f32(value.to_u64() as u32),
        _ => value.to_u64(),
    }
}

/// A floating-point format whose bits are an element.
pub trait Format: Float<Bits: Element> {}
impl<F: Float<Bits: Element>> Format for F {}

/// An operation of one number.
trait Op1 {
    fn apply<F: Format>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits;
}

/// An operation of two.
trait Op2 {
    fn apply<F: Format>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits;
}

/// An operation of three.
trait Op3 {
    fn apply<F: Format>(a: F::Bits, b: F::Bits, d: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits;
}

/// A comparison.
trait Compare {
    fn apply<F: Format>(a: F::Bits, b: F::Bits, flags: &mut Flags) -> bool;
}

/// A fused multiply-add with a wide addend.
trait WideOp3 {
    fn apply<F: Format, G: Format>(
        a: F::Bits,
        b: F::Bits,
        d: G::Bits,
        rm: RoundingMode,
        flags: &mut Flags,
    ) -> G::Bits;
}

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident<$f:ident>($a:ident; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        struct $name;
        impl Op1 for $name {
            #[inline(always)]
            fn apply<$f: Format>($a: $f::Bits, $rm: RoundingMode, $fl: &mut Flags) -> $f::Bits {
                $body
            }
        }
    )*};
    ($($(#[$doc:meta])* $name:ident<$f:ident>($a:ident, $b:ident; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        struct $name;
        impl Op2 for $name {
            #[inline(always)]
            fn apply<$f: Format>($a: $f::Bits, $b: $f::Bits, $rm: RoundingMode, $fl: &mut Flags) -> $f::Bits {
                $body
            }
        }
    )*};
    ($($(#[$doc:meta])* $name:ident<$f:ident>($a:ident, $b:ident, $d:ident; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        struct $name;
        impl Op3 for $name {
            #[inline(always)]
            fn apply<$f: Format>(
                $a: $f::Bits,
                $b: $f::Bits,
                $d: $f::Bits,
                $rm: RoundingMode,
                $fl: &mut Flags,
            ) -> $f::Bits {
                $body
            }
        }
    )*};
    ($($(#[$doc:meta])* $name:ident<$f:ident>($a:ident, $b:ident; $fl:ident) -> bool = $body:expr;)*) => {$(
        $(#[$doc])*
        struct $name;
        impl Compare for $name {
            #[inline(always)]
            fn apply<$f: Format>($a: $f::Bits, $b: $f::Bits, $fl: &mut Flags) -> bool {
                $body
            }
        }
    )*};
    ($($(#[$doc:meta])* $name:ident<$f:ident, $g:ident>($a:ident, $b:ident, $d:ident; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        struct $name;
        impl WideOp3 for $name {
            #[inline(always)]
            fn apply<$f: Format, $g: Format>(
                $a: $f::Bits,
                $b: $f::Bits,
                $d: $g::Bits,
                $rm: RoundingMode,
                $fl: &mut Flags,
            ) -> $g::Bits {
                $body
            }
        }
    )*};
}

ops! {
    /// norm:vfsqrt_op
    Vfsqrt<F>(a; rm, fl) = F::sqrt(a, rm, fl);
    /// norm:vfrsqrt7_op
    Vfrsqrt7<F>(a; _rm, fl) = F::rsqrt7(a, fl);
    /// norm:vfrec7_op
    Vfrec7<F>(a; rm, fl) = F::rec7(a, rm, fl);
    /// norm:vfclass_op
    Vfclass<F>(a; _rm, _fl) = F::Bits::from_u64(F::classify(a));
}

ops! {
    /// norm:vfadd_vfsub_vfrsub_op
    Vfadd<F>(a, b; rm, fl) = F::add(a, b, rm, fl);
    /// norm:vfadd_vfsub_vfrsub_op
    Vfsub<F>(a, b; rm, fl) = F::sub(a, b, rm, fl);
    /// norm:vfadd_vfsub_vfrsub_op
    Vfrsub<F>(a, b; rm, fl) = F::sub(b, a, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    Vfmul<F>(a, b; rm, fl) = F::mul(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    Vfdiv<F>(a, b; rm, fl) = F::div(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    Vfrdiv<F>(a, b; rm, fl) = F::div(b, a, rm, fl);
    /// norm:vfmin_vfmax_op
    Vfmin<F>(a, b; _rm, fl) = F::min(a, b, fl);
    /// norm:vfmin_vfmax_op
    Vfmax<F>(a, b; _rm, fl) = F::max(a, b, fl);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnj<F>(a, b; _rm, _fl) = F::sgnj(a, b);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjn<F>(a, b; _rm, _fl) = F::sgnjn(a, b);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjx<F>(a, b; _rm, _fl) = F::sgnjx(a, b);
}

ops! {
    /// `vd = (vs1 * vs2) + vd`: norm:vfmacc_vfnmacc_vfmsac_vfnmsac_vfmadd_vfnmadd_vfmsub_vfnmsub_op
    Vfmacc<F>(a, b, d; rm, fl) = F::fused_mul_add(b, a, d, rm, fl);
    /// `vd = -(vs1 * vs2) - vd`
    Vfnmacc<F>(a, b, d; rm, fl) = F::fused_mul_add(F::neg(b), a, F::neg(d), rm, fl);
    /// `vd = (vs1 * vs2) - vd`
    Vfmsac<F>(a, b, d; rm, fl) = F::fused_mul_add(b, a, F::neg(d), rm, fl);
    /// `vd = -(vs1 * vs2) + vd`
    Vfnmsac<F>(a, b, d; rm, fl) = F::fused_mul_add(F::neg(b), a, d, rm, fl);
    /// `vd = (vs1 * vd) + vs2`
    Vfmadd<F>(a, b, d; rm, fl) = F::fused_mul_add(b, d, a, rm, fl);
    /// `vd = -(vs1 * vd) - vs2`
    Vfnmadd<F>(a, b, d; rm, fl) = F::fused_mul_add(F::neg(b), d, F::neg(a), rm, fl);
    /// `vd = (vs1 * vd) - vs2`
    Vfmsub<F>(a, b, d; rm, fl) = F::fused_mul_add(b, d, F::neg(a), rm, fl);
    /// `vd = -(vs1 * vd) + vs2`
    Vfnmsub<F>(a, b, d; rm, fl) = F::fused_mul_add(F::neg(b), d, a, rm, fl);
}

ops! {
    /// `vd = (vs1 * vs2) + vd`: norm:vfwmacc_vfwnmacc_vfwmsac_vfwnmsac_op
    Vfwmacc<F, G>(a, b, d; rm, fl) = fp::widening_fma::<F, G>(b, a, d, rm, fl);
    /// `vd = -(vs1 * vs2) - vd`
    Vfwnmacc<F, G>(a, b, d; rm, fl) = fp::widening_fma::<F, G>(F::neg(b), a, G::neg(d), rm, fl);
    /// `vd = (vs1 * vs2) - vd`
    Vfwmsac<F, G>(a, b, d; rm, fl) = fp::widening_fma::<F, G>(b, a, G::neg(d), rm, fl);
    /// `vd = -(vs1 * vs2) + vd`
    Vfwnmsac<F, G>(a, b, d; rm, fl) = fp::widening_fma::<F, G>(F::neg(b), a, d, rm, fl);
}

ops! {
    /// norm:vmfeq_vmfne_vmflt_vmfle_vmfgt_vmfge_op: only a signaling NaN is invalid.
    Vmfeq<F>(a, b; fl) -> bool = F::eq(a, b, fl);
    /// norm:vmfne_vdval1_NaN
    Vmfne<F>(a, b; fl) -> bool = !F::eq(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    Vmflt<F>(a, b; fl) -> bool = F::lt(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    Vmfle<F>(a, b; fl) -> bool = F::le(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    Vmfgt<F>(a, b; fl) -> bool = F::lt(b, a, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    Vmfge<F>(a, b; fl) -> bool = F::le(b, a, fl);
}

/// A whole instruction with a result for each element and exception flags.
macro_rules! run_float {
    ($hart:ident, $vi:ident, $operands:expr, |$($a:ident),+; $rm:ident, $flags:ident| $body:expr) => {{
        let $rm = rounding_mode($hart, $vi)?;
        begin($hart, $vi)?;
        let mut flags = $hart.fflags;
        let $flags = &mut flags;
        write_group(&mut $hart.v, $vi, &mut Each($operands, |$($a),+| $body));
        finish_float($hart, flags);
        end($hart);
        Ok(())
    }};
}
pub(super) use run_float;

fn fv<O: Op1, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2),), |a; rm, flags| O::apply::<F>(a, rm, flags))
}

#[inline(always)]
fn binary<O: Op2, F: Format, B: Source<T = F::Bits>>(hart: &mut Hart, vi: &VInst, b: B) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2), b), |a, b; rm, flags| O::apply::<F>(a, b, rm, flags))
}

fn fvv<O: Op2, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    binary::<O, F, _>(hart, vi, Group::new(vi.vs1))
}

fn fvf<O: Op2, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    binary::<O, F, _>(hart, vi, Splat(b))
}

#[inline(always)]
fn ternary<O: Op3, F: Format, B: Source<T = F::Bits>>(hart: &mut Hart, vi: &VInst, b: B) -> Exec {
    let operands = (Group::<F::Bits>::new(vi.vs2), b, Group::<F::Bits>::new(vi.vd));
    run_float!(hart, vi, operands, |a, b, d; rm, flags| O::apply::<F>(a, b, d, rm, flags))
}

fn fvvd<O: Op3, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    ternary::<O, F, _>(hart, vi, Group::new(vi.vs1))
}

fn fvfd<O: Op3, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    ternary::<O, F, _>(hart, vi, Splat(b))
}

/// 2*SEW = SEW op SEW: the operands widen exactly, and the operation rounds once.
#[inline(always)]
fn widening<O: Op2, F: Format, G: Format, B: Source<T = F::Bits>>(hart: &mut Hart, vi: &VInst, b: B) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2), b), |a, b; rm, flags| {
        let a = fp::convert::<F, G>(a, rm, flags);
        let b = fp::convert::<F, G>(b, rm, flags);
        O::apply::<G>(a, b, rm, flags)
    })
}

fn fwvv<O: Op2, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    widening::<O, F, G, _>(hart, vi, Group::new(vi.vs1))
}

fn fwvf<O: Op2, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    widening::<O, F, G, _>(hart, vi, Splat(b))
}

/// 2*SEW = 2*SEW op SEW.
#[inline(always)]
fn widening_w<O: Op2, F: Format, G: Format, B: Source<T = F::Bits>>(
    hart: &mut Hart,
    vi: &VInst,
    b: B,
) -> Exec {
    run_float!(hart, vi, (Group::<G::Bits>::new(vi.vs2), b), |a, b; rm, flags| {
        let b = fp::convert::<F, G>(b, rm, flags);
        O::apply::<G>(a, b, rm, flags)
    })
}

fn fwwv<O: Op2, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    widening_w::<O, F, G, _>(hart, vi, Group::new(vi.vs1))
}

fn fwwf<O: Op2, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    widening_w::<O, F, G, _>(hart, vi, Splat(b))
}

#[inline(always)]
fn widening_fma<O: WideOp3, F: Format, G: Format, B: Source<T = F::Bits>>(
    hart: &mut Hart,
    vi: &VInst,
    b: B,
) -> Exec {
    let operands = (Group::<F::Bits>::new(vi.vs2), b, Group::<G::Bits>::new(vi.vd));
    run_float!(hart, vi, operands, |a, b, d; rm, flags| O::apply::<F, G>(a, b, d, rm, flags))
}

fn fwvvd<O: WideOp3, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    widening_fma::<O, F, G, _>(hart, vi, Group::new(vi.vs1))
}

fn fwvfd<O: WideOp3, F: Format, G: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    widening_fma::<O, F, G, _>(hart, vi, Splat(b))
}

/// norm:vfwmaccbf16_vf: the scalar is a bf16, and so is its canonical NaN.
fn vfwmaccbf16_vf(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = fp::unbox_bf16(hart.f[vi.inst.rs1]);
    widening_fma::<Vfwmacc, BF16, F32, _>(hart, vi, Splat(b))
}

#[inline(always)]
fn compare<O: Compare, F: Format, B: Source<T = F::Bits>>(hart: &mut Hart, vi: &VInst, b: B) -> Exec {
    rounding_mode(hart, vi)?;
    begin(hart, vi)?;
    let mut flags = hart.fflags;
    let operands = (Group::<F::Bits>::new(vi.vs2), b);
    write_mask(&mut hart.v, vi, &mut Each(operands, |a, b| O::apply::<F>(a, b, &mut flags)));
    finish_float(hart, flags);
    end(hart);
    Ok(())
}

fn mfvv<O: Compare, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    compare::<O, F, _>(hart, vi, Group::new(vi.vs1))
}

fn mfvf<O: Compare, F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = unbox_scalar(hart.f[vi.inst.rs1]);
    compare::<O, F, _>(hart, vi, Splat(b))
}

/// norm:vfmerge_op_mask
fn vfmerge<F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    let b: F::Bits = unbox_scalar(hart.f[vi.inst.rs1]);
    let operands = (Group::<F::Bits>::new(vi.vs2), Carry::<F::Bits>(PhantomData));
    run_group(hart, vi, Map(operands, |a, m| if m == <F::Bits as Element>::ZERO { a } else { b }))
}

/// norm:vfmv_op
fn vfmv_v_f<F: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    let b: F::Bits = unbox_scalar(hart.f[vi.inst.rs1]);
    run_group(hart, vi, Map((Splat(b),), |b| b))
}

/// The instance of a kernel for the floating-point format of SEW, `F`, and the wider one, `G`.
macro_rules! by_float {
    (all $sew:expr, $($kernel:tt)*) => {{
        use $crate::fp::{F16, F32, F64};
        match $sew {
            Sew::E8 => $crate::vector::reserved as $crate::vector::Run,
            Sew::E16 => { type F = F16; $($kernel)* }
            Sew::E32 => { type F = F32; $($kernel)* }
            Sew::E64 => { type F = F64; $($kernel)* }
        }
    }};
    (narrow $sew:expr, $($kernel:tt)*) => {{
        use $crate::fp::{F16, F32, F64};
        match $sew {
            Sew::E8 | Sew::E64 => $crate::vector::reserved as $crate::vector::Run,
            Sew::E16 => { type F = F16; type G = F32; $($kernel)* }
            Sew::E32 => { type F = F32; type G = F64; $($kernel)* }
        }
    }};
}
pub(super) use by_float;

const BF16_ONLY: &str = "norm:vfwmaccbf16_sew_rsv: SEW is any value other than 16";

/// The rows of the chapter.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Entry> {
    macro_rules! row {
        ($widths:ident, $shape:expr, $($kernel:tt)*) => {
            Entry { shape: $shape, run: by_float!($widths sew, $($kernel)*) }
        };
    }
    let vv = Shape::VV.float(Operands::Sew);
    let vf = Shape::VX.float(Operands::Sew);
    let (vvd, vfd) = (vv.reads_vd(), vf.reads_vd());
    let mvv = Shape::MVV.float(Operands::Sew);
    let mvf = Shape::MVX.float(Operands::Sew);
    let wvv = Shape::WVV.float(Operands::Both);
    let wvf = Shape::WVX.float(Operands::Both);
    let wwv = Shape::WWV.float(Operands::Both);
    let wwf = Shape::WWX.float(Operands::Both);
    let (wvvd, wvfd) = (wvv.reads_vd(), wvf.reads_vd());
    let to_vd = Shape::new(Eew::Sew, Eew::Absent, Eew::Absent).float(Operands::Sew);
    let bf16 = Operands::Bf16(BF16_ONLY);
    Some(match op {
        Op::VfaddVv => row!(all, vv, fvv::<Vfadd, F>),
        Op::VfaddVf => row!(all, vf, fvf::<Vfadd, F>),
        Op::VfsubVv => row!(all, vv, fvv::<Vfsub, F>),
        Op::VfsubVf => row!(all, vf, fvf::<Vfsub, F>),
        Op::VfrsubVf => row!(all, vf, fvf::<Vfrsub, F>),
        Op::VfmulVv => row!(all, vv, fvv::<Vfmul, F>),
        Op::VfmulVf => row!(all, vf, fvf::<Vfmul, F>),
        Op::VfdivVv => row!(all, vv, fvv::<Vfdiv, F>),
        Op::VfdivVf => row!(all, vf, fvf::<Vfdiv, F>),
        Op::VfrdivVf => row!(all, vf, fvf::<Vfrdiv, F>),
        Op::VfminVv => row!(all, vv, fvv::<Vfmin, F>),
        Op::VfminVf => row!(all, vf, fvf::<Vfmin, F>),
        Op::VfmaxVv => row!(all, vv, fvv::<Vfmax, F>),
        Op::VfmaxVf => row!(all, vf, fvf::<Vfmax, F>),
        Op::VfsgnjVv => row!(all, vv, fvv::<Vfsgnj, F>),
        Op::VfsgnjVf => row!(all, vf, fvf::<Vfsgnj, F>),
        Op::VfsgnjnVv => row!(all, vv, fvv::<Vfsgnjn, F>),
        Op::VfsgnjnVf => row!(all, vf, fvf::<Vfsgnjn, F>),
        Op::VfsgnjxVv => row!(all, vv, fvv::<Vfsgnjx, F>),
        Op::VfsgnjxVf => row!(all, vf, fvf::<Vfsgnjx, F>),
        Op::VfsqrtV => row!(all, vf, fv::<Vfsqrt, F>),
        Op::Vfrsqrt7V => row!(all, vf, fv::<Vfrsqrt7, F>),
        Op::Vfrec7V => row!(all, vf, fv::<Vfrec7, F>),
        Op::VfclassV => row!(all, vf, fv::<Vfclass, F>),

        Op::VfmaccVv => row!(all, vvd, fvvd::<Vfmacc, F>),
        Op::VfmaccVf => row!(all, vfd, fvfd::<Vfmacc, F>),
        Op::VfnmaccVv => row!(all, vvd, fvvd::<Vfnmacc, F>),
        Op::VfnmaccVf => row!(all, vfd, fvfd::<Vfnmacc, F>),
        Op::VfmsacVv => row!(all, vvd, fvvd::<Vfmsac, F>),
        Op::VfmsacVf => row!(all, vfd, fvfd::<Vfmsac, F>),
        Op::VfnmsacVv => row!(all, vvd, fvvd::<Vfnmsac, F>),
        Op::VfnmsacVf => row!(all, vfd, fvfd::<Vfnmsac, F>),
        Op::VfmaddVv => row!(all, vvd, fvvd::<Vfmadd, F>),
        Op::VfmaddVf => row!(all, vfd, fvfd::<Vfmadd, F>),
        Op::VfnmaddVv => row!(all, vvd, fvvd::<Vfnmadd, F>),
        Op::VfnmaddVf => row!(all, vfd, fvfd::<Vfnmadd, F>),
        Op::VfmsubVv => row!(all, vvd, fvvd::<Vfmsub, F>),
        Op::VfmsubVf => row!(all, vfd, fvfd::<Vfmsub, F>),
        Op::VfnmsubVv => row!(all, vvd, fvvd::<Vfnmsub, F>),
        Op::VfnmsubVf => row!(all, vfd, fvfd::<Vfnmsub, F>),

        Op::VfwaddVv => row!(narrow, wvv, fwvv::<Vfadd, F, G>),
        Op::VfwaddVf => row!(narrow, wvf, fwvf::<Vfadd, F, G>),
        Op::VfwsubVv => row!(narrow, wvv, fwvv::<Vfsub, F, G>),
        Op::VfwsubVf => row!(narrow, wvf, fwvf::<Vfsub, F, G>),
        Op::VfwaddWv => row!(narrow, wwv, fwwv::<Vfadd, F, G>),
        Op::VfwaddWf => row!(narrow, wwf, fwwf::<Vfadd, F, G>),
        Op::VfwsubWv => row!(narrow, wwv, fwwv::<Vfsub, F, G>),
        Op::VfwsubWf => row!(narrow, wwf, fwwf::<Vfsub, F, G>),
        Op::VfwmulVv => row!(narrow, wvv, fwvv::<Vfmul, F, G>),
        Op::VfwmulVf => row!(narrow, wvf, fwvf::<Vfmul, F, G>),
        Op::VfwmaccVv => row!(narrow, wvvd, fwvvd::<Vfwmacc, F, G>),
        Op::VfwmaccVf => row!(narrow, wvfd, fwvfd::<Vfwmacc, F, G>),
        Op::VfwnmaccVv => row!(narrow, wvvd, fwvvd::<Vfwnmacc, F, G>),
        Op::VfwnmaccVf => row!(narrow, wvfd, fwvfd::<Vfwnmacc, F, G>),
        Op::VfwmsacVv => row!(narrow, wvvd, fwvvd::<Vfwmsac, F, G>),
        Op::VfwmsacVf => row!(narrow, wvfd, fwvfd::<Vfwmsac, F, G>),
        Op::VfwnmsacVv => row!(narrow, wvvd, fwvvd::<Vfwnmsac, F, G>),
        Op::VfwnmsacVf => row!(narrow, wvfd, fwvfd::<Vfwnmsac, F, G>),
        Op::Vfwmaccbf16Vv => Entry { shape: wvvd.float(bf16), run: fwvvd::<Vfwmacc, BF16, F32> as Run },
        Op::Vfwmaccbf16Vf => Entry { shape: wvfd.float(bf16), run: vfwmaccbf16_vf },

        Op::VmfeqVv => row!(all, mvv, mfvv::<Vmfeq, F>),
        Op::VmfeqVf => row!(all, mvf, mfvf::<Vmfeq, F>),
        Op::VmfneVv => row!(all, mvv, mfvv::<Vmfne, F>),
        Op::VmfneVf => row!(all, mvf, mfvf::<Vmfne, F>),
        Op::VmfltVv => row!(all, mvv, mfvv::<Vmflt, F>),
        Op::VmfltVf => row!(all, mvf, mfvf::<Vmflt, F>),
        Op::VmfleVv => row!(all, mvv, mfvv::<Vmfle, F>),
        Op::VmfleVf => row!(all, mvf, mfvf::<Vmfle, F>),
        Op::VmfgtVf => row!(all, mvf, mfvf::<Vmfgt, F>),
        Op::VmfgeVf => row!(all, mvf, mfvf::<Vmfge, F>),

        Op::VfmergeVfm => row!(all, vf.v0_is_operand(), vfmerge::<F>),
        Op::VfmvVF => row!(all, to_vd, vfmv_v_f::<F>),
        _ => return conversion::entry(op, sew),
    })
}
