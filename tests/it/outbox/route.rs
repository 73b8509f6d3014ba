//! Routes: a fallback takes over with a row of its own, the slow ladder begins again at the primary, who is covered
//! is cancelled, and refused credentials stop the destination.

use serde_json::{Value, json};

use crate::outbox::{LIMIT, attempt, attempts, notification, operation_status, wait_status};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::{Receiver, Taken};
use crate::support::wait;

struct Pair {
    primary: HttpPeer<Receiver>,
    fallback: HttpPeer<Receiver>,
    program: Program,
    mailbox: String,
}

/// Two webhooks in one route; two attempts a round.
fn pair() -> Pair {
    let (primary, fallback) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()));
    let program = Program::new();
    program.hurry();
    program.set(&[("processing.max_attempts", "2")]);
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("primary", &primary, &[]);
    program.add_webhook("fallback", &fallback, &["--fallback-only"]);
    program.ok(&["route", "add", "main", "--to", "primary", "--fallback", "fallback"], "");
    Pair { primary, fallback, program, mailbox }
}

/// Subjects of what a receiver took, in order.
fn subjects(peer: &HttpPeer<Receiver>) -> Vec<String> {
    let text = |taken: &Taken| taken.request.json()["subject"].as_str().unwrap_or_default().to_owned();
    peer.app().taken().iter().map(text).collect()
}

#[test]
fn the_fallback_takes_over_with_a_row_of_its_own() {
    let Pair { primary, fallback, program, mailbox } = pair();
    primary.set(Mode::status(503));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("By the second").bytes());
    primary.wait_writes(1, LIMIT);
    let found = |filter: Value| program.call("history.list", filter)[0]["message_key"].clone();
    assert_eq!(found(json!({"text": "second"})), put["message_key"], "it is in the search index now");
    let taken = fallback.wait_taken(1, LIMIT);
    assert_eq!(found(json!({"destination": "fallback"})), put["message_key"], "found by whom it is told now");
    program.settle();
    let [failed, told] = ["primary", "fallback"].map(|name| notification(&program, &put["message_key"], name));
    assert_ne!(failed["dispatch_key"], told["dispatch_key"], "another recipient, another key");
    assert_eq!(taken[0].key.as_deref(), told["dispatch_key"].as_str());
    assert_eq!(attempts(&program, &failed), vec![attempt("deferred", "temporary_unavailable"); 2]);
    assert_eq!(attempts(&program, &told), [attempt("accepted", "")]);
    assert_eq!((&failed["status"], &told["status"]), (&json!("cancelled"), &json!("completed")));
    assert!(failed["reason"].as_str().unwrap().starts_with("covered by"), "{failed}");
    assert_eq!(operation_status(&program, &put["message_key"]), "completed");
    assert_eq!(program.json(&["attention"]), json!([]), "the owner was told: nothing to look at");
    // The next mail begins at the primary again.
    primary.set(Mode::Accept);
    program.ingest(&mailbox, &[], Mail::new("By the first").bytes());
    primary.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(fallback.app().taken().len(), 1);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn when_all_of_a_route_failed_the_ladder_begins_again_at_the_primary() {
    let Pair { primary, fallback, program, mailbox } = pair();
    program.set(&[("retry.ladder_seconds", "1,1,86400")]);
    primary.set(Mode::status(503));
    fallback.set(Mode::status(503));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Climbs").bytes());
    // Two rounds of two attempts each fail at both.
    primary.wait_writes(4, LIMIT);
    fallback.wait_writes(4, LIMIT);
    primary.set(Mode::Accept);
    primary.wait_taken(1, LIMIT);
    wait_status(&program, &put["message_key"], "primary", "completed");
    program.settle();
    let [told, covered] = ["primary", "fallback"].map(|name| notification(&program, &put["message_key"], name));
    assert_eq!((&told["round"], &covered["status"]), (&json!(3), &json!("cancelled")));
    assert_eq!(fallback.app().taken().len(), 0);
    assert_eq!(program.db().number("SELECT count(*) FROM ladders", []), 0, "nothing waits any more");
    assert_eq!(operation_status(&program, &put["message_key"]), "completed");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn refused_credentials_pause_the_destination_and_hand_on() {
    let Pair { primary, fallback, program, mailbox } = pair();
    primary.set(Mode::status(401));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Locked out").bytes());
    fallback.wait_taken(1, LIMIT);
    let refused = wait_status(&program, &put["message_key"], "primary", "cancelled");
    assert_eq!(attempts(&program, &refused), [attempt("rejected", "authentication_error")]);
    assert_eq!(refused["attempt"], 0, "the refused attempt is not counted");
    let state = |name: &str| {
        let rows = program.json(&["destination", "list"]);
        let rows = rows.as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((state("primary"), state("fallback")), (json!("sign_in"), json!("ready")));
    // While it is paused the fallback has its row at intake, and the primary's waits.
    let second = program.ingest(&mailbox, &[], Mail::new("Still locked out").bytes());
    // Its owner hears of it by what still works.
    let alarm = "primary refuses the sign-in: nothing is sent to it";
    wait::until("the owner is told", LIMIT, || subjects(&fallback).iter().any(|subject| subject == alarm));
    fallback.wait_taken(3, LIMIT);
    program.settle();
    assert_eq!(primary.writes().len(), 1, "a paused destination is left alone");
    assert_eq!(notification(&program, &second["message_key"], "primary")["status"], "cancelled");
    primary.set(Mode::Accept);
    program.ok(&["destination", "resume", "primary"], "");
    program.ingest(&mailbox, &[], Mail::new("Open again").bytes());
    primary.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(subjects(&primary), ["Open again"]);
    let mut told = subjects(&fallback);
    told.sort();
    assert_eq!(told, ["Locked out", "Still locked out", alarm], "each once");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn without_a_fallback_a_refused_notification_waits_for_the_owner() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(401));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Waits").bytes());
    wait::until("the destination is paused", LIMIT, || {
        program.json(&["status"])["destinations"][0]["state"] == "sign_in"
    });
    program.settle();
    let waiting = notification(&program, &put["message_key"], "phone");
    assert_eq!((&waiting["status"], &waiting["attempt"]), (&json!("pending"), &json!(0)), "not due, not counted");
    let status = program.json(&["status"]);
    assert_eq!((&status["pending"], &status["oldest_due_at"]), (&json!(1), &json!(null)), "it does not count as due");
    peer.set(Mode::Accept);
    program.ok(&["destination", "resume", "phone"], "");
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(notification(&program, &put["message_key"], "phone")["status"], "completed");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_long_wait_tells_the_fallback_meanwhile() {
    let Pair { primary, fallback, program, mailbox } = pair();
    primary.set(Mode::retry_after(429, 3600));
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("An hour").bytes());
    fallback.wait_taken(1, LIMIT);
    let covered = wait_status(&program, &put["message_key"], "primary", "cancelled");
    assert_eq!(
        (attempts(&program, &covered), &covered["attempt"]),
        (vec![attempt("deferred", "rate_limit")], &json!(0))
    );
    program.settle();
    assert_eq!(primary.writes().len(), 1);
    assert!(running.stop().success());
    program.assert_sound();
}
