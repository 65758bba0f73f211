//! Host code of each vector instruction against the interpreter, one at a time: random streams rarely have
//! operands whose results are all numbers.

use crate::Hart;
use crate::config::{Agnostic, Config};
use crate::engine::Engine;
use crate::privileged::RAM_BASE;
use crate::test_support::{Random, checked_hart};
use crate::vector::translate;
use rvv_isa::{Eew, Inst, Lmul, Op, Sew, Vtype, encode};

const SEWS: [Sew; 4] = [Sew::E8, Sew::E16, Sew::E32, Sew::E64];
const LMULS: [Lmul; 5] = [Lmul::Mf2, Lmul::M1, Lmul::M2, Lmul::M4, Lmul::M8];
/// Where the code is, and the data of loads and stores, in RAM.
const CODE: usize = 0x1000;
const DATA: u64 = 0x10_0000;

fn hart(vlen: u32, policy: Agnostic) -> Hart {
    checked_hart(Config { vlen, mem: 2 << 20, tail: policy, mask: policy, ..Config::default() })
}

/// Registers and data of this width: numbers that mostly have numbers for results, or of any kind.
fn scramble(hart: &mut Hart, random: &mut Random, sew: Sew) {
    let size = sew.bits() as usize / 8;
    let tame = random.below(2) == 0;
    let mut value = || match (tame, size) {
        (true, 4) => u64::from((1.0 + random.below(1 << 20) as f32 / 4096.0).to_bits()),
        (true, 8) => (1.0 + random.below(1 << 40) as f64 / 4096.0).to_bits(),
        _ if random.below(8) == 0 => random.next(),
        _ => random.number(size),
    };
    for element in hart.v.registers_mut().chunks_mut(size) {
        element.copy_from_slice(&value().to_le_bytes()[..size]);
    }
    let scalar = value() | if size < 8 { !0 << (8 * size) } else { 0 };
    // Tails that are ones already, as they soon are under the random policy.
    if random.below(2) == 0 {
        let vlenb = hart.v.vlenb;
        for register in hart.v.registers_mut().chunks_mut(vlenb) {
            register[random.below(vlenb as u64 / 2) as usize..].fill(0xff);
        }
    }
    // A mask with both, mostly.
    for byte in &mut hart.v.regs[..hart.v.vlenb] {
        *byte = random.next() as u8;
    }
    hart.f[24] = scalar;
    hart.x[24] = random.next() >> random.below(64);
    (hart.v.vxrm, hart.frm) = (random.below(4) as u8, random.below(4) as u8);
    (hart.v.vxsat, hart.fflags) = (false, crate::fp::Flags::NONE);
}

#[test]
fn host_code_does_what_the_interpreter_does() {
    if !crate::jit::is_available() {
        return;
    }
    let mut random = Random(11);
    let cases = [
        (128, Agnostic::Undisturbed),
        (256, Agnostic::Undisturbed),
        (1024, Agnostic::Undisturbed),
        (4096, Agnostic::Undisturbed),
        (512, Agnostic::Ones),
        (256, Agnostic::Random(5)),
        (1024, Agnostic::Random(6)),
        (4096, Agnostic::Random(7)),
    ];
    for (vlen, policy) in cases {
        let (mut h, mut engine) = (hart(vlen, policy), Engine::default());
        let mut at = CODE;
        for op in Op::all().filter(|op| op.shape().vd != Eew::Absent || op.shape().vs2 != Eew::Absent) {
            for (sew, lmul) in SEWS.into_iter().flat_map(|sew| LMULS.map(|lmul| (sew, lmul))) {
                let vm = random.below(3) != 0;
                let inst =
                    Inst { rd: 8, rs2: 16, rs1: 24, imm: random.below(16) as i32, vm, ..Inst::new(op) };
                let vtype = Vtype::new(sew, lmul, random.below(2) == 0, random.below(2) == 0);
                let Ok(vi) = translate(&h.config, &inst, vtype) else { continue };
                scramble(&mut h, &mut random, sew);
                let is_memory = op.shape().memory.is_some();
                if is_memory {
                    // Aligned mostly, and near the end of a page.
                    let offset = [0, 0x40, 0xf80, 0xff8][random.below(4) as usize] + random.below(8) / 7;
                    h.x[24] = RAM_BASE + DATA + offset;
                    h.x[16] = random.below(64);
                    h.load::<u8>(h.x[24]).unwrap();
                    h.store::<u8>(h.x[24], 7).unwrap();
                    // The next page may be known, too.
                    if random.below(2) == 0 {
                        h.load::<u8>(h.x[24] + 0x1000).unwrap();
                        h.store::<u8>(h.x[24] + 0x1000, 7).unwrap();
                    }
                }
                // AVL in a register, VLMAX mostly; or an immediate.
                h.x[6] = [u64::from(vi.vlmax), random.below(u64::from(vi.vlmax) + 1)]
                    [random.below(4) as usize / 3];
                let (rs1, set) = match random.below(3) {
                    0 => (random.below(32) as u8, Op::Vsetivli),
                    _ => (6, Op::Vsetvli),
                };
                let set = Inst { rd: 5, rs1, imm: vtype.to_bits() as i32, ..Inst::new(set) };
                // jal x0, 0
                for (n, word) in [encode(&set).unwrap(), encode(&inst).unwrap(), 0x6f].into_iter().enumerate()
                {
                    h.ram.write(at + 4 * n, word).unwrap();
                }
                h.pc = RAM_BASE + at as u64;
                h.retired_in_block = 0;
                engine.run(&mut h, 3);
                if let Some(difference) = engine.difference() {
                    panic!("{} {vtype:?} vm={vm} VLEN {vlen} {policy:?}: {difference}", op.name());
                }
                // Each at an address of its own, as long as there are any.
                at = if at + 32 < DATA as usize { at + 16 } else { CODE };
                if at == CODE {
                    h.ram.note_write(CODE, DATA as usize - CODE);
                }
            }
        }
        assert!(engine.compiled().blocks > 3000, "{:?}", engine.compiled());
    }
}

/// Several instructions in a block, whose results are kept in host registers, with loads between them that
/// miss the TLB, so that helpers are called.
#[test]
fn host_code_of_several_instructions_does_what_the_interpreter_does() {
    if !crate::jit::is_available() {
        return;
    }
    let mut random = Random(17);
    let ops: Vec<Op> = Op::all()
        .filter(|op| op.shape().vd != Eew::Absent && !matches!(op.shape().vd, Eew::Registers(_)))
        .collect();
    let random_tails = Agnostic::Random(9);
    let undisturbed = Agnostic::Undisturbed;
    let cases = [
        (128, undisturbed),
        (256, undisturbed),
        (1024, undisturbed),
        (4096, undisturbed),
        (256, random_tails),
        (512, random_tails),
    ];
    for (vlen, policy) in cases {
        let (mut h, mut engine) = (hart(vlen, policy), Engine::default());
        let mut at = CODE;
        for _ in 0..1500 {
            let sew = SEWS[random.below(4) as usize];
            let lmul = [Lmul::M1, Lmul::M2, Lmul::M4][random.below(3) as usize];
            let vtype = Vtype::new(sew, lmul, true, random.below(2) == 0);
            let vlmax = u64::from(vtype.vlmax(vlen));
            scramble(&mut h, &mut random, sew);
            h.x[6] = [vlmax, 2 * vlmax, 1 + random.below(vlmax)][random.below(3) as usize];
            h.x[7] = RAM_BASE + DATA + 0x100;
            (h.x[16], h.x[24]) = (random.below(64), RAM_BASE + DATA + 64 * random.below(64));
            let set = Inst { rd: 5, rs1: 6, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) };
            let mut words = vec![encode(&set).unwrap()];
            while words.len() < 9 {
                if random.below(8) == 0 {
                    // ld x9, 0(x7)
                    words.push(0x0003_b483);
                    continue;
                }
                // Of a few groups, so that they are read again; x16 and x24 are an index and an address.
                let mut group = || [8, 12, 16, 24][random.below(4) as usize];
                let (rd, rs1, rs2) = (group(), group(), group());
                let op = ops[random.below(ops.len() as u64) as usize];
                let rs1 = if op.shape().memory.is_some() { 24 } else { rs1 };
                let imm = random.below(16) as i32;
                let inst = Inst { rd, rs2, rs1, imm, vm: random.below(4) != 0, ..Inst::new(op) };
                if translate(&h.config, &inst, vtype).is_ok() {
                    words.push(encode(&inst).unwrap());
                }
            }
            words.push(0x6f);
            for (n, word) in words.iter().enumerate() {
                h.ram.write(at + 4 * n, *word).unwrap();
            }
            h.flush_tlb();
            h.pc = RAM_BASE + at as u64;
            h.retired_in_block = 0;
            engine.run(&mut h, words.len() as u64);
            h.trap = None;
            if let Some(difference) = engine.difference() {
                panic!("{vtype:?} VLEN {vlen} {policy:?}: {difference}");
            }
            at = if at + 128 < DATA as usize { at + 64 } else { CODE };
            if at == CODE {
                h.ram.note_write(CODE, DATA as usize - CODE);
            }
        }
        assert!(engine.compiled().blocks > 1000, "{:?}", engine.compiled());
    }
}

/// What is expected of `vl` may be wrong: the interpreter goes on then, and in the end code is made for the
/// new one.
#[test]
fn another_vl_than_was_expected_is_no_difference() {
    if !crate::jit::is_available() {
        return;
    }
    let (mut h, mut engine) = (hart(256, Agnostic::Undisturbed), Engine::default());
    let vtype = Vtype::new(Sew::E32, Lmul::M1, true, true);
    let set = Inst { rd: 5, rs1: 6, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) };
    let add = Inst { rd: 8, rs1: 9, rs2: 8, ..Inst::new(Op::VaddVv) };
    for (n, word) in [encode(&set).unwrap(), encode(&add).unwrap(), 0x6f].into_iter().enumerate() {
        h.ram.write(CODE + 4 * n, word).unwrap();
    }
    h.v.register_mut(9).fill(1);
    for round in 0..600_u64 {
        // First VLMAX and more, then 4, then of all kinds.
        h.x[6] = [8 + round, 4, round % 20][round as usize / 200];
        h.pc = RAM_BASE + CODE as u64;
        h.retired_in_block = 0;
        engine.run(&mut h, 3);
        assert_eq!(engine.difference(), None);
        assert_eq!(h.v.vl, h.x[6].min(8), "round {round}");
    }
    assert!(engine.compiled().blocks >= 3, "made anew: {:?}", engine.compiled());
}

/// From now on data is accessed by virtual addresses: these pages of RAM are at 0x1000 and up.
fn map_data(h: &mut Hart, pages: &[usize]) {
    const TABLES: usize = 0x18_0000;
    let physical = |offset: usize| (RAM_BASE + offset as u64) >> 12;
    for level in 0..2 {
        h.ram.write(TABLES + 0x1000 * level, physical(TABLES + 0x1000 * (level + 1)) << 10 | 1).unwrap();
    }
    for (n, page) in pages.iter().enumerate() {
        // Readable, writable, accessed, dirty.
        h.ram.write(TABLES + 0x2000 + 8 * (n + 1), physical(*page) << 10 | 0xc7).unwrap();
    }
    h.write_csr(rvv_isa::csr::SATP, 8 << 60 | physical(TABLES));
    // Data is accessed as in supervisor mode, code as in machine mode.
    h.write_csr(rvv_isa::csr::MSTATUS, 1 << 17 | 1 << 11 | 3 << 13 | 3 << 9);
}

/// An access over the end of a page, where the next page of the guest is the next of the host or another.
#[test]
fn an_access_over_two_pages_finds_both_wherever_they_are() {
    if !crate::jit::is_available() {
        return;
    }
    // Three pages of addresses from 0x1000: the first two are side by side in RAM, the third is not.
    const PAGES: [usize; 3] = [0x10_0000, 0x10_1000, 0x10_8000];
    let (mut h, mut engine) = (hart(1024, Agnostic::Undisturbed), Engine::default());
    map_data(&mut h, &PAGES);
    let mut at = CODE;
    let mut random = Random(23);
    for op in [Op::Vle8V, Op::Vse8V, Op::Vle32V, Op::Vse32V, Op::Vle8ffV, Op::Vl4re8V, Op::Vs4rV] {
        for lmul in [Lmul::M1, Lmul::M4, Lmul::M8] {
            let vtype = Vtype::new(Sew::E8, lmul, true, true);
            let set = Inst { rd: 5, rs1: 0, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) };
            let inst = Inst { rd: 8, rs1: 24, ..Inst::new(op) };
            if translate(&h.config, &inst, vtype).is_err() {
                continue;
            }
            for (n, word) in [encode(&set).unwrap(), encode(&inst).unwrap(), 0x6f].into_iter().enumerate() {
                h.ram.write(at + 4 * n, word).unwrap();
            }
            for start in [0x1fc0_u64, 0x1f00, 0x1ffc, 0x2fc0, 0x2fff, 0x2c00, 0x2bfc, 0x3fc0] {
                for page in PAGES {
                    for byte in (page..page + 0x1000).step_by(8) {
                        h.ram.write(byte, random.next()).unwrap();
                    }
                }
                scramble(&mut h, &mut random, Sew::E8);
                for known in 0..3 {
                    h.flush_tlb();
                    // Both pages, one, or none.
                    for page in [start, start.next_multiple_of(0x1000)].into_iter().take(known) {
                        let _ = (h.load::<u8>(page), h.store::<u8>(page, 9));
                    }
                    h.x[24] = start;
                    h.pc = RAM_BASE + at as u64;
                    h.retired_in_block = 0;
                    engine.run(&mut h, 3);
                    h.trap = None;
                    assert_eq!(engine.difference(), None, "{} at {start:#x}, {lmul:?}", op.name());
                }
            }
            at += 16;
        }
    }
    assert!(engine.compiled().blocks > 15, "{:?}", engine.compiled());
}

/// Loads, arithmetic and a store, one after the other: large groups of them are executed together. With NaNs
/// here and there, memory that is stored to and loaded from, scalars that are no boxes, ends of pages.
#[test]
fn host_code_of_chains_does_what_the_interpreter_does() {
    if !crate::jit::is_available() {
        return;
    }
    let ops = [
        Op::VfaddVv,
        Op::VfsubVf,
        Op::VfrsubVf,
        Op::VfmulVv,
        Op::VfdivVv,
        Op::VfrdivVf,
        Op::VfsqrtV,
        Op::VfmaccVf,
        Op::VfmaccVv,
        Op::VfnmsacVv,
        Op::VfmaddVf,
        Op::VfnmaddVv,
        Op::VaddVv,
        Op::VaddVx,
        Op::VaddVi,
        Op::VrsubVi,
        Op::VsubVv,
        Op::VxorVv,
        Op::VmulVv,
        Op::VmaxVx,
        Op::VandnVv,
    ];
    let mut random = Random(29);
    let cases = [
        (512, Agnostic::Undisturbed),
        (1024, Agnostic::Undisturbed),
        (4096, Agnostic::Undisturbed),
        (1024, Agnostic::Random(3)),
    ];
    let cases = cases.into_iter().flat_map(|case| [(case, false), (case, true)]);
    for (n, ((vlen, policy), scattered)) in cases.enumerate() {
        let (mut h, mut engine) = (hart(vlen, policy), Engine::default());
        // Half of them as on hosts without AVX-512, scattered and not.
        crate::jit::SHORT_REGISTERS.set(n / 2 % 2 == 1);
        let mut data = RAM_BASE + DATA;
        if scattered {
            // Two pages are side by side, the others are not.
            map_data(&mut h, &[0, 1, 3, 2, 5, 4].map(|n| DATA as usize + 0x1000 * n));
            data = 0x1000;
        }
        let mut at = CODE;
        for round in 0..600 {
            let sew = [Sew::E32, Sew::E64, Sew::E32, Sew::E16][random.below(4) as usize];
            let lmul = [Lmul::M2, Lmul::M4, Lmul::M4, Lmul::M8][random.below(4) as usize];
            let vtype = Vtype::new(sew, lmul, true, true);
            let vlmax = u64::from(vtype.vlmax(vlen));
            let load = [Op::Vle16V, Op::Vle32V, Op::Vle64V][sew.bits().trailing_zeros() as usize - 4];
            let store = [Op::Vse16V, Op::Vse32V, Op::Vse64V][sew.bits().trailing_zeros() as usize - 4];
            let set = Inst { rd: 5, rs1: 6, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) };
            let mut words = vec![encode(&set).unwrap()];
            let length = 3 + random.below(7) as usize;
            while words.len() < length {
                let mut group = || [0, 8, 16, 24][random.below(4) as usize];
                let (rd, rs1, rs2) = (group(), group(), group());
                let inst = match random.below(8) {
                    0..3 => Inst { rd, rs1: 28 + random.below(4) as u8, ..Inst::new(load) },
                    3 => Inst { rd, rs1: 28 + random.below(4) as u8, ..Inst::new(store) },
                    _ => {
                        let op = ops[random.below(ops.len() as u64) as usize];
                        Inst { rd, rs1, rs2, imm: random.below(16) as i32, ..Inst::new(op) }
                    }
                };
                if translate(&h.config, &inst, vtype).is_ok() {
                    words.push(encode(&inst).unwrap());
                }
            }
            words.push(0x6f);
            for (n, word) in words.iter().enumerate() {
                h.ram.write(at + 4 * n, *word).unwrap();
            }
            // Once with another TLB, once with the pages known.
            for pass in 0..3 {
                scramble(&mut h, &mut random, sew);
                let size = sew.bits() as usize / 8;
                for n in 0..0x6000 / size {
                    let value = match random.below(2000) {
                        0 => random.next(),
                        _ => (1.0 + random.below(1 << 20) as f64 / 64.0).to_bits(),
                    };
                    let value = match size {
                        4 => u64::from((f64::from_bits(value) as f32).to_bits()),
                        _ => value,
                    };
                    let offset = DATA as usize + n * size;
                    h.ram.bytes_mut()[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                for element in h.v.registers_mut().chunks_mut(size) {
                    if random.below(400) == 0 {
                        element.fill(0xff);
                    }
                }
                h.x[6] = [vlmax, vlmax, random.below(vlmax + 1)][random.below(3) as usize];
                for r in 28..32 {
                    let near = [0, 0x20, 0x400, 0x1000, 0x1fe0, 0x2000][random.below(6) as usize];
                    h.x[r] = data + near;
                }
                for r in [0, 8, 16, 24] {
                    h.f[r] = match (random.below(12), size) {
                        (0, _) => random.next(),
                        (_, 4) => !0 << 32 | u64::from(1.5_f32.to_bits()),
                        _ => 1.5_f64.to_bits(),
                    };
                    h.x[r] = if r == 0 { 0 } else { random.next() };
                }
                if pass == 0 {
                    h.flush_tlb();
                } else {
                    for page in 0..6 {
                        let va = data + 0x1000 * page;
                        let byte = h.load::<u8>(va).unwrap();
                        h.store::<u8>(va, byte).unwrap();
                    }
                }
                h.pc = RAM_BASE + at as u64;
                h.retired_in_block = 0;
                engine.run(&mut h, words.len() as u64);
                h.trap = None;
                if let Some(difference) = engine.difference() {
                    panic!("round {round}, {vtype:?} VLEN {vlen} {policy:?}: {difference}");
                }
            }
            at = if at + 128 < DATA as usize { at + 64 } else { CODE };
            if at == CODE {
                h.ram.note_write(CODE, DATA as usize - CODE);
            }
        }
        assert!(engine.compiled().blocks > 500, "{:?}", engine.compiled());
    }
}
