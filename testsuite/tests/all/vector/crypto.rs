//! The cryptographic instructions against the vectors that the standards publish.

use super::support::{hart_of, inst, run, set_type};
use rvv_isa::{Inst, Lmul, Sew};
use rvvsim::Hart;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn put(hart: &mut Hart, register: u8, value: &[u8]) {
    let at = usize::from(register) * hart.vector().vlenb;
    hart.vector_mut().registers_mut()[at..at + value.len()].copy_from_slice(value);
}

fn get(hart: &Hart, register: u8, len: usize) -> Vec<u8> {
    hart.vector().registers()[usize::from(register) * hart.vector().vlenb..][..len].to_vec()
}

fn with_imm(inst: Inst, imm: i32) -> Inst {
    Inst { imm, ..inst }
}

fn execute(hart: &mut Hart, inst: Inst) {
    run(hart, &inst).unwrap_or_else(|trap| panic!("{}: {trap:?}", inst.op.name()));
}

/// A hart with room for `groups` element groups of `egs` elements.
fn hart_for(vlen: u32, sew: Sew, elements: u64) -> Hart {
    let mut hart = hart_of(vlen);
    set_type(&mut hart, sew, Lmul::M2, elements);
    hart
}

#[test]
fn aes_128_encrypts_and_decrypts_as_fips_197() {
    // FIPS 197, appendix B and appendix A.1; the round keys go to v12, v13, ….
    for vlen in [128, 256, 1024] {
        let mut hart = hart_for(vlen, Sew::E32, 4);
        put(&mut hart, 10, &bytes("2b7e151628aed2a6abf7158809cf4f3c"));
        set_type(&mut hart, Sew::E32, Lmul::M1, 4);
        for round in 1..=10 {
            execute(&mut hart, with_imm(inst("vaeskf1.vi", 10 + round, 9 + round, 0), round.into()));
        }
        assert_eq!(get(&hart, 20, 16), bytes("d014f9a8c9ee2589e13f0cc8b6630ca6"), "last round key");
        let plain = bytes("3243f6a8885a308d313198a2e0370734");
        let cipher = bytes("3925841d02dc09fbdc118597196a0b32");
        put(&mut hart, 2, &plain);
        execute(&mut hart, inst("vaesz.vs", 2, 10, 0));
        for round in 1..10 {
            let form = if round % 2 == 0 { "vaesem.vs" } else { "vaesem.vv" };
            execute(&mut hart, inst(form, 2, 10 + round, 0));
        }
        execute(&mut hart, inst("vaesef.vs", 2, 20, 0));
        assert_eq!(get(&hart, 2, 16), cipher);
        execute(&mut hart, inst("vaesz.vs", 2, 20, 0));
        for round in (1..10).rev() {
            let form = if round % 2 == 0 { "vaesdm.vs" } else { "vaesdm.vv" };
            execute(&mut hart, inst(form, 2, 10 + round, 0));
        }
        execute(&mut hart, inst("vaesdf.vv", 2, 10, 0));
        assert_eq!(get(&hart, 2, 16), plain);
    }
}

#[test]
fn aes_256_schedules_keys_as_fips_197() {
    // FIPS 197, appendix A.3: the last round key is w[56..60].
    let mut hart = hart_of(128);
    set_type(&mut hart, Sew::E32, Lmul::M1, 4);
    put(&mut hart, 10, &bytes("603deb1015ca71be2b73aef0857d7781"));
    put(&mut hart, 11, &bytes("1f352c073b6108d72d9810a30914dff4"));
    let mut keys = [10, 11];
    for round in 2..=14 {
        execute(&mut hart, with_imm(inst("vaeskf2.vi", keys[0], keys[1], 0), round));
        keys = [keys[1], keys[0]];
    }
    assert_eq!(get(&hart, keys[1], 16), bytes("fe4890d1e6188d0b046df344706c631e"));
}

#[test]
fn round_numbers_out_of_range_are_mapped() {
    let mut hart = hart_of(128);
    set_type(&mut hart, Sew::E32, Lmul::M1, 4);
    put(&mut hart, 10, &bytes("000102030405060708090a0b0c0d0e0f"));
    let mut key = |name, imm| {
        put(&mut hart, 11, &bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"));
        execute(&mut hart, with_imm(inst(name, 11, 10, 0), imm));
        get(&hart, 11, 16)
    };
    for (wild, tame) in [(0, 8), (11, 3), (15, 7), (16 + 1, 1)] {
        assert_eq!(key("vaeskf1.vi", wild), key("vaeskf1.vi", tame), "vaeskf1 {wild}");
    }
    for (wild, tame) in [(0, 8), (1, 9), (15, 7), (16 + 2, 2)] {
        assert_eq!(key("vaeskf2.vi", wild), key("vaeskf2.vi", tame), "vaeskf2 {wild}");
    }
}

/// Primes, for the constants of SHA-2.
fn primes() -> impl Iterator<Item = u64> {
    (2..).filter(|&n| (2..n).take_while(|d| d * d <= n).all(|d| n % d != 0))
}

/// The first 64 bits of the fraction of the cube root.
fn cube_root_fraction(prime: u64) -> u64 {
    // floor(2^64 * cbrt(p)), bit by bit: x^3 <= p * 2^192, in 256-bit arithmetic by halves.
    let mut root: u128 = 0;
    for bit in (0..68).rev() {
        let candidate = root | 1 << bit;
        if cube_at_most(candidate, prime) {
            root = candidate;
        }
    }
    root as u64
}

/// x^3 <= p << 192, for x below 2^68.
fn cube_at_most(x: u128, p: u64) -> bool {
    // In limbs of 32 bits.
    let limbs = |mut n: u128| {
        let mut v = vec![];
        while n != 0 {
            v.push(n as u32);
            n >>= 32;
        }
        v
    };
    let multiply = |a: &[u32], b: &[u32]| {
        let mut product = vec![0u32; a.len() + b.len() + 1];
        for (i, &x) in a.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &y) in b.iter().enumerate() {
                let sum = u64::from(product[i + j]) + u64::from(x) * u64::from(y) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + b.len()] = carry as u32;
        }
        product
    };
    let x = limbs(x);
    let mut cube = multiply(&multiply(&x, &x), &x);
    let mut bound = vec![0; 6];
    bound.extend(limbs(u128::from(p)));
    let len = cube.len().max(bound.len());
    cube.resize(len, 0);
    bound.resize(len, 0);
    cube.iter().rev().le(bound.iter().rev())
}

/// Hashes one block, already padded, by the instructions; big-endian words.
fn sha2(vlen: u32, sew: Sew, initial: &[u64; 8], block: &[u64; 16], constants: &[u64]) -> [u64; 8] {
    let size = sew.bytes() as usize;
    let mut hart = hart_for(vlen, sew, 4);
    let group =
        |words: [u64; 4]| words.iter().flat_map(|w| w.to_le_bytes()[..size].to_vec()).collect::<Vec<_>>();
    let word = |hart: &Hart, register: u8, i: usize| {
        let mut le = [0; 8];
        le[..size].copy_from_slice(&get(hart, register, 4 * size)[i * size..][..size]);
        u64::from_le_bytes(le)
    };
    let [a, b, c, d, e, f, g, h] = *initial;
    put(&mut hart, 2, &group([f, e, b, a]));
    put(&mut hart, 4, &group([h, g, d, c]));
    let mut w = block.to_vec();
    for four in 0..constants.len() / 4 {
        if four >= 4 {
            let t = 4 * four;
            put(&mut hart, 10, &group([w[t - 16], w[t - 15], w[t - 14], w[t - 13]]));
            put(&mut hart, 12, &group([w[t - 12], w[t - 7], w[t - 6], w[t - 5]]));
            put(&mut hart, 14, &group([w[t - 4], w[t - 3], w[t - 2], w[t - 1]]));
            execute(&mut hart, inst("vsha2ms.vv", 10, 12, 14));
            w.extend((0..4).map(|i| word(&hart, 10, i)));
        }
        let t = 4 * four;
        let sum = |i: usize| w[t + i].wrapping_add(constants[t + i]);
        put(&mut hart, 16, &group([sum(0), sum(1), sum(2), sum(3)]));
        execute(&mut hart, inst("vsha2cl.vv", 4, 2, 16));
        execute(&mut hart, inst("vsha2ch.vv", 2, 4, 16));
    }
    let out =
        |r, i: usize, before: u64| word(&hart, r, i).wrapping_add(before) & (u64::MAX >> (64 - sew.bits()));
    [
        out(2, 3, a),
        out(2, 2, b),
        out(4, 3, c),
        out(4, 2, d),
        out(2, 1, e),
        out(2, 0, f),
        out(4, 1, g),
        out(4, 0, h),
    ]
}

#[test]
fn sha_256_hashes_abc_as_fips_180_4() {
    let constants: Vec<u64> = primes().take(64).map(|p| cube_root_fraction(p) >> 32).collect();
    assert_eq!(constants[0], 0x428a_2f98);
    let initial = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut block = [0; 16];
    (block[0], block[15]) = (0x6162_6380, 24);
    for vlen in [128, 512] {
        assert_eq!(
            sha2(vlen, Sew::E32, &initial, &block, &constants),
            [
                0xba78_16bf,
                0x8f01_cfea,
                0x4141_40de,
                0x5dae_2223,
                0xb003_61a3,
                0x9617_7a9c,
                0xb410_ff61,
                0xf200_15ad
            ]
        );
    }
}

#[test]
fn sha_512_hashes_abc_as_fips_180_4() {
    let constants: Vec<u64> = primes().take(80).map(cube_root_fraction).collect();
    let initial = [
        0x6a09_e667_f3bc_c908,
        0xbb67_ae85_84ca_a73b,
        0x3c6e_f372_fe94_f82b,
        0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1,
        0x9b05_688c_2b3e_6c1f,
        0x1f83_d9ab_fb41_bd6b,
        0x5be0_cd19_137e_2179,
    ];
    let mut block = [0; 16];
    (block[0], block[15]) = (0x6162_6380_0000_0000, 24);
    for vlen in [128, 512] {
        let hash = sha2(vlen, Sew::E64, &initial, &block, &constants);
        assert_eq!(hash[0], 0xddaf_35a1_9361_7aba);
        assert_eq!(hash[7], 0x2a9a_c94f_a54c_a49f);
    }
}

#[test]
fn sm3_hashes_abc_as_its_standard() {
    for vlen in [128, 256] {
        let mut hart = hart_for(vlen, Sew::E32, 8);
        let initial = bytes("7380166f 4914b2b9 172442d7 da8a0600 a96f30bc 163138aa e38dee4d b0fb0e4e");
        let mut block = bytes("61626380");
        block.resize(64, 0);
        block[63] = 24;
        put(&mut hart, 2, &initial);
        // The whole expanded message, big-endian.
        let mut message = block;
        while message.len() < 4 * 68 {
            let end = message.len();
            put(&mut hart, 10, &message[end - 64..end - 32]);
            put(&mut hart, 12, &message[end - 32..]);
            execute(&mut hart, inst("vsm3me.vv", 14, 12, 10));
            message.extend(get(&hart, 14, 32));
        }
        for rounds in 0..32 {
            let mut words = message[8 * rounds..(8 * rounds + 32).min(message.len())].to_vec();
            words.resize(32, 0);
            put(&mut hart, 16, &words);
            execute(&mut hart, with_imm(inst("vsm3c.vi", 2, 16, 0), rounds as i32));
        }
        let hash: Vec<u8> = get(&hart, 2, 32).iter().zip(&initial).map(|(a, b)| a ^ b).collect();
        assert_eq!(hash, bytes("66c7f0f4 62eeedd9 d1f2d46b dc10e4e2 4167c487 5cf2f7a2 297da02b 8f4ba8e0"));
    }
}

#[test]
fn sm4_encrypts_as_its_standard() {
    // The example of the standard's appendix; words are big-endian there.
    let words = |hex: &str| bytes(hex).chunks(4).flat_map(|w| [w[3], w[2], w[1], w[0]]).collect::<Vec<u8>>();
    let key = words("0123456789abcdeffedcba9876543210");
    let fk = words("a3b1bac656aa3350677d9197b27022dc");
    let mut hart = hart_of(256);
    set_type(&mut hart, Sew::E32, Lmul::M1, 8);
    put(&mut hart, 8, &key.iter().zip(&fk).map(|(a, b)| a ^ b).collect::<Vec<u8>>());
    for group in 0..8 {
        execute(&mut hart, with_imm(inst("vsm4k.vi", 9 + group, 8 + group, 0), i32::from(group) + 8));
    }
    // Two blocks at once, one round key for both.
    let plain = words("0123456789abcdeffedcba9876543210");
    put(&mut hart, 2, &[plain.clone(), plain.clone()].concat());
    put(&mut hart, 3, &plain);
    for group in 0..8 {
        execute(&mut hart, inst("vsm4r.vs", 2, 9 + group, 0));
        execute(&mut hart, inst("vsm4r.vv", 3, 9 + group, 0));
    }
    let cipher: Vec<u8> = words("681edf34d206965e86b3e94f536e4246");
    let reversed = |register, from: usize| {
        get(&hart, register, 32)[from..from + 16].chunks(4).rev().flatten().copied().collect::<Vec<u8>>()
    };
    assert_eq!(reversed(2, 0), cipher);
    assert_eq!(reversed(2, 16), cipher);
    assert_eq!(reversed(3, 0), cipher);
}

#[test]
fn ghash_is_that_of_the_gcm_specification() {
    // Test case 2 of the GCM specification: H, the block of ciphertext, and the lengths.
    let mut hart = hart_of(128);
    set_type(&mut hart, Sew::E32, Lmul::M1, 4);
    put(&mut hart, 4, &bytes("66e94bd4ef8a2c3b884cfa59ca342b2e"));
    put(&mut hart, 2, &[0; 16]);
    put(&mut hart, 6, &bytes("0388dace60b6a392f328c2b971b2fe78"));
    execute(&mut hart, inst("vghsh.vv", 2, 4, 6));
    assert_eq!(get(&hart, 2, 16), bytes("5e2ec746917062882c85b0685353deb7"));
    put(&mut hart, 6, &bytes("00000000000000000000000000000080"));
    execute(&mut hart, inst("vghsh.vv", 2, 4, 6));
    assert_eq!(get(&hart, 2, 16), bytes("f38cbb1ad69223dcc3457ae5b6b0f885"));
    // vgmul is vghsh with nothing added.
    put(&mut hart, 8, &bytes("0388dace60b6a392f328c2b971b2fe78"));
    execute(&mut hart, inst("vgmul.vv", 8, 4, 0));
    assert_eq!(get(&hart, 8, 16), bytes("5e2ec746917062882c85b0685353deb7"));
}
