//! The vector crypto extensions, one element group at a time. Word 0 of a group is the element with the
//! lowest number, the rightmost in the manual's `{w3 @ w2 @ w1 @ w0}`.

mod aes;
mod ghash;
mod sha2;
mod sm3;
mod sm4;

use rvv_intrinsics::Sem;
use rvv_intrinsics::sem::{Chapter, Group4, Group8, Sha2};

/// The instructions on groups of four 32-bit elements: Zvkg, Zvkned, Zvknha, Zvksed. Operands an instruction
/// does not have do not matter.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group4_u32(sem: Sem, vd: [u32; 4], vs2: [u32; 4], vs1: [u32; 4], uimm: u32) -> [u32; 4] {
    let op = match sem.chapter() {
        Chapter::Group4(op) => op,
        Chapter::Sha2(op) => return sha2_words(op, vd, vs2, vs1),
        _ => panic!("{} does not work on groups of four 32-bit elements", sem.name()),
    };
    match op {
        // vghsh.vv
        Group4::Ghsh => ghash::add_multiply(vd, vs2, vs1),
        // vgmul.vv
        Group4::Gmul => ghash::add_multiply(vd, vs2, [0; 4]),
        // vaesef.vs vaesef.vv
        Group4::Aesef => aes::encrypt_final(vd, vs2),
        // vaesem.vs vaesem.vv
        Group4::Aesem => aes::encrypt_middle(vd, vs2),
        // vaesdf.vs vaesdf.vv
        Group4::Aesdf => aes::decrypt_final(vd, vs2),
        // vaesdm.vs vaesdm.vv
        Group4::Aesdm => aes::decrypt_middle(vd, vs2),
        // vaesz.vs
        Group4::Aesz => aes::add_round_key(vd, vs2),
        // vaeskf1.vi
        Group4::Aeskf1 => aes::key_schedule_128(vs2, uimm),
        // vaeskf2.vi
        Group4::Aeskf2 => aes::key_schedule_256(vd, vs2, uimm),
        // vsm4k.vi
        Group4::Sm4k => sm4::expand_key(vs2, uimm),
        // vsm4r.vs vsm4r.vv
        Group4::Sm4r => sm4::rounds(vd, vs2),
    }
}

fn sha2_words<T: sha2::Word>(op: Sha2, vd: [T; 4], vs2: [T; 4], vs1: [T; 4]) -> [T; 4] {
    match op {
        // vsha2ch.vv
        Sha2::Sha2ch => sha2::compress(vd, vs2, [vs1[2], vs1[3]]),
        // vsha2cl.vv
        Sha2::Sha2cl => sha2::compress(vd, vs2, [vs1[0], vs1[1]]),
        // vsha2ms.vv
        Sha2::Sha2ms => sha2::schedule(vd, vs2, vs1),
    }
}

/// The instructions on groups of four 64-bit elements: SHA-512, Zvknhb.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group4_u64(sem: Sem, vd: [u64; 4], vs2: [u64; 4], vs1: [u64; 4]) -> [u64; 4] {
    let Chapter::Sha2(op) = sem.chapter() else {
        panic!("{} does not work on groups of four 64-bit elements", sem.name())
    };
    sha2_words(op, vd, vs2, vs1)
}

/// The instructions on groups of eight 32-bit elements: Zvksh.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group8_u32(sem: Sem, vd: [u32; 8], vs2: [u32; 8], vs1: [u32; 8], uimm: u32) -> [u32; 8] {
    let Chapter::Group8(op) = sem.chapter() else {
        panic!("{} does not work on groups of eight 32-bit elements", sem.name())
    };
    match op {
        // vsm3c.vi
        Group8::Sm3c => sm3::compress(vd, vs2, uimm),
        // vsm3me.vv
        Group8::Sm3me => sm3::expand(vs2, vs1),
    }
}
