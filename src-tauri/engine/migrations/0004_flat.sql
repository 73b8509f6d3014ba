-- What is asked often is answered by an index, however long the history is.

-- The newest mail of an account, of those that arrived.
CREATE INDEX processed_messages_account ON processed_messages (account_id) WHERE first_verdict <> 'baseline';

-- What needs the owner, by number and for each destination.
DROP INDEX notification_outbox_dead;
CREATE INDEX notification_outbox_dead ON notification_outbox (id, destination_id) WHERE status = 'dead';
CREATE INDEX notification_outbox_unknown ON notification_outbox (id) WHERE status = 'uncertain';

-- A beginning that is indexed itself is one sorted list; of a longer one all lists that begin so are brought into one
-- first, which takes the longer the more mails there are. The sweep fills it anew.
DROP TABLE mail_words;
CREATE VIRTUAL TABLE mail_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3 4 5 6 7 8 9 10 11 12', tokenize = 'ascii'
);
UPDATE search_progress SET done_id = 0;
DELETE FROM search_stale;
