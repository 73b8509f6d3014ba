//! The one transaction, on a real database: what a report becomes, in every order and with many at once.

use std::path::{Path, PathBuf};

use ringonce_engine::clock::Clock;
use ringonce_engine::identity::keys;
use ringonce_engine::intake::{self, Taken};
use ringonce_engine::kernel::Kernel;
use ringonce_engine::mail::{self, Completeness};
use ringonce_engine::model::mailbox::{FolderCursor, SpecialUse};
use ringonce_engine::model::sighting::{CursorMove, Intent, ProviderId, Report, Sighting, Verdict};
use ringonce_engine::source::Sink as _;
use ringonce_engine::store::Store;
use ringonce_engine::store::table::{destination, mailbox};
use serde_json::Value;

use crate::support::db::Db;

const NOW: i64 = 1_796_108_410_000;

struct Bench {
    folder: tempfile::TempDir,
    kernel: Kernel,
}

impl Bench {
    /// A data folder with one mailbox nobody reads and one destination nobody sends to.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel::new(Store::open(folder.path(), NOW).unwrap(), Clock::manual(NOW));
        let in_job = kernel.clone();
        kernel
            .store
            .write(move |tx| {
                mailbox::put(tx, &owner(), NOW)?;
                destination::put(tx, &phone(), NOW)?;
                in_job.reconfigure();
                Ok(())
            })
            .await
            .unwrap();
        Self { folder, kernel }
    }

    async fn take(&self, sightings: Vec<Sighting>) -> Vec<Taken> {
        intake::take_in(&self.kernel, Report { sightings, cursor: None, ended: None }).await.unwrap()
    }

    fn db(&self) -> Db {
        Db::open(self.folder.path())
    }

    fn rings(&self) -> i64 {
        self.db().number("SELECT count(*) FROM notification_outbox", [])
    }
}

fn owner() -> ringonce_engine::model::mailbox::Mailbox {
    ringonce_engine::model::mailbox::Mailbox {
        account_id: "a1".into(),
        mailbox_id: "owner@example.com".into(),
        email: "owner@example.com".to_owned(),
        imap: None,
        folders: vec!["INBOX".to_owned()],
        link_template: None,
        paused: false,
    }
}

fn phone() -> ringonce_engine::model::destination::Destination {
    use ringonce_engine::model::destination::{Destination, Policy, Privacy};
    Destination {
        id: "d1".into(),
        name: "phone".to_owned(),
        kind: "webhook".to_owned(),
        fields: [("url".to_owned(), "http://127.0.0.1:9/".to_owned())].into(),
        recipient: "webhook:0000000000000000".into(),
        policy: Policy::NeverTwice,
        privacy: Privacy::Full,
        max_age_seconds: None,
        fallback_only: false,
        paused: None,
    }
}

fn sighting(delivery: &str, raw: &[u8]) -> Sighting {
    Sighting {
        account_id: "a1".into(),
        mailbox_id: "owner@example.com".into(),
        delivery_key: keys::ingest_delivery(&"a1".into(), "test", delivery),
        source: "test".to_owned(),
        locator: delivery.to_owned(),
        provider_ids: Vec::new(),
        facts: mail::read(raw, Completeness::Mail),
        received_at: Some(NOW),
        folder: None,
        special_use: SpecialUse::None,
        intent: Intent::Arrival,
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/identity/sightings")
}

/// Sighting number `at` of a sequence of the vectors.
fn from_vector(sequence: &Value, at: usize) -> Sighting {
    let one = &sequence["sightings"][at];
    let text = |key: &str| one[key].as_str();
    let facts = match text("file") {
        Some(file) => mail::read(&std::fs::read(fixtures().join(file)).unwrap(), Completeness::Mail),
        None => mail::from_values(text("message_id"), None, text("subject"), text("date")),
    };
    Sighting {
        source: text("path").unwrap().to_owned(),
        provider_ids: text("provider_id").and_then(ProviderId::parse).into_iter().collect(),
        facts,
        ..sighting(&format!("event {at}"), b"")
    }
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(count - 1) {
        for at in 0..count {
            let mut order = shorter.clone();
            order.insert(at, count - 1);
            all.push(order);
        }
    }
    all
}

#[tokio::test]
async fn sequences_of_sightings_ring_as_often_as_there_are_mails_in_every_order() {
    let vectors: Vec<Value> =
        serde_json::from_slice(&std::fs::read(fixtures().join("sightings.json")).unwrap()).unwrap();
    assert_eq!(vectors.len(), 16);
    for sequence in &vectors {
        let name = sequence["name"].as_str().unwrap();
        let count = sequence["sightings"].as_array().unwrap().len();
        for order in orders(count) {
            let bench = Bench::new().await;
            let mut taken = vec![None; count];
            for &at in &order {
                taken[at] = bench.take(vec![from_vector(sequence, at)]).await.pop();
            }
            assert_eq!(bench.rings(), sequence["rings"].as_i64().unwrap(), "{name}, order {order:?}");
            for one in 0..count {
                for other in 0..count {
                    let same = sequence["sightings"][one]["mail"] == sequence["sightings"][other]["mail"];
                    let found = taken[one].as_ref().unwrap().message_key == taken[other].as_ref().unwrap().message_key;
                    assert_eq!(found, same, "{name}, order {order:?}: sightings {one} and {other}");
                }
            }
            if order.is_sorted() {
                for (at, taken) in taken.iter().enumerate() {
                    let (expected, taken) = (&sequence["sightings"][at], taken.as_ref().unwrap());
                    assert_eq!(taken.message_key.as_str(), expected["message_key"], "{name}, sighting {at}");
                    assert_eq!(taken.verdict.as_str(), expected["verdict"], "{name}, sighting {at}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_same_delivery_again_is_a_repeat_that_is_counted_and_shown() {
    let bench = Bench::new().await;
    let mail =
        b"From: a@b.example\nSubject: x\nMessage-ID: <1@b.example>\nDate: Tue, 01 Dec 2026 07:00:00 +0000\n\nHi\n";
    let verdicts = [bench.take(vec![sighting("1", mail)]).await, bench.take(vec![sighting("1", mail)]).await]
        .map(|taken| taken[0].verdict);
    assert_eq!(verdicts, [Verdict::New, Verdict::Repeat]);
    let row = bench.db().row("SELECT times_seen, verdict FROM deliveries", []);
    assert_eq!((row["times_seen"].as_i64(), row["verdict"].as_str()), (Some(2), Some("new")));
    assert_eq!(bench.rings(), 1, "a repeat adds no notification");
}

#[tokio::test]
async fn a_report_with_its_cursor_is_stored_whole_and_a_mail_of_it_twice_rings_once() {
    let bench = Bench::new().await;
    let mail = b"Subject: x\nMessage-ID: <1@b.example>\n\nHi\n";
    let step = CursorMove {
        account_id: "a1".into(),
        folder: "INBOX".to_owned(),
        cursor: FolderCursor { uid_validity: 3, next_uid: 9, floor_uid: 7, ..FolderCursor::default() },
    };
    let report =
        Report { sightings: vec![sighting("1", mail), sighting("2", mail)], cursor: Some(step.clone()), ended: None };
    let taken = intake::take_in(&bench.kernel, report).await.unwrap();
    assert_eq!([taken[0].verdict, taken[1].verdict], [Verdict::New, Verdict::Duplicate]);
    let stored = bench.kernel.cursor(&"a1".into(), "INBOX").await.unwrap();
    assert_eq!(stored, Some(step.cursor), "the cursor moved with the report");
    let known = [keys::ingest_delivery(&"a1".into(), "test", "1"), "other".into()];
    assert_eq!(bench.kernel.known(&known).await.unwrap(), [true, false]);
}

#[tokio::test]
async fn two_reporters_of_one_mail_at_once_get_one_operation() {
    let bench = Bench::new().await;
    let mail = b"Subject: x\nMessage-ID: <1@b.example>\n\nHi\n".as_slice();
    let reports = (0..50).map(|at| bench.take(vec![sighting(&at.to_string(), mail)]));
    let taken = futures_util::future::join_all(reports).await;
    let new = taken.iter().filter(|taken| taken[0].verdict == Verdict::New).count();
    assert_eq!((new, bench.rings()), (1, 1), "one of fifty has the right to act");
    assert_eq!(bench.db().number("SELECT count(*) FROM notification_operations", []), 1);
    assert_eq!(bench.db().number("SELECT sightings FROM processed_messages", []), 50);
}

#[tokio::test]
async fn a_name_without_headers_is_held_until_the_mail_comes_and_then_decided_with_its_facts() {
    let bench = Bench::new().await;
    let in_job = bench.kernel.clone();
    let read = ringonce_engine::model::mailbox::Mailbox {
        imap: Some(ringonce_engine::model::mailbox::ImapServer {
            host: "localhost".to_owned(),
            port: 993,
            tls: ringonce_engine::model::mailbox::Tls::Implicit,
            username: "owner".to_owned(),
            ca_file: None,
            pin: None,
            allow_plaintext: false,
        }),
        ..owner()
    };
    bench
        .kernel
        .store
        .write(move |tx| {
            in_job.reconfigure();
            mailbox::put(tx, &read, NOW)
        })
        .await
        .unwrap();
    let named = Sighting { facts: mail::from_values(Some("<1@b.example>"), None, None, None), ..sighting("1", b"") };
    let taken = bench.take(vec![named]).await;
    assert_eq!((taken[0].decision.as_str(), taken[0].awaits_mail), ("hold", true));
    assert_eq!(bench.rings(), 0, "nothing is told of a name");
    let whole = b"From: Billing <b@b.example>\nSubject: Invoice\nMessage-ID: <1@b.example>\n\nPay\n";
    let taken = bench.take(vec![sighting("2", whole)]).await;
    assert_eq!((taken[0].verdict, taken[0].decision.as_str()), (Verdict::Duplicate, "notify"));
    let payload: Value = serde_json::from_str(
        bench.db().row("SELECT payload FROM notification_outbox", [])["payload"].as_str().unwrap(),
    )
    .unwrap();
    assert_eq!((payload["title"].as_str(), payload["subject"].as_str()), (Some("Billing"), Some("Invoice")));
    let verify = bench.kernel.store.read(ringonce_engine::store::verify::verify).await.unwrap();
    assert_eq!(verify, [], "every invariant holds");
}

#[tokio::test]
async fn a_failed_or_panicking_job_is_undone_alone() {
    let bench = Bench::new().await;
    let store = &bench.kernel.store;
    let good = store.write(|tx| ringonce_engine::store::table::meta::set(tx, "good", "1"));
    let bad = store.write(|tx| {
        ringonce_engine::store::table::meta::set(tx, "bad", "1")?;
        Err::<(), _>(ringonce_engine::store::error::StoreError::closed())
    });
    let mad = store.write(|tx| -> Result<(), _> {
        ringonce_engine::store::table::meta::set(tx, "mad", "1")?;
        panic!("a job that panics")
    });
    let (good, bad, mad) = tokio::join!(good, bad, mad);
    assert!(good.is_ok() && bad.is_err() && mad.is_err());
    let keys = bench.db().rows("SELECT key FROM meta WHERE key IN ('good', 'bad', 'mad')", []);
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert!(store.write(|tx| ringonce_engine::store::table::meta::set(tx, "after", "1")).await.is_ok());
}
