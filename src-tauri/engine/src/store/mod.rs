//! The store: one SQLite file, one writer with group commit, several readers. The only user of rusqlite.
//!
//! It keeps and finds; it decides nothing. Transactions are composed by `intake` and `outbox`, out of the
//! statements in [`table`].

pub mod backup;
pub mod error;
pub mod export;
pub mod figures;
pub mod open;
pub mod readers;
mod restore;
pub mod restored;
pub mod retention;
pub mod search;
pub mod table;
pub mod verify;
pub mod writer;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::readers::Readers;
use crate::store::writer::{Trouble, Writer};

/// Name of the database in the data folder.
pub const FILE_NAME: &str = "ringonce.db";

/// A database one may only look at.
#[derive(Clone, Copy)]
pub struct Read<'c>(pub(in crate::store) &'c Connection);

impl<'c> Read<'c> {
    /// Runs a statement that is prepared once and kept.
    pub(in crate::store) fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'c>, StoreError> {
        Ok(self.0.prepare_cached(sql)?)
    }
}

/// The one transaction in which everything is written.
#[derive(Clone, Copy)]
pub struct Tx<'c>(Read<'c>);

impl<'c> Tx<'c> {
    pub(in crate::store) fn new(connection: &'c Connection) -> Self {
        Self(Read(connection))
    }
}

impl<'c> Deref for Tx<'c> {
    type Target = Read<'c>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The open database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    path: Arc<PathBuf>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

impl Store {
    /// Opens the database of a data folder for reading and writing, making or migrating it as needed.
    /// The caller holds the lock of the folder.
    ///
    /// # Errors
    /// [`StoreError`]: of a newer program, corrupt, no room, no permission.
    pub fn open(data_dir: &Path, now_at: i64) -> Result<Self, StoreError> {
        let path = data_dir.join(FILE_NAME);
        let connection = open::for_writing(&path, now_at)?;
        Self::over(path, connection)
    }

    /// As [`Store::open`], for a program that will run: looks through the whole database first, and restores the newest
    /// copy where it is not sound.
    ///
    /// # Errors
    /// [`StoreError`] as for [`Store::open`], but never `Corrupt` where a copy could be restored or a new one begun.
    pub fn open_or_restore(data_dir: &Path, now_at: i64) -> Result<Self, StoreError> {
        let path = data_dir.join(FILE_NAME);
        let connection = open::for_running(&path, now_at)?;
        Self::over(path, connection)
    }

    fn over(path: PathBuf, connection: Connection) -> Result<Self, StoreError> {
        let readers = Readers::new(path.clone());
        Ok(Self { path: Arc::new(path), writer: Arc::new(Writer::start(connection)?), readers: Arc::new(readers) })
    }

    /// Opens the database of a data folder without the lock, only to look at it. `None`: there is none yet.
    ///
    /// # Errors
    /// [`StoreError`] as for [`Store::open`].
    pub fn look(data_dir: &Path) -> Result<Option<Readers>, StoreError> {
        let path = data_dir.join(FILE_NAME);
        if !path.exists() {
            return Ok(None);
        }
        let readers = Readers::new(path);
        readers.read_here(|read| open::check_version(*read))?;
        Ok(Some(readers))
    }

    /// The readers, for code that only looks.
    #[must_use]
    pub fn readers(&self) -> Arc<Readers> {
        Arc::clone(&self.readers)
    }

    /// What the disk refused last; `None`: it never did.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.writer.trouble()
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a job in the next transaction and returns after its commit. A job that fails is undone alone.
    ///
    /// # Errors
    /// The job's own error, or that of the commit; in both cases nothing of it is stored.
    pub async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.write(job).await
    }

    /// Looks without blocking the caller's thread.
    ///
    /// # Errors
    /// [`StoreError`] of the query.
    pub async fn read<T, F>(&self, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Read<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        Readers::read(Arc::clone(&self.readers), query).await
    }

    /// Looks on a connection of its own that may also write files beside the database, for copies.
    ///
    /// # Errors
    /// [`StoreError`] of the work.
    pub async fn read_for_copy<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Read<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let path = Arc::clone(&self.path);
        tokio::task::spawn_blocking(move || work(Read(&open::for_copying(&path)?))).await.map_err(|error| {
            StoreError::new(error::StoreErrorKind::Internal, format!("A copy did not end ({error})"))
        })?
    }
}
