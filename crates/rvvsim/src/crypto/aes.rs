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

/// Each byte of a column times x.
fn times_x(column: u32) -> u32 {
    ((column & 0x7f7f_7f7f) << 1) ^ ((column >> 7 & 0x0101_0101) * 0x1b)
}

/// MixColumns, of one column: row `r` is `2·s[r] + 3·s[r+1] + s[r+2] + s[r+3]`.
pub(crate) fn mix_column(column: u32) -> u32 {
    let twice = times_x(column);
    twice ^ (twice ^ column).rotate_right(8) ^ column.rotate_right(16) ^ column.rotate_right(24)
}

/// InvMixColumns, of one column: row `r` is `14·s[r] + 11·s[r+1] + 13·s[r+2] + 9·s[r+3]`.
pub(crate) fn inverse_mix_column(column: u32) -> u32 {
    let twice = times_x(column);
    let four = times_x(twice);
    let eight = times_x(four);
    eight
        ^ four
        ^ twice
        ^ (eight ^ twice ^ column).rotate_right(8)
        ^ (eight ^ four ^ column).rotate_right(16)
        ^ (eight ^ column).rotate_right(24)
}

/// The round constant of round `round`, from 1.
pub(crate) fn rcon(round: u32) -> u32 {
    u32::from((1..round).fold(1, |constant, _| gf_mul(constant, 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matrices of FIPS 197, sections 5.1.3 and 5.3.3, byte by byte.
    #[test]
    fn columns_are_mixed_as_the_matrices_say() {
        let by_matrix = |column: u32, row: [u8; 4]| {
            let s = column.to_le_bytes();
            u32::from_le_bytes(std::array::from_fn(|r| {
                (0..4).fold(0, |sum, k| sum ^ gf_mul(s[k], row[(k + 4 - r) % 4]))
            }))
        };
        let mut column = 0x8001_ff1b_u32;
        for _ in 0..1000 {
            assert_eq!(mix_column(column), by_matrix(column, [2, 3, 1, 1]), "{column:#x}");
            assert_eq!(inverse_mix_column(column), by_matrix(column, [0xe, 0xb, 0xd, 0x9]), "{column:#x}");
            column = column.wrapping_mul(0x9e37_79b9).rotate_left(7) ^ 0x51;
        }
    }
}
