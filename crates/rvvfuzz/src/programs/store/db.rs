//! The one interface behind which databases are: statements, rows and transactions.
//!
//! Statements are written once, for all of them: parameters are `?1`, `?2`…, columns are 64-bit integers,
//! doubles and texts.

use super::StoreError;
use super::schema::{FORMAT, FORMATS};

/// A value of a column or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
}

/// A row of an answer.
#[derive(Clone, Debug)]
pub struct Row(pub(super) Vec<Value>);

/// A column does not have what it should.
#[derive(Debug, thiserror::Error)]
#[error("column {0} of a row is not what it should be")]
pub struct Misfit(usize);

/// What a column is read as.
pub(super) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

impl Row {
    /// The value of a column, by number.
    pub(super) fn get<T: FromValue>(&self, column: usize) -> Result<T, Misfit> {
        self.0.get(column).and_then(T::from_value).ok_or(Misfit(column))
    }
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).and_then(|n| n.try_into().ok())
    }
}

impl FromValue for usize {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).and_then(|n| n.try_into().ok())
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).map(|n| n != 0)
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Real(x) => Some(*x),
            Value::Int(n) => Some(*n as f64),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Int(n)
    }
}

impl From<u64> for Value {
    /// Programs are never that many: a number that does not fit is one that no row has.
    fn from(n: u64) -> Value {
        Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(n: usize) -> Value {
        Value::from(n as u64)
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Value {
        Value::Int(is.into())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Real(x)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::Text(text.clone())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// The parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::programs::store::db::Value::from($value)),*] };
}
pub(super) use values;

/// What takes statements: a database, or a transaction of one.
pub(super) trait Statements {
    /// Executes a statement; how many rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError>;
    /// The rows of a query, or of a statement that returns some.
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError>;
    /// Executes statements without parameters.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
}

/// What happens in a transaction.
pub(super) type Work<'a> = &'a mut dyn FnMut(&mut dyn Statements) -> Result<(), StoreError>;

/// How statements are spelled where databases differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Seconds since 1970, by the one clock that all who use the database share.
    pub now: &'static str,
    /// Ends a query for rows that this transaction will change. It skips what others are changing.
    pub skip_locked: &'static str,
    /// The same, but waits for the others.
    pub for_update: &'static str,
    /// The bytes of the table TABLE with its indexes; 0 where that is not known.
    pub table_size: &'static str,
    /// A query for the bytes of everything.
    pub size: &'static str,
}

/// A database.
pub(super) trait Database: Send {
    fn dialect(&self) -> Dialect;
    /// Whether there is anything in it.
    fn has_tables(&self) -> Result<bool, StoreError>;
    /// Whether what is in it was made by this program, as far as that can be told at once.
    fn is_ours(&self) -> Result<(), StoreError>;
    /// Whether the tables are those of the format, and sound.
    fn check(&self, format: i64) -> Result<(), StoreError>;
    /// Prepares it for being written.
    fn for_writing(&self) -> Result<(), StoreError>;
    /// Makes the tables of the newest format, in a transaction; false if there are some already.
    fn create(&self, to: &mut dyn Statements) -> Result<bool, StoreError>;
    /// Adds what formats have that are newer than the store's, in a transaction.
    fn migrate(&self, to: &mut dyn Statements) -> Result<(), StoreError>;
    /// The rows of a query.
    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError>;
    /// Does all of the work or nothing. It may be done again from its beginning, if it was undone.
    fn transaction(&self, work: Work<'_>) -> Result<(), StoreError>;
}

/// Inserts rows, many with one statement. `end` follows them.
pub(super) fn insert_many(
    to: &mut dyn Statements,
    table: &str,
    rows: &[Vec<Value>],
    end: &str,
) -> Result<(), StoreError> {
    for rows in rows.chunks(100) {
        let mut number = 0;
        let row = |row: &Vec<Value>| {
            let places: Vec<String> = row
                .iter()
                .map(|_| {
                    number += 1;
                    format!("?{number}")
                })
                .collect();
            format!("({})", places.join(", "))
        };
        let places: Vec<String> = rows.iter().map(row).collect();
        let sql = format!("insert into {table} values {} {end}", places.join(", "));
        to.execute(&sql, &rows.concat())?;
    }
    Ok(())
}

/// Adds the tables of newer formats, if nobody else has done so before; `spelled` makes them the database's.
pub(super) fn migrate(to: &mut dyn Statements, spelled: fn(&str) -> String) -> Result<(), StoreError> {
    let rows = to.query("select value from meta where key = 'format'", &[])?;
    let format: Option<String> = rows.first().and_then(|r| r.get(0).ok());
    let format = format.and_then(|f| f.parse::<usize>().ok()).unwrap_or(0);
    for sql in FORMATS.iter().skip(format) {
        to.script(&spelled(sql))?;
    }
    to.execute("update meta set value = ?1 where key = 'format'", values![FORMAT.to_string()]).map(|_| ())
}
