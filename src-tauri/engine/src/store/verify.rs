//! `verify`: every invariant that the data can show (architecture, section 7).

use crate::store::Read;
use crate::store::error::StoreError;

/// One broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which, in one word.
    pub invariant: &'static str,
    /// The rows that break it, at most ten.
    pub examples: Vec<String>,
    /// How many there are.
    pub count: i64,
}

/// What SQLite says of the file; `ok` is well.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn quick_check(read: Read<'_>) -> Result<String, StoreError> {
    Ok(read.prepare("PRAGMA quick_check(1)")?.query_row([], |row| row.get(0))?)
}

/// Name of an invariant and the query for what breaks it; its first column names the row.
const INVARIANTS: &[(&str, &str)] = &[
    (
        "one accepted attempt for one dispatch key",
        "SELECT a.dispatch_key FROM attempts a JOIN notification_outbox n USING (dispatch_key)
         WHERE a.outcome = 'accepted' AND n.may_be_repeat = 0 AND n.reason IS NOT 'sent again by the owner'
         GROUP BY a.dispatch_key HAVING count(*) > 1",
    ),
    (
        "one notification for one operation and recipient",
        "SELECT operation_key || ' ' || recipient FROM notification_outbox
         GROUP BY operation_key, recipient HAVING count(*) > 1",
    ),
    (
        "an accepted attempt belongs to a completed notification",
        "SELECT n.dispatch_key FROM notification_outbox n JOIN attempts a USING (dispatch_key)
         WHERE a.outcome = 'accepted' AND n.status NOT IN ('completed', 'processing') AND n.round = 1
           AND n.may_be_repeat = 0",
    ),
    (
        "every mail has an operation",
        "SELECT message_key FROM processed_messages m
         WHERE NOT EXISTS (SELECT 1 FROM notification_operations o WHERE o.message_key = m.message_key)",
    ),
    (
        "every mail to be told has a notification or a reason",
        "SELECT operation_key FROM notification_operations o
         WHERE decision = 'notify' AND reason NOT LIKE 'no destination%' AND reason NOT LIKE 'in digest %'
           AND NOT EXISTS (SELECT 1 FROM notification_outbox n WHERE n.operation_key = o.operation_key)",
    ),
    (
        "a mail told in a digest names one that exists and was told, or had nobody to tell",
        "SELECT o.operation_key FROM notification_operations o WHERE o.reason LIKE 'in digest %' AND (
             o.status <> 'completed' OR NOT EXISTS (SELECT 1 FROM processed_messages m
                 JOIN notification_operations d USING (message_key)
                 WHERE m.message_key = substr(o.reason, 11) AND m.mailbox_id = 'ringonce'
                   AND m.message_id LIKE 'digest.%' AND d.decision = 'notify'))",
    ),
    (
        "a notification given up for a digest names one to the same destination",
        "SELECT n.dispatch_key FROM notification_outbox n WHERE n.reason LIKE 'in digest %' AND (
             n.status <> 'cancelled' OR NOT EXISTS (SELECT 1 FROM notification_operations d
                 JOIN notification_outbox t USING (operation_key)
                 WHERE d.message_key = substr(n.reason, 11) AND t.destination_id = n.destination_id))",
    ),
    (
        "what waits for others is an arrival that would ring",
        "SELECT o.operation_key FROM notification_operations o JOIN processed_messages m USING (message_key)
         WHERE o.status = 'held' AND (o.decision <> 'hold' OR m.first_verdict NOT IN ('new', 'collision'))",
    ),
    (
        "every silence has a reason",
        "SELECT operation_key FROM notification_operations WHERE decision = 'silent' AND reason = ''",
    ),
    (
        "an operation is open exactly while a notification is",
        "SELECT o.operation_key FROM notification_operations o WHERE o.status <> 'held'
         AND (o.status = 'processing') <> EXISTS (SELECT 1 FROM notification_outbox n
             WHERE n.operation_key = o.operation_key AND n.status IN ('pending', 'processing', 'uncertain'))",
    ),
    (
        "every identifier of a mail is recorded",
        "SELECT m.message_key FROM processed_messages m WHERE m.message_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM message_identities i
             WHERE i.mailbox_id = m.mailbox_id AND i.kind = 'message_id' AND i.value = m.message_id)",
    ),
    (
        "every mail was delivered",
        "SELECT message_key FROM processed_messages m
         WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_key = m.message_key)",
    ),
    (
        "the count of sightings is the sum of the deliveries",
        "SELECT m.message_key FROM processed_messages m JOIN deliveries d USING (message_key)
         GROUP BY m.message_key HAVING sum(d.times_seen) <> m.sightings",
    ),
    (
        "a leased notification has one open attempt by its token",
        "SELECT dispatch_key FROM notification_outbox n WHERE status = 'processing'
         AND (SELECT count(*) FROM attempts a WHERE a.dispatch_key = n.dispatch_key
              AND a.outcome IS NULL AND a.lease_token = n.lease_token) <> 1",
    ),
    (
        "an open attempt belongs to a leased notification",
        "SELECT a.dispatch_key FROM attempts a JOIN notification_outbox n USING (dispatch_key)
         WHERE a.outcome IS NULL AND (n.status <> 'processing' OR n.lease_token <> a.lease_token)",
    ),
    ("bytes left only under a lease", "SELECT dispatch_key FROM attempts WHERE payload_started_at < started_at"),
    (
        "no lease is longer than the longest",
        "SELECT n.dispatch_key FROM notification_outbox n JOIN attempts a USING (dispatch_key)
         WHERE n.status = 'processing' AND a.lease_token = n.lease_token AND n.lease_until - a.started_at > 3600000",
    ),
    (
        "a cursor lies at or above its floor",
        "SELECT account_id || ' ' || folder FROM folders WHERE next_uid < floor_uid",
    ),
];

/// Checks them all, and the file itself.
///
/// # Errors
/// [`StoreError`] where the check could not be made.
pub fn verify(read: Read<'_>) -> Result<Vec<Broken>, StoreError> {
    let mut broken = Vec::new();
    for (invariant, sql) in INVARIANTS {
        let mut statement = read.prepare(sql)?;
        let rows: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        push(&mut broken, invariant, rows);
    }
    for (invariant, sql) in [
        ("the file is sound", "PRAGMA integrity_check"),
        ("every reference leads somewhere", "PRAGMA foreign_key_check"),
    ] {
        let mut statement = read.prepare(sql)?;
        let rows: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        push(&mut broken, invariant, rows.into_iter().filter(|row| row != "ok").collect());
    }
    Ok(broken)
}

/// How many checks [`verify`] makes.
#[must_use]
pub fn checks() -> usize {
    INVARIANTS.len() + 2
}

fn push(broken: &mut Vec<Broken>, invariant: &'static str, mut rows: Vec<String>) {
    if rows.is_empty() {
        return;
    }
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    rows.truncate(10);
    broken.push(Broken { invariant, examples: rows, count });
}
