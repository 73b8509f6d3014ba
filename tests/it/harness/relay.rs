//! The relay notes what passes and breaks the line as asked.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::support::dovecot::Dovecot;
use crate::support::imap_session::ImapSession;
use crate::support::mail::Mail;
use crate::support::relay::{Passing, Relay};
use crate::support::wait::secs;

/// A relay before the shared Dovecot, and a session through it that idles.
fn idling() -> (Relay, ImapSession, impl Fn(&str)) {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let mut session = ImapSession::connect(relay.port);
    session.login(&user);
    session.command("EXAMINE INBOX");
    session.idle();
    (relay, session, move |subject: &str| dovecot.deliver(&user, &Mail::new(subject).bytes()))
}

#[test]
fn exists_is_noted_before_the_client_hears_it() {
    let (relay, mut session, deliver) = idling();
    let at_start = relay.exists().len();
    assert_eq!(at_start, 1, "EXAMINE answers with one EXISTS");
    let before = Instant::now();
    deliver("Ding");
    let heard = session.wait_line("1 EXISTS");
    let noted = relay.exists()[at_start];
    assert!(before < noted && noted <= heard, "noted on its way to the client");
}

#[test]
fn a_blackhole_keeps_everything_until_it_passes_again() {
    let (relay, mut session, deliver) = idling();
    relay.set(Passing::Blackhole);
    let before = Instant::now();
    deliver("Ding");
    // Dovecot tells after half a second; the line is silent although it stands.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            relay.set(Passing::Pass);
        });
        let heard = session.wait_line("1 EXISTS");
        assert!(heard - before >= Duration::from_millis(1500), "nothing passes a blackhole");
    });
}

#[test]
fn reset_close_and_cut_end_the_line_each_in_its_way() {
    let (relay, mut session, _) = idling();
    relay.reset();
    let error = session.line().expect_err("the line is gone");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "a reset is no polite end");

    let (relay, mut session, _) = idling();
    relay.close();
    let error = session.line().expect_err("the line is gone");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "a close is a polite end");

    let (relay, mut session, deliver) = idling();
    relay.cut_after(4);
    deliver("Ding");
    let error = session.line().expect_err("the line is gone");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset, "a cut is a reset in the middle of a line");
}

#[test]
fn refuse_takes_no_new_line_and_drip_takes_its_time() {
    let (relay, mut session, deliver) = idling();
    relay.set(Passing::Refuse);
    let refused = std::panic::catch_unwind(|| ImapSession::connect(relay.port));
    assert!(refused.is_err(), "no greeting");
    relay.set(Passing::Drip(1, Duration::from_millis(20)));
    let before = Instant::now();
    deliver("Ding");
    session.wait_line("1 EXISTS");
    assert!(before.elapsed() > Duration::from_millis(500 + 20 * 8), "each byte has its pause");
    assert!(before.elapsed() < secs(20), "but it comes");
    assert_eq!(relay.connections(), 1, "a refused one does not count");
}
