//! Zvknha and Zvknhb: SHA-256 and SHA-512 (FIPS 180-4). SEW decides which.

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::crypto::sha2::Sigma;
use crate::trap::Exec;
use crate::vector::run::element::Element;
use rvv_isa::Sew;
use rvv_isa::chapter::VectorSha2;

/// A word of SHA-256 or SHA-512.
trait Word: Element + Sigma {
    fn add(self, other: Self) -> Self;
}

impl Word for u32 {
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Word for u64 {
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

fn ch<T: Word>(x: T, y: T, z: T) -> T {
    (x & y) ^ (!x & z)
}

fn maj<T: Word>(x: T, y: T, z: T) -> T {
    (x & y) ^ (x & z) ^ (y & z)
}

/// Two rounds of compression with the words `w`, constants added. norm:vsha2chl-vv_op: the low element of the
/// state {a, b, e, f} is f.
fn compress<T: Word>(cdgh: [T; 4], abef: [T; 4], w: [T; 2]) -> [T; 4] {
    let [mut f, mut e, mut b, mut a] = abef;
    let [mut h, mut g, mut d, mut c] = cdgh;
    for w in w {
        let t1 = h.add(e.sum1()).add(ch(e, f, g)).add(w);
        let t2 = a.sum0().add(maj(a, b, c));
        (h, g, f, e) = (g, f, e, d.add(t1));
        (d, c, b, a) = (c, b, a, t1.add(t2));
    }
    [f, e, b, a]
}

/// The two low words of the message schedule.
fn vsha2cl<T: Word>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups::<T, 4>(hart, vi, false, |o| compress(o.vd, o.vs2, [o.vs1[0], o.vs1[1]]))
}

/// The two high ones.
fn vsha2ch<T: Word>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups::<T, 4>(hart, vi, false, |o| compress(o.vd, o.vs2, [o.vs1[2], o.vs1[3]]))
}

/// norm:vsha2ms-vv_op: the next four words of the message schedule.
fn vsha2ms<T: Word>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups::<T, 4>(hart, vi, false, |o| {
        let [w0, w1, w2, w3] = o.vd;
        let [w4, w9, w10, w11] = o.vs2;
        let [w12, _, w14, w15] = o.vs1;
        let w16 = w14.sig1().add(w9).add(w1.sig0()).add(w0);
        let w17 = w15.sig1().add(w10).add(w2.sig0()).add(w1);
        let w18 = w16.sig1().add(w11).add(w3.sig0()).add(w2);
        let w19 = w17.sig1().add(w12).add(w4.sig0()).add(w3);
        [w16, w17, w18, w19]
    })
}

/// The rows of the extensions. The table says that SEW is 32 or 64, and that 64 needs Zvknhb.
pub(in crate::vector) fn row(op: VectorSha2, sew: Sew) -> Row {
    let long = sew == Sew::E64;
    Row::own(rows! { op;
        vsha2ch.vv => if long { vsha2ch::<u64> } else { vsha2ch::<u32> };
        vsha2cl.vv => if long { vsha2cl::<u64> } else { vsha2cl::<u32> };
        vsha2ms.vv => if long { vsha2ms::<u64> } else { vsha2ms::<u32> };
    })
}
