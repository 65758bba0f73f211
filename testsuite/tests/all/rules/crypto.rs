//! Vector cryptography: published answers, plain models, and the element-group constraints.

use super::forms::{VD, VS1, VS2};
use super::harness::*;
use rvv_isa::Lmul;

pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

impl Lab {
    pub fn put_bytes(&mut self, r: u8, bytes: &[u8]) -> &mut Lab {
        let at = usize::from(r) * self.hart.vector().vlenb;
        self.hart.vector_mut().registers_mut()[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }
    pub fn bytes(&self, r: u8, n: usize) -> Vec<u8> {
        self.hart.vector().registers()[usize::from(r) * self.hart.vector().vlenb..][..n].to_vec()
    }
}

// AES
// ----------------------------------------------------------------------------------------------------

/// A lab with AES, at this VLEN, with the LMUL that a block needs, and `blocks` blocks.
fn aes_lab(vlen: u32, blocks: u64) -> Lab {
    let mut lab = Lab::new(vlen);
    lab.set(32, Lmul::M2).vl(4 * blocks);
    lab
}

pub fn key_schedule_128(lab: &mut Lab, key: &[u8]) -> Vec<Vec<u8>> {
    let mut keys = vec![key.to_vec()];
    for round in 1..=10 {
        lab.put_bytes(VS2, keys.last().unwrap()).vl(4);
        lab.ok(ins("vaeskf1.vi").vd(VD).vs2(VS2).imm(round));
        keys.push(lab.bytes(VD, 16));
    }
    keys
}

fn key_schedule_256(lab: &mut Lab, key: &[u8]) -> Vec<Vec<u8>> {
    let mut keys = vec![key[..16].to_vec(), key[16..].to_vec()];
    for round in 2..=14 {
        lab.put_bytes(VD, &keys[round - 2]).put_bytes(VS2, &keys[round - 1]).vl(4);
        lab.ok(ins("vaeskf2.vi").vd(VD).vs2(VS2).imm(round as i32));
        keys.push(lab.bytes(VD, 16));
    }
    keys
}

/// Encrypts two blocks at once, the vector-vector way or the vector-scalar way.
fn aes(lab: &mut Lab, keys: &[Vec<u8>], blocks: [&[u8]; 2], scalar: bool, decrypt: bool) -> [Vec<u8>; 2] {
    lab.vl(8).put_bytes(VD, blocks[0]).put_bytes(VD + 1, blocks[1]);
    let mut order: Vec<&Vec<u8>> = keys.iter().collect();
    if decrypt {
        order.reverse();
    }
    let (middle, last) = if decrypt { ("vaesdm", "vaesdf") } else { ("vaesem", "vaesef") };
    for (round, key) in order.iter().enumerate() {
        lab.put_bytes(VS2, key).put_bytes(VS2 + 1, key);
        let base = match round {
            0 => "vaesz.vs".to_owned(),
            _ => format!(
                "{}.{}",
                if round + 1 == order.len() { last } else { middle },
                if scalar { "vs" } else { "vv" }
            ),
        };
        if scalar || round == 0 {
            // Only element group 0 of vs2 counts.
            lab.put_bytes(VS2 + 1, &[0x5a; 16]);
        }
        lab.ok(ins(&base).vd(VD).vs2(VS2));
    }
    [lab.bytes(VD, 16), lab.bytes(VD + 1, 16)]
}

#[test]
fn aes_128_and_256_give_the_answers_of_fips_197() {
    let plain = hex("00112233445566778899aabbccddeeff");
    let other = hex("000102030405060708090a0b0c0d0e0f");
    let mut lab = aes_lab(128, 2);
    let keys = key_schedule_128(&mut lab, &hex("000102030405060708090a0b0c0d0e0f"));
    assert_eq!(keys[10], hex("13111d7fe3944a17f307a78b4d2b30c5"));
    let keys256 =
        key_schedule_256(&mut lab, &hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
    assert_eq!(keys256[14], hex("24fc79ccbf0979e9371ac23c6d68de36"));
    for (keys, want) in
        [(&keys, "69c4e0d86a7b0430d8cdb78070b4c55a"), (&keys256, "8ea2b7ca516745bfeafc49904b496089")]
    {
        for scalar in [false, true] {
            let [a, b] = aes(&mut lab, keys, [&plain, &other], scalar, false);
            assert_eq!(a, hex(want), "vs: {scalar}");
            let [a, b] = aes(&mut lab, keys, [&a, &b], scalar, true);
            assert_eq!((a, b), (plain.clone(), other.clone()), "vs: {scalar}");
        }
    }
}

#[test]
fn aes_key_schedules_map_round_numbers_out_of_range() {
    let mut lab = aes_lab(128, 1);
    let key: Vec<u8> = (0..16u8).map(|i| i.wrapping_mul(13) + 3).collect();
    let older: Vec<u8> = (0..16u8).map(|i| i.wrapping_mul(29) ^ 7).collect();
    let mut round_key = |name: &str, imm: i32| {
        lab.put_bytes(VS2, &key).put_bytes(VD, &older).vl(4);
        lab.ok(ins(name).vd(VD).vs2(VS2).imm(imm));
        lab.bytes(VD, 16)
    };
    for imm in 0..16 {
        // uimm[4] is ignored; 0 and 11 to 15 (0, 1 and 15) have bit 3 inverted.
        let kf1 = if imm == 0 || imm > 10 { imm ^ 8 } else { imm };
        let kf2 = if imm < 2 || imm == 15 { imm ^ 8 } else { imm };
        assert_eq!(round_key("vaeskf1.vi", imm + 16), round_key("vaeskf1.vi", kf1), "{imm}");
        assert_eq!(round_key("vaeskf1.vi", imm), round_key("vaeskf1.vi", kf1), "{imm}");
        assert_eq!(round_key("vaeskf2.vi", imm + 16), round_key("vaeskf2.vi", kf2), "{imm}");
        assert_eq!(round_key("vaeskf2.vi", imm), round_key("vaeskf2.vi", kf2), "{imm}");
    }
    // Rounds differ where they should: the constants and, in AES-256, whether the word is rotated.
    assert_ne!(round_key("vaeskf1.vi", 1), round_key("vaeskf1.vi", 2));
    assert_ne!(round_key("vaeskf2.vi", 2), round_key("vaeskf2.vi", 3));
    assert_eq!(round_key("vaeskf2.vi", 3), round_key("vaeskf2.vi", 5), "odd rounds have no constant");
}

fn gf_mul(a: u8, b: u8, polynomial: u16) -> u8 {
    let product = (0..8).filter(|i| b >> i & 1 == 1).fold(0u16, |sum, i| sum ^ u16::from(a) << i);
    (8..16).rev().fold(product, |p, i| if p >> i & 1 == 1 { p ^ polynomial << (i - 8) } else { p }) as u8
}

fn gf_inverse(a: u8, polynomial: u16) -> u8 {
    (0..=255).find(|&b| gf_mul(a, b, polynomial) == 1).unwrap_or(0)
}

/// SubBytes, from its definition.
fn aes_sbox(x: u8) -> u8 {
    let y = gf_inverse(x, 0x11b);
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4) ^ 0x63
}

fn shift_rows(state: &[u8]) -> Vec<u8> {
    (0..16).map(|i| state[(i + 4 * (i % 4)) % 16]).collect()
}

fn mix_columns(state: &[u8]) -> Vec<u8> {
    let row = |c: usize, r: usize| {
        let at = |k: usize| state[4 * c + (r + k) % 4];
        gf_mul(at(0), 2, 0x11b) ^ gf_mul(at(1), 3, 0x11b) ^ at(2) ^ at(3)
    };
    (0..16).map(|i| row(i / 4, i % 4)).collect()
}

/// Every byte through every step, against the definitions.
#[test]
fn aes_steps_are_sub_bytes_shift_rows_and_mix_columns() {
    let sbox: Vec<u8> = (0..=255).map(aes_sbox).collect();
    let mut lab = Lab::new(2048);
    let state: Vec<u8> = (0..=255).collect();
    let key: Vec<u8> = (0..=255u8).map(|i| i.wrapping_mul(7) ^ 0x35).collect();
    lab.set(32, Lmul::M1);
    let mut run = |name: &str, state: &[u8]| {
        lab.put_bytes(VD, state).put_bytes(VS2, &key);
        lab.ok(ins(name).vd(VD).vs2(VS2));
        lab.bytes(VD, 256)
    };
    let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
    let substituted: Vec<u8> = state.iter().map(|&x| sbox[usize::from(x)]).collect();
    let blocks = |f: fn(&[u8]) -> Vec<u8>, x: &[u8]| x.chunks(16).flat_map(f).collect::<Vec<u8>>();
    let shifted = blocks(shift_rows, &substituted);
    let mixed = blocks(mix_columns, &shifted);
    let (last, middle) = (xor(&shifted, &key), xor(&mixed, &key));
    assert_eq!(run("vaesef.vv", &state), last);
    assert_eq!(run("vaesem.vv", &state), middle);
    // The scalar forms use the first group of the key.
    let same: Vec<u8> = (0..256).map(|i| key[i % 16]).collect();
    assert_eq!(run("vaesef.vs", &state), xor(&shifted, &same));
    assert_eq!(run("vaesem.vs", &state), xor(&mixed, &same));
    assert_eq!(run("vaesz.vs", &state), xor(&state, &same));
    // Decryption undoes: InvShiftRows and InvSubBytes, then the key (then InvMixColumns).
    assert_eq!(run("vaesdf.vv", &shifted), xor(&state, &key));
    assert_eq!(run("vaesdf.vs", &shifted), xor(&state, &same));
    let middle = run("vaesdm.vv", &shifted);
    assert_eq!(blocks(mix_columns, &middle), xor(&state, &key));
    let middle = run("vaesdm.vs", &shifted);
    assert_eq!(blocks(mix_columns, &middle), xor(&state, &same));
}

// SHA-2
// ----------------------------------------------------------------------------------------------------

/// Words of 32 or 64 bits, with the rotations of SHA-256 or SHA-512.
struct Sha {
    bits: u32,
    sum0: [u32; 3],
    sum1: [u32; 3],
    /// The last one of each is a shift.
    sig0: [u32; 3],
    sig1: [u32; 3],
}

const SHA256: Sha =
    Sha { bits: 32, sum0: [2, 13, 22], sum1: [6, 11, 25], sig0: [7, 18, 3], sig1: [17, 19, 10] };
const SHA512: Sha =
    Sha { bits: 64, sum0: [28, 34, 39], sum1: [14, 18, 41], sig0: [1, 8, 7], sig1: [19, 61, 6] };

impl Sha {
    fn rotate(&self, x: u64, n: u32) -> u64 {
        low(x >> n | x << (self.bits - n), self.bits)
    }
    fn sum(&self, x: u64, by: [u32; 3]) -> u64 {
        by.iter().fold(0, |sum, &n| sum ^ self.rotate(x, n))
    }
    fn sig(&self, x: u64, by: [u32; 3]) -> u64 {
        self.rotate(x, by[0]) ^ self.rotate(x, by[1]) ^ x >> by[2]
    }
    fn add(&self, terms: &[u64]) -> u64 {
        low(terms.iter().fold(0, |sum: u64, &x| sum.wrapping_add(x)), self.bits)
    }
    /// One round on a to h, with W+K.
    fn round(&self, s: [u64; 8], wk: u64) -> [u64; 8] {
        let [a, b, c, d, e, f, g, h] = s;
        let t1 = self.add(&[h, self.sum(e, self.sum1), e & f ^ !e & g, wk]);
        let t2 = self.add(&[self.sum(a, self.sum0), a & b ^ a & c ^ b & c]);
        [self.add(&[t1, t2]), a, b, c, self.add(&[d, t1]), e, f, g]
    }
    /// The next word of the message schedule from the last sixteen.
    fn next(&self, w: &[u64]) -> u64 {
        self.add(&[self.sig(w[14], self.sig1), w[9], self.sig(w[1], self.sig0), w[0]])
    }
}

#[test]
fn sha2_instructions_agree_with_the_rounds_of_fips_180() {
    let mut random = Random(61);
    for sha in [SHA256, SHA512] {
        let bits = sha.bits;
        for vlen in [128u32, 256, 2048] {
            let mut lab = Lab::new(vlen);
            for _ in 0..20 {
                lab.shake(&mut random).set(bits, Lmul::M2);
                let vl = lab.vlmax() / 4 * 4;
                lab.vl(vl);
                let n = vl as usize;
                let (d, s2, s1) = (lab.gets(VD, bits, n), lab.gets(VS2, bits, n), lab.gets(VS1, bits, n));
                for (name, first) in [("vsha2cl.vv", 0), ("vsha2ch.vv", 2)] {
                    lab.puts(VD, bits, &d);
                    lab.ok(ins(name).vd(VD).vs2(VS2).vs1(VS1));
                    for g in (0..n).step_by(4) {
                        // vs2 is f, e, b, a from the lowest element on, vd is h, g, d, c.
                        let (abef, cdgh) = (&s2[g..g + 4], &d[g..g + 4]);
                        let state = [abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]];
                        let state = sha.round(sha.round(state, s1[g + first]), s1[g + first + 1]);
                        let want = [state[5], state[4], state[1], state[0]];
                        let got: Vec<u64> = (g..g + 4).map(|i| lab.get(VD, bits, i)).collect();
                        assert_eq!(got, want, "{name} e{bits}");
                    }
                }
                lab.puts(VD, bits, &d);
                lab.ok(ins("vsha2ms.vv").vd(VD).vs2(VS2).vs1(VS1));
                for g in (0..n).step_by(4) {
                    // vd: W0 to W3; vs2: W4, W9, W10, W11; vs1: W12 to W15.
                    let mut w = vec![0; 16];
                    w[..4].copy_from_slice(&d[g..g + 4]);
                    (w[4], w[9], w[10], w[11]) = (s2[g], s2[g + 1], s2[g + 2], s2[g + 3]);
                    w[12..].copy_from_slice(&s1[g..g + 4]);
                    for k in 0..4 {
                        let next = sha.next(&w[k..]);
                        w.push(next);
                        assert_eq!(lab.get(VD, bits, g + k), next, "vsha2ms.vv e{bits} word {k}");
                    }
                }
            }
        }
    }
}

// SM3 and SM4
// ----------------------------------------------------------------------------------------------------

#[test]
fn sm3_of_abc_is_the_answer_of_the_standard() {
    let mut lab = Lab::new(256);
    lab.set(32, Lmul::M1).vl(8);
    let swap =
        |words: &[u64]| words.iter().map(|&w| u64::from((w as u32).swap_bytes())).collect::<Vec<u64>>();
    let mut w = vec![0x6162_6380u64];
    w.resize(15, 0);
    w.push(24);
    while w.len() < 68 {
        let n = w.len();
        lab.puts(VS1, 32, &swap(&w[n - 16..n - 8])).puts(VS2, 32, &swap(&w[n - 8..]));
        lab.ok(ins("vsm3me.vv").vd(VD).vs2(VS2).vs1(VS1));
        w.extend(swap(&lab.gets(VD, 32, 8)));
    }
    let iv = [
        0x7380_166f,
        0x4914_b2b9,
        0x1724_42d7,
        0xda8a_0600,
        0xa96f_30bc,
        0x1631_38aa,
        0xe38d_ee4d,
        0xb0fb_0e4eu64,
    ];
    lab.puts(VD, 32, &swap(&iv));
    for round in 0..32usize {
        // Words 2*round, +1, +4, +5; the others are not used.
        let words: Vec<u64> =
            (0..8).map(|i| if matches!(i, 0 | 1 | 4 | 5) { w[2 * round + i] } else { 0xdead }).collect();
        lab.puts(VS2, 32, &swap(&words));
        lab.ok(ins("vsm3c.vi").vd(VD).vs2(VS2).imm(round as i32));
    }
    let state = swap(&lab.gets(VD, 32, 8));
    let hash: Vec<u64> = iv.iter().zip(state).map(|(a, b)| a ^ b).collect();
    let want = [
        0x66c7_f0f4,
        0x62ee_edd9,
        0xd1f2_d46b,
        0xdc10_e4e2,
        0x4167_c487,
        0x5cf2_f7a2,
        0x297d_a02b,
        0x8f4b_a8e0u64,
    ];
    assert_eq!(hash, want);
}

#[test]
fn sm4_gives_the_answer_of_the_standard_both_ways() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M2);
    let text = hex("0123456789abcdeffedcba9876543210");
    // The instructions take big-endian words from little-endian elements: software reverses bytes.
    let words: Vec<u64> =
        text.chunks(4).map(|b| u64::from(u32::from_be_bytes(b.try_into().unwrap()))).collect();
    let fk = [0xa3b1_bac6u64, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];
    let mut key: Vec<u64> = words.iter().zip(fk).map(|(a, b)| a ^ b).collect();
    let mut round_keys = Vec::new();
    for group in 0..8 {
        lab.vl(4).puts(VS2, 32, &key);
        lab.ok(ins("vsm4k.vi").vd(VD).vs2(VS2).imm(group));
        key = lab.gets(VD, 32, 4);
        // uimm[4:3] are ignored.
        lab.ok(ins("vsm4k.vi").vd(VD).vs2(VS2).imm(group + 24));
        assert_eq!(lab.gets(VD, 32, 4), key);
        round_keys.push(key.clone());
    }
    for scalar in [false, true] {
        let mut run = |blocks: &[u64], keys: &[Vec<u64>]| {
            lab.vl(8).puts(VD, 32, blocks);
            for key in keys {
                lab.puts(VS2, 32, key).puts(VS2 + 1, 32, if scalar { &[0, 0, 0, 0] } else { key });
                lab.ok(ins(if scalar { "vsm4r.vs" } else { "vsm4r.vv" }).vd(VD).vs2(VS2));
            }
            // The words come out in order; the cipher reverses them.
            let out = lab.gets(VD, 32, 8);
            let reversed: Vec<u64> = out.chunks(4).flat_map(|b| b.iter().rev().copied()).collect();
            reversed
        };
        let two = [words.clone(), vec![1, 2, 3, 4]].concat();
        let encrypted = run(&two, &round_keys);
        assert_eq!(encrypted[..4], [0x681e_df34, 0xd206_965e, 0x86b3_e94f, 0x536e_4246]);
        let backwards: Vec<Vec<u64>> =
            round_keys.iter().rev().map(|k| k.iter().rev().copied().collect()).collect();
        assert_eq!(run(&encrypted, &backwards), two);
    }
}

/// SM4's substitution for every byte: one round of the cipher on words that hold it.
#[test]
fn sm4_substitutes_by_its_definition() {
    let parity = |x: u8| (x.count_ones() & 1) as u8;
    let affine = |x: u8| (0..8).fold(0, |y, i| y | parity(0xa7u8.rotate_left(i) & x) << i) ^ 0xd3;
    let sbox: Vec<u8> = (0..=255).map(|x| affine(gf_inverse(affine(x), 0x1f5))).collect();
    assert_eq!(sbox[..4], [0xd6, 0x90, 0xe9, 0xfe]);
    let mut random = Random(71);
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(4);
    let substitute = |x: u32| u32::from_le_bytes(x.to_le_bytes().map(|b| sbox[usize::from(b)]));
    let l = |x: u32| x ^ x.rotate_left(2) ^ x.rotate_left(10) ^ x.rotate_left(18) ^ x.rotate_left(24);
    let l2 = |x: u32| x ^ x.rotate_left(13) ^ x.rotate_left(23);
    for round in 0..300u32 {
        let mut x: Vec<u32> = (0..4).map(|_| random.next() as u32).collect();
        let rk: Vec<u32> = (0..4).map(|_| random.next() as u32).collect();
        let put: Vec<u64> = x.iter().map(|&w| w.into()).collect();
        lab.puts(VD, 32, &put).puts(VS2, 32, &rk.iter().map(|&w| w.into()).collect::<Vec<u64>>());
        lab.ok(ins("vsm4r.vv").vd(VD).vs2(VS2));
        for k in 0..4 {
            let next = x[k] ^ l(substitute(x[k + 1] ^ x[k + 2] ^ x[k + 3] ^ rk[k]));
            x.push(next);
        }
        assert_eq!(lab.gets(VD, 32, 4), x[4..].iter().map(|&w| u64::from(w)).collect::<Vec<u64>>());
        // The key schedule, with the constants' formula: byte j of CK[i] is (4i + j) * 7.
        let mut k = rk.clone();
        let group = round % 8;
        for i in 0..4 {
            let ck = (0..4).fold(0u32, |ck, j| (ck << 8) | ((4 * (4 * group + i) + j) * 7 % 256));
            let i = i as usize;
            let next = k[i] ^ l2(substitute(k[i + 1] ^ k[i + 2] ^ k[i + 3] ^ ck));
            k.push(next);
        }
        lab.ok(ins("vsm4k.vi").vd(VD).vs2(VS2).imm(group as i32));
        assert_eq!(lab.gets(VD, 32, 4), k[4..].iter().map(|&w| u64::from(w)).collect::<Vec<u64>>());
    }
}

// GHASH
// ----------------------------------------------------------------------------------------------------

/// The product in GF(2^128) as the GCM specification has it: bit 0 is the leftmost.
fn ghash_product(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0u128, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 1 { v >> 1 ^ 0xe1 << 120 } else { v >> 1 };
    }
    z
}

#[test]
fn ghash_gives_the_answers_of_the_gcm_specification() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(4);
    let h = hex("66e94bd4ef8a2c3b884cfa59ca342b2e");
    let c = hex("0388dace60b6a392f328c2b971b2fe78");
    lab.put_bytes(VD, &c).put_bytes(VS2, &h);
    lab.ok(ins("vgmul.vv").vd(VD).vs2(VS2));
    assert_eq!(lab.bytes(VD, 16), hex("5e2ec746917062882c85b0685353deb7"));
    lab.put_bytes(VS1, &hex("00000000000000000000000000000080"));
    lab.ok(ins("vghsh.vv").vd(VD).vs2(VS2).vs1(VS1));
    assert_eq!(lab.bytes(VD, 16), hex("f38cbb1ad69223dcc3457ae5b6b0f885"));
}

#[test]
fn ghash_agrees_with_the_plain_product_in_every_group() {
    let mut random = Random(81);
    let mut lab = Lab::new(512);
    let block = |lab: &Lab, r: u8, g: usize| {
        let at = usize::from(r) * 64 + 16 * g;
        u128::from_be_bytes(lab.hart.vector().registers()[at..at + 16].try_into().unwrap())
    };
    for _ in 0..50 {
        lab.shake(&mut random).set(32, Lmul::M2);
        let groups = 8;
        let old: Vec<[u128; 3]> = (0..groups).map(|g| [VD, VS2, VS1].map(|r| block(&lab, r, g))).collect();
        lab.ok(ins("vghsh.vv").vd(VD).vs2(VS2).vs1(VS1));
        for (g, [y, h, x]) in old.iter().enumerate() {
            assert_eq!(block(&lab, VD, g), ghash_product(y ^ x, *h));
        }
        let old: Vec<[u128; 2]> = (0..groups).map(|g| [VD, VS2].map(|r| block(&lab, r, g))).collect();
        lab.ok(ins("vgmul.vv").vd(VD).vs2(VS2));
        for (g, [y, h]) in old.iter().enumerate() {
            assert_eq!(block(&lab, VD, g), ghash_product(*y, *h));
        }
    }
}
