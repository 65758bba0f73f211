//! Why a store cannot be used.

use super::FORMAT;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened.
    #[error("cannot open the store {}: {why}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system or SQLite said.
        why: String,
    },
    /// There is one already.
    #[error("{} holds a campaign of {programs} programs; --resume goes on with it, --store names another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// How many programs it has.
        programs: u64,
    },
    /// A newer version of this program wrote it.
    #[error(
        "{} was written by a newer rvvfuzz ({version}; format {format}, this one reads up to {FORMAT}); it was left as it is",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: i64,
        /// The program that wrote it.
        version: String,
    },
    /// An older version of this program wrote it, and numbered its programs otherwise.
    #[error(
        "{} was begun by rvvfuzz {version}, whose programs had other numbers: show and report read it, but it cannot be \
         continued; begin another campaign with --store",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The program that wrote it.
        version: String,
    },
    /// There is no campaign in it yet.
    #[error("{} holds no campaign yet", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is something else.
    #[error("{} is not a campaign of rvvfuzz; it was left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its pages contradict each other.
    #[error("{} is damaged: {why}; it was left as it is", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        why: String,
    },
    /// Another process writes to it.
    #[error("another rvvfuzz is at work on {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// It is a server's, and this program was built without what talks to one.
    #[error(
        "{}: this rvvfuzz was built without PostgreSQL; build it with `cargo install --path crates/rvvfuzz --features \
         postgres`",
        path.display()
    )]
    NoServer {
        /// Its address.
        path: PathBuf,
    },
    /// Another version of this program began the campaign: its programs have other numbers.
    #[error(
        "the campaign in {} was begun by rvvfuzz {version}, and this is {}: only workers of that version may join it, or those \
         with --reduce-only",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion {
        /// Where it is.
        path: PathBuf,
        /// The program that began it.
        version: String,
    },
    /// Another campaign.
    #[error(
        "{} and {} are of two campaigns, whose programs have the same numbers: {why}; nothing was changed",
        path.display(),
        other.display()
    )]
    Unlike {
        /// Where one is.
        path: PathBuf,
        /// Where the other is.
        other: PathBuf,
        /// In what they differ.
        why: String,
    },
    /// Workers have taken some of its programs.
    #[error(
        "workers are at work on {}: stop them, or wait until their leases are over, and call it again; what was merged stays",
        path.display()
    )]
    AtWork {
        /// Where it is.
        path: PathBuf,
    },
    /// A server does not answer any more.
    #[error(
        "no connection to {}: {why}; what it holds stays, and the same command goes on when the server is back",
        path.display()
    )]
    Lost {
        /// Its address.
        path: PathBuf,
        /// What was said.
        why: String,
    },
    /// There is no room for it.
    #[error(
        "no room to write {}: {why}; what it holds stays: make room, and the same command goes on, that of `run` with --resume",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        why: String,
    },
    /// The database could not do something else.
    #[error("{}: {why}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        why: String,
    },
}

/// What SQLite said, as an error of this store.
pub(super) fn wrap(path: &Path, error: rusqlite::Error) -> StoreError {
    let (path, why) = (path.to_path_buf(), error.to_string());
    match error.sqlite_error_code() {
        // A write that fails for want of room is either of these, by the file system.
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => StoreError::Full { path, why },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, why },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => StoreError::Open { path, why },
        _ => StoreError::Sqlite { path, why },
    }
}
