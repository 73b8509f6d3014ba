//! The index against a plain look at the same mails.

use super::*;
use crate::store::Store;
use crate::store::retention;

const DAY_MS: i64 = 86_400_000;

struct Bench {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self { store: Store::open(folder.path(), 1).unwrap(), _folder: folder };
        for id in ["d1", "d2"] {
            let sql = format!(
                "INSERT INTO destinations (id, name, kind, recipient, policy, privacy, created_at)
                 VALUES ('{id}', 'name of {id}', 'webhook', 'r{id}', 'never-twice', 'full', 1)"
            );
            bench.run(&sql).await;
        }
        bench
    }

    async fn run(&self, sql: &str) {
        let sql = sql.to_owned();
        self.store.write(move |tx| Ok(tx.0.0.execute_batch(&sql)?)).await.unwrap();
    }

    /// A mail by its key, with an operation.
    async fn mail(&self, key: &str, from: &str, subject: &str, at: i64, decision: &str, verdict: &str) {
        self.run(&format!(
            "INSERT INTO processed_messages (message_key, mailbox_id, identity, from_address, from_name, subject,
                 received_at, processed_at, first_verdict)
             VALUES ('{key}', 'me@example.org', 'message_id', '{from}@example.org', '{from}', '{subject}', {at}, {at},
                 '{verdict}');
             INSERT INTO notification_operations (operation_key, message_key, action, status, decision, reason,
                 created_at, completed_at)
             VALUES ('o{key}', '{key}', 'notify_owner:v1', 'completed', '{decision}', 'r', {at}, {at});
             INSERT INTO deliveries (delivery_key, message_key, source, locator, verdict, reason, first_seen_at,
                 last_seen_at)
             VALUES ('y{key}', '{key}', 'imap', 'INBOX;UIDVALIDITY=1;UID=1', 'new', 'first seen', {at}, {at})"
        ))
        .await;
    }

    async fn new_mail(&self, key: &str, subject: &str) {
        self.mail(key, "ada", subject, 10, "notify", "new").await;
    }

    async fn tell(&self, key: &str, destination: &str, status: &str) {
        let ended = if status == "dead" || status == "completed" { "1" } else { "NULL" };
        self.run(&format!(
            "INSERT INTO notification_outbox (dispatch_key, operation_key, recipient, destination_id, payload, status,
                 due_at, created_at, completed_at)
             VALUES ('n{key}{destination}', 'o{key}', 'r', '{destination}', '{{}}', '{status}', 1, 1, {ended})"
        ))
        .await;
    }

    async fn index(&self, limit: usize) -> usize {
        let mut all = 0;
        loop {
            let done = self.store.write(move |tx| catch_up(tx, limit)).await.unwrap();
            all += done;
            if done < limit {
                return all;
            }
        }
    }

    async fn found(&self, query: &Query, listed: Listed, before: Option<i64>, limit: i64) -> Vec<String> {
        let query = query.clone();
        let rows = self.store.read(move |read| list(read, &query, listed, before, limit)).await.unwrap();
        rows.into_iter().map(|row| row.message_key.0).collect()
    }

    /// What is found before the index knows, and after: the same.
    #[track_caller]
    fn check(&self, query: Query, expected: &'static [&'static str]) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        async move {
            let before = self.found(&query, Listed::History, None, 50).await;
            assert_eq!(before, expected, "not yet in the index, {place}");
            self.index(2).await;
            assert_eq!(self.found(&query, Listed::History, None, 50).await, expected, "in the index, {place}");
        }
    }
}

fn text(text: &str) -> Query {
    Query::default().text(text)
}

#[tokio::test]
async fn each_word_begins_one_of_sender_or_subject() {
    let bench = Bench::new().await;
    bench.mail("a1", "Łucja", "Proszę o podpis", 10, "notify", "new").await;
    bench.mail("b2", "Bob", "Invoice 2026-0514", 11, "notify", "new").await;
    bench.mail("c3", "Bob", "Proszą", 12, "silent", "new").await;
    bench.mail("d4", "Bob", "Prosz, there before", 13, "silent", "baseline").await;
    bench.check(text("PROSZ"), &["c3", "a1"]).await;
    bench.check(text("prosze podp"), &["a1"]).await;
    bench.check(text("lucja"), &["a1"]).await;
    bench.check(text("osze"), &[]).await;
    bench.check(text("bob inv"), &["b2"]).await;
    bench.check(text("bob@example.org 0514"), &["b2"]).await;
    bench.check(text("\" OR * NEAR(x) bob\""), &[]).await;
    bench.check(text("  "), &["c3", "b2", "a1"]).await;
    bench.check(text(&"x".repeat(5000)), &[]).await;
}

#[tokio::test]
async fn filters_hold_together_with_words_and_pages_follow_each_other() {
    let bench = Bench::new().await;
    for (number, key) in ["a0", "a1", "a2", "a3", "a4", "a5"].into_iter().enumerate() {
        let at = i64::try_from(number).unwrap() * 10 * DAY_MS;
        let decision = if number == 5 { "hold" } else { "notify" };
        bench.mail(key, "ada", &format!("Report {number}"), at, decision, "new").await;
        bench.tell(key, if number % 2 == 0 { "d1" } else { "d2" }, "completed").await;
    }
    bench.tell("a3", "d1", "dead").await;
    bench.tell("a2", "d2", "pending").await;
    let both = [DestinationId::from("d1"), DestinationId::from("d2")];
    let [d1, _] = &both;
    bench.check(Query::default().destinations(std::slice::from_ref(d1)), &["a4", "a3", "a2", "a0"]).await;
    bench.check(Query::default().destinations(&both).fate(Fate::Told).text("4"), &["a4"]).await;
    bench.check(Query::default().destinations(&[]), &[]).await;
    bench.check(Query::default().fate(Fate::Dead), &["a3"]).await;
    bench.check(Query::default().fate(Fate::Sending), &["a2"]).await;
    bench.check(Query::default().fate(Fate::Held), &["a5"]).await;
    bench.check(Query::default().mailbox("me@example.org").fate(Fate::Silent), &[]).await;
    bench.check(Query::default().mailbox("other@example.org"), &[]).await;
    bench.check(text("report").seen(Some(20 * DAY_MS), Some(40 * DAY_MS)), &["a3", "a2"]).await;
    bench.check(Query::default().seen(Some(20 * DAY_MS), Some(40 * DAY_MS)), &["a3", "a2"]).await;
    bench.check(Query::default().seen(Some(50 * DAY_MS + 1), None), &[]).await;
    assert_eq!(bench.found(&text("report"), Listed::History, None, 2).await, ["a5", "a4"]);
    assert_eq!(bench.found(&text("report"), Listed::History, Some(5), 2).await, ["a3", "a2"]);
    assert_eq!(bench.found(&Query::default(), Listed::History, Some(2), 2).await, ["a0"]);
}

#[tokio::test]
async fn whatever_changes_a_mail_changes_what_finds_it() {
    let bench = Bench::new().await;
    bench.new_mail("a1", "Before").await;
    bench.new_mail("b2", "Other").await;
    bench.index(10).await;
    bench.run("UPDATE processed_messages SET subject = 'After' WHERE message_key = 'a1'").await;
    bench.check(text("after"), &["a1"]).await;
    bench.check(text("before"), &[]).await;
    bench.tell("a1", "d1", "pending").await;
    assert_eq!(bench.index(10).await, 0, "notifications come with their action");
    bench.store.write(|tx| touch(tx, 1)).await.unwrap();
    bench.check(Query::default().fate(Fate::Sending), &["a1"]).await;
    bench
        .run(
            "INSERT INTO notification_operations (operation_key, message_key, action, status, decision, reason, created_at)
             VALUES ('again', 'b2', 'notify_owner_again:v1:1', 'processing', 'notify', 'r', 9)",
        )
        .await;
    assert_eq!(bench.index(10).await, 1, "the owner asked to be told again");
    bench.run("UPDATE notification_outbox SET status = 'completed', completed_at = 5").await;
    bench.check(Query::default().fate(Fate::Sending), &[]).await;
    bench.check(Query::default().fate(Fate::Told), &["a1"]).await;
    bench.run("UPDATE notification_operations SET decision = 'silent' WHERE message_key = 'b2'").await;
    bench.check(Query::default().fate(Fate::Silent), &["b2"]).await;
    let claimed = "UPDATE notification_outbox SET status = 'pending', completed_at = NULL; ";
    bench.run(claimed).await;
    bench.index(10).await;
    bench.run("UPDATE notification_outbox SET status = 'processing', lease_token = 't', lease_until = 9").await;
    assert_eq!(bench.index(10).await, 0, "a claim makes nothing stale");
}

#[tokio::test]
async fn repeats_are_found_by_their_reason_even_of_mail_that_was_there_before() {
    let bench = Bench::new().await;
    bench.new_mail("a1", "Twice").await;
    bench.mail("b2", "bob", "There before", 10, "silent", "baseline").await;
    bench.new_mail("c3", "Once").await;
    bench.index(10).await;
    bench
        .run(
            "UPDATE processed_messages SET last_suppressed_at = 20 WHERE message_key IN ('a1', 'b2');
             UPDATE deliveries SET times_seen = 2 WHERE message_key = 'a1';
             INSERT INTO deliveries (delivery_key, message_key, source, locator, verdict, reason, first_seen_at,
                 last_seen_at)
             VALUES ('z', 'b2', 'imap', 'Archive;UIDVALIDITY=1;UID=1', 'duplicate', 'same Message-ID', 20, 20)",
        )
        .await;
    for again in [false, true] {
        let of = |reason| Query::default().reason(reason);
        let repeated = |query| bench_found(&bench.store, query);
        assert_eq!(repeated(of(RepeatReason::Reconnect)).await, ["a1"], "in the index: {again}");
        assert_eq!(repeated(of(RepeatReason::OtherFolder)).await, ["b2"], "in the index: {again}");
        assert_eq!(repeated(of(RepeatReason::SameContent)).await, [""; 0], "in the index: {again}");
        assert_eq!(repeated(text("there")).await, ["b2"], "in the index: {again}");
        assert_eq!(repeated(text("once")).await, [""; 0], "reported once; in the index: {again}");
        assert_eq!(repeated(Query::default()).await, ["b2", "a1"], "in the index: {again}");
        assert_eq!(bench.found(&text("there"), Listed::History, None, 9).await, [""; 0], "not in the history");
        bench.index(1).await;
    }
}

async fn bench_found(store: &Store, query: Query) -> Vec<String> {
    let rows = store.read(move |read| list(read, &query, Listed::Repeated, None, 50)).await.unwrap();
    rows.into_iter().map(|row| row.message_key.0).collect()
}

#[tokio::test]
async fn what_is_forgotten_is_not_found_and_its_number_may_be_another_mails() {
    let bench = Bench::new().await;
    bench.mail("a1", "ada", "Old words", DAY_MS, "notify", "new").await;
    bench.mail("b2", "bob", "Old sender", DAY_MS, "notify", "new").await;
    bench.index(10).await;
    let keep = retention::Keep { history_days: 10, key_days: 400 };
    let emptied = bench.store.write(move |tx| retention::prune(tx, keep, 0, 100, 100 * DAY_MS)).await.unwrap();
    assert_eq!(emptied.emptied, 2);
    bench.check(text("bob@"), &["b2"]).await;
    bench.run("UPDATE processed_messages SET from_address = NULL WHERE message_key = 'b2'").await;
    bench.check(text("bob"), &[]).await;
    let forgotten = bench.store.write(move |tx| retention::prune(tx, keep, 0, 100, 500 * DAY_MS)).await.unwrap();
    assert_eq!(forgotten.forgotten, 2);
    for round in ["before the index knows", "after"] {
        assert_eq!(bench.found(&text("old"), Listed::History, None, 9).await, [""; 0], "{round}");
        if round == "after" {
            bench.index(1).await;
        }
        bench.new_mail(if round == "after" { "d4" } else { "c3" }, "New words").await;
    }
    bench.check(text("new"), &["d4", "c3"]).await;
    bench.check(text("words"), &["d4", "c3"]).await;
    bench.run("DELETE FROM deliveries; DELETE FROM notification_operations; DELETE FROM processed_messages").await;
    bench.new_mail("e5", "Newest").await;
    bench.index(1).await;
    bench.new_mail("f6", "Newest too").await;
    bench.check(text("newest"), &["f6", "e5"]).await;
}
