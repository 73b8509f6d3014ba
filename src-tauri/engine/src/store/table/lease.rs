//! Leases in `notification_outbox`: whose are over, and when the next ends.

use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::outbox::{OutboxRow, list_by};

/// Notifications held by a sender whose lease is over, or that is not of this run.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_to_rescue(read: Read<'_>, run: &str, now_at: i64) -> Result<Vec<OutboxRow>, StoreError> {
    // Asked after each settle: without the index SQLite walks along all that was ever sent, for the order.
    list_by(
        read,
        "INDEXED BY notification_outbox_leased",
        "status = 'processing' AND (lease_until <= ?1 OR substr(lease_token, 1, length(?2)) <> ?2) ORDER BY id",
        (now_at, format!("{run}.")),
    )
}

/// When the next lease ends.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn next_lease_end_at(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare("SELECT min(lease_until) FROM notification_outbox WHERE status = 'processing'")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
