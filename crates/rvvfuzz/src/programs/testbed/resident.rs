//! A program that stays loaded in `rvvsim` and is run on several data sets: loading and translating it costs
//! more than running it.

use super::emulator::{INSTRUCTIONS, Setup, TIME, load};
use rvvsim::elf::Image;
use rvvsim::fp::Flags;
use rvvsim::vector::VectorState;
use rvvsim::{Cause, Machine, Stop, Trap};
use std::time::Instant;

/// A process at its start, to which it returns before each run.
pub struct Resident {
    machine: Machine,
    start: Start,
    /// The file, as it was loaded.
    elf: Vec<u8>,
    bias: u64,
}

/// What differs between a process that has run and one that has not, but for memory.
struct Start {
    x: [u64; 32],
    f: [u64; 32],
    pc: u64,
    fflags: Flags,
    frm: u8,
    v: VectorState,
}

/// Below the stack pointer, so much is zero again at each start. A program that uses more of its stack than
/// this, and reads it before writing, differs from one in a new process; then it is the one at fault.
const STACK: usize = 256 << 10;
/// Instructions between two looks at the clock.
const SLICE: u64 = 1 << 20;
/// Bytes of a segment that are written again at each start.
const MOST_MEMORY: usize = 64 << 20;
/// Bytes that a program may print.
const MOST_PRINTED: usize = 64 << 20;

/// System calls of the programs: what they are in Linux.
mod call {
    pub const WRITE: u64 = 64;
    pub const EXIT: u64 = 93;
    pub const EXIT_GROUP: u64 = 94;
}

impl Resident {
    /// Loads an ELF; `None` if it cannot be.
    pub fn new(elf: &[u8], setup: &Setup) -> Option<Resident> {
        let machine = load(elf, setup, None).ok()?;
        let bias = machine.process()?.load_bias();
        let hart = machine.hart();
        let start = Start {
            x: *hart.x_registers(),
            f: *hart.f_registers(),
            pc: hart.pc(),
            fflags: hart.fflags(),
            frm: hart.frm(),
            v: hart.vector().clone(),
        };
        Some(Resident { machine, start, elf: elf.to_vec(), bias })
    }

    /// What it prints with the data of this ELF, which differs from the one that was loaded in the contents
    /// of segments that can be written. `None` if it differs in something else, and if the program does not
    /// print and end with status 0: what it does then, a new process must show.
    pub fn run(&mut self, elf: &[u8]) -> Option<Vec<u8>> {
        self.begin(elf)?;
        let end = Instant::now() + TIME;
        let mut printed = Vec::new();
        let last = self.machine.hart().instructions_retired() + INSTRUCTIONS;
        loop {
            let stop = self.machine.step_many(SLICE);
            if self.machine.hart().instructions_retired() >= last || Instant::now() >= end {
                return None;
            }
            match stop {
                Stop::Budget => {}
                Stop::Trap(Trap { cause: Cause::EcallFromU, .. }) => {
                    let hart = self.machine.hart_mut();
                    let [number, fd, from, len] = [17, 10, 11, 12].map(|r| hart.x(r));
                    match number {
                        call::WRITE if fd == 1 => {
                            let len =
                                usize::try_from(len).ok().filter(|l| printed.len() + l <= MOST_PRINTED)?;
                            let old = printed.len();
                            printed.resize(old + len, 0);
                            if hart.peek(from, &mut printed[old..]) < len {
                                return None;
                            }
                            hart.set_x(10, len as u64);
                            hart.set_pc(hart.pc().wrapping_add(4));
                        }
                        call::EXIT | call::EXIT_GROUP if fd == 0 => return Some(printed),
                        _ => return None,
                    }
                }
                Stop::Trap(_) => return None,
            }
        }
    }

    /// Back to the start, with the data of this file.
    fn begin(&mut self, elf: &[u8]) -> Option<()> {
        let old = Image::parse(&self.elf).ok()?;
        if elf.len() != self.elf.len() {
            return None;
        }
        let hart = self.machine.hart_mut();
        let mut from = 0;
        let mut writable: Vec<_> = old.segments.iter().filter(|s| s.write).collect();
        writable.sort_by_key(|s| s.file.start);
        for segment in writable {
            let file = segment.file.clone();
            // Nothing else may differ.
            if elf.get(from..file.start.max(from))? != self.elf.get(from..file.start.max(from))? {
                return None;
            }
            from = from.max(file.end);
            let mut contents = elf.get(file)?.to_vec();
            contents.resize(usize::try_from(segment.memsz).ok().filter(|size| *size <= MOST_MEMORY)?, 0);
            if hart.poke(segment.vaddr.wrapping_add(self.bias), &contents) < contents.len() {
                return None;
            }
        }
        if elf.get(from..)? != self.elf.get(from..)? {
            return None;
        }
        let Start { x, f, pc, fflags, frm, v } = &self.start;
        for r in 1..32 {
            hart.set_x(r, x[usize::from(r)]);
        }
        for r in 0..32 {
            hart.set_f(r, f[usize::from(r)]);
        }
        hart.set_pc(*pc);
        hart.set_fflags(*fflags);
        hart.set_frm(*frm);
        hart.vector_mut().clone_from(v);
        let below = x[2].wrapping_sub(STACK as u64);
        hart.poke(below, &vec![0; STACK]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::emulator::{Agnosticism, Emulator, Ending};
    use super::*;
    use crate::programs::judge::case::Input;
    use rvv_ir::Program;
    use rvv_ir::elf::{ElfOptions, lower_with};
    use rvv_oracle::VlChoice;

    fn setup() -> Setup {
        Setup { vlen: 256, agnostic: Agnosticism::Random(1), vl: VlChoice::Max }
    }

    fn lower(programs: &[&Program]) -> Vec<u8> {
        lower_with(programs, &ElfOptions { max_vlen: 256, ..ElfOptions::default() }).unwrap()
    }

    /// A new process for each data set is the judge.
    #[test]
    fn a_program_that_stays_loaded_prints_what_a_new_process_prints() {
        let plan = rvvgen::Plan::new(8, &rvvgen::Selection::default(), 20, 128);
        let settings = rvvgen::Settings::default();
        let programs: Vec<Program> =
            (0..12).map(|k| rvvgen::generate(&plan, k, &settings).unwrap().program).collect();
        let place = (256, VlChoice::Max);
        let sets: Vec<Vec<Program>> = (0..3)
            .map(|n| {
                let other = |p: &Program| Input::draw(p, n, place).map_or_else(|| p.clone(), |i| i.program);
                programs.iter().map(other).collect()
            })
            .collect();
        let elves: Vec<Vec<u8>> = sets.iter().map(|s| lower(&s.iter().collect::<Vec<_>>())).collect();
        let fresh = |elf: &[u8]| {
            let observed = Emulator::Rvvsim.run(elf, &setup(), None);
            assert_eq!(observed.ending, Ending::Clean);
            observed.stdout
        };
        let expected: Vec<Vec<u8>> = elves.iter().map(|elf| fresh(elf)).collect();
        assert!(expected[0] != expected[1] && expected[1] != expected[2]);
        let mut resident = Resident::new(&elves[0], &setup()).unwrap();
        for n in [0, 1, 2, 1, 0, 0, 2] {
            assert!(resident.run(&elves[n]).as_ref() == Some(&expected[n]), "{n}");
        }
        // Another program is refused, and a file of another length.
        let other = lower(&[&programs[0]]);
        assert!(resident.run(&other).is_none());
        let mut code = elves[0].clone();
        let image = Image::parse(&elves[0]).unwrap();
        let text = image.segments.iter().find(|s| s.execute).unwrap().file.clone();
        code[text.start] ^= 1;
        assert!(resident.run(&code).is_none());
        assert!(resident.run(&elves[1]).as_ref() == Some(&expected[1]));
    }

    #[test]
    fn what_does_not_end_well_is_left_to_a_new_process() {
        use rvv_asm::{Asm, ElfWriter};
        use rvv_isa::Op;
        let program = |status: u64, trap: bool| {
            let mut asm = Asm::new(0x1_0000);
            asm.li(10, status);
            asm.li(17, 93);
            asm.plain(if trap { Op::Ebreak } else { Op::Ecall });
            let mut elf = ElfWriter::new(0x1_0000);
            elf.segment(0x1_0000, asm.finish(), 5);
            elf.finish()
        };
        let run = |elf: &[u8]| Resident::new(elf, &setup()).unwrap().run(elf);
        // A segment that would take long to clear.
        let mut large = ElfWriter::new(0x1_0000);
        let mut asm = Asm::new(0x1_0000);
        asm.li(10, 0);
        asm.li(17, 93);
        asm.plain(Op::Ecall);
        large.segment(0x1_0000, asm.finish(), 5);
        large.zeros(0x10_0000, MOST_MEMORY as u64 + 1);
        assert_eq!(run(&large.finish()), None);
        assert_eq!(run(&program(0, false)), Some(Vec::new()));
        assert_eq!(run(&program(3, false)), None);
        assert_eq!(run(&program(0, true)), None);
    }
}
