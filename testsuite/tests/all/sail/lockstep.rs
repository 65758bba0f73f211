//! Random streams of integer instructions, in lockstep with the official Sail model.

use super::model::{Memory, Sail, expand, quietly};
use rvv_isa::{Class, DisasmOptions, Field, Inst, Op, RegFile, csr, decode, encode};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine};
use std::sync::LazyLock;
use testsuite::lockstep::stream::{self, DATA_SIZE, Recipe, Stream};
use testsuite::program::RAM;

/// Instructions to compare, over all tests of this file: a million at least.
const STREAMS: u64 = 60;
const LENGTH: usize = 2500;
const ROUNDS: u64 = 12;

/// What the model and [`Memory`] execute between them, and streams can hold.
static OPS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    quietly(|| stream::comparable_ops().into_iter().filter(|&op| is_modelled(op)).collect())
});

fn is_modelled(op: Op) -> bool {
    let float = rvv_of(op).any(|file| file == RegFile::F);
    match op.class() {
        Class::Load | Class::Store => !float && !op.name().starts_with("cbo"),
        Class::Atomic | Class::Float => false,
        _ => {
            // Any encoding of it will do to ask.
            let tries = (0..64).filter_map(|n| encode(&sample(op, n)).ok());
            let own: Vec<u32> = tries.filter(|&word| decode(word).is_some_and(|d| d.op == op)).collect();
            let len = Inst::new(op).len;
            !own.is_empty() && own.iter().all(|&word| Sail::covers(word, len))
        }
    }
}

fn rvv_of(op: Op) -> impl Iterator<Item = RegFile> {
    testsuite::cases::registers(op).map(|(_, file)| file)
}

fn sample(op: Op, n: u8) -> Inst {
    let mut inst = Inst::new(op);
    for operand in op.info().operands {
        for field in operand.fields() {
            match field {
                Field::Rd => inst.rd = 8 + n % 8,
                Field::Rs1 => inst.rs1 = 8 + n % 8,
                Field::Rs2 => inst.rs2 = 8 + n / 8,
                Field::Imm if op.class() == Class::Csr => inst.imm = csr::MSCRATCH.into(),
                Field::Imm => inst.imm = i32::from(n) << [0, 1, 4, 12][usize::from(n) % 4],
                _ => {}
            }
        }
    }
    inst
}

fn make(seed: u64) -> Stream {
    let csrs = vec![csr::MSCRATCH, csr::SSCRATCH, csr::MCAUSE, csr::MTVAL];
    stream::generate(&Recipe { ops: OPS.clone(), csrs, length: LENGTH, rounds: ROUNDS, seed })
}

fn machine(stream: &Stream) -> Machine {
    let image = Image::parse(stream.elf.as_slice()).expect("our own ELF");
    let config = Config { mem: 2 << 20, ..Config::default() };
    let mut machine = Machine::bare(config, &image).expect("it fits");
    for _ in 0..1000 {
        if machine.hart().pc() == stream.start {
            return machine;
        }
        machine.step();
    }
    panic!("the stream is never reached: {:#x}", machine.hart().pc());
}

fn data(machine: &Machine, stream: &Stream) -> Vec<u8> {
    let at = (stream.data - RAM) as usize;
    machine.hart().memory()[at..at + DATA_SIZE as usize].to_vec()
}

/// The model, in the state of the machine.
fn model(machine: &Machine, stream: &Stream) -> (Sail, Memory) {
    let mut sail = Sail::new();
    for (r, &value) in (0..).zip(machine.hart().x_registers()) {
        sail.set_x(r, value);
    }
    (sail, Memory { base: stream.data, bytes: data(machine, stream) })
}

/// One instruction on the model: what it was and the next pc.
fn step(sail: &mut Sail, memory: &mut Memory, code: &[u8], pc: u64) -> (u32, u64) {
    let at = (pc - RAM) as usize;
    let low = u16::from_le_bytes([code[at], code[at + 1]]);
    let (word, len) = match low & 3 {
        3 => (u32::from(low) | u32::from(u16::from_le_bytes([code[at + 2], code[at + 3]])) << 16, 4),
        _ => (expand(low).unwrap_or_else(|| panic!("{low:#x} does not expand")), 2),
    };
    let next = memory.execute(sail, word, len, pc).or_else(|| sail.execute(word, len, pc));
    (word, next.unwrap_or_else(|| panic!("the model does not execute {word:#x} at {pc:#x}")))
}

#[test]
fn a_million_instructions_agree_one_by_one() {
    let mut compared = 0_u64;
    for seed in 0..STREAMS {
        let stream = make(seed);
        let mut machine = machine(&stream);
        let code = machine.hart().memory()[..0x10_0000].to_vec();
        let (mut sail, mut memory) = model(&machine, &stream);
        while machine.hart().pc() != stream.end {
            let pc = machine.hart().pc();
            let (word, next) = step(&mut sail, &mut memory, &code, pc);
            let stop = machine.step();
            compared += 1;
            let name = || decode(word).map(|i| i.disasm(pc, DisasmOptions::default()).replace('\t', " "));
            assert_eq!(machine.hart().pc(), next, "seed {seed}, {pc:#x} {:?}: pc ({stop:?})", name());
            for (r, &value) in (0..).zip(machine.hart().x_registers()) {
                assert_eq!(value, sail.x(r), "seed {seed}, {pc:#x} {:?}: x{r} is {value:#x}", name());
            }
        }
        assert_eq!(data(&machine, &stream), memory.bytes, "seed {seed}: memory");
    }
    assert!(compared >= 1_000_000, "only {compared}");
}

#[test]
fn whole_blocks_end_where_single_steps_end() {
    let mut compared = 0;
    for seed in 1000..1000 + STREAMS {
        let stream = make(seed);
        let mut machine = machine(&stream);
        let code = machine.hart().memory()[..0x10_0000].to_vec();
        let (mut sail, mut memory) = model(&machine, &stream);
        // Now by blocks, in pieces of odd lengths; the model follows by the count.
        let mut pc = stream.start;
        while pc != stream.end {
            let before = machine.hart().instructions_retired();
            let _ = machine.step_many(997);
            let steps = machine.hart().instructions_retired() - before;
            for _ in 0..steps {
                if pc == stream.end {
                    break;
                }
                pc = step(&mut sail, &mut memory, &code, pc).1;
                compared += 1;
            }
            if pc != stream.end {
                assert_eq!(machine.hart().pc(), pc, "seed {seed}");
                for (r, &value) in (0..).zip(machine.hart().x_registers()) {
                    assert_eq!(value, sail.x(r), "seed {seed}, before {pc:#x}: x{r} is {value:#x}");
                }
            }
        }
        assert_eq!(data(&machine, &stream), memory.bytes, "seed {seed}: memory");
    }
    assert!(compared >= 1_000_000, "only {compared}");
}

#[test]
fn the_streams_hold_instructions_of_every_kind_the_model_has() {
    let has = |name: &str| OPS.iter().any(|op| op.name() == name);
    let kinds = "add sub addiw sraw mul div remuw sh3add.uw bext pack czero.eqz mop.r.N lui auipc jal jalr \
                 beq bgeu lb lhu lwu ld sb sd csrrw csrrsi fence c.addi c.lui c.beqz c.j c.lwsp c.sd c.lbu \
                 c.not c.mul";
    let missing: Vec<_> = kinds.split_whitespace().filter(|name| !has(name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {}", OPS.len());
    assert!(OPS.len() >= 130, "{}", OPS.len());
}
