//! Vector integer arithmetic (manual, chapter "Vector Integer Arithmetic Instructions").
//!
//! Operations take `a` from `vs2` and `b` from `vs1`, `x[rs1]` or the immediate; `d` is the old `vd` and `m` the
//! bit of v0.

use super::Row;
use super::body::{mvv, mvvm, mvx, mvxm, vv, vvm, vx, vxm};
use super::element::{Element, Op1, ops, work_by_sew};
use super::kernels::{Carry, Choose, Map1, Map2, Map3, Test2, TestCarry};
use super::lanes::Work;
use super::legality::{Eew, Shape};
use rvv_isa::{Op, Sew};

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
    /// norm:vnsrl_vnsra_op: the low lg2(2*SEW) bits of `b`.
    Vnsrl(a: W, b: U) -> U = a.wrapping_shr(b as u32) as U;
    /// norm:vnsrl_vnsra_op
    Vnsra(a: W, b: U) -> U = (a as Z).wrapping_shr(b as u32) as U;
}

/// norm:vsext_vzext_op
pub(super) struct Vzext;
/// norm:vsext_vzext_op
pub(super) struct Vsext;

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

fn extension<O>(factor: u8, sew: Sew) -> Row
where
    O: Op1<u8, u16> + Op1<u8, u32> + Op1<u8, u64> + Op1<u16, u32> + Op1<u16, u64> + Op1<u32, u64> + 'static,
{
    let work = match (factor, sew) {
        (1, Sew::E16) => Some(const { &Work::of::<Map1<O, u8, u16>>() }),
        (1, Sew::E32) => Some(const { &Work::of::<Map1<O, u16, u32>>() }),
        (1, Sew::E64) => Some(const { &Work::of::<Map1<O, u32, u64>>() }),
        (2, Sew::E32) => Some(const { &Work::of::<Map1<O, u8, u32>>() }),
        (2, Sew::E64) => Some(const { &Work::of::<Map1<O, u16, u64>>() }),
        (3, Sew::E64) => Some(const { &Work::of::<Map1<O, u8, u64>>() }),
        _ => None,
    };
    Row::new(Shape::new(Eew::Sew, Eew::Fraction(factor), Eew::Absent), vv, work)
}

const CARRY_TO_V0: &str = "norm:vadc_vsbc_vd_v0_rsv: the destination of vadc or vsbc is v0";

/// The rows of the chapter.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Row> {
    /// A row with its kernel for the element width.
    macro_rules! row {
        ($widths:ident, $shape:expr, $run:expr, $($block:tt)*) => {
            Row::new($shape, $run, work_by_sew!($widths sew, $($block)*))
        };
    }
    macro_rules! rows {
        ($($name:ident: $widths:ident, $shape:expr, $run:ident, $block:ident<$($t:ident),+>;)*) => {$(
            macro_rules! $name {
                ($o:ty) => {
                    row!($widths, $shape, $run, $block<$o, $($t),+>)
                };
            }
        )*};
    }
    rows! {
        vv: all, Shape::VV, vv, Map2<U, U, U>;
        vx: all, Shape::VX, vx, Map2<U, U, U>;
        vvd: all, Shape::VV.reads_vd(), vv, Map3<U, U>;
        vxd: all, Shape::VX.reads_vd(), vx, Map3<U, U>;
        mvv: all, Shape::MVV, mvv, Test2<U>;
        mvx: all, Shape::MVX, mvx, Test2<U>;
        wvv: narrow, Shape::WVV, vv, Map2<U, U, W>;
        wvx: narrow, Shape::WVX, vx, Map2<U, U, W>;
        wwv: narrow, Shape::WWV, vv, Map2<W, U, W>;
        wwx: narrow, Shape::WWX, vx, Map2<W, U, W>;
        wvvd: narrow, Shape::WVV.reads_vd(), vv, Map3<U, W>;
        wvxd: narrow, Shape::WVX.reads_vd(), vx, Map3<U, W>;
        nwv: narrow, Shape::NWV, vv, Map2<W, U, U>;
        nwx: narrow, Shape::NWX, vx, Map2<W, U, U>;
    }
    let carry_vv = Shape::VV.v0_is_operand().apart_v0(CARRY_TO_V0);
    let carry_vx = Shape::VX.v0_is_operand().apart_v0(CARRY_TO_V0);
    let merge_vv = Shape::VV.v0_is_operand();
    let merge_vx = Shape::VX.v0_is_operand();
    let mask_vv = Shape::MVV.v0_is_operand();
    let mask_vx = Shape::MVX.v0_is_operand();
    Some(match op {
        Op::VaddVv => vv!(Vadd),
        Op::VaddVx | Op::VaddVi => vx!(Vadd),
        Op::VsubVv => vv!(Vsub),
        Op::VsubVx => vx!(Vsub),
        Op::VrsubVx | Op::VrsubVi => vx!(Vrsub),
        Op::VandVv => vv!(Vand),
        Op::VandVx | Op::VandVi => vx!(Vand),
        Op::VorVv => vv!(Vor),
        Op::VorVx | Op::VorVi => vx!(Vor),
        Op::VxorVv => vv!(Vxor),
        Op::VxorVx | Op::VxorVi => vx!(Vxor),
        Op::VsllVv => vv!(Vsll),
        Op::VsllVx | Op::VsllVi => vx!(Vsll),
        Op::VsrlVv => vv!(Vsrl),
        Op::VsrlVx | Op::VsrlVi => vx!(Vsrl),
        Op::VsraVv => vv!(Vsra),
        Op::VsraVx | Op::VsraVi => vx!(Vsra),
        Op::VminuVv => vv!(Vminu),
        Op::VminuVx => vx!(Vminu),
        Op::VminVv => vv!(Vmin),
        Op::VminVx => vx!(Vmin),
        Op::VmaxuVv => vv!(Vmaxu),
        Op::VmaxuVx => vx!(Vmaxu),
        Op::VmaxVv => vv!(Vmax),
        Op::VmaxVx => vx!(Vmax),
        Op::VmulVv => vv!(Vmul),
        Op::VmulVx => vx!(Vmul),
        Op::VmulhVv => vv!(Vmulh),
        Op::VmulhVx => vx!(Vmulh),
        Op::VmulhuVv => vv!(Vmulhu),
        Op::VmulhuVx => vx!(Vmulhu),
        Op::VmulhsuVv => vv!(Vmulhsu),
        Op::VmulhsuVx => vx!(Vmulhsu),
        Op::VdivuVv => vv!(Vdivu),
        Op::VdivuVx => vx!(Vdivu),
        Op::VdivVv => vv!(Vdiv),
        Op::VdivVx => vx!(Vdiv),
        Op::VremuVv => vv!(Vremu),
        Op::VremuVx => vx!(Vremu),
        Op::VremVv => vv!(Vrem),
        Op::VremVx => vx!(Vrem),

        Op::VmaccVv => vvd!(Vmacc),
        Op::VmaccVx => vxd!(Vmacc),
        Op::VnmsacVv => vvd!(Vnmsac),
        Op::VnmsacVx => vxd!(Vnmsac),
        Op::VmaddVv => vvd!(Vmadd),
        Op::VmaddVx => vxd!(Vmadd),
        Op::VnmsubVv => vvd!(Vnmsub),
        Op::VnmsubVx => vxd!(Vnmsub),

        Op::VadcVvm => row!(all, carry_vv, vvm, Carry<Vadc, U>),
        Op::VadcVxm | Op::VadcVim => row!(all, carry_vx, vxm, Carry<Vadc, U>),
        Op::VsbcVvm => row!(all, carry_vv, vvm, Carry<Vsbc, U>),
        Op::VsbcVxm => row!(all, carry_vx, vxm, Carry<Vsbc, U>),
        Op::VmadcVvm => row!(all, mask_vv, mvvm, TestCarry<Vmadc, U>),
        Op::VmadcVxm | Op::VmadcVim => row!(all, mask_vx, mvxm, TestCarry<Vmadc, U>),
        Op::VmadcVv => mvv!(VmadcNoCarry),
        Op::VmadcVx | Op::VmadcVi => mvx!(VmadcNoCarry),
        Op::VmsbcVvm => row!(all, mask_vv, mvvm, TestCarry<Vmsbc, U>),
        Op::VmsbcVxm => row!(all, mask_vx, mvxm, TestCarry<Vmsbc, U>),
        Op::VmsbcVv => mvv!(VmsbcNoBorrow),
        Op::VmsbcVx => mvx!(VmsbcNoBorrow),
        // norm:vmerge_op_mask
        Op::VmergeVvm => row!(all, merge_vv, vvm, Choose<(), U>),
        Op::VmergeVxm | Op::VmergeVim => row!(all, merge_vx, vxm, Choose<(), U>),
        Op::VmvVV => row!(all, Shape::new(Eew::Sew, Eew::Absent, Eew::Sew), vv, Map1<Vzext, U, U>),
        Op::VmvVX | Op::VmvVI => {
            row!(all, Shape::new(Eew::Sew, Eew::Absent, Eew::Absent), vx, Map2<Vmv, U, U, U>)
        }

        Op::VmseqVv => mvv!(Vmseq),
        Op::VmseqVx | Op::VmseqVi => mvx!(Vmseq),
        Op::VmsneVv => mvv!(Vmsne),
        Op::VmsneVx | Op::VmsneVi => mvx!(Vmsne),
        Op::VmsltuVv => mvv!(Vmsltu),
        Op::VmsltuVx => mvx!(Vmsltu),
        Op::VmsltVv => mvv!(Vmslt),
        Op::VmsltVx => mvx!(Vmslt),
        Op::VmsleuVv => mvv!(Vmsleu),
        Op::VmsleuVx | Op::VmsleuVi => mvx!(Vmsleu),
        Op::VmsleVv => mvv!(Vmsle),
        Op::VmsleVx | Op::VmsleVi => mvx!(Vmsle),
        Op::VmsgtuVx | Op::VmsgtuVi => mvx!(Vmsgtu),
        Op::VmsgtVx | Op::VmsgtVi => mvx!(Vmsgt),

        Op::VwadduVv => wvv!(Vwaddu),
        Op::VwadduVx => wvx!(Vwaddu),
        Op::VwaddVv => wvv!(Vwadd),
        Op::VwaddVx => wvx!(Vwadd),
        Op::VwsubuVv => wvv!(Vwsubu),
        Op::VwsubuVx => wvx!(Vwsubu),
        Op::VwsubVv => wvv!(Vwsub),
        Op::VwsubVx => wvx!(Vwsub),
        Op::VwadduWv => wwv!(VwadduW),
        Op::VwadduWx => wwx!(VwadduW),
        Op::VwaddWv => wwv!(VwaddW),
        Op::VwaddWx => wwx!(VwaddW),
        Op::VwsubuWv => wwv!(VwsubuW),
        Op::VwsubuWx => wwx!(VwsubuW),
        Op::VwsubWv => wwv!(VwsubW),
        Op::VwsubWx => wwx!(VwsubW),
        Op::VwmuluVv => wvv!(Vwmulu),
        Op::VwmuluVx => wvx!(Vwmulu),
        Op::VwmulVv => wvv!(Vwmul),
        Op::VwmulVx => wvx!(Vwmul),
        Op::VwmulsuVv => wvv!(Vwmulsu),
        Op::VwmulsuVx => wvx!(Vwmulsu),
        Op::VwmaccuVv => wvvd!(Vwmaccu),
        Op::VwmaccuVx => wvxd!(Vwmaccu),
        Op::VwmaccVv => wvvd!(Vwmacc),
        Op::VwmaccVx => wvxd!(Vwmacc),
        Op::VwmaccsuVv => wvvd!(Vwmaccsu),
        Op::VwmaccsuVx => wvxd!(Vwmaccsu),
        Op::VwmaccusVx => wvxd!(Vwmaccus),
        Op::VnsrlWv => nwv!(Vnsrl),
        Op::VnsrlWx | Op::VnsrlWi => nwx!(Vnsrl),
        Op::VnsraWv => nwv!(Vnsra),
        Op::VnsraWx | Op::VnsraWi => nwx!(Vnsra),

        Op::VzextVf2 => extension::<Vzext>(1, sew),
        Op::VzextVf4 => extension::<Vzext>(2, sew),
        Op::VzextVf8 => extension::<Vzext>(3, sew),
        Op::VsextVf2 => extension::<Vsext>(1, sew),
        Op::VsextVf4 => extension::<Vsext>(2, sew),
        Op::VsextVf8 => extension::<Vsext>(3, sew),
        _ => return None,
    })
}
