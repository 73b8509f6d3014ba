//! `message_identities`: every identifier of every mail. Never re-pointed: who was first has it.

use crate::model::ids::{MailboxId, MessageKey};
use crate::store::Tx;
use crate::store::error::StoreError;

/// Records an identifier; where another mail has it already, that one keeps it.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, mailbox_id: &MailboxId, kind: &str, value: &str, key: &MessageKey) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO message_identities (mailbox_id, kind, value, message_key) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (mailbox_id, kind, value) DO NOTHING",
    )?
    .execute([mailbox_id.as_str(), kind, value, key.as_str()])?;
    Ok(())
}

/// Forgets an identifier of a mail; where another mail has it, it stays.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn remove(tx: Tx<'_>, mailbox_id: &MailboxId, kind: &str, value: &str, key: &MessageKey) -> Result<(), StoreError> {
    tx.prepare(
        "DELETE FROM message_identities WHERE mailbox_id = ?1 AND kind = ?2 AND value = ?3 AND message_key = ?4",
    )?
    .execute([mailbox_id.as_str(), kind, value, key.as_str()])?;
    Ok(())
}
