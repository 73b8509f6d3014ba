//! `mail_actions`: what the owner had done to a mail, and what came of it.

use crate::model::error::Fault;
use crate::model::ids::MessageKey;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// The mail is marked as read at its server.
pub const MARK_READ: &str = "mark_read";

/// One thing done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailActionRow {
    /// What.
    pub action: String,
    /// When it was asked for.
    pub started_at: i64,
    /// When it ended.
    pub finished_at: Option<i64>,
    /// `done` or `failed`.
    pub outcome: Option<String>,
    /// What kind of fault.
    pub code: Option<String>,
    /// The fault for people.
    pub detail: Option<String>,
}

/// Writes down that something is going to be done; gives its number.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, key: &MessageKey, action: &str, now_at: i64) -> Result<i64, StoreError> {
    let sql = "INSERT INTO mail_actions (message_key, action, started_at) VALUES (?1, ?2, ?3) RETURNING id";
    Ok(tx.prepare(sql)?.query_row((key.as_str(), action, now_at), |row| row.get(0))?)
}

/// Writes down what came of it.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn finish(tx: Tx<'_>, id: i64, result: &Result<(), Fault>, now_at: i64) -> Result<(), StoreError> {
    let fault = result.as_ref().err();
    tx.prepare("UPDATE mail_actions SET finished_at = ?2, outcome = ?3, code = ?4, detail = ?5 WHERE id = ?1")?
        .execute((
            id,
            now_at,
            if fault.is_some() { "failed" } else { "done" },
            fault.map(|fault| fault.code.as_str()),
            fault.map(ToString::to_string),
        ))?;
    Ok(())
}

/// What was done to a mail, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, key: &MessageKey) -> Result<Vec<MailActionRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT action, started_at, finished_at, outcome, code, detail FROM mail_actions
         WHERE message_key = ?1 ORDER BY id",
    )?;
    let rows = statement.query_map([key.as_str()], |row| {
        Ok(MailActionRow {
            action: row.get(0)?,
            started_at: row.get(1)?,
            finished_at: row.get(2)?,
            outcome: row.get(3)?,
            code: row.get(4)?,
            detail: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
