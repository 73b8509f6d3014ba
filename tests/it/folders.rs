//! Folders and mails that come, go and hurt: on a real Dovecot, each mail rings once and nothing stops the others.

use std::time::{Duration, Instant};

use crate::support::dovecot::{Dovecot, User};
use crate::support::imap_session::ImapSession;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Program, Running};
use crate::support::relay::Relay;
use crate::support::wait::{self, secs};

const LIMIT: Duration = secs(60);
/// Breaks the line that carries it.
const HURTS: &str = "X-Breaks-The-Line";

/// A program on INBOX and Work, with a safety poll each second.
struct House {
    program: Program,
    phone: Phone,
    user: User,
    relay: Relay,
    running: Running,
}

impl House {
    fn new(poll: &str) -> Self {
        let (program, dovecot) = (Program::new(), Dovecot::shared());
        let user = dovecot.fresh_user();
        dovecot.doveadm(&["mailbox", "create", "-u", &user.name, "Work"]);
        let relay = Relay::start(dovecot.imap_port);
        let folders = ["--tls", "none", "--folder", "INBOX", "--folder", "Work"];
        program.add_mailbox_at("127.0.0.1", relay.port, &user, &folders);
        program.set(&[("imap.poll_seconds", poll)]);
        let phone = Phone::add(&program, Class::A);
        let running = program.start_headless();
        Self { program, phone, user, relay, running }
    }

    fn save(&self, folder: &str, subject: &str) {
        Dovecot::shared().save(&self.user, folder, &Mail::new(subject).bytes());
    }

    fn session(&self) -> ImapSession {
        Dovecot::shared().session(&self.user)
    }

    #[track_caller]
    fn wait_rung(&self, subjects: &[&str]) {
        let mut expected: Vec<String> = subjects.iter().map(|subject| format!("Ada: {subject}")).collect();
        expected.sort();
        let told = || {
            let mut told = self.phone.told();
            told.sort();
            told
        };
        wait::until("they ring", LIMIT, || told().len() >= expected.len());
        assert_eq!(told(), expected, "each rings once");
    }

    fn error(&self) -> String {
        self.program.json(&["status"])["mailboxes"][0]["error"].to_string()
    }

    fn end(mut self) {
        assert!(self.running.stop().success());
        self.program.assert_sound();
    }
}

#[test]
fn a_mail_that_a_filter_moves_rings_once() {
    let house = House::new("1");
    let mut filter = house.session();
    // At once, before anybody was told of it; and after it rang.
    house.save("INBOX", "Moved at once");
    filter.command("SELECT INBOX");
    filter.command("MOVE 1:* Work");
    house.wait_rung(&["Moved at once"]);
    house.save("INBOX", "Moved later");
    house.wait_rung(&["Moved at once", "Moved later"]);
    filter.command("NOOP");
    filter.command("MOVE 1:* Work");
    // And a mail that is moved back.
    filter.command("SELECT Work");
    filter.command("MOVE 1:* INBOX");
    house.save("Work", "The last in Work");
    house.save("INBOX", "The last in INBOX");
    house.wait_rung(&["Moved at once", "Moved later", "The last in Work", "The last in INBOX"]);
    house.end();
}

#[test]
fn a_folder_that_vanishes_rests_alone_and_comes_back() {
    let house = House::new("1");
    house.save("Work", "In Work");
    house.wait_rung(&["In Work"]);
    Dovecot::shared().doveadm(&["mailbox", "delete", "-u", &house.user.name, "Work"]);
    wait::until("its owner can see it", LIMIT, || house.error().contains("Work"));
    house.save("INBOX", "Meanwhile");
    house.wait_rung(&["In Work", "Meanwhile"]);
    Dovecot::shared().doveadm(&["mailbox", "create", "-u", &house.user.name, "Work"]);
    wait::until("it is watched again", LIMIT, || house.error() == "null");
    house.save("Work", "Back in Work");
    house.wait_rung(&["In Work", "Meanwhile", "Back in Work"]);
    house.end();
}

#[test]
fn a_server_that_throws_everybody_out_is_not_stormed() {
    let house = House::new("600");
    let (began, before) = (Instant::now(), house.relay.connections());
    wait::find(secs(14), || {
        house.relay.close();
        None::<()>
    });
    let sign_ins = house.relay.connections() - before;
    eprintln!("{sign_ins} connections in {:?}, each ended at once", began.elapsed());
    assert!((1..=8).contains(&sign_ins), "it tries, and it is no hammer: {sign_ins}");
    house.end();
}

#[test]
fn a_mail_that_hurts_is_told_as_one_and_stops_nobody() {
    let house = House::new("600");
    house.relay.reset_at(HURTS);
    house.save("INBOX", "Before");
    house.wait_rung(&["Before"]);
    let hurts = Mail::new("Hurts").header(HURTS, "yes").bytes();
    Dovecot::shared().save(&house.user, "INBOX", &hurts);
    house.save("INBOX", "After");
    let began = Instant::now();
    wait::until("the notice and what came after it ring", secs(150), || house.phone.told().len() >= 3);
    let told = house.phone.told();
    eprintln!("After {:.0} s: {told:?}", began.elapsed().as_secs_f64());
    assert!(told.contains(&"Ada: After".to_owned()), "what came after it rings: {told:?}");
    let row = house
        .program
        .db()
        .row("SELECT reason FROM notification_operations WHERE reason = 'a mail that could not be read'", []);
    assert_eq!(row["reason"], "a mail that could not be read", "and it is told that one could not be read");
    house.end();
}
