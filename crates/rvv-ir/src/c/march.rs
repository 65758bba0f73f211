//! Which extensions programs need.

use super::loops::computes_in_f16;
use crate::Program;
use rvv_intrinsics::{Elem, Intrinsic, Type};
use rvv_isa::Ext;
use std::collections::BTreeSet;

/// The `-march` that all of these programs compile with: `rv64gcv`, and what their types and instructions ask
/// for beyond it.
pub fn march(programs: &[&Program]) -> String {
    let mut extensions = BTreeSet::new();
    let mut longest = 128;
    for program in programs {
        for elem in elements(program) {
            match elem {
                Elem::F16 => extensions.insert(Ext::Zvfh.name()),
                Elem::Bf16 => extensions.insert(Ext::Zvfbfmin.name()),
                _ => false,
            };
        }
        if computes_in_f16(program) {
            extensions.insert(Ext::Zfh.name());
        }
        for call in program.calls() {
            for ext in call.intrinsic.requires() {
                match ext {
                    // Elements of f16 bring zvfh with them.
                    Ext::Zvfhmin => false,
                    ext => extensions.insert(ext.name()),
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

/// The least VLEN at which an intrinsic is not reserved: each register group of a cryptographic instruction
/// holds at least one element group (manual, "Vector Element Groups"). Compilers need it in `-march`.
fn least_vlen(intrinsic: &Intrinsic) -> u32 {
    let (Some(size), Some(vector)) = (intrinsic.sem.group_size(), intrinsic.ret.vector()) else { return 128 };
    let group = u32::from(size) * vector.elem.bits();
    let types = intrinsic.params.iter().map(|p| p.ty).chain([intrinsic.ret]);
    let lmul = types.filter_map(|ty| ty.vector()).map(|v| v.lmul.log2()).min().unwrap_or(0);
    if lmul >= 0 { group >> lmul } else { group << -lmul }
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
