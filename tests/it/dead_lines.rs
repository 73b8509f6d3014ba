//! Lines that end, die silently or are left behind: what came meanwhile rings once, and how long that took is printed.

use std::time::{Duration, Instant};

use crate::support::clock::WallClock;
use crate::support::dovecot::{Dovecot, Options, User};
use crate::support::http::Answer;
use crate::support::http_peer::Mode;
use crate::support::laptop::Laptop;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::Program;
use crate::support::relay::{Passing, Relay};
use crate::support::wait::{self, secs};

/// A machine under load is slow; what is lost is never told.
const LIMIT: Duration = secs(60);

/// A program on a mailbox behind a relay.
struct Behind {
    program: Program,
    phone: Phone,
    relay: Relay,
    user: User,
}

impl Behind {
    fn new() -> Self {
        let (program, dovecot) = (Program::new(), Dovecot::shared());
        let user = dovecot.fresh_user();
        let relay = Relay::start(dovecot.imaps_port);
        let ca_file = dovecot.ca_file();
        let ca_file = ca_file.to_str().expect("a plain path");
        program.add_mailbox_at("localhost", relay.port, &user, &["--ca-file", ca_file]);
        let phone = Phone::add(&program, Class::A);
        Self { program, phone, relay, user }
    }

    fn deliver(&self, subject: &str) {
        Dovecot::shared().put(&self.user, "INBOX", &Mail::new(subject).bytes());
    }
}

/// Waits until a mail rang, the last of so many, and says how long that took.
#[track_caller]
fn wait_rung(phone: &Phone, subject: &str, all: usize, since: Instant) {
    let told = format!("Ada: {subject}");
    wait::until(&format!("{subject} rings"), LIMIT, || phone.told().contains(&told));
    eprintln!("{subject}: rings after {:.1} s", since.elapsed().as_secs_f64());
    assert_eq!(phone.told().len(), all, "each rings once: {:?}", phone.told());
}

#[test]
fn a_server_away_for_three_seconds() {
    let house = Behind::new();
    let _running = house.program.start_headless();
    type Ending = fn(&Relay);
    let endings: [(&str, Ending); 2] = [("A server reset its lines", Relay::reset), ("It closed them", Relay::close)];
    for (at, (subject, end)) in endings.into_iter().enumerate() {
        let before = house.relay.connections();
        house.relay.set(Passing::Refuse);
        end(&house.relay);
        house.deliver(subject);
        std::thread::sleep(secs(3));
        house.relay.set(Passing::Pass);
        wait_rung(&house.phone, subject, at + 1, Instant::now());
        assert!(house.relay.connections() > before, "by a new line");
    }
    house.program.assert_sound();
}

#[test]
fn a_clock_that_jumps_a_day_forward_and_back() {
    let mut house = Behind::new();
    house.program.hurry();
    house.program.set(&[("retry.backoff_seconds", "4")]);
    let clock = WallClock::of(&mut house.program);
    let mut running = house.program.start_headless();
    for (round, (name, offset)) in [("forward", 86_400), ("back", 0), ("a day back", -86_400)].into_iter().enumerate() {
        let lines = house.relay.connections();
        // One waits for its next try under the old clock, one came in on a line that died.
        house.phone.set(Mode::Answer(Answer::status(503)));
        house.deliver(&format!("Waiting, {name}"));
        wait::until("it was tried", LIMIT, || {
            house
                .program
                .db()
                .number("SELECT count(*) FROM notification_outbox WHERE status = 'pending' AND attempt > 0", [])
                == 1
        });
        house.relay.set_old(Passing::Blackhole);
        house.deliver(&format!("Unheard, {name}"));
        house.phone.set(Mode::Accept);
        clock.set_offset(offset);
        let since = Instant::now();
        let told = |what: &str| house.phone.told().iter().any(|told| *told == format!("Ada: {what}, {name}"));
        wait::until("what waited is not starved", LIMIT, || told("Waiting"));
        eprintln!("The clock went {name}: what waited rings after {:.1} s", since.elapsed().as_secs_f64());
        wait::until("what came meanwhile rings", LIMIT, || told("Unheard"));
        eprintln!("The clock went {name}: what came meanwhile rings after {:.1} s", since.elapsed().as_secs_f64());
        assert_eq!(house.phone.told().len(), 2 * (round + 1), "each rings once: {:?}", house.phone.told());
        assert_eq!(house.relay.connections(), lines + 1, "the old line was left, not asked");
    }
    assert!(running.stop().success());
    house.program.assert_sound();
}

/// A laptop that runs the program, with a Dovecot that listens on its network.
fn away() -> Option<(Laptop, Dovecot, Program, Phone, User)> {
    let laptop = match Laptop::new() {
        Ok(laptop) => laptop,
        Err(why) => {
            eprintln!("Not shown: {why}");
            return None;
        }
    };
    let address = laptop.server_address().to_string();
    let extra = format!("listen = 127.0.0.1, {address}");
    let dovecot = Dovecot::start_with(&Options { extra, ..Options::default() });
    let mut program = Program::new();
    laptop.take_in(&mut program);
    let user = dovecot.fresh_user();
    let pin = ["--pin", &dovecot.certificate_sha256];
    program.add_mailbox_at(&address, dovecot.imaps_port, &user, &pin);
    let phone = Phone::add(&program, Class::Command);
    Some((laptop, dovecot, program, phone, user))
}

#[test]
fn a_line_that_goes_half_open_while_new_ones_work() {
    let Some((laptop, dovecot, program, phone, user)) = away() else { return };
    program.set(&[("imap.dead_line_seconds", "30")]);
    let _running = program.start_headless();
    dovecot.put(&user, "INBOX", &Mail::new("On a good line").bytes());
    wait_rung(&phone, "On a good line", 1, Instant::now());
    assert_eq!(laptop.deaden_lines(dovecot.imaps_port), 1, "one line is watched");
    dovecot.put(&user, "INBOX", &Mail::new("On a dead line, to be found within 30 s").bytes());
    wait_rung(&phone, "On a dead line, to be found within 30 s", 2, Instant::now());
    program.assert_sound();
}

#[test]
fn a_network_that_comes_back_as_another_is_noticed() {
    let Some((mut laptop, dovecot, program, phone, user)) = away() else { return };
    let _running = program.start_headless();
    laptop.leave();
    dovecot.put(&user, "INBOX", &Mail::new("Between two networks").bytes());
    std::thread::sleep(secs(3));
    laptop.join_as_another();
    wait_rung(&phone, "Between two networks", 1, Instant::now());
    program.assert_sound();
}
