//! The readers: connections that can only look, one per query in hand, kept for the next.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::{Read, open};

/// Idle connections that are kept; more are closed after use, to stay small.
const KEPT_MAX: usize = 2;

/// A pool of reading connections.
pub struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(in crate::store) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::new(Vec::new()) }
    }

    /// The data folder.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.path.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Runs a query on this thread, which it blocks. The query sees one state of the database throughout.
    ///
    /// # Errors
    /// [`StoreError`] of the query.
    pub fn read_here<T>(&self, query: impl FnOnce(&Read<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let kept = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let connection = match kept {
            Some(connection) => connection,
            None => open::for_reading(&self.path)?,
        };
        connection.prepare_cached("BEGIN")?.execute([])?;
        let result = query(&Read(&connection));
        connection.prepare_cached("COMMIT")?.execute([])?;
        if let Ok(mut idle) = self.idle.lock()
            && idle.len() < KEPT_MAX
        {
            idle.push(connection);
        }
        result
    }

    /// Runs a query on a thread for blocking work.
    ///
    /// # Errors
    /// [`StoreError`] of the query.
    pub async fn read<T, F>(readers: Arc<Self>, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Read<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        tokio::task::spawn_blocking(move || readers.read_here(|read| query(*read)))
            .await
            .map_err(|error| StoreError::new(StoreErrorKind::Internal, format!("A query did not end ({error})")))?
    }
}
