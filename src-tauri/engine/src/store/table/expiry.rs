//! What of `notification_outbox` waited longer than its destination wants.

use crate::model::ids::DestinationId;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::outbox::{OutboxRow, WANTED, list_where};

/// Pending notifications of a destination that were decided at `too_old_at` or before, newest first, at most `limit`.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(
    read: Read<'_>,
    destination: &DestinationId,
    too_old_at: i64,
    limit: i64,
) -> Result<Vec<OutboxRow>, StoreError> {
    list_where(
        read,
        &format!("status = 'pending' AND destination_id = ?1 AND NOT {WANTED} ORDER BY id DESC LIMIT ?3"),
        (destination.as_str(), too_old_at, limit),
    )
}

/// When the next pending notification becomes too old for its destination. The join keeps its order: where no
/// destination has a limit, no notification is looked at.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_at(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(
        "SELECT min(n.created_at + d.max_age_seconds * 1000) FROM destinations d
         CROSS JOIN notification_outbox n ON n.destination_id = d.id
         WHERE d.max_age_seconds IS NOT NULL AND d.removed_at IS NULL AND n.status = 'pending'
           AND json_extract(n.payload, '$.mailbox_id') <> 'ringonce'",
    )?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Pending notifications of a destination whose operation was decided for this reason, newest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_pending_because(
    read: Read<'_>,
    destination: &DestinationId,
    reason: &str,
) -> Result<Vec<OutboxRow>, StoreError> {
    list_where(
        read,
        "status = 'pending' AND destination_id = ?1 AND EXISTS (SELECT 1 FROM notification_operations o
             WHERE o.operation_key = notification_outbox.operation_key AND o.reason = ?2) ORDER BY id DESC",
        (destination.as_str(), reason),
    )
}
