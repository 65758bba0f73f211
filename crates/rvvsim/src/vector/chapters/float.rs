//! Vector floating-point instructions (manual, chapter "Vector Floating-Point Instructions", and the bf16
//! extensions Zvfbfmin and Zvfbfwma).
//!
//! Operations take `a` from `vs2` and `b` from `vs1` or `f[rs1]`; `d` is the old `vd`.

use crate::Hart;
use crate::fp::{self, BF16, Bits, F32, Flags, Float, RoundingMode};
use crate::trap::Exec;
use crate::vector::chapters::integer::Vmv;
use crate::vector::run::element::{Element, ops};
use crate::vector::run::elements::{self, begin, end, map, put_scalar};
use crate::vector::run::float_elements::{check_frm, run, scalar};
use crate::vector::run::float_kernels::{
    Compare, Equal, Float1, Float2, Float3, Fused, Greater, GreaterOrEqual, Greatest, Least, Less,
    LessOrEqual, Nothing, Product, Quotient, Reversed, Root, Sum, Unary, Unequal, Wide2, WideFused,
};
use crate::vector::run::input::MapInput;
use crate::vector::run::kernel::{Fast, KernelSpec, Negated};
use crate::vector::run::maps::{Choose, Map2};
use crate::vector::{Form, Row, VInst, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorFloat;

/// A floating-point format whose bits are an element.
pub trait Format: Float<Bits: Element> {}
impl<F: Float<Bits: Element>> Format for F {}

/// Operations on one element, exactly, on bits in the low part of a `u64`: see
/// [`Slow`](crate::vector::run::kernel::Slow). `a` is of `vs2`, `b` of `vs1` or the scalar, `d` the third
/// operand.
macro_rules! slow {
    ($($(#[$doc:meta])* $name:ident<$($f:ident),+>($($arg:ident: $t:ident),*; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        #[allow(unused_variables)]
        fn $name<$($f: Format),+>(a: u64, b: u64, d: u64, $rm: RoundingMode, $fl: &mut Flags) -> u64 {
            let mut operands = [a, b, d].into_iter();
            $(let $arg = <$t as Float>::Bits::truncate(operands.next().unwrap_or(0));)*
            Into::<u64>::into($body)
        }
    )*};
}

slow! {
    /// norm:vfadd_vfsub_vfrsub_op: a difference is a sum with a sign flipped, in every mode.
    add<F>(a: F, b: F; rm, fl) = F::add(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    mul<F>(a: F, b: F; rm, fl) = F::mul(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    div<F>(a: F, b: F; rm, fl) = F::div(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    rdiv<F>(a: F, b: F; rm, fl) = F::div(b, a, rm, fl);
    /// norm:vfsqrt_op
    sqrt<F>(a: F; rm, fl) = F::sqrt(a, rm, fl);
    /// norm:vfrsqrt7_op
    rsqrt7<F>(a: F; rm, fl) = F::rsqrt7(a, fl);
    /// norm:vfrec7_op
    rec7<F>(a: F; rm, fl) = F::rec7(a, rm, fl);
    /// norm:vfclass_op
    class<F>(a: F; rm, fl) = F::classify(a);
    /// norm:vfmin_vfmax_op
    min<F>(a: F, b: F; rm, fl) = F::min(a, b, fl);
    /// norm:vfmin_vfmax_op
    max<F>(a: F, b: F; rm, fl) = F::max(a, b, fl);
    /// `vd = (vs1 * vs2) + vd`: norm:vfmacc_vfnmacc_vfmsac_vfnmsac_vfmadd_vfnmadd_vfmsub_vfnmsub_op; the
    /// others of them flip signs of operands, or have `vd` for `vs2`.
    fma<F>(a: F, b: F, d: F; rm, fl) = F::fused_mul_add(b, a, d, rm, fl);
    /// 2*SEW = SEW + SEW: the operands widen exactly, and the operation rounds once.
    wide_add<F, G>(a: F, b: F; rm, fl) = {
        let a = fp::convert::<F, G>(a, rm, fl);
        G::add(a, fp::convert::<F, G>(b, rm, fl), rm, fl)
    };
    /// 2*SEW = 2*SEW + SEW.
    wide_add_w<F, G>(a: G, b: F; rm, fl) = G::add(a, fp::convert::<F, G>(b, rm, fl), rm, fl);
    /// 2*SEW = SEW * SEW.
    wide_mul<F, G>(a: F, b: F; rm, fl) = {
        let a = fp::convert::<F, G>(a, rm, fl);
        G::mul(a, fp::convert::<F, G>(b, rm, fl), rm, fl)
    };
    /// `vd = (vs1 * vs2) + vd`: norm:vfwmacc_vfwnmacc_vfwmsac_vfwnmsac_op
    wide_fma<F, G>(a: F, b: F, d: G; rm, fl) = fp::widening_fma::<F, G>(b, a, d, rm, fl);
    /// norm:vmfeq_vmfne_vmflt_vmfle_vmfgt_vmfge_op: only a signaling NaN is invalid.
    eq<F>(a: F, b: F; rm, fl) = F::eq(a, b, fl);
    /// norm:vmfne_vdval1_NaN
    ne<F>(a: F, b: F; rm, fl) = !F::eq(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    lt<F>(a: F, b: F; rm, fl) = F::lt(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    le<F>(a: F, b: F; rm, fl) = F::le(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    gt<F>(a: F, b: F; rm, fl) = F::lt(b, a, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    ge<F>(a: F, b: F; rm, fl) = F::le(b, a, fl);
}

ops! { all:
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnj(a: U, b: U) -> U = a & U::MAX >> 1 | b & !(U::MAX >> 1);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjn(a: U, b: U) -> U = a & U::MAX >> 1 | !b & !(U::MAX >> 1);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjx(a: U, b: U) -> U = a ^ b & !(U::MAX >> 1);
}

/// norm:vfwmaccbf16_vf: the scalar is a bf16, and so is its canonical NaN.
fn vfwmaccbf16_vf(hart: &mut Hart, vi: &VInst) -> Exec {
    let scalar = u64::from(fp::unbox_bf16(hart.f[vi.inst.rs1]));
    run(hart, vi, Some(scalar), |p, v| p.group(v, 0))
}

/// Signs and merges: integers, but `frm` must be valid as for any vector floating-point instruction.
fn sign_vv(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    elements::vv(hart, vi)
}

fn sign_vf(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let scalar = scalar(hart, vi);
    put_scalar(&mut hart.v, vi, scalar);
    map(&mut hart.v, vi, MapInput::Index);
    end(hart);
    Ok(())
}

/// norm:vfmerge_op_mask
fn vfmerge(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let scalar = scalar(hart, vi);
    put_scalar(&mut hart.v, vi, scalar);
    map(&mut hart.v, vi, MapInput::Mask);
    end(hart);
    Ok(())
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
pub(in crate::vector) use by_float;

/// The rows of the chapter.
pub(in crate::vector) fn row(op: VectorFloat, sew: Sew) -> Row {
    const RNE: Fast = Fast::In(RoundingMode::Rne);
    /// The work for the format of SEW, `F`, with elements `T`.
    macro_rules! spec {
        ($($spec:tt)*) => {{
            use crate::fp::{F16, F64};
            #[allow(dead_code)]
            match sew {
                Sew::E8 => None,
                Sew::E16 => { type F = F16; type T = u16; Some(const { &$($spec)* }) }
                Sew::E32 => { type F = F32; type T = u32; Some(const { &$($spec)* }) }
                Sew::E64 => { type F = F64; type T = u64; Some(const { &$($spec)* }) }
            }
        }};
    }
    /// The same, with a result of the format `G`, elements `R`.
    macro_rules! wide {
        ($($spec:tt)*) => {{
            use crate::fp::{F16, F64};
            match sew {
                Sew::E8 | Sew::E64 => None,
                Sew::E16 => { type F = F16; type G = F32; type T = u16; type R = u32; Some(const { &$($spec)* }) }
                Sew::E32 => { type F = F32; type G = F64; type T = u32; type R = u64; Some(const { &$($spec)* }) }
            }
        }};
    }
    /// A work for [`Form::Float`].
    macro_rules! float {
        ($kernel:ident<$o:ty>, $slow:ident, $fast:expr) => {
            Row::new(Form::Float, spec!(KernelSpec::float::<$kernel<$o, T>>($slow::<F>, $fast)))
        };
    }
    /// One without a kernel.
    macro_rules! slow {
        ($slow:ident) => {
            Row::new(Form::Float, spec!(KernelSpec::float::<Nothing<T, T>>($slow::<F>, Fast::Never)))
        };
    }
    /// Whether a sign is a minus.
    macro_rules! is_minus {
        (+) => {
            false
        };
        (-) => {
            true
        };
    }
    /// A sum, by its signs.
    macro_rules! sum {
        (vs2 $b:tt vs1) => { sum!(+vs2 $b vs1) };
        ($a:tt vs2 $b:tt vs1) => {
            Row::new(
                Form::Float,
                spec!(KernelSpec::float::<Float2<Sum, T>>(add::<F>, RNE)
                    .negating(Negated { a: is_minus!($a), b: is_minus!($b), d: false })),
            )
        };
    }
    /// A fused multiply-add, by its signs.
    macro_rules! fused {
        ((vs1 * vs2) $d:tt vd) => { fused!(@ +, $d) };
        (-(vs1 * vs2) $d:tt vd) => { fused!(@ -, $d) };
        ((vs1 * vd) $d:tt vs2) => { fused!(@ +, $d, .swapped()) };
        (-(vs1 * vd) $d:tt vs2) => { fused!(@ -, $d, .swapped()) };
        (@ $product:tt, $d:tt $(, $($swapped:tt)*)?) => {
            Row::new(
                Form::Float,
                spec!(KernelSpec::float::<Float3<Fused, T>>(fma::<F>, RNE)
                    .negating(Negated { a: false, b: is_minus!($product), d: is_minus!($d) })$($($swapped)*)?),
            )
        };
    }
    /// A widening one.
    macro_rules! wide_fused {
        ((vs1 * vs2) $d:tt vd) => { wide_fused!(@ +, $d) };
        (-(vs1 * vs2) $d:tt vd) => { wide_fused!(@ -, $d) };
        (@ $product:tt, $d:tt) => {
            Row::new(
                Form::Float,
                wide!(KernelSpec::float::<WideFused<Sum, T, R>>(wide_fma::<F, G>, RNE)
                    .negating(Negated { a: false, b: is_minus!($product), d: is_minus!($d) })),
            )
        };
    }
    /// A widening sum, by the widths of `vs2` and `vs1`.
    macro_rules! wide_sum {
        (SEW $b:tt SEW) => { wide_sum!(@ T, wide_add, $b) };
        (2 * SEW $b:tt SEW) => { wide_sum!(@ R, wide_add_w, $b) };
        (@ $a:ident, $slow:ident, $b:tt) => {
            Row::new(
                Form::Float,
                wide!(KernelSpec::float::<Wide2<Sum, $a, T, R>>($slow::<F, G>, RNE)
                    .negating(Negated { a: false, b: is_minus!($b), d: false })),
            )
        };
    }
    macro_rules! sign {
        ($o:ty, $run:expr) => {
            Row::new(Form::Own($run), spec!(KernelSpec::of::<Map2<$o, T, T, T>>()))
        };
    }
    macro_rules! compare {
        ($relation:ty, $slow:ident) => {
            Row::new(
                Form::FloatTest,
                spec!(KernelSpec::float::<Compare<$relation, T>>($slow::<F>, Fast::Always)),
            )
        };
    }
    let bf16_fma = const { &KernelSpec::float::<Nothing<u16, u32>>(wide_fma::<BF16, F32>, Fast::Never) };
    rows! { op;
        vfadd.vv, vfadd.vf => sum!(vs2 + vs1);
        vfsub.vv, vfsub.vf => sum!(vs2 - vs1);
        vfrsub.vf => sum!(-vs2 + vs1);
        vfmul.vv, vfmul.vf => float!(Float2<Product>, mul, RNE);
        vfdiv.vv, vfdiv.vf => float!(Float2<Quotient>, div, RNE);
        vfrdiv.vf => float!(Float2<Reversed>, rdiv, RNE);
        vfmin.vv, vfmin.vf => float!(Float2<Least>, min, Fast::Always);
        vfmax.vv, vfmax.vf => float!(Float2<Greatest>, max, Fast::Always);
        vfsgnj.vv => sign!(Vfsgnj, sign_vv);
        vfsgnj.vf => sign!(Vfsgnj, sign_vf);
        vfsgnjn.vv => sign!(Vfsgnjn, sign_vv);
        vfsgnjn.vf => sign!(Vfsgnjn, sign_vf);
        vfsgnjx.vv => sign!(Vfsgnjx, sign_vv);
        vfsgnjx.vf => sign!(Vfsgnjx, sign_vf);
        vfsqrt.v => Row::new(Form::Float, spec!(KernelSpec::float::<Float1<Unary<Root>, T, T>>(sqrt::<F>, RNE)));
        vfrsqrt7.v => slow!(rsqrt7);
        vfrec7.v => slow!(rec7);
        vfclass.v => slow!(class);

        vfmacc.vv, vfmacc.vf => fused!((vs1 * vs2) + vd);
        vfnmacc.vv, vfnmacc.vf => fused!(-(vs1 * vs2) - vd);
        vfmsac.vv, vfmsac.vf => fused!((vs1 * vs2) - vd);
        vfnmsac.vv, vfnmsac.vf => fused!(-(vs1 * vs2) + vd);
        vfmadd.vv, vfmadd.vf => fused!((vs1 * vd) + vs2);
        vfnmadd.vv, vfnmadd.vf => fused!(-(vs1 * vd) - vs2);
        vfmsub.vv, vfmsub.vf => fused!((vs1 * vd) - vs2);
        vfnmsub.vv, vfnmsub.vf => fused!(-(vs1 * vd) + vs2);

        vfwadd.vv, vfwadd.vf => wide_sum!(SEW + SEW);
        vfwsub.vv, vfwsub.vf => wide_sum!(SEW - SEW);
        vfwadd.wv, vfwadd.wf => wide_sum!(2 * SEW + SEW);
        vfwsub.wv, vfwsub.wf => wide_sum!(2 * SEW - SEW);
        vfwmul.vv, vfwmul.vf => Row::new(
            Form::Float,
            wide!(KernelSpec::float::<Wide2<Product, T, T, R>>(wide_mul::<F, G>, Fast::Always)),
        );
        vfwmacc.vv, vfwmacc.vf => wide_fused!((vs1 * vs2) + vd);
        vfwnmacc.vv, vfwnmacc.vf => wide_fused!(-(vs1 * vs2) - vd);
        vfwmsac.vv, vfwmsac.vf => wide_fused!((vs1 * vs2) - vd);
        vfwnmsac.vv, vfwnmsac.vf => wide_fused!(-(vs1 * vs2) + vd);
        vfwmaccbf16.vv => Row::new(Form::Float, Some(bf16_fma));
        vfwmaccbf16.vf => Row::new(Form::Own(vfwmaccbf16_vf), Some(bf16_fma));

        vmfeq.vv, vmfeq.vf => compare!(Equal, eq);
        vmfne.vv, vmfne.vf => compare!(Unequal, ne);
        vmflt.vv, vmflt.vf => compare!(Less, lt);
        vmfle.vv, vmfle.vf => compare!(LessOrEqual, le);
        vmfgt.vf => compare!(Greater, gt);
        vmfge.vf => compare!(GreaterOrEqual, ge);

        vfmerge.vfm => Row::new(Form::Own(vfmerge), spec!(KernelSpec::of::<Choose<(), T>>()));
        vfmv.v.f => sign!(Vmv, sign_vf);
    }
}
