//! The program on a real Dovecot: stopped and started, on a renumbered folder, on a full one.

use std::fs;
use std::time::Duration;

use crate::support::dovecot::{Dovecot, User};
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::Program;
use crate::support::wait::{self, secs};

const LIMIT: Duration = secs(60);

/// A program that watches one mailbox and rings one phone.
struct House {
    program: Program,
    phone: Phone,
    user: User,
}

impl House {
    fn new(known: usize) -> Self {
        let (program, dovecot) = (Program::new(), Dovecot::shared());
        let user = dovecot.fresh_user();
        for n in 0..known {
            dovecot.put(&user, "INBOX", &Mail::new(&format!("Known {n}")).bytes());
        }
        program.add_mailbox(dovecot, &user, &[]);
        let phone = Phone::add(&program, Class::A);
        Self { program, phone, user }
    }

    fn deliver(&self, count: usize) {
        for n in 0..count {
            Dovecot::shared().put(&self.user, "INBOX", &Mail::new(&format!("Mail {n}")).bytes());
        }
    }

    /// Runs it until it has looked through what was there before, and stops it.
    fn look_once(&self) {
        let mut running = self.program.start_headless();
        self.wait_looked_through();
        assert!(running.stop().success());
    }

    fn wait_looked_through(&self) {
        wait::until("old mail was looked through", LIMIT, || {
            self.program.db().number("SELECT count(*) FROM folders WHERE backfill_from IS NULL", []) == 1
        });
    }

    /// From now on a second without a check is an absence; returns after one.
    fn be_away(&self) {
        self.program.set(&[("catch_up.absence_seconds", "1")]);
        let checked_at = self.program.db().number("SELECT last_check_at FROM folders", []);
        wait::until("an absence has passed", LIMIT, || jiff::Timestamp::now().as_millisecond() > checked_at + 1100);
    }

    fn told(&self) -> Vec<String> {
        let mut told = self.phone.told();
        told.sort();
        told
    }

    /// Everything is told that is going to be.
    fn settled(&self) -> Vec<String> {
        self.program.ok(&["wait", "--settled", "--timeout", "50"], "");
        self.program.assert_sound();
        self.told()
    }
}

fn digest(count: usize, of: &str) -> Vec<String> {
    vec![format!("{count} new mails {of}: Ada – Mail {}", count - 1)]
}

fn singly(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("Ada: Mail {n}")).collect()
}

#[test]
fn after_an_absence_a_few_ring_and_many_are_one_digest() {
    let told = [(3, singly(3)), (12, digest(12, "while you were away"))];
    for (count, told) in told {
        let house = House::new(2);
        house.look_once();
        house.deliver(count);
        house.be_away();
        let _running = house.program.start_headless();
        assert_eq!(house.settled(), told, "{count} mails came meanwhile");
        house.deliver(1);
        wait::until("what comes now rings", LIMIT, || house.told().contains(&"Ada: Mail 0".to_owned()));
    }
}

#[test]
fn after_a_short_gap_every_mail_rings() {
    let house = House::new(0);
    house.look_once();
    house.deliver(12);
    let _running = house.program.start_headless();
    assert_eq!(house.settled().len(), 12);
}

#[test]
fn a_program_that_dies_before_the_end_of_a_catch_up_tells_all_once() {
    for point in ["intake_before_commit", "intake_after_commit"] {
        let mut house = House::new(0);
        house.look_once();
        house.deliver(12);
        house.be_away();
        house.program.crash_at(Some(point));
        house.program.start(&["run", "--headless"]).wait_exit(LIMIT);
        let held = house.program.db().number("SELECT count(*) FROM notification_operations WHERE status = 'held'", []);
        assert_eq!(held, if point == "intake_after_commit" { 12 } else { 0 }, "{point}");
        house.program.crash_at(None);
        let _running = house.program.start_headless();
        assert_eq!(house.settled(), digest(12, "while you were away"), "{point}");
    }
}

#[test]
fn a_renumbered_folder_tells_what_is_new_in_it_and_nothing_twice() {
    for (count, told) in [(0, Vec::new()), (2, singly(2)), (8, digest(8, "in a folder that was rebuilt"))] {
        let house = House::new(20);
        house.look_once();
        house.deliver(count);
        Dovecot::shared().set_uid_validity(&house.user, "INBOX", 4711);
        let _running = house.program.start_headless();
        wait::until("it was renumbered", LIMIT, || {
            house.program.db().number("SELECT uid_validity FROM folders", []) == 4711
        });
        house.wait_looked_through();
        assert_eq!(house.settled(), told, "{count} unknown mails");
    }
}

#[test]
fn a_first_start_on_a_full_mailbox_rings_for_nothing() {
    let house = House::new(5000);
    let _running = house.program.start_headless();
    house.wait_looked_through();
    assert_eq!(house.settled(), Vec::<String>::new());
    let known = house.program.db().number("SELECT count(*) FROM processed_messages", []);
    assert_eq!(known, 2000, "the newest are known, so that a move or a rebuilt folder does not ring");
    house.deliver(1);
    wait::until("new mail rings", LIMIT, || house.told() == singly(1));
}

#[test]
fn after_a_broken_database_what_its_copy_does_not_know_is_one_digest() {
    let house = House::new(3);
    house.look_once();
    let copies = house.program.data_dir().join("copies");
    assert_eq!(fs::read_dir(copies).expect("a folder of copies").count(), 1, "a copy is made at the first start");
    let mut running = house.program.start_headless();
    house.deliver(2);
    wait::until("both ring", LIMIT, || house.told() == singly(2));
    assert!(running.stop().success());
    house.deliver(1);
    fs::write(house.program.data_dir().join("ringonce.db"), "This is no database.".repeat(100)).expect("it is broken");
    let mut running = house.program.start_headless();
    let again = ["3 new mails, maybe told before: the history is from a copy: Ada – Mail 0".to_owned()];
    assert_eq!(house.settled(), [again.as_slice(), &singly(2)].concat(), "{}", running.log());
    house.deliver(1);
    let last = || house.told().iter().filter(|told| *told == "Ada: Mail 0").count() == 2;
    wait::until("what comes now rings", LIMIT, last);
    assert!(running.stop().success());
}

#[test]
fn three_hundred_at_once_while_it_runs_ring_three_hundred_times() {
    let house = House::new(1);
    house.program.set(&[("catch_up.absence_seconds", "1")]);
    let _running = house.program.start_headless();
    house.be_away();
    house.deliver(300);
    wait::until("all have come in", LIMIT, || {
        house.program.db().number("SELECT count(*) FROM processed_messages", []) == 301
    });
    let mut expected = singly(300);
    expected.sort();
    assert_eq!(house.settled(), expected, "a watched folder is never caught up, however long nothing came");
}
