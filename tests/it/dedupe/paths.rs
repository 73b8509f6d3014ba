//! One mail by two paths: a webhook and a real IMAP server, in either order.

use serde_json::json;

use crate::dedupe::{LIMIT, counts, deliveries, delivery, notification, operation};
use crate::support::clock::WallClock;
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait;
use crate::support::webhook_caller::Post;

#[test]
fn a_mail_by_webhook_and_then_by_imap_rings_once() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mail = Mail::new("By two paths");

    let answer = caller.post_mail("event-1", &mail.bytes());
    assert_eq!(answer["verdict"], "new");
    let taken = peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(counts(&program), [1, 1, 1, 1, 1], "the webhook alone is enough");
    let told = notification(&program);
    assert_eq!((told["status"].as_str(), told["attempt"].as_i64()), (Some("completed"), Some(1)));
    assert_eq!(told["external_message_id"], taken[0].id, "the receiver's id is kept");
    assert_eq!(operation(&program)["status"], "completed");

    dovecot.deliver(&user, &mail.bytes());
    wait::until("the reader reports it too", LIMIT, || deliveries(&program).len() == 2);
    program.settle();
    assert_eq!(counts(&program), [1, 2, 1, 1, 1], "a second path adds a delivery and nothing else");
    assert_eq!(deliveries(&program), [delivery("webhook", "new", 1), delivery("imap", "duplicate", 1)]);
    assert_eq!(notification(&program), told, "what was done is left alone");
    let shown = &program.json(&["duplicates"])[0];
    assert_eq!((&shown["kept"]["source"], &shown["message_key"]), (&json!("webhook"), &answer["message_key"]));
    assert_eq!(shown["suppressed"][0]["source"], "imap");
    assert_eq!(
        (&shown["suppressed"][0]["verdict"], shown["suppressed"].as_array().unwrap().len()),
        (&json!("duplicate"), 1)
    );
    assert_eq!(peer.app().taken().len(), 1, "one ring");

    assert!(running.stop().success(), "it stops in order");
    program.assert_sound();
}

#[test]
fn a_mail_by_imap_and_then_by_webhook_rings_once() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mail = Mail::new("The other way round");

    dovecot.deliver(&user, &mail.bytes());
    let taken = peer.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "The other way round");
    program.settle();
    assert_eq!(deliveries(&program), [delivery("imap", "new", 1)]);

    let answer = caller.post_mail("event-1", &mail.bytes());
    assert_eq!(answer["verdict"], "duplicate");
    let notice = json!({"message_id": mail.message_id(), "subject": "The other way round"}).to_string();
    assert_eq!(caller.post(&Post::notice("event-2", notice.as_bytes())).1["verdict"], "duplicate", "by its name alone");
    program.settle();
    assert_eq!(counts(&program), [1, 3, 1, 1, 1]);
    let status = program.json(&["status"]);
    assert_eq!(status["today"], json!({"sightings": 3, "rings": 1, "silent": 0, "duplicates": 2}));
    assert_eq!(program.history_of(answer["message_key"].as_str().unwrap())["sightings"], 3);
    assert_eq!(peer.app().taken().len(), 1, "one ring");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_name_waits_for_the_mail_and_the_reader_brings_it() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mail = Mail::new("Announced");

    let notice = json!({"message_id": mail.message_id()}).to_string();
    let (status, answer) = caller.post(&Post::notice("event-1", notice.as_bytes()));
    assert_eq!((status, &answer["verdict"]), (202, &json!("new")));
    let held = operation(&program);
    assert_eq!(
        (&held["status"], &held["decision"], &held["reason"]),
        (&json!("held"), &json!("hold"), &json!("awaiting the mail"))
    );
    assert_eq!(counts(&program), [1, 1, 1, 0, 0], "nobody is told of a name alone");
    assert_eq!(program.json(&["status"])["held"], 1);

    dovecot.deliver(&user, &mail.bytes());
    let taken = peer.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "Announced", "the text is the mail's");
    program.settle();
    let decided = operation(&program);
    assert_eq!((&decided["status"], &decided["decision"]), (&json!("completed"), &json!("notify")));
    assert_eq!(decided["operation_key"], held["operation_key"], "the same operation");
    assert_eq!(counts(&program), [1, 2, 1, 1, 1]);
    assert_eq!(deliveries(&program), [delivery("webhook", "new", 1), delivery("imap", "duplicate", 1)]);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_name_whose_mail_never_comes_rings_all_the_same() {
    let (dovecot, peer, mut program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let clock = WallClock::of(&mut program);
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();

    let (_, answer) = caller.post(&Post::notice("event-1", br#"{"message_id": "<lost@example.org>"}"#));
    assert_eq!(answer["verdict"], "new");
    assert_eq!(operation(&program)["status"], "held");
    // Half a minute later, as the clock says.
    clock.set_offset(31);
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(operation(&program)["status"], "completed");
    assert_eq!(counts(&program), [1, 1, 1, 1, 1]);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn where_nobody_reads_a_name_is_decided_at_once() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    assert_eq!(program.json(&["source", "list"])[0]["state"], "stopped");
    let mut running = program.start_headless();
    assert_eq!(program.json(&["source", "list"])[0]["state"], "watching", "ready means that it is listened");
    let (_, answer) = caller.post(&Post::notice("event-1", br#"{"message_id": "<only@example.org>"}"#));
    assert_eq!(answer["verdict"], "new");
    let decided = operation(&program);
    assert_eq!((&decided["decision"], &decided["reason"]), (&json!("notify"), &json!("everything else")));
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(counts(&program), [1, 1, 1, 1, 1]);
    assert!(running.stop().success());
    program.assert_sound();
}
