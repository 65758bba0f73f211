//! Host code of each scalar instruction against the interpreter, one at a time. (Of vector instructions, see
//! `vector/run/host_code_tests.rs`; of all of them in any order, `rvvfuzz isa --host-code`.)

use crate::Hart;
use crate::config::{Config, EngineChoice};
use crate::engine::Engine;
use crate::fp::Flags;
use crate::privileged::RAM_BASE;
use crate::test_support::{Random, checked_hart};
use rvv_isa::{Class, Inst, Op, encode};

const CODE: usize = 0x1000;
const DATA: u64 = 0x20_0000;
const CLASSES: [Class; 8] = [
    Class::Integer,
    Class::Multiply,
    Class::Load,
    Class::Store,
    Class::Branch,
    Class::Jump,
    Class::Float,
    Class::Atomic,
];

impl Random {
    /// A number of few or many bits, of either sign; its lower half alone is one, too.
    fn integer(&mut self) -> u64 {
        match self.below(8) {
            0 => [0, 1, !0, 1 << 63, (1 << 63) - 1, 1 << 31, 0x7fff_ffff, 0xffff_ffff_8000_0000]
                [self.below(8) as usize],
            1 => self.next() as i32 as u64,
            _ => ((self.next() as i64) >> self.below(64)) as u64,
        }
    }

    fn float(&mut self) -> u64 {
        let tame = self.below(1 << 40) as f64 / 1_048_576.0 - 1000.0;
        match self.below(8) {
            0 => self.next(),
            1 => [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX]
                [self.below(7) as usize]
                .to_bits(),
            2..4 => tame.to_bits(),
            4 => {
                u64::from(
                    [0.0_f32, -0.0, f32::INFINITY, f32::NAN, f32::MAX][self.below(5) as usize].to_bits(),
                ) | !0 << 32
            }
            5 => self.next() | !0 << 32,
            _ => u64::from((tame as f32).to_bits()) | !0 << 32,
        }
    }
}

fn hart() -> Hart {
    checked_hart(Config { mem: 4 << 20, ..Config::default() })
}

#[test]
fn host_code_of_scalar_instructions_does_what_the_interpreter_does() {
    if !super::is_available() {
        return;
    }
    let (mut h, mut engine) = (hart(), Engine::default());
    let mut random = Random(3);
    let mut at = CODE;
    for op in Op::all().filter(|op| CLASSES.contains(&op.class())) {
        for _ in 0..60 {
            let mut register = || if random.below(8) == 0 { 0 } else { 5 + random.below(12) as u8 };
            let (rd, rs1, rs2, rs3) = (register(), register(), register(), register());
            let imm = match op.class() {
                Class::Load | Class::Store => random.below(16) as i32 * 8,
                Class::Branch | Class::Jump => random.below(16) as i32 * 4,
                _ => random.next() as i32 >> 20,
            };
            // Shifts by fewer bits; upper immediates.
            let imms = [imm, imm & 63, imm & 31, imm << 12, 0];
            let rm = [7, 7, 7, 1, 0][random.below(5) as usize];
            let words = imms.map(|imm| encode(&Inst { rd, rs1, rs2, rs3, imm, rm, ..Inst::new(op) }));
            let Some(word) = words.into_iter().find_map(Result::ok) else { continue };
            if h.decode(word).is_none_or(|inst| inst.op != op) {
                continue;
            }
            for r in 1..32 {
                h.x[r] = random.integer();
                h.f[r] = random.float();
            }
            h.frm = random.below(4) as u8;
            h.fflags = Flags::NONE;
            if matches!(op.class(), Class::Load | Class::Store | Class::Atomic) && rs1 != 0 {
                let offset = [0, 0x40, 0xff8][random.below(3) as usize] + random.below(8) / 7;
                h.x[rs1] = RAM_BASE + DATA + offset;
                h.store::<u64>(RAM_BASE + DATA, random.next()).unwrap();
                h.store::<u64>(RAM_BASE + DATA + 0x1000, random.next()).unwrap();
                h.load::<u64>(RAM_BASE + DATA).unwrap();
            }
            // jal x0, 0
            h.ram.write(at, word).unwrap();
            h.ram.write(at + 4, 0x6f_u32).unwrap();
            h.pc = RAM_BASE + at as u64;
            h.retired_in_block = 0;
            engine.run(&mut h, 2);
            if let Some(difference) = engine.difference() {
                panic!("{}: {difference}", op.name());
            }
            at += 16;
            assert!(at < DATA as usize);
        }
    }
    assert!(engine.compiled().blocks > 5000, "{:?}", engine.compiled());
}

/// Accesses by the same registers, on one page or not, in the TLB or not, up to the end of RAM, where they
/// trap.
#[test]
fn accesses_by_one_base_register_do_what_the_interpreter_does() {
    if !super::is_available() {
        return;
    }
    let (mut h, mut engine) = (hart(), Engine::default());
    let mut random = Random(5);
    let accesses: Vec<Op> = Op::all()
        .filter(|op| matches!(op.class(), Class::Load | Class::Store) && !op.is_compressed())
        .collect();
    let mut at = CODE;
    for round in 0..4000 {
        let mut words = Vec::new();
        while words.len() < 12 {
            // x8 and x9 are addresses, and only ever move a little.
            let (rd, rs2) = (10 + random.below(8) as u8, random.below(18) as u8);
            let rs1 = 8 + random.below(2) as u8;
            let imm = [random.below(64) as i32 - 16, 8 * random.below(16) as i32][random.below(2) as usize];
            let inst = match random.below(12) {
                0 => Inst { rd: rs1, rs1, imm: 8, ..Inst::new(Op::Addi) },
                1 => Inst { rd, rs1: 10, rs2, ..Inst::new(Op::Mulhu) },
                2 => Inst { rd, rs1: 10, rs2: 11, rm: 7, ..Inst::new(Op::FaddD) },
                3 => Inst { rd, rs1: 10, rs2, ..Inst::new(Op::Xor) },
                _ => {
                    let op = accesses[random.below(accesses.len() as u64) as usize];
                    Inst { rd, rs1, rs2, imm, ..Inst::new(op) }
                }
            };
            if let Ok(word) = encode(&inst)
                && h.decode(word).is_some_and(|decoded| decoded.op == inst.op)
            {
                words.push(word);
            }
        }
        words.push(0x6f);
        for r in 1..32 {
            h.x[r] = random.integer();
            h.f[r] = random.float();
        }
        for r in 8..10 {
            let end = [0x40, 0x7c0, 0xfd0, 0xff8, 0x1000 - 3][random.below(5) as usize];
            let page =
                if random.below(16) == 0 { (4 << 20) - 0x1000 } else { DATA + 0x1000 * random.below(3) };
            h.x[r] = RAM_BASE + page + end;
        }
        if random.below(2) == 0 {
            h.flush_tlb();
        }
        // Some code is run again, so that it is surprised often.
        if round % 3 != 2 {
            at += 64;
            for (n, word) in words.iter().enumerate() {
                h.ram.write(at + 4 * n, *word).unwrap();
            }
        }
        for _ in 0..[1, 1, 100][round % 3] {
            let before = (h.x[8_u8], h.x[9_u8]);
            h.pc = RAM_BASE + at as u64;
            h.retired_in_block = 0;
            engine.run(&mut h, words.len() as u64);
            (h.x[8_u8], h.x[9_u8]) = before;
            h.trap = None;
            if let Some(difference) = engine.difference() {
                panic!("round {round}: {difference}");
            }
        }
    }
    assert!(engine.compiled().blocks > 2000, "{:?}", engine.compiled());
}

/// A loop of one block goes to itself without asking; it ends where it should, by its branch, by the budget,
/// and when it overwrites itself.
#[test]
fn a_loop_of_one_block_stops_where_it_should() {
    if !super::is_available() {
        return;
    }
    let increment = |rd: u8, imm: i32| Inst { rd, rs1: rd, imm, ..Inst::new(Op::Addi) };
    let words = [
        increment(7, 1),
        Inst { rs1: 11, rs2: 10, ..Inst::new(Op::Sw) },
        increment(5, -1),
        Inst { rs1: 5, imm: -12, ..Inst::new(Op::Bne) },
        Inst::new(Op::Jal),
    ]
    .map(|inst| encode(&inst).unwrap());
    let other = encode(&increment(7, 2)).unwrap();
    let code = RAM_BASE + CODE as u64;
    for engine_choice in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let (mut h, mut engine) = (hart(), Engine::default());
        h.config.engine = engine_choice;
        for (n, word) in words.iter().enumerate() {
            h.ram.write(CODE + 4 * n, *word).unwrap();
        }
        let mut run = |h: &mut Hart, to: u64, times: u64, budget: u64| {
            (h.x[5_u8], h.x[7_u8]) = (times, 0);
            (h.x[10_u8], h.x[11_u8]) = (other.into(), to);
            (h.pc, h.retired_in_block) = (code, 0);
            let end = h.instret + budget;
            while h.instret < end {
                engine.run(h, end - h.instret);
            }
            (h.x[5_u8], h.x[7_u8], h.pc - code, h.instret - (end - budget))
        };
        let data = RAM_BASE + DATA;
        // By its branch.
        assert_eq!(run(&mut h, data, 1000, 4000), (0, 1000, 16, 4000), "{engine_choice:?}");
        // By the budget, also in the middle.
        assert_eq!(run(&mut h, data, 1000, 400), (900, 100, 0, 400), "{engine_choice:?}");
        assert_eq!(run(&mut h, data, 1000, 401), (900, 101, 4, 401), "{engine_choice:?}");
        assert_eq!(run(&mut h, data, 1000, 3), (999, 1, 12, 3), "{engine_choice:?}");
        // From the second round on, it adds two.
        assert_eq!(run(&mut h, code, 1000, 4000), (0, 1999, 16, 4000), "{engine_choice:?}");
        assert_eq!(engine.compiled().blocks > 0, engine_choice == EngineChoice::Jit);
    }
}
