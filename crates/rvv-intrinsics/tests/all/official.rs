//! The expansion is the official list: 131 794 prototypes, no more, no fewer, letter by letter.

use rvv_intrinsics::{Category, Extension, prototypes};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines and the SHA-256 of the sorted lines of each list. To make it anew from the official file, without
/// its drafts: `grep -P '^v\texplicit\t' prototypes.tsv | LC_ALL=C sort | sha256sum`.
const FINGERPRINT: &str = include_str!("fingerprint.txt");

fn ours() -> BTreeMap<(Extension, Category), Vec<String>> {
    let mut lists: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for p in prototypes() {
        lists.entry((p.extension(), p.category)).or_default().push(p.line());
    }
    lists.values_mut().for_each(|list| list.sort());
    lists
}

#[test]
fn the_expansion_has_the_fingerprint_of_the_official_list() {
    let mut text = String::new();
    for ((extension, category), lines) in ours() {
        let mut hash = Sha256::new();
        for line in &lines {
            hash.update(line);
            hash.update("\n");
        }
        writeln!(text, "{} {} {} {:x}", extension.name(), category.name(), lines.len(), hash.finalize())
            .unwrap();
    }
    assert_eq!(text, FINGERPRINT);
}

/// `RVV_PROTOTYPES` names the official list: tab-separated extension, category, section, result, name and
/// parameters.
#[test]
fn the_expansion_is_the_official_list_line_by_line() {
    let Ok(path) = std::env::var("RVV_PROTOTYPES") else {
        eprintln!("not compared line by line: RVV_PROTOTYPES does not name the official list");
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let wanted = |line: &&str| Extension::ALL.iter().any(|e| line.split('\t').next() == Some(e.name()));
    let official: BTreeSet<&str> = text.lines().filter(wanted).collect();
    let ours: Vec<String> = ours().into_values().flatten().collect();
    let set: BTreeSet<&str> = ours.iter().map(String::as_str).collect();
    assert_eq!(set.len(), ours.len(), "a line is made twice");
    let missing: Vec<_> = official.difference(&set).collect();
    let extra: Vec<_> = set.difference(&official).collect();
    let some = |lines: &[&&str]| lines.iter().take(20).map(|l| format!("  {l}\n")).collect::<String>();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "{} lines are missing:\n{}{} should not be there:\n{}",
        missing.len(),
        some(&missing),
        extra.len(),
        some(&extra)
    );
}
