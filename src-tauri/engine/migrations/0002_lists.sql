-- Lists of the window: rules that are switched off, and an index by which pages are searched and filtered.

ALTER TABLE rules ADD COLUMN off INTEGER NOT NULL DEFAULT 0 CHECK (off IN (0, 1));

-- The history without what was there before, by number and by time; the mails that were reported more than once.
CREATE INDEX processed_messages_listed ON processed_messages (id) WHERE first_verdict <> 'baseline';
CREATE INDEX processed_messages_listed_at ON processed_messages (processed_at) WHERE first_verdict <> 'baseline';
CREATE INDEX processed_messages_repeated ON processed_messages (id) WHERE last_suppressed_at IS NOT NULL;
-- The newest mail of an account, of those that arrived.
CREATE INDEX processed_messages_account ON processed_messages (account_id) WHERE first_verdict <> 'baseline';

-- What needs the owner, by number and for each destination.
DROP INDEX notification_outbox_dead;
CREATE INDEX notification_outbox_dead ON notification_outbox (id, destination_id) WHERE status = 'dead';
CREATE INDEX notification_outbox_unknown ON notification_outbox (id) WHERE status = 'uncertain';

-- One document a mail, its number the mail's: the words of sender and subject, and what else a page is narrowed by, as
-- words of their own (see store/search). It is filled outside the intake, and may be thrown away and made again.
-- A beginning that is indexed itself is one sorted list; of a longer one all lists that begin so are brought into one
-- first, which takes the longer the more mails there are.
CREATE VIRTUAL TABLE mail_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3 4 5 6 7 8 9 10 11 12', tokenize = 'ascii'
);

-- Mails up to this number are in the index, but for those that changed since.
CREATE TABLE search_progress (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    done_id INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress (one, done_id) VALUES (1, 0);
CREATE TABLE search_stale (
    id INTEGER PRIMARY KEY
) STRICT;

-- Whatever changes what a document says makes it stale. Notifications come with their action, but for those of a takeover
-- (outbox/route.rs), which says so itself: a trigger would cost every intake.
CREATE TRIGGER search_mail_changed
AFTER UPDATE OF from_address, from_name, subject, last_suppressed_at ON processed_messages
WHEN new.id <= (SELECT done_id FROM search_progress)
    AND (new.from_address IS NOT old.from_address OR new.from_name IS NOT old.from_name
        OR new.subject IS NOT old.subject OR new.last_suppressed_at IS NOT old.last_suppressed_at)
BEGIN
    INSERT INTO search_stale (id) VALUES (new.id) ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER search_mail_forgotten
AFTER DELETE ON processed_messages
WHEN old.id <= (SELECT done_id FROM search_progress)
BEGIN
    INSERT INTO search_stale (id) VALUES (old.id) ON CONFLICT (id) DO NOTHING;
END;

CREATE TRIGGER search_decision_changed
AFTER UPDATE OF decision ON notification_operations
WHEN new.decision <> old.decision
BEGIN
    INSERT INTO search_stale (id)
    SELECT m.id FROM processed_messages m
    WHERE m.message_key = new.message_key AND m.id <= (SELECT done_id FROM search_progress)
    ON CONFLICT (id) DO NOTHING;
END;

-- An action that comes later than the mail: the owner asked to be told again.
CREATE TRIGGER search_action_added
AFTER INSERT ON notification_operations
WHEN new.action <> 'notify_owner:v1'
BEGIN
    INSERT INTO search_stale (id)
    SELECT m.id FROM processed_messages m
    WHERE m.message_key = new.message_key AND m.id <= (SELECT done_id FROM search_progress)
    ON CONFLICT (id) DO NOTHING;
END;

-- A claim changes nothing that is shown.
CREATE TRIGGER search_notification_changed
AFTER UPDATE OF status ON notification_outbox
WHEN new.status <> old.status
    AND NOT (old.status IN ('pending', 'processing') AND new.status IN ('pending', 'processing'))
BEGIN
    INSERT INTO search_stale (id)
    SELECT m.id FROM notification_operations o JOIN processed_messages m ON m.message_key = o.message_key
    WHERE o.operation_key = new.operation_key AND m.id <= (SELECT done_id FROM search_progress)
    ON CONFLICT (id) DO NOTHING;
END;
