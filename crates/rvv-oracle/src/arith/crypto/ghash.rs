//! Zvkg: GHASH (NIST SP 800-38D). "The NIST specification orders the coefficients from left to right x0 x1 x2
//! ... x127 ... This can be viewed as a collection of byte elements in memory with the byte containing the
//! lowest coefficients residing at the lowest memory address." So a block is the big-endian number of its
//! bytes, whose top bit is x0.

fn block(words: [u32; 4]) -> u128 {
    words.iter().fold(0, |block, word| block << 32 | u128::from(word.swap_bytes()))
}

fn words(block: u128) -> [u32; 4] {
    std::array::from_fn(|i| ((block >> (96 - 32 * i)) as u32).swap_bytes())
}

/// Algorithm 1: X • Y.
fn multiply(x: u128, y: u128) -> u128 {
    const R: u128 = 0xe1 << 120;
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 != 0 {
            z ^= v;
        }
        v = v >> 1 ^ if v & 1 != 0 { R } else { 0 };
    }
    z
}

/// vghsh: (Y ^ X) • H, of vd, vs1 and vs2; vgmul without the X.
pub(super) fn add_multiply(y: [u32; 4], h: [u32; 4], x: [u32; 4]) -> [u32; 4] {
    words(multiply(block(y) ^ block(x), block(h)))
}

#[cfg(test)]
mod tests {
    use super::super::group4_u32;
    use super::words;
    use rvv_intrinsics::Sem;

    /// The GCM specification (McGrew, Viega), test case 2: H = E(0), one block of ciphertext, the lengths.
    #[test]
    fn gcm_test_case_2() {
        let h = words(0x66e94bd4ef8a2c3b884cfa59ca342b2e);
        let c = words(0x0388dace60b6a392f328c2b971b2fe78);
        let lengths = words(0x80);
        let x1 = group4_u32(Sem::Ghsh, [0; 4], h, c, 0);
        assert_eq!(x1, words(0x5e2ec746917062882c85b0685353deb7));
        assert_eq!(group4_u32(Sem::Gmul, c, h, [9; 4], 0), x1);
        assert_eq!(group4_u32(Sem::Ghsh, x1, h, lengths, 0), words(0xf38cbb1ad69223dcc3457ae5b6b0f885));
    }
}
