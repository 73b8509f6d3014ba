//! `ladders`: routes that wait for their next round.

use rusqlite::OptionalExtension;

use crate::model::ids::OperationKey;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One route of one operation that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderRow {
    /// The operation.
    pub operation_key: OperationKey,
    /// Which of its routes.
    pub position: i64,
    /// Rounds that were begun by the ladder so far.
    pub step: i64,
}

/// The step a route has reached; 0 where it never waited.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn step(read: Read<'_>, operation: &OperationKey, position: i64) -> Result<i64, StoreError> {
    let mut statement = read.prepare("SELECT step FROM ladders WHERE operation_key = ?1 AND position = ?2")?;
    let row = statement.query_row((operation.as_str(), position), |row| row.get(0)).optional()?;
    Ok(row.unwrap_or(0))
}

/// Lets a route wait.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn put(tx: Tx<'_>, row: &LadderRow, due_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO ladders (operation_key, position, step, due_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (operation_key, position) DO UPDATE SET step = excluded.step, due_at = excluded.due_at",
    )?
    .execute((row.operation_key.as_str(), row.position, row.step, due_at))?;
    Ok(())
}

/// Ends the waiting of a route.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn remove(tx: Tx<'_>, operation: &OperationKey, position: i64) -> Result<(), StoreError> {
    tx.prepare("DELETE FROM ladders WHERE operation_key = ?1 AND position = ?2")?
        .execute((operation.as_str(), position))?;
    Ok(())
}

/// Routes whose wait is over, at most `limit`.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_due(read: Read<'_>, now_at: i64, limit: i64) -> Result<Vec<LadderRow>, StoreError> {
    let mut statement =
        read.prepare("SELECT operation_key, position, step FROM ladders WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2")?;
    let rows = statement.query_map((now_at, limit), |row| {
        Ok(LadderRow { operation_key: OperationKey(row.get(0)?), position: row.get(1)?, step: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// When the next route's wait is over.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_due_at(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    Ok(read.prepare("SELECT min(due_at) FROM ladders")?.query_row([], |row| row.get(0))?)
}
