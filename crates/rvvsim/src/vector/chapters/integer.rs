//! Vector integer arithmetic (manual, chapter "Vector Integer Arithmetic Instructions").
//!
//! Operations take `a` from `vs2` and `b` from `vs1`, `x[rs1]` or the immediate; `d` is the old `vd` and `m`
//! the bit of v0.

use crate::vector::run::element::{Element, Op1, kernel_by_sew, ops};
use crate::vector::run::kernel::KernelSpec;
use crate::vector::run::maps::{Carry, Choose, Map1, Map2, Map3, Test2, TestCarry};
use crate::vector::{Form, Row, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorInteger;

ops! { all:
    /// norm:vadd_vsub_op
    Vadd(a: U, b: U) -> U = a.wrapping_add(b);
    /// norm:vadd_vsub_op
    Vsub(a: U, b: U) -> U = a.wrapping_sub(b);
    /// norm:vrsub_op
    Vrsub(a: U, b: U) -> U = b.wrapping_sub(a);
    /// norm:vand_vor_vxor_op
    Vand(a: U, b: U) -> U = a & b;
    /// norm:vand_vor_vxor_op
    Vor(a: U, b: U) -> U = a | b;
    /// norm:vand_vor_vxor_op
    Vxor(a: U, b: U) -> U = a ^ b;
    /// norm:vsll_vsrl_vsra_op: the low lg2(SEW) bits of `b`, which is what wrapping_shl takes.
    Vsll(a: U, b: U) -> U = a.wrapping_shl(b as u32);
    /// norm:vsll_vsrl_vsra_op
    Vsrl(a: U, b: U) -> U = a.wrapping_shr(b as u32);
    /// norm:vsll_vsrl_vsra_op
    Vsra(a: U, b: U) -> U = (a as S).wrapping_shr(b as u32) as U;
    /// norm:vminu_vmin_vmaxu_vmax_op
    Vminu(a: U, b: U) -> U = a.min(b);
    /// norm:vminu_vmin_vmaxu_vmax_op
    Vmin(a: U, b: U) -> U = (a as S).min(b as S) as U;
    /// norm:vminu_vmin_vmaxu_vmax_op
    Vmaxu(a: U, b: U) -> U = a.max(b);
    /// norm:vminu_vmin_vmaxu_vmax_op
    Vmax(a: U, b: U) -> U = (a as S).max(b as S) as U;
    /// Zvabd: max(vs2, vs1) - min(vs2, vs1), both signed; the difference fits SEW bits as an unsigned number.
    Vabd(a: U, b: U) -> U = (a as S).abs_diff(b as S);
    /// Zvabd
    Vabdu(a: U, b: U) -> U = a.abs_diff(b);
    /// norm:vmul_vmulh_vmulhu_vmulhsu_op: the low half.
    Vmul(a: U, b: U) -> U = a.wrapping_mul(b);
    /// norm:vmul_vmulh_vmulhu_vmulhsu_op: the high half, both signed.
    Vmulh(a: U, b: U) -> U = ((a as S as Z * b as S as Z) >> BITS) as U;
    /// norm:vmul_vmulh_vmulhu_vmulhsu_op: the high half, both unsigned.
    Vmulhu(a: U, b: U) -> U = ((a as W * b as W) >> BITS) as U;
    /// norm:vmul_vmulh_vmulhu_vmulhsu_op: the high half, vs2 signed.
    Vmulhsu(a: U, b: U) -> U = ((a as S as Z).wrapping_mul(b as Z) >> BITS) as U;
    /// norm:vdivu_vdiv_vremu_vrem_op: division by zero gives all ones.
    Vdivu(a: U, b: U) -> U = a.checked_div(b).unwrap_or(U::MAX);
    /// norm:vdivu_vdiv_vremu_vrem_op: and overflow the dividend.
    Vdiv(a: U, b: U) -> U = if b == 0 { U::MAX } else { (a as S).wrapping_div(b as S) as U };
    /// norm:vdivu_vdiv_vremu_vrem_op: division by zero leaves the dividend.
    Vremu(a: U, b: U) -> U = a.checked_rem(b).unwrap_or(a);
    /// norm:vdivu_vdiv_vremu_vrem_op: and overflow zero.
    Vrem(a: U, b: U) -> U = if b == 0 { a } else { (a as S).wrapping_rem(b as S) as U };

    /// norm:vmacc_vnmsac_vmadd_vnmsub_op
    Vmacc(a: U, b: U, d: U) -> U = b.wrapping_mul(a).wrapping_add(d);
    /// norm:vmacc_vnmsac_vmadd_vnmsub_op
    Vnmsac(a: U, b: U, d: U) -> U = d.wrapping_sub(b.wrapping_mul(a));
    /// norm:vmacc_vnmsac_vmadd_vnmsub_op
    Vmadd(a: U, b: U, d: U) -> U = b.wrapping_mul(d).wrapping_add(a);
    /// norm:vmacc_vnmsac_vmadd_vnmsub_op
    Vnmsub(a: U, b: U, d: U) -> U = a.wrapping_sub(b.wrapping_mul(d));

    /// norm:vadc_vsbc_op
    Vadc(a: U, b: U, m: U) -> U = a.wrapping_add(b).wrapping_add(m);
    /// norm:vadc_vsbc_op
    Vsbc(a: U, b: U, m: U) -> U = a.wrapping_sub(b).wrapping_sub(m);
    /// norm:vmadc_vmsbc_op_masked: a carry out of either addition.
    Vmadc(a: U, b: U, m: U) -> bool = {
        let sum = a.wrapping_add(b);
        (sum < a) | (sum.wrapping_add(m) < sum)
    };
    /// norm:vmsbc_borrow_neg: 1 iff the difference is negative.
    Vmsbc(a: U, b: U, m: U) -> bool = (a < b) | ((a == b) & (m != 0));
    /// norm:vmadc_vmsbc_op_unmasked
    VmadcNoCarry(a: U, b: U) -> bool = a.wrapping_add(b) < a;
    /// norm:vmadc_vmsbc_op_unmasked
    VmsbcNoBorrow(a: U, b: U) -> bool = a < b;
    /// norm:vmv_op
    Vmv(_a: U, b: U) -> U = b;

    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmseq(a: U, b: U) -> bool = a == b;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsne(a: U, b: U) -> bool = a != b;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsltu(a: U, b: U) -> bool = a < b;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmslt(a: U, b: U) -> bool = (a as S) < b as S;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsleu(a: U, b: U) -> bool = a <= b;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsle(a: U, b: U) -> bool = a as S <= b as S;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsgtu(a: U, b: U) -> bool = a > b;
    /// norm:vmseq_vmsne_vmsltu_vmslt_vmsleu_vmsle_vmsgtu_vmsgt_op
    Vmsgt(a: U, b: U) -> bool = a as S > b as S;
}

ops! { narrow:
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    Vwaddu(a: U, b: U) -> W = a as W + b as W;
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    Vwsubu(a: U, b: U) -> W = (a as W).wrapping_sub(b as W);
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    Vwadd(a: U, b: U) -> W = (a as S as Z + b as S as Z) as W;
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    Vwsub(a: U, b: U) -> W = (a as S as Z - b as S as Z) as W;
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    VwadduW(a: W, b: U) -> W = a.wrapping_add(b as W);
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    VwsubuW(a: W, b: U) -> W = a.wrapping_sub(b as W);
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    VwaddW(a: W, b: U) -> W = a.wrapping_add(b as S as W);
    /// norm:vwaddu_vwadd_vwsubu_vwsub_op
    VwsubW(a: W, b: U) -> W = a.wrapping_sub(b as S as W);
    /// norm:vwmul_wmulu_vwmulsu_op
    Vwmulu(a: U, b: U) -> W = a as W * b as W;
    /// norm:vwmul_wmulu_vwmulsu_op
    Vwmul(a: U, b: U) -> W = (a as S as Z * b as S as Z) as W;
    /// norm:vwmul_wmulu_vwmulsu_op: vs2 is signed, vs1 unsigned.
    Vwmulsu(a: U, b: U) -> W = (a as S as Z * b as Z) as W;
    /// norm:vwmaccu_vwmacc_vwmaccsu_vwmaccus_op
    Vwmaccu(a: U, b: U, d: W) -> W = (b as W * a as W).wrapping_add(d);
    /// norm:vwmaccu_vwmacc_vwmaccsu_vwmaccus_op
    Vwmacc(a: U, b: U, d: W) -> W = ((b as S as Z * a as S as Z) as W).wrapping_add(d);
    /// norm:vwmaccu_vwmacc_vwmaccsu_vwmaccus_op: vs1 is signed, vs2 unsigned.
    Vwmaccsu(a: U, b: U, d: W) -> W = ((b as S as Z * a as Z) as W).wrapping_add(d);
    /// norm:vwmaccu_vwmacc_vwmaccsu_vwmaccus_op: the scalar is unsigned, vs2 signed.
    Vwmaccus(a: U, b: U, d: W) -> W = ((b as Z * a as S as Z) as W).wrapping_add(d);
    /// Zvabd: the absolute difference, zero-extended, is added.
    Vwabda(a: U, b: U, d: W) -> W = ((a as S).abs_diff(b as S) as W).wrapping_add(d);
    /// Zvabd
    Vwabdau(a: U, b: U, d: W) -> W = (a.abs_diff(b) as W).wrapping_add(d);
    /// norm:vnsrl_vnsra_op: the low lg2(2*SEW) bits of `b`.
    Vnsrl(a: W, b: U) -> U = a.wrapping_shr(b as u32) as U;
    /// norm:vnsrl_vnsra_op
    Vnsra(a: W, b: U) -> U = (a as Z).wrapping_shr(b as u32) as U;
}

/// norm:vsext_vzext_op
pub(in crate::vector) struct Vzext;
/// norm:vsext_vzext_op
pub(in crate::vector) struct Vsext;

impl<A: Element, R: Element> Op1<A, R> for Vzext {
    #[inline(always)]
    fn apply(a: A) -> R {
        R::from_u64(a.to_u64())
    }
}

impl<A: Element, R: Element> Op1<A, R> for Vsext {
    #[inline(always)]
    fn apply(a: A) -> R {
        R::from_u64(a.sext())
    }
}

/// An extension from SEW / 2^`log2`.
fn extension<O>(log2: u8, sew: Sew) -> Row
where
    O: Op1<u8, u16> + Op1<u8, u32> + Op1<u8, u64> + Op1<u16, u32> + Op1<u16, u64> + Op1<u32, u64> + 'static,
{
    let spec = match (log2, sew) {
        (1, Sew::E16) => Some(const { &KernelSpec::of::<Map1<O, u8, u16>>() }),
        (1, Sew::E32) => Some(const { &KernelSpec::of::<Map1<O, u16, u32>>() }),
        (1, Sew::E64) => Some(const { &KernelSpec::of::<Map1<O, u32, u64>>() }),
        (2, Sew::E32) => Some(const { &KernelSpec::of::<Map1<O, u8, u32>>() }),
        (2, Sew::E64) => Some(const { &KernelSpec::of::<Map1<O, u16, u64>>() }),
        (3, Sew::E64) => Some(const { &KernelSpec::of::<Map1<O, u8, u64>>() }),
        _ => None,
    };
    Row::new(Form::Map, spec)
}

/// The rows of the chapter.
pub(in crate::vector) fn row(op: VectorInteger, sew: Sew) -> Row {
    macro_rules! forms {
        ($($name:ident: $form:ident, $widths:ident, $block:ident<$($t:ident),+>;)*) => {$(
            macro_rules! $name {
                ($o:ty) => {
                    Row::new(Form::$form, kernel_by_sew!($widths sew, $block<$o, $($t),+>))
                };
            }
        )*};
    }
    forms! {
        map: Map, all, Map2<U, U, U>;
        accumulate: Map, all, Map3<U, U>;
        copy: Map, all, Map1<U, U>;
        compare: Test, all, Test2<U>;
        widen: Map, narrow, Map2<U, U, W>;
        widen_w: Map, narrow, Map2<W, U, W>;
        widen_accumulate: Map, narrow, Map3<U, W>;
        narrow: Map, narrow, Map2<W, U, U>;
        carry: Carry, all, Carry<U>;
        carry_out: TestCarry, all, TestCarry<U>;
        choose: Carry, all, Choose<U>;
    }
    rows! { op;
        vadd.vv, vadd.vx, vadd.vi => map!(Vadd);
        vsub.vv, vsub.vx => map!(Vsub);
        vrsub.vx, vrsub.vi => map!(Vrsub);
        vand.vv, vand.vx, vand.vi => map!(Vand);
        vor.vv, vor.vx, vor.vi => map!(Vor);
        vxor.vv, vxor.vx, vxor.vi => map!(Vxor);
        vsll.vv, vsll.vx, vsll.vi => map!(Vsll);
        vsrl.vv, vsrl.vx, vsrl.vi => map!(Vsrl);
        vsra.vv, vsra.vx, vsra.vi => map!(Vsra);
        vminu.vv, vminu.vx => map!(Vminu);
        vmin.vv, vmin.vx => map!(Vmin);
        vmaxu.vv, vmaxu.vx => map!(Vmaxu);
        vmax.vv, vmax.vx => map!(Vmax);
        vabd.vv, vabd.vx => map!(Vabd);
        vabdu.vv, vabdu.vx => map!(Vabdu);
        vmul.vv, vmul.vx => map!(Vmul);
        vmulh.vv, vmulh.vx => map!(Vmulh);
        vmulhu.vv, vmulhu.vx => map!(Vmulhu);
        vmulhsu.vv, vmulhsu.vx => map!(Vmulhsu);
        vdivu.vv, vdivu.vx => map!(Vdivu);
        vdiv.vv, vdiv.vx => map!(Vdiv);
        vremu.vv, vremu.vx => map!(Vremu);
        vrem.vv, vrem.vx => map!(Vrem);

        vmacc.vv, vmacc.vx => accumulate!(Vmacc);
        vnmsac.vv, vnmsac.vx => accumulate!(Vnmsac);
        vmadd.vv, vmadd.vx => accumulate!(Vmadd);
        vnmsub.vv, vnmsub.vx => accumulate!(Vnmsub);

        vadc.vvm, vadc.vxm, vadc.vim => carry!(Vadc);
        vsbc.vvm, vsbc.vxm => carry!(Vsbc);
        vmadc.vvm, vmadc.vxm, vmadc.vim => carry_out!(Vmadc);
        vmadc.vv, vmadc.vx, vmadc.vi => compare!(VmadcNoCarry);
        vmsbc.vvm, vmsbc.vxm => carry_out!(Vmsbc);
        vmsbc.vv, vmsbc.vx => compare!(VmsbcNoBorrow);
        // norm:vmerge_op_mask
        vmerge.vvm, vmerge.vxm, vmerge.vim => choose!(());
        vmv.v.v => copy!(Vzext);
        vmv.v.x, vmv.v.i => map!(Vmv);

        vmseq.vv, vmseq.vx, vmseq.vi => compare!(Vmseq);
        vmsne.vv, vmsne.vx, vmsne.vi => compare!(Vmsne);
        vmsltu.vv, vmsltu.vx => compare!(Vmsltu);
        vmslt.vv, vmslt.vx => compare!(Vmslt);
        vmsleu.vv, vmsleu.vx, vmsleu.vi => compare!(Vmsleu);
        vmsle.vv, vmsle.vx, vmsle.vi => compare!(Vmsle);
        vmsgtu.vx, vmsgtu.vi => compare!(Vmsgtu);
        vmsgt.vx, vmsgt.vi => compare!(Vmsgt);

        vwaddu.vv, vwaddu.vx => widen!(Vwaddu);
        vwadd.vv, vwadd.vx => widen!(Vwadd);
        vwsubu.vv, vwsubu.vx => widen!(Vwsubu);
        vwsub.vv, vwsub.vx => widen!(Vwsub);
        vwaddu.wv, vwaddu.wx => widen_w!(VwadduW);
        vwadd.wv, vwadd.wx => widen_w!(VwaddW);
        vwsubu.wv, vwsubu.wx => widen_w!(VwsubuW);
        vwsub.wv, vwsub.wx => widen_w!(VwsubW);
        vwmulu.vv, vwmulu.vx => widen!(Vwmulu);
        vwmul.vv, vwmul.vx => widen!(Vwmul);
        vwmulsu.vv, vwmulsu.vx => widen!(Vwmulsu);
        vwmaccu.vv, vwmaccu.vx => widen_accumulate!(Vwmaccu);
        vwmacc.vv, vwmacc.vx => widen_accumulate!(Vwmacc);
        vwmaccsu.vv, vwmaccsu.vx => widen_accumulate!(Vwmaccsu);
        vwmaccus.vx => widen_accumulate!(Vwmaccus);
        vwabda.vv, vwabda.vx => widen_accumulate!(Vwabda);
        vwabdau.vv, vwabdau.vx => widen_accumulate!(Vwabdau);
        vnsrl.wv, vnsrl.wx, vnsrl.wi => narrow!(Vnsrl);
        vnsra.wv, vnsra.wx, vnsra.wi => narrow!(Vnsra);

        vzext.vf2 => extension::<Vzext>(1, sew);
        vzext.vf4 => extension::<Vzext>(2, sew);
        vzext.vf8 => extension::<Vzext>(3, sew);
        vsext.vf2 => extension::<Vsext>(1, sew);
        vsext.vf4 => extension::<Vsext>(2, sew);
        vsext.vf8 => extension::<Vsext>(3, sew);
    }
}
