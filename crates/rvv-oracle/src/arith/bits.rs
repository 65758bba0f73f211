//! Zvbb and Zvbc: bit manipulation and carry-less multiplication.

use super::integer::shift_amount;
use super::{Args, mask, wrap};
use rvv_intrinsics::Elem;
use rvv_intrinsics::sem::BitManip;

pub(super) fn element(sem: BitManip, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let width = vs2.elem.bits();
    let a = vs2.bits & mask(width);
    let unused = 64 - width;
    let bits = match sem {
        // vandn.vv vandn.vx
        BitManip::Andn => return Some(wrap(ret, vs2.integer() & !args.op1?.integer())),
        // "The elements in vs2 are zero-extended to 2×SEW bits, then shifted left ... Only the low
        // log2(2×SEW) bits of the shift-amount value are used".
        // vwsll.vi vwsll.vv vwsll.vx
        BitManip::Wsll => a << shift_amount(args.op1?, ret.bits()),
        // vbrev.v
        BitManip::Brev => a.reverse_bits() >> unused,
        // vbrev8.v
        BitManip::Brev8 => u64::from_le_bytes(a.to_le_bytes().map(u8::reverse_bits)),
        // vrev8.v
        BitManip::Rev8 => a.swap_bytes() >> unused,
        // vclz.v
        BitManip::Clz => u64::from(a.leading_zeros() - unused),
        // vctz.v
        BitManip::Ctz => u64::from(a.trailing_zeros().min(width)),
        // vcpop.v
        BitManip::Cpop => u64::from(a.count_ones()),
        // vrol.vv vrol.vx
        BitManip::Rol => rotate_right(a, width, width - shift_amount(args.op1?, width)),
        // vror.vi vror.vv vror.vx
        BitManip::Ror => rotate_right(a, width, shift_amount(args.op1?, width)),
        // vclmul.vv vclmul.vx
        BitManip::Clmul => carryless_product(a, args.op1?.bits & mask(width)) as u64,
        // vclmulh.vv vclmulh.vx
        BitManip::Clmulh => (carryless_product(a, args.op1?.bits & mask(width)) >> width) as u64,
    };
    Some(bits & mask(ret.bits()))
}

fn rotate_right(a: u64, width: u32, amount: u32) -> u64 {
    let twice = u128::from(a) << width | u128::from(a);
    (twice >> amount) as u64 & mask(width)
}

fn carryless_product(a: u64, b: u64) -> u128 {
    (0..64).filter(|i| b >> i & 1 != 0).fold(0, |product, i| product ^ u128::from(a) << i)
}
