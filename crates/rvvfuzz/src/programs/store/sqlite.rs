//! SQLite behind the interface of [`super::db`].

use super::db::{Database, Dialect, Row, Statements, Value, Work, migrate};
use super::error::wrap;
use super::{StoreError, schema};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, TransactionBehavior, params_from_iter};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What marks a file as ours: `application_id` of the database.
const APPLICATION: i32 = 0x7276_7666;

/// A file, or one in memory.
pub(super) struct Sqlite {
    db: Mutex<Connection>,
    path: PathBuf,
    // After the database: closing a second handle of the file would drop SQLite's own locks.
    lock: Option<File>,
}

impl Sqlite {
    pub fn new(db: Connection, path: &Path, lock: Option<File>) -> Sqlite {
        Sqlite { db: Mutex::new(db), path: path.to_path_buf(), lock }
    }

    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // One file, which can be read where nothing may be written. If somebody reads it just now, it
            // stays as it is.
            let _ = self.connection().pragma_update(None, "journal_mode", "delete");
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(n) => ValueRef::Integer(*n),
            Value::Real(x) => ValueRef::Real(*x),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn value(value: ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(match value {
        ValueRef::Integer(n) => Value::Int(n),
        ValueRef::Real(x) => Value::Real(x),
        ValueRef::Text(_) => Value::Text(value.as_str()?.to_string()),
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
    })
}

fn rows(db: &Connection, sql: &str, values: &[Value]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = db.prepare(sql)?;
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|c| value(row.get_ref(c)?)).collect();
    statement.query_map(params_from_iter(values), row)?.map(|row| row.map(Row)).collect()
}

struct Open<'a>(&'a Connection, &'a Path);

impl Statements for Open<'_> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let done = self.0.prepare(sql).and_then(|mut s| s.execute(params_from_iter(values)));
        done.map(|n| n as u64).map_err(|e| wrap(self.1, e))
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        rows(self.0, sql, values).map_err(|e| wrap(self.1, e))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.0.execute_batch(sql).map_err(|e| wrap(self.1, e))
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        // Whoever writes has the file for himself.
        Dialect {
            now: "unixepoch('subsec')",
            skip_locked: "",
            for_update: "",
            table_size: "0",
            size: "select page_count * page_size from pragma_page_count(), pragma_page_size()",
        }
    }

    fn has_tables(&self) -> Result<bool, StoreError> {
        let tables: i64 = self
            .connection()
            .query_row("select count(*) from sqlite_schema", [], |r| r.get(0))
            .map_err(|e| wrap(&self.path, e))?;
        Ok(tables > 0)
    }

    fn is_ours(&self) -> Result<(), StoreError> {
        let application = self.connection().query_row("pragma application_id", [], |r| r.get::<_, i32>(0));
        match application.map_err(|e| wrap(&self.path, e))? {
            APPLICATION => Ok(()),
            _ => Err(StoreError::Foreign { path: self.path.clone() }),
        }
    }

    /// A file may come from anywhere. Our tables are what we make them, and no views, which could have rows
    /// without end; nothing else happens when they are written; and each page is used once, so that no more
    /// can be read than the file is long.
    fn check(&self, format: i64) -> Result<(), StoreError> {
        let fail = |e| wrap(&self.path, e);
        let model = Connection::open_in_memory()
            .and_then(|db| db.execute_batch(&schema::sqlite(format)).map(|()| db));
        let query = "select type, name, tbl_name, sql from sqlite_schema";
        let read = |db: &Connection| -> rusqlite::Result<Vec<[Option<String>; 4]>> {
            let mut statement = db.prepare(query)?;
            let rows = statement.query_map([], |r| Ok([r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?]))?;
            rows.collect()
        };
        let ours = model.and_then(|db| read(&db)).map_err(fail)?;
        let db = self.connection();
        let found = read(&db).map_err(fail)?;
        let is_table = |row: &&[Option<String>; 4]| row[0].as_deref() == Some("table");
        let named = |row: &[Option<String>; 4]| ours.iter().filter(is_table).any(|o| o[1] == row[2]);
        if ours.iter().any(|o| !found.contains(o)) || found.iter().any(|f| named(f) && !ours.contains(f)) {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        match db.query_row("pragma quick_check(1)", [], |r| r.get::<_, String>(0)).map_err(fail)? {
            said if said == "ok" => Ok(()),
            why => Err(StoreError::Damaged {
                path: self.path.clone(),
                why: why.lines().collect::<Vec<_>>().join(" "),
            }),
        }
    }

    fn for_writing(&self) -> Result<(), StoreError> {
        let fail = |e| wrap(&self.path, e);
        let db = self.connection();
        db.pragma_update(None, "journal_mode", "wal").map_err(fail)?;
        // What is committed is on the disk, not only in the system's memory.
        db.pragma_update(None, "synchronous", "full").map_err(fail)
    }

    fn create(&self, to: &mut dyn Statements) -> Result<bool, StoreError> {
        let rows = to.query("select count(*) from sqlite_schema", &[])?;
        if rows.first().and_then(|r| r.get::<i64>(0).ok()) != Some(0) {
            return Ok(false);
        }
        to.script(&schema::sqlite(schema::FORMAT))?;
        to.script(&format!("pragma application_id = {APPLICATION}"))?;
        Ok(true)
    }

    fn migrate(&self, to: &mut dyn Statements) -> Result<(), StoreError> {
        migrate(to, str::to_string)
    }

    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        rows(&self.connection(), sql, values).map_err(|e| wrap(&self.path, e))
    }

    fn transaction(&self, work: Work<'_>) -> Result<(), StoreError> {
        let mut db = self.connection();
        let fail = |e| wrap(&self.path, e);
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        work(&mut Open(&transaction, &self.path))?;
        transaction.commit().map_err(fail)
    }
}
