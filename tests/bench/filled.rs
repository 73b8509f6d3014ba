//! A data folder as it is after years: its database is filled by plain SQL, since a million mails would take hours
//! through the intake.

use std::path::Path;

use rusqlite::Connection;

/// A mail comes every so many ms: 320 a day, however many days there are.
const EVERY_MS: i64 = 270_000;

/// What the rows are about.
pub(crate) struct Filling<'a> {
    /// Scope of keys and account of two thirds of the mails.
    pub(crate) first: [&'a str; 2],
    /// The same of the other third.
    pub(crate) second: [&'a str; 2],
    /// Id and recipient of who was told.
    pub(crate) told: [&'a str; 2],
    /// Id and recipient of a paused destination, for which the last mails wait.
    pub(crate) paused: [&'a str; 2],
    /// When the last mail came, ms UTC.
    pub(crate) until_at: i64,
}

/// Fills a database that nobody has open. The search index is left behind.
pub(crate) fn fill(database: &Path, mails: usize, filling: &Filling<'_>) {
    let connection = Connection::open(database).expect("the database opens");
    connection
        .execute_batch(
            "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             PRAGMA cache_size = -1000000; PRAGMA temp_store = MEMORY; PRAGMA locking_mode = EXCLUSIVE;",
        )
        .expect("nobody has it open");
    let indexes = set_aside(&connection);
    let [first_scope, first_account] = filling.first;
    let [second_scope, second_account] = filling.second;
    let ([told, told_recipient], [paused, paused_recipient]) = (filling.told, filling.paused);
    let until_at = filling.until_at;
    connection
        .execute_batch(&format!(
            "BEGIN;
             CREATE TEMP TABLE k AS
             WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {mails})
             SELECT i, {until_at} - ({mails} - i) * {EVERY_MS} AS at, iif(i % 3 = 0, '{second_scope}', '{first_scope}') AS scope,
                 iif(i % 3 = 0, '{second_account}', '{first_account}') AS account, {KEY} AS m, {KEY} AS o, {KEY} AS d,
                 {KEY} AS f, substr({KEY}, 1, 32) AS g,
                 i % ({mails} / 100) = 7 AS dead, i % ({mails} / 20) = 11 AS doubt FROM c;
             {MESSAGES} {IDENTITIES} {DELIVERIES} {OPERATIONS} {OUTBOX} {ATTEMPTS} {DAYS}
             DROP TABLE k;",
            OUTBOX = outbox([told, told_recipient], [paused, paused_recipient], mails),
        ))
        .expect("the rows fit the tables");
    for sql in indexes {
        connection.execute_batch(&sql).expect("it was there before");
    }
    connection.execute_batch("COMMIT; PRAGMA journal_mode = WAL;").expect("there is room");
}

/// Indexes and triggers are dropped, and given back as SQL: made at once they cost less than row by row.
fn set_aside(connection: &Connection) -> Vec<String> {
    let list = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL";
    let mut statement = connection.prepare(list).expect("it is SQL");
    let rows = statement
        .query_map([], |row| Ok([row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?]));
    let found: Vec<[String; 3]> = rows.expect("it is a list").map(|row| row.expect("three texts")).collect();
    for [kind, name, _] in &found {
        connection.execute_batch(&format!("DROP {kind} {name}")).expect("it is there");
    }
    found.into_iter().map(|[.., sql]| sql).collect()
}

/// As far apart as hashes are.
const KEY: &str = "lower(hex(randomblob(32)))";

const MESSAGES: &str = "
    INSERT INTO processed_messages (id, message_key, mailbox_id, account_id, identity, provider_ids, fingerprint,
        message_id, from_address, from_name, to_addresses, subject, sent_at, sent_at_ms, body_sha256, preview, folder,
        received_at, processed_at, first_verdict, sightings, last_suppressed_at)
    SELECT i, m, scope, account, 'provider_id', '[\"guid:' || g || '\"]', f,
        printf('%012d.mailer@news.example.com', i), printf('author%d@news%d.example.com', i % 997, i % 31),
        printf('Writer%d Somebody', i % 997), '[\"owner@example.org\"]',
        printf('Your order %d for customer%d has left the warehouse', i, i * 31 % 20011), '2026-01-01T00:00:00Z', at, f,
        printf('Dear customer, your order %d was handed to the carrier today. ', i) || hex(randomblob(60)), 'INBOX', at,
        at + 1000, 'new', iif(i % 5 = 0, 2, 1), iif(i % 5 = 0, at + 2000, NULL) FROM k ORDER BY i;";

const IDENTITIES: &str = "
    INSERT INTO message_identities (mailbox_id, kind, value, message_key)
    SELECT * FROM (SELECT scope, 'fingerprint' AS kind, f AS value, m FROM k
        UNION ALL SELECT scope, 'message_id', printf('%012d.mailer@news.example.com', i), m FROM k
        UNION ALL SELECT scope, 'provider_id', 'guid:' || g, m FROM k) ORDER BY 1, 2, 3;";

/// Every fifth came a second time: by another path, or by the same event.
const DELIVERIES: &str = "
    INSERT INTO deliveries (delivery_key, message_key, source, locator, verdict, reason, times_seen, first_seen_at,
        last_seen_at)
    SELECT * FROM (
        SELECT f AS key, m, 'imap', 'INBOX;UIDVALIDITY=1;UID=' || i, 'new', 'first seen', iif(i % 10 = 0, 2, 1),
            at + 1000, at + 1000 FROM k
        UNION ALL SELECT o, m, 'webhook', 'bench;ID=' || i, 'duplicate', 'same Message-ID', 1, at + 2000, at + 2000 FROM k
        WHERE i % 10 = 5) ORDER BY key;";

const OPERATIONS: &str = "
    INSERT INTO notification_operations (operation_key, message_key, action, status, decision, reason, created_at,
        completed_at, rang_at)
    SELECT o, m, 'notify_owner:v1', iif(doubt, 'processing', 'completed'), iif(i % 5 = 4, 'silent', 'notify'),
        'everything else', at + 1000, iif(doubt, NULL, at + 1200), iif(i % 5 = 4, NULL, at + 1200)
    FROM k ORDER BY o;";

/// Four of five rang. Of however many, 100 were given up, of 20 nobody knows, and 1,000 wait.
fn outbox([told, told_recipient]: [&str; 2], [paused, paused_recipient]: [&str; 2], mails: usize) -> String {
    let payload = "json_object('title', printf('Writer%d Somebody', i % 997), 'body', hex(randomblob(110)), 'from', '',
        'subject', '', 'mailbox_id', scope, 'sent_at', '', 'link', '', 'message_key', m, 'operation_key', o,
        'dispatch_key', d)";
    let columns = "dispatch_key, operation_key, recipient, destination_id, payload, status, reason, due_at, attempt,
        first_attempt_at, uncertain_at, created_at, completed_at";
    format!(
        "INSERT INTO notification_outbox ({columns})
         SELECT d, o, '{told_recipient}', '{told}', {payload},
             CASE WHEN dead THEN 'dead' WHEN doubt THEN 'uncertain' ELSE 'completed' END,
             iif(dead, 'rejected', NULL), iif(doubt, {NEVER}, at + 1000), 1, at + 1000,
             iif(doubt, at + 2000, NULL), at + 1000, iif(doubt, NULL, at + 1200)
         FROM k WHERE i % 5 <> 4 ORDER BY i;
         INSERT INTO notification_outbox ({columns})
         SELECT f, o, '{paused_recipient}', '{paused}', {payload}, 'pending', NULL, at + 1000, 0, NULL, NULL, at + 1000,
             NULL
         FROM k WHERE i % 5 <> 4 AND i > {mails} - 1250 ORDER BY i;
         UPDATE notification_operations SET status = 'processing', completed_at = NULL
         WHERE operation_key IN (SELECT o FROM k WHERE i % 5 <> 4 AND i > {mails} - 1250);",
        NEVER = i64::MAX
    )
}

const ATTEMPTS: &str = "
    INSERT INTO attempts (dispatch_key, attempt, lease_token, started_at, payload_started_at, finished_at, outcome, code,
        detail)
    SELECT d, 1, substr(f, 1, 16) || '.' || substr(d, 1, 24), at + 1000, at + 1000, at + 1200,
        CASE WHEN dead THEN 'rejected' WHEN doubt THEN 'unknown' ELSE 'accepted' END, NULL, NULL
    FROM k WHERE i % 5 <> 4 ORDER BY i;";

const DAYS: &str = "
    INSERT INTO days (day, sightings, rings, silent, duplicates)
    SELECT date(at / 1000, 'unixepoch', 'localtime'), count(*), sum(i % 5 <> 4), sum(i % 5 = 4), sum(i % 5 = 0)
    FROM k GROUP BY 1;";
