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
