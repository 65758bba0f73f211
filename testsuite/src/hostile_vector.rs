//! Hostile vector code: every vector instruction with its registers at the end of the file and operands that
//! are corner cases, and streams of instructions with anything for operands, at any VLEN. Nothing of it may
//! make the emulator panic or hang.

use crate::hostile::process;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Class, Inst, Isa, Lmul, Op, Sew, Vtype, csr};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::{Cause, Config, Hart, Machine, vector};
use rvvsim::{Engine, Stop};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Where RAM and the code begin.
const CODE: u64 = 0x8000_0000;
/// The memory that loads and stores reach: room for eight fields of the largest register, and more.
const DATA: u64 = CODE + 0x10_0000;
const MEM: u64 = 8 << 20;

/// Every vector extension there is.
fn isa() -> Isa {
    static ISA: LazyLock<Isa> = LazyLock::new(|| {
        Isa::rva23u64().extensions().chain(rvv_isa::Ext::all()).fold(Isa::rva23u64(), Isa::with)
    });
    *ISA
}

fn all_vector_ops() -> impl Iterator<Item = Op> {
    let isa = isa();
    Op::all().filter(move |op| op.is_vector() && isa.allows(op.info().requires))
}

fn put(word: u32, at: u32, field: u8) -> u32 {
    word & !(31 << at) | u32::from(field) << at
}

/// The word of an instruction with these registers, and the mask bit; fields that it does not have stay.
fn word(op: Op, [vd, vs2, vs1]: [u8; 3], vm: bool, fields: u8) -> u32 {
    let info = op.info();
    let free = put(put(put(0, 7, vd), 20, vs2), 15, vs1) | u32::from(vm) << 25 | u32::from(fields) << 29;
    info.match_ | free & !info.mask
}

/// An instruction under a `vtype`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    word: u32,
    op: Op,
    vtype: Vtype,
}

/// Every vector instruction × SEW × LMUL × masked or not that can be legal, each with the last registers that
/// it can have for each of its operands.
#[must_use]
pub fn cases() -> Vec<Case> {
    let config = Config { isa: isa(), vlen: 65536, ..Config::default() };
    let (ends, sources) = ([31, 30, 28, 24], [31, 30, 28, 24, 23, 22, 20, 16, 8]);
    let mut cases = Vec::new();
    for op in all_vector_ops().filter(|op| op.class() != Class::VectorConfig) {
        let is_memory = matches!(op.class(), Class::VectorLoad | Class::VectorStore);
        for (vtype, vm) in vtypes().into_iter().flat_map(|vtype| [(vtype, true), (vtype, false)]) {
            let legal = |word: u32| {
                let inst = config.isa.decode(word).filter(|inst| inst.op == op);
                inst.is_some_and(|inst| vector::check(&config, &inst, vtype).is_ok())
            };
            // Of each operand in turn the last register.
            for last in 0..3 {
                let fields = if is_memory { (last * 3 + usize::from(vm)) as u8 % 8 } else { 0 };
                let found = ends.into_iter().find_map(|end| {
                    let others = sources.into_iter().flat_map(|a| sources.map(|b| [a, b]));
                    others.into_iter().find_map(|[a, b]| {
                        let registers = [[end, a, b], [a, end, b], [a, b, end]][last];
                        [fields, 0].map(|nf| word(op, registers, vm, nf)).into_iter().find(|w| legal(*w))
                    })
                });
                cases.extend(found.map(|word| Case { word, op, vtype }));
            }
        }
    }
    cases.dedup_by_key(|case| (case.word, case.vtype.to_bits()));
    cases
}

fn vtypes() -> Vec<Vtype> {
    let sews = [Sew::E8, Sew::E16, Sew::E32, Sew::E64];
    let all = |sew| (-3..=3).filter_map(Lmul::from_log2).map(move |lmul| Vtype::new(sew, lmul, true, true));
    sews.into_iter().flat_map(all).collect()
}

/// Elements that are corner cases: NaNs of each width, ones, zeroes, an infinity; and anything.
const PATTERNS: [u64; 8] = [
    0x7ff8_0000_0000_0000,
    0xfff0_0000_0000_0001,
    0x7fc0_0000_7fc0_0000,
    0x7e00_7d01_7e00_7d01,
    !0,
    0,
    0x8000_0000_8000_0000,
    0x0123_4567_89ab_cdef,
];

/// A bare-metal hart for single instructions.
pub struct Lab {
    hart: Hart,
    engine: Engine,
    /// The instructions that completed.
    pub completed: BTreeSet<Op>,
    /// How many were tried.
    pub tried: u64,
}

impl Lab {
    /// With this VLEN.
    ///
    /// # Panics
    /// If there is no memory.
    #[must_use]
    pub fn new(vlen: u32) -> Lab {
        let config = Config { isa: isa(), vlen, mem: MEM, ..Config::default() };
        let mut hart = Hart::bare(config).expect("memory");
        hart.write_csr(csr::MSTATUS, 1 << 9 | 1 << 13);
        Lab { hart, engine: Engine::default(), completed: BTreeSet::new(), tried: 0 }
    }

    /// Runs a case in states that `seed` chooses, with `vstart` 0 and near VLMAX among them.
    pub fn run(&mut self, case: &Case, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let vlmax = u64::from(case.vtype.vlmax(self.hart.config().vlen));
        let any = rng.random_range(0..=vlmax);
        let states = [(vlmax, 0), (vlmax, vlmax.saturating_sub(1)), (any, any / 2), (any, 0)];
        for (vl, vstart) in states {
            self.prepare(&mut rng);
            let v = self.hart.vector_mut();
            (v.vtype, v.vl, v.vstart) = (case.vtype, vl, vstart);
            self.step(case);
        }
    }

    /// Puts corner cases into all registers, and chooses policies and rounding modes.
    fn prepare(&mut self, rng: &mut ChaCha8Rng) {
        let h = &mut self.hart;
        let [pattern, mask] = [(); 2].map(|()| *PATTERNS.choose(rng).expect("some"));
        let vlenb = h.vector().vlenb;
        for (i, chunk) in h.vector_mut().registers_mut()[..32 * vlenb].chunks_exact_mut(8).enumerate() {
            let value = if i < vlenb / 8 { mask } else { pattern };
            chunk.copy_from_slice(&value.to_le_bytes());
        }
        // Bases of memory accesses: all there, across the end of RAM, across a page, nowhere.
        let bases = [DATA, DATA + 0xffc, DATA + 1, CODE + MEM - 40, 0, u64::MAX - 3];
        let base = if rng.random() { DATA } else { *bases.choose(rng).expect("some") };
        let scalar = *[0, 1, 4, u64::MAX, 8192, pattern].choose(rng).expect("some");
        for r in 1..32 {
            h.set_x(r, base);
            h.set_f(r, if r % 2 == 0 { pattern } else { !0 << 32 | pattern >> 32 });
        }
        // These are strides and scalars.
        for r in [30, 22, 20] {
            h.set_x(r, scalar);
        }
        h.set_frm(rng.random_range(0..5));
        h.vector_mut().vxrm = rng.random_range(0..4);
        let policies = [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::OnesToRegister, Agnostic::Random(1)];
        h.config_mut().tail = *policies.choose(rng).expect("some");
        h.config_mut().mask = *policies.choose(rng).expect("some");
    }

    fn step(&mut self, case: &Case) {
        let h = &mut self.hart;
        h.write_memory(0, &case.word.to_le_bytes());
        h.set_pc(CODE);
        self.tried += 1;
        match self.engine.step(h) {
            Stop::Budget => _ = self.completed.insert(case.op),
            Stop::Trap(trap) => assert_ne!(trap.cause, Cause::InstructionAccessFault, "{case:?}"),
        }
    }

    /// The vector instructions that never completed.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let done = |op: &Op| self.completed.contains(op) || op.class() == Class::VectorConfig;
        all_vector_ops().filter(|op| !done(op)).map(Op::name).collect()
    }
}

/// Register numbers: any, but more often where groups end.
fn register(rng: &mut ChaCha8Rng) -> u8 {
    if rng.random() {
        *[0, 8, 16, 24, 28, 30, 31].choose(rng).expect("some")
    } else {
        rng.random_range(0..32)
    }
}

/// A stream of instructions with anything for operands: mostly vector instructions under ever new types.
#[must_use]
pub fn stream(seed: u64, length: usize) -> Vec<u32> {
    // Made once: fuzzers make streams by the million.
    static ALL: LazyLock<Vec<Op>> = LazyLock::new(|| Op::all().filter(|op| !op.is_compressed()).collect());
    static VECTOR: LazyLock<Vec<Op>> = LazyLock::new(|| all_vector_ops().collect());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let anything = |rng: &mut ChaCha8Rng, ops: &[Op]| {
        let info = ops.choose(rng).expect("many").info();
        let registers = [(); 3].map(|()| register(rng));
        let fields = if rng.random_range(0..4) == 0 { rng.random::<u32>() } else { 1 << 25 };
        let free = put(put(put(fields, 7, registers[0]), 20, registers[1]), 15, registers[2]);
        info.match_ | free & !info.mask
    };
    let encode = |inst: &Inst| rvv_isa::encode(inst).expect("it is one");
    (0..length)
        .map(|i| match rng.random_range(0..20) {
            _ if i == 0 => encode(&Inst { rd: 5, rs1: 0, imm: 0xd3, ..Inst::new(Op::Vsetvli) }),
            0..=3 => {
                let imm = if rng.random_range(0..8) == 0 {
                    rng.random_range(0..2048)
                } else {
                    rng.random_range(0..256)
                };
                let rs1 = if rng.random() { 0 } else { register(&mut rng) };
                encode(&Inst { rd: 5, rs1, imm, ..Inst::new(Op::Vsetvli) })
            }
            4 => {
                let csrs = [csr::VSTART, csr::VCSR, csr::FCSR, csr::FRM, csr::VXRM];
                let imm = i32::from(*csrs.choose(&mut rng).expect("some"));
                encode(&Inst { rs1: register(&mut rng), imm, ..Inst::new(Op::Csrrw) })
            }
            5 => anything(&mut rng, &ALL),
            6 => rng.random::<u32>() | 3,
            _ => anything(&mut rng, &VECTOR),
        })
        .collect()
}

/// Where a stream runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// In M-mode of a bare-metal machine.
    Bare,
    /// As a Linux process.
    User,
}

/// Runs a stream over and over, past what traps, up to `most` instructions and traps. Returns how many
/// instructions completed.
///
/// # Panics
/// Never, whatever the stream is: that would be a bug.
pub fn run_stream(words: &[u32], vlen: u32, mode: Mode, seed: u64, most: u64) -> u64 {
    let mut code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut elf = ElfWriter::new(CODE);
    code.resize(code.len().next_multiple_of(4096), 0);
    let end = CODE + 4 * words.len() as u64;
    elf.segment(CODE, code, 7).zeros(DATA, 0x20_0000).symbol("tohost", DATA + 0x1f_0000);
    let elf = elf.finish();
    let image = Image::parse(elf.as_slice()).expect("our own ELF");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let random = |rng: &mut ChaCha8Rng| if rng.random() { Agnostic::Random(seed) } else { Agnostic::Ones };
    let (tail, mask) = (random(&mut rng), random(&mut rng));
    let config = Config { isa: isa(), vlen, mem: MEM, tail, mask, ..Config::default() };
    let mut machine = match mode {
        Mode::Bare => Machine::bare(config, &image).expect("it fits"),
        Mode::User => Machine::user(config, &image, process()).expect("it fits"),
    };
    crate::hostile::silence(&mut machine);
    let hart = machine.hart_mut();
    if mode == Mode::Bare {
        hart.write_csr(csr::MSTATUS, 1 << 9 | 1 << 13);
    }
    hart.set_pc(CODE);
    hostile_registers(hart, &mut rng);
    let mut left = most;
    while left > 0 {
        let before = machine.instructions_retired();
        let stop = machine.step_many(left.min(500));
        let hart = machine.hart_mut();
        left -= left.min(hart.instructions_retired() - before + 1);
        if let Stop::Trap(trap) = stop {
            // It goes on after what trapped. Where nothing can be fetched any more there is nothing to go on
            // with.
            let fetch = [Cause::InstructionAccessFault, Cause::InstructionPageFault];
            if fetch.contains(&trap.cause) || !(CODE..end).contains(&hart.pc()) {
                hart.set_pc(end);
            } else {
                let low = hart.fetch_parcel(hart.pc()).unwrap_or(3);
                hart.set_pc(hart.pc() + if low & 3 == 3 { 4 } else { 2 });
            }
        }
        if !(CODE..end).contains(&hart.pc()) {
            hart.set_pc(CODE);
            hostile_registers(hart, &mut rng);
        }
    }
    machine.instructions_retired()
}

fn hostile_registers(hart: &mut Hart, rng: &mut ChaCha8Rng) {
    for r in 1..32 {
        let values = [DATA, DATA + 0x1000 - 4, CODE, 0, 1, u64::MAX, 1 << 63, 65536, rng.random()];
        hart.set_x(r, if rng.random() { DATA } else { *values.choose(rng).expect("some") });
        hart.set_f(r, *PATTERNS.choose(rng).expect("some"));
    }
    let registers = 32 * hart.vector().vlenb;
    let mut pattern = 0;
    for (i, chunk) in hart.vector_mut().registers_mut()[..registers].chunks_exact_mut(8).enumerate() {
        if i % 16 == 0 {
            pattern = *PATTERNS.choose(rng).expect("some");
        }
        chunk.copy_from_slice(&pattern.to_le_bytes());
    }
}
