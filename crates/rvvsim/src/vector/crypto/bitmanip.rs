//! Zvbb and Zvbc: bit manipulation and carry-less multiplication of elements.

use super::super::body::{vv, vx};
use super::super::element::{ops, work_by_sew};
use super::super::kernels::{Map1, Map2};
use super::super::lanes::Work;
use super::super::legality::Shape;
use super::super::{Row, Run};
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
pub fn entry(op: Op, sew: Sew) -> Option<Row> {
    macro_rules! v { ($o:ty) => { Row::new(Shape::VX, vv, work_by_sew!(all sew, Map1<$o, U, U>)) }; }
    macro_rules! vv { ($o:ty) => { Row::new(Shape::VV, vv, work_by_sew!(all sew, Map2<$o, U, U, U>)) }; }
    macro_rules! vx { ($o:ty) => { Row::new(Shape::VX, vx, work_by_sew!(all sew, Map2<$o, U, U, U>)) }; }
    let e64_only =
        |shape: Shape, run: Run, work, rule| Row::new(shape.only_sew(1 << 3, rule), run, Some(work));
    let (low, high) =
        const { (&Work::of::<Map2<Vclmul, u64, u64, u64>>(), &Work::of::<Map2<Vclmulh, u64, u64, u64>>()) };
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
        Op::VwsllVv => Row::new(Shape::WVV, vv, work_by_sew!(narrow sew, Map2<Vwsll, U, U, W>)),
        Op::VwsllVx | Op::VwsllVi => Row::new(Shape::WVX, vx, work_by_sew!(narrow sew, Map2<Vwsll, U, U, W>)),
        Op::VclmulVv => e64_only(Shape::VV, vv, low, clmul),
        Op::VclmulVx => e64_only(Shape::VX, vx, low, clmul),
        Op::VclmulhVv => e64_only(Shape::VV, vv, high, clmulh),
        Op::VclmulhVx => e64_only(Shape::VX, vx, high, clmulh),
        _ => return None,
    })
}
