//! Until when all watching is paused: a fact of the data folder, so that it lasts over a restart.

use crate::model::ids::AccountId;
use crate::store::error::StoreError;
use crate::store::table::meta;
use crate::store::{Read, Tx};

const KEY: &str = "paused_until";

/// Until when it is paused, whether or not that is over.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    Ok(meta::get(read, KEY)?.and_then(|text| text.parse().ok()))
}

/// Sets until when; `None`: not at all.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn set(tx: Tx<'_>, until_at: Option<i64>) -> Result<(), StoreError> {
    match until_at {
        Some(at) => meta::set(tx, KEY, &at.to_string()),
        None => meta::remove(tx, KEY),
    }
}

/// What waits in a mailbox for this reason waits until then.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn hold_until(tx: Tx<'_>, account_id: &AccountId, reason: &str, until_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "UPDATE notification_operations INDEXED BY notification_operations_held SET held_until = ?3
         WHERE status = 'held' AND reason = ?2 AND EXISTS
             (SELECT 1 FROM processed_messages m
              WHERE m.message_key = notification_operations.message_key AND m.account_id = ?1)",
    )?
    .execute((account_id.as_str(), reason, until_at))?;
    Ok(())
}
