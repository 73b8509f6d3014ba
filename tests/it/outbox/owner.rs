//! What the owner does about a notification that may not have arrived.

use serde_json::json;

use crate::outbox::{LIMIT, alarms, attempts, notification, operation_status, wait_status};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::{Program, Running};
use crate::support::receiver::Receiver;

struct Doubt {
    peer: HttpPeer<Receiver>,
    _other: HttpPeer<Receiver>,
    program: Program,
    running: Running,
    message_key: serde_json::Value,
    dispatch_key: String,
}

/// One notification of which nobody knows whether it arrived, and the owner knows of it.
fn doubt() -> Doubt {
    let (peer, other, program) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    program.add_webhook("other", &other, &["--fallback-only"]);
    peer.next([Mode::AcceptThenClose]);
    let running = program.start_headless();
    let message_key = program.ingest(&mailbox, &[], Mail::new("In doubt").bytes())["message_key"].clone();
    other.wait_taken(1, LIMIT);
    let held = wait_status(&program, &message_key, "phone", "uncertain");
    let dispatch_key = held["dispatch_key"].as_str().expect("a key").to_owned();
    Doubt { peer, _other: other, program, running, message_key, dispatch_key }
}

impl Doubt {
    /// Nothing is left to look at, and the data are sound.
    #[track_caller]
    fn end(mut self, deliveries: usize) {
        self.program.settle();
        assert_eq!(self.program.json(&["attention"]), json!([]));
        assert_eq!(alarms(&self.program, "uncertain"), [""; 0], "the alarm is over");
        assert_eq!(operation_status(&self.program, &self.message_key), "completed");
        assert_eq!(self.peer.app().taken().len(), deliveries);
        assert!(self.running.stop().success());
        self.program.assert_sound();
    }
}

#[test]
fn the_owner_says_that_it_arrived() {
    let doubt = doubt();
    assert_eq!(doubt.program.json(&["mark-delivered", &doubt.dispatch_key])["status"], "completed");
    let told = notification(&doubt.program, &doubt.message_key, "phone");
    assert_eq!((&told["status"], &told["reason"]), (&json!("completed"), &json!("marked by the owner")));
    let again = doubt.program.run(&["mark-delivered", &doubt.dispatch_key], "");
    assert_eq!(again.status.code(), Some(1), "there is nothing left to say");
    doubt.end(1);
}

#[test]
fn the_owner_sends_it_again_with_the_same_key() {
    let doubt = doubt();
    assert_eq!(doubt.program.json(&["retry", &doubt.dispatch_key])["status"], "pending");
    let taken = doubt.peer.wait_taken(2, LIMIT);
    assert_eq!(taken[0].key, taken[1].key);
    let told = wait_status(&doubt.program, &doubt.message_key, "phone", "completed");
    assert_eq!((attempts(&doubt.program, &told).len(), &told["reason"]), (2, &json!("sent again by the owner")));
    doubt.end(2);
}

#[test]
fn the_owner_lets_it_be() {
    let doubt = doubt();
    assert_eq!(doubt.program.json(&["dismiss", &doubt.dispatch_key])["status"], "cancelled");
    let told = notification(&doubt.program, &doubt.message_key, "phone");
    assert_eq!((&told["status"], &told["reason"]), (&json!("cancelled"), &json!("dismissed by the owner")));
    doubt.end(1);
}

#[test]
fn notify_again_is_a_new_action_with_a_new_key() {
    let (peer, program) = (HttpPeer::start(Receiver::deduplicating()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_deduplicating_webhook("phone", &peer);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Once more").bytes());
    let key = put["message_key"].as_str().unwrap();
    peer.wait_taken(1, LIMIT);
    program.settle();
    let again = program.json(&["notify-again", key]);
    assert_ne!(again["operation_key"], put["operation_key"]);
    let taken = peer.wait_taken(2, LIMIT);
    program.settle();
    assert_ne!(taken[0].key, taken[1].key, "even a receiver that drops copies rings again");
    let explained = program.json(&["explain", key]);
    assert_eq!(
        (explained["notifications"].as_array().unwrap().len(), explained["attempts"].as_array().unwrap().len()),
        (2, 2)
    );
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn redrive_sends_the_dead_letters_since_a_time() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    program.set(&[("processing.max_attempts", "1"), ("retry.ladder_seconds", "86400")]);
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(503));
    let mut running = program.start_headless();
    let keys: Vec<_> = (0..3)
        .map(|number| {
            program.ingest(&mailbox, &[], Mail::new(&format!("Dead {number}")).bytes())["message_key"].clone()
        })
        .collect();
    for key in &keys {
        wait_status(&program, key, "phone", "dead");
    }
    peer.set(Mode::Accept);
    assert_eq!(program.json(&["redrive", "--since", "2099-01-01T00:00:00Z"])["redriven"], 0);
    assert_eq!(program.json(&["redrive", "--since", "2020-01-01T00:00:00Z"])["redriven"], 3);
    peer.wait_taken(3, LIMIT);
    program.settle();
    assert_eq!((program.json(&["attention"]), peer.app().taken().len()), (json!([]), 3));
    assert!(running.stop().success());
    program.assert_sound();
}
