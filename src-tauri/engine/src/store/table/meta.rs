//! `meta`: facts of this data folder.

use rusqlite::OptionalExtension;

use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// A fact.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, key: &str) -> Result<Option<String>, StoreError> {
    Ok(read.prepare("SELECT value FROM meta WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()?)
}

/// Forgets a fact.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn remove(tx: Tx<'_>, key: &str) -> Result<(), StoreError> {
    tx.prepare("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
    Ok(())
}

/// Sets a fact.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn set(tx: Tx<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    tx.prepare("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
        .execute([key, value])?;
    Ok(())
}
