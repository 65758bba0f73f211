//! Zvksh: the SM3 hash (GB/T 32905-2016). Words are big-endian in registers.

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::crypto::sm3::{p0, p1};
use crate::trap::Exec;
use rvv_isa::chapter::VectorSm3;

/// norm:vsm3me-vv_op: words 16 to 23 of the message from the sixteen before, `vs1` and `vs2`.
fn vsm3me(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups::<u32, 8>(hart, vi, false, |o| {
        let mut w = [0; 24];
        w[..8].copy_from_slice(&o.vs1.map(u32::swap_bytes));
        w[8..16].copy_from_slice(&o.vs2.map(u32::swap_bytes));
        for i in 16..24 {
            let x = w[i - 16] ^ w[i - 9] ^ w[i - 3].rotate_left(15);
            w[i] = p1(x) ^ w[i - 13].rotate_left(7) ^ w[i - 6];
        }
        std::array::from_fn(|i| w[16 + i].swap_bytes())
    })
}

/// norm:vsm3c-vi_op: rounds 2*uimm and 2*uimm + 1.
fn vsm3c(hart: &mut Hart, vi: &VInst) -> Exec {
    let rounds = vi.inst.imm as u32 & 31;
    run_groups::<u32, 8>(hart, vi, false, |o| {
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = o.vd.map(u32::swap_bytes);
        let [w0, w1, _, _, w4, w5, _, _] = o.vs2.map(u32::swap_bytes);
        for (j, w, x) in [(2 * rounds, w0, w0 ^ w4), (2 * rounds + 1, w1, w1 ^ w5)] {
            let early = j <= 15;
            let t: u32 = if early { 0x79cc_4519 } else { 0x7a87_9d8a };
            let ff = if early { a ^ b ^ c } else { a & b | a & c | b & c };
            let gg = if early { e ^ f ^ g } else { e & f | !e & g };
            let a12 = a.rotate_left(12);
            let ss1 = a12.wrapping_add(e).wrapping_add(t.rotate_left(j % 32)).rotate_left(7);
            let tt1 = ff.wrapping_add(d).wrapping_add(ss1 ^ a12).wrapping_add(x);
            let tt2 = gg.wrapping_add(h).wrapping_add(ss1).wrapping_add(w);
            (d, c, b, a) = (c, b.rotate_left(9), a, tt1);
            (h, g, f, e) = (g, f.rotate_left(19), e, p0(tt2));
        }
        // Each pair holds the state after the second round and that after the first, which is one older: what
        // the second round moved from a to b, from c to d, and so on.
        [a, b, c, d, e, f, g, h].map(u32::swap_bytes)
    })
}

/// The rows of the extension.
pub(in crate::vector) fn row(op: VectorSm3) -> Row {
    Row::own(rows! { op;
        vsm3me.vv => vsm3me;
        vsm3c.vi => vsm3c;
    })
}
