//! A campaign's file: one SQLite database, written a batch at a time.
//!
//! Each batch is one transaction with everything about it, so a kill at any moment leaves whole batches only;
//! the others are done again, and come out the same.

mod error;
pub mod query;

pub use self::error::StoreError;
use self::error::wrap;
use super::settings::Settings;
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::judge::vote::{Culprit, Verdict};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The version of the file's format that this program writes. It reads this one and those before it.
pub const FORMAT: i64 = 2;

/// What marks a file as ours: `application_id` of the database.
const APPLICATION: i32 = 0x7276_7666;

/// At most so much of what a compiler said is kept.
const DETAIL: usize = 4096;

const SCHEMA: &str = "
create table meta(key text primary key, value text not null);
-- Finished batches: programs first .. first + count. `at` is the campaign's time in seconds when it was stored.
create table batches(first integer primary key, count integer not null, at real not null, seconds real not null,
    operations integer not null, checks integer not null);
-- One letter for each testbed (see `letter`); the text of programs with verdicts.
create table programs(number integer primary key, outcomes text not null, ir text);
-- What there is to say about outcomes that are no passes. A testbed that says the same as the one before it has no row.
create table details(program integer not null, testbed integer not null, detail text not null,
    primary key(program, testbed)) without rowid;
create table verdicts(id integer primary key, program integer not null, culprit_kind text not null, culprit text not null,
    symptom text not null, testbeds text not null, axes text not null, detail text not null,
    signature text, reduced_ir text, reduced_c text, report_md text);
-- The first program that made a call, under the intrinsic's explicit or overloaded name.
create table coverage(name text not null, overloaded integer not null, program integer not null, at real not null,
    primary key(name, overloaded)) without rowid;
-- Seconds of each build of a batch (run is null), and of each run.
create table timings(first integer not null, build integer not null, run integer, seconds real not null);
create table broken(testbed text primary key, why text not null);
";

/// What format 2 added.
const SCHEMA_2: &str = "
-- What a batch judged: distinct pairs of a program and a build. `cpu` is the campaign's CPU time in seconds when it was
-- stored, reductions included.
create table costs(first integer primary key, pairs integer not null, cpu real not null);
-- Of a verdict: what can be said of its cause before it is reduced, and the known fault that it is.
create table notes(verdict integer primary key, early text, fault text);
";

/// A finished batch.
#[derive(Clone, Debug, Default)]
pub struct BatchRecord {
    /// Its first program.
    pub first: u64,
    /// How many it has.
    pub count: u64,
    /// What it took, in seconds.
    pub seconds: f64,
    /// Operations in its programs.
    pub operations: u64,
    /// Checks: one operation on one testbed, judged.
    pub checks: u64,
    /// Distinct pairs of a program and a build, judged: the same in another schedule or set-up is the same
    /// pair.
    pub pairs: u64,
    /// Programs that have what triggers a known fault of their compilers, in whatever schedule. It is not
    /// stored.
    pub triggers: u64,
    /// The programs.
    pub programs: Vec<ProgramRecord>,
    /// Calls made that were asked for: name, overloaded, program.
    pub calls: Vec<(&'static str, bool, u64)>,
    /// Build, run (or none: the build itself), seconds.
    pub timings: Vec<(usize, Option<usize>, f64)>,
    /// Testbeds that did not work, and why.
    pub broken: Vec<(String, String)>,
}

/// A program of a batch.
#[derive(Clone, Debug)]
pub struct ProgramRecord {
    /// Its number.
    pub number: u64,
    /// Its outcome on every testbed; `None` where there is none.
    pub outcomes: Vec<Option<Outcome>>,
    /// Its text, if it is to be kept.
    pub ir: Option<String>,
    /// What was found.
    pub verdicts: Vec<Verdict>,
}

/// What a reducer made of a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reduction {
    /// The same for all verdicts of one bug.
    pub signature: Option<String>,
    /// The reduced program.
    pub ir: Option<String>,
    /// The same in C.
    pub c: Option<String>,
    /// The report, in Markdown.
    pub report: Option<String>,
}

/// Time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// By the clock.
    pub clock: f64,
    /// Of the CPU, by this process and what it started.
    pub cpu: f64,
}

impl std::ops::Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent { clock: self.clock + other.clock, cpu: self.cpu + other.cpu }
    }
}

/// A campaign's file.
pub struct Store {
    pub(super) db: Connection,
    path: PathBuf,
    covered: HashSet<(String, bool)>,
    /// The version of the file's format.
    format: i64,
    /// What the sessions before this one took.
    before: Spent,
    // After the database: closing a second handle of the file would drop SQLite's own locks.
    _lock: Option<File>,
}

impl Drop for Store {
    fn drop(&mut self) {
        if self._lock.is_some() {
            // One file, which can be read where nothing may be written. If somebody reads it just now, it
            // stays as it is.
            let _ = self.db.pragma_update(None, "journal_mode", "delete");
        }
    }
}

/// The letter of an outcome.
pub fn letter(kind: Option<Kind>) -> char {
    match kind {
        None => '-',
        Some(Kind::Pass) => '.',
        Some(Kind::WrongOutput) => 'w',
        Some(Kind::RuntimeCrash) => 'c',
        Some(Kind::RuntimeTimeout) => 't',
        Some(Kind::BuildFailure) => 'f',
        Some(Kind::BuildCrash) => 'i',
        Some(Kind::BuildTimeout) => 's',
        Some(Kind::Unsupported) => 'u',
    }
}

/// The outcome of a letter.
pub fn kind(letter: char) -> Option<Kind> {
    Kind::ALL.into_iter().find(|k| self::letter(Some(*k)) == letter)
}

/// A verdict's culprit in two words: what kind, and who.
pub fn culprit(culprit: &Culprit) -> (&'static str, String) {
    let kind = match culprit {
        Culprit::Compiler(_) => "compiler",
        Culprit::Emulator(_) => "emulator",
        Culprit::Oracle => "oracle",
        Culprit::Generator => "generator",
    };
    (kind, culprit.to_string())
}

/// How a store is opened for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// It may be new.
    Create,
    /// It must be there.
    Existing,
}

impl Store {
    /// A new campaign's file.
    ///
    /// # Errors
    /// When it cannot be written, or is there already.
    pub fn create(path: &Path, settings: &Settings, testbeds: &[String]) -> Result<Store, StoreError> {
        let mut store = Store::writable(path, Open::Create)?;
        let fail = |e| wrap(path, e);
        if store.has_tables()? {
            let programs =
                store.db.query_row("select count(*) from programs", [], |r| r.get(0)).map_err(fail)?;
            return Err(StoreError::Exists { path: path.to_path_buf(), programs });
        }
        let json = |e: serde_json::Error| StoreError::Sqlite { path: path.to_path_buf(), why: e.to_string() };
        let settings = serde_json::to_string(settings).map_err(json)?;
        let testbeds = serde_json::to_string(testbeds).map_err(json)?;
        let transaction = store.db.transaction().map_err(fail)?;
        transaction.execute_batch(SCHEMA).and_then(|()| transaction.execute_batch(SCHEMA_2)).map_err(fail)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(fail)?;
        for (key, value) in [
            ("format", FORMAT.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_string()),
            ("settings", settings),
            ("testbeds", testbeds),
        ] {
            transaction.execute("insert into meta values(?, ?)", [key, &value]).map_err(fail)?;
        }
        transaction.commit().map_err(fail)?;
        Ok(store)
    }

    /// A campaign's file to go on with, and its settings.
    ///
    /// # Errors
    /// When it cannot be read and written.
    pub fn resume(path: &Path) -> Result<(Store, Settings), StoreError> {
        let mut store = Store::writable(path, Open::Existing)?;
        if store.format < FORMAT {
            let version = store.meta("version")?.unwrap_or_default();
            return Err(StoreError::Older { path: path.to_path_buf(), version });
        }
        let settings = store.settings()?;
        let fail = |e| wrap(path, e);
        let clock =
            store.db.query_row("select coalesce(max(at), 0) from batches", [], |r| r.get(0)).map_err(fail)?;
        store.before = Spent { clock, cpu: store.cpu()? };
        store.covered = store
            .rows("select name, overloaded from coverage", |r| Ok((r.get(0)?, r.get(1)?)))?
            .into_iter()
            .collect();
        Ok((store, settings))
    }

    /// A campaign's file to look at, also while a campaign writes it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = match Connection::open_with_flags(path, flags) {
            Ok(db) => db,
            Err(_) if !path.exists() => {
                return Err(StoreError::Open {
                    path: path.to_path_buf(),
                    why: "there is no such file".to_string(),
                });
            }
            Err(error) => return Err(wrap(path, error)),
        };
        let mut store = Store::around(db, path, None);
        let fail = |e| wrap(path, e);
        store.db.busy_timeout(Duration::from_secs(10)).map_err(fail)?;
        store.check_format()?;
        Ok(store)
    }

    /// A campaign's file that is in memory, to look at. For those who have no file; nothing in it is trusted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Store, StoreError> {
        let path = PathBuf::from("memory");
        let fail = |e| wrap(&path, e);
        let mut db = Connection::open_in_memory().map_err(fail)?;
        db.deserialize_read_exact("main", bytes, bytes.len(), true).map_err(fail)?;
        let mut store = Store::around(db, &path, None);
        store.check_format()?;
        Ok(store)
    }

    fn around(db: Connection, path: &Path, lock: Option<File>) -> Store {
        let (path, covered, before) = (path.to_path_buf(), HashSet::new(), Spent::default());
        Store { db, path, covered, format: FORMAT, before, _lock: lock }
    }

    fn writable(path: &Path, how: Open) -> Result<Store, StoreError> {
        let open = |why: std::io::Error| StoreError::Open { path: path.to_path_buf(), why: why.to_string() };
        let create = how == Open::Create;
        if !create && !path.exists() {
            return Err(StoreError::Empty { path: path.to_path_buf() });
        }
        let lock =
            File::options().read(true).write(true).create(create).truncate(false).open(path).map_err(open)?;
        // A child of the process that had it holds it too, between fork and exec.
        let patience = Instant::now() + Duration::from_secs(2);
        let mut locked = lock.try_lock();
        while matches!(locked, Err(TryLockError::WouldBlock)) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
            locked = lock.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: path.to_path_buf() }),
            // A file system without locks: then without.
            Err(TryLockError::Error(_)) => {}
        }
        let fail = |e| wrap(path, e);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(fail)?;
        let mut store = Store::around(db, path, Some(lock));
        let path = path.to_path_buf();
        store.db.busy_timeout(Duration::from_secs(10)).map_err(fail)?;
        // Before anything is changed in it.
        if store.has_tables()? {
            store.check_format()?;
        } else if !create {
            return Err(StoreError::Empty { path });
        }
        store.db.pragma_update(None, "journal_mode", "wal").map_err(fail)?;
        // What is committed is on the disk, not only in the system's memory.
        store.db.pragma_update(None, "synchronous", "full").map_err(fail)?;
        Ok(store)
    }

    fn has_tables(&self) -> Result<bool, StoreError> {
        let tables: i64 = self
            .db
            .query_row("select count(*) from sqlite_schema", [], |r| r.get(0))
            .map_err(|e| wrap(&self.path, e))?;
        Ok(tables > 0)
    }

    fn check_format(&mut self) -> Result<(), StoreError> {
        let foreign = || StoreError::Foreign { path: self.path.clone() };
        let application: i32 =
            self.db.query_row("pragma application_id", [], |r| r.get(0)).map_err(|e| wrap(&self.path, e))?;
        if application != APPLICATION {
            return Err(foreign());
        }
        let format: i64 = self.meta("format")?.and_then(|f| f.parse().ok()).ok_or_else(foreign)?;
        if format > FORMAT {
            let version = self.meta("version")?.unwrap_or_default();
            return Err(StoreError::Newer { path: self.path.clone(), format, version });
        }
        self.format = format;
        self.check_contents()
    }

    /// A file may come from anywhere. Our tables are what we make them, and no views, which could have rows
    /// without end; nothing else happens when they are written; and each page is used once, so that no more
    /// can be read than the file is long.
    fn check_contents(&self) -> Result<(), StoreError> {
        let fail = |e| wrap(&self.path, e);
        let model = Connection::open_in_memory().and_then(|db| {
            db.execute_batch(SCHEMA)?;
            db.execute_batch(if self.format < 2 { "" } else { SCHEMA_2 }).map(|()| db)
        });
        let query = "select type, name, tbl_name, sql from sqlite_schema";
        let read = |db: &Connection| -> rusqlite::Result<Vec<[Option<String>; 4]>> {
            let mut statement = db.prepare(query)?;
            let rows = statement.query_map([], |r| Ok([r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?]))?;
            rows.collect()
        };
        let ours = model.and_then(|db| read(&db)).map_err(fail)?;
        let found = read(&self.db).map_err(fail)?;
        let is_table = |row: &&[Option<String>; 4]| row[0].as_deref() == Some("table");
        let named = |row: &[Option<String>; 4]| ours.iter().filter(is_table).any(|o| o[1] == row[2]);
        if ours.iter().any(|o| !found.contains(o)) || found.iter().any(|f| named(f) && !ours.contains(f)) {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        match self.db.query_row("pragma quick_check(1)", [], |r| r.get::<_, String>(0)).map_err(fail)? {
            said if said == "ok" => Ok(()),
            why => Err(StoreError::Damaged {
                path: self.path.clone(),
                why: why.lines().collect::<Vec<_>>().join(" "),
            }),
        }
    }

    /// A note about the whole campaign.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let value = self.db.query_row("select value from meta where key = ?", [key], |r| r.get(0));
        value.optional().map_err(|e| wrap(&self.path, e))
    }

    /// The campaign's settings.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        let text = self.meta("settings")?.unwrap_or_default();
        serde_json::from_str(&text)
            .map_err(|e| StoreError::Sqlite { path: self.path.clone(), why: format!("its settings: {e}") })
    }

    /// The names of the testbeds, by number.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn testbeds(&self) -> Result<Vec<String>, StoreError> {
        let text = self.meta("testbeds")?.unwrap_or_default();
        serde_json::from_str(&text)
            .map_err(|e| StoreError::Sqlite { path: self.path.clone(), why: format!("its testbeds: {e}") })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the sessions before this one took.
    pub fn before(&self) -> Spent {
        self.before
    }

    /// The campaign's CPU time so far, in seconds; 0 if it was not measured.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn cpu(&self) -> Result<f64, StoreError> {
        Ok(self.meta("cpu")?.and_then(|t| t.parse().ok()).filter(|t: &f64| t.is_finite()).unwrap_or(0.0))
    }

    /// Stores what this session has taken of the CPU, after its last batch, too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_cpu(&mut self, cpu: f64) -> Result<(), StoreError> {
        self.save_meta("cpu", &(self.before.cpu + cpu).to_string())
    }

    /// Stores a note about the whole campaign.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        let done = self.db.execute("insert or replace into meta values(?, ?)", [key, value]);
        done.map(|_| ()).map_err(|e| wrap(&self.path, e))
    }

    /// Stores that a verdict is a known fault, or that it is none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_fault(&mut self, verdict: i64, fault: Option<&str>) -> Result<(), StoreError> {
        let query = "insert into notes values(?1, null, ?2) on conflict(verdict) do update set fault = ?2";
        self.db.execute(query, params![verdict, fault]).map(|_| ()).map_err(|e| wrap(&self.path, e))
    }

    /// How many of the selected calls were made.
    pub fn covered(&self) -> usize {
        self.covered.len()
    }

    /// The finished batches: first program and count.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn done(&self) -> Result<BTreeMap<u64, u64>, StoreError> {
        let rows = self.rows("select first, count from batches", |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// Rows of a query, each read by `read`.
    pub(super) fn rows<T>(
        &self,
        query: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let fail = |e| wrap(&self.path, e);
        let mut statement = self.db.prepare(query).map_err(fail)?;
        let rows = statement.query_map([], read).map_err(fail)?;
        rows.collect::<rusqlite::Result<Vec<T>>>().map_err(fail)
    }

    /// Stores a batch, all of it or nothing, when this session has taken so long. Returns the verdicts'
    /// numbers, in order.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&mut self, batch: &BatchRecord, now: Spent) -> Result<Vec<i64>, StoreError> {
        let at = self.before + now;
        let fresh: Vec<_> = batch
            .calls
            .iter()
            .filter(|(name, o, _)| !self.covered.contains(&(name.to_string(), *o)))
            .collect();
        let result = write(&mut self.db, batch, &fresh, at);
        let ids = result.map_err(|e| wrap(&self.path, e))?;
        self.covered.extend(fresh.iter().map(|(name, o, _)| (name.to_string(), *o)));
        Ok(ids)
    }

    /// Stores testbeds that do not work, and why.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_broken(&mut self, broken: &[(String, String)]) -> Result<(), StoreError> {
        for (testbed, why) in broken {
            let done =
                self.db.execute("insert or replace into broken values(?, ?)", [testbed.as_str(), cut(why)]);
            done.map_err(|e| wrap(&self.path, e))?;
        }
        Ok(())
    }

    /// Stores what a reducer made of a verdict.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_reduction(&mut self, verdict: i64, reduction: &Reduction) -> Result<(), StoreError> {
        let Reduction { signature, ir, c, report } = reduction;
        self.db
            .execute(
                "update verdicts set signature = ?, reduced_ir = ?, reduced_c = ?, report_md = ? where id = ?",
                params![signature, ir, c, report, verdict],
            )
            .map_err(|e| wrap(&self.path, e))?;
        Ok(())
    }
}

fn write(
    db: &mut Connection,
    batch: &BatchRecord,
    calls: &[&(&'static str, bool, u64)],
    Spent { clock: at, cpu }: Spent,
) -> rusqlite::Result<Vec<i64>> {
    let mut ids = Vec::new();
    let transaction = db.transaction()?;
    {
        let BatchRecord { first, count, seconds, operations, checks, pairs, .. } = batch;
        transaction.execute("insert into costs values(?, ?, ?)", params![first, pairs, cpu])?;
        transaction.execute("insert or replace into meta values('cpu', ?)", [cpu.to_string()])?;
        transaction.execute(
            "insert into batches values(?, ?, ?, ?, ?, ?)",
            params![first, count, at, seconds, operations, checks],
        )?;
        let mut program = transaction.prepare("insert into programs values(?, ?, ?)")?;
        let mut detail = transaction.prepare("insert into details values(?, ?, ?)")?;
        let mut verdict = transaction.prepare(
            "insert into verdicts(program, culprit_kind, culprit, symptom, testbeds, axes, detail) values(?, ?, ?, ?, ?, ?, ?)",
        )?;
        let mut note = transaction.prepare("insert into notes values(?, ?, ?)")?;
        for p in &batch.programs {
            let letters: String = p.outcomes.iter().map(|o| letter(o.as_ref().map(Outcome::kind))).collect();
            program.execute(params![p.number, letters, p.ir])?;
            let mut last: Option<&Outcome> = None;
            for (testbed, outcome) in p.outcomes.iter().enumerate() {
                let Some(outcome) = outcome.as_ref().filter(|o| **o != Outcome::Pass) else { continue };
                let text = outcome.detail();
                if last != Some(outcome) && !text.is_empty() {
                    detail.execute(params![p.number, testbed, cut(&text)])?;
                }
                last = Some(outcome);
            }
            for v in &p.verdicts {
                let (kind, who) = culprit(&v.culprit);
                let testbeds = serde_json::to_string(&v.testbeds).unwrap_or_default();
                verdict.execute(params![
                    p.number,
                    kind,
                    who,
                    v.symptom.name(),
                    testbeds,
                    v.axes.join(", "),
                    cut(&v.detail)
                ])?;
                let id = transaction.last_insert_rowid();
                note.execute(params![id, v.early.as_deref().map(cut), v.fault])?;
                ids.push(id);
            }
        }
        let mut call = transaction.prepare("insert or ignore into coverage values(?, ?, ?, ?)")?;
        for (name, overloaded, number) in calls {
            call.execute(params![name, overloaded, number, at])?;
        }
        let mut timing = transaction.prepare("insert into timings values(?, ?, ?, ?)")?;
        for (build, run, seconds) in &batch.timings {
            timing.execute(params![first, build, run, seconds])?;
        }
        for (testbed, why) in &batch.broken {
            transaction.execute("insert or replace into broken values(?, ?)", [testbed, cut(why)])?;
        }
    }
    transaction.commit()?;
    Ok(ids)
}

/// The first part of a text.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(DETAIL);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
pub(super) mod tests;
