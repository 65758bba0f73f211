use super::super::status::*;
use super::*;
use crate::engine::CommitLog;
use crate::fp::Flags;
use rvv_isa::csr;

#[test]
fn misa_shows_the_letters_and_only_c_can_be_written() {
    let mut h = hart_with("rv64gcv");
    // MXL = 2; A, C, D, F, I, M, S, U, V are letters 0, 2, 3, 5, 8, 12, 18, 20, 21.
    assert_eq!(read(&mut h, csr::MISA), 0x8000_0000_0034_112d);
    assert_eq!(write_and_read(&mut h, csr::MISA, 0), 0x8000_0000_0034_1129);
    assert_eq!(write_and_read(&mut h, csr::MISA, u64::MAX), 0x8000_0000_0034_112d);
    let mut without = hart_with("rv64ib");
    assert_eq!(read(&mut without, csr::MISA), 0x8000_0000_0014_0102);
    assert_eq!(write_and_read(&mut without, csr::MISA, u64::MAX), 0x8000_0000_0014_0102);
    // Zca without C has no bit here, and stays.
    let mut zca = hart_with("rv64i_zca");
    assert_eq!(write_and_read(&mut zca, csr::MISA, u64::MAX) & 4, 0);
    assert!(zca.csr.compressed());
}

/// norm:misa_inc_ialign: the write is suppressed if the next instruction would be misaligned.
#[test]
fn clearing_misa_c_does_not_misalign_what_comes_next() {
    let mut h = hart_with("rv64gcv");
    h.pc = RAM_BASE + 2;
    h.x[5] = 0;
    run(&mut h, Op::Csrrw, 0, 5, i32::from(csr::MISA)).unwrap();
    assert_eq!(h.read_csr(csr::MISA).unwrap() & 4, 4);
    h.pc = RAM_BASE + 4;
    run(&mut h, Op::Csrrw, 0, 5, i32::from(csr::MISA)).unwrap();
    assert_eq!(h.read_csr(csr::MISA).unwrap() & 4, 0);
    // What is set stays set, wherever the next instruction is.
    h.pc = RAM_BASE + 2;
    h.x[5] = 4;
    run(&mut h, Op::Csrrw, 0, 5, i32::from(csr::MISA)).unwrap();
    assert_eq!(h.read_csr(csr::MISA).unwrap() & 4, 4);
}

/// With IALIGN = 32 bit 1 of `mepc` and `sepc` is masked on reads, and comes back with C; a misaligned fetch
/// can happen and so be delegated.
#[test]
fn misa_c_changes_what_epcs_and_medeleg_hold() {
    let mut h = hart_with("rv64gcv");
    h.write_csr(csr::MEPC, RAM_BASE + 2);
    h.write_csr(csr::SEPC, RAM_BASE + 6);
    h.write_csr(csr::MEDELEG, 1);
    assert_eq!(h.read_csr(csr::MEDELEG), Some(0));
    h.next_pc = RAM_BASE;
    h.write_csr(csr::MISA, 0);
    assert_eq!((h.read_csr(csr::MEPC), h.read_csr(csr::SEPC)), (Some(RAM_BASE), Some(RAM_BASE + 4)));
    h.write_csr(csr::MEDELEG, 1);
    assert_eq!(h.read_csr(csr::MEDELEG), Some(1));
    run(&mut h, Op::Mret, 0, 0, 0).unwrap();
    assert_eq!(h.pc, RAM_BASE);
    h.write_csr(csr::MISA, 4);
    assert_eq!((h.read_csr(csr::MEPC), h.read_csr(csr::SEPC)), (Some(RAM_BASE + 2), Some(RAM_BASE + 6)));
}

/// The same code, with C and without, from cached blocks: a compressed instruction, and jumps to the middle
/// of a word.
#[test]
fn code_means_another_thing_without_misa_c() {
    use crate::engine::{Engine, Stop};
    let encode = |inst: Inst| rvv_isa::encode(&inst).unwrap();
    let c_addi = 0x0505_u32; // c.addi a0, 1
    let misa = i32::from(csr::MISA);
    let code = [
        // 0: a0 += 1, twice; c.nop and c.jr ra
        c_addi << 16 | c_addi,
        0x8082 << 16 | 1,
        // 8: a taken branch to 2; 12: one that is not taken, to 2
        encode(Inst { imm: -6, ..Inst::new(Op::Beq) }),
        encode(Inst { rs1: 1, imm: -10, ..Inst::new(Op::Beq) }),
        // 16: jalr to 2
        encode(Inst { rd: 7, rs1: 6, imm: 3, ..Inst::new(Op::Jalr) }),
        // 20: misa = t0
        encode(Inst { rs1: 5, imm: misa, ..Inst::new(Op::Csrrw) }),
        // 24
        encode(Inst::new(Op::Wfi)),
    ];
    let mut h = hart_with("rv64gcv");
    for (i, word) in code.iter().enumerate() {
        h.ram.write(4 * i, *word).unwrap();
    }
    let mut engine = Engine::default();
    (h.x[1], h.x[6]) = (RAM_BASE + 24, RAM_BASE);
    let mut at = |h: &mut Hart, pc: u64, budget: u64| {
        (h.pc, h.x[10], h.x[7]) = (RAM_BASE + pc, 0, 0);
        let stop = engine.run(h, budget);
        (
            match stop {
                Stop::Trap(trap) => Some((trap.cause, trap.tval)),
                Stop::Budget => None,
            },
            h.pc - RAM_BASE,
            h.x[10],
        )
    };
    let compressed_illegal = Some((Cause::IllegalInstruction, u64::from(c_addi)));
    let misaligned = Some((Cause::InstructionAddressMisaligned, RAM_BASE + 2));
    for _ in 0..3 {
        assert_eq!(at(&mut h, 0, 4), (None, 24, 2));
        assert_eq!(at(&mut h, 8, 4), (None, 24, 1));
        assert_eq!(at(&mut h, 16, 4), (None, 24, 1));
        h.x[5] = 0;
        at(&mut h, 20, 1);
        assert_eq!(at(&mut h, 0, 4), (compressed_illegal, 0, 0));
        assert_eq!(at(&mut h, 8, 2), (misaligned, 8, 0));
        assert_eq!(at(&mut h, 12, 1), (None, 16, 0));
        assert_eq!(at(&mut h, 16, 2), (misaligned, 16, 0));
        assert_eq!(h.x[7], 0, "a jump that traps writes no register");
        h.x[5] = 4;
        at(&mut h, 20, 1);
    }
}

/// A CSR of an extension that is not there names the extension.
#[test]
fn a_csr_of_a_missing_extension_names_it() {
    let mut h = hart_with("rv64i");
    let mut says = |number: u16| broken_rule(&mut h, Op::Csrrs, 0, number).unwrap();
    for (number, extension) in [
        (csr::CYCLE, "Zicntr"),
        (csr::TIME, "Zicntr"),
        (csr::INSTRET, "Zicntr"),
        (csr::HPMCOUNTER3, "Zihpm"),
        (csr::HPMCOUNTER31, "Zihpm"),
        (csr::FCSR, "F,"),
        (csr::VL, "V "),
        (csr::SEED, "an extension"),
    ] {
        assert!(says(number).contains(extension), "{}", says(number));
    }
    assert_eq!(says(0x8ff), "there is no CSR of this number");
}

#[test]
fn mstatus_keeps_what_its_fields_can_hold() {
    let mut h = hart();
    let fixed = 0xa_0000_0000;
    assert_eq!(read(&mut h, csr::MSTATUS), fixed);
    // All ones: MPP = 3, FS and VS dirty, hence SD; no UBE, XS, SBE, MBE.
    let ones = write_and_read(&mut h, csr::MSTATUS, u64::MAX);
    assert_eq!(ones, 1 << 63 | fixed | 0x7e_7faa);
    assert_eq!(write_and_read(&mut h, csr::MSTATUS, 0), fixed);
    // There is no mode 2.
    assert_eq!(write_and_read(&mut h, csr::MSTATUS, 2 << 11), fixed);
    assert_eq!(write_and_read(&mut h, csr::MSTATUS, 1 << 11), fixed | 1 << 11);
    // sstatus is a window on SIE, SPIE, SPP, VS, FS, SUM, MXR, UXL, SD and leaves the rest alone.
    assert_eq!(write_and_read(&mut h, csr::SSTATUS, u64::MAX), 1 << 63 | 2 << 32 | 0xc_6722);
    assert_eq!(read(&mut h, csr::MSTATUS), 1 << 63 | fixed | 0xc_6722 | 1 << 11);
}

#[test]
fn without_vectors_there_is_no_vs() {
    let mut h = hart_with("rv64gc");
    assert_eq!(write_and_read(&mut h, csr::MSTATUS, VS) & VS, 0);
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::VLENB).unwrap().contains("Zve32x"));
}

#[test]
fn warl_fields_take_only_legal_values() {
    let mut h = hart();
    let cases: &[(u16, u64, u64)] = &[
        (csr::MTVEC, 0x8000_0003, 0x8000_0001),
        (csr::STVEC, 0x8000_0002, 0x8000_0000),
        (csr::MEPC, 0x8000_0003, 0x8000_0002),
        (csr::SEPC, u64::MAX, u64::MAX - 1),
        // All but misaligned fetches (C is there), ecall from M-mode, and reserved ones.
        (csr::MEDELEG, u64::MAX, 0x8_b3fe),
        (csr::MIDELEG, u64::MAX, 0x222),
        (csr::MIE, u64::MAX, 0xaaa),
        (csr::MCOUNTEREN, u64::MAX, 0xffff_ffff),
        (csr::SCOUNTEREN, u64::MAX, 0xffff_ffff),
        // There is nothing to inhibit about time.
        (csr::MCOUNTINHIBIT, u64::MAX, 0xffff_fffd),
        (csr::MCOUNTINHIBIT, 0, 0),
        // FIOM, CBIE, CBCFE, CBZE; ADUE, PBMTE, STCE.
        (csr::MENVCFG, u64::MAX, 0xe000_0000_0000_00f1),
        (csr::SENVCFG, u64::MAX, 0xf1),
        // CBIE = 2 is reserved.
        (csr::MENVCFG, 0x20, 0),
        (csr::MHPMCOUNTER3, 7, 0),
        (csr::MHPMEVENT31, 7, 0),
        (csr::MSCRATCH, u64::MAX, u64::MAX),
        (csr::TSELECT, 1, 1),
        (csr::TSELECT, 4, 1),
        (csr::TDATA1, u64::MAX, 15 << 60),
        (csr::FCSR, u64::MAX, 0xff),
        (csr::FRM, 0xd, 5),
    ];
    h.write_csr(csr::MSTATUS, FS | VS);
    for &(number, written, expected) in cases {
        assert_eq!(write_and_read(&mut h, number, written), expected, "CSR {number:#x}");
    }
}

#[test]
fn without_c_instruction_addresses_are_multiples_of_four() {
    let mut h = hart_with("rv64g");
    assert_eq!(write_and_read(&mut h, csr::MEPC, 0x8000_0007), 0x8000_0004);
    assert_eq!(write_and_read(&mut h, csr::MEDELEG, 1), 1);
}

#[test]
fn satp_with_an_unsupported_mode_is_not_written_at_all() {
    let mut h = hart();
    let sv39 = 8 << 60 | 0x1234 << 44 | 0x8_0000;
    assert_eq!(write_and_read(&mut h, csr::SATP, sv39), sv39);
    for mode in [1, 2, 7, 11, 15] {
        assert_eq!(write_and_read(&mut h, csr::SATP, mode << 60 | 1), sv39, "mode {mode}");
    }
    for mode in [0, 8, 9, 10] {
        assert_eq!(write_and_read(&mut h, csr::SATP, mode << 60 | 1), mode << 60 | 1);
    }
}

#[test]
fn sie_and_sip_show_what_is_delegated() {
    let mut h = hart();
    platform(&mut h).mtimecmp[0] = u64::MAX;
    assert_eq!(write_and_read(&mut h, csr::MIP, u64::MAX), SSI | STI | SEI);
    assert_eq!(read(&mut h, csr::SIP), 0);
    assert_eq!(write_and_read(&mut h, csr::SIE, u64::MAX), 0);
    h.write_csr(csr::MIDELEG, SSI | STI);
    assert_eq!(read(&mut h, csr::SIP), SSI | STI);
    // Of sip, only SSIP can be written.
    assert_eq!(write_and_read(&mut h, csr::SIP, 0), STI);
    assert_eq!(read(&mut h, csr::MIP), STI | SEI);
    assert_eq!(write_and_read(&mut h, csr::SIE, u64::MAX), SSI | STI);
    assert_eq!(read(&mut h, csr::MIE), SSI | STI);
}

#[test]
fn stimecmp_takes_over_stip() {
    let mut h = hart();
    platform(&mut h).mtimecmp[0] = u64::MAX;
    h.write_csr(csr::STIMECMP, 5);
    h.write_csr(csr::MIP, STI);
    h.write_csr(csr::MENVCFG, STCE);
    assert_eq!(h.mip(), 0, "the time has not come");
    h.write_csr(csr::MIP, STI);
    assert_eq!(h.mip(), 0, "STIP cannot be written");
    h.instret = 500;
    assert_eq!(h.mip(), STI, "it has");
}

#[test]
fn a_counter_written_is_read_by_the_next_instruction() {
    let mut h = hart();
    h.instret = 1000;
    assert_eq!(read(&mut h, csr::MINSTRET), 1000);
    assert_eq!(write_and_read(&mut h, csr::MINSTRET, 7), 7);
    assert_eq!(read(&mut h, csr::MINSTRET), 8);
    assert_eq!(read(&mut h, csr::INSTRET), 9);
    // CY stops mcycle; instructions still retire.
    let cycle = write_and_read(&mut h, csr::MCYCLE, 100);
    assert_eq!(cycle, 100);
    h.write_csr(csr::MCOUNTINHIBIT, 1);
    assert_eq!(read(&mut h, csr::MCYCLE), 101);
    assert_eq!(read(&mut h, csr::MCYCLE), 101);
    h.write_csr(csr::MCYCLE, 50);
    assert_eq!(read(&mut h, csr::CYCLE), 50);
    run(&mut h, Op::Csrrwi, 0, 0, i32::from(csr::MCOUNTINHIBIT)).unwrap();
    assert_eq!(read(&mut h, csr::CYCLE), 51);
}

#[test]
fn accesses_are_refused_by_rule() {
    let mut h = hart();
    let missing = Some("there is no CSR of this number");
    let mode = Some("norm:Zicsr_illegal_mode: the CSR belongs to a more privileged mode");
    let read_only = Some("norm:Zicsr_illegal_acc: a write to a read-only CSR");
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, 0x8ff), missing);
    let unknown = Some("the CSR is of an extension that this emulator does not have, or of RV32");
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::SEED), unknown);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::PMPCFG1), unknown);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::MHARTID), None);
    assert_eq!(broken_rule(&mut h, Op::Csrrw, 0, csr::MHARTID), read_only);
    // By the register's number and not its value.
    h.x[5] = 0;
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 5, csr::CYCLE), read_only);
    assert_eq!(broken_rule(&mut h, Op::Csrrc, 0, csr::CYCLE), None);
    assert_eq!(broken_rule(&mut h, Op::Csrrsi, 0, csr::CYCLE), None);
    assert_eq!(broken_rule(&mut h, Op::Csrrci, 1, csr::CYCLE), read_only);
    assert_eq!(broken_rule(&mut h, Op::Csrrwi, 0, csr::CYCLE), read_only);

    enter(&mut h, Privilege::Supervisor);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::MSTATUS), mode);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::SATP), None);
    h.write_csr(csr::MSTATUS, TVM);
    let tvm = broken_rule(&mut h, Op::Csrrs, 0, csr::SATP).unwrap();
    assert!(tvm.contains("TVM"), "{tvm}");
    let stce = broken_rule(&mut h, Op::Csrrs, 0, csr::STIMECMP).unwrap();
    assert!(stce.contains("STCE"), "{stce}");
    enter(&mut h, Privilege::User);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::SSTATUS), mode);
}

#[test]
fn counters_need_both_counterens() {
    let mut h = hart();
    enter(&mut h, Privilege::Supervisor);
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::TIME).unwrap().contains("mcounteren"));
    h.write_csr(csr::MCOUNTEREN, 2);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::TIME), None);
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::CYCLE).unwrap().contains("mcounteren"));
    enter(&mut h, Privilege::User);
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::TIME).unwrap().contains("scounteren"));
    h.write_csr(csr::SCOUNTEREN, 2);
    assert_eq!(broken_rule(&mut h, Op::Csrrs, 0, csr::TIME), None);
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::HPMCOUNTER31).unwrap().contains("mcounteren"));
}

#[test]
fn floating_point_and_vector_csrs_need_their_units_on_and_dirty_them() {
    let mut h = hart();
    assert!(!h.fs_enabled() && !h.vs_enabled());
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::FCSR).unwrap().contains("mstatus.FS"));
    assert!(broken_rule(&mut h, Op::Csrrs, 0, csr::VL).unwrap().contains("mstatus.VS"));
    // Initial: reading leaves it so, writing does not.
    h.write_csr(csr::MSTATUS, 1 << 13 | 1 << 9);
    assert_eq!(read(&mut h, csr::FCSR), 0);
    assert_eq!(read(&mut h, csr::VLENB), 16);
    assert_eq!(read(&mut h, csr::MSTATUS) & (SD | FS | VS), 1 << 13 | 1 << 9);
    assert_eq!(write_and_read(&mut h, csr::FCSR, 0xe3), 0xe3);
    assert_eq!((h.frm, h.fflags), (7, Flags(3)));
    assert_eq!(read(&mut h, csr::MSTATUS) & (SD | FS | VS), SD | FS | 1 << 9);
    assert_eq!(write_and_read(&mut h, csr::VCSR, 0xff), 7);
    assert_eq!((h.v.vxrm, h.v.vxsat), (3, true));
    assert_eq!(read(&mut h, csr::MSTATUS) & (SD | FS | VS), SD | FS | VS);
    // The largest index of an element at VLEN = 128 is 127.
    assert_eq!(write_and_read(&mut h, csr::VSTART, u64::MAX), 127);
}

#[test]
fn what_instructions_dirtied_is_seen_when_mstatus_is_read_and_gone_when_it_is_written() {
    let mut h = hart();
    h.write_csr(csr::MSTATUS, 1 << 13 | 1 << 9);
    h.set_f(1, 0);
    h.vs_dirty = true;
    assert_eq!(read(&mut h, csr::SSTATUS) & (SD | FS | VS), SD | FS | VS);
    assert_eq!(write_and_read(&mut h, csr::MSTATUS, 2 << 13) & (SD | FS | VS), 2 << 13);
}

#[test]
fn the_log_has_the_registers_behind_the_windows_once_each() {
    let mut h = hart();
    h.log = Some(Box::new(CommitLog::default()));
    h.x[5] = FS;
    run(&mut h, Op::Csrrs, 0, 5, i32::from(csr::SSTATUS)).unwrap();
    assert_eq!(h.log.as_ref().unwrap().csrs, [(csr::MSTATUS, SD | 0xa_0000_0000 | FS)]);
    h.log.as_mut().unwrap().clear();
    run(&mut h, Op::Csrrwi, 0, 1, i32::from(csr::FCSR)).unwrap();
    assert_eq!(h.log.as_ref().unwrap().csrs, [(csr::FRM, 0), (csr::FFLAGS, 1)]);
    h.log.as_mut().unwrap().clear();
    run(&mut h, Op::Csrrs, 6, 0, i32::from(csr::MSCRATCH)).unwrap();
    assert_eq!(h.log.as_ref().unwrap().csrs, []);
}
