//! Several harts on bare metal: atomics between them, interrupts from one to another, timers, counters.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use rvvsim::config::{EngineChoice, Schedule};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};

const CODE: u64 = 0x8000_0000;
const TOHOST: u64 = 0x8000_4000;
const DATA: u64 = 0x8000_8000;
/// Offsets of [`DATA`]: what AMOs count, what LR and SC count, the barrier, and `minstret` of each hart.
const AMO: i32 = 0;
const LR_SC: i32 = 8;
const BARRIER: i32 = 16;
const COUNTERS: i32 = 64;

const CLINT: u64 = 0x200_0000;
const MTIMECMP: u64 = 0x4000;
const MTIME: u64 = 0xbff8;
/// Bits of `mip` and `mie`.
const MSI: i32 = 1 << 3;
const MTI: u64 = 1 << 7;

const T0: u8 = 5;
const T1: u8 = 6;
const T2: u8 = 7;
const S0: u8 = 8;
const A0: u8 = 10;
const A2: u8 = 12;
const A3: u8 = 13;

const ROUNDS: u64 = 300;
/// Instructions at the reset vector.
const RESET: u64 = 5;

/// All harts count by AMO and by LR and SC, and wait for each other. Then an interrupt goes round, from hart
/// 0 to hart 1 and so on; each hart sleeps until it comes, and then by its timer for `TICKS`. Hart 0 ends the
/// run: with 0 if all was counted, or else with what is wrong.
fn program(harts: u64) -> Vec<u8> {
    const TICKS: u64 = 10_000_000;
    let mut a = Asm::new(CODE);
    a.csr(Op::Csrrs, A2, csr::MINSTRET, 0);
    a.csr(Op::Csrrs, A0, csr::MHARTID, 0);
    a.li(S0, DATA);
    a.rri(Op::Slli, T0, A0, 3);
    a.rrr(Op::Add, T0, T0, S0);
    a.store(Op::Sd, A2, COUNTERS, T0);

    a.li(A2, ROUNDS);
    a.rri(Op::Addi, A3, S0, LR_SC);
    let again = a.label_here();
    a.li(T0, 1);
    a.inst(&Inst { rd: 0, rs1: S0, rs2: T0, ..Inst::new(Op::AmoaddD) });
    let retry = a.label_here();
    a.inst(&Inst { rd: T0, rs1: A3, ..Inst::new(Op::LrD) });
    a.rri(Op::Addi, T0, T0, 1);
    a.inst(&Inst { rd: T1, rs1: A3, rs2: T0, ..Inst::new(Op::ScD) });
    a.branch(Op::Bne, T1, 0, retry);
    a.rri(Op::Addi, A2, A2, -1);
    a.branch(Op::Bne, A2, 0, again);

    // Timers are far away until they are set; then software interrupts wake, and are not taken.
    a.li(A3, CLINT);
    a.rri(Op::Slli, T0, A0, 3);
    a.li(T1, CLINT + MTIMECMP);
    a.rrr(Op::Add, T1, T1, T0);
    a.li(T0, u64::MAX);
    a.store(Op::Sd, T0, 0, T1);
    a.li(T0, MSI as u64);
    a.csr(Op::Csrrw, 0, csr::MIE, T0);
    a.rri(Op::Addi, A2, S0, BARRIER);
    a.li(T0, 1);
    a.inst(&Inst { rd: 0, rs1: A2, rs2: T0, ..Inst::new(Op::AmoaddD) });
    let barrier = a.label_here();
    a.rri(Op::Ld, T0, S0, BARRIER);
    a.li(T2, harts);
    a.branch(Op::Bne, T0, T2, barrier);

    let (pass_on, asleep, ticking) = (a.label(), a.label(), a.label());
    a.branch(Op::Beq, A0, 0, pass_on);
    a.place(asleep);
    a.plain(Op::Wfi);
    a.csr(Op::Csrrs, T0, csr::MIP, 0);
    a.rri(Op::Andi, T0, T0, MSI);
    a.branch(Op::Beq, T0, 0, asleep);
    // Its own software interrupt is over.
    a.rri(Op::Slli, T0, A0, 2);
    a.rrr(Op::Add, T0, T0, A3);
    a.store(Op::Sw, 0, 0, T0);
    let done = a.label();
    a.branch(Op::Beq, A0, 0, done);
    // Sleeps until its timer comes.
    a.li(T0, CLINT + MTIME);
    a.rri(Op::Ld, T0, T0, 0);
    a.li(T2, TICKS);
    a.rrr(Op::Add, T0, T0, T2);
    a.store(Op::Sd, T0, 0, T1);
    a.li(T0, MTI);
    a.csr(Op::Csrrw, 0, csr::MIE, T0);
    a.place(ticking);
    a.plain(Op::Wfi);
    a.csr(Op::Csrrs, T0, csr::MIP, 0);
    a.rri(Op::Andi, T0, T0, MTI as i32);
    a.branch(Op::Beq, T0, 0, ticking);
    a.li(T0, 0);
    a.csr(Op::Csrrw, 0, csr::MIE, T0);
    a.place(pass_on);
    // To the next hart; after the last comes the first.
    a.rri(Op::Addi, T0, A0, 1);
    a.li(T2, harts);
    let exists = a.label();
    a.branch(Op::Bne, T0, T2, exists);
    a.li(T0, 0);
    a.place(exists);
    a.rri(Op::Slli, T0, T0, 2);
    a.rrr(Op::Add, T0, T0, A3);
    a.li(T2, 1);
    a.store(Op::Sw, T2, 0, T0);
    a.branch(Op::Beq, A0, 0, asleep);
    let forever = a.label_here();
    a.plain(Op::Wfi);
    a.jump(forever);

    a.place(done);
    a.li(A2, 1 << 1 | 1);
    let end = a.label();
    for at in [AMO, LR_SC] {
        a.rri(Op::Ld, T0, S0, at);
        a.li(T2, harts * ROUNDS);
        a.branch(Op::Bne, T0, T2, end);
        a.rri(Op::Addi, A2, A2, 2);
    }
    // Each hart has counted its own instructions.
    for hart in 0..harts as i32 {
        a.rri(Op::Ld, T0, S0, COUNTERS + 8 * hart);
        a.li(T2, RESET);
        a.branch(Op::Bne, T0, T2, end);
    }
    a.li(A2, 1);
    a.place(end);
    a.li(T0, TOHOST);
    a.store(Op::Sd, A2, 0, T0);
    let stop = a.label_here();
    a.jump(stop);
    let mut elf = ElfWriter::new(CODE);
    elf.segment(CODE, a.finish(), 7).zeros(TOHOST, 0x1000).zeros(DATA, 0x1000);
    elf.symbol("tohost", TOHOST).symbol("fromhost", TOHOST + 8);
    elf.finish()
}

fn machine(harts: u32, schedule: Schedule, engine: EngineChoice) -> Machine {
    // Without sleep the timers would take a thousand times as many instructions.
    let config = Config {
        mem: 1 << 20,
        harts,
        schedule,
        engine,
        jit_threshold: 4,
        max_insns: Some(3_000_000),
        ..Config::default()
    };
    Machine::bare(config, &Image::parse(program(u64::from(harts))).unwrap()).unwrap()
}

fn schedules() -> impl Iterator<Item = Schedule> {
    [5000, 100, 3, 1].into_iter().map(Schedule::RoundRobin).chain((1..=6).map(Schedule::Random))
}

#[test]
fn harts_count_together_and_wake_one_another() {
    for harts in [2, 3, 8] {
        for schedule in schedules() {
            let mut machine = machine(harts, schedule, EngineChoice::Auto);
            assert_eq!(machine.run(None), Outcome::Exited(0), "{harts} harts, {schedule}");
        }
    }
}

#[test]
fn the_same_schedule_gives_the_same_trace_of_all_harts() {
    for schedule in [Schedule::RoundRobin(100), Schedule::Random(3)] {
        let trace = || {
            let mut out = Vec::new();
            let mut machine = machine(3, schedule, EngineChoice::Auto);
            assert_eq!(machine.run_traced(None, &mut out).unwrap(), Outcome::Exited(0));
            (out, machine.instructions_retired())
        };
        let (lines, retired) = trace();
        let text = String::from_utf8(lines.clone()).unwrap();
        for hart in 0..3 {
            assert!(text.lines().any(|line| line.starts_with(&format!("core   {hart}: 3 0x"))), "{hart}");
        }
        assert!(trace() == (lines, retired), "{schedule}");
        // Neither tracing nor the engine changes who executes when.
        for engine in [EngineChoice::Interpreter, EngineChoice::Auto] {
            let mut machine = machine(3, schedule, engine);
            assert_eq!(machine.run(None), Outcome::Exited(0));
            assert_eq!(machine.instructions_retired(), retired, "{schedule} {engine:?}");
        }
    }
}

#[test]
fn a_snapshot_has_all_harts() {
    let mut machine = machine(4, Schedule::Random(9), EngineChoice::Auto);
    machine.hart_mut().config_mut().max_insns = Some(4321);
    assert_eq!(machine.run(None), Outcome::OutOfInstructions);
    let middle = machine.snapshot().expect("a bare machine");
    machine.hart_mut().config_mut().max_insns = Some(3_000_000);
    assert_eq!(machine.run(None), Outcome::Exited(0));
    let (retired, memory) = (machine.instructions_retired(), machine.hart().memory().to_vec());
    assert!(machine.restore(&middle));
    assert_eq!(machine.run(None), Outcome::Exited(0));
    assert_eq!(machine.instructions_retired(), retired);
    assert!(machine.hart().memory() == memory);
    machine.reset(&Image::parse(program(4)).unwrap()).unwrap();
    assert_eq!(machine.run(None), Outcome::Exited(0));
}
