//! Two at once with one key: one has the right to act, the other is a repeat.

use std::sync::Barrier;
use std::thread;

use ringonce_engine::model::ids::{DestinationId, LeaseToken};
use ringonce_engine::store::Store;
use ringonce_engine::store::table::outbox;
use serde_json::Value;

use crate::dedupe::{LIMIT, counts, notification};
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;

/// `ingest` of one mail by two processes at once; their verdicts, sorted.
fn ingest_twice(program: &Program, mailbox: &str, mail: &[u8]) -> Vec<String> {
    let barrier = Barrier::new(2);
    let put = |path: &'static str| {
        barrier.wait();
        let put: Value = program.ingest(mailbox, &["--path", path], mail);
        put["verdict"].as_str().unwrap_or_default().to_owned()
    };
    thread::scope(|scope| {
        let both = ["webhook", "imap"].map(|path| scope.spawn(move || put(path)));
        let mut verdicts: Vec<String> = both.into_iter().map(|one| one.join().expect("it ends")).collect();
        verdicts.sort();
        verdicts
    })
}

#[test]
fn two_processes_with_one_mail_have_one_right_to_send() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    // While nothing runs, both write themselves, one after the other by the lock.
    assert_eq!(ingest_twice(&program, &mailbox, &Mail::new("At rest").bytes()), ["duplicate", "new"]);
    assert_eq!(counts(&program), [1, 2, 1, 1, 0]);
    let mut running = program.start_headless();
    peer.wait_taken(1, LIMIT);
    for round in 2..=6 {
        let mail = Mail::new(&format!("Running {round}")).bytes();
        assert_eq!(ingest_twice(&program, &mailbox, &mail), ["duplicate", "new"]);
        program.settle();
        assert_eq!(counts(&program), [round, 2 * round, round, round, round]);
    }
    assert_eq!(peer.app().taken().len(), 6, "one ring a mail");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn two_senders_that_claim_one_row_at_once_have_one_lease() {
    let program = Program::new();
    let mailbox = program.add_unread_mailbox();
    let peer = HttpPeer::start(Receiver::new());
    let destination = program.add_webhook("phone", &peer, &[]);
    for _ in 0..20 {
        program.ingest(&mailbox, &[], Mail::new("Wanted by two").bytes());
    }
    let now_at = jiff::Timestamp::now().as_millisecond();
    let barrier = Barrier::new(2);
    // Each with its own connection, as two processes would be: what decides is the database.
    let claim_all = |name: &str| -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = Store::open(program.data_dir(), now_at).expect("the data folder opens");
        let mut claimed = Vec::new();
        for round in 0..40 {
            let tokens = [LeaseToken(format!("{name}.{round}"))];
            let id = DestinationId(destination.clone());
            barrier.wait();
            let claim = store.write(move |tx| outbox::claim(tx, &id, &tokens, now_at + 60_000, None, now_at + 1000));
            claimed.extend(runtime.block_on(claim).expect("the claim is written"));
        }
        claimed.into_iter().map(|row| row.dispatch_key.0).collect()
    };
    let claim_all = &claim_all;
    let [mut first, second] = thread::scope(|scope| {
        ["a", "b"].map(|name| scope.spawn(move || claim_all(name))).map(|one| one.join().expect("it ends"))
    });
    first.extend(second);
    assert_eq!(first.len(), 20, "each row has one holder");
    first.sort();
    first.dedup();
    assert_eq!(first.len(), 20, "and no row has two");
    assert_eq!(counts(&program)[4], 20, "one attempt was begun of each");
}

#[test]
fn a_second_program_on_one_data_folder_is_refused_with_the_pid_of_the_first() {
    let program = Program::new();
    let mailbox = program.add_unread_mailbox();
    let peer = HttpPeer::start(Receiver::new());
    program.add_webhook("phone", &peer, &[]);
    program.ingest(&mailbox, &[], Mail::new("One holder").bytes());
    let before = notification(&program);
    assert_eq!((before["status"].as_str(), &before["lease_token"]), (Some("pending"), &Value::Null));
    let mut running = program.start_headless();
    // A second program on the folder is refused before it could claim anything.
    let refused = program.run(&["run", "--headless"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains(&running.pid().to_string()), "it names who holds it: {}", refused.stderr);
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(counts(&program), [1, 1, 1, 1, 1]);
    assert!(running.stop().success());
    program.assert_sound();
}
