//! `export` and `restore`: what comes back, what is left alone, and what does not ring again. The systemd unit too.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait::{self, secs};

fn hook(program: &Program, peer: &HttpPeer<Receiver>) {
    let url = format!("url={}", peer.url());
    program.ok(&["destination", "add", "webhook", "--name", "hook", "--set", &url, "--no-test"], "");
}

fn file(program: &Program) -> PathBuf {
    program.scratch().join("ringonce.export")
}

#[test]
fn everything_but_secrets_comes_back_on_an_empty_folder() {
    let peer = HttpPeer::start(Receiver::new());
    let program = Program::new();
    let mailbox = program.ok(&["mailbox", "add", "--no-imap", "--email", "owner@example.com"], "").id();
    hook(&program, &peer);
    program.ok(&["settings", "set", "imap.poll_seconds", "77"], "");
    let mut running = program.start_headless();
    let mail = Mail::new("kept").bytes();
    program.ok(&["ingest", "--mailbox", &mailbox, "-"], &mail);
    peer.wait_taken(1, secs(20));
    program.ok(&["wait", "--timeout", "20"], "");
    let file = file(&program);
    let path = file.to_str().unwrap();
    let written = program.json(&["export", path]);
    assert_eq!(written["file"], path, "the program that runs wrote it: {written}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "for the owner alone");
    let again = program.run(&["export", path], "");
    assert!(again.stderr.contains("--force") && again.status.code() == Some(1), "{again:?}");
    program.ok(&["export", path, "--force"], "");
    let busy = program.run(&["restore", path], "");
    assert!(busy.stderr.contains(&format!("process {}", running.pid())), "it must not run: {busy:?}");
    assert!(running.stop().success());

    let other = Program::new();
    let told = other.ok(&["restore", path], "").stdout;
    assert!(told.starts_with("Restored as of ") && !told.contains("before is in"), "{told}");
    assert_eq!(other.json(&["history"])[0]["subject"], "kept");
    assert_eq!(other.json(&["settings", "get", "imap.poll_seconds"])["value"], "77");
    assert_eq!(other.json(&["mailbox", "list"])[0]["id"], mailbox.as_str());
    assert!(other.json(&["verify"])["ok"].as_bool().unwrap(), "the data is sound");
    let mut running = other.start_headless();
    let repeat = other.ok(&["ingest", "--mailbox", &mailbox, "--json", "-"], &mail).json();
    assert_eq!(repeat["verdict"], "duplicate", "its keys came back: {repeat}");
    other.ok(&["wait", "--timeout", "20"], "");
    assert_eq!(peer.app().taken().len(), 1, "and nothing rings again");
    assert!(running.stop().success());
}

#[test]
fn what_was_there_is_kept_and_what_is_no_export_is_refused() {
    let program = Program::new();
    program.ok(&["mailbox", "add", "--no-imap", "--email", "first@example.com"], "");
    let file = file(&program);
    let path = file.to_str().unwrap();
    program.ok(&["export", path], "");
    program.ok(&["mailbox", "add", "--no-imap", "--email", "second@example.com"], "");
    let emails = || program.json(&["mailbox", "list"]).as_array().unwrap().len();
    let bad = program.scratch().join("bad");
    let bad_path = bad.to_str().unwrap();
    let refused = |words: &str| {
        let said = program.run(&["restore", bad_path], "");
        assert!(said.status.code() == Some(1) && said.stderr.contains(words), "wanted {words:?}: {said:?}");
        assert_eq!(emails(), 2, "everything is as before");
        assert!(!program.data_dir().join("ringonce.db.part").exists(), "nothing is left behind");
    };
    refused("cannot be read");
    fs::write(&bad, "no database at all").unwrap();
    refused("no export or copy");
    fs::write(&bad, "").unwrap();
    refused("no export or copy");
    fs::copy(&file, &bad).unwrap();
    rusqlite::Connection::open(&bad).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    refused("newer");

    let done = program.json(&["restore", path]);
    assert_eq!(emails(), 1, "as of the export");
    let replaced = PathBuf::from(done["replaced"].as_str().expect("the old one is kept"));
    let back = replaced.join("ringonce.db");
    program.ok(&["restore", back.to_str().unwrap()], "");
    assert_eq!(emails(), 2, "and can be had back");
}

#[test]
fn what_was_on_its_way_is_not_sent_again() {
    let mut peer = HttpPeer::start(Receiver::new());
    let program = Program::new();
    let mailbox = program.ok(&["mailbox", "add", "--no-imap", "--email", "owner@example.com"], "").id();
    program.ok(&["settings", "set", "retry.backoff_seconds", "2"], "");
    hook(&program, &peer);
    peer.down();
    let mut running = program.start_headless();
    program.ok(&["ingest", "--mailbox", &mailbox, "-"], Mail::new("on its way").bytes());
    let file = file(&program);
    let path = file.to_str().unwrap();
    program.ok(&["export", path], "");
    peer.up();
    peer.wait_taken(1, secs(30));
    assert!(running.stop().success());
    assert_eq!(program.json(&["restore", path])["uncertain"], 1);
    let mut running = program.start_headless();
    program.ok(&["ingest", "--mailbox", &mailbox, "-"], Mail::new("later").bytes());
    peer.wait_taken(2, secs(30));
    assert_eq!(program.json(&["attention"])[0]["subject"], "on its way", "the owner decides");
    assert!(program.json(&["verify"])["ok"].as_bool().unwrap(), "the data is sound");
    assert!(running.stop().success());
    let titles: Vec<_> = peer.app().taken().iter().map(|taken| taken.request.json()["subject"].clone()).collect();
    assert_eq!(titles, ["on its way", "later"], "each once");
}

#[test]
fn mails_since_the_export_do_not_all_ring_again() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let peer = HttpPeer::start(Receiver::new());
    peer.set(Mode::Accept);
    let program = Program::new();
    hook(&program, &peer);
    let port = dovecot.imap_port.to_string();
    let login = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    program.ok(&add, format!("{}\n", user.password));
    let mut running = program.start_headless();
    let file = file(&program);
    program.ok(&["export", file.to_str().unwrap()], "");
    for number in 0..4 {
        dovecot.deliver(&user, &Mail::new(&format!("since then {number}")).bytes());
    }
    peer.wait_taken(4, secs(30));
    assert!(running.stop().success());
    program.ok(&["restore", file.to_str().unwrap()], "");
    let mut running = program.start_headless();
    wait::until("they are known again", secs(60), || program.json(&["history"]).as_array().unwrap().len() >= 4);
    program.ok(&["wait", "--settled", "--timeout", "90"], "");
    let rings = peer.app().taken().len();
    assert!(rings <= 5, "at most one digest rings for them: {rings}");
    dovecot.deliver(&user, &Mail::new("new").bytes());
    wait::until("what comes now rings", secs(30), || {
        peer.app().taken().iter().any(|taken| taken.request.json()["subject"] == "new")
    });
    assert!(running.stop().success());
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let program = Program::new();
    let unit = program.ok(&["systemd-unit"], "").stdout;
    assert!(unit.contains("run --headless --data-dir") && unit.contains("--secrets \"file:"), "{unit}");
    let file = program.scratch().join("ringonce.service");
    fs::write(&file, &unit).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--user", "--man=no"]).arg(&file).envs(program.environment());
    match verify.output() {
        Ok(said) => {
            let stderr = String::from_utf8_lossy(&said.stderr);
            let about_it: Vec<&str> = stderr.lines().filter(|line| line.contains("ringonce")).collect();
            assert!(about_it.is_empty(), "systemd objects: {stderr}");
        }
        Err(error) => eprintln!("Left out: systemd-analyze does not run ({error})"),
    }
}
