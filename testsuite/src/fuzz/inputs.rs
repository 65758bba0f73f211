//! Inputs for the targets: what is good, changed a little, or made from the tables.

use super::mutate;
use crate::{hostile, hostile_vector};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use rusqlite::types::Value;
use rvvfuzz::programs::corpus::Candidate;
use rvvfuzz::programs::feedback::{Feedback, Rows};
use rvvfuzz::programs::judge::outcome::{Kind, Outcome};
use rvvfuzz::programs::judge::vote::{Culprit, Verdict};
use rvvfuzz::programs::settings::Settings;
use rvvfuzz::programs::store::{BatchRecord, ProgramRecord, Reduction, Spent, Store};
use rvvfuzz::programs::testbed::file::EXAMPLE;
use std::sync::LazyLock;

/// Bytes before the words of a stream.
pub const STREAM_HEAD: usize = 10;
/// Most words of a stream.
pub const MOST_WORDS: usize = 256;

/// One word: any, or an instruction with anything for operands; now and then an ISA string.
pub fn words(rng: &mut ChaCha8Rng) -> Vec<u8> {
    match rng.random_range(0..16) {
        0 => hostile::isa_string(rng).into_bytes(),
        1..=3 => rng.random::<u32>().to_le_bytes().to_vec(),
        4 => rng.random::<u16>().to_le_bytes().to_vec(),
        _ => hostile::any_instruction(rng).to_le_bytes().to_vec(),
    }
}

/// A stream, with more of the small VLENs, which are fast.
pub fn stream(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let vlen: u8 = rng.random_range(0..10).min(rng.random_range(0..12));
    let mut bytes = vec![vlen, rng.random()];
    bytes.extend(rng.random::<[u8; STREAM_HEAD - 2]>());
    let length = rng.random_range(16..=64);
    bytes.extend(hostile_vector::stream(rng.random(), length).iter().flat_map(|w| w.to_le_bytes()));
    bytes
}

/// Bytes that `hostile_syscalls` reads calls from.
pub fn syscalls(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let length = rng.random_range(20..400);
    (0..length).map(|_| rng.random()).collect()
}

/// Small programs, each about a few intrinsics.
static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plan = rvvgen::Plan::new(1, &rvvgen::Selection::default(), 1, 128);
    let settings = rvvgen::Settings { vlens: vec![128], ..rvvgen::Settings::default() };
    let programs = (0..400).map(|k| rvvgen::generate(&plan, k, &settings));
    let mut texts: Vec<String> = programs.filter_map(|p| Some(p.ok()?.program.to_string())).collect();
    texts.sort_by_key(String::len);
    texts.truncate(200);
    texts
});

static PROGRAM_TOKENS: LazyLock<Vec<Vec<&str>>> =
    LazyLock::new(|| PROGRAMS.iter().map(|text| mutate::tokens(text)).collect());

/// Words and signs of programs.
const PROGRAM_WORDS: [&str; 48] = [
    "rvv-ir",
    "main",
    "fn",
    "inline",
    "global",
    "param",
    "const",
    "data",
    "out",
    "zero",
    "seed",
    "bits",
    "corner",
    "mix",
    "small",
    "permute",
    "step",
    "below",
    "var",
    "put",
    "setfrm",
    "strip",
    "for",
    "as",
    "if",
    "else",
    "call",
    "overloaded",
    "return",
    "size",
    "ptrdiff",
    "ulong",
    "long",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "=",
    "&",
    "-",
    "#",
    "\n",
    "é",
    "\0",
];

/// The text of a program, changed.
pub fn program(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let [good, other] = [(); 2].map(|()| PROGRAM_TOKENS.choose(rng).expect("some"));
    mutate::text(good, other, &PROGRAM_WORDS, rng)
}

/// Words of `testbeds.toml`.
const TOML_WORDS: [&str; 24] = [
    "levels",
    "vlens",
    "builtin",
    "compiler",
    "emulator",
    "name",
    "command",
    "flags",
    "version",
    "[[",
    "]]",
    "[",
    "]",
    "=",
    "\"",
    "'''",
    ".",
    "{",
    "}",
    ",",
    "true",
    "1979-05-27",
    "nan",
    "\\u0000",
];

static TOML_TOKENS: LazyLock<Vec<&str>> = LazyLock::new(|| mutate::tokens(EXAMPLE));

/// A `testbeds.toml`, changed.
pub fn testbeds(rng: &mut ChaCha8Rng) -> Vec<u8> {
    mutate::text(&TOML_TOKENS, &TOML_TOKENS, &TOML_WORDS, rng)
}

/// What a campaign with feedback keeps of two programs.
fn corpus() -> Rows {
    let feedback = Feedback::new(1, 0.5, None).expect("not all programs are new");
    let ir = PROGRAMS.first().map(|p| p.to_string()).unwrap_or_default();
    let candidate = |number, features: [u64; 2]| Candidate {
        number,
        ir: ir.clone(),
        features: features.into_iter().collect(),
        ..Candidate::default()
    };
    feedback.learn(&[candidate(0, [1, 2]), candidate(1, [2, u64::MAX])], |rows| rows)
}

/// The file of a small campaign.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("campaign.db");
    let testbeds = ["a on x".to_string(), "b on x".to_string()];
    // A report counts the calls of the selection again, and all of them take most of the time of an input.
    let settings = Settings { names: vec!["vadd_vv_i8m1*".into()], ..Settings::default() };
    let mut store = Store::create(&path, &settings, &testbeds).expect("a new file");
    let verdict = Verdict {
        testbeds: vec![0],
        axes: vec!["level"],
        early: Some("a: build crash: in f, at x.cc".into()),
        fault: Some("gcc-copy".into()),
        ..Verdict::new(Culprit::Compiler("a".into()), Kind::BuildCrash, "in f, at x.cc:1".into())
    };
    let program = |number, outcomes, ir: Option<&str>, verdicts| ProgramRecord {
        number,
        outcomes,
        ir: ir.map(str::to_string),
        verdicts,
    };
    let crash = Some(Outcome::BuildCrash("in f, at x.cc:1".into()));
    let batch = BatchRecord {
        first: 0,
        count: 2,
        seconds: 0.5,
        operations: 20,
        checks: 40,
        pairs: 2,
        triggers: 0,
        programs: vec![
            program(0, vec![Some(Outcome::Pass), None], None, vec![]),
            program(
                1,
                vec![crash, Some(Outcome::RuntimeTimeout)],
                PROGRAMS.first().map(|p| &**p),
                vec![verdict],
            ),
        ],
        calls: vec![("__riscv_vadd_vv_i8m1", false, 0)],
        timings: vec![(0, None, 0.1), (0, Some(0), 0.2)],
        broken: vec![("x".into(), "gone".into())],
        rest: None,
        seen: vec![],
        corpus: corpus(),
    };
    let ids = store.save(&batch, Spent { clock: 1.0, cpu: 1.0 }).expect("room");
    let reduction = Reduction { signature: Some("s".into()), ..Reduction::default() };
    store.save_reduction(ids[0], &reduction).expect("room");
    drop(store);
    std::fs::read(&path).expect("it is there")
});

/// The tables and columns of a store.
static COLUMNS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let read = || -> rusqlite::Result<Vec<(String, String)>> {
        let db = opened(&STORE)?;
        let query =
            "select t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'";
        let mut query = db.prepare(query)?;
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    read().expect("a good store")
});

/// A store, changed: its bytes, or what is in its tables.
pub fn store(rng: &mut ChaCha8Rng) -> Vec<u8> {
    if rng.random() {
        return mutate::bytes(&STORE, rng);
    }
    let mut changed = || -> rusqlite::Result<Vec<u8>> {
        let mut db = opened(&STORE)?;
        for _ in 0..rng.random_range(1..4) {
            let (table, column) = COLUMNS.choose(rng).expect("some");
            let value = strange(&db, table, column, rng);
            // What breaks a rule of the table is left.
            let _ = db.execute(&format!("update or ignore {table} set {column} = ?"), [value]);
        }
        Ok(db.serialize("main")?.to_vec())
    };
    changed().expect("in memory")
}

fn opened(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut db = Connection::open_in_memory()?;
    db.deserialize_read_exact("main", bytes, bytes.len(), false)?;
    Ok(db)
}

/// Something that a column is not expected to hold.
fn strange(db: &Connection, table: &str, column: &str, rng: &mut ChaCha8Rng) -> Value {
    match rng.random_range(0..8) {
        0 => Value::Null,
        1 | 2 => {
            let n = (1_i64 << rng.random_range(0..64)).wrapping_sub(rng.random_range(0..2));
            Value::Integer(if rng.random() { n } else { n.wrapping_neg() })
        }
        3 => Value::Real(*[f64::INFINITY, -1e308, 1e308, -0.0, 1e-320].choose(rng).expect("some")),
        4 => Value::Blob(mutate::bytes(b"\0\xff[]", rng)),
        // Text that is there, or that another column has.
        _ => {
            let (table, column) = if rng.random() { (table, column) } else { ("meta", "value") };
            let offset = rng.random_range(0..4);
            let query = format!("select cast({column} as text) from {table} limit 1 offset {offset}");
            let text: String = db.query_row(&query, [], |row| row.get(0)).unwrap_or_default();
            let words = ["{", "}", "[", "]", "null", "-1", "1e999", "\"", "\\u0000", "é", "<", "&"];
            Value::Text(
                String::from_utf8_lossy(&mutate::text(&mutate::tokens(&text), &TOML_TOKENS, &words, rng))
                    .into_owned(),
            )
        }
    }
}
