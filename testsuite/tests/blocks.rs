//! Cached blocks do what single steps do: random streams of all scalar instructions, floating point and traps
//! included, end in the same state either way.

use rvv_isa::csr;
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
