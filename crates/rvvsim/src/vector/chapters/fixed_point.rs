//! Vector fixed-point arithmetic (manual, chapter "Vector Fixed-Point Arithmetic Instructions").
//!
//! Operations give the element, and a number that is not zero if it was saturated.

use crate::Hart;
use crate::trap::Exec;
use crate::vector::run::element::{kernel_by_sew, ops};
use crate::vector::run::elements::{begin, end, log_csr, map, put_scalar};
use crate::vector::run::input::{MapInput, Vxrm};
use crate::vector::run::maps::Saturating;
use crate::vector::{Form, Row, VInst, rows};
use rvv_isa::chapter::VectorFixed;
use rvv_isa::{Sew, csr};

/// The rounding increment `r` of norm:vxrm_op, without branches: the same for a lane as for many.
trait Round {
    /// The increment for this value, `d` bits of which are rounded off. `d` is less than its width.
    fn increment(self, d: u32, vxrm: Vxrm) -> Self;
    /// The increment where one bit, `half`, is rounded off, and `last` is the last bit that is left.
    fn increment_of(half: Self, last: Self, vxrm: Vxrm) -> Self;
}

macro_rules! round {
    ($($t:ty)*) => {$(
        impl Round for $t {
            #[inline(always)]
            fn increment(self, d: u32, vxrm: Vxrm) -> Self {
                let below = ((1 as $t) << d) - 1;
                let cut = self & below;
                // v[d], v[d-1], v[d-2:0] != 0; nothing is cut off if d is 0.
                let last = self >> d & 1;
                let half = (cut << 1) >> d;
                let rest = <$t>::from(cut & (below >> 1) != 0);
                let when = |mode| <$t>::from(vxrm == mode).wrapping_neg();
                half & when(Vxrm::RNU) | half & (rest | last) & when(Vxrm::RNE) | (last ^ 1) & (half | rest) & when(Vxrm::ROD)
            }

            #[inline(always)]
            fn increment_of(half: Self, last: Self, vxrm: Vxrm) -> Self {
                let when = |mode| <$t>::from(vxrm == mode).wrapping_neg();
                half & (when(Vxrm::RNU) | last & when(Vxrm::RNE) | (last ^ 1) & when(Vxrm::ROD))
            }
        }
    )*};
}

round! { u8 u16 u32 u64 u128 }

ops! { all:
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vsaddu(a: U, b: U, _rm: Vxrm) -> (U, U) = {
        let sum = a.saturating_add(b);
        (sum, sum ^ a.wrapping_add(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vsadd(a: U, b: U, _rm: Vxrm) -> (U, U) = {
        let sum = (a as S).saturating_add(b as S) as U;
        (sum, sum ^ a.wrapping_add(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vssubu(a: U, b: U, _rm: Vxrm) -> (U, U) = {
        let difference = a.saturating_sub(b);
        (difference, difference ^ a.wrapping_sub(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vssub(a: U, b: U, _rm: Vxrm) -> (U, U) = {
        let difference = (a as S).saturating_sub(b as S) as U;
        (difference, difference ^ a.wrapping_sub(b))
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op: `roundoff_unsigned(vs2[i] + vs1[i], 1)`.
    /// ⌊(a+b)/2⌋ = (a & b) + ((a ^ b) >> 1), without overflow.
    Vaaddu(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let half = (a & b).wrapping_add((a ^ b) >> 1);
        (half.wrapping_add(U::increment_of((a ^ b) & 1, half & 1, rm)), 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op: `roundoff_signed(vs2[i] + vs1[i], 1)`
    Vaadd(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let half = (a & b).wrapping_add(((a ^ b) as S >> 1) as U);
        (half.wrapping_add(U::increment_of((a ^ b) & 1, half & 1, rm)), 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op; norm:vasub_vasubu_op_overflow: it wraps around.
    /// ⌊(a-b)/2⌋ = ((a ^ b) >> 1) - (!a & b), without overflow.
    Vasubu(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let half = ((a ^ b) >> 1).wrapping_sub(!a & b);
        (half.wrapping_add(U::increment_of((a ^ b) & 1, half & 1, rm)), 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op
    Vasub(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let half = (((a ^ b) as S >> 1) as U).wrapping_sub(!a & b);
        (half.wrapping_add(U::increment_of((a ^ b) & 1, half & 1, rm)), 0)
    };
    /// norm:vsmul_op: `clip(roundoff_signed(vs2[i]*vs1[i], SEW-1))`
    Vsmul(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let product = a as S as Z * b as S as Z;
        let rounded = (product >> (BITS - 1)) + (product as W).increment(BITS - 1, rm) as Z;
        // Only the square of the least number is out of range.
        let clipped = rounded.min(S::MAX as Z);
        (clipped as U, (clipped != rounded) as U)
    };
    /// norm:vssrl_vssra_op: the low lg2(SEW) bits of `b`.
    Vssrl(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let d = b as u32 % BITS;
        ((a >> d).wrapping_add(a.increment(d, rm)), 0)
    };
    /// norm:vssrl_vssra_op
    Vssra(a: U, b: U, rm: Vxrm) -> (U, U) = {
        let d = b as u32 % BITS;
        (((a as S >> d) as U).wrapping_add(a.increment(d, rm)), 0)
    };
}

ops! { narrow:
    /// norm:vnclipu_vnclip_op, norm:vnclipu_overflow: the low lg2(2*SEW) bits of `b`.
    Vnclipu(a: W, b: U, rm: Vxrm) -> (U, U) = {
        let d = b as u32 % W::BITS;
        let rounded = (a >> d) + a.increment(d, rm);
        let clipped = rounded.min(U::MAX as W);
        (clipped as U, (clipped != rounded) as U)
    };
    /// norm:vnclipu_vnclip_op, norm:vnclip_overflow
    Vnclip(a: W, b: U, rm: Vxrm) -> (U, U) = {
        let d = b as u32 % W::BITS;
        let rounded = (a as Z >> d) + a.increment(d, rm) as Z;
        let clipped = rounded.clamp(S::MIN as Z, S::MAX as Z);
        (clipped as U, (clipped != rounded) as U)
    };
}

/// A whole instruction; `vxsat` if an active element was saturated.
#[inline(always)]
fn run(hart: &mut Hart, vi: &VInst) -> Exec {
    if map(&mut hart.v, vi, MapInput::Vxrm) != 0 {
        saturated(hart);
    }
    end(hart);
    Ok(())
}

/// An active element was saturated.
pub(in crate::vector) fn saturated(hart: &mut Hart) {
    hart.v.vxsat = true;
    log_csr(hart, csr::VXSAT, 1);
}

pub(in crate::vector) fn vv(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    run(hart, vi)
}

pub(in crate::vector) fn vx(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let scalar = vi.scalar(hart);
    put_scalar(&mut hart.v, vi, scalar);
    run(hart, vi)
}

/// The rows of the chapter.
pub(in crate::vector) fn row(op: VectorFixed, sew: Sew) -> Row {
    macro_rules! single {
        ($o:ty) => { Row::new(Form::FixedPoint, kernel_by_sew!(all sew, Saturating<$o, U, U>)) };
    }
    macro_rules! narrow {
        ($o:ty) => { Row::new(Form::FixedPoint, kernel_by_sew!(narrow sew, Saturating<$o, W, U>)) };
    }
    rows! { op;
        vsaddu.vv, vsaddu.vx, vsaddu.vi => single!(Vsaddu);
        vsadd.vv, vsadd.vx, vsadd.vi => single!(Vsadd);
        vssubu.vv, vssubu.vx => single!(Vssubu);
        vssub.vv, vssub.vx => single!(Vssub);
        vaaddu.vv, vaaddu.vx => single!(Vaaddu);
        vaadd.vv, vaadd.vx => single!(Vaadd);
        vasubu.vv, vasubu.vx => single!(Vasubu);
        vasub.vv, vasub.vx => single!(Vasub);
        vsmul.vv, vsmul.vx => single!(Vsmul);
        vssrl.vv, vssrl.vx, vssrl.vi => single!(Vssrl);
        vssra.vv, vssra.vx, vssra.vi => single!(Vssra);
        vnclipu.wv, vnclipu.wx, vnclipu.wi => narrow!(Vnclipu);
        vnclip.wv, vnclip.wx, vnclip.wi => narrow!(Vnclip);
    }
}
