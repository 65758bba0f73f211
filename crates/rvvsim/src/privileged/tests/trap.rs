use super::super::status::*;
use super::*;
use crate::trap::Trap;
use rvv_isa::csr;

const HANDLER: u64 = RAM_BASE + 0x1000;
const S_HANDLER: u64 = RAM_BASE + 0x2000;
const AT: u64 = RAM_BASE + 0x100;

fn ready() -> Hart {
    let mut h = hart();
    platform(&mut h).mtimecmp[0] = u64::MAX;
    h.write_csr(csr::MTVEC, HANDLER);
    h.write_csr(csr::STVEC, S_HANDLER);
    h.pc = AT;
    h
}

fn state(h: &Hart, csrs: [u16; 3]) -> [u64; 3] {
    csrs.map(|n| h.read_csr(n).unwrap())
}

const M_TRAP: [u16; 3] = [csr::MEPC, csr::MCAUSE, csr::MTVAL];
const S_TRAP: [u16; 3] = [csr::SEPC, csr::SCAUSE, csr::STVAL];

#[test]
fn an_exception_goes_to_machine_mode_and_mret_undoes_it() {
    let mut h = ready();
    enter(&mut h, Privilege::User);
    h.write_csr(csr::MSTATUS, MIE | MPP | SIE);
    h.take_trap(&Trap::new(Cause::LoadPageFault, 0x1234, "")).unwrap();
    assert_eq!((h.prv, h.pc), (Privilege::Machine, HANDLER));
    assert_eq!(state(&h, M_TRAP), [AT, 13, 0x1234]);
    // MPIE from MIE, MIE off, MPP = U.
    assert_eq!(h.mstatus() & 0x1fff, MPIE | SIE);
    run(&mut h, Op::Mret, 0, 0, 0).unwrap();
    assert_eq!((h.prv, h.pc), (Privilege::User, AT));
    assert_eq!(h.mstatus() & 0x1fff, MPIE | MIE | SIE);
}

#[test]
fn delegated_exceptions_go_to_supervisor_mode_unless_from_machine_mode() {
    let mut h = ready();
    h.write_csr(csr::MEDELEG, 1 << 8 | 1 << 2);
    h.write_csr(csr::MSTATUS, SIE);
    enter(&mut h, Privilege::User);
    let ecall = run(&mut h, Op::Ecall, 0, 0, 0).unwrap_err();
    assert_eq!(ecall.cause, Cause::EcallFromU);
    h.take_trap(&ecall).unwrap();
    assert_eq!((h.prv, h.pc), (Privilege::Supervisor, S_HANDLER));
    assert_eq!(state(&h, S_TRAP), [AT, 8, 0]);
    assert_eq!(h.mstatus() & 0x1fff, SPIE);
    // From S-mode, SPP is S.
    h.pc = AT + 4;
    h.take_trap(&Trap::illegal(0xdead, "")).unwrap();
    assert_eq!(state(&h, S_TRAP), [AT + 4, 2, 0xdead]);
    assert_eq!(h.mstatus() & 0x1fff, SPP);
    // ecall from S-mode is not delegated, nor is anything from M-mode.
    let ecall = run(&mut h, Op::Ecall, 0, 0, 0).unwrap_err();
    assert_eq!(ecall.cause, Cause::EcallFromS);
    h.take_trap(&ecall).unwrap();
    assert_eq!((h.prv, h.mstatus() & MPP), (Privilege::Machine, 1 << 11));
    h.take_trap(&Trap::illegal(0, "")).unwrap();
    assert_eq!((h.prv, h.pc, h.mstatus() & MPP), (Privilege::Machine, HANDLER, MPP));
}

#[test]
fn ebreak_gives_its_address() {
    let mut h = ready();
    let trap = run(&mut h, Op::Ebreak, 0, 0, 0).unwrap_err();
    assert_eq!((trap.cause, trap.tval), (Cause::Breakpoint, AT));
}

#[test]
fn sret_returns_to_spp_and_clears_mprv() {
    let mut h = ready();
    enter(&mut h, Privilege::Supervisor);
    h.write_csr(csr::SEPC, AT + 8);
    h.write_csr(csr::MSTATUS, SPP | SPIE | MPRV);
    run(&mut h, Op::Sret, 0, 0, 0).unwrap();
    assert_eq!((h.prv, h.pc), (Privilege::Supervisor, AT + 8));
    assert_eq!(h.mstatus() & (SPP | SPIE | SIE | MPRV), SPIE | SIE);
    run(&mut h, Op::Sret, 0, 0, 0).unwrap();
    assert_eq!(h.prv, Privilege::User);
    assert!(run(&mut h, Op::Sret, 0, 0, 0).unwrap_err().why.contains("U-mode"));
    assert!(run(&mut h, Op::Mret, 0, 0, 0).unwrap_err().why.contains("mret"));
}

#[test]
fn mret_to_machine_mode_keeps_mprv() {
    let mut h = ready();
    h.write_csr(csr::MSTATUS, MPP | MPRV);
    run(&mut h, Op::Mret, 0, 0, 0).unwrap();
    assert_eq!(h.prv, Privilege::Machine);
    assert_eq!(h.mstatus() & (MPP | MPRV), MPRV);
}

#[test]
fn privileged_instructions_are_trapped_as_mstatus_says() {
    let mut h = ready();
    enter(&mut h, Privilege::Supervisor);
    for op in [Op::SfenceVma, Op::SinvalVma, Op::SfenceWInval, Op::SfenceInvalIr, Op::Wfi, Op::WrsNto] {
        assert_eq!(run(&mut h, op, 0, 0, 0), Ok(()), "{op:?}");
    }
    h.write_csr(csr::MSTATUS, TVM | TW | TSR);
    for (op, field) in [
        (Op::SfenceVma, "TVM"),
        (Op::SinvalVma, "TVM"),
        (Op::Wfi, "TW"),
        (Op::WrsNto, "TW"),
        (Op::Sret, "TSR"),
    ] {
        assert!(run(&mut h, op, 0, 0, 0).unwrap_err().why.contains(field), "{op:?}");
    }
    for op in [Op::SfenceWInval, Op::SfenceInvalIr, Op::WrsSto] {
        assert_eq!(run(&mut h, op, 0, 0, 0), Ok(()), "{op:?}");
    }
    h.write_csr(csr::MSTATUS, 0);
    enter(&mut h, Privilege::User);
    for op in [Op::SfenceVma, Op::SinvalVma, Op::SfenceWInval, Op::SfenceInvalIr, Op::Wfi] {
        assert!(run(&mut h, op, 0, 0, 0).unwrap_err().why.contains("U-mode"), "{op:?}");
    }
    h.write_csr(csr::MSTATUS, TVM | TW | TSR);
    enter(&mut h, Privilege::Machine);
    for op in [Op::SfenceVma, Op::SinvalVma, Op::Wfi, Op::WrsNto, Op::Sret] {
        assert_eq!(run(&mut h, op, 0, 0, 0), Ok(()), "{op:?}");
        enter(&mut h, Privilege::Machine);
    }
}

#[test]
fn interrupts_are_taken_by_priority_and_vectored() {
    let mut h = ready();
    h.write_csr(csr::MTVEC, HANDLER | 1);
    h.write_csr(csr::MIE, u64::MAX);
    h.write_csr(csr::MIP, SSI | STI | SEI);
    platform(&mut h).msip[0] = true;
    platform(&mut h).mtimecmp[0] = 0;
    let mut taken = Vec::new();
    for clear in [MSI, MTI, SEI, SSI, STI] {
        h.write_csr(csr::MSTATUS, MIE);
        h.pc = AT;
        h.take_interrupt();
        let cause = h.read_csr(csr::MCAUSE).unwrap();
        assert_eq!(cause >> 63, 1);
        assert_eq!(h.pc, HANDLER + 4 * (cause & 0xff), "vectored");
        assert_eq!(state(&h, M_TRAP), [AT, cause, 0]);
        taken.push(cause & 0xff);
        match clear {
            MSI => platform(&mut h).msip[0] = false,
            MTI => platform(&mut h).mtimecmp[0] = u64::MAX,
            _ => h.write_csr(csr::MIP, h.read_csr(csr::MIP).unwrap() & !clear),
        }
    }
    assert_eq!(taken, [3, 7, 9, 1, 5]);
    // Exceptions are not vectored.
    h.take_trap(&Trap::illegal(0, "")).unwrap();
    assert_eq!(h.pc, HANDLER);
}

#[test]
fn interrupts_wait_for_their_enables() {
    let mut h = ready();
    h.write_csr(csr::MIP, SSI);
    h.write_csr(csr::MIE, SSI);
    h.take_interrupt();
    assert_eq!(h.pc, AT, "MIE is off in M-mode");
    h.resync = false;
    h.write_csr(csr::MSTATUS, MIE);
    assert!(h.resync, "the engine is told at once");
    // Delegated, it is S-mode's: not taken in M-mode at all, in S-mode with SIE, in U-mode always.
    h.write_csr(csr::MIDELEG, SSI);
    h.take_interrupt();
    assert_eq!(h.pc, AT);
    enter(&mut h, Privilege::Supervisor);
    h.take_interrupt();
    assert_eq!(h.pc, AT, "SIE is off");
    enter(&mut h, Privilege::User);
    h.take_interrupt();
    assert_eq!((h.prv, h.pc), (Privilege::Supervisor, S_HANDLER));
    assert_eq!(state(&h, S_TRAP), [AT, 1 << 63 | 1, 0]);
    // In less privileged modes M-mode's interrupts are always on.
    h.write_csr(csr::MIDELEG, 0);
    h.write_csr(csr::MSTATUS, 0);
    h.take_interrupt();
    assert_eq!((h.prv, h.pc), (Privilege::Machine, HANDLER));
}

#[test]
fn a_trap_without_a_handler_ends_it() {
    let mut h = ready();
    h.write_csr(csr::MTVEC, 0);
    let trap = Trap::illegal(7, "why");
    assert_eq!(h.take_trap(&trap), Err(trap));
    assert_eq!((h.pc, h.read_csr(csr::MEPC)), (AT, Some(0)), "as it was");
    // S-mode's handler cannot be fetched, but M-mode's can, and is told.
    h.write_csr(csr::MTVEC, HANDLER);
    h.write_csr(csr::STVEC, 0);
    h.write_csr(csr::MEDELEG, 1 << 2);
    enter(&mut h, Privilege::User);
    assert_eq!(h.take_trap(&trap), Ok(()));
    assert_eq!((h.prv, h.pc), (Privilege::Supervisor, 0));
    let next = h.fetch_parcel(0).unwrap_err();
    h.take_trap(&next).unwrap();
    assert_eq!((h.prv, h.pc), (Privilege::Machine, HANDLER));
    // Unless that fault is S-mode's as well.
    h.write_csr(csr::MEDELEG, 1 << 2 | 1 << 1);
    enter(&mut h, Privilege::User);
    assert_eq!(h.take_trap(&trap), Err(trap));
}

#[test]
fn a_handler_that_traps_at_once_ends_it() {
    let mut h = ready();
    let trap = Trap::illegal(0, "");
    assert_eq!(h.take_trap(&trap), Ok(()));
    assert_eq!(h.take_trap(&trap), Ok(()), "the handler's own instruction, for the first time");
    assert_eq!((h.pc, h.read_csr(csr::MEPC)), (HANDLER, Some(HANDLER)));
    assert_eq!(h.take_trap(&trap), Err(trap), "and for the second, with nothing changed");
}

#[test]
fn wfi_lets_time_fly_to_the_timer() {
    let mut h = ready();
    platform(&mut h).mtimecmp[0] = 1_000_000;
    h.write_csr(csr::MIE, MTI);
    assert_eq!(h.instructions_to_timer(), 100_000_000);
    h.instret = 30;
    assert_eq!(h.instructions_to_timer(), 100_000_000 - 30);
    run(&mut h, Op::Wfi, 0, 0, 0).unwrap();
    assert_eq!(h.mtime(), 1_000_000);
    assert_eq!(h.mip() & MTI, MTI);
    assert_eq!(h.instructions_to_timer(), u64::MAX);
    // With an interrupt pending, or none to wait for, it does nothing.
    platform(&mut h).mtimecmp[0] = 2_000_000;
    h.write_csr(csr::MIE, MTI | SSI);
    h.write_csr(csr::MIP, SSI);
    run(&mut h, Op::Wfi, 0, 0, 0).unwrap();
    assert_eq!(h.mtime(), 1_000_000);
    h.write_csr(csr::MIE, 0);
    run(&mut h, Op::Wfi, 0, 0, 0).unwrap();
    assert_eq!(h.mtime(), 1_000_000);
}
