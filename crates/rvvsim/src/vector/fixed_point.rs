//! Vector fixed-point arithmetic (manual, chapter "Vector Fixed-Point Arithmetic Instructions").
//!
//! Operations give the element, and a number that is not zero if it was saturated.

use super::body::{Group, Kernel, Source, Splat, begin, end, log_csr, low_bits, select, write_group};
use super::element::{Element, Op3, by_sew, ops};
use super::legality::Shape;
use super::{Entry, VInst};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::{Op, Sew, csr};

/// The rounding increment `r` of norm:vxrm_op.
trait Round {
    /// The increment for this value, `d` bits of which are rounded off.
    fn increment(self, d: u32, vxrm: u8) -> Self;
}

macro_rules! round {
    ($($t:ty)*) => {$(
        impl Round for $t {
            #[inline(always)]
            fn increment(self, d: u32, vxrm: u8) -> Self {
                if d == 0 {
                    return 0;
                }
                // v[d], v[d-1], v[d-2:0] != 0
                let last = self >> d & 1;
                let half = self >> (d - 1) & 1;
                let rest = <$t>::from(self & ((1 << (d - 1)) - 1) != 0);
                match vxrm & 3 {
                    0 => half,
                    1 => half & (rest | last),
                    2 => 0,
                    _ => (last ^ 1) & (half | rest),
                }
            }
        }
    )*};
}

round! { u8 u16 u32 u64 u128 }

ops! { all:
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vsaddu(a: U, b: U, _rm: u8) -> (U, U) = {
        let sum = a.saturating_add(b);
        (sum, sum ^ a.wrapping_add(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vsadd(a: U, b: U, _rm: u8) -> (U, U) = {
        let sum = (a as S).saturating_add(b as S) as U;
        (sum, sum ^ a.wrapping_add(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vssubu(a: U, b: U, _rm: u8) -> (U, U) = {
        let difference = a.saturating_sub(b);
        (difference, difference ^ a.wrapping_sub(b))
    };
    /// norm:vsaddu_vsadd_vssubu_vssub_op
    Vssub(a: U, b: U, _rm: u8) -> (U, U) = {
        let difference = (a as S).saturating_sub(b as S) as U;
        (difference, difference ^ a.wrapping_sub(b))
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op: `roundoff_unsigned(vs2[i] + vs1[i], 1)`
    Vaaddu(a: U, b: U, rm: u8) -> (U, U) = {
        let sum = a as W + b as W;
        ((sum >> 1) as U + sum.increment(1, rm) as U, 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op: `roundoff_signed(vs2[i] + vs1[i], 1)`
    Vaadd(a: U, b: U, rm: u8) -> (U, U) = {
        let sum = a as S as Z + b as S as Z;
        (((sum >> 1) as U).wrapping_add((sum as W).increment(1, rm) as U), 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op; norm:vasub_vasubu_op_overflow: it wraps around.
    Vasubu(a: U, b: U, rm: u8) -> (U, U) = {
        let difference = (a as W).wrapping_sub(b as W);
        (((difference >> 1) as U).wrapping_add(difference.increment(1, rm) as U), 0)
    };
    /// norm:vaaddu_vaadd_vasubu_vasub_op
    Vasub(a: U, b: U, rm: u8) -> (U, U) = {
        let difference = a as S as Z - b as S as Z;
        (((difference >> 1) as U).wrapping_add((difference as W).increment(1, rm) as U), 0)
    };
    /// norm:vsmul_op: `clip(roundoff_signed(vs2[i]*vs1[i], SEW-1))`
    Vsmul(a: U, b: U, rm: u8) -> (U, U) = {
        let product = a as S as Z * b as S as Z;
        let rounded = (product >> (BITS - 1)) + (product as W).increment(BITS - 1, rm) as Z;
        // Only the square of the least number is out of range.
        if rounded > S::MAX as Z { (S::MAX as U, 1) } else { (rounded as U, 0) }
    };
    /// norm:vssrl_vssra_op: the low lg2(SEW) bits of `b`.
    Vssrl(a: U, b: U, rm: u8) -> (U, U) = {
        let d = b as u32 % BITS;
        ((a >> d).wrapping_add(a.increment(d, rm)), 0)
    };
    /// norm:vssrl_vssra_op
    Vssra(a: U, b: U, rm: u8) -> (U, U) = {
        let d = b as u32 % BITS;
        (((a as S >> d) as U).wrapping_add(a.increment(d, rm)), 0)
    };
}

ops! { narrow:
    /// norm:vnclipu_vnclip_op, norm:vnclipu_overflow: the low lg2(2*SEW) bits of `b`.
    Vnclipu(a: W, b: U, rm: u8) -> (U, U) = {
        let d = b as u32 % W::BITS;
        let rounded = (a >> d) + a.increment(d, rm);
        if rounded > U::MAX as W { (U::MAX, 1) } else { (rounded as U, 0) }
    };
    /// norm:vnclipu_vnclip_op, norm:vnclip_overflow
    Vnclip(a: W, b: U, rm: u8) -> (U, U) = {
        let d = b as u32 % W::BITS;
        let rounded = (a as Z >> d) + a.increment(d, rm) as Z;
        if rounded > S::MAX as Z {
            (S::MAX as U, 1)
        } else if rounded < S::MIN as Z {
            (S::MIN as U, 1)
        } else {
            (rounded as U, 0)
        }
    };
}

/// Computes elements, and whether an active one was saturated.
struct Saturating<A, B, F> {
    a: A,
    b: B,
    op: F,
    saturated: bool,
}

impl<A: Source, B: Source, D: Element, F: Fn(A::T, B::T) -> (D, D)> Kernel for Saturating<A, B, F> {
    type D = D;

    #[inline(always)]
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [D; N] {
        let (a, b) = (self.a.lanes::<N>(regs, first), self.b.lanes::<N>(regs, first));
        let mut result = [D::ZERO; N];
        let mut saturated = [D::ZERO; N];
        for i in 0..N {
            (result[i], saturated[i]) = (self.op)(a[i], b[i]);
        }
        if active != low_bits(N) {
            saturated = select(active, &saturated, &[D::ZERO; N]);
        }
        self.saturated |= saturated.into_iter().fold(D::ZERO, |any, s| any | s) != D::ZERO;
        result
    }
}

#[inline(always)]
fn run<A: Source, B: Source, D: Element>(
    hart: &mut Hart,
    vi: &VInst,
    a: A,
    b: B,
    op: impl Fn(A::T, B::T, u8) -> (D, D),
) -> Exec {
    begin(hart, vi)?;
    let vxrm = hart.v.vxrm;
    let mut kernel = Saturating { a, b, op: |a, b| op(a, b, vxrm), saturated: false };
    write_group(&mut hart.v, vi, &mut kernel);
    if kernel.saturated {
        hart.v.vxsat = true;
        log_csr(hart, csr::VXSAT, 1);
    }
    end(hart);
    Ok(())
}

fn vv<O: Op3<A, D, u8, (D, D)>, A: Element, D: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    run(hart, vi, Group::<A>::new(vi.vs2), Group::<D>::new(vi.vs1), O::apply)
}

fn vx<O: Op3<A, D, u8, (D, D)>, A: Element, D: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    let b = D::from_u64(vi.scalar(hart));
    run(hart, vi, Group::<A>::new(vi.vs2), Splat(b), O::apply)
}

/// The rows of the chapter.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Entry> {
    macro_rules! vv { ($o:ty) => { Entry { shape: Shape::VV, run: by_sew!(all sew, vv::<$o, U, U>) } }; }
    macro_rules! vx { ($o:ty) => { Entry { shape: Shape::VX, run: by_sew!(all sew, vx::<$o, U, U>) } }; }
    macro_rules! nwv { ($o:ty) => { Entry { shape: Shape::NWV, run: by_sew!(narrow sew, vv::<$o, W, U>) } }; }
    macro_rules! nwx { ($o:ty) => { Entry { shape: Shape::NWX, run: by_sew!(narrow sew, vx::<$o, W, U>) } }; }
    Some(match op {
        Op::VsadduVv => vv!(Vsaddu),
        Op::VsadduVx | Op::VsadduVi => vx!(Vsaddu),
        Op::VsaddVv => vv!(Vsadd),
        Op::VsaddVx | Op::VsaddVi => vx!(Vsadd),
        Op::VssubuVv => vv!(Vssubu),
        Op::VssubuVx => vx!(Vssubu),
        Op::VssubVv => vv!(Vssub),
        Op::VssubVx => vx!(Vssub),
        Op::VaadduVv => vv!(Vaaddu),
        Op::VaadduVx => vx!(Vaaddu),
        Op::VaaddVv => vv!(Vaadd),
        Op::VaaddVx => vx!(Vaadd),
        Op::VasubuVv => vv!(Vasubu),
        Op::VasubuVx => vx!(Vasubu),
        Op::VasubVv => vv!(Vasub),
        Op::VasubVx => vx!(Vasub),
        Op::VsmulVv => vv!(Vsmul),
        Op::VsmulVx => vx!(Vsmul),
        Op::VssrlVv => vv!(Vssrl),
        Op::VssrlVx | Op::VssrlVi => vx!(Vssrl),
        Op::VssraVv => vv!(Vssra),
        Op::VssraVx | Op::VssraVi => vx!(Vssra),
        Op::VnclipuWv => nwv!(Vnclipu),
        Op::VnclipuWx | Op::VnclipuWi => nwx!(Vnclipu),
        Op::VnclipWv => nwv!(Vnclip),
        Op::VnclipWx | Op::VnclipWi => nwx!(Vnclip),
        _ => return None,
    })
}
