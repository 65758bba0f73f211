//! Cached blocks do what single steps do: random streams of all scalar instructions, floating point and traps
//! included, end in the same state either way; and programs of more blocks than the cache keeps do what they
//! say.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use rvvsim::Stop;
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::time::{Duration, Instant};
use testsuite::lockstep::stream::{self, DATA_SIZE, HANDLER, Recipe, Stream};
use testsuite::program::RAM;

fn machine(stream: &Stream) -> Machine {
    let image = Image::parse(stream.elf.as_slice()).expect("our own ELF");
    let config = Config { mem: 4 << 20, ..Config::default() };
    Machine::bare(config, &image).expect("it fits")
}

/// Everything a stream may have changed, but the registers that the end of the program uses.
fn state(machine: &Machine, stream: &Stream) -> (Vec<u64>, Vec<u64>, u8, u8, Vec<u8>) {
    let hart = machine.hart();
    let mut x = hart.x_registers().to_vec();
    HANDLER.iter().for_each(|&r| x[usize::from(r)] = 0);
    let at = (stream.data - RAM) as usize;
    let data = hart.memory()[at..at + DATA_SIZE as usize].to_vec();
    (x, hart.f_registers().to_vec(), hart.fflags().0, hart.frm(), data)
}

#[test]
fn whole_runs_end_as_single_steps_do() {
    let ops = stream::comparable_ops();
    let csrs = vec![csr::MSCRATCH, csr::FCSR, csr::FFLAGS, csr::FRM, csr::SSCRATCH, csr::MTVAL];
    let mut steps = 0_u64;
    for seed in 0..40 {
        let recipe = Recipe { ops: ops.clone(), csrs: csrs.clone(), length: 3000, rounds: 6, seed };
        let stream = stream::generate(&recipe);
        let mut slow = machine(&stream);
        while slow.hart().pc() != stream.end {
            steps += 1;
            if let Stop::Trap(trap) = slow.step() {
                slow.hart_mut().take_trap(&trap).expect("there is a handler");
            }
        }
        let mut fast = machine(&stream);
        assert_eq!(fast.run(None), Outcome::Exited(0), "seed {seed}");
        assert_eq!(state(&fast, &stream), state(&slow, &stream), "seed {seed}");
    }
    assert!(steps > 300_000, "only {steps}");
}

/// The time is that of the instruction that asks for it, wherever in a block it is: `mtime` by scalar and by
/// vector loads, the counters by CSR instructions.
#[test]
fn the_time_is_exact_inside_a_block() {
    const MTIME: u64 = 0x200_bff8;
    let (t0, t1, a0, a1, a2) = (5, 6, 10, 11, 12);
    let mut a = Asm::new(RAM);
    a.li(t0, 1 << 9);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, t0);
    a.inst(&Inst { rs1: 1, imm: 0xd8, ..Inst::new(Op::Vsetivli) });
    a.li(a1, MTIME);
    for i in 0..400 {
        match i % 7 {
            1 | 4 => a.rri(Op::Ld, t0, a1, 0),
            2 => a.csr(Op::Csrrs, t0, csr::MINSTRET, 0),
            5 => {
                a.inst(&Inst { rd: 8, rs1: a1, ..Inst::new(Op::Vle64V) });
                a.inst(&Inst { rd: t0, rs2: 8, ..Inst::new(Op::VmvXS) });
            }
            // A block that ends here, and goes on with the next.
            6 => {
                let next = a.label();
                a.branch(Op::Bne, t0, t0, next);
                a.place(next);
            }
            _ => a.rri(Op::Addi, a2, a2, 1),
        }
        a.rri(Op::Slli, t1, a0, 5);
        a.rrr(Op::Xor, a0, a0, t1);
        a.rrr(Op::Add, a0, a0, t0);
    }
    let end = a.label_here();
    a.jump(end);
    let mut elf = ElfWriter::new(RAM);
    elf.segment(RAM, a.finish(), 5);
    let elf = elf.finish();
    let image = Image::parse(elf.as_slice()).expect("our own ELF");
    let config = Config { mem: 1 << 20, max_insns: Some(2000), ..Config::default() };
    let mut slow = Machine::bare(config.clone(), &image).expect("it fits");
    let mut fast = Machine::bare(config, &image).expect("it fits");
    assert_eq!(slow.run_traced(None, &mut std::io::sink()).expect("a sink"), Outcome::OutOfInstructions);
    assert_eq!(fast.run(None), Outcome::OutOfInstructions);
    assert_eq!((fast.hart().instructions_retired(), slow.hart().instructions_retired()), (2000, 2000));
    assert_eq!(fast.hart().x(a0), slow.hart().x(a0));
}

/// A number of blocks that everything has more of.
const FEW: u32 = 8;

/// Runs a bare-metal program that ends by writing 1 to `tohost`; returns the machine.
fn run_to_end(a: Asm, most_blocks: u32) -> Machine {
    let code = a.finish();
    let tohost = RAM + (code.len() as u64).next_multiple_of(4096);
    let mut elf = ElfWriter::new(RAM);
    elf.segment(RAM, code, 7).zeros(tohost, 4096).symbol("tohost", tohost);
    let elf = elf.finish();
    let image = Image::parse(elf.as_slice()).expect("our own ELF");
    let config = Config { mem: 64 << 20, most_blocks, max_insns: Some(100_000_000), ..Config::default() };
    let mut machine = Machine::bare(config, &image).expect("it fits");
    // A block that leads to itself never reaches a limit of instructions in an endless loop of none.
    let deadline = Instant::now() + Duration::from_secs(300);
    assert_eq!(machine.run(Some(deadline)), Outcome::Exited(0));
    let counted: u64 = machine.counts().iter().map(|(_, n)| n).sum();
    assert_eq!(counted, machine.hart().instructions_retired(), "each instruction is counted, and once");
    machine
}

/// Writes 1 to `tohost`, which starts on the page after the code.
fn write_end(a: &mut Asm) {
    let (t0, t1) = (5, 6);
    let tohost = (a.here() + 64).next_multiple_of(4096);
    a.li(t0, tohost);
    a.li(t1, 1);
    a.store(Op::Sd, t1, 0, t0);
    let forever = a.label_here();
    a.jump(forever);
    while a.here() < tohost - 32 {
        a.plain(Op::Ebreak);
    }
}

/// `passes` times through a chain of so many blocks, each of which adds a number to `a0` and goes on by a
/// jump, a branch that is taken or one that is not. With `modify`, each hundredth block first adds one to the
/// number of the next, and between passes the number of each thousandth is made one more. Returns the code
/// and the sum.
fn chain(blocks: u64, passes: u64, modify: bool) -> (Asm, u64) {
    let (ra, t1, t2, t3, a0, s0) = (1, 6, 7, 28, 10, 8);
    let addi = |i: u64| Inst { rd: a0, rs1: a0, imm: (i % 7 + 1) as i32, ..Inst::new(Op::Addi) };
    let mut a = Asm::new(RAM);
    a.li(s0, passes);
    a.li(t3, 1 << 20); // 1 in the immediate of an addi
    let again = a.label_here();
    let mut patched = Vec::new();
    for i in 0..blocks {
        if modify && i % 1000 == 7 {
            patched.push(a.here());
        }
        a.inst(&addi(i));
        if modify && i % 100 == 0 {
            // The next block is five instructions on.
            a.inst(&Inst { rd: t1, ..Inst::new(Op::Auipc) });
            a.rri(Op::Lw, t2, t1, 20);
            a.rrr(Op::Addw, t2, t2, t3);
            a.store(Op::Sw, t2, 20, t1);
        }
        match i % 3 {
            0 => a.inst(&Inst { imm: 4, ..Inst::new(Op::Jal) }),
            1 => a.inst(&Inst { rs1: s0, imm: 4, ..Inst::new(Op::Bne) }),
            _ => a.inst(&Inst { rs1: s0, imm: 4, ..Inst::new(Op::Beq) }),
        }
    }
    for at in &patched {
        a.li(t1, *at);
        a.rri(Op::Lw, t2, t1, 0);
        a.rrr(Op::Addw, t2, t2, t3);
        a.store(Op::Sw, t2, 0, t1);
    }
    a.rri(Op::Addi, s0, s0, -1);
    let done = a.label();
    a.branch(Op::Beq, s0, 0, done);
    a.la(t1, again);
    a.rri(Op::Jalr, ra, t1, 0);
    a.place(done);
    write_end(&mut a);
    let once: u64 = (0..blocks).map(|i| i % 7 + 1).sum();
    // In pass p (from 1 on) the numbers patched in the chain are p more, the others p - 1.
    let more: u64 = (1..=passes).map(|p| blocks.div_ceil(100) * p + patched.len() as u64 * (p - 1)).sum();
    (a, passes * once + if modify { more } else { 0 })
}

#[test]
fn a_hundred_thousand_blocks_do_what_they_say() {
    for modify in [false, true] {
        let (code, sum) = chain(100_000, 3, modify);
        for most_blocks in [1, FEW, Config::default().most_blocks] {
            assert_eq!(run_to_end(code.clone(), most_blocks).hart().x(10), sum, "{modify} {most_blocks}");
        }
    }
}

#[test]
fn a_million_blocks_do_what_they_say() {
    let (code, sum) = chain(1_000_000, 1, true);
    for most_blocks in [FEW, Config::default().most_blocks] {
        assert_eq!(run_to_end(code.clone(), most_blocks).hart().x(10), sum, "{most_blocks}");
    }
}

/// A guest that makes code without end: a function that adds a number, written anew to one of eight places
/// and called, a million times, with places on two pages and calls by `jalr` and by `jal`.
#[test]
fn a_million_blocks_that_the_guest_makes_do_what_they_say() {
    const TIMES: u64 = 1_000_000;
    let (ra, t0, t1, t2, s0, s1, s2, s3, a0) = (1, 5, 6, 7, 8, 9, 18, 19, 10);
    let mut a = Asm::new(RAM);
    let place = RAM + 0x1000 - 32;
    let addi = Inst { rd: a0, rs1: a0, ..Inst::new(Op::Addi) };
    a.li(s0, TIMES);
    a.li(s1, place);
    a.li(s2, rvv_isa::encode(&addi).expect("it is one").into());
    let ret = rvv_isa::encode(&Inst { rs1: ra, ..Inst::new(Op::Jalr) }).expect("it is one");
    a.li(s3, u64::from(ret) << 32);
    let again = a.label_here();
    a.rri(Op::Andi, t0, s0, 7);
    a.rri(Op::Slli, t0, t0, 3);
    a.rrr(Op::Add, t0, t0, s1);
    a.rri(Op::Andi, t1, s0, 0x3ff);
    a.rri(Op::Slli, t1, t1, 20);
    a.rrr(Op::Or, t1, t1, s2);
    a.rrr(Op::Or, t1, t1, s3);
    a.store(Op::Sd, t1, 0, t0);
    a.plain(Op::FenceI);
    a.rri(Op::Jalr, ra, t0, 0);
    a.rri(Op::Addi, s0, s0, -1);
    a.branch(Op::Bne, s0, 0, again);
    a.li(t2, RAM + 0x2000);
    a.rri(Op::Jalr, 0, t2, 0);
    while a.here() < RAM + 0x2000 {
        a.plain(Op::Ebreak);
    }
    write_end(&mut a);
    let sum: u64 = (1..=TIMES).map(|i| i & 0x3ff).sum();
    for most_blocks in [FEW, Config::default().most_blocks] {
        assert_eq!(run_to_end(a.clone(), most_blocks).hart().x(a0), sum, "{most_blocks}");
    }
}

/// Code that is not in RAM is kept by nobody, and must not pile up either: through the reset vector, over and
/// over.
#[test]
fn code_outside_ram_is_counted_and_not_kept() {
    const RESET_VECTOR: u64 = 0x1000;
    let (t0, s0) = (5, 8);
    let mut a = Asm::new(RAM);
    a.rri(Op::Addi, s0, s0, 1);
    a.li(t0, 10_000);
    let done = a.label();
    a.branch(Op::Beq, s0, t0, done);
    a.li(t0, RESET_VECTOR);
    a.rri(Op::Jalr, 0, t0, 0);
    a.place(done);
    write_end(&mut a);
    for most_blocks in [1, FEW, Config::default().most_blocks] {
        assert_eq!(run_to_end(a.clone(), most_blocks).hart().x(s0), 10_000);
    }
}
