//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a store is: a file, or a database of a PostgreSQL server.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A SQLite file.
    File(PathBuf),
    /// An address `postgres://…`, perhaps with a password, which is never shown.
    Server(Address),
}

/// The address of a database.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// With its password, if it has one.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    /// Without its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("postgres", &self.0));
        let (rest, options) = match rest.split_once('?') {
            Some((rest, options)) => (rest, Some(options)),
            None => (rest, None),
        };
        // A password may have a slash, even if it should not.
        let shown = match rest.rsplit_once('@') {
            Some((user, host)) => match user.split_once(':') {
                Some((user, _)) => format!("{user}:***@{host}"),
                None => rest.to_string(),
            },
            None => rest.to_string(),
        };
        write!(f, "{scheme}://{shown}")?;
        let Some(options) = options else { return Ok(()) };
        let options = options.split('&').map(|o| match o.split_once('=') {
            Some((key, _)) if key.to_ascii_lowercase().contains("pass") || o.contains('@') => {
                format!("{key}=***")
            }
            _ => o.to_string(),
        });
        write!(f, "?{}", options.collect::<Vec<_>>().join("&"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Server(address) => address.fmt(f),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Place {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::File(path) => Some(path),
            Place::Server(_) => None,
        }
    }
}

impl FromStr for Place {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Place, Self::Err> {
        let server = text.starts_with("postgres://") || text.starts_with("postgresql://");
        Ok(if server { Place::Server(Address(text.to_string())) } else { Place::File(PathBuf::from(text)) })
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Place {
        Place::File(path.to_path_buf())
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Place {
        Place::File(path.clone())
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Place {
        place.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (given, shown) in [
            ("postgres://me:secret@db/rvv", "postgres://me:***@db/rvv"),
            ("postgresql://me:s/e@c:ret@db:5433/rvv", "postgresql://me:***@db:5433/rvv"),
            (
                "postgres://me@db/rvv?password=secret&sslmode=prefer",
                "postgres://me@db/rvv?password=***&sslmode=prefer",
            ),
            ("postgres://db/rvv?user=me&PASSWORD=secret", "postgres://db/rvv?user=me&PASSWORD=***"),
            ("postgres://", "postgres://"),
            ("campaign.db", "campaign.db"),
        ] {
            let place: Place = given.parse().unwrap_or_else(|e| match e {});
            assert_eq!(place.to_string(), shown);
            assert!(!format!("{place:?}").contains("secret"), "{place:?}");
        }
    }
}
