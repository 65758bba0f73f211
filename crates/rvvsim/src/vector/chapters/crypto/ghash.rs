//! Zvkg: multiplication in GHASH's field (NIST SP 800-38D).

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::chapter::VectorGhash;

/// An element group as a polynomial, its bits in the usual order: GCM has them reversed in each byte.
fn polynomial(group: [u32; 4]) -> u128 {
    group.iter().rev().fold(0, |p, &word| p << 32 | u128::from(word.reverse_bits().swap_bytes()))
}

fn element_group(p: u128) -> [u32; 4] {
    std::array::from_fn(|i| ((p >> (32 * i)) as u32).reverse_bits().swap_bytes())
}

/// The product modulo x^128 + x^7 + x^2 + x + 1.
fn multiply(a: u128, mut b: u128) -> u128 {
    let mut product = 0;
    for i in 0..128 {
        product ^= b & (a >> i & 1).wrapping_neg();
        b = b << 1 ^ 0x87 & (b >> 127).wrapping_neg();
    }
    product
}

/// norm:vghsh-vv_op
fn vghsh(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, false, |o| {
        let sum = polynomial(o.vd) ^ polynomial(o.vs1);
        element_group(multiply(sum, polynomial(o.vs2)))
    })
}

/// norm:vgmul-vv_op
fn vgmul(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, false, |o| element_group(multiply(polynomial(o.vd), polynomial(o.vs2))))
}

/// The rows of the extension.
pub(in crate::vector) fn row(op: VectorGhash) -> Row {
    Row::own(rows! { op;
        vghsh.vv => vghsh;
        vgmul.vv => vgmul;
    })
}
