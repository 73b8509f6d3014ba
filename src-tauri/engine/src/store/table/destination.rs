//! `destinations`.

use rusqlite::{OptionalExtension, Row};

use crate::model::destination::{Destination, PauseReason, Policy, Privacy};
use crate::model::ids::{DestinationId, DispatchKey, Recipient};
use crate::model::notification::ChannelError;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

const COLUMNS: &str = "id, name, kind, fields, recipient, policy, privacy, max_age_seconds, fallback_only, paused";

/// Every destination that was not removed, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<Vec<Destination>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM destinations WHERE removed_at IS NULL ORDER BY created_at, rowid");
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map([], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One destination, removed ones not.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, id: &DestinationId) -> Result<Option<Destination>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM destinations WHERE id = ?1 AND removed_at IS NULL");
    Ok(read.prepare(&sql)?.query_row([id.as_str()], from_row).optional()?)
}

/// The destination that reaches this recipient, removed ones not.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn by_recipient(read: Read<'_>, recipient: &Recipient) -> Result<Option<Destination>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM destinations WHERE recipient = ?1 AND removed_at IS NULL");
    Ok(read.prepare(&sql)?.query_row([recipient.as_str()], from_row).optional()?)
}

/// The name of a destination, removed ones too.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn name(read: Read<'_>, id: &DestinationId) -> Result<Option<String>, StoreError> {
    let mut statement = read.prepare("SELECT name FROM destinations WHERE id = ?1")?;
    Ok(statement.query_row([id.as_str()], |row| row.get(0)).optional()?)
}

/// The destinations of a name, removed ones too, or the one of an id.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn ids_of(read: Read<'_>, name: &str) -> Result<Vec<DestinationId>, StoreError> {
    let mut statement = read.prepare("SELECT id FROM destinations WHERE name = ?1 OR id = ?1")?;
    let rows = statement.query_map([name], |row| row.get(0).map(DestinationId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Stores a new destination, or all fields of a known one.
///
/// # Errors
/// [`StoreError`] of the statement; a second one for one recipient fails.
pub fn put(tx: Tx<'_>, destination: &Destination, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO destinations (id, name, kind, fields, recipient, policy, privacy, max_age_seconds,
             fallback_only, paused, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, fields = excluded.fields,
             recipient = excluded.recipient, policy = excluded.policy, privacy = excluded.privacy,
             max_age_seconds = excluded.max_age_seconds, fallback_only = excluded.fallback_only,
             paused = excluded.paused",
    )?
    .execute((
        destination.id.as_str(),
        &destination.name,
        &destination.kind,
        serde_json::to_string(&destination.fields)?,
        destination.recipient.as_str(),
        destination.policy.as_str(),
        destination.privacy.as_str(),
        destination.max_age_seconds,
        destination.fallback_only,
        destination.paused.map(PauseReason::as_str),
        now_at,
    ))?;
    Ok(())
}

/// Pauses or resumes a destination.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_paused(tx: Tx<'_>, id: &DestinationId, paused: Option<PauseReason>) -> Result<(), StoreError> {
    tx.prepare("UPDATE destinations SET paused = ?2 WHERE id = ?1")?
        .execute((id.as_str(), paused.map(PauseReason::as_str)))?;
    Ok(())
}

/// Marks a destination as removed. `false`: there is none.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_removed(tx: Tx<'_>, id: &DestinationId, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE destinations SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?
        .execute((id.as_str(), now_at))?;
    Ok(changed > 0)
}

/// Takes a removed destination back.
///
/// # Errors
/// [`StoreError`] of the statement; a second one for one recipient fails.
pub fn mark_kept(tx: Tx<'_>, id: &DestinationId) -> Result<(), StoreError> {
    tx.prepare("UPDATE destinations SET removed_at = NULL WHERE id = ?1")?.execute([id.as_str()])?;
    Ok(())
}

/// Notes what it accepted last, which clears the error.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_delivered(tx: Tx<'_>, id: &DestinationId, key: &DispatchKey, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "UPDATE destinations SET last_delivery_at = ?2, last_dispatch_key = ?3, last_error = NULL WHERE id = ?1",
    )?
    .execute((id.as_str(), now_at, key.as_str()))?;
    Ok(())
}

/// Notes what went wrong last.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_error(tx: Tx<'_>, id: &DestinationId, error: &ChannelError) -> Result<(), StoreError> {
    tx.prepare("UPDATE destinations SET last_error = ?2 WHERE id = ?1")?
        .execute((id.as_str(), serde_json::to_string(error)?))?;
    Ok(())
}

/// Forgets what went wrong last.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn clear_error(tx: Tx<'_>, id: &DestinationId) -> Result<(), StoreError> {
    tx.prepare("UPDATE destinations SET last_error = NULL WHERE id = ?1")?.execute([id.as_str()])?;
    Ok(())
}

/// What it accepted last, and when, ms UTC.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn last_accepted(read: Read<'_>, id: &DestinationId) -> Result<Option<(DispatchKey, i64)>, StoreError> {
    let mut statement = read.prepare(
        "SELECT last_dispatch_key, last_delivery_at FROM destinations
         WHERE id = ?1 AND last_dispatch_key IS NOT NULL AND last_delivery_at IS NOT NULL",
    )?;
    Ok(statement.query_row([id.as_str()], |row| Ok((DispatchKey(row.get(0)?), row.get(1)?))).optional()?)
}

/// When it last took something, and what went wrong since.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn outcome(read: Read<'_>, id: &DestinationId) -> Result<(Option<i64>, Option<ChannelError>), StoreError> {
    let mut statement = read.prepare("SELECT last_delivery_at, last_error FROM destinations WHERE id = ?1")?;
    let row: Option<(Option<i64>, Option<String>)> =
        statement.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (delivered_at, error) = row.unwrap_or_default();
    Ok((delivered_at, error.and_then(|text| serde_json::from_str(&text).ok())))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Destination> {
    Ok(Destination {
        id: DestinationId(row.get(0)?),
        name: row.get(1)?,
        kind: row.get(2)?,
        fields: serde_json::from_str(&row.get::<_, String>(3)?).unwrap_or_default(),
        recipient: Recipient(row.get(4)?),
        policy: Policy::parse(&row.get::<_, String>(5)?).unwrap_or(Policy::NeverTwice),
        privacy: Privacy::parse(&row.get::<_, String>(6)?).unwrap_or(Privacy::None),
        max_age_seconds: row.get(7)?,
        fallback_only: row.get(8)?,
        paused: row.get::<_, Option<String>>(9)?.as_deref().and_then(PauseReason::parse),
    })
}
