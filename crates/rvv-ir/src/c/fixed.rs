//! Vectors of fixed length that intrinsics take: `riscv_rvv_vector_bits`, where the compiler knows VLEN.

use crate::{Program, VarDecl};
use rvv_intrinsics::{Type, VecType};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The type of a variable in C.
pub(super) fn type_of(var: &VarDecl) -> String {
    if var.fixed { format!("fixed_{}", var.ty) } else { var.ty.to_string() }
}

/// How many bits a vector has, in terms of VLEN.
fn bits(of: VecType) -> String {
    match of.lmul.log2() {
        n if n < 0 => format!("__riscv_v_fixed_vlen / {}", 1 << -n),
        0 => "__riscv_v_fixed_vlen".to_owned(),
        n => format!("__riscv_v_fixed_vlen * {}", 1 << n),
    }
}

/// Defines the types that programs use. Without `-mrvv-vector-bits` they are the usual ones.
pub(super) fn declare(out: &mut String, programs: &[&Program]) {
    let functions = programs.iter().flat_map(|p| p.functions.iter().chain([&p.main]));
    let fixed = functions.flat_map(|f| f.vars.iter().filter(|v| v.fixed));
    let mut seen = BTreeSet::new();
    let mut types: Vec<(String, VecType)> = Vec::new();
    for var in fixed {
        if let Type::Vector(of) = var.ty
            && seen.insert(var.ty.to_string())
        {
            types.push((var.ty.to_string(), of));
        }
    }
    if types.is_empty() {
        return;
    }
    out.push_str("#ifdef __riscv_v_fixed_vlen\n");
    for (ty, of) in &types {
        let bits = bits(*of);
        // Writing to a string does not fail.
        let _ = writeln!(out, "typedef {ty} fixed_{ty} __attribute__((riscv_rvv_vector_bits({bits})));");
    }
    out.push_str("#else\n");
    for (ty, _) in &types {
        let _ = writeln!(out, "typedef {ty} fixed_{ty};");
    }
    out.push_str("#endif\n\n");
}

#[cfg(test)]
mod tests {
    use crate::Program;
    use crate::c::{COptions, emit};

    fn text(declared: &str) -> String {
        format!(
            "rvv-ir 1\ndata a: i32[4] = zero\nout b: i32[4] = zero\n\nmain {{\n  var v: i32m2{declared}\n  \
             v = vle32_v_i32m2(&a[0], 4)\n  vse32_v_i32m2(&b[0], v, 4)\n}}\n"
        )
    }

    #[test]
    fn a_vector_of_fixed_length_is_written_and_read_and_has_its_type_in_c() {
        let program: Program = text(" fixed").parse().unwrap();
        assert_eq!(program.to_string(), text(" fixed"));
        let c = emit(&[&program], &COptions::default());
        let wide = "typedef vint32m2_t fixed_vint32m2_t \
                    __attribute__((riscv_rvv_vector_bits(__riscv_v_fixed_vlen * 2)));";
        assert!(c.contains(wide) && c.contains("    fixed_vint32m2_t v;\n"), "{c}");
        let usual = emit(&[&text("").parse().unwrap()], &COptions::default());
        assert!(!usual.contains("fixed"), "{usual}");
    }

    #[test]
    fn only_vectors_are_fixed() {
        for (ty, name) in [("b8", "v"), ("i32m1x2", "v"), ("size", "v")] {
            let error = text(" fixed").replace("v: i32m2", &format!("{name}: {ty}")).parse::<Program>();
            let error = error.expect_err(ty).to_string();
            assert!(error.contains("`v` is no vector; only vectors are `fixed`"), "{error}");
        }
    }
}
