//! Zvkned: AES (FIPS 197). A state is 16 bytes, byte r + 4c at row r and column c, as in memory.

/// Multiplication in GF(2⁸), modulo x⁸ + x⁴ + x³ + x + 1 (FIPS 197, 4.2).
const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

/// The S-box, by its definition (FIPS 197, 5.1.1): the inverse, then an affine transformation.
const SBOX: [u8; 256] = {
    let mut sbox = [0; 256];
    let mut x = 0;
    while x < 256 {
        // x²⁵⁴ is the inverse of x, and 0 for 0.
        let mut inverse = 1;
        let mut i = 0;
        while i < 254 {
            inverse = multiply(inverse, x as u8);
            i += 1;
        }
        let b: u8 = inverse;
        sbox[x] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        x += 1;
    }
    sbox
};

const INVERSE_SBOX: [u8; 256] = {
    let mut inverse = [0; 256];
    let mut x = 0;
    while x < 256 {
        inverse[SBOX[x] as usize] = x as u8;
        x += 1;
    }
    inverse
};

type State = [u8; 16];

fn bytes(words: [u32; 4]) -> State {
    std::array::from_fn(|i| words[i / 4].to_le_bytes()[i % 4])
}

fn words(state: State) -> [u32; 4] {
    std::array::from_fn(|c| u32::from_le_bytes(std::array::from_fn(|r| state[4 * c + r])))
}

fn sub_bytes(state: State, sbox: &[u8; 256]) -> State {
    state.map(|b| sbox[usize::from(b)])
}

/// Row r moves left by r columns.
fn shift_rows(state: State) -> State {
    std::array::from_fn(|i| state[i % 4 + 4 * ((i / 4 + i % 4) % 4)])
}

/// Row r moves right by r columns.
fn inverse_shift_rows(state: State) -> State {
    std::array::from_fn(|i| state[i % 4 + 4 * ((i / 4 + 4 - i % 4) % 4)])
}

/// Each column times a circulant matrix, whose first row is given.
fn mix_columns(state: State, row: [u8; 4]) -> State {
    std::array::from_fn(|i| {
        let (r, c) = (i % 4, i / 4);
        (0..4).fold(0, |sum, j| sum ^ multiply(state[4 * c + j], row[(j + 4 - r) % 4]))
    })
}

/// vaesz
pub(super) fn add_round_key(state: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|i| state[i] ^ key[i])
}

/// vaesef
pub(super) fn encrypt_final(state: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    let state = shift_rows(sub_bytes(bytes(state), &SBOX));
    add_round_key(words(state), key)
}

/// vaesem
pub(super) fn encrypt_middle(state: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    let state = shift_rows(sub_bytes(bytes(state), &SBOX));
    add_round_key(words(mix_columns(state, [2, 3, 1, 1])), key)
}

/// vaesdf
pub(super) fn decrypt_final(state: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    let state = sub_bytes(inverse_shift_rows(bytes(state)), &INVERSE_SBOX);
    add_round_key(words(state), key)
}

/// vaesdm: the key comes before InvMixColumns.
pub(super) fn decrypt_middle(state: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    words(mix_columns(bytes(decrypt_final(state, key)), [0xe, 0xb, 0xd, 0x9]))
}

fn sub_word(word: u32) -> u32 {
    u32::from_le_bytes(word.to_le_bytes().map(|b| SBOX[usize::from(b)]))
}

/// RotWord takes [a0, a1, a2, a3] to [a1, a2, a3, a0]; a0 is the low byte.
fn rot_word(word: u32) -> u32 {
    word.rotate_right(8)
}

/// `Rcon[n]` is x^(n−1), n from 1 to 10.
fn round_constant(n: u32) -> u32 {
    (1..n).fold(1, |x, _| multiply(x, 2)).into()
}

/// Every word is exclusive-ored with the new word before it.
fn chain(first: u32, key: [u32; 4]) -> [u32; 4] {
    let mut previous = first;
    key.map(|word| {
        previous ^= word;
        previous
    })
}

/// vaeskf1: "The out-of-range `uimm[3:0]` values of 0 and 11–15 are mapped to in-range values by inverting
/// `uimm[3]`."
pub(super) fn key_schedule_128(key: [u32; 4], uimm: u32) -> [u32; 4] {
    let round = match uimm & 15 {
        in_range @ 1..=10 => in_range,
        other => other ^ 8,
    };
    chain(sub_word(rot_word(key[3])) ^ round_constant(round), key)
}

/// vaeskf2: "The out-of-range `uimm[3:0]` values of 0–1 and 15 are mapped to in-range values by inverting
/// `uimm[3]`." The new key comes from the one before the current one, which is vd.
pub(super) fn key_schedule_256(previous: [u32; 4], current: [u32; 4], uimm: u32) -> [u32; 4] {
    let round = match uimm & 15 {
        in_range @ 2..=14 => in_range,
        other => other ^ 8,
    };
    let first = if round % 2 == 1 {
        sub_word(current[3])
    } else {
        sub_word(rot_word(current[3])) ^ round_constant(round / 2)
    };
    chain(first, previous)
}

#[cfg(test)]
mod tests {
    use super::super::group4_u32;
    use rvv_intrinsics::Sem;

    fn block(hex: &str) -> [u32; 4] {
        let value = u128::from_str_radix(hex, 16).unwrap().to_be_bytes();
        std::array::from_fn(|i| u32::from_le_bytes(value[4 * i..4 * i + 4].try_into().unwrap()))
    }

    /// FIPS 197, Appendix B: the cipher example round by round (start of each round), with Appendix A.1's
    /// key expansion.
    #[test]
    fn fips_197_appendix_b() {
        let starts = [
            "193de3bea0f4e22b9ac68d2ae9f84808",
            "a49c7ff2689f352b6b5bea43026a5049",
            "aa8f5f0361dde3ef82d24ad26832469a",
            "486c4eee671d9d0d4de3b138d65f58e7",
            "e0927fe8c86363c0d9b1355085b8be01",
            "f1006f55c1924cef7cc88b325db5d50c",
            "260e2e173d41b77de86472a9fdd28b25",
            "5a4142b11949dc1fa3e019657a8c040c",
            "ea835cf00445332d655d98ad8596b0c5",
            "eb40f21e592e38848ba113e71bc342d2",
        ];
        let mut key = block("2b7e151628aed2a6abf7158809cf4f3c");
        let mut state = group4_u32(Sem::Aesz, block("3243f6a8885a308d313198a2e0370734"), key, [0; 4], 0);
        let mut keys = vec![key];
        for round in 1..=10 {
            assert_eq!(state, block(starts[round as usize - 1]), "start of round {round}");
            key = group4_u32(Sem::Aeskf1, [7; 4], key, [0; 4], round);
            keys.push(key);
            let sem = if round < 10 { Sem::Aesem } else { Sem::Aesef };
            state = group4_u32(sem, state, key, [0; 4], 0);
        }
        assert_eq!(key, block("d014f9a8c9ee2589e13f0cc8b6630ca6"));
        assert_eq!(state, block("3925841d02dc09fbdc118597196a0b32"));
        state = group4_u32(Sem::Aesz, state, keys[10], [0; 4], 0);
        for round in (0..10).rev() {
            let sem = if round > 0 { Sem::Aesdm } else { Sem::Aesdf };
            state = group4_u32(sem, state, keys[round], [0; 4], 0);
        }
        assert_eq!(state, block("3243f6a8885a308d313198a2e0370734"));
    }

    /// FIPS 197, Appendix C.3: AES-256.
    #[test]
    fn fips_197_appendix_c3() {
        let mut keys =
            vec![block("000102030405060708090a0b0c0d0e0f"), block("101112131415161718191a1b1c1d1e1f")];
        for round in 2..=14usize {
            keys.push(group4_u32(Sem::Aeskf2, keys[round - 2], keys[round - 1], [0; 4], round as u32));
        }
        let mut state = group4_u32(Sem::Aesz, block("00112233445566778899aabbccddeeff"), keys[0], [0; 4], 0);
        for (round, &key) in keys.iter().enumerate().skip(1) {
            let sem = if round < 14 { Sem::Aesem } else { Sem::Aesef };
            state = group4_u32(sem, state, key, [0; 4], 0);
        }
        assert_eq!(state, block("8ea2b7ca516745bfeafc49904b496089"));
    }

    #[test]
    fn round_numbers_out_of_range_are_mapped() {
        let (a, b) = (block("2b7e151628aed2a6abf7158809cf4f3c"), block("000102030405060708090a0b0c0d0e0f"));
        for (given, meant) in [(0, 8), (11, 3), (12, 4), (13, 5), (14, 6), (15, 7), (16, 8), (17, 1)] {
            assert_eq!(
                group4_u32(Sem::Aeskf1, a, b, a, given),
                group4_u32(Sem::Aeskf1, a, b, a, meant),
                "{given}"
            );
        }
        for (given, meant) in [(0, 8), (1, 9), (15, 7), (18, 2), (31, 7)] {
            assert_eq!(
                group4_u32(Sem::Aeskf2, a, b, a, given),
                group4_u32(Sem::Aeskf2, a, b, a, meant),
                "{given}"
            );
        }
    }
}
