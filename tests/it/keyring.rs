//! Secrets in a real keyring: absent, locked or silent at the start, and there later.

use std::time::Instant;

use serde_json::Value;

use crate::support::dovecot::{Dovecot, User};
use crate::support::http_peer::HttpPeer;
use crate::support::keyring::Session;
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait::{self, secs};

/// A mailbox and a signed webhook, whose secrets lie in the keyring of the session.
struct Owner {
    program: Program,
    user: User,
    peer: HttpPeer<Receiver>,
}

impl Owner {
    fn new(session: &Session) -> Self {
        let mut program = Program::new();
        program.use_keyring(&session.address());
        let user = Dovecot::shared().fresh_user();
        let port = Dovecot::shared().imap_port.to_string();
        let login = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
        let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
        program.ok(&add, format!("{}\n", user.password));
        let peer = HttpPeer::start(Receiver::new());
        let url = format!("url={}", peer.url());
        let hook = ["destination", "add", "webhook", "--name", "hook", "--set", &url, "--secret", "secret=-"];
        program.ok(&[hook.as_slice(), &["--no-test"]].concat(), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n");
        Self { program, user, peer }
    }

    /// The one mailbox and the one destination, each as state and error.
    fn states(&self) -> [(String, String); 2] {
        let status = self.program.json(&["status"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        ["mailboxes", "destinations"].map(|list| {
            let row = &status[list][0];
            (text(&row["state"]), text(&row["error"]["detail"]))
        })
    }

    #[track_caller]
    fn wait_waiting(&self, cause: &str) {
        let waits = || self.states().iter().all(|(state, error)| state == "failing" && error.contains(cause));
        let waited = wait::find(secs(45), || waits().then_some(()));
        assert!(waited.is_some(), "both should wait because {cause:?}: {:?}", self.states());
    }

    /// It goes on by itself: a mail rings.
    #[track_caller]
    fn wait_well(&self) {
        let well = || self.states().map(|(state, error)| (state, error.is_empty()));
        let expected = [("watching".to_owned(), true), ("ready".to_owned(), true)];
        let waited = wait::find(secs(45), || (well() == expected).then_some(()));
        assert!(waited.is_some(), "both should be well: {:?}", self.states());
        Dovecot::shared().deliver(&self.user, &Mail::new("ding").bytes());
        let taken = self.peer.wait_taken(1, secs(20));
        assert!(taken[0].request.header("webhook-signature").is_some(), "signed with the secret of the keyring");
    }
}

#[test]
fn a_locked_keyring_is_waited_for_without_a_storm_of_dialogs() {
    let mut session = Session::new();
    session.start_bus();
    session.start_unlocked();
    let owner = Owner::new(&session);
    session.start_locked();
    let mut running = owner.program.start(&["run", "--headless"]);
    let ready = running.wait_line("ready", secs(60));
    assert!(ready.contains("keyring is locked"), "{ready}");
    owner.wait_waiting("the keyring is locked");
    let start = Instant::now();
    while start.elapsed() < secs(12) {
        let test = owner.program.run(&["mailbox", "test", "owner@example.com"], "");
        assert!(test.stderr.contains("the keyring is locked"), "{}", test.stderr);
    }
    assert_eq!(session.dialogs(), 1, "however many wait, and however often they look, the owner is asked once");
    let said = running.log().matches("the keyring is locked").count();
    assert_eq!(said, 2, "the log says it once for the mailbox and once for the destination: {}", running.log());
    session.start_unlocked();
    owner.wait_well();
    assert!(running.stop().success());
}

#[test]
fn a_keyring_that_comes_late_is_found() {
    let mut session = Session::new();
    session.start_bus();
    session.start_unlocked();
    let owner = Owner::new(&session);
    session.stop_bus();
    let mut running = owner.program.start_headless();
    owner.wait_waiting("no keyring answers");
    session.start_bus();
    session.start_unlocked();
    owner.wait_well();
    assert!(running.stop().success());
}

#[test]
fn a_keyring_that_does_not_answer_holds_nothing_up() {
    let mut session = Session::new();
    session.start_bus();
    session.start_unlocked();
    let owner = Owner::new(&session);
    session.signal_keyring("STOP");
    let mut running = owner.program.start(&["run", "--headless"]);
    wait::until("it answers meanwhile", secs(10), || owner.program.json(&["status"])["running"] == true);
    owner.wait_waiting("has not answered for 30 s");
    session.signal_keyring("CONT");
    owner.wait_well();
    assert!(running.stop().success());
}
