//! Nothing that the decoder accepts is left without a handler, and a mnemonic leads to it.

use rvv_isa::{Class, DisasmOptions, Inst, Op};
use rvvsim::{Config, Hart};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_scalar_instruction_outside_the_loop_has_a_handler() {
    let loads_and_stores = ["flh", "fsh", "cbo.zero"];
    let others =
        ["cbo.clean", "cbo.flush", "cbo.inval", "czero.eqz", "czero.nez", "mop.r.N", "mop.rr.N", "c.mop.N"];
    let by_class =
        |op: &Op| matches!(op.class(), Class::Float | Class::Atomic | Class::BitManip | Class::Crypto);
    let by_name = |op: &Op| loads_and_stores.contains(&op.name()) || others.contains(&op.name());
    let mut hart = Hart::bare(Config { mem: 1 << 16, ..Config::default() }).unwrap();
    let mut count = 0;
    for op in Op::all().filter(|op| op.base() == *op && (by_class(op) || by_name(op))) {
        assert!(hart.execute(&Inst::new(op)).is_some(), "{} has no handler", op.name());
        count += 1;
    }
    assert!(count > 200, "only {count} instructions found");
}

/// All words of the Rust files in a folder, as mnemonics are made of them.
fn words(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            words(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let pieces = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
        found.extend(pieces.map(|piece| piece.trim_matches('.').to_owned()));
    }
}

/// A reader looks for an instruction by its mnemonic: it stands where the instruction gets its meaning. (A
/// compressed one is found by what it expands to; a segment access by its own name.)
#[test]
fn every_mnemonic_stands_where_its_meaning_is() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for folder in ["scalar", "vector"] {
        words(&source.join(folder), &mut found);
    }
    for op in Op::all().filter(|op| !op.is_compressed() || op.base() == *op) {
        assert!(found.contains(op.name()), "{}", op.name());
        let fields = if op.info().operands.iter().any(|o| o.name() == "nf") { 1..8 } else { 0..0 };
        for nf in fields {
            let segment = Inst { nf, ..Inst::new(op) }.disasm(0, DisasmOptions::default());
            let name = segment.split_whitespace().next().unwrap();
            assert!(found.contains(name), "{name}");
        }
    }
}
