//! Zvbb and Zvbc: bit manipulation and carry-less multiplication of elements.

use super::super::element::{by_sew, ops};
use super::super::kernels::{v, vv, vx};
use super::super::legality::Shape;
use super::super::{Entry, Run};
use rvv_isa::{Op, Sew};

ops! { all:
    /// norm:vandn_op
    Vandn(a: U, b: U) -> U = a & !b;
    /// norm:vbrev-v_op
    Vbrev(a: U) -> U = a.reverse_bits();
    /// norm:vbrev8-v_op
    Vbrev8(a: U) -> U = a.reverse_bits().swap_bytes();
    /// norm:vrev8-v_op
    Vrev8(a: U) -> U = a.swap_bytes();
    /// norm:vclz-v_op
    Vclz(a: U) -> U = a.leading_zeros() as U;
    /// norm:vctz-v_op
    Vctz(a: U) -> U = a.trailing_zeros() as U;
    /// norm:vcpop-v_op
    Vcpop(a: U) -> U = a.count_ones() as U;
    /// norm:vrol_op: the low lg2(SEW) bits of `b`.
    Vrol(a: U, b: U) -> U = a.rotate_left(b as u32 % BITS);
    /// norm:vror_op
    Vror(a: U, b: U) -> U = a.rotate_right(b as u32 % BITS);
    /// norm:vclmul_op
    Vclmul(a: U, b: U) -> U = carryless_product(a as u64, b as u64) as U;
    /// norm:vclmulh_op
    Vclmulh(a: U, b: U) -> U = (carryless_product(a as u64, b as u64) >> 64) as U;
}

ops! { narrow:
    /// norm:vwsll_op: the low lg2(2*SEW) bits of `b`.
    Vwsll(a: U, b: U) -> W = (a as W) << (b as u32 % W::BITS);
}

fn carryless_product(a: u64, b: u64) -> u128 {
    (0..64).fold(0, |sum, i| sum ^ u128::from(a) << i & (u128::from(b) >> i & 1).wrapping_neg())
}

/// The rows of the extensions.
pub fn entry(op: Op, sew: Sew) -> Option<Entry> {
    macro_rules! v { ($o:ty) => { Entry { shape: Shape::VX, run: by_sew!(all sew, v::<$o, U, U>) } }; }
    macro_rules! vv { ($o:ty) => { Entry { shape: Shape::VV, run: by_sew!(all sew, vv::<$o, U, U, U>) } }; }
    macro_rules! vx { ($o:ty) => { Entry { shape: Shape::VX, run: by_sew!(all sew, vx::<$o, U, U, U>) } }; }
    let e64_only = |shape: Shape, run: Run, rule| Entry { shape: shape.only_sew(1 << 3, rule), run };
    let clmul = "norm:vclmul_sewn64_rsv: SEW is any value other than 64";
    let clmulh = "norm:vclmulh_sewn64_rsv: SEW is any value other than 64";
    Some(match op {
        Op::VandnVv => vv!(Vandn),
        Op::VandnVx => vx!(Vandn),
        Op::VbrevV => v!(Vbrev),
        Op::Vbrev8V => v!(Vbrev8),
        Op::Vrev8V => v!(Vrev8),
        Op::VclzV => v!(Vclz),
        Op::VctzV => v!(Vctz),
        Op::VcpopV => v!(Vcpop),
        Op::VrolVv => vv!(Vrol),
        Op::VrolVx => vx!(Vrol),
        Op::VrorVv => vv!(Vror),
        Op::VrorVx | Op::VrorVi => vx!(Vror),
        Op::VwsllVv => Entry { shape: Shape::WVV, run: by_sew!(narrow sew, vv::<Vwsll, U, U, W>) },
        Op::VwsllVx | Op::VwsllVi => {
            Entry { shape: Shape::WVX, run: by_sew!(narrow sew, vx::<Vwsll, U, U, W>) }
        }
        Op::VclmulVv => e64_only(Shape::VV, vv::<Vclmul, u64, u64, u64>, clmul),
        Op::VclmulVx => e64_only(Shape::VX, vx::<Vclmul, u64, u64, u64>, clmul),
        Op::VclmulhVv => e64_only(Shape::VV, vv::<Vclmulh, u64, u64, u64>, clmulh),
        Op::VclmulhVx => e64_only(Shape::VX, vx::<Vclmulh, u64, u64, u64>, clmulh),
        _ => return None,
    })
}
