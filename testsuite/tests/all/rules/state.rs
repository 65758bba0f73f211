//! The vector CSRs and the state at reset.

use super::harness::*;
use rvv_isa::{Lmul, Vtype, csr};
use rvvsim::Cause;

const VECTOR_CSRS: [u16; 7] =
    [csr::VSTART, csr::VXSAT, csr::VXRM, csr::VCSR, csr::VL, csr::VTYPE, csr::VLENB];

#[test]
fn vreg_count_is_32_registers_of_vlen_bits_each() {
    for vlen in [128, 256, 1024, 65536] {
        let mut lab = Lab::new(vlen);
        lab.set(8, Lmul::M1);
        for r in 0..32 {
            lab.x(1, 100 + u64::from(r));
            lab.ok(ins("vmv.v.x").vd(r).rs1(1));
        }
        for r in 0..32 {
            let register = lab.hart.vector().register(r).to_vec();
            assert_eq!(register, vec![100 + r; vlen as usize / 8], "v{r} at VLEN {vlen}");
        }
    }
}

#[test]
fn vlenb_is_vlen_in_bytes_and_read_only() {
    for log2 in 7..=16 {
        let vlen = 1 << log2;
        let mut lab = Lab::new(vlen);
        assert_eq!(lab.csr(csr::VLENB), u64::from(vlen) / 8);
        assert_eq!(lab.write_csr(csr::VLENB, 1).unwrap_err().cause, Cause::IllegalInstruction);
        assert_eq!(lab.csr(csr::VLENB), u64::from(vlen) / 8);
    }
}

#[test]
fn vl_and_vtype_are_read_only() {
    let mut lab = Lab::new(128);
    lab.set(16, Lmul::M2).vl(5);
    assert_eq!(lab.csr(csr::VL), 5);
    assert_eq!(lab.csr(csr::VTYPE), 0b00_001_001);
    for number in [csr::VL, csr::VTYPE] {
        for (name, source) in [("csrrw", 31), ("csrrs", 31), ("csrrc", 31)] {
            lab.x(31, !0);
            let why = lab.illegal(ins(name).rd(3).rs1(source).imm(i32::from(number)));
            assert!(why.contains("read-only"), "{why}");
        }
    }
    // Nothing but vset* and fault-only-first loads changes them.
    for name in ["vadd.vv", "vle16.v", "vse16.v", "vredsum.vs", "vmv.x.s"] {
        let before = (lab.hart.vector().vl, lab.hart.vector().vtype);
        lab.x(10, DATA);
        let load_store = name.starts_with("vle") || name.starts_with("vse");
        lab.ok(ins(name).vd(if name == "vmv.x.s" { 5 } else { 8 }).vs2(16).vs1(if load_store {
            10
        } else {
            24
        }));
        assert_eq!((lab.hart.vector().vl, lab.hart.vector().vtype), before, "{name}");
    }
}

#[test]
fn vtype_has_five_fields_and_vill_on_top() {
    let mut lab = Lab::new(256);
    for bits in 0..256u64 {
        lab.x(1, bits).x(2, 1);
        lab.ok(ins("vsetvl").rd(3).rs1(2).rs2(1));
        let (vlmul, vsew) = (bits & 7, bits >> 3 & 7);
        // LMUL = 2^vlmul, a signed field of which -4 is reserved; SEW = 8 * 2^vsew.
        let lmul_log2 = if vlmul >= 4 { vlmul as i32 - 8 } else { vlmul as i32 };
        let fraction_fits = lmul_log2 >= 0 || 8u64 << vsew << -lmul_log2 <= 64;
        let good = vlmul != 4 && vsew < 4 && fraction_fits;
        let want = if good { bits } else { 1 << 63 };
        assert_eq!(lab.csr(csr::VTYPE), want, "vtype {bits:#x}");
        if good {
            let vtype = lab.hart.vector().vtype;
            assert_eq!((vtype.vma, vtype.vta), (bits >> 7 & 1 == 1, bits >> 6 & 1 == 1));
            assert_eq!(u64::from(vtype.sew.bits()), 8 << vsew);
            assert_eq!(vtype.lmul.log2(), lmul_log2);
        }
    }
}

#[test]
fn vstart_has_only_the_bits_of_the_largest_index() {
    for vlen in [128u64, 512, 65536] {
        let mut lab = Lab::new(vlen as u32);
        // The largest VLMAX is that of SEW=8, LMUL=8: VLEN elements.
        lab.write_csr(csr::VSTART, !0).unwrap();
        assert_eq!(lab.csr(csr::VSTART), vlen - 1);
        lab.write_csr(csr::VSTART, 5).unwrap();
        assert_eq!(lab.csr(csr::VSTART), 5);
    }
}

#[test]
fn vxrm_vxsat_and_vcsr_are_views_of_the_same_bits() {
    let mut lab = Lab::new(128);
    for value in 0..16u64 {
        lab.write_csr(csr::VXRM, value).unwrap();
        assert_eq!(lab.csr(csr::VXRM), value & 3);
        lab.write_csr(csr::VXSAT, value).unwrap();
        assert_eq!(lab.csr(csr::VXSAT), value & 1);
        assert_eq!(lab.csr(csr::VCSR), (value & 3) << 1 | value & 1);
    }
    for value in 0..8u64 {
        lab.write_csr(csr::VCSR, value | !7).unwrap();
        assert_eq!(lab.csr(csr::VCSR), value);
        assert_eq!((lab.csr(csr::VXRM), lab.csr(csr::VXSAT)), (value >> 1, value & 1));
    }
}

#[test]
fn vxrm_rounds_by_the_table_of_increments() {
    // v >> 2 with the bits that are rounded off 0 to 3, and the bit above them 0 and 1.
    let table = [
        ("rnu", [0u64, 0, 1, 1, 1, 1, 2, 2]),
        ("rne", [0, 0, 0, 1, 1, 1, 2, 2]),
        ("rdn", [0, 0, 0, 0, 1, 1, 1, 1]),
        ("rod", [0, 1, 1, 1, 1, 1, 1, 1]),
    ];
    for (vxrm, (name, want)) in table.iter().enumerate() {
        let mut lab = Lab::new(128);
        lab.set(8, Lmul::M1).vl(8);
        lab.write_csr(csr::VXRM, vxrm as u64).unwrap();
        lab.puts(2, 8, &[0, 1, 2, 3, 4, 5, 6, 7]);
        lab.ok(ins("vssrl.vi").vd(4).vs2(2).imm(2));
        assert_eq!(lab.gets(4, 8, 8), want, "{name}");
        // Rounding off nothing adds nothing.
        lab.ok(ins("vssrl.vi").vd(4).vs2(2).imm(0));
        assert_eq!(lab.gets(4, 8, 8), [0, 1, 2, 3, 4, 5, 6, 7], "{name}");
    }
}

#[test]
fn vxsat_is_set_by_saturation_and_stays() {
    let mut lab = Lab::new(128);
    lab.set(8, Lmul::M1).vl(4);
    lab.puts(2, 8, &[1, 2, 3, 0xff]).puts(3, 8, &[1, 1, 1, 0]);
    lab.ok(ins("vsaddu.vv").vd(4).vs2(2).vs1(3));
    assert!(!lab.hart.vector().vxsat, "nothing saturated");
    lab.put(3, 8, 3, 1);
    lab.ok(ins("vsaddu.vv").vd(4).vs2(2).vs1(3));
    assert_eq!(lab.gets(4, 8, 4), [2, 3, 4, 0xff]);
    assert_eq!(lab.csr(csr::VXSAT), 1);
    lab.vl(3);
    lab.ok(ins("vsaddu.vv").vd(4).vs2(2).vs1(3));
    assert_eq!(lab.csr(csr::VXSAT), 1, "the flag is sticky");
}

#[test]
fn reset_state_can_be_restored_with_vsetvl() {
    let mut lab = Lab::new(128);
    let (vl, vtype) = (lab.csr(csr::VL), lab.csr(csr::VTYPE));
    assert_eq!((vl, vtype), (0, 1 << 63));
    assert_eq!([csr::VSTART, csr::VXSAT, csr::VXRM].map(|n| lab.csr(n)), [0, 0, 0]);
    lab.set(8, Lmul::M1);
    lab.x(1, vl).x(2, vtype);
    lab.ok(ins("vsetvl").rs1(1).rs2(2));
    assert_eq!((lab.csr(csr::VL), lab.csr(csr::VTYPE)), (vl, vtype));
    assert_eq!(lab.hart.vector().vtype, Vtype::VILL);
}

#[test]
fn vector_csrs_are_there_with_every_vector_extension_and_not_without() {
    for isa in ["rv64i_zve32x_zicsr", "rv64i_zve64x_zicsr", "rv64gcv"] {
        let mut lab = Lab::isa(128, isa);
        for number in VECTOR_CSRS {
            lab.csr(number);
        }
    }
    let mut lab = Lab::isa(128, "rv64gc");
    for number in VECTOR_CSRS {
        lab.illegal(ins("csrrs").rd(5).imm(i32::from(number)));
    }
    assert_eq!(lab.csr(csr::MISA) >> 21 & 1, 0);
    let mut lab = Lab::isa(128, "rv64gcv");
    assert_eq!(lab.csr(csr::MISA) >> 21 & 1, 1, "misa.V");
    let mut lab = Lab::isa(128, "rv64gc_zve64d");
    assert_eq!(lab.csr(csr::MISA) >> 21 & 1, 0, "misa.V is V's and not Zve64d's");
}
