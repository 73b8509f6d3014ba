-- The core. Times are INTEGER ms UTC; keys are lower-case hex; lists are JSON text.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    key    TEXT NOT NULL PRIMARY KEY,
    value  TEXT NOT NULL,
    set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the owner configured. Removed rows are marked, not deleted: history still names them.

CREATE TABLE mailboxes (
    account_id      TEXT NOT NULL PRIMARY KEY,
    mailbox_id      TEXT NOT NULL,
    email           TEXT NOT NULL,
    host            TEXT,
    port            INTEGER,
    tls             TEXT CHECK (tls IN ('implicit', 'starttls', 'none')),
    username        TEXT,
    ca_file         TEXT,
    pin             TEXT,
    allow_plaintext INTEGER NOT NULL DEFAULT 0 CHECK (allow_plaintext IN (0, 1)),
    folders         TEXT NOT NULL DEFAULT '["INBOX"]',
    paused          INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    created_at      INTEGER NOT NULL,
    removed_at      INTEGER,
    CHECK ((host IS NULL) = (port IS NULL) AND (host IS NULL) = (tls IS NULL) AND (host IS NULL) = (username IS NULL))
) STRICT;

CREATE TABLE folders (
    account_id       TEXT NOT NULL REFERENCES mailboxes (account_id),
    folder           TEXT NOT NULL,
    uid_validity     INTEGER NOT NULL,
    next_uid         INTEGER NOT NULL,
    floor_uid        INTEGER NOT NULL,
    backfill_from    INTEGER,
    backfill_to      INTEGER,
    backfill_purpose TEXT CHECK (backfill_purpose IN ('baseline', 'rebuild')),
    backfill_left    INTEGER,
    newest_known_at  INTEGER,
    last_check_at    INTEGER,
    PRIMARY KEY (account_id, folder),
    CHECK ((backfill_from IS NULL) = (backfill_to IS NULL)
       AND (backfill_from IS NULL) = (backfill_purpose IS NULL)
       AND (backfill_from IS NULL) = (backfill_left IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES mailboxes (account_id),
    port       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;

CREATE TABLE destinations (
    id               TEXT NOT NULL PRIMARY KEY,
    name             TEXT NOT NULL,
    kind             TEXT NOT NULL,
    fields           TEXT NOT NULL DEFAULT '{}',
    recipient        TEXT NOT NULL,
    policy           TEXT NOT NULL CHECK (policy IN ('never-twice', 'never-lost')),
    privacy          TEXT NOT NULL CHECK (privacy IN ('full', 'sender', 'none')),
    max_age_seconds  INTEGER CHECK (max_age_seconds > 0),
    fallback_only    INTEGER NOT NULL DEFAULT 0 CHECK (fallback_only IN (0, 1)),
    paused           TEXT CHECK (paused IN ('owner', 'sign_in')),
    last_delivery_at INTEGER,
    -- What was accepted last: a channel that no longer shows it cannot prove that anything else is absent.
    last_dispatch_key TEXT,
    last_error       TEXT,
    created_at       INTEGER NOT NULL,
    removed_at       INTEGER
) STRICT;
CREATE UNIQUE INDEX destinations_recipient ON destinations (recipient) WHERE removed_at IS NULL;

CREATE TABLE routes (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    members    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX routes_name ON routes (name) WHERE removed_at IS NULL;

CREATE TABLE rules (
    id         TEXT NOT NULL PRIMARY KEY,
    position   INTEGER NOT NULL,
    account_id TEXT REFERENCES mailboxes (account_id),
    conditions TEXT NOT NULL,
    action     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;

-- What was seen.

CREATE TABLE processed_messages (
    id                 INTEGER PRIMARY KEY,
    message_key        TEXT NOT NULL UNIQUE,
    mailbox_id         TEXT NOT NULL,
    account_id         TEXT,
    identity           TEXT NOT NULL,
    message_id         TEXT,
    provider_ids       TEXT NOT NULL DEFAULT '[]',
    fingerprint        TEXT,
    from_address       TEXT,
    from_name          TEXT,
    to_addresses       TEXT NOT NULL DEFAULT '[]',
    subject            TEXT,
    sent_at            TEXT,
    sent_at_ms         INTEGER,
    list_id            TEXT,
    body_sha256        TEXT,
    preview            TEXT,
    folder             TEXT,
    special_use        TEXT NOT NULL DEFAULT 'none' CHECK (special_use IN ('none', 'junk', 'sent')),
    received_at        INTEGER NOT NULL,
    processed_at       INTEGER NOT NULL,
    first_verdict      TEXT NOT NULL CHECK (first_verdict IN ('new', 'collision', 'baseline', 'old')),
    sightings          INTEGER NOT NULL DEFAULT 0,
    last_suppressed_at INTEGER
) STRICT;
CREATE INDEX processed_messages_suppressed ON processed_messages (last_suppressed_at)
    WHERE last_suppressed_at IS NOT NULL;

CREATE TABLE message_identities (
    mailbox_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    message_key TEXT NOT NULL,
    PRIMARY KEY (mailbox_id, kind, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    delivery_key  TEXT NOT NULL,
    message_key   TEXT NOT NULL REFERENCES processed_messages (message_key),
    source        TEXT NOT NULL,
    locator       TEXT NOT NULL,
    verdict       TEXT NOT NULL CHECK (verdict IN ('new', 'duplicate', 'collision', 'baseline', 'old')),
    reason        TEXT NOT NULL,
    times_seen    INTEGER NOT NULL DEFAULT 1 CHECK (times_seen > 0),
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    PRIMARY KEY (delivery_key, message_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_message ON deliveries (message_key);

-- What is done about it.

CREATE TABLE notification_operations (
    operation_key       TEXT NOT NULL PRIMARY KEY,
    message_key         TEXT NOT NULL REFERENCES processed_messages (message_key),
    action              TEXT NOT NULL,
    status              TEXT NOT NULL CHECK (status IN ('held', 'processing', 'completed')),
    owner_id            TEXT NOT NULL DEFAULT 'owner',
    decision            TEXT NOT NULL CHECK (decision IN ('notify', 'silent', 'hold')),
    reason              TEXT NOT NULL,
    rule_id             TEXT,
    routes              TEXT NOT NULL DEFAULT '[]',
    held_until          INTEGER,
    created_at          INTEGER NOT NULL,
    rang_at             INTEGER,
    completed_at        INTEGER,
    external_message_id TEXT,
    last_error          TEXT,
    CHECK ((status = 'held') = (held_until IS NOT NULL)),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_operations_message ON notification_operations (message_key);
CREATE INDEX notification_operations_held ON notification_operations (held_until) WHERE status = 'held';

CREATE TABLE notification_outbox (
    id                  INTEGER PRIMARY KEY,
    dispatch_key        TEXT NOT NULL UNIQUE,
    operation_key       TEXT NOT NULL REFERENCES notification_operations (operation_key),
    recipient           TEXT NOT NULL,
    destination_id      TEXT NOT NULL REFERENCES destinations (id),
    payload             TEXT NOT NULL,
    status              TEXT NOT NULL
        CHECK (status IN ('pending', 'processing', 'completed', 'dead', 'uncertain', 'cancelled')),
    reason              TEXT,
    due_at              INTEGER NOT NULL,
    wait_ms             INTEGER NOT NULL DEFAULT 0,
    attempt             INTEGER NOT NULL DEFAULT 0,
    round               INTEGER NOT NULL DEFAULT 1,
    lease_token         TEXT,
    lease_until         INTEGER,
    first_attempt_at    INTEGER,
    uncertain_at        INTEGER,
    lookups             INTEGER NOT NULL DEFAULT 0,
    may_be_repeat       INTEGER NOT NULL DEFAULT 0 CHECK (may_be_repeat IN (0, 1)),
    external_message_id TEXT,
    last_error          TEXT,
    created_at          INTEGER NOT NULL,
    completed_at        INTEGER,
    CHECK ((status = 'processing') = (lease_token IS NOT NULL)),
    CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
    CHECK ((status = 'uncertain') = (uncertain_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'dead', 'cancelled')) = (completed_at IS NOT NULL))
) STRICT;
CREATE INDEX notification_outbox_operation ON notification_outbox (operation_key);
-- What is to be sent: claimed newest first.
CREATE INDEX notification_outbox_due ON notification_outbox (destination_id, due_at) WHERE status = 'pending';
CREATE INDEX notification_outbox_leased ON notification_outbox (lease_until) WHERE status = 'processing';
-- `due_at` of an uncertain row is when the channel is asked next.
CREATE INDEX notification_outbox_uncertain ON notification_outbox (destination_id, due_at) WHERE status = 'uncertain';
CREATE INDEX notification_outbox_dead ON notification_outbox (id) WHERE status = 'dead';

-- Routes that are waiting for their next round.
CREATE TABLE ladders (
    operation_key TEXT NOT NULL REFERENCES notification_operations (operation_key),
    position      INTEGER NOT NULL,
    step          INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    PRIMARY KEY (operation_key, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX ladders_due ON ladders (due_at);

CREATE TABLE attempts (
    id                 INTEGER PRIMARY KEY,
    dispatch_key       TEXT NOT NULL REFERENCES notification_outbox (dispatch_key),
    attempt            INTEGER NOT NULL,
    lease_token        TEXT NOT NULL,
    started_at         INTEGER NOT NULL,
    payload_started_at INTEGER,
    finished_at        INTEGER,
    outcome            TEXT CHECK (outcome IN ('accepted', 'deferred', 'rejected', 'unknown', 'abandoned')),
    code               TEXT,
    detail             TEXT,
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
) STRICT;
CREATE INDEX attempts_dispatch ON attempts (dispatch_key);

CREATE TABLE alarms (
    id          INTEGER PRIMARY KEY,
    code        TEXT NOT NULL,
    about       TEXT NOT NULL,
    text        TEXT NOT NULL,
    opened_at   INTEGER NOT NULL,
    cleared_at  INTEGER,
    message_key TEXT
) STRICT;
CREATE UNIQUE INDEX alarms_open ON alarms (code, about) WHERE cleared_at IS NULL;

-- Counts by the owner's own day (YYYY-MM-DD).
CREATE TABLE days (
    day        TEXT NOT NULL PRIMARY KEY,
    sightings  INTEGER NOT NULL DEFAULT 0,
    rings      INTEGER NOT NULL DEFAULT 0,
    silent     INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
