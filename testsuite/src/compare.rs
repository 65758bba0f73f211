//! Differences between two signatures, in words.

use crate::cases::{Group, Shape};
use crate::program::result_name;
use rvv_isa::DisasmOptions;
use std::fmt::Write;

/// The differences between what was expected and what was got, at most `most` of them in words, and how many
/// rows differ in all.
#[must_use]
pub fn differences(groups: &[Group], expected: &[u64], got: &[u64], most: usize) -> (usize, String) {
    let mut text = String::new();
    let mut count = 0;
    let mut at = 0;
    let (mut shown, mut total) = (0, 0);
    let mut last = None;
    for group in groups {
        let width = group.shape.results();
        // All encodings of an instruction mostly fail for one reason: a few of each instruction will do.
        if last != Some(group.inst.op) {
            (shown, last) = (0, Some(group.inst.op));
        }
        for row in group.rows.iter() {
            let (e, g) = (&expected[at..at + width], &got[at..at + width]);
            at += width;
            if e == g || is_free_choice(group.shape, e, g) {
                continue;
            }
            count += 1;
            if total < most && shown < 3 {
                (shown, total) = (shown + 1, total + 1);
                describe(&mut text, group, row, e, g);
            }
        }
    }
    (count, text)
}

fn describe(text: &mut String, group: &Group, row: &[u64; 4], expected: &[u64], got: &[u64]) {
    let name = group.inst.disasm(0, DisasmOptions::default()).replace('\t', " ");
    let row = row.map(|w| format!("{w:#x}")).join(", ");
    let _ = writeln!(text, "{name} ({:#x}) on [{row}]:", group.inst.raw);
    for (i, (e, g)) in expected.iter().zip(got).enumerate().filter(|(_, (e, g))| e != g) {
        let _ = writeln!(
            text,
            "    {}: expected {}, got {}",
            result_name(group.shape, i),
            show(i, *e),
            show(i, *g)
        );
    }
}

/// A word of the results: the status by its parts.
fn show(word: usize, value: u64) -> String {
    if word != 1 {
        return format!("{value:#018x}");
    }
    let flags: String = "NV DZ OF UF NX"
        .split(' ')
        .enumerate()
        .filter(|(i, _)| value >> (4 - i) & 1 == 1)
        .map(|(_, f)| format!("{f} "))
        .collect();
    match value >> 8 {
        0 => format!("[{}]", flags.trim()),
        cause => format!("[{}] trap {}", flags.trim(), cause - 1),
    }
}

/// Whether two answers differ only in what the manual leaves open: an atomic at a misaligned address raises
/// "an address-misaligned exception or an access-fault exception".
fn is_free_choice(shape: Shape, expected: &[u64], got: &[u64]) -> bool {
    let atomic = matches!(shape, Shape::Atomic | Shape::StoreConditional);
    let pair = (expected[1] >> 8, got[1] >> 8);
    let load = (ACCESS_FAULT_LOAD + 1, MISALIGNED_LOAD + 1);
    let store = (ACCESS_FAULT_STORE + 1, MISALIGNED_STORE + 1);
    let swap = |(a, b): (u64, u64)| (b, a);
    let one_of_each = [load, swap(load), store, swap(store)].contains(&pair);
    atomic && one_of_each && expected[0] == got[0] && expected[2..] == got[2..]
}

const MISALIGNED_LOAD: u64 = 4;
const ACCESS_FAULT_LOAD: u64 = 5;
const MISALIGNED_STORE: u64 = 6;
const ACCESS_FAULT_STORE: u64 = 7;

/// Whether a judge of registers alone can tell: no memory, no trap, no flags.
#[must_use]
pub fn is_register_only(group: &Group) -> bool {
    group.shape == Shape::Compute && !crate::program::is_float(&group.inst)
}
