//! Retention: what is forgotten, and when. Keys outlive history; what is not settled is never forgotten.

use crate::model::ids::MessageKey;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::{identity, message};

const DAY_MS: i64 = 86_400_000;

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Mails whose text was emptied; their keys stay.
    pub emptied: usize,
    /// Mails forgotten with their keys.
    pub forgotten: usize,
}

/// Empties settled history older than `history_days` and forgets keys older than `key_days`, at most `limit` mails of
/// each in one transaction.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn prune(tx: Tx<'_>, history_days: i64, key_days: i64, limit: i64, now_at: i64) -> Result<Pruned, StoreError> {
    let history_at = now_at - history_days * DAY_MS;
    let keys_at = now_at - key_days.max(history_days) * DAY_MS;
    // Settled: no notification of it waits for the sender or for the owner.
    let settled = "NOT EXISTS (SELECT 1 FROM notification_operations o LEFT JOIN notification_outbox n
             ON n.operation_key = o.operation_key AND n.status IN ('pending', 'processing', 'uncertain', 'dead')
             WHERE o.message_key = m.message_key AND (o.status <> 'completed' OR n.id IS NOT NULL))";
    let emptied = tx
        .prepare(&format!(
            "UPDATE processed_messages SET preview = NULL, from_name = NULL, to_addresses = '[]', list_id = NULL
             WHERE id IN (SELECT m.id FROM processed_messages m WHERE m.processed_at < ?1
                 AND (m.preview IS NOT NULL OR m.from_name IS NOT NULL OR m.to_addresses <> '[]') AND {settled}
                 LIMIT ?2)"
        ))?
        .execute([history_at, limit])?;
    // A mail that is still reported (a folder keeps it) keeps its key, however old it is; so does a digest, which its
    // members name.
    let doomed = format!(
        "SELECT m.message_key FROM processed_messages m WHERE m.processed_at < ?1 AND {settled}
             AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_key = m.message_key AND d.last_seen_at >= ?1)
             AND NOT (m.mailbox_id = 'ringonce' AND m.message_id LIKE 'digest.%')
         ORDER BY m.id LIMIT ?2"
    );
    let mut statement = tx.prepare(&doomed)?;
    let keys: Vec<String> = statement.query_map([keys_at, limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for key in &keys {
        forget(tx, key)?;
    }
    Ok(Pruned { emptied, forgotten: keys.len() })
}

fn forget(tx: Tx<'_>, message_key: &str) -> Result<(), StoreError> {
    if let Some(row) = message::get(*tx, &MessageKey::from(message_key))? {
        for (kind, value) in row.identifiers() {
            identity::remove(tx, &row.mailbox_id, kind, &value, &row.message_key)?;
        }
    }
    let operations = "(SELECT operation_key FROM notification_operations WHERE message_key = ?1)";
    let rows = format!("(SELECT dispatch_key FROM notification_outbox WHERE operation_key IN {operations})");
    for sql in [
        format!("DELETE FROM attempts WHERE dispatch_key IN {rows}"),
        format!("DELETE FROM notification_outbox WHERE operation_key IN {operations}"),
        format!("DELETE FROM ladders WHERE operation_key IN {operations}"),
        "DELETE FROM notification_operations WHERE message_key = ?1".to_owned(),
        "DELETE FROM mail_actions WHERE message_key = ?1".to_owned(),
        "DELETE FROM deliveries WHERE message_key = ?1".to_owned(),
        "DELETE FROM processed_messages WHERE message_key = ?1".to_owned(),
    ] {
        tx.prepare(&sql)?.execute([message_key])?;
    }
    Ok(())
}
