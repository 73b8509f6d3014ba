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
    /// The number after which to go on; `None`: what comes next is young, or nothing.
    pub next: Option<i64>,
}

/// How long what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Settled history, in days.
    pub history_days: i64,
    /// Keys, in days.
    pub key_days: i64,
}

/// Empties settled history and forgets keys that are older than they are kept. Looks at the `limit` mails after a
/// number: whoever wants all goes on from there, and meanwhile others may write.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn prune(tx: Tx<'_>, keep: Keep, after: i64, limit: i64, now_at: i64) -> Result<Pruned, StoreError> {
    let history_at = now_at - keep.history_days * DAY_MS;
    let keys_at = now_at - keep.key_days.max(keep.history_days) * DAY_MS;
    let mut looked = tx.prepare(
        "SELECT max(id), min(processed_at) FROM
             (SELECT id, processed_at FROM processed_messages WHERE id > ?1 ORDER BY id LIMIT ?2)",
    )?;
    let (last, oldest_at): (Option<i64>, Option<i64>) =
        looked.query_row([after, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // Numbers grow with time.
    let Some(last) = last.filter(|_| oldest_at.is_some_and(|at| at < history_at)) else { return Ok(Pruned::default()) };
    // Settled: no notification of it waits for the sender or for the owner.
    let settled = "NOT EXISTS (SELECT 1 FROM notification_operations o LEFT JOIN notification_outbox n
             ON n.operation_key = o.operation_key AND n.status IN ('pending', 'processing', 'uncertain', 'dead')
             WHERE o.message_key = m.message_key AND (o.status <> 'completed' OR n.id IS NOT NULL))";
    let emptied = tx
        .prepare(&format!(
            "UPDATE processed_messages SET preview = NULL, from_name = NULL, to_addresses = '[]', list_id = NULL
             WHERE id IN (SELECT m.id FROM processed_messages m WHERE m.id > ?2 AND m.id <= ?3 AND m.processed_at < ?1
                 AND (m.preview IS NOT NULL OR m.from_name IS NOT NULL OR m.to_addresses <> '[]') AND {settled})"
        ))?
        .execute([history_at, after, last])?;
    // A mail that is still reported (a folder keeps it) keeps its key, however old it is; so does a digest, which its
    // members name.
    let doomed = format!(
        "SELECT m.message_key FROM processed_messages m
         WHERE m.id > ?2 AND m.id <= ?3 AND m.processed_at < ?1 AND {settled}
             AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_key = m.message_key AND d.last_seen_at >= ?1)
             AND NOT (m.mailbox_id = 'ringonce' AND m.message_id LIKE 'digest.%')
         ORDER BY m.id"
    );
    let mut statement = tx.prepare(&doomed)?;
    let keys: Vec<String> = statement.query_map([keys_at, after, last], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for key in &keys {
        forget(tx, key)?;
    }
    Ok(Pruned { emptied, forgotten: keys.len(), next: Some(last) })
}

/// Forgets every mail of a scope that has a key by which it would be known again, with whatever was made of it.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn forget_all(tx: Tx<'_>, mailbox_id: &str) -> Result<usize, StoreError> {
    let mut statement = tx.prepare("SELECT DISTINCT message_key FROM message_identities WHERE mailbox_id = ?1")?;
    let keys: Vec<String> = statement.query_map([mailbox_id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for key in &keys {
        forget(tx, key)?;
    }
    Ok(keys.len())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn all_that_is_old_is_emptied_step_by_step_and_what_is_young_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), 1).unwrap();
        let fill = store.write(|tx| {
            for (key, days) in [("a", 1), ("b", 50), ("c", 2), ("d", 3), ("e", 4), ("f", 60), ("g", 61)] {
                let at = days * DAY_MS;
                tx.0.0.execute_batch(&format!(
                    "INSERT INTO processed_messages (message_key, mailbox_id, identity, preview, received_at,
                         processed_at, first_verdict)
                     VALUES ('{key}', 'me@example.org', 'message_id', 'text', {at}, {at}, 'new')"
                ))?;
            }
            Ok(())
        });
        fill.await.unwrap();
        let keep = Keep { history_days: 30, key_days: 400 };
        let (mut after, mut emptied) = (Some(0), Vec::new());
        while let Some(from) = after {
            let step = store.write(move |tx| prune(tx, keep, from, 2, 70 * DAY_MS)).await.unwrap();
            emptied.push(step.emptied);
            after = step.next;
        }
        assert_eq!(emptied, [1, 2, 1, 0], "two are looked at in each step, until two that are young");
        let left = store.read(|read| {
            let mut statement = read.prepare("SELECT message_key FROM processed_messages WHERE preview IS NOT NULL")?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?)
        });
        assert_eq!(left.await.unwrap(), ["b", "f", "g"], "whatever its number, what is young keeps its text");
    }
}
