//! Vector loads and stores against a plain model, and their traps: where they stop, and how they resume.

use super::support::{Random, hart, inst, ops, run, set_type};
use rvv_isa::{Class, Inst, Lmul, Op, Sew, Vtype};
use rvvsim::RAM_BASE;
use rvvsim::config::{Agnostic, Config};
use rvvsim::{Cause, Hart, vector};

const PAGE: u64 = 4096;
/// The small machine has so much memory, and faults beyond.
const SMALL: u64 = 4 * PAGE;
/// The large one has more, and the same bytes.
const LARGE: u64 = 64 * PAGE;

fn machine(mem: u64, tail: Agnostic, mask: Agnostic, seed: u64) -> Hart {
    let mut hart = hart(Config { vlen: 256, mem, tail, mask, ..Config::default() });
    let mut random = Random(seed);
    let mut bytes = vec![0; LARGE as usize];
    random.fill(&mut bytes);
    hart.memory_mut().copy_from_slice(&bytes[..mem as usize]);
    let len = 32 * hart.vector().vlenb;
    random.fill(&mut hart.vector_mut().registers_mut()[..len]);
    hart
}

/// EEW of the data, in bits, and of the indices if there are any.
fn eews(op: Op, sew: u32) -> (u32, Option<u32>) {
    let digits: String = op.name().chars().filter(char::is_ascii_digit).collect();
    let eew = digits.parse().unwrap_or(8);
    if op.name().contains("xei") { (sew, Some(eew)) } else { (eew, None) }
}

fn element(hart: &Hart, register: usize, bits: u32, i: usize) -> u64 {
    let size = bits as usize / 8;
    let mut le = [0; 8];
    le[..size]
        .copy_from_slice(&hart.vector().registers()[register * hart.vector().vlenb + i * size..][..size]);
    u64::from_le_bytes(le)
}

/// The addresses and places of all accesses of the body in order: element, register number, byte of the
/// group, address.
struct Access {
    element: usize,
    place: usize,
    address: u64,
}

fn accesses(hart: &Hart, inst: &Inst) -> Vec<Access> {
    let vtype = hart.vector().vtype;
    let sew = vtype.sew.bits();
    let (eew, index) = eews(inst.op, sew);
    let size = u64::from(eew / 8);
    let fields = u64::from(inst.nf) + 1;
    let emul = vtype.lmul.log2() + eew.ilog2() as i32 - sew.ilog2() as i32;
    let registers = 1 << emul.max(0);
    let mut all = vec![];
    for i in hart.vector().vstart as usize..hart.vector().vl as usize {
        if !inst.vm && hart.vector().registers()[i / 8] >> (i % 8) & 1 == 0 {
            continue;
        }
        let base = hart.x(inst.rs1);
        let segment = if let Some(index) = index {
            base.wrapping_add(element(hart, inst.rs2.into(), index, i))
        } else if is_strided(inst.op) {
            base.wrapping_add(hart.x(inst.rs2).wrapping_mul(i as u64))
        } else {
            base + i as u64 * size * fields
        };
        for field in 0..fields {
            let register = usize::from(inst.rd) + field as usize * registers;
            let place = register * hart.vector().vlenb + i * size as usize;
            all.push(Access { element: i, place, address: segment.wrapping_add(field * size) });
        }
    }
    all
}

fn is_strided(op: Op) -> bool {
    op.name().starts_with("vlse") || op.name().starts_with("vsse")
}

/// All element accesses of the model: what the registers or the memory become, up to the first that is not in
/// memory; its element is returned.
fn model(hart: &mut Hart, inst: &Inst) -> Option<usize> {
    let size = eews(inst.op, hart.vector().vtype.sew.bits()).0 as usize / 8;
    let store = inst.op.class() == Class::VectorStore;
    let mem = hart.config().mem;
    for access in accesses(hart, inst) {
        let offset = access.address.wrapping_sub(RAM_BASE);
        if offset > mem - size as u64 {
            return Some(access.element);
        }
        let (memory, register) = (offset as usize..offset as usize + size, access.place..access.place + size);
        if store {
            let bytes = hart.vector().registers()[register].to_vec();
            hart.memory_mut()[memory].copy_from_slice(&bytes);
        } else {
            let bytes = hart.memory()[memory].to_vec();
            hart.vector_mut().registers_mut()[register].copy_from_slice(&bytes);
        }
    }
    None
}

fn memory_ops() -> impl Iterator<Item = Op> {
    [Class::VectorLoad, Class::VectorStore].into_iter().flat_map(ops).filter(|op| {
        let name = op.name();
        name != "vlm.v" && name != "vsm.v" && !name.contains('r')
    })
}

/// An instruction and a state in which it runs into the end of the small machine's memory at some element.
fn prepare(hart: &mut Hart, op: Op, random: &mut Random) -> Option<Inst> {
    let sew = Sew::ALL[random.below(4) as usize];
    let lmul = Lmul::ALL[random.below(7) as usize];
    let vtype = Vtype::new(sew, lmul, random.below(2) == 0, random.below(2) == 0);
    hart.vector_mut().vtype = vector::supported(hart.config(), vtype);
    let vlmax = u64::from(hart.vector().vtype.vlmax(hart.config().vlen));
    let nf = if random.below(2) == 0 { 0 } else { random.below(8) as u8 };
    let inst = Inst { rd: 8, rs1: 10, rs2: 24, nf, vm: random.below(2) == 0, ..Inst::new(op) };
    let inst = if is_strided(op) { Inst { rs2: 12, ..inst } } else { inst };
    vector::check(hart.config(), &inst, hart.vector().vtype).ok()?;
    hart.vector_mut().vl = 1 + random.below(vlmax);
    hart.vector_mut().vstart = if random.below(4) == 0 { random.below(hart.vector().vl) } else { 0 };
    let (eew, index) = eews(op, sew.bits());
    let size = u64::from(eew / 8) * (u64::from(nf) + 1);
    // Aligned mostly; now and then an element crosses the boundary.
    let reach = random.below(hart.vector().vl + 2) * size;
    let mut base = RAM_BASE + SMALL - reach;
    if random.below(4) == 0 {
        base -= random.below(8);
    }
    hart.set_x(12, [size, size + 8, 0u64.wrapping_sub(size), PAGE / 16][random.below(4) as usize]);
    if let Some(index) = index {
        // Small offsets, and a base that some of them carry past the end.
        let index = index as usize / 8;
        let at = 24 * hart.vector().vlenb;
        for i in 0..hart.vector().vl as usize {
            let offset = random.below(200).to_le_bytes();
            hart.vector_mut().registers_mut()[at + i * index..][..index].copy_from_slice(&offset[..index]);
        }
        base = RAM_BASE + SMALL - 120;
    }
    hart.set_x(10, base);
    Some(inst)
}

#[test]
fn accesses_trap_at_the_element_and_resume() {
    let (ones, coin) = (Agnostic::Ones, Agnostic::Random(5));
    for (tail, mask) in [(Agnostic::Undisturbed, Agnostic::Undisturbed), (ones, ones), (coin, coin)] {
        let mut random = Random(11);
        let (mut trapped, mut tried) = (0, 0);
        for op in memory_ops() {
            let fault_only_first = op.name().contains("ff");
            for round in 0..24 {
                let seed = random.next();
                let mut small = machine(SMALL, tail, mask, seed);
                let Some(inst) = prepare(&mut small, op, &mut random) else { continue };
                let context =
                    format!("round {round} of {} nf={} {}", op.name(), inst.nf, small.vector().vtype);
                tried += 1;
                // A machine on which nothing traps, in the same state.
                let mut large = machine(LARGE, tail, mask, seed);
                large.vector_mut().clone_from(small.vector());
                large.set_x(10, small.x(10));
                large.set_x(12, small.x(12));
                let mut resumed = machine(LARGE, tail, mask, seed);
                resumed.set_x(10, small.x(10));
                resumed.set_x(12, small.x(12));

                // Where it stops, by the model; registers and memory before that are the model's.
                let mut expected = machine(SMALL, tail, mask, seed);
                expected.vector_mut().clone_from(small.vector());
                expected.set_x(10, small.x(10));
                expected.set_x(12, small.x(12));
                let (vl, vstart) = (small.vector().vl, small.vector().vstart);
                let stop = model(&mut expected, &inst);
                let result = run(&mut small, &inst);
                match stop {
                    Some(at) if fault_only_first && at > 0 => {
                        assert!(result.is_ok(), "{context}");
                        assert_eq!((small.vector().vl, small.vector().vstart), (at as u64, 0), "{context}");
                        continue;
                    }
                    Some(at) => {
                        let trap = result.expect_err(&context);
                        let cause = if op.class() == Class::VectorLoad {
                            Cause::LoadAccessFault
                        } else {
                            Cause::StoreAccessFault
                        };
                        assert_eq!(trap.cause, cause, "{context}");
                        assert_eq!((small.vector().vstart, small.vector().vl), (at as u64, vl), "{context}");
                    }
                    None => {
                        assert!(result.is_ok(), "{context}");
                        assert_eq!(small.vector().vstart, 0, "{context}");
                    }
                }
                if tail == Agnostic::Undisturbed {
                    // Of the segment that faults, the fields before the fault are accessed.
                    assert!(
                        small.vector().registers() == expected.vector().registers(),
                        "registers at the trap, {context}"
                    );
                }
                assert!(small.memory() == expected.memory(), "memory at the trap, {context}");
                if stop.is_none() {
                    continue;
                }
                trapped += 1;
                // The handler makes the memory appear, and the instruction goes on.
                run(&mut large, &inst).expect(&context);
                resumed.vector_mut().clone_from(small.vector());
                let (from, to) = (small.memory(), resumed.memory_mut());
                to[..SMALL as usize].copy_from_slice(from);
                run(&mut resumed, &inst).expect(&context);
                assert!(
                    resumed.vector().registers() == large.vector().registers(),
                    "registers after resuming, vstart {vstart}, {context}"
                );
                assert!(resumed.memory() == large.memory(), "memory after resuming, {context}");
                assert_eq!(resumed.vector().vstart, 0);
                // And that is what the model says.
                let mut plain = machine(LARGE, tail, mask, seed);
                plain.vector_mut().clone_from(expected.vector());
                plain.set_x(10, small.x(10));
                plain.set_x(12, small.x(12));
                plain.vector_mut().vstart = stop.expect("just seen") as u64;
                plain.memory_mut()[..SMALL as usize].copy_from_slice(expected.memory());
                assert_eq!(model(&mut plain, &inst), None);
                if tail == Agnostic::Undisturbed {
                    assert!(
                        plain.vector().registers() == large.vector().registers(),
                        "registers of {context}"
                    );
                }
                assert!(plain.memory() == large.memory(), "memory of {context}");
            }
        }
        assert!(trapped > 200, "{trapped} of {tried} trapped");
    }
}

#[test]
fn whole_registers_move_whatever_vtype_is() {
    let mut hart = machine(SMALL, Agnostic::Ones, Agnostic::Ones, 1);
    hart.vector_mut().vtype = Vtype::VILL;
    hart.set_x(10, RAM_BASE + 64);
    let load = inst("vl2re32.v", 4, 0, 10);
    run(&mut hart, &load).expect("a whole-register load");
    let bytes = hart.memory()[64..128].to_vec();
    assert_eq!(hart.vector().registers()[4 * 32..6 * 32], bytes[..]);
    hart.set_x(10, RAM_BASE + 0x1001);
    run(&mut hart, &inst("vs2r.v", 4, 0, 10)).expect("a whole-register store");
    assert_eq!(hart.memory()[0x1001..0x1001 + 64], bytes[..]);
    // vstart counts elements of the encoded width, and is reserved past the end.
    hart.vector_mut().vstart = 16;
    let trap = run(&mut hart, &load).expect_err("vstart is not below evl");
    assert!(trap.why.starts_with("norm:vector_ls_seg_wholereg_evl"), "{}", trap.why);
    assert_eq!(hart.vector().vstart, 16, "norm:vstart_unmodified");
    hart.vector_mut().register_mut(4).fill(0);
    hart.vector_mut().register_mut(5).fill(0);
    hart.vector_mut().vstart = 3;
    hart.set_x(10, RAM_BASE + 64);
    run(&mut hart, &load).expect("from element 3");
    assert_eq!(hart.vector().registers()[4 * 32..][..12], [0; 12]);
    assert_eq!(hart.vector().registers()[4 * 32 + 12..6 * 32], bytes[12..]);
}

#[test]
fn mask_loads_and_stores_move_evl_bytes() {
    let mut hart = machine(SMALL, Agnostic::Ones, Agnostic::Undisturbed, 2);
    set_type(&mut hart, Sew::E8, Lmul::M1, 17);
    hart.set_x(10, RAM_BASE + 100);
    let before = hart.vector().register(6).to_vec();
    run(&mut hart, &inst("vlm.v", 6, 0, 10)).expect("vlm.v");
    assert_eq!(hart.vector().register(6)[..3], hart.memory()[100..103]);
    assert!(hart.vector().register(6)[3..].iter().all(|&b| b == 0xff), "always tail-agnostic");
    assert_ne!(before[3..], hart.vector().register(6)[3..]);
    hart.set_x(10, RAM_BASE + 200);
    let after = hart.memory()[203];
    run(&mut hart, &inst("vsm.v", 6, 0, 10)).expect("vsm.v");
    assert_eq!(hart.memory()[200..203], hart.vector().register(6)[..3]);
    assert_eq!(hart.memory()[203], after);
    // vstart counts bytes.
    hart.vector_mut().vstart = 3;
    let before = hart.vector().register(6).to_vec();
    run(&mut hart, &inst("vlm.v", 6, 0, 10)).expect("vlm.v");
    assert_eq!(hart.vector().register(6), &before[..], "vstart >= evl: nothing");
}

#[test]
fn misaligned_elements_trap_where_they_must() {
    let mut hart = hart(Config { vlen: 256, mem: SMALL, misaligned: false, ..Config::default() });
    set_type(&mut hart, Sew::E32, Lmul::M1, 8);
    hart.set_x(10, RAM_BASE + 2);
    let trap = run(&mut hart, &inst("vle32.v", 8, 0, 10)).expect_err("misaligned");
    assert_eq!((trap.cause, trap.tval), (Cause::LoadAddressMisaligned, RAM_BASE + 2));
    let trap = run(&mut hart, &inst("vse32.v", 8, 0, 10)).expect_err("misaligned");
    assert_eq!((trap.cause, trap.tval), (Cause::StoreAddressMisaligned, RAM_BASE + 2));
    run(&mut hart, &inst("vle16.v", 8, 0, 10)).expect("halfwords are aligned");
    // A masked-off element does not trap.
    hart.vector_mut().register_mut(0).fill(0);
    run(&mut hart, &Inst { vm: false, ..inst("vle32.v", 8, 0, 10) }).expect("no active element");
}

#[test]
fn every_element_is_logged() {
    let mut hart = machine(SMALL, Agnostic::Undisturbed, Agnostic::Undisturbed, 3);
    set_type(&mut hart, Sew::E32, Lmul::M1, 5);
    hart.set_x(10, RAM_BASE + 16);
    hart.start_log();
    run(&mut hart, &inst("vle32.v", 8, 0, 10)).expect("vle32.v");
    let log = hart.log().expect("a log");
    assert_eq!(log.memory.len(), 5);
}
