//! Zvksh: SM3 (GB/T 32905). "The endian byte swapping of the input and output words enables us to align with
//! the SM3 specification without requiring that software perform these swaps."

fn swap(words: [u32; 8]) -> [u32; 8] {
    words.map(u32::swap_bytes)
}

/// vsm3c: rounds 2·uimm and 2·uimm + 1. The state is A to H from element 0; of the message, elements 0, 1, 4
/// and 5 count.
pub(super) fn compress(state: [u32; 8], message: [u32; 8], uimm: u32) -> [u32; 8] {
    let w = swap(message);
    let mut state = swap(state);
    for i in 0..2 {
        state = round(state, w[i], w[i] ^ w[i + 4], 2 * (uimm & 31) + i as u32);
    }
    swap(state)
}

/// One round of CF, with W_j and W'_j.
fn round([a, b, c, d, e, f, g, h]: [u32; 8], w: u32, w1: u32, j: u32) -> [u32; 8] {
    let (t, ff, gg) = if j < 16 {
        (0x79cc4519u32, a ^ b ^ c, e ^ f ^ g)
    } else {
        (0x7a879d8a, a & b | a & c | b & c, e & f | !e & g)
    };
    let ss1 = a.rotate_left(12).wrapping_add(e).wrapping_add(t.rotate_left(j % 32)).rotate_left(7);
    let ss2 = ss1 ^ a.rotate_left(12);
    let tt1 = ff.wrapping_add(d).wrapping_add(ss2).wrapping_add(w1);
    let tt2 = gg.wrapping_add(h).wrapping_add(ss1).wrapping_add(w);
    let p0 = tt2 ^ tt2.rotate_left(9) ^ tt2.rotate_left(17);
    [tt1, a, b.rotate_left(9), c, p0, e, f.rotate_left(19), g]
}

/// vsm3me: `W[16]` to `W[23]`, from `W[0]` to `W[7]` in vs1 and `W[8]` to `W[15]` in vs2.
pub(super) fn expand(vs2: [u32; 8], vs1: [u32; 8]) -> [u32; 8] {
    let mut w = [0u32; 24];
    w[..8].copy_from_slice(&swap(vs1));
    w[8..16].copy_from_slice(&swap(vs2));
    for j in 16..24 {
        let x = w[j - 16] ^ w[j - 9] ^ w[j - 3].rotate_left(15);
        let p1 = x ^ x.rotate_left(15) ^ x.rotate_left(23);
        w[j] = p1 ^ w[j - 13].rotate_left(7) ^ w[j - 6];
    }
    swap(std::array::from_fn(|i| w[16 + i]))
}

#[cfg(test)]
mod tests {
    use super::super::group8_u32;
    use rvv_intrinsics::Sem;

    fn digest(message: &[u32]) -> [u32; 8] {
        let mut v = [
            0x7380166f,
            0x4914b2b9,
            0x172442d7,
            0xda8a0600,
            0xa96f30bc,
            0x163138aa,
            0xe38dee4d,
            0xb0fb0e4eu32,
        ]
        .map(u32::swap_bytes);
        for block in message.chunks(16) {
            let mut w: Vec<u32> = block.iter().map(|w| w.swap_bytes()).collect();
            while w.len() < 72 {
                let t = w.len() - 16;
                let older: [u32; 8] = w[t..t + 8].try_into().unwrap();
                let newer: [u32; 8] = w[t + 8..t + 16].try_into().unwrap();
                w.extend(group8_u32(Sem::Sm3me, [0; 8], newer, older, 0));
            }
            let mut state = v;
            for j in 0..32 {
                let words = std::array::from_fn(|i| w[2 * j + i]);
                state = group8_u32(Sem::Sm3c, state, words, [0; 8], j as u32);
            }
            v = std::array::from_fn(|i| v[i] ^ state[i]);
        }
        v.map(u32::swap_bytes)
    }

    /// GB/T 32905, example 1: "abc".
    #[test]
    fn example_1() {
        let mut block = [0; 16];
        block[0] = 0x61626380;
        block[15] = 24;
        let expected =
            [0x66c7f0f4, 0x62eeedd9, 0xd1f2d46b, 0xdc10e4e2, 0x4167c487, 0x5cf2f7a2, 0x297da02b, 0x8f4ba8e0];
        assert_eq!(digest(&block), expected);
    }

    /// GB/T 32905, example 2: "abcd" sixteen times.
    #[test]
    fn example_2() {
        let mut blocks = [0; 32];
        blocks[..16].fill(0x61626364);
        blocks[16] = 0x80000000;
        blocks[31] = 512;
        let expected =
            [0xdebe9ff9, 0x2275b8a1, 0x38604889, 0xc18e5a4d, 0x6fdb70e5, 0x387e5765, 0x293dcba3, 0x9c0c5732];
        assert_eq!(digest(&blocks), expected);
    }
}
