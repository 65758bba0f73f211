use super::super::status::*;
use super::*;
use crate::machine::{Machine, Outcome};
use rvv_asm::{Asm, ElfWriter};
use rvv_isa::csr;

const TEXT: u64 = RAM_BASE;
const TOHOST: u64 = RAM_BASE + 0x2000;
const DATA: u64 = RAM_BASE + 0x3000;
/// Where the handler writes, for each trap, its cause, address and value.
const RECORDS: u64 = RAM_BASE + 0x4000;

const T0: u8 = 5;
const T1: u8 = 6;
const T2: u8 = 7;
const S0: u8 = 8;
const A0: u8 = 10;

const MCONTROL: u64 = 2 << 60;
const MCONTROL6: u64 = 6 << 60;
const IN_M: u64 = 1 << 6;
const EXECUTE: u64 = 4;
const STORE: u64 = 2;
const LOAD: u64 = 1;

/// Runs `body` in M-mode with MIE set; what the breakpoints were: (offset of the instruction from `body`'s
/// start, tval as an offset from it, or from the data). Each instruction that traps is skipped, and has four
/// bytes.
fn breakpoints(body: impl FnOnce(&mut Asm)) -> Vec<(u64, u64)> {
    let mut a = Asm::new(TEXT);
    let (start, handler) = (a.label(), a.label());
    a.jump(start);
    while !a.here().is_multiple_of(4) {
        a.raw(1, 2);
    }
    a.place(handler);
    a.csr(Op::Csrrs, T1, csr::MCAUSE, 0);
    a.store(Op::Sd, T1, 0, S0);
    a.csr(Op::Csrrs, T1, csr::MEPC, 0);
    a.store(Op::Sd, T1, 8, S0);
    a.rri(Op::Addi, T1, T1, 4);
    a.csr(Op::Csrrw, 0, csr::MEPC, T1);
    a.csr(Op::Csrrs, T1, csr::MTVAL, 0);
    a.store(Op::Sd, T1, 16, S0);
    a.rri(Op::Addi, S0, S0, 24);
    a.inst(&Inst::new(Op::Mret));
    a.place(start);
    a.la(T0, handler);
    a.csr(Op::Csrrw, 0, csr::MTVEC, T0);
    a.li(S0, RECORDS);
    a.li(A0, DATA);
    a.li(T0, MIE | VS);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
    while a.here() < TEXT + 0x400 {
        a.rri(Op::Addi, 0, 0, 0);
    }
    body(&mut a);
    assert!(a.here() < TEXT + 0x1000);
    // The end must not run into what is watched.
    a.csr(Op::Csrrw, 0, csr::TDATA1, 0);
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let end = a.label_here();
    a.jump(end);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST);
    elf.zeros(DATA, 0x1000).zeros(RECORDS, 0x1000);
    let bytes = elf.finish();
    // To ask Spike, whose commit log is the same: `testsuite trace --spike PATH FOLDER`.
    if let Some(folder) = std::env::var_os("RVVSIM_KEEP_ELFS") {
        let name = std::thread::current().name().unwrap_or("test").replace("::", "-");
        std::fs::write(std::path::Path::new(&folder).join(name), &bytes).expect("a folder to write to");
    }
    let image = crate::elf::Image::parse(bytes.as_slice()).expect("our own ELF");
    let config = Config { mem: 1 << 20, max_insns: Some(100_000), ..Config::default() };
    let mut machine = Machine::bare(config, &image).expect("it fits");
    assert_eq!(machine.run(None), Outcome::Exited(0));
    let word = |at: u64| machine.hart.ram.read::<u64>((at - RAM_BASE) as usize).expect("in RAM");
    let end = machine.hart.x[S0];
    let mut all = Vec::new();
    for at in (RECORDS..end).step_by(24) {
        assert_eq!(word(at), Cause::Breakpoint as u64);
        let tval = word(at + 16);
        let tval = if tval >= DATA { tval - DATA } else { tval - TEXT - 0x400 };
        all.push((word(at + 8) - TEXT - 0x400, tval));
    }
    all
}

/// Sets the selected trigger; leaves `T2` alone.
fn set(a: &mut Asm, tdata1: u64, tdata2: u64) {
    a.li(T0, tdata2);
    a.csr(Op::Csrrw, 0, csr::TDATA2, T0);
    a.li(T0, tdata1);
    a.csr(Op::Csrrw, 0, csr::TDATA1, T0);
}

fn at(a: &Asm) -> u64 {
    a.here() - TEXT - 0x400
}

#[test]
fn there_are_four_triggers_and_fields_that_cannot_be_had_read_as_zero() {
    let mut h = hart();
    for i in 0..4 {
        assert_eq!(write_and_read(&mut h, csr::TSELECT, i), i);
        assert_eq!(read(&mut h, csr::TDATA1), 15 << 60, "disabled");
    }
    assert_eq!(write_and_read(&mut h, csr::TSELECT, 4), 3, "there is no fifth");
    assert_eq!(read(&mut h, csr::TINFO), 1 << 24 | 1 << 15 | 1 << 6 | 1 << 2);
    // mcontrol6: dmode, vs, vu, select, size and action stay 0, a match of 6 is none.
    let all = MCONTROL6 | ((1 << 60) - 1);
    assert_eq!(write_and_read(&mut h, csr::TDATA1, all), MCONTROL6 | 1 << 25 | 1 << 22 | 1 << 11 | 0x5f);
    for (asked, how) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 0), (15, 0)] {
        let got = write_and_read(&mut h, csr::TDATA1, MCONTROL6 | asked << 7);
        assert_eq!(got, MCONTROL6 | how << 7);
    }
    // mcontrol has no NAPOT match with maskmax 0.
    assert_eq!(write_and_read(&mut h, csr::TDATA1, MCONTROL | 1 << 7 | IN_M), MCONTROL | IN_M);
    assert_eq!(write_and_read(&mut h, csr::TDATA1, 3 << 60 | 0x47), 15 << 60, "icount is not there");
    assert_eq!(write_and_read(&mut h, csr::TDATA3, !0), 0);
}

#[test]
fn a_breakpoint_comes_before_its_instruction() {
    for kind in [MCONTROL, MCONTROL6] {
        let mut place = 0;
        let got = breakpoints(|a| {
            a.li(T2, 7);
            set(a, kind | IN_M | EXECUTE, TEXT + 0x480);
            while a.here() < TEXT + 0x480 {
                a.rri(Op::Addi, 0, 0, 0);
            }
            place = at(a);
            a.li(T2, 1);
            a.csr(Op::Csrrw, 0, csr::TDATA1, 0);
            a.rri(Op::Addi, T2, T2, -7);
            // Nonzero if the instruction was executed: then this never ends, and the test says so.
            let again = a.label_here();
            a.branch(Op::Bne, T2, 0, again);
        });
        assert_eq!(got, [(place, place)]);
    }
}

#[test]
fn watchpoints_see_loads_or_stores_of_any_byte() {
    let mut places = Vec::new();
    let got = breakpoints(|a| {
        set(a, MCONTROL6 | IN_M | LOAD, DATA + 6);
        a.store(Op::Sd, T2, 0, A0);
        a.rri(Op::Lw, T2, A0, 0);
        places.push((at(a), 4));
        a.rri(Op::Lw, T2, A0, 4);
        places.push((at(a), 0));
        a.rri(Op::Ld, T2, A0, 0);
        set(a, MCONTROL6 | IN_M | STORE, DATA + 6);
        a.rri(Op::Ld, T2, A0, 0);
        places.push((at(a), 6));
        a.store(Op::Sb, T2, 6, A0);
        places.push((at(a), 0));
        a.inst(&Inst { rd: T2, rs1: A0, rs2: 0, ..Inst::new(Op::AmoaddD) });
    });
    assert_eq!(got, places);
}

#[test]
fn ranges_match_and_chains_match_as_a_whole() {
    let mut places = Vec::new();
    let got = breakpoints(|a| {
        // NAPOT: the 16 bytes from DATA + 0x20.
        set(a, MCONTROL6 | IN_M | LOAD | 1 << 7, DATA + 0x27);
        a.rri(Op::Lb, T2, A0, 0x1f);
        places.push((at(a), 0x20));
        a.rri(Op::Lb, T2, A0, 0x20);
        places.push((at(a), 0x2f));
        a.rri(Op::Lb, T2, A0, 0x2f);
        a.rri(Op::Lb, T2, A0, 0x30);
        // A chain: from DATA + 0x40 on, and below DATA + 0x48.
        set(a, MCONTROL6 | IN_M | LOAD | 2 << 7 | 1 << 11, DATA + 0x40);
        a.li(T0, 1);
        a.csr(Op::Csrrw, 0, csr::TSELECT, T0);
        set(a, MCONTROL6 | IN_M | LOAD | 3 << 7, DATA + 0x48);
        a.rri(Op::Lb, T2, A0, 0x3f);
        places.push((at(a), 0x40));
        a.rri(Op::Lb, T2, A0, 0x40);
        places.push((at(a), 0x47));
        a.rri(Op::Lb, T2, A0, 0x47);
        a.rri(Op::Lb, T2, A0, 0x48);
    });
    assert_eq!(got, places);
}

/// Each element is an access, and `vstart` says which one it was, also where a fault would only shorten the
/// vector.
#[test]
fn vector_accesses_stop_at_the_element() {
    let mut places = Vec::new();
    let got = breakpoints(|a| {
        a.inst(&Inst { rd: T2, rs1: 4, imm: 0b011_000, ..Inst::new(Op::Vsetivli) });
        a.inst(&Inst { rd: T2, rs1: 2, imm: 0b011_000, ..Inst::new(Op::Vsetivli) });
        set(a, MCONTROL6 | IN_M | LOAD | STORE, DATA + 8);
        for op in [Op::Vle64V, Op::Vse64V, Op::Vle64ffV] {
            places.push((at(a), 8));
            a.inst(&Inst { rd: 8, rs1: A0, vm: true, ..Inst::new(op) });
            // 1 - vstart is an offset that watches nothing new if vstart is 1.
            a.csr(Op::Csrrs, T2, csr::VSTART, 0);
            a.rri(Op::Addi, T2, T2, -1);
            let never = a.label_here();
            a.branch(Op::Bne, T2, 0, never);
            a.csr(Op::Csrrw, 0, csr::VSTART, 0);
        }
    });
    assert_eq!(got, places);
}

#[test]
fn nothing_fires_in_machine_mode_with_interrupts_off_or_in_another_mode() {
    let got = breakpoints(|a| {
        set(a, MCONTROL6 | 1 << 4 | 1 << 3 | LOAD, DATA);
        a.rri(Op::Ld, T2, A0, 0);
        set(a, MCONTROL6 | IN_M | LOAD, DATA);
        a.li(T0, MIE);
        a.csr(Op::Csrrc, 0, csr::MSTATUS, T0);
        a.rri(Op::Ld, T2, A0, 0);
    });
    assert_eq!(got, []);
}

#[test]
fn hit_bits_say_which_trigger_it_was() {
    let mut h = hart();
    h.write_csr(csr::MSTATUS, MIE);
    write_and_read(&mut h, csr::TDATA2, DATA);
    write_and_read(&mut h, csr::TDATA1, MCONTROL6 | IN_M | LOAD);
    write_and_read(&mut h, csr::TSELECT, 1);
    write_and_read(&mut h, csr::TDATA2, DATA + 8);
    write_and_read(&mut h, csr::TDATA1, MCONTROL | IN_M | LOAD);
    assert_eq!(h.load::<u64>(DATA + 8).map_err(|t| (t.cause, t.tval)), Err((Cause::Breakpoint, DATA + 8)));
    assert_eq!(read(&mut h, csr::TDATA1), MCONTROL | IN_M | LOAD | 1 << 20);
    write_and_read(&mut h, csr::TSELECT, 0);
    assert_eq!(read(&mut h, csr::TDATA1), MCONTROL6 | IN_M | LOAD);
    assert!(h.load::<u64>(DATA).is_err());
    assert_eq!(read(&mut h, csr::TDATA1), MCONTROL6 | IN_M | LOAD | 1 << 22);
}
