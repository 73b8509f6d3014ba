//! `settings`: what the owner set.

use std::collections::BTreeMap;

use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// Everything the owner set, by key.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<BTreeMap<String, String>, StoreError> {
    let mut statement = read.prepare("SELECT key, value FROM settings")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Sets one. The value was checked by [`crate::model::settings::check`].
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn set(tx: Tx<'_>, key: &str, value: &str, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO settings (key, value, set_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, set_at = excluded.set_at",
    )?
    .execute((key, value, now_at))?;
    Ok(())
}
