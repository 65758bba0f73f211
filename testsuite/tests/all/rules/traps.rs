//! Precise and restartable traps: every kind of vector memory access runs into a page that is not mapped, at
//! every element, and is resumed after a handler has mapped it.

use super::forms::{self, Dest, Form, VD, VS2, Width};
use super::harness::*;
use rvv_isa::{Lmul, Vtype, csr};
use rvvsim::Stop;
use rvvsim::config::Agnostic;
use rvvsim::{Cause, Trap};
use rvvsim::{Privilege, RAM_BASE};

/// Page tables: a gigapage for RAM where it is, and 64 small pages of data at `VA`.
const ROOT: u64 = RAM_BASE + 0x20_0000;
const MIDDLE: u64 = ROOT + 0x1000;
const LEAVES: u64 = ROOT + 0x2000;
const VA: u64 = 0x4000_0000;
const PAGES: u64 = 64;
const PAGE: u64 = 4096;
/// Valid, readable, writable, accessed, dirty.
const DATA_PAGE: u64 = 0xc7;

fn pte(page: u64) -> u64 {
    (DATA / PAGE + page) << 10 | DATA_PAGE
}

/// A hart in S-mode with paging.
fn paged(vlen: u32, policy: Agnostic) -> Lab {
    let mut lab = Lab::policies(vlen, policy, policy);
    let entry = |pa: u64, flags: u64| (pa >> 12 << 10 | flags).to_le_bytes();
    lab.put_at(ROOT + 8, &entry(MIDDLE, 1));
    lab.put_at(ROOT + 16, &entry(RAM_BASE, 0xcf));
    lab.put_at(MIDDLE, &entry(LEAVES, 1));
    for page in 0..PAGES {
        lab.put_at(LEAVES + 8 * page, &pte(page).to_le_bytes());
    }
    lab.hart.write_csr(csr::PMPADDR0, !0 >> 10);
    lab.hart.write_csr(csr::PMPCFG0, 0x1f);
    lab.hart.write_csr(csr::SATP, 8 << 60 | ROOT >> 12);
    lab.hart.set_privilege(Privilege::Supervisor);
    lab
}

impl Lab {
    fn map(&mut self, page: u64, there: bool) {
        let entry = if there { pte(page) } else { 0 };
        self.put_at(LEAVES + 8 * page, &entry.to_le_bytes());
        self.hart.flush_tlb();
    }
}

/// A case: where the elements are, and which page is missing.
struct Layout {
    base: u64,
    stride: u64,
    indices: Vec<u64>,
    missing: u64,
}

/// Element or segment `i`'s address.
fn address(form: &Form, layout: &Layout, size: u64, i: usize) -> u64 {
    let name = form.name();
    match form.vs2 {
        Some(_) => layout.base + layout.indices[i],
        None if name.starts_with("vlse") || name.starts_with("vsse") => {
            layout.base.wrapping_add(layout.stride.wrapping_mul(i as u64))
        }
        None => layout.base + size * i as u64,
    }
}

/// Layouts in which element `p` is the first one on a missing page, or straddles its edge.
fn layouts(form: &Form, size: u64, n: usize, p: usize) -> Vec<Layout> {
    let edge = VA + 4 * PAGE;
    let plain = |base, missing| Layout { base, stride: 0, indices: vec![], missing };
    let name = form.name();
    if let Some(Width::Bits(eew)) = form.vs2 {
        // All elements at the base but element p, which is behind the edge; later ones are back.
        let far = if eew == 8 { 200 } else { 3 * PAGE };
        let base = if eew == 8 { edge - 120 } else { edge - 2 * PAGE };
        let index = |i: usize| if i == p { far } else { (i as u64 * size) & 63 };
        let missing = (base + far - VA) / PAGE;
        return vec![Layout { base, stride: 0, indices: (0..n).map(index).collect(), missing }];
    }
    if name.starts_with("vlse") || name.starts_with("vsse") {
        // Up and down across the edge, and a page for each element.
        let down = 0u64.wrapping_sub(2 * size);
        let up = Layout { base: edge - 2 * size * p as u64, stride: 2 * size, indices: vec![], missing: 4 };
        let base = edge + 2 * size * p as u64 - 2 * size;
        let sinking = Layout { base, stride: down, indices: vec![], missing: 3 };
        let sparse = Layout { base: VA + 8, stride: PAGE, indices: vec![], missing: p as u64 };
        // Going down, element p is the first at edge - 2*size or below, if the base is at edge +
        // 2*size*(p-1).
        return vec![up, sinking, sparse];
    }
    let mut all = vec![plain(edge - size * p as u64, 4)];
    if size > 1 {
        // Element p begins before the edge.
        all.push(plain(edge - size * p as u64 - size / 2, 4));
    }
    all
}

fn is_load(form: &Form) -> bool {
    form.dest != Dest::Memory
}

/// A run: every access form, masked or not, this many fields.
struct Access<'a> {
    form: &'a Form,
    ins: Ins,
    vtype: Vtype,
    vl: u64,
    eew: u32,
    fields: u64,
}

impl Access<'_> {
    /// Puts everything in place: registers, memory, `vtype`.
    fn set_up(&self, lab: &mut Lab, layout: &Layout) {
        let mut random = Random(11);
        lab.shake(&mut random).set_vtype(self.vtype).vl(self.vl);
        let bytes: Vec<u8> = (0..PAGES * PAGE / 8).flat_map(|_| random.next().to_le_bytes()).collect();
        lab.put_at(DATA, &bytes);
        lab.x(forms::DATA_X, layout.base).x(forms::STRIDE_X, layout.stride);
        if let Some(Width::Bits(eew)) = self.form.vs2 {
            lab.puts(VS2, eew, &layout.indices);
        }
        for page in 0..PAGES {
            lab.map(page, true);
        }
    }

    fn active(&self, lab: &Lab, i: usize) -> bool {
        self.ins.0.vm || lab.bit(0, i)
    }
}

fn memory(lab: &Lab) -> Vec<u8> {
    lab.at(DATA, (PAGES * PAGE) as usize).to_vec()
}

/// Runs an access that meets the missing page, checks the trap, maps the page, resumes, and compares with a
/// run that never trapped. True if it trapped.
fn trap_and_resume(lab: &mut Lab, access: &Access, layout: &Layout, p: usize) -> bool {
    let Access { form, ins, eew, fields, .. } = access;
    let context = format!(
        "{} under {}, vl={}, element {p} missing, base {:#x} stride {}",
        show(*ins),
        access.vtype,
        access.vl,
        layout.base,
        layout.stride as i64
    );
    access.set_up(lab, layout);
    let start = lab.state();
    let untouched = memory(lab);
    lab.ok(*ins);
    let (reference, reference_memory) = (lab.state(), memory(lab));

    access.set_up(lab, layout);
    lab.map(layout.missing, false);
    let size = u64::from(*eew / 8) * fields;
    let n = access.vl as usize;
    // The first active element that touches the missing page, and where.
    let on_missing = |address: u64| (address - VA) / PAGE == layout.missing;
    let fault = (0..n).filter(|&i| access.active(lab, i)).find_map(|i| {
        let from = address(form, layout, size, i);
        let byte = (from..from + size).find(|&byte| on_missing(byte))?;
        Some((i, from, byte))
    });
    let Some((index, from, byte)) = fault else {
        lab.ok(*ins);
        assert!(lab.state() == reference && memory(lab) == reference_memory, "{context}: no element there");
        return false;
    };
    let trap = lab.run(*ins).expect_err(&context);
    let cause = if is_load(form) { Cause::LoadPageFault } else { Cause::StorePageFault };
    assert_eq!(trap.cause, cause, "{context}: {trap:?}");
    // tval: the faulting part of the field that faults.
    let field_start = from + (byte - from) / u64::from(*eew / 8) * u64::from(*eew / 8);
    assert!(
        trap.tval == byte || trap.tval == field_start,
        "{context}: tval {:#x}, want {byte:#x}",
        trap.tval
    );
    assert_eq!(lab.hart.vector().vstart, index as u64, "{context}: vstart");
    assert_eq!((lab.hart.vector().vl, lab.hart.vector().vtype), (start.vl, start.vtype), "{context}");
    // Earlier elements are done, later ones are not; of the segment itself, some fields may be.
    let got = lab.state();
    let vlenb = lab.hart.vector().vlenb;
    let registers = form.registers(access.vtype.sew.bits(), access.vtype.lmul) as usize;
    if is_load(form) {
        for field in 0..*fields as usize {
            let at = (usize::from(VD) + field * registers) * vlenb;
            let part = |state: &State, from: usize, to: usize| {
                state.v[at + from * *eew as usize / 8..at + to * *eew as usize / 8].to_vec()
            };
            assert_eq!(part(&got, 0, index), part(&reference, 0, index), "{context}: earlier elements");
            let group = registers * vlenb * 8 / *eew as usize;
            assert_eq!(
                part(&got, index + 1, group),
                part(&start, index + 1, group),
                "{context}: later elements"
            );
        }
    } else {
        assert!(got.v == start.v, "{context}: a store changes no register");
        let now = memory(lab);
        let mut want = untouched.clone();
        for i in (0..index).filter(|&i| access.active(lab, i)) {
            let at = (address(form, layout, size, i) - VA) as usize;
            for field in 0..*fields as usize {
                for k in 0..*eew as usize / 8 {
                    let register = (usize::from(VD) + field * registers) * vlenb;
                    want[at + field * *eew as usize / 8 + k] = start.v[register + i * *eew as usize / 8 + k];
                }
            }
        }
        // The part of the faulting segment before the edge may have been written already.
        let partial = (from - VA) as usize..(byte - VA) as usize;
        for (i, (now, want)) in now.iter().zip(&want).enumerate() {
            assert!(now == want || partial.contains(&i), "{context}: memory at +{i:#x}");
        }
    }
    // Resume.
    lab.map(layout.missing, true);
    lab.ok(*ins);
    assert!(lab.state() == reference, "{context}: registers after resumption");
    assert!(memory(lab) == reference_memory, "{context}: memory after resumption");
    true
}

/// All loads and stores that may be resumed: (form, SEW, LMUL, fields).
fn accesses() -> Vec<(Form, u32, Lmul, u8)> {
    let mut all = Vec::new();
    for form in forms::all().into_iter().filter(|form| form.memory) {
        if form.name().contains("ff") {
            continue;
        }
        let segments = form.op.info().operands.iter().any(|o| o.name() == "nf");
        for (sew, lmul) in [(8, Lmul::M1), (16, Lmul::M1), (32, Lmul::M1), (64, Lmul::M2), (32, Lmul::Mf2)] {
            if !form.fits(sew, lmul) || form.registers(sew, lmul) > 2 && segments {
                continue;
            }
            if form.vd == Some(Width::Mask) && sew > 8 {
                continue;
            }
            all.push((form, sew, lmul, 1));
            if segments {
                all.push((form, sew, lmul, 2));
                all.push((form, sew, lmul, 8 / form.registers(sew, lmul) as u8));
            }
        }
    }
    all
}

/// One form at one vtype: at every element, in every layout.
fn every_element(lab: &mut Lab, form: &Form, vtype: Vtype, fields: u8, masked: bool) -> usize {
    let vlenb = lab.hart.vector().vlenb as u64;
    let vlmax = u64::from(vtype.vlmax(lab.vlen()));
    let (eew, vl) = match form.vd {
        Some(Width::Registers(n)) => {
            // The elements of loads have the encoded width.
            let eew =
                form.name().split_once("re").map_or(8, |(_, e)| e.trim_end_matches(".v").parse().unwrap());
            (eew, u64::from(n) * vlenb * 8 / u64::from(eew))
        }
        Some(Width::Mask) => (8, 2),
        _ => (form.eew(vtype.sew.bits()), vlmax.min(12)),
    };
    let whole = matches!(form.vd, Some(Width::Registers(_) | Width::Mask));
    let mut ins = form.ins().masked(masked);
    if !whole {
        ins = ins.fields(fields);
    }
    if form.vs2.is_some() && VD + fields * form.registers(vtype.sew.bits(), vtype.lmul) as u8 > VS2 {
        return 0;
    }
    let mut traps = 0;
    let positions: Vec<usize> =
        if vl > 20 { vec![0, 1, 2, 7, 15, vl as usize - 1] } else { (0..=vl as usize).collect() };
    for p in positions {
        let fields = u64::from(fields);
        let size = u64::from(eew / 8) * fields;
        for layout in layouts(form, size, vl as usize, p) {
            let access = Access { form, ins, vtype, vl, eew, fields };
            traps += usize::from(match form.vd {
                Some(Width::Mask) => trap_mask(lab, &access, &layout, p),
                _ => trap_and_resume(lab, &access, &layout, p),
            });
        }
    }
    traps
}

/// As [`trap_and_resume`], where `vl` counts bits and elements are bytes.
fn trap_mask(lab: &mut Lab, access: &Access, layout: &Layout, p: usize) -> bool {
    let bits = Access { vl: 16, ..*access };
    bits.set_up(lab, layout);
    lab.ok(access.ins);
    let (reference, reference_memory) = (lab.state(), memory(lab));
    bits.set_up(lab, layout);
    lab.map(layout.missing, false);
    if p >= 2 {
        lab.ok(access.ins);
        return false;
    }
    lab.run(access.ins).unwrap_err();
    assert_eq!(lab.hart.vector().vstart, p as u64, "{}", show(access.ins));
    lab.map(layout.missing, true);
    lab.ok(access.ins);
    assert!(lab.state() == reference && memory(lab) == reference_memory, "{}", show(access.ins));
    true
}

#[test]
fn every_access_traps_precisely_at_every_element_and_resumes() {
    let mut lab = paged(128, Agnostic::Undisturbed);
    let mut traps = 0;
    for (form, sew, lmul, fields) in accesses() {
        for masked in [false, true] {
            if masked && !form.maskable {
                continue;
            }
            let vtype = Vtype::new(sew_of(sew), lmul, false, false);
            traps += every_element(&mut lab, &form, vtype, fields, masked);
        }
    }
    assert!(traps > 5_000, "{traps}");
}

/// Under agnostic policies, too, a resumed load ends as one that was not interrupted, random choices aside.
#[test]
fn resumed_loads_end_the_same_under_agnostic_policies() {
    for policy in [Agnostic::Ones, Agnostic::OnesToRegister] {
        let mut lab = paged(128, policy);
        for (form, sew, lmul, fields) in accesses().into_iter().filter(|(form, ..)| is_load(form)) {
            let vtype = Vtype::new(sew_of(sew), lmul, true, true);
            if form.maskable {
                // Later elements may be touched by the policy of inactive ones only when they are reached.
                resume_only(&mut lab, &form, vtype, fields);
            }
        }
    }
}

fn resume_only(lab: &mut Lab, form: &Form, vtype: Vtype, fields: u8) {
    let eew = form.eew(vtype.sew.bits());
    let vl = u64::from(vtype.vlmax(lab.vlen())).min(7);
    let ins = form.ins().m().fields(fields);
    if form.vs2.is_some() && VD + fields * form.registers(vtype.sew.bits(), vtype.lmul) as u8 > VS2 {
        return;
    }
    for p in 0..vl as usize {
        let fields = u64::from(fields);
        for layout in layouts(form, u64::from(eew / 8) * fields, vl as usize, p) {
            let access = Access { form, ins, vtype, vl, eew, fields };
            access.set_up(lab, &layout);
            lab.ok(ins);
            let reference = lab.state();
            access.set_up(lab, &layout);
            lab.map(layout.missing, false);
            if lab.run(ins).is_err() {
                lab.map(layout.missing, true);
                lab.ok(ins);
            }
            assert!(lab.state() == reference, "{} under {vtype} at element {p}", show(ins));
        }
    }
}

/// Even under a random policy, where the coins fall in element order.
#[test]
fn resumed_loads_end_the_same_under_a_random_policy() {
    for name in ["vle8.v", "vle32.v", "vlse16.v", "vluxei8.v"] {
        let form = forms::all().into_iter().find(|form| form.name() == name).expect("a form");
        let eew = form.eew(8).max(8);
        let vtype = Vtype::new(sew_of(eew), Lmul::M1, true, true);
        let vl = u64::from(vtype.vlmax(128)).min(7);
        let access = Access { form: &form, ins: form.ins().m(), vtype, vl, eew, fields: 1 };
        for p in 0..vl as usize {
            for layout in layouts(&form, u64::from(eew / 8), vl as usize, p) {
                // A fresh hart for each, so that the coins are the same.
                let run = |missing: bool| {
                    let mut lab = paged(128, Agnostic::Random(5));
                    access.set_up(&mut lab, &layout);
                    lab.map(layout.missing, !missing);
                    if lab.run(access.ins).is_err() {
                        lab.map(layout.missing, true);
                        lab.ok(access.ins);
                    }
                    lab.state()
                };
                assert!(run(true) == run(false), "{name} at element {p}");
            }
        }
    }
}

/// The whole way: a trap into a handler in M-mode that maps the page and returns; several pages are missing.
#[test]
fn a_guest_handler_maps_pages_and_returns_to_the_instruction() {
    let handler = RAM_BASE + 0x2000;
    // vpn0 from mtval; leaves[vpn0] = x21 + (vpn0 << 10); sfence.vma; mret
    let code = [
        ins("csrrs").rd(22).imm(i32::from(csr::MTVAL)),
        ins("slli").rd(22).rs1(22).imm(64 - 21),
        ins("srli").rd(22).rs1(22).imm(64 - 9),
        ins("slli").rd(23).rs1(22).imm(10),
        ins("add").rd(23).rs1(23).rs2(21),
        ins("slli").rd(22).rs1(22).imm(3),
        ins("add").rd(22).rs1(22).rs2(20),
        ins("sd").rs1(22).rs2(23),
        ins("sfence.vma"),
        ins("mret"),
    ];
    for name in ["vle8.v", "vse8.v", "vlse8.v", "vsse8.v", "vluxei16.v", "vsoxei16.v", "vl8re8.v", "vs8r.v"] {
        let run = |missing: &[u64]| {
            let mut lab = paged(65536, Agnostic::Undisturbed);
            lab.hart.write_csr(csr::MTVEC, handler);
            let words: Vec<u8> = code.iter().flat_map(|i| i.word().to_le_bytes()).collect();
            lab.put_at(handler, &words);
            lab.shake(&mut Random(3));
            lab.set(8, Lmul::M1).x(10, VA + 1000).x(11, 7).x(20, LEAVES).x(21, pte(0));
            for i in 0..lab.vlmax() as usize {
                lab.put(VS2, 16, i, (i * 7) as u64);
            }
            for &page in missing {
                lab.map(page, false);
            }
            let rs2 = if name.contains("xei") { VS2 } else { 11 };
            lab.put_at(CODE, &ins(name).vd(8).rs1(10).rs2(rs2).word().to_le_bytes());
            lab.hart.set_pc(CODE);
            let mut traps = 0;
            for _ in 0..1000 {
                match lab.engine.step(&mut lab.hart) {
                    Stop::Trap(trap) => {
                        assert!(
                            matches!(trap, Trap { cause: Cause::LoadPageFault | Cause::StorePageFault, .. }),
                            "{trap:?}"
                        );
                        traps += 1;
                        lab.hart.take_trap(&trap).unwrap();
                        // epc_vstart_op_V_trap
                        assert_eq!(lab.hart.read_csr(csr::MEPC), Some(CODE));
                    }
                    Stop::Budget
                        if lab.hart.pc() == CODE + 4 && lab.hart.privilege() == Privilege::Supervisor =>
                    {
                        break;
                    }
                    Stop::Budget => {}
                }
            }
            assert_eq!((lab.hart.pc(), lab.hart.vector().vstart), (CODE + 4, 0), "{name}");
            let mut state = lab.state();
            state.x[22..24].fill(0);
            (traps, state, memory(&lab))
        };
        let (none, state, bytes) = run(&[]);
        // 8192 bytes or 57344 from VA + 1000.
        let (some, state2, bytes2) = run(&[0, 1, 2, 5, 9]);
        assert_eq!(none, 0);
        assert!(some >= 3, "{name}: {some} traps");
        assert!(state == state2 && bytes == bytes2, "{name}");
    }
}

fn ff_forms() -> impl Iterator<Item = Form> {
    forms::all().into_iter().filter(|form| form.name().contains("ff"))
}

#[test]
fn fault_only_first_traps_at_element_0_and_shortens_vl_after_it() {
    for policy in POLICIES {
        let mut lab = paged(128, policy);
        for form in ff_forms() {
            let Some(Width::Bits(eew)) = form.vd else { unreachable!() };
            for fields in [1u8, 2, 5] {
                let vtype = Vtype::new(sew_of(eew), Lmul::M1, false, false);
                let vl = u64::from(vtype.vlmax(128));
                let size = u64::from(eew / 8) * u64::from(fields);
                for p in 0..=vl {
                    for straddle in [0, size / 2] {
                        let base = VA + 4 * PAGE - size * p - straddle;
                        let layout = Layout { base, stride: 0, indices: vec![], missing: 4 };
                        let ins = form.ins().fields(fields);
                        let access = Access { form: &form, ins, vtype, vl, eew, fields: fields.into() };
                        access.set_up(&mut lab, &layout);
                        let start = lab.state();
                        lab.map(4, false);
                        let context = format!("{} at element {p}", show(ins));
                        // With p = vl the boundary is behind the last element, unless that straddles... none
                        // does.
                        if p == 0 {
                            let trap = lab.run(ins).expect_err(&context);
                            assert_eq!(trap.cause, Cause::LoadPageFault);
                            assert_eq!(
                                (lab.hart.vector().vl, lab.hart.vector().vstart),
                                (vl, 0),
                                "{context}"
                            );
                            continue;
                        }
                        lab.ok(ins);
                        assert_eq!(lab.hart.vector().vl, p.min(vl), "{context}: vl");
                        for field in 0..fields {
                            for i in 0..p.min(vl) {
                                let at =
                                    (base - VA + size * i + u64::from(eew / 8) * u64::from(field)) as usize;
                                let want = memory(&lab)[at..at + eew as usize / 8].to_vec();
                                let got = lab.get(VD + field, eew, i as usize).to_le_bytes();
                                assert_eq!(got[..want.len()], want, "{context}: element {i}");
                            }
                        }
                        let end = 16 * (VD + fields) as usize;
                        assert_eq!(lab.state().v[end..], start.v[end..], "{context}: other registers");
                    }
                }
            }
        }
    }
}

#[test]
fn fault_only_first_with_masks_and_vstart() {
    let mut lab = paged(128, Agnostic::Undisturbed);
    for p in 1..16u64 {
        // Elements below p are masked off: element p faults all the same, and is not element 0.
        lab.set(8, Lmul::M1).x(10, VA + 4 * PAGE - p).mask(0, 0xffff << p);
        lab.map(4, false);
        lab.ok(ins("vle8ff.v").vd(VD).rs1(10).m());
        assert_eq!(lab.hart.vector().vl, p);
        // Elements from p on are masked off: nothing faults.
        lab.set(8, Lmul::M1).mask(0, (1 << p) - 1);
        lab.ok(ins("vle8ff.v").vd(VD).rs1(10).m());
        assert_eq!(lab.hart.vector().vl, 16);
        // Resumed at the element that faults: it is still not element 0.
        lab.set(8, Lmul::M1).vstart(p);
        lab.ok(ins("vle8ff.v").vd(VD).rs1(10));
        assert_eq!(lab.hart.vector().vl, p);
        // Resumed after a fault at element 0, which has been mapped since.
        lab.set(8, Lmul::M1).x(10, VA + 4 * PAGE);
        lab.run(ins("vle8ff.v").vd(VD).rs1(10)).unwrap_err();
        lab.map(4, true);
        lab.ok(ins("vle8ff.v").vd(VD).rs1(10));
        assert_eq!(lab.hart.vector().vl, 16);
    }
    // vl = 0 and vstart >= vl: no element, no fault, and vl stays.
    lab.map(4, false);
    lab.set(8, Lmul::M1).vl(0);
    lab.ok(ins("vle8ff.v").vd(VD).rs1(10));
    assert_eq!(lab.hart.vector().vl, 0);
    lab.set(8, Lmul::M1).vl(3).vstart(3);
    lab.ok(ins("vle8ff.v").vd(VD).rs1(10));
    assert_eq!(lab.hart.vector().vl, 3);
    // Without a fault nothing is trimmed.
    lab.map(4, true);
    lab.set(8, Lmul::M1).vl(13);
    lab.ok(ins("vle8ff.v").vd(VD).rs1(10));
    assert_eq!(lab.hart.vector().vl, 13);
}
