//! AES (FIPS 197).

/// The product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
const fn gf_mul(mut a: u8, b: u8) -> u8 {
    let (mut product, mut i) = (0, 0);
    while i < 8 {
        if b >> i & 1 != 0 {
            product ^= a;
        }
        a = (a << 1) ^ (if a >> 7 != 0 { 0x1b } else { 0 });
        i += 1;
    }
    product
}

/// The S-box: the multiplicative inverse, then an affine transformation (FIPS 197, section 5.1.1).
const SBOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        // The inverse is the 254th power, and that of 0 is 0.
        let (mut inverse, mut i) = (1, 0);
        while i < 254 {
            inverse = gf_mul(inverse, x as u8);
            i += 1;
        }
        let rotations = inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3);
        table[x] = inverse ^ rotations ^ inverse.rotate_left(4) ^ 0x63;
        x += 1;
    }
    table
};

const INVERSE_SBOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[SBOX[x] as usize] = x as u8;
        x += 1;
    }
    table
};

/// SubWord (FIPS 197, section 5.2): the S-box on each byte.
pub(crate) fn sub_word(word: u32) -> u32 {
    u32::from_le_bytes(word.to_le_bytes().map(|b| SBOX[usize::from(b)]))
}

/// The inverse S-box on each byte.
pub(crate) fn inverse_sub_word(word: u32) -> u32 {
    u32::from_le_bytes(word.to_le_bytes().map(|b| INVERSE_SBOX[usize::from(b)]))
}

/// Four columns of four bytes, the first row in the low byte.
pub(crate) type State = [u32; 4];

/// Row `r` of column `c` comes from column `c + r * by`.
fn rotate_rows(state: State, by: usize) -> State {
    std::array::from_fn(|c| {
        u32::from_le_bytes(std::array::from_fn(|r| state[(c + r * by) % 4].to_le_bytes()[r]))
    })
}

pub(crate) fn shift_rows(state: State) -> State {
    rotate_rows(state, 1)
}

pub(crate) fn inverse_shift_rows(state: State) -> State {
    rotate_rows(state, 3)
}

/// Multiplies a column by a circulant matrix.
fn mix(column: u32, first_row: [u8; 4]) -> u32 {
    let s = column.to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|r| {
        (0..4).fold(0, |sum, k| sum ^ gf_mul(s[k], first_row[(k + 4 - r) % 4]))
    }))
}

/// MixColumns, of one column.
pub(crate) fn mix_column(column: u32) -> u32 {
    mix(column, [2, 3, 1, 1])
}

/// InvMixColumns, of one column.
pub(crate) fn inverse_mix_column(column: u32) -> u32 {
    mix(column, [0xe, 0xb, 0xd, 0x9])
}

/// The round constant of round `round`, from 1.
pub(crate) fn rcon(round: u32) -> u32 {
    u32::from((1..round).fold(1, |constant, _| gf_mul(constant, 2)))
}
