//! The channel accepted and the answer was lost, where that can be made good: a receiver that drops copies gets the
//! same key again (class A), and one that can be asked is asked (class B).

use serde_json::{Value, json};

use crate::outbox::{
    LIMIT, alarms, assert_same_request, attempt, attempts, notification, operation_status, wait_status,
};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::ntfy_peer::Ntfy;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait;

/// Ways to lose an answer.
const LOST: [Mode; 4] = [Mode::AcceptThenClose, Mode::AcceptThenReset, Mode::AcceptThenHang, Mode::AcceptThenCut];

#[test]
fn a_receiver_that_drops_copies_gets_the_same_key_again() {
    let (peer, program) = (HttpPeer::start(Receiver::deduplicating()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_deduplicating_webhook("phone", &peer);
    let mut running = program.start_headless();
    // A server in trouble may have stored it before it failed.
    for (number, mode) in (1..).zip(LOST.into_iter().chain([Mode::status(500)])) {
        peer.next([mode.clone()]);
        let put = program.ingest(&mailbox, &[], Mail::new(&format!("Lost {number}")).bytes());
        let told = wait_status(&program, &put["message_key"], "phone", "completed");
        let requests = peer.writes();
        let of_this: Vec<_> = requests
            .into_iter()
            .filter(|request| request.header("webhook-id") == told["dispatch_key"].as_str())
            .collect();
        assert_same_request(&of_this, &told);
        let tried = attempts(&program, &told);
        let (last, before) = tried.split_last().expect("attempts");
        assert_eq!((of_this.len(), last), (2, &attempt("accepted", "")), "{mode:?}: {tried:?}");
        // A reset of a line that was used before is made good inside the attempt.
        assert!(before.iter().all(|one| one.0 == "unknown") && before.len() <= 1, "{mode:?}: {tried:?}");
        assert_eq!(told["external_message_id"], format!("taken-{number}"), "the id of the first delivery");
        assert_eq!(peer.app().taken().len(), number, "{mode:?}: one real delivery");
    }
    assert_eq!(alarms(&program, "uncertain"), [""; 0], "the owner need not know");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn ntfy_is_asked_and_what_it_has_is_not_published_again() {
    let (peer, program) = (HttpPeer::start(Ntfy::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_ntfy("phone", &peer, &[]);
    let mut running = program.start_headless();
    for (number, mode) in (1..).zip(LOST) {
        peer.next([mode.clone()]);
        let put = program.ingest(&mailbox, &[], Mail::new(&format!("Asked {number}")).bytes());
        let told = wait_status(&program, &put["message_key"], "phone", "completed");
        assert_eq!(attempts(&program, &told).len(), 1, "{mode:?}: one publish");
        assert_eq!(attempts(&program, &told)[0].0, "unknown", "what the attempt saw stays as it was");
        let published = peer.app().published().to_vec();
        assert_eq!(published.len(), number, "{mode:?}: no second publish");
        assert_eq!(told["external_message_id"], published[number - 1]["id"], "found by its sequence id");
        assert_eq!(operation_status(&program, &put["message_key"]), "completed");
    }
    assert_eq!(alarms(&program, "uncertain"), [""; 0]);
    assert_eq!(program.json(&["attention"]), json!([]));
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn what_ntfy_surely_does_not_have_is_published_again() {
    let (peer, program) = (HttpPeer::start(Ntfy::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_ntfy("phone", &peer, &[]);
    let mut running = program.start_headless();
    let first = program.ingest(&mailbox, &[], Mail::new("Shown by the cache").bytes());
    wait_status(&program, &first["message_key"], "phone", "completed");
    for mode in [Mode::Close, Mode::Reset, Mode::Hang] {
        peer.next([mode.clone()]);
        let put = program.ingest(&mailbox, &[], Mail::new("Never came").bytes());
        let told = wait_status(&program, &put["message_key"], "phone", "completed");
        let tried = attempts(&program, &told);
        assert_eq!(tried.len(), 2, "{mode:?}: {tried:?}");
        assert_eq!((tried[0].0.as_str(), &tried[1]), ("unknown", &attempt("accepted", "")), "{mode:?}");
        assert_eq!(told["may_be_repeat"], 0, "it is no copy");
    }
    assert_eq!(peer.app().published().len(), 4, "each once");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_publish_that_arrives_late_is_waited_for_and_found() {
    let (peer, program) = (HttpPeer::start(Ntfy::new()), Program::new());
    program.hurry();
    program.set(&[("reconcile.lookup_settle_seconds", "3")]);
    let mailbox = program.add_unread_mailbox();
    program.add_ntfy("phone", &peer, &[]);
    let mut running = program.start_headless();
    peer.next([Mode::CloseThenAcceptAfter(wait::secs(1))]);
    let put = program.ingest(&mailbox, &[], Mail::new("On its way").bytes());
    wait_status(&program, &put["message_key"], "phone", "uncertain");
    assert_eq!(operation_status(&program, &put["message_key"]), "processing", "uncertain is open");
    let told = wait_status(&program, &put["message_key"], "phone", "completed");
    assert_eq!((attempts(&program, &told).len(), peer.app().published().len()), (1, 1), "no second publish");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_lookup_that_fails_is_repeated_and_holds_nothing_else_up() {
    let (peer, program) = (HttpPeer::start(Ntfy::new()), Program::new());
    program.hurry();
    program.set(&[("processing.lease_seconds", "10"), ("processing.call_timeout_seconds", "5")]);
    let mailbox = program.add_unread_mailbox();
    program.add_ntfy("phone", &peer, &[]);
    let mut running = program.start_headless();
    peer.set_reads(Mode::Hang);
    peer.next([Mode::AcceptThenClose]);
    let lost = program.ingest(&mailbox, &[], Mail::new("Asked in vain").bytes());
    wait_status(&program, &lost["message_key"], "phone", "uncertain");
    let asked = |count: usize| {
        wait::until("the channel is asked", LIMIT, || peer.requests().len() - peer.writes().len() >= count);
    };
    asked(1);
    // The first question hangs; a new mail is told all the same, before that question is given up.
    let fresh = program.ingest(&mailbox, &[], Mail::new("Fresh").bytes());
    wait_status(&program, &fresh["message_key"], "phone", "completed");
    assert_eq!(notification(&program, &lost["message_key"], "phone")["lookups"], 0, "the question is still open");
    asked(3);
    assert_eq!(notification(&program, &lost["message_key"], "phone")["status"], "uncertain");
    peer.set_reads(Mode::Accept);
    let told = wait_status(&program, &lost["message_key"], "phone", "completed");
    assert!(told["lookups"].as_i64().unwrap() > 0, "the failed questions are counted: {told}");
    assert_eq!(peer.app().published().len(), 2, "no second publish");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn where_ntfy_cannot_say_it_is_held() {
    let (peer, other, program) = (HttpPeer::start(Ntfy::new()), HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_ntfy("phone", &peer, &[]);
    program.add_webhook("other", &other, &["--fallback-only"]);
    peer.app().deny_reads = true;
    peer.next([Mode::AcceptThenClose]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Nobody may read").bytes());
    let taken = other.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "May not have arrived: Nobody may read");
    let held = notification(&program, &put["message_key"], "phone");
    assert_eq!((&held["status"], attempts(&program, &held).len()), (&json!("uncertain"), 1));
    assert_eq!(peer.app().published().len(), 1, "never a blind copy");
    let listed: Value = program.json(&["attention"]);
    assert_eq!((&listed[0]["status"], &listed[0]["subject"]), (&json!("uncertain"), &json!("Nobody may read")));
    program.ok(&["mark-delivered", held["dispatch_key"].as_str().unwrap()], "");
    assert!(running.stop().success());
    program.assert_sound();
}
