use super::super::status::*;
use super::*;
use crate::mem::Access::{Fetch, Load, Store};
use crate::mem::{Access, Target};
use rvv_isa::csr;

const V: u64 = 1;
const R: u64 = 2;
const W: u64 = 4;
const X: u64 = 8;
const U: u64 = 0x10;
const A: u64 = 0x40;
const D: u64 = 0x80;
const N: u64 = 1 << 63;
const KERNEL: u64 = V | R | W | X | A | D;
const USER: u64 = KERNEL | U;

/// Where the page tables are: table `i` is the `i`th page from here.
const TABLES: u64 = RAM_BASE + 0x10_0000;

fn pte(pa: u64, flags: u64) -> u64 {
    pa >> 12 << 10 | flags
}

struct Vm {
    h: Hart,
    levels: u32,
}

/// A hart in S-mode with `levels` of page table: entry `vpn[i]` of table `i`, counted from the root, points
/// to table `i + 1`.
fn vm(levels: u32, va: u64) -> Vm {
    let mut h = hart();
    h.write_csr(csr::SATP, u64::from(levels + 5) << 60 | TABLES >> 12);
    h.prv = Privilege::Supervisor;
    let mut vm = Vm { h, levels };
    for i in 0..levels - 1 {
        vm.set(va, i, pte(TABLES + 0x1000 * u64::from(i + 1), V));
    }
    vm
}

impl Vm {
    fn entry(&self, va: u64, table: u32) -> usize {
        let shift = 12 + 9 * (self.levels - 1 - table);
        (TABLES - RAM_BASE + 0x1000 * u64::from(table) + (va >> shift & 0x1ff) * 8) as usize
    }

    /// Sets the entry for `va` in table `table`.
    fn set(&mut self, va: u64, table: u32, pte: u64) {
        let at = self.entry(va, table);
        self.h.ram.write(at, pte);
        self.h.flush_tlb();
    }

    fn get(&self, va: u64, table: u32) -> u64 {
        self.h.ram.read(self.entry(va, table)).unwrap()
    }

    /// The RAM offset, or the cause of the fault.
    fn to(&mut self, va: u64, access: Access) -> Result<usize, Cause> {
        match self.h.translate(va, access) {
            Ok(Target::Ram(offset)) => Ok(offset),
            Ok(Target::Device(pa)) => panic!("device at {pa:#x}"),
            Err(trap) => {
                assert_eq!(trap.tval, va);
                Err(trap.cause)
            }
        }
    }

    /// Which of load, store and fetch pass; faults are page faults of their kind.
    fn rights(&mut self, va: u64) -> [bool; 3] {
        [(Load, Cause::LoadPageFault), (Store, Cause::StorePageFault), (Fetch, Cause::InstructionPageFault)]
            .map(|(access, fault)| match self.to(va, access) {
                Ok(_) => true,
                Err(cause) => {
                    assert_eq!(cause, fault);
                    false
                }
            })
    }
}

/// An address with a different index at each level, sign-extended.
fn address(levels: u32) -> u64 {
    match levels {
        3 => 0xffff_ffe0_8060_5123,
        4 => 0xffff_9010_0040_5123,
        _ => 0xff22_0120_0040_5123,
    }
}

#[test]
fn each_mode_finds_its_pages_and_superpages() {
    for levels in 3..=5 {
        let va = address(levels);
        let mut m = vm(levels, va);
        m.set(va, levels - 1, pte(RAM_BASE + 0x3000, KERNEL));
        assert_eq!(m.to(va, Load), Ok(0x3123), "Sv{}", 12 + 9 * levels);
        // A superpage of 2 MiB one level up: 21 bits come from the address.
        m.set(va, levels - 2, pte(RAM_BASE + 0x20_0000, KERNEL));
        assert_eq!(m.to(va, Store), Ok(0x20_0000 + (va & 0x1f_ffff) as usize));
        m.set(va, levels - 2, pte(RAM_BASE + 0x20_1000, KERNEL));
        assert_eq!(m.to(va, Store), Err(Cause::StorePageFault), "misaligned superpage");
        // And of 1 GiB.
        m.set(va, levels - 3, pte(RAM_BASE, KERNEL));
        let offset = va & 0x3fff_ffff;
        let expected = if offset < MEM { Ok(offset as usize) } else { Err(Cause::InstructionAccessFault) };
        assert_eq!(m.to(va, Fetch), expected);
        m.set(va, levels - 3, pte(RAM_BASE + 0x20_0000, KERNEL));
        assert_eq!(m.to(va, Fetch), Err(Cause::InstructionPageFault), "misaligned superpage");
    }
}

#[test]
fn upper_bits_must_repeat_the_highest_translated_one() {
    for levels in 3..=5 {
        let va = address(levels);
        let mut m = vm(levels, va);
        m.set(va, levels - 1, pte(RAM_BASE, KERNEL));
        let bits = 12 + 9 * levels;
        assert_eq!(m.to(va, Load), Ok(0x123));
        for bit in bits..64 {
            assert_eq!(m.to(va ^ 1 << bit, Load), Err(Cause::LoadPageFault), "bit {bit}");
        }
    }
}

#[test]
fn bare_satp_and_machine_mode_do_not_translate() {
    let mut m = vm(3, 0);
    m.h.write_csr(csr::SATP, 0);
    assert_eq!(m.to(RAM_BASE + 5, Load), Ok(5));
    assert_eq!(m.to(0x4000_0000, Load), Err(Cause::LoadAccessFault));
    assert_eq!(m.to(RAM_BASE + MEM, Store), Err(Cause::StoreAccessFault));
    assert_eq!(m.to(RAM_BASE - 1, Fetch), Err(Cause::InstructionAccessFault));
    m.h.write_csr(csr::SATP, 8 << 60 | TABLES >> 12);
    assert_eq!(m.to(RAM_BASE + 5, Load), Err(Cause::LoadPageFault));
    m.h.prv = Privilege::Machine;
    assert_eq!(m.to(RAM_BASE + 5, Load), Ok(5));
}

#[test]
fn permissions_follow_the_bits() {
    let mut m = vm(3, 0x5000);
    for (flags, expected) in [
        (V | R, [true, false, false]),
        (V | R | W, [true, true, false]),
        (V | X, [false, false, true]),
        (V | R | X, [true, false, true]),
        (V | R | W | X, [true; 3]),
        // Reserved, or not valid.
        (V | W, [false; 3]),
        (V | W | X, [false; 3]),
        (R | W | X, [false; 3]),
        // A pointer where there is no next level.
        (V, [false; 3]),
    ] {
        let ad = if flags == V { 0 } else { A | D };
        m.set(0x5000, 2, pte(RAM_BASE, flags | ad));
        assert_eq!(m.rights(0x5000), expected, "{flags:#x}");
    }
    // MXR makes executable pages readable.
    m.set(0x5000, 2, pte(RAM_BASE, V | X | A | D));
    m.h.write_csr(csr::MSTATUS, MXR);
    assert_eq!(m.rights(0x5000), [true, false, true]);
}

#[test]
fn user_pages_are_for_users() {
    let mut m = vm(3, 0x5000);
    m.set(0x5000, 2, pte(RAM_BASE, USER));
    assert_eq!(m.rights(0x5000), [false; 3], "S-mode without SUM");
    m.h.write_csr(csr::MSTATUS, SUM);
    assert_eq!(m.rights(0x5000), [true, true, false], "S-mode with SUM never executes them");
    m.h.prv = Privilege::User;
    assert_eq!(m.rights(0x5000), [true; 3]);
    m.set(0x5000, 2, pte(RAM_BASE, KERNEL));
    assert_eq!(m.rights(0x5000), [false; 3], "and others are not");
}

#[test]
fn mprv_lends_data_accesses_the_mode_of_mpp() {
    let mut m = vm(3, 0x5000);
    m.set(0x5000, 2, pte(RAM_BASE + 0x3000, USER));
    m.h.prv = Privilege::Machine;
    m.h.write_csr(csr::MSTATUS, MPRV);
    assert_eq!(m.to(0x5000, Load), Ok(0x3000));
    assert_eq!(m.to(0x5000, Fetch), Err(Cause::InstructionAccessFault), "fetches are not affected");
    m.h.write_csr(csr::MSTATUS, MPRV | 1 << 11);
    assert_eq!(m.to(0x5000, Load), Err(Cause::LoadPageFault), "as S-mode, without SUM");
    m.h.write_csr(csr::MSTATUS, MPRV | MPP);
    assert_eq!(m.to(RAM_BASE, Load), Ok(0));
    // The TLB does not outlive the change.
    m.h.write_csr(csr::MSTATUS, MPRV);
    m.h.ram.write(0x3000, 77u64);
    assert_eq!(m.h.load::<u64>(0x5000), Ok(77));
    m.h.write_csr(csr::MSTATUS, 0);
    assert_eq!(m.h.load::<u64>(0x5000).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
}

#[test]
fn accessed_and_dirty_bits_fault_or_are_set() {
    let mut m = vm(3, 0x5000);
    let flags = V | R | W | X;
    m.set(0x5000, 2, pte(RAM_BASE, flags));
    assert_eq!(m.rights(0x5000), [false; 3], "A is clear");
    m.set(0x5000, 2, pte(RAM_BASE, flags | A));
    assert_eq!(m.rights(0x5000), [true, false, true], "D is clear");
    m.set(0x5000, 2, pte(RAM_BASE, flags));
    m.h.write_csr(csr::MENVCFG, ADUE);
    assert_eq!(m.to(0x5000, Fetch), Ok(0));
    assert_eq!(m.get(0x5000, 2), pte(RAM_BASE, flags | A));
    assert_eq!(m.to(0x5000, Store), Ok(0));
    assert_eq!(m.get(0x5000, 2), pte(RAM_BASE, flags | A | D));
    // What is not permitted sets nothing.
    m.set(0x5000, 2, pte(RAM_BASE, V | R));
    assert_eq!(m.to(0x5000, Store), Err(Cause::StorePageFault));
    assert_eq!(m.get(0x5000, 2), pte(RAM_BASE, V | R));
    // A load that was remembered does not let a store pass without the dirty bit.
    m.set(0x5000, 2, pte(RAM_BASE, flags));
    assert_eq!(m.h.load::<u64>(0x5000), Ok(0));
    assert_eq!(m.get(0x5000, 2), pte(RAM_BASE, flags | A));
    assert_eq!(m.h.store(0x5000, 1u64), Ok(()));
    assert_eq!(m.get(0x5000, 2), pte(RAM_BASE, flags | A | D));
}

#[test]
fn reserved_bits_fault() {
    let mut m = vm(3, 0x5000);
    for bit in 54..=60 {
        m.set(0x5000, 2, pte(RAM_BASE, KERNEL) | 1 << bit);
        assert_eq!(m.rights(0x5000), [false; 3], "bit {bit}");
    }
    // Memory types exist once PBMTE is set; 3 is reserved for good.
    for (pbmt, enabled) in [(1, true), (2, true), (3, false)] {
        m.set(0x5000, 2, pte(RAM_BASE, KERNEL) | pbmt << 61);
        m.h.write_csr(csr::MENVCFG, 0);
        assert_eq!(m.rights(0x5000), [false; 3]);
        m.h.write_csr(csr::MENVCFG, PBMTE);
        assert_eq!(m.rights(0x5000), [enabled; 3], "PBMT {pbmt}");
    }
    // A pointer has no D, A, U, N or memory type.
    m.set(0x5000, 2, pte(RAM_BASE, KERNEL));
    for bits in [D, A, U, N, 1 << 61] {
        m.set(0x5000, 1, pte(TABLES + 0x2000, V | bits));
        assert_eq!(m.rights(0x5000), [false; 3], "{bits:#x}");
    }
    m.set(0x5000, 1, pte(TABLES + 0x2000, V));
    assert_eq!(m.rights(0x5000), [true; 3]);
}

#[test]
fn napot_entries_map_sixteen_pages() {
    let mut m = vm(3, 0x1_5678);
    let va = 0x1_5678;
    let napot = |pa| pte(pa, KERNEL) | N;
    m.set(va, 2, napot(RAM_BASE + 0x4_8000));
    assert_eq!(m.to(va, Load), Ok(0x4_5678), "four bits of the page number come from the address");
    for low in [0, 1, 2, 4, 9, 0xc] {
        m.set(va, 2, napot(RAM_BASE + 0x4_0000 + low * 0x1000));
        assert_eq!(m.to(va, Load), Err(Cause::LoadPageFault), "{low:#x} is reserved");
    }
    // Not for superpages: page 8 of 512 would be a misaligned one anyway, so this is an aligned one.
    m.set(va, 1, napot(RAM_BASE));
    assert_eq!(m.to(va, Load), Err(Cause::LoadPageFault));
}

#[test]
fn a_page_table_outside_memory_is_an_access_fault() {
    let mut m = vm(3, 0x5000);
    m.set(0x5000, 0, pte(0x4000_0000, V));
    assert_eq!(m.to(0x5000, Load), Err(Cause::LoadAccessFault));
    assert_eq!(m.to(0x5000, Store), Err(Cause::StoreAccessFault));
    assert_eq!(m.to(0x5000, Fetch), Err(Cause::InstructionAccessFault));
}

#[test]
fn an_access_across_pages_faults_with_the_address_of_the_bad_one() {
    let mut m = vm(3, 0x5000);
    m.set(0x5000, 2, pte(RAM_BASE + 0x7000, KERNEL));
    m.set(0x6000, 2, pte(RAM_BASE + 0x3000, KERNEL));
    m.h.ram.write(0x7ffc, 0x1111_1111u32);
    m.h.ram.write(0x3000, 0x2222_2222u32);
    assert_eq!(m.h.load::<u64>(0x5ffc), Ok(0x2222_2222_1111_1111));
    m.set(0x6000, 2, 0);
    let trap = m.h.load::<u64>(0x5ffc).unwrap_err();
    assert_eq!((trap.cause, trap.tval), (Cause::LoadPageFault, 0x6000));
    let trap = m.h.store(0x5ffc, 0u64).unwrap_err();
    assert_eq!((trap.cause, trap.tval), (Cause::StorePageFault, 0x6000));
    assert_eq!(m.h.ram.read(0x7ffc), Some(0x1111_1111u32), "nothing was written");
}

#[test]
fn only_what_changes_translation_moves_the_generation() {
    let mut h = hart();
    let before = h.tlb_generation;
    h.write_csr(csr::MSTATUS, FS | MIE | MPP | SUM | MXR | TVM);
    h.write_csr(csr::SATP, 8 << 60 | 1);
    h.write_csr(csr::MTVEC, RAM_BASE);
    assert_eq!(h.tlb_generation, before, "M-mode does not translate");
    run(&mut h, Op::Mret, 0, 0, 0).unwrap();
    assert_eq!(h.tlb_generation, before, "from M-mode to M-mode");
    run(&mut h, Op::Mret, 0, 0, 0).unwrap();
    assert_eq!(h.prv, Privilege::User);
    assert_ne!(h.tlb_generation, before);
}
