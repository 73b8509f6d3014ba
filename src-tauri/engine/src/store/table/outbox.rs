//! `notification_outbox`: the one queue. Rows are claimed with a lease and settled only by who holds it.

use rusqlite::{OptionalExtension, Row};

use crate::model::ids::{DestinationId, DispatchKey, LeaseToken, OperationKey, Recipient};
use crate::model::notification::Status;
use crate::store::error::StoreError;
use crate::store::table::attempt;
use crate::store::{Read, Tx};

/// `due_at` of an uncertain row nobody will ask about any more.
pub const NEVER_AT: i64 = i64::MAX;

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its number, growing: lists page by it.
    pub id: i64,
    /// The idempotency key.
    pub dispatch_key: DispatchKey,
    /// The action it belongs to.
    pub operation_key: OperationKey,
    /// The real target.
    pub recipient: Recipient,
    /// By which destination.
    pub destination_id: DestinationId,
    /// Frozen text, as JSON of [`crate::model::notification::Payload`].
    pub payload: String,
    /// Where it stands.
    pub status: Status,
    /// Why it ended as it did (`used up`, `rejected`, `covered by …`), for dead and cancelled rows.
    pub reason: Option<String>,
    /// When it is to be sent (pending) or asked about (uncertain).
    pub due_at: i64,
    /// The wait that was set before `due_at`.
    pub wait_ms: i64,
    /// Attempts of this round that count.
    pub attempt: i64,
    /// Round, from 1.
    pub round: i64,
    /// Who holds it.
    pub lease_token: Option<LeaseToken>,
    /// When bytes of it may have left first.
    pub first_attempt_at: Option<i64>,
    /// Since when nobody knows.
    pub uncertain_at: Option<i64>,
    /// Lookups that failed.
    pub lookups: i64,
    /// A repeat of one that may have arrived.
    pub may_be_repeat: bool,
    /// The channel's id of it.
    pub external_message_id: Option<String>,
    /// JSON of [`crate::model::notification::ChannelError`].
    pub last_error: Option<String>,
    /// When it was decided.
    pub created_at: i64,
    /// When it ended.
    pub completed_at: Option<i64>,
}

/// A notification to be stored.
#[derive(Debug, Clone)]
pub struct NewRow<'a> {
    /// The idempotency key.
    pub dispatch_key: &'a DispatchKey,
    /// The action it belongs to.
    pub operation_key: &'a OperationKey,
    /// The real target.
    pub recipient: &'a Recipient,
    /// By which destination.
    pub destination_id: &'a DestinationId,
    /// Frozen text.
    pub payload: &'a str,
    /// Now; it is due at once.
    pub now_at: i64,
    /// Born leased to a sender that is free right now: saves the commit of a claim.
    pub lease: Option<(&'a LeaseToken, i64)>,
}

/// How a row changes; the pure state machine makes these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it stands then.
    pub status: Status,
    /// Why.
    pub reason: Option<String>,
    /// When it is due then.
    pub due_at: i64,
    /// The wait before that.
    pub wait_ms: i64,
    /// Attempts of this round that count.
    pub attempt: i64,
    /// Round.
    pub round: i64,
    /// Since when nobody knows.
    pub uncertain_at: Option<i64>,
    /// Lookups that failed.
    pub lookups: i64,
    /// A repeat of one that may have arrived.
    pub may_be_repeat: bool,
    /// The channel's id of it.
    pub external_message_id: Option<String>,
    /// JSON of the error.
    pub last_error: Option<String>,
}

const COLUMNS: &str =
    "id, dispatch_key, operation_key, recipient, destination_id, payload, status, reason, due_at, wait_ms,
     attempt, round, lease_token, first_attempt_at, uncertain_at, lookups, may_be_repeat, external_message_id,
     last_error, created_at, completed_at";

/// Stores a notification. `false`: there is one for this recipient already.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, new: &NewRow<'_>) -> Result<bool, StoreError> {
    let status = if new.lease.is_some() { Status::Processing } else { Status::Pending };
    let inserted = tx
        .prepare(
            "INSERT INTO notification_outbox (dispatch_key, operation_key, recipient, destination_id, payload, status,
                 due_at, lease_token, lease_until, first_attempt_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?7)
             ON CONFLICT (dispatch_key) DO NOTHING",
        )?
        .execute(rusqlite::params![
            new.dispatch_key.as_str(),
            new.operation_key.as_str(),
            new.recipient.as_str(),
            new.destination_id.as_str(),
            new.payload,
            status.as_str(),
            new.now_at,
            new.lease.map(|(token, _)| token.as_str()),
            new.lease.map(|(_, until)| until),
            new.lease.map(|_| new.now_at),
        ])?;
    if let (1, Some((token, _))) = (inserted, new.lease) {
        attempt::insert(tx, new.dispatch_key, token, new.now_at)?;
    }
    Ok(inserted > 0)
}

/// Decided after `?2`. Messages of Ringonce itself never age: a digest of the aged would need a digest.
pub(super) const WANTED: &str = "(?2 IS NULL OR created_at > ?2 OR json_extract(payload, '$.mailbox_id') = 'ringonce')";

/// Claims as many due notifications of a destination as there are tokens, newest first, and begins an attempt of each.
/// Those decided at `too_old_at` or before are left to the sweep.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn claim(
    tx: Tx<'_>,
    destination: &DestinationId,
    tokens: &[LeaseToken],
    lease_until: i64,
    too_old_at: Option<i64>,
    now_at: i64,
) -> Result<Vec<OutboxRow>, StoreError> {
    let mut select = tx.prepare(&format!(
        "SELECT dispatch_key FROM notification_outbox INDEXED BY notification_outbox_due
         WHERE destination_id = ?1 AND status = 'pending' AND due_at <= ?3 AND {WANTED}
         ORDER BY due_at DESC, id DESC LIMIT ?4"
    ))?;
    let limit = i64::try_from(tokens.len()).unwrap_or(i64::MAX);
    let keys: Vec<DispatchKey> = select
        .query_map((destination.as_str(), too_old_at, now_at, limit), |row| row.get(0).map(DispatchKey))?
        .collect::<Result<_, _>>()?;
    let sql = format!(
        "UPDATE notification_outbox SET status = 'processing', lease_token = ?2, lease_until = ?3,
             first_attempt_at = coalesce(first_attempt_at, ?4)
         WHERE dispatch_key = ?1 AND status = 'pending' RETURNING {COLUMNS}"
    );
    let mut update = tx.prepare(&sql)?;
    let mut claimed = Vec::with_capacity(keys.len());
    for (key, token) in keys.iter().zip(tokens) {
        let row = update.query_row((key.as_str(), token.as_str(), lease_until, now_at), from_row).optional()?;
        if let Some(row) = row {
            attempt::insert(tx, key, token, now_at)?;
            claimed.push(row);
        }
    }
    Ok(claimed)
}

/// Changes a row. With a token: only while that holds the lease. `false`: the row is no longer ours.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn apply(
    tx: Tx<'_>,
    key: &DispatchKey,
    token: Option<&LeaseToken>,
    change: &Change,
    now_at: i64,
) -> Result<bool, StoreError> {
    let ended = matches!(change.status, Status::Completed | Status::Dead | Status::Cancelled);
    let changed = tx
        .prepare(
            "UPDATE notification_outbox SET status = ?3, reason = ?4, due_at = ?5, wait_ms = ?6, attempt = ?7,
                 round = ?8, uncertain_at = ?9, lookups = ?10, may_be_repeat = ?11, external_message_id = ?12,
                 last_error = ?13, completed_at = ?14, lease_token = NULL, lease_until = NULL
             WHERE dispatch_key = ?1 AND lease_token IS ?2",
        )?
        .execute(rusqlite::params![
            key.as_str(),
            token.map(LeaseToken::as_str),
            change.status.as_str(),
            change.reason,
            change.due_at,
            change.wait_ms,
            change.attempt,
            change.round,
            change.uncertain_at,
            change.lookups,
            change.may_be_repeat,
            change.external_message_id,
            change.last_error,
            ended.then_some(now_at),
        ])?;
    Ok(changed > 0)
}

/// One notification.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, key: &DispatchKey) -> Result<Option<OutboxRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM notification_outbox WHERE dispatch_key = ?1");
    Ok(read.prepare(&sql)?.query_row([key.as_str()], from_row).optional()?)
}

/// Notifications whose key begins with this text, at most two: enough to see whether it is unique.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn by_prefix(read: Read<'_>, prefix: &str) -> Result<Vec<OutboxRow>, StoreError> {
    list_where(read, "dispatch_key >= ?1 AND dispatch_key < ?1 || 'g' LIMIT 2", [prefix])
}

/// The notifications of an operation, first decided first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, operation: &OperationKey) -> Result<Vec<OutboxRow>, StoreError> {
    list_where(read, "operation_key = ?1 ORDER BY id", [operation.as_str()])
}

/// Uncertain notifications of a destination that are to be asked about, at most `limit`.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_to_reconcile(
    read: Read<'_>,
    destination: &DestinationId,
    now_at: i64,
    limit: i64,
) -> Result<Vec<OutboxRow>, StoreError> {
    list_where(
        read,
        "status = 'uncertain' AND destination_id = ?1 AND due_at <= ?2 ORDER BY due_at LIMIT ?3",
        (destination.as_str(), now_at, limit),
    )
}

/// Dead and uncertain notifications, newest first; `before` is an exclusive id, `limit` 0 = all.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_attention(read: Read<'_>, before: Option<i64>, limit: i64) -> Result<Vec<OutboxRow>, StoreError> {
    let limit = if limit <= 0 { -1 } else { limit };
    let before = before.unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {COLUMNS} FROM notification_outbox INDEXED BY notification_outbox_dead
         WHERE status = 'dead' AND id < ?1
         UNION ALL SELECT {COLUMNS} FROM notification_outbox INDEXED BY notification_outbox_unknown
         WHERE status = 'uncertain' AND id < ?1
         ORDER BY id DESC LIMIT ?2"
    );
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map((before, limit), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Every open or dead notification of a destination.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_unfinished_of(read: Read<'_>, destination: &DestinationId) -> Result<Vec<OutboxRow>, StoreError> {
    let mut rows = Vec::new();
    for (status, index) in [("pending", "due"), ("uncertain", "uncertain"), ("dead", "dead")] {
        let (by, of) = (format!("INDEXED BY notification_outbox_{index}"), destination.as_str());
        rows.extend(list_by(read, &by, &format!("status = '{status}' AND destination_id = ?1"), [of])?);
    }
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

/// Pending notifications whose `due_at` lies further ahead than the wait that was set: the clock was put back.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn clamp_due(tx: Tx<'_>, now_at: i64) -> Result<usize, StoreError> {
    Ok(tx
        .prepare(
            "UPDATE notification_outbox SET due_at = ?1 + wait_ms WHERE status = 'pending' AND due_at > ?1 + wait_ms",
        )?
        .execute([now_at])?)
}

/// When the next pending notification of a destination is due, of those decided after `too_old_at`.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_due_at(
    read: Read<'_>,
    destination: &DestinationId,
    too_old_at: Option<i64>,
) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(&format!(
        "SELECT min(due_at) FROM notification_outbox WHERE destination_id = ?1 AND status = 'pending' AND {WANTED}"
    ))?;
    Ok(statement.query_row((destination.as_str(), too_old_at), |row| row.get(0))?)
}

/// When the next uncertain notification of a destination is to be asked about.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_reconcile_at(read: Read<'_>, destination: &DestinationId) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(
        "SELECT min(due_at) FROM notification_outbox
         WHERE status = 'uncertain' AND destination_id = ?1 AND due_at < ?2",
    )?;
    Ok(statement.query_row((destination.as_str(), NEVER_AT), |row| row.get(0))?)
}

pub(super) fn list_where(
    read: Read<'_>,
    condition: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<OutboxRow>, StoreError> {
    list_by(read, "", condition, params)
}

pub(super) fn list_by(
    read: Read<'_>,
    by: &str,
    condition: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<OutboxRow>, StoreError> {
    let mut statement = read.prepare(&format!("SELECT {COLUMNS} FROM notification_outbox {by} WHERE {condition}"))?;
    let rows = statement.query_map(params, from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<OutboxRow> {
    let status = row.get_ref(6)?.as_str()?;
    Ok(OutboxRow {
        id: row.get(0)?,
        dispatch_key: DispatchKey(row.get(1)?),
        operation_key: OperationKey(row.get(2)?),
        recipient: Recipient(row.get(3)?),
        destination_id: DestinationId(row.get(4)?),
        payload: row.get(5)?,
        status: Status::parse(status).ok_or(rusqlite::Error::InvalidQuery)?,
        reason: row.get(7)?,
        due_at: row.get(8)?,
        wait_ms: row.get(9)?,
        attempt: row.get(10)?,
        round: row.get(11)?,
        lease_token: row.get::<_, Option<String>>(12)?.map(LeaseToken),
        first_attempt_at: row.get(13)?,
        uncertain_at: row.get(14)?,
        lookups: row.get(15)?,
        may_be_repeat: row.get(16)?,
        external_message_id: row.get(17)?,
        last_error: row.get(18)?,
        created_at: row.get(19)?,
        completed_at: row.get(20)?,
    })
}
