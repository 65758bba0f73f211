//! Vector loads and stores against a plain model of addresses.

use super::forms::{self, Dest, Form, VD, VS2, Width};
use super::harness::*;
use super::model::{element, set_element};
use rvv_isa::{Lmul, Vtype};
use rvvsim::config::Agnostic;

/// The memory that accesses may touch, and where its middle is.
const WINDOW: usize = 0x4_0000;
const MIDDLE: u64 = DATA + 0x2_0000;

/// Elements moved, and their width; whether `vl` and the mask count.
struct Transfer {
    eew: u32,
    evl: usize,
    group: usize,
    fields: usize,
}

fn transfer(lab: &Lab, form: &Form, ins: Ins) -> Transfer {
    let Vtype { sew, lmul, .. } = lab.hart.vector().vtype;
    let (vl, vlenb) = (lab.hart.vector().vl as usize, lab.hart.vector().vlenb);
    let fields = usize::from(ins.0.nf) + 1;
    match form.vd {
        Some(Width::Mask) => Transfer { eew: 8, evl: vl.div_ceil(8), group: 1, fields: 1 },
        Some(Width::Registers(n)) => {
            Transfer { eew: 8, evl: n as usize * vlenb, group: n as usize, fields: 1 }
        }
        _ => {
            let eew = form.eew(sew.bits());
            Transfer { eew, evl: vl, group: form.registers(sew.bits(), lmul) as usize, fields }
        }
    }
}

/// The address of segment `i`, as the chapter on addressing modes has it.
fn address(lab: &Lab, form: &Form, ins: Ins, t: &Transfer, i: usize) -> u64 {
    let base = lab.hart.x(ins.0.rs1);
    let size = u64::from(t.eew / 8) * t.fields as u64;
    let name = form.name();
    let offset = match form.vs2 {
        Some(Width::Bits(n)) => lab.get(ins.0.rs2, n, i),
        _ if name.starts_with("vls") || name.starts_with("vss") => {
            (lab.hart.x(ins.0.rs2)).wrapping_mul(i as u64)
        }
        _ => size * i as u64,
    };
    base.wrapping_add(offset)
}

/// Registers and memory after the instruction, nothing agnostic overwritten.
fn model(lab: &Lab, form: &Form, ins: Ins) -> (Vec<u8>, Vec<u8>) {
    let mut v = lab.state().v;
    let mut memory = lab.at(DATA, WINDOW).to_vec();
    let vlenb = lab.hart.vector().vlenb;
    let t = transfer(lab, form, ins);
    // Whole registers: in elements of the encoded width, which vstart counts.
    let start = lab.hart.vector().vstart as usize
        * if let Some(Width::Registers(_)) = form.vd { whole_eew(form) / 8 } else { 1 };
    for i in start..t.evl {
        if form.maskable && !ins.0.vm && !lab.bit(0, i) {
            continue;
        }
        for field in 0..t.fields {
            let register = ins.0.rd + (field * t.group) as u8;
            let size = t.eew as usize / 8;
            let at = (address(lab, form, ins, &t, i) - DATA) as usize + field * size;
            if form.dest == Dest::Memory {
                let value = element(&v, vlenb, register, t.eew, i);
                memory[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            } else {
                let mut bytes = [0; 8];
                bytes[..size].copy_from_slice(&memory[at..at + size]);
                set_element(&mut v, vlenb, register, t.eew, i, u64::from_le_bytes(bytes));
            }
        }
    }
    (v, memory)
}

fn whole_eew(form: &Form) -> usize {
    match form.name().split_once("re") {
        Some((_, eew)) => eew.trim_end_matches(".v").parse().expect("an EEW"),
        None => 8,
    }
}

/// Every load and store, at every vtype, with random vl, vstart, mask, fields, strides (negative and zero
/// too) and indices.
#[test]
fn loads_and_stores_agree_with_the_plain_model() {
    let mut random = Random(5);
    let mut count = 0;
    for vlen in [128u32, 256, 1024, 16384] {
        let mut lab = Lab::new(vlen);
        for form in forms::all().iter().filter(|form| form.memory) {
            for (sew, lmul) in vtypes(vlen) {
                if !form.fits(sew, lmul) || vlen > 4096 && random.below(8) != 0 {
                    continue;
                }
                for _ in 0..2 {
                    one_transfer(&mut lab, form, sew, lmul, &mut random);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 7_000, "{count}");
}

fn one_transfer(lab: &mut Lab, form: &Form, sew: u32, lmul: Lmul, random: &mut Random) {
    lab.shake(random).set(sew, lmul);
    let vlmax = lab.vlmax();
    let mut ins = form.ins();
    let registers = form.registers(sew, lmul);
    if form.op.info().operands.iter().any(|o| o.name() == "nf") {
        ins = ins.fields(1 + random.below(8 / u64::from(registers)) as u8);
    }
    ins = ins.masked(form.maskable && random.below(2) == 0);
    let vl = random.pick(&[0, 1, vlmax / 2, vlmax, random.0 % (vlmax + 1)]);
    let vstart = if random.below(4) == 0 { random.below(vlmax) } else { 0 };
    // Of whole registers it is evl that counts.
    let evl = match form.vd {
        Some(Width::Registers(n)) => u64::from(n) * u64::from(lab.vlen()) / whole_eew(form) as u64,
        _ => u64::MAX,
    };
    let vstart = vstart % evl;
    lab.vl(vl).vstart(vstart);
    let bytes: Vec<u8> = (0..WINDOW / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    lab.put_at(DATA, &bytes);
    // Strides small enough to stay in the window, but of any sign and alignment.
    let reach = 0x1_0000 / (vlmax as i64).max(1);
    let stride = random.next() as i64 % reach.max(1);
    lab.x(forms::DATA_X, MIDDLE + random.below(16)).x(forms::STRIDE_X, stride as u64);
    if let Some(Width::Bits(eew)) = form.vs2 {
        for i in 0..vlmax as usize {
            let most = low(0x1_f000, eew.min(32));
            lab.put(VS2, eew, i, random.below(most + 1) & low(!0, eew));
        }
        // Segments need indices out of the way of vd.
        if u32::from(VD) + registers * u32::from(ins.0.nf + 1) > u32::from(VS2) {
            return;
        }
    }
    let (v, memory) = model(lab, form, ins);
    let context = format!(
        "{} under {}, vl={vl} vstart={vstart} VLEN {}",
        show(ins),
        lab.hart.vector().vtype,
        lab.vlen()
    );
    lab.ok(ins);
    assert!(lab.state().v == v, "{context}: registers");
    assert!(lab.at(DATA, WINDOW) == memory, "{context}: memory");
    assert_eq!(lab.hart.vector().vl, vl, "{context}");
}

#[test]
fn indices_are_unsigned_byte_offsets_of_their_own_width() {
    for (eew, name) in [(8, "vluxei8.v"), (16, "vluxei16.v"), (32, "vluxei32.v")] {
        let mut lab = Lab::new(128);
        // The largest index: 2^EEW-1, not -1.
        let far = if eew == 32 { 0x10_0003 } else { (1u64 << eew) - 1 };
        lab.set(8, Lmul::M1).vl(2).puts(VS2, eew, &[3, far]).x(10, DATA);
        lab.put_at(DATA + 3, &[0xa1]);
        lab.put_at(DATA + far, &[0xa2]);
        lab.ok(ins(name).vd(VD).vs2(VS2).rs1(10));
        assert_eq!(lab.gets(VD, 8, 2), [0xa1, 0xa2], "{name}");
    }
    // 64-bit indices: the address wraps around.
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(1).puts(VS2, 64, &[0u64.wrapping_sub(8)]).x(10, DATA + 8);
    lab.put_at(DATA, &[0xa3]);
    lab.ok(ins("vloxei64.v").vd(VD).vs2(VS2).rs1(10));
    assert_eq!(lab.get(VD, 8, 0), 0xa3);
}

/// The data of indexed accesses have SEW and LMUL, the indices their own EEW and EMUL=(EEW/SEW)*LMUL; of the
/// others the data have the encoded EEW.
#[test]
fn memory_eew_is_of_the_data_or_of_the_indices() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M2).vl(8).x(10, DATA);
    for i in 0..8 {
        lab.put(VS2, 8, i, 4 * (7 - i) as u64);
        lab.put_at(DATA + 4 * i as u64, &(1000 + i as u32).to_le_bytes());
    }
    lab.ok(ins("vluxei8.v").vd(VD).vs2(VS2).rs1(10));
    assert_eq!(lab.gets(VD, 32, 8), [1007, 1006, 1005, 1004, 1003, 1002, 1001, 1000]);
    // EEW=8 with SEW=32: eight bytes, and EMUL is 1/2.
    lab.put(VD, 64, 0, 0).put(VD, 64, 1, 0);
    lab.ok(ins("vle8.v").vd(VD).rs1(10));
    assert_eq!(lab.get(VD, 64, 0), u64::from_le_bytes(lab.at(DATA, 8).try_into().unwrap()));
    assert_eq!(lab.get(VD, 64, 1), 0);
    // EMUL=1/2, so that an odd register will do.
    lab.ok(ins("vle8.v").vd(9).rs1(10));
}

#[test]
fn mask_loads_and_stores_move_ceil_vl_8_bytes() {
    for tail in POLICIES {
        for vl in 0..=16u64 {
            let mut lab = Lab::policies(128, tail, Agnostic::Undisturbed);
            // Neither LMUL nor the mask matter.
            lab.set(8, Lmul::M8).vl(vl).mask(0, 0).x(10, DATA).puts(9, 8, &[0x11; 16]);
            lab.put_at(DATA, &[0xa0, 0xa1, 0xa2, 0xa3]);
            lab.ok(ins("vlm.v").vd(9).rs1(10));
            let evl = vl.div_ceil(8) as usize;
            for i in 0..16 {
                let got = lab.get(9, 8, i);
                if i < evl {
                    assert_eq!(got, 0xa0 + i as u64);
                } else if vl == 0 || tail == Agnostic::Undisturbed {
                    assert_eq!(got, 0x11);
                } else {
                    // vta=0, and yet agnostic.
                    assert!(
                        got == 0xff || got == 0x11 && matches!(tail, Agnostic::Random(_)),
                        "{tail:?} {got:x}"
                    );
                }
            }
            lab.put_at(DATA, &[0; 16]);
            lab.puts(9, 8, &[0xb0, 0xb1, 0xb2]);
            lab.ok(ins("vsm.v").vd(9).rs1(10));
            let stored: Vec<u8> = (0..16).map(|i| if i < evl { 0xb0 + i as u8 } else { 0 }).collect();
            assert_eq!(lab.at(DATA, 16), stored);
        }
    }
}

/// `vstart` of a mask access counts bytes.
#[test]
fn mask_loads_and_stores_resume_at_a_byte() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M8).vl(24).vstart(1).x(10, DATA).puts(9, 8, &[1, 2, 3, 4]);
    lab.put_at(DATA, &[0xa0, 0xa1, 0xa2, 0xa3]);
    lab.ok(ins("vlm.v").vd(9).rs1(10));
    assert_eq!(lab.gets(9, 8, 4), [1, 0xa1, 0xa2, 4]);
}

#[test]
fn whole_register_accesses_ignore_vtype_and_vl_and_check_vstart_against_evl() {
    let mut lab = Lab::new(128);
    let bytes: Vec<u8> = (0..128).collect();
    for vtype in [Vtype::VILL, Vtype::new(sew_of(64), Lmul::M1, true, true)] {
        for (n, name) in [(1u8, "vl1re8.v"), (2, "vl2re16.v"), (4, "vl4re32.v"), (8, "vl8re64.v")] {
            let eew = [8u64, 16, 32, 64][n.ilog2() as usize];
            lab.hart.vector_mut().vtype = vtype;
            lab.vl(0).vstart(0).x(10, DATA);
            lab.put_at(DATA, &bytes);
            lab.shake(&mut Random(9));
            let before = lab.state();
            lab.ok(ins(name).vd(8).rs1(10));
            let whole = usize::from(n) * 16;
            let v = lab.state().v;
            assert_eq!(v[128..128 + whole], bytes[..whole], "{name}");
            assert_eq!(v[128 + whole..], before.v[128 + whole..], "{name}");
            // From the middle on, though vl is 0.
            lab.restore(&before);
            let evl = u64::from(n) * 128 / eew;
            lab.vstart(evl - 1);
            lab.ok(ins(name).vd(8).rs1(10));
            let last = whole - eew as usize / 8;
            let v = lab.state().v;
            assert_eq!(v[128..128 + last], before.v[128..128 + last], "{name}");
            assert_eq!(v[128 + last..128 + whole], bytes[last..whole], "{name}");
            lab.vstart(evl);
            lab.cites(ins(name).vd(8).rs1(10), "vector_ls_seg_wholereg_evl");
            // Stores are of bytes.
            let name = format!("vs{n}r.v");
            lab.vstart(0);
            lab.put_at(DATA, &[0; 128]);
            lab.ok(ins(&name).vd(8).rs1(10));
            let stored = lab.state().v[128..128 + whole].to_vec();
            assert_eq!(lab.at(DATA, whole), stored, "{name}");
            lab.vstart(u64::from(n) * 16);
            lab.cites(ins(&name).vd(8).rs1(10), "vector_ls_seg_wholereg_evl");
        }
    }
}

/// "EEW is computed as EEW=min(VLEN*NFIELDS, EEW_encoded)": one register of 32 bits is one element of 32
/// bits, whatever the load encodes. Two of them would be an element of 64 bits, which Zve32x does not have.
#[test]
fn whole_register_loads_have_an_eew_that_fits_their_registers() {
    let mut lab = Lab::isa(32, "rv64i_zve32x");
    lab.x(10, DATA).put_at(DATA, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for (name, evl) in [("vl1re8.v", 4), ("vl1re16.v", 2), ("vl1re32.v", 1), ("vl1re64.v", 1)] {
        lab.put(8, 32, 0, 0).put(9, 32, 0, 0).vstart(0);
        lab.ok(ins(name).vd(8).rs1(10));
        assert_eq!((lab.get(8, 32, 0), lab.get(9, 32, 0)), (0x0403_0201, 0), "{name}");
        lab.vstart(evl);
        lab.cites(ins(name).vd(8).rs1(10), "vector_ls_seg_wholereg_evl");
    }
    lab.vstart(0);
    lab.ok(ins("vl2re32.v").vd(8).rs1(10));
    assert_eq!(lab.gets(8, 32, 2), [0x0403_0201, 0x0807_0605]);
    for name in ["vl2re64.v", "vl4re64.v", "vl8re64.v"] {
        lab.cites(ins(name).vd(8).rs1(10), "vector_ls_ins_rsv");
    }
    let mut lab = Lab::isa(64, "rv64i_zve32x");
    lab.x(10, DATA);
    lab.cites(ins("vl1re64.v").vd(8).rs1(10), "vector_ls_ins_rsv");
    let mut lab = Lab::isa(64, "rv64i_zve64x");
    lab.x(10, DATA);
    lab.ok(ins("vl1re64.v").vd(8).rs1(10));
}

#[test]
fn segments_put_field_k_in_the_kth_group() {
    let mut lab = Lab::new(128);
    lab.x(10, DATA).x(11, 40);
    let bytes: Vec<u8> = (0..=255).collect();
    lab.put_at(DATA, &bytes);
    lab.set(16, Lmul::M2).vl(10);
    // EMUL=2, three fields in v10, v12, v14; vl counts segments.
    lab.ok(ins("vle16.v").vd(10).rs1(10).fields(3));
    for i in 0..10 {
        for field in 0..3u8 {
            let at = (i * 3 + usize::from(field)) * 2;
            let want = u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
            assert_eq!(lab.get(10 + 2 * field, 16, i), want);
        }
    }
    // Strided: the stride is between segments.
    lab.set(8, Lmul::M1).vl(5);
    lab.ok(ins("vlse8.v").vd(4).rs1(10).rs2(11).fields(4));
    for field in 0..4 {
        assert_eq!(lab.gets(4 + field, 8, 5), [0, 40, 80, 120, 160].map(|x| x + u64::from(field)));
    }
    // Masks apply to segments.
    lab.mask(0, 0b10).puts(4, 8, &[9, 9]).puts(5, 8, &[9, 9]).vl(2);
    lab.ok(ins("vle8.v").vd(4).rs1(10).fields(2).m());
    assert_eq!((lab.gets(4, 8, 2), lab.gets(5, 8, 2)), (vec![9, 2], vec![9, 3]));
    // vstart is in units of segments.
    lab.vl(3).vstart(2).puts(4, 8, &[9; 3]).puts(5, 8, &[9; 3]);
    lab.ok(ins("vle8.v").vd(4).rs1(10).fields(2));
    assert_eq!((lab.gets(4, 8, 3), lab.gets(5, 8, 3)), (vec![9, 9, 4], vec![9, 9, 5]));
    // Stores take the first field from vs3.
    lab.vl(2).puts(4, 8, &[0xa0, 0xa1]).puts(5, 8, &[0xb0, 0xb1]);
    lab.ok(ins("vse8.v").vd(4).rs1(10).fields(2));
    assert_eq!(lab.at(DATA, 5), [0xa0, 0xb0, 0xa1, 0xb1, 4]);
}

#[test]
fn indexed_segment_loads_keep_destination_and_indices_apart() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(1).x(10, DATA).put(8, 8, 0, 0);
    let rule = "vector_ls_seg_indexed_vreg_rsv";
    for vs2 in 8..11 {
        lab.cites(ins("vluxei8.v").vd(8).vs2(vs2).rs1(10).fields(3), rule);
        lab.cites(ins("vloxei8.v").vd(8).vs2(vs2).rs1(10).fields(3), rule);
    }
    lab.put(11, 8, 0, 0).put(7, 8, 0, 0);
    lab.ok(ins("vluxei8.v").vd(8).vs2(11).rs1(10).fields(3));
    lab.ok(ins("vluxei8.v").vd(8).vs2(7).rs1(10).fields(3));
    // One field may overlap if the EEW is the same; stores may read both.
    lab.put(8, 8, 0, 0);
    lab.ok(ins("vluxei8.v").vd(8).vs2(8).rs1(10));
    lab.put(9, 8, 0, 0);
    lab.ok(ins("vsuxei8.v").vd(8).vs2(9).rs1(10).fields(3));
}

/// Overlapping elements of an ordered indexed store: the last one stays. (Ours keeps the order in all forms.)
#[test]
fn ordered_indexed_stores_write_in_element_order() {
    for name in ["vsoxei8.v", "vsuxei8.v"] {
        let mut lab = Lab::new(128);
        lab.set(16, Lmul::M1)
            .vl(4)
            .puts(VS2, 8, &[0, 1, 1, 0])
            .puts(VD, 16, &[0x1111, 0x2222, 0x3333, 0x4444])
            .x(10, DATA);
        lab.ok(ins(name).vd(VD).vs2(VS2).rs1(10));
        assert_eq!(lab.at(DATA, 3), [0x44, 0x44, 0x33], "{name}");
    }
    // Zero stride, too.
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(4).puts(VD, 8, &[1, 2, 3, 4]).x(10, DATA).x(11, 0);
    lab.ok(ins("vsse8.v").vd(VD).rs1(10).rs2(11));
    lab.ok(ins("vsse8.v").vd(VD).rs1(10).rs2(0));
    assert_eq!(lab.at(DATA, 2), [4, 0]);
    lab.ok(ins("vlse8.v").vd(VD).rs1(10).rs2(0));
    assert_eq!(lab.gets(VD, 8, 4), [4; 4]);
}

/// Misaligned elements: moved, or a misaligned exception on the element, as configured for scalars.
#[test]
fn misaligned_elements_are_moved_or_trap_precisely() {
    for misaligned in [true, false] {
        let mut lab = Lab::with(128, |config| config.misaligned = misaligned);
        lab.put_at(DATA, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        lab.set(16, Lmul::M1).vl(3).x(10, DATA).puts(VS2, 8, &[0, 3, 4]).puts(VD, 16, &[0; 3]);
        let load = ins("vluxei8.v").vd(VD).vs2(VS2).rs1(10);
        if misaligned {
            lab.ok(load);
            assert_eq!(lab.gets(VD, 16, 3), [0x0201, 0x0504, 0x0605]);
            lab.x(10, DATA + 1);
            lab.ok(ins("vle16.v").vd(VD).rs1(10));
            assert_eq!(lab.gets(VD, 16, 3), [0x0302, 0x0504, 0x0706]);
        } else {
            let trap = lab.run(load).unwrap_err();
            assert_eq!((trap.cause as u8, trap.tval, lab.hart.vector().vstart), (4, DATA + 3, 1));
            assert_eq!(lab.gets(VD, 16, 3), [0x0201, 0, 0]);
            lab.vstart(0);
            let trap = lab.run(ins("vsuxei8.v").vd(VD).vs2(VS2).rs1(10)).unwrap_err();
            assert_eq!((trap.cause as u8, trap.tval, lab.hart.vector().vstart), (6, DATA + 3, 1));
            lab.vstart(0).x(10, DATA + 1);
            let trap = lab.run(ins("vle16.v").vd(VD).rs1(10)).unwrap_err();
            assert_eq!((trap.cause as u8, trap.tval, lab.hart.vector().vstart), (4, DATA + 1, 0));
            // Bytes are never misaligned.
            lab.set(8, Lmul::M1).vl(3);
            lab.ok(ins("vle8.v").vd(VD).rs1(10));
        }
    }
}

/// A device: accesses beyond a fault are not made. The CLINT's `mtimecmp` is the register at hand.
#[test]
fn stores_to_a_device_stop_at_the_fault() {
    let mut lab = Lab::new(128);
    let mtimecmp = 0x200_4000;
    lab.set(64, Lmul::M2).vl(3).x(10, 0).puts(VD, 64, &[0x1234, 0x5678, 0x9abc]);
    // Element 0 to mtimecmp, element 1 nowhere, element 2 to mtimecmp.
    lab.puts(VS2, 64, &[mtimecmp, 0x7000_0000, mtimecmp]);
    let trap = lab.run(ins("vsoxei64.v").vd(VD).vs2(VS2).rs1(10)).unwrap_err();
    assert_eq!((trap.cause as u8, lab.hart.vector().vstart), (7, 1));
    lab.x(12, mtimecmp);
    lab.run(ins("ld").rd(13).rs1(12)).unwrap();
    assert_eq!(lab.hart.x(13), 0x1234);
}

#[test]
fn vector_accesses_take_part_in_program_order() {
    // A vector store over the code that follows it, and loads that see it.
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(1).x(10, DATA).put(VD, 32, 0, 0xdead);
    lab.ok(ins("vse32.v").vd(VD).rs1(10));
    lab.run(ins("lw").rd(5).rs1(10)).unwrap();
    assert_eq!(lab.hart.x(5), 0xdead);
    lab.x(5, 77);
    lab.run(ins("sw").rs1(10).rs2(5)).unwrap();
    lab.ok(ins("vle32.v").vd(VD).rs1(10));
    assert_eq!(lab.get(VD, 32, 0), 77);
}

/// Whole registers: aligned to the encoded EEW, or moved or trapped as scalars are.
#[test]
fn whole_registers_may_be_misaligned_or_trap() {
    for misaligned in [true, false] {
        let mut lab = Lab::with(128, |config| config.misaligned = misaligned);
        let bytes: Vec<u8> = (0..40).collect();
        lab.put_at(DATA, &bytes);
        lab.set(8, Lmul::M1).x(10, DATA + 2);
        // Aligned to its EEW is enough.
        lab.ok(ins("vl1re16.v").vd(VD).rs1(10));
        assert_eq!(lab.hart.vector().register(VD), &bytes[2..18]);
        let result = lab.run(ins("vl1re64.v").vd(VD).rs1(10));
        if misaligned {
            assert!(result.is_ok());
            assert_eq!(lab.hart.vector().register(VD), &bytes[2..18]);
        } else {
            let trap = result.unwrap_err();
            assert_eq!((trap.cause as u8, trap.tval, lab.hart.vector().vstart), (4, DATA + 2, 0));
        }
        // Stores are of bytes.
        lab.vstart(0).x(10, DATA + 3);
        lab.ok(ins("vs1r.v").vd(VD).rs1(10));
    }
}
