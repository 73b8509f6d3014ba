//! A temporary error: the retry has the same key and the same bytes, each attempt is a row, and when all are used up
//! the notification is dead.

use serde_json::json;

use crate::outbox::{LIMIT, assert_same_request, attempt, attempts, notification, operation_status, wait_status};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;

/// The channel fails so at first, and then accepts: how the failed attempts are recorded.
#[track_caller]
fn check(failures: &[Mode], recorded: &[(&str, &str)]) {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.next(failures.iter().cloned());
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Try again").bytes());
    let requests = peer.wait_writes(failures.len() + 1, LIMIT);
    program.settle();
    let told = notification(&program, &put["message_key"], "phone");
    let mut expected: Vec<_> = recorded.iter().map(|(outcome, code)| attempt(outcome, code)).collect();
    expected.push(attempt("accepted", ""));
    assert_eq!(attempts(&program, &told), expected, "{failures:?}");
    assert_same_request(&requests, &told);
    assert_eq!((&told["status"], &told["last_error"]), (&json!("completed"), &json!(null)));
    assert_eq!((requests.len(), peer.app().taken().len()), (failures.len() + 1, 1), "tried again, taken once");
    assert_eq!(operation_status(&program, &put["message_key"]), "completed");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_server_in_trouble_is_tried_again_with_the_same_key() {
    check(
        &[Mode::status(503), Mode::status(503)],
        &[("deferred", "temporary_unavailable"), ("deferred", "temporary_unavailable")],
    );
}

#[test]
fn a_full_one_is_obeyed() {
    check(
        &[Mode::retry_after(429, 1), Mode::retry_after(503, 1)],
        &[("deferred", "rate_limit"), ("deferred", "temporary_unavailable")],
    );
}

#[test]
fn what_retry_after_asks_for_is_not_counted() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    program.set(&[("processing.max_attempts", "2")]);
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.next([Mode::retry_after(429, 1), Mode::retry_after(429, 1), Mode::retry_after(429, 1)]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Patience").bytes());
    peer.wait_writes(4, LIMIT);
    program.settle();
    let told = notification(&program, &put["message_key"], "phone");
    assert_eq!((&told["status"], &told["attempt"]), (&json!("completed"), &json!(1)), "only the accepted one counts");
    assert_eq!(attempts(&program, &told).len(), 4, "each is a row all the same");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_refused_connection_is_tried_until_somebody_answers() {
    let (mut peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    program.set(&[("processing.max_attempts", "100")]);
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.down();
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Nobody home").bytes());
    let waiting = wait_status(&program, &put["message_key"], "phone", "pending");
    assert_eq!(operation_status(&program, &put["message_key"]), "processing");
    peer.up();
    peer.wait_taken(1, LIMIT);
    program.settle();
    let told = notification(&program, &put["message_key"], "phone");
    let tried = attempts(&program, &told);
    let (last, failed) = tried.split_last().unwrap();
    assert_eq!(last, &attempt("accepted", ""));
    assert!(
        !failed.is_empty() && failed.iter().all(|one| one == &attempt("deferred", "connection_reset")),
        "{tried:?}"
    );
    assert_eq!(told["dispatch_key"], waiting["dispatch_key"]);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn used_up_attempts_make_a_dead_letter_and_the_owner_sends_it_again() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    program.set(&[("processing.max_attempts", "2"), ("retry.ladder_seconds", "86400")]);
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(503));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Dead").bytes());
    let dead = wait_status(&program, &put["message_key"], "phone", "dead");
    assert_eq!((&dead["reason"], &dead["attempt"]), (&json!("used up"), &json!(2)));
    assert_eq!(operation_status(&program, &put["message_key"]), "completed", "nothing of it is open");
    let listed = &program.json(&["attention"])[0];
    assert_eq!(
        (&listed["status"], &listed["subject"], &listed["dispatch_key"]),
        (&json!("dead"), &json!("Dead"), &dead["dispatch_key"])
    );
    assert_eq!(listed["last_error"]["code"], "temporary_unavailable");
    assert_eq!(program.json(&["status"])["dead"], 1);

    peer.set(Mode::Accept);
    let prefix = &dead["dispatch_key"].as_str().unwrap()[..8];
    assert_eq!(program.json(&["retry", prefix])["status"], "pending", "eight digits name it");
    peer.wait_taken(1, LIMIT);
    program.settle();
    let told = notification(&program, &put["message_key"], "phone");
    assert_eq!((&told["status"], &told["round"]), (&json!("completed"), &json!(2)));
    assert_same_request(&peer.writes(), &told);
    assert_eq!(attempts(&program, &told).len(), 3);
    assert_eq!(
        (program.json(&["attention"]), operation_status(&program, &put["message_key"])),
        (json!([]), "completed".to_owned())
    );
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_refusal_is_not_tried_again() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(404));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Refused").bytes());
    let dead = wait_status(&program, &put["message_key"], "phone", "dead");
    program.settle();
    assert_eq!((&dead["reason"], attempts(&program, &dead).len()), (&json!("rejected"), 1));
    assert_eq!(peer.writes().len(), 1, "neither the backoff nor the ladder asks again");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_dead_destination_delays_nobody_else() {
    let (slow, quick, program) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("slow", &slow, &[]);
    program.add_webhook("quick", &quick, &[]);
    slow.set(Mode::Hang);
    let mut running = program.start_headless();
    let mut keys = Vec::new();
    for number in 0..8 {
        keys.push(program.ingest(&mailbox, &[], Mail::new(&format!("Number {number}")).bytes())["message_key"].clone());
    }
    quick.wait_taken(8, LIMIT);
    for key in &keys {
        wait_status(&program, key, "quick", "completed");
        assert_ne!(notification(&program, key, "slow")["status"], "completed", "the other one still hangs");
    }
    running.kill9();
    program.assert_sound();
}
