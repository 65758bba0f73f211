//! The ELF that runs the cases of one instruction.

use super::cases::{Case, Filling, INDEX_LIMIT, format};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::asm::{Asm, Label};
use rvv_asm::elf_writer::ElfWriter;
use rvv_asm::values::INTEGERS;
use rvv_isa::{Inst, Op, Sew, csr};
use std::sync::OnceLock;

const CODE: u64 = 0x8000_0000;
/// `tohost` and `fromhost`.
const HTIF: u64 = 0x8100_0000;
/// The parts of the data pool, one after the other.
const POOL: u64 = 0x8110_0000;
/// Where loads and stores go, in the middle of half a megabyte.
const SCRATCH: u64 = 0x8140_0000;
/// Where the registers are dumped to be digested.
const DUMP: u64 = 0x8180_0000;
/// Where the digests go.
const SIGNATURE: u64 = 0x8200_0000;

/// Bytes of a part of the pool: all registers at VLEN 1024, and room to start at different places.
const PART: usize = 16 << 10;

// The program's own registers; x10 to x13 belong to the cases.
const LINK: u8 = 1;
const T0: u8 = 5;
const T1: u8 = 6;
const T2: u8 = 7;
const OUT: u8 = 18;
const PRIME: u8 = 19;
const POOL_BASE: u8 = 20;
const DUMP_BASE: u8 = 21;
const HASH: u8 = 22;
const FROM: u8 = 23;
const TO: u8 = 24;
const TVAL: u8 = 26;
const CAUSE: u8 = 27;

fn number(name: &str) -> u16 {
    csr::number(name).unwrap_or_else(|| panic!("no CSR {name}"))
}

/// The ELF; its signature has a word per case, whose lowest bit says whether the instruction trapped.
#[must_use]
pub fn program(cases: &[Case], vlen: u32) -> Vec<u8> {
    let mut a = Asm::new(CODE);
    let start = a.label();
    a.jump(start);
    let handler = a.here().next_multiple_of(4);
    trap_handler(&mut a);
    let fill = fill_registers(&mut a, vlen);
    let digest = digest(&mut a, vlen);
    a.place(start);
    set_up(&mut a, handler);
    for case in cases {
        run(&mut a, case, fill, digest);
    }
    a.li(T0, HTIF);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let wait = a.label_here();
    a.jump(wait);

    let mut elf = ElfWriter::new(CODE);
    let signature = 8 * cases.len() as u64;
    elf.segment(CODE, a.finish(), 5)
        .zeros(HTIF, 4096)
        .segment(POOL, pool(), 6)
        .segment(SCRATCH - (256 << 10), scratch(), 6)
        .zeros(DUMP, 32 * u64::from(vlen / 8))
        .zeros(SIGNATURE, signature)
        .symbol("tohost", HTIF)
        .symbol("fromhost", HTIF + 8)
        .symbol("begin_signature", SIGNATURE)
        .symbol("end_signature", SIGNATURE + signature);
    elf.finish()
}

/// Notes cause and `mtval`, and goes on after the instruction.
fn trap_handler(a: &mut Asm) {
    a.csr(Op::Csrrs, CAUSE, number("mcause"), 0);
    a.rri(Op::Addi, CAUSE, CAUSE, 1);
    a.csr(Op::Csrrs, TVAL, number("mtval"), 0);
    a.csr(Op::Csrrs, T0, number("mepc"), 0);
    a.rri(Op::Addi, T0, T0, 4);
    a.csr(Op::Csrrw, 0, number("mepc"), T0);
    a.plain(Op::Mret);
}

fn set_up(a: &mut Asm, handler: u64) {
    a.li(T0, handler);
    a.csr(Op::Csrrw, 0, number("mtvec"), T0);
    // mstatus.FS and VS: dirty.
    a.li(T0, 3 << 13 | 3 << 9);
    a.csr(Op::Csrrs, 0, number("mstatus"), T0);
    a.li(OUT, SIGNATURE);
    a.li(PRIME, 0x9e37_79b9_7f4a_7c15);
    a.li(POOL_BASE, POOL);
    a.li(DUMP_BASE, DUMP);
}

/// All registers from the address in x10, which is lost.
fn fill_registers(a: &mut Asm, vlen: u32) -> Label {
    let here = a.label_here();
    a.li(T0, u64::from(vlen));
    for vd in [0, 8, 16, 24] {
        a.inst(&Inst { rd: vd, rs1: 10, ..Inst::new(Op::Vl8re8V) });
        a.rrr(Op::Add, 10, 10, T0);
    }
    a.rri(Op::Jalr, 0, LINK, 0);
    here
}

/// `HASH` absorbs `value`.
fn mix(a: &mut Asm, value: u8) {
    a.rrr(Op::Xor, HASH, HASH, value);
    a.rrr(Op::Mul, HASH, HASH, PRIME);
    a.rri(Op::Srli, T2, HASH, 32);
    a.rrr(Op::Xor, HASH, HASH, T2);
}

/// `HASH` absorbs the double words from `FROM` to `TO`.
fn mix_memory(a: &mut Asm) {
    let (again, done) = (a.label(), a.label());
    a.place(again);
    a.branch(Op::Bgeu, FROM, TO, done);
    a.rri(Op::Ld, T1, FROM, 0);
    mix(a, T1);
    a.rri(Op::Addi, FROM, FROM, 8);
    a.jump(again);
    a.place(done);
}

/// Digests everything into the next word of the signature. `FROM` and `TO` bound the memory to look at.
fn digest(a: &mut Asm, vlen: u32) -> Label {
    let here = a.label_here();
    a.li(HASH, 0);
    mix_memory(a);
    for name in ["vstart", "vl", "vtype", "vcsr", "fcsr"] {
        a.csr(Op::Csrrs, T1, number(name), 0);
        mix(a, T1);
    }
    a.csr(Op::Csrrw, 0, number("vstart"), 0);
    mix(a, 12);
    a.inst(&Inst { rd: T1, rs1: 12, ..Inst::new(Op::FmvXD) });
    mix(a, T1);
    mix(a, CAUSE);
    mix(a, TVAL);
    a.rrr(Op::Add, FROM, DUMP_BASE, 0);
    a.li(T0, u64::from(vlen));
    a.rrr(Op::Add, TO, FROM, 0);
    for vs3 in [0, 8, 16, 24] {
        a.inst(&Inst { rd: vs3, rs1: TO, ..Inst::new(Op::Vs8rV) });
        a.rrr(Op::Add, TO, TO, T0);
    }
    mix_memory(a);
    a.rri(Op::Slli, HASH, HASH, 1);
    a.rrr(Op::Sltu, CAUSE, 0, CAUSE);
    a.rrr(Op::Or, HASH, HASH, CAUSE);
    a.store(Op::Sd, HASH, 0, OUT);
    a.rri(Op::Addi, OUT, OUT, 8);
    a.rri(Op::Addi, CAUSE, 0, 0);
    a.rri(Op::Addi, TVAL, 0, 0);
    a.rri(Op::Jalr, 0, LINK, 0);
    here
}

fn run(a: &mut Asm, case: &Case, fill: Label, digest: Label) {
    a.li(10, POOL + part(case.filling) as u64 * PART as u64 + 8 * u64::from(case.shift));
    a.call(LINK, fill);
    if let Some(eew) = case.indices {
        let at = part_of_indices(eew) as u64 * PART as u64 + 8 * u64::from(case.shift);
        a.li(10, POOL + at);
        a.inst(&Inst { rd: 16, rs1: 10, ..Inst::new(Op::Vl8re8V) });
    }
    a.li(11, case.scalars[0]);
    a.li(13, case.scalars[1]);
    a.li(T1, case.scalars[2]);
    a.inst(&Inst { rd: 11, rs1: T1, ..Inst::new(Op::FmvDX) });
    a.li(12, 0x0bad_0bad_0bad_0bad);
    a.inst(&Inst { rd: 12, rs1: 12, ..Inst::new(Op::FmvDX) });
    a.li(T1, u64::from(case.fcsr));
    a.csr(Op::Csrrw, 0, number("fcsr"), T1);
    a.li(T1, u64::from(case.vxrm) << 1);
    a.csr(Op::Csrrw, 0, number("vcsr"), T1);
    let base = SCRATCH + u64::from(case.misalign);
    a.li(10, base);
    a.li(T1, case.avl);
    a.li(T2, case.vtype.to_bits());
    a.rrr(Op::Vsetvl, T0, T1, T2);
    a.li(T1, case.vstart);
    a.csr(Op::Csrrw, 0, number("vstart"), T1);
    a.inst(&case.inst);
    let (from, to) = match case.window {
        Some((before, after)) => ((base - before) & !7, (base + after).next_multiple_of(8)),
        None => (0, 0),
    };
    a.li(FROM, from);
    a.li(TO, to);
    a.call(LINK, digest);
}

fn part(filling: Filling) -> usize {
    match filling {
        Filling::Integers(sew) => sew.encoding() as usize,
        Filling::Small(sew) => 4 + sew.encoding() as usize,
        Filling::Floats(sew) => 8 + sew.encoding() as usize,
    }
}

fn part_of_indices(sew: Sew) -> usize {
    12 + sew.encoding() as usize
}

/// Whether element `i` is active in a case filled so: `v0` comes first.
pub(super) fn mask_bit(filling: Filling, shift: u32, i: u64) -> bool {
    static POOL_BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = POOL_BYTES.get_or_init(pool);
    let at = part(filling) * PART + 8 * shift as usize + i as usize / 8;
    bytes[at] >> (i % 8) & 1 != 0
}

/// The data pool: for each width integers, small integers, floats, and indices for memory.
fn pool() -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(0x5eed);
    let mut bytes = Vec::with_capacity(16 * PART);
    for part in 0..16 {
        let sew = Sew::ALL[part % 4];
        for _ in 0..PART / sew.bytes() as usize {
            let value: u64 = match part / 4 {
                0 if rng.random() => *INTEGERS.choose(&mut rng).expect("not empty"),
                0 => rng.random(),
                1 => rng.random_range(0..256),
                2 => format(sew).random(&mut rng),
                _ => rng.random_range(0..INDEX_LIMIT),
            };
            bytes.extend_from_slice(&value.to_le_bytes()[..sew.bytes() as usize]);
        }
    }
    bytes
}

fn scratch() -> Vec<u8> {
    let mut bytes = vec![0; 512 << 10];
    ChaCha8Rng::seed_from_u64(0x0dd5).fill(&mut bytes[..]);
    bytes
}
