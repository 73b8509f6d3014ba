//! Intake: mails and repeats a second into a real data folder, with one destination configured.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ringonce_engine::clock::Clock;
use ringonce_engine::identity::keys;
use ringonce_engine::intake;
use ringonce_engine::kernel::Kernel;
use ringonce_engine::model::destination::{Destination, Policy, Privacy};
use ringonce_engine::model::ids::{AccountId, DestinationId, MailboxId};
use ringonce_engine::model::mailbox::{FolderCursor, Mailbox, SpecialUse};
use ringonce_engine::model::message::{BodyFacts, MailFacts, SentAt};
use ringonce_engine::model::sighting::{CursorMove, Intent, ProviderId, Report, Sighting, Verdict};
use ringonce_engine::store::table::{destination, mailbox};
use ringonce_engine::store::{FILE_NAME, Store};
use rusqlite::Connection;

use crate::baseline;
use crate::figures::{self, Processor, median};

/// Sightings of one measurement.
const MAILS: usize = 100_000;
/// A page of a catch-up.
const PAGE: usize = 200;
/// Reports of one mail each that are in hand at a time.
const TASKS: usize = 256;
const ROUNDS: usize = 3;

const NOW_AT: i64 = 1_767_225_600_000;

/// Prints the table. `RINGONCE_BENCH_MAILS` and `RINGONCE_BENCH_ROUNDS` make it shorter, for a profiler; with
/// `RINGONCE_BENCH_LISTS=0` the tables lack what only the lists of the window need, so that one sees what that costs.
pub(crate) fn print() {
    let mails = figures::setting("RINGONCE_BENCH_MAILS", MAILS);
    let rounds = figures::setting("RINGONCE_BENCH_ROUNDS", ROUNDS);
    println!("Intake: {mails} sightings, one destination, synchronous=FULL; the middle of {rounds} rounds");
    let rounds: Vec<Round> = (0..rounds).map(|_| round(mails)).collect();
    println!("{:<44} {:>10} {:>8} {:>9} {:>9} {:>9}", "", "a second", "of bare", "us writer", "us others", "us waits");
    let bare = median(rounds.iter().map(|round| round.bare).collect());
    for (index, name) in STEPS.iter().enumerate() {
        let of = |pick: fn(&Step) -> f64| median(rounds.iter().map(|round| pick(&round.steps[index])).collect());
        println!(
            "{name:<44} {:>10.0} {:>8.2} {:>9.1} {:>9.1} {:>9.1}",
            of(|step| step.rate),
            of(|step| step.rate) / bare,
            of(|step| step.writer_us),
            of(|step| step.others_us),
            of(|step| step.waits_us),
        );
    }
    let bytes = rounds[0].bytes;
    println!("{:<44} {bare:>10.0} {:>8.2}", format!("bare rows of {bytes} bytes, two indexes"), 1.0);
    println!("one 4 KiB append with fdatasync: {:.2} ms", median(rounds.iter().map(|round| round.sync_ms).collect()));
    println!(
        "`us` columns are microseconds a mail: processor of the writer thread, of the rest, and neither of them\n"
    );
}

const STEPS: [&str; 5] = [
    "new, in pages of 200",
    "the same deliveries again, in pages of 200",
    "the same mails by another path, in pages",
    "new, 256 reports of one mail at a time",
    "the same again, 256 reports at a time",
];

struct Round {
    steps: Vec<Step>,
    bare: f64,
    bytes: usize,
    sync_ms: f64,
}

struct Step {
    rate: f64,
    writer_us: f64,
    others_us: f64,
    waits_us: f64,
}

/// One round in a new data folder.
fn round(mails: usize) -> Round {
    let folder = figures::scratch();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let sync_ms = median(figures::syncs_ms(folder.path()));
    let steps = runtime.block_on(async {
        let kernel = open(folder.path()).await;
        let mut steps = Vec::new();
        for (path, expected) in [("imap", Verdict::New), ("imap", Verdict::Repeat), ("webhook", Verdict::Duplicate)] {
            steps.push(timed(mails, in_pages(&kernel, path, mails, expected)).await);
        }
        for expected in [Verdict::New, Verdict::Repeat] {
            steps.push(timed(mails, one_by_one(&kernel, mails, expected)).await);
        }
        steps
    });
    // One row as long as what a mail's main row holds.
    let bytes = 700;
    let bare = baseline::rows_a_second(folder.path(), mails, PAGE, bytes);
    Round { steps, bare, bytes, sync_ms }
}

async fn timed(mails: usize, work: impl Future<Output = ()>) -> Step {
    let (before, start) = (Processor::used(), Instant::now());
    work.await;
    let (wall, used) = (start.elapsed().as_secs_f64(), Processor::used().since(before));
    let each = |seconds: f64| seconds * 1e6 / mails as f64;
    Step {
        rate: mails as f64 / wall,
        writer_us: each(used.writer),
        others_us: each(used.others),
        waits_us: each((wall - used.writer - used.others).max(0.0)),
    }
}

async fn open(folder: &Path) -> Kernel {
    if figures::setting("RINGONCE_BENCH_LISTS", 1) == 0 {
        drop(Store::open(folder, NOW_AT).expect("a new data folder opens"));
        drop_lists(&folder.join(FILE_NAME));
    }
    let store = Store::open(folder, NOW_AT).expect("a new data folder opens");
    let kernel = Kernel::new(store, Clock::system());
    let in_job = kernel.clone();
    let configured = kernel.store.write(move |tx| {
        mailbox::put(tx, &owner(), NOW_AT)?;
        destination::put(tx, &phone(), NOW_AT)?;
        in_job.reconfigure();
        Ok(())
    });
    configured.await.expect("it can be configured");
    kernel
}

fn drop_lists(database: &Path) {
    let connection = Connection::open(database).expect("nobody has it open");
    let list = "SELECT 'DROP ' || type || ' ' || name FROM sqlite_schema WHERE type = 'trigger' OR name IN
        ('processed_messages_listed', 'processed_messages_listed_at', 'processed_messages_repeated',
         'processed_messages_account', 'notification_outbox_unknown')";
    let mut statement = connection.prepare(list).expect("it is SQL");
    let rows = statement.query_map([], |row| row.get(0)).expect("it is a list");
    let drops: Vec<String> = rows.map(|row| row.expect("a text")).collect();
    connection.execute_batch(&drops.join(";")).expect("they are there");
}

async fn in_pages(kernel: &Kernel, path: &'static str, mails: usize, expected: Verdict) {
    let mut number = 0;
    while number < mails {
        let page = number..(number + PAGE).min(mails);
        number = page.end;
        let cursor = CursorMove {
            account_id: owner().account_id,
            folder: "INBOX".to_owned(),
            cursor: FolderCursor { uid_validity: 1, next_uid: number as u32, ..FolderCursor::default() },
        };
        let report =
            Report { sightings: page.map(|n| sighting(n, path)).collect(), cursor: Some(cursor), ..Report::default() };
        let taken = intake::take_in(kernel, report).await.expect("the report is stored");
        assert!(taken.iter().all(|one| one.verdict == expected), "{expected:?} was measured");
    }
}

/// Many reports of one mail each, as webhooks bring them.
async fn one_by_one(kernel: &Kernel, mails: usize, expected: Verdict) {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (kernel, next) = (kernel.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if number >= mails {
                        return;
                    }
                    let report =
                        Report { sightings: vec![sighting(1_000_000 + number, "webhook")], ..Report::default() };
                    let taken = intake::take_in(&kernel, report).await.expect("the report is stored");
                    assert_eq!(taken[0].verdict, expected, "what was to be measured");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no task panics");
    }
}

fn owner() -> Mailbox {
    Mailbox {
        account_id: AccountId::from("bench-account"),
        mailbox_id: MailboxId::from("owner@example.org"),
        email: "owner@example.org".to_owned(),
        imap: None,
        folders: vec!["INBOX".to_owned()],
        link_template: None,
        paused: false,
    }
}

fn phone() -> Destination {
    Destination {
        id: DestinationId::from("bench-destination"),
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

/// A mail as a server with GUIDs reports it.
pub(crate) fn sighting(number: usize, path: &str) -> Sighting {
    let account_id = owner().account_id;
    let uid = u32::try_from(number + 1).expect("a UID has 32 bits");
    let delivery_key = match path {
        "imap" => keys::imap_delivery(&account_id, "INBOX", 1, uid),
        _ => keys::webhook_delivery("bench-endpoint", &format!("event-{number}")),
    };
    let from_address = format!("author{}@news.example.com", number % 997);
    Sighting {
        account_id,
        mailbox_id: owner().mailbox_id,
        delivery_key,
        source: path.to_owned(),
        locator: format!("INBOX;UIDVALIDITY=1;UID={uid}"),
        provider_ids: vec![ProviderId::new("guid", keys::sha256_hex(&number.to_be_bytes())[..32].to_owned())],
        facts: MailFacts {
            message_id: Some(format!("{number:012}.1767225600.mailer@news.example.com")),
            from_address: Some(from_address),
            from_name: Some("Somebody Who Writes".to_owned()),
            to: vec!["owner@example.org".to_owned()],
            subject: Some(format!("Your order {number} has left the warehouse")),
            sent_at: Some(SentAt { text: "2026-01-01T00:00:00Z".to_owned(), at: Some(NOW_AT) }),
            list_id: None,
            body: Some(BodyFacts {
                sha256: keys::sha256_hex(format!("body {number}").as_bytes()),
                preview: format!("Dear customer, your order {number} was handed to the carrier today. ").repeat(3),
            }),
        },
        received_at: Some(NOW_AT + 1000),
        folder: Some("INBOX".to_owned()),
        special_use: SpecialUse::None,
        intent: Intent::Arrival,
    }
}
