//! `ringonce doctor`: one line for each thing, with the program running and without it.

use serde_json::Value;

use crate::support::clock::WallClock;
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::ntfy_peer::Ntfy;
use crate::support::program::Program;
use crate::support::wait::{self, secs};

/// What `doctor` finds, and whether it says that all is well.
fn doctor(program: &Program) -> (bool, Vec<Value>) {
    let said = program.run(&["doctor", "--json"], "");
    (said.status.success(), said.json().as_array().expect("a list").clone())
}

/// The result and the words for a check whose subject or words hold `about`.
#[track_caller]
fn of(findings: &[Value], check: &str, about: &str) -> (String, String) {
    let holds = |row: &&Value| {
        row["check"] == check
            && (row["about"].as_str().unwrap().contains(about) || row["detail"].as_str().unwrap().contains(about))
    };
    let row = findings.iter().find(holds).unwrap_or_else(|| panic!("no {check} about {about:?}: {findings:?}"));
    (row["result"].as_str().unwrap().to_owned(), row["detail"].as_str().unwrap().to_owned())
}

#[test]
fn a_well_program_is_found_well_running_or_not() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let ntfy = HttpPeer::start(Ntfy::new());
    let program = Program::new();
    let port = dovecot.imap_port.to_string();
    let login = ["--host", "localhost", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    program.ok(&add, format!("{}\n", user.password));
    let server = format!("server={}", ntfy.url().trim_end_matches("/hook"));
    program.ok(&["destination", "add", "ntfy", "--name", "phone", "--set", &server, "--set", "topic=mail"], "");
    let published = ntfy.app().published().len();
    for run in [false, true] {
        let mut running = run.then(|| program.start_headless());
        let (well, findings) = doctor(&program);
        assert!(well && findings.iter().all(|row| row["result"] != "fail"), "running {run}: {findings:?}");
        for (check, about) in [
            ("data_folder", "with room"),
            ("data_folder", if run { "is running" } else { "not running" }),
            ("database", "sound"),
            ("secrets", "can be read"),
            ("network", "localhost"),
            ("mailbox", "signed in, 1 folders opened, IDLE"),
            ("destination", "it answers"),
        ] {
            assert_eq!(of(&findings, check, about).0, "ok", "running {run}: {check} {about}");
        }
        of(&findings, "clock", "");
        if let Some(running) = running.as_mut() {
            assert!(running.stop().success());
        }
    }
    assert_eq!(ntfy.app().published().len(), published, "nobody is told anything");
    let plain = program.ok(&["doctor"], "").stdout;
    assert!(plain.lines().any(|line| line.starts_with("ok    mailbox owner@example.com: ")), "{plain}");
}

#[test]
fn each_thing_that_is_wrong_is_named_with_a_next_step() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let mut program = Program::new();
    let clock = WallClock::of(&mut program);
    let port = dovecot.imap_port.to_string();
    let login = ["--host", "localhost", "--port", &port, "--tls", "none", "--username", &user.name, "--no-test"];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    let mailbox = program.ok(&add, "wrong\n").id();
    let url = format!("url=http://no-such-host.invalid:{}/hook", wait::free_port());
    program.ok(&["destination", "add", "webhook", "--name", "hook", "--set", &url, "--no-test"], "");
    clock.set_offset(7200);
    program.ok(&["ingest", "--mailbox", &mailbox, "-"], Mail::new("from the future").bytes());
    clock.set_offset(0);
    let (well, findings) = doctor(&program);
    assert!(!well, "something is wrong: {findings:?}");
    for (check, about, words) in [
        ("mailbox", "owner@example.com", "AUTHENTICATIONFAILED"),
        ("destination", "hook", "no-such-host.invalid"),
        ("network", "no-such-host.invalid", "spelling"),
        ("clock", "", "in the future"),
    ] {
        let (result, detail) = of(&findings, check, about);
        assert!(result == "fail" && detail.contains(words) && detail.contains("; "), "{check}: {result} {detail}");
    }

    std::fs::remove_file(program.secrets_file()).expect("it was there");
    let (_, findings) = doctor(&program);
    assert_eq!(of(&findings, "secrets", "file:").0, "fail", "its password is gone: {findings:?}");

    std::fs::write(program.data_dir().join("ringonce.db"), vec![0x55; 20_000]).expect("our own file");
    let (well, findings) = doctor(&program);
    assert!(!well && of(&findings, "database", "").0 == "fail", "a file that is no database: {findings:?}");
}

#[test]
fn a_program_that_hangs_is_named() {
    let program = Program::new();
    let mut running = program.start_headless();
    running.signal("STOP");
    let (well, findings) = doctor(&program);
    running.signal("CONT");
    assert!(!well, "it does not answer: {findings:?}");
    assert!(of(&findings, "data_folder", "lock").1.contains(&running.pid().to_string()), "{findings:?}");
    wait::until("it is well again", secs(20), || doctor(&program).0);
    assert!(running.stop().success());
}
