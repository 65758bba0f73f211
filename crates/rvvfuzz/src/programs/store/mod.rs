//! A campaign's store, written a batch at a time: a SQLite file, or a database of a PostgreSQL server.
//!
//! Each batch is one transaction with everything about it, so a kill at any moment leaves whole batches only;
//! the others are done again, and come out the same. Statements and tables are written once for both
//! databases ([`db`], [`schema`]); [`lease`] divides a campaign among workers.

mod corpus;
mod db;
mod error;
pub mod lease;
mod leased;
mod letters;
pub mod merge;
pub mod orders;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
pub mod query;
mod rest;
mod schema;
mod sqlite;
pub mod states;
#[cfg(feature = "postgres")]
mod tls;
mod write;

use self::db::{Database, Row, Value, insert_many, values};
pub use self::error::StoreError;
use self::error::wrap;
pub use self::place::{Address, Place};
pub use self::schema::FORMAT;
use self::sqlite::Sqlite;
use self::write::{cut, save_meta, write, write_broken, write_costs};
use super::corpus::Candidate;
use super::feedback::Rows;
use super::settings::Settings;
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::judge::vote::{Culprit, Verdict};
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// At most so much of what a compiler said is kept.
const DETAIL: usize = 4096;

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
    /// Only these compilers of the settings, by their places: others have judged the batch without them.
    pub rest: Option<Vec<usize>>,
    /// Programs with their features, for the corpus. They are not stored.
    pub seen: Vec<Candidate>,
    /// What has changed in the corpus with it.
    pub corpus: Rows,
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
    /// The pass at fault is still to be found. It is not stored.
    pub bisect: bool,
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

/// A campaign's store.
pub struct Store {
    db: Box<dyn Database>,
    place: Place,
    covered: HashSet<(String, bool)>,
    /// The version of the store's format.
    format: i64,
    /// What the sessions before this one took.
    before: Spent,
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
    /// It may be new, and nobody else has it.
    Create,
    /// It must be there, and nobody else has it. A server's database may always have others.
    Existing,
    /// It must be there, and other workers may have it.
    Shared,
    /// It must be there, whoever has it: a note is added for a moment.
    Beside,
}

impl Store {
    /// A new campaign's store.
    ///
    /// # Errors
    /// When it cannot be written, or is there already.
    pub fn create(
        place: impl Into<Place>,
        settings: &Settings,
        testbeds: &[String],
    ) -> Result<Store, StoreError> {
        let store = Store::writable(place.into(), Open::Create)?;
        let json = |e: serde_json::Error| store.wrong(&e.to_string());
        let settings = serde_json::to_string(settings).map_err(json)?;
        let testbeds = serde_json::to_string(testbeds).map_err(json)?;
        let mut there = None;
        store.db.transaction(&mut |to| {
            there = None;
            if !store.db.create(to)? {
                let rows = to.query("select count(*) from programs", &[])?;
                there = Some(rows.first().and_then(|r| r.get(0).ok()).unwrap_or(0));
                return Ok(());
            }
            let notes = [
                ("format", FORMAT.to_string()),
                ("version", env!("CARGO_PKG_VERSION").to_string()),
                ("settings", settings.clone()),
                ("testbeds", testbeds.clone()),
            ];
            let rows: Vec<Vec<Value>> = notes.iter().map(|(k, v)| vec![Value::from(*k), v.into()]).collect();
            insert_many(to, "meta", &rows, "")
        })?;
        match there {
            Some(programs) => Err(StoreError::Exists { path: store.path(), programs }),
            None => Ok(store),
        }
    }

    /// A campaign's store to go on with, and its settings.
    ///
    /// # Errors
    /// When it cannot be read and written.
    pub fn resume(place: impl Into<Place>) -> Result<(Store, Settings), StoreError> {
        let (store, settings) = Store::go_on(place.into(), Open::Existing)?;
        if store.place.file().is_some() {
            // Nobody else is at work on it: what workers had taken is free, and is found by what is missing.
            // What waits for a machine with another compiler still does.
            store.db.transaction(&mut |to| {
                to.execute("delete from leases where kind in ('programs', 'reduce')", &[])?;
                to.execute("delete from meta where key = 'next'", &[]).map(|_| ())
            })?;
        }
        Ok((store, settings))
    }

    fn go_on(place: Place, how: Open) -> Result<(Store, Settings), StoreError> {
        let mut store = Store::writable(place, how)?;
        if store.format < 2 {
            let version = store.meta("version")?.unwrap_or_default();
            return Err(StoreError::Older { path: store.path(), version });
        }
        store.migrate()?;
        let settings = store.settings()?;
        let clock = store.one("select coalesce(max(at), 0.0) from batches")?;
        store.before = Spent { clock, cpu: store.cpu()? };
        store.covered = store
            .rows("select name, overloaded from coverage", |r| Ok((r.get(0)?, r.get(1)?)))?
            .into_iter()
            .collect();
        Ok((store, settings))
    }

    /// Adds what newer formats have.
    fn migrate(&mut self) -> Result<(), StoreError> {
        if self.format < FORMAT {
            self.db.transaction(&mut |to| self.db.migrate(to))?;
            self.format = FORMAT;
        }
        Ok(())
    }

    /// A campaign's store to look at, also while a campaign writes it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(place: impl Into<Place>) -> Result<Store, StoreError> {
        let place = place.into();
        let Place::File(path) = &place else { return Store::writable(place, Open::Shared) };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = match Connection::open_with_flags(path, flags) {
            Ok(db) => db,
            Err(_) if !path.exists() => {
                return Err(StoreError::Open {
                    path: path.clone(),
                    why: "there is no such file".to_string(),
                });
            }
            Err(error) => return Err(wrap(path, error)),
        };
        db.busy_timeout(Duration::from_secs(10)).map_err(|e| wrap(path, e))?;
        Store::checked(Box::new(Sqlite::new(db, path, None)), place)
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
        Store::checked(Box::new(Sqlite::new(db, &path, None)), Place::File(path))
    }

    /// A store that has tables, which must be ours.
    fn checked(db: Box<dyn Database>, place: Place) -> Result<Store, StoreError> {
        let (covered, before) = (HashSet::new(), Spent::default());
        let mut store = Store { db, place, covered, format: FORMAT, before };
        let foreign = || StoreError::Foreign { path: store.path() };
        store.db.is_ours()?;
        let format: i64 = store.meta("format")?.and_then(|f| f.parse().ok()).ok_or_else(foreign)?;
        if format > FORMAT {
            let version = store.meta("version")?.unwrap_or_default();
            return Err(StoreError::Newer { path: store.path(), format, version });
        }
        store.format = format;
        store.db.check(format)?;
        Ok(store)
    }

    fn writable(place: Place, how: Open) -> Result<Store, StoreError> {
        let db: Box<dyn Database> = match &place {
            Place::File(path) => Box::new(open_file(path, how)?),
            #[cfg(feature = "postgres")]
            Place::Server(address) => Box::new(postgres::Postgres::connect(address)?),
            #[cfg(not(feature = "postgres"))]
            Place::Server(_) => {
                return Err(StoreError::NoServer { path: PathBuf::from(place.to_string()) });
            }
        };
        // Before anything is changed in it.
        if db.has_tables()? {
            let store = Store::checked(db, place)?;
            if how != Open::Beside {
                store.db.for_writing()?;
            }
            return Ok(store);
        }
        if how != Open::Create {
            return Err(StoreError::Empty { path: PathBuf::from(place.to_string()) });
        }
        db.for_writing()?;
        Ok(Store { db, place, covered: HashSet::new(), format: FORMAT, before: Spent::default() })
    }

    /// Where it is, for messages.
    fn path(&self) -> PathBuf {
        PathBuf::from(self.place.to_string())
    }

    fn wrong(&self, why: &str) -> StoreError {
        StoreError::Sqlite { path: self.path(), why: why.to_string() }
    }

    /// A note about the whole campaign.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let rows = self.db.query("select value from meta where key = ?1", values![key])?;
        rows.first().map(|r| r.get(0)).transpose().map_err(|e| self.wrong(&e.to_string()))
    }

    /// The campaign's settings.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        let text = self.meta("settings")?.unwrap_or_default();
        serde_json::from_str(&text).map_err(|e| self.wrong(&format!("its settings: {e}")))
    }

    /// The names of the testbeds, by number.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn testbeds(&self) -> Result<Vec<String>, StoreError> {
        let text = self.meta("testbeds")?.unwrap_or_default();
        serde_json::from_str(&text).map_err(|e| self.wrong(&format!("its testbeds: {e}")))
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
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
        self.db.transaction(&mut |to| save_meta(to, key, value))
    }

    /// Stores that a verdict is a known fault, or that it is none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_fault(&mut self, verdict: i64, fault: Option<&str>) -> Result<(), StoreError> {
        let query = "insert into notes values(?1, null, ?2) on conflict(verdict) do update set fault = ?2";
        self.execute(query, values![verdict, fault])
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
    fn rows<T>(
        &self,
        query: &str,
        read: impl FnMut(&Row) -> Result<T, db::Misfit>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.db.query(query, &[])?;
        rows.iter().map(read).collect::<Result<Vec<T>, _>>().map_err(|e| self.wrong(&e.to_string()))
    }

    /// The one value of a query.
    fn one<T: db::FromValue>(&self, query: &str) -> Result<T, StoreError> {
        self.rows(query, |r| r.get(0))?.pop().ok_or_else(|| self.wrong("a row is missing"))
    }

    fn execute(&self, query: &str, values: &[Value]) -> Result<(), StoreError> {
        self.db.transaction(&mut |to| to.execute(query, values).map(|_| ()))
    }

    /// Calls of a batch that this process has not seen made. Their order is the same for all who write.
    fn fresh<'b>(&self, batch: &'b BatchRecord) -> Vec<&'b (&'static str, bool, u64)> {
        let is_fresh = |c: &&(&'static str, bool, u64)| !self.covered.contains(&(c.0.to_string(), c.1));
        let mut fresh: Vec<_> = batch.calls.iter().filter(is_fresh).collect();
        fresh.sort_unstable();
        fresh.dedup_by_key(|c| (c.0, c.1));
        fresh
    }

    /// Stores a batch, all of it or nothing, when this session has taken so long. Returns the verdicts'
    /// numbers, in order.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&mut self, batch: &BatchRecord, now: Spent) -> Result<Vec<i64>, StoreError> {
        let at = self.before + now;
        let fresh = self.fresh(batch);
        let mut ids = Vec::new();
        self.db.transaction(&mut |to| {
            ids = write(to, batch, &fresh, at.clock, true)?;
            corpus::write(to, &batch.corpus)?;
            write_costs(to, batch, at.cpu)
        })?;
        self.covered.extend(fresh.iter().map(|(name, o, _)| (name.to_string(), *o)));
        Ok(ids)
    }

    /// Stores testbeds that do not work, and why.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_broken(&mut self, broken: &[(String, String)]) -> Result<(), StoreError> {
        self.db.transaction(&mut |to| write_broken(to, broken))
    }

    /// Stores what a reducer made of a verdict.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_reduction(&mut self, verdict: i64, reduction: &Reduction) -> Result<(), StoreError> {
        let Reduction { signature, ir, c, report, .. } = reduction;
        self.execute(
            "update verdicts set signature = ?1, reduced_ir = ?2, reduced_c = ?3, report_md = ?4 where id = ?5",
            values![signature.as_ref(), ir.as_ref(), c.as_ref(), report.as_ref(), verdict],
        )
    }
}

/// A file that may be written, with its lock.
fn open_file(path: &Path, how: Open) -> Result<Sqlite, StoreError> {
    if how != Open::Create && !path.exists() {
        return Err(StoreError::Empty { path: path.to_path_buf() });
    }
    // Not even opened for a note: closing it would drop the locks that SQLite has in this process.
    let lock = if how == Open::Beside { None } else { Some(lock_file(path, how)?) };
    let fail = |e| wrap(path, e);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(fail)?;
    // Others may write a batch just now, on a slow disk.
    let patience = if how == Open::Shared { 60 } else { 10 };
    db.busy_timeout(Duration::from_secs(patience)).map_err(fail)?;
    Ok(Sqlite::new(db, path, lock))
}

fn lock_file(path: &Path, how: Open) -> Result<File, StoreError> {
    let open = |why: std::io::Error| StoreError::Open { path: path.to_path_buf(), why: why.to_string() };
    let create = how == Open::Create;
    let lock =
        File::options().read(true).write(true).create(create).truncate(false).open(path).map_err(open)?;
    let try_lock = || if how == Open::Shared { lock.try_lock_shared() } else { lock.try_lock() };
    // A child of the process that had it holds it too, between fork and exec.
    let patience = Instant::now() + Duration::from_secs(2);
    let mut locked = try_lock();
    while matches!(locked, Err(TryLockError::WouldBlock)) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
        locked = try_lock();
    }
    match locked {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: path.to_path_buf() }),
        // A file system without locks: then without.
        Err(TryLockError::Error(_)) => {}
    }
    Ok(lock)
}

#[cfg(test)]
pub(super) mod tests;
