//! Which extensions programs need.

use crate::Program;
use rvv_intrinsics::{Elem, Type};
use std::collections::BTreeSet;

/// The `-march` that all of these programs compile with: `rv64gcv`, and what their types and instructions ask for
/// beyond it.
pub fn march(programs: &[&Program]) -> String {
    let mut extensions = BTreeSet::new();
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
        }
    }
    let mut march = "rv64gcv".to_owned();
    for extension in extensions {
        march.push('_');
        march.push_str(extension);
    }
    march
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
