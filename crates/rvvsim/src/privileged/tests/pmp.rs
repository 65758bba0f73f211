use super::super::pmp::Pmp;
use super::super::status::*;
use super::*;
use crate::mem::Access::{Fetch, Load, Store};
use crate::mem::Target;
use rvv_isa::csr;

const M: Privilege = Privilege::Machine;
const S: Privilege = Privilege::Supervisor;

/// Entries from (configuration byte, pmpaddr) pairs, from entry 0 on; the rest is off.
fn pmp(entries: &[(u8, u64)]) -> Pmp {
    let mut pmp = Pmp::default();
    pmp.write_cfg(0, 0);
    let mut cfg = [0; 8];
    for (i, &(byte, addr)) in entries.iter().enumerate() {
        assert!(pmp.write_addr(i, addr));
        cfg[i] = byte;
    }
    pmp.write_cfg(0, u64::from_le_bytes(cfg));
    pmp
}

const TOR: u8 = 0x08;
const NA4: u8 = 0x10;
const NAPOT: u8 = 0x18;
const RW: u8 = 3;
const RX: u8 = 5;
const L: u8 = 0x80;

#[test]
fn at_reset_all_is_open() {
    let p = Pmp::default();
    for access in [Load, Store, Fetch] {
        assert!(p.allows(0, 8, access, Privilege::User));
        assert!(p.allows((1 << 56) - 8, 8, access, Privilege::User));
    }
    assert_eq!((p.read_cfg(0), p.read_addr(0)), (0x1f, (1 << 54) - 1));
}

#[test]
fn without_a_match_only_machine_mode_passes() {
    let p = pmp(&[]);
    assert!(p.allows(0x8000_0000, 8, Load, M));
    assert!(!p.allows(0x8000_0000, 8, Load, S));
}

#[test]
fn each_way_of_matching_covers_its_range() {
    // NA4 at 0x1000; NAPOT of 8 bytes at 0x2000 and of 64 at 0x3000; TOR from 0x4000 to 0x5000.
    let p = pmp(&[
        (NA4 | RW, 0x1000 >> 2),
        (NAPOT | RW, 0x2000 >> 2),
        (NAPOT | RX, 0x3000 >> 2 | 7),
        (0, 0x4000 >> 2),
        (TOR | RW, 0x5000 >> 2),
    ]);
    let covered = |pa, access| p.allows(pa, 1, access, S);
    for (first, past, access) in
        [(0x1000, 0x1004, Store), (0x2000, 0x2008, Store), (0x3000, 0x3040, Fetch), (0x4000, 0x5000, Load)]
    {
        assert!(!covered(first - 1, access), "{first:#x}");
        assert!(covered(first, access) && covered(past - 1, access), "{first:#x}");
        assert!(!covered(past, access), "{first:#x}");
    }
    assert!(!covered(0x3000, Store) && !covered(0x4000, Fetch));
}

#[test]
fn the_first_entry_to_match_any_byte_decides_and_must_match_all() {
    // The manual's example: four bytes at 0xC, an access of eight at 0x8.
    let p = pmp(&[(NA4 | RW, 0xc >> 2), (NAPOT | RW | 4, 0x3fff_ffff)]);
    assert!(p.allows(0xc, 4, Load, S));
    assert!(!p.allows(0x8, 8, Load, S));
    assert!(!p.allows(0x8, 8, Load, M), "irrespective of the L, R, W, and X bits");
    assert!(p.allows(0x10, 8, Load, S));
    // Entry 0 denies what entry 1 would permit.
    let p = pmp(&[(NAPOT, 0x1000 >> 2), (NAPOT | RW, 0x3fff_ffff)]);
    assert!(!p.allows(0x1000, 8, Load, S));
    assert!(p.allows(0x1000, 8, Load, M));
    assert!(p.allows(0x1008, 8, Load, S));
}

#[test]
fn tor_with_nothing_between_matches_nothing() {
    let p = pmp(&[(0, 0x1000 >> 2), (TOR | RW, 0x1000 >> 2), (TOR, 0x800 >> 2)]);
    assert!(!p.allows(0xffc, 8, Load, S));
    assert!(p.allows(0xffc, 8, Load, M));
    assert!(p.is_uniform(0) && p.is_uniform(0x1000));
    let from_zero = pmp(&[(TOR | RW, 0x1000 >> 2)]);
    assert!(from_zero.allows(0, 8, Load, S));
}

#[test]
fn locked_entries_bind_machine_mode_and_cannot_be_changed() {
    let mut p = pmp(&[(0, 0x1000 >> 2), (TOR | L | 1, 0x2000 >> 2), (RW, 0x3000 >> 2)]);
    assert!(p.allows(0x1800, 4, Load, M));
    assert!(!p.allows(0x1800, 4, Store, M));
    assert!(!p.write_addr(1, 0), "locked");
    assert!(!p.write_addr(0, 0), "the bottom of a locked TOR entry");
    assert!(p.write_addr(2, 1));
    p.write_cfg(0, 0);
    assert_eq!(p.read_cfg(0), u64::from(TOR | L | 1) << 8);
}

#[test]
fn configuration_bytes_are_warl() {
    let mut p = pmp(&[]);
    // W without R is reserved; bits 5 and 6 are zero.
    p.write_cfg(0, 0x7206);
    assert_eq!(p.read_cfg(0), 0x1004);
    assert!(p.write_cfg(2, u64::MAX));
    assert_eq!(p.read_cfg(2), 0x9f9f_9f9f_9f9f_9f9f);
    assert!(!p.write_cfg(4, u64::MAX), "only sixteen entries");
    assert_eq!((p.read_cfg(4), p.read_addr(16)), (0, 0));
    p.write_addr(3, u64::MAX);
    assert_eq!(p.read_addr(3), (1 << 54) - 1);
}

#[test]
fn a_page_is_uniform_unless_the_first_entry_there_splits_it() {
    let p = pmp(&[(NAPOT, 0x1000 >> 2), (NAPOT, 0x3000 >> 2 | 0x1ff), (NAPOT, 0x3800 >> 2)]);
    assert!(!p.is_uniform(0x1ff8));
    assert!(p.is_uniform(0x2000));
    assert!(p.is_uniform(0x3000), "entry 2 has no say in what entry 1 covers");
}

#[test]
fn accesses_on_a_split_page_are_checked_each_and_whole() {
    let mut h = hart();
    let page = RAM_BASE + 0x3000;
    // From page + 0x40 on, U-mode may read and write, up to the end of memory; below, read only.
    h.write_csr(csr::PMPADDR0, page >> 2 | 7);
    h.write_csr(csr::PMPADDR0 + 1, u64::MAX);
    h.write_csr(csr::PMPCFG0, u64::from(NAPOT | 1) | u64::from(NAPOT | RW) << 8);
    enter(&mut h, Privilege::User);
    for _ in 0..2 {
        assert_eq!(h.load::<u64>(page), Ok(0));
        assert_eq!(h.store(page + 0x40, 1u64), Ok(()));
        let cause = |r: Exec| r.err().map(|t| (t.cause, t.tval));
        assert_eq!(cause(h.store(page + 0x38, 1u64)), Some((Cause::StoreAccessFault, page + 0x38)));
        assert_eq!(cause(h.store(page + 0x3c, 1u64)), Some((Cause::StoreAccessFault, page + 0x3c)));
        assert_eq!(cause(h.load::<u64>(page + 0x3c).map(drop)), Some((Cause::LoadAccessFault, page + 0x3c)));
        assert_eq!(h.fetch_parcel(page).map_err(|t| t.cause), Err(Cause::InstructionAccessFault));
    }
    assert_eq!(h.ram_run(page, 64, Load), Ok(None), "vector memory goes element by element");
    let whole = page + 0x1000;
    assert_eq!(h.ram_run(whole, 64, Load), Ok(Some(0x4000)));
}

#[test]
fn page_tables_must_be_permitted_to_supervisor_mode() {
    let mut h = hart();
    let table = RAM_BASE + 0x10_0000;
    // A gigapage over RAM: valid, readable, writable, accessed, dirty.
    h.ram.write(0x10_0010, RAM_BASE >> 12 << 10 | 0xc7u64);
    h.write_csr(csr::SATP, 8 << 60 | table >> 12);
    h.prv = Privilege::Supervisor;
    h.flush_tlb();
    assert_eq!(h.translate(RAM_BASE, Load), Ok(Target::Ram(0)));
    h.write_csr(csr::PMPADDR0, table >> 2 | 0x1ff);
    h.write_csr(csr::PMPADDR0 + 1, u64::MAX);
    h.write_csr(csr::PMPCFG0, u64::from(NAPOT) | 0x1f00);
    for (access, cause) in [
        (Load, Cause::LoadAccessFault),
        (Store, Cause::StoreAccessFault),
        (Fetch, Cause::InstructionAccessFault),
    ] {
        let trap = h.translate(RAM_BASE, access).unwrap_err();
        assert_eq!((trap.cause, trap.tval), (cause, RAM_BASE));
    }
    // Readable is enough, until a bit in it has to be set.
    h.write_csr(csr::PMPCFG0, u64::from(NAPOT | 1) | 0x1f00);
    assert_eq!(h.translate(RAM_BASE, Store), Ok(Target::Ram(0)));
    h.ram.write(0x10_0010, RAM_BASE >> 12 << 10 | 0x47u64);
    h.write_csr(csr::MENVCFG, ADUE);
    assert_eq!(h.translate(RAM_BASE, Load), Ok(Target::Ram(0)));
    assert_eq!(h.translate(RAM_BASE, Store).map_err(|t| t.cause), Err(Cause::StoreAccessFault));
}

#[test]
fn changing_pmp_is_seen_by_the_next_access() {
    let mut h = hart();
    enter(&mut h, Privilege::User);
    assert_eq!(h.load::<u64>(RAM_BASE), Ok(0));
    h.write_csr(csr::PMPCFG0, 0);
    assert_eq!(h.load::<u64>(RAM_BASE).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
}
