//! What can go wrong with the database.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

use crate::model::error::{Fault, FaultCode};

/// Why something was not stored or not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct StoreError {
    /// The kind a caller chooses by.
    pub kind: StoreErrorKind,
    /// For the log and for people.
    pub detail: String,
}

/// Kinds of database error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// No room on the disk.
    Full,
    /// The disk or its permissions refuse.
    Io,
    /// The file is not a sound database.
    Corrupt,
    /// Another program writes.
    Busy,
    /// Made by a newer program.
    Newer,
    /// A statement or value that should not have come.
    Internal,
    /// The job itself refused, for a reason people understand.
    Refused,
}

impl StoreError {
    /// An error of a kind.
    pub fn new(kind: StoreErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// An error of the file system at a path.
    pub(in crate::store) fn io(path: &Path, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreErrorKind::Full,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, format!("{}: {error}", path.display()))
    }

    /// The program is stopping, or the writer is gone.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(StoreErrorKind::Internal, "The database is closed")
    }

    /// In words for people.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (code, consequence, next_step) = match self.kind {
            StoreErrorKind::Full => (FaultCode::Storage, "Nothing was stored", "free some room on the disk"),
            StoreErrorKind::Io => {
                (FaultCode::Storage, "The data folder cannot be used", "check the disk and the folder's permissions")
            }
            StoreErrorKind::Corrupt => (
                FaultCode::Storage,
                "The database cannot be read",
                "start `ringonce run`, which restores the newest copy",
            ),
            StoreErrorKind::Busy => (FaultCode::Busy, "Nothing was changed", "try again in a moment"),
            StoreErrorKind::Newer => (FaultCode::Newer, "The data folder is left alone", "install the newer Ringonce"),
            StoreErrorKind::Internal => (FaultCode::Internal, "Nothing was changed", "please report this"),
            StoreErrorKind::Refused => (FaultCode::Invalid, "Nothing was changed", "check what was given"),
        };
        Fault::new(code, consequence, self.detail.clone(), next_step)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // The file beside the database that readers and the writer share could not be made as long as it has to be.
        let no_room = error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE);
        let kind = match error.sqlite_error_code() {
            _ if no_room => StoreErrorKind::Full,
            Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
            Some(
                ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied,
            ) => StoreErrorKind::Io,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreErrorKind::Corrupt,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Busy,
            _ => StoreErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(StoreErrorKind::Internal, format!("A stored value cannot be read ({error})"))
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        error.fault()
    }
}
