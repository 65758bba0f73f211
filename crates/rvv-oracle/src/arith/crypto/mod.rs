//! The vector crypto extensions, one element group at a time. Word 0 of a group is the element with the
//! lowest number, the rightmost in the manual's `{w3 @ w2 @ w1 @ w0}`.

mod aes;
mod ghash;
mod sha2;
mod sm3;
mod sm4;

use rvv_intrinsics::Sem;

/// The instructions on groups of four 32-bit elements: Zvkg, Zvkned, Zvknha, Zvksed. Operands an instruction
/// does not have do not matter.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group4_u32(sem: Sem, vd: [u32; 4], vs2: [u32; 4], vs1: [u32; 4], uimm: u32) -> [u32; 4] {
    match sem {
        Sem::Ghsh => ghash::add_multiply(vd, vs2, vs1),
        Sem::Gmul => ghash::add_multiply(vd, vs2, [0; 4]),
        Sem::Aesef => aes::encrypt_final(vd, vs2),
        Sem::Aesem => aes::encrypt_middle(vd, vs2),
        Sem::Aesdf => aes::decrypt_final(vd, vs2),
        Sem::Aesdm => aes::decrypt_middle(vd, vs2),
        Sem::Aesz => aes::add_round_key(vd, vs2),
        Sem::Aeskf1 => aes::key_schedule_128(vs2, uimm),
        Sem::Aeskf2 => aes::key_schedule_256(vd, vs2, uimm),
        Sem::Sha2ch => sha2::compress(vd, vs2, [vs1[2], vs1[3]]),
        Sem::Sha2cl => sha2::compress(vd, vs2, [vs1[0], vs1[1]]),
        Sem::Sha2ms => sha2::schedule(vd, vs2, vs1),
        Sem::Sm4k => sm4::expand_key(vs2, uimm),
        Sem::Sm4r => sm4::rounds(vd, vs2),
        _ => panic!("{} does not work on groups of four 32-bit elements", sem.name()),
    }
}

/// The instructions on groups of four 64-bit elements: SHA-512, Zvknhb.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group4_u64(sem: Sem, vd: [u64; 4], vs2: [u64; 4], vs1: [u64; 4]) -> [u64; 4] {
    match sem {
        Sem::Sha2ch => sha2::compress(vd, vs2, [vs1[2], vs1[3]]),
        Sem::Sha2cl => sha2::compress(vd, vs2, [vs1[0], vs1[1]]),
        Sem::Sha2ms => sha2::schedule(vd, vs2, vs1),
        _ => panic!("{} does not work on groups of four 64-bit elements", sem.name()),
    }
}

/// The instructions on groups of eight 32-bit elements: Zvksh.
///
/// # Panics
///
/// If `sem` is not one of them.
pub fn group8_u32(sem: Sem, vd: [u32; 8], vs2: [u32; 8], vs1: [u32; 8], uimm: u32) -> [u32; 8] {
    match sem {
        Sem::Sm3c => sm3::compress(vd, vs2, uimm),
        Sem::Sm3me => sm3::expand(vs2, vs1),
        _ => panic!("{} does not work on groups of eight 32-bit elements", sem.name()),
    }
}
