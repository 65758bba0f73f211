//! Prestart, active, inactive and tail elements under every agnostic policy, for every instruction.

use super::forms::{self, Dest, Form, SCALAR, VD, VS1, VS2, Width};
use super::harness::*;
use rvv_isa::{Lmul, Vtype};
use rvvsim::config::Agnostic;
use std::collections::BTreeMap;

/// What an instruction does to an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Prestart,
    Active,
    Inactive,
    Tail,
}

/// One run of one instruction: what it was given.
struct Case<'a> {
    form: &'a Form,
    fields: u8,
    masked: bool,
    before: &'a State,
    vlen: u32,
}

impl Case<'_> {
    /// The elements of one field of `vd`: (bits each, how many).
    fn elements(&self) -> (u32, usize) {
        let Vtype { sew, lmul, .. } = self.before.vtype;
        match self.form.vd {
            _ if self.form.name() == "vlm.v" => (8, self.vlen as usize / 8),
            Some(Width::Mask) => (1, self.vlen as usize),
            _ => {
                let eew = self.form.eew(sew.bits());
                (eew, (self.form.registers(sew.bits(), lmul) * self.vlen / eew) as usize)
            }
        }
    }

    fn fate(&self, i: usize) -> Fate {
        let State { vl, vstart, v, .. } = self.before;
        let (vl, vstart) = (*vl as usize, *vstart as usize);
        let bit =
            |register: usize, i: usize| v[register * self.vlen as usize / 8 + i / 8] >> (i % 8) & 1 == 1;
        let vl = match (self.form.vd, self.form.name()) {
            (Some(Width::Element | Width::WideElement), _) => vl.min(1),
            (_, "vlm.v") => vl.div_ceil(8),
            (_, "vcompress.vm") => (0..vl).filter(|&i| bit(VS1.into(), i)).count(),
            (Some(Width::Registers(n)), _) => (n * self.vlen) as usize,
            _ => vl,
        };
        let offset =
            if self.form.name() == "vslideup.vx" { self.before.x[usize::from(SCALAR)] as usize } else { 0 };
        // The result of a reduction is written whatever the mask says.
        let scalar_result = matches!(self.form.vd, Some(Width::Element | Width::WideElement));
        match i {
            _ if i < vstart || (i < offset && i < vl) => Fate::Prestart,
            _ if i >= vl => Fate::Tail,
            _ if self.masked && !scalar_result && !bit(0, i) => Fate::Inactive,
            _ => Fate::Active,
        }
    }

    /// Whether a set is agnostic.
    fn agnostic(&self, fate: Fate) -> bool {
        let always = matches!(self.form.vd, Some(Width::Mask));
        match fate {
            Fate::Tail => always || self.before.vtype.vta,
            _ => self.before.vtype.vma,
        }
    }
}

/// Bits `i * bits..(i + 1) * bits` of a slice.
fn bits(v: &[u8], bits: u32, i: usize) -> u64 {
    if bits == 1 {
        return u64::from(v[i / 8] >> (i % 8) & 1);
    }
    let size = bits as usize / 8;
    (0..size).fold(0, |value, k| value | u64::from(v[i * size + k]) << (8 * k))
}

/// How often a random policy kept an element and how often it overwrote it.
type Tosses = BTreeMap<(&'static str, bool), [usize; 2]>;

fn check(case: &Case, tail: Agnostic, mask: Agnostic, reference: &State, got: &State, tosses: &mut Tosses) {
    let vlenb = case.vlen as usize / 8;
    let Vtype { sew, lmul, .. } = case.before.vtype;
    let group = case.form.registers(sew.bits(), lmul) as usize * vlenb;
    let (width, count) = case.elements();
    let ones = low(!0, width);
    let name = case.form.name();
    // Everything but the destination is as in the reference run.
    let destination = VD as usize * vlenb..VD as usize * vlenb + usize::from(case.fields) * group;
    assert_eq!(got.v[..destination.start], reference.v[..destination.start], "{name}: lower registers");
    assert_eq!(got.v[destination.end..], reference.v[destination.end..], "{name}: higher registers");
    assert_eq!((got.x, got.f, got.vl, got.vtype), (reference.x, reference.f, reference.vl, reference.vtype));
    assert_eq!((got.vxsat, got.fflags, got.vstart), (reference.vxsat, reference.fflags, 0), "{name}");
    let last_body = case.before.vl as usize;
    for field in 0..usize::from(case.fields) {
        let part = |state: &State| state.v[destination.start + field * group..][..group].to_vec();
        let (old, base, new) = (part(case.before), part(reference), part(got));
        let ones_until = (last_body * width as usize / 8).next_multiple_of(vlenb);
        for i in 0..count {
            let (old, base, new) = (bits(&old, width, i), bits(&base, width, i), bits(&new, width, i));
            let fate = case.fate(i);
            let context = || {
                let State { vtype, vl, vstart, .. } = case.before;
                format!(
                    "{name} under {vtype}, vl={vl} vstart={vstart} masked={}, tail {tail:?} mask {mask:?}: \
                     {fate:?} element {i}",
                    case.masked
                )
            };
            let policy = match fate {
                Fate::Active => {
                    assert_eq!(new, base, "{}", context());
                    continue;
                }
                Fate::Prestart => Agnostic::Undisturbed,
                _ if !case.agnostic(fate) => Agnostic::Undisturbed,
                Fate::Inactive => mask,
                Fate::Tail => tail,
            };
            match policy {
                Agnostic::Undisturbed => assert_eq!(new, old, "{}", context()),
                Agnostic::Ones => assert_eq!(new, ones, "{}", context()),
                Agnostic::OnesToRegister => {
                    // Of a mask, a single element or a compressed vector it is one register.
                    let single = width == 1
                        || name == "vlm.v"
                        || matches!(case.form.vd, Some(Width::Element | Width::WideElement));
                    let until = match fate {
                        Fate::Tail if name == "vcompress.vm" => {
                            let packed = (0..count).filter(|&i| case.fate(i) == Fate::Active).count();
                            (packed * width as usize / 8).next_multiple_of(vlenb)
                        }
                        Fate::Tail if !single => ones_until,
                        _ => usize::MAX,
                    };
                    // A compress that packs nothing writes no element of any register: either will do.
                    if until == 0 {
                        assert!(new == old || new == ones, "{}", context());
                        continue;
                    }
                    let want = if i * width as usize / 8 < until { ones } else { old };
                    assert_eq!(new, want, "{}", context());
                }
                Agnostic::Random(_) => {
                    assert!(new == old || new == ones, "{}: {old:x} became {new:x}", context());
                    if old != ones {
                        tosses.entry((name, fate == Fate::Tail)).or_default()[usize::from(new == ones)] += 1;
                    }
                }
            }
        }
    }
}

/// Each instruction at some SEWs and LMULs, masked and not, with `vstart` 0 and not, under all four settings
/// of vta and vma and all policies: results are as under the undisturbed policy, agnostic elements are
/// treated as each policy says, and nothing else changes.
#[test]
fn every_instruction_treats_every_element_by_its_policy() {
    let vlen = 128;
    let mut labs: Vec<(Agnostic, Agnostic, Lab)> = Vec::new();
    for tail in POLICIES {
        for mask in POLICIES {
            if tail == mask || tail == Agnostic::Undisturbed || mask == Agnostic::Undisturbed {
                labs.push((tail, mask, Lab::policies(vlen, tail, mask)));
            }
        }
    }
    let mut random = Random(0x90);
    let mut tosses = Tosses::new();
    let mut count = 0;
    for form in forms::all().iter().filter(|form| form.dest == Dest::Vector) {
        for (sew, lmul) in
            [(8, Lmul::Mf2), (8, Lmul::M1), (16, Lmul::M1), (32, Lmul::M2), (64, Lmul::M2), (64, Lmul::M1)]
        {
            if !form.sews().contains(&sew)
                || !form.fits(sew, lmul)
                || (form.egs == 8 || sew == 64 && form.egs > 1) && lmul == Lmul::M1
            {
                continue;
            }
            let segments = form.memory && form.op.info().operands.iter().any(|o| o.name() == "nf");
            for variant in 0..16 {
                let masked = form.maskable && variant & 1 == 1;
                if form.carry && variant & 1 == 0 || !form.maskable && !form.carry && variant & 1 == 1 {
                    continue;
                }
                let fields =
                    if segments && form.registers(sew, lmul) <= 4 && variant & 12 == 4 { 2 } else { 1 };
                let vtype = Vtype::new(sew_of(sew), lmul, variant & 4 != 0, variant & 8 != 0);
                let vlmax = u64::from(vtype.vlmax(vlen));
                let mut vl = if variant & 2 == 0 { vlmax / 2 + 1 } else { vlmax.saturating_sub(1).max(1) };
                let mut vstart = if form.restartable() && variant & 2 != 0 { vl / 3 } else { 0 };
                vl -= vl % form.egs;
                vstart -= vstart % form.egs;
                if matches!(form.vd, Some(Width::Registers(_))) || form.name() == "vlm.v" {
                    vstart = 0;
                }
                if vl == 0 {
                    vl = form.egs;
                }
                let base = &mut labs[0].2;
                base.shake(&mut random).set_vtype(vtype).vl(vl).vstart(vstart);
                forms::prepare(base, form, sew);
                let before = base.state();
                let ins = form.ins().masked(masked || form.carry).fields(fields);
                let ins = if segments { ins } else { form.ins().masked(masked || form.carry) };
                base.ok(ins);
                let reference = base.state();
                let case = Case { form, fields, masked, before: &before, vlen };
                for (tail, mask, lab) in &mut labs {
                    lab.restore(&before);
                    lab.ok(ins);
                    check(&case, *tail, *mask, &reference, &lab.state(), &mut tosses);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 50_000, "{count} cases");
    for ((name, tail), [kept, ones]) in tosses {
        assert!(
            kept > 0 && ones > 0,
            "{name}, {}: kept {kept}, ones {ones}",
            if tail { "tail" } else { "inactive" }
        );
    }
}

/// With `vstart` ≥ `vl`, and with `vl` = 0, no element changes under any policy; `x` and `f` results are
/// written.
#[test]
fn nothing_changes_when_vstart_is_not_below_vl() {
    let mut random = Random(7);
    for policy in POLICIES {
        let mut lab = Lab::policies(128, policy, policy);
        for form in forms::all() {
            let Some(sew) = form.sews().into_iter().find(|&sew| form.fits(sew, Lmul::M2)) else { continue };
            for (vl, vstart) in [(0, 0), (0, form.egs), (form.egs, form.egs), (form.egs, 2 * form.egs)] {
                if vstart > 0 && !form.restartable() || matches!(form.vd, Some(Width::Registers(_))) {
                    continue;
                }
                let vtype = Vtype::new(sew_of(sew), Lmul::M2, true, true);
                if vstart >= u64::from(vtype.vlmax(128)) {
                    continue;
                }
                lab.shake(&mut random).set_vtype(vtype).vl(vl).vstart(vstart).x(VD, 77).f(VD, 77);
                // The registers hold anything, so only quiet memory instructions have indices that make
                // sense.
                forms::prepare(&mut lab, &form, sew);
                let mut want = lab.state();
                want.vstart = 0;
                let ins = form.ins().masked(form.carry || form.maskable);
                let evl_one = matches!(form.name(), "vlm.v" | "vsm.v") && vstart == 0 && vl > 0;
                if evl_one {
                    continue;
                }
                lab.ok(ins);
                let got = lab.state();
                match form.dest {
                    Dest::X => {
                        assert_ne!(got.x[usize::from(VD)], 77, "{}: x[rd] is written", form.name());
                        want.x = got.x;
                    }
                    Dest::F => {
                        assert_ne!(got.f[usize::from(VD)], 77, "{}: f[rd] is written", form.name());
                        want.f = got.f;
                    }
                    _ => {}
                }
                assert!(got == want, "{} vl={vl} vstart={vstart} {policy:?}", show(ins));
            }
        }
    }
}

/// The space past VLMAX of a fractional group is tail.
#[test]
fn fractional_lmul_leaves_the_rest_of_the_register_to_the_tail() {
    for (vta, want) in [(false, 0x5a), (true, 0xff)] {
        let mut lab = Lab::policies(128, Agnostic::Ones, Agnostic::Undisturbed);
        lab.set_vtype(Vtype::new(sew_of(8), Lmul::Mf4, vta, false));
        lab.puts(VD, 8, &[0x5a; 16]).puts(VD + 1, 8, &[0x5a; 16]);
        assert_eq!(lab.hart.vector().vl, 4);
        lab.ok(ins("vmv.v.i").vd(VD).imm(1));
        assert_eq!(lab.gets(VD, 8, 4), [1; 4]);
        assert_eq!(lab.gets(VD, 8, 16)[4..], [want; 12]);
        assert_eq!(lab.gets(VD + 1, 8, 16), [0x5a; 16], "the next register is no tail");
    }
}

#[test]
fn the_mask_is_v0_bit_by_element_whatever_sew_and_lmul() {
    let mut lab = Lab::new(128);
    for (sew, lmul) in vtypes(128) {
        lab.set(sew, lmul);
        let n = lab.vlmax() as usize;
        let mut random = Random(u64::from(sew) << 8 | lmul as u64);
        for word in 0..2 {
            lab.put(0, 64, word, random.next());
        }
        for i in 0..n {
            lab.put(VD, sew, i, 0).put(VS2, sew, i, 1);
        }
        lab.ok(ins("vadd.vi").vd(VD).vs2(VS2).imm(4).m());
        for i in 0..n {
            assert_eq!(lab.get(VD, sew, i), if lab.bit(0, i) { 5 } else { 0 }, "e{sew},{lmul} element {i}");
        }
        // A compare writes one bit for each element into one register.
        lab.ok(ins("vmseq.vi").vd(VS1 + 1).vs2(VD).imm(5));
        for i in 0..n {
            assert_eq!(lab.bit(VS1 + 1, i), lab.bit(0, i), "e{sew},{lmul} element {i}");
        }
    }
}

#[test]
fn elements_are_packed_in_order_through_the_registers_of_a_group() {
    for (sew, lmul) in vtypes(128) {
        let mut lab = Lab::new(128);
        lab.set(sew, lmul);
        lab.ok(ins("vid.v").vd(8));
        let bytes: Vec<u8> =
            (8..8 + lmul.registers() as u8).flat_map(|r| lab.hart.vector().register(r).to_vec()).collect();
        for i in 0..lab.vlmax() as usize {
            assert_eq!(bits(&bytes, sew, i), low(i as u64, sew), "e{sew},{lmul} element {i}");
        }
    }
}

/// Masked-off elements never trap: an inactive signalling NaN, a division, an address that is not there.
#[test]
fn inactive_prestart_and_tail_elements_raise_nothing() {
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(3).vstart(1).mask(0, 0b1011);
    let snan = 0x7f80_0001;
    lab.puts(VS2, 32, &[snan, 0x3f80_0000, snan, snan]);
    lab.ok(ins("vfadd.vv").vd(VD).vs2(VS2).vs1(VS2).m());
    assert_eq!(lab.hart.fflags().bits(), 0);
    lab.ok(ins("vfadd.vv").vd(VD).vs2(VS2).vs1(VS2).m());
    assert_eq!(lab.hart.fflags().bits(), 16, "now element 0 is active");
    // Memory: indices into nowhere.
    lab.vl(3).vstart(1).x(10, DATA).puts(VS2, 32, &[0x7000_0000, 0, 0x7000_0000, 0x7000_0000]);
    lab.put_at(DATA, &7u32.to_le_bytes());
    lab.ok(ins("vluxei32.v").vd(VD).vs2(VS2).rs1(10).m());
    assert_eq!(lab.get(VD, 32, 1), 7);
    lab.vstart(1);
    lab.ok(ins("vsuxei32.v").vd(VD).vs2(VS2).rs1(10).m());
}
