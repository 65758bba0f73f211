//! `mstatus.VS` and `FS`, and what turns them dirty; `vill`; `vstart` of illegal instructions.

use super::forms::{self, Dest};
use super::harness::*;
use rvv_isa::{Lmul, Vtype, csr};
use rvvsim::status;

const VECTOR_CSRS: [u16; 7] =
    [csr::VSTART, csr::VXSAT, csr::VXRM, csr::VCSR, csr::VL, csr::VTYPE, csr::VLENB];

#[test]
fn mstatus_vs_off_makes_every_vector_instruction_and_csr_illegal() {
    let mut lab = Lab::new(128);
    for form in forms::all() {
        let sew = form.sews()[0];
        lab.set(sew, Lmul::M1);
        lab.vl(0).set_vs_fs(0, 1);
        forms::prepare(&mut lab, &form, sew);
        lab.illegal(form.ins());
    }
    lab.illegal(ins("vsetvli").rd(1).rs1(2));
    lab.illegal(ins("vsetivli").rd(1).rs1(2));
    lab.illegal(ins("vsetvl").rd(1).rs1(2).rs2(3));
    for number in VECTOR_CSRS {
        lab.illegal(ins("csrrs").rd(5).imm(i32::from(number)));
    }
    // csrrw to those that can be written, too.
    for number in [csr::VSTART, csr::VXSAT, csr::VXRM, csr::VCSR] {
        lab.illegal(ins("csrrw").rd(5).rs1(6).imm(i32::from(number)));
    }
}

#[test]
fn mstatus_vs_becomes_dirty_when_vector_state_changes() {
    for from in [1, 2] {
        for form in forms::all().iter().filter(|form| form.dest == Dest::Vector) {
            let mut lab = Lab::new(256);
            let sew = form.sews()[0];
            if !form.fits(sew, Lmul::M1) {
                continue;
            }
            lab.set(sew, Lmul::M1).set_vs_fs(from, 1);
            forms::prepare(&mut lab, form, sew);
            lab.ok(form.ins());
            assert_eq!(lab.vs(), 3, "{}", form.name());
            assert_ne!(lab.hart.mstatus() & status::SD, 0, "{}: mstatus.SD", form.name());
        }
        let mut lab = Lab::new(128);
        for name in ["vsetvli", "vsetivli", "vsetvl"] {
            lab.set_vs_fs(from, 1);
            lab.ok(ins(name).rd(1).rs1(2));
            assert_eq!(lab.vs(), 3, "{name}");
        }
        for number in [csr::VSTART, csr::VXSAT, csr::VXRM, csr::VCSR] {
            lab.set_vs_fs(from, 1);
            lab.write_csr(number, 0).unwrap();
            assert_eq!(lab.vs(), 3, "write of csr {number:#x}");
            lab.set_vs_fs(from, 1);
            lab.csr(number);
            assert_eq!(lab.vs(), from, "read of csr {number:#x}");
        }
    }
}

#[test]
fn mstatus_vs_becomes_dirty_when_a_trap_leaves_vstart() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).set_vs_fs(1, 1);
    // The last four bytes before the end of memory: element 4 faults.
    let end = rvvsim::RAM_BASE + lab.hart.memory().len() as u64;
    lab.x(10, end - 4);
    lab.run(ins("vse8.v").vd(8).rs1(10)).unwrap_err();
    assert_eq!((lab.hart.vector().vstart, lab.vs()), (4, 3));
}

#[test]
fn mstatus_vs_is_bits_10_9_and_shadowed_in_sstatus() {
    let mut lab = Lab::new(128);
    for vs in 0..4u64 {
        lab.write_csr(csr::MSTATUS, vs << 9).unwrap();
        assert_eq!(lab.csr(csr::MSTATUS) >> 9 & 3, vs);
        assert_eq!(lab.csr(csr::SSTATUS) >> 9 & 3, vs);
        assert_eq!(lab.csr(csr::MSTATUS) >> 63, u64::from(vs == 3), "SD");
        lab.write_csr(csr::MSTATUS, 0).unwrap();
        lab.write_csr(csr::SSTATUS, vs << 9).unwrap();
        assert_eq!(lab.csr(csr::MSTATUS) >> 9 & 3, vs);
        assert_eq!(lab.csr(csr::SSTATUS) >> 63, u64::from(vs == 3), "sstatus.SD");
    }
}

#[test]
fn mstatus_fs_off_makes_every_vector_float_instruction_illegal() {
    let mut lab = Lab::new(128);
    for form in forms::all() {
        let Some(sew) = form.sews().into_iter().find(|&sew| form.fits(sew, Lmul::M1)) else { continue };
        lab.set(sew, Lmul::M1);
        // vl=0: whether elements are executed does not matter.
        for vl in [0, lab.vlmax()] {
            lab.set(sew, Lmul::M1).set_vs_fs(1, 0);
            let vl = if form.egs > vl { 0 } else { vl };
            lab.vl(vl);
            forms::prepare(&mut lab, &form, sew);
            if form.float {
                lab.illegal(form.ins());
            } else if form.egs == 1 {
                lab.ok(form.ins());
            }
        }
    }
}

#[test]
fn mstatus_fs_becomes_dirty_with_the_flags_and_f_registers() {
    let one_third = [1.0f32.to_bits(), 3.0f32.to_bits()].map(u64::from);
    let mut lab = Lab::new(128);
    lab.set(32, Lmul::M1).vl(1).put(2, 32, 0, one_third[0]).put(3, 32, 0, one_third[1]);
    for from in [1, 2] {
        lab.set_vs_fs(1, from);
        lab.hart.set_fflags(Default::default());
        lab.ok(ins("vfdiv.vv").vd(4).vs2(2).vs1(3));
        assert_eq!((lab.fs(), lab.hart.fflags().bits()), (3, 1), "inexact");
        lab.set_vs_fs(1, from);
        lab.ok(ins("vfmv.f.s").rd(4).vs2(2));
        assert_eq!(lab.fs(), 3, "an f register");
    }
}

#[test]
fn vill_makes_all_that_depends_on_vtype_illegal() {
    let mut lab = Lab::new(128);
    for form in forms::all() {
        lab.hart.vector_mut().vtype = Vtype::VILL;
        lab.vl(0).vstart(0);
        forms::prepare(&mut lab, &form, 8);
        if form.needs_vtype() {
            lab.cites(form.ins(), "vtype_vill_op");
        } else {
            lab.ok(form.ins());
        }
    }
    // vset* and CSR accesses do not depend on it.
    lab.hart.vector_mut().vtype = Vtype::VILL;
    assert_eq!(lab.csr(csr::VTYPE), 1 << 63);
    lab.ok(ins("vsetvli").rd(1).rs1(2).imm(0));
}

#[test]
fn vstart_is_not_changed_by_an_illegal_instruction() {
    let mut lab = Lab::new(128);
    for form in forms::all() {
        lab.set(8, Lmul::M1).vstart(1);
        forms::prepare(&mut lab, &form, 8);
        // Reserved: a register that is not there or not aligned; or vstart itself.
        lab.set(if form.egs > 1 { 8 } else { 64 }, Lmul::M8).vstart(1);
        let ins = form.ins().vd(3).vs2(5).vs1(form.ins().0.rs1);
        if lab.run(ins).is_err() {
            assert_eq!(lab.hart.vector().vstart, 1, "{}", show(ins));
        } else {
            assert_eq!(lab.hart.vector().vstart, 0, "{}", show(ins));
        }
        assert_eq!(lab.hart.vector().vl, lab.vlmax());
    }
}
