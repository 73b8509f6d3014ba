//! `sources`: configured sources beside IMAP.

use rusqlite::Row;

use crate::model::ids::{AccountId, SourceId};
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// A configured source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Its id; in a webhook's URL.
    pub id: SourceId,
    /// `webhook`.
    pub kind: String,
    /// The mailbox it reports for.
    pub account_id: AccountId,
    /// Loopback port it listens on.
    pub port: u16,
}

/// Every source that was not removed, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<Vec<SourceRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id, kind, account_id, port FROM sources WHERE removed_at IS NULL ORDER BY created_at, rowid",
    )?;
    let rows = statement.query_map([], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Stores a new source.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, source: &SourceRow, now_at: i64) -> Result<(), StoreError> {
    tx.prepare("INSERT INTO sources (id, kind, account_id, port, created_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((source.id.as_str(), &source.kind, source.account_id.as_str(), source.port, now_at))?;
    Ok(())
}

/// Marks a source as removed. `false`: there is none.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_removed(tx: Tx<'_>, id: &SourceId, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE sources SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?
        .execute((id.as_str(), now_at))?;
    Ok(changed > 0)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SourceRow> {
    Ok(SourceRow {
        id: SourceId(row.get(0)?),
        kind: row.get(1)?,
        account_id: AccountId(row.get(2)?),
        port: row.get(3)?,
    })
}
