//! Zvknha and Zvknhb: SHA-256 and SHA-512 (FIPS 180-4).

/// A word of SHA-256 or SHA-512, with the functions of FIPS 180-4, 4.1.
pub(super) trait Word:
    Copy
    + Default
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
{
    fn plus(self, other: Self) -> Self;
    /// Σ0
    fn sum0(self) -> Self;
    /// Σ1
    fn sum1(self) -> Self;
    /// σ0
    fn sig0(self) -> Self;
    /// σ1
    fn sig1(self) -> Self;
}

macro_rules! word {
    ($t:ty, $sum0:tt, $sum1:tt, $sig0:tt, $sig1:tt) => {
        impl Word for $t {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sum0(self) -> Self {
                word!(rotations self $sum0)
            }
            fn sum1(self) -> Self {
                word!(rotations self $sum1)
            }
            fn sig0(self) -> Self {
                word!(shift self $sig0)
            }
            fn sig1(self) -> Self {
                word!(shift self $sig1)
            }
        }
    };
    (rotations $x:ident ($a:literal $b:literal $c:literal)) => {
        $x.rotate_right($a) ^ $x.rotate_right($b) ^ $x.rotate_right($c)
    };
    (shift $x:ident ($a:literal $b:literal $c:literal)) => {
        $x.rotate_right($a) ^ $x.rotate_right($b) ^ ($x >> $c)
    };
}

word!(u32, (2 13 22), (6 11 25), (7 18 3), (17 19 10));
word!(u64, (28 34 39), (14 18 41), (1 8 7), (19 61 6));

/// vsha2ch and vsha2cl: two rounds. `abef` is vs2, `cdgh` is vd, both with the last letter in element 0; the
/// two message words come with their round constants added.
pub(super) fn compress<W: Word>(cdgh: [W; 4], abef: [W; 4], message: [W; 2]) -> [W; 4] {
    let [f, e, b, a] = abef;
    let [h, g, d, c] = cdgh;
    let mut state = [a, b, c, d, e, f, g, h];
    for w in message {
        let [a, b, c, d, e, f, g, h] = state;
        let ch = (e & f) ^ (!e & g);
        let maj = (a & b) ^ (a & c) ^ (b & c);
        let t1 = h.plus(e.sum1()).plus(ch).plus(w);
        let t2 = a.sum0().plus(maj);
        state = [t1.plus(t2), a, b, c, d.plus(t1), e, f, g];
    }
    let [a, b, _, _, e, f, _, _] = state;
    [f, e, b, a]
}

/// vsha2ms: `W[16]` to `W[19]`, from `W[0]` to `W[3]` in vd, `W[4]` and `W[9]` to `W[11]` in vs2, `W[12]` to
/// `W[15]` in vs1.
pub(super) fn schedule<W: Word>(vd: [W; 4], vs2: [W; 4], vs1: [W; 4]) -> [W; 4] {
    let mut w = [W::default(); 20];
    w[..4].copy_from_slice(&vd);
    w[4] = vs2[0];
    w[9..12].copy_from_slice(&vs2[1..]);
    w[12..16].copy_from_slice(&vs1);
    for t in 16..20 {
        w[t] = w[t - 2].sig1().plus(w[t - 7]).plus(w[t - 15].sig0()).plus(w[t - 16]);
    }
    [w[16], w[17], w[18], w[19]]
}

#[cfg(test)]
mod tests {
    use super::super::{group4_u32, group4_u64};
    use rvv_intrinsics::Sem;

    fn primes() -> impl Iterator<Item = u128> {
        (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
    }

    /// The largest x with x^power ≤ n << (64 × power): the root with 64 bits of fraction.
    fn root_fraction(n: u128, power: u32) -> u64 {
        // x < 2^68; compare x^power with n·2^(64·power) by long multiplication in limbs of 32 bits.
        fn mul(a: &[u64], b: &[u64]) -> Vec<u64> {
            let mut out = vec![0u64; a.len() + b.len()];
            for (i, x) in a.iter().enumerate() {
                let mut carry = 0;
                for (j, y) in b.iter().enumerate() {
                    let t = out[i + j] + x * y + carry;
                    out[i + j] = t & 0xffff_ffff;
                    carry = t >> 32;
                }
                out[i + b.len()] = carry;
            }
            out
        }
        let limbs = |x: u128| (0..4).map(|i| (x >> (32 * i)) as u64 & 0xffff_ffff).collect::<Vec<_>>();
        let mut target = vec![0u64; 2 * power as usize];
        target.extend(limbs(n));
        let mut x = 0u128;
        for bit in (0..70).rev() {
            let candidate = x | 1 << bit;
            let mut product = limbs(candidate);
            for _ in 1..power {
                product = mul(&product, &limbs(candidate));
            }
            let length = product.len().max(target.len());
            let padded =
                |v: &[u64]| v.iter().copied().chain(std::iter::repeat(0)).take(length).collect::<Vec<_>>();
            if padded(&product).iter().rev().le(padded(&target).iter().rev()) {
                x = candidate;
            }
        }
        x as u64
    }

    /// K: the first bits of the fractions of the cube roots of the first primes (FIPS 180-4, 4.2.2, 4.2.3).
    fn constants(rounds: usize) -> Vec<u64> {
        primes().take(rounds).map(|p| root_fraction(p, 3)).collect()
    }

    /// H(0): of their square roots (5.3.3, 5.3.5).
    fn initial() -> Vec<u64> {
        primes().take(8).map(|p| root_fraction(p, 2)).collect()
    }

    /// The way the manual suggests: four schedule words at a time, two rounds at a time.
    macro_rules! digest {
        ($name:ident, $word:ty, $rounds:literal, $schedule:expr, $compress:expr) => {
            fn $name(block: [$word; 16]) -> Vec<$word> {
                let top = |x: u64| (x >> (64 - <$word>::BITS)) as $word;
                let k: Vec<$word> = constants($rounds).into_iter().map(top).collect();
                let h: Vec<$word> = initial().into_iter().map(top).collect();
                let mut w = block.to_vec();
                while w.len() < $rounds {
                    let t = w.len() - 16;
                    let vd = [w[t], w[t + 1], w[t + 2], w[t + 3]];
                    let vs2 = [w[t + 4], w[t + 9], w[t + 10], w[t + 11]];
                    let vs1 = [w[t + 12], w[t + 13], w[t + 14], w[t + 15]];
                    w.extend($schedule(vd, vs2, vs1));
                }
                let mut abef = [h[5], h[4], h[1], h[0]];
                let mut cdgh = [h[7], h[6], h[3], h[2]];
                for t in (0..$rounds).step_by(4) {
                    let message = std::array::from_fn(|i| w[t + i].wrapping_add(k[t + i]));
                    cdgh = $compress(Sem::Sha2cl, cdgh, abef, message);
                    abef = $compress(Sem::Sha2ch, abef, cdgh, message);
                }
                let [f, e, b, a] = abef;
                let [hh, g, d, c] = cdgh;
                [a, b, c, d, e, f, g, hh].iter().zip(h).map(|(x, h)| x.wrapping_add(h)).collect()
            }
        };
    }
    digest!(sha256, u32, 64, |vd, vs2, vs1| group4_u32(Sem::Sha2ms, vd, vs2, vs1, 0), |sem, vd, vs2, vs1| {
        group4_u32(sem, vd, vs2, vs1, 0)
    });
    digest!(sha512, u64, 80, |vd, vs2, vs1| group4_u64(Sem::Sha2ms, vd, vs2, vs1), group4_u64);

    #[test]
    fn sha256_of_abc() {
        let mut block = [0; 16];
        block[0] = 0x61626380;
        block[15] = 24;
        let expected =
            [0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad];
        assert_eq!(sha256(block), expected);
    }

    #[test]
    fn sha512_of_abc() {
        let mut block = [0; 16];
        block[0] = 0x6162638000000000;
        block[15] = 24;
        let expected = [
            0xddaf35a193617aba,
            0xcc417349ae204131,
            0x12e6fa4e89a97ea2,
            0x0a9eeee64b55d39a,
            0x2192992a274fc1a8,
            0x36ba3c23a3feebbd,
            0x454d4423643ce80e,
            0x2a9ac94fa54ca49f,
        ];
        assert_eq!(sha512(block), expected);
    }
}
