//! Rules, folders, routes and privacy, as the owner sets them and as they show in what is sent.

use serde_json::{Value, json};

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait::{self, secs};

/// Decision and reason of a mail, and whom it was to be told.
#[track_caller]
fn decided(program: &Program, put: &Value) -> (String, String, Vec<String>) {
    let row = program.history_of(put["message_key"].as_str().expect("a key"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let told = row["notifications"].as_array().expect("a list").iter().map(|one| text(&one["destination"]));
    (text(&row["decision"]), text(&row["reason"]), told.collect())
}

fn expected(decision: &str, reason: &str, told: &[&str]) -> (String, String, Vec<String>) {
    (decision.to_owned(), reason.to_owned(), told.iter().map(ToString::to_string).collect())
}

#[test]
fn the_first_rule_that_holds_decides_and_moving_it_changes_that() {
    let (phone, desk, program) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &phone, &[]);
    program.add_webhook("desk", &desk, &[]);
    program.ok(&["route", "add", "only desk", "--to", "desk"], "");
    let rule = |args: &[&str]| program.ok(&[&["rule", "add"], args].concat(), "").id();
    let adverts = rule(&["--if", "subject contains \"offer\"", "--silent", "adverts"]);
    let boss =
        rule(&["--if", "from is \"boss@example.org\"", "--if", "subject not starts \"Re:\"", "--route", "only desk"]);
    let put =
        |subject: &str, from: &str| program.ingest(&mailbox, &[], Mail::new(subject).header("From", from).bytes());
    let (anybody, chief) = ("Ada <ada@example.org>", "The boss <boss@example.org>");
    assert_eq!(decided(&program, &put("An offer", anybody)), expected("silent", "adverts", &[]));
    let by_boss = "from is \"boss@example.org\" and subject not starts \"Re:\"";
    assert_eq!(decided(&program, &put("Come here", chief)), expected("notify", by_boss, &["desk"]));
    assert_eq!(
        decided(&program, &put("Re: Come here", chief)),
        expected("notify", "everything else", &["phone", "desk"])
    );
    assert_eq!(decided(&program, &put("An offer", chief)), expected("silent", "adverts", &[]));

    program.ok(&["rule", "move", &boss, "--before", &adverts], "");
    let order: Vec<Value> =
        program.json(&["rule", "list"]).as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(order, [json!(boss), json!(adverts)]);
    let tried = program.json(&["rule", "try", "--last", "1"]);
    assert_eq!(
        (&tried[0]["was"], &tried[0]["decision"]),
        (&json!("silent"), &json!("notify")),
        "shown, not done: {tried}"
    );
    assert_eq!(decided(&program, &put("Another offer", chief)), expected("notify", by_boss, &["desk"]));
    program.ok(&["rule", "remove", &adverts], "");
    assert_eq!(decided(&program, &put("One more offer", anybody)).0, "notify");
    assert_eq!(program.json(&["status"])["today"]["silent"], 2);

    let mut running = program.start_headless();
    desk.wait_taken(4, secs(45));
    program.settle();
    assert_eq!((desk.app().taken().len(), phone.app().taken().len()), (4, 2));
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn junk_and_sent_mail_is_silent_unless_the_owner_asks_for_the_folder() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    program.add_mailbox(dovecot, &user, &["--folder", "INBOX", "--folder", "Junk", "--folder", "Sent"]);
    program.add_webhook("phone", &peer, &[]);
    program.set(&[("imap.poll_seconds", "1")]);
    let mut running = program.start_headless();
    let own = format!("{}@localhost", user.name);
    dovecot.save(&user, "Junk", &Mail::new("In Junk").bytes());
    dovecot.save(&user, "Sent", &Mail::new("In Sent").header("From", &own).bytes());
    dovecot.save(&user, "INBOX", &Mail::new("To myself").header("From", &own).bytes());
    let rows = |count: i64| {
        wait::until("all are reported", secs(45), || {
            program.db().number("SELECT count(*) FROM processed_messages", []) == count
        });
        program.settle();
    };
    rows(3);
    let reasons = program.json(&["history"]);
    let of = |subject: &str| {
        let row = reasons.as_array().unwrap().iter().find(|row| row["subject"] == subject).unwrap().clone();
        (row["decision"].clone(), row["reason"].clone())
    };
    assert_eq!(of("In Junk"), (json!("silent"), json!("in the junk folder")));
    assert_eq!(of("In Sent"), (json!("silent"), json!("in the folder of sent mail")));
    assert_eq!(of("To myself").0, "notify", "the own address alone is not it");
    program.ok(&["route", "add", "all", "--to", "phone"], "");
    program.ok(&["rule", "add", "--if", "folder is \"Junk\"", "--route", "all"], "");
    dovecot.save(&user, "Junk", &Mail::new("Asked for").bytes());
    peer.wait_taken(2, secs(45));
    rows(4);
    let subjects: Vec<Value> = peer.app().taken().iter().map(|one| one.request.json()["subject"].clone()).collect();
    assert_eq!(subjects, [json!("To myself"), json!("Asked for")]);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn no_more_leaves_the_computer_than_the_destination_may_see() {
    let program = Program::new();
    let mailbox = program.add_unread_mailbox();
    let peers = ["full", "sender", "none"].map(|privacy| {
        let peer = HttpPeer::start(Receiver::new());
        program.add_webhook(privacy, &peer, &["--privacy", privacy]);
        peer
    });
    let mail = Mail::new("Your result").header("From", "Clinic <clinic@example.org>").body("It is positive.\r\n");
    program.ingest(&mailbox, &[], mail.bytes());
    let mut running = program.start_headless();
    let [full, sender, none] = peers.each_ref().map(|peer| peer.wait_taken(1, secs(45))[0].request.json());
    let text = |told: &Value| ["title", "body", "from", "subject"].map(|key| told[key].as_str().unwrap().to_owned());
    assert_eq!(text(&full), ["Clinic", "Your result\nIt is positive.", "clinic@example.org", "Your result"]);
    assert_eq!(text(&sender), ["Clinic", "New mail", "clinic@example.org", ""]);
    assert_eq!(text(&none), ["New mail", "", "", ""]);
    for told in [&sender, &none] {
        assert!(!told.to_string().contains("result") && !told.to_string().contains("positive"), "{told}");
    }
    assert!(running.stop().success());
    let log = running.log();
    assert!(!log.contains("result") && !log.contains("clinic"), "no content in the log: {log}");
    assert!(!log.contains("/hook"), "no path of a URL in the log: {log}");
    program.assert_sound();
}

#[test]
fn without_a_destination_it_is_recorded_and_one_added_later_does_not_ring_for_it() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    let put = program.ingest(&mailbox, &[], Mail::new("To nobody").bytes());
    assert_eq!(decided(&program, &put), expected("notify", "no destination", &[]));
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();
    program.ingest(&mailbox, &[], Mail::new("To somebody").bytes());
    let taken = peer.wait_taken(1, secs(45));
    program.settle();
    assert_eq!((taken[0].request.json()["subject"].as_str(), peer.app().taken().len()), (Some("To somebody"), 1));
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn what_a_command_changes_takes_effect_while_the_program_runs() {
    let (first, second, program) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    let mut running = program.start_headless();
    program.add_webhook("first", &first, &[]);
    program.ingest(&mailbox, &[], Mail::new("One").bytes());
    first.wait_taken(1, secs(45));
    program.add_webhook("second", &second, &[]);
    program.ok(&["destination", "pause", "first"], "");
    let put = program.ingest(&mailbox, &[], Mail::new("Two").bytes());
    second.wait_taken(1, secs(45));
    program.settle();
    assert_eq!(first.app().taken().len(), 1, "a paused one is left alone");
    program.ok(&["destination", "remove", "second"], "");
    program.ok(&["destination", "resume", "first"], "");
    first.wait_taken(2, secs(45));
    program.settle();
    assert_eq!(decided(&program, &put).2, ["first", "second"], "the history still names both");
    program.ok(&["mailbox", "pause", &mailbox], "");
    assert_eq!(program.json(&["status"])["mailboxes"][0]["state"], "paused");
    let caller = program.add_source(&mailbox);
    program.ok(&["mailbox", "resume", &mailbox], "");
    wait::until("the new source is listened to", secs(45), || {
        program.json(&["source", "list"])[0]["state"] == "watching"
    });
    assert_eq!(caller.post_mail("event", &Mail::new("Three").bytes())["verdict"], "new");
    first.wait_taken(3, secs(45));
    assert!(running.stop().success());
    program.assert_sound();
}
