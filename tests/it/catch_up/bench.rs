//! A real database with a mailbox and destinations, on a clock of our own; nobody reads and nobody sends.

use ringonce_engine::clock::Clock;
use ringonce_engine::identity::keys;
use ringonce_engine::intake::{self, Taken};
use ringonce_engine::kernel::Kernel;
use ringonce_engine::mail::{self, Completeness};
use ringonce_engine::model::destination::{Destination, Policy, Privacy};
use ringonce_engine::model::mailbox::{ImapServer, Mailbox, SpecialUse, Tls};
use ringonce_engine::model::occasion::{Ended, Occasion};
use ringonce_engine::model::sighting::{Intent, Report, Sighting};
use ringonce_engine::outbox::sweep;
use ringonce_engine::store::table::{destination, mailbox, setting};
use ringonce_engine::store::{Store, Tx, verify};
use serde_json::Value;

use crate::support::db::Db;

pub(crate) const NOW: i64 = 1_796_108_410_000;
pub(crate) const CATCH_UP: Intent = Intent::Gathered(Occasion::CatchUp);

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) kernel: Kernel,
}

impl Bench {
    /// One mailbox that is read, one destination that may know everything.
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self { kernel: Kernel::new(Store::open(folder.path(), NOW).unwrap(), Clock::manual(NOW)), folder };
        bench
            .change(|tx| {
                mailbox::put(tx, &account("a1"), NOW).unwrap();
                destination::put(tx, &phone("d1", Privacy::Full, None), NOW).unwrap();
            })
            .await;
        bench
    }

    /// The program ended, by whatever, and starts again.
    pub(crate) fn restart(self) -> Self {
        let Self { folder, kernel } = self;
        let now = kernel.now();
        drop(kernel);
        let kernel = Kernel::new(Store::open(folder.path(), now).unwrap(), Clock::manual(now));
        Self { folder, kernel }
    }

    /// Changes the configuration.
    pub(crate) async fn change(&self, change: impl FnOnce(Tx<'_>) + Send + 'static) {
        let kernel = self.kernel.clone();
        self.kernel
            .store
            .write(move |tx| {
                change(tx);
                kernel.reconfigure();
                Ok(())
            })
            .await
            .unwrap();
    }

    pub(crate) async fn set(&self, key: &'static str, value: &'static str) {
        self.change(move |tx| setting::set(tx, key, value, NOW).unwrap()).await;
    }

    pub(crate) async fn take(&self, sightings: Vec<Sighting>) -> Vec<Taken> {
        intake::take_in(&self.kernel, Report { sightings, ..Report::default() }).await.unwrap()
    }

    /// So many mails, oldest first, a second apart.
    pub(crate) async fn arrive(&self, count: i64, intent: Intent) {
        let mails = (1..=count).map(|n| Sighting { intent, ..sighting(n, NOW - 1000 * (count - n)) });
        self.take(mails.collect()).await;
    }

    pub(crate) async fn end(&self, occasion: Occasion) {
        let ended = Some(Ended { account_id: "a1".into(), occasion });
        intake::take_in(&self.kernel, Report { ended, ..Report::default() }).await.unwrap();
    }

    /// Time passes and the sweep looks.
    pub(crate) async fn after(&self, ms: i64) {
        self.kernel.clock.advance(ms);
        sweep::once(&self.kernel).await.unwrap();
    }

    pub(crate) fn db(&self) -> Db {
        Db::open(self.folder.path())
    }

    /// Titles and texts of what is to be told, in the order in which a lane takes it.
    pub(crate) fn to_be_told(&self) -> Vec<(String, String)> {
        let rows = self
            .db()
            .rows("SELECT payload FROM notification_outbox WHERE status = 'pending' ORDER BY due_at DESC, id DESC", []);
        let read = |row: Value| {
            let payload: Value = serde_json::from_str(row["payload"].as_str().unwrap()).unwrap();
            (payload["title"].as_str().unwrap().to_owned(), payload["body"].as_str().unwrap().to_owned())
        };
        rows.into_iter().map(read).collect()
    }

    /// Reasons of the operations on the mails of the mailbox, each with how many have it.
    pub(crate) fn reasons(&self) -> Vec<(String, i64)> {
        let rows = self.db().rows(
            "SELECT CASE WHEN o.reason LIKE 'in digest %' THEN 'in digest' ELSE o.reason END AS reason, count(*) AS n
             FROM notification_operations o JOIN processed_messages m USING (message_key)
             WHERE m.mailbox_id <> 'ringonce' GROUP BY 1 ORDER BY 1",
            [],
        );
        rows.iter().map(|row| (row["reason"].as_str().unwrap().to_owned(), row["n"].as_i64().unwrap())).collect()
    }

    /// What `verify` finds after somebody changed the data by hand.
    pub(crate) async fn broken_by(&self, sql: &str) -> Vec<&'static str> {
        let hand = rusqlite::Connection::open(self.folder.path().join("ringonce.db")).unwrap();
        hand.execute_batch(sql).unwrap();
        let broken = self.kernel.store.read(verify::verify).await.unwrap();
        broken.into_iter().map(|broken| broken.invariant).collect()
    }

    pub(crate) async fn assert_sound(&self) {
        let broken = self.kernel.store.read(verify::verify).await.unwrap();
        assert_eq!(broken, [], "every invariant holds");
    }
}

pub(crate) fn account(id: &str) -> Mailbox {
    Mailbox {
        account_id: id.into(),
        mailbox_id: format!("{id}@example.com").as_str().into(),
        email: format!("{id}@example.com"),
        imap: Some(ImapServer {
            host: "localhost".to_owned(),
            port: 993,
            tls: Tls::Implicit,
            username: "owner".to_owned(),
            ca_file: None,
            pin: None,
            allow_plaintext: false,
        }),
        folders: vec!["INBOX".to_owned()],
        link_template: None,
        paused: false,
    }
}

pub(crate) fn phone(id: &str, privacy: Privacy, max_age_seconds: Option<i64>) -> Destination {
    Destination {
        id: id.into(),
        name: id.to_owned(),
        kind: "webhook".to_owned(),
        fields: [("url".to_owned(), "http://127.0.0.1:9/".to_owned())].into(),
        recipient: format!("webhook:{id:0>16}").as_str().into(),
        policy: Policy::NeverTwice,
        privacy,
        max_age_seconds,
        fallback_only: false,
        paused: None,
    }
}

/// Mail number `n`, by Sender n, received at a time.
pub(crate) fn sighting(n: i64, received_at: i64) -> Sighting {
    let mail =
        format!("From: Sender {n} <s{n}@b.example>\nSubject: Mail {n}\nMessage-ID: <{n}@b.example>\n\nText {n}\n");
    Sighting {
        account_id: "a1".into(),
        mailbox_id: "a1@example.com".into(),
        delivery_key: keys::imap_delivery(&"a1".into(), "INBOX", 1, u32::try_from(n).unwrap()),
        source: "imap".to_owned(),
        locator: format!("INBOX;UIDVALIDITY=1;UID={n}"),
        provider_ids: Vec::new(),
        facts: mail::read(mail.as_bytes(), Completeness::Mail),
        received_at: Some(received_at),
        folder: Some("INBOX".to_owned()),
        special_use: SpecialUse::None,
        intent: Intent::Arrival,
    }
}
