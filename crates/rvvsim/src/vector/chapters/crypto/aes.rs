//! Zvkned: AES rounds and key schedule (FIPS 197).

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::chapter::VectorAes;

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

/// Four columns of four bytes, the first row in the low byte.
type State = [u32; 4];

fn sub_word(word: u32) -> u32 {
    u32::from_le_bytes(word.to_le_bytes().map(|b| SBOX[usize::from(b)]))
}

fn sub_bytes(state: State) -> State {
    state.map(sub_word)
}

fn inverse_sub_bytes(state: State) -> State {
    state.map(|column| u32::from_le_bytes(column.to_le_bytes().map(|b| INVERSE_SBOX[usize::from(b)])))
}

/// Row `r` of column `c` comes from column `c + r * by`.
fn rotate_rows(state: State, by: usize) -> State {
    std::array::from_fn(|c| {
        u32::from_le_bytes(std::array::from_fn(|r| state[(c + r * by) % 4].to_le_bytes()[r]))
    })
}

fn shift_rows(state: State) -> State {
    rotate_rows(state, 1)
}

fn inverse_shift_rows(state: State) -> State {
    rotate_rows(state, 3)
}

/// Multiplies columns by a circulant matrix.
fn mix(state: State, first_row: [u8; 4]) -> State {
    state.map(|column| {
        let s = column.to_le_bytes();
        u32::from_le_bytes(std::array::from_fn(|r| {
            (0..4).fold(0, |sum, k| sum ^ gf_mul(s[k], first_row[(k + 4 - r) % 4]))
        }))
    })
}

fn mix_columns(state: State) -> State {
    mix(state, [2, 3, 1, 1])
}

fn inverse_mix_columns(state: State) -> State {
    mix(state, [0xe, 0xb, 0xd, 0x9])
}

fn add_round_key(state: State, key: State) -> State {
    std::array::from_fn(|i| state[i] ^ key[i])
}

/// A round: of the state and the round key.
trait Round {
    fn apply(state: State, key: State) -> State;
}

/// norm:vaesdf_ops
struct DecryptFinal;
/// norm:vaesdm_ops
struct DecryptMiddle;
/// norm:vaesef_ops
struct EncryptFinal;
/// norm:vaesem_ops
struct EncryptMiddle;
/// norm:vaesz_round0
struct Zero;

impl Round for DecryptFinal {
    fn apply(state: State, key: State) -> State {
        add_round_key(inverse_sub_bytes(inverse_shift_rows(state)), key)
    }
}

impl Round for DecryptMiddle {
    fn apply(state: State, key: State) -> State {
        inverse_mix_columns(add_round_key(inverse_sub_bytes(inverse_shift_rows(state)), key))
    }
}

impl Round for EncryptFinal {
    fn apply(state: State, key: State) -> State {
        add_round_key(shift_rows(sub_bytes(state)), key)
    }
}

impl Round for EncryptMiddle {
    fn apply(state: State, key: State) -> State {
        add_round_key(mix_columns(shift_rows(sub_bytes(state))), key)
    }
}

impl Round for Zero {
    fn apply(state: State, key: State) -> State {
        add_round_key(state, key)
    }
}

fn vaes_vv<R: Round>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, false, |o| R::apply(o.vd, o.vs2))
}

fn vaes_vs<R: Round>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_groups(hart, vi, true, |o| R::apply(o.vd, o.vs2))
}

/// The round constant of round `round`, from 1.
fn rcon(round: u32) -> u32 {
    u32::from((1..round).fold(1, |constant, _| gf_mul(constant, 2)))
}

/// Each word of a round key is the one four before it, changed by the one just before it.
fn next_key(old: State, first_change: u32) -> State {
    let w0 = old[0] ^ first_change;
    let w1 = old[1] ^ w0;
    let w2 = old[2] ^ w1;
    [w0, w1, w2, old[3] ^ w2]
}

/// norm:vaeskf1_round
fn vaeskf1(hart: &mut Hart, vi: &VInst) -> Exec {
    let mut round = vi.inst.imm as u32 & 15;
    // norm:vaeskf1_uimm_map
    if round == 0 || round > 10 {
        round ^= 8;
    }
    run_groups::<u32, 4>(hart, vi, false, |o| {
        next_key(o.vs2, sub_word(o.vs2[3].rotate_right(8)) ^ rcon(round))
    })
}

/// norm:vaeskf2_round
fn vaeskf2(hart: &mut Hart, vi: &VInst) -> Exec {
    let mut round = vi.inst.imm as u32 & 15;
    // norm:vaeskf2_uimm_map
    if !(2..=14).contains(&round) {
        round ^= 8;
    }
    run_groups::<u32, 4>(hart, vi, false, |o| {
        let change = if round % 2 == 1 {
            sub_word(o.vs2[3])
        } else {
            sub_word(o.vs2[3].rotate_right(8)) ^ rcon(round / 2)
        };
        next_key(o.vd, change)
    })
}

/// The rows of the extension.
pub(in crate::vector) fn row(op: VectorAes) -> Row {
    Row::own(rows! { op;
        vaesdf.vv => vaes_vv::<DecryptFinal>;
        vaesdf.vs => vaes_vs::<DecryptFinal>;
        vaesdm.vv => vaes_vv::<DecryptMiddle>;
        vaesdm.vs => vaes_vs::<DecryptMiddle>;
        vaesef.vv => vaes_vv::<EncryptFinal>;
        vaesef.vs => vaes_vs::<EncryptFinal>;
        vaesem.vv => vaes_vv::<EncryptMiddle>;
        vaesem.vs => vaes_vs::<EncryptMiddle>;
        vaesz.vs => vaes_vs::<Zero>;
        vaeskf1.vi => vaeskf1;
        vaeskf2.vi => vaeskf2;
    })
}
