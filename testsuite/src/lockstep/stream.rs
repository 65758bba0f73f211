//! Random streams of instructions, as bare-metal ELFs.
//!
//! A stream is a loop over straight code with branches forward, so it always ends. Some registers are kept
//! for addresses: those in [`BASES`] point into the data, [`CODE`] to the code; [`COUNT`] counts the rounds,
//! and the trap handler, which skips the instruction that trapped, has [`HANDLER`].

use crate::program::RAM;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_asm::values::{Format, random_integer};
use rvv_isa::{Access, Class, Field, Inst, Op, RegFile, csr, decode, encode};

/// Registers that point into the data: `sp`, one that compressed instructions reach, and one that they do
/// not.
pub const BASES: [u8; 3] = [2, 9, 30];
/// The register that points to the first instruction of the stream.
pub const CODE: u8 = 31;
/// The register that counts rounds.
pub const COUNT: u8 = 27;
/// The registers of the trap handler.
pub const HANDLER: [u8; 2] = [28, 29];

/// Bytes of data: the bases point around its middle.
pub const DATA_SIZE: u64 = 8192;

/// What a stream is made of.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The instructions to choose from.
    pub ops: Vec<Op>,
    /// The CSRs that CSR instructions access.
    pub csrs: Vec<u16>,
    /// Instructions in the loop.
    pub length: usize,
    /// Rounds.
    pub rounds: u64,
    /// Everything random follows from it.
    pub seed: u64,
}

/// A stream, ready to run.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The program.
    pub elf: Vec<u8>,
    /// The first instruction of the loop.
    pub start: u64,
    /// Where the loop has ended: what comes here ends the program.
    pub end: u64,
    /// Where the data is.
    pub data: u64,
}

/// Every scalar instruction that two models can be compared on without knowing more than the manual says.
/// Left out: reservations, which a model may lose whenever it likes; returns from traps; waiting.
#[must_use]
pub fn comparable_ops() -> Vec<Op> {
    let out = |op: &Op| {
        let name = op.name();
        let waits = ["mret", "sret", "wfi", "wrs.nto", "wrs.sto"].contains(&name);
        // These would move a base, or jump to the start for ever.
        let kept = ["c.addi16sp", "c.jr", "c.jalr"].contains(&name);
        let reserves = matches!(op, Op::LrW | Op::LrD | Op::ScW | Op::ScD);
        waits || kept || op.is_vector() || reserves
    };
    Op::all().filter(|op| !out(op)).collect()
}

/// Makes a stream.
///
/// # Panics
/// If an instruction of the recipe cannot be encoded at all.
#[must_use]
pub fn generate(recipe: &Recipe) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.seed);
    let code = instructions(recipe, &mut rng);
    let data_at = RAM + 0x10_0000;
    let init_at = data_at + 2 * DATA_SIZE;
    let tohost = init_at + 0x2000;
    let mut a = Asm::new(RAM);
    let (main, handler) = (a.label(), a.label());
    a.jump(main);
    a.place(handler);
    trap_handler(&mut a);
    a.place(main);
    prologue(&mut a, init_at, recipe.rounds);
    for (i, base) in BASES.into_iter().enumerate() {
        a.li(base, data_at + DATA_SIZE / 2 + 64 * i as u64);
    }
    let first = a.label();
    a.la(CODE, first);
    a.place(first);
    let start = a.here();
    for (inst, _) in &code {
        a.raw(inst.raw, inst.len);
    }
    a.rri(Op::Addi, COUNT, COUNT, -1);
    let end = a.label();
    a.branch(Op::Beq, COUNT, 0, end);
    a.jump(first);
    a.place(end);
    let end = a.here();
    a.li(HANDLER[0], tohost);
    a.li(HANDLER[1], 1);
    a.store(Op::Sd, HANDLER[1], 0, HANDLER[0]);
    let forever = a.label_here();
    a.jump(forever);
    let text = a.finish();
    assert!(text.len() < 0x10_0000, "a stream must be shorter than a mebibyte");
    let mut elf = ElfWriter::new(RAM);
    elf.segment(RAM, text, 5);
    elf.segment(data_at, bytes(DATA_SIZE as usize, &mut rng), 6);
    elf.segment(init_at, bytes(65 * 8, &mut rng), 6);
    elf.zeros(tohost, 64);
    elf.symbol("_start", RAM).symbol("tohost", tohost).symbol("fromhost", tohost + 8);
    Stream { elf: elf.finish(), start, end, data: data_at }
}

/// Skips the instruction that trapped, whatever its length.
fn trap_handler(a: &mut Asm) {
    let [at, low] = HANDLER;
    let short = a.label();
    a.csr(Op::Csrrs, at, csr::MEPC, 0);
    a.rri(Op::Lhu, low, at, 0);
    a.rri(Op::Andi, low, low, 3);
    a.rri(Op::Addi, low, low, -3);
    a.rri(Op::Addi, at, at, 2);
    a.branch(Op::Bne, low, 0, short);
    a.rri(Op::Addi, at, at, 2);
    a.place(short);
    a.csr(Op::Csrrw, 0, csr::MEPC, at);
    a.plain(Op::Mret);
}

fn prologue(a: &mut Asm, init: u64, rounds: u64) {
    let at = HANDLER[0];
    a.li(at, 0x2000);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, at);
    a.li(at, RAM + 4);
    a.csr(Op::Csrrw, 0, csr::MTVEC, at);
    a.li(at, init);
    for r in 0..32 {
        a.rri(Op::Fld, r, at, 8 * i32::from(r));
        if r != 0 && r != at {
            a.rri(Op::Ld, r, at, 256 + 8 * i32::from(r));
        }
    }
    a.li(COUNT, rounds);
}

/// Interesting doublewords: integers, and numbers of all formats.
fn bytes(len: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut out = Vec::with_capacity(len);
    while out.len() < len {
        let format = *[Format::H, Format::BF16, Format::S, Format::D].choose(rng).expect("four");
        let word = match rng.random_range(0..4) {
            0 => random_integer(rng),
            1 => format.boxed(*format.corners().choose(rng).expect("many")),
            2 if format == Format::S => format.random(rng) | format.random(rng) << 32,
            _ => format.boxed(format.random(rng)),
        };
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.truncate(len);
    out
}

/// The instructions of the loop, encoded, with their places.
fn instructions(recipe: &Recipe, rng: &mut ChaCha8Rng) -> Vec<(Inst, u64)> {
    let mut at = 0;
    let mut code: Vec<(Inst, u64)> = Vec::with_capacity(recipe.length);
    for _ in 0..recipe.length {
        let op = *recipe.ops.choose(rng).expect("a recipe has instructions");
        let inst = instruction(op, recipe, rng);
        code.push((inst, at));
        at += u64::from(inst.len);
    }
    // Now that all places are known, jumps get their targets.
    for i in 0..code.len() {
        let (inst, from) = code[i];
        if !matches!(inst.op.class(), Class::Branch | Class::Jump) {
            continue;
        }
        let next = (i + 1).min(code.len() - 1);
        let far = (next + 12).min(code.len());
        let (_, to) = code[rng.random_range(next..far).max(next)];
        let indirect = inst.op.base() == Op::Jalr;
        let imm = if indirect { to as i64 } else { to as i64 - from as i64 };
        let aimed = Inst { imm: imm as i32, ..inst };
        // Out of reach, or the last one: on to the next instruction, by one that does nothing.
        let raw = if to > from { encode(&aimed).ok() } else { None };
        code[i].0 = match raw {
            Some(raw) => Inst { raw, ..aimed },
            None if inst.len == 2 => Inst { raw: 1, ..inst },
            None => Inst { raw: 0x13, ..inst },
        };
    }
    code
}

/// A random instruction; a jump's target is not chosen yet.
fn instruction(op: Op, recipe: &Recipe, rng: &mut ChaCha8Rng) -> Inst {
    for _ in 0..100_000 {
        let mut inst = Inst::new(op);
        for operand in op.info().operands {
            let reg = operand.reg_file().map(|file| register(operand.fields(), file, &inst, rng));
            for &field in operand.fields() {
                set(&mut inst, field, reg, recipe, rng);
            }
        }
        let Ok(raw) = encode(&inst) else { continue };
        let Some(back) = decode(raw) else { continue };
        // What expands to fixed registers must not write the kept ones either.
        let pair = if op == Op::AmocasQ { back.rd + 1 } else { back.rd };
        let to_x = crate::cases::registers(op).any(|f| f == (Field::Rd, RegFile::X));
        if back.op == op && !(to_x && (is_kept(back.rd) || is_kept(pair))) {
            return Inst { raw, ..inst };
        }
    }
    panic!("{} does not encode", op.name());
}

fn is_kept(r: u8) -> bool {
    BASES.contains(&r) || HANDLER.contains(&r) || r == CODE || r == COUNT
}

fn register(fields: &[Field], file: RegFile, inst: &Inst, rng: &mut ChaCha8Rng) -> u8 {
    let addressed = inst.op.info().access != Access::None;
    match (fields, inst.op.class()) {
        ([Field::Rs1], _) if addressed && file == RegFile::X => *BASES.choose(rng).expect("three"),
        ([Field::Rs1], Class::Jump) => CODE,
        // Close registers make chains of dependences.
        _ if rng.random_ratio(1, 2) => rng.random_range(8..16),
        _ => rng.random_range(0..32),
    }
}

fn set(inst: &mut Inst, field: Field, reg: Option<u8>, recipe: &Recipe, rng: &mut ChaCha8Rng) {
    match field {
        Field::Rd => inst.rd = reg.unwrap_or(0),
        Field::Rs1 => inst.rs1 = reg.unwrap_or_else(|| rng.random_range(0..32)),
        Field::Rs2 => inst.rs2 = reg.unwrap_or(0),
        Field::Rs3 => inst.rs3 = reg.unwrap_or(0),
        Field::Rm => inst.rm = *[0, 1, 2, 3, 4, 7, 7].choose(rng).expect("seven"),
        Field::Aq => inst.aq = rng.random(),
        Field::Rl => inst.rl = rng.random(),
        Field::Imm if inst.op.class() == Class::Csr => {
            inst.imm = i32::from(*recipe.csrs.choose(rng).expect("a recipe with CSR instructions has CSRs"));
        }
        // Jumps are aimed later.
        Field::Imm if matches!(inst.op.class(), Class::Branch | Class::Jump) => inst.imm = 0,
        Field::Imm => {
            let bits = rng.random_range(0..=32);
            let value = rng.random::<i32>().checked_shr(32 - bits).unwrap_or(0);
            inst.imm = value & -1 << [0, 0, 1, 2, 3, 4, 5, 12][rng.random_range(0..8)];
        }
        Field::Nf | Field::Vm => {}
    }
}
