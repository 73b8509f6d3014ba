//! The channel accepted and the answer was lost, where nothing can be asked (class C): held, and the owner is told
//! which mail may not have arrived; or, where the owner wants "never lost", sent again with a mark.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::outbox::{LIMIT, alarms, attempt, attempts, notification, operation_status, wait_status};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;

#[test]
fn a_webhook_without_an_answer_is_held_and_another_destination_says_so() {
    let (peer, other, program) = (HttpPeer::start(Receiver::new()), HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    program.add_webhook("other", &other, &["--fallback-only"]);
    peer.next([Mode::AcceptThenClose]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Pay by noon").bytes());
    let taken = other.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "May not have arrived: Pay by noon");
    program.settle();
    let held = notification(&program, &put["message_key"], "phone");
    assert_eq!(
        (&held["status"], attempts(&program, &held)),
        (&json!("uncertain"), vec![attempt("unknown", "no_answer")])
    );
    assert_eq!(operation_status(&program, &put["message_key"]), "processing", "uncertain is open");
    assert_eq!(alarms(&program, "uncertain"), ["May not have arrived: Pay by noon"]);
    let listed = &program.json(&["attention"])[0];
    assert_eq!((&listed["status"], &listed["dispatch_key"]), (&json!("uncertain"), &held["dispatch_key"]));
    let status = program.json(&["status"]);
    assert_eq!((&status["uncertain"], &status["today"]["rings"]), (&json!(1), &json!(0)), "an alarm is no ring");
    running.kill9();
    // Neither a restart nor time sends a copy.
    let mut running = program.start_headless();
    program.settle();
    assert_eq!(notification(&program, &put["message_key"], "phone")["status"], "uncertain");
    assert_eq!((peer.writes().len(), other.writes().len()), (1, 1), "never a blind copy, and one alarm");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn whatever_way_the_answer_was_lost_no_copy_is_made() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();
    let lost = [Mode::AcceptThenReset, Mode::AcceptThenHang, Mode::AcceptThenCut, Mode::Close, Mode::status(500)];
    for (count, mode) in (1..).zip(&lost) {
        peer.next([mode.clone()]);
        let put = program.ingest(&mailbox, &[], Mail::new("Which way").bytes());
        let held = wait_status(&program, &put["message_key"], "phone", "uncertain");
        // The alarm goes to the same destination, the only one, once that is found to answer.
        peer.wait_writes(2 * count, LIMIT);
        program.settle();
        assert_eq!(attempts(&program, &held).len(), 1, "{mode:?}: one attempt");
        assert_eq!(peer.writes().len(), 2 * count, "{mode:?}: the mail and its alarm");
    }
    assert_eq!(alarms(&program, "uncertain").len(), lost.len());
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn the_only_destination_is_told_of_its_own_doubt() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.next([Mode::AcceptThenReset]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("Alone").bytes());
    let taken = peer.wait_taken(2, LIMIT);
    let subjects = [0, 1].map(|at| taken[at].request.json()["subject"].clone());
    assert_eq!(subjects, [json!("Alone"), json!("May not have arrived: Alone")]);
    assert_ne!(taken[0].key, taken[1].key, "the alarm has a key of its own");
    program.settle();
    assert_eq!(notification(&program, &put["message_key"], "phone")["status"], "uncertain");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_doubt_about_an_alarm_makes_no_further_alarm() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::AcceptThenClose);
    let mut running = program.start_headless();
    program.ingest(&mailbox, &[], Mail::new("Doubtful").bytes());
    peer.wait_taken(2, LIMIT);
    program.settle();
    assert_eq!(peer.writes().len(), 2, "the mail and its alarm");
    assert_eq!(program.json(&["status"])["uncertain"], 2);
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn never_lost_sends_again_and_says_that_it_may_be_a_repeat() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &["--policy", "never-lost"]);
    peer.next([Mode::AcceptThenClose]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("At any price").bytes());
    let taken = peer.wait_taken(2, LIMIT);
    let told = wait_status(&program, &put["message_key"], "phone", "completed");
    let marks = [0, 1].map(|at| taken[at].request.json()["may_be_repeat"].clone());
    assert_eq!(marks, [json!(false), json!(true)]);
    assert_eq!(taken[0].key, taken[1].key, "the same key");
    assert_eq!(
        (&told["may_be_repeat"], attempts(&program, &told)),
        (&json!(1), vec![attempt("unknown", "no_answer"), attempt("accepted", "")])
    );
    assert_eq!(alarms(&program, "uncertain"), [""; 0]);
    assert!(running.stop().success());
    program.assert_sound();
}

/// A program of the owner, as a shell script.
fn script(program: &Program, text: &str) -> String {
    let path = program.scratch().join("tell.sh");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the script is written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may be run");
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn a_command_that_does_not_end_is_held_and_never_run_again() {
    let (other, program) = (HttpPeer::start(Receiver::new()), Program::new());
    program.hurry();
    let mailbox = program.add_unread_mailbox();
    let log = program.scratch().join("told");
    let command = script(&program, &format!("cat >> {0}; echo >> {0}; exec sleep 60", log.display()));
    let set = format!("command={command}");
    program.ok(
        &[
            "destination",
            "add",
            "command",
            "--name",
            "script",
            "--no-test",
            "--set",
            &set,
            "--set",
            "time_limit_seconds=1",
        ],
        "",
    );
    program.add_webhook("other", &other, &["--fallback-only"]);
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("By a script").bytes());
    let taken = other.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "May not have arrived: By a script");
    program.settle();
    let held = notification(&program, &put["message_key"], "script");
    assert_eq!((&held["status"], attempts(&program, &held).len()), (&json!("uncertain"), 1));
    let told = fs::read_to_string(&log).expect("it ran");
    let lines: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[0]["dispatch_key"]), (1, &held["dispatch_key"]), "it ran once");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_command_that_ends_well_is_told_with_its_key() {
    let program = Program::new();
    let mailbox = program.add_unread_mailbox();
    let log = program.scratch().join("told");
    let command = script(&program, &format!("echo \"$RINGONCE_DISPATCH_KEY\" >> {}; echo id-of-mine", log.display()));
    let set = format!("command={command}");
    program.ok(&["destination", "add", "command", "--name", "script", "--no-test", "--set", &set], "");
    let mut running = program.start_headless();
    let put = program.ingest(&mailbox, &[], Mail::new("By a script").bytes());
    let told = wait_status(&program, &put["message_key"], "script", "completed");
    assert_eq!(told["external_message_id"], "id-of-mine");
    assert_eq!(fs::read_to_string(&log).unwrap().trim(), told["dispatch_key"].as_str().unwrap());
    assert!(running.stop().success());
    program.assert_sound();
}
