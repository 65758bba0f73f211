//! Scalar cryptography: published answers, and what the manual says of the upper halves of registers.

use super::support::{hart, inst, run};
use rvv_isa::{Inst, Isa, encode};
use rvvsim::Hart;

/// Runs instructions by name on values.
struct Cpu(Hart);

impl Cpu {
    fn new() -> Cpu {
        Cpu(hart())
    }

    /// With an immediate.
    fn three(&mut self, name: &str, rs1: u64, rs2: u64, imm: i32) -> u64 {
        self.0.set_x(2, rs1);
        self.0.set_x(3, rs2);
        run(&mut self.0, &Inst { imm, ..inst(name) }).unwrap();
        self.0.x(1)
    }

    fn two(&mut self, name: &str, rs1: u64, rs2: u64) -> u64 {
        self.three(name, rs1, rs2, 0)
    }

    fn one(&mut self, name: &str, rs1: u64) -> u64 {
        self.three(name, rs1, 0, 0)
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// As a program loads them.
fn double_words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap())).collect()
}

// Zknd ------------------------------------------------------------------------------------------------------

/// Keys, and what they make of 00112233445566778899aabbccddeeff (FIPS 197, appendix C).
const AES: [(&str, &str); 3] = [
    ("000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f1011121314151617", "dda97ca4864cdfe06eaf70a0ec0d7191"),
    ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "8ea2b7ca516745bfeafc49904b496089"),
];

/// The round keys, as software makes them: `aes64ks1i` for the first word of each key, `aes64ks2` for the
/// others.
fn key_schedule(cpu: &mut Cpu, key: &str) -> Vec<[u64; 2]> {
    let mut keys = double_words(&hex(key));
    let n = keys.len();
    let rounds = 2 * n + 6;
    for i in n..2 * (rounds + 1) {
        let before = match i % n {
            0 => cpu.three("aes64ks1i", keys[i - 1], 0, (i / n - 1) as i32),
            // AES-256 has a step in the middle of each key.
            2 if n == 4 => cpu.three("aes64ks1i", keys[i - 1], 0, 10),
            _ => keys[i - 1],
        };
        keys.push(cpu.two("aes64ks2", before, keys[i - n]));
    }
    keys.chunks(2).map(|two| [two[0], two[1]]).collect()
}

/// A round on both halves of the state, then the round key.
fn round(cpu: &mut Cpu, name: &str, [low, high]: [u64; 2], key: [u64; 2]) -> [u64; 2] {
    [cpu.two(name, low, high) ^ key[0], cpu.two(name, high, low) ^ key[1]]
}

#[test]
fn aes_decrypts_as_fips_197_says() {
    let mut cpu = Cpu::new();
    for (key, cipher) in AES {
        let keys = key_schedule(&mut cpu, key);
        let (last, cipher) = (keys.len() - 1, double_words(&hex(cipher)));
        let mut state = [cipher[0] ^ keys[last][0], cipher[1] ^ keys[last][1]];
        for middle in keys[1..last].iter().rev() {
            let mixed = middle.map(|half| cpu.one("aes64im", half));
            state = round(&mut cpu, "aes64dsm", state, mixed);
        }
        state = round(&mut cpu, "aes64ds", state, keys[0]);
        assert_eq!(state.to_vec(), double_words(&hex("00112233445566778899aabbccddeeff")), "{key}");
    }
}

/// The last round keys that FIPS 197 lists (appendix A).
#[test]
fn aes_round_keys_are_those_of_fips_197() {
    let keys = key_schedule(&mut Cpu::new(), "2b7e151628aed2a6abf7158809cf4f3c");
    assert_eq!(keys[10].to_vec(), double_words(&hex("d014f9a8c9ee2589e13f0cc8b6630ca6")));
    let keys =
        key_schedule(&mut Cpu::new(), "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
    assert_eq!(keys[14].to_vec(), double_words(&hex("fe4890d1e6188d0b046df344706c631e")));
}

/// "The values 0xB-0xF are reserved."
#[test]
fn round_numbers_from_11_are_reserved() {
    let first = encode(&inst("aes64ks1i")).unwrap();
    for number in 0..16 {
        let decoded = Isa::default().decode(first | number << 20);
        assert_eq!(decoded.is_some(), number <= 10, "{number}");
        assert_eq!(decoded.map_or(0, |inst| inst.imm), if number <= 10 { number as i32 } else { 0 });
    }
}

// Zkne ------------------------------------------------------------------------------------------------------

#[test]
fn aes_encrypts_as_fips_197_says() {
    let mut cpu = Cpu::new();
    for (key, cipher) in AES {
        let keys = key_schedule(&mut cpu, key);
        let (last, plain) = (keys.len() - 1, double_words(&hex("00112233445566778899aabbccddeeff")));
        let mut state = [plain[0] ^ keys[0][0], plain[1] ^ keys[0][1]];
        for middle in &keys[1..last] {
            state = round(&mut cpu, "aes64esm", state, *middle);
        }
        state = round(&mut cpu, "aes64es", state, keys[last]);
        assert_eq!(state.to_vec(), double_words(&hex(cipher)), "{key}");
    }
}

/// norm:zknd_shared_instr, norm:zkne_shared_instr
#[test]
fn either_half_of_aes_brings_the_key_schedule() {
    for name in ["aes64ks1i", "aes64ks2"] {
        let word = encode(&inst(name)).unwrap();
        for (isa, is_there) in [("rv64i_zknd", true), ("rv64i_zkne", true), ("rv64i_zknh", false)] {
            assert_eq!(Isa::parse(isa).is_ok_and(|isa| isa.decode(word).is_some()), is_there, "{name} {isa}");
        }
    }
}
