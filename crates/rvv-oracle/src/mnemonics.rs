//! A reader looks for an instruction by its mnemonic: it must be where the oracle says what the instruction
//! means.

use rvv_intrinsics::sem::Chapter;
use rvv_intrinsics::{Intrinsic, Role, all};

/// The files with the semantics of a chapter.
fn sources(chapter: Chapter) -> &'static [&'static str] {
    match chapter {
        Chapter::Integer(_) => &[include_str!("arith/integer.rs")],
        Chapter::Compare(_) => &[include_str!("arith/integer.rs"), include_str!("arith/float.rs")],
        Chapter::FixedPoint(_) => &[include_str!("arith/fixed_point.rs")],
        Chapter::Float(_) => &[include_str!("arith/float.rs")],
        Chapter::Convert(_) => &[include_str!("arith/convert.rs")],
        Chapter::BitManip(_) => &[include_str!("arith/bits.rs")],
        Chapter::Reduction(_) => &[include_str!("arith/reduction.rs")],
        Chapter::Mask(_) => &[include_str!("mask.rs")],
        Chapter::Permute(_) => &[include_str!("permute.rs")],
        Chapter::Memory(_) => &[include_str!("memory.rs")],
        Chapter::Config(_) => &[include_str!("call.rs")],
        Chapter::Utility(_) => &[include_str!("utility.rs")],
        Chapter::Sha2(_) | Chapter::Group4(_) | Chapter::Group8(_) => &[include_str!("arith/crypto/mod.rs")],
    }
}

/// The mnemonic with the number of fields, if it is a segment access: `vlseg2e8.v`.
fn mnemonic(intrinsic: &Intrinsic) -> Option<String> {
    let op = intrinsic.instruction?;
    let data = intrinsic.param(Role::Data).map_or(intrinsic.ret, |p| p.ty);
    let nf = data.vector().map_or(1, |v| v.nf);
    let inst = rvv_isa::Inst { nf: nf - 1, ..rvv_isa::Inst::new(op) };
    let text = match op.shape().memory {
        Some(_) if nf > 1 => inst.disasm(0, rvv_isa::DisasmOptions::default()),
        _ => op.name().to_owned(),
    };
    text.split_whitespace().next().map(str::to_owned)
}

#[test]
fn every_mnemonic_stands_where_its_meaning_is() {
    let mut missing = std::collections::BTreeSet::new();
    for intrinsic in all() {
        let Some(mnemonic) = mnemonic(intrinsic) else { continue };
        let words = |source: &str| source.split_whitespace().any(|word| word == mnemonic);
        if !sources(intrinsic.sem.chapter()).iter().any(|source| words(source)) {
            missing.insert(mnemonic);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
