//! Cached blocks do what single steps do: random streams of all scalar instructions, floating point and traps
//! included, end in the same state either way.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use rvvsim::elf::Image;
use rvvsim::engine::Stop;
use rvvsim::{Config, Machine, Outcome};
use testsuite::lockstep::stream::{self, DATA_SIZE, HANDLER, Recipe, Stream};
use testsuite::program::RAM;

fn machine(stream: &Stream) -> Machine {
    let image = Image::parse(stream.elf.as_slice()).expect("our own ELF");
    let config = Config { mem: 4 << 20, ..Config::default() };
    Machine::bare(config, &image).expect("it fits")
}

/// Everything a stream may have changed, but the registers that the end of the program uses.
fn state(machine: &Machine, stream: &Stream) -> (Vec<u64>, Vec<u64>, u8, u8, Vec<u8>) {
    let hart = &machine.hart;
    let mut x = hart.x.architectural().to_vec();
    HANDLER.iter().for_each(|&r| x[usize::from(r)] = 0);
    let at = (stream.data - RAM) as usize;
    let data = hart.ram.bytes()[at..at + DATA_SIZE as usize].to_vec();
    (x, hart.f.architectural().to_vec(), hart.fflags.0, hart.frm, data)
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
        while slow.hart.pc != stream.end {
            steps += 1;
            if let Stop::Trap(trap) = slow.engine.step(&mut slow.hart) {
                slow.hart.take_trap(&trap).expect("there is a handler");
            }
        }
        let mut fast = machine(&stream);
        assert_eq!(fast.run(None), Outcome::Exited(0), "seed {seed}");
        assert_eq!(state(&fast, &stream), state(&slow, &stream), "seed {seed}");
    }
    assert!(steps > 300_000, "only {steps}");
}

/// The time is that of the instruction that asks for it, wherever in a block it is: `mtime` by scalar and by vector
/// loads, the counters by CSR instructions.
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
    assert_eq!((fast.hart.instret, slow.hart.instret), (2000, 2000));
    assert_eq!(fast.hart.x[a0], slow.hart.x[a0]);
}
