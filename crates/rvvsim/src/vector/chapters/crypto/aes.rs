//! Zvkned: AES rounds and key schedule (FIPS 197).

use super::{Row, VInst, rows, run_groups};
use crate::Hart;
use crate::crypto::aes::{
    State, inverse_mix_column, inverse_shift_rows, inverse_sub_word, mix_column, rcon, shift_rows, sub_word,
};
use crate::trap::Exec;
use rvv_isa::chapter::VectorAes;

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
        add_round_key(inverse_shift_rows(state).map(inverse_sub_word), key)
    }
}

impl Round for DecryptMiddle {
    fn apply(state: State, key: State) -> State {
        add_round_key(inverse_shift_rows(state).map(inverse_sub_word), key).map(inverse_mix_column)
    }
}

impl Round for EncryptFinal {
    fn apply(state: State, key: State) -> State {
        add_round_key(shift_rows(state.map(sub_word)), key)
    }
}

impl Round for EncryptMiddle {
    fn apply(state: State, key: State) -> State {
        add_round_key(shift_rows(state.map(sub_word)).map(mix_column), key)
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
