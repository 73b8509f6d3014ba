//! Killed between registering and sending: it goes on after a restart, and rings once.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::json;

use crate::outbox::{LIMIT, attempt, attempts, notification, operation_status};
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait;

#[test]
fn killed_after_the_mail_is_registered_it_rings_after_the_restart() {
    let (dovecot, peer, mut program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    program.crash_at(Some("mark_before_commit"));
    let mut running = program.start_headless();
    dovecot.deliver(&user, &Mail::new("Survives").bytes());
    assert_eq!(running.wait_exit(LIMIT).signal(), Some(6), "it is gone at the point");
    let mail = program.db().row("SELECT message_key FROM processed_messages", []);
    let key = &mail["message_key"];
    assert_eq!(operation_status(&program, key), "processing", "registered");
    assert_eq!(peer.requests().len(), 0, "and nothing sent");
    // At this border the data are whole, although the program is dead.
    program.assert_sound();

    program.crash_at(None);
    let mut running = program.start_headless();
    peer.wait_taken(1, LIMIT);
    program.settle();
    let told = notification(&program, key, "phone");
    let tried = attempts(&program, &told);
    assert_eq!(tried.last(), Some(&attempt("accepted", "")), "{tried:?}");
    assert!(
        tried[..tried.len() - 1].iter().all(|one| one.0 == "abandoned"),
        "what the dead run began was given up: {tried:?}"
    );
    assert_eq!((&told["status"], operation_status(&program, key)), (&json!("completed"), "completed".to_owned()));
    assert_eq!(peer.app().taken().len(), 1, "one ring");
    assert_eq!(program.db().number("SELECT count(*) FROM deliveries", []), 1, "the folder's cursor had moved with it");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn what_was_put_in_while_nothing_ran_is_sent_at_the_start() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let put = program.ingest(&mailbox, &[], Mail::new("Waiting").bytes());
    assert_eq!(notification(&program, &put["message_key"], "phone")["status"], "pending");
    assert_eq!(program.json(&["status"])["running"], false);
    let mut running = program.start_headless();
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(program.json(&["status"])["running"], true);
    assert!(running.stop().success());
    assert_eq!(notification(&program, &put["message_key"], "phone")["status"], "completed");
    program.assert_sound();
}

#[test]
fn killed_while_the_retry_waits_it_is_tried_again_with_the_same_key() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(503));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Between two tries").bytes());
    wait::until("the first attempt is settled", LIMIT, || {
        program.db().number("SELECT count(*) FROM attempts WHERE outcome = 'deferred'", []) > 0
    });
    running.kill9();
    let before = notification(&program, &put["message_key"], "phone");
    peer.set(Mode::Accept);
    let mut running = program.start_headless();
    let taken = peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(taken[0].key.as_deref(), before["dispatch_key"].as_str(), "the same key");
    assert_eq!(notification(&program, &put["message_key"], "phone")["payload"], before["payload"], "the same text");
    assert_eq!(peer.app().taken().len(), 1, "one ring");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_stop_finishes_the_call_in_hand() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::AcceptAnswerAfter(std::time::Duration::from_secs(1)));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("In hand").bytes());
    peer.wait_taken(1, LIMIT);
    assert!(running.stop().success());
    let told = notification(&program, &put["message_key"], "phone");
    assert_eq!((&told["status"], attempts(&program, &told)), (&json!("completed"), vec![attempt("accepted", "")]));
    program.assert_sound();
}
