//! `alarms`: what the owner has to know, each told once while it lasts.

use rusqlite::OptionalExtension;

use crate::model::ids::MessageKey;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmRow {
    /// Its number, growing.
    pub id: i64,
    /// Kind, e.g. `uncertain`.
    pub code: String,
    /// What it is about: a key, a mailbox, a folder; may be empty.
    pub about: String,
    /// In words for people.
    pub text: String,
    /// When it began.
    pub opened_at: i64,
    /// When it was over.
    pub cleared_at: Option<i64>,
}

/// An alarm that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRow {
    /// Its number, growing.
    pub id: i64,
    /// Kind.
    pub code: String,
    /// What it is about.
    pub about: String,
    /// In words for people.
    pub text: String,
    /// When it began.
    pub opened_at: i64,
    /// The self message by which it was told.
    pub message_key: Option<MessageKey>,
}

/// Every alarm that lasts, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_open(read: Read<'_>) -> Result<Vec<OpenRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id, code, about, text, opened_at, message_key FROM alarms WHERE cleared_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(OpenRow {
            id: row.get(0)?,
            code: row.get(1)?,
            about: row.get(2)?,
            text: row.get(3)?,
            opened_at: row.get(4)?,
            message_key: row.get::<_, Option<String>>(5)?.map(MessageKey),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Words an open alarm anew; it is not told again for that.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn set_text(tx: Tx<'_>, code: &str, about: &str, text: &str) -> Result<(), StoreError> {
    tx.prepare("UPDATE alarms SET text = ?3 WHERE code = ?1 AND about = ?2 AND cleared_at IS NULL")?
        .execute([code, about, text])?;
    Ok(())
}

/// Opens an alarm. `false`: it is open already.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn open(tx: Tx<'_>, code: &str, about: &str, text: &str, now_at: i64) -> Result<bool, StoreError> {
    let mut statement = tx.prepare(
        "INSERT INTO alarms (code, about, text, opened_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (code, about) WHERE cleared_at IS NULL DO NOTHING RETURNING id",
    )?;
    let id: Option<i64> = statement.query_row((code, about, text, now_at), |row| row.get(0)).optional()?;
    Ok(id.is_some())
}

/// Notes by which self message an open alarm was told.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_told(tx: Tx<'_>, code: &str, about: &str, message: &MessageKey) -> Result<(), StoreError> {
    tx.prepare("UPDATE alarms SET message_key = ?3 WHERE code = ?1 AND about = ?2 AND cleared_at IS NULL")?
        .execute([code, about, message.as_str()])?;
    Ok(())
}

/// Clears an open alarm. `false`: it is not open.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn clear(tx: Tx<'_>, code: &str, about: &str, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE alarms SET cleared_at = ?3 WHERE code = ?1 AND about = ?2 AND cleared_at IS NULL")?
        .execute((code, about, now_at))?;
    Ok(changed > 0)
}

/// Alarms, newest first; `before` is an exclusive id, `limit` 0 = all.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, before: Option<i64>, limit: i64) -> Result<Vec<AlarmRow>, StoreError> {
    let limit = if limit <= 0 { -1 } else { limit };
    let mut statement = read.prepare(
        "SELECT id, code, about, text, opened_at, cleared_at FROM alarms WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map((before.unwrap_or(i64::MAX), limit), |row| {
        Ok(AlarmRow {
            id: row.get(0)?,
            code: row.get(1)?,
            about: row.get(2)?,
            text: row.get(3)?,
            opened_at: row.get(4)?,
            cleared_at: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
