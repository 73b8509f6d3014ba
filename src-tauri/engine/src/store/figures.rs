//! Figures over several tables: what `status` counts and what `wait` waits for.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;

use crate::model::ids::{AccountId, DestinationId, DispatchKey, MessageKey};
use crate::model::mailbox::DEMO_MAILBOX;
use crate::store::Read;
use crate::store::error::StoreError;

/// How much is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Notifications to be sent, now or later, those in hand too.
    pub pending: i64,
    /// When the oldest of those that could be sent now fell due.
    pub oldest_due_at: Option<i64>,
    /// Notifications given up.
    pub dead: i64,
    /// Notifications of which nobody can say whether they arrived.
    pub uncertain: i64,
    /// Operations that wait.
    pub held: i64,
}

/// Counts what is to be done. Notifications to paused destinations are pending, but not due.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn counts(read: Read<'_>, now_at: i64) -> Result<Counts, StoreError> {
    let mut statement = read.prepare(
        "SELECT (SELECT count(*) FROM notification_outbox WHERE status = 'pending')
                  + (SELECT count(*) FROM notification_outbox WHERE status = 'processing'),
                (SELECT min(n.due_at) FROM notification_outbox n JOIN destinations d ON d.id = n.destination_id
                  WHERE n.status = 'pending' AND n.due_at <= ?1 AND d.paused IS NULL),
                (SELECT count(*) FROM notification_outbox WHERE status = 'dead'),
                (SELECT count(*) FROM notification_outbox WHERE status = 'uncertain'),
                (SELECT count(*) FROM notification_operations WHERE status = 'held')",
    )?;
    Ok(statement.query_row([now_at], |row| {
        Ok(Counts {
            pending: row.get(0)?,
            oldest_due_at: row.get(1)?,
            dead: row.get(2)?,
            uncertain: row.get(3)?,
            held: row.get(4)?,
        })
    })?)
}

/// What is to be done for one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToDo {
    /// Notifications given up.
    pub dead: i64,
    /// Notifications of which nobody can say whether they arrived.
    pub uncertain: i64,
    /// Notifications to be sent, now or later, those in hand too.
    pub pending: i64,
    /// The first that is to be sent.
    pub next: Option<Next>,
}

/// The notification of a destination that is to be sent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// When.
    pub due_at: i64,
    /// Attempts so far in this round.
    pub attempt: i64,
}

/// What is to be done for each destination that anything is to be done for.
///
/// # Errors
/// [`StoreError`] of a query.
pub fn to_do(read: Read<'_>) -> Result<BTreeMap<DestinationId, ToDo>, StoreError> {
    let mut all: BTreeMap<DestinationId, ToDo> = BTreeMap::new();
    // Each part is answered by the index of that status alone.
    let mut statement = read.prepare(
        "SELECT destination_id, 'pending', count(*) FROM notification_outbox WHERE status = 'pending' GROUP BY 1
         UNION ALL SELECT destination_id, 'pending', count(*) FROM notification_outbox WHERE status = 'processing'
             GROUP BY 1
         UNION ALL SELECT destination_id, 'uncertain', count(*) FROM notification_outbox WHERE status = 'uncertain'
             GROUP BY 1
         UNION ALL SELECT destination_id, 'dead', count(*) FROM notification_outbox WHERE status = 'dead' GROUP BY 1",
    )?;
    let rows = statement
        .query_map([], |row| Ok((DestinationId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, i64>(2)?)))?;
    for row in rows {
        let (id, status, count) = row?;
        let to_do = all.entry(id).or_default();
        match status.as_str() {
            "pending" => to_do.pending += count,
            "uncertain" => to_do.uncertain += count,
            _ => to_do.dead += count,
        }
    }
    let mut first = read.prepare(
        "SELECT due_at, attempt FROM notification_outbox WHERE status = 'pending' AND destination_id = ?1
         ORDER BY due_at LIMIT 1",
    )?;
    for (id, to_do) in &mut all {
        let next = first.query_row([id.as_str()], |row| Ok(Next { due_at: row.get(0)?, attempt: row.get(1)? }));
        to_do.next = next.optional()?;
    }
    Ok(all)
}

/// Notifications that did not arrive, those of our own messages not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dead {
    /// How many.
    pub count: i64,
    /// Since when the oldest stands so.
    pub oldest_at: Option<i64>,
}

/// Dead letters, without those of mails of the scope `own` and of the demo.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn dead(read: Read<'_>, own: &str) -> Result<Dead, StoreError> {
    let mut statement = read.prepare(
        "SELECT count(*), min(n.completed_at) FROM notification_outbox n
         JOIN notification_operations o USING (operation_key) JOIN processed_messages m USING (message_key)
         WHERE n.status = 'dead' AND m.mailbox_id NOT IN (?1, ?2)",
    )?;
    Ok(statement.query_row([own, DEMO_MAILBOX], |row| Ok(Dead { count: row.get(0)?, oldest_at: row.get(1)? }))?)
}

/// When the oldest notification fell due that could be sent now, without those of mails of the scope `own` and to
/// paused destinations.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn oldest_due_at(read: Read<'_>, own: &str, now_at: i64) -> Result<Option<i64>, StoreError> {
    // For each destination the first by its index: a long queue costs no more than a short one.
    let mut statement = read.prepare(
        "SELECT min((SELECT n.due_at FROM notification_outbox n
                     JOIN notification_operations o USING (operation_key) JOIN processed_messages m USING (message_key)
                     WHERE n.status = 'pending' AND n.destination_id = d.id AND n.due_at <= ?2 AND m.mailbox_id <> ?1
                     ORDER BY n.due_at LIMIT 1))
         FROM destinations d WHERE d.paused IS NULL AND d.removed_at IS NULL",
    )?;
    Ok(statement.query_row((own, now_at), |row| row.get(0))?)
}

/// When telling a mail failed with every destination, ms UTC; `None`: it arrived, may yet, or is not wanted any more.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn reached_nobody_at(read: Read<'_>, message: &MessageKey) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(
        "SELECT CASE WHEN count(*) = sum(n.status IN ('uncertain', 'dead', 'cancelled'))
                          AND sum(n.status IN ('uncertain', 'dead')) > 0
                     THEN max(coalesce(n.uncertain_at, n.completed_at)) END
         FROM notification_operations o JOIN notification_outbox n USING (operation_key) WHERE o.message_key = ?1",
    )?;
    Ok(statement.query_row([message.as_str()], |row| row.get(0))?)
}

/// When the newest mail was stored, ms UTC.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn newest_at(read: Read<'_>) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare("SELECT processed_at FROM processed_messages ORDER BY id DESC LIMIT 1")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?)
}

/// Whether anything is in hand, due by `due_by_at` to a destination that is not paused, to be asked about or begun again
/// by then, or held until `held_by_at` or less.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn is_busy(read: Read<'_>, due_by_at: i64, held_by_at: i64) -> Result<bool, StoreError> {
    let mut statement = read.prepare(
        "SELECT EXISTS (SELECT 1 FROM notification_outbox WHERE status = 'processing')
             OR EXISTS (SELECT 1 FROM notification_outbox n JOIN destinations d ON d.id = n.destination_id
                 WHERE n.status = 'pending' AND n.due_at <= ?1 AND d.paused IS NULL)
             OR EXISTS (SELECT 1 FROM notification_outbox WHERE status = 'uncertain' AND due_at <= ?1)
             OR EXISTS (SELECT 1 FROM ladders WHERE due_at <= ?1)
             OR EXISTS (SELECT 1 FROM notification_operations WHERE status = 'held' AND held_until <= ?2)",
    )?;
    Ok(statement.query_row([due_by_at, held_by_at], |row| row.get(0))?)
}

/// How many there are of what, for a report.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn census(read: Read<'_>) -> Result<Vec<(String, i64)>, StoreError> {
    let mut statement = read.prepare(
        "SELECT 'mails', count(*) FROM processed_messages
         UNION ALL SELECT 'deliveries', count(*) FROM deliveries
         UNION ALL SELECT 'attempts', count(*) FROM attempts
         UNION ALL SELECT 'rules', count(*) FROM rules WHERE removed_at IS NULL
         UNION ALL SELECT 'routes', count(*) FROM routes WHERE removed_at IS NULL
         UNION ALL SELECT 'webhooks', count(*) FROM sources WHERE removed_at IS NULL
         UNION ALL SELECT 'open alarms: ' || code, count(*) FROM alarms WHERE cleared_at IS NULL GROUP BY code
         UNION ALL SELECT 'operations ' || status, count(*) FROM notification_operations GROUP BY status
         UNION ALL SELECT 'notifications ' || status, count(*) FROM notification_outbox GROUP BY status",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What a removal would cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cancelled {
    /// Notifications that wait for a sender or for the owner.
    pub waiting: i64,
    /// Mails that wait for a time or for the mail itself.
    pub held: i64,
}

/// What the removal of a mailbox would cancel.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn cancelled_with(read: Read<'_>, account_id: &AccountId) -> Result<Cancelled, StoreError> {
    let waiting = i64::try_from(unfinished_of(read, account_id)?.len()).unwrap_or(i64::MAX);
    let mut statement = read.prepare(
        "SELECT count(*) FROM notification_operations o JOIN processed_messages m USING (message_key)
         WHERE o.status = 'held' AND m.account_id = ?1",
    )?;
    Ok(Cancelled { waiting, held: statement.query_row([account_id.as_str()], |row| row.get(0))? })
}

/// When there last was life in a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastSeen {
    /// When its last mail was stored.
    pub mail_at: Option<i64>,
    /// When all of its folders had been checked.
    pub check_at: Option<i64>,
}

/// When the last mail of an account came, and when all of its folders had been checked last.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn last_seen(read: Read<'_>, account_id: &AccountId) -> Result<LastSeen, StoreError> {
    let mut mail = read.prepare(
        "SELECT processed_at FROM processed_messages INDEXED BY processed_messages_account
         WHERE account_id = ?1 AND first_verdict <> 'baseline' ORDER BY id DESC LIMIT 1",
    )?;
    let mail_at = mail.query_row([account_id.as_str()], |row| row.get(0)).optional()?;
    let mut check = read.prepare(
        "SELECT CASE WHEN count(*) = count(last_check_at) THEN min(last_check_at) END FROM folders
         WHERE account_id = ?1",
    )?;
    let check_at = check.query_row([account_id.as_str()], |row| row.get(0))?;
    Ok(LastSeen { mail_at, check_at })
}

/// Keys of notifications of an account's mails that a sender or the owner could still act on, those in hand not.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn unfinished_of(read: Read<'_>, account_id: &AccountId) -> Result<Vec<DispatchKey>, StoreError> {
    let mut statement = read.prepare(
        "SELECT n.dispatch_key FROM (
             SELECT dispatch_key, operation_key FROM notification_outbox INDEXED BY notification_outbox_due
             WHERE status = 'pending'
             UNION ALL SELECT dispatch_key, operation_key FROM notification_outbox
             INDEXED BY notification_outbox_uncertain WHERE status = 'uncertain'
             UNION ALL SELECT dispatch_key, operation_key FROM notification_outbox INDEXED BY notification_outbox_dead
             WHERE status = 'dead') n
         CROSS JOIN notification_operations o USING (operation_key) CROSS JOIN processed_messages m USING (message_key)
         WHERE m.account_id = ?1",
    )?;
    let rows = statement.query_map([account_id.as_str()], |row| row.get(0).map(DispatchKey))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Keys of mails that begin with this text, at most two: enough to see whether it is unique.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn messages_by_prefix(read: Read<'_>, prefix: &str) -> Result<Vec<MessageKey>, StoreError> {
    let mut statement = read.prepare(
        "SELECT message_key FROM processed_messages WHERE message_key >= ?1 AND message_key < ?1 || 'g' LIMIT 2",
    )?;
    let rows = statement.query_map([prefix], |row| row.get(0).map(MessageKey))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
