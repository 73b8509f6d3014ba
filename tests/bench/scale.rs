//! What grows with the history: pages, a claim, an intake and a start on 10,000 mails and on 1,000,000.

use std::path::Path;
use std::time::{Duration, Instant};

use ringonce_engine::api::Api;
use ringonce_engine::clock::Clock;
use ringonce_engine::intake;
use ringonce_engine::kernel::Kernel;
use ringonce_engine::model::destination::PauseReason;
use ringonce_engine::model::ids::DestinationId;
use ringonce_engine::model::sighting::{Report, Verdict};
use ringonce_engine::secret::kept::KeptSecrets;
use ringonce_engine::store::table::{destination, mailbox, message, outbox};
use ringonce_engine::store::{FILE_NAME, Store, search};
use ringonce_tests::support::dovecot::Dovecot;
use ringonce_tests::support::phone::{Class, Phone};
use ringonce_tests::support::program::Program;
use serde_json::{Value, json};

use crate::figures::{self, median, ms};
use crate::filled::{self, Filling};
use crate::{intake as sightings, latency};

const FEW: usize = 10_000;
const MANY: usize = 1_000_000;
/// Calls of which the middle one is told; one more goes ahead.
const CALLS: usize = 20;
const STARTS: usize = 5;
/// Rows one claim takes.
const CLAIMED: usize = 4;

/// Figures by name, in ms.
type Figures = Vec<(String, f64)>;

/// Prints the table. `RINGONCE_BENCH_MANY` makes the large history smaller (a multiple of 10,000).
pub(crate) fn print() {
    let many = figures::setting("RINGONCE_BENCH_MANY", MANY);
    println!("Scale: the same on {FEW} mails and on {many}; the middle of {CALLS} calls, of {STARTS} starts; ms");
    let few = measure(FEW);
    println!("{:<56} {:>10} {:>10} {:>8}", "", FEW, many, "ratio");
    for ((name, few), (_, many)) in few.into_iter().zip(measure(many)) {
        println!("{name:<56} {few:>10.2} {many:>10.2} {:>8.1}", many / few);
    }
    println!();
}

fn measure(mails: usize) -> Figures {
    let (dovecot, folder) = (Dovecot::start(), figures::scratch());
    let program = latency::program(folder.path());
    program.add_mailbox(&dovecot, &dovecot.fresh_user(), &[]);
    program.add_unread_mailbox();
    let _phones = [Phone::add(&program, Class::A), Phone::add(&program, Class::C)];
    // The first start of a day makes a copy of the database; this one copies an empty one.
    program.start_headless().stop();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let mut all = fill(&runtime, program.data_dir(), mails);
    all.push(("start until `ready`, one mailbox inside TLS".to_owned(), start(&program)));
    runtime.block_on(async {
        let kernel = open(program.data_dir());
        let api = Api::new(kernel.clone(), KeptSecrets::in_memory().into(), None);
        pages(&api, &kernel, mails, &mut all).await;
        claims(&kernel, &mut all).await;
        intakes(&kernel, &mut all).await;
    });
    all
}

fn open(data_dir: &Path) -> Kernel {
    let clock = Clock::system();
    Kernel::new(Store::open(data_dir, clock.now()).expect("the data folder opens"), clock)
}

/// Fills the database and its search index; what that took, for each mail.
fn fill(runtime: &tokio::runtime::Runtime, data_dir: &Path, mails: usize) -> Figures {
    let kernel = open(data_dir);
    let (mailboxes, destinations) = runtime.block_on(async {
        let configured = kernel.store.write(|tx| {
            let destinations = destination::list(*tx)?;
            destination::mark_paused(tx, &destinations[1].id, Some(PauseReason::Owner))?;
            Ok((mailbox::list(*tx)?, destinations))
        });
        configured.await.expect("it is configured")
    });
    let until_at = kernel.now();
    drop(kernel);
    let pair = |index: usize| [mailboxes[index].mailbox_id.as_str(), mailboxes[index].account_id.as_str()];
    let to = |index: usize| [destinations[index].id.as_str(), destinations[index].recipient.0.as_str()];
    let filling = Filling { first: pair(0), second: pair(1), told: to(0), paused: to(1), until_at };
    let start = Instant::now();
    filled::fill(&data_dir.join(FILE_NAME), mails, &filling);
    let filled_ms = ms(start.elapsed());
    let start = Instant::now();
    runtime.block_on(async {
        let kernel = open(data_dir);
        while kernel.store.write(|tx| search::catch_up(tx, 5000)).await.expect("it is stored") > 0 {}
    });
    let size = std::fs::metadata(data_dir.join(FILE_NAME)).expect("it is a file").len();
    eprintln!("{mails} mails: {size} bytes, filled in {filled_ms:.0} ms, indexed in {:.0} ms", ms(start.elapsed()));
    vec![("bringing a mail into the search index".to_owned(), ms(start.elapsed()) / mails as f64)]
}

/// From the start of the process until it says that every mailbox is watched.
fn start(program: &Program) -> f64 {
    let took = (0..STARTS).map(|_| {
        let start = Instant::now();
        let mut running = program.start_headless();
        let took = ms(start.elapsed());
        running.stop();
        took
    });
    median(took.collect())
}

async fn pages(api: &Api, kernel: &Kernel, mails: usize, all: &mut Figures) {
    let middle = kernel.store.read(move |read| message::list(read, Some(mails as i64 / 2), 1, false)).await;
    let middle = middle.expect("it is there")[0].message_key.0.clone();
    let mailbox = api.call("mailbox.list", json!({})).await.expect("they are there")[1]["status"]["mailbox_id"].clone();
    let order = (mails / 3).to_string();
    let calls: [(&str, &str, Value); 20] = [
        ("status", "status.get", json!({})),
        ("mailboxes", "mailbox.list", json!({})),
        ("history, first page", "history.list", json!({})),
        ("history, a page from the middle", "history.list", json!({"before": middle})),
        ("history of one mailbox", "history.list", json!({"mailbox": mailbox})),
        ("history of one mailbox, from the middle", "history.list", json!({"mailbox": mailbox, "before": middle})),
        ("history: given up", "history.list", json!({"outcome": "dead"})),
        ("history: a word of every mail", "history.list", json!({"text": "warehouse"})),
        ("history: the same, from the middle", "history.list", json!({"text": "warehouse", "before": middle})),
        ("history: a word of one mail", "history.list", json!({"text": order})),
        ("history: a letter", "history.list", json!({"text": "w"})),
        ("history: the beginning of 20,000 words", "history.list", json!({"text": "customer"})),
        ("history: two beginnings", "history.list", json!({"text": "writer12 custom"})),
        ("history: a word of no mail", "history.list", json!({"text": "zebra"})),
        (
            "history of one mailbox: a word, silent",
            "history.list",
            json!({"mailbox": mailbox, "text": "order", "outcome": "silent"}),
        ),
        ("duplicates, first page", "duplicates.list", json!({})),
        ("duplicates, from the middle", "duplicates.list", json!({"before": middle})),
        ("duplicates: a word, a reason", "duplicates.list", json!({"text": "warehouse", "reason": "reconnect"})),
        ("duplicates, summary of 30 days", "duplicates.summary", json!({"days": 30})),
        ("attention", "attention.list", json!({})),
    ];
    for (name, method, params) in calls {
        let mut took = Vec::new();
        for call in 0..=CALLS {
            let start = Instant::now();
            api.call(method, params.clone()).await.expect("the page is there");
            if call > 0 {
                took.push(ms(start.elapsed()));
            }
        }
        all.push((name.to_owned(), median(took)));
    }
}

/// Each takes what waits for the paused destination, newest first.
async fn claims(kernel: &Kernel, all: &mut Figures) {
    let destinations = kernel.store.read(destination::list).await.expect("they are there");
    let paused: DestinationId = destinations[1].id.clone();
    let (mut inside, mut whole) = (Vec::new(), Vec::new());
    for call in 0..=CALLS {
        let (start, now_at, id) = (Instant::now(), kernel.now(), paused.clone());
        let tokens: Vec<_> = (0..CLAIMED).map(|_| kernel.new_token()).collect();
        let claimed = kernel.store.write(move |tx| {
            let start = Instant::now();
            let rows = outbox::claim(tx, &id, &tokens, now_at + 120_000, None, now_at)?;
            outbox::next_due_at(*tx, &id, None)?;
            Ok((rows.len(), start.elapsed()))
        });
        let (rows, took): (usize, Duration) = claimed.await.expect("it is stored");
        assert_eq!(rows, CLAIMED, "so many wait");
        if call > 0 {
            inside.push(ms(took));
            whole.push(ms(start.elapsed()));
        }
    }
    all.push((format!("a claim of {CLAIMED}, without its commit"), median(inside)));
    all.push((format!("a claim of {CLAIMED}, with its commit"), median(whole)));
}

async fn intakes(kernel: &Kernel, all: &mut Figures) {
    let owner = kernel.store.read(mailbox::list).await.expect("they are there").remove(0);
    for (name, expected) in [("an intake of one new mail", Verdict::New), ("the same mail again", Verdict::Repeat)] {
        let mut took = Vec::new();
        for number in 0..=CALLS {
            let mut one = sightings::sighting(number, "webhook");
            (one.mailbox_id, one.account_id) = (owner.mailbox_id.clone(), owner.account_id.clone());
            let report = Report { sightings: vec![one], ..Report::default() };
            let start = Instant::now();
            let taken = intake::take_in(kernel, report).await.expect("the report is stored");
            assert_eq!(taken[0].verdict, expected, "what was to be measured");
            if number > 0 {
                took.push(ms(start.elapsed()));
            }
        }
        all.push((format!("{name}, with its commit"), median(took)));
    }
}
