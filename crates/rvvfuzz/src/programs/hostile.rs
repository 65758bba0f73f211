//! What reads files that others may have written, as functions on bytes: for fuzzers, and for the tests
//! below. Whatever the bytes are, each ends soon, in memory of the order of the bytes, with whether it could
//! use them.

use super::corpus::Limits;
use super::report::{Report, formats, page};
use super::store::Store;
use crate::programs::testbed::file::TestbedsFile;
use rvv_ir::Program;

/// A program as text: read, checked, written, and what was written is read as the same.
///
/// # Panics
/// When it is not.
#[must_use]
pub fn program(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(program) = text.parse::<Program>() else { return false };
    let written = program.to_string();
    let again = written.parse::<Program>().map(|p| p.to_string());
    assert!(again.as_ref() == Ok(&written), "read as something else: {written}");
    program.check().is_ok()
}

/// A `testbeds.toml`.
#[must_use]
pub fn testbeds(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| TestbedsFile::parse(text).is_ok())
}

/// A campaign's file: read whole, and reported in every form.
#[must_use]
pub fn store(bytes: &[u8]) -> bool {
    let Ok(store) = Store::from_bytes(bytes) else { return false };
    let Ok(report) = Report::read(&store) else { return false };
    let forms = [formats::json as fn(&Report) -> String, formats::junit, |r: &Report| formats::sarif(r, "")];
    let _ = (store.unreduced(), store.done(), page::file(&store));
    let _ = store.corpus(Limits::default()).map(|mut corpus| corpus.choose(1).is_some());
    forms.iter().all(|form| !form(&report).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::Settings;
    use crate::programs::store::Spent;
    use crate::programs::testbed::file::EXAMPLE;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A few bytes changed, cut out, doubled, or the end missing.
    fn changed(bytes: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
        let mut all = bytes.to_vec();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..all.len().max(1)).min(all.len().saturating_sub(1));
            let end = (at + rng.random_range(0..64)).min(all.len());
            match rng.random_range(0..8) {
                _ if all.is_empty() => {}
                0 => all.truncate(at),
                1 => drop(all.drain(at..end)),
                2 => {
                    let part = all[at..end].to_vec();
                    all.splice(at..at, part);
                }
                3 => {
                    all[at] =
                        *[0, 1, 0x7f, 0x80, 0xff, b'9', b'-', b'{'].get(rng.random_range(0..8)).unwrap_or(&0)
                }
                4 => all[at] ^= 1 << rng.random_range(0..8),
                // Digits where there are digits: large numbers.
                5 if all[at].is_ascii_digit() => drop(all.splice(at..at, *b"99999999999999999999")),
                _ => all[at] = rng.random(),
            }
        }
        all
    }

    fn programs(count: u64) -> Vec<String> {
        let plan = rvvgen::Plan::new(1, &rvvgen::Selection::default(), 4, 128);
        let settings = rvvgen::Settings::default();
        (0..count).map(|k| rvvgen::generate(&plan, k, &settings).unwrap().program.to_string()).collect()
    }

    #[test]
    fn changed_programs_are_programs_or_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let all = programs(8);
        assert!(all.iter().all(|p| program(p.as_bytes())));
        for n in 0..1500 {
            let _ = program(&changed(all[n % all.len()].as_bytes(), &mut rng));
        }
        for text in [
            "rvv-ir 1\nmain {".to_string() + &"if a < 1 {".repeat(100_000),
            "(".repeat(100_000),
            "-".repeat(1 << 20),
        ] {
            assert!(!program(text.as_bytes()));
        }
    }

    #[test]
    fn changed_testbeds_are_testbeds_or_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        assert!(testbeds(EXAMPLE.as_bytes()));
        for _ in 0..1500 {
            let _ = testbeds(&changed(EXAMPLE.as_bytes(), &mut rng));
        }
        assert!(!testbeds(("levels = ".to_string() + &"[".repeat(100_000)).as_bytes()));
        assert!(!testbeds((String::from("a") + &".a".repeat(100_000) + " = 1").as_bytes()));
    }

    /// A store with a batch in it, and the statements of a hostile hand.
    fn stored(statements: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        let names = ["a on x".to_string(), "b on x".to_string()];
        let mut store = Store::create(&path, &Settings::default(), &names).unwrap();
        store.save(&crate::programs::store::tests::batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap();
        drop(store);
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute_batch(statements).unwrap();
        drop(db);
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn a_store_may_hold_anything() {
        assert!(store(&stored("")));
        // Read, and what is in it is strange.
        for statements in [
            "update batches set count = 9223372036854775807, checks = 9223372036854775807; \
             insert into batches select first + 1, count, at, seconds, operations, checks from batches; \
             insert into batches select first + 2, count, at, seconds, operations, checks from batches;",
            "update batches set at = 9e999, seconds = -9e999; update coverage set at = 9e999; update timings set seconds = 9e999;",
            "update batches set at = -1e308, seconds = 1e-320; update coverage set at = 1e308;",
            "update verdicts set testbeds = '[0, 99999999999]', culprit_kind = 'x', symptom = 'y';",
            "update verdicts set testbeds = 'x', signature = char(10, 0, 7);",
            "update timings set build = 99999, run = 99999;",
            "update programs set outcomes = replace(hex(zeroblob(50000)), '0', 'w');",
            "update programs set outcomes = 'ä∞w';",
            "update programs set outcomes = 'w18446744073709551616c18446744073709551615';",
            "update programs set outcomes = '9w0';",
            "update coverage set name = '__riscv_nothing';",
            "update meta set value = '[]' where key = 'testbeds';",
            "update meta set value = replace(value, '\"ops\":10', '\"ops\":18446744073709551615') where key = 'settings';",
            "update meta set value = replace(value, '\"len\":10', '\"len\":0') where key = 'settings';",
            "create table remarks(a); create view mine as select * from remarks;",
        ] {
            assert!(store(&stored(statements)), "{statements}");
        }
        // Refused.
        for statements in [
            "update meta set value = '{}' where key = 'settings';",
            "update meta set value = 'x' where key = 'format';",
            "update meta set value = '9' where key = 'format';",
            "delete from meta;",
            "update batches set count = -1;",
            "update verdicts set id = 5, program = -3;",
            "update batches set at = 'soon';",
            "drop table verdicts;",
            "drop table programs; create view programs(number, outcomes, ir) as with recursive n(i) as \
             (select 0 union all select i + 1 from n) select i, 'w', '' from n;",
            "create trigger t after insert on programs begin delete from programs; end;",
            "create index i on programs(printf('%9d', number));",
        ] {
            assert!(!store(&stored(statements)), "{statements}");
        }
        assert!(!store(b""));
        assert!(!store(b"SQLite format 3\0"));
    }

    #[test]
    fn changed_stores_are_stores_or_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let good = stored("");
        let mut read = 0;
        for _ in 0..300 {
            read += u32::from(store(&changed(&good, &mut rng)));
        }
        // Some changes are in places that do not matter.
        assert!(read > 0);
        for end in (0..good.len()).step_by(good.len() / 50) {
            let _ = store(&good[..end]);
        }
    }
}
