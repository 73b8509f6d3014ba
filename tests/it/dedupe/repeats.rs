//! The same event again is a visible repeat; two mails that say the same are two.

use serde_json::json;

use crate::dedupe::{LIMIT, counts, deliveries, delivery, notification, operation};
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait;

#[test]
fn the_same_webhook_twice_is_a_visible_repeat() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mail = Mail::new("Twice").bytes();

    let first = caller.post_mail("event-1", &mail);
    program.settle();
    let (told, decided) = (notification(&program), operation(&program));
    let second = caller.post_mail("event-1", &mail);
    assert_eq!((&first["verdict"], &second["verdict"]), (&json!("new"), &json!("repeat")));
    assert_eq!(first["message_key"], second["message_key"]);
    program.settle();
    assert_eq!(counts(&program), [1, 1, 1, 1, 1], "a repeat adds no row");
    assert_eq!(deliveries(&program), [delivery("webhook", "new", 2)], "it is counted");
    assert_eq!((notification(&program), operation(&program)), (told, decided), "no new operation");
    let shown = program.json(&["duplicates"]);
    assert_eq!(shown.as_array().unwrap().len(), 1);
    let (kept, suppressed) = (&shown[0]["kept"], &shown[0]["suppressed"]);
    assert_eq!((&kept["source"], suppressed.as_array().unwrap().len()), (&json!("webhook"), 1));
    assert_eq!((&suppressed[0]["verdict"], &suppressed[0]["times_seen"]), (&json!("repeat"), &json!(2)));
    assert_eq!(suppressed[0]["locator"], kept["locator"], "the same event");
    assert_eq!(program.json(&["status"])["today"]["duplicates"], 1);
    assert_eq!(peer.app().taken().len(), 1, "one ring");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_repeat_while_the_first_is_on_its_way_adds_nothing() {
    let (peer, program) = (HttpPeer::start(Receiver::deduplicating()), Program::new());
    program.hurry();
    peer.set(Mode::status(503));
    let mailbox = program.add_unread_mailbox();
    program.add_deduplicating_webhook("phone", &peer);
    let mut running = program.start_headless();
    let mail = Mail::new("In hand").bytes();
    program.ingest(&mailbox, &["--path", "webhook", "--delivery-id", "1"], &mail);
    peer.wait_writes(1, LIMIT);
    let again = program.ingest(&mailbox, &["--path", "imap", "--delivery-id", "2"], &mail);
    assert_eq!((&again["verdict"], operation(&program)["status"].as_str()), (&json!("duplicate"), Some("processing")));
    assert_eq!(counts(&program)[..4], [1, 2, 1, 1], "its row is being worked on");
    peer.set(Mode::Accept);
    program.settle();
    assert_eq!((notification(&program)["status"].as_str(), peer.app().taken().len()), (Some("completed"), 1));
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn two_mails_of_one_subject_and_text_ring_twice() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();

    let first = Mail::new("Backup failed").body("Disk full.\r\n");
    let second = first.clone().header("Message-ID", "<second@example.org>");
    assert_ne!(first.message_id(), second.message_id());
    dovecot.deliver(&user, &first.bytes());
    dovecot.deliver(&user, &second.bytes());
    peer.wait_taken(2, LIMIT);
    program.settle();
    assert_eq!(counts(&program), [2, 2, 2, 2, 2], "two mails, each with all of its own");
    let keys = program.db().rows("SELECT DISTINCT dispatch_key FROM attempts WHERE outcome = 'accepted'", []);
    assert_eq!(keys.len(), 2, "two keys");
    assert_eq!(program.json(&["duplicates"]), json!([]), "neither is taken for the other");

    // And each of them by another path is only itself again.
    for mail in [&first, &second] {
        assert_eq!(program.ingest(&mailbox, &["--path", "webhook"], mail.bytes())["verdict"], "duplicate");
    }
    assert_eq!(counts(&program), [2, 4, 2, 2, 2]);
    assert_eq!(peer.app().taken().len(), 2, "two rings");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn one_mail_in_two_folders_rings_once() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    dovecot.doveadm(&["mailbox", "create", "-u", &user.name, "Work"]);
    program.add_mailbox(dovecot, &user, &["--folder", "INBOX", "--folder", "Work"]);
    program.add_webhook("phone", &peer, &[]);
    program.set(&[("imap.poll_seconds", "1")]);
    let mut running = program.start_headless();
    let mail = Mail::new("Copied").bytes();
    dovecot.save(&user, "INBOX", &mail);
    dovecot.save(&user, "Work", &mail);
    wait::until("both places are reported", LIMIT, || deliveries(&program).len() == 2);
    program.settle();
    assert_eq!(counts(&program), [1, 2, 1, 1, 1]);
    assert_eq!(peer.app().taken().len(), 1, "one ring");
    assert!(running.stop().success());
    program.assert_sound();
}
