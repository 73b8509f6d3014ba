//! The disk of the data folder is full: what cannot be stored is said, nothing is told twice, and everything goes on
//! once there is room.

use std::time::Duration;

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::Mode;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Output, Program, Running};
use crate::support::tmpfs::SmallDisk;
use crate::support::wait::{self, secs};

const MAILBOX: &str = "owner@example.org";
/// Room for the database, its copy and its log (4 MiB at most), and not for much more.
const DISK_KIB: u64 = 8192;

/// A program on a small disk, with a mailbox and a phone of each class that has an HTTP peer.
struct House {
    disk: SmallDisk,
    program: Program,
    phones: Vec<Phone>,
}

impl House {
    /// `None`: nobody but root can have a small disk.
    fn new(classes: &[Class]) -> Option<Self> {
        let disk = SmallDisk::mount(DISK_KIB)?;
        let program = Program::with_data_dir(&disk.path().join("data"));
        program.ok(&["mailbox", "add", "--no-imap", "--email", MAILBOX], "");
        program.ok(&["settings", "set", "reconcile.lookup_settle_seconds", "1"], "");
        let phones = classes.iter().map(|class| Phone::add(&program, *class)).collect();
        Some(Self { disk, program, phones })
    }

    /// Starts it and waits for its daily copy, which needs room too.
    fn start(&self) -> Running {
        let running = self.program.start_headless();
        let copies = self.program.data_dir().join("copies");
        let is_copy = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "db");
        wait::until("there is a copy", secs(30), || {
            std::fs::read_dir(&copies).is_ok_and(|entries| entries.flatten().any(is_copy))
        });
        running
    }

    fn report(&self, number: usize) -> Output {
        report(&self.program, number)
    }

    /// With room: each mail is reported again, everything is told, and each mail rang once on every phone.
    fn goes_on(&self, mails: usize) {
        for number in 0..mails {
            let output = self.report(number);
            assert!(output.status.success(), "mail {number} is stored once there is room: {}", output.stderr);
        }
        self.program.ok(&["wait", "--settled", "--timeout", "40"], "");
        self.rang_once(mails);
    }

    fn rang_once(&self, mails: usize) {
        let mut expected: Vec<String> = (0..mails).map(|number| format!("Ada: Mail {number}")).collect();
        expected.sort();
        for (number, phone) in self.phones.iter().enumerate() {
            let mut told = phone.told();
            told.sort();
            assert_eq!(told, expected, "phone {number}: each mail rings once");
        }
        self.program.ok(&["verify"], "");
        let open = "SELECT count(*) FROM notification_outbox WHERE status <> 'completed'";
        assert_eq!(self.program.db().number(open, []), 0, "all are settled");
    }

    fn told(&self) -> usize {
        self.phones.iter().map(|phone| phone.told().len()).sum()
    }
}

/// A source reports a mail, now or again.
fn report(program: &Program, number: usize) -> Output {
    // Always the same mail, to the byte.
    let mail = Mail::new(&format!("Mail {number}"))
        .header("Message-ID", &format!("<{number}@example.org>"))
        .header("Date", "Tue, 1 Dec 2026 10:00:00 +0000");
    let id = number.to_string();
    program.run(&["ingest", "--json", "--mailbox", MAILBOX, "--delivery-id", &id, "-"], mail.bytes())
}

#[track_caller]
fn says_room(output: &Output, consequence: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", output.stderr);
    let said = &output.stderr;
    assert!(said.contains(consequence) && said.contains("free some room on the disk"), "{said}");
}

#[test]
fn what_is_not_stored_is_said_and_rings_once_there_is_room() {
    let Some(house) = House::new(&[Class::A, Class::B, Class::C]) else { return };
    let mut running = house.start();
    house.disk.fill();
    for number in 0..3 {
        says_room(&house.report(number), "Nothing was stored");
    }
    let status = house.program.json(&["status"]);
    assert_eq!((&status["running"], &status["pending"]), (&true.into(), &0.into()), "it still answers");
    assert_eq!(
        (house.told(), house.program.db().number("SELECT count(*) FROM deliveries", [])),
        (0, 0),
        "all or nothing"
    );
    house.disk.release();
    house.goes_on(3);
    assert!(running.stop().success(), "it stops when asked");
}

/// The page at which the disk is full is another one each time: in the log, in its growth, at the commit.
#[test]
fn a_disk_that_fills_up_at_any_page_leaves_all_or_nothing() {
    let Some(house) = House::new(&[Class::A, Class::B]) else { return };
    let mut running = house.start();
    let (mut mails, mut stored) = (0, Vec::new());
    for free_kib in (0..80).step_by(8) {
        house.disk.fill_but(free_kib * 1024);
        // Mails come until the room is used up.
        while house.report(mails).status.success() {
            stored.push(mails);
            mails += 1;
            assert!(mails < 200, "the disk does not fill up");
        }
        mails += 1;
        house.disk.release();
    }
    assert!(!stored.is_empty() && stored.len() < mails, "some were stored, and some not: {stored:?} of {mails}");
    for number in 0..mails {
        let verdict = if stored.contains(&number) { "repeat" } else { "new" };
        assert_eq!(house.report(number).json()["verdict"], verdict, "mail {number}: what was said is true");
    }
    house.program.ok(&["wait", "--settled", "--timeout", "40"], "");
    house.rang_once(mails);
    running.stop();
}

/// What came of a call is kept in memory until it can be written, and nobody is called meanwhile.
#[test]
fn calls_that_end_on_a_full_disk_are_settled_later_and_not_made_again() {
    let Some(house) = House::new(&[Class::A, Class::B, Class::C]) else { return };
    for phone in &house.phones {
        phone.set(Mode::AcceptAnswerAfter(Duration::from_millis(1500)));
    }
    let mut running = house.start();
    for number in 0..6 {
        assert!(house.report(number).status.success(), "there is room yet");
    }
    let in_hand = house.phones.len() * 4;
    wait::until("every lane is full", secs(30), || house.told() == in_hand);
    house.disk.fill();
    let not_written = || running.log().matches("is not yet written").count();
    wait::until("no settle is written", secs(30), || not_written() == in_hand);
    says_room(&house.report(6), "Nothing was stored");
    assert_eq!(house.told(), in_hand, "nobody is called while settles wait");
    let settled = "SELECT count(*) FROM attempts WHERE outcome IS NOT NULL";
    assert_eq!(house.program.db().number(settled, []), 0, "nothing was written");
    house.disk.release();
    house.goes_on(7);
    let attempts = house.program.db().number("SELECT count(*) FROM attempts", []);
    assert_eq!(attempts, 7 * 3, "one attempt each: nothing was sent again");
    running.stop();
}

/// Killed while what came of its calls could not be written: then only the channel knows.
#[test]
fn a_kill_on_a_full_disk_makes_no_copies() {
    let Some(house) = House::new(&[Class::A, Class::B]) else { return };
    for phone in &house.phones {
        phone.set(Mode::AcceptAnswerAfter(Duration::from_millis(1500)));
    }
    let mut running = house.start();
    for number in 0..4 {
        assert!(house.report(number).status.success(), "there is room yet");
    }
    wait::until("all calls are in hand", secs(30), || house.told() == 8);
    house.disk.fill();
    wait::until("no settle is written", secs(30), || running.log().matches("is not yet written").count() >= 8);
    running.kill9();

    // It may refuse to start on a full disk, or start and settle nothing; it sends nothing.
    let mut again = house.program.start(&["run", "--headless"]);
    wait::until("it says what it does", secs(30), || again.printed().contains("ready") || !again.is_alive());
    if again.is_alive() {
        again.kill9();
    } else {
        assert!(again.log().contains("free some room on the disk"), "it says why: {}", again.log());
    }
    assert_eq!(house.told(), 8, "nothing is sent");
    house.disk.release();
    let mut running = house.program.start_headless();
    house.goes_on(4);
    running.stop();
}

#[test]
fn a_disk_that_is_full_at_the_start_is_said() {
    let Some(house) = House::new(&[Class::A]) else { return };
    assert!(house.report(0).status.success(), "stored by the command itself");
    house.start().stop();
    assert_eq!(house.told(), 1);
    house.disk.fill();
    let mut running = house.program.start(&["run", "--headless"]);
    assert_eq!(running.wait_exit(secs(30)).code(), Some(1), "nothing can be done on it: {}", running.log());
    assert!(running.log().contains("free some room on the disk"), "it says why: {}", running.log());
    says_room(&house.report(1), "Nothing was");
    house.disk.release();
    let mut running = house.program.start_headless();
    house.goes_on(2);
    running.stop();

    let fresh = Program::with_data_dir(&house.disk.path().join("fresh"));
    house.disk.fill();
    says_room(&fresh.run(&["mailbox", "add", "--no-imap", "--email", MAILBOX], ""), "Nothing was");
    house.disk.release();
    fresh.ok(&["mailbox", "add", "--no-imap", "--email", MAILBOX], "");
    fresh.ok(&["verify"], "");
}

#[test]
fn a_mail_read_by_imap_waits_for_room_and_the_cursor_with_it() {
    let Some(disk) = SmallDisk::mount(DISK_KIB) else { return };
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let program = Program::with_data_dir(&disk.path().join("data"));
    let (port, email) = (dovecot.imap_port.to_string(), format!("{}@localhost", user.name));
    let server = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = ["mailbox", "add", "--password-stdin", "--email", &email];
    program.ok(&[&add, server.as_slice()].concat(), format!("{}\n", user.password));
    let phones = vec![Phone::add(&program, Class::A), Phone::add(&program, Class::B)];
    let house = House { disk, program, phones };
    let mut running = house.start();
    house.disk.fill();
    dovecot.save(&user, "INBOX", &Mail::new("Mail 0").bytes());
    let mailbox = || house.program.json(&["status"])["mailboxes"][0].clone();
    wait::until("the mailbox says why it tells nothing", secs(30), || mailbox()["state"] == "failing");
    let error = mailbox()["error"].to_string();
    assert!(error.contains("make room on the disk"), "{error}");
    let cursor = || house.program.db().number("SELECT next_uid FROM folders", []);
    assert_eq!((cursor(), house.told()), (1, 0), "the cursor has not moved");
    house.disk.release();
    wait::until("the mail is stored", secs(60), || cursor() == 2);
    house.program.ok(&["wait", "--settled", "--timeout", "40"], "");
    house.rang_once(1);
    wait::until("all is well again", secs(30), || mailbox()["state"] == "watching");
    running.stop();
}
