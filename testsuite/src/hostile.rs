//! Hostile input: what the fuzz targets and the tests of bad input throw at the loader and the decoder, and
//! the mutations of good ELFs that they start from.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{DisasmOptions, Isa, Op, decode, encode};
use rvvsim::elf::Image;
use rvvsim::linux::{Clock, Input, Output, ProcessOptions};
use rvvsim::{Config, Machine};
use std::sync::LazyLock;

/// Guest memory for each input: small, so that what is taken beyond it shows.
pub const MEM: u64 = 4 << 20;

/// Instructions that an input may execute.
pub const INSTRUCTIONS: u64 = 3000;

/// How far an input came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reached {
    /// It is not an ELF that could run here.
    Refused,
    /// It is, but does not fit.
    DoesNotFit,
    /// It ran.
    Ran,
}

/// Loads a file and runs it for a while, bare and as a Linux process. Nothing that it holds may make this
/// panic, hang, or take much more than [`MEM`].
pub fn load(bytes: &[u8]) -> Reached {
    let Ok(image) = Image::parse(bytes) else { return Reached::Refused };
    let config = Config { mem: MEM, max_insns: Some(INSTRUCTIONS), ..Config::default() };
    let mut reached = Reached::DoesNotFit;
    if let Ok(mut machine) = Machine::bare(config.clone(), &image) {
        silence(&mut machine);
        // How it ends is its own business.
        let _ = machine.run(None);
        reached = Reached::Ran;
    }
    if let Ok(mut machine) = Machine::user(config, &image, process()) {
        let _ = machine.run(None);
        reached = Reached::Ran;
    }
    let _ = image.nearest(image.entry);
    reached
}

/// A process that sees nothing of the host, prints little, and cannot sleep for years.
pub(crate) fn process() -> ProcessOptions {
    ProcessOptions {
        args: vec![b"guest".to_vec()],
        stdin: Input::Bytes(Vec::new()),
        stdout: Output::Capture,
        stderr: Output::Capture,
        output_limit: 1 << 16,
        clock: Clock::Counted,
        seed: Some(1),
        stack: 64 << 10,
        ..ProcessOptions::default()
    }
}

/// What a bare machine prints goes nowhere.
pub(crate) fn silence(machine: &mut Machine) {
    machine.set_console(Box::new(std::io::sink()));
}

/// Decodes a word, prints it and encodes it again. Returns whether it is an instruction.
///
/// # Panics
/// If what was decoded does not encode to the word: a bug.
pub fn decode_word(word: u32) -> bool {
    let Some(inst) = decode(word) else { return false };
    let used = if inst.len == 2 { word & 0xffff } else { word };
    assert_eq!(encode(&inst), Ok(used), "{inst:?}");
    let text = inst.disasm(u64::from(word) << 7, DisasmOptions::default());
    assert!(text.starts_with(inst.op.name().split('.').next().unwrap_or("")) || !text.is_empty());
    let base = Isa::rv64i().decode(word);
    assert!(base.is_none_or(|i| i.len == inst.len));
    true
}

/// Reads bytes as words and as an instruction-set string. Returns whether all words are instructions.
///
/// # Panics
/// If what was read is not written as it was: a bug.
pub fn decode_bytes(bytes: &[u8]) -> bool {
    let mut all = true;
    for chunk in bytes.chunks(4) {
        let mut le = [0; 4];
        le[..chunk.len()].copy_from_slice(chunk);
        all &= decode_word(u32::from_le_bytes(le));
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(isa) = Isa::parse(text)
    {
        assert_eq!(Isa::parse(&isa.to_string()).as_ref(), Ok(&isa), "{text}");
    }
    all
}

/// Good ELFs to start from: bare metal and Linux, of a few segments each.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![bare(), user(false), user(true)]
}

/// Stores, loads, loops a little, and writes 1 to `tohost`.
fn bare() -> Vec<u8> {
    let (text, data, tohost) = (0x8000_0000, 0x8000_2000, 0x8000_3000);
    let mut a = Asm::new(text);
    a.li(5, data);
    a.li(6, 10);
    let again = a.label_here();
    a.rri(Op::Ld, 7, 5, 0);
    a.rrr(Op::Mul, 7, 7, 6);
    a.store(Op::Sd, 7, 8, 5);
    a.rri(Op::Addi, 6, 6, -1);
    a.branch(Op::Bne, 6, 0, again);
    a.li(5, tohost);
    a.li(6, 1);
    a.store(Op::Sd, 6, 0, 5);
    let forever = a.label_here();
    a.jump(forever);
    let mut elf = ElfWriter::new(text);
    elf.segment(text, a.finish(), 5).segment(data, vec![7; 64], 6).zeros(tohost, 64);
    elf.symbol("_start", text).symbol("tohost", tohost).symbol("fromhost", tohost + 8);
    elf.finish()
}

/// Writes a line and exits; position-independent or not.
fn user(pie: bool) -> Vec<u8> {
    let text: u64 = if pie { 0x1000 } else { 0x1_0000 };
    let data = text + 0x1000;
    let mut a = Asm::new(text);
    a.rri(Op::Addi, 10, 0, 1);
    a.inst(&rvv_isa::Inst { rd: 11, imm: 0x1000, ..rvv_isa::Inst::new(Op::Auipc) });
    a.rri(Op::Addi, 11, 11, -4);
    a.rri(Op::Addi, 12, 0, 6);
    a.rri(Op::Addi, 17, 0, 64);
    a.plain(Op::Ecall);
    a.rri(Op::Addi, 10, 0, 3);
    a.rri(Op::Addi, 17, 0, 93);
    a.plain(Op::Ecall);
    let mut elf = ElfWriter::new(text);
    elf.segment(text, a.finish(), 5).segment(data, b"hello\n".to_vec(), 6).zeros(data + 0x1000, 256);
    elf.symbol("_start", text);
    let mut bytes = elf.finish();
    if pie {
        bytes[16] = 3; // ET_DYN
    }
    bytes
}

/// Values that arithmetic on sizes and addresses goes wrong with.
const EXTREMES: [u64; 16] = [
    0,
    1,
    7,
    0xfff,
    0x1000,
    0x1001,
    0x7fff_ffff,
    0xffff_ffff,
    0x8000_0000,
    0x8040_0000,
    1 << 40,
    (1 << 40) + 1,
    1 << 63,
    u64::MAX,
    u64::MAX - 0xfff,
    i64::MAX as u64,
];

/// The file of a seed after a mutation or a few.
#[must_use]
pub fn mutate(seed: u64) -> Vec<u8> {
    mutate_with(&mut ChaCha8Rng::seed_from_u64(seed))
}

/// A good file after a mutation or a few.
pub fn mutate_with(rng: &mut ChaCha8Rng) -> Vec<u8> {
    static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(seeds);
    let mut bytes = SEEDS.choose(rng).expect("three").clone();
    for _ in 0..rng.random_range(1..4) {
        mutation(&mut bytes, rng);
        if bytes.len() < 64 {
            break;
        }
    }
    bytes
}

fn mutation(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let headers = bytes.len().min(64 + 3 * 56);
    match rng.random_range(0..12) {
        0 => bytes.truncate(rng.random_range(0..bytes.len())),
        1 => bytes.truncate(rng.random_range(0..headers)),
        // 32-bit, big-endian, another machine, another kind of file.
        2 => bytes[4] = rng.random_range(0..4),
        3 => bytes[5] = rng.random_range(0..4),
        4 => {
            let at = *[16, 18].choose(rng).expect("two");
            bytes[at..at + 2].copy_from_slice(&rng.random::<u16>().to_le_bytes());
        }
        5 => flip(bytes, headers, rng),
        6 => flip(bytes, usize::MAX, rng),
        7 | 8 => extreme_field(bytes, headers, rng),
        9 => overlap(bytes, rng),
        10 => section_headers(bytes, rng),
        _ => code(bytes, rng),
    }
}

/// Flips a few bits among the first `within` bytes.
fn flip(bytes: &mut [u8], within: usize, rng: &mut ChaCha8Rng) {
    let within = within.min(bytes.len());
    for _ in 0..rng.random_range(1..16) {
        bytes[rng.random_range(0..within)] ^= 1 << rng.random_range(0..8);
    }
}

/// Puts an extreme value into a field of a header.
fn extreme_field(bytes: &mut [u8], headers: usize, rng: &mut ChaCha8Rng) {
    let value = EXTREMES.choose(rng).expect("many").to_le_bytes();
    let size = *[2, 4, 8, 8].choose(rng).expect("four");
    let at = rng.random_range(16..headers - 8) / size * size;
    bytes[at..at + size].copy_from_slice(&value[..size]);
}

/// Lays one segment over another, or makes it huge.
fn overlap(bytes: &mut [u8], rng: &mut ChaCha8Rng) {
    if bytes.len() < 64 + 3 * 56 {
        return;
    }
    let header = |i: usize| 64 + 56 * i;
    let (a, b) = (rng.random_range(0..3), rng.random_range(0..3));
    for field in [16, 24] {
        let mut le = [0; 8];
        le.copy_from_slice(&bytes[header(a) + field..][..8]);
        let moved = u64::from_le_bytes(le).wrapping_add(rng.random_range(0..8192)).wrapping_sub(4096);
        bytes[header(b) + field..][..8].copy_from_slice(&moved.to_le_bytes());
    }
    if rng.random() {
        let size: u64 = 1 << rng.random_range(10..64);
        bytes[header(b) + 40..][..8].copy_from_slice(&size.to_le_bytes());
    }
}

/// Damages the table of sections, where the symbols are.
fn section_headers(bytes: &mut [u8], rng: &mut ChaCha8Rng) {
    let tail = bytes.len().saturating_sub(4 * 64);
    let at = tail + rng.random_range(0..(bytes.len() - tail).saturating_sub(8).max(1));
    let value = EXTREMES.choose(rng).expect("many").to_le_bytes();
    let end = (at + 8).min(bytes.len());
    bytes[at..end].copy_from_slice(&value[..end - at]);
}

/// Replaces code by anything, or by instructions with anything for operands.
fn code(bytes: &mut [u8], rng: &mut ChaCha8Rng) {
    let at = 4096.min(bytes.len());
    let end = (at + 64).min(bytes.len());
    for chunk in bytes[at..end].chunks_exact_mut(4) {
        let word = match rng.random_range(0..4) {
            0 => rng.random::<u32>(),
            1 => any_instruction(rng),
            2 => 0x73, // ecall
            _ => continue,
        };
        chunk.copy_from_slice(&word.to_le_bytes());
    }
}

/// An instruction with anything for operands.
pub fn any_instruction(rng: &mut ChaCha8Rng) -> u32 {
    static OPS: LazyLock<Vec<Op>> = LazyLock::new(|| Op::all().collect());
    let info = OPS.choose(rng).expect("many").info();
    info.match_ | rng.random::<u32>() & !info.mask
}

/// Pieces of instruction-set strings, in any order.
pub fn isa_string(rng: &mut ChaCha8Rng) -> String {
    let pieces =
        ["rv64", "i", "g", "c", "v", "_", "zba", "zvl256b", "2p0", "x", "é", "zz", "rva23u64", "9999999999"];
    (0..rng.random_range(0..8)).map(|_| *pieces.choose(rng).expect("some")).collect()
}
