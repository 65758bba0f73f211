//! Zvbb and Zvbc: bit manipulation and carry-less multiplication of elements.

use crate::vector::run::element::{kernel_by_sew, ops};
use crate::vector::run::kernel::KernelSpec;
use crate::vector::run::maps::{Map1, Map2};
use crate::vector::{Form, Row, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorBitManip;

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
pub(in crate::vector) fn row(op: VectorBitManip, sew: Sew) -> Row {
    macro_rules! unary { ($o:ty) => { Row::new(Form::Map, kernel_by_sew!(all sew, Map1<$o, U, U>)) }; }
    macro_rules! map { ($o:ty) => { Row::new(Form::Map, kernel_by_sew!(all sew, Map2<$o, U, U, U>)) }; }
    macro_rules! e64 {
        ($o:ty) => {
            Row::new(Form::Map, Some(const { &KernelSpec::of::<Map2<$o, u64, u64, u64>>() }))
        };
    }
    rows! { op;
        vandn.vv, vandn.vx => map!(Vandn);
        vbrev.v => unary!(Vbrev);
        vbrev8.v => unary!(Vbrev8);
        vrev8.v => unary!(Vrev8);
        vclz.v => unary!(Vclz);
        vctz.v => unary!(Vctz);
        vcpop.v => unary!(Vcpop);
        vrol.vv, vrol.vx => map!(Vrol);
        vror.vv, vror.vx, vror.vi => map!(Vror);
        vwsll.vv, vwsll.vx, vwsll.vi => Row::new(Form::Map, kernel_by_sew!(narrow sew, Map2<Vwsll, U, U, W>));
        vclmul.vv, vclmul.vx => e64!(Vclmul);
        vclmulh.vv, vclmulh.vx => e64!(Vclmulh);
    }
}
