//! Zvbb and Zvbc: bit manipulation and carry-less multiplication.

use super::integer::shift_amount;
use super::{Args, mask, wrap};
use rvv_intrinsics::{Elem, Sem};

pub(super) fn element(sem: Sem, ret: Elem, args: &Args) -> Option<u64> {
    let vs2 = args.vs2;
    let width = vs2.elem.bits();
    let a = vs2.bits & mask(width);
    let unused = 64 - width;
    let bits = match sem {
        Sem::Andn => return Some(wrap(ret, vs2.integer() & !args.op1?.integer())),
        // "The elements in vs2 are zero-extended to 2×SEW bits, then shifted left ... Only the low
        // log2(2×SEW) bits of the shift-amount value are used".
        Sem::Wsll => a << shift_amount(args.op1?, ret.bits()),
        Sem::Brev => a.reverse_bits() >> unused,
        Sem::Brev8 => u64::from_le_bytes(a.to_le_bytes().map(u8::reverse_bits)),
        Sem::Rev8 => a.swap_bytes() >> unused,
        Sem::Clz => u64::from(a.leading_zeros() - unused),
        Sem::Ctz => u64::from(a.trailing_zeros().min(width)),
        Sem::Cpop => u64::from(a.count_ones()),
        Sem::Rol => rotate_right(a, width, width - shift_amount(args.op1?, width)),
        Sem::Ror => rotate_right(a, width, shift_amount(args.op1?, width)),
        Sem::Clmul => carryless_product(a, args.op1?.bits & mask(width)) as u64,
        Sem::Clmulh => (carryless_product(a, args.op1?.bits & mask(width)) >> width) as u64,
        _ => return None,
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
