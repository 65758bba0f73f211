//! What the tables say of instructions, roles and constants fits together.

use rvv_intrinsics::{Elem, Extension, Implied, Intrinsic, Policy, Role, Sem, Type, all, by_name};
use rvv_isa::{Field, RegFile};
use std::collections::{BTreeSet, HashMap};

type Register = (&'static str, RegFile);

fn register_file(ty: Type) -> RegFile {
    match ty {
        Type::Vector(_) | Type::Mask(_) => RegFile::V,
        Type::Scalar(e) if e.is_float() => RegFile::F,
        _ => RegFile::X,
    }
}

/// The registers that an instruction must name to do what the intrinsic says.
fn wanted(i: &Intrinsic) -> Vec<Register> {
    let mut registers: Vec<Register> = i
        .params
        .iter()
        .filter_map(|p| match p.role {
            Role::Vs1 => Some(("rs1", RegFile::V)),
            Role::Scalar => Some(("rs1", register_file(p.ty))),
            Role::Base | Role::Avl => Some(("rs1", RegFile::X)),
            Role::Stride => Some(("rs2", RegFile::X)),
            Role::Vs2 | Role::Index => Some(("rs2", RegFile::V)),
            Role::Data => Some(("rd", RegFile::V)),
            _ => None,
        })
        .collect();
    if i.ret != Type::Void {
        registers.push(("rd", register_file(i.ret)));
    }
    match i.info.implied {
        Some(Implied::Zero) => registers.push(("rs1", RegFile::X)),
        Some(Implied::Vs2) => registers.push(("rs1", RegFile::V)),
        Some(Implied::Vd) => registers.extend([("rs1", RegFile::V), ("rs2", RegFile::V)]),
        Some(Implied::MinusOne) | None => {}
    }
    if i.sem == Sem::Setvlmax {
        registers.push(("rs1", RegFile::X));
    }
    registers.sort_by_key(|r| r.0);
    registers
}

#[test]
fn instructions_have_the_operands_that_the_parameters_ask_for() {
    for i in all() {
        let Some(op) = i.instruction else { continue };
        let operands = op.info().operands;
        let field = |f| operands.iter().any(|o| o.fields().contains(&f));
        let mut named: Vec<Register> = operands
            .iter()
            .filter_map(|o| {
                let name = match o.fields() {
                    [Field::Rd] => "rd",
                    [Field::Rs1] => "rs1",
                    [Field::Rs2] => "rs2",
                    _ => return None,
                };
                Some((name, o.reg_file()?))
            })
            .collect();
        named.sort_by_key(|r| r.0);
        assert_eq!(named, wanted(i), "{} as {}", i.name, op.name());
        assert!(!i.is_masked() || field(Field::Vm), "{} as {} has no mask bit", i.name, op.name());
        let has_imm = i.param(Role::Uimm).is_some() || i.info.implied == Some(Implied::MinusOne);
        assert_eq!(field(Field::Imm), has_imm || op.name() == "vsetvli", "{} as {}", i.name, op.name());
        let tuple = |ty: Type| ty.vector().is_some_and(|v| v.nf > 1);
        assert!(!tuple(i.ty) || field(Field::Nf), "{} as {} has no fields", i.name, op.name());
    }
}

/// The extension of an instruction's own table is one that `requires` names or implies.
#[test]
fn an_intrinsic_requires_what_its_instruction_requires() {
    for i in all().iter().filter(|i| i.extension == Extension::Crypto) {
        let op = i.instruction.unwrap();
        let isa = i.requires().iter().fold(rvv_isa::Isa::parse("rv64gcv").unwrap(), |isa, e| isa.with(*e));
        assert!(isa.allows(op.info().requires), "{} needs more than {:?}", i.name, i.requires());
        assert!(!rvv_isa::Isa::parse("rv64gcv").unwrap().allows(op.info().requires), "{}", i.name);
    }
}

#[test]
fn only_utilities_and_two_comparisons_have_no_instruction() {
    let without: BTreeSet<&str> =
        all().iter().filter(|i| i.instruction.is_none()).map(|i| i.sem.name()).collect();
    let expected = ["create", "ge", "get", "lmul_ext", "lmul_trunc", "reinterpret", "set", "undefined"];
    assert_eq!(without, BTreeSet::from(expected));
    let swapped: BTreeSet<&str> = all().iter().filter(|i| i.swapped).map(|i| i.family).collect();
    let expected = ["vmfge_vv", "vmfgt_vv", "vmsge_vv", "vmsgeu_vv", "vmsgt_vv", "vmsgtu_vv"];
    assert_eq!(swapped, BTreeSet::from(expected));
}

#[test]
fn every_meaning_is_used() {
    let used: BTreeSet<Sem> = all().iter().map(|i| i.sem).collect();
    let unused: Vec<_> = Sem::ALL.iter().filter(|s| !used.contains(s)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn roles_fit_the_name_and_the_policy() {
    for i in all() {
        let name = &i.name;
        let has = |role| i.param(role).is_some();
        let ends = |suffix| name.ends_with(suffix);
        let roles: BTreeSet<Role> = i.params.iter().map(|p| p.role).collect();
        assert_eq!(roles.len(), i.params.len(), "{name} has a role twice");

        let policy = match () {
            () if ends("_tumu") => Policy::Tumu,
            () if ends("_tum") => Policy::Tum,
            () if ends("_tu") => Policy::Tu,
            () if ends("_mu") => Policy::Mu,
            () => Policy::Default,
        };
        assert_eq!(i.policy, policy, "{name}");
        let masked = ends("_m") || matches!(policy, Policy::Tum | Policy::Tumu | Policy::Mu);
        assert_eq!(i.is_masked(), masked, "{name}");
        assert!(!i.has_policy() || has(Role::Dest) != has(Role::Acc), "{name}");
        assert!(i.has_policy() || !has(Role::Dest), "{name}");
        for role in [Role::Dest, Role::Acc] {
            assert!(i.param(role).is_none_or(|p| p.ty == i.ret), "{name}");
        }
        if let (Some(mask), Some(v)) = (i.param(Role::Mask), i.ty.vector()) {
            assert_eq!(mask.ty.mask(), Some(v.ratio()), "{name}");
        }
        if has(Role::Vl) {
            assert_eq!(i.position(Role::Vl), Some(i.params.len() - 1), "{name}");
        }

        assert_eq!(has(Role::Frm), name.contains("_rm"), "{name}");
        assert!(!has(Role::Frm) || i.uses_frm(), "{name}");
        assert_eq!(has(Role::Vxrm), i.uses_vxrm(), "{name}");
        for role in [Role::Uimm, Role::Position, Role::Frm, Role::Vxrm] {
            assert_eq!(has(role), i.constants(role).is_some(), "{name}");
        }
        let store = name.contains("_vs") && i.ret == Type::Void;
        assert_eq!(store, has(Role::Data), "{name}");
    }
}

#[test]
fn positions_and_immediates_have_the_ranges_of_their_types() {
    let range = |name: &str, role| by_name(name).unwrap().constants(role);
    assert_eq!(range("__riscv_vset_v_i8m1_i8m8", Role::Position), Some(0..=7));
    assert_eq!(range("__riscv_vget_v_i32m8_i32m4", Role::Position), Some(0..=1));
    assert_eq!(range("__riscv_vget_v_f64m1x5_f64m1", Role::Position), Some(0..=4));
    assert_eq!(range("__riscv_vset_v_bf16mf4_bf16mf4x2", Role::Position), Some(0..=1));
    assert_eq!(range("__riscv_vsm3c_vi_u32m1", Role::Uimm), Some(0..=31));
    assert_eq!(range("__riscv_vaadd_vv_i8m1", Role::Vxrm), Some(0..=3));
    assert_eq!(range("__riscv_vfadd_vv_f32m1_rm", Role::Frm), Some(0..=4));
    assert_eq!(range("__riscv_vadd_vv_i8m1", Role::Uimm), None);
}

#[test]
fn rounding_and_extensions_are_known_by_name() {
    let get = |name: &str| by_name(name).unwrap_or_else(|| panic!("{name}"));
    assert!(get("__riscv_vfadd_vv_f32m1").uses_frm());
    assert!(get("__riscv_vfrec7_v_f32m1").uses_frm());
    assert!(!get("__riscv_vfrsqrt7_v_f32m1").uses_frm());
    assert!(!get("__riscv_vfncvt_rod_f_f_w_f32m1").uses_frm());
    assert!(!get("__riscv_vfwcvt_f_x_v_f64m1").uses_frm());
    let requires = |name: &str| get(name).requires().iter().map(|e| e.name()).collect::<Vec<_>>();
    assert_eq!(requires("__riscv_vadd_vv_i32m1"), [""; 0]);
    assert_eq!(requires("__riscv_vfadd_vv_f16m1"), ["zvfh"]);
    assert_eq!(requires("__riscv_vfadd_vv_f32m1"), [""; 0]);
    assert_eq!(requires("__riscv_vle16_v_f16m1"), ["zvfhmin"]);
    assert_eq!(requires("__riscv_vfncvt_f_f_w_f16m1"), ["zvfhmin"]);
    assert_eq!(requires("__riscv_vfncvt_rod_f_f_w_f16m1"), ["zvfh"]);
    assert_eq!(requires("__riscv_vfwcvt_f_f_v_f32m1"), ["zvfhmin"]);
    assert_eq!(requires("__riscv_vfwcvt_f_f_v_f64m1"), [""; 0]);
    assert_eq!(requires("__riscv_vle16_v_bf16m1"), ["zvfbfmin"]);
    assert_eq!(requires("__riscv_vfwmaccbf16_vv_f32m1"), ["zvfbfwma"]);
    assert_eq!(requires("__riscv_vrol_vv_u8m1"), ["zvkb"]);
    assert_eq!(requires("__riscv_vclz_v_u8m1"), ["zvbb"]);
    assert_eq!(requires("__riscv_vsha2ms_vv_u64m1"), ["zvknhb"]);
}

#[test]
fn each_has_its_place_and_its_own_name() {
    let mut names = HashMap::new();
    for (n, i) in all().iter().enumerate() {
        assert_eq!(i.id as usize, n);
        assert_eq!(names.insert(&*i.name, n), None, "{}", i.name);
        assert_eq!(by_name(&i.name).unwrap().id, i.id);
        assert!(i.name.starts_with(&format!("__riscv_{}", i.family)), "{} {}", i.name, i.family);
        let bf16 = i.params.iter().map(|p| p.ty).chain([i.ret]).any(|ty| match ty {
            Type::Vector(v) => v.elem == Elem::Bf16,
            Type::Scalar(e) | Type::Pointer(e) | Type::ConstPointer(e) => e == Elem::Bf16,
            _ => false,
        });
        assert_eq!(bf16, i.extension == Extension::Bf16, "{}", i.name);
    }
    assert!(by_name("__riscv_vadd").is_none());
}

/// What a meaning says of itself, by what the instruction table says of the instructions that have it.
#[test]
fn meanings_have_the_shape_of_their_instructions() {
    for i in all().iter().filter(|i| i.instruction.is_some()) {
        let shape = i.shape();
        assert_eq!(i.sem.group_size().unwrap_or(1), shape.group, "{}", i.name);
        assert_eq!(i.sem.is_reduction(), shape.is_reduction(), "{}", i.name);
        assert_eq!(i.sem.accesses_memory(), shape.memory.is_some(), "{}", i.name);
        assert_eq!(i.sem.is_store(), shape.is_store(), "{}", i.name);
    }
}
