//! The fast path against those that can do everything.

use crate::Hart;
use crate::config::{Agnostic, Config};
use crate::hart::Environment;
use crate::mem::{Access, Ram};
use crate::privileged::{Platform, RAM_BASE};
use crate::test_support::Random;
use crate::vector::run::fast_path::{FastPath, FastPaths};
use crate::vector::{VInst, translate};
use rvv_isa::{Class, Inst, Isa, Lmul, Op, Sew, Vtype};

const CLASSES: [Class; 8] = [
    Class::VectorInteger,
    Class::VectorFixed,
    Class::VectorFloat,
    Class::VectorReduction,
    Class::VectorMask,
    Class::VectorPermute,
    Class::VectorLoad,
    Class::VectorStore,
];
const SEWS: [Sew; 4] = [Sew::E8, Sew::E16, Sew::E32, Sew::E64];
const LMULS: [Lmul; 5] = [Lmul::Mf2, Lmul::M1, Lmul::M2, Lmul::M4, Lmul::M8];

fn hart(vlen: u32, policy: Agnostic) -> Hart {
    let config = Config {
        vlen,
        mem: 1 << 20,
        tail: policy,
        mask: policy,
        isa: Isa::everything(),
        ..Config::default()
    };
    let ram = Ram::new(config.mem).unwrap();
    let platform = Platform::with_entry(&config, RAM_BASE);
    Hart::new(config, ram, Environment::Bare(Box::new(platform)))
}

/// Random registers: numbers of this width mostly, so that floating-point kernels have something to do.
fn scramble(hart: &mut Hart, random: &mut Random, sew: Sew) {
    let (len, size) = (32 * hart.v.vlenb, sew.bits() as usize / 8);
    for element in hart.v.regs[..len].chunks_mut(size) {
        let value = if random.below(8) == 0 { random.next() } else { random.number(size) };
        element.copy_from_slice(&value.to_le_bytes()[..size]);
    }
    let scalar = random.number(size) | if size < 8 { !0 << (8 * size) } else { 0 };
    (hart.x[24], hart.f[24]) = (random.next() >> random.below(64), scalar);
    (hart.v.vxrm, hart.frm) = (random.below(4) as u8, random.below(2) as u8 * random.below(5) as u8);
    hart.fflags = crate::fp::Flags::NONE;
    if random.below(2) == 0 {
        hart.fflags |= crate::fp::Flags::NX;
    }
}

/// The same, with no fast path.
fn in_full(vi: &VInst) -> VInst {
    VInst { fast: FastPaths { small: false, path: FastPath::No, ..vi.fast }, ..*vi }
}

fn copy_state(to: &mut Hart, from: &Hart) {
    to.v.clone_from(&from.v);
    to.x.clone_from(&from.x);
    to.f.clone_from(&from.f);
    (to.frm, to.fflags) = (from.frm, from.fflags);
}

#[test]
fn fast_paths_do_what_the_full_code_does() {
    let mut random = Random(5);
    let mut tried = [0_u32; 7];
    for (vlen, policy) in [
        (128, Agnostic::Undisturbed),
        (128, Agnostic::Ones),
        (256, Agnostic::Undisturbed),
        (256, Agnostic::Random(1)),
        (1024, Agnostic::Undisturbed),
        (4096, Agnostic::OnesToRegister),
    ] {
        let (mut fast_path, mut full) = (hart(vlen, policy), hart(vlen, policy));
        for op in Op::all().filter(|op| CLASSES[..6].contains(&op.class())) {
            for (sew, lmul) in SEWS.into_iter().flat_map(|sew| LMULS.map(|lmul| (sew, lmul))) {
                for vm in [true, false] {
                    let inst = Inst { rd: 8, rs2: 16, rs1: 24, imm: 5, vm, ..Inst::new(op) };
                    let vtype = Vtype::new(sew, lmul, random.below(2) == 0, random.below(2) == 0);
                    let Ok(vi) = translate(&fast_path.config, &inst, vtype) else { continue };
                    let kind = match vi.fast.path {
                        FastPath::No | FastPath::Load | FastPath::Store | FastPath::SetVl => continue,
                        FastPath::Map => 0,
                        FastPath::MapScalar => 1,
                        FastPath::Float => 2,
                        FastPath::FloatScalar => 3,
                        FastPath::Word { .. } => 4,
                        FastPath::Test { .. } => 5,
                        FastPath::Reduce => 6,
                    };
                    scramble(&mut fast_path, &mut random, sew);
                    (fast_path.v.vtype, fast_path.v.vl, fast_path.v.vxsat) =
                        (vtype, u64::from(vi.vlmax), false);
                    copy_state(&mut full, &fast_path);
                    assert!(vi.is_whole(&fast_path));
                    if !vi.run_whole(&mut fast_path) {
                        assert!(matches!(kind, 2 | 3) && fast_path.frm != 0, "{}", op.name());
                        continue;
                    }
                    let twin = in_full(&vi);
                    (twin.run)(&mut full, &twin).expect("a legal instruction");
                    let same = fast_path.v.regs == full.v.regs
                        && (fast_path.fflags, fast_path.v.vxsat) == (full.fflags, full.v.vxsat);
                    assert!(same, "{} {vtype:?} vm={vm} VLEN {vlen} {policy:?}", op.name());
                    tried[kind] += 1;
                }
            }
        }
    }
    assert!(tried.iter().all(|&n| n > 100), "{tried:?}");
}

#[test]
fn copies_do_what_loads_and_stores_do() {
    let mut random = Random(6);
    let mut pieces = 0;
    for vlen in [128, 512, 2048] {
        let (mut fast_path, mut full) =
            (hart(vlen, Agnostic::Undisturbed), hart(vlen, Agnostic::Undisturbed));
        for op in Op::all().filter(|op| CLASSES[6..].contains(&op.class())) {
            for (sew, lmul) in SEWS.into_iter().flat_map(|sew| LMULS.map(|lmul| (sew, lmul))) {
                let inst = Inst { rd: 8, rs1: 24, vm: random.below(4) != 0, ..Inst::new(op) };
                let Ok(vi) = translate(&fast_path.config, &inst, Vtype::new(sew, lmul, true, true)) else {
                    continue;
                };
                let access = match vi.fast.path {
                    FastPath::Load => Access::Load,
                    FastPath::Store => Access::Store,
                    _ => continue,
                };
                for vl in [0, 1, 3, u64::from(vi.vlmax / 2), u64::from(vi.vlmax)] {
                    scramble(&mut fast_path, &mut random, sew);
                    // Anywhere, aligned or not, and near the end of a page.
                    let at = [0x1_0000, 0x1_0fc0, 0x1_2000 - (vl << vi.fast.shift)][random.below(3) as usize];
                    fast_path.x[24] = RAM_BASE + at + random.below(2) * random.below(16);
                    (fast_path.v.vtype, fast_path.v.vl) = (vi.vtype, vl);
                    for byte in &mut fast_path.ram.bytes_mut()[0x1_0000..0x1_8000] {
                        *byte = random.next() as u8;
                    }
                    full.ram.bytes_mut().copy_from_slice(fast_path.ram.bytes());
                    copy_state(&mut full, &fast_path);
                    fast_path.load::<u8>(fast_path.x[24]).unwrap();
                    fast_path.store::<u8>(RAM_BASE + at, fast_path.ram.bytes()[at as usize]).unwrap();
                    let Some((offset, bytes)) = vi.one_piece(&fast_path, access) else {
                        assert!(vi.whole_bytes() != 64 || vi.whole_piece::<64>(&fast_path, access).is_none());
                        continue;
                    };
                    if vi.whole_bytes() == 64 {
                        let whole = (bytes == 64).then_some(offset);
                        assert_eq!(vi.whole_piece::<64>(&fast_path, access), whole);
                    }
                    match access {
                        Access::Load => {
                            vi.load_piece(&mut fast_path, offset, bytes, |to, from| to.copy_from_slice(from))
                        }
                        _ => {
                            vi.store_piece(&mut fast_path, offset, bytes, |to, from| to.copy_from_slice(from))
                        }
                    }
                    let twin = in_full(&vi);
                    (twin.run)(&mut full, &twin).expect("a legal instruction");
                    assert!(fast_path.v.regs == full.v.regs, "{} {:?} {vl}", op.name(), vi.vtype);
                    assert!(fast_path.ram.bytes() == full.ram.bytes(), "{} {:?} {vl}", op.name(), vi.vtype);
                    pieces += 1;
                }
            }
        }
    }
    assert!(pieces > 200, "{pieces}");
}

/// A load that finds its page remembered and one that has to translate, under every policy.
#[test]
fn loads_from_a_remembered_page_do_what_others_do() {
    let mut random = Random(7);
    let mut loads = 0;
    let policies = [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::OnesToRegister, Agnostic::Random(3)];
    for (vlen, policy) in [128, 1024].into_iter().flat_map(|vlen| policies.map(|policy| (vlen, policy))) {
        let (mut remembered, mut other) = (hart(vlen, policy), hart(vlen, policy));
        for byte in &mut remembered.ram.bytes_mut()[0x1_0000..0x1_2000] {
            *byte = random.next() as u8;
        }
        other.ram.bytes_mut().copy_from_slice(remembered.ram.bytes());
        for op in [Op::Vle8V, Op::Vle16V, Op::Vle32V, Op::Vle64V] {
            for (sew, lmul) in SEWS.into_iter().flat_map(|sew| LMULS.map(|lmul| (sew, lmul))) {
                let inst = Inst { rd: 8, rs1: 24, vm: random.below(2) != 0, ..Inst::new(op) };
                let Ok(vi) = translate(&remembered.config, &inst, Vtype::new(sew, lmul, true, true)) else {
                    continue;
                };
                for vl in [0, 1, 3, u64::from(vi.vlmax / 2), u64::from(vi.vlmax)] {
                    scramble(&mut remembered, &mut random, sew);
                    remembered.x[24] = RAM_BASE + 0x1_0000 + 8 * random.below(64);
                    (remembered.v.vtype, remembered.v.vl) = (vi.vtype, vl);
                    copy_state(&mut other, &remembered);
                    other.flush_tlb();
                    remembered.load::<u8>(remembered.x[24]).unwrap();
                    assert!(vi.one_piece(&other, Access::Load).is_none());
                    loads += usize::from(vi.one_piece(&remembered, Access::Load).is_some());
                    for hart in [&mut remembered, &mut other] {
                        vi.note_writes(&mut hart.v);
                        (vi.run)(hart, &vi).expect("a legal instruction");
                    }
                    let what = format!("{} {:?} {vl} {policy:?} {}", op.name(), vi.vtype, inst.vm);
                    assert!(remembered.v.regs == other.v.regs, "{what}");
                }
            }
        }
    }
    assert!(loads > 1000, "{loads}");
}
