//! Which extensions programs need.

use crate::Program;
use rvv_intrinsics::{Elem, Extension, Intrinsic, Sem, Type};
use std::collections::BTreeSet;

/// The `-march` that all of these programs compile with: `rv64gcv`, and what their types and instructions ask for
/// beyond it.
pub fn march(programs: &[&Program]) -> String {
    let mut extensions = BTreeSet::new();
    let mut longest = 128;
    for program in programs {
        for elem in elements(program) {
            match elem {
                Elem::F16 => extensions.insert("zvfh"),
                Elem::Bf16 => extensions.insert("zvfbfmin"),
                _ => false,
            };
        }
        for call in program.calls() {
            for ext in call.intrinsic.requires() {
                match ext.name() {
                    // Elements of f16 bring zvfh with them.
                    "zvfhmin" => false,
                    name => extensions.insert(name),
                };
            }
            longest = longest.max(least_vlen(call.intrinsic));
        }
    }
    let mut march = "rv64gcv".to_owned();
    for extension in extensions {
        march.push('_');
        march.push_str(extension);
    }
    if longest > 128 {
        march += &format!("_zvl{longest}b");
    }
    march
}

/// The least VLEN at which an intrinsic is not reserved: each register group of a cryptographic instruction holds at
/// least one element group (manual, "Vector Element Groups"). Compilers want to be told.
fn least_vlen(intrinsic: &Intrinsic) -> u32 {
    let groups = match intrinsic.ret.vector().map(|v| v.elem.bits()) {
        Some(sew) if intrinsic.extension == Extension::Crypto => match intrinsic.sem {
            Sem::Sm3c | Sem::Sm3me => 8 * sew,
            Sem::Ghsh | Sem::Gmul | Sem::Sm4k | Sem::Sm4r | Sem::Aeskf1 | Sem::Aeskf2 | Sem::Aesz => 4 * sew,
            Sem::Aesef | Sem::Aesem | Sem::Aesdf | Sem::Aesdm => 4 * sew,
            Sem::Sha2ch | Sem::Sha2cl | Sem::Sha2ms => 4 * sew,
            _ => return 128,
        },
        _ => return 128,
    };
    let types = intrinsic.params.iter().map(|p| p.ty).chain([intrinsic.ret]);
    let lmul = types.filter_map(|ty| ty.vector()).map(|v| v.lmul.log2()).min().unwrap_or(0);
    if lmul >= 0 { groups >> lmul } else { groups << -lmul }
}

/// The types of all variables, buffers and operands.
fn elements(program: &Program) -> BTreeSet<Elem> {
    let mut found: BTreeSet<Elem> = program.buffers.iter().map(|b| b.elem).collect();
    let mut see = |ty: Type| match ty {
        Type::Vector(v) => {
            found.insert(v.elem);
        }
        Type::Scalar(e) | Type::Pointer(e) | Type::ConstPointer(e) => {
            found.insert(e);
        }
        _ => {}
    };
    for function in program.functions.iter().chain([&program.main]) {
        function.vars.iter().for_each(|v| see(v.ty));
    }
    for call in program.calls() {
        see(call.intrinsic.ret);
        call.intrinsic.params.iter().for_each(|p| see(p.ty));
    }
    found
}
