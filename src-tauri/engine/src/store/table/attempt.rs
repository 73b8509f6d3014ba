//! `attempts`: every try, written before the call and settled after it, never overwritten.

use crate::model::ids::{DispatchKey, LeaseToken};
use crate::model::notification::ChannelError;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// 1, 2, … over all rounds.
    pub attempt: i64,
    /// When it was claimed.
    pub started_at: i64,
    /// When it was recorded that bytes would leave.
    pub payload_started_at: Option<i64>,
    /// When its outcome was recorded.
    pub finished_at: Option<i64>,
    /// `accepted`, `deferred`, `rejected`, `unknown`, `abandoned`, or not yet known.
    pub outcome: Option<String>,
    /// Kind of error.
    pub code: Option<String>,
    /// Error in words, or the channel's id of the message.
    pub detail: Option<String>,
}

/// Begins an attempt of a claimed notification.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, key: &DispatchKey, token: &LeaseToken, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO attempts (dispatch_key, attempt, lease_token, started_at)
         VALUES (?1, (SELECT count(*) + 1 FROM attempts WHERE dispatch_key = ?1), ?2, ?3)",
    )?
    .execute((key.as_str(), token.as_str(), now_at))?;
    Ok(())
}

/// Records that bytes will leave now. `false`: the lease is lost or over.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_payload_started(
    tx: Tx<'_>,
    key: &DispatchKey,
    token: &LeaseToken,
    now_at: i64,
) -> Result<bool, StoreError> {
    let changed = tx
        .prepare(
            "UPDATE attempts SET payload_started_at = ?3
             WHERE dispatch_key = ?1 AND lease_token = ?2 AND outcome IS NULL AND payload_started_at IS NULL
               AND EXISTS (SELECT 1 FROM notification_outbox WHERE dispatch_key = ?1 AND lease_token = ?2
                               AND status = 'processing' AND lease_until > ?3)",
        )?
        .execute((key.as_str(), token.as_str(), now_at))?;
    Ok(changed > 0)
}

/// Records what came of an attempt. `false`: it was settled before.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn settle(
    tx: Tx<'_>,
    key: &DispatchKey,
    token: &LeaseToken,
    outcome: &str,
    error: Option<&ChannelError>,
    now_at: i64,
) -> Result<bool, StoreError> {
    let changed = tx
        .prepare(
            "UPDATE attempts SET finished_at = ?3, outcome = ?4, code = ?5, detail = ?6
             WHERE dispatch_key = ?1 AND lease_token = ?2 AND outcome IS NULL",
        )?
        .execute((
            key.as_str(),
            token.as_str(),
            now_at,
            outcome,
            error.map(|error| error.code.as_str()),
            error.map(|error| &error.detail),
        ))?;
    Ok(changed > 0)
}

/// The attempts of a notification, first first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, key: &DispatchKey) -> Result<Vec<AttemptRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT attempt, started_at, payload_started_at, finished_at, outcome, code, detail
         FROM attempts WHERE dispatch_key = ?1 ORDER BY id",
    )?;
    let rows = statement.query_map([key.as_str()], |row| {
        Ok(AttemptRow {
            attempt: row.get(0)?,
            started_at: row.get(1)?,
            payload_started_at: row.get(2)?,
            finished_at: row.get(3)?,
            outcome: row.get(4)?,
            code: row.get(5)?,
            detail: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether bytes of any attempt may have left without a known end: then a repeat may be a copy.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn any_unknown(read: Read<'_>, key: &DispatchKey) -> Result<bool, StoreError> {
    let mut statement = read.prepare("SELECT 1 FROM attempts WHERE dispatch_key = ?1 AND outcome = 'unknown'")?;
    Ok(statement.exists([key.as_str()])?)
}

/// When bytes of the newest attempt that may have left did so, as far as recorded.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn last_sent_at(read: Read<'_>, key: &DispatchKey) -> Result<Option<i64>, StoreError> {
    let mut statement =
        read.prepare("SELECT max(coalesce(payload_started_at, started_at)) FROM attempts WHERE dispatch_key = ?1")?;
    Ok(statement.query_row([key.as_str()], |row| row.get(0))?)
}
