//! Alarms: opened once, told once through whoever is well, cleared when over.

use std::time::Duration;

use serde_json::Value;

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::relay::{Passing, Relay};
use crate::support::tmpfs::SmallDisk;
use crate::support::wait::{self, secs};

const LIMIT: Duration = secs(30);

/// A program with a mailbox that others report to.
fn owner(program: &Program) -> String {
    program.ok(&["settings", "set", "retry.backoff_seconds", "1"], "");
    program.ok(&["mailbox", "add", "--no-imap", "--email", "owner@example.com"], "").id()
}

fn hook(program: &Program, name: &str, peer: &HttpPeer<Receiver>) -> String {
    let url = format!("url={}", peer.url());
    program.ok(&["destination", "add", "webhook", "--name", name, "--set", &url, "--no-test"], "").id()
}

fn ingest(program: &Program, mailbox: &str, subject: &str) {
    program.ok(&["ingest", "--mailbox", mailbox, "-"], Mail::new(subject).bytes());
}

/// Alarms of a code, newest first.
fn alarms(program: &Program, code: &str) -> Vec<Value> {
    let all = program.json(&["alarms"]);
    all.as_array().expect("a list").iter().filter(|row| row["code"] == code).cloned().collect()
}

fn is_open(program: &Program, code: &str) -> bool {
    alarms(program, code).first().is_some_and(|row| row["cleared_at"].is_null())
}

/// Titles a receiver was told that begin so, each with its key.
fn told(peer: &HttpPeer<Receiver>, start: &str) -> Vec<(String, String)> {
    let app = peer.app();
    let titles = app.taken().iter().map(|taken| {
        let title = taken.request.json()["title"].as_str().unwrap_or_default().to_owned();
        (title, taken.key.clone().unwrap_or_default())
    });
    titles.filter(|(title, _)| title.starts_with(start)).collect()
}

#[test]
fn dead_letters_are_told_once_through_those_who_are_well() {
    let (broken, well) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()));
    broken.set(Mode::status(404));
    let program = Program::new();
    let mailbox = owner(&program);
    hook(&program, "broken", &broken);
    hook(&program, "well", &well);
    let mut running = program.start_headless();
    ingest(&program, &mailbox, "first");
    wait::until("it is told", LIMIT, || told(&well, "1 notification was not delivered").len() == 1);
    ingest(&program, &mailbox, "second");
    wait::until("the text follows", LIMIT, || {
        alarms(&program, "dead_letters").iter().any(|row| row["text"].as_str().unwrap().starts_with("2 notifications"))
    });
    assert_eq!(told(&well, "2 notifications").len(), 0, "told only when it was opened");
    assert_eq!(broken.writes().len(), 2, "a destination that failed is not told of its own failures");

    for row in program.json(&["attention"]).as_array().unwrap() {
        program.ok(&["dismiss", row["dispatch_key"].as_str().unwrap()], "");
    }
    wait::until("it is over", LIMIT, || !is_open(&program, "dead_letters"));
    ingest(&program, &mailbox, "third");
    wait::until("opened anew it is told anew", LIMIT, || told(&well, "1 notification was not delivered").len() == 2);
    assert_eq!(alarms(&program, "dead_letters").len(), 2, "one row for each time");
    assert!(running.stop().success());
    assert!(program.json(&["verify"])["ok"].as_bool().unwrap(), "the data is sound");
}

#[test]
fn an_alarm_that_nobody_takes_raises_none_and_waits() {
    let mut only = HttpPeer::start(Receiver::new());
    only.down();
    let program = Program::new();
    let mailbox = owner(&program);
    program.ok(&["settings", "set", "processing.max_attempts", "1"], "");
    hook(&program, "only", &only);
    let mut running = program.start_headless();
    ingest(&program, &mailbox, "lost");
    wait::until("it is open", LIMIT, || is_open(&program, "dead_letters"));
    let status = program.json(&["status"]);
    assert_eq!(status["alarms"][0]["code"], "dead_letters", "status shows it: {status}");
    assert_eq!(status["dead"], 1, "nobody was told, so nothing of the alarm itself is dead: {status}");
    only.up();
    wait::until("it is told when somebody answers", secs(60), || told(&only, "1 notification").len() == 1);
    assert!(running.stop().success());
}

#[test]
fn an_uncertain_mail_is_named_by_its_own_destination_where_there_is_no_other() {
    let only = HttpPeer::start(Receiver::new());
    let program = Program::new();
    let mailbox = owner(&program);
    hook(&program, "only", &only);
    let mut running = program.start_headless();
    only.set(Mode::Close);
    ingest(&program, &mailbox, "secret plans");
    wait::until("the mail and its alarm were tried in vain", LIMIT, || only.writes().len() == 2);
    only.set(Mode::Accept);
    ingest(&program, &mailbox, "another");
    wait::until("it is told anew", LIMIT, || told(&only, "May not have arrived: secret plans").len() == 1);
    let key = told(&only, "May not have arrived").remove(0).1;
    let tried = only.writes();
    assert!(tried[1].header("idempotency-key").is_some_and(|tried| !tried.contains(&key)), "by another key");
    let uncertain = program.json(&["attention"]);
    let lost = uncertain.as_array().unwrap().iter().find(|row| row["subject"] == "secret plans").expect("it waits");
    program.ok(&["mark-delivered", lost["dispatch_key"].as_str().unwrap()], "");
    wait::until("it is over", LIMIT, || !is_open(&program, "uncertain"));
    assert_eq!(alarms(&program, "uncertain").len(), 1, "an alarm about an alarm is none");
    assert!(running.stop().success());
}

#[test]
fn a_destination_that_refuses_the_sign_in_is_named_by_the_others() {
    let (refusing, well) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()));
    refusing.set(Mode::status(401));
    let program = Program::new();
    let mailbox = owner(&program);
    let id = hook(&program, "my phone", &refusing);
    hook(&program, "well", &well);
    let mut running = program.start_headless();
    ingest(&program, &mailbox, "one");
    wait::until("it is told", LIMIT, || told(&well, "my phone refuses the sign-in").len() == 1);
    assert_eq!(alarms(&program, "sign_in")[0]["about"], id.as_str());
    refusing.set(Mode::Accept);
    program.ok(&["destination", "resume", &id], "");
    wait::until("it is over", LIMIT, || !is_open(&program, "sign_in"));
    wait::until("what waited is sent", LIMIT, || refusing.app().taken().len() == 1);
    assert_eq!(told(&well, "my phone").len(), 1, "told once, and silent when over");
    assert!(running.stop().success());
}

#[test]
fn a_mailbox_without_a_good_check_is_named_until_it_is_checked() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let peer = HttpPeer::start(Receiver::new());
    let program = Program::new();
    hook(&program, "well", &peer);
    program.ok(&["settings", "set", "alarm.stale_mailbox_seconds", "2"], "");
    let port = relay.port.to_string();
    let login = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    program.ok(&add, format!("{}\n", user.password));
    let mut running = program.start_headless();
    assert!(alarms(&program, "stale_mailbox").is_empty(), "all is well");
    relay.set(Passing::Refuse);
    relay.reset();
    wait::until("it is told", LIMIT, || told(&peer, "owner@example.com was not checked since").len() == 1);
    relay.set(Passing::Pass);
    wait::until("it is over", secs(90), || !is_open(&program, "stale_mailbox"));
    assert_eq!(told(&peer, "owner@example.com").len(), 1, "told once, and silent when over");
    assert!(running.stop().success());
}

#[test]
fn a_full_disk_is_shown_at_once_and_told_when_there_is_room() {
    let Some(disk) = SmallDisk::mount(4096) else { return };
    let peer = HttpPeer::start(Receiver::new());
    let program = Program::with_data_dir(&disk.path().join("data"));
    let mailbox = owner(&program);
    hook(&program, "well", &peer);
    let mut running = program.start_headless();
    wait::until("the first copy is made", LIMIT, || {
        disk.path()
            .join("data/copies")
            .read_dir()
            .is_ok_and(|files| files.flatten().any(|file| file.path().extension().is_some_and(|ending| ending == "db")))
    });
    disk.fill();
    let full = program.run(&["ingest", "--mailbox", &mailbox, "-"], Mail::new("too much").bytes());
    assert!(!full.status.success(), "nothing can be stored");
    wait::until("it is shown", LIMIT, || is_open(&program, "disk"));
    let shown = program.json(&["status"]);
    let codes: Vec<&Value> = shown["alarms"].as_array().unwrap().iter().map(|alarm| &alarm["code"]).collect();
    assert!(codes.iter().any(|code| *code == "disk"), "{shown}");
    assert!(running.log().contains("Alarm: Nothing can be stored"), "it is in the log");
    disk.release();
    wait::until("it is told", LIMIT, || told(&peer, "Nothing can be stored").len() == 1);
    wait::until("it is over", secs(60), || !is_open(&program, "disk"));
    assert_eq!(alarms(&program, "disk").len(), 1, "and stored once");
    ingest(&program, &mailbox, "room again");
    wait::until("mail rings again", LIMIT, || peer.app().taken().len() == 2);
    assert!(running.stop().success());
}
