-- What a press on a notification opens (a template, see model/link.rs), and what the owner had done to a mail.

ALTER TABLE mailboxes ADD COLUMN link_template TEXT;

CREATE TABLE mail_actions (
    id          INTEGER PRIMARY KEY,
    message_key TEXT NOT NULL REFERENCES processed_messages (message_key),
    action      TEXT NOT NULL CHECK (action IN ('mark_read')),
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    outcome     TEXT CHECK (outcome IN ('done', 'failed')),
    code        TEXT,
    detail      TEXT,
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
) STRICT;
CREATE INDEX mail_actions_message ON mail_actions (message_key);
