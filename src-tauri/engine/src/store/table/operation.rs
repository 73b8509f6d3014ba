//! `notification_operations`: one action on one mail. The right to act comes from here and nowhere else.

use rusqlite::{OptionalExtension, Row};

use crate::model::ids::{AccountId, DestinationId, MessageKey, OperationKey, RuleId};
use crate::model::notification::OperationStatus;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One action on one mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRow {
    /// Which action on which mail.
    pub operation_key: OperationKey,
    /// The mail.
    pub message_key: MessageKey,
    /// The action and its version, e.g. `notify_owner:v1`.
    pub action: String,
    /// Where it stands.
    pub status: OperationStatus,
    /// `notify`, `silent` or `hold`.
    pub decision: String,
    /// Why, for people.
    pub reason: String,
    /// The rule that decided.
    pub rule_id: Option<RuleId>,
    /// The ways decided on, each a list of destinations of which the first that works is enough.
    pub routes: Vec<Vec<DestinationId>>,
    /// Until when it waits.
    pub held_until: Option<i64>,
    /// When it was registered.
    pub created_at: i64,
    /// When the owner was first told.
    pub rang_at: Option<i64>,
}

const COLUMNS: &str = "operation_key, message_key, action, status, decision, reason, rule_id, routes, held_until,
     created_at, rang_at";

/// Registers an action. `false`: somebody registered it before, and has the right to act.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, row: &OperationRow) -> Result<bool, StoreError> {
    let completed_at = (row.status == OperationStatus::Completed).then_some(row.created_at);
    // The count of rows says what RETURNING would, for which SQLite makes a table of its own in each call.
    let inserted = tx
        .prepare(
            "INSERT INTO notification_operations (operation_key, message_key, action, status, decision, reason,
                 rule_id, routes, held_until, created_at, completed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (operation_key) DO NOTHING",
        )?
        .execute(rusqlite::params![
            row.operation_key.as_str(),
            row.message_key.as_str(),
            row.action,
            row.status.as_str(),
            row.decision,
            row.reason,
            row.rule_id.as_ref().map(RuleId::as_str),
            serde_json::to_string(&row.routes)?,
            row.held_until,
            row.created_at,
            completed_at,
        ])?;
    Ok(inserted > 0)
}

/// Releases a held operation with what was decided now. `false`: it is not held (any more).
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn release(tx: Tx<'_>, row: &OperationRow, now_at: i64) -> Result<bool, StoreError> {
    let completed_at = (row.status == OperationStatus::Completed).then_some(now_at);
    let mut statement = tx.prepare(
        "UPDATE notification_operations SET status = ?2, decision = ?3, reason = ?4, rule_id = ?5, routes = ?6,
             held_until = ?7, completed_at = ?8
         WHERE operation_key = ?1 AND status = 'held' RETURNING 1",
    )?;
    let released = statement
        .query_row(
            rusqlite::params![
                row.operation_key.as_str(),
                row.status.as_str(),
                row.decision,
                row.reason,
                row.rule_id.as_ref().map(RuleId::as_str),
                serde_json::to_string(&row.routes)?,
                row.held_until,
                completed_at,
            ],
            |_| Ok(()),
        )
        .optional()?;
    Ok(released.is_some())
}

/// One operation.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, key: &OperationKey) -> Result<Option<OperationRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM notification_operations WHERE operation_key = ?1");
    Ok(read.prepare(&sql)?.query_row([key.as_str()], from_row).optional()?)
}

/// The operations of a mail, first registered first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, key: &MessageKey) -> Result<Vec<OperationRow>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM notification_operations WHERE message_key = ?1 ORDER BY created_at, action");
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map([key.as_str()], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Held operations whose time is over, oldest first, at most `limit`.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_released_by(read: Read<'_>, now_at: i64, limit: i64) -> Result<Vec<OperationRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM notification_operations WHERE status = 'held' AND held_until <= ?1
         ORDER BY held_until LIMIT ?2"
    );
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map([now_at, limit], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Held operations on an account's mails that wait for each other, for this reason; of the oldest mail first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_gathered(read: Read<'_>, account_id: &AccountId, reason: &str) -> Result<Vec<OperationRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM (SELECT o.*, m.received_at, m.id FROM notification_operations o
             JOIN processed_messages m USING (message_key)
             WHERE o.status = 'held' AND o.reason = ?2 AND m.account_id = ?1)
         ORDER BY received_at, id"
    );
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map([account_id.as_str(), reason], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// When the next held operation is to be released.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_release_at(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare("SELECT min(held_until) FROM notification_operations WHERE status = 'held'")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Ends what is held of a mailbox, untold, for a reason.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn end_held_of(tx: Tx<'_>, account_id: &AccountId, reason: &str, now_at: i64) -> Result<usize, StoreError> {
    Ok(tx
        .prepare(
            "UPDATE notification_operations INDEXED BY notification_operations_held
             SET status = 'completed', decision = 'silent', reason = ?2, held_until = NULL, completed_at = ?3
             WHERE status = 'held' AND EXISTS
                 (SELECT 1 FROM processed_messages m
                  WHERE m.message_key = notification_operations.message_key AND m.account_id = ?1)",
        )?
        .execute((account_id.as_str(), reason, now_at))?)
}

/// Brings an operation's status in line with its notifications: `processing` while one is open, else `completed`.
/// A held one is left alone.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn settle(tx: Tx<'_>, key: &OperationKey, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "UPDATE notification_operations SET
             status = CASE WHEN open THEN 'processing' ELSE 'completed' END,
             completed_at = CASE WHEN open THEN NULL ELSE coalesce(completed_at, ?2) END
         FROM (SELECT EXISTS (SELECT 1 FROM notification_outbox
                   WHERE operation_key = ?1 AND status IN ('pending', 'processing', 'uncertain')) AS open)
         WHERE operation_key = ?1 AND status <> 'held'",
    )?
    .execute((key.as_str(), now_at))?;
    Ok(())
}

/// Notes that the owner was told. `true`: for the first time.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_rang(tx: Tx<'_>, key: &OperationKey, external_id: Option<&str>, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare(
            "UPDATE notification_operations SET rang_at = ?2, external_message_id = ?3, last_error = NULL
             WHERE operation_key = ?1 AND rang_at IS NULL",
        )?
        .execute((key.as_str(), now_at, external_id))?;
    Ok(changed > 0)
}

/// Notes what went wrong last.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_error(tx: Tx<'_>, key: &OperationKey, error: &str) -> Result<(), StoreError> {
    tx.prepare("UPDATE notification_operations SET last_error = ?2 WHERE operation_key = ?1")?
        .execute([key.as_str(), error])?;
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<OperationRow> {
    Ok(OperationRow {
        operation_key: OperationKey(row.get(0)?),
        message_key: MessageKey(row.get(1)?),
        action: row.get(2)?,
        status: match row.get_ref(3)?.as_str()? {
            "held" => OperationStatus::Held,
            "processing" => OperationStatus::Processing,
            _ => OperationStatus::Completed,
        },
        decision: row.get(4)?,
        reason: row.get(5)?,
        rule_id: row.get::<_, Option<String>>(6)?.map(RuleId),
        routes: serde_json::from_str(row.get_ref(7)?.as_str()?).unwrap_or_default(),
        held_until: row.get(8)?,
        created_at: row.get(9)?,
        rang_at: row.get(10)?,
    })
}
