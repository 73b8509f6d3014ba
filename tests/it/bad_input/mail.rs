//! What mails bring: random bytes, headers without end, ten thousand recipients, nesting without end, 200 MB. Each
//! rings once as a plain notification, and the mail after it rings too.

use std::fs::{self, File};
use std::io::BufWriter;

use serde_json::json;

use crate::bad_input::LIMIT;
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::mail::{Mail, nasty, write_large};
use crate::support::program::{Program, Running};
use crate::support::receiver::Receiver;
use crate::support::wait;
use crate::support::webhook_caller::Post;

/// Hostile mails of which each is another one: the empty mail and the one line end have the same content, nothing.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    nasty().into_iter().filter(|(name, _)| *name != "one line end").collect()
}

/// It lives, it did not panic, and stops in order.
#[track_caller]
fn assert_well(running: &mut Running, program: &Program) {
    assert!(running.is_alive(), "never a dead program");
    assert!(running.stop().success());
    let log = running.log();
    assert!(!log.contains("panicked"), "{log}");
    program.assert_sound();
}

#[test]
fn hostile_mails_put_in_by_hand_are_plain_notifications() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();
    let mails = hostile();
    for (name, bytes) in &mails {
        let put = program.ingest(&mailbox, &["--path", "imap"], bytes);
        assert_eq!((&put["verdict"], &put["decision"]), (&json!("new"), &json!("notify")), "{name}");
    }
    peer.wait_taken(mails.len(), LIMIT);
    program.settle();
    for taken in peer.app().taken() {
        let told = taken.request.json();
        let (title, body) = (told["title"].as_str().unwrap(), told["body"].as_str().unwrap());
        assert!(!title.is_empty() && title.len() <= 4096 && body.len() <= 16_384, "a plain one: {told}");
        assert!(
            !title.contains(char::is_control) && !body.replace('\n', "").contains(char::is_control),
            "without control characters: {told}"
        );
    }
    assert_eq!(peer.app().taken().len(), mails.len(), "each once");
    assert_eq!(program.json(&["history", "--limit", "0"]).as_array().unwrap().len(), mails.len());
    assert_well(&mut running, &program);
}

#[test]
fn hostile_mails_on_a_real_server_all_ring_and_so_does_the_next_one() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    program.set(&[("catch_up.single_max", "1000")]);
    let mut running = program.start_headless();
    // An empty file is no mail to Dovecot.
    let mails: Vec<_> = hostile().into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    for (_, bytes) in &mails {
        // Unchanged, as a server may have it that takes anything.
        dovecot.put(&user, "INBOX", bytes);
    }
    dovecot.deliver(&user, &Mail::new("After them all").bytes());
    wait::until("the last one rings", LIMIT, || {
        peer.app().taken().iter().any(|taken| taken.request.json()["subject"] == "After them all")
    });
    peer.wait_taken(mails.len() + 1, LIMIT);
    program.settle();
    let operations = program.db().number("SELECT count(*) FROM notification_operations WHERE status = 'completed'", []);
    assert_eq!((peer.app().taken().len(), operations), (mails.len() + 1, mails.len() as i64 + 1), "each once");
    assert_well(&mut running, &program);
}

#[test]
fn hostile_mails_posted_to_a_webhook_are_taken_or_refused_and_end_nothing() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mut rings = 0;
    for (number, (name, bytes)) in hostile().iter().enumerate() {
        let (status, answer) = caller.post(&Post::mail(&format!("event-{number}"), bytes));
        assert!(matches!(status, 202 | 422), "{name}: {status} {answer}");
        rings += usize::from(status == 202);
    }
    assert!(rings > 8, "most of them are mails");
    peer.wait_taken(rings, LIMIT);
    program.settle();
    assert_eq!(peer.app().taken().len(), rings, "each that was taken rings once");
    assert_well(&mut running, &program);
}

#[test]
fn a_mail_of_200_mb_costs_no_more_memory_than_a_small_one() {
    let (dovecot, peer, program) = (Dovecot::start(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    program.add_mailbox(&dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();
    let file = program.scratch().join("large.eml");
    let mut peaks = Vec::new();
    for (count, megabytes) in [(1, 1), (2, 200)] {
        let mail = Mail::new(&format!("{megabytes} MB"));
        let mut out = BufWriter::new(File::create(&file).expect("room for a large mail"));
        write_large(&mail, megabytes << 20, &mut out)
            .and_then(|()| out.into_inner().map(drop).map_err(Into::into))
            .expect("it is written");
        dovecot.put_file(&user, "INBOX", &file);
        let taken = peer.wait_taken(count, LIMIT);
        assert_eq!(taken[count - 1].request.json()["body"], format!("{megabytes} MB\nSee attachment."));
        program.settle();
        peaks.push(running.resident_peak_kib());
    }
    drop(fs::remove_file(&file));
    // Room for what a second mail of any size takes: a page of the heap, a thread's stack.
    assert!(peaks[1] <= peaks[0] + 4096, "peaks of resident memory in KiB: {peaks:?}");
    assert_well(&mut running, &program);
}

#[test]
fn a_mail_of_200_mb_put_in_by_hand_is_not_read_whole() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let file = program.scratch().join("large.eml");
    let mut out = BufWriter::new(File::create(&file).expect("room for a large mail"));
    write_large(&Mail::new("By hand"), 200 << 20, &mut out).expect("it is written");
    drop(out);
    let path = file.to_str().expect("a plain path");
    let first = program.json(&["ingest", "--mailbox", &mailbox, path]);
    let again = program.json(&["ingest", "--mailbox", &mailbox, path]);
    assert_eq!((&first["verdict"], &again["verdict"]), (&json!("new"), &json!("duplicate")));
    assert_eq!(first["message_key"], again["message_key"]);
    program.assert_sound();
}
