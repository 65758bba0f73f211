//! Zvknha and Zvknhb: SHA-256 and SHA-512 (FIPS 180-4). SEW decides which.

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::trap::Exec;
use crate::vector::run::element::Element;
use rvv_isa::Sew;
use rvv_isa::chapter::VectorSha2;

/// A word of SHA-256 or SHA-512, and the functions that differ (FIPS 180-4, sections 4.1.2 and 4.1.3).
trait Word: Element {
    /// The capital sigmas.
    fn sum0(self) -> Self;
    fn sum1(self) -> Self;
    /// The small sigmas.
    fn sig0(self) -> Self;
    fn sig1(self) -> Self;
    fn add(self, other: Self) -> Self;
}

macro_rules! word {
    ($($t:ty: $sum0:expr, $sum1:expr, $sig0:expr, $sig1:expr;)*) => {$(
        impl Word for $t {
            fn sum0(self) -> Self {
                $sum0.iter().fold(0, |sum, &n: &u32| sum ^ self.rotate_right(n))
            }
            fn sum1(self) -> Self {
                $sum1.iter().fold(0, |sum, &n: &u32| sum ^ self.rotate_right(n))
            }
            fn sig0(self) -> Self {
                let (a, b, shift): (u32, u32, u32) = $sig0;
                self.rotate_right(a) ^ self.rotate_right(b) ^ self >> shift
            }
            fn sig1(self) -> Self {
                let (a, b, shift): (u32, u32, u32) = $sig1;
                self.rotate_right(a) ^ self.rotate_right(b) ^ self >> shift
            }
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

word! {
    u32: [2, 13, 22], [6, 11, 25], (7, 18, 3), (17, 19, 10);
    u64: [28, 34, 39], [14, 18, 41], (1, 8, 7), (19, 61, 6);
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
