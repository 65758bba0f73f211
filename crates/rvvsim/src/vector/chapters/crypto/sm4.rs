//! Zvksed: the SM4 block cipher (GB/T 32907-2016).

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::crypto::sm4::{key_linear, linear, sub_word};
use crate::trap::Exec;
use rvv_isa::chapter::VectorSm4;

/// Four steps, each of which makes a new word of the four before it and of a word of `k`; `linear` is what
/// follows the S-box.
fn four_steps(x: [u32; 4], k: [u32; 4], linear: impl Fn(u32) -> u32) -> [u32; 4] {
    let mut w = [x[0], x[1], x[2], x[3], 0, 0, 0, 0];
    for i in 0..4 {
        w[i + 4] = w[i] ^ linear(sub_word(w[i + 1] ^ w[i + 2] ^ w[i + 3] ^ k[i]));
    }
    [w[4], w[5], w[6], w[7]]
}

/// norm:vsm4r_op_sm4encdec
fn round(x: [u32; 4], keys: [u32; 4]) -> [u32; 4] {
    four_steps(x, keys, linear)
}

/// The constant CK of key `i`: its bytes are multiples of 7.
fn ck(i: u32) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|j| ((4 * i + j as u32) * 7) as u8))
}

/// norm:vsm4k-vi_op_sm4k
fn vsm4k(hart: &mut Hart, vi: &VInst) -> Exec {
    // norm:vsm4k-vi_op_rnd: uimm[2:0]
    let group = vi.inst.imm as u32 & 7;
    let constants = std::array::from_fn(|i| ck(4 * group + i as u32));
    run_groups::<u32, 4>(hart, vi, false, |o| four_steps(o.vs2, constants, key_linear))
}

fn vsm4r_vv(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, false, |o| round(o.vd, o.vs2))
}

fn vsm4r_vs(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, true, |o| round(o.vd, o.vs2))
}

/// The rows of the extension.
pub(in crate::vector) fn row(op: VectorSm4) -> Row {
    Row::own(rows! { op;
        vsm4k.vi => vsm4k;
        vsm4r.vv => vsm4r_vv;
        vsm4r.vs => vsm4r_vs;
    })
}
