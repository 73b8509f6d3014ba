//! The data folder: one program at a time, no older program on newer data, and what becomes of a broken database.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::Mode;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Output, Program, Running};
use crate::support::wait::{self, secs};

const MAILBOX: &str = "owner@example.org";

fn program() -> Program {
    let program = Program::new();
    program.ok(&["mailbox", "add", "--no-imap", "--email", MAILBOX], "");
    for (key, value) in [("reconcile.lookup_settle_seconds", "1"), ("retry.backoff_seconds", "1")] {
        program.ok(&["settings", "set", key, value], "");
    }
    program
}

/// A source reports a mail, always the same to the byte, received now.
fn report(program: &Program, number: usize) -> Output {
    let mail = Mail::new(&format!("Mail {number}"))
        .header("Message-ID", &format!("<{number}@example.org>"))
        .header("Date", "Tue, 1 Dec 2026 10:00:00 +0000");
    let (id, now) = (number.to_string(), jiff::Timestamp::now().to_string());
    let args = ["--mailbox", MAILBOX, "--delivery-id", &id, "--received-at", &now, "-"];
    program.run(&[&["ingest", "--json"], args.as_slice()].concat(), mail.bytes())
}

fn settle(program: &Program) {
    program.ok(&["wait", "--settled", "--timeout", "40"], "");
    program.ok(&["verify"], "");
}

/// Mails that rang, by the first word of what was told; in order.
fn rang(phone: &Phone) -> Vec<String> {
    let told = phone.told();
    told.iter().filter_map(|told| told.strip_prefix("Ada: ")).map(str::to_owned).collect()
}

fn database(program: &Program) -> PathBuf {
    program.data_dir().join("ringonce.db")
}

/// Starts it without copies and waits until it has made one.
fn start_with_new_copy(program: &Program) -> Running {
    let copies = program.data_dir().join("copies");
    if copies.exists() {
        fs::remove_dir_all(&copies).expect("our folder");
    }
    let running = program.start_headless();
    let is_copy = |path: &Path| path.extension().is_some_and(|ending| ending == "db");
    wait::until("there is a copy", secs(30), || {
        fs::read_dir(&copies).is_ok_and(|entries| entries.flatten().any(|entry| is_copy(&entry.path())))
    });
    running
}

/// Overwrites a part of a file.
fn overwrite(path: &Path, from: u64, bytes: usize) {
    let mut file = fs::File::options().write(true).open(path).expect("the database");
    file.seek(SeekFrom::Start(from)).expect("a place in it");
    file.write_all(&vec![0xA5; bytes]).expect("our file");
}

#[test]
fn a_second_program_is_refused_and_what_a_killed_one_left_is_taken_over() {
    let program = program();
    let mut first = program.start_headless();
    let mut second = program.start(&["run", "--headless"]);
    assert_eq!(second.wait_exit(secs(30)).code(), Some(1), "one program on one folder");
    assert!(second.log().contains(&format!("process {}", first.pid())), "it names the first: {}", second.log());
    first.kill9();
    let mut third = program.start_headless();
    assert_eq!(program.json(&["status"])["running"], true, "its socket is taken over");
    third.stop();
}

#[test]
fn data_of_a_newer_program_is_left_alone() {
    let program = program();
    let database = Connection::open(database(&program)).unwrap();
    database.execute_batch("PRAGMA user_version = 999").unwrap();
    let mut running = program.start(&["run", "--headless"]);
    assert_eq!(running.wait_exit(secs(30)).code(), Some(1), "refused");
    assert!(running.log().contains("install the newer Ringonce"), "{}", running.log());
    for args in [["mailbox", "list"], ["destination", "kinds"], ["settings", "list"]] {
        let output = program.run(&args, "");
        let said = output.stderr.contains("newer") || args[1] == "kinds";
        assert!(said, "{args:?}: {}", output.stderr);
    }
    let version: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 999, "nothing was written");
}

#[test]
fn a_broken_database_is_moved_aside_and_the_newest_copy_takes_its_place() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 3] = [
        ("garbage for a page", |path| overwrite(path, 5 * 4096, 4096)),
        ("garbage for its head", |path| overwrite(path, 0, 100)),
        ("cut off", |path| fs::File::options().write(true).open(path).unwrap().set_len(6 * 4096).unwrap()),
    ];
    for (what, damage) in damages {
        let program = program();
        // The receiver takes copies: a second ring would be seen.
        let phone = Phone::add(&program, Class::C);
        assert!(report(&program, 0).status.success());
        let mut running = program.start_headless();
        settle(&program);
        running.stop();
        let mut running = start_with_new_copy(&program);
        assert!(report(&program, 1).status.success());
        settle(&program);
        running.stop();
        damage(&database(&program));

        let found = program.run(&["verify"], "");
        assert_eq!(found.status.code(), Some(1), "{what}: {}{}", found.stdout, found.stderr);
        let mut running = program.start_headless();
        assert!(running.log().contains("was put in its place"), "{what}: it says so: {}", running.log());
        let aside = fs::read_dir(program.data_dir()).unwrap().flatten();
        let aside: Vec<_> = aside.filter(|entry| entry.file_name().to_string_lossy().contains("broken-")).collect();
        assert!(!aside.is_empty(), "{what}: the broken one is kept");
        assert_eq!(program.json(&["destination", "list"]).as_array().unwrap().len(), 1, "{what}: configuration");
        settle(&program);
        assert_eq!(report(&program, 0).json()["verdict"], "repeat", "{what}: keys of the copy");
        assert_eq!(report(&program, 2).json()["decision"], "notify", "{what}: it goes on");
        settle(&program);
        assert_eq!(rang(&phone), ["Mail 0", "Mail 1", "Mail 2"], "{what}: nothing twice");
        running.stop();
    }
}

/// Mail the copy does not know, received before the restore, may have rung: it comes in one digest.
#[test]
fn mail_that_came_after_the_copy_does_not_ring_again() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let program = Program::new();
    let (port, email) = (dovecot.imap_port.to_string(), format!("{}@localhost", user.name));
    let server = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = ["mailbox", "add", "--password-stdin", "--email", &email];
    program.ok(&[&add, server.as_slice()].concat(), format!("{}\n", user.password));
    let phone = Phone::add(&program, Class::C);
    let mut running = start_with_new_copy(&program);
    dovecot.save(&user, "INBOX", &Mail::new("After the copy").bytes());
    wait::until("it rings", secs(30), || phone.told().len() == 1);
    settle(&program);
    running.stop();
    overwrite(&database(&program), 5 * 4096, 4096);
    let mut running = program.start_headless();
    wait::until("the owner is told of the restored history", secs(30), || phone.told().len() > 1);
    settle(&program);
    dovecot.save(&user, "INBOX", &Mail::new("After the restore").bytes());
    wait::until("it goes on", secs(30), || phone.told().len() > 2);
    settle(&program);
    running.stop();
    assert_eq!(rang(&phone), ["After the copy", "After the restore"], "nothing twice");
    let digest = &phone.told()[1];
    assert!(digest.contains("maybe told before") && phone.told().len() == 3, "one digest: {:?}", phone.told());
}

/// What the copy holds to be unsent was sent since.
#[test]
fn what_was_sent_after_the_copy_is_not_sent_again() {
    for class in [Class::A, Class::B, Class::C] {
        let program = program();
        let phone = Phone::add(&program, class);
        phone.set(Mode::status(503));
        assert!(report(&program, 0).status.success());
        let mut running = start_with_new_copy(&program);
        phone.set(Mode::Accept);
        settle(&program);
        running.stop();
        assert_eq!(rang(&phone), ["Mail 0"], "{class:?}: it rang after the copy was made");
        overwrite(&database(&program), 5 * 4096, 4096);
        let mut running = program.start_headless();
        program.ok(&["verify"], "");
        settle(&program);
        running.stop();
        assert_eq!(rang(&phone), ["Mail 0"], "{class:?}: nothing twice");
        let open = program.db().number("SELECT count(*) FROM alarms WHERE code = 'uncertain'", []);
        assert_eq!(open, i64::from(class == Class::C), "{class:?}: where nobody can be asked, the owner is");
    }
}

#[test]
fn without_a_copy_a_new_database_is_begun_and_it_says_so() {
    let program = program();
    overwrite(&database(&program), 4096, 4096);
    let mut running = program.start_headless();
    assert!(running.log().contains("there is no copy"), "{}", running.log());
    assert_eq!(program.json(&["mailbox", "list"]).as_array().map(Vec::len), Some(0), "a new one");
    program.ok(&["verify"], "");
    running.stop();
}
