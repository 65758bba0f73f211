//! The table of rules itself: nothing is missing, and the ids that the emulator's messages cite exist.

use std::collections::BTreeSet;
use std::path::Path;
use testsuite::rules::{self, State};

#[test]
fn every_rule_is_covered_or_ruled_out_and_every_test_named_exists() {
    let entries = rules::coverage().unwrap();
    assert_eq!(entries.len(), 574);
    assert_eq!(entries.iter().filter(|entry| entry.chapter == "vector-common").count(), 407);
    for entry in &entries {
        assert!(!matches!(entry.state, State::Missing(_)), "norm:{}: {:?}", entry.id, entry.state);
    }
    let text = rules::text(&entries);
    assert!(text.contains("574 rules: ") && text.contains(" 0 missing"), "{text}");
    assert_eq!(rules::json(&entries).matches("\"state\":").count(), 574);
}

/// The other way round: a test that no row names is one that the table forgot.
#[test]
fn every_test_of_this_folder_is_named_by_a_rule() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/rules");
    let rows = rules::rows().unwrap();
    let named: BTreeSet<&String> = rows.values().flat_map(|rule| &rule.tests).collect();
    let about_the_table = |name: &String| {
        let parts = ["_of_this_folder_", "_unit_cites_", "_instruction_table_"];
        // The manual has no rules of drafts yet.
        let draft = name.starts_with("draft_");
        draft || name.starts_with("every_rule_") || parts.iter().any(|part| name.contains(part))
    };
    for name in rules::test_functions(&folder).unwrap().iter().filter(|name| !about_the_table(name)) {
        assert!(named.contains(name), "no rule names the test {name}");
    }
}

/// Ids in the sources of the vector unit and in the instruction table, in messages and comments, are the
/// manual's.
#[test]
fn ids_that_the_vector_unit_cites_are_in_the_manual() {
    let known: BTreeSet<String> = rules::coverage().unwrap().into_iter().map(|entry| entry.id).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cited = BTreeSet::new();
    collect(&root.join("crates/rvvsim/src/vector"), &mut cited);
    collect(&root.join("isa"), &mut cited);
    assert!(cited.len() > 100, "{}", cited.len());
    for id in cited {
        assert!(known.contains(&id), "norm:{id} is no rule of the vector chapters");
    }
}

fn collect(folder: &Path, cited: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, cited);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for part in text.split("norm:").skip(1) {
            let id: String =
                part.chars().take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).collect();
            cited.insert(id);
        }
    }
}
