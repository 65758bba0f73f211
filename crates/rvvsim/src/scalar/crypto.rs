//! Scalar cryptography (chapter "Scalar Cryptography Extensions"): what is in no other extension.
//!
//! norm:zk_scalar_xreg_op: all of them take their operands from integer registers and write an integer
//! register.

use super::Handler;
use super::bitmanip::{binary_op, immediate_op, unary_op, unsigned_word, word};
use crate::Hart;
use crate::crypto::aes::{
    State, inverse_mix_column, inverse_shift_rows, inverse_sub_word, mix_column, rcon, shift_rows, sub_word,
};
use crate::crypto::sha2::Sigma;
use crate::crypto::sm3::{p0, p1};
use crate::crypto::sm4::{key_linear, linear, sub_word as sub_word_of_sm4};
use crate::trap::Exec;
use rvv_isa::chapter::Crypto;
use rvv_isa::{Inst, rows};

/// The rows of the chapter.
pub(super) fn handler(op: Crypto) -> Handler {
    rows! { op;
        // Zbkb
        brev8 => |h, i| unary_op(h, i, |a| a.reverse_bits().swap_bytes());
        pack => |h, i| binary_op(h, i, |a, b| unsigned_word(a) | b << 32);
        packh => |h, i| binary_op(h, i, |a, b| a & 0xff | (b & 0xff) << 8);
        // zext.h is the case rs2 = x0.
        packw => |h, i| binary_op(h, i, |a, b| word(a as u32 & 0xffff | (b as u32) << 16));
        // Zbkx
        xperm4 => |h, i| binary_op(h, i, crossbar::<4>);
        xperm8 => |h, i| binary_op(h, i, crossbar::<8>);
        // Zknd
        aes64ds => |h, i| binary_op(h, i, aes64ds);
        aes64dsm => |h, i| binary_op(h, i, |a, b| columns(inverse_mix_column, aes64ds(a, b)));
        aes64im => |h, i| unary_op(h, i, |a| columns(inverse_mix_column, a));
        // Zknd, Zkne
        aes64ks1i => |h, i| immediate_op(h, i, aes64ks1i);
        aes64ks2 => |h, i| binary_op(h, i, aes64ks2);
        // Zkne
        aes64es => |h, i| binary_op(h, i, aes64es);
        aes64esm => |h, i| binary_op(h, i, |a, b| columns(mix_column, aes64es(a, b)));
        // Zknh
        sha256sum0 => |h, i| unary_op(h, i, |a| word((a as u32).sum0()));
        sha256sum1 => |h, i| unary_op(h, i, |a| word((a as u32).sum1()));
        sha256sig0 => |h, i| unary_op(h, i, |a| word((a as u32).sig0()));
        sha256sig1 => |h, i| unary_op(h, i, |a| word((a as u32).sig1()));
        sha512sum0 => |h, i| unary_op(h, i, Sigma::sum0);
        sha512sum1 => |h, i| unary_op(h, i, Sigma::sum1);
        sha512sig0 => |h, i| unary_op(h, i, Sigma::sig0);
        sha512sig1 => |h, i| unary_op(h, i, Sigma::sig1);
        // Zksed
        sm4ed => |h, i| sm4(h, i, linear);
        sm4ks => |h, i| sm4(h, i, key_linear);
        // Zksh
        sm3p0 => |h, i| unary_op(h, i, |a| word(p0(a as u32)));
        sm3p1 => |h, i| unary_op(h, i, |a| word(p1(a as u32)));
    }
}

/// Each `WIDTH`-bit element of `indices` replaced by the element of `table` it names, or by zero if it names
/// none.
fn crossbar<const WIDTH: u32>(table: u64, indices: u64) -> u64 {
    let element = (1 << WIDTH) - 1;
    let mut result = 0;
    for at in (0..64).step_by(WIDTH as usize) {
        let from = (indices >> at & element) as u32 * WIDTH;
        result |= (table.checked_shr(from).unwrap_or(0) & element) << at;
    }
    result
}

/// A function of both columns in a register.
fn columns(function: impl Fn(u32) -> u32, pair: u64) -> u64 {
    u64::from(function(pair as u32)) | u64::from(function((pair >> 32) as u32)) << 32
}

/// AES's state in two registers, columns 0 and 1 in `low`.
fn state(low: u64, high: u64) -> State {
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

/// Columns 0 and 1.
fn low_half(state: State) -> u64 {
    u64::from(state[0]) | u64::from(state[1]) << 32
}

/// norm:aes64ds_op: columns 0 and 1 of the next state. With the operands exchanged it gives columns 2 and 3.
fn aes64ds(low: u64, high: u64) -> u64 {
    columns(inverse_sub_word, low_half(inverse_shift_rows(state(low, high))))
}

/// norm:aes64ks1i_op: what the first word of the next round key is changed by, twice. Number 10 is the step
/// in the middle of a key of AES-256: it rotates nothing and has no constant.
fn aes64ks1i(key: u64, round: u64) -> u64 {
    let last = (key >> 32) as u32;
    let change = match round {
        10 => sub_word(last),
        _ => sub_word(last.rotate_right(8)) ^ rcon(round as u32 + 1),
    };
    u64::from(change) | u64::from(change) << 32
}

/// norm:aes64ks2_op: two words of a round key, from the word before them and the two of the key before.
fn aes64ks2(before: u64, older: u64) -> u64 {
    let first = (before >> 32) as u32 ^ older as u32;
    let second = first ^ (older >> 32) as u32;
    u64::from(first) | u64::from(second) << 32
}

/// norm:aes64es_op: as [`aes64ds`].
fn aes64es(low: u64, high: u64) -> u64 {
    columns(sub_word, low_half(shift_rows(state(low, high))))
}

/// norm:sm4ed_op, norm:sm4ks_op: the part that one byte of `rs2` has in a step, added to `rs1`. Registers
/// hold words as memory has them, and the standard's words are big-endian.
fn sm4(h: &mut Hart, i: &Inst, linear: impl Fn(u32) -> u32) -> Exec {
    let in_place = 0xff << (8 * i.imm);
    binary_op(h, i, |a, b| {
        let byte = sub_word_of_sm4(b as u32) & in_place;
        word(a as u32 ^ linear(byte.swap_bytes()).swap_bytes())
    })
}
