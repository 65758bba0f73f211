//! A machine that returns to a snapshot, or is reset, does what a new one does.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::linux::ProcessOptions;
use rvvsim::{Config, Machine, Outcome};

const CODE: u64 = 0x8000_0000;
const TOHOST: u64 = 0x8000_4000;
const DATA: u64 = 0x8000_8000;

const T0: u8 = 5;
const T1: u8 = 6;
const T2: u8 = 7;
const S0: u8 = 8;
const A0: u8 = 10;
const A1: u8 = 11;

/// Counts to `times`, with vectors whose agnostic elements are random, memory that grows, and code that
/// changes: the instruction at `patch` adds one more each time.
fn program(times: u64) -> Vec<u8> {
    let vector = |name: &str, rd, rs2, rs1| Inst { rd, rs2, rs1, ..Inst::new(Op::from_name(name).unwrap()) };
    let mut a = Asm::new(CODE);
    // Vectors and floating point on.
    a.li(T0, 0x6600);
    a.csr(Op::Csrrs, 0, 0x300, T0);
    a.li(S0, times);
    a.li(A0, DATA);
    a.li(T2, 3);
    let again = a.label_here();
    a.inst(&Inst { rd: T1, rs1: T2, imm: 0xd1, ..Inst::new(Op::Vsetvli) });
    a.inst(&vector("vadd.vx", 8, 8, S0));
    a.inst(&vector("vadd.vv", 12, 8, 12));
    a.inst(&vector("vse32.v", 12, 0, A0));
    a.rri(Op::Addi, A0, A0, 0x100);
    let patch = a.label();
    a.la(T0, patch);
    a.rri(Op::Lw, T1, T0, 0);
    a.li(A1, 1 << 20);
    a.rrr(Op::Add, T1, T1, A1);
    a.store(Op::Sw, T1, 0, T0);
    a.plain(Op::FenceI);
    a.place(patch);
    a.rri(Op::Addi, 20, 20, 1);
    a.rri(Op::Addi, S0, S0, -1);
    a.branch(Op::Bne, S0, 0, again);
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let end = a.label_here();
    a.jump(end);
    let mut elf = ElfWriter::new(CODE);
    elf.segment(CODE, a.finish(), 7).zeros(TOHOST, 0x1000).zeros(DATA, 0x4000);
    elf.symbol("tohost", TOHOST).symbol("fromhost", TOHOST + 8);
    elf.finish()
}

fn config() -> Config {
    Config { mem: 1 << 20, tail: Agnostic::Random(7), ..Config::default() }
}

fn new(elf: &[u8]) -> Machine {
    Machine::bare(config(), &Image::parse(elf).unwrap()).unwrap()
}

/// All that a program could tell.
fn state(machine: &Machine) -> (Vec<u64>, Vec<u8>, Vec<u8>, u64, u64) {
    let h = machine.hart();
    let x = h.x_registers().to_vec();
    (
        x,
        h.vector().registers()[..32 * h.vector().vlenb].to_vec(),
        h.memory().to_vec(),
        h.instructions_retired(),
        h.vector().vl,
    )
}

fn finish(machine: &mut Machine) {
    machine.hart_mut().config_mut().max_insns = None;
    assert_eq!(machine.run(None), Outcome::Exited(0));
}

#[test]
fn a_snapshot_can_be_returned_to_again_and_again() {
    let elf = program(20);
    let mut machine = new(&elf);
    let fresh = machine.snapshot().expect("a bare machine");
    machine.hart_mut().config_mut().max_insns = Some(137);
    assert_eq!(machine.run(None), Outcome::OutOfInstructions);
    let (before, middle) = (state(&machine), machine.snapshot().expect("a bare machine"));
    finish(&mut machine);
    let after = state(&machine);
    assert_ne!(before, after);
    for _ in 0..3 {
        assert!(machine.restore(&middle));
        assert!(state(&machine) == before);
        finish(&mut machine);
        assert!(state(&machine) == after);
        // To an earlier one, and to one of another machine.
        assert!(machine.restore(&fresh));
        finish(&mut machine);
        assert!(state(&machine) == after);
        let mut other = new(&elf);
        assert!(other.restore(&middle));
        assert!(state(&other) == before);
        finish(&mut other);
        assert!(state(&other) == after);
    }
}

#[test]
fn a_machine_that_was_reset_is_as_good_as_new() {
    let programs = [program(5), program(33)];
    let mut machine = new(&programs[0]);
    for i in [0, 1, 0, 0, 1] {
        machine.reset(&Image::parse(&programs[i]).unwrap()).unwrap();
        let mut fresh = new(&programs[i]);
        assert!(state(&machine) == state(&fresh));
        finish(&mut machine);
        finish(&mut fresh);
        assert!(state(&machine) == state(&fresh));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let elf = program(2);
    let image = Image::parse(&elf).unwrap();
    let snapshot = new(&elf).snapshot().unwrap();
    for other in [Config { vlen: 512, ..config() }, Config { mem: 2 << 20, ..config() }] {
        assert!(!Machine::bare(other, &image).unwrap().restore(&snapshot));
    }
    let mut process = Machine::user(config(), &image, ProcessOptions::default()).unwrap();
    assert!(process.snapshot().is_none() && !process.restore(&snapshot) && process.reset(&image).is_err());
}
