//! What atomics and cache-block operations need permission for, and how they fault.

use super::support::{DATA, hart, inst, run};
use rvv_isa::{Inst, csr};
use rvvsim::MemoryEvent;
use rvvsim::{Cause, Hart, Trap};
use rvvsim::{Privilege, RAM_BASE};

/// Bits of page-table entries.
const V: u64 = 1;
const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const A: u64 = 64;
const D: u64 = 128;

/// Virtual pages with these permissions, all of them leading to the page of [`DATA`].
const PAGES: [(u64, u64); 5] = [
    (READ_WRITE, V | R | W | A | D),
    (READ_ONLY, V | R | A | D),
    (EXECUTE_ONLY, V | X | A | D),
    (CLEAN, V | R | W | A),
    (UNMAPPED, 0),
];
const READ_WRITE: u64 = 0x1000;
const READ_ONLY: u64 = 0x2000;
const EXECUTE_ONLY: u64 = 0x3000;
const CLEAN: u64 = 0x4000;
const UNMAPPED: u64 = 0x5000;

const CLINT_MTIMECMP: u64 = 0x200_4000;
const NOWHERE: u64 = 0x4000_0000;

/// A hart in S-mode under Sv39 with [`PAGES`]; PMP lets everything pass.
fn supervisor() -> Hart {
    let mut h = hart();
    let [root, middle, leaf] = [RAM_BASE + 0x4000, RAM_BASE + 0x5000, RAM_BASE + 0x6000];
    let entry = |to: u64, bits: u64| to >> 12 << 10 | bits;
    h.store(root, entry(middle, V)).unwrap();
    h.store(middle, entry(leaf, V)).unwrap();
    for (va, bits) in PAGES {
        h.store(leaf + va / 0x1000 * 8, entry(DATA, bits)).unwrap();
    }
    h.write_csr(csr::PMPADDR0, u64::MAX);
    h.write_csr(csr::PMPCFG0, 0x1f);
    h.write_csr(csr::SATP, 8 << 60 | root >> 12);
    h.set_privilege(Privilege::Supervisor);
    h.flush_tlb();
    h
}

/// Runs an instruction on the address, registers 10 and 12 for `rd` and `rs2`, which must fault and change
/// nothing.
#[track_caller]
fn fault(h: &mut Hart, name: &str, address: u64) -> Trap {
    let memory = h.memory().to_vec();
    h.set_x(2, address);
    h.set_x(10, 99);
    h.set_x(11, 98);
    h.set_x(12, 97);
    let trap = run(h, &Inst { rd: 10, rs2: 12, ..inst(name) }).expect_err(name);
    assert_eq!(trap.tval, address, "{name}");
    assert_eq!((h.x(10), h.x(11)), (99, 98), "{name} wrote rd");
    assert!(h.memory() == memory, "{name} wrote memory");
    trap
}

#[track_caller]
fn succeed(h: &mut Hart, name: &str, address: u64) -> u64 {
    h.set_x(2, address);
    h.set_x(10, 99);
    h.set_x(11, 98);
    h.set_x(12, 97);
    run(h, &Inst { rd: 10, rs2: 12, ..inst(name) }).expect(name);
    h.x(10)
}

/// AMOs of every kind; the comparisons of `amocas` fail.
const AMOS: [&str; 6] = ["amoadd.w", "amoswap.d", "amominu.b", "amocas.h", "amocas.d", "amocas.q"];

#[test]
fn amos_need_to_read_and_write_and_always_fault_as_stores() {
    let mut h = supervisor();
    for name in AMOS {
        for page in [READ_ONLY, EXECUTE_ONLY, CLEAN, UNMAPPED] {
            assert_eq!(fault(&mut h, name, page + 16).cause, Cause::StorePageFault, "{name} {page:#x}");
        }
        succeed(&mut h, name, READ_WRITE + 16);
    }
}

#[test]
fn lr_needs_to_read_and_sc_to_write_even_if_it_fails() {
    let mut h = supervisor();
    for width in ["w", "d"] {
        let (lr, sc) = (format!("lr.{width}"), format!("sc.{width}"));
        assert_eq!(fault(&mut h, &lr, UNMAPPED).cause, Cause::LoadPageFault);
        assert_eq!(fault(&mut h, &lr, EXECUTE_ONLY).cause, Cause::LoadPageFault);
        succeed(&mut h, &lr, READ_ONLY);
        assert_eq!(fault(&mut h, &sc, READ_ONLY).cause, Cause::StorePageFault);
        h.clear_reservation();
        assert_eq!(fault(&mut h, &sc, READ_ONLY).cause, Cause::StorePageFault);
        assert_eq!(succeed(&mut h, &sc, READ_WRITE), 1);
        // The reservation is of the memory, not of the address it has.
        succeed(&mut h, &lr, READ_ONLY);
        assert_eq!(succeed(&mut h, &sc, READ_WRITE), 0);
    }
}

/// Locked PMP entries: from [`DATA`] to `end` as `permissions` say, the rest of memory free.
fn protect(h: &mut Hart, end: u64, permissions: u64) {
    const TOR: u64 = 1 << 3;
    const LOCKED: u64 = 1 << 7;
    let below = 0x7 | TOR;
    h.write_csr(csr::PMPADDR0, DATA >> 2);
    h.write_csr(csr::PMPADDR0 + 1, end >> 2);
    h.write_csr(csr::PMPCFG0, below | (permissions | TOR | LOCKED) << 8);
    h.flush_tlb();
}

#[test]
fn pmp_denies_amos_as_stores() {
    let mut h = hart();
    protect(&mut h, DATA + 0x1000, 0);
    for name in AMOS {
        assert_eq!(fault(&mut h, name, DATA).cause, Cause::StoreAccessFault, "{name}");
    }
    assert_eq!(fault(&mut h, "lr.d", DATA).cause, Cause::LoadAccessFault);
    assert_eq!(fault(&mut h, "sc.d", DATA).cause, Cause::StoreAccessFault);
    let mut h = hart();
    protect(&mut h, DATA + 0x1000, 1);
    for name in AMOS {
        assert_eq!(fault(&mut h, name, DATA).cause, Cause::StoreAccessFault, "{name}");
    }
    succeed(&mut h, "lr.d", DATA);
}

#[test]
fn pmp_is_asked_about_every_byte_before_any_is_written() {
    for (name, middle) in [("amoadd.d", 4), ("amocas.d", 4), ("sc.d", 4), ("amocas.q", 8), ("cbo.zero", 32)] {
        let mut h = hart();
        for at in (0..64).step_by(8) {
            h.store(DATA + at, 5u64).unwrap();
        }
        // Everything up to the middle of the operand is allowed, and nothing behind it.
        h.write_csr(csr::PMPADDR0, (DATA + middle) >> 2);
        h.write_csr(csr::PMPADDR0 + 1, (DATA + 0x1000) >> 2);
        h.write_csr(csr::PMPCFG0, 0x8f | 0x88 << 8);
        h.flush_tlb();
        assert_eq!(fault(&mut h, name, DATA).cause, Cause::StoreAccessFault, "{name}");
    }
}

#[test]
fn there_are_no_atomics_where_there_is_no_memory() {
    let mut h = hart();
    for name in AMOS {
        assert_eq!(fault(&mut h, name, NOWHERE).cause, Cause::StoreAccessFault, "{name}");
    }
    assert_eq!(fault(&mut h, "lr.w", NOWHERE).cause, Cause::LoadAccessFault);
    assert_eq!(fault(&mut h, "sc.w", NOWHERE).cause, Cause::StoreAccessFault);
}

#[test]
fn devices_take_amos_but_cannot_be_reserved() {
    let mut h = hart();
    h.store(CLINT_MTIMECMP, 1234u64).unwrap();
    assert_eq!(succeed(&mut h, "amoswap.d", CLINT_MTIMECMP), 1234);
    assert_eq!(h.load::<u64>(CLINT_MTIMECMP).unwrap(), 97);
    assert_eq!(fault(&mut h, "lr.d", CLINT_MTIMECMP).cause, Cause::LoadAccessFault);
    assert_eq!(fault(&mut h, "sc.d", CLINT_MTIMECMP).cause, Cause::StoreAccessFault);
}

#[test]
fn an_amo_shows_its_load_and_its_store_in_the_log() {
    let mut h = hart();
    h.start_log();
    succeed(&mut h, "amoadd.w", DATA);
    let expected =
        [MemoryEvent::Load { va: DATA, size: 4 }, MemoryEvent::Store { va: DATA, size: 4, value: 97 }];
    assert_eq!(h.take_log().memory, expected);
}

#[test]
fn cbo_zero_clears_the_block_around_the_address() {
    for within in [0, 1, 40, 63] {
        let mut h = hart();
        for at in (0..192).step_by(8) {
            h.store(DATA + at, u64::MAX).unwrap();
        }
        succeed(&mut h, "cbo.zero", DATA + 64 + within);
        for at in (0..192).step_by(8) {
            let expected = if (64..128).contains(&at) { 0 } else { u64::MAX };
            assert_eq!(h.load::<u64>(DATA + at).unwrap(), expected, "{within}, {at}");
        }
    }
}

#[test]
fn cbo_zero_needs_to_write() {
    let mut h = supervisor();
    h.write_csr(csr::MENVCFG, 0xf0);
    for page in [READ_ONLY, EXECUTE_ONLY, CLEAN, UNMAPPED] {
        // tval is the address given, not that of the block.
        assert_eq!(fault(&mut h, "cbo.zero", page + 65).cause, Cause::StorePageFault, "{page:#x}");
    }
    succeed(&mut h, "cbo.zero", READ_WRITE + 65);
    assert_eq!(fault(&mut hart(), "cbo.zero", NOWHERE).cause, Cause::StoreAccessFault);
    assert_eq!(fault(&mut hart(), "cbo.zero", CLINT_MTIMECMP).cause, Cause::StoreAccessFault);
}

#[test]
fn cache_block_management_needs_to_read_and_faults_as_a_store() {
    for name in ["cbo.clean", "cbo.flush", "cbo.inval"] {
        let mut h = supervisor();
        h.write_csr(csr::MENVCFG, 0xf0);
        for page in [EXECUTE_ONLY, UNMAPPED] {
            assert_eq!(fault(&mut h, name, page + 3).cause, Cause::StorePageFault, "{name} {page:#x}");
        }
        // "Does not check the dirty bit and neither raises an exception nor sets the bit."
        let memory = h.memory().to_vec();
        for page in [READ_WRITE, READ_ONLY, CLEAN] {
            succeed(&mut h, name, page + 3);
        }
        assert!(h.memory() == memory, "{name} changed memory");
        assert_eq!(fault(&mut hart(), name, NOWHERE).cause, Cause::StoreAccessFault);
        let mut h = hart();
        protect(&mut h, DATA + 0x1000, 0);
        assert_eq!(fault(&mut h, name, DATA + 3).cause, Cause::StoreAccessFault);
    }
}

/// The conditions of section "CSR controls for CMO instructions", for every mode and value of the fields.
#[test]
fn envcfg_says_which_modes_may_run_cache_block_operations() {
    let fields = [("cbo.inval", 4, 3), ("cbo.clean", 6, 1), ("cbo.flush", 6, 1), ("cbo.zero", 7, 1)];
    for (name, at, width) in fields {
        for (m, s) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for mode in [Privilege::Machine, Privilege::Supervisor, Privilege::User] {
                let mut h = hart();
                h.write_csr(csr::PMPADDR0, u64::MAX);
                h.write_csr(csr::PMPCFG0, 0x1f);
                h.write_csr(csr::MENVCFG, (m * width) << at);
                h.write_csr(csr::SENVCFG, (s * width) << at);
                h.set_privilege(mode);
                let allowed = match mode {
                    Privilege::Machine => true,
                    Privilege::Supervisor => m == 1,
                    Privilege::User => m == 1 && s == 1,
                };
                h.set_x(2, DATA);
                let result = run(&mut h, &Inst { raw: 0xabcd, ..inst(name) });
                let context = format!("{name} menvcfg {m} senvcfg {s} in {mode:?}");
                match result {
                    Ok(()) => assert!(allowed, "{context}"),
                    Err(trap) => {
                        assert!(!allowed, "{context}");
                        assert_eq!((trap.cause, trap.tval), (Cause::IllegalInstruction, 0xabcd), "{context}");
                    }
                }
            }
        }
    }
}
