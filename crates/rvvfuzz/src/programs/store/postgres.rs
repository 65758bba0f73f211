//! A PostgreSQL server behind the interface of [`super::db`].
//!
//! Transactions that a lost connection or another's transaction undid are done again, for a while.

use super::db::{Database, Dialect, Row, Statements, Value, Work, migrate};
use super::tls::{self, Tls};
use super::{Address, StoreError, schema};
use postgres::error::SqlState;
use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use postgres::{Client, Config, GenericClient, NoTls, Statement};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may be away before a worker gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A database of a server.
pub(super) struct Postgres {
    config: Config,
    tls: Tls,
    path: PathBuf,
    session: Mutex<Option<Session>>,
}

/// A connection, and the statements that the server knows on it.
struct Session {
    client: Client,
    known: HashMap<String, Statement>,
}

/// What to do about an error.
enum Trouble {
    /// The connection is gone.
    Lost(String),
    /// Another transaction was in the way.
    Again(String),
    /// Nothing helps.
    Fatal(StoreError),
}

impl Postgres {
    /// Connects to a database.
    pub fn connect(address: &Address) -> Result<Postgres, StoreError> {
        let path = PathBuf::from(address.to_string());
        let open = |why: String| StoreError::Open { path: path.clone(), why };
        let (rest, tls) = Tls::read(address.secret()).map_err(open)?;
        let mut config: Config = rest.parse().map_err(|e: postgres::Error| open(e.to_string()))?;
        if config.get_password().is_none()
            && let Some(password) = password(&config).map_err(open)?
        {
            config.password(password);
        }
        config.application_name("rvvfuzz").connect_timeout(Duration::from_secs(10));
        let database = Postgres { config, tls, path, session: Mutex::new(None) };
        match database.open() {
            Ok(session) => *database.session() = Some(session),
            Err(Trouble::Lost(why) | Trouble::Again(why)) => {
                return Err(StoreError::Lost { path: database.path, why });
            }
            Err(Trouble::Fatal(error)) => return Err(error),
        }
        Ok(database)
    }

    fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<Session, Trouble> {
        let ways = self.tls.ways(&self.config);
        for (n, way) in ways.iter().enumerate() {
            let mut config = self.config.clone();
            config.ssl_mode(way.mode);
            let connected = match way.connector() {
                Some(connector) => config.connect(connector),
                None => config.connect(NoTls),
            };
            let error = match connected {
                Ok(client) => return Ok(Session { client, known: HashMap::new() }),
                Err(error) => error,
            };
            let refused = tls::refusal(&error, self.tls.mode);
            let forbidden = error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION);
            if n + 1 < ways.len() && (refused.is_some() || forbidden) {
                continue;
            }
            return Err(match refused {
                Some(why) => Trouble::Fatal(StoreError::Open { path: self.path.clone(), why }),
                None => trouble(&self.path, &error),
            });
        }
        Err(Trouble::Lost("there is no way to connect".to_string()))
    }

    /// Does something on a connection, again if that may help.
    fn persist<T>(
        &self,
        mut attempt: impl FnMut(&mut Session) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let mut session = self.session();
        let begin = Instant::now();
        let mut pause = Duration::from_millis(20);
        loop {
            let done = match session.take() {
                Some(open) => Ok(open),
                None => self.open(),
            };
            let done = done.and_then(|mut open| {
                let done = attempt(&mut open);
                if !matches!(done, Err(Trouble::Lost(_))) && !open.client.is_closed() {
                    *session = Some(open);
                }
                done
            });
            match done {
                Ok(value) => return Ok(value),
                Err(Trouble::Fatal(error)) => return Err(error),
                Err(Trouble::Lost(why) | Trouble::Again(why)) if begin.elapsed() > PATIENCE => {
                    return Err(StoreError::Lost { path: self.path.clone(), why });
                }
                // A server that starts again needs a while, and has many workers.
                Err(Trouble::Lost(_)) => {
                    std::thread::sleep(pause);
                    pause = (2 * pause).min(Duration::from_secs(1));
                }
                Err(Trouble::Again(_)) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn count(&self, sql: &str) -> Result<i64, StoreError> {
        let rows = self.query(sql, &[])?;
        Ok(rows.first().and_then(|r| r.get(0).ok()).unwrap_or(0))
    }
}

/// The password of a database: PGPASSWORD, or from `~/.pgpass` or the file that PGPASSFILE names. As libpq
/// has it, a file that others may read is none.
fn password(config: &Config) -> Result<Option<String>, String> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let path = match std::env::var_os("PGPASSFILE") {
        Some(path) => PathBuf::from(path),
        None => match std::env::var_os("HOME") {
            Some(home) => Path::new(&home).join(".pgpass"),
            None => return Ok(None),
        },
    };
    let Ok(about) = std::fs::metadata(&path) else { return Ok(None) };
    if about.permissions().mode() & 0o077 != 0 {
        return Err(format!("others may read the passwords in {}; chmod 600", path.display()));
    }
    let host = match config.get_hosts().first() {
        Some(postgres::config::Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let name = config.get_dbname().unwrap_or(user);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(in_text(&text, &[&host, &port, name, user]))
}

/// The password in lines of host:port:database:user:password, where `*` is any and `\` quotes.
fn in_text(text: &str, wanted: &[&str; 4]) -> Option<String> {
    text.lines().filter(|l| !l.starts_with('#')).find_map(|line| {
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                ':' if fields.len() < 5 => fields.push(String::new()),
                _ => fields.last_mut()?.push(if letter == '\\' { letters.next()? } else { letter }),
            }
        }
        let fits = fields.len() == 5 && fields.iter().zip(wanted).all(|(f, w)| f == "*" || f == w);
        if fits { fields.pop() } else { None }
    })
}

fn trouble(path: &Path, error: &postgres::Error) -> Trouble {
    let path = path.to_path_buf();
    let said = error.as_db_error().map(|e| e.message().to_string());
    let source = std::error::Error::source(error).map(ToString::to_string);
    let why = said.or(source).unwrap_or_else(|| error.to_string());
    match error.code() {
        None if error.is_closed() || is_io(error) => Trouble::Lost(why),
        Some(
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::CONNECTION_FAILURE
            | &SqlState::TOO_MANY_CONNECTIONS,
        ) => Trouble::Lost(why),
        Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => Trouble::Again(why),
        Some(&SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY) => {
            Trouble::Fatal(StoreError::Full { path, why })
        }
        Some(
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INVALID_CATALOG_NAME
            | &SqlState::INSUFFICIENT_PRIVILEGE,
        ) => Trouble::Fatal(StoreError::Open { path, why }),
        None => Trouble::Fatal(StoreError::Open { path, why }),
        Some(_) => Trouble::Fatal(StoreError::Sqlite { path, why }),
    }
}

fn is_io(error: &postgres::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<std::io::Error>() {
            return true;
        }
        source = error.source();
    }
    false
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(n) if *ty == Type::FLOAT8 => (*n as f64).to_sql(ty, out),
            Value::Int(n) if *ty == Type::INT4 => i32::try_from(*n)?.to_sql(ty, out),
            Value::Int(n) => n.to_sql(ty, out),
            Value::Real(x) => x.to_sql(ty, out),
            // The one character that a text of PostgreSQL cannot have.
            Value::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(ty, out),
            Value::Text(text) => text.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row(row: &postgres::Row) -> Row {
    let value = |(n, column): (usize, &postgres::Column)| match *column.type_() {
        Type::INT8 => row.try_get(n).map(|v: Option<i64>| v.into()),
        Type::INT4 => row.try_get(n).map(|v: Option<i32>| v.map(i64::from).into()),
        Type::FLOAT8 => row.try_get(n).map(|v: Option<f64>| v.into()),
        _ => row.try_get(n).map(|v: Option<String>| v.into()),
    };
    Row(row.columns().iter().enumerate().map(|c| value(c).unwrap_or(Value::Null)).collect())
}

/// Statements on a connection or in a transaction of it. What kept one from being done is kept.
struct On<'a, C: GenericClient> {
    client: &'a mut C,
    known: &'a mut HashMap<String, Statement>,
    path: &'a Path,
    trouble: Option<Trouble>,
}

impl<C: GenericClient> On<'_, C> {
    fn statement(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.known.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&sql.replace('?', "$"))?;
        if self.known.len() < 500 {
            self.known.insert(sql.to_string(), statement.clone());
        }
        Ok(statement)
    }

    /// The error, whose real reason is kept.
    fn failed(&mut self, error: &postgres::Error) -> StoreError {
        self.trouble = Some(trouble(self.path, error));
        StoreError::Lost { path: self.path.to_path_buf(), why: error.to_string() }
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|v| v as &(dyn ToSql + Sync)).collect()
}

impl<C: GenericClient> Statements for On<'_, C> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let done = self.statement(sql).and_then(|s| self.client.execute(&s, &parameters(values)));
        done.map_err(|e| self.failed(&e))
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let rows = self.statement(sql).and_then(|s| self.client.query(&s, &parameters(values)));
        rows.map(|rows| rows.iter().map(row).collect()).map_err(|e| self.failed(&e))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).map_err(|e| self.failed(&e))
    }
}

/// Held while tables are made: two may want to at once.
const MAKE_TABLES: &str = "select pg_advisory_xact_lock(1920366182)::text";

const TABLES: &str = "select count(*) from pg_catalog.pg_tables where schemaname = current_schema() and tablename in \
                      ('meta', 'batches', 'programs', 'verdicts')";

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect {
            now: "extract(epoch from clock_timestamp())::double precision",
            skip_locked: " for update skip locked",
            for_update: " for update",
            table_size: "pg_total_relation_size('TABLE')",
            size: "select pg_database_size(current_database())",
        }
    }

    fn has_tables(&self) -> Result<bool, StoreError> {
        Ok(self.count(TABLES)? > 0)
    }

    fn is_ours(&self) -> Result<(), StoreError> {
        match self.count(TABLES)? {
            4 => Ok(()),
            _ => Err(StoreError::Foreign { path: self.path.clone() }),
        }
    }

    fn check(&self, _: i64) -> Result<(), StoreError> {
        Ok(())
    }

    fn for_writing(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn create(&self, to: &mut dyn Statements) -> Result<bool, StoreError> {
        to.query(MAKE_TABLES, &[])?;
        if to.query(TABLES, &[])?.first().and_then(|r| r.get::<i64>(0).ok()) != Some(0) {
            return Ok(false);
        }
        schema::FORMATS.iter().try_for_each(|sql| to.script(&schema::postgres(sql)))?;
        Ok(true)
    }

    fn migrate(&self, to: &mut dyn Statements) -> Result<(), StoreError> {
        to.query(MAKE_TABLES, &[])?;
        migrate(to, schema::postgres)
    }

    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.persist(|Session { client, known }| {
            let mut on = On { client, known, path: &self.path, trouble: None };
            let rows = Statements::query(&mut on, sql, values);
            rows.map_err(|error| on.trouble.unwrap_or(Trouble::Fatal(error)))
        })
    }

    fn transaction(&self, work: Work<'_>) -> Result<(), StoreError> {
        self.persist(|Session { client, known }| {
            let fail = |e: postgres::Error| trouble(&self.path, &e);
            let mut transaction = client.transaction().map_err(fail)?;
            let mut on = On { client: &mut transaction, known, path: &self.path, trouble: None };
            if let Err(error) = work(&mut on) {
                return Err(on.trouble.unwrap_or(Trouble::Fatal(error)));
            }
            transaction.commit().map_err(fail)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_as_libpq_finds_them() {
        let text = "# x\n*:*:other:*:no\nhost:5432:rvv:me:a\\:b\\\\c\n*:*:*:*:rest:of\n";
        assert_eq!(in_text(text, &["host", "5432", "rvv", "me"]).as_deref(), Some("a:b\\c"));
        assert_eq!(in_text(text, &["x", "1", "y", "z"]).as_deref(), Some("rest:of"));
        assert_eq!(in_text("a:b\n\\", &["a", "b", "c", "d"]), None);
    }
}
